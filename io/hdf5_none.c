/* SPDX-License-Identifier: Apache-2.0
 *
 * hdf5_none.c - what stands for hdf5.c where there is no HDF5 library.
 */
#include <string.h>

#include "hdf5.h"

bool io_h5_available(void) { return false; }

static int without(const char *path, int status, io_error *err) {
    return io_fail(err, status, "%s: this program was built without HDF5 (`shoal info')", path);
}

int io_h5_read_triangle(const char *place, const io_triangle *t, int64_t limit, int64_t *n,
                        io_array *array, io_error *err) {
    (void)t, (void)limit, (void)n;
    memset(array, 0, sizeof *array);
    return without(place, IO_E_OPEN, err);
}

int io_h5_read_square(const char *place, int64_t limit, int64_t *n, io_array *array,
                      io_error *err) {
    (void)limit, (void)n;
    memset(array, 0, sizeof *array);
    return without(place, IO_E_OPEN, err);
}

int io_h5_write(const char *path, const io_h5_item *items, int count, io_error *err) {
    (void)items, (void)count;
    return without(path, IO_E_WRITE, err);
}
