/* SPDX-License-Identifier: Apache-2.0
 *
 * peers.c - what peers share: fresh copies of what they overwrite, and their libraries, opened at run time: OpenBLAS, or
 * another LAPACK, with one thread, and those of the CUDA toolkit. No header of theirs is needed: the prototypes are ours.
 *
 * OpenBLAS chooses its kernels when it is loaded. Some releases choose those of a 20-year-old CPU on
 * a new one that they do not recognise. So OPENBLAS_CORETYPE is set before (unless the user did), and a
 * baseline that runs below the CPU's level is not quoted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/peers.h"

/* ---- fresh copies ---------------------------------------------------------------------------- */

void *bench_fresh_at(const bench_fresh *f, int i, int set, int64_t system) {
    const size_t each = f->size[i] / (size_t)f->data->problem.count;
    return f->work[i] + (size_t)set * f->step[i] + (size_t)system * each;
}

shoal_status bench_fresh_make(bench_fresh *f) {
    shoal_context *ctx = f->data->place->ctx;
    const bool on_cpu = bench_on_cpu(f->data->place);
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < f->arrays && status == SHOAL_OK; i++) {
        if (f->step[i] == 0) f->step[i] = f->size[i];
        status = shoal_alloc(ctx, (size_t)f->data->sets * f->step[i], (void **)&f->work[i]);
        if (f->given || status != SHOAL_OK) continue;
        f->full[i] = malloc(f->size[i]);
        if (!f->full[i]) return SHOAL_E_NOMEM;
        if (on_cpu)
            f->source[i] = f->full[i];
        else
            status = shoal_alloc(ctx, f->size[i], (void **)&f->source[i]);
    }
    return status;
}

shoal_status bench_fresh_upload(const bench_fresh *f) {
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < f->arrays && status == SHOAL_OK; i++)
        if (f->source[i] != f->full[i])
            status = shoal_copy(f->data->place->ctx, f->source[i], f->full[i], f->size[i]);
    return status;
}

void bench_fresh_free(bench_fresh *f) {
    shoal_context *ctx = f->data->place->ctx;
    for (int i = 0; i < f->arrays; i++) {
        if (!f->given && f->source[i] != f->full[i]) shoal_free(ctx, f->source[i]);
        free(f->full[i]);
        shoal_free(ctx, f->work[i]);
    }
}

static void copy_by_threads(const bench_fresh *f) {
    const int threads = f->data->place->machine.threads;
    const int64_t count = f->data->problem.count;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const size_t begin = (size_t)(count * t / threads),
                     end = (size_t)(count * (t + 1) / threads);
        for (int i = 0; i < f->arrays; i++)
            for (int set = 0; set < f->data->sets; set++) {
                const size_t each = f->size[i] / (size_t)count;
                memcpy(bench_fresh_at(f, i, set, (int64_t)begin), f->source[i] + begin * each,
                       (end - begin) * each);
            }
    }
}

int bench_fresh_copy(const bench_fresh *f) {
    if (bench_on_cpu(f->data->place)) {
        copy_by_threads(f);
        return 0;
    }
    for (int i = 0; i < f->arrays; i++)
        for (int set = 0; set < f->data->sets; set++)
            if (shoal_copy(f->data->place->ctx, bench_fresh_at(f, i, set, 0), f->source[i],
                           f->size[i]) != SHOAL_OK)
                return -1;
    return 0;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

static const struct {
    const char *file, *versions[3], *title;
    const char *before,
        *after; /* "Create" and "Destroy" in the names of functions; NULL: no handle */
} libraries[] = {
    [BENCH_CUBLAS] = { "cublas", { "12", "13" }, "cuBLAS", "cublas", "_v2" },
    [BENCH_CUSOLVER] = { "cusolver", { "11", "12" }, "cuSOLVER", "cusolverDn", "" },
    [BENCH_CUSPARSE] = { "cusparse", { "12", "13" }, "cuSPARSE", "cusparse", "" },
    [BENCH_CURAND] = { "curand", { "10", "11" }, "cuRAND", NULL, NULL },
};

/* From where the linker looks, or from a toolkit; NULL: it is not there. */
static void *open_cuda_file(const char *name, const char *const *versions) {
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

char *bench_typed_name(const char *pattern, char letter, char text[BENCH_SYMBOL]) {
    size_t i = 0;
    for (; pattern[i] && i + 1 < BENCH_SYMBOL; i++)
        text[i] = pattern[i] == '?' ? letter : pattern[i];
    text[i] = 0;
    return text;
}

bool bench_find(const bench_library *lib, char letter, const bench_symbol *list, int count) {
    char name[BENCH_SYMBOL];
    for (int i = 0; i < count; i++)
        if (!(*(void **)list[i].to =
                  dlsym(lib->file, bench_typed_name(list[i].name, letter, name))))
            return false;
    return true;
}

static bool open_cuda(bench_cuda_library which, char letter, const bench_symbol *list, int count,
                      bench_library *lib) {
    int (*create)(void **) = NULL, (*property)(int, int *) = NULL;
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    if (!(lib->file = open_cuda_file(libraries[which].file, libraries[which].versions)))
        return false;
    const char *before = libraries[which].before, *after = libraries[which].after;
    char name[3][BENCH_SYMBOL];
    snprintf(name[0], BENCH_SYMBOL, "%sCreate%s", before ? before : "", after ? after : "");
    snprintf(name[1], BENCH_SYMBOL, "%sDestroy%s", before ? before : "", after ? after : "");
    snprintf(name[2], BENCH_SYMBOL, "%sGetProperty", libraries[which].file);
    const bench_symbol own[] = { { name[0], &create }, { name[1], &lib->destroy } };
    *(void **)&property = dlsym(lib->file, name[2]);
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(lib->version, sizeof lib->version, "%s %d.%d.%d", libraries[which].title, part[0],
             part[1], part[2]);
    if (!bench_find(lib, letter, list, count)) return false;
    return !before || (bench_find(lib, 0, own, 2) && create(&lib->handle) == 0);
}

bool bench_open_cuda(bench_session *s, bench_cuda_library which, char letter,
                     const bench_symbol *list, int count, bench_library *lib) {
    *lib = (bench_library){ .file = NULL };
    if (open_cuda(which, letter, list, count, lib)) return true;
    bench_note(s, "peer left out: %s was not found or did not open", libraries[which].title);
    return false;
}

void bench_close_cuda(bench_library *lib) {
    if (lib->handle) lib->destroy(lib->handle);
}

/* ---- LAPACK ---------------------------------------------------------------------------------- */

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

/* OpenBLAS has functions for its release and kernels, plain LAPACK for its release. Returns NULL, or why the library
 * is not fit to be quoted. */
static const char *describe(void *handle, bench_library *lib) {
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
            return "OpenBLAS runs its Prescott kernels on a CPU with AVX2: not a fair baseline";
    } else if (release) {
        int major = 0, minor = 0, patch = 0;
        release(&major, &minor, &patch);
        snprintf(lib->version, sizeof lib->version, "LAPACK %d.%d.%d", major, minor, patch);
    } else {
        snprintf(lib->version, sizeof lib->version, "LAPACK of unknown release");
    }
    return NULL;
}

bool bench_open_lapack(bench_session *s, bench_library *lib) {
    *lib = (bench_library){ .file = first_library() };
    const char *refusal =
        lib->file ? describe(lib->file, lib) : "no OpenBLAS or LAPACK library found";
    if (refusal) bench_note(s, "peer left out: %s", refusal);
    return !refusal;
}
