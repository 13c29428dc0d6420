/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_options.c - the options of `shoal solve tridiag`: the table and its parser.
 */
#include "tridiag_options.h"

enum {
    KEY_DL = 0x2000,
    KEY_D,
    KEY_DU,
    KEY_METHOD,
    KEY_VARIANT,
    KEY_TOL,
    KEY_PERIODIC,
    KEY_LAYOUT,
    KEY_GROUPS,
    KEY_GROUP_THREADS,
    KEY_TRANSPOSED,
    KEY_FACTORED,
    KEY_OFFSETS,
    KEY_DELTA,
    KEY_COND,
    KEY_NO_SPLIT,
    KEY_OUTCOME
};

/* clang-format off */
const cli_outcome tridiag_outcomes[OUTCOMES] = {
    [STATUS]   = { "status",   IO_I4, 1 },
    [RESIDUAL] = { "residual", IO_F4, 1 },
    [RCOND]    = { "rcond",    IO_F4, 1 },
};

static const struct argp_option options[] = {
    { "dl",       KEY_DL,       "FILE",   0, "lower diagonal; its first entries are ignored", 1 },
    { "d",        KEY_D,        "FILE",   0, "diagonal", 2 },
    { "du",       KEY_DU,       "FILE",   0, "upper diagonal; its last entries are ignored", 3 },
    { NULL,       'A',          "FILE",   0, "one tridiagonal Matrix Market matrix instead", 4 },
    { NULL,       'b',          "FILE",   0, "right-hand sides", 5 },
    { NULL,       'x',          "FILE",   0, "write the solutions here, in the shape of b", 6 },
    { "method",   KEY_METHOD,   "M",      0, "auto (safe for every nonsingular matrix) or a method "
                                             "of `shoal info' [auto]", 7 },
    { "variant",  KEY_VARIANT,  "V",      0, "variant of the method [its first]", 8 },
    { "tol",      KEY_TOL,      "T",      0, "residual above which an answer is not trusted "
                                             "[100 units of roundoff]", 9 },
    { "periodic", KEY_PERIODIC, NULL,     0, "the ends meet: dl[0] belongs to x[n-1], du[n-1] to x[0]", 9 },
    { "layout",   KEY_LAYOUT,   "L",      0, "system: (count,n), or interleaved: (n,count) [system]", 10 },
    { "offsets",  KEY_OFFSETS,  "FILE",   0, "systems of different sizes, one after another: int64, "
                                             "where each begins, and the end", 10 },
    { "transposed", KEY_TRANSPOSED, NULL, 0, "solve with the transposed matrices", 10 },
    { "factored", KEY_FACTORED, NULL,     0, "factor all matrices first, then solve from their factors "
                                             "(lupp, auto); no residuals", 10 },
    { "status",   KEY_OUTCOME + STATUS, "FILE", 0, "write what became of each system: int32, 0 ok, "
                                             "> 0 warning, < 0 no answer", 11 },
    { "residual", KEY_OUTCOME + RESIDUAL, "FILE", 0, "write the residual of each system: float32", 12 },
    { "groups",   KEY_GROUPS,   "G",      0, "of pscheme: groups of threads a system", 13 },
    { "group-threads", KEY_GROUP_THREADS, "T", 0, "of pscheme: threads of a group", 13 },
    { "rcond",    KEY_OUTCOME + RCOND, "FILE", 0, "write an estimate of the reciprocal condition of each "
                                             "matrix, 1-norm: float32", 13 },
    { "delta",    KEY_DELTA,    "D",      0, "gspike: a block is singular where |R_mm| <= D |R| "
                                             "[square root of a unit of roundoff]", 13 },
    { "cond",     KEY_COND,     "C",      0, "gspike: warn where a block's estimated condition number "
                                             "is above C [no estimate]", 14 },
    { "no-split", KEY_NO_SPLIT, NULL,     0, "gspike: do not split blocks where the matrix is reducible", 15 },
    { 0 }
};
/* clang-format on */

static const char doc[] =
    "Solves dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i] for every system of a batch.\n\n"
    "Arrays are NumPy .npy files, f4 (solved in f32) or f8 (f64). The diagonals have shape (n) or "
    "(count,n), all three of length n; b has the same shape, or one more last axis for several "
    "right-hand sides. A system that cannot be solved gets NaN, and the exit code is 1; the others "
    "are not affected."
    "\vExample:\n"
    "  shoal solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy \\\n"
    "      -x x.npy\n"
    "  shoal solve tridiag -A A.mtx -b b.npy -x x.npy --method lupp --json";

static void check_files(const tridiag_arguments *a, struct argp_state *state) {
    const tridiag_paths *in = &a->in;
    if (in->matrix && (in->dl || in->d || in->du))
        argp_error(state, "give either -A or --dl, --d and --du, not both");
    if (!in->matrix && (!in->dl || !in->d || !in->du))
        argp_error(state, "%s is missing: give --dl, --d and --du, or -A",
                   !in->dl  ? "--dl"
                   : !in->d ? "--d"
                            : "--du");
    if (!in->b) argp_error(state, "-b is missing: the right-hand sides");
    if (!a->x) argp_error(state, "-x is missing: where to write the solutions");
    if (a->out[RCOND] && (a->periodic || a->factored))
        argp_error(state, "--rcond cannot be had with %s",
                   a->periodic ? "--periodic" : "--factored");
    if (a->out[RESIDUAL] && a->factored)
        argp_error(state, "--residual cannot be had with --factored");
    cli_outcomes_check(state, a->x, NULL, OUTCOMES, a->out);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    tridiag_arguments *a = state->input;
    if (key >= KEY_OUTCOME && key < KEY_OUTCOME + OUTCOMES) {
        a->out[key - KEY_OUTCOME] = arg;
        return 0;
    }
    /* clang-format off */
    switch (key) {
    case KEY_DL:       a->in.dl = arg; return 0;
    case KEY_D:        a->in.d = arg; return 0;
    case KEY_DU:       a->in.du = arg; return 0;
    case 'A':          a->in.matrix = arg; return 0;
    case 'b':          a->in.b = arg; return 0;
    case 'x':          a->x = arg; return 0;
    case KEY_METHOD:   a->method = arg; return 0;
    case KEY_VARIANT:  a->variant = arg; return 0;
    case KEY_TOL:      a->tol = cli_arg_positive(state, "--tol", arg); return 0;
    case KEY_PERIODIC: a->periodic = 1; return 0;
    case KEY_LAYOUT:   a->layout = cli_arg_layout(state, arg); return 0;
    case KEY_GROUPS:   a->groups = (int)cli_arg_int(state, "--groups", arg, 1, 1 << 20); return 0;
    case KEY_GROUP_THREADS:
        a->group_threads = (int)cli_arg_int(state, "--group-threads", arg, 1, 1024); return 0;
    case KEY_TRANSPOSED: a->transposed = 1; return 0;
    case KEY_OFFSETS:  a->in.offsets = arg; return 0;
    case KEY_FACTORED: a->factored = 1; return 0;
    case KEY_DELTA:    a->delta = cli_arg_positive(state, "--delta", arg); return 0;
    case KEY_COND:     a->cond = cli_arg_positive(state, "--cond", arg); return 0;
    case KEY_NO_SPLIT: a->no_split = 1; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s': files are given by options", arg);
                       return 0;
    case ARGP_KEY_END: check_files(a, state); return 0;
    default:           return ARGP_ERR_UNKNOWN;
    }
    /* clang-format on */
}

const struct argp tridiag_argp = { .options = options, .parser = parse, .doc = doc };
