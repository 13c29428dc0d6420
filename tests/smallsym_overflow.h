/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_overflow.h - a part of test_smallsym_eig.c: eigenvalues beyond the largest number.
 */
#ifndef SHOAL_SMALLSYM_OVERFLOW_H
#define SHOAL_SMALLSYM_OVERFLOW_H

#include "smallsym_eig.h"

/* Of a matrix whose entries are all x, n x is an eigenvalue; of a tridiagonal one with x on its diagonals, about 3 x.
 * If that is beyond the largest number the system has no answer, and the others have theirs. */
TEST(eigenvalues_that_overflow) {
    enum { MOST = 40, COUNT = 5 };
    static const int sizes[] = { 2, 5, 13, MOST };
    static double a[COUNT * MOST * MOST], v[COUNT * MOST * MOST];
    static double d[COUNT * MOST], e[COUNT * MOST], w[COUNT * MOST];
    for (int t = 0; t < target_count; t++)
        for (int way = 0; way < 16; way++) {
            const int n = sizes[way % 4], dense = way / 4 % 2;
            const shoal_type type = way / 8 ? SHOAL_F32 : SHOAL_F64;
            const double most = 0.75 * (type == SHOAL_F32 ? FLT_MAX : DBL_MAX);
            const shoal_smallsym_opts opts = { .n = n, .count = COUNT, .type = type };
            for (int i = 0; i < COUNT * n * n; i++) a[i] = i / (n * n) % 2 ? most : 1;
            for (int i = 0; i < COUNT * n; i++) d[i] = i / n % 2 ? most : 1;
            for (int i = 0; i < COUNT * (n - 1); i++) e[i] = i / (n - 1) % 2 ? most : 1;
            const outcome o = pairs_of(targets[t].ctx, opts, dense ? a : NULL, d, e, w, v);
            CHECK_MSG(o.info.failed == COUNT / 2, "%d failed", (int)o.info.failed);
            for (int s = 0; s < COUNT; s++) {
                CHECK_MSG(o.status[s] == (s % 2 ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_OK),
                          "%s n=%d %s: %d", targets[t].backend, n, type_name(type), o.status[s]);
                for (int i = 0; i < n; i++) CHECK(!isnan(w[s * n + i]) == !(s % 2));
            }
        }
}

#endif
