/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_factor.c - the public functions of tridiag.h for factors that are kept, and their argument
 * checks.
 */
#include "tridiag/plan.h"

/* "auto" keeps the factors of what does its systems again, if its first method has none. */
static int keeps_factors(const shoal_tridiag *plan) {
    return plan->first.flags & SHOAL_CAN_FACTOR || plan->rescue.cell;
}

static shoal_status check_plan(shoal_tridiag *plan, shoal_type type, const char *name) {
    const shoal_status status = shoal_plan_call(plan, type, name);
    if (status != SHOAL_OK || keeps_factors(plan)) return status;
    if (!shoal_is_auto(plan->method_name))
        return shoal_cannot(plan->head.ctx, &shoal_tridiag_module, plan->method_name,
                            "keep factors", SHOAL_CAN_FACTOR);
    return shoal_fail(plan->head.ctx, SHOAL_E_METHOD,
                      "method: 'auto' is %s for %s systems, which keeps no factors; 'lupp' %s",
                      plan->first.name, plan->job.periodic ? "periodic" : "such long",
                      plan->job.periodic ? "does not take them" : "does");
}

/* The job of a call: outcomes, but for the residual, which the totals must not look for. */
static shoal_status call(shoal_tridiag *plan, tridiag_run *run, tridiag_job *job,
                         const shoal_array *arrays, int count) {
    /* the factors of no unknowns are statuses still */
    shoal_status status = shoal_check_arrays(plan->head.ctx, arrays, job->n > 0 ? count : 1);
    if (status != SHOAL_OK) return status;
    job->residual = plan->where.residual;
    job->first_row = plan->factor_row; /* lupp answers, not auto's first */
    status = shoal_tridiag_call(plan, run, job);
    plan->last.residual = NULL;
    return status;
}

static shoal_status factor(shoal_tridiag *plan, shoal_type type, const void *dl, const void *d,
                           const void *du, void *factors) {
    shoal_status status = check_plan(plan, type, "shoal_tridiag_factor");
    if (status != SHOAL_OK || plan->job.count == 0) return status;
    const shoal_array arrays[] = {
        { "factors", factors, 0 }, { "dl", dl, 0 }, { "d", d, 0 }, { "du", du, 0 }
    };
    tridiag_job job = shoal_tridiag_job_of(plan);
    job.dl = dl, job.d = d, job.du = du, job.factors = factors;
    return call(plan, plan->driver->keeper->factor, &job, arrays, 4);
}

static shoal_status resolve(shoal_tridiag *plan, shoal_type type, const void *factors,
                            const void *b, void *x) {
    shoal_status status = check_plan(plan, type, "shoal_tridiag_resolve");
    if (status != SHOAL_OK || plan->job.count == 0) return status;
    const shoal_array arrays[] = { { "factors", factors, 0 }, { "b", b, 0 }, { "x", x, 0 } };
    tridiag_job job = shoal_tridiag_job_of(plan);
    job.b = b, job.x = x;
    job.factors = (void *)(uintptr_t)factors; /* read there and not written */
    return call(plan, plan->driver->keeper->resolve, &job, arrays, 3);
}

size_t shoal_tridiag_factor_bytes(const shoal_tridiag *plan) {
    return plan && plan->job.count > 0 && keeps_factors(plan) ? plan->driver->keeper->bytes(plan)
                                                              : 0;
}

shoal_status shoal_tridiag_factor(shoal_tridiag *plan, const double *dl, const double *d,
                                  const double *du, void *factors) {
    return factor(plan, SHOAL_F64, dl, d, du, factors);
}

shoal_status shoal_tridiag_factorf(shoal_tridiag *plan, const float *dl, const float *d,
                                   const float *du, void *factors) {
    return factor(plan, SHOAL_F32, dl, d, du, factors);
}

shoal_status shoal_tridiag_resolve(shoal_tridiag *plan, const void *factors, const double *b,
                                   double *x) {
    return resolve(plan, SHOAL_F64, factors, b, x);
}

shoal_status shoal_tridiag_resolvef(shoal_tridiag *plan, const void *factors, const float *b,
                                    float *x) {
    return resolve(plan, SHOAL_F32, factors, b, x);
}
