/* SPDX-License-Identifier: Apache-2.0
 *
 * mtx.c - Matrix Market files.
 *
 *     %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric
 *     % comments
 *     rows cols entries        (coordinate)     rows cols     (array)
 *     row col value            1-based          value         column by column
 *
 * One entry per line; comments and blank lines are skipped everywhere; LF or CRLF. The text is read
 * into memory whole. Memory for entries (24 bytes each, twice while sorting) is asked for once the
 * declared number is known to fit into the bytes that follow: an entry takes at least 2 bytes
 * (array), 4 (pattern) or 6 (coordinate with a value), its line end included.
 */
#include "mtx.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "text.h"

#define MAX_FIELDS 5

typedef struct reader {
    const char *name;
    const char *at, *end; /* text not yet read                                     */
    int64_t line;         /* number of the line that the fields come from, 1-based */
    int fields;
    const char *field[MAX_FIELDS + 1]; /* one more, to notice a field too many     */
    size_t length[MAX_FIELDS + 1];
    bool array, pattern, integer;
} reader;

/* Splits the next line into fields; false at the end of the text. */
static bool next_line(reader *r) {
    if (r->at == r->end) return false;
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!stop) stop = r->end;
    r->line++;
    r->fields = 0;
    for (const char *p = r->at; p < stop && r->fields <= MAX_FIELDS;) {
        while (p < stop && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        const char *start = p;
        while (p < stop && *p != ' ' && *p != '\t' && *p != '\r') p++;
        if (p == start) break;
        r->field[r->fields] = start;
        r->length[r->fields++] = (size_t)(p - start);
    }
    r->at = stop < r->end ? stop + 1 : stop;
    return true;
}

/* The next line that is neither blank nor a comment. */
static bool next_entry(reader *r) {
    while (next_line(r))
        if (r->fields > 0 && r->field[0][0] != '%') return true;
    return false;
}

/* Case does not matter in the first line. */
static bool field_is(const reader *r, int i, const char *word) {
    size_t length = strlen(word);
    if (r->length[i] != length) return false;
    for (size_t k = 0; k < length; k++) {
        char c = r->field[i][k];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[k]) return false;
    }
    return true;
}

static int bad_word(const reader *r, int i, const char *what, io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": %s '%s' is not supported", r->name, r->line,
                   what, io_quote(r->field[i], r->length[i], quoted));
}

static int read_banner(reader *r, io_matrix *m, io_error *err) {
    if (r->at == r->end) return io_fail(err, IO_E_FORMAT, "%s: file is empty", r->name);
    if (!next_line(r) || r->fields == 0 || !field_is(r, 0, "%%matrixmarket"))
        return io_fail(err, IO_E_FORMAT, "%s:1: not a Matrix Market file", r->name);
    if (r->fields != 5)
        return io_fail(err, IO_E_FORMAT, "%s:1: the first line needs 5 words", r->name);
    if (!field_is(r, 1, "matrix")) return bad_word(r, 1, "object", err);

    r->array = field_is(r, 2, "array");
    if (!r->array && !field_is(r, 2, "coordinate")) return bad_word(r, 2, "format", err);

    r->integer = field_is(r, 3, "integer");
    r->pattern = field_is(r, 3, "pattern");
    if (!r->integer && !r->pattern && !field_is(r, 3, "real") && !field_is(r, 3, "double"))
        return bad_word(r, 3, "field", err);

    if (field_is(r, 4, "general"))
        m->symmetry = IO_GENERAL;
    else if (field_is(r, 4, "symmetric"))
        m->symmetry = IO_SYMMETRIC;
    else if (field_is(r, 4, "skew-symmetric"))
        m->symmetry = IO_SKEW;
    else
        return bad_word(r, 4, "symmetry", err);

    if (r->pattern && (r->array || m->symmetry == IO_SKEW))
        return io_fail(err, IO_E_FORMAT, "%s:1: pattern goes with neither array nor skew-symmetric",
                       r->name);
    return IO_OK;
}

static int read_integer(const reader *r, int i, const char *what, int64_t *value, io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_int(r->field[i], r->length[i], value)) return IO_OK;
    return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": %s '%s' is not an integer", r->name, r->line,
                   what, io_quote(r->field[i], r->length[i], quoted));
}

/* Values that an array file holds: all, or those on and below (skew: below) the diagonal.
 * False if the number does not fit. */
static bool array_count(const io_matrix *m, int64_t *count) {
    int64_t n = m->rows, factor = m->cols;
    if (m->symmetry != IO_GENERAL) {
        factor = m->symmetry == IO_SKEW ? n - 1 : n + 1;
        if (n % 2 == 0)
            n /= 2;
        else
            factor /= 2;
    }
    *count = 0;
    if (n == 0 || factor == 0) return true;
    if (n > INT64_MAX / factor) return false;
    *count = n * factor;
    return true;
}

static int read_sizes(reader *r, io_matrix *m, io_error *err) {
    int64_t count = 0;
    if (!next_entry(r))
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": file ends before its size line", r->name,
                       r->line);
    if (r->fields != (r->array ? 2 : 3))
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": the size line needs %s", r->name, r->line,
                       r->array ? "rows and columns" : "rows, columns and entries");
    int status = read_integer(r, 0, "number of rows", &m->rows, err);
    if (status == IO_OK) status = read_integer(r, 1, "number of columns", &m->cols, err);
    if (status == IO_OK && !r->array) status = read_integer(r, 2, "number of entries", &count, err);
    if (status != IO_OK) return status;
    if (m->rows < 0 || m->cols < 0 || count < 0)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": negative size", r->name, r->line);
    if (m->symmetry != IO_GENERAL && m->rows != m->cols)
        return io_fail(err, IO_E_FORMAT,
                       "%s:%" PRId64 ": a symmetric matrix cannot be %" PRId64 " x %" PRId64,
                       r->name, r->line, m->rows, m->cols);
    /* n + 1 must exist for the count of a triangle, and 1-based indices for everything */
    if (m->rows == INT64_MAX || m->cols == INT64_MAX || (r->array && !array_count(m, &count)))
        return io_fail(err, IO_E_SIZE,
                       "%s:%" PRId64 ": a matrix of %" PRId64 " x %" PRId64 " is too large",
                       r->name, r->line, m->rows, m->cols);
    int64_t left = r->end - r->at, least = r->array ? 2 : r->pattern ? 4 : 6;
    if (count > (left + 1) / least)
        return io_fail(err, IO_E_SIZE,
                       "%s:%" PRId64 ": %" PRId64 " entries promised, but only %" PRId64
                       " bytes follow",
                       r->name, r->line, count, left);
    m->count = count;
    return IO_OK;
}

static int read_value(const reader *r, int i, io_matrix *m, double *value, io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    int64_t whole;
    bool good = r->integer ? io_text_int(r->field[i], r->length[i], &whole)
                           : io_text_double(r->field[i], r->length[i], value);
    if (!good)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": value '%s' is not %s", r->name, r->line,
                       io_quote(r->field[i], r->length[i], quoted),
                       r->integer ? "a 64-bit integer" : "a number");
    if (r->integer) *value = (double)whole;
    if (!isfinite(*value)) m->nonfinite++;
    return IO_OK;
}

static int read_index(const reader *r, int i, const char *what, int64_t limit, int64_t *index,
                      io_error *err) {
    int status = read_integer(r, i, what, index, err);
    if (status != IO_OK) return status;
    if (*index < 1 || *index > limit)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": %s %" PRId64 " out of range 1..%" PRId64,
                       r->name, r->line, what, *index, limit);
    *index -= 1;
    return IO_OK;
}

/* One line of a coordinate file. */
static int read_coordinate(const reader *r, io_matrix *m, io_entry *e, io_error *err) {
    if (r->fields != (r->pattern ? 2 : 3))
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": an entry needs %s", r->name, r->line,
                       r->pattern ? "row and column" : "row, column and value");
    int status = read_index(r, 0, "row index", m->rows, &e->row, err);
    if (status == IO_OK) status = read_index(r, 1, "column index", m->cols, &e->col, err);
    e->value = 1;
    if (status == IO_OK && !r->pattern) status = read_value(r, 2, m, &e->value, err);
    if (status != IO_OK || m->symmetry == IO_GENERAL) return status;
    if (e->col > e->row)
        return io_fail(err, IO_E_FORMAT,
                       "%s:%" PRId64 ": entry (%" PRId64 ", %" PRId64
                       ") lies above the diagonal of a symmetric matrix",
                       r->name, r->line, e->row + 1, e->col + 1);
    if (m->symmetry == IO_SKEW && e->col == e->row && e->value != 0)
        return io_fail(err, IO_E_FORMAT,
                       "%s:%" PRId64 ": the diagonal of a skew-symmetric matrix is zero", r->name,
                       r->line);
    return IO_OK;
}

static int read_entries(reader *r, io_matrix *m, io_error *err) {
    int64_t row = m->symmetry == IO_SKEW ? 1 : 0, col = 0; /* place of the next array value */
    for (int64_t i = 0; i < m->count; i++) {
        io_entry *e = &m->entries[i];
        int status;
        if (!next_entry(r))
            return io_fail(err, IO_E_SIZE, "%s: %" PRId64 " entries promised, %" PRId64 " found",
                           r->name, m->count, i);
        if (!r->array) {
            status = read_coordinate(r, m, e, err);
        } else if (r->fields != 1) {
            status = io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": one value per line expected",
                             r->name, r->line);
        } else {
            status = read_value(r, 0, m, &e->value, err);
            e->row = row;
            e->col = col;
            if (++row == m->rows) {
                col++;
                row = m->symmetry == IO_GENERAL ? 0 : m->symmetry == IO_SKEW ? col + 1 : col;
            }
        }
        if (status != IO_OK) return status;
    }
    if (next_entry(r))
        return io_fail(err, IO_E_FORMAT,
                       "%s:%" PRId64 ": more than the %" PRId64 " entries promised", r->name,
                       r->line, m->count);
    return IO_OK;
}

int io_mtx_parse(const char *name, const char *text, size_t size, io_matrix *matrix,
                 io_error *err) {
    reader r = { .name = name, .at = text, .end = text + size };
    memset(matrix, 0, sizeof *matrix);
    int status = read_banner(&r, matrix, err);
    if (status == IO_OK) status = read_sizes(&r, matrix, err);
    if (status == IO_OK) {
        matrix->entries = malloc((size_t)(matrix->count ? matrix->count : 1) * sizeof(io_entry));
        if (!matrix->entries)
            status = io_fail(err, IO_E_MEMORY, "%s: no memory for %" PRId64 " entries", name,
                             matrix->count);
    }
    if (status == IO_OK) status = read_entries(&r, matrix, err);
    if (status == IO_OK) status = io_matrix_sort(matrix, name, err);
    if (status != IO_OK) io_matrix_free(matrix);
    return status;
}

int io_mtx_read(const char *path, io_matrix *matrix, io_error *err) {
    char *text;
    size_t size;
    memset(matrix, 0, sizeof *matrix);
    int status = io_file_read(path, INT64_MAX, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_mtx_parse(path, text, size, matrix, err);
    free(text);
    return status;
}
