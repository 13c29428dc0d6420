/* SPDX-License-Identifier: Apache-2.0
 *
 * heston_sums.h - Heston's characteristic function at points that all strikes of a maturity share, and sums of the
 * integrands over them.
 */
#ifndef SHOAL_MODELS_HESTON_SUMS_H
#define SHOAL_MODELS_HESTON_SUMS_H

#include <shoal/pricing.h>
#include <stdint.h>

/* Integrands: value, delta, gamma, and d value by v0; with gradients also by kappa, theta, sigma, rho. */
enum { HESTON_VALUE, HESTON_DELTA, HESTON_GAMMA, HESTON_V0, HESTON_PARTS, HESTON_ALL = 8 };
enum { HESTON_SLOPES = HESTON_ALL - HESTON_V0, HESTON_LANES = 8 };

/* Arrays of one number per point. f = phi(u - i/2) / q times the point's weight; slopes: d log phi by v0, kappa, theta,
 * sigma, rho (heston_analytic.c has the formulas). */
typedef struct heston_nodes {
    double *u, *weight, *re, *im, *slope_re[HESTON_SLOPES], *slope_im[HESTON_SLOPES];
} heston_nodes;
enum { HESTON_ARRAYS = 4 + 2 * HESTON_SLOPES };

/* Points [from, to) are multiples of HESTON_LANES; parts is HESTON_PARTS, or HESTON_ALL with gradients. */
typedef struct heston_sums {
    /* u = sinh(x) / 2 and weight = du/dx at x = (first + i) step, i = 0 .. to - from - 1. */
    void (*place)(const heston_nodes *nodes, int64_t from, int64_t to, double first, double step);
    /* f and slopes from u and weight. */
    void (*phi)(const shoal_heston *model, double maturity, const heston_nodes *nodes, int64_t from,
                int64_t to, int parts);
    /* Adds the integrands with e^(iuk). */
    void (*add)(const heston_nodes *nodes, int64_t from, int64_t to, double k, int parts,
                double *sums);
} heston_sums;

#endif
