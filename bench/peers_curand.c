/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand.c - cuRAND: its device functions in kernels of ours (peers_curand.cu, where the
 * program is built with CUDA), and the functions of its library, opened at run time:
 *
 *     curandGenerate, ...Uniform, ...Normal, ...Poisson    Philox4x32-10, in the default order of
 *                                                          results and in the one made for speed
 *     curandGenerateUniform, ...Normal                     Sobol32, for points in float
 *
 * The prototypes are ours: no header of the library is needed.
 */
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench/peers_curand.h"

enum { PHILOX = 161, SOBOL32 = 201, DYNAMIC = 104 }; /* of curand.h */

typedef struct library {
    void *file;
    int (*create)(void **generator, int type);
    int (*destroy)(void *generator);
    int (*set_seed)(void *generator, unsigned long long seed);
    int (*set_order)(void *generator, int order);
    int (*set_dimensions)(void *generator, unsigned dimensions);
    char version[64];
} library;

typedef struct job {
    const bench_numbers *numbers;
    bench_curand kernel; /* of the device functions */
    void *generator;     /* of the library          */
    int (*generate)(void *generator, void *out, size_t count);
    int (*normal)(void *generator, float *out, size_t count, float mean, float deviation);
    int (*normal_wide)(void *generator, double *out, size_t count, double mean, double deviation);
    int (*poisson)(void *generator, unsigned *out, size_t count, double lambda);
} job;

static const struct function {
    const char *method, *type, *name;
    int generator;
} functions[] = {
    { "words", "u32", "curandGenerate", PHILOX },
    { "uniform", "f32", "curandGenerateUniform", PHILOX },
    { "uniform", "f64", "curandGenerateUniformDouble", PHILOX },
    { "normal", "f32", "curandGenerateNormal", PHILOX },
    { "normal", "f64", "curandGenerateNormalDouble", PHILOX },
    { "poisson", "u32", "curandGeneratePoisson", PHILOX },
    { "sobol", "f32", "curandGenerateUniform", SOBOL32 },
    { "sobolnormal", "f32", "curandGenerateNormal", SOBOL32 },
};

static bool open_library(library *lib) {
    static const char *const versions[] = { "10", "11", NULL };
    int (*property)(int, int *) = NULL;
    *lib = (library){ .file = bench_open_cuda_library("curand", versions) };
    if (!lib->file) return false;
    *(void **)&lib->create = dlsym(lib->file, "curandCreateGenerator");
    *(void **)&lib->destroy = dlsym(lib->file, "curandDestroyGenerator");
    *(void **)&lib->set_seed = dlsym(lib->file, "curandSetPseudoRandomGeneratorSeed");
    *(void **)&lib->set_order = dlsym(lib->file, "curandSetGeneratorOrdering");
    *(void **)&lib->set_dimensions = dlsym(lib->file, "curandSetQuasiRandomGeneratorDimensions");
    *(void **)&property = dlsym(lib->file, "curandGetProperty");
    int part[3] = { 0, 0, 0 }; /* major, minor, patch */
    for (int i = 0; property && i < 3; i++) property(i, &part[i]);
    snprintf(lib->version, sizeof lib->version, "cuRAND %d.%d.%d, library", part[0], part[1],
             part[2]);
    return lib->create && lib->destroy && lib->set_seed && lib->set_order && lib->set_dimensions;
}

static int call_library(void *self, int set) {
    const job *j = self;
    const bench_problem *p = &j->numbers->problem;
    const size_t count = (size_t)bench_numbers_of(p);
    void *out = bench_numbers_at(j->numbers, set % j->numbers->sets);
    if (j->normal) return j->normal(j->generator, out, count, 0, 1);
    if (j->normal_wide) return j->normal_wide(j->generator, out, count, 0, 1);
    if (j->poisson) return j->poisson(j->generator, out, count, p->lambda);
    return j->generate(j->generator, out, count);
}

/* A generator set up, and the function's own signature found. */
static bool begin(const library *lib, const struct function *f, bool dynamic, job *j) {
    const bench_problem *p = &j->numbers->problem;
    void *symbol = dlsym(lib->file, f->name);
    if (!symbol || lib->create(&j->generator, f->generator) != 0) return false;
    if (strcmp(f->name, "curandGenerateNormal") == 0)
        *(void **)&j->normal = symbol;
    else if (strcmp(f->name, "curandGenerateNormalDouble") == 0)
        *(void **)&j->normal_wide = symbol;
    else if (strcmp(f->name, "curandGeneratePoisson") == 0)
        *(void **)&j->poisson = symbol;
    else
        *(void **)&j->generate = symbol;
    if (f->generator == SOBOL32) return lib->set_dimensions(j->generator, (unsigned)p->n) == 0;
    return lib->set_seed(j->generator, p->seed) == 0 &&
           (!dynamic || lib->set_order(j->generator, DYNAMIC) == 0);
}

static int run_library(bench_session *s, const bench_numbers *d, const library *lib,
                       const struct function *f, bool dynamic) {
    job j = { .numbers = d };
    const bench_solver g = { .who = "cuRAND",
                             .function = f->name,
                             .variant = f->generator == SOBOL32 ? "sobol32"
                                        : dynamic               ? "dynamic"
                                                                : "",
                             .version = lib->version,
                             .note = "library calls, the state kept from one to the next",
                             .task = { .call = call_library, .self = &j, .calls = d->sets } };
    int code = BENCH_OK;
    if (begin(lib, f, dynamic, &j))
        code = bench_peer_generator(s, d, g, SHOAL_INTERLEAVED);
    else
        bench_peer_left_out(s, &g);
    if (j.generator) lib->destroy(j.generator);
    return code;
}

#ifdef BENCH_CURAND
static int call_kernel(void *self, int set) {
    const job *j = self;
    const bench_problem *p = &j->numbers->problem;
    return bench_curand_fill(&j->kernel, p->seed, p->lambda, p->count,
                             bench_numbers_at(j->numbers, set % j->numbers->sets));
}

static int run_kernel(bench_session *s, const bench_numbers *d) {
    const bench_problem *p = &d->problem;
    job j = { .numbers = d };
    if (bench_curand_choose(p->method, bench_problem_type(p), &j.kernel) != 0) return BENCH_OK;
    const bench_solver g = {
        .who = "cuRAND",
        .function = j.kernel.function,
        .version = bench_curand_version(),
        .note = "Philox4x32-10, a grid that fills the GPU, 16 bytes stored at a time",
        .task = { .call = call_kernel, .self = &j, .calls = d->sets }
    };
    return bench_peer_generator(s, d, g, SHOAL_SYSTEM_MAJOR);
}
#else
static int run_kernel(bench_session *s, const bench_numbers *d) {
    (void)s, (void)d;
    return BENCH_OK;
}
#endif

int bench_peer_curand(bench_session *s, const bench_numbers *d) {
    const bench_problem *p = &d->problem;
    library lib;
    int code = run_kernel(s, d);
    if (code != BENCH_OK) return code;
    if (!open_library(&lib)) {
        bench_note(s, "peer left out: cuRAND's library was not found");
        return BENCH_OK;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions && code == BENCH_OK; i++) {
        const struct function *f = &functions[i];
        if (strcmp(f->method, p->method) != 0 || strcmp(f->type, bench_problem_type(p)) != 0)
            continue;
        code = run_library(s, d, &lib, f, false);
        if (code == BENCH_OK && f->generator == PHILOX) code = run_library(s, d, &lib, f, true);
    }
    return code;
}
