/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.cu - parallel cyclic reduction on the GPU (the small-systems paper of reduce.h,
 * section 4).
 *
 * Equation (10) of the paper, for rows dl x_{i-1} + d x_i + du x_{i+1} = b that need not be symmetric. Rows
 * are kept divided by d and solved for their own unknown, x_i = b_i + dl_i x_{i-h} + du_i x_{i+h}. One
 * step takes the neighbours at distance h out of every row at once and doubles h:
 *     s = 1 / (1 - dl_i du_{i-h} - du_i dl_{i+h}),
 *     dl'_i = s dl_i dl_{i-h},  du'_i = s du_i du_{i+h},  b'_i = s (b_i + dl_i b_{i-h} + du_i b_{i+h}),
 * and after ceil(log2 n) steps x_i = b_i. A neighbour that does not exist has a zero coefficient.
 *
 * Variant "stride" keeps the rows in place. To n = 256, system after system: in registers, 5 numbers
 * per row moved: a lane has 4 or 8 consecutive rows, neighbours come by shuffle (pcr_step.cuh), as many
 * systems per warp as fit. As long as shared memory takes the rows twice, to step from one copy to
 * the other: one block per solve, a thread for each row, or from 512 rows on for every 512th. Beyond: the
 * same in global memory, one launch per step, 12 numbers per row and step.
 *
 * Variant "permute" is the paper's (section 4.2, Figure 8): after each step the even rows of every
 * subsystem are gathered before its odd ones, so that neighbours are always adjacent, and an index
 * array restores the order at the end. Any n, no padding; the same numbers to the last bit.
 *
 * Stable for diagonally dominant matrices; there is no pivoting, and a zero pivot fails the system.
 */
#include "tridiag/device.cuh"
#include "tridiag/pcr_step.cuh"
#include <limits.h>

enum { BLOCK = 256, WARP_BLOCK = 128, WARP_ROWS = 256 };

/* ---- short systems in registers -------------------------------------------------------------- */

/* The K consecutive rows of a lane; `have` of them exist, the rest are those of an identity. */
template <int K> struct lane_rows { real dl[K], d[K], du[K], b[K]; };

/* K consecutive numbers; `vector`: 16 bytes at a time. */
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
        norms_row(&m, e.dl[k], e.d[k], e.du[k], e.b[k], left[k], x[k], right[k]);
    for (int step = 1; step < t.size; step *= 2)
        norms_with(&m, t.me + step < t.size ? t.lane + step : t.lane);
    return m;
}

/* K consecutive numbers, or NaN, as load_numbers() takes them. */
template <int K>
__device__ static inline void store_numbers(real *to, const real (&from)[K], int have, int x_state,
                                            bool vector) {
    if (vector && have >= K && x_state == X_WRITTEN) {
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
        if (k < have) to[k] = x_state == X_WRITTEN ? from[k] : real_nan();
}

/* Systems that follow each other: K consecutive rows per lane, `size` lanes per system, as many
 * systems per warp as it has room for. Lanes left over work on identities. */
template <int K> __global__ static void warp_kernel(tridiag_job job, int size, bool vector) {
    const int lane = threadIdx.x & 31, each = 32 / size, which = lane / size, n = (int)job.n;
    const any_team t = { size, lane, lane - which * size };
    const int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / 32,
                  v = warp * each + which;
    const int64_t at = v * n + t.me * K;
    /* rows from the lane's first on; the first K are its own */
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
    int x_state = X_KEPT;
    if (t.me == 0 && have > 0) {
        const float residual = job.residual ? norms_residual(&m) : 0;
        x_state = note_outcome(
            job, v, decide_status(job, input_bad, x_bad, false, residual, SHOAL_SYSTEM_PIVOT),
            residual);
    }
    x_state = __shfl_sync(0xffffffffu, x_state, first);
    if (x_state != X_KEPT) store_numbers((real *)job.x + at, s.b, have, x_state, vector);
}

/* 4 or 8 rows per lane: what leaves fewer lanes of a warp without work. At a tie 8 are faster in f32, 4 in
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

/* ---- longer systems: rows in shared or global memory ----------------------------------------- */

typedef struct rows { /* x_i = b_i + dl_i x_{i-h} + du_i x_{i+h} */
    real *dl, *du, *b;
    int *index; /* permute: which equation stands here */
} rows;

/* Row i of the system, divided by d and solved for x_i. */
__device__ static inline void first_row(const rows &to, int64_t i, const equation &e) {
    const real inverse = 1 / e.d;
    to.dl[i] = -e.dl * inverse;
    to.du[i] = -e.du * inverse;
    to.b[i] = e.b * inverse;
    if (to.index) to.index[i] = (int)i;
}

/* Where the row at i finds its neighbours in the next step, and where it goes. */
typedef struct route {
    int64_t left, right, place;
    bool has_left, has_right;
} route;

__device__ static inline route route_by_stride(int64_t n, int64_t i, int steps) {
    const int64_t h = (int64_t)1 << steps;
    return route{ i - h, i + h, i, i >= h, i + h < n };
}

typedef struct part { /* one of the systems after some steps: rows start .. start + size - 1 */
    int64_t start, size;
} part;

/* The part in which position i lies after so many steps: each has put ceil(m/2) even rows of m
 * before the odd ones. */
__device__ static inline part part_at(int64_t n, int64_t i, int steps) {
    part s = { 0, n };
    for (int k = 0; k < steps; k++) {
        const int64_t evens = (s.size + 1) / 2;
        const bool odd = i - s.start >= evens;
        s.start += odd ? evens : 0;
        s.size = odd ? s.size - evens : evens;
    }
    return s;
}

__device__ static inline route route_by_permuting(int64_t n, int64_t i, int steps) {
    const part s = part_at(n, i, steps);
    const int64_t j = i - s.start, evens = (s.size + 1) / 2;
    return route{ i - 1, i + 1, s.start + j / 2 + (j % 2 ? evens : 0), j > 0, j + 1 < s.size };
}

__device__ static inline pcr_row row_at(const rows &r, int64_t i) {
    return pcr_row{ r.dl[i], r.du[i], r.b[i] };
}

/* One row of one step, from the row at i to its place in `to`; so many steps were taken before. */
__device__ static inline void step_row(const rows &from, const rows &to, int64_t n, int64_t i,
                                       int steps) {
    const route go = from.index ? route_by_permuting(n, i, steps) : route_by_stride(n, i, steps);
    const pcr_row none = { 0, 0, 0 };
    real by;
    const pcr_row r = pcr_combine(row_at(from, i), go.has_left ? row_at(from, go.left) : none,
                                  go.has_right ? row_at(from, go.right) : none, by);
    to.dl[go.place] = r.dl;
    to.du[go.place] = r.du;
    to.b[go.place] = r.b;
    if (from.index) to.index[go.place] = from.index[i];
}

/* ---- systems that fit into shared memory: a block each -------------------------------------- */

__global__ static void block_kernel(tridiag_job job, bool permute) {
    SHOAL_SHARED(real, shared);
    const int n = (int)job.n;
    int *index = permute ? (int *)(shared + 6 * n) : NULL;
    for (int64_t v = blockIdx.x; v < solves(job); v += gridDim.x) {
        const view w = view_of(job, v); /* where the numbers of solve v lie */
        rows from = { shared, shared + n, shared + 2 * n, index };
        rows to = { shared + 3 * n, shared + 4 * n, shared + 5 * n, index ? index + n : NULL };
        real poison = 0; /* NaN once a number that was read is not finite */
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const equation e = equation_at(w, n, i);
            poison += poison_of(e);
            first_row(from, i, e);
        }
        __syncthreads();
        for (int steps = 0; 1 << steps < n; steps++) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) step_row(from, to, n, i, steps);
            __syncthreads();
            const rows swap = from;
            from = to, to = swap;
        }
        if (index) { /* the equations back in order */
            for (int i = threadIdx.x; i < n; i += blockDim.x) to.b[from.index[i]] = from.b[i];
            from.b = to.b;
            __syncthreads();
        }
        finish_block(job, v, w, from.b, poison, SHOAL_SYSTEM_PIVOT); /* residual, status, x */
        __syncthreads();
    }
}

/* ---- systems longer than shared memory: a thread has rows of any of them --------------------- */

__device__ static inline rows rows_of_solve(const rows &s, int64_t n, int64_t v) {
    const rows mine = { s.dl + v * n, s.du + v * n, s.b + v * n, s.index ? s.index + v * n : NULL };
    return mine;
}

/* The rows of all solves, as the first step finds them. */
__global__ static void first_kernel(tridiag_job job, rows to) {
    const int64_t n = job.n, total = solves(job) * n;
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t v = at / n, i = at - v * n;
        first_row(rows_of_solve(to, n, v), i, equation_at(view_of(job, v), n, i));
    }
}

__global__ static void step_kernel(rows from, rows to, int64_t n, int64_t total, int steps) {
    SHOAL_GRID_STRIDE(at, total) {
        const int64_t v = at / n;
        step_row(rows_of_solve(from, n, v), rows_of_solve(to, n, v), n, at - v * n, steps);
    }
}

__global__ static void restore_kernel(rows from, real *x, int64_t n, int64_t total) {
    SHOAL_GRID_STRIDE(at, total) { x[at / n * n + from.index[at]] = from.b[at]; }
}

static bool permutes(const shoal_tridiag *plan) { return plan->first.variant == PCR_PERMUTE; }

/* Two sets of three numbers per row, and for the paper's variant two indices. */
static size_t rows_bytes(const shoal_tridiag *plan) {
    return (size_t)plan->job.n * (6 * sizeof(real) + (permutes(plan) ? 2 * sizeof(int) : 0));
}

static bool fits_block(const shoal_tridiag *plan) {
    return rows_bytes(plan) <= shoal_max_shared(plan->head.ctx);
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
    void *stream = plan->head.ctx->stream;
    const int64_t n = job->n, total = job->count * job->nrhs * n;
    real *memory = (real *)((char *)job->work + R(tridiag_verdict_bytes)(plan));
    int *index = permutes(plan) ? (int *)(memory + 6 * total) : NULL;
    if (index && n > INT_MAX)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "n is %lld; variant permute of pcr takes at most %d rows", (long long)n,
                          INT_MAX);
    rows from = { memory, memory + total, memory + 2 * total, index };
    rows to = { memory + 3 * total, memory + 4 * total, memory + 5 * total,
                index ? index + total : NULL };
    SHOAL_LAUNCH(first_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, *job,
                 from);
    for (int steps = 0; (int64_t)1 << steps < n; steps++) {
        SHOAL_LAUNCH(step_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, from,
                     to, n, total, steps);
        const rows swap = from;
        from = to, to = swap;
    }
    if (index) {
        SHOAL_LAUNCH(restore_kernel, dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0, stream, from,
                     to.b, n, total);
        from.b = to.b;
    }
    return R(tridiag_verdict)(plan, job, from.b, job->work, SHOAL_SYSTEM_PIVOT);
}

static shoal_status pcr_run(shoal_tridiag *plan, const tridiag_job *job) {
    void *stream = plan->head.ctx->stream;
    const int64_t n = job->n, solves = job->count * job->nrhs;
    if (fits_warp(plan)) {
        launch_warps(job, stream);
    } else if (fits_block(plan)) {
        const size_t shared = rows_bytes(plan);
        const int threads = n <= 32 ? 32 : n <= 64 ? 64 : n <= 128 ? 128 : n <= 256 ? 256 : 512;
        shoal_allow_shared(plan->head.ctx, block_kernel);
        SHOAL_LAUNCH(block_kernel, dim3(shoal_grid(solves)), dim3(threads), shared, stream, *job,
                     permutes(plan));
    } else {
        return run_long(plan, job);
    }
    return shoal_launched(plan->head.ctx, "pcr");
}

extern "C" const tridiag_cuda_method R(tridiag_pcr) = { pcr_bytes, pcr_run };
