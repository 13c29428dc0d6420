/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_pricing.c - prices on the bench: problem strings, the check that judges, small runs with
 * their peers, their JSON.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <math.h>
#include <string.h>

#include "bench/pricing.h"

TEST(problems_of_pricing) {
    io_error err;
    char text[BENCH_TEXT];
    bench_problems list =
        parse("heston:euler:cpu:f32+f64:steps=10+20,paths=2^10,variant=abs", &err);
    CHECK_MSG(list.count == 4 && list.items[0].n == 10 && list.items[0].count == 1024 &&
                  strcmp(list.items[3].variant, "abs") == 0,
              "%s", err.text);
    bench_problems again = parse(bench_problem_text(&list.items[3], text), &err);
    CHECK_MSG(again.count == 1 && again.items[0].n == 20, "%s", text);
    bench_problems_free(&list);
    bench_problems_free(&again);
    list = parse("bullet:pde::f64:nx=65,options=3,dates=10,variant=thomas", &err);
    CHECK(list.count == 1 && bench_can(&list.items[0], SHOAL_CAN_SURFACE) &&
          list.items[0].nrhs == 3);
    CHECK(bench_price_steps(&list.items[0]) == 3.0 * 6 * 65 * 10 * 10);
    bench_problems_free(&list);
    list = parse("bullet:mc:::nx=65", &err);
    CHECK(list.count == 0 && strstr(err.text, "nx"));
    list = parse("bullet:pde:::paths=65", &err);
    CHECK(list.count == 0 && strstr(err.text, "paths"));
    list = parse("expou:euler+conditional::f64:steps=8,paths=600", &err);
    CHECK(list.count == 2 && list.items[1].n == 8 && list.items[1].count == 600);
    bench_problems_free(&list);
    list = parse("expou:euler:::math=fast", &err);
    CHECK(list.count == 0 && strstr(err.text, "math"));
    list = parse("heston:eulr:::", &err);
    CHECK(list.count == 0 && strstr(err.text, "eulr"));
}

static void verify(const char *text, int rows, int flags) {
    bench_session s;
    io_error err;
    bench_problems list = parse(text, &err);
    CHECK_MSG(list.count > 0, "%s: %s", text, err.text);
    bench_session_begin(&s, &(shoal_options){ .backend = "auto", .threads = 2 });
    s.rules.samples = 2, s.rules.shortest = 0, s.rules.longest = 0.01;
    CHECK_MSG(bench_run(&s, &list, flags) == BENCH_OK, "%s: %s", text, s.message);
    CHECK_MSG(s.row_count == rows && bench_all_passed(&s), "%s: %d rows, %s", text, s.row_count,
              s.row_count ? s.rows[0].check.why : "");
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(every_method_verifies) {
    char text[160];
    static const char *const problems[] = { "heston:euler:%s:f64+f32:steps=16,paths=600",
                                            "heston:exact+conditional:%s:f64:steps=4,paths=600",
                                            "heston:analytic:%s:f64:",
                                            "expou:euler:%s:f64+f32:steps=64,paths=600",
                                            "expou:conditional:%s:f64:steps=8,paths=600",
                                            "bullet:mc:%s:f64+f32:dates=10,paths=600",
                                            "bullet:quad:%s:f64:dates=10",
                                            "bullet:pde:%s:f64:dates=10,nx=65,options=2,steps=20" };
    static const int rows[] = { 2, 2, 1, 2, 1, 2, 1, 1 };
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        snprintf(text, sizeof text, problems[i], bench_backend);
        verify(text, rows[i], 0);
    }
    snprintf(text, sizeof text, "heston:euler:%s:f32:steps=16,paths=600,math=fast", bench_backend);
    verify(text, 1, 0);
}

/* Four times the paths take half the error, and the time to an error does not depend on them. */
TEST(time_to_an_error) {
    bench_row row = { .timed = true, .time = { .median = 3 }, .error = 2e-5 };
    CHECK(fabs(bench_price_to_error(&row) - 12) < 1e-12);
    row.time.median *= 4, row.error /= 2;
    CHECK(fabs(bench_price_to_error(&row) - 12) < 1e-12);
    row.error = 0; /* a formula */
    CHECK(bench_price_to_error(&row) == 0);
    row.error = NAN; /* of one path */
    CHECK(bench_price_to_error(&row) == 0);
    row.error = 1e-5, row.timed = false;
    CHECK(bench_price_to_error(&row) == 0);
}

/* The price of the exponential model has to be right to 2 in 1000 of itself here. */
TEST(expou_has_its_price) {
    bench_session s;
    io_error err;
    char text[160];
    snprintf(text, sizeof text, "expou:conditional:%s:f64:steps=16,paths=65536", bench_backend);
    bench_problems list = parse(text, &err);
    bench_session_begin(&s, &(shoal_options){ .backend = "auto", .threads = 2 });
    CHECK(bench_run(&s, &list, 0) == BENCH_OK && s.row_count == 1 && bench_all_passed(&s));
    const bench_check *check = &s.rows[0].check;
    CHECK_MSG(check->max_residual < 2e-4 && check->tolerance < 3e-4, "off by %g of %g",
              check->max_residual, check->tolerance);
    CHECK(s.rows[0].error > 1e-6 && s.rows[0].error < 1e-4);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(peers_of_pricing) {
    if (strcmp(bench_backend, "cpu") != 0) SKIP("the peer of a GPU needs one");
#ifdef BENCH_HAS_QUANTLIB
    const int more = 1;
#else
    const int more = 0;
#endif
    verify("heston:euler:cpu:f64:steps=8,paths=512", 2 + more, BENCH_TIME | BENCH_PEERS);
    verify("heston:analytic:cpu:f64:", 1 + 2 * more, BENCH_TIME | BENCH_PEERS);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problems_of_pricing);
    RUN(every_method_verifies);
    RUN(time_to_an_error);
    RUN(expou_has_its_price);
    RUN(peers_of_pricing);
    return TEST_END();
}
