/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.c - inner paths on the CPU: those of European contracts go to maturity in one step (nest.h), those of contracts
 * with early exercise follow their rules from date to date (walk.h). All contracts of an outer path and date share
 * them.
 *
 * Threads share the items; inner paths are lanes, CVA_LANES at a time: an item. A block of Philox
 * makes two normals (f32: four). An inner path of European contracts costs half a Philox block and one exponential per
 * asset, and one more exponential per asset for each additional maturity.
 */
#define CVA_WIDTH 32
#define CVA_FOLLOWS
#include "cva/nest.h"
#include <stdlib.h>

static double folded(double *x) {
    for (int distance = CVA_WIDTH / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) x[l] += x[l + distance];
    return x[0];
}

/* ---- European contracts -------------------------------------------------------------------------- */

static void nest_item(const cva_job *job, int64_t k, int64_t at, cva_nest *b) {
    const cva_item *item = &job->item[at];
    const double *spot = job->spot + item->path * job->assets;
    double x[CVA_LANES];
    cva_begin_nest(job, k, cva_first(job, item), b);
    for (int64_t i = 0; i < job->nesteds; i++) {
        const cva_contract *c = &job->contract[job->nested[i]];
        const cva_span left = cva_rest(job, c, k);
        if (c->kind != CVA_NESTED) continue;
        job->sums[at * job->places + c->place] = 0;
        if (!(left.years > 0) || !cva_is_seen(job, c)) continue;
        cva_nest_pay(job, c, spot, left, b);
        for (int l = 0; l < CVA_LANES; l++) x[l] = l < item->lanes ? (double)b->all[l] : 0;
        job->sums[at * job->places + c->place] = cva_discount_over(job, left) * folded(x);
    }
}

static shoal_status nest(shoal_context *ctx, const cva_job *job, int64_t k) {
    ON_THREADS(ctx->threads, dynamic, CVA_TASK)
    for (int64_t at = 0; at < job->items; at++) {
        if (shoal_is_cancelled(ctx, at, job->items)) continue;
        cva_nest b;
        nest_item(job, k, at, &b);
    }
    return SHOAL_OK;
}

/* ---- contracts with early exercise --------------------------------------------------------------- */

/* The paths of an item, as far as some contract has followed them: [stop][asset][lane]. */
struct cva_paths {
    const cva_job *job;
    const double *spot;
    int64_t k, made; /* the stop that comes next */
    uint64_t first;
    real at[SHOAL_CVA_ASSETS * CVA_WIDTH];
    real state[SHOAL_CVA_ASSETS * CVA_WIDTH]; /* of variances */
    real z[CVA_NORMALS][CVA_WIDTH];
    real *prices;
};

static inline const real *cva_prices_at(cva_paths *p, int64_t stop) {
    const cva_job *job = p->job;
    const int64_t numbers = (int64_t)job->assets * CVA_WIDTH;
    for (; p->made <= stop; p->made++)
        cva_step(job, p->k, p->made, p->spot, p->first, p->z, p->at, p->state,
                 p->prices + (p->made - job->ahead) * numbers);
    return p->prices + (stop - job->ahead) * numbers;
}

typedef struct worker {
    cva_paths paths;
    cva_lanes lanes;
    cva_outcome outcome;
    real start[SHOAL_CVA_ASSETS * CVA_WIDTH];
    real prices[]; /* of paths */
} worker;

static void follow_item(const cva_job *job, int64_t k, int64_t at, worker *w) {
    const cva_item *item = &job->item[at];
    const double *spot = job->spot + item->path * job->assets;
    double y[CVA_WIDTH];
    w->paths.spot = spot, w->paths.made = job->ahead;
    w->paths.first = cva_first(job, item);
    memset(w->paths.at, 0, (size_t)job->assets * CVA_WIDTH * sizeof *w->paths.at);
    cva_begin_hestons(job, spot, w->paths.state);
    for (int a = 0; a < job->assets; a++)
        EACH(l, CVA_WIDTH) w->start[a * CVA_WIDTH + l] = (real)spot[a];
    for (int64_t i = 0; i < job->follows; i++) {
        const cva_contract *c = &job->contract[job->followed[i]];
        job->sums[at * job->places + c->place] = 0;
        if (!job->holds[c->place * job->paths + item->path]) continue;
        cva_follow_many(job, c, k, w->start, &w->paths, &w->lanes, &w->outcome, y);
        for (int l = item->lanes; l < CVA_WIDTH; l++) y[l] = 0;
        job->sums[at * job->places + c->place] = folded(y);
    }
}

static shoal_status follow(shoal_context *ctx, const cva_job *job, int64_t k) {
    int failed = 0;
    const int64_t stops = job->stops - job->ahead;
    const size_t bytes = sizeof(worker) + (size_t)(stops * job->assets * CVA_WIDTH) * sizeof(real);
    const int64_t threads = ctx->threads < job->items ? ctx->threads : job->items;
    ON_THREADS((int)threads, static, 1)
    for (int64_t thread = 0; thread < threads; thread++) {
        worker *w = malloc(bytes);
        if (!w) {
            failed = 1;
            continue;
        }
        w->paths.job = job, w->paths.k = k, w->paths.prices = w->prices;
        for (int64_t at = thread; at < job->items; at += threads)
            if (!shoal_is_cancelled(ctx, at, job->items)) follow_item(job, k, at, w);
        free(w);
    }
    return failed ? SHOAL_NO_MEMORY(ctx, "inner paths") : SHOAL_OK;
}

const cva_walker R(cva_walker) = { .nest = nest, .follow = follow };
