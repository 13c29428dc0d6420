/* SPDX-License-Identifier: Apache-2.0
 *
 * matrix.c - sizes, names and memory of the typed arrays and the triangles of array.h; the three
 * diagonals of the sparse matrix of mtx.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hdf5.h"
#include "mtx.h"
#include "npy.h"

const char *io_type_name(io_type type) {
    static const char *const names[] = { "f4", "f8", "i4", "u4", "i8", "u8", "c8", "c16" };
    return names[type];
}

size_t io_type_size(io_type type) {
    return type == IO_C16 ? 16 : io_type_name(type)[1] == '4' ? 4 : 8;
}

int io_shape_bytes(io_type type, int ndim, const int64_t *shape, int64_t *count, int64_t *bytes) {
    if (ndim < 0 || ndim > IO_MAX_DIM) return IO_E_SIZE;
    const int64_t width = (int64_t)io_type_size(type), limit = INT64_MAX / width;
    int64_t product = 1; /* of the lengths that are not 0 */
    bool empty = false;
    for (int k = 0; k < ndim; k++) {
        if (shape[k] < 0 || shape[k] > limit / product) return IO_E_SIZE;
        if (shape[k] == 0) empty = true;
        if (shape[k] > 0) product *= shape[k];
    }
    *count = empty ? 0 : product;
    *bytes = *count * width;
    return IO_OK;
}

int io_array_create(io_type type, int ndim, const int64_t *shape, io_array *array, io_error *err) {
    int64_t count, bytes;
    char text[200];
    memset(array, 0, sizeof *array);
    if (io_shape_bytes(type, ndim, shape, &count, &bytes) != IO_OK || (uint64_t)bytes > SIZE_MAX)
        return io_fail(err, IO_E_SIZE, "shape %s of %s is not possible",
                       io_shape_text(ndim, shape, text, sizeof text), io_type_name(type));
    array->type = type;
    array->ndim = ndim;
    for (int k = 0; k < ndim; k++) array->shape[k] = shape[k];
    array->data = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
    if (!array->data)
        return io_fail(err, IO_E_MEMORY, "no memory for %" PRId64 " bytes, shape %s", bytes,
                       io_shape_text(ndim, shape, text, sizeof text));
    return IO_OK;
}

void io_array_free(io_array *array) {
    free(array->data);
    memset(array, 0, sizeof *array);
}

int64_t io_array_count(const io_array *array) {
    int64_t count = 0, bytes;
    io_shape_bytes(array->type, array->ndim, array->shape, &count, &bytes);
    return count;
}

double io_array_get(const io_array *array, int64_t i) {
    switch (array->type) {
    case IO_F4: return ((const float *)array->data)[i];
    case IO_F8: return ((const double *)array->data)[i];
    case IO_I4: return ((const int32_t *)array->data)[i];
    case IO_U4: return ((const uint32_t *)array->data)[i];
    case IO_I8: return (double)((const int64_t *)array->data)[i];
    case IO_U8: return (double)((const uint64_t *)array->data)[i];
    case IO_C8: return ((const float *)array->data)[2 * i];
    case IO_C16: return ((const double *)array->data)[2 * i];
    }
    return 0;
}

char *io_shape_text(int ndim, const int64_t *shape, char *text, size_t size) {
    size_t used = 0;
    if (size == 0) return text;
    for (int k = -1; k <= ndim && k <= IO_MAX_DIM && used < size; k++) {
        int n;
        if (k < 0)
            n = snprintf(text + used, size - used, "(");
        else if (k == ndim)
            n = snprintf(text + used, size - used, ndim == 1 ? ",)" : ")");
        else
            n = snprintf(text + used, size - used, "%s%" PRId64, k ? ", " : "", shape[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    return text;
}

/* ---- sparse matrices -------------------------------------------------------------------------- */

void io_matrix_free(io_matrix *matrix) {
    free(matrix->entries);
    memset(matrix, 0, sizeof *matrix);
}

/* The first entry outside the band, row by row, of the whole matrix: the mirror images of a
 * symmetric matrix come earlier than the entries that are stored. */
static bool outside_band(const io_matrix *m, int64_t *row, int64_t *col) {
    bool found = false;
    for (int64_t i = 0; i < m->count; i++) {
        const io_entry *e = &m->entries[i];
        int64_t low = e->row < e->col ? e->row : e->col, high = e->row + e->col - low;
        if (high - low <= 1 || e->value == 0) continue; /* NaN is not zero */
        int64_t at_row = m->symmetry == IO_GENERAL ? e->row : low;
        int64_t at_col = m->symmetry == IO_GENERAL ? e->col : high;
        if (!found || at_row < *row || (at_row == *row && at_col < *col)) {
            *row = at_row;
            *col = at_col;
        }
        found = true;
    }
    return found;
}

int io_matrix_tridiagonal(const io_matrix *m, const char *name, int64_t limit, io_array *dl,
                          io_array *d, io_array *du, io_error *err) {
    int64_t n = m->rows, row = 0, col = 0;
    io_array *const arrays[3] = { dl, d, du };
    for (int k = 0; k < 3; k++) memset(arrays[k], 0, sizeof *arrays[k]);
    if (m->cols != n)
        return io_fail(err, IO_E_FORMAT, "%s: not square: %" PRId64 " x %" PRId64, name, n,
                       m->cols);
    if (outside_band(m, &row, &col))
        return io_fail(err, IO_E_FORMAT,
                       "%s: not tridiagonal: entry (%" PRId64 ", %" PRId64
                       ") lies outside the band",
                       name, row + 1, col + 1);
    if (n > limit / 24)
        return io_fail(err, IO_E_SIZE,
                       "%s: three diagonals of %" PRId64 " are larger than the limit of %" PRId64
                       " bytes",
                       name, n, limit);
    for (int k = 0; k < 3; k++) {
        if (io_array_create(IO_F8, 1, &n, arrays[k], NULL) == IO_OK) continue;
        while (k >= 0) io_array_free(arrays[k--]);
        return io_fail(err, IO_E_MEMORY, "%s: no memory for its diagonals", name);
    }
    double *lower = dl->data, *middle = d->data, *upper = du->data;
    for (int64_t i = 0; i < m->count; i++) {
        const io_entry *e = &m->entries[i];
        if (e->row == e->col) {
            middle[e->row] = e->value;
        } else if (e->row == e->col + 1) {
            lower[e->row] = e->value;
            if (m->symmetry != IO_GENERAL)
                upper[e->col] = m->symmetry == IO_SKEW ? -e->value : e->value;
        } else if (e->col == e->row + 1) {
            upper[e->row] = e->value;
        }
    }
    return IO_OK;
}

/* ---- triangles -------------------------------------------------------------------------------- */

int64_t io_triangle_at(const io_triangle *t, int64_t n, int64_t i, int64_t j) {
    if (!t->packed) return i * n + j;
    return t->upper ? i * n - i * (i - 1) / 2 + j - i : i * (i + 1) / 2 + j;
}

int io_triangle_create(const io_triangle *t, io_type type, int64_t n, const char *name,
                       int64_t limit, io_array *array, io_error *err) {
    const int64_t half = n % 2 ? (n + 1) / 2 : n / 2, other = n % 2 ? n : n + 1;
    int64_t shape[2] = { n, n }, count, bytes;
    memset(array, 0, sizeof *array);
    if (t->packed) { /* half and other stand for the product: it may not fit */
        shape[0] = half;
        shape[1] = other;
    }
    if (io_shape_bytes(type, 2, shape, &count, &bytes) != IO_OK)
        return io_fail(err, IO_E_SIZE, "%s: n = %" PRId64 " needs more than %" PRId64 " bytes",
                       name, n, INT64_MAX);
    if (bytes > limit)
        return io_fail(err, IO_E_SIZE,
                       "%s: n = %" PRId64 " needs %" PRId64 " bytes%s, the limit is %" PRId64, name,
                       n, bytes, t->packed ? "" : " in full storage", limit);
    int status = t->packed ? io_array_create(type, 1, &count, array, NULL)
                           : io_array_create(type, 2, shape, array, NULL);
    if (status == IO_OK) return IO_OK;
    return io_fail(err, IO_E_MEMORY, "%s: n = %" PRId64 " needs %" PRId64 " bytes%s: no memory",
                   name, n, bytes, t->packed ? "" : " in full storage");
}

static bool ends_in(const char *name, const char *ending) {
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

int io_triangle_read(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                     io_array *array, io_error *err) {
    if (ends_in(path, ".h5") || strstr(path, ".h5:/"))
        return io_h5_read_triangle(path, t, limit, n, array, err);
    if (ends_in(path, ".mtx")) return io_mtx_read_triangle(path, t, limit, n, array, err);
    return io_npy_read_triangle(path, t, limit, n, array, err);
}

int64_t io_memory_bytes(void) {
    const int64_t pages = (int64_t)sysconf(_SC_PHYS_PAGES), page = (int64_t)sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && pages < INT64_MAX / page ? pages * page : INT64_MAX;
}
