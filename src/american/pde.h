/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.h - American and Bermudan options on one asset by finite differences, one option per lane: what pde_plan.c
 * makes, and pde.c and pde.cu compute.
 *
 * X is the price without the value of later cash dividends, K_t the strike less that value (Buehler's escrowed model,
 * src/cva/escrow.c). A put is f = V / K_T on y = log(X / K_T), a call f = V / X on y = log(K_T / X), which exchanges rate
 * r and yield q. Either is a put that pays alpha_t - beta_t e^y, with (alpha, beta) = (K_t / K_T, 1) or (1, K_t / K_T):
 *
 *     f_tau = sigma^2 / 2 (f_yy - f_y) + (r - q) f_y - r f,   f >= alpha - beta e^y where exercise is possible.
 *
 * The grid is even in xi, y = b sinh(xi), so that nodes are dense at the strike, one of them on it. With w half of the
 * variance of a step, m the integral of r - q - sigma^2 / 2 and A, T, G of the node,
 *
 *     (M f)_i = L (f_(i-1) - f_i) + U (f_(i+1) - f_i) - r f_i,   U, L = w A +- (m G - w T),
 *
 * a record takes f to (1 - M/2)^-1 (1 + x M/2) f: Crank and Nicolson's step (x = 1), or an implicit step of half that
 * length (x = 0; Rannacher's start, two steps as four of them, after maturity, exercise dates and dividends). Exercise
 * at any time: M is eliminated from the top, and substituted upwards from the exercise region, where the larger of
 * solution and payoff is taken (Brennan and Schwartz, 1977), which solves the linear complementarity problem exactly
 * since the region is an interval at the lower end. So time steps and solver are one loop, and the solvers of
 * src/tridiag, which return x alone, do not serve.
 *
 * On exercise dates f becomes max(f, payoff). Its slope jumps by J per node at a part t of a cell before a node. For
 * sums over the nodes to be integrals up to third order, that node gets J (t^2 - t + 1/6) / 2 less what the one on the
 * other side gets, J (t^3 / 6 - t / 12): then errors fall like h^2 for every position of the boundary, and prices are
 * extrapolated from two grids. The strike is on a node: J / 12.
 */
#ifndef SHOAL_AMERICAN_PDE_H
#define SHOAL_AMERICAN_PDE_H

#include <shoal/american.h>

enum {
    PDE_LANES = 16,
    PDE_NEAR = 6
}; /* lines of a pack; nodes about the price today that are the result */

/* Of a line: the number of the strike's node, the step in xi, b, and the first of the nodes that are the result. */
enum { PDE_STRIKE, PDE_STEP, PDE_WIDTH, PDE_FIRST, PDE_GRID };

/* Of a record: half of the step's integrals, x; the payoff during the step, at the lowest node, and on a date that
 * begins the step: alpha is PDE_NEVER if there is none. */
enum {
    PDE_VARIANCE,
    PDE_DRIFT,
    PDE_RATE,
    PDE_OLD,
    PDE_ALPHA,
    PDE_BETA,
    PDE_LOW_ALPHA,
    PDE_LOW_BETA,
    PDE_DATE_ALPHA,
    PDE_DATE_BETA,
    PDE_NUMBERS
};
#define PDE_NEVER (-1e300)

/* Arrays of a line in work. */
enum { PDE_A, PDE_T, PDE_G, PDE_E, PDE_F, PDE_D, PDE_U, PDE_WORK };

typedef struct pde_lines {
    int64_t lines, records; /* lines: the distance between numbers of a line in these arrays */
    int nodes;
    const double *grid;   /* [PDE_GRID]                */
    const double *record; /* [records][PDE_NUMBERS]    */
    double *near;         /* [PDE_NEAR]                */
    double *work;         /* [PDE_WORK][nodes], vectors */
} pde_lines;

typedef struct pde_method { /* of the CPU: PDE_LANES lines */
    void (*run)(const pde_lines *job);
} pde_method;

typedef struct pde_cuda_method {
    shoal_status (*run)(shoal_context *ctx, const pde_lines *job);
} pde_cuda_method;

#endif
