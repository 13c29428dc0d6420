/* SPDX-License-Identifier: Apache-2.0
 *
 * performance.h - the rows of saved results, as performance.c and performance_chart.c see them.
 */
#ifndef BENCH_PERFORMANCE_H
#define BENCH_PERFORMANCE_H

#include "bench/report.h"
#include "io/json_read.h"

#define BENCH_SLUG 64

/* Rows of one machine that belong together: same backend, type, layout, kind, right-hand sides. */
typedef struct result_group {
    const io_json_value **rows; /* count of them; from malloc */
    int count;
    double copy_rate; /* bytes a second, 0: unknown */
    const char *device;
} result_group;

/* Member of a row as text ("" if it is none) or number (NaN). */
const char *result_text(const io_json_value *row, const char *key);
double result_number(const io_json_value *row, const char *key);

/* Whose and which: "pcr/permute", "cuSPARSE gtsv2StridedBatch". Returns `name`. */
#define RESULT_NAME 128
char *result_solver(const io_json_value *row, char name[RESULT_NAME]);

/* Small letters, digits and single dashes. Returns `slug`. */
char *result_slug(const char *text, char slug[BENCH_SLUG]);

/* The chart of a group, rows a second against n, with the limit that the copy bandwidth sets. */
int result_chart(const result_group *group, const char *path, io_error *err);

#endif
