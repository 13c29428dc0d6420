/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_stages.c - the public functions of smallsym.h for the stages of hhpcr, A = Q U Qt and
 * x = Q U^-1 Qt b, and their argument checks.
 */
#include "smallsym/plan.h"
#include <string.h>

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

static shoal_status check_plan(const shoal_smallsym *plan, const call *c) {
    shoal_context *ctx = plan->ctx;
    const int single = plan->type == SHOAL_F32;
    if (c->type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s%s",
                          single ? "float" : "double", c->name, single ? "f" : "");
    if (strcmp(plan->method_name, "hhpcr") != 0)
        return shoal_fail(ctx, SHOAL_E_METHOD,
                          "method: the plan is for '%s'; the stages are those of 'hhpcr'",
                          plan->method_name);
    return SHOAL_OK;
}

static shoal_status check_arrays(const shoal_smallsym *plan, const call *c) {
    int64_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++)
        if (plan->jobs[g].count > 0 && plan->jobs[g].n > most) most = plan->jobs[g].n;
    const struct {
        const char *name;
        const void *array;
        int used;
    } arrays[] = { { "A", c->A, c->reduces && most > 0 },
                   { "d", c->d, most > 0 },
                   { "e", c->e, most > 1 },
                   { "Q", c->q, most > 0 && c->q },
                   { "b", c->b, !c->reduces && most > 0 },
                   { "x", c->x, !c->reduces && most > 0 } };
    shoal_status status = SHOAL_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == SHOAL_OK; i++)
        if (arrays[i].used) status = shoal_check_array(plan->ctx, arrays[i].array, arrays[i].name);
    return status;
}

/* `numbers` of an array of the plan's type further on; NULL stays. */
static void *further(const shoal_smallsym *plan, const void *array, int64_t numbers) {
    const size_t size = plan->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    return array ? (char *)array + (size_t)numbers * size : NULL;
}

static const smallsym_stages *stages_of(const shoal_smallsym *plan) {
    const shoal_context *ctx = plan->ctx;
    return ctx->ops ? stages.cuda[plan->type] : stages.cpu[plan->type][ctx->level];
}

static shoal_status run_stage(shoal_smallsym *plan, const call *c) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = check_plan(plan, c);
    if (status != SHOAL_OK || !plan->systems) return status;
    status = shoal_ready(plan->ctx);
    if (status == SHOAL_OK) status = check_arrays(plan, c);
    if (status != SHOAL_OK) return status;
    const smallsym_stages *stage = stages_of(plan);
    if (!stage)
        return shoal_fail(plan->ctx, SHOAL_E_METHOD,
                          "this build has no stages of hhpcr on the cuda backend; one with "
                          "-DSHOAL_PAPER_KERNELS=ON has them");
    plan->stream = plan->ctx->stream;
    plan->called = 0;
    plan->judged = !c->reduces && plan->where.residual;
    status = plan->driver->begin(plan);
    int64_t d = 0, e = 0, q = 0; /* where the group begins */
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        smallsym_job job = plan->jobs[g];
        if (job.count == 0) continue;
        const int one = job.b_row == 1 && job.b_system == job.n; /* system-major */
        const int64_t n = job.n, below = n > 0 ? n - 1 : 0;
        const smallsym_parts parts = { .d = further(plan, c->d, d),
                                       .e = further(plan, c->e, e),
                                       .q = further(plan, c->q, q),
                                       .e_system = one ? below : 1,
                                       .q_system = one ? n * n : 1 };
        job.A = further(plan, c->A, job.a_offset);
        job.b = further(plan, c->b, job.b_offset);
        job.x = further(plan, c->x, job.b_offset);
        job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
        job.work = plan->work;
        job.refine = 0;
        status = n == 0       ? plan->driver->run(plan, &job) /* the outcome alone */
                 : c->reduces ? stage->reduce(plan, &job, &parts)
                              : stage->pcr(plan, &job, &parts);
        d += n * job.count, e += below * job.count, q += n * n * job.count;
    }
    plan->called = status == SHOAL_OK;
    return status;
}

shoal_status shoal_smallsym_reduce(shoal_smallsym *plan, const double *A, double *d, double *e,
                                   double *Q) {
    const call c = { .name = "shoal_smallsym_reduce",
                     .type = SHOAL_F64,
                     .reduces = 1,
                     .A = A,
                     .d = d,
                     .e = e,
                     .q = Q };
    return run_stage(plan, &c);
}

shoal_status shoal_smallsym_reducef(shoal_smallsym *plan, const float *A, float *d, float *e,
                                    float *Q) {
    const call c = { .name = "shoal_smallsym_reduce",
                     .type = SHOAL_F32,
                     .reduces = 1,
                     .A = A,
                     .d = d,
                     .e = e,
                     .q = Q };
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
