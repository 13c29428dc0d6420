/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_gram.c - the public functions of smallsym.h that form the systems of a regression out of
 * samples, equation (3) of L. A. Abbas-Turki and S. Graillat (2017), and their argument checks.
 */
#include "smallsym/plan.h"

SHOAL_DECLARE_CPU(smallsym_gram_driver, smallsym_gram)
SHOAL_DECLARE_CUDA(smallsym_gram_driver, smallsym_gram)

static const shoal_method drivers = { .name = "gram",
                                      .cpu = SHOAL_CPU_CELLS(smallsym_gram),
                                      .cuda = SHOAL_CUDA_CELLS(smallsym_gram) };

enum { ALIGNMENT = 256 };

void shoal_smallsym_reserve_gram(shoal_smallsym *plan) {
    const shoal_context *ctx = plan->ctx;
    plan->gram = ctx->ops ? drivers.cuda[plan->type] : drivers.cpu[plan->type][ctx->level];
    plan->gram_at = (plan->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    plan->bytes = plan->gram_at + plan->gram->bytes(plan);
}

typedef struct call {
    shoal_type type;
    int64_t samples;
    const void *psi, *y;
    void *x;
} call;

/* The numbers of psi, and with them those of y, can be counted. */
static shoal_status check_samples(const shoal_smallsym *plan, int64_t samples) {
    const int64_t most = (int64_t)(PTRDIFF_MAX >> 13) / (int64_t)sizeof(double);
    if (samples < 1)
        return shoal_fail(plan->ctx, SHOAL_E_ARG, "M is %lld; there must be a sample",
                          (long long)samples);
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const int64_t count = job->count ? job->count : 1, n = job->n ? job->n : 1;
        if (samples > most / count / n / job->nrhs)
            return shoal_fail(plan->ctx, SHOAL_E_ARG, "M is %lld; that is too large",
                              (long long)samples);
    }
    return SHOAL_OK;
}

static shoal_status check_call(const shoal_smallsym *plan, const call *c) {
    shoal_context *ctx = plan->ctx;
    const int single = plan->type == SHOAL_F32;
    if (c->type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call shoal_smallsym_gram%s",
                          single ? "float" : "double", single ? "f" : "");
    shoal_status status = check_samples(plan, c->samples);
    if (status != SHOAL_OK || !plan->systems) return status;
    if (!plan->gram)
        return shoal_fail(ctx, SHOAL_E_ARG, "gram is 0 in the opts of the plan; it must be 1");
    status = shoal_ready(ctx);
    int64_t numbers = 0;
    for (int64_t g = 0; g < plan->job_count; g++) numbers += plan->jobs[g].n * plan->jobs[g].count;
    const struct {
        const char *name;
        const void *array;
    } arrays[] = { { "psi", c->psi }, { "y", c->y }, { "x", c->x } };
    for (int i = 0; i < 3 && status == SHOAL_OK && numbers > 0; i++)
        status = shoal_check_array(ctx, arrays[i].array, arrays[i].name);
    return status;
}

/* `numbers` of an array of the plan's type further on. */
static void *further(const shoal_smallsym *plan, const void *array, int64_t numbers) {
    const size_t size = plan->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    return (char *)array + (size_t)numbers * size;
}

static shoal_status form_and_solve(shoal_smallsym *plan, const call *c) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = check_call(plan, c);
    if (status != SHOAL_OK || !plan->systems) return status;
    plan->stream = plan->ctx->stream;
    plan->called = 0, plan->solved = 1;
    status = plan->driver->begin(plan);
    int64_t psi = 0, y = 0; /* where the group begins */
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        smallsym_job job = plan->jobs[g];
        if (job.count == 0) continue;
        const int one = job.b_row == 1 && job.b_system == job.n; /* system-major */
        smallsym_gram gram = { .samples = c->samples,
                               .psi_system = one ? c->samples * job.n : 1,
                               .psi_step = one ? 1 : job.count,
                               .y_system = one ? c->samples : 1,
                               .y_step = one ? 1 : job.count,
                               .work = (char *)plan->work + plan->gram_at };
        if (job.n > 0) {
            gram.psi = further(plan, c->psi, psi);
            gram.y = further(plan, c->y, y);
            job.x = further(plan, c->x, job.b_offset);
        }
        job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
        job.work = plan->work;
        plan->judged = smallsym_judged(&job);
        status = job.n > 0 ? plan->gram->run(plan, &job, &gram) : plan->driver->run(plan, &job);
        psi += c->samples * job.n * job.count;
        y += c->samples * job.count * job.nrhs;
    }
    plan->called = status == SHOAL_OK;
    return status;
}

shoal_status shoal_smallsym_gram(shoal_smallsym *plan, int64_t M, const double *psi,
                                 const double *y, double *x) {
    const call c = { SHOAL_F64, M, psi, y, x };
    return form_and_solve(plan, &c);
}

shoal_status shoal_smallsym_gramf(shoal_smallsym *plan, int64_t M, const float *psi, const float *y,
                                  float *x) {
    const call c = { SHOAL_F32, M, psi, y, x };
    return form_and_solve(plan, &c);
}
