/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - the public functions of tridiag.h, their argument checks, and the method table.
 *
 * "auto" on CUDA is hybrid with every residual looked at; what fails the test is redone by lupp,
 * system by system. On the CPU it is lupp at once, which is faster there than any method and its
 * check. So the answer is safe for every nonsingular matrix, and which route a system takes
 * depends on that system alone.
 */
#include "tridiag/plan.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(tridiag_driver, tridiag_batch)
SHOAL_DECLARE_CUDA(tridiag_driver, tridiag_batch)

#define DECLARE(name)                                                                              \
    SHOAL_DECLARE_CPU(tridiag_cpu_method, name) SHOAL_DECLARE_CUDA(tridiag_cuda_method, name)
DECLARE(tridiag_thomas)
DECLARE(tridiag_cr)
DECLARE(tridiag_pcr)
DECLARE(tridiag_hybrid)
DECLARE(tridiag_lupp)
DECLARE(tridiag_twocarry)
DECLARE(tridiag_gspike)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "thomas", CELLS(tridiag_thomas),
      .variants = { [THOMAS_THREAD] = { "thread", SHOAL_ON_BOTH },
                    [THOMAS_BLOCK] = { "block", SHOAL_ON_CUDA } } },
    { .name = "cr", CELLS(tridiag_cr) },
    { .name = "pcr", CELLS(tridiag_pcr),
      .variants = { [PCR_STRIDE] = { "stride", SHOAL_ON_BOTH },
                    [PCR_PERMUTE] = { "permute", SHOAL_ON_BOTH } } },
    { .name = "hybrid", CELLS(tridiag_hybrid) },
    { .name = "lupp", CELLS(tridiag_lupp) },
    { .name = "twocarry", CELLS(tridiag_twocarry) },
    { .name = "gspike", CELLS(tridiag_gspike) },
};

static const shoal_method driver = { .name = "batch", CELLS(tridiag_batch) };
/* clang-format on */

const shoal_module shoal_tridiag_module = { "tridiag", methods, sizeof methods / sizeof *methods,
                                            NULL };

shoal_status shoal_tridiag_check_sizes(shoal_context *ctx, const shoal_tridiag_opts *o) {
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "opts is NULL");
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = { { "n", o->n }, { "count", o->count }, { "nrhs", o->nrhs } };
    const size_t most = (size_t)PTRDIFF_MAX >> 13; /* so that no workspace size overflows either */
    size_t bytes = sizeof(double);
    for (int i = 0; i < 3; i++) {
        if (sizes[i].value < 0)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must not be negative",
                              sizes[i].name, (long long)sizes[i].value);
        size_t factor = sizes[i].value > 0 ? (size_t)sizes[i].value : 1;
        if (bytes > most / factor)
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "n * count * nrhs = %lld * %lld * %lld is too large", (long long)o->n,
                              (long long)o->count, (long long)o->nrhs);
        bytes *= factor;
    }
    if (o->nrhs == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "nrhs is 0; there must be a right-hand side");
    if (o->type != SHOAL_F64 && o->type != SHOAL_F32)
        return shoal_fail(ctx, SHOAL_E_ARG, "type is %d; it must be SHOAL_F64 or SHOAL_F32",
                          o->type);
    if (o->layout != SHOAL_SYSTEM_MAJOR && o->layout != SHOAL_INTERLEAVED)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "layout is %d; it must be SHOAL_SYSTEM_MAJOR or SHOAL_INTERLEAVED",
                          o->layout);
    return SHOAL_OK;
}

static shoal_status choose_methods(shoal_tridiag *plan, const shoal_tridiag_opts *o) {
    shoal_context *ctx = plan->ctx;
    int automatic = !o->method || !*o->method || strcmp(o->method, "auto") == 0;
    const char *best = ctx->ops ? "hybrid" : "lupp";
    if (automatic && o->variant && *o->variant)
        return shoal_fail(ctx, SHOAL_E_METHOD, "variant: '%s' needs a method; auto has no variants",
                          o->variant);
    shoal_status status = shoal_choose(ctx, &shoal_tridiag_module, automatic ? best : o->method,
                                       o->variant, o->type, &plan->first);
    if (status == SHOAL_OK && automatic && ctx->ops)
        status = shoal_choose(ctx, &shoal_tridiag_module, "lupp", NULL, o->type, &plan->rescue);
    plan->method_name = automatic ? "auto" : plan->first.name;
    plan->driver = ctx->ops ? driver.cuda[o->type] : driver.cpu[o->type][ctx->level];
    return status;
}

/* What only gspike takes. */
static shoal_status check_gspike(shoal_tridiag *plan, const shoal_tridiag_opts *o) {
    const struct {
        const char *name;
        double value;
        int right;
        const char *range;
    } fields[] = { { "delta", o->delta, o->delta >= 0 && o->delta < 1, "at least 0 and below 1" },
                   { "cond", o->cond, o->cond >= 0 && isfinite(o->cond), "finite, 0 or above" },
                   { "no_split", o->no_split, o->no_split == 0 || o->no_split == 1, "0 or 1" } };
    const int taken = plan->method_name && strcmp(plan->method_name, "gspike") == 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].right)
            return shoal_fail(plan->ctx, SHOAL_E_ARG, "%s is %g; it must be %s", fields[i].name,
                              fields[i].value, fields[i].range);
        if (fields[i].value != 0 && !taken)
            return shoal_fail(plan->ctx, SHOAL_E_ARG, "%s is %g; it must be 0: method %s has none",
                              fields[i].name, fields[i].value, plan->method_name);
    }
    plan->delta = o->delta, plan->cond = o->cond, plan->no_split = o->no_split;
    return SHOAL_OK;
}

static int nothing_to_do(const tridiag_job *job) { return job->count == 0; }

static shoal_status allocate(shoal_tridiag *plan) {
    shoal_context *ctx = plan->ctx;
    size_t systems = (size_t)plan->job.count;
    plan->bytes = plan->driver->bytes(plan);
    shoal_status status = shoal_alloc(ctx, plan->bytes, &plan->job.work);
    if (status == SHOAL_OK)
        status = shoal_alloc(ctx, systems * sizeof(int32_t), (void **)&plan->own_status);
    if (status == SHOAL_OK && plan->rescue.cell)
        status = shoal_alloc(ctx, systems * sizeof(float), (void **)&plan->own_residual);
    plan->bytes += systems * (sizeof(int32_t) + (plan->rescue.cell ? sizeof(float) : 0));
    return status;
}

shoal_status shoal_tridiag_create(shoal_context *ctx, const shoal_tridiag_opts *opts,
                                  shoal_tridiag **result) {
    if (!result) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "plan is NULL") : SHOAL_E_ARG;
    *result = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) status = shoal_tridiag_check_sizes(ctx, opts);
    if (status != SHOAL_OK) return status;
    shoal_tridiag *plan = calloc(1, sizeof *plan);
    if (!plan) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a plan");
    plan->ctx = ctx;
    plan->type = opts->type;
    plan->layout = opts->layout;
    status = choose_methods(plan, opts);
    if (status == SHOAL_OK) status = check_gspike(plan, opts);
    double roundoff = opts->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    int interleaved = opts->layout == SHOAL_INTERLEAVED;
    plan->job = (tridiag_job){
        .n = opts->n,
        .count = opts->count,
        .nrhs = opts->nrhs,
        .row = interleaved ? opts->count : 1,
        .system = interleaved ? 1 : opts->n,
        .first_row = plan->first.row,
        .rescue_row = plan->rescue.cell ? plan->rescue.row : -1,
        .tol = opts->tol > 0 ? opts->tol : 100 * roundoff,
    };
    if (status == SHOAL_OK && !nothing_to_do(&plan->job)) status = allocate(plan);
    if (status == SHOAL_OK)
        *result = plan;
    else
        shoal_tridiag_free(plan);
    return status;
}

void shoal_tridiag_free(shoal_tridiag *plan) {
    if (!plan) return;
    shoal_free(plan->ctx, plan->job.work);
    shoal_free(plan->ctx, plan->own_status);
    shoal_free(plan->ctx, plan->own_residual);
    free(plan);
}

shoal_status shoal_tridiag_outcome(shoal_tridiag *plan, const shoal_outcome *where) {
    if (!plan) return SHOAL_E_ARG;
    static const shoal_outcome off;
    if (!where) where = &off;
    const struct {
        const char *name;
        const void *array;
        int filled;
    } fields[] = {
        { "outcome.status", where->status, 1 }, { "outcome.residual", where->residual, 1 },
        { "outcome.method", where->method, 1 }, { "outcome.rcond", where->rcond, 0 },
        { "outcome.rank", where->rank, 0 },     { "outcome.inertia", where->inertia, 0 }
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].array) continue;
        if (!fields[i].filled)
            return shoal_fail(plan->ctx, SHOAL_E_ARG,
                              "%s must be NULL: tridiag does not compute it", fields[i].name);
        shoal_status status = shoal_check_array(plan->ctx, fields[i].array, fields[i].name);
        if (status != SHOAL_OK) return status;
    }
    plan->where = *where;
    return SHOAL_OK;
}

/* The job of one solve: the plan's, with the caller's outcome arrays or the plan's own. */
static tridiag_job job_of(const shoal_tridiag *plan) {
    tridiag_job job = plan->job;
    job.status = plan->where.status ? plan->where.status : plan->own_status;
    job.residual = plan->where.residual ? plan->where.residual : plan->own_residual;
    job.method = plan->where.method;
    return job;
}

static shoal_status solve(shoal_tridiag *plan, shoal_type type, const void *a, const void *b,
                          const void *c, const void *d, void *x) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->ctx;
    if (type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s",
                          plan->type == SHOAL_F32 ? "float" : "double",
                          plan->type == SHOAL_F32 ? "shoal_tridiag_solvef" : "shoal_tridiag_solve");
    if (nothing_to_do(&plan->job)) return SHOAL_OK;
    shoal_status status = shoal_ready(ctx);
    const struct {
        const char *name;
        const void *array;
    } arrays[] = { { "a", a }, { "b", b }, { "c", c }, { "d", d }, { "x", x } };
    for (int i = 0; i < 5 && status == SHOAL_OK && plan->job.n > 0; i++)
        status = shoal_check_array(ctx, arrays[i].array, arrays[i].name);
    if (status != SHOAL_OK) return status;
    tridiag_job job = job_of(plan);
    job.a = a, job.b = b, job.c = c, job.d = d, job.x = x;
    plan->last = job;
    plan->stream = ctx->stream;
    status = plan->driver->run(plan, &job);
    plan->solved = status == SHOAL_OK;
    return status;
}

shoal_status shoal_tridiag_solve(shoal_tridiag *plan, const double *a, const double *b,
                                 const double *c, const double *d, double *x) {
    return solve(plan, SHOAL_F64, a, b, c, d, x);
}

shoal_status shoal_tridiag_solvef(shoal_tridiag *plan, const float *a, const float *b,
                                  const float *c, const float *d, float *x) {
    return solve(plan, SHOAL_F32, a, b, c, d, x);
}

shoal_status shoal_tridiag_last(shoal_tridiag *plan, shoal_tridiag_info *info) {
    if (!plan) return SHOAL_E_ARG;
    if (!info) return shoal_fail(plan->ctx, SHOAL_E_ARG, "info is NULL");
    *info = (shoal_tridiag_info){ .method = plan->method_name,
                                  .variant = plan->first.variant_name,
                                  .max_residual = -1,
                                  .bytes = plan->bytes };
    if (!plan->solved) return SHOAL_OK;
    void *current = plan->ctx->stream;
    plan->ctx->stream = plan->stream;
    shoal_status status = shoal_wait(plan->ctx);
    if (status == SHOAL_OK) status = plan->driver->total(plan, &plan->last, info);
    plan->ctx->stream = current;
    return status;
}
