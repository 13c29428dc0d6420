/* SPDX-License-Identifier: Apache-2.0
 *
 * careful.cu - ldlt and ldltp with refinement or the estimate of the condition number: A in, x out, as
 * in ldlt.cu and ldltp.cu, with more reads of A in between.
 *     refine    r = b - A x in twice the precision, A d = r, x := x + d, opts.refine times
 *     estimate  condition.h: about 5 more solves per system
 * and the second method of "auto": ldltp, refined until x does not change any more, for the systems that
 * the first one listed.
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
    diagonal_scale<T, M> s;

    __device__ real *shown() const { return memory; }
    __device__ void factor(const real *staged, real, int t, int n, outcome &o) {
        real none[M], low, high;
        UNROLLED(r, M) none[r] = 0;
        team_load<T, M>(a, staged, t);
        ldlt_factor<T, M>(a, none, inverse, low, high, memory, t, n);
        look_at_pivots(o, low, high, n);
        s = { staged, memory + T * M, t, n, false };
        s.look();
    } /* the __syncwarp() of answer() stands before the next write to the panel */
    __device__ void solve(real (&y)[M], int t, int n, bool grow = false) const {
        ldlt_forward<T, M>(a, y, t, n, grow, [&](int r) { return s.one(r); });
        ldlt_backward<T, M>(a, inverse, y, t);
    }
    __device__ real norm(const real *, real of_a, int, int) const { return s.norm(of_a); }
    __device__ real size(const real (&y)[M], int) const { return s.size(y); }
    __device__ void turn(real (&y)[M], real of_y, int) const { s.turn(y, of_y); }
};

/* P S A S Pt = L D Lt of any matrix, where ldltp.cu has it. */
template <int T_, int M_> struct pivoted {
    typedef ldltp_rows<T_, M_> ROWS;
    enum { T = T_, M = M_, NUMBERS = ROWS::room_type::NUMBERS };
    real *memory;
    ROWS rows;
    diagonal<M> d;
    bool scaled; /* rows were, in a team of the warp ... */
    bool own;    /* ... and in this one              */

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
        real size[M];
        rows.sizes(size, t, n);
        scaled = scale_rows(rows, d, size, own, t, n);
        if (scaled) largest = team_largest<T, M>(size);
        spread s = { (real)INFINITY, 0, nothing() * largest, 0 };
        ::factor(rows, d, s, t, n);
        if (s.least == 0) o.status = SHOAL_SYSTEM_SINGULAR;
        o.rcond = (float)(s.least / s.most);
        o.positive = s.positive, o.negative = n - s.positive;
    }
    __device__ void solve(real (&y)[M], int t, int n, bool grow = false) const {
        scale_vector(rows, y, scaled, t);
        ::solve(rows, d, y, t, n, grow);
        scale_vector(rows, y, scaled, t);
    }
    __device__ int exponent(int i) const { return scaled ? rows.at.exponent()[i] : 0; }
    __device__ real norm(const real *staged, real of_a, int t, int n) const {
        return stage_scaled_norm<T, M>(staged, of_a, own, t, n, [&](int i) { return exponent(i); });
    }
    __device__ real size(const real (&y)[M], int t) const {
        real v[M];
        UNROLLED(r, M) v[r] = times_power_of_2(y[r], -exponent(r * T + t));
        return largest_or_nan<T, M>(v);
    }
    __device__ void turn(real (&y)[M], real of_y, int t) const {
        UNROLLED(r, M) y[r] = times_power_of_2(y[r] / of_y, -2 * exponent(r * T + t));
    }
};

/* One right-hand side of a system in work: what answer() finds out. */
typedef struct verdict {
    float first, residual; /* before refinement, and of x                                       */
    real doubt;            /* of the right-hand side: 1 if refinement did not converge           */
} verdict;

} // namespace

/* ---- the kernel -------------------------------------------------------------------------------- */

/* What a solve with the factors is for. */
enum purpose { ANSWER, REFINE, GROW, AGAIN, DOUBT, REFINE_FULLY, DONE };

/* What comes after it, for all teams of a warp; `more`: a team is not content yet. */
__device__ static inline purpose next_of(purpose now, const smallsym_job &job, bool looks, int step,
                                         bool more) {
    const bool middle = job.stage == 1;
    if (now <= REFINE && step < job.refine) return REFINE;
    if (now <= REFINE && looks) return GROW;
    if (now == GROW && (middle || more)) return AGAIN;
    if (now == AGAIN && middle) return DOUBT;
    return middle && more && step < 30 ? REFINE_FULLY : DONE;
}

/* x of A x = b by the factors: refined job.refine times or, by the second method of "auto", as long as
 * that helps and is needed; rounded as 2^e_x x will be. `looks`: the condition number goes to o, and to
 * `doubt` how far refinement is from converging for any b (accuracy.h, batch.c). f.solve() is long, and
 * stands here once. */
template <class FACTORS, int M>
__device__ static inline verdict answer(const smallsym_job &job, const FACTORS &f,
                                        const real *staged, const real (&b)[M], real (&x)[M],
                                        int e_x, int t, int n, bool looks, outcome &o,
                                        real &doubt) {
    constexpr int T = FACTORS::T;
    const bool judged = smallsym_judged(&job), middle = job.stage == 1;
    verdict found = { 0, 0, doubt };
    real more[M], v[M], kept[M], norm = 0, growth = 0, before = 0;
    bool open = false, again = false;
    int step = 0;
    UNROLLED(r, M) x[r] = v[r] = kept[r] = 0;
    for (purpose now = ANSWER; now != DONE;) {
        UNROLLED(r, M) more[r] = now == ANSWER ? b[r] : now == AGAIN ? kept[r] : 0;
        if (now == REFINE || now == REFINE_FULLY)
            residual_in_double<T, M>(staged, x, b, more, f.shown(), t, n);
        if (now == DOUBT) residual_in_double<T, M>(staged, v, kept, more, f.shown(), t, n);
        f.solve(more, t, n, now == GROW);
        __syncwarp();
        const real size = now == ANSWER || now == REFINE ? 0 : f.size(more, t);
        if (now == ANSWER || now == REFINE) {
            UNROLLED(r, M) x[r] += more[r];
            step += now == REFINE;
        }
        if (now == ANSWER && judged)
            found.first = team_residual<T, M>(staged, x, b, f.shown(), t, n, norm);
        if (now == GROW) {
            norm = f.norm(staged, norm, t, n), growth = size;
            again = middle || (o.status >= 0 && smallsym_look_again(norm, growth, job.cond));
            UNROLLED(r, M) kept[r] = more[r];
            f.turn(kept, size, t);
        }
        if (now == AGAIN) {
            UNROLLED(r, M) v[r] = more[r];
            if (again && !(size <= growth)) growth = size;
            before = size;
        }
        if (now == DOUBT) found.doubt = doubt = size / before;
        if (now == GROW || now == AGAIN) add_look(job, o, norm, growth);
        if (now == REFINE_FULLY) {
            const bool helps = size <= before / 2;
            const real of_x = f.size(x, t);
            if (open && !helps) found.doubt = 1;
            if (open && helps) { UNROLLED(r, M) x[r] += more[r]; }
            open = open && helps && size > REAL_EPSILON * of_x;
            before = size, step++;
        } else if (middle && (now == DOUBT || (now == ANSWER && !looks))) {
            open = !(found.first <= job.tol) || smallsym_ill(o.look, job.cond);
            before = f.size(x, t), step = 0;
        }
        now = next_of(now, job, looks, step, __any_sync(ALL_LANES, now == GROW ? again : open));
    }
    if (e_x) { UNROLLED(r, M) x[r] = as_stored(x[r], e_x); }
    if (judged) found.residual = team_residual<T, M>(staged, x, b, f.shown(), t, n, norm);
    return found;
}

/* The status of an answer, where status_of() does not know of refinement. */
__device__ static inline int32_t status_refined(const smallsym_job &job, int32_t status,
                                                const verdict &found, float look) {
    if (job.stage == 1 && status >= 0 && smallsym_hopeless(found.doubt, look))
        return SHOAL_SYSTEM_SINGULAR;
    const bool refined = (job.refine || job.stage == 1) && !(found.first <= job.tol);
    return status == SHOAL_SYSTEM_OK && refined ? SHOAL_SYSTEM_REFINED : status;
}

/* Blocks that a multiprocessor should hold, teams of T threads: with fewer, systems of n <= 16 take up to
 * a quarter longer on an H200. */
constexpr int resident(int T) {
    return (sizeof(real) == 4 ? 10 : 8) - (T > 4 ? 2 : 0) - (T > 8 ? 2 : 0) - (T > 16 ? 2 : 0);
}

/* The system at place `first` + the team's number of `all` to do. */
template <class FACTORS>
__device__ static inline void careful_system(const smallsym_job &job, real *staged, int64_t first,
                                             int64_t all, int lane, int width) {
    constexpr int T = FACTORS::T, M = FACTORS::M;
    typedef stage<T, M> stage;
    const int t = lane % T, n = (int)job.n;
    /* a team without a system does the last one once more, and keeps it to itself */
    const bool mine = first + lane / T < all;
    const smallsym_redo task = task_at(job, mine ? first + lane / T : all - 1);
    const int64_t k = task.system;
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
    real doubt = 0;

#pragma unroll 1
    for (int64_t c = 0; c < job.nrhs; c++) {
        real b[M], x[M], bad = 0;
        const int e_x = team_rhs<T, M>(job, b, k, c, true, t, n) - e_a;
        const verdict found = answer(job, f, staged, b, x, e_x, t, n, job.look && c == 0, o, doubt);
        if (c == 0) o.status = task.status, o.residual = task.residual;
        UNROLLED(r, M) {
            if (e_x) x[r] = times_power_of_2(x[r], e_x);
            bad = real_fma(x[r], 0, bad);
        }
        const bool failed = team_sum<T>(bad) != 0 || factored < 0 || infinite;
        const bool input = team_any<T>(failed && mine && input_is_bad(job, k, c, t, T), lane);
        const int32_t status = status_refined(
            job, status_of(job, factored, failed, input, found.residual, o.look), found, o.look);
        if (c < task.column) continue;
        add_answer(job, o, c, status, found.residual);
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

template <class FACTORS>
__global__ static void __launch_bounds__(WARPS *WARP, resident(FACTORS::T))
    careful_kernel(smallsym_job job, int width) {
    typedef stage<FACTORS::T, FACTORS::M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    real *staged = shared + (warp * stage::SYSTEMS + lane / FACTORS::T) *
                                ((int)stage::NUMBERS + (int)FACTORS::NUMBERS);
    const int64_t all = task_count(job);
    const int64_t stride = (int64_t)gridDim.x * (blockDim.x / WARP) * stage::SYSTEMS;
#pragma unroll 1
    for (int64_t first = warp_of_grid(warp) * stage::SYSTEMS; first < all; first += stride) {
        careful_system<FACTORS>(job, staged, first, all, lane, width);
        __syncwarp(); /* before the stage is the next system's */
    }
}

/* ---- launching --------------------------------------------------------------------------------- */

template <template <int, int> class FACTORS, int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                           const char *name) {
    typedef FACTORS<T, M> factors;
    typedef stage<T, M> stage;
    const size_t bytes =
        stage::SYSTEMS * ((size_t)stage::NUMBERS + factors::NUMBERS) * sizeof(real);
    warp_grid g = warp_grid_of(plan, job, careful_kernel<factors>, stage::SYSTEMS, bytes);
    const unsigned few = (unsigned)(resident(T) * plan->head.ctx->multiprocessors);
    if (job->tasks && g.blocks.x > few) g.blocks.x = few;
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
