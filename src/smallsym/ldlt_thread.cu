/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt_thread.cu - LDLt for small n: one thread has a system in its registers, alone.
 *
 * Systems that lie one after the other are brought to shared memory as they lie, 16 bytes per thread
 * at once, and taken from there by their threads; b and x go the same way. A full matrix with whole
 * pieces of 16 bytes in its rows leaves those above the diagonal behind. Pitches are an odd number
 * of pieces, so that threads read from banks of their own. Of other storages each thread brings its
 * own triangle to such a stage, number by number; where they are interleaved, threads side by side read
 * side by side.
 * Bytes: A (or its triangle, in sectors), b, x once. Instructions: n^3 / 6 multiply-adds and few more
 * for 32 systems.
 */
#include "smallsym/device.cuh"

enum { FULL, PACKED }; /* how a system lies on its stage */

/* E numbers of each of 32 systems in a row: whole pieces get an odd pitch. */
template <int E> struct flat {
    enum {
        WHOLE = E % VECTOR == 0,
        PAD = WHOLE && E / VECTOR % 2 == 0 ? VECTOR : 0,
        PITCH = E + PAD,
        NUMBERS = (WARP * PITCH + VECTOR - 1) / VECTOR * VECTOR,
        PIECES = WARP * E / VECTOR
    };
    __device__ static int at(int e) { return e + e / E * PAD; } /* number e of all that lie there */
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
                copy_numbers<VECTOR>(stages + flat::at(e), from + e);
        }
    } else {
#pragma unroll 1
        for (int e = lane; e < here * E; e += WARP) copy_numbers<1>(stages + flat::at(e), from + e);
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
                *(real_vector *)(to + e) = load_vector(stages + flat::at(e));
        }
    } else {
#pragma unroll 1
        for (int e = lane; e < here * E; e += WARP) to[e] = stages[flat::at(e)];
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
        CUT = HOW == FULL && N % VECTOR == 0 && N * N / VECTOR >= WARP,
        ENTRIES = HOW == FULL ? N * N : N * (N + 1) / 2,
        PITCH = CUT ? (int)cut<N>::PITCH : (int)flat<ENTRIES>::PITCH,
        A = CUT ? WARP * (int)cut<N>::PITCH : (int)flat<ENTRIES>::NUMBERS,
        B = flat<N>::NUMBERS,
        WARP_NUMBERS = A + B
    };
};

/* f(where A(i,j) lies) for the lower triangle of any storage, row after row; a loop. */
template <int N, class F>
__device__ static inline void each_stored(const smallsym_job &job, const real *A, const F &f) {
    /* in packed upper storage A(i,j), i >= j, lie column after column, each from the diagonal on */
    const bool columns = job.a.packed && job.a.upper;
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        const real *at = A + (!job.a.packed ? i * job.a.row
                              : columns     ? i * job.a.column
                                            : i * (i + 1) / 2 * job.a.column);
#pragma unroll 2
        for (int j = 0; j <= i; j++) {
            f(at);
            at += columns ? (N - 1 - j) * job.a.column : job.a.column;
        }
    }
}

/* The matrices of a warp, to their stages. */
template <int N, int HOW>
__device__ static inline void thread_stage_in(const smallsym_job &job, real *stages, int64_t first,
                                              int lane, int here, bool a_flat) {
    typedef thread_stage<N, HOW> stage;
    const real *A = (const real *)job.A + first * job.a.system;
    if constexpr (stage::CUT) {
        cut_in<N>(stages, A, lane, here);
    } else if (HOW == FULL || a_flat) {
        flat_in<stage::ENTRIES>(stages, A, lane, here);
    } else if (lane < here) {
        real *to = stages + lane * stage::PITCH;
        each_stored<N>(job, A + lane * job.a.system,
                       [&](const real *at) { copy_numbers<1>(to++, at); });
    }
}

/* Where row i begins on the stage of a thread. */
template <int N, int HOW> __device__ static inline int row_at(int i) {
    return thread_stage<N, HOW>::CUT ? cut<N>::row(i) : HOW == FULL ? i * N : i * (i + 1) / 2;
}

/* f(number, on the diagonal) for the lower triangle on the stage of a thread. A loop: rarely used. */
template <int N, int HOW, class F>
__device__ static inline void each_staged(real *staged, const F &f) {
#pragma unroll 1
    for (int i = 0; i < N; i++)
#pragma unroll 1
        for (int j = 0; j <= i; j++) f(staged[row_at<N, HOW>(i) + j], i == j);
}

/* f(i, j, A(i,j)) for the lower triangle on the stage of a thread, row after row. */
template <int N, int HOW, class F>
__device__ static inline void each_entry(const real *staged, const F &f) {
    typedef thread_stage<N, HOW> stage;
    typedef flat<stage::ENTRIES> flat;
    real_vector v;
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= i; j++) {
            const int e = HOW == FULL ? i * N + j : i * (i + 1) / 2 + j;
            if (stage::CUT) {
                if (j % VECTOR == 0) v = load_vector(staged + cut<N>::row(i) + j);
                f(i, j, v.e[j % VECTOR]);
            } else if (flat::WHOLE) { /* j = 0 may lie within a piece not loaded yet */
                if (e % VECTOR == 0 || (HOW == FULL && j == 0))
                    v = load_vector(staged + e / VECTOR * VECTOR);
                f(i, j, v.e[e % VECTOR]);
            } else {
                f(i, j, staged[e]);
            }
        }
}

template <int N> __device__ static inline real largest_of(const real (&v)[N]) {
    real most = 0;
    UNROLLED(i, N) most = real_max(real_abs(v[i]), most);
    return most;
}

/* The backward error and |A|, as team_residual() has them, for one thread. */
template <int N, int HOW>
__device__ static inline float thread_residual(const real *staged, const real (&x)[N],
                                               const real *b, real &a_most) {
    real sum[N], size[N], r_most = 0, x_most = 0, b_most = 0;
    a_most = 0;
    UNROLLED(i, N) {
        sum[i] = b[i], size[i] = 0;
        b_most = real_max(real_abs(sum[i]), b_most);
    }
    each_entry<N, HOW>(staged, [&](int i, int j, real v) {
        sum[i] = real_fma(-v, x[j], sum[i]), size[i] += real_abs(v);
        if (j < i) sum[j] = real_fma(-v, x[i], sum[j]), size[j] += real_abs(v);
    });
    UNROLLED(i, N) {
        r_most = real_max(real_abs(sum[i]), r_most), a_most = real_max(size[i], a_most);
        x_most = real_max(real_abs(x[i]), x_most);
    }
    const real below = real_fma(a_most, x_most, b_most);
    return r_most == 0 ? 0 : below <= REAL_MAX ? (float)(r_most / below) : (float)NAN;
}

/* A from the stage, where it is scaled if need be; returns the exponent of the scale. `wide`: it loses
 * something (wide.h). */
template <int N, int HOW>
__device__ static inline int thread_take(real (&a)[N][N], real *staged, bool &wide) {
    wide = false;
    for (int e_a = 0;;) {
        real largest = 0;
        each_entry<N, HOW>(staged, [&](int i, int j, real v) {
            a[i][j] = v;
            if (i == j) largest = real_max(real_abs(v), largest);
        });
        const int e = exponent_far_from_1(largest);
        if (e == 0) return e_a;
        UNROLLED(i, N) wide |= smallsym_is_wide(real_abs(a[i][i]), largest, WIDE_DIAGONAL);
        each_staged<N, HOW>(staged, [&](real &v, bool) { v = times_power_of_2(v, -e); });
        e_a = e; /* once more; the largest is near 1 then */
    }
}

/* The same for a right-hand side; zeros for a thread without a system. */
template <int N>
__device__ static inline int thread_take_rhs(real (&z)[N], real *staged, bool mine) {
    for (int e_b = 0;;) {
        UNROLLED(i, N) z[i] = mine ? staged[i] : 0;
        const int e = exponent_far_from_1(largest_of(z));
        if (e == 0) return e_b;
#pragma unroll 1
        for (int i = 0; i < N; i++) staged[i] = times_power_of_2(staged[i], -e);
        e_b = e;
    }
}

/* |S A S|, 1 / s(i) = 2^(half the exponent of A(i,i)). A loop: rarely used. */
template <int N, int HOW> __device__ static inline real thread_scaled_norm(const real *staged) {
    const auto root = [&](int i) {
        return smallsym_half_exponent(real_abs(staged[row_at<N, HOW>(i) + i]));
    };
    real most = 0;
#pragma unroll 1
    for (int i = 0; i < N; i++) {
        real size = 0;
#pragma unroll 1
        for (int j = 0; j < N; j++) {
            const real v = staged[i > j ? row_at<N, HOW>(i) + j : row_at<N, HOW>(j) + i];
            size += real_abs(v) * power_of_two(-root(i) - root(j));
        }
        most = real_max(size, most);
    }
    return most;
}

/* The look at the condition number (condition.h), as a team has it, for one thread; y is its to use. S is
 * that of the diagonal, one[i] is 1 / s(i). `norm` is |A|. */
template <int N, int HOW>
__device__ static inline void thread_look(const smallsym_job &job, outcome &o,
                                          const real (&a)[N][N], const real (&inverse)[N],
                                          const real *staged, real (&y)[N], real norm) {
    real one[N], least = (real)INFINITY, most = 0, growth = 0, product = 1;
    UNROLLED(i, N) {
        const real d = staged[row_at<N, HOW>(i) + i];
        product *= d * inverse[i];
        one[i] = real_abs(d);
        if (one[i] >= REAL_MIN) least = real_min(one[i], least);
        most = real_max(one[i], most);
    }
    const bool proved = smallsym_proved(product, N, job.cond);
    if (proved && !job.where.rcond) return;
    const bool uneven = most >= SMALLSYM_DIAGONAL_SPREAD * least && most <= REAL_MAX;
    UNROLLED(i, N) one[i] = uneven ? power_of_two(smallsym_half_exponent(one[i])) : 1;
    if (uneven) norm = thread_scaled_norm<N, HOW>(staged);
    UNROLLED(i, N) y[i] = 0;
#pragma unroll 1
    for (int step = 0; step < 2; step++) {
        real size = 0, bad = 0;
        ldlt_forward_alone<N>(a, y, step == 0, [&](int i) { return one[i]; });
        ldlt_backward_alone<N>(a, inverse, y);
        UNROLLED(i, N) {
            const real v = y[i] * one[i];
            size = real_max(real_abs(v), size), bad = real_fma(v, 0, bad);
        }
        size += bad;
        if (!(size <= growth)) growth = size;
        if (step == 0 && (proved || !smallsym_look_again(norm, growth, job.cond))) break;
        const real inverse_size = 1 / size;
        UNROLLED(i, N) y[i] = y[i] * inverse_size * one[i] * one[i];
    }
    add_look(job, o, norm, growth, proved);
}

/* JUDGED: residuals are computed if the job asks for them. Without it the kernel is leaner. */
template <int N, int HOW, bool JUDGED>
__global__ static void __launch_bounds__(WARPS *WARP)
    thread_kernel(smallsym_job job, bool a_flat, bool b_flat) {
    typedef thread_stage<N, HOW> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    const int64_t first = warp_of_grid(warp) * WARP, k = first + lane;
    const int here = job.count - first < WARP ? (int)(job.count - first) : WARP;
    if (here <= 0) return;
    const bool mine = lane < here, judged = JUDGED && smallsym_judged(&job);
    real *stages = shared + warp * stage::WARP_NUMBERS, *staged = stages + lane * stage::PITCH;
    real *b_stages = stages + stage::A, *own = b_stages + lane * flat<N>::PITCH; /* b, then x */
    thread_stage_in<N, HOW>(job, stages, first, lane, here, a_flat);
    if (b_flat) flat_in<N>(b_stages, (const real *)job.b + first * N, lane, here);
    if (!mine) /* a unit matrix, for a thread without a system */
        each_staged<N, HOW>(staged, [](real &v, bool diagonal) { v = diagonal; });
    shoal_copy_async_wait_all();
    __syncwarp();

    real a[N][N], z[N], inverse[N], low, high;
    bool wide;
    const int e_a = thread_take<N, HOW>(a, staged, wide);
    outcome o = outcome_of(job);
    if (wide) o.look = 0;
    int32_t factored = SHOAL_SYSTEM_OK;

    for (int64_t c = 0; c < job.nrhs; c++) {
        const int64_t at = rhs_at(job, k, 0, c), step = job.b_row * job.nrhs;
        const real *b = (const real *)job.b + at;
        real *x = (real *)job.x + at;
        if (!b_flat) {
#pragma unroll 1
            for (int i = 0; i < N && mine; i++) copy_numbers<1>(own + i, b + i * step);
            shoal_copy_async_wait_all();
        }
        const int e_x = thread_take_rhs(z, own, mine) - e_a;
        if (c == 0) {
            ldlt_factor_alone<N>(a, z, inverse, low, high);
            look_at_pivots(o, low, high, N);
            factored = o.status;
        } else {
            ldlt_forward_alone<N>(a, z);
        }
        ldlt_backward_alone<N>(a, inverse, z);
        float residual = 0;
        real bad = 0, norm = 0;
        if (judged && mine) {
            if (e_x) { UNROLLED(i, N) z[i] = as_stored(z[i], e_x); }
            residual = thread_residual<N, HOW>(staged, z, own, norm);
        }
        UNROLLED(i, N) own[i] = z[i], bad = real_fma(z[i], 0, bad);
        if (judged && mine && job.look && c == 0 && factored >= 0) /* z is free: x is in own */
            thread_look<N, HOW>(job, o, a, inverse, staged, z, norm);
        if (e_x) {
#pragma unroll 1
            for (int i = 0; i < N; i++) {
                own[i] = times_power_of_2(own[i], e_x);
                bad = real_fma(own[i], 0, bad);
            }
        }
        int32_t status = SHOAL_SYSTEM_OK;
        if (bad != 0 || factored < 0 || judged) {
            const bool failed = bad != 0 || factored < 0;
            const bool input = failed && mine && input_is_bad(job, k, c, 0, 1);
            status = status_of(job, factored, failed, input, residual, o.look);
        }
        add_answer<JUDGED>(job, o, c, status, residual);
        if ((status < 0 || (JUDGED && o.redo >= 0)) && mine) { /* no answer; if x is b, b stays */
#pragma unroll 1
            for (int i = 0; i < N; i++) own[i] = x == b ? b[i * step] : real_nan();
        }
        if (!b_flat) {
#pragma unroll 1
            for (int i = 0; i < N && mine; i++) x[i * step] = own[i];
        }
    }
    if (b_flat) {
        __syncwarp();
        flat_out<N>((real *)job.x + first * N, b_stages, lane, here);
    }
    settle<JUDGED>(job, k, o, mine);
}

template <int N, int HOW, bool JUDGED>
static shoal_status launch_thread(shoal_smallsym *plan, const smallsym_job *job, bool a_flat) {
    const size_t bytes = thread_stage<N, HOW>::WARP_NUMBERS * sizeof(real);
    const bool b_flat = job->nrhs == 1 && job->b_row == 1 && (uintptr_t)job->b % 16 == 0 &&
                        (uintptr_t)job->x % 16 == 0;
    const warp_grid g = warp_grid_of(plan, job, thread_kernel<N, HOW, JUDGED>, WARP, bytes);
    SHOAL_LAUNCH((thread_kernel<N, HOW, JUDGED>), g.blocks, g.threads, g.bytes,
                 plan->head.ctx->stream, *job, a_flat, b_flat);
    return shoal_launched(plan->head.ctx, "ldlt, one thread per system");
}

/* The sizes from N down to the one that is asked for. */
template <int N> static shoal_status run_thread(shoal_smallsym *plan, const smallsym_job *job) {
    if constexpr (N > 1) {
        if (job->n < N) return run_thread<N - 1>(plan, job);
    }
    /* where a kernel that judges nothing is faster by 2 % or more on an H200 */
    constexpr bool LEAN = N < 4 || N > (sizeof(real) == 4 ? 9 : 8);
    const smallsym_shape &a = job->a;
    const bool in_order = a.column == 1 && !a.upper && (uintptr_t)job->A % 16 == 0;
    if (in_order && !a.packed && a.row == N && a.system == N * N) {
        if constexpr (LEAN) {
            if (!smallsym_judged(job)) return launch_thread<N, FULL, false>(plan, job, true);
        }
        return launch_thread<N, FULL, true>(plan, job, true);
    }
    return launch_thread<N, PACKED, true>(plan, job,
                                          in_order && a.packed && a.system == N * (N + 1) / 2);
}

extern "C" shoal_status R(smallsym_ldlt_thread)(shoal_smallsym *plan, const smallsym_job *job) {
    return run_thread<THREAD_MAX>(plan, job);
}
