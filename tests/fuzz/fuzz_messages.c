/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_messages.c - the program's messages (cli/common/run.c) without the program, for fuzzers of its readers: they are
 * made, so that a sanitizer sees what goes into them, and not printed.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli.h"

static void make(const char *format, va_list list) {
    char text[4096];
    const int length = vsnprintf(text, sizeof text, format, list);
    if (length <= 0 || strchr(text, '\n')) abort(); /* one line */
}

int cli_fail(int code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    make(format, list);
    va_end(list);
    return code;
}

void cli_note(const cli *c, const char *format, ...) {
    va_list list;
    (void)c;
    va_start(list, format);
    make(format, list);
    va_end(list);
}

int cli_no_memory(void) { return cli_fail(CLI_UNAVAILABLE, "not enough memory"); }

int cli_io(int status, const io_error *err) {
    return status == IO_OK ? CLI_OK : cli_fail(CLI_INPUT, "%s", err->text);
}

bool cli_interrupted(void) { return false; }
