/* SPDX-License-Identifier: Apache-2.0
 *
 * residual.h - how good an answer is.
 *
 * Every row is scaled by a power of two, 2^-e with 2^e <= max(|dl_i|, |d_i|, |du_i|) < 2^(e+1). The residual is
 *     max_i |b_i - (A x)_i| 2^-e_i / max_j |x_j|:
 * the size of a change of the entries of A, each relative to the power of two of its row, for which x would be
 * exact. No row hides behind a larger one. (|b_i| beside |x| below the line would change it by a factor of 2 at the
 * most: b_i is the row's residual and a sum of its three products.)
 *
 * Rows are brought to 1/8 .. 1/4 before they are multiplied by x, so that no product and no sum overflows. A row of
 * subnormal numbers cannot be brought there at once: with one the residual is NaN, doubtful. Where products underflow,
 * their rounding errors count, b's and three products': up to LOST. A b that is not 0 does not become 0.
 */
#ifndef SHOAL_TRIDIAG_RESIDUAL_H
#define SHOAL_TRIDIAG_RESIDUAL_H

#include "core/real.h"
#include "core/twice.h"

/* Scaled rows are ROW_UNIT times rows whose largest entry is between 1 and 2. */
#define ROW_UNIT ((real)0.125)

#define LOST (3 * REAL_TINY)

/* 2^e for the largest of a row, 0 where that is subnormal. */
SHOAL_HD static inline real row_power(real dl, real d, real du) {
#if defined(__CUDA_ARCH__) && !defined(SHOAL_SINGLE)
    const int exponent = 0x7ff00000; /* by integers, which the unit for doubles does not see */
    const int most = max(max(__double2hiint(dl) & exponent, __double2hiint(d) & exponent),
                         __double2hiint(du) & exponent);
    return __hiloint2double(most, 0);
#else
    return power_of_two_in(real_max(real_max(real_abs(dl), real_abs(d)), real_abs(du)));
#endif
}

/* The power of two that scales a row: ROW_UNIT / power. Of the largest rows it is subnormal, but what it scales is
 * not. */
SHOAL_HD static inline real row_scale(real power) {
    const real_bits one = (real_bits)1 << REAL_FRACTION, e = real_to_bits(power);
    const real inverse =
        real_of_bits((2 * REAL_BIAS + 1) * one - (e > one ? e : one)); /* 2 / power */
    return inverse * (ROW_UNIT / 2);
}

/* The upper half of a double, or a float: sign, exponent and 20 bits or more of the fraction. Those of sizes order
 * like the sizes, NaN above all: integer units find the largest, over a warp in one instruction. */
SHOAL_HD static inline int32_t high_of(real v) {
    return (int32_t)(real_to_bits(v) >> (8 * (sizeof(real) - sizeof(int32_t))));
}
SHOAL_HD static inline real from_high(int32_t high) {
    return real_of_bits((real_bits)high << (8 * (sizeof(real) - sizeof(int32_t))));
}
/* Running maxima of one system and right-hand side; all zero to begin with. */
typedef struct norms {
    real r, x;   /* of the scaled rows' residuals, and of |x|      */
    real poison; /* 0, or NaN once something is not known          */
} norms;

/* Takes one scaled row in: dl left + d x + du right = b. */
SHOAL_HD static inline void norms_scaled_row(norms *m, real dl, real d, real du, real b, real left,
                                             real x, real right) {
    const real r = real_mad(-du, right, real_mad(-d, x, real_mad(-dl, left, b)));
    m->r = real_max(real_abs(r), m->r);
    m->x = real_max(real_abs(x), m->x);
    m->poison = poisoned(m->poison, r);
}

/* Takes one row in as the caller has it. */
SHOAL_HD static inline void norms_row(norms *m, real dl, real d, real du, real b, real left, real x,
                                      real right) {
    const real power = row_power(dl, d, du), scale = row_scale(power);
    const real rhs = b * scale == 0 && b != 0 ? REAL_TINY : b * scale;
    norms_scaled_row(m, dl * scale, d * scale, du * scale, rhs, left, x, right);
    if (power == 0) m->poison = real_nan();
}

/* ---- a second look ---------------------------------------------------------------------------- */

/* Whether the rounding of a residual, or underflow in it, could turn the verdict. */
SHOAL_HD static inline int is_doubtful(float residual, double tol) {
    return !((double)residual <= tol / 2 || (double)residual > 2 * tol + 64 * REAL_EPSILON);
}

SHOAL_HD static inline real scaled_by(real v, int exponent) {
    return (real)scalbn((double)v, exponent);
}

/* |r_i| 2^-e_i 2^-exponent in twice the precision, the exponent being that of the largest |x|. */
SHOAL_HD static inline real exact_row(real dl, real d, real du, real b, real left, real x,
                                      real right, int exponent) {
    const real most = real_max(real_max(real_abs(dl), real_abs(d)), real_abs(du));
    const int row = most > 0 ? ilogb((double)most) : 0;
    twice r = twice_of(scaled_by(b, -row - exponent));
    r = twice_less(r, scaled_by(dl, -row), scaled_by(left, -exponent));
    r = twice_less(r, scaled_by(d, -row), scaled_by(x, -exponent));
    r = twice_less(r, scaled_by(du, -row), scaled_by(right, -exponent));
    return real_abs(real_of_twice(r));
}

/* The residual of a system whose numbers lie `row`, those of b `rhs_row` and those of x `step` apart. */
SHOAL_HD static inline float exact_residual(int64_t n, const real *dl, const real *d,
                                            const real *du, int64_t row, const real *b,
                                            int64_t rhs_row, const real *x, int64_t step) {
    real most = 0, r = 0;
    for (int64_t i = 0; i < n; i++) most = real_max(real_abs(x[i * step]), most);
    if (most == 0) {
        for (int64_t i = 0; i < n; i++)
            if (b[i * rhs_row] != 0) return INFINITY;
        return 0;
    }
    const int exponent = ilogb((double)most);
    for (int64_t i = 0; i < n; i++)
        r = real_max(exact_row(i > 0 ? dl[i * row] : 0, d[i * row], i + 1 < n ? du[i * row] : 0,
                               b[i * rhs_row], i > 0 ? x[(i - 1) * step] : 0, x[i * step],
                               i + 1 < n ? x[(i + 1) * step] : 0, exponent),
                     r);
    return r == 0 ? 0 : (float)(r / scaled_by(most, -exponent));
}

SHOAL_HD static inline float norms_residual(const norms *m) {
    if (!(m->poison == 0)) return NAN;
    if (m->r == 0 && (m->x == 0 || m->x > REAL_MIN / REAL_EPSILON)) return 0;
    return (float)((m->r + LOST) / ROW_UNIT / m->x);
}

#endif
