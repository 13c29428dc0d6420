/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the options of a command, one line each.
 *
 * A command has tables of options. A row gives an option's name, its type, the member of the command's struct that
 * it sets, its range and its help. Parsing, messages about values, --help, the manual page, completion, the option
 * tables of docs/cli.md, the JSON object and the files of --shard are all made from these rows:
 *
 *     #define AT(member) CLI_AT(arguments, member)
 *     static const cli_option options[] = {
 *         { "degree", OPT_INT,  AT(degree), "D", 4, "degree of the polynomials", 1, 64, .in = IN_BOTH },
 *         { "rate",   OPT_REAL, AT(rate),   "R", 1, "interest rate", .in = IN_BOTH },
 *         { 0 }
 *     };
 *
 * The default in --help is what the struct contains before it is parsed, where that is a value of the option.
 * An option that goes into a struct of the library has that struct as a member: AT(opts.degree).
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/json.h"

typedef struct cli cli;

/* The kind of an option, and the member that its row sets. */
typedef enum cli_kind {
    OPT_END,      /* of the table                                                       */
    OPT_HEADING,  /* no option: .help stands above the group                            */
    OPT_FLAG,     /* bool, int: becomes .value, or 1 if that is 0                       */
    OPT_INT,      /* int, int64_t, uint32_t: min to max, without a limit if max is 0;
                     of a result also an array of int64_t                               */
    OPT_SEED,     /* uint64_t                                                           */
    OPT_REAL,     /* double: finite, and from min to max if these differ; of a result
                     also float, or an array of double                                  */
    OPT_ANY_REAL, /* double, also NaN: the library checks it                            */
    OPT_POSITIVE, /* double: finite, above 0, at least min, and below max if that is not 0 */
    OPT_CHOICE,   /* bool, enum, char: .value plus the place of the word in .words      */
    OPT_TEXT,     /* const char *: one of .words, if there are some                     */
    OPT_INPUT,    /* const char *: a file that is read                                  */
    OPT_OUTPUT,   /* const char *: a file that is written                               */
    OPT_MADE,     /* the same; its folders are made                                     */
    OPT_REALS,    /* int64_t, then double *, from malloc: numbers with commas           */
    OPT_INTS,     /* int64_t, then int64_t *: the same                                  */
    OPT_SHARD,    /* two int64_t: I/N                                                   */
    OPT_OTHER,    /* anything: .parse reads it, .text writes it                         */
    OPT_WORDS,    /* int, then const char **, with room: all plain arguments            */
    OPT_REST      /* int: the place of the first plain argument; the rest is not parsed */
} cli_kind;

/* Whether the member is a const char *. */
static inline bool cli_kind_is_name(cli_kind kind) { return kind >= OPT_TEXT && kind <= OPT_MADE; }

/* Where the value of an option is written again. */
enum {
    IN_PART = 1,                      /* in the files of --shard: parts of one run have the same  */
    IN_JSON = 2,                      /* in the JSON object                                       */
    IN_JSON_SET = 4,                  /* in the JSON object, if it has a value                    */
    IN_MODEL = IN_PART | IN_JSON | 8, /* in both, and in the line of the model               */
    IN_BOTH = IN_PART | IN_JSON
};

typedef struct cli_option cli_option;
struct cli_option {
    const char *name; /* NULL: .letter alone, or a plain argument, which .arg names            */
    cli_kind kind;
    size_t at, size;     /* of the member: CLI_AT                                               */
    const char *arg;     /* name of the value; NULL: .words                                     */
    int group;           /* of --help                                                           */
    const char *help;    /* without default and range; NULL: --help does not list the option    */
    double min, max;     /* range                                                               */
    int in;              /* IN_PART and so on                                                  */
    char letter;         /* short name                                                          */
    const char *words;   /* "f64|f32": those that are allowed                                   */
    const char *methods; /* module: "auto" and its methods are allowed                          */
    const char *suggest; /* "fused|own": words for completion, not checked                      */
    int value;           /* of a flag; of the first of .words                                   */
    const char *unit;    /* "years"                                                             */
    const char *usual;   /* the default, where the member does not contain it; "" for none      */
    const char *key;     /* of the JSON object [name, _ for -]; "!key": not                     */
    size_t given;        /* of a bool that becomes true with the option; 0: none                */
    const char *needed;  /* the option must be given: what it is, for the message               */
    const char *unless;  /* "psi y": .needed only if none of these is given                     */
    const char *with;    /* "b x": options that must be given with it                           */
    const char *without; /* "packed full": options that must not; docs/cli.md lists them       */
    const char *ends;    /* "npy|h5": endings of the file's name; "|npy": or no ending          */
    const char
        *of; /* "tridiag recur": first plain arguments that the option belongs to; NULL: all */
    const char *more; /* sentences for docs/cli.md and the manual pages, not for --help      */
    void (*parse)(struct argp_state *state, const cli_option *o, const char *text, void *arguments);
    char *(*text)(const void *arguments); /* from malloc; NULL: it has no value, or no memory   */
};

#define CLI_AT(type, member) .at = offsetof(type, member), .size = sizeof(((type *)0)->member)

#define CLI_TYPES     "f64|f32"            /* of shoal_type     */
#define CLI_LAYOUTS   "system|interleaved" /* of shoal_layout   */
#define CLI_TRIANGLES "lower|upper"        /* of shoal_triangle */

/* .usual of a value that the library chooses; the JSON object contains the one in force. */
#define CLI_CHOSEN "chosen by the library; --json prints it"

typedef struct cli_table {
    const cli_option *rows;
    size_t at; /* of the struct that they belong to, in the command's */
} cli_table;

/* A command, or a group of them. */
typedef struct cli_command cli_command;
struct cli_command {
    const char *name, *summary; /* "heston"; one line for --help           */
    const char *args, *doc;     /* usage; introduction, "\v", and the end  */
    int (*run)(cli *c, int argc, char **argv);
    cli_table tables[8]; /* ended by one without rows */
    void (*check)(void *arguments,
                  struct argp_state *state); /* what excludes each other, or NULL */
    const cli_command *const *below;         /* of a group: its commands, ended by NULL */
    const char *noun;                        /* of a group: "command", "module"         */
    const char *task;                        /* heading in --help of the group above it */
};

/* The option of a command that a word such as "--type=f32" names, or NULL; *equals: the value in the same word, or
 * NULL. */
const cli_option *cli_option_of(const cli *c, const cli_command *k, const char *word,
                                const char **equals);

/* Row i of a command that was given these arguments, the global options last; option NULL: past the end. */
typedef struct cli_row {
    const cli_option *option;
    char *base; /* the struct that the row belongs to */
} cli_row;
cli_row cli_row_at(const cli_command *k, const cli *c, const void *arguments, int i);

/* Parses argv with the options of a command and the global ones into `arguments`, which contains the defaults.
 * argp answers a mistake itself, with exit CLI_USAGE, and prints help and version. Then checks that what is needed
 * was given, calls .check, and checks that methods exist and that outputs can be written. The names in argv may be reordered. Returns
 * CLI_OK or an exit code. */
int cli_parse(cli *c, const cli_command *k, int argc, char **argv, void *arguments);

/* The same for a command in which --seed and --math fast have no effect: notes say so. Opens the context. */
int cli_begin(cli *c, const cli_command *k, int argc, char **argv, void *arguments);

/* "--degree"; "-o" where there is a short name; "BOOK". */
enum { CLI_NAME = 48 };
const char *cli_option_name(const cli_option *o, char name[CLI_NAME]);

/* Reads a value, or a plain argument, into the member of a row; a mistake ends the program with CLI_USAGE. */
void cli_option_take(struct argp_state *state, const cli_row *row, char *text);
/* Writes the member of the JSON object. */
void cli_option_json(io_json *j, const cli_row *row);
/* The value of an option, to be parsed again: from malloc. NULL: it has none (a flag has none either), or no memory. */
char *cli_option_text(const cli_row *row);
/* Whether a member contains a value of its option. Then the flag was given. */
bool cli_option_set(const cli_row *row);
/* The first of these options, "shard target-se", that was given, as "--shard"; NULL: none. */
const char *cli_given_among(const cli_command *k, const void *arguments, const char *names,
                            char found[CLI_NAME]);
/* Refuses options, of those that were given so far, that do not belong to this first plain argument, a `noun`. */
void cli_check_belongs(struct argp_state *state, const char *noun, const char *word);
/* Word i of "f64|f32", its length in *length; NULL past the end. */
const char *cli_option_word(const char *words, int i, int *length);

/* A row of a result: the type of the member is the kind of its value. .at and .size of arrays are written out,
 * { "inertia", OPT_INT, AT(inertia) }, and so are choices, { "type", OPT_CHOICE, AT(type), .words = CLI_TYPES }. */
#define CLI_RESULT(name, type, member)                                                             \
    {                                                                                              \
        name, \
      _Generic(((type *)0)->member, bool: OPT_FLAG, int: OPT_INT, int64_t: OPT_INT, \
          uint64_t: OPT_SEED, double: OPT_REAL, float: OPT_REAL, const char *: OPT_TEXT), \
      CLI_AT(type, member)                                                                                    \
    }

/* A word of the library's tables, such as a variant; NULL or "": null. */
void cli_json_word(io_json *j, const char *key, const char *word);

/* Writes the members of a struct that a table of results names; NULL: nothing is known, all are null. */
void cli_json_results(io_json *j, const cli_option *rows, const void *of);

/* The same of `count` structs of `size` bytes: the array `key` of objects, one per line; a .csv file under the names,
 * with so many digits that numbers are read back as they are. */
void cli_json_result_list(io_json *j, const char *key, const cli_option *rows, const void *of,
                          size_t size, int64_t count);
int cli_csv_result_list(const char *path, const cli_option *rows, const void *of, size_t size,
                        int64_t count);
/* Number i of a table without words. */
double cli_result_number(const cli_option *rows, int i, const void *of);

/* The members of the JSON object that the rows ask for. */
void cli_json_options(io_json *j, const cli *c, const cli_command *k, const void *arguments);

/* The object "files": every input and output that was given. */
void cli_json_files(io_json *j, const cli *c, const cli_command *k, const void *arguments);

/* Values for the use of a .parse: a mistake ends the program with CLI_USAGE. "1e5" is a whole number, too. */
int64_t cli_arg_int(struct argp_state *state, const char *option, const char *text, int64_t min,
                    int64_t max);
double cli_arg_double(struct argp_state *state, const char *option, const char *text);
double cli_arg_positive(struct argp_state *state, const char *option, const char *text);

#endif
