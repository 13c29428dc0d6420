/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.h - margin periods in the reverse pass (adjoint.c). The exposure of a set at date k is (exposure.h)
 *
 *     E = (V_k + D - C(V_c) - I)+,   D = sum over payments p at dates m, c <= m < k, of p e^(R(k) - R(m)),
 *
 * with c the date of the margin call and R the integrated rate. So with E' its slope
 *
 *     b(V_k) = b(D) = w_k E',   b(V_c) = -w_k E' C'(V_c),   b(p) += b(D) e^(R(k) - R(m)),   b(R(k) - R(m)) += b(D) p e^..
 *
 * What belongs to earlier dates waits until the pass reaches them: prices there are those of the same path.
 */
#ifndef SHOAL_CVA_CALLS_H
#define SHOAL_CVA_CALLS_H

#include "cva/early.h"

static int64_t call_of(const reverse *r, int64_t set, int64_t k) {
    const cva_job *job = r->job;
    const int64_t period = cva_period_of(job, set);
    return r->g->call[(period - 1) * job->exposures + job->exposure[k - 1]];
}

/* What contracts first .. end - 1 are worth at date k, or of those that end there what they pay. */
static void value_set(const reverse *r, int64_t first, int64_t end, int64_t k, int ends,
                      double *worth) {
    const cva_job *job = r->job;
    lanes keep[KEPT];
    prices_at(r, k, r->edge);
    CVA_EACH(l) worth[l] = 0;
    for (int64_t i = first; i < end; i++) {
        const cva_contract *c = &job->contract[r->g->contract[i]];
        const double quantity = c->quantity, left = cva_left(job, c, k);
        if (left < 0 || (ends && left > 0)) continue;
        value_at(r, c, k, r->edge, keep);
        CVA_EACH(l) worth[l] = fma(quantity, keep[0][l], worth[l]);
    }
}

/* Whether a contract of a set ends at date k. */
static int ends_at(const reverse *r, int64_t first, int64_t end, int64_t k) {
    for (int64_t i = first; i < end; i++)
        if (cva_left(r->job, &r->job->contract[r->g->contract[i]], k) == 0) return 1;
    return 0;
}

/* The exposure at date k of a set that is worth `worth` there, and its slope; what earlier dates have of it. */
static void expose_called(const reverse *r, int64_t first, int64_t end, int64_t k, double share,
                          const double *worth, double *exposure, double *slope) {
    const cva_job *job = r->job;
    const int64_t set = job->contract[r->g->contract[first]].set, call = call_of(r, set, k);
    const cva_csa *csa = &job->csa[set];
    lanes before, now, paid, x;
    memcpy(now, worth, sizeof now);
    for (int64_t m = call; m < k; m++) {
        if (!ends_at(r, first, end, m)) continue;
        const double growth = shoal_exp(cva_rate(job, cva_between(job, m, k)));
        value_set(r, first, end, m, 1, paid);
        CVA_EACH(l) now[l] = fma(growth, paid[l], now[l]);
    }
    value_set(r, first, end, call, 0, before);
    CVA_EACH(l) {
        const double left = now[l] - cva_collateral(csa, before[l]) - csa->held;
        const int moves = (before[l] > csa->theirs) | (-before[l] > csa->ours);
        exposure[l] = cva_positive(left), slope[l] = shoal_pick(left > 0, 1, 0);
        r->called[call * job->sets + set][l] -= shoal_pick(moves, share * slope[l], 0);
    }
    for (int64_t m = call; m < k; m++) {
        if (!ends_at(r, first, end, m)) continue;
        const cva_span since = cva_between(job, m, k);
        const double growth = shoal_exp(cva_rate(job, since));
        double *to = r->owed[m * job->sets + set];
        value_set(r, first, end, m, 1, paid);
        CVA_EACH(l) to[l] = fma(share * growth, slope[l], to[l]);
        CVA_EACH(l) x[l] = share * growth * slope[l] * paid[l];
        add_span(r, CVA_BY_RATE, 0, since, x);
    }
}

/* Back through values at margin calls, and payments, of date k. */
static void reverse_calls(const reverse *r, int64_t k) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    lanes bar, keep[KEPT];
    for (int64_t i = 0; i < g->contracts && job->periods; i++) {
        const cva_contract *c = &job->contract[g->contract[i]];
        const double quantity = c->quantity, left = cva_left(job, c, k);
        const double *called = r->called[k * job->sets + c->set];
        const double *owed = r->owed[k * job->sets + c->set];
        if (!cva_period_of(job, c->set) || left < 0) continue;
        double any = 0;
        CVA_EACH(l) bar[l] = quantity * (called[l] + shoal_pick(left == 0, owed[l], 0));
        for (int l = 0; l < CVA_WIDTH; l++) any = fmax(any, fabs(bar[l]));
        if (!(any > 0)) continue;
        value_at(r, c, k, r->price, keep);
        reverse_contract(r, c, cva_rest(job, c, k), bar, keep);
    }
}

#endif
