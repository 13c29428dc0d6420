/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.h - training data for networks: call prices for many combinations of parameters of the exponential
 * Ornstein-Uhlenbeck model (pricing.h), thousands of rows per launch.
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
 * S0 = 1, no rate. Row i has the same parameters and paths in every run with the same options. It is
 * bit-identical for any number of threads, in any parts, and on CPU and GPU.
 */
#ifndef SHOAL_DATASET_H
#define SHOAL_DATASET_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHOAL_DATASET_COLUMNS = 7, SHOAL_DATASET_VALUES = 3 };
#define SHOAL_DATASET_MOST  (1LL << 32) /* maximum rows per plan      */
#define SHOAL_DATASET_PATHS (1LL << 25) /* maximum paths per row      */

typedef struct shoal_range {
    double low, high;
    int log; /* 1: uniform in the logarithm */
} shoal_range;

typedef struct shoal_dataset_opts {
    const char *design; /* "sobol", scrambled, or "latin", a Latin hypercube            [sobol] */
    int64_t samples;    /* rows; points of a Latin hypercube depend on it, Sobol points do not  */
    uint64_t seed;      /* of design and paths; use others for validation and test sets         */
    int nu2;            /* 1: the third column is the stationary variance of Y, and
                           beta = sqrt(2 alpha nu2); 2: beta is that times 1 - e^m, as printed in
                           the project sheet, and m is at most 0                                */
    shoal_range range[SHOAL_DATASET_COLUMNS]; /* alpha, m, beta or nu2, y0, rho, maturity, strike */
    double target;      /* add paths to a row until its standard error is below this    [5e-5] */
    int64_t most_paths; /* maximum paths per row                                        [2^21] */
    int refine;         /* factor on the number of steps, 1 to 4                           [1] */
} shoal_dataset_opts;

typedef struct shoal_dataset shoal_dataset; /* a plan; contents private */

/* Options with all defaults set, and the ranges of shoal_dataset_ranges(). */
SHOAL_API shoal_dataset_opts shoal_dataset_defaults(void);
/* Sets the default ranges (docs/surrogate.md); the third is for beta, or if opts->nu2 is not 0 for nu2. */
SHOAL_API void shoal_dataset_ranges(shoal_dataset_opts *opts);
/* The name of column i; NULL past the end. */
SHOAL_API const char *shoal_dataset_column(int nu2, int i);

/* The widest range that column i may have. */
SHOAL_API shoal_range shoal_dataset_bounds(int nu2, int i);

/* The message of SHOAL_E_ARG names the invalid range. rho must be -1 to 0 (above 0 S is no martingale), alpha,
 * beta, nu2 and strike at least 0, maturity above 0, m and y0 -50 to 5. A path may have up to 2048 steps. On
 * error *plan is NULL. */
SHOAL_API shoal_status shoal_dataset_create(shoal_context *ctx, const shoal_dataset_opts *opts,
                                            shoal_dataset **plan);
SHOAL_API void shoal_dataset_free(shoal_dataset *plan);

/* Rows first .. first + count - 1 of the design: [count][7], on the host. */
SHOAL_API shoal_status shoal_dataset_design(const shoal_dataset *plan, int64_t first, int64_t count,
                                            double *rows);

/* The prices of `count` rows of parameters, from the design or the caller, with the paths of rows first ..
 * first + count - 1. values[count][3] are price, standard error and number of paths. They are NaN if a row is
 * out of bounds, needs more steps than any row of the ranges, or overflows. Both arrays are in the context's
 * memory. Neither allocates nor waits. */
SHOAL_API shoal_status shoal_dataset_run(shoal_dataset *plan, int64_t first, int64_t count,
                                         const double *parameters, double *values);

#ifdef __cplusplus
}
#endif
#endif
