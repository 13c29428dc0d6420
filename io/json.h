/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h - a streaming JSON writer, and a small reader: text to a tree.
 *
 *     io_json j;
 *     io_json_begin(&j, stdout, 2);
 *     io_json_object(&j, NULL);
 *     io_json_string(&j, "method", "pcr");
 *     io_json_int(&j, "n", 255);
 *     io_json_close(&j);
 *     if (io_json_end(&j, &err) != IO_OK) ...
 *
 * Doubles and floats are written with the fewest digits that read back exactly (0.3); NaN and Inf
 * are null; 64-bit integers are written in full. Strings are escaped, and bytes that are not UTF-8
 * become U+FFFD. `key` is the member's name inside an object and must be NULL inside an array and
 * at the top. Mistakes (a missing key, too many closes, nesting deeper than IO_JSON_DEPTH) stop
 * the output and are reported by io_json_end, as are write errors; no call in between needs a
 * check.
 */
#ifndef SHOAL_IO_JSON_H
#define SHOAL_IO_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "status.h"

#define IO_JSON_DEPTH 64

typedef struct io_json { /* private: set up by io_json_begin */
    FILE *file;
    const char *mistake; /* first misuse, or NULL           */
    int indent;          /* spaces per level, 0: one line   */
    int depth;           /* open objects and arrays         */
    bool done;           /* the top value is complete       */
    struct {
        bool array;  /* else an object                      */
        bool line;   /* members stay on one line            */
        bool filled; /* has a member, so a comma comes next */
    } level[IO_JSON_DEPTH];
} io_json;

void io_json_begin(io_json *json, FILE *file, int indent);

/* Open an object or an array, or an array or object whose members stay on one line (`_line`: rows
 * of numbers, table rows). Each needs one io_json_close. */
void io_json_object(io_json *json, const char *key);
void io_json_array(io_json *json, const char *key);
void io_json_object_line(io_json *json, const char *key);
void io_json_array_line(io_json *json, const char *key);
void io_json_close(io_json *json);

void io_json_string(io_json *json, const char *key, const char *text); /* NULL text: null */
void io_json_int(io_json *json, const char *key, int64_t value);
void io_json_uint(io_json *json, const char *key, uint64_t value);
void io_json_double(io_json *json, const char *key, double value);
void io_json_float(io_json *json, const char *key, float value);
void io_json_bool(io_json *json, const char *key, bool value);
void io_json_null(io_json *json, const char *key);

/* A whole one-line array. */
void io_json_doubles(io_json *json, const char *key, const double *values, int64_t count);
void io_json_ints(io_json *json, const char *key, const int64_t *values, int64_t count);

/* Ends the text with a newline and flushes. IO_E_FORMAT for a misuse (including objects still
 * open), IO_E_WRITE for a write error. The stream stays open. */
int io_json_end(io_json *json, io_error *err);

/* ---- reading ----------------------------------------------------------------------------------
 *
 * Strict RFC 8259: no comments, no trailing commas, one value per text, nesting up to
 * IO_JSON_DEPTH, no repeated member names. Integers that fit are exact; a number with a fraction or
 * an exponent, or too large for 64 bits, is a double. Strings must be UTF-8 and may not hold a zero
 * character. Errors read "result.json:12:7: expected ',' or '}'" (line, column in bytes). */

typedef enum io_json_kind {
    IO_JSON_NULL,
    IO_JSON_BOOL,
    IO_JSON_INT,    /* fits int64_t                    */
    IO_JSON_UINT,   /* above INT64_MAX, fits uint64_t  */
    IO_JSON_DOUBLE, /* any other number, always finite */
    IO_JSON_STRING,
    IO_JSON_ARRAY,
    IO_JSON_OBJECT
} io_json_kind;

typedef struct io_json_value io_json_value;
struct io_json_value {
    io_json_kind kind;
    char *key;            /* name inside an object, else NULL               */
    bool boolean;         /* BOOL                                           */
    int64_t integer;      /* INT                                            */
    uint64_t natural;     /* UINT; for a non-negative INT the same number   */
    double number;        /* INT, UINT (rounded) and DOUBLE                 */
    char *string;         /* STRING: UTF-8, zero-terminated                 */
    int64_t count;        /* members of an ARRAY or OBJECT                  */
    size_t offset;        /* of its first byte in the text                  */
    io_json_value *first; /* first member, NULL when empty                  */
    io_json_value *next;  /* next member of the same parent                 */
};

/* Reads the file at `path` (up to 64 MiB) or text in memory. On error *root is NULL. */
int io_json_read(const char *path, io_json_value **root, io_error *err);
int io_json_parse(const char *name, const char *text, size_t size, io_json_value **root,
                  io_error *err);

void io_json_free(io_json_value *root);

/* Writes a value again, the members of an object or array on one line; numbers stay what they are. */
void io_json_copy(io_json *to, const char *key, const io_json_value *value);

/* Member of an object by name, or element of an array by position; NULL if there is none (or
 * `value` is NULL or of another kind), so calls can be chained. */
const io_json_value *io_json_get(const io_json_value *value, const char *key);
const io_json_value *io_json_at(const io_json_value *value, int64_t index);

#endif
