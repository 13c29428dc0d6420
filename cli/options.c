/* SPDX-License-Identifier: Apache-2.0
 *
 * options.c - tables of options: parsed by glibc's argp, explained by --help, written again as words and as JSON.
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

/* clang-format off */
#define AT(member) CLI_AT(cli, member)
static const cli_option global_options[] = {
    { .kind = OPT_HEADING, .group = 100, .help = "Global options:" },
    { "backend", OPT_TEXT,   AT(backend),   "B",  100, "auto (a GPU if one answers), cpu or cuda", .words = "auto|cpu|cuda" },
    { "device",  OPT_INT,    AT(device),    "N",  100, "number of the GPU", 0, INT_MAX, .given = offsetof(cli, device_given) },
    { "threads", OPT_INT,    AT(threads),   "N",  100, "CPU threads", 1, 1024, .usual = "all" },
    { "seed",    OPT_SEED,   AT(seed),      "S",  100, "seed of random numbers, 64 bits", .given = offsetof(cli, seed_given), .in = IN_PART },
    { "json",    OPT_FLAG,   AT(json),      NULL, 100, "print one JSON object instead of a table" },
    { "quiet",   OPT_FLAG,   AT(quiet),     NULL, 100, "no progress bar and no notes", .letter = 'q' },
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

/* ---- values ----------------------------------------------------------------------------------- */

/* Whole number, also as 1e5; false if it is anything else. */
static bool read_int(const char *text, int64_t *value) {
    size_t length = strlen(text);
    if (io_text_int(text, length, value)) return true;
    double number;
    if (!io_text_double(text, length, &number) || !(fabs(number) < 0x1p63)) return false;
    *value = (int64_t)number;
    return (double)*value == number;
}

int64_t cli_arg_int(struct argp_state *state, const char *option, const char *text, int64_t least,
                    int64_t most) {
    int64_t value = 0;
    if (!read_int(text, &value)) {
        argp_error(state, "%s: '%s' is not a whole number", option, text);
    } else if (value < least || value > most) {
        if (most == INT64_MAX)
            argp_error(state, "%s: %s is less than %lld", option, text, (long long)least);
        else
            argp_error(state, "%s: %s is not between %lld and %lld", option, text, (long long)least,
                       (long long)most);
    }
    return value;
}

static uint64_t arg_seed(struct argp_state *state, const char *option, const char *text) {
    int64_t small;
    double large;
    if (read_int(text, &small) && small >= 0) return (uint64_t)small;
    if (strpbrk(text, "eE") && io_text_double(text, strlen(text), &large) && large >= 0x1p63 &&
        large < 0x1p64)
        return (uint64_t)large; /* 1e19: a whole number, as all of this size are */
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9')
        argp_error(state, "%s: '%s' is not a whole number from 0 to 18446744073709551615", option,
                   text);
    return value;
}

double cli_arg_double(struct argp_state *state, const char *option, const char *text) {
    double value = 0;
    if (!io_text_double(text, strlen(text), &value) || !isfinite(value))
        argp_error(state, "%s: '%s' is not a finite number", option, text);
    return value;
}

double cli_arg_positive(struct argp_state *state, const char *option, const char *text) {
    const double value = cli_arg_double(state, option, text);
    if (value <= 0) argp_error(state, "%s: %s is not above 0", option, text);
    return value;
}

/* A number of an option: in its range, or NaN of one that may be that. */
static double arg_real(struct argp_state *state, const cli_option *o, const char *option,
                       const char *text) {
    double value = 0;
    if (o->kind == OPT_POSITIVE) {
        value = cli_arg_positive(state, option, text);
        if (o->most > 0 && value >= o->most)
            argp_error(state, "%s: %s is not below %g", option, text, o->most);
        return value;
    }
    if (o->kind != OPT_ANY_REAL)
        value = cli_arg_double(state, option, text);
    else if (!io_text_double(text, strlen(text), &value))
        argp_error(state, "%s: '%s' is not a number", option, text);
    if (o->least < o->most && !(value >= o->least && value <= o->most))
        argp_error(state, "%s: %s is not between %g and %g", option, text, o->least, o->most);
    return value;
}

/* The place of a word, or the end of the program. */
static int arg_word(struct argp_state *state, const cli_option *o, const char *option,
                    const char *text) {
    char all[256] = "";
    const char *word;
    int length, count = 0;
    for (; (word = cli_option_word(o->words, count, &length)); count++)
        if ((int)strlen(text) == length && strncmp(text, word, (size_t)length) == 0) return count;
    for (int i = 0; i < count; i++) {
        word = cli_option_word(o->words, i, &length);
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%.*s",
                 i == 0       ? ""
                 : count == 2 ? " nor "
                              : ", ",
                 length, word);
    }
    argp_error(state, "%s: '%s' is %s %s", option, text, count == 2 ? "neither" : "none of", all);
    return 0;
}

/* I/N, 1 <= I <= N <= 1000000. */
static void arg_shard(struct argp_state *state, const char *option, const char *text,
                      int64_t shard[2]) {
    char first[32];
    const char *slash = strchr(text, '/');
    const size_t length = slash ? (size_t)(slash - text) : sizeof first;
    if (length < sizeof first) {
        memcpy(first, text, length);
        first[length] = 0;
        if (read_int(first, &shard[0]) && read_int(slash + 1, &shard[1]) && shard[0] >= 1 &&
            shard[0] <= shard[1] && shard[1] <= 1000000)
            return;
    }
    argp_error(state, "%s: '%s' is not I/N with 1 <= I <= N <= 1000000", option, text);
}

typedef struct list { /* OPT_REALS and OPT_INTS */
    int64_t count;
    void *values;
} list;

static void arg_list(struct argp_state *state, const cli_option *o, const char *option,
                     const char *text, list *to) {
    int64_t count = 1;
    for (const char *at = text; *at; at++) count += *at == ',';
    free(to->values);
    to->count = count;
    to->values = calloc((size_t)count, 8);
    if (!to->values) argp_failure(state, CLI_UNAVAILABLE, 0, "not enough memory");
    for (int64_t i = 0; to->values && i < count; i++, text += strcspn(text, ",") + 1) {
        char word[48];
        const size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < 40 ? length : 40), text);
        if (o->kind == OPT_REALS)
            ((double *)to->values)[i] = cli_arg_double(state, option, word);
        else
            ((int64_t *)to->values)[i] =
                cli_arg_int(state, option, word, (int64_t)o->least, (int64_t)o->most);
    }
}

/* A whole number in a member of any size. */
static void set_int(const cli_row *row, int64_t value) {
    void *at = row->base + row->option->at;
    if (row->option->size == sizeof(int64_t))
        *(int64_t *)at = value;
    else if (row->option->size == sizeof(int))
        *(int *)at = (int)value;
    else
        *(char *)at = (char)value; /* bool is 0 and 1 alone */
}

static int64_t get_int(const cli_row *row) {
    const void *at = row->base + row->option->at;
    if (row->option->size == sizeof(int64_t)) return *(const int64_t *)at;
    return row->option->size == sizeof(int) ? *(const int *)at : *(const char *)at;
}

static int64_t most_of(const cli_option *o) {
    return o->most == 0 && o->least >= 0 ? INT64_MAX : (int64_t)o->most;
}

static int flag_of(const cli_option *o) { return o->value ? o->value : 1; }

/* What argp found: the value of an option, or a plain argument. */
static void take(struct argp_state *state, const cli_row *row, char *text) {
    const cli_option *o = row->option;
    char name[CLI_NAME];
    void *at = row->base + o->at;
    cli_option_name(o, name);
    if (o->given) *(bool *)(row->base + o->given) = true;
    /* clang-format off */
    switch (o->kind) {
    case OPT_FLAG:     set_int(row, flag_of(o)); break;
    case OPT_INT:      set_int(row, cli_arg_int(state, name, text, (int64_t)o->least, most_of(o))); break;
    case OPT_SEED:     *(uint64_t *)at = arg_seed(state, name, text); break;
    case OPT_REAL:
    case OPT_ANY_REAL:
    case OPT_POSITIVE: *(double *)at = arg_real(state, o, name, text); break;
    case OPT_CHOICE:   set_int(row, o->value + arg_word(state, o, name, text)); break;
    case OPT_TEXT:     if (o->words) arg_word(state, o, name, text);
                       /* fall through */
    case OPT_INPUT:
    case OPT_OUTPUT:
    case OPT_MADE:     *(const char **)at = text; break;
    case OPT_REALS:
    case OPT_INTS:     arg_list(state, o, name, text, at); break;
    case OPT_SHARD:    arg_shard(state, name, text, at); break;
    case OPT_OTHER:    o->parse(state, o, text, row->base); break;
    default:           break;
    }
    /* clang-format on */
}

/* ---- what the members contain ------------------------------------------------------------------ */

bool cli_option_set(const cli_row *row) {
    const cli_option *o = row->option;
    const void *at = row->base + o->at;
    double x;
    int length;
    switch (o->kind) {
    case OPT_FLAG: return get_int(row) == flag_of(o);
    case OPT_INT: return get_int(row) >= (int64_t)o->least && get_int(row) <= most_of(o);
    case OPT_SEED: return true;
    case OPT_REAL:
    case OPT_ANY_REAL:
        x = *(const double *)at;
        return isfinite(x) && !(o->least < o->most && !(x >= o->least && x <= o->most));
    case OPT_POSITIVE: return *(const double *)at > 0;
    case OPT_CHOICE:
        return get_int(row) >= o->value &&
               cli_option_word(o->words, (int)get_int(row) - o->value, &length);
    case OPT_TEXT:
    case OPT_INPUT:
    case OPT_OUTPUT:
    case OPT_MADE: return *(const char *const *)at != NULL;
    case OPT_REALS:
    case OPT_INTS: return ((const list *)at)->count > 0;
    case OPT_SHARD: return ((const int64_t *)at)[1] > 0;
    case OPT_WORDS:
    case OPT_REST: return *(const int *)at > 0;
    case OPT_OTHER:
        for (size_t i = 0; i < o->size; i++)
            if (((const char *)at)[i]) return true;
        return false;
    default: return false;
    }
}

int cli_real_text(double x, char text[32]) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, 32, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    return length;
}

static char *list_text(const cli_option *o, const list *l) {
    char *text = malloc((size_t)l->count * 32 + 1);
    int used = 0;
    for (int64_t i = 0; text && i < l->count; i++) {
        if (i > 0) text[used++] = ',';
        used += o->kind == OPT_REALS
                    ? cli_real_text(((const double *)l->values)[i], text + used)
                    : sprintf(text + used, "%lld", (long long)((const int64_t *)l->values)[i]);
    }
    return text;
}

char *cli_option_text(const cli_row *row) {
    const cli_option *o = row->option;
    const void *at = row->base + o->at;
    char text[64] = "";
    int length;
    if (o->kind == OPT_OTHER) return o->text ? o->text(row->base) : NULL;
    if (!cli_option_set(row)) return NULL;
    switch (o->kind) {
    case OPT_INT: snprintf(text, sizeof text, "%lld", (long long)get_int(row)); break;
    case OPT_SEED:
        snprintf(text, sizeof text, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case OPT_REAL:
    case OPT_ANY_REAL:
    case OPT_POSITIVE: cli_real_text(*(const double *)at, text); break;
    case OPT_CHOICE: {
        const char *word = cli_option_word(o->words, (int)get_int(row) - o->value, &length);
        return strndup(word, (size_t)length);
    }
    case OPT_TEXT:
    case OPT_INPUT:
    case OPT_OUTPUT:
    case OPT_MADE: return strdup(*(const char *const *)at);
    case OPT_REALS:
    case OPT_INTS: return list_text(o, at);
    default: return NULL;
    }
    return strdup(text);
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

/* "raw_basis" out of "raw-basis". */
static void key_of(const cli_option *o, char key[CLI_NAME]) {
    const char letter[] = { o->letter, 0 };
    snprintf(key, CLI_NAME, "%s",
             o->key      ? o->key
             : o->name   ? o->name
             : o->letter ? letter
                         : o->arg);
    for (char *at = key; !o->key && *at; at++)
        if (*at == '-') *at = '_';
}

static void json_row(io_json *j, const cli_row *row) {
    const cli_option *o = row->option;
    const void *at = row->base + o->at;
    char name[CLI_NAME], *text;
    key_of(o, name);
    const bool inverted = name[0] == '!', set = cli_option_set(row);
    const char *key = name + inverted;
    switch (o->kind) {
    case OPT_FLAG: io_json_bool(j, key, set != inverted); break;
    case OPT_INT: io_json_int(j, key, get_int(row)); break;
    case OPT_SEED: io_json_uint(j, key, *(const uint64_t *)at); break;
    case OPT_REAL:
    case OPT_ANY_REAL:
    case OPT_POSITIVE: io_json_double(j, key, *(const double *)at); break;
    case OPT_REALS:
        io_json_doubles(j, key, ((const list *)at)->values, ((const list *)at)->count);
        break;
    case OPT_INTS:
        io_json_ints(j, key, ((const list *)at)->values, ((const list *)at)->count);
        break;
    default:
        text = cli_option_text(row);
        io_json_string(j, key, text);
        free(text);
    }
}

void cli_json_options(io_json *j, const cli *c, const cli_command *k, const void *arguments) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(k, c, arguments, i)).option; i++)
        if (row.option->in & IN_JSON || (row.option->in & IN_JSON_SET && cli_option_set(&row)))
            json_row(j, &row);
}

void cli_json_files(io_json *j, const cli *c, const cli_command *k, const void *arguments) {
    cli_row row;
    io_json_object(j, "files");
    for (int i = 0; (row = cli_row_at(k, c, arguments, i)).option; i++)
        if ((row.option->kind == OPT_INPUT || row.option->kind == OPT_OUTPUT) &&
            cli_option_set(&row))
            json_row(j, &row);
    io_json_close(j);
}

/* ---- argp ------------------------------------------------------------------------------------- */

enum { FIRST_KEY = 0x1000 }; /* of row 0, unless it has a letter */

typedef struct parsing {
    cli *c;
    const cli_command *k;
    void *arguments;
} parsing;

static void take_plain(parsing *p, char *text, struct argp_state *state) {
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        if (!is_plain(row.option)) continue;
        int *count = (int *)(void *)(row.base + row.option->at);
        if (row.option->kind == OPT_WORDS) {
            (*(const char ***)(void *)(row.base + row.option->at + sizeof(void *)))[(*count)++] =
                text;
            return;
        }
        if (row.option->kind == OPT_REST) { /* the rest belongs to the command */
            *count = state->next - 1;
            state->next = state->argc;
            return;
        }
        if (cli_option_set(&row)) continue;
        take(state, &row, text);
        return;
    }
    argp_error(state, "unexpected argument '%s'", text);
}

/* Outputs must be files that can be written, no two of them one, and no input if the command keeps those. */
static void check_files(const parsing *p, struct argp_state *state) {
    const char *outputs[CLI_OUTPUTS] = { NULL }, *inputs[CLI_INPUTS] = { NULL };
    int to = 0, from = 0;
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        const cli_kind kind = row.option->kind;
        const char *path = NULL;
        if (kind == OPT_INPUT || kind == OPT_OUTPUT || kind == OPT_MADE)
            path = *(const char **)(void *)(row.base + row.option->at);
        if (kind == OPT_INPUT && from < CLI_INPUTS) inputs[from++] = path;
        if (kind != OPT_INPUT && path && to < CLI_OUTPUTS) outputs[to++] = path;
    }
    cli_check_distinct(state, outputs, p->k->keeps_inputs ? inputs : NULL);
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++) {
        int code = CLI_OK;
        if (row.option->kind == OPT_OUTPUT)
            code = cli_check_writable(*(const char **)(void *)(row.base + row.option->at));
        if (row.option->kind == OPT_MADE)
            code = cli_check_made(*(const char **)(void *)(row.base + row.option->at));
        if (code != CLI_OK) exit(code); /* as argp_error does */
    }
}

static void check_needed(const parsing *p, struct argp_state *state) {
    char name[CLI_NAME];
    cli_row row;
    for (int i = 0; (row = cli_row_at(p->k, p->c, p->arguments, i)).option; i++)
        if (row.option->needed && !cli_option_set(&row))
            argp_error(state, "%s is missing%s%s", cli_option_name(row.option, name),
                       *row.option->needed ? ": " : "", row.option->needed);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    parsing *p = state->input;
    cli_row row = { NULL, NULL };
    if (key == ARGP_KEY_ARG) {
        take_plain(p, arg, state);
    } else if (key == ARGP_KEY_NO_ARGS && p->k->below) {
        argp_state_help(state, stderr,
                        ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG |
                            ARGP_HELP_EXIT_ERR);
    } else if (key == ARGP_KEY_END) {
        check_needed(p, state);
        if (p->k->check) p->k->check(p->arguments, state);
        check_files(p, state);
    } else {
        if (key >= FIRST_KEY && key < ARGP_KEY_END)
            row = cli_row_at(p->k, p->c, p->arguments, key - FIRST_KEY);
        for (int i = 0;
             key < FIRST_KEY && key > 0 && (row = cli_row_at(p->k, p->c, p->arguments, i)).option;
             i++)
            if (row.option->letter == key) break;
        if (!row.option) return ARGP_ERR_UNKNOWN;
        take(state, &row, arg);
    }
    return 0;
}

/* The help of a row, with its unit, its range and its default: from malloc. */
static char *help_of(const cli_row *row) {
    enum { MORE = 256 };
    const cli_option *o = row->option;
    const size_t size = strlen(o->help) + MORE;
    char *help = malloc(size), *value = NULL;
    if (!help) return NULL; /* an option without an explanation */
    if (o->kind == OPT_HEADING) return strcpy(help, o->help);
    int used = snprintf(help, size, "%s", o->help);
    if (o->unit) used += snprintf(help + used, size - (size_t)used, ", in %s", o->unit);
    if (o->most < 1e6 && o->least < o->most && o->kind != OPT_POSITIVE)
        used += snprintf(help + used, size - (size_t)used, " (%g to %g)", o->least, o->most);
    if (!o->usual && o->kind != OPT_FLAG) value = cli_option_text(row);
    const char *usual = o->usual && *o->usual ? o->usual : value;
    if (usual) snprintf(help + used, size - (size_t)used, " [%s]", usual);
    free(value);
    return help;
}

/* What argp is given: from malloc; NULL if there is no memory. */
static struct argp_option *make_options(const parsing *p) {
    int count = 0, used = 0;
    while (cli_row_at(p->k, p->c, p->arguments, count).option) count++;
    struct argp_option *options = calloc((size_t)count + 1, sizeof *options);
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
                                                .doc = help_of(&row),
                                                .group = o->group };
    }
    return options;
}

int cli_parse(cli *c, const cli_command *k, int argc, char **argv, void *arguments) {
    parsing p = { c, k, arguments };
    struct argp_option *options = make_options(&p);
    const struct argp argp = { options, parse, k->args, k->doc, NULL, NULL, NULL };
    const error_t error = options ? argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p) : ENOMEM;
    for (struct argp_option *o = options; o && (o->doc || o->key); o++)
        free((char *)(uintptr_t)o->doc);
    free(options);
    if (error == 0) return CLI_OK;
    return cli_fail(error == ENOMEM ? CLI_UNAVAILABLE : CLI_USAGE, "%s", strerror(error));
}

/* ---- names ------------------------------------------------------------------------------------ */

const char *cli_type_name(shoal_type type) { return type == SHOAL_F32 ? "f32" : "f64"; }

const char *cli_layout_name(shoal_layout layout) {
    return layout == SHOAL_INTERLEAVED ? "interleaved" : "system";
}

const char *cli_triangle_name(shoal_triangle triangle) {
    return triangle == SHOAL_UPPER ? "upper" : "lower";
}
