/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the program: the table of its commands, and how a command is found and run.
 */
#include "cli/common/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
typedef const cli_command *const commands[];

static const cli_command solve_command = {
    "solve", "solve many systems read from files", .noun = "module",
    .below = (commands){ &solve_small_command, &solve_tridiag_command, NULL },
    .doc = "Solves many independent systems read from files."
           "\vExample:\n  shoal solve small -A A.npy -b b.npy -x x.npy\n"
           "  shoal solve tridiag --dl dl.npy --d d.npy --du du.npy -b b.npy -x x.npy"
};
static const cli_command eig_command = {
    "eig", "find eigenvalues and eigenvectors of many matrices", .noun = "module",
    .below = (commands){ &eig_small_command, &eig_tridiag_command, NULL },
    .doc = "Finds eigenvalues, and eigenvectors if they are asked for, of many independent symmetric matrices read from files."
           "\vExample:\n  shoal eig small -A A.npy -w w.npy -v V.npy\n"
           "  shoal eig tridiag --d d.npy --e e.npy -w w.npy"
};
static const cli_command price_command = {
    "price", "price options by Monte Carlo and by formula", .noun = "module",
    .below = (commands){ &price_heston_command, &price_expou_command, &price_bullet_command, &price_american_command, NULL },
    .doc = "Prices options by Monte Carlo or by formula, with standard errors."
           "\vExample:\n  shoal price heston --rho -0.7 --greeks\n"
           "  shoal price heston --method euler --target-se 1e-4 --plot p.svg\n"
           "  shoal price bullet --method quad --at 50,100,20"
};
static const cli_command dataset_command = {
    "dataset", "make data sets of prices to train networks with", .noun = "module",
    .below = (commands){ &dataset_expou_command, NULL },
    .doc = "Makes data sets to train networks with."
           "\vExample:\n  shoal dataset expou --samples 20000 -o train.csv"
};
const cli_command shoal_command = {
    "shoal", NULL, .noun = "command",
    .below = (commands){ &info_command, &gen_command, &solve_command, &eig_command, &factor_command, &recur_command,
                         &merge_command, &sort_command, &price_command, &cva_command, &dataset_command, &train_command,
                         &predict_command, &merge_parts_command, &verify_command, &bench_command, &study_command, &report_command, &completion_command, NULL },
    .doc = "Shoal solves many small numerical problems together, on the CPU or on a CUDA GPU."
           "\v`shoal COMMAND --help' explains a command. Global options may also stand after the command.\n\n"
           "Example:\n"
           "  shoal gen tridiag dominant --n 255 --count 1000 -o t\n"
           "  shoal solve tridiag --dl t-dl.npy --d t-d.npy --du t-du.npy -b t-b.npy \\\n"
           "      -x x.npy\n\n"
           "Exit: 0 success, 1 numerical failure, 64 usage, 66 cannot read input, 69 backend not available, 74 cannot write, "
           "130 interrupted."
};
/* clang-format on */

const char *cli_last_word(const char *name) {
    const char *blank = strrchr(name, ' ');
    return blank ? blank + 1 : name;
}

static const char *command_name(const void *of, int i) {
    const cli_command *k = ((const cli_command *const *)of)[i];
    return k ? cli_last_word(k->name) : NULL;
}

const cli_command *cli_command_below(const cli_command *k, const char *word) {
    const cli_command *const *below = k->below;
    while (*below && strcmp(cli_last_word((*below)->name), word) != 0) below++;
    return *below;
}

/* The introduction, the list of commands, and what stands below the options: from malloc. */
static char *dispatch_doc(const cli_command *k) {
    const int intro = (int)strcspn(k->doc, "\v");
    size_t size = strlen(k->doc) + 32, used;
    for (int i = 0; k->below[i]; i++) size += strlen(k->below[i]->summary) + 32;
    char *text = malloc(size);
    if (!text) return NULL;
    used = (size_t)snprintf(text, size, "%.*s\n\n%c%ss:\n", intro, k->doc,
                            toupper((unsigned char)k->noun[0]), k->noun + 1);
    for (int i = 0; k->below[i]; i++)
        used += (size_t)snprintf(text + used, size - used, "  %-11s %s\n",
                                 cli_last_word(k->below[i]->name), k->below[i]->summary);
    snprintf(text + used, size - used, "%s", k->doc + intro);
    return text;
}

int cli_dispatch(cli *c, const cli_command *k, int argc, char **argv) {
    static const cli_option words[] = { { NULL, OPT_REST, .size = sizeof(int) }, { 0 } };
    int found = 0; /* place of the command in argv */
    char name[64], args[64], *doc = dispatch_doc(k);
    if (!doc) return cli_no_memory();
    snprintf(args, sizeof args, "%s [ARGUMENT...]",
             strcmp(k->noun, "module") == 0 ? "MODULE" : "COMMAND");
    cli_command group = *k;
    group.args = args, group.doc = doc, group.tables[0].rows = words;
    int code = cli_parse(c, &group, argc, argv, &found);
    free(doc);
    if (code != CLI_OK) return code;

    char *word = argv[found];
    const cli_command *below = cli_command_below(k, word);
    if (!below) return cli_unknown(argv[0], k->noun, word, command_name, k->below);
    snprintf(name, sizeof name, "shoal %s", below->name);
    snprintf(c->command, sizeof c->command, "%s", below->name);
    argv[found] = name; /* argp and getopt begin their messages with argv[0] */
    code = below->below ? cli_dispatch(c, below, argc - found, argv + found)
                        : below->run(c, argc - found, argv + found);
    argv[found] = word;
    return code;
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
        cli_report_lost_output(text);
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
    int code = cli_dispatch(&c, &shoal_command, argc, argv);
    if (code == CLI_INTERRUPTED) cli_report_interrupted(&c);
    shoal_close(c.ctx);
    return code;
}
