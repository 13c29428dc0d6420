/* SPDX-License-Identifier: Apache-2.0
 *
 * hybrid_long.cuh - the hybrid method for systems longer than a block holds.
 *
 * One thread a chunk of 8 rows writes its reduced row to the workspace: a system of n/8 rows, which
 * is reduced again until a block can solve it; on the way back every thread eliminates its chunk
 * again and fills in the unknowns. About 16 numbers a row moved, of which the caches serve some;
 * workspace 1.7 numbers a row.
 */
#ifndef SHOAL_TRIDIAG_HYBRID_LONG_CUH
#define SHOAL_TRIDIAG_HYBRID_LONG_CUH

enum { LONG_CHUNK = 8 };

static int64_t chunks_of(int64_t n) { return (n + LONG_CHUNK - 1) / LONG_CHUNK; }

__device__ static inline void eliminate_chunk(chunk<LONG_CHUNK> &k, const view &w, int64_t n,
                                              int64_t t) {
    eliminate<LONG_CHUNK>(k, [&](int r) { return equation_at(w, n, t * LONG_CHUNK + r); });
}

/* job: the longer system; to: the reduced one, solve after solve. */
__global__ static void reduce_kernel(tridiag_job job, tridiag_job to) {
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= solves(to) * to.n) return;
    const int64_t v = at / to.n, t = at - v * to.n;
    const view w = view_of(job, v);
    chunk<LONG_CHUNK> mine, next; /* of the next chunk only its first relation is used */
    eliminate_chunk(mine, w, job.n, t);
    eliminate_chunk(next, w, job.n, t + 1);
    const equation e = reduced_row(mine, next.p[0], next.q[0], next.s[0]);
    ((real *)to.dl)[at] = e.dl, ((real *)to.d)[at] = e.d, ((real *)to.du)[at] = e.du,
           ((real *)to.b)[at] = e.b;
}

/* x: the unknowns of the longer system, solve after solve; reduced.x holds those of the reduced
 * one. */
__global__ static void expand_kernel(tridiag_job job, tridiag_job reduced, real *x) {
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= solves(reduced) * reduced.n) return;
    const int64_t v = at / reduced.n, t = at - v * reduced.n, begin = t * LONG_CHUNK;
    const real *last = (const real *)reduced.x;
    const real y = last[at], z = t > 0 ? last[at - 1] : 0;
    chunk<LONG_CHUNK> k;
    eliminate_chunk(k, view_of(job, v), job.n, t);
#pragma unroll
    for (int r = 0; r < LONG_CHUNK; r++)
        if (begin + r < job.n) x[v * job.n + begin + r] = unknown(k, r, z, y);
}

/* The reduced system as a job of its own: one right-hand side, arrays in the workspace. */
static tridiag_job reduced_job(const tridiag_job *job, char **memory, int32_t *status) {
    tridiag_job to = *job;
    to.n = chunks_of(job->n);
    to.count = job->count * job->nrhs;
    to.nrhs = 1;
    to.row = 1;
    to.system = to.n;
    to.status = status;
    to.residual = NULL;
    to.method = NULL;
    to.redo = NULL;
    const size_t bytes = (size_t)(to.n * to.count) * sizeof(real);
    const void **arrays[] = { &to.dl, &to.d, &to.du, &to.b };
    for (int i = 0; i < 4; i++, *memory += bytes) *arrays[i] = *memory;
    to.x = *memory;
    *memory += bytes;
    return to;
}

/* Leaves the unknowns of job in x. Each level is a call: 8 times fewer rows. */
static shoal_status solve_long(shoal_context *ctx, const tridiag_job *job, real *x, char *memory,
                               int32_t *status) {
    tridiag_job reduced = reduced_job(job, &memory, status);
    const dim3 grid((unsigned)((reduced.n * reduced.count + BLOCK - 1) / BLOCK)), block(BLOCK);
    SHOAL_LAUNCH(reduce_kernel, grid, block, 0, ctx->stream, *job, reduced);
    shoal_status result = shoal_launched(ctx, "hybrid, reduction");
    if (result == SHOAL_OK)
        result = reduced.n <= LONGEST
                     ? launch(ctx, &reduced)
                     : solve_long(ctx, &reduced, (real *)reduced.x, memory, status);
    if (result != SHOAL_OK) return result;
    SHOAL_LAUNCH(expand_kernel, grid, block, 0, ctx->stream, *job, reduced, x);
    return shoal_launched(ctx, "hybrid, expansion");
}

static size_t status_bytes(int64_t solves) {
    return ((size_t)solves * sizeof(int32_t) + 255) / 256 * 256;
}

static size_t long_bytes(const shoal_tridiag *plan) {
    const int64_t solves = plan->job.count * plan->job.nrhs;
    int64_t numbers = plan->job.n;
    for (int64_t n = plan->job.n; n > LONGEST; n = chunks_of(n)) numbers += 5 * chunks_of(n);
    return R(tridiag_verdict_bytes)(plan) + status_bytes(solves) +
           (size_t)(numbers * solves) * sizeof(real);
}

static shoal_status long_run(shoal_tridiag *plan, const tridiag_job *job) {
    const int64_t solves = job->count * job->nrhs;
    char *memory = (char *)job->work + R(tridiag_verdict_bytes)(plan);
    int32_t *status = (int32_t *)memory;
    real *x = (real *)(memory + status_bytes(solves));
    shoal_status result = solve_long(plan->head.ctx, job, x, (char *)(x + job->n * solves), status);
    return result == SHOAL_OK ? R(tridiag_verdict)(plan, job, x, job->work, SHOAL_SYSTEM_PIVOT)
                              : result;
}

#endif
