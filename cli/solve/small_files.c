/* SPDX-License-Identifier: Apache-2.0
 *
 * small_files.c - reads small symmetric systems, samples of regressions, and matrices of eigenproblems from .npy files.
 */
#include <float.h>
#include <math.h>

#include "small.h"

enum { A, B }; /* of in[]; psi and y, d and e */

/* n of a triangle of m numbers, m = n (n + 1) / 2; -1 if there is none. */
static int64_t unknowns_of(int64_t m) {
    if (m > INT64_MAX / 16) return -1; /* no file holds that many */
    int64_t n = (int64_t)((sqrt(8 * (double)m + 1) - 1) / 2);
    while (n * (n + 1) / 2 < m) n++;
    return n * (n + 1) / 2 == m ? n : -1;
}

/* n and count from the shape of A. */
static int check_matrix(small_batch *batch) {
    const io_array *a = &batch->in[A].a;
    const bool packed = batch->storage == SHOAL_PACKED;
    const int axes = packed ? 1 : 2; /* of one system */
    char text[96];
    io_shape_text(a->ndim, a->shape, text, sizeof text);
    if (a->ndim != axes && a->ndim != axes + 1)
        return cli_fail(CLI_INPUT, "%s has shape %s; %s", batch->in[A].path, text,
                        packed ? "packed matrices are (count, n (n + 1) / 2) or (n (n + 1) / 2,)"
                               : "matrices are (count, n, n) or (n, n); with --packed "
                                 "(count, n (n + 1) / 2)");
    const int64_t last = a->shape[a->ndim - 1];
    batch->n = packed ? unknowns_of(last) : last;
    batch->several = a->ndim > axes;
    batch->count = batch->several ? a->shape[0] : 1;
    if (batch->n < 0)
        return cli_fail(CLI_INPUT, "%s has shape %s; %lld is no n (n + 1) / 2", batch->in[A].path,
                        text, (long long)last);
    if (!packed && a->shape[a->ndim - 2] != batch->n)
        return cli_fail(CLI_INPUT, "%s has shape %s; the matrices are not square",
                        batch->in[A].path, text);
    return CLI_OK;
}

static int check_system(small_batch *batch) {
    const int code = check_matrix(batch);
    if (code != CLI_OK || !batch->a->in[B]) return code;
    const io_array *b = &batch->in[B].a;
    const bool several = batch->several;
    const int axes = several ? 2 : 1; /* of one right-hand side per system */
    if ((b->ndim != axes && b->ndim != axes + 1) || b->shape[axes - 1] != batch->n ||
        (several && b->shape[0] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                several ? "right-hand sides are (count, n) or (count, n, nrhs)"
                                        : "right-hand sides of one system are (n,) or (n, nrhs)");
    batch->nrhs = b->ndim == axes ? 1 : b->shape[axes];
    return CLI_OK;
}

static int check_psi(small_batch *batch) {
    const io_array *psi = &batch->in[A].a;
    char text[96];
    io_shape_text(psi->ndim, psi->shape, text, sizeof text);
    if (psi->ndim != 2 && psi->ndim != 3)
        return cli_fail(CLI_INPUT, "%s has shape %s; samples are (count, M, n) or (M, n)",
                        batch->in[A].path, text);
    batch->count = psi->ndim == 2 ? 1 : psi->shape[0];
    batch->samples = psi->shape[psi->ndim - 2];
    batch->n = psi->shape[psi->ndim - 1];
    if (batch->samples == 0)
        return cli_fail(CLI_INPUT, "%s has shape %s; there is no sample", batch->in[A].path, text);
    return CLI_OK;
}

static int check_samples(small_batch *batch) {
    const int code = check_psi(batch);
    if (code != CLI_OK) return code;
    const io_array *psi = &batch->in[A].a, *y = &batch->in[B].a;
    const int axes = psi->ndim - 1; /* of one right-hand side per system */
    if ((y->ndim != axes && y->ndim != axes + 1) || y->shape[axes - 1] != batch->samples ||
        (axes == 2 && y->shape[0] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                axes == 2 ? "y is (count, M) or (count, M, nrhs)"
                                          : "y of one system is (M,) or (M, nrhs)");
    batch->nrhs = y->ndim == axes ? 1 : y->shape[axes];
    return CLI_OK;
}

/* n and count from the shape of d; e has one entry less in a matrix, and none where there are no
 * rows. */
static int check_diagonals(small_batch *batch) {
    const io_array *d = &batch->in[A].a, *e = &batch->in[B].a;
    const bool apart = batch->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", batch->in[A].path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        apart ? "(n, count)" : "(count, n)");
    batch->several = d->ndim == 2;
    const int rows = batch->several && !apart ? 1 : 0; /* the axis of length n */
    batch->n = d->shape[rows];
    batch->count = batch->several ? d->shape[1 - rows] : 1;
    if (e->ndim != d->ndim || e->shape[rows] != (batch->n > 0 ? batch->n - 1 : 0) ||
        (batch->several && e->shape[1 - rows] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                !batch->several ? "the subdiagonal of one matrix is (n - 1,)"
                                : apart         ? "subdiagonals are (n - 1, count)"
                                                : "subdiagonals are (count, n - 1)");
    return CLI_OK;
}

static int read_both(const cli *c, const char *const *paths, int (*check)(small_batch *),
                     small_batch *batch) {
    int code = CLI_OK, count = 0;
    cli_array *read[2];
    for (int i = 0; i < 2 && code == CLI_OK; i++)
        if (paths[i]) code = cli_array_read(read[count++] = &batch->in[i], paths[i]);
    if (code == CLI_OK) code = check(batch);
    if (code == CLI_OK) code = cli_array_unify(c, read, count, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

int small_read_diagonals(const cli *c, small_batch *batch) {
    batch->layout = batch->a->opts.layout;
    batch->tridiagonal = true;
    return read_both(c, batch->a->in, check_diagonals, batch);
}

static double entry(const small_batch *batch, int64_t at) {
    return batch->type == SHOAL_F32 ? (double)((const float *)batch->in[A].a.data)[at]
                                    : ((const double *)batch->in[A].a.data)[at];
}

/* Whether matrix k is not symmetric. */
static bool triangles_differ(const small_batch *batch, int64_t k, bool upper) {
    const int64_t n = batch->n, from = k * n * n;
    const double epsilon = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0;
    for (int64_t at = from; at < from + n * n; at++) {
        const double size = fabs(entry(batch, at));
        if (size > largest) largest = size; /* not NaN */
    }
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double below = entry(batch, from + i * n + j);
            const double above = entry(batch, from + j * n + i);
            const bool near = fabs(below - above) <= 10 * (double)n * epsilon * largest;
            if (!near && below != above && !isnan(upper ? below : above)) return true;
        }
    return false;
}

/* Notes that the triangles of matrices differ: they are not symmetric, and one triangle is read. Differences of 10 n
 * epsilon of the largest entry are not seen in an answer, and NaN in the other triangle means that nothing is there:
 * neither counts. */
static void note_triangles(const cli *c, const small_batch *batch) {
    const shoal_triangle triangle = batch->a->opts.triangle;
    const bool upper = triangle == SHOAL_UPPER;
    int64_t differ = 0, first = 0;
    if (c->quiet || batch->storage == SHOAL_PACKED) return;
    if (batch->n < 2) return; /* no triangles; without unknowns there can be any count */
#pragma omp parallel for reduction(+ : differ)
    for (int64_t k = 0; k < batch->count; k++) differ += triangles_differ(batch, k, upper);
    while (differ > 0 && !triangles_differ(batch, first, upper)) first++;
    if (differ > 0)
        cli_note(
            c,
            "%s: not symmetric: the triangles of %lld of %lld matrices differ, first of number "
            "%lld, counted from 0; the %s one is read (--triangle)",
            batch->in[A].path, (long long)differ, (long long)batch->count, (long long)first,
            cli_triangle_name(triangle));
}

int small_read(const cli *c, small_batch *batch) {
    const small_arguments *a = batch->a;
    if (a->psi) return read_both(c, (const char *[]){ a->psi, a->y }, check_samples, batch);
    batch->storage = a->opts.storage;
    const int code = read_both(c, a->in, check_system, batch);
    if (code == CLI_OK && !a->triangle_given) note_triangles(c, batch);
    return code;
}

void small_free(small_batch *batch) {
    for (int i = 0; i < 2; i++) io_array_free(&batch->in[i].a);
    for (int i = 0; i < 2; i++) io_array_free(&batch->answer[i]);
    for (int i = 0; i < SMALL_OUTCOMES; i++) io_array_free(&batch->out[i]);
}
