/* SPDX-License-Identifier: Apache-2.0
 *
 * careful.cu - ldlt and ldltp with refinement or the estimate of the condition number: A in, x out, as
 * in ldlt.cu and ldltp.cu, with more reads of A in between.
 *     refine    r = b - A x in double, A d = r, x := x + d, opts.refine times
 *     estimate  condition.h: about 5 more solves per system
 *
 * A team of T threads has a system, M rows per thread. There are few sizes, the same for both methods and
 * every variant of ldlt. A stays on its stage in shared memory, scaled; the factors are in classes with
 * the same two functions. Refinement always computes residuals; a system whose warning it removes has
 * status SHOAL_SYSTEM_REFINED.
 *
 * Bytes: the triangle once (in sectors), b and x. Each step of refinement adds 2 n^2 instructions
 * per system, in double on the stage. n <= 64.
 */
#include "smallsym/estimate.cuh"
#include "smallsym/ldltp.cuh"

/* ---- factors ----------------------------------------------------------------------------------- */

namespace {

/* L D Lt of a definite matrix, in the registers of its team. */
template <int T_, int M_> struct definite {
    enum { T = T_, M = M_, NUMBERS = stage<T, M>::PANEL };
    real *memory;
    real a[M][T * M], inverse[M];

    __device__ real *shown() const { return memory; }
    __device__ void factor(const real *staged, real, int t, int n, outcome &o) {
        real none[M], low, high;
        UNROLLED(r, M) none[r] = 0;
        team_load<T, M>(a, staged, t);
        ldlt_factor<T, M>(a, none, inverse, low, high, memory, t, n);
        look_at_pivots(o, low, high, n);
    } /* the __syncwarp() of solve_refined() stands before the next write to the panel */
    __device__ void solve(real (&y)[M], int t, int n) const {
        ldlt_forward<T, M>(a, y, t, n);
        ldlt_backward<T, M>(a, inverse, y, t);
    }
};

/* P A Pt = L D Lt of any matrix, where ldltp.cu has it. */
template <int T_, int M_> struct pivoted {
    typedef ldltp_rows<T_, M_> ROWS;
    enum { T = T_, M = M_, NUMBERS = ROWS::room_type::NUMBERS };
    real *memory;
    ROWS rows;
    diagonal<M> d;

    __device__ real *shown() const { return rows.at.shown(0); }
    __device__ void factor(const real *staged, real largest, int t, int n, outcome &o) {
        rows.at.memory = memory;
        rows.load(staged, t);
        UNROLLED(r, M) {
            const int i = r * T + t, row = stage<T, M>::row(i);
            d.left[r] = staged[row + i], d.f[r] = 0;
            d.position[r] = i < n ? LEFT : NO_ROW;
#pragma unroll 1
            for (int j = 0; j <= i && ROWS::IN_REGISTERS == 0; j++)
                rows.at.below()[row + j] = staged[row + j];
        }
        __syncwarp();
        spread s = { (real)INFINITY, 0, nothing() * largest, 0 };
        ::factor(rows, d, s, t, n);
        if (s.least == 0) o.status = SHOAL_SYSTEM_SINGULAR;
        o.rcond = (float)(s.least / s.most);
        o.positive = s.positive, o.negative = n - s.positive;
    }
    __device__ void solve(real (&y)[M], int t, int n) const { ::solve(rows, d, y, t, n); }
};

} // namespace

/* ---- the kernel -------------------------------------------------------------------------------- */

/* x of A x = b by the factors, refined job.refine times. Returns the residual, if it is `judged`.
 * `doubtful`: without refinement there would be a warning. `iterate`: computes A^-1 x, too. f.solve() is
 * long, and stands here once. */
template <class FACTORS, int M>
__device__ static inline float solve_refined(const smallsym_job &job, const FACTORS &f,
                                             const real *staged, const real (&b)[M], real (&x)[M],
                                             int lane, int n, bool judged, bool iterate, outcome &o,
                                             bool &doubtful) {
    constexpr int T = FACTORS::T;
    const int t = lane % T;
    float residual = 0;
    real more[M], norm = 0, size = 0;
    UNROLLED(r, M) more[r] = b[r], x[r] = 0;
#pragma unroll 1
    for (int step = 0; step <= job.refine + iterate; step++) {
        const bool look = step > job.refine;
        if (look) {
            UNROLLED(r, M) more[r] = x[r];
            size = begin_iterate<T, M>(more, lane, n);
        } else if (step > 0) {
            residual_in_double<T, M>(staged, x, b, more, f.shown(), t, n);
        }
        f.solve(more, t, n);
        __syncwarp();
        if (look) {
            add_iterate(o, size, team_largest<T, M>(more), norm);
            break;
        }
        UNROLLED(r, M) x[r] = step > 0 ? x[r] + more[r] : more[r];
        if (!judged || (step > 0 && step < job.refine)) continue;
        residual = team_residual<T, M>(staged, x, b, f.shown(), t, n, norm);
        doubtful |= step == 0 && !(residual <= job.tol);
    }
    return residual;
}

/* Blocks that a multiprocessor should hold, teams of T threads: with fewer, systems of n <= 16 take up to
 * a quarter longer on an H200. */
constexpr int resident(int T) {
    return (sizeof(real) == 4 ? 10 : 8) - (T > 4 ? 2 : 0) - (T > 8 ? 2 : 0) - (T > 16 ? 2 : 0);
}

template <class FACTORS>
__global__ static void __launch_bounds__(WARPS *WARP, resident(FACTORS::T))
    careful_kernel(smallsym_job job, int width) {
    constexpr int T = FACTORS::T, M = FACTORS::M;
    typedef stage<T, M> stage;
    SHOAL_SHARED(real, shared);
    const bool judged = smallsym_judged(&job);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS;
    if (first >= job.count) return;
    /* a team without a system does the last one once more, and keeps it to itself */
    const bool mine = first + lane / T < job.count;
    const int64_t k = mine ? first + lane / T : job.count - 1;
    real *staged =
        shared + (warp * stage::SYSTEMS + lane / T) * ((int)stage::NUMBERS + (int)FACTORS::NUMBERS);
    stage_system<T, M, T == WARP ? SHORT : UNROLLED>(job, staged, k, t, width);
    shoal_copy_async_wait_all();
    __syncwarp();

    FACTORS f;
    f.memory = staged + stage::NUMBERS;
    outcome o = outcome_of(job);
    o.rank = n;
    int e_a;
    const real largest = stage_scaled<T, M>(staged, t, n, e_a);
    const bool infinite = !(largest - largest == 0);
    f.factor(staged, largest, t, n, o);
    const int32_t factored = o.status;
    if (job.estimate && smallsym_rcond_used(&job))
        o.rcond = team_estimate<T, M>(stage_norm<T, M>(staged, t, n), t, n,
                                      [&](real(&y)[M]) { f.solve(y, t, n); });

#pragma unroll 1
    for (int64_t c = 0; c < job.nrhs; c++) {
        real b[M], x[M], bad = 0;
        bool doubtful = false;
        const int e_x = team_rhs<T, M>(job, b, k, c, true, t, n) - e_a;
        const float residual = solve_refined(job, f, staged, b, x, lane, n, judged,
                                             job.iterate && c == 0, o, doubtful);
        UNROLLED(r, M) {
            if (e_x) x[r] = times_power_of_2(x[r], e_x);
            bad = real_fma(x[r], 0, bad);
        }
        const bool failed = team_sum<T>(bad) != 0 || factored < 0 || infinite;
        const bool input = team_any<T>(failed && mine && input_is_bad(job, k, c, t, T), lane);
        int32_t status = status_of(job, factored, failed, input, residual);
        if (status == SHOAL_SYSTEM_OK && doubtful) status = SHOAL_SYSTEM_REFINED;
        add_answer(job, o, c, status, residual);
        if (mine && o.redo < 0 && !(status < 0 && job.x == job.b)) {
            real *to = (real *)job.x;
#pragma unroll
            for (int r = 0; r < M; r++)
                if (r * T + t < n)
                    to[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : x[r];
        }
    }
    settle(job, k, o, mine && t == 0);
}

/* ---- launching --------------------------------------------------------------------------------- */

template <template <int, int> class FACTORS, int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                           const char *name) {
    typedef FACTORS<T, M> factors;
    typedef stage<T, M> stage;
    const size_t bytes =
        stage::SYSTEMS * ((size_t)stage::NUMBERS + factors::NUMBERS) * sizeof(real);
    const warp_grid g = warp_grid_of(plan, job, careful_kernel<factors>, stage::SYSTEMS, bytes);
    SHOAL_LAUNCH(careful_kernel<factors>, g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                 *job, stage_width(job));
    return shoal_launched(plan->head.ctx, name);
}

extern "C" shoal_status R(smallsym_ldlt_careful)(shoal_smallsym *plan, const smallsym_job *job) {
    return by_size(job->n,
                   [&](auto size) { return launch<definite>(size, plan, job, "ldlt, careful"); });
}

extern "C" shoal_status R(smallsym_ldltp_careful)(shoal_smallsym *plan, const smallsym_job *job) {
    return by_size(job->n,
                   [&](auto size) { return launch<pivoted>(size, plan, job, "ldltp, careful"); });
}
