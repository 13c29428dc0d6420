/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.h - what the readers of `shoal cva` share: fields of tables, and messages about them.
 */
#ifndef CLI_CVA_TABLES_H
#define CLI_CVA_TABLES_H

#include "cva.h"
#include "io/csv.h"

/* One field, with all that a message about it needs. */
typedef struct cva_field {
    const char *path, *column, *text; /* text NULL: no such column */
    int64_t line;
} cva_field;

enum { CVA_ALIASES = 10 };

typedef struct cva_column {
    const char *name, *alias[CVA_ALIASES]; /* other names for it */
} cva_column;

cva_field cva_field_of(const char *path, const io_cells *t, int64_t row, const char *column);
int cva_wrong(const cva_field *f, const char *reason);

/* The worse of two codes: what is no fault of the file ends the reading. */
int cva_worse(int a, int b);
/* Whether problem number `count` is the last one of a file that is reported. */
bool cva_is_last(const char *path, int count);

/* A column that is not there, or empty, has the default; NaN: it must be there. */
int cva_number(cva_field f, double missing, double *value);

/* The table in a file, or in the text that stands for it, which is kept; columns have their usual names. */
int cva_read_table(const char *path, const char *text, const cva_column *columns, char **kept,
                   io_cells *t);
int cva_need_columns(const char *path, const io_cells *t, const char *const *names);
/* A column that nobody reads is ignored, with a note; one that looks like one that is missing is an error. */
int cva_check_columns(const cli *c, const char *path, const io_cells *t, const cva_column *columns,
                      char *const *more, int64_t count);

#endif
