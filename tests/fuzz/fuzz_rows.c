/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_rows.c - libFuzzer target: any bytes as parts of a data set, which `shoal merge-parts` makes one of, with
 * lines "---" between them.
 *
 * Parts are of one version of the program. So that files of the corpus stay parts, "version=@" stands for that of
 * this one. A data set that was accepted has all its rows, with parameters in the ranges' bounds, and prices from
 * 0 to 1 or none.
 */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/network/dataset.h"
#include "fuzz.h"
#include "io/npy.h"

enum { PARTS = 4, VERSIONS = 8 };

/* ---- what the readers have of the program ------------------------------------------------------ */

int cli_open(cli *c) {
    static shoal_context *ctx;
    const shoal_options options = { .backend = "cpu", .threads = 1 };
    if (!ctx && shoal_open(&options, &ctx) != SHOAL_OK) abort();
    c->ctx = ctx;
    return CLI_OK;
}

io_json *cli_json_begin(cli *c, const char *command) {
    (void)c, (void)command;
    abort(); /* it is not asked for */
}

int cli_json_end(cli *c, int code) {
    (void)c, (void)code;
    abort();
}

/* ---- the files --------------------------------------------------------------------------------- */

/* The bytes with the program's version where they have a mark for it; from malloc. */
static uint8_t *with_version(const uint8_t *bytes, size_t size, size_t *length) {
    static const char mark[] = "version=@";
    enum { MARK = sizeof mark - 1 };
    const char *version = shoal_version();
    uint8_t *text = malloc(size + VERSIONS * strlen(version) + 1);
    *length = 0;
    for (size_t i = 0, marks = 0; text && i < size; i++) {
        text[(*length)++] = bytes[i];
        if (*length < MARK || memcmp(text + *length - MARK, mark, MARK) != 0 || marks == VERSIONS)
            continue;
        memcpy(text + --*length, version, strlen(version));
        *length += strlen(version);
        marks++;
    }
    return text;
}

static void check_rows(const char *path) {
    io_array rows;
    io_error err;
    if (io_npy_read(path, &rows, &err) != IO_OK) abort();
    if (rows.ndim != 2 || rows.shape[1] != DATASET_FIELDS) abort();
    const double *row = rows.data;
    for (int64_t i = 0; i < rows.shape[0]; i++, row += DATASET_FIELDS) {
        const double price = row[SHOAL_DATASET_COLUMNS];
        for (int k = 0; k < SHOAL_DATASET_COLUMNS; k++)
            if (!isfinite(row[k])) abort();
        if (!isnan(price) && !(price >= 0 && price <= 1)) abort();
        if (isnan(price) != isnan(row[SHOAL_DATASET_COLUMNS + 1])) abort();
    }
    io_array_free(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char output[64];
    const char *paths[PARTS];
    fuzz_file file[PARTS];
    size_t length;
    uint8_t *text = with_version(bytes, size, &length);
    const int count = text ? fuzz_files_of(text, length, file, PARTS) : 0;
    for (int i = 0; i < count; i++) paths[i] = file[i].path;
    snprintf(output, sizeof output, "/tmp/fuzz_rows_%ld.npy", (long)getpid());
    cli c = { .backend = "cpu", .seed = CLI_SEED };
    if (count > 0 && dataset_is_part(paths[0]) && dataset_merge(&c, paths, count, output) == CLI_OK)
        check_rows(output);
    unlink(output);
    for (int i = 0; i < count; i++) fuzz_file_close(&file[i]);
    free(text);
    return 0;
}
