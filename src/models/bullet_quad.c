/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_quad.c - bullet options without paths: backward induction by quadrature.
 *
 * With U_i(y, j) the value at T_i, y = log S, j dates counted, T_i among them,
 *
 *     W_i(y, j) = U_i(y, j + 1{y < log B})  if T_i is counted, else U_i(y, j),   U(., j) = 0 for j > P2,
 *     U_{i-1}(y, j) = e^(-r dt) Int W_i(y', j) n((y' - y - drift) / vol) / vol dy',
 *
 * the exact kernel of a step. The integrals are Gauss-Legendre sums of 16 points on panels 2.5
 * vol wide with edges at log K and log B, so that no panel has a kink, over the 8.6 vol on
 * either side beyond which the kernel is nothing. A point off the nodes is one more such sum,
 * and delta and gamma are sums with the derivatives of the kernel.
 *
 * Nodes lie 10 standard deviations of log S_T around the points; all counts of a node lie side
 * by side, and threads share the nodes. About 14,000 sqrt(steps) multiplications per step and
 * count.
 */
#include "core/loops.h"
#include "models/plan.h"
#include "pricing/black.h"
#include <string.h>

enum { ORDER = 16 };
#define REACH    8.6  /* of the kernel, in standard deviations     */
#define PANEL    2.5  /* width, likewise                           */
#define MAX_WORK 2e12 /* multiplications                           */

/* Gauss-Legendre on (-1, 1), 16 points: the positive half. */
static const double gauss_x[ORDER / 2] = { 0.0950125098376374402, 0.2816035507792589132,
                                           0.4580167776572273863, 0.6178762444026437484,
                                           0.7554044083550030339, 0.8656312023878317439,
                                           0.9445750230732325761, 0.9894009349916499326 };
static const double gauss_w[ORDER / 2] = { 0.1894506104550684963, 0.1826034150449235889,
                                           0.1691565193950025382, 0.1495959888165767321,
                                           0.1246289712555338721, 0.0951585116824927848,
                                           0.0622535239386478929, 0.0271524594117540949 };

typedef struct window {       /* the nodes that the kernel around a y reaches */
    int64_t first, count, at; /* at: place of its weights */
} window;

typedef struct grid { /* a plan for one call, which owns the arrays */
    shoal_plan head;
    const bullet_plan *plan;
    bullet_dates d;
    double level; /* log B */
    int64_t nodes, counts;
    double *y, *w;      /* nodes and their weights                */
    window *windows;    /* of each node                           */
    double *kernel;     /* weights of all windows                 */
    double *now, *next; /* U and W: [node][count]                 */
    int64_t *order;     /* the points by their dates              */
} grid;

static double density(double u) { return 0.3989422804014327 * exp(-0.5 * u * u); }

/* Of a step; probabilities are not discounted. */
static double discount_of(const grid *g) {
    return g->plan->certain ? 1 : exp(-g->plan->model.rate * g->d.dt);
}

/* First node at or above y. */
static int64_t node_at(const grid *g, double y) {
    int64_t low = 0, high = g->nodes;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (g->y[middle] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static window window_of(const grid *g, double y) {
    const double middle = y + g->d.drift, reach = REACH * g->d.vol;
    const int64_t first = node_at(g, middle - reach);
    return (window){ first, node_at(g, middle + reach) - first, 0 };
}

/* Nodes of panels from low to high with edges at the kinks; y NULL: only counts them. */
static int64_t place(double low, double high, double width, const double *kinks, double *y,
                     double *w) {
    int64_t count = 0;
    double from = low;
    while (from < high) {
        double to = high;
        for (int k = 0; k < 2; k++)
            if (kinks[k] > from && kinks[k] < to) to = kinks[k];
        const int64_t panels = (int64_t)ceil((to - from) / width);
        for (int64_t p = 0; p < panels; p++) {
            const double half = 0.5 * (to - from) / (double)panels;
            const double middle = from + (2 * (double)p + 1) * half;
            for (int i = 0; i < ORDER && y; i++) {
                const int side = i < ORDER / 2 ? -1 : 1;
                const int n = side < 0 ? ORDER / 2 - 1 - i : i - ORDER / 2;
                y[count + i] = middle + side * half * gauss_x[n];
                w[count + i] = half * gauss_w[n];
            }
            count += ORDER;
        }
        from = to;
    }
    return count;
}

static shoal_status make_nodes(grid *g) {
    const shoal_bullet *m = &g->plan->model;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int64_t i = 0; i < g->plan->p.groups; i++) {
        const double y = log(g->plan->points[i].x);
        if (y < low) low = y;
        if (y > high) high = y;
    }
    const double margin = 10 * m->sigma * sqrt(m->maturity) +
                          fabs(g->d.drift) * (double)g->d.steps + REACH * g->d.vol;
    const double kinks[2] = { m->strike > 0 ? log(m->strike) : -HUGE_VAL, g->level };
    const double width = PANEL * g->d.vol;
    const double about = (high - low + 2 * margin) / width * ORDER;
    const double work =
        about * (2 * REACH / PANEL) * ORDER * (double)g->counts * (double)g->d.steps;
    if (!(work < MAX_WORK))
        return shoal_fail(g->head.ctx, SHOAL_E_ARG,
                          "dates is %lld: quad would take %.1g multiplications; the limit is %g",
                          (long long)m->dates, work, MAX_WORK);
    low -= margin, high += margin;
    g->nodes = place(low, high, width, kinks, NULL, NULL);
    const int64_t values = g->nodes * g->counts;
    shoal_status s = shoal_plan_host(&g->head, g->nodes, sizeof *g->y, &g->y);
    if (s == SHOAL_OK) s = shoal_plan_host(&g->head, g->nodes, sizeof *g->w, &g->w);
    if (s == SHOAL_OK) s = shoal_plan_host(&g->head, g->nodes, sizeof *g->windows, &g->windows);
    if (s == SHOAL_OK) s = shoal_plan_host(&g->head, values, sizeof *g->now, &g->now);
    if (s == SHOAL_OK) s = shoal_plan_host(&g->head, values, sizeof *g->next, &g->next);
    if (s != SHOAL_OK) return s;
    place(low, high, width, kinks, g->y, g->w);
    int64_t all = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        g->windows[i] = window_of(g, g->y[i]);
        g->windows[i].at = all;
        all += g->windows[i].count;
    }
    s = shoal_plan_host(&g->head, all, sizeof *g->kernel, &g->kernel);
    if (s != SHOAL_OK) return s;
    const double discount = discount_of(g);
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t k = 0; k < g->windows[i].count; k++) {
            const int64_t from = g->windows[i].first + k;
            const double u = (g->y[from] - g->y[i] - g->d.drift) / g->d.vol;
            g->kernel[g->windows[i].at + k] = discount * g->w[from] * density(u) / g->d.vol;
        }
    return SHOAL_OK;
}

/* The points in the order of their dates. */
static shoal_status sort_points(grid *g) {
    const shoal_bullet_point *points = g->plan->points;
    const int64_t count = g->plan->p.groups;
    int64_t *begin;
    shoal_status s = shoal_plan_host(&g->head, g->d.steps + 2, sizeof *begin, &begin);
    if (s == SHOAL_OK) s = shoal_plan_host(&g->head, count, sizeof *g->order, &g->order);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < count; i++) begin[points[i].k + 1]++;
    for (int64_t k = 0; k <= g->d.steps; k++) begin[k + 1] += begin[k];
    for (int64_t i = 0; i < count; i++) g->order[begin[points[i].k]++] = i;
    return SHOAL_OK;
}

static int64_t count_of(const grid *g, const shoal_bullet_point *at) {
    return bullet_count(&g->plan->model, &g->d, at, at->x);
}

/* W out of U, in place: below the barrier the next count's, if the date is counted. */
static void shift(const grid *g, int64_t date) {
    if (date < g->d.first || date > g->d.last) return;
    for (int64_t i = 0; i < g->nodes && g->y[i] < g->level; i++) {
        double *u = g->now + i * g->counts;
        memmove(u, u + 1, (size_t)(g->counts - 1) * sizeof *u);
        u[g->counts - 1] = 0; /* above P2, or never reached */
    }
}

static void step_back(grid *g) {
    ON_THREADS(g->head.ctx->threads, dynamic, 16)
    for (int64_t i = 0; i < g->nodes; i++) {
        if (shoal_is_cancelled(g->head.ctx, i, g->nodes)) continue;
        const window *w = &g->windows[i];
        double *to = g->next + i * g->counts;
        memset(to, 0, (size_t)g->counts * sizeof *to);
        for (int64_t k = 0; k < w->count; k++) {
            const double factor = g->kernel[w->at + k];
            const double *from = g->now + (w->first + k) * g->counts;
            for (int64_t j = 0; j < g->counts; j++) to[j] += factor * from[j];
        }
    }
    double *done = g->next;
    g->next = g->now;
    g->now = done;
}

/* One point by W of the date after it. */
static void value_at(const grid *g, const shoal_bullet_point *at, shoal_price_value *v) {
    const int64_t j = count_of(g, at);
    if (j >= g->counts) return;
    const double y = log(at->x), discount = discount_of(g);
    const window w = window_of(g, y);
    double sum = 0, slope = 0, bend = 0;
    for (int64_t k = w.first; k < w.first + w.count; k++) {
        const double u = (g->y[k] - y - g->d.drift) / g->d.vol;
        const double part = g->w[k] * density(u) / g->d.vol * g->now[k * g->counts + j];
        sum += part;
        slope += part * u / g->d.vol;
        bend += part * (u * u - 1) / (g->d.vol * g->d.vol);
    }
    v->price = discount * sum;
    v->delta = discount * slope / at->x;
    v->gamma = discount * (bend - slope) / (at->x * at->x);
}

/* Without noise there is one path. */
static void without_noise(const grid *g, const shoal_bullet_point *at, shoal_price_value *v) {
    const shoal_bullet *m = &g->plan->model;
    int64_t j = count_of(g, at);
    for (int64_t k = at->k + 1; k <= g->d.steps; k++)
        if (k >= g->d.first && k <= g->d.last)
            j += log(at->x) + (double)(k - at->k) * g->d.drift < g->level;
    const double tau = (double)(g->d.steps - at->k) * g->d.dt, growth = exp(m->rate * tau);
    if (j < m->p1 || j > m->p2) return;
    if (g->plan->certain) {
        v->price = 1;
        return;
    }
    v->price = black_payoff(at->x * growth, m->strike, 0) / growth;
    v->delta = at->x * growth > m->strike;
}

static shoal_status induct(grid *g, shoal_price_value *values) {
    const bullet_plan *p = g->plan;
    const shoal_bullet *m = &p->model;
    int64_t left = p->p.groups;
    shoal_status s = make_nodes(g);
    if (s == SHOAL_OK) s = sort_points(g);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t j = 0; j < g->counts; j++)
            g->now[i * g->counts + j] = j < m->p1 || j > m->p2 ? 0
                                        : p->certain           ? 1
                                                     : black_payoff(exp(g->y[i]), m->strike, 0);
    const shoal_stage stage = shoal_stage_begin(g->head.ctx, "quadrature");
    for (int64_t date = g->d.steps; date >= 0; date--) {
        const double done = (double)(g->d.steps - date);
        s = shoal_stage_step(g->head.ctx, &stage, done, done + 1, (double)g->d.steps + 1);
        if (s != SHOAL_OK) break;
        for (; left > 0 && p->points[g->order[left - 1]].k == date; left--) {
            const int64_t i = g->order[left - 1];
            if (date == g->d.steps)
                without_noise(g, &p->points[i], &values[i]);
            else
                value_at(g, &p->points[i], &values[i]);
        }
        if (left == 0) break;
        if (date < g->d.steps) step_back(g);
        shift(g, date);
    }
    return shoal_stage_end(g->head.ctx, &stage, s);
}

shoal_status shoal_bullet_quad(const shoal_price *plan, shoal_price_value *values) {
    const bullet_plan *p = (const bullet_plan *)plan;
    const shoal_bullet *m = &p->model;
    int64_t most = 0;
    for (int64_t i = 0; i < plan->groups; i++) {
        values[i] = (shoal_price_value){ 0 };
        if (p->points[i].j > most) most = p->points[i].j;
    }
    if (plan->groups == 0 || m->p1 > m->p2 || m->p2 < 0) return SHOAL_OK; /* never pays */
    grid *g;
    shoal_status s = shoal_plan_new(plan->head.ctx, sizeof *g, plan, &g);
    if (s != SHOAL_OK) return s;
    g->plan = p, g->d = p->d, g->level = log(m->barrier);
    most += g->d.last + 1; /* counts that can be reached */
    g->counts = (m->p2 < most ? m->p2 : most) + 1;
    if (g->d.vol > 0)
        s = induct(g, values);
    else
        for (int64_t i = 0; i < plan->groups; i++) without_noise(g, &p->points[i], &values[i]);
    shoal_plan_free(g);
    return s;
}
