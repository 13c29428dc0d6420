/* SPDX-License-Identifier: Apache-2.0
 *
 * test_memory.c - memory that runs out, on the CPU: each allocation of the library fails in turn, in plans and runs of
 * every module. Then the status is SHOAL_E_NOMEM, the message says so, and what was allocated before is freed. Without
 * a failure nothing is left, either. The linker passes the library's calls of malloc and its kin to this file (--wrap).
 */
#include "targets.h"

static long calls, failing; /* allocations so far; the one that fails, 0: none */
static long blocks;         /* allocated and not freed */

extern void *__real_malloc(size_t), *__real_calloc(size_t, size_t);
extern void *__real_realloc(void *, size_t), *__real_aligned_alloc(size_t, size_t);
extern void __real_free(void *);
extern void *__wrap_malloc(size_t), *__wrap_calloc(size_t, size_t);
extern void *__wrap_realloc(void *, size_t), *__wrap_aligned_alloc(size_t, size_t);
extern void __wrap_free(void *);

static int fails(void) { return ++calls == failing; }
static void *counted(void *memory) {
    blocks += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : counted(__real_malloc(size)); }
void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : counted(__real_calloc(count, size));
}
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}
void *__wrap_realloc(void *old, size_t size) {
    if (fails()) return NULL;
    blocks -= old != NULL;
    return counted(__real_realloc(old, size));
}
void __wrap_free(void *memory) {
    blocks -= memory != NULL;
    __real_free(memory);
}

enum { N = 12, COUNT = 3, ROOM = 4096 };

static double a[ROOM], b[ROOM], c[ROOM], d[ROOM];
static int32_t whole[ROOM];

typedef shoal_status job(shoal_context *ctx);

/* Goes on only after success. */
#define THEN(call)                                                                                 \
    if (s == SHOAL_OK) s = (call)

static shoal_status tridiag(shoal_context *ctx) {
    const int64_t offsets[] = { 0, N, 2 * N, 3 * N };
    const shoal_tridiag_opts o = { .n = N, .count = COUNT, .nrhs = 2 };
    const shoal_tridiag_opts ragged = { .count = COUNT, .nrhs = 1, .offsets = offsets };
    shoal_tridiag *plan = NULL, *other = NULL;
    shoal_tridiag_info info;
    shoal_status s = shoal_tridiag_generate(ctx, "dominant", 1, 0, &o, a, b, c, d);
    THEN(shoal_tridiag_exact(ctx, "fig1", 1, 0, &o, d + 2 * N * COUNT));
    THEN(shoal_tridiag_create(ctx, &o, &plan));
    CHECK((s == SHOAL_OK) == (plan != NULL));
    float rcond[COUNT];
    THEN(shoal_tridiag_outcome(plan, &(shoal_outcome){ .rcond = rcond }));
    THEN(shoal_tridiag_solve(plan, a, b, c, d, d));
    THEN(shoal_tridiag_last(plan, &info));
    THEN(shoal_tridiag_create(ctx, &ragged, &other));
    THEN(shoal_tridiag_solve(other, a, b, c, d, d));
    shoal_tridiag_free(other);
    shoal_tridiag_free(plan);
    return s;
}

static shoal_status smallsym(shoal_context *ctx) {
    const shoal_group groups[] = { { .n = N, .count = 2 }, { .n = 3, .count = 2 } };
    const shoal_smallsym_opts o = { .n = N, .count = COUNT, .nrhs = 1, .gram = 1, .refine = 1 };
    const shoal_smallsym_opts grouped = {
        .groups = groups, .group_count = 2, .nrhs = 1, .estimate = 1
    };
    shoal_smallsym *plan = NULL, *other = NULL;
    shoal_smallsym_info info;
    shoal_status s = shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &o, a, b);
    THEN(shoal_smallsym_create(ctx, &o, &plan));
    CHECK((s == SHOAL_OK) == (plan != NULL));
    THEN(shoal_smallsym_solve(plan, a, b, c));
    THEN(shoal_smallsym_gram(plan, 4, a, b, c));
    THEN(shoal_smallsym_learn(plan));
    THEN(shoal_smallsym_last(plan, &info));
    THEN(shoal_smallsym_create(ctx, &grouped, &other));
    THEN(shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &grouped, a, b));
    THEN(shoal_smallsym_solve(other, a, b, c));
    shoal_smallsym_free(other);
    shoal_smallsym_free(plan);
    return s;
}

static shoal_status pairs(shoal_context *ctx) {
    const shoal_smallsym_opts o = { .n = N, .count = COUNT, .nrhs = 1, .method = "eigdc" };
    shoal_smallsym *plan = NULL;
    shoal_status s = shoal_smallsym_create(ctx, &o, &plan);
    THEN(shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &o, a, b));
    THEN(shoal_smallsym_eig(plan, a, b, c));
    shoal_smallsym_free(plan);
    return s;
}

static shoal_status symindef(shoal_context *ctx) {
    const shoal_symindef_opts o = { .n = N, .growth = 1 };
    shoal_symindef *plan = NULL;
    shoal_symindef_info info;
    shoal_symindef_change change;
    double rcond, growth;
    shoal_status s = shoal_symindef_generate(ctx, "random", 1, N, a);
    memcpy(b, a, sizeof a);
    THEN(shoal_symindef_create(ctx, &o, &plan));
    CHECK((s == SHOAL_OK) == (plan != NULL) || !plan);
    THEN(shoal_symindef_factor(plan, a));
    THEN(shoal_symindef_solve(plan, a, 1, c, d));
    THEN(shoal_symindef_refine(plan, b, a, 1, c, d, d + N, d + 2 * N));
    THEN(shoal_symindef_rcond(plan, a, &rcond));
    THEN(shoal_symindef_inverse(plan, a, b));
    THEN(shoal_symindef_gjgt(plan, a, 1, b, whole));
    THEN(shoal_symindef_order(plan, whole, whole + N, &growth));
    THEN(shoal_symindef_last(plan, &info));
    THEN(shoal_symindef_modify(plan, a, 1e-3, &change));
    shoal_symindef_free(plan);
    return s;
}

static shoal_status recur_and_rng(shoal_context *ctx) {
    const shoal_recur_opts o = { .n = N, .count = COUNT, .order = 2 };
    shoal_recur *plan = NULL;
    shoal_rng *numbers = NULL;
    shoal_status s = shoal_recur_generate(ctx, "decay", 1, 0, &o, a, b, c);
    THEN(shoal_recur_create(ctx, &o, &plan));
    THEN(shoal_recur_solve(plan, a, b, c, d));
    shoal_recur_free(plan);
    THEN(shoal_rng_create(ctx, &(shoal_rng_opts){ .method = "sobol", .dimensions = 3 }, &numbers));
    THEN(shoal_rng_fill(numbers, 0, 8, a));
    shoal_rng_free(numbers);
    return s;
}

static shoal_status sort(shoal_context *ctx) {
    const int64_t offsets[] = { 0, 5, 5, 900 };
    const shoal_sort_opts o = {
        .count = 3, .offsets = offsets, .key = SHOAL_KEY_F64, .index = 1, .value_bytes = 4
    };
    const shoal_merge_opts m = {
        .count = 3, .a_offsets = offsets, .b_offsets = offsets, .key = SHOAL_KEY_F64
    };
    shoal_sort *plan = NULL;
    shoal_merge *merge = NULL;
    shoal_sort_info info;
    shoal_status s = shoal_sort_create(ctx, &o, &plan);
    THEN(shoal_sort_run(plan, a, NULL, b, whole));
    THEN(shoal_sort_last(plan, &info));
    THEN(shoal_merge_create(ctx, &m, &merge));
    THEN(shoal_merge_run(merge, b, b, c, NULL, NULL, NULL));
    shoal_sort_free(plan);
    shoal_merge_free(merge);
    return s;
}

static shoal_status run_price(shoal_status s, shoal_price *plan) {
    shoal_price_value value[4];
    CHECK((s == SHOAL_OK) == (plan != NULL));
    memset(b, 0, sizeof b);
    THEN(shoal_price_run(plan, 0, 40, a));
    THEN(shoal_price_add(plan, a, 40, b));
    THEN(shoal_price_result(plan, b, 40, value));
    shoal_price_free(plan);
    return s;
}

static shoal_status prices(shoal_context *ctx) {
    const double strike[] = { 0.9, 1.1 }, maturity[] = { 0.5, 1 };
    static const char *const methods[] = { "conditional", "analytic", "exact" };
    const shoal_heston heston = shoal_heston_example();
    const shoal_expou expou = shoal_expou_example();
    const shoal_bullet bullet = shoal_bullet_example();
    shoal_price_opts o = {
        .steps = 3, .strikes = 2, .strike = strike, .maturities = 2, .maturity = maturity
    };
    shoal_price *plan = NULL;
    shoal_status s = SHOAL_OK;
    for (int i = 0; i < 3 && s == SHOAL_OK; i++) {
        o.method = methods[i];
        s = shoal_price_heston(ctx, &heston, &o, &plan);
        s = run_price(s, plan);
    }
    o.method = NULL;
    if (s == SHOAL_OK) s = shoal_price_expou(ctx, &expou, &o, &plan), s = run_price(s, plan);
    static const char *const ways[] = { "mc", "pde", "quad" };
    for (int i = 0; i < 3 && s == SHOAL_OK; i++) {
        const shoal_price_opts way = { .method = ways[i], .steps = 2, .nx = 64 };
        s = shoal_price_bullet(ctx, &bullet, &way, NULL, 1, &plan);
        s = run_price(s, plan);
    }
    return s;
}

static const double hundred[] = { 100, 100 }, fifth[] = { 0.2, 0.2 };

static shoal_status american(shoal_context *ctx) {
    const shoal_american option = { .payoff = SHOAL_PUT,
                                    .strike = 100,
                                    .rate = 0.05,
                                    .maturity = 1,
                                    .s0 = hundred,
                                    .sigma = fifth };
    const shoal_american_opts o = { .assets = 1, .dates = 3, .degree = 2, .fit_paths = 300 };
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_american(ctx, &option, 1, &o, &plan);
    return run_price(s, plan);
}

static shoal_status books(shoal_context *ctx) {
    const double hazard = 0.05;
    const int64_t first = 0, inner = 64;
    const shoal_cva_market market = { .assets = 1, .rate = 0.05, .s0 = hundred, .sigma = fifth };
    shoal_cva_contract contract[] = { { .payoff = SHOAL_CVA_PUT,
                                        .american = 1,
                                        .strike = 100,
                                        .maturity = 1,
                                        .quantity = 1,
                                        .assets = 1,
                                        .asset = &first },
                                      { .payoff = SHOAL_CVA_PUT,
                                        .strike = 100,
                                        .maturity = 1,
                                        .quantity = 1,
                                        .assets = 1,
                                        .asset = &first } };
    const shoal_cva_counterparty counterparty = { .pieces = 1, .hazard = &hazard, .recovery = 0.4 };
    const shoal_cva_opts o = {
        .dates = 3, .outer = 4, .rule_paths = 512, .inner_count = 1, .inner = &inner, .nested = 1
    };
    shoal_cva *plan = NULL;
    shoal_cva_value value;
    shoal_cva_date profile[3];
    shoal_status s = shoal_cva_create(ctx, &market, contract, 2, &counterparty, &o, &plan);
    CHECK((s == SHOAL_OK) == (plan != NULL));
    THEN(shoal_cva_run(plan, 0, 4, a, NULL));
    THEN(shoal_cva_result(plan, a, 4, &value, profile));
    shoal_cva_free(plan);
    return s;
}

static shoal_status grids_and_data_sets(shoal_context *ctx) {
    const shoal_bullet bullet = shoal_bullet_example();
    shoal_dataset_opts o = { .samples = 4, .most_paths = 1024 };
    shoal_pde *pde = NULL;
    shoal_dataset *set = NULL;
    shoal_status s = shoal_pde_create(ctx, &bullet, 1, &(shoal_pde_opts){ .nx = 64 }, &pde);
    CHECK((s == SHOAL_OK) == (pde != NULL));
    THEN(shoal_pde_run(pde, a, NULL));
    shoal_pde_free(pde);
    shoal_dataset_ranges(&o);
    THEN(shoal_dataset_create(ctx, &o, &set));
    THEN(shoal_dataset_design(set, 0, 2, a));
    THEN(shoal_dataset_run(set, 0, 1, a, b));
    shoal_dataset_free(set);
    return s;
}

static shoal_status networks(shoal_context *ctx) {
    enum { ROWS = 40 };
    static const char *const names[] = { "strike", "maturity" };
    shoal_status s = SHOAL_OK;
    for (int i = 0; i < ROWS; i++) {
        a[2 * i] = 0.8 + 0.01 * i, a[2 * i + 1] = 0.5 + 0.03 * (i % 10);
        b[i] = shoal_black(1, a[2 * i], 0.2 * a[2 * i + 1], 0), c[i] = 1e-4;
    }
    const shoal_surrogate_data data = { ROWS, 2, names, a, b, c };
    for (int type = 0; type < 2 && s == SHOAL_OK; type++) {
        const shoal_surrogate_opts o = {
            .layers = 2, .width = 8, .epochs = 1, .batch = 16, .type = (shoal_type)type
        };
        shoal_surrogate *net = NULL, *copy = NULL;
        shoal_surrogate_result result;
        size_t size = sizeof d;
        s = shoal_surrogate_train(ctx, &data, &data, &o, NULL, NULL, &net, &result);
        CHECK((s == SHOAL_OK) == (net != NULL));
        THEN(shoal_surrogate_predict(net, 3, a, (shoal_type)type, c, NULL, NULL));
        THEN(shoal_surrogate_save(net, d, &size));
        THEN(shoal_surrogate_load(ctx, d, size, &copy));
        shoal_surrogate_free(copy);
        shoal_surrogate_free(net);
    }
    return s;
}

static const struct {
    const char *name;
    job *run;
} jobs[] = { { "tridiag", tridiag },
             { "smallsym", smallsym },
             { "pairs", pairs },
             { "symindef", symindef },
             { "recur_and_rng", recur_and_rng },
             { "sort", sort },
             { "prices", prices },
             { "american", american },
             { "books", books },
             { "grids_and_data_sets", grids_and_data_sets },
             { "networks", networks } };

TEST(no_context) {
    shoal_context *ctx = (shoal_context *)a;
    calls = 0, failing = 1;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &ctx) == SHOAL_E_NOMEM && ctx == NULL);
    failing = 0;
    CHECK(calls == 1);
}

TEST(every_allocation_may_fail) {
    shoal_context *ctx = targets[0].ctx;
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++) {
        const char *name = jobs[j].name;
        shoal_status s = jobs[j].run(ctx);
        CHECK_MSG(s == SHOAL_OK, "%s: %s", name, shoal_message(ctx));
        long k = 0, failed = 0;
        do {
            const long before = blocks;
            calls = 0, failing = ++k;
            s = jobs[j].run(ctx);
            failing = 0;
            CHECK_MSG(blocks == before, "%s, allocation %ld: %ld blocks are lost", name, k,
                      blocks - before);
            if (s == SHOAL_OK) continue; /* past the last */
            failed++;
            CHECK_MSG(s == SHOAL_E_NOMEM, "%s, allocation %ld: %d", name, k, (int)s);
            CHECK_MSG(strstr(shoal_message(ctx), "memory") || strstr(shoal_message(ctx), "bytes"),
                      "%s, allocation %ld: %s", name, k, shoal_message(ctx));
        } while (calls >= k);
        CHECK_MSG(failed == k - 1 && failed > 0, "%s: %ld of %ld failed", name, failed, k - 1);
    }
}

int main(int argc, char **argv) {
    target *t = &targets[0];
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &t->ctx) != SHOAL_OK)
        return 77;
    target_count = 1;
    TEST_BEGIN(argc, argv);
    RUN(no_context);
    RUN(every_allocation_may_fail);
    close_targets();
    return TEST_END();
}
