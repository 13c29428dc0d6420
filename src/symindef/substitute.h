/* SPDX-License-Identifier: Apache-2.0
 *
 * substitute.h - y := M^-1 y and y := M^-t y on the CPU, several right-hand sides side by side in a row
 * of y, by blocks of ROWS rows.
 *
 * What a block takes off a row is summed up first: a row is rounded n / ROWS times at its own size and
 * not n times. Every sum has one order, whichever way the lines run and however many right-hand sides
 * there are. Where a line is a row of the triangle that is solved with, a block of rows takes all that
 * is solved, along its lines, before it is solved itself; where a line is a column the block is taken
 * off all that is left, across its lines. Either way entries of M for TALL rows are packed and meet
 * columns of y in registers, TALL x TAKEN vectors; one right-hand side needs no packing.
 *
 * n^2 / 2 multiplications and additions for each right-hand side; M is read once for WIDTH of them.
 */
#ifndef SHOAL_SYMINDEF_SUBSTITUTE_H
#define SHOAL_SYMINDEF_SUBSTITUTE_H

#include "core/vec.h"
#include "symindef/stage.h"
#include <string.h>

enum { WIDTH = 32, ROWS = 32, TALL = 4, TAKEN = VEC_REGISTERS > 16 ? 4 : 2, TOGETHER = 64 };

typedef struct substitution {
    const symindef_job *job;
    real *y;        /* right-hand sides, then the answers */
    int64_t stride; /* from row to row of y: 1, or a multiple of VEC, WIDTH at most */
    int forward;    /* with M, else with Mt */
} substitution;

static inline int64_t blocks_of(const substitution *s) {
    return (s->job->shape.n + ROWS - 1) / ROWS;
}

/* Where block b begins: a pivot of order 2 is not torn, so that all between two blocks is M's. A
 * block has ROWS + 1 rows at most. */
static inline int64_t block_begin(const substitution *s, int64_t b) {
    const real *e = s->job->e;
    const int64_t row = b * ROWS;
    if (row >= s->job->shape.n) return s->job->shape.n;
    return row + (row > 0 && e[row - 1] != 0);
}

static inline __attribute__((always_inline)) vec row_vec(const real *at) {
    vec v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* Some vectors of `rows` rows of y at `to`, less the sums over `depth` rows at `from`, whose entries
 * of M are m[x * TALL + row]. (Loops end at TALL, whatever there is, so that sums stay in registers.) */
static inline __attribute__((always_inline)) void take_vectors(const real *m, int64_t depth,
                                                               const real *from, real *to, int rows,
                                                               int64_t stride, int vectors) {
    vec sum[TALL][TAKEN];
    for (int r = 0; r < TALL; r++)
        for (int v = 0; v < vectors; v++) sum[r][v] = vec_all(0);
    for (int64_t x = 0; x < depth; x++, m += TALL, from += stride)
        for (int r = 0; r < TALL; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] = vec_fma(vec_all(m[r]), row_vec(from + v * VEC), sum[r][v]);
    for (int r = 0; r < TALL; r++)
        for (int v = 0; v < vectors; v++)
            if (r < rows) {
                const vec left = row_vec(to + r * stride + v * VEC) - sum[r][v];
                memcpy(to + r * stride + v * VEC, &left, sizeof left);
            }
}

/* Rows i .. i + rows - 1 of y, TALL or fewer, less what rows x0 .. x1 - 1 take off, of which there
 * are ROWS + 1 at most. Lines are the rows that take, or those that are taken off. */
static void take_block(const substitution *s, int along, int64_t i, int rows, int64_t x0,
                       int64_t x1) {
    const int64_t stride = s->stride;
    const real *a = s->job->a, *from = s->y + x0 * stride;
    real m[(ROWS + 1) * TALL], *to = s->y + i * stride;
    for (int r = 0; r < TALL && along; r++) {
        const real *at = a + line_start(&s->job->shape, r < rows ? i + r : i);
        for (int64_t x = x0; x < x1; x++) m[(x - x0) * TALL + r] = at[x];
    }
    for (int64_t x = x0; x < x1 && !along; x++) {
        const real *at = a + line_start(&s->job->shape, x) + i;
        for (int r = 0; r < TALL; r++) m[(x - x0) * TALL + r] = at[r < rows ? r : 0];
    }
    int64_t c = 0;
    for (; c + TAKEN * VEC <= stride; c += TAKEN * VEC)
        take_vectors(m, x1 - x0, from + c, to + c, rows, stride, TAKEN);
    for (; c < stride; c += VEC) take_vectors(m, x1 - x0, from + c, to + c, rows, stride, 1);
}

/* The same for one right-hand side and any number of rows, without packing: sums that do not wait
 * for each other. */
static void take_single(const substitution *s, int along, int64_t i0, int64_t i1, int64_t x0,
                        int64_t x1) {
    const symindef_shape *shape = &s->job->shape;
    const real *a = s->job->a;
    real *y = s->y;
    for (int64_t i = i0; i < i1; i += TOGETHER) {
        const int rows = i1 - i < TOGETHER ? (int)(i1 - i) : TOGETHER;
        real sum[TOGETHER] = { 0 };
        for (int r = 0; r < rows && along; r += TALL) {
            const real *at[TALL];
            real some[TALL] = { 0 };
            for (int u = 0; u < TALL; u++)
                at[u] = a + line_start(shape, r + u < rows ? i + r + u : i);
            for (int64_t x = x0; x < x1; x++)
                for (int u = 0; u < TALL; u++) some[u] = fused(at[u][x], y[x], some[u]);
            memcpy(sum + r, some, sizeof some);
        }
        for (int64_t x = x0; x < x1 && !along; x++) {
            const real *at = a + line_start(shape, x) + i, factor = y[x];
            for (int r = 0; r < rows; r++) sum[r] = fused(at[r], factor, sum[r]);
        }
        for (int r = 0; r < rows; r++) y[i + r] -= sum[r];
    }
}

/* Rows i0 .. i1 - 1 less what block b takes off. */
static void take_off(const substitution *s, int along, int64_t i0, int64_t i1, int64_t b) {
    const int64_t x0 = block_begin(s, b), x1 = block_begin(s, b + 1);
    if (s->stride == 1) take_single(s, along, i0, i1, x0, x1);
    for (int64_t i = i0; i < i1 && s->stride > 1; i += TALL)
        take_block(s, along, i, i1 - i < TALL ? (int)(i1 - i) : TALL, x0, x1);
}

/* sum += m y, of one right-hand side or of vectors. */
static inline void add_row(real m, const real *y, real *sum, int64_t stride) {
    if (stride == 1) sum[0] = fused(m, y[0], sum[0]);
    for (int64_t c = 0; c < stride && stride > 1; c += VEC) {
        const vec more = vec_fma(vec_all(m), row_vec(y + c), row_vec(sum + c));
        memcpy(sum + c, &more, sizeof more);
    }
}

/* The rows of a block, one after the other; each adds to the sums of those to come. What D has below
 * its diagonal is left out. */
static void solve_block(const substitution *s, int along, int64_t r0, int64_t r1) {
    const real *a = s->job->a, *e = s->job->e;
    const int64_t stride = s->stride;
    int64_t start[ROWS + 1];
    real sums[(ROWS + 1) * WIDTH];
    memset(sums, 0, (size_t)((r1 - r0) * stride) * sizeof(real));
    for (int64_t i = r0; i < r1; i++) start[i - r0] = line_start(&s->job->shape, i);
    for (int64_t step = 0; step < r1 - r0; step++) {
        const int64_t i = s->forward ? r0 + step : r1 - 1 - step;
        const int64_t x0 = s->forward ? i + 1 + (e[i] != 0) : r0;
        const int64_t x1 = s->forward ? r1 : i - (i > r0 && e[i - 1] != 0);
        real *y = s->y + i * stride;
        for (int64_t c = 0; c < stride; c++) y[c] -= sums[(i - r0) * stride + c];
        for (int64_t x = x0; x < x1; x++)
            add_row(a[along ? start[x - r0] + i : start[i - r0] + x], y, sums + (x - r0) * stride,
                    stride);
    }
}

static void substitute(const substitution *s) {
    const int64_t n = s->job->shape.n, blocks = blocks_of(s), step = s->forward ? 1 : -1;
    const int64_t first = s->forward ? 0 : blocks - 1, end = s->forward ? blocks : -1;
    const int along = s->forward != s->job->shape.upper;
    for (int64_t b = first; b != end; b += step) {
        const int64_t r0 = block_begin(s, b), r1 = block_begin(s, b + 1);
        for (int64_t from = first; along && from != b; from += step) take_off(s, 1, r0, r1, from);
        solve_block(s, along, r0, r1);
        if (!along) take_off(s, 0, s->forward ? r1 : 0, s->forward ? n : r0, b);
    }
}

#endif
