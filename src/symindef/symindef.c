/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - the public functions of symindef.h, their argument checks, and the method table.
 *
 * "auto" is complete pivoting: of what there is, the one whose rank, inertia and multipliers can be
 * trusted most.
 */
#include "symindef/plan.h"
#include <math.h>

SHOAL_DECLARE_CPU(symindef_driver, symindef_triangle)
SHOAL_DECLARE_CUDA(symindef_driver, symindef_triangle)

#define DECLARE(name)                                                                              \
    SHOAL_DECLARE_CPU(symindef_method, name) SHOAL_DECLARE_CUDA(symindef_method, name)
DECLARE(symindef_complete)
DECLARE(symindef_partial)
DECLARE(symindef_rook)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "complete", CELLS(symindef_complete), .flags = SHOAL_CAN_GROWTH | SHOAL_CAN_BOUND },
    { .name = "partial", CELLS(symindef_partial) },
    { .name = "rook", CELLS(symindef_rook), .flags = SHOAL_CAN_BOUND },
};

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_GROWTH | SHOAL_CAN_BOUND };
static const shoal_method driver = { .name = "triangle", CELLS(symindef_triangle) };
/* clang-format on */

const shoal_module shoal_symindef_module = { "symindef", methods, sizeof methods / sizeof *methods,
                                             &automatic };

static shoal_status check_opts(shoal_context *ctx, const shoal_symindef_opts *o) {
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o), SHOAL_STORAGE_FLAG(o),
                                 SHOAL_TRIANGLE_FLAG(o) };
    shoal_status status = shoal_check_flags(ctx, flags, 3);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "n", o->n, 0, INT32_MAX);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "eliminate", o->eliminate, 0, o->n);
    if (status != SHOAL_OK) return status;
    if (o->ld != 0 && o->storage == SHOAL_PACKED)
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; packed storage has none",
                          (long long)o->ld);
    const int64_t max_ld = INT64_MAX / 16 / (o->n + 1);
    if (o->ld != 0 && (o->ld < o->n || o->ld > max_ld))
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; it must be between n = %lld and %lld",
                          (long long)o->ld, (long long)o->n, (long long)max_ld);
    const double alpha = o->type == SHOAL_F32 ? (double)(float)o->alpha : o->alpha;
    if (!(alpha < 1))
        return shoal_fail(ctx, SHOAL_E_ARG, "alpha is %.9g; it must be below 1%s", o->alpha,
                          o->alpha < 1 ? " in float, too" : "");
    if (!(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    return SHOAL_OK;
}

static shoal_status allocate(shoal_symindef *plan, int growth) {
    const symindef_method *method = plan->chosen.cell;
    symindef_job *job = &plan->job;
    const size_t n = (size_t)job->shape.n, real = shoal_type_bytes(plan->head.type);
    const struct {
        void *to;
        size_t bytes;
    } parts[] = {
        { &job->state, sizeof(symindef_state) },
        { &job->interchanges, n * sizeof(int32_t) },
        { &job->permutation, n * sizeof(int32_t) },
        { &job->d, n * real },
        { &job->e, n * real },
        { &job->growth, growth ? n * sizeof(double) : 0 },
        { &job->rhs, plan->driver->bytes(plan) },
        { &job->vectors, SYMINDEF_VECTORS * n * sizeof(double) },
        { &job->work, method->bytes(plan) },
    };
    shoal_status status = SHOAL_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == SHOAL_OK; i++)
        if (parts[i].bytes) status = shoal_plan_alloc(&plan->head, parts[i].bytes, parts[i].to);
    return status;
}

static shoal_status fill_plan(shoal_symindef *plan, const shoal_symindef_opts *opts) {
    shoal_status status = check_opts(plan->head.ctx, opts);
    if (status != SHOAL_OK) return status;
    plan->head.type = opts->type;
    plan->job.shape.n = opts->n;
    plan->job.shape.ld = opts->storage == SHOAL_PACKED ? 0 : opts->ld ? opts->ld : opts->n;
    plan->job.shape.upper = opts->triangle == SHOAL_UPPER;
    plan->job.alpha = opts->alpha > 0 ? opts->alpha : (1 + sqrt(17.0)) / 8;
    plan->job.tol = opts->tol;
    plan->job.eliminate = opts->eliminate ? opts->eliminate : opts->n;
    plan->driver = shoal_cell(plan->head.ctx, &driver, opts->type);
    status = shoal_plan_choose(&plan->head, &shoal_symindef_module, opts->method, opts->variant,
                               "complete", &plan->chosen);
    return status == SHOAL_OK && opts->n > 0 ? allocate(plan, opts->growth) : status;
}

shoal_status shoal_symindef_create(shoal_context *ctx, const shoal_symindef_opts *opts,
                                   shoal_symindef **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status == SHOAL_OK) status = fill_plan(*result, opts);
    return shoal_plan_made(status, result);
}

void shoal_symindef_free(shoal_symindef *plan) { shoal_plan_free(plan); }

static shoal_status factor(shoal_symindef *plan, shoal_type type, void *a) {
    shoal_status status = shoal_plan_call(plan, type, "shoal_symindef_factor");
    if (status != SHOAL_OK) return status;
    plan->head.called = plan->modified = 0;
    if (plan->job.shape.n > 0) {
        const symindef_method *method = plan->chosen.cell;
        status = shoal_check_array(plan->head.ctx, a, "A");
        plan->job.a = a;
        const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "factorization");
        if (status == SHOAL_OK) status = plan->driver->begin(plan, &plan->job);
        if (status == SHOAL_OK) status = method->run(plan, &plan->job);
        if (status == SHOAL_OK) status = plan->driver->finish(plan, &plan->job);
        status = shoal_stage_end(plan->head.ctx, &stage, status);
    }
    return shoal_plan_called(&plan->head, status);
}

shoal_status shoal_symindef_factor(shoal_symindef *plan, double *A) {
    return factor(plan, SHOAL_F64, A);
}

shoal_status shoal_symindef_factorf(shoal_symindef *plan, float *A) {
    return factor(plan, SHOAL_F32, A);
}

shoal_status shoal_symindef_ready(shoal_symindef *plan, shoal_type type, const char *name) {
    const shoal_status status = shoal_plan_call(plan, type, name);
    if (status != SHOAL_OK) return status;
    if (!plan->head.called)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "A has not been factored by this plan yet");
    if (plan->job.eliminate < plan->job.shape.n)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "eliminate is %lld: the factorization is not complete",
                          (long long)plan->job.eliminate);
    return SHOAL_OK;
}

shoal_status shoal_symindef_check_rhs(shoal_symindef *plan, int64_t nrhs) {
    const shoal_size sizes[] = { { "n", plan->job.shape.n }, { "nrhs", nrhs } };
    return shoal_check_sizes(plan->head.ctx, "", sizeof(double), sizes, 2);
}

static shoal_status solve(shoal_symindef *plan, shoal_type type, const void *a, int64_t nrhs,
                          const void *b, void *x) {
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_solve");
    if (status == SHOAL_OK) status = shoal_symindef_check_rhs(plan, nrhs);
    if (status != SHOAL_OK || plan->job.shape.n == 0 || nrhs == 0) return status;
    const shoal_array arrays[] = { { "A", a, 0 }, { "b", b, 0 }, { "x", x, 0 } };
    status = shoal_check_arrays(plan->head.ctx, arrays, 3);
    if (status != SHOAL_OK) return status;
    symindef_job job = plan->job;
    job.a = (void *)a;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "solutions");
    return shoal_stage_end(plan->head.ctx, &stage, plan->driver->solve(plan, &job, nrhs, b, x));
}

shoal_status shoal_symindef_solve(shoal_symindef *plan, const double *A, int64_t nrhs,
                                  const double *b, double *x) {
    return solve(plan, SHOAL_F64, A, nrhs, b, x);
}

shoal_status shoal_symindef_solvef(shoal_symindef *plan, const float *A, int64_t nrhs,
                                   const float *b, float *x) {
    return solve(plan, SHOAL_F32, A, nrhs, b, x);
}
