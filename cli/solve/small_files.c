/* SPDX-License-Identifier: Apache-2.0
 *
 * small_files.c - reads small symmetric systems, and matrices of eigenproblems, from .npy files.
 */
#include "small_files.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* n of a triangle of m numbers, m = n (n + 1) / 2; -1 if there is none. */
static int64_t unknowns_of(int64_t m) {
    if (m > INT64_MAX / 16) return -1; /* no file holds that many */
    int64_t n = (int64_t)((sqrt(8 * (double)m + 1) - 1) / 2);
    while (n * (n + 1) / 2 < m) n++;
    return n * (n + 1) / 2 == m ? n : -1;
}

/* n and count from the shape of A. */
static int check_matrix(small_batch *batch) {
    const io_array *a = &batch->A.a;
    const bool packed = batch->storage == SHOAL_PACKED;
    const int axes = packed ? 1 : 2; /* of one system */
    char text[96];
    io_shape_text(a->ndim, a->shape, text, sizeof text);
    if (a->ndim != axes && a->ndim != axes + 1)
        return cli_fail(CLI_INPUT, "%s has shape %s; %s", batch->A.path, text,
                        packed ? "packed matrices are (count, n (n + 1) / 2) or (n (n + 1) / 2,)"
                               : "matrices are (count, n, n) or (n, n); with --packed "
                                 "(count, n (n + 1) / 2)");
    const int64_t last = a->shape[a->ndim - 1];
    batch->n = packed ? unknowns_of(last) : last;
    batch->many = a->ndim > axes;
    batch->count = batch->many ? a->shape[0] : 1;
    if (batch->n < 0)
        return cli_fail(CLI_INPUT, "%s has shape %s; %lld is no n (n + 1) / 2", batch->A.path, text,
                        (long long)last);
    if (!packed && a->shape[a->ndim - 2] != batch->n)
        return cli_fail(CLI_INPUT, "%s has shape %s; the matrices are not square", batch->A.path,
                        text);
    return CLI_OK;
}

static int check_rhs(small_batch *batch) {
    const io_array *b = &batch->b.a;
    const bool many = batch->many;
    const int axes = many ? 2 : 1; /* of one right-hand side a system */
    if ((b->ndim != axes && b->ndim != axes + 1) || b->shape[axes - 1] != batch->n ||
        (many && b->shape[0] != batch->count))
        return cli_array_misfit(&batch->b, &batch->A,
                                many ? "right-hand sides are (count, n) or (count, n, nrhs)"
                                     : "right-hand sides of one system are (n,) or (n, nrhs)");
    batch->nrhs = b->ndim == axes ? 1 : b->shape[axes];
    return CLI_OK;
}

int small_read(const cli *c, const char *A, const char *b, shoal_storage storage,
               small_batch *batch) {
    memset(batch, 0, sizeof *batch);
    batch->storage = storage;
    int code = cli_array_read(&batch->A, A);
    if (code == CLI_OK && b) code = cli_array_read(&batch->b, b);
    if (code == CLI_OK) code = check_matrix(batch);
    if (code == CLI_OK && b) code = check_rhs(batch);
    cli_array *all[] = { &batch->A, &batch->b };
    if (code == CLI_OK) code = cli_array_unify(c, all, b ? 2 : 1, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

/* n and count from the shape of d; e has one entry less in a matrix, and none where there are no
 * rows. */
static int check_diagonals(small_batch *batch) {
    const io_array *d = &batch->d.a, *e = &batch->e.a;
    const bool apart = batch->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", batch->d.path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        apart ? "(n, count)" : "(count, n)");
    batch->many = d->ndim == 2;
    const int rows = batch->many && !apart ? 1 : 0; /* the axis of length n */
    batch->n = d->shape[rows];
    batch->count = batch->many ? d->shape[1 - rows] : 1;
    if (e->ndim != d->ndim || e->shape[rows] != (batch->n > 0 ? batch->n - 1 : 0) ||
        (batch->many && e->shape[1 - rows] != batch->count))
        return cli_array_misfit(&batch->e, &batch->d,
                                !batch->many ? "the subdiagonal of one matrix is (n - 1,)"
                                : apart      ? "subdiagonals are (n - 1, count)"
                                             : "subdiagonals are (count, n - 1)");
    return CLI_OK;
}

int small_read_diagonals(const cli *c, const char *d, const char *e, shoal_layout layout,
                         small_batch *batch) {
    memset(batch, 0, sizeof *batch);
    batch->layout = layout;
    batch->tridiagonal = true;
    int code = cli_array_read(&batch->d, d);
    if (code == CLI_OK) code = cli_array_read(&batch->e, e);
    if (code == CLI_OK) code = check_diagonals(batch);
    cli_array *all[] = { &batch->d, &batch->e };
    if (code == CLI_OK) code = cli_array_unify(c, all, 2, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

static double entry(const small_batch *batch, int64_t at) {
    return batch->type == SHOAL_F32 ? (double)((const float *)batch->A.a.data)[at]
                                    : ((const double *)batch->A.a.data)[at];
}

/* Whether matrix k is not symmetric. */
static bool triangles_differ(const small_batch *batch, int64_t k, bool upper) {
    const int64_t n = batch->n, from = k * n * n;
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0;
    for (int64_t at = from; at < from + n * n; at++) {
        const double size = fabs(entry(batch, at));
        if (size > largest) largest = size; /* not NaN */
    }
    for (int64_t i = 1; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double below = entry(batch, from + i * n + j);
            const double above = entry(batch, from + j * n + i);
            const bool near = fabs(below - above) <= 10 * (double)n * roundoff * largest;
            if (!near && below != above && !isnan(upper ? below : above)) return true;
        }
    return false;
}

void small_note_triangles(const cli *c, const small_batch *batch, shoal_triangle triangle) {
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
            batch->A.path, (long long)differ, (long long)batch->count, (long long)first,
            cli_triangle_name(triangle));
}

void small_json_limits(io_json *j, const small_batch *batch, double tol, double cond) {
    const bool single = batch->type == SHOAL_F32;
    const double roundoff = single ? FLT_EPSILON : DBL_EPSILON;
    const double n = batch->n > 0 ? (double)batch->n : 1;
    io_json_double(j, "tol", tol > 0 ? tol : 9 * n * roundoff);
    io_json_double(j, "cond", cond > 0 ? cond : single ? 1e5 : 1e12);
}

void small_free(small_batch *batch) {
    io_array_free(&batch->A.a);
    io_array_free(&batch->b.a);
    io_array_free(&batch->d.a);
    io_array_free(&batch->e.a);
}
