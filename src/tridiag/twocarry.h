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
 *
 * The condition (condition.h) is estimated on the way up. The pivot rows are those of a triangular factor R of the
 * scaled matrix, and Rt z = (+-1, ..., +-1) is solved as they come, each sign that which makes |z| larger: the largest
 * |z| is the estimate. What the rows of a block have, times z, in the columns at its ends is summed up and goes
 * with its relation. The signs of all rows of a block may be turned together: where two sets of rows meet, that sign
 * of the second is taken which makes the sums larger. With signs row by row alone, the sums of one matrix in a
 * thousand that is singular but for its last bits cancel, and the estimate is 100 times too low.
 *
 * Once the pairs are known each block is solved: x(s-1) and x(s) go over to the right-hand sides, its
 * inner unknowns are eliminated as before, and follow backwards from the pair at its end.
 *
 * `num` is a number, or, in CPU files, a vector of numbers of as many blocks. num_rsqrt(v), of a normal
 * v > 0, is good to half of its bits (in doubles on a GPU: a third); unit_rotation() adds the rest.
 * About 55 operations and two reciprocal roots per row, 200 operations per merge.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_H
#define SHOAL_TRIDIAG_TWOCARRY_H

#include "tridiag/condition.h"
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
static inline int num_any(num_bits mask) {
    int any = 0;
    for (int i = 0; i < VEC; i++) any |= mask[i] != 0;
    return any;
}
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
static inline num_bits is_above(num v, real limit) { return v > vec_all(limit); } /* v >= 0 */
static inline num_bits is_below(num v, real limit) { return v < vec_all(limit); }
typedef num probe_most;
static inline probe_most larger(num v, probe_most most) { return vec_max(v, most); }
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
SHOAL_HD static inline int num_any(int mask) { return mask; }
SHOAL_HD static inline num num_rsqrt(num v) { return real_rsqrt(v); }
SHOAL_HD static inline num_bits num_to_bits(num v) { return real_to_bits(v); }
SHOAL_HD static inline num num_of_bits(num_bits bits) { return real_of_bits(bits); }
/* By integers, which the unit for doubles does not see. */
SHOAL_HD static inline int is_above(num v, real limit) { return high_of(v) > high_of(limit); }
SHOAL_HD static inline int is_below(num v, real limit) { return high_of(v) < high_of(limit); }
typedef int32_t probe_most; /* the upper half */
SHOAL_HD static inline probe_most larger(num v, probe_most most) {
    return high_of(v) > most ? high_of(v) : most;
}
#endif

/* Squares of pivots below this count as zero, and those below TWOCARRY_LOW are formed once more from numbers times
 * TWOCARRY_RAISE: pivots of 2^-1000 (float: 2^-115) of a row's largest entry are still told from zero. */
SHOAL_HD static inline real twocarry_small(void) {
    return sizeof(real) == 4 ? (real)0x1p-110 : (real)0x1p-1000;
}
#define TWOCARRY_LOW   (sizeof(real) == 4 ? (real)0x1p-80 : (real)0x1p-900)
#define TWOCARRY_RAISE (sizeof(real) == 4 ? (real)0x1p60 : (real)0x1p500)

/* Whether such pivots may be there: |z| is not below the reciprocal of any pivot. */
SHOAL_HD static inline int has_low_pivots(real most) {
    return !(most < (sizeof(real) == 4 ? (real)0x1p40 : (real)0x1p450));
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

/* A row that meets itself, a ring of one: its sum in the place of d; if that overflows, a quarter of it and of b. */
SHOAL_HD static inline void fold_row(real dl, real *d, real du, real *b) {
    const real sum = *d + (dl + du), quarter = (real)0.25;
    const int overflows = !(real_abs(sum) <= REAL_MAX);
    *d = overflows ? *d * quarter + (dl * quarter + du * quarter) : sum;
    *b = overflows ? *b * quarter : *b;
}

/* The row times the power of two that brings the largest of |dl|, |d|, |du| between 1 and 2, or 4. */
SHOAL_HD static inline tri_row scaled_row(tri_row r) {
    const real_bits one = (real_bits)1 << REAL_FRACTION, most = (2 * REAL_BIAS - 1) * one;
    const num_bits e = num_to_bits(row_size(r)) & ~(one - 1); /* the exponent of the largest */
    const num scale = num_of_bits(2 * REAL_BIAS * one - bits_select(e > most, most + 0 * e, e));
    const tri_row s = { r.dl * scale, r.d * scale, r.du * scale, r.b * scale };
    return s;
}

/* The two rows carried along; h is the column to be eliminated next, n the one after it. The first row
 * has no entry in n. */
typedef struct carries {
    num l1, f1, h1, r1;
    num l2, f2, h2, n2, r2;
    /* z times the columns of the pivot rows so far, of the signs of one set of rows, and of those before */
    num z_left, z_first, z_here, z_next;
    num past_left, past_first, past_here, past_next;
    probe_most most; /* the largest |z| so far */
} carries;

typedef struct pivot_row { /* x(k) + next x(k+1) + after x(k+2) = rhs */
    num next, after, rhs;
} pivot_row;

SHOAL_HD static inline carries begin_carries(tri_row first, tri_row second) {
    const num zero = num_all(0);
    const probe_most none = { 0 };
    const carries w = { first.dl, first.d,   first.du, first.b, zero, second.dl,
                        second.d, second.du, second.b, zero,    zero, zero,
                        zero,     zero,      zero,     zero,    zero, none };
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
SHOAL_HD static inline num unit_rotation(num p, num q, num i, num *c, num *s) {
    const num u = p * i, v = q * i;
    const num missing = num_fma(-u, u, num_fma(-v, v, num_all(1)));
    const num by = missing * gain(missing);
    *c = num_fma(u, by, u), *s = num_fma(v, by, v);
    return by;
}

typedef struct rotations { /* of the two carries, then of the first of them and the next row */
    num c1, s1, c2, s2;
    num inverse; /* of the pivot */
} rotations;

/* The inverse is 0 if the pivot is too small. The roots do not wait for each other, nor for the first
 * rotation. `raised`: there may be low pivots. */
SHOAL_HD static inline void pivot_rotations(num h1, num h2, num dl, int raised, rotations *t) {
    const num zero = num_all(0), one = num_all(1);
    num q = num_fma(h1, h1, h2 * h2), h = num_fma(dl, dl, q), raise = one;
    if (raised && num_any(is_below(h, TWOCARRY_LOW))) {
        raise = num_select(is_below(h, TWOCARRY_LOW), num_all(TWOCARRY_RAISE), one);
        h1 *= raise, h2 *= raise, dl *= raise;
        q = num_fma(h1, h1, h2 * h2), h = num_fma(dl, dl, q);
    }
    const num i1 = num_select(is_above(q, twocarry_small()), num_rsqrt(q), zero);
    const num i2 = num_select(is_above(h, twocarry_small()), num_rsqrt(h), zero);
    (void)unit_rotation(h1, h2, i1, &t->c1, &t->s1);
    t->c1 = num_select(is_above(q, twocarry_small()), t->c1, one);
    const num here = num_select(is_above(q, twocarry_small()), root_of(q, i1), h1);
    const num by = unit_rotation(here, dl, i2, &t->c2, &t->s2);
    t->c2 = num_select(is_above(h, twocarry_small()), t->c2, one);
    t->inverse = num_fma(i2, by, i2) * raise;
}

/* z = -+(|sum| + 1) / pivot of a column that the rows above have `sum` in; its size is infinite where there is no
 * pivot. */
SHOAL_HD static inline num column_probe(num sum, num inverse, probe_most *most) {
    const num_bits sign = ~num_to_bits(sum) & num_to_bits(num_all(-(real)0.0));
    const num size = num_fma(num_abs(sum), inverse, inverse);
    *most = larger(num_select(is_above(inverse, 0), size, num_all((real)INFINITY)), *most);
    return num_of_bits(num_to_bits(size) | sign);
}

/* The rows so far become one set: with the sign of its latest that makes the sums larger. */
SHOAL_HD static inline void join_sets(carries *w) {
    const num with = num_abs(w->past_left + w->z_left) + num_abs(w->past_first + w->z_first) +
                     num_abs(w->past_here + w->z_here) + num_abs(w->past_next + w->z_next);
    const num without = num_abs(w->past_left - w->z_left) + num_abs(w->past_first - w->z_first) +
                        num_abs(w->past_here - w->z_here) + num_abs(w->past_next - w->z_next);
    const num zero = num_all(0), sign = num_select(without > with, num_all(-1), num_all(1));
    w->past_left = num_fma(sign, w->z_left, w->past_left),
    w->past_first = num_fma(sign, w->z_first, w->past_first);
    w->past_here = num_fma(sign, w->z_here, w->past_here),
    w->past_next = num_fma(sign, w->z_next, w->past_next);
    w->z_left = w->z_first = w->z_here = w->z_next = zero;
}

/* Eliminates column k with the fresh row k + 1. `sets`: there are rows before those of the latest set. */
SHOAL_HD static inline void carries_eliminate(carries *w, tri_row row, int raised, int sets) {
    rotations t;
    pivot_rotations(w->h1, w->h2, row.dl, raised, &t);
    const num left = num_fma(t.c1, w->l1, t.s1 * w->l2), next = t.s1 * w->n2;
    const num first = num_fma(t.c1, w->f1, t.s1 * w->f2);
    const num rhs = num_fma(t.c1, w->r1, t.s1 * w->r2);
    w->l1 = num_fma(t.c1, w->l2, -t.s1 * w->l1), w->f1 = num_fma(t.c1, w->f2, -t.s1 * w->f1);
    w->r1 = num_fma(t.c1, w->r2, -t.s1 * w->r1), w->h1 = t.c1 * w->n2;
    w->l2 = -t.s2 * left, w->f2 = -t.s2 * first;
    w->h2 = num_fma(t.c2, row.d, -t.s2 * next), w->n2 = t.c2 * row.du;
    w->r2 = num_fma(t.c2, row.b, -t.s2 * rhs);
    const num z = column_probe(w->z_here, t.inverse, &w->most), zc = z * t.c2, zs = z * t.s2;
    w->z_here = num_fma(zc, next, num_fma(zs, row.d, w->z_next)), w->z_next = zs * row.du;
    w->z_left = num_fma(zc, left, w->z_left), w->z_first = num_fma(zc, first, w->z_first);
    if (!sets) return;
    const num o = -w->past_here * t.inverse, oc = o * t.c2, os = o * t.s2;
    w->most = larger(num_abs(o) + num_abs(z), w->most); /* with one of both signs */
    w->past_here = num_fma(oc, next, num_fma(os, row.d, w->past_next)), w->past_next = os * row.du;
    w->past_left = num_fma(oc, left, w->past_left),
    w->past_first = num_fma(oc, first, w->past_first);
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

SHOAL_HD static inline pivot_row front_eliminate(front *w, tri_row row, int raised) {
    rotations t;
    pivot_rotations(w->h1, w->h2, row.dl, raised, &t);
    const num rhs = num_fma(t.c1, w->r1, t.s1 * w->r2), next = t.s1 * w->n2;
    const num c = t.c2 * t.inverse, s = t.s2 * t.inverse; /* the row is divided by its pivot */
    const pivot_row p = { num_fma(c, next, s * row.d), s * row.du, num_fma(c, rhs, s * row.b) };
    w->r1 = num_fma(t.c1, w->r2, -t.s1 * w->r1), w->h1 = t.c1 * w->n2;
    w->h2 = num_fma(t.c2, row.d, -t.s2 * next), w->n2 = t.c2 * row.du;
    w->r2 = num_fma(t.c2, row.b, -t.s2 * rhs);
    return p;
}

/* ---- relations: how two become one, and how the pair between them is found again ------------- */

enum { RELATION = 13, RELATION_ROWS = 9, MIDDLE = 11 };

typedef struct relation { /* l1 f1 h1 r1, l2 f2 h2 n2 r2; and of z: l f h n */
    real v[RELATION];
} relation;

typedef struct
    middle { /* what gives the pair between two relations back: rows divided by their pivots */
    real v[MIDDLE]; /* over the pair, the pairs on the left and on the right: 1 2 2 1, and 2 2 1 */
} middle;

typedef struct pair { /* x(e-1), x(e) */
    real last, first;
} pair;

/* The rotation that takes (p, q), whose squares add up to h, to (sqrt(h), 0). */
typedef struct rotation {
    real c, s;
    real root, inverse; /* sqrt(h), and 1 over it; 0 where h is too small */
} rotation;

SHOAL_HD static inline rotation normal_rotation(real p, real q, real h) {
    const int none = !(high_of(h) > high_of(twocarry_small()));
    const real i = none ? 0 : real_rsqrt(h), x = p * i, y = q * i;
    const real root = h * i, less = real_fma(-root, i, 1);    /* as root_of() */
    const real missing = real_fma(-x, x, real_fma(-y, y, 1)); /* as unit_rotation() */
    const real by = missing * real_gain(missing);
    const rotation t = { none ? 1 : real_fma(x, by, x), real_fma(y, by, y),
                         none ? p : real_fma(root * less, real_gain(less), root),
                         real_fma(i, by, i) };
    return t;
}

SHOAL_HD static inline rotation make_rotation(real p, real q, real h) {
    if (!(high_of(h) < high_of(TWOCARRY_LOW))) return normal_rotation(p, q, h);
    p *= TWOCARRY_RAISE, q *= TWOCARRY_RAISE;
    rotation t = normal_rotation(p, q, real_fma(p, p, q * q));
    t.root /= TWOCARRY_RAISE, t.inverse *= TWOCARRY_RAISE;
    return t;
}

/* A column of two rows, rotated: both have entries, or one of them has none. */
SHOAL_HD static inline void rotate_both(rotation t, real *u, real *v) {
    const real p = real_fma(t.c, *u, t.s * *v), q = real_fma(t.c, *v, -t.s * *u);
    *u = p, *v = q;
}
SHOAL_HD static inline void rotate_upper(rotation t, real *u, real *v) { /* v has none */
    *v = -t.s * *u, *u = t.c * *u;
}
SHOAL_HD static inline void rotate_lower(rotation t, real *u, real *v) { /* u has none */
    *u = t.s * *v, *v = t.c * *v;
}

typedef struct merge_row { /* over the pair, the pair on the left, that on the right */
    real here, next, l, f, h, n, r;
} merge_row;

/* Rotates the four rows of two neighbours so that p1 and p2 have taken up the pair between them; t1 and t2
 * have their pivots. All rotations of a column are computed before its rows are rotated. `whole`: there is a pair
 * on the left. The rows of q come in such an order that q1 gets nothing in its last column. */
SHOAL_HD static inline void eliminate_pair(merge_row *p1, merge_row *p2, merge_row *q1,
                                           merge_row *q2, int whole, rotation *t1, rotation *t2) {
    const real g1 = real_fma(p1->here, p1->here, p2->here * p2->here);
    const real g2 = real_fma(q1->here, q1->here, g1), g3 = real_fma(q2->here, q2->here, g2);
    const rotation a = make_rotation(p1->here, p2->here, g1),
                   b = make_rotation(a.root, q1->here, g2);
    const rotation c = make_rotation(b.root, q2->here, g3);
    rotate_lower(a, &p1->next, &p2->next), rotate_both(a, &p1->r, &p2->r);
    rotate_both(b, &p1->next, &q1->next), rotate_both(b, &p1->r, &q1->r);
    rotate_lower(b, &p1->h, &q1->h);
    rotate_both(c, &p1->next, &q2->next), rotate_both(c, &p1->r, &q2->r);
    rotate_both(c, &p1->h, &q2->h), rotate_lower(c, &p1->n, &q2->n);
    const real h1 = real_fma(p2->next, p2->next, q1->next * q1->next);
    const real h2 = real_fma(q2->next, q2->next, h1);
    const rotation d = make_rotation(p2->next, q1->next, h1),
                   e = make_rotation(d.root, q2->next, h2);
    rotate_lower(d, &p2->h, &q1->h), rotate_both(d, &p2->r, &q1->r);
    rotate_both(e, &p2->h, &q2->h), rotate_lower(e, &p2->n, &q2->n), rotate_both(e, &p2->r, &q2->r);
    if (whole) {
        rotate_both(a, &p1->l, &p2->l), rotate_both(a, &p1->f, &p2->f);
        rotate_upper(b, &p1->l, &q1->l), rotate_upper(b, &p1->f, &q1->f);
        rotate_upper(c, &p1->l, &q2->l), rotate_upper(c, &p1->f, &q2->f);
        rotate_both(d, &p2->l, &q1->l), rotate_both(d, &p2->f, &q1->f);
        rotate_both(e, &p2->l, &q2->l), rotate_both(e, &p2->f, &q2->f);
    }
    *t1 = c, *t2 = e;
}

/* column_probe() of one number. */
SHOAL_HD static inline real column_size(real sum, real inverse, real *most) {
    const real size = inverse > 0 ? real_fma(real_abs(sum), inverse, inverse) : (real)INFINITY;
    *most = real_max(size, *most);
    return sum < 0 ? size : -size;
}

/* The relation of two neighbours, and what gives the pair between them back. */
SHOAL_HD static inline relation merge(const relation *p, const relation *q, middle *m, real *most) {
    const real *a = p->v, *b = q->v;
    merge_row p1 = { a[2], 0, a[0], a[1], 0, 0, a[3] };
    merge_row p2 = { a[6], a[7], a[4], a[5], 0, 0, a[8] };
    merge_row q1 = { b[0], b[1], 0, 0, b[2], 0, b[3] };
    merge_row q2 = { b[4], b[5], 0, 0, b[6], b[7], b[8] };
    rotation s, t;
    eliminate_pair(&p1, &p2, &q1, &q2, 1, &s, &t);
    const real i = s.inverse, j = t.inverse;
    const middle rows = { { i * p1.next, i * p1.l, i * p1.f, i * p1.h, i * p1.n, i * p1.r, j * p2.l,
                            j * p2.f, j * p2.h, j * p2.n, j * p2.r } };
    *m = rows;
    relation r = { { q1.l, q1.f, q1.h, q1.r, q2.l, q2.f, q2.h, q2.n, q2.r } };
    real largest = -1;
    for (int turned = 0; turned < 2; turned++) { /* the signs of q */
        const real sign = turned ? -1 : 1;
        const real y = column_size(real_fma(sign, b[9], a[11]), i, most);
        const real z = column_size(real_fma(y, p1.next, real_fma(sign, b[10], a[12])), j, most);
        const real sl = real_fma(y, p1.l, real_fma(z, p2.l, a[9]));
        const real sf = real_fma(y, p1.f, real_fma(z, p2.f, a[10]));
        const real sh = real_fma(y, p1.h, real_fma(z, p2.h, sign * b[11]));
        const real sn = real_fma(y, p1.n, real_fma(z, p2.n, sign * b[12]));
        const real size = (real_abs(sl) + real_abs(sf)) + (real_abs(sh) + real_abs(sn));
        if (turned && !(size > largest)) continue;
        largest = size;
        r.v[9] = sl, r.v[10] = sf, r.v[11] = sh, r.v[12] = sn;
    }
    return r;
}

/* The pair in the middle from those at both ends. */
SHOAL_HD static inline pair middle_pair(const middle *m, pair left, pair right) {
    const real *v = m->v;
    pair x = { v[5], v[10] };
    x.first = real_fma(-v[6], left.last, real_fma(-v[7], left.first, x.first));
    x.first = real_fma(-v[8], right.last, real_fma(-v[9], right.first, x.first));
    x.last = real_fma(-v[1], left.last, real_fma(-v[2], left.first, x.last));
    x.last = real_fma(-v[3], right.last, real_fma(-v[4], right.first, x.last));
    x.last = real_fma(-v[0], x.first, x.last);
    return x;
}

/* Relations one after another from a pair that is known: what is left of those so far, two rows over the
 * pair at their end, and what gives such a pair back from the one after it. */
typedef struct relation_front {
    real h1, r1, h2, n2, r2;
} relation_front;

typedef struct
    pair_rows { /* x(e-1) over x(e), the pair after it and 1; x(e) over that pair and 1 */
    real v[7];
} pair_rows;

SHOAL_HD static inline relation_front begin_relation_front(const relation *p, pair left) {
    const real *v = p->v;
    const relation_front s = { v[2], real_fma(-v[0], left.last, real_fma(-v[1], left.first, v[3])),
                               v[6], v[7],
                               real_fma(-v[4], left.last, real_fma(-v[5], left.first, v[8])) };
    return s;
}

SHOAL_HD static inline pair_rows relation_front_eliminate(relation_front *s, const relation *q) {
    const real *b = q->v;
    merge_row p1 = { s->h1, 0, 0, 0, 0, 0, s->r1 }, p2 = { s->h2, s->n2, 0, 0, 0, 0, s->r2 };
    merge_row q1 = { b[0], b[1], 0, 0, b[2], 0, b[3] };
    merge_row q2 = { b[4], b[5], 0, 0, b[6], b[7], b[8] };
    rotation t, u;
    eliminate_pair(&p1, &p2, &q1, &q2, 0, &t, &u);
    s->h1 = q1.h, s->r1 = q1.r, s->h2 = q2.h, s->n2 = q2.n, s->r2 = q2.r;
    const real i = t.inverse, j = u.inverse;
    const pair_rows m = { { i * p1.next, i * p1.h, i * p1.n, i * p1.r, j * p2.h, j * p2.n,
                            j * p2.r } };
    return m;
}

SHOAL_HD static inline pair pair_before(const pair_rows *m, pair right) {
    const real *v = m->v;
    pair x;
    x.first = real_fma(-v[4], right.last, real_fma(-v[5], right.first, v[6]));
    x.last = real_fma(-v[1], right.last, real_fma(-v[2], right.first, v[3]));
    x.last = real_fma(-v[0], x.first, x.last);
    return x;
}

/* What closes a system: nothing lies before x(0) and beyond the last unknown, or its ends meet. Then the
 * rows that fill its last block are x(i+1) = x(i-1), i >= n, so that x(0) and x(n-1), which come after
 * x(n-1) and x(n-2), come again at its end: in this order, or, where the system has an odd number of
 * rows (blocks have an even one), in the other. (The CPU's long blocks end with the last row instead.) */
enum { ENDS_OPEN, ENDS_MEET, ENDS_MEET_CROSSED };

SHOAL_HD static inline int ends_of(int periodic, int64_t n) {
    return !periodic || n < 2 ? ENDS_OPEN : n % 2 ? ENDS_MEET_CROSSED : ENDS_MEET;
}

/* The pairs at both ends of the whole system. */
SHOAL_HD static inline void root_pairs(const relation *r, int ends, pair *left, pair *right,
                                       real *most) {
    const real *v = r->v;
    real f1 = v[1], f2 = v[5], u = v[2], w = v[6], d1 = v[3], d2 = v[8]; /* x(0), x(n-1) */
    real z_first = v[10], z_here = v[11];
    if (ends == ENDS_MEET) f2 += v[7], u += v[0], w += v[4], z_first += v[12], z_here += v[9];
    if (ends == ENDS_MEET_CROSSED) {
        f1 += v[2], f2 += v[6], u = v[0], w = v[4] + v[7];
        z_first += v[11], z_here = v[9] + v[12];
    }
    const real h = real_fma(f1, f1, f2 * f2);
    const rotation t = make_rotation(f1, f2, h);
    rotate_both(t, &u, &w), rotate_both(t, &d1, &d2);
    const real y = column_size(z_first, t.inverse, most);
    (void)column_size(real_fma(y, u, z_here), w == 0 ? 0 : 1 / real_abs(w), most);
    const real last = d2 / w, first = (d1 - u * last) * t.inverse;
    left->last = ends == ENDS_OPEN ? 0 : last, left->first = first;
    right->last = ends == ENDS_MEET_CROSSED ? first : last;
    right->first = ends == ENDS_OPEN ? 0 : ends == ENDS_MEET ? first : last;
}

#ifndef TWOCARRY_VECTORS
/* Where two fronts meet, one from the left that has come to x(k), one from the right that has come to
 * x(k+1): four rows, two unknowns. */
SHOAL_HD static inline pair join_fronts(const front *p, const front *q) {
    const real g1 = real_fma(p->h1, p->h1, p->h2 * p->h2), g2 = real_fma(q->n2, q->n2, g1);
    const rotation a = make_rotation(p->h1, p->h2, g1), b = make_rotation(a.root, q->n2, g2);
    real next = 0, u2 = p->n2, v1 = q->h1, v2 = q->h2; /* the second column */
    real r = p->r1, d2 = p->r2, e1 = q->r1, e2 = q->r2;
    rotate_lower(a, &next, &u2), rotate_both(a, &r, &d2);
    rotate_both(b, &next, &v2), rotate_both(b, &r, &e2);
    const real h1 = real_fma(u2, u2, v1 * v1), h2 = real_fma(v2, v2, h1);
    const rotation c = make_rotation(u2, v1, h1), d = make_rotation(c.root, v2, h2);
    rotate_both(c, &d2, &e1), rotate_both(d, &d2, &e2);
    pair x;
    x.first = d2 * d.inverse;
    x.last = real_fma(-next, x.first, r) * b.inverse;
    return x;
}
#endif

/* Status by the largest |z|: infinite where there was no pivot. */
SHOAL_HD static inline int32_t status_of_most(real most, double cond) {
    if (!(most <= REAL_MAX)) return SHOAL_SYSTEM_SINGULAR;
    return is_ill(2 * most, cond) ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

/* Whether the answer shows what z did not: |x| / |b| is at most |A^-1|. Both miss a matrix once in some thousands of those
 * that are singular but for their last bits, but not the same ones. `b` is the largest of scaled rows. */
SHOAL_HD static inline int is_ill_by_answer(real x, real b, double cond) {
    return b > 0 && is_ill(2 * (x / b), cond);
}

#endif
