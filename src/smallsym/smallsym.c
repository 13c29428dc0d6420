/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - the public functions of smallsym.h, their argument checks, and the method table.
 *
 * "auto" is the paper's answer to a family of which little is known (its introduction and section 6):
 * a fast method for all systems, a look at each residual and at the pivots, and eigdc for those that
 * failed. The fast method is ldlt, or, variant "hhpcr", the paper's.
 */
#include "smallsym/plan.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(smallsym_driver, smallsym_batch)
SHOAL_DECLARE_CUDA(smallsym_driver, smallsym_batch)

#define DECLARE(name)                                                                              \
    SHOAL_DECLARE_CPU(smallsym_cpu_method, name) SHOAL_DECLARE_CUDA(smallsym_cuda_method, name)
DECLARE(smallsym_ldlt)
DECLARE(smallsym_ldltp)
DECLARE(smallsym_hhpcr)
DECLARE(smallsym_eigdc)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "ldlt", CELLS(smallsym_ldlt),
      .variants = { [LDLT_TEAM] = { "team", SHOAL_ON_BOTH },
                    [LDLT_SIMD] = { "simd", SHOAL_ON_PAPER },
                    [LDLT_COOP] = { "coop", SHOAL_ON_PAPER },
                    [LDLT_HYBRID] = { "hybrid", SHOAL_ON_PAPER } } },
    { .name = "ldltp", CELLS(smallsym_ldltp) },
    { .name = "hhpcr", CELLS(smallsym_hhpcr),
      .variants = { [HHPCR_REFLECT] = { "reflect", SHOAL_ON_BOTH },
                    [HHPCR_FORMED] = { "formed", SHOAL_ON_CPU | SHOAL_ON_PAPER },
                    [HHPCR_SIMD] = { "simd", SHOAL_ON_PAPER },
                    [HHPCR_COOP] = { "coop", SHOAL_ON_PAPER },
                    [HHPCR_HYBRID] = { "hybrid", SHOAL_ON_PAPER } } },
    { .name = "eigdc", CELLS(smallsym_eigdc),
      .variants = { [EIGDC_MIDDLE] = { "middle", SHOAL_ON_BOTH },
                    [EIGDC_GRAGG] = { "gragg", SHOAL_ON_BOTH } } },
};

static const shoal_method driver = { .name = "batch", CELLS(smallsym_batch) };
/* clang-format on */

/* What "auto" begins with. */
static const char *const first_of_auto[] = { "ldlt", "hhpcr", NULL };

const shoal_module shoal_smallsym_module = { "smallsym", methods, sizeof methods / sizeof *methods,
                                             first_of_auto };

/* ---- sizes ------------------------------------------------------------------------------------ */

/* So that no product of sizes, nor a workspace, overflows. */
static const size_t MOST_BYTES = (size_t)PTRDIFF_MAX >> 13;

/* `of` goes before n and count in a message: "groups[3].", or "" where there are no groups. */
static shoal_status check_group(shoal_context *ctx, const shoal_smallsym_opts *o, const char *of,
                                int64_t n, int64_t count) {
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = { { "n", n }, { "n", n }, { "count", count }, { "nrhs", o->nrhs } };
    size_t bytes = sizeof(double);
    for (int i = 0; i < 4; i++) {
        if (sizes[i].value < 0)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s%s is %lld; it must not be negative", of,
                              sizes[i].name, (long long)sizes[i].value);
        size_t factor = sizes[i].value > 0 ? (size_t)sizes[i].value : 1;
        if (bytes > MOST_BYTES / factor)
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "%sn^2 * count * nrhs = %lld^2 * %lld * %lld is too large%s", of,
                              (long long)n, (long long)count, (long long)o->nrhs,
                              n && count && o->nrhs ? "" : " (0 counts as 1)");
        bytes *= factor;
    }
    return SHOAL_OK;
}

static shoal_status check_strides(shoal_context *ctx, const shoal_smallsym_opts *o) {
    const int64_t ld = o->ld ? o->ld : o->n;
    if (!o->ld && !o->stride) return SHOAL_OK;
    if (o->groups || o->storage == SHOAL_PACKED)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; %s have no leading dimension or stride",
                          o->ld ? "ld" : "stride", (long long)(o->ld ? o->ld : o->stride),
                          o->groups ? "groups" : "packed matrices");
    if (ld < o->n)
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; it must be at least n = %lld",
                          (long long)ld, (long long)o->n);
    if (o->stride && o->layout == SHOAL_INTERLEAVED)
        return shoal_fail(ctx, SHOAL_E_ARG, "stride is %lld; interleaved systems have none",
                          (long long)o->stride);
    const size_t most = MOST_BYTES / sizeof(double);
    const size_t rows = o->n ? (size_t)o->n : 1, systems = o->count ? (size_t)o->count : 1;
    if ((size_t)ld > most / rows / systems)
        return shoal_fail(ctx, SHOAL_E_ARG, "ld is %lld; that is too large", (long long)ld);
    if (o->stride < 0 || (o->stride && o->stride < ld * (o->n - 1) + o->n))
        return shoal_fail(ctx, SHOAL_E_ARG, "stride is %lld; a system has %lld numbers",
                          (long long)o->stride, (long long)ld * o->n);
    if ((size_t)o->stride > most / systems)
        return shoal_fail(ctx, SHOAL_E_ARG, "stride is %lld; that is too large",
                          (long long)o->stride);
    return SHOAL_OK;
}

static shoal_status check_enums(shoal_context *ctx, const shoal_smallsym_opts *o) {
    const struct {
        const char *name;
        int value;
        const char *words;
    } enums[] = {
        { "type", (int)o->type, "SHOAL_F64 or SHOAL_F32" },
        { "layout", (int)o->layout, "SHOAL_SYSTEM_MAJOR or SHOAL_INTERLEAVED" },
        { "storage", (int)o->storage, "SHOAL_FULL or SHOAL_PACKED" },
        { "triangle", (int)o->triangle, "SHOAL_LOWER or SHOAL_UPPER" },
        { "estimate", o->estimate, "0 or 1" },
        { "gram", o->gram, "0 or 1" },
    };
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (enums[i].value != 0 && enums[i].value != 1)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is %d; it must be %s", enums[i].name,
                              enums[i].value, enums[i].words);
    if (o->team < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "team is %d; it must not be negative", o->team);
    if (o->refine < 0 || o->refine > 100)
        return shoal_fail(ctx, SHOAL_E_ARG, "refine is %d; it must be 0 to 100", o->refine);
    if (!(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    if (isnan(o->cond))
        return shoal_fail(ctx, SHOAL_E_ARG, "cond is %g; it must be a number", o->cond);
    return SHOAL_OK;
}

shoal_status shoal_smallsym_check_sizes(shoal_context *ctx, const shoal_smallsym_opts *o) {
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "opts is NULL");
    shoal_status status = check_enums(ctx, o);
    if (status == SHOAL_OK) status = check_group(ctx, o, "", o->n, o->count);
    if (status == SHOAL_OK) status = check_strides(ctx, o);
    if (status != SHOAL_OK) return status;
    if (o->nrhs == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "nrhs is 0; there must be a right-hand side");
    if (o->group_count < 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "group_count is %lld; it must not be negative",
                          (long long)o->group_count);
    if (!o->groups && o->group_count)
        return shoal_fail(ctx, SHOAL_E_ARG, "groups is NULL, but group_count is %lld",
                          (long long)o->group_count);
    if (o->groups && (o->n || o->count))
        return shoal_fail(ctx, SHOAL_E_ARG, "n and count must be 0 where groups are given");
    int64_t systems = 0;
    for (int64_t g = 0; g < (o->groups ? o->group_count : 0) && status == SHOAL_OK; g++) {
        char of[40];
        snprintf(of, sizeof of, "groups[%lld].", (long long)g);
        status = check_group(ctx, o, of, o->groups[g].n, o->groups[g].count);
        if (status == SHOAL_OK && o->groups[g].count > INT64_MAX / 64 - systems)
            status = shoal_fail(ctx, SHOAL_E_ARG, "groups: too many systems");
        systems += o->groups[g].count;
    }
    return status;
}

smallsym_shape shoal_smallsym_shape(const shoal_smallsym_opts *o, int64_t n, int64_t count) {
    const int interleaved = o->layout == SHOAL_INTERLEAVED;
    const int64_t one = interleaved ? count : 1, ld = o->ld ? o->ld : n;
    const int upper = o->triangle == SHOAL_UPPER;
    smallsym_shape s = { .n = n, .packed = o->storage == SHOAL_PACKED, .upper = upper };
    s.row = (upper ? 1 : ld) * one; /* A(i,j) of the lower triangle is A(j,i) of the upper one */
    s.column = (upper && !s.packed ? ld : 1) * one;
    s.system = interleaved ? 1 : s.packed ? n * (n + 1) / 2 : o->stride ? o->stride : ld * n;
    return s;
}

/* Numbers of A in a group, holes included: where the next group begins. */
static int64_t group_numbers(const shoal_smallsym_opts *o, const smallsym_job *job) {
    if (job->a.packed) return job->n * (job->n + 1) / 2 * job->count;
    return o->layout == SHOAL_INTERLEAVED ? (o->ld ? o->ld : job->n) * job->n * job->count
                                          : job->a.system * job->count;
}

/* ---- plans ------------------------------------------------------------------------------------ */

/* The two methods of "auto"; its variants are the words of the first one. */
static shoal_status choose_auto(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    const char *first = o->variant && *o->variant ? o->variant : first_of_auto[0];
    if (strcmp(first, first_of_auto[0]) != 0 && strcmp(first, first_of_auto[1]) != 0)
        return shoal_fail(plan->ctx, SHOAL_E_METHOD, "variant: '%s'; auto has '%s' and '%s'", first,
                          first_of_auto[0], first_of_auto[1]);
    shoal_status status =
        shoal_choose(plan->ctx, &shoal_smallsym_module, first, NULL, o->type, &plan->first);
    if (status == SHOAL_OK)
        status =
            shoal_choose(plan->ctx, &shoal_smallsym_module, "eigdc", NULL, o->type, &plan->rescue);
    plan->eigen = plan->rescue;
    plan->method_name = "auto", plan->variant_name = plan->first.name;
    return status;
}

static shoal_status choose_one(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    shoal_status status = shoal_choose(plan->ctx, &shoal_smallsym_module, o->method, o->variant,
                                       o->type, &plan->first);
    plan->method_name = plan->first.name, plan->variant_name = plan->first.variant_name;
    if (status == SHOAL_OK && strcmp(plan->first.name, "eigdc") == 0) plan->eigen = plan->first;
    return status;
}

static shoal_status choose_methods(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    shoal_context *ctx = plan->ctx;
    plan->driver = ctx->ops ? driver.cuda[o->type] : driver.cpu[o->type][ctx->level];
    const int automatic = !o->method || !*o->method || strcmp(o->method, "auto") == 0;
    shoal_status status = automatic ? choose_auto(plan, o) : choose_one(plan, o);
    if (status != SHOAL_OK || !ctx->ops || !(o->refine || o->estimate)) return status;
    const char *first = plan->first.name;
    if (strcmp(first, "hhpcr") == 0 || strcmp(first, "eigdc") == 0)
        return shoal_fail(ctx, SHOAL_E_METHOD, "%s: '%s' does not have it on the cuda backend",
                          o->refine ? "refine" : "estimate", first);
    return SHOAL_OK;
}

static smallsym_job job_of(const shoal_smallsym *plan, const shoal_smallsym_opts *o, int64_t n,
                           int64_t count) {
    const int interleaved = o->layout == SHOAL_INTERLEAVED;
    const double roundoff = o->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    return (smallsym_job){
        .n = n,
        .count = count,
        .nrhs = o->nrhs,
        .a = shoal_smallsym_shape(o, n, count),
        .b_system = interleaved ? 1 : n,
        .b_row = interleaved ? count : 1,
        .first_row = plan->first.row,
        .rescue_row = plan->rescue.cell ? plan->rescue.row : -1,
        .team = o->team,
        .refine = o->refine,
        .estimate = o->estimate,
        .iterate = plan->rescue.cell && strcmp(plan->first.name, "ldlt") == 0,
        .tol = o->tol > 0 ? o->tol : 9 * (double)(n ? n : 1) * roundoff,
        .cond = o->cond > 0            ? o->cond
                : o->type == SHOAL_F32 ? 1e5
                                       : 1e12,
    };
}

static shoal_status make_jobs(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    const shoal_group one = { o->n, o->count };
    const shoal_group *groups = o->groups ? o->groups : &one;
    plan->job_count = o->groups ? o->group_count : 1;
    plan->jobs = calloc(plan->job_count ? (size_t)plan->job_count : 1, sizeof *plan->jobs);
    if (!plan->jobs) return shoal_fail(plan->ctx, SHOAL_E_NOMEM, "no memory for a plan");
    int64_t a = 0, b = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        smallsym_job job = job_of(plan, o, groups[g].n, groups[g].count);
        if (plan->ctx->ops && job.n > SMALLSYM_MOST_CUDA)
            return shoal_fail(plan->ctx, SHOAL_E_ARG,
                              "n is %lld; the cuda backend takes systems of at most %d unknowns",
                              (long long)job.n, SMALLSYM_MOST_CUDA);
        job.a_offset = a, job.b_offset = b, job.first = plan->systems;
        a += group_numbers(o, &job);
        b += job.n * job.count * job.nrhs;
        plan->systems += job.count;
        plan->jobs[g] = job;
    }
    return SHOAL_OK;
}

shoal_status shoal_smallsym_create(shoal_context *ctx, const shoal_smallsym_opts *opts,
                                   shoal_smallsym **result) {
    if (!result) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "plan is NULL") : SHOAL_E_ARG;
    *result = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) status = shoal_smallsym_check_sizes(ctx, opts);
    if (status != SHOAL_OK) return status;
    shoal_smallsym *plan = calloc(1, sizeof *plan);
    if (!plan) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a plan");
    plan->ctx = ctx;
    plan->type = opts->type;
    status = choose_methods(plan, opts);
    if (status == SHOAL_OK) status = make_jobs(plan, opts);
    if (status == SHOAL_OK && plan->systems) {
        plan->bytes = plan->driver->bytes(plan);
        if (opts->gram) shoal_smallsym_reserve_gram(plan);
        status = shoal_alloc(ctx, plan->bytes, &plan->work);
    }
    if (status == SHOAL_OK)
        *result = plan;
    else
        shoal_smallsym_free(plan);
    return status;
}

void shoal_smallsym_free(shoal_smallsym *plan) {
    if (!plan) return;
    shoal_free(plan->ctx, plan->work);
    free(plan->jobs);
    free(plan);
}

shoal_status shoal_smallsym_outcome(shoal_smallsym *plan, const shoal_outcome *where) {
    if (!plan) return SHOAL_E_ARG;
    static const shoal_outcome off;
    if (!where) where = &off;
    const shoal_status status =
        shoal_check_outcome(plan->ctx, where, "smallsym",
                            SHOAL_FILLS_RESIDUAL | SHOAL_FILLS_RCOND | SHOAL_FILLS_INERTIA);
    if (status == SHOAL_OK) plan->where = *where;
    return status;
}

/* ---- calls ------------------------------------------------------------------------------------ */

shoal_outcome shoal_smallsym_outcome_from(const shoal_outcome *all, int64_t first) {
    return (shoal_outcome){
        .status = all->status ? all->status + first : NULL,
        .residual = all->residual ? all->residual + first : NULL,
        .rcond = all->rcond ? all->rcond + first : NULL,
        .rank = all->rank ? all->rank + first : NULL,
        .inertia = all->inertia ? all->inertia + 3 * first : NULL,
        .method = all->method ? all->method + first : NULL,
    };
}

static shoal_status solve(shoal_smallsym *plan, shoal_type type, const void *A, const void *b,
                          void *x) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->ctx;
    const int single = plan->type == SHOAL_F32;
    if (type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s",
                          single ? "float" : "double",
                          single ? "shoal_smallsym_solvef" : "shoal_smallsym_solve");
    if (!plan->systems) return SHOAL_OK;
    shoal_status status = shoal_ready(ctx);
    int64_t numbers = 0;
    for (int64_t g = 0; g < plan->job_count; g++) numbers += plan->jobs[g].n * plan->jobs[g].count;
    const struct {
        const char *name;
        const void *array;
    } arrays[] = { { "A", A }, { "b", b }, { "x", x } };
    for (int i = 0; i < 3 && status == SHOAL_OK && numbers > 0; i++)
        status = shoal_check_array(ctx, arrays[i].array, arrays[i].name);
    if (status != SHOAL_OK) return status;
    plan->stream = ctx->stream;
    plan->called = 0, plan->solved = 1;
    status = plan->driver->begin(plan);
    const size_t size = single ? sizeof(float) : sizeof(double);
    for (int64_t g = 0; g < plan->job_count && status == SHOAL_OK; g++) {
        smallsym_job job = plan->jobs[g];
        if (job.count == 0) continue;
        if (job.n > 0) {
            job.A = (const char *)A + (size_t)job.a_offset * size;
            job.b = (const char *)b + (size_t)job.b_offset * size;
            job.x = (char *)x + (size_t)job.b_offset * size;
        }
        job.where = shoal_smallsym_outcome_from(&plan->where, job.first);
        job.work = plan->work;
        plan->judged = smallsym_judged(&job);
        status = plan->driver->run(plan, &job);
    }
    plan->called = status == SHOAL_OK;
    return status;
}

shoal_status shoal_smallsym_solve(shoal_smallsym *plan, const double *A, const double *b,
                                  double *x) {
    return solve(plan, SHOAL_F64, A, b, x);
}

shoal_status shoal_smallsym_solvef(shoal_smallsym *plan, const float *A, const float *b, float *x) {
    return solve(plan, SHOAL_F32, A, b, x);
}

shoal_status shoal_smallsym_last(shoal_smallsym *plan, shoal_smallsym_info *info) {
    if (!plan) return SHOAL_E_ARG;
    if (!info) return shoal_fail(plan->ctx, SHOAL_E_ARG, "info is NULL");
    *info = (shoal_smallsym_info){ .method = plan->method_name,
                                   .variant = plan->variant_name,
                                   .max_residual = -1,
                                   .bytes = plan->bytes };
    if (!plan->called) return SHOAL_OK;
    void *current = plan->ctx->stream;
    plan->ctx->stream = plan->stream;
    smallsym_totals totals;
    shoal_status status = shoal_wait(plan->ctx);
    if (status == SHOAL_OK) status = plan->driver->total(plan, &totals);
    plan->ctx->stream = current;
    if (status != SHOAL_OK) return status;
    info->failed = (int64_t)totals.failed;
    info->warned = (int64_t)totals.warned;
    info->redone = (int64_t)totals.redone;
    if (plan->judged) memcpy(&info->max_residual, &totals.max_residual, sizeof(float));
    return SHOAL_OK;
}
