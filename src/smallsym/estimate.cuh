/* SPDX-License-Identifier: Apache-2.0
 *
 * estimate.cuh - the reciprocal condition number of a team's system in the 1-norm, estimated as
 * condition.h describes; and what slower kernels need of a system on its stage (stage.cuh): its largest
 * entry, its norm, a residual in double.
 */
#ifndef SHOAL_SMALLSYM_ESTIMATE_CUH
#define SHOAL_SMALLSYM_ESTIMATE_CUH

#include "smallsym/look.cuh"
#include "core/twice.h"

/* Brings a system near 1 if it is far from it; its largest entry then, and the exponent. `wide`: a row of the
 * thread or, `definite`, a diagonal entry made it wide before (wide.h). */
template <int T, int M>
__device__ static inline real stage_scaled(real *staged, int t, int n, bool definite, int &e,
                                           bool &wide) {
    real most = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++)
            most = real_max(real_abs(staged[stage<T, M>::row(i) + j]), most);
    most = team_max<T>(most);
    e = exponent_far_from_1(most);
    wide = false;
#pragma unroll 1
    for (int i = t; i < n && e != 0; i += T) {
        real size = real_abs(staged[stage<T, M>::row(i) + i]);
#pragma unroll 1
        for (int j = 0; j < n && !definite; j++)
            size = real_max(real_abs(stage_entry<T, M>(staged, i, j)), size);
        wide |= smallsym_is_wide(size, most, definite ? WIDE_DIAGONAL : WIDE_ROWS);
    }
    stage_scale<T, M>(staged, t, n, e);
    return e ? times_power_of_2(most, -e) : most;
}

/* Largest sum of a column's sizes, by symmetry of a row's. */
template <int T, int M> __device__ static inline real stage_norm(const real *staged, int t, int n) {
    real most = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T) {
        real size = 0;
        for (int j = 0; j < n; j++) size += real_abs(stage_entry<T, M>(staged, i, j));
        most = real_max(size, most);
    }
    return team_max<T>(most);
}

/* r = b - A x in twice the precision, rounded once. x is shown to the team in N numbers of
 * shared memory. */
template <int T, int M>
__device__ static inline void residual_in_double(const real *staged, const real (&x)[M],
                                                 const real (&b)[M], real (&result)[M], real *shown,
                                                 int t, int n) {
    UNROLLED(r, M) shown[r * T + t] = x[r];
    __syncwarp();
    UNROLLED(r, M) {
        const int i = r * T + t;
        twice sum = twice_of(b[r]);
        for (int j = 0; j < n && i < n; j++)
            sum = twice_less(sum, stage_entry<T, M>(staged, i, j), shown[j]);
        result[r] = real_of_twice(sum);
    }
    __syncwarp(); /* before it is written again */
}

template <int M> __device__ static inline real sum_of_sizes(const real (&v)[M]) {
    real sum = 0;
    UNROLLED(r, M) sum += real_abs(v[r]);
    return sum;
}

namespace {

/* The climb to |A^-1|: y is the team's next right-hand side, of which rows from n on are 0; A^-1 y comes back
 * in its place. All teams of a warp climb together, as long as one goes on. */
template <int T, int M> struct team_climb {
    real most;
    int step;
    bool open;

    __device__ void begin(real (&y)[M], int t, int n) {
        most = 0, step = 0, open = true;
        UNROLLED(r, M) y[r] = r * T + t < n ? smallsym_first_y(r * T + t, n) : 0;
    }
    __device__ bool goes_on(real (&y)[M], int t, int n) {
        const real now = team_sum<T>(sum_of_sizes(y));
        real largest = 0;
        int row = t;
#pragma unroll
        for (int r = 0; r < M; r++)
            if (real_abs(y[r]) > largest) largest = real_abs(y[r]), row = r * T + t;
        const real top = team_max<T>(largest);
        const int at = team_row<T, M>(row, largest == top);
        const bool unit = smallsym_from_unit(step);
        if (open) {
            const bool more =
                step >= SMALLSYM_POWERS && !unit ? top > most : smallsym_rises(now, &most);
            open = step < SMALLSYM_POWERS ? most - most == 0 : more;
        }
        UNROLLED(r, M) {
            const int i = r * T + t;
            y[r] = i >= n                       ? 0
                   : unit                       ? (y[r] < 0 ? -1 : 1)
                   : step < SMALLSYM_POWERS - 1 ? y[r] / now
                                                : i == at;
        }
        return ++step < SMALLSYM_STEPS && __any_sync(ALL_LANES, open);
    }
};

} // namespace

#endif
