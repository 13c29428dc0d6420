/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.h - American options on one asset by an integral equation for the exercise boundary: what exact_plan.c makes
 * and exact.c computes.
 *
 * A put is exercised where S <= B(tau), tau the time to maturity; with t = tau - u and d+-(t, x) = (log x + (r - q) t)
 * / (sigma sqrt t) +- sigma sqrt t / 2, Kim's formula (1990) is
 *
 *     V = European + Int_0^tau r K e^(-rt) Phi(-d-(t, S/B(u))) - q S e^(-qt) Phi(-d+(t, S/B(u))) du.
 *
 * dV/dS = -1 at S = B(tau) is the equation of the boundary:
 *
 *     e^(-q tau) Phi(d+(tau, B/K)) + Int_0^tau q e^(-qt) Phi(d+) + (q e^(-qt) phi(d+) - r K/B e^(-rt) phi(d-))
 *                                    / (sigma sqrt t) du = 0,   d+- = d+-(t, B(tau)/B(u)).
 *
 * As in Andersen, Lake and Offengenden (2016), X = K min(1, r/q) is B(0), H = log(B/X)^2 is interpolated at Chebyshev
 * points of sqrt(tau), and integrals are Gauss's. Unlike there, t = tau sin^2 a, which smooths both ends, and Newton's
 * method solves for all points together: its matrix also gives the derivatives of the boundary, and so vega and rho.
 * Points of integrals are the same parts of any maturity: one matrix interpolates H there, for all options.
 *
 * A call is the put with S and K, and r and q, exchanged.
 */
#ifndef SHOAL_AMERICAN_EXACT_H
#define SHOAL_AMERICAN_EXACT_H

#include <stdint.h>
#include <stddef.h>

enum { EXACT_LANES = 8 }; /* options of a pack */

/* Of a rule with n points, l points of the equation's integrals and p points of the price's. */
typedef struct exact_rule {
    int n, l, p;
    double settled;           /* of Newton's method: the last change of log(X/B), in parts of it */
    const double *x;          /* [n]: sqrt(tau / T), ascending to 1          */
    const double *z, *w;      /* [l]: sin a, and the weight of d(sin a)      */
    const double *one_over_z; /* [l]                                     */
    const double
        *matrix; /* the part of H_j in H at x_i cos a_k, at i of_row + k of_point + j of_node */
    int of_row, of_point, of_node;
    const double *price_z, *price_w, *price_matrix; /* the same from S: [p], [p], [p][n] */
} exact_rule;

/* Of Newton's method: passes at most, and the part of a step in a pass. */
enum { EXACT_PASSES = 60 };
#define exact_part(pass) ((pass) < 15 ? 1 : 0.5)

/* Puts with one exercise boundary, and what becomes of them. */
typedef struct exact_pack {
    double s[EXACT_LANES], k[EXACT_LANES], r[EXACT_LANES], q[EXACT_LANES], v[EXACT_LANES],
        maturity[EXACT_LANES];
    double of_q[EXACT_LANES]; /* 1: rho is d/dq, else 0: d/dr             */
    double price[EXACT_LANES], delta[EXACT_LANES], gamma[EXACT_LANES], vega[EXACT_LANES],
        rho[EXACT_LANES], boundary[EXACT_LANES];
    int failed[EXACT_LANES]; /* 1: Newton's method did not converge       */
} exact_pack;

/* greeks 0: price, boundary, failed. work: exact_numbers() doubles, aligned to 64 bytes. */
typedef struct exact_method {
    void (*run)(const exact_rule *rule, exact_pack *pack, int greeks, double *work);
} exact_method;

/* Odd: on the GPU threads have rows of the matrix in different banks. */
#define exact_stride(n) ((n) | 1)

/* Of an option's work. */
#define exact_numbers(n, l) ((n) * (exact_stride(n) + (l) + 5))

#endif
