/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp.cu - P A Pt = L D Lt by rook pivoting and the solve, fused, on the GPU: A in, x out. ldltp.c
 * states the rules, that of a zero pivot too. Here the search begins at the row with the largest
 * diagonal entry, which is most often the pivot.
 *
 * A team of T threads has a system, 32 / T systems per warp. Rows keep their places: a pivot's row is
 * shown to the team in shared memory, everybody takes it off the rows that are left, and the order of
 * the pivots is written down. All teams of a warp make n steps together, one column each; a 2 x 2
 * pivot takes two, and its team sits out the second search. A team that is the whole warp goes from
 * pivot to pivot. A thread keeps its rows' diagonal entries and when they were pivots.
 *
 * n = 32 in f32: a warp has one system and takes about 200 instructions per step, 32 of them
 * multiply-adds; with the solve 7,500. No barriers but those of a warp. Bytes: the triangle once (in
 * sectors), b and x. n <= 64.
 */
#include "smallsym/ldltp.cuh"

/* ---- the kernel -------------------------------------------------------------------------------- */

template <class ROWS, int T, int M, int RESIDENT>
__global__ static void __launch_bounds__(WARPS *WARP, 4 * RESIDENT / WARPS)
    ldltp_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    enum { NUMBERS = ROWS::room_type::NUMBERS };
    SHOAL_SHARED(real, shared);
    const bool judged = smallsym_judged(&job);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = warp_of_grid(warp) * stage::SYSTEMS;
    const int64_t k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    real *rooms = shared + warp * stage::SYSTEMS * (NUMBERS + (judged ? stage::NUMBERS : 0));
    ROWS rows;
    rows.at.memory = rooms + lane / T * NUMBERS;
    /* A stays on a stage of its own for the residual; if there is none to compute, L may have it. */
    real *staged =
        judged ? rooms + stage::SYSTEMS * NUMBERS + lane / T * stage::NUMBERS : rows.at.below();
    stage_system<T, M, SHORT>(job, staged, k, t, width);
    const int last = (M - 1) * T + t;
    if (last >= n) staged[stage::row(last) + last] = 0; /* padding has no part in |A| */
    shoal_copy_async_wait_all();
    __syncwarp();

    real size[M], largest;
    int e_a = 0;
    bool scaled = false, own = false, lost = false;
    const real *from = staged;
    for (;;) { /* scaled, A is loaded once more: its code stands here once */
        rows.load(from, t);
        rows.sizes(size, from, t, n);
        largest = team_largest<T, M>(size);
        if (scaled) break;
        const int e = exponent_far_from_1(largest);
        if (__any_sync(ALL_LANES, e != 0)) {
            lost |= team_any<T>(e && is_wide<M>(size, largest, WIDE_ROWS), lane); /* wide.h */
            stage_scale<T, M>(staged, t, n, e);
            if (e) e_a = e;
            continue;
        }
        scaled =
            stage_scale_rows<T, M>(staged, rows.at.below(), rows.at.exponent(), size, own, t, n);
        if (!scaled) break;
        from = rows.at.below();
    }
    const bool infinite = !(largest - largest == 0);
    diagonal<M> d;
    UNROLLED(r, M) {
        const int i = r * T + t;
        d.left[r] = from[stage::row(i) + i], d.f[r] = 0;
        d.position[r] = i < n ? LEFT : NO_ROW;
    }
    __syncwarp(); /* before L takes the place of what was loaded */
    spread s = { (real)INFINITY, 0, nothing() * largest, 0 };
    factor(rows, d, s, t, n);
    const int32_t factored = s.least == 0 ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_OK;
    outcome o = outcome_of(job);
    if (lost) o.look = 0; /* flagged */
    o.rcond = (float)(s.least / s.most);
    o.rank = n, o.positive = s.positive, o.negative = n - s.positive;

    /* The condition number is looked at before the answers, by one solve or two: |A| is known to a factor of
     * n by then, which decides about the second. */
    enum { GROW = -2, AGAIN };
    const bool looks = judged && job.look;
    bool again = true; /* this team's: the others of the warp have no part in what it finds */
    real growth = 0, b[M] = {};
#pragma unroll 1
    for (int64_t c = looks ? GROW : 0; c < job.nrhs; c++) {
        real x[M], norm = 0;
        int e_b = 0;
        if (c >= 0) e_b = team_rhs<T, M>(job, b, k, c, mine, t, n);
        UNROLLED(r, M) x[r] = c == GROW ? 0 : b[r];
        if (c >= 0) scale_vector(rows, x, scaled, t);
        solve(rows, d, x, t, n, c == GROW, [](int) { return (real)1; });
        if (c < 0) {
            const real size_of_x = largest_or_nan<T, M>(x);
            if (again && !(size_of_x <= growth)) growth = size_of_x;
            again =
                mine && factored >= 0 && smallsym_look_again((real)n * largest, growth, job.cond);
            if (!__any_sync(ALL_LANES, again)) c = AGAIN;
            UNROLLED(r, M) b[r] = x[r] / size_of_x;
            continue;
        }
        scale_vector(rows, x, scaled, t);
        float residual = 0;
        if (judged) {
            UNROLLED(r, M) x[r] = as_stored(x[r], e_b - e_a);
            residual = team_residual<T, M>(staged, x, b, rows.at.shown(0), t, n, norm);
        }
        if (looks && c == 0) {
            norm = stage_scaled_norm<T, M>(staged, norm, own, t, n,
                                           [&](int i) { return (int)rows.at.exponent()[i]; });
            add_look(job, o, norm, growth);
        }
        if (infinite) x[0] = real_nan();
        team_answer<T, M>(job, k, c, x, e_b - e_a, factored, residual, mine, lane, o);
    }
    settle(job, k, o, mine && t == 0);
}

/* ---- launching --------------------------------------------------------------------------------- */

/* Teams of T threads with M rows each, SINGLE or DOUBLE warps resident per scheduler: as many as leave
 * each thread the registers it needs. */
template <int T, int M, int SINGLE, int DOUBLE>
static shoal_status launch(shoal_smallsym *plan, const smallsym_job *job) {
    typedef stage<T, M> stage;
    typedef ldltp_rows<T, M> rows;
    constexpr int RESIDENT = sizeof(real) == 4 ? SINGLE : DOUBLE;
    const size_t numbers = rows::room_type::NUMBERS + (smallsym_judged(job) ? stage::NUMBERS : 0);
    const size_t bytes = stage::SYSTEMS * numbers * sizeof(real);
    const warp_grid g =
        warp_grid_of(plan, job, ldltp_kernel<rows, T, M, RESIDENT>, stage::SYSTEMS, bytes);
    SHOAL_LAUNCH((ldltp_kernel<rows, T, M, RESIDENT>), g.blocks, g.threads, g.bytes,
                 plan->head.ctx->stream, *job, stage_width(job));
    return shoal_launched(plan->head.ctx, "ldltp");
}

static shoal_status ldltp_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    (void)variant;
    if (smallsym_careful(job)) return R(smallsym_ldltp_careful)(plan, job);
    constexpr int T16 = sizeof(real) == 4 ? 4 : 8; /* threads where n <= 16 */
    if (job->n <= 4) return launch<4, 1, 7, 5>(plan, job);
    if (job->n <= 8) return launch<4, 2, 6, 4>(plan, job);
    if (job->n <= 12) return launch<4, 3, 4, 3>(plan, job);
    if (job->n <= 16) return launch<T16, 16 / T16, 4, 3>(plan, job);
    if (job->n <= 24) return launch<8, 3, 3, 2>(plan, job);
    if (job->n <= 32) return launch<32, 1, 6, 4>(plan, job);
    if (job->n <= 48) return launch<16, 3, 2, 3>(plan, job);
    return launch<32, 2, 3, 3>(plan, job);
}

extern "C" const smallsym_cuda_method R(smallsym_ldltp) = { ldltp_run, NULL };
