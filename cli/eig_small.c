/* SPDX-License-Identifier: Apache-2.0
 *
 * eig_small.c - `shoal eig small`: eigenpairs of many small symmetric matrices from files.
 */
#include "eig.h"

/* clang-format off */
enum { KEY_PACKED = 0x2100, KEY_TRIANGLE };

static const struct argp_option options[] = {
    { NULL,       'A',          "FILE", 0, "matrices; one triangle is read, the other may hold anything", 1 },
    { "packed",   KEY_PACKED,   NULL,   0, "A holds one triangle, row after row", 6 },
    { "triangle", KEY_TRIANGLE, "T",    0, "lower or upper: the one that is read [lower]", 7 },
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

static error_t parse(int key, char *arg, struct argp_state *state) {
    eig_arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = a; return 0;
    case 'A':           a->A = arg; return 0;
    case KEY_PACKED:    a->storage = SHOAL_PACKED; return 0;
    case KEY_TRIANGLE:  a->triangle = cli_arg_triangle(state, arg); a->triangle_given = true; return 0;
    case ARGP_KEY_ARG:  argp_error(state, "unexpected argument '%s': files are given by options", arg);
                        return 0;
    case ARGP_KEY_END:
        if (!a->A) argp_error(state, "-A is missing: the matrices");
        eig_check(a, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

int cmd_eig_small(cli *c, int argc, char **argv) {
    static const struct argp_child children[] = { { &eig_common, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = {
        .options = options, .parser = parse, .doc = doc, .children = children
    };
    eig_arguments a = { .method = "eigdc" };
    small_batch batch;
    int code = cli_parse_argp(c, &argp, argc, argv, &a);
    if (code == CLI_OK) code = cli_check_method(argv[0], "smallsym", a.method, a.variant);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    code = small_read(c, a.A, NULL, a.storage, &batch);
    if (code == CLI_OK && !a.triangle_given) small_note_triangles(c, &batch, a.triangle);
    if (code == CLI_OK) code = eig_run(c, &a, &batch);
    small_free(&batch);
    return code;
}
