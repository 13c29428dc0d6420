/* SPDX-License-Identifier: Apache-2.0
 *
 * lapack.h - routines of LAPACK as the reference of a test, from OpenBLAS or the reference library.
 *
 *     gtsv *dgtsv;
 *     *(void **)&dgtsv = lapack("dgtsv_");
 *     if (!dgtsv) MISSING("LAPACK");
 */
#ifndef SHOAL_TEST_LAPACK_H
#define SHOAL_TEST_LAPACK_H

#include <dlfcn.h>
#include <stddef.h>

/* NULL: no library on this machine has the routine. */
static inline void *lapack(const char *routine) {
    static const char *const names[] = { "libopenblas.so.0", "liblapack.so.3", "libopenblas.so" };
    void *found = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library) found = dlsym(library, routine);
    }
    return found;
}

#endif
