/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.c - assets of Heston's model: what they allow, their variances as assets of a plan, the numbers of their steps,
 * and the tables of European values (surface.h).
 *
 * The table of a date. With the nodes w_n = n h, u_n = w_n / s and f the characteristic function over u^2 + 1/4 of
 * heston_sums.h, of Heston less that of Black with the same s,
 *
 *     T(y) = -1 / (pi s^2) sum_n h Re(e^(i w_n y) f(u_n)),
 *
 * the first term by half. The sum repeats itself in y after the length 2 pi / h, which is more than twice that of the
 * table. Terms end where they no longer count, or after MAX_NODES. cos and sin of w_n y serve all dates and all s.
 */
#include "core/loops.h"
#include "cva/surface.h"
#include "cva/span.h"
#include "models/heston_sums.h"
#include <math.h>
#include <stdlib.h>

SHOAL_DECLARE_CPU(heston_sums, heston_sums)
static const heston_sums *const sums[1][SHOAL_LEVEL_COUNT] = SHOAL_CPU_DOUBLE_CELLS(heston_sums);

enum { MAX_NODES = 4096 };
#define NODE_STEP (2 * 3.14159265358979324 / 56) /* h: the table ends at y = 21            */
#define SMALL     1e-8                           /* of T: what all terms left out may add  */
#define DEEPEST   6.0                            /* of log s below the largest             */
#define SPACING   0.1                            /* of log s                               */

/* ---- checks ------------------------------------------------------------------------------------- */

int shoal_cva_is_heston(const shoal_cva_market *m, int64_t a) {
    return m->heston && m->heston[a].sigma > 0;
}

shoal_status shoal_cva_check_heston(shoal_context *ctx, const shoal_cva_market *m,
                                    const shoal_cva_opts *o) {
    int64_t count = 0;
    shoal_status s = SHOAL_OK;
    for (int64_t a = 0; a < m->assets && m->heston && s == SHOAL_OK; a++) {
        const shoal_cva_heston *h = &m->heston[a];
        s = shoal_check_number(ctx, "heston.sigma", a, h->sigma, 0, 1e3);
        if (s != SHOAL_OK || h->sigma == 0) continue;
        count++;
        s = shoal_check_number(ctx, "heston.v0", a, h->v0, 0, 1e3);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "heston.kappa", a, h->kappa, 0, 1e3);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "heston.theta", a, h->theta, 0, 1e3);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "heston.rho", a, h->rho, -1, 1);
        const char *what = m->sigmas && m->sigmas[a].count > 0 ? "a curve of volatilities"
                           : m->cash && m->cash[a].count > 0   ? "cash dividends"
                                                               : NULL;
        if (s == SHOAL_OK && what)
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "heston[%lld] is given; an asset of Heston's model has no %s",
                           (long long)a, what[0] == 'a' ? what + 2 : what);
    }
    if (s != SHOAL_OK || !count) return s;
    const char *what = o->estimator == SHOAL_CVA_BY_INNER ? "estimator inner"
                       : o->greeks || o->gammas           ? "sensitivities"
                       : o->nested                        ? "inner paths of European contracts"
                                                          : NULL;
    if (what)
        return shoal_fail(ctx, SHOAL_E_ARG, "heston is given; there is no Heston model with %s",
                          what);
    if (m->assets + count > SHOAL_CVA_ASSETS)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "assets is %lld, of which %lld are of Heston's model and count twice; "
                          "there can be %d",
                          (long long)m->assets, (long long)count, SHOAL_CVA_ASSETS);
    return s;
}

shoal_status shoal_cva_check_heston_contract(shoal_context *ctx, const shoal_cva_market *m,
                                             const shoal_cva_contract *c) {
    const int form = shoal_cva_form(c->payoff), one = c->assets == 1;
    const char *name = shoal_cva_payoffs((int)c->payoff);
    int any = 0;
    for (int64_t n = 0; n < c->assets; n++) any |= shoal_cva_is_heston(m, c->asset[n]);
    if (!any || form & CVA_ANY_SIGN) return SHOAL_OK;
    if (form & (CVA_BARRIER | CVA_MEAN | CVA_DIGITAL) ||
        (!one && (!c->american || !(form & CVA_OF_SUM))) ||
        (one && !c->american && c->weight && !(c->weight[0] > 0)))
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "%s %s is not supported on an asset of Heston's model; puts and calls on "
                          "it, forwards, and baskets with early exercise are",
                          c->american ? "american" : "european", name);
    return SHOAL_OK;
}

/* ---- variances and their steps ------------------------------------------------------------------ */

shoal_status shoal_cva_make_variances(shoal_cva *p, const shoal_cva_market *m) {
    cva_job *j = &p->job;
    cva_heston *list;
    for (int64_t a = 0; a < m->assets; a++) j->hestons += shoal_cva_is_heston(m, a);
    const shoal_status s = shoal_plan_host(&p->head, j->hestons, sizeof *list, &list);
    j->heston = list;
    for (int64_t a = 0, i = 0; a < m->assets && s == SHOAL_OK; a++) {
        if (!shoal_cva_is_heston(m, a)) continue;
        const shoal_cva_heston *h = &m->heston[a];
        const double rest = (1 - h->rho) * (1 + h->rho);
        list[i] = (cva_heston){ .price = (int)a,
                                .variance = (int)(m->assets + i),
                                .rho = h->rho,
                                .rest = rest > 0 ? 1 / sqrt(rest) : 0,
                                .kappa = h->kappa,
                                .theta = h->theta,
                                .sigma = h->sigma };
        i++;
    }
    return s;
}

/* (1 - e^(-kappa t)) / kappa */
static double rise(double kappa, double t) {
    return kappa * t > 1e-8 ? -expm1(-kappa * t) / kappa : t;
}

shoal_status shoal_cva_make_steps(shoal_cva *p) {
    cva_job *j = &p->job;
    qe_numbers *qe;
    const shoal_status s = shoal_plan_host(&p->head, j->dates * j->hestons, sizeof *qe, &qe);
    j->qe = qe;
    for (int64_t k = 1; k <= j->dates && s == SHOAL_OK; k++)
        for (int i = 0; i < j->hestons; i++, qe++) {
            const cva_heston *h = &j->heston[i];
            const double dt = cva_time(j, k) - cva_time(j, k - 1);
            *qe = qe_numbers_by(h->kappa, h->theta, h->sigma, h->rho, dt,
                                0.5 * h->sigma * h->sigma * rise(h->kappa, dt), exp(-h->kappa * dt),
                                h->theta * -expm1(-h->kappa * dt));
        }
    return s;
}

/* ---- tables of European values ------------------------------------------------------------------ */

/* A variance that hardly any path exceeds at time t: its tail is exponential. */
static double largest(const cva_heston *h, double v0, double t) {
    const double decay = exp(-h->kappa * t), up = rise(h->kappa, t);
    const double square = h->sigma * h->sigma;
    const double mean = v0 * decay + h->theta * -expm1(-h->kappa * t);
    const double variance = square * up * (v0 * decay + 0.5 * h->theta * h->kappa * up);
    return mean + 8 * sqrt(variance) + 10 * square * up;
}

typedef struct turns { /* cos and sin of w_n y, [node][y >= 0] */
    double cosine[MAX_NODES][SURFACE_HALF + 1], sine[MAX_NODES][SURFACE_HALF + 1];
} turns;

static void make_turns(turns *t) {
    for (int n = 0; n < MAX_NODES; n++)
        for (int i = 0; i <= SURFACE_HALF; i++) {
            const double y = SURFACE_BEND * sinh(i * SURFACE_STEP);
            shoal_sincospi(n * (NODE_STEP / 3.14159265358979324) * y, &t->sine[n][i],
                           &t->cosine[n][i]);
        }
}

typedef struct room {
    double u[MAX_NODES], weight[MAX_NODES], re[MAX_NODES], im[MAX_NODES], unused[MAX_NODES];
} room;

/* T at one s, for all y. */
static void make_row(const heston_sums *method, const shoal_heston *model, double maturity,
                     double s, const turns *turn, room *r, double *to) {
    double even[SURFACE_HALF + 1] = { 0 }, odd[SURFACE_HALF + 1] = { 0 };
    heston_nodes nodes = { r->u, r->weight, r->re, r->im, { r->unused }, { r->unused } };
    const double scale = -1 / (3.14159265358979324 * s * s);
    int done = 0;
    for (int from = 0; from < MAX_NODES && !done; from += HESTON_LANES) {
        const int end = from + HESTON_LANES;
        for (int n = from; n < end; n++)
            r->u[n] = n * NODE_STEP / s, r->weight[n] = n ? NODE_STEP : 0.5 * NODE_STEP;
        method->phi(model, maturity, &nodes, from, end, HESTON_PARTS);
        for (int n = from; n < end; n++) {
            const double q = fma(r->u[n], r->u[n], 0.25);
            const double re = r->re[n] - shoal_exp(-0.5 * s * s * q) * r->weight[n] / q;
            const double im = r->im[n];
            for (int i = 0; i <= SURFACE_HALF; i++) {
                even[i] += re * turn->cosine[n][i];
                odd[i] += im * turn->sine[n][i];
            }
            /* the terms behind fall at least as 1 / n^2: n times this one is more than their sum */
            done = n > 16 && n * (fabs(re) + fabs(im)) * -scale < SMALL;
        }
    }
    for (int i = 0; i <= SURFACE_HALF; i++) {
        to[SURFACE_HALF + i] = scale * (even[i] - odd[i]);
        to[SURFACE_HALF - i] = scale * (even[i] + odd[i]);
    }
}

/* Numbers of a date: its a, b, range of log s. */
static void make_head(const cva_heston *h, double v0, double t, double left, double *to) {
    const double b = rise(h->kappa, left), a = h->theta * (left - b);
    const double top = 0.5 * log(a + b * largest(h, v0, t));
    const double low = a > 0 ? fmax(0.5 * log(a), top - DEEPEST) : top - DEEPEST;
    const double count = fmin(fmax(ceil((top - low) / SPACING) + 1, 4), SURFACE_DEEP);
    to[SURFACE_A] = a > 0 ? a : 0, to[SURFACE_B] = b, to[SURFACE_LOW] = low;
    to[SURFACE_OVER] = (count - 1) / (top - low), to[SURFACE_COUNT] = count;
}

static void make_date(const heston_sums *method, const cva_heston *h, double left,
                      const turns *turn, room *r, double *to) {
    for (int i = 0; i < (int)to[SURFACE_COUNT]; i++) {
        const double s = exp(to[SURFACE_LOW] + i / to[SURFACE_OVER]);
        const double v = fmax((s * s - to[SURFACE_A]) / to[SURFACE_B], 0);
        const shoal_heston model = {
            .s0 = 1, .v0 = v, .kappa = h->kappa, .theta = h->theta, .sigma = h->sigma, .rho = h->rho
        };
        make_row(method, &model, left, sqrt(fma(to[SURFACE_B], v, to[SURFACE_A])), turn, r,
                 to + SURFACE_HEAD + i * SURFACE_WIDE);
    }
}

static shoal_status make_surface(shoal_cva *p, const turns *turn, cva_surface *s) {
    const cva_job *j = &p->job;
    const cva_heston *h = &j->heston[s->heston];
    const double v0 = j->s0[h->variance];
    double head[SURFACE_HEAD], *at;
    int failed = 0;
    for (s->rows = 0; s->rows <= j->dates; s->rows++)
        if (!(s->maturity - cva_time(j, s->rows) > CVA_SAME * s->maturity)) break;
    s->numbers = s->rows;
    for (int64_t k = 0; k < s->rows; k++) {
        make_head(h, v0, cva_time(j, k), s->maturity - cva_time(j, k), head);
        s->numbers += SURFACE_HEAD + (int64_t)head[SURFACE_COUNT] * SURFACE_WIDE;
    }
    const shoal_status status = shoal_plan_host(&p->head, s->numbers, sizeof *at, &at);
    if (status != SHOAL_OK) return status;
    int64_t place = s->rows;
    for (int64_t k = 0; k < s->rows; k++) {
        double *to = at + place;
        make_head(h, v0, cva_time(j, k), s->maturity - cva_time(j, k), to);
        at[k] = (double)place;
        place += SURFACE_HEAD + (int64_t)to[SURFACE_COUNT] * SURFACE_WIDE;
    }
    ON_THREADS(p->head.ctx->threads, dynamic, 1)
    for (int64_t k = 0; k < s->rows; k++) {
        room *r = shoal_is_cancelled(p->head.ctx, k, s->rows) ? NULL : malloc(sizeof *r);
        if (r)
            make_date(sums[0][p->host.level], h, s->maturity - cva_time(j, k), turn, r,
                      at + (int64_t)at[k]);
        else
            failed = 1;
        free(r);
    }
    s->at = at;
    if (!failed) return SHOAL_OK;
    return shoal_is_cancelled(p->head.ctx, 0, 1) ? SHOAL_E_CANCELLED
                                                 : SHOAL_NO_MEMORY(p->head.ctx, "closed forms");
}

/* The surface of a contract's asset and maturity, among those that there are, or a new one. */
static int surface_of(cva_job *j, cva_surface *list, const cva_contract *c) {
    int i = 0;
    while (i < j->surfaces &&
           (j->heston[list[i].heston].price != c->asset[0] || list[i].maturity != c->maturity))
        i++;
    if (i < j->surfaces) return i;
    list[i] = (cva_surface){ .maturity = c->maturity };
    for (int h = 0; h < j->hestons; h++)
        if (j->heston[h].price == c->asset[0]) list[i].heston = h;
    return j->surfaces++;
}

shoal_status shoal_cva_make_surfaces(shoal_cva *p) {
    cva_job *j = &p->job;
    cva_surface *list;
    if (!j->hestons) return SHOAL_OK;
    shoal_status s = shoal_plan_host(&p->head, j->contracts, sizeof *list, &list);
    if (s != SHOAL_OK) return s;
    j->surface = list;
    for (int64_t i = 0; i < j->contracts; i++) {
        cva_contract *c = &p->contracts[i];
        int heston = 0;
        for (int h = 0; h < j->hestons && c->kind == CVA_CLOSED; h++)
            heston |= j->heston[h].price == c->asset[0];
        if (heston && !(c->form & CVA_ANY_SIGN)) c->surface = 1 + surface_of(j, list, c);
    }
    turns *turn = j->surfaces ? malloc(sizeof *turn) : NULL;
    if (j->surfaces && !turn) return SHOAL_NO_MEMORY(p->head.ctx, "closed forms");
    if (turn) make_turns(turn);
    for (int i = 0; i < j->surfaces && s == SHOAL_OK; i++) s = make_surface(p, turn, &list[i]);
    free(turn);
    return s;
}
