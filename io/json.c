/* SPDX-License-Identifier: Apache-2.0
 *
 * json.c - the JSON writer; and the reader: recursive descent, at most IO_JSON_DEPTH deep, one
 * allocation per value and per string. printf obeys the locale, which is never set (see status.h).
 */
#include "json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

#define FILE_LIMIT (64 << 20)

void io_json_begin(io_json *json, FILE *file, int indent) {
    memset(json, 0, sizeof *json);
    json->file = file;
    json->indent = indent > 0 ? indent : 0;
}

static void put_string(FILE *file, const char *text) {
    static const char special[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
    size_t left = strlen(text);
    putc('"', file);
    while (left > 0) {
        int length = io_utf8_length(text, left);
        unsigned char c = (unsigned char)*text;
        if (length == 0)
            fputs("\\ufffd", file);
        else if (strchr(special, c))
            fprintf(file, "\\%c", letters[strchr(special, c) - special]);
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
    if (!text)
        io_json_null(json, key);
    else if (start_value(json, key))
        put_string(json->file, text);
}

void io_json_int(io_json *json, const char *key, int64_t value) {
    if (start_value(json, key)) fprintf(json->file, "%" PRId64, value);
}

void io_json_uint(io_json *json, const char *key, uint64_t value) {
    if (start_value(json, key)) fprintf(json->file, "%" PRIu64, value);
}

static void put_number(io_json *json, const char *key, bool finite, const char *text) {
    if (!finite)
        io_json_null(json, key);
    else if (start_value(json, key))
        fputs(text, json->file);
}

void io_json_double(io_json *json, const char *key, double value) {
    char text[32];
    io_real_text(value, text);
    put_number(json, key, isfinite(value), text);
}

void io_json_float(io_json *json, const char *key, float value) {
    char text[32];
    io_float_text(value, text);
    put_number(json, key, isfinite(value), text);
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

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct parser {
    const char *name, *start, *at, *end;
    io_error *err;
    int depth;
} parser;

static int parse_value(parser *p, io_json_value *value);

/* Fails at `where`, given as line and column, both from 1. */
static int fail_at(const parser *p, const char *where, const char *reason) {
    int line = 1, column = 1;
    for (const char *c = p->start; c < where; c++) {
        column++;
        if (*c == '\n') {
            line++;
            column = 1;
        }
    }
    return io_fail(p->err, IO_E_FORMAT, "%s:%d:%d: %s", p->name, line, column, reason);
}

static int out_of_memory(const parser *p) {
    return io_fail(p->err, IO_E_MEMORY, "%s: out of memory", p->name);
}

static void skip_space(parser *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

static bool take(parser *p, char wanted) {
    skip_space(p);
    if (p->at == p->end || *p->at != wanted) return false;
    p->at++;
    return true;
}

/* Four hexadecimal digits at p->at, or -1. */
static int32_t hex4(parser *p) {
    int32_t code = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        char c = p->at < p->end ? *p->at : '\0';
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

static char *put_utf8(char *to, int32_t code) {
    static const int32_t first[] = { 0, 0xC0, 0xE0, 0xF0 };
    int more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    *to++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0) *to++ = (char)(0x80 | (code >> 6 * more & 63));
    return to;
}

/* The escape whose backslash is just behind p->at. */
static int parse_escape(parser *p, char **to) {
    static const char names[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    const char *start = p->at - 1;
    char c = p->at < p->end ? *p->at++ : '\0';
    const char *known = c ? strchr(names, c) : NULL;
    if (known) {
        *(*to)++ = means[known - names];
        return IO_OK;
    }
    if (c != 'u') return fail_at(p, start, "unknown escape in a string");
    int32_t code = hex4(p);
    if (code >= 0xD800 && code < 0xDC00) { /* the first half of a pair */
        int32_t low = -1;
        if (p->end - p->at >= 2 && p->at[0] == '\\' && p->at[1] == 'u') {
            p->at += 2;
            low = hex4(p);
        }
        code =
            low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : -1;
    }
    if (code <= 0 || (code >= 0xDC00 && code < 0xE000))
        return fail_at(p, start, "bad \\u escape in a string");
    *to = put_utf8(*to, code);
    return IO_OK;
}

static int parse_string(parser *p, char **result) {
    if (!take(p, '"')) return fail_at(p, p->at, "expected a string");
    const char *first = p->at, *stop = first; /* an escape is never shorter than what it means */
    while (stop < p->end && *stop != '"') stop += *stop == '\\' && stop + 1 < p->end ? 2 : 1;
    char *text = malloc((size_t)(stop - first) + 1), *to = text;
    if (!text) return out_of_memory(p);
    int status = IO_OK;
    while (status == IO_OK && p->at < p->end && *p->at != '"') {
        int length = io_utf8_length(p->at, (size_t)(p->end - p->at));
        if (*p->at == '\\') {
            p->at++;
            status = parse_escape(p, &to);
        } else if ((unsigned char)*p->at < 0x20) {
            status = fail_at(p, p->at, "control character in a string");
        } else if (length == 0) {
            status = fail_at(p, p->at, "a string is not UTF-8");
        } else {
            memcpy(to, p->at, (size_t)length);
            to += length;
            p->at += length;
        }
    }
    if (status == IO_OK && !take(p, '"')) status = fail_at(p, first - 1, "a string has no end");
    if (status != IO_OK) {
        free(text);
        return status;
    }
    *to = '\0';
    *result = text;
    return IO_OK;
}

static const char *skip_digits(const char *at, const char *end) {
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

static int parse_number(parser *p, io_json_value *value) {
    const char *first = p->at, *at = first;
    bool negative = *at == '-', fraction = false;
    if (negative) at++;
    const char *digits = at;
    at = skip_digits(at, p->end);
    bool good = at > digits && (*digits != '0' || at == digits + 1);
    if (good && at < p->end && *at == '.') {
        const char *after = skip_digits(at + 1, p->end);
        good = after > at + 1;
        fraction = true;
        at = after;
    }
    if (good && at < p->end && (*at == 'e' || *at == 'E')) {
        const char *sign = at + 1;
        if (sign < p->end && (*sign == '+' || *sign == '-')) sign++;
        at = skip_digits(sign, p->end);
        good = at > sign;
        fraction = true;
    }
    size_t length = (size_t)(at - first);
    if (!good || !io_text_double(first, length, &value->number) || !isfinite(value->number))
        return fail_at(p, first, "bad number");
    p->at = at;
    value->kind = IO_JSON_DOUBLE;
    if (fraction || (negative && value->number == 0)) return IO_OK; /* -0 keeps its sign */
    if (io_text_int(first, length, &value->integer)) {
        value->kind = IO_JSON_INT;
        if (!negative) value->natural = (uint64_t)value->integer;
    } else if (!negative && length <= 20) {
        uint64_t number = 0;
        for (const char *c = first; c < at; c++) {
            unsigned digit = (unsigned)(*c - '0');
            if (number > (UINT64_MAX - digit) / 10) return IO_OK;
            number = number * 10 + digit;
        }
        value->kind = IO_JSON_UINT;
        value->natural = number;
    }
    return IO_OK;
}

static int by_key(const void *a, const void *b) {
    return strcmp((*(io_json_value *const *)a)->key, (*(io_json_value *const *)b)->key);
}

/* Fails if two members of an object have the same name. */
static int check_names(const parser *p, const io_json_value *object, const char *where) {
    if (object->count < 2) return IO_OK;
    const io_json_value **sorted = malloc((size_t)object->count * sizeof *sorted);
    if (!sorted) return out_of_memory(p);
    int64_t n = 0;
    for (const io_json_value *m = object->first; m; m = m->next) sorted[n++] = m;
    qsort(sorted, (size_t)n, sizeof *sorted, by_key);
    int status = IO_OK;
    for (int64_t i = 1; i < n && status == IO_OK; i++)
        if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
            status = fail_at(p, where, "an object has two members of the same name");
    free(sorted);
    return status;
}

static int parse_members(parser *p, io_json_value *parent, const char *where) {
    bool object = parent->kind == IO_JSON_OBJECT;
    char close = object ? '}' : ']';
    io_json_value **link = &parent->first;
    if (take(p, close)) return IO_OK;
    do {
        io_json_value *member = calloc(1, sizeof *member);
        if (!member) return out_of_memory(p);
        *link = member; /* in the tree at once: the root's owner frees it, also on error */
        link = &member->next;
        parent->count++;
        int status = object ? parse_string(p, &member->key) : IO_OK;
        if (status == IO_OK && object && !take(p, ':')) status = fail_at(p, p->at, "expected ':'");
        if (status == IO_OK) status = parse_value(p, member);
        if (status != IO_OK) return status;
    } while (take(p, ','));
    if (!take(p, close))
        return fail_at(p, p->at, object ? "expected ',' or '}'" : "expected ',' or ']'");
    return object ? check_names(p, parent, where) : IO_OK;
}

static int parse_word(parser *p, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return fail_at(p, p->at, "expected a value");
    p->at += length;
    return IO_OK;
}

static int parse_value(parser *p, io_json_value *value) {
    skip_space(p);
    char c = p->at < p->end ? *p->at : '\0';
    const char *where = p->at;
    value->offset = (size_t)(where - p->start);
    if (c == '{' || c == '[') {
        if (p->depth == IO_JSON_DEPTH) return fail_at(p, where, "nesting too deep");
        value->kind = c == '{' ? IO_JSON_OBJECT : IO_JSON_ARRAY;
        p->at++;
        p->depth++;
        int status = parse_members(p, value, where);
        p->depth--;
        return status;
    }
    if (c == '"') {
        value->kind = IO_JSON_STRING;
        return parse_string(p, &value->string);
    }
    if (c == '-' || (c >= '0' && c <= '9')) return parse_number(p, value);
    if (c == 't' || c == 'f') {
        value->kind = IO_JSON_BOOL;
        value->boolean = c == 't';
        return parse_word(p, c == 't' ? "true" : "false");
    }
    return parse_word(p, "null"); /* kind is IO_JSON_NULL from calloc */
}

int io_json_parse(const char *name, const char *text, size_t size, io_json_value **root,
                  io_error *err) {
    parser p = { name, text, text, text + size, err, 0 };
    const char *other = io_not_text(text, size);
    *root = NULL;
    if (other) return io_fail(err, IO_E_FORMAT, "%s: %s; expected JSON", name, other);
    skip_space(&p);
    if (p.at == p.end) return io_fail(err, IO_E_FORMAT, "%s: file is empty", name);
    *root = calloc(1, sizeof **root);
    if (!*root) return out_of_memory(&p);
    int status = parse_value(&p, *root);
    skip_space(&p);
    if (status == IO_OK && p.at != p.end) status = fail_at(&p, p.at, "text after the value");
    if (status != IO_OK) {
        io_json_free(*root);
        *root = NULL;
    }
    return status;
}

int io_json_read(const char *path, io_json_value **root, io_error *err) {
    char *text;
    size_t size;
    *root = NULL;
    int status = io_file_read(path, FILE_LIMIT, &text, &size, err);
    if (status != IO_OK) return status;
    status = io_json_parse(path, text, size, root, err);
    free(text);
    return status;
}

void io_json_free(io_json_value *value) {
    while (value) { /* as deep as the nesting, not as long as the lists */
        io_json_value *next = value->next;
        io_json_free(value->first);
        free(value->key);
        free(value->string);
        free(value);
        value = next;
    }
}

void io_json_copy(io_json *to, const char *key, const io_json_value *value) {
    switch (value->kind) {
    case IO_JSON_NULL: io_json_null(to, key); return;
    case IO_JSON_BOOL: io_json_bool(to, key, value->boolean); return;
    case IO_JSON_INT: io_json_int(to, key, value->integer); return;
    case IO_JSON_UINT: io_json_uint(to, key, value->natural); return;
    case IO_JSON_DOUBLE: io_json_double(to, key, value->number); return;
    case IO_JSON_STRING: io_json_string(to, key, value->string); return;
    case IO_JSON_ARRAY: io_json_array_line(to, key); break;
    case IO_JSON_OBJECT: io_json_object_line(to, key); break;
    }
    for (const io_json_value *member = value->first; member; member = member->next)
        io_json_copy(to, member->key, member);
    io_json_close(to);
}

const io_json_value *io_json_get(const io_json_value *value, const char *key) {
    if (!value || value->kind != IO_JSON_OBJECT) return NULL;
    const io_json_value *member = value->first;
    while (member && strcmp(member->key, key) != 0) member = member->next;
    return member;
}

const io_json_value *io_json_at(const io_json_value *value, int64_t index) {
    if (!value || value->kind != IO_JSON_ARRAY || index < 0) return NULL;
    const io_json_value *member = value->first;
    while (member && index-- > 0) member = member->next;
    return member;
}
