/* SPDX-License-Identifier: Apache-2.0
 *
 * solve_tridiag.c - `shoal solve tridiag`: many tridiagonal systems from files.
 *
 * A large batch goes through the context in slices (totals.h). Batches that are interleaved, or of
 * different sizes, are one slice.
 */
#include "tridiag_options.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct batch_job {
    const tridiag_arguments *a;
    const tridiag_batch *batch;
    io_array x, out[OUTCOMES]; /* the answer, on the host */
    int groups, group_threads; /* of pscheme; else 0      */
} batch_job;

enum { DL, D, DU, B, X, OUT, ARRAYS = OUT + OUTCOMES };

static shoal_status solve_arrays(shoal_tridiag *plan, shoal_type type, void *const *m,
                                 void *factors) {
    const int single = type == SHOAL_F32;
    if (!factors)
        return single ? shoal_tridiag_solvef(plan, m[DL], m[D], m[DU], m[B], m[X])
                      : shoal_tridiag_solve(plan, m[DL], m[D], m[DU], m[B], m[X]);
    const shoal_status s = single ? shoal_tridiag_factorf(plan, m[DL], m[D], m[DU], factors)
                                  : shoal_tridiag_factor(plan, m[DL], m[D], m[DU], factors);
    if (s != SHOAL_OK) return s;
    return single ? shoal_tridiag_resolvef(plan, factors, m[B], m[X])
                  : shoal_tridiag_resolve(plan, factors, m[B], m[X]);
}

static bool is_empty(const tridiag_batch *batch) { return batch->n == 0 || batch->nrhs == 0; }

/* Residuals are always wanted, for their maximum; statuses to name the first failure. */
static bool wanted(const tridiag_arguments *a, int outcome) {
    return outcome != RCOND || a->out[RCOND];
}

static shoal_tridiag_opts options_of(const tridiag_arguments *a, const tridiag_batch *batch,
                                     int64_t count) {
    return (shoal_tridiag_opts){ .n = batch->offsets ? 0 : batch->n,
                                 .count = count,
                                 .nrhs = batch->nrhs > 0 ? batch->nrhs : 1,
                                 .type = batch->type,
                                 .layout = batch->layout,
                                 .method = a->method,
                                 .variant = a->variant,
                                 .tol = a->tol,
                                 .periodic = a->periodic,
                                 .threads = a->group_threads,
                                 .groups = a->groups,
                                 .transposed = a->transposed,
                                 .offsets = batch->offsets,
                                 .delta = a->delta,
                                 .cond = a->cond,
                                 .no_split = a->no_split };
}

static int solve_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    batch_job *job = of;
    const tridiag_batch *batch = job->batch;
    const shoal_tridiag_opts opts = options_of(job->a, batch, count);
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t rows = (size_t)(opts.offsets ? batch->rows : count * batch->n);
    const size_t skip = (size_t)(first * batch->n) * item, nrhs = (size_t)batch->nrhs;
    size_t bytes[ARRAYS] = { [B] = rows * nrhs * item, [X] = rows * nrhs * item };
    const void *const from[] = { (const char *)batch->dl.a.data + skip,
                                 (const char *)batch->d.a.data + skip,
                                 (const char *)batch->du.a.data + skip,
                                 (const char *)batch->b.a.data + skip * nrhs };
    void *to[ARRAYS] = { [X] = (char *)job->x.data + skip * nrhs };
    void *m[ARRAYS] = { NULL }, *factors = NULL; /* in the context's memory */
    shoal_tridiag *plan = NULL;
    shoal_tridiag_info info = { 0 };
    double begin = 0;

    for (int i = DL; i <= DU; i++) bytes[i] = rows * item;
    for (int i = 0; i < OUTCOMES; i++) {
        if (!wanted(job->a, i)) continue;
        bytes[OUT + i] = 4 * (size_t)count;
        to[OUT + i] = (char *)job->out[i].data + 4 * (size_t)first;
    }
    shoal_status s = shoal_tridiag_create(c->ctx, &opts, &plan);
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++) s = shoal_alloc(c->ctx, bytes[i], &m[i]);
    if (s == SHOAL_OK && job->a->factored)
        s = shoal_alloc(c->ctx, shoal_tridiag_factor_bytes(plan), &factors);
    for (int i = DL; i <= B && s == SHOAL_OK; i++) s = shoal_copy(c->ctx, m[i], from[i], bytes[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + STATUS],
                                      .residual = m[OUT + RESIDUAL],
                                      .rcond = to[OUT + RCOND] ? m[OUT + RCOND] : NULL };
        s = shoal_tridiag_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = solve_arrays(plan, batch->type, m, factors);
    if (s == SHOAL_OK) s = shoal_tridiag_last(plan, &info);
    const double seconds = cli_now() - begin;
    for (int i = X; i < ARRAYS && s == SHOAL_OK; i++)
        if (bytes[i] > 0) s = shoal_copy(c->ctx, to[i], m[i], bytes[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) {
        const cli_totals slice = { .method = info.method,
                                   .variant = info.variant,
                                   .solved = count,
                                   .failed = info.failed,
                                   .warned = info.warned,
                                   .redone = info.redone,
                                   .max_residual = info.max_residual,
                                   .seconds = seconds };
        cli_totals_add(totals, &slice);
        job->groups = info.groups;
        job->group_threads = info.threads;
    }
    shoal_tridiag_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    shoal_free(c->ctx, factors);
    return code;
}

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const batch_job *job = of;
    const tridiag_arguments *a = job->a;
    const tridiag_batch *batch = job->batch;
    io_json *j = cli_json_begin(c, "solve tridiag");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    io_json_string(j, "layout", cli_layout_name(batch->layout));
    cli_totals_json_method(j, t, a->method);
    if (job->groups > 0) {
        io_json_int(j, "groups", job->groups);
        io_json_int(j, "group_threads", job->group_threads);
    }
    io_json_bool(j, "transposed", a->transposed);
    io_json_bool(j, "factored", a->factored);
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    io_json_double(j, "tol", a->tol > 0 ? a->tol : 100 * roundoff);
    io_json_bool(j, "periodic", a->periodic);
    if (t->method && strcmp(t->method, "gspike") == 0) {
        io_json_double(j, "delta", a->delta > 0 ? a->delta : sqrt(roundoff));
        if (a->cond > 0)
            io_json_double(j, "cond", a->cond);
        else
            io_json_null(j, "cond");
        io_json_bool(j, "split", !a->no_split);
    }
    cli_totals_json(j, t);
    const struct {
        const char *key, *path;
    } files[] = { { "A", a->in.matrix }, { "dl", a->in.dl }, { "d", a->in.d },
                  { "du", a->in.du },    { "b", a->in.b },   { "x", a->x } };
    io_json_object(j, "files");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].path) io_json_string(j, files[i].key, files[i].path);
    cli_outcomes_json(j, tridiag_outcomes, OUTCOMES, a->out);
    if (a->in.offsets) io_json_string(j, "offsets", a->in.offsets);
    io_json_close(j);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const batch_job *job = of;
    const tridiag_batch *batch = job->batch;
    printf("systems       %lld of %s%lld unknowns, %lld right-hand side%s, %s\n",
           (long long)batch->count, batch->offsets ? "at most " : "", (long long)batch->n,
           (long long)batch->nrhs, batch->nrhs == 1 ? "" : "s", cli_type_name(batch->type));
    cli_totals_print_method(c, t);
    if (job->groups > 0)
        printf("parts         %d groups of %d threads\n", job->groups, job->group_threads);
    cli_totals_print(t);
}

static int solve_batch(cli *c, batch_job *job) {
    const tridiag_arguments *a = job->a;
    const tridiag_batch *batch = job->batch;
    cli_totals t = {
        .verb = "solve", .one = "system", .many = "systems", .redoes = true, .max_residual = -1
    };
    const bool cut = batch->layout == SHOAL_SYSTEM_MAJOR && !batch->offsets;
    int code = cli_slices(c, batch->count, is_empty(batch), cut ? batch->n * batch->nrhs : 0,
                          solve_slice, job, &t);
    float *rcond = job->out[RCOND].data;
    for (int64_t k = 0; k < batch->count && is_empty(batch) && a->out[RCOND]; k++)
        rcond[k] = batch->n == 0 ? 1 : NAN; /* nothing was solved: not known */
    if (code == CLI_OK)
        code = cli_array_write(a->x, job->x.type, job->x.ndim, job->x.shape, job->x.data);
    if (code == CLI_OK) code = cli_outcomes_write(OUTCOMES, a->out, job->out);
    return cli_totals_show(c, code, &t, job->out[STATUS].data, print_json, print_table, job);
}

/* Host arrays for the answer. */
static int create_answer(batch_job *job) {
    io_error err;
    bool kept[OUTCOMES];
    const io_array *b = &job->batch->b.a;
    for (int i = 0; i < OUTCOMES; i++) kept[i] = wanted(job->a, i);
    const int code = cli_io(io_array_create(b->type, b->ndim, b->shape, &job->x, &err), &err);
    return code != CLI_OK ? code
                          : cli_outcomes_create(tridiag_outcomes, OUTCOMES, job->a->out, kept,
                                                job->batch->count, is_empty(job->batch), job->out);
}

int cmd_solve_tridiag(cli *c, int argc, char **argv) {
    tridiag_arguments a = { .method = "auto" };
    tridiag_batch batch;
    batch_job job = { .a = &a, .batch = &batch };
    int code = cli_parse_argp(c, &tridiag_argp, argc, argv, &a);
    if (code == CLI_OK) code = cli_check_method(argv[0], "tridiag", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);

    code = tridiag_read(c, &a.in, a.layout, &batch);
    if (code == CLI_OK) code = create_answer(&job);
    if (code == CLI_OK) code = solve_batch(c, &job);
    io_array_free(&job.x);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&job.out[i]);
    tridiag_free(&batch);
    return code;
}
