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

static shoal_status check_plan(const shoal_smallsym *plan, const call *c) {
    shoal_context *ctx = plan->ctx;
    const int single = plan->type == SHOAL_F32;
    if (c->type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s%s",
                          single ? "float" : "double", c->name, single ? "f" : "");
    if (!plan->eigen.cell)
        return shoal_fail(ctx, SHOAL_E_METHOD,
                          "method: the plan is for '%s'; eigenpairs need 'eigdc' or 'auto'",
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
        int read;
    } arrays[] = { { "A", c->A, !c->tridiagonal && most > 0 },
                   { "d", c->d, c->tridiagonal && most > 0 },
                   { "e", c->e, c->tridiagonal && most > 1 },
                   { "w", c->w, most > 0 },
                   { "V", c->v, most > 0 && c->v } };
    shoal_status status = SHOAL_OK;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && status == SHOAL_OK; i++)
        if (arrays[i].read) status = shoal_check_array(plan->ctx, arrays[i].array, arrays[i].name);
    return status;
}

/* `numbers` of an array of the plan's type further on; NULL stays. */
static const void *further(const shoal_smallsym *plan, const void *array, int64_t numbers) {
    const size_t size = plan->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    return array ? (const char *)array + (size_t)numbers * size : NULL;
}

static shoal_status find_pairs(shoal_smallsym *plan, const call *c) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = check_plan(plan, c);
    if (status != SHOAL_OK || !plan->systems) return status;
    status = shoal_ready(plan->ctx);
    if (status == SHOAL_OK) status = check_arrays(plan, c);
    if (status != SHOAL_OK) return status;
    plan->stream = plan->ctx->stream;
    plan->called = plan->solved = 0;
    plan->judged = plan->where.residual != NULL;
    status = plan->driver->begin(plan);
    int64_t w = 0, e = 0, v = 0; /* where the group begins */
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        smallsym_job job = plan->jobs[g];
        if (job.count == 0) continue;
        const int one = job.b_row == 1 && job.b_system == job.n; /* system-major */
        const int64_t n = job.n, below = n > 0 ? n - 1 : 0;
        const smallsym_pairs to = { .d = further(plan, c->d, w),
                                    .e = further(plan, c->e, e),
                                    .w = (void *)further(plan, c->w, w),
                                    .v = (void *)further(plan, c->v, v),
                                    .e_system = one ? below : 1,
                                    .v_system = one ? n * n : 1 };
        job.A = c->tridiagonal ? NULL : further(plan, c->A, job.a_offset);
        job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
        job.work = plan->work;
        status = plan->driver->eigen(plan, &job, &to);
        w += n * job.count, e += below * job.count, v += n * n * job.count;
    }
    plan->called = status == SHOAL_OK;
    return status;
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
