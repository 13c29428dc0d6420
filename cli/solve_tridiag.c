/* SPDX-License-Identifier: Apache-2.0
 *
 * solve_tridiag.c - `shoal solve tridiag`: many tridiagonal systems from files.
 *
 * A large batch goes through the context in slices of about SLICE numbers an array, so that memory
 * on the device stays small, Ctrl-C is heard and the progress bar moves; the answer to a system
 * depends on that system alone, so slicing changes nothing. Batches that are interleaved, or of
 * different sizes, are one slice.
 */
#include "cli.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tridiag_options.h"

enum { SLICE = 1 << 22 };
typedef struct answer { /* host arrays, and the sums over all slices */
    void *x;
    int32_t *status;
    float *residual, *rcond; /* rcond NULL: not wanted */
    int factored;
    int64_t solved, failed, warned, redone;
    int groups, group_threads; /* of pscheme; else 0 */
    float max_residual;
    const char *method, *variant;
    double seconds;
} answer;

enum { DL, D, DU, B, X, STATUS, RESIDUAL, RCOND, ARRAYS };

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

/* One slice: systems first .. first + opts->count - 1. */
static int solve_slice(cli *c, const tridiag_batch *batch, const shoal_tridiag_opts *opts,
                       int64_t first, answer *out) {
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t rows = (size_t)(opts->offsets ? batch->rows : opts->count * batch->n);
    const size_t skip = (size_t)(first * batch->n);
    const size_t nrhs = (size_t)batch->nrhs, systems = (size_t)opts->count;
    const size_t bytes[ARRAYS] = { rows * item,
                                   rows * item,
                                   rows * item,
                                   rows * nrhs * item,
                                   rows * nrhs * item,
                                   systems * sizeof *out->status,
                                   systems * sizeof *out->residual,
                                   out->rcond ? systems * sizeof *out->rcond : 0 };
    const void *const from[] = { (const char *)batch->dl.a.data + skip * item,
                                 (const char *)batch->d.a.data + skip * item,
                                 (const char *)batch->du.a.data + skip * item,
                                 (const char *)batch->b.a.data + skip * nrhs * item };
    void *const to[] = { (char *)out->x + skip * nrhs * item, out->status + first,
                         out->residual + first, out->rcond ? out->rcond + first : NULL };
    void *m[ARRAYS] = { NULL }, *factors = NULL; /* in the context's memory */
    shoal_tridiag *plan = NULL;
    shoal_tridiag_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_tridiag_create(c->ctx, opts, &plan);
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++) s = shoal_alloc(c->ctx, bytes[i], &m[i]);
    if (s == SHOAL_OK && out->factored)
        s = shoal_alloc(c->ctx, shoal_tridiag_factor_bytes(plan), &factors);
    for (int i = DL; i <= B && s == SHOAL_OK; i++) s = shoal_copy(c->ctx, m[i], from[i], bytes[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[STATUS],
                                      .residual = m[RESIDUAL],
                                      .rcond = out->rcond ? m[RCOND] : NULL };
        s = shoal_tridiag_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = solve_arrays(plan, batch->type, m, factors);
    if (s == SHOAL_OK) s = shoal_tridiag_last(plan, &info);
    out->seconds += s == SHOAL_OK ? cli_now() - begin : 0;
    for (int i = X; i < ARRAYS && s == SHOAL_OK; i++)
        if (bytes[i] > 0) s = shoal_copy(c->ctx, to[i - X], m[i], bytes[i]);
    int code = cli_status(c, s);
    if (code == CLI_OK) {
        out->method = info.method; /* words of the library's tables: they outlive the plan */
        out->variant = info.variant;
        out->groups = info.groups;
        out->group_threads = info.threads;
        out->solved += opts->count;
        out->failed += info.failed;
        out->warned += info.warned;
        out->redone += info.redone;
        if (!(info.max_residual <= out->max_residual) && !isnan(out->max_residual))
            out->max_residual = info.max_residual; /* NaN, could not be computed, stays */
    }
    shoal_tridiag_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    shoal_free(c->ctx, factors);
    return code;
}

static int solve_all(cli *c, const tridiag_arguments *a, const tridiag_batch *batch, answer *out) {
    const bool nothing = batch->n == 0 || batch->nrhs == 0;
    shoal_tridiag_opts opts = { .n = batch->offsets ? 0 : batch->n,
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
    int64_t slice = batch->count, count = nothing ? 0 : batch->count;
    if (count > 1 && batch->layout == SHOAL_SYSTEM_MAJOR && !batch->offsets) {
        slice = SLICE / batch->n / batch->nrhs;
        if (slice < 1) slice = 1;
    }
    cli_progress bar;
    cli_progress_begin(&bar, c, "solve", count);
    int code = CLI_OK;
    int64_t first = 0;
    do { /* once even for an empty batch: method and variant are checked there */
        opts.count = count - first < slice ? count - first : slice;
        code = solve_slice(c, batch, &opts, first, out);
        first += opts.count;
        cli_progress_step(&bar, first);
        if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    } while (code == CLI_OK && first < count);
    cli_progress_end(&bar);
    if (code == CLI_OK) out->solved = batch->count;
    if (count == 0) out->max_residual = 0;
    for (int64_t k = 0; k < batch->count && nothing && out->rcond; k++)
        out->rcond[k] = batch->n == 0 ? 1 : NAN; /* nothing was solved: not known */
    if (count > 0 && out->failed == out->solved) out->max_residual = -1; /* nothing was answered */
    return code;
}

static int write_files(const tridiag_arguments *a, const tridiag_batch *batch, const answer *out) {
    int code =
        cli_array_write(a->x, cli_io_type(batch->type), batch->b.a.ndim, batch->b.a.shape, out->x);
    if (code == CLI_OK && a->status)
        code = cli_array_write(a->status, IO_I4, 1, &batch->count, out->status);
    if (code == CLI_OK && a->residual)
        code = cli_array_write(a->residual, IO_F4, 1, &batch->count, out->residual);
    if (code == CLI_OK && a->rcond)
        code = cli_array_write(a->rcond, IO_F4, 1, &batch->count, out->rcond);
    return code;
}

static void print_json(cli *c, const tridiag_arguments *a, const tridiag_batch *batch,
                       const answer *out) {
    io_json *j = cli_json_begin(c, "solve tridiag");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    io_json_string(j, "layout", cli_layout_name(batch->layout));
    io_json_string(j, "method", out->method ? out->method : a->method);
    io_json_string(j, "variant", out->variant && *out->variant ? out->variant : NULL);
    if (out->groups > 0) {
        io_json_int(j, "groups", out->groups);
        io_json_int(j, "group_threads", out->group_threads);
    }
    io_json_bool(j, "transposed", a->transposed);
    io_json_bool(j, "factored", a->factored);
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    io_json_double(j, "tol", a->tol > 0 ? a->tol : 100 * roundoff);
    io_json_bool(j, "periodic", a->periodic);
    if (out->method && strcmp(out->method, "gspike") == 0) {
        io_json_double(j, "delta", a->delta > 0 ? a->delta : sqrt(roundoff));
        if (a->cond > 0)
            io_json_double(j, "cond", a->cond);
        else
            io_json_null(j, "cond");
        io_json_bool(j, "split", !a->no_split);
    }
    io_json_int(j, "solved", out->solved);
    io_json_int(j, "failed", out->failed);
    io_json_int(j, "warned", out->warned);
    io_json_int(j, "redone", out->redone);
    if (out->max_residual >= 0)
        io_json_float(j, "max_residual", out->max_residual);
    else
        io_json_null(j, "max_residual");
    io_json_double(j, "solve_seconds", out->seconds);
    const struct {
        const char *key, *path;
    } files[] = { { "A", a->in.matrix },   { "dl", a->in.dl },
                  { "d", a->in.d },        { "du", a->in.du },
                  { "b", a->in.b },        { "x", a->x },
                  { "status", a->status }, { "residual", a->residual },
                  { "rcond", a->rcond },   { "offsets", a->in.offsets } };
    io_json_object(j, "files");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].path) io_json_string(j, files[i].key, files[i].path);
    io_json_close(j);
}

static void print_table(const cli *c, const tridiag_batch *batch, const answer *out) {
    printf("systems       %lld of %s%lld unknowns, %lld right-hand side%s, %s\n",
           (long long)batch->count, batch->offsets ? "at most " : "", (long long)batch->n,
           (long long)batch->nrhs, batch->nrhs == 1 ? "" : "s", cli_type_name(batch->type));
    printf("method        %s", out->method);
    if (out->variant && *out->variant) printf(" (%s)", out->variant);
    printf(" on %s, %s\n", c->machine.backend, c->machine.device);
    if (out->groups > 0)
        printf("parts         %d groups of %d threads\n", out->groups, out->group_threads);
    printf("failed        %lld\n", (long long)out->failed);
    printf("warned        %lld\n", (long long)out->warned);
    printf("redone        %lld\n", (long long)out->redone);
    if (out->max_residual >= 0)
        printf("max residual  %.3g\n", (double)out->max_residual);
    else
        printf("max residual  not known\n");
    printf("solve time    %.4g s\n", out->seconds);
}

static int solve_batch(cli *c, const tridiag_arguments *a, const tridiag_batch *batch,
                       answer *out) {
    int code = solve_all(c, a, batch, out);
    if (code == CLI_OK) code = write_files(a, batch, out);
    if (code != CLI_OK && code != CLI_INTERRUPTED) return code;
    if (code == CLI_OK && out->failed > 0) code = CLI_FAILED;
    if (c->json) {
        print_json(c, a, batch, out);
        code = cli_json_end(c, code);
    } else if (code != CLI_INTERRUPTED) {
        print_table(c, batch, out);
    }
    if (out->failed + out->warned > 0)
        cli_note_systems(c, "system", "systems", out->status, out->solved);
    return code;
}

int cmd_solve_tridiag(cli *c, int argc, char **argv) {
    tridiag_arguments a = { .method = "auto" };
    tridiag_batch batch;
    answer out = { .max_residual = -1 };
    int code = cli_parse(c, &tridiag_argp, argc, argv, &a);
    out.factored = a.factored;
    if (code == CLI_OK) code = cli_check_method(argv[0], "tridiag", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);

    code = tridiag_read(c, &a.in, a.layout, &batch);
    io_array x = { 0 }, status = { 0 }, residual = { 0 }, rcond = { 0 };
    io_error err;
    if (code == CLI_OK)
        code = cli_io(io_array_create(batch.b.a.type, batch.b.a.ndim, batch.b.a.shape, &x, &err),
                      &err);
    const bool empty = batch.n == 0 || batch.nrhs == 0; /* a small file may claim any count */
    const int64_t statuses = empty && !a.status ? 0 : batch.count;
    const int64_t residuals = empty && !a.residual ? 0 : batch.count;
    if (code == CLI_OK) code = cli_io(io_array_create(IO_I4, 1, &statuses, &status, &err), &err);
    if (code == CLI_OK) code = cli_io(io_array_create(IO_F4, 1, &residuals, &residual, &err), &err);
    if (code == CLI_OK && a.rcond)
        code = cli_io(io_array_create(IO_F4, 1, &batch.count, &rcond, &err), &err);
    if (code == CLI_OK) {
        out.x = x.data;
        out.rcond = rcond.data;
        out.status = status.data;
        out.residual = residual.data;
        code = solve_batch(c, &a, &batch, &out);
    }
    io_array_free(&x);
    io_array_free(&status);
    io_array_free(&residual);
    io_array_free(&rcond);
    tridiag_free(&batch);
    return code;
}
