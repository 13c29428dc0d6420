/* SPDX-License-Identifier: Apache-2.0
 *
 * test_cva_sums.c - results of a CVA from sums over paths, beside those from the rows of the same paths: means and errors
 * up to rounding, quantiles within their error; the same bits from any pieces in any order, and the size of a unit.
 */
#include "cva_runs.h"
#include <shoal/units.h>

static shoal_context *ctx;
static const double own_hazard = 0.02, other_hazard = 0.1, year = 1, cost = 0.01, gain = 0.004;
static const shoal_cva_counterparty own = { .pieces = 1, .hazard = &own_hazard, .recovery = 0.3 };

/* The mixed book, with costs of funding and results by set. */
static cva_case funded_case(int64_t outer) {
    cva_case c = mixed_case(outer);
    c.opts.own = &own, c.opts.by_set = 1;
    c.opts.borrowing = (shoal_cva_curve){ 1, &year, &cost };
    c.opts.lending = (shoal_cva_curve){ 1, &year, &gain };
    return c;
}

static shoal_cva *plan_of(const cva_case *c, const shoal_cva_counterparty *of) {
    shoal_cva *plan;
    CHECK_MSG(shoal_cva_create(ctx, &c->market, c->contract, c->count, of ? of : &c->counterparty,
                               &c->opts, &plan) == SHOAL_OK,
              "%s", shoal_message(ctx));
    return plan;
}

/* ---- sums beside rows ---------------------------------------------------------------------------- */

/* How close a number must be: a mean; an error or an interval; a quantile; ends of its interval, that contain the
 * difference of two quantiles. */
enum { MEAN, ERROR, QUANTILE, QUANTILE_END };
typedef struct number {
    const char *name;
    size_t at;
    int kind;
} number;
#define OF_VALUE(name, kind)                                                                       \
    { #name, offsetof(shoal_cva_value, name), kind }
#define OF_DATE(name, kind)                                                                        \
    { #name, offsetof(shoal_cva_date, name), kind }
#define OF_ADJUSTMENT(name, kind)                                                                  \
    { #name, offsetof(shoal_cva_adjustments, name), kind }

static const number of_value[] = { OF_VALUE(cva, MEAN),
                                   OF_VALUE(error, ERROR),
                                   OF_VALUE(rule_bias, MEAN),
                                   OF_VALUE(rule_bias_error, ERROR),
                                   OF_VALUE(inner_bias, MEAN),
                                   OF_VALUE(inner_bias_error, ERROR),
                                   OF_VALUE(bias, MEAN),
                                   OF_VALUE(low, ERROR),
                                   OF_VALUE(high, ERROR),
                                   OF_VALUE(correction, MEAN),
                                   OF_VALUE(correction_error, ERROR),
                                   { NULL, 0, 0 } };
static const number of_date[] = { OF_DATE(time, MEAN),
                                  OF_DATE(epe, MEAN),
                                  OF_DATE(epe_error, ERROR),
                                  OF_DATE(epe_bias, MEAN),
                                  OF_DATE(epe_low, ERROR),
                                  OF_DATE(epe_high, ERROR),
                                  OF_DATE(ene, MEAN),
                                  OF_DATE(ene_error, ERROR),
                                  OF_DATE(ene_bias, MEAN),
                                  OF_DATE(ene_low, ERROR),
                                  OF_DATE(ene_high, ERROR),
                                  OF_DATE(pfe95, QUANTILE),
                                  OF_DATE(pfe95_low, QUANTILE_END),
                                  OF_DATE(pfe95_high, QUANTILE_END),
                                  OF_DATE(pfe99, QUANTILE),
                                  OF_DATE(pfe99_low, QUANTILE_END),
                                  OF_DATE(pfe99_high, QUANTILE_END),
                                  OF_DATE(es95, QUANTILE),
                                  OF_DATE(es99, QUANTILE),
                                  OF_DATE(epe_default, MEAN),
                                  OF_DATE(epe_default_error, ERROR),
                                  OF_DATE(discount, MEAN),
                                  OF_DATE(default_probability, MEAN),
                                  OF_DATE(cva, MEAN),
                                  { NULL, 0, 0 } };
static const number of_adjustment[] = { OF_ADJUSTMENT(pv, MEAN),
                                        OF_ADJUSTMENT(cva, MEAN),
                                        OF_ADJUSTMENT(cva_error, ERROR),
                                        OF_ADJUSTMENT(dva, MEAN),
                                        OF_ADJUSTMENT(dva_error, ERROR),
                                        OF_ADJUSTMENT(fca, MEAN),
                                        OF_ADJUSTMENT(fca_error, ERROR),
                                        OF_ADJUSTMENT(fba, MEAN),
                                        OF_ADJUSTMENT(fba_error, ERROR),
                                        OF_ADJUSTMENT(fva, MEAN),
                                        OF_ADJUSTMENT(fva_error, ERROR),
                                        OF_ADJUSTMENT(epe, MEAN),
                                        OF_ADJUSTMENT(ene, MEAN),
                                        OF_ADJUSTMENT(eepe, MEAN),
                                        OF_ADJUSTMENT(pfe95, QUANTILE),
                                        OF_ADJUSTMENT(pfe99, QUANTILE),
                                        OF_ADJUSTMENT(es95, QUANTILE),
                                        OF_ADJUSTMENT(es99, QUANTILE),
                                        { NULL, 0, 0 } };

static int different; /* quantiles that are not exact: sums cannot all be */

static void near(const number *list, const void *found, const void *exact, double error) {
    for (const number *n = list; n->name; n++) {
        double x, want;
        memcpy(&x, (const char *)found + n->at, sizeof x);
        memcpy(&want, (const char *)exact + n->at, sizeof want);
        const double within[] = { 1e-12, 1e-10, error * (1 + 1e-12), 3 * error };
        CHECK_MSG(fabs(x - want) <= within[n->kind] * fabs(want) || (isnan(x) && isnan(want)),
                  "%s: %.17g, not %.17g", n->name, x, want);
        different += n->kind == QUANTILE && x != want;
    }
}

/* All results of a case, from rows and from their sums. */
static void compare(cva_case *c, const shoal_cva_counterparty *of, double error) {
    c->opts.quantile_error = error;
    shoal_cva *plan = plan_of(c, of);
    const int64_t outer = c->opts.outer, width = shoal_cva_width(plan);
    double *samples = new_array((size_t)(outer * width), sizeof *samples);
    int64_t *sums = new_array((size_t)shoal_cva_sums(plan), sizeof *sums);
    shoal_cva_info info;
    shoal_cva_value value[2];
    shoal_cva_date date[2][MAX_DATES];
    CHECK(shoal_cva_describe(plan, &info) == SHOAL_OK && info.dates <= MAX_DATES);
    CHECK(shoal_cva_run(plan, 0, outer, samples, NULL) == SHOAL_OK);
    CHECK(shoal_cva_add_sums(plan, samples, outer, sums) == SHOAL_OK);
    CHECK(shoal_cva_result(plan, samples, outer, &value[0], date[0]) == SHOAL_OK);
    CHECK(shoal_cva_result_of_sums(plan, sums, outer, &value[1], date[1]) == SHOAL_OK);
    different = 0;
    near(of_value, &value[1], &value[0], error);
    for (int64_t k = 0; k < info.dates; k++) near(of_date, &date[1][k], &date[0][k], error);
    CHECK(different > 0);
    const int64_t parts[] = { 1, info.parties, info.sets };
    for (int part = 0; part <= (c->opts.by_set ? 2 : 0); part++)
        for (int64_t i = 0; i < parts[part]; i++) {
            shoal_cva_adjustments a[2];
            CHECK(shoal_cva_adjust(plan, samples, outer, (shoal_cva_part)part, i, &a[0], date[0]) ==
                  SHOAL_OK);
            CHECK(shoal_cva_adjust_of_sums(plan, sums, outer, (shoal_cva_part)part, i, &a[1],
                                           date[1]) == SHOAL_OK);
            near(of_adjustment, &a[1], &a[0], error);
            for (int64_t k = 0; k < info.dates; k++) near(of_date, &date[1][k], &date[0][k], error);
        }
    free(samples), free(sums);
    shoal_cva_free(plan);
}

TEST(of_all_estimators) {
    for (int estimator = SHOAL_CVA_BY_RULE; estimator <= SHOAL_CVA_BY_INNER; estimator++) {
        cva_case c = funded_case(700);
        c.opts.estimator = (shoal_cva_estimator)estimator;
        compare(&c, NULL, estimator == SHOAL_CVA_BY_RULE ? 1e-3 : 1e-2);
    }
}

TEST(of_two_counterparties) {
    cva_case c = funded_case(500);
    static const int64_t party[] = { 1, 0 };
    const shoal_cva_counterparty of[] = {
        c.counterparty, { .pieces = 1, .hazard = &other_hazard, .recovery = 0.2 }
    };
    c.opts.estimator = SHOAL_CVA_BY_AMC, c.opts.parties = 2, c.opts.party = party;
    compare(&c, of, 1e-3);
}

TEST(of_wrong_way_risk) {
    static const double with[] = { 0.7, 0 };
    cva_case c = funded_case(500);
    c.opts.estimator = SHOAL_CVA_BY_AMC;
    c.counterparty.volatility = 0.6, c.counterparty.correlation = with;
    compare(&c, NULL, 1e-3);
}

/* One set without lists of sets; sizes far from 1. */
TEST(of_any_size) {
    static const double quantity[] = { 1e-20, 1e6, -1e20 };
    for (int i = 0; i < 3; i++) {
        cva_case c = one_case(SHOAL_CVA_FORWARD, 5, 400);
        c.contract[0].quantity = quantity[i];
        compare(&c, NULL, 1e-5);
    }
}

/* A path alone has no error; numbers that are all the same have none either. */
TEST(of_few_paths) {
    cva_case c = one_case(SHOAL_CVA_CALL, 1, 1);
    c.opts.quantile_error = 0.01;
    shoal_cva *plan = plan_of(&c, NULL);
    double row[64], rows[1000 * 16];
    int64_t *sums = new_array((size_t)shoal_cva_sums(plan), sizeof *sums);
    const int64_t width = shoal_cva_width(plan);
    shoal_cva_value v;
    CHECK(width <= 16 && shoal_cva_run(plan, 0, 1, row, NULL) == SHOAL_OK);
    CHECK(shoal_cva_add_sums(plan, row, 0, sums) == SHOAL_OK);
    CHECK(shoal_cva_add_sums(plan, row, 1, sums) == SHOAL_OK);
    CHECK(shoal_cva_result_of_sums(plan, sums, 1, &v, NULL) == SHOAL_OK);
    CHECK(v.cva == row[0] && isnan(v.error));
    for (int64_t i = 0; i < 999 * width; i++) rows[i] = row[i % width];
    CHECK(shoal_cva_add_sums(plan, rows, 999, sums) == SHOAL_OK);
    CHECK(shoal_cva_result_of_sums(plan, sums, 1000, &v, NULL) == SHOAL_OK);
    CHECK(fabs(v.cva - row[0]) <= 1e-15 * row[0] && v.error <= 1e-15 * v.cva);
    free(sums);
    shoal_cva_free(plan);
}

/* ---- units ---------------------------------------------------------------------------------------- */

/* Units of a job, backwards and then those of odd numbers, added to another one. */
static void pass_on(shoal_units *from, shoal_units *to) {
    shoal_units_info info;
    CHECK(shoal_units_describe(from, &info) == SHOAL_OK && info.row_bytes == 0);
    void *bytes = new_array(info.bytes, 1);
    for (int64_t round = 0; round < 2; round++)
        for (int64_t i = info.units - 1; i >= 0; i--) {
            size_t size;
            if (i % 2 != round) continue;
            CHECK(shoal_units_run(from, i, 0, bytes, &size) == SHOAL_OK);
            CHECK_MSG(shoal_units_add(to, bytes, size) == SHOAL_OK, "%s", shoal_message(ctx));
        }
    CHECK(shoal_units_missing(to, 0) == info.units && !shoal_units_rows(to));
    free(bytes);
}

TEST(any_pieces_have_the_same_bits) {
    cva_case c = funded_case(300);
    c.opts.by_trade = 1, c.opts.quantile_error = 0.01, c.opts.estimator = SHOAL_CVA_BY_AMC;
    shoal_cva *plan = plan_of(&c, NULL);
    shoal_cva_value one, value;
    shoal_cva_date date[2][MAX_DATES];
    shoal_cva_trade trade[2][4];
    for (int64_t n = 1; n <= 7; n += n == 1 ? 2 : 4) {
        shoal_units *from, *to;
        const shoal_units_opts o = { .units = n };
        const int at = n > 1;
        CHECK(shoal_units_cva(plan, 300, &o, &from) == SHOAL_OK);
        CHECK(shoal_units_cva(plan, 300, &o, &to) == SHOAL_OK);
        pass_on(from, to);
        const int64_t *totals = shoal_units_counts(to) + SHOAL_UNITS_CVA_TOTALS;
        const int64_t *sums = totals + shoal_cva_totals(plan);
        memset(date[at], 0, sizeof date[at]);
        CHECK(shoal_cva_result_of_sums(plan, sums, 300, n == 1 ? &one : &value, date[at]) ==
              SHOAL_OK);
        CHECK(shoal_cva_trades(plan, totals, 300, trade[at], NULL) == SHOAL_OK);
        shoal_units_free(from), shoal_units_free(to);
        if (n == 1) continue;
        CHECK(memcmp(&one, &value, sizeof one) == 0 &&
              memcmp(date[0], date[1], sizeof date[0]) == 0);
        CHECK(memcmp(trade[0], trade[1], sizeof trade[0]) == 0);
    }
    shoal_cva_free(plan);
}

TEST(units_do_not_grow) {
    size_t bytes[2];
    for (int large = 0; large < 2; large++) {
        cva_case c = one_case(SHOAL_CVA_CALL, 50, 1000);
        c.opts.quantile_error = 0.01;
        shoal_cva *plan = plan_of(&c, NULL);
        shoal_units *units;
        shoal_units_info info;
        const int64_t outer = large ? SHOAL_CVA_OUTER : 1000;
        CHECK(shoal_units_cva(plan, outer, &(shoal_units_opts){ .units = 4 }, &units) == SHOAL_OK);
        CHECK(shoal_units_describe(units, &info) == SHOAL_OK);
        CHECK(info.counts == SHOAL_UNITS_CVA_TOTALS + shoal_cva_sums(plan));
        bytes[large] = info.bytes;
        shoal_units_free(units);
        shoal_cva_free(plan);
    }
    /* 280 / E per date, and means */
    CHECK_MSG(bytes[0] == bytes[1] && bytes[0] < 50 * (280 / 0.01 + 500), "%zu", bytes[0]);
}

/* ---- what is refused ------------------------------------------------------------------------------- */

static void fails(shoal_status s, const char *words) {
    CHECK_MSG(s == SHOAL_E_ARG && strstr(shoal_message(ctx), words), "%d: '%s' lacks '%s'", s,
              shoal_message(ctx), words);
}

TEST(what_is_refused) {
    cva_case c = one_case(SHOAL_CVA_CALL, 2, 8);
    shoal_cva *plan = plan_of(&c, NULL), *none;
    shoal_cva_value v;
    shoal_cva_adjustments a;
    double row[64] = { 0 };
    int64_t *sums;
    CHECK(shoal_cva_sums(plan) == 0 && shoal_cva_sums(NULL) == 0);
    fails(shoal_cva_add_sums(plan, row, 1, (int64_t *)row), "without opts.quantile_error");
    fails(shoal_cva_result_of_sums(plan, (int64_t *)row, 1, &v, NULL), "without opts.quantile_err");
    shoal_cva_free(plan);
    static const double bad[] = { -1, 1e-6, 0.6, NAN };
    for (int i = 0; i < 4; i++) {
        c.opts.quantile_error = bad[i];
        CHECK(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &none) ==
              SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "quantile_error is"));
    }
    c.opts.quantile_error = 0.1, c.opts.validate = 1;
    fails(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &none),
          "it must be 0 with validate");
    c.opts.validate = 0, c.opts.greeks = 1;
    fails(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &none),
          "it must be 0 with greeks");
    c.opts.greeks = 0, c.opts.gammas = 1;
    fails(shoal_cva_create(ctx, &c.market, c.contract, 1, &c.counterparty, &c.opts, &none),
          "it must be 0 with gammas");
    c.opts.gammas = 0;
    plan = plan_of(&c, NULL);
    sums = new_array((size_t)shoal_cva_sums(plan), sizeof *sums);
    fails(shoal_cva_add_sums(plan, NULL, 1, sums), "samples is NULL");
    fails(shoal_cva_add_sums(plan, row, 1, NULL), "sums is NULL");
    fails(shoal_cva_add_sums(plan, row, -1, sums), "paths is -1");
    fails(shoal_cva_result_of_sums(plan, NULL, 1, &v, NULL), "sums is NULL");
    fails(shoal_cva_adjust_of_sums(plan, sums, 0, SHOAL_CVA_BOOK, 0, &a, NULL), "paths is 0");
    fails(shoal_cva_adjust_of_sums(plan, sums, 1, SHOAL_CVA_SET, 0, &a, NULL), "opts.by_set");
    static const double too_large[] = { 1e13, -1e13, INFINITY, NAN };
    for (int i = 0; i < 4; i++) {
        row[3] = too_large[i];
        fails(shoal_cva_add_sums(plan, row, 1, sums), "too large for sums");
    }
    free(sums);
    shoal_cva_free(plan);
    CHECK(shoal_cva_add_sums(NULL, row, 1, NULL) == SHOAL_E_ARG);
    CHECK(shoal_cva_result_of_sums(NULL, NULL, 1, &v, NULL) == SHOAL_E_ARG);
    CHECK(shoal_cva_adjust_of_sums(NULL, NULL, 1, SHOAL_CVA_BOOK, 0, &a, NULL) == SHOAL_E_ARG);
}

int main(int argc, char **argv) {
    const shoal_options o = { .backend = "cpu", .threads = 2 };
    CHECK(shoal_open(&o, &ctx) == SHOAL_OK);
    TEST_BEGIN(argc, argv);
    RUN(of_all_estimators);
    RUN(of_two_counterparties);
    RUN(of_wrong_way_risk);
    RUN(of_any_size);
    RUN(of_few_paths);
    RUN(any_pieces_have_the_same_bits);
    RUN(units_do_not_grow);
    RUN(what_is_refused);
    shoal_close(ctx);
    return TEST_END();
}
