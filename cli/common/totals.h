/* SPDX-License-Identifier: Apache-2.0
 *
 * totals.h - a batch of systems, or of matrices, that goes through the context slice after slice, and what became
 * of all of them: `shoal solve` and `shoal eig`.
 *
 * Slices keep memory on the device small, Ctrl-C is heard between them and the progress bar moves. The answer to a
 * system depends on that system alone, so slicing changes nothing.
 */
#ifndef CLI_TOTALS_H
#define CLI_TOTALS_H

#include "arrays.h"

typedef struct cli_totals {
    const char *verb;             /* "solve", "eig": the bar, the time          */
    const char *noun;             /* what there is a batch of: "system"         */
    bool redoes;                  /* systems may be solved once more, and are counted */
    const char *method, *variant; /* words of the library's tables              */
    int64_t done;                 /* those that were tried                      */
    int64_t solved;               /* those of them with an answer               */
    int64_t failed, warned, redone;
    float max_residual; /* -1: not known, as to begin with            */
    double seconds;     /* in the library                             */
} cli_totals;

/* Adds a slice, whose method and variant become those of all. A residual of NaN, which could not be computed,
 * stays. */
void cli_totals_add(cli_totals *t, const cli_totals *slice);
/* A slice, out of what shoal_smallsym_last() or shoal_tridiag_last() found. */
#define CLI_SLICE_OF(info, count, time)                                                            \
    (&(const cli_totals){ .method = (info).method,                                                 \
                          .variant = (info).variant,                                               \
                          .done = (count),                                                         \
                          .failed = (info).failed,                                                 \
                          .warned = (info).warned,                                                 \
                          .redone = (info).redone,                                                 \
                          .max_residual = (info).max_residual,                                     \
                          .seconds = (time) })

/* Works on systems first .. first + count - 1, and adds them to the totals. */
typedef int cli_slice(cli *c, void *of, int64_t first, int64_t count, cli_totals *t);

/* All `count` systems of a batch, each with so many numbers; 0: the batch cannot be cut. Those without unknowns,
 * `empty`, are one slice of none, in which the method and the variant are checked. The exit code. */
int cli_slices(cli *c, int64_t count, bool empty, int64_t numbers, cli_slice *work, void *of,
               cli_totals *t);

/* Members method and variant; `asked` is the method where none has answered. */
void cli_totals_json_method(io_json *j, const cli_totals *t, const char *asked);
/* Members solved, failed, warned, redone, max_residual, VERB_seconds. */
void cli_totals_json(io_json *j, const cli_totals *t);

/* The same as lines of a table. */
void cli_totals_print_method(const cli *c, const cli_totals *t);
void cli_totals_print(const cli_totals *t);

/* The end of a command that came to `code`: the JSON object or the table, and notes on systems that failed or are
 * not trusted; after Ctrl-C no table, after an error nothing. The exit code, which is CLI_FAILED where systems
 * have no answer. */
typedef void cli_shown(cli *c, const void *of, const cli_totals *t);
int cli_totals_show(cli *c, int code, const cli_totals *t, const int32_t *status, cli_shown *json,
                    cli_shown *table, const void *of);

/* ---- what is kept of each system besides its answer ------------------------------------------- */

typedef struct cli_outcome {
    io_type type;    /* of 4 bytes  */
    int64_t entries; /* of a system */
} cli_outcome;

/* An array for each that is `wanted` of a batch, as (count) or (count,entries). A small file may claim any count of
 * systems without unknowns: of an empty batch only what has a path is made, the others are empty. */
int cli_outcomes_create(const cli_outcome *kinds, int outcomes, const char *const *paths,
                        const bool *wanted, int64_t count, bool empty, io_array *arrays);
/* Writes those that have a path. */
int cli_outcomes_write(int outcomes, const char *const *paths, const io_array *arrays);

#endif
