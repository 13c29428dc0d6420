/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_value.c - prices out of the layers of a PDE: cubic interpolation in log S through the four nearest
 * nodes, and its derivatives, with F = e^(-r (T - t)) u, F_S = F_x / S, F_SS = (F_xx - F_x) / S^2.
 */
#include "models/pde_plan.h"
#include "pricing/black.h"

/* Value and two derivatives at t of the cubic through y at 0, 1, 2, 3: Newton's form. */
static void cubic(const double *y, double t, double out[3]) {
    const double d1 = y[1] - y[0], d2 = y[2] - 2 * y[1] + y[0];
    const double d3 = y[3] - 3 * y[2] + 3 * y[1] - y[0];
    out[0] = y[0] + t * (d1 + (t - 1) * (d2 / 2 + (t - 2) * d3 / 6));
    out[1] = d1 + (2 * t - 1) * d2 / 2 + (3 * t * t - 6 * t + 2) * d3 / 6;
    out[2] = d2 + (t - 1) * d3;
}

/* At maturity there is nothing to interpolate. */
static void at_maturity(const shoal_bullet *m, const shoal_bullet_point *at, shoal_price_value *v) {
    const int pays = at->j >= m->p1 && at->j <= m->p2;
    *v = (shoal_price_value){ .price = pays ? black_payoff(at->x, m->strike, 0) : 0,
                              .delta = pays && at->x > m->strike };
}

shoal_status shoal_pde_value(const shoal_pde *plan, int64_t option, const shoal_bullet_point *at,
                             const double *values, shoal_price_value *value) {
    if (!plan) return SHOAL_E_ARG;
    const shoal_array given[] = { { "at", at, 0 }, { "values", values, 0 }, { "value", value, 0 } };
    shoal_status s = shoal_check_count(plan->head.ctx, "option", option, 0, plan->count - 1);
    if (s == SHOAL_OK) s = shoal_check_pointers(plan->head.ctx, given, 3);
    if (s != SHOAL_OK) return s;
    if (at->k < 0 || at->k > plan->d.steps || at->j < 0 || !(at->x > 0))
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "at is k %lld, x %g, j %lld",
                          (long long)at->k, at->x, (long long)at->j);
    const pde_option *o = &plan->option[option];
    const int64_t nx = plan->job.nx;
    *value = (shoal_price_value){ 0 };
    if (at->k == plan->d.steps) {
        at_maturity(&plan->bullet[option], at, value);
        return SHOAL_OK;
    }
    const double place = (log(at->x) - o->low) / o->dx;
    if (!(place >= 0 && place <= (double)(nx - 1))) {
        value->price = value->delta = value->gamma = NAN;
        return SHOAL_OK;
    }
    if (at->j >= plan->job.counts) return SHOAL_OK; /* too many already */
    int64_t first = (int64_t)place - 1;
    first = first < 0 ? 0 : first > nx - 4 ? nx - 4 : first;
    double u[3];
    cubic(values + at->j * nx + first, place - (double)first, u);
    const double tau = (double)(plan->d.steps - at->k) * plan->d.dt;
    const double discount = exp(-o->rate * plan->bullet[option].maturity *
                                (tau / (plan->d.dt * (double)plan->d.steps)));
    const double slope = u[1] / o->dx, bend = u[2] / (o->dx * o->dx);
    value->price = discount * u[0];
    value->delta = discount * slope / at->x;
    value->gamma = discount * (bend - slope) / (at->x * at->x);
    return SHOAL_OK;
}

/* ---- the method pde of a bullet plan --------------------------------------------------------- */

static shoal_status solve(shoal_pde *pde, int64_t layers, double *host) {
    shoal_context *ctx = pde->head.ctx;
    const int64_t numbers = layers * pde->job.counts * pde->job.nx;
    const size_t size = shoal_type_bytes(pde->head.type);
    void *memory = NULL, *to = NULL;
    shoal_status s = shoal_alloc(ctx, (size_t)numbers * size, &memory);
    if (layers > 1) to = memory;
    if (s == SHOAL_OK)
        s = pde->head.type == SHOAL_F32 ? shoal_pde_runf(pde, to ? NULL : memory, to)
                                        : shoal_pde_run(pde, to ? NULL : memory, to);
    if (s == SHOAL_OK) s = shoal_copy(ctx, host, memory, (size_t)numbers * size);
    if (s == SHOAL_OK && pde->head.type == SHOAL_F32) /* in place, from the end */
        for (int64_t i = numbers - 1; i >= 0; i--) host[i] = (double)((const float *)host)[i];
    shoal_free(ctx, memory);
    return s;
}

shoal_status shoal_bullet_pde(const shoal_price *plan, shoal_price_value *values) {
    const bullet_plan *p = (const bullet_plan *)plan;
    shoal_pde *pde = NULL;
    shoal_status s = shoal_pde_create(plan->head.ctx, &p->model, 1, &p->pde, &pde);
    if (s != SHOAL_OK) return s;
    int64_t latest = 0;
    for (int64_t i = 0; i < plan->groups; i++)
        if (p->points[i].k > latest) latest = p->points[i].k;
    const int64_t layers = latest > 0 ? pde->d.steps + 1 : 1;
    const int64_t layer = pde->job.counts * pde->job.nx;
    double *host = NULL;
    s = shoal_plan_host(&pde->head, layers * layer, sizeof *host, &host);
    if (s == SHOAL_OK) s = solve(pde, layers, host);
    for (int64_t i = 0; i < plan->groups && s == SHOAL_OK; i++) {
        shoal_bullet_point at = p->points[i];
        at.j = bullet_count(&p->model, &p->d, &at, at.x);
        s = shoal_pde_value(pde, 0, &at, host + (layers > 1 ? at.k * layer : 0), &values[i]);
        if (s == SHOAL_OK && isnan(values[i].price))
            s = shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                           "points[%lld]: x is %g; the grid of pde reaches from %g to %g",
                           (long long)i, at.x, exp(shoal_pde_log(pde, 0, 0)),
                           exp(shoal_pde_log(pde, 0, pde->job.nx - 1)));
    }
    shoal_pde_free(pde);
    return s;
}
