/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_recur.c - recurrences on the bench: problem strings, the check that judges answers,
 * small runs with their peers, their JSON.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <float.h>
#include <math.h>

#include "bench/module.h"
#include "bench/recur.h"

TEST(problems_of_recurrences) {
    io_error err;
    char text[BENCH_TEXT];
    bench_problems list = parse("recur:lookback:cpu:f32:n=2^20,order=1+2,constant=all", &err);
    CHECK(list.count == 8 && list.items[0].n == 1 << 20 && list.items[0].count == 1);
    bench_problems again = parse(bench_problem_text(&list.items[7], text), &err);
    CHECK_MSG(again.count == 1 && again.items[0].order == 2 && again.items[0].constant == 3, "%s",
              text);
    bench_problems_free(&list);
    bench_problems_free(&again);
    list = parse("recur:pscheme:cpu:f64:n=900,threads=16+32,groups=4+8,variant=all", &err);
    CHECK(list.count == 16);
    bench_problems_free(&list);
    list = parse("recur:pscheme:cpu:f64:n=900,phase=all", &err);
    CHECK(list.count == 4 && list.items[3].phase == SHOAL_RECUR_DETERMINATION);
    bench_problems_free(&list);
    list = parse("recur:lookback:::threads=4", &err);
    CHECK(list.count == 0 && strstr(err.text, "threads"));
    list = parse("recur::::order=5", &err);
    CHECK(list.count == 0 && strstr(err.text, "order"));
}

/* One number that is off by a few units is within the bound; more is not, nor is NaN; what a
 * status owns up to is a failure, not a wrong answer. */
TEST(check_sees_wrong_answers) {
    bench_session s;
    io_error err;
    bench_problems list = parse("recur:serial:cpu:f64:n=400,count=3,kind=sum", &err);
    bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 2 });
    bench_place *place = bench_session_place(&s, "cpu");
    bench_arrays d = { 0 };
    bench_check check;
    int32_t status[3] = { 0, 0, 0 };
    CHECK(bench_arrays_make(&s, &list.items[0], place, &bench_recur.filler, &d) == BENCH_OK);
    double *t = d.host[BENCH_RECUR_T], *w0 = d.host[BENCH_RECUR_W0];
    double *w = bench_arrays_at(&d, BENCH_RECUR_W, 0);
    for (int k = 0; k < 3; k++) {
        double sum = w0[k];
        for (int i = 0; i < 400; i++) w[k * 400 + i] = sum += t[k * 400 + i];
    }
    CHECK(bench_recur_check(&s, &d, status, &check) == SHOAL_OK);
    CHECK_MSG(check.passed && check.systems == 3 && check.max_residual <= DBL_EPSILON / 2, "%g",
              check.max_residual);
    for (int i = 300; i < 400; i++) w[400 + i] += 1e-9; /* a carry that is wrong */
    CHECK(bench_recur_check(&s, &d, status, &check) == SHOAL_OK);
    CHECK_MSG(!check.passed && check.wrong == 1 && strstr(check.why, "segment 1"), "%s", check.why);
    w[400] = NAN;
    CHECK(bench_recur_check(&s, &d, NULL, &check) == SHOAL_OK);
    CHECK(check.wrong == 1 && isinf(check.max_residual));
    status[1] = SHOAL_SYSTEM_OVERFLOW;
    CHECK(bench_recur_check(&s, &d, status, &check) == SHOAL_OK);
    CHECK(!check.passed && check.wrong == 0 && check.failed == 1);
    bench_arrays_free(&d);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(every_method_verifies) {
    static const char *const problems[] = {
        "recur:all::f32+f64:n=0+1+70+900,count=3",
        "recur:all::f64:n=300,count=2,order=2+4,layout=all",
        "recur:all::f32:n=500,direction=reverse,constant=all",
        "recur:pscheme::f64:n=1000,threads=4+8,groups=3,variant=all",
        "recur:pscheme::f32:n=1000,variant=all,phase=all",
        "recur:serial+pscheme::f32:n=1+70+900,form=moebius,variant=all",
        "recur:lookback+serial::f64:n=900,form=moebius,constant=s+none",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench_session s;
        CHECK(run(&s, problems[i], 0) == BENCH_OK);
        CHECK_MSG(bench_all_passed(&s) && s.row_count > 0, "%s", problems[i]);
        bench_session_end(&s);
    }
}

TEST(rows_are_timed_beside_a_loop) {
    bench_session s;
    CHECK(run(&s, "recur:lookback:cpu:f32:n=3000,count=4", BENCH_TIME | BENCH_PEERS) == BENCH_OK);
    CHECK(s.row_count == 2 && strcmp(s.rows[1].who, "C") == 0 && s.rows[1].check.passed);
    CHECK(s.rows[0].bytes == 3.0 * 3000 * 4 * 4 && s.rows[0].speedup > 0);
    io_json_value *root = json_of(&s);
    const io_json_value *row = io_json_at(io_json_get(root, "rows"), 0);
    CHECK(io_json_get(row, "order")->number == 1 &&
          io_json_get(row, "rows_per_second")->number > 0);
    io_json_free(root);
    bench_session_end(&s);
}

TEST(constants_are_not_counted_as_moved) {
    bench_session s;
    CHECK(run(&s, "recur:lookback:cpu:f64:n=1000,constant=s+t+both", BENCH_TIME) == BENCH_OK);
    CHECK(s.row_count == 3 && s.rows[0].bytes == 2 * 8000 && s.rows[1].bytes == 2 * 8000 &&
          s.rows[2].bytes == 8000);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problems_of_recurrences);
    RUN(check_sees_wrong_answers);
    RUN(every_method_verifies);
    RUN(rows_are_timed_beside_a_loop);
    RUN(constants_are_not_counted_as_moved);
    return TEST_END();
}
