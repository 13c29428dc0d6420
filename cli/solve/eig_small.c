/* SPDX-License-Identifier: Apache-2.0
 *
 * eig_small.c - `shoal eig small`: eigenpairs of many small symmetric matrices from files.
 */
#include "eig.h"

/* clang-format off */
#define AT(member) CLI_AT(eig_arguments, member)
static const cli_option options[] = {
    { NULL,       OPT_INPUT,  AT(A),             "FILE", 1, "matrices; one triangle is read, the other may hold anything", .letter = 'A', .needed = "the matrices" },
    { "packed",   OPT_FLAG,   AT(opts.storage),  NULL,   6, "A holds one triangle, row after row", .value = SHOAL_PACKED },
    { "triangle", OPT_CHOICE, AT(opts.triangle), "T",    7, "lower or upper: the one that is read", .words = CLI_TRIANGLES, .given = offsetof(eig_arguments, triangle_given) },
    { 0 }
};
/* clang-format on */

static const char doc[] =
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

static int command(cli *c, int argc, char **argv) {
    eig_arguments a = { .opts.method = "eigdc" };
    small_batch batch;
    int code = cli_begin(c, &eig_small_command, argc, argv, &a);
    if (code != CLI_OK) return code;
    code = small_read(c, a.A, NULL, a.opts.storage, &batch);
    if (code == CLI_OK && !a.triangle_given) small_note_triangles(c, &batch, a.opts.triangle);
    if (code == CLI_OK) code = eig_run(c, &a, &batch);
    small_free(&batch);
    return code;
}

const cli_command eig_small_command = { "eig small",
                                        "small symmetric matrices, of up to 64 rows on a GPU",
                                        .doc = doc, .run = command,
                                        .tables = { { options, 0 }, { eig_options, 0 } } };
