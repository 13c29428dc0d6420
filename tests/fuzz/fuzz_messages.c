/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_messages.c - the program's messages (cli/common/run.c) without the program, for fuzzers of its readers: they are
 * made, so that a sanitizer sees what goes into them, and not printed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"

int cli_fail(int code, const char *format, ...) {
    char text[4096];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length <= 0 || strchr(text, '\n')) abort(); /* one line */
    return code;
}

int cli_no_memory(void) { return cli_fail(CLI_UNAVAILABLE, "not enough memory"); }

int cli_io(int status, const io_error *err) {
    return status == IO_OK ? CLI_OK : cli_fail(CLI_INPUT, "%s", err->text);
}

bool cli_interrupted(void) { return false; }
