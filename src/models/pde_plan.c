/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_plan.c - plans for bullet options by PDE: the public functions shoal_pde_..., their checks, and the
 * numbers that the solvers of pde.h have made beforehand.
 */
#include "core/math.h"
#include "models/pde_plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(pde_method, pde_grid)
SHOAL_DECLARE_CUDA(pde_method, pde_grid)

static const shoal_method cells = { .cpu = SHOAL_CPU_CELLS(pde_grid),
                                    .cuda = SHOAL_CUDA_CELLS(pde_grid) };

enum { MOST_NX = 8192, MOST_STEPS = 1 << 20, MOST_COUNT = 4095, MOST_OPTIONS = 1 << 20 };
enum { FEWEST_STEPS = 500, FEWEST_A_DATE = 10 }; /* if none are asked for */
#define NARROWEST 3.0                            /* w: log S is from log(K/w) to log(K w) */

/* ---- checks ---------------------------------------------------------------------------------- */

static shoal_status check_opts(shoal_context *ctx, const shoal_pde_opts *o) {
    if (o->variant && *o->variant && strcmp(o->variant, "pcr") != 0 &&
        strcmp(o->variant, "thomas") != 0)
        return shoal_fail(ctx, SHOAL_E_METHOD, "variant: pde has no variant '%s' (pcr thomas)",
                          o->variant);
    const shoal_count counts[] = { { "nx", o->nx ? o->nx : 5, 5, MOST_NX },
                                   { "steps_per_date", o->steps_per_date, 0, MOST_STEPS } };
    const shoal_status s = shoal_check_type(ctx, o->type);
    return s == SHOAL_OK ? shoal_check_counts(ctx, counts, 2) : s;
}

static shoal_status check_option(shoal_context *ctx, int64_t i, const shoal_bullet *m,
                                 const shoal_bullet *first) {
    const struct {
        const char *name;
        double value, most;
    } all[] = { { "strike", m->strike, 1e100 },
                { "maturity", m->maturity, 1e6 },
                { "sigma", m->sigma, 1e3 } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(all[k].value > 0 && all[k].value <= all[k].most))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "option %lld: %s is %g; pde needs it above 0 and at most %g",
                              (long long)i, all[k].name, all[k].value, all[k].most);
    if (!(m->barrier >= 0 && m->barrier <= 1e100) || !(fabs(m->rate) * m->maturity <= 600))
        return shoal_fail(ctx, SHOAL_E_ARG, "option %lld: barrier is %g and rate %g", (long long)i,
                          m->barrier, m->rate);
    if (m->sigma * sqrt(m->maturity) > 8)
        return shoal_fail(ctx, SHOAL_E_ARG, "option %lld: sigma %g is too large for maturity %g",
                          (long long)i, m->sigma, m->maturity);
    if (m->count < 'A' || m->count > 'F' || m->dates < 1 || m->dates > MOST_STEPS)
        return shoal_fail(ctx, SHOAL_E_ARG, "option %lld: count is %d, dates is %lld", (long long)i,
                          m->count, (long long)m->dates);
    if (m->count != first->count || m->dates != first->dates)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "option %lld has %lld dates (%c); all options have those of the first",
                          (long long)i, (long long)m->dates, m->count);
    if (m->p2 > MOST_COUNT)
        return shoal_fail(ctx, SHOAL_E_ARG, "option %lld: p2 is %lld; pde takes at most %d",
                          (long long)i, (long long)m->p2, MOST_COUNT);
    return SHOAL_OK;
}

/* Time steps from date to date if none are asked for: long intervals take more. */
static int64_t default_steps(int64_t dates) {
    const int64_t most = (FEWEST_STEPS + dates - 1) / dates;
    return most > FEWEST_A_DATE ? most : FEWEST_A_DATE;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* How far the grid reaches: 3, five standard deviations, and past the barrier if that is near. */
static double width_of(const shoal_bullet *m, int as_printed) {
    if (as_printed) return NARROWEST;
    double w = fmax(NARROWEST, exp(5 * m->sigma * sqrt(m->maturity)));
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

/* y_i = l_i y_{i-1} + r_i d_i, z_i = y_i + c_i z_{i+1} for rows a, b, c of constants. */
static void thomas_table(double a, double b, double c, int64_t n, shoal_type type, void *to) {
    double last = 0; /* c'_{i-1} */
    for (int64_t i = 0; i < n; i++) {
        const double r = 1 / (b - (i ? a * last : 0));
        last = c * r;
        put(to, type, i, -a * r);
        put(to, type, n + i, -last);
        put(to, type, 2 * n + i, r);
    }
}

/* Levels of cyclic reduction: rows a_i, b_i, c_i at distance h, l_i = -a_i / b_{i-h}, c'_i = -c_i /
 * b_{i+h}. Returns how many levels matter. work has room for 6 n. */
static int pcr_table(double a0, double b0, double c0, int64_t n, shoal_type type, void *to,
                     double *work) {
    double *a = work, *b = work + n, *c = work + 2 * n;
    double *next_a = work + 3 * n, *next_b = work + 4 * n, *next_c = work + 5 * n;
    const double nothing = type == SHOAL_F32 ? 0x1p-25 : 0x1p-54;
    int level = 0;
    for (int64_t i = 0; i < n; i++) {
        a[i] = i ? a0 : 0;
        b[i] = b0;
        c[i] = i + 1 < n ? c0 : 0;
    }
    for (int64_t h = 1; h < n; h *= 2) {
        double most = 0;
        for (int64_t i = 0; i < n; i++) {
            const double l = i >= h ? -a[i] / b[i - h] : 0;
            const double r = i + h < n ? -c[i] / b[i + h] : 0;
            next_a[i] = i >= h ? l * a[i - h] : 0;
            next_c[i] = i + h < n ? r * c[i + h] : 0;
            next_b[i] = b[i] + (i >= h ? l * c[i - h] : 0) + (i + h < n ? r * a[i + h] : 0);
            put(to, type, 2 * level * n + i, l);
            put(to, type, (2 * level + 1) * n + i, r);
            most = fmax(most, fmax(fabs(l), fabs(r)));
        }
        if (most < nothing) break;
        double *done[3] = { a, b, c };
        a = next_a, b = next_b, c = next_c;
        next_a = done[0], next_b = done[1], next_c = done[2];
        level++;
    }
    for (int64_t i = 0; i < n; i++) put(to, type, 2 * level * n + i, 1 / b[i]);
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

/* e^(r t) after each system of an interval; neighbours of the same rate and step share them. */
static shoal_status make_growth(shoal_pde *p) {
    const int64_t each = p->job.solves + 1;
    int64_t rows = 0;
    for (int64_t i = 0; i < p->count; i++) {
        pde_option *o = &p->option[i];
        if (i == 0 || o->rate != o[-1].rate || o->dt != o[-1].dt) rows++;
        o->growth = (rows - 1) * each;
    }
    double *growth = malloc((size_t)(rows * each) * sizeof *growth + 1);
    if (!growth)
        return shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for %lld steps of %lld options",
                          (long long)each, (long long)p->count);
    for (int64_t i = 0; i < p->count; i++) {
        const pde_option *o = &p->option[i];
        if (i > 0 && o->growth == o[-1].growth) continue;
        double steps = 0;
        growth[o->growth] = 1;
        for (int64_t k = 1; k < each; k++) {
            steps += 0.5 * pde_times(&p->job, k);
            growth[o->growth + k] = shoal_exp(o->rate * (steps * o->dt));
        }
    }
    const shoal_status s =
        shoal_plan_copy(&p->head, growth, (size_t)(rows * each) * sizeof *growth, &p->job.growth);
    free(growth);
    return s;
}

static shoal_status make_tables(shoal_pde *p, int64_t steps_per_date, int as_printed) {
    const int64_t nx = p->job.nx, n = nx - 2;
    const size_t size = shoal_type_bytes(p->head.type);
    int most_levels = 1;
    while ((int64_t)1 << most_levels < n) most_levels++;
    const int64_t each = (2 * most_levels + 1) * n > 3 * n ? (2 * most_levels + 1) * n : 3 * n;
    int64_t tables = 0;
    for (int64_t i = 0; i < p->count; i++) {
        p->option[i] = option_of(&p->bullet[i], p, steps_per_date, as_printed);
        if (i == 0 || !same_matrix(&p->option[i], &p->option[i - 1])) tables++;
        p->option[i].table = (tables - 1) * each;
        p->option[i].shares = i * nx;
    }
    char *table = malloc((size_t)(tables * each) * size + 1);
    char *shares = malloc((size_t)(p->count * nx) * size + 1);
    double *work = malloc((size_t)(6 * n) * sizeof *work);
    shoal_status s = table && shares && work
                         ? SHOAL_OK
                         : shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for %lld options",
                                      (long long)p->count);
    for (int64_t i = 0; i < p->count && s == SHOAL_OK; i++) {
        pde_option *o = &p->option[i];
        const double lower = -o->n.down, middle = 1 + o->n.up + o->n.down, upper = -o->n.up;
        make_shares(o, &p->bullet[i], nx, p->head.type, shares, o->shares);
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
                  { shares, (size_t)(p->count * nx) * size, &p->job.shares } };
    if (s == SHOAL_OK) s = make_growth(p);
    for (int i = 0; i < 3 && s == SHOAL_OK; i++)
        s = shoal_plan_copy(&p->head, lists[i].from, lists[i].bytes, lists[i].to);
    for (int i = 0; i < 2 && s == SHOAL_OK; i++)
        s = shoal_plan_alloc(&p->head, layer, &p->layer[i]);
    free(table);
    free(shares);
    free(work);
    return s;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static shoal_status fill_plan(shoal_pde *p, const shoal_bullet *options, const shoal_pde_opts *o) {
    shoal_status s = shoal_plan_host(&p->head, p->count, sizeof *p->bullet, &p->bullet);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, p->count, sizeof *p->option, &p->option);
    if (s != SHOAL_OK) return s;
    if (p->count) memcpy(p->bullet, options, (size_t)p->count * sizeof *options);
    p->job.counts = 1;
    for (int64_t i = 0; i < p->count; i++)
        if (options[i].p2 + 1 > p->job.counts) p->job.counts = options[i].p2 + 1;
    const shoal_bullet none = shoal_bullet_example();
    p->d = bullet_dates_of(p->count ? options : &none);
    p->head.type = o->type;
    p->method = shoal_cell(p->head.ctx, &cells, o->type);
    p->job.solver = o->variant && strcmp(o->variant, "thomas") == 0 ? PDE_THOMAS : PDE_PCR;
    p->job.options = p->count;
    p->job.nx = o->nx ? o->nx : 1025;
    p->job.steps = o->steps_per_date ? o->steps_per_date : default_steps(p->d.steps);
    if (!o->as_printed) p->job.halves = p->job.steps < 3 ? 2 * p->job.steps : 3;
    if (p->job.halves == 3) p->job.leap = 4;
    p->job.solves = p->job.steps + (o->as_printed ? 0 : p->job.steps < 3 ? p->job.steps : 1);
    p->job.surface_stride = (p->d.steps + 1) * p->job.counts * p->job.nx;
    return make_tables(p, p->job.steps, o->as_printed != 0);
}

shoal_status shoal_pde_create(shoal_context *ctx, const shoal_bullet *options, int64_t count,
                              const shoal_pde_opts *opts, shoal_pde **plan) {
    shoal_status s = shoal_plan_new(ctx, sizeof **plan, opts, plan);
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "options", options, count == 0 } };
    s = shoal_check_count(ctx, "count", count, 0, MOST_OPTIONS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    if (s == SHOAL_OK) s = check_opts(ctx, opts);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++)
        s = check_option(ctx, i, &options[i], &options[0]);
    (*plan)->count = count;
    if (s == SHOAL_OK) s = fill_plan(*plan, options, opts);
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
    s = plan->method->begin(ctx, &job);
    for (int64_t to = plan->d.steps - 1; to >= 0 && s == SHOAL_OK; to--) {
        const int64_t later = to + 1, first = later > plan->d.first ? later : plan->d.first;
        job.from = job.into;
        job.into = to == 0 && today ? today : plan->layer[job.from == plan->layer[0]];
        job.to = to;
        job.counted = later >= plan->d.first && later <= plan->d.last;
        job.left = plan->d.last >= first ? plan->d.last - first + 1 : 0;
        job.after = (double)((plan->d.steps - later) * job.steps);
        s = plan->method->interval(ctx, &job);
    }
    return s;
}

shoal_status shoal_pde_run(shoal_pde *plan, double *today, double *surface) {
    return run(plan, SHOAL_F64, today, surface);
}
shoal_status shoal_pde_runf(shoal_pde *plan, float *today, float *surface) {
    return run(plan, SHOAL_F32, today, surface);
}
