/* SPDX-License-Identifier: Apache-2.0
 *
 * status.c - messages, numbers, UTF-8 and quoting.
 */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool io_text_double(const char *text, size_t length, double *value) {
    char copy[128];
    if (length == 0 || length >= sizeof copy) return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        /* strtod also takes leading space, hexadecimal and nan(...): none is a number here. */
        if (c == '\0' || c == ' ' || (c >= '\t' && c <= '\r') || c == 'x' || c == 'X' || c == '(')
            return false;
        copy[i] = (c == 'd' || c == 'D') ? 'e' : c;
    }
    copy[length] = '\0';
    char *end;
    *value = strtod(copy, &end);
    return end == copy + length;
}

bool io_text_int(const char *text, size_t length, int64_t *value) {
    size_t i = 0;
    bool negative = false;
    if (length > 0 && (text[0] == '-' || text[0] == '+')) {
        negative = text[0] == '-';
        i = 1;
    }
    if (i == length) return false;
    int64_t number = 0; /* kept negative: that side reaches one further */
    for (; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        int digit = text[i] - '0';
        if (number < (INT64_MIN + digit) / 10) return false;
        number = number * 10 - digit;
    }
    if (!negative && number == INT64_MIN) return false;
    *value = negative ? number : -number;
    return true;
}

int io_real_text(double x, char text[32]) {
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, 32, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    return length;
}

int io_float_text(float x, char text[32]) {
    int length = 0;
    for (int digits = 6; digits <= 9; digits++) {
        length = snprintf(text, 32, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x) break;
    }
    return length;
}

int io_utf8_length(const char *text, size_t left) {
    const unsigned char *p = (const unsigned char *)text;
    if (left == 0) return 0;
    if (p[0] < 0x80) return 1;
    int length = p[0] >= 0xC2 && p[0] <= 0xDF   ? 2
                 : p[0] >= 0xE0 && p[0] <= 0xEF ? 3
                 : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4
                                                : 0;
    if (length == 0 || left < (size_t)length) return 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0; /* overlong        */
    if (p[0] == 0xED && p[1] > 0x9F) return 0; /* surrogate       */
    if (p[0] == 0xF0 && p[1] < 0x90) return 0; /* overlong        */
    if (p[0] == 0xF4 && p[1] > 0x8F) return 0; /* above U+10FFFF  */
    return length;
}

char *io_quote(const char *text, size_t length, char out[IO_QUOTE_SIZE]) {
    size_t shown = length > 40 ? 40 : length;
    for (size_t i = 0; i < shown; i++) {
        char c = text[i];
        out[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    strcpy(out + shown, length > shown ? "..." : "");
    return out;
}

const char *io_not_text(const char *text, size_t size) {
    static const struct {
        const char *begins;
        size_t length;
        const char *is;
    } known[] = { { "\x93NUMPY", 6, "a NumPy array (.npy)" },
                  { "PK\x03\x04", 4, "a zip archive (.npz)" },
                  { "\x89HDF\r\n", 6, "an HDF5 file (.h5)" },
                  { "SHOALNET", 8, "a network (.net)" } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].length && memcmp(text, known[i].begins, known[i].length) == 0)
            return known[i].is;
    return memchr(text, '\0', size < 512 ? size : 512) ? "a binary file" : NULL;
}

int io_fail(io_error *err, io_status status, const char *format, ...) {
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

static io_progress *progress;
static void *progress_user;

void io_set_progress(io_progress *call, void *user) { progress = call, progress_user = user; }

int io_step(io_error *err, const char *stage, int64_t done, int64_t all) {
    const double fraction = done < all ? (double)done / (double)all : 1;
    if (!progress || progress(progress_user, stage, fraction) == 0) return IO_OK;
    return io_fail(err, IO_E_STOPPED, "stopped while files were read or written");
}

int io_step_line(io_error *err, const char *stage, int64_t done, int64_t all) {
    return done % 4096 == 0 || done == all ? io_step(err, stage, done, all) : IO_OK;
}
