/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry.h - one long system by orthogonal reduction of blocks, safe whatever the blocks' ranks.
 *
 * A block of rows s .. e-1 touches x(s-1), x(s), ..., x(e-1), x(e). Its inner unknowns x(s+1) .. x(e-2)
 * are eliminated from all of its rows by Givens rotations: in column k two rows carried along and the
 * fresh row k+1 have entries; the first takes up the other two, and two rows are left to carry. The
 * inner columns of a nonsingular matrix are independent, so no pivot vanishes, even in a block that is
 * singular itself. What remains of the block is its relation,
 *     l1 x(s-1) + f1 x(s) + h1 x(e-1)              = r1
 *     l2 x(s-1) + f2 x(s) + h2 x(e-1) + n2 x(e)    = r2.
 * Relations of neighbours share the pair x(e-1), x(e); five rotations of their four rows eliminate it
 * and leave a relation of the same form: they merge in a tree. At its root x(0) and the last unknown
 * are left, and on the way back each pair follows from those at both ends of its merge.
 *
 * Rows are scaled by powers of two to largest entries of one size beforehand: rotations mix rows.
 * |pivots| are those of a triangular factor of the scaled matrix; its smallest singular value is not
 * above any of them.
 *
 * Once the pairs are known each block is solved: x(s-1) and x(s) go over to the right-hand sides, its
 * inner unknowns are eliminated as before, and follow backwards from the pair at its end.
 *
 * `num` is a number, or, in CPU files, a vector of numbers of as many blocks. num_rsqrt(v), of a normal
 * v > 0, is good to half of its bits (in doubles on a GPU: a third); turn_of() adds the rest.
 * About 55 operations and two reciprocal roots a row, 200 operations a merge.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_H
#define SHOAL_TRIDIAG_TWOCARRY_H

#include "core/real.h"
#include <shoal/core.h>

/* Where the root is good to a third of its bits only. */
#if defined(__CUDA_ARCH__) && !defined(SHOAL_SINGLE)
#define TWOCARRY_ROUGH 1
#else
#define TWOCARRY_ROUGH 0
#endif

/* 1 / sqrt(v) of a normal v > 0. */
SHOAL_HD static inline real real_rsqrt(real v) {
#if TWOCARRY_ROUGH
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(v));
    return y;
#elif defined(__CUDA_ARCH__)
    return rsqrtf(v);
#else
    return 1 / real_sqrt(v);
#endif
}

/* 1 / sqrt(1 - m) = 1 + m g, of an m that is what the root leaves of 1. */
SHOAL_HD static inline real real_gain(real m) {
    return TWOCARRY_ROUGH ? real_fma(m, (real)0.375, (real)0.5) : (real)0.5;
}

#ifdef TWOCARRY_VECTORS
#include "core/vec.h"
typedef vec num;
typedef vec_mask num_bits;
static inline num num_fma(num u, num v, num w) { return vec_fma(u, v, w); }
static inline num num_abs(num v) { return vec_abs(v); }
static inline num num_select(num_bits mask, num u, num v) { return vec_select(mask, u, v); }
static inline num_bits bits_select(num_bits mask, num_bits u, num_bits v) {
    return (u & mask) | (v & ~mask);
}
static inline num num_all(real v) { return vec_all(v); }
static inline num num_rsqrt(num v) {
#if defined(__AVX512F__) && defined(SHOAL_SINGLE)
    vec y = (vec)_mm512_rsqrt14_ps((__m512)v);
    enum { STEPS = 0 };
#elif defined(__AVX512F__)
    vec y = (vec)_mm512_rsqrt14_pd((__m512d)v);
    enum { STEPS = 1 };
#elif defined(__aarch64__) && defined(SHOAL_SINGLE)
    vec y = (vec)vrsqrteq_f32((float32x4_t)v);
    enum { STEPS = 1 };
#elif defined(__aarch64__)
    vec y = (vec)vrsqrteq_f64((float64x2_t)v);
    enum { STEPS = 2 };
#else
    vec y;
    for (int i = 0; i < VEC; i++) y[i] = 1 / real_sqrt(v[i]);
    enum { STEPS = 0 };
#endif
    for (int step = 0; step < STEPS; step++) /* Newton: y + y (1 - v y^2) / 2 */
        y = vec_fma(y * vec_all((real)0.5), vec_fma(-(v * y), y, vec_all(1)), y);
    return y;
}
static inline num_bits num_to_bits(num v) { return (num_bits)v; }
static inline num num_of_bits(num_bits v) { return (num)v; }
#else
typedef real num;
typedef real_bits num_bits;
SHOAL_HD static inline num num_fma(num u, num v, num w) { return real_fma(u, v, w); }
SHOAL_HD static inline num num_abs(num v) { return real_abs(v); }
SHOAL_HD static inline num num_select(int mask, num u, num v) { return mask ? u : v; }
SHOAL_HD static inline num_bits bits_select(int mask, num_bits u, num_bits v) {
    return mask ? u : v;
}
SHOAL_HD static inline num num_all(real v) { return v; }
SHOAL_HD static inline num num_rsqrt(num v) { return real_rsqrt(v); }
SHOAL_HD static inline num_bits num_to_bits(num v) { return real_to_bits(v); }
SHOAL_HD static inline num num_of_bits(num_bits bits) { return real_of_bits(bits); }
#endif

/* Squares of pivots below this count as zero: pivots of 2^-500 (float: 2^-55) of a row's largest entry. */
SHOAL_HD static inline real twocarry_small(void) {
    return sizeof(real) == 4 ? (real)0x1p-110 : (real)0x1p-1000;
}

typedef struct tri_row {
    num dl, d, du, b;
} tri_row;

/* Rows below this are raised before they are scaled: their scale would be no number. */
SHOAL_HD static inline num tiny_row(void) {
    return num_all(sizeof(real) == 4 ? (real)0x1p-120 : (real)0x1p-1000);
}

SHOAL_HD static inline num row_size(tri_row r) {
    const num dl = num_abs(r.dl), d = num_abs(r.d), du = num_abs(r.du);
    const num most = num_select(dl > d, dl, d);
    return num_select(most > du, most, du);
}

SHOAL_HD static inline tri_row raised_row(tri_row r) {
    const num up = num_all(sizeof(real) == 4 ? (real)0x1p80 : (real)0x1p700);
    const num by = num_select(row_size(r) < tiny_row(), up, num_all(1));
    const tri_row s = { r.dl * by, r.d * by, r.du * by, r.b * by };
    return s;
}

/* The row times the power of two that brings the largest of |dl|, |d|, |du| between 1 and 2, or 4. */
SHOAL_HD static inline tri_row scaled_row(tri_row r) {
    const real_bits one = (real_bits)1 << REAL_FRACTION, most = (2 * REAL_BIAS - 1) * one;
    const num_bits e = num_to_bits(row_size(r)) & ~(one - 1); /* the exponent of the largest */
    const num scale = num_of_bits(2 * REAL_BIAS * one - bits_select(e > most, most + 0 * e, e));
    const tri_row s = { r.dl * scale, r.d * scale, r.du * scale, r.b * scale };
    return s;
}

/* The two rows carried along; h is the column to be eliminated next, n the one after it, of which the
 * first row has nothing. */
typedef struct carries {
    num l1, f1, h1, r1;
    num l2, f2, h2, n2, r2;
    num least; /* the smallest square of a pivot so far */
} carries;

typedef struct pivot_row { /* x(k) + next x(k+1) + after x(k+2) = rhs */
    num next, after, rhs;
} pivot_row;

SHOAL_HD static inline carries begin_carries(tri_row first, tri_row second) {
    const num zero = num_all(0);
    const carries w = { first.dl,  first.d,  first.du,  first.b,  zero,
                        second.dl, second.d, second.du, second.b, num_all((real)INFINITY) };
    return w;
}

#if TWOCARRY_ROUGH
SHOAL_HD static inline num gain(num m) { return real_gain(m); }
#else
SHOAL_HD static inline num gain(num m) {
    (void)m;
    return num_all((real)0.5);
}
#endif

/* sqrt(v), where i is nearly 1 / sqrt(v), or 0. */
SHOAL_HD static inline num root_of(num v, num i) {
    const num root = v * i, missing = num_fma(-root, i, num_all(1));
    return num_fma(root * missing, gain(missing), root);
}

/* c = p i and s = q i, where i is nearly 1 / sqrt(p^2 + q^2), made so that c^2 + s^2 = 1 to the last
 * bit. A row that has nothing to do with the pivots is carried through a block unchanged then: with
 * c = 1 - 2^-53 each of its numbers would be rounded downwards at every step. Returns by how much of
 * itself i was too small. */
SHOAL_HD static inline num turn_of(num p, num q, num i, num *c, num *s) {
    const num u = p * i, v = q * i;
    const num missing = num_fma(-u, u, num_fma(-v, v, num_all(1)));
    const num by = missing * gain(missing);
    *c = num_fma(u, by, u), *s = num_fma(v, by, v);
    return by;
}

typedef struct turns { /* of the two carries, then of the first of them and the fresh row */
    num c1, s1, c2, s2;
    num inverse; /* of the pivot */
} turns;

/* Returns the square of the pivot, 0 if it is too small. The roots do not wait for each other, nor for
 * the first turn. */
SHOAL_HD static inline num turns_of(num h1, num h2, num dl, turns *t) {
    const num small = num_all(twocarry_small()), zero = num_all(0), one = num_all(1);
    const num q = num_fma(h1, h1, h2 * h2), h = num_fma(dl, dl, q);
    const num i1 = num_select(q > small, num_rsqrt(q), zero);
    const num i2 = num_select(h > small, num_rsqrt(h), zero);
    (void)turn_of(h1, h2, i1, &t->c1, &t->s1);
    t->c1 = num_select(q > small, t->c1, one);
    const num here = num_select(q > small, root_of(q, i1), h1);
    const num by = turn_of(here, dl, i2, &t->c2, &t->s2);
    t->c2 = num_select(h > small, t->c2, one);
    t->inverse = num_fma(i2, by, i2);
    return num_select(h > small, h, zero);
}

/* Eliminates column k with the fresh row k + 1. */
SHOAL_HD static inline void carry_on(carries *w, tri_row row) {
    turns t;
    const num pivot = turns_of(w->h1, w->h2, row.dl, &t);
    const num left = num_fma(t.c1, w->l1, t.s1 * w->l2), next = t.s1 * w->n2;
    const num first = num_fma(t.c1, w->f1, t.s1 * w->f2);
    const num rhs = num_fma(t.c1, w->r1, t.s1 * w->r2);
    w->l1 = num_fma(t.c1, w->l2, -t.s1 * w->l1), w->f1 = num_fma(t.c1, w->f2, -t.s1 * w->f1);
    w->r1 = num_fma(t.c1, w->r2, -t.s1 * w->r1), w->h1 = t.c1 * w->n2;
    w->l2 = -t.s2 * left, w->f2 = -t.s2 * first;
    w->h2 = num_fma(t.c2, row.d, -t.s2 * next), w->n2 = t.c2 * row.du;
    w->r2 = num_fma(t.c2, row.b, -t.s2 * rhs);
    w->least = num_select(pivot < w->least, pivot, w->least);
}

/* The same once x(s-1) and x(s) are known and have gone over to the right-hand sides. */
typedef struct front {
    num h1, r1;
    num h2, n2, r2;
} front;

SHOAL_HD static inline front begin_front(tri_row first, tri_row second, num before, num here) {
    const front w = { first.du, num_fma(-first.dl, before, num_fma(-first.d, here, first.b)),
                      second.d, second.du, num_fma(-second.dl, here, second.b) };
    return w;
}

SHOAL_HD static inline pivot_row front_on(front *w, tri_row row) {
    turns t;
    (void)turns_of(w->h1, w->h2, row.dl, &t);
    const num rhs = num_fma(t.c1, w->r1, t.s1 * w->r2), next = t.s1 * w->n2;
    const num c = t.c2 * t.inverse, s = t.s2 * t.inverse; /* the row is divided by its pivot */
    const pivot_row p = { num_fma(c, next, s * row.d), s * row.du, num_fma(c, rhs, s * row.b) };
    w->r1 = num_fma(t.c1, w->r2, -t.s1 * w->r1), w->h1 = t.c1 * w->n2;
    w->h2 = num_fma(t.c2, row.d, -t.s2 * next), w->n2 = t.c2 * row.du;
    w->r2 = num_fma(t.c2, row.b, -t.s2 * rhs);
    return p;
}

#endif
