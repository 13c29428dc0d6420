/* SPDX-License-Identifier: Apache-2.0
 *
 * mtx.c - Matrix Market files, read and written.
 *
 *     %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric
 *     % comments
 *     rows cols entries        (coordinate)     rows cols     (array)
 *     row col value            1-based          value         column by column
 *
 * Triplets are lines "row col value" of a lower triangle and nothing else: no banner, no size.
 *
 * One entry per line; comments and blank lines are skipped everywhere; LF or CRLF. The text is read
 * into memory whole. Memory for entries (24 bytes each, twice while sorting) is asked for once the
 * declared number is known to fit into the bytes that follow: an entry takes at least 2 bytes
 * (array), 4 (pattern) or 6 (coordinate with a value), its line end included.
 */
#include "mtx.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

/* ---- lines and fields ------------------------------------------------------------------------- */

enum { MAX_FIELDS = 5 };

typedef struct lines {
    const char *name;     /* of the file                                           */
    const char *at, *end; /* text not yet read                                     */
    const char *comments; /* characters that begin a comment where a field could   */
    io_error *err;        /* for the message                                       */
    int64_t line;         /* number of the line that the fields come from, 1-based */
    int fields;
    const char *field[MAX_FIELDS + 1]; /* one more, to notice a field too many */
    size_t length[MAX_FIELDS + 1];
} lines;

/* A message that names file and line. */
IO_PRINTF(3, 4)
static int bad_line(const lines *l, io_status status, const char *format, ...) {
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return io_fail(l->err, status, "%s:%" PRId64 ": %s", l->name, l->line, text);
}

/* Splits the next line into fields; false at the end of the text. LF or CRLF. */
static bool next_line(lines *l) {
    if (l->at == l->end) return false;
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    if (!stop) stop = l->end;
    l->line++;
    l->fields = 0;
    for (const char *p = l->at; p < stop && l->fields <= MAX_FIELDS;) {
        while (p < stop && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
        const char *start = p;
        while (p < stop && *p != ' ' && *p != '\t' && *p != '\r') p++;
        if (p == start) break;
        l->field[l->fields] = start;
        l->length[l->fields++] = (size_t)(p - start);
    }
    l->at = stop < l->end ? stop + 1 : stop;
    return true;
}

/* The next line that is neither blank nor a comment. */
static bool next_entry(lines *l) {
    while (next_line(l)) {
        const char first = l->fields > 0 ? l->field[0][0] : '\0';
        if (l->fields > 0 && (first == '\0' || !strchr(l->comments, first))) return true;
    }
    return false;
}

/* Numbers of field i; `what` is its name in the message, IO_E_FORMAT. */
static int field_int(const lines *l, int i, const char *what, int64_t *value) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_int(l->field[i], l->length[i], value)) return IO_OK;
    return bad_line(l, IO_E_FORMAT, "%s '%s' is not an integer", what,
                    io_quote(l->field[i], l->length[i], quoted));
}

static int field_double(const lines *l, int i, double *value) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_double(l->field[i], l->length[i], value)) return IO_OK;
    return bad_line(l, IO_E_FORMAT, "value '%s' is not a number",
                    io_quote(l->field[i], l->length[i], quoted));
}

/* 1-based in the file, from 1 to `limit`; 0-based in *index. */
static int field_index(const lines *l, int i, const char *what, int64_t limit, int64_t *index) {
    int status = field_int(l, i, what, index);
    if (status != IO_OK) return status;
    if (*index < 1 || *index > limit)
        return bad_line(l, IO_E_FORMAT, "%s %" PRId64 " out of range 1..%" PRId64, what, *index,
                        limit);
    *index -= 1;
    return IO_OK;
}

/* ---- Matrix Market ---------------------------------------------------------------------------- */

static const char *const symmetries[] = {
    [IO_GENERAL] = "general", [IO_SYMMETRIC] = "symmetric", [IO_SKEW] = "skew-symmetric"
};

typedef struct reader {
    lines l;
    bool array, pattern, integer;
    const io_triangle *to; /* entries go to `triangle` of this form; NULL: to the list */
    double *triangle;
} reader;

/* Case does not matter in the first line. */
static bool field_is(const lines *l, int i, const char *word) {
    size_t length = strlen(word);
    if (l->length[i] != length) return false;
    for (size_t k = 0; k < length; k++) {
        char c = l->field[i][k];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[k]) return false;
    }
    return true;
}

static int bad_word(const reader *r, int i, const char *what) {
    char quoted[IO_QUOTE_SIZE];
    return bad_line(&r->l, IO_E_FORMAT, "%s '%s' is not supported", what,
                    io_quote(r->l.field[i], r->l.length[i], quoted));
}

static int read_banner(reader *r, io_matrix *m) {
    if (r->l.at == r->l.end) return io_fail(r->l.err, IO_E_FORMAT, "%s: file is empty", r->l.name);
    if (!next_line(&r->l) || r->l.fields == 0 || !field_is(&r->l, 0, "%%matrixmarket"))
        return io_fail(
            r->l.err, IO_E_FORMAT,
            "%s:1: not a Matrix Market file: the first line must begin with %%%%MatrixMarket",
            r->l.name);
    if (r->l.fields != 5)
        return io_fail(r->l.err, IO_E_FORMAT, "%s:1: the first line needs 5 words", r->l.name);
    if (!field_is(&r->l, 1, "matrix")) return bad_word(r, 1, "object");

    r->array = field_is(&r->l, 2, "array");
    if (!r->array && !field_is(&r->l, 2, "coordinate")) return bad_word(r, 2, "format");

    r->integer = field_is(&r->l, 3, "integer");
    r->pattern = field_is(&r->l, 3, "pattern");
    if (!r->integer && !r->pattern && !field_is(&r->l, 3, "real") && !field_is(&r->l, 3, "double"))
        return bad_word(r, 3, "field");

    int symmetry = IO_GENERAL;
    while (symmetry <= IO_SKEW && !field_is(&r->l, 4, symmetries[symmetry])) symmetry++;
    if (symmetry > IO_SKEW) return bad_word(r, 4, "symmetry");
    m->symmetry = (io_symmetry)symmetry;

    if (r->pattern && (r->array || m->symmetry == IO_SKEW))
        return io_fail(r->l.err, IO_E_FORMAT,
                       "%s:1: pattern must not be combined with array or skew-symmetric",
                       r->l.name);
    return IO_OK;
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

static int read_sizes(reader *r, io_matrix *m) {
    int64_t count = 0;
    if (!next_entry(&r->l)) return bad_line(&r->l, IO_E_FORMAT, "file ends before its size line");
    if (r->l.fields != (r->array ? 2 : 3))
        return bad_line(&r->l, IO_E_FORMAT, "the size line needs %s",
                        r->array ? "rows and columns" : "rows, columns and entries");
    int status = field_int(&r->l, 0, "number of rows", &m->rows);
    if (status == IO_OK) status = field_int(&r->l, 1, "number of columns", &m->cols);
    if (status == IO_OK && !r->array) status = field_int(&r->l, 2, "number of entries", &count);
    if (status != IO_OK) return status;
    if (m->rows < 0 || m->cols < 0 || count < 0)
        return bad_line(&r->l, IO_E_FORMAT, "negative size");
    if (m->symmetry != IO_GENERAL && m->rows != m->cols)
        return bad_line(&r->l, IO_E_FORMAT, "a symmetric matrix cannot be %" PRId64 " x %" PRId64,
                        m->rows, m->cols);
    /* n + 1 must exist for the count of a triangle, and 1-based indices for everything */
    if (m->rows == INT64_MAX || m->cols == INT64_MAX || (r->array && !array_count(m, &count)))
        return bad_line(&r->l, IO_E_SIZE, "a matrix of %" PRId64 " x %" PRId64 " is too large",
                        m->rows, m->cols);
    int64_t left = r->l.end - r->l.at, min = r->array ? 2 : r->pattern ? 4 : 6;
    if (count > (left + 1) / min)
        return bad_line(&r->l, IO_E_SIZE,
                        "%" PRId64 " entries promised, but only %" PRId64 " bytes follow", count,
                        left);
    m->count = count;
    return IO_OK;
}

static int read_value(const reader *r, int i, io_matrix *m, double *value) {
    char quoted[IO_QUOTE_SIZE];
    int64_t whole = 0;
    int status = IO_OK;
    if (!r->integer)
        status = field_double(&r->l, i, value);
    else if (!io_text_int(r->l.field[i], r->l.length[i], &whole))
        status = bad_line(&r->l, IO_E_FORMAT, "value '%s' is not a 64-bit integer",
                          io_quote(r->l.field[i], r->l.length[i], quoted));
    if (status != IO_OK) return status;
    if (r->integer) *value = (double)whole;
    if (!isfinite(*value)) m->nonfinite++;
    return IO_OK;
}

/* One line of a coordinate file. */
static int read_coordinate(const reader *r, io_matrix *m, io_entry *e) {
    if (r->l.fields != (r->pattern ? 2 : 3))
        return bad_line(&r->l, IO_E_FORMAT, "an entry needs %s",
                        r->pattern ? "row and column" : "row, column and value");
    int status = field_index(&r->l, 0, "row index", m->rows, &e->row);
    if (status == IO_OK) status = field_index(&r->l, 1, "column index", m->cols, &e->col);
    e->value = 1;
    if (status == IO_OK && !r->pattern) status = read_value(r, 2, m, &e->value);
    if (status != IO_OK || m->symmetry == IO_GENERAL) return status;
    if (e->col > e->row)
        return bad_line(&r->l, IO_E_FORMAT,
                        "entry (%" PRId64 ", %" PRId64
                        ") lies above the diagonal of a symmetric matrix",
                        e->row + 1, e->col + 1);
    if (m->symmetry == IO_SKEW && e->col == e->row && e->value != 0)
        return bad_line(&r->l, IO_E_FORMAT, "the diagonal of a skew-symmetric matrix is zero");
    return IO_OK;
}

static int read_entries(reader *r, io_matrix *m) {
    int64_t row = m->symmetry == IO_SKEW ? 1 : 0, col = 0; /* place of the next array value */
    for (int64_t i = 0; i < m->count; i++) {
        io_entry entry, *e = &entry;
        int status = io_step_line(r->l.err, "parse", i, m->count);
        if (status != IO_OK) return status;
        if (!next_entry(&r->l))
            return io_fail(r->l.err, IO_E_SIZE,
                           "%s: %" PRId64 " entries promised, %" PRId64 " found", r->l.name,
                           m->count, i);
        if (!r->array) {
            status = read_coordinate(r, m, e);
        } else if (r->l.fields != 1) {
            status = bad_line(&r->l, IO_E_FORMAT, "one value per line expected");
        } else {
            status = read_value(r, 0, m, &e->value);
            e->row = row;
            e->col = col;
            if (++row == m->rows) {
                col++;
                row = m->symmetry == IO_GENERAL ? 0 : m->symmetry == IO_SKEW ? col + 1 : col;
            }
        }
        if (status != IO_OK) return status;
        if (!r->to)
            m->entries[i] = entry;
        else /* of the lower triangle; duplicates are summed, in the order of the file */
            r->triangle[r->to->upper ? io_triangle_at(r->to, m->rows, e->col, e->row)
                                     : io_triangle_at(r->to, m->rows, e->row, e->col)] += e->value;
    }
    if (next_entry(&r->l))
        return bad_line(&r->l, IO_E_FORMAT, "more than the %" PRId64 " entries promised", m->count);
    return IO_OK;
}

/* ---- order and symmetry ------------------------------------------------------------------------ */

static bool precedes(const io_entry *a, const io_entry *b) {
    return a->row != b->row ? a->row < b->row : a->col < b->col;
}

/* Bottom-up merge sort: stable, so that duplicates are summed in the order of the file. */
static int merge_sort(io_entry *entries, io_entry *spare, int64_t count, io_error *err) {
    io_entry *from = entries, *to = spare;
    for (int64_t width = 1; width < count; width *= 2) {
        const int status = io_step(err, "sort", width, count);
        if (status != IO_OK) return status;
        for (int64_t start = 0; start < count; start += 2 * width) {
            int64_t middle = start + width < count ? start + width : count;
            int64_t end = start + 2 * width < count ? start + 2 * width : count;
            int64_t a = start, b = middle;
            for (int64_t i = start; i < end; i++) {
                bool right = a == middle || (b < end && precedes(&from[b], &from[a]));
                to[i] = right ? from[b++] : from[a++];
            }
        }
        io_entry *other = from;
        from = to;
        to = other;
    }
    if (from != entries) memcpy(entries, from, (size_t)count * sizeof *entries);
    return io_step(err, "sort", count, count);
}

/* Sorted as mtx.h promises; duplicates are summed, in their present order. */
static int sort_entries(io_matrix *m, const char *name, io_error *err) {
    int64_t sorted = 1;
    while (sorted < m->count && !precedes(&m->entries[sorted], &m->entries[sorted - 1])) sorted++;
    if (sorted < m->count) {
        io_entry *spare = malloc((size_t)m->count * sizeof *spare);
        if (!spare)
            return io_fail(err, IO_E_MEMORY, "%s: no memory to sort %" PRId64 " entries", name,
                           m->count);
        const int status = merge_sort(m->entries, spare, m->count, err);
        free(spare);
        if (status != IO_OK) return status;
    }
    int64_t kept = 0;
    for (int64_t i = 0; i < m->count; i++) {
        if (kept > 0 && !precedes(&m->entries[kept - 1], &m->entries[i])) {
            m->entries[kept - 1].value += m->entries[i].value;
            m->duplicates++;
        } else {
            m->entries[kept++] = m->entries[i];
        }
    }
    m->count = kept;
    return IO_OK;
}

/* Value at a place, found by halving; 0 where nothing is stored. */
static double value_at(const io_matrix *m, int64_t row, int64_t col) {
    const io_entry wanted = { row, col, 0 };
    int64_t low = 0, high = m->count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (precedes(&m->entries[middle], &wanted))
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < m->count && !precedes(&wanted, &m->entries[low]);
    return found ? m->entries[low].value : 0;
}

static int triangle_of(const io_matrix *m, const char *name, const io_triangle *t, int64_t limit,
                       io_array *array, io_error *err) {
    memset(array, 0, sizeof *array);
    if (m->rows != m->cols)
        return io_fail(err, IO_E_FORMAT, "%s: not square: %" PRId64 " x %" PRId64, name, m->rows,
                       m->cols);
    for (int64_t k = 0; k < m->count && m->symmetry != IO_SYMMETRIC; k++) {
        const io_entry *e = &m->entries[k];
        double mirrored = m->symmetry == IO_SKEW ? -e->value : value_at(m, e->col, e->row);
        if (e->value != mirrored && !(e->value != e->value && mirrored != mirrored))
            return io_fail(err, IO_E_FORMAT,
                           "%s: not symmetric: entry (%" PRId64 ", %" PRId64 ") is %.17g, (%" PRId64
                           ", %" PRId64 ") is %.17g",
                           name, e->row + 1, e->col + 1, e->value, e->col + 1, e->row + 1,
                           mirrored);
    }
    int status = io_triangle_create(t, IO_F8, m->rows, name, limit, array, err);
    if (status != IO_OK) return status;
    double *a = array->data;
    for (int64_t k = 0; k < m->count; k++) {
        const io_entry *e = &m->entries[k];
        if (e->col <= e->row)
            a[t->upper ? io_triangle_at(t, m->rows, e->col, e->row)
                       : io_triangle_at(t, m->rows, e->row, e->col)] = e->value;
    }
    return IO_OK;
}

static reader reader_of(const char *name, const char *text, size_t size, io_error *err) {
    return (reader){
        .l = { .name = name, .at = text, .end = text + size, .comments = "%", .err = err }
    };
}

int io_mtx_parse(const char *name, const char *text, size_t size, io_matrix *matrix,
                 io_error *err) {
    reader r = reader_of(name, text, size, err);
    memset(matrix, 0, sizeof *matrix);
    int status = read_banner(&r, matrix);
    if (status == IO_OK) status = read_sizes(&r, matrix);
    if (status == IO_OK) {
        matrix->entries = malloc((size_t)(matrix->count ? matrix->count : 1) * sizeof(io_entry));
        if (!matrix->entries)
            status = io_fail(err, IO_E_MEMORY, "%s: no memory for %" PRId64 " entries", name,
                             matrix->count);
    }
    if (status == IO_OK) status = read_entries(&r, matrix);
    if (status == IO_OK) status = sort_entries(matrix, name, err);
    if (status != IO_OK) io_matrix_free(matrix);
    return status;
}

int io_mtx_parse_triangle(const char *name, const char *text, size_t size, const io_triangle *t,
                          int64_t limit, int64_t *n, io_array *array, io_error *err) {
    reader r = reader_of(name, text, size, err);
    io_matrix m = { .symmetry = IO_GENERAL };
    memset(array, 0, sizeof *array);
    int status = read_banner(&r, &m);
    if (status == IO_OK) status = read_sizes(&r, &m);
    if (status != IO_OK) return status;
    *n = m.rows;
    if (m.symmetry != IO_SYMMETRIC) { /* symmetric all the same, or a message */
        status = io_mtx_parse(name, text, size, &m, err);
        if (status == IO_OK) status = triangle_of(&m, name, t, limit, array, err);
        io_matrix_free(&m);
        return status;
    }
    status = io_triangle_create(t, IO_F8, m.rows, name, limit, array, err);
    if (status != IO_OK) return status;
    r.to = t;
    r.triangle = array->data;
    status = read_entries(&r, &m);
    if (status != IO_OK) io_array_free(array);
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

int io_mtx_read_triangle(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                         io_array *array, io_error *err) {
    char *text;
    size_t size;
    memset(array, 0, sizeof *array);
    int status = io_file_read(path, INT64_MAX, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_mtx_parse_triangle(path, text, size, t, limit, n, array, err);
    free(text);
    return status;
}

/* ---- triplets --------------------------------------------------------------------------------- */

static int read_triplet(const lines *l, int64_t n, io_matrix *m) {
    io_entry *e = &m->entries[m->count];
    const int64_t max = n < 0 ? INT64_MAX - 1 : n;
    if (l->fields != 3) return bad_line(l, IO_E_FORMAT, "an entry needs row, column and value");
    int status = field_index(l, 0, "row index", max, &e->row);
    if (status == IO_OK) status = field_index(l, 1, "column index", max, &e->col);
    if (status == IO_OK) status = field_double(l, 2, &e->value);
    if (status != IO_OK) return status;
    if (e->col > e->row)
        return bad_line(l, IO_E_FORMAT, "entry (%" PRId64 ", %" PRId64 ") lies above the diagonal",
                        e->row + 1, e->col + 1);
    if (!isfinite(e->value)) m->nonfinite++;
    if (m->rows <= e->row) m->rows = e->row + 1;
    m->count++;
    return IO_OK;
}

/* Each line takes 6 bytes or more, so that the list of entries (24 bytes each) can be allocated at once. */
int io_triplets_parse(const char *name, const char *text, size_t size, int64_t n, io_matrix *matrix,
                      io_error *err) {
    lines l = { .name = name, .at = text, .end = text + size, .comments = "%#", .err = err };
    *matrix = (io_matrix){ .symmetry = IO_SYMMETRIC };
    matrix->entries = malloc((size / 6 + 1) * sizeof(io_entry));
    if (!matrix->entries) return io_fail(err, IO_E_MEMORY, "%s: no memory for its entries", name);
    int status = IO_OK;
    while (status == IO_OK && next_entry(&l)) {
        status = read_triplet(&l, n, matrix);
        if (status == IO_OK && l.line % 4096 == 0)
            status = io_step(err, "parse", l.at - text, (int64_t)size);
    }
    if (n >= 0) matrix->rows = n;
    matrix->cols = matrix->rows;
    if (status == IO_OK) status = sort_entries(matrix, name, err);
    if (status != IO_OK) io_matrix_free(matrix);
    return status;
}

int io_triplets_read(const char *path, int64_t n, io_matrix *matrix, io_error *err) {
    char *text;
    size_t size;
    memset(matrix, 0, sizeof *matrix);
    int status = io_file_read(path, INT64_MAX, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_triplets_parse(path, text, size, n, matrix, err);
    free(text);
    return status;
}

/* ---- writing: numbers read back exactly ------------------------------------------------------- */

int io_mtx_write(const char *path, const io_matrix *m, io_error *err) {
    io_out *out;
    char text[32];
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    fprintf(file, "%%%%MatrixMarket matrix coordinate real %s\n", symmetries[m->symmetry]);
    fprintf(file, "%" PRId64 " %" PRId64 " %" PRId64 "\n", m->rows, m->cols, m->count);
    for (int64_t k = 0; k < m->count && status == IO_OK; k++) {
        const io_entry *e = &m->entries[k];
        io_real_text(e->value, text);
        fprintf(file, "%" PRId64 " %" PRId64 " %s\n", e->row + 1, e->col + 1, text);
        status = io_step_line(err, "write", k + 1, m->count);
    }
    return io_out_end(out, status, err);
}

/* Column j from the diagonal down is row j from the diagonal on. */
int io_mtx_write_symmetric(const char *path, const io_array *array, io_error *err) {
    const int64_t n = array->shape[0];
    io_out *out;
    char text[32];
    int status = io_out_open(path, &out, err);
    if (status != IO_OK) return status;
    FILE *file = io_out_file(out);
    fprintf(file, "%%%%MatrixMarket matrix array real symmetric\n%" PRId64 " %" PRId64 "\n", n, n);
    for (int64_t j = 0; j < n && status == IO_OK; j++) {
        for (int64_t i = j; i < n; i++) {
            const double x = io_array_get(array, j * n + i);
            array->type == IO_F4 ? io_float_text((float)x, text) : io_real_text(x, text);
            fprintf(file, "%s\n", text);
        }
        status = io_step(err, "write", j + 1, n);
    }
    return io_out_end(out, status, err);
}
