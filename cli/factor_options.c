/* SPDX-License-Identifier: Apache-2.0
 *
 * factor_options.c - the options of `shoal factor`: the table and its parser.
 */
#include "factor_files.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_PIVOT = 0x2000,
    KEY_ALPHA,
    KEY_TOL,
    KEY_REFINE,
    KEY_INVERSE,
    KEY_GJGT,
    KEY_PARTITIONED,
    KEY_MODIFY,
    KEY_NO_CHECK,
    KEY_PACKED,
    KEY_FULL,
    KEY_TRIANGLE,
    KEY_TYPE,
    KEY_GROWTH,
    KEY_SNAPSHOTS,
    KEY_STAGES
};

/* clang-format off */
static const struct argp_option options[] = {
    { "pivot",     KEY_PIVOT,     "P",     0, "how pivots are chosen: complete, partial, rook, or auto [auto]", 1 },
    { "alpha",     KEY_ALPHA,     "A",     0, "1x1 pivots above A times the largest entry, 0 < A < 1 "
                                              "[(1 + sqrt 17) / 8]", 2 },
    { "tol",       KEY_TOL,       "T",     0, "entries at most this large are no pivots, absolute "
                                              "[max |A| 2^-52, in f32 2^-23]", 3 },
    { NULL,        'b',           "FILE",  0, "right-hand sides of A x = b, (n) or (n,nrhs)", 4 },
    { NULL,        'x',           "FILE",  0, "write the solutions here, in the shape of b", 4 },
    { "refine",    KEY_REFINE,    NULL,    0, "improve x by steps of refinement, and tell its backward error and a bound "
                                              "on its error; needs A twice", 4 },
    { "inverse",   KEY_INVERSE,   "F.npy", 0, "write the inverse, (n,n)", 5 },
    { "output",    'o',           "FILE",  0, "write M and D: F.h5, or F.npy with F-interchanges.npy and "
                                              "F-permutation.npy", 5 },
    { "gjgt",      KEY_GJGT,      "FILE",  0, "write G of P A Pt = G J Gt, (n,rank): G.npy with G-signs.npy and "
                                              "G-permutation.npy, or G.h5", 6 },
    { "partitioned", KEY_PARTITIONED, NULL, 0, "of --gjgt: the columns of +1 before those of -1", 6 },
    { "modify",    KEY_MODIFY,    "DELTA", 0, "modified Cholesky: eigenvalues of D below DELTA become DELTA, x and "
                                              "files are those of A + E; auto: sqrt(unit of roundoff) |A|", 7 },
    { "no-check",  KEY_NO_CHECK,  NULL,    0, "do not compute the relative error, nor keep A for it", 8 },
    { "packed",    KEY_PACKED,    NULL,    0, "keep one triangle, n(n+1)/2 numbers (the default)", 9 },
    { "full",      KEY_FULL,      NULL,    0, "keep n rows of n numbers", 9 },
    { "triangle",  KEY_TRIANGLE,  "T",     0, "the one that is read: lower or upper [lower]", 10 },
    { "type",      KEY_TYPE,      "T",     0, "f32 or f64 [that of the file; of .mtx f64]", 11 },
    { "growth",    KEY_GROWTH,    "F.svg", 0, "draw the element growth of each stage", 12 },
    { "snapshots", KEY_SNAPSHOTS, "DIR",   0, "write pictures of the triangle at some stages: "
                                              "DIR/stage-00101.png", 13 },
    { "stages",    KEY_STAGES,    "K[,K..]", 0, "of these pictures; 1 is A itself [6, equally spaced]", 13 },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Factors a dense symmetric matrix, definite or not and of any rank: P A Pt = M D Mt, with pivots "
    "of order 1 and 2. Rank, inertia, growth and determinant are what it finds; a rank below n is "
    "a result, not a failure.\n\n"
    "A is a NumPy .npy file of shape (n,n), or (n(n+1)/2) with the rows of one triangle, a symmetric "
    "Matrix Market .mtx file, or a dataset of an HDF5 file: F.h5, or F.h5:/path. Only one triangle "
    "is read."
    "\vExample:\n"
    "  shoal factor A.npy\n"
    "  shoal factor A.mtx --pivot rook -b b.npy -x x.npy --refine --json\n"
    "  shoal factor A.h5 --no-check -o F.h5\n"
    "  shoal factor A.npy --gjgt G.npy --partitioned\n"
    "  shoal factor A.npy --modify auto -b b.npy -x x.npy\n"
    "  shoal factor A.npy --growth growth.svg --snapshots pictures --stages 1,101,512";

static void parse_stages(factor_arguments *a, const char *text, struct argp_state *state) {
    a->stage_count = 0;
    for (const char *at = text;; at++) {
        const size_t size = strcspn(at, ",");
        char word[32];
        if (a->stage_count == FACTOR_STAGES)
            argp_error(state, "--stages: more than %d", FACTOR_STAGES);
        snprintf(word, sizeof word, "%.*s", (int)(size < sizeof word ? size : sizeof word), at);
        a->stages[a->stage_count++] = cli_arg_int(state, "--stages", word, 1, INT32_MAX);
        at += size;
        if (!*at) return;
    }
}

static void check_output(struct argp_state *state, const char *option, const char *path,
                         const char *what) {
    if (path && !cli_ends_in(path, ".npy") && !cli_ends_in(path, ".h5"))
        argp_error(state, "%s %s: %s a .npy or a .h5 file", option, path, what);
}

/* A file that comes with one of -o or --gjgt, from malloc; NULL if there is none. */
static char *beside(const char *path, const char *what) {
    return path && cli_ends_in(path, ".npy") ? factor_beside(path, what) : NULL;
}

static void check_arguments(const factor_arguments *a, struct argp_state *state) {
    if (!a->matrix) argp_error(state, "a file is missing: the matrix");
    if (a->b && !a->x) argp_error(state, "-x is missing: where to write the solutions");
    if (a->x && !a->b) argp_error(state, "-b is missing: the right-hand sides");
    if (a->packed && a->full) argp_error(state, "--packed and --full exclude each other");
    if (a->stage_count && !a->snapshots) argp_error(state, "--stages goes with --snapshots");
    if (a->partitioned && !a->gjgt) argp_error(state, "--partitioned goes with --gjgt");
    if (a->refine && !a->b) argp_error(state, "--refine goes with -b and -x");
    if (a->refine && a->modify)
        argp_error(state, "--refine is for A, --modify for A + E: they exclude each other");
    if (a->inverse && !cli_ends_in(a->inverse, ".npy"))
        argp_error(state, "--inverse %s: the inverse becomes a .npy file", a->inverse);
    if (a->growth && !cli_ends_in(a->growth, ".svg"))
        argp_error(state, "--growth %s: the picture becomes a .svg file", a->growth);
    check_output(state, "-o", a->output, "factors become");
    check_output(state, "--gjgt", a->gjgt, "G becomes");
    char *interchanges = beside(a->output, "interchanges"), *signs = beside(a->gjgt, "signs");
    char *permutation = beside(a->output, "permutation"), *of_g = beside(a->gjgt, "permutation");
    cli_check_outputs(state,
                      (const char *[CLI_OUTPUTS]){ a->x, a->output, a->gjgt, a->growth, a->inverse,
                                                   interchanges, permutation, signs, of_g },
                      NULL);
    free(interchanges);
    free(permutation);
    free(signs);
    free(of_g);
}

static double arg_alpha(struct argp_state *state, const char *arg) {
    const double alpha = cli_arg_positive(state, "--alpha", arg);
    if (alpha >= 1) argp_error(state, "--alpha: %s is not below 1", arg);
    return alpha;
}

static double arg_delta(struct argp_state *state, const char *arg) {
    return strcmp(arg, "auto") == 0 ? 0 : cli_arg_positive(state, "--modify", arg);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    factor_arguments *a = state->input;
    /* clang-format off */
    switch (key) {
    case KEY_PIVOT:     a->pivot = arg; return 0;
    case KEY_ALPHA:     a->alpha = arg_alpha(state, arg); return 0;
    case KEY_TOL:       a->tol = cli_arg_positive(state, "--tol", arg); return 0;
    case 'b':           a->b = arg; return 0;
    case 'x':           a->x = arg; return 0;
    case 'o':           a->output = arg; return 0;
    case KEY_REFINE:    a->refine = true; return 0;
    case KEY_INVERSE:   a->inverse = arg; return 0;
    case KEY_GJGT:      a->gjgt = arg; return 0;
    case KEY_PARTITIONED: a->partitioned = true; return 0;
    case KEY_MODIFY:    a->delta = arg_delta(state, arg); a->modify = true; return 0;
    case KEY_NO_CHECK:  a->no_check = true; return 0;
    case KEY_PACKED:    a->packed = true; return 0;
    case KEY_FULL:      a->full = true; return 0;
    case KEY_TRIANGLE:  a->triangle = cli_arg_triangle(state, arg); return 0;
    case KEY_TYPE:      a->type = cli_arg_type(state, arg); a->type_given = true; return 0;
    case KEY_GROWTH:    a->growth = arg; return 0;
    case KEY_SNAPSHOTS: a->snapshots = arg; return 0;
    case KEY_STAGES:    parse_stages(a, arg, state); return 0;
    case ARGP_KEY_ARG:
        if (a->matrix) argp_error(state, "unexpected argument '%s'", arg);
        a->matrix = arg;
        return 0;
    case ARGP_KEY_END:  check_arguments(a, state); return 0;
    default:            return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

const struct argp factor_argp = {
    .options = options, .parser = parse, .args_doc = "A.{npy,mtx,h5}", .doc = doc
};
