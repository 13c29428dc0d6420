/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_npy.c - libFuzzer target: any bytes as a .npy file.
 *
 *     cmake --build build-fuzz --target fuzz_npy     (CONTRIBUTING.md)
 *     build-fuzz/tests/fuzz_npy -max_total_time=60 -malloc_limit_mb=64
 */
#include <stdlib.h>

#include "io/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

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
    return 0;
}
