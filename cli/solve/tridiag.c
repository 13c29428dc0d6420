/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - `shoal solve tridiag`: many tridiagonal systems from .npy files or a Matrix Market file.
 *
 * A large batch goes through the context in slices (totals.h). Batches that are interleaved, or of
 * different sizes, are one slice.
 */
#include <math.h>

#include "cli/common/totals.h"
#include "io/mtx.h"

enum { SMALL = 1 << 16 }; /* unknowns that are no burden, whatever the file */

enum { DL, D, DU, B, INPUTS };

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, OUTCOMES };
static const cli_outcome outcomes[OUTCOMES] = { { IO_I4, 1 }, { IO_F4, 1 }, { IO_F4, 1 } };

enum { GSPIKE_BLOCK = 32 }; /* rows per block of gspike, unless --block is given */

typedef struct arguments {
    const char *matrix, *in[INPUTS]; /* either matrix and b, or dl, d, du and b */
    const char *offsets;             /* NULL: systems of one size */
    const char *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    int factored;
    shoal_tridiag_opts opts; /* without the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "dl",       OPT_INPUT,    AT(in[DL]),        "FILE", 1, "lower diagonal; the first entry of each system is ignored", .with = "d du", .without = "A",
      .more = "The diagonals have shape (n) or (count,n), all three of length n." },
    { "d",        OPT_INPUT,    AT(in[D]),         "FILE", 2, "diagonal", .with = "dl du", .without = "A", .needed = "give --dl, --d and --du, or -A", .unless = "A" },
    { "du",       OPT_INPUT,    AT(in[DU]),        "FILE", 3, "upper diagonal; the last entry of each system is ignored", .with = "dl d", .without = "A" },
    { NULL,       OPT_INPUT,    AT(matrix),        "FILE", 4, "instead: one tridiagonal Matrix Market matrix", .letter = 'A',
      .more = "It is square with n rows; b has shape (n) or (n,nrhs)." },
    { NULL,       OPT_INPUT,    AT(in[B]),         "FILE", 5, "right-hand sides", .letter = 'b', .needed = "the right-hand sides",
      .more = "Their shape is that of the diagonals, with or without one more axis at the end." },
    { NULL,       OPT_OUTPUT,   AT(x),             "FILE", 6, "write the solutions here, in the shape and type of b", .letter = 'x', .needed = "where to write the solutions", .ends = CLI_ARRAY_ENDS,
      .more = "A .csv file has one line per system." },
    { "method",   OPT_TEXT,     AT(opts.method),   "M",    7, "auto (safe for every nonsingular matrix) or a method of `shoal info'", .methods = "tridiag",
      .more = "Rows of very different scale are the exception: see \"the ends of the range\" in `docs/tridiag.md`." },
    { "variant",  OPT_TEXT,     AT(opts.variant),  "V",    8, "variant of the method", .usual = "the first" },
    { "tol",      OPT_POSITIVE, AT(opts.tol),      "T",    9, "warn if a residual is above T", .usual = CLI_CHOSEN },
    { "periodic", OPT_FLAG,     AT(opts.periodic), NULL,   9, "periodic systems: dl[0] multiplies x[n-1], du[n-1] multiplies x[0]", .in = IN_JSON },
    { "layout",   OPT_CHOICE,   AT(opts.layout),   "L",    10, "shape of the arrays: system is (count,n), interleaved is (n,count)", .words = CLI_LAYOUTS },
    { "offsets",  OPT_INPUT,    AT(offsets),       "FILE", 10, "systems of different sizes, one after another: int64, the first row of each and the end",
      .more = "The file has count + 1 numbers. The diagonals have one axis, b has one or two. For auto, thomas, lupp and qr." },
    { "transposed", OPT_FLAG,   AT(opts.transposed), NULL, 10, "solve with the transposed matrices", .in = IN_JSON },
    { "factored", OPT_FLAG,     AT(factored),      NULL,   10, "factor all matrices first, then solve from the factors (lupp, auto); no residuals", .without = "residual rcond", .in = IN_JSON,
      .more = "x is bit-identical to that of lupp. No condition number is estimated." },
    { "status",   OPT_OUTPUT,   AT(out[STATUS]),   "FILE", 11, "write the status of each system: int32, 0 ok, > 0 warning, < 0 no answer", .ends = CLI_ARRAY_ENDS },
    { "residual", OPT_OUTPUT,   AT(out[RESIDUAL]), "FILE", 12, "write the residual of each system: float32", .ends = CLI_ARRAY_ENDS },
    { "groups",   OPT_INT,      AT(opts.groups),   "G",    13, "pscheme: groups of threads per system", 1, 1 << 20 },
    { "group-threads", OPT_INT, AT(opts.threads),  "T",    13, "pscheme: threads per group", 1, 1024 },
    { "rcond",    OPT_OUTPUT,   AT(out[RCOND]),    "FILE", 13, "write an estimate of each matrix's reciprocal condition number (1-norm): float32", .without = "periodic", .ends = CLI_ARRAY_ENDS,
      .more = "0 for a singular matrix, NaN if unknown." },
    { "block",    OPT_INT,      AT(opts.block),    "M",    13, "gspike: rows per block, so that there are p = n / M blocks, rounded up", 2, 4096, .usual = "32" },
    { "delta",    OPT_POSITIVE, AT(opts.delta),    "D",    13, "gspike: a block with |R_mm| <= D |R| counts as singular", .usual = CLI_CHOSEN },
    { "cond",     OPT_POSITIVE, AT(opts.cond),     "C",    14, "methods that pivot: warn if the estimated condition number is C or more", .usual = CLI_CHOSEN },
    { "no-split", OPT_FLAG,     AT(opts.no_split), NULL,   15, "gspike: do not split blocks if the matrix is reducible" },
    { 0 }
};
static const char doc[] =
    "Solves dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i] for every system of a batch.\n\n"
    "Arrays are NumPy .npy files, f4 (solved in f32) or f8 (f64). The three diagonals have the same shape, (n) or (count,n). b has "
    "this shape, or one more axis at the end for several right-hand sides. If a system cannot be solved, its x is NaN and the exit "
    "code is 1; the other systems are not affected.\vExample:\n"
    "  shoal solve tridiag --dl dl.npy --d d.npy --du du.npy -b b.npy -x x.npy\n"
    "  shoal solve tridiag -A A.mtx -b b.npy -x x.npy --method lupp";
/* clang-format on */

/* ---- files ------------------------------------------------------------------------------------ */

typedef struct batch {
    const arguments *a;
    int64_t n, count, nrhs;
    const int64_t *offsets; /* where the systems begin, or NULL */
    shoal_type type;
    shoal_layout layout;
    cli_array in[INPUTS], starts; /* of that type, in that layout; the offsets */
    io_array x, out[OUTCOMES];    /* the answer, on the host */
    shoal_tridiag_info info;      /* of the last slice       */
} batch;

static const char what_fits[] =
    "right-hand sides have the shape of the diagonals, or one more axis at the end";

/* A sparse file of a few bytes may state any n. Its diagonals get memory when b has been read and has that length.
 * They are no larger than b, the entries of the file and SMALL together. */
static int read_matrix(const cli *c, const char *path, batch *s) {
    io_matrix matrix;
    io_error err;
    const io_array *b = &s->in[B].a;
    int status = io_mtx_read(path, &matrix, &err);
    if (status != IO_OK) return cli_io(status, &err);
    if (matrix.duplicates > 0)
        cli_note(c, "%s: %lld duplicate entries were added up", path, (long long)matrix.duplicates);
    for (int i = DL; i <= DU; i++) s->in[i].path = path;
    if (matrix.rows == matrix.cols && (b->ndim == 0 || b->shape[0] != matrix.rows)) {
        const cli_array diagonal = { .path = path, .a = { .ndim = 1, .shape = { matrix.rows } } };
        io_matrix_free(&matrix);
        return cli_array_misfit(&s->in[B], &diagonal, what_fits);
    }
    const int64_t unknowns = io_array_count(b) + matrix.count + SMALL;
    const int64_t limit = unknowns < INT64_MAX / 24 ? 24 * unknowns : INT64_MAX;
    status =
        io_matrix_tridiagonal(&matrix, path, limit, &s->in[DL].a, &s->in[D].a, &s->in[DU].a, &err);
    io_matrix_free(&matrix);
    return cli_io(status, &err);
}

/* Equal in the first ndim axes. */
static bool same_shape(const io_array *a, const io_array *b, int ndim) {
    for (int k = 0; k < ndim; k++)
        if (a->shape[k] != b->shape[k]) return false;
    return true;
}

/* Systems of different sizes: diagonals of one axis, and count + 1 offsets that fit them. */
static int read_offsets(const char *path, batch *s) {
    if (s->layout == SHOAL_INTERLEAVED || s->in[D].a.ndim != 1)
        return cli_fail(
            CLI_INPUT, "%s: with --offsets the diagonals have one axis, system after system", path);
    const int code = cli_array_read_offsets(&s->starts, path, &s->in[D], "rows", &s->n);
    if (code != CLI_OK) return code;
    s->offsets = s->starts.a.data;
    s->count = s->starts.a.shape[0] - 1;
    return CLI_OK;
}

/* Diagonals are (n), (count,n) or, interleaved, (n,count), or all rows with offsets; b is of the same shape or has one
 * more last axis. */
static int check_shapes(batch *s) {
    const io_array *d = &s->in[D].a, *b = &s->in[B].a;
    const bool interleaved = s->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", s->in[D].path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        interleaved ? "(n, count)" : "(count, n)");
    for (int i = DL; i <= DU; i++)
        if (s->in[i].a.ndim != d->ndim || !same_shape(&s->in[i].a, d, d->ndim))
            return cli_array_misfit(&s->in[i], &s->in[D],
                                    "all three diagonals have the same shape (the first "
                                    "entry of dl and the last of du are ignored)");
    if ((b->ndim != d->ndim && b->ndim != d->ndim + 1) || !same_shape(b, d, d->ndim))
        return cli_array_misfit(&s->in[B], &s->in[D], what_fits);
    s->n = d->shape[d->ndim == 2 && !interleaved];
    s->count = d->ndim == 2 ? d->shape[interleaved] : 1;
    s->nrhs = b->ndim == d->ndim ? 1 : b->shape[d->ndim];
    return CLI_OK;
}

static int read_real(cli_array *array, const char *path) {
    const int code = cli_array_read_complex(array, path);
    if (code != CLI_OK || array->a.type < IO_C8) return code;
    return cli_fail(CLI_INPUT,
                    "%s contains complex numbers: complex systems are solved by `shoal solve band'",
                    path);
}

static int read_batch(const cli *c, batch *s) {
    const arguments *a = s->a;
    s->layout = a->opts.layout;
    int code = read_real(&s->in[B], a->in[B]);
    if (code == CLI_OK && a->matrix) code = read_matrix(c, a->matrix, s);
    for (int i = DL; i <= DU && !a->matrix && code == CLI_OK; i++)
        code = read_real(&s->in[i], a->in[i]);
    if (code == CLI_OK) code = check_shapes(s);
    if (code == CLI_OK && a->offsets) code = read_offsets(a->offsets, s);
    if (code == CLI_OK && a->matrix) code = cli_array_widen(c, &s->in[B]); /* text has no type */
    cli_array *all[] = { &s->in[DL], &s->in[D], &s->in[DU], &s->in[B] };
    if (code == CLI_OK) code = cli_array_unify(c, all, INPUTS, &s->type);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

/* ---- the solve -------------------------------------------------------------------------------- */

enum { X = INPUTS, OUT, ARRAYS = OUT + OUTCOMES };

static shoal_status solve_arrays(shoal_tridiag *plan, shoal_type type, const cli_place *m,
                                 void *factors) {
    void *dl = m[DL].at, *d = m[D].at, *du = m[DU].at, *b = m[B].at, *x = m[X].at;
    if (!factors) return CLI_BY_TYPE(type, shoal_tridiag_solve, plan, dl, d, du, b, x);
    const shoal_status s = CLI_BY_TYPE(type, shoal_tridiag_factor, plan, dl, d, du, factors);
    if (s != SHOAL_OK) return s;
    return CLI_BY_TYPE(type, shoal_tridiag_resolve, plan, factors, b, x);
}

static bool is_empty(const batch *s) { return s->n == 0 || s->nrhs == 0; }

/* Residuals are always kept, for their maximum; statuses to name the first failure. */
static bool is_kept(const arguments *a, int outcome) { return outcome != RCOND || a->out[RCOND]; }

static shoal_tridiag_opts options_of(const batch *s, int64_t count) {
    shoal_tridiag_opts opts = s->a->opts;
    opts.n = s->offsets ? 0 : s->n, opts.count = count;
    opts.nrhs = s->nrhs > 0 ? s->nrhs : 1;
    opts.type = s->type, opts.layout = s->layout, opts.offsets = s->offsets;
    return opts;
}

static int solve_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    batch *job = of;
    const shoal_tridiag_opts opts = options_of(job, count);
    cli_place m[ARRAYS] = { [X] = cli_place_to(&job->x, job->count, first, count) };
    void *factors = NULL;
    shoal_tridiag *plan = NULL;
    double begin = 0;
    for (int i = 0; i < INPUTS; i++) m[i] = cli_place_from(&job->in[i].a, job->count, first, count);
    for (int i = 0; i < OUTCOMES; i++)
        if (is_kept(job->a, i)) m[OUT + i] = cli_place_to(&job->out[i], job->count, first, count);
    shoal_status s = shoal_tridiag_create(c->ctx, &opts, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, ARRAYS);
    if (s == SHOAL_OK && job->a->factored)
        s = shoal_alloc(c->ctx, shoal_tridiag_factor_bytes(plan), &factors);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + STATUS].at,
                                      .residual = m[OUT + RESIDUAL].at,
                                      .rcond = m[OUT + RCOND].at };
        s = shoal_tridiag_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = solve_arrays(plan, job->type, m, factors);
    if (s == SHOAL_OK) s = shoal_tridiag_last(plan, &job->info);
    const double seconds = cli_now() - begin;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, ARRAYS);
    int code = cli_status(c, s);
    if (code == CLI_OK) cli_totals_add(totals, CLI_SLICE_OF(job->info, count, seconds));
    shoal_tridiag_free(plan);
    cli_places_end(c, m, ARRAYS);
    shoal_free(c->ctx, factors);
    return code;
}

/* ---- what is printed -------------------------------------------------------------------------- */

/* clang-format off */
#define BATCH(name, member) CLI_RESULT(name, batch, member)
static const cli_option shape_results[] = {
    BATCH("count", count), BATCH("n", n), BATCH("nrhs", nrhs),
    { "type", OPT_CHOICE, CLI_AT(batch, type), .words = CLI_TYPES },
    { "layout", OPT_CHOICE, CLI_AT(batch, layout), .words = CLI_LAYOUTS },
    { 0 }
};
static const cli_option group_results[] = { BATCH("groups", info.groups), BATCH("group_threads", info.threads), { 0 } };
static const cli_option tol_results[] = { BATCH("tol", info.tol), { 0 } };
static const cli_option delta_results[] = { BATCH("delta", info.delta), { 0 } };
static const cli_option cond_results[] = { BATCH("cond", info.cond), { 0 } };
/* clang-format on */

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const batch *s = of;
    io_json *j = cli_json_begin(c, "solve tridiag");
    cli_json_results(j, shape_results, s);
    cli_totals_json_method(j, t, s->a->opts.method);
    if (s->info.groups > 0) cli_json_results(j, group_results, s);
    cli_json_options(j, c, &solve_tridiag_command, s->a);
    cli_json_results(j, tol_results, s);
    if (shoal_method_flags("tridiag", t->method, NULL) & SHOAL_CAN_DELTA) {
        cli_json_results(j, delta_results, s);
        cli_json_results(j, cond_results, s->info.cond > 0 ? s : NULL);
        io_json_int(j, "block", s->a->opts.block ? s->a->opts.block : GSPIKE_BLOCK);
        io_json_bool(j, "split", !s->a->opts.no_split);
    }
    cli_totals_json(j, t);
    cli_json_files(j, c, &solve_tridiag_command, s->a);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const batch *s = of;
    printf("systems       %lld with %s%s, %s, %s\n", (long long)s->count,
           s->offsets ? "up to " : "", CLI_COUNT(s->n, "unknown"),
           CLI_COUNT(s->nrhs, "right-hand side"), cli_type_name(s->type));
    cli_totals_print_method(c, t);
    if (s->info.groups > 0)
        printf("parts         %s of %s\n", CLI_COUNT(s->info.groups, "group"),
               CLI_COUNT(s->info.threads, "thread"));
    cli_totals_print(t);
}

static int solve_batch(cli *c, batch *s) {
    const arguments *a = s->a;
    const io_array *b = &s->in[B].a;
    bool kept[OUTCOMES];
    cli_totals t = { .verb = "solve", .noun = "system", .redoes = true, .max_residual = -1 };
    for (int i = 0; i < OUTCOMES; i++) kept[i] = is_kept(a, i);
    int code = cli_array_create(b->type, b->ndim, b->shape, &s->x);
    if (code == CLI_OK)
        code = cli_outcomes_create(outcomes, OUTCOMES, a->out, kept, s->count, is_empty(s), s->out);
    if (code != CLI_OK) return code;
    const bool cut = s->layout == SHOAL_SYSTEM_MAJOR && !s->offsets;
    code = cli_slices(c, s->count, is_empty(s), cut ? s->n * s->nrhs : 0, solve_slice, s, &t);
    float *rcond = s->out[RCOND].data;
    for (int64_t k = 0; k < s->count && is_empty(s) && a->out[RCOND]; k++)
        rcond[k] = s->n == 0 ? 1 : NAN; /* nothing was solved: not known */
    if (code == CLI_OK) code = cli_array_write(a->x, &s->x);
    if (code == CLI_OK) code = cli_outcomes_write(OUTCOMES, a->out, s->out);
    return cli_totals_show(c, code, &t, s->out[STATUS].data, print_json, print_table, s);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .opts.method = "auto" };
    batch s = { .a = &a };
    int code = cli_begin(c, &solve_tridiag_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_batch(c, &s);
    if (code == CLI_OK) code = solve_batch(c, &s);
    for (int i = 0; i < INPUTS; i++) io_array_free(&s.in[i].a);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&s.out[i]);
    io_array_free(&s.starts.a);
    io_array_free(&s.x);
    return code;
}

const cli_command solve_tridiag_command = {
    "solve tridiag", "tridiagonal: dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i]", .doc = doc,
    .run = command, .tables = { { options, 0 } }
};
