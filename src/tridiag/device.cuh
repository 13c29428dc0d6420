/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cuh - what the tridiagonal kernels have in common: where the numbers of a system lie, and
 * what is done with an answer once it is known.
 *
 * A kernel works on solves: solve v is right-hand side v % nrhs of system v / nrhs. The thread or block
 * that has computed an x decides its status (decide_status), notes it (note_outcome) and then writes x,
 * or NaN, or nothing: under "auto" an untrusted answer is listed instead, and qr redoes the list.
 */
#ifndef SHOAL_TRIDIAG_DEVICE_CUH
#define SHOAL_TRIDIAG_DEVICE_CUH

#include "core/launch.cuh"
#include "core/real.h"
#include "tridiag/plan.h"
#include "tridiag/residual.h"

/* The numbers of one solve: element i of n is dl[i * row], b[i * rhs_row], x[i * rhs_row]. */
typedef struct view {
    int64_t n;
    const real *dl, *d, *du, *b;
    real *x;
    int64_t row, rhs_row;
} view;

__device__ static inline int64_t solves(const tridiag_job &job) { return job.count * job.nrhs; }

__device__ static inline view view_of(const tridiag_job &job, int64_t v) {
    int64_t k = job.nrhs == 1 ? v : v / job.nrhs, j = v - k * job.nrhs;
    int64_t at = tridiag_first_of(&job, k), rhs_at = at * job.nrhs + j;
    view w;
    w.n = tridiag_rows_of(&job, k);
    w.dl = (const real *)job.dl + at;
    w.d = (const real *)job.d + at;
    w.du = (const real *)job.du + at;
    w.b = (const real *)job.b + rhs_at;
    w.x = (real *)job.x + rhs_at;
    w.row = job.row;
    w.rhs_row = job.row * job.nrhs;
    return w;
}

/* Row i of a solve; dl of the first and du of the last row do not exist, and rows past the end are
 * those of an identity. */
typedef struct equation {
    real dl, d, du, b;
} equation;

__device__ static inline equation equation_at(const view &w, int64_t n, int64_t i) {
    equation e = { 0, 1, 0, 0 };
    if (i >= n) return e;
    e.dl = i > 0 ? w.dl[i * w.row] : 0;
    e.d = w.d[i * w.row];
    e.du = i + 1 < n ? w.du[i * w.row] : 0;
    e.b = w.b[i * w.rhs_row];
    return e;
}

/* Rows i .. i + U - 1, all loads in flight before the first number is used: what a thread that
 * walks through a system by itself needs. */
template <int U>
__device__ static inline void equations_at(equation (&e)[U], const view &w, int64_t n, int64_t i) {
#pragma unroll
    for (int u = 0; u < U; u++) e[u] = equation_at(w, n, i + u);
}

/* 0 where all four are finite, NaN otherwise. */
__device__ static inline real poison_of(const equation &e) {
    return poisoned(poisoned(poisoned(poisoned(0, e.dl), e.d), e.du), e.b);
}

/* ---- judging by upper halves ------------------------------------------------------------------- */

__device__ static inline int32_t high_abs(real v) { return high_of(v) & 0x7fffffff; }

enum { HIGH_ONE = 1 << (sizeof(real) == 4 ? 23 : 20), HIGH_END = (2 * REAL_BIAS + 1) * HIGH_ONE };

/* 2^e of a row (residual.h); 0 where its largest entry is subnormal. */
__device__ static inline int32_t row_high(const equation &e) {
    const int32_t power = HIGH_END;
    return max(max(high_of(e.dl) & power, high_of(e.d) & power), high_of(e.du) & power);
}

/* Upper halves of what a judge collects of a solve. */
typedef struct halves {
    int32_t input; /* largest number of the input                                 */
    int32_t least; /* least power of two of a row                                 */
    int32_t r, x;  /* largest |r_i| 2^-e_i and |x|                                */
    int32_t bound; /* of the condition number                                     */
} halves;

__device__ static inline halves no_halves() { return halves{ 0, HIGH_END, 0, 0, 0 }; }

__device__ static inline void take_row(halves *h, const equation &e, real left, real x,
                                       real right) {
    const int32_t power = row_high(e);
    const real scale = from_high(2 * REAL_BIAS * HIGH_ONE - min(power, HIGH_END - 2 * HIGH_ONE));
    const real r = real_fma(-e.du, right, real_fma(-e.d, x, real_fma(-e.dl, left, e.b)));
    h->least = min(h->least, power);
    h->r = max(h->r, high_abs(r * scale));
}

/* Over the lanes of a warp that differ in the bits below `width`. */
__device__ static inline int32_t max_over_lanes(int32_t v, int width) {
    if (width == 32) return __reduce_max_sync(0xffffffffu, v);
    for (int bit = width / 2; bit > 0; bit /= 2) v = max(v, __shfl_xor_sync(0xffffffffu, v, bit));
    return v;
}
__device__ static inline void halves_over_lanes(halves *h, int width) {
    h->input = max_over_lanes(h->input, width), h->least = -max_over_lanes(-h->least, width);
    h->r = max_over_lanes(h->r, width), h->x = max_over_lanes(h->x, width);
    h->bound = max_over_lanes(h->bound, width);
}
__device__ static inline void halves_with(halves *h, const halves &other) {
    h->input = max(h->input, other.input), h->least = min(h->least, other.least);
    h->r = max(h->r, other.r), h->x = max(h->x, other.x), h->bound = max(h->bound, other.bound);
}

/* The residual, NaN where products may have left the range. */
__device__ static inline float halves_residual(const halves &h) {
    const int32_t low =
        REAL_BIAS / 16 * HIGH_ONE; /* a few of the smallest numbers are nothing beside it */
    if (h.r == 0 && h.x == 0) return 0;
    if (h.r >= HIGH_END || h.least == 0 || h.x < low || h.x < REAL_BIAS * HIGH_ONE + low - h.least)
        return NAN;
    return h.r == 0 ? 0 : (float)(from_high(h.r + 1) / from_high(h.x));
}

/* ---- what becomes of an answer ---------------------------------------------------------------- */

/* `failure` is the status for a non-finite x; `ill`: so is the matrix. */
__device__ static inline int32_t decide_status(const tridiag_job &job, bool input_bad, bool x_bad,
                                               bool ill, float residual, int32_t failure) {
    if (input_bad) return SHOAL_SYSTEM_NONFINITE;
    if (x_bad) return failure;
    if (ill) return SHOAL_SYSTEM_ILL;
    return job.residual && !((double)residual <= job.tol) ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

/* Several right-hand sides share a status: any failure over any answer, a warning over none. */
__device__ static inline void merge_status(int32_t *at, int32_t status) {
    int32_t seen = atomicOr(at, 0); /* an atomic read */
    while (status < 0 ? status < seen : seen >= 0 && status > seen) {
        int32_t before = atomicCAS(at, seen, status);
        if (before == seen) break;
        seen = before;
    }
}

enum { X_WRITTEN, X_IS_NAN, X_KEPT }; /* what becomes of x */

/* Notes the outcome of solve v; returns what to do with x. One thread per solve calls it. */
__device__ static inline int note_outcome(const tridiag_job &job, int64_t v, int32_t status,
                                          float residual) {
    if (job.redo && status != SHOAL_SYSTEM_OK && status != SHOAL_SYSTEM_NONFINITE) {
        job.redo[atomicAdd(job.redone, 1ull)] = v;
        return X_KEPT;
    }
    if (status < 0) residual = NAN;
    int method = job.todo ? job.rescue_row : job.first_row;
    if (job.nrhs == 1) {
        job.status[v] = status;
        if (job.residual) job.residual[v] = residual;
        if (job.method) job.method[v] = method;
    } else {
        int64_t k = v / job.nrhs;
        merge_status(&job.status[k], status);
        /* the bits of floats >= 0 order like the floats, with NaN above all */
        if (job.residual)
            atomicMax((unsigned *)&job.residual[k], __float_as_uint(residual) & 0x7fffffffu);
        if (job.method && job.todo) atomicExch(&job.method[k], method);
    }
    return status >= 0 ? X_WRITTEN : job.x == job.b ? X_KEPT : X_IS_NAN;
}

/* Whether a solve has no unknowns (systems of different sizes); if so, its outcome is noted. */
__device__ static inline bool is_empty(const tridiag_job &job, const view &w, int64_t v) {
    if (w.n == 0) note_outcome(job, v, SHOAL_SYSTEM_OK, 0);
    return w.n == 0;
}

/* The larger of each norm and that of another lane; a poison in either poisons. */
__device__ static inline void norms_with(norms *m, int lane) {
    m->r = real_max(m->r, __shfl_sync(0xffffffffu, m->r, lane));
    m->x = real_max(m->x, __shfl_sync(0xffffffffu, m->x, lane));
    m->poison += __shfl_sync(0xffffffffu, m->poison, lane);
}

/* The largest over the lanes of a warp that differ in the bits below `width`, a power of two: every
 * lane of such a group gets it. */
__device__ static inline void norms_over_lanes(norms *m, int width) {
    const int lane = threadIdx.x & 31;
    for (int bit = width / 2; bit > 0; bit /= 2) norms_with(m, lane ^ bit);
}

/* Threads in flight where each owns a solve and n rows of scratch, `rows` in all; at most MOST. */
template <int MOST> static inline int64_t scratch_threads(const tridiag_job &job, int64_t rows) {
    const int64_t solves = job.count * job.nrhs, fit = rows / (job.n > 0 ? job.n : 1);
    const int64_t most = fit < 32 ? 32 : fit > MOST ? MOST : fit;
    return solves < most ? solves : most;
}

/* Where a thread that owns a whole solve puts its x: at once in x, or, where x is b and a failure
 * must leave it alone, in scratch first. Element i is at[i * step]. */
typedef struct sink {
    real *at;
    int64_t step;
} sink;

__device__ static inline sink sink_of(const tridiag_job &job, const view &w, real *scratch,
                                      int64_t step) {
    const bool in_place = job.x == job.b;
    const sink s = { in_place ? scratch : w.x, in_place ? step : w.rhs_row };
    return s;
}

/* The residual of a doubtful answer, by one thread; element i of x is x[i * step]. */
__device__ __noinline__ static inline float look_again(const view w, const real *x, int64_t step) {
    return exact_residual(w.n, w.dl, w.d, w.du, w.row, w.b, w.rhs_row, x, step);
}

/* Judges such a solve, then moves or erases its x. */
__device__ static inline void finish_thread(const tridiag_job &job, int64_t v, const view &w,
                                            const sink &y, bool input_bad, bool x_bad, bool ill,
                                            int32_t failure) {
    norms m = {};
    if (job.residual) {
        real left = 0, here = y.at[0];
        for (int64_t i = 0; i < w.n; i++) {
            const real right = i + 1 < w.n ? y.at[(i + 1) * y.step] : 0;
            const equation e = equation_at(w, w.n, i);
            norms_row(&m, e.dl, e.d, e.du, e.b, left, here, right);
            left = here;
            here = right;
        }
    }
    float residual = job.residual ? norms_residual(&m) : 0;
    if (job.residual && !x_bad && is_doubtful(residual, job.tol))
        residual = look_again(w, y.at, y.step);
    const int32_t status = decide_status(job, input_bad, x_bad, ill, residual, failure);
    const int x_state = note_outcome(job, v, status, residual);
    if (x_state == X_KEPT || (x_state == X_WRITTEN && y.at == w.x)) return;
    for (int64_t i = 0; i < w.n; i++)
        w.x[i * w.rhs_row] = x_state == X_WRITTEN ? y.at[i * y.step] : real_nan();
}

/* For a block that owns a whole solve and has its x in shared memory: judge it, then write or erase
 * it. input_poison is each thread's own share of the input. All threads of the block call it. */
__device__ static inline void finish_block(const tridiag_job &job, int64_t v, const view &w,
                                           const real *x, real input_poison, int32_t failure) {
    SHOAL_SHARED_ARRAY(norms, parts, 32);
    SHOAL_SHARED_ARRAY(int, x_state, 1);
    const int n = (int)w.n;
    norms m = {};
    real x_poison = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        x_poison = poisoned(x_poison, x[i]);
        if (!job.residual) continue;
        const equation e = equation_at(w, n, i);
        norms_row(&m, e.dl, e.d, e.du, e.b, i > 0 ? x[i - 1] : 0, x[i], i + 1 < n ? x[i + 1] : 0);
    }
    norms_over_lanes(&m, 32);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = m;
    const bool input_bad = __syncthreads_or(input_poison != 0);
    const bool x_bad = __syncthreads_or(x_poison != 0);
    if (threadIdx.x == 0) {
        for (int k = 1; k < (int)(blockDim.x + 31) / 32; k++) {
            m.r = real_max(m.r, parts[k].r);
            m.x = real_max(m.x, parts[k].x);
            m.poison += parts[k].poison;
        }
        float residual = job.residual ? norms_residual(&m) : 0;
        if (job.residual && !x_bad && is_doubtful(residual, job.tol))
            residual = look_again(w, x, 1);
        x_state[0] = note_outcome(
            job, v, decide_status(job, input_bad, x_bad, false, residual, failure), residual);
    }
    __syncthreads();
    if (x_state[0] == X_KEPT) return;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        w.x[i * w.rhs_row] = x_state[0] == X_WRITTEN ? x[i] : real_nan();
}

/* ---- what the driver does for methods: batch.cu ------------------------------------------------ */

/* The verdict for methods whose blocks each hold only a part of a system: they leave x in y, solve after
 * solve (n numbers each); it judges, notes and writes. `memory` has tridiag_verdict_bytes. */
extern "C" size_t R(tridiag_verdict_bytes)(const shoal_tridiag *plan);
extern "C" shoal_status R(tridiag_verdict)(shoal_tridiag *plan, const tridiag_job *job,
                                           const real *y, void *memory, int32_t failure);

/* What comes before the kernels of a call. transpose: of a transposed plan, the diagonals of A^T are made and
 * become the job's. begin: outcomes that several threads add to are cleared, and the method is noted
 * where they do not do it. */
extern "C" void R(tridiag_transpose)(const shoal_tridiag *plan, tridiag_job *job);
extern "C" shoal_status R(tridiag_begin)(shoal_tridiag *plan, tridiag_job *job);

#endif
