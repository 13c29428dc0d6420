/* SPDX-License-Identifier: Apache-2.0
 *
 * hazard.c - a hazard rate that moves with the assets, and keeps the default probabilities of the known one.
 *
 *     lambda = phi_k e^y on step k,   dy = -a y dt + nu dW,   y_0 = 0,   d<W, B_i> = rho_i dt,
 *
 * with phi_k the deterministic shift of its logarithm. y and the Brownian motions of the assets are exactly Gaussian
 * from date to date; the integral of lambda over a step is that of trapezoids, phi_k dt (e^y_(k-1) + e^y_k) / 2. phi_k
 * is such that the mean chance of survival is that of the known rate, P_k. With g_k(y) the chance to survive to t_k
 * given y_k = y,
 *
 *     g_k(y) = e^(-phi dt e^y / 2) E[g_(k-1)(y') e^(-phi dt e^y' / 2)],   P_k = E g_k(y_k),
 *
 * y' = y_(k-1) given y_k = y is normal. g_k is smooth: it is kept on a grid of y over its deviation, with
 * interpolation of order INTERPOLATION, and means are sums over equidistant points of the normal law. With a
 * volatility of 1.5 and 5 years phi changes by 1e-10 with four times as many points.
 */
#include "american/plan.h"
#include "cva/span.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 257, INTERPOLATION = 8, NORMALS = 10, ROUNDS = 60 };
#define REACH   8.5  /* of the grid, in deviations                */
#define SPACING 0.75 /* of the points of a mean, in deviations     */

shoal_status shoal_cva_check_hazard(shoal_context *ctx, const shoal_cva_counterparty *c,
                                    int64_t assets) {
    const shoal_bound bounds[] = { { "volatility", c->volatility, 0, 10 },
                                   { "reversion", c->reversion, 0, 1e3 } };
    shoal_status s = shoal_check_bounds(ctx, bounds, 2);
    for (int64_t a = 0; a < assets && s == SHOAL_OK; a++) {
        if (c->correlation)
            s = shoal_fail_at(ctx,
                              shoal_check_number(ctx, "correlation", a, c->correlation[a], -1, 1),
                              "counterparty", -1, "");
        if (s == SHOAL_OK && c->jump)
            s = shoal_check_number(ctx, "jump", a, c->jump[a], -0.999, 1e3);
    }
    return s;
}

/* ---- the shift ----------------------------------------------------------------------------------- */

enum { EACH_SIDE = 2 * NORMALS + 1 };

typedef struct grid {
    double g[POINTS]; /* at date k - 1, of y over its deviation there */
    double deviation;
    double next[POINTS]; /* at date k */
    double rate[POINTS]; /* e^y       */
    /* at the points of the mean over y': e^y', and g times the weight */
    double before[POINTS][EACH_SIDE], weighted[POINTS][EACH_SIDE];
} grid;

/* (1 - e^(-x t)) / x */
static double rise(double x, double t) { return x * t > 1e-8 ? -expm1(-x * t) / x : t; }

/* g at y of date k - 1. */
static double g_at(const grid *b, double y) {
    if (!(b->deviation > 0)) return b->g[0];
    const double step = 2 * REACH / (POINTS - 1);
    const double place = fmin(fmax((y / b->deviation + REACH) / step, 0), POINTS - 1);
    int from = (int)place - (INTERPOLATION / 2 - 1);
    from = from < 0 ? 0 : from > POINTS - INTERPOLATION ? POINTS - INTERPOLATION : from;
    double sum = 0;
    for (int i = 0; i < INTERPOLATION; i++) {
        double factor = 1;
        for (int m = 0; m < INTERPOLATION; m++)
            if (m != i) factor *= (place - from - m) / (i - m);
        sum += factor * b->g[from + i];
    }
    return sum;
}

/* The points of date k, where y has this deviation, and y' = mean y + spread Z. */
static void make_points(grid *b, double deviation, double mean, double spread) {
    double weight[EACH_SIDE], total = 0;
    for (int n = 0; n < EACH_SIDE; n++) {
        const double z = SPACING * (n - NORMALS);
        total += weight[n] = shoal_exp(-0.5 * z * z);
    }
    for (int i = 0; i < POINTS; i++) {
        const double y = REACH * (2.0 * i / (POINTS - 1) - 1) * deviation;
        b->rate[i] = shoal_exp(y);
        for (int n = 0; n < EACH_SIDE; n++) {
            const double before = fma(mean, y, spread * SPACING * (n - NORMALS));
            b->before[i][n] = shoal_exp(before);
            b->weighted[i][n] = weight[n] / total * g_at(b, before);
        }
    }
}

/* Fills b->next for phi dt / 2 = half; the mean chance of survival. */
static double survival(grid *b, double half) {
    double all = 0, weights = 0;
    for (int i = 0; i < POINTS; i++) {
        const double x = REACH * (2.0 * i / (POINTS - 1) - 1), weight = shoal_exp(-0.5 * x * x);
        double sum = 0;
        for (int n = 0; n < EACH_SIDE; n++)
            sum += b->weighted[i][n] * shoal_exp(-half * b->before[i][n]);
        b->next[i] = sum * shoal_exp(-half * b->rate[i]);
        all += weight * b->next[i], weights += weight;
    }
    return all / weights;
}

/* phi dt / 2 with the mean chance `wanted`: by secants on its logarithm. */
static double find_half(grid *b, double wanted, double guess) {
    double x0 = 0, f0 = log(survival(b, 0) / wanted), x1 = guess, f1 = f0;
    if (!(f0 > 1e-15)) return 0;
    for (int round = 0; round < ROUNDS; round++) {
        f1 = log(survival(b, x1) / wanted);
        if (fabs(f1) < 1e-14 || f1 == f0) break;
        double x2 = x1 - f1 * (x1 - x0) / (f1 - f0);
        if (!(x2 > 0)) x2 = 0.5 * x1;
        if (fabs(x2 - x1) <= 1e-15 * x1) break;
        x0 = x1, f0 = f1, x1 = x2;
    }
    return x1;
}

/* ---- steps --------------------------------------------------------------------------------------- */

/* The row of the Cholesky factor of y: of the assets' normals; and what is left. */
static shoal_status make_load(shoal_cva *p, const shoal_cva_counterparty *c, double *load,
                              double *rest) {
    const int64_t d = p->job.prices, all = p->job.assets, e = d + 1;
    double *C = calloc((size_t)(e * e + e * (e + 1) / 2), sizeof *C), *L = C ? C + e * e : NULL;
    if (!C) return SHOAL_NO_MEMORY(p->head.ctx, "correlations");
    for (int64_t a = 0; a < e; a++)
        for (int64_t b = 0; b < e; b++) {
            const int64_t of = a < d ? a : b;
            C[a * e + b] = a < d && b < d   ? p->job.correlation[a * all + b]
                           : a == b         ? 1
                           : c->correlation ? c->correlation[of]
                                            : 0;
        }
    shoal_status s = shoal_correlation_factor(p->head.ctx, C, e, L);
    if (s == SHOAL_E_ARG)
        s = shoal_fail(p->head.ctx, SHOAL_E_ARG,
                       "hazard correlation with the assets is impossible: it does not fit to the "
                       "correlations among them");
    for (int64_t a = 0; a < d && s == SHOAL_OK; a++) load[a] = L[d * e / 2 + a];
    if (s == SHOAL_OK) *rest = L[d * e / 2 + d];
    free(C);
    return s;
}

int shoal_cva_jumps(const shoal_cva_counterparty *c, int64_t assets) {
    int any = 0;
    for (int64_t a = 0; a < assets && c->jump; a++) any |= c->jump[a] != 0;
    return any;
}

double shoal_cva_hazard_to(const shoal_cva_counterparty *c, double t) {
    double sum = 0, from = 0;
    for (int64_t i = 0; i < c->pieces && from < t; i++) {
        const double to = i + 1 < c->pieces && c->until[i] < t ? c->until[i] : t;
        sum += c->hazard[i] * (to - from);
        from = to;
    }
    return sum;
}

/* The steps of one counterparty; without a volatility y stays 0. */
static shoal_status make_steps(shoal_cva *p, const shoal_cva_counterparty *c, double *load,
                               cva_hazard_step *steps) {
    const cva_job *j = &p->job;
    const double a = c->reversion, nu = c->volatility;
    double rest = 1, before = 0, known = 0; /* before: the variance of y */
    grid *b = calloc(1, sizeof *b);
    shoal_status s =
        b ? make_load(p, c, load, &rest) : SHOAL_NO_MEMORY(p->head.ctx, "hazard rates");
    for (int i = 0; i < POINTS && s == SHOAL_OK; i++) b->g[i] = 1;
    for (int64_t k = 1; k <= j->dates && s == SHOAL_OK; k++) {
        const double dt = j->time[k] - j->time[k - 1], decay = exp(-a * dt);
        const double variance = nu * nu * rise(2 * a, dt);
        const double here = decay * decay * before + variance;
        /* the correlation of the increments of y and of a Brownian motion, over that of dW */
        const double along = fmin(rise(a, dt) / sqrt(dt * rise(2 * a, dt)), 1);
        const double own = 1 - along * along * (1 - rest * rest);
        const double now = shoal_cva_hazard_to(c, j->time[k]);
        make_points(b, sqrt(here), here > 0 ? decay * before / here : 0,
                    here > 0 ? sqrt(before * variance / here) : 0);
        steps[k - 1] =
            (cva_hazard_step){ .decay = decay,
                               .along = sqrt(variance) * along,
                               .across = sqrt(variance) * sqrt(fmax(own, 0)),
                               .half =
                                   now > known ? find_half(b, exp(-now), 0.5 * (now - known)) : 0 };
        survival(b, steps[k - 1].half);
        memcpy(b->g, b->next, sizeof b->g);
        b->deviation = sqrt(here), before = here, known = now;
    }
    free(b);
    return s;
}

shoal_status shoal_cva_make_hazard(shoal_cva *p, const shoal_cva_counterparty *c) {
    cva_job *j = &p->job;
    const int64_t d = j->assets;
    cva_hazard_step *steps;
    double *load, *jump;
    int moves = 0, jumps = 0;
    for (int64_t i = 0; i < j->parties; i++)
        moves |= c[i].volatility > 0, jumps |= shoal_cva_jumps(&c[i], j->prices);
    shoal_status s = shoal_plan_host(&p->head, d, sizeof *jump, &jump);
    if (s == SHOAL_OK && jumps) {
        if (c[0].jump) memcpy(jump, c[0].jump, (size_t)j->prices * sizeof *jump);
        j->jump = jump;
    }
    if (s != SHOAL_OK || !moves) return s;
    s = shoal_plan_host(&p->head, j->parties * d, sizeof *load, &load);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, j->parties * j->dates, sizeof *steps, &steps);
    for (int64_t i = 0; i < j->parties && s == SHOAL_OK; i++)
        s = make_steps(p, &c[i], load + i * d, steps + i * j->dates);
    j->hazard = steps, j->hazard_load = load;
    return s;
}
