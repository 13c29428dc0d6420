/* SPDX-License-Identifier: Apache-2.0
 *
 * factor_check.c - the relative errors of factorizations, on the CPU and independently of the library:
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
 * Both are unpacked, in double whatever the type, into tiles of BLOCK rows and DEPTH columns; a thread
 * has one band of BLOCK rows at a time. n^3/6 multiplications and additions, 2 n^3 / (6 BLOCK)
 * numbers unpacked. A row's sum has a part of each band, and parts are added in the order of bands:
 * the number of threads does not change the answer.
 */
#include "factor_run.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 64, DEPTH = 128 };

typedef struct tiles { /* of one thread */
    double m[BLOCK][DEPTH];
    double w[DEPTH][BLOCK];
    double row[BLOCK][DEPTH + 2]; /* of M, with a column more on both sides */
    double sum[BLOCK][BLOCK];
} tiles;

typedef struct checked {
    const factor_matrix *matrix;
    const factor_result *r;
    const double *d, *e;       /* D: its diagonal; e[k] of a block in k, k+1 */
    const factor_forms *forms; /* NULL: M D Mt; else G J Gt */
    bool partitioned;
} checked;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows from i0, `columns` columns from k0 of M; zero where there are none. */
static void unpack(const checked *f, int64_t i0, int64_t k0, int columns, double *to, int stride) {
    const factor_matrix *m = f->matrix;
    const bool upper = m->form.upper;
    for (int64_t i = i0; i < i0 + BLOCK; i++, to += stride)
        for (int64_t k = k0; k < k0 + columns; k++) {
            if (k < 0 || k >= i || i >= m->n) {
                to[k - k0] = k == i;
                continue;
            }
            const int64_t line =
                upper ? k : i; /* what is contiguous; at its diagonal or its begin */
            const int64_t at = upper ? i - k : k;
            const int64_t start = !m->form.packed ? line * (m->n + upper)
                                  : upper         ? line * m->n - line * (line - 1) / 2
                                                  : line * (line + 1) / 2;
            to[k - k0] = m->type == SHOAL_F32 ? (double)((const float *)f->r->factors)[start + at]
                                              : ((const double *)f->r->factors)[start + at];
        }
}

static void clear_blocks(const checked *f, int64_t i0, int64_t k0, int columns, double *rows,
                         int stride) {
    for (int64_t i = i0; i < least(f->matrix->n, i0 + BLOCK); i++) /* D's, not M's */
        if (i > k0 && i <= k0 + columns && f->e[i - 1] != 0)
            rows[(i - i0) * stride + (i - 1 - k0)] = 0;
}

/* W(j,k) = M(j,k-1) e(k-1) + M(j,k) d(k) + M(j,k+1) e(k) */
static void unpack_w(const checked *f, int64_t j0, int64_t k0, int64_t end, tiles *t) {
    unpack(f, j0, k0 - 1, DEPTH + 2, t->row[0], DEPTH + 2);
    clear_blocks(f, j0, k0 - 1, DEPTH + 2, t->row[0], DEPTH + 2);
    for (int k = 0; k < DEPTH; k++) {
        const bool inside = k0 + k < end;
        const double d = inside ? f->d[k0 + k] : 0, after = inside ? f->e[k0 + k] : 0;
        const double before = inside && k0 + k > 0 ? f->e[k0 + k - 1] : 0;
        for (int j = 0; j < BLOCK; j++)
            t->w[k][j] = t->row[j][k] * before + t->row[j][k + 1] * d + t->row[j][k + 2] * after;
    }
}

/* Rows of G, and those of G J; the rest is zero. */
static void unpack_g(const checked *f, int64_t i0, int64_t j0, int64_t k0, int64_t end, tiles *t) {
    const io_array *g = &f->forms->G;
    const int64_t rank = g->shape[1];
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k++) {
            const bool inside = k0 + k < end;
            t->m[r][k] =
                inside && i0 + r < f->matrix->n ? io_array_get(g, (i0 + r) * rank + k0 + k) : 0;
            t->w[k][r] = inside && j0 + r < f->matrix->n
                             ? f->forms->signs[k0 + k] * io_array_get(g, (j0 + r) * rank + k0 + k)
                             : 0;
        }
}

static void unpack_tiles(const checked *f, int64_t i0, int64_t j0, int64_t k0, int64_t end,
                         tiles *t) {
    if (f->forms) {
        unpack_g(f, i0, j0, k0, end, t);
        return;
    }
    unpack(f, i0, k0, DEPTH, t->m[0], DEPTH);
    clear_blocks(f, i0, k0, DEPTH, t->m[0], DEPTH);
    unpack_w(f, j0, k0, end, t);
}

/* Columns that the rows from j0 on may have; W(j,j+1) may belong to a block. */
static int64_t last_column(const checked *f, int64_t j0) {
    const int64_t columns = f->forms ? f->forms->G.shape[1] : f->matrix->n;
    return f->partitioned ? columns : least(columns, j0 + BLOCK + 1);
}

/* sum += m w, four columns of m at a time so that sums stay in registers longer. */
static void multiply(tiles *t) {
    for (int r = 0; r < BLOCK; r++)
        for (int k = 0; k < DEPTH; k += 4) {
            const double a = t->m[r][k], b = t->m[r][k + 1], c = t->m[r][k + 2], d = t->m[r][k + 3];
            for (int j = 0; j < BLOCK; j++)
                t->sum[r][j] +=
                    a * t->w[k][j] + b * t->w[k + 1][j] + c * t->w[k + 2][j] + d * t->w[k + 3][j];
        }
}

static double a_at(const checked *f, int64_t i, int64_t j) { /* of P A Pt */
    const int64_t p = f->r->permutation[i], q = f->r->permutation[j];
    return factor_entry(f->matrix, f->matrix->file.a.data, p > q ? p : q, p > q ? q : p);
}

/* The band of rows from i0 on; its part of the sums of all rows goes to `sums`. */
static void check_band(const checked *f, int64_t i0, tiles *t, double *sums) {
    const int64_t n = f->matrix->n;
    for (int64_t j0 = 0; j0 <= i0; j0 += BLOCK) {
        const int64_t end = last_column(f, j0);
        for (int i = 0; i < BLOCK; i++)
            for (int j = 0; j < BLOCK; j++) t->sum[i][j] = 0;
        for (int64_t k0 = 0; k0 < end; k0 += DEPTH) {
            unpack_tiles(f, i0, j0, k0, end, t);
            multiply(t);
        }
        for (int64_t i = i0; i < least(n, i0 + BLOCK); i++)
            for (int64_t j = j0; j < least(i + 1, j0 + BLOCK); j++) {
                const double error = fabs(a_at(f, i, j) - t->sum[i - i0][j - j0]);
                sums[i] += error;
                if (i != j) sums[j] += error;
            }
    }
}

static double norm_of(const factor_matrix *m, double *sums) {
    double norm = 0;
    for (int64_t i = 0; i < m->n; i++) sums[i] = 0;
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double a = fabs(factor_entry(m, m->file.a.data, i, j));
            sums[i] += a;
            if (i != j) sums[j] += a;
        }
    for (int64_t i = 0; i < m->n; i++) norm = fmax(norm, sums[i]);
    return norm;
}

static double error_of(const checked *f, int threads, double *parts) {
    const int64_t n = f->matrix->n, bands = (n + BLOCK - 1) / BLOCK;
    double worst = 0;
    bool complete = true;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(&& : complete)
    for (int64_t band = bands - 1; band >= 0; band--) { /* the longest first */
        tiles *t = cli_interrupted() ? NULL : malloc(sizeof *t);
        if (t) check_band(f, band * BLOCK, t, parts + band * n);
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

/* Of f, whose D may still be missing. */
static double relative_error(const cli *c, checked *f) {
    const size_t n = (size_t)f->matrix->n, bands = (n + BLOCK - 1) / BLOCK;
    double *memory = calloc((bands + 2) * n + 1, sizeof *memory);
    if (!memory) return NAN;
    if (!f->d) {
        factor_blocks(f->matrix, f->r, memory, memory + n);
        f->d = memory, f->e = memory + n;
    }
    const double worst =
        error_of(f, c->machine.threads > 0 ? c->machine.threads : 1, memory + 2 * n);
    const double norm = norm_of(f->matrix, memory);
    free(memory);
    return norm > 0 ? worst / norm : worst;
}

double factor_error(const cli *c, const factor_matrix *m, const factor_result *r, const double *d,
                    const double *e) {
    return relative_error(c, &(checked){ .matrix = m, .r = r, .d = d, .e = e });
}

double factor_gjgt_error(const cli *c, const factor_matrix *m, const factor_result *r,
                         const factor_forms *forms, bool partitioned) {
    return relative_error(
        c, &(checked){ .matrix = m, .r = r, .forms = forms, .partitioned = partitioned });
}
