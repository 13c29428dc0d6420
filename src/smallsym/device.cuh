/* SPDX-License-Identifier: Apache-2.0
 *
 * device.cuh - what kernels for small symmetric systems share: copies to shared memory, scales,
 * right-hand sides, and the outcome of a system. stage.cuh has what teams of threads need.
 */
#ifndef SHOAL_SMALLSYM_DEVICE_CUH
#define SHOAL_SMALLSYM_DEVICE_CUH

#include "smallsym/plan.h"
#include "smallsym/team.cuh"

/* Of careful.cu: solves with refinement and the estimate of the condition. */
extern "C" shoal_status R(smallsym_ldlt_careful)(shoal_smallsym *plan, const smallsym_job *job);
extern "C" shoal_status R(smallsym_ldltp_careful)(shoal_smallsym *plan, const smallsym_job *job);
/* Of factor.cu: the driver's cells for factors that are kept, n > 0. */
extern "C" shoal_status R(smallsym_ldlt_factor)(shoal_smallsym *plan, const smallsym_job *job);
extern "C" shoal_status R(smallsym_ldlt_resolve)(shoal_smallsym *plan, const smallsym_job *job);

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
#ifdef SHOAL_SINGLE
    const real far = 0x1p30f;
    const int e = (int)(__float_as_uint(largest) >> 23) - 127;
#else
    const real far = 0x1p250;
    const int e = (int)(__double_as_longlong(largest) >> 52) - 1023;
#endif
    const bool finite = largest - largest == 0;
    return (largest >= 1 / far && largest <= far) || largest == 0 || !finite ? 0 : e;
}

/* v 2^e in two steps, for any e that the difference of two exponents can be. */
__device__ static inline real times_power_of_2(real v, int e) {
    const int half = e / 2, rest = e - half;
#ifdef SHOAL_SINGLE
    return v * __uint_as_float((unsigned)(half + 127) << 23) *
           __uint_as_float((unsigned)(rest + 127) << 23);
#else
    return v * __longlong_as_double((long long)(half + 1023) << 52) *
           __longlong_as_double((long long)(rest + 1023) << 52);
#endif
}

/* ---- right-hand sides -------------------------------------------------------------------------- */

/* Right-hand side c of row i of system k. */
__device__ static inline int64_t rhs_at(const smallsym_job &job, int64_t k, int i, int64_t c) {
    return (k * job.b_system + i * job.b_row) * job.nrhs + c;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

/* Status of an answer for one right-hand side; `bad` where x is not finite, `input` where A or b is
 * not. */
__device__ static inline int32_t status_of(const smallsym_job &job, int32_t factored, bool bad,
                                           bool input, float residual) {
    if (input) return SHOAL_SYSTEM_NONFINITE;
    if (factored < 0) return factored;
    if (bad) return SHOAL_SYSTEM_OVERFLOW;
    return smallsym_judged(&job) && !(residual <= job.tol) ? SHOAL_SYSTEM_ILL : factored;
}

/* Does system k hold a non-finite number, in A or in right-hand side c? Threads first, first + step,
 * ... share the rows; each gets the answer for its own. Looked at only where an answer failed. */
__device__ static inline bool input_is_bad(const smallsym_job &job, int64_t k, int64_t c, int first,
                                           int step) {
    const real *A = (const real *)job.A + k * job.a.system, *b = (const real *)job.b;
    real sum = 0;
    for (int i = first; i < (int)job.n; i += step) {
        sum = real_fma(b[rhs_at(job, k, i, c)], 0, sum);
        for (int j = 0; j <= i; j++) sum = real_fma(A[smallsym_at(&job.a, i, j)], 0, sum);
    }
    return sum != 0;
}

/* The worst of two: any failure over any answer, a warning over none. */
__device__ static inline int32_t worse(int32_t s, int32_t t) {
    return s < 0 || t < 0 ? (s < t ? s : t) : s > t ? s : t;
}

typedef struct outcome { /* of one system */
    int32_t status;
    float residual, rcond;
    int32_t rank, positive, negative, zero, method;
} outcome;

/* Every thread of the warp calls; `leader` is true in one of each system that exists. */
__device__ static inline void settle(const smallsym_job &job, int64_t k, const outcome &o,
                                     bool leader) {
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
    if (smallsym_judged(&job)) {
        unsigned bits = leader && known ? __float_as_uint(o.residual) & 0x7fffffffu : 0;
        for (int h = WARP / 2; h > 0; h /= 2) {
            const unsigned other = __shfl_xor_sync(ALL_LANES, bits, h);
            bits = bits > other ? bits : other;
        }
        /* a look first: soon few are larger, and the others need not queue for it */
        if (threadIdx.x % WARP == 0 && bits > shoal_glance(&totals->max_residual))
            atomicMax(&totals->max_residual, bits);
    }
}

#endif
