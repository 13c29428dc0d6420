/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the program: the table of its commands, and how a command is found and run.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const cli_command commands[] = {
    { "info",   cmd_info,   "this build and this machine: backends, methods, features" },
    { "gen",    cmd_gen,    "write test problems to .npy files" },
    { "solve",  cmd_solve,  "solve many systems read from files" },
    { "eig",    cmd_eig,    "find eigenvalues and eigenvectors of many matrices" },
    { "factor", cmd_factor, "factor a dense symmetric matrix: rank, inertia, x" },
    { "recur",  cmd_recur,  "compute linear recurrences read from files" },
    { "merge",  cmd_merge,  "merge two sorted arrays read from files, or their rows" },
    { "sort",   cmd_sort,   "sort the rows of an array read from a file" },
    { "price",  cmd_price,  "price options by Monte Carlo and by formula" },
    { "cva",    cmd_cva,    "credit valuation adjustment of a book, with its exposures" },
    { "dataset", cmd_dataset, "make data sets of prices to train networks with" },
    { "train",  cmd_train,  "train a network on prices, to give them without Monte Carlo" },
    { "predict", cmd_predict, "prices and derivatives by a network" },
    { "merge-parts", cmd_merge_parts, "add up the parts of a Monte Carlo command" },
    { "verify", cmd_verify, "solve problems and check the answers independently" },
    { "bench",  cmd_bench,  "check answers, then measure speeds, ours and other libraries'" },
    { "study",  cmd_study,  "measure the errors of every method, or of a thesis's studies" },
    { "report", cmd_report, "solve by every method and write a report with pictures" },
    { NULL, NULL, NULL }
};

static const cli_command solve_modules[] = {
    { "small",   cmd_solve_small,   "small symmetric: A x = b, A of up to 64 unknowns on a GPU" },
    { "tridiag", cmd_solve_tridiag, "tridiagonal: dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i]" },
    { NULL, NULL, NULL }
};

static const cli_command eig_modules[] = {
    { "small",   cmd_eig_small,   "small symmetric matrices, of up to 64 rows on a GPU" },
    { "tridiag", cmd_eig_tridiag, "symmetric tridiagonal matrices: diagonal d, subdiagonal e" },
    { NULL, NULL, NULL }
};
/* clang-format on */

typedef struct dispatch {
    int found; /* place of the first plain argument, 0: none yet */
} dispatch;

static error_t parse_dispatch(int key, char *arg, struct argp_state *state) {
    dispatch *d = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_ARG: /* the rest belongs to the command */
        d->found = state->next - 1;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_state_help(state, stderr,
                        ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG |
                            ARGP_HELP_EXIT_ERR);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char *command_name(const void *of, int i) { return ((const cli_command *)of)[i].name; }

/* The introduction, the list of commands, and, below the options, `after`. */
static char *dispatch_doc(const cli_command *table, const char *noun, const char *doc,
                          const char *after) {
    const char *heading = strcmp(noun, "module") == 0 ? "Modules" : "Commands";
    size_t size = strlen(doc) + strlen(after) + 32;
    for (const cli_command *t = table; t->name; t++) size += strlen(t->summary) + 32;
    char *text = malloc(size);
    if (!text) return NULL;
    int used = snprintf(text, size, "%s\n\n%s:\n", doc, heading);
    for (const cli_command *t = table; t->name; t++)
        used += snprintf(text + used, size - (size_t)used, "  %-11s %s\n", t->name, t->summary);
    snprintf(text + used, size - (size_t)used, "\v%s", after);
    return text;
}

int cli_dispatch(cli *c, const cli_command *table, const char *noun, const char *doc,
                 const char *after, int argc, char **argv) {
    char *text = dispatch_doc(table, noun, doc, after);
    if (!text) return cli_fail(CLI_UNAVAILABLE, "not enough memory");
    dispatch d = { 0 };
    const struct argp argp = { .parser = parse_dispatch,
                               .args_doc = strcmp(noun, "module") == 0 ? "MODULE [ARGUMENT...]"
                                                                       : "COMMAND [ARGUMENT...]",
                               .doc = text };
    int code = cli_parse(c, &argp, argc, argv, &d);
    free(text);
    if (code != CLI_OK) return code;

    char *word = argv[d.found], name[64];
    const cli_command *t = table;
    while (t->name && strcmp(t->name, word) != 0) t++;
    if (!t->name) return cli_unknown(argv[0], noun, word, command_name, table);
    snprintf(name, sizeof name, "%s %s", argv[0], t->name);
    snprintf(c->command, sizeof c->command, "%s", strchr(name, ' ') + 1);
    argv[d.found] = name; /* argp and getopt begin their messages with argv[0] */
    code = t->run(c, argc - d.found, argv + d.found);
    argv[d.found] = word;
    return code;
}

int cmd_solve(cli *c, int argc, char **argv) {
    return cli_dispatch(c, solve_modules, "module",
                        "Solves many independent systems read from files.",
                        "Example:\n  shoal solve small -A A.npy -b b.npy -x x.npy\n"
                        "  shoal solve tridiag --dl dl.npy --d d.npy --du du.npy -b b.npy -x x.npy",
                        argc, argv);
}

int cmd_eig(cli *c, int argc, char **argv) {
    return cli_dispatch(c, eig_modules, "module",
                        "Finds eigenvalues, and eigenvectors if they are asked for, of many "
                        "independent symmetric matrices read from files.",
                        "Example:\n  shoal eig small -A A.npy -w w.npy -v V.npy\n"
                        "  shoal eig tridiag --d d.npy --e e.npy -w w.npy",
                        argc, argv);
}

/* A file opened later must not get the number of a closed stdin, stdout or stderr: results would be
 * printed into it. The stand-in for stdout refuses writing, so that they are not lost unnoticed. */
static void fill_standard_streams(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)!open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);
}

/* Runs at exit, also after argp has printed a help text: a full disk is an error like any other. */
static void close_stdout(void) {
    bool failed = ferror(stdout) != 0;
    if (fclose(stdout) != 0 || failed) {
        char text[128];
        snprintf(text, sizeof text, "cannot write: %s", strerror(errno));
        cli_stdout_lost(text);
        _exit(CLI_OUTPUT);
    }
}

/* No name and no number is empty: CLI_OK, or CLI_USAGE and the option that has nothing, as a script has it whose
 * variable is not set. */
static int check_empty(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        if (strncmp(argv[i], "--", 2) == 0 && equals && !equals[1])
            return cli_fail(CLI_USAGE, "'%s' has an empty value", argv[i]);
        if (!*argv[i]) return cli_fail(CLI_USAGE, "the argument after '%s' is empty", argv[i - 1]);
    }
    return CLI_OK;
}

int main(int argc, char **argv) {
    static char program[] = "shoal", version[64];
    fill_standard_streams();
    atexit(close_stdout);
    cli_catch_interrupt();
    snprintf(version, sizeof version, "shoal %s", shoal_version());
    argp_program_version = version;

    cli c = { .backend = "auto", .seed = CLI_SEED, .start = cli_now() };
    char *alone[] = { program, NULL };
    if (argc < 1) {
        argc = 1;
        argv = alone;
    }
    argv[0] = program;
    if (check_empty(argc, argv) != CLI_OK) return CLI_USAGE;
    int code = cli_dispatch(
        &c, commands, "command",
        "Shoal solves many small numerical problems together, on the CPU or on a CUDA GPU.",
        "`shoal COMMAND --help' explains a command. Global options may also stand after the "
        "command.\n\n"
        "Example:\n"
        "  shoal gen tridiag dominant --n 255 --count 1000 -o t\n"
        "  shoal solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy \\\n"
        "      -x x.npy\n\n"
        "Exit: 0 success, 1 numerical failure, 64 usage, 66 cannot read input, 69 backend not "
        "available, 74 cannot write, 130 interrupted.",
        argc, argv);
    if (code == CLI_INTERRUPTED) cli_say_interrupted(&c);
    shoal_close(c.ctx);
    return code;
}
