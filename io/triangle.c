/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.c - where the entries of a triangle are, how much memory it takes, and who reads it.
 */
#include "triangle.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "hdf5.h"
#include "mtx.h"
#include "npy.h"

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
