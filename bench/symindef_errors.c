/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_errors.c - the relative errors of factorizations, independently of the library:
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
 * In double the sums are off by about as much as the factors are. In twice that precision (numbers.h) W
 * has two parts, and what is found are the factors' errors alone.
 *
 * Both sides are unpacked, in double whatever the type, into tiles of BLOCK rows and DEPTH columns; a
 * thread has one band of BLOCK rows at a time. n^3/6 multiplications and additions, 2 n^3 / (6 BLOCK)
 * numbers unpacked. A row's sum has a part of each band, and parts are added in the order of bands:
 * the number of threads does not change the answer.
 *
 * Of a large matrix BLOCK rows are measured: half of them equally spaced, half those in which E v is largest, v a vector of
 * random signs. A row's entry of E v is about the 2-norm of that row, so that rows with far larger errors than the others,
 * as the pivots of a large alpha leave them, are among those measured. n^2 operations find them. Here the columns are
 * dealt to the threads, BLOCK at a time.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/symindef_errors.h"

enum { BLOCK = BENCH_SAMPLE, DEPTH = 128 };

typedef struct band {   /* rows that go through the tiles together */
    int64_t row[BLOCK]; /* ascending; n or more: none is left */
} band;

typedef struct tiles { /* of one thread */
    double left[BLOCK][DEPTH];
    double right[DEPTH][BLOCK], rest[DEPTH][BLOCK]; /* two parts; the second of W alone */
    double row[BLOCK][DEPTH + 2];                   /* of M, with a column more on both sides */
    double sum[BLOCK][BLOCK], lost[BLOCK][BLOCK];   /* two parts */
} tiles;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static band rows_from(int64_t first) {
    band b;
    for (int r = 0; r < BLOCK; r++) b.row[r] = first + r;
    return b;
}

/* Rows of a band, `columns` columns from k0 of M; zero where there are none, and in the places of D. */
static void unpack(const bench_product *p, const band *b, int64_t k0, int columns, double *to,
                   int stride) {
    const bench_triangle *t = &p->triangle;
    for (int r = 0; r < BLOCK; r++, to += stride)
        for (int64_t k = k0; k < k0 + columns; k++) {
            const int64_t i = b->row[r];
            const bool inside = k >= 0 && k < i && i < p->n && (k + 1 < i || p->e[k] == 0);
            to[k - k0] =
                inside ? bench_number(p->type, p->factors, bench_triangle_at(t, i, k)) : k == i;
        }
}

/* W(j,k) = M(j,k-1) e(k-1) + M(j,k) d(k) + M(j,k+1) e(k) */
static void unpack_w(const bench_product *p, const band *b, int64_t k0, int64_t end, tiles *t) {
    unpack(p, b, k0 - 1, DEPTH + 2, t->row[0], DEPTH + 2);
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
static void unpack_g(const bench_product *p, const band *left, const band *right, int64_t k0,
                     int64_t end, tiles *t) {
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k++) {
            const int64_t i = left->row[r], j = right->row[r], at = k0 + k;
            t->left[r][k] =
                at < end && i < p->n ? bench_number(p->type, p->G, i * p->columns + at) : 0;
            t->right[k][r] = at < end && j < p->n
                                 ? p->signs[at] * bench_number(p->type, p->G, j * p->columns + at)
                                 : 0;
            t->rest[k][r] = 0;
        }
}

/* Columns that the rows from j0 on may have; W(j,j+1) may belong to a block. */
static int64_t last_column(const bench_product *p, int64_t j0) {
    const int64_t columns = p->G ? p->columns : p->n;
    return p->partitioned ? columns : smaller(columns, j0 + BLOCK + 1);
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

/* sum + lost = the product in the rows of a band and the columns from j0 on */
static void multiply_tiles(const bench_product *p, const band *rows, int64_t j0, tiles *t) {
    const int64_t end = last_column(p, j0);
    const band columns = rows_from(j0);
    for (int i = 0; i < BLOCK; i++)
        for (int j = 0; j < BLOCK; j++) t->sum[i][j] = t->lost[i][j] = 0;
    for (int64_t k0 = 0; k0 < end; k0 += DEPTH) {
        if (p->G) {
            unpack_g(p, rows, &columns, k0, end, t);
        } else {
            unpack(p, rows, k0, DEPTH, t->left[0], DEPTH);
            unpack_w(p, &columns, k0, end, t);
        }
        if (p->twice)
            multiply_twice(t);
        else
            multiply(t);
    }
}

/* |E(i,j)|, i being row r of the band and j column c of the tile */
static double error_at(const bench_product *p, const tiles *t, int64_t i, int64_t j, int64_t r,
                       int64_t c) {
    return fabs(permuted(p, i, j) - t->sum[r][c] - t->lost[r][c]);
}

/* The band of rows from i0 on up to the diagonal; its part of the sums of all rows goes to `sums`. */
static void check_band(const bench_product *p, int64_t i0, tiles *t, double *sums) {
    const band rows = rows_from(i0);
    for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK) {
        multiply_tiles(p, &rows, j0, t);
        for (int64_t i = i0; i < smaller(p->n, i0 + BLOCK); i++)
            for (int64_t j = j0; j < smaller(i + 1, j0 + BLOCK); j++) {
                const double error = error_at(p, t, i, j, i - i0, j - j0);
                sums[i] += error;
                if (i != j) sums[j] += error;
            }
    }
}

/* Of the rows of the sample the columns from j0 on; their part of the sums of these rows. */
static void check_sample(const bench_product *p, const band *rows, int64_t j0, tiles *t,
                         double *sums) {
    multiply_tiles(p, rows, j0, t);
    for (int r = 0; r < BLOCK && rows->row[r] < p->n; r++)
        for (int64_t j = j0; j < smaller(p->n, j0 + BLOCK); j++)
            sums[r] += error_at(p, t, rows->row[r], j, r, j - j0);
}

/* ---- the rows of a sample ---------------------------------------------------------------------- */

static double sign_of(int64_t i) {
    return ((uint64_t)(i + 1) * UINT64_C(0x9e3779b97f4a7c15)) >> 63 ? 1 : -1;
}

/* Row i of M or G, and its length. */
static double factor_at(const bench_product *p, int64_t i, int64_t k) {
    if (p->G) return bench_number(p->type, p->G, i * p->columns + k);
    if (k == i) return 1;
    if (k + 1 == i && p->e[k] != 0) return 0;
    return bench_number(p->type, p->factors, bench_triangle_at(&p->triangle, i, k));
}

static int64_t length_of(const bench_product *p, int64_t i) { return p->G ? p->columns : i + 1; }

/* |E v|, row by row; NULL without memory. */
static double *errors_of_signs(const bench_product *p) {
    const int64_t n = p->n, columns = p->G ? p->columns : n;
    long double *z = calloc(2 * (size_t)columns + 1, sizeof *z), *y = z + columns;
    double *found = malloc((size_t)n * sizeof *found);
    for (int64_t i = 0; z && i < n; i++) /* z = Mt v */
        for (int64_t k = 0; k < length_of(p, i); k++)
            z[k] += (long double)factor_at(p, i, k) * sign_of(i);
    for (int64_t k = 0; z && k < columns; k++) { /* y = D z */
        y[k] = p->G ? (long double)p->signs[k] * z[k] : (long double)p->d[k] * z[k];
        if (!p->G && p->e[k] != 0) y[k] += (long double)p->e[k] * z[k + 1];
        if (!p->G && k > 0 && p->e[k - 1] != 0) y[k] += (long double)p->e[k - 1] * z[k - 1];
    }
#pragma omp parallel for num_threads(p->threads) schedule(static, 16)
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += (long double)permuted(p, i, j) * sign_of(j);
        for (int64_t k = 0; z && k < length_of(p, i); k++)
            sum -= (long double)factor_at(p, i, k) * y[k];
        if (found) found[i] = fabs((double)sum);
    }
    if (!z) free(found);
    const bool good = z != NULL;
    free(z);
    return good ? found : NULL;
}

static int by_row(const void *u, const void *v) {
    const int64_t i = *(const int64_t *)u, j = *(const int64_t *)v;
    return (i > j) - (i < j);
}

/* All rows, where there are no more than BLOCK of them. */
static band rows_of_sample(const bench_product *p) {
    band b = rows_from(0);
    double *found = p->n > BLOCK ? errors_of_signs(p) : NULL;
    if (p->n <= BLOCK) return b;
    for (int r = 0; r < BLOCK; r++) { /* equally spaced, the last among them */
        const int parts = found ? BLOCK / 2 : BLOCK;
        b.row[r] = (r % parts + 1) * p->n / parts - 1;
        if (found) found[b.row[r]] = -1;
    }
    for (int r = 0; r < BLOCK / 2 && found; r++) { /* the largest of the others */
        int64_t most = 0;
        for (int64_t i = 0; i < p->n; i++)
            if (!(found[i] <= found[most])) most = i;
        b.row[r] = most, found[most] = -1;
    }
    free(found);
    qsort(b.row, BLOCK, sizeof *b.row, by_row);
    return b;
}

static double norm_of(const bench_product *p) {
    double norm = 0;
#pragma omp parallel for num_threads(p->threads) schedule(static, 16) reduction(max : norm)
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < p->n; j++)
            sum += fabs(j < i ? p->given(p->matrix, i, j) : p->given(p->matrix, j, i));
        if (sum > norm) norm = sum;
    }
    return norm;
}

/* |P A Pt - product|; `parts` has `width` numbers for each band, zero. */
static double error_of(const bench_product *p, int64_t bands, int64_t width, double *parts) {
    double worst = 0;
    bool complete = true;
    int64_t done = 0;
    const band sample = p->sampled ? rows_of_sample(p) : rows_from(0);
#pragma omp parallel for num_threads(p->threads) schedule(dynamic) reduction(&& : complete)
    for (int64_t k = bands - 1; k >= 0; k--) { /* the longest first */
        tiles *t = p->stop && p->stop() ? NULL : malloc(sizeof *t);
        if (t && p->sampled) check_sample(p, &sample, k * BLOCK, t, parts + k * width);
        if (t && !p->sampled) check_band(p, k * BLOCK, t, parts + k * width);
        complete = complete && t;
        free(t);
#pragma omp critical(product_step)
        if (p->step) p->step((double)++done / (double)bands);
    }
    for (int64_t i = 0; i < width; i++) {
        double sum = 0;
        for (int64_t k = 0; k < bands; k++) sum += parts[k * width + i];
        if (!isnan(worst) && !(sum <= worst)) worst = sum; /* NaN stays */
    }
    return complete ? worst : NAN;
}

double bench_product_error(const bench_product *p) {
    const int64_t bands = (p->n + BLOCK - 1) / BLOCK, width = p->sampled ? BLOCK : p->n;
    double *parts = calloc((size_t)(bands * width) + 1, sizeof *parts);
    if (!parts) return NAN;
    const double worst = error_of(p, bands, width, parts), norm = norm_of(p);
    free(parts);
    return norm > 0 ? worst / norm : worst;
}
