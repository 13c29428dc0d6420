/* SPDX-License-Identifier: Apache-2.0
 *
 * test_progress.c - one hook for progress and cancellation: every call that may take longer than a second asks it,
 * tells it how far it is, ends within 0.3 s once it says so, and leaves a context that goes on as if nothing had
 * happened.
 *
 * A job is made larger until the hook is called. Reactions are measured in CPU time of one thread: machines that are
 * busy with other work have no part in it.
 */
#include "test.h"
#include "core/progress.h"
#include <math.h>
#include <shoal/shoal.h>
#include <time.h>

enum { LARGEST = 256 }; /* times the first size of a job */
#define REACTION 0.3    /* seconds, of include/shoal/core.h */

typedef struct watcher {
    int calls, cancel_at; /* 0: never */
    double fraction, cancelled;
    char stage[64];
} watcher;

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int watch(void *user, const char *stage, double fraction) {
    watcher *w = user;
    CHECK_MSG(fraction >= w->fraction && fraction <= 1, "%s: %g after %g", stage, fraction,
              w->fraction);
    CHECK_MSG(stage[0] && (!w->calls || strcmp(stage, w->stage) == 0), "%s after %s", stage,
              w->stage);
    snprintf(w->stage, sizeof w->stage, "%s", stage);
    w->fraction = fraction;
    if (++w->calls != w->cancel_at) return 0;
    w->cancelled = cpu_seconds();
    return 1;
}

static shoal_context *open_context(int threads) {
    shoal_context *ctx;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = threads }, &ctx) == SHOAL_OK);
    return ctx;
}

/* ---- jobs: what takes long, `size` times. w is asked for the last call alone ----------------------- */

static shoal_status ask(shoal_context *ctx, watcher *w) {
    return shoal_set_progress(ctx, w ? watch : NULL, w);
}

static double *numbers(int64_t count) {
    double *x = calloc((size_t)count, sizeof *x);
    if (!x) exit(1);
    return x;
}

static const double one = 1, spot = 100, volatility = 0.2, hazard = 0.05;

static shoal_status simulate(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_heston model = shoal_heston_example();
    const shoal_price_opts o = { .method = "euler",
                                 .steps = 64,
                                 .strikes = 1,
                                 .strike = &one,
                                 .maturities = 1,
                                 .maturity = &one };
    const shoal_price_goal goal = { .paths = size << 19 };
    shoal_price *plan;
    shoal_price_value value;
    shoal_price_progress done;
    shoal_status s = shoal_price_heston(ctx, &model, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_price_simulate(plan, &goal, &value, &done);
    CHECK(done.samples == 0 ? isnan(value.price) : value.price > 0.05 && value.price < 0.2);
    shoal_price_free(plan);
    return s;
}

static shoal_status paths_in_one_call(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_expou model = shoal_expou_example();
    const shoal_price_opts o = { .method = "euler",
                                 .steps = 64,
                                 .strikes = 1,
                                 .strike = &one,
                                 .maturities = 1,
                                 .maturity = &one };
    shoal_price *plan;
    shoal_status s = shoal_price_expou(ctx, &model, &o, &plan);
    double *sums = numbers(shoal_price_sums(plan, size << 18));
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_price_run(plan, 0, size << 18, sums);
    free(sums);
    shoal_price_free(plan);
    return s;
}

static shoal_status formula(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_heston model = shoal_heston_example();
    const int64_t count = size << 10;
    double *strikes = numbers(count);
    for (int64_t i = 0; i < count; i++) strikes[i] = 0.5 + (double)i / (double)count;
    const shoal_price_opts o = {
        .method = "analytic", .strikes = count, .strike = strikes, .maturities = 1, .maturity = &one
    };
    shoal_price *plan;
    shoal_price_value *values = calloc((size_t)count, sizeof *values);
    shoal_status s = shoal_price_heston(ctx, &model, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_price_simulate(plan, &(shoal_price_goal){ 0 }, values, NULL);
    free(values), free(strikes);
    shoal_price_free(plan);
    return s;
}

static shoal_status quadrature(shoal_context *ctx, watcher *w, int64_t size) {
    shoal_bullet model = shoal_bullet_example();
    model.dates = 40 * size;
    shoal_price *plan;
    shoal_price_value value;
    shoal_status s =
        shoal_price_bullet(ctx, &model, &(shoal_price_opts){ .method = "quad" }, NULL, 1, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_price_simulate(plan, &(shoal_price_goal){ 0 }, &value, NULL);
    shoal_price_free(plan);
    return s;
}

static shoal_status grid(shoal_context *ctx, watcher *w, int64_t size) {
    shoal_bullet model = shoal_bullet_example();
    model.dates = 3 * size;
    shoal_pde *plan;
    shoal_pde_shape shape;
    shoal_status s = shoal_pde_create(ctx, &model, 1, &(shoal_pde_opts){ .nx = 4097 }, &plan);
    shoal_pde_describe(plan, &shape);
    double *today = numbers(shape.counts * shape.nx);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_pde_run(plan, today, NULL);
    free(today);
    shoal_pde_free(plan);
    return s;
}

static shoal_american put(void) {
    return (shoal_american){ .payoff = SHOAL_PUT,
                             .strike = 100,
                             .rate = 0.05,
                             .maturity = 1,
                             .s0 = &spot,
                             .sigma = &volatility };
}

static shoal_status rule(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_american option = put();
    const shoal_american_opts o = { .assets = 1, .dates = 50, .fit_paths = size << 16 };
    shoal_price *plan;
    ask(ctx, w);
    const shoal_status s = shoal_price_american(ctx, &option, 1, &o, &plan);
    CHECK((plan != NULL) == (s == SHOAL_OK));
    shoal_price_free(plan);
    return s;
}

static shoal_status upper_bound(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_american option = put();
    const shoal_american_opts o = { .assets = 1, .dates = 10, .fit_paths = 4096, .inner = 256 };
    shoal_price *plan;
    shoal_price_value value;
    shoal_status s = shoal_price_american(ctx, &option, 1, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK)
        s = shoal_price_simulate(plan, &(shoal_price_goal){ .paths = 512 * size }, &value, NULL);
    shoal_price_free(plan);
    return s;
}

/* Of a book of one put on two assets, at its dates: the plan, or a run of it, asks. */
static shoal_status cva(shoal_context *ctx, watcher *w, int64_t rule_paths, int64_t outer,
                        shoal_cva_estimator estimator) {
    const int64_t assets[] = { 0, 1 }, inner = 512;
    const double spots[] = { 100, 100 }, volatilities[] = { 0.2, 0.3 };
    const shoal_cva_market market = {
        .assets = 2, .rate = 0.05, .s0 = spots, .sigma = volatilities
    };
    const shoal_cva_contract contract = { .payoff = SHOAL_CVA_BASKET_PUT,
                                          .american = 1,
                                          .strike = 100,
                                          .maturity = 1,
                                          .quantity = 1,
                                          .assets = 2,
                                          .asset = assets };
    const shoal_cva_counterparty other = { .pieces = 1, .hazard = &hazard, .recovery = 0.4 };
    const shoal_cva_opts o = { .dates = 20,
                               .outer = outer ? outer : 256,
                               .inner_count = 1,
                               .inner = &inner,
                               .rule_paths = rule_paths,
                               .estimator = estimator };
    shoal_cva *plan;
    if (!outer) ask(ctx, w);
    shoal_status s = shoal_cva_create(ctx, &market, &contract, 1, &other, &o, &plan);
    CHECK((plan != NULL) == (s == SHOAL_OK));
    double *samples = numbers(o.outer * shoal_cva_width(plan) + 1);
    if (outer) ask(ctx, w);
    if (outer && s == SHOAL_OK) s = shoal_cva_run(plan, 0, outer, samples, NULL);
    free(samples);
    shoal_cva_free(plan);
    return s;
}

static shoal_status cva_rules(shoal_context *ctx, watcher *w, int64_t size) {
    return cva(ctx, w, size << 16, 0, SHOAL_CVA_BY_RULE);
}
static shoal_status cva_run(shoal_context *ctx, watcher *w, int64_t size) {
    return cva(ctx, w, 4096, 128 * size, SHOAL_CVA_BY_RULE);
}
static shoal_status cva_by_inner(shoal_context *ctx, watcher *w, int64_t size) {
    return cva(ctx, w, 4096, 32 * size, SHOAL_CVA_BY_INNER);
}

static shoal_status dataset(shoal_context *ctx, watcher *w, int64_t size) {
    shoal_dataset_opts o = shoal_dataset_defaults();
    o.samples = 8 * size, o.target = 1e-5;
    shoal_dataset *plan;
    shoal_status s = shoal_dataset_create(ctx, &o, &plan);
    double *x = numbers(o.samples * SHOAL_DATASET_COLUMNS);
    double *values = numbers(o.samples * SHOAL_DATASET_VALUES);
    if (s == SHOAL_OK) s = shoal_dataset_design(plan, 0, o.samples, x);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_dataset_run(plan, 0, o.samples, x, values);
    free(x), free(values);
    shoal_dataset_free(plan);
    return s;
}

/* A network of calls, trained in `epochs` passes; then, if `predicted` is above 0, so many of its prices. */
static shoal_status network(shoal_context *ctx, watcher *w, int epochs, int64_t predicted) {
    enum { ROWS = 2048, INPUTS = 2 };
    static const char *const names[] = { "strike", "maturity" };
    double *x = numbers(ROWS * INPUTS), *price = numbers(ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        x[2 * i] = 0.7 + 0.6 * (double)(i % 64) / 64, x[2 * i + 1] = 0.1 + (double)(i / 64) / 32;
        price[i] = shoal_black(1, x[2 * i], 0.3 * sqrt(x[2 * i + 1]), 0);
    }
    const shoal_surrogate_data data = { ROWS, INPUTS, names, x, price, NULL };
    const shoal_surrogate_opts o = { .epochs = epochs, .patience = epochs };
    shoal_surrogate *net;
    if (!predicted) ask(ctx, w);
    shoal_status s = shoal_surrogate_train(ctx, &data, &data, &o, NULL, NULL, &net, NULL);
    CHECK(s == SHOAL_E_CANCELLED ||
          (net != NULL) == (s == SHOAL_OK)); /* else the best pass so far */
    double *inputs = numbers(predicted * INPUTS + 1), *prices = numbers(predicted + 1);
    for (int64_t i = 0; i < predicted * INPUTS; i++) inputs[i] = 1;
    if (predicted) ask(ctx, w);
    if (predicted && s == SHOAL_OK)
        s = shoal_surrogate_predict(net, predicted, inputs, SHOAL_F64, prices, NULL, NULL);
    free(x), free(price), free(inputs), free(prices);
    shoal_surrogate_free(net);
    return s;
}

static shoal_status training(shoal_context *ctx, watcher *w, int64_t size) {
    return network(ctx, w, (int)(4 * size), 0);
}
static shoal_status prediction(shoal_context *ctx, watcher *w, int64_t size) {
    return network(ctx, w, 1, size << 14);
}

enum { FACTORS, INVERSE, REFINEMENT };

/* A factorization, or what is done with the factors. */
static shoal_status factorization(shoal_context *ctx, watcher *w, const char *method, int64_t n,
                                  int what) {
    double *a = numbers(3 * n * n + 1), *given = a + n * n, *x = given + n * n;
    shoal_symindef *plan;
    shoal_status s = shoal_symindef_generate(ctx, "random", 1, n, a);
    memcpy(given, a, (size_t)(n * n) * sizeof *a);
    for (int64_t i = 0; i < n * n; i++) x[i] = 1;
    if (s == SHOAL_OK)
        s = shoal_symindef_create(ctx, &(shoal_symindef_opts){ .n = n, .method = method }, &plan);
    if (what == FACTORS) ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_symindef_factor(plan, a);
    if (what != FACTORS) ask(ctx, w);
    if (s == SHOAL_OK && what == INVERSE) s = shoal_symindef_inverse(plan, a, x);
    if (s == SHOAL_OK && what == REFINEMENT)
        s = shoal_symindef_refine(plan, given, a, n, given, x, NULL, NULL);
    shoal_symindef_free(plan);
    free(a);
    return s;
}

static shoal_status complete(shoal_context *ctx, watcher *w, int64_t size) {
    return factorization(ctx, w, "complete", (int64_t)(400 * sqrt((double)size)), FACTORS);
}
static shoal_status rook(shoal_context *ctx, watcher *w, int64_t size) {
    return factorization(ctx, w, "rook", (int64_t)(400 * sqrt((double)size)), FACTORS);
}
static shoal_status inverse(shoal_context *ctx, watcher *w, int64_t size) {
    return factorization(ctx, w, "rook", (int64_t)(300 * sqrt((double)size)), INVERSE);
}
static shoal_status refinement(shoal_context *ctx, watcher *w, int64_t size) {
    return factorization(ctx, w, "rook", (int64_t)(50 * sqrt((double)size)), REFINEMENT);
}

static shoal_status tridiagonal(shoal_context *ctx, watcher *w, const char *method, int64_t n,
                                int64_t count) {
    const shoal_tridiag_opts o = { .n = n, .count = count, .nrhs = 1, .method = method };
    double *a = numbers(4 * n * count), *d = a + n * count, *b = d + n * count;
    float *rcond = calloc((size_t)count, sizeof *rcond);
    shoal_tridiag *plan;
    shoal_status s = shoal_tridiag_generate(ctx, "dominant", 1, 0, &o, a, d, b + n * count, b);
    if (s == SHOAL_OK) s = shoal_tridiag_create(ctx, &o, &plan);
    if (s == SHOAL_OK && !method)
        s = shoal_tridiag_outcome(plan, &(shoal_outcome){ .rcond = rcond });
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_tridiag_solve(plan, a, d, b + n * count, b, b);
    shoal_tridiag_free(plan);
    free(a), free(rcond);
    return s;
}

static shoal_status tridiagonal_packs(shoal_context *ctx, watcher *w, int64_t size) {
    return tridiagonal(ctx, w, NULL, 100, 2000 * size);
}
static shoal_status tridiagonal_whole(shoal_context *ctx, watcher *w, int64_t size) {
    return tridiagonal(ctx, w, "twocarry", 20000, 10 * size);
}

static shoal_status small(shoal_context *ctx, watcher *w, int64_t size) {
    const shoal_group groups[] = { { .n = 24, .count = 500 * size }, { .n = 16, .count = 500 } };
    const shoal_smallsym_opts o = { .groups = groups, .group_count = 2, .nrhs = 1 };
    const int64_t entries = 500 * size * 24 * 24 + 500 * 256, rows = 500 * size * 24 + 500 * 16;
    double *a = numbers(entries), *b = numbers(2 * rows);
    shoal_smallsym *plan;
    shoal_status s = shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &o, a, b);
    if (s == SHOAL_OK) s = shoal_smallsym_create(ctx, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_smallsym_solve(plan, a, b, b + rows);
    shoal_smallsym_free(plan);
    free(a), free(b);
    return s;
}

static shoal_status eigenpairs(shoal_context *ctx, watcher *w, int64_t size) {
    const int64_t n = 48, count = 50 * size;
    const shoal_smallsym_opts o = { .n = n, .count = count, .nrhs = 1, .method = "eigdc" };
    double *a = numbers(2 * n * n * count), *b = numbers(n * count);
    shoal_smallsym *plan;
    shoal_status s = shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &o, a, b);
    if (s == SHOAL_OK) s = shoal_smallsym_create(ctx, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_smallsym_eig(plan, a, b, a + n * n * count);
    shoal_smallsym_free(plan);
    free(a), free(b);
    return s;
}

static shoal_status recurrences(shoal_context *ctx, watcher *w, const char *method, int order,
                                int64_t n, int64_t count) {
    const shoal_recur_opts o = { .n = n, .count = count, .order = order, .method = method };
    double *s = numbers((int64_t)(order + 2) * n * count), *t = s + order * n * count;
    double *first = numbers(order * count);
    shoal_recur *plan;
    shoal_status status = shoal_recur_generate(ctx, "decay", 1, 0, &o, s, t, first);
    if (status == SHOAL_OK) status = shoal_recur_create(ctx, &o, &plan);
    ask(ctx, w);
    if (status == SHOAL_OK) status = shoal_recur_solve(plan, s, t, first, t + n * count);
    shoal_recur_free(plan);
    free(s), free(first);
    return status;
}

static shoal_status short_recurrences(shoal_context *ctx, watcher *w, int64_t size) {
    return recurrences(ctx, w, "lookback", 1, 50, 10000 * size);
}
static shoal_status long_recurrences(shoal_context *ctx, watcher *w, int64_t size) {
    return recurrences(ctx, w, "lookback", 3, 100000, 2 * size);
}
static shoal_status serial_recurrences(shoal_context *ctx, watcher *w, int64_t size) {
    return recurrences(ctx, w, "serial", 2, 1000, 200 * size);
}

static shoal_status sorted(shoal_context *ctx, watcher *w, int64_t n, int64_t count) {
    const shoal_sort_opts o = { .n = n, .count = count, .key = SHOAL_KEY_U32 };
    uint32_t *keys = calloc((size_t)(n * count), sizeof *keys), state = 1;
    for (int64_t i = 0; i < n * count; i++) keys[i] = state = state * 1664525 + 1013904223;
    shoal_sort *plan;
    shoal_status s = shoal_sort_create(ctx, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_sort_run(plan, keys, NULL, keys, NULL);
    shoal_sort_free(plan);
    free(keys);
    return s;
}

static shoal_status short_rows(shoal_context *ctx, watcher *w, int64_t size) {
    return sorted(ctx, w, 100, 10000 * size);
}
static shoal_status long_row(shoal_context *ctx, watcher *w, int64_t size) {
    return sorted(ctx, w, 1000000 * size, 1);
}

static shoal_status merged(shoal_context *ctx, watcher *w, int64_t size) {
    const int64_t n = 1000000 * size;
    const shoal_merge_opts o = { .na = n, .nb = n, .count = 1, .key = SHOAL_KEY_U32 };
    uint32_t *keys = calloc((size_t)(4 * n), sizeof *keys);
    for (int64_t i = 0; i < 2 * n; i++) keys[i] = (uint32_t)(i % n * 2 + i / n);
    shoal_merge *plan;
    shoal_status s = shoal_merge_create(ctx, &o, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_merge_run(plan, keys, keys + n, keys + 2 * n, NULL, NULL, NULL);
    shoal_merge_free(plan);
    free(keys);
    return s;
}

static shoal_status random_numbers(shoal_context *ctx, watcher *w, int64_t size) {
    double *z = numbers(size << 18);
    shoal_rng *plan;
    shoal_status s =
        shoal_rng_create(ctx, &(shoal_rng_opts){ .method = "gamma", .alpha = 2 }, &plan);
    ask(ctx, w);
    if (s == SHOAL_OK) s = shoal_rng_fill(plan, 0, size << 18, z);
    shoal_rng_free(plan);
    free(z);
    return s;
}

typedef shoal_status job(shoal_context *ctx, watcher *w, int64_t size);
static const struct {
    const char *name;
    job *run;
} jobs[] = { { "simulate", simulate },
             { "paths_in_one_call", paths_in_one_call },
             { "formula", formula },
             { "quadrature", quadrature },
             { "grid", grid },
             { "rule", rule },
             { "upper_bound", upper_bound },
             { "cva_rules", cva_rules },
             { "cva_run", cva_run },
             { "cva_by_inner", cva_by_inner },
             { "dataset", dataset },
             { "training", training },
             { "prediction", prediction },
             { "complete", complete },
             { "rook", rook },
             { "inverse", inverse },
             { "refinement", refinement },
             { "tridiagonal_packs", tridiagonal_packs },
             { "tridiagonal_whole", tridiagonal_whole },
             { "small", small },
             { "eigenpairs", eigenpairs },
             { "short_recurrences", short_recurrences },
             { "long_recurrences", long_recurrences },
             { "serial_recurrences", serial_recurrences },
             { "short_rows", short_rows },
             { "long_row", long_row },
             { "merged", merged },
             { "random_numbers", random_numbers } };

/* ---- tests ------------------------------------------------------------------------------------------ */

static void cancel_every_job(int threads) {
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        shoal_context *ctx = open_context(threads);
        watcher w = { .cancel_at = 1 };
        shoal_status s = SHOAL_OK;
        for (int64_t size = 1; size <= LARGEST && w.calls == 0; size *= 4) {
            ask(ctx, NULL);
            s = jobs[i].run(ctx, &w, size);
        }
        const double took = cpu_seconds() - w.cancelled;
        CHECK_MSG(w.calls == 1 && s == SHOAL_E_CANCELLED, "%s: %d calls, status %d", jobs[i].name,
                  w.calls, s);
        CHECK_MSG(strcmp(shoal_message(ctx), shoal_status_text(SHOAL_E_CANCELLED)) == 0, "%s: %s",
                  jobs[i].name, shoal_message(ctx));
        CHECK_MSG(threads > 1 || took < REACTION, "%s: %g s", jobs[i].name, took);
        printf("      %-20s %d threads: %.3f s of CPU time from \"stop\" in %s\n", jobs[i].name,
               threads, took, w.stage);
        ask(ctx, NULL);
        CHECK_MSG(jobs[i].run(ctx, NULL, 1) == SHOAL_OK, "%s afterwards: %s", jobs[i].name,
                  shoal_message(ctx));
        shoal_close(ctx);
    }
}

TEST(every_long_call_can_be_cancelled) { cancel_every_job(1); }

TEST(with_several_threads_too) { cancel_every_job(3); }

TEST(progress_ends_at_1_and_changes_nothing) {
    const shoal_expou model = shoal_expou_example();
    const shoal_price_opts o = { .method = "euler",
                                 .steps = 64,
                                 .strikes = 1,
                                 .strike = &one,
                                 .maturities = 1,
                                 .maturity = &one };
    shoal_context *ctx = open_context(2);
    for (int64_t paths = 1 << 20; paths < 1LL << 34; paths *= 2) {
        const shoal_price_goal goal = { .paths = paths };
        shoal_price_value with = { 0 }, without = { 0 };
        watcher w = { 0 };
        ask(ctx, &w);
        CHECK(shoal_expou_value(ctx, &model, &o, &goal, &with) == SHOAL_OK);
        ask(ctx, NULL);
        if (w.calls < 4) continue;
        CHECK(w.fraction == 1);
        CHECK(shoal_expou_value(ctx, &model, &o, &goal, &without) == SHOAL_OK);
        CHECK(memcmp(&with, &without, sizeof with) == 0);
        break;
    }
    shoal_close(ctx);
}

TEST(short_calls_do_not_ask) {
    shoal_context *ctx = open_context(1);
    watcher w = { 0 };
    ask(ctx, &w);
    CHECK(tridiagonal(ctx, &w, NULL, 8, 8) == SHOAL_OK && w.calls == 0);
    shoal_close(ctx);
}

/* Threads do not always share a loop equally: one that has done more than its share is at the end of the step. */
TEST(a_step_ends_where_the_next_begins) {
    shoal_context *ctx = open_context(1);
    watcher w = { 0 };
    ask(ctx, &w);
    const shoal_stage stage = shoal_stage_begin(ctx, "steps");
    CHECK(shoal_stage_step(ctx, &stage, 0, 1, 4) == SHOAL_OK);
    const struct timespec pause = { 0, 60000000 };
    nanosleep(&pause, NULL);
    for (int i = 0; i < 64 && w.calls == 0; i++) CHECK(!shoal_is_cancelled(ctx, 3, 2));
    CHECK_MSG(w.calls == 1 && w.fraction == 0.25, "%d calls, %g", w.calls, w.fraction);
    CHECK(shoal_stage_end(ctx, &stage, SHOAL_OK) == SHOAL_OK && w.fraction == 1);
    shoal_close(ctx);
}

/* A hook that is changed while it runs. */
static int meddle(void *user, const char *stage, double fraction) {
    (void)stage, (void)fraction;
    CHECK(shoal_set_progress(user, NULL, NULL) == SHOAL_E_ARG);
    return 1;
}

TEST(the_hook_stays_while_a_call_runs) {
    shoal_context *ctx = open_context(1);
    const shoal_american option = put();
    const shoal_american_opts o = { .assets = 1, .dates = 200, .fit_paths = 1 << 20 };
    shoal_price *plan;
    CHECK(shoal_set_progress(ctx, meddle, ctx) == SHOAL_OK);
    CHECK(shoal_price_american(ctx, &option, 1, &o, &plan) == SHOAL_E_CANCELLED && !plan);
    CHECK(shoal_set_progress(ctx, NULL, NULL) == SHOAL_OK);
    shoal_close(ctx);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(every_long_call_can_be_cancelled);
    RUN(with_several_threads_too);
    RUN(progress_ends_at_1_and_changes_nothing);
    RUN(short_calls_do_not_ask);
    RUN(a_step_ends_where_the_next_begins);
    RUN(the_hook_stays_while_a_call_runs);
    return TEST_END();
}
