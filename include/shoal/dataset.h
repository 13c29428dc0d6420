/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.h - call prices for very many combinations of parameters of the exponential Ornstein-Uhlenbeck
 * model (pricing.h), to train networks with: designs of parameters, and their prices, thousands of rows per
 * launch.
 *
 *     shoal_dataset_opts opts = { .samples = 20000, .seed = 1 };
 *     shoal_dataset_ranges(&opts);                           // or ranges of your own
 *     shoal_dataset *plan;
 *     shoal_dataset_create(ctx, &opts, &plan);
 *     shoal_dataset_design(plan, 0, 1000, rows);             // on the host: 7 numbers per row
 *     shoal_copy(ctx, parameters, rows, bytes);
 *     shoal_dataset_run(plan, 0, 1000, parameters, values);  // price, standard error, paths of each
 *     shoal_dataset_free(plan);
 *
 * S0 = 1, no rate. Row i has the same parameters and the same paths in every run of the same options, in any
 * pieces: the same bits for any number of threads, for parts, and on CPU and GPU.
 */
#ifndef SHOAL_DATASET_H
#define SHOAL_DATASET_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHOAL_DATASET_COLUMNS = 7, SHOAL_DATASET_VALUES = 3 };
#define SHOAL_DATASET_MOST  (1LL << 32) /* rows of a plan             */
#define SHOAL_DATASET_PATHS (1LL << 25) /* paths of a row, at most    */

typedef struct shoal_range {
    double low, high;
    int log; /* 1: the logarithm is uniform, not the number */
} shoal_range;

typedef struct shoal_dataset_opts {
    const char *design; /* "sobol", scrambled, or "latin", a Latin hypercube            [sobol] */
    int64_t samples;    /* rows; a Latin hypercube depends on it, Sobol's points do not         */
    uint64_t seed;      /* of the design and of the paths: another for validation, for test     */
    int nu2;            /* 1: the third column is the stationary variance of Y, and
                           beta = sqrt(2 alpha nu2)                                             */
    shoal_range range[SHOAL_DATASET_COLUMNS]; /* alpha, m, beta or nu2, y0, rho, maturity, strike */
    double target;      /* paths are added to a row until its standard error is below   [5e-5] */
    int64_t most_paths; /* or there are so many of them                                 [2^21] */
    int refine;         /* 1 to 4: that many times the steps a row would get               [1] */
} shoal_dataset_opts;

typedef struct shoal_dataset shoal_dataset; /* a plan; contents private */

/* Options in which every default is set, and the ranges are those of shoal_dataset_ranges(). */
SHOAL_API shoal_dataset_opts shoal_dataset_defaults(void);
/* Sets the default ranges (docs/surrogate.md); the third is that of beta or of nu2, by opts->nu2. */
SHOAL_API void shoal_dataset_ranges(shoal_dataset_opts *opts);
/* Names of the columns, in their order; NULL past the end. */
SHOAL_API const char *shoal_dataset_column(int nu2, int i);

/* The bounds of a column's range. */
SHOAL_API shoal_range shoal_dataset_bounds(int nu2, int i);

/* SHOAL_E_ARG names the range that is not allowed: rho must be -1 to 0 (above 0 S is no martingale), alpha,
 * beta, nu2 and strike at least 0, maturity above 0, m and y0 -50 to 5, and no path may need more than 2048
 * steps. On error *plan is NULL. */
SHOAL_API shoal_status shoal_dataset_create(shoal_context *ctx, const shoal_dataset_opts *opts,
                                            shoal_dataset **plan);
SHOAL_API void shoal_dataset_free(shoal_dataset *plan);

/* Rows first .. first + count - 1 of the design: [count][7], on the host. */
SHOAL_API shoal_status shoal_dataset_design(const shoal_dataset *plan, int64_t first, int64_t count,
                                            double *rows);

/* The prices of `count` rows of parameters, the design's or the caller's own, with the paths of rows first ..
 * first + count - 1: values[count][3] are price, standard error and paths; NaN if a row is out of bounds, needs
 * more steps than any row of the ranges, or overflows. Both arrays lie in the context's memory. Neither
 * allocates nor waits. */
SHOAL_API shoal_status shoal_dataset_run(shoal_dataset *plan, int64_t first, int64_t count,
                                         const double *parameters, double *values);

#ifdef __cplusplus
}
#endif
#endif
