/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_book.c - libFuzzer target: any bytes as the two files of `shoal cva`, a market, a line "---", and a
 * book. Without that line they are a market alone.
 *
 * What is accepted must be what the library may be handed: finite numbers, indices and sets that exist.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cva.h"
#include "fuzz.h"

/* The program's messages (cli/run.c) without the program: they are made, and not printed. */
int cli_fail(int code, const char *format, ...) {
    char text[4096];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length <= 0 || strchr(text, '\n')) abort(); /* one line */
    return code;
}

int cli_io(int status, const io_error *err) {
    return status == IO_OK ? CLI_OK : cli_fail(CLI_INPUT, "%s", err->text);
}

static void check_market(const cva_book *b) {
    for (int64_t i = 0; i < b->assets; i++)
        if (!(b->s0[i] > 0) || !isfinite(b->s0[i]) || !(b->sigma[i] >= 0) ||
            !isfinite(b->sigma[i]) || !isfinite(b->dividend[i]) || !b->asset[i][0])
            abort();
    for (int64_t i = 0; i < b->assets * b->assets; i++)
        if (!(fabs(b->correlation[i]) <= 1)) abort();
}

static void check_book(const cva_book *b) {
    for (int64_t i = 0; i < b->count; i++) {
        const shoal_cva_contract *c = &b->contract[i];
        if (!isfinite(c->strike) || !isfinite(c->maturity) || !isfinite(c->quantity)) abort();
        if (c->set < 0 || c->set >= b->sets || c->assets < 1 || c->assets > b->assets) abort();
        for (int64_t k = 0; k < c->assets; k++)
            if (c->asset[k] < 0 || c->asset[k] >= b->assets) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    static const char mark[] = "---\n";
    size_t market = 0;
    while (market + 4 <= size && memcmp(bytes + market, mark, 4) != 0) market++;
    const bool both = market + 4 <= size;
    fuzz_file file = fuzz_file_of(bytes, both ? market : size);
    cva_book book;
    memset(&book, 0, sizeof book);
    int code = file.fd < 0 ? CLI_UNAVAILABLE : cva_read_market(file.path, NULL, &book);
    fuzz_file_close(&file);
    if (code == CLI_OK) check_market(&book);
    if (code == CLI_OK && both) {
        file = fuzz_file_of(bytes + market + 4, size - market - 4);
        code = file.fd < 0 ? CLI_UNAVAILABLE : cva_read_book(file.path, NULL, &book);
        fuzz_file_close(&file);
        if (code == CLI_OK) check_book(&book);
    }
    cva_book_free(&book);
    return 0;
}
