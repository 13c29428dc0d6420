/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_ranges.c - the ranges of the parameters of a data set from a .csv file, a parameter a line.
 */
#include <math.h>
#include <string.h>

#include "dataset.h"
#include "io/csv.h"
#include "io/file.h"

typedef struct table {
    const char *path;
    io_cells cells;
    int parameter, low, high, scale; /* columns; scale -1: there is none */
} table;

static const char *field(const table *t, int64_t row, int column) {
    return t->cells.text[row * t->cells.head.cols + column];
}

static int bad(const table *t, int64_t row, int column, const char *reason) {
    return cli_fail(CLI_INPUT, "%s:%lld: column %s: %s", t->path, (long long)t->cells.line[row],
                    t->cells.head.names[column], reason);
}

static int number(const table *t, int64_t row, int column, const shoal_range *bounds,
                  double *value) {
    char reason[128];
    const char *text = field(t, row, column);
    if (!io_text_double(text, strlen(text), value) || !isfinite(*value)) {
        char quoted[IO_QUOTE_SIZE];
        snprintf(reason, sizeof reason, "'%s' is not a finite number",
                 io_quote(text, strlen(text), quoted));
        return bad(t, row, column, reason);
    }
    if (!(*value >= bounds->low && *value <= bounds->high)) {
        snprintf(reason, sizeof reason, "%g is not from %g to %g, the limits of %s", *value,
                 bounds->low, bounds->high, field(t, row, t->parameter));
        return bad(t, row, column, reason);
    }
    return CLI_OK;
}

static const char *parameter_name(const void *of, int i) {
    return i < SHOAL_DATASET_COLUMNS
               ? shoal_dataset_column(((const shoal_dataset_opts *)of)->nu2, i)
               : NULL;
}

static const char *column_name(const void *of, int i) {
    static const char *const names[] = { "parameter", "low", "high", "scale" };
    (void)of;
    return i < 4 ? names[i] : NULL;
}

static int read_row(const table *t, int64_t row, shoal_dataset_opts *o, bool *given) {
    const char *name = field(t, row, t->parameter);
    int i = 0;
    while (shoal_dataset_column(o->nu2, i) && strcmp(shoal_dataset_column(o->nu2, i), name) != 0)
        i++;
    if (i == SHOAL_DATASET_COLUMNS)
        return cli_unknown_in(t->path, t->cells.line[row], "parameter", name, "there are",
                              parameter_name, o);
    if (given[i]) return bad(t, row, t->parameter, "this parameter has a line already");
    given[i] = true;
    const shoal_range bounds = shoal_dataset_bounds(o->nu2, i);
    shoal_range *range = &o->range[i];
    int code = number(t, row, t->low, &bounds, &range->low);
    if (code == CLI_OK) code = number(t, row, t->high, &bounds, &range->high);
    if (code != CLI_OK) return code;
    if (range->low > range->high) return bad(t, row, t->high, "high is below low");
    const char *scale = t->scale >= 0 ? field(t, row, t->scale) : "";
    if (*scale && strcmp(scale, "linear") != 0 && strcmp(scale, "log") != 0)
        return bad(t, row, t->scale, "expected linear or log");
    range->log = strcmp(scale, "log") == 0;
    if (range->log && !(range->low > 0))
        return bad(t, row, t->low, "a logarithmic range must begin above 0");
    return CLI_OK;
}

int dataset_read_ranges(const char *path, const char *text, char **kept, shoal_dataset_opts *o) {
    enum { MAX_BYTES = 1 << 20 };
    table t = { .path = path };
    io_error err;
    size_t size = text ? strlen(text) : 0;
    bool given[SHOAL_DATASET_COLUMNS] = { false };
    *kept = text ? strdup(text) : NULL;
    int code = text ? CLI_OK : cli_io(io_file_read(path, MAX_BYTES, kept, &size, &err), &err);
    if (code == CLI_OK && !*kept) code = cli_no_memory();
    if (code == CLI_OK) code = cli_io(io_csv_parse_cells(path, *kept, size, &t.cells, &err), &err);
    if (code != CLI_OK) return code;
    t.parameter = io_table_column(&t.cells.head, "parameter");
    t.low = io_table_column(&t.cells.head, "low");
    t.high = io_table_column(&t.cells.head, "high");
    t.scale = io_table_column(&t.cells.head, "scale");
    const char *missing = t.parameter < 0 ? "parameter" : t.low < 0 ? "low" : "high";
    if (t.parameter < 0 || t.low < 0 || t.high < 0)
        code = cli_fail(CLI_INPUT, "%s:1: column %s is missing", path, missing);
    for (int col = 0; col < t.cells.head.cols && code == CLI_OK; col++)
        if (col != t.parameter && col != t.low && col != t.high && col != t.scale)
            code = cli_unknown_in(path, 1, "column", t.cells.head.names[col], "there are",
                                  column_name, NULL);
    for (int64_t row = 0; row < t.cells.head.rows && code == CLI_OK; row++)
        code = read_row(&t, row, o, given);
    io_cells_free(&t.cells);
    return code;
}
