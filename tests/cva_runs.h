/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_runs.h - a CVA by one call: what the tests of cva.h share.
 */
#ifndef SHOAL_CVA_RUNS_H
#define SHOAL_CVA_RUNS_H

#include "targets.h"
#include <math.h>
#include <time.h>

enum { MAX_DATES = 64 };

typedef struct cva_case { /* a book with all that belongs to it */
    shoal_cva_market market;
    shoal_cva_contract contract[4];
    int64_t count;
    shoal_cva_counterparty counterparty;
    shoal_cva_opts opts;
} cva_case;

static const double hundred = 100, fifth = 0.2, hazard = 0.05;
static const int64_t first_asset = 0;

/* S = K = 100, rate 10 %, sigma 20 %, T = 1, a hazard rate of 5 %, recovery 40 %. */
static inline cva_case one_case(shoal_cva_payoff payoff, int64_t dates, int64_t outer) {
    return (cva_case){
        .market = { .assets = 1, .rate = 0.1, .s0 = &hundred, .sigma = &fifth },
        .contract = { { .payoff = payoff,
                        .strike = 100,
                        .maturity = 1,
                        .quantity = 1,
                        .assets = 1,
                        .asset = &first_asset } },
        .count = 1,
        .counterparty = { .pieces = 1, .hazard = &hazard, .recovery = 0.4 },
        .opts = { .dates = dates, .outer = outer, .rule_paths = 4096, .seed = 3 },
    };
}

/* Some of each, on two assets: a call and a sold max-call on inner paths, a forward, a sold American put, in two sets. */
static inline cva_case mixed_case(int64_t outer) {
    static const double s0[] = { 100, 90 }, sigma[] = { 0.2, 0.4 };
    static const double correlation[] = { 1, 0.3, 0.3, 1 };
    static const int64_t both[] = { 0, 1 }, inner[] = { 34 };
    cva_case c = one_case(SHOAL_CVA_CALL, 3, outer);
    c.market = (shoal_cva_market){
        .assets = 2, .rate = 0.1, .s0 = s0, .sigma = sigma, .correlation = correlation
    };
    c.contract[1] = (shoal_cva_contract){ .payoff = SHOAL_CVA_MAX_CALL,
                                          .strike = 100,
                                          .maturity = 0.8,
                                          .quantity = -0.5,
                                          .assets = 2,
                                          .asset = both };
    c.contract[2] = c.contract[0], c.contract[2].payoff = SHOAL_CVA_FORWARD;
    c.contract[2].asset = both + 1, c.contract[2].set = 1;
    c.contract[3] = c.contract[2], c.contract[3].payoff = SHOAL_CVA_PUT;
    c.contract[3].american = 1, c.contract[3].quantity = -1.5;
    c.count = 4;
    c.opts.inner = inner, c.opts.inner_count = 1;
    return c;
}

typedef struct cva_outcome {
    shoal_cva_value value;
    shoal_cva_date profile[MAX_DATES];
    shoal_cva_counts counts;
    shoal_cva_info info;
} cva_outcome;

static inline double clock_seconds(void) {
    struct timespec at;
    timespec_get(&at, TIME_UTC);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* The outer paths in pieces of `piece`. The parts of the time that is spent make up its whole, nearly. */
static inline shoal_status cva_in_pieces(shoal_context *ctx, const cva_case *c, int64_t piece,
                                         cva_outcome *out) {
    shoal_cva *plan = NULL;
    memset(out, 0, sizeof *out);
    shoal_status s =
        shoal_cva_create(ctx, &c->market, c->contract, c->count, &c->counterparty, &c->opts, &plan);
    if (s != SHOAL_OK) return s;
    const int64_t width = shoal_cva_width(plan), outer = c->opts.outer;
    double *samples = new_array((size_t)(outer * width), sizeof *samples);
    const double begin = clock_seconds();
    for (int64_t at = 0; at < outer && s == SHOAL_OK; at += piece)
        s = shoal_cva_run(plan, at, outer - at < piece ? outer - at : piece, samples + at * width,
                          &out->counts);
    const double spent = clock_seconds() - begin, *parts = out->counts.seconds;
    const double sum = parts[0] + parts[1] + parts[2];
    CHECK_MSG(parts[0] >= 0 && parts[1] >= 0 && parts[2] >= 0, "%g, %g, %g s", parts[0], parts[1],
              parts[2]);
    CHECK_MSG(s != SHOAL_OK || (sum < spent + 0.1 && sum > 0.5 * spent - 0.1), "%g of %g s", sum,
              spent);
    if (s == SHOAL_OK) s = shoal_cva_result(plan, samples, outer, &out->value, out->profile);
    if (s == SHOAL_OK) s = shoal_cva_describe(plan, &out->info);
    free(samples);
    shoal_cva_free(plan);
    return s;
}

static inline cva_outcome cva_of(shoal_context *ctx, const cva_case *c) {
    cva_outcome out;
    const shoal_status s = cva_in_pieces(ctx, c, c->opts.outer, &out);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    return out;
}

/* Rows of a plan that validates: its verdict, and the checks of all contracts. */
static inline shoal_cva_validation validated(shoal_context *ctx, cva_case *c,
                                             shoal_cva_check *checks) {
    shoal_cva *plan = NULL;
    shoal_cva_validation v = { 0 };
    c->opts.validate = 1;
    shoal_status s =
        shoal_cva_create(ctx, &c->market, c->contract, c->count, &c->counterparty, &c->opts, &plan);
    const int64_t width = shoal_cva_width(plan);
    double *samples = new_array((size_t)(c->opts.outer * width + 1), sizeof *samples);
    if (s == SHOAL_OK) s = shoal_cva_run(plan, 0, c->opts.outer, samples, NULL);
    if (s == SHOAL_OK) s = shoal_cva_validate(plan, samples, c->opts.outer, &v, checks);
    CHECK_MSG(s == SHOAL_OK, "%s", shoal_message(ctx));
    free(samples);
    shoal_cva_free(plan);
    return v;
}

#endif
