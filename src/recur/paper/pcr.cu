/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.cu - parallel cyclic reduction of order-1 recurrences on the GPU (pcr.c states the step).
 *
 * One kernel per step, ceil(log2 n) of them, one thread per row; s and t go from one pair of arrays in
 * the workspace to the other, 6 numbers per row and step, and 3 exponents of s of 16 bits. It is
 * there for the comparison of the P-scheme paper's Figure 7. A segment whose products overflow is walked
 * by one thread.
 */
#include "recur/strip.cuh"

enum { BLOCK = 256 };

typedef struct pcr_maps { /* row i of segment k: [k n + i] */
    real *s, *t;
    int16_t *e; /* s is 2^e s, from 1/2 to 1 or 0 */
} pcr_maps;

/* The row w = 2^e s w' + t at a place. What is beyond the exponents of 16 bits is far beyond all numbers. */
__device__ static inline void keep_row(const pcr_maps &to, int64_t at, real s, int e, real t) {
    int more = 0;
    to.s[at] = frexp(s, &more), to.t[at] = t;
    e += more;
    to.e[at] = (int16_t)(e < INT16_MIN ? INT16_MIN : e > INT16_MAX ? INT16_MAX : e);
}

__global__ static void load_kernel(recur_job job, pcr_maps to) {
    const int64_t n = job.n, total = n * job.count;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t k = at / n, i = at - k * n;
        const recur_view v = view_of(&job, k);
        const real s = v.s[i * v.s_row], t = v.t[i * v.t_row];
        recur_state x = first_state(&job, k, 1);
        note_failure(job, k, row_poison(&s, t, 1) + state_poison(&x, 1) != 0, false);
        if (i == 0)
            keep_row(to, at, 0, 0, row_step(&x, &s, t, 1));
        else
            keep_row(to, at, s, 0, t);
    }
}

__global__ static void step_kernel(int64_t n, int64_t total, int64_t h, pcr_maps from,
                                   pcr_maps to) {
    SHOAL_GRID_STRIDE(at, total) {
        const real s = from.s[at], t = from.t[at];
        const int e = from.e[at];
        if (at % n >= h)
            keep_row(to, at, s * from.s[at - h], e + from.e[at - h],
                     (real)scalbn((double)s * from.t[at - h], e) + t);
        else /* row 0 was put in */
            keep_row(to, at, s, e, t);
    }
}

/* Which segments have to be walked; the answers to the others. */
__global__ static void check_kernel(recur_job job, pcr_maps from) {
    const int64_t n = job.n, total = n * job.count;
    SHOAL_GRID_STRIDE(at, total) {
        if (poisoned(0, from.t[at]) != 0) note_failure(job, at / n, false, true);
    }
}

__global__ static void store_kernel(recur_job job, pcr_maps from) {
    const int64_t n = job.n, total = n * job.count;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t k = at / n, i = at - k * n;
        const recur_view v = view_of(&job, k);
        if (job.status[k] == 0) v.w[i * v.w_row] = from.t[at];
    }
}

__global__ static void walk_kernel(recur_job job) {
    SHOAL_GRID_STRIDE(k, job.count) {
        if (job.status[k] == 0) continue;
        const recur_view v = view_of(&job, k);
        recur_state x = first_state(&job, k, 1);
        real input = state_poison(&x, 1), answer = 0;
        walk_rows<1>(v, job.n, x, input, answer);
        job.status[k] = 0;
        note_failure(job, k, input != 0, answer != 0);
    }
}

static size_t pcr_bytes(const shoal_recur *plan) {
    return (size_t)(plan->job.n * plan->job.count) * (4 * sizeof(real) + 2 * sizeof(int16_t));
}

static shoal_status pcr_run(shoal_recur *plan, const recur_job *job) {
    const int64_t total = job->n * job->count;
    const dim3 grid(shoal_blocks(total, BLOCK)), block(BLOCK);
    void *stream = plan->head.ctx->stream;
    real *base = (real *)job->work;
    int16_t *exponents = (int16_t *)(base + 4 * total);
    pcr_maps from = { base, base + total, exponents };
    pcr_maps to = { base + 2 * total, base + 3 * total, exponents + total };
    SHOAL_LAUNCH(load_kernel, grid, block, 0, stream, *job, from);
    for (int64_t h = 1; h < job->n; h *= 2) {
        SHOAL_LAUNCH(step_kernel, grid, block, 0, stream, job->n, total, h, from, to);
        const pcr_maps swap = from;
        from = to, to = swap;
    }
    SHOAL_LAUNCH(check_kernel, grid, block, 0, stream, *job, from);
    SHOAL_LAUNCH(store_kernel, grid, block, 0, stream, *job, from);
    SHOAL_LAUNCH(walk_kernel, dim3(shoal_blocks(job->count, BLOCK)), block, 0, stream, *job);
    return shoal_launched(plan->head.ctx, "pcr");
}

extern "C" const recur_method R(recur_pcr) = { pcr_bytes, pcr_run };
