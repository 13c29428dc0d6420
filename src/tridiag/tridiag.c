/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - the public functions of tridiag.h, their argument checks, and the method table.
 *
 * "auto" on CUDA is hybrid with every residual checked; systems that fail the check are redone by qr.
 * On the CPU it is lupp, which is faster there than any method and its check; if a status is asked for, qr redoes the
 * systems with a row that lupp answers poorly (upper.h). Long systems, which many threads should share, and periodic
 * ones are twocarry's on both. So the answer is safe for every nonsingular matrix within the limits that tridiag.h
 * names.
 */
#include "core/parts.h"
#include "core/staged.h"
#include "tridiag/plan.h"
#include <math.h>

SHOAL_DECLARE_CPU(tridiag_driver, tridiag_batch)
SHOAL_DECLARE_CUDA(tridiag_driver, tridiag_batch)
SHOAL_DECLARE_CPU(tridiag_estimator, tridiag_rcond)
SHOAL_DECLARE_CUDA(tridiag_estimator, tridiag_rcond)
SHOAL_DECLARE_CPU(tridiag_keeper, tridiag_factor)
SHOAL_DECLARE_CUDA(tridiag_keeper, tridiag_factor)

#define DECLARE(name)                                                                              \
    SHOAL_DECLARE_CPU(tridiag_cpu_method, name) SHOAL_DECLARE_CUDA(tridiag_cuda_method, name)
DECLARE(tridiag_thomas)
DECLARE(tridiag_cr)
DECLARE(tridiag_pcr)
DECLARE(tridiag_hybrid)
DECLARE(tridiag_lupp)
DECLARE(tridiag_twocarry)
DECLARE(tridiag_gspike)
DECLARE(tridiag_pscheme)
DECLARE(tridiag_qr)
DECLARE(tridiag_doubling)

/* clang-format off */
#define CELLS(name) .cpu = SHOAL_CPU_CELLS(name), .cuda = SHOAL_CUDA_CELLS(name)

static const shoal_method methods[] = {
    { .name = "thomas", CELLS(tridiag_thomas), .flags = SHOAL_CAN_OFFSETS,
      .variants = { [THOMAS_THREAD] = { "thread", SHOAL_ON_BOTH },
                    [THOMAS_BLOCK] = { "block", SHOAL_ON_CUDA } } },
    { .name = "cr", CELLS(tridiag_cr) },
    { .name = "pcr", CELLS(tridiag_pcr),
      .variants = { [PCR_STRIDE] = { "stride", SHOAL_ON_BOTH },
                    [PCR_PERMUTE] = { "permute", SHOAL_ON_BOTH } } },
    { .name = "hybrid", CELLS(tridiag_hybrid) },
    { .name = "lupp", CELLS(tridiag_lupp),
      .flags = SHOAL_CAN_OFFSETS | SHOAL_CAN_PIVOT | SHOAL_CAN_FACTOR },
    { .name = "twocarry", CELLS(tridiag_twocarry), .flags = SHOAL_CAN_PERIODIC | SHOAL_CAN_PIVOT },
    { .name = "gspike", CELLS(tridiag_gspike), .flags = SHOAL_CAN_DELTA | SHOAL_CAN_PIVOT },
    { .name = "pscheme", CELLS(tridiag_pscheme),
      .variants = { [SCHEME_BLOCKED] = { "blocked", SHOAL_ON_BOTH | SHOAL_CAN_PARTS },
                    [SCHEME_REARRANGED] = { "rearranged", SHOAL_ON_BOTH | SHOAL_CAN_PARTS },
                    [SCHEME_PRINTED] = { "printed", SHOAL_ON_BOTH | SHOAL_CAN_PARTS },
                    [SCHEME_LOOKBACK] = { "lookback", SHOAL_ON_BOTH } } },
    { .name = "qr", CELLS(tridiag_qr), .flags = SHOAL_CAN_OFFSETS | SHOAL_CAN_PIVOT,
      .variants = { [QR_GIVENS] = { "givens", SHOAL_ON_BOTH },
                    [QR_ROOTFREE] = { "rootfree", SHOAL_ON_BOTH } } },
    { .name = "doubling", CELLS(tridiag_doubling) },
};

static const shoal_method automatic = {
    .name = "auto",
    .flags = SHOAL_CAN_PERIODIC | SHOAL_CAN_OFFSETS | SHOAL_CAN_PIVOT | SHOAL_CAN_FACTOR
};

static const shoal_method driver = { .name = "batch", CELLS(tridiag_batch) };
static const shoal_method estimator = { .name = "rcond", CELLS(tridiag_rcond) };
static const shoal_method keeper = { .name = "factor", CELLS(tridiag_factor) };
/* clang-format on */

const shoal_module shoal_tridiag_module = { "tridiag", methods, sizeof methods / sizeof *methods,
                                            &automatic };

shoal_status shoal_tridiag_check_sizes(shoal_context *ctx, const shoal_tridiag_opts *o) {
    const shoal_size sizes[] = { { "n", o->n }, { "count", o->count }, { "nrhs", o->nrhs } };
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o), SHOAL_LAYOUT_FLAG(o),
                                 SHOAL_FLAG("periodic", o->periodic),
                                 SHOAL_FLAG("transposed", o->transposed),
                                 SHOAL_FLAG("waits", o->waits),
                                 SHOAL_FLAG("replays", o->replays) };
    shoal_status status = shoal_check_sizes(ctx, "", sizeof(double), sizes, 3);
    if (status == SHOAL_OK && o->nrhs == 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "nrhs is 0; there must be a right-hand side");
    if (status == SHOAL_OK) status = shoal_check_flags(ctx, flags, 6);
    if (status == SHOAL_OK && !(o->tol < INFINITY))
        return shoal_fail(ctx, SHOAL_E_ARG, "tol is %g; it must be finite", o->tol);
    return status;
}

/* The largest size takes n's place. */
static shoal_status check_offsets(shoal_context *ctx, shoal_tridiag_opts *o) {
    if (!o->offsets || o->count < 0) return SHOAL_OK; /* shoal_tridiag_check_sizes() reports it */
    if (o->layout == SHOAL_INTERLEAVED)
        return shoal_fail(ctx, SHOAL_E_ARG, "layout: offsets need SHOAL_SYSTEM_MAJOR");
    return shoal_check_offsets(ctx, "offsets", o->offsets, o->count, "n", &o->n);
}

static shoal_status choose_methods(shoal_tridiag *plan, const shoal_tridiag_opts *o) {
    shoal_context *ctx = plan->head.ctx;
    const int is_given = !shoal_is_auto(o->method);
    const int64_t most = ctx->ops ? 2304 : 65535; /* rows that one block, or one thread, has best */
    const int is_long = o->periodic || (o->n > most && !o->offsets);
    const int has_rescue =
        !is_long && !(ctx->ops && o->offsets); /* a quick method, and a safe one */
    const char *best = is_long ? "twocarry" : has_rescue && ctx->ops ? "hybrid" : "lupp";
    shoal_status status = shoal_plan_choose(&plan->head, &shoal_tridiag_module, o->method,
                                            o->variant, best, &plan->first);
    if (status == SHOAL_OK && o->periodic && o->offsets)
        return shoal_fail(ctx, SHOAL_E_ARG, "offsets must be NULL: periodic systems have one size");
    if (status == SHOAL_OK && o->periodic && !(plan->first.flags & SHOAL_CAN_PERIODIC))
        return shoal_cannot(ctx, &shoal_tridiag_module, plan->first.name, "take periodic systems",
                            SHOAL_CAN_PERIODIC);
    shoal_choice pivoting = plan->first;
    if (status == SHOAL_OK && !is_given)
        status = shoal_choose(ctx, &shoal_tridiag_module, "lupp", NULL, o->type, &pivoting);
    if (status == SHOAL_OK && !is_given && has_rescue)
        status = shoal_choose(ctx, &shoal_tridiag_module, "qr", NULL, o->type, &plan->rescue);
    plan->factor_row = pivoting.row;
    if (status == SHOAL_OK && o->offsets && !(plan->first.flags & SHOAL_CAN_OFFSETS))
        return shoal_cannot(ctx, &shoal_tridiag_module, plan->first.name,
                            "take systems of different sizes", SHOAL_CAN_OFFSETS);
    plan->method_name = is_given ? plan->first.name : automatic.name;
    plan->driver = shoal_cell(ctx, &driver, o->type);
    plan->estimator = shoal_cell(ctx, &estimator, o->type);
    plan->keeper = shoal_cell(ctx, &keeper, o->type);
    return status;
}

static shoal_status choose_parts(shoal_tridiag *plan, const shoal_tridiag_opts *o) {
    const int has_parts = (plan->first.flags & SHOAL_CAN_PARTS) != 0;
    if (!has_parts && (o->threads || o->groups))
        return shoal_fail(plan->head.ctx, SHOAL_E_METHOD, "%s is %d; %s%s%s has no parts to choose",
                          o->threads ? "threads" : "groups", o->threads ? o->threads : o->groups,
                          plan->method_name, *plan->first.variant_name ? ", variant " : "",
                          plan->first.variant_name);
    shoal_status status = shoal_check_parts(plan->head.ctx, o->threads, o->groups);
    if (status != SHOAL_OK || !has_parts) return status;
    const shoal_parts p = shoal_choose_parts(plan->head.ctx, o->n, o->threads, o->groups);
    plan->job.threads = p.threads;
    plan->job.groups = p.groups;
    plan->job.parts = p.parts < o->n ? p.parts : o->n;
    return SHOAL_OK;
}

static shoal_status check_delta(shoal_tridiag *plan, const shoal_tridiag_opts *o) {
    const struct {
        const char *name;
        double value;
        int right;
        const char *range;
        int needs; /* of the method */
    } fields[] = { { "delta", o->delta, o->delta >= 0 && o->delta < 1, "at least 0 and below 1",
                     SHOAL_CAN_DELTA },
                   { "cond", o->cond, o->cond >= 0 && isfinite(o->cond), "finite, 0 or above",
                     SHOAL_CAN_PIVOT },
                   { "no_split", o->no_split, o->no_split == 0 || o->no_split == 1, "0 or 1",
                     SHOAL_CAN_DELTA },
                   { "block", o->block, o->block == 0 || (o->block >= 2 && o->block <= 4096),
                     "0, or from 2 to 4096", SHOAL_CAN_DELTA } };
    const int flags = plan->rescue.cell ? plan->rescue.flags : plan->first.flags;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].right)
            return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "%s is %g; it must be %s",
                              fields[i].name, fields[i].value, fields[i].range);
        if (fields[i].value != 0 && !(flags & fields[i].needs))
            return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                              "%s is %g; it must be 0: method %s has none", fields[i].name,
                              fields[i].value, plan->method_name);
    }
    /* The default of delta: a block that keeps its R_mm loses half of its digits at most, and one that does not need
     * the fill-in takes no harm from it, since it only makes |R_mm| larger. */
    const double usual = plan->first.flags & SHOAL_CAN_DELTA ? sqrt(shoal_epsilon(o->type)) : 0;
    plan->delta = o->delta > 0 ? o->delta : usual;
    plan->block_cond = o->cond, plan->no_split = o->no_split;
    plan->block = o->block ? o->block : GSPIKE_ROWS;
    return SHOAL_OK;
}

static int is_empty(const tridiag_job *job) { return job->count == 0; }

/* Room for the diagonals of A^T. */
static shoal_status allocate_transposed(shoal_tridiag *plan) {
    const size_t bytes = (size_t)plan->job.total * shoal_type_bytes(plan->head.type);
    shoal_status status = shoal_plan_reserve(&plan->head, bytes, &plan->job.transposed_dl);
    return status == SHOAL_OK ? shoal_plan_reserve(&plan->head, bytes, &plan->job.transposed_du)
                              : status;
}

/* "auto" on CUDA: its first method needs a check. */
static int always_judges(const shoal_tridiag *plan) {
    return plan->rescue.cell && plan->head.ctx->ops;
}

/* Residuals that nobody asked for, which a status follows from. */
static shoal_status allocate_residual(shoal_tridiag *plan) {
    return shoal_plan_reserve(&plan->head, (size_t)plan->job.count * sizeof(float),
                              &plan->own_residual);
}

static shoal_status allocate(shoal_tridiag *plan) {
    const size_t systems = (size_t)plan->job.count;
    shoal_status status = shoal_plan_alloc(&plan->head, plan->driver->bytes(plan), &plan->job.work);
    if (status == SHOAL_OK)
        status = shoal_plan_alloc(&plan->head, systems * sizeof(int32_t), &plan->own_status);
    if (status == SHOAL_OK && always_judges(plan)) status = allocate_residual(plan);
    if (status == SHOAL_OK && plan->transposed) status = allocate_transposed(plan);
    return status;
}

static shoal_status fill_plan(shoal_tridiag *plan, const shoal_tridiag_opts *opts) {
    plan->head.type = opts->type;
    plan->transposed = opts->transposed;
    shoal_status status = choose_methods(plan, opts);
    if (status == SHOAL_OK) status = check_delta(plan, opts);
    if (status != SHOAL_OK) return status;
    const int interleaved = opts->layout == SHOAL_INTERLEAVED;
    plan->job = (tridiag_job){
        .n = opts->n,
        .count = opts->count,
        .nrhs = opts->nrhs,
        .total = opts->offsets ? opts->offsets[opts->count] : opts->n * opts->count,
        .row = interleaved ? opts->count : 1,
        .system = interleaved ? 1 : opts->n,
        .periodic = opts->periodic,
        .first_row = plan->first.row,
        .rescue_row = plan->rescue.row,
        .tol = opts->tol > 0 ? opts->tol : 100 * shoal_epsilon(opts->type),
        .cond = opts->cond > 0 ? opts->cond : 1 / (32 * shoal_epsilon(opts->type)),
    };
    status = choose_parts(plan, opts);
    if (status == SHOAL_OK && !is_empty(&plan->job)) status = allocate(plan);
    plan->waits = opts->waits && plan->head.ctx->ops && !is_empty(&plan->job);
    plan->replays = opts->replays || opts->waits;
    if (status == SHOAL_OK && plan->waits)
        status = shoal_plan_pinned(&plan->head, sizeof *plan->told, &plan->told);
    if (status == SHOAL_OK && opts->offsets)
        status =
            shoal_plan_copy(&plan->head, opts->offsets,
                            ((size_t)opts->count + 1) * sizeof *opts->offsets, &plan->job.offsets);
    return status;
}

/* ---- host arrays ------------------------------------------------------------------------------- */

static shoal_status create_piece(shoal_context *ctx, const void *opts, int64_t count, void **plan) {
    shoal_tridiag_opts o = *(const shoal_tridiag_opts *)opts;
    shoal_tridiag *made;
    o.count = count;
    const shoal_status status = shoal_tridiag_create(ctx, &o, &made);
    *plan = made;
    return status;
}

static shoal_status add_piece(void *plan, void *sum) {
    const shoal_tridiag_info before = *(shoal_tridiag_info *)sum;
    shoal_tridiag_info *info = sum;
    const shoal_status status = shoal_tridiag_last(plan, info);
    info->failed += before.failed, info->warned += before.warned, info->redone += before.redone;
    if (before.method && (isnan(before.max_residual) || before.max_residual > info->max_residual))
        info->max_residual = before.max_residual;
    return status;
}

static const shoal_staged_kind pieces = { sizeof(shoal_tridiag_opts), sizeof(shoal_tridiag_info),
                                          create_piece, add_piece };

static shoal_status stage_plan(shoal_tridiag *plan, const shoal_tridiag_opts *opts) {
    shoal_tridiag_opts kept = *opts;
    kept.waits = kept.replays = 0; /* the call itself waits; its pieces must not */
    plan->head.type = opts->type, plan->job.periodic = opts->periodic;
    shoal_status status = shoal_staged_refuse(&plan->head, opts->offsets != NULL, "offsets");
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.method);
    if (status == SHOAL_OK) status = shoal_staged_word(&plan->head, &kept.variant);
    plan->job.n = opts->n, plan->job.nrhs = opts->nrhs, plan->job.count = opts->count;
    plan->job.row = opts->layout == SHOAL_INTERLEAVED ? opts->count : 1;
    return status == SHOAL_OK ? shoal_staged_create(&plan->head, &pieces, &kept, opts->count)
                              : status;
}

static shoal_status solve_piece(void *plan, void *const *a, const void *with) {
    const shoal_outcome where = shoal_staged_where(a + 5);
    const shoal_plan *head = plan;
    (void)with;
    const shoal_status status = shoal_tridiag_outcome(plan, &where);
    if (status != SHOAL_OK) return status;
    return head->type == SHOAL_F32 ? shoal_tridiag_solvef(plan, a[0], a[1], a[2], a[3], a[4])
                                   : shoal_tridiag_solve(plan, a[0], a[1], a[2], a[3], a[4]);
}

static shoal_status solve_staged(shoal_tridiag *plan, const void *dl, const void *d, const void *du,
                                 const void *b, void *x) {
    const tridiag_job *job = &plan->job;
    const int interleaved = job->row != 1;
    const int64_t rows = interleaved ? job->n : 1;
    const size_t one = shoal_type_bytes(plan->head.type) * (size_t)(interleaved ? 1 : job->n);
    const size_t all = one * (size_t)job->nrhs;
    shoal_staged_array arrays[5 + STAGED_OUTCOMES] = { shoal_staged_in("dl", dl, one, rows),
                                                       shoal_staged_in("d", d, one, rows),
                                                       shoal_staged_in("du", du, one, rows),
                                                       shoal_staged_in("b", b, all, rows),
                                                       shoal_staged_out("x", x, all, rows) };
    shoal_staged_outcome(&plan->where, arrays + 5);
    return shoal_staged_run(&plan->head, arrays, 5 + STAGED_OUTCOMES, solve_piece, NULL);
}

shoal_status shoal_tridiag_create(shoal_context *ctx, const shoal_tridiag_opts *opts,
                                  shoal_tridiag **result) {
    shoal_status status = shoal_plan_new(ctx, sizeof **result, opts, result);
    if (status != SHOAL_OK) return status;
    shoal_tridiag_opts checked = *opts;
    status = check_offsets(ctx, &checked);
    if (status == SHOAL_OK) status = shoal_tridiag_check_sizes(ctx, &checked);
    if (status == SHOAL_OK)
        status =
            shoal_is_staging(ctx) ? stage_plan(*result, &checked) : fill_plan(*result, &checked);
    return shoal_plan_made(status, result);
}

void shoal_tridiag_free(shoal_tridiag *plan) { shoal_plan_free(plan); }

shoal_status shoal_tridiag_outcome(shoal_tridiag *plan, const shoal_outcome *where) {
    if (!plan) return SHOAL_E_ARG;
    shoal_outcome to;
    shoal_status status = shoal_plan_outcome(&plan->head, where, "tridiag",
                                             SHOAL_FILLS_RESIDUAL | SHOAL_FILLS_RCOND, &to);
    if (status == SHOAL_OK && to.rcond && plan->job.periodic)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "outcome.rcond must be NULL: the condition of periodic systems is not "
                          "estimated");
    if (plan->head.staged) {
        if (status == SHOAL_OK) plan->where = to;
        return status;
    }
    if (status == SHOAL_OK && to.rcond && !is_empty(&plan->job)) {
        status = allocate_transposed(plan);
        if (status == SHOAL_OK)
            status = shoal_plan_reserve(&plan->head, plan->estimator->bytes(plan),
                                        &plan->job.rcond_work);
    }
    if (status == SHOAL_OK && to.status && !to.residual && !is_empty(&plan->job))
        status = allocate_residual(plan);
    if (status == SHOAL_OK) plan->where = to;
    return status;
}

/* The plan's job with the caller's outcome arrays or the plan's own. A status that is asked for is judged by
 * a residual, and so is all that "auto" may redo. */
static tridiag_job job_of(const shoal_tridiag *plan) {
    tridiag_job job = plan->job;
    job.status = plan->where.status ? plan->where.status : plan->own_status;
    const int is_judged = plan->where.status || always_judges(plan);
    job.residual = plan->where.residual ? plan->where.residual
                   : is_judged          ? plan->own_residual
                                        : NULL;
    job.method = plan->where.method;
    job.rcond = plan->where.rcond;
    return job;
}

static shoal_status call(shoal_tridiag *plan, tridiag_run *run, const tridiag_job *job) {
    shoal_status status = plan->waits ? shoal_check_waits(plan->head.ctx) : SHOAL_OK;
    if (status != SHOAL_OK) return status;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "systems");
    plan->last = *job;
    plan->is_told = 0;
    status = run(plan, job);
    if (status == SHOAL_OK && plan->waits && !plan->is_told) status = shoal_wait(plan->head.ctx);
    return shoal_plan_called(&plan->head, shoal_stage_end(plan->head.ctx, &stage, status));
}

static shoal_status solve(shoal_tridiag *plan, shoal_type type, const void *dl, const void *d,
                          const void *du, const void *b, void *x) {
    shoal_status status = shoal_plan_call(plan, type, "shoal_tridiag_solve");
    if (status != SHOAL_OK || is_empty(&plan->job)) return status;
    const shoal_array arrays[] = {
        { "dl", dl, 0 }, { "d", d, 0 }, { "du", du, 0 }, { "b", b, 0 }, { "x", x, 0 }
    };
    const int checked = plan->job.n > 0 ? 5 : 0;
    status = plan->head.staged ? shoal_check_pointers(plan->head.ctx, arrays, checked)
                               : shoal_check_arrays(plan->head.ctx, arrays, checked);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) return solve_staged(plan, dl, d, du, b, x);
    tridiag_job job = job_of(plan);
    job.dl = dl, job.d = d, job.du = du, job.b = b, job.x = x;
    return call(plan, plan->driver->run, &job);
}

shoal_status shoal_tridiag_solve(shoal_tridiag *plan, const double *dl, const double *d,
                                 const double *du, const double *b, double *x) {
    return solve(plan, SHOAL_F64, dl, d, du, b, x);
}

shoal_status shoal_tridiag_solvef(shoal_tridiag *plan, const float *dl, const float *d,
                                  const float *du, const float *b, float *x) {
    return solve(plan, SHOAL_F32, dl, d, du, b, x);
}

/* ---- factors that are kept -------------------------------------------------------------------- */

/* "auto" keeps those of lupp. */
static int keeps_factors(const shoal_tridiag *plan) {
    return plan->first.flags & SHOAL_CAN_FACTOR || plan->rescue.cell;
}

static shoal_status check_keeper(shoal_tridiag *plan, shoal_type type, const char *name) {
    shoal_status status = shoal_plan_call(plan, type, name);
    if (status == SHOAL_OK)
        status = shoal_staged_refuse(&plan->head, plan->head.staged != NULL, "kept factors");
    if (status != SHOAL_OK || keeps_factors(plan)) return status;
    if (!shoal_is_auto(plan->method_name))
        return shoal_cannot(plan->head.ctx, &shoal_tridiag_module, plan->method_name,
                            "keep factors", SHOAL_CAN_FACTOR);
    return shoal_fail(plan->head.ctx, SHOAL_E_METHOD,
                      "method: for %s systems 'auto' is '%s', which cannot keep factors; %s",
                      plan->job.periodic ? "periodic" : "such long", plan->first.name,
                      plan->job.periodic ? "no method can" : "use 'lupp'");
}

/* Without a residual: there is none for the totals to sum up. */
static shoal_status call_keeper(shoal_tridiag *plan, tridiag_run *run, tridiag_job *job,
                                const shoal_array *arrays, int count) {
    /* the factors of no unknowns are statuses still */
    shoal_status status = shoal_check_arrays(plan->head.ctx, arrays, job->n > 0 ? count : 1);
    if (status != SHOAL_OK) return status;
    job->residual = plan->where.residual;
    job->first_row = plan->factor_row; /* lupp answers, not auto's first */
    status = call(plan, run, job);
    plan->last.residual = NULL;
    return status;
}

static shoal_status factor(shoal_tridiag *plan, shoal_type type, const void *dl, const void *d,
                           const void *du, void *factors) {
    shoal_status status = check_keeper(plan, type, "shoal_tridiag_factor");
    if (status != SHOAL_OK || plan->job.count == 0) return status;
    const shoal_array arrays[] = {
        { "factors", factors, 0 }, { "dl", dl, 0 }, { "d", d, 0 }, { "du", du, 0 }
    };
    tridiag_job job = job_of(plan);
    job.dl = dl, job.d = d, job.du = du, job.factors = factors;
    return call_keeper(plan, plan->keeper->factor, &job, arrays, 4);
}

static shoal_status resolve(shoal_tridiag *plan, shoal_type type, const void *factors,
                            const void *b, void *x) {
    shoal_status status = check_keeper(plan, type, "shoal_tridiag_resolve");
    if (status != SHOAL_OK || plan->job.count == 0) return status;
    const shoal_array arrays[] = { { "factors", factors, 0 }, { "b", b, 0 }, { "x", x, 0 } };
    tridiag_job job = job_of(plan);
    job.b = b, job.x = x;
    job.factors = (void *)(uintptr_t)factors; /* read there and not written */
    return call_keeper(plan, plan->keeper->resolve, &job, arrays, 3);
}

size_t shoal_tridiag_factor_bytes(const shoal_tridiag *plan) {
    return plan && plan->job.count > 0 && keeps_factors(plan) ? plan->keeper->bytes(plan) : 0;
}

shoal_status shoal_tridiag_factor(shoal_tridiag *plan, const double *dl, const double *d,
                                  const double *du, void *factors) {
    return factor(plan, SHOAL_F64, dl, d, du, factors);
}

shoal_status shoal_tridiag_factorf(shoal_tridiag *plan, const float *dl, const float *d,
                                   const float *du, void *factors) {
    return factor(plan, SHOAL_F32, dl, d, du, factors);
}

shoal_status shoal_tridiag_resolve(shoal_tridiag *plan, const void *factors, const double *b,
                                   double *x) {
    return resolve(plan, SHOAL_F64, factors, b, x);
}

shoal_status shoal_tridiag_resolvef(shoal_tridiag *plan, const void *factors, const float *b,
                                    float *x) {
    return resolve(plan, SHOAL_F32, factors, b, x);
}

/* ---- totals ----------------------------------------------------------------------------------- */

static int is_judged_by_condition(const shoal_tridiag *plan) {
    return plan->first.flags & SHOAL_CAN_PIVOT || plan->rescue.cell;
}

shoal_status shoal_tridiag_last(shoal_tridiag *plan, shoal_tridiag_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status != SHOAL_OK) return status;
    if (plan->head.staged) {
        *info = *(const shoal_tridiag_info *)shoal_staged_info(&plan->head);
        return SHOAL_OK;
    }
    *info = (shoal_tridiag_info){ .method = plan->method_name,
                                  .variant = plan->first.variant_name,
                                  .max_residual = -1,
                                  .threads = plan->job.threads,
                                  .groups = plan->job.groups,
                                  .tol = plan->job.tol,
                                  .delta = plan->delta,
                                  .cond = is_judged_by_condition(plan) ? plan->job.cond : 0,
                                  .bytes = plan->head.bytes };
    if (!plan->head.called) return SHOAL_OK;
    void *current;
    status = shoal_plan_return_to(&plan->head, &current); /* total() waits */
    if (status == SHOAL_OK) status = plan->driver->total(plan, &plan->last, info);
    return shoal_plan_return(&plan->head, current, status);
}
