/* SPDX-License-Identifier: Apache-2.0
 *
 * map.h - rows of a recurrence as maps that can be joined: the arithmetic of every parallel method.
 *
 * The state x before row i is (w[i-1], .., w[i-r]). A row of a linear recurrence of order r takes
 * x to M x + v, where M is the companion matrix of s[i] and v = (t[i], 0, ..); several rows do the
 * same with other M and v, kept here as r rows of r + 1 numbers. A row of the Moebius recurrence
 * takes p to (alpha p + beta) / (gamma p + delta); several rows do the same by the product of their
 * 2 x 2 matrices. Only its direction counts: it is scaled by powers of two, exactly, so
 * that it neither overflows nor vanishes (equations (7) to (13) of the P-scheme paper carry the
 * same product by a recursion that breaks down where one of its numbers is zero).
 *
 * Products of s underflow where the answer does not: w may be large before a stretch, or grow after it.
 * What is lost may not exceed what substitution itself would lose, one smallest number per product. A map
 * here is applied to one state, once that is known. Its M begins as 2^g I instead of I (map_begin): a product
 * that underflows has lost a smallest number times |x| / 2^g, no more than substitution loses where
 * |x| <= 2^g. That costs nothing per row. Larger states are walked through the rows (map_carry). Products
 * that grow beyond the largest number / 2^g overflow, and their rows are walked, too. Maps that are joined to
 * others before any state is known: joined.cuh. Numbers of a Moebius matrix that are too far apart for their
 * type make it not finite, and its rows are walked.
 *
 * `shape` is a constant to every caller: loops unroll, and of a map only the numbers in use remain.
 * Non-finite numbers stay: Inf * 0 is NaN, so that a sum over all of a map's numbers, once
 * poisoned, shows that something overflowed on the way to it.
 */
#ifndef SHOAL_RECUR_MAP_H
#define SHOAL_RECUR_MAP_H

#include "core/real.h"
#include "recur/plan.h"

#ifdef __CUDACC__
#define MAP_INLINE __host__ __device__ static __forceinline__
#else
#define MAP_INLINE static inline __attribute__((always_inline))
#endif
#ifdef __cplusplus
#define MAP_CONSTANT constexpr MAP_INLINE /* known when kernels are compiled */
#else
#define MAP_CONSTANT MAP_INLINE
#endif
#ifdef __CUDA_ARCH__
#define MAP_UNROLL _Pragma("unroll")
#else
#define MAP_UNROLL
#endif

enum { MAP_MAX = SHOAL_RECUR_ORDERS * (SHOAL_RECUR_ORDERS + 1) };

/* MAP_BEGIN is g. Every sum of products is accurate from MAP_ACCURATE on. The largest number of a Moebius
 * matrix is from MAP_NEAR to MAP_FAR. */
#ifdef SHOAL_SINGLE
enum { MAP_BEGIN = 80 };
#define MAP_NEAR 0x1p-10f
#define MAP_FAR  0x1p40f
#else
enum { MAP_BEGIN = 512 };
#define MAP_NEAR 0x1p-100
#define MAP_FAR  0x1p400
#endif
#define MAP_ACCURATE (4 * REAL_MIN)

typedef struct recur_map {
    real m[MAP_MAX];
} recur_map;

typedef struct recur_state {
    real x[SHOAL_RECUR_ORDERS];
} recur_state;

/* Numbers of a map, of a state, of s per row. */
MAP_CONSTANT int map_size(const int shape) {
    return shape == SHAPE_MOEBIUS ? 4 : shape * (shape + 1);
}
MAP_CONSTANT int state_size(const int shape) { return shape == SHAPE_MOEBIUS ? 1 : shape; }
MAP_INLINE int row_size(const int shape) { return shape == SHAPE_MOEBIUS ? 4 : shape; }

MAP_INLINE real map_poison(const recur_map *a, const int shape) {
    real poison = 0;
    MAP_UNROLL for (int e = 0; e < map_size(shape); e++) poison = poisoned(poison, a->m[e]);
    return poison;
}

MAP_INLINE real state_poison(const recur_state *x, const int shape) {
    real poison = 0;
    MAP_UNROLL for (int e = 0; e < state_size(shape); e++) poison = poisoned(poison, x->x[e]);
    return poison;
}

MAP_INLINE real row_poison(const real *s, real t, const int shape) {
    real poison = shape == SHAPE_MOEBIUS ? 0 : poisoned(0, t);
    MAP_UNROLL for (int e = 0; e < row_size(shape); e++) poison = poisoned(poison, s[e]);
    return poison;
}

MAP_INLINE real largest_of_four(const real v[4]) {
    return real_max(real_max(real_abs(v[0]), real_abs(v[1])),
                    real_max(real_abs(v[2]), real_abs(v[3])));
}

/* Multiplies four numbers by the power of two that brings the largest near 1, if it is far from
 * there: products of two that were so treated stay in range. The power has two factors where it is
 * not a number itself; both multiplications are exact then. */
MAP_INLINE void moebius_scale(real v[4]) {
    const real largest = largest_of_four(v);
    if (largest <= MAP_FAR && largest >= MAP_NEAR) return;
    if (!(largest > 0) || largest - largest != 0) return; /* all zero; not finite: not used */
    const int e =
        largest < REAL_MIN ? 64 - exponent_of(largest * (real)0x1p64) : -exponent_of(largest);
    const int first = e < REAL_BIAS ? e : REAL_BIAS;
    const real most = power_of_two(first), rest = power_of_two(e - first);
    MAP_UNROLL for (int i = 0; i < 4; i++) v[i] = v[i] * most * rest;
}

/* Whether a product was lost; and whether a number is too small to be an accurate sum of products. */
MAP_INLINE int underflows(real u, real v) { return u != 0 && v != 0 && u * v == 0; }
MAP_INLINE int is_inaccurate(real v) { return real_abs(v) < MAP_ACCURATE && v != 0; }
/* Whether a number has become too small by a power of two. */
MAP_INLINE int is_scaled_away(real v, real scaled) {
    return real_abs(scaled) < MAP_ACCURATE && scaled != v;
}

MAP_INLINE recur_map map_identity(const int shape) {
    recur_map a = { { 0 } };
    const int columns = shape == SHAPE_MOEBIUS ? 2 : shape + 1;
    MAP_UNROLL for (int e = 0; e < MAP_MAX; e++) a.m[e] = e / columns == e % columns;
    return a;
}

/* The state after the rows of a map. Of Moebius it is not finite where a product underflows that matters. */
MAP_INLINE recur_state map_apply(const recur_map *a, const recur_state *x, const int shape) {
    recur_state y = { { 0 } };
    if (shape == SHAPE_MOEBIUS) {
        const real above = real_mad(a->m[0], x->x[0], a->m[1]);
        const real below = real_mad(a->m[2], x->x[0], a->m[3]);
        int lost = is_inaccurate(above) || is_inaccurate(below);
        lost |= above == 0 && underflows(a->m[0], x->x[0]);
        lost |= below == 0 && underflows(a->m[2], x->x[0]);
        y.x[0] = lost ? real_nan() : above / below;
        return y;
    }
    const int columns = shape + 1;
    MAP_UNROLL for (int r = 0; r < shape; r++) {
        real sum = a->m[r * columns + shape];
        MAP_UNROLL for (int k = shape - 1; k >= 0; k--) sum =
            real_mad(a->m[r * columns + k], x->x[k], sum);
        y.x[r] = sum;
    }
    return y;
}

/* `earlier`, then `later`, of Moebius: the product of their matrices, scaled. Where a number of it was lost, or
 * is too small beside the largest, it is made not finite. */
MAP_INLINE recur_map moebius_join(const recur_map *earlier, const recur_map *later) {
    recur_map a = { { 0 } };
    int settled = 1, lost = 0;
    MAP_UNROLL for (int i = 0; i < 4; i++) {
        const real *row = later->m + i / 2 * 2, *column = earlier->m + i % 2;
        a.m[i] = real_mad(row[0], column[0], row[1] * column[2]);
        settled = settled && real_abs(a.m[i]) >= MAP_ACCURATE && real_abs(a.m[i]) <= MAP_FAR;
    }
    if (settled && largest_of_four(a.m) >= MAP_NEAR) return a;
    MAP_UNROLL for (int i = 0; i < 4; i++) {
        const real *row = later->m + i / 2 * 2, *column = earlier->m + i % 2;
        lost |= is_inaccurate(a.m[i]);
        lost |= a.m[i] == 0 && (underflows(row[0], column[0]) || underflows(row[1], column[2]));
    }
    const recur_map before = a;
    moebius_scale(a.m);
    MAP_UNROLL for (int i = 0; i < 4; i++) lost |= is_scaled_away(before.m[i], a.m[i]);
    if (lost) a.m[0] = real_nan();
    return a;
}

/* The map, then one row. */
MAP_INLINE void map_append(recur_map *a, const real *s, real t, const int shape) {
    if (shape == SHAPE_MOEBIUS) {
        recur_map row;
        MAP_UNROLL for (int e = 0; e < 4; e++) row.m[e] = s[e];
        moebius_scale(row.m);
        MAP_UNROLL for (int e = 0; e < 4; e++) {
            if (is_scaled_away(s[e], row.m[e])) row.m[0] = real_nan();
        }
        *a = moebius_join(a, &row);
        return;
    }
    const int columns = shape + 1;
    real first[SHOAL_RECUR_ORDERS + 1];
    MAP_UNROLL for (int c = 0; c < columns; c++) { /* s M, s v + t */
        real sum = c == shape ? t : 0;
        MAP_UNROLL for (int k = shape - 1; k >= 0; k--) {
            const real e = a->m[k * columns + c];
            sum = k == shape - 1 && c < shape ? s[k] * e : real_mad(s[k], e, sum);
        }
        first[c] = sum;
    }
    MAP_UNROLL for (int e = map_size(shape) - 1; e >= columns; e--) a->m[e] = a->m[e - columns];
    MAP_UNROLL for (int c = 0; c < columns; c++) a->m[c] = first[c];
}

/* The map of no rows, to append rows to, and to apply by map_carry(). */
MAP_INLINE recur_map map_begin(const int shape) {
    recur_map a = map_identity(shape);
    MAP_UNROLL for (int e = 0; e < map_size(shape) && shape != SHAPE_MOEBIUS; e++) {
        a.m[e] *= power_of_two(MAP_BEGIN);
    }
    return a;
}

/* The state x before the rows of a map of map_begin() becomes the state after them; if what is returned
 * is not 0, it has to be found row by row. 2^-g goes to the factor of each product that does not need it. */
MAP_INLINE real map_carry(const recur_map *a, recur_state *x, const int shape) {
    const real down = power_of_two(-MAP_BEGIN);
    real poison = map_poison(a, shape);
    recur_map b = *a;
    MAP_UNROLL for (int k = 0; k < shape && shape != SHAPE_MOEBIUS; k++) {
        const real size = real_abs(x->x[k]);
        const int small = size <= 1;
        if (!(size * down <= 1)) poison = real_nan();
        MAP_UNROLL for (int r = 0; r < shape; r++) b.m[r * (shape + 1) + k] *= small ? down : 1;
        x->x[k] *= small ? 1 : down;
    }
    *x = map_apply(&b, x, shape);
    return poison + state_poison(x, shape);
}

/* One row by substitution: the state moves on, and its first number is w[i]. The oldest values come
 * first, so that only the last multiplication waits for w[i-1]. */
MAP_INLINE real row_step(recur_state *x, const real *s, real t, const int shape) {
    if (shape == SHAPE_MOEBIUS) {
        x->x[0] = real_mad(s[0], x->x[0], s[1]) / real_mad(s[2], x->x[0], s[3]);
        return x->x[0];
    }
    real sum = t;
    MAP_UNROLL for (int k = shape - 1; k >= 0; k--) sum = real_mad(s[k], x->x[k], sum);
    MAP_UNROLL for (int k = shape - 1; k > 0; k--) x->x[k] = x->x[k - 1];
    x->x[0] = sum;
    return sum;
}

/* Where the rows of one segment are: s of row i is s[i * s_row], .., t[i * t_row], w[i * w_row]. */
typedef struct recur_view {
    const real *s, *t;
    real *w;
    int64_t s_row, t_row, w_row;
} recur_view;

MAP_INLINE recur_view view_of(const recur_job *job, int64_t k) {
    const int64_t at = k * job->segment + job->origin;
    recur_view v;
    v.s = (const real *)job->s + (job->constant_s ? k : at) * job->width;
    v.t = !job->t ? (const real *)job->s : (const real *)job->t + (job->constant_t ? k : at);
    v.w = (real *)job->w + at;
    v.s_row = job->constant_s ? 0 : job->row * job->width;
    v.t_row = job->constant_t || !job->t ? 0 : job->row;
    v.w_row = job->row;
    return v;
}

/* The map of rows begin .. end-1, which come after those of `a`; and their steps without writing w. */
MAP_INLINE void map_append_rows(recur_map *a, const recur_view *v, int64_t begin, int64_t end,
                                const int shape) {
    for (int64_t i = begin; i < end; i++)
        map_append(a, v->s + i * v->s_row, v->t[i * v->t_row], shape);
}
MAP_INLINE void skip_rows(recur_state *x, const recur_view *v, int64_t begin, int64_t end,
                          const int shape) {
    for (int64_t i = begin; i < end; i++)
        row_step(x, v->s + i * v->s_row, v->t[i * v->t_row], shape);
}

/* The state after the first `rows` rows of a view, by their map, begun by map_begin(), or else row by row.
 * A state that is not finite already has no answer after it. */
MAP_INLINE void carry_or_skip(const recur_map *a, recur_state *x, const recur_view *v, int64_t rows,
                              const int shape) {
    const recur_state before = *x;
    if (map_carry(a, x, shape) == 0 || state_poison(&before, shape) != 0) return;
    *x = before;
    skip_rows(x, v, 0, rows, shape);
}

MAP_INLINE recur_state first_state(const recur_job *job, int64_t k, const int shape) {
    recur_state x = { { 0 } };
    MAP_UNROLL for (int e = 0; e < state_size(shape); e++) {
        x.x[e] = job->w0 ? ((const real *)job->w0)[k * state_size(shape) + e] : 0;
    }
    return x;
}

#endif
