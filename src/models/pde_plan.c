/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_plan.c - plans for bullet options by PDE: the public functions shoal_pde_..., their
 * checks, the tables of the solvers of pde.h, and prices from the layers.
 */
#include "models/plan.h"
#include "pricing/black.h"
#include <float.h>
#include <string.h>

SHOAL_DECLARE_CPU(pde_method, pde_grid)
SHOAL_DECLARE_CUDA(pde_method, pde_grid)

static const shoal_method method = { .name = "pde",
                                     .cpu = SHOAL_CPU_CELLS(pde_grid),
                                     .cuda = SHOAL_CUDA_CELLS(pde_grid),
                                     PDE_VARIANTS };
static const shoal_module module = { "pde", &method, 1, NULL };

enum { MAX_NX = 8192, MAX_STEPS = 1 << 20, MAX_COUNT = 4095, MAX_OPTIONS = 1 << 20 };
enum { MIN_STEPS = 500, MIN_STEPS_PER_DATE = 10 }; /* if none are asked for */
#define MIN_WIDTH 3.0                              /* w: log S is from log(K/w) to log(K w) */

/* ---- checks ---------------------------------------------------------------------------------- */

static shoal_status check_opts(shoal_context *ctx, const shoal_pde_opts *o, shoal_choice *choice) {
    const shoal_count counts[] = { { "nx", o->nx ? o->nx : 5, 5, MAX_NX },
                                   { "steps_per_date", o->steps_per_date, 0, MAX_STEPS } };
    shoal_status s = shoal_check_type(ctx, o->type);
    if (s == SHOAL_OK) s = shoal_check_counts(ctx, counts, 2);
    return s == SHOAL_OK ? shoal_choose(ctx, &module, "pde", o->variant, o->type, choice) : s;
}

static shoal_status check_option(shoal_context *ctx, const shoal_bullet *m,
                                 const shoal_bullet *first) {
    const shoal_bound bounds[] = { { "strike", m->strike, DBL_MIN, 1e100 },
                                   { "maturity", m->maturity, DBL_MIN, 1e6 },
                                   { "sigma", m->sigma, DBL_MIN, 1e3 },
                                   { "barrier", m->barrier, 0, 1e100 } };
    const shoal_count counts[] = { { "count", m->count, 'A', 'F' },
                                   { "dates", m->dates, 1, MAX_STEPS },
                                   { "p2", m->p2, INT64_MIN, MAX_COUNT } };
    shoal_status s = shoal_check_bounds(ctx, bounds, 4);
    if (s == SHOAL_OK) s = shoal_check_counts(ctx, counts, 3);
    if (s != SHOAL_OK) return s;
    if (!(fabs(m->rate) * m->maturity <= 600) || m->sigma * sqrt(m->maturity) > 8)
        return shoal_fail(ctx, SHOAL_E_ARG, "rate %g or sigma %g is too large for maturity %g",
                          m->rate, m->sigma, m->maturity);
    if (m->count != first->count || m->dates != first->dates)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "dates %lld, count %c; all options must have those of the first",
                          (long long)m->dates, m->count);
    return SHOAL_OK;
}

/* Time steps from date to date if none are asked for: long intervals take more. */
static int64_t default_steps(int64_t dates) {
    const int64_t largest = (MIN_STEPS + dates - 1) / dates;
    return largest > MIN_STEPS_PER_DATE ? largest : MIN_STEPS_PER_DATE;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* How far the grid reaches: 3, five standard deviations, and past the barrier if that is near. */
static double width_of(const shoal_bullet *m, int as_printed) {
    if (as_printed) return MIN_WIDTH;
    double w = fmax(MIN_WIDTH, exp(5 * m->sigma * sqrt(m->maturity)));
    const double ratio = m->barrier / (w * m->strike);
    if (ratio > 0.75 && ratio < 4.0 / 3) w *= ratio * 4 / 3;
    return w;
}

static pde_option option_of(const shoal_bullet *m, const shoal_pde *p, int64_t steps_per_date,
                            int as_printed) {
    const double w = width_of(m, as_printed),
                 dt = m->maturity / (double)(p->d.steps * steps_per_date);
    const double dx = 2 * log(w) / (double)(p->job.nx - 1);
    const double s = m->sigma * m->sigma * dt / (4 * dx * dx);
    const double drift = (m->rate - 0.5 * m->sigma * m->sigma) * dt / (4 * dx);
    return (pde_option){ .n = { .up = s + drift, .down = s - drift },
                         .rate = m->rate,
                         .strike = m->strike,
                         .top = w * m->strike,
                         .dt = dt,
                         .low = log(m->strike) - log(w),
                         .dx = dx,
                         .p1 = m->p1,
                         .p2 = m->p2,
                         .above = w * m->strike > m->barrier,
                         .as_printed = as_printed };
}

static void put(void *to, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)to)[at] = (float)value;
    else
        ((double *)to)[at] = value;
}

/* y_i = l_i y_{i-1} + r_i b_i, z_i = y_i + u_i z_{i+1} for rows dl, d, du of constants. */
static void thomas_table(double dl, double d, double du, int64_t n, shoal_type type, void *to) {
    double last = 0; /* u_{i-1}, but for its sign */
    for (int64_t i = 0; i < n; i++) {
        const double r = 1 / (d - (i ? dl * last : 0));
        last = du * r;
        put(to, type, i, -dl * r);
        put(to, type, n + i, -last);
        put(to, type, 2 * n + i, r);
    }
}

/* Levels of cyclic reduction: rows dl_i, d_i, du_i at distance h, l_i = -dl_i / d_{i-h}, u_i = -du_i /
 * d_{i+h}. Returns how many levels matter. work has room for 6 n. */
static int pcr_table(double lower, double middle, double upper, int64_t n, shoal_type type,
                     void *to, double *work) {
    double *dl = work, *d = work + n, *du = work + 2 * n;
    double *next_dl = work + 3 * n, *next_d = work + 4 * n, *next_du = work + 5 * n;
    const double nothing = type == SHOAL_F32 ? 0x1p-25 : 0x1p-54;
    int level = 0;
    for (int64_t i = 0; i < n; i++) {
        dl[i] = i ? lower : 0;
        d[i] = middle;
        du[i] = i + 1 < n ? upper : 0;
    }
    for (int64_t h = 1; h < n; h *= 2) {
        double largest = 0;
        for (int64_t i = 0; i < n; i++) {
            const double l = i >= h ? -dl[i] / d[i - h] : 0;
            const double u = i + h < n ? -du[i] / d[i + h] : 0;
            next_dl[i] = i >= h ? l * dl[i - h] : 0;
            next_du[i] = i + h < n ? u * du[i + h] : 0;
            next_d[i] = d[i] + (i >= h ? l * du[i - h] : 0) + (i + h < n ? u * dl[i + h] : 0);
            put(to, type, 2 * level * n + i, l);
            put(to, type, (2 * level + 1) * n + i, u);
            largest = fmax(largest, fmax(fabs(l), fabs(u)));
        }
        if (largest < nothing) break;
        double *done[3] = { dl, d, du };
        dl = next_dl, d = next_d, du = next_du;
        next_dl = done[0], next_d = done[1], next_du = done[2];
        level++;
    }
    for (int64_t i = 0; i < n; i++) put(to, type, 2 * level * n + i, 1 / d[i]);
    return level;
}

/* What is taken of the next count at each node: pde.h. */
static void make_shares(const pde_option *o, const shoal_bullet *m, int64_t nx, shoal_type type,
                        void *to, int64_t at) {
    const double level = log(m->barrier);
    for (int64_t i = 0; i < nx; i++) {
        const double x = o->low + (double)i * o->dx;
        const double above = (level - x) / o->dx; /* so far, in cells, is the barrier */
        double share = x < level;
        if (!o->as_printed && above >= 0 && above < 1)
            share = 1 - 0.5 * (1 - above) * (1 - above) + 1.0 / 12;
        else if (!o->as_printed && above >= -1 && above < 0)
            share = 0.5 * (1 + above) * (1 + above) - 1.0 / 12;
        put(to, type, at + i, share);
    }
}

static int same_matrix(const pde_option *a, const pde_option *b) {
    return a->n.up == b->n.up && a->n.down == b->n.down;
}

/* e^(r t) after each system of an interval. */
static void make_growth(const pde_job *j, const pde_option *o, double *to) {
    double steps = 0;
    to[0] = 1;
    for (int64_t k = 1; k <= j->solves; k++) {
        steps += 0.5 * pde_times(j, k);
        to[k] = shoal_exp(o->rate * (steps * o->dt));
    }
}

/* Places in the tables. Neighbours with the same matrix, or the same rate and step, share theirs. */
static void place_options(shoal_pde *p, int as_printed, int64_t each, int64_t *tables,
                          int64_t *growths) {
    for (int64_t i = 0; i < p->count; i++) {
        pde_option *o = &p->option[i];
        *o = option_of(&p->bullet[i], p, p->job.steps, as_printed);
        *tables += i == 0 || !same_matrix(o, o - 1);
        *growths += i == 0 || o->rate != o[-1].rate || o->dt != o[-1].dt;
        o->table = (*tables - 1) * each;
        o->growth = (*growths - 1) * (p->job.solves + 1);
        o->shares = i * p->job.nx;
    }
}

static shoal_status make_tables(shoal_pde *p, int as_printed) {
    const int64_t nx = p->job.nx, n = nx - 2;
    const size_t size = shoal_type_bytes(p->head.type);
    int max_levels = 1;
    while ((int64_t)1 << max_levels < n) max_levels++;
    const int64_t each = (2 * max_levels + 1) * n; /* at least thomas's 3 n */
    int64_t tables = 0, growths = 0;
    place_options(p, as_printed, each, &tables, &growths);
    growths *= p->job.solves + 1;
    char *table, *shares;
    double *work, *growth;
    shoal_plan *scratch; /* owns them */
    shoal_status s = shoal_plan_new(p->head.ctx, sizeof *scratch, p, &scratch);
    if (s != SHOAL_OK) return s;
    s = shoal_plan_host(scratch, tables * each, size, &table);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, p->count * nx, size, &shares);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, growths, sizeof *growth, &growth);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, 6 * n, sizeof *work, &work);
    for (int64_t i = 0; i < p->count && s == SHOAL_OK; i++) {
        pde_option *o = &p->option[i];
        const double lower = -o->n.down, middle = 1 + o->n.up + o->n.down, upper = -o->n.up;
        make_shares(o, &p->bullet[i], nx, p->head.type, shares, o->shares);
        if (i == 0 || o->growth != o[-1].growth) make_growth(&p->job, o, growth + o->growth);
        if (i > 0 && o->table == o[-1].table)
            o->levels = o[-1].levels;
        else if (p->job.solver == PDE_THOMAS)
            thomas_table(lower, middle, upper, n, p->head.type, table + (size_t)o->table * size);
        else
            o->levels = pcr_table(lower, middle, upper, n, p->head.type,
                                  table + (size_t)o->table * size, work);
    }
    const size_t layer = (size_t)(p->count * p->job.counts * nx) * size;
    const struct {
        const void *from;
        size_t bytes;
        void *to;
    } lists[] = { { p->option, (size_t)p->count * sizeof *p->option, &p->job.option },
                  { table, (size_t)(tables * each) * size, &p->job.table },
                  { shares, (size_t)(p->count * nx) * size, &p->job.shares },
                  { growth, (size_t)growths * sizeof *growth, &p->job.growth } };
    for (int i = 0; i < 4 && s == SHOAL_OK; i++)
        s = shoal_plan_copy(&p->head, lists[i].from, lists[i].bytes, lists[i].to);
    for (int i = 0; i < 2 && s == SHOAL_OK; i++)
        s = shoal_plan_alloc(&p->head, layer, &p->layer[i]);
    shoal_plan_free(scratch);
    return s;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static shoal_status fill_plan(shoal_pde *p, const shoal_bullet *options, const shoal_pde_opts *o,
                              const shoal_choice *choice) {
    shoal_status s = shoal_plan_host(&p->head, p->count, sizeof *p->bullet, &p->bullet);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, p->count, sizeof *p->option, &p->option);
    if (s != SHOAL_OK) return s;
    if (p->count) memcpy(p->bullet, options, (size_t)p->count * sizeof *options);
    p->job.counts = 1;
    for (int64_t i = 0; i < p->count; i++)
        if (options[i].p2 + 1 > p->job.counts) p->job.counts = options[i].p2 + 1;
    static const shoal_bullet none = { .maturity = 1, .dates = 1 };
    p->d = bullet_dates_of(p->count ? options : &none);
    p->head.type = o->type;
    p->method = choice->cell;
    p->job.solver = choice->variant;
    p->job.options = p->count;
    p->job.nx = o->nx ? o->nx : 1025;
    p->job.steps = o->steps_per_date ? o->steps_per_date : default_steps(p->d.steps);
    if (!o->as_printed) p->job.halves = p->job.steps < 3 ? 2 * p->job.steps : 3;
    if (p->job.halves == 3) p->job.leap = 4;
    p->job.solves = p->job.steps + (o->as_printed ? 0 : p->job.steps < 3 ? p->job.steps : 1);
    p->job.surface_stride = (p->d.steps + 1) * p->job.counts * p->job.nx;
    return make_tables(p, o->as_printed != 0);
}

shoal_status shoal_pde_create(shoal_context *ctx, const shoal_bullet *options, int64_t count,
                              const shoal_pde_opts *opts, shoal_pde **plan) {
    shoal_choice choice;
    shoal_status s = shoal_plan_new(ctx, sizeof **plan, opts, plan);
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "options", options, count == 0 } };
    s = shoal_check_count(ctx, "count", count, 0, MAX_OPTIONS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK) s = check_opts(ctx, opts, &choice);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++)
        s = shoal_fail_at(ctx, check_option(ctx, &options[i], &options[0]), "options", i, "");
    (*plan)->count = count;
    if (s == SHOAL_OK) s = fill_plan(*plan, options, opts, &choice);
    return shoal_plan_made(s, plan);
}

void shoal_pde_free(shoal_pde *plan) { shoal_plan_free(plan); }

shoal_status shoal_pde_describe(const shoal_pde *plan, shoal_pde_shape *shape) {
    if (!plan) return SHOAL_E_ARG;
    if (!shape) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "shape is NULL");
    *shape = (shoal_pde_shape){ plan->count, plan->d.steps, plan->job.counts, plan->job.nx };
    return SHOAL_OK;
}

double shoal_pde_log(const shoal_pde *plan, int64_t option, int64_t i) {
    if (!plan || option < 0 || option >= plan->count || i < 0 || i >= plan->job.nx) return NAN;
    return plan->option[option].low + (double)i * plan->option[option].dx;
}

static shoal_status run(shoal_pde *plan, shoal_type type, void *today, void *surface) {
    shoal_status s = shoal_plan_call(plan, type, "shoal_pde_run");
    if (s != SHOAL_OK) return s;
    shoal_context *ctx = plan->head.ctx;
    const shoal_array arrays[] = { { "today", today, !today }, { "surface", surface, !surface } };
    s = shoal_check_arrays(ctx, arrays, 2);
    if (s != SHOAL_OK || plan->count == 0) return s;
    pde_job job = plan->job;
    job.surface = surface;
    job.to = plan->d.steps;
    job.into = plan->layer[0];
    const shoal_stage stage = shoal_stage_begin(ctx, "grid");
    s = plan->method->begin(ctx, &job);
    for (int64_t to = plan->d.steps - 1; to >= 0 && s == SHOAL_OK; to--) {
        const int64_t later = to + 1, first = later > plan->d.first ? later : plan->d.first;
        job.from = job.into;
        job.into = to == 0 && today ? today : plan->layer[job.from == plan->layer[0]];
        job.to = to;
        job.counted = later >= plan->d.first && later <= plan->d.last;
        job.left = plan->d.last >= first ? plan->d.last - first + 1 : 0;
        job.after = (double)((plan->d.steps - later) * job.steps);
        s = shoal_stage_step(ctx, &stage, (double)(plan->d.steps - later),
                             (double)(plan->d.steps - to), (double)plan->d.steps);
        if (s == SHOAL_OK) s = plan->method->interval(ctx, &job);
    }
    return shoal_stage_end(ctx, &stage, s);
}

shoal_status shoal_pde_run(shoal_pde *plan, double *today, double *surface) {
    return run(plan, SHOAL_F64, today, surface);
}
shoal_status shoal_pde_runf(shoal_pde *plan, float *today, float *surface) {
    return run(plan, SHOAL_F32, today, surface);
}

/* ---- values ----------------------------------------------------------------------------------- */

/* Cubic interpolation in log S through the four nearest nodes, and its derivatives, with
 * F = e^(-r (T - t)) u, F_S = F_x / S, F_SS = (F_xx - F_x) / S^2. */

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
        return shoal_fail(
            plan->head.ctx, SHOAL_E_ARG,
            "at is k %lld, x %g, j %lld; k must be 0 to %lld, x above 0, j at least 0",
            (long long)at->k, at->x, (long long)at->j, (long long)plan->d.steps);
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
                           "points[%lld]: x is %g; it must be %g to %g, the grid of pde",
                           (long long)i, at.x, exp(shoal_pde_log(pde, 0, 0)),
                           exp(shoal_pde_log(pde, 0, pde->job.nx - 1)));
    }
    shoal_pde_free(pde);
    return s;
}
