/* SPDX-License-Identifier: Apache-2.0
 *
 * parts.h - the files of Monte Carlo commands in parts: what parts of prices and of CVA have in common. Parts of data
 * sets are tables (dataset_file.c).
 *
 * A part is a JSON object: the command and its arguments in one form, which are parsed again, the
 * program's version, which part of how many it is and where it begins, then the command's own members.
 * Its first member is the CRC-32 of all text behind that line: a part that was damaged on its way is
 * refused.
 */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "cli.h"
#include "io/json.h"

/* Arguments of a command in one form, to be kept in a part and parsed again. */
typedef struct part_words {
    int count, room;
    bool lost; /* memory, and with it a word */
    char **word;
} part_words;

/* The options of a command that a part keeps, with these values. */
void part_words_of(part_words *w, const cli *c, const cli_command *command, const void *arguments);
void part_words_free(part_words *w);

typedef struct part {
    const char *path, *command;
    const cli_command *runs; /* of a part that was read: the command; NULL: none that makes parts */
    io_json_value *root;
    int64_t shard, shards, first, count; /* units or paths */
} part;

/* ---- writing --- */

/* CLI_USAGE if a part of so many rows could not be read back. Before the work. */
int part_check_size(int64_t rows, int64_t width);

/* Writes p (path, command, shard, shards, first, count: `unit` is the name of what is counted), the
 * words, and the members that write(j, what) adds. An interrupted run has no part. */
int part_write(const part *p, const char *unit, const part_words *words,
               void (*write)(io_json *j, const void *what), const void *what);

/* ---- reading --- */

/* Whether a file begins as a part of this command does. */
bool part_is(const char *path, const char *command);
/* "PATH: not a part: WHAT", CLI_INPUT. */
int part_bad(const char *path, const char *what);
const char *part_string(const io_json_value *root, const char *key); /* NULL: none */
bool part_is_number(const io_json_value *v);

/* Reads a part of one of these commands, NULL-ended. Its arguments are options that the command keeps in parts: it
 * cannot ask for files. `unit` is the name of what is counted. */
int part_read(const char *path, const cli_command *const *commands, const char *unit, part *p);

/* Sorts parts, each the first member of a struct of `size` bytes, and checks that they are all of one
 * run, each once. *total: of units. */
int part_check(void *parts, size_t size, int count, int64_t *total);

/* Runs the command of a part with its arguments, on what the parts contain. */
int part_run(cli *c, const part *p, const char *plot, const char *output, const void *parts);

#endif
