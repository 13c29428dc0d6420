/* SPDX-License-Identifier: Apache-2.0
 *
 * mtx_write.c - Matrix Market files, written: coordinate files from a list of entries, array files
 * from one triangle of a symmetric array. Numbers read back exactly (%.17g, of float %.9g).
 */
#include <inttypes.h>

#include "file.h"
#include "mtx.h"

int io_mtx_write(const char *path, const io_matrix *m, io_error *err) {
    static const char *const symmetries[] = {
        [IO_GENERAL] = "general", [IO_SYMMETRIC] = "symmetric", [IO_SKEW] = "skew-symmetric"
    };
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real %s\n", symmetries[m->symmetry]);
    fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", m->rows, m->cols, m->count);
    for (int64_t k = 0; k < m->count; k++) {
        const io_entry *e = &m->entries[k];
        fprintf(file, "%" PRId64 " %" PRId64 " %.17g\n", e->row + 1, e->col + 1, e->value);
    }
    return io_out_commit(out, err);
}

/* Column j from the diagonal down is row j from the diagonal on. */
int io_mtx_write_symmetric(const char *path, const io_array *array, io_error *err) {
    const int64_t n = array->shape[0];
    io_out *out;
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    fprintf(file, "%%%%MatrixMarket matrix array real symmetric\n%" PRId64 " %" PRId64 "\n", n, n);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = j; i < n; i++)
            fprintf(file, "%.*g\n", array->type == IO_F4 ? 9 : 17, io_array_get(array, j * n + i));
    return io_out_commit(out, err);
}
