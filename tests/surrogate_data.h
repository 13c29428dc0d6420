/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate_data.h - prices that a network of a few neurons can learn: calls whose volatility is a smooth
 * function of three inputs.
 */
#ifndef SHOAL_SURROGATE_DATA_H
#define SHOAL_SURROGATE_DATA_H

#include <math.h>
#include <shoal/pricing.h>
#include "targets.h"

enum { ROWS = 4000, HELD = 500, INPUTS = 3 };
static const char *const names[INPUTS] = { "level", "strike", "maturity" };

static double x[ROWS + HELD][INPUTS], price[ROWS + HELD], noise[ROWS + HELD];
static shoal_context *ctx; /* what is tested */

/* Numbers from 0 to 1 that fill a cube evenly: multiples of roots, modulo 1. */
static inline double even(int64_t i, int axis) {
    static const double steps[] = { 0.8191725133961645, 0.6710436067037893, 0.5497004779019703 };
    const double v = (double)(i + 1) * steps[axis];
    return v - floor(v);
}

/* A smile: volatility a smooth function of all three inputs. */
static inline double smile(const double *at) {
    const double k = log(at[1]);
    return at[0] * (1 - 0.3 * k + 0.4 * k * k) * (1 + 0.1 * sqrt(at[2]));
}

/* The larger of a maximum so far and |value|; NaN once one of them was, which fmax would hide. */
static inline double larger(double most, double value) {
    return isnan(most) || isnan(value) ? NAN : fmax(most, fabs(value));
}

static inline void make_data(void) {
    for (int64_t i = 0; i < ROWS + HELD; i++) {
        x[i][0] = 0.1 + 0.4 * even(i, 0);
        x[i][1] = 0.7 + 0.7 * even(i, 1);
        x[i][2] = 0.1 + 1.9 * even(i, 2);
        price[i] = shoal_black(1, x[i][1], smile(x[i]) * sqrt(x[i][2]), 0);
        noise[i] = 5e-5;
    }
}

static inline shoal_surrogate_data part(int64_t first, int64_t rows) {
    return (shoal_surrogate_data){ .rows = rows,
                                   .inputs = INPUTS,
                                   .names = names,
                                   .x = x[first],
                                   .price = price + first,
                                   .error = noise + first };
}

static inline shoal_status train_on(shoal_context *where, const shoal_surrogate_opts *o,
                                    shoal_surrogate **net, shoal_surrogate_result *r) {
    const shoal_surrogate_data train = part(0, ROWS), held = part(ROWS, HELD);
    return shoal_surrogate_train(where, &train, &held, o, NULL, NULL, net, r);
}

static inline shoal_surrogate *trained(const char *aim, shoal_type type, int64_t epochs) {
    const shoal_surrogate_opts o = {
        .target = aim, .layers = 2, .width = 16, .type = type, .seed = 7, .epochs = epochs
    };
    shoal_surrogate *net = NULL;
    const shoal_status s = train_on(ctx, &o, &net, NULL);
    CHECK_MSG(s == SHOAL_OK && net, "%s", shoal_message(ctx));
    return net;
}

#endif
