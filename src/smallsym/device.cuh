/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cuh - what kernels for small symmetric systems share: copies to shared memory, scales,
 * right-hand sides, and the outcome of a system. stage.cuh has what teams of threads need.
 */
#ifndef SHOAL_SMALLSYM_DEVICE_CUH
#define SHOAL_SMALLSYM_DEVICE_CUH

#include "smallsym/condition.h"
#include "smallsym/plan.h"
#include "smallsym/team.cuh"

enum { WARPS = 2 }; /* of a block; they have nothing to do with each other */

/* Warps of a block: `most`, or as many as shared memory has room for, so many bytes per warp. It has
 * 97 KiB on architectures 86, 89 and 120. */
static inline int warps_of_block(const shoal_smallsym *plan, int most, size_t bytes) {
    const size_t room = shoal_max_shared(plan->head.ctx) / bytes;
    return room < (size_t)most ? (int)room : most;
}

typedef struct warp_grid {
    dim3 blocks, threads;
    size_t bytes;
} warp_grid;

/* For a kernel whose warps have so many systems and bytes of shared memory each. */
template <class KERNEL>
static inline warp_grid warp_grid_of(const shoal_smallsym *plan, const smallsym_job *job,
                                     KERNEL kernel, int systems, size_t bytes) {
    const int warps = warps_of_block(plan, WARPS, bytes);
    const int64_t block = (int64_t)warps * systems;
    shoal_allow_shared(plan->head.ctx, kernel, warps * bytes);
    return { dim3((unsigned)((job->count + block - 1) / block)), dim3(warps * WARP),
             warps * bytes };
}

/* Teams of T threads with M rows each. by_size() is f(team_size<T, M>()) for the smallest of few teams
 * that hold n unknowns. by_fine_size() has more of them, with n > T M - T as team.cuh needs it, for n
 * above LEAST. */
template <int T, int M> struct team_size {};

template <class F> static inline shoal_status by_size(int64_t n, const F &f) {
    if (n <= 4) return f(team_size<4, 1>());
    if (n <= 8) return f(team_size<4, 2>());
    if (n <= 16) return f(team_size<8, 2>());
    if (n <= 32) return f(team_size<16, 2>());
    return f(team_size<32, 2>());
}

template <int LEAST, class F> static inline shoal_status by_fine_size(int64_t n, const F &f) {
    constexpr bool single = sizeof(real) == 4; /* a double takes two registers */
    constexpr int wide = single ? 8 : 16, wide_40 = single ? 5 : 3, wide_48 = single ? 6 : 3;
    constexpr int widest = single ? 16 : 32, widest_64 = single ? 4 : 2;
    if constexpr (LEAST < 12) {
        if (n <= 4) return f(team_size<4, 1>());
        if (n <= 8) return f(team_size<4, 2>());
        if (n <= 12) return f(team_size<4, 3>());
    }
    if (n <= 16) return f(team_size<4, 4>());
    if (n <= 20) return f(team_size<4, 5>());
    if (n <= 24) return f(team_size<4, 6>());
    if (n <= 32) return f(team_size<8, 4>());
    if (n <= 40) return f(team_size<wide, wide_40>());
    if (n <= 48) return f(team_size<wide, wide_48>());
    return f(team_size<widest, widest_64>());
}

/* Blocks that a multiprocessor should hold: what the registers of a matrix, and some, allow. */
constexpr int blocks_of(int numbers, int others) {
    return 65536 / (WARPS * WARP * (numbers + others) * (int)sizeof(real) / 4);
}

__device__ static inline int64_t warp_of_grid(int warp) {
    return (int64_t)blockIdx.x * (blockDim.x / WARP) + warp;
}

/* Of careful.cu: solves with refinement and the estimate of the condition. */
extern "C" shoal_status R(smallsym_ldlt_careful)(shoal_smallsym *plan, const smallsym_job *job);
extern "C" shoal_status R(smallsym_ldltp_careful)(shoal_smallsym *plan, const smallsym_job *job);
/* Of wide.cu: the systems that careful.cu listed. */
extern "C" shoal_status R(smallsym_wide_ones)(shoal_smallsym *plan, const smallsym_job *job,
                                              bool definite);
/* Of ldlt_thread.cu: a thread has a system alone, n up to THREAD_MAX. */
enum { THREAD_MAX = sizeof(real) == 4 ? 15 : 12 };
extern "C" shoal_status R(smallsym_ldlt_thread)(shoal_smallsym *plan, const smallsym_job *job);
/* Of paper/ldlt.cu and paper/hhpcr.cu: the paper's own variants. */
extern "C" shoal_status R(smallsym_ldlt_paper)(shoal_smallsym *plan, int variant,
                                               const smallsym_job *job);
extern "C" shoal_status R(smallsym_hhpcr_paper)(shoal_smallsym *plan, int variant,
                                                const smallsym_job *job);
/* Of factor.cu: factors that are kept, SMALLSYM_FACTOR or SMALLSYM_RESOLVE. */
extern "C" shoal_status R(smallsym_ldlt_factor)(shoal_smallsym *plan, const smallsym_job *job,
                                                bool resolve);
/* Of gram.cu: forms the systems of a job in job.A, packed, and job.b, or also solves them. */
extern "C" shoal_status R(smallsym_form)(shoal_smallsym *plan, const smallsym_job *job,
                                         const smallsym_gram *gram, bool solved);
extern "C" bool R(smallsym_form_solves)(const shoal_smallsym *plan, const smallsym_job *job);

/* ---- copying in ------------------------------------------------------------------------------- */

template <int BYTES> struct piece;
template <> struct piece<4> { typedef unsigned type; };
template <> struct piece<8> { typedef uint2 type; };
template <> struct piece<16> { typedef uint4 type; };

/* W numbers at once, which must be aligned to their size on both sides. */
template <int W> __device__ static inline void copy_numbers(real *shared, const real *global) {
    typedef typename piece<W * sizeof(real)>::type type;
    shoal_copy_async((type *)shared, (const type *)global);
}

/* ---- scales ------------------------------------------------------------------------------------ */

/* The power of two that brings `largest` near 1, if it is so far away that a method might leave its
 * range; 0 if not, or if it is zero or not finite. */
__device__ static inline int exponent_far_from_1(real largest) {
    const real far = sizeof(real) == 4 ? (real)0x1p30 : (real)0x1p250;
    const bool finite = largest - largest == 0;
    return (largest >= 1 / far && largest <= far) || largest == 0 || !finite ? 0
                                                                             : exponent_of(largest);
}

/* ---- right-hand sides -------------------------------------------------------------------------- */

/* Right-hand side c of row i of system k. */
__device__ static inline int64_t rhs_at(const smallsym_job &job, int64_t k, int i, int64_t c) {
    return (k * job.b_system + i * job.b_row) * job.nrhs + c;
}

/* ---- tasks -------------------------------------------------------------------------------------- */

/* Systems that a call has to do: those of its list, or of the batch; and what is to do at a place. */
__device__ static inline int64_t task_count(const smallsym_job &job) {
    return job.tasks ? ((const smallsym_totals *)job.work)->listed[job.stage - 1] : job.count;
}
__device__ static inline smallsym_redo task_at(const smallsym_job &job, int64_t place) {
    const smallsym_redo whole = { place, 0, SHOAL_SYSTEM_OK, 0 };
    return job.tasks ? job.tasks[place] : whole;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

enum { NOT_LOOKED_AT = 1 << 30 }; /* as a reciprocal condition number */

/* Status of an answer for one right-hand side; `bad` where x is not finite, `input` where A or b is
 * not; `look` is the reciprocal condition number. */
__device__ static inline int32_t status_of(const smallsym_job &job, int32_t factored, bool bad,
                                           bool input, float residual, float look = NOT_LOOKED_AT) {
    if (input) return SHOAL_SYSTEM_NONFINITE;
    if (factored < 0) return factored;
    if (bad) return SHOAL_SYSTEM_OVERFLOW;
    return factored == SHOAL_SYSTEM_OK && smallsym_judged(&job) &&
                   (!(residual <= job.tol) || smallsym_ill(look, job.cond))
               ? SHOAL_SYSTEM_ILL
               : factored;
}

/* The status of an answer, where status_of() does not know of refinement; `first` is the residual before. */
__device__ static inline int32_t status_refined(const smallsym_job &job, int32_t status, real doubt,
                                                float first, float look) {
    if (job.stage == 1 && status >= 0 && smallsym_hopeless(doubt, look))
        return SHOAL_SYSTEM_SINGULAR;
    const bool refined = (job.refine || job.stage == 1) && !(first <= job.tol);
    return status == SHOAL_SYSTEM_OK && refined ? SHOAL_SYSTEM_REFINED : status;
}

/* Whether A of system k or right-hand side c has a non-finite number, in rows first, first + step, ...
 * Called only if an answer failed. How far it is unrolled matters for the registers of the rest; kernels
 * that judge nothing need more. */
template <bool JUDGED = true>
__device__ static inline bool input_is_bad(const smallsym_job &job, int64_t k, int64_t c, int first,
                                           int step) {
    const real *A = (const real *)job.A + k * job.a.system, *b = (const real *)job.b;
    real sum = 0;
#pragma unroll 1
    for (int i = first; i < (int)job.n; i += step) {
        sum = real_fma(b[rhs_at(job, k, i, c)], 0, sum);
#pragma unroll(JUDGED ? 1 : 4)
        for (int j = 0; j <= i; j++) sum = real_fma(A[smallsym_at(&job.a, i, j)], 0, sum);
    }
    return sum != 0;
}

/* The same of A alone. */
__device__ static inline bool matrix_is_bad(const smallsym_job &job, int64_t k, int first,
                                            int step) {
    const real *A = (const real *)job.A + k * job.a.system;
    real sum = 0;
#pragma unroll 1
    for (int i = first; i < (int)job.n; i += step)
#pragma unroll 1
        for (int j = 0; j <= i; j++) sum = real_fma(A[smallsym_at(&job.a, i, j)], 0, sum);
    return sum != 0;
}

typedef struct outcome { /* of one system */
    int32_t status;
    float residual, rcond;
    float look; /* the reciprocal condition number of S A S, about */
    int32_t rank, positive, negative, zero, method;
    /* The right-hand side from which on the rescue does it again, NOT_AGAIN, or wide_from(). */
    int32_t redo;
} outcome;

/* As outcome.redo: wide.cu does the system again from right-hand side c on. */
enum { NOT_AGAIN = -1, ALL_BY_WIDE = -2 };
__device__ static inline int32_t wide_from(int64_t c) { return ALL_BY_WIDE - (int32_t)c; }

__device__ static inline outcome outcome_of(const smallsym_job &job) {
    const int row = job.first_row;
    const outcome o = { SHOAL_SYSTEM_OK, 0, 1, NOT_LOOKED_AT, 0, 0, 0, 0, row, NOT_AGAIN };
    return o;
}

/* The outcome by a definite matrix's pivots: all must have one sign and be finite; 1 / D of an infinite
 * one is 0, and nothing else would show it. */
__device__ static inline void look_at_pivots(outcome &o, real low, real high, int n) {
    const bool positive = low > 0, negative = high < 0;
    const real least = positive ? low : -high, most = positive ? high : -low;
    if (!positive && !negative)
        o.status = SHOAL_SYSTEM_PIVOT;
    else if (most == (real)INFINITY)
        o.status = SHOAL_SYSTEM_OVERFLOW;
    o.rcond = (float)(least / most);
    o.rank = n;
    o.positive = positive ? n : 0, o.negative = negative ? n : 0, o.zero = 0;
}

/* Adds right-hand side c with the status s to a system's outcome, or leaves it to the rescue. JUDGED:
 * there may be a residual, and a rescue; without it a kernel is leaner. */
template <bool JUDGED = true>
__device__ static inline void add_answer(const smallsym_job &job, outcome &o, int64_t c, int32_t s,
                                         float residual) {
    if (JUDGED && o.redo != NOT_AGAIN) return;
    if (JUDGED && smallsym_doubtful(&job, s)) {
        o.redo = (int32_t)c;
        return;
    }
    o.status = c ? shoal_worse(o.status, s) : s;
    if (JUDGED) o.residual = smallsym_larger(o.residual, s < 0 ? NAN : residual);
}

/* The condition number by |A| and |A^-1|, for the status, unless that is `proved` to be small; "auto" tells
 * it, too. */
__device__ static inline void add_look(const smallsym_job &job, outcome &o, real norm, real growth,
                                       bool proved = false) {
    const float look = smallsym_rcond(norm, growth);
    if (!proved && !(o.look <= look)) o.look = look;
    if (job.rescue_row >= 0 && !job.estimate && !(o.rcond <= look)) o.rcond = look;
}

/* x as it will be stored, times 2^-e_x: what the caller's range takes from it is gone. */
__device__ static inline real as_stored(real x, int e_x) {
    return e_x ? times_power_of_2(times_power_of_2(x, e_x), -e_x) : x;
}

/* The team's rows of right-hand side c, zeros where there is no system, scaled; returns the exponent of
 * the scale. */
template <int T, int M>
__device__ static inline int team_rhs(const smallsym_job &job, real (&v)[M], int64_t k, int64_t c,
                                      bool mine, int t, int n) {
    UNROLLED(r, M) {
        const int i = r * T + t;
        v[r] = mine && i < n ? ((const real *)job.b)[rhs_at(job, k, i, c)] : 0;
    }
    const int e = exponent_far_from_1(team_largest<T, M>(v));
#pragma unroll
    for (int r = 0; r < M; r++)
        if (e) v[r] = times_power_of_2(v[r], -e);
    return e;
}

/* An answer that left the range of numbers on its way, or was too large to be judged: wide.cu does it again. */
__device__ static inline void leave_to_wide(const smallsym_job &job, outcome &o, int64_t c,
                                            int32_t s, float residual) {
    if (o.redo == NOT_AGAIN && job.n > 1 && smallsym_left_range(s, residual)) o.redo = wide_from(c);
}

/* x of the team's rows for right-hand side c: scaled back by 2^e_x, judged and written. */
template <int T, int M, bool JUDGED = true>
__device__ static inline void team_answer(const smallsym_job &job, int64_t k, int64_t c,
                                          real (&x)[M], int e_x, int32_t factored, float residual,
                                          bool mine, int lane, outcome &o) {
    const int t = lane % T, n = (int)job.n;
    real bad = 0;
    UNROLLED(r, M) {
        if (e_x) x[r] = times_power_of_2(x[r], e_x);
        bad = real_fma(x[r], 0, bad);
    }
    const bool failed = team_any<T>(bad != 0 || factored < 0, lane);
    bool input = false;
    if (__any_sync(ALL_LANES, failed))
        input = team_any<T>(failed && mine && input_is_bad<JUDGED>(job, k, c, t, T), lane);
    const int32_t status = status_of(job, factored, failed, input, residual, o.look);
    if (!mine) return;
    add_answer<JUDGED>(job, o, c, status, residual);
    if ((JUDGED && o.redo >= 0) || (status < 0 && job.x == job.b)) return;
#pragma unroll
    for (int r = 0; r < M; r++)
        if (r < M - 1 || r * T + t < n)
            ((real *)job.x)[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : x[r];
}

/* Puts the entries of the threads where `listed` is true on a list; all threads of the warp call. Their number. */
__device__ static inline int add_to_list(smallsym_redo *list, unsigned *length,
                                         const smallsym_redo &entry, bool listed) {
    const unsigned all = __ballot_sync(ALL_LANES, listed);
    const int lane = threadIdx.x % WARP;
    if (!all) return 0;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(length, __popc(all));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (listed) list[first + __popc(all & ((1u << lane) - 1))] = entry;
    return __popc(all);
}

/* Puts a system on the list of those that the next method of "auto" does again. */
__device__ static inline void list_for_rescue(const smallsym_job &job, int64_t k, const outcome &o,
                                              bool listed) {
    smallsym_totals *totals = (smallsym_totals *)job.work;
    const smallsym_redo entry = { k, (uint32_t)o.redo, o.redo > 0 ? o.status : SHOAL_SYSTEM_OK,
                                  o.residual };
    const int next = smallsym_next_stage(&job);
    const int all = add_to_list(job.list, &totals->listed[next - 1], entry, listed);
    if (!all || threadIdx.x % WARP != 0) return;
    if (job.stage == 0) atomicAdd(&totals->redone, (unsigned long long)all);
    if (next == 2) atomicAdd(&totals->rescued, (unsigned long long)all);
}

/* Every thread of the warp calls; `leader` is true in one of each system that exists. */
template <bool JUDGED = true>
__device__ static inline void settle(const smallsym_job &job, int64_t k, const outcome &o,
                                     bool leader) {
    if (JUDGED && job.rescue_row >= 0) list_for_rescue(job, k, o, leader && o.redo >= 0);
    if (JUDGED) leader = leader && o.redo == NOT_AGAIN;
    const shoal_outcome &w = job.where;
    const bool known = o.status >= 0;
    if (leader) {
        if (w.status) w.status[k] = o.status;
        if (w.residual) w.residual[k] = o.residual;
        if (w.rcond) w.rcond[k] = known ? o.rcond : NAN;
        if (w.rank) w.rank[k] = known ? o.rank : -1;
        if (w.method) w.method[k] = o.method;
        if (w.inertia) {
            w.inertia[3 * k] = known ? o.positive : -1;
            w.inertia[3 * k + 1] = known ? o.negative : -1;
            w.inertia[3 * k + 2] = known ? o.zero : -1;
        }
    }
    smallsym_totals *totals = (smallsym_totals *)job.work;
    const unsigned failed = __ballot_sync(ALL_LANES, leader && o.status < 0);
    const unsigned warned = __ballot_sync(ALL_LANES, leader && o.status > 0);
    if (threadIdx.x % WARP == 0 && failed) atomicAdd(&totals->failed, __popc(failed));
    if (threadIdx.x % WARP == 0 && warned) atomicAdd(&totals->warned, __popc(warned));
    if (JUDGED && smallsym_judged(&job)) {
        unsigned bits = leader && known ? __float_as_uint(o.residual) & 0x7fffffffu : 0;
        for (int h = WARP / 2; h > 0; h /= 2) {
            const unsigned other = __shfl_xor_sync(ALL_LANES, bits, h);
            bits = bits > other ? bits : other;
        }
        /* a look first: soon few are larger, and the others need not queue for it */
        if (threadIdx.x % WARP == 0 && bits > shoal_load_relaxed(&totals->max_residual))
            atomicMax(&totals->max_residual, bits);
    }
}

#endif
