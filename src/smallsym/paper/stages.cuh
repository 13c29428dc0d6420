/* SPDX-License-Identifier: Apache-2.0
 *
 * stages.cuh - what the kernels of the stages of hhpcr have in common: what is written of U, and what
 * is said of a system.
 */
#ifndef SHOAL_SMALLSYM_PAPER_STAGES_CUH
#define SHOAL_SMALLSYM_PAPER_STAGES_CUH

#include "smallsym/device.cuh"

/* Does A of system k hold a non-finite number in rows first, first + step, ...? */
__device__ static inline bool matrix_is_bad(const smallsym_job &job, int64_t k, int first,
                                            int step) {
    const real *A = (const real *)job.A + k * job.a.system;
    real sum = 0;
    for (int i = first; i < (int)job.n; i += step)
        for (int j = 0; j <= i; j++) sum = real_fma(A[smallsym_at(&job.a, i, j)], 0, sum);
    return sum != 0;
}

/* The same of d, e, Q and right-hand side c. */
__device__ static inline bool parts_are_bad(const smallsym_job &job, const smallsym_parts &from,
                                            int64_t k, int64_t c, int first, int step) {
    const real *d = (const real *)from.d + k * job.b_system, *b = (const real *)job.b;
    const int n = (int)job.n;
    real sum = 0;
    for (int i = first; i < n; i += step) {
        sum = real_fma(b[rhs_at(job, k, i, c)], 0, real_fma(d[i * job.b_row], 0, sum));
        if (i + 1 < n)
            sum = real_fma(((const real *)from.e)[k * from.e_system + i * job.b_row], 0, sum);
        for (int m = 0; m < n && from.q; m++)
            sum = real_fma(
                ((const real *)from.q)[k * from.q_system + ((int64_t)i * n + m) * job.b_row], 0,
                sum);
    }
    return sum != 0;
}

/* d and e times 2^exponent, or NaN, by threads first, first + step, ... */
__device__ static inline void write_tridiagonal(const smallsym_job &job, const smallsym_parts &to,
                                                int64_t k, const real *d, const real *c,
                                                int exponent, bool failed, int first, int step) {
    const int n = (int)job.n;
    for (int i = first; i < n; i += step) {
        ((real *)to.d)[k * job.b_system + i * job.b_row] =
            failed ? real_nan() : times_power_of_2(d[i], exponent);
        if (i + 1 < n)
            ((real *)to.e)[k * to.e_system + i * job.b_row] =
                failed ? real_nan() : times_power_of_2(c[i], exponent);
    }
}

/* Of a matrix that is reduced there is nothing to tell but whether it was; `input`: it was not
 * finite. */
__device__ static inline void judge_reduction(outcome &o, bool failed, bool input) {
    o.status = input ? SHOAL_SYSTEM_NONFINITE : failed ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_OK;
    o.residual = o.rcond = NAN;
    o.rank = o.positive = o.negative = o.zero = -1;
}

#endif
