/* SPDX-License-Identifier: Apache-2.0
 *
 * gspike.c - one long system on the CPU by the g-Spike method, gspike.h.
 *
 * Level by level, OpenMP threads over blocks; the bits do not depend on the number of threads. The matrix
 * is copied into the workspace first, 5 n numbers, which the factors, the spikes and x then take over; the
 * levels above have about an eighth of that, a sixteenth without the split.
 *
 * Bytes: a, b, c, d once, the workspace about five times.
 */
#include "tridiag/gspike.h"
#include "tridiag/plan.h"
#include "tridiag/residual.h"

typedef struct gspike_work { /* the arrays of all levels */
    gspike_tree tree;
    real *l, *d, *u, *s, *f;
    gspike_block *blocks;
    gspike_pair *pairs;
    int threads;
} gspike_work;

static size_t gspike_bytes(const shoal_tridiag *plan) {
    const gspike_tree t = gspike_plan(plan->job.n, !plan->no_split);
    return (size_t)t.rows * 5 * sizeof(real) +
           (size_t)t.slots * (sizeof(gspike_block) + sizeof(gspike_pair));
}

static gspike_work lay_out(const shoal_tridiag *plan, void *memory) {
    gspike_work w = { .tree = gspike_plan(plan->job.n, !plan->no_split), .l = memory };
    w.threads = plan->head.ctx->threads;
    const int64_t rows = w.tree.rows;
    w.d = w.l + rows, w.u = w.d + rows, w.s = w.u + rows, w.f = w.s + rows;
    w.pairs = (gspike_pair *)(w.f + rows);
    w.blocks = (gspike_block *)(w.pairs + w.tree.slots);
    return w;
}

static gspike_rows rows_of(const gspike_work *w, const gspike_level *l, int64_t unit) {
    const int64_t at = l->rows_at + unit * l->rows;
    return (gspike_rows){ w->l + at, w->d + at, w->u + at, w->s + at, w->f + at, 1 };
}

static int at_most(int64_t v, int most) { return v < most ? (int)v : most; }

/* Copies rows begin .. end-1; returns 0, or NaN where a number is not finite. */
static real load(const gspike_work *w, const tridiag_job *job, int64_t k, int64_t j, int64_t begin,
                 int64_t end) {
    const int64_t at = k * job->system, n = job->n;
    const real *a = (const real *)job->a + at, *b = (const real *)job->b + at;
    const real *c = (const real *)job->c + at, *d = (const real *)job->d + at * job->nrhs + j;
    real poison = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = i * job->row;
        w->l[i] = i > 0 ? a[row] : 0, w->d[i] = b[row]; /* a[0] and c[n-1] do not exist */
        w->u[i] = i + 1 < n ? c[row] : 0, w->f[i] = d[row * job->nrhs];
        poison = poisoned(poisoned(poison, w->l[i]), w->d[i]);
        poison = poisoned(poisoned(poison, w->u[i]), w->f[i]);
    }
    return poison;
}

/* The blocks of a level above the lowest, from those below it. */
static real join_unit(const gspike_work *w, int level, int64_t unit, gspike_rules rules) {
    const gspike_level *l = &w->tree.level[level], *below = l - 1;
    const int count = at_most(below->units - unit * GSPIKE_FAN, GSPIKE_FAN) * below->slots;
    const gspike_block *from = w->blocks + below->slots_at + unit * GSPIKE_FAN * below->slots;
    gspike_block *out = w->blocks + l->slots_at + unit * l->slots;
    const gspike_rows rows = rows_of(w, l, unit);
    const gspike_joint j = gspike_join(&rows, from, count);
    if (j.live > 1)
        return gspike_unit(&rows, j.rows, &j, unit == l->units - 1, rules, out, l->slots);
    gspike_pass(&j, out, l->slots);
    return 0;
}

/* The other way: x of its rows, and the pairs of the blocks below. */
static void part_unit(const gspike_work *w, int level, int64_t unit) {
    const gspike_level *l = &w->tree.level[level], *below = l - 1;
    const int count = at_most(below->units - unit * GSPIKE_FAN, GSPIKE_FAN) * below->slots;
    const int64_t at = l->slots_at + unit * l->slots;
    const int64_t to = below->slots_at + unit * GSPIKE_FAN * below->slots;
    const gspike_rows rows = rows_of(w, l, unit);
    const gspike_ends whole = gspike_finish(&rows, w->blocks + at, w->pairs + at, l->slots);
    gspike_part(&rows, w->blocks + to, count, whole, w->pairs + to);
}

/* From the matrix to x, in w->f; the status. */
static int32_t solve(const gspike_work *w, int64_t n, gspike_rules rules) {
    const gspike_tree *t = &w->tree;
    const gspike_level *bottom = &t->level[0], *top = &t->level[t->top];
    real cond = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : cond)
    for (int64_t unit = 0; unit < bottom->units; unit++) {
        const gspike_rows rows = rows_of(w, bottom, unit);
        const int count = at_most(n - unit * GSPIKE_ROWS, GSPIKE_ROWS);
        cond = real_max(gspike_unit(&rows, count, NULL, unit == bottom->units - 1, rules,
                                    w->blocks + unit * bottom->slots, bottom->slots),
                        cond);
    }
    for (int i = 1; i < t->top; i++) {
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : cond)
        for (int64_t unit = 0; unit < t->level[i].units; unit++)
            cond = real_max(join_unit(w, i, unit, rules), cond);
    }
    const gspike_level *last = top - 1;
    const gspike_rows rows = rows_of(w, top, 0);
    const int32_t status =
        gspike_solve_top(&rows, w->blocks + last->slots_at, (int)(last->units * last->slots), n,
                         cond, rules, w->pairs + last->slots_at);
    for (int i = t->top - 1; i > 0; i--) {
#pragma omp parallel for num_threads(w->threads) schedule(static)
        for (int64_t unit = 0; unit < t->level[i].units; unit++) part_unit(w, i, unit);
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t unit = 0; unit < bottom->units; unit++) {
        const gspike_rows own = rows_of(w, bottom, unit);
        const int64_t at = unit * bottom->slots;
        (void)gspike_finish(&own, w->blocks + at, w->pairs + at, bottom->slots);
    }
    return status;
}

/* The residual of x, which is in w->f. */
static float residual_of(const gspike_work *w, const tridiag_job *job, int64_t k, int64_t j) {
    const int64_t at = k * job->system, n = job->n;
    const real *a = (const real *)job->a + at, *b = (const real *)job->b + at;
    const real *c = (const real *)job->c + at, *d = (const real *)job->d + at * job->nrhs + j;
    real r = 0, sums = 0, most = 0, rhs = 0, poison = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : r, sums, most, rhs) \
    reduction(+ : poison)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = i * job->row;
        norms m = { r, sums, most, rhs, 0, 0 };
        norms_row(&m, (real)job->tol, i > 0 ? a[row] : 0, b[row], i + 1 < n ? c[row] : 0,
                  d[row * job->nrhs], i > 0 ? w->f[i - 1] : 0, w->f[i],
                  i + 1 < n ? w->f[i + 1] : 0);
        r = m.r, sums = m.a, most = m.x, rhs = m.d, poison += m.poison;
    }
    const norms m = { r, sums, most, rhs, 0, poison };
    return norms_residual(&m);
}

/* Right-hand side j of system k: its status, and its residual where there is one to compute. */
static int32_t gspike_whole(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j,
                            float *residual) {
    const gspike_work w = lay_out(plan, job->work);
    const gspike_rules rules = { plan->delta, plan->cond, !plan->no_split };
    const int64_t n = job->n, parts = w.tree.level[0].units;
    real poison = 0;
#pragma omp parallel for num_threads(w.threads) schedule(static) reduction(+ : poison)
    for (int64_t p = 0; p < parts; p++)
        poison += load(&w, job, k, j, p * GSPIKE_ROWS,
                       n - p * GSPIKE_ROWS < GSPIKE_ROWS ? n : (p + 1) * GSPIKE_ROWS);
    *residual = (float)NAN;
    if (poison != 0) return SHOAL_SYSTEM_NONFINITE;
    const int32_t status = solve(&w, n, rules);
    if (status < 0) return status;
#pragma omp parallel for num_threads(w.threads) schedule(static) reduction(+ : poison)
    for (int64_t i = 0; i < n; i++) poison += w.f[i] * 0;
    if (poison != 0) return SHOAL_SYSTEM_OVERFLOW;
    if (job->residual) *residual = residual_of(&w, job, k, j);
    real *x = (real *)job->x + k * job->system * job->nrhs + j;
#pragma omp parallel for num_threads(w.threads) schedule(static)
    for (int64_t i = 0; i < n; i++) x[i * job->row * job->nrhs] = w.f[i];
    return job->residual && !(*residual <= job->tol) ? SHOAL_SYSTEM_ILL : status;
}

const tridiag_cpu_method R(tridiag_gspike) = { .bytes = gspike_bytes, .whole = gspike_whole };
