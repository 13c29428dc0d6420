/* SPDX-License-Identifier: Apache-2.0
 *
 * every_module.h - small jobs over all modules, methods and variants: plans that are made, run and freed. They stop at
 * the first failure and hand back its status. What they are for is to let something fail in every place.
 */
#ifndef SHOAL_EVERY_MODULE_H
#define SHOAL_EVERY_MODULE_H

#include "targets.h"

enum { N = 12, COUNT = 3, ROOM = 4096 };

static double a[ROOM], b[ROOM], c[ROOM], d[ROOM];
static int32_t whole[ROOM];

typedef shoal_status job(shoal_context *ctx, const char *method, const char *variant);

/* NULL, or called before each step. */
static void (*before_a_step)(void);

/* Goes on only after success. */
#define THEN(call)                                                                                 \
    if (s == SHOAL_OK) {                                                                           \
        if (before_a_step) before_a_step();                                                        \
        s = (call);                                                                                \
    }

static shoal_status tridiag(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_tridiag_opts o = {
        .n = N, .count = COUNT, .nrhs = 1, .method = method, .variant = variant
    };
    shoal_tridiag *plan = NULL;
    shoal_tridiag_info info;
    shoal_status s = shoal_tridiag_generate(ctx, "dominant", 1, 0, &o, a, b, c, d);
    THEN(shoal_tridiag_create(ctx, &o, &plan));
    CHECK(s == SHOAL_OK || !plan);
    THEN(shoal_tridiag_solve(plan, a, b, c, d, d));
    THEN(shoal_tridiag_last(plan, &info));
    shoal_tridiag_free(plan);
    return s;
}

/* Systems of different lengths, on a ring, with conditions, with kept factors. */
static shoal_status tridiag_forms(shoal_context *ctx, const char *method, const char *variant) {
    const int64_t offsets[] = { 0, N, 2 * N, 3 * N };
    const shoal_tridiag_opts forms[] = {
        { .count = COUNT, .nrhs = 1, .offsets = offsets },
        { .n = N, .count = COUNT, .nrhs = 2, .periodic = 1 },
        { .n = N, .count = COUNT, .nrhs = 1, .method = "thomas" },
    };
    (void)method, (void)variant;
    shoal_status s = shoal_tridiag_generate(ctx, "dominant", 1, 0, &forms[2], a, b, c, d);
    THEN(shoal_tridiag_exact(ctx, "fig1", 1, 0, &forms[2], d + N * COUNT));
    for (int i = 0; i < 3 && s == SHOAL_OK; i++) {
        shoal_tridiag *plan = NULL;
        s = shoal_tridiag_create(ctx, &forms[i], &plan);
        if (i < 2) {
            float rcond[COUNT];
            const shoal_outcome where = { .rcond = rcond };
            THEN(shoal_tridiag_outcome(plan, i ? NULL : &where));
            THEN(shoal_tridiag_solve(plan, a, b, c, d, d));
        } else {
            void *factors = NULL;
            THEN(shoal_alloc(ctx, shoal_tridiag_factor_bytes(plan), &factors));
            THEN(shoal_tridiag_factor(plan, a, b, c, factors));
            THEN(shoal_tridiag_resolve(plan, factors, d, d));
            shoal_free(ctx, factors);
        }
        shoal_tridiag_free(plan);
    }
    return s;
}

static shoal_status smallsym(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_smallsym_opts o = {
        .n = N, .count = COUNT, .nrhs = 1, .method = method, .variant = variant
    };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info;
    shoal_status s = shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &o, a, b);
    THEN(shoal_smallsym_create(ctx, &o, &plan));
    CHECK(s == SHOAL_OK || !plan);
    THEN(shoal_smallsym_solve(plan, a, b, c));
    THEN(shoal_smallsym_last(plan, &info));
    shoal_smallsym_free(plan);
    return s;
}

/* Groups, samples, eigenpairs, kept factors. */
static shoal_status smallsym_forms(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_group groups[] = { { .n = N, .count = 2 }, { .n = 3, .count = 2 } };
    const shoal_smallsym_opts forms[] = {
        { .groups = groups, .group_count = 2, .nrhs = 1, .estimate = 1 },
        { .n = N, .count = COUNT, .nrhs = 1, .gram = 1, .refine = 1 },
        { .n = N, .count = COUNT, .nrhs = 1, .method = "eigdc" },
        { .n = N, .count = COUNT, .nrhs = 1, .method = "ldlt" },
    };
    (void)method, (void)variant;
    shoal_status s = SHOAL_OK;
    for (int i = 0; i < 4 && s == SHOAL_OK; i++) {
        shoal_smallsym *plan = NULL;
        s = shoal_smallsym_generate(ctx, "spd", 0.5, 1, 0, &forms[i], a, b);
        THEN(shoal_smallsym_create(ctx, &forms[i], &plan));
        if (i == 0) THEN(shoal_smallsym_solve(plan, a, b, c));
        if (i == 1) THEN(shoal_smallsym_gram(plan, 4, a, b, c));
        if (i == 1) THEN(shoal_smallsym_learn(plan));
        if (i == 2) THEN(shoal_smallsym_eig(plan, a, b, c));
        if (i == 3) THEN(shoal_smallsym_factor(plan, a, c));
        if (i == 3) THEN(shoal_smallsym_resolve(plan, c, b, b));
        shoal_smallsym_free(plan);
    }
    return s;
}

static shoal_status symindef(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_symindef_opts o = { .n = N, .growth = 1, .method = method, .variant = variant };
    shoal_symindef *plan = NULL;
    shoal_symindef_info info;
    shoal_symindef_change change;
    shoal_symindef_eig_info pairs;
    double rcond, growth;
    shoal_status s = shoal_symindef_generate(ctx, "random", 1, N, a);
    memcpy(b, a, sizeof a);
    THEN(shoal_symindef_create(ctx, &o, &plan));
    CHECK(s == SHOAL_OK || !plan);
    THEN(shoal_symindef_factor(plan, a));
    THEN(shoal_symindef_solve(plan, a, 1, c, d));
    THEN(shoal_symindef_refine(plan, b, a, 1, c, d, d + N, d + 2 * N));
    THEN(shoal_symindef_rcond(plan, a, &rcond));
    THEN(shoal_symindef_inverse(plan, a, b));
    THEN(shoal_symindef_gjgt(plan, a, 1, b, whole));
    THEN(shoal_symindef_eig(plan, a, d, b, &pairs));
    THEN(shoal_symindef_order(plan, whole, whole + N, &growth));
    THEN(shoal_symindef_last(plan, &info));
    THEN(shoal_symindef_modify(plan, a, 1e-3, &change));
    shoal_symindef_free(plan);
    return s;
}

/* Every shape. */
static shoal_status bands(shoal_context *ctx, const char *method, const char *variant) {
    shoal_status s = variant ? SHOAL_E_METHOD : SHOAL_OK;
    for (int shape = 0; shape < 3 && s == SHOAL_OK; shape++) {
        const shoal_band_opts o = { .n = 8,
                                    .count = COUNT,
                                    .nrhs = 1,
                                    .width = shape == 1 ? 1 : 2,
                                    .is_complex = shape > 0,
                                    .method = method };
        const size_t each = 8 * COUNT * 2;
        shoal_band *plan = NULL;
        shoal_band_info info;
        s = shoal_band_generate(ctx, "dominant", 1, 0, &o, a, a + each, a + 2 * each, b, b + each,
                                b + 2 * each);
        THEN(shoal_band_create(ctx, &o, &plan));
        THEN(shoal_band_outcome(plan, &(shoal_outcome){ .status = (int32_t *)whole }));
        THEN(shoal_band_solve(plan, a, a + each, a + 2 * each, b, b + each, b + 2 * each, c));
        THEN(shoal_band_last(plan, &info));
        shoal_band_free(plan);
    }
    return s;
}

static shoal_status recur(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_recur_opts o = {
        .n = N, .count = COUNT, .order = 1, .method = method, .variant = variant
    };
    shoal_recur *plan = NULL;
    shoal_recur_info info;
    shoal_status s = shoal_recur_generate(ctx, "decay", 1, 0, &o, a, b, c);
    THEN(shoal_recur_create(ctx, &o, &plan));
    THEN(shoal_recur_solve(plan, a, b, c, d));
    THEN(shoal_recur_last(plan, &info));
    shoal_recur_free(plan);
    return s;
}

static shoal_status rng(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_rng_opts o = {
        .method = method, .variant = variant, .alpha = 1.5, .lambda = 2, .df = 3, .dimensions = 3
    };
    shoal_rng *plan = NULL;
    const int whole_numbers = (shoal_method_flags("rng", method, NULL) & SHOAL_CAN_COUNT) != 0;
    shoal_status s = shoal_rng_create(ctx, &o, &plan);
    THEN(whole_numbers ? shoal_rng_fillu(plan, 0, 9, (uint32_t *)whole)
                       : shoal_rng_fill(plan, 0, 9, a));
    shoal_rng_free(plan);
    return s;
}

static shoal_status sort(shoal_context *ctx, const char *method, const char *variant) {
    const int64_t offsets[] = { 0, 5, 5, 900 };
    const unsigned flags = shoal_method_flags("sort", method ? method : "auto", NULL);
    const int sorts = (flags & SHOAL_CAN_SORT) != 0;
    shoal_sort_opts o = { .count = 3,
                          .offsets = offsets,
                          .key = SHOAL_KEY_F64,
                          .index = 1,
                          .value_bytes = 4,
                          .method = method,
                          .variant = variant };
    shoal_merge_opts m = { .count = 3,
                           .a_offsets = offsets,
                           .b_offsets = offsets,
                           .key = SHOAL_KEY_F64,
                           .method = method,
                           .variant = variant };
    shoal_sort *plan = NULL;
    shoal_merge *merge = NULL;
    shoal_sort_info info;
    shoal_status s = SHOAL_OK;
    if (!(flags & SHOAL_CAN_BATCH))
        m.count = 1, m.a_offsets = m.b_offsets = NULL, m.na = m.nb = 900;
    if (sorts) {
        THEN(shoal_sort_create(ctx, &o, &plan));
        THEN(shoal_sort_run(plan, a, NULL, b, whole));
        THEN(shoal_sort_last(plan, &info));
    }
    if (!sorts || !method) {
        THEN(shoal_merge_create(ctx, &m, &merge));
        THEN(shoal_merge_run(merge, b, b, c, NULL, NULL, NULL));
        THEN(shoal_merge_last(merge, &info));
    }
    shoal_sort_free(plan);
    shoal_merge_free(merge);
    return s;
}

/* Frees the plan. */
static shoal_status run_price(shoal_status s, shoal_price *plan) {
    static shoal_price_value value[ROOM];
    CHECK((s == SHOAL_OK) == (plan != NULL));
    memset(b, 0, sizeof b);
    THEN(shoal_price_run(plan, 0, 40, a));
    THEN(shoal_price_add(plan, a, 40, b));
    THEN(shoal_price_result(plan, b, 40, value));
    shoal_price_free(plan);
    return s;
}

static const double strike[] = { 0.9, 1.1 }, maturity[] = { 0.5, 1 };

static shoal_price_opts price_opts(const char *method, const char *variant) {
    return (shoal_price_opts){ .method = method,
                               .variant = variant,
                               .steps = 3,
                               .strikes = 2,
                               .strike = strike,
                               .maturities = 2,
                               .maturity = maturity };
}

static shoal_status heston(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_heston model = shoal_heston_example();
    const shoal_price_opts o = price_opts(method, variant);
    shoal_price *plan = NULL;
    const shoal_status s = shoal_price_heston(ctx, &model, &o, &plan);
    return run_price(s, plan);
}

/* Prices with gradients, which are then fitted. */
static shoal_status calibration(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_heston model = shoal_heston_example();
    const double strikes[] = { 0.8, 1, 1.2, 0.9, 1, 1.1 },
                 maturities[] = { 1, 1, 1, 0.5, 0.5, 0.5 };
    const shoal_heston_options options = { .strike = strikes, .maturity = maturities };
    const shoal_fit_opts opts = { .starts = 2, .iterations = 2 };
    shoal_heston gradient[6];
    shoal_heston_fit fit;
    double price[6];
    (void)method, (void)variant;
    const shoal_status s = shoal_heston_prices(ctx, &model, &options, 6, price, gradient);
    return s ? s : shoal_heston_calibrate(ctx, &model, &options, 6, price, NULL, &opts, &fit, NULL);
}

static shoal_status expou(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_expou model = shoal_expou_example();
    const shoal_price_opts o = price_opts(method, variant);
    shoal_price *plan = NULL;
    const shoal_status s = shoal_price_expou(ctx, &model, &o, &plan);
    return run_price(s, plan);
}

/* Few dates: a method has as many steps. */
static shoal_bullet short_bullet(void) {
    shoal_bullet model = shoal_bullet_example();
    model.dates = 3, model.p1 = 1, model.p2 = 2;
    return model;
}

static shoal_status bullet(shoal_context *ctx, const char *method, const char *variant) {
    const shoal_bullet model = short_bullet();
    const shoal_price_opts o = { .method = method, .variant = variant, .steps = 2, .nx = 64 };
    shoal_price *plan = NULL;
    const shoal_status s = shoal_price_bullet(ctx, &model, &o, NULL, 1, &plan);
    return run_price(s, plan);
}

static const double hundred[] = { 100, 100 }, fifth[] = { 0.2, 0.2 };

static shoal_status american(shoal_context *ctx, const char *method, const char *variant) {
    shoal_status s = SHOAL_OK;
    (void)method, (void)variant;
    for (int way = 0; way < 3 && s == SHOAL_OK;
         way++) { /* one asset, two of them, an upper bound */
        const shoal_american option = { .payoff = way == 1 ? SHOAL_BASKET_PUT : SHOAL_PUT,
                                        .strike = 100,
                                        .rate = 0.05,
                                        .maturity = 1,
                                        .s0 = hundred,
                                        .sigma = fifth };
        const shoal_american_opts o = { .assets = way == 1 ? 2 : 1,
                                        .dates = 3,
                                        .degree = 2,
                                        .fit_paths = 100,
                                        .inner = way == 2 ? 8 : 0 };
        shoal_price *plan = NULL;
        s = shoal_price_american(ctx, &option, 1, &o, &plan);
        s = run_price(s, plan);
    }
    return s;
}

static shoal_status vanillas(shoal_context *ctx, const char *method, const char *variant) {
    const double strikes[] = { 90, 110 }, five[] = { 0.05, 0.05 }, year[] = { 1, 1 };
    const double when = 0.5, amount = 2;
    const shoal_vanilla options = { hundred, strikes, five, fifth, year, NULL, NULL };
    double price[2], vega[2];
    const shoal_vanilla_values values = { .price = price, .vega = vega };
    const shoal_vanilla_pde_opts o = { .nodes = 41, .steps = 12, .cash = { 1, &when, &amount } };
    (void)method, (void)variant;
    const shoal_status s = shoal_vanilla_pde(ctx, &options, 2, &o, &values, NULL, NULL);
    return s == SHOAL_OK ? shoal_vanilla_value(ctx, &options, 2, NULL, &values, NULL) : s;
}

static shoal_status books(shoal_context *ctx, const char *method, const char *variant) {
    const double hazard = 0.05;
    const int64_t first = 0, inner = 64;
    const double when[] = { 0.5, 2 }, rates[] = { 0.05, 0.06 };
    const shoal_cva_curve curve = { 2, when, rates };
    const shoal_cva_market market = {
        .assets = 1, .s0 = hundred, .sigma = fifth, .rates = curve, .dividends = &curve
    };
    const shoal_cva_contract contract[] = { { .payoff = SHOAL_CVA_PUT,
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
    shoal_cva_opts by_trade = o, sums_alone = o;
    shoal_cva *plan = NULL;
    shoal_cva_value value;
    shoal_cva_date profile[3];
    shoal_cva_adjustments adjustments;
    shoal_cva_trade trades[2];
    shoal_cva_sensitivity list[9];
    int64_t totals[2 * 2 * (2 * 3 + 2)] = { 0 }, sums[512] = { 0 };
    (void)method, (void)variant;
    shoal_status s = shoal_cva_create(ctx, &market, contract, 2, &counterparty, &o, &plan);
    CHECK((s == SHOAL_OK) == (plan != NULL));
    THEN(shoal_cva_run(plan, 0, 4, a, NULL));
    THEN(shoal_cva_result(plan, a, 4, &value, profile));
    shoal_cva_free(plan);
    plan = NULL, by_trade.by_trade = 1;
    THEN(shoal_cva_create(ctx, &market, contract, 2, &counterparty, &by_trade, &plan));
    THEN(shoal_cva_run_trades(plan, 0, 4, a, NULL, totals, b));
    THEN(shoal_cva_adjust(plan, a, 4, SHOAL_CVA_SET, 0, &adjustments, NULL));
    THEN(shoal_cva_trades(plan, totals, 4, trades, NULL));
    shoal_cva_free(plan);
    plan = NULL, sums_alone.quantile_error = 0.5;
    THEN(shoal_cva_create(ctx, &market, contract, 2, &counterparty, &sums_alone, &plan));
    CHECK(shoal_cva_sums(plan) <= 512);
    THEN(shoal_cva_run(plan, 0, 4, a, NULL));
    THEN(shoal_cva_add_sums(plan, a, 4, sums));
    THEN(shoal_cva_result_of_sums(plan, sums, 4, &value, profile));
    THEN(shoal_cva_adjust_of_sums(plan, sums, 4, SHOAL_CVA_BOOK, 0, &adjustments, NULL));
    shoal_cva_free(plan);
    shoal_cva_opts greeks = o;
    plan = NULL, greeks.nested = 0, greeks.gammas = 1;
    THEN(shoal_cva_create(ctx, &market, contract + 1, 1, &counterparty, &greeks, &plan));
    THEN(shoal_cva_run(plan, 0, 4, a, NULL));
    CHECK(s != SHOAL_OK || shoal_cva_parameters(plan) == 9);
    THEN(shoal_cva_sensitivities(plan, a, 4, list));
    shoal_cva_free(plan);
    return s;
}

static shoal_status grids_and_data_sets(shoal_context *ctx, const char *method,
                                        const char *variant) {
    const shoal_bullet model = short_bullet();
    shoal_dataset_opts o = { .samples = 4, .most_paths = 1024 };
    shoal_pde *pde = NULL;
    shoal_dataset *set = NULL;
    (void)method, (void)variant;
    shoal_status s = shoal_pde_create(ctx, &model, 1, &(shoal_pde_opts){ .nx = 64 }, &pde);
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

/* Runs all units of a job on one device, and frees them. */
static shoal_status run_units(shoal_context *ctx, shoal_status s, shoal_units *units) {
    shoal_units_info info;
    shoal_unit unit;
    size_t size = sizeof a;
    CHECK((s == SHOAL_OK) == (units != NULL));
    THEN(shoal_units_describe(units, &info));
    CHECK(s != SHOAL_OK || info.bytes <= sizeof a);
    THEN(shoal_units_run(units, 0, 0, a, &size));
    THEN(shoal_units_read(ctx, a, size, &unit));
    THEN(shoal_units_work(&units, 1, NULL));
    CHECK(s != SHOAL_OK || shoal_units_missing(units, 0) == info.units);
    shoal_units_free(units);
    return s;
}

/* Jobs of every kind, in units. */
static shoal_status jobs_in_units(shoal_context *ctx, const char *method, const char *variant) {
    const double hazard = 0.05;
    const int64_t first = 0;
    const shoal_units_opts two = { .units = 2 };
    const shoal_heston model = shoal_heston_example();
    const shoal_price_opts prices = price_opts(NULL, NULL);
    const shoal_cva_market market = { .assets = 1, .s0 = hundred, .sigma = fifth };
    const shoal_cva_counterparty party = { .pieces = 1, .hazard = &hazard };
    const shoal_cva_contract put = { .payoff = SHOAL_CVA_PUT,
                                     .strike = 100,
                                     .maturity = 1,
                                     .quantity = 1,
                                     .assets = 1,
                                     .asset = &first };
    shoal_dataset_opts ranges = { .samples = 2, .most_paths = 1024 };
    shoal_price *price = NULL;
    shoal_dataset *set = NULL;
    shoal_units *units = NULL;
    (void)method, (void)variant;
    shoal_status s = shoal_price_heston(ctx, &model, &prices, &price);
    THEN(shoal_units_price(price, 40, NULL, &units));
    THEN(run_units(ctx, s, units));
    shoal_price_free(price);
    for (int sums = 0; sums < 2 && s == SHOAL_OK; sums++) {
        const shoal_cva_opts o = { .dates = 3, .outer = 8, .quantile_error = sums ? 0.5 : 0 };
        shoal_cva *plan = NULL;
        s = shoal_cva_create(ctx, &market, &put, 1, &party, &o, &plan);
        units = NULL;
        THEN(shoal_units_cva(plan, 8, &two, &units));
        THEN(run_units(ctx, s, units));
        shoal_cva_free(plan);
    }
    shoal_dataset_ranges(&ranges);
    THEN(shoal_dataset_create(ctx, &ranges, &set));
    units = NULL;
    THEN(shoal_units_dataset(set, 2, &two, &units));
    THEN(run_units(ctx, s, units));
    shoal_dataset_free(set);
    return s;
}

static shoal_status networks(shoal_context *ctx, const char *method, const char *variant) {
    enum { ROWS = 40 };
    static const char *const names[] = { "strike", "maturity" };
    shoal_status s = SHOAL_OK;
    (void)method, (void)variant;
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
        THEN(shoal_surrogate_outside(net, 3, a, (uint32_t *)d));
        THEN(shoal_surrogate_save(net, d, &size));
        THEN(shoal_surrogate_load(ctx, d, size, &copy));
        shoal_surrogate_free(copy);
        shoal_surrogate_free(net);
    }
    return s;
}

/* visit(ctx, name, job, method, variant) for every job that this backend has. */
typedef void visitor(shoal_context *ctx, const char *name, job *run, const char *method,
                     const char *variant);

static inline void each_job(shoal_context *ctx, visitor *visit) {
    static const struct {
        const char *name; /* a module, whose methods are tried one by one; in brackets: one job */
        job *run;
    } jobs[] = { { "tridiag", tridiag },
                 { "band", bands },
                 { "smallsym", smallsym },
                 { "symindef", symindef },
                 { "recur", recur },
                 { "rng", rng },
                 { "sort", sort },
                 { "heston", heston },
                 { "expou", expou },
                 { "bullet", bullet },
                 { "(tridiag)", tridiag_forms },
                 { "(smallsym)", smallsym_forms },
                 { "(american)", american },
                 { "(american on one asset)", vanillas },
                 { "(calibration)", calibration },
                 { "(cva)", books },
                 { "(pde, dataset)", grids_and_data_sets },
                 { "(units)", jobs_in_units },
                 { "(surrogate)", networks } };
    for (size_t j = 0; j < sizeof jobs / sizeof *jobs; j++)
        for (int i = 0, alone = *jobs[j].name == '('; i == 0 || !alone; i++) {
            const char *method = alone ? NULL : shoal_methods(jobs[j].name, i);
            if (!alone && !method) break;
            for (int v = 0;; v++) {
                const char *variant = method ? shoal_variants(jobs[j].name, method, v) : NULL;
                char name[128];
                if (v > 0 && !variant) break;
                snprintf(name, sizeof name, "%s %s %s", jobs[j].name, method ? method : "",
                         variant ? variant : "");
                const shoal_status s = jobs[j].run(ctx, method, variant);
                CHECK_MSG(s == SHOAL_OK || s == SHOAL_E_METHOD, "%s: %s", name, shoal_message(ctx));
                if (s == SHOAL_OK) visit(ctx, name, jobs[j].run, method, variant);
            }
        }
}

#endif
