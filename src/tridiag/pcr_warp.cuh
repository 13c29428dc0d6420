/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr_warp.cuh - parallel cyclic reduction of short systems, to 256 rows that follow each other: nothing but
 * registers. A lane has 4 or 8 consecutive rows, neighbours come by shuffle (pcr_step.cuh); as many systems
 * a warp as it has room for. 5 numbers a row moved, ceil(log2 n) steps.
 */
#ifndef SHOAL_TRIDIAG_PCR_WARP_CUH
#define SHOAL_TRIDIAG_PCR_WARP_CUH

#include "tridiag/pcr_step.cuh"

enum { WARP_BLOCK = 128, WARP_ROWS = 256 };

/* The K consecutive rows of a lane, of which `have` exist; the rest are those of an identity. */
template <int K> struct lane_rows { real dl[K], d[K], du[K], b[K]; };

/* K consecutive numbers, 16 bytes at a time where `vector` says that they lie so. */
template <int K>
__device__ static inline void load_numbers(real (&to)[K], const void *array, int64_t at, int have,
                                           real filler, bool vector) {
    const int step = 16 / sizeof(real);
    const real *from = (const real *)array + at;
    if (vector && have >= K) {
#pragma unroll
        for (int k = 0; k < K; k += step) {
            const int4 bits = *(const int4 *)(from + k);
            memcpy(&to[k], &bits, sizeof bits);
        }
    } else {
#pragma unroll
        for (int k = 0; k < K; k++) to[k] = k < have ? from[k] : filler;
    }
}

template <int K>
__device__ static inline void load_rows(lane_rows<K> &e, const tridiag_job &job, int64_t at,
                                        int have, bool first, bool vector) {
    load_numbers(e.dl, job.dl, at, have, 0, vector);
    load_numbers(e.d, job.d, at, have, 1, vector);
    load_numbers(e.du, job.du, at, have, 0, vector);
    load_numbers(e.b, job.b, at, have, 0, vector);
    if (first) e.dl[0] = 0; /* the entries that do not exist */
#pragma unroll
    for (int k = 0; k < K; k++)
        if (k + 1 == have) e.du[k] = 0;
}

/* The norms of what x leaves of the team's equations, which are loaded again, from the cache: registers
 * are dear. Afterwards the first lane of the team has those of all. */
template <int K>
__device__ static inline norms judge_rows(const tridiag_job &job, lane_rows<K> &e,
                                          const real (&x)[K], int64_t at, int have,
                                          const any_team &t, bool vector) {
    norms m = {};
    real left[K], right[K];
    near_rows<1>(left, right, x, t);
    load_rows(e, job, at, have, t.me == 0, vector);
#pragma unroll
    for (int k = 0; k < K; k++)
        norms_row(&m, (real)job.tol, e.dl[k], e.d[k], e.du[k], e.b[k], left[k], x[k], right[k]);
    for (int step = 1; step < t.size; step *= 2)
        norms_with(&m, t.me + step < t.size ? t.lane + step : t.lane);
    return m;
}

/* K consecutive numbers, or NaN, as load_numbers() takes them. */
template <int K>
__device__ static inline void store_numbers(real *to, const real (&from)[K], int have, int fate,
                                            bool vector) {
    if (vector && have >= K && fate == X_WRITTEN) {
#pragma unroll
        for (int k = 0; k < K; k += 16 / sizeof(real)) {
            int4 bits;
            memcpy(&bits, &from[k], sizeof bits);
            *(int4 *)(to + k) = bits;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < K; k++)
        if (k < have) to[k] = fate == X_WRITTEN ? from[k] : real_nan();
}

/* Systems that follow each other: K consecutive rows a lane, `size` lanes a system, as many
 * systems a warp as it has room for. Lanes left over work on identities. */
template <int K> __global__ static void warp_kernel(tridiag_job job, int size, bool vector) {
    const int lane = threadIdx.x & 31, each = 32 / size, which = lane / size, n = (int)job.n;
    const any_team t = { size, lane, lane - which * size };
    const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32,
                  v = warp * each + which;
    const int64_t at = v * n + t.me * K;
    /* rows from the lane's first on, of which the first K are its own */
    const int have = which < each && v < job.count ? n - t.me * K : 0;
    lane_rows<K> e;
    warp_rows<K> s;
    real poison = 0, x_poison = 0;
    load_rows(e, job, at, have, t.me == 0, vector);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const real inverse = 1 / e.d[k];
        const equation row = { e.dl[k], e.d[k], e.du[k], e.b[k] };
        poison += poison_of(row);
        s.dl[k] = -e.dl[k] * inverse, s.du[k] = -e.du[k] * inverse, s.b[k] = e.b[k] * inverse;
    }
    warp_solve(s, t); /* s.d is x */
#pragma unroll
    for (int k = 0; k < K; k++) x_poison = poisoned(x_poison, s.b[k]);
    norms m = {};
    if (job.residual) m = judge_rows(job, e, s.b, at, have, t, vector);
    const int first = lane - t.me;
    const unsigned mine = (0xffffffffu >> (32 - size)) << first;
    const bool input_bad = __ballot_sync(0xffffffffu, poison != 0) & mine;
    const bool x_bad = __ballot_sync(0xffffffffu, x_poison != 0) & mine;
    int fate = X_KEPT;
    if (t.me == 0 && have > 0) {
        const float residual = job.residual ? norms_residual(&m) : 0;
        fate = settle(job, v, decide(job, input_bad, x_bad, m, residual, SHOAL_SYSTEM_PIVOT),
                      residual);
    }
    fate = __shfl_sync(0xffffffffu, fate, first);
    if (fate != X_KEPT) store_numbers((real *)job.x + at, s.b, have, fate, vector);
}

/* 4 or 8 rows a lane: what leaves fewer lanes of a warp without work. At a tie 8 are faster in f32, 4 in
 * f64, where registers are short. */
static void launch_warps(const tridiag_job *job, void *stream) {
    const int n = (int)job->n, four = (n + 3) / 4, eight = (n + 7) / 8;
    const int tie = sizeof(real) == 4 ? 1 : 0;
    const bool wide = four > 32 || 32 / eight + tie > 2 * (32 / four);
    const int size = wide ? eight : four, each = 32 / size;
    const int64_t warps = (job->count + each - 1) / each;
    const uintptr_t offsets = (uintptr_t)job->dl | (uintptr_t)job->d | (uintptr_t)job->du |
                              (uintptr_t)job->b | (uintptr_t)job->x |
                              (uintptr_t)(job->n * sizeof(real));
    const dim3 grid((unsigned)((warps * 32 + WARP_BLOCK - 1) / WARP_BLOCK)), block(WARP_BLOCK);
    if (wide)
        SHOAL_LAUNCH((warp_kernel<8>), grid, block, 0, stream, *job, size, offsets % 16 == 0);
    else
        SHOAL_LAUNCH((warp_kernel<4>), grid, block, 0, stream, *job, size, offsets % 16 == 0);
}

#endif
