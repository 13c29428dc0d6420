/* SPDX-License-Identifier: Apache-2.0
 *
 * problem_size.c - the whole numbers of problem strings.
 */
#include "bench/problem.h"

#include <inttypes.h>
#include <string.h>

#include "io/text.h"

/* Decimal digits only: strtoull would take signs, spaces and hexadecimal. */
bool bench_read_digits(const char *text, size_t size, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';
        if (digit > 9 || *value > (UINT64_MAX - digit) / 10) return false;
        *value = *value * 10 + digit;
    }
    return size > 0;
}

/* 100000, 1e5, 2.5e4 or 2^25, at most `most`. */
int bench_read_size(const char *key, const char *text, size_t size, int64_t most, int64_t *value,
                    io_error *err) {
    char quoted[IO_QUOTE_SIZE];
    const char *hat = size ? memchr(text, '^', size) : NULL;
    uint64_t digits = 0, base = 0, power = 0;
    double number = 0;
    bool good = true, fits = true;
    if (hat) {
        size_t before = (size_t)(hat - text);
        good = bench_read_digits(text, before, &base) &&
               bench_read_digits(hat + 1, size - before - 1, &power);
        for (digits = 1; good && fits && power > 0 && base > 1; power--) {
            fits = digits <= (uint64_t)most / base;
            if (fits) digits *= base;
        }
        if (good && power > 0 && base == 0) digits = 0;
    } else if (!bench_read_digits(text, size, &digits)) {
        good = io_text_double(text, size, &number) && number >= 0;
        fits = good && number <= (double)most;
        if (fits) {
            digits = (uint64_t)number;
            good = (double)digits == number;
        }
    }
    if (!good)
        return io_fail(err, IO_E_FORMAT,
                       "problem: key '%s': '%s' is not a whole number (100000, 1e5 and 2^25 are)",
                       key, io_quote(text, size, quoted));
    if (!fits || digits > (uint64_t)most)
        return io_fail(err, IO_E_FORMAT, "problem: key '%s': '%s' is larger than %" PRId64, key,
                       io_quote(text, size, quoted), most);
    *value = (int64_t)digits;
    return IO_OK;
}
