/* SPDX-License-Identifier: Apache-2.0
 *
 * american.c - Longstaff-Schwartz problems on the CPU: threads share the blocks of all problems, the
 * paths of a block are the lanes of its loops. american.h has the formulas.
 *
 * The normals of an asset at a date are those of one Philox block for EACH_BLOCK paths, which are
 * SHARE lanes apart. Sums over a block are those of 32 lanes, SUM_LANES, each taking every 32nd path, and
 * then by halves: american.cu adds in this order.
 *
 * Cost of a path at a date, one asset, n functions: a Philox block and a Box-Muller for two paths (f32:
 * four), two exponentials, n (n + 3) / 2 multiply-adds. The state of a block is 4 kB and passes through
 * the cache once a date.
 */
#include "pricing/american.h"
#include "pricing/lanes.h"
#include "rng/normal.h"
#include "rng/philox_lanes.h"
#include <string.h>

enum { LANES = AMERICAN_BLOCK, SUM_LANES = 32 };
enum { EACH_BLOCK = 16 / sizeof(real), SHARE = LANES / EACH_BLOCK }; /* normals of a Philox block */

typedef struct block {
    uint32_t w[4][LANES];
    real z[4][LANES]; /* normals */
    real psi[SHOAL_AMERICAN_BASIS][LANES];
    real all[LANES], gain[LANES], hold[LANES];
    real now[LANES], control[LANES]; /* the last asset's price */
} block;

/* Normals of the Philox blocks of `lanes` lanes: z[e][lane], or one after the other where they are
 * those of several paths. */
static void make_normals(const shoal_stream *stream, uint32_t step, uint64_t first, int lanes,
                         block *b) {
    shoal_stream s = *stream;
    uint32_t *const w[4] = { b->w[0], b->w[1], b->w[2], b->w[3] };
    real *z = b->z[0];
    s.step = step;
    shoal_philox_blocks(&s, first, 0, lanes, w);
#ifdef SHOAL_SINGLE
    for (int half = 0; half < 2; half++) EACH(i, lanes) {
            const shoal_normalsf pair = shoal_boxmullerf(b->w[2 * half][i], b->w[2 * half + 1][i]);
            z[2 * half * lanes + i] = pair.z[0], z[(2 * half + 1) * lanes + i] = pair.z[1];
        }
#else
    EACH(i, lanes) {
        const shoal_normals pair = shoal_boxmuller((uint64_t)b->w[0][i] << 32 | b->w[1][i],
                                                   (uint64_t)b->w[2][i] << 32 | b->w[3][i]);
        z[i] = pair.z[0], z[lanes + i] = pair.z[1];
    }
#endif
}

/* psi and gain of every lane at date i, from the Brownian motions at[asset]; control: the mean over the
 * assets of S over its mean, or not wanted. */
static void make_psi(const american_job *job, int64_t k, int i, const real *at, int control,
                     block *b) {
    const american_basis *basis = &job->basis;
    const american_contract *c = &job->contract[k];
    const double *spots = american_list(job, k, AMERICAN_SPOT);
    const double *vols = american_list(job, k, AMERICAN_VOL);
    const double *drifts = american_list(job, k, AMERICAN_DRIFT);
    const double *weights = american_list(job, k, AMERICAN_WEIGHT);
    const double t = (double)i * c->dt;
    const int payoff = c->payoff, d = basis->assets;
    EACH(l, LANES) b->psi[0][l] = 1, b->all[l] = 0;
    for (int a = 0; a < d; a++, at += LANES) {
        const american_range r = american_range_of(job, k, a, i);
        const real spot = (real)spots[a], vol = (real)vols[a], drift = (real)(drifts[a] * t);
        const real center = (real)r.center, inverse = (real)r.inverse, weight = (real)weights[a];
        real *x = b->psi[1 + a], *all = b->all;
        EACH(l, LANES) {
            const real s = spot * real_exp(real_fma(vol, at[l], drift));
            all[l] = american_gather(payoff, all[l], weight, s);
            x[l] = (s - center) * inverse;
            b->now[l] = s;
        }
        if (!control) continue;
        const real share = (real)american_share(job, k, a, i);
        EACH(l, LANES)
        b->control[l] = real_fma(share, b->now[l], a ? b->control[l] : (real)-1);
    }
    const real strike = (real)c->strike;
    EACH(l, LANES) b->gain[l] = american_gain(payoff, strike, b->all[l]);
    for (int j = 1 + d; j < basis->monomials; j++) {
        const real *u = b->psi[basis->from[j]], *v = b->psi[1 + basis->asset[j]];
        EACH(l, LANES) b->psi[j][l] = u[l] * v[l];
    }
    if (basis->functions == basis->monomials) return;
    const real factor = american_payoff_factor(job, k);
    EACH(l, LANES) b->psi[basis->functions - 1][l] = factor * b->gain[l];
}

/* hold := what going on is worth at date i by its rule. */
static void make_hold(const american_job *job, int64_t k, int i, block *b) {
    const real *rule = (const real *)job->rule + american_rule_at(job, k, i);
    EACH(l, LANES) b->hold[l] = rule[0];
    for (int j = 1; j < job->basis.functions; j++) {
        const real factor = rule[j];
        EACH(l, LANES) b->hold[l] = real_fma(factor, b->psi[j][l], b->hold[l]);
    }
}

/* ---- fits ------------------------------------------------------------------------------------- */

static void decide(const american_job *job, int64_t k, int i, const real *at, real *cash,
                   block *b) {
    make_psi(job, k, i, at, 0, b);
    make_hold(job, k, i, b);
    EACH(l, LANES)
    cash[l] = real_pick((b->gain[l] > 0) & (b->gain[l] >= b->hold[l]), b->gain[l], cash[l]);
}

static void bridge(const american_job *job, int64_t k, int64_t number, int i, real *at, block *b) {
    const int d = job->basis.assets;
    const american_bridge to = american_bridge_of(&job->contract[k], job->dates, i);
    const real keep = (real)to.keep;
    const uint64_t first = job->contract[k].first + (uint64_t)number * SHARE;
    for (int a = 0; a < d; a++) {
        real *here = at + a * LANES;
        if (i == job->dates)
            memset(here, 0, LANES * sizeof *here);
        else
            EACH(l, LANES) here[l] *= keep;
    }
    for (int from = 0; from < d; from++) {
        make_normals(&job->normals, (uint32_t)(job->dates - i) * (uint32_t)d + (uint32_t)from,
                     first, SHARE, b);
        for (int a = from; a < d; a++) {
            const real load = (real)(to.noise * american_load(job, k, a, from));
            const real *z = b->z[0];
            real *here = at + a * LANES;
            EACH(l, LANES) here[l] = real_fma(load, z[l], here[l]);
        }
    }
}

static double folded(real *sum) {
    for (int distance = SUM_LANES / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) sum[l] += sum[l + distance];
    return (double)sum[0];
}

static double product_sum(const real *u, const real *v) {
    real sum[SUM_LANES] = { 0 };
    for (int first = 0; first < LANES; first += SUM_LANES)
        EACH(l, SUM_LANES) sum[l] = real_fma(u[first + l], v[first + l], sum[l]);
    return folded(sum);
}

/* The block's part of A and b: psi becomes 0 where a path is not in the money, or is not there. */
static void sum_block(const american_job *job, int64_t left, const real *cash, block *b,
                      double *to) {
    const int n = job->basis.functions;
    const int here = left < LANES ? (int)left : LANES;
    EACH(l, LANES) b->hold[l] = real_pick((b->gain[l] > 0) & (l < here), 1, 0);
    for (int j = 0; j < n; j++)
        EACH(l, LANES) b->psi[j][l] = real_pick(b->hold[l] > 0, b->psi[j][l], 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) *to++ = product_sum(b->psi[i], b->psi[j]);
    for (int i = 0; i < n; i++) *to++ = product_sum(b->psi[i], cash);
    *to = product_sum(b->hold, b->hold);
}

static void visit_block(const american_job *job, int64_t k, int64_t number, int i) {
    block b;
    const int d = job->basis.assets;
    const int64_t at_block = k * job->blocks + number;
    real *at = (real *)job->state + at_block * (d + 1) * LANES, *cash = at + d * LANES;
    if (i + 1 < job->dates) decide(job, k, i + 1, at, cash, &b);
    bridge(job, k, number, i, at, &b);
    make_psi(job, k, i, at, 0, &b);
    if (i == job->dates) {
        EACH(l, LANES) cash[l] = real_pick(b.gain[l] > 0, b.gain[l], 0);
        return;
    }
    const real discount = (real)job->contract[k].discount;
    EACH(l, LANES) cash[l] *= discount;
    sum_block(job, job->paths - number * LANES, cash, &b,
              job->partial + at_block * american_sums(job->basis.functions));
}

static void finish_block(const american_job *job, int64_t k, int64_t number) {
    block b;
    const int d = job->basis.assets;
    const int64_t at_block = k * job->blocks + number, left = job->paths - number * LANES;
    real *at = (real *)job->state + at_block * (d + 1) * LANES, *cash = at + d * LANES;
    double x[LANES], product[LANES];
    if (job->dates > 1) decide(job, k, 1, at, cash, &b);
    for (int l = 0; l < LANES; l++) x[l] = l < left ? job->contract[k].discount * cash[l] : 0;
    job->partial[2 * at_block] = lanes_sum(x);
    job->partial[2 * at_block + 1] = lanes_sum(lanes_product(x, x, product));
}

static shoal_status visit(shoal_context *ctx, const american_job *job, int i) {
    const int64_t blocks = job->problems * job->blocks;
    const int workers = ctx->threads;
    (void)workers; /* without OpenMP */
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int64_t q = 0; q < blocks; q++) visit_block(job, q / job->blocks, q % job->blocks, i);
    return SHOAL_OK;
}

static shoal_status form(shoal_context *ctx, const american_job *job) {
    const int64_t sums = american_sums(job->basis.functions);
    (void)ctx;
    for (int64_t k = 0; k < job->problems; k++)
        for (int64_t e = 0; e < sums; e++) american_entry(job, k, e);
    return SHOAL_OK;
}

static shoal_status settle(shoal_context *ctx, const american_job *job, int i) {
    (void)ctx;
    for (int64_t k = 0; k < job->problems; k++) american_settle(job, k, i);
    return SHOAL_OK;
}

static shoal_status finish(shoal_context *ctx, const american_job *job) {
    const int64_t blocks = job->problems * job->blocks;
    const int workers = ctx->threads;
    (void)workers;
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int64_t q = 0; q < blocks; q++) finish_block(job, q / job->blocks, q % job->blocks);
    for (int64_t k = 0; k < job->problems; k++) american_value(job, k);
    return SHOAL_OK;
}

/* ---- prices of a rule ------------------------------------------------------------------------- */

/* What a path has come to, of all lanes. */
typedef struct outcome {
    real alive[LANES], value[LANES], control[LANES];
} outcome;

/* Those that are exercised now, or are left at the end; how many go on. */
static real stop(real discount, int last, const block *b, outcome *o) {
    real left[SUM_LANES] = { 0 };
    EACH(l, LANES) {
        const int now = (b->gain[l] > 0) & (b->gain[l] >= b->hold[l]);
        const int ends = (o->alive[l] > 0) & (now | last);
        o->value[l] = real_pick(ends & (b->gain[l] > 0), discount * b->gain[l], o->value[l]);
        o->control[l] = real_pick(ends, b->control[l], o->control[l]);
        o->alive[l] = real_pick(ends, 0, o->alive[l]);
    }
    for (int l = 0; l < LANES; l++) left[l % SUM_LANES] += o->alive[l];
    return (real)folded(left);
}

/* Forwards, date by date, until all paths are exercised. */
static void walk(const american_job *job, int64_t k, uint64_t first, block *b, outcome *o) {
    const american_contract *c = &job->contract[k];
    const int d = job->basis.assets, n = job->dates;
    const double root = sqrt(c->dt);
    real at[SHOAL_AMERICAN_ASSETS * LANES], alive = LANES;
    double discount = 1;
    uint32_t drawn = 0;
    memset(at, 0, (size_t)d * LANES * sizeof *at);
    EACH(l, LANES) o->alive[l] = 1, o->value[l] = 0, o->control[l] = 0, b->hold[l] = 0;
    for (int i = 1; i <= n && alive > 0; i++) {
        for (int from = 0; from < d; from++, drawn++) {
            if (drawn % EACH_BLOCK == 0)
                make_normals(&job->fresh, drawn / EACH_BLOCK, first, LANES, b);
            const real *z = b->z[drawn % EACH_BLOCK];
            for (int a = from; a < d; a++) {
                const real load = (real)(root * american_load(job, k, a, from));
                EACH(l, LANES) at[a * LANES + l] = real_fma(load, z[l], at[a * LANES + l]);
            }
        }
        make_psi(job, k, i, at, 1, b);
        if (i < n) make_hold(job, k, i, b);
        discount *= c->discount;
        alive = stop((real)discount, i == n, b, o);
    }
}

static void run_block(const american_run *run, int64_t number, int64_t k, double *sums) {
    block b;
    outcome o;
    double x[LANES], c[LANES], product[LANES];
    const int64_t left = run->f.samples - number * LANES, options = run->job->problems;
    walk(run->job, k, run->f.first + (uint64_t)number * LANES, &b, &o);
    for (int l = 0; l < LANES; l++) {
        x[l] = l < left ? (double)o.value[l] : 0;
        c[l] = l < left ? (double)o.control[l] : 0;
    }
    double *to = sums + k * PRICE_CONTROL;
    to[0] = lanes_sum(c);
    to[1] = lanes_sum(lanes_product(c, c, product));
    to = sums + options * PRICE_CONTROL + k * PRICE_STATISTICS;
    to[0] = lanes_sum(x);
    to[1] = lanes_sum(lanes_product(x, x, product));
    to[2] = lanes_sum(lanes_product(x, c, product));
}

static shoal_status run(shoal_context *ctx, const void *given) {
    const american_run *here = given;
    const price_frame *f = &here->f;
    const int64_t blocks = (f->samples + LANES - 1) / LANES, options = here->job->problems;
    const int workers = ctx->threads;
    (void)workers;
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t now = blocks - from < f->room ? blocks - from : f->room;
#pragma omp parallel for num_threads(workers) schedule(dynamic)
        for (int64_t q = 0; q < now * options; q++)
            run_block(here, from + q / options, q % options, f->partial + q / options * f->width);
        lanes_add_units(f, from, now);
    }
    return SHOAL_OK;
}

const american_method R(american_paths) = { .paths = { .blocks = 4 * PRICE_BLOCKS, .run = run },
                                            .numbers = 1 << 22,
                                            .visit = visit,
                                            .form = form,
                                            .settle = settle,
                                            .finish = finish };
