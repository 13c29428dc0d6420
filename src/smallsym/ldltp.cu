/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp.cu - P A Pt = L D Lt by rook pivoting and the solve, fused, on the GPU: A in, x out. ldltp.c
 * states the rules, that of a zero pivot too. Here the search begins at the row with the largest
 * diagonal entry, which is most often the pivot.
 *
 * A team of T threads has a system, 32 / T systems a warp. Rows keep their places: a pivot's row is
 * shown to the team in shared memory, everybody takes it off the rows that are left, and the order of
 * the pivots is written down. All teams of a warp make n steps together, one column each; a 2 x 2
 * pivot takes two, and its team sits out the second search. A thread knows of its rows their
 * diagonal entries and when they were pivots.
 *
 * n = 32 in f32, T = 8: a warp has four systems and takes about 370 instructions a step, 128 of which
 * are multiply-adds; with the solve 4,000 a system. No barriers but those of a warp. Bytes: the
 * triangle once (in sectors), b and x. n <= 64.
 */
#include "smallsym/ldltp_rows.cuh"

enum { WARPS = 2 }; /* of a block */

namespace {

typedef struct pivot {
    int p, q;      /* rows; q < 0: 1 x 1                                    */
    int side;      /* where row p is shown; row q is on the other side      */
    real d_p, d_q; /* their diagonal entries                                */
} pivot;

template <int M> struct diagonal { /* what a thread knows of its rows */
    real left[M];                  /* A(i,i), while the row is left             */
    real f[M];                     /* D inverse (i, partner(i)), of a block     */
    int position[M];
};

typedef struct spread { /* of the eigenvalues of D, the same for all of a team */
    real least, most;   /* sizes; the least is 0 once a pivot was zero */
    real nothing;       /* what counts as zero                        */
    int positive;
} spread;

} // namespace

__device__ static inline real alpha() { return (real)0.64038820320220756873; }
__device__ static inline real nothing() { return (real)(sizeof(real) == 4 ? 0x1p-90 : 0x1p-700); }

/* ---- the search -------------------------------------------------------------------------------- */

/* Looks for the pivot of every team that is open. The largest sizes grow from row to row, so no row
 * is seen twice, whatever is in them. */
template <class ROWS, int M>
__device__ static inline void search(const ROWS &rows, const diagonal<M> &d, int t, bool open,
                                     pivot &found) {
    constexpr int T = ROWS::N / M;
    size_key best = 0, before = 0;
    int row = t, from = NO_ROW, side = 0;
    real d_from = 0;
#pragma unroll
    for (int r = 0; r < M; r++) { /* + 1: a row that is left comes before one that is not */
        const size_key key = d.position[r] == LEFT ? key_of(d.left[r]) + 1 : 0;
        if (key > best) best = key, row = r * T + t;
    }
    int at = team_row<T>(row, best == team_top<T>(best));
    do {
        if (open) rows.show(at, side, t, d.position);
        __syncwarp();
        best = 0, row = t;
#pragma unroll
        for (int r = 0; r < M; r++) {
            const int i = r * T + t;
            if (d.position[r] != LEFT || i == at) continue;
            const size_key key = key_of(rows.at.shown(side)[i]);
            if (key > best) best = key, row = i;
        }
        const size_key top = team_top<T>(best);
        const int next = team_row<T>(row, best == top);
        const real d_at = row_value<T, M>(d.left, at);
        if (!open) continue;
        if (!(real_abs(d_at) < alpha() * size_of(top))) {
            found = pivot{ at, NO_ROW, side, d_at, 0 };
            open = false;
        } else if (from != NO_ROW && top <= before) {
            found = pivot{ from, at, 1 - side, d_from, d_at };
            open = false;
        } else {
            from = at, d_from = d_at, before = top;
            at = next, side = 1 - side;
        }
    } while (__any_sync(ALL_LANES, open));
}

/* ---- elimination ------------------------------------------------------------------------------- */

/* D inverse of a pivot. [d_p c; c d_q] = c [x 1; 1 y] as in ldltp.c. */
__device__ static inline void invert(const pivot &v, real c, spread &s, real &c11, real &c21,
                                     real &c22) {
    const bool two = v.q != NO_ROW;
    const real head = two ? c : v.d_p, inverse = real_reciprocal(head);
    c11 = inverse, c21 = c22 = 0;
    real small = real_abs(head), large = small;
    if (two) {
        const real x = v.d_p * inverse, y = v.d_q * inverse;
        const real scale = inverse * real_reciprocal(real_fma(x, y, -1));
        c11 = y * scale, c21 = -scale, c22 = x * scale;
        const real m = real_abs(x + y) / 2, h = (x - y) / 2, q = sqrt(real_fma(h, h, 1));
        large = real_abs(c) * (q + m), small = real_abs(c) * (real_fma(-x, y, 1) / (q + m));
    }
    s.positive += two || head > 0;
    if (real_abs(head) <= s.nothing) {
        s.least = 0;
        c11 = c21 = c22 = 0;
        return;
    }
    s.least = real_min(small, s.least), s.most = real_max(large, s.most);
}

/* A pivot's rows leave; l and u of this step, and l of the next if it is 2 x 2. */
template <class ROWS, int M>
__device__ static inline void begin_pivot(const ROWS &rows, const pivot &v, diagonal<M> &d,
                                          spread &s, int t, int step, real (&l)[M],
                                          real (&second)[M]) {
    constexpr int T = ROWS::N / M;
    const real *u = rows.at.shown(v.side);
    real *u_next = rows.at.shown(1 - v.side), c11, c21, c22;
    const bool two = v.q != NO_ROW;
    invert(v, two ? u[v.q] : 0, s, c11, c21, c22);
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int i = r * T + t;
        if (i == v.p || i == v.q) {
            d.f[r] = c21, d.position[r] = i == v.p ? step : step + 1;
            rows.lower(i, i) = i == v.p ? c11 : c22;
            rows.at.partner()[i] = (unsigned char)(!two ? i : i == v.p ? v.q : v.p);
        }
        l[r] = second[r] = 0;
        if (d.position[r] != LEFT) continue;
        l[r] = c11 * u[i];
        if (two) { /* (l, next l) = (u, next u) D inverse */
            l[r] = real_fma(c21, u_next[i], l[r]);
            second[r] = real_fma(c22, u_next[i], c21 * u[i]);
        }
    }
    if (two && t == 0) u_next[v.p] = 0; /* column p is done when row q is taken off */
}

template <class ROWS, int M>
__device__ static inline void factor(ROWS &rows, diagonal<M> &d, spread &s, int t, int n) {
    constexpr int T = ROWS::N / M;
    int waiting = NO_ROW; /* row q of a 2 x 2 pivot, between its two steps */
    pivot v = { 0, NO_ROW, 0, 0, 0 };
    real second[M];
#pragma unroll
    for (int r = 0; r < M; r++) second[r] = 0;
    for (int step = 0; step < n; step++) {
        const bool open = waiting == NO_ROW;
        if (__any_sync(ALL_LANES, open)) search(rows, d, t, open, v);
        real l[M];
        int p = waiting;
        const real *u = rows.at.shown(open ? v.side : 1 - v.side);
        if (open) {
            begin_pivot(rows, v, d, s, t, step, l, second);
            p = v.p, waiting = v.q;
        } else {
#pragma unroll
            for (int r = 0; r < M; r++) l[r] = second[r];
            waiting = NO_ROW;
        }
#pragma unroll
        for (int r = 0; r < M; r++) d.left[r] = real_fma(-l[r], u[r * T + t], d.left[r]);
        rows.take_off(l, u, t, d.position);
#pragma unroll
        for (int r = 0; r < M; r++)
            if (d.position[r] > step) rows.lower(r * T + t, p) = l[r]; /* 0 within a block */
        if (t == 0) rows.at.order()[step] = (unsigned char)p;
        __syncwarp();
    }
}

/* L z = b, D w = z, Lt x = w; y is b and becomes x. */
template <class ROWS, int M>
__device__ static inline void solve(const ROWS &rows, const diagonal<M> &d, real (&y)[M], int t,
                                    int n) {
    constexpr int T = ROWS::N / M;
    const unsigned char *order = rows.at.order(), *partner = rows.at.partner();
    real *shown = rows.at.shown(0);
#pragma unroll 4
    for (int step = 0; step < n; step++) { /* z(i) -= L(i,p) z(p), in rows taken after p */
        const int p = order[step];
        const real z = row_value<T, M>(y, p);
#pragma unroll
        for (int r = 0; r < M; r++)
            if (d.position[r] > step) y[r] = real_fma(-rows.lower(r * T + t, p), z, y[r]);
    }
#pragma unroll
    for (int r = 0; r < M; r++) shown[r * T + t] = y[r];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int i = r * T + t;
        if (i >= n) continue;
        const real z = y[r], inverse = rows.lower(i, i);
        y[r] = real_fma(d.f[r], shown[partner[i]], inverse * z);
        if (n == 1) /* b / a to the last bit */
            y[r] = real_fma(real_fma(-d.left[r], y[r], z), inverse, y[r]);
    }
    __syncwarp(); /* before it is written again */
#pragma unroll 4
    for (int step = n - 1; step > 0; step--) { /* x(p) -= L(i,p) x(i), in rows taken before i */
        const int i = order[step];
        const real x = row_value<T, M>(y, i);
#pragma unroll
        for (int r = 0; r < M; r++)
            if ((unsigned)d.position[r] < (unsigned)step)
                y[r] = real_fma(-rows.lower(i, r * T + t), x, y[r]);
    }
}

/* ---- the kernel -------------------------------------------------------------------------------- */

template <class ROWS, int T, int M, int RESIDENT>
__global__ static void __launch_bounds__(WARPS *WARP, 4 * RESIDENT / WARPS)
    ldltp_kernel(smallsym_job job, int width) {
    typedef stage<T, M> stage;
    enum { NUMBERS = ROWS::room_type::NUMBERS };
    SHOAL_SHARED(real, shared);
    const bool judged = smallsym_judged(&job);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    const int64_t first = ((int64_t)blockIdx.x * WARPS + warp) * stage::SYSTEMS;
    const int64_t k = first + lane / T;
    const bool mine = k < job.count;
    if (first >= job.count) return;
    real *rooms = shared + warp * stage::SYSTEMS * (NUMBERS + (judged ? stage::NUMBERS : 0));
    ROWS rows;
    rows.at.memory = rooms + lane / T * NUMBERS;
    /* A stays on a stage of its own for the residual; if there is none to compute, L may have it. */
    real *staged =
        judged ? rooms + stage::SYSTEMS * NUMBERS + lane / T * stage::NUMBERS : rows.at.below();
    stage_system<T, M>(job, staged, k, t, width);
    if (judged && ROWS::IN_REGISTERS == 0) stage_system<T, M>(job, rows.at.below(), k, t, width);
    const int last = (M - 1) * T + t;
    if (last >= n) staged[stage::row(last) + last] = 0; /* padding has no part in |A| */
    shoal_copies_done();
    __syncwarp();

    diagonal<M> d;
    rows.load(staged, t);
    real largest = team_max<T>(rows.largest(t, n));
    const bool infinite = !(largest - largest == 0);
    const int e_a = exponent_far_from_1(largest);
#pragma unroll
    for (int r = 0; r < M; r++) {
        const int i = r * T + t;
        d.left[r] = staged[stage::row(i) + i], d.f[r] = 0;
        d.position[r] = i < n ? LEFT : NO_ROW;
    }
    if (__any_sync(ALL_LANES, e_a != 0)) {
        __syncwarp();
        rows.scale(t, n, e_a);
#pragma unroll
        for (int r = 0; r < M; r++) d.left[r] = times_power_of_2(d.left[r], -e_a);
        for (int i = t; judged && i < n; i += T)
            for (int j = 0; j <= i; j++) {
                real &v = staged[stage::row(i) + j];
                v = times_power_of_2(v, -e_a);
            }
        largest = times_power_of_2(largest, -e_a);
    }
    __syncwarp();
    spread s = { (real)INFINITY, 0, nothing() * largest, 0 };
    factor(rows, d, s, t, n);
    const int32_t factored = s.least == 0 ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_OK;
    outcome o = outcome_of(job);
    o.rcond = (float)(s.least / s.most);
    o.rank = n, o.positive = s.positive, o.negative = n - s.positive;

    for (int64_t c = 0; c < job.nrhs; c++) {
        real b[M], kept[M], most = 0;
#pragma unroll
        for (int r = 0; r < M; r++) {
            const int i = r * T + t;
            b[r] = mine && i < n ? ((const real *)job.b)[rhs_at(job, k, i, c)] : 0;
            most = real_max(real_abs(b[r]), most);
        }
        const int e_b = exponent_far_from_1(team_max<T>(most));
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (e_b) b[r] = times_power_of_2(b[r], -e_b);
            kept[r] = b[r];
        }
        solve(rows, d, b, t, n);
        float residual = 0;
        real norm;
        if (judged) residual = team_residual<T, M>(staged, b, kept, rows.at.shown(0), t, n, norm);
        if (infinite) b[0] = real_nan();
        team_answer<T, M>(job, k, c, b, e_b - e_a, factored, residual, mine, lane, o);
    }
    settle(job, k, o, mine && t == 0);
}

/* ---- launching --------------------------------------------------------------------------------- */

template <class ROWS, int T, int M, int RESIDENT>
static shoal_status launch(shoal_smallsym *plan, const smallsym_job *job) {
    typedef stage<T, M> stage;
    const int64_t systems = WARPS * stage::SYSTEMS;
    const size_t numbers = ROWS::room_type::NUMBERS + (smallsym_judged(job) ? stage::NUMBERS : 0);
    const dim3 grid((unsigned)((job->count + systems - 1) / systems));
    shoal_allow_shared(plan->ctx, ldltp_kernel<ROWS, T, M, RESIDENT>);
    SHOAL_LAUNCH((ldltp_kernel<ROWS, T, M, RESIDENT>), grid, dim3(WARPS * WARP),
                 systems * numbers * sizeof(real), plan->ctx->stream, *job, stage_width(job));
    return shoal_launched(plan->ctx, "ldltp");
}

/* Teams of T threads with M rows each, SINGLE or DOUBLE warps resident a scheduler: as many as leave
 * each thread the registers it needs. */
template <int T, int M, int SINGLE, int DOUBLE>
static shoal_status run(shoal_smallsym *plan, const smallsym_job *job) {
    constexpr int words = sizeof(real) / 4, resident = words == 1 ? SINGLE : DOUBLE;
    if constexpr (T * M * M * words <= 160) /* of the 255 registers of a thread */
        return launch<register_rows<T, M>, T, M, resident>(plan, job);
    else
        return launch<shared_rows<T, M>, T, M, resident>(plan, job);
}

static shoal_status ldltp_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    (void)variant;
    constexpr bool single = sizeof(real) == 4;
    constexpr int T16 = single ? 4 : 8, T32 = single ? 8 : 16; /* threads where n <= 16, 32 */
    if (job->n <= 4) return run<4, 1, 7, 5>(plan, job);
    if (job->n <= 8) return run<4, 2, 6, 4>(plan, job);
    if (job->n <= 12) return run<4, 3, 4, 3>(plan, job);
    if (job->n <= 16) return run<T16, 16 / T16, 4, 3>(plan, job);
    if (job->n <= 24) return run<8, 3, 3, 2>(plan, job);
    if (job->n <= 32) return run<T32, 32 / T32, 3, 2>(plan, job);
    if (job->n <= 48) return run<16, 3, 2, 3>(plan, job);
    return run<32, 2, 3, 3>(plan, job);
}

static size_t ldltp_bytes(const shoal_smallsym *plan, const smallsym_job *job) {
    (void)plan, (void)job;
    return 0;
}

extern "C" const smallsym_cuda_method R(smallsym_ldltp) = { ldltp_bytes, ldltp_run, NULL };
