/* SPDX-License-Identifier: Apache-2.0
 *
 * streams.h - LANES stretches of order-1 recurrences at once on the CPU, one a vector lane.
 *
 * Stream l has its rows at t[l * stride + i * row], row 1 or -1 (a constant: row 0), and so s and
 * w. VEC rows of VEC streams are loaded as VEC vectors and turned in registers, so that a vector
 * holds the same row of VEC streams; w goes back the same way. About 4 operations a number, and no
 * number waits for its neighbour in the same vector. LANES is the same at every instruction level,
 * hence so are the bits.
 */
#ifndef SHOAL_RECUR_STREAMS_H
#define SHOAL_RECUR_STREAMS_H

#include "core/vec.h"
#include "recur/walk.h"
#include <string.h>

enum { LANES = 64 / sizeof(real) };
/* Vectors that go along side by side: 8 streams where vectors are shorter, so that there is a
 * register for the place of each stream. */
enum { ABREAST = VEC < 8 ? 8 / VEC : 1 };

typedef struct streams {
    const real *s, *t;
    real *w;
    int64_t s_row, t_row, w_row;          /* 1, -1, or 0 for a constant */
    int64_t s_stride, t_stride, w_stride; /* from stream to stream      */
} streams;

/* Rows 0 .. VEC-1 of VEC streams; lane l of rows[r] belongs to stream l. */
WALK_INLINE void load_square(vec rows[VEC], const real *from, const int row, int64_t stride) {
    if (row == 0) {
        vec all = vec_all(0);
        for (int l = 0; l < VEC; l++) all[l] = from[l * stride];
        for (int r = 0; r < VEC; r++) rows[r] = all;
        return;
    }
    vec square[VEC];
    for (int l = 0; l < VEC; l++)
        memcpy(&square[l], from + l * stride - (row < 0 ? VEC - 1 : 0), sizeof(vec));
    vec_transpose(square);
    for (int r = 0; r < VEC; r++) rows[r] = square[row < 0 ? VEC - 1 - r : r];
}

WALK_INLINE void store_square(const vec rows[VEC], real *to, const int row, int64_t stride) {
    vec square[VEC];
    for (int r = 0; r < VEC; r++) square[r] = rows[row < 0 ? VEC - 1 - r : r];
    vec_transpose(square);
    for (int l = 0; l < VEC; l++)
        memcpy(to + l * stride - (row < 0 ? VEC - 1 : 0), &square[l], sizeof(vec));
}

/* A square of s and one of t, VEC rows from row i on of streams l ..; the steps are constants to
 * the compiler, so that no choice is left in the loops. */
WALK_INLINE void load_rows(const streams *v, int64_t i, int l, const int s_row, const int t_row,
                           vec s[VEC], vec t[VEC]) {
    load_square(s, v->s + i * s_row + l * v->s_stride, s_row, v->s_stride);
    load_square(t, v->t + i * t_row + l * v->t_stride, t_row, v->t_stride);
}

WALK_INLINE void maps_of(const streams *v, int64_t rows, real *a, real *b, const int s_row,
                         const int t_row) {
    for (int l = 0; l < LANES; l += ABREAST * VEC) {
        vec product[ABREAST], sum[ABREAST];
        for (int q = 0; q < ABREAST; q++) product[q] = vec_all(1), sum[q] = vec_all(0);
        for (int64_t i = 0; i < rows; i += VEC)
            for (int q = 0; q < ABREAST; q++) {
                vec s[VEC], t[VEC];
                load_rows(v, i, l + q * VEC, s_row, t_row, s, t);
                for (int r = 0; r < VEC; r++) {
                    product[q] = product[q] * s[r]; /* a_i = a_{i-1} s_i       */
                    sum[q] = s[r] * sum[q] + t[r];  /* b_i = s_i b_{i-1} + t_i */
                }
            }
        memcpy(a + l, product, sizeof product);
        memcpy(b + l, sum, sizeof sum);
    }
}

WALK_INLINE void rows_of(const streams *v, int64_t rows, real *x, const int s_row, const int t_row,
                         const int w_row) {
    for (int l = 0; l < LANES; l += ABREAST * VEC) {
        vec w[ABREAST];
        memcpy(w, x + l, sizeof w);
        for (int64_t i = 0; i < rows; i += VEC)
            for (int q = 0; q < ABREAST; q++) {
                vec s[VEC], t[VEC];
                real *to = v->w + i * w_row + (l + q * VEC) * v->w_stride;
                load_rows(v, i, l + q * VEC, s_row, t_row, s, t);
                for (int r = 0; r < VEC; r++) t[r] = w[q] = s[r] * w[q] + t[r]; /* w_i */
                store_square(t, to, w_row, v->w_stride);
            }
        memcpy(x + l, w, sizeof w);
    }
}

/* Pre-computation: the map w -> a w + b of the first `rows` rows, a multiple of VEC, of each
 * stream. */
static inline void streams_maps(const streams *v, int64_t rows, real *a, real *b) {
    if (v->s_row == 1 && v->t_row == 1)
        maps_of(v, rows, a, b, 1, 1);
    else if (v->s_row == -1 && v->t_row == -1)
        maps_of(v, rows, a, b, -1, -1);
    else if (v->s_row == 0 && v->t_row == 0)
        maps_of(v, rows, a, b, 0, 0);
    else if (v->s_row == 0)
        v->t_row > 0 ? maps_of(v, rows, a, b, 0, 1) : maps_of(v, rows, a, b, 0, -1);
    else
        v->s_row > 0 ? maps_of(v, rows, a, b, 1, 0) : maps_of(v, rows, a, b, -1, 0);
}

/* Determination: those rows by substitution; x[l] is the value before, then the last value, of
 * stream l. */
static inline void streams_rows(const streams *v, int64_t rows, real *x) {
    if (v->s_row == 1 && v->t_row == 1)
        rows_of(v, rows, x, 1, 1, 1);
    else if (v->s_row == -1 && v->t_row == -1)
        rows_of(v, rows, x, -1, -1, -1);
    else if (v->s_row == 0 && v->t_row == 0)
        v->w_row > 0 ? rows_of(v, rows, x, 0, 0, 1) : rows_of(v, rows, x, 0, 0, -1);
    else if (v->s_row == 0)
        v->t_row > 0 ? rows_of(v, rows, x, 0, 1, 1) : rows_of(v, rows, x, 0, -1, -1);
    else
        v->s_row > 0 ? rows_of(v, rows, x, 1, 0, 1) : rows_of(v, rows, x, -1, 0, -1);
}

#endif
