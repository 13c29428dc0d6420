/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - what every io_ function returns, the message that goes with it, and small tools that
 * the text formats share.
 *
 *     io_error err;
 *     if (io_npy_read("A.npy", &a, &err) != IO_OK) { fputs(err.text, stderr); return 66; }
 *
 * Functions return IO_OK (0) or one of the negative values below. On failure err->text holds one
 * line without a newline that names the file and the reason; on success it is left alone. err may
 * be NULL. Nothing in io/ prints, exits, or keeps global state, except the function of io_set_progress().
 *
 * Numbers are read by strtod and written by printf, which follow the process's locale. Neither the
 * program nor io/ ever calls setlocale, so that locale is "C" and the decimal mark a point.
 */
#ifndef SHOAL_IO_STATUS_H
#define SHOAL_IO_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum io_status {
    IO_OK = 0,
    IO_E_OPEN = -1,   /* cannot be opened, read, or is not a file              */
    IO_E_FORMAT = -2, /* the contents are not what the format asks for         */
    IO_E_SIZE = -3,   /* shorter than promised, larger than a limit, overflow  */
    IO_E_MEMORY = -4, /* an allocation failed                                  */
    IO_E_WRITE = -5,  /* cannot be created, written, flushed or renamed        */
    IO_E_STOPPED = -6 /* the function of io_set_progress() ended it            */
} io_status;

typedef struct io_error {
    char text[512];
} io_error;

#if defined(__GNUC__)
#define IO_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define IO_PRINTF(text, args)
#endif

/* Writes the message (cut to fit, NULL err allowed) and returns `status`, so that a failing
 * function can say `return io_fail(err, IO_E_SIZE, "%s: file is empty", path);`. */
int io_fail(io_error *err, io_status status, const char *format, ...) IO_PRINTF(3, 4);

/* ---- progress of large files --------------------------------------------------------------------- */

/* Reading and writing call this function many times per second: `stage` ("read", "parse", "sort", "write") is a constant,
 * `fraction` the part that is done. A return value other than 0 ends them with IO_E_STOPPED. One for the process, set
 * before any file is read; only the thread that reads or writes calls it. */
typedef int io_progress(void *user, const char *stage, double fraction);
void io_set_progress(io_progress *call, void *user);

/* done of all: after each IO_PIECE bytes, and at each line. IO_OK or IO_E_STOPPED. */
enum { IO_PIECE = 1 << 22 };
int io_step(io_error *err, const char *stage, int64_t done, int64_t all);
int io_step_line(io_error *err, const char *stage, int64_t done, int64_t all);

/* ---- text: numbers, UTF-8, quoting for messages ------------------------------------------------- */

/* Decimal number of `length` bytes, all of them: digits, point, exponent (e, E, and Fortran's d,
 * D), or nan, inf, infinity in any case. False if it is anything else (also hexadecimal) or longer
 * than 127 bytes. A number too large for double becomes Inf, too small 0. */
bool io_text_double(const char *text, size_t length, double *value);

/* Decimal integer, optional sign, all bytes; false if it is anything else or does not fit. */
bool io_text_int(const char *text, size_t length, int64_t *value);

/* A number in the fewest digits of 15, 16 or 17 (of a float 6 to 9) that are read back as the same number; "nan" and
 * "inf" too. Returns the length. */
int io_real_text(double x, char text[32]);
int io_float_text(float x, char text[32]);

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
