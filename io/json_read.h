/* SPDX-License-Identifier: Apache-2.0
 *
 * json_read.h - a small JSON reader: text to a tree. For bench results, reports and tests.
 *
 * Strict RFC 8259: no comments, no trailing commas, one value per text, nesting up to
 * IO_JSON_DEPTH, no repeated member names. Integers that fit are exact; a number with a fraction or
 * an exponent, or too large for 64 bits, is a double. Strings must be UTF-8 and may not hold a zero
 * character. Errors read "result.json:12:7: expected ',' or '}'" (line, column in bytes).
 */
#ifndef SHOAL_IO_JSON_READ_H
#define SHOAL_IO_JSON_READ_H

#include <stddef.h>
#include <stdint.h>

#include "json.h"

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
