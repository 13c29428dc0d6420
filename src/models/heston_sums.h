/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_sums.h - sums of Heston's integrands over points that all strikes of a maturity share.
 */
#ifndef SHOAL_MODELS_HESTON_SUMS_H
#define SHOAL_MODELS_HESTON_SUMS_H

#include <stdint.h>

enum { HESTON_PARTS = 4, HESTON_LANES = 8 }; /* integrands: value, delta, gamma, vega */

/* At point i: u; phi(u - i/2) / q, times the point's weight; D (heston_analytic.c has the formulas). */
typedef struct heston_nodes {
    double *u, *re, *im, *slope_re, *slope_im;
} heston_nodes;

typedef struct heston_sums {
    /* Adds the integrands with e^(iuk) at the points [from, to), multiples of HESTON_LANES. */
    void (*add)(const heston_nodes *nodes, int64_t from, int64_t to, double k,
                double sums[HESTON_PARTS]);
} heston_sums;

#endif
