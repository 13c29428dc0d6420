/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - the public functions of recur.h, their argument checks, and the method table.
 *
 * "auto" looks at what all segments share, never at their number, so that a segment has the same
 * bits alone and in a batch. It is lookback, but for two cases: interleaved segments of at most
 * LONGEST_ALONE rows on CUDA, where neighbouring threads that walk through a segment each read
 * whole lines, and what is not a linear recurrence of order 1 on the CPU, where joining maps costs
 * more than it saves on a few cores.
 */
#include "core/parts.h"
#include "recur/plan.h"
#include <stdlib.h>
#include <string.h>

enum { LONGEST_ALONE = 1024 };

SHOAL_DECLARE_CPU(recur_driver, recur_batch)
SHOAL_DECLARE_CUDA(recur_driver, recur_batch)

#define DECLARE(name) SHOAL_DECLARE_CPU(recur_method, name) SHOAL_DECLARE_CUDA(recur_method, name)
DECLARE(recur_serial)
DECLARE(recur_lookback)
DECLARE(recur_pscheme)
DECLARE(recur_pcr)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "serial", CELLS(recur_serial) },
    { .name = "lookback", CELLS(recur_lookback) },
    { .name = "pscheme", CELLS(recur_pscheme),
      .variants = { [PSCHEME_BLOCKED] = { "blocked", SHOAL_ON_BOTH },
                    [PSCHEME_REARRANGED] = { "rearranged", SHOAL_ON_BOTH } } },
    { .name = "pcr", CELLS(recur_pcr) },
};

static const shoal_method driver = { .name = "batch", CELLS(recur_batch) };
/* clang-format on */

const shoal_module shoal_recur_module = { "recur", methods, sizeof methods / sizeof *methods,
                                          shoal_auto_alone };

static int order_of(const shoal_recur_opts *o) { return o->order ? o->order : 1; }

static int width_of(const shoal_recur_opts *o) {
    return o->form == SHOAL_RECUR_MOEBIUS ? 4 : order_of(o);
}

static shoal_status check_sizes(shoal_context *ctx, const shoal_recur_opts *o) {
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = { { "n", o->n }, { "count", o->count } };
    const size_t most = (size_t)PTRDIFF_MAX >> 13; /* so that no workspace size overflows either */
    size_t bytes = 4 * sizeof(double);
    for (int i = 0; i < 2; i++) {
        if (sizes[i].value < 0)
            return shoal_fail(ctx, SHOAL_E_ARG, "%s is %lld; it must not be negative",
                              sizes[i].name, (long long)sizes[i].value);
        size_t factor = sizes[i].value > 0 ? (size_t)sizes[i].value : 1;
        if (bytes > most / factor)
            return shoal_fail(ctx, SHOAL_E_ARG, "n * count = %lld * %lld is too large%s",
                              (long long)o->n, (long long)o->count,
                              o->n && o->count ? "" : " (0 counts as 1)");
        bytes *= factor;
    }
    return SHOAL_OK;
}

shoal_status shoal_recur_check_shape(shoal_context *ctx, const shoal_recur_opts *o) {
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "opts is NULL");
    shoal_status status = check_sizes(ctx, o);
    if (status != SHOAL_OK) return status;
    if (o->order < 0 || o->order > SHOAL_RECUR_ORDERS)
        return shoal_fail(ctx, SHOAL_E_ARG, "order is %d; it must be 1 to %d", o->order,
                          SHOAL_RECUR_ORDERS);
    if (o->form != SHOAL_RECUR_LINEAR && o->form != SHOAL_RECUR_MOEBIUS)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "form is %d; it must be SHOAL_RECUR_LINEAR or SHOAL_RECUR_MOEBIUS",
                          o->form);
    if (o->form == SHOAL_RECUR_MOEBIUS && order_of(o) != 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "order is %d; the Moebius recurrence has order 1",
                          o->order);
    if (o->type != SHOAL_F64 && o->type != SHOAL_F32)
        return shoal_fail(ctx, SHOAL_E_ARG, "type is %d; it must be SHOAL_F64 or SHOAL_F32",
                          o->type);
    if (o->layout != SHOAL_SYSTEM_MAJOR && o->layout != SHOAL_INTERLEAVED)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "layout is %d; it must be SHOAL_SYSTEM_MAJOR or SHOAL_INTERLEAVED",
                          o->layout);
    if ((int)o->last_phase < 0 || o->last_phase > SHOAL_RECUR_DETERMINATION)
        return shoal_fail(ctx, SHOAL_E_ARG, "last_phase is %d; it must be 0 to %d",
                          (int)o->last_phase, SHOAL_RECUR_DETERMINATION);
    return shoal_check_parts(ctx, o->threads, o->groups);
}

static shoal_status choose_method(shoal_recur *plan, const shoal_recur_opts *o) {
    shoal_context *ctx = plan->ctx;
    const int automatic = !o->method || !*o->method || strcmp(o->method, "auto") == 0;
    const int simple = o->form == SHOAL_RECUR_LINEAR && order_of(o) == 1;
    const int alone = ctx->ops ? o->layout == SHOAL_INTERLEAVED && o->n <= LONGEST_ALONE : !simple;
    if (automatic && o->variant && *o->variant)
        return shoal_fail(ctx, SHOAL_E_METHOD, "variant: '%s' needs a method; auto has no variants",
                          o->variant);
    const char *method = !automatic ? o->method : alone ? "serial" : "lookback";
    plan->driver = ctx->ops ? driver.cuda[o->type] : driver.cpu[o->type][ctx->level];
    shoal_status status =
        shoal_choose(ctx, &shoal_recur_module, method, o->variant, o->type, &plan->chosen);
    if (status == SHOAL_OK && !simple && strcmp(plan->chosen.name, "pcr") == 0)
        return shoal_fail(ctx, SHOAL_E_METHOD,
                          "method: pcr serves linear recurrences of order 1 alone");
    if (status == SHOAL_OK && o->last_phase && strcmp(plan->chosen.name, "pscheme") != 0)
        return shoal_fail(ctx, SHOAL_E_METHOD, "last_phase is %d; %s has no phases",
                          (int)o->last_phase, plan->chosen.name);
    return status;
}

static void choose_parts(shoal_recur *plan, const shoal_recur_opts *o) {
    const shoal_parts p = shoal_choose_parts(plan->ctx, o->n, o->threads, o->groups);
    plan->job.threads = p.threads;
    plan->job.groups = p.groups;
    plan->job.parts = p.parts;
    plan->job.last_phase = (int)o->last_phase;
}

static recur_job job_for(const shoal_recur_opts *o, int method_row) {
    const int interleaved = o->layout == SHOAL_INTERLEAVED, down = o->reverse && o->n > 0;
    const int64_t row = interleaved ? o->count : 1;
    return (recur_job){
        .n = o->n,
        .count = o->count,
        .shape = o->form == SHOAL_RECUR_MOEBIUS ? SHAPE_MOEBIUS : order_of(o),
        .order = order_of(o),
        .width = width_of(o),
        .constant_s = o->constant_s != 0,
        .constant_t = o->constant_t != 0,
        .interleaved = interleaved,
        .segment = interleaved ? 1 : o->n,
        .origin = down ? (o->n - 1) * row : 0,
        .row = down ? -row : row,
        .method_row = method_row,
    };
}

static int nothing_to_do(const recur_job *job) { return job->count == 0; }

static shoal_status allocate(shoal_recur *plan) {
    shoal_context *ctx = plan->ctx;
    size_t segments = (size_t)plan->job.count * sizeof(int32_t);
    plan->bytes = plan->driver->bytes(plan);
    shoal_status status = shoal_alloc(ctx, plan->bytes, &plan->job.work);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, segments, (void **)&plan->own_status);
    plan->bytes += segments;
    return status;
}

shoal_status shoal_recur_create(shoal_context *ctx, const shoal_recur_opts *opts,
                                shoal_recur **result) {
    if (!result) return ctx ? shoal_fail(ctx, SHOAL_E_ARG, "plan is NULL") : SHOAL_E_ARG;
    *result = NULL;
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK) status = shoal_recur_check_shape(ctx, opts);
    if (status != SHOAL_OK) return status;
    shoal_recur *plan = calloc(1, sizeof *plan);
    if (!plan) return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for a plan");
    plan->ctx = ctx;
    plan->type = opts->type;
    status = choose_method(plan, opts);
    if (status == SHOAL_OK) {
        plan->job = job_for(opts, plan->chosen.row);
        if (strcmp(plan->chosen.name, "pscheme") == 0) choose_parts(plan, opts);
        if (!nothing_to_do(&plan->job)) status = allocate(plan);
    }
    if (status == SHOAL_OK)
        *result = plan;
    else
        shoal_recur_free(plan);
    return status;
}

void shoal_recur_free(shoal_recur *plan) {
    if (!plan) return;
    shoal_free(plan->ctx, plan->job.work);
    shoal_free(plan->ctx, plan->own_status);
    free(plan);
}

shoal_status shoal_recur_outcome(shoal_recur *plan, const shoal_outcome *where) {
    if (!plan) return SHOAL_E_ARG;
    static const shoal_outcome off;
    if (!where) where = &off;
    const shoal_status status = shoal_check_outcome(plan->ctx, where, "recur", 0);
    if (status == SHOAL_OK) plan->where = *where;
    return status;
}

static shoal_status solve(shoal_recur *plan, shoal_type type, const void *s, const void *t,
                          const void *w0, void *w) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->ctx;
    const int moebius = plan->job.shape == SHAPE_MOEBIUS;
    if (type != plan->type)
        return shoal_fail(ctx, SHOAL_E_TYPE, "the plan is for %s: call %s",
                          plan->type == SHOAL_F32 ? "float" : "double",
                          plan->type == SHOAL_F32 ? "shoal_recur_solvef" : "shoal_recur_solve");
    if (nothing_to_do(&plan->job)) return SHOAL_OK;
    shoal_status status = shoal_ready(ctx);
    const struct {
        const char *name;
        const void *array;
        int wanted;
    } arrays[] = { { "s", s, 1 }, { "t", t, !moebius }, { "w0", w0, w0 != NULL }, { "w", w, 1 } };
    for (int i = 0; i < 4 && status == SHOAL_OK && plan->job.n > 0; i++)
        if (arrays[i].wanted) status = shoal_check_array(ctx, arrays[i].array, arrays[i].name);
    if (status == SHOAL_OK && plan->job.constant_t && w == t && !moebius && plan->job.n > 0)
        status = shoal_fail(ctx, SHOAL_E_ARG, "w is t, which holds one number a segment");
    if (status != SHOAL_OK) return status;
    recur_job job = plan->job;
    job.s = s, job.t = moebius ? NULL : t, job.w0 = w0, job.w = w;
    job.status = plan->where.status ? plan->where.status : plan->own_status;
    job.method = plan->where.method;
    plan->last = job;
    plan->stream = ctx->stream;
    status = plan->driver->run(plan, &job);
    plan->solved = status == SHOAL_OK;
    return status;
}

shoal_status shoal_recur_solve(shoal_recur *plan, const double *s, const double *t,
                               const double *w0, double *w) {
    return solve(plan, SHOAL_F64, s, t, w0, w);
}

shoal_status shoal_recur_solvef(shoal_recur *plan, const float *s, const float *t, const float *w0,
                                float *w) {
    return solve(plan, SHOAL_F32, s, t, w0, w);
}

shoal_status shoal_recur_last(shoal_recur *plan, shoal_recur_info *info) {
    if (!plan) return SHOAL_E_ARG;
    if (!info) return shoal_fail(plan->ctx, SHOAL_E_ARG, "info is NULL");
    *info = (shoal_recur_info){ .method = plan->chosen.name,
                                .variant = plan->chosen.variant_name,
                                .threads = plan->job.threads,
                                .groups = plan->job.groups,
                                .bytes = plan->bytes };
    if (!plan->solved) return SHOAL_OK;
    void *current = plan->ctx->stream;
    plan->ctx->stream = plan->stream;
    shoal_status status = shoal_wait(plan->ctx);
    if (status == SHOAL_OK) status = plan->driver->total(plan, &plan->last, info);
    plan->ctx->stream = current;
    return status;
}
