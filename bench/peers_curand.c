/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand.c - the peers of rng: what they have in common, and cuRAND, its device functions in kernels of ours (peers_curand.cu, where the
 * program is built with CUDA), and the functions of its library, opened at run time:
 *
 *     curandGenerate, ...Uniform, ...Normal, ...Poisson    Philox4x32-10, in the default order of
 *                                                          results and in the one made for speed
 *     curandGenerateUniform, ...Normal                     Sobol32, for points in float
 *
 * And a kernel of Heston's model, a peer of `heston:euler` in f32.
 *
 * Of peers of rng the law is all that can be judged: other generators have other numbers. A peer that does not pass
 * is timed and shown all the same, with the reason. What is compared with is the best peer that
 * passed; for poisson the best one, because the choice of the user is between those functions.
 */
#include "bench/peers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/peers_foreign.h"
#include "bench/pricing.h"

static const char counted[] = "its distribution is wrong; the speedup is given anyway";

int bench_peer_generator(bench_session *s, const bench_numbers *d, bench_solver peer,
                         shoal_layout layout) {
    bench_problem p = d->problem; /* of a peer there are neither our variants nor our arithmetic */
    p.variant[0] = 0;
    p.math = SHOAL_EXACT;
    bench_check check;
    char note[200];
    bench_rng_check_begin(&check);
    bool made = peer.task.call(peer.task.self, 0) == 0 && shoal_wait(d->place->ctx) == SHOAL_OK;
    if (made) made = bench_rng_check_law(s, d, bench_numbers_at(d, 0), layout, &check) == SHOAL_OK;
    if (!made) return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    check.systems = bench_numbers_of(&p);
    peer.counts = strcmp(p.method, "poisson") == 0;
    const bool wrong = peer.counts && !check.passed;
    snprintf(note, sizeof note, "%s%s%s", peer.note, wrong ? "; " : "", wrong ? counted : "");
    peer.note = note;
    return bench_add_row(s, &p, d->place, &peer, &check, true);
}

enum { PHILOX = 161, SOBOL32 = 201, DYNAMIC = 104 }; /* of curand.h */

typedef struct library {
    bench_library own;
    int (*create)(void **generator, int type);
    int (*destroy)(void *generator);
    int (*set_seed)(void *generator, unsigned long long seed);
    int (*set_order)(void *generator, int order);
    int (*set_dimensions)(void *generator, unsigned dimensions);
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

static bool open_library(bench_session *s, library *l) {
    const bench_symbol list[] = { { "curandCreateGenerator", &l->create },
                                  { "curandDestroyGenerator", &l->destroy },
                                  { "curandSetPseudoRandomGeneratorSeed", &l->set_seed },
                                  { "curandSetGeneratorOrdering", &l->set_order },
                                  { "curandSetQuasiRandomGeneratorDimensions",
                                    &l->set_dimensions } };
    if (!bench_open_cuda(s, BENCH_CURAND, 0, list, 5, &l->own)) return false;
    strncat(l->own.version, ", library", sizeof l->own.version - strlen(l->own.version) - 1);
    return true;
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
    const bench_symbol symbol = {
        f->name, strcmp(f->name, "curandGenerateNormal") == 0         ? (void *)&j->normal
                 : strcmp(f->name, "curandGenerateNormalDouble") == 0 ? (void *)&j->normal_wide
                 : strcmp(f->name, "curandGeneratePoisson") == 0      ? (void *)&j->poisson
                                                                      : (void *)&j->generate
    };
    if (!bench_find(&lib->own, 0, &symbol, 1) || lib->create(&j->generator, f->generator) != 0)
        return false;
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
                             .version = lib->own.version,
                             .note = "library calls; the state stays between calls",
                             .task = { .call = call_library, .self = &j, .calls = d->sets } };
    int code = BENCH_OK;
    if (begin(lib, f, dynamic, &j))
        code = bench_peer_generator(s, d, g, SHOAL_INTERLEAVED);
    else
        bench_peer_left_out(s, &g);
    if (j.generator) lib->destroy(j.generator);
    return code;
}

#ifdef BENCH_HAS_CURAND
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

typedef struct heston_job {
    shoal_context *ctx;
    const bench_problem *problem;
    double *sums; /* on the device */
    double price, error;
} heston_job;

static int call_heston(void *self, int i) {
    const heston_job *j = self;
    (void)i;
    return bench_curand_heston(j->problem->count, j->problem->n, j->problem->seed, j->sums);
}

int bench_peer_curand_heston(bench_session *s, bench_prices *d) {
    const bench_problem *p = &d->problem;
    heston_job j = { .ctx = d->place->ctx, .problem = p };
    double sums[2], n = (double)p->count;
    if (p->type != SHOAL_F32 || !bench_can(p, SHOAL_CAN_EULER) || p->count > 1LL << 38)
        return BENCH_OK;
    if (shoal_alloc(j.ctx, sizeof sums, (void **)&j.sums) != SHOAL_OK) return BENCH_OK;
    int code = BENCH_OK;
    if (call_heston(&j, 0) == 0 && shoal_wait(j.ctx) == SHOAL_OK &&
        shoal_copy(j.ctx, sums, j.sums, sizeof sums) == SHOAL_OK) {
        j.price = sums[0] / n;
        j.error = sqrt((sums[1] / n - j.price * j.price) / n);
        const bench_solver peer = { .who = "cuRAND",
                                    .function = "curand_normal4 euler",
                                    .version = bench_curand_version(),
                                    .note = "one thread per path, two steps per call",
                                    .task = { .call = call_heston, .self = &j, .calls = 1 } };
        code = bench_price_peer_row(s, d, peer, &j.price, &j.error);
    }
    shoal_free(j.ctx, j.sums);
    return code;
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
    if (!open_library(s, &lib)) return BENCH_OK;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && code == BENCH_OK; i++) {
        const struct function *f = &functions[i];
        if (strcmp(f->method, p->method) != 0 || strcmp(f->type, bench_problem_type(p)) != 0)
            continue;
        code = run_library(s, d, &lib, f, false);
        if (code == BENCH_OK && f->generator == PHILOX) code = run_library(s, d, &lib, f, true);
    }
    return code;
}
