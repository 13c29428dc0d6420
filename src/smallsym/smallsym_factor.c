/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_factor.c - the public functions of smallsym.h for factors that are kept, and their
 * argument checks.
 */
#include "smallsym/plan.h"

typedef struct call {
    shoal_status (*run)(shoal_smallsym *plan, const smallsym_job *job); /* of the driver */
    const void *matrix, *rhs; /* rhs NULL: there is none, and the result is a matrix */
    void *result;
} call;

/* Residuals need both A and x: none is computed. */
static shoal_status run_group(shoal_smallsym *plan, smallsym_job *job, const void *call_of) {
    const call *c = call_of;
    const int64_t b = job->row_offset * job->nrhs;
    job->A = smallsym_from(plan, c->matrix, job->a_offset);
    job->b = smallsym_from(plan, c->rhs, b);
    job->x = smallsym_from(plan, c->result, c->rhs ? b : job->a_offset);
    return c->run(plan, job);
}

static shoal_status check(shoal_smallsym *plan, shoal_type type, const char *name) {
    const shoal_status status = shoal_plan_call(plan, type, name);
    if (status == SHOAL_OK && (plan->rescue.cell || !(plan->first.flags & SHOAL_CAN_FACTOR)))
        return shoal_cannot(plan->head.ctx, &shoal_smallsym_module, plan->method_name,
                            "keep factors", SHOAL_CAN_FACTOR);
    return status;
}

static shoal_status factor(shoal_smallsym *plan, shoal_type type, const void *A, void *L) {
    const shoal_status status = check(plan, type, "shoal_smallsym_factor");
    if (status != SHOAL_OK || !plan->systems) return status;
    const shoal_array arrays[] = { { "A", A, 0 }, { "L", L, 0 } };
    const call c = { .run = plan->driver->factor, .matrix = A, .result = L };
    return shoal_smallsym_each(plan, arrays, 2, run_group, &c);
}

static shoal_status resolve(shoal_smallsym *plan, shoal_type type, const void *L, const void *b,
                            void *x) {
    const shoal_status status = check(plan, type, "shoal_smallsym_resolve");
    if (status != SHOAL_OK || !plan->systems) return status;
    const shoal_array arrays[] = { { "L", L, 0 }, { "b", b, 0 }, { "x", x, 0 } };
    const call c = { .run = plan->driver->resolve, .matrix = L, .rhs = b, .result = x };
    return shoal_smallsym_each(plan, arrays, 3, run_group, &c);
}

shoal_status shoal_smallsym_factor(shoal_smallsym *plan, const double *A, double *L) {
    return factor(plan, SHOAL_F64, A, L);
}

shoal_status shoal_smallsym_factorf(shoal_smallsym *plan, const float *A, float *L) {
    return factor(plan, SHOAL_F32, A, L);
}

shoal_status shoal_smallsym_resolve(shoal_smallsym *plan, const double *L, const double *b,
                                    double *x) {
    return resolve(plan, SHOAL_F64, L, b, x);
}

shoal_status shoal_smallsym_resolvef(shoal_smallsym *plan, const float *L, const float *b,
                                     float *x) {
    return resolve(plan, SHOAL_F32, L, b, x);
}
