/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.h - CVA_WIDTH paths side by side, for both compilers: their prices, the functions of a rule, its
 * decision and hedge, and inner paths that follow it. The CPU includes it with the lanes of a vector loop
 * (CVA_WIDTH 32, fits 256), the GPU with CVA_WIDTH 1: one thread is a path. The same operations in the same
 * order: the same bits in f64.
 *
 * With CVA_FOLLOWS the includer defines cva_paths and cva_prices_at().
 *
 * An inner path is exact from stop to stop, the dates at which some contract may be exercised,
 *
 *     S_i = S_k e^((r - q - sigma^2 / 2) (t_i - t_k) + sigma B_i),   B_i = B_(i-1) + sqrt(t_i - t_(i-1)) L Z.
 *
 * What its cash flow is worth at date k, exercise at date tau by the rule:
 *
 *     one asset    euro_k(S_k) + e^(-r (t_tau - t_k)) (payoff - euro_tau)(S_tau),   euro Black's formula:
 *
 * e^(-r t) euro is a martingale, so that the mean stays; the noise that is left is that of the premium, and a
 * path that is kept to maturity has none. The path ends one date before maturity.
 *
 *     several      e^(-r (t_tau - t_k)) payoff - sum_(i < tau) e^(-r (t_i - t_k)) h_i (e^((q - r) dt) S_(i+1) - S_i),
 *
 * h the hedge of the rule: each term has the mean 0 given date i.
 */
#ifndef SHOAL_CVA_WALK_H
#define SHOAL_CVA_WALK_H

#include "cva/values.h"
#include "pricing/pick.h"
#include "rng/normal.h"

#ifdef __CUDACC__
#define CVA_CALL __device__ static inline
#else
#define CVA_CALL static inline
#endif

#if CVA_WIDTH > 1
#include "pricing/lanes.h"
#define CVA_EACH(l) EACH(l, CVA_WIDTH)
#else
#define CVA_EACH(l) for (int l = 0; l < 1; l++)
#endif

enum { CVA_NORMALS = 16 / sizeof(real) }; /* of a Philox block */

#if CVA_WIDTH == 1
/* A Philox block of one path, and two of its normals. */
CVA_CALL shoal_words cva_words(const shoal_stream *stream, uint32_t step, uint64_t first) {
    shoal_words w = { { (uint32_t)first, (uint32_t)(first >> 32), step, stream->tag } };
    for (int round = 0; round < 10; round++)
        w = shoal_philox_round(w, stream->key[round][0], stream->key[round][1]);
    return w;
}
CVA_CALL void cva_pair(const shoal_words *w, int pair, real *z0, real *z1) {
#ifdef SHOAL_SINGLE
    const shoal_normalsf z = shoal_normal_pairf(w, pair);
#else
    const shoal_normals z = shoal_normal_pair(w);
    (void)pair; /* there is one */
#endif
    *z0 = z.z[0], *z1 = z.z[1];
}
#endif

/* z[e][lane] := the normals of a Philox block of paths first, first + 1, .. */
CVA_CALL void cva_draw(const shoal_stream *stream, uint32_t step, uint64_t first,
                       real (*z)[CVA_WIDTH]) {
#if CVA_WIDTH > 1
    uint32_t w[4 * CVA_WIDTH];
    lanes_words(stream, step, first, CVA_WIDTH, w);
    for (int e = 0; e < CVA_NORMALS; e += 2) lanes_normals(w, e / 2, CVA_WIDTH, z[e], z[e + 1]);
#else
    const shoal_words w = cva_words(stream, step, first);
    for (int e = 0; e < CVA_NORMALS; e += 2) cva_pair(&w, e / 2, z[e], z[e + 1]);
#endif
}

/* ---- prices ------------------------------------------------------------------------------------ */

/* at[a] += column b of L times normals z, over a span, times the root of `keep`; `flat` is the deviation in a flat market. */
CVA_CALL void cva_add_normal(const cva_job *job, int assets, int b, const real *z, cva_span span,
                             double keep, double flat, real *at) {
    for (int a = b; a < assets; a++) {
        const double scale = job->integral ? sqrt(keep * cva_clock(job, span, a)) : flat;
        const real load = (real)(scale * job->load[a * (a + 1) / 2 + b]);
        real *to = at + a * CVA_WIDTH;
        CVA_EACH(l) to[l] = real_fma(load, z[l], to[l]);
    }
}

/* Philox blocks of a step of all assets. */
SHOAL_HD static inline uint32_t cva_blocks(const cva_job *job) {
    return (uint32_t)((job->assets + CVA_NORMALS - 1) / CVA_NORMALS);
}

/* Steps of inner paths that share a block: normals of one asset, in f32 of two, would leave half of it. */
SHOAL_HD static inline uint32_t cva_steps(const cva_job *job) {
    return job->assets <= CVA_NORMALS / 2 ? (uint32_t)(CVA_NORMALS / job->assets) : 1;
}

/* Prices of the first assets a span after `spot`. */
CVA_CALL void cva_make_prices(const cva_job *job, int assets, const double *spot, cva_span span,
                              const real *at, real *s) {
    for (int a = 0; a < assets; a++) {
        const real start = (real)spot[a], shift = (real)cva_drift(job, span, a);
        const real sigma = (real)job->sigma[a];
        const real *from = at + a * CVA_WIDTH;
        real *to = s + a * CVA_WIDTH;
        CVA_EACH(l) to[l] = start * real_exp(real_fma(sigma, from[l], shift));
    }
}

/* ---- rules ------------------------------------------------------------------------------------- */

/* Numbers of a rule and weights. A kernel in f32 has them as such: converting them for every path takes longer than to
 * work with them. */
#if CVA_WIDTH == 1 && defined(SHOAL_SINGLE)
typedef float cva_number;
CVA_CALL const float *cva_numbers_at(const cva_rule *r, int64_t k) {
    return r->single + (k - 1) * cva_rule_numbers(&r->basis);
}
CVA_CALL real cva_weight(const cva_contract *c, int n) { return c->single_weight[n]; }
#else
typedef double cva_number;
CVA_CALL const double *cva_numbers_at(const cva_rule *r, int64_t k) { return cva_rule_at(r, k); }
CVA_CALL real cva_weight(const cva_contract *c, int n) { return (real)c->weight[n]; }
#endif
/* Of a region: 0 is out of the money. */
CVA_CALL const cva_number *cva_numbers_of(const cva_rule *r, int64_t k, int region) {
    return cva_numbers_at(r, k) + region * cva_region_numbers(&r->basis);
}

typedef struct cva_lanes { /* what a rule works in */
    real u[CVA_VARIABLES][CVA_WIDTH];
    real rank[CVA_DIRECTIONS][CVA_WIDTH]; /* which of the contract's assets a direction is */
    real psi[CVA_FUNCTIONS][CVA_WIDTH];
    real gain[CVA_WIDTH]; /* of exercise; below 0 out of the money */
    real hold[CVA_WIDTH]; /* what going on is worth by the regression */
} cva_lanes;

/* Variables and gain at prices s of date k, [asset][lane]. */
CVA_CALL void cva_make_variables(const cva_contract *c, const cva_basis *b, int64_t k,
                                 const real *s, cva_lanes *w) {
    const int down = c->form & CVA_DOWN;
    const real strike = (real)cva_strike_at(c, k);
    if (b->kind == CVA_RANKS) {
        for (int j = 0; j < b->variables; j++) CVA_EACH(l) w->u[j][l] = -1, w->rank[j][l] = -1;
        for (int n = 0; n < c->assets; n++) {
            const real *from = s + c->asset[n] * CVA_WIDTH;
            const real more = (real)cva_cash_in(c, k, n);
            real x[CVA_WIDTH], who[CVA_WIDTH];
            CVA_EACH(l) x[l] = from[l] + more, who[l] = (real)n;
            for (int j = 0; j < b->variables; j++) CVA_EACH(l) {
                    const int above = x[l] > w->u[j][l];
                    const real rest = real_pick(above, w->u[j][l], x[l]);
                    const real other = real_pick(above, w->rank[j][l], who[l]);
                    w->u[j][l] = real_pick(above, x[l], w->u[j][l]);
                    w->rank[j][l] = real_pick(above, who[l], w->rank[j][l]);
                    x[l] = rest, who[l] = other;
                }
        }
    } else if (b->kind == CVA_LARGEST) {
        CVA_EACH(l) w->u[0][l] = -1;
        for (int n = 0; n < c->assets; n++) {
            const real *from = s + c->asset[n] * CVA_WIDTH, more = (real)cva_cash_in(c, k, n);
            CVA_EACH(l) {
                const real x = from[l] + more;
                w->u[0][l] = real_pick(x > w->u[0][l], x, w->u[0][l]);
                w->u[1 + n][l] = x, w->rank[n][l] = (real)n; /* a direction is an asset */
            }
        }
    } else {
        CVA_EACH(l) w->u[0][l] = 0;
        for (int n = 0; n < c->assets; n++) {
            const real weight = cva_weight(c, n);
            const real *from = s + c->asset[n] * CVA_WIDTH;
            CVA_EACH(l) w->u[0][l] = real_fma(weight, from[l], w->u[0][l]);
            if (n > 0 && n < b->variables) CVA_EACH(l) w->u[n][l] = from[l];
        }
    }
    CVA_EACH(l) w->gain[l] = down ? strike - w->u[0][l] : w->u[0][l] - strike;
}

/* psi at the variables of date k. */
CVA_CALL void cva_make_psi(const cva_rule *r, int64_t k, cva_lanes *w) {
    const cva_basis *b = &r->basis;
    const cva_number *out = cva_numbers_of(r, k, 0), *in = cva_numbers_of(r, k, 1);
    const int v = b->variables;
    CVA_EACH(l) w->psi[0][l] = 1;
    for (int j = 0; j < v; j++) {
        const real c0 = (real)out[j], c1 = (real)in[j];
        const real i0 = (real)out[v + j], i1 = (real)in[v + j];
        CVA_EACH(l) {
            const int inside = w->gain[l] > 0;
            w->psi[1 + j][l] = (w->u[j][l] - real_pick(inside, c1, c0)) * real_pick(inside, i1, i0);
        }
    }
    for (int n = 1 + v; n < b->functions; n++) {
        const real *x = w->psi[b->from[n]], *y = w->psi[1 + b->by[n]];
        CVA_EACH(l) w->psi[n][l] = x[l] * y[l];
    }
}

/* hold := what the regression says. */
CVA_CALL void cva_make_hold(const cva_rule *r, int64_t k, cva_lanes *w) {
    const cva_basis *b = &r->basis;
    const cva_number *out = cva_numbers_of(r, k, 0) + 2 * b->variables;
    const cva_number *in = cva_numbers_of(r, k, 1) + 2 * b->variables;
    CVA_EACH(l) w->hold[l] = real_pick(w->gain[l] > 0, (real)in[0], (real)out[0]);
    for (int n = 1; n < b->functions; n++) {
        const real x0 = (real)out[n], x1 = (real)in[n];
        CVA_EACH(l)
        w->hold[l] = real_fma(real_pick(w->gain[l] > 0, x1, x0), w->psi[n][l], w->hold[l]);
    }
}

/* Both in one pass over the functions. */
CVA_CALL void cva_make_psi_and_hold(const cva_rule *r, int64_t k, cva_lanes *w) {
    const cva_basis *b = &r->basis;
    const cva_number *out = cva_numbers_of(r, k, 0), *in = cva_numbers_of(r, k, 1);
    const int v = b->variables;
    const cva_number *less = out + 2 * v, *more = in + 2 * v;
    real hold[CVA_WIDTH];
    CVA_EACH(l) {
        hold[l] = real_pick(w->gain[l] > 0, (real)more[0], (real)less[0]);
        w->psi[0][l] = 1;
    }
    for (int j = 0; j < v; j++) {
        const real c0 = (real)out[j], c1 = (real)in[j];
        const real i0 = (real)out[v + j], i1 = (real)in[v + j];
        const real x0 = (real)less[1 + j], x1 = (real)more[1 + j];
        CVA_EACH(l) {
            const int inside = w->gain[l] > 0;
            const real psi = (w->u[j][l] - real_pick(inside, c1, c0)) * real_pick(inside, i1, i0);
            w->psi[1 + j][l] = psi;
            hold[l] = real_fma(real_pick(inside, x1, x0), psi, hold[l]);
        }
    }
    for (int n = 1 + v; n < b->functions; n++) {
        const real *x = w->psi[b->from[n]], *y = w->psi[1 + b->by[n]];
        const real x0 = (real)less[n], x1 = (real)more[n];
        CVA_EACH(l) {
            const real psi = x[l] * y[l];
            w->psi[n][l] = psi;
            hold[l] = real_fma(real_pick(w->gain[l] > 0, x1, x0), psi, hold[l]);
        }
    }
    CVA_EACH(l) w->hold[l] = hold[l];
}

/* h[asset of the contract] := how much of it the hedge holds over the next step, at the psi of date k. */
CVA_CALL void cva_make_hedge(const cva_contract *c, const cva_rule *r, int64_t k,
                             const cva_lanes *w, real (*h)[CVA_WIDTH]) {
    const cva_basis *b = &r->basis;
    const cva_number *out = cva_numbers_of(r, k, 0) + 2 * b->variables + b->functions;
    const cva_number *in = cva_numbers_of(r, k, 1) + 2 * b->variables + b->functions;
    for (int n = 0; n < c->assets; n++) CVA_EACH(l) h[n][l] = 0;
    for (int j = 0; j < b->directions; j++) {
        real held[CVA_WIDTH];
        CVA_EACH(l) held[l] = 0;
        for (int m = 0; m < b->hedges; m++) {
            const real x0 = (real)out[j * b->hedges + m], x1 = (real)in[j * b->hedges + m];
            const real *psi = w->psi[b->hedge[m]];
            CVA_EACH(l)
            held[l] = real_fma(real_pick(w->gain[l] > 0, x1, x0), psi[l], held[l]);
        }
        for (int n = 0; n < c->assets; n++) {
            if (b->kind != CVA_BASKET)
                CVA_EACH(l) h[n][l] = real_pick(w->rank[j][l] == (real)n, held[l], h[n][l]);
            else {
                const real weight = cva_weight(c, n);
                CVA_EACH(l) h[n][l] = weight * held[l];
            }
        }
    }
}

#ifdef CVA_FOLLOWS
/* ---- inner paths ------------------------------------------------------------------------------- */

/* The prices of inner paths at a stop, [asset][lane], in the order of stops: the includer has them. */
typedef struct cva_paths cva_paths;
CVA_CALL const real *cva_prices_at(cva_paths *paths, int64_t stop);

/* The date before a stop, on inner paths from date k. */
CVA_CALL int64_t cva_before(const cva_job *job, int64_t k, int64_t stop) {
    return stop > job->ahead ? job->stop[stop - 1] : k;
}

#if CVA_WIDTH > 1

/* Moves to a stop from the one before: Brownian motions `at` since date k, and the prices s. z has the normals of the
 * last block, which may have some for this step, too. */
CVA_CALL void cva_step(const cva_job *job, int64_t k, int64_t stop, const double *spot,
                       uint64_t first, real (*z)[CVA_WIDTH], real *at, real *s) {
    const int64_t to = job->stop[stop];
    const cva_span step = cva_between(job, cva_before(job, k, stop), to);
    const double flat = sqrt(step.years);
    const uint32_t number = (uint32_t)(stop - job->ahead), steps = cva_steps(job);
    uint32_t block = number / steps * cva_blocks(job);
    int from = (int)(number % steps) * job->assets;
    for (int b = 0; b < job->assets; b++, from++) {
        if (from % CVA_NORMALS == 0) cva_draw(&job->walk_normals, block++, first, z);
        cva_add_normal(job, job->assets, b, z[from % CVA_NORMALS], step, 1, flat, at);
    }
    cva_make_prices(job, job->assets, spot, cva_between(job, k, to), at, s);
}

/* The discount from a stop to date k; of an asset's forward price over the step to the stop. */
CVA_CALL real cva_discount(const cva_job *job, int64_t k, int64_t stop) {
    return (real)cva_discount_over(job, cva_between(job, k, job->stop[stop]));
}
CVA_CALL real cva_back(const cva_job *job, int64_t k, int64_t stop, int64_t a) {
    const cva_span step = cva_between(job, cva_before(job, k, stop), job->stop[stop]);
    return (real)shoal_exp(-cva_growth(job, step, a));
}

#else /* the same from a table that all paths share */

typedef struct alignas(16) cva_tile {
    real load[CVA_TILE];
} cva_tile;

CVA_CALL const real *cva_table(const cva_job *job, int64_t stop) {
    return (const real *)job->table + (stop - job->ahead) * cva_table_numbers(job->assets);
}
CVA_CALL const real *cva_shifts(const cva_job *job, int64_t stop) {
    return cva_table(job, stop) + cva_tile_at((job->assets + CVA_TILE - 1) / CVA_TILE);
}

/* Row a of the table of a stop. */
CVA_CALL void cva_fill_table(const cva_job *job, int64_t k, int64_t stop, int a) {
    const cva_span whole = cva_between(job, k, job->stop[stop]);
    const cva_span step = cva_between(job, cva_before(job, k, stop), job->stop[stop]);
    const double scale = a < job->assets ? cva_scale(job, step, a, sqrt(step.years)) : 0;
    real *tile = (real *)cva_table(job, stop) + cva_tile_at(a / CVA_TILE);
    real *shift = (real *)cva_shifts(job, stop);
    for (int b = 0; b < a / CVA_TILE * CVA_TILE + CVA_TILE; b++)
        tile[b * CVA_TILE + a % CVA_TILE] =
            b <= a && a < job->assets ? (real)(scale * job->load[a * (a + 1) / 2 + b]) : 0;
    if (a == 0) shift[3 * job->assets] = (real)cva_discount_over(job, whole);
    if (a >= job->assets) return;
    shift[a] = (real)cva_drift(job, whole, a);
    shift[job->assets + a] = (real)shoal_exp(-cva_growth(job, step, a));
    shift[2 * job->assets + a] = (real)job->sigma[a];
}

/* `at` and s of whole tiles. */
CVA_CALL void cva_step(const cva_job *job, int assets, int64_t k, int64_t stop, const double *spot,
                       uint64_t first, real *at, real *s) {
    const real *table = cva_table(job, stop), *shift = cva_shifts(job, stop);
    const real *sigma = shift + 2 * job->assets;
    uint32_t step = (uint32_t)(stop - job->ahead) * cva_blocks(job);
    real z[SHOAL_CVA_ASSETS + CVA_NORMALS - 1];
    (void)k;
    for (int b = 0; b < assets; b += CVA_NORMALS, step++) {
        const shoal_words w = cva_words(&job->walk_normals, step, first);
        for (int e = 0; e < CVA_NORMALS && b + e < assets; e += 2)
            cva_pair(&w, e / 2, &z[b + e], &z[b + e + 1]);
    }
    for (int tile = 0; tile * CVA_TILE < assets; tile++) {
        const cva_tile *column = (const cva_tile *)(table + cva_tile_at(tile));
        const int a0 = tile * CVA_TILE, end = a0 + CVA_TILE < assets ? a0 + CVA_TILE : assets;
        real sum[CVA_TILE];
        for (int e = 0; e < CVA_TILE; e++) sum[e] = at[a0 + e];
        for (int b = 0; b < end; b++) {
            const cva_tile here = column[b];
            for (int e = 0; e < CVA_TILE; e++) sum[e] = real_fma(here.load[e], z[b], sum[e]);
        }
        for (int e = 0; e < CVA_TILE; e++) at[a0 + e] = sum[e];
    }
    for (int a = 0; a < assets; a++)
        s[a] = (real)spot[a] * real_exp(real_fma(sigma[a], at[a], shift[a]));
}

CVA_CALL real cva_discount(const cva_job *job, int64_t, int64_t stop) {
    return cva_shifts(job, stop)[3 * job->assets];
}
CVA_CALL real cva_back(const cva_job *job, int64_t, int64_t stop, int64_t a) {
    return cva_shifts(job, stop)[job->assets + a];
}

#endif

/* The number of the first inner path of an item. */
SHOAL_HD static inline uint64_t cva_first(const cva_job *job, const cva_item *item) {
    return ((job->first + (uint64_t)item->path) << CVA_INNER_BITS) + (uint64_t)item->from;
}

typedef struct cva_outcome {
    real alive[CVA_WIDTH], value[CVA_WIDTH];
    real h[SHOAL_AMERICAN_ASSETS][CVA_WIDTH], base[CVA_WIDTH];
} cva_outcome;

CVA_CALL int cva_any(const real *alive) {
    int any = 0;
    for (int l = 0; l < CVA_WIDTH; l++) any |= alive[l] > 0;
    return any;
}

/* The hedge from date i on: how much of each asset, and what that is worth. */
CVA_CALL void cva_hedge_from(const cva_contract *c, int64_t i, const real *s, const cva_lanes *w,
                             cva_outcome *o) {
    cva_make_hedge(c, &c->rule[0], i, w, o->h);
    CVA_EACH(l) o->base[l] = 0;
    for (int n = 0; n < c->assets; n++) {
        const real *at = s + c->asset[n] * CVA_WIDTH;
        CVA_EACH(l) o->base[l] = real_fma(o->h[n][l], at[l], o->base[l]);
    }
}

CVA_CALL void cva_follow_many(const cva_job *job, const cva_contract *c, int64_t k,
                              const real *start, cva_paths *paths, cva_lanes *w, cva_outcome *o,
                              double *y) {
    const cva_rule *r = &c->rule[0];
    const cva_basis *b = &r->basis;
    real scale = 1;
    if (job->control && k > 0) { /* today has no rule */
        cva_make_variables(c, b, k, start, w);
        cva_make_psi(r, k, w);
        cva_hedge_from(c, k, start, w, o);
    } else {
        CVA_EACH(l) o->base[l] = 0;
        for (int n = 0; n < c->assets; n++) CVA_EACH(l) o->h[n][l] = 0;
    }
    CVA_EACH(l) o->alive[l] = 1, o->value[l] = 0;
    for (int64_t at = job->ahead; at < job->stops && cva_any(o->alive); at++) {
        const int64_t i = job->stop[at];
        if (i > c->last) break;
        const real *s = cva_prices_at(paths, at);
        const real paid = cva_discount(job, k, at);
        if (job->control) {
            real sum[CVA_WIDTH];
            CVA_EACH(l) sum[l] = -o->base[l];
            for (int n = 0; n < c->assets; n++) {
                const int64_t a = c->asset[n];
                const real back = cva_back(job, k, at, a);
                const real *price = s + a * CVA_WIDTH;
                CVA_EACH(l) sum[l] = real_fma(o->h[n][l], back * price[l], sum[l]);
            }
            CVA_EACH(l)
            o->value[l] = real_fma(-(scale * o->alive[l]), sum[l], o->value[l]);
        }
        cva_make_variables(c, b, i, s, w);
        if (i < c->last) cva_make_psi_and_hold(r, i, w);
        const int last = i == c->last, may = last || c->may[i - 1];
        CVA_EACH(l) {
            const int now_in = w->gain[l] > 0;
            const int pays = may & now_in & (w->gain[l] >= w->hold[l]);
            const int ends = (o->alive[l] > 0) & (last | pays);
            o->value[l] =
                real_pick(ends & now_in, real_fma(paid, w->gain[l], o->value[l]), o->value[l]);
            o->alive[l] = real_pick(ends, 0, o->alive[l]);
        }
        if (job->control && i < c->last) cva_hedge_from(c, i, s, w, o);
        scale = paid;
    }
    for (int l = 0; l < CVA_WIDTH; l++) y[l] = (double)o->value[l];
}

#endif

#endif
