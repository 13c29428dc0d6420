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

/* The last date at which a path may be exercised before it is worth the European value. */
static int64_t line_end(const cva_job *job, const cva_contract *c) {
    return job->control ? c->last - 1 : c->last;
}

static void fill_line_terms(const cva_job *job, const cva_contract *c, int64_t k,
                            cva_line_terms *to) {
    const int64_t end = line_end(job, c);
    for (int64_t at = job->ahead; at < job->stops && job->stop[at] <= end; at++)
        *to++ = cva_line_terms_of(job, c, k, job->stop[at]);
}

/* Of paths that are exercised: the stop and the price, then what the value needs. */
typedef struct line_lanes {
    real alive[CVA_WIDTH], price[CVA_WIDTH], stop[CVA_WIDTH];
    real strike[CVA_WIDTH], back[CVA_WIDTH], discount[CVA_WIDTH], forward[CVA_WIDTH];
    real deviation[CVA_WIDTH], over[CVA_WIDTH];
} line_lanes;

/* over := the European value; one loop per side: the compiler drops half of the formula. A function of its own, with all
 * that it calls: otherwise the compiler calls the distribution function lane by lane. */
__attribute__((noinline, flatten)) static void make_european_values(line_lanes *w, real strike,
                                                                    int put) {
    if (put) {
        EACH(l, CVA_WIDTH)
        w->over[l] = w->discount[l] * real_black(w->forward[l], strike, w->deviation[l], 1);
    } else {
        EACH(l, CVA_WIDTH)
        w->over[l] = w->discount[l] * real_black(w->forward[l], strike, w->deviation[l], 0);
    }
}

/* On one asset: a path is exercised between two prices. y := what the lanes are worth. */
static void follow_line(const cva_job *job, const cva_contract *c, int64_t k, const double *spot,
                        const cva_line_terms *terms, cva_paths *paths, line_lanes *w, double *y) {
    const cva_rule *r = &c->rule[0];
    const int64_t a = c->asset[0], end = line_end(job, c);
    const int down = (c->form & CVA_DOWN) != 0;
    const double start = job->control ? cva_line_value(job, c, spot[a], k) : 0;
    const real weight = (real)cva_weight_in(c, 0);
    EACH(l, CVA_WIDTH) w->alive[l] = 1, w->price[l] = 0, w->stop[l] = 0;
    for (int64_t at = job->ahead; at < job->stops && cva_any(w->alive); at++) {
        const int64_t i = job->stop[at];
        if (i > end) break;
        if (i < c->last && !c->may[i - 1]) continue;
        const cva_number *numbers = i < c->last ? cva_numbers_at(r, i) : NULL;
        const real low = numbers ? (real)numbers[0] : 0;
        const real high = numbers ? (real)numbers[1] : REAL_MAX;
        const real *s = cva_prices_at(paths, at) + a * CVA_WIDTH, stop = (real)(at - job->ahead);
        EACH(l, CVA_WIDTH) {
            const int ends = (w->alive[l] > 0) & (s[l] >= low) & (s[l] <= high);
            w->price[l] = real_pick(ends, s[l], w->price[l]);
            w->stop[l] = real_pick(ends, stop, w->stop[l]);
            w->alive[l] = real_pick(ends, 0, w->alive[l]);
        }
    }
    EACH(l, CVA_WIDTH) y[l] = start;
    int ended = 0;
    for (int l = 0; l < CVA_WIDTH; l++) {
        const cva_line_terms *t = &terms[(int)w->stop[l]];
        const int ends = !(w->alive[l] > 0);
        ended |= ends;
        w->strike[l] = ends ? (real)t->strike : 0, w->back[l] = ends ? (real)t->back : 0;
        w->discount[l] = ends ? (real)t->discount : 1;
        w->deviation[l] = ends ? (real)t->deviation : 0;
        w->forward[l] = ends ? weight * w->price[l] * (real)t->growth : 0;
    }
    if (!ended) return;
    EACH(l, CVA_WIDTH) w->over[l] = 0;
    if (job->control) make_european_values(w, (real)c->strike, down);
    EACH(l, CVA_WIDTH) {
        const real b = weight * w->price[l];
        const real gain = real_pick(down, w->strike[l] - b, b - w->strike[l]);
        const real more = w->back[l] * (real_pick(gain > 0, gain, 0) - w->over[l]);
        y[l] = shoal_pick(w->alive[l] > 0, y[l], start + (double)more);
    }
}

typedef struct worker {
    cva_paths paths;
    cva_lanes lanes;
    line_lanes line;
    cva_outcome outcome;
    real start[SHOAL_CVA_ASSETS * CVA_WIDTH];
    real prices[]; /* of paths */
} worker;

/* terms: [contract][stop] */
static void follow_item(const cva_job *job, int64_t k, int64_t at, const cva_line_terms *terms,
                        worker *w) {
    const cva_item *item = &job->item[at];
    const double *spot = job->spot + item->path * job->assets;
    double y[CVA_WIDTH];
    w->paths.spot = spot, w->paths.made = job->ahead;
    w->paths.first = cva_first(job, item);
    memset(w->paths.at, 0, (size_t)job->assets * CVA_WIDTH * sizeof *w->paths.at);
    cva_begin_hestons(job, spot, w->paths.state);
    for (int a = 0; a < job->assets; a++)
        EACH(l, CVA_WIDTH) w->start[a * CVA_WIDTH + l] = (real)spot[a];
    for (int64_t i = 0; i < job->americans; i++) {
        const cva_contract *c = &job->contract[job->american[i]];
        job->sums[at * job->places + c->place] = 0;
        if (!job->holds[c->place * job->paths + item->path]) continue;
        if (c->rule[0].basis.kind == CVA_LINE)
            follow_line(job, c, k, spot, terms + i * (job->stops - job->ahead), &w->paths, &w->line,
                        y);
        else
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
    cva_line_terms *terms = malloc((size_t)(job->americans * stops + 1) * sizeof *terms);
    if (!terms) return SHOAL_NO_MEMORY(ctx, "inner paths");
    for (int64_t i = 0; i < job->americans; i++)
        if (job->contract[job->american[i]].rule[0].basis.kind == CVA_LINE)
            fill_line_terms(job, &job->contract[job->american[i]], k, terms + i * stops);
    ON_THREADS((int)threads, static, 1)
    for (int64_t thread = 0; thread < threads; thread++) {
        worker *w = malloc(bytes);
        if (!w) {
            failed = 1;
            continue;
        }
        w->paths.job = job, w->paths.k = k, w->paths.prices = w->prices;
        for (int64_t at = thread; at < job->items; at += threads)
            if (!shoal_is_cancelled(ctx, at, job->items)) follow_item(job, k, at, terms, w);
        free(w);
    }
    free(terms);
    return failed ? SHOAL_NO_MEMORY(ctx, "inner paths") : SHOAL_OK;
}

const cva_walker R(cva_walker) = { .nest = nest, .follow = follow };
