/* SPDX-License-Identifier: Apache-2.0
 *
 * pick.h - functions of core/math.h for the type real: a choice without a branch, the exponential.
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

#endif
