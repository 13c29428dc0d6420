/* SPDX-License-Identifier: Apache-2.0
 *
 * fuzz_model.c - libFuzzer target: any bytes as a model file, first as they are, then made whole.
 *
 * Hardly any change of a file gets past its checksum, nor one of its shape past its size. So the bytes are also
 * taken as the beginning of a file whose magic, version, size and checksum are put right, whose shape is brought
 * down to a small one, and whose end is weights of 0.
 *
 * A network that was accepted is described, priced with at the edges of its inputs and outside of them, and
 * saved: what is saved loads again, and is saved as the same bytes.
 */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32.h"
#include "fuzz.h"
#include <shoal/surrogate.h>

enum { HEAD = 80, INPUT = 72, TAIL = 4, LARGEST = 1 << 14 };
enum { INPUTS = 4, LAYERS = 2, WIDTHS = 2 }; /* of a file made whole, at most; widths in eights */

static shoal_context *context(void) {
    static shoal_context *ctx;
    const shoal_options options = { .backend = "cpu", .threads = 1 };
    if (!ctx && shoal_open(&options, &ctx) != SHOAL_OK) abort();
    return ctx;
}

static void check(const shoal_surrogate *net, shoal_surrogate_info *info) {
    if (shoal_surrogate_describe(net, info) != SHOAL_OK) abort();
    if (info->inputs < 1 || info->inputs > SHOAL_SURROGATE_INPUTS || info->layers < 1 ||
        info->layers > SHOAL_SURROGATE_LAYERS || info->width > SHOAL_SURROGATE_WIDTH)
        abort();
    for (int i = 0; i < info->inputs; i++)
        if (!info->names[i][0] || strlen(info->names[i]) >= SHOAL_SURROGATE_NAME || !info->map[i] ||
            !(info->scale[i] > 0) || !isfinite(info->scale[i]) || !isfinite(info->shift[i]) ||
            !(info->least[i] <= info->most[i]))
            abort();
    for (int layer = 0; layer <= info->layers; layer++) {
        int inputs, neurons;
        const double *w, *b;
        if (shoal_surrogate_layer(net, layer, &inputs, &neurons, &w, &b) != SHOAL_OK) abort();
        if (!isfinite(w[inputs * neurons - 1]) || !isfinite(b[neurons - 1])) abort();
    }
}

/* Rows at the least and at the most of the inputs, of 0, of -1 and of NaN. Of these only the last must be NaN. */
static void price(const shoal_surrogate *net, const shoal_surrogate_info *info) {
    enum { ROWS = 5 };
    double x[ROWS][SHOAL_SURROGATE_INPUTS], value[ROWS], by_strike[ROWS], by_maturity[ROWS];
    double *flat = x[0];
    bool strike = false, maturity = false;
    for (int i = 0; i < info->inputs; i++) {
        const double at[ROWS] = { info->least[i], info->most[i], 0, -1, NAN };
        for (int row = 0; row < ROWS; row++) flat[row * info->inputs + i] = at[row];
        strike = strike || strcmp(info->names[i], "strike") == 0;
        maturity = maturity || strcmp(info->names[i], "maturity") == 0;
    }
    for (int type = 0; type < 2; type++) {
        const shoal_status s =
            shoal_surrogate_predict(net, ROWS, flat, type ? SHOAL_F32 : SHOAL_F64, value,
                                    strike ? by_strike : NULL, maturity ? by_maturity : NULL);
        if (s != SHOAL_OK || !isnan(value[ROWS - 1])) abort();
    }
}

static unsigned char *saved(const shoal_surrogate *net, size_t *size) {
    *size = 0;
    if (shoal_surrogate_save(net, NULL, size) != SHOAL_OK) abort();
    unsigned char *bytes = malloc(*size);
    if (!bytes || shoal_surrogate_save(net, bytes, size) != SHOAL_OK) abort();
    return bytes;
}

static void load(const unsigned char *bytes, size_t size) {
    shoal_surrogate_info info;
    shoal_surrogate *net = NULL, *again = NULL;
    size_t first, second;
    if (shoal_surrogate_load(context(), bytes, size, &net) != SHOAL_OK) {
        if (net || !shoal_message(context())[0]) abort();
        return;
    }
    check(net, &info);
    price(net, &info);
    unsigned char *once = saved(net, &first);
    if (shoal_surrogate_load(context(), once, first, &again) != SHOAL_OK) abort();
    unsigned char *twice = saved(again, &second);
    if (first != size || second != size || memcmp(once, twice, size) != 0) abort();
    free(once);
    free(twice);
    shoal_surrogate_free(net);
    shoal_surrogate_free(again);
}

static unsigned get(const unsigned char *at) {
    return (unsigned)at[0] | (unsigned)at[1] << 8 | (unsigned)at[2] << 16 | (unsigned)at[3] << 24;
}
static void put(unsigned char *at, unsigned value) {
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static void load_whole(const uint8_t *bytes, size_t size) {
    static unsigned char file[LARGEST];
    memset(file, 0, sizeof file);
    memcpy(file, bytes, size < sizeof file ? size : sizeof file);
    const unsigned inputs = 1 + (get(file + 16) + INPUTS - 1) % INPUTS;
    const unsigned layers = 1 + (get(file + 20) + LAYERS - 1) % LAYERS;
    const unsigned width = 8 * (1 + (get(file + 24) / 8 + WIDTHS - 1) % WIDTHS);
    const unsigned weights = (inputs + 1) * width + (layers - 1) * (width + 1) * width + width + 1;
    const size_t whole = HEAD + INPUT * (size_t)inputs + 8 * (size_t)weights + TAIL;
    memcpy(file, "SHOALNET", 8);
    put(file + 8, SHOAL_SURROGATE_VERSION);
    put(file + 12, (unsigned)whole);
    put(file + 16, inputs);
    put(file + 20, layers);
    put(file + 24, width);
    put(file + whole - TAIL, shoal_crc32(0, file, whole - TAIL));
    unsigned char *exact = malloc(whole); /* a sanitizer sees its end */
    if (!exact) return;
    memcpy(exact, file, whole);
    load(exact, whole);
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    load(bytes, size);
    load_whole(bytes, size);
    return 0;
}
