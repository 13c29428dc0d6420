/* SPDX-License-Identifier: Apache-2.0
 *
 * implied.c - Black's formula inverted, at every instruction level.
 */
#include "pricing/implied.h"
#include "core/real.h"

static double deviation(double forward, double strike, double value, int put) {
    return black_deviation(forward, strike, value, put);
}

const price_implied R(price_implied) = { deviation };
