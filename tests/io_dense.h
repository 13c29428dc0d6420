/* SPDX-License-Identifier: Apache-2.0
 *
 * io_dense.h - a sparse matrix that was read, as a dense one, to compare with.
 */
#ifndef SHOAL_TEST_IO_DENSE_H
#define SHOAL_TEST_IO_DENSE_H

#include <inttypes.h>
#include <string.h>

#include "io/mtx.h"

/* The whole matrix as an f8 array of shape (rows, cols), both triangles filled. IO_E_SIZE if that takes more than
 * `limit` bytes. */
static inline int matrix_dense(const io_matrix *m, const char *name, int64_t limit, io_array *dense,
                               io_error *err) {
    int64_t shape[2] = { m->rows, m->cols }, count, bytes;
    memset(dense, 0, sizeof *dense);
    if (io_shape_bytes(IO_F8, 2, shape, &count, &bytes) != IO_OK || bytes > limit)
        return io_fail(err, IO_E_SIZE,
                       "%s: as a dense matrix %" PRId64 " x %" PRId64
                       " is larger than the limit of %" PRId64 " bytes",
                       name, m->rows, m->cols, limit);
    int status = io_array_create(IO_F8, 2, shape, dense, NULL);
    if (status != IO_OK)
        return io_fail(err, IO_E_MEMORY, "%s: no memory for %" PRId64 " bytes", name, bytes);
    double *a = dense->data;
    for (int64_t i = 0; i < m->count; i++) {
        const io_entry *e = &m->entries[i];
        a[e->row * m->cols + e->col] = e->value;
        if (m->symmetry != IO_GENERAL && e->row != e->col)
            a[e->col * m->cols + e->row] = m->symmetry == IO_SKEW ? -e->value : e->value;
    }
    return IO_OK;
}

#endif
