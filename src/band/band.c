/* SPDX-License-Identifier: Apache-2.0
 *
 * band.c - the public functions of band.h, their argument checks, and the method table.
 */
#include "band/plan.h"
#include "core/staged.h"
#include <math.h>

SHOAL_DECLARE_CPU(band_method, band_lupp)
SHOAL_DECLARE_CUDA(band_method, band_lupp)

static const shoal_method methods[] = {
    { .name = "lupp",
      .cpu = SHOAL_CPU_CELLS(band_lupp),
      .cuda = SHOAL_CUDA_CELLS(band_lupp),
      .flags = SHOAL_CAN_PIVOT },
};

const shoal_module shoal_band_module = { "band", methods, sizeof methods / sizeof *methods,
                                         &shoal_auto_alone };

shoal_status shoal_band_check_shape(shoal_context *ctx, shoal_band_opts *o) {
    const shoal_size sizes[] = { { "n", o->n }, { "count", o->count }, { "nrhs", o->nrhs } };
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o), SHOAL_LAYOUT_FLAG(o),
                                 SHOAL_FLAG("is_complex", o->is_complex) };
    const size_t row = 2 * (2 * BAND_WIDTH + 3) * sizeof(double); /* of the workspace, at most */
    shoal_status status = shoal_check_sizes(ctx, "", row, sizes, 3);
    if (status == SHOAL_OK && o->nrhs == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "nrhs is 0; there must be a right-hand side");
    if (status == SHOAL_OK) status = shoal_check_flags(ctx, flags, 3);
    if (status != SHOAL_OK) return status;
    if (o->width == 0) o->width = BAND_WIDTH;
    if (o->width != 1 && o->width != BAND_WIDTH)
        return shoal_fail(ctx, SHOAL_E_ARG, "width is %d; it must be 1 or 2", o->width);
    if (o->width == 1 && !o->is_complex)
        return shoal_fail(ctx, SHOAL_E_ARG,
                          "width is 1 and is_complex 0: solve real tridiagonal systems by "
                          "shoal_tridiag_solve()");
    const shoal_bound cond = { "cond", o->cond, 0, INFINITY };
    status = shoal_check_bounds(ctx, &cond, 1);
    if (status == SHOAL_OK && !(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    return status;
}

static shoal_status fill_plan(shoal_band *plan, const shoal_band_opts *opts) {
    const int interleaved = opts->layout == SHOAL_INTERLEAVED;
    plan->head.type = opts->type;
    shoal_status status = shoal_plan_choose(&plan->head, &shoal_band_module, opts->method, NULL,
                                            "lupp", &plan->chosen);
    plan->job = (band_job){
        .n = opts->n,
        .count = opts->count,
        .nrhs = opts->nrhs,
        .row = interleaved ? opts->count : 1,
        .system = interleaved ? 1 : opts->n,
        .width = opts->width,
        .parts = opts->is_complex ? 2 : 1,
        .tol = opts->tol > 0 ? opts->tol : 100 * shoal_epsilon(opts->type),
        .cond = opts->cond > 0 ? opts->cond : 1 / (32 * shoal_epsilon(opts->type)),
    };
    if (status != SHOAL_OK || opts->count == 0) return status;
    const band_method *method = plan->chosen.cell;
    status = shoal_plan_alloc(&plan->head, BAND_HEAD + method->bytes(plan), &plan->job.work);
    if (status == SHOAL_OK)
        status =
            shoal_plan_alloc(&plan->head, (size_t)opts->count * sizeof(int32_t), &plan->own_status);
    if (status == SHOAL_OK) plan->job.work = (char *)plan->job.work + BAND_HEAD;
    return status;
}

/* ---- host arrays ------------------------------------------------------------------------------- */

static shoal_status create_piece(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_band_opts o = *(const shoal_band_opts *)opts;
    shoal_band *made;
    o.count = count;
    const shoal_status status = shoal_band_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_piece(void *plan, void *sum) {
    const shoal_band_info before = *(shoal_band_info *)sum;
    shoal_band_info *info = sum;
    const shoal_status status = shoal_band_last(plan, info);
    info->failed += before.failed, info->warned += before.warned;
    if (before.method && (isnan(before.max_residual) || before.max_residual > info->max_residual))
        info->max_residual = before.max_residual;
    return status;
}

static const shoal_staged_kind pieces = { sizeof(shoal_band_opts), sizeof(shoal_band_info),
                                          create_piece, add_piece };

static shoal_status stage_plan(shoal_band *plan, const shoal_band_opts *opts) {
    shoal_band_opts kept = *opts;
    plan->head.type = opts->type;
    const shoal_status status = shoal_staged_word(&plan->head, &kept.method);
    plan->job = (band_job){ .n = opts->n,
                            .count = opts->count,
                            .nrhs = opts->nrhs,
                            .row = opts->layout == SHOAL_INTERLEAVED ? opts->count : 1,
                            .width = opts->width,
                            .parts = opts->is_complex ? 2 : 1 };
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &pieces, &kept, opts->count)
                              : status;
}

enum { B = BAND_COLUMNS, X, ARRAYS };

static shoal_status solve_piece(void *plan, void *const *a, const void *with) {
    const shoal_outcome where = shoal_staged_where(a + ARRAYS);
    const shoal_plan *head = plan;
    (void)with;
    const shoal_status status = shoal_band_outcome(plan, &where);
    if (status != SHOAL_OK) return status;
    return head->type == SHOAL_F32
               ? shoal_band_solvef(plan, a[0], a[1], a[2], a[3], a[4], a[B], a[X])
               : shoal_band_solve(plan, a[0], a[1], a[2], a[3], a[4], a[B], a[X]);
}

static shoal_status solve_staged(shoal_band *plan, const shoal_array *named, void *x) {
    const band_job *job = &plan->job;
    const int interleaved = job->row != 1;
    const int64_t rows = interleaved ? job->n : 1;
    const size_t one =
        shoal_type_bytes(plan->head.type) * (size_t)job->parts * (size_t)(interleaved ? 1 : job->n);
    const size_t all = one * (size_t)job->nrhs;
    shoal_staged_array arrays[ARRAYS + STAGED_OUTCOMES];
    for (int i = 0; i < X; i++)
        arrays[i] = shoal_staged_in(named[i].name, named[i].array, i == B ? all : one, rows);
    arrays[X] = shoal_staged_out("x", x, all, rows);
    shoal_staged_outcome(&plan->where, arrays + ARRAYS);
    return shoal_staged_run(&plan->head, arrays, ARRAYS + STAGED_OUTCOMES, solve_piece, NULL);
}

/* ---- the calls --------------------------------------------------------------------------------- */

shoal_status shoal_band_create(shoal_context *ctx, const shoal_band_opts *opts,
                               shoal_band **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status != SHOAL_OK) return status;
    shoal_band_opts checked = *opts;
    status = shoal_band_check_shape(ctx, &checked);
    if (status == SHOAL_OK)
        status =
            shoal_is_staging(ctx) ? stage_plan(*result, &checked) : fill_plan(*result, &checked);
    return shoal_plan_made(status, result);
}

void shoal_band_free(shoal_band *plan) { shoal_plan_free(plan); }

shoal_status shoal_band_outcome(shoal_band *plan, const shoal_outcome *where) {
    if (!plan) return SHOAL_E_ARG;
    shoal_outcome to;
    shoal_status status = shoal_plan_outcome(&plan->head, where, "band",
                                             SHOAL_FILLS_RESIDUAL | SHOAL_FILLS_RCOND, &to);
    if (status == SHOAL_OK && to.status && !to.residual && !plan->head.staged && plan->job.count)
        status = shoal_plan_reserve(&plan->head, (size_t)plan->job.count * sizeof(float),
                                    &plan->own_residual);
    if (status == SHOAL_OK) plan->where = to;
    return status;
}

static shoal_status solve(shoal_band *plan, shoal_type type, const void *dl2, const void *dl,
                          const void *d, const void *du, const void *du2, const void *b, void *x) {
    shoal_status status = shoal_plan_call(plan, type, "shoal_band_solve");
    if (status != SHOAL_OK || plan->job.count == 0) return status;
    const int narrow = plan->job.width == 1;
    const shoal_array arrays[ARRAYS] = {
        { "dl2", narrow ? NULL : dl2, narrow }, { "dl", dl, 0 }, { "d", d, 0 }, { "du", du, 0 },
        { "du2", narrow ? NULL : du2, narrow }, { "b", b, 0 },   { "x", x, 0 }
    };
    const int checked = plan->job.n > 0 ? ARRAYS : 0;
    for (int i = 0; i < checked && status == SHOAL_OK; i++)
        if (!arrays[i].skipped)
            status = plan->head.staged ? shoal_check_pointers(plan->head.ctx, &arrays[i], 1)
                                       : shoal_check_arrays(plan->head.ctx, &arrays[i], 1);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) return solve_staged(plan, arrays, x);
    band_job job = plan->job;
    for (int i = narrow, e = 0; i < BAND_COLUMNS - narrow; i++) job.a[e++] = arrays[i].array;
    job.b = b, job.x = x;
    job.status = plan->where.status ? plan->where.status : plan->own_status;
    job.residual = plan->where.residual ? plan->where.residual
                   : plan->where.status ? plan->own_residual
                                        : NULL;
    job.rcond = plan->where.rcond, job.method = plan->where.method;
    plan->last = job;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "systems");
    status = ((const band_method *)plan->chosen.cell)->run(plan, &job);
    return shoal_plan_called(&plan->head, shoal_stage_end(plan->head.ctx, &stage, status));
}

shoal_status shoal_band_solve(shoal_band *plan, const double *dl2, const double *dl,
                              const double *d, const double *du, const double *du2, const double *b,
                              double *x) {
    return solve(plan, SHOAL_F64, dl2, dl, d, du, du2, b, x);
}

shoal_status shoal_band_solvef(shoal_band *plan, const float *dl2, const float *dl, const float *d,
                               const float *du, const float *du2, const float *b, float *x) {
    return solve(plan, SHOAL_F32, dl2, dl, d, du, du2, b, x);
}

shoal_status shoal_band_last(shoal_band *plan, shoal_band_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        *info = *(const shoal_band_info *)shoal_staged_info(&plan->head);
        return SHOAL_OK;
    }
    *info = (shoal_band_info){ .method = plan->chosen.name,
                               .max_residual = -1,
                               .tol = plan->job.tol,
                               .cond = plan->job.cond,
                               .bytes = plan->head.bytes };
    if (!plan->head.called || plan->job.count == 0) return SHOAL_OK;
    void *current;
    status = shoal_plan_wait(&plan->head, &current);
    if (status == SHOAL_OK)
        status = ((const band_method *)plan->chosen.cell)->total(plan, &plan->last, info);
    return shoal_plan_return(&plan->head, current, status);
}
