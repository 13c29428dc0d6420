/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.cu - parallel cyclic reduction of order-1 recurrences on the GPU (pcr.c states the step).
 *
 * One kernel per step, ceil(log2 n) of them, one thread per row; s and t go from one pair of arrays in
 * the workspace to the other, 6 numbers per row and step. It is there for the comparison of the
 * P-scheme paper's Figure 7.
 */
#include "recur/strip.cuh"

enum { BLOCK = 256 };

typedef struct pairs { /* row i of segment k: [k n + i] */
    real *s, *t;
} pairs;

__global__ static void load_kernel(recur_job job, pairs to) {
    const int64_t n = job.n, total = n * job.count;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t k = at / n, i = at - k * n;
        const recur_view v = view_of(&job, k);
        const real s = v.s[i * v.s_row], t = v.t[i * v.t_row];
        const real w0 = i == 0 ? first_state(&job, k, 1).x[0] : 0;
        note_failure(job, k, poisoned(row_poison(&s, t, 1), w0) != 0, false);
        to.s[at] = i == 0 ? 0 : s;
        to.t[at] = i == 0 ? real_mad(s, w0, t) : t;
    }
}

__global__ static void step_kernel(int64_t n, int64_t total, int64_t h, pairs from, pairs to) {
    SHOAL_GRID_STRIDE(at, total) {
        const real s = from.s[at], t = from.t[at];
        const bool done = at % n < h; /* row 0 was put in */
        to.s[at] = done ? s : s * from.s[at - h];
        to.t[at] = done ? t : real_mad(s, from.t[at - h], t);
    }
}

__global__ static void store_kernel(recur_job job, pairs from) {
    const int64_t n = job.n, total = n * job.count;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t k = at / n, i = at - k * n;
        const recur_view v = view_of(&job, k);
        const real w = from.t[at];
        note_failure(job, k, false, poisoned(0, w) != 0);
        v.w[i * v.w_row] = w;
    }
}

static size_t pcr_bytes(const shoal_recur *plan) {
    return (size_t)(plan->job.n * plan->job.count) * 4 * sizeof(real);
}

static shoal_status pcr_run(shoal_recur *plan, const recur_job *job) {
    const int64_t total = job->n * job->count;
    const dim3 grid(shoal_blocks(total, BLOCK)), block(BLOCK);
    real *base = (real *)job->work;
    pairs from = { base, base + total }, to = { base + 2 * total, base + 3 * total };
    SHOAL_LAUNCH(load_kernel, grid, block, 0, plan->head.ctx->stream, *job, from);
    for (int64_t h = 1; h < job->n; h *= 2) {
        SHOAL_LAUNCH(step_kernel, grid, block, 0, plan->head.ctx->stream, job->n, total, h, from,
                     to);
        const pairs swap = from;
        from = to, to = swap;
    }
    SHOAL_LAUNCH(store_kernel, grid, block, 0, plan->head.ctx->stream, *job, from);
    return shoal_launched(plan->head.ctx, "pcr");
}

extern "C" const recur_method R(recur_pcr) = { pcr_bytes, pcr_run };
