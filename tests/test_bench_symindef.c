/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_symindef.c - dense symmetric matrices on the bench: problem strings, small runs with
 * their peers, their JSON and pages. On the CPU, or with --backend=cuda on a GPU or the emulator. Peers
 * that are not installed are left out.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <math.h>

#include "bench/module.h"
#include "bench/peers.h"
#include "bench/symindef.h"
#include "bench/peers_foreign.h"

TEST(problem_keys) {
    io_error err;
    bench_problems list = parse("symindef", &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(strcmp(p->method, "auto") == 0 && strcmp(p->kind, "equidistant") == 0);
        CHECK(p->n == 1024 && p->storage == SHOAL_FULL && p->triangle == SHOAL_LOWER);
        CHECK(p->alpha == 0 && p->growth == 0 && p->seed == 7);
    }
    bench_problems_free(&list);
    list = parse("symindef:complete:cuda:f32:n=4096,kind=inertia:9:8:7:1e6,storage=packed,"
                 "triangle=upper,alpha=0.5,growth=1,seed=3",
                 &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        char text[BENCH_TEXT], again[BENCH_TEXT];
        CHECK(p->n == 4096 && p->type == SHOAL_F32 && p->storage == SHOAL_PACKED);
        CHECK(p->triangle == SHOAL_UPPER && p->alpha == 0.5 && p->growth == 1 && p->seed == 3);
        CHECK(strcmp(p->kind, "inertia:9:8:7:1e6") == 0);
        bench_problems same = parse(bench_problem_text(p, text), &err);
        CHECK_MSG(same.count == 1 && strcmp(bench_problem_text(same.items, again), text) == 0, "%s",
                  text);
        bench_problems_free(&same);
    }
    bench_problems_free(&list);
    list = parse("symindef:complete::all:n=8+16,storage=all,triangle=all,alpha=0.3+0.6,growth=all",
                 &err);
    CHECK(list.count == 2 * 2 * 2 * 2 * 2 * 2);
    for (int i = 1; i < 16 && i < list.count;
         i++) /* what differs in the solver shares the matrix */
        CHECK(bench_module_of("symindef")->same(&list.items[0], &list.items[i]));
    CHECK(list.count == 64 && !bench_module_of("symindef")->same(&list.items[0], &list.items[16]));
    bench_problems_free(&list);
}

TEST(problem_errors_name_the_part) {
    static const bench_refusal cases[] = {
        { "symindef:lu", "unknown method 'lu'; there are auto, complete" },
        { "symindef::::count=3", "unknown key 'count'; there are n, kind, storage" },
        { "symindef::::storage=half", "unknown storage 'half'; there are full, packed" },
        { "symindef::::kind=none", "unknown kind 'none'; there are equidistant" },
        { "symindef::::alpha=-1", "key 'alpha': -1 is less than 0" },
        { "symindef::::growth=2", "unknown growth '2'; there are 0, 1" },
        { "symindef::::n=2^25", "n^2 = 33554432^2 is more than 2^48" },
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}

TEST(verifies_every_method) {
    static const char *const problems[] = {
        "symindef:all::all:n=0+1+2+3+17+70,storage=all,triangle=all,variant=all",
        "symindef:all::f64:n=64,kind=hadamard",
        "symindef:all::all:n=90,kind=hilbert,storage=all",
        "symindef:all::f64:n=40,kind=clement,growth=1",
        "symindef:all::f64:n=50,kind=inertia:20:25:5:1e6,alpha=0.3+0.8",
        "symindef:all::f64:n=20,kind=zeros",
        "symindef:all::all:n=33,kind=huge",
        "symindef:all::all:n=33,kind=tiny",
        "symindef:complete::all:n=0+1+33+70,pairs=vectors",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench_session s;
        CHECK(run(&s, problems[i], 0) == BENCH_OK);
        CHECK_MSG(bench_all_passed(&s) && s.row_count > 0, "%s", problems[i]);
        for (int r = 0; r < s.row_count; r++)
            CHECK_MSG(s.rows[r].check.passed && !s.rows[r].timed, "%s, row %d: %s", problems[i], r,
                      s.rows[r].check.why);
        bench_session_end(&s);
    }
}

TEST(failures_do_not_pass) {
    bench_session s;
    run(&s, "symindef:all::f64:n=30,kind=nonfinite", BENCH_TIME);
    CHECK(s.row_count > 0 && !bench_all_passed(&s));
    for (int i = 0; i < s.row_count; i++)
        CHECK_MSG(s.rows[i].check.failed == 1 && s.rows[i].check.wrong == 0 && !s.rows[i].timed,
                  "%s", s.rows[i].check.why);
    bench_session_end(&s);
}

/* Ctrl-C before the data are there, and before the factors are judged: no row, no verdict. */
TEST(stops_early) { check_stops("symindef:complete::f64:n=50", 4); }

/* Every peer of every method that there is, or will be, on matrices with many 2x2 pivots. */
TEST(peers_are_judged) {
    static const struct {
        const char *method, *names[2];
    } cases[] = { { "complete", { "loop", NULL } },
                  { "partial", { "dsytrf", "dsptrf" } },
                  { "rook", { "dsytrf_rook", NULL } } };
    static const char *const problems[] = {
        "symindef:complete::f64:n=1,storage=packed",
        "symindef:complete::f64:n=2,kind=clement,storage=packed",
        "symindef:complete::f64:n=97,kind=kkt,storage=packed",
        "symindef:complete::f64:n=130,storage=packed,triangle=upper",
    };
    const bool on_cpu = strcmp(bench_backend, "cpu") == 0;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        for (size_t m = 0; m < sizeof cases / sizeof *cases; m++) {
            io_error err;
            bench_problems list = parse(problems[i], &err);
            bench_session s;
            bench_library lib;
            bench_matrix d = { 0 };
            bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
            s.rules = (bench_rules){ .samples = 2, .exact = true };
            snprintf(list.items[0].method, BENCH_WORD, "%s", cases[m].method);
            bench_place *place = bench_session_place(&s, bench_backend);
            CHECK(place && bench_matrix_make(&s, &list.items[0], place, &d) == BENCH_OK);
            CHECK(bench_peers_symindef(&s, &d) == BENCH_OK);
            const bool expected = on_cpu && (m == 0 || bench_open_lapack(&s, &lib));
            CHECK_MSG(!expected || s.row_count == (m == 1 ? 2 : 1), "%d rows", s.row_count);
            for (int r = 0; r < s.row_count; r++) {
                const bench_row *row = &s.rows[r];
                CHECK_MSG(row->check.passed && row->timed, "%s of %s: %s", row->method, problems[i],
                          row->check.why);
                CHECK_MSG(!on_cpu || strcmp(row->method, cases[m].names[r]) == 0, "%s",
                          row->method);
                CHECK(row->problem.storage ==
                      (strstr(row->method, "sytrf") ? SHOAL_FULL : SHOAL_PACKED));
            }
            bench_matrix_free(&d);
            bench_session_end(&s);
            bench_problems_free(&list);
        }
}

/* Eigenpairs of LAPACK, or of cuSOLVER where it is there, pass the check, and pairs of a matrix without any do not. */
TEST(pairs_are_judged) {
    bench_session s;
    bench_library lib;
    CHECK(run(&s, "symindef:complete::f64:n=60,pairs=vectors", BENCH_TIME | BENCH_PEERS) ==
          BENCH_OK);
    const bool expected =
        strcmp(bench_backend, "cpu") ? s.row_count > 1 : bench_open_lapack(&s, &lib);
    CHECK_MSG(s.row_count == 1 + expected, "%d rows", s.row_count);
    for (int r = 0; r < s.row_count; r++)
        CHECK_MSG(s.rows[r].check.passed && s.rows[r].timed, "%s: %s", s.rows[r].method,
                  s.rows[r].check.why);
    if (expected) CHECK(strcmp(s.rows[1].method, "dsyevd") == 0);
    bench_session_end(&s);
    run(&s, "symindef:complete::f64:n=30,kind=nonfinite,pairs=vectors", BENCH_TIME);
    CHECK(s.row_count == 1 && !bench_all_passed(&s) && s.rows[0].check.failed == 1);
    CHECK(strcmp(s.rows[0].check.why, "non-finite input") == 0 && !s.rows[0].timed);
    bench_session_end(&s);
}

#ifdef SHOAL_EMULATED
static int plain_amax(void *handle, int n, const void *x, int step, int *place) {
    const double *at = x;
    (void)handle;
    *place = 1;
    for (int i = 1; i < n; i++)
        if (fabs(at[i * step]) > fabs(at[(*place - 1) * step])) *place = i + 1;
    return 0;
}

static int plain_spr(void *handle, int uplo, int n, const void *alpha, const void *x, int step,
                     void *ap) {
    const double *at = x;
    double *to = ap;
    (void)handle;
    CHECK(uplo == 0 && step == 1);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) *to++ += *(const double *)alpha * at[j] * at[i];
    return 0;
}

static int plain_scal(void *handle, int n, const void *alpha, void *x, int step) {
    (void)handle;
    for (int i = 0; i < n; i++) ((double *)x)[i * step] *= *(const double *)alpha;
    return 0;
}

typedef struct thesis_job {
    bench_thesis matrix;
    int32_t *interchanges;
} thesis_job;

static int thesis_factor(void *self, void *a) {
    const bench_thesis_blas blas = { NULL, plain_amax, plain_spr, plain_scal };
    thesis_job *j = self;
    j->matrix.a = a;
    return bench_thesis_factor(&blas, &j->matrix, j->interchanges);
}

/* The thesis's loop, its kernels emulated, with plain functions in place of cuBLAS. */
TEST(thesis_verifies) {
    static const char *const problems[] = {
        "symindef:complete::f64:n=1",
        "symindef:complete::f64:n=2,kind=clement",
        "symindef:complete::f64:n=97,kind=kkt",
        "symindef:complete::f64:n=70",
        "symindef:complete::f64:n=60,kind=hilbert",
        "symindef:complete::f64:n=9,kind=zeros",
    };
    if (strcmp(bench_backend, "cuda") != 0) return;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        io_error err;
        bench_problems list = parse(problems[i], &err);
        bench_session s;
        bench_matrix d = { 0 };
        bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
        s.rules = (bench_rules){ .samples = 1, .exact = true };
        bench_place *place = bench_session_place(&s, bench_backend);
        CHECK(place && bench_matrix_make(&s, &list.items[0], place, &d) == BENCH_OK);
        const size_t n = (size_t)list.items[0].n;
        thesis_job j = { .matrix = { .n = list.items[0].n, .seen = bench_thesis_map() },
                         .interchanges = calloc(n, sizeof(int32_t)) };
        CHECK(shoal_alloc(place->ctx, n * 8, &j.matrix.d) == SHOAL_OK);
        CHECK(shoal_alloc(place->ctx, 2 * n * 8, &j.matrix.x) == SHOAL_OK);
        const bench_factorer r = {
            .peer = { .who = "cuBLAS", .function = "loop", .task = { .self = &j } },
            .packed = true,
            .form = BENCH_FORM_OURS,
            .factor = thesis_factor,
            .pivots = j.interchanges
        };
        CHECK(bench_peer_factorer(&s, &d, &r) == BENCH_OK && s.row_count == 1);
        CHECK_MSG(s.row_count == 1 && s.rows[0].check.passed, "%s: %s", problems[i],
                  s.row_count ? s.rows[0].check.why : "no row");
        shoal_free(place->ctx, j.matrix.d);
        shoal_free(place->ctx, j.matrix.x);
        bench_thesis_unmap(j.matrix.seen);
        free(j.interchanges);
        bench_matrix_free(&d);
        bench_session_end(&s);
        bench_problems_free(&list);
    }
}
#endif

/* A call that takes long is its own measurement. */
TEST(long_calls_are_measured_once) {
    bench_session s;
    io_error err;
    bench_problems list = parse("symindef:complete::f64:n=300", &err);
    bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
    s.rules.longest = 1e-9;
    CHECK(bench_run(&s, &list, BENCH_TIME) == BENCH_OK && s.row_count == 1);
    CHECK(s.row_count == 1 && s.rows[0].timed && s.rows[0].time.samples == 1);
    CHECK(s.row_count == 1 && s.rows[0].time.calls == 1 && s.rows[0].time.spread == 0);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(json_of_a_run) {
    bench_session s;
    run(&s, "symindef:complete::f32:n=60,storage=full+packed,growth=1", BENCH_TIME | BENCH_PEERS);
    io_json_value *root = json_of(&s);
    const io_json_value *rows = io_json_get(root, "rows"), *row = io_json_at(rows, 1);
    CHECK(rows && rows->count >= 2); /* and the peers' */
    CHECK(row && strcmp(io_json_get(row, "storage")->string, "packed") == 0);
    CHECK(row && strcmp(io_json_get(row, "triangle")->string, "lower") == 0);
    CHECK(row && io_json_get(row, "n")->number == 60 && io_json_get(row, "growth")->number == 1);
    CHECK(row && io_json_get(row, "calls")->number == 1 && io_json_get(row, "verified")->boolean);
    CHECK(row && io_json_get(row, "vectors_checked")->number == 3);
    CHECK(row && io_json_get(row, "bytes")->number == 60.0 * 61 * 62 / 3 * 4);
    CHECK(row && io_json_get(row, "flops_per_second")->number ==
                     72000 / io_json_get(row, "median_s")->number);
    if (strcmp(bench_backend, "cpu") == 0) { /* one measurement of the peer for both */
        CHECK(rows && rows->count == 3 && io_json_get(row, "speedup")->number > 0);
        CHECK(io_json_get(io_json_at(rows, 0), "speedup")->number > 0);
    }
    io_json_free(root);
    bench_session_end(&s);
    const bench_problem partial = { .module = "symindef", .method = "partial", .n = 10 };
    CHECK(bench_module_of("symindef")->bytes(&partial) == 110 * 8);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problem_keys);
    RUN(problem_errors_name_the_part);
    RUN(verifies_every_method);
    RUN(failures_do_not_pass);
    RUN(stops_early);
    RUN(peers_are_judged);
    RUN(pairs_are_judged);
#ifdef SHOAL_EMULATED
    RUN(thesis_verifies);
#endif
    RUN(long_calls_are_measured_once);
    RUN(json_of_a_run);
    return TEST_END();
}
