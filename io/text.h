/* SPDX-License-Identifier: Apache-2.0
 *
 * text.h - small tools shared by the text formats: numbers, UTF-8, quoting for messages.
 */
#ifndef SHOAL_IO_TEXT_H
#define SHOAL_IO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decimal number of `length` bytes, all of them: digits, point, exponent (e, E, and Fortran's d,
 * D), or nan, inf, infinity in any case. False if it is anything else (also hexadecimal) or longer
 * than 127 bytes. A number too large for double becomes Inf, too small 0. */
bool io_text_double(const char *text, size_t length, double *value);

/* Decimal integer, optional sign, all bytes; false if it is anything else or does not fit. */
bool io_text_int(const char *text, size_t length, int64_t *value);

/* Bytes of the UTF-8 character at `text` (1 to 4), 0 if the bytes there are not valid UTF-8
 * (overlong forms, surrogates and values above U+10FFFF included). */
int io_utf8_length(const char *text, size_t left);

/* A piece of a file for use inside a message: at most 40 characters, printable ASCII only, the
 * rest shown as '?' and "..." at the end when cut. Returns `out`. */
#define IO_QUOTE_SIZE 48
char *io_quote(const char *text, size_t length, char out[IO_QUOTE_SIZE]);

/* What a file is that is no text, as far as its first bytes say: "a NumPy array (.npy)"; NULL for text. */
const char *io_not_text(const char *text, size_t size);

#endif
