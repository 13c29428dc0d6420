/* SPDX-License-Identifier: Apache-2.0
 *
 * small.c - `shoal solve small`: many small symmetric systems from files; and the run that it shares with `shoal eig`.
 *
 * With --psi and --y the systems are those of regressions, formed on the way. A large batch goes through the context in
 * slices (totals.h). The library judges eigenpairs only where a residual is computed, which needs the vectors: it is
 * computed with the vectors, or if it is to be written, and values alone are found without either.
 */
#include "small.h"

#include <math.h>
#include <string.h>

enum { A, B, INPUTS };

static const cli_outcome outcomes[SMALL_OUTCOMES] = {
    [SMALL_STATUS] = { IO_I4, 1 }, [SMALL_RESIDUAL] = { IO_F4, 1 }, [SMALL_RCOND] = { IO_F4, 1 },
    [SMALL_RANK] = { IO_I4, 1 },   [SMALL_INERTIA] = { IO_I4, 3 },  [SMALL_METHOD] = { IO_I4, 1 }
};

/* clang-format off */
#define AT(member) CLI_AT(small_arguments, member)
const cli_option small_matrix_options[] = {
    { "packed",     OPT_FLAG,     AT(opts.storage),  NULL,   6, "A contains one triangle, row after row", .value = SHOAL_PACKED,
      .more = "Its shape is (count,n(n+1)/2), or (n(n+1)/2) for one matrix: A00 A10 A11 A20 ... of the lower triangle." },
    { "triangle",   OPT_CHOICE,   AT(opts.triangle), "T",    7, "the triangle that is read: lower or upper", .words = CLI_TRIANGLES, .given = offsetof(small_arguments, triangle_given),
      .more = CLI_TRIANGLE_RULE },
    { 0 }
};
static const cli_option options[] = {
    { NULL,         OPT_INPUT,    AT(in[A]),         "FILE", 1, "matrices; one triangle is read, the other may contain anything", .letter = 'A', .with = "b", .without = "psi y", .needed = "the matrices", .unless = "psi y" },
    { NULL,         OPT_INPUT,    AT(in[B]),         "FILE", 2, "right-hand sides", .letter = 'b', .with = "A", .without = "psi y",
      .more = "Shape (count,n), for one matrix (n), with or without one more axis at the end." },
    { "psi",        OPT_INPUT,    AT(psi),           "FILE", 3, "instead of -A and -b, least squares: the regressors", .with = "y", .without = "packed triangle",
      .more = "Shape (count,M,n), or (M,n) for one system of M samples. A is the mean of psi psit over the samples, b the mean of psi y." },
    { "y",          OPT_INPUT,    AT(y),             "FILE", 3, "with --psi: the values to fit", .with = "psi",
      .more = "Shape (count,M), or (M), with or without one more axis at the end." },
    { NULL,         OPT_OUTPUT,   AT(answer[0]),     "FILE", 3, "write the solutions here, in the shape and type of b", .letter = 'x', .needed = "where to write the solutions", .ends = CLI_ARRAY_ENDS,
      .more = "With --psi the shape is (count,n) or (n), with or without one more axis at the end. A .csv file has one line per system." },
    { "method",     OPT_TEXT,     AT(opts.method),   "M",    4, "auto or a method of `shoal info'", .methods = "smallsym" },
    { "variant",    OPT_TEXT,     AT(opts.variant),  "V",    5, "variant of the method", .usual = "the first" },
    { "team",       OPT_INT,      AT(opts.team),     "N",    5, "variant hybrid: threads per system", 1, 1024, .usual = "chosen by the method", .in = IN_JSON },
    { "rule",       OPT_CHOICE,   AT(opts.rule),     "R",    5, "method auto: what has a system redone, condition or residue", .words = "condition|residue", .in = IN_JSON,
      .more = "residue is the rule of the paper of Abbas-Turki and Graillat: the residue alone decides, and eigdc redoes the system." },
    { "refine",     OPT_INT,      AT(opts.refine),   "N",    8, "steps of refinement, with the residual in double", 0, 100, .in = IN_JSON,
      .more = "On a GPU not available in hhpcr and eigdc." },
    { "estimate",   OPT_FLAG,     AT(opts.estimate), NULL,   8, "--rcond is an estimate in the 1-norm, not the method's bound", .in = IN_JSON,
      .more = "On a GPU not available in hhpcr and eigdc." },
    { "cond",       OPT_POSITIVE, AT(opts.cond),     "C",    8, "methods that truncate: condition number beyond which eigenvalues are discarded", .usual = CLI_CHOSEN },
    { "tol",        OPT_POSITIVE, AT(opts.tol),      "T",    9, "warn if a residual is above T", .usual = CLI_CHOSEN },
    { "status",     OPT_OUTPUT,   AT(out[SMALL_STATUS]),   "FILE", 10, "write the status of each system: int32, 0 ok, > 0 warning, < 0 no answer", .ends = CLI_ARRAY_ENDS },
    { "residual",   OPT_OUTPUT,   AT(out[SMALL_RESIDUAL]), "FILE", 11, "write the residual of each system: float32", .ends = CLI_ARRAY_ENDS },
    { "rcond",      OPT_OUTPUT,   AT(out[SMALL_RCOND]),    "FILE", 12, "write the method's bound on the reciprocal condition number, or with --estimate an estimate: float32", .ends = CLI_ARRAY_ENDS },
    { "rank",       OPT_OUTPUT,   AT(out[SMALL_RANK]),     "FILE", 13, "write the numerical rank: int32", .ends = CLI_ARRAY_ENDS },
    { "inertia",    OPT_OUTPUT,   AT(out[SMALL_INERTIA]),  "FILE", 14, "write the numbers of positive, negative and zero eigenvalues: int32, (count,3)", .ends = CLI_ARRAY_ENDS },
    { "method-out", OPT_OUTPUT,   AT(out[SMALL_METHOD]),   "FILE", 15, "write which method answered: int32, in the order of `shoal info'", .key = "method-out", .ends = CLI_ARRAY_ENDS },
    { 0 }
};
static const char doc[] =
    "Solves A x = b for every system of a batch of small symmetric matrices, or fits least squares.\n\n"
    "Arrays are NumPy .npy files, f4 (solved in f32) or f8 (f64). A has shape (count,n,n), or (n,n) for one system. With --packed "
    "the shape is (count,n(n+1)/2): A00 A10 A11 A20 ... for the lower triangle, A00 A01 ... A11 ... for the upper one. b has shape "
    "(count,n), or (n) for one system, or one more axis at the end for several right-hand sides. If a system cannot be solved, its "
    "x is NaN and the exit code is 1; the other systems are not affected.\n\n"
    "Least squares: --psi (count,M,n) and --y (count,M) are M samples per system. A is the mean of psi psit over the samples, b "
    "the mean of psi y, and x (count,n) are the coefficients of the fit.\vExample:\n"
    "  shoal solve small -A A.npy -b b.npy -x x.npy --status status.npy\n"
    "  shoal solve small --psi psi.npy --y y.npy -x coefficients.npy";
/* clang-format on */

static void check(void *of, struct argp_state *state) {
    const small_arguments *a = of;
    if (a->opts.team &&
        !(shoal_method_flags("smallsym", a->opts.method, a->opts.variant) & SHOAL_CAN_TEAM))
        argp_error(state, "--team needs --variant hybrid of ldlt or hhpcr");
}

/* ---- files ------------------------------------------------------------------------------------ */

/* n of a triangle of m numbers, m = n (n + 1) / 2; -1 if there is none. */
static int64_t unknowns_of(int64_t m) {
    if (m > INT64_MAX / 16) return -1; /* no file holds that many */
    int64_t n = (int64_t)((sqrt(8 * (double)m + 1) - 1) / 2);
    while (n * (n + 1) / 2 < m) n++;
    return n * (n + 1) / 2 == m ? n : -1;
}

/* n and count from the shape of A. */
static int check_matrix(small_batch *batch) {
    const io_array *a = &batch->in[A].a;
    const bool packed = batch->storage == SHOAL_PACKED;
    const int axes = packed ? 1 : 2; /* of one system */
    char text[96];
    io_shape_text(a->ndim, a->shape, text, sizeof text);
    if (a->ndim != axes && a->ndim != axes + 1)
        return cli_fail(CLI_INPUT, "%s has shape %s; %s", batch->in[A].path, text,
                        packed ? "packed matrices are (count, n (n + 1) / 2) or (n (n + 1) / 2,)"
                               : "matrices are (count, n, n) or (n, n); with --packed "
                                 "(count, n (n + 1) / 2)");
    const int64_t last = a->shape[a->ndim - 1];
    batch->n = packed ? unknowns_of(last) : last;
    batch->several = a->ndim > axes;
    batch->count = batch->several ? a->shape[0] : 1;
    if (batch->n < 0)
        return cli_fail(CLI_INPUT, "%s has shape %s; %lld is not n (n + 1) / 2 for any n",
                        batch->in[A].path, text, (long long)last);
    if (!packed && a->shape[a->ndim - 2] != batch->n)
        return cli_fail(CLI_INPUT, "%s has shape %s; the matrices are not square",
                        batch->in[A].path, text);
    return CLI_OK;
}

static int check_system(small_batch *batch) {
    const int code = check_matrix(batch);
    if (code != CLI_OK || !batch->a->in[B]) return code;
    const io_array *b = &batch->in[B].a;
    const bool several = batch->several;
    const int axes = several ? 2 : 1; /* of one right-hand side per system */
    if ((b->ndim != axes && b->ndim != axes + 1) || b->shape[axes - 1] != batch->n ||
        (several && b->shape[0] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                several ? "right-hand sides are (count, n) or (count, n, nrhs)"
                                        : "right-hand sides of one system are (n,) or (n, nrhs)");
    batch->nrhs = b->ndim == axes ? 1 : b->shape[axes];
    return CLI_OK;
}

static int check_psi(small_batch *batch) {
    const io_array *psi = &batch->in[A].a;
    char text[96];
    io_shape_text(psi->ndim, psi->shape, text, sizeof text);
    if (psi->ndim != 2 && psi->ndim != 3)
        return cli_fail(CLI_INPUT, "%s has shape %s; samples are (count, M, n) or (M, n)",
                        batch->in[A].path, text);
    batch->count = psi->ndim == 2 ? 1 : psi->shape[0];
    batch->samples = psi->shape[psi->ndim - 2];
    batch->n = psi->shape[psi->ndim - 1];
    if (batch->samples == 0)
        return cli_fail(CLI_INPUT, "%s has shape %s: it contains no samples", batch->in[A].path,
                        text);
    return CLI_OK;
}

static int check_samples(small_batch *batch) {
    const int code = check_psi(batch);
    if (code != CLI_OK) return code;
    const io_array *psi = &batch->in[A].a, *y = &batch->in[B].a;
    const int axes = psi->ndim - 1; /* of one right-hand side per system */
    if ((y->ndim != axes && y->ndim != axes + 1) || y->shape[axes - 1] != batch->samples ||
        (axes == 2 && y->shape[0] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                axes == 2 ? "y is (count, M) or (count, M, nrhs)"
                                          : "y of one system is (M,) or (M, nrhs)");
    batch->nrhs = y->ndim == axes ? 1 : y->shape[axes];
    return CLI_OK;
}

/* n and count from the shape of d; e has one entry less in a matrix, and none where there are no
 * rows. */
static int check_diagonals(small_batch *batch) {
    const io_array *d = &batch->in[A].a, *e = &batch->in[B].a;
    const bool apart = batch->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", batch->in[A].path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        apart ? "(n, count)" : "(count, n)");
    batch->several = d->ndim == 2;
    const int rows = batch->several && !apart ? 1 : 0; /* the axis of length n */
    batch->n = d->shape[rows];
    batch->count = batch->several ? d->shape[1 - rows] : 1;
    if (e->ndim != d->ndim || e->shape[rows] != (batch->n > 0 ? batch->n - 1 : 0) ||
        (batch->several && e->shape[1 - rows] != batch->count))
        return cli_array_misfit(&batch->in[B], &batch->in[A],
                                !batch->several ? "the subdiagonal of one matrix is (n - 1,)"
                                : apart         ? "subdiagonals are (n - 1, count)"
                                                : "subdiagonals are (count, n - 1)");
    return CLI_OK;
}

static int read_both(const cli *c, const char *const *paths, int (*check_shapes)(small_batch *),
                     small_batch *batch) {
    int code = CLI_OK, count = 0;
    cli_array *read[2];
    for (int i = 0; i < 2 && code == CLI_OK; i++)
        if (paths[i]) code = cli_array_read(read[count++] = &batch->in[i], paths[i]);
    if (code == CLI_OK) code = check_shapes(batch);
    if (code == CLI_OK) code = cli_array_unify(c, read, count, &batch->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

int small_read_diagonals(const cli *c, small_batch *batch) {
    batch->layout = batch->a->opts.layout;
    batch->tridiagonal = true;
    return read_both(c, batch->a->in, check_diagonals, batch);
}

/* Whether matrix k is not symmetric. */
static bool triangles_differ(const small_batch *batch, int64_t k, bool upper) {
    return cli_triangles_differ(&batch->in[A].a, k * batch->n * batch->n, batch->n, upper);
}

/* Notes that the triangles of matrices differ: they are not symmetric, and one triangle is read. */
static void note_triangles(const cli *c, const small_batch *batch) {
    const shoal_triangle triangle = batch->a->opts.triangle;
    const bool upper = triangle == SHOAL_UPPER;
    int64_t differ = 0, first = 0;
    if (c->quiet || batch->storage == SHOAL_PACKED) return;
    if (batch->n < 2) return; /* no triangles; without unknowns there can be any count */
#pragma omp parallel for reduction(+ : differ)
    for (int64_t k = 0; k < batch->count; k++) differ += triangles_differ(batch, k, upper);
    while (differ > 0 && !triangles_differ(batch, first, upper)) first++;
    if (differ > 0)
        cli_note(
            c,
            "%s: %lld of %lld matrices are not symmetric, the first is number %lld, counted from 0; "
            "the %s triangle is read (--triangle)",
            batch->in[A].path, (long long)differ, (long long)batch->count, (long long)first,
            cli_triangle_name(triangle));
}

int small_read(const cli *c, small_batch *batch) {
    const small_arguments *a = batch->a;
    if (a->psi) return read_both(c, (const char *[]){ a->psi, a->y }, check_samples, batch);
    batch->storage = a->opts.storage;
    const int code = read_both(c, a->in, check_system, batch);
    if (code == CLI_OK && !a->triangle_given) note_triangles(c, batch);
    return code;
}

void small_free(small_batch *batch) {
    for (int i = 0; i < 2; i++) io_array_free(&batch->in[i].a);
    for (int i = 0; i < 2; i++) io_array_free(&batch->answer[i]);
    for (int i = 0; i < SMALL_OUTCOMES; i++) io_array_free(&batch->out[i]);
}

/* ---- the run ---------------------------------------------------------------------------------- */

/* Statuses are always kept, to name the first failure, and residuals of systems, for their maximum. */
static bool is_kept(const small_batch *batch, int outcome) {
    if (outcome == SMALL_RESIDUAL && (!batch->eigen || batch->a->answer[1])) return true;
    return outcome == SMALL_STATUS || batch->a->out[outcome];
}

enum { X = INPUTS, V, OUT, ARRAYS = OUT + SMALL_OUTCOMES }; /* X: or eigenvalues */

static shoal_status call(shoal_smallsym *plan, const small_batch *batch, const cli_place *m) {
    const shoal_type type = batch->type;
    const int64_t M = batch->samples;
    void *in = m[A].at, *b = m[B].at, *x = m[X].at, *v = m[V].at;
    if (batch->tridiagonal) return CLI_BY_TYPE(type, shoal_smallsym_eigtridiag, plan, in, b, x, v);
    if (batch->eigen) return CLI_BY_TYPE(type, shoal_smallsym_eig, plan, in, x, v);
    if (M > 0) return CLI_BY_TYPE(type, shoal_smallsym_gram, plan, M, in, b, x);
    return CLI_BY_TYPE(type, shoal_smallsym_solve, plan, in, b, x);
}

static shoal_smallsym_opts options_of(const small_batch *batch, int64_t count) {
    shoal_smallsym_opts opts = batch->a->opts;
    opts.n = batch->n, opts.count = count, opts.nrhs = batch->nrhs > 0 ? batch->nrhs : 1;
    opts.type = batch->type, opts.layout = batch->layout, opts.storage = batch->storage;
    opts.gram = batch->samples > 0;
    return opts;
}

static int run_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    small_batch *batch = of;
    const shoal_smallsym_opts opts = options_of(batch, count);
    const int64_t all = batch->count;
    cli_place m[ARRAYS] = { { 0 } };
    shoal_smallsym *plan = NULL;
    double begin = 0;
    for (int i = 0; i < INPUTS; i++) {
        m[i] = cli_place_from(&batch->in[i].a, all, first, count);
        m[X + i] = cli_place_to(&batch->answer[i], all, first, count);
    }
    for (int i = 0; i < SMALL_OUTCOMES; i++)
        if (is_kept(batch, i)) m[OUT + i] = cli_place_to(&batch->out[i], all, first, count);
    shoal_status s = shoal_smallsym_create(c->ctx, &opts, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, ARRAYS);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + SMALL_STATUS].at,
                                      .residual = m[OUT + SMALL_RESIDUAL].at,
                                      .rcond = m[OUT + SMALL_RCOND].at,
                                      .rank = m[OUT + SMALL_RANK].at,
                                      .inertia = m[OUT + SMALL_INERTIA].at,
                                      .method = m[OUT + SMALL_METHOD].at };
        s = shoal_smallsym_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = call(plan, batch, m);
    if (s == SHOAL_OK) s = shoal_smallsym_last(plan, &batch->info);
    const double seconds = cli_now() - begin;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, ARRAYS);
    int code = cli_status(c, s);
    if (code == CLI_OK) cli_totals_add(totals, CLI_SLICE_OF(batch->info, count, seconds));
    shoal_smallsym_free(plan);
    cli_places_end(c, m, ARRAYS);
    return code;
}

/* clang-format off */
#define BATCH(name, member) CLI_RESULT(name, small_batch, member)
static const cli_option shape_results[]  = { BATCH("count", count), BATCH("n", n), { 0 } };
static const cli_option rhs_results[]    = { BATCH("nrhs", nrhs), { 0 } };
static const cli_option type_results[]   = { { "type", OPT_CHOICE, CLI_AT(small_batch, type), .words = CLI_TYPES }, { 0 } };
static const cli_option layout_results[] = { { "layout", OPT_CHOICE, CLI_AT(small_batch, layout), .words = CLI_LAYOUTS }, { 0 } };
static const cli_option sample_results[] = { BATCH("samples", samples), { 0 } };
static const cli_option matrix_results[] = {
    { "storage", OPT_CHOICE, CLI_AT(small_arguments, opts.storage), .words = "full|packed" },
    { "triangle", OPT_CHOICE, CLI_AT(small_arguments, opts.triangle), .words = CLI_TRIANGLES },
    { 0 }
};
static const cli_option limit_results[]  = { BATCH("tol", info.tol), BATCH("cond", info.cond), { 0 } };
/* clang-format on */

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = of;
    io_json *j = cli_json_begin(c, batch->command->name);
    cli_json_results(j, shape_results, batch);
    if (!batch->eigen) cli_json_results(j, rhs_results, batch);
    cli_json_results(j, type_results, batch);
    if (batch->tridiagonal)
        cli_json_results(j, layout_results, batch);
    else if (batch->samples)
        cli_json_results(j, sample_results, batch);
    else
        cli_json_results(j, matrix_results, batch->a);
    cli_totals_json_method(j, t, batch->a->opts.method);
    if (batch->eigen) io_json_bool(j, "vectors", batch->a->answer[1]);
    cli_json_options(j, c, batch->command, batch->a);
    cli_json_results(j, limit_results, batch);
    cli_totals_json(j, t);
    cli_json_files(j, c, batch->command, batch->a);
}

static bool is_empty(const small_batch *batch) {
    return batch->n == 0 || (!batch->eigen && batch->nrhs == 0);
}

int small_run(cli *c, small_batch *batch, cli_totals *t, cli_shown *table) {
    const small_arguments *a = batch->a;
    bool kept[SMALL_OUTCOMES];
    int64_t numbers = 0; /* per system */
    t->max_residual = -1;
    for (int i = 0; i < SMALL_OUTCOMES; i++) kept[i] = is_kept(batch, i);
    int code = cli_outcomes_create(outcomes, SMALL_OUTCOMES, a->out, kept, batch->count,
                                   is_empty(batch), batch->out);
    if (code != CLI_OK) return code;
    const io_array *arrays[] = { &batch->in[A].a, &batch->in[B].a, &batch->answer[0],
                                 &batch->answer[1] };
    for (int i = 0; i < 4 && batch->layout == SHOAL_SYSTEM_MAJOR && batch->count > 0; i++)
        if (arrays[i]->data) numbers += io_array_count(arrays[i]) / batch->count;
    code = cli_slices(c, batch->count, is_empty(batch), numbers, run_slice, batch, t);
    if ((is_empty(batch) || batch->count == 0) && !kept[SMALL_RESIDUAL]) t->max_residual = -1;
    for (int i = 0; i < 2 && code == CLI_OK; i++)
        code = cli_array_write(a->answer[i], &batch->answer[i]);
    if (code == CLI_OK) code = cli_outcomes_write(SMALL_OUTCOMES, a->out, batch->out);
    return cli_totals_show(c, code, t, batch->out[SMALL_STATUS].data, print_json, table, batch);
}

/* ---- the command ------------------------------------------------------------------------------ */

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = of;
    printf("systems       %lld with %s, %s, %s\n", (long long)batch->count,
           CLI_COUNT(batch->n, "unknown"), CLI_COUNT(batch->nrhs, "right-hand side"),
           cli_type_name(batch->type));
    if (batch->samples) printf("samples       %lld per system\n", (long long)batch->samples);
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

/* x has the shape of b; of samples (count,n) or (n), with one more last axis where y has it. */
static int create_answer(small_batch *batch) {
    io_array like = batch->in[B].a;
    if (batch->samples > 0) like.shape[batch->in[A].a.ndim - 2] = batch->n; /* in the place of M */
    return cli_array_create(like.type, like.ndim, like.shape, &batch->answer[0]);
}

static int command(cli *c, int argc, char **argv) {
    small_arguments a = { .opts.method = "auto" };
    small_batch batch = { .command = &solve_small_command, .a = &a };
    cli_totals t = { .verb = "solve", .noun = "system", .redoes = true };
    int code = cli_begin(c, &solve_small_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    if (a.opts.rule && strcmp(a.opts.method, "auto") != 0)
        cli_note(c, "--rule has no effect on %s", a.opts.method);
    code = small_read(c, &batch);
    if (code == CLI_OK) code = create_answer(&batch);
    if (code == CLI_OK) code = small_run(c, &batch, &t, print_table);
    small_free(&batch);
    return code;
}

const cli_command solve_small_command = {
    "solve small",  "small symmetric systems A x = b; least squares",          .doc = doc,
    .run = command, .tables = { { options, 0 }, { small_matrix_options, 0 } }, .check = check
};
