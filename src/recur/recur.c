/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - the public functions of recur.h, their argument checks, and the method table.
 *
 * "auto" looks at what all segments share, never at their number, so that a segment has the same
 * bits alone and in a batch. It is lookback, with two exceptions: interleaved segments of at most
 * LONGEST_ALONE rows on CUDA, where neighbouring threads that walk through a segment each read
 * whole lines, and what is not a linear recurrence of order 1 on the CPU, where joining maps costs
 * more than it saves on a few cores.
 */
#include "core/parts.h"
#include "core/staged.h"
#include "recur/plan.h"

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
    { .name = "serial", CELLS(recur_serial), .flags = SHOAL_CAN_ORDERS },
    { .name = "lookback", CELLS(recur_lookback), .flags = SHOAL_CAN_ORDERS },
    { .name = "pscheme", CELLS(recur_pscheme), .flags = SHOAL_CAN_ORDERS | SHOAL_CAN_PARTS,
      .variants = { [PSCHEME_BLOCKED] = { "blocked", SHOAL_ON_BOTH },
                    [PSCHEME_REARRANGED] = { "rearranged", SHOAL_ON_BOTH },
                    [PSCHEME_STORED] = { "stored", SHOAL_ON_BOTH },
                    [PSCHEME_STORED_REARRANGED] = { "stored-rearranged", SHOAL_ON_BOTH } } },
    { .name = "pcr", CELLS(recur_pcr) },
};

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_ORDERS };
static const shoal_method driver = { .name = "batch", CELLS(recur_batch) };
/* clang-format on */

const shoal_module shoal_recur_module = { "recur", methods, sizeof methods / sizeof *methods,
                                          &automatic };

static int order_of(const shoal_recur_opts *o) { return o->order ? o->order : 1; }

static int width_of(const shoal_recur_opts *o) {
    return o->form == SHOAL_RECUR_MOEBIUS ? 4 : order_of(o);
}

shoal_status shoal_recur_check_shape(shoal_context *ctx, const shoal_recur_opts *o) {
    const shoal_size sizes[] = { { "n", o->n }, { "count", o->count } };
    const shoal_flag flags[] = { { "form", (int)o->form,
                                   "SHOAL_RECUR_LINEAR or SHOAL_RECUR_MOEBIUS" },
                                 SHOAL_TYPE_FLAG(o),
                                 SHOAL_LAYOUT_FLAG(o) };
    shoal_status status = shoal_check_sizes(ctx, "", 4 * sizeof(double), sizes, 2);
    if (status == SHOAL_OK)
        status = shoal_check_count(ctx, "order", o->order, 0, SHOAL_RECUR_ORDERS);
    if (status == SHOAL_OK) status = shoal_check_flags(ctx, flags, 3);
    if (status == SHOAL_OK && o->form == SHOAL_RECUR_MOEBIUS && order_of(o) != 1)
        return shoal_fail(ctx, SHOAL_E_ARG, "order is %d; the Moebius recurrence has order 1",
                          o->order);
    if (status == SHOAL_OK)
        status =
            shoal_check_count(ctx, "last_phase", (int)o->last_phase, 0, SHOAL_RECUR_DETERMINATION);
    return status == SHOAL_OK ? shoal_check_parts(ctx, o->threads, o->groups) : status;
}

static shoal_status choose_method(shoal_recur *plan, const shoal_recur_opts *o) {
    shoal_context *ctx = plan->head.ctx;
    const int simple = o->form == SHOAL_RECUR_LINEAR && order_of(o) == 1;
    const int alone = ctx->ops ? o->layout == SHOAL_INTERLEAVED && o->n <= LONGEST_ALONE : !simple;
    plan->driver = shoal_cell(ctx, &driver, o->type);
    const shoal_status status =
        shoal_plan_choose(&plan->head, &shoal_recur_module, o->method, o->variant,
                          alone ? "serial" : "lookback", &plan->chosen);
    if (status == SHOAL_OK && !simple && !(plan->chosen.flags & SHOAL_CAN_ORDERS))
        return shoal_cannot(ctx, &shoal_recur_module, plan->chosen.name,
                            "take orders above 1, or Moebius recurrences", SHOAL_CAN_ORDERS);
    if (status == SHOAL_OK && o->last_phase && !(plan->chosen.flags & SHOAL_CAN_PARTS))
        return shoal_fail(ctx, SHOAL_E_METHOD, "last_phase is %d; %s has no phases",
                          (int)o->last_phase, plan->chosen.name);
    return status;
}

static void choose_parts(shoal_recur *plan, const shoal_recur_opts *o) {
    const shoal_parts p = shoal_choose_parts(plan->head.ctx, o->n, o->threads, o->groups);
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

static int is_empty(const recur_job *job) { return job->count == 0; }

static shoal_status allocate(shoal_recur *plan) {
    const size_t segments = (size_t)plan->job.count * sizeof(int32_t);
    const shoal_status status =
        shoal_plan_alloc(&plan->head, plan->driver->bytes(plan), &plan->job.work);
    return status == SHOAL_OK ? shoal_plan_alloc(&plan->head, segments, &plan->own_status) : status;
}

static shoal_status fill_plan(shoal_recur *plan, const shoal_recur_opts *opts) {
    plan->head.type = opts->type;
    const shoal_status status = choose_method(plan, opts);
    if (status != SHOAL_OK) return status;
    plan->job = job_for(opts, plan->chosen.row);
    if (plan->chosen.flags & SHOAL_CAN_PARTS) choose_parts(plan, opts);
    return is_empty(&plan->job) ? SHOAL_OK : allocate(plan);
}

/* ---- host arrays ------------------------------------------------------------------------------- */

static shoal_status create_piece(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_recur_opts o = *(const shoal_recur_opts *)opts;
    shoal_recur *made;
    o.count = count;
    const shoal_status status = shoal_recur_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_piece(void *plan, void *sum) {
    shoal_recur_info *info = sum;
    const int64_t failed = info->failed;
    const shoal_status status = shoal_recur_last(plan, info);
    info->failed += failed;
    return status;
}

static const shoal_staged_kind pieces = { sizeof(shoal_recur_opts), sizeof(shoal_recur_info),
                                          create_piece, add_piece };

static shoal_status stage_plan(shoal_recur *plan, const shoal_recur_opts *opts) {
    shoal_recur_opts kept = *opts;
    plan->head.type = opts->type;
    plan->job = job_for(opts, 0);
    shoal_status status = shoal_staged_word(&plan->head, &kept.method);
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.variant);
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &pieces, &kept, opts->count)
                              : status;
}

static shoal_status solve_piece(void *plan, void *const *a, const void *with) {
    const shoal_outcome all = shoal_staged_where(a + 4);
    const shoal_plan *head = plan;
    (void)with;
    const shoal_status status = shoal_recur_outcome(plan, &all);
    if (status != SHOAL_OK) return status;
    return head->type == SHOAL_F32 ? shoal_recur_solvef(plan, a[0], a[1], a[2], a[3])
                                   : shoal_recur_solve(plan, a[0], a[1], a[2], a[3]);
}

static shoal_status solve_staged(shoal_recur *plan, const void *s, const void *t, const void *w0,
                                 void *w) {
    const recur_job *job = &plan->job;
    const size_t size = shoal_type_bytes(plan->head.type);
    const int64_t rows = job->interleaved ? job->n : 1;
    const size_t numbers = size * (size_t)(job->interleaved ? 1 : job->n);
    const size_t of_s = size * (size_t)job->width, all_of_s = numbers * (size_t)job->width;
    shoal_staged_array arrays[4 + STAGED_OUTCOMES] = {
        shoal_staged_in("s", s, job->constant_s ? of_s : all_of_s, job->constant_s ? 1 : rows),
        shoal_staged_in("t", t, job->constant_t ? size : numbers, job->constant_t ? 1 : rows),
        shoal_staged_in("w0", w0, size * (size_t)job->order, 1),
        shoal_staged_out("w", w, numbers, rows)
    };
    shoal_staged_outcome(&plan->where, arrays + 4);
    return shoal_staged_run(&plan->head, arrays, 4 + STAGED_OUTCOMES, solve_piece, NULL);
}

/* ------------------------------------------------------------------------------------------------ */

shoal_status shoal_recur_create(shoal_context *ctx, const shoal_recur_opts *opts,
                                shoal_recur **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status != SHOAL_OK) return status;
    status = shoal_recur_check_shape(ctx, opts);
    if (status == SHOAL_OK)
        status = shoal_is_staging(ctx) ? stage_plan(*result, opts) : fill_plan(*result, opts);
    return shoal_plan_made(status, result);
}

void shoal_recur_free(shoal_recur *plan) { shoal_plan_free(plan); }

shoal_status shoal_recur_outcome(shoal_recur *plan, const shoal_outcome *where) {
    return plan ? shoal_plan_outcome(&plan->head, where, "recur", 0, &plan->where) : SHOAL_E_ARG;
}

static shoal_status solve(shoal_recur *plan, shoal_type type, const void *s, const void *t,
                          const void *w0, void *w) {
    shoal_status status = shoal_plan_call(plan, type, "shoal_recur_solve");
    if (status != SHOAL_OK || is_empty(&plan->job)) return status;
    shoal_context *ctx = plan->head.ctx;
    const int moebius = plan->job.shape == SHAPE_MOEBIUS;
    const shoal_array arrays[] = {
        { "s", s, 0 }, { "t", t, moebius }, { "w0", w0, !w0 }, { "w", w, 0 }
    };
    const int checked = plan->job.n > 0 ? 4 : 0;
    status = plan->head.staged ? shoal_check_pointers(ctx, arrays, checked)
                               : shoal_check_arrays(ctx, arrays, checked);
    if (status == SHOAL_OK && plan->job.constant_t && w == t && !moebius && plan->job.n > 0)
        status = shoal_fail(ctx, SHOAL_E_ARG, "w is t, which holds one number per segment");
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) return solve_staged(plan, s, moebius ? NULL : t, w0, w);
    recur_job job = plan->job;
    job.s = s, job.t = moebius ? NULL : t, job.w0 = w0, job.w = w;
    job.status = plan->where.status ? plan->where.status : plan->own_status;
    job.method = plan->where.method;
    plan->last = job;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "recurrences");
    status = shoal_stage_end(plan->head.ctx, &stage, plan->driver->run(plan, &job));
    return shoal_plan_called(&plan->head, status);
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
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        *info = *(const shoal_recur_info *)shoal_staged_info(&plan->head);
        return SHOAL_OK;
    }
    *info = (shoal_recur_info){ .method = plan->chosen.name,
                                .variant = plan->chosen.variant_name,
                                .threads = plan->job.threads,
                                .groups = plan->job.groups,
                                .bytes = plan->head.bytes };
    if (!plan->head.called) return SHOAL_OK;
    void *current;
    status = shoal_plan_wait(&plan->head, &current);
    if (status == SHOAL_OK) status = plan->driver->total(plan, &plan->last, info);
    return shoal_plan_return(&plan->head, current, status);
}
