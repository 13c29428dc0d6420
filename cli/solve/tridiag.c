/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - `shoal solve tridiag`: many tridiagonal systems from files.
 *
 * A large batch goes through the context in slices (totals.h). Batches that are interleaved, or of
 * different sizes, are one slice.
 */
#include "cli/common/totals.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "tridiag_files.h"

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, OUTCOMES };
static const cli_outcome outcomes[OUTCOMES] = { { IO_I4, 1 }, { IO_F4, 1 }, { IO_F4, 1 } };

typedef struct arguments {
    tridiag_paths in;
    const char *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    int factored;
    shoal_tridiag_opts opts; /* but for the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "dl",       OPT_INPUT,    AT(in.dl),         "FILE", 1, "lower diagonal; its first entries are ignored" },
    { "d",        OPT_INPUT,    AT(in.d),          "FILE", 2, "diagonal" },
    { "du",       OPT_INPUT,    AT(in.du),         "FILE", 3, "upper diagonal; its last entries are ignored" },
    { NULL,       OPT_INPUT,    AT(in.matrix),     "FILE", 4, "one tridiagonal Matrix Market matrix instead", .letter = 'A' },
    { NULL,       OPT_INPUT,    AT(in.b),          "FILE", 5, "right-hand sides", .letter = 'b' },
    { NULL,       OPT_OUTPUT,   AT(x),             "FILE", 6, "write the solutions here, in the shape of b", .letter = 'x' },
    { "method",   OPT_TEXT,     AT(opts.method),   "M",    7, "auto (safe for every nonsingular matrix) or a method of `shoal info'", .methods = "tridiag" },
    { "variant",  OPT_TEXT,     AT(opts.variant),  "V",    8, "variant of the method", .usual = "its first" },
    { "tol",      OPT_POSITIVE, AT(opts.tol),      "T",    9, "residual above which an answer is not trusted", .usual = "100 units of roundoff" },
    { "periodic", OPT_FLAG,     AT(opts.periodic), NULL,   9, "the ends meet: dl[0] belongs to x[n-1], du[n-1] to x[0]", .in = IN_JSON },
    { "layout",   OPT_CHOICE,   AT(opts.layout),   "L",    10, "system: (count,n), or interleaved: (n,count)", .words = CLI_LAYOUTS },
    { "offsets",  OPT_INPUT,    AT(in.offsets),    "FILE", 10, "systems of different sizes, one after another: int64, where each begins, and the end" },
    { "transposed", OPT_FLAG,   AT(opts.transposed), NULL, 10, "solve with the transposed matrices", .in = IN_JSON },
    { "factored", OPT_FLAG,     AT(factored),      NULL,   10, "factor all matrices first, then solve from their factors (lupp, auto); no residuals", .in = IN_JSON },
    { "status",   OPT_OUTPUT,   AT(out[STATUS]),   "FILE", 11, "write what became of each system: int32, 0 ok, > 0 warning, < 0 no answer" },
    { "residual", OPT_OUTPUT,   AT(out[RESIDUAL]), "FILE", 12, "write the residual of each system: float32" },
    { "groups",   OPT_INT,      AT(opts.groups),   "G",    13, "of pscheme: groups of threads per system", 1, 1 << 20 },
    { "group-threads", OPT_INT, AT(opts.threads),  "T",    13, "of pscheme: threads per group", 1, 1024 },
    { "rcond",    OPT_OUTPUT,   AT(out[RCOND]),    "FILE", 13, "write an estimate of the reciprocal condition of each matrix, 1-norm: float32" },
    { "delta",    OPT_POSITIVE, AT(opts.delta),    "D",    13, "gspike: a block is singular where |R_mm| <= D |R|", .usual = "square root of a unit of roundoff" },
    { "cond",     OPT_POSITIVE, AT(opts.cond),     "C",    14, "gspike: warn where a block's estimated condition number is above C", .usual = "no estimate" },
    { "no-split", OPT_FLAG,     AT(opts.no_split), NULL,   15, "gspike: do not split blocks where the matrix is reducible" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Solves dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i] for every system of a batch.\n\n"
    "Arrays are NumPy .npy files, f4 (solved in f32) or f8 (f64). The diagonals have shape (n) or "
    "(count,n), all three of length n; b has the same shape, or one more last axis for several "
    "right-hand sides. A system that cannot be solved gets NaN, and the exit code is 1; the others "
    "are not affected."
    "\vExample:\n"
    "  shoal solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy \\\n"
    "      -x x.npy\n"
    "  shoal solve tridiag -A A.mtx -b b.npy -x x.npy --method lupp --json";

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    const tridiag_paths *in = &a->in;
    if (in->matrix && (in->dl || in->d || in->du))
        argp_error(state, "give either -A or --dl, --d and --du, not both");
    if (!in->matrix && (!in->dl || !in->d || !in->du))
        argp_error(state, "%s is missing: give --dl, --d and --du, or -A",
                   !in->dl  ? "--dl"
                   : !in->d ? "--d"
                            : "--du");
    if (!in->b) argp_error(state, "-b is missing: the right-hand sides");
    if (!a->x) argp_error(state, "-x is missing: where to write the solutions");
    if (a->out[RCOND] && (a->opts.periodic || a->factored))
        argp_error(state, "--rcond cannot be had with %s",
                   a->opts.periodic ? "--periodic" : "--factored");
    if (a->out[RESIDUAL] && a->factored)
        argp_error(state, "--residual cannot be had with --factored");
}

typedef struct batch_job {
    const arguments *a;
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
static bool wanted(const arguments *a, int outcome) { return outcome != RCOND || a->out[RCOND]; }

static shoal_tridiag_opts options_of(const arguments *a, const tridiag_batch *batch,
                                     int64_t count) {
    shoal_tridiag_opts opts = a->opts;
    opts.n = batch->offsets ? 0 : batch->n, opts.count = count;
    opts.nrhs = batch->nrhs > 0 ? batch->nrhs : 1;
    opts.type = batch->type, opts.layout = batch->layout, opts.offsets = batch->offsets;
    return opts;
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
    const arguments *a = job->a;
    const shoal_tridiag_opts *o = &a->opts;
    const tridiag_batch *batch = job->batch;
    io_json *j = cli_json_begin(c, "solve tridiag");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    io_json_string(j, "layout", cli_layout_name(batch->layout));
    cli_totals_json_method(j, t, o->method);
    if (job->groups > 0) {
        io_json_int(j, "groups", job->groups);
        io_json_int(j, "group_threads", job->group_threads);
    }
    cli_json_options(j, c, &solve_tridiag_command, a);
    const double roundoff = batch->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    io_json_double(j, "tol", o->tol > 0 ? o->tol : 100 * roundoff);
    if (shoal_method_flags("tridiag", t->method, NULL) & SHOAL_CAN_DELTA) {
        io_json_double(j, "delta", o->delta > 0 ? o->delta : sqrt(roundoff));
        if (o->cond > 0)
            io_json_double(j, "cond", o->cond);
        else
            io_json_null(j, "cond");
        io_json_bool(j, "split", !o->no_split);
    }
    cli_totals_json(j, t);
    cli_json_files(j, c, &solve_tridiag_command, a);
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
    const arguments *a = job->a;
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
                          : cli_outcomes_create(outcomes, OUTCOMES, job->a->out, kept,
                                                job->batch->count, is_empty(job->batch), job->out);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .opts.method = "auto" };
    tridiag_batch batch;
    batch_job job = { .a = &a, .batch = &batch };
    int code = cli_begin(c, &solve_tridiag_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = tridiag_read(c, &a.in, a.opts.layout, &batch);
    if (code == CLI_OK) code = create_answer(&job);
    if (code == CLI_OK) code = solve_batch(c, &job);
    io_array_free(&job.x);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&job.out[i]);
    tridiag_free(&batch);
    return code;
}

const cli_command solve_tridiag_command = {
    "solve tridiag",
    "tridiagonal: dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i]",
    .doc = doc,
    .run = command,
    .tables = { { options, 0 } },
    .check = check
};
