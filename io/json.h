/* SPDX-License-Identifier: Apache-2.0
 *
 * json.h - a streaming JSON writer. The reader is json_read.h.
 *
 *     io_json j;
 *     io_json_begin(&j, stdout, 2);
 *     io_json_object(&j, NULL);
 *     io_json_string(&j, "method", "pcr");
 *     io_json_int(&j, "n", 255);
 *     io_json_close(&j);
 *     if (io_json_end(&j, &err) != IO_OK) ...
 *
 * Doubles are written with %.17g and floats with %.9g, so they read back exactly; NaN and Inf are
 * null; 64-bit integers are written in full. Strings are escaped, and bytes that are not UTF-8
 * become U+FFFD. `key` is the member's name inside an object and must be NULL inside an array and
 * at the top. Mistakes (a missing key, too many closes, nesting deeper than IO_JSON_DEPTH) stop
 * the output and are reported by io_json_end, as are write errors; no call in between needs a
 * check.
 */
#ifndef SHOAL_IO_JSON_H
#define SHOAL_IO_JSON_H

#include <stdbool.h>
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

#endif
