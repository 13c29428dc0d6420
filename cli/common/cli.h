/* SPDX-License-Identifier: Apache-2.0
 *
 * cli.h - what the commands of the program share.
 *
 * A command is one file with one cli_command (options.h), whose .run is called with argv[0] = the command as
 * typed ("shoal gen"), and returns the exit code. It reads like this:
 *
 *     int code = cli_parse(c, &gen_command, argc, argv, &a);   // its own and the global options
 *     if (code == CLI_OK) code = cli_open(c);                  // c->ctx, c->machine
 *     ...
 *     if (c->json) {
 *         io_json *j = cli_json_begin(c, "gen");               // command, version, backend, device
 *         io_json_int(j, "n", n);
 *         return cli_json_end(c, failed > 0 ? CLI_FAILED : CLI_OK); // seconds, interrupted
 *     }
 *
 * Results go to stdout, everything else to stderr. The caller closes the context and notices write
 * errors on stdout.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <argp.h>
#include <shoal/shoal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "io/status.h"
#include "io/words.h"
#include "options.h"

/* Exit codes: the contract of docs/cli.md. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,        /* numerical failure; what could be computed is written and flagged  */
    CLI_USAGE = 64,        /* a command line that makes no sense                                */
    CLI_INPUT = 66,        /* an input cannot be read, or inputs do not fit together            */
    CLI_UNAVAILABLE = 69,  /* the backend, or the memory, is not available                      */
    CLI_INVALID = 70,      /* a validation failed: the results are not to be trusted            */
    CLI_OUTPUT = 74,       /* an output cannot be written                                       */
    CLI_INTERRUPTED = 130, /* Ctrl-C                                                           */
    CLI_ELSEWHERE = -1     /* inside the program: another process has the results              */
};

/* A bar on stderr; nothing unless that is a terminal, and not with --quiet. There is one at a time. Stages of the library
 * show a bar if the command has none; if it has, they are the next `next` units of it. */
typedef struct cli_progress {
    const char *label;
    int64_t total, done, next;
    double start, shown; /* cli_now() at the begin and at the last redraw */
    bool on;
} cli_progress;

struct cli {
    /* the global options */
    const char *backend; /* "auto", "cpu" or "cuda"                              */
    int device;          /* CUDA device                                          */
    const char *devices; /* "0,1" or "all"; NULL: one                            */
    int threads;         /* 0: all                                               */
    uint64_t seed;       /* CLI_SEED unless given                                */
    bool seed_given, device_given;
    bool json, quiet, force;
    bool fast_math; /* --math fast                                          */
    /* of this run */
    const cli_command *root; /* the program itself                                     */
    shoal_context *ctx;      /* NULL before cli_open                               */
    shoal_machine machine;   /* filled by cli_open; zeroed before                  */
    double start;            /* cli_now() when the program began                   */
    double opened;           /* seconds that opening the context took              */
    char command[64];        /* as dispatched: "solve tridiag"                    */
    io_json out;             /* the one object on stdout                           */
    bool out_begun;          /* cli_json_begin was called                          */
    cli_progress stage;      /* of the library                                     */
    const void *parts;       /* of merge-parts: what stands for a simulation       */
    bool is_spread;          /* the command uses all devices and processes         */
    bool is_serving;         /* it computes for rank 0 of mpirun                   */
    double planned;          /* cli_now() when its units could begin               */
};

#define CLI_SEED 1

/* --- the commands (main.c) --- */

extern const cli_command shoal_command; /* the program itself */
extern const cli_command info_command, gen_command, solve_band_command, solve_small_command,
    solve_tridiag_command, eig_dense_command, eig_small_command, eig_tridiag_command,
    factor_command, recur_command, merge_command, sort_command, price_heston_command,
    price_expou_command, price_bullet_command, price_american_command, calibrate_heston_command,
    cva_command, dataset_expou_command, train_command, predict_command, merge_parts_command,
    verify_command, bench_command, study_command, report_command, completion_command;

/* "heston" of "price heston". */
const char *cli_last_word(const char *name);
/* The command below `k` of that name; NULL: there is none. */
const cli_command *cli_command_below(const cli_command *k, const char *word);
/* Runs the command below `k` that the first plain argument of argv names; global options may stand before it. */
int cli_dispatch(cli *c, const cli_command *k, int argc, char **argv);

/* --- files of options (outputs.c) --- */

/* Whether both names are of one file that exists; either may be NULL. */
bool cli_same_file(const char *a, const char *b);

/* Refuses two outputs that would be one file, outputs that are inputs (CLI_USAGE) and outputs that cannot be
 * written (CLI_OUTPUT), before any work. Those that are not given are NULL; `inputs` is NULL after --force.
 * cli_check_distinct does not check whether they can be written. */
enum { CLI_OUTPUTS = 12, CLI_INPUTS = 8 };
void cli_check_outputs(struct argp_state *state, const char *const *outputs,
                       const char *const *inputs);
void cli_check_distinct(struct argp_state *state, const char *const *outputs,
                        const char *const *inputs);
/* CLI_OK, or CLI_OUTPUT and a message, if this file (NULL: none) could not be written: its folder is not there, say. */
int cli_check_writable(const char *path);
/* The same of a file whose folders are made with it. */
int cli_check_made(const char *path);

const char *cli_type_name(shoal_type type);             /* "f64", "f32"            */
const char *cli_triangle_name(shoal_triangle triangle); /* "lower", "upper"   */

/* --- words (words.c) --- */

/* io_unknown() on stderr, about a word of the command line; `who` is argv[0] of the command. Returns CLI_USAGE. */
int cli_unknown(const char *who, const char *what, const char *word, io_names *names,
                const void *of);

/* The same about a word on a line of a file. Returns CLI_INPUT. */
int cli_unknown_in(const char *path, int64_t line, const char *what, const char *word,
                   const char *have, io_names *names, const void *of);

/* Whether a word is one of "n count nrhs". */
bool cli_among(const char *words, const char *word);

/* The methods of a module, "auto" first whether the table names it or not. An io_names. */
const char *cli_method_name(const void *module, int i);
/* CLI_OK, or CLI_USAGE with a sentence, for a method and a variant (NULL: the default) of a module;
 * "auto" is always a method. */
int cli_check_method(const char *who, const char *module, const char *method, const char *variant);
/* The same, of an option --WHAT that is not called --method. */
int cli_check_method_of(const char *who, const char *what, const char *module, const char *method,
                        const char *variant);
/* The first method of a module with all of these flags, SHOAL_CAN_...; NULL: there is none. */
const char *cli_method_with(const char *module, unsigned flags);
/* The same for a kind of test matrix. */
int cli_check_kind(const char *who, const char *module, const char *kind);

/* --- numbers as people read them (texts.c) ---
 *
 * CLI_MEASURED and so on have the memory of their text, for a call of printf. */

/* Whether a file name ends so, and is not all ending. */
bool cli_ends_in(const char *name, const char *ending);

enum { CLI_NUMBER = 64 };
/* "1.316" of 1.31634 with a standard error of 0.021; ten digits where the error is 0 or not known. */
char *cli_rounded(char text[32], double value, double error);
#define CLI_ROUNDED(value, error) cli_rounded((char[32]){ 0 }, value, error)
/* "1.316 +- 0.021"; without an error the value alone. */
char *cli_measured(char text[CLI_NUMBER], double value, double error);
#define CLI_MEASURED(value, error) cli_measured((char[CLI_NUMBER]){ 0 }, value, error)
/* "1.5 ms", "12 s", "2 h 10 min", "3 years". */
char *cli_time(char text[CLI_NUMBER], double seconds);
#define CLI_TIME(seconds) cli_time((char[CLI_NUMBER]){ 0 }, seconds)
/* "1 month", "9 days", "1.5 years": times of a model. */
char *cli_years(char text[CLI_NUMBER], double years);
#define CLI_YEARS(years) cli_years((char[CLI_NUMBER]){ 0 }, years)
/* "91 days"; whether a time is a number of whole months. */
char *cli_days(char text[CLI_NUMBER], double years);
bool cli_is_months(double years);
/* "1 system", "2 systems", "2 matrices". */
char *cli_count(char text[CLI_NUMBER], int64_t n, const char *noun);
#define CLI_COUNT(n, noun) cli_count((char[CLI_NUMBER]){ 0 }, n, noun)

/* --- messages, the context, the end (run.c) --- */

/* One line on stderr, "shoal: ...". Returns `code`, or CLI_INTERRUPTED after Ctrl-C. */
int cli_fail(int code, const char *format, ...) IO_PRINTF(2, 3);
/* CLI_UNAVAILABLE, "not enough memory". */
int cli_no_memory(void);
/* A remark on stderr, not with --quiet. */
void cli_note(const cli *c, const char *format, ...) IO_PRINTF(2, 3);

/* Device i of --devices; -1: there are no more. Whether these are all. */
int cli_device_at(const cli *c, int i);
bool cli_all_devices(const cli *c);
/* Opens the context that the global options ask for, once. Processes of mpirun on one machine share its devices and
 * cores. CLI_OK, CLI_USAGE for an option that the
 * library refuses, or CLI_UNAVAILABLE, with the reason on stderr. */
int cli_open(cli *c);
/* Notes on systems without an answer, and on those that were answered with a warning. */
void cli_note_systems(const cli *c, const char *noun, const int32_t *status, int64_t count);
/* Notes on --seed and --math fast, if given, for commands in which they have no effect. */
void cli_note_no_seed(const cli *c);
void cli_note_no_fast_math(const cli *c);
/* Exit code of a library call; unless SHOAL_OK its message goes to stderr. */
int cli_status(cli *c, shoal_status status);
/* The end of a run that would need more paths than `most` for --target-se: CLI_USAGE. */
int cli_refuse_target(double target, double paths, const char *most, double seconds);
/* Exit code of a failed reader or writer; the message goes to stderr. */
int cli_io(int status, const io_error *err);

/* Seconds of a monotonic clock. */
double cli_now(void);

/* Catches Ctrl-C from here on: the first sets a flag, the second ends the program. Writing beyond the limit of a
 * file's size does not end it. */
void cli_catch_interrupt(void);
bool cli_interrupted(void);
/* Whether a list of results ends early: 10,000 rows after Ctrl-C. `rows` counts those rows; it is 0 before the list. */
bool cli_enough_rows(int64_t *rows);

/* From now on large files that are read or written have a progress bar and end at Ctrl-C. */
void cli_watch_files(cli *c);
/* The bar of a stage of the library, for contexts other than c->ctx; nonzero: Ctrl-C. */
int cli_on_progress(cli *c, const char *stage, double fraction);
/* Whether cli_open() will try a GPU. */
bool cli_wants_gpu(const cli *c);

/* The end of a command that has been interrupted before it knew anything: the JSON object, the word. */
void cli_report_interrupted(cli *c);

/* Says, once, that results on stdout are lost, and why. */
void cli_report_lost_output(const char *reason);

/* The members `command`, `version`, `backend`, `device`, of any object. */
void cli_json_head(io_json *j, const cli *c, const char *command);
/* The one JSON object: begin writes `command`, `version`, `backend`, `device`; end writes
 * `seconds`, and `interrupted` after Ctrl-C, closes it and returns `code` (CLI_OUTPUT if stdout
 * cannot be written, CLI_INTERRUPTED after Ctrl-C). */
io_json *cli_json_begin(cli *c, const char *command);
int cli_json_end(cli *c, int code);

/* --- progress (run.c) --- */

void cli_progress_begin(cli_progress *bar, const cli *c, const char *label, int64_t total);
void cli_progress_step(cli_progress *bar, int64_t done); /* redraws up to ten times per second */
void cli_progress_end(cli_progress *bar);                /* removes the bar                     */

#endif
