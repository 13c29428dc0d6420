/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - the JSON writer. printf obeys the locale, which is never set (see status.h).
 */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "text.h"

void io_json_begin(io_json *json, FILE *file, int indent) {
    memset(json, 0, sizeof *json);
    json->file = file;
    json->indent = indent > 0 ? indent : 0;
}

static void put_string(FILE *file, const char *text) {
    size_t left = strlen(text);
    putc('"', file);
    while (left > 0) {
        int length = io_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (length == 0)
            fputs("\\ufffd", file);
        else if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c == '\n')
            fputs("\\n", file);
        else if (c == '\t')
            fputs("\\t", file);
        else if (c == '\r')
            fputs("\\r", file);
        else if (c < 0x20 || c == 0x7f)
            fprintf(file, "\\u%04x", c);
        else
            fwrite(text, 1, (size_t)length, file);
        if (length == 0) length = 1;
        text += length;
        left -= (size_t)length;
    }
    putc('"', file);
}

static void new_line(io_json *json) {
    if (json->indent > 0) fprintf(json->file, "\n%*s", json->indent * json->depth, "");
}

/* What stands before every value: comma, line break, key. False after a mistake. */
static bool start_value(io_json *json, const char *key) {
    if (json->mistake) return false;
    if (json->depth == 0) {
        if (json->done)
            json->mistake = "a second value at the top";
        else if (key)
            json->mistake = "a key at the top";
        json->done = true;
        return !json->mistake;
    }
    bool array = json->level[json->depth - 1].array, line = json->level[json->depth - 1].line;
    bool filled = json->level[json->depth - 1].filled;
    if (array && key) json->mistake = "a key inside an array";
    if (!array && !key) json->mistake = "a value without a key inside an object";
    if (json->mistake) return false;
    if (filled) putc(',', json->file);
    if (!line)
        new_line(json);
    else if (filled && json->indent > 0)
        putc(' ', json->file);
    json->level[json->depth - 1].filled = true;
    if (key) {
        put_string(json->file, key);
        fputs(json->indent > 0 ? ": " : ":", json->file);
    }
    return true;
}

static void open_level(io_json *json, const char *key, bool array, bool line) {
    if (!start_value(json, key)) return;
    if (json->depth == IO_JSON_DEPTH) {
        json->mistake = "nesting too deep";
        return;
    }
    if (json->depth > 0 && json->level[json->depth - 1].line) line = true;
    json->level[json->depth].array = array;
    json->level[json->depth].line = line;
    json->level[json->depth].filled = false;
    json->depth++;
    putc(array ? '[' : '{', json->file);
}

void io_json_object(io_json *json, const char *key) { open_level(json, key, false, false); }

void io_json_array(io_json *json, const char *key) { open_level(json, key, true, false); }

void io_json_object_line(io_json *json, const char *key) { open_level(json, key, false, true); }

void io_json_array_line(io_json *json, const char *key) { open_level(json, key, true, true); }

void io_json_close(io_json *json) {
    if (json->mistake) return;
    if (json->depth == 0) {
        json->mistake = "a close without an open";
        return;
    }
    json->depth--;
    if (json->level[json->depth].filled && !json->level[json->depth].line) new_line(json);
    putc(json->level[json->depth].array ? ']' : '}', json->file);
}

void io_json_string(io_json *json, const char *key, const char *text) {
    if (!start_value(json, key)) return;
    if (text)
        put_string(json->file, text);
    else
        fputs("null", json->file);
}

void io_json_int(io_json *json, const char *key, int64_t value) {
    if (start_value(json, key)) fprintf(json->file, "%" PRId64, value);
}

void io_json_uint(io_json *json, const char *key, uint64_t value) {
    if (start_value(json, key)) fprintf(json->file, "%" PRIu64, value);
}

void io_json_double(io_json *json, const char *key, double value) {
    if (!start_value(json, key)) return;
    if (isfinite(value))
        fprintf(json->file, "%.17g", value);
    else
        fputs("null", json->file);
}

void io_json_float(io_json *json, const char *key, float value) {
    if (!start_value(json, key)) return;
    if (isfinite(value))
        fprintf(json->file, "%.9g", (double)value);
    else
        fputs("null", json->file);
}

void io_json_bool(io_json *json, const char *key, bool value) {
    if (start_value(json, key)) fputs(value ? "true" : "false", json->file);
}

void io_json_null(io_json *json, const char *key) {
    if (start_value(json, key)) fputs("null", json->file);
}

void io_json_doubles(io_json *json, const char *key, const double *values, int64_t count) {
    io_json_array_line(json, key);
    for (int64_t i = 0; i < count; i++) io_json_double(json, NULL, values[i]);
    io_json_close(json);
}

void io_json_ints(io_json *json, const char *key, const int64_t *values, int64_t count) {
    io_json_array_line(json, key);
    for (int64_t i = 0; i < count; i++) io_json_int(json, NULL, values[i]);
    io_json_close(json);
}

int io_json_end(io_json *json, io_error *err) {
    if (!json->mistake && json->depth > 0) json->mistake = "an object or array is still open";
    if (!json->mistake && !json->done) json->mistake = "nothing was written";
    if (json->mistake) return io_fail(err, IO_E_FORMAT, "JSON output: %s", json->mistake);
    putc('\n', json->file);
    errno = 0;
    if (fflush(json->file) != 0 || ferror(json->file))
        return io_fail(err, IO_E_WRITE, "JSON output: cannot write: %s",
                       strerror(errno ? errno : EIO));
    return IO_OK;
}
