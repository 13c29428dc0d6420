/* SPDX-License-Identifier: Apache-2.0
 *
 * csv.c - tables of numbers with a header line. Numbers may be quoted too; spaces around a field
 * are ignored. Limits: 4 GiB of text, IO_CSV_MAX_COLS columns; a table takes at most about 8 times
 * the memory of its text (8 bytes for a field of one digit and its comma, doubled while growing).
 */
#include "csv.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define FILE_LIMIT ((int64_t)4 << 30)

typedef struct reader {
    const char *name;
    const char *text, *at, *stop, *end; /* begin, position, end of the line, end of the text */
    int64_t line;
    bool more;         /* the line has another field                  */
    const char *field; /* the last field, without quotes and spaces   */
    size_t length;
    bool quoted;
} reader;

/* Moves to the next line that is not blank; false at the end of the text. */
static bool next_line(reader *r) {
    while (r->stop < r->end) {
        r->at = r->line == 0 ? r->at : r->stop + 1;
        if (r->at >= r->end) return false;
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        r->stop = stop ? stop : r->end;
        r->line++;
        r->more = true;
        for (const char *p = r->at; p < r->stop; p++)
            if (*p != ' ' && *p != '\t' && *p != '\r') return true;
    }
    return false;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Takes the next field of the line. False if its quotes are wrong. */
static bool next_field(reader *r) {
    while (r->at < r->stop && is_space(*r->at)) r->at++;
    r->quoted = r->at < r->stop && *r->at == '"';
    if (r->quoted) r->at++;
    r->field = r->at;
    const char *last;
    if (r->quoted) {
        while (r->at < r->stop && (*r->at != '"' || (r->at + 1 < r->stop && r->at[1] == '"')))
            r->at += *r->at == '"' ? 2 : 1;
        if (r->at >= r->stop) return false;
        last = r->at++;
        while (r->at < r->stop && is_space(*r->at)) r->at++;
        if (r->at < r->stop && *r->at != ',') return false;
    } else {
        while (r->at < r->stop && *r->at != ',') r->at++;
        last = r->at;
        while (last > r->field && is_space(last[-1])) last--;
    }
    r->length = (size_t)(last - r->field);
    r->more = r->at < r->stop;
    if (r->more) r->at++; /* the comma */
    return true;
}

/* The last field as a string of its own, with "" turned into ". */
static char *copy_field(const reader *r) {
    char *copy = malloc(r->length + 1), *to = copy;
    if (!copy) return NULL;
    for (size_t i = 0; i < r->length; i++) {
        *to++ = r->field[i];
        if (r->quoted && r->field[i] == '"') i++;
    }
    *to = '\0';
    return copy;
}

static int read_header(reader *r, io_table *t, io_error *err) {
    const char *other = io_not_text(r->at, (size_t)(r->end - r->at));
    if (other)
        return io_fail(err, IO_E_FORMAT, "%s: %s; expected a table of text (CSV)", r->name, other);
    if (!next_line(r)) return io_fail(err, IO_E_FORMAT, "%s: file is empty", r->name);
    size_t commas = 0;
    for (const char *p = r->at; p < r->stop; p++) commas += *p == ',';
    if (commas >= IO_CSV_MAX_COLS) commas = IO_CSV_MAX_COLS - 1; /* some may be quoted */
    t->names = calloc(commas + 1, sizeof *t->names);
    if (!t->names) return io_fail(err, IO_E_MEMORY, "%s: out of memory", r->name);
    while (r->more) {
        if (t->cols == IO_CSV_MAX_COLS)
            return io_fail(err, IO_E_SIZE, "%s:%" PRId64 ": more than %d columns", r->name, r->line,
                           IO_CSV_MAX_COLS);
        if (!next_field(r))
            return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": column %d: wrong quotes", r->name,
                           r->line, t->cols + 1);
        if (r->length == 0 || memchr(r->field, '\0', r->length))
            return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": column %d has no name", r->name,
                           r->line, t->cols + 1);
        char *name = copy_field(r);
        if (!name) return io_fail(err, IO_E_MEMORY, "%s: out of memory", r->name);
        bool twice = io_table_column(t, name) >= 0;
        t->names[t->cols++] = name;
        if (twice)
            return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": column %s appears twice", r->name,
                           r->line, name);
    }
    return IO_OK;
}

static int bad_field(const reader *r, const io_table *t, int col, const char *reason,
                     io_error *err) {
    return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": column %s: %s", r->name, r->line,
                   t->names[col], reason);
}

static int read_row(reader *r, const io_table *t, double *row, io_error *err) {
    char quoted[IO_QUOTE_SIZE], reason[80];
    for (int col = 0; col < t->cols; col++) {
        if (!r->more) return bad_field(r, t, col, "missing", err);
        if (!next_field(r)) return bad_field(r, t, col, "wrong quotes", err);
        if (r->length == 0) return bad_field(r, t, col, "empty", err);
        const char *wrong = !io_text_double(r->field, r->length, &row[col]) ? "a number"
                            : !isfinite(row[col])                           ? "finite"
                                                                            : NULL;
        if (wrong) {
            snprintf(reason, sizeof reason, "'%s' is not %s", io_quote(r->field, r->length, quoted),
                     wrong);
            return bad_field(r, t, col, reason, err);
        }
    }
    if (r->more)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": more fields than columns, %d", r->name,
                       r->line, t->cols);
    return IO_OK;
}

/* At every 4096th line, and at the end of the text. */
static int step(const reader *r, io_error *err) {
    if (r->line % 4096 != 0 && r->stop != r->end) return IO_OK;
    return io_step(err, "parse", r->stop - r->text, r->end - r->text);
}

static int read_rows(reader *r, io_table *t, io_error *err) {
    int64_t capacity = 0;
    while (next_line(r)) {
        if (t->rows == capacity) {
            /* Each row that is still to come takes at least two bytes per column. */
            int64_t possible = t->rows + (r->end - r->at + 1) / (2 * t->cols) + 1;
            capacity = capacity ? 2 * capacity : 16;
            if (capacity > possible) capacity = possible;
            double *larger = realloc(t->data, (size_t)capacity * (size_t)t->cols * sizeof(double));
            if (!larger) return io_fail(err, IO_E_MEMORY, "%s: out of memory", r->name);
            t->data = larger;
        }
        int status = read_row(r, t, t->data + t->rows * t->cols, err);
        if (status == IO_OK) status = step(r, err);
        if (status != IO_OK) return status;
        t->rows++;
    }
    return IO_OK;
}

/* A reader of the text, past its byte order mark. */
static reader reader_of(const char *name, const char *text, size_t size) {
    reader r = { .name = name, .text = text, .at = text, .stop = text, .end = text + size };
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at = r.stop = text + 3;
    return r;
}

int io_csv_parse(const char *name, const char *text, size_t size, io_table *table, io_error *err) {
    reader r = reader_of(name, text, size);
    memset(table, 0, sizeof *table);
    int status = read_header(&r, table, err);
    if (status == IO_OK) status = read_rows(&r, table, err);
    if (status == IO_OK && !table->data) {
        table->data = calloc(1, sizeof(double));
        if (!table->data) status = io_fail(err, IO_E_MEMORY, "%s: out of memory", name);
    }
    if (status != IO_OK) io_table_free(table);
    return status;
}

int io_csv_read(const char *path, io_table *table, io_error *err) {
    char *text;
    size_t size;
    memset(table, 0, sizeof *table);
    int status = io_file_read(path, FILE_LIMIT, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_csv_parse(path, text, size, table, err);
    free(text);
    return status;
}

int64_t io_csv_line(const char *path, int64_t row) {
    char *text;
    size_t size;
    io_error err;
    if (io_file_read(path, FILE_LIMIT, &text, &size, &err) != IO_OK) return 0;
    reader r = reader_of(path, text, size);
    int64_t line = 0;
    for (int64_t i = -1; i <= row; i++) line = next_line(&r) ? r.line : 0; /* -1: the header */
    free(text);
    return line;
}

/* Room for the row that comes; the strings of a row that fails are released with the others. */
static int grow_cells(const reader *r, io_cells *c, int64_t *capacity, io_error *err) {
    if (c->head.rows < *capacity) return IO_OK;
    const size_t cols = (size_t)c->head.cols, more = *capacity ? 2 * (size_t)*capacity : 16;
    char **text = realloc(c->text, more * cols * sizeof *text);
    if (text) c->text = text;
    int64_t *line = realloc(c->line, more * sizeof *line);
    if (line) c->line = line;
    if (!text || !line) return io_fail(err, IO_E_MEMORY, "%s: out of memory", r->name);
    *capacity = (int64_t)more;
    return IO_OK;
}

static int read_cells(reader *r, io_cells *c, io_error *err) {
    int64_t capacity = 0;
    while (next_line(r)) {
        int status = grow_cells(r, c, &capacity, err);
        if (status == IO_OK) status = step(r, err);
        if (status != IO_OK) return status;
        char **row = c->text + c->head.rows * c->head.cols;
        c->line[c->head.rows++] = r->line;
        memset(row, 0, (size_t)c->head.cols * sizeof *row);
        for (int col = 0; col < c->head.cols; col++) {
            if (!r->more) return bad_field(r, &c->head, col, "missing", err);
            if (!next_field(r)) return bad_field(r, &c->head, col, "wrong quotes", err);
            if (memchr(r->field, '\0', r->length))
                return bad_field(r, &c->head, col, "a zero byte", err);
            row[col] = copy_field(r);
            if (!row[col]) return io_fail(err, IO_E_MEMORY, "%s: out of memory", r->name);
        }
        if (r->more)
            return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": more fields than columns, %d",
                           r->name, r->line, c->head.cols);
    }
    return IO_OK;
}

int io_csv_parse_cells(const char *name, const char *text, size_t size, io_cells *cells,
                       io_error *err) {
    reader r = reader_of(name, text, size);
    memset(cells, 0, sizeof *cells);
    int status = read_header(&r, &cells->head, err);
    if (status == IO_OK) status = read_cells(&r, cells, err);
    if (status != IO_OK) io_cells_free(cells);
    return status;
}

int io_csv_cells(const char *path, io_cells *cells, io_error *err) {
    char *text;
    size_t size;
    memset(cells, 0, sizeof *cells);
    int status = io_file_read(path, FILE_LIMIT, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_csv_parse_cells(path, text, size, cells, err);
    free(text);
    return status;
}

void io_cells_free(io_cells *cells) {
    const int64_t count = cells->text ? cells->head.rows * cells->head.cols : 0;
    for (int64_t i = 0; i < count; i++) free(cells->text[i]);
    free(cells->text);
    free(cells->line);
    io_table_free(&cells->head);
    memset(cells, 0, sizeof *cells);
}

void io_table_free(io_table *table) {
    for (int col = 0; table->names && col < table->cols; col++) free(table->names[col]);
    free(table->names);
    free(table->data);
    memset(table, 0, sizeof *table);
}

int io_table_column(const io_table *table, const char *name) {
    for (int col = 0; col < table->cols; col++)
        if (strcmp(table->names[col], name) == 0) return col;
    return -1;
}

void io_csv_text(FILE *file, const char *text) {
    const size_t length = strlen(text);
    const bool quote =
        strpbrk(text, ",\"\r\n") || (length && (is_space(text[0]) || is_space(text[length - 1])));
    if (quote) putc('"', file);
    for (; *text; text++) {
        if (*text == '"') putc('"', file);
        putc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
    }
    if (quote) putc('"', file);
}

void io_csv_header(FILE *file, const char *const *names, int cols) {
    for (int col = 0; col < cols; col++) {
        if (col) putc(',', file);
        io_csv_text(file, names[col]);
    }
    putc('\n', file);
}

void io_csv_row(FILE *file, const double *values, int cols) {
    char text[32];
    for (int col = 0; col < cols; col++) {
        if (col) putc(',', file);
        io_real_text(values[col], text);
        fputs(text, file);
    }
    putc('\n', file);
}
