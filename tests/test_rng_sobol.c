/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng_sobol.c - Sobol's points: the table, known answers, where points of all 1111 dimensions
 * lie, and integrals by randomised points.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rng/philox.h"
#include "rng/sobol.h"
#include "rng/sobol_table.h"
#include "test.h"

enum { DIMS = SHOAL_RNG_DIMENSIONS, BITS = SHOAL_SOBOL_BITS, VARIANTS = SOBOL_PLAIN + 1 };

static const char *const variant_names[VARIANTS] = { "scramble", "shift", "plain" };

static uint32_t directions[DIMS * BITS];
static uint64_t shift[DIMS];

static int degree_of(uint32_t polynomial) {
    int degree = 0;
    while (polynomial >> (degree + 1)) degree++;
    return degree;
}

/* ---- the table ---- */

/* x has order 2^s - 1 modulo p where the powers of x are all nonzero residues: then they are a field
 * and p is primitive. There are 1110 such p up to degree 13; here are as many, all different. */
TEST(polynomials_are_primitive) {
    uint32_t p = 1;
    for (int d = 0; d < DIMS - 1; d++) {
        uint32_t power = 1;
        p += 2u * sobol_gap[d];
        int degree = degree_of(p), order = 0;
        do {
            power <<= 1;
            if (power >> degree & 1u) power ^= p;
            order++;
        } while (power > 1 && order < 1 << degree);
        CHECK_MSG(degree <= 13 && power == 1 && order == (1 << degree) - 1, "polynomial %u", p);
        CHECK_MSG(sobol_gap[d] > 0, "polynomial %u", p);
    }
}

TEST(initial_numbers_are_odd_and_small) {
    size_t next = 0, count = sizeof sobol_initial / sizeof *sobol_initial;
    uint32_t p = 1;
    for (int d = 0; d < DIMS - 1; d++) {
        p += 2u * sobol_gap[d];
        for (int i = 2; i <= degree_of(p) && next < count; i++, next++)
            CHECK_MSG(sobol_initial[next] % 2 == 1 && sobol_initial[next] >> i == 0,
                      "dimension %d, m_%d = %d", d + 1, i, sobol_initial[next]);
    }
    CHECK_MSG(next == count && count == 13223 - (DIMS - 1), "%zu of %zu numbers", next, count);
}

TEST(directions_are_triangular) {
    shoal_sobol_directions(DIMS, SOBOL_PLAIN, 7, directions, shift);
    for (int d = 0; d < DIMS; d++) {
        int wrong = shift[d] != 0x80000000u;
        for (int j = 0; j < BITS; j++) {
            uint32_t one = 0x80000000u >> j; /* the lowest place that may be taken, and is */
            wrong += (directions[d * BITS + j] & (2u * one - 1u)) != one;
        }
        CHECK_MSG(wrong == 0, "dimension %d", d);
    }
}

/* ---- known answers ---- */

/* FNV-1a, a word at a time, of the 1111 x 32 words of CURAND_DIRECTION_VECTORS_32_JOEKUO6. */
TEST(plain_directions_are_those_of_curand) {
    uint64_t hash = 0xcbf29ce484222325;
    shoal_sobol_directions(DIMS, SOBOL_PLAIN, 0, directions, shift);
    for (int i = 0; i < DIMS * BITS; i++) hash = (hash ^ directions[i]) * 0x100000001b3;
    CHECK_MSG(hash == 0xb184e053c3427c5a, "%016llx", (unsigned long long)hash);
}

/* scipy 1.17.1: qmc.Sobol(1111, scramble=False, bits=32) after fast_forward(index). */
TEST(plain_words_are_those_of_scipy) {
    enum { KNOWN_DIMS = 7, KNOWN = 8 };
    static const int dims[KNOWN_DIMS] = { 0, 1, 2, 9, 100, 1000, 1110 };
    static const struct {
        uint32_t index, word[KNOWN_DIMS];
    } known[KNOWN] = {
        { 0, { 0, 0, 0, 0, 0, 0, 0 } },
        { 1,
          { 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0x80000000 } },
        { 2,
          { 0xc0000000, 0x40000000, 0x40000000, 0xc0000000, 0x40000000, 0x40000000, 0xc0000000 } },
        { 3,
          { 0x40000000, 0xc0000000, 0xc0000000, 0x40000000, 0xc0000000, 0xc0000000, 0x40000000 } },
        { 1000,
          { 0x38400000, 0x18c00000, 0x84c00000, 0x11c00000, 0xc4c00000, 0x90c00000, 0x5ec00000 } },
        { 65535,
          { 0x00010000, 0xffff0000, 0x90550000, 0x29f50000, 0xa6eb0000, 0xbb7f0000, 0x10070000 } },
        { 0x80000005,
          { 0xe0000003, 0xb5555555, 0x6b00bbbb, 0x1b6d91d3, 0x7f00dc8d, 0x0096e245, 0x71000033 } },
        { 0xffffffff,
          { 0x00000001, 0xffffffff, 0xc5005555, 0x82ff78f1, 0x29427f87, 0x3ef3e5d7, 0x2700003d } },
    };
    shoal_sobol_directions(DIMS, SOBOL_PLAIN, 0, directions, shift);
    for (int k = 0; k < KNOWN; k++) {
        for (int i = 0; i < KNOWN_DIMS; i++) {
            uint32_t word = shoal_sobol_word(directions + dims[i] * BITS, known[k].index);
            CHECK_MSG(word == known[k].word[i], "point %u, dimension %d: %08x", known[k].index,
                      dims[i], word);
        }
    }
}

/* Point 1000 as x = L V g + r, with a dense L and another Philox, in Python. */
TEST(random_points_are_the_known_ones) {
    enum { KNOWN_DIMS = 3 };
    static const int dims[KNOWN_DIMS] = { 0, 1, 1110 };
    static const double known[SOBOL_PLAIN][KNOWN_DIMS] = {
        { 0x1.0bdecc4de2046p-2, 0x1.f4fdf4dd46ed8p-4, 0x1.b566c41369456p-2 }, /* scramble */
        { 0x1.68a00959e2046p-2, 0x1.1949b6ad46ed8p-4, 0x1.5981fedf69456p-2 }, /* shift    */
    };
    for (int variant = 0; variant < SOBOL_PLAIN; variant++) {
        shoal_sobol_directions(DIMS, variant, 0x123456789abcdef0, directions, shift);
        for (int i = 0; i < KNOWN_DIMS; i++) {
            uint32_t word = shoal_sobol_word(directions + dims[i] * BITS, 1000);
            double x = shoal_sobol_point(word, shift[dims[i]]);
            CHECK_MSG(x == known[variant][i], "%s, dimension %d: %a", variant_names[variant],
                      dims[i], x);
            CHECK(fabs(shoal_sobol_pointf(word, shift[dims[i]]) - x) <= 0x1p-24);
        }
    }
}

/* ---- single points ---- */

TEST(next_is_the_word_of_the_next_index) {
    for (int variant = 0; variant < VARIANTS; variant++) {
        shoal_sobol_directions(DIMS, variant, 3, directions, shift);
        int wrong = 0;
        for (uint32_t i = 0; i < 20000; i++) {
            shoal_words random = shoal_philox_at(1, i, 0, 0, 0, 0);
            /* any number of ones at the end, so that every direction has its turn */
            uint32_t index = random.word[0] | ((1u << random.word[1] % BITS) - 1u);
            const uint32_t *v = directions + random.word[2] % DIMS * BITS;
            uint32_t word = shoal_sobol_word(v, index);
            wrong += shoal_sobol_next(v, word, index) != shoal_sobol_word(v, index + 1u);
        }
        CHECK_MSG(wrong == 0, "%s: %d", variant_names[variant], wrong);
        for (int d = 0; d < DIMS; d++) { /* a walk, and the step from the last point to the first */
            const uint32_t *v = directions + d * BITS;
            uint32_t word = shoal_sobol_word(v, 0xfffffff0u);
            for (uint32_t i = 0xfffffff0u; i != 16; i++) word = shoal_sobol_next(v, word, i);
            CHECK(word == shoal_sobol_word(v, 16));
        }
    }
}

TEST(points_are_inside_the_interval) {
    static const uint32_t words[2] = { 0, UINT32_MAX };
    static const uint64_t shifts[2] = { 0, UINT64_MAX };
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            double x = shoal_sobol_point(words[i], shifts[j]);
            float xf = shoal_sobol_pointf(words[i], shifts[j]);
            CHECK_MSG(x > 0.0 && x < 1.0 && 1.0 - x > 0.0, "%a", x);
            CHECK_MSG(xf > 0.0f && xf < 1.0f && 1.0f - xf > 0.0f, "%a", (double)xf);
        }
    }
    CHECK(shoal_sobol_point(0, 0) == 0x1p-53);
    CHECK(shoal_sobol_point(UINT32_MAX, UINT32_MAX) == 1.0 - 0x1p-53);
    CHECK(shoal_sobol_point(UINT32_MAX, UINT64_MAX) == 0x1p-32 - 0x1p-53); /* ones below the word */
    CHECK(shoal_sobol_pointf(0, 0) == 0x1p-24f);
    CHECK(shoal_sobol_pointf(0, UINT64_MAX) == 1.0f - 0x1p-24f);
}

/* ---- sets of points ---- */

/* Each of the cells [i, i + 1) / 2^10 has one of 2^10 points, the first ones and any later block. */
TEST(every_dimension_fills_all_cells) {
    enum { CELLS = 1024 };
    for (int variant = 0; variant < VARIANTS; variant++) {
        shoal_sobol_directions(DIMS, variant, 11, directions, shift);
        for (int d = 0; d < DIMS; d++) {
            uint32_t first[2] = { 0, shoal_philox_at(2, (uint64_t)d, 0, 0, 0, 0).word[0] & ~1023u };
            for (int block = 0; block < 2; block++) {
                unsigned char hits[CELLS] = { 0 }, hitsf[CELLS] = { 0 };
                for (uint32_t i = 0; i < CELLS; i++) {
                    uint32_t word = shoal_sobol_word(directions + d * BITS, first[block] + i);
                    hits[(int)(shoal_sobol_point(word, shift[d]) * CELLS)]++;
                    hitsf[(int)(shoal_sobol_pointf(word, shift[d]) * (float)CELLS)]++;
                }
                int wrong = 0;
                for (int i = 0; i < CELLS; i++) wrong += hits[i] != 1 || hitsf[i] != 1;
                CHECK_MSG(wrong == 0, "%s, dimension %d, points from %u: %d cells",
                          variant_names[variant], d, first[block], wrong);
            }
        }
    }
}

/* Dimensions 0 and 1 are a (0, 2)-sequence (Sobol 1967): each box of 2^-a x 2^-(10-a) has one. */
TEST(first_two_dimensions_fill_all_boxes) {
    for (int variant = 0; variant < VARIANTS; variant++) {
        shoal_sobol_directions(2, variant, 13, directions, shift);
        for (int a = 0; a <= 10; a++) {
            int columns = 1 << a, rows = 1 << (10 - a), wrong = 0;
            unsigned char hits[1024] = { 0 };
            for (uint32_t i = 0; i < 1024; i++) {
                double x = shoal_sobol_point(shoal_sobol_word(directions, i), shift[0]);
                double y = shoal_sobol_point(shoal_sobol_word(directions + BITS, i), shift[1]);
                hits[(int)(x * columns) * rows + (int)(y * rows)]++;
            }
            for (int i = 0; i < 1024; i++) wrong += hits[i] != 1;
            CHECK_MSG(wrong == 0, "%s, %d x %d: %d boxes", variant_names[variant], columns, rows,
                      wrong);
        }
    }
}

/* ---- randomness ---- */

static int ones_in(uint64_t bits) {
    int ones = 0;
    for (; bits; bits &= bits - 1) ones++;
    return ones;
}

/* In dimension 0 V is 1, and its directions are the columns of L. */
TEST(scrambling_is_lower_triangular_and_half_full) {
    enum { SEEDS = 200, BELOW = BITS * (BITS - 1) / 2 };
    int ones = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        shoal_sobol_directions(1, SOBOL_SCRAMBLE, seed << 40, directions, shift);
        for (int j = 0; j < BITS; j++) {
            uint32_t one = 0x80000000u >> j;
            CHECK((directions[j] & ~(one - 1u)) == one);
            ones += ones_in(directions[j] & (one - 1u));
        }
    }
    double sigmas = (ones - 0.5 * SEEDS * BELOW) / sqrt(0.25 * SEEDS * BELOW);
    CHECK_MSG(fabs(sigmas) < 4.0, "%g sigma", sigmas);

    shoal_sobol_directions(DIMS, SOBOL_SHIFT, 17, directions, shift);
    ones = 0;
    for (int d = 0; d < DIMS; d++) ones += ones_in(shift[d]);
    sigmas = (ones - 0.5 * DIMS * 64) / sqrt(0.25 * DIMS * 64);
    CHECK_MSG(fabs(sigmas) < 4.0, "%g sigma", sigmas);
}

TEST(points_are_a_function_of_the_seed) {
    static uint32_t other[DIMS * BITS];
    static uint64_t other_shift[DIMS];
    for (int variant = 0; variant < VARIANTS; variant++) {
        shoal_sobol_directions(DIMS, variant, 5, directions, shift);
        /* fewer dimensions are the first of more */
        shoal_sobol_directions(DIMS - 100, variant, 5, other, other_shift);
        CHECK(memcmp(directions, other, (DIMS - 100) * BITS * sizeof *other) == 0);
        CHECK(memcmp(shift, other_shift, (DIMS - 100) * sizeof *other_shift) == 0);
        for (int half = 0; half < 2; half++) { /* of the seed */
            shoal_sobol_directions(DIMS, variant, half ? 5 | 1ull << 32 : 6, other, other_shift);
            int same = 0, same_shift = 0;
            for (int d = 0; d < DIMS; d++) {
                same += !memcmp(directions + d * BITS, other + d * BITS, BITS * sizeof *other);
                same_shift += shift[d] == other_shift[d];
            }
            CHECK(same == (variant == SOBOL_SCRAMBLE ? 0 : DIMS));
            CHECK(same_shift == (variant == SOBOL_PLAIN ? DIMS : 0));
        }
    }
}

/* ---- integrals ---- */

enum { FACTORS = 10, POINTS = 1 << 14, SEEDS = 16 };

/* The product of 1 + (e^x_j - (e - 1)) / (j + 1), whose integral is 1. */
static double mean_of_product(int variant, uint64_t seed) {
    const double e = exp(1.0);
    uint32_t word[FACTORS] = { 0 };
    double sum = 0.0;
    shoal_sobol_directions(FACTORS, variant, seed, directions, shift);
    for (uint32_t i = 0; i < POINTS; i++) {
        double product = 1.0;
        for (int j = 0; j < FACTORS; j++) {
            product *= 1.0 + (exp(shoal_sobol_point(word[j], shift[j])) - (e - 1.0)) / (j + 1);
            word[j] = shoal_sobol_next(directions + j * BITS, word[j], i);
        }
        sum += product;
    }
    return sum / POINTS;
}

/* Random points have the standard error sigma / sqrt(points), sigma^2 = prod(1 + var_j) - 1. For a
 * smooth integrand the error goes like 1 / points with a digital shift and like points^-1.5 with
 * scrambling (Owen 1997), up to logarithms: 128 times less, or more. A fiftieth is asked for. */
TEST(integral_of_a_product) {
    const double e = exp(1.0), var = (e * e - 1.0) / 2.0 - (e - 1.0) * (e - 1.0);
    double square = 1.0;
    for (int j = 1; j <= FACTORS; j++) square *= 1.0 + var / (j * j);
    double random_error = sqrt((square - 1.0) / POINTS);
    for (int variant = 0; variant < SOBOL_PLAIN; variant++) {
        double error = 0.0, squares = 0.0;
        for (int s = 0; s < SEEDS; s++) {
            double off = mean_of_product(variant, 100 + (uint64_t)s) - 1.0;
            error += off / SEEDS;
            squares += off * off;
        }
        double rms = sqrt(squares / SEEDS);
        double of_mean = sqrt((squares - SEEDS * error * error) / (SEEDS - 1) / SEEDS);
        printf("      %s: error %.2e, of random points %.2e\n", variant_names[variant], rms,
               random_error);
        CHECK_MSG(rms < random_error / 50.0, "%s: %g", variant_names[variant], rms);
        CHECK_MSG(fabs(error) < 4.0 * of_mean, "%s: bias %g, standard error %g",
                  variant_names[variant], error, of_mean);
    }
    double plain = fabs(mean_of_product(SOBOL_PLAIN, 0) - 1.0);
    CHECK_MSG(plain < random_error / 4.0, "plain: %g", plain);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    RUN(polynomials_are_primitive);
    RUN(initial_numbers_are_odd_and_small);
    RUN(directions_are_triangular);
    RUN(plain_directions_are_those_of_curand);
    RUN(plain_words_are_those_of_scipy);
    RUN(random_points_are_the_known_ones);
    RUN(next_is_the_word_of_the_next_index);
    RUN(points_are_inside_the_interval);
    RUN(every_dimension_fills_all_cells);
    RUN(first_two_dimensions_fill_all_boxes);
    RUN(scrambling_is_lower_triangular_and_half_full);
    RUN(points_are_a_function_of_the_seed);
    RUN(integral_of_a_product);
    return TEST_END();
}
