/* SPDX-License-Identifier: Apache-2.0
 *
 * test_bench.c - problem strings of all modules, and the measuring loop.
 */
#define _GNU_SOURCE
#include "test_bench.h"

#include "bench/module.h"
#include "bench/rng.h"
#include "bench/tridiag.h"

TEST(problem_defaults) {
    io_error err;
    bench_problems list = parse("tridiag", &err);
    CHECK(list.count == 1);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(strcmp(p->method, "auto") == 0 && strcmp(p->backend, "cpu") == 0);
        CHECK(p->type == SHOAL_F64 && p->layout == SHOAL_SYSTEM_MAJOR && p->nrhs == 1);
        CHECK(p->seed == 7 && strcmp(p->kind, "dominant") == 0 && !*p->variant);
    }
    bench_problems_free(&list);
}

TEST(problem_reads_every_part) {
    io_error err;
    bench_problems list = parse("tridiag:pcr:cuda:f32:n=255,count=1e5,nrhs=3,layout=interleaved,"
                                "kind=laplace,variant=permute,seed=18446744073709551615",
                                &err);
    CHECK_MSG(list.count == 1, "%s", err.text);
    if (list.count == 1) {
        const bench_problem *p = list.items;
        CHECK(p->n == 255 && p->count == 100000 && p->nrhs == 3 && p->seed == UINT64_MAX);
        CHECK(p->type == SHOAL_F32 && p->layout == SHOAL_INTERLEAVED);
        CHECK(strcmp(p->backend, "cuda") == 0 && strcmp(p->variant, "permute") == 0);
        CHECK(strcmp(p->method, "pcr") == 0 && strcmp(p->kind, "laplace") == 0);
    }
    bench_problems_free(&list);
}

TEST(problem_numbers) {
    static const struct {
        const char *text;
        int64_t count;
    } cases[] = {
        { "tridiag::::n=256,rows=2^25", 131072 },
        { "tridiag::::n=3,rows=100", 33 },
        { "tridiag::::count=2.5e4", 25000 },
        { "tridiag::::count=0", 0 },
        { "tridiag::::n=0,rows=1e6", 0 },
        { "tridiag::::count=1^99999999", 1 },
        { "tridiag::::count=7^0", 1 },
        { "tridiag::::count=0^3", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == 1 && list.items[0].count == cases[i].count, "%s: %s", cases[i].text,
                  err.text);
        bench_problems_free(&list);
    }
}

TEST(problem_lists_multiply) {
    io_error err;
    int methods = 0;
    while (shoal_methods("tridiag", methods)) methods++;
    bench_problems list = parse("tridiag:all::f32+f64:n=64+256+1024,rows=2^20,layout=all", &err);
    CHECK_MSG(list.count == methods * 2 * 3 * 2, "%d problems", list.count);
    for (int i = 0; i < list.count; i++) CHECK(list.items[i].n * list.items[i].count == 1 << 20);
    if (methods > 1 && list.count > 1) /* methods vary fastest: neighbours share their data */
        CHECK(bench_same_data(&list.items[0], &list.items[1]));
    bench_problems_free(&list);
    list = parse("tridiag:pcr:::variant=all", &err);
    CHECK(list.count == 2);
    bench_problems_free(&list);
}

TEST(problem_text_reads_back) {
    io_error err;
    bench_problems list =
        parse("tridiag:pcr+lupp::f32:n=5,count=9,nrhs=2,layout=interleaved", &err);
    for (int i = 0; i < list.count; i++) {
        char text[BENCH_TEXT];
        bench_problems again = parse(bench_problem_text(&list.items[i], text), &err);
        CHECK_MSG(again.count == 1, "%s", text);
        if (again.count == 1) {
            CHECK(bench_same_data(&again.items[0], &list.items[i]));
            CHECK(strcmp(again.items[0].method, list.items[i].method) == 0);
        }
        bench_problems_free(&again);
    }
    bench_problems_free(&list);
}

TEST(problem_errors_name_the_part) {
    static const bench_refusal cases[] = {
        { "", "module ''" },
        { "tridiagonal", "module 'tridiagonal'" },
        { "tridiag:pcrr", "unknown method 'pcrr'; there are auto, thomas" },
        { "tridiag::gpu", "unknown backend 'gpu'; there are auto, cpu, cuda" },
        { "tridiag:::f16", "type 'f16'" },
        { "tridiag::::m=3", "unknown key 'm'; there are n, count" },
        { "tridiag::::n", "'n' is not of the form key=value" },
        { "tridiag::::n=", "key 'n': ''" },
        { "tridiag::::n=-1", "key 'n': '-1'" },
        { "tridiag::::n=1.5", "key 'n': '1.5'" },
        { "tridiag::::n=nan", "key 'n': 'nan'" },
        { "tridiag::::n=inf", "is larger than" },
        { "tridiag::::n=2^-1", "key 'n'" },
        { "tridiag::::n=2^999999999999", "is larger than" },
        { "tridiag::::n=99999999999999999999", "key 'n'" },
        { "tridiag::::count=1,rows=2", "exclude each other" },
        { "tridiag::::kind=foo", "kind 'foo'" },
        { "tridiag::::layout=rows", "layout 'rows'" },
        { "tridiag:lupp:::variant=foo", "method 'lupp' has no variant 'foo'" },
        { "tridiag::::seed=0x1", "key 'seed'" },
        { "tridiag::::n=2^40,count=2^40", "more than 2^48" },
        { "tridiag::::nrhs=0", "key 'nrhs': 0 is less than 1" },
        { "tridiag::::n=3,n=4", "key 'n' is given twice" },
        { "tridiag::::seed=3,count=1,seed=3", "key 'seed' is given twice" },
        { "tridiag:pcr+thomas+pcr", "method 'pcr' is given twice" },
        { "tridiag:::f32+f32", "type 'f32' is given twice" },
        { "tridiag::::layout=system+system", "layout 'system' is given twice" },
        { "tridiag:pcr:::variant=stride+stride", "variant 'stride' is given twice" },
        { "tridiag::::n=3+4+3", "'3' is given twice" },
        { "tridiag:all:cpu:f32:n=3,variant=zz", "no method has a variant 'zz'" },
        { "tridiag:all:::variant=stride+zz", "no method has a variant 'zz'" },
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}

TEST(problem_lists_are_bounded) {
    char text[8192] = "tridiag:::f64:n=1";
    io_error err;
    for (int i = 2; i < 1000; i++) snprintf(text + strlen(text), 16, "+%d", i);
    bench_problems list = parse(text, &err);
    CHECK(list.count == 0 && strstr(err.text, "more than"));
    bench_problems_free(&list);
}

/* No two problems of a list are the same, and each reads back as itself. */
static void check_apart(const bench_problems *list, const char *from) {
    for (int i = 0; i < list->count; i++) {
        char text[BENCH_TEXT], other[BENCH_TEXT];
        io_error err;
        bench_problem_text(&list->items[i], text);
        for (int k = 0; k < i; k++)
            CHECK_MSG(strcmp(text, bench_problem_text(&list->items[k], other)) != 0, "%s: %s twice",
                      from, text);
        bench_problems again = parse(text, &err);
        CHECK_MSG(again.count == 1 && strcmp(bench_problem_text(again.items, other), text) == 0,
                  "%s became %s", text, again.count == 1 ? other : err.text);
        bench_problems_free(&again);
    }
}

TEST(rng_lists_multiply) {
    static const struct {
        const char *text;
        int count;
    } cases[] = {
        { "rng:uniform", 1 },
        { "rng:all", 8 },
        { "rng:all::f32", 8 },
        { "rng:all::f32+f64", 2 + 2 * 6 }, /* words and poisson have one type */
        { "rng:all::all", 2 + 2 * 6 },
        { "rng:all::u32", 2 },
        { "rng:words+uniform::u32+f32", 2 },
        { "rng:words+poisson::f32+f64", 2 },
        { "rng:all:::lambda=1+64+1000,alpha=1+2", 8 + 2 + 2 + 1 },
        { "rng:normal::all:math=all,variant=all", 2 * 2 * 2 },
        { "rng:all::f32:math=exact+fast", 8 + 1 },
        { "rng:all:::variant=plain", 2 },
        { "rng:all:::variant=all", 2 + 2 + 2 + 1 + 2 + 3 + 3 },
        { "rng:sobol:::n=1+3+16,layout=all", 6 },
        { "rng:poisson:::lambda=0.1+1e9+1e-30+123456.789+0.3333333333333333", 5 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        io_error err;
        bench_problems list = parse(cases[i].text, &err);
        CHECK_MSG(list.count == cases[i].count, "%s: %d problems: %s", cases[i].text, list.count,
                  err.text);
        check_apart(&list, cases[i].text);
        bench_problems_free(&list);
    }
}

TEST(rng_keys) {
    io_error err;
    bench_problems list = parse("rng:uniform", &err);
    CHECK(list.count == 1 && list.items[0].count == 1 << 24 && list.items[0].n == 1);
    CHECK(list.items[0].lambda == 0 && list.items[0].seed == 7 && !list.items[0].fixed_type);
    bench_problems_free(&list);
    list = parse("rng:sobol+ncchisq+gamma+words", &err);
    CHECK(list.count == 4 && list.items[0].n == 16 && list.items[1].n == 1);
    CHECK(list.items[1].lambda == 64 && list.items[1].df == 4 && list.items[2].alpha == 2.5);
    CHECK(strcmp(bench_problem_type(&list.items[3]), "u32") == 0);
    CHECK(bench_number_size(&list.items[3]) == 4 && bench_number_size(&list.items[0]) == 8);
    bench_problems_free(&list);
    const bench_defaults fast = { .backend = "cpu", .math = "fast" };
    CHECK(bench_problem_parse("rng:normal+gamma", &fast, &list, &err) == IO_OK);
    CHECK(list.count == 2 && list.items[0].math == SHOAL_FAST && list.items[1].math == SHOAL_EXACT);
    bench_problems_free(&list);
    /* what differs in arithmetic or variant alone has the same peers, and stands together */
    list = parse("rng:normal+uniform::f32:math=all,variant=all", &err);
    CHECK(list.count == 5);
    for (int i = 1; i < list.count; i++)
        CHECK(bench_module_of("rng")->same(&list.items[0], &list.items[i]) == (i < 4));
    bench_problems_free(&list);
    list = parse("rng:poisson:::lambda=0.1", &err);
    char text[BENCH_TEXT];
    CHECK(list.count == 1 && strstr(bench_problem_text(list.items, text), ",lambda=0.1,"));
    CHECK(list.count == 1 && strcmp(bench_rng_parameters(list.items, text), "lambda=0.1") == 0);
    bench_problems_free(&list);
}

TEST(rng_errors_name_the_part) {
    static const bench_refusal cases[] = {
        { "rng", "rng needs a method, for example rng:words" },
        { "rng:auto", "method 'auto'" },
        { "rng:normall", "unknown method 'normall'; there are words" },
        { "rng:uniform::f16", "unknown type 'f16'; there are f64, f32, u32" },
        { "tridiag:::u32", "unknown type 'u32'; there are f64, f32" },
        { "rng:uniform::u32", "method 'uniform' has no type 'u32'" },
        { "rng:poisson:::lambda=-1", "key 'lambda': -1 is less than 0" },
        { "rng:poisson:::lambda=nan", "key 'lambda': 'nan' is not a finite number" },
        { "rng:poisson:::lambda=", "key 'lambda': ''" },
        { "rng:poisson:::lambda=1+2+1", "lambda = '1' is given twice" },
        { "rng:ncchisq:::df=1+2", "key 'df': '1+2'" },
        { "rng:normal:::lambda=3", "key 'lambda': method 'normal' does not take it" },
        { "rng:normal:::n=3", "key 'n': method 'normal' does not take it" },
        { "rng:gamma:::math=fast", "key 'math': method 'gamma' does not take it" },
        { "rng:sobol:::n=0", "key 'n': 0 is less than 1" },
        { "rng:sobol:::layout=rows", "layout 'rows'" },
        { "rng:normal:::math=slow", "unknown math 'slow'; there are exact, fast" },
        { "rng:normal:::variant=log", "method 'normal' has no variant 'log'" },
        { "rng:normal:::nrhs=1", "unknown key 'nrhs'; there are count, n, lambda" },
        { "rng:normal:::kind=dominant", "key 'kind'" },
        { "tridiag::::lambda=3", "unknown key 'lambda'; there are n, count" },
        { "rng:sobol:::count=2^40,n=2^20", "count * n = 1099511627776 * 1048576 is more than" },
    };
    check_refusals(cases, sizeof cases / sizeof *cases);
}

/* Problems of two modules in one run: each has its rows and its table. */
TEST(modules_in_one_run) {
    io_error err;
    bench_problems list = parse("rng:uniform:::count=1000", &err);
    const bench_defaults defaults = { .backend = "cpu", .seed = 7 };
    bench_problem_parse("tridiag:lupp:::n=4,count=10", &defaults, &list, &err);
    bench_problem_parse("rng:words:::count=1000", &defaults, &list, &err);
    CHECK(list.count == 3);
    bench_session s;
    bench_session_begin(&s, &(shoal_options){ .backend = "cpu", .threads = 1 });
    s.rules = (bench_rules){ .samples = 1, .exact = true };
    CHECK(bench_run(&s, &list, BENCH_TIME) == BENCH_OK && s.row_count == 3 && bench_all_passed(&s));
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    bench_table(&s, file);
    bench_check_table(&s, file);
    fclose(file);
    CHECK(strstr(text, "Mrows/s") && strstr(text, "Gnum/s") && strstr(text, "max diff"));
    free(text);
    bench_session_end(&s);
    bench_problems_free(&list);
}

TEST(statistics_of_samples) {
    double seconds[] = { 5, 1, 4, 2, 3 };
    bench_stats stats;
    bench_summarise(seconds, 5, 8, &stats);
    CHECK(stats.median == 3 && stats.first_quartile == 2 && stats.third_quartile == 4);
    CHECK(stats.spread == 1 && stats.fastest == 1 && stats.samples == 5 && stats.calls == 8);
    bench_summarise(seconds, 0, 1, &stats);
    CHECK(stats.samples == 0 && stats.median == 0);
}

typedef struct tally {
    int prepared, called, fail_at;
} tally;

static int count_prepare(void *self) { return ((tally *)self)->prepared++, 0; }
static int count_call(void *self, int i) {
    (void)i;
    tally *t = self;
    return ++t->called == t->fail_at ? -1 : 0;
}
static bool stop_at_once(void) { return true; }

TEST(measuring_loop) {
    tally t = { 0 };
    bench_stats stats;
    bench_task task = { .prepare = count_prepare, .call = count_call, .self = &t, .calls = 3 };
    bench_rules rules = { .samples = 5, .exact = true };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_OK);
    CHECK(stats.samples == 5 && t.prepared == 6 && t.called == 18); /* one warm-up */
    t = (tally){ .fail_at = 7 };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_ERROR);
    CHECK(stats.samples == 1);
    rules.stop = stop_at_once;
    t = (tally){ 0 };
    CHECK(bench_measure(&bench_cpu, &rules, &task, &stats) == BENCH_STOPPED && stats.samples == 0);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(problem_defaults);
    RUN(problem_reads_every_part);
    RUN(problem_numbers);
    RUN(problem_lists_multiply);
    RUN(problem_text_reads_back);
    RUN(problem_errors_name_the_part);
    RUN(problem_lists_are_bounded);
    RUN(rng_lists_multiply);
    RUN(rng_keys);
    RUN(rng_errors_name_the_part);
    RUN(modules_in_one_run);
    RUN(statistics_of_samples);
    RUN(measuring_loop);
    return TEST_END();
}
