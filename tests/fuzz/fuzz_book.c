/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_book.c - libFuzzer target: any bytes as the two files of `shoal cva`, a market, a line "---", and a
 * book. Without that line they are a market alone.
 *
 * What is accepted must be what the library may be handed: finite numbers, indices and sets that exist.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cva/cva.h"
#include "fuzz.h"

/* Counterparties have a file of their own, which is not read here. */
int cva_bootstrap(cli *c, const cva_options *o, const shoal_cva_curve *swaps,
                  shoal_cva_counterparty *party, double **hazard) {
    (void)c, (void)o, (void)swaps, (void)party, (void)hazard;
    abort();
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
    fuzz_file file[2];
    const int count = fuzz_files_of(bytes, size, file, 2);
    const cli quiet = { .quiet = true };
    cva_book book;
    memset(&book, 0, sizeof book);
    int code = count < 1 ? CLI_UNAVAILABLE : cva_read_market(&quiet, file[0].path, NULL, &book);
    if (code == CLI_OK) check_market(&book);
    if (code == CLI_OK && count == 2) code = cva_read_book(&quiet, file[1].path, NULL, &book);
    if (code == CLI_OK && count == 2) check_book(&book);
    cva_book_free(&book);
    for (int i = 0; i < count; i++) fuzz_file_close(&file[i]);
    return 0;
}
