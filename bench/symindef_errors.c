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
 * Rounding errors are much the same in all rows, and a sample of them sees the norm: of 30 random
 * matrices of 100 to 1000 rows 64 rows found 0.82 to 1 of it. Here the columns are dealt to the
 * threads, BLOCK at a time.
 *
 * By random vectors v of 1 and -1 through both sides of a factorization, the sums as if
 * in twice the precision of double (numbers.h), with what is carried from product to product kept in two
 * parts too:
 *
 *     |P A Pt v - M (D (Mt v))| / (|A| |v|)  and  |P A Pt v - G (J (Gt v))| / (|A| |v|),   maximum norms.
 *
 * Neither is ever more than the relative error of the product: a row of the error shows as the sum of
 * its entries with random signs, which one vector may miss and BENCH_VECTORS of them hardly do. It has
 * the size of the root of the sum of their squares; one wrong entry shows in full.
 *
 * Mapping: rows, or strips of STRIP columns where sums run across the rows, are dealt to OpenMP threads.
 * Nobody writes another's sums, so that the result is the same for any number of threads.
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

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static band rows_from(int64_t first) {
    band b;
    for (int r = 0; r < BLOCK; r++) b.row[r] = first + r;
    return b;
}

/* Equally spaced ones, the last among them; all, where there are no more. */
static band rows_of_sample(int64_t n) {
    band b;
    for (int r = 0; r < BLOCK; r++) b.row[r] = n <= BLOCK ? r : (r + 1) * n / BLOCK - 1;
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
        for (int64_t i = i0; i < least(p->n, i0 + BLOCK); i++)
            for (int64_t j = j0; j < least(i + 1, j0 + BLOCK); j++) {
                const double error = error_at(p, t, i, j, i - i0, j - j0);
                sums[i] += error;
                if (i != j) sums[j] += error;
            }
    }
}

/* Of the rows of the sample the columns from j0 on; their part of the sums of these rows. */
static void check_sample(const bench_product *p, int64_t j0, tiles *t, double *sums) {
    const band rows = rows_of_sample(p->n);
    multiply_tiles(p, &rows, j0, t);
    for (int r = 0; r < BLOCK && rows.row[r] < p->n; r++)
        for (int64_t j = j0; j < least(p->n, j0 + BLOCK); j++)
            sums[r] += error_at(p, t, rows.row[r], j, r, j - j0);
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
#pragma omp parallel for num_threads(p->threads) schedule(dynamic) reduction(&& : complete)
    for (int64_t k = bands - 1; k >= 0; k--) { /* the longest first */
        tiles *t = p->stop && p->stop() ? NULL : malloc(sizeof *t);
        if (t) (p->sampled ? check_sample : check_band)(p, k * BLOCK, t, parts + k * width);
        complete = complete && t;
        free(t);
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

/* ---- vectors --------------------------------------------------------------------------------- */

enum { STRIP = 64 };

bool bench_vectors_make(bench_vectors *p, int64_t n) {
    const size_t count = (size_t)(n > 0 ? n : 1) * BENCH_VECTORS;
    p->high = calloc(count, sizeof(double));
    p->low = calloc(count, sizeof(double));
    return p->high && p->low;
}

void bench_vectors_free(bench_vectors *p) {
    free(p->high);
    free(p->low);
}

/* 1 or -1: entry i of vector v. */
static double sign_of(int64_t i, int v) {
    const uint64_t x = (uint64_t)i * BENCH_VECTORS + (uint64_t)v + 0x9E3779B97F4A7C15u;
    return bench_hash(x) >> 63 ? -1 : 1;
}

void bench_vectors_begin(const bench_given *a, const bench_vectors *v, double *u) {
    for (int64_t i = 0; i < a->n; i++)
        for (int c = 0; c < BENCH_VECTORS; c++)
            v->high[i * BENCH_VECTORS + c] = u[a->permutation[i] * BENCH_VECTORS + c] =
                sign_of(i, c);
}

double bench_vectors_compare(const bench_given *a, const bench_vectors *y, const double *u) {
    const int64_t n = a->n;
    double error = 0, norm = 0;
#pragma omp parallel for num_threads(a->threads) schedule(static, 16) reduction(max : error, norm)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = a->permutation[i];
        double *high = y->high + i * BENCH_VECTORS, *low = y->low + i * BENCH_VECTORS, size = 0;
        for (int64_t j = 0; j < n; j++) {
            const double entry = bench_number(a->type, a->whole, row * n + j);
            size += fabs(entry);
            for (int v = 0; v < BENCH_VECTORS; v++)
                subtract_product(&high[v], &low[v], entry, u[j * BENCH_VECTORS + v]);
        }
        for (int v = 0; v < BENCH_VECTORS; v++) {
            const double left = fabs(high[v] + low[v]);
            if (!isfinite(left))
                error = INFINITY;
            else if (left > error)
                error = left;
        }
        if (size > norm) norm = size;
    }
    return norm > 0 ? error / norm : error;
}

/* t = J (Gt v), y = G t */
static void multiply_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns, const bench_vectors *v, const bench_vectors *t,
                          const bench_vectors *y) {
    const int64_t strips = (columns + STRIP - 1) / STRIP;
#pragma omp parallel for num_threads(a->threads) schedule(static, 1)
    for (int64_t strip = 0; strip < strips; strip++) {
        const int64_t first = strip * STRIP;
        const int64_t end = first + STRIP < columns ? first + STRIP : columns;
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t c = first; c < end; c++)
                bench_vectors_add(t, c, signs[c] * bench_number(a->type, G, i * columns + c), v, i);
    }
#pragma omp parallel for num_threads(a->threads) schedule(static, 16)
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t c = 0; c < columns; c++)
            bench_vectors_add(y, i, bench_number(a->type, G, i * columns + c), t, c);
}

double bench_vectors_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns) {
    bench_vectors v, t, y;
    double *u = calloc((size_t)a->n * BENCH_VECTORS + 1, sizeof *u), error = NAN;
    bool made = bench_vectors_make(&v, a->n);
    made = bench_vectors_make(&t, columns) && made; /* all are freed */
    made = bench_vectors_make(&y, a->n) && made;
    if (made && u) {
        bench_vectors_begin(a, &v, u);
        multiply_gjgt(a, G, signs, columns, &v, &t, &y);
        error = bench_vectors_compare(a, &y, u);
    }
    bench_vectors_free(&v);
    bench_vectors_free(&t);
    bench_vectors_free(&y);
    free(u);
    return error;
}
