/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_american.c - CVA of contracts with early exercise: the Bermudan put of Longstaff and Schwartz, whose CVA
 * is known stopped at exercise and not, contracts that are never exercised early, exact netting, and books at
 * the edge.
 */
#include "cva/plan.h"
#include "cva_exact.h"
#include "cva_runs.h"

#define STOPPED     0.04253520 /* 10 dates; docs/cva.md */
#define NOT_STOPPED 0.12288856

static const double thirty_six = 36;

/* S = 36, K = 40, r = 6 %, sigma = 20 %, T = 1. */
static cva_case put_case(int64_t dates, int64_t outer, const int64_t *inner) {
    cva_case c = one_case(SHOAL_CVA_PUT, dates, outer);
    c.market.s0 = &thirty_six, c.market.rate = 0.06;
    c.contract[0].strike = 40, c.contract[0].american = 1;
    c.opts.inner = inner, c.opts.inner_count = 1;
    return c;
}

static exact_case exact_put(int dates) {
    return (exact_case){ 36, 40, 0.06, 0, 0.2, 1, 0.05, 0.4, 1, dates, 0 };
}

/* The quadrature against values that are known to 8 digits. */
TEST(exact_values) {
    static const double known[][2] = { { STOPPED, NOT_STOPPED }, { 0.03907979, 0.12410084 } };
    for (int i = 0; i < 2; i++)
        for (int kept = 0; kept < 2; kept++) {
            exact_case e = exact_put(i ? 50 : 10);
            e.kept = kept;
            const double here = exact_cva(&e, 32);
            CHECK_MSG(fabs(here - known[i][kept]) < 6e-7, "%.8f, not %.8f", here, known[i][kept]);
        }
    /* a call without dividends is kept to the end: (1 - R) C (1 - e^(-hazard T)) */
    const exact_case call = { 100, 100, 0.1, 0, 0.2, 1, 0.05, 0.4, 0, 4, 0 };
    CHECK(fabs(exact_cva(&call, 32) - 0.38830185823) < 3e-6);
}

/* Within three standard errors, in f64; regressions at nodes within 2 %. */
static void near_exact(shoal_context *ctx, cva_case *c, const exact_case *e, const char *what) {
    const double want = exact_cva(e, 16);
    c->opts.kept = e->kept;
    for (int way = SHOAL_CVA_BY_RULE; way <= SHOAL_CVA_BY_INNER; way++) {
        c->opts.estimator = (shoal_cva_estimator)way;
        const cva_outcome o = cva_of(ctx, c);
        const int inner = way == SHOAL_CVA_BY_INNER;
        CHECK_MSG(fabs(o.value.cva - want) < (inner ? 0.02 : 0.0002) * want + 3 * o.value.error,
                  "%s, %d dates, %s, %d: %.6f +- %.6f, not %.6f", what, e->dates,
                  e->kept ? "not stopped" : "stopped", way, o.value.cva, o.value.error, want);
        CHECK_MSG(o.value.error < (small ? 0.3 : 0.07) * want, "%s: %g", what, o.value.error);
        CHECK(o.info.american == 1 && (o.counts.inner_paths > 0) == inner);
        CHECK(o.value.rule_bias == 0); /* the rule of one asset has no noise */
        int64_t systems = 0, by_method = 0;
        for (int i = 0; i < SHOAL_CVA_DECADES; i++) systems += o.counts.decade[i];
        for (int i = 0; i < SHOAL_CVA_METHODS; i++) by_method += o.counts.method[i];
        CHECK((o.counts.systems > 0) == inner && o.counts.failed == 0);
        CHECK(systems == o.counts.systems - o.counts.empty && by_method == systems);
    }
}

/* On one asset what the rule is worth is known: `rule` and `amc` have the same bits, with a control variate or without. */
TEST(one_asset_needs_no_inner_paths) {
    const int64_t inner[] = { 64 };
    for (int t = 0; t < target_count; t++)
        for (int control = -1; control <= 1; control += 2) {
            cva_case c = put_case(8, small ? 32 : 512, inner);
            c.opts.control = control;
            const cva_outcome rule = cva_of(targets[t].ctx, &c);
            c.opts.estimator = SHOAL_CVA_BY_AMC;
            const cva_outcome amc = cva_of(targets[t].ctx, &c);
            CHECK(rule.value.cva > 0 && memcmp(&rule.value, &amc.value, sizeof rule.value) == 0);
            for (int k = 0; k < 8; k++) CHECK(rule.profile[k].epe == amc.profile[k].epe);
            CHECK(rule.counts.inner_paths == 0);
        }
}

/* Two assets that move as one are one: a max-call and a basket of them are calls on one asset with dividends. The rule of
 * several assets is fitted, and its bias is estimated. */
TEST(two_assets_that_are_one) {
    const double s0[] = { 100, 100 }, sigma[] = { 0.2, 0.2 }, ones[] = { 1, 1, 1, 1 };
    const double dividend[] = { 0.1, 0.1 };
    const int64_t both[] = { 0, 1 }, inner[] = { 32 };
    const exact_case e = { 100, 100, 0.05, 0.1, 0.2, 3, 0.05, 0.4, 0, 9, 0 };
    const double want = exact_cva(&e, 16);
    for (int t = 0; t < target_count; t++)
        for (int payoff = SHOAL_CVA_MAX_CALL; payoff <= SHOAL_CVA_BASKET_CALL; payoff += 2)
            for (int way = SHOAL_CVA_BY_RULE; way <= SHOAL_CVA_BY_AMC; way++) {
                cva_case c = put_case(9, small ? 64 : 1024, inner);
                c.market = (shoal_cva_market){ .assets = 2,
                                               .rate = 0.05,
                                               .s0 = s0,
                                               .sigma = sigma,
                                               .dividend = dividend,
                                               .correlation = ones };
                c.contract[0].payoff = (shoal_cva_payoff)payoff, c.contract[0].strike = 100;
                c.contract[0].maturity = 3, c.contract[0].assets = 2, c.contract[0].asset = both;
                c.opts.estimator = (shoal_cva_estimator)way;
                c.opts.rule_paths = small ? 8192 : 0;
                const cva_outcome o = cva_of(targets[t].ctx, &c);
                CHECK_MSG(fabs(o.value.cva - want) < 0.006 * want + 3 * o.value.error,
                          "%d, %d: %.6f +- %.6f, not %.6f", payoff, way, o.value.cva, o.value.error,
                          want);
                CHECK((small || o.value.rule_bias != 0) && o.value.bias == fabs(o.value.rule_bias));
            }
}

/* A list of the dates that are made anyway changes no bit, as dates of exposure or of exercise. Another contract's maturity
 * is a date of exposure, and none of exercise: the put has the same value today. */
TEST(any_dates) {
    const int64_t inner[] = { 32 };
    const double quarters[] = { 0.25, 0.5, 0.75, 1 };
    for (int t = 0; t < target_count; t++)
        for (int way = SHOAL_CVA_BY_RULE; way <= SHOAL_CVA_BY_INNER; way++) {
            cva_case c = put_case(4, small ? 64 : 1024, inner);
            c.opts.estimator = (shoal_cva_estimator)way;
            const cva_outcome plain = cva_of(targets[t].ctx, &c);
            c.opts.time = quarters;
            cva_outcome o = cva_of(targets[t].ctx, &c);
            CHECK(memcmp(&o.value, &plain.value, sizeof o.value) == 0);
            c.contract[0].exercises = 3, c.contract[0].exercise = quarters;
            o = cva_of(targets[t].ctx, &c);
            CHECK(memcmp(&o.value, &plain.value, sizeof o.value) == 0);
            CHECK(memcmp(o.profile, plain.profile, sizeof o.profile) == 0);
            c.contract[1] = c.contract[0], c.count = 2;
            c.contract[1].american = c.contract[1].exercises = 0;
            c.contract[1].maturity = 0.1, c.contract[1].quantity = 1e-30;
            o = cva_of(targets[t].ctx, &c);
            CHECK(o.info.dates == 5 && o.profile[0].time == 0.1 && o.profile[1].time == 0.25);
            const double today = plain.profile[0].epe * exp(-0.06 * 0.25);
            const double then = o.profile[0].epe * exp(-0.06 * 0.1);
            CHECK_MSG(fabs(today - then) <
                          4 * (plain.profile[0].epe_error + o.profile[0].epe_error),
                      "%g, not %g", then, today);
            c.contract[0].maturity = 0.9, c.contract[0].exercises = 0; /* past the last quarter */
            o = cva_of(targets[t].ctx, &c);
            CHECK(o.info.dates == 6 && o.profile[4].time == 0.9 && o.profile[4].epe > 0);
            CHECK(o.profile[5].epe == 0 && o.info.horizon == 1);
        }
}

/* Regressions at nodes over dates of any steps: nearly equal ones are nearly what equal ones are; of very different ones
 * the values agree with the grid. Exercise between dates of exposure, and exposure where there is none. */
TEST(inner_paths_of_any_dates) {
    const double quarters[] = { 0.25, 0.5, 0.75 }, nearly[] = { 0.25, 0.5 * (1 + 1e-7), 0.75 };
    const double far[] = { 0.02, 0.3, 0.95 }, exposures[] = { 0.1, 0.25, 0.6, 0.97, 1 };
    const double half = 0.5;
    const int64_t inner[] = { 1024 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, small ? 64 : 512, inner);
        c.opts.estimator = SHOAL_CVA_BY_INNER, c.opts.time = quarters, c.opts.dates = 3;
        c.contract[0].exercises = 3, c.contract[0].exercise = quarters;
        const cva_outcome equal = cva_of(targets[t].ctx, &c);
        c.contract[0].exercise = nearly;
        c.opts.time = nearly;
        const cva_outcome almost = cva_of(targets[t].ctx, &c);
        CHECK_MSG(almost.value.cva != equal.value.cva &&
                      fabs(almost.value.cva - equal.value.cva) < 1e-5 * equal.value.cva,
                  "%.10g, not %.10g", almost.value.cva, equal.value.cva);
        c.opts.time = exposures, c.opts.dates = 5;
        c.contract[0].exercise = far;
        c.market.rate = fifth, c.market.sigma = &half, c.contract[0].quantity = 1;
        const cva_outcome paths = cva_of(targets[t].ctx, &c);
        c.opts.estimator = SHOAL_CVA_BY_AMC;
        const cva_outcome grid = cva_of(targets[t].ctx, &c);
        for (int k = 0; k < 5; k++)
            CHECK_MSG(fabs(paths.profile[k].epe - grid.profile[k].epe) <
                          (small ? 0.1 : 0.015) * grid.profile[0].epe,
                      "date %d: %.6f, not %.6f", k + 1, paths.profile[k].epe, grid.profile[k].epe);
    }
}

TEST(bermudan_put) {
    const int64_t inner[] = { 128 };
    for (int t = 0; t < target_count; t++) {
        for (int kept = 0; kept < 2; kept++) {
            cva_case c = put_case(10, small ? 32 : 1024, inner);
            exact_case e = exact_put(10);
            e.kept = kept;
            near_exact(targets[t].ctx, &c, &e, "put");
        }
        cva_case c = put_case(50, 128, inner);
        const exact_case e = exact_put(50);
        if (!small) near_exact(targets[t].ctx, &c, &e, "put");
    }
}

TEST(put_with_dividends) {
    const double three_tenths = 0.3, percent = 0.01, likely = 0.08;
    const int64_t inner[] = { 128 };
    const exact_case e = { 100, 105, 0.02, 0.01, 0.3, 1, 0.08, 0.3, 1, 6, 0 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(6, small ? 32 : 2048, inner);
        c.market = (shoal_cva_market){
            .assets = 1, .rate = 0.02, .s0 = &hundred, .sigma = &three_tenths, .dividend = &percent
        };
        c.contract[0].strike = 105;
        c.counterparty.hazard = &likely, c.counterparty.recovery = 0.3;
        near_exact(targets[t].ctx, &c, &e, "with dividends");
    }
}

/* The basis of a max call has its payoff, too, which far in the money is a sum of two other functions: the rule is
 * wrong without what the regression leaves to it. On one asset it is a call, which is kept to the end. */
TEST(max_call_far_in_the_money) {
    const int64_t inner[] = { 128 };
    const exact_case e = { 100, 50, 0.1, 0, 0.2, 1, 0.05, 0.4, 0, 6, 0 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(6, small ? 32 : 512, inner);
        c.market.s0 = &hundred, c.market.rate = 0.1;
        c.contract[0].payoff = SHOAL_CVA_MAX_CALL, c.contract[0].strike = 50;
        near_exact(targets[t].ctx, &c, &e, "max call");
    }
}

/* A date's values are those of its own inner paths. */
TEST(inner_paths_of_a_date) {
    const double s0[] = { 36, 36 }, sigma[] = { 0.2, 0.3 };
    const int64_t few[] = { 40, 40, 40, 40 }, more[] = { 40, 320, 320, 320 }, both[] = { 0, 1 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, 16, few);
        c.market = (shoal_cva_market){ .assets = 2, .rate = 0.06, .s0 = s0, .sigma = sigma };
        c.contract[0].payoff = SHOAL_CVA_BASKET_PUT;
        c.contract[0].assets = 2, c.contract[0].asset = both;
        c.opts.inner_count = 4, c.opts.kept = 1, c.opts.rule_paths = 8192;
        const cva_outcome one = cva_of(targets[t].ctx, &c);
        c.opts.inner = more;
        const cva_outcome two = cva_of(targets[t].ctx, &c);
        CHECK_MSG(one.profile[0].epe == two.profile[0].epe, "%.17g, not %.17g", two.profile[0].epe,
                  one.profile[0].epe);
        CHECK(one.profile[1].epe != two.profile[1].epe);
        CHECK(one.profile[2].epe != two.profile[2].epe);
        CHECK(one.profile[3].epe == two.profile[3].epe);
    }
}

/* Inner paths that decide for themselves are late where the noise of their cash flows is larger than what
 * exercise gains; hedged cash flows are good enough. */
TEST(inner_paths_decide) {
    const int64_t inner[] = { 64 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(10, small ? 32 : 512, inner);
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK_MSG(fabs(o.value.cva - STOPPED) < 0.05 * STOPPED + 3 * o.value.error, "%.6f +- %.6f",
                  o.value.cva, o.value.error);
        c.opts.control = -1;
        const cva_outcome noisy = cva_of(targets[t].ctx, &c);
        if (!small) /* 32 paths have a standard error of 10 % */
            CHECK_MSG(noisy.value.cva - 3 * noisy.value.error > 1.1 * STOPPED, "%.6f +- %.6f",
                      noisy.value.cva, noisy.value.error);
        CHECK(noisy.value.cva > o.value.cva);
        c.opts.control = 0;
        c.opts.kept = 1;
        const cva_outcome kept = cva_of(targets[t].ctx, &c);
        CHECK(fabs(kept.value.cva - NOT_STOPPED) < 0.02 * NOT_STOPPED + 3 * kept.value.error);
    }
}

/* Centred and scaled: by their pivots, conditions are below 1000 but for a few where few are in the money. */
TEST(conditions) {
    const int64_t inner[] = { 512 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(10, 32, inner);
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        int64_t systems = 0, small_ones = 0;
        for (int i = 0; i < SHOAL_CVA_DECADES; i++) systems += o.counts.decade[i];
        for (int i = 0; i < 3; i++) small_ones += o.counts.decade[i];
        CHECK((double)small_ones > 0.9 * (double)systems);
    }
}

/* Assets that move as one have the same inner paths. Regressions at nodes have inner paths for the assets of a
 * contract: there values differ by their noise. */
TEST(inner_paths_of_other_assets) {
    const double s0[] = { 36, 36 }, sigma[] = { 0.2, 0.2 }, ones[] = { 1, 1, 1, 1 };
    const int64_t inner[] = { 32 }, other = 1;
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, 16, inner);
        c.market = (shoal_cva_market){
            .assets = 2, .rate = 0.06, .s0 = s0, .sigma = sigma, .correlation = ones
        };
        c.contract[1] = c.contract[0];
        c.contract[1].quantity = -1, c.contract[1].asset = &other, c.count = 2;
        cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva < 1e-12 && o.profile[0].ene < 1e-12);
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva > 0 && o.profile[0].ene > 0);
    }
}

/* Without dividends nobody exercises a call early. */
TEST(call_is_kept_to_the_end) {
    const int64_t inner[] = { small ? 128 : 512 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 4, small ? 64 : 1024);
        c.opts.inner = inner, c.opts.inner_count = 1;
        c.contract[0].american = 1;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK_MSG(fabs(o.value.cva - 0.38830185823) < 3 * o.value.error, "%.6f +- %.6f",
                  o.value.cva, o.value.error);
    }
}

/* A spread is not hedged by its line: a sold option is never worth anything to its seller. */
TEST(sold_spread_is_no_exposure) {
    const double s0[] = { 100, 90 }, sigma[] = { 0.2, 0.3 }, weights[] = { 1, -1 };
    const int64_t inner[] = { 32 }, both[] = { 0, 1 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, 64, inner);
        c.market = (shoal_cva_market){ .assets = 2, .rate = 0.03, .s0 = s0, .sigma = sigma };
        c.contract[0].payoff = SHOAL_CVA_BASKET_CALL, c.contract[0].strike = 40;
        c.contract[0].assets = 2, c.contract[0].asset = both, c.contract[0].weight = weights;
        c.contract[0].quantity = -1;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK_MSG(o.value.cva == 0 && o.value.bias == 0, "%g", o.value.cva);
    }
}

TEST(bought_and_sold_is_nothing) {
    const int64_t inner[] = { 32 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(4, 64, inner);
        c.contract[1] = c.contract[0];
        c.contract[1].quantity = -1, c.count = 2;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(o.value.cva == 0 && o.value.bias == 0 && o.profile[1].ene == 0);
    }
}

/* A batch holds what has not been exercised: what is in it beside a path does not matter. A level that rounds twice fits
 * other rules, so it is compared with one thread of its own. */
TEST(bits_are_the_same) {
    const int64_t inner[] = { 20, 70, 300 }, asset[] = { 1, 0 };
    const double s0[] = { 36, 40 }, sigma[] = { 0.2, 0.3 }, correlation[] = { 1, 0.3, 0.3, 1 };
    const double own[] = { 0.2, 0.5 };
    cva_case c = put_case(3, small ? 20 : 200, inner);
    c.opts.inner_count = 3;
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.06, .s0 = s0, .sigma = sigma, .correlation = correlation
    };
    c.contract[1] = (shoal_cva_contract){ .payoff = SHOAL_CVA_MAX_CALL,
                                          .american = 1,
                                          .strike = 40,
                                          .maturity = 2.0 / 3,
                                          .quantity = -1,
                                          .assets = 2,
                                          .asset = asset };
    c.contract[2] = c.contract[1];
    c.contract[2].american = 0, c.contract[2].quantity = 1, c.count = 3;
    for (int t = 0; t < target_count; t++) {
        shoal_context *single;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu",
                                           .isa = rounds_once(&targets[t]) ? NULL : targets[t].isa,
                                           .threads = 1 },
                         &single) == SHOAL_OK);
        for (int i = 0; i < 6; i++) {
            c.opts.type = i % 2 ? SHOAL_F32 : SHOAL_F64,
            c.opts.estimator = (shoal_cva_estimator)(i / 2);
            c.contract[1].exercises = 2, c.contract[1].exercise = own;
            c.contract[0].exercises = i < 4 ? 0 : 2, c.contract[0].exercise = own;
            cva_outcome plain = cva_of(single, &c), pieces;
            CHECK(plain.value.cva > 0 && (plain.counts.systems > 0) == (i >= 4));
            memset(plain.counts.seconds, 0, sizeof plain.counts.seconds);
            CHECK(cva_in_pieces(targets[t].ctx, &c, 37, &pieces) == SHOAL_OK);
            memset(pieces.counts.seconds, 0, sizeof pieces.counts.seconds);
            CHECK(memcmp(&pieces.value, &plain.value, sizeof plain.value) == 0);
            CHECK(memcmp(pieces.profile, plain.profile, sizeof plain.profile) == 0);
            if (on_cpu(&targets[t]))
                CHECK(memcmp(&pieces.counts, &plain.counts, sizeof plain.counts) == 0);
        }
        shoal_close(single);
    }
}

/* A contract on so many assets, alone or beside a put, on a GPU and on the CPU. */
static void compare_rules(const target *t, shoal_context *cpu, shoal_cva_payoff payoff, int d,
                          int differ, shoal_type type, int64_t count) {
    enum { MOST = 37 };
    double s0[MOST], sigma[MOST], dividend[MOST], correlation[MOST * MOST];
    int64_t asset[MOST];
    static const double when = 0.5, amount = 2;
    shoal_cva_curve cash[MOST];
    const int64_t inner[] = { 40 }, last = 1;
    const int market = d > 2 ? d : 2;
    for (int a = 0; a < market; a++) {
        s0[a] = 36, sigma[a] = differ ? 0.2 + 0.02 * a : 0.2, dividend[a] = 0.1;
        asset[a] = differ ? market - 1 - a : a;
        cash[a] = (shoal_cva_curve){ 1, &when, &amount };
        for (int b = 0; b < market; b++) correlation[a * market + b] = a == b ? 1 : 0.3;
    }
    cva_case c = put_case(3, 4, inner);
    c.opts.rule_paths = d > 5 ? 640 : 2560, c.opts.type = type;
    c.market = (shoal_cva_market){ .assets = market,
                                   .rate = 0.06,
                                   .s0 = s0,
                                   .sigma = sigma,
                                   .dividend = dividend,
                                   .correlation = correlation,
                                   .cash = differ ? cash : NULL };
    c.contract[1] = c.contract[0];
    c.contract[0].payoff = payoff, c.contract[0].assets = d;
    c.contract[0].asset = asset, c.contract[0].strike = 38;
    c.contract[1].asset = &last, c.contract[1].quantity = -1, c.contract[1].set = 1;
    c.count = count;
    const cva_outcome wanted = cva_of(cpu, &c), found = cva_of(t->ctx, &c);
    CHECK_MSG(memcmp(&wanted.value, &found.value, sizeof wanted.value) == 0,
              "payoff %d on %d assets: %.17g, not %.17g", (int)payoff, d, found.value.cva,
              wanted.value.cva);
    CHECK(memcmp(wanted.profile, found.profile, sizeof wanted.profile) == 0);
    CHECK(wanted.value.cva > 0);
}

/* Kernels have code of their own for rules on one asset, on two to five, and linear ones; and the prices of all stops at
 * hand if there are several contracts. */
TEST(rules_of_few_assets) {
    static const shoal_cva_payoff of[] = { SHOAL_CVA_BASKET_PUT, SHOAL_CVA_MAX_CALL };
    shoal_context *cpu;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &cpu) == SHOAL_OK);
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 12 && !on_cpu(&targets[t]); i++) {
            const int assets = 2 + i % 4, differ = i / 4 == 1;
            const shoal_type type = (i / 2 + small) % 2 ? SHOAL_F32 : SHOAL_F64;
            compare_rules(&targets[t], cpu, of[i / 4 > 0], assets, differ, type, 1 + i % 2);
        }
    shoal_close(cpu);
}

/* One asset: kernels decide by logarithms, and steps share random numbers if the market has no more than two assets in
 * f32, one in f64. Alone or with others on the same paths; at a price whose logarithm is not used; as a call. */
TEST(rules_on_one_asset) {
    static const double plain[] = { 36, 40, 50 }, sigma[] = { 0.2, 0.3, 0.25 };
    static const double correlation[] = { 1, 0.3, 0.2, 0.3, 1, 0.1, 0.2, 0.1, 1 };
    static const double dividend[] = { 0.1, 0.1, 0.1 }, alone[] = { 1, 0.3, 0.3, 1 };
    static const int64_t inner[] = { 40 }, last[] = { 0, 1, 2 };
    shoal_context *cpu;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &cpu) == SHOAL_OK);
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 24 && !on_cpu(&targets[t]); i++) {
            const int assets = 1 + i % 3, huge = i >= 18;
            double s0[3];
            cva_case c = put_case(7, 12, inner);
            for (int a = 0; a < 3; a++) s0[a] = plain[a] * (huge ? 0x1p70 : 1);
            c.opts.type = i / 3 % 2 ? SHOAL_F32 : SHOAL_F64;
            c.opts.control = i / 6 == 1 ? -1 : 1;
            c.market = (shoal_cva_market){ .assets = assets,
                                           .rate = 0.06,
                                           .s0 = s0,
                                           .sigma = sigma,
                                           .dividend = dividend,
                                           .correlation = assets == 2 ? alone : correlation };
            c.contract[0].asset = &last[assets - 1], c.contract[0].strike = s0[assets - 1];
            c.contract[1] = c.contract[0], c.count = 1 + (i / 6 == 2);
            c.contract[1].payoff = SHOAL_CVA_CALL, c.contract[1].quantity = 2;
            if (i / 6 == 1) c.contract[0].payoff = SHOAL_CVA_CALL;
            const cva_outcome wanted = cva_of(cpu, &c), found = cva_of(targets[t].ctx, &c);
            CHECK_MSG(memcmp(&wanted.value, &found.value, sizeof wanted.value) == 0,
                      "%d: %.17g, not %.17g", i, found.value.cva, wanted.value.cva);
            CHECK(memcmp(wanted.profile, found.profile, sizeof wanted.profile) == 0);
            CHECK(wanted.value.cva > 0 && wanted.counts.inner_paths == 0);
        }
    shoal_close(cpu);
}

TEST(rules_of_many_assets) {
    shoal_context *cpu;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &cpu) == SHOAL_OK);
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 2 && !on_cpu(&targets[t]); i++) {
            const shoal_type type = i ? SHOAL_F32 : SHOAL_F64;
            compare_rules(&targets[t], cpu, SHOAL_CVA_PUT, 1, 0, type, 1);
            compare_rules(&targets[t], cpu, SHOAL_CVA_MAX_CALL, 6, 0, type, 2 - i);
            compare_rules(&targets[t], cpu, SHOAL_CVA_BASKET_PUT, 9, 1, type, 1 + i);
            compare_rules(&targets[t], cpu, SHOAL_CVA_BASKET_PUT, 9, 0, type, 2 - i);
            if (!small || i) compare_rules(&targets[t], cpu, SHOAL_CVA_BASKET_PUT, 37, 0, type, 1);
        }
    shoal_close(cpu);
}

/* What is valued with half of the inner paths is what a run with so many has: `bias` is half less all. Nobody
 * exercises, so that both are simulated together. */
/* Problems of a date that have no room together are solved one part after the other, the two halves of a problem in
 * the same part: paths have the values that they have in pieces. Of p problems at both levels p (inner + inner / 2)
 * inner paths are counted. */
TEST(many_problems) {
    if (small) SKIP("takes many paths");
    const int64_t inner = 8192, outer = 401;
    cva_case c = put_case(3, outer, &inner);
    cva_outcome all, some;
    c.opts.kept = 1, c.opts.estimator = SHOAL_CVA_BY_INNER; /* every path goes on to the end */
    CHECK(cva_in_pieces(targets[0].ctx, &c, outer, &all) == SHOAL_OK);
    CHECK(cva_in_pieces(targets[0].ctx, &c, 10, &some) == SHOAL_OK);
    CHECK_MSG(memcmp(&all.value, &some.value, sizeof all.value) == 0, "%.17g, not %.17g",
              all.value.cva, some.value.cva);
    CHECK(all.counts.inner_paths == some.counts.inner_paths && all.counts.inner_paths > 0);
    CHECK_MSG(all.counts.inner_paths % (inner * 3 / 2) == 0, "%g",
              (double)all.counts.inner_paths / (double)inner);
}

TEST(half_of_the_inner_paths) {
    const int64_t inner[] = { 328, 164 };
    for (int t = 0; t < target_count; t++)
        for (int degree = 2; degree < 8; degree += 5) {
            cva_outcome o[2];
            for (int i = 0; i < 2; i++) {
                cva_case c = put_case(4, 16, &inner[i]);
                c.opts.kept = 1, c.opts.degree = degree;
                c.opts.estimator = SHOAL_CVA_BY_INNER;
                o[i] = cva_of(targets[t].ctx, &c);
            }
            const double half = o[0].value.cva + o[0].value.inner_bias;
            CHECK_MSG(fabs(half / o[1].value.cva - 1) < 1e-13 && o[0].value.bias > 0,
                      "%.17g, not %.17g", half, o[1].value.cva);
        }
}

/* Without volatility it pays to exercise at the first date, and there is no more exposure then. */
TEST(no_volatility) {
    const double none = 0;
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(5, 8, inner);
        c.market.sigma = &none;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        const double want = 0.6 * -expm1(-0.01) * (40 * exp(-0.012) - 36);
        CHECK_MSG(fabs(o.value.cva - want) < 1e-13, "%.17g, not %.17g", o.value.cva, want);
        CHECK(o.profile[1].epe == 0 && o.profile[4].pfe99 == 0);
    }
}

/* Several assets without volatility: a call is kept to maturity, since its strike costs less then, and the rounding errors
 * of gains hedge nothing. Equal assets and different ones have rules of other bases. */
TEST(several_assets_without_volatility) {
    const double none[] = { 0, 0 }, s0[] = { 100, 90 }, dividend[] = { 0, 0.01 };
    const int64_t both[] = { 0, 1 }, inner[] = { 16 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 12; i++) {
            cva_case c = put_case(2, 8, inner);
            c.market = (shoal_cva_market){ .assets = 2,
                                           .rate = 0.05,
                                           .s0 = s0,
                                           .sigma = none,
                                           .dividend = i % 2 ? dividend : NULL };
            const int basket = i / 2 % 2;
            c.contract[0].payoff = basket ? SHOAL_CVA_BASKET_CALL : SHOAL_CVA_MAX_CALL;
            c.contract[0].strike = 80, c.contract[0].assets = 2, c.contract[0].asset = both;
            c.opts.estimator = (shoal_cva_estimator)(i / 4), c.opts.rule_paths = 4096;
            const cva_outcome o = cva_of(targets[t].ctx, &c);
            const double other = 90 * exp(i % 2 ? -0.01 : 0);
            const double today = basket ? 0.5 * (100 + other) : 100;
            for (int k = 0; k < 2; k++) { /* a forward */
                const double want = (today - 80 * exp(-0.05)) * exp(0.025 * (k + 1));
                CHECK_MSG(fabs(o.profile[k].epe - want) < 1e-9 * want,
                          "%d, date %d: %.12g, not %.12g", i, k + 1, o.profile[k].epe, want);
            }
        }
}

/* ---- rules of several assets --------------------------------------------------------------------- */

static double normal_law(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* A European max-call on two independent assets: e^(-r t) times the integral over x > K of P(max S > x), by Simpson. */
static double european_max_call(const cva_case *c, const double *s, double years) {
    enum { PANELS = 200 };
    const shoal_cva_market *m = &c->market;
    const double from = log(c->contract[0].strike), width = 3.0 / PANELS;
    double sum = 0;
    for (int i = 0; i <= PANELS; i++) {
        double both = 1;
        for (int a = 0; a < 2; a++) {
            const double variance = m->sigma[a] * m->sigma[a] * years;
            const double drift = (m->rate - m->dividend[a]) * years - 0.5 * variance;
            both *= normal_law((from + i * width - log(s[a]) - drift) / sqrt(variance));
        }
        const int end = i == 0 || i == PANELS;
        sum += (end ? 1 : i % 2 ? 4 : 2) * width / 3 * exp(from + i * width) * (1 - both);
    }
    return exp(-m->rate * years) * sum;
}

enum { GRID = 64, GRID_POINTS = GRID * GRID, RULE_SEEDS = 4 };

/* Two assets at a date: points of a grid of their prices, with the law of the date; what going on is worth there. */
typedef struct price_grid {
    double spot[2 * GRID_POINTS], weight[GRID_POINTS], hold[GRID_POINTS];
} price_grid;

/* The prices are e^(drift + deviation z) times s, z independent and up to 4. */
static void make_grid(const cva_case *c, const double *s, double years, price_grid *g) {
    const shoal_cva_market *m = &c->market;
    for (int i = 0; i < GRID_POINTS; i++) {
        g->weight[i] = 1;
        for (int a = 0; a < 2; a++) {
            const double z = 8 * ((a ? i % GRID : i / GRID) + 0.5) / GRID - 4;
            const double drift =
                (m->rate - m->dividend[a] - 0.5 * m->sigma[a] * m->sigma[a]) * years;
            g->spot[2 * i + a] = s[a] * exp(drift + m->sigma[a] * sqrt(years) * z);
            g->weight[i] *= 8.0 / GRID * exp(-0.5 * z * z) / sqrt(2 * acos(-1.0));
        }
    }
}

/* How often the rule of the first contract decides wrongly at a date, and what that changes of the exposure at the next:
 * the root of the mean square over seeds, relative to the exposure. */
static void judge_rule(shoal_context *ctx, cva_case *c, int64_t date, const price_grid *g,
                       double *wrong, double *off) {
    static char now[GRID_POINTS];
    *wrong = *off = 0;
    for (int seed = 1; seed <= RULE_SEEDS; seed++) {
        shoal_cva *p = NULL;
        double lost = 0, exposure = 0;
        c->opts.seed = (uint64_t)seed;
        CHECK_MSG(shoal_cva_create(ctx, &c->market, c->contract, 1, &c->counterparty, &c->opts,
                                   &p) == SHOAL_OK,
                  "%s", shoal_message(ctx));
        if (!p) return;
        cva_job job = p->job;
        job.paths = GRID_POINTS, job.spot = (double *)(uintptr_t)g->spot;
        p->judge->decide(&p->host, &job, p->contracts, &p->contracts->rule[0], date, now);
        for (int i = 0; i < GRID_POINTS; i++) {
            const double pays = cva_pay(p->contracts, g->spot + 2 * i, date);
            const int exercise = pays > 0 && pays >= g->hold[i];
            if (!exercise) exposure += g->weight[i] * g->hold[i];
            if (exercise == now[i]) continue;
            *wrong += g->weight[i] / RULE_SEEDS;
            lost += (exercise ? g->weight[i] : -g->weight[i]) * g->hold[i];
        }
        *off += lost / exposure * (lost / exposure) / RULE_SEEDS;
        shoal_cva_free(p);
    }
    *off = sqrt(*off);
}

/* Two dates, so that going on is worth a European max-call. The assets differ: a rule that sees their prices in order alone
 * is wrong on 1.2 % of the paths; fitted on random paths, not on Sobol's, a rule is wrong on 1.0 %, and the exposure off by
 * 1 %. */
TEST(rules_of_different_assets) {
    static const double s0[] = { 110, 90 }, sigma[] = { 0.15, 0.35 }, dividend[] = { 0.04, 0.08 };
    static const int64_t both[] = { 0, 1 }, inner[] = { 16 };
    static price_grid g;
    double wrong, off;
    cva_case c = put_case(2, 8, inner);
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.04, .s0 = s0, .sigma = sigma, .dividend = dividend
    };
    c.contract[0].payoff = SHOAL_CVA_MAX_CALL, c.contract[0].strike = 105;
    c.contract[0].assets = 2, c.contract[0].asset = both, c.opts.rule_paths = 65536;
    make_grid(&c, s0, 0.5, &g);
    for (int i = 0; i < GRID_POINTS; i++) g.hold[i] = european_max_call(&c, g.spot + 2 * i, 0.5);
    for (int t = 0; t < target_count; t++) {
        judge_rule(targets[t].ctx, &c, 1, &g, &wrong, &off);
        CHECK_MSG(wrong < 0.007 && off < 0.005,
                  "wrong on %.2f %% of the paths, the exposure off by %.2f %%", 100 * wrong,
                  100 * off);
    }
}

/* The last of eight dates before maturity, when going on is worth a European basket-call. Polynomials of degree 5 do not
 * bend enough at the strike: the exposure at maturity was off by 13 %. */
TEST(rules_of_baskets_shortly_before_maturity) {
    static const double s0[] = { 100, 50 }, sigma[] = { 0.25, 0.4 }, dividend[] = { 0.08, 0.05 };
    static const double weight[] = { 0.6, 0.8 };
    static const int64_t both[] = { 0, 1 }, inner[] = { 16 };
    static price_grid g, then;
    double wrong, off;
    cva_case c = put_case(8, 8, inner);
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.03, .s0 = s0, .sigma = sigma, .dividend = dividend
    };
    c.contract[0].payoff = SHOAL_CVA_BASKET_CALL, c.contract[0].strike = 95;
    c.contract[0].assets = 2, c.contract[0].asset = both, c.contract[0].weight = weight;
    c.contract[0].maturity = 2, c.opts.rule_paths = 65536;
    make_grid(&c, s0, 1.75, &g);
    make_grid(&c, (const double[]){ 1, 1 }, 0.25, &then); /* how prices move */
    for (int i = 0; i < GRID_POINTS; i++) {
        const double *s = g.spot + 2 * i, *move = then.spot;
        double sum = 0;
        for (int n = 0; n < GRID_POINTS; n++, move += 2) {
            const double pays = weight[0] * s[0] * move[0] + weight[1] * s[1] * move[1] - 95;
            sum += pays > 0 ? then.weight[n] * pays : 0;
        }
        g.hold[i] = exp(-0.03 * 0.25) * sum;
    }
    for (int t = 0; t < target_count; t++) {
        judge_rule(targets[t].ctx, &c, 7, &g, &wrong, &off);
        CHECK_MSG(wrong < 0.01 && off < 0.05,
                  "wrong on %.2f %% of the paths, the exposure off by %.2f %%", 100 * wrong,
                  100 * off);
    }
}

/* Contracts that differ in quantity and netting set alone share a rule; those that differ in a term do not. */
TEST(equal_contracts_have_one_rule) {
    static const int64_t both[] = { 0, 1 }, inner[] = { 16 };
    static const double s0[] = { 100, 100 }, sigma[] = { 0.2, 0.3 }, weight[] = { 0.4, 0.6 },
                        dates[] = { 0.3, 0.6, 1 };
    cva_case c = put_case(4, 8, inner);
    c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma;
    c.opts.estimator = SHOAL_CVA_BY_RULE;
    shoal_cva_contract k = c.contract[0], all[9];
    k.payoff = SHOAL_CVA_BASKET_PUT, k.assets = 2, k.asset = both;
    for (int i = 0; i < 9; i++) all[i] = k;
    all[1].quantity = -3, all[1].set = 1;
    all[2].strike = 101, all[3].maturity = 0.75, all[4].payoff = SHOAL_CVA_MAX_CALL;
    all[5].payoff = SHOAL_CVA_BASKET_CALL, all[6].weight = weight;
    all[7].exercise = dates, all[7].exercises = 3;
    all[8].assets = 1, all[8].asset = both + 1;
    for (int t = 0; t < target_count; t++) {
        shoal_cva *p;
        CHECK_MSG(shoal_cva_create(targets[t].ctx, &c.market, all, 9, &c.counterparty, &c.opts,
                                   &p) == SHOAL_OK,
                  "%s", shoal_message(targets[t].ctx));
        for (int i = 1; i < 9; i++)
            CHECK_MSG((p->contracts[i].rule[0].at == p->contracts[0].rule[0].at) == (i == 1),
                      "contract %d", i);
        CHECK(p->contracts[1].rule[0].at &&
              p->contracts[1].rule[1].at == p->contracts[0].rule[1].at);
        shoal_cva_free(p);
    }
}

/* Fewer paths than functions: the systems are singular and are truncated, and the answer is a number. */
TEST(fewer_paths_than_functions) {
    const int64_t inner[] = { 2 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(5, 32, inner);
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        const cva_outcome o = cva_of(targets[t].ctx, &c);
        CHECK(isfinite(o.value.cva) && o.value.cva > 0 && o.counts.truncated > 0);
        CHECK(o.counts.failed == 0);
    }
}

/* A solver that has no answer to singular systems: each is answered, empty or failed, and counted once. */
TEST(regressions_that_fail) {
    const int64_t inner[] = { 8 };
    for (int t = 0; t < target_count; t++) {
        cva_case c = put_case(5, 16, inner);
        c.opts.solver = "ldlt", c.opts.degree = 7, c.opts.estimator = SHOAL_CVA_BY_INNER;
        const shoal_cva_counts n = cva_of(targets[t].ctx, &c).counts;
        int64_t answered = 0;
        for (int i = 0; i < SHOAL_CVA_METHODS; i++) answered += n.method[i];
        CHECK_MSG(n.failed > 0 && n.systems == answered + n.empty + n.failed,
                  "%d systems: %d answered, %d empty, %d failed", (int)n.systems, (int)answered,
                  (int)n.empty, (int)n.failed);
    }
}

/* Prices that are known: of a put, a call, a max-call. Each has the same mean at every date, in either type; with 8 paths per
 * regression it has not. A run without opts.validate has nothing to be validated. */
TEST(validation) {
    const double s0[] = { 36, 36 }, sigma[] = { 0.2, 0.2 };
    const int64_t few[] = { 8 }, inner[] = { 32 }, both[] = { 0, 1 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            shoal_cva_check check[4][6];
            cva_case c = put_case(5, small ? 64 : 1024, inner);
            c.opts.type = type ? SHOAL_F32 : SHOAL_F64;
            c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma;
            c.contract[1] = c.contract[2] = c.contract[3] = c.contract[0];
            c.contract[1].payoff = SHOAL_CVA_CALL, c.contract[1].maturity = 0.7;
            c.contract[1].american = 0, c.contract[1].quantity = -3, c.contract[1].set = 1;
            c.contract[2].payoff = SHOAL_CVA_MAX_CALL;
            c.contract[2].assets = 2, c.contract[2].asset = both;
            c.contract[3].maturity = -1, c.count = 4;
            shoal_cva_validation v = validated(targets[t].ctx, &c, check[0]);
            CHECK_MSG(v.passed && v.limit > 3.5 && v.limit < 4.5 && v.scores == 3 * 6, "%g, %g, %d",
                      v.z, v.limit, (int)v.scores);
            CHECK(fabs(v.z) > 0 && v.contract < 3 && v.date < 6);
        }
    for (int t = 0; t < target_count; t++) {
        shoal_cva_check check[10];
        cva_case c = put_case(10, small ? 128 : 1024, inner);
        CHECK(validated(targets[t].ctx, &c, check).passed);
        CHECK_MSG(fabs(check[0].price - 4.4425267) < 1e-4 && check[9].price_error == 0, "%.8f",
                  check[0].price);
        CHECK(check[0].upper == check[0].price && check[9].z == check[9].z);
        c.market.assets = 2, c.market.s0 = s0, c.market.sigma = sigma;
        c.contract[0].payoff = SHOAL_CVA_MAX_CALL, c.contract[0].assets = 2;
        c.contract[0].asset = both, c.contract[0].strike = 36;
        CHECK(validated(targets[t].ctx, &c, check).passed);
        CHECK_MSG(check[0].upper > check[0].price - 3 * check[0].price_error &&
                      check[0].upper < 1.03 * check[0].price + 3 * check[0].upper_error,
                  "%g to %g", check[0].price, check[0].upper);
        /* predictions beside a European contract on inner paths */
        c.contract[0] = put_case(10, 1, inner).contract[0];
        c.contract[1] = c.contract[0], c.contract[1].payoff = SHOAL_CVA_MAX_CALL;
        c.contract[1].american = 0, c.contract[1].assets = 2, c.contract[1].asset = both;
        c.count = 2, c.opts.dates = 5, c.opts.estimator = SHOAL_CVA_BY_AMC;
        CHECK(validated(targets[t].ctx, &c, check).passed);
        c = put_case(10, small ? 256 : 2048, few);
        c.opts.estimator = SHOAL_CVA_BY_INNER, c.opts.control = -1;
        const shoal_cva_validation v = validated(targets[t].ctx, &c, check);
        CHECK_MSG(small || (!v.passed && v.contract == 0), "%g", v.z);
    }
    shoal_cva *plan = NULL;
    shoal_cva_validation v;
    double samples[64];
    cva_case c = one_case(SHOAL_CVA_CALL, 2, 2);
    CHECK(shoal_cva_create(targets[0].ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts,
                           &plan) == SHOAL_OK);
    CHECK(shoal_cva_run(plan, 0, 2, samples, NULL) == SHOAL_OK);
    CHECK(shoal_cva_validate(plan, samples, 2, &v, NULL) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(targets[0].ctx), "without opts.validate"));
    shoal_cva_free(plan);
    c.opts.validate = c.opts.kept = 1;
    CHECK(shoal_cva_create(targets[0].ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts,
                           &plan) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(targets[0].ctx), "validate is 1"));
}

TEST(what_is_refused) {
    const int64_t inner[] = { 16 };
    for (int t = 0; t < target_count; t++) {
        cva_outcome o;
        shoal_context *ctx = targets[t].ctx;
        cva_case c = put_case(10, 8, inner);
        c.contract[0].payoff = SHOAL_CVA_FORWARD;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: american is 1"));
        c = put_case(10, 8, inner), c.contract[0].strike = 0;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: strike is 0"));
        c = put_case(10, 8, inner), c.opts.degree = 64;
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "contracts[0]: assets is 1: with degree 64"));
        c = put_case(10, 8, inner), c.opts.solver = "magic";
        CHECK(cva_in_pieces(ctx, &c, 8, &o) == SHOAL_E_METHOD);
        CHECK(strstr(shoal_message(ctx), "solver is 'magic'"));
        const double vast = 1e30, wild = 2; /* a path that leaves the range names its contract */
        c = put_case(10, 64, inner), c.market.s0 = &vast, c.market.sigma = &wild;
        c.opts.estimator = SHOAL_CVA_BY_INNER;
        c.contract[0].strike = 1e30;
        CHECK(cva_in_pieces(ctx, &c, 64, &o) == SHOAL_E_ARG);
        CHECK_MSG(strstr(shoal_message(ctx), "contracts[0]: at date 1, outer paths 0 to 63: s0 is"),
                  "%s", shoal_message(ctx));
        c.market.sigma = &fifth, c.market.rate = 5; /* also that of the only path */
        CHECK(cva_in_pieces(ctx, &c, 1, &o) == SHOAL_E_ARG);
        CHECK_MSG(strstr(shoal_message(ctx), "contracts[0]: at date 1, outer paths 0 to 0: s0 is"),
                  "%s", shoal_message(ctx));
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(exact_values);
    RUN(one_asset_needs_no_inner_paths);
    RUN(two_assets_that_are_one);
    RUN(any_dates);
    RUN(inner_paths_of_any_dates);
    RUN(bermudan_put);
    RUN(put_with_dividends);
    RUN(max_call_far_in_the_money);
    RUN(inner_paths_of_a_date);
    RUN(inner_paths_decide);
    RUN(conditions);
    RUN(inner_paths_of_other_assets);
    RUN(call_is_kept_to_the_end);
    RUN(sold_spread_is_no_exposure);
    RUN(bought_and_sold_is_nothing);
    RUN(bits_are_the_same);
    RUN(rules_of_few_assets);
    RUN(rules_on_one_asset);
    RUN(rules_of_many_assets);
    RUN(many_problems);
    RUN(half_of_the_inner_paths);
    RUN(no_volatility);
    RUN(several_assets_without_volatility);
    RUN(rules_of_different_assets);
    RUN(rules_of_baskets_shortly_before_maturity);
    RUN(equal_contracts_have_one_rule);
    RUN(fewer_paths_than_functions);
    RUN(regressions_that_fail);
    RUN(validation);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
