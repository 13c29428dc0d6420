/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: packs are filled from any storage, scaled, solved,
 * refined, judged and written back, one pack a task, OpenMP threads over packs.
 *
 * Bytes moved: one triangle of A, b and x from and to memory; the pack itself, n (n + 1) LANES
 * numbers and more, stays in cache (2 x 130 kB at n = 64).
 */
#include "smallsym/estimate.h"
#include "smallsym/residual.h"
#include "smallsym/worker.h"

static size_t batch_bytes(const shoal_smallsym *plan) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const size_t bytes = (size_t)workers_of(plan, job) * worker_bytes(plan, job);
        if (bytes > most) most = bytes;
    }
    return TOTALS + most;
}

/* ---- in -------------------------------------------------------------------------------------- */

static void load_rhs(worker *w, const smallsym_job *job, int64_t k, int64_t c) {
    const int64_t n = job->n;
    const real *from = n ? (const real *)job->b + k * job->b_system * job->nrhs + c : NULL;
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++)
            w->p.b[at_row(i) + l] =
                l < w->used ? from[(l * job->b_system + i * job->b_row) * job->nrhs] : 0;
    real largest[LANES];
    look_at(w->p.b, n, largest, w->bad_b);
    if (scale(w->p.b, n, largest, w->e_b)) w->scaled = 1;
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* One step: b := kept_b - A x in double, solved for what is to be added to x. */
static void refine(worker *w, const smallsym_cpu_method *method, int variant) {
    pack *p = &w->p;
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    memcpy(w->kept_b, p->b, bytes);
    memcpy(w->sum_x, p->x, bytes);
    residual_in_double(p, p->b);
    method->solve(p, variant);
    for (int64_t e = 0; e < at_row(p->n); e++) p->x[e] = w->sum_x[e] + p->x[e];
    memcpy(p->b, w->kept_b, bytes);
}

/* Status and residual of each lane for the right-hand side in hand. */
static void judge(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                  int variant, int32_t *status, float *residual) {
    pack *p = &w->p;
    float first[LANES];
    const int judged = smallsym_judged(job);
    if (judged) residual_of(p, residual);
    memcpy(first, residual, sizeof first);
    for (int step = 0; step < job->refine; step++) refine(w, method, variant);
    if (job->refine) residual_of(p, residual);
    real largest[LANES], bad[LANES];
    look_at(p->x, p->n, largest, bad);
    for (int l = 0; l < w->used; l++) {
        status[l] = p->fate.status[l];
        if (w->bad_a[l] != 0 || w->bad_b[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (status[l] >= 0 && bad[l] != 0)
            status[l] = SHOAL_SYSTEM_OVERFLOW;
        if (status[l] < 0 || !judged) residual[l] = (float)NAN;
        if (status[l] != SHOAL_SYSTEM_OK || !judged) continue;
        if (!(residual[l] <= job->tol))
            status[l] = SHOAL_SYSTEM_ILL;
        else if (!(first[l] <= job->tol))
            status[l] = SHOAL_SYSTEM_REFINED;
    }
}

/* Takes the scales back; an answer that leaves the range of numbers there has overflowed. */
static void unscale(worker *w, int32_t *status) {
    for (int l = 0; l < w->used; l++) {
        const int e = w->e_b[l] - w->e_a[l];
        if (e == 0 || status[l] < 0) continue;
        real bad = 0;
        for (int64_t i = 0; i < w->p.n; i++) {
            real *x = &w->p.x[at_row(i) + l];
            *x = (real)ldexp((double)*x, e);
            bad += *x * 0;
        }
        if (bad != 0) status[l] = SHOAL_SYSTEM_OVERFLOW;
    }
}

/* ---- out -------------------------------------------------------------------------------------- */

/* Lanes that failed: NaN, unless x is b. */
static void store(const worker *w, const smallsym_job *job, int64_t k, int64_t c,
                  const int32_t *status) {
    if (job->n == 0) return;
    real *to = (real *)job->x + k * job->b_system * job->nrhs + c;
    for (int l = 0; l < w->used; l++) {
        if (status[l] < 0 && job->x == job->b) continue;
        for (int64_t i = 0; i < job->n; i++)
            to[(l * job->b_system + i * job->b_row) * job->nrhs] =
                status[l] < 0 ? real_nan() : w->p.x[at_row(i) + l];
    }
}

/* The worst of two: any failure over any answer, a warning over none. */
static int32_t worse(int32_t s, int32_t t) {
    return s < 0 || t < 0 ? (s < t ? s : t) : s > t ? s : t;
}

static void run_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                     int variant, int64_t k) {
    int32_t status[LANES] = { 0 };
    float residual[LANES] = { 0 };
    load_matrix(w, job, k);
    method->factor(&w->p, variant);
    if (job->estimate && job->where.rcond) estimate_rcond(&w->p, method, variant);
    for (int64_t c = 0; c < job->nrhs; c++) {
        int32_t now[LANES];
        float r[LANES] = { 0 };
        load_rhs(w, job, k, c);
        method->solve(&w->p, variant);
        judge(w, job, method, variant, now, r);
        if (w->scaled) unscale(w, now);
        store(w, job, k, c, now);
        for (int l = 0; l < w->used; l++) {
            status[l] = c ? worse(status[l], now[l]) : now[l];
            if (!(r[l] <= residual[l])) residual[l] = r[l]; /* NaN stays */
        }
    }
    note(w, job, k, job->first_row, status, residual);
}

/* ---- factors that are kept -------------------------------------------------------------------- */

/* D of the pack's a by 2^sign e_a; zero[l] counts the pivots that became zero. */
static void scale_pivots(worker *w, int sign, int *zero) {
    for (int l = 0; l < LANES; l++) {
        zero[l] = 0;
        if (w->e_a[l] == 0) continue;
        for (int64_t i = 0; i < w->p.n; i++) {
            real *d = &w->p.a[at_entry(i, i) + l];
            *d = (real)ldexp((double)*d, sign * w->e_a[l]);
            zero[l] += *d == 0;
        }
    }
}

/* L and D of a pack; NaN in lanes that failed, where L is A too, so that nobody takes A for L. */
static void factor_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                        int variant, int64_t k) {
    pack *p = &w->p;
    const int64_t numbers = job->n * (job->n + 1) / 2;
    int32_t status[LANES] = { 0 };
    int zero[LANES];
    float residual[LANES];
    real largest[LANES], bad[LANES];
    load_matrix(w, job, k);
    method->factor(p, variant);
    if (job->estimate && job->where.rcond) estimate_rcond(p, method, variant);
    method->give(p);
    look_at(p->a, numbers, largest, bad);
    scale_pivots(w, 1, zero);
    for (int l = 0; l < LANES; l++) {
        residual[l] = (float)NAN;
        status[l] = p->fate.status[l];
        if (w->bad_a[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (status[l] >= 0 && (bad[l] != 0 || zero[l]))
            status[l] = zero[l] ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_OVERFLOW;
        for (int64_t e = 0; e < numbers && status[l] < 0; e++) p->a[e * LANES + l] = real_nan();
    }
    store_entries(w, job, job->x, k);
    note(w, job, k, job->first_row, status, residual);
}

/* L and D into a pack: numbers that are not finite are looked for in all of it, but D alone is
 * scaled. */
static void load_factors(worker *w, const smallsym_job *job, int64_t k) {
    pack *p = &w->p;
    real largest[LANES];
    int zero[LANES];
    load_entries(w, job, k);
    look_at(p->a, job->n * (job->n + 1) / 2, largest, w->bad_a);
    memset(largest, 0, sizeof largest);
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++)
            largest[l] = real_max(real_abs(p->a[at_entry(i, i) + l]), largest[l]);
    w->scaled = 0;
    for (int l = 0; l < LANES; l++) {
        w->e_a[l] = exponent_far_from_1(largest[l]);
        w->scaled |= w->e_a[l] != 0;
    }
    scale_pivots(w, -1, zero);
    begin_fate(p);
}

/* Solves from L and D; without A there are no residuals, and so no refinement. */
static void resolve_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                         int variant, int64_t k) {
    smallsym_job blind = *job;
    blind.where.residual = NULL, blind.refine = 0;
    int32_t status[LANES] = { 0 };
    float residual[LANES] = { 0 };
    load_factors(w, job, k);
    method->take(&w->p);
    for (int64_t c = 0; c < job->nrhs; c++) {
        int32_t now[LANES];
        load_rhs(w, job, k, c);
        method->solve(&w->p, variant);
        judge(w, &blind, method, variant, now, residual);
        if (w->scaled) unscale(w, now);
        store(w, job, k, c, now);
        for (int l = 0; l < w->used; l++) status[l] = c ? worse(status[l], now[l]) : now[l];
    }
    note(w, job, k, job->first_row, status, residual);
}

/* ---- the driver ------------------------------------------------------------------------------- */

static shoal_status batch_begin(shoal_smallsym *plan) {
    memset(plan->work, 0, sizeof(smallsym_totals));
    return SHOAL_OK;
}

typedef void do_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                     int variant, int64_t k);

static shoal_status over_packs(shoal_smallsym *plan, const smallsym_job *job, do_pack *one) {
    const int workers = workers_of(plan, job);
    const int64_t packs = pack_count(job);
    smallsym_totals *totals = plan->work;
    unsigned long long failed = 0, warned = 0, redone = 0;
    unsigned most = totals->max_residual;
#pragma omp parallel for num_threads(workers) schedule(static)                                     \
    reduction(+ : failed, warned, redone) reduction(max : most)
    for (int i = 0; i < workers; i++) {
        worker w = { 0 };
        open_worker(&w, plan, job, i);
        const int64_t begin = packs * i / workers, end = packs * (i + 1) / workers;
        for (int64_t k = begin * LANES; k < end * LANES && k < job->count; k += LANES) {
            w.used = job->count - k < LANES ? (int)(job->count - k) : LANES;
            one(&w, job, plan->first.cell, plan->first.variant, k);
        }
        failed += w.totals.failed, warned += w.totals.warned, redone += w.totals.redone;
        if (w.totals.max_residual > most) most = w.totals.max_residual;
    }
    totals->failed += failed, totals->warned += warned, totals->redone += redone;
    totals->max_residual = most;
    return SHOAL_OK;
}

static shoal_status batch_run(shoal_smallsym *plan, const smallsym_job *job) {
    return over_packs(plan, job, run_pack);
}

static shoal_status batch_factor(shoal_smallsym *plan, const smallsym_job *job) {
    return over_packs(plan, job, factor_pack);
}

static shoal_status batch_resolve(shoal_smallsym *plan, const smallsym_job *job) {
    return over_packs(plan, job, resolve_pack);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    memcpy(totals, plan->work, sizeof *totals);
    return SHOAL_OK;
}

const smallsym_driver R(smallsym_batch) = {
    .bytes = batch_bytes,
    .begin = batch_begin,
    .run = batch_run,
    .total = batch_total,
    .eigen = R(smallsym_eigen),
    .factor = batch_factor,
    .resolve = batch_resolve,
};
