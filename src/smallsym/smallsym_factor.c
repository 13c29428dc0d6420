/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_factor.c - the public functions of smallsym.h for factors that are kept, and their
 * argument checks.
 */
#include "smallsym/plan.h"
#include <string.h>

typedef struct call {
    const char *name; /* of the function for double */
    shoal_type type;
    shoal_status (*run)(shoal_smallsym *plan, const smallsym_job *job); /* of the driver */
    struct {
        const char *name;
        const void *array;
    } matrix, rhs, result; /* rhs.name NULL: there is none, and the result is a matrix */
} call;

static shoal_status check(const shoal_smallsym *plan, const call *c) {
    shoal_context *ctx = plan->ctx;
    const int single = plan->type == SHOAL_F32;
    if (c->type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s%s",
                          single ? "float" : "double", c->name, single ? "f" : "");
    if (strcmp(plan->method_name, "ldlt") != 0)
        return shoal_fail(ctx, SHOAL_E_METHOD,
                          "method: the plan is for '%s'; factors are kept by 'ldlt' alone",
                          plan->method_name);
    return SHOAL_OK;
}

static shoal_status check_arrays(const shoal_smallsym *plan, const call *c) {
    int64_t numbers = 0;
    for (int64_t g = 0; g < plan->job_count; g++) numbers += plan->jobs[g].n * plan->jobs[g].count;
    if (numbers == 0) return SHOAL_OK;
    shoal_status status = shoal_check_array(plan->ctx, c->matrix.array, c->matrix.name);
    if (status == SHOAL_OK && c->rhs.name)
        status = shoal_check_array(plan->ctx, c->rhs.array, c->rhs.name);
    if (status == SHOAL_OK) status = shoal_check_array(plan->ctx, c->result.array, c->result.name);
    return status;
}

static shoal_status call_driver(shoal_smallsym *plan, const call *c) {
    shoal_status status = check(plan, c);
    if (status != SHOAL_OK || !plan->systems) return status;
    status = shoal_ready(plan->ctx);
    if (status == SHOAL_OK) status = check_arrays(plan, c);
    if (status != SHOAL_OK) return status;
    plan->stream = plan->ctx->stream;
    plan->called = plan->judged = 0; /* residuals need both A and x */
    status = plan->driver->begin(plan);
    const size_t size = plan->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        smallsym_job job = plan->jobs[g];
        if (job.count == 0) continue;
        if (job.n > 0) {
            const size_t a = (size_t)job.a_offset * size, b = (size_t)job.b_offset * size;
            job.A = (const char *)c->matrix.array + a;
            if (c->rhs.name) job.b = (const char *)c->rhs.array + b;
            job.x = (char *)c->result.array + (c->rhs.name ? b : a);
        }
        job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
        job.work = plan->work;
        status = c->run(plan, &job);
    }
    plan->called = status == SHOAL_OK;
    return status;
}

static shoal_status factor(shoal_smallsym *plan, shoal_type type, const void *A, void *L) {
    if (!plan) return SHOAL_E_ARG;
    const call c = { .name = "shoal_smallsym_factor",
                     .type = type,
                     .run = plan->driver->factor,
                     .matrix = { "A", A },
                     .result = { "L", L } };
    return call_driver(plan, &c);
}

static shoal_status resolve(shoal_smallsym *plan, shoal_type type, const void *L, const void *b,
                            void *x) {
    if (!plan) return SHOAL_E_ARG;
    const call c = { .name = "shoal_smallsym_resolve",
                     .type = type,
                     .run = plan->driver->resolve,
                     .matrix = { "L", L },
                     .rhs = { "b", b },
                     .result = { "x", x } };
    return call_driver(plan, &c);
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
