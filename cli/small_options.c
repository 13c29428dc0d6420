/* SPDX-License-Identifier: Apache-2.0
 *
 * small_options.c - the command line of `shoal solve small`: its options, their help, and what
 * cannot stand together.
 */
#include "small_options.h"

#include <string.h>

enum { MOST_TEAM = 1024, MOST_STEPS = 100 }; /* threads of a block; what the library takes */

/* clang-format off */
const cli_outcome small_outcomes[OUTCOMES] = {
    [STATUS]   = { "status",     IO_I4, 1 },
    [RESIDUAL] = { "residual",   IO_F4, 1 },
    [RCOND]    = { "rcond",      IO_F4, 1 },
    [RANK]     = { "rank",       IO_I4, 1 },
    [INERTIA]  = { "inertia",    IO_I4, 3 },
    [METHOD]   = { "method-out", IO_I4, 1 },
};

enum { KEY_METHOD = 0x2000, KEY_VARIANT, KEY_TEAM, KEY_PACKED, KEY_TRIANGLE, KEY_REFINE, KEY_ESTIMATE, KEY_COND, KEY_TOL,
       KEY_PSI, KEY_Y, KEY_OUTCOME };

static const struct argp_option options[] = {
    { NULL,         'A',          "FILE", 0, "matrices; one triangle is read, the other may hold anything", 1 },
    { NULL,         'b',          "FILE", 0, "right-hand sides", 2 },
    { "psi",        KEY_PSI,      "FILE", 0, "instead of -A and -b: samples, of which the systems are formed", 3 },
    { "y",          KEY_Y,        "FILE", 0, "and what is to be fitted to them", 3 },
    { NULL,         'x',          "FILE", 0, "write the solutions here, in the shape of b", 3 },
    { "method",     KEY_METHOD,   "M",    0, "auto or a method of `shoal info' [auto]", 4 },
    { "variant",    KEY_VARIANT,  "V",    0, "variant of the method [its first]", 5 },
    { "team",       KEY_TEAM,     "N",    0, "threads a system, of the variant hybrid "
                                             "[n/2 below 40, else n]", 5 },
    { "packed",     KEY_PACKED,   NULL,   0, "A holds one triangle, row after row", 6 },
    { "triangle",   KEY_TRIANGLE, "T",    0, "lower or upper: the one that is read [lower]", 7 },
    { "refine",     KEY_REFINE,   "N",    0, "steps of refinement, with the residual in double [0]", 8 },
    { "estimate",   KEY_ESTIMATE, NULL,   0, "--rcond is an estimate in the 1-norm, not the method's bound", 8 },
    { "cond",       KEY_COND,     "C",    0, "condition number beyond which eigenvalues are discarded, by "
                                             "methods that do so [1e5 in f32, 1e12 in f64]", 8 },
    { "tol",        KEY_TOL,      "T",    0, "residual above which an answer is not trusted "
                                             "[9 n units of roundoff]", 9 },
    { "status",     KEY_OUTCOME + STATUS,   "FILE", 0, "write what became of each system: int32, 0 ok, "
                                                       "> 0 warning, < 0 no answer", 10 },
    { "residual",   KEY_OUTCOME + RESIDUAL, "FILE", 0, "write the residual of each system: float32", 11 },
    { "rcond",      KEY_OUTCOME + RCOND,    "FILE", 0, "write the method's bound of the reciprocal condition, "
                                                       "or with --estimate an estimate of it: float32", 12 },
    { "rank",       KEY_OUTCOME + RANK,     "FILE", 0, "write the numerical rank: int32", 13 },
    { "inertia",    KEY_OUTCOME + INERTIA,  "FILE", 0, "write the numbers of positive, negative and zero "
                                                       "eigenvalues: int32, (count,3)", 14 },
    { "method-out", KEY_OUTCOME + METHOD,   "FILE", 0, "write which method answered: int32, in the order of "
                                                       "`shoal info'", 15 },
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

static void check_files(const small_arguments *a, struct argp_state *state) {
    const bool samples = a->psi || a->y;
    if (samples && !a->psi) argp_error(state, "--psi is missing: the samples");
    if (samples && !a->y) argp_error(state, "--y is missing: what is to be fitted");
    if (samples && (a->A || a->b))
        argp_error(state, "%s cannot stand beside --psi and --y", a->A ? "-A" : "-b");
    if (samples && (a->storage || a->triangle))
        argp_error(state, "%s is for -A", a->storage ? "--packed" : "--triangle upper");
    if (!samples && !a->A) argp_error(state, "-A is missing: the matrices");
    if (!samples && !a->b) argp_error(state, "-b is missing: the right-hand sides");
    if (!a->x) argp_error(state, "-x is missing: where to write the solutions");
    if (a->team && (!a->variant || strcmp(a->variant, "hybrid") != 0))
        argp_error(state, "--team is for --variant hybrid");
    cli_outcomes_check(state, a->x, NULL, OUTCOMES, a->out);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    small_arguments *a = state->input;
    if (key >= KEY_OUTCOME && key < KEY_OUTCOME + OUTCOMES) {
        a->out[key - KEY_OUTCOME] = arg;
        return 0;
    }
    /* clang-format off */
    switch (key) {
    case 'A':          a->A = arg; return 0;
    case 'b':          a->b = arg; return 0;
    case 'x':          a->x = arg; return 0;
    case KEY_PSI:      a->psi = arg; return 0;
    case KEY_Y:        a->y = arg; return 0;
    case KEY_METHOD:   a->method = arg; return 0;
    case KEY_VARIANT:  a->variant = arg; return 0;
    case KEY_PACKED:   a->storage = SHOAL_PACKED; return 0;
    case KEY_TRIANGLE: a->triangle = cli_arg_triangle(state, arg); a->triangle_given = true; return 0;
    case KEY_TEAM:     a->team = (int)cli_arg_int(state, "--team", arg, 1, MOST_TEAM); return 0;
    case KEY_REFINE:   a->refine = (int)cli_arg_int(state, "--refine", arg, 0, MOST_STEPS); return 0;
    case KEY_ESTIMATE: a->estimate = true; return 0;
    case KEY_COND:     a->cond = cli_arg_positive(state, "--cond", arg); return 0;
    case KEY_TOL:      a->tol = cli_arg_positive(state, "--tol", arg); return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s': files are given by options", arg);
                       return 0;
    case ARGP_KEY_END: check_files(a, state); return 0;
    default:           return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

int small_parse(cli *c, int argc, char **argv, small_arguments *a) {
    static const struct argp argp = { .options = options, .parser = parse, .doc = doc };
    *a = (small_arguments){ .method = "auto" };
    return cli_parse_argp(c, &argp, argc, argv, a);
}
