/* SPDX-License-Identifier: Apache-2.0
 *
 * gspike.c - one long system on the CPU by the g-Spike method, gspike.h.
 *
 * Level by level, OpenMP threads over blocks; the bits do not depend on the number of threads. The matrix
 * is copied into the workspace first, 5 n numbers, which the factors, the spikes and x then take over; the
 * levels above have about an eighth of that, a sixteenth without the split.
 *
 * Bytes: dl, d, du, b once, the workspace about five times.
 */
#include "tridiag/condition.h"
#include "tridiag/gspike.h"
#include "tridiag/whole.h"

typedef struct gspike_work { /* the arrays of all levels */
    gspike_tree tree;
    real *dl, *d, *du, *s, *b;
    gspike_block *blocks;
    gspike_pair *pairs;
    int scaled; /* whether rows are */
    int threads;
} gspike_work;

static size_t gspike_bytes(const shoal_tridiag *plan) {
    const gspike_tree t = gspike_plan(plan->job.n, plan->block, !plan->no_split);
    return (size_t)t.rows * 5 * sizeof(real) +
           (size_t)t.slots * (sizeof(gspike_block) + sizeof(gspike_pair));
}

static gspike_work lay_out(const shoal_tridiag *plan, void *memory) {
    gspike_work w = { .tree = gspike_plan(plan->job.n, plan->block, !plan->no_split),
                      .dl = memory };
    w.scaled = !plan->no_split; /* the paper's own variant does neither */
    w.threads = plan->head.ctx->threads;
    const int64_t rows = w.tree.rows;
    w.d = w.dl + rows, w.du = w.d + rows, w.s = w.du + rows, w.b = w.s + rows;
    w.pairs = (gspike_pair *)(w.b + rows);
    w.blocks = (gspike_block *)(void *)(w.pairs + w.tree.slots);
    return w;
}

static gspike_rows rows_of(const gspike_work *w, const gspike_level *l, int64_t unit) {
    const int64_t at = l->rows_at + unit * l->rows;
    return (gspike_rows){ w->dl + at, w->d + at, w->du + at, w->s + at, w->b + at, 1 };
}

static int at_most(int64_t v, int most) { return v < most ? (int)v : most; }

/* Copies rows begin .. end-1, scaled (residual.h) unless the plan says no_split; returns 0, or NaN where a number is not
 * finite. *least goes down to the least by which the diagonal exceeds the rest of a row: |A^-1| <= 1 / *least. */
static real load(const gspike_work *w, const tridiag_job *job, int64_t k, int64_t j, int64_t begin,
                 int64_t end, real *least) {
    const int64_t at = k * job->system, n = job->n;
    const real *dl = (const real *)job->dl + at, *d = (const real *)job->d + at;
    const real *du = (const real *)job->du + at, *b = (const real *)job->b + at * job->nrhs + j;
    real poison = 0;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = i * job->row;
        w->dl[i] = i > 0 ? dl[row] : 0, w->d[i] = d[row]; /* dl[0] and du[n-1] do not exist */
        w->du[i] = i + 1 < n ? du[row] : 0, w->b[i] = b[row * job->nrhs];
        poison = poisoned(poisoned(poison, w->dl[i]), w->d[i]);
        poison = poisoned(poisoned(poison, w->du[i]), w->b[i]);
        if (!w->scaled) continue;
        const real scale = row_scale(row_power(w->dl[i], w->d[i], w->du[i]));
        w->dl[i] *= scale, w->d[i] *= scale, w->du[i] *= scale, w->b[i] *= scale;
        *least = real_min(real_abs(w->d[i]) - (real_abs(w->dl[i]) + real_abs(w->du[i])), *least);
    }
    return poison;
}

/* A unit of a level above the lowest: its blocks from those below it. `blocks` are those of all levels;
 * returns the largest estimate. */
static inline real gspike_join_unit(const gspike_rows *w, const gspike_level *below,
                                    const gspike_level *l, int64_t unit, gspike_rules rules,
                                    gspike_block *blocks) {
    int count;
    const gspike_block *from = blocks + gspike_below(below, unit, &count);
    gspike_block *out = blocks + l->slots_at + unit * l->slots;
    const gspike_joint j = gspike_join(w, from, count);
    if (j.live > 1) return gspike_unit(w, j.rows, &j, unit == l->units - 1, rules, out, l->slots);
    gspike_pass(&j, out, l->slots);
    return 0;
}

/* The way back: x of its rows, and the pairs of the blocks below. */
static inline void gspike_part_unit(const gspike_rows *w, const gspike_level *below,
                                    const gspike_level *l, int64_t unit, const gspike_block *blocks,
                                    gspike_pair *pairs) {
    int count;
    const int64_t own = l->slots_at + unit * l->slots, to = gspike_below(below, unit, &count);
    const gspike_ends whole = gspike_finish(w, blocks + own, pairs + own, l->slots);
    gspike_part(w, blocks + to, count, whole, pairs + to);
}

/* From the matrix to x, in w->b; the status. */
static int32_t solve(const gspike_work *w, int64_t n, gspike_rules rules) {
    const gspike_tree *t = &w->tree;
    const gspike_level *bottom = &t->level[0], *top = &t->level[t->top];
    real cond = 0;
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : cond)
    for (int64_t unit = 0; unit < bottom->units; unit++) {
        const gspike_rows rows = rows_of(w, bottom, unit);
        const int count = at_most(n - unit * bottom->rows, bottom->rows);
        cond = real_max(gspike_unit(&rows, count, NULL, unit == bottom->units - 1, rules,
                                    w->blocks + unit * bottom->slots, bottom->slots),
                        cond);
    }
    for (int i = 1; i < t->top; i++) {
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(max : cond)
        for (int64_t unit = 0; unit < t->level[i].units; unit++) {
            const gspike_rows rows = rows_of(w, &t->level[i], unit);
            cond = real_max(
                gspike_join_unit(&rows, &t->level[i - 1], &t->level[i], unit, rules, w->blocks),
                cond);
        }
    }
    const gspike_level *last = top - 1;
    const gspike_rows top_rows = rows_of(w, top, 0);
    const int32_t status =
        gspike_solve_top(&top_rows, w->blocks + last->slots_at, (int)(last->units * last->slots), n,
                         cond, rules, w->pairs + last->slots_at);
    for (int i = t->top - 1; i > 0; i--) {
#pragma omp parallel for num_threads(w->threads) schedule(static)
        for (int64_t unit = 0; unit < t->level[i].units; unit++) {
            const gspike_rows rows = rows_of(w, &t->level[i], unit);
            gspike_part_unit(&rows, &t->level[i - 1], &t->level[i], unit, w->blocks, w->pairs);
        }
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t unit = 0; unit < bottom->units; unit++) {
        const gspike_rows own = rows_of(w, bottom, unit);
        const int64_t at = unit * bottom->slots;
        (void)gspike_finish(&own, w->blocks + at, w->pairs + at, bottom->slots);
    }
    return status;
}

/* Right-hand side j of system k: its status, and its residual where there is one to compute. */
static int32_t gspike_whole(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j,
                            float *residual) {
    const gspike_work w = lay_out(plan, job->work);
    const gspike_rules rules = { plan->delta, plan->block_cond, !plan->no_split };
    const int64_t n = job->n, parts = w.tree.level[0].units, rows = plan->block;
    real poison = 0, least = w.scaled ? 1 : 0;
#pragma omp parallel for num_threads(w.threads) schedule(static) reduction(+ : poison)              \
    reduction(min : least)
    for (int64_t p = 0; p < parts; p++)
        poison += load(&w, job, k, j, p * rows, n - p * rows < rows ? n : (p + 1) * rows, &least);
    *residual = (float)NAN;
    if (poison != 0) return SHOAL_SYSTEM_NONFINITE;
    const int32_t status = solve(&w, n, rules);
    if (status < 0) return status;
    *job->unproved = !(least > 0) || is_ill(6 * ROW_UNIT / least, job->cond);
#pragma omp parallel for num_threads(w.threads) schedule(static) reduction(+ : poison)
    for (int64_t i = 0; i < n; i++) poison += w.b[i] * 0;
    if (poison != 0) return SHOAL_SYSTEM_OVERFLOW;
    return whole_finish(job, k, j, w.b, status, w.threads, residual);
}

const tridiag_cpu_method R(tridiag_gspike) = { .bytes = gspike_bytes,
                                               .whole = gspike_whole,
                                               .proves = 1 };
