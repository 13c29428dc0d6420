/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: packs are filled from any storage, scaled, solved,
 * refined, judged and written back, one pack a task, OpenMP threads over packs.
 *
 * Bytes moved: one triangle of A, b and x from and to memory; the pack itself, n (n + 1) LANES
 * numbers and more, stays in cache (2 x 130 kB at n = 64).
 */
#include "smallsym/pack.h"
#include "smallsym/residual.h"

enum { LINE = 64, TOTALS = 256 }; /* cache line; room for the totals at the head of the workspace */

typedef struct worker { /* a pack and what the driver knows of its lanes */
    pack p;
    int used;             /* lanes that hold a system                                      */
    real bad_a[LANES];    /* 0, or NaN where A holds a non-finite number                   */
    real bad_b[LANES];    /* the same for the right-hand side in hand                      */
    int scaled;           /* whether any lane was                                          */
    int e_a[LANES];       /* A of the pack is A 2^-e_a                                     */
    int e_b[LANES];       /* b of the pack is b 2^-e_b                                     */
    real *kept_b, *sum_x; /* refinement: the right-hand side and the answer so far         */
    smallsym_totals totals;
} worker;

static int64_t pack_count(const smallsym_job *job) { return (job->count + LANES - 1) / LANES; }

static int workers_of(const shoal_smallsym *plan, const smallsym_job *job) {
    const int64_t packs = pack_count(job);
    return packs < plan->ctx->threads ? (int)packs : plan->ctx->threads;
}

static size_t aligned(size_t numbers) {
    return (numbers * LANES * sizeof(real) + LINE - 1) / LINE * LINE + LINE;
}

static size_t worker_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_cpu_method *method = plan->first.cell;
    const size_t n = (size_t)job->n, vectors = job->refine ? 4 : 2;
    return aligned(n * (n + 1) / 2) + vectors * aligned(n) + aligned(method->scratch(job->n));
}

static size_t batch_bytes(const shoal_smallsym *plan) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const size_t bytes = (size_t)workers_of(plan, job) * worker_bytes(plan, job);
        if (bytes > most) most = bytes;
    }
    return TOTALS + most;
}

static void open_worker(worker *w, const shoal_smallsym *plan, const smallsym_job *job, int i) {
    const size_t n = (size_t)job->n;
    char *memory = (char *)job->work + TOTALS + (size_t)i * worker_bytes(plan, job);
    struct {
        real **array;
        size_t numbers;
    } slots[] = { { &w->p.a, n * (n + 1) / 2 },
                  { &w->p.scratch,
                    ((const smallsym_cpu_method *)plan->first.cell)->scratch(job->n) },
                  { &w->p.b, n },
                  { &w->p.x, n },
                  { &w->kept_b, n },
                  { &w->sum_x, n } };
    for (int s = 0; s < (job->refine ? 6 : 4); s++) {
        *slots[s].array = (real *)(void *)memory;
        memory += aligned(slots[s].numbers);
    }
    w->p.n = job->n;
    w->p.cond = job->cond;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* The power of two that brings `largest` near 1, if it is so far away that a method might leave its
 * range; 0 if not, or if it is zero or not finite. */
static int exponent_far_from_1(real largest) {
    const int far = sizeof(real) == 4 ? 30 : 250;
    int e = 0;
    if (largest == 0 || isnan(largest) || isinf(largest)) return 0;
    (void)frexp((double)largest, &e);
    return e < -far || e > far ? e : 0;
}

/* Largest size and non-finite numbers of each lane of an array; v * 0 is 0 or NaN. */
static void look_at(const real *array, int64_t numbers, real *largest, real *bad) {
    vec most = vec_all(0), sum = vec_all(0);
    for (int64_t e = 0; e < numbers; e++) {
        const vec v = *(const vec *)(array + e * LANES);
        most = vec_max(vec_abs(v), most);
        sum += v * 0;
    }
    memcpy(largest, &most, sizeof most);
    memcpy(bad, &sum, sizeof sum);
}

/* Scales the lanes that need it; true if one did. */
static int scale(real *array, int64_t numbers, const real *largest, int *exponent) {
    int any = 0;
    for (int l = 0; l < LANES; l++) {
        exponent[l] = exponent_far_from_1(largest[l]);
        if (!exponent[l]) continue;
        any = 1;
        for (int64_t e = 0; e < numbers; e++)
            array[e * LANES + l] = (real)ldexp((double)array[e * LANES + l], -exponent[l]);
    }
    return any;
}

/* A row of a full pack whose systems have it in one piece: squares of LANES x LANES numbers are
 * transposed. */
static void load_row(real *to, const real *from, int64_t system, int64_t length) {
    int64_t j = 0;
    for (; j + LANES <= length; j += LANES) {
        vec square[LANES];
        for (int l = 0; l < LANES; l++) memcpy(&square[l], from + l * system + j, sizeof(vec));
        vec_transpose(square);
        memcpy(to + j * LANES, square, sizeof square);
    }
    for (; j < length; j++)
        for (int l = 0; l < LANES; l++) to[j * LANES + l] = from[l * system + j];
}

static void load_matrix(worker *w, const smallsym_job *job, int64_t k) {
    const int64_t n = job->n;
    const real *from = n ? (const real *)job->A + k * job->a.system : NULL;
    const int in_rows = w->used == LANES && job->a.column == 1 && !(job->a.packed && job->a.upper);
    pack *p = &w->p;
    for (int64_t i = 0; i < n; i++) {
        if (in_rows) {
            load_row(p->a + at_entry(i, 0), from + smallsym_at(&job->a, i, 0), job->a.system, i + 1);
            continue;
        }
        for (int64_t j = 0; j <= i; j++) {
            const real *entry = from + smallsym_at(&job->a, i, j);
            for (int l = 0; l < LANES; l++)
                p->a[at_entry(i, j) + l] =
                    l < w->used ? entry[l * job->a.system] : (real)(i == j);
        }
    }
    real largest[LANES];
    look_at(p->a, n * (n + 1) / 2, largest, w->bad_a);
    w->scaled = scale(p->a, n * (n + 1) / 2, largest, w->e_a);
    for (int l = 0; l < LANES; l++) {
        p->fate.status[l] = SHOAL_SYSTEM_OK;
        p->fate.rcond[l] = n ? (float)NAN : 1;
        p->fate.rank[l] = p->fate.positive[l] = (int32_t)n;
        p->fate.negative[l] = p->fate.zero[l] = 0;
    }
}

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

static unsigned bits_of(float v) {
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & 0x7fffffffu;
}

/* Once a system is done with all its right-hand sides. */
static void note(worker *w, const smallsym_job *job, int64_t k, const int32_t *status,
                 const float *residual) {
    const shoal_outcome *o = &job->where;
    const pack_fate *fate = &w->p.fate;
    for (int l = 0; l < w->used; l++) {
        const int64_t s = k + l;
        const int known = status[l] >= 0;
        if (o->status) o->status[s] = status[l];
        if (o->residual) o->residual[s] = residual[l];
        if (o->rcond) o->rcond[s] = known ? fate->rcond[l] : (float)NAN;
        if (o->rank) o->rank[s] = known ? fate->rank[l] : -1;
        if (o->inertia) {
            o->inertia[3 * s] = known ? fate->positive[l] : -1;
            o->inertia[3 * s + 1] = known ? fate->negative[l] : -1;
            o->inertia[3 * s + 2] = known ? fate->zero[l] : -1;
        }
        if (o->method) o->method[s] = job->first_row;
        w->totals.failed += status[l] < 0;
        w->totals.warned += status[l] > 0;
        if (known && bits_of(residual[l]) > w->totals.max_residual)
            w->totals.max_residual = bits_of(residual[l]);
    }
}

static void run_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                     int variant, int64_t k) {
    int32_t status[LANES] = { 0 };
    float residual[LANES] = { 0 };
    load_matrix(w, job, k);
    method->factor(&w->p, variant);
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
    note(w, job, k, status, residual);
}

/* ---- the driver ------------------------------------------------------------------------------- */

static shoal_status batch_begin(shoal_smallsym *plan) {
    memset(plan->work, 0, sizeof(smallsym_totals));
    return SHOAL_OK;
}

static shoal_status batch_run(shoal_smallsym *plan, const smallsym_job *job) {
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
            run_pack(&w, job, plan->first.cell, plan->first.variant, k);
        }
        failed += w.totals.failed, warned += w.totals.warned, redone += w.totals.redone;
        if (w.totals.max_residual > most) most = w.totals.max_residual;
    }
    totals->failed += failed, totals->warned += warned, totals->redone += redone;
    totals->max_residual = most;
    return SHOAL_OK;
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    memcpy(totals, plan->work, sizeof *totals);
    return SHOAL_OK;
}

const smallsym_driver R(smallsym_batch) = {
    .bytes = batch_bytes, .begin = batch_begin, .run = batch_run, .total = batch_total
};
