/* SPDX-License-Identifier: Apache-2.0
 *
 * careful.cu - ldlt and ldltp with refinement or the estimate of the condition number: A in, x out, as
 * in ldlt.cu and ldltp.cu, with more reads of A in between.
 *     refine    r = b - A x in twice the precision, A d = r, x := x + d, opts.refine times
 *     estimate  condition.h: about 5 more solves per system; without a right-hand side, for factor.cu, alone
 * and the second method of "auto": ldltp, refined until x does not change any more, for the systems that
 * the first one listed.
 *
 * A team of T threads has a system, M rows per thread. There are few sizes, and one kernel per size: both
 * methods factor with the code of ldltp.cuh, ldlt with its pivots in order. A stays on its stage in shared
 * memory, scaled. Refinement always computes residuals; a system whose warning it removes has status
 * SHOAL_SYSTEM_REFINED. Systems that need more range than this has are listed for wide.cu.
 *
 * Bytes: the triangle once (in sectors), b and x. Each step of refinement adds 2 n^2 instructions
 * per system, in double on the stage. n <= 64.
 */
#include "smallsym/estimate.cuh"
#include "smallsym/ldltp.cuh"

/* ---- factors ----------------------------------------------------------------------------------- */

namespace {

/* P S A S Pt = L D Lt of any matrix, where ldltp.cu has it; or A = L D Lt of a definite one, its pivots in
 * order, where S is that of the diagonal and only the look at the condition scales by it. */
template <int T_, int M_> struct factors {
    typedef
        typename std::conditional<M_ == 1, register_rows<T_, M_>, shared_rows<T_, M_>>::type ROWS;
    enum { T = T_, M = M_, NUMBERS = ROWS::room_type::NUMBERS };
    real *memory;
    ROWS rows;
    diagonal<M> d;
    bool scaled; /* the factors are those of S A S, in a team of the warp */
    bool own;    /* the S of this team is not the unit matrix             */

    __device__ real *shown() const { return rows.at.shown(0); }
    /* A from its stage, scaled by its rows, or only its scale, if it is definite. `largest` of its numbers.
     * Whether a row of the thread, or its diagonal entry, makes the system wide (wide.h). */
    __device__ bool load(const real *staged, real &largest, bool definite, int t, int n) {
        const real *from = staged;
        real size[M];
        bool wide = false;
        rows.at.memory = memory;
        scaled = own = false;
        for (;;) {
            rows.load(from, t);
            UNROLLED(r, M) {
                const int i = r * T + t;
                d.left[r] = from[stage<T, M>::row(i) + i], d.f[r] = 0;
                d.position[r] = i < n ? LEFT : NO_ROW;
            }
            if (definite) break;
            rows.sizes(size, from, t, n);
            if (scaled) {
                largest = team_largest<T, M>(size);
                break;
            }
            wide = is_wide<M>(size, largest, WIDE_ROWS);
            scaled = stage_scale_rows<T, M>(staged, rows.at.below(), rows.at.exponent(), size, own,
                                            t, n);
            if (!scaled) break;
            from = rows.at.below();
        }
        if (definite) {
            UNROLLED(r, M) size[r] = d.position[r] == LEFT ? real_abs(d.left[r]) : 0;
            wide = is_wide<M>(size, largest, WIDE_DIAGONAL);
            own = team_uneven<T, M>(size, SMALLSYM_DIAGONAL_SPREAD);
            UNROLLED(r, M)
            if (own) rows.at.exponent()[r * T + t] = (short)-smallsym_half_exponent(size[r]);
        }
        __syncwarp();
        return wide;
    }
    __device__ void factor(real largest, bool definite, int t, int n, outcome &o) {
        spread s = { (real)INFINITY, 0, definite ? 0 : nothing() * largest, 0 };
        real low = (real)INFINITY, high = -(real)INFINITY;
        factor_together(rows, d, s, t, n, [&](int step, bool open, pivot &v) {
            if (!definite) {
                search(rows, d, t, open, v);
                return;
            }
            rows.show(step, 0, t, d.position);
            __syncwarp();
            v = pivot{ step, NO_ROW, 0, shown()[step], 0 };
            low = real_min(v.d_p, low), high = real_max(v.d_p, high);
        });
        if (definite) {
            look_at_pivots(o, low, high, n);
            return;
        }
        if (s.least == 0) o.status = SHOAL_SYSTEM_SINGULAR;
        o.rcond = (float)(s.least / s.most);
        o.positive = s.positive, o.negative = n - s.positive;
    }
    __device__ int exponent(int i) const { return own ? rows.at.exponent()[i] : 0; }
    /* `grow` (condition.h): y is 0, and what comes out is scaled back. */
    __device__ void solve(real (&y)[M], int t, int n, bool grow) const {
        scale_vector(rows, y, scaled, t);
        ::solve(rows, d, y, t, n, grow, [&](int r) {
            return scaled ? (real)1 : times_power_of_2((real)1, -exponent(r * T + t));
        });
        scale_vector(rows, y, scaled, t);
    }
    /* |S A S|, of which |A| is known; and S^-1 y, its largest size, and y := S^-2 y / size. */
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

/* What a solve with the factors is for; JUDGE does without. */
enum purpose { ESTIMATE, ANSWER, REFINE, GROW, AGAIN, DOUBT, REFINE_FULLY, JUDGE, DONE };

/* What comes after it, for all teams of a warp; `more`: a team is not content yet. */
__device__ static inline purpose next_of(purpose now, const smallsym_job &job, bool looks, int step,
                                         bool more) {
    const bool middle = job.stage == 1;
    if (now <= REFINE && step < job.refine) return REFINE;
    if (now <= REFINE && looks) return GROW;
    if (now == GROW && (middle || more)) return AGAIN;
    if (now == AGAIN && middle) return DOUBT;
    if (now == JUDGE) return DONE;
    return middle && more && step < 30 ? REFINE_FULLY : JUDGE;
}

/* x of A x = b by the factors: refined job.refine times or, by the second method of "auto", as long as
 * that helps and is needed; rounded as 2^e_x x will be. `first`: the condition number goes to o, and to
 * `doubt` how far refinement is from converging for any b (accuracy.h, batch.c). What is long stands here
 * once, whatever it is for: the solve, and the two kinds of residual. */
template <class FACTORS, int M>
__device__ static inline verdict answer(const smallsym_job &job, const FACTORS &f,
                                        const real *staged, const real (&b)[M], real (&x)[M],
                                        int e_x, int t, int n, bool first, outcome &o,
                                        real &doubt) {
    constexpr int T = FACTORS::T;
    const bool judged = smallsym_judged(&job), middle = job.stage == 1, looks = job.look && first;
    const bool estimates = job.estimate && smallsym_rcond_used(&job) && first;
    verdict found = { 0, 0, doubt };
    team_climb<T, M> climb;
    real more[M], v[M], kept[M], norm = 0, growth = 0, before = 0;
    bool open = false, again = false;
    int step = 0;
    climb.begin(kept, t, n);
    UNROLLED(r, M) x[r] = v[r] = 0;
#pragma unroll 1
    for (purpose now = estimates ? ESTIMATE : ANSWER; now != DONE;) {
        const bool rest_of_x = now == REFINE || now == REFINE_FULLY;
        UNROLLED(r, M) {
            more[r] = now == ANSWER ? b[r] : now == AGAIN || now == ESTIMATE ? kept[r] : 0;
        }
        if (rest_of_x || now == DOUBT) {
            real y[M], of[M];
            UNROLLED(r, M) y[r] = rest_of_x ? x[r] : v[r], of[r] = rest_of_x ? b[r] : kept[r];
            residual_in_double<T, M>(staged, y, of, more, f.shown(), t, n);
        }
        if (now != JUDGE) {
            f.solve(more, t, n, now == GROW);
            __syncwarp();
        }
        if (now == ESTIMATE) {
            UNROLLED(r, M) kept[r] = more[r];
            if (climb.goes_on(kept, t, n)) continue;
            o.rcond = smallsym_rcond(stage_norm<T, M>(staged, t, n), climb.most);
            now = job.nrhs ? ANSWER : DONE;
            continue;
        }
        if (now == ANSWER || now == REFINE) {
            UNROLLED(r, M) x[r] += more[r];
            step += now == REFINE;
        }
        if (now == JUDGE && e_x) { UNROLLED(r, M) x[r] = as_stored(x[r], e_x); }
        if (judged && (now == ANSWER || now == JUDGE)) {
            const float residual = team_residual<T, M>(staged, x, b, f.shown(), t, n, norm);
            if (now == ANSWER) found.first = residual;
            found.residual = residual;
        }
        const real size = f.size(more, t);
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
    return found;
}

/* Blocks that a multiprocessor should hold, teams of T threads: with fewer, systems of n <= 16 take up to
 * a quarter longer on an H200. */
constexpr int resident(int T) {
    return (sizeof(real) == 4 ? 10 : 8) - (T > 4 ? 2 : 0) - (T > 8 ? 2 : 0) - (T > 16 ? 2 : 0);
}

/* The system at place `first` + the team's number of `all` to do. */
template <class FACTORS>
__device__ static inline void careful_system(const smallsym_job &job, real *staged, int64_t first,
                                             int64_t all, int lane, int width, bool definite) {
    constexpr int T = FACTORS::T, M = FACTORS::M;
    typedef stage<T, M> stage;
    const int t = lane % T, n = (int)job.n;
    /* a team without a system does the last one once more, and keeps it to itself */
    const bool mine = first + lane / T < all;
    const smallsym_redo task = task_at(job, mine ? first + lane / T : all - 1);
    const int64_t k = task.system;
    stage_matrix<T, M, SHORT>(job, staged, k, t, width);
    const int last = (M - 1) * T + t;
    if (last >= n) staged[stage::row(last) + last] = 0; /* padding has no part in |A| */
    shoal_copy_async_wait_all();
    __syncwarp();

    FACTORS f;
    f.memory = staged + stage::NUMBERS;
    outcome o = outcome_of(job);
    o.rank = n;
    int e_a;
    bool wide;
    real largest = stage_scaled<T, M>(staged, t, n, definite, e_a, wide);
    const bool infinite = !(largest - largest == 0);
    wide |= f.load(staged, largest, definite, t, n);
    if (team_any<T>(wide, lane)) o.redo = ALL_BY_WIDE;
    f.factor(largest, definite, t, n, o);
    const int32_t factored = o.status;
    real doubt = 0;

#pragma unroll 1
    for (int64_t c = 0; c == 0 || c < job.nrhs; c++) {
        real b[M], x[M], bad = 0;
        const int e_x = team_rhs<T, M>(job, b, k, c, job.nrhs > 0, t, n) - e_a;
        const verdict found = answer(job, f, staged, b, x, e_x, t, n, c == 0, o, doubt);
        if (job.nrhs == 0) {
            if (mine && t == 0 && o.redo == NOT_AGAIN) job.where.rcond[k] = o.rcond;
            break;
        }
        if (c == 0) o.status = task.status, o.residual = task.residual;
        UNROLLED(r, M) {
            if (e_x) x[r] = times_power_of_2(x[r], e_x);
            bad = real_fma(x[r], 0, bad);
        }
        const bool failed = team_sum<T>(bad) != 0 || factored < 0 || infinite;
        const bool input = team_any<T>(failed && mine && input_is_bad(job, k, c, t, T), lane);
        const int32_t status =
            status_refined(job, status_of(job, factored, failed, input, found.residual, o.look),
                           found.doubt, found.first, o.look);
        if (c < task.column) continue;
        leave_to_wide(job, o, c, status, found.residual);
        add_answer(job, o, c, status, found.residual);
        if (mine && o.redo == NOT_AGAIN && !(status < 0 && job.x == job.b)) {
            real *to = (real *)job.x;
#pragma unroll
            for (int r = 0; r < M; r++)
                if (r * T + t < n)
                    to[rhs_at(job, k, r * T + t, c)] = status < 0 ? real_nan() : x[r];
        }
    }
    if (job.nrhs) settle(job, k, o, mine && t == 0);
    const uint32_t c = o.redo <= ALL_BY_WIDE ? (uint32_t)(ALL_BY_WIDE - o.redo) : 0;
    const smallsym_redo rest = { k, c > task.column ? c : task.column, o.status, o.residual };
    add_to_list(job.wide, &((smallsym_totals *)job.work)->listed_wide[job.stage], rest,
                mine && t == 0 && o.redo <= ALL_BY_WIDE);
}

template <class FACTORS>
__global__ static void __launch_bounds__(WARPS *WARP, resident(FACTORS::T))
    careful_kernel(smallsym_job job, int width, bool definite) {
    typedef stage<FACTORS::T, FACTORS::M> stage;
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    real *staged = shared + (warp * stage::SYSTEMS + lane / FACTORS::T) *
                                ((int)stage::NUMBERS + (int)FACTORS::NUMBERS);
    const int64_t all = task_count(job);
    const int64_t stride = (int64_t)gridDim.x * (blockDim.x / WARP) * stage::SYSTEMS;
#pragma unroll 1
    for (int64_t first = warp_of_grid(warp) * stage::SYSTEMS; first < all; first += stride) {
        careful_system<FACTORS>(job, staged, first, all, lane, width, definite);
        __syncwarp(); /* before the stage is the next system's */
    }
}

/* ---- launching --------------------------------------------------------------------------------- */

template <int T, int M>
static shoal_status launch(shoal_smallsym *plan, const smallsym_job *job, bool definite,
                           const char *name) {
    typedef factors<T, M> factors;
    typedef stage<T, M> stage;
    const size_t bytes =
        stage::SYSTEMS * ((size_t)stage::NUMBERS + factors::NUMBERS) * sizeof(real);
    warp_grid g = warp_grid_of(plan, job, careful_kernel<factors>, stage::SYSTEMS, bytes);
    const unsigned few = (unsigned)(resident(T) * plan->head.ctx->multiprocessors);
    if (job->tasks && g.blocks.x > few) g.blocks.x = few;
    SHOAL_LAUNCH(careful_kernel<factors>, g.blocks, g.threads, g.bytes, plan->head.ctx->stream,
                 *job, stage_width(job), definite);
    return shoal_launched(plan->head.ctx, name);
}

static shoal_status run(shoal_smallsym *plan, const smallsym_job *job, bool definite,
                        const char *name) {
    const shoal_status status = job->n <= 8    ? launch<8, 1>(plan, job, definite, name)
                                : job->n <= 16 ? launch<16, 1>(plan, job, definite, name)
                                : job->n <= 32 ? launch<32, 1>(plan, job, definite, name)
                                               : launch<32, 2>(plan, job, definite, name);
    return status == SHOAL_OK ? R(smallsym_wide_ones)(plan, job, definite) : status;
}

extern "C" shoal_status R(smallsym_ldlt_careful)(shoal_smallsym *plan, const smallsym_job *job) {
    return run(plan, job, true, "ldlt, careful");
}

extern "C" shoal_status R(smallsym_ldltp_careful)(shoal_smallsym *plan, const smallsym_job *job) {
    return run(plan, job, false, "ldltp, careful");
}
