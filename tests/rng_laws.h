/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_laws.h - what the tests of rng share: a list of methods with their variants and parameters,
 * filling an array on a context, and any number of a stream by the scalar cores alone.
 */
#ifndef SHOAL_RNG_LAWS_H
#define SHOAL_RNG_LAWS_H

#include "rng/poisson.h"
#include "rng/sobol.h"
#include "targets.h"
#include <math.h>

enum { CASES = 40, DIMENSIONS = 5, MAX_DIMENSIONS = 300 };

typedef struct law { /* a method, its variant and its parameters */
    shoal_rng_opts opts;
    char name[96];
} law;

static law laws[CASES];
static int law_count;

static inline void add_law(shoal_rng_opts o) {
    law *l = &laws[law_count++];
    o.seed = 0x0123456789abcdefu;
    o.df = 2.25;
    l->opts = o;
    snprintf(l->name, sizeof l->name, "%s/%s %s%s alpha %g lambda %g", o.method,
             o.variant ? o.variant : "", o.type == SHOAL_F32 ? "f32" : "f64",
             o.layout == SHOAL_INTERLEAVED ? " interleaved" : "", o.alpha, o.lambda);
}

static inline void add_laws(void) {
    static const double alphas[] = { 1e-3, 0.5, 2.5 }, lambdas[] = { 0, 3, 9.99, 10, 2222, 1e9 };
    for (int i = 0; i < 6; i++)
        add_law((shoal_rng_opts){ .method = "poisson", .lambda = lambdas[i] });
    add_law((shoal_rng_opts){ .method = "words", .step = 7, .purpose = 3, .draw = 9 });
    for (int t = SHOAL_F64; t <= SHOAL_F32; t++) {
        shoal_type type = (shoal_type)t;
        add_law((shoal_rng_opts){ .method = "uniform", .type = type });
        add_law((shoal_rng_opts){ .method = "normal", .variant = "boxmuller", .type = type });
        add_law((shoal_rng_opts){ .method = "normal", .variant = "icdf", .type = type });
        for (int i = 0; i < 3; i++)
            add_law((shoal_rng_opts){ .method = "gamma", .type = type, .alpha = alphas[i] });
        add_law(
            (shoal_rng_opts){ .method = "gamma", .variant = "log", .type = type, .alpha = 0.01 });
        add_law((shoal_rng_opts){ .method = "gamma", .variant = "log", .type = type, .alpha = 30 });
        add_law((shoal_rng_opts){ .method = "ncchisq", .type = type, .lambda = 7 });
        add_law((shoal_rng_opts){
            .method = "ncchisq", .variant = "normal", .type = type, .lambda = 40 });
        add_law((shoal_rng_opts){
            .method = "sobol", .type = type, .dimensions = DIMENSIONS, .variant = "plain" });
        add_law((shoal_rng_opts){
            .method = "sobol", .type = type, .dimensions = 300, .variant = "shift" });
        add_law((shoal_rng_opts){ .method = "sobol",
                                  .type = type,
                                  .dimensions = DIMENSIONS,
                                  .layout = SHOAL_INTERLEAVED });
        add_law(
            (shoal_rng_opts){ .method = "sobolnormal", .type = type, .dimensions = DIMENSIONS });
    }
}

static inline int is_integer(const shoal_rng_opts *o) {
    return (shoal_method_flags("rng", o->method, NULL) & SHOAL_CAN_COUNT) != 0;
}
static inline int is_sobol(const shoal_rng_opts *o) {
    return (shoal_method_flags("rng", o->method, NULL) & SHOAL_CAN_POINTS) != 0;
}
static inline size_t size_of(const shoal_rng_opts *o) {
    return is_integer(o) || o->type == SHOAL_F32 ? 4 : 8;
}
static inline int64_t each_of(const shoal_rng_opts *o) { return is_sobol(o) ? o->dimensions : 1; }

static inline shoal_status fill(shoal_rng *plan, const shoal_rng_opts *o, uint64_t first,
                                int64_t count, void *out) {
    if (is_integer(o)) return shoal_rng_fillu(plan, first, count, out);
    if (o->type == SHOAL_F32) return shoal_rng_fillf(plan, first, count, out);
    return shoal_rng_fill(plan, first, count, out);
}

/* A fill on a context, brought to the host: `shift` elements into its array, so that it need not be
 * aligned; the words before and after it must stay as they are. */
static inline void *fill_on(shoal_context *ctx, const shoal_rng_opts *o, uint64_t first,
                            int64_t count, int64_t shift) {
    const size_t size = size_of(o), numbers = (size_t)(count * each_of(o));
    const size_t all = (numbers + 2 * (size_t)shift + 8) * size;
    unsigned char *host = new_array(all, 1), *there = NULL;
    shoal_rng *plan = NULL;
    memset(host, 0x5a, all);
    CHECK(shoal_alloc(ctx, all, (void **)&there) == SHOAL_OK);
    CHECK(shoal_copy(ctx, there, host, all) == SHOAL_OK);
    CHECK_MSG(shoal_rng_create(ctx, o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK_MSG(fill(plan, o, first, count, there + (size_t)shift * size) == SHOAL_OK, "%s",
              shoal_message(ctx));
    shoal_rng_info info;
    CHECK(shoal_rng_last(plan, &info) == SHOAL_OK && info.failed == 0);
    CHECK(strcmp(info.method, o->method) == 0 && info.bytes > 0);
    CHECK(shoal_copy(ctx, host, there, all) == SHOAL_OK);
    int outside = 0;
    for (size_t i = 0; i < (size_t)shift * size; i++) outside += host[i] != 0x5a;
    for (size_t i = ((size_t)shift + numbers) * size; i < all; i++) outside += host[i] != 0x5a;
    CHECK_MSG(outside == 0, "%d bytes", outside);
    memmove(host, host + (size_t)shift * size, numbers * size);
    shoal_rng_free(plan);
    shoal_free(ctx, there);
    return host;
}

/* Number i by the scalar cores: no fill is involved. */
static inline void scalar_number(const shoal_rng_opts *o, uint64_t i, void *out) {
    uint32_t row = 0;
    while (strcmp(shoal_methods("rng", (int)row), o->method) != 0) row++;
    const shoal_stream s = shoal_stream_of(o->seed, o->step, o->purpose, row << 8 | o->draw);
    const int f32 = o->type == SHOAL_F32,
              second = o->variant && *o->variant != 'b' && *o->variant != 'v' && *o->variant != 'p';
    const shoal_words w = shoal_block(&s, is_integer(o) || f32 ? i / 4 : i / 2, 0);
    const uint64_t half = shoal_half(&w, (int)(i % 2));
    const uint32_t word = w.word[i % 4];
    double value = 0;
    if (strcmp(o->method, "words") == 0) {
        memcpy(out, &word, 4);
    } else if (strcmp(o->method, "poisson") == 0) {
        const uint32_t count = shoal_poisson(o->lambda, &s, i);
        memcpy(out, &count, 4);
    }
    if (is_integer(o)) return;
    if (strcmp(o->method, "uniform") == 0)
        value = f32 ? (double)shoal_uniformf_of(word) : shoal_uniform_of(half);
    else if (strcmp(o->method, "normal") == 0 && second)
        value = f32 ? (double)shoal_icdff_of(word) : shoal_icdf_of(half);
    else if (strcmp(o->method, "normal") == 0)
        value = f32 ? (double)shoal_normal_pairf(&w, (int)(i % 4 / 2)).z[i % 2]
                    : shoal_normal_pair(&w).z[i % 2];
    else if (strcmp(o->method, "gamma") == 0)
        value = second ? shoal_gamma_log(o->alpha, &s, i) : shoal_gamma(o->alpha, &s, i);
    else
        value = second ? shoal_ncchisq_normal(o->df, o->lambda, &s, i)
                       : shoal_ncchisq_poisson(o->df, o->lambda, &s, i);
    const float single = (float)value;
    memcpy(out, f32 ? (void *)&single : (void *)&value, size_of(o));
}

static inline void scalar_point(const shoal_rng_opts *o, uint64_t i, int d, void *out) {
    static uint32_t directions[MAX_DIMENSIONS * 32];
    static uint64_t shift[MAX_DIMENSIONS];
    static const shoal_rng_opts *made; /* for whom */
    const int variant = !o->variant                        ? SOBOL_SCRAMBLE
                        : strcmp(o->variant, "plain") == 0 ? SOBOL_PLAIN
                                                           : SOBOL_SHIFT;
    if (made != o) shoal_sobol_directions(o->dimensions, variant, o->seed, directions, shift);
    made = o;
    const uint32_t word = shoal_sobol_word(directions + 32 * d, (uint32_t)i);
    const int normal = strcmp(o->method, "sobolnormal") == 0;
    const uint64_t digits = (uint64_t)word << 32 ^ shift[d];
    const double value = normal ? shoal_icdf_of(digits) : shoal_sobol_point(word, shift[d]);
    const float single =
        normal ? shoal_icdff_of((uint32_t)(digits >> 32)) : shoal_sobol_pointf(word, shift[d]);
    memcpy(out, o->type == SHOAL_F32 ? (const void *)&single : (const void *)&value, size_of(o));
}

#endif
