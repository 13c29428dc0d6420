/* SPDX-License-Identifier: Apache-2.0
 *
 * hybrid.cu - elimination in registers, then parallel cyclic reduction: the fast batch method.
 *
 * A system is given to T threads, T a power of two, M rows each, M odd and at most 9. Every
 * thread reduces its rows, its chunk, to one. For T <= 32 PCR solves the T reduced rows by
 * shuffles; above, one warp takes them from shared memory, K = T / 32 per lane, and reduces once
 * more before its PCR. Every thread then has its M unknowns. Rows past n are those of an
 * identity, so any n will do.
 *
 * A block takes `each` systems and brings their rows to shared memory first, in the order in
 * which they lie in memory (where systems follow each other, 16 bytes at a time from whatever
 * address they start at); since M is odd, threads then read their rows without bank conflicts. The
 * answer is judged while the rows are at hand and leaves the same way. Bytes moved: the fewest
 * possible, 5 numbers per row, for every layout. About 40 operations per row and 30 log2(T) / M more
 * for the reduced system.
 *
 * A chunk. Let y be its last unknown and z the last unknown of the chunk before it. Thomas's forward and
 * backward sweep over the M - 1 interior rows, with z and y as right-hand sides beside b, gives
 *     x_r = p_r + q_r z + s_r y,   r = 0 .. M-2.
 * The chunk's last row  dl x_{M-2} + d y + du x'_0 = b  contains the first unknown of the next chunk,
 * x'_0 = p'_0 + q'_0 y + s'_0 y'. What is left has last unknowns only, one reduced row per chunk,
 *     (dl q_{M-2}) z + (d + dl s_{M-2} + du q'_0) y + (du s'_0) y' = b - dl p_{M-2} - du p'_0,
 * again tridiagonal. For M = 1 there is no interior: x'_0 is y' itself. M - 1 divisions and about
 * 12 M other operations, all in registers.
 *
 * The first pass of "auto" accepts an answer only where the condition number (condition.h) is proved to be below the
 * limit. Every number of a right-hand side takes a bound with it: how large it gets at most, if that of each row
 * of A is at most its power of two (residual.h). What multiplies the numbers multiplies the bounds in absolute value;
 * the largest bound of an x is above |A^-1| of the scaled matrix. It is sharp for matrices that are diagonally
 * dominant with entries of fixed signs, and grows out of hand where elimination without pivoting is not safe.
 *
 * Systems of more than 2304 rows. One thread per chunk of 8 rows writes its reduced row to the workspace:
 * a system of n/8 rows, which is reduced again until a block can solve it. On the way back every thread
 * eliminates its chunk again and fills in the unknowns. About 16 numbers per row moved, some of them
 * from the caches; workspace 1.7 numbers per row.
 */
#include "tridiag/device.cuh"
#include "tridiag/pcr_step.cuh"

enum { MAX_ROWS = 9, BLOCK = 128, LONGEST = 256 * MAX_ROWS };
enum { VECTOR = 16 / sizeof(real) };          /* numbers in 16 bytes */
enum { EXCHANGED = 7, EXCHANGED_BOUNDS = 2 }; /* numbers that a thread passes on if T > 32 */
__host__ __device__ constexpr unsigned exchanged(bool bounded) {
    return bounded ? EXCHANGED + EXCHANGED_BOUNDS : EXCHANGED;
}

/* Threads per block: long systems side by side in f32 need more, to read whole sectors. */
__host__ __device__ constexpr int most_threads(int k) {
    return k >= 4 && sizeof(real) == 4 ? 1024 : 512;
}

/* ---- one chunk ------------------------------------------------------------------------------- */

template <int M> struct chunk {
    real p[M], q[M], s[M]; /* x_r = p_r + q_r z + s_r y; entry M-1 is unused */
    equation last;         /* the chunk's last row                           */
    real first, end, most; /* bounds of p_0, p_{M-2} and any p_r             */
    real slope;            /* bound of |q_r| + |s_r|                         */
    real last_bound;       /* of the last row's right-hand side              */
};

/* rows(r, bound) gives equation r of the chunk, and the bound of its right-hand side. */
template <int M, bool BOUNDED = false, class F>
__device__ static inline void eliminate(chunk<M> &k, F rows) {
    real upper[M]; /* du'_r of Thomas */
    real product = 1, bound = 0;
    int32_t steepest = high_of(1), slope = steepest;
    k.first = k.end = k.most = 0;
#pragma unroll
    for (int r = 0; r < M - 1; r++) {
        const equation e = rows(r, bound);
        const real inverse = reciprocal(r ? real_fma(-e.dl, upper[r ? r - 1 : 0], e.d) : e.d);
        const real b = r ? real_fma(-e.dl, k.p[r ? r - 1 : 0], e.b) : e.b;
        upper[r] = e.du * inverse;
        k.p[r] = inverse == 0 ? real_nan() : b * inverse; /* a pivot out of range fails */
        k.q[r] = -e.dl * (r ? k.q[r ? r - 1 : 0] : (real)1) * inverse;
        if (BOUNDED) {
            const real b_most = r ? real_fma(real_abs(e.dl), k.end, bound) : bound;
            k.end = b_most * real_abs(inverse);
            k.first = real_fma(product, k.end, k.first), k.most += k.end;
            product *= real_abs(upper[r]), steepest = max(high_abs(upper[r]), steepest);
        }
    }
    if (BOUNDED && steepest > high_of(1)) { /* a p_r: those after it, times so many of upper each */
        const real by = from_high(steepest);
#pragma unroll 1
        for (int r = 0; r < M - 2; r++) k.most *= by;
    }
    if (M > 1) k.s[M > 1 ? M - 2 : 0] = -upper[M > 1 ? M - 2 : 0];
#pragma unroll
    for (int r = M - 3; r >= 0; r--) {
        k.p[r] = real_fma(-upper[r], k.p[r + 1], k.p[r]);
        k.q[r] = real_fma(-upper[r], k.q[r + 1], k.q[r]);
        k.s[r] = -upper[r] * k.s[r + 1];
        if (BOUNDED) slope = max(high_of(real_abs(k.q[r]) + real_abs(k.s[r])), slope);
    }
    if (BOUNDED && M > 1) {
        const int end = M > 1 ? M - 2 : 0;
        slope = max(high_of(real_abs(k.q[end]) + real_abs(k.s[end])), slope);
    }
    k.slope = from_high(slope);
    k.last = rows(M - 1, k.last_bound);
    if (M == 1) k.p[0] = 0, k.q[0] = 0, k.s[0] = 1;
}

/* The reduced row, not yet divided by its diagonal; p, q, s are those of the next chunk's first
 * row. */
template <int M>
__device__ static inline equation reduced_row(const chunk<M> &k, real p, real q, real s) {
    const int end = M > 1 ? M - 2 : 0;
    const equation &e = k.last;
    equation r;
    r.dl = M > 1 ? e.dl * k.q[end] : e.dl;
    r.d = real_fma(e.du, q, M > 1 ? real_fma(e.dl, k.s[end], e.d) : e.d);
    r.du = e.du * s;
    r.b = real_fma(-e.du, p, M > 1 ? real_fma(-e.dl, k.p[end], e.b) : e.b);
    return r;
}

/* The bound of its right-hand side, `first` being that of the next chunk's first row. */
template <int M> __device__ static inline real reduced_bound(const chunk<M> &k, real first) {
    return real_fma(real_abs(k.last.du), first, real_fma(real_abs(k.last.dl), k.end, k.last_bound));
}

/* x_r once z and y are known. */
template <int M> __device__ static inline real unknown(const chunk<M> &k, int r, real z, real y) {
    return r == M - 1 ? y : real_fma(k.s[r], y, real_fma(k.q[r], z, k.p[r]));
}

/* ---- a block: some systems in shared memory -------------------------------------------------- */

typedef struct shape {        /* how a block shares out its work                              */
    int team_bits, each_bits; /* log2 of the threads per system and of the systems per block      */
    int pitch;                /* numbers from one system to the next in shared memory         */
    int rows;                 /* numbers of one array there, whole vectors                    */
    bool bounded;             /* whether condition numbers are bounded                        */
    bool along;               /* systems follow each other in memory: rows are read in a line */
    bool vector;              /* ... and every array starts at a multiple of 16 bytes         */
    unsigned magic;           /* ceil(2^32 / n): i / n is the high word of i * magic, n > 1   */
} shape;

/* A block's share in shared memory. */
typedef struct tile {
    real *dl, *d, *du, *b; /* the rows; x takes the place of b             */
    real *exchange;        /* T > 32: exchanged() numbers per thread         */
    halves *facts;         /* T > 32: of each warp                           */
    int *x_state;          /* what becomes of each system's x              */
} tile;

/* Where number i of a line lies in shared memory: systems may be further apart there. */
__device__ static inline int spread(const shape &f, int n, int i) {
    return f.pitch == n ? i : i + (int)__umulhi((unsigned)i, f.magic) * (f.pitch - n);
}

/* Where a block's first number lies in the 16 bytes around it, in global and in shared memory. */
__device__ static inline int lead_of(const shape &f, int64_t at) {
    return f.vector ? (int)(at & (VECTOR - 1)) : 0;
}

/* A line of numbers is moved in three parts: to the first multiple of 16 bytes, then 16 bytes at a
 * time, then the rest. */
typedef struct line {
    int head, whole, total;
} line;

__device__ static inline line line_of(const shape &f, int lead, int total) {
    line l = { 0, 0, total };
    if (f.vector) {
        l.head = min(-lead & (VECTOR - 1), total);
        l.whole = l.head + (total - l.head) / VECTOR * VECTOR;
    }
    return l;
}

/* One array's line, from global to shared memory and back. Where lines are spread, n is a multiple
 * of VECTOR: there is no head. */
__device__ static inline void load_line(real *to, const real *from, const shape &f, int n,
                                        const line &l) {
#pragma unroll 3
    for (int i = l.head + threadIdx.x * VECTOR; i < l.whole; i += blockDim.x * VECTOR)
        shoal_copy_async((int4 *)(to + spread(f, n, i)), (const int4 *)(from + i));
    if ((int)threadIdx.x < l.head) shoal_copy_async(to + threadIdx.x, from + threadIdx.x);
#pragma unroll 1
    for (int i = l.whole + threadIdx.x; i < l.total; i += blockDim.x)
        shoal_copy_async(to + spread(f, n, i), from + i);
}

__device__ static inline void store_line(real *to, const real *from, const shape &f, int n,
                                         const line &l) {
#pragma unroll 3
    for (int i = l.head + threadIdx.x * VECTOR; i < l.whole; i += blockDim.x * VECTOR)
        *(int4 *)(to + i) = *(const int4 *)(from + spread(f, n, i));
    if ((int)threadIdx.x < l.head) to[threadIdx.x] = from[threadIdx.x];
#pragma unroll 1
    for (int i = l.whole + threadIdx.x; i < l.total; i += blockDim.x) to[i] = from[spread(f, n, i)];
}

__device__ static inline void load_tile(const tridiag_job &job, const shape &f, const tile &s,
                                        int64_t first, int systems) {
    const int n = (int)job.n;
    if (f.along) {
        const int64_t at = first * n;
        const int lead = lead_of(f, at);
        const line l = line_of(f, lead, systems * n);
        load_line(s.dl + lead, (const real *)job.dl + at, f, n, l);
        load_line(s.d + lead, (const real *)job.d + at, f, n, l);
        load_line(s.du + lead, (const real *)job.du + at, f, n, l);
        load_line(s.b + lead, (const real *)job.b + at, f, n, l);
    } else { /* neighbouring threads take neighbouring systems */
        const int system = threadIdx.x & ((1 << f.each_bits) - 1);
        const view w = view_of(job, first + (system < systems ? system : 0));
#pragma unroll 4
        for (int i = threadIdx.x >> f.each_bits; i < n; i += 1 << f.team_bits) {
            const int slot = system * f.pitch + i;
            if (system >= systems) break;
            shoal_copy_async(&s.dl[slot], &w.dl[i * w.row]);
            shoal_copy_async(&s.d[slot], &w.d[i * w.row]);
            shoal_copy_async(&s.du[slot], &w.du[i * w.row]);
            shoal_copy_async(&s.b[slot], &w.b[i * w.rhs_row]);
        }
    }
    shoal_copy_async_wait_all();
}

__device__ static inline void store_tile(const tridiag_job &job, const shape &f, const tile &s,
                                         int64_t first, int systems, bool all_written) {
    const int n = (int)job.n;
    if (f.along && all_written) {
        const int64_t at = first * n;
        const int lead = lead_of(f, at);
        store_line((real *)job.x + at, s.b + lead, f, n, line_of(f, lead, systems * n));
        return;
    }
    const int system = threadIdx.x & ((1 << f.each_bits) - 1);
    if (system >= systems || s.x_state[system] == X_KEPT) return;
    const view w = view_of(job, first + system);
    const bool written = s.x_state[system] == X_WRITTEN;
    const int lead = lead_of(f, first * n);
#pragma unroll 4
    for (int i = threadIdx.x >> f.each_bits; i < n; i += 1 << f.team_bits)
        w.x[i * w.rhs_row] = written ? s.b[lead + system * f.pitch + i] : real_nan();
}

typedef struct around {  /* of a thread, once the reduced system is solved */
    real z, y, y_next;   /* last unknowns of the chunk before, of its own, of the next       */
    real p, q, s;        /* first row of the next chunk                                      */
    real z_most, y_most; /* bounds of z and y */
} around;

/* PCR over one row per lane; `bound` is that of b, then of y. */
template <bool BOUNDED>
__device__ static inline real solve_by_lanes(const equation &e, const aligned_team &team,
                                             real &bound) {
    const real inverse = real_over_pivot(1, e.d);
    pcr_row r = { -e.dl * inverse, -e.du * inverse, e.b * inverse };
    bound *= real_abs(inverse);
    for (int step = 1; step < team.size; step *= 2) {
        const pcr_row left = { team.left(r.dl, step), team.left(r.du, step), team.left(r.b, step) };
        const pcr_row right = { team.right(r.dl, step), team.right(r.du, step),
                                team.right(r.b, step) };
        real by;
        const pcr_row next = pcr_combine(r, left, right, by);
        if (BOUNDED) {
            const real beside = real_fma(real_abs(r.dl), team.left(bound, step), bound);
            bound = real_abs(by) * real_fma(real_abs(r.du), team.right(bound, step), beside);
        }
        r = next;
    }
    return r.b;
}

template <int M, bool BOUNDED>
__device__ static inline around solve_team(const chunk<M> &k, const aligned_team &team) {
    around w = { 0, 0, 0, 0, 0, 1, 0, 0 }; /* M = 1: the next chunk's first unknown is its last */
    if (M > 1)
        w.p = team.right(k.p[0], 1), w.q = team.right(k.q[0], 1), w.s = team.right(k.s[0], 1);
    if (BOUNDED) w.y_most = reduced_bound(k, M > 1 ? team.right(k.first, 1) : 0);
    w.y = solve_by_lanes<BOUNDED>(reduced_row(k, w.p, w.q, w.s), team, w.y_most);
    w.z = team.left(w.y, 1);
    w.y_next = team.right(w.y, 1);
    if (BOUNDED) w.z_most = team.left(w.y_most, 1);
    return w;
}

/* The bound of a chunk's unknowns. */
template <int M> __device__ static inline real bound_of(const chunk<M> &k, const around &w) {
    return real_fma(k.slope, real_max(w.z_most, w.y_most), k.most);
}

/* The same for T = 32 K threads: everything passes through shared memory, and one warp per system
 * does the work. No thread of the block may be missing. */
template <int M, int K, bool BOUNDED>
__device__ static inline around solve_wide_team(const chunk<M> &k, real *exchange) {
    const int id = threadIdx.x, all = blockDim.x, me = id & (32 * K - 1), last = 32 * K - 1;
    real *dl = exchange, *d = dl + all, *du = d + all, *b = du + all, *p = b + all, *q = p + all,
         *s = q + all, *bounds = s + all, *first = bounds + all;
    const equation mine = reduced_row(k, 0, 0, 0); /* without the next chunk's share */
    dl[id] = mine.dl, d[id] = mine.d, du[id] = k.last.du, b[id] = mine.b;
    p[id] = k.p[0], q[id] = k.q[0], s[id] = k.s[0];
    if (BOUNDED) bounds[id] = reduced_bound(k, 0), first[id] = k.first;
    __syncthreads();
    if (me < 32) {
        const int begin = id - me + me * K;
        chunk<K> again;
        eliminate<K, BOUNDED>(again, [&](int r, real &bound) {
            const int j = begin + r,
                      next = j + (me * K + r < last ? 1 : 0); /* du is 0 at the end */
            equation e;
            e.dl = dl[j];
            e.d = real_fma(du[j], q[next], d[j]);
            e.du = du[j] * s[next];
            e.b = real_fma(-du[j], p[next], b[j]);
            if (BOUNDED) bound = real_fma(real_abs(du[j]), first[next], bounds[j]);
            return e;
        });
        const around w = solve_team<K, BOUNDED>(again, aligned_team{ 32 });
        const real most = BOUNDED ? bound_of(again, w) : 0;
#pragma unroll
        for (int r = 0; r < K; r++) {
            dl[begin + r] = unknown(again, r, w.z, w.y); /* read by this lane alone */
            if (BOUNDED) d[begin + r] = most;
        }
    }
    __syncthreads();
    const int next = me < last ? id + 1 : id;
    const int before = me > 0 ? id - 1 : id;
    const around w = { dl[before], dl[id], dl[next], p[next], q[next], s[next], d[before], d[id] };
    return w;
}

/* Over the 32 K threads of a team. */
template <int K> __device__ static inline void gather_wide_team(halves *h, halves *facts) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) facts[warp] = *h;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < K; k++) halves_with(h, facts[(warp & ~(K - 1)) + k]);
}

/* K = 1: T <= 32 threads per system. */
template <int M, int K, bool BOUNDED>
__global__ static void __launch_bounds__(most_threads(K)) hybrid_kernel(tridiag_job job, shape f) {
    SHOAL_SHARED(real, shared);
    tile t = { shared,
               shared + f.rows,
               shared + 2 * f.rows,
               shared + 3 * f.rows,
               shared + 4 * f.rows,
               NULL,
               NULL };
    t.facts = (halves *)(t.exchange + (K > 1 ? exchanged(BOUNDED) * blockDim.x : 0));
    t.x_state = (int *)(t.facts + (K > 1 ? blockDim.x / 32 : 0));
    const int n = (int)job.n, width = K > 1 ? 32 : 1 << f.team_bits;
    const int me = threadIdx.x & ((1 << f.team_bits) - 1), mine = threadIdx.x >> f.team_bits;
    const int64_t step = (int64_t)gridDim.x << f.each_bits, all = solves(job);
    for (int64_t first = (int64_t)blockIdx.x << f.each_bits; first < all; first += step) {
        const int systems = all - first < 1 << f.each_bits ? (int)(all - first) : 1 << f.each_bits;
        const int have =
            mine < systems ? n - me * M : 0; /* rows of this thread, if not more than M */
        const int base = lead_of(f, first * n) + mine * f.pitch + me * M;
        auto row = [&](int r) {
            equation e = { 0, 1, 0, 0 };
            if (r < have) {
                e.d = t.d[base + r], e.b = t.b[base + r];
                if (r > 0 || me > 0) e.dl = t.dl[base + r];
                if (r + 1 < have) e.du = t.du[base + r];
            }
            return e;
        };
        load_tile(job, f, t, first, systems);
        __syncthreads();

        halves h = no_halves();
        chunk<M> k;
        eliminate<M, BOUNDED>(k, [&](int r, real &bound) {
            const equation e = row(r);
            const int32_t power = row_high(e);
            h.input = max(h.input, max(power, high_abs(e.b)));
            bound = from_high(power);
            return e;
        });
        around w;
        if constexpr (K > 1)
            w = solve_wide_team<M, K, BOUNDED>(k, t.exchange);
        else
            w = solve_team<M, BOUNDED>(k, aligned_team{ width });
        real x[M];
#pragma unroll
        for (int r = 0; r < M; r++) {
            x[r] = unknown(k, r, w.z, w.y);
            h.x = max(h.x, high_abs(x[r]));
        }
        if (BOUNDED) h.bound = high_abs(bound_of(k, w));
        if (job.residual) {
            const real after = real_fma(w.s, w.y_next, real_fma(w.q, w.y, w.p));
#pragma unroll
            for (int r = 0; r < M; r++) {
                const equation e = row(r);
                take_row(&h, e, r > 0 ? x[r > 0 ? r - 1 : 0] : w.z, x[r],
                         r + 1 < M ? x[r + 1 < M ? r + 1 : 0] : after);
                if (h.x == 0 && e.b != 0) h.r = HIGH_END; /* b too small to tell */
            }
        }
#pragma unroll
        for (int r = 0; r < M; r++)
            if (r < have) t.b[base + r] = x[r];
        halves_over_lanes(&h, width);
        if constexpr (K > 1)
            gather_wide_team<K>(&h, t.facts);
        else
            __syncwarp();
        bool written = true;
        if (me == 0 && mine < systems) {
            const bool x_bad = h.x >= HIGH_END;
            float residual = job.residual ? halves_residual(h) : 0;
            if (!job.redo && !x_bad && job.residual && is_doubtful(residual, job.tol))
                residual = look_again(view_of(job, first + mine), t.b + base, 1);
            const int32_t status = decide_status(job, h.input >= HIGH_END, x_bad,
                                                 !(2 * from_high(h.bound) < (real)job.cond),
                                                 residual, SHOAL_SYSTEM_PIVOT);
            t.x_state[mine] = note_outcome(job, first + mine, status, residual);
            written = t.x_state[mine] == X_WRITTEN;
        }
        store_tile(job, f, t, first, systems, __syncthreads_and(written));
        __syncthreads();
    }
}

/* ---- launching ------------------------------------------------------------------------------- */

typedef void (*kernel)(tridiag_job, shape);

/* The kernel for m = 1, 3, 5, 7 or 9 rows per thread and T = 32 k threads per system (k = 1: or fewer);
 * more than 32 threads have at least 5 rows each. */
template <int K, bool BOUNDED> static kernel wide_kernel(int m) {
    return m <= 5   ? hybrid_kernel<5, K, BOUNDED>
           : m <= 7 ? hybrid_kernel<7, K, BOUNDED>
                    : hybrid_kernel<9, K, BOUNDED>;
}
template <bool BOUNDED> static kernel kernel_for(int m, int k) {
    if (k == 8) return wide_kernel<8, BOUNDED>(m);
    if (k == 4) return wide_kernel<4, BOUNDED>(m);
    if (k == 2) return wide_kernel<2, BOUNDED>(m);
    return m <= 1   ? hybrid_kernel<1, 1, BOUNDED>
           : m <= 3 ? hybrid_kernel<3, 1, BOUNDED>
                    : wide_kernel<1, BOUNDED>(m);
}

static int gcd(int v, int w) { return w == 0 ? v : gcd(w, v % w); }

static bool is_vector(const void *memory) { return (uintptr_t)memory % 16 == 0; }

/* Bytes of shared memory that a block of this shape takes. */
static size_t shared_bytes(const shape &f) {
    const size_t threads = (size_t)1 << (f.team_bits + f.each_bits);
    size_t numbers = 4 * (size_t)f.rows;
    if (f.team_bits > 5) numbers += exchanged(f.bounded) * threads;
    return numbers * sizeof(real) + ((size_t)1 << f.each_bits) * sizeof(int) +
           (f.team_bits > 5 ? threads / 32 * sizeof(halves) : 0);
}

/* Lays out shared memory for 2^each_bits systems of m rows per thread. */
static void lay_out(shape *f, int n, int m) {
    const int size = 1 << f->team_bits, each = 1 << f->each_bits,
              bank_row = 128 / (int)sizeof(real);
    const int spaced =
        (size * m + VECTOR - 1) / VECTOR * VECTOR; /* one thread's rows after another's */
    f->pitch = n;
    if (!f->along) /* systems start in different banks */
        f->pitch =
            (n + bank_row - 1) / bank_row * bank_row + (each < bank_row ? bank_row / each : 1);
    else if (n % VECTOR == 0 && size * 4 <= bank_row && gcd(spaced, bank_row) < gcd(n, bank_row))
        f->pitch = spaced; /* or many systems of a warp would start in the same one */
    f->rows =
        (each * f->pitch + 2 * (VECTOR - 1)) / VECTOR * VECTOR; /* and up to VECTOR - 1 lead */
}

static shoal_status launch(shoal_context *ctx, const tridiag_job *job) {
    const int n = (int)job->n;
    const bool bounded = job->redo != NULL;
    shape f = { 0, 0, 0, 0, bounded, job->row == 1 && job->nrhs == 1, false, 0 };
    while (MAX_ROWS << f.team_bits < n) f.team_bits++;
    const int size = 1 << f.team_bits, m = ((n + size - 1) / size) | 1,
              k = size > 32 ? size / 32 : 1;
    while (size << f.each_bits < BLOCK) f.each_bits++;
    if (!f.along) /* whole sectors of 32 bytes, better two, where systems lie side by side */
        while ((sizeof(real) << f.each_bits) < 64 && size << f.each_bits << 1 <= most_threads(k))
            f.each_bits++;
    lay_out(&f, n, m);
    while (f.each_bits > 0 && size << f.each_bits > 32 && shared_bytes(f) > shoal_max_shared(ctx)) {
        f.each_bits--; /* a GPU with less of it */
        lay_out(&f, n, m);
    }
    const int each = 1 << f.each_bits;
    f.magic = (unsigned)(((1ull << 32) + (unsigned)n - 1) / (unsigned)n);
    f.vector = f.along && is_vector(job->dl) && is_vector(job->d) && is_vector(job->du) &&
               is_vector(job->b) && is_vector(job->x);
    const int64_t blocks = (job->count * job->nrhs + each - 1) / each;
    const kernel run = bounded ? kernel_for<true>(m, k) : kernel_for<false>(m, k);
    shoal_allow_shared(ctx, run, shared_bytes(f));
    SHOAL_LAUNCH(run, dim3(shoal_grid(blocks)), dim3(size * each), shared_bytes(f), ctx->stream,
                 *job, f);
    return shoal_launched(ctx, "hybrid");
}

/* ---- systems longer than a block holds ------------------------------------------------------- */

enum { LONG_CHUNK = 8 };

static int64_t chunks_of(int64_t n) { return (n + LONG_CHUNK - 1) / LONG_CHUNK; }

__device__ static inline void eliminate_chunk(chunk<LONG_CHUNK> &k, const view &w, int64_t n,
                                              int64_t t) {
    eliminate<LONG_CHUNK>(k, [&](int r, real &) { return equation_at(w, n, t * LONG_CHUNK + r); });
}

/* job: the longer system; to: the reduced one, solve after solve. */
__global__ static void reduce_kernel(tridiag_job job, tridiag_job to) {
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= solves(to) * to.n) return;
    const int64_t v = at / to.n, t = at - v * to.n;
    const view w = view_of(job, v);
    chunk<LONG_CHUNK> mine, next; /* of the next chunk only its first relation is used */
    eliminate_chunk(mine, w, job.n, t);
    eliminate_chunk(next, w, job.n, t + 1);
    const equation e = reduced_row(mine, next.p[0], next.q[0], next.s[0]);
    ((real *)to.dl)[at] = e.dl, ((real *)to.d)[at] = e.d, ((real *)to.du)[at] = e.du,
           ((real *)to.b)[at] = e.b;
}

/* x: the unknowns of the longer system, solve after solve; reduced.x holds those of the reduced
 * one. */
__global__ static void expand_kernel(tridiag_job job, tridiag_job reduced, real *x) {
    const int64_t at = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= solves(reduced) * reduced.n) return;
    const int64_t v = at / reduced.n, t = at - v * reduced.n, begin = t * LONG_CHUNK;
    const real *last = (const real *)reduced.x;
    const real y = last[at], z = t > 0 ? last[at - 1] : 0;
    chunk<LONG_CHUNK> k;
    eliminate_chunk(k, view_of(job, v), job.n, t);
#pragma unroll
    for (int r = 0; r < LONG_CHUNK; r++)
        if (begin + r < job.n) x[v * job.n + begin + r] = unknown(k, r, z, y);
}

/* The reduced system as a job of its own: one right-hand side, arrays in the workspace. */
static tridiag_job reduced_job(const tridiag_job *job, char **memory, int32_t *status) {
    tridiag_job to = *job;
    to.n = chunks_of(job->n);
    to.count = job->count * job->nrhs;
    to.nrhs = 1;
    to.row = 1;
    to.system = to.n;
    to.status = status;
    to.residual = NULL;
    to.method = NULL;
    to.redo = NULL;
    const size_t bytes = (size_t)(to.n * to.count) * sizeof(real);
    const void **arrays[] = { &to.dl, &to.d, &to.du, &to.b };
    for (int i = 0; i < 4; i++, *memory += bytes) *arrays[i] = *memory;
    to.x = *memory;
    *memory += bytes;
    return to;
}

/* Leaves the unknowns of job in x. Each level is a call: 8 times fewer rows. */
static shoal_status solve_long(shoal_context *ctx, const tridiag_job *job, real *x, char *memory,
                               int32_t *status) {
    tridiag_job reduced = reduced_job(job, &memory, status);
    const dim3 grid((unsigned)((reduced.n * reduced.count + BLOCK - 1) / BLOCK)), block(BLOCK);
    SHOAL_LAUNCH(reduce_kernel, grid, block, 0, ctx->stream, *job, reduced);
    shoal_status result = shoal_launched(ctx, "hybrid, reduction");
    if (result == SHOAL_OK)
        result = reduced.n <= LONGEST
                     ? launch(ctx, &reduced)
                     : solve_long(ctx, &reduced, (real *)reduced.x, memory, status);
    if (result != SHOAL_OK) return result;
    SHOAL_LAUNCH(expand_kernel, grid, block, 0, ctx->stream, *job, reduced, x);
    return shoal_launched(ctx, "hybrid, expansion");
}

static size_t status_bytes(int64_t solves) {
    return tridiag_aligned((size_t)solves * sizeof(int32_t));
}

static size_t long_bytes(const shoal_tridiag *plan) {
    const int64_t solves = plan->job.count * plan->job.nrhs;
    int64_t numbers = plan->job.n;
    for (int64_t n = plan->job.n; n > LONGEST; n = chunks_of(n)) numbers += 5 * chunks_of(n);
    return R(tridiag_verdict_bytes)(plan) + status_bytes(solves) +
           (size_t)(numbers * solves) * sizeof(real);
}

static shoal_status long_run(shoal_tridiag *plan, const tridiag_job *job) {
    const int64_t solves = job->count * job->nrhs;
    char *memory = (char *)job->work + R(tridiag_verdict_bytes)(plan);
    int32_t *status = (int32_t *)memory;
    real *x = (real *)(memory + status_bytes(solves));
    shoal_status result = solve_long(plan->head.ctx, job, x, (char *)(x + job->n * solves), status);
    return result == SHOAL_OK ? R(tridiag_verdict)(plan, job, x, job->work, SHOAL_SYSTEM_PIVOT)
                              : result;
}

static size_t hybrid_bytes(const shoal_tridiag *plan) {
    return plan->job.n <= LONGEST ? 0 : long_bytes(plan);
}

static shoal_status hybrid_run(shoal_tridiag *plan, const tridiag_job *job) {
    return job->n <= LONGEST ? launch(plan->head.ctx, job) : long_run(plan, job);
}

extern "C" const tridiag_cuda_method R(tridiag_hybrid) = { hybrid_bytes, hybrid_run };
