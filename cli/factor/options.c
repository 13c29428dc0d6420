/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - the options of `shoal factor`: the table and its parser.
 */
#include "files.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void parse_stages(struct argp_state *state, const cli_option *row, const char *text,
                         void *arguments) {
    factor_arguments *a = arguments;
    (void)row;
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

static void parse_delta(struct argp_state *state, const cli_option *row, const char *text,
                        void *arguments) {
    double *delta = &((factor_arguments *)arguments)->delta;
    (void)row;
    *delta = strcmp(text, "auto") == 0 ? 0 : cli_arg_positive(state, "--modify", text);
}

/* clang-format off */
#define AT(member) CLI_AT(factor_arguments, member)
const cli_option factor_options[] = {
    { NULL,        OPT_INPUT,    AT(matrix),        "A.{npy,mtx,h5}", 0, "the matrix", .needed = "the matrix" },
    { "pivot",     OPT_TEXT,     AT(opts.method),   "P",     1, "how pivots are chosen: complete, partial, rook, or auto", .methods = "symindef" },
    { "alpha",     OPT_POSITIVE, AT(opts.alpha),    "A",     2, "1x1 pivots above A times the largest entry, 0 < A < 1", 0, 1, .usual = "(1 + sqrt 17) / 8" },
    { "tol",       OPT_POSITIVE, AT(opts.tol),      "T",     3, "entries at most this large are no pivots, absolute", .usual = "max |A| 2^-52, in f32 2^-23" },
    { NULL,        OPT_INPUT,    AT(b),             "FILE",  4, "right-hand sides of A x = b, (n) or (n,nrhs)", .letter = 'b' },
    { NULL,        OPT_OUTPUT,   AT(x),             "FILE",  4, "write the solutions here, in the shape of b", .letter = 'x' },
    { "refine",    OPT_FLAG,     AT(refine),        NULL,    4, "improve x by steps of refinement, and tell its backward error and a bound on its error; needs A twice" },
    { "inverse",   OPT_OUTPUT,   AT(inverse),       "F.npy", 5, "write the inverse, (n,n)" },
    { "output",    OPT_OUTPUT,   AT(output),        "FILE",  5, "write M and D: F.h5, or F.npy with F-interchanges.npy and F-permutation.npy", .letter = 'o' },
    { "gjgt",      OPT_OUTPUT,   AT(gjgt),          "FILE",  6, "write G of P A Pt = G J Gt, (n,rank): G.npy with G-signs.npy and G-permutation.npy, or G.h5" },
    { "partitioned", OPT_FLAG,   AT(partitioned),   NULL,    6, "of --gjgt: the columns of +1 before those of -1" },
    { "modify",    OPT_OTHER,    AT(delta),         "DELTA", 7, "modified Cholesky: eigenvalues of D below DELTA become DELTA, x and files are those of A + E; auto: sqrt(unit of roundoff) |A|", .given = offsetof(factor_arguments, modify), .parse = parse_delta, .suggest = "auto" },
    { "no-check",  OPT_FLAG,     AT(no_check),      NULL,    8, "do not compute the relative error, nor keep A for it" },
    { "packed",    OPT_FLAG,     AT(packed),        NULL,    9, "keep one triangle, n(n+1)/2 numbers (the default)" },
    { "full",      OPT_FLAG,     AT(full),          NULL,    9, "keep n rows of n numbers" },
    { "triangle",  OPT_CHOICE,   AT(opts.triangle), "T",     10, "the one that is read: lower or upper", .words = CLI_TRIANGLES },
    { "type",      OPT_CHOICE,   AT(type),          "T",     11, "f32 or f64", .words = CLI_TYPES, .usual = "that of the file; of .mtx f64", .given = offsetof(factor_arguments, type_given) },
    { "growth",    OPT_OUTPUT,   AT(growth),        "F.svg", 12, "draw the element growth of each stage" },
    { "snapshots", OPT_TEXT,     AT(snapshots),     "DIR",   13, "write pictures of the triangle at some stages: DIR/stage-00101.png" },
    { "stages",    OPT_OTHER,    AT(stage_count),   "K[,K..]", 13, "of these pictures; 1 is A itself", .usual = "6, equally spaced", .parse = parse_stages },
    { 0 }
};
/* clang-format on */

const char factor_doc[] =
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

static void check_output(struct argp_state *state, const char *option, const char *path,
                         const char *what) {
    if (path && !cli_ends_in(path, ".npy") && !cli_ends_in(path, ".h5"))
        argp_error(state, "%s %s: %s a .npy or a .h5 file", option, path, what);
}

/* A file that comes with one of -o or --gjgt, from malloc; NULL if there is none. */
static char *beside(const char *path, const char *what) {
    return path && cli_ends_in(path, ".npy") ? factor_beside(path, what) : NULL;
}

void factor_check_arguments(void *arguments, struct argp_state *state) {
    const factor_arguments *a = arguments;
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
