/* SPDX-License-Identifier: Apache-2.0
 *
 * eig_tridiag.c - `shoal eig tridiag`: eigenpairs of many symmetric tridiagonal matrices from files.
 */
#include "eig.h"

/* clang-format off */
#define AT(member) CLI_AT(eig_arguments, member)
static const cli_option options[] = {
    { "d",      OPT_INPUT,  AT(d),           "FILE", 1, "diagonals, n numbers per matrix", .needed = "the diagonals" },
    { "e",      OPT_INPUT,  AT(e),           "FILE", 1, "subdiagonals, n - 1 numbers per matrix", .needed = "the subdiagonals" },
    { "layout", OPT_CHOICE, AT(opts.layout), "L",    6, "system: (count,n), or interleaved: (n,count)", .words = CLI_LAYOUTS },
    { 0 }
};
/* clang-format on */

static const char doc[] =
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

static int command(cli *c, int argc, char **argv) {
    eig_arguments a = { .opts.method = "eigdc" };
    small_batch batch;
    int code = cli_begin(c, &eig_tridiag_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = small_read_diagonals(c, a.d, a.e, a.opts.layout, &batch);
    if (code == CLI_OK) code = eig_run(c, &a, &batch);
    small_free(&batch);
    return code;
}

const cli_command eig_tridiag_command = {
    "eig tridiag", "symmetric tridiagonal matrices: diagonal d, subdiagonal e", .doc = doc,
    .run = command, .tables = { { options, 0 }, { eig_options, 0 } }
};
