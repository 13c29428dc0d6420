/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - the paths of a block on the CPU, one path per lane: normals, psi, the value of
 * continuing, and the walk that follows a rule. american.h has the formulas.
 */
#ifndef SHOAL_AMERICAN_LANES_H
#define SHOAL_AMERICAN_LANES_H

#include "american/american.h"
#include "pricing/lanes.h"

enum { LANES = AMERICAN_BLOCK, SUM_LANES = 32 };
enum {
    SHARE = LANES / BLOCK_NORMALS
}; /* lanes of a block whose paths share a Philox block with no other */

typedef struct block {
    int lanes; /* so many are at work, a multiple of SUM_LANES                                    */
    uint32_t w[4 * LANES];
    real z[4][LANES]; /* normals */
    real psi[SHOAL_AMERICAN_BASIS][LANES];
    real all[LANES], gain[LANES], hold[LANES];
    real ahead[LANES]; /* the mean of the gain at the next date, if the gain is a line */
    real now[LANES], control[LANES]; /* the last asset's price */
} block;

/* Normals of the Philox blocks of `lanes` lanes, [e][lane], one row after the other. If the rows
 * are those of several paths, the first `wanted` numbers are made. */
static void make_normals(const shoal_stream *stream, uint32_t step, uint64_t first, int lanes,
                         int wanted, block *b) {
    real *z = b->z[0];
    lanes_words(stream, step, first, lanes, b->w);
    for (int e = 0; e < BLOCK_NORMALS && e * lanes < wanted; e += 2)
        lanes_normals(b->w, e / 2, lanes, z + e * lanes, z + (e + 1) * lanes);
}

/* psi and gain of every lane at date i, from the Brownian motions at[asset]; control: the mean
 * over the assets of S over its mean, or not wanted. */
static void make_psi(const american_job *job, int64_t k, int i, const real *at, int control,
                     block *b) {
    const american_basis *basis = &job->basis;
    const american_contract *c = american_terms(job, k);
    const double *spots = american_spot(job, k);
    const double *vols = american_list(job, k, AMERICAN_VOL);
    const double *drifts = american_list(job, k, AMERICAN_DRIFT);
    const double *weights = american_list(job, k, AMERICAN_WEIGHT);
    const double t = american_time(job, i) * c->dt;
    const int payoff = c->payoff, d = basis->assets, lanes = b->lanes;
    EACH(l, lanes) b->psi[0][l] = 1, b->all[l] = 0, b->ahead[l] = 0;
    for (int a = 0; a < d; a++, at += LANES) {
        const american_range r = american_range_of(job, k, a, i);
        const real spot = (real)spots[a], vol = (real)vols[a], drift = (real)(drifts[a] * t);
        const real center = (real)r.center, inverse = (real)r.inverse, weight = (real)weights[a];
        const real carry = i < job->dates ? (real)american_carry(job, k, a, i) : 0;
        real *x = b->psi[1 + a], *all = b->all, *ahead = b->ahead;
        EACH(l, lanes) {
            const real s = spot * real_exp(real_fma(vol, at[l], drift));
            all[l] = american_gather(payoff, all[l], weight, s);
            ahead[l] = real_fma(carry, s, ahead[l]);
            x[l] = (s - center) * inverse;
            b->now[l] = s;
        }
        if (!control) continue;
        const real share = (real)american_share(job, k, a, i);
        EACH(l, lanes)
        b->control[l] = real_fma(share, b->now[l], a ? b->control[l] : (real)-1);
    }
    const real strike = (real)c->strike;
    EACH(l, lanes) {
        b->gain[l] = american_gain(payoff, strike, b->all[l]);
        b->ahead[l] = american_gain(payoff, strike, b->ahead[l]);
    }
    for (int j = 1 + d; j < basis->monomials; j++) {
        const real *u = b->psi[basis->from[j]], *v = b->psi[1 + basis->asset[j]];
        EACH(l, lanes) b->psi[j][l] = u[l] * v[l];
    }
    if (basis->functions == basis->monomials) return;
    const real factor = american_payoff_factor(job, k);
    EACH(l, lanes) b->psi[basis->functions - 1][l] = factor * b->gain[l];
}

/* hold := what going on is worth at date i by a system's rule. */
static void make_hold(const american_job *job, int64_t system, int i, block *b) {
    const real *rule = (const real *)job->rule + american_rule_at(job, system, i);
    const int lanes = b->lanes;
    EACH(l, lanes) b->hold[l] = rule[0];
    for (int j = 1; j < job->basis.functions; j++) {
        const real factor = rule[j];
        EACH(l, lanes) b->hold[l] = real_fma(factor, b->psi[j][l], b->hold[l]);
    }
}

static double folded(real *sum) {
    for (int distance = SUM_LANES / 2; distance > 0; distance /= 2)
        for (int l = 0; l < distance; l++) sum[l] += sum[l + distance];
    return (double)sum[0];
}

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

/* Forwards by the rule, date by date, until all paths are exercised: from date `begin` and Brownian
 * motions `start`, NULL: 0. Values are as of that date. */
static void walk(const american_job *job, int64_t k, const shoal_stream *normals, uint64_t first,
                 int begin, const real *start, block *b, outcome *o) {
    const american_contract *c = american_terms(job, k);
    const int d = job->basis.assets, n = job->dates;
    const double root = sqrt(c->dt);
    real at[SHOAL_AMERICAN_ASSETS * LANES], alive = LANES;
    double discount = 1;
    uint32_t drawn = 0;
    b->lanes = LANES;
    for (int a = 0; a < d; a++) EACH(l, LANES) at[a * LANES + l] = start ? start[a] : 0;
    EACH(l, LANES) o->alive[l] = 1, o->value[l] = 0, o->control[l] = 0, b->hold[l] = 0;
    for (int i = begin + 1; i <= n && alive > 0; i++) {
        for (int from = 0; from < d; from++, drawn++) {
            if (drawn % BLOCK_NORMALS == 0)
                make_normals(normals, drawn / BLOCK_NORMALS, first, LANES, BLOCK_NORMALS * LANES,
                             b);
            const real *z = b->z[drawn % BLOCK_NORMALS];
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

#endif
