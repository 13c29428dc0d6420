/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_stages.c - the public functions of smallsym.h for the stages of hhpcr, A = Q U Qt and
 * x = Q U^-1 Qt b.
 */
#include "smallsym/plan.h"

SHOAL_DECLARE_CPU(smallsym_stages, smallsym_stages)
#ifdef SHOAL_PAPER_KERNELS
SHOAL_DECLARE_CUDA(smallsym_stages, smallsym_stages)
#endif

static const shoal_method stages = { .name = "stages",
                                     .cpu = SHOAL_CPU_CELLS(smallsym_stages),
#ifdef SHOAL_PAPER_KERNELS
                                     .cuda = SHOAL_CUDA_CELLS(smallsym_stages)
#endif
};

static shoal_status run_stage(shoal_smallsym *plan, int what, const smallsym_job *job,
                              const smallsym_arrays *with) {
    const smallsym_stages *stage = shoal_cell(plan->head.ctx, &stages, plan->head.type);
    if (!stage)
        return shoal_fail(plan->head.ctx, SHOAL_E_METHOD,
                          "this build has no stages of hhpcr on the cuda backend; one with "
                          "-DSHOAL_PAPER_KERNELS=ON has them");
    if (job->n == 0) return plan->driver->run(plan, SMALLSYM_SOLVE, job, with); /* the outcome */
    return stage->run(plan, what, job, with);
}

/* clang-format off */
#define CAN_STAGES .run = run_stage, .can = SHOAL_CAN_STAGES, .does = "have stages"

static const smallsym_call
    reduce = { "shoal_smallsym_reduce", SMALLSYM_REDUCE, CAN_STAGES,
               .arrays = { { SMALLSYM_A, "A" }, { SMALLSYM_D, "d" }, { SMALLSYM_E, "e" },
                           { SMALLSYM_Q, "Q" } } },
    pcr = { "shoal_smallsym_pcr", SMALLSYM_PCR, CAN_STAGES, .residual = 1,
            .arrays = { { SMALLSYM_D, "d" }, { SMALLSYM_E, "e" }, { SMALLSYM_Q, "Q" },
                        { SMALLSYM_B, "b" }, { SMALLSYM_X, "x" } } };
/* clang-format on */

shoal_status shoal_smallsym_reduce(shoal_smallsym *plan, const double *A, double *d, double *e,
                                   double *Q) {
    return shoal_smallsym_call(plan, SHOAL_F64, &reduce, 0, SMALLSYM_ARRAYS(A, d, e, Q));
}

shoal_status shoal_smallsym_reducef(shoal_smallsym *plan, const float *A, float *d, float *e,
                                    float *Q) {
    return shoal_smallsym_call(plan, SHOAL_F32, &reduce, 0, SMALLSYM_ARRAYS(A, d, e, Q));
}

shoal_status shoal_smallsym_pcr(shoal_smallsym *plan, const double *d, const double *e,
                                const double *Q, const double *b, double *x) {
    return shoal_smallsym_call(plan, SHOAL_F64, &pcr, 0, SMALLSYM_ARRAYS(d, e, Q, b, x));
}

shoal_status shoal_smallsym_pcrf(shoal_smallsym *plan, const float *d, const float *e,
                                 const float *Q, const float *b, float *x) {
    return shoal_smallsym_call(plan, SHOAL_F32, &pcr, 0, SMALLSYM_ARRAYS(d, e, Q, b, x));
}
