/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_npy.c - libFuzzer target: any bytes as a .npy file, read whole, and as one triangle of a matrix.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/npy.h"

#define LIMIT (1 << 16) /* bytes of a triangle */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    io_array array;
    io_error err;
    if (io_npy_parse("fuzz", bytes, size, &array, &err) == IO_OK) {
        int64_t count = io_array_count(&array);
        if (count < 0 || (uint64_t)count * io_type_size(array.type) > size) abort();
        double last = count ? io_array_get(&array, count - 1) : 0; /* the end is readable */
        volatile double used = last;
        (void)used;
    }
    io_array_free(&array);
    fuzz_file file = fuzz_file_of(bytes, size);
    for (int form = 0; form < 4 && file.fd >= 0; form++) {
        const io_triangle t = { .packed = form % 2, .upper = form / 2 };
        int64_t n;
        const int status = io_npy_read_triangle(file.path, &t, LIMIT, &n, &array, &err);
        if ((status == IO_OK) != (array.data != NULL)) abort();
        io_array_free(&array);
    }
    fuzz_file_close(&file);
    return 0;
}
