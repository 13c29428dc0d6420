/* SPDX-License-Identifier: Apache-2.0
 *
 * status.h - what every io_ function returns, and the message that goes with it.
 *
 *     io_error err;
 *     if (io_npy_read("A.npy", &a, &err) != IO_OK) { fputs(err.text, stderr); return 66; }
 *
 * Functions return IO_OK (0) or one of the negative values below. On failure err->text holds one
 * line without a newline that names the file and the reason; on success it is left alone. err may
 * be NULL. Nothing in io/ prints, exits, or keeps global state.
 *
 * Numbers are read by strtod and written by printf, which follow the process's locale. Neither the
 * program nor io/ ever calls setlocale, so that locale is "C" and the decimal mark a point.
 */
#ifndef SHOAL_IO_STATUS_H
#define SHOAL_IO_STATUS_H

typedef enum io_status {
    IO_OK = 0,
    IO_E_OPEN = -1,   /* cannot be opened, read, or is not a file              */
    IO_E_FORMAT = -2, /* the contents are not what the format asks for         */
    IO_E_SIZE = -3,   /* shorter than promised, larger than a limit, overflow  */
    IO_E_MEMORY = -4, /* an allocation failed                                  */
    IO_E_WRITE = -5   /* cannot be created, written, flushed or renamed        */
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

#endif
