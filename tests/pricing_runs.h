/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing_runs.h - one price by one call, on any context: what the tests of pricing share.
 */
#ifndef SHOAL_PRICING_RUNS_H
#define SHOAL_PRICING_RUNS_H

#include "pricing_pieces.h"
#include <math.h>

static const double one = 1; /* a strike, a maturity */

/* Samples in pieces of `piece`, a multiple of a unit; values has room for all contracts. */
static inline shoal_status price_in_pieces(shoal_context *ctx, const shoal_heston *m,
                                           const shoal_price_opts *o, int64_t samples,
                                           int64_t piece, shoal_price_value *values) {
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_heston(ctx, m, o, &plan);
    return s == SHOAL_OK ? run_in_pieces(ctx, plan, samples, piece / SHOAL_PRICE_UNIT, values) : s;
}

static inline shoal_status price(shoal_context *ctx, const shoal_heston *m,
                                 const shoal_price_opts *o, int64_t samples,
                                 shoal_price_value *values) {
    const int64_t piece = (samples / SHOAL_PRICE_UNIT + 1) * SHOAL_PRICE_UNIT;
    return price_in_pieces(ctx, m, o, samples, piece, values);
}

/* Options for one contract: strike and maturity are pointed at. */
static inline shoal_price_opts one_contract(const char *method, const char *variant, int64_t steps,
                                            const double *strike, const double *maturity) {
    return (shoal_price_opts){ .method = method,
                               .variant = variant,
                               .seed = 11,
                               .steps = steps,
                               .strikes = 1,
                               .strike = strike,
                               .maturities = 1,
                               .maturity = maturity };
}

/* Sets of parameters with a price that is known (docs/pricing.md). */
typedef struct known_price {
    const char *name;
    shoal_heston m;
    double strike, maturity, price;
    int64_t steps; /* at which the exact schemes are good to their errors in the quick tests */
} known_price;

/* clang-format off */
static const known_price known[] = {
    { "base, rho -0.9", { 1, 0, 0, .1, .5, .1, .3, -.9 }, 1, 1, 0.119041489013, 16 },
    { "base, rho -0.7", { 1, 0, 0, .1, .5, .1, .3, -.7 }, 1, 1, 0.119732509397, 16 },
    { "base, rho 0", { 1, 0, 0, .1, .5, .1, .3, 0 }, 1, 1, 0.122364337119, 16 },
    { "Broadie and Kaya", { 100, .0319, 0, .010201, 6.21, .019, .61, -.7 }, 100, 1, 6.806113313, 32 },
    { "Andersen, K 60", { 100, 0, 0, .04, .5, .04, 1, -.9 }, 60, 10, 44.329975070, 40 },
    { "Andersen, K 100", { 100, 0, 0, .04, .5, .04, 1, -.9 }, 100, 10, 13.084670137, 40 },
    { "Andersen, K 140", { 100, 0, 0, .04, .5, .04, 1, -.9 }, 140, 10, 0.295774436, 40 },
    { "Feller violated", { 100, .05, 0, .09, 1, .09, 1, -.3 }, 100, 5, 33.596818065, 40 },
};
/* clang-format on */
enum { KNOWN = sizeof known / sizeof *known };

#endif
