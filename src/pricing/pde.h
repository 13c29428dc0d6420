/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.h - bullet options by Crank and Nicolson's scheme (Projects, section 6), for both compilers.
 *
 * u(t, x, j) = e^(r (T - t)) F(t, e^x, j) solves sigma^2/2 u_xx + mu u_x = -u_t between two dates, with
 * mu = r - sigma^2/2; one step back in time is
 *
 *     q_d u'_{i-1} + q_m u'_i + q_u u'_{i+1} = p_d u_{i-1} + p_m u_i + p_u u_{i+1},
 *     p_u, p_d = s +- m, p_m = 1 - 2 s, q_u = -p_u, q_d = -p_d, q_m = 1 + 2 s,
 *     s = sigma^2 dt / (4 dx^2), m = mu dt / (4 dx).
 *
 * At a counted date u(x, j) becomes u(x, j + 1) below the barrier. On the grid that is a mixture in the
 * one cell that log B cuts: with the share f_i of cell i that is below, f_i u(j + 1) + (1 - f_i) u(j).
 * A sharp f would leave an error of order dx. At the lower end u = 0; at the upper one, e^x = w K, the
 * count no longer changes (w K above B), or changes at every date that is left (below):
 * u = (w K e^(r (T - t)) - K) 1{P1 <= j (+ dates left) <= P2}. As printed: f sharp, and u = 2 K.
 *
 * The matrix is the same at every step, so both solvers have what depends on it alone made beforehand:
 *
 *   thomas  y_i = l_i y_{i-1} + r_i d_i,  z_i = y_i + c_i z_{i+1}
 *   pcr     level by level, h = 1, 2, 4, ..: d_i += l_i d_{i-h} + c_i d_{i+h}; at last z_i = r_i d_i. Levels
 *           whose numbers are below half an ulp would change nothing and are left out: with a dominant
 *           diagonal few remain.
 */
#ifndef SHOAL_PRICING_PDE_H
#define SHOAL_PRICING_PDE_H

#include "core/real.h"
#include "pricing/black.h"
#include "pricing/pde_plan.h"

/* Value at x_i after the jump of a date, from u(., j) and u(., j + 1), NULL if that is nothing. */
SHOAL_HD static inline real pde_jump(real share, const real *u, const real *above, int64_t i) {
    return real_fma(share, (above ? above[i] : 0) - u[i], u[i]);
}

SHOAL_HD static inline real pde_right(const pde_numbers *n, const real *u, int64_t i) {
    return real_fma((real)n->p_u, u[i + 1], real_fma((real)n->p_d, u[i - 1], (real)n->p_m * u[i]));
}

/* The payoff at maturity, T counted. */
SHOAL_HD static inline double pde_payoff(const pde_option *o, int64_t j, int64_t i) {
    if (j < o->p1 || j > o->p2) return 0.0;
    return black_payoff(shoal_exp(fma((double)i, o->dx, o->low)), o->strike, 0);
}

/* The upper end's value for count j, `left` counted dates before maturity, tau from it. */
SHOAL_HD static inline double pde_upper(const pde_option *o, int64_t j, int64_t left, double tau) {
    if (o->as_printed) return 2.0 * o->strike;
    const int64_t count = o->above ? j : j + left;
    const double value = fma(o->top, shoal_exp(o->rate * tau), -o->strike);
    return count >= o->p1 && count <= o->p2 ? value : 0.0;
}

#endif
