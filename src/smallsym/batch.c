/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: packs are filled from any storage, scaled, solved,
 * refined, judged and written back, one pack per task, OpenMP threads over packs.
 *
 * Bytes moved: one triangle of A, b and x from and to memory; the pack itself, n (n + 1) LANES
 * numbers and more, stays in cache (2 x 130 kB at n = 64).
 */
#include "smallsym/accuracy.h"
#include "smallsym/worker.h"

/* ---- in -------------------------------------------------------------------------------------- */

/* Where right-hand side c of lane l begins. */
static int64_t rhs_of(const worker *w, const smallsym_job *job, int l, int64_t c) {
    return w->task[l].system * job->b_system * job->nrhs + c;
}

static void copy_rhs(worker *w, const smallsym_job *job, int64_t c) {
    const int64_t step = job->b_row * job->nrhs;
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < job->n; i++)
            w->p.b[at_row(i) + l] =
                l < w->used ? ((const real *)job->b)[rhs_of(w, job, l, c) + i * step] : 0;
}

static void load_rhs(worker *w, const smallsym_job *job, int64_t c) {
    if (w->gram)
        R(gram_rhs)(w, job, c);
    else
        copy_rhs(w, job, c);
    real largest[LANES];
    look_at(w->p.b, job->n, largest, w->bad_b);
    if (scale(w->p.b, job->n, largest, w->e_b)) w->scaled = 1;
}

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

/* L and D into a pack: numbers that are not finite are looked for in all of it, but D alone is
 * scaled. */
static void load_factors(worker *w, const smallsym_job *job) {
    pack *p = &w->p;
    real largest[LANES];
    int zero[LANES];
    load_entries(w, job);
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

/* A step of inverse iteration, y = A^-1 x: the reciprocal condition number is at most
 * |x| / (|A| |y|), and near it, as x has mostly directions that A shrinks. Lowers rcond to that. */
static void iterate(worker *w, const smallsym_cpu_method *method, int variant, const real *norm) {
    pack *p = &w->p;
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    real x[LANES], y[LANES], bad[LANES];
    memcpy(w->kept_b, p->b, bytes);
    memcpy(w->sum_x, p->x, bytes);
    memcpy(p->b, p->x, bytes);
    look_at(p->b, p->n, x, bad);
    for (int l = 0; l < LANES; l++) {
        if (bad[l] == 0 && x[l] > 0) continue;
        x[l] = 1; /* x is of no use: from a vector of ones */
        for (int64_t i = 0; i < p->n; i++) p->b[at_row(i) + l] = 1;
    }
    method->solve(p, variant);
    look_at(p->x, p->n, y, bad);
    for (int l = 0; l < w->used; l++) {
        const real bound = x[l] / norm[l] / y[l];
        if (!(bound >= (real)p->fate.rcond[l])) p->fate.rcond[l] = bound >= 0 ? (float)bound : 0;
    }
    memcpy(p->b, w->kept_b, bytes);
    memcpy(p->x, w->sum_x, bytes);
}

/* Status and residual of each lane for the right-hand side in hand. */
static void judge(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                  int variant, int64_t c, int32_t *status, float *residual) {
    pack *p = &w->p;
    float first[LANES];
    real norm[LANES];
    const int judged = w->what != SMALLSYM_RESOLVE && smallsym_judged(job); /* without A: not */
    if (judged) residual_of(p, residual, norm);
    memcpy(first, residual, sizeof first);
    for (int step = 0; step < job->refine; step++) refine(w, method, variant);
    if (job->refine) residual_of(p, residual, norm);
    if (judged && job->iterate && c == 0) iterate(w, method, variant, norm);
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

/* Lanes that failed: NaN, unless x is b. Lanes that `wait` for the rescue keep what they have. */
static void store(const worker *w, const smallsym_job *job, int64_t c, const int32_t *status,
                  const int *wait) {
    if (job->n == 0) return;
    for (int l = 0; l < w->used; l++) {
        if ((status[l] < 0 && job->x == job->b) || wait[l] || c < w->task[l].column) continue;
        real *to = (real *)job->x + rhs_of(w, job, l, c);
        for (int64_t i = 0; i < job->n; i++)
            to[i * job->b_row * job->nrhs] = status[l] < 0 ? real_nan() : w->p.x[at_row(i) + l];
    }
}

static void factor(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                   int variant) {
    if (w->gram)
        R(gram_matrix)(w, job);
    else
        load_matrix(w, job);
    method->factor(&w->p, variant);
    if (job->estimate && smallsym_rcond_used(job)) estimate_rcond(&w->p, method, variant);
}

static void run_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                     int variant) {
    int32_t status[LANES];
    int wait[LANES] = { 0 };
    float residual[LANES];
    for (int l = 0; l < LANES; l++)
        status[l] = w->task[l].status, residual[l] = w->task[l].residual;
    if (w->what == SMALLSYM_RESOLVE) {
        load_factors(w, job);
        method->take(&w->p);
    } else {
        factor(w, job, method, variant);
    }
    for (int64_t c = 0; c < job->nrhs; c++) {
        int32_t now[LANES];
        float r[LANES] = { 0 };
        load_rhs(w, job, c);
        method->solve(&w->p, variant);
        judge(w, job, method, variant, c, now, r);
        if (w->scaled) unscale(w, now);
        for (int l = 0; l < w->used; l++) {
            if (wait[l] || c < w->task[l].column) continue;
            wait[l] = job->rescue_row >= 0 && smallsym_doubtful(job, now[l], w->p.fate.rcond[l]);
            if (wait[l]) {
                w->queue[w->queued++] =
                    (smallsym_redo){ w->task[l].system, (uint32_t)c,
                                     c ? status[l] : SHOAL_SYSTEM_OK, residual[l] };
                continue;
            }
            status[l] = c ? shoal_worse(status[l], now[l]) : now[l];
            residual[l] = smallsym_larger(residual[l], now[l] < 0 ? (float)NAN : r[l]);
        }
        store(w, job, c, now, wait);
    }
    for (int l = 0; l < w->used; l++)
        if (!wait[l]) note(w, job, l, job->first_row, status[l], residual[l]);
}

/* L and D of a pack; NaN in lanes that failed, where L is A too, so that nobody takes A for L. */
static void factor_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                        int variant) {
    pack *p = &w->p;
    const int64_t numbers = job->n * (job->n + 1) / 2;
    int32_t status[LANES] = { 0 };
    int zero[LANES];
    real largest[LANES], bad[LANES];
    factor(w, job, method, variant);
    method->give(p);
    look_at(p->a, numbers, largest, bad);
    scale_pivots(w, 1, zero);
    for (int l = 0; l < LANES; l++) {
        status[l] = p->fate.status[l];
        if (w->bad_a[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (status[l] >= 0 && (bad[l] != 0 || zero[l]))
            status[l] = zero[l] ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_OVERFLOW;
        for (int64_t e = 0; e < numbers && status[l] < 0; e++) p->a[e * LANES + l] = real_nan();
    }
    store_entries(w, job, job->x);
    for (int l = 0; l < w->used; l++) note(w, job, l, job->first_row, status[l], (float)NAN);
}

/* Does again what waits, in full packs or, at the `end`, all of it. */
static void run_rescue(worker *w, const shoal_smallsym *plan, const smallsym_job *job, int end) {
    smallsym_job again = *job;
    again.first_row = job->rescue_row, again.rescue_row = -1, again.iterate = 0;
    again.list = w->queue; /* so that residuals are computed */
    while (w->queued >= LANES || (end && w->queued > 0)) {
        w->used = w->queued < LANES ? w->queued : LANES;
        w->in_order = 0;
        w->queued -= w->used;
        w->totals.redone += (unsigned)w->used;
        memcpy(w->task, w->queue + w->queued, (size_t)w->used * sizeof *w->task);
        run_pack(w, &again, plan->rescue.cell, plan->rescue.variant);
    }
}

/* ---- the driver ------------------------------------------------------------------------------- */

/* The most that the workers of a group need, so many bytes each. */
static size_t most_bytes(const shoal_smallsym *plan,
                         size_t (*each)(const shoal_smallsym *plan, const smallsym_job *job)) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const size_t bytes = (size_t)workers_of(plan, job) * each(plan, job);
        if (bytes > most) most = bytes;
    }
    return most;
}

static size_t batch_bytes(const shoal_smallsym *plan) {
    return TOTALS + most_bytes(plan, worker_bytes);
}

static size_t form_bytes(const shoal_smallsym *plan) { return most_bytes(plan, R(gram_bytes)); }

static shoal_status batch_begin(shoal_smallsym *plan) {
    memset(plan->work, 0, sizeof(smallsym_totals));
    return SHOAL_OK;
}

typedef struct batch_call {
    int what;
    const smallsym_gram *gram;
} batch_call;

static void do_and_rescue(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                          const void *with) {
    const batch_call *call = with;
    w->what = call->what;
    if (w->what == SMALLSYM_FORM) {
        w->gram = call->gram;
        w->gram_room =
            (real *)((char *)w->gram->work + (size_t)w->number * R(gram_bytes)(plan, job));
    }
    (w->what == SMALLSYM_FACTOR ? factor_pack : run_pack)(w, job, plan->first.cell,
                                                          plan->first.variant);
    run_rescue(w, plan, job, 0);
}

static void rescue_the_rest(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                            const void *with) {
    (void)with;
    run_rescue(w, plan, job, 1);
}

static shoal_status batch_run(shoal_smallsym *plan, int what, const smallsym_job *job,
                              const smallsym_arrays *with) {
    const batch_call call = { what, &with->gram };
    smallsym_job own = *job;
    if (what == SMALLSYM_EIGEN) return R(smallsym_eigen)(plan, job, &with->parts);
    if (what == SMALLSYM_RESOLVE) own.refine = 0;
    return over_packs(plan, &own, &call, do_and_rescue, rescue_the_rest);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    memcpy(totals, plan->work, sizeof *totals);
    return SHOAL_OK;
}

const smallsym_driver R(smallsym_batch) = { batch_bytes, form_bytes, batch_begin, batch_run,
                                            batch_total };
