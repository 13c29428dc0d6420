/* SPDX-License-Identifier: Apache-2.0
 *
 * jacobi.h - one-sided J-orthogonal Jacobi (Veselic) on the columns of G: the
 * eigenpairs of G J Gt. What the CPU and the kernels share: blocks, pairs, and a rotation.
 *
 * A rotation makes two columns x and y orthogonal,
 *     x' = c x + u y,   y' = s x + c y,
 * with u = -s if their signs in J are equal (trigonometric), u = s if not (hyperbolic: c^2 - s^2 = 1). So
 * G' J G't = G J Gt. At the end all columns are orthogonal: eigenvalue J_k |g_k|^2, eigenvector g_k / |g_k|.
 *
 * Blocked: columns are in an even number of blocks of `width`. A sweep has blocks - 1 steps, each with
 * blocks / 2 disjoint pairs of blocks (round robin). For a pair of blocks, 2 width columns:
 *     S = their Gram matrix, sums over `chunk` rows each, then over chunks
 *     rotations on S, again round robin, whose product is V
 *     columns := columns V.
 * All sums have one order, each step its own pairs: CPU and GPU, and any number of threads, give the same
 * bits if the processor has a fused multiply-add. About 6 n^3 multiplications and additions per sweep.
 *
 * If eigenvectors are wanted, zero pivots take part: column e_k of so small a size that rotations with it do
 * not change the others. They become an orthonormal basis of the null space.
 */
#ifndef SHOAL_SYMINDEF_JACOBI_H
#define SHOAL_SYMINDEF_JACOBI_H

#include "symindef/stage.h"

enum { JACOBI_SIDE = 2 * JACOBI_WIDTH, JACOBI_ROWS = 128 }; /* ld is a multiple of JACOBI_ROWS */
/* 2^JACOBI_TARGET is the size of the largest entry of G in the iteration: squares do not overflow,
 * and those of small columns do not underflow. 2^-JACOBI_BELOW: columns of zero pivots, beside the smallest of G. */
#ifdef SHOAL_SINGLE
enum { JACOBI_TARGET = 46, JACOBI_BELOW = 20 };
#else
enum { JACOBI_TARGET = 480, JACOBI_BELOW = 40 };
#endif

/* The exponent by which G is multiplied, from its largest entry. */
SHOAL_HD static inline void jacobi_scale(jacobi_state *state) {
    const double largest = state->largest;
    state->status = largest <= (double)REAL_MAX ? SHOAL_SYSTEM_OK : SHOAL_SYSTEM_OVERFLOW;
    state->exponent =
        largest > 0 && largest <= (double)REAL_MAX ? JACOBI_TARGET - exponent_of((real)largest) : 0;
}

/* The size of columns of zero pivots. Without other columns: 1. */
SHOAL_HD static inline real jacobi_unit(const jacobi_state *state) {
    if (!(state->largest > 0)) return 1;
    const int wanted = exponent_of((real)state->smallest) + state->exponent - JACOBI_BELOW;
    const int least = REAL_FRACTION - REAL_BIAS / 2; /* squares do not underflow */
    return power_of_two(wanted > least ? wanted : least);
}

/* A squared norm of scaled columns, of the columns themselves. */
SHOAL_HD static inline real jacobi_unscaled(real square, int exponent) {
    return times_power_of_2(times_power_of_2(square, -exponent), -exponent);
}

/* x' = x + u (y + t x), y' = y + s (x + w y), with t = s / (1 + c) and w = -t or t (Rutishauser): a small rotation
 * does not round c, whose error of eps / 2 has a sign, and would make all columns longer. */
typedef struct jacobi_rotation {
    real s, u, t, w;
    int is_active; /* 0: the columns are orthogonal, the rotation is the identity */
} jacobi_rotation;

/* Pair k of step `step` among `count` players, an even number; p < q. */
SHOAL_HD static inline void jacobi_pair(int count, int step, int k, int *p, int *q) {
    const int others = count - 1;
    const int first = k == 0 ? others : (step + k) % others;
    const int second = k == 0 ? step : (step - k + others) % others;
    *p = first < second ? first : second;
    *q = first < second ? second : first;
}

/* Pair k of a step on a pair of blocks. The first step of a sweep takes all pairs of columns, later ones only
 * those with a column of each block: half as many steps. */
SHOAL_HD static inline int jacobi_steps(int count, int crossing) {
    return crossing ? count / 2 : count - 1;
}
SHOAL_HD static inline void jacobi_inner_pair(int count, int crossing, int step, int k, int *p,
                                              int *q) {
    if (crossing)
        *p = k, *q = count / 2 + (k + step) % (count / 2);
    else
        jacobi_pair(count, step, k, p, q);
}

/* Entry (i,j) of S, which keeps its upper triangle alone. */
SHOAL_HD static inline int jacobi_place(int i, int j, int stride) {
    return i < j ? i * stride + j : j * stride + i;
}

/* Column of local column c of a pair of blocks. */
SHOAL_HD static inline int64_t jacobi_column(int p, int q, int width, int c) {
    return c < width ? (int64_t)p * width + c : (int64_t)q * width + c - width;
}

SHOAL_HD static inline real jacobi_tolerance(int64_t n) {
    return real_max(8, real_sqrt((real)n)) * REAL_EPSILON;
}

/* Are these columns orthogonal? *cosine: of the angle between them, 0 if one has no size. */
SHOAL_HD static inline int jacobi_is_done(real a, real b, real off, real tol, real *cosine) {
    const real norms = real_sqrt(a) * real_sqrt(b);
    *cosine = 0;
    if (!(norms > 0)) return 1;
    *cosine = real_abs(off) / norms;
    return *cosine <= tol;
}

/* The rotation for two columns with the squared norms *a and *b and the product *off; the three become those
 * of the new columns. A hyperbolic rotation is bounded: nearly parallel columns of unequal signs need several. */
SHOAL_HD static inline jacobi_rotation jacobi_rotate(real *a, real *b, real *off, int is_hyperbolic,
                                                     real tol) {
    jacobi_rotation r = { 0, 0, 0, 0, 0 };
    const real max_tangent = (real)0.875;
    real cosine;
    if (jacobi_is_done(*a, *b, *off, tol, &cosine)) return r;
    r.is_active = 1;
    if (!is_hyperbolic) {
        const real zeta = (*b - *a) / (2 * *off), size = real_abs(zeta);
        const real positive = size > 1 / REAL_EPSILON
                                  ? (real)0.5 / size
                                  : 1 / (size + real_sqrt(fused(zeta, zeta, 1)));
        const real t = zeta < 0 ? -positive : positive;
        const real root = real_sqrt(fused(t, t, 1)); /* 1 / c */
        r.s = t / root, r.u = -r.s;
        r.t = t / (1 + root), r.w = -r.t;
        *a = fused(-t, *off, *a), *b = fused(t, *off, *b), *off = 0;
        return r;
    }
    const real h = -2 * (*off / (*a + *b)), room = (1 - h) * (1 + h);
    const real t = h / (1 + (room > 0 ? real_sqrt(room) : 0));
    const real bounded = real_min(real_max(t, -max_tangent), max_tangent);
    const real root = real_sqrt((1 - bounded) * (1 + bounded)); /* 1 / c */
    r.s = r.u = bounded / root;
    r.t = r.w = bounded / (1 + root);
    if (bounded == t) {
        *a = fused(t, *off, *a), *b = fused(t, *off, *b), *off = 0;
    } else {
        const real square = 1 / (root * root), first = *a, second = *b, product = *off;
        *a = square * fused(bounded, fused(bounded, second, 2 * product), first);
        *b = square * fused(bounded, fused(bounded, first, 2 * product), second);
        *off = square * fused(bounded, first + second, fused(bounded, bounded, 1) * product);
    }
    return r;
}

SHOAL_HD static inline void jacobi_apply(const jacobi_rotation *r, real *x, real *y) {
    const real first = *x, second = *y;
    *x = fused(r->u, fused(r->t, first, second), first);
    *y = fused(r->s, fused(r->w, second, first), second);
}

/* The four entries of S that pairs k and l have in common, rows first. */
SHOAL_HD static inline void jacobi_apply_both(const jacobi_rotation *k, const jacobi_rotation *l,
                                              real *s, int stride, int pk, int qk, int pl, int ql) {
    real *at[4] = { s + jacobi_place(pk, pl, stride), s + jacobi_place(pk, ql, stride),
                    s + jacobi_place(qk, pl, stride), s + jacobi_place(qk, ql, stride) };
    real b[4] = { *at[0], *at[1], *at[2], *at[3] };
    jacobi_apply(k, &b[0], &b[2]);
    jacobi_apply(k, &b[1], &b[3]);
    jacobi_apply(l, &b[0], &b[1]);
    jacobi_apply(l, &b[2], &b[3]);
    for (int e = 0; e < 4; e++) *at[e] = b[e];
}

#endif
