/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.cu - A = L D Lt and the solve, fused, on the GPU: A in, x out (ldlt.c states the equations).
 *
 * Variant "team", the default: a matrix lives in the registers of T threads (team.cuh), 32 / T
 * systems a warp. This is the paper's hybrid version, n* = T threads a system, moved from shared
 * memory to registers: a column is shown to the team through shared memory, everything else stays
 * where it is. For n <= 8 one thread has a system alone. T and the padded size N = T M are chosen
 * below. Instructions a system, n = 32, T = 8: about 500, of which 240 multiply-adds; bytes: the
 * triangle once (in sectors), b and x.
 *
 * Variants "simd", "coop" and "hybrid" are the paper's own (section 3.2): ldlt_shared.cuh.
 */
#include "smallsym/device.cuh"
#include "smallsym/ldlt_shared.cuh"

#ifndef OTHERS
#define OTHERS 46
#endif
#ifndef NWARPS
#define NWARPS 2
#endif
enum { WARPS = NWARPS };

/* What a definite matrix's pivots say: all must have one sign. */
__device__ static inline void look_at_pivots(outcome &o, real low, real high, int n) {
    const bool positive = low > 0, negative = high < 0;
    const real least = positive ? low : -high, most = positive ? high : -low;
    if (!positive && !negative) o.status = SHOAL_SYSTEM_PIVOT;
    o.rcond = (float)(least / most);
    o.rank = n;
    o.positive = positive ? n : 0, o.negative = negative ? n : 0, o.zero = 0;
}

/* Status for one right-hand side; `bad` is not 0 where x is not finite, `input` where A or b is. */
__device__ static inline int32_t status_of(const smallsym_job &job, int32_t factored, bool bad,
                                           bool input, float residual) {
    if (input) return SHOAL_SYSTEM_NONFINITE;
    if (factored < 0) return factored;
    if (bad) return SHOAL_SYSTEM_OVERFLOW;
    return job.where.residual && !(residual <= job.tol) ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

/* ---- several threads a system ------------------------------------------------------------------ */

/* Does the stage hold a non-finite number? Looked at only where an answer failed. */
template <int T, int M> __device__ static inline bool stage_is_bad(const real *staged, int t, int n) {
    real sum = 0;
    for (int i = t; i < n; i += T)
        for (int j = 0; j <= i; j++) sum = real_fma(staged[stage<T, M>::row(i) + j], 0, sum);
    return team_sum<T>(sum) != 0;
}

/* Blocks that a multiprocessor should hold: what the registers of a matrix, and some, allow. */
constexpr int blocks_of(int numbers, int others) {
    return 65536 / (WARPS * WARP * (numbers + others) * (int)sizeof(real) / 4);
}

template <int T, int M>
__global__ static void __launch_bounds__(WARPS *WARP, blocks_of(T *M *(M + 1) / 2, OTHERS))
    team_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * stage::SYSTEMS;
    const int64_t k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    real *stages = shared + warp * stage::WARP_NUMBERS;
    real *staged = stages + lane / T * stage::NUMBERS;
    real *column = stages + stage::SYSTEMS * stage::NUMBERS + lane / T * stage::COLUMN;
    stage_system<T, M>(job, staged, k, t, width);
    const real *from = (const real *)job.b;
    real b[M], next[M];
#pragma unroll
    for (int r = 0; r < M; r++)
        next[r] = mine && r * T + t < n ? from[rhs_at(job, k, r * T + t, 0)] : 0;
    shoal_copies_done();
    __syncwarp();

    real a[M][T * M], inverse[M], low, high;
    team_load<T, M>(a, staged, t);
    const int e_a = exponent_far_from_1(stage_largest<T, M>(staged, t));
    if (__any_sync(ALL_LANES, e_a != 0)) team_scale<T, M>(a, staged, t, e_a);
    ldlt_factor<T, M>(a, inverse, low, high, column, t, n);
    outcome o = { SHOAL_SYSTEM_OK, 0, 0, 0, 0, 0, 0, job.first_row };
    look_at_pivots(o, low, high, n);
    const int32_t factored = o.status;

    for (int64_t c = 0; c < job.nrhs; c++) {
        real largest = 0, kept[M];
#pragma unroll
        for (int r = 0; r < M; r++) {
            b[r] = next[r];
            largest = real_max(real_abs(b[r]), largest);
            if (c + 1 < job.nrhs)
                next[r] = mine && r * T + t < n ? from[rhs_at(job, k, r * T + t, c + 1)] : 0;
        }
        const int e_b = exponent_far_from_1(team_max<T>(largest)), e_x = e_b - e_a;
        if (__any_sync(ALL_LANES, e_b != 0)) {
#pragma unroll
            for (int r = 0; r < M; r++) b[r] = times_power_of_2(b[r], -e_b);
        }
#pragma unroll
        for (int r = 0; r < M; r++) kept[r] = b[r];
        ldlt_solve<T, M>(a, inverse, b, t, n);
        float residual = 0;
        if (job.where.residual) residual = team_residual<T, M>(staged, b, kept, column, t);
        real bad = 0;
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (e_x) b[r] = times_power_of_2(b[r], e_x);
            bad = real_fma(b[r], 0, bad);
        }
        bad = team_sum<T>(bad);
        bool input = false;
        if (__any_sync(ALL_LANES, bad != 0 || factored < 0)) {
            real sum = 0;
#pragma unroll
            for (int r = 0; r < M; r++) sum = real_fma(kept[r], 0, sum);
            input = team_sum<T>(sum) != 0;
            input |= stage_is_bad<T, M>(staged, t, mine ? n : 0);
        }
        const int32_t status = status_of(job, factored, bad != 0, input, residual);
        if (status < 0) residual = NAN;
        if (mine && !(status < 0 && job.x == job.b)) {
            real *x = (real *)job.x;
#pragma unroll
            for (int r = 0; r < M; r++)
                if (r * T + t < n) x[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : b[r];
        }
        o.status = c ? worse(o.status, status) : status;
        if (!(residual <= o.residual)) o.residual = residual; /* NaN stays */
    }
    settle(job, k, o, mine && t == 0);
}

/* ---- one thread a system ----------------------------------------------------------------------- */

enum { FLAT_FULL, FLAT_PACKED, DIRECT }; /* how A comes to a thread */

/* Numbers that 32 systems of N unknowns take in shared memory: A, of which from n = 6 on only the
 * triangle is kept, and b, each with an odd pitch, so that every thread reads from a bank of its
 * own. */
template <int N, int HOW> struct flat {
    enum {
        TRIANGLE = N * (N + 1) / 2,
        ENTRIES = HOW == FLAT_FULL ? N * N : TRIANGLE, /* in memory */
        CUT = HOW == FLAT_FULL && N >= 6,
        KEPT = HOW == DIRECT ? 0 : CUT ? TRIANGLE : ENTRIES,
        PITCH = KEPT ? KEPT | 1 : 0,
        B_PITCH = N | 1,
        WARP_NUMBERS = WARP * (PITCH + B_PITCH)
    };
    __device__ static int at(int i, int j) {
        return HOW == FLAT_FULL && !CUT ? i * N + j : i * (i + 1) / 2 + j;
    }
};

/* Brings the matrices of `here` systems, which lie one after the other from A on, to the stages of a
 * warp. With CUT, a thread has the same entries of every system, so that it looks only once which of
 * them are in the triangle. */
template <int N, int HOW>
__device__ static inline void stage_flat(real *stages, const real *A, int lane, int here) {
    typedef flat<N, HOW> flat;
    if constexpr (flat::CUT) {
        constexpr int EACH = (flat::ENTRIES + WARP - 1) / WARP;
        int to[EACH];
#pragma unroll
        for (int m = 0; m < EACH; m++) {
            const int e = m * WARP + lane, i = e / N, j = e % N;
            to[m] = e < flat::ENTRIES && j <= i ? flat::at(i, j) : -1;
        }
#pragma unroll 4
        for (int s = 0; s < here; s++)
#pragma unroll
            for (int m = 0; m < EACH; m++)
                if (to[m] >= 0)
                    copy_numbers<1>(stages + s * flat::PITCH + to[m],
                                    A + s * flat::ENTRIES + m * WARP + lane);
    } else if constexpr (HOW != DIRECT) {
#pragma unroll
        for (int at = 0; at < flat::ENTRIES; at++) {
            const int e = at * WARP + lane, s = e / flat::ENTRIES;
            if (s < here) copy_numbers<1>(stages + e + s * (flat::PITCH - flat::ENTRIES), A + e);
        }
    }
}

template <int N, int HOW>
__device__ static inline real entry(const smallsym_job &job, const real *staged, const real *A,
                                    int i, int j) {
    return HOW == DIRECT ? A[smallsym_at(&job.a, i, j)] : staged[flat<N, HOW>::at(i, j)];
}

/* The backward error, as team_residual() has it, for one thread. */
template <int N, int HOW>
__device__ static inline float thread_residual(const smallsym_job &job, const real *staged,
                                               const real *A, const real (&x)[N],
                                               const real (&b)[N], int e_a) {
    real sum[N], size[N], r_most = 0, a_most = 0, x_most = 0, b_most = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        sum[i] = b[i], size[i] = 0;
#pragma unroll
        for (int j = 0; j <= i; j++) {
            real v = entry<N, HOW>(job, staged, A, i, j);
            if (e_a) v = times_power_of_2(v, -e_a);
            sum[i] = real_fma(-v, x[j], sum[i]), size[i] += real_abs(v);
            if (j < i) sum[j] = real_fma(-v, x[i], sum[j]), size[j] += real_abs(v);
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        r_most = real_max(real_abs(sum[i]), r_most), a_most = real_max(size[i], a_most);
        x_most = real_max(real_abs(x[i]), x_most), b_most = real_max(real_abs(b[i]), b_most);
    }
    return r_most == 0 ? 0 : (float)(r_most / real_fma(a_most, x_most, b_most));
}

template <int N, int HOW>
__global__ static void __launch_bounds__(WARPS *WARP) thread_kernel(smallsym_job job) {
    typedef flat<N, HOW> flat;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * WARP, k = first + lane;
    const int here = job.count - first < WARP ? (int)(job.count - first) : WARP;
    if (here <= 0) return;
    const bool mine = lane < here, b_flat = job.nrhs == 1 && job.b_system != 1;
    real *stages = shared + warp * flat::WARP_NUMBERS, *b_stages = stages + WARP * flat::PITCH;
    const real *staged = stages + lane * flat::PITCH, *from = (const real *)job.b;
    real *b_staged = b_stages + lane * flat::B_PITCH;
    const real *A = (const real *)job.A + first * job.a.system;
    stage_flat<N, HOW>(stages, A, lane, here);
    if (b_flat) {
#pragma unroll
        for (int at = 0; at < N; at++) {
            const int e = at * WARP + lane, s = e / N;
            if (s < here)
                copy_numbers<1>(b_stages + e + s * (flat::B_PITCH - N), from + first * N + e);
        }
    }
    shoal_copies_done();
    __syncwarp();

    A += mine ? lane * job.a.system : 0;
    real a[N][N], inverse[N], low, high, largest = 0;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            a[i][j] = mine ? entry<N, HOW>(job, staged, A, i, j) : (real)(i == j);
            largest = real_max(real_abs(a[i][j]), largest);
        }
    const int e_a = exponent_far_from_1(largest);
    if (e_a) {
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j <= i; j++) a[i][j] = times_power_of_2(a[i][j], -e_a);
    }
    ldlt_factor<1, N>(a, inverse, low, high, NULL, 0, N);
    outcome o = { SHOAL_SYSTEM_OK, 0, 0, 0, 0, 0, 0, job.first_row };
    look_at_pivots(o, low, high, N);
    const int32_t factored = o.status;

    for (int64_t c = 0; c < job.nrhs; c++) {
        real b[N], kept[N], bad = 0;
        largest = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            kept[i] = !mine ? 0 : b_flat ? b_staged[i] : from[rhs_at(job, k, i, c)];
            largest = real_max(real_abs(kept[i]), largest);
        }
        const int e_b = exponent_far_from_1(largest), e_x = e_b - e_a;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (e_b) kept[i] = times_power_of_2(kept[i], -e_b);
            b[i] = kept[i];
        }
        ldlt_solve<1, N>(a, inverse, b, 0, N);
        float residual = 0;
        if (job.where.residual && mine)
            residual = thread_residual<N, HOW>(job, staged, A, b, kept, e_a);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (e_x) b[i] = times_power_of_2(b[i], e_x);
            bad = real_fma(b[i], 0, bad);
        }
        bool input = false;
        if (mine && (bad != 0 || factored < 0)) {
            real sum = 0;
#pragma unroll
            for (int i = 0; i < N; i++) {
                sum = real_fma(kept[i], 0, sum);
#pragma unroll
                for (int j = 0; j <= i; j++)
                    sum = real_fma(entry<N, HOW>(job, staged, A, i, j), 0, sum);
            }
            input = sum != 0;
        }
        const int32_t status = status_of(job, factored, bad != 0, input, residual);
        const bool kept_b = status < 0 && job.x == job.b;
        if (status < 0) residual = NAN;
        real *x = (real *)job.x;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const real v = status < 0 ? real_nan() : b[i];
            if (b_flat && !kept_b)
                b_staged[i] = v; /* in place of b: what was kept goes back as it came */
            else if (mine && !kept_b)
                x[rhs_at(job, k, i, c)] = v;
        }
        o.status = c ? worse(o.status, status) : status;
        if (!(residual <= o.residual)) o.residual = residual; /* NaN stays */
    }
    if (b_flat) {
        __syncwarp();
#pragma unroll
        for (int at = 0; at < N; at++) {
            const int e = at * WARP + lane, s = e / N;
            if (s < here)
                ((real *)job.x)[first * N + e] = b_stages[e + s * (flat::B_PITCH - N)];
        }
    }
    settle(job, k, o, mine);
}

/* ---- launching --------------------------------------------------------------------------------- */

template <int T, int M> static shoal_status run_team(shoal_smallsym *plan, const smallsym_job *job) {
    typedef stage<T, M> stage;
    const int64_t systems = WARPS * stage::SYSTEMS;
    const size_t bytes = WARPS * stage::WARP_NUMBERS * sizeof(real);
    const dim3 grid((unsigned)((job->count + systems - 1) / systems));
    shoal_allow_shared(plan->ctx, team_kernel<T, M>);
    SHOAL_LAUNCH((team_kernel<T, M>), grid, dim3(WARPS * WARP), bytes, plan->ctx->stream, *job,
                 stage_width(job));
    return shoal_launched(plan->ctx, "ldlt");
}

template <int N, int HOW>
static shoal_status launch_thread(shoal_smallsym *plan, const smallsym_job *job) {
    const int64_t systems = WARPS * WARP;
    const size_t bytes = WARPS * flat<N, HOW>::WARP_NUMBERS * sizeof(real);
    const dim3 grid((unsigned)((job->count + systems - 1) / systems));
    shoal_allow_shared(plan->ctx, thread_kernel<N, HOW>);
    SHOAL_LAUNCH((thread_kernel<N, HOW>), grid, dim3(WARPS * WARP), bytes, plan->ctx->stream, *job);
    return shoal_launched(plan->ctx, "ldlt");
}

template <int N> static shoal_status run_thread(shoal_smallsym *plan, const smallsym_job *job) {
    const smallsym_shape &a = job->a;
    const bool in_order = a.system != 1 && !a.upper;
    if (in_order && a.packed) return launch_thread<N, FLAT_PACKED>(plan, job);
    if (in_order && a.row == N && a.system == N * N) return launch_thread<N, FLAT_FULL>(plan, job);
    return launch_thread<N, DIRECT>(plan, job);
}

/* Padded sizes and teams, measured on an H200 (docs/smallsym.md). */
static shoal_status run_default(shoal_smallsym *plan, const smallsym_job *job) {
    switch (job->n) {
    case 1: return run_thread<1>(plan, job);
    case 2: return run_thread<2>(plan, job);
    case 3: return run_thread<3>(plan, job);
    case 4: return run_thread<4>(plan, job);
    case 5: return run_thread<5>(plan, job);
    case 6: return run_thread<6>(plan, job);
    case 7: return run_thread<7>(plan, job);
    case 8: return run_thread<8>(plan, job);
    default: break;
    }
    constexpr bool single = sizeof(real) == 4;
    if (job->n <= 12) return run_team<4, 3>(plan, job);
    if (job->n <= 16) return run_team<4, 4>(plan, job);
    if (job->n <= 24) return run_team<8, 3>(plan, job);
    if (job->n <= 32) return run_team<single ? 8 : 16, single ? 4 : 2>(plan, job);
    if (job->n <= 48) return run_team<16, 3>(plan, job);
    return run_team<single ? 16 : 32, single ? 4 : 2>(plan, job);
}

static size_t ldlt_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

static shoal_status ldlt_run(shoal_smallsym *plan, const smallsym_job *job) {
    return plan->first.variant == LDLT_TEAM ? run_default(plan, job) : run_shared(plan, job);
}

extern "C" const smallsym_cuda_method R(smallsym_ldlt) = { ldlt_bytes, ldlt_run };
