/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.cu - the systems of a regression, formed out of samples on the GPU and solved:
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,
 * equation (3) of L. A. Abbas-Turki and S. Graillat (2017). gram.h has the rules of the sums.
 *
 * A team of T threads has a system, 32 / T systems per warp, one warp per block: A grows in registers
 * while samples stream through shared memory. If the registers allow it, method "ldlt" goes on from
 * there: the sums are where its factorisation (team.cuh) needs them, and A goes to shared memory only
 * for the residual. Otherwise A, its lower triangle packed, and b go to the plan's workspace, from where
 * batch.cu solves them.
 *
 * The floor is psi and y once, M (n + 1) numbers per system; each right-hand side after the first reads
 * psi again. At n = 32 a sample of 128 bytes in f32 takes 640 multiply-adds; an H200 does 33 of them per
 * picosecond, which is 6.7 bytes of psi, and reads 4.3 bytes in that time. One team works through all M
 * samples of its system: few systems of many samples do not fill a GPU. n <= 64.
 */
#include "smallsym/gram.h"
#include "smallsym/look.cuh"

enum { FUSED_MAX = sizeof(real) == 4 ? 40 : 16 }; /* unknowns of systems solved at once */

/* ---- sums in registers ------------------------------------------------------------------------- */

/* A thread keeps the triangle of its rows as team.cuh has it, diagonal blocks whole: the two halves of
 * such a block are the same products in the same order, and have the same bits. Sums of blocks are in
 * shared memory, in columns of a warp: thread `lane` has kept[e * WARP], its pointer being that of the
 * warp + lane. Nobody else looks there.
 *
 * Cost per sample and thread: T M (M + 1) / 2 + M multiply-adds, T M / VECTOR + M + 1 reads of shared
 * memory, most of them one address for the whole team. */
template <int T, int M> struct gram_kept {
    enum { ENTRIES = T * (M * (M + 1) / 2), NUMBERS = 2 * (ENTRIES + M) };
};

template <int T, int M, bool FIRST>
__device__ static inline void gram_clear(real (&a)[M][T * M], real (&b)[M]) {
    UNROLLED(r, M) {
        b[r] = 0;
#pragma unroll
        for (int j = 0; FIRST && j < (r + 1) * T; j++) a[r][j] = 0;
    }
}

/* A += psi psit, b += psi y. */
template <int T, int M, bool FIRST>
__device__ static inline void gram_add(real (&a)[M][T * M], real (&b)[M], const real *psi, real y,
                                       int t) {
    real mine[M];
    UNROLLED(r, M) {
        mine[r] = psi[r * T + t];
        b[r] = real_fma(mine[r], y, b[r]);
    }
#pragma unroll
    for (int j0 = 0; FIRST && j0 < T * M; j0 += VECTOR) {
        const real_vector v = load_vector(psi + j0);
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
#pragma unroll
            for (int r = 0; r < M; r++)
                if (j0 + e < (r + 1) * T) a[r][j0 + e] = real_fma(mine[r], v.e[e], a[r][j0 + e]);
    }
}

/* The sum of a block joins those before, of which there are none at first, and begins anew. */
__device__ static inline void gram_fold_one(real &v, real *kept, bool first) {
    const real t = first ? 0 : kept[0], lost = first ? 0 : kept[WARP];
    const real s = t + v, added = s - t;
    kept[0] = s;
    kept[WARP] = lost + ((t - (s - added)) + (v - added));
    v = 0;
}

/* Where a thread keeps the sum of entry j of its row r; b is entry T M. */
template <int T, int M> __device__ static inline int gram_kept_at(int r, int j) {
    return 2 * WARP * (j < T * M ? T * (r * (r + 1) / 2) + j : gram_kept<T, M>::ENTRIES + r);
}

template <int T, int M, bool FIRST>
__device__ static inline void gram_fold(real (&a)[M][T * M], real (&b)[M], real *kept, bool first) {
    UNROLLED(r, M) {
#pragma unroll
        for (int j = 0; FIRST && j < (r + 1) * T; j++)
            gram_fold_one(a[r][j], kept + gram_kept_at<T, M>(r, j), first);
        gram_fold_one(b[r], kept + gram_kept_at<T, M>(r, T * M), first);
    }
}

/* What was folded, divided by the number of samples. */
template <int T, int M, bool FIRST>
__device__ static inline void gram_mean(real (&a)[M][T * M], real (&b)[M], const real *kept,
                                        int64_t samples) {
    const real inverse = 1 / (real)samples;
    const auto mean = [&](int at) { return (kept[at] + kept[at + WARP]) * inverse; };
    UNROLLED(r, M) {
#pragma unroll
        for (int j = 0; FIRST && j < (r + 1) * T; j++) a[r][j] = mean(gram_kept_at<T, M>(r, j));
        b[r] = mean(gram_kept_at<T, M>(r, T * M));
    }
}

/* ---- samples through shared memory ------------------------------------------------------------- */

/* A team copies the next tile of samples of its system to shared memory, past the registers, while it
 * adds up the last one. A tile is `SAMPLES` rows of PITCH numbers: psi, zeros from n on, and y behind.
 * Two tiles per system; the systems of a warp begin in banks of their own. */
template <int T, int M> struct gram_tile {
    enum {
        SYSTEMS = WARP / T, /* of a warp */
        Y = T * M,
        PITCH = T * M + VECTOR,
        SAMPLES = T * M <= 8    ? 32
                  : T * M <= 16 ? 16
                                : 8, /* a divisor of GRAM_BLOCK */
        BUFFER = SAMPLES * PITCH,
        NUMBERS = bank_step(2 * BUFFER, T), /* of a system */
        KEPT = SYSTEMS * NUMBERS,           /* where the warp's sums of blocks begin */
        OF_WARP = KEPT + WARP * gram_kept<T, M>::NUMBERS
    };
};

/* Where one warp stands. */
typedef struct gram_place {
    int64_t k;    /* the team's system                                          */
    bool mine;    /* whether it exists                                          */
    int t;        /* the thread's number in the team                            */
    int width;    /* numbers of psi that may be copied at once                  */
    int exponent; /* of the power of two that psi and y are divided by          */
    bool scaled;  /* whether any team of the warp has one that is not 0         */
    real *tile;   /* the system's                                               */
    real *kept;   /* the thread's                                               */
} gram_place;

/* The place of a thread whose block is a warp, with gram_tile::OF_WARP numbers of shared memory. Puts
 * zeros behind psi, once: copies leave them alone. */
template <int T, int M>
__device__ static inline gram_place gram_begin(const smallsym_job &job, real *shared, int width) {
    typedef gram_tile<T, M> tile;
    const int lane = threadIdx.x;
    const int64_t k = (int64_t)blockIdx.x * tile::SYSTEMS + lane / T;
    const gram_place at = { k,
                            k < job.count,
                            lane % T,
                            width,
                            0,
                            false,
                            shared + lane / T * tile::NUMBERS,
                            shared + tile::KEPT + lane };
#pragma unroll 1
    for (int s = 0; s < 2 * tile::SAMPLES; s++)
#pragma unroll 1
        for (int j = (int)job.n + at.t; j < T * M; j += T) at.tile[s * tile::PITCH + j] = 0;
    return at;
}

template <int T, int M, int W>
__device__ static inline void gram_copy_rows(const smallsym_job &job, const smallsym_gram &g,
                                             const gram_place &at, real *to, int64_t first,
                                             int samples) {
    const int n = (int)job.n;
    const real *psi = (const real *)g.psi + at.k * g.psi_system + first * n * g.psi_step;
#pragma unroll 2
    for (int s = 0; s < samples; s++)
#pragma unroll 1
        for (int j = at.t * W; j < n; j += T * W)
            copy_numbers<W>(to + s * gram_tile<T, M>::PITCH + j, psi + (s * n + j) * g.psi_step);
}

/* Samples first, ... of the team's system, right-hand side c, to a tile; the copies are on their way. */
template <int T, int M>
__device__ static inline void gram_copy(const smallsym_job &job, const smallsym_gram &g,
                                        const gram_place &at, real *to, int64_t first, int64_t c) {
    typedef gram_tile<T, M> tile;
    const int64_t left = g.samples - first;
    const int samples = left < tile::SAMPLES ? (int)left : (int)tile::SAMPLES;
    if (!at.mine) return;
    if (at.width == VECTOR)
        gram_copy_rows<T, M, VECTOR>(job, g, at, to, first, samples);
    else if (VECTOR == 4 && at.width == 2)
        gram_copy_rows<T, M, VECTOR / 2>(job, g, at, to, first, samples);
    else
        gram_copy_rows<T, M, 1>(job, g, at, to, first, samples);
    const real *y = (const real *)g.y + (at.k * g.y_system + first * g.y_step) * job.nrhs + c;
#pragma unroll 1
    for (int s = at.t; s < samples; s += T)
        copy_numbers<1>(to + s * tile::PITCH + tile::Y, y + s * g.y_step * job.nrhs);
}

/* Divides a tile by the power of two of its system. */
template <int T, int M>
__device__ static inline void gram_scale(const gram_place &at, real *tile, int samples) {
#pragma unroll 1
    for (int s = 0; s < samples; s++)
#pragma unroll 1
        for (int j = at.t; j <= gram_tile<T, M>::Y; j += T) {
            real *v = tile + s * gram_tile<T, M>::PITCH + j;
            *v = times_power_of_2(*v, -at.exponent);
        }
    __syncwarp();
}

/* The sums of right-hand side c, in the registers of the team: A and b of the first one, b of another. */
template <int T, int M, bool FIRST>
__device__ static inline void gram_stream(const smallsym_job &job, const smallsym_gram &g,
                                          const gram_place &at, int64_t c, real (&a)[M][T * M],
                                          real (&b)[M]) {
    typedef gram_tile<T, M> tile;
    gram_clear<T, M, FIRST>(a, b);
    gram_copy<T, M>(job, g, at, at.tile, 0, c);
    int side = 0;
    for (int64_t first = 0; first < g.samples; first += tile::SAMPLES) {
        const int64_t next = first + tile::SAMPLES;
        real *now = at.tile + side * tile::BUFFER;
        shoal_copy_async_wait_all();
        __syncwarp(); /* also: nobody reads the other tile any more */
        side = 1 - side;
        if (next < g.samples) gram_copy<T, M>(job, g, at, at.tile + side * tile::BUFFER, next, c);
        const int samples = next < g.samples ? (int)tile::SAMPLES : (int)(g.samples - first);
        if (at.scaled) gram_scale<T, M>(at, now, samples);
        for (int s = 0; s < samples; s++)
            gram_add<T, M, FIRST>(a, b, now + s * tile::PITCH, now[s * tile::PITCH + tile::Y],
                                  at.t);
        if (next % GRAM_BLOCK == 0 || next >= g.samples)
            gram_fold<T, M, FIRST>(a, b, at.kept, next <= GRAM_BLOCK);
    }
    __syncwarp(); /* before the tiles are written again */
    gram_mean<T, M, FIRST>(a, b, at.kept, g.samples);
}

/* ---- range ------------------------------------------------------------------------------------- */

enum { GRAM_A_OFF = 1, GRAM_B_OFF = 2 }; /* may have lost terms; the same for all of a team */

template <int T, int M, bool FIRST>
__device__ static inline int gram_look(const real (&a)[M][T * M], const real (&b)[M], int lane) {
    real a_most = 0, b_most = 0, a_bad = 0, b_bad = 0;
    UNROLLED(r, M) {
        b_most = real_max(real_abs(b[r]), b_most);
        b_bad = real_fma(b[r], 0, b_bad);
#pragma unroll
        for (int j = 0; FIRST && j < (r + 1) * T; j++) {
            a_most = real_max(real_abs(a[r][j]), a_most);
            a_bad = real_fma(a[r][j], 0, a_bad);
        }
    }
    a_most = team_max<T>(a_most), b_most = team_max<T>(b_most);
    const bool a_off = team_any<T>(a_bad != 0, lane) || gram_out_of_range(a_most);
    const bool b_off = team_any<T>(b_bad != 0, lane) || gram_out_of_range(b_most);
    return (FIRST && a_off ? GRAM_A_OFF : 0) | (b_off ? GRAM_B_OFF : 0);
}

__device__ static inline real larger_if_finite(real v, real most) {
    const real size = real_abs(v);
    return size > most && size - size == 0 ? size : most;
}

/* The exponent of a system for which gram_look() returned `off`; 0 if it would gain nothing. All threads
 * of the warp call. */
template <int T>
__device__ static inline int gram_find_exponent(const smallsym_job &job, const smallsym_gram &g,
                                                const gram_place &at, int off) {
    real psi_most = 0, y_most = 0;
    const real *psi = (const real *)g.psi + at.k * g.psi_system;
    const real *y = (const real *)g.y + at.k * g.y_system * job.nrhs;
    if (at.mine && off) {
#pragma unroll 1
        for (int64_t e = at.t; e < g.samples * job.n; e += T)
            psi_most = larger_if_finite(psi[e * g.psi_step], psi_most);
#pragma unroll 1
        for (int64_t m = at.t; m < g.samples; m += T)
#pragma unroll 1
            for (int64_t c = 0; c < job.nrhs; c++)
                y_most = larger_if_finite(y[m * g.y_step * job.nrhs + c], y_most);
    }
    psi_most = team_max<T>(psi_most), y_most = team_max<T>(y_most);
    /* y of zeros has a b of zeros: nothing was lost */
    return off & GRAM_A_OFF || y_most > 0 ? gram_exponent(psi_most, y_most) : 0;
}

/* Whether the warp is to form its systems again, scaled, given what gram_look() returned. */
template <int T>
__device__ static inline bool gram_again(const smallsym_job &job, const smallsym_gram &g,
                                         gram_place &at, int off) {
    if (at.scaled || !__any_sync(ALL_LANES, at.mine && off)) return false;
    at.exponent = gram_find_exponent<T>(job, g, at, off);
    at.scaled = __any_sync(ALL_LANES, at.exponent != 0);
    return at.scaled;
}

/* ---- ldlt -------------------------------------------------------------------------------------- */

/* From the registers of a team to the stage of its system. */
template <int T, int M>
__device__ static inline void team_store(const real (&a)[M][T * M], real *staged, int t) {
    UNROLLED(r, M) {
        real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) row[j] = a[r][j];
    }
}

/* Rows from n on become those of a unit matrix, and A and b are scaled to near 1. Says whether they
 * hold a number that is not finite. */
template <int T, int M>
__device__ static inline bool gram_prepare(real (&a)[M][T * M], real (&z)[M], int t, int n,
                                           int lane, int &e_a, int &e_b, bool &lost) {
    real a_most = 0, b_most = 0, bad = 0;
    const int last = (M - 1) * T + t;
    UNROLLED(r, M) {
        b_most = real_max(real_abs(z[r]), b_most);
        bad = real_fma(z[r], 0, bad);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) {
            a_most = real_max(real_abs(a[r][j]), a_most);
            bad = real_fma(a[r][j], 0, bad);
        }
    }
    a_most = team_max<T>(a_most), lost = false;
    e_a = exponent_far_from_1(a_most);
    e_b = exponent_far_from_1(team_max<T>(b_most));
    if (__any_sync(ALL_LANES, e_a != 0 || e_b != 0)) {
        UNROLLED(r, M) {
#pragma unroll
            for (int q = 0; q < T; q++)
                lost |= e_a && q == t && r * T + t < n &&
                        smallsym_is_wide(real_abs(a[r][r * T + q]), a_most, WIDE_DIAGONAL);
        }
        lost = team_any<T>(lost, lane);
        UNROLLED(r, M) {
            z[r] = times_power_of_2(z[r], -e_b);
#pragma unroll
            for (int j = 0; j < (r + 1) * T; j++) a[r][j] = times_power_of_2(a[r][j], -e_a);
        }
    }
    if (last >= n) { UNROLLED(j, T * M) a[M - 1][j] = j == last; }
    return team_any<T>(bad != 0, lane);
}

/* The look at the condition number (condition.h), by one solve, or two. */
template <int T, int M>
__device__ static inline void gram_look_at(const smallsym_job &job, outcome &o,
                                           const real (&a)[M][T * M], const real (&inverse)[M],
                                           const real *staged, real *ones, real norm, int t,
                                           int n) {
    diagonal_scale<T, M> s = { staged, ones, t, n, false };
    real z[M], growth = 0;
    const bool proved = s.proved(inverse, job.cond) || o.status < 0;
    bool again = job.where.rcond || !proved;
    if (!__any_sync(ALL_LANES, again)) return;
    s.look();
    norm = s.norm(norm);
    UNROLLED(r, M) z[r] = 0;
#pragma unroll 1
    for (int step = 0; step < 2 && __any_sync(ALL_LANES, again); step++) {
        ldlt_forward<T, M>(a, z, t, n, step == 0, [&](int r) { return s.one(r); });
        ldlt_backward<T, M>(a, inverse, z, t);
        const real size = s.size(z);
        if (again && !(size <= growth)) growth = size;
        again = again && !proved && smallsym_look_again(norm, growth, job.cond);
        s.turn(z, size);
    }
    add_look(job, o, norm, growth, proved);
}

/* x from A and b in registers. The stage and the panel lie where the tiles and the sums of blocks
 * were. */
template <int T, int M>
__device__ static inline void gram_solve(const smallsym_job &job, const gram_place &at,
                                         real (&a)[M][T * M], real (&z)[M], real *shared) {
    typedef stage<T, M> stage;
    const int lane = threadIdx.x, t = lane % T, n = (int)job.n;
    const bool judged = smallsym_judged(&job);
    real *staged = shared + lane / T * stage::NUMBERS;
    real *panel = shared + stage::SYSTEMS * stage::NUMBERS + lane / T * stage::PANEL;
    real kept[M], inverse[M], low, high;
    int e_a, e_b;
    bool lost;
    const bool input = gram_prepare<T, M>(a, z, t, n, lane, e_a, e_b, lost);
    __syncwarp(); /* the sums of blocks are not needed any more */
    if (judged) team_store<T, M>(a, staged, t);
    UNROLLED(r, M) kept[r] = z[r];
    outcome o = outcome_of(job);
    if (lost) o.look = 0; /* flagged (wide.h) */
    ldlt_factor<T, M>(a, z, inverse, low, high, panel, t, n);
    look_at_pivots(o, low, high, n);
    ldlt_backward<T, M>(a, inverse, z, t);
    if (judged) {
        __syncwarp();
        real norm;
        if (__any_sync(ALL_LANES, e_b != e_a)) { UNROLLED(r, M) z[r] = as_stored(z[r], e_b - e_a); }
        o.residual = team_residual<T, M>(staged, z, kept, panel, t, n, norm);
        if (job.look) gram_look_at<T, M>(job, o, a, inverse, staged, panel + T * M, norm, t, n);
    }
    real bad = 0;
    UNROLLED(r, M) {
        z[r] = times_power_of_2(z[r], e_b - e_a);
        bad = real_fma(z[r], 0, bad);
    }
    const bool failed = team_any<T>(bad != 0, lane);
    o.status = status_of(job, o.status, failed, input, o.residual, o.look);
    if (o.status < 0) o.residual = NAN;
    real *x = (real *)job.x;
#pragma unroll
    for (int r = 0; r < M; r++)
        if (at.mine && (r < M - 1 || r * T + t < n))
            x[rhs_at(job, at.k, r * T + t, 0)] = o.status < 0 ? real_nan() : z[r];
    settle(job, at.k, o, at.mine && t == 0);
}

/* ---- the kernel -------------------------------------------------------------------------------- */

/* A, of the first right-hand side, and b to memory: b lies where those of the job do, A is packed. */
template <int T, int M, bool FIRST>
__device__ static inline void gram_store(const smallsym_job &job, const gram_place &at, int64_t c,
                                         const real (&a)[M][T * M], const real (&b)[M]) {
    real *A = (real *)job.A + at.k * job.a.system, *rhs = (real *)job.b;
    UNROLLED(r, M) {
        const int i = r * T + at.t;
        if (!at.mine || i >= (int)job.n) continue;
        rhs[rhs_at(job, at.k, i, c)] = b[r];
#pragma unroll
        for (int j = 0; FIRST && j < (r + 1) * T; j++)
            if (j <= i) A[shoal_lower_at(i, j)] = a[r][j];
    }
}

/* `solved`: one right-hand side, and x instead of A and b. */
template <int T, int M>
__global__ static void __launch_bounds__(WARP)
    gram_kernel(smallsym_job job, smallsym_gram g, int width, bool solved) {
    SHOAL_SHARED(real, shared);
    const int lane = threadIdx.x;
    gram_place at = gram_begin<T, M>(job, shared, width);
    real a[M][T * M], b[M];
    int off;
    do {
        gram_stream<T, M, true>(job, g, at, 0, a, b);
        off = gram_look<T, M, true>(a, b, lane);
        if (solved) continue;
        gram_store<T, M, true>(job, at, 0, a, b);
#pragma unroll 1
        for (int64_t c = 1; c < job.nrhs; c++) {
            gram_stream<T, M, false>(job, g, at, c, a, b);
            off |= gram_look<T, M, false>(a, b, lane);
            gram_store<T, M, false>(job, at, c, a, b);
        }
    } while (gram_again<T>(job, g, at, off));
    if constexpr (T * M <= FUSED_MAX) {
        if (solved) gram_solve<T, M>(job, at, a, b, shared);
    }
}

/* ---- launches ---------------------------------------------------------------------------------- */

/* Numbers of psi that may be copied at once. */
static int width_of(const smallsym_job *job, const smallsym_gram *g) {
    int width = g->psi_step == 1 ? VECTOR : 1;
    while (width > 1 &&
           (job->n % width || g->psi_system % width || (uintptr_t)g->psi % (width * sizeof(real))))
        width /= 2;
    return width;
}

/* Blocks that are warps, over all systems of the job. */
template <int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, const smallsym_job *job,
                           const smallsym_gram *g, bool solved) {
    const int64_t systems = WARP / T;
    const int stream = gram_tile<T, M>::OF_WARP, solve = stage<T, M>::WARP_KEPT;
    const size_t shared = (size_t)(stream > solve ? stream : solve) * sizeof(real);
    shoal_allow_shared(plan->head.ctx, gram_kernel<T, M>);
    SHOAL_LAUNCH((gram_kernel<T, M>), dim3((unsigned)((job->count + systems - 1) / systems)),
                 dim3(WARP), shared, plan->head.ctx->stream, *job, *g, width_of(job, g), solved);
    return shoal_launched(plan->head.ctx, "gram");
}

/* ---- for batch.cu ------------------------------------------------------------------------------ */

/* Nothing needs A or b after that. */
extern "C" bool R(smallsym_form_solves)(const shoal_smallsym *plan, const smallsym_job *job) {
    return plan->first.flags & SMALLSYM_CAN_FORM && job->n <= FUSED_MAX && job->nrhs == 1 &&
           job->rescue_row < 0 && !job->refine && !job->estimate;
}

extern "C" shoal_status R(smallsym_form)(shoal_smallsym *plan, const smallsym_job *job,
                                         const smallsym_gram *gram, bool solved) {
    return by_fine_size<0>(job->n,
                           [&](auto size) { return launch(size, plan, job, gram, solved); });
}
