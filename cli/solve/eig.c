/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.c - `shoal eig small` and `shoal eig tridiag`: eigenpairs of many small symmetric matrices from files.
 */
#include "small.h"

/* clang-format off */
#define AT(member) CLI_AT(small_arguments, member)
static const cli_option eig_options[] = {
    { "values",   OPT_OUTPUT,   AT(answer[0]),            "FILE", 2, "write the eigenvalues here, ascending", .letter = 'w', .needed = "where to write the eigenvalues",
      .more = "Shape (count,n), of one matrix (n), in the type of the matrices." },
    { "vectors",  OPT_OUTPUT,   AT(answer[1]),           "FILE", 3, "write the eigenvectors here [values alone]", .letter = 'v',
      .more = "Shape (count,n,n) or (n,n): V[k,:,m] belongs to w[k,m] and has length 1." },
    { "method",   OPT_TEXT,     AT(opts.method),       "M",    4, "auto or eigdc, which are the same", .methods = "smallsym", .suggest = "auto|eigdc" },
    { "variant",  OPT_TEXT,     AT(opts.variant),      "V",    5, "variant of the method, middle or gragg: how the secular equation is solved", .usual = "middle", .suggest = "middle|gragg" },
    { "cond",     OPT_POSITIVE, AT(opts.cond),         "C",    8, "eigenvalues below the largest / C are zeros to --rank and --inertia", .usual = CLI_CHOSEN },
    { "tol",      OPT_POSITIVE, AT(opts.tol),          "T",    9, "residual above which a pair is not trusted", .usual = CLI_CHOSEN },
    { "status",   OPT_OUTPUT,   AT(out[SMALL_STATUS]),   "FILE", 10, "write what became of each matrix: int32, 0 ok, > 0 warning, < 0 no answer" },
    { "residual", OPT_OUTPUT,   AT(out[SMALL_RESIDUAL]), "FILE", 11, "write the largest residual of each matrix's pairs: float32" },
    { "rcond",    OPT_OUTPUT,   AT(out[SMALL_RCOND]),    "FILE", 12, "write min|w| / max|w|: float32" },
    { "rank",     OPT_OUTPUT,   AT(out[SMALL_RANK]),     "FILE", 13, "write the numerical rank: int32" },
    { "inertia",  OPT_OUTPUT,   AT(out[SMALL_INERTIA]),  "FILE", 14, "write the numbers of positive, negative and zero eigenvalues: int32, (count,3)" },
    { 0 }
};
static const cli_option small_options[] = {
    { NULL,       OPT_INPUT,  AT(in[0]),             "FILE", 1, "matrices; one triangle is read, the other may hold anything", .letter = 'A', .needed = "the matrices" },
    { 0 }
};
static const cli_option tridiag_options[] = {
    { "d",      OPT_INPUT,  AT(in[0]),           "FILE", 1, "diagonals, n numbers per matrix", .needed = "the diagonals" },
    { "e",      OPT_INPUT,  AT(in[1]),           "FILE", 1, "subdiagonals, n - 1 numbers per matrix", .needed = "the subdiagonals",
      .more = "They are empty if n = 0." },
    { "layout", OPT_CHOICE, AT(opts.layout), "L",    6, "system: (count,n), or interleaved: (n,count)", .words = CLI_LAYOUTS },
    { 0 }
};
/* clang-format on */

static const char small_doc[] =
    "Finds the eigenvalues, and the eigenvectors if they are asked for, of every matrix of a batch "
    "of small symmetric matrices.\n\n"
    "Arrays are NumPy .npy files, f4 (worked on in f32) or f8 (f64). A has shape (count,n,n), or "
    "(n,n) for one matrix, or with --packed (count,n(n+1)/2): A00 A10 A11 A20 ... of the lower "
    "triangle, A00 A01 ... A11 ... of the upper one. The values w have shape (count,n) and ascend, "
    "the vectors V (count,n,n): V[k,:,m] belongs to w[k,m] and has length 1. A matrix that has no "
    "answer gets NaN, and the exit code is 1; the others are not affected."
    "\vExample:\n"
    "  shoal gen smallsym spd --n 32 --count 1000 -o s\n"
    "  shoal eig small -A s-A.npy -w w.npy -v V.npy";

static const char tridiag_doc[] =
    "Finds the eigenvalues, and the eigenvectors if they are asked for, of every matrix of a batch "
    "of symmetric tridiagonal matrices.\n\n"
    "Arrays are NumPy .npy files, f4 (worked on in f32) or f8 (f64). The diagonals have shape "
    "(count,n), or (n) for one matrix, the subdiagonals (count,n-1) or (n-1). The values w have the "
    "shape of the diagonals and ascend, the vectors V (count,n,n) or (n,n): V[k,:,m] belongs to "
    "w[k,m] and has length 1. Interleaved, the matrices are the last axis: (n,count), (n-1,count), "
    "(n,n,count). A matrix that has no answer gets NaN, and the exit code is 1; the others are not "
    "affected."
    "\vExample:\n"
    "  shoal eig tridiag --d d.npy --e e.npy -w w.npy -v V.npy";

static void print_table(cli *c, const void *of, const cli_totals *t) {
    const small_batch *batch = of;
    printf("matrices      %lld of %lld rows%s, %s, %s\n", (long long)batch->count,
           (long long)batch->n, batch->tridiagonal ? ", tridiagonal" : "",
           batch->a->answer[1] ? "values and vectors" : "values", cli_type_name(batch->type));
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
    cli_totals t = { .verb = "eig", .singular = "matrix", .plural = "matrices" };
    int code = cli_begin(c, command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = read(c, &batch);
    if (code == CLI_OK && a.opts.tol > 0 && !a.answer[1] && !a.out[SMALL_RESIDUAL])
        cli_note(c, "--tol has no effect: values without vectors are not judged");
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
    "eig small", "small symmetric matrices, of up to 64 rows on a GPU", .doc = small_doc,
    .run = run_small,
    .tables = { { small_options, 0 }, { small_matrix_options, 0 }, { eig_options, 0 } }
};

const cli_command eig_tridiag_command = {
    "eig tridiag", "symmetric tridiagonal matrices: diagonal d, subdiagonal e", .doc = tridiag_doc,
    .run = run_tridiag, .tables = { { tridiag_options, 0 }, { eig_options, 0 } }
};
