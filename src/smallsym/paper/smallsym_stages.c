/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_stages.c - the public functions of smallsym.h for the stages of hhpcr, A = Q U Qt and
 * x = Q U^-1 Qt b, and their argument checks.
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

typedef struct call {
    const char *name; /* of the function for double */
    shoal_type type;
    int reduces; /* A to d, e and Q; else those and b to x */
    const void *A, *d, *e, *q, *b, *x;
} call;

static shoal_status run_group(shoal_smallsym *plan, smallsym_job *job, const void *call_of) {
    const call *c = call_of;
    const smallsym_stages *stage = shoal_cell(plan->head.ctx, &stages, plan->head.type);
    const int64_t n = job->n, below = n > 0 ? n - 1 : 0, b = job->row_offset * job->nrhs;
    const int one = smallsym_system_major(job);
    const smallsym_parts parts = { .d = smallsym_from(plan, c->d, job->row_offset),
                                   .e = smallsym_from(plan, c->e, job->e_offset),
                                   .q = smallsym_from(plan, c->q, job->q_offset),
                                   .e_system = one ? below : 1,
                                   .q_system = one ? n * n : 1 };
    job->A = smallsym_from(plan, c->A, job->a_offset);
    job->b = smallsym_from(plan, c->b, b);
    job->x = smallsym_from(plan, c->x, b);
    job->refine = 0;
    plan->judged = !c->reduces && plan->where.residual;
    if (n == 0) return plan->driver->run(plan, job); /* the outcome alone */
    return c->reduces ? stage->reduce(plan, job, &parts) : stage->pcr(plan, job, &parts);
}

static shoal_status run_stage(shoal_smallsym *plan, const call *c) {
    const shoal_status status = shoal_plan_call(plan, c->type, c->name);
    if (status != SHOAL_OK) return status;
    if (plan->rescue.cell || !(plan->first.flags & SHOAL_CAN_STAGES))
        return shoal_cannot(plan->head.ctx, &shoal_smallsym_module, plan->method_name,
                            "have stages", SHOAL_CAN_STAGES);
    if (!plan->systems) return SHOAL_OK;
    if (!shoal_cell(plan->head.ctx, &stages, plan->head.type))
        return shoal_fail(plan->head.ctx, SHOAL_E_METHOD,
                          "this build has no stages of hhpcr on the cuda backend; one with "
                          "-DSHOAL_PAPER_KERNELS=ON has them");
    const shoal_array arrays[] = {
        { "A", c->A, !c->reduces },
        { "d", c->d, 0 },
        { "e", c->e, shoal_smallsym_largest(plan) < 2 },
        { "Q", c->q, !c->q },
        { "b", c->b, c->reduces },
        { "x", c->x, c->reduces },
    };
    return shoal_smallsym_each(plan, arrays, 6, run_group, c);
}

shoal_status shoal_smallsym_reduce(shoal_smallsym *plan, const double *A, double *d, double *e,
                                   double *Q) {
    const call c = { "shoal_smallsym_reduce", SHOAL_F64, 1, A, d, e, Q, NULL, NULL };
    return run_stage(plan, &c);
}

shoal_status shoal_smallsym_reducef(shoal_smallsym *plan, const float *A, float *d, float *e,
                                    float *Q) {
    const call c = { "shoal_smallsym_reduce", SHOAL_F32, 1, A, d, e, Q, NULL, NULL };
    return run_stage(plan, &c);
}

shoal_status shoal_smallsym_pcr(shoal_smallsym *plan, const double *d, const double *e,
                                const double *Q, const double *b, double *x) {
    const call c = { "shoal_smallsym_pcr", SHOAL_F64, 0, NULL, d, e, Q, b, x };
    return run_stage(plan, &c);
}

shoal_status shoal_smallsym_pcrf(shoal_smallsym *plan, const float *d, const float *e,
                                 const float *Q, const float *b, float *x) {
    const call c = { "shoal_smallsym_pcr", SHOAL_F32, 0, NULL, d, e, Q, b, x };
    return run_stage(plan, &c);
}
