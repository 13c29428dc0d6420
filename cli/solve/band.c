/* SPDX-License-Identifier: Apache-2.0
 *
 * band.c - `shoal solve band`: many pentadiagonal systems, or complex tridiagonal ones, from .npy files. A large batch
 * goes through the context in slices (totals.h); an interleaved one is one slice.
 */
#include <shoal/band.h>

#include <math.h>

#include "cli/common/totals.h"

enum { DL2, DL, D, DU, DU2, B, INPUTS };

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, OUTCOMES };
static const cli_outcome outcomes[OUTCOMES] = { { IO_I4, 1 }, { IO_F4, 1 }, { IO_F4, 1 } };

typedef struct arguments {
    const char *in[INPUTS];
    const char *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    shoal_band_opts opts;      /* without the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { "dl2",      OPT_INPUT,    AT(in[DL2]),       "FILE", 1, "second lower diagonal; without it and --du2 the systems are tridiagonal", .with = "du2",
      .more = "The diagonals have shape (n) or (count,n), all of length n. Entries outside the matrix are ignored." },
    { "dl",       OPT_INPUT,    AT(in[DL]),        "FILE", 2, "lower diagonal", .needed = "the lower diagonal" },
    { "d",        OPT_INPUT,    AT(in[D]),         "FILE", 3, "diagonal", .needed = "the diagonal" },
    { "du",       OPT_INPUT,    AT(in[DU]),        "FILE", 4, "upper diagonal", .needed = "the upper diagonal" },
    { "du2",      OPT_INPUT,    AT(in[DU2]),       "FILE", 5, "second upper diagonal", .with = "dl2" },
    { NULL,       OPT_INPUT,    AT(in[B]),         "FILE", 6, "right-hand sides", .letter = 'b', .needed = "the right-hand sides",
      .more = "Their shape is that of the diagonals, with or without one more axis at the end." },
    { NULL,       OPT_OUTPUT,   AT(x),             "FILE", 7, "write the solutions here, in the shape and type of b", .letter = 'x', .needed = "where to write the solutions", .ends = "|npy" },
    { "tol",      OPT_POSITIVE, AT(opts.tol),      "T",    8, "warn if a residual is above T", .usual = CLI_CHOSEN },
    { "cond",     OPT_POSITIVE, AT(opts.cond),     "C",    8, "warn if the estimated condition number is C or more", .usual = CLI_CHOSEN },
    { "layout",   OPT_CHOICE,   AT(opts.layout),   "L",    9, "shape of the arrays: system is (count,n), interleaved is (n,count)", .words = CLI_LAYOUTS },
    { "status",   OPT_OUTPUT,   AT(out[STATUS]),   "FILE", 10, "write the status of each system: int32, 0 ok, > 0 warning, < 0 no answer", .ends = CLI_ARRAY_ENDS },
    { "residual", OPT_OUTPUT,   AT(out[RESIDUAL]), "FILE", 11, "write the residual of each system: float32", .ends = CLI_ARRAY_ENDS },
    { "rcond",    OPT_OUTPUT,   AT(out[RCOND]),    "FILE", 12, "write the estimated reciprocal condition number of each matrix, rows scaled, maximum norm: float32", .ends = CLI_ARRAY_ENDS,
      .more = "0 for a singular matrix, NaN if unknown." },
    { 0 }
};
static const char doc[] =
    "Solves dl2[i] x[i-2] + dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] + du2[i] x[i+2] = b[i] for every system of a batch, by LU with "
    "partial pivoting.\n\n"
    "Arrays are NumPy .npy files, all of one type: f4, f8, or complex c8 (f32), c16 (f64). Without --dl2 and --du2 the systems are "
    "tridiagonal and complex; real ones are for `shoal solve tridiag'. If a system cannot be solved, its x is NaN and the exit "
    "code is 1; the other systems are not affected.\vExample:\n"
    "  shoal gen band dominant --n 100 --count 1000 -o t\n"
    "  shoal solve band --dl2 t-dl2.npy --dl t-dl.npy --d t-d.npy --du t-du.npy --du2 t-du2.npy -b t-b.npy -x x.npy";
/* clang-format on */

/* ---- files ------------------------------------------------------------------------------------ */

typedef struct batch {
    const arguments *a;
    int64_t n, count, nrhs;
    int width;
    bool is_complex;
    shoal_type type;
    shoal_layout layout;
    cli_array in[INPUTS];
    io_array x, out[OUTCOMES]; /* the answer, on the host */
    shoal_band_info info;      /* of the last slice       */
} batch;

static bool is_needed(const batch *s, int i) { return s->width == 2 || (i != DL2 && i != DU2); }

static bool same_shape(const io_array *a, const io_array *b, int ndim) {
    for (int k = 0; k < ndim; k++)
        if (a->shape[k] != b->shape[k]) return false;
    return true;
}

/* Diagonals are (n), (count,n) or, interleaved, (n,count); b is of the same shape or has one more last axis. */
static int check_shapes(batch *s) {
    const io_array *d = &s->in[D].a, *b = &s->in[B].a;
    const bool interleaved = s->layout == SHOAL_INTERLEAVED;
    char text[96];
    if (d->ndim != 1 && d->ndim != 2)
        return cli_fail(CLI_INPUT, "%s has shape %s; a diagonal is (n,) or %s", s->in[D].path,
                        io_shape_text(d->ndim, d->shape, text, sizeof text),
                        interleaved ? "(n, count)" : "(count, n)");
    for (int i = DL2; i <= DU2; i++)
        if (is_needed(s, i) && (s->in[i].a.ndim != d->ndim || !same_shape(&s->in[i].a, d, d->ndim)))
            return cli_array_misfit(&s->in[i], &s->in[D], "all diagonals have the same shape");
    if ((b->ndim != d->ndim && b->ndim != d->ndim + 1) || !same_shape(b, d, d->ndim))
        return cli_array_misfit(
            &s->in[B], &s->in[D],
            "right-hand sides have the shape of the diagonals, or one more axis at the end");
    s->n = d->shape[d->ndim == 2 && !interleaved];
    s->count = d->ndim == 2 ? d->shape[interleaved] : 1;
    s->nrhs = b->ndim == d->ndim ? 1 : b->shape[d->ndim];
    return CLI_OK;
}

/* Real arrays as everywhere; complex ones are all of one type. */
static int unify(const cli *c, batch *s) {
    cli_array *all[INPUTS];
    int count = 0;
    for (int i = 0; i < INPUTS; i++)
        if (is_needed(s, i)) all[count++] = &s->in[i];
    for (int i = 0; i < count; i++) s->is_complex |= all[i]->a.type >= IO_C8;
    if (!s->is_complex) return cli_array_unify(c, all, count, &s->type);
    s->type = all[0]->a.type == IO_C8 ? SHOAL_F32 : SHOAL_F64;
    for (int i = 1; i < count; i++)
        if (all[i]->a.type != all[0]->a.type)
            return cli_fail(CLI_INPUT,
                            "%s contains %s, but %s contains %s: all must be of one type",
                            all[0]->path, io_type_name(all[0]->a.type), all[i]->path,
                            io_type_name(all[i]->a.type));
    return CLI_OK;
}

static int read_batch(const cli *c, batch *s) {
    const arguments *a = s->a;
    int code = CLI_OK;
    s->layout = a->opts.layout;
    s->width = a->in[DL2] ? 2 : 1;
    for (int i = 0; i < INPUTS && code == CLI_OK; i++)
        if (is_needed(s, i)) code = cli_array_read_complex(&s->in[i], a->in[i]);
    if (code == CLI_OK) code = check_shapes(s);
    if (code == CLI_OK) code = unify(c, s);
    if (code == CLI_OK && s->width == 1 && !s->is_complex)
        code = cli_fail(CLI_INPUT,
                        "%s contains real numbers: real tridiagonal systems are solved by `shoal "
                        "solve tridiag'; pentadiagonal ones need --dl2 and --du2",
                        s->in[D].path);
    if (code == CLI_OK && cli_interrupted()) code = CLI_INTERRUPTED;
    return code;
}

/* ---- the solve -------------------------------------------------------------------------------- */

enum { X = INPUTS, OUT, ARRAYS = OUT + OUTCOMES };

static bool is_empty(const batch *s) { return s->n == 0 || s->nrhs == 0; }

/* Residuals are always kept, for their maximum; statuses to name the first failure. */
static bool is_kept(const arguments *a, int outcome) { return outcome != RCOND || a->out[RCOND]; }

static int solve_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    batch *job = of;
    shoal_band_opts opts = job->a->opts;
    cli_place m[ARRAYS] = { [X] = cli_place_to(&job->x, job->count, first, count) };
    shoal_band *plan = NULL;
    double begin = 0;
    opts.n = job->n, opts.count = count, opts.nrhs = job->nrhs > 0 ? job->nrhs : 1;
    opts.width = job->width, opts.is_complex = job->is_complex, opts.type = job->type;
    for (int i = 0; i < INPUTS; i++) m[i] = cli_place_from(&job->in[i].a, job->count, first, count);
    for (int i = 0; i < OUTCOMES; i++)
        if (is_kept(job->a, i)) m[OUT + i] = cli_place_to(&job->out[i], job->count, first, count);
    shoal_status s = shoal_band_create(c->ctx, &opts, &plan);
    if (s == SHOAL_OK) s = cli_places_begin(c, m, ARRAYS);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + STATUS].at,
                                      .residual = m[OUT + RESIDUAL].at,
                                      .rcond = m[OUT + RCOND].at };
        s = shoal_band_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK)
        s = CLI_BY_TYPE(job->type, shoal_band_solve, plan, m[DL2].at, m[DL].at, m[D].at, m[DU].at,
                        m[DU2].at, m[B].at, m[X].at);
    if (s == SHOAL_OK) s = shoal_band_last(plan, &job->info);
    const double seconds = cli_now() - begin;
    if (s == SHOAL_OK) s = cli_places_copy(c, m, ARRAYS);
    int code = cli_status(c, s);
    const cli_totals slice = { .method = job->info.method,
                               .variant = "",
                               .done = count,
                               .failed = job->info.failed,
                               .warned = job->info.warned,
                               .max_residual = job->info.max_residual,
                               .seconds = seconds };
    if (code == CLI_OK) cli_totals_add(totals, &slice);
    shoal_band_free(plan);
    cli_places_end(c, m, ARRAYS);
    return code;
}

/* ---- what is printed -------------------------------------------------------------------------- */

/* clang-format off */
#define BATCH(name, member) CLI_RESULT(name, batch, member)
static const cli_option shape_results[] = {
    BATCH("count", count), BATCH("n", n), BATCH("nrhs", nrhs), BATCH("width", width), BATCH("complex", is_complex),
    { "type", OPT_CHOICE, CLI_AT(batch, type), .words = CLI_TYPES },
    { "layout", OPT_CHOICE, CLI_AT(batch, layout), .words = CLI_LAYOUTS },
    { 0 }
};
static const cli_option tol_results[] = { BATCH("tol", info.tol), BATCH("cond", info.cond), { 0 } };
/* clang-format on */

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const batch *s = of;
    io_json *j = cli_json_begin(c, "solve band");
    cli_json_results(j, shape_results, s);
    cli_totals_json_method(j, t, "auto");
    cli_json_results(j, tol_results, s);
    cli_totals_json(j, t);
    cli_json_files(j, c, &solve_band_command, s->a);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const batch *s = of;
    printf("systems       %lld with %s%s, %s, %s%s\n", (long long)s->count,
           CLI_COUNT(s->n, "unknown"), s->width == 2 ? ", pentadiagonal" : ", tridiagonal",
           CLI_COUNT(s->nrhs, "right-hand side"), s->is_complex ? "complex " : "",
           cli_type_name(s->type));
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

static int solve_batch(cli *c, batch *s) {
    const arguments *a = s->a;
    const io_array *b = &s->in[B].a;
    bool kept[OUTCOMES];
    cli_totals t = { .verb = "solve", .noun = "system", .max_residual = -1 };
    for (int i = 0; i < OUTCOMES; i++) kept[i] = is_kept(a, i);
    int code = cli_array_create(b->type, b->ndim, b->shape, &s->x);
    if (code == CLI_OK)
        code = cli_outcomes_create(outcomes, OUTCOMES, a->out, kept, s->count, is_empty(s), s->out);
    if (code != CLI_OK) return code;
    const int64_t parts = s->is_complex ? 2 : 1;
    const int64_t cut = s->layout == SHOAL_SYSTEM_MAJOR ? s->n * s->nrhs * parts : 0;
    code = cli_slices(c, s->count, is_empty(s), cut, solve_slice, s, &t);
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
    int code = cli_begin(c, &solve_band_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read_batch(c, &s);
    if (code == CLI_OK) code = solve_batch(c, &s);
    for (int i = 0; i < INPUTS; i++) io_array_free(&s.in[i].a);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&s.out[i]);
    io_array_free(&s.x);
    return code;
}

const cli_command solve_band_command = { "solve band",
                                         "pentadiagonal, or complex: five diagonals, or three",
                                         .doc = doc, .run = command, .tables = { { options, 0 } } };
