/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_openblas.c - opens OpenBLAS, or another LAPACK, with one thread.
 *
 * OpenBLAS chooses its kernels when it is loaded; some releases take those of a 20-year-old CPU for
 * a new one they do not know, so OPENBLAS_CORETYPE is set before (unless the user did), and a
 * baseline that runs below the CPU's level is not quoted.
 */
#define _GNU_SOURCE
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool cpu_has(const char *feature) {
#if defined(__x86_64__)
    if (strcmp(feature, "avx512") == 0) return __builtin_cpu_supports("avx512f");
    return __builtin_cpu_supports("avx2");
#else
    (void)feature;
    return false;
#endif
}

static void *first_library(void) {
    static const char *const names[] = { "libopenblas.so.0", "libopenblas.so", "liblapack.so.3" };
    setenv("OPENBLAS_NUM_THREADS", "1", 1); /* the threads are ours */
    if (cpu_has("avx512"))
        setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    else if (cpu_has("avx2"))
        setenv("OPENBLAS_CORETYPE", "Haswell", 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle) return handle;
    }
    return NULL;
}

/* OpenBLAS tells its release and kernels; plain LAPACK its release. */
static void describe(void *handle, bench_lapack *lib) {
    char *(*config)(void) = NULL, *(*core)(void) = NULL;
    void (*set_threads)(int) = NULL;
    void (*release)(int *, int *, int *) = NULL;
    *(void **)&config = dlsym(handle, "openblas_get_config");
    *(void **)&core = dlsym(handle, "openblas_get_corename");
    *(void **)&set_threads = dlsym(handle, "openblas_set_num_threads");
    *(void **)&release = dlsym(handle, "ilaver_");
    if (set_threads) set_threads(1);
    if (config && core) {
        char name[32] = "OpenBLAS", number[32] = "";
        sscanf(config(), "%31s %31s", name, number);
        snprintf(lib->version, sizeof lib->version, "%s %s, core %s", name, number, core());
        if (cpu_has("avx2") && strcmp(core(), "Prescott") == 0)
            snprintf(lib->refusal, sizeof lib->refusal,
                     "OpenBLAS runs its Prescott kernels on a CPU with AVX2: not a fair baseline");
    } else if (release) {
        int major = 0, minor = 0, patch = 0;
        release(&major, &minor, &patch);
        snprintf(lib->version, sizeof lib->version, "LAPACK %d.%d.%d", major, minor, patch);
    } else {
        snprintf(lib->version, sizeof lib->version, "LAPACK of unknown release");
    }
}

bool bench_open_lapack(bench_session *s, bench_lapack *lib) {
    *lib = (bench_lapack){ .file = first_library() };
    if (!lib->file) {
        bench_note(s, "peer left out: no OpenBLAS or LAPACK library found");
        return false;
    }
    describe(lib->file, lib);
    if (*lib->refusal) bench_note(s, "peer left out: %s", lib->refusal);
    return !*lib->refusal;
}
