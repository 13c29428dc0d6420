/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_ranges.c - libFuzzer target: any bytes as the file of `shoal dataset --ranges`, for either third column.
 *
 * Ranges that are accepted are finite, ascend, and lie where the parameter may; a plan of them is refused with a
 * message, or its first row lies in them.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/network/dataset.h"
#include "fuzz.h"

static shoal_context *context(void) {
    static shoal_context *ctx;
    const shoal_options options = { .backend = "cpu", .threads = 1 };
    if (!ctx && shoal_open(&options, &ctx) != SHOAL_OK) abort();
    return ctx;
}

static void check_range(const shoal_range *range, const shoal_range *bounds) {
    if (!(range->low >= bounds->low && range->low <= range->high && range->high <= bounds->high))
        abort();
    if (range->log && !(range->low > 0)) abort();
}

/* A row on the edge of a logarithmic range can miss it by the rounding of exp(log(x)). */
static void check_row(const shoal_dataset_opts *opts, const shoal_dataset *plan) {
    double row[SHOAL_DATASET_COLUMNS];
    if (shoal_dataset_design(plan, 0, 1, row) != SHOAL_OK) abort();
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) {
        const shoal_range *range = &opts->range[i];
        const double slack = range->log ? 1e-12 * fabs(row[i]) : 0;
        if (!(row[i] >= range->low - slack && row[i] <= range->high + slack)) abort();
    }
}

static void read_as(const char *path, int nu2) {
    shoal_dataset_opts opts = { .samples = 1, .seed = 1, .nu2 = nu2 };
    shoal_dataset *plan = NULL;
    shoal_dataset_ranges(&opts);
    char *text = NULL;
    const int code = dataset_read_ranges(path, NULL, &text, &opts);
    free(text);
    if (code != CLI_OK) return;
    for (int i = 0; i < SHOAL_DATASET_COLUMNS; i++) {
        const shoal_range bounds = shoal_dataset_bounds(nu2, i);
        check_range(&opts.range[i], &bounds);
    }
    const shoal_status status = shoal_dataset_create(context(), &opts, &plan);
    if (status == SHOAL_OK)
        check_row(&opts, plan);
    else if (plan || !shoal_message(context())[0])
        abort();
    shoal_dataset_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    fuzz_file file = fuzz_file_of(bytes, size);
    for (int nu2 = 0; nu2 < 2 && file.fd >= 0; nu2++) read_as(file.path, nu2);
    fuzz_file_close(&file);
    return 0;
}
