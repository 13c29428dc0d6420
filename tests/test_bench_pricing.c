/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_pricing.c - prices on the bench: problem strings, the check that judges, small runs with
 * their peers, their JSON.
 */
#define _GNU_SOURCE
#include "test_bench.h"

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
    CHECK(list.count == 1 && bench_price_is_pde(&list.items[0]) && list.items[0].nrhs == 3);
    CHECK(bench_price_steps(&list.items[0]) == 3.0 * 6 * 65 * 10 * 10);
    bench_problems_free(&list);
    list = parse("bullet:mc:::nx=65", &err);
    CHECK(list.count == 0 && strstr(err.text, "nx"));
    list = parse("bullet:pde:::paths=65", &err);
    CHECK(list.count == 0 && strstr(err.text, "paths"));
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
                                            "bullet:mc:%s:f64+f32:dates=10,paths=600",
                                            "bullet:quad:%s:f64:dates=10",
                                            "bullet:pde:%s:f64:dates=10,nx=65,options=2,steps=20" };
    static const int rows[] = { 2, 2, 1, 2, 1, 1 };
    for (int i = 0; i < 6; i++) {
        snprintf(text, sizeof text, problems[i], bench_backend);
        verify(text, rows[i], 0);
    }
    snprintf(text, sizeof text, "heston:euler:%s:f32:steps=16,paths=600,math=fast", bench_backend);
    verify(text, 1, 0);
}

TEST(peers_of_pricing) {
    if (strcmp(bench_backend, "cpu") != 0) SKIP("the peer of a GPU needs one");
    verify("heston:euler:cpu:f64:steps=8,paths=512", 2, BENCH_TIME | BENCH_PEERS);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problems_of_pricing);
    RUN(every_method_verifies);
    RUN(peers_of_pricing);
    return TEST_END();
}
