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
    real growth = 0;
    bool again = true;
#pragma unroll 1
    for (int step = 0; step < 2 && __any_sync(ALL_LANES, again); step++) {
        pcr_solve(u, z, shown, t, n);
        const real size = largest_or_nan<T, M>(z);
        if (again && !(size <= growth)) growth = size;
        again = mine && smallsym_look_again(norm, growth, cond);
        UNROLLED(r, M) z[r] /= size;
    }
    return growth;
}

/* How A was scaled: A 2^-e_a, then S A S, S by its rows, if these differ in size; s(i) is 2^e_s[r] in row
 * i = r T + t. */
template <int M> struct taken {
    int e_a, e_s[M];
    bool scaled, own; /* rows were, in a team of the warp, and in this one */
    bool lost;        /* 2^-e_a lost something of this one (wide.h)          */
};

/* Rows of A from its stage, which keeps A 2^-e_a; S A S goes by way of the stage `to`, which may be the same,
 * and T M numbers of shared memory, `room`; NULL: rows are not scaled. */
template <int T, int M>
__device__ static inline taken<M> take_rows(real (&a)[M][T * M], real *staged, real *to, real *room,
                                            int t, int n, bool mine) {
    taken<M> how = {};
    short *e_s = (short *)room;
    const real *from = staged;
    for (;;) { /* scaled, A is loaded once more: its code stands here once */
        team_load_rows<T, M>(a, from, t);
        if (how.scaled) break;
        real size[M];
        UNROLLED(r, M) {
            size[r] = 0;
#pragma unroll
            for (int j = 0; j < T * M; j++)
                if (r * T + t < n && mine) size[r] = real_max(real_abs(a[r][j]), size[r]);
        }
        const real largest = team_largest<T, M>(size);
        const int e = exponent_far_from_1(largest);
        if (__any_sync(ALL_LANES, e != 0)) {
            how.lost |= team_any<T>(e && is_wide<M>(size, largest, WIDE_ROWS), threadIdx.x % WARP);
            stage_scale<T, M>(staged, t, n, e);
            if (e) how.e_a = e;
            continue;
        }
        how.scaled = room && stage_scale_rows<T, M>(staged, to, e_s, size, how.own, t, n);
        if (!how.scaled) break;
        from = to;
        UNROLLED(r, M) how.e_s[r] = e_s[r * T + t];
    }
    __syncwarp(); /* before the stage is written again */
    return how;
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
    const taken<M> how = take_rows<T, M>(a, staged, memory, shown, t, n, mine);
    const int e_a = how.e_a;
    outcome o = outcome_of(job);
    if (how.lost) o.look = 0; /* flagged */
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
            if (how.scaled) v[r] = times_power_of_2(v[r], how.e_s[r]);
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
            UNROLLED(r, M) v[r] = times_power_of_2(kept[r * T], how.e_s[r]);
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
        if (how.scaled) { UNROLLED(r, M) v[r] = times_power_of_2(v[r], how.e_s[r]); }
        if (judged) {
            real b[M];
            __syncwarp();
            UNROLLED(r, M) b[r] = kept[r * T], v[r] = as_stored(v[r], e_b - e_a);
            residual = team_residual<T, M>(staged, v, b, shown, t, n, norm);
        }
        if (judged && job.look && c == 0) {
            if (how.scaled) { /* of U, as S is spread over the team */
                real rows[M];
                UNROLLED(r, M)
                rows[r] = r * T + t >= n
                              ? 0
                              : real_abs(u.before[r]) + real_abs(u.d[r]) + real_abs(u.after[r]);
                const real of_u = team_largest<T, M>(rows);
                if (how.own) norm = of_u;
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
