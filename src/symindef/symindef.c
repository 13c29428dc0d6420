/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - the public functions of symindef.h, their argument checks, and the method table.
 *
 * "auto" is complete pivoting: of what there is, the one whose rank, inertia and multipliers can be
 * trusted most.
 */
#include "symindef/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    { .name = "complete", CELLS(symindef_complete) },
    { .name = "partial", CELLS(symindef_partial) },
    { .name = "rook", CELLS(symindef_rook) },
};

static const shoal_method driver = { .name = "triangle", CELLS(symindef_triangle) };
/* clang-format on */

const shoal_module shoal_symindef_module = { "symindef", methods, sizeof methods / sizeof *methods,
                                             shoal_auto_alone };

static size_t size_of(shoal_type type) {
    return type == SHOAL_F64 ? sizeof(double) : sizeof(float);
}

static shoal_status check_enums(shoal_context *ctx, const shoal_symindef_opts *o) {
    if (o->type != SHOAL_F64 && o->type != SHOAL_F32)
        return shoal_fail(ctx, SHOAL_E_ARG, "type is %d; it must be SHOAL_F64 or SHOAL_F32",
                          o->type);
    if (o->storage != SHOAL_FULL && o->storage != SHOAL_PACKED)
        return shoal_fail(ctx, SHOAL_E_ARG, "storage is %d; it must be SHOAL_FULL or SHOAL_PACKED",
                          o->storage);
    if (o->triangle != SHOAL_LOWER && o->triangle != SHOAL_UPPER)
        return shoal_fail(ctx, SHOAL_E_ARG, "triangle is %d; it must be SHOAL_LOWER or SHOAL_UPPER",
                          o->triangle);
    return SHOAL_OK;
}

static shoal_status check_opts(shoal_context *ctx, const shoal_symindef_opts *o) {
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "opts is NULL");
    if (o->n < 0 || o->n > INT32_MAX)
        return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; it must be 0 to %d", (long long)o->n,
                          INT32_MAX);
    if (o->ld != 0 && o->storage == SHOAL_PACKED)
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; packed storage has none",
                          (long long)o->ld);
    if (o->ld != 0 && (o->ld < o->n || o->ld > INT64_MAX / 16 / (o->n + 1)))
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; it must be n = %lld or more, in reason",
                          (long long)o->ld, (long long)o->n);
    const double alpha = o->type == SHOAL_F32 ? (double)(float)o->alpha : o->alpha;
    if (!(alpha < 1))
        return shoal_fail(ctx, SHOAL_E_ARG, "alpha is %.9g; it must be below 1%s", o->alpha,
                          o->alpha < 1 ? " in float, too" : "");
    if (!(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    if (o->eliminate < 0 || o->eliminate > o->n)
        return shoal_fail(ctx, SHOAL_E_ARG, "eliminate is %lld; it must be 0 to n = %lld",
                          (long long)o->eliminate, (long long)o->n);
    return check_enums(ctx, o);
}

static shoal_status choose_method(shoal_symindef *plan, const shoal_symindef_opts *o) {
    shoal_context *ctx = plan->ctx;
    const int automatic = !o->method || !*o->method || strcmp(o->method, "auto") == 0;
    if (automatic && o->variant && *o->variant)
        return shoal_fail(ctx, SHOAL_E_METHOD, "variant: '%s' needs a method; auto has no variants",
                          o->variant);
    plan->driver = ctx->ops ? driver.cuda[o->type] : driver.cpu[o->type][ctx->level];
    return shoal_choose(ctx, &shoal_symindef_module, automatic ? "complete" : o->method, o->variant,
                        o->type, &plan->chosen);
}

/* One block of memory holds all: each array begins at a multiple of 256 bytes. */
static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }

static shoal_status allocate(shoal_symindef *plan, int growth) {
    const symindef_method *method = plan->chosen.cell;
    symindef_job *job = &plan->job;
    const size_t n = (size_t)job->shape.n, real = size_of(plan->type);
    const struct {
        void **array;
        size_t bytes;
    } parts[] = {
        { (void **)&job->state, sizeof(symindef_state) },
        { (void **)&job->interchanges, n * sizeof(int32_t) },
        { (void **)&job->permutation, n * sizeof(int32_t) },
        { &job->d, n * real },
        { &job->e, n * real },
        { (void **)&job->growth, growth ? n * sizeof(double) : 0 },
        { &job->rhs, plan->driver->bytes(plan) },
        { (void **)&job->vectors, SYMINDEF_VECTORS * n * sizeof(double) },
        { &job->work, method->bytes(plan) }, /* last: tests notice what is written behind it */
    };
    const int count = (int)(sizeof parts / sizeof *parts);
    for (int i = 0; i < count; i++) plan->bytes += rounded(parts[i].bytes);
    shoal_status status = shoal_alloc(plan->ctx, plan->bytes, &plan->memory);
    if (status != SHOAL_OK) return status;
    char *at = plan->memory;
    for (int i = 0; i < count; i++) {
        *parts[i].array = parts[i].bytes ? at : NULL;
        at += rounded(parts[i].bytes);
    }
    return SHOAL_OK;
}

shoal_status shoal_symindef_create(shoal_context *ctx, const shoal_symindef_opts *opts,
                                   shoal_symindef **result) {
    if (!result) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "plan is NULL") : SHOAL_E_ARG;
    *result = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) status = check_opts(ctx, opts);
    if (status != SHOAL_OK) return status;
    shoal_symindef *plan = calloc(1, sizeof *plan);
    if (!plan) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a plan");
    plan->ctx = ctx;
    plan->type = opts->type;
    plan->job.shape.n = opts->n;
    plan->job.shape.ld = opts->storage == SHOAL_PACKED ? 0 : opts->ld ? opts->ld : opts->n;
    plan->job.shape.upper = opts->triangle == SHOAL_UPPER;
    plan->job.alpha = opts->alpha > 0 ? opts->alpha : (1 + sqrt(17.0)) / 8;
    plan->job.tol = opts->tol;
    plan->job.eliminate = opts->eliminate ? opts->eliminate : opts->n;
    status = choose_method(plan, opts);
    if (status == SHOAL_OK && opts->n > 0) status = allocate(plan, opts->growth);
    if (status == SHOAL_OK)
        *result = plan;
    else
        shoal_symindef_free(plan);
    return status;
}

void shoal_symindef_free(shoal_symindef *plan) {
    if (!plan) return;
    shoal_free(plan->ctx, plan->memory);
    free(plan);
}

static shoal_status check_plan(shoal_symindef *plan, shoal_type type, const char *wanted) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = shoal_ready(plan->ctx);
    if (status == SHOAL_OK && plan->type != type)
        return shoal_fail(plan->ctx, SHOAL_E_TYPE, "the plan was made for %s; call %s",
                          type == SHOAL_F64 ? "float" : "double", wanted);
    return status;
}

static shoal_status factor(shoal_symindef *plan, void *a) {
    plan->factored = plan->modified = 0;
    if (plan->job.shape.n > 0) {
        const symindef_method *method = plan->chosen.cell;
        shoal_status status = shoal_check_array(plan->ctx, a, "A");
        plan->job.a = a;
        if (status == SHOAL_OK) status = plan->driver->begin(plan, &plan->job);
        if (status == SHOAL_OK) status = method->run(plan, &plan->job);
        if (status == SHOAL_OK) status = plan->driver->finish(plan, &plan->job);
        if (status != SHOAL_OK) return status;
    }
    plan->stream = plan->ctx->stream;
    plan->factored = 1;
    return SHOAL_OK;
}

shoal_status shoal_symindef_factor(shoal_symindef *plan, double *A) {
    shoal_status status = check_plan(plan, SHOAL_F64, "shoal_symindef_factorf()");
    return status == SHOAL_OK ? factor(plan, A) : status;
}

shoal_status shoal_symindef_factorf(shoal_symindef *plan, float *A) {
    shoal_status status = check_plan(plan, SHOAL_F32, "shoal_symindef_factor()");
    return status == SHOAL_OK ? factor(plan, A) : status;
}

shoal_status shoal_symindef_ready(shoal_symindef *plan, shoal_type type, const char *wanted) {
    shoal_status status = check_plan(plan, type, wanted);
    if (status != SHOAL_OK) return status;
    if (!plan->factored)
        return shoal_fail(plan->ctx, SHOAL_E_ARG, "A has not been factored by this plan yet");
    if (plan->job.eliminate < plan->job.shape.n)
        return shoal_fail(plan->ctx, SHOAL_E_ARG,
                          "eliminate is %lld: the factorization is not complete",
                          (long long)plan->job.eliminate);
    return SHOAL_OK;
}

shoal_status shoal_symindef_check_rhs(shoal_symindef *plan, int64_t nrhs) {
    const int64_t n = plan->job.shape.n, rows = n > 0 ? n : 1;
    const int64_t most = (PTRDIFF_MAX >> 13) / (int64_t)sizeof(double);
    if (nrhs < 0)
        return shoal_fail(plan->ctx, SHOAL_E_ARG, "nrhs is %lld; it must not be negative",
                          (long long)nrhs);
    if (nrhs > most / rows)
        return shoal_fail(plan->ctx, SHOAL_E_ARG, "n * nrhs = %lld * %lld is too large",
                          (long long)n, (long long)nrhs);
    return SHOAL_OK;
}

static shoal_status solve(shoal_symindef *plan, const void *a, int64_t nrhs, const void *b,
                          void *x) {
    shoal_context *ctx = plan->ctx;
    shoal_status status = shoal_symindef_check_rhs(plan, nrhs);
    if (status != SHOAL_OK || plan->job.shape.n == 0 || nrhs == 0) return status;
    status = shoal_check_array(ctx, a, "A");
    if (status == SHOAL_OK) status = shoal_check_array(ctx, b, "b");
    if (status == SHOAL_OK) status = shoal_check_array(ctx, x, "x");
    if (status != SHOAL_OK) return status;
    symindef_job job = plan->job;
    job.a = (void *)a;
    return plan->driver->solve(plan, &job, nrhs, b, x);
}

shoal_status shoal_symindef_solve(shoal_symindef *plan, const double *A, int64_t nrhs,
                                  const double *b, double *x) {
    shoal_status status = shoal_symindef_ready(plan, SHOAL_F64, "shoal_symindef_solvef()");
    return status == SHOAL_OK ? solve(plan, A, nrhs, b, x) : status;
}

shoal_status shoal_symindef_solvef(shoal_symindef *plan, const float *A, int64_t nrhs,
                                   const float *b, float *x) {
    shoal_status status = shoal_symindef_ready(plan, SHOAL_F32, "shoal_symindef_solve()");
    return status == SHOAL_OK ? solve(plan, A, nrhs, b, x) : status;
}
