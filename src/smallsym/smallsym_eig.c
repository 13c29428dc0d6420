/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_eig.c - the public functions of smallsym.h for eigenpairs, and their argument checks.
 */
#include "smallsym/plan.h"

typedef struct call {
    const char *name; /* of the function for double */
    shoal_type type;
    int tridiagonal; /* d and e, not A */
    const void *A, *d, *e;
    void *w, *v;
} call;

static shoal_status find_group(shoal_smallsym *plan, smallsym_job *job, const void *call_of) {
    const call *c = call_of;
    const int64_t n = job->n, below = n > 0 ? n - 1 : 0;
    const int one = smallsym_system_major(job);
    const smallsym_pairs to = { .d = smallsym_from(plan, c->d, job->row_offset),
                                .e = smallsym_from(plan, c->e, job->e_offset),
                                .w = smallsym_from(plan, c->w, job->row_offset),
                                .v = smallsym_from(plan, c->v, job->q_offset),
                                .e_system = one ? below : 1,
                                .v_system = one ? n * n : 1 };
    job->A = smallsym_from(plan, c->A, job->a_offset);
    plan->judged = plan->where.residual != NULL;
    return plan->driver->eigen(plan, job, &to);
}

static shoal_status find_pairs(shoal_smallsym *plan, const call *c) {
    const shoal_status status = shoal_plan_call(plan, c->type, c->name);
    if (status != SHOAL_OK) return status;
    if (!plan->eigen.cell)
        return shoal_cannot(plan->head.ctx, &shoal_smallsym_module, plan->method_name,
                            "find eigenpairs", SHOAL_CAN_EIGEN);
    if (!plan->systems) return SHOAL_OK;
    const shoal_array arrays[] = {
        { "A", c->A, c->tridiagonal },
        { "d", c->d, !c->tridiagonal },
        { "e", c->e, !c->tridiagonal || shoal_smallsym_largest(plan) < 2 },
        { "w", c->w, 0 },
        { "V", c->v, !c->v },
    };
    return shoal_smallsym_each(plan, arrays, 5, find_group, c);
}

shoal_status shoal_smallsym_eig(shoal_smallsym *plan, const double *A, double *w, double *V) {
    const call c = { .name = "shoal_smallsym_eig", .type = SHOAL_F64, .A = A, .w = w, .v = V };
    return find_pairs(plan, &c);
}

shoal_status shoal_smallsym_eigf(shoal_smallsym *plan, const float *A, float *w, float *V) {
    const call c = { .name = "shoal_smallsym_eig", .type = SHOAL_F32, .A = A, .w = w, .v = V };
    return find_pairs(plan, &c);
}

shoal_status shoal_smallsym_eigtridiag(shoal_smallsym *plan, const double *d, const double *e,
                                       double *w, double *V) {
    const call c = { "shoal_smallsym_eigtridiag", SHOAL_F64, 1, NULL, d, e, w, V };
    return find_pairs(plan, &c);
}

shoal_status shoal_smallsym_eigtridiagf(shoal_smallsym *plan, const float *d, const float *e,
                                        float *w, float *V) {
    const call c = { "shoal_smallsym_eigtridiag", SHOAL_F32, 1, NULL, d, e, w, V };
    return find_pairs(plan, &c);
}
