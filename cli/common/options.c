/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - tables of options: parsed by glibc's argp, explained by --help, written again as words and as JSON.
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICE = 9999 };

static void parse_devices(struct argp_state *state, const cli_option *row, const char *text,
                          void *arguments) {
    const char *at = text;
    ((cli *)arguments)->devices = text;
    if (strcmp(text, "all") == 0) return;
    do {
        const size_t length = strcspn(at, ",");
        int64_t device;
        if (!io_text_int(at, length, &device) || device < 0 || device > MAX_DEVICE)
            argp_error(state, "--%s: '%s' is neither numbers of GPUs nor all", row->name, text);
        at += length;
    } while (*at++);
}

int cli_device_at(const cli *c, int i) {
    const char *at = c->devices;
    if (cli_all_devices(c)) return i;
    while (at && i-- > 0) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    return at ? atoi(at) : -1;
}

bool cli_all_devices(const cli *c) { return c->devices && strcmp(c->devices, "all") == 0; }

/* clang-format off */
#define AT(member) CLI_AT(cli, member)
static const cli_option global_options[] = {
    { .kind = OPT_HEADING, .group = 100, .help = "Global options:" },
    { "backend", OPT_TEXT,   AT(backend),   "B",  100, "auto (a GPU if there is one), cpu or cuda", .words = "auto|cpu|cuda",
      .more = "If this build cannot use the GPU of the machine, a line on stderr gives the reason and the remedy." },
    { "device",  OPT_INT,    AT(device),    "N",  100, "number of the GPU", 0, INT_MAX, .given = offsetof(cli, device_given) },
    { "devices", OPT_OTHER,  AT(devices),   "N,..|all", 100, "GPUs that price, cva and dataset share the work among; with mpirun, those of the processes of a machine", .usual = "--device; with mpirun all", .parse = parse_devices, .without = "device" },
    { "threads", OPT_INT,    AT(threads),   "N",  100, "CPU threads", 1, 1024, .usual = "all" },
    { "seed",    OPT_SEED,   AT(seed),      "S",  100, "seed of the random numbers, 64 bits", .given = offsetof(cli, seed_given), .in = IN_PART },
    { "json",    OPT_FLAG,   AT(json),      NULL, 100, "print one JSON object instead of a table" },
    { "quiet",   OPT_FLAG,   AT(quiet),     NULL, 100, "no progress bar and no notes", .letter = 'q' },
    { "force",   OPT_FLAG,   AT(force),     NULL, 100, "let an output file replace an input file" },
    { "math",    OPT_CHOICE, AT(fast_math), "MODE", 100, "exact (the same bits everywhere) or fast", .words = "exact|fast", .in = IN_PART },
    { 0 }
};
#undef AT
/* clang-format on */

cli_row cli_row_at(const cli_command *k, const cli *c, const void *arguments, int i) {
    for (const cli_table *t = k->tables; t->rows; t++)
        for (const cli_option *o = t->rows; o->kind != OPT_END; o++)
            if (i-- == 0) return (cli_row){ o, (char *)(uintptr_t)arguments + t->at };
    for (const cli_option *o = global_options; o->kind != OPT_END; o++)
        if (i-- == 0) return (cli_row){ o, (char *)(uintptr_t)c };
    return (cli_row){ NULL, NULL };
}

static bool is_plain(const cli_option *o) {
    return o->kind != OPT_HEADING && !o->name && !o->letter;
}

const char *cli_option_name(const cli_option *o, char name[CLI_NAME]) {
    if (o->letter)
        snprintf(name, CLI_NAME, "-%c", o->letter);
    else
        snprintf(name, CLI_NAME, "%s%s", o->name ? "--" : "", o->name ? o->name : o->arg);
    return name;
}

const char *cli_option_word(const char *words, int i, int *length) {
    for (; i > 0 && words; i--) {
        words = strchr(words, '|');
        if (words) words++;
    }
    *length = words ? (int)strcspn(words, "|") : 0;
    return words;
}

const cli_option *cli_option_of(const cli *c, const cli_command *k, const char *word,
                                const char **equals) {
    const size_t length = strcspn(word, "=");
    cli_row row;
    *equals = word[length] ? word + length + 1 : NULL;
    for (int i = 0; word[0] == '-' && (row = cli_row_at(k, c, NULL, i)).option; i++) {
        const cli_option *o = row.option;
        if (o->letter && word[1] == o->letter && !word[2]) return o;
        if (o->name && word[1] == '-' && strlen(o->name) == length - 2 &&
            strncmp(word + 2, o->name, length - 2) == 0)
            return o;
    }
    return NULL;
}

const char *cli_given_among(const cli_command *k, const void *arguments, const char *names,
                            char found[CLI_NAME]) {
    for (size_t length; *names; names += length + (names[length] == ' ')) {
        length = strcspn(names, " ");
        cli_row row;
        for (int i = 0; (row = cli_row_at(k, NULL, arguments, i)).option && row.base; i++) {
            const char *name = row.option->name;
            if (!name || strlen(name) != length || strncmp(name, names, length) != 0) continue;
            if (row.option->given ? *(bool *)(void *)(row.base + row.option->given)
                                  : cli_option_set(&row))
                return cli_option_name(row.option, found);
        }
    }
    return NULL;
}

void cli_json_options(io_json *j, const cli *c, const cli_command *k, const void *arguments) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(k, c, arguments, i)).option; i++)
        if (row.option->in & IN_JSON || (row.option->in & IN_JSON_SET && cli_option_set(&row)))
            cli_option_json(j, &row);
}

void cli_json_files(io_json *j, const cli *c, const cli_command *k, const void *arguments) {
    cli_row row;
    io_json_object(j, "files");
    for (int i = 0; (row = cli_row_at(k, c, arguments, i)).option; i++)
        if ((row.option->kind == OPT_INPUT || row.option->kind == OPT_OUTPUT) &&
            cli_option_set(&row))
            cli_option_json(j, &row);
    io_json_close(j);
}

/* ---- argp ------------------------------------------------------------------------------------- */

enum { FIRST_KEY = 0x1000 }; /* of row 0, unless it has a letter */

static const char **name_at(const cli_row *row) { return (void *)(row->base + row->option->at); }

bool cli_among(const char *words, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

enum { ROWS = 96 }; /* of a command, headings and global options included */

typedef struct parsing {
    cli *c;
    const cli_command *k;
    void *arguments;
    bool taken[ROWS]; /* which rows were given */
} parsing;

void cli_check_belongs(struct argp_state *state, const char *noun, const char *word) {
    const parsing *p = state->input;
    const cli_option *o;
    for (int i = 0; i < ROWS && (o = cli_row_at(p->k, p->c, p->arguments, i).option); i++)
        if (p->taken[i] && o->of && !cli_among(o->of, word))
            argp_error(state, "--%s does not apply to %s '%s'", o->name, noun, word);
}

static void take_plain(parsing *p, char *text, struct argp_state *state) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        const cli_kind kind = row.option->kind;
        int *count = (int *)(void *)(row.base + row.option->at);
        if (!is_plain(row.option) || (cli_kind_is_name(kind) && cli_option_set(&row))) continue;
        if (cli_kind_is_name(kind)) cli_option_take(state, &row, text);
        if (kind == OPT_WORDS) /* the pointer behind the count */
            (*(const char ***)(void *)((char *)count + sizeof(void *)))[(*count)++] = text;
        if (kind == OPT_REST) /* the rest belongs to the command */
            *count = state->next - 1, state->next = state->argc;
        return;
    }
    argp_error(state, "unexpected argument '%s'", text);
}

static bool has_ending(const char *path, const char *ends) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *word;
    char ending[16];
    int length;
    if (*ends == '|' && (strncmp(path, "/dev/", 5) == 0 || !*name || !strchr(name + 1, '.')))
        return true;
    for (int i = 0; (word = cli_option_word(ends, i, &length)); i++) {
        snprintf(ending, sizeof ending, ".%.*s", length, word);
        if (length && cli_ends_in(path, ending)) return true;
    }
    return false;
}

/* "x.txt does not end in .npy or .csv" ends the program. */
static void check_ending(struct argp_state *state, const cli_row *row) {
    char name[CLI_NAME], list[64] = "";
    const char *ends = row->option->ends, *path = *name_at(row), *word;
    int length, used = 0;
    if (!ends || !path || has_ending(path, ends)) return;
    if (row->option->kind == OPT_MADE && strcmp(path, "-") == 0) return; /* check_standard_stream */
    for (int i = *ends == '|'; (word = cli_option_word(ends, i, &length)); i++)
        used += snprintf(list + used, sizeof list - (size_t)used, "%s.%.*s",
                         !used          ? ""
                         : word[length] ? ", "
                                        : " or ",
                         length, word);
    argp_error(state, "%s: '%s' does not end in %s", cli_option_name(row->option, name), path,
               list);
}

/* "-" as an input is standard input, as an output standard output: what is printed goes to stderr then. */
static void check_standard_stream(const parsing *p, struct argp_state *state, const cli_row *row,
                                  bool *read) {
    const cli_kind kind = row->option->kind;
    char name[CLI_NAME];
    if (!cli_kind_is_name(kind) || !*name_at(row) || strcmp(*name_at(row), "-") != 0) return;
    cli_option_name(row->option, name);
    if (kind == OPT_INPUT) {
        if (*read) argp_error(state, "%s -: standard input is read already", name);
        *read = true, *name_at(row) = "/dev/stdin";
    } else if (kind == OPT_OUTPUT) {
        if (p->c->json) argp_error(state, "%s -: --json prints to standard output", name);
        *name_at(row) = "/dev/stdout";
        stdout = stderr; /* a variable of glibc, as argp is glibc's */
    } else {
        argp_error(state, "%s -: a file has to have a name", name);
    }
}

/* Outputs must be files that can be written, no two of them one, and no input without --force. */
static void check_files(const parsing *p, struct argp_state *state) {
    const char *outputs[CLI_OUTPUTS] = { NULL }, *inputs[CLI_INPUTS] = { NULL };
    int to = 0, from = 0;
    bool read = false;
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        const cli_kind kind = row.option->kind;
        if (kind == OPT_INPUT && from < CLI_INPUTS) inputs[from++] = *name_at(&row);
        if ((kind == OPT_OUTPUT || kind == OPT_MADE) && to < CLI_OUTPUTS)
            outputs[to++] = *name_at(&row);
    }
    cli_check_distinct(state, outputs, p->c->force ? NULL : inputs);
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        if (row.option->kind == OPT_OUTPUT || row.option->kind == OPT_MADE)
            check_ending(state, &row);
        check_standard_stream(p, state, &row, &read);
        const int code = row.option->kind == OPT_OUTPUT ? cli_check_writable(*name_at(&row))
                         : row.option->kind == OPT_MADE ? cli_check_made(*name_at(&row))
                                                        : CLI_OK;
        if (code != CLI_OK) exit(code); /* as argp_error does */
    }
}

/* Whether the option of that name, or that letter, was given; `name` becomes what it is called, "" if there is none. */
static bool was_given(const parsing *p, const char *word, size_t length, char name[CLI_NAME]) {
    const cli_option *o;
    *name = 0;
    for (int i = 0; i < ROWS && (o = cli_row_at(p->k, p->c, p->arguments, i).option); i++) {
        const bool named = o->name && strlen(o->name) == length && !strncmp(o->name, word, length);
        if (!named && !(length == 1 && o->letter == *word)) continue;
        cli_option_name(o, name);
        return p->taken[i];
    }
    return false;
}

static bool any_given(const parsing *p, const char *words) {
    char name[CLI_NAME];
    for (size_t length; *words; words += length + (words[length] == ' ')) {
        length = strcspn(words, " ");
        if (was_given(p, words, length, name)) return true;
    }
    return false;
}

/* Options that need others, and those that exclude others. */
static void check_relations(const parsing *p, struct argp_state *state) {
    char name[CLI_NAME], other[CLI_NAME];
    const cli_option *o;
    const int sides = p->c->parts ? 1 : 2; /* the words of a part contain defaults */
    for (int i = 0; i < ROWS && (o = cli_row_at(p->k, p->c, p->arguments, i).option); i++) {
        cli_option_name(o, name);
        if (o->needed && o->unless && !p->taken[i] && !any_given(p, o->unless))
            argp_error(state, "%s is missing: %s", name, o->needed);
        for (int side = 0; side < sides && p->taken[i]; side++) {
            const char *at = side ? o->without : o->with;
            for (size_t length; at && *at; at += length + (at[length] == ' ')) {
                length = strcspn(at, " ");
                if (was_given(p, at, length, other) != (side == 1)) continue;
                argp_error(state, side ? "%s and %s exclude each other" : "%s needs %s", name,
                           other);
            }
        }
    }
}

static void check_needed(const parsing *p, struct argp_state *state) {
    char name[CLI_NAME];
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++)
        if (row.option->needed && !row.option->unless && !cli_option_set(&row) &&
            !(p->c->parts && row.option->kind == OPT_OUTPUT)) /* inputs of units name no outputs */
            argp_error(state, "%s is missing%s%s", cli_option_name(row.option, name),
                       *row.option->needed ? ": " : "", row.option->needed);
}

enum { USAGE_KEY = 0x800 };

static error_t parse(int key, char *arg, struct argp_state *state) {
    parsing *p = state->input;
    cli_row row = { NULL, NULL };
    if (key == 'h' || key == '?')
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    else if (key == USAGE_KEY)
        argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
    else if (key == 'V')
        exit(puts(argp_program_version) < 0);
    if (key == ARGP_KEY_ARG) {
        take_plain(p, arg, state);
    } else if (key == ARGP_KEY_NO_ARGS && p->k->below) {
        argp_state_help(state, stderr,
                        ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG |
                            ARGP_HELP_EXIT_ERR);
    } else if (key == ARGP_KEY_END) {
        check_needed(p, state);
        check_relations(p, state);
        if (p->k->check) p->k->check(p->arguments, state);
        check_files(p, state);
    } else {
        int i = key >= FIRST_KEY ? key - FIRST_KEY : 0;
        if (key <= 0 || key >= ARGP_KEY_END) return ARGP_ERR_UNKNOWN;
        while ((row = cli_row_at(p->k, p->c, p->arguments, i)).option && key < FIRST_KEY &&
               row.option->letter != key)
            i++;
        if (!row.option) return ARGP_ERR_UNKNOWN;
        if (i < ROWS) p->taken[i] = true;
        cli_option_take(state, &row, arg);
    }
    return 0;
}

/* ". Not with --add, --compare": those of the command that .without names. */
static void write_excluded(FILE *to, const parsing *p, const cli_option *o) {
    char name[CLI_NAME];
    const char *between = o->more ? " Not with" : ". Not with";
    for (size_t length = 0, i = 0; o->without && o->without[i];
         i += length + (o->without[i + length] == ' ')) {
        length = strcspn(o->without + i, " ");
        was_given(p, o->without + i, length, name);
        if (*name) fprintf(to, "%s %s", between, name), between = ",";
    }
    if (*between == ',') fputc('.', to);
}

/* The help of a row, with its unit, its range and its default: from malloc. SHOAL_HELP=long in the environment, which
 * docs/options.sh and cli/man.sh set, adds .more and .without. */
static char *help_of(const parsing *p, const cli_row *row) {
    const cli_option *o = row->option;
    const char *which = getenv("SHOAL_HELP");
    char *help = NULL, *value = NULL;
    size_t size;
    FILE *to = o->help ? open_memstream(&help, &size) : NULL;
    if (!to) return NULL; /* an option without an explanation */
    fputs(o->help, to);
    if (o->unit) fprintf(to, ", in %s", o->unit);
    if (o->max < 1e6 && o->min < o->max && o->kind != OPT_POSITIVE)
        fprintf(to, " (%g to %g)", o->min, o->max);
    if (!o->usual && o->kind != OPT_FLAG) value = cli_option_text(row);
    const char *usual = o->usual && *o->usual ? o->usual : value;
    if (usual) fprintf(to, " [%s]", usual);
    if (which && strcmp(which, "long") == 0) {
        if (o->more) fprintf(to, ". %s", o->more);
        write_excluded(to, p, o);
    }
    free(value);
    fclose(to);
    return help;
}

/* What argp is given: from malloc; NULL if there is no memory. */
static struct argp_option *make_options(const parsing *p) {
    static const struct argp_option last[] = {
        { "help", 'h', NULL, 0, "print this help", -1 },
        { NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1 },
        { "usage", USAGE_KEY, NULL, 0, "print the options alone", -1 },
        { "version", 'V', NULL, 0, "print the version", -1 },
    };
    int count = 0, used = 0;
    while (cli_row_at(p->k, p->c, p->arguments, count).option) count++;
    struct argp_option *options = calloc((size_t)count + 5, sizeof *options);
    for (int i = 0; i < count && options; i++) {
        const cli_row row = cli_row_at(p->k, p->c, p->arguments, i);
        const cli_option *o = row.option;
        const bool valued = o->kind != OPT_HEADING && o->kind != OPT_FLAG;
        if (is_plain(o)) continue;
        options[used++] = (struct argp_option){ .name = o->name,
                                                .key = o->kind == OPT_HEADING ? 0
                                                       : o->letter            ? o->letter
                                                                              : FIRST_KEY + i,
                                                .arg = !valued  ? NULL
                                                       : o->arg ? o->arg
                                                                : o->words,
                                                .flags = o->help ? 0 : OPTION_HIDDEN,
                                                .doc = help_of(p, &row),
                                                .group = o->group };
    }
    for (size_t i = 0; i < sizeof last / sizeof *last && options; i++) {
        options[used] = last[i];
        if (last[i].doc) options[used].doc = strdup(last[i].doc);
        used++;
    }
    return options;
}

/* CLI_OK, or CLI_USAGE and a sentence on a method, or its variant, that does not exist. */
static int check_methods(const parsing *p, const char *who) {
    const char *variant = NULL;
    cli_row row;
    int code = CLI_OK;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++)
        if (row.option->name && strcmp(row.option->name, "variant") == 0) variant = *name_at(&row);
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option && code == CLI_OK; i++)
        if (row.option->methods)
            code = cli_check_method_of(who, row.option->name, row.option->methods, *name_at(&row),
                                       strcmp(row.option->name, "method") == 0 ? variant : NULL);
    return code;
}

/* "--rate", and so on. An io_names. */
static const char *long_name(const void *of, int i) {
    static const char *const last[] = { "--help", "--usage", "--version" };
    static char name[CLI_NAME];
    const parsing *p = of;
    const cli_option *o;
    for (int row = 0; (o = cli_row_at(p->k, p->c, NULL, row).option); row++)
        if (o->name && o->help && i-- == 0) {
            snprintf(name, sizeof name, "--%s", o->name);
            return name;
        }
    return i < 3 ? last[i] : NULL;
}

/* The first option that there is not, and what was probably meant: CLI_USAGE. argp would name the option alone. */
static int check_options(const parsing *p, int argc, char **argv) {
    char message[IO_MESSAGE];
    const char *equals, *name;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        const size_t length = strcspn(word, "=");
        if ((word[0] != '-' || !word[1]) && p->k->below) break; /* the command's own come next */
        if (word[0] != '-' || !word[1]) continue;
        char known[CLI_NAME] = "";
        const bool is_long = word[1] == '-';
        const char letter[] = { '-', word[1], 0 };
        for (int k = 0; is_long && !*known && (name = long_name(p, k)); k++)
            if (strncmp(name, word, length) == 0) snprintf(known, sizeof known, "%s", name);
        const cli_option *o = cli_option_of(p->c, p->k, is_long ? word : letter, &equals);
        if (!o && *known) o = cli_option_of(p->c, p->k, known, &name);
        if (!o && !*known && (is_long || !strchr("hV?", word[1]))) {
            fprintf(stderr, "%s\nTry `%s --help'.\n",
                    io_unknown(message, argv[0], "option", word, NULL, long_name, p), argv[0]);
            return CLI_USAGE;
        }
        if (o && o->kind != OPT_FLAG && !(is_long ? word[length] : word[2])) i++; /* its value */
    }
    return CLI_OK;
}

/* Drops argp's line on "mandatory or optional arguments" from --help. */
static char *keep_help(int key, const char *text, void *input) {
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)(uintptr_t)text;
}

int cli_parse(cli *c, const cli_command *k, int argc, char **argv, void *arguments) {
    parsing p = { .c = c, .k = k, .arguments = arguments };
    if (check_options(&p, argc, argv) != CLI_OK) return CLI_USAGE;
    struct argp_option *options = make_options(&p);
    const struct argp argp = { options, parse, k->args, k->doc, NULL, keep_help, NULL };
    const error_t error =
        options ? argp_parse(&argp, argc, argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &p) : ENOMEM;
    for (struct argp_option *o = options; o && (o->doc || o->key); o++)
        free((char *)(uintptr_t)o->doc);
    free(options);
    if (error == 0) return check_methods(&p, argv[0]);
    return cli_fail(error == ENOMEM ? CLI_UNAVAILABLE : CLI_USAGE, "%s", strerror(error));
}

int cli_begin(cli *c, const cli_command *k, int argc, char **argv, void *arguments) {
    int code = cli_parse(c, k, argc, argv, arguments);
    if (code == CLI_OK) code = cli_open(c);
    if (code != CLI_OK) return code;
    cli_note_no_seed(c);
    cli_note_no_fast_math(c);
    return CLI_OK;
}
