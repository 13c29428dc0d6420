/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for random numbers holds, and what the fill of a backend gets to see.
 */
#ifndef SHOAL_RNG_PLAN_H
#define SHOAL_RNG_PLAN_H

#include "core/plan.h"
#include "rng/poisson.h"
#include "rng/sobol.h"
#include <shoal/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of the method table, and their variants. */
enum {
    RNG_WORDS,
    RNG_UNIFORM,
    RNG_NORMAL,
    RNG_GAMMA,
    RNG_POISSON,
    RNG_NCCHISQ,
    RNG_SOBOL,
    RNG_SOBOLNORMAL
};
enum { NORMAL_BOXMULLER, NORMAL_ICDF };
enum { GAMMA_VALUE, GAMMA_LOG };
enum { NCCHISQ_POISSON, NCCHISQ_NORMAL };

typedef struct rng_job { /* one fill */
    int row, variant;
    int fast_math; /* SHOAL_FAST                                      */
    shoal_stream stream;
    uint64_t first;
    int64_t count;
    double df, lambda;     /* of ncchisq                              */
    shoal_gamma_law gamma; /* of the plan's own parameter             */
    shoal_poisson_law poisson;
    const double *parameters;   /* one for each number, or NULL            */
    const uint32_t *directions; /* Sobol: 32 per dimension ...             */
    const uint64_t *shift;      /* ... and one                             */
    int64_t dimensions, point_stride, dimension_stride;
    unsigned long long *failed; /* numbers without a value are added here  */
    void *out;
} rng_job;

/* A number with a parameter of its own, or of two draws; NaN if the parameter is not allowed. */
SHOAL_HD static inline double rng_draw(const rng_job *job, double parameter, uint64_t path) {
    if (job->row == RNG_GAMMA)
        return job->variant == GAMMA_LOG ? shoal_gamma_log(parameter, &job->stream, path)
                                         : shoal_gamma(parameter, &job->stream, path);
    return job->variant == NCCHISQ_NORMAL
               ? shoal_ncchisq_normal(job->df, parameter, &job->stream, path)
               : shoal_ncchisq_poisson(job->df, parameter, &job->stream, path);
}

struct shoal_rng {
    shoal_plan head;
    shoal_choice choice;
    rng_job job;     /* all but first, count, strides and out */
    int interleaved; /* Sobol: the points' layout             */
    int counted;     /* the last fill counted its failures    */
};

/* The cell of every method; job.row selects the law. */
typedef struct rng_filler {
    shoal_status (*fill)(shoal_context *ctx, const rng_job *job);
} rng_filler;

#ifdef __cplusplus
}
#endif
#endif
