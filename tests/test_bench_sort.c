/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench_sort.c - sorting and merging on the bench: problem strings with types of their own, the
 * check that judges results, small runs with their peers, their JSON.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include <string.h>

#include "bench/sort.h"

TEST(problems_of_sort) {
    io_error err;
    char text[BENCH_TEXT];
    bench_problems list = parse("sort:batchsort:cpu:u32+f64:n=32+64,keys=2^20,values=0+4", &err);
    CHECK(list.count == 8 && list.items[0].n == 32 && list.items[0].count == 1 << 15);
    CHECK(strcmp(bench_problem_type(&list.items[0]), "u32") == 0 &&
          strcmp(bench_problem_type(&list.items[7]), "f64") == 0);
    CHECK(bench_number_size(&list.items[0]) == 4 && bench_number_size(&list.items[7]) == 8);
    bench_problems again = parse(bench_problem_text(&list.items[7], text), &err);
    CHECK_MSG(again.count == 1 && again.items[0].n == 64 && again.items[0].values == 1 &&
                  strcmp(bench_problem_type(&again.items[0]), "f64") == 0,
              "%s", text);
    bench_problems_free(&list);
    bench_problems_free(&again);
    list = parse("sort:mergepath:::n=1000,ratio=1+9", &err);
    CHECK(list.count == 2 && list.items[0].count == 1 && bench_sort_na(&list.items[1]) == 100);
    CHECK(strcmp(bench_problem_type(&list.items[0]), "u32") == 0); /* the usual one */
    bench_problems_free(&list);
    list = parse("sort:::u32:n=10", &err);
    CHECK(list.count == 0 && strstr(err.text, "method"));
    list = parse("sort:batchsort:::ratio=3", &err);
    CHECK(list.count == 0 && strstr(err.text, "ratio"));
    list = parse("sort:mergepath:::count=3", &err);
    CHECK(list.count == 0 && strstr(err.text, "count"));
    list = parse("sort:batchsort::u16:n=10", &err);
    CHECK(list.count == 0 && strstr(err.text, "u16"));
    list = parse("recur:serial::u64:n=10", &err); /* types of sort alone */
    CHECK(list.count == 0 && strstr(err.text, "u64"));
}

static void judge(bench_session *s, bench_sortables *d, bool stable, bool passes, int line) {
    bench_check check;
    CHECK(bench_sort_check(s, d, stable, &check) == SHOAL_OK);
    CHECK_MSG(check.passed == passes, "line %d: %s", line, check.why);
}

/* Keys out of order, keys that were never there, places that belong to others, ties that turned. */
TEST(check_sees_wrong_results) {
    bench_session s;
    io_error err;
    bench_problems list = parse("sort:batchsort:cpu:i32:n=50,count=3,values=4,kind=few", &err);
    bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 2 });
    bench_place *place = bench_session_place(&s, "cpu");
    bench_sortables d = { 0 };
    CHECK(bench_sortables_make(&s, &list.items[0], place, &d) == BENCH_OK);
    const int32_t *in = d.arrays.host[BENCH_SORT_A];
    int32_t *keys = bench_arrays_at(&d.arrays, BENCH_SORT_OUT, 0);
    uint32_t *places = bench_arrays_at(&d.arrays, BENCH_SORT_OUT_VALUES, 0);
    for (int k = 0; k < 3; k++) /* by insertion */
        for (int i = 0; i < 50; i++) {
            int at = i;
            for (; at > 0 && keys[k * 50 + at - 1] > in[k * 50 + i]; at--)
                keys[k * 50 + at] = keys[k * 50 + at - 1],
                              places[k * 50 + at] = places[k * 50 + at - 1];
            keys[k * 50 + at] = in[k * 50 + i], places[k * 50 + at] = (uint32_t)i;
        }
    judge(&s, &d, true, true, __LINE__);
    const uint32_t first = places[50];
    CHECK(keys[50] == keys[51]); /* of seven values */
    places[50] = places[51], places[51] = first;
    judge(&s, &d, true, false, __LINE__);
    judge(&s, &d, false, true, __LINE__);
    places[51] = places[50];
    judge(&s, &d, false, false, __LINE__);
    places[51] = places[50], places[50] = first;
    const int32_t key = keys[149];
    keys[149] = keys[100];
    judge(&s, &d, true, false, __LINE__);
    keys[149] = key + 1;
    judge(&s, &d, true, false, __LINE__);
    keys[149] = key;
    judge(&s, &d, true, true, __LINE__);
    bench_arrays_free(&d);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(every_method_verifies) {
    static const char *const problems[] = {
        "sort:batchsort::all:n=0+1+70+300,count=5,variant=all",
        "sort:batchsort::f32+i64:n=100,count=3,values=0+4+8,direction=descending,kind=few",
        "sort:batchsort::u64+f64:n=1500,count=2,index=1,kind=reversed",
        "sort:mergepath::all:n=0+1+900,variant=all",
        "sort:mergepath::f64+u32:n=9000,ratio=1+20,values=0+4+8",
        "sort:batchmerge::all:n=1+64+700,count=7,variant=all",
        "sort:batchmerge::i32+f32:n=60,count=9,direction=descending,values=0+4,kind=few",
        "sort:mergepath+batchmerge::u32:n=600,kind=equal",
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        bench_session s;
        CHECK(run(&s, problems[i], 0) == BENCH_OK);
        CHECK_MSG(bench_all_passed(&s) && s.row_count > 0, "%s", problems[i]);
        bench_session_end(&s);
    }
}

TEST(rows_are_timed_beside_peers) {
    bench_session s;
    CHECK(run(&s, "sort:batchsort:cpu:u32:n=100,count=40", BENCH_TIME | BENCH_PEERS) == BENCH_OK);
    CHECK(s.row_count >= 1 && s.rows[0].bytes == 2.0 * 4 * 100 * 40);
    for (int i = 1; i < s.row_count; i++)
        CHECK(strcmp(s.rows[i].method, "std::sort") == 0 && s.rows[i].check.passed);
    io_json_value *root = json_of(&s);
    const io_json_value *row = io_json_at(io_json_get(root, "rows"), 0);
    CHECK(io_json_get(row, "keys_per_second")->number > 0 &&
          io_json_get(row, "value_bytes")->number == 0);
    io_json_free(root);
    bench_session_end(&s);
    CHECK(run(&s, "sort:mergepath:cpu:f64:n=4000,ratio=3", BENCH_TIME | BENCH_PEERS) == BENCH_OK);
    for (int i = 0; i < s.row_count; i++) CHECK(s.rows[i].check.passed);
    bench_session_end(&s);
}

int main(int argc, char **argv) {
    take_backend(&argc, argv);
    TEST_BEGIN(argc, argv);
    if (!backend_is_here()) return 77;
    RUN(problems_of_sort);
    RUN(check_sees_wrong_results);
    RUN(every_method_verifies);
    RUN(rows_are_timed_beside_peers);
    return TEST_END();
}
