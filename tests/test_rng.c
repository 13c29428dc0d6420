/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng.c - addresses: every method, on every target, gives for number i the bits that its scalar
 * core gives on the host, however the fill is cut; words are Philox's. Rejection accepts what the densities say. With
 * --count=N a run compares N numbers of each method with the CPU's.
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

/* log of the Poisson probability of k; for lambda = 1e9 off by 1e-8. */
static long double log_poisson(long double lambda, long double k) {
    return k < 0 ? -INFINITY : k * logl(lambda) - lambda - lgammal(k + 1);
}

/* Of each attempt, k is where the transformation puts it, and is accepted with the probability p(k) / hat(k), which
 * never passes 1; what is accepted or refused early is what the whole test would accept or refuse. */
TEST(poisson_accepts_by_its_density) {
    static const double lambdas[] = { 10, 10.5, 15, 33.3, 100, 2222, 1e5, 1e9 };
    const long double root = sqrtl(2 * acosl(-1));
    const shoal_stream s = shoal_stream_of(7, 0, 0, 0);
    for (int l = 0; l < 8; l++) {
        const shoal_poisson_law own = shoal_poisson_law_of(lambdas[l]);
        int above = 0, early = 0, wrong = 0, misplaced = 0;
        for (int i = 0; i < 20000; i++) {
            shoal_words w = shoal_block(&s, (uint64_t)i, 0);
            if (i % 4 == 0)
                w.word[1] = i % 8 ? w.word[1] >> (i / 8 % 30) : ~(w.word[1] >> (i / 8 % 30));
            shoal_poisson_try t = shoal_poisson_attempt(&own, &w);
            const long double u = shoal_uniform(&w, 0) - 0.5L, us = 0.5L - fabsl(u);
            const long double at = (2 * own.a / us + own.b) * u + lambdas[l] + 0.43L;
            misplaced +=
                !(fabsl(at - t.k - 0.5L) <= 0.5L + 1e-14L * fabsl(at)) || t.us != (double)us;
            const long double ratio =
                log_poisson(lambdas[l], t.k) + logl((own.a / (us * us) + own.b) * root / own.alpha);
            above += ratio > 1e-7L;
            early += us >= 0.07L && own.vr > expl(ratio) + 1e-7L;
            for (int tail = 0; tail < 2; tail++) { /* near the border too */
                if (tail) t.v = (double)expl(ratio) * (i % 2 ? 1 - 1e-5 : 1 + 1e-5);
                if (!(t.v >= 0x1p-53 && t.v < 1) || fabsl(logl(t.v) - ratio) < 1e-7L) continue;
                wrong += shoal_poisson_accepts(&own, &t) != (logl(t.v) < ratio);
            }
        }
        CHECK_MSG(!above && !early && !wrong && !misplaced,
                  "lambda %g: %d above the hat, %d early, %d wrong, %d misplaced", lambdas[l],
                  above, early, wrong, misplaced);
    }
    for (int k = 1; k < 100000; k += 1 + k / 20) { /* cancels to 1e-12 */
        const long double n = k, exact = lgammal(n + 1) - ((n + 0.5L) * logl(n) - n + logl(root));
        CHECK_MSG(fabsl(shoal_stirling_error(n) - exact) < 2.1e-11L, "k %d", k);
    }
    const double many = shoal_poisson_law_of(10).alpha /
                        (double)root; /* attempts per sample, as poisson.h has them */
    const double few = shoal_poisson_law_of(2222).alpha / (double)root;
    CHECK_MSG(fabs(many - 1.34) < 0.005 && fabs(few - 1.13) < 0.005, "%g and %g attempts", many,
              few);
}

/* Below 10: the smallest k whose distribution function reaches u. */
TEST(poisson_inverts_its_distribution) {
    static const double lambdas[] = { 0, 1e-3, 0.7, 3, 9.99 };
    for (int l = 0; l < 5; l++) {
        const shoal_poisson_law own = shoal_poisson_law_of(lambdas[l]);
        for (int i = 0; i < 2000; i++) {
            const double u = (i + 0.5) / 2000;
            const uint32_t k = shoal_poisson_invert(&own, u);
            long double below = 0, p = expl(-(long double)lambdas[l]);
            for (uint32_t j = 0; j < k; j++) below += p, p *= lambdas[l] / (j + 1.0L);
            CHECK_MSG(below < u + 1e-14L && u <= below + p + 1e-14L, "lambda %g, u %g: %u",
                      lambdas[l], u, k);
        }
    }
}

/* Marsaglia and Tsang's test, and the power of U for alpha below 1. */
TEST(gamma_accepts_by_its_density) {
    static const double alphas[] = { 1e-3, 0.3, 1, 2.5, 100, 1e6 };
    const shoal_stream s = shoal_stream_of(8, 0, 0, 0);
    for (int l = 0; l < 6; l++) {
        const shoal_gamma_law own = shoal_gamma_law_of(alphas[l]);
        const long double d = alphas[l] + (alphas[l] < 1) - 1 / 3.0L, c = 1 / sqrtl(9 * d);
        int wrong = 0, off = 0, boost = 0;
        for (int i = 0; i < 20000; i++) {
            const shoal_words w = shoal_block(&s, (uint64_t)i, 0);
            shoal_gamma_try t = shoal_gamma_attempt(&own, &w);
            const long double z = t.z, one = 1 + c * z, v = one * one * one;
            off += fabsl(t.v - v) > 1e-14L * (1 + fabsl(v)) || t.u != ldexp(w.word[3] + 0.5, -32);
            const long double border = v > 0 ? z * z / 2 + d - d * v + d * logl(v) : -INFINITY;
            for (int tail = 0; tail < 2; tail++) { /* near the border too */
                if (tail) t.u = (double)expl(border) * (i % 2 ? 1 - 1e-5 : 1 + 1e-5);
                if (!(t.u >= 0x1p-33 && t.u < 1) || fabsl(logl(t.u) - border) < 1e-9L) continue;
                wrong += shoal_gamma_accepts(&own, &t) != (logl(t.u) < border);
            }
            if (alphas[l] >= 1 || !(v > 0)) continue;
            const long double power =
                logl(shoal_uniform_of(shoal_half(&w, 1))) / alphas[l] + logl(d * v);
            boost += !(fabsl(shoal_gamma_boosted(&own, t.v, shoal_half(&w, 1)) - power) <=
                       1e-13L * (1 + fabsl(power)));
        }
        CHECK_MSG(!wrong && !off && !boost, "alpha %g: %d wrong, %d off, %d boosted otherwise",
                  alphas[l], wrong, off, boost);
        CHECK((own.boost != 0) == (alphas[l] < 1));
    }
}

/* An address means the same number in every release: changing one of these is a change for users. */
TEST(numbers_stay_what_they_are) {
    static const uint64_t known[] = {
        0xbeeda838f35b0575u, 0xe9469f38e9790fc6u, 0x5af9ce51325af733u, 0xda0818074c942a51u,
        0x7c482f89297ee8f8u, 0x6cbbe9b4d4bee72eu, 0x94db7dd5d01ae2a4u, 0x3c0e8fb33c636e48u,
        0xfb8cfaddaaccba61u, 0x23f44d5baaa4d348u, 0x2dda368e9e06291cu, 0xb4345522dfd0d912u,
        0x1978b57d81d599ddu, 0xc1a5e83839c25ed6u, 0xe96d86518f4f028du, 0x554fa0e00cfa89dfu,
        0xb4b44c2072fb6cedu, 0xf3cb7c7668b3a63du, 0xb98ff60ad23a209fu, 0xf1373b4f953ab5deu,
        0xe5f41467cf49605cu, 0xb5196bc9ce306881u, 0x91981b7ed642c903u, 0x1bd3e2988db824bfu,
        0xa310c388d6542fc5u, 0x20fd7412c840f89fu, 0x22d21ff028a162eau, 0xb41d8581f84121fau,
        0xbcb1036841f34676u, 0xedd85af1d181410eu, 0xeec98797f5c53106u, 0xffe2fc581603eb98u,
        0x2ca2889559a4c2e3u, 0x24c39ad86df8fffbu, 0xfde4f925ba9bb742u
    };
    CHECK(law_count == (int)(sizeof known / sizeof *known));
    for (int l = 0; l < law_count; l++) {
        const shoal_rng_opts *o = &laws[l].opts;
        const int64_t count = 3000 / each_of(o) + 1;
        const size_t bytes = (size_t)(count * each_of(o)) * size_of(o);
        unsigned char *x = fill_on(targets[0].ctx, o, 5, count, 0);
        uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
        for (size_t i = 0; i < bytes; i++) hash = (hash ^ x[i]) * 0x100000001b3u;
        CHECK_MSG(hash == known[l], "%s: 0x%016llx", laws[l].name, (unsigned long long)hash);
        free(x);
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
    RUN(numbers_stay_what_they_are);
    RUN(poisson_accepts_by_its_density);
    RUN(poisson_inverts_its_distribution);
    RUN(gamma_accepts_by_its_density);
    close_targets();
    return TEST_END();
}
