/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp_steps.cuh - what a team does to factor a matrix by rook pivoting and to solve with it:
 * search, elimination, substitution. ldltp.cu says how; careful.cu uses it too.
 */
#ifndef SHOAL_SMALLSYM_LDLTP_STEPS_CUH
#define SHOAL_SMALLSYM_LDLTP_STEPS_CUH

#include "smallsym/ldltp_rows.cuh"

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
    int at = team_row<T, M>(row, best == team_top<T>(best));
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
            /* Column p is done when row q is taken off. Nobody but this thread has read it there since
             * the last barrier. */
            if (two && i == v.p) u_next[i] = 0;
        }
        l[r] = second[r] = 0;
        if (d.position[r] != LEFT) continue;
        l[r] = c11 * u[i];
        if (two) { /* (l, next l) = (u, next u) D inverse */
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
#pragma unroll
    for (int r = 0; r < M; r++) d.left[r] = real_fma(-l[r], u[r * T + t], d.left[r]);
    rows.take_off(l, u, t, d.position);
#pragma unroll
    for (int r = 0; r < M; r++)
        if (d.position[r] > step) rows.lower(r * T + t, p) = l[r]; /* 0 within a block */
    if (t == 0) rows.at.order()[step] = (unsigned char)p;
    __syncwarp();
}

/* All teams of the warp go from column to column together; one with a 2 x 2 pivot needs two steps. */
template <class ROWS, int M>
__device__ static inline void factor_together(ROWS &rows, diagonal<M> &d, spread &s, int t, int n) {
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
        factor_together(rows, d, s, t, n);
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

#endif
