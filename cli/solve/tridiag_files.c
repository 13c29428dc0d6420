/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_files.c - reads tridiagonal systems from .npy files or a Matrix Market file.
 *
 * A sparse file of a few bytes may state any n. Its diagonals are asked for when b has been read
 * and has that length, and are no larger than b, the entries of the file and SMALL together.
 */
#include "tridiag_files.h"

#include <string.h>

#include "io/mtx.h"

enum { SMALL = 1 << 16 }; /* unknowns that are no burden, whatever the file */

static const char what_fits[] =
    "right-hand sides have the shape of the diagonals, or one more last axis";

static int read_matrix(const cli *c, const char *path, tridiag_batch *batch) {
    io_matrix matrix;
    io_error err;
    const io_array *b = &batch->b.a;
    int status = io_mtx_read(path, &matrix, &err);
    if (status != IO_OK) return cli_io(status, &err);
    if (matrix.duplicates > 0)
        cli_note(c, "%s: %lld entries were given more than once and added up", path,
                 (long long)matrix.duplicates);
    batch->dl.path = batch->d.path = batch->du.path = path;
    if (matrix.rows == matrix.cols && (b->ndim == 0 || b->shape[0] != matrix.rows)) {
        const cli_array diagonal = { .path = path, .a = { .ndim = 1, .shape = { matrix.rows } } };
        io_matrix_free(&matrix);
        return cli_array_misfit(&batch->b, &diagonal, what_fits);
    }
    const int64_t unknowns = io_array_count(b) + matrix.count + SMALL;
    const int64_t limit = unknowns < INT64_MAX / 24 ? 24 * unknowns : INT64_MAX;
    status =
        io_matrix_tridiagonal(&matrix, path, limit, &batch->dl.a, &batch->d.a, &batch->du.a, &err);
    io_matrix_free(&matrix);
    return cli_io(status, &err);
}

static int read_diagonals(const tridiag_paths *paths, tridiag_batch *batch) {
    int code = cli_array_read(&batch->dl, paths->dl);
    if (code == CLI_OK) code = cli_array_read(&batch->d, paths->d);
    if (code == CLI_OK) code = cli_array_read(&batch->du, paths->du);
    return code;
}

/* Equal in the first ndim axes. */
static bool same_shape(const io_array *a, const io_array *b, int ndim) {
    for (int k = 0; k < ndim; k++)
        if (a->shape[k] != b->shape[k]) return false;
    return true;
}

/* Systems of different sizes: diagonals of one axis, and count + 1 offsets that fit them. */
static int read_offsets(const char *path, tridiag_batch *batch) {
    const int code = cli_array_read(&batch->starts, path);
    if (code != CLI_OK) return code;
    const io_array *a = &batch->starts.a, *d = &batch->d.a;
    char text[96];
    if (a->type != IO_I8 || a->ndim != 1 || a->shape[0] < 1)
        return cli_fail(CLI_INPUT, "%s: offsets are int64, count + 1 of them, and this is %s %s",
                        path, io_type_name(a->type),
                        io_shape_text(a->ndim, a->shape, text, sizeof text));
    if (batch->layout == SHOAL_INTERLEAVED || d->ndim != 1)
        return cli_fail(CLI_INPUT,
                        "%s: with offsets the diagonals have one axis, system after system", path);
    const int64_t *at = a->data, count = a->shape[0] - 1;
    batch->n = 0;
    for (int64_t k = 0; k <= count; k++) {
        if (k == 0 ? at[0] != 0 : at[k] < at[k - 1])
            return cli_fail(CLI_INPUT,
                            "%s: offset %lld is %lld; they begin with 0 and do not decrease", path,
                            (long long)k, (long long)at[k]);
        if (k > 0 && at[k] - at[k - 1] > batch->n) batch->n = at[k] - at[k - 1];
    }
    if (at[count] != d->shape[0])
        return cli_fail(CLI_INPUT, "%s: the last offset is %lld, but %s has %lld rows", path,
                        (long long)at[count], batch->d.path, (long long)d->shape[0]);
    batch->offsets = at;
    batch->count = count;
    return CLI_OK;
}

static int check_shapes(tridiag_batch *batch) {
    const io_array *d = &batch->d.a, *b = &batch->b.a;
    const bool interleaved = batch->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", batch->d.path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        interleaved ? "(n, count)" : "(count, n)");
    const cli_array *off[] = { &batch->dl, &batch->du };
    for (int i = 0; i < 2; i++)
        if (off[i]->a.ndim != d->ndim || !same_shape(&off[i]->a, d, d->ndim))
            return cli_array_misfit(off[i], &batch->d,
                                    "all three diagonals have the same shape, of length n "
                                    "(the first of dl and the last of du are ignored)");
    if ((b->ndim != d->ndim && b->ndim != d->ndim + 1) || !same_shape(b, d, d->ndim))
        return cli_array_misfit(&batch->b, &batch->d, what_fits);
    batch->n = d->shape[d->ndim == 2 && !interleaved];
    batch->count = d->ndim == 2 ? d->shape[interleaved] : 1;
    batch->nrhs = b->ndim == d->ndim ? 1 : b->shape[d->ndim];
    batch->rows = batch->n * batch->count;
    return CLI_OK;
}

int tridiag_read(const cli *c, const tridiag_paths *paths, shoal_layout layout,
                 tridiag_batch *batch) {
    memset(batch, 0, sizeof *batch);
    batch->layout = layout;
    int code = cli_array_read(&batch->b, paths->b);
    if (code == CLI_OK)
        code = paths->matrix ? read_matrix(c, paths->matrix, batch) : read_diagonals(paths, batch);
    cli_array *all[] = { &batch->dl, &batch->d, &batch->du, &batch->b };
    if (code == CLI_OK) code = check_shapes(batch);
    if (code == CLI_OK && paths->offsets) code = read_offsets(paths->offsets, batch);
    if (code == CLI_OK && paths->matrix)
        code = cli_array_widen(c, &batch->b); /* text has no type */
    if (code == CLI_OK) code = cli_array_unify(c, all, 4, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

void tridiag_free(tridiag_batch *batch) {
    io_array_free(&batch->dl.a);
    io_array_free(&batch->d.a);
    io_array_free(&batch->du.a);
    io_array_free(&batch->b.a);
    io_array_free(&batch->starts.a);
}
