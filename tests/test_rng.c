/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng.c - addresses: every method, on every target, gives for number i the bits that its scalar
 * core gives on the host, however the fill is cut; words are Philox's. With --count=N a run compares
 * N numbers of each method with the CPU's.
 */
#include "rng_laws.h"
#if defined(__has_include)
#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#define HAVE_RANDOM123
#endif
#endif

static int64_t most = 200000; /* numbers compared with the CPU's */

/* Where a fill of `count` points has coordinate d of point i. */
static int64_t place_of(const shoal_rng_opts *o, int64_t i, int64_t d, int64_t count) {
    return o->layout == SHOAL_INTERLEAVED ? d * count + i : i * each_of(o) + d;
}

TEST(words_are_philox) {
    const shoal_rng_opts o = { .method = "words", .seed = 0x299f31d0a4093822u, .step = 0x13198a2e };
    for (int t = 0; t < target_count; t++) {
        uint32_t *w = fill_on(targets[t].ctx, &o, 4 * 77, 8, 0);
        for (int i = 0; i < 8; i++) {
            const uint32_t counter[4] = { 77 + (uint32_t)i / 4, 0, 0x13198a2e, 0 };
            const uint32_t key[2] = { 0xa4093822, 0x299f31d0 };
            CHECK(w[i] == shoal_philox(counter, key).word[i % 4]);
#ifdef HAVE_RANDOM123
            philox4x32_ctr_t c = { { counter[0], counter[1], counter[2], counter[3] } };
            philox4x32_key_t k = { { key[0], key[1] } };
            CHECK(w[i] == philox4x32(c, k).v[i % 4]);
#endif
        }
        free(w);
    }
#ifndef HAVE_RANDOM123
    printf("note  Random123 is not installed: known answers only\n");
#endif
}

/* Bit by bit: no number of one method is made of the words of another at the same address. */
TEST(methods_do_not_share_words) {
    shoal_rng_opts o = { .method = "words" };
    uint32_t *w = fill_on(targets[0].ctx, &o, 0, 1000, 0);
    o = (shoal_rng_opts){ .method = "uniform", .type = SHOAL_F32 };
    float *u = fill_on(targets[0].ctx, &o, 0, 1000, 0);
    o = (shoal_rng_opts){ .method = "normal", .variant = "icdf", .type = SHOAL_F32 };
    float *z = fill_on(targets[0].ctx, &o, 0, 1000, 0);
    int shared = 0;
    for (int i = 0; i < 1000; i++)
        shared += (u[i] == shoal_uniformf_of(w[i])) + (z[i] == shoal_icdff_of(w[i])) +
                  (fabsf(shoal_normcdff(z[i]) - u[i]) < 1e-6f);
    CHECK_MSG(shared == 0, "%d", shared);
    free(w), free(u), free(z);
}

TEST(fills_give_what_the_cores_give) {
    static const uint64_t firsts[] = {
        0, 3, 1021, 0xffffffdbu, 0xfffffff5u, 0x3fffffff5u, 0x1234567890u, UINT64_MAX - 40
    };
    for (int t = 0; t < target_count; t++)
        for (int l = 0; l < law_count; l++) {
            const shoal_rng_opts *o = &laws[l].opts;
            const size_t size = size_of(o);
            for (int f = 0; f < 8; f++) {
                const int64_t count = firsts[f] > UINT64_MAX - 41 ? 40 : 37;
                if (is_sobol(o) && firsts[f] + (uint64_t)count > 0x100000000u) continue;
                char *x = fill_on(targets[t].ctx, o, firsts[f], count, f);
                int wrong = 0;
                for (int64_t i = 0; i < count; i++)
                    for (int d = 0; d < each_of(o); d++) {
                        char expected[8];
                        const uint64_t at = firsts[f] + (uint64_t)i;
                        if (is_sobol(o))
                            scalar_point(o, at, d, expected);
                        else
                            scalar_number(o, at, expected);
                        const int64_t place = place_of(o, i, d, count);
                        wrong += memcmp(expected, x + (size_t)place * size, size) != 0;
                    }
                CHECK_MSG(wrong == 0, "%s %s at %llu: %d wrong", targets[t].backend, laws[l].name,
                          (unsigned long long)firsts[f], wrong);
                free(x);
            }
        }
}

/* Against the CPU, one thread, in one piece: other levels, devices, threads and cuts. */
TEST(bits_are_the_same_everywhere) {
    shoal_context *cpu = NULL;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = most > 1000000 ? 0 : 1 },
                     &cpu) == SHOAL_OK);
    for (int l = 0; l < law_count; l++) {
        const shoal_rng_opts *o = &laws[l].opts;
        const int64_t slice = most < (1 << 22) ? most : 1 << 22;
        for (int64_t from = 0; from < most; from += slice) {
            const int64_t count = (most - from < slice ? most - from : slice) / each_of(o);
            char *x = fill_on(cpu, o, (uint64_t)from, count, 0);
            for (int t = 0; t < target_count; t++) {
                char *y = fill_on(targets[t].ctx, o, (uint64_t)from, count, 0);
                const size_t bytes = (size_t)(count * each_of(o)) * size_of(o);
                CHECK_MSG(memcmp(x, y, bytes) == 0, "%s %s from %lld", targets[t].backend,
                          laws[l].name, (long long)from);
                free(y);
                if (from > 0) continue;
                int64_t at = 0; /* in odd pieces */
                for (int64_t piece = 1; at < count; piece = piece * 3 + 1) {
                    if (at + piece > count) piece = count - at;
                    char *z = fill_on(targets[t].ctx, o, (uint64_t)at, piece, piece % 5);
                    int same = 1;
                    for (int64_t i = 0; i < piece; i++)
                        for (int64_t d = 0; d < each_of(o); d++)
                            same &= memcmp(z + (size_t)place_of(o, i, d, piece) * size_of(o),
                                           x + (size_t)place_of(o, at + i, d, count) * size_of(o),
                                           size_of(o)) == 0;
                    CHECK_MSG(same, "%s %s: piece at %lld", targets[t].backend, laws[l].name,
                              (long long)at);
                    free(z);
                    at += piece;
                }
            }
            free(x);
        }
    }
    shoal_close(cpu);
}

/* Kernels share points out by the number of dimensions. */
TEST(points_of_every_width) {
    static const int64_t widths[] = { 1, 2, 17, 128, 129, 256, 257, 513, 1111 };
    static const uint64_t firsts[] = { 0, 63, 16383, 0xffffffffu - 998 };
    shoal_context *cpu = NULL;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu" }, &cpu) == SHOAL_OK);
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 9 * 4 * 2; i++) {
            shoal_rng_opts o = { .method = i % 3 ? "sobol" : "sobolnormal",
                                 .dimensions = widths[i / 8],
                                 .layout = i % 2 ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR,
                                 .type = i / 8 % 2 ? SHOAL_F32 : SHOAL_F64 };
            const uint64_t first = firsts[i / 2 % 4];
            const int64_t count = small ? 70 : 999;
            char *x = fill_on(cpu, &o, first, count, 0),
                 *y = fill_on(targets[t].ctx, &o, first, count, 3);
            CHECK_MSG(memcmp(x, y, (size_t)(count * o.dimensions) * size_of(&o)) == 0,
                      "%s: %lld dimensions from %llu", targets[t].backend, (long long)o.dimensions,
                      (unsigned long long)first);
            free(x), free(y);
        }
    shoal_close(cpu);
}

/* The GPU's logarithm is off by 2^-21 next to 1: r^2 by 7e-7, which tells where r is small. */
TEST(fast_math_is_close) {
    for (int t = 0; t < target_count; t++)
        for (int l = 0; l < law_count; l++) {
            shoal_rng_opts o = laws[l].opts;
            if (is_integer(&o) || o.type != SHOAL_F32) continue;
            const int64_t count = (small ? 5000 : 1000000) / each_of(&o);
            float *x = fill_on(targets[t].ctx, &o, 0, count, 0);
            o.math = SHOAL_FAST;
            float *y = fill_on(targets[t].ctx, &o, 0, count, 0);
            int64_t apart = 0;
            for (int64_t i = 0; i < count * each_of(&o); i++) {
                const double size = fabs((double)x[i]), off = fabs((double)x[i] - (double)y[i]);
                const double near_0 = size > 8.5e-4 ? 7.2e-7 / size : 8.5e-4;
                apart += !(off <= 1e-5 + near_0);
            }
            CHECK_MSG(apart == 0, "%s %s: %lld", targets[t].backend, laws[l].name,
                      (long long)apart);
            free(x), free(y);
        }
}

/* The pieces of the gamma and Poisson laws against long double. */
TEST(pieces_of_the_laws) {
    for (int i = 1; i <= 300; i++) {
        const double f = -1 + 0.01 * i, bend = shoal_bend(f);
        const long double exact = (long double)f - log1pl((long double)f);
        CHECK_MSG(i == 100
                      ? fabs(bend) < 1e-15
                      : fabsl(bend - exact) <= 8e-16L * fmaxl(exact, fabsl((long double)f) / 4),
                  "f %g: %.17g, not %.17Lg", f, bend, exact);
        const long double k = i, root = 0.918938533204672741780329736405617639L; /* log(2 pi)/2 */
        const long double stirling = lgammal(k + 1) - ((k + 0.5L) * logl(k) - k + root);
        CHECK_MSG(fabsl(shoal_stirling_error(i) - stirling) < 2e-11L, "k %d: %.17g", i,
                  shoal_stirling_error(i));
        /* u above the sum of all p, which rounding leaves below 1: the last count that adds to it */
        const shoal_poisson_law small_law = shoal_poisson_law_of(i / 30.1);
        const uint32_t last = shoal_poisson_invert(&small_law, 2);
        CHECK_MSG(last > small_law.lambda && last < 80, "lambda %g: %u", small_law.lambda, last);
    }
}

int main(int argc, char **argv) {
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--count=", 8) == 0)
            most = (int64_t)strtod(argv[i] + 8, NULL);
        else
            argv[kept++] = argv[i];
    }
    argc = kept;
    if (!open_targets(&argc, argv)) return 77;
    if (small && most > 30000) most = 30000;
    add_laws();
    TEST_BEGIN(argc, argv);
    RUN(pieces_of_the_laws);
    RUN(words_are_philox);
    RUN(methods_do_not_share_words);
    RUN(fills_give_what_the_cores_give);
    RUN(bits_are_the_same_everywhere);
    RUN(points_of_every_width);
    RUN(fast_math_is_close);
    close_targets();
    return TEST_END();
}
