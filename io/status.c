/* SPDX-License-Identifier: Apache-2.0
 *
 * status.c - the one place where messages are formed.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>

int io_fail(io_error *err, io_status status, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}
