/* SPDX-License-Identifier: Apache-2.0
 *
 * triplets.c - the lower triangle of a symmetric matrix as lines "i j value", 1-based, and nothing
 * else: no banner, no size. The text is read into memory whole; each line takes 6 bytes or more, so
 * that the list of entries (24 bytes each) can be asked for at once.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "lines.h"
#include "mtx.h"

static int read_triplet(const io_lines *l, int64_t n, io_matrix *m, io_error *err) {
    io_entry *e = &m->entries[m->count];
    const int64_t most = n < 0 ? INT64_MAX - 1 : n;
    if (l->fields != 3)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": an entry needs row, column and value",
                       l->name, l->line);
    int status = io_lines_index(l, 0, "row index", most, &e->row, err);
    if (status == IO_OK) status = io_lines_index(l, 1, "column index", most, &e->col, err);
    if (status == IO_OK) status = io_lines_double(l, 2, &e->value, err);
    if (status != IO_OK) return status;
    if (e->col > e->row)
        return io_fail(err, IO_E_FORMAT,
                       "%s:%" PRId64 ": entry (%" PRId64 ", %" PRId64 ") lies above the diagonal",
                       l->name, l->line, e->row + 1, e->col + 1);
    if (!isfinite(e->value)) m->nonfinite++;
    if (m->rows <= e->row) m->rows = e->row + 1;
    m->count++;
    return IO_OK;
}

int io_triplets_parse(const char *name, const char *text, size_t size, int64_t n, io_matrix *matrix,
                      io_error *err) {
    io_lines l = { .name = name, .at = text, .end = text + size, .comments = "%#" };
    *matrix = (io_matrix){ .symmetry = IO_SYMMETRIC };
    matrix->entries = malloc((size / 6 + 1) * sizeof(io_entry));
    if (!matrix->entries) return io_fail(err, IO_E_MEMORY, "%s: no memory for its entries", name);
    int status = IO_OK;
    while (status == IO_OK && io_lines_entry(&l)) status = read_triplet(&l, n, matrix, err);
    if (n >= 0) matrix->rows = n;
    matrix->cols = matrix->rows;
    if (status == IO_OK) status = io_matrix_sort(matrix, name, err);
    if (status != IO_OK) io_matrix_free(matrix);
    return status;
}

int io_triplets_read(const char *path, int64_t n, io_matrix *matrix, io_error *err) {
    char *text;
    size_t size;
    memset(matrix, 0, sizeof *matrix);
    int status = io_file_read(path, INT64_MAX, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_triplets_parse(path, text, size, n, matrix, err);
    free(text);
    return status;
}
