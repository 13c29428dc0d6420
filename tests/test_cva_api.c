/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_api.c - what the functions of cva.h refuse, and what they say then.
 */
#include "cva_runs.h"

static int something;

/* The case is refused, and the message holds the words. */
static void refused(shoal_context *ctx, const cva_case *c, shoal_status expected,
                    const char *words) {
    shoal_cva *plan = (shoal_cva *)&something;
    const shoal_status s =
        shoal_cva_create(ctx, &c->market, c->contract, c->count, &c->counterparty, &c->opts, &plan);
    CHECK_MSG(s == expected && plan == NULL, "returned %d for '%s'", s, words);
    CHECK_MSG(strstr(shoal_message(ctx), words), "'%s' lacks '%s'", shoal_message(ctx), words);
}

#define REFUSED(change, words)                                                                     \
    do {                                                                                           \
        cva_case c = one_case(SHOAL_CVA_CALL, 4, 8);                                               \
        change;                                                                                    \
        refused(ctx, &c, SHOAL_E_ARG, words);                                                      \
    } while (0)

TEST(markets) {
    static const double zero = 0, negative = -0.1, endless = INFINITY, one = 1;
    static const double half[] = { 1, 0.5, 0.4, 1 }, far[] = { 1, 2, 2, 1 };
    static const double odd[] = { 1, 0.9, -0.9, 0.9, 1, 0.9, -0.9, 0.9, 1 };
    static const double three[] = { 1, 1, 1 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        REFUSED(c.market.assets = 0, "assets is 0");
        REFUSED(c.market.assets = 65, "assets is 65");
        REFUSED(c.market.rate = NAN, "rate is nan");
        REFUSED(c.market.s0 = NULL, "s0 is NULL");
        REFUSED(c.market.sigma = NULL, "sigma is NULL");
        REFUSED(c.market.s0 = &zero, "s0[0] is 0");
        REFUSED(c.market.sigma = &negative, "sigma[0] is -0.1");
        REFUSED(c.market.dividend = &endless, "dividend[0] is inf");
        REFUSED(c.market.correlation = &zero, "correlation[0][0] is 0");
        REFUSED((c.market.assets = 2, c.market.s0 = three, c.market.sigma = three,
                 c.market.correlation = half),
                "correlation[1][0] is 0.4");
        REFUSED((c.market.assets = 2, c.market.s0 = three, c.market.sigma = three,
                 c.market.correlation = far),
                "correlation[1][0] is 2");
        REFUSED((c.market.assets = 3, c.market.s0 = three, c.market.sigma = three,
                 c.market.correlation = odd),
                "not positive semidefinite");
        REFUSED((c.market.sigma = &one, c.contract[0].maturity = 100), "too large for 100 years");
        REFUSED((c.market.sigma = &one, c.contract[0].maturity = 100, c.opts.horizon = 1),
                "too large for 100 years");
        REFUSED(c.market.dividend = &hundred, "dividend[0] 100");
    }
}

TEST(contracts) {
    static const int64_t two[] = { 0, 0 }, other[] = { 1 };
    static const double endless = INFINITY, half = 0.5, late[] = { 0.5, 1.5 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        REFUSED(c.count = -1, "count is -1");
        REFUSED(c.contract[0].payoff = (shoal_cva_payoff)99, "contracts[0]: payoff is 99");
        REFUSED((c.count = 2, c.contract[1] = c.contract[0], c.contract[1].strike = -1),
                "contracts[1]: strike is -1");
        REFUSED(c.contract[0].maturity = NAN, "contracts[0]: maturity is nan");
        REFUSED(c.contract[0].quantity = INFINITY, "contracts[0]: quantity is inf");
        REFUSED(c.contract[0].assets = 2, "contracts[0]: assets is 2");
        REFUSED(c.contract[0].assets = 0, "contracts[0]: assets is 0");
        REFUSED(c.contract[0].asset = NULL, "contracts[0]: asset is NULL");
        REFUSED(c.contract[0].asset = other, "contracts[0]: asset[0] is 1");
        REFUSED(c.contract[0].set = -1, "contracts[0]: set is -1");
        REFUSED(c.contract[0].exercises = 1, "contracts[0]: exercises is 1");
        REFUSED((c.contract[0].american = 1, c.contract[0].exercises = 1),
                "contracts[0]: exercise is NULL");
        REFUSED((c.contract[0].american = 1, c.contract[0].exercises = 2,
                 c.contract[0].exercise = late),
                "contracts[0]: exercise[1] is 1.5; it must be above 0.5, up to 1");
        REFUSED((c.contract[0].payoff = SHOAL_CVA_FORWARD, c.contract[0].weight = &endless),
                "contracts[0]: weight[0] is inf");
        REFUSED((c.contract[0].payoff = SHOAL_CVA_MAX_CALL, c.contract[0].weight = &half),
                "contracts[0]: weight is given");
        REFUSED(c.contract[0].barrier = 1, "contracts[0]: barrier is 1");
        REFUSED(c.contract[0].payoff = SHOAL_CVA_UP_IN_PUT, "contracts[0]: barrier is 0");
        REFUSED((c.contract[0].payoff = SHOAL_CVA_UP_IN_PUT, c.contract[0].barrier = 110,
                 c.contract[0].strike = 0),
                "contracts[0]: strike is 0");
        REFUSED((c.contract[0].payoff = SHOAL_CVA_UP_IN_PUT, c.contract[0].barrier = 110,
                 c.counterparty.jump = &half),
                "contracts with a barrier have no jump at default");
        REFUSED((c.contract[0].payoff = SHOAL_CVA_UP_IN_PUT, c.contract[0].barrier = 110,
                 c.opts.greeks = 1),
                "with a barrier");
        cva_case c = one_case(SHOAL_CVA_MAX_CALL, 4, 8);
        static const double s0[] = { 1, 1 };
        c.market.assets = 2, c.market.s0 = c.market.sigma = s0;
        c.contract[0].assets = 2, c.contract[0].asset = two;
        refused(ctx, &c, SHOAL_E_ARG, "contracts[0]: asset[1] is 0, as asset[0] is");
        static const double weights[] = { 0.5, INFINITY }; /* what is wrong first is said */
        c.contract[0].payoff = SHOAL_CVA_FORWARD, c.contract[0].weight = weights;
        refused(ctx, &c, SHOAL_E_ARG, "contracts[0]: weight[1] is inf");
    }
}

TEST(counterparties_and_options) {
    static const double negative[] = { 0.1, -0.1 }, falling[] = { 2, 1 }, rates[] = { 0.1, 0.1 };
    static const int64_t none[] = { 0 };
    static const double none_at_all = 0;
    const shoal_cva_csa below = { .collateral = 1, .threshold = -1 };
    const double falling_jump[] = { -1, -1 }, too_large[] = { 1.1, 0 };
    shoal_cva_csa periods[5];
    for (int i = 0; i < 5; i++)
        periods[i] = (shoal_cva_csa){ .collateral = 1, .period = 0.1 * (i + 1) };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        REFUSED(c.counterparty.pieces = 0, "pieces is 0");
        REFUSED(c.counterparty.hazard = NULL, "hazard is NULL");
        REFUSED((c.counterparty.pieces = 2, c.counterparty.hazard = rates), "until is NULL");
        REFUSED((c.counterparty.pieces = 2, c.counterparty.hazard = rates,
                 c.counterparty.until = falling),
                "until[1] is 1");
        REFUSED(c.counterparty.hazard = negative + 1, "hazard[0] is -0.1");
        REFUSED(c.counterparty.recovery = 1.5, "recovery is 1.5");
        REFUSED((c.opts.csas = 1, c.opts.csa = &below), "csa[0]: threshold is -1");
        REFUSED((c.counterparty.collateral = 1, c.counterparty.threshold = -1),
                "threshold is -1; it must be at least 0");
        REFUSED((c.counterparty.collateral = 1, c.counterparty.threshold = NAN),
                "threshold is nan; it must be at least 0");
        REFUSED(c.opts.csas = 1, "csa is NULL");
        REFUSED((c.opts.csas = 5, c.opts.csa = periods, c.contract[0].set = 4),
                "csa[4]: period is 0.5; there can be 4 different ones");
        REFUSED((c.opts.csas = 1, c.opts.csa = periods, c.opts.estimator = SHOAL_CVA_BY_INNER),
                "estimator inner has no margin period");
        REFUSED((c.opts.csas = 1, c.opts.csa = periods, c.opts.by_trade = 1),
                "by_trade is 1; with a margin period");
        REFUSED(c.counterparty.volatility = -1, "volatility is -1");
        REFUSED(c.counterparty.jump = falling_jump, "jump[0] is -1");
        REFUSED((c.counterparty.volatility = 1, c.counterparty.correlation = too_large),
                "correlation[0] is 1.1");
        REFUSED(c.opts.greeks = 2, "greeks is 2");
        REFUSED(c.opts.gammas = 2, "gammas is 2");
        REFUSED((c.opts.greeks = 1, c.opts.nested = 1), "contracts[0]: there are no sensitivities");
        REFUSED(
            (c.opts.greeks = 1, c.contract[0].american = 1, c.opts.estimator = SHOAL_CVA_BY_INNER),
            "contracts[0]: there are no sensitivities of a contract with early exercise by "
            "estimator inner");
        REFUSED((c.opts.greeks = 1, c.counterparty.volatility = 1), "with wrong-way risk");
        REFUSED(
            (c.opts.greeks = 1, c.opts.csas = 1, c.opts.csa = periods, c.contract[0].american = 1),
            "with early exercise, with a margin period");
        REFUSED((c.opts.greeks = 1, c.market.sigma = &none_at_all), "sigma[0] is 0 from 0 to 0.25");
        REFUSED(c.opts.dates = 0, "dates is 0");
        REFUSED(c.opts.outer = 0, "outer is 0");
        REFUSED(c.opts.horizon = -1, "horizon is -1");
        REFUSED((c.opts.dates = 2, c.opts.time = falling), "time[1] is 1; it must be above 2");
        REFUSED((c.opts.dates = 2, c.opts.time = negative), "time[1] is -0.1");
        REFUSED((c.opts.dates = 1, c.opts.time = falling, c.opts.horizon = 1),
                "time[0] is 2; it must be at most the horizon, 1");
        REFUSED(c.opts.inner_count = 2, "inner_count is 2");
        REFUSED(c.opts.inner_count = 1, "inner is NULL");
        REFUSED((c.opts.inner_count = 1, c.opts.inner = none), "inner is 0");
        REFUSED(c.opts.degree = -1, "degree is -1");
        REFUSED(c.opts.estimator = (shoal_cva_estimator)3, "estimator is 3");
        REFUSED(c.opts.rule_paths = -1, "rule_paths is -1");
        REFUSED(c.opts.type = (shoal_type)7, "type is 7");
        for (int i = 0; shoal_methods("smallsym", i); i++) {
            cva_case c = one_case(SHOAL_CVA_PUT, 2, 8);
            shoal_cva *plan = NULL;
            c.opts.solver = shoal_methods("smallsym", i);
            CHECK_MSG(shoal_cva_create(ctx, &c.market, c.contract, c.count, &c.counterparty,
                                       &c.opts, &plan) == SHOAL_OK,
                      "%s", shoal_message(ctx));
            shoal_cva_free(plan);
        }
    }
}

/* Numbers behind the counts of arrays do not matter. */
TEST(arrays_end_at_their_counts) {
    static const double when[] = { 0.3, 0.6, 0.9 },
                        ends[][3] = { { 0.03, 0.05, 0.1 }, { 0.03, 0.05, -0.2 } };
    static const double cash[][3] = { { 2, 3, 4 }, { 2, 3, 40 } };
    for (int t = 0; t < target_count; t++) {
        double found[2];
        for (int i = 0; i < 2; i++) {
            const shoal_cva_curve curve = { 2, when, ends[i] }, paid = { 2, when, cash[i] };
            const double rates[] = { 0.02, 0.04, i };
            cva_case c = one_case(SHOAL_CVA_PUT, 2, 16);
            c.market.rates = curve, c.market.dividends = &curve, c.market.cash = &paid;
            c.counterparty.pieces = 2, c.counterparty.hazard = rates, c.counterparty.until = when;
            c.opts.time = when;
            found[i] = cva_of(targets[t].ctx, &c).value.cva;
        }
        CHECK_MSG(found[0] > 0 && found[0] == found[1], "%.17g, %.17g", found[0], found[1]);
    }
}

TEST(runs_and_results) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const cva_case c = one_case(SHOAL_CVA_CALL, 4, 8);
        shoal_cva *plan = NULL;
        shoal_cva_value v;
        double samples[8 * 27];
        CHECK(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &plan) ==
              SHOAL_OK);
        CHECK(shoal_cva_width(plan) == 3 + 6 * 4 && shoal_cva_width(NULL) == 0);
        CHECK(shoal_cva_run(plan, 0, 0, NULL, NULL) == SHOAL_OK);
        CHECK(shoal_cva_run(plan, -1, 8, samples, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "first is -1"));
        CHECK(shoal_cva_run(plan, 0, -8, samples, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "paths is -8"));
        CHECK(shoal_cva_run(plan, 0, 8, NULL, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "samples is NULL"));
        CHECK(shoal_cva_run(plan, 0, 8, samples, NULL) == SHOAL_OK);
        CHECK(shoal_cva_result(plan, samples, 0, &v, NULL) == SHOAL_E_ARG);
        CHECK(shoal_cva_result(plan, NULL, 8, &v, NULL) == SHOAL_E_ARG);
        CHECK(shoal_cva_result(plan, samples, 8, NULL, NULL) == SHOAL_E_ARG);
        CHECK(shoal_cva_result(plan, samples, 8, &v, NULL) == SHOAL_OK && v.cva > 0);
        CHECK(shoal_cva_describe(plan, NULL) == SHOAL_E_ARG);
        shoal_cva_sensitivity list[8];
        CHECK(shoal_cva_parameters(plan) == 0);
        CHECK(shoal_cva_sensitivities(plan, samples, 8, list) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "without opts.greeks"));
        CHECK(shoal_cva_sensitivities(plan, NULL, 8, list) == SHOAL_E_ARG);
        CHECK(shoal_cva_sensitivities(plan, samples, 8, NULL) == SHOAL_E_ARG);
        CHECK(shoal_cva_sensitivities(plan, samples, 0, list) == SHOAL_E_ARG);
        CHECK(shoal_cva_run(NULL, 0, 8, samples, NULL) == SHOAL_E_ARG);
        shoal_cva_free(plan);
        shoal_cva_free(NULL);
    }
}

/* Exposures as they are given: means, standard errors, and the quantiles by rank, the first one that at least 95 or
 * 99 of 100 are not above. */
TEST(results_of_given_samples) {
    enum { MOST = 130, DATES = 2, WIDTH = 3 + 6 * DATES };
    const cva_case c = one_case(SHOAL_CVA_CALL, 2, MOST);
    shoal_cva *plan = NULL;
    CHECK(shoal_cva_create(targets[0].ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts,
                           &plan) == SHOAL_OK);
    CHECK(shoal_cva_width(plan) == WIDTH);
    for (int n = 1; n <= MOST; n++) {
        double samples[MOST][WIDTH] = { { 0 } }, squares = 0;
        shoal_cva_value v;
        shoal_cva_date date[2];
        for (int i = 0; i < n; i++) { /* 1 .. n in some order, and twice that */
            const double x = 1 + (double)((i * 37 + 11) % n * (n % 37 ? 1 : 0)) + (n % 37 ? 0 : i);
            double *list = samples[i] + 3; /* of exposures, theirs, and those that are ranked */
            samples[i][0] = x, samples[i][1] = x - 1, samples[i][2] = 0.25;
            list[0] = 2 * x, list[1] = x, list[DATES] = 3 * x;
            list[2 * DATES] = list[3 * DATES] = 2 * x, list[2 * DATES + 1] = x;
            list[3 * DATES + 1] = x + 0.5, list[4 * DATES] = -0.5;
            squares += (x - 0.5 * (n + 1)) * (x - 0.5 * (n + 1));
        }
        CHECK(shoal_cva_result(plan, samples[0], n, &v, date) == SHOAL_OK);
        const double error = sqrt(squares / n / (n - 1));
        int at95 = n, at99 = n;
        while (100 * (at95 - 1) >= 95 * n) at95--;
        while (100 * (at99 - 1) >= 99 * n) at99--;
        CHECK_MSG(fabs(v.cva - 0.5 * (n + 1)) < 1e-12 * n && v.bias == 0.25, "%d: %g", n, v.cva);
        CHECK(v.rule_bias == 0.25 && v.inner_bias == 0 && fabs(v.correction - 1) < 1e-12);
        CHECK_MSG(n == 1 ? isnan(v.error) : fabs(v.error - error) < 1e-12 * n, "%d: +- %g", n,
                  v.error);
        CHECK_MSG(date[0].pfe95 == 2 * at95 && date[0].pfe99 == 2 * at99 && date[1].pfe95 == at95,
                  "%d: %g and %g, not %d and %d", n, date[0].pfe95, date[0].pfe99, at95, at99);
        CHECK(fabs(date[0].epe - (n + 1)) < 1e-12 * n &&
              fabs(date[0].ene - 1.5 * (n + 1)) < 1e-11 * n);
        CHECK(date[0].epe_bias == 0.5 && date[0].ene_bias == 0);
        if (n == 1) continue;
        const double half = 1.959964 * sqrt(error * error + 0.25 * 0.25);
        CHECK(fabs(v.high - v.cva - half) < 1e-12 * n && fabs(v.cva - v.low - half) < 1e-12 * n);
        CHECK(date[0].epe_low < date[0].epe - 0.5 && date[0].epe_high > date[0].epe + 0.5);
        /* so many ranks on each side; half of the inner paths change the second date by 0.5 */
        const int off = (int)ceil(1.959964 * sqrt(n * 0.95 * 0.05));
        const int low = at95 - off < 1 ? 1 : at95 - off, high = at95 + off > n ? n : at95 + off;
        CHECK(date[0].pfe95_low == 2 * low && date[0].pfe95_high == 2 * high);
        CHECK(date[1].pfe95_low == low - 0.5 && date[1].pfe95_high == high + 0.5);
        CHECK(date[0].pfe99_low <= date[0].pfe99 && date[0].pfe99_high >= date[0].pfe99);
    }
    shoal_cva_free(plan);
}

/* Inner paths are halved; a contract that ends a rounding before its date is paid on it. */
TEST(dates_and_inner_paths) {
    const int64_t five = 5;
    cva_case c = one_case(SHOAL_CVA_FORWARD, 3, 16);
    cva_outcome out, other;
    c.opts.inner_count = 1, c.opts.inner = &five;
    c.count = 2, c.contract[1] = c.contract[0], c.contract[1].quantity = 0;
    c.contract[0].maturity = 0.3, c.contract[1].maturity = 0.1 + 0.2;
    CHECK(c.contract[0].maturity < c.contract[1].maturity);
    CHECK(cva_in_pieces(targets[0].ctx, &c, 16, &out) == SHOAL_OK && out.profile[2].inner == 6);
    c.contract[0].maturity = c.contract[1].maturity;
    CHECK(cva_in_pieces(targets[0].ctx, &c, 16, &other) == SHOAL_OK);
    CHECK_MSG(out.profile[2].epe > 0 && fabs(out.profile[2].epe / other.profile[2].epe - 1) < 1e-12,
              "%g, not %g", out.profile[2].epe, other.profile[2].epe);
}

/* A plan with the rules of another one, which is freed, has its samples; it must be of the same book. Rules of one asset
 * and of two, bought, decide at every date. */
TEST(rules_of_another_plan) {
    enum { PATHS = 32 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        cva_case c = mixed_case(PATHS);
        c.contract[1].american = 1, c.contract[1].quantity = 1, c.contract[3].quantity = 1;
        c.contract[1].payoff = SHOAL_CVA_BASKET_PUT;
        double *wanted = NULL;
        for (int i = 0; i < 3; i++) { /* none; those of a plan; those of a plan that cannot run */
            shoal_cva *first = NULL, *plan;
            c.opts.rules_only = i == 2;
            if (i > 0)
                CHECK(shoal_cva_create(ctx, &c.market, c.contract, c.count, &c.counterparty,
                                       &c.opts, &first) == SHOAL_OK);
            c.opts.rules_only = 0, c.opts.rules_of = first;
            CHECK(shoal_cva_create(ctx, &c.market, c.contract, c.count, &c.counterparty, &c.opts,
                                   &plan) == SHOAL_OK);
            const size_t numbers = (size_t)(PATHS * shoal_cva_width(plan));
            double *rows = new_array(numbers, sizeof *rows);
            if (i == 1) {
                cva_case other = c;
                other.contract[3].strike = 99;
                refused(ctx, &other, SHOAL_E_ARG, "rules_of is a plan for another book");
            }
            if (i == 2) {
                CHECK(shoal_cva_run(first, 0, PATHS, rows, NULL) == SHOAL_E_ARG);
                CHECK(strstr(shoal_message(ctx), "opts.rules_only"));
            }
            shoal_cva_free(first);
            c.opts.rules_of = NULL;
            CHECK(shoal_cva_run(plan, 0, PATHS, rows, NULL) == SHOAL_OK);
            CHECK(i == 0 || memcmp(rows, wanted, numbers * sizeof *rows) == 0);
            shoal_cva_free(plan);
            free(wanted);
            wanted = rows;
        }
        CHECK(wanted[0] != 0 || wanted[1] != 0);
        free(wanted);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(markets);
    RUN(contracts);
    RUN(counterparties_and_options);
    RUN(arrays_end_at_their_counts);
    RUN(runs_and_results);
    RUN(results_of_given_samples);
    RUN(dates_and_inner_paths);
    RUN(rules_of_another_plan);
    close_targets();
    return TEST_END();
}
