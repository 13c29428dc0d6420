/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.cuh - the kernel of hhpcr.cu, and of its variant "formed" in paper/hhpcr.cu: a team of T
 * threads has a system, in registers. FORMED: Q is formed, one column per thread, and b and z are
 * multiplied by it; else Qt b and Q z come from the reflectors. JUDGED (FORMED needs it): A and b are
 * kept, for residuals.
 */
#ifndef SHOAL_SMALLSYM_HHPCR_CUH
#define SHOAL_SMALLSYM_HHPCR_CUH

#include "smallsym/pcr.cuh"

template <int T, int M>
struct room { /* numbers of a team: A and b, if they are kept, and the rest */
    enum {
        STAGE = stage<T, M>::NUMBERS,
        REST = bank_step(reflectors<T, M>::NUMBERS + T * M, T),
        NUMBERS = bank_step((int)STAGE + (int)REST, T),
        REDUCED = bank_step(reflectors<T, M>::NUMBERS, T) /* of the first stage alone */
    };
};

/* A := S A S in registers, S by its rows, if these differ in `size`; s(i) is 2^e[r] in row i = r T + t.
 * `room` is N numbers of shared memory. Whether a team of the warp did so, and `own`: this one. */
template <int T, int M>
__device__ static inline bool scale_rows(real (&a)[M][T * M], real (&size)[M], int (&e)[M],
                                         bool &own, real *room, int t, int n) {
    short *all = (short *)room;
    const bool scaled = scale_by_rows<T, M>(all, size, own, t, [&](real(&now)[M]) {
        UNROLLED(r, M) {
            const int i = r * T + t;
            now[r] = 0;
#pragma unroll
            for (int j = 0; j < T * M; j++)
                if (i < n && j < n)
                    now[r] = real_max(times_power_of_2(real_abs(a[r][j]), all[j]), now[r]);
            now[r] = times_power_of_2(now[r], all[i]);
        }
    });
    UNROLLED(r, M) e[r] = scaled ? all[r * T + t] : 0;
    if (!scaled) return false;
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int j = 0; j < T * M; j++) a[r][j] = times_power_of_2(a[r][j], e[r] + all[j]);
    __syncwarp();
    return true;
}

/* |U^-1| from U z = e(m), m the equation with the smallest pivot, and from U y = z unless that would not
 * matter, to this team; `norm` is |U|. */
template <int T, int M>
__device__ static inline real pcr_growth(const equations<T, M> &u, real *shown, real norm,
                                         double cond, bool mine, int t, int n) {
    real z[M], least = (real)INFINITY;
    int row = t;
#pragma unroll
    for (int r = 0; r < M; r++)
        if (r * T + t < n && real_abs(u.pivot[r]) < least)
            least = real_abs(u.pivot[r]), row = r * T + t;
    const int at = team_row<T, M>(row, least == -team_max<T>(-least));
    UNROLLED(r, M) z[r] = r * T + t == at;
    pcr_solve(u, z, shown, t, n);
    const real growth = largest_or_nan<T, M>(z);
    const bool again = mine && smallsym_look_again(norm, growth, cond);
    if (!__any_sync(ALL_LANES, again)) return growth;
    UNROLLED(r, M) z[r] /= growth;
    pcr_solve(u, z, shown, t, n);
    const real second = largest_or_nan<T, M>(z);
    return again && !(second <= growth) ? second : growth;
}

/* Rows of A, scaled, and A in the stage too; the sizes of rows; returns the exponent of the scale. */
template <int T, int M>
__device__ static inline int take_rows(real (&a)[M][T * M], real (&size)[M], real *staged, int t,
                                       int n, bool mine) {
    team_load_rows<T, M>(a, staged, t);
    UNROLLED(r, M) {
        size[r] = 0;
#pragma unroll
        for (int j = 0; j < T * M; j++)
            if (r * T + t < n && mine) size[r] = real_max(real_abs(a[r][j]), size[r]);
    }
    const int e_a = exponent_far_from_1(team_largest<T, M>(size));
    __syncwarp();
    if (__any_sync(ALL_LANES, e_a != 0)) {
        UNROLLED(r, M) size[r] = times_power_of_2(size[r], -e_a);
        team_scale<T, M>(a, staged, t, n, e_a);
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int j = (r + 1) * T; j < T * M; j++) a[r][j] = times_power_of_2(a[r][j], -e_a);
    }
    return e_a;
}

template <int T, int M, bool FORMED, bool JUDGED>
__global__ static void __launch_bounds__(WARPS *WARP) hhpcr_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    typedef room<T, M> room;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS, k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    const bool judged = JUDGED && smallsym_judged(&job);
    constexpr int numbers = JUDGED ? (int)room::NUMBERS : (int)room::REST;
    real *memory = shared + (warp * stage::SYSTEMS + lane / T) * numbers;
    const reflectors<T, M> w = { memory };
    real *staged = JUDGED ? memory + room::REST : memory, *shown = w.shown() + T * M;
    stage_system<T, M, SHORT>(job, staged, k, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    real a[M][T * M], v[M], *kept = staged + stage::B + t; /* r T: of each row, b */
    UNROLLED(r, M) v[r] = mine ? staged[stage::B + r * T + t] : 0;
    real sizes[M];
    const int e_a = take_rows<T, M>(a, sizes, staged, t, n, mine);
    int e_s[M];
    bool own;
    const bool scaled = scale_rows<T, M>(a, sizes, e_s, own, shown, t, n);
    outcome o = outcome_of(job);
    int32_t factored = SHOAL_SYSTEM_OK;
    equations<T, M> u;
    real size = 0;

    for (int64_t c = 0; c < job.nrhs; c++) {
        if (c > 0) {
            UNROLLED(r, M) {
                const int i = r * T + t;
                v[r] = mine && i < n ? ((const real *)job.b)[rhs_at(job, k, i, c)] : 0;
            }
        }
        const int e_b = exponent_far_from_1(team_largest<T, M>(v));
        UNROLLED(r, M) {
            if (e_b) v[r] = times_power_of_2(v[r], -e_b);
            if (JUDGED) kept[r * T] = v[r];
            if (scaled) v[r] = times_power_of_2(v[r], e_s[r]);
        }
        if (c == 0) {
            tridiagonalise<T, M>(a, v, w, t, n);
            pcr_factor(u, w.d(), w.c(), shown, w.shown(), t, n);
            look_at_pivots(o, u, size, t, n);
            factored = o.status;
            o.rank = o.positive = n;
            if (job.where.inertia) {
                o.negative = count_negative(w.d(), w.c(), n);
                o.positive = n - o.negative;
            }
            if (FORMED) form_q<T, M>(w, a, t, n);
        } else if (!FORMED) {
            multiply_by_qt<T, M>(w, v, t, n);
        }
        if (FORMED) {
            UNROLLED(r, M) v[r] = times_power_of_2(kept[r * T], e_s[r]);
            multiply_by_formed<T, M>(a, v, shown, true, t);
        }
        pcr_corrected(u, v, size, shown, t, n);
        if (FORMED)
            multiply_by_formed<T, M>(a, v, shown, false, t);
        else
            multiply_by_q<T, M>(w, v, t, n);
#pragma unroll
        for (int r = 0; r < M; r++)
            if (r * T + t >= n) v[r] = 0;
        float residual = 0;
        real norm;
        if (scaled) { UNROLLED(r, M) v[r] = times_power_of_2(v[r], e_s[r]); }
        if (judged) {
            real b[M];
            __syncwarp();
            UNROLLED(r, M) b[r] = kept[r * T], v[r] = as_stored(v[r], e_b - e_a);
            residual = team_residual<T, M>(staged, v, b, shown, t, n, norm);
        }
        if (judged && job.look && c == 0) {
            if (scaled) { /* of U, as S is spread over the team */
                real rows[M];
                UNROLLED(r, M)
                rows[r] = r * T + t >= n
                              ? 0
                              : real_abs(u.before[r]) + real_abs(u.d[r]) + real_abs(u.after[r]);
                const real of_u = team_largest<T, M>(rows);
                if (own) norm = of_u;
            }
            add_look(job, o, norm, pcr_growth(u, shown, norm, job.cond, mine, t, n));
        }
        team_answer<T, M, JUDGED>(job, k, c, v, e_b - e_a, factored, residual, mine, lane, o);
    }
    settle<JUDGED>(job, k, o, mine && t == 0);
}

template <bool FORMED, bool JUDGED, int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job) {
    const int numbers = JUDGED ? (int)room<T, M>::NUMBERS : (int)room<T, M>::REST;
    const size_t bytes = stage<T, M>::SYSTEMS * numbers * sizeof(real);
    const warp_grid g =
        warp_grid_of(plan, job, hhpcr_kernel<T, M, FORMED, JUDGED>, stage<T, M>::SYSTEMS, bytes);
    SHOAL_LAUNCH((hhpcr_kernel<T, M, FORMED, JUDGED>), g.blocks, g.threads, g.bytes,
                 plan->head.ctx->stream, *job, stage_width(job));
    return shoal_launched(plan->head.ctx, "hhpcr");
}

#endif
