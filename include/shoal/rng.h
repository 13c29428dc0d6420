/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h - random numbers by address: number i of a stream depends on the seed, the stream and i,
 * and on nothing else.
 *
 *     shoal_rng *plan;
 *     shoal_rng_opts opts = { .method = "normal", .seed = 42 };
 *     shoal_rng_create(ctx, &opts, &plan);
 *     shoal_rng_fill(plan, 0, 1000000, z);            // numbers 0 .. 999999: never allocates or waits
 *     shoal_rng_fill(plan, 1000000, 1000000, z);      // the next million; any order, any machine
 *     shoal_rng_free(plan);
 *
 * A stream is (seed, step, purpose, draw) and the method. Two methods never share their bits. Two
 * plans of one method on one stream do, and so do its variants and types: use a different purpose
 * for independent numbers. With SHOAL_EXACT the numbers are bit-identical on every CPU and GPU,
 * for any number of threads and any division into fills.
 *
 * The generator is Philox4x32-10. "words" are those of Random123, and of cuRAND's curand() after
 * curand_init(seed, subsequence, i, &state) with subsequence = step + 2^32 (purpose 2^24 + draw 2^12).
 */
#ifndef SHOAL_RNG_H
#define SHOAL_RNG_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_rng shoal_rng; /* a plan; contents private */

#define SHOAL_RNG_PURPOSES   128        /* purpose is less than this; the library uses the rest */
#define SHOAL_RNG_DRAWS      256        /* draw is less than this                               */
#define SHOAL_RNG_DIMENSIONS 1111       /* Sobol points: maximum number of coordinates          */
#define SHOAL_RNG_MAX_MEAN   1e9        /* of a Poisson distribution                            */
#define SHOAL_RNG_NONE       UINT32_MAX /* the count for a mean that is not allowed             */

/* Methods and what they need (docs/rng.md):
 *
 *     words                       32 random bits
 *     uniform                     open interval (0, 1), all values equally spaced
 *     normal       boxmuller icdf mean 0, variance 1
 *     gamma        value log      1e-36 <= alpha <= 1e36; scale 1. log: its logarithm
 *     poisson                     0 <= lambda <= 1e9
 *     ncchisq      poisson normal df > 0 (variant normal: df > 1) to 2e36, 0 <= lambda <= 2e9
 *     sobol        scramble shift plain     points of the unit cube, `dimensions` numbers each
 *     sobolnormal  scramble shift plain     their normal images, by the inverse cdf
 */
typedef struct shoal_rng_opts {
    const char *method;  /* shoal_methods("rng", i): required                                */
    const char *variant; /* shoal_variants("rng", method, i)                     [the first] */
    shoal_type type;     /* SHOAL_F64 or SHOAL_F32; words and poisson have none  [SHOAL_F64] */
    shoal_math math;     /* SHOAL_EXACT or SHOAL_FAST                          [SHOAL_EXACT] */
    uint64_t seed;
    uint32_t step, purpose, draw; /* which stream of the seed; sobol: must be 0              */
    double alpha;                 /* of gamma                                                */
    double lambda;                /* of poisson; non-centrality of ncchisq                   */
    double df;                    /* degrees of freedom of ncchisq                           */
    int64_t dimensions;           /* of sobol and sobolnormal                                */
    shoal_layout layout;          /* their points: (count, dimensions), or, interleaved,
                                     (dimensions, count)             [SHOAL_SYSTEM_MAJOR]    */
} shoal_rng_opts;

typedef struct shoal_rng_info { /* what the last fill did                                  */
    const char *method;
    const char *variant; /* "" if it has none                                              */
    int64_t failed;      /* numbers without a value: their parameter is not allowed        */
    size_t bytes;        /* memory held by the plan                                        */
} shoal_rng_info;

/* SHOAL_E_ARG: a parameter is negative, NaN, infinite or too large. SHOAL_E_METHOD: a method or
 * variant does not exist. On error *plan is NULL, and shoal_message(ctx) names the parameter or
 * word. */
SHOAL_API shoal_status shoal_rng_create(shoal_context *ctx, const shoal_rng_opts *opts,
                                        shoal_rng **plan);
SHOAL_API void shoal_rng_free(shoal_rng *plan);

/* Writes numbers first .. first + count - 1 of the stream (sobol: points of `dimensions` numbers)
 * to an array in the context's memory. `fill` is for double, `fillf` for float, `fillu` for words
 * and poisson. SHOAL_E_ARG if the stream ends before first + count: at 2^64 - 1 numbers, 2^32
 * points. Asynchronous on CUDA, and can be captured in a graph, which then repeats the same
 * numbers. Fastest if the array starts at a multiple of 16 bytes and `first` is a multiple of 4
 * (CUDA) or 1024 (CPU, which makes at least 256 numbers at a time). One plan serves one stream at a
 * time. */
SHOAL_API shoal_status shoal_rng_fill(shoal_rng *plan, uint64_t first, int64_t count, double *out);
SHOAL_API shoal_status shoal_rng_fillf(shoal_rng *plan, uint64_t first, int64_t count, float *out);
SHOAL_API shoal_status shoal_rng_fillu(shoal_rng *plan, uint64_t first, int64_t count,
                                       uint32_t *out);

/* One parameter per number: in later fills number first + i has alpha (gamma) or lambda (poisson,
 * ncchisq) values[i]. The array is in the context's memory, as long as the longest fill, and must
 * live until the work is done. NULL: back to the plan's own parameter. A value that is not allowed
 * makes a NaN, or SHOAL_RNG_NONE. */
SHOAL_API shoal_status shoal_rng_parameters(shoal_rng *plan, const double *values);

/* Waits for the stream of the last fill and sums it up. */
SHOAL_API shoal_status shoal_rng_last(shoal_rng *plan, shoal_rng_info *info);

#ifdef __cplusplus
}
#endif
#endif
