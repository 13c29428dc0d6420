/* SPDX-License-Identifier: Apache-2.0
 *
 * pick.h - functions of core/math.h for the type real: a choice without a branch, the exponential; black_value() of
 * black.h.
 */
#ifndef SHOAL_PRICING_PICK_H
#define SHOAL_PRICING_PICK_H

#include "core/math.h"
#include "core/real.h"

/* condition ? a : b in a form that the CPU's compiler vectorises. */
SHOAL_HD static inline real real_pick(int condition, real a, real b) {
#ifdef SHOAL_SINGLE
    return shoal_pickf(condition, a, b);
#else
    return shoal_pick(condition, a, b);
#endif
}

SHOAL_HD static inline real real_exp(real x) {
#ifdef SHOAL_SINGLE
    return shoal_expf(x);
#else
    return shoal_exp(x);
#endif
}

SHOAL_HD static inline real real_log(real x) {
#ifdef SHOAL_SINGLE
    return shoal_logf(x);
#else
    return shoal_log(x);
#endif
}

SHOAL_HD static inline real real_normcdf(real x) {
#ifdef SHOAL_SINGLE
    return shoal_normcdff(x);
#else
    return shoal_normcdf(x);
#endif
}

/* black_value() without a branch, in f64 with its bits. An error of d changes the value in second order only, so that
 * the error is a few epsilon of F and K, also for small s. */
SHOAL_HD static inline real real_black(real forward, real strike, real s, int put) {
    const int moves = (s > 0) & (strike > 0) & (forward > 0);
    const real gain = real_pick(put, strike - forward, forward - strike);
    const real of = real_pick(moves, s, 1), ratio = real_pick(moves, forward / strike, 1);
    const real d = real_log(ratio) / of + (real)0.5 * of, e = of - d;
    const real more = real_normcdf(real_pick(put, e, d)),
               less = real_normcdf(-real_pick(put, d, e));
    const real value =
        real_fma(real_pick(put, strike, forward), more, -(real_pick(put, forward, strike) * less));
    const real best = real_pick(moves, value, gain);
    return real_pick(best > 0, best, 0); /* far out of the money it may round below 0 */
}

#endif
