/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_pieces.c - makes the systems of generate_paper.h: pieces of TRIDIAG_PIECE rows by a
 * team of threads, x at random, b = A x.
 *
 * b is formed in twice the precision (products by fma, sums by Knuth's two-sum: Ogita, Rump and
 * Oishi's dot product, 2005) and rounded once, so that x solves the system as well as any b in
 * double lets it. All is made in double; float is double, rounded.
 */
#include "rng/normal.h"
#include "tridiag/generate_paper.h"
#include <math.h>
#include <stdlib.h>

typedef struct job { /* what all pieces share */
    const tridiag_paper_kind *kind;
    const tridiag_source *family;
    const shoal_tridiag_opts *shape;
    const tridiag_arrays *to;
    int64_t first;
} job;

enum { SCRATCH = 4 * TRIDIAG_PIECE + 2 + TRIDIAG_WORK };

static double x_at(const tridiag_source *s, int64_t i, int64_t column) {
    if (i < 0 || i >= s->n) return 0;
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_X + column / 2);
    return shoal_normal_pair(&w).z[column % 2];
}

/* *sum + rest = u v + *sum, exactly but for the rounding of rest. */
static void add_product(double u, double v, double *sum, double *rest) {
    const double product = u * v, total = *sum + product, part = total - *sum;
    *rest += fma(u, v, -product) + ((*sum - (total - part)) + (product - part));
    *sum = total;
}

static int64_t place(const shoal_tridiag_opts *shape, int64_t k, int64_t i) {
    return shape->layout == SHOAL_INTERLEAVED ? i * shape->count + k : k * shape->n + i;
}

static void put_matrix(const job *of, const tridiag_rows *r, int64_t k) {
    const tridiag_arrays *to = of->to;
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t i = r->first + t, at = place(of->shape, k, i);
        tridiag_put(to->dl, to->type, at, i == 0 ? NAN : r->dl[t]);
        tridiag_put(to->d, to->type, at, r->d[t]);
        tridiag_put(to->du, to->type, at, i == of->shape->n - 1 ? NAN : r->du[t]);
    }
}

/* b or x of one right-hand side; x[0] is that of the row before the piece. */
static void put_column(const job *of, const tridiag_rows *r, const double *x, int64_t k,
                       int64_t column) {
    const tridiag_arrays *to = of->to;
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t i = r->first + t, at = place(of->shape, k, i) * of->shape->nrhs + column;
        if (to->x) tridiag_put(to->x, to->type, at, x[t + 1]);
        if (!to->b) continue;
        double sum = r->d[t] * x[t + 1], rest = fma(r->d[t], x[t + 1], -sum);
        if (i > 0) add_product(r->dl[t], x[t], &sum, &rest);
        if (i < of->shape->n - 1) add_product(r->du[t], x[t + 2], &sum, &rest);
        tridiag_put(to->b, to->type, at, sum + rest);
    }
}

static void make_piece(const job *of, int64_t k, int64_t first, double *scratch) {
    const int64_t n = of->shape->n, left = n - first;
    tridiag_source s = *of->family;
    tridiag_rows r = { .first = first, .count = left < TRIDIAG_PIECE ? left : TRIDIAG_PIECE };
    r.dl = scratch, r.d = r.dl + TRIDIAG_PIECE, r.du = r.d + TRIDIAG_PIECE;
    double *x = r.du + TRIDIAG_PIECE;
    r.work = x + TRIDIAG_PIECE + 2;
    s.system = (uint64_t)of->first + (uint64_t)k;
    if (of->to->dl) {
        for (int64_t t = 0; t < r.count && of->kind->rule; t++) {
            const tridiag_entries e = of->kind->rule(&s, first + t);
            r.dl[t] = e.dl, r.d[t] = e.d, r.du[t] = e.du;
        }
        if (of->kind->change) of->kind->change(&s, &r);
        put_matrix(of, &r, k);
    }
    for (int64_t j = 0; j < of->shape->nrhs; j++) {
        for (int64_t t = 0; t < r.count + 2; t++) x[t] = x_at(&s, first + t - 1, j);
        put_column(of, &r, x, k, j);
    }
}

shoal_status shoal_tridiag_make_paper(shoal_context *ctx, const tridiag_paper_kind *kind,
                                      const tridiag_source *family, int64_t first,
                                      const shoal_tridiag_opts *shape, const tridiag_arrays *to) {
    const job of = { kind, family, shape, to, first };
    const int64_t pieces = (shape->n - 1) / TRIDIAG_PIECE + 1;
    int complete = 1;
#pragma omp parallel num_threads(ctx->threads) reduction(&& : complete)
    {
        double *scratch = calloc(SCRATCH, sizeof *scratch);
        complete = scratch != NULL;
#pragma omp for schedule(static)
        for (int64_t q = 0; q < shape->count * pieces; q++)
            if (complete) make_piece(&of, q / pieces, q % pieces * TRIDIAG_PIECE, scratch);
        free(scratch);
    }
    if (complete) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to make systems of n = %lld",
                      (long long)shape->n);
}
