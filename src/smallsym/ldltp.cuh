/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp.cuh - what a team does to factor a matrix by rook pivoting and to solve with it, for ldltp.cu,
 * which describes it, and careful.cu. The matrix that is left is kept by one of two classes:
 *
 * register_rows  thread t of a team of T has rows t, T + t, ... whole, M rows of N = T M numbers in
 *                registers, both triangles. Row p is column p, so that a pivot anywhere is shown by
 *                one thread, and no row or column ever moves. What rounding does to the two
 *                triangles differs; either is as good as the other. L goes to shared memory.
 * shared_rows    the lower triangle stays on its stage in shared memory, for matrices that do not
 *                fit into registers; L(i,p) takes the place of entry {i,p} of the matrix.
 *
 * Both: shown(side) is one of two rows that the whole team can read; position(i) is the step at
 * which row i was a pivot, or LEFT.
 */
#ifndef SHOAL_SMALLSYM_LDLTP_CUH
#define SHOAL_SMALLSYM_LDLTP_CUH

#include "smallsym/look.cuh"
#include <type_traits>

enum { LEFT = 1 << 20, NO_ROW = -1 }; /* positions of rows not yet taken, and of padding */

/* ---- the largest of a team --------------------------------------------------------------------- */

/* Sizes as whole numbers in the same order; NaN comes last. */
#ifdef SHOAL_SINGLE
typedef unsigned size_key;
__device__ static inline size_key key_of(real v) { return __float_as_uint(v) & 0x7fffffffu; }
__device__ static inline real size_of(size_key key) { return __uint_as_float(key); }
#else
typedef unsigned long long size_key;
__device__ static inline size_key key_of(real v) {
    return (size_key)__double_as_longlong(v) & 0x7fffffffffffffffu;
}
__device__ static inline real size_of(size_key key) { return __longlong_as_double((long long)key); }
#endif

template <int T> __device__ static inline size_key team_top(size_key key) {
    if constexpr (T == WARP && sizeof(real) == 4) {
        return __reduce_max_sync(ALL_LANES, (unsigned)key);
    } else if constexpr (T == WARP) {
        const unsigned high = (unsigned)((unsigned long long)key >> 32);
        const unsigned top = __reduce_max_sync(ALL_LANES, high);
        const unsigned low = __reduce_max_sync(ALL_LANES, high == top ? (unsigned)key : 0u);
        return (size_key)((unsigned long long)top << 32 | low);
    } else {
#pragma unroll
        for (int h = T / 2; h > 0; h /= 2) {
            const size_key other = __shfl_xor_sync(ALL_LANES, key, h);
            key = key > other ? key : other;
        }
        return key;
    }
}

/* Whether it is true in any team of the warp. */
template <int T> __device__ static inline bool any_team(bool yes) {
    return T == WARP ? yes : __any_sync(ALL_LANES, yes);
}

/* What the team has in row `row`, the same for all of it. */
template <int T, int M> __device__ static inline real row_value(const real (&v)[M], int row) {
    real value = v[0];
    unrolled<M>([&](auto block) {
        const int r = block;
        if ((int)((unsigned)row / T) == r) value = v[r];
    });
    return team_broadcast<T>(value, (int)((unsigned)row % T));
}

namespace {

/* Shared memory of a system, in numbers: two rows to show, the order of the pivots, L and, on its
 * diagonal, that of D inverse. Systems of a
 * warp begin 32 bytes apart in the banks. */
template <int T_, int M_, int LOWER> struct room {
    enum {
        T = T_,
        M = M_,
        N = T * M,
        PITCH = N + VECTOR, /* of the rows that are shown */
        BANKS = 128 / sizeof(real),
        PLAIN = 2 * PITCH + N + LOWER,
        NUMBERS = PLAIN + (2 * VECTOR + BANKS - PLAIN % BANKS) % BANKS
    };
    real *memory;

    __device__ real *shown(int side) const { return memory + side * PITCH; }
    /* The pivots' rows, step by step, and for each row the other one of its block, or itself. */
    __device__ unsigned char *order() const { return (unsigned char *)(memory + 2 * PITCH); }
    __device__ unsigned char *partner() const { return order() + N; }
    /* s(i) = 2^e(i), where rows are scaled. */
    __device__ short *exponent() const { return (short *)(partner() + N); }
    __device__ real *below() const { return memory + 2 * PITCH + N; }
};

template <int T, int M> struct register_rows {
    enum {
        N = T * M,
        L_PITCH = N + 1,
        STAGE = stage<T, M>::NUMBERS,
        LOWER = N * L_PITCH > STAGE ? N *L_PITCH : STAGE /* the stage is there before L is */
    };
    typedef room<T, M, LOWER> room_type;
    room_type at;
    real a[M][N];

    /* The lower triangle is on the stage, row i beginning with the smallest column. */
    __device__ void load(const real *staged, int t) {
        UNROLLED(r, M) {
            const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
            for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
                const real_vector v = load_vector(row + j0);
                UNROLLED(e, VECTOR) a[r][j0 + e] = v.e[e];
            }
#pragma unroll
            for (int j = r * T + 1; j < N; j++) /* above the diagonal: A(j,i) */
                if (j >= (r + 1) * T || j > r * T + t)
                    a[r][j] = staged[stage<T, M>::row(j) + r * T + t];
        }
    }
    /* Largest sizes of rows of what was loaded. */
    __device__ void sizes(real (&size)[M], const real *, int, int) const {
        UNROLLED(r, M) {
            size[r] = 0;
            UNROLLED(j, N) size[r] = real_max(real_abs(a[r][j]), size[r]);
        }
    }
    /* Row `row`, from the thread that has it. */
    __device__ void show(int row, int side, int t, const int (&)[M]) const {
        if (t != (int)((unsigned)row % T)) return;
        real *to = at.shown(side);
        unrolled<M>([&](auto block) {
            const int r = block;
            if (M > 1 && (int)((unsigned)row / T) != r) return;
            unrolled<N / VECTOR>([&](auto piece) {
                const int j = piece * VECTOR;
                real_vector v;
                UNROLLED(e, VECTOR) v.e[e] = a[r][j + e];
                *(real_vector *)(to + j) = v;
            });
        });
    }
    /* A(i,j) -= l(i) u(j), in rows and columns that are done too: nobody looks at them again. */
    __device__ void take_off(const real (&l)[M], const real *u, int, const int (&)[M]) {
#pragma unroll
        for (int j0 = 0; j0 < N; j0 += VECTOR) {
            const real_vector v = load_vector(u + j0);
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
                UNROLLED(r, M) a[r][j0 + e] = real_fma(-l[r], v.e[e], a[r][j0 + e]);
        }
    }
    __device__ real &lower(int i, int p) const { return at.below()[i * L_PITCH + p]; }
};

template <int T, int M> struct shared_rows {
    enum { N = T * M, STAGE = stage<T, M>::NUMBERS, LOWER = STAGE };
    typedef room<T, M, LOWER> room_type;
    room_type at;

    /* A thread its own rows. */
    __device__ void load(const real *staged, int t) {
        if (staged == at.below()) return;
#pragma unroll 1
        for (int i = t; i < N; i += T)
#pragma unroll 2
            for (int j = 0; j <= i; j++)
                at.below()[stage<T, M>::row(i) + j] = staged[stage<T, M>::row(i) + j];
    }
    __device__ void sizes(real (&size)[M], const real *staged, int t, int n) const {
        UNROLLED(r, M) {
            const int i = r * T + t;
            size[r] = 0;
#pragma unroll 4
            for (int j = 0; j < n && i < n; j++)
                size[r] = real_max(real_abs(stage_entry<T, M>(staged, i, j)), size[r]);
        }
    }
    /* Zeros where a row is done: L is there. */
    __device__ void show(int row, int side, int t, const int (&position)[M]) const {
        UNROLLED(r, M) {
            const int i = r * T + t;
            at.shown(side)[i] = position[r] == LEFT ? lower(i, row) : 0;
        }
    }
    __device__ void take_off(const real (&l)[M], const real *u, int t, const int (&position)[M]) {
        UNROLLED(r, M) {
            if (position[r] != LEFT) continue;
            real *row = at.below() + stage<T, M>::row(r * T + t);
#pragma unroll 8
            for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
                const real_vector v = load_vector(u + j0);
                real_vector w = load_vector(row + j0);
                UNROLLED(e, VECTOR) w.e[e] = real_fma(-l[r], v.e[e], w.e[e]);
                *(real_vector *)(row + j0) = w;
            }
        }
    }
    __device__ real &lower(int i, int p) const {
        return at.below()[i > p ? stage<T, M>::row(i) + p : stage<T, M>::row(p) + i];
    }
};

/* In registers where a thread's 255 suffice. */
template <int T, int M>
using ldltp_rows = typename std::conditional<T * M * M * sizeof(real) / 4 <= 160,
                                             register_rows<T, M>, shared_rows<T, M>>::type;

} // namespace

namespace {

typedef struct pivot {
    int p, q;      /* rows; q < 0: 1 x 1                                    */
    int side;      /* where row p is shown; row q is on the other side      */
    real d_p, d_q; /* their diagonal entries                                */
} pivot;

template <int M> struct diagonal { /* of a thread's rows */
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
    UNROLLED(r, M) { /* + 1: a row that is left comes before one that is not */
        const size_key key = d.position[r] == LEFT ? key_of(d.left[r]) + 1 : 0;
        if (key > best) best = key, row = r * T + t;
    }
    int at = team_row<T, M>(row, best == team_top<T>(best));
    do {
        if (open) rows.show(at, side, t, d.position);
        __syncwarp();
        best = 0, row = t;
        UNROLLED(r, M) {
            const int i = r * T + t;
            if (d.position[r] != LEFT || i == at) continue;
            const size_key key = key_of(rows.at.shown(side)[i]);
            if (key > best) best = key, row = i;
        }
        const size_key top = team_top<T>(best);
        const int next = team_row<T, M>(row, best == top);
        const real d_at = rows.at.shown(side)[at];
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
    } while (any_team<T>(open));
}

/* ---- elimination ------------------------------------------------------------------------------- */

/* D inverse of a pivot. [d_p c; c d_q] = c [x 1; 1 y] as in ldltp.c. */
__device__ static inline void invert(const pivot &v, real c, spread &s, real &c11, real &c21,
                                     real &c22) {
    const bool is_block = v.q != NO_ROW;
    const real head = is_block ? c : v.d_p, inverse = real_reciprocal(head);
    c11 = inverse, c21 = c22 = 0;
    real small = real_abs(head), large = small;
    if (is_block) {
        const real x = v.d_p * inverse, y = v.d_q * inverse;
        const real scale = inverse * real_reciprocal(real_fma(x, y, -1));
        c11 = y * scale, c21 = -scale, c22 = x * scale;
        const real m = real_abs(x + y) / 2, h = (x - y) / 2, q = sqrt(real_fma(h, h, 1));
        large = real_abs(c) * (q + m), small = real_abs(c) * (real_fma(-x, y, 1) / (q + m));
    }
    s.positive += is_block || head > 0;
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
    const bool is_block = v.q != NO_ROW;
    invert(v, is_block ? u[v.q] : 0, s, c11, c21, c22);
    UNROLLED(r, M) {
        const int i = r * T + t;
        if (i == v.p || i == v.q) {
            d.f[r] = c21, d.position[r] = i == v.p ? step : step + 1;
            rows.lower(i, i) = i == v.p ? c11 : c22;
            rows.at.partner()[i] = (unsigned char)(!is_block ? i : i == v.p ? v.q : v.p);
            /* Column p is done when row q is taken off. Nobody but this thread has read it there since
             * the last barrier. */
            if (is_block && i == v.p) u_next[i] = 0;
        }
        l[r] = second[r] = 0;
        if (d.position[r] != LEFT) continue;
        l[r] = c11 * u[i];
        if (is_block) { /* (l, next l) = (u, next u) D inverse */
            l[r] = real_fma(c21, u_next[i], l[r]);
            second[r] = real_fma(c22, u_next[i], c21 * u[i]);
        }
    }
}

/* Takes row p, shown in u, off the rows that are left: A(i,j) -= l(i) u(j). */
template <class ROWS, int M>
__device__ static inline void take_row(ROWS &rows, int p, const real (&l)[M], const real *u,
                                       diagonal<M> &d, int t, int step) {
    constexpr int T = ROWS::N / M;
    UNROLLED(r, M) d.left[r] = real_fma(-l[r], u[r * T + t], d.left[r]);
    rows.take_off(l, u, t, d.position);
#pragma unroll
    for (int r = 0; r < M; r++)
        if (d.position[r] > step) rows.lower(r * T + t, p) = l[r]; /* 0 within a block */
    if (t == 0) rows.at.order()[step] = (unsigned char)p;
    __syncwarp();
}

/* All teams of the warp go from column to column together; one with a 2 x 2 pivot needs two steps.
 * find(step, open, v) finds the pivots of the teams that are open. */
template <class ROWS, int M, class FIND>
__device__ static inline void factor_together(ROWS &rows, diagonal<M> &d, spread &s, int t, int n,
                                              const FIND &find) {
    int waiting = NO_ROW; /* row q of a 2 x 2 pivot, between its two steps */
    pivot v = { 0, NO_ROW, 0, 0, 0 };
    real second[M];
    UNROLLED(r, M) second[r] = 0;
    for (int step = 0; step < n; step++) {
        const bool open = waiting == NO_ROW;
        if (__any_sync(ALL_LANES, open)) find(step, open, v);
        real l[M];
        int p = waiting;
        const real *u = rows.at.shown(open ? v.side : 1 - v.side);
        if (open) {
            begin_pivot(rows, v, d, s, t, step, l, second);
            p = v.p, waiting = v.q;
        } else {
            UNROLLED(r, M) l[r] = second[r];
            waiting = NO_ROW;
        }
        take_row(rows, p, l, u, d, t, step);
    }
}

/* A team that is the whole warp goes from pivot to pivot. */
template <class ROWS, int M>
__device__ static inline void factor_alone(ROWS &rows, diagonal<M> &d, spread &s, int t, int n) {
    pivot v;
    for (int step = 0; step < n; step++) {
        search(rows, d, t, true, v);
        real l[M], second[M];
        if (v.q == NO_ROW) {
            begin_pivot(rows, { v.p, NO_ROW, v.side, v.d_p, 0 }, d, s, t, step, l, second);
            take_row(rows, v.p, l, rows.at.shown(v.side), d, t, step);
        } else {
            begin_pivot(rows, v, d, s, t, step, l, second);
            take_row(rows, v.p, l, rows.at.shown(v.side), d, t, step);
            take_row(rows, v.q, second, rows.at.shown(1 - v.side), d, t, ++step);
        }
    }
}

template <class ROWS, int M>
__device__ static inline void factor(ROWS &rows, diagonal<M> &d, spread &s, int t, int n) {
    if constexpr (ROWS::N / M == WARP)
        factor_alone(rows, d, s, t, n);
    else
        factor_together(rows, d, s, t, n,
                        [&](int, bool open, pivot &v) { search(rows, d, t, open, v); });
}

/* y := S y, if rows were scaled. */
template <class ROWS, int M>
__device__ static inline void scale_vector(const ROWS &rows, real (&y)[M], bool scaled, int t) {
    constexpr int T = ROWS::N / M;
    if (!scaled) return;
    UNROLLED(r, M) y[r] = times_power_of_2(y[r], rows.at.exponent()[r * T + t]);
}

/* L z = b, D w = z, Lt x = w; y is b and becomes x. `grow`: y is 0, and b is +-one(r) in row r T + t, by the
 * sign with which z grows. */
template <class ROWS, int M, class ONE>
__device__ static inline void solve(const ROWS &rows, const diagonal<M> &d, real (&y)[M], int t,
                                    int n, bool grow, const ONE &one) {
    constexpr int T = ROWS::N / M;
    const unsigned char *order = rows.at.order(), *partner = rows.at.partner();
    real *shown = rows.at.shown(0);
#pragma unroll 4
    for (int step = 0; step < n; step++) { /* z(i) -= L(i,p) z(p), in rows taken after p */
        const int p = order[step];
        if (grow) {
#pragma unroll
            for (int r = 0; r < M; r++)
                if (d.position[r] == step) y[r] += y[r] < 0 ? -one(r) : one(r);
        }
        const real z = row_value<T, M>(y, p);
#pragma unroll
        for (int r = 0; r < M; r++)
            if (d.position[r] > step) y[r] = real_fma(-rows.lower(r * T + t, p), z, y[r]);
    }
    UNROLLED(r, M) shown[r * T + t] = y[r];
    __syncwarp();
    UNROLLED(r, M) {
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

#endif
