/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cuda.c - opens a library of the CUDA toolkit.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/peers.h"

void *bench_open_cuda_library(const char *name, const char *const *versions) {
    const char *homes[] = { NULL, getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda" };
    for (size_t h = 0; h < sizeof homes / sizeof *homes; h++) {
        if (h > 0 && !homes[h]) continue;
        for (int v = 0, last = 0; !last; v++) { /* the name without a version comes last */
            char path[512];
            last = !versions[v];
            snprintf(path, sizeof path, "%.400s%slib%s.so%s%s", h > 0 ? homes[h] : "",
                     h > 0 ? "/lib64/" : "", name, last ? "" : ".", last ? "" : versions[v]);
            void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (file) return file;
        }
    }
    return NULL;
}
