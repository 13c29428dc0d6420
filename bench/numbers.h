/* SPDX-License-Identifier: Apache-2.0
 *
 * numbers.h - numbers of arrays of float or double, and what checks compute with them.
 *
 * Sums of products as if in twice the precision of double: by Dekker's product with fma and Knuth's sum
 * the rounding error of either is known exactly and kept in `low`. About 10 operations per product.
 */
#ifndef BENCH_NUMBERS_H
#define BENCH_NUMBERS_H

#include <float.h>
#include <math.h>
#include <shoal/shoal.h>
#include <stdint.h>

/* The function of that name for the type; functions for float end in f. */
#define BENCH_BY_TYPE(type, function, ...)                                                         \
    ((type) == SHOAL_F32 ? function##f(__VA_ARGS__) : function(__VA_ARGS__))

static inline double bench_number(shoal_type type, const void *array, int64_t at) {
    return type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static inline void bench_put_number(shoal_type type, void *array, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static inline double bench_epsilon(shoal_type type) {
    return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}

static inline double bench_smallest(shoal_type type) { /* above 0 */
    return type == SHOAL_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
}

/* The finalizer of splitmix64. */
static inline uint64_t bench_hash(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* high + low -= p q */
static inline void subtract_product(double *high, double *low, double p, double q) {
    double product = -p * q;
    double error = fma(-p, q, -product); /* product + error = -p q exactly */
    double sum = *high + product;
    double part = sum - *high;
    double lost = (*high - (sum - part)) + (product - part);
    *high = sum;
    *low += lost + error;
}

/* max_i |r_i| / (|A| |x| + |b|) of the norms; |A| |x| may overflow though |A| does not. */
static inline double bench_backward_error(double r, double norm_a, double norm_x, double norm_b) {
    const double scale = fmax(norm_x, 1);
    const double below = norm_x > 1 ? norm_a + norm_b / norm_x : norm_a * norm_x + norm_b;
    return r == 0 ? 0 : r / scale / below;
}

#endif
