/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.cu - what every CUDA method has in common: the workspace, the second pass under "auto",
 * the totals, and the verdict on answers that were computed by many blocks.
 *
 * Only the totals, for shoal_tridiag_last() or opts.waits, wait, and nothing allocates; a solve
 * can be captured in a CUDA graph. The second pass reads how much there is to redo from device
 * memory, unless the call waits.
 *
 * There are three totals. Calls take the first two in turn: the second pass clears those of the next call. A call that is
 * captured, and may run at any time, has the third.
 */
#include "tridiag/device.cuh"

enum { BLOCK = 256, SEGMENT = 4096 };
enum { ONE_BLOCK = 1 << 14 }; /* so many systems are summed up by one block */

typedef tridiag_totals totals;
enum { SLOT = 64, CAPTURED = 2 }; /* bytes of totals, which are at the head of the workspace */
enum { TOTAL_WORDS = offsetof(totals, max_residual) / sizeof(unsigned) + 1 };
static_assert(sizeof(totals) <= SLOT && (CAPTURED + 1) * SLOT <= TRIDIAG_ALIGNMENT, "room");

static totals *totals_in(const tridiag_job *job, int slot) {
    return (totals *)((char *)job->work + slot * SLOT);
}

static size_t list_bytes(const shoal_tridiag *plan) {
    size_t todo = (size_t)plan->job.count * (size_t)plan->job.nrhs;
    return plan->rescue.cell ? tridiag_aligned(todo * sizeof(int64_t)) : 0;
}

static size_t batch_bytes(const shoal_tridiag *plan) {
    const tridiag_cuda_method *first = (const tridiag_cuda_method *)plan->first.cell;
    const tridiag_cuda_method *rescue = (const tridiag_cuda_method *)plan->rescue.cell;
    size_t bytes = first->bytes(plan), second = rescue ? rescue->bytes(plan) : 0;
    if (second > bytes) bytes = second; /* one after the other in the same memory */
    return TRIDIAG_ALIGNMENT + list_bytes(plan) + bytes;
}

/* With several right-hand sides the second pass overwrites the method only where it was needed. */
__global__ static void note_method(int32_t *method, int64_t count, int32_t row) {
    SHOAL_GRID_STRIDE(k, count) { method[k] = row; }
}

/* The totals of a call. */
static void take_turn(shoal_tridiag *plan, tridiag_job *job) {
    const bool is_captured = plan->head.ctx->ops->captures(plan->head.ctx);
    job->clears = is_captured || !plan->next_is_clear;
    if (!is_captured) plan->turn = !plan->turn, plan->next_is_clear = 0;
    plan->slot = is_captured ? CAPTURED : plan->turn;
    job->redone = &totals_in(job, plan->slot)->redone;
    job->next = is_captured ? NULL : &totals_in(job, !plan->turn)->redone;
}

static shoal_status clear_outcome(shoal_tridiag *plan, const tridiag_job *job) {
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    cudaError_t error = cudaSuccess;
    const size_t systems = (size_t)job->count;
    if (job->clears) error = cudaMemsetAsync(job->redone, 0, sizeof(totals), stream);
    if (job->nrhs > 1 || job->n == 0) { /* right-hand sides merge into what is there */
        if (!error) error = cudaMemsetAsync(job->status, 0, systems * sizeof(int32_t), stream);
        if (!error && job->residual)
            error = cudaMemsetAsync(job->residual, 0, systems * sizeof(float), stream);
    }
    if (error != cudaSuccess)
        return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "clearing the outcome: %s",
                          cudaGetErrorString(error));
    if (job->method && (job->nrhs > 1 || job->n == 0))
        SHOAL_LAUNCH(note_method, dim3(shoal_blocks(job->count, BLOCK)), dim3(BLOCK), 0,
                     plan->head.ctx->stream, job->method, job->count, job->first_row);
    return SHOAL_OK;
}

extern "C" shoal_status R(tridiag_begin)(shoal_tridiag *plan, tridiag_job *job) {
    take_turn(plan, job);
    return clear_outcome(plan, job);
}

/* The diagonals of A^T, as in batch.c. 4 numbers per row moved. */
__global__ static void transpose_kernel(tridiag_job job) {
    const real *dl = (const real *)job.dl, *du = (const real *)job.du;
    real *transposed_dl = (real *)job.transposed_dl, *transposed_du = (real *)job.transposed_du;
    SHOAL_GRID_STRIDE(i, job.total) {
        const int64_t r = job.row == 1 ? i % job.n : i / job.row; /* row of its system */
        const int64_t around = (job.n - 1) * job.row;             /* from its first to its last */
        transposed_dl[i] = job.periodic && r == 0 ? du[i + around]
                           : i >= job.row         ? du[i - job.row]
                                                  : 0;
        transposed_du[i] = job.periodic && r == job.n - 1 ? dl[i - around]
                           : i < job.total - job.row      ? dl[i + job.row]
                                                          : 0;
    }
}

static shoal_status sum_up(shoal_tridiag *plan, const tridiag_job *job, totals *sums, totals *to,
                           unsigned long long *next);

static shoal_status run_second(shoal_tridiag *plan, tridiag_job job) {
    job.todo = job.redo, job.redo = NULL;
    return ((const tridiag_cuda_method *)plan->rescue.cell)->run(plan, &job);
}

/* A call that waits reads the totals after its first pass, which clears those of the next call. */
static bool tells(const shoal_tridiag *plan, const tridiag_job *job) {
    return plan->waits && plan->rescue.cell && !job->rcond && job->n > 0;
}

/* Both passes of a call, or the first one and the totals. */
static shoal_status queue_solve(void *of, const void *with) {
    shoal_tridiag *plan = (shoal_tridiag *)of;
    const tridiag_job *job = (const tridiag_job *)with;
    shoal_status status = clear_outcome(plan, job);
    if (status != SHOAL_OK || job->n == 0) return status;
    status = ((const tridiag_cuda_method *)plan->first.cell)->run(plan, job);
    if (status != SHOAL_OK || !plan->rescue.cell) return status;
    return tells(plan, job) ? sum_up(plan, job, (totals *)job->redone, plan->told, job->next)
                            : run_second(plan, *job);
}

static shoal_status solve_all(shoal_tridiag *plan, const tridiag_job *given) {
    char *memory = (char *)given->work;
    tridiag_job job = *given;
    take_turn(plan, &job);
    job.work = memory + TRIDIAG_ALIGNMENT + list_bytes(plan);
    if (plan->rescue.cell) job.redo = (int64_t *)(memory + TRIDIAG_ALIGNMENT);
    if (plan->waits) shoal_expect((unsigned *)plan->told, TOTAL_WORDS);
    shoal_status status = plan->replays && !job.rcond && plan->slot != CAPTURED
                              ? shoal_plan_repeat(&plan->head, queue_solve, &job, sizeof job)
                              : queue_solve(plan, &job);
    if (status == SHOAL_OK && tells(plan, &job)) {
        status = shoal_wait_for(plan->head.ctx, (const unsigned *)plan->told, TOTAL_WORDS);
        plan->is_told = status == SHOAL_OK && plan->told->redone == 0;
        if (status == SHOAL_OK && !plan->is_told) status = run_second(plan, job);
    }
    if (status == SHOAL_OK && plan->rescue.cell && job.next && job.n > 0) plan->next_is_clear = 1;
    return status;
}

extern "C" void R(tridiag_transpose)(const shoal_tridiag *plan, tridiag_job *job) {
    if ((plan->transposed || job->rcond) && job->total > 0)
        SHOAL_LAUNCH(transpose_kernel, dim3(shoal_blocks(job->total, BLOCK)), dim3(BLOCK), 0,
                     plan->head.ctx->stream, *job);
    if (plan->transposed) job->dl = job->transposed_dl, job->du = job->transposed_du;
}

static shoal_status batch_run(shoal_tridiag *plan, const tridiag_job *given) {
    tridiag_job job = *given;
    R(tridiag_transpose)(plan, &job);
    const shoal_status status = solve_all(plan, &job);
    if (status != SHOAL_OK || !job.rcond) return status;
    const bool other = plan->transposed; /* the transposed matrix of A^T is A */
    return plan->estimator->run(plan, &job, other ? given->dl : job.transposed_dl,
                                other ? given->du : job.transposed_du, solve_all);
}

/* Adds to *sums; a block that is alone writes the totals to *to, too, and clears *next. */
__global__ static void total_kernel(tridiag_job job, totals *sums, totals *to,
                                    unsigned long long *next) {
    shoal_grid_dependency_wait();
    unsigned long long failed = 0, warned = 0;
    unsigned largest = 0;
    SHOAL_SHARED_ARRAY(unsigned, all, 3);
    if (threadIdx.x < 3) all[threadIdx.x] = 0;
    __syncthreads();
    SHOAL_GRID_STRIDE(k, job.count) {
        failed += job.status[k] < 0;
        warned += job.status[k] > 0;
        if (job.residual && job.status[k] >= 0)
            largest = max(largest, __float_as_uint(job.residual[k]));
    }
    if (gridDim.x == 1) {
        if (failed) atomicAdd(&all[0], (unsigned)failed);
        if (warned) atomicAdd(&all[1], (unsigned)warned);
        if (largest) atomicMax(&all[2], largest);
        __syncthreads();
        if (threadIdx.x > 0) return;
        const totals now = { sums->redone, all[0], all[1], all[2] };
        if (next) *next = 0;
        __threadfence_system(); /* x is there before the totals, and the next call finds zeros */
        *to = now;
        return;
    }
    if (failed) atomicAdd(&sums->failed, failed);
    if (warned) atomicAdd(&sums->warned, warned);
    if (largest) atomicMax(&sums->max_residual, largest);
}

/* Queues the sums of a call, to *to on the device or in pinned memory, and clears *next, if that is not NULL. */
static shoal_status sum_up(shoal_tridiag *plan, const tridiag_job *job, totals *sums, totals *to,
                           unsigned long long *next) {
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    const bool is_one = job->count <= ONE_BLOCK;
    cudaError_t error = cudaSuccess;
    if (!is_one)
        error = cudaMemsetAsync(&sums->failed, 0, sizeof *sums - offsetof(totals, failed), stream);
    SHOAL_LAUNCH_EARLY(total_kernel, dim3(is_one ? 1 : shoal_blocks(job->count, BLOCK)),
                       dim3(BLOCK), 0, stream, *job, sums, to, next);
    if (!error && !is_one && next) error = cudaMemsetAsync(next, 0, sizeof *next, stream);
    if (!error && !is_one && to != sums)
        error = cudaMemcpyAsync(to, sums, sizeof *to, cudaMemcpyDefault, stream);
    if (error == cudaSuccess) return shoal_launched(plan->head.ctx, "total");
    return shoal_fail(plan->head.ctx, SHOAL_E_CUDA, "summing up: %s", cudaGetErrorString(error));
}

static shoal_status batch_total(shoal_tridiag *plan, const tridiag_job *job,
                                shoal_tridiag_info *info) {
    totals *sums = totals_in(job, plan->slot), result;
    if (plan->is_told) {
        result = *plan->told;
    } else {
        shoal_status status = sum_up(plan, job, sums, sums, NULL);
        if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, &result, sums, sizeof result);
        if (status != SHOAL_OK) return status;
    }
    info->redone = (int64_t)result.redone;
    info->failed = (int64_t)result.failed;
    info->warned = (int64_t)result.warned;
    if (job->residual) memcpy(&info->max_residual, &result.max_residual, sizeof(float));
    return SHOAL_OK;
}

extern "C" const tridiag_driver R(tridiag_batch) = { batch_bytes, batch_run, batch_total };

/* ---- answers computed by many blocks (long systems) ----------------------------------------- */

/* Norms of one solve, gathered by atomicMax: bits of numbers >= 0 order like the numbers. */
#ifdef SHOAL_SINGLE
typedef unsigned bits;
__device__ static inline bits bits_of(real v) { return __float_as_uint(v); }
__device__ static inline real real_of(bits v) { return __uint_as_float(v); }
#else
typedef unsigned long long bits;
__device__ static inline bits bits_of(real v) { return (bits)__double_as_longlong(v); }
__device__ static inline real real_of(bits v) { return __longlong_as_double((long long)v); }
#endif

typedef struct shared_norms {
    bits r, x;
    int input_bad, x_bad, poison, x_state;
} shared_norms;

/* One block looks at SEGMENT rows of one solve. */
__global__ static void gather_kernel(tridiag_job job, const real *y, shared_norms *all,
                                     int64_t segments) {
    const int64_t n = job.n, v = blockIdx.x / segments, begin = blockIdx.x % segments * SEGMENT;
    const view w = view_of(job, v);
    norms m = {};
    int input_bad = 0, x_bad = 0;
    y += v * n;
    for (int64_t i = begin + threadIdx.x; i < n && i < begin + SEGMENT; i += blockDim.x) {
        const equation e = equation_at(w, n, i);
        norms_row(&m, e.dl, e.d, e.du, e.b, i > 0 ? y[i - 1] : 0, y[i], i + 1 < n ? y[i + 1] : 0);
        input_bad |= poison_of(e) != 0;
        x_bad |= poisoned(0, y[i]) != 0;
    }
    norms_over_lanes(&m, 32);
    if (input_bad) atomicOr(&all[v].input_bad, 1);
    if (x_bad) atomicOr(&all[v].x_bad, 1);
    if (threadIdx.x % 32 != 0) return;
    if (m.poison != 0) atomicOr(&all[v].poison, 1);
    atomicMax(&all[v].r, bits_of(m.r));
    atomicMax(&all[v].x, bits_of(m.x));
}

__global__ static void settle_kernel(tridiag_job job, const real *y, shared_norms *all,
                                     int32_t failure) {
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= solves(job)) return;
    shared_norms *s = &all[v];
    const norms m = { real_of(s->r), real_of(s->x), s->poison ? real_nan() : 0 };
    float residual = norms_residual(&m);
    if (job.residual && !s->x_bad && is_doubtful(residual, job.tol))
        residual = look_again(view_of(job, v), y + v * job.n, 1);
    int32_t status = decide_status(job, s->input_bad != 0, s->x_bad != 0, false, residual, failure);
    s->x_state = note_outcome(job, v, status, residual);
}

__global__ static void write_kernel(tridiag_job job, const real *y, const shared_norms *all) {
    const int64_t n = job.n, total = solves(job) * n;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t v = at / n, i = at - v * n;
        const int x_state = all[v].x_state;
        const view w = view_of(job, v);
        if (x_state != X_KEPT) w.x[i * w.rhs_row] = x_state == X_WRITTEN ? y[at] : real_nan();
    }
}

extern "C" size_t R(tridiag_verdict_bytes)(const shoal_tridiag *plan) {
    return tridiag_aligned((size_t)plan->job.count * (size_t)plan->job.nrhs * sizeof(shared_norms));
}

extern "C" shoal_status R(tridiag_verdict)(shoal_tridiag *plan, const tridiag_job *job,
                                           const real *y, void *memory, int32_t failure) {
    cudaStream_t stream = (cudaStream_t)plan->head.ctx->stream;
    shared_norms *all = (shared_norms *)memory;
    const int64_t todo = job->count * job->nrhs;
    cudaMemsetAsync(all, 0, (size_t)todo * sizeof *all, stream);
    const int64_t segments = (job->n + SEGMENT - 1) / SEGMENT;
    SHOAL_LAUNCH(gather_kernel, dim3((unsigned)(todo * segments)), dim3(BLOCK), 0, stream, *job, y,
                 all, segments);
    SHOAL_LAUNCH(settle_kernel, dim3((unsigned)((todo + BLOCK - 1) / BLOCK)), dim3(BLOCK), 0,
                 stream, *job, y, all, failure);
    SHOAL_LAUNCH(write_kernel, dim3(shoal_blocks(todo * job->n, BLOCK)), dim3(BLOCK), 0, stream,
                 *job, y, (const shared_norms *)all);
    return shoal_launched(plan->head.ctx, "verdict");
}
