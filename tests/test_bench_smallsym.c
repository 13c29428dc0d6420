/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_smallsym.c - small symmetric systems on the bench: their problem strings, small runs
 * with peers, their JSON and pages. On the CPU, or with --backend=cuda on a GPU or the emulator.
 * Peers that are not installed are left out.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <float.h>
#include <math.h>

#include "bench/module.h"
#include "bench/peers.h"
#include "bench/smallsym.h"

TEST(problem_keys) {
    io_error err;
    bench_problems list = parse("smallsym", &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(strcmp(p->method, "auto") == 0 && strcmp(p->kind, "spd") == 0 && p->n == 32);
        CHECK(p->storage == SHOAL_FULL && p->triangle == SHOAL_LOWER && p->nrhs == 1);
        CHECK(p->layout == SHOAL_SYSTEM_MAJOR && p->seed == 7);
        CHECK(p->team == 0 && p->refine == 0 && p->outcome == 0 && !*p->variant);
        CHECK(isnan(p->parameter) && p->pairs == BENCH_PAIRS_NONE);
    }
    bench_problems_free(&list);
    list = parse("smallsym:ldlt:cuda:f32:n=24,count=1e5,nrhs=2,layout=interleaved,storage=packed,"
                 "triangle=upper,parameter=0.5,variant=hybrid,team=8,refine=1,outcome=1,seed=3",
                 &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        char text[BENCH_TEXT], again[BENCH_TEXT];
        CHECK(p->n == 24 && p->count == 100000 && p->nrhs == 2 && p->type == SHOAL_F32);
        CHECK(p->layout == SHOAL_INTERLEAVED && p->storage == SHOAL_PACKED && p->outcome == 1);
        CHECK(p->triangle == SHOAL_UPPER && p->team == 8 && p->refine == 1 && p->seed == 3);
        CHECK(p->parameter == 0.5);
        CHECK(strcmp(bench_smallsym_options(p, text),
                     "parameter=0.5 upper nrhs=2 team=8 refine=1 outcome") == 0);
        bench_problems same = parse(bench_problem_text(p, text), &err);
        CHECK_MSG(same.count == 1 && strcmp(bench_problem_text(same.items, again), text) == 0, "%s",
                  text);
        bench_problems_free(&same);
    }
    bench_problems_free(&list);
}

TEST(problem_lists) {
    static const struct {
        const char *text;
        int problems;
        int64_t count; /* of the first */
    } cases[] = {
        { "smallsym:ldlt::f32:n=32,bytes=2^29", 1, 131072 },
        { "smallsym:ldlt::f64:n=32,bytes=2^29", 1, 65536 },
        { "smallsym:ldlt::f32:n=64,bytes=2^20,storage=packed", 1, (1 << 20) / (4 * 64 * 65 / 2) },
        { "smallsym:ldlt::f32:n=0,bytes=2^20", 1, 0 },
        { "smallsym:ldlt::all:n=4+8,storage=all,triangle=all,layout=all,count=5", 32, 5 },
        { "smallsym:ldlt:::outcome=0+1,refine=0+1+2,team=2+4", 12, 100000 },
        { "smallsym:auto:::refine=0+1", 2, 100000 },
        { "smallsym:ldlt+eigdc:::pairs=values+tridiag", 3, 100000 }, /* of ldlt there are none */
        { "smallsym:eigdc::f32:n=16,bytes=2^20,pairs=tridiag", 1, (1 << 20) / (4 * 31) },
        { "smallsym:hhpcr+ldlt:::stage=reduce+pcr", 3, 100000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == cases[i].problems && list.items[0].count == cases[i].count,
                  "%s: %d problems, %lld systems: %s", cases[i].text, list.count,
                  list.count ? (long long)list.items[0].count : -1, err.text);
        bench_problems_free(&list);
    }
    io_error err; /* what differs in the solver alone is solved on the same data */
    int variants = 0;
    while (shoal_variants("smallsym", "ldlt", variants)) variants++;
    bench_problems list = parse("smallsym:ldlt:::outcome=all,variant=all,refine=0+1", &err);
    CHECK(list.count == 4 * variants);
    for (int i = 1; i < list.count; i++)
        CHECK(bench_module_of("smallsym")->same(&list.items[0], &list.items[i]));
    bench_problems_free(&list);
}

TEST(problem_errors_name_the_part) {
    static const bench_refusal cases[] = {
        { "smallsym:ldl", "unknown method 'ldl'; there are auto, ldlt" },
        { "smallsym::::rows=3", "unknown key 'rows'; there are n, count, bytes" },
        { "smallsym::::count=1,bytes=2", "'count' and 'bytes' exclude each other" },
        { "smallsym::::storage=half", "unknown storage 'half'; there are full, packed" },
        { "smallsym::::triangle=left", "unknown triangle 'left'; there are lower, upper" },
        { "smallsym::::outcome=2", "unknown outcome '2'; there are 0, 1" },
        { "smallsym::::pairs=some",
          "unknown pairs 'some'; there are none, values, vectors, tridiag" },
        { "smallsym:ldlt:::pairs=values", "key 'pairs': method 'ldlt' does not take it" },
        { "smallsym:auto:::stage=pcr", "key 'stage': method 'auto' does not take it" },
        { "smallsym::::kind=none", "unknown kind 'none'; there are " },
        { "smallsym:ldlt:::team=2000", "key 'team': '2000' is larger than 1024" },
        { "smallsym:ldlt:::refine=101", "key 'refine': '101' is larger than 100" },
        { "smallsym:auto:::team=2", "key 'team': method 'auto' does not take it" },
        { "smallsym:ldlt:::variant=wide", "method 'ldlt' has no variant 'wide'" },
        { "smallsym::::n=2^20,count=2^20", "n^2 * count * nrhs = 1048576^2 * 1048576 * 1 is more" },
        { "smallsym::::nrhs=0", "key 'nrhs': 0 is less than 1" },
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}

typedef struct fixture { /* the data of one problem, without a method */
    bench_session s;
    bench_arrays d;
} fixture;

static void fixture_begin(fixture *f, const char *text, const char *method) {
    io_error err;
    bench_problems list = parse(text, &err);
    *f = (fixture){ 0 };
    bench_session_begin(&f->s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
    f->s.rules = (bench_rules){ .samples = 2, .exact = true };
    bench_place *place = bench_session_place(&f->s, bench_backend);
    CHECK(place && bench_systems_make(&f->s, list.items, place, &f->d) == BENCH_OK);
    snprintf(f->d.problem.method, sizeof f->d.problem.method, "%s", method);
    bench_problems_free(&list);
}

static void fixture_end(fixture *f) {
    bench_arrays_free(&f->d);
    bench_session_end(&f->s);
}

static void check_verified(const bench_session *s, int64_t systems) {
    for (int i = 0; i < s->row_count; i++) {
        char text[BENCH_TEXT];
        CHECK_MSG(s->rows[i].check.passed, "%s: %s", bench_problem_text(&s->rows[i].problem, text),
                  s->rows[i].check.why);
        CHECK(!s->rows[i].timed && s->rows[i].check.systems == systems);
    }
}

/* Every method, storage and layout, more than a pack of systems. */
TEST(verifies_every_method) {
    static const char *const texts[] = {
        "smallsym:all::all:n=0+1+2+3,count=37,layout=all,storage=all,"
        "triangle=all,nrhs=2,variant=all",
        "smallsym:all::all:n=17+33,count=37,layout=all,nrhs=2,variant=all"
    };
    bench_session s;
    for (int i = 0; i < 2; i++) {
        CHECK(run(&s, texts[i], 0) == BENCH_OK && bench_all_passed(&s));
        CHECK(s.row_count >= (i ? 2 * 2 * 2 : 4 * 2 * 8));
        check_verified(&s, 37);
        bench_session_end(&s);
    }
    run(&s, "smallsym:auto::f32:n=5,count=40,refine=1,outcome=1", 0);
    CHECK(bench_all_passed(&s) && s.row_count == 1 && strcmp(s.rows[0].method, "auto") == 0);
    bench_session_end(&s);
}

/* Eigenpairs, in every layout; of tridiagonal matrices, too. */
TEST(verifies_eigenpairs) {
    static const char *const texts[] = {
        "smallsym:eigdc+auto::all:n=0+1+2+3,count=37,layout=all,storage=all,triangle=all,"
        "pairs=values+vectors+tridiag,outcome=1",
        "smallsym:eigdc+auto::all:n=17+33,count=37,layout=all,pairs=values+vectors+tridiag,outcome=1"
    };
    bench_session s;
    for (int i = 0; i < 2; i++) {
        CHECK(run(&s, texts[i], 0) == BENCH_OK && bench_all_passed(&s));
        CHECK(s.row_count == (i ? 2 * 2 * 2 * 2 * 3 : 2 * 2 * 4 * 8 * 3));
        check_verified(&s, 37);
        bench_session_end(&s);
    }
    run(&s, "smallsym:eigdc::f64:n=4,count=23,kind=nonfinite,pairs=all", 0);
    CHECK(s.row_count == 4 && !bench_all_passed(&s));
    for (int i = 0; i < s.row_count; i++)
        CHECK_MSG(s.rows[i].check.failed == 2 && s.rows[i].check.wrong == 0, "%s",
                  s.rows[i].check.why);
    bench_session_end(&s);
    run(&s, "smallsym:eigdc::f32:n=5,count=300,kind=tiny,pairs=all", 0); /* values below normal */
    CHECK(s.row_count == 4 && bench_all_passed(&s));
    bench_session_end(&s);
}

TEST(verifies_stages) {
    bench_session s;
    static const char *const texts[] = {
        "smallsym:hhpcr::all:n=0+1+2+17+33,count=37,layout=all,nrhs=2,variant=all,stage=reduce+pcr",
        "smallsym:hhpcr::all:n=9,count=37,layout=all,storage=packed,triangle=all,stage=reduce"
    };
    for (int i = 0; i < 2; i++) {
        CHECK(run(&s, texts[i], 0) == BENCH_OK && bench_all_passed(&s));
        CHECK(s.row_count >= (i ? 2 * 4 : 2 * 5 * 2 * 2 * 2));
        check_verified(&s, 37);
        bench_session_end(&s);
    }
}

/* A large batch repeats its systems, in both layouts in the same order. */
TEST(data_repeat) {
    static const char *const texts[] = { "smallsym:ldlt::f64:n=2,count=5000,layout=system",
                                         "smallsym:ldlt::f64:n=2,count=5000,layout=interleaved" };
    double first[2][3] = { { 0 } };
    for (int t = 0; t < 2; t++) {
        fixture f;
        fixture_begin(&f, texts[t], "ldlt");
        CHECK(bench_systems_distinct(&f.d.problem) == 4093);
        const bench_symmetric v = bench_symmetric_of(&f.d, NULL);
        const double *b = v.b;
        int64_t other = 0, equal = 0;
        for (int64_t k = 0; k < 5000; k++) {
            const int64_t from = k % 4093;
            for (int e = 0; e < 3; e++) {
                const int i = e > 0, j = e > 1;
                const double a = bench_symmetric_entry(&v, k, i, j);
                other += !(a == bench_symmetric_entry(&v, from, i, j));
                equal += k > 0 && k < 4093 && a == bench_symmetric_entry(&v, k - 1, i, j);
                if (k == 0) first[t][e] = a;
            }
            other += !(b[k * v.b_system] == b[from * v.b_system]);
        }
        CHECK_MSG(other == 0 && equal == 0, "%lld, %lld", (long long)other, (long long)equal);
        fixture_end(&f);
    }
    CHECK(memcmp(first[0], first[1], sizeof first[0]) == 0);
}

/* A zero pivot is an honest failure: no pass, and nothing wrong. */
TEST(failures_do_not_pass) {
    fixture f;
    if (strcmp(bench_backend, "cpu") != 0) return; /* where the data lie on the host */
    fixture_begin(&f, "smallsym:ldlt::f64:n=5,count=40", "ldlt");
    for (int k = 0; k < 3; k++) ((double *)f.d.memory[0])[25 * 13 * k] = 0;
    CHECK(bench_module_of("smallsym")->run(&f.s, &f.d, &f.d.problem, true) == BENCH_OK &&
          f.s.row_count == 1);
    if (f.s.row_count == 1) {
        const bench_row *row = f.s.rows;
        CHECK_MSG(!row->check.passed && row->check.wrong == 0, "%s", row->check.why);
        CHECK(row->check.failed == 3 && !row->timed && !bench_all_passed(&f.s));
    }
    fixture_end(&f);
}

/* Ctrl-C before the data are there, and before the answer is judged: no row, no verdict. */
TEST(stops_early) { check_stops("smallsym:ldlt::f64:n=8,count=300", 5); }

/* Where LAPACK is installed, there is a row of it. */
static bool has_lapack(void) {
    bench_session s;
    bench_library lib;
    bench_session_begin(&s, &(shoal_options){ .backend = "cpu" });
    const bool there = strcmp(bench_backend, "cpu") == 0 && bench_open_lapack(&s, &lib);
    bench_session_end(&s);
    return there;
}

/* Each class of peers on data in other layouts: they have their own copy, and are right. How exact
 * a vendor's eigenpairs are is not ours to promise. */
TEST(peers_are_judged) {
    static const struct {
        const char *text, *method, *lapack;
    } cases[] = {
        { "smallsym:ldlt::f32:n=6,count=50,storage=packed,layout=interleaved", "ldlt",
          "spotrf+spotrs" },
        { "smallsym:ldlt::f64:n=6,count=50,triangle=upper,nrhs=3", "auto", "dpotrf+dpotrs" },
        { "smallsym:ldlt::f32:n=6,count=50,triangle=upper,nrhs=3", "ldltp", "ssysv" },
        { "smallsym:ldlt::f64:n=1,count=50", "ldltp", "dsysv" },
        { "smallsym:ldlt::f32:n=33,count=50,layout=interleaved", "eigdc", "ssyevd" },
        { "smallsym:ldlt::f64:n=6,count=50,storage=packed,triangle=upper", "eigdc", "dsyevd" },
        { "smallsym:eigdc::f32:n=6,count=50,pairs=vectors,nrhs=2", "eigdc", "ssyevd" },
        { "smallsym:auto::f64:n=17,count=50,pairs=values,layout=interleaved", "eigdc", "dsyevd" },
        { "smallsym:eigdc::f32:n=17,count=50,pairs=tridiag,layout=interleaved", "eigdc", "sstevd" },
        { "smallsym:eigdc::f64:n=1,count=50,pairs=tridiag", "eigdc", "dstevd" },
    };
    const bool lapack = has_lapack(), on_cpu = strcmp(bench_backend, "cpu") == 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f;
        fixture_begin(&f, cases[i].text, cases[i].method);
        CHECK(bench_peers_smallsym(&f.s, &f.d) == BENCH_OK);
        const bool eigen = strcmp(cases[i].method, "eigdc") == 0;
        CHECK(!lapack || f.s.row_count == (eigen ? 1 : 2)); /* of either triangle */
        for (int r = 0; r < f.s.row_count; r++) {
            const bench_row *row = &f.s.rows[r];
            CHECK_MSG(row->check.passed || (eigen && !on_cpu), "%s: %s", row->method,
                      row->check.why);
            CHECK(row->timed && row->check.systems == 50 && strcmp(row->who, "Shoal") != 0);
            CHECK_MSG(!on_cpu || strcmp(row->method, cases[i].lapack) == 0, "%s", row->method);
        }
        fixture_end(&f);
    }
}

/* Cholesky fails its check where one system is indefinite; pivoted LDLt is measured beside it. */
TEST(peers_of_indefinite_systems) {
    if (!has_lapack()) return;
    fixture f;
    fixture_begin(&f, "smallsym:ldlt::f64:n=3,count=10", "auto");
    ((double *)f.d.host[0])[9 * 4] = -5; /* A(0,0) of system 4 */
    CHECK(bench_peers_smallsym(&f.s, &f.d) == BENCH_OK && f.s.row_count == 4);
    for (int r = 0; r < f.s.row_count; r++) {
        const bench_row *row = &f.s.rows[r];
        CHECK(strcmp(row->method, r < 2 ? "dpotrf+dpotrs" : "dsysv") == 0);
        CHECK(strcmp(row->variant, r % 2 ? "upper" : "lower") == 0);
        CHECK_MSG(row->check.wrong == (r < 2 ? 1 : 0), "%s: %s", row->method, row->check.why);
    }
    fixture_end(&f);
}

TEST(json_of_a_run) {
    bench_session s;
    run(&s, "smallsym:ldlt::f32:n=8,count=100,storage=packed,nrhs=3,outcome=0+1",
        BENCH_TIME | BENCH_PEERS);
    io_json_value *root = json_of(&s);
    const io_json_value *rows = io_json_get(root, "rows"), *row = io_json_at(rows, 1);
    CHECK(rows && rows->count >= 2); /* and the peers', where they are installed */
    CHECK(row && strcmp(io_json_get(row, "storage")->string, "packed") == 0);
    CHECK(row && strcmp(io_json_get(row, "triangle")->string, "lower") == 0);
    CHECK(row && io_json_get(row, "outcome")->number == 1);
    CHECK(row && io_json_get(row, "distinct")->number == 100);
    CHECK(row && io_json_get(row, "verified")->boolean);
    CHECK(row && io_json_get(row, "systems_per_second")->number ==
                     100 / io_json_get(row, "median_s")->number);
    CHECK(row && io_json_get(row, "bytes")->number == (36 + 2 * 8 * 3) * 100 * 4.0);
    for (row = rows ? rows->first : NULL; row; row = row->next)
        CHECK_MSG(io_json_get(row, "max_residual")->number < 80 * FLT_EPSILON, "%s",
                  io_json_get(row, "who")->string);
    io_json_free(root);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problem_keys);
    RUN(problem_lists);
    RUN(problem_errors_name_the_part);
    RUN(verifies_every_method);
    RUN(verifies_eigenpairs);
    RUN(verifies_stages);
    RUN(data_repeat);
    RUN(failures_do_not_pass);
    RUN(stops_early);
    RUN(peers_are_judged);
    RUN(peers_of_indefinite_systems);
    RUN(json_of_a_run);
    return TEST_END();
}
