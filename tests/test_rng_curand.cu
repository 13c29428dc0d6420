/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng_curand.cu - our words are those of cuRAND's Philox, at any seed, stream and position: who
 * moves from curand_init(seed, subsequence, offset) keeps his numbers. Our Poisson law is not
 * cuRAND's: that one is wrong.
 */
#include <shoal/shoal.h>
#include <cmath>
#include <vector>
extern "C" {
#include "test.h"
}

#if __has_include(<curand_kernel.h>)
#include <curand_kernel.h>

enum { WORDS = 4096 };

__global__ void curand_words(unsigned long long seed, unsigned long long subsequence,
                             unsigned long long offset, unsigned *out) {
    const int id = threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, subsequence, offset + id * (WORDS / 256), &state);
    for (int i = 0; i < WORDS / 256; i++) out[id * (WORDS / 256) + i] = curand(&state);
}

__global__ void curand_counts(double lambda, unsigned count, uint4 *out) {
    const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(1, id, 0, &state);
    for (unsigned i = id; i < count / 4; i += gridDim.x * blockDim.x)
        out[i] = curand_poisson4(&state, lambda);
}

static shoal_context *ctx;

static void compare(uint64_t seed, uint32_t step, uint32_t purpose, uint32_t draw, uint64_t first) {
    shoal_rng_opts o = {};
    o.method = "words";
    o.seed = seed, o.step = step, o.purpose = purpose, o.draw = draw;
    shoal_rng *plan = NULL;
    uint32_t *there = NULL;
    std::vector<uint32_t> ours(WORDS), theirs(WORDS);
    const size_t bytes = WORDS * sizeof(uint32_t);
    CHECK(shoal_rng_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, bytes, (void **)&there) == SHOAL_OK);
    CHECK(shoal_rng_fillu(plan, first, WORDS, there) == SHOAL_OK);
    CHECK(shoal_copy(ctx, ours.data(), there, bytes) == SHOAL_OK);
    const uint64_t tag = (uint64_t)purpose << 24 | (uint64_t)draw << 12;
    curand_words<<<1, 256>>>(seed, step | tag << 32, first, there);
    CHECK(shoal_copy(ctx, theirs.data(), there, bytes) == SHOAL_OK);
    CHECK_MSG(ours == theirs, "seed %llx step %x purpose %u draw %u first %llx",
              (unsigned long long)seed, step, purpose, draw, (unsigned long long)first);
    shoal_rng_free(plan);
    shoal_free(ctx, there);
}

TEST(words_are_those_of_curand) {
    shoal_options options = {};
    options.backend = "cuda";
    if (shoal_open(&options, &ctx) != SHOAL_OK) SKIP("%s", shoal_message(ctx));
    compare(0, 0, 0, 0, 0);
    compare(42, 7, 0, 0, 3);
    compare(0xfedcba9876543210u, 0xffffffffu, 127, 255, 0x123456789abcu);
    compare(1, 0, 1, 1, 0x3fffffff1u);
    shoal_close(ctx);
}

/* Standard errors by which mean and variance of counts are off, whichever is more. */
static double off(const std::vector<uint32_t> &counts, double lambda) {
    double sum = 0, squares = 0;
    for (uint32_t k : counts) sum += k - lambda, squares += (k - lambda) * (k - lambda);
    const double n = (double)counts.size(), mean = sum / sqrt(lambda * n);
    const double variance = (squares / n / lambda - 1) / sqrt((2 + 1 / lambda) / n);
    return fabs(mean) > fabs(variance) ? fabs(mean) : fabs(variance);
}

/* Why there is a Poisson law of our own. */
TEST(curand_poisson_is_biased_and_ours_is_not) {
    enum { COUNT = 10000000 };
    shoal_options options = {};
    options.backend = "cuda";
    if (shoal_open(&options, &ctx) != SHOAL_OK) SKIP("%s", shoal_message(ctx));
    uint32_t *there = NULL;
    std::vector<uint32_t> counts(COUNT);
    CHECK(shoal_alloc(ctx, COUNT * sizeof(uint32_t), (void **)&there) == SHOAL_OK);
    for (double lambda : { 64., 501., 2222., 3999. }) {
        shoal_rng_opts o = {};
        o.method = "poisson", o.seed = 1, o.lambda = lambda;
        shoal_rng *plan = NULL;
        CHECK(shoal_rng_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_rng_fillu(plan, 0, COUNT, there) == SHOAL_OK);
        CHECK(shoal_copy(ctx, counts.data(), there, COUNT * sizeof(uint32_t)) == SHOAL_OK);
        const double ours = off(counts, lambda);
        curand_counts<<<1024, 256>>>(lambda, COUNT, (uint4 *)there);
        CHECK(shoal_copy(ctx, counts.data(), there, COUNT * sizeof(uint32_t)) == SHOAL_OK);
        const double theirs = off(counts, lambda);
        printf("      lambda %g: ours off by %.1f, cuRAND's by %.1f standard errors\n", lambda,
               ours, theirs);
        CHECK_MSG(ours < 4, "lambda %g: %g", lambda, ours);
        if (lambda > 2000) CHECK_MSG(theirs > 8, "lambda %g: %g", lambda, theirs);
        shoal_rng_free(plan);
    }
    shoal_free(ctx, there);
    shoal_close(ctx);
}

#else

TEST(words_are_those_of_curand) { SKIP("this CUDA toolkit has no cuRAND"); }
TEST(curand_poisson_is_biased_and_ours_is_not) { SKIP("this CUDA toolkit has no cuRAND"); }

#endif

int main(int argc, char **argv) {
    test_take_backend(&argc, argv, "cuda");
    TEST_BEGIN(argc, argv);
    RUN(words_are_those_of_curand);
    RUN(curand_poisson_is_biased_and_ours_is_not);
    return TEST_END();
}
