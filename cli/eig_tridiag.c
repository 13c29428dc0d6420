/* SPDX-License-Identifier: Apache-2.0
 *
 * eig_tridiag.c - `shoal eig tridiag`: eigenpairs of many symmetric tridiagonal matrices from files.
 */
#include "eig.h"

/* clang-format off */
enum { KEY_D = 0x2100, KEY_E, KEY_LAYOUT };

static const struct argp_option options[] = {
    { "d",      KEY_D,      "FILE", 0, "diagonals, n numbers a matrix", 1 },
    { "e",      KEY_E,      "FILE", 0, "subdiagonals, n - 1 numbers a matrix", 1 },
    { "layout", KEY_LAYOUT, "L",    0, "system: (count,n), or interleaved: (n,count) [system]", 6 },
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

static error_t parse(int key, char *arg, struct argp_state *state) {
    eig_arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = a; return 0;
    case KEY_D:         a->d = arg; return 0;
    case KEY_E:         a->e = arg; return 0;
    case KEY_LAYOUT:    a->layout = cli_arg_layout(state, arg); return 0;
    case ARGP_KEY_ARG:  argp_error(state, "unexpected argument '%s': files are given by options", arg);
                        return 0;
    case ARGP_KEY_END:
        if (!a->d) argp_error(state, "--d is missing: the diagonals");
        if (!a->e) argp_error(state, "--e is missing: the subdiagonals");
        eig_check(a, state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

int cmd_eig_tridiag(cli *c, int argc, char **argv) {
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
    code = small_read_diagonals(c, a.d, a.e, a.layout, &batch);
    if (code == CLI_OK) code = eig_run(c, &a, &batch);
    small_free(&batch);
    return code;
}
