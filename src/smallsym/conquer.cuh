/* SPDX-License-Identifier: Apache-2.0
 *
 * conquer.cuh - eigenpairs of one symmetric tridiagonal matrix by divide and conquer, by a team: the
 * equations are those of conquer.h and eigdc.h.
 *
 * All parts of a level of Figure 11 are merged at once. Thread t of T has slots t, T + t, ..., M of
 * them: slot e is in turn column e of O, pole, root and new vector e of the part that e lies in.
 *   sort      each half ascends: a binary search in the other one gives the place of a pole
 *   deflate   tiny z at once; close poles only where there are some, by one thread per part that
 *             leaves a list of rotations, which each thread then applies to its rows of O
 *   roots     one per slot, from poles and weights in shared memory
 *   vectors   one per slot, the column of O summed up in registers: O(:,l) u(l) / (d(l) - x)
 * Each merge is scaled by a power of two, so that tiny parts of a large matrix keep their accuracy.
 *
 * Columns of O lie in one piece and are read 16 bytes at a time. n^2 (log2 n + 1) numbers are read, n^3
 * multiply-adds per merge of n. Shared memory: n (n + 4) + 7 n numbers beside those of U.
 */
#ifndef SHOAL_SMALLSYM_CONQUER_CUH
#define SHOAL_SMALLSYM_CONQUER_CUH

#include "smallsym/eigdc.h"
#include "smallsym/device.cuh"

/* Shared memory of a team. */
template <int T, int M> struct conquest {
    enum { N = T * M, PITCH = N + VECTOR, O = N * PITCH, NUMBERS = O + 7 * N };
    real *memory;
    real *d, *c; /* U; then d the eigenvalues, ascending within each part */
    __device__ real &o(int i, int j) const { return memory[j * PITCH + i]; }
    __device__ real *z() const { return memory + O; }
    __device__ real *pole() const { return z() + N; }
    __device__ real *origin() const { return z() + 2 * N; }
    __device__ real *tau() const { return z() + 3 * N; }
    __device__ real *weight() const { return z() + 4 * N; }
    __device__ int *column() const { return (int *)(z() + 5 * N); } /* of O, for each pole    */
    __device__ int *pairs() const { return (int *)(z() + 6 * N); }  /* columns of a rotation  */
};

struct part { /* rows and columns start .. start + size - 1 */
    int start, size;
};

/* The part of row e after `depth` divisions; those of one or two rows are not divided. */
__device__ static inline part part_of(int n, int e, int depth) {
    part p = { 0, n };
#pragma unroll 1
    for (int level = 0; level < depth && p.size > 2; level++) {
        const int middle = p.size / 2;
        if (e < p.start + middle)
            p.size = middle;
        else
            p.start += middle, p.size -= middle;
    }
    return p;
}

/* Divisions until all parts have one or two rows. */
__device__ static inline int depth_of(int n) {
    int depth = 0;
#pragma unroll 1
    for (int size = n; size > 2; size = (size + 1) / 2) depth++;
    return depth;
}

/* The slots of a team for which a flag is set, slot e at bit e. */
template <int T, int M>
__device__ static inline unsigned long long team_mask(const bool (&flag)[M], int lane) {
    unsigned long long mask = 0;
    UNROLLED(r, M) {
        const unsigned all = __ballot_sync(ALL_LANES, flag[r]) >> lane / T * T;
        mask |= (unsigned long long)(T == WARP ? all : all & ((1u << T % WARP) - 1)) << r * T;
    }
    return mask;
}

/* Bits begin .. end - 1. */
__device__ static inline unsigned long long bits_between(int begin, int end) {
    const unsigned long long up_to_end = end >= 64 ? ~0ull : (1ull << end) - 1;
    return begin >= 64 ? 0 : up_to_end & ~((1ull << begin) - 1);
}

/* How many of the ascending values[0 .. count-1] lie below v, or, `equal`, not above it. */
__device__ static inline int count_below(const real *values, int count, real v, bool equal) {
    int low = 0;
    while (low < count) {
        const int middle = (low + count) / 2;
        const bool below = equal ? values[middle] <= v : values[middle] < v;
        low = below ? middle + 1 : low;
        count = below ? count : middle;
    }
    return low;
}

/* The conquering step that a slot takes part in. */
struct conquer_step {
    part p;
    bool active;
    int k;    /* poles that are left                  */
    int e;    /* d and rho of the step are d 2^-e ... */
    real rho; /* 2 |c_m|                              */
    real tol;
};

/* The leaves, 1 x 1 and 2 x 2, of U with its cuts made. */
template <int T, int M>
__device__ static inline void conquer_leaves(const conquest<T, M> &w, int t, int n) {
    UNROLLED(r, M) {
        const int e = r * T + t;
#pragma unroll 1
        for (int j = 0; j < T * M; j++) w.o(e, j) = 0;
        if (e >= n) continue;
        const part leaf = part_of(n, e, n);
        if (e > 0 && e == leaf.start) w.d[e] -= real_abs(w.c[e - 1]);
        if (e + 1 < n && e + 1 == leaf.start + leaf.size) w.d[e] -= real_abs(w.c[e]);
    }
    __syncwarp();
    UNROLLED(r, M) {
        const int e = r * T + t;
        const part leaf = part_of(n, e, n);
        if (e >= n || e != leaf.start) continue;
        if (leaf.size == 1) {
            w.o(e, e) = 1;
        } else {
            const eigen_pair pair = eigen_2x2(w.d[e], w.c[e], w.d[e + 1]);
            w.d[e] = pair.low, w.d[e + 1] = pair.high;
            w.o(e, e) = pair.cosine, w.o(e, e + 1) = pair.sine;
            w.o(e + 1, e) = -pair.sine, w.o(e + 1, e + 1) = pair.cosine;
        }
    }
    __syncwarp();
}

/* Poles, z and columns of the slot's part in ascending order. */
template <int T, int M>
__device__ static inline void conquer_sort(const conquest<T, M> &w, conquer_step &s, int e) {
    const int start = s.p.start, size = s.p.size, middle = size / 2, last = start + middle - 1;
    const real c = w.c[last], *low = w.d + start, *high = low + middle;
    real largest = real_max(2 * real_abs(c), real_max(real_abs(low[0]), real_abs(low[middle - 1])));
    largest = real_max(real_max(real_abs(high[0]), real_abs(low[size - 1])), largest);
    const bool nothing = !(largest >= REAL_MIN); /* beside the rest of a matrix of size 1 */
    s.e = nothing ? 0 : exponent_of(largest);
    s.rho = nothing ? 0 : times_power_of_2(2 * real_abs(c), -s.e);
    s.tol = nothing ? 0 : 4 * REAL_EPSILON * times_power_of_2(largest, -s.e);
    const bool first = e <= last;
    const real d = w.d[e], half = real_sqrt((real)0.5);
    const real z = first ? half * w.o(last, e) : (c < 0 ? -half : half) * w.o(last + 1, e);
    const int at = first ? e + count_below(high, size - middle, d, false)
                         : e - middle + count_below(low, middle, d, true);
    w.pole()[at] = times_power_of_2(d, -s.e);
    w.z()[at] = z;
    w.column()[at] = e;
}

struct rotation {            /* that makes z of the first of two close poles zero */
    real cosine, sine, size; /* size: z of the second one then */
};

__device__ static inline rotation rotation_of(real first, real second) {
    const real large = real_max(real_abs(first), real_abs(second));
    const real x = second / large, y = first / large, root = real_sqrt(x * x + y * y);
    const rotation g = { x / root, y / root, root * large };
    return g;
}

/* Whether it changes the matrix by no more than tol: |apart cosine sine|. */
__device__ static inline bool too_close(real apart, real first, real second, real tol) {
    const real squares = real_fma(first, first, second * second);
    return real_abs(apart * first * second) <= tol * squares;
}

enum { COLUMN = 255, BOTH_HALVES = 256 }; /* a column's number; it has entries in all rows */

/* Close poles of a part, by one thread: z goes from each to the next. Leaves the rotations of O in
 * `pairs`, `origin` and `tau`, and their number in the last of `pairs`. */
template <int T, int M>
__device__ static inline void list_rotations(const conquest<T, M> &w, const conquer_step &s) {
    real *d = w.pole(), *z = w.z();
    int last = -1, count = s.p.start;
#pragma unroll 1
    for (int i = s.p.start; i < s.p.start + s.p.size; i++) {
        if (s.rho * real_abs(z[i]) <= s.tol) continue;
        if (last >= 0) {
            const real apart = d[i] - d[last];
            if (too_close(apart, z[last], z[i], s.tol)) {
                const rotation g = rotation_of(z[last], z[i]);
                w.pairs()[count] = (w.column()[last] & COLUMN) << 8 | (w.column()[i] & COLUMN);
                w.column()[last] |= BOTH_HALVES, w.column()[i] |= BOTH_HALVES;
                w.origin()[count] = g.cosine, w.tau()[count] = g.sine;
                z[i] = g.size, z[last] = 0;
                const real change = apart * g.sine * g.sine;
                d[last] += change, d[i] -= change;
                count++;
            }
        }
        last = i;
    }
    w.pairs()[s.p.start + s.p.size - 1] = count - s.p.start; /* at most size - 1 */
}

template <int T, int M>
__device__ static inline void apply_rotations(const conquest<T, M> &w, const conquer_step &s,
                                              int row) {
    const int start = s.p.start, count = w.pairs()[start + s.p.size - 1];
#pragma unroll 1
    for (int g = start; g < start + count; g++) {
        const int p = w.pairs()[g] >> 8, q = w.pairs()[g] & 255;
        const real cosine = w.origin()[g], sine = w.tau()[g], at_p = w.o(row, p),
                   at_q = w.o(row, q);
        w.o(row, p) = cosine * at_p - sine * at_q;
        w.o(row, q) = sine * at_p + cosine * at_q;
    }
}

/* Puts the poles that are left first, k of them, and those that are eigenvalues already behind. */
template <int T, int M>
__device__ static inline void conquer_deflate(const conquest<T, M> &w, conquer_step (&s)[M],
                                              int lane) {
    const int t = lane % T;
    bool left[M], close = false;
#pragma unroll
    for (int r = 0; r < M; r++)
        left[r] = s[r].active && s[r].rho * real_abs(w.z()[r * T + t]) > s[r].tol;
    unsigned long long mask = team_mask<T, M>(left, lane);
    UNROLLED(r, M) {
        const int e = r * T + t;
        const unsigned long long before = mask & bits_between(s[r].p.start, e);
        if (!left[r] || !before) continue;
        const int last = 63 - __clzll((long long)before);
        close |= too_close(w.pole()[e] - w.pole()[last], w.z()[last], w.z()[e], s[r].tol);
    }
    if (__any_sync(ALL_LANES, close)) {
        __syncwarp();
#pragma unroll
        for (int r = 0; r < M; r++)
            if (s[r].active && r * T + t == s[r].p.start) list_rotations(w, s[r]);
        __syncwarp();
        UNROLLED(r, M) {
            if (s[r].active) apply_rotations(w, s[r], r * T + t);
            left[r] = s[r].active && s[r].rho * real_abs(w.z()[r * T + t]) > s[r].tol;
        }
        mask = team_mask<T, M>(left, lane);
    }
    real pole[M], z[M];
    int column[M];
#pragma unroll
    for (int r = 0; r < M; r++)
        pole[r] = w.pole()[r * T + t], z[r] = w.z()[r * T + t], column[r] = w.column()[r * T + t];
    __syncwarp();
    UNROLLED(r, M) {
        if (!s[r].active) continue;
        const int e = r * T + t, start = s[r].p.start;
        const int before = __popcll(mask & bits_between(start, e));
        s[r].k = __popcll(mask & bits_between(start, start + s[r].p.size));
        const int at = left[r] ? start + before : e + s[r].k - before;
        w.pole()[at] = pole[r], w.z()[at] = z[r], w.column()[at] = column[r];
    }
    __syncwarp();
}

/* New columns of O, each in the place of its eigenvalue among the part's. Rows are counted from the
 * piece of 16 bytes in which the part begins: a column is zero in the rows of its neighbours. */
template <int T, int M>
__device__ static inline void conquer_vectors(const conquest<T, M> &w, const conquer_step (&s)[M],
                                              int t) {
    enum { N = T * M, ROWS = N < WARP ? 4 : 8 }; /* that are looked at together */
    real sum[M][N], value[M], length[M];
    int at[M];
    UNROLLED(r, M) {
        const int e = r * T + t, start = s[r].p.start, size = s[r].p.size, k = s[r].k;
        const int base = start / VECTOR * VECTOR, middle = start - base + size / 2;
        const real *values = w.z();
        value[r] = values[e], at[r] = start, length[r] = 0;
        if (!s[r].active) continue;
        const bool root = e - start < k;
        for (int j = start; j < start + size; j++)
            at[r] += values[j] < value[r] || (values[j] == value[r] && j < e);
        UNROLLED(i, N) sum[r][i] = 0;
        const secular_root x = secular_point(w.origin()[e], w.tau()[e]);
#pragma unroll 1
        for (int l = start; l < start + (root ? k : 1); l++) {
            const int mark = w.column()[root ? l : e], column = mark & COLUMN;
            const real share =
                root ? w.weight()[l] * real_reciprocal(secular_gap(w.pole()[l], x)) : 1;
            /* the rows in which the column has entries: those of its half */
            const bool first = column - base < middle, both = mark != column;
            const int begin = first || both ? 0 : middle;
            const int end = !first || both ? start - base + size : middle;
            const real *from = &w.o(base, column);
            length[r] = real_fma(share, share, length[r]);
#pragma unroll
            for (int i0 = 0; i0 < N; i0 += ROWS) {
                if (i0 >= end || i0 + ROWS <= begin) continue;
#pragma unroll
                for (int i = i0; i < i0 + ROWS; i += VECTOR) {
                    const real_vector v = load_vector(from + i);
#pragma unroll
                    for (int q = 0; q < VECTOR; q++)
                        sum[r][i + q] = real_fma(v.e[q], share, sum[r][i + q]);
                }
            }
        }
    }
    __syncwarp();
    UNROLLED(r, M) {
        if (!s[r].active) continue;
        const int start = s[r].p.start, base = start / VECTOR * VECTOR;
        const real inverse = 1 / real_sqrt(length[r]);
#pragma unroll
        for (int i = 0; i < N; i += VECTOR) {
            if (base + i >= start + s[r].p.size) continue;
            real_vector v;
            UNROLLED(q, VECTOR) v.e[q] = sum[r][i + q] * inverse;
            *(real_vector *)&w.o(base + i, at[r]) = v;
        }
        w.d[at[r]] = times_power_of_2(value[r], s[r].e);
    }
    __syncwarp();
}

/* Eigenpairs of U: d ascends, column j of O belongs to d(j). All warps of the block do this at the same
 * time, and wait for each other before each stretch of code, so that it is fetched once: without that
 * up to a third of the time is spent waiting for instructions. */
template <int T, int M>
__device__ static inline void diagonalise(const conquest<T, M> &w, int variant, int lane, int n) {
    const int t = lane % T;
    conquer_leaves(w, t, n);
#pragma unroll 1
    for (int depth = depth_of(n) - 1; depth >= 0; depth--) {
        __syncthreads();
        conquer_step s[M];
        UNROLLED(r, M) {
            const int e = r * T + t;
            const part p = part_of(n, e, depth);
            s[r] = { p, e < n && p.size > 2, 0, 0, 0, 0 };
            if (s[r].active) conquer_sort(w, s[r], e);
        }
        __syncwarp();
        conquer_deflate(w, s, lane);
        __syncthreads();
        UNROLLED(r, M) {
            const int e = r * T + t, start = s[r].p.start;
            if (!s[r].active || e - start >= s[r].k) continue;
            const secular equation = { s[r].k, w.pole() + start, w.z() + start, s[r].rho };
            const secular_root x = secular_solve(&equation, e - start, variant);
            w.origin()[e] = x.origin, w.tau()[e] = x.tau;
        }
        __syncwarp();
        UNROLLED(r, M) {
            const int e = r * T + t, start = s[r].p.start;
            if (!s[r].active || e - start >= s[r].k) continue;
            const secular equation = { s[r].k, w.pole() + start, w.z() + start, s[r].rho };
            w.weight()[e] =
                secular_weight(&equation, w.origin() + start, w.tau() + start, e - start);
        }
        __syncwarp();
        UNROLLED(r, M) { /* z is no longer needed: the eigenvalues */
            const int e = r * T + t;
            const bool root = e - s[r].p.start < s[r].k;
            if (s[r].active) w.z()[e] = root ? w.origin()[e] + w.tau()[e] : w.pole()[e];
        }
        __syncwarp();
        __syncthreads();
        conquer_vectors(w, s, t);
    }
}

#endif
