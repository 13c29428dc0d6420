/* SPDX-License-Identifier: Apache-2.0
 *
 * performance.h - the rows of saved results, as the files performance*.c see them.
 */
#ifndef BENCH_PERFORMANCE_H
#define BENCH_PERFORMANCE_H

#include "bench/report.h"
#include "io/json_read.h"

#define BENCH_SLUG 64

/* The .json files of a directory, in the order of their names. */
typedef struct result_files {
    io_json_value **roots; /* one a file; from malloc */
    char **names;
    int count;
} result_files;

const char *result_device(const result_files *files, int file);
/* All rows of a device, file after file; *count of them; from malloc. */
const io_json_value **result_rows(const result_files *files, const char *device, int *count);

/* Rows of one machine that belong together: same module, backend, type, and what the module says. */
typedef struct result_group {
    const io_json_value **rows; /* count of them; from malloc */
    int count;
    double copy_rate; /* bytes a second, 0: unknown */
    const char *device;
} result_group;

typedef struct result_page {
    FILE *file;
    const char *path;
} result_page;

/* Reads the results of a directory and has a page of them written, which appears when it is complete. */
typedef int result_writer(const result_page *page, const result_files *files, io_error *err);
int result_write_page(const char *directory, const char *path, result_writer *write, io_error *err);

/* How a module's rows are shown. */
typedef struct result_module {
    const char *name;
    const char *introduction; /* a paragraph for the top of the page, or NULL                  */
    bool (*comparable)(const io_json_value *p, const io_json_value *q); /* NULL: always        */
    int (*write)(const result_page *page, const result_group *group, io_error *err);
} result_module;

extern const result_module result_tridiag, result_rng, result_smallsym, result_recur,
    result_symindef, result_sort, result_heston, result_expou, result_bullet;

/* Member of a row as text ("" if it is none) or number (NaN). */
const char *result_text(const io_json_value *row, const char *key);
double result_number(const io_json_value *row, const char *key);
bool result_ours(const io_json_value *row);
const char *result_remark(const io_json_value *row); /* " (fails the check)", or "" */

/* Whose and which: "pcr/permute", "cuSPARSE gtsv2StridedBatch", "ldlt/hybrid team=8 outcome".
 * Returns `name`. */
#define RESULT_NAME 128
char *result_solver(const io_json_value *row, char name[RESULT_NAME]);

/* Small letters, digits and single dashes. Returns `slug`. */
char *result_slug(const char *text, char slug[BENCH_SLUG]);

/* " | " and the number, or a dash. */
void result_cell(FILE *file, const char *format, double value);

/* The table of a group: n, how many, solver, times, rates, the best peer. */
typedef struct result_columns {
    const char *things; /* what count counts: "systems"            */
    const char *rate;   /* the member of a row, "rows_per_second" */
    double scale;       /* what it is multiplied by, 1e-9         */
    const char *unit;   /* and then called, "Grows/s"             */
    const char *share;  /* format of the share of the copy        */
    bool residual;      /* the last column                        */
} result_columns;
void result_table(const result_page *page, const result_group *group,
                  const result_columns *columns);

enum { RESULT_FILE = 256, RESULT_PATH = 4352 };
/* Path of the picture img/NAME beside a file; makes its directory. */
int result_image_path(const char *beside, const char *name, char path[RESULT_PATH], io_error *err);

/* File name of a group's picture, with `extra` at its end, and its path; makes its directory. */
int result_image(const result_page *page, const result_group *group, const char *extra,
                 char name[RESULT_FILE], char path[RESULT_PATH], io_error *err);

/* The chart of a group of systems: a rate of its rows against n, and the limit that the copy
 * bandwidth sets for it. */
typedef struct result_axes {
    const char *title;
    const char *rate; /* the member of a row, "rows_per_second" */
    double scale;     /* what it is multiplied by, 1e-6         */
    const char *y_label;
    const char *x_label; /* NULL: of systems */
} result_axes;
int result_chart(const result_group *group, const result_axes *axes, const char *path,
                 io_error *err);

#endif
