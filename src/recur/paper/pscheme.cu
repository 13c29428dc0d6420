/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.cu - the P-scheme (Wakatani, sections II.B and IV) on the GPU: G blocks of T threads per
 * segment, one thread per part of M = ceil(n / P) rows, P = T G.
 *
 * Three kernels, as in section V.A, with a launch for each global synchronisation: pre-computation
 * (the map of every part), propagation (one thread per segment goes from part to part) and
 * determination (every part by substitution). Time alpha N/P + beta P + gamma N/P, equations (14)
 * to (16); s and t are read twice, w is written once.
 *
 * Variant "blocked": thread j walks through rows jM .. jM+M-1 where they lie, so that the threads
 * of a warp read M rows apart. Variant "rearranged": s and t are first copied to w'_{iP+j} =
 * w_{jM+i}, a transposition through shared memory, and w is copied back: each phase then reads
 * whole lines, for 2 (s and t: 4) more passes over memory. What is constant is not copied. A part
 * whose map does not do (map_carry) is walked in the propagation.
 *
 * Variants "stored" and "stored-rearranged" keep the map of every row (pscheme.c): 2 (order 1) to 20 numbers per row more
 * are written by the pre-computation and read by the determination, where the rows of a part do not wait for each other.
 * Threads of a warp read and write them M rows apart, or, rearranged, side by side.
 */
#include "core/parts.h"
#include "recur/strip.cuh"
#include "recur/paper/rearrange.cuh"

typedef struct parts {
    int64_t m, all;      /* rows per part; parts of all segments              */
    real *maps, *states; /* number e of part j of segment k: [e * all + k P + j] */
    real *s, *t, *w;     /* rearranged, M P numbers (s: times width) per segment; or NULL */
    real *rows;          /* stored: number e of the map of a row of part j of segment k:
                            [e * all * M + k M P + row], row i P + j or, not rearranged, j M + i; or NULL */
} parts;

__device__ static inline real *map_of_row(const recur_job &job, const parts &p, int64_t k,
                                          int64_t j, int64_t i) {
    return p.rows + k * p.m * job.parts + (p.w ? i * job.parts + j : j * p.m + i);
}

__device__ static inline recur_view view_of_part(const recur_job &job, const parts &p, int64_t k,
                                                 int64_t j) {
    recur_view v = view_of(&job, k);
    const int64_t first = j * p.m, base = k * p.m * job.parts + j;
    v.s = p.s ? p.s + base * job.width : v.s + first * v.s_row;
    v.t = p.t ? p.t + base : v.t + first * v.t_row;
    v.w = p.w ? p.w + base : v.w + first * v.w_row;
    if (p.s) v.s_row = job.parts * job.width;
    if (p.t) v.t_row = job.parts;
    if (p.w) v.w_row = job.parts;
    return v;
}

__device__ static inline int64_t length_of_part(const recur_job &job, const parts &p, int64_t j) {
    const int64_t left = job.n - j * p.m;
    return left > p.m ? p.m : left > 0 ? left : 0;
}

template <int SHAPE>
__global__ __launch_bounds__(SHOAL_MAX_THREADS) static void precompute_kernel(recur_job job,
                                                                              parts p) {
    for (int64_t b = blockIdx.x; b < job.count * job.groups; b += gridDim.x) {
        const int64_t k = b / job.groups, j = b % job.groups * job.threads + threadIdx.x;
        if (j >= job.parts) continue;
        const recur_view v = view_of_part(job, p, k, j);
        const int64_t length = length_of_part(job, p, j);
        recur_map map = map_begin(SHAPE);
        if (!p.rows) map_append_rows(&map, &v, 0, length, SHAPE);
        for (int64_t i = 0; p.rows && i < length; i++) {
            real *to = map_of_row(job, p, k, j, i);
            map_append(&map, v.s + i * v.s_row, v.t[i * v.t_row], SHAPE);
#pragma unroll
            for (int e = 0; e < map_size(SHAPE); e++) to[e * p.all * p.m] = map.m[e];
        }
#pragma unroll
        for (int e = 0; e < map_size(SHAPE); e++) p.maps[e * p.all + k * job.parts + j] = map.m[e];
    }
}

template <int SHAPE> __global__ static void propagate_kernel(recur_job job, parts p) {
    const int64_t k = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= job.count) return;
    recur_state x = first_state(&job, k, SHAPE);
    note_failure(job, k, state_poison(&x, SHAPE) != 0, false);
    for (int64_t j = 0; j < job.parts; j++) {
        const int64_t at = k * job.parts + j;
        recur_map map = {};
#pragma unroll
        for (int e = 0; e < state_size(SHAPE); e++) p.states[e * p.all + at] = x.x[e];
#pragma unroll
        for (int e = 0; e < map_size(SHAPE); e++) map.m[e] = p.maps[e * p.all + at];
        const recur_view v = view_of_part(job, p, k, j);
        carry_or_skip(&map, &x, &v, length_of_part(job, p, j), SHAPE);
    }
}

template <int SHAPE>
__global__ __launch_bounds__(SHOAL_MAX_THREADS) static void determine_kernel(recur_job job,
                                                                             parts p) {
    for (int64_t b = blockIdx.x; b < job.count * job.groups; b += gridDim.x) {
        const int64_t k = b / job.groups, j = b % job.groups * job.threads + threadIdx.x;
        if (j >= job.parts) continue;
        const recur_view v = view_of_part(job, p, k, j);
        real input = 0, answer = 0;
        recur_state x = {};
#pragma unroll
        for (int e = 0; e < state_size(SHAPE); e++)
            x.x[e] = p.states[e * p.all + k * job.parts + j];
        int64_t done = 0;
        const int64_t length = length_of_part(job, p, j);
        const recur_state before = x;
        for (; p.rows && done < length; done++) { /* equation (13) */
            const real *from = map_of_row(job, p, k, j, done);
            recur_map map = {};
            recur_state y = before;
#pragma unroll
            for (int e = 0; e < map_size(SHAPE); e++) map.m[e] = from[e * p.all * p.m];
            if (map_carry(&map, &y, SHAPE) != 0) break;
            input += row_poison(v.s + done * v.s_row, v.t[done * v.t_row], SHAPE);
            v.w[done * v.w_row] = y.x[0];
            x = y;
        }
        recur_view rest = v;
        rest.s += done * v.s_row, rest.t += done * v.t_row, rest.w += done * v.w_row;
        walk_rows<SHAPE>(rest, length - done, x, input, answer);
        note_failure(job, k, input != 0, answer != 0);
    }
}

/* ---- the launch ----------------------------------------------------------------------------- */

static parts parts_of(const shoal_recur *plan, const recur_job *job, size_t *bytes) {
    const int64_t m = (job->n + job->parts - 1) / job->parts, all = job->parts * job->count;
    const int variant = plan->chosen.variant;
    parts p = { m, all, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr };
    int64_t numbers = 0;
    real *base = (real *)job->work;
    p.maps = base;
    numbers += all * map_size(job->shape);
    p.states = base + numbers;
    numbers += all * state_size(job->shape);
    if (variant >= PSCHEME_STORED)
        p.rows = base + numbers, numbers += m * all * map_size(job->shape);
    if (variant == PSCHEME_REARRANGED || variant == PSCHEME_STORED_REARRANGED) {
        if (!job->constant_s) p.s = base + numbers, numbers += m * all * job->width;
        if (!job->constant_t && job->shape != SHAPE_MOEBIUS)
            p.t = base + numbers, numbers += m * all;
        p.w = base + numbers, numbers += m * all;
    }
    *bytes = (size_t)numbers * sizeof(real);
    return p;
}

static size_t pscheme_bytes(const shoal_recur *plan) {
    size_t bytes;
    parts_of(plan, &plan->job, &bytes);
    return bytes;
}

static void rearrange_rows(shoal_recur *plan, const recur_job *job, const parts &p, real *plain,
                           real *rearranged, int width, bool back) {
    const rearrangement t = { job->n,   p.m,          job->parts,  job->count,
                              job->row, job->segment, job->origin, width };
    rearrange(plan->head.ctx->stream, t, plain, rearranged, back);
}

template <int SHAPE> static shoal_status run_shape(shoal_recur *plan, const recur_job *job) {
    size_t bytes;
    const parts p = parts_of(plan, job, &bytes);
    const dim3 grid(shoal_blocks(job->count * job->groups, 1)), block((unsigned)job->threads);
    if (p.s) rearrange_rows(plan, job, p, (real *)job->s, p.s, job->width, false);
    if (p.t) rearrange_rows(plan, job, p, (real *)job->t, p.t, 1, false);
    SHOAL_LAUNCH((precompute_kernel<SHAPE>), grid, block, 0, plan->head.ctx->stream, *job, p);
    if (job->last_phase != SHOAL_RECUR_PRECOMPUTATION)
        SHOAL_LAUNCH((propagate_kernel<SHAPE>), dim3((unsigned)((job->count + 31) / 32)), dim3(32),
                     0, plan->head.ctx->stream, *job, p);
    if (!job->last_phase || job->last_phase == SHOAL_RECUR_DETERMINATION)
        SHOAL_LAUNCH((determine_kernel<SHAPE>), grid, block, 0, plan->head.ctx->stream, *job, p);
    if (p.w && !job->last_phase) rearrange_rows(plan, job, p, (real *)job->w, p.w, 1, true);
    return shoal_launched(plan->head.ctx, "pscheme");
}

static shoal_status pscheme_run(shoal_recur *plan, const recur_job *job) {
    return RUN_BY_SHAPE(job->shape, run_shape, plan, job);
}

extern "C" const recur_method R(recur_pscheme) = { pscheme_bytes, pscheme_run };
