/* SPDX-License-Identifier: Apache-2.0
 *
 * lines.c - lines and fields of the text formats for matrices.
 */
#include "lines.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"

bool io_lines_next(io_lines *l) {
    if (l->at == l->end) return false;
    const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
    if (!stop) stop = l->end;
    l->line++;
    l->fields = 0;
    for (const char *p = l->at; p < stop && l->fields <= IO_LINE_FIELDS;) {
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

bool io_lines_entry(io_lines *l) {
    while (io_lines_next(l)) {
        const char first = l->fields > 0 ? l->field[0][0] : '\0';
        if (l->fields > 0 && (first == '\0' || !strchr(l->comments, first))) return true;
    }
    return false;
}

int io_lines_int(const io_lines *l, int i, const char *what, int64_t *value, io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_int(l->field[i], l->length[i], value)) return IO_OK;
    return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": %s '%s' is not an integer", l->name, l->line,
                   what, io_quote(l->field[i], l->length[i], quoted));
}

int io_lines_double(const io_lines *l, int i, double *value, io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    if (io_text_double(l->field[i], l->length[i], value)) return IO_OK;
    return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": value '%s' is not a number", l->name, l->line,
                   io_quote(l->field[i], l->length[i], quoted));
}

int io_lines_index(const io_lines *l, int i, const char *what, int64_t limit, int64_t *index,
                   io_error *err) {
    int status = io_lines_int(l, i, what, index, err);
    if (status != IO_OK) return status;
    if (*index < 1 || *index > limit)
        return io_fail(err, IO_E_FORMAT, "%s:%" PRId64 ": %s %" PRId64 " out of range 1..%" PRId64,
                       l->name, l->line, what, *index, limit);
    *index -= 1;
    return IO_OK;
}
