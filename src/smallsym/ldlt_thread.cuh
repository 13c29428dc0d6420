/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt_thread.cuh - LDLt for small n: one thread has a system in its registers, alone.
 *
 * Systems that lie one after the other are brought to shared memory as they lie, 16 bytes a thread
 * at once, and taken from there by their threads; b and x go the same way. A full matrix with whole
 * pieces of 16 bytes in its rows leaves those above the diagonal behind. Pitches are an odd number
 * of pieces, so that threads read from banks of their own. Other storages are read directly, which
 * is as fast where they are interleaved.
 * Bytes: A (or its triangle, in sectors), b, x once. Instructions: n^3 / 6 multiply-adds and few more
 * for 32 systems.
 */
#ifndef SHOAL_SMALLSYM_LDLT_THREAD_CUH
#define SHOAL_SMALLSYM_LDLT_THREAD_CUH

#include "smallsym/ldlt.cuh"

enum { THREAD_MOST = sizeof(real) == 4 ? 16 : 12 }; /* unknowns */
enum { FLAT_FULL, FLAT_PACKED, DIRECT };            /* how A comes to a thread */

/* E numbers of each of 32 systems in a row: whole pieces get an odd pitch. */
template <int E> struct flat {
    enum {
        WHOLE = E % VECTOR == 0,
        PAD = WHOLE && E / VECTOR % 2 == 0 ? VECTOR : 0,
        PITCH = E + PAD,
        NUMBERS = (WARP * PITCH + VECTOR - 1) / VECTOR * VECTOR,
        PIECES = WARP * E / VECTOR
    };
};

/* To a stage of `here` systems, from memory where they lie one after the other. */
template <int E>
__device__ static inline void flat_in(real *stages, const real *from, int lane, int here) {
    typedef flat<E> flat;
    if (here == WARP) {
#pragma unroll
        for (int at = 0; at < flat::PIECES; at += WARP) {
            const int e = (at + lane) * VECTOR;
            if (at + WARP <= flat::PIECES || e < WARP * E)
                copy_numbers<VECTOR>(stages + e + (flat::PAD ? e / E * flat::PAD : 0), from + e);
        }
    } else {
        for (int e = lane; e < here * E; e += WARP)
            copy_numbers<1>(stages + e + e / E * flat::PAD, from + e);
    }
}

template <int E>
__device__ static inline void flat_out(real *to, const real *stages, int lane, int here) {
    typedef flat<E> flat;
    if (here == WARP) {
#pragma unroll
        for (int at = 0; at < flat::PIECES; at += WARP) {
            const int e = (at + lane) * VECTOR;
            if (at + WARP <= flat::PIECES || e < WARP * E)
                *(real_vector *)(to + e) =
                    load_vector(stages + e + (flat::PAD ? e / E * flat::PAD : 0));
        }
    } else {
        for (int e = lane; e < here * E; e += WARP) to[e] = stages[e + e / E * flat::PAD];
    }
}

/* The triangle in pieces: those of row i begin at V g (g + 1) / 2 + (i % V) (g + 1), g = i / V. */
template <int N> struct cut {
    enum {
        GROUPS = N / VECTOR,
        PIECES = VECTOR * GROUPS * (GROUPS + 1) / 2,
        PITCH = (PIECES | 1) * VECTOR,
        EACH = (N * N / VECTOR + WARP - 1) / WARP /* pieces of a whole matrix that a thread has */
    };
    __device__ static int row(int i) {
        const int g = i / VECTOR;
        return VECTOR * (VECTOR * g * (g + 1) / 2 + i % VECTOR * (g + 1));
    }
};

template <int N>
__device__ static inline void cut_in(real *stages, const real *from, int lane, int here) {
    typedef cut<N> cut;
    int to[cut::EACH]; /* a thread has the same places of every system */
#pragma unroll
    for (int m = 0; m < cut::EACH; m++) {
        const int e = (m * WARP + lane) * VECTOR, i = e / N, j = e % N;
        to[m] = i < N && j <= i ? cut::row(i) + j : -1;
    }
#pragma unroll 4
    for (int s = 0; s < here; s++)
#pragma unroll
        for (int m = 0; m < cut::EACH; m++)
            if (to[m] >= 0)
                copy_numbers<VECTOR>(stages + s * cut::PITCH + to[m],
                                     from + s * N * N + (m * WARP + lane) * VECTOR);
}

/* What 32 systems take in shared memory. */
template <int N, int HOW> struct thread_stage {
    enum {
        CUT = HOW == FLAT_FULL && N % VECTOR == 0 && N * N / VECTOR >= WARP,
        ENTRIES = HOW == FLAT_FULL ? N * N : N * (N + 1) / 2,
        PITCH = HOW == DIRECT ? 0 : CUT ? (int)cut<N>::PITCH : (int)flat<ENTRIES>::PITCH,
        A = HOW == DIRECT ? 0 : CUT ? WARP * (int)cut<N>::PITCH : (int)flat<ENTRIES>::NUMBERS,
        B = flat<N>::NUMBERS,
        WARP_NUMBERS = A + 2 * B
    };
};

template <int N, int HOW>
__device__ static inline void thread_stage_in(const smallsym_job &job, real *stages, int64_t first,
                                              int lane, bool b_flat) {
    typedef thread_stage<N, HOW> stage;
    const int64_t left = job.count - first;
    const int here = left < WARP ? (int)left : WARP;
    if (left <= 0) return;
    const real *A = (const real *)job.A + first * job.a.system;
    if constexpr (stage::CUT)
        cut_in<N>(stages, A, lane, here);
    else if constexpr (HOW != DIRECT)
        flat_in<stage::ENTRIES>(stages, A, lane, here);
    if (b_flat) flat_in<N>(stages + stage::A, (const real *)job.b + first * N, lane, here);
}

/* f(i, j, A(i,j)) for the lower triangle, row after row. */
template <int N, int HOW, class F>
__device__ static inline void each_entry(const smallsym_job &job, const real *staged, const real *A,
                                         const F &f) {
    typedef thread_stage<N, HOW> stage;
    typedef flat<stage::ENTRIES> flat;
    real_vector v;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            const int e = HOW == FLAT_FULL ? i * N + j : i * (i + 1) / 2 + j;
            if (HOW == DIRECT) {
                f(i, j, A[smallsym_at(&job.a, i, j)]);
            } else if (stage::CUT) {
                if (j % VECTOR == 0) v = load_vector(staged + cut<N>::row(i) + j);
                f(i, j, v.e[j % VECTOR]);
            } else if (flat::WHOLE) { /* j = 0 may lie within a piece of which nothing was wanted */
                if (e % VECTOR == 0 || (HOW == FLAT_FULL && j == 0))
                    v = load_vector(staged + e / VECTOR * VECTOR);
                f(i, j, v.e[e % VECTOR]);
            } else {
                f(i, j, staged[e]);
            }
        }
}

/* The backward error, as team_residual() has it, for one thread. */
template <int N, int HOW>
__device__ static inline float thread_residual(const smallsym_job &job, const real *staged,
                                               const real *A, const real (&x)[N],
                                               const real (&b)[N], int e_a) {
    real sum[N], size[N], r_most = 0, a_most = 0, x_most = 0, b_most = 0;
#pragma unroll
    for (int i = 0; i < N; i++) sum[i] = b[i], size[i] = 0;
    each_entry<N, HOW>(job, staged, A, [&](int i, int j, real v) {
        if (e_a) v = times_power_of_2(v, -e_a);
        sum[i] = real_fma(-v, x[j], sum[i]), size[i] += real_abs(v);
        if (j < i) sum[j] = real_fma(-v, x[i], sum[j]), size[j] += real_abs(v);
    });
#pragma unroll
    for (int i = 0; i < N; i++) {
        r_most = real_max(real_abs(sum[i]), r_most), a_most = real_max(size[i], a_most);
        x_most = real_max(real_abs(x[i]), x_most), b_most = real_max(real_abs(b[i]), b_most);
    }
    return r_most == 0 ? 0 : (float)(r_most / real_fma(a_most, x_most, b_most));
}

/* One batch of a warp, which lies on its stages: answers to all right-hand sides. */
template <int N, int HOW>
__device__ static inline void thread_batch(const smallsym_job &job, real *stages, int64_t first,
                                           int lane, bool b_flat, int64_t step) {
    typedef thread_stage<N, HOW> stage;
    const int64_t k = first + lane;
    const bool mine = k < job.count, judged = smallsym_judged(&job);
    const real *staged = stages + lane * stage::PITCH, *from = (const real *)job.b;
    const real *A = (const real *)job.A + (mine ? k : 0) * job.a.system;
    const real *b_staged = stages + stage::A + lane * flat<N>::PITCH;
    real *out = stages + stage::A + stage::B, *x_staged = out + lane * flat<N>::PITCH;
    shoal_copies_done();
    __syncwarp();
    real a[N][N], inverse[N], next[N], low, high, largest = 0;
    each_entry<N, HOW>(job, staged, A, [&](int i, int j, real v) {
        a[i][j] = mine ? v : (real)(i == j);
        if (i == j) largest = real_max(real_abs(a[i][j]), largest);
    });
#pragma unroll
    for (int i = 0; i < N; i++)
        next[i] = !mine ? 0 : b_flat ? b_staged[i] : from[rhs_at(job, k, i, 0)];
    __syncwarp();
    if (!judged) thread_stage_in<N, HOW>(job, stages, first + step, lane, b_flat);
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
            kept[i] = next[i];
            largest = real_max(real_abs(kept[i]), largest);
            if (c + 1 < job.nrhs) next[i] = mine ? from[rhs_at(job, k, i, c + 1)] : 0;
        }
        const int e_b = exponent_far_from_1(largest), e_x = e_b - e_a;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (e_b) kept[i] = times_power_of_2(kept[i], -e_b);
            b[i] = kept[i];
        }
        ldlt_solve<1, N>(a, inverse, b, 0, N);
        float residual = 0;
        if (judged && mine) residual = thread_residual<N, HOW>(job, staged, A, b, kept, e_a);
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (e_x) b[i] = times_power_of_2(b[i], e_x);
            bad = real_fma(b[i], 0, bad);
        }
        const bool failed = bad != 0 || factored < 0;
        const bool input = failed && mine && input_is_bad(job, k, c, 0, 1);
        const int32_t status = status_of(job, factored, failed, input, residual);
        const bool in_place = status < 0 && job.x == job.b;
        if (status < 0) residual = NAN;
#pragma unroll
        for (int i = 0; i < N; i++) {
            if (in_place) b[i] = mine ? from[rhs_at(job, k, i, c)] : 0;
            if (status < 0 && !in_place) b[i] = real_nan();
            if (b_flat)
                x_staged[i] = b[i];
            else if (mine)
                ((real *)job.x)[rhs_at(job, k, i, c)] = b[i];
        }
        o.status = c ? worse(o.status, status) : status;
        if (!(residual <= o.residual)) o.residual = residual; /* NaN stays */
    }
    __syncwarp();
    const int64_t left = job.count - first;
    if (b_flat)
        flat_out<N>((real *)job.x + first * N, out, lane, left < WARP ? (int)left : WARP);
    settle(job, k, o, mine);
    if (judged) thread_stage_in<N, HOW>(job, stages, first + step, lane, b_flat);
}

template <int N, int HOW>
__global__ static void __launch_bounds__(WARPS *WARP) thread_kernel(smallsym_job job, bool b_flat) {
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    real *stages = shared + warp * thread_stage<N, HOW>::WARP_NUMBERS;
    const int64_t step = (int64_t)gridDim.x * WARPS * WARP;
    int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * WARP;
    thread_stage_in<N, HOW>(job, stages, first, lane, b_flat);
    for (; first < job.count; first += step)
        thread_batch<N, HOW>(job, stages, first, lane, b_flat, step);
}

template <int N, int HOW>
static shoal_status launch_thread(shoal_smallsym *plan, const smallsym_job *job) {
    const size_t bytes = WARPS * thread_stage<N, HOW>::WARP_NUMBERS * sizeof(real);
    const bool b_flat = job->nrhs == 1 && job->b_row == 1 && (uintptr_t)job->b % 16 == 0 &&
                        (uintptr_t)job->x % 16 == 0;
    const dim3 grid =
        grid_that_stays(plan->ctx, thread_kernel<N, HOW>, job->count, WARPS * WARP, bytes);
    SHOAL_LAUNCH((thread_kernel<N, HOW>), grid, dim3(WARPS * WARP), bytes, plan->ctx->stream, *job,
                 b_flat);
    return shoal_launched(plan->ctx, "ldlt, one thread a system");
}

/* The sizes from N down to the one that is asked for. */
template <int N> static shoal_status run_thread(shoal_smallsym *plan, const smallsym_job *job) {
    if constexpr (N > 1) {
        if (job->n < N) return run_thread<N - 1>(plan, job);
    }
    const smallsym_shape &a = job->a;
    const bool in_order = a.column == 1 && !a.upper && (uintptr_t)job->A % 16 == 0;
    if (in_order && a.packed && a.system == N * (N + 1) / 2)
        return launch_thread<N, FLAT_PACKED>(plan, job);
    if (in_order && !a.packed && a.row == N && a.system == N * N)
        return launch_thread<N, FLAT_FULL>(plan, job);
    return launch_thread<N, DIRECT>(plan, job);
}

#endif
