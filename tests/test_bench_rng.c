/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_rng.c - random numbers on the bench: the checks that judge them, small runs, their JSON
 * and pages. On the CPU, or with --backend=cuda on a GPU or the emulator.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <math.h>
#include <unistd.h>

#include "bench/peers.h"

/* One problem with its room, and what the checks say about its numbers. */
typedef struct fixture {
    bench_session s;
    bench_problem p;
    bench_numbers numbers;
    bench_check check;
} fixture;

static void begin(fixture *f, const char *text) {
    io_error err;
    bench_problems list = parse(text, &err);
    *f = (fixture){ .numbers = { .sets = 0 } };
    bench_session_begin(&f->s, &(shoal_options){ .backend = bench_backend, .threads = 2 });
    CHECK_MSG(list.count == 1, "%s: %s", text, err.text);
    if (list.count == 1) f->p = list.items[0];
    bench_problems_free(&list);
    bench_place *place = bench_session_place(&f->s, f->p.backend);
    CHECK(place && bench_numbers_make(&f->s, &f->p, place, &f->numbers) == BENCH_OK);
    bench_rng_check_begin(&f->check);
}

static void end(fixture *f) {
    bench_numbers_free(&f->numbers);
    bench_session_end(&f->s);
}

/* Puts numbers of our own in place of the generator's, and judges their law. */
static const char *judge(fixture *f, const void *numbers) {
    void *there = bench_numbers_at(&f->numbers, 0);
    bench_rng_check_begin(&f->check);
    CHECK(shoal_copy(f->numbers.place->ctx, there, numbers, f->numbers.size) == SHOAL_OK);
    CHECK(bench_rng_check_law(&f->s, &f->numbers, there, f->p.layout, &f->check) == SHOAL_OK);
    CHECK(f->check.passed == (f->check.why[0] == 0) && f->check.passed == (f->check.wrong == 0));
    return f->check.why;
}

enum { COUNT = 20000 };

TEST(law_sees_mean_and_variance) {
    fixture f;
    static double x[COUNT];
    begin(&f, "rng:uniform:::count=20000");
    const double root = 0.6180339887498949; /* x: equidistributed, so well within the errors */
    for (int i = 0; i < COUNT; i++) x[i] = fmod((i + 0.5) * root, 1);
    CHECK_MSG(!*judge(&f, x), "%s", f.check.why);
    for (int i = 0; i < COUNT; i++) x[i] += 0.012; /* the error of the mean is 0.00204 */
    CHECK_MSG(strstr(judge(&f, x), "the mean is") && f.check.wrong == 1, "%s", f.check.why);
    for (int i = 0; i < COUNT; i++) x[i] = 0.5 + 0.97 * (x[i] - 0.512);
    CHECK_MSG(strstr(judge(&f, x), "the variance is"), "%s", f.check.why);
    x[COUNT - 1] = NAN;
    CHECK_MSG(strstr(judge(&f, x), "1 are not finite"), "%s", f.check.why);
    end(&f);
}

TEST(law_of_counts) {
    fixture f;
    static uint32_t x[COUNT];
    begin(&f, "rng:poisson:::count=20000,lambda=100");
    for (int i = 0; i < COUNT; i++) x[i] = i % 2 ? 90 : 110; /* mean and variance 100 */
    CHECK_MSG(!*judge(&f, x), "%s", f.check.why);
    x[3] = SHOAL_RNG_NONE;
    CHECK_MSG(strstr(judge(&f, x), "not finite"), "%s", f.check.why);
    end(&f);
}

/* Each coordinate stands for itself, in either layout. */
TEST(law_of_points) {
    static float x[3 * 1000];
    for (int layout = 0; layout < 2; layout++) {
        fixture f;
        begin(&f, layout ? "rng:sobol::f32:count=1000,n=3,layout=interleaved"
                         : "rng:sobol::f32:count=1000,n=3");
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 1000; k++)
                x[layout ? d * 1000 + k : k * 3 + d] = ((float)k + 0.5f) / 1000;
        CHECK_MSG(!*judge(&f, x), "%s", f.check.why);
        for (int k = 0; k < 1000; k++) x[layout ? 1000 + k : k * 3 + 1] *= 0.9f; /* mean 0.45 */
        CHECK_MSG(strstr(judge(&f, x), "dimension 1: the mean is 0.45"), "%s", f.check.why);
        end(&f);
    }
}

/* The generator's own numbers, of which one byte is changed afterwards. */
static const char *bits_with(const char *text, ptrdiff_t at) {
    static fixture f;
    shoal_rng *plan = NULL;
    begin(&f, text);
    shoal_context *ctx = f.numbers.place->ctx;
    char *there = bench_numbers_at(&f.numbers, 0), byte = 0x5a;
    CHECK(bench_rng_plan(ctx, &f.p, f.p.math, &plan) == SHOAL_OK);
    CHECK(bench_rng_paint(&f.numbers) == SHOAL_OK);
    CHECK(bench_rng_fill(plan, &f.p, 0, f.p.count, there) == SHOAL_OK);
    CHECK(shoal_wait(ctx) == SHOAL_OK);
    if (at != PTRDIFF_MAX) CHECK(shoal_copy(ctx, there + at, &byte, 1) == SHOAL_OK);
    CHECK(bench_rng_check_bits(&f.s, &f.numbers, &f.p, plan, &f.check) == SHOAL_OK);
    shoal_rng_free(plan);
    end(&f);
    return f.check.why;
}

TEST(bits_are_compared) {
    const char *problems[] = { "rng:words:::count=5000", "rng:normal::f32:count=5000",
                               "rng:sobol::f32:count=1000,n=5",
                               "rng:sobol::f32:count=1000,n=5,layout=interleaved" };
    for (int i = 0; i < 4; i++) {
        const char *why = bits_with(problems[i], PTRDIFF_MAX);
        CHECK_MSG(!*why, "%s: %s", problems[i], why);
        why = bits_with(problems[i], 0); /* the first number: the pieces notice */
        CHECK_MSG(strstr(why, "pieces"), "%s: %s", problems[i], why);
        why = bits_with(problems[i], 19999); /* the last one */
        CHECK_MSG(strstr(why, "pieces"), "%s: %s", problems[i], why);
        why = bits_with(problems[i], 20000);
        CHECK_MSG(strstr(why, "outside the array"), "%s: %s", problems[i], why);
        why = bits_with(problems[i], -1);
        CHECK_MSG(strstr(why, "outside the array"), "%s: %s", problems[i], why);
    }
    /* between the places where pieces are filled, it is the CPU's that differ */
    const char *why = bits_with("rng:words:::count=50000", 4 * 4000);
    CHECK_MSG(strstr(why, "the CPU gives"), "%s", why);
}

/* Of fast arithmetic a normal may be off by a little, and more where it is near 0. */
TEST(fast_arithmetic_is_allowed_a_little) {
    static const struct {
        float by;
        bool passes;
    } cases[] = { { 5e-6f, true }, { 3e-3f, false } };
    for (int i = 0; i < 2; i++) {
        fixture f;
        shoal_rng *plan = NULL;
        begin(&f, "rng:normal::f32:count=5000,math=fast");
        shoal_context *ctx = f.numbers.place->ctx;
        float *there = (float *)bench_numbers_at(&f.numbers, 0) + 2500, number;
        CHECK(bench_rng_plan(ctx, &f.p, SHOAL_EXACT, &plan) == SHOAL_OK);
        CHECK(bench_rng_paint(&f.numbers) == SHOAL_OK);
        CHECK(bench_rng_fill(plan, &f.p, 0, f.p.count, there - 2500) == SHOAL_OK);
        CHECK(shoal_copy(ctx, &number, there, sizeof number) == SHOAL_OK);
        number += cases[i].by;
        CHECK(shoal_copy(ctx, there, &number, sizeof number) == SHOAL_OK);
        CHECK(bench_rng_check_bits(&f.s, &f.numbers, &f.p, plan, &f.check) == SHOAL_OK);
        CHECK_MSG(f.check.passed == cases[i].passes, "%s", f.check.why);
        CHECK(fabs(f.check.max_residual - cases[i].by) < 1e-6 && f.check.tolerance < 1e-3);
        shoal_rng_free(plan);
        end(&f);
    }
}

/* A peer that makes the same number all the time. */
static int call_constant(void *self, int set) {
    const bench_numbers *d = self;
    static uint32_t counts[COUNT];
    for (int i = 0; i < COUNT; i++) counts[i] = 100;
    return shoal_copy(d->place->ctx, bench_numbers_at(d, set), counts, d->size) != SHOAL_OK;
}

/* It fails, is timed and shown, and for poisson compared with. */
TEST(peers_are_judged) {
    static const char *const problems[] = { "rng:poisson:::count=20000,lambda=100",
                                            "rng:words:::count=20000" };
    for (int i = 0; i < 2; i++) {
        fixture f;
        begin(&f, problems[i]);
        f.s.rules = (bench_rules){ .samples = 1, .exact = true };
        const bench_solver peer = { .who = "other",
                                    .function = "constant",
                                    .version = "1",
                                    .note = "fast",
                                    .task = {
                                        .call = call_constant, .self = &f.numbers, .calls = 1 } };
        CHECK(bench_peer_generator(&f.s, &f.numbers, peer, SHOAL_SYSTEM_MAJOR) == BENCH_OK &&
              f.s.row_count == 1);
        const bench_row *row = f.s.rows;
        CHECK(!row->check.passed && row->timed && row->counts == (i == 0));
        CHECK_MSG(strstr(row->check.why, i == 0 ? "variance" : "mean"), "%s", row->check.why);
        CHECK((strstr(row->note, "its distribution is wrong") != NULL) == (i == 0));
        end(&f);
    }
}

TEST(verifies_every_method) {
    static const char *const problems[] = {
        "rng:all::all:count=1301,n=1+7,variant=all,layout=all,math=all",
        "rng:all:::count=0,n=2",
        "rng:all:::count=1,n=2",
        "rng:poisson:::count=5000,lambda=0+0.5+9+64+1000+1e9",
        "rng:gamma:::count=5000,alpha=0.01+1+1000,variant=all",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench_session s;
        CHECK(run(&s, problems[i], 0) == BENCH_OK && s.row_count > 0);
        for (int r = 0; r < s.row_count; r++)
            CHECK_MSG(
                s.rows[r].check.passed && !s.rows[r].timed &&
                    (s.rows[r].check.max_residual == 0 || s.rows[r].problem.math == SHOAL_FAST),
                "%s %s: %s", s.rows[r].method, s.rows[r].variant, s.rows[r].check.why);
        bench_session_end(&s);
    }
}

TEST(wrong_parameters_are_errors) {
    io_error err;
    bench_session s;
    bench_problems list = parse("rng:gamma:::count=10,alpha=0", &err);
    bench_session_begin(&s, &(shoal_options){ .backend = bench_backend, .threads = 1 });
    CHECK(bench_run(&s, &list, 0) == BENCH_ERROR && s.why == SHOAL_E_ARG);
    CHECK_MSG(strstr(s.message, "alpha"), "%s", s.message);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(stops_between_windows) { check_stops("rng:words:::count=3e5", 8); }

static const char *text_of(const io_json_value *row, const char *key) {
    const io_json_value *value = io_json_get(row, key);
    return value && value->string ? value->string : "";
}

/* Ours and, on the CPU, one peer: the C library's functions. */
TEST(json_of_a_run) {
    const bool on_cpu = strcmp(bench_backend, "cpu") == 0;
    bench_session s;
    run(&s, "rng:normal+ncchisq::f32:count=4000,math=all", BENCH_TIME | (on_cpu ? BENCH_PEERS : 0));
    io_json_value *root = json_of(&s);
    const io_json_value *rows = io_json_get(root, "rows"), *row = io_json_at(rows, 0);
    CHECK(rows && rows->count == (on_cpu ? 4 : 3));
    CHECK(strcmp(text_of(row, "law"), "normal") == 0 && strcmp(text_of(row, "math"), "exact") == 0);
    CHECK(strcmp(text_of(io_json_at(rows, 1), "math"), "fast") == 0);
    CHECK(row && io_json_get(row, "bytes")->number == 4 * 4000.0);
    CHECK(row && io_json_get(row, "numbers_checked")->number == 4000);
    CHECK(row && !io_json_get(row, "kind") && !io_json_get(row, "lambda"));
    const double rate = row ? io_json_get(row, "numbers_per_second")->number : 0;
    CHECK(row && fabs(rate * io_json_get(row, "median_s")->number - 4000) < 1e-6);
    if (on_cpu) {
        const io_json_value *peer = io_json_at(rows, 2);
        CHECK(strcmp(text_of(peer, "who"), "libm") == 0 && io_json_get(peer, "verified")->boolean);
        CHECK(strcmp(text_of(peer, "law"), "normal") == 0 && !io_json_get(peer, "math"));
        CHECK(row && io_json_get(row, "speedup") && !io_json_get(peer, "speedup"));
    }
    row = io_json_at(rows, on_cpu ? 3 : 2);
    CHECK(row && io_json_get(row, "lambda")->number == 64 && io_json_get(row, "df")->number == 4);
    CHECK(row && !io_json_get(row, "speedup") && !io_json_get(row, "math"));
    io_json_free(root);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(law_sees_mean_and_variance);
    RUN(law_of_counts);
    RUN(law_of_points);
    RUN(bits_are_compared);
    RUN(fast_arithmetic_is_allowed_a_little);
    RUN(peers_are_judged);
    RUN(verifies_every_method);
    RUN(wrong_parameters_are_errors);
    RUN(stops_between_windows);
    RUN(json_of_a_run);
    return TEST_END();
}
