/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - the public functions of smallsym.h, their argument checks, and the method table.
 *
 * "auto" is the paper's answer to an unknown family (its introduction and section 6): a fast method for
 * all systems, a look at each residual and condition number, ldltp with refinement for those that it does
 * not answer well, and eigdc where that does not converge. The fast method is ldlt or, variant "hhpcr", the
 * paper's.
 */
#include "core/staged.h"
#include "smallsym/plan.h"
#include <math.h>
#include <stdio.h>
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
#define CELLS(name)                                                                                \
    .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name), .max_n_cuda = SMALLSYM_MOST_CUDA

static const shoal_method methods[] = {
    { .name = "ldlt", CELLS(smallsym_ldlt),
      .flags = SHOAL_CAN_FACTOR | SHOAL_CAN_REFINE,
      .variants = { [LDLT_TEAM] = { "team", SHOAL_ON_BOTH | SMALLSYM_CAN_FORM },
                    [LDLT_SIMD] = { "simd", SHOAL_ON_PAPER },
                    [LDLT_COOP] = { "coop", SHOAL_ON_PAPER },
                    [LDLT_HYBRID] = { "hybrid", SHOAL_ON_PAPER | SHOAL_CAN_TEAM } } },
    { .name = "ldltp", CELLS(smallsym_ldltp), .flags = SHOAL_CAN_PIVOT | SHOAL_CAN_REFINE },
    { .name = "hhpcr", CELLS(smallsym_hhpcr), .flags = SHOAL_CAN_STAGES,
      .variants = { [HHPCR_REFLECT] = { "reflect", SHOAL_ON_BOTH },
                    [HHPCR_FORMED] = { "formed", SHOAL_ON_CPU | SHOAL_ON_PAPER },
                    [HHPCR_SIMD] = { "simd", SHOAL_ON_PAPER },
                    [HHPCR_COOP] = { "coop", SHOAL_ON_PAPER },
                    [HHPCR_HYBRID] = { "hybrid", SHOAL_ON_PAPER | SHOAL_CAN_TEAM } } },
    { .name = "eigdc", CELLS(smallsym_eigdc),
      .flags = SHOAL_CAN_PIVOT | SHOAL_CAN_TRUNCATE | SHOAL_CAN_EIGEN,
      .variants = { [EIGDC_MIDDLE] = { "middle", SHOAL_ON_BOTH },
                    [EIGDC_GRAGG] = { "gragg", SHOAL_ON_BOTH } } },
};

/* Its variants are the method that it begins with; ldltp comes next, and eigdc last. */
static const shoal_method automatic = {
    .name = "auto",
    .flags = SHOAL_CAN_PIVOT | SHOAL_CAN_TRUNCATE | SHOAL_CAN_EIGEN,
    .variants = { { "ldlt", SHOAL_ON_BOTH | SHOAL_CAN_REFINE }, { "hhpcr", SHOAL_ON_BOTH } }
};

static const shoal_method driver = { .name = "batch", CELLS(smallsym_batch) };
/* clang-format on */

const shoal_module shoal_smallsym_module = { "smallsym", methods, sizeof methods / sizeof *methods,
                                             &automatic };

/* ---- sizes ------------------------------------------------------------------------------------ */

/* `of` goes before n and count in a message: "groups[3].", or "" where there are no groups. */
static shoal_status check_group(shoal_context *ctx, const shoal_smallsym_opts *o, const char *of,
                                int64_t n, int64_t count) {
    const shoal_size sizes[] = { { "n", n }, { "n", n }, { "count", count }, { "nrhs", o->nrhs } };
    return shoal_check_sizes(ctx, of, sizeof(double), sizes, 4);
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
    const size_t most = ((size_t)PTRDIFF_MAX >> 13) / sizeof(double);
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

static shoal_status check_options(shoal_context *ctx, const shoal_smallsym_opts *o) {
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o),
                                 SHOAL_LAYOUT_FLAG(o),
                                 SHOAL_STORAGE_FLAG(o),
                                 SHOAL_TRIANGLE_FLAG(o),
                                 SHOAL_FLAG("estimate", o->estimate),
                                 SHOAL_FLAG("gram", o->gram),
                                 SHOAL_FLAG("waits", o->waits),
                                 SHOAL_FLAG("replays", o->replays),
                                 SHOAL_FLAG("rule", o->rule) };
    shoal_status status = shoal_check_flags(ctx, flags, 9);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "team", o->team, 0, INT64_MAX);
    if (status == SHOAL_OK) status = shoal_check_count(ctx, "refine", o->refine, 0, 100);
    if (status != SHOAL_OK) return status;
    if (!(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    if (isnan(o->cond))
        return shoal_fail(ctx, SHOAL_E_ARG, "cond is %g; it must be a number", o->cond);
    return SHOAL_OK;
}

shoal_status shoal_smallsym_check_sizes(shoal_context *ctx, const shoal_smallsym_opts *o) {
    shoal_status status = check_options(ctx, o);
    if (status == SHOAL_OK) status = check_group(ctx, o, "", o->n, o->count);
    if (status == SHOAL_OK) status = check_strides(ctx, o);
    if (status != SHOAL_OK) return status;
    if (o->nrhs == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "nrhs is 0; there must be a right-hand side");
    status = shoal_check_count(ctx, "group_count", o->group_count, 0, INT64_MAX);
    if (status != SHOAL_OK) return status;
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
    const shoal_variant *v = automatic.variants;
    const char *first = o->variant && *o->variant ? o->variant : v[0].name;
    if (strcmp(first, v[0].name) != 0 && strcmp(first, v[1].name) != 0)
        return shoal_fail(plan->head.ctx, SHOAL_E_METHOD, "variant: '%s'; auto has '%s' and '%s'",
                          first, v[0].name, v[1].name);
    shoal_status status =
        shoal_choose(plan->head.ctx, &shoal_smallsym_module, first, NULL, o->type, &plan->first);
    if (status == SHOAL_OK)
        status = shoal_choose(plan->head.ctx, &shoal_smallsym_module, "ldltp", NULL, o->type,
                              &plan->middle);
    if (status == SHOAL_OK)
        status = shoal_choose(plan->head.ctx, &shoal_smallsym_module, "eigdc", NULL, o->type,
                              &plan->rescue);
    plan->eigen = plan->rescue;
    plan->method_name = "auto", plan->variant_name = plan->first.name;
    return status;
}

static shoal_status choose_one(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    shoal_status status = shoal_choose(plan->head.ctx, &shoal_smallsym_module, o->method,
                                       o->variant, o->type, &plan->first);
    plan->method_name = plan->first.name, plan->variant_name = plan->first.variant_name;
    if (status == SHOAL_OK && plan->first.flags & SHOAL_CAN_EIGEN) plan->eigen = plan->first;
    return status;
}

static shoal_status choose_methods(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    shoal_context *ctx = plan->head.ctx;
    plan->driver = shoal_cell(ctx, &driver, o->type);
    const shoal_status status =
        shoal_is_auto(o->method) ? choose_auto(plan, o) : choose_one(plan, o);
    if (status != SHOAL_OK || !ctx->ops || !(o->refine || o->estimate)) return status;
    if (!(plan->first.flags & SHOAL_CAN_REFINE))
        return shoal_fail(
            ctx, SHOAL_E_METHOD,
            "%s: '%s' cannot %s on the cuda backend; use 'ldlt' or 'ldltp', or the cpu backend",
            o->refine ? "refine" : "estimate", plan->first.name,
            o->refine ? "refine" : "estimate a condition number");
    return SHOAL_OK;
}

/* The condition number beyond which a system has a warning, or loses eigenvalues. An explicit method
 * answers what its precision can; max(n, 64) units of roundoff are what a singular matrix leaves. */
static double cond_of(const shoal_smallsym *plan, const shoal_smallsym_opts *o, int64_t n) {
    if (o->cond > 0) return o->cond;
    if (plan->eigen.cell) return o->type == SHOAL_F32 ? 1e5 : 1e12;
    return 2 / shoal_epsilon(o->type) / (double)(n > 64 ? n : 64);
}

static smallsym_job job_of(const shoal_smallsym *plan, const shoal_smallsym_opts *o, int64_t n,
                           int64_t count) {
    const int interleaved = o->layout == SHOAL_INTERLEAVED;
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
        .by_residue = plan->rescue.cell && o->rule == SHOAL_RULE_RESIDUE,
        .tol = o->tol > 0 ? o->tol : 9 * (double)(n ? n : 1) * shoal_epsilon(o->type),
        .cond = cond_of(plan, o, n),
    };
}

static shoal_status make_jobs(shoal_smallsym *plan, const shoal_smallsym_opts *o) {
    const shoal_group one = { o->n, o->count };
    const shoal_group *groups = o->groups ? o->groups : &one;
    plan->job_count = o->groups ? o->group_count : 1;
    const shoal_status status =
        shoal_plan_host(&plan->head, plan->job_count, sizeof *plan->jobs, &plan->jobs);
    if (status != SHOAL_OK) return status;
    int64_t a = 0, row = 0, e = 0, q = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        smallsym_job job = job_of(plan, o, groups[g].n, groups[g].count);
        if (plan->first.max_n && job.n > plan->first.max_n)
            return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                              "n is %lld; the cuda backend takes systems of at most %lld unknowns",
                              (long long)job.n, (long long)plan->first.max_n);
        job.a_offset = a, job.first = plan->systems;
        job.row_offset = row, job.e_offset = e, job.q_offset = q;
        a += group_numbers(o, &job);
        row += job.n * job.count, q += job.n * job.n * job.count;
        e += (job.n > 0 ? job.n - 1 : 0) * job.count;
        plan->systems += job.count;
        plan->jobs[g] = job;
    }
    return SHOAL_OK;
}

static shoal_status fill_plan(shoal_smallsym *plan, const shoal_smallsym_opts *opts) {
    plan->head.type = opts->type;
    shoal_status status = choose_methods(plan, opts);
    if (status == SHOAL_OK) status = make_jobs(plan, opts);
    if (status != SHOAL_OK || !plan->systems) return status;
    status = shoal_plan_alloc(&plan->head, plan->driver->bytes(plan), &plan->work);
    plan->totals = plan->work;
    plan->gram = opts->gram;
    plan->waits = opts->waits && plan->head.ctx->ops;
    plan->replays = opts->replays || opts->waits;
    if (status == SHOAL_OK && plan->waits)
        status = shoal_plan_pinned(&plan->head, sizeof *plan->told, &plan->told);
    if (status != SHOAL_OK || !plan->gram) return status;
    return shoal_plan_alloc(&plan->head, plan->driver->form_bytes(plan), &plan->gram_work);
}

/* ---- host arrays (the calls: smallsym_calls.c) -------------------------------------------------- */

static shoal_status create_piece(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_smallsym_opts o = *(const shoal_smallsym_opts *)opts;
    shoal_smallsym *made;
    o.count = count;
    if (o.layout != SHOAL_INTERLEAVED) o.ld = o.stride = 0; /* the pieces are without gaps */
    const shoal_status status = shoal_smallsym_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_piece(void *plan, void *sum) {
    const shoal_smallsym_info before = *(shoal_smallsym_info *)sum;
    shoal_smallsym_info *info = sum;
    const shoal_status status = shoal_smallsym_last(plan, info);
    info->failed += before.failed, info->warned += before.warned, info->redone += before.redone;
    if (before.method && (isnan(before.max_residual) || before.max_residual > info->max_residual))
        info->max_residual = before.max_residual;
    return status;
}

static const shoal_staged_kind pieces = { sizeof(shoal_smallsym_opts), sizeof(shoal_smallsym_info),
                                          create_piece, add_piece };

static shoal_status stage_plan(shoal_smallsym *plan, const shoal_smallsym_opts *opts) {
    shoal_smallsym_opts kept = *opts;
    kept.waits = kept.replays = 0; /* the call itself waits; its pieces must not */
    plan->head.type = opts->type;
    shoal_status status = shoal_staged_refuse(&plan->head, opts->groups != NULL, "groups");
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.method);
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.variant);
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &pieces, &kept, opts->count)
                              : status;
}

/* ------------------------------------------------------------------------------------------------ */

shoal_status shoal_smallsym_create(shoal_context *ctx, const shoal_smallsym_opts *opts,
                                   shoal_smallsym **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status != SHOAL_OK) return status;
    status = shoal_smallsym_check_sizes(ctx, opts);
    if (status == SHOAL_OK)
        status = shoal_is_staging(ctx) ? stage_plan(*result, opts) : fill_plan(*result, opts);
    return shoal_plan_made(status, result);
}

void shoal_smallsym_free(shoal_smallsym *plan) { shoal_plan_free(plan); }

shoal_status shoal_smallsym_outcome(shoal_smallsym *plan, const shoal_outcome *where) {
    const int filled = SHOAL_FILLS_RESIDUAL | SHOAL_FILLS_RCOND | SHOAL_FILLS_INERTIA;
    return plan ? shoal_plan_outcome(&plan->head, where, "smallsym", filled, &plan->where)
                : SHOAL_E_ARG;
}

/* ---- after a call ----------------------------------------------------------------------------- */

shoal_status shoal_smallsym_last(shoal_smallsym *plan, shoal_smallsym_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        *info = *(const shoal_smallsym_info *)shoal_staged_info(&plan->head);
        return SHOAL_OK;
    }
    *info = (shoal_smallsym_info){ .method = plan->method_name,
                                   .variant = plan->variant_name,
                                   .max_residual = -1,
                                   .tol = plan->job_count > 0 ? plan->jobs->tol : 0,
                                   .cond = plan->job_count > 0 ? plan->jobs->cond : 0,
                                   .bytes = plan->head.bytes };
    if (!plan->head.called) return SHOAL_OK;
    void *current;
    smallsym_totals totals;
    status = shoal_plan_return_to(&plan->head, &current); /* total() waits */
    if (status == SHOAL_OK) status = plan->driver->total(plan, &totals);
    shoal_plan_return(&plan->head, current, status);
    if (status != SHOAL_OK) return status;
    info->failed = (int64_t)totals.failed;
    info->warned = (int64_t)totals.warned;
    info->redone = (int64_t)totals.redone;
    if (plan->judged) memcpy(&info->max_residual, &totals.max_residual, sizeof(float));
    return SHOAL_OK;
}

/* The paper's introduction keeps to the method that the last call needed. With s the share of systems
 * that eigdc answered, "auto" costs first + s rescue. The rescue costs at least ten times the first method:
 * it alone is cheaper only if it answers nearly all. If none is redone, the first alone saves the residuals. */
static const double NEARLY_ALL = 0.9;

/* From now on `choice` alone. */
static void fix(shoal_smallsym *plan, shoal_choice choice) {
    plan->first = choice;
    plan->middle.cell = plan->rescue.cell = NULL;
    plan->method_name = choice.name, plan->variant_name = choice.variant_name;
    plan->head.called = 0; /* what the last call did was done by another method */
    for (int64_t g = 0; g < plan->job_count; g++) {
        plan->jobs[g].first_row = choice.row;
        plan->jobs[g].rescue_row = -1, plan->jobs[g].by_residue = 0;
    }
}

shoal_status shoal_smallsym_learn(shoal_smallsym *plan) {
    if (!plan) return SHOAL_E_ARG;
    if (!plan->rescue.cell) return SHOAL_OK;
    if (!plan->head.called || !plan->solved)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "plan: nothing was solved by it yet");
    shoal_smallsym_info info;
    smallsym_totals totals;
    shoal_status status = shoal_smallsym_last(plan, &info);
    if (status == SHOAL_OK) status = plan->driver->total(plan, &totals);
    if (status != SHOAL_OK) return status;
    /* which eigdc is not on a GPU: its systems go on being redone */
    const int careful = plan->head.ctx->ops && (plan->jobs[0].refine || plan->jobs[0].estimate);
    if (info.redone == 0)
        fix(plan, plan->first);
    else if ((double)totals.rescued > NEARLY_ALL * (double)plan->systems && !careful)
        fix(plan, plan->rescue);
    return SHOAL_OK;
}
