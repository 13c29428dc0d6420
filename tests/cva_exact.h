/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_exact.h - the CVA of a Bermudan put or call on one asset by quadrature: no random numbers, no regression.
 *
 * On a uniform grid of the Brownian motion B, S = S0 e^((r - q - sigma^2 / 2) t + sigma B), back from the last date
 *
 *     C_k(B) = e^(-r dt) E V_(k+1),  V_k = payoff where payoff >= C_k (hold C_k elsewhere),
 *     U_k(B) = w_k V_k + [held or not stopped] E U_(k+1),   w_k = (1 - R) e^(-r t_k) P(t_(k-1) < tau <= t_k),
 *
 * and the CVA is E U_1. An expectation is a sum over the grid with the density of the step, which is exact
 * but for the kinks at strike and boundary; a cell that the boundary cuts is held in its share. So the
 * error is of second order in the spacing.
 */
#ifndef SHOAL_CVA_EXACT_H
#define SHOAL_CVA_EXACT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct exact_case {
    double spot, strike, rate, dividend, sigma, maturity, hazard, recovery;
    int put, dates, kept;
} exact_case;

typedef struct exact_grid {
    int half, taps; /* points on each side of 0; those that a step reaches on each side */
    double h, *density;
} exact_grid;

/* E f(B + step) at grid point i; beyond the grid f is what it is at the end. */
static inline double exact_mean(const exact_grid *g, const double *f, int i) {
    double sum = 0;
    for (int j = -g->taps; j <= g->taps; j++) {
        int at = i + j;
        at = at < -g->half ? -g->half : at > g->half ? g->half : at;
        sum += g->density[j] * f[at];
    }
    return sum;
}

/* The share of a line from a to b that is below 0. */
static inline double exact_below(double a, double b) {
    const double least = fmin(a, b), most = fmax(a, b);
    return most < 0 ? 1 : least >= 0 ? 0 : least / (least - most);
}

/* The share of the cell around a point in which exercise pays less than going on, the difference being
 * linear between points. */
static inline double exact_held(double before, double here, double after) {
    const double left = 0.5 * (before + here), right = 0.5 * (here + after);
    return 0.5 * (exact_below(left, here) + exact_below(here, right));
}

/* `fine` points to the deviation of a step. */
static inline double exact_cva(const exact_case *c, int fine) {
    const double dt = c->maturity / c->dates,
                 drift = c->rate - c->dividend - 0.5 * c->sigma * c->sigma;
    const int half = (int)ceil(8 * fine * sqrt((double)c->dates)), points = 2 * half + 1;
    exact_grid g = { .half = half, .taps = 8 * fine, .h = sqrt(dt) / fine };
    double *memory = calloc((size_t)(5 * points + 2 * g.taps + 1), sizeof *memory), total = 0;
    if (!memory) abort();
    double *V = memory + half, *U = V + points, *C = U + points, *later = C + points,
           *over = later + points;
    g.density = memory + 5 * points + g.taps;
    for (int j = -g.taps; j <= g.taps; j++)
        total += g.density[j] = exp(-0.5 * (double)j * j / ((double)fine * fine));
    for (int j = -g.taps; j <= g.taps; j++) g.density[j] /= total;
    for (int k = c->dates; k >= 1; k--) {
        const double t = k * dt, w = (1 - c->recovery) * exp(-c->rate * t) *
                                     (exp(-c->hazard * (t - dt)) - exp(-c->hazard * t));
        for (int i = -half; i <= half; i++) {
            C[i] = k < c->dates ? exp(-c->rate * dt) * exact_mean(&g, V, i) : 0;
            later[i] = k < c->dates ? exact_mean(&g, U, i) : 0;
        }
        for (int i = -half; i <= half; i++) {
            const double s = c->spot * exp(drift * t + c->sigma * g.h * i);
            const double gain = c->put ? c->strike - s : s - c->strike;
            over[i] = gain > 0 ? gain - C[i] : -1; /* out of the money nobody exercises */
        }
        for (int i = -half; i <= half; i++) {
            const double before = over[i > -half ? i - 1 : i], after = over[i < half ? i + 1 : i];
            const double held = c->kept ? 1 : exact_held(before, over[i], after);
            V[i] = C[i] + (over[i] > 0 ? over[i] : 0);
            U[i] = w * V[i] + held * later[i];
        }
    }
    const double cva = exact_mean(&g, U, 0);
    free(memory);
    return cva;
}

#endif
