/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_hdf5.c - libFuzzer target: any bytes as an HDF5 file, of which the triangles and the whole of the
 * first matrix are read. HDF5's own library is not instrumented, and is not what is looked at: a crash
 * inside it is not ours (README.md says how to go on after one).
 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/hdf5.h"

#define LIMIT (1 << 16) /* bytes of a matrix */

/* The first and the last number can be read. */
static void use(const io_array *a) {
    const int64_t count = io_array_count(a);
    if (count < 0 || (uint64_t)count * io_type_size(a->type) > LIMIT) abort();
    volatile double used = count ? io_array_get(a, 0) + io_array_get(a, count - 1) : 0;
    (void)used;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_file file = fuzz_file_of(bytes, size);
    io_array a;
    io_error err;
    int64_t n;
    if (file.fd < 0) return 0;
    for (int form = 0; form < 5; form++) {
        const io_triangle t = { .packed = form % 2, .upper = form / 2 % 2 };
        const int status = form < 4 ? io_h5_read_triangle(file.path, &t, LIMIT, &n, &a, &err)
                                    : io_h5_read_square(file.path, LIMIT, &n, &a, &err);
        if (status != IO_OK && a.data) abort();
        if (status == IO_OK) use(&a);
        io_array_free(&a);
    }
    fuzz_file_close(&file);
    return 0;
}
