/* SPDX-License-Identifier: Apache-2.0
 *
 * twice.h - sums of products in twice the precision of `real`: in double for f32; for f64 as pairs of
 * doubles, the sum and what its roundings left (T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot
 * product", SIAM J. Sci. Comput. 26, 2005).
 */
#ifndef SHOAL_CORE_TWICE_H
#define SHOAL_CORE_TWICE_H

#include "core/real.h"

#ifdef SHOAL_SINGLE
typedef double twice;
SHOAL_HD static inline twice twice_of(real v) { return (double)v; }
SHOAL_HD static inline real real_of_twice(twice s) { return (real)s; }
/* s - u v */
SHOAL_HD static inline twice twice_less(twice s, real u, real v) {
    return s - (double)u * (double)v;
}
#else
typedef struct twice {
    double sum, rest;
} twice;
SHOAL_HD static inline twice twice_of(real v) {
    const twice s = { v, 0 };
    return s;
}
SHOAL_HD static inline real real_of_twice(twice s) { return s.sum + s.rest; }
SHOAL_HD static inline twice twice_less(twice s, real u, real v) {
    const double product = -u * v, left = fma(-u, v, -product);
    const double sum = s.sum + product, share = sum - s.sum;
    s.rest += (s.sum - (sum - share)) + (product - share) + left;
    s.sum = sum;
    return s;
}
#endif

#endif
