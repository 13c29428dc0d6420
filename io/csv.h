/* SPDX-License-Identifier: Apache-2.0
 *
 * csv.h - tables of numbers: one header line of column names, then rows, every field a number.
 *
 * No comments. Names may be quoted ("a, b", with "" for a quote) and must be distinct and not
 * empty. LF and CRLF both end a line; blank lines and a UTF-8 byte order mark are skipped. A field
 * that is empty, not a number, or not finite is an error: "params.csv:3: column strike: ..."
 */
#ifndef SHOAL_IO_CSV_H
#define SHOAL_IO_CSV_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

#define IO_CSV_MAX_COLS 4096

typedef struct io_table {
    int64_t rows;
    int cols;
    char **names; /* cols names; from malloc                  */
    double *data; /* rows x cols, row by row; from malloc     */
} io_table;

/* Reads the file at `path`. On error *table is zeroed. A header without rows is a valid table of 0
 * rows. */
int io_csv_read(const char *path, io_table *table, io_error *err);

/* The same for text in memory; `name` stands for the file in messages. */
int io_csv_parse(const char *name, const char *text, size_t size, io_table *table, io_error *err);

/* The line of the file that row `row` stands on, from 1, for messages about its numbers; 0 if it cannot
 * be read again. */
int64_t io_csv_line(const char *path, int64_t row);

/* Releases names and data; harmless on a zeroed or freed table. */
void io_table_free(io_table *table);

/* Position of a column, or -1. */
int io_table_column(const io_table *table, const char *name);

/* The same kind of table with fields that need not be numbers, and may be empty. */
typedef struct io_cells {
    io_table head; /* rows, cols and names; no data           */
    char **text;   /* rows x cols strings, row by row         */
    int64_t *line; /* of the file, per row                    */
} io_cells;

int io_csv_cells(const char *path, io_cells *cells, io_error *err);
/* The same for text in memory; `name` stands for the file in messages. */
int io_csv_parse_cells(const char *name, const char *text, size_t size, io_cells *cells,
                       io_error *err);
void io_cells_free(io_cells *cells);

/* A field, quoted where needed. */
void io_csv_text(FILE *file, const char *text);

/* The names of a table, quoted where needed, and a row of it; numbers read back exactly. Check ferror
 * (io_out_commit does). */
void io_csv_header(FILE *file, const char *const *names, int cols);
void io_csv_row(FILE *file, const double *values, int cols);

#endif
