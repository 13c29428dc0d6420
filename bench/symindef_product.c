/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_product.c - the relative errors of factorizations, independently of the library:
 *
 *     |P A Pt - M D Mt| / |A|  and  |P A Pt - G J Gt| / |A|,   |X| = max over rows of the sum of |X(i,j)|
 *
 * With W = M D, which has at most one entry right of M's in a row, that of a 2x2 block,
 *
 *     E(i,j) = A(p(i),p(j)) - sum over k of M(i,k) W(j,k),   i >= j;
 *
 * G and G J take the places of M and W. Columns in the order of the pivots have nothing right of
 * W's; where those of +1 come first a row has all of them, and the sums three times as many terms.
 *
 * In double the sums are off by about as much as the factors are. In twice that precision (twice.h) W
 * has two parts, and what is found are the factors' errors alone.
 *
 * Both sides are unpacked, in double whatever the type, into tiles of BLOCK rows and DEPTH columns; a
 * thread has one band of BLOCK rows at a time. n^3/6 multiplications and additions, 2 n^3 / (6 BLOCK)
 * numbers unpacked. A row's sum has a part of each band, and parts are added in the order of bands:
 * the number of threads does not change the answer.
 */
#include "bench/symindef_product.h"

#include <math.h>
#include <stdlib.h>

#include "bench/twice.h"

enum { BLOCK = 64, DEPTH = 128 };

typedef struct tiles { /* of one thread */
    double left[BLOCK][DEPTH];
    double right[DEPTH][BLOCK], rest[DEPTH][BLOCK]; /* two parts; the second of W alone */
    double row[BLOCK][DEPTH + 2];                   /* of M, with a column more on both sides */
    double sum[BLOCK][BLOCK], lost[BLOCK][BLOCK];   /* two parts */
} tiles;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static double number_at(const bench_product *p, const void *array, int64_t at) {
    return p->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* Rows from i0, `columns` columns from k0 of M; zero where there are none, and in the places of D. */
static void unpack(const bench_product *p, int64_t i0, int64_t k0, int columns, double *to,
                   int stride) {
    const bench_triangle *t = &p->triangle;
    for (int64_t i = i0; i < i0 + BLOCK; i++, to += stride)
        for (int64_t k = k0; k < k0 + columns; k++) {
            const bool inside = k >= 0 && k < i && i < p->n && (k + 1 < i || p->e[k] == 0);
            to[k - k0] = inside ? number_at(p, p->factors, bench_triangle_at(t, i, k)) : k == i;
        }
}

/* W(j,k) = M(j,k-1) e(k-1) + M(j,k) d(k) + M(j,k+1) e(k) */
static void unpack_w(const bench_product *p, int64_t j0, int64_t k0, int64_t end, tiles *t) {
    unpack(p, j0, k0 - 1, DEPTH + 2, t->row[0], DEPTH + 2);
    for (int k = 0; k < DEPTH; k++) {
        const bool inside = k0 + k < end;
        const double d = inside ? p->d[k0 + k] : 0, after = inside ? p->e[k0 + k] : 0;
        const double before = inside && k0 + k > 0 ? p->e[k0 + k - 1] : 0;
        for (int j = 0; j < BLOCK; j++) {
            const double *m = &t->row[j][k];
            t->right[k][j] = t->rest[k][j] = 0;
            if (p->twice) {
                subtract_product(&t->right[k][j], &t->rest[k][j], -before, m[0]);
                subtract_product(&t->right[k][j], &t->rest[k][j], -d, m[1]);
                subtract_product(&t->right[k][j], &t->rest[k][j], -after, m[2]);
            } else {
                t->right[k][j] = m[0] * before + m[1] * d + m[2] * after;
            }
        }
    }
}

/* Rows of G, and those of G J; the rest is zero. */
static void unpack_g(const bench_product *p, int64_t i0, int64_t j0, int64_t k0, int64_t end,
                     tiles *t) {
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k++) {
            const bool inside = k0 + k < end;
            const int64_t i = (i0 + r) * p->columns + k0 + k, j = (j0 + r) * p->columns + k0 + k;
            t->left[r][k] = inside && i0 + r < p->n ? number_at(p, p->G, i) : 0;
            t->right[k][r] = inside && j0 + r < p->n ? p->signs[k0 + k] * number_at(p, p->G, j) : 0;
            t->rest[k][r] = 0;
        }
}

/* Columns that the rows from j0 on may have; W(j,j+1) may belong to a block. */
static int64_t last_column(const bench_product *p, int64_t j0) {
    const int64_t columns = p->G ? p->columns : p->n;
    return p->partitioned ? columns : least(columns, j0 + BLOCK + 1);
}

/* sum += left right, four columns of `left` at a time so that sums stay in registers longer. */
static void multiply(tiles *t) {
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k += 4) {
            const double *a = &t->left[r][k];
            for (int j = 0; j < BLOCK; j++)
                t->sum[r][j] += a[0] * t->right[k][j] + a[1] * t->right[k + 1][j] +
                                a[2] * t->right[k + 2][j] + a[3] * t->right[k + 3][j];
        }
}

/* The same with all that rounding loses. */
static void multiply_twice(tiles *t) {
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k++) {
            const double a = t->left[r][k];
            if (a == 0) continue; /* half of a tile on the diagonal */
            for (int j = 0; j < BLOCK; j++) {
                subtract_product(&t->sum[r][j], &t->lost[r][j], -a, t->right[k][j]);
                t->lost[r][j] += a * t->rest[k][j];
            }
        }
}

static double permuted(const bench_product *p, int64_t i, int64_t j) { /* of P A Pt */
    const int64_t row = p->permutation[i], column = p->permutation[j];
    return row > column ? p->given(p->matrix, row, column) : p->given(p->matrix, column, row);
}

/* The band of rows from i0 on; its part of the sums of all rows goes to `sums`. */
static void check_band(const bench_product *p, int64_t i0, tiles *t, double *sums) {
    for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK) {
        const int64_t end = last_column(p, j0);
        for (int i = 0; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++) t->sum[i][j] = t->lost[i][j] = 0;
        for (int64_t k0 = 0; k0 < end; k0 += DEPTH) {
            if (p->G) {
                unpack_g(p, i0, j0, k0, end, t);
            } else {
                unpack(p, i0, k0, DEPTH, t->left[0], DEPTH);
                unpack_w(p, j0, k0, end, t);
            }
            if (p->twice)
                multiply_twice(t);
            else
                multiply(t);
        }
        for (int64_t i = i0; i < least(p->n, i0 + BLOCK); i++)
            for (int64_t j = j0; j < least(i + 1, j0 + BLOCK); j++) {
                const double error =
                    fabs(permuted(p, i, j) - t->sum[i - i0][j - j0] - t->lost[i - i0][j - j0]);
                sums[i] += error;
                if (i != j) sums[j] += error;
            }
    }
}

static double norm_of(const bench_product *p, double *sums) {
    double norm = 0;
    for (int64_t i = 0; i < p->n; i++) sums[i] = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double a = fabs(p->given(p->matrix, i, j));
            sums[i] += a;
            if (i != j) sums[j] += a;
        }
    for (int64_t i = 0; i < p->n; i++) norm = fmax(norm, sums[i]);
    return norm;
}

/* |P A Pt - product|; `parts` has n numbers for each band, zero. */
static double error_of(const bench_product *p, double *parts) {
    const int64_t n = p->n, bands = (n + BLOCK - 1) / BLOCK;
    double worst = 0;
    bool complete = true;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic) reduction(&& : complete)
    for (int64_t band = bands - 1; band >= 0; band--) { /* the longest first */
        tiles *t = p->stop && p->stop() ? NULL : malloc(sizeof *t);
        if (t) check_band(p, band * BLOCK, t, parts + band * n);
        complete = complete && t;
        free(t);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t band = 0; band < bands; band++) sum += parts[band * n + i];
        if (!(sum <= worst)) worst = sum; /* NaN stays */
    }
    return complete ? worst : NAN;
}

double bench_product_error(const bench_product *p) {
    const size_t n = (size_t)p->n, bands = (n + BLOCK - 1) / BLOCK;
    double *parts = calloc(bands * n + 1, sizeof *parts);
    if (!parts) return NAN;
    const double worst = error_of(p, parts), norm = norm_of(p, parts);
    free(parts);
    return norm > 0 ? worst / norm : worst;
}
