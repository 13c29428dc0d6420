/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.cu - eigenpairs by Householder tridiagonalisation and divide and conquer on the GPU, and
 * A x = b from them: eigdc.c states the equations; householder.cuh and conquer.cuh do the work.
 *
 * A passes through shared memory to registers and becomes U and the reflectors; O then takes its
 * place on chip, and A is read once more at the end for the residual. x = Q O W^-1 Ot Qt b
 * costs two products with O beside those with Q. As the rescue of "auto" a few blocks walk through the
 * list of systems that failed.
 *
 * V = Q O: each thread takes its columns of O to registers, applies the reflectors there and puts
 * them back, from where rows of V are written out. The residual |A v - w v| / ((|A| + |w|) |v|) of a
 * pair needs A again, now one row per thread in registers, with vectors in shared memory: n^3
 * multiply-adds, if it is asked for.
 */
#include "smallsym/conquer.cuh"
#include "smallsym/householder.cuh"
#include <atomic>

/* Two kinds of team. T threads with M rows each reduce A to U: few threads with several rows share
 * less. W threads, a whole warp if n is large enough, then take U apart, R slots each, and go from
 * one of the systems to the next: W / T of them share the memory of one O. */
template <int T_, int M_> struct teams {
    enum {
        T = T_,
        M = M_,
        N = T * M,
        W = N < WARP ? N : WARP,
        R = N / W,
        SINGLE = sizeof(real) == 4,
        /* warps of a block, which work in step (conquer.cuh); and of a multiprocessor: with one slot per
         * thread as registers allow, else as shared memory */
        ONE_SLOT_WARPS = N < WARP ? 8 : 4,
        WARPS = R == 1   ? (int)ONE_SLOT_WARPS
                : SINGLE ? 2
                         : 3,
        ONE_SLOT = !SINGLE    ? 8
                   : N < WARP ? 24
                              : 16,
        RESIDENT = R > 1 ? 6 : (int)ONE_SLOT,
        SYSTEMS = WARP / T, /* of a warp */
        AT_ONCE = WARP / W,
        REDUCED = bank_step(reflectors<T, M>::NUMBERS, T), /* numbers of a system       */
        CONQUEST = bank_step(conquest<W, R>::NUMBERS, W),  /* of one that is taken apart */
        ALONE = SYSTEMS * REDUCED + AT_ONCE * CONQUEST,    /* numbers of a warp          */
        NUMBERS = ALONE + AT_ONCE * stage<W, R>::NUMBERS   /* with stages                */
    };
    typedef reflectors<T, M> reflectors_type;
    typedef conquest<W, R> conquest_type;
};

/* Where system s of a warp has its U and reflectors, and the O of the thread's team in a round. */
template <class K>
__device__ static inline typename K::reflectors_type reflectors_of(real *memory, int s) {
    return { memory + s * K::REDUCED };
}
template <class K>
__device__ static inline typename K::conquest_type conquest_of(real *memory, int s, int lane) {
    const typename K::reflectors_type q = reflectors_of<K>(memory, s);
    return { memory + K::SYSTEMS * K::REDUCED + lane / K::W * K::CONQUEST, q.d(), q.c() };
}

/* U and the reflectors of the matrix that is staged in their place. Returns the exponent of A's
 * scale. Right-hand sides follow later, all in the same way. */
template <int T, int M>
__device__ static inline int reduce_staged(const reflectors<T, M> &q, int t, int n) {
    real a[M][T * M], none[M] = {}, largest = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++)
            largest = real_max(real_abs(q.memory[stage<T, M>::row(i) + j]), largest);
    const int e = exponent_far_from_1(team_max<T>(largest));
    stage_scale<T, M>(q.memory, t, n, e);
    team_load_rows<T, M>(a, q.memory, t);
    __syncwarp();
    tridiagonalise<T, M>(a, none, q, t, n);
    return e;
}

/* Eigenvalues are NaN if U is not finite: nothing that follows would show it. */
template <class K>
__device__ static inline void diagonalise_finite(const typename K::conquest_type &o, int variant,
                                                 int lane, int n) {
    enum { W = K::W, R = K::R };
    const int t = lane % W;
    real bad = 0;
#pragma unroll 1
    for (int i = t; i < n; i += W)
        bad = real_fma(o.d[i], 0, real_fma(i + 1 < n ? o.c[i] : 0, 0, bad));
    const bool finite = !team_any<W>(bad != 0, lane);
#pragma unroll 1
    for (int i = t; i < n && !finite; i += W) o.d[i] = o.c[i] = 0;
    __syncwarp();
    diagonalise<W, R>(o, variant, lane, n);
#pragma unroll 1
    for (int i = t; i < n && !finite; i += W) o.d[i] = real_nan();
    __syncwarp();
}

__device__ static inline bool discarded(real w, real most, double cond) {
    return w == 0 || (double)real_abs(w) < (double)most / cond;
}

/* The outcome by the eigenvalues, discarded ones counted as zeros; `most` is the largest size. */
template <int T, int M>
__device__ static inline void look_at_values(const smallsym_job &job, outcome &o, const real *d,
                                             real &most, int lane) {
    const int t = lane % T, n = (int)job.n;
    most = real_max(real_abs(d[0]), real_abs(d[n - 1]));
    bool positive[M], negative[M];
    real least = most;
    UNROLLED(r, M) {
        const int e = r * T + t;
        const real w = e < n ? d[e] : 0;
        const bool kept = e < n && !discarded(w, most, job.cond);
        positive[r] = kept && w > 0, negative[r] = kept && w < 0;
        if (kept) least = real_min(real_abs(w), least);
    }
    least = -team_max<T>(-least);
    o.positive = __popcll(team_mask<T, M>(positive, lane));
    o.negative = __popcll(team_mask<T, M>(negative, lane));
    o.rank = o.positive + o.negative, o.zero = n - o.rank;
    o.rcond = most > 0 ? (float)(least / most) : 0;
    o.status = o.zero > 0 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
}

/* ---- eigenpairs --------------------------------------------------------------------------------- */

/* A(i,j), any i and j, of system k, from wherever it lies. */
__device__ static inline real entry_of(const smallsym_job &job, const smallsym_parts &at, int64_t k,
                                       int i, int j) {
    const int row = i > j ? i : j, column = i > j ? j : i;
    if (job.A) return ((const real *)job.A)[k * job.a.system + smallsym_at(&job.a, row, column)];
    if (row == column) return ((const real *)at.d)[k * job.b_system + row * job.b_row];
    return row > column + 1 ? 0 : ((const real *)at.e)[k * at.e_system + column * job.b_row];
}

/* U itself as it is given; returns the exponent of its scale. */
template <int T, int M>
__device__ static inline int load_diagonals(const smallsym_job &job, const smallsym_parts &from,
                                            const reflectors<T, M> &w, int64_t k, bool mine,
                                            int t) {
    const int n = (int)job.n;
    real largest = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T) {
        w.d()[i] = mine ? entry_of(job, from, k, i, i) : 1;
        w.c()[i] = mine && i + 1 < n ? entry_of(job, from, k, i + 1, i) : 0;
        largest = real_max(real_max(real_abs(w.d()[i]), real_abs(w.c()[i])), largest);
    }
    const int e = exponent_far_from_1(team_max<T>(largest));
#pragma unroll 1
    for (int i = t; i < n && e; i += T) {
        w.d()[i] = times_power_of_2(w.d()[i], -e);
        w.c()[i] = times_power_of_2(w.c()[i], -e);
    }
    return e;
}

/* O := Q O. */
template <int W, int R, class REFLECTORS>
__device__ static inline void form_vectors(const conquest<W, R> &o, const REFLECTORS &q, int t,
                                           int n) {
    real v[R][W * R];
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < W * R; i += VECTOR) {
            const real_vector piece = load_vector(&o.o(i, r * W + t));
            UNROLLED(e, VECTOR) v[r][i + e] = piece.e[e];
        }
    multiply_columns_by_q(q, v, n);
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int i = 0; i < W * R; i += VECTOR) {
            real_vector piece;
            UNROLLED(e, VECTOR) piece.e[e] = v[r][i + e];
            *(real_vector *)&o.o(i, r * W + t) = piece;
        }
    __syncwarp();
}

/* Row i of A, both sides of the diagonal, zeros beyond n; of a system of size 0 zeros alone. */
template <int N>
__device__ static inline void load_row(const smallsym_job &job, const smallsym_parts &at, int64_t k,
                                       int i, int n, real (&row)[N]) {
    if (!job.A) {
        const real left = n > i && i > 0 ? entry_of(job, at, k, i, i - 1) : 0,
                   middle = n > i ? entry_of(job, at, k, i, i) : 0,
                   right = n > i + 1 ? entry_of(job, at, k, i, i + 1) : 0;
#pragma unroll
        for (int j = 0; j < N; j++)
            row[j] = j == i ? middle : j + 1 == i ? left : j == i + 1 ? right : 0;
        return;
    }
    /* from A(i,j) to A(i,j+1): along the row before the diagonal, down column i behind it */
    const smallsym_shape &a = job.a;
    int64_t before = a.packed && a.upper ? (a.n - 1) * a.column : a.column;
    int64_t behind = a.packed ? a.column : a.row;
    const int64_t more_before = a.packed && a.upper ? -a.column : 0,
                  more_behind = a.packed && !a.upper ? a.column : 0;
    const real *from = (const real *)job.A + k * a.system + (i < n ? smallsym_at(&a, i, 0) : 0);
    UNROLLED(j, N) {
        row[j] = i < n && j < n ? *from : 0;
        from += j < i ? before : behind;
        before += more_before, behind += more_behind;
    }
}

/* The largest residual of the system's pairs; those of A 2^-e and its eigenvalues. */
template <int T, int M>
__device__ static inline float residual_of_pairs(const smallsym_job &job, const smallsym_parts &at,
                                                 const conquest<T, M> &w, int64_t k, bool mine,
                                                 int e, int t) {
    const int n = (int)job.n;
    real a[M][T * M], norm = 0;
    UNROLLED(r, M) {
        real sum = 0;
        load_row(job, at, k, r * T + t, mine ? n : 0, a[r]);
        UNROLLED(j, T * M) {
            if (e) a[r][j] = times_power_of_2(a[r][j], -e);
            sum += real_abs(a[r][j]);
        }
        norm = real_max(sum, norm);
    }
    norm = team_max<T>(norm);
    real worst = 0, bad = 0;
    for (int m = 0; m < n; m++) {
        const real value = w.d[m];
        real product[M], size = 0, rest = 0;
        UNROLLED(r, M) product[r] = 0;
#pragma unroll
        for (int j0 = 0; j0 < T * M; j0 += VECTOR) {
            const real_vector v = load_vector(&w.o(j0, m)); /* beyond n it is zero */
            UNROLLED(q, VECTOR) {
                size = real_max(real_abs(v.e[q]), size);
                UNROLLED(r, M) product[r] = real_fma(a[r][j0 + q], v.e[q], product[r]);
            }
        }
        UNROLLED(r, M) {
            if (r * T + t >= n) continue;
            const real left = real_fma(-value, w.o(r * T + t, m), product[r]);
            rest = real_max(real_abs(left), rest), bad = real_fma(left, 0, bad);
        }
        if (rest > 0) worst = real_max(rest / ((norm + real_abs(value)) * size), worst);
    }
    return (float)(team_max<T>(worst) + team_sum<T>(bad));
}

template <int T, int M>
__device__ static inline bool matrix_is_bad(const smallsym_job &job, const smallsym_parts &at,
                                            int64_t k, int t) {
    const int n = (int)job.n;
    real sum = 0;
#pragma unroll 1
    for (int i = t; i < n; i += T)
#pragma unroll 1
        for (int j = 0; j <= i; j++) sum = real_fma(entry_of(job, at, k, i, j), 0, sum);
    return sum != 0;
}

/* The pairs of a system whose O and W are known, by the W threads that took it apart. */
template <class K>
__device__ static inline void write_pairs(const smallsym_job &job, const smallsym_parts &to,
                                          const typename K::conquest_type &w,
                                          const typename K::reflectors_type &q, int e_a, int64_t k,
                                          bool mine, outcome &o, int lane) {
    enum { W = K::W, R = K::R };
    const int t = lane % W, n = (int)job.n;
    const bool judged = job.where.residual != NULL;
    if (job.A && (to.q || judged)) form_vectors(w, q, t, n);
    if (judged) o.residual = residual_of_pairs(job, to, w, k, mine, e_a, t);
    __syncwarp(); /* before the eigenvalues, which all have read, are scaled */
    real bad = 0;
#pragma unroll 1
    for (int i = t; i < n; i += W) {
        w.d[i] = times_power_of_2(w.d[i], e_a);
        bad = real_fma(w.d[i], 0, bad);
    }
    const bool failed = team_any<W>(bad != 0, lane);
    const bool input = team_any<W>(failed && mine && matrix_is_bad<W, R>(job, to, k, t), lane);
    o.status = status_of(job, SHOAL_SYSTEM_OK, failed, input, o.residual);
    if (o.status < 0) o.residual = NAN;
    __syncwarp();
#pragma unroll 1
    for (int i = t; i < n && mine; i += W)
        ((real *)to.w)[k * job.b_system + i * job.b_row] = o.status < 0 ? real_nan() : w.d[i];
    for (int i = 0; i < n && mine && to.q; i++)
        for (int m = t; m < n; m += W)
            ((real *)to.q)[k * to.q_system + ((int64_t)i * n + m) * job.b_row] =
                o.status < 0 ? real_nan() : w.o(i, m);
}

/* ---- solving ------------------------------------------------------------------------------------ */

/* O must last for the next right-hand side: A cannot be staged over it. Pairs have none. */
SHOAL_HD static inline bool keeps_stage(const smallsym_job &job, const smallsym_parts &to) {
    return !to.w && job.nrhs > 1 && smallsym_judged(&job);
}

/* v := O W^-1 Ot v; 1 / w is 0 for a discarded w. v passes through `shown`. */
template <int W, int R>
__device__ static inline void solve_diagonal(const smallsym_job &job, const conquest<W, R> &o,
                                             real (&v)[R], real *shown, real most, int t) {
    const int n = (int)job.n;
    real sum[R];
    UNROLLED(r, R) shown[r * W + t] = v[r], sum[r] = 0;
    __syncwarp();
    for (int i = 0; i < n; i += VECTOR) { /* beyond n both are zero */
        const real_vector x = load_vector(shown + i);
        UNROLLED(r, R) {
            const real_vector column = load_vector(&o.o(i, r * W + t));
            UNROLLED(q, VECTOR) sum[r] = real_fma(column.e[q], x.e[q], sum[r]);
        }
    }
    __syncwarp();
    UNROLLED(r, R) {
        const int e = r * W + t;
        const real value = e < n ? o.d[e] : 1;
        shown[e] = discarded(value, most, job.cond) ? 0 : sum[r] / value;
        v[r] = 0;
    }
    __syncwarp();
    for (int j = 0; j < n; j++) UNROLLED(r, R) v[r] = real_fma(o.o(r * W + t, j), shown[j], v[r]);
    __syncwarp();
}

/* x of a system whose O and W are known, by the W threads that took it apart. */
template <class K>
__device__ static inline void solve_reduced(const smallsym_job &job, real *memory,
                                            const typename K::conquest_type &o,
                                            const typename K::reflectors_type &q, int e_a,
                                            const smallsym_redo &task, bool mine, int width,
                                            real most, outcome &found, int lane) {
    enum { W = K::W, R = K::R };
    const int t = lane % W, n = (int)job.n;
    const int64_t k = task.system, from = task.column;
    const bool keeps = keeps_stage(job, smallsym_parts{});
    real *staged = keeps ? memory + K::ALONE + lane / W * stage<W, R>::NUMBERS : o.memory;
    real v[R], kept[R];
    const int32_t factored = found.zero > 0 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
    found.status = task.status, found.residual = task.residual;
#pragma unroll 1
    for (int64_t c = 0; c < job.nrhs; c++) {
        const int e_b = team_rhs<W, R>(job, kept, k, c, mine, t, n);
        UNROLLED(r, R) v[r] = kept[r];
        multiply_by_qt<W, R>(q, v, t, n);
        solve_diagonal<W, R>(job, o, v, q.shown(), most, t);
        multiply_by_q<W, R>(q, v, t, n);
#pragma unroll
        for (int r = 0; r < R; r++)
            if (r * W + t >= n) v[r] = 0;
        float residual = 0;
        real norm;
        if (smallsym_judged(&job)) {
            if (c == 0 || !keeps) { /* over O, or on its own stage */
                stage_matrix<W, R, SHORT>(job, staged, mine ? k : job.count, t, width);
                shoal_copy_async_wait_all();
                __syncwarp();
                stage_scale<W, R>(staged, t, n, e_a);
            }
            UNROLLED(r, R) v[r] = as_stored(v[r], e_b - e_a);
            residual = team_residual<W, R>(staged, v, kept, q.shown(), t, n, norm);
        }
        team_answer<W, R>(job, k, c, v, e_b - e_a, factored, residual, mine && c >= from, lane,
                          found);
    }
}

/* W threads take a system apart whose U is known, for its pairs or to solve. */
template <class K>
__device__ static inline void take_apart(const smallsym_job &job, const smallsym_parts &to,
                                         real *memory, int s, int e_a, const smallsym_redo &task,
                                         bool mine, int width, int variant, int lane) {
    enum { W = K::W, R = K::R };
    const typename K::reflectors_type q = reflectors_of<K>(memory, s);
    const typename K::conquest_type o = conquest_of<K>(memory, s, lane);
    diagonalise_finite<K>(o, variant, lane, (int)job.n);
    outcome found = outcome_of(job);
    real most;
    look_at_values<W, R>(job, found, o.d, most, lane);
    if (to.w)
        write_pairs<K>(job, to, o, q, e_a, task.system, mine, found, lane);
    else
        solve_reduced<K>(job, memory, o, q, e_a, task, mine, width, most, found, lane);
    settle(job, task.system, found, mine && lane % W == 0);
    __syncwarp(); /* before O is the next system's */
}

/* The systems at places first .. first + per - 1, one after another within each team. */
template <class K>
__device__ static inline void take_systems(const smallsym_job &job, const smallsym_parts &to,
                                           real *memory, int64_t first, int per, int64_t all,
                                           int width, int variant, int lane) {
    enum { T = K::T, M = K::M };
    const int t = lane % T, n = (int)job.n, own = lane / T;
    const bool there = own < per && first + own < all;
    const int64_t k = task_at(job, there ? first + own : 0).system;
    const typename K::reflectors_type q = reflectors_of<K>(memory, own);
    int e;
    if (job.A) {
        stage_matrix<T, M, SHORT>(job, q.memory, there ? k : job.count, t, width);
        shoal_copy_async_wait_all();
        __syncwarp();
        e = reduce_staged<T, M>(q, t, n);
    } else {
        e = load_diagonals(job, to, q, k, there, t);
    }
    __syncwarp();
#pragma unroll 1
    for (int round = 0; round * K::AT_ONCE < per; round++) {
        const int s = round * K::AT_ONCE + lane / K::W;
        const bool mine = first + s < all;
        take_apart<K>(job, to, memory, s, __shfl_sync(ALL_LANES, e, s * T),
                      task_at(job, mine ? first + s : 0), mine, width, variant, lane);
    }
}

template <class K>
__global__ static void __launch_bounds__(K::WARPS *WARP, K::RESIDENT / K::WARPS)
    eigdc_kernel(smallsym_job job, smallsym_parts to, int width, int variant) {
    SHOAL_SHARED(real, shared);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    real *memory = shared + warp * (keeps_stage(job, to) ? (int)K::NUMBERS : (int)K::ALONE);
    const int64_t all = task_count(job);
    if (job.next && blockIdx.x == 0 && threadIdx.x < sizeof(smallsym_totals) / sizeof(unsigned))
        ((unsigned *)job.next)[threadIdx.x] = 0;
    /* a short list is spread thin: what counts is how long one warp takes */
    const bool thin = job.tasks && all <= 4 * (int64_t)gridDim.x * warps * K::AT_ONCE;
    const int per = thin ? (int)K::AT_ONCE : (int)K::SYSTEMS;
    const int64_t block = (int64_t)warps * per;
#pragma unroll 1
    for (int64_t first = blockIdx.x * block; first < all; first += gridDim.x * block)
        take_systems<K>(job, to, memory, first + warp * per, per, all, width, variant, lane);
}

static shoal_status no_room(shoal_smallsym *plan, const smallsym_job *job) {
    return shoal_fail(plan->head.ctx, SHOAL_E_NOMEM,
                      "eigdc: this GPU's shared memory has no room for a system of n = %lld",
                      (long long)job->n);
}

template <int T, int M>
static shoal_status launch(team_size<T, M>, shoal_smallsym *plan, int variant,
                           const smallsym_job *job, const smallsym_parts *to) {
    typedef teams<T, M> K;
    const size_t bytes = (keeps_stage(*job, *to) ? (int)K::NUMBERS : (int)K::ALONE) * sizeof(real);
    const int warps = warps_of_block(plan, K::WARPS, bytes);
    if (warps == 0) return no_room(plan, job);
    const int64_t systems = warps * K::SYSTEMS;
    int64_t blocks = (job->count + systems - 1) / systems;
    const int64_t few =
        (int64_t)((K::RESIDENT + warps - 1) / warps) * plan->head.ctx->multiprocessors;
    if (job->tasks && blocks > few) blocks = few;
    static std::atomic<unsigned long long> allowed; /* devices; asking again takes microseconds */
    const unsigned long long device = 1ull << plan->head.ctx->device % 64;
    if (plan->head.ctx->device >= 64 || !(allowed & device)) {
        shoal_allow_shared(plan->head.ctx, eigdc_kernel<K>, SIZE_MAX);
        allowed |= device;
    }
    SHOAL_LAUNCH(eigdc_kernel<K>, dim3((unsigned)blocks), dim3(warps * WARP), warps * bytes,
                 plan->head.ctx->stream, *job, *to, job->A ? stage_width(job) : 0, variant);
    return shoal_launched(plan->head.ctx, "eigdc");
}

static shoal_status eigdc_pairs(shoal_smallsym *plan, int variant, const smallsym_job *job,
                                const smallsym_parts *to) {
    return by_size(job->n, [&](auto size) { return launch(size, plan, variant, job, to); });
}

static shoal_status eigdc_run(shoal_smallsym *plan, int variant, const smallsym_job *job) {
    const smallsym_parts none = {};
    return eigdc_pairs(plan, variant, job, &none);
}

extern "C" const smallsym_cuda_method R(smallsym_eigdc) = { eigdc_run, eigdc_pairs };
