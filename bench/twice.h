/* SPDX-License-Identifier: Apache-2.0
 *
 * twice.h - sums of products as if in twice the precision of double, for the checks of answers.
 *
 * Dekker's product by fma and Knuth's sum: what rounding loses of either is known exactly and kept
 * in `low`. About 10 operations a product.
 */
#ifndef BENCH_TWICE_H
#define BENCH_TWICE_H

#include <math.h>

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

#endif
