/* SPDX-License-Identifier: Apache-2.0
 *
 * vectors.h - one option per lane: on the CPU a lane of a vector, on the GPU a thread; both from one source.
 */
#ifndef SHOAL_AMERICAN_VECTORS_H
#define SHOAL_AMERICAN_VECTORS_H

#include "core/math.h"

#if defined(__CUDACC__) || defined(SHOAL_EMULATED)
#include "core/loops.h"
#include "core/real.h"
#define LANE_FUNCTION SHOAL_HD static inline
typedef double vec;
typedef int vec_mask;
LANE_FUNCTION vec vec_all(double x) { return x; }
LANE_FUNCTION vec vec_load(const double *from) { return *from; }
LANE_FUNCTION vec vec_fma(vec u, vec v, vec w) { return fma(u, v, w); }
LANE_FUNCTION vec vec_select(vec_mask mask, vec u, vec v) { return mask ? u : v; }
LANE_FUNCTION vec vec_abs(vec v) { return fabs(v); }
LANE_FUNCTION vec vec_min(vec u, vec v) { return u < v ? u : v; }
LANE_FUNCTION vec vec_max(vec u, vec v) { return u > v ? u : v; }
LANE_FUNCTION int vec_any(vec_mask mask) { return mask; }
LANE_FUNCTION vec vec_root(vec x) { return sqrt(x); }
LANE_FUNCTION vec vec_log(vec x) { return shoal_log(x); }
LANE_FUNCTION vec vec_add_exponent(vec x, vec shifted) {
    return shoal_from_bits(shoal_bits(x) + (shoal_bits(shifted) << 52));
}
#else
#include "core/vec.h"
#define LANE_FUNCTION ALWAYS_INLINE
LANE_FUNCTION int vec_any(vec_mask mask) {
    int64_t any = 0;
    for (int i = 0; i < VEC; i++) any |= mask[i];
    return any != 0;
}
LANE_FUNCTION vec vec_root(vec x) {
    vec y = x;
    for (int i = 0; i < VEC; i++) y[i] = sqrt(x[i]);
    return y;
}
LANE_FUNCTION vec vec_log(vec x) {
    vec y = x;
    for (int i = 0; i < VEC; i++) y[i] = shoal_log(x[i]);
    return y;
}
/* x 2^k, shifted = 1.5 2^52 + k. */
LANE_FUNCTION vec vec_add_exponent(vec x, vec shifted) {
    return (vec)((vec_mask)x + ((vec_mask)shifted << 52));
}
#endif

/* terms[0] x^(count - 1) + ... + terms[count - 1], count a multiple of 4: four sums that do not wait for each other. */
LANE_FUNCTION vec vec_series(const double *terms, int count, vec x) {
    const vec square = x * x, fourth = square * square;
    vec a = vec_all(terms[0]), b = vec_all(terms[1]), c = vec_all(terms[2]), d = vec_all(terms[3]);
    UNROLLED
    for (int i = 4; i < count; i += 4) {
        a = vec_fma(a, fourth, vec_all(terms[i]));
        b = vec_fma(b, fourth, vec_all(terms[i + 1]));
        c = vec_fma(c, fourth, vec_all(terms[i + 2]));
        d = vec_fma(d, fourth, vec_all(terms[i + 3]));
    }
    return vec_fma(vec_fma(a, x, b), square, vec_fma(c, x, d));
}

/* e^x within an ulp or two; x up to 700; 0 below -708. */
LANE_FUNCTION vec vec_exp(vec x) {
    const double terms[12] = { 0,
                               0x1.1f730349868cep-29,
                               0x1.af4de97ca4194p-26,
                               0x1.27e4db646b17ep-22,
                               0x1.71de0231960ebp-19,
                               0x1.a01a01a6d889cp-16,
                               0x1.a01a01abe7fe1p-13,
                               0x1.6c16c16c162d4p-10,
                               0x1.11111111100dcp-7,
                               0x1.5555555555556p-5,
                               0x1.5555555555557p-3,
                               0.5 };
    const vec_mask normal = x > vec_all(-708);
    x = vec_max(x, vec_all(-708));
    const vec shifted = vec_fma(x, vec_all(0x1.71547652b82fep+0), vec_all(0x1.8p52));
    const vec k = shifted - vec_all(0x1.8p52);
    vec r = vec_fma(-k, vec_all(0x1.62e42fefa38p-1), x);
    r = vec_fma(-k, vec_all(0x1.ef35793c7673p-45), r);
    const vec value = vec_fma(r * r, vec_series(terms, 12, r), r) + vec_all(1);
    return vec_select(normal, vec_add_exponent(value, shifted), vec_all(0));
}

#endif
