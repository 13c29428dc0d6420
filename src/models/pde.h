/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.h - bullet options by Crank and Nicolson's scheme (L. Abbas-Turki, "Projects: Merge Sort,
 * Monte Carlo and PDE simulations", project sheet of a course, December 2024, unpublished,
 * section 6), for both compilers.
 *
 * u(t, x, j) = e^(r (T - t)) F(t, e^x, j) solves sigma^2/2 u_xx + mu u_x = -u_t between two
 * dates, with mu = r - sigma^2/2. With s = sigma^2 dt / (4 dx^2), m = mu dt / (4 dx) and
 *
 *     (A u)_i = (s + m) (u_{i+1} - u_i) + (s - m) (u_{i-1} - u_i)
 *
 * a system takes u c/2 steps of dt back in time by adding v to it, (I - A) v = c A u: c = 2 is
 * Crank and Nicolson's, c = 1 an implicit half step. As increments v are small beside u, and so
 * are their roundings; for u' itself coefficients rounded to float move u by s ulps per step,
 * always to one side.
 *
 * After the payoff's kink and after every jump Crank and Nicolson hardly damp the short waves:
 * by (1 - 4 s) / (1 + 4 s) per step. So each interval begins with systems of c = 1, 1, 1 and 3,
 * which make three steps: with z an eigenvalue of 2 A they multiply by (1 + z) / (1 - z/2)^4,
 * which is e^(3 z) to second order, and at most 16 / |z|^3. (Rannacher's start-up, c = 1 alone,
 * damps as well but is of first order, and dates are many.) Intervals of one or two steps are
 * half steps alone.
 *
 * At a counted date u(x, j) becomes u(x, j + 1) below the barrier: on the grid the mixture f_i
 * u(j + 1) + (1 - f_i) u(j). A sharp f would leave an error of order dx. Here sums of f_i g(x_i)
 * dx are integrals of g up to log B, of every g up to third order in dx: between nodes, at log B
 * = x_i + a dx, f_i = 1 - (1 - a)^2/2 + 1/12, f_{i+1} = a^2/2 - 1/12.
 *
 * At the lower end u = 0; at the upper one, e^x = w K, the count no longer changes (w K above
 * B), or changes at every date that is left (below): u = (w K e^(r (T - t)) - K) 1{P1 <= j (+
 * dates left) <= P2}. As printed: f sharp, u = 2 K, and c = 2 alone.
 *
 * The matrix is the same at every step. What depends on it alone is computed beforehand:
 *
 *   thomas  y_i = l_i y_{i-1} + r_i b_i,  z_i = y_i + u_i z_{i+1}
 *   pcr     level by level, h = 1, 2, 4, ..: b_i += l_i b_{i-h} + u_i b_{i+h}; at last z_i = r_i b_i. Levels
 *           whose numbers are below half an ulp change nothing and are left out: with a dominant diagonal
 *           few remain.
 *
 * The cores of src/tridiag eliminate dl, d and du along with b; here these are the same for all
 * systems. Its kept factors take one launch per solve; here an interval is one.
 */
#ifndef SHOAL_MODELS_PDE_H
#define SHOAL_MODELS_PDE_H

#include "core/real.h"
#include "pricing/black.h"
#include "models/plan.h"

/* Value at x_i after the jump of a date, from u(., j) and u(., j + 1), NULL if that is nothing. */
SHOAL_HD static inline real pde_jump(real share, const real *u, const real *above, int64_t i) {
    return real_fma(share, (above ? above[i] : 0) - u[i], u[i]);
}

/* c (A u)_i; up and down are c (s + m), c (s - m). */
SHOAL_HD static inline real pde_right(real up, real down, const real *u, int64_t i) {
    return real_fma(up, u[i + 1] - u[i], down * (u[i - 1] - u[i]));
}

/* The payoff at maturity, T counted. */
SHOAL_HD static inline double pde_payoff(const pde_option *o, int64_t j, int64_t i) {
    if (j < o->p1 || j > o->p2) return 0.0;
    return black_payoff(shoal_exp(fma((double)i, o->dx, o->low)), o->strike, 0);
}

/* e^(r (T - t)) at the later date of an interval, `after` time steps before maturity. */
SHOAL_HD static inline double pde_later(const pde_option *o, double after) {
    return shoal_exp(o->rate * (after * o->dt));
}

/* The upper end's value for count j, `left` counted dates before maturity, growth e^(r (T - t)). */
SHOAL_HD static inline double pde_upper(const pde_option *o, int64_t j, int64_t left,
                                        double growth) {
    if (o->as_printed) return 2.0 * o->strike;
    const int64_t count = o->above ? j : j + left;
    return count >= o->p1 && count <= o->p2 ? fma(o->top, growth, -o->strike) : 0.0;
}

#endif
