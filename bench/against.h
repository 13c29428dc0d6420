/* SPDX-License-Identifier: Apache-2.0
 *
 * against.h - kept runs of `shoal bench`, to compare this run with.
 */
#ifndef BENCH_AGAINST_H
#define BENCH_AGAINST_H

#include "bench/session.h"

typedef struct bench_kept_row {
    char problem[BENCH_TEXT];
    char date[24], file[128]; /* of the run */
    double median;            /* seconds per solve */
} bench_kept_row;

/* Our timed rows of a machine. If several runs have a problem, the last one counts. */
typedef struct bench_kept {
    bench_kept_row *rows; /* from malloc */
    int count;
} bench_kept;

#define BENCH_SLOWER 1.05 /* times the kept median: this or more is reported */

/* Reads a file of `shoal bench --save`, or all in a folder. Files of other devices than these two, a GPU and a CPU, and
 * other JSON files are left out. IO_OK, or an error with its text. To be freed in either case. */
int bench_kept_read(const char *path, const char *const devices[2], bench_kept *kept,
                    io_error *err);
void bench_kept_free(bench_kept *kept);

/* Sets row.kept of the rows of the session that have a kept median. Returns how many do; *slower: how many of them are
 * slower. */
int bench_against(bench_session *s, const bench_kept *kept, int *slower);
/* Prints the rows that are slower, and how many were compared. */
void bench_against_table(const bench_session *s, FILE *file);

#endif
