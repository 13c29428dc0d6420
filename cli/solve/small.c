/* SPDX-License-Identifier: Apache-2.0
 *
 * small.c - `shoal solve small`: many small symmetric systems from files.
 *
 * With --psi and --y the systems are those of regressions, formed on the way. A large batch goes
 * through the context in slices (totals.h).
 */
#include "cli/common/cli.h"

#include <string.h>

#include "small_samples.h"
#include "cli/common/totals.h"

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, RANK, INERTIA, METHOD, OUTCOMES };
static const cli_outcome outcomes[OUTCOMES] = {
    [STATUS] = { IO_I4, 1 }, [RESIDUAL] = { IO_F4, 1 }, [RCOND] = { IO_F4, 1 },
    [RANK] = { IO_I4, 1 },   [INERTIA] = { IO_I4, 3 },  [METHOD] = { IO_I4, 1 }
};

typedef struct arguments {
    const char *A, *b, *psi, *y, *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    bool triangle_given;
    shoal_smallsym_opts opts; /* but for the shape of the batch */
} arguments;

/* clang-format off */
#define AT(member) CLI_AT(arguments, member)
static const cli_option options[] = {
    { NULL,         OPT_INPUT,    AT(A),             "FILE", 1, "matrices; one triangle is read, the other may hold anything", .letter = 'A' },
    { NULL,         OPT_INPUT,    AT(b),             "FILE", 2, "right-hand sides", .letter = 'b' },
    { "psi",        OPT_INPUT,    AT(psi),           "FILE", 3, "instead of -A and -b: samples, of which the systems are formed" },
    { "y",          OPT_INPUT,    AT(y),             "FILE", 3, "and what is to be fitted to them" },
    { NULL,         OPT_OUTPUT,   AT(x),             "FILE", 3, "write the solutions here, in the shape of b", .letter = 'x' },
    { "method",     OPT_TEXT,     AT(opts.method),   "M",    4, "auto or a method of `shoal info'", .methods = "smallsym" },
    { "variant",    OPT_TEXT,     AT(opts.variant),  "V",    5, "variant of the method", .usual = "its first" },
    { "team",       OPT_INT,      AT(opts.team),     "N",    5, "threads per system, of the variant hybrid", 1, 1024, .usual = "n/2 below 40, else n", .in = IN_JSON },
    { "packed",     OPT_FLAG,     AT(opts.storage),  NULL,   6, "A holds one triangle, row after row", .value = SHOAL_PACKED },
    { "triangle",   OPT_CHOICE,   AT(opts.triangle), "T",    7, "lower or upper: the one that is read", .words = CLI_TRIANGLES, .given = offsetof(arguments, triangle_given) },
    { "refine",     OPT_INT,      AT(opts.refine),   "N",    8, "steps of refinement, with the residual in double", 0, 100, .in = IN_JSON },
    { "estimate",   OPT_FLAG,     AT(opts.estimate), NULL,   8, "--rcond is an estimate in the 1-norm, not the method's bound", .in = IN_JSON },
    { "cond",       OPT_POSITIVE, AT(opts.cond),     "C",    8, "condition number beyond which eigenvalues are discarded, by methods that do so", .usual = "1e5 in f32, 1e12 in f64" },
    { "tol",        OPT_POSITIVE, AT(opts.tol),      "T",    9, "residual above which an answer is not trusted", .usual = "9 n units of roundoff" },
    { "status",     OPT_OUTPUT,   AT(out[STATUS]),   "FILE", 10, "write what became of each system: int32, 0 ok, > 0 warning, < 0 no answer" },
    { "residual",   OPT_OUTPUT,   AT(out[RESIDUAL]), "FILE", 11, "write the residual of each system: float32" },
    { "rcond",      OPT_OUTPUT,   AT(out[RCOND]),    "FILE", 12, "write the method's bound of the reciprocal condition, or with --estimate an estimate of it: float32" },
    { "rank",       OPT_OUTPUT,   AT(out[RANK]),     "FILE", 13, "write the numerical rank: int32" },
    { "inertia",    OPT_OUTPUT,   AT(out[INERTIA]),  "FILE", 14, "write the numbers of positive, negative and zero eigenvalues: int32, (count,3)" },
    { "method-out", OPT_OUTPUT,   AT(out[METHOD]),   "FILE", 15, "write which method answered: int32, in the order of `shoal info'", .key = "method-out" },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Solves A x = b for every system of a batch of small symmetric matrices.\n\n"
    "Arrays are NumPy .npy files, f4 (solved in f32) or f8 (f64). A has shape (count,n,n), or (n,n) "
    "for one system, or with --packed (count,n(n+1)/2): A00 A10 A11 A20 ... of the lower triangle, "
    "A00 A01 ... A11 ... of the upper one. b has shape (count,n), or (n) for one system, or one more "
    "last axis for several right-hand sides. With --psi (count,M,n), or (M,n) for one system, and --y "
    "(count,M), or (M), or one more last axis, A is the mean of psi psit over the M samples and b that "
    "of psi y: x are the coefficients of least squares, (count,n) or (n), and so on. A system that "
    "cannot be solved gets NaN, and the exit "
    "code is 1; the others are not affected."
    "\vExample:\n"
    "  shoal gen smallsym spd --n 32 --count 1000 -o s\n"
    "  shoal solve small -A s-A.npy -b s-b.npy -x x.npy --status status.npy";

static void check(void *of, struct argp_state *state) {
    const arguments *a = of;
    const bool samples = a->psi || a->y;
    if (samples && !a->psi) argp_error(state, "--psi is missing: the samples");
    if (samples && !a->y) argp_error(state, "--y is missing: what is to be fitted");
    if (samples && (a->A || a->b))
        argp_error(state, "%s cannot stand beside --psi and --y", a->A ? "-A" : "-b");
    if (samples && (a->opts.storage || a->opts.triangle))
        argp_error(state, "%s is for -A", a->opts.storage ? "--packed" : "--triangle upper");
    if (!samples && !a->A) argp_error(state, "-A is missing: the matrices");
    if (!samples && !a->b) argp_error(state, "-b is missing: the right-hand sides");
    if (!a->x) argp_error(state, "-x is missing: where to write the solutions");
    if (a->opts.team &&
        !(shoal_method_flags("smallsym", a->opts.method, a->opts.variant) & SHOAL_CAN_TEAM))
        argp_error(state, "--team is for --variant hybrid");
}

typedef struct batch_job {
    const arguments *a;
    const small_batch *batch;
    io_array x, out[OUTCOMES]; /* the answer, on the host */
} batch_job;

/* Residuals are always wanted, for their maximum; statuses to name the first failure. */
static bool wanted(const arguments *a, int outcome) {
    return outcome <= RESIDUAL || a->out[outcome];
}

enum { A, B, X, OUT, ARRAYS = OUT + OUTCOMES };

static shoal_status solve_arrays(shoal_smallsym *plan, const small_batch *batch,
                                 void *const m[ARRAYS]) {
    const int64_t M = batch->samples;
    if (batch->type == SHOAL_F32)
        return M ? shoal_smallsym_gramf(plan, M, m[A], m[B], m[X])
                 : shoal_smallsym_solvef(plan, m[A], m[B], m[X]);
    return M ? shoal_smallsym_gram(plan, M, m[A], m[B], m[X])
             : shoal_smallsym_solve(plan, m[A], m[B], m[X]);
}

/* Numbers of a system in A, or psi. */
static int64_t numbers_of(const small_batch *batch) {
    const int64_t n = batch->n;
    if (batch->samples) return batch->samples * n;
    return batch->storage == SHOAL_PACKED ? n * (n + 1) / 2 : n * n;
}

static shoal_smallsym_opts options_of(const arguments *a, const small_batch *batch, int64_t count) {
    shoal_smallsym_opts opts = a->opts;
    opts.n = batch->n, opts.count = count, opts.nrhs = batch->nrhs > 0 ? batch->nrhs : 1;
    opts.type = batch->type, opts.gram = batch->samples > 0;
    return opts;
}

static int solve_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *totals) {
    const batch_job *job = of;
    const small_batch *batch = job->batch;
    const shoal_smallsym_opts opts = options_of(job->a, batch, count);
    const size_t item = batch->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const size_t systems = (size_t)count, n = (size_t)batch->n;
    const size_t one_A = (size_t)numbers_of(batch) * item, one_x = n * (size_t)batch->nrhs * item;
    const size_t one_b = batch->samples ? (size_t)(batch->samples * batch->nrhs) * item : one_x;
    size_t bytes[ARRAYS] = { systems * one_A, systems * one_b, systems * one_x };
    void *m[ARRAYS] = { NULL }; /* in the context's memory */
    void *to[ARRAYS] = { [X] = (char *)job->x.data + (size_t)first * one_x };
    const void *from[] = { (const char *)batch->A.a.data + (size_t)first * one_A,
                           (const char *)batch->b.a.data + (size_t)first * one_b };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info info = { 0 };
    double begin = 0;

    shoal_status s = shoal_smallsym_create(c->ctx, &opts, &plan);
    for (int i = 0; i < OUTCOMES; i++) {
        const size_t one = 4 * (size_t)outcomes[i].entries;
        bytes[OUT + i] = systems * one;
        to[OUT + i] = wanted(job->a, i) ? (char *)job->out[i].data + (size_t)first * one : NULL;
    }
    for (int i = 0; i < ARRAYS && s == SHOAL_OK; i++)
        if (i < X || to[i]) s = shoal_alloc(c->ctx, bytes[i], &m[i]);
    for (int i = A; i <= B && s == SHOAL_OK; i++) s = shoal_copy(c->ctx, m[i], from[i], bytes[i]);
    if (s == SHOAL_OK) {
        const shoal_outcome where = { .status = m[OUT + STATUS],
                                      .residual = m[OUT + RESIDUAL],
                                      .rcond = m[OUT + RCOND],
                                      .rank = m[OUT + RANK],
                                      .inertia = m[OUT + INERTIA],
                                      .method = m[OUT + METHOD] };
        s = shoal_smallsym_outcome(plan, &where);
        begin = cli_now();
    }
    if (s == SHOAL_OK) s = solve_arrays(plan, batch, m);
    if (s == SHOAL_OK) s = shoal_smallsym_last(plan, &info);
    const double seconds = cli_now() - begin;
    for (int i = X; i < ARRAYS && s == SHOAL_OK; i++)
        if (to[i]) s = shoal_copy(c->ctx, to[i], m[i], bytes[i]);
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
    }
    shoal_smallsym_free(plan);
    for (int i = 0; i < ARRAYS; i++) shoal_free(c->ctx, m[i]);
    return code;
}

static bool is_empty(const small_batch *batch) { return batch->n == 0 || batch->nrhs == 0; }

static void print_json(cli *c, const void *of, const cli_totals *t) {
    const arguments *a = ((const batch_job *)of)->a;
    const small_batch *batch = ((const batch_job *)of)->batch;
    io_json *j = cli_json_begin(c, "solve small");
    io_json_int(j, "count", batch->count);
    io_json_int(j, "n", batch->n);
    io_json_int(j, "nrhs", batch->nrhs);
    io_json_string(j, "type", cli_type_name(batch->type));
    if (batch->samples) io_json_int(j, "samples", batch->samples);
    if (!batch->samples)
        io_json_string(j, "storage", batch->storage == SHOAL_PACKED ? "packed" : "full");
    if (!batch->samples) io_json_string(j, "triangle", cli_triangle_name(a->opts.triangle));
    cli_totals_json_method(j, t, a->opts.method);
    cli_json_options(j, c, &solve_small_command, a);
    small_json_limits(j, batch, a->opts.tol, a->opts.cond);
    cli_totals_json(j, t);
    cli_json_files(j, c, &solve_small_command, a);
}

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = ((const batch_job *)of)->batch;
    printf("systems       %lld of %lld unknowns, %lld right-hand side%s, %s\n",
           (long long)batch->count, (long long)batch->n, (long long)batch->nrhs,
           batch->nrhs == 1 ? "" : "s", cli_type_name(batch->type));
    if (batch->samples) printf("samples       %lld a system\n", (long long)batch->samples);
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

static int solve_batch(cli *c, batch_job *job) {
    const arguments *a = job->a;
    const small_batch *batch = job->batch;
    cli_totals t = {
        .verb = "solve", .one = "system", .many = "systems", .redoes = true, .max_residual = -1
    };
    const int64_t numbers = numbers_of(batch) + batch->n * batch->nrhs;
    int code = cli_slices(c, batch->count, is_empty(batch), numbers, solve_slice, job, &t);
    if (code == CLI_OK)
        code = cli_array_write(a->x, job->x.type, job->x.ndim, job->x.shape, job->x.data);
    if (code == CLI_OK) code = cli_outcomes_write(OUTCOMES, a->out, job->out);
    return cli_totals_show(c, code, &t, job->out[STATUS].data, print_json, print_table, job);
}

/* Host arrays for the answer. */
static int create_answer(batch_job *job) {
    io_error err;
    int64_t x_shape[3];
    bool kept[OUTCOMES];
    const small_batch *batch = job->batch;
    const int axes = small_answer_shape(batch, x_shape);
    for (int i = 0; i < OUTCOMES; i++) kept[i] = wanted(job->a, i);
    const int code = cli_io(io_array_create(batch->b.a.type, axes, x_shape, &job->x, &err), &err);
    return code != CLI_OK ? code
                          : cli_outcomes_create(outcomes, OUTCOMES, job->a->out, kept, batch->count,
                                                is_empty(batch), job->out);
}

static int command(cli *c, int argc, char **argv) {
    arguments a = { .opts.method = "auto" };
    small_batch batch;
    batch_job job = { .a = &a, .batch = &batch };
    int code = cli_begin(c, &solve_small_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = a.psi ? small_read_samples(c, a.psi, a.y, &batch)
                 : small_read(c, a.A, a.b, a.opts.storage, &batch);
    if (code == CLI_OK && a.A && !a.triangle_given)
        small_note_triangles(c, &batch, a.opts.triangle);
    if (code == CLI_OK) code = create_answer(&job);
    if (code == CLI_OK) code = solve_batch(c, &job);
    io_array_free(&job.x);
    for (int i = 0; i < OUTCOMES; i++) io_array_free(&job.out[i]);
    small_free(&batch);
    return code;
}

const cli_command solve_small_command = {
    "solve small",
    "small symmetric: A x = b, A of up to 64 unknowns on a GPU",
    .doc = doc,
    .run = command,
    .tables = { { options, 0 } },
    .check = check
};
