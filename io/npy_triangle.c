/* SPDX-License-Identifier: Apache-2.0
 *
 * npy_triangle.c - one triangle of a symmetric matrix out of a .npy file.
 *
 * A line of the file is what is contiguous there: a row, of a Fortran-ordered file a column, of a
 * packed file a row of the triangle. Of each line the part inside the triangle is read, n calls of
 * fread, n(n+1)/2 numbers, through a buffer of one line. A pipe is read to its end first.
 */
#include "npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* n of a square shape, or of the rows of a triangle. */
static int find_order(const char *name, int ndim, const int64_t *shape, int64_t *n, io_error *err) {
    char text[200];
    if (ndim == 2 && shape[0] == shape[1]) {
        *n = shape[0];
        return IO_OK;
    }
    if (ndim == 1) { /* numbers that are on disk: far below 2^62 */
        *n = (int64_t)((sqrt(8.0 * (double)shape[0] + 1) - 1) / 2 + 0.5);
        if (*n * (*n + 1) / 2 == shape[0]) return IO_OK;
    }
    return io_fail(err, IO_E_FORMAT, "%s has shape %s; it is (n, n), or (n(n+1)/2,) of a triangle",
                   name, io_shape_text(ndim, shape, text, sizeof text));
}

static void store(io_array *array, int64_t at, double value) {
    if (array->type == IO_F4)
        ((float *)array->data)[at] = (float)value;
    else
        ((double *)array->data)[at] = value;
}

static int read_lines(FILE *file, const char *name, const io_npy_layout *says, const io_triangle *t,
                      int64_t n, io_array *array, io_error *err) {
    const size_t width = io_type_size(says->type);
    const bool packed = says->ndim == 1, columns = says->fortran && !packed;
    const bool begins = t->upper != columns; /* lines begin on the diagonal; else they end there */
    io_array line = { .type = says->type };  /* a list: io_array_get() needs no shape */
    line.data = malloc((size_t)(n > 0 ? n : 1) * width);
    if (!line.data) return io_fail(err, IO_E_MEMORY, "%s: no memory for a row", name);
    int status = IO_OK;
    for (int64_t k = 0; k < n && status == IO_OK; k++) {
        const int64_t first = begins ? k : 0, count = begins ? n - k : k + 1;
        const int64_t before = packed ? 0 : first, after = packed ? 0 : n - first - count;
        if ((before > 0 && fseek(file, (long)(before * (int64_t)width), SEEK_CUR) != 0) ||
            fread(line.data, width, (size_t)count, file) != (size_t)count ||
            (after > 0 && fseek(file, (long)(after * (int64_t)width), SEEK_CUR) != 0))
            status = io_fail(err, IO_E_OPEN, "%s: row %" PRId64 " cannot be read", name, k);
        if (says->swap) io_npy_swap(line.data, count, width);
        for (int64_t i = 0; i < count && status == IO_OK; i++)
            store(array,
                  columns ? io_triangle_at(t, n, first + i, k) : io_triangle_at(t, n, k, first + i),
                  io_array_get(&line, i));
    }
    free(line.data);
    return status;
}

/* The triangle of an array in memory. */
static void take_triangle(const io_array *whole, const io_triangle *t, int64_t n, io_array *array) {
    int64_t next = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = t->upper ? i : 0; j < (t->upper ? n : i + 1); j++, next++)
            store(array, io_triangle_at(t, n, i, j),
                  io_array_get(whole, whole->ndim == 1 ? next : i * n + j));
}

static io_type kept(io_type type) { return type == IO_F4 ? IO_F4 : IO_F8; }

static int read_pipe(FILE *file, const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                     io_array *array, io_error *err) {
    char *image;
    size_t size;
    io_array whole = { 0 };
    int status = io_file_slurp(file, path, limit, &image, &size, err);
    if (status != IO_OK) return status;
    status = io_npy_parse(path, image, size, &whole, err);
    free(image);
    if (status == IO_OK) status = find_order(path, whole.ndim, whole.shape, n, err);
    if (status == IO_OK)
        status = io_triangle_create(t, kept(whole.type), *n, path, limit, array, err);
    if (status == IO_OK) take_triangle(&whole, t, *n, array);
    io_array_free(&whole);
    return status;
}

int io_npy_read_triangle(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                         io_array *array, io_error *err) {
    FILE *file;
    int64_t size = -1, bytes = 0;
    io_npy_layout says;
    memset(array, 0, sizeof *array);
    int status = io_file_open(path, &file, &size, err);
    if (status != IO_OK) return status;
    if (size < 0) {
        status = read_pipe(file, path, t, limit, n, array, err);
        fclose(file);
        return status;
    }
    status = io_npy_begin(file, path, size, &says, &bytes, err);
    if (status == IO_OK) status = find_order(path, says.ndim, says.shape, n, err);
    if (status == IO_OK)
        status = io_triangle_create(t, kept(says.type), *n, path, limit, array, err);
    if (status == IO_OK) status = read_lines(file, path, &says, t, *n, array, err);
    if (status != IO_OK) io_array_free(array);
    fclose(file);
    return status;
}
