/* SPDX-License-Identifier: Apache-2.0
 *
 * units.h - Monte Carlo commands in units (shoal/units.h): the files of --shard, which merge-parts puts together, the
 * folders of --checkpoint, and runs on several devices or in several processes under mpirun.
 *
 * The inputs of a unit are words that end with NUL: how many words follow, the command, its options in one form, which
 * are parsed again, and the texts of the files that it reads. Rank 0 of mpirun sends them to the others, which make the
 * same plan and wait for the numbers of units.
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

/* All parts of a run, in their order, as cli.parts. Without parts: the process computes units for rank 0. */
typedef struct unit_files {
    unit_file *file;
    int count;
    int64_t units;                /* of a run without parts: that rank 0 asks for */
    const char *text[UNIT_TEXTS]; /* of the run's inputs; NULL: none              */
} unit_files;

/* Options of all commands that run in units. */
typedef struct unit_settings {
    const char *checkpoint;   /* the folder, or NULL                */
    const char *scale, *plot; /* files of the report, or NULL       */
    int64_t units;            /* how many; 0: the library chooses   */
} unit_settings;
extern const cli_option unit_options[];

/* A command that runs in units. */
typedef struct unit_job {
    const cli_command *command;
    const void *arguments; /* of the command */
    const unit_settings *settings;
    const void *of;               /* what the functions below are given */
    const char *text[UNIT_TEXTS]; /* of files; NULL: none               */
    /* A plan in the context of `c`, and the units of that plan. */
    int (*make)(cli *c, const void *of, void **plan);
    shoal_status (*units)(const void *of, void *plan, const shoal_units_opts *o,
                          shoal_units **units);
    void (*free)(void *plan);
} unit_job;

/* Whether the command runs in units: of parts, in a folder, on several devices, in several processes, with a report. */
bool units_wanted(const cli *c, const unit_settings *settings);
/* --shard: runs a unit and writes it to `path`. The caller frees out->bytes, in any case. */
int units_write(cli *c, const unit_job *job, void *plan, int64_t shard, int64_t shards,
                const char *path, unit_file *out);
/* Before the plan is made: tells the other processes of the job, which make their plans at the same time. */
int units_announce(cli *c, const unit_job *job);
/* All units: those of c->parts or of the folder, and the missing ones on all devices and in all processes; plan is that
 * of the first. To be freed before the plan in any case. After Ctrl-C CLI_INTERRUPTED; CLI_ELSEWHERE in a process whose
 * units are rank 0's. */
int units_run(cli *c, const unit_job *job, void *plan, shoal_units **units);

/* merge-parts: reads parts and runs their command on them. It cannot ask for files: its options are those that parts
 * keep. */
int units_merge(cli *c, const char *const *path, int count, const char *plot, const char *output);

/* Seconds of a run: by the clock, or, if some units were there before, those of all units. */
double units_seconds(const shoal_units *units);

/* What the processes of mpirun do except rank 0: units of any command, until rank 0 ends. */
int units_serve(const cli *c);
/* At the end of rank 0: ends the others. */
void units_dismiss(void);

/* ---- what the files below share ---------------------------------------------------------------- */

typedef struct unit_inputs {
    char *bytes; /* from malloc */
    size_t size;
} unit_inputs;

/* The caller frees in->bytes in any case. */
int units_inputs(const cli *c, const unit_job *job, unit_inputs *in);
/* Runs the command of inputs with these parts; `more`, NULL-ended, are further words. Messages are about `path`. */
int units_replay(cli *c, const char *path, const char *inputs, size_t size, unit_files *files,
                 const char *const *more);
/* The units of a plan: of n, or of as many as the library chooses. */
int units_make(cli *c, const unit_job *job, void *plan, int64_t n, shoal_units **units);
/* The missing units, by everybody who computes. */
int units_work(cli *c, const unit_job *job, shoal_units *units);
/* Units for rank 0, until it has all of them. */
int units_answer(cli *c, shoal_units *units);

/* Who computes units. */
typedef struct unit_worker {
    char name[CLI_NUMBER];
    double computed; /* seconds, without messages; of another process */
    bool is_remote, is_lost;
} unit_worker;

/* scale.c: the report of --scale; `before` units were in the folder. */
int units_report(cli *c, const unit_job *job, const shoal_units *units, int64_t before,
                 const unit_worker *workers, int count);

#endif
