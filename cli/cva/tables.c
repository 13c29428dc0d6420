/* SPDX-License-Identifier: Apache-2.0
 *
 * tables.c - tables of `shoal cva` with text in their fields: columns that have other names, or are not known, and
 * messages that name file, line and column.
 */
#include "tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/json.h"

enum { MAX_BYTES = 1 << 26 }; /* of a file */
enum { MAX_PROBLEMS = 20 };   /* of a file, that are reported */

/* The worse of two codes: what is no fault of the file ends the reading. */
int cva_worse(int a, int b) { return b == CLI_OK || (a != CLI_OK && a != CLI_INPUT) ? a : b; }

int cva_wrong(const cva_field *f, const char *reason) {
    char quoted[IO_QUOTE_SIZE];
    return cli_fail(CLI_INPUT, "%s:%lld: column %s: '%s' %s", f->path, (long long)f->line,
                    f->column, io_quote(f->text, strlen(f->text), quoted), reason);
}

cva_field cva_field_of(const char *path, const io_cells *t, int64_t row, const char *column) {
    const int at = io_table_column(&t->head, column);
    return (cva_field){ path, column, at < 0 ? NULL : t->text[row * t->head.cols + at],
                        t->line[row] };
}

int cva_number(cva_field f, double missing, double *value) {
    if (!f.text || (!*f.text && !isnan(missing))) {
        *value = missing;
        return f.text || !isnan(missing)
                   ? CLI_OK
                   : cli_fail(CLI_INPUT, "%s has no column %s", f.path, f.column);
    }
    if (!io_text_double(f.text, strlen(f.text), value) || !isfinite(*value))
        return cva_wrong(&f, "is not a finite number");
    return CLI_OK;
}

int cva_need_columns(const char *path, const io_cells *t, const char *const *names) {
    char all[128] = "";
    for (size_t i = 0, used = 0; names[1] && names[i]; i++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s",
                                 i ? ", " : "; the file must have ", names[i]);
    for (; *names; names++)
        if (io_table_column(&t->head, *names) < 0)
            return cli_fail(CLI_INPUT, "%s has no column %s%s", path, *names, all);
    return CLI_OK;
}

/* Whether problem number `count` is the last one of a file that is reported. */
bool cva_is_last(const char *path, int count) {
    if (count < MAX_PROBLEMS) return false;
    cli_fail(CLI_INPUT, "%s: more lines may have problems", path);
    return true;
}

/* ---- columns ---------------------------------------------------------------------------------- */

/* Names that a table may have: columns up to the one without a name, then assets. */
typedef struct known_columns {
    const io_table *of;
    const cva_column *columns;
    char *const *more;
    int64_t count;
    bool missing; /* those alone that the table does not have */
} known_columns;

static const char *column_name(const void *of, int i) {
    const known_columns *all = of;
    for (const cva_column *c = all->columns; c->name; c++)
        if ((!all->missing || io_table_column(all->of, c->name) < 0) && i-- == 0) return c->name;
    for (int64_t k = 0; k < all->count; k++)
        if ((!all->missing || io_table_column(all->of, all->more[k]) < 0) && i-- == 0)
            return all->more[k];
    return NULL;
}

/* Gives columns with another name the usual one. */
static int rename_columns(const char *path, io_cells *t, const cva_column *columns) {
    int code = CLI_OK;
    for (const cva_column *c = columns; c->name; c++)
        for (int e = 0; e < CVA_ALIASES && c->alias[e]; e++) {
            const int at = io_table_column(&t->head, c->alias[e]);
            if (at < 0) continue;
            if (io_table_column(&t->head, c->name) >= 0) {
                code = cli_fail(CLI_INPUT, "%s:1: columns %s and %s are the same; keep one of them",
                                path, c->name, c->alias[e]);
                continue;
            }
            char *name = strdup(c->name);
            if (!name) return cli_no_memory();
            free(t->head.names[at]);
            t->head.names[at] = name;
        }
    return code;
}

/* A column that nobody reads is ignored, with a note. If it looks like one that is missing, and has its first letter, it
 * is a mistake. */
int cva_check_columns(const cli *c, const char *path, const io_cells *t, const cva_column *columns,
                      char *const *more, int64_t count) {
    char ignored[256] = "";
    size_t used = 0;
    int code = CLI_OK;
    for (int col = 0; col < t->head.cols; col++) {
        const char *name = t->head.names[col], *other;
        const known_columns all = { &t->head, columns, more, count, false };
        const known_columns missing = { &t->head, columns, more, count, true };
        bool known = false;
        for (int i = 0; !known && (other = column_name(&all, i)); i++)
            known = strcmp(other, name) == 0;
        if (known) continue;
        const int meant = io_nearest(name, column_name, &missing);
        if (meant >= 0 && column_name(&missing, meant)[0] == *name)
            code = cli_unknown_in(path, 1, "column", name, "the columns are", column_name, &all);
        else if (used < sizeof ignored)
            used += (size_t)snprintf(ignored + used, sizeof ignored - used, "%s%s",
                                     used ? ", " : "", name);
    }
    if (used > 0) cli_note(c, "%s:1: ignored columns: %s", path, ignored);
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static int json_wrong(const char *path, const char *text, const io_json_value *value,
                      const char *reason) {
    long long line = 1;
    for (size_t i = 0; i < value->offset; i++) line += text[i] == '\n';
    return cli_fail(CLI_INPUT, "%s:%lld: %s%s%s", path, line, value->key ? value->key : "",
                    value->key ? ": " : "", reason);
}

/* A number or a text at the end of a field: words have blanks between them. */
static bool add_word(FILE *file, const io_json_value *value) {
    char text[32];
    if (value->kind == IO_JSON_STRING)
        fputs(value->string, file);
    else if (value->kind == IO_JSON_INT)
        fprintf(file, "%lld", (long long)value->integer);
    else if (value->kind == IO_JSON_DOUBLE)
        fwrite(text, 1, (size_t)io_real_text(value->number, text), file);
    else
        return false;
    return true;
}

static int json_field(const char *path, const char *text, const io_json_value *value, char **cell) {
    size_t size;
    FILE *file = open_memstream(cell, &size);
    if (!file) return cli_no_memory();
    bool good = true;
    if (value && value->kind == IO_JSON_ARRAY)
        for (const io_json_value *at = value->first; at && good; at = at->next) {
            good = add_word(file, at);
            if (at->next) fputc(' ', file);
        }
    else if (value && value->kind != IO_JSON_NULL)
        good = add_word(file, value);
    if (fclose(file) != 0) return cli_no_memory();
    return good ? CLI_OK
                : json_wrong(path, text, value, "is neither a number, a text nor a list of these");
}

/* The names of all members, in the order in which they appear. */
static int json_columns(const char *path, const char *text, const io_json_value *rows,
                        io_cells *t) {
    for (const io_json_value *row = rows->first; row; row = row->next) {
        t->head.rows++;
        if (row->kind != IO_JSON_OBJECT)
            return json_wrong(path, text, row, "is not an object {\"payoff\": \"call\", ..}");
        for (const io_json_value *m = row->first; m; m = m->next) {
            if (io_table_column(&t->head, m->key) >= 0) continue;
            if (t->head.cols == IO_CSV_MAX_COLS) return json_wrong(path, text, m, "too many names");
            char **names = realloc(t->head.names, (size_t)(t->head.cols + 1) * sizeof *names);
            if (!names) return cli_no_memory();
            t->head.names = names, names[t->head.cols] = strdup(m->key);
            if (!names[t->head.cols++]) return cli_no_memory();
        }
    }
    return CLI_OK;
}

/* A table as JSON: an array of objects, one per line of the table. */
static int read_json(const char *path, const char *text, size_t size, io_cells *t) {
    io_json_value *rows;
    io_error err;
    int code = cli_io(io_json_parse(path, text, size, &rows, &err), &err);
    if (code == CLI_OK) code = json_columns(path, text, rows, t);
    const size_t cells = (size_t)t->head.rows * (size_t)t->head.cols;
    if (code == CLI_OK) {
        t->text = calloc(cells + 1, sizeof *t->text);
        t->line = calloc((size_t)t->head.rows + 1, sizeof *t->line);
        if (!t->text || !t->line) code = cli_no_memory();
    }
    int64_t line = 1;
    size_t at = 0, cell = 0;
    for (const io_json_value *row = code == CLI_OK ? rows->first : NULL; row; row = row->next) {
        for (; at < row->offset; at++) line += text[at] == '\n';
        t->line[cell / (size_t)(t->head.cols ? t->head.cols : 1)] = line;
        for (int col = 0; col < t->head.cols && (code == CLI_OK || code == CLI_INPUT); col++)
            code = cva_worse(code, json_field(path, text, io_json_get(row, t->head.names[col]),
                                              &t->text[cell++]));
    }
    io_json_free(rows);
    return code;
}

/* The table in a file, or in the text that stands for it, which is kept. */
int cva_read_table(const char *path, const char *text, const cva_column *columns, char **kept,
                   io_cells *t) {
    io_error err;
    size_t size;
    memset(t, 0, sizeof *t);
    int code = CLI_OK;
    if (text)
        *kept = strdup(text), size = strlen(text);
    else
        code = cli_io(io_file_read(path, MAX_BYTES, kept, &size, &err), &err);
    if (code == CLI_OK && !*kept) code = cli_no_memory();
    if (code == CLI_OK && (*kept)[strspn(*kept, " \t\r\n")] == '[')
        code = read_json(path, *kept, size, t);
    else if (code == CLI_OK)
        code = cli_io(io_csv_parse_cells(path, *kept, size, t, &err), &err);
    return code == CLI_OK ? rename_columns(path, t, columns) : code;
}
