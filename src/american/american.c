/* SPDX-License-Identifier: Apache-2.0
 *
 * american.c - Longstaff-Schwartz problems on the CPU: threads share the blocks of all problems,
 * the paths of a block are the lanes of its loops. american.h has the formulas.
 *
 * The normals of an asset at a date are those of one Philox block for BLOCK_NORMALS paths, which
 * are SHARE lanes apart. Sums over a block are those of 32 lanes, SUM_LANES, each taking every
 * 32nd path, those that share Philox blocks with its first, then with its second, and so on;
 * then by halves. american.cu adds in this order.
 *
 * Cost of a path at a date, one asset, n functions: a Philox block and a Box-Muller for two
 * paths (f32: four), two exponentials, n (n + 3) / 2 multiply-adds. The state of a block is 4 kB
 * and passes through the cache once per date.
 */
#include "american/lanes.h"
#include <string.h>

/* ---- fits ------------------------------------------------------------------------------------- */

/* Levels whose paths begin before block `number` ends. */
static int levels_of(const american_job *job, int64_t number) {
    return job->levels > 1 && number * LANES < job->part ? 2 : 1;
}

/* Lanes of a block that have a path, or stand beside one in a vector. */
static int lanes_of(const american_job *job, int64_t number) {
    const int64_t left = job->paths - number * LANES;
    return left < LANES ? ((int)left + SUM_LANES - 1) / SUM_LANES * SUM_LANES : LANES;
}

/* The decision at date i, of which there is none at the last. */
static void decide(const american_job *job, int64_t k, int levels, int i, const real *at,
                   real *cash, block *b) {
    const int lanes = b->lanes;
    make_psi(job, k, i, at, 0, b);
    for (int level = 0; level < levels && i < job->dates; level++, cash += LANES) {
        make_hold(job, level * job->problems + k, i, b);
        EACH(l, lanes)
        cash[l] = real_pick((b->gain[l] > 0) & (b->gain[l] >= b->hold[l]), b->gain[l], cash[l]);
    }
}

static void bridge(const american_job *job, int64_t k, int64_t number, int i, real *at, block *b) {
    const int d = job->basis.assets, lanes = b->lanes;
    const american_bridge to = american_bridge_of(job, k, i);
    const real keep = (real)to.keep;
    const uint64_t first = american_first(job, k) + (uint64_t)number * SHARE;
    for (int a = 0; a < d; a++) {
        real *here = at + a * LANES;
        if (i == job->dates)
            memset(here, 0, (size_t)lanes * sizeof *here);
        else
            EACH(l, lanes) here[l] *= keep;
    }
    for (int from = 0; from < d; from++) {
        make_normals(&job->normals, (uint32_t)(job->dates - i) * (uint32_t)d + (uint32_t)from,
                     first, lanes < SHARE ? lanes : SHARE, lanes, b);
        for (int a = from; a < d; a++) {
            const real load = (real)(to.noise * american_load(job, k, a, from));
            const real *z = b->z[0];
            real *here = at + a * LANES;
            EACH(l, lanes) here[l] = real_fma(load, z[l], here[l]);
        }
    }
}

static double product_sum(const real *u, const real *v, int lanes) {
    real sum[SUM_LANES] = { 0 };
    for (int share = 0; share < SHARE; share += SUM_LANES)
        for (int first = share; first < lanes; first += SHARE)
            EACH(l, SUM_LANES) sum[l] = real_fma(u[first + l], v[first + l], sum[l]);
    return folded(sum);
}

/* The block's part of A and b: psi becomes 0 where a path is not in the money, or is not there. */
static void sum_block(const american_job *job, int64_t left, const real *cash, block *b,
                      double *to) {
    const int n = job->basis.functions, lanes = b->lanes;
    const int here = left < LANES ? (int)left : LANES;
    EACH(l, lanes) b->hold[l] = real_pick((b->gain[l] > 0) & (l < here), 1, 0);
    for (int j = 0; j < n; j++)
        EACH(l, lanes) b->psi[j][l] = real_pick(b->hold[l] > 0, b->psi[j][l], 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) *to++ = product_sum(b->psi[i], b->psi[j], lanes);
    for (int i = 0; i < n; i++) *to++ = product_sum(b->psi[i], cash, lanes);
}

static void visit_block(const american_job *job, int64_t k, int64_t number, int i) {
    block b;
    real next[LANES];
    const int d = job->basis.assets, levels = levels_of(job, number);
    real *at = (real *)job->state + (k * job->blocks + number) * american_state(job);
    real *cash = at + d * LANES;
    b.lanes = lanes_of(job, number);
    const int lanes = b.lanes;
    if (i < job->dates) decide(job, k, levels, i + 1, at, cash, &b);
    EACH(l, lanes) next[l] = i < job->dates ? b.gain[l] : 0;
    bridge(job, k, number, i, at, &b);
    make_psi(job, k, i, at, 0, &b);
    const american_contract *c = american_terms(job, k);
    const real slope = american_slope(job, k, i);
    const real discount = i < job->dates ? (real)american_discount(job, k, i) : 1;
    EACH(l, lanes) next[l] = c->hedged ? american_hedge(slope, b.gain[l], next[l], b.ahead[l]) : 0;
    for (int level = 0; level < levels; level++, cash += LANES) {
        if (i == job->dates) {
            EACH(l, lanes) cash[l] = real_pick(b.gain[l] > 0, b.gain[l], 0);
            continue;
        }
        const int64_t at_block = (level * job->problems + k) * job->blocks + number;
        EACH(l, lanes) cash[l] = discount * (cash[l] - next[l]);
        sum_block(job, american_paths(job, level) - number * LANES, cash, &b,
                  job->partial + at_block * american_sums(job->basis.functions));
    }
}

static void finish_block(const american_job *job, int64_t k, int64_t number) {
    block b;
    const int d = job->basis.assets;
    real *at = (real *)job->state + (k * job->blocks + number) * american_state(job);
    real *cash = at + d * LANES;
    b.lanes = lanes_of(job, number);
    const american_contract *c = american_terms(job, k);
    const american_start start = american_start_of(job, k);
    const double discount = american_discount(job, k, 0);
    const int lanes = b.lanes;
    decide(job, k, levels_of(job, number), 1, at, cash, &b);
    EACH(l, lanes)
    b.gain[l] = c->hedged ? american_hedge(start.slope, start.gain, b.gain[l], start.expected) : 0;
    for (int level = 0; level < job->levels; level++, cash += LANES) {
        const int64_t left = american_paths(job, level) - number * LANES;
        double *to = job->partial + 2 * ((level * job->problems + k) * job->blocks + number);
        double x[LANES];
        for (int l = 0; l < LANES; l++)
            x[l] = l < left ? discount * (double)(real)(cash[l] - b.gain[l]) : 0;
        to[0] = lanes_sum(x), to[1] = lanes_product(x, x);
    }
}

static int rows(const american_job *job) { return job->basis.assets + job->levels; }

static shoal_status visit(shoal_context *ctx, const american_job *job, int i) {
    const int64_t blocks = job->problems * job->blocks;
    ON_THREADS(ctx->threads, static)
    for (int64_t q = 0; q < blocks; q++)
        if (!shoal_is_cancelled(ctx, q, blocks / ctx->threads + 1))
            visit_block(job, q / job->blocks, q % job->blocks, i);
    return SHOAL_OK;
}

static shoal_status form(shoal_context *ctx, const american_job *job) {
    const int64_t systems = american_systems(job), sums = american_sums(job->basis.functions);
    ON_THREADS(ctx->threads, static)
    for (int64_t system = 0; system < systems; system++)
        for (int64_t e = 0; e < sums; e++) american_entry(job, system, e);
    return SHOAL_OK;
}

static shoal_status settle(shoal_context *ctx, const american_job *job, int i) {
    (void)ctx;
    for (int64_t system = 0; system < american_systems(job); system++) {
        const american_tally tally = american_settle(job, system, i);
        int64_t *count = job->count + (job->latest ? 0 : system * FIT_COUNTS);
        if (tally.outcome >= 0) count[tally.outcome]++;
        if (tally.method >= 0) count[tally.method]++;
        if (tally.decade >= 0) count[tally.decade]++;
    }
    return SHOAL_OK;
}

static shoal_status finish(shoal_context *ctx, const american_job *job) {
    const int64_t blocks = job->problems * job->blocks;
    ON_THREADS(ctx->threads, static)
    for (int64_t q = 0; q < blocks; q++) finish_block(job, q / job->blocks, q % job->blocks);
    for (int64_t system = 0; system < american_systems(job); system++) american_value(job, system);
    return SHOAL_OK;
}

/* ---- prices of a rule ------------------------------------------------------------------------- */

static void run_block(const void *given, int64_t number, int64_t k, double *sums) {
    const american_run *run = given;
    block b;
    outcome o;
    double x[LANES], c[LANES];
    const int64_t left = run->f.samples - number * LANES;
    walk(run->job, k, &run->job->fresh, run->f.first + (uint64_t)number * LANES, 0, NULL, &b, &o);
    for (int l = 0; l < LANES; l++) {
        x[l] = l < left ? (double)o.value[l] : 0;
        c[l] = l < left ? (double)o.control[l] : 0;
    }
    lanes_control(c, sums + k * PRICE_CONTROL);
    lanes_output(x, c, sums + run->job->problems * PRICE_CONTROL + k * PRICE_STATISTICS);
}

/* ---- upper bounds ------------------------------------------------------------------------------ */

/* What the rule is worth from date i and Brownian motions `start` on, as of then: the mean over
 * inner paths of its cash flows. */
static double follow(const american_job *job, int64_t k, int i, const real *start, uint64_t path,
                     block *b, outcome *o) {
    double sum = 0, x[LANES];
    for (int64_t q = 0; q < job->inner; q++) {
        walk(job, k, &job->within, path + (uint64_t)(q * LANES), i, start, b, o);
        for (int l = 0; l < LANES; l++) x[l] = (double)o->value[l];
        sum += lanes_sum(x);
    }
    return sum / (double)(job->inner * LANES);
}

/* A sample of the dual: the largest of payoffs less the martingale, along one outer path. */
static double dual_sample(const american_job *job, int64_t k, uint64_t sample, block *b,
                          outcome *o) {
    const american_contract *c = american_terms(job, k);
    const int d = job->basis.assets, n = job->dates;
    const uint64_t each = (uint64_t)(job->inner * LANES), first = sample * (uint64_t)n;
    const double root = sqrt(c->dt);
    real at[SHOAL_AMERICAN_ASSETS] = { 0 }, z[BLOCK_NORMALS] = { 0 },
         wide[SHOAL_AMERICAN_ASSETS * LANES];
    double discount = 1, martingale = 0, largest = 0;
    double before = follow(job, k, 0, at, first * each, b, o);
    uint32_t drawn = 0;
    for (int i = 1; i <= n; i++) {
        for (int from = 0; from < d; from++, drawn++) {
            if (drawn % BLOCK_NORMALS == 0)
                american_normals(&job->fresh, sample, drawn / BLOCK_NORMALS, z);
            for (int a = from; a < d; a++)
                at[a] = real_fma((real)(root * american_load(job, k, a, from)),
                                 z[drawn % BLOCK_NORMALS], at[a]);
        }
        for (int a = 0; a < d; a++) EACH(l, LANES) wide[a * LANES + l] = at[a];
        b->lanes = LANES;
        make_psi(job, k, i, wide, 0, b);
        if (i < n) make_hold(job, k, i, b);
        const american_point here = { (double)b->gain[0], (double)b->hold[0] };
        const double go_on = i < n ? follow(job, k, i, at, (first + (uint64_t)i) * each, b, o) : 0;
        discount *= c->discount;
        largest = american_dual_step(&here, i == n, discount, discount * go_on, before, i == 1,
                                     largest, &martingale);
        before = discount * go_on;
    }
    return largest;
}

static void sum_dual(const double *x, int64_t left, double *sums, int64_t k, int64_t options) {
    double here[LANES];
    for (int l = 0; l < LANES; l++) here[l] = l < left ? x[l] : 0;
    double *to = sums + options * PRICE_CONTROL + k * PRICE_STATISTICS;
    memset(sums + k * PRICE_CONTROL, 0, PRICE_CONTROL * sizeof *sums);
    to[0] = lanes_sum(here), to[1] = lanes_product(here, here), to[2] = 0;
}

/* lanes_run() with threads that share samples: they are few, and each has many inner paths. */
static shoal_status run_dual(const shoal_context *ctx, const american_run *run) {
    const american_job *job = run->job;
    const price_frame *f = &run->f;
    const int64_t blocks = (f->samples + LANES - 1) / LANES, options = job->problems;
    const int64_t room = AMERICAN_DUALS * LANES;
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t now = blocks - from < f->room ? blocks - from : f->room, first = from * LANES;
        const int64_t samples = f->samples - first < now * LANES ? f->samples - first : now * LANES;
        ON_THREADS(ctx->threads, dynamic)
        for (int64_t q = 0; q < samples * options; q++) {
            if (shoal_is_cancelled(ctx, from * options * LANES + q, blocks * options * LANES))
                continue;
            block b;
            outcome o;
            job->dual[q % options * room + q / options] =
                dual_sample(job, q % options, f->first + (uint64_t)(first + q / options), &b, &o);
        }
        for (int64_t q = 0; q < now * options; q++)
            sum_dual(job->dual + q % options * room + q / options * LANES,
                     samples - q / options * LANES, f->partial + q / options * f->width,
                     q % options, options);
        lanes_add_units(f, from, now);
    }
    return SHOAL_OK;
}

static shoal_status run(shoal_context *ctx, const void *given) {
    const american_job *job = ((const american_run *)given)->job;
    return job->inner ? run_dual(ctx, given) : lanes_run(ctx, given, job->problems, run_block);
}

const american_method R(american_paths) = { .paths = { .blocks = 4 * PRICE_BLOCKS, .run = run },
                                            .numbers = 1 << 22,
                                            .rows = rows,
                                            .visit = visit,
                                            .form = form,
                                            .settle = settle,
                                            .finish = finish };
