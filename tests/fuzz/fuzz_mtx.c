/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_mtx.c - libFuzzer target: any bytes as a Matrix Market file, and what is made from it.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "io/mtx.h"

#define LIMIT (1 << 16) /* bytes of a dense matrix or of three diagonals */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    io_matrix m;
    io_array a, dl, d, du;
    io_error err;
    int64_t n;
    for (int form = 0; form < 4; form++) {
        const io_triangle t = { .packed = form % 2, .upper = form / 2 };
        if (io_mtx_parse_triangle("fuzz", (const char *)bytes, size, &t, LIMIT, &n, &a, &err) ==
            IO_OK)
            io_array_free(&a);
    }
    if (io_triplets_parse("fuzz", (const char *)bytes, size, -1, &m, &err) == IO_OK)
        io_matrix_free(&m);
    if (io_mtx_parse("fuzz", (const char *)bytes, size, &m, &err) != IO_OK) return 0;
    for (int64_t k = 0; k < m.count; k++) {
        const io_entry *e = &m.entries[k];
        if (e->row < 0 || e->row >= m.rows || e->col < 0 || e->col >= m.cols) abort();
        if (k > 0 && (e[-1].row > e->row || (e[-1].row == e->row && e[-1].col >= e->col))) abort();
    }
    if (io_matrix_tridiagonal(&m, "fuzz", LIMIT, &dl, &d, &du, &err) == IO_OK) {
        io_array_free(&dl);
        io_array_free(&d);
        io_array_free(&du);
    }
    io_matrix_free(&m);
    return 0;
}
