/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - Monte Carlo commands in units (shoal/units.h): the files of --shard, which merge-parts puts together, and the
 * folders of --checkpoint.
 *
 * The inputs of a unit are words that end with NUL: how many words follow, the command, its options in one form, which are
 * parsed again, and the texts of the files that it reads.
 */
#ifndef CLI_UNITS_H
#define CLI_UNITS_H

#include "cli.h"

/* The unit of a file: `about` points into `bytes`. */
typedef struct unit_file {
    const char *path;
    void *bytes; /* from malloc */
    size_t size;
    shoal_unit about;
} unit_file;

enum { UNIT_TEXTS = 4 };

/* All parts of a run, in their order, as cli.parts. */
typedef struct unit_files {
    unit_file *file;
    int count;
    const char *text[UNIT_TEXTS]; /* of the run's inputs; NULL: none */
} unit_files;

/* A command that runs in units. */
typedef struct unit_job {
    const cli_command *command;
    const void *arguments;        /* of the command                      */
    const void *of;               /* what the functions below are given  */
    const char *text[UNIT_TEXTS]; /* of files; NULL: none              */
    const char *checkpoint;       /* the folder of --checkpoint, or NULL */
    /* A plan in the context of `c`, and the units of that plan. */
    int (*make)(cli *c, const void *of, void **plan);
    shoal_status (*units)(const void *of, void *plan, const shoal_units_opts *o,
                          shoal_units **units);
    void (*free)(void *plan);
} unit_job;

/* Whether the command runs in units: of parts, in a folder, on several devices. */
bool units_wanted(const cli *c, const char *checkpoint);
/* --shard: runs a unit and writes it to `path`. The caller frees out->bytes, in any case. */
int units_write(cli *c, const unit_job *job, void *plan, int64_t shard, int64_t shards,
                const char *path, unit_file *out);
/* All units: those of c->parts or of the folder, and the missing ones on all devices; plan is that of the first. To be freed
 * before the plan in any case. After Ctrl-C CLI_INTERRUPTED. */
int units_run(cli *c, const unit_job *job, void *plan, shoal_units **units);

/* merge-parts: reads parts of one of these commands, NULL-ended, and runs it on them. It cannot ask for files: its options
 * are those that parts keep. */
int units_merge(cli *c, const cli_command *const *commands, const char *const *path, int count,
                const char *plot, const char *output);

#endif
