/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c - the program: the table of its commands, and how a command is found and run.
 */
#include "cli/common/ranks.h"
#include "cli/common/units.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
typedef const cli_command *const commands[];

static const cli_command solve_command = {
    "solve", "solve many linear systems: tridiagonal, or small and symmetric", .noun = "module", .task = "Solve equations",
    .below = (commands){ &solve_band_command, &solve_small_command, &solve_tridiag_command, NULL },
    .doc = "Solves many independent systems of equations."
};
static const cli_command eig_command = {
    "eig", "eigenvalues and eigenvectors of symmetric matrices", .noun = "module",
    .below = (commands){ &eig_small_command, &eig_tridiag_command, &eig_dense_command, NULL },
    .doc = "Computes eigenvalues, and on request eigenvectors, of many independent symmetric matrices, or of one."
};
static const cli_command price_command = {
    "price", "price options by Monte Carlo or by formula", .noun = "model",
    .below = (commands){ &price_heston_command, &price_expou_command, &price_bullet_command, &price_american_command, NULL },
    .doc = "Prices options by Monte Carlo or by formula, with standard errors.", .task = "Price derivatives"
};
static const cli_command calibrate_command = {
    "calibrate", "fit the parameters of a model to quotes", .noun = "module",
    .below = (commands){ &calibrate_heston_command, NULL },
    .doc = "Fits the parameters of a model to quotes of options."
};
static const cli_command dataset_command = {
    "dataset", "simulate a data set of option prices to train a network", .noun = "model",
    .below = (commands){ &dataset_expou_command, NULL },
    .doc = "Simulates data sets to train networks with.", .task = "Replace simulation by a network"
};
const cli_command shoal_command = {
    "shoal", NULL, .noun = "command",
    .below = (commands){ &solve_command, &eig_command, &factor_command, &recur_command, &sort_command, &merge_command,
                         &price_command, &calibrate_command, &cva_command, &merge_parts_command, &dataset_command, &train_command, &predict_command,
                         &gen_command, &verify_command, &bench_command, &study_command, &report_command,
                         &info_command, &completion_command, NULL },
    .doc = "Shoal solves many small numerical problems together, on the CPU or on a CUDA GPU."
           "\v'shoal help COMMAND' explains a command. Global options may also follow the command. The file name - is standard "
           "input or output.\n\n"
           "Exit: 0 success, 1 numerical failure, 64 usage, 66 cannot read input, 69 backend not available, 70 validation "
           "failed, 74 cannot write, 130 interrupted."
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

/* The first example of a command, or of the first command below it, that fits on a line. */
static const char *example_of(const cli_command *k, int *length) {
    enum { WIDTH = 64 };
    static const char begins[] = "Example:\n";
    while (k->below) k = k->below[0];
    const char *at = strstr(k->doc, begins);
    at = at ? at + sizeof begins - 1 : "";
    do *length = (int)strcspn(at += strspn(at, " \n"), "\n");
    while (*length > WIDTH && *(at += *length));
    return at;
}

/* The introduction, the commands by task with an example each, and what stands below the options: from malloc. */
static char *dispatch_doc(const cli_command *k) {
    const int intro = (int)strcspn(k->doc, "\v");
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    fprintf(to, "%.*s\n", intro, k->doc);
    for (int i = 0; k->below[i]; i++) {
        const cli_command *below = k->below[i];
        int length;
        const char *example = example_of(below, &length);
        if (below->task || i == 0) fprintf(to, "\n%s:\n", below->task ? below->task : "Modules");
        fprintf(to, "  %-11s %s\n              %.*s\n", cli_last_word(below->name), below->summary,
                length, example);
    }
    fputs(k->doc + intro, to);
    fclose(to);
    return text;
}

int cli_dispatch(cli *c, const cli_command *k, int argc, char **argv) {
    static const cli_option words[] = { { NULL, OPT_REST, .size = sizeof(int) }, { 0 } };
    int found = 0; /* place of the command in argv */
    char name[64], args[64], *doc = dispatch_doc(k);
    if (!doc) return cli_no_memory();
    snprintf(args, sizeof args, "%s [ARGUMENT...]", k->noun);
    for (int i = 0; args[i] != ' '; i++) args[i] = (char)toupper(args[i]);
    cli_command group = *k;
    group.args = args, group.doc = doc, group.tables[0].rows = words;
    int code = cli_parse(c, &group, argc, argv, &found);
    free(doc);
    if (code != CLI_OK) return code;

    char *word = argv[found];
    if (k == &shoal_command &&
        strcmp(word, "help") == 0) { /* `help solve small' is `solve small --help' */
        static char help[] = "--help";
        for (int i = found; i + 1 < argc; i++) argv[i] = argv[i + 1];
        argv[argc - 1] = help;
        return cli_dispatch(c, k, argc, argv);
    }
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

/* What a command has not used, although there is more than one of them. */
static void note_idle(const cli *c) {
    if (c->is_spread) return;
    if (ranks_count() > 1)
        cli_note(c, "%d of %d processes had no work: this command runs in one", ranks_count() - 1,
                 ranks_count());
    if (c->devices) cli_note(c, "--devices: this command runs on one device");
}

int main(int argc, char **argv) {
    static char program[] = "shoal", version[64];
    fill_standard_streams();
    atexit(close_stdout);
    cli_catch_interrupt();
    snprintf(version, sizeof version, "shoal %s", shoal_version());
    argp_program_version = version;

    cli c = { .root = &shoal_command, .backend = "auto", .seed = CLI_SEED, .start = cli_now() };
    ranks_begin();
    if (ranks_own() > 0) return freopen("/dev/null", "w", stdout) ? units_serve(&c) : CLI_OUTPUT;
    if (ranks_count() > 1) atexit(units_dismiss);
    cli_watch_files(&c);
    char *alone[] = { program, NULL };
    if (argc < 1) {
        argc = 1;
        argv = alone;
    }
    argv[0] = program;
    if (check_empty(argc, argv) != CLI_OK) return CLI_USAGE;
    int code = cli_dispatch(&c, &shoal_command, argc, argv);
    if (code == CLI_INTERRUPTED) cli_report_interrupted(&c);
    if (code == CLI_OK) note_idle(&c);
    shoal_close(c.ctx);
    return code;
}
