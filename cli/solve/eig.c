/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.c - `shoal eig small` and `shoal eig tridiag`: eigenpairs of many small symmetric matrices from files.
 */
#include "small.h"

/* clang-format off */
#define AT(member) CLI_AT(small_arguments, member)
static const cli_option eig_options[] = {
    { "values",   OPT_OUTPUT,   AT(answer[0]),         "FILE", 2, "write the eigenvalues here, ascending", .letter = 'w', .needed = "where to write the eigenvalues", .ends = CLI_ARRAY_ENDS,
      .more = "Shape (count,n), for one matrix (n), in the type of the matrices." },
    { "vectors",  OPT_OUTPUT,   AT(answer[1]),         "FILE", 3, "write the eigenvectors here; without it only eigenvalues are computed", .letter = 'v', .ends = CLI_ARRAY_ENDS,
      .more = "Shape (count,n,n) or (n,n): V[k,:,m] belongs to w[k,m] and has length 1." },
    { "method",   OPT_TEXT,     AT(opts.method),       "M",    4, "auto or eigdc, which are the same", .methods = "smallsym", .words = "auto|eigdc" },
    { "variant",  OPT_TEXT,     AT(opts.variant),      "V",    5, "how the secular equation is solved: middle or gragg", .usual = "middle", .suggest = "middle|gragg" },
    { "cond",     OPT_POSITIVE, AT(opts.cond),         "C",    8, "--rank and --inertia count eigenvalues below the largest / C as zeros", .usual = CLI_CHOSEN },
    { "tol",      OPT_POSITIVE, AT(opts.tol),          "T",    9, "warn if a residual is above T", .usual = CLI_CHOSEN },
    { "status",   OPT_OUTPUT,   AT(out[SMALL_STATUS]),   "FILE", 10, "write the status of each matrix: int32, 0 ok, > 0 warning, < 0 no answer", .ends = CLI_ARRAY_ENDS },
    { "residual", OPT_OUTPUT,   AT(out[SMALL_RESIDUAL]), "FILE", 11, "write the largest residual of each matrix's eigenpairs: float32", .ends = CLI_ARRAY_ENDS },
    { "rcond",    OPT_OUTPUT,   AT(out[SMALL_RCOND]),    "FILE", 12, "write min|w| / max|w|: float32", .ends = CLI_ARRAY_ENDS },
    { "rank",     OPT_OUTPUT,   AT(out[SMALL_RANK]),     "FILE", 13, "write the numerical rank: int32", .ends = CLI_ARRAY_ENDS },
    { "inertia",  OPT_OUTPUT,   AT(out[SMALL_INERTIA]),  "FILE", 14, "write the numbers of positive, negative and zero eigenvalues: int32, (count,3)", .ends = CLI_ARRAY_ENDS },
    { 0 }
};
static const cli_option small_options[] = {
    { NULL,       OPT_INPUT,  AT(in[0]),             "FILE", 1, "matrices; one triangle is read, the other may contain anything", .letter = 'A', .needed = "the matrices" },
    { 0 }
};
static const cli_option tridiag_options[] = {
    { "d",      OPT_INPUT,  AT(in[0]),           "FILE", 1, "diagonals, n numbers per matrix", .needed = "the diagonals" },
    { "e",      OPT_INPUT,  AT(in[1]),           "FILE", 1, "subdiagonals, n - 1 numbers per matrix", .needed = "the subdiagonals",
      .more = "Empty if n = 0." },
    { "layout", OPT_CHOICE, AT(opts.layout), "L",    6, "shape of the arrays: system is (count,n), interleaved is (n,count)", .words = CLI_LAYOUTS },
    { 0 }
};
/* clang-format on */

#define ARRAYS "Arrays are NumPy .npy files, f4 (computed in f32) or f8 (f64). "
#define FAILURES                                                                                   \
    " If a matrix has no answer, its results are NaN and the exit code is 1; the other matrices "  \
    "are not affected."

static const char small_doc[] =
    "Computes the eigenvalues, and on request the eigenvectors, of every matrix of a batch of small symmetric matrices.\n\n" ARRAYS
    "A has shape (count,n,n), or (n,n) for one matrix. With --packed the shape is (count,n(n+1)/2): A00 A10 A11 A20 "
    "... for the lower triangle, A00 A01 ... A11 ... for the upper one. The eigenvalues w have shape (count,n) and ascend, the "
    "eigenvectors V have shape (count,n,n): V[k,:,m] belongs to w[k,m] and has length 1." FAILURES
    "\vExample:\n"
    "  shoal eig small -A A.npy -w w.npy -v V.npy";

static const char tridiag_doc[] =
    "Computes the eigenvalues, and on request the eigenvectors, of every matrix of a batch of symmetric tridiagonal "
    "matrices.\n\n" ARRAYS
    "The diagonals have shape (count,n), or (n) for one matrix, the subdiagonals (count,n-1) or (n-1). "
    "The eigenvalues w have the shape of the diagonals and ascend, the eigenvectors V have shape (count,n,n) or (n,n): V[k,:,m] "
    "belongs to w[k,m] and has length 1. With --layout interleaved the count is the last axis: (n,count), (n-1,count), "
    "(n,n,count)." FAILURES "\vExample:\n"
    "  shoal eig tridiag --d d.npy --e e.npy -w w.npy -v V.npy";

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = of;
    printf("matrices      %lld with %s%s, %s, %s\n", (long long)batch->count,
           CLI_COUNT(batch->n, "row"), batch->tridiagonal ? ", tridiagonal" : "",
           batch->a->answer[1] ? "eigenvalues and eigenvectors" : "eigenvalues",
           cli_type_name(batch->type));
    cli_totals_print_method(c, t);
    cli_totals_print(t);
}

/* w and V have shapes like the input's. */
static int create_answer(small_batch *batch) {
    const io_type type = cli_io_type(batch->type);
    const int64_t n = batch->n, count = batch->count;
    const bool interleaved = batch->layout == SHOAL_INTERLEAVED;
    const int64_t first = !batch->several || interleaved ? n : count,
                  last = interleaved ? count : n;
    const int64_t w[] = { first, last }, v[] = { first, n, last };
    const int code = cli_array_create(type, 1 + batch->several, w, &batch->answer[0]);
    if (code != CLI_OK || !batch->a->answer[1]) return code;
    return cli_array_create(type, 2 + batch->several, v, &batch->answer[1]);
}

static int run(cli *c, const cli_command *command, int argc, char **argv,
               int (*read)(const cli *c, small_batch *batch)) {
    small_arguments a = { .opts.method = "eigdc" };
    small_batch batch = { .command = command, .a = &a, .eigen = true };
    cli_totals t = { .verb = "eig", .noun = "matrix" };
    int code = cli_begin(c, command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read(c, &batch);
    if (code == CLI_OK && a.opts.tol > 0 && !a.answer[1] && !a.out[SMALL_RESIDUAL])
        cli_note(c, "--tol has no effect: residuals need --vectors or --residual");
    if (code == CLI_OK) code = create_answer(&batch);
    if (code == CLI_OK) code = small_run(c, &batch, &t, print_table);
    small_free(&batch);
    return code;
}

static int run_small(cli *c, int argc, char **argv) {
    return run(c, &eig_small_command, argc, argv, small_read);
}

static int run_tridiag(cli *c, int argc, char **argv) {
    return run(c, &eig_tridiag_command, argc, argv, small_read_diagonals);
}

const cli_command eig_small_command = {
    "eig small", "small symmetric matrices, on a GPU of up to 64 rows", .doc = small_doc,
    .run = run_small,
    .tables = { { small_options, 0 }, { small_matrix_options, 0 }, { eig_options, 0 } }
};

const cli_command eig_tridiag_command = {
    "eig tridiag", "symmetric tridiagonal matrices: diagonal d, subdiagonal e", .doc = tridiag_doc,
    .run = run_tridiag, .tables = { { tridiag_options, 0 }, { eig_options, 0 } }
};
