/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: packs are filled from either layout, solved,
 * judged and written back, one pack per task, OpenMP threads over packs.
 *
 * Bytes moved: 5 numbers per row from and to memory; the pack itself (6 + scratch arrays of n * LANES
 * numbers) stays in cache for n up to a few thousand.
 */
#include "tridiag/condition.h"
#include "tridiag/pack.h"

extern const tridiag_cpu_method R(tridiag_lupp);
extern const tridiag_condition R(tridiag_condition);

enum { LONGEST_PACKED = 4096, LINE = 64 }; /* rows above which a system comes alone; cache line */
enum { PACK_ARRAYS = 6 };

static int lanes_of(const tridiag_job *job) {
    return job->n > LONGEST_PACKED || job->count == 1 ? 1 : LANES;
}

static int arrays_of(const shoal_tridiag *plan) {
    const tridiag_cpu_method *method =
        plan->first.cell; /* its rescue needs no more; a copy of x does */
    if (method->whole) method = &R(tridiag_lupp);
    return PACK_ARRAYS + method->scratch + (plan->rescue.cell != NULL);
}

static size_t array_bytes(const tridiag_job *job) {
    size_t bytes = (size_t)job->n * (size_t)lanes_of(job) * sizeof(real);
    return (bytes + LINE - 1) / LINE * LINE + LINE; /* one line apart: no array aliases the next */
}

static int workers_of(const shoal_tridiag *plan) {
    int lanes = lanes_of(&plan->job);
    int64_t packs = (plan->job.count + lanes - 1) / lanes;
    return packs < plan->head.ctx->threads ? (int)packs : plan->head.ctx->threads;
}

/* Whether the condition numbers of a method without an estimate come from lupp; else from twocarry. */
static int by_packs(const tridiag_job *job) { return job->n <= LONGEST_PACKED; }

static size_t batch_bytes(const shoal_tridiag *plan) {
    const tridiag_cpu_method *method = plan->first.cell;
    if (method->whole) {
        const size_t solves = tridiag_aligned(method->bytes(plan));
        return solves + (!method->proves        ? 0
                         : by_packs(&plan->job) ? (size_t)arrays_of(plan) * array_bytes(&plan->job)
                                                : R(tridiag_condition).bytes(plan));
    }
    return (size_t)workers_of(plan) * (size_t)arrays_of(plan) * array_bytes(&plan->job);
}

/* In memory for so many arrays. */
static void pack_open(pack *p, const shoal_tridiag *plan, char *memory) {
    const int arrays = arrays_of(plan);
    const size_t step = array_bytes(&plan->job);
    real **slots[PACK_ARRAYS] = { &p->dl, &p->d, &p->du, &p->b, &p->x, &p->scale };
    p->n = plan->job.n;
    p->lanes = lanes_of(&plan->job);
    for (int i = 0; i < arrays; i++, memory += step)
        *(i < PACK_ARRAYS ? slots[i] : &p->scratch[i - PACK_ARRAYS]) = (real *)(void *)memory;
}

/* The pack takes systems k .. of a batch of different sizes: as many rows as the longest has. */
static void set_rows(pack *p, const tridiag_job *job, int64_t k, int used) {
    if (!job->offsets) return;
    p->offsets = job->offsets + k;
    p->n = 0;
    for (int l = 0; l < used; l++)
        if (tridiag_rows_of(job, k + l) > p->n) p->n = tridiag_rows_of(job, k + l);
}

static int64_t rows_of(const pack *p, int l) {
    return p->offsets ? p->offsets[l + 1] - p->offsets[l] : p->n;
}

/* Fills one array of a pack: rows of systems k, k + 1, ..., with nrhs numbers per row; what has no row gets
 * `filler`. The three usual cases are a system alone and a full pack of either layout. Interleaved, a
 * row of a pack is one cache line of a page of its own, and the next line belongs to the next pack: it
 * is prefetched while the page is at hand. System-major, the loop is a transposition. */
static void load(const pack *p, real *restrict to, const real *restrict from,
                 const tridiag_job *job, int64_t k, int used, int64_t nrhs, real filler) {
    const int64_t n = p->n, row = job->row * nrhs, system = job->system * nrhs;
    if (n == 0) return;
    from += tridiag_first_of(job, k) * nrhs;
    if (p->offsets) {
        for (int l = 0; l < p->lanes; l++) {
            const int64_t rows = l < used ? rows_of(p, l) : 0;
            const int64_t at = rows ? p->offsets[l] - p->offsets[0] : 0;
            for (int64_t i = 0; i < rows; i++) to[i * p->lanes + l] = from[(at + i) * row];
            for (int64_t i = rows; i < n; i++) to[i * p->lanes + l] = filler;
        }
    } else if (p->lanes == 1 && row == 1) {
        memcpy(to, from, (size_t)n * sizeof(real));
    } else if (used == LANES && system == 1) {
        for (int64_t i = 0; i < n; i++) {
            __builtin_prefetch(from + i * row + LANES);
            for (int l = 0; l < LANES; l++) to[i * LANES + l] = from[i * row + l];
        }
    } else if (used == LANES && row == 1) {
        for (int64_t i = 0; i < n; i++)
            for (int l = 0; l < LANES; l++) to[i * LANES + l] = from[l * system + i];
    } else {
        for (int64_t i = 0; i < n; i++) {
            for (int l = 0; l < used; l++) to[i * p->lanes + l] = from[l * system + i * row];
            for (int l = used; l < p->lanes; l++) to[i * p->lanes + l] = filler;
        }
    }
}

/* Scales the rows; v - v is 0 for a finite v and NaN otherwise, and a sum keeps a NaN once it has met one. */
PACK_INLINE void scale_lanes(const pack *p, real *poison, real *least, const int lanes) {
    real sum[LANES], low[LANES];
    EACH_LANE(l, lanes) sum[l] = 0, low[l] = REAL_MAX;
    for (int64_t i = 0; i < p->n; i++) {
        real *dl = p->dl + i * lanes, *d = p->d + i * lanes, *du = p->du + i * lanes;
        real *scale = p->scale + i * lanes;
        EACH_LANE(l, lanes) {
            const real power = row_power(dl[l], d[l], du[l]), by = row_scale(power);
            sum[l] += (dl[l] - dl[l]) + (d[l] - d[l]) + (du[l] - du[l]);
            low[l] = real_min(power, low[l]);
            dl[l] *= by, d[l] *= by, du[l] *= by, scale[l] = by;
        }
    }
    EACH_LANE(l, lanes) poison[l] = sum[l], least[l] = low[l];
}

PACK_INLINE void scale_rhs_lanes(const pack *p, real *poison, const int lanes) {
    real sum[LANES];
    EACH_LANE(l, lanes) sum[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        real *b = p->b + i * lanes;
        const real *scale = p->scale + i * lanes;
        EACH_LANE(l, lanes) sum[l] += b[l] - b[l], b[l] *= scale[l];
    }
    EACH_LANE(l, lanes) poison[l] = sum[l];
}

PACK_INLINE void largest_lanes(const pack *p, real *most, real *poison, const int lanes) {
    real sum[LANES], high[LANES];
    EACH_LANE(l, lanes) sum[l] = high[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real *x = p->x + i * lanes;
        EACH_LANE(l, lanes) sum[l] += x[l] - x[l], high[l] = real_max(real_abs(x[l]), high[l]);
    }
    EACH_LANE(l, lanes) poison[l] = sum[l], most[l] = high[l];
}

/* The same check of a matrix, or of a right-hand side, that stays as it is. */
PACK_INLINE void check_lanes(const pack *p, real *poison, const int lanes) {
    real sum[LANES];
    EACH_LANE(l, lanes) sum[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real *dl = p->dl + i * lanes, *d = p->d + i * lanes, *du = p->du + i * lanes;
        EACH_LANE(l, lanes) sum[l] += (dl[l] - dl[l]) + (d[l] - d[l]) + (du[l] - du[l]);
    }
    EACH_LANE(l, lanes) poison[l] = sum[l];
}
PACK_INLINE void check_rhs_lanes(const pack *p, real *poison, const int lanes) {
    real sum[LANES];
    EACH_LANE(l, lanes) sum[l] = 0;
    for (int64_t i = 0; i < p->n; i++)
        EACH_LANE(l, lanes) sum[l] += p->b[i * lanes + l] - p->b[i * lanes + l];
    EACH_LANE(l, lanes) poison[l] = sum[l];
}

static void find_largest(const pack *p, real *most, real *poison) {
    PACK_CALL(p, largest_lanes, p, most, poison);
}

static void load_matrix(pack *p, const tridiag_job *job, int64_t k, int used, lane_verdict *v) {
    set_rows(p, job, k, used);
    load(p, p->dl, job->dl, job, k, used, 1, 0);
    load(p, p->d, job->d, job, k, used, 1, 1);
    load(p, p->du, job->du, job, k, used, 1, 0);
    for (int l = 0; l < p->lanes && p->n > 0; l++) { /* dl[0] and du[n-1] do not exist */
        const int64_t rows = l < used ? rows_of(p, l) : p->n;
        p->dl[l] = 0;
        if (rows > 0) p->du[(rows - 1) * p->lanes + l] = 0;
    }
    if (p->scaled)
        PACK_CALL(p, scale_lanes, p, v->input, v->least);
    else
        PACK_CALL(p, check_lanes, p, v->input);
    memset(v->condition, 0, sizeof v->condition);
}

static void load_rhs(pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                     lane_verdict *v) {
    const real *b = job->n ? (const real *)job->b + j : NULL;
    set_rows(p, job, k, used);
    load(p, p->b, b, job, k, used, job->nrhs, 0);
    if (p->scaled)
        PACK_CALL(p, scale_rhs_lanes, p, v->rhs);
    else
        PACK_CALL(p, check_rhs_lanes, p, v->rhs);
}

/* The largest residual of a scaled row; NaN where one is not finite. */
PACK_INLINE void residual_lanes(const pack *p, real *result, const int lanes) {
    static const real zero_row[LANES];
    real r[LANES], poison[LANES], rest[LANES];
    EACH_LANE(l, lanes) r[l] = poison[l] = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const real *dl = p->dl + i * lanes, *d = p->d + i * lanes, *du = p->du + i * lanes;
        const real *b = p->b + i * lanes, *x = p->x + i * lanes;
        const real *left = i ? x - lanes : zero_row, *right = i + 1 < p->n ? x + lanes : zero_row;
        EACH_LANE(l, lanes)
        rest[l] = b[l] - dl[l] * left[l] - d[l] * x[l] - du[l] * right[l];
        EACH_LANE(l, lanes) /* apart from it, or gcc jams two rows and leaves floats alone */
        r[l] = real_max(real_abs(rest[l]), r[l]), poison[l] += rest[l] - rest[l];
    }
    EACH_LANE(l, lanes) result[l] = r[l] + poison[l];
}

/* From the caller's numbers: a scaled b may have underflowed. */
static float exact_residual_of_lane(const pack *p, const tridiag_job *job, int64_t k, int64_t j,
                                    int l) {
    const int64_t at = tridiag_first_of(job, k + l);
    return exact_residual(rows_of(p, l), (const real *)job->dl + at, (const real *)job->d + at,
                          (const real *)job->du + at, job->row,
                          (const real *)job->b + at * job->nrhs + j, job->row * job->nrhs, p->x + l,
                          p->lanes);
}

/* Status and residual of each lane for right-hand side j, which is in hand. */
static void judge_lanes(const pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                        const tridiag_cpu_method *method, lane_verdict *v) {
    real poison[LANES], most[LANES], r[LANES];
    find_largest(p, most, poison);
    if (job->residual) PACK_CALL(p, residual_lanes, p, r);
    for (int l = 0; l < used; l++) {
        v->residual[l] = NAN;
        v->status[l] = SHOAL_SYSTEM_OK;
        if (v->input[l] != 0 || v->rhs[l] != 0)
            v->status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (poison[l] != 0)
            v->status[l] = method->failure ? method->failure(p, l) : SHOAL_SYSTEM_PIVOT;
        else if (is_ill(v->condition[l], job->cond))
            v->status[l] = SHOAL_SYSTEM_ILL;
        if (v->status[l] < 0 || !job->residual) continue;
        const norms m = { r[l], most[l], v->least[l] == 0 ? real_nan() : r[l] - r[l] };
        v->residual[l] = norms_residual(&m);
        if (is_doubtful(v->residual[l], job->tol) || most[l] == 0)
            v->residual[l] = exact_residual_of_lane(p, job, k, j, l);
        if (!(v->residual[l] <= job->tol)) v->status[l] = SHOAL_SYSTEM_ILL;
    }
}

/* Lanes that failed: NaN, unless x is b. The others: load() backwards; a full system-major pack is
 * transposed a square of LANES x LANES numbers, one cache line of each system, at a time. */
static void store(const pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                  const lane_verdict *v) {
    const int64_t row = job->row * job->nrhs, system = job->system * job->nrhs, n = p->n;
    const int in_place = job->x == job->b;
    int failed = 0;
    for (int l = 0; l < used; l++) failed |= v->status[l] < 0;
    if (n == 0) return;
    const int64_t first = tridiag_first_of(job, k);
    real *restrict x = (real *)job->x + j + first * job->nrhs;
    const real *restrict from = p->x;
    if (p->lanes == 1 && row == 1 && !failed) {
        memcpy(x, from, (size_t)n * sizeof(real));
    } else if (used == LANES && system == 1 && !failed && !p->offsets) {
        for (int64_t i = 0; i < n; i++)
            for (int l = 0; l < LANES; l++) x[i * row + l] = from[i * LANES + l];
    } else if (used == LANES && row == 1 && !failed && !p->offsets) {
        int64_t i = 0;
        for (; i + LANES <= n; i += LANES)
            for (int l = 0; l < LANES; l++)
                for (int r = 0; r < LANES; r++) x[l * system + i + r] = from[(i + r) * LANES + l];
        for (; i < n; i++)
            for (int l = 0; l < LANES; l++) x[l * system + i] = from[i * LANES + l];
    } else {
        for (int l = 0; l < used; l++) {
            real *to = x + (p->offsets ? (p->offsets[l] - first) * job->nrhs : l * system);
            if (v->status[l] < 0 && in_place) continue;
            for (int64_t i = 0; i < rows_of(p, l); i++)
                to[i * row] = v->status[l] < 0 ? real_nan() : from[i * p->lanes + l];
        }
    }
}

static void note_outcome(const tridiag_job *job, int64_t s, int64_t j, int32_t status,
                         float residual) {
    job->status[s] = j ? shoal_worse(job->status[s], status) : status;
    if (job->residual && (j == 0 || !(residual <= job->residual[s])))
        job->residual[s] = j && isnan(job->residual[s]) ? job->residual[s] : residual;
    if (job->method && j == 0) job->method[s] = job->first_row;
}

/* "auto": lanes with a row that is answered poorly get the answer of its second method. */
static void redo_lanes(pack *p, const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                       int used, int64_t j, lane_verdict *v, int *redone) {
    const tridiag_cpu_method *first = plan->first.cell, *rescue = plan->rescue.cell;
    const size_t numbers = (size_t)p->n * (size_t)p->lanes;
    const lane_verdict before = *v;
    real *kept = p->scratch[first->scratch];
    int any = 0;
    for (int l = 0; l < used; l++)
        any |= redone[l] = v->status[l] == SHOAL_SYSTEM_ILL && !is_ill(v->condition[l], job->cond);
    if (!any) return;
    memcpy(kept, p->x, numbers * sizeof(real));
    rescue->solve(p, plan->rescue.variant);
    judge_lanes(p, job, k, used, j, rescue, v);
    for (int l = 0; l < used; l++) {
        if (redone[l]) continue;
        v->status[l] = before.status[l], v->residual[l] = before.residual[l];
        for (int64_t i = 0; i < p->n; i++) p->x[i * p->lanes + l] = kept[i * p->lanes + l];
    }
}

/* Condition numbers of the matrices of a pack. */
typedef struct conditions {
    int64_t first, past; /* systems */
    lane_verdict v;
} conditions;

/* Whether the matrix of system k is ill-conditioned, for a method that does not estimate it. */
static int is_ill_at(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, char *memory,
                     conditions *known) {
    if (!by_packs(job))
        return R(tridiag_condition).of_system(plan, job, k, memory) != SHOAL_SYSTEM_OK;
    if (k >= known->past || k < known->first) {
        const int64_t left = job->count - k;
        pack p = { 0 };
        pack_open(&p, plan, memory);
        p.condition = known->v.condition, p.scaled = 1;
        known->first = k, known->past = k + (left < p.lanes ? left : p.lanes);
        load_matrix(&p, job, k, (int)(known->past - k), &known->v);
        memset(p.b, 0, (size_t)p.n * (size_t)p.lanes * sizeof(real));
        R(tridiag_lupp).solve(&p, 0); /* x = 0, unless a pivot is 0: then it is NaN */
        find_largest(&p, known->v.rhs, known->v.input);
    }
    if (known->v.input[k - known->first] != 0) return 1;
    return is_ill(known->v.condition[k - known->first], job->cond);
}

/* Systems that are each solved by all threads. */
static shoal_status run_whole(const shoal_tridiag *plan, const tridiag_job *given,
                              const tridiag_cpu_method *method) {
    const int64_t row = given->row * given->nrhs;
    char *memory = (char *)plan->job.work + tridiag_aligned(method->bytes(plan));
    conditions known = { 0 };
    tridiag_job own = *given, *job = &own;
    int unproved = 0;
    own.unproved = &unproved;
    for (int64_t k = 0; k < job->count; k++)
        for (int64_t j = 0; j < job->nrhs; j++) {
            if (shoal_is_cancelled(plan->head.ctx, k * job->nrhs + j, job->count * job->nrhs))
                return SHOAL_E_CANCELLED;
            float residual = 0;
            unproved = 0;
            int32_t status = job->n ? method->whole(plan, job, k, j, &residual) : SHOAL_SYSTEM_OK;
            if (unproved && status == SHOAL_SYSTEM_OK && job->residual &&
                is_ill_at(plan, job, k, memory, &known))
                status = SHOAL_SYSTEM_ILL;
            note_outcome(job, k, j, status, residual);
            if (status >= 0 || (job->x == job->b && status != SHOAL_SYSTEM_OVERFLOW)) continue;
            real *x = (real *)job->x + k * job->system * job->nrhs + j;
            for (int64_t i = 0; i < job->n; i++) x[i * row] = real_nan();
        }
    return SHOAL_OK;
}

/* Makes the diagonals of A^T for a transposed plan or an estimate, dl'_i = du_{i-1} and du'_i = dl_{i+1};
 * a transposed plan then works on them. In either layout this shifts the whole array by a row; the numbers
 * shifted from one system to the next are never read. 4 numbers per row moved. */
static void transpose(const shoal_tridiag *plan, tridiag_job *job) {
    const int threads = plan->head.ctx->threads;
    const int64_t total = plan->transposed || job->rcond ? job->total : 0, row = job->row;
    if (total == 0) return; /* threads need microseconds to begin */
    const real *dl = job->dl, *du = job->du;
    real *transposed_dl = job->transposed_dl, *transposed_du = job->transposed_du;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int worker = 0; worker < threads; worker++)
        for (int64_t i = total * worker / threads; i < total * (worker + 1) / threads; i++) {
            transposed_dl[i] = i >= row ? du[i - row] : 0;
            transposed_du[i] = i < total - row ? dl[i + row] : 0;
        }
    for (int64_t k = 0; k < job->count && job->periodic && total > 0; k++) { /* the corners */
        const int64_t first = k * job->system, last = first + (job->n - 1) * row;
        transposed_dl[first] = du[last], transposed_du[last] = dl[first];
    }
    if (plan->transposed) job->dl = transposed_dl, job->du = transposed_du;
}

/* All packs, each by one of the threads. */
static void each_pack(const shoal_tridiag *plan, const tridiag_job *job, pack_task *task) {
    const int lanes = lanes_of(job), workers = workers_of(plan);
    const int64_t packs = (job->count + lanes - 1) / lanes;
    const size_t bytes = (size_t)arrays_of(plan) * array_bytes(&plan->job);
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int worker = 0; worker < workers; worker++) {
        pack p = { 0 };
        lane_verdict v = { 0 };
        pack_open(&p, plan, (char *)plan->job.work + (size_t)worker * bytes);
        p.condition = v.condition;
        p.scaled = 1;
        const int64_t first = packs * worker / workers, past = packs * (worker + 1) / workers;
        for (int64_t q = first; q < past; q++) {
            const int64_t k = q * lanes, left = job->count - k;
            if (shoal_is_cancelled(plan->head.ctx, q - first, past - first)) break;
            task(&p, plan, job, k, left < lanes ? (int)left : lanes, &v);
        }
    }
}

static void solve_pack(pack *p, const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                       int used, lane_verdict *v) {
    const tridiag_cpu_method *method = plan->first.cell;
    p->scaled = method->failure || job->residual; /* what pivots, and what is judged */
    load_matrix(p, job, k, used, v);
    for (int64_t j = 0; j < job->nrhs; j++) {
        load_rhs(p, job, k, used, j, v);
        method->solve(p, plan->first.variant);
        judge_lanes(p, job, k, used, j, method, v);
        int redone[LANES] = { 0 };
        if (job->redone && job->residual) redo_lanes(p, plan, job, k, used, j, v, redone);
        store(p, job, k, used, j, v);
        for (int l = 0; l < used; l++) {
            note_outcome(job, k + l, j, v->status[l], v->residual[l]);
            if (!redone[l]) continue;
            if (job->method) job->method[k + l] = job->rescue_row;
            (void)__atomic_add_fetch(job->redone, 1, __ATOMIC_RELAXED);
        }
    }
}

static shoal_status solve_all(shoal_tridiag *plan, const tridiag_job *job) {
    const tridiag_cpu_method *first = plan->first.cell;
    if (first->whole) return run_whole(plan, job, first);
    each_pack(plan, job, solve_pack);
    return SHOAL_OK;
}

static shoal_status batch_run(shoal_tridiag *plan, const tridiag_job *given) {
    tridiag_job job = *given;
    plan->redone = 0;
    job.redone = plan->rescue.cell ? &plan->redone : NULL;
    transpose(plan, &job);
    const shoal_status status = solve_all(plan, &job);
    job.redone = NULL;
    if (status != SHOAL_OK || !job.rcond) return status;
    const int other = plan->transposed; /* the transposed matrix of A^T is A */
    return plan->estimator->run(plan, &job, other ? given->dl : job.transposed_dl,
                                other ? given->du : job.transposed_du, solve_all);
}

static shoal_status batch_total(shoal_tridiag *plan, const tridiag_job *job,
                                shoal_tridiag_info *info) {
    info->redone = (int64_t)plan->redone;
    if (job->residual) info->max_residual = 0;
    for (int64_t k = 0; k < job->count; k++) {
        info->failed += job->status[k] < 0;
        info->warned += job->status[k] > 0;
        if (job->residual && job->status[k] >= 0 && !(job->residual[k] <= info->max_residual))
            info->max_residual = isnan(info->max_residual) ? NAN : job->residual[k]; /* NaN stays */
    }
    return SHOAL_OK;
}

const tridiag_driver R(tridiag_batch) = { .bytes = batch_bytes,
                                          .run = batch_run,
                                          .total = batch_total };

const pack_io R(tridiag_pack_io) = { lanes_of,     each_pack, set_rows,     load_matrix, load_rhs,
                                     find_largest, store,     note_outcome, transpose };
