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

shoal_status shoal_smallsym_reserve_gram(shoal_smallsym *plan) {
    plan->gram = shoal_cell(plan->head.ctx, &drivers, plan->head.type);
    return shoal_plan_alloc(&plan->head, plan->gram->bytes(plan), &plan->gram_work);
}

typedef struct call {
    int64_t samples;
    const void *psi, *y;
    void *x;
} call;

/* The numbers of psi, and with them those of y, can be counted. */
static shoal_status check_samples(const shoal_smallsym *plan, int64_t samples) {
    const int64_t most = (int64_t)(PTRDIFF_MAX >> 13) / (int64_t)sizeof(double);
    if (samples < 1)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "M is %lld; there must be a sample",
                          (long long)samples);
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const int64_t count = job->count ? job->count : 1, n = job->n ? job->n : 1;
        if (samples > most / count / n / job->nrhs)
            return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "M is %lld; that is too large",
                              (long long)samples);
    }
    return SHOAL_OK;
}

static shoal_status run_group(shoal_smallsym *plan, smallsym_job *job, const void *call_of) {
    const call *c = call_of;
    const int one = smallsym_system_major(job);
    const int64_t psi = c->samples * job->row_offset, y = c->samples * job->nrhs * job->first;
    const smallsym_gram gram = { .samples = c->samples,
                                 .psi = smallsym_from(plan, c->psi, psi),
                                 .y = smallsym_from(plan, c->y, y),
                                 .psi_system = one ? c->samples * job->n : 1,
                                 .psi_step = one ? 1 : job->count,
                                 .y_system = one ? c->samples : 1,
                                 .y_step = one ? 1 : job->count,
                                 .work = plan->gram_work };
    job->x = smallsym_from(plan, c->x, job->row_offset * job->nrhs);
    plan->solved = 1, plan->judged = smallsym_judged(job);
    return job->n > 0 ? plan->gram->run(plan, job, &gram) : plan->driver->run(plan, job);
}

static shoal_status form_and_solve(shoal_smallsym *plan, shoal_type type, const call *c) {
    shoal_status status = shoal_plan_call(plan, type, "shoal_smallsym_gram");
    if (status == SHOAL_OK) status = check_samples(plan, c->samples);
    if (status != SHOAL_OK || !plan->systems) return status;
    if (!plan->gram)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "gram is 0 in the opts of the plan; it must be 1");
    const shoal_array arrays[] = { { "psi", c->psi, 0 }, { "y", c->y, 0 }, { "x", c->x, 0 } };
    return shoal_smallsym_each(plan, arrays, 3, run_group, c);
}

shoal_status shoal_smallsym_gram(shoal_smallsym *plan, int64_t M, const double *psi,
                                 const double *y, double *x) {
    return form_and_solve(plan, SHOAL_F64, &(call){ M, psi, y, x });
}

shoal_status shoal_smallsym_gramf(shoal_smallsym *plan, int64_t M, const float *psi, const float *y,
                                  float *x) {
    return form_and_solve(plan, SHOAL_F32, &(call){ M, psi, y, x });
}
