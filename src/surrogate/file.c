/* SPDX-License-Identifier: Apache-2.0
 *
 * file.c - the bytes of a model file, written and read back: little endian on every machine.
 *
 *     at   0  "SHOALNET"
 *          8  u32 version, u32 bytes of the file
 *         16  i32 inputs, hidden layers, neurons of a layer, target (0 volatility, 1 price)
 *         32  u64 seed, i64 rows of the training set, i64 epochs of these weights
 *         56  f64 error on the validation set, shift and scale of the output
 *         80  for each input: 32 bytes of name, u32 map (0 x, 1 log x, 2 sqrt x), u32 0, f64 shift,
 *             scale, least, most
 *             f64 weights, layer by layer: [inputs][neurons], then the biases
 *             u32 CRC-32 (as in PNG and zip) of all bytes before
 */
#include "core/crc32.h"
#include "surrogate/surrogate.h"
#include <math.h>
#include <string.h>

enum { HEAD = 80, INPUT = 72, TAIL = 4 };
static const char magic[8] = { 'S', 'H', 'O', 'A', 'L', 'N', 'E', 'T' };

static size_t size_of(const surrogate_net *n) {
    const int64_t count = surrogate_offset(n, n->layers + 1);
    return HEAD + INPUT * (size_t)n->inputs + 8 * (size_t)count + TAIL;
}

static unsigned char *put(unsigned char *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *at++ = (unsigned char)(value >> (8 * i));
    return at;
}
static unsigned char *put_double(unsigned char *at, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put(at, bits, 8);
}

static uint64_t take(const unsigned char **at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t) * (*at)++ << (8 * i);
    return value;
}
static double take_double(const unsigned char **at) {
    const uint64_t bits = take(at, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

shoal_status shoal_surrogate_save(const shoal_surrogate *net, void *bytes, size_t *size) {
    if (!net) return SHOAL_E_ARG;
    if (!size) return shoal_fail(net->head.ctx, SHOAL_E_ARG, "size is NULL");
    const surrogate_net *n = &net->net;
    const size_t room = bytes ? *size : 0, needed = size_of(n);
    *size = needed;
    if (!bytes) return SHOAL_OK;
    if (room < needed)
        return shoal_fail(net->head.ctx, SHOAL_E_MEMORY, "size is %zu; the network takes %zu bytes",
                          room, needed);
    unsigned char *at = bytes;
    memcpy(at, magic, sizeof magic);
    at = put(at + sizeof magic, SHOAL_SURROGATE_VERSION, 4);
    at = put(at, needed, 4);
    const int shape[] = { n->inputs, n->layers, n->width, n->target };
    for (int i = 0; i < 4; i++) at = put(at, (uint32_t)shape[i], 4);
    at = put(at, net->seed, 8);
    at = put(at, (uint64_t)net->rows, 8);
    at = put(at, (uint64_t)net->epochs, 8);
    at = put_double(at, net->validation);
    at = put_double(at, n->out_shift);
    at = put_double(at, n->out_scale);
    for (int i = 0; i < n->inputs; i++) {
        memset(at, 0, SHOAL_SURROGATE_NAME);
        memcpy(at, net->name[i], strlen(net->name[i]));
        at = put(at + SHOAL_SURROGATE_NAME, (uint32_t)n->map[i], 8);
        at = put_double(at, n->shift[i]);
        at = put_double(at, n->scale[i]);
        at = put_double(at, net->least[i]);
        at = put_double(at, net->most[i]);
    }
    for (int64_t i = 0; i < net->count; i++) at = put_double(at, net->weights[i]);
    put(at, shoal_crc32(0, bytes, needed - TAIL), TAIL);
    return SHOAL_OK;
}

/* Magic, version, size, checksum; then nothing but what was written. */
static shoal_status check(shoal_context *ctx, const unsigned char *bytes, size_t size) {
    if (size < HEAD + TAIL || memcmp(bytes, magic, sizeof magic) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "not a model file");
    const unsigned char *at = bytes + sizeof magic;
    const unsigned version = (unsigned)take(&at, 4);
    if (version != SHOAL_SURROGATE_VERSION)
        return shoal_fail(ctx, SHOAL_E_ARG, "a model file of version %u; this program reads %d",
                          version, SHOAL_SURROGATE_VERSION);
    const size_t promised = (size_t)take(&at, 4);
    if (promised != size)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s: %zu bytes of %zu",
                          size < promised ? "truncated" : "too long", size, promised);
    at = bytes + size - TAIL;
    if ((uint32_t)take(&at, TAIL) != shoal_crc32(0, bytes, size - TAIL))
        return shoal_fail(ctx, SHOAL_E_ARG, "damaged: its checksum is wrong");
    return SHOAL_OK;
}

static int within(int value, int least, int most) { return value >= least && value <= most; }

static int shape_is_good(const surrogate_net *n) {
    return within(n->inputs, 1, SHOAL_SURROGATE_INPUTS) &&
           within(n->layers, 1, SHOAL_SURROGATE_LAYERS) &&
           within(n->width, 8, SHOAL_SURROGATE_WIDTH) && n->width % 8 == 0 &&
           within(n->target, 0, SURROGATE_TARGETS - 1);
}

/* 1 .. 31 bytes of which none is a control character, then zeros; unlike those of the inputs before. */
static int take_name(shoal_surrogate *m, int i, const unsigned char *from) {
    char *name = m->name[i];
    memcpy(name, from, SHOAL_SURROGATE_NAME);
    int length = 0, good = 1;
    while (length < SHOAL_SURROGATE_NAME && from[length]) {
        good = good && from[length] >= ' ' && from[length] != 127;
        length++;
    }
    for (int k = length; k < SHOAL_SURROGATE_NAME; k++) good = good && !from[k];
    name[SHOAL_SURROGATE_NAME - 1] = '\0';
    for (int k = 0; k < i; k++) good = good && strcmp(name, m->name[k]) != 0;
    if (strcmp(name, "strike") == 0) m->net.strike = i;
    if (strcmp(name, "maturity") == 0) m->net.maturity = i;
    return good && length > 0 && length < SHOAL_SURROGATE_NAME;
}

/* Shift, scale and range; a range has a logarithm, a root, where its map asks for one. */
static int take_input(shoal_surrogate *m, int i, const unsigned char *at) {
    surrogate_net *n = &m->net;
    const int named = take_name(m, i, at);
    at += SHOAL_SURROGATE_NAME;
    const uint64_t map = take(&at, 4), zero = take(&at, 4);
    n->shift[i] = take_double(&at), n->scale[i] = take_double(&at);
    m->least[i] = take_double(&at), m->most[i] = take_double(&at);
    if (!named || map >= SURROGATE_MAPS || zero != 0) return 0;
    n->map[i] = (int)map;
    return isfinite(n->shift[i]) && isfinite(n->scale[i]) && n->scale[i] > 0 &&
           isfinite(m->least[i]) && isfinite(m->most[i]) && m->least[i] <= m->most[i] &&
           (map == SURROGATE_PLAIN || m->least[i] > 0);
}

/* Everything behind the shape; whether it makes sense. */
static int take_rest(shoal_surrogate *m, const unsigned char *at) {
    surrogate_net *n = &m->net;
    m->seed = take(&at, 8);
    m->rows = (int64_t)take(&at, 8), m->epochs = (int64_t)take(&at, 8);
    m->validation = take_double(&at);
    n->out_shift = take_double(&at), n->out_scale = take_double(&at);
    int good = m->rows >= 0 && m->epochs >= 0 && m->validation >= 0 && isfinite(n->out_shift) &&
               isfinite(n->out_scale) && n->out_scale > 0;
    for (int i = 0; i < n->inputs; i++, at += INPUT) good = take_input(m, i, at) && good;
    for (int64_t i = 0; i < m->count; i++) {
        m->weights[i] = take_double(&at);
        good = good && isfinite(m->weights[i]);
    }
    return good && (n->target != SURROGATE_VOLATILITY || (n->strike >= 0 && n->maturity >= 0));
}

shoal_status shoal_surrogate_load(shoal_context *ctx, const void *bytes, size_t size,
                                  shoal_surrogate **net) {
    if (net) *net = NULL;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    const shoal_array given[] = { { "net", net, 0 }, { "bytes", bytes, 0 } };
    s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = check(ctx, bytes, size);
    if (s != SHOAL_OK) return s;
    const unsigned char *at = (const unsigned char *)bytes + 16;
    surrogate_net n = { .strike = -1, .maturity = -1 };
    int *const shape[] = { &n.inputs, &n.layers, &n.width, &n.target };
    for (int i = 0; i < 4; i++) *shape[i] = (int)(int32_t)take(&at, 4);
    if (!shape_is_good(&n) || size_of(&n) != size)
        return shoal_fail(ctx, SHOAL_E_ARG, "a model file whose shape makes no sense");
    s = shoal_surrogate_make(ctx, &n, net);
    if (s == SHOAL_OK && !take_rest(*net, at))
        s = shoal_fail(ctx, SHOAL_E_ARG, "a model file with numbers that make no sense");
    return shoal_plan_made(s, net);
}
