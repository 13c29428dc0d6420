/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.cu - parallel cyclic reduction on the GPU (the small-systems paper, section 4).
 *
 * Rows are kept solved for their own unknown, x_i = d_i + a_i x_{i-h} + c_i x_{i+h}. One step
 * takes the neighbours at distance h out of every row at once and doubles h:
 *     s = 1 / (1 - a_i c_{i-h} - c_i a_{i+h}),
 *     a'_i = s a_i a_{i-h},  c'_i = s c_i c_{i+h},  d'_i = s (d_i + a_i d_{i-h} + c_i d_{i+h}),
 * and after ceil(log2 n) steps x_i = d_i. A neighbour that does not exist has a zero coefficient.
 *
 * Variant "stride" keeps the rows in place. To n = 256, system after system: 4 or 8 rows a lane,
 * in registers, neighbours by shuffle (pcr_step.cuh): 5 numbers a row moved. To about 4000 rows:
 * one block a solve, rows in shared memory, twice (step from one to the other). Beyond: the same
 * in global memory, one launch a step, 12 numbers a row and step.
 *
 * Variant "permute" is the paper's (section 4.2, Figure 8): after each step the even rows of every
 * subsystem are gathered before its odd ones, so that neighbours are always adjacent, and an index
 * array restores the order at the end. Any n, no padding; the same numbers to the last bit.
 */
#include "tridiag/batch.cuh"
#include <limits.h>
#include "tridiag/pcr_step.cuh"

enum { BLOCK = 256, WARP_BLOCK = 128, WARP_ROWS = 256 };

typedef struct rows {
    real *a, *c, *d;
    int *index; /* permute: which equation stands here */
} rows;

/* The subsystem in which position `at` lies after `level` gatherings of n rows. */
typedef struct span {
    int64_t begin, length;
} span;

__device__ static inline span span_at(int64_t n, int64_t at, int level) {
    span s = { 0, n };
    for (int k = 0; k < level; k++) {
        const int64_t evens = (s.length + 1) / 2;
        const bool odd = at - s.begin >= evens;
        s.begin += odd ? evens : 0;
        s.length = odd ? s.length - evens : evens;
    }
    return s;
}

__device__ static inline void first_row(const rows &to, int64_t i, const equation &e) {
    const real inverse = 1 / e.b;
    to.a[i] = -e.a * inverse;
    to.c[i] = -e.c * inverse;
    to.d[i] = e.d * inverse;
    if (to.index) to.index[i] = (int)i;
}

/* One row of one step, from the row at `i` to its place in `to`. */
__device__ static inline void step_row(const rows &from, const rows &to, int64_t n, int64_t i,
                                       int level) {
    const int64_t h = (int64_t)1 << level;
    int64_t below = i - h, above = i + h, place = i;
    bool has_below = i >= h, has_above = i + h < n;
    if (from.index) {
        const span s = span_at(n, i, level);
        const int64_t q = i - s.begin;
        below = i - 1, above = i + 1;
        has_below = q > 0, has_above = q + 1 < s.length;
        place = s.begin + q / 2 + (q % 2 ? (s.length + 1) / 2 : 0);
        to.index[place] = from.index[i];
    }
    const real a = from.a[i], c = from.c[i], d = from.d[i];
    const real a0 = has_below ? from.a[below] : 0, c0 = has_below ? from.c[below] : 0;
    const real a1 = has_above ? from.a[above] : 0, c1 = has_above ? from.c[above] : 0;
    const real d0 = has_below ? from.d[below] : 0, d1 = has_above ? from.d[above] : 0;
    const pcr_row r = pcr_combine(a, c, d, a0, c0, d0, a1, c1, d1);
    to.a[place] = r.a;
    to.c[place] = r.c;
    to.d[place] = r.d;
}

__global__ static void block_kernel(tridiag_job job, bool permute) {
    SHOAL_SHARED(real, shared);
    const int n = (int)job.n;
    int *index = permute ? (int *)(shared + 6 * n) : NULL;
    for (int64_t v = blockIdx.x; v < solves(job); v += gridDim.x) {
        const view w = view_of(job, v);
        rows from = { shared, shared + n, shared + 2 * n, index };
        rows to = { shared + 3 * n, shared + 4 * n, shared + 5 * n, index ? index + n : NULL };
        real poison = 0;
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const equation e = equation_at(w, n, i);
            poison += poison_of(e);
            first_row(from, i, e);
        }
        __syncthreads();
        for (int level = 0; 1 << level < n; level++) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) step_row(from, to, n, i, level);
            __syncthreads();
            const rows swap = from;
            from = to, to = swap;
        }
        if (index) { /* the equations back in order */
            for (int i = threadIdx.x; i < n; i += blockDim.x) to.d[from.index[i]] = from.d[i];
            from.d = to.d;
            __syncthreads();
        }
        finish_block(job, v, w, from.d, poison, SHOAL_SYSTEM_PIVOT);
        __syncthreads();
    }
}

/* ---- short systems: nothing but registers ---------------------------------------------------- */

/* The K consecutive rows of a lane, of which it has `have`; the rest are those of an identity. */
template <int K> struct lane_rows { real a[K], b[K], c[K], d[K]; };

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
    load_numbers(e.a, job.a, at, have, 0, vector);
    load_numbers(e.b, job.b, at, have, 1, vector);
    load_numbers(e.c, job.c, at, have, 0, vector);
    load_numbers(e.d, job.d, at, have, 0, vector);
    if (first) e.a[0] = 0; /* the entries that do not exist */
#pragma unroll
    for (int k = 0; k < K; k++)
        if (k + 1 == have) e.c[k] = 0;
}

/* Systems that follow each other: K consecutive rows a lane, `size` lanes a system, as many
 * systems a warp as it has room for. Lanes left over work on identities. */
template <int K> __global__ static void warp_kernel(tridiag_job job, int size, bool vector) {
    const int lane = threadIdx.x & 31, each = 32 / size, which = lane / size, n = (int)job.n;
    const any_team t = { size, lane, lane - which * size };
    const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32,
                  v = warp * each + which;
    const int have =
        which < each && v < job.count ? n - t.me * K : 0; /* rows of this lane, if not above K */
    const int64_t at = v * n + t.me * K;
    lane_rows<K> e;
    warp_rows<K> s;
    real poison = 0, x_poison = 0;
    load_rows(e, job, at, have, t.me == 0, vector);
#pragma unroll
    for (int k = 0; k < K; k++) {
        const real inverse = 1 / e.b[k];
        const equation row = { e.a[k], e.b[k], e.c[k], e.d[k] };
        poison += poison_of(row);
        s.a[k] = -e.a[k] * inverse, s.c[k] = -e.c[k] * inverse, s.d[k] = e.d[k] * inverse;
    }
    warp_solve(s, t);
#pragma unroll
    for (int k = 0; k < K; k++) x_poison = poisoned(x_poison, s.d[k]);
    norms m = {};
    if (job.residual) {
        real left[K], right[K];
        near_rows<1>(left, right, s.d, t);
        load_rows(e, job, at, have, t.me == 0,
                  vector); /* again, from the cache: registers are dear */
#pragma unroll
        for (int k = 0; k < K; k++)
            norms_row(&m, (real)job.tol, e.a[k], e.b[k], e.c[k], e.d[k], left[k], s.d[k], right[k]);
        for (int step = 1; step < size; step *= 2) /* afterwards the first lane has all */
            norms_with(&m, t.me + step < size ? lane + step : lane);
    }
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
    if (fate == X_KEPT) return;
    real *x = (real *)job.x + at;
    if (vector && have >= K && fate == X_WRITTEN) {
#pragma unroll
        for (int k = 0; k < K; k += 16 / sizeof(real)) {
            int4 bits;
            memcpy(&bits, &s.d[k], sizeof bits);
            *(int4 *)(x + k) = bits;
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < K; k++)
        if (k < have) x[k] = fate == X_WRITTEN ? s.d[k] : real_nan();
}

/* 4 or 8 rows a lane: what leaves fewer lanes of a warp without work. At a tie 8 are faster in f32, 4 in
 * f64, where registers are short. */
static void launch_warps(const tridiag_job *job, void *stream) {
    const int n = (int)job->n, four = (n + 3) / 4, eight = (n + 7) / 8;
    const int tie = sizeof(real) == 4 ? 1 : 0;
    const bool wide = four > 32 || 32 / eight + tie > 2 * (32 / four);
    const int size = wide ? eight : four, each = 32 / size;
    const int64_t warps = (job->count + each - 1) / each;
    const uintptr_t offsets = (uintptr_t)job->a | (uintptr_t)job->b | (uintptr_t)job->c |
                              (uintptr_t)job->d | (uintptr_t)job->x |
                              (uintptr_t)(job->n * sizeof(real));
    const dim3 grid((unsigned)((warps * 32 + WARP_BLOCK - 1) / WARP_BLOCK)), block(WARP_BLOCK);
    if (wide)
        SHOAL_LAUNCH((warp_kernel<8>), grid, block, 0, stream, *job, size, offsets % 16 == 0);
    else
        SHOAL_LAUNCH((warp_kernel<4>), grid, block, 0, stream, *job, size, offsets % 16 == 0);
}

/* ---- systems longer than shared memory ------------------------------------------------------ */

__device__ static inline rows rows_of_solve(const rows &s, int64_t n, int64_t v) {
    const rows mine = { s.a + v * n, s.c + v * n, s.d + v * n, s.index ? s.index + v * n : NULL };
    return mine;
}

__global__ static void copy_kernel(tridiag_job job, rows to) {
    const int64_t n = job.n, total = solves(job) * n, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += step) {
        const int64_t v = at / n, i = at - v * n;
        first_row(rows_of_solve(to, n, v), i, equation_at(view_of(job, v), n, i));
    }
}

__global__ static void step_kernel(rows from, rows to, int64_t n, int64_t total, int level) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += step) {
        const int64_t v = at / n;
        step_row(rows_of_solve(from, n, v), rows_of_solve(to, n, v), n, at - v * n, level);
    }
}

__global__ static void restore_kernel(rows from, real *x, int64_t n, int64_t total) {
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; at < total; at += step)
        x[at / n * n + from.index[at]] = from.d[at];
}

static bool permutes(const shoal_tridiag *plan) { return plan->first.variant == PCR_PERMUTE; }

/* Two sets of three numbers a row, and for the paper's variant two indices. */
static size_t rows_bytes(const shoal_tridiag *plan) {
    return (size_t)plan->job.n * (6 * sizeof(real) + (permutes(plan) ? 2 * sizeof(int) : 0));
}

static bool fits_block(const shoal_tridiag *plan) {
    return rows_bytes(plan) <= shoal_most_shared(plan->ctx);
}

static bool fits_warp(const shoal_tridiag *plan) {
    const tridiag_job &job = plan->job;
    return !permutes(plan) && job.n <= WARP_ROWS && job.row == 1 && job.nrhs == 1;
}

static size_t pcr_bytes(const shoal_tridiag *plan) {
    if (fits_block(plan) || fits_warp(plan)) return 0;
    return R(tridiag_verdict_bytes)(plan) +
           rows_bytes(plan) * (size_t)(plan->job.count * plan->job.nrhs);
}

static shoal_status run_long(shoal_tridiag *plan, const tridiag_job *job) {
    void *stream = plan->ctx->stream;
    const int64_t n = job->n, total = job->count * job->nrhs * n;
    real *memory = (real *)((char *)job->work + R(tridiag_verdict_bytes)(plan));
    int *index = permutes(plan) ? (int *)(memory + 6 * total) : NULL;
    if (index && n > INT_MAX)
        return shoal_fail(plan->ctx, SHOAL_E_ARG,
                          "n is %lld; variant permute of pcr takes at most %d rows", (long long)n,
                          INT_MAX);
    rows from = { memory, memory + total, memory + 2 * total, index };
    rows to = { memory + 3 * total, memory + 4 * total, memory + 5 * total,
                index ? index + total : NULL };
    SHOAL_LAUNCH(copy_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, *job, from);
    for (int level = 0; (int64_t)1 << level < n; level++) {
        SHOAL_LAUNCH(step_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, from,
                     to, n, total, level);
        const rows swap = from;
        from = to, to = swap;
    }
    if (index) {
        SHOAL_LAUNCH(restore_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, from,
                     to.d, n, total);
        from.d = to.d;
    }
    return R(tridiag_verdict)(plan, job, from.d, job->work, SHOAL_SYSTEM_PIVOT);
}

static shoal_status pcr_run(shoal_tridiag *plan, const tridiag_job *job) {
    void *stream = plan->ctx->stream;
    const int64_t n = job->n, solves = job->count * job->nrhs;
    if (fits_warp(plan)) {
        launch_warps(job, stream);
    } else if (fits_block(plan)) {
        const size_t shared = rows_bytes(plan);
        const int threads = n <= 32 ? 32 : n <= 64 ? 64 : n <= 128 ? 128 : n <= 256 ? 256 : 512;
        shoal_allow_shared(plan->ctx, block_kernel);
        SHOAL_LAUNCH(block_kernel, dim3((unsigned)(solves < 1 << 30 ? solves : 1 << 30)),
                     dim3(threads), shared, stream, *job, permutes(plan));
    } else {
        return run_long(plan, job);
    }
    return shoal_launched(plan->ctx, "pcr");
}

extern "C" const tridiag_cuda_method R(tridiag_pcr) = { pcr_bytes, pcr_run };
