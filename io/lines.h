/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.h - text in memory, line by line, each split into fields at blanks; numbers in them, and
 * messages that name file and line: "A.mtx:17: row index 9 out of range 1..8".
 */
#ifndef SHOAL_IO_LINES_H
#define SHOAL_IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define IO_LINE_FIELDS 5

typedef struct io_lines {
    const char *name;     /* of the file                                           */
    const char *at, *end; /* text not yet read                                     */
    const char *comments; /* characters that begin a comment where a field could   */
    int64_t line;         /* number of the line that the fields come from, 1-based */
    int fields;
    const char *field[IO_LINE_FIELDS + 1]; /* one more, to notice a field too many */
    size_t length[IO_LINE_FIELDS + 1];
} io_lines;

/* Splits the next line into fields; false at the end of the text. LF or CRLF. */
bool io_lines_next(io_lines *l);

/* The next line that is neither blank nor a comment. */
bool io_lines_entry(io_lines *l);

/* Numbers of field i; `what` is its name in the message, IO_E_FORMAT. */
int io_lines_int(const io_lines *l, int i, const char *what, int64_t *value, io_error *err);
int io_lines_double(const io_lines *l, int i, double *value, io_error *err);
/* 1-based in the file, from 1 to `limit`; 0-based in *index. */
int io_lines_index(const io_lines *l, int i, const char *what, int64_t limit, int64_t *index,
                   io_error *err);

#endif
