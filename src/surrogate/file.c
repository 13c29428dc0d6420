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

enum { SHAPE = 16, HEAD = 80, INPUT = 72, TAIL = 4 };
static const char magic[8] = { 'S', 'H', 'O', 'A', 'L', 'N', 'E', 'T' };

typedef struct coder {
    unsigned char *at;
    int reads; /* 0: writes */
} coder;

/* A number of 4 or 8 bytes. */
static void code(coder *c, void *number, size_t bytes) {
    uint32_t narrow = 0;
    uint64_t value = 0;
    void *const native = bytes == 4 ? (void *)&narrow : &value;
    if (!c->reads) memcpy(native, number, bytes);
    value |= narrow;
    for (size_t i = 0; i < bytes; i++) {
        if (c->reads)
            value |= (uint64_t)c->at[i] << (8 * i);
        else
            c->at[i] = (unsigned char)(value >> (8 * i));
    }
    c->at += bytes;
    narrow = (uint32_t)value;
    if (c->reads) memcpy(number, native, bytes);
}

#define CODE(c, member) code(c, &(member), sizeof(member))

static void code_shape(coder *c, surrogate_net *n) {
    CODE(c, n->inputs), CODE(c, n->layers), CODE(c, n->width), CODE(c, n->target);
}

/* Everything from byte SHAPE to the checksum. Returns the bytes that must be 0. */
static uint32_t code_all(coder *c, shoal_surrogate *m) {
    surrogate_net *n = &m->net;
    uint32_t reserved = 0;
    code_shape(c, n);
    CODE(c, m->seed), CODE(c, m->rows), CODE(c, m->epochs);
    CODE(c, m->validation), CODE(c, n->out_shift), CODE(c, n->out_scale);
    for (int i = 0; i < n->inputs; i++) {
        uint32_t zero = 0;
        memcpy(c->reads ? (void *)m->name[i] : c->at, c->reads ? c->at : (void *)m->name[i],
               SHOAL_SURROGATE_NAME);
        c->at += SHOAL_SURROGATE_NAME;
        CODE(c, n->map[i]), CODE(c, zero);
        CODE(c, n->shift[i]), CODE(c, n->scale[i]), CODE(c, m->range.least[i]),
            CODE(c, m->range.most[i]);
        reserved |= zero;
    }
    for (int64_t i = 0; i < m->count; i++) CODE(c, m->weights[i]);
    return reserved;
}

static size_t size_of(const surrogate_net *n) {
    const int64_t count = surrogate_offset(n, n->layers + 1);
    return HEAD + INPUT * (size_t)n->inputs + 8 * (size_t)count + TAIL;
}

shoal_status shoal_surrogate_save(const shoal_surrogate *net, void *bytes, size_t *size) {
    if (!net) return SHOAL_E_ARG;
    if (!size) return shoal_fail(net->head.ctx, SHOAL_E_ARG, "size is NULL");
    const size_t room = bytes ? *size : 0, needed = size_of(&net->net);
    *size = needed;
    if (!bytes) return SHOAL_OK;
    if (room < needed)
        return shoal_fail(net->head.ctx, SHOAL_E_MEMORY, "size is %zu; the network takes %zu bytes",
                          room, needed);
    uint32_t version = SHOAL_SURROGATE_VERSION, length = (uint32_t)needed;
    coder c = { (unsigned char *)bytes + sizeof magic, 0 };
    memcpy(bytes, magic, sizeof magic);
    CODE(&c, version), CODE(&c, length);
    code_all(&c, (shoal_surrogate *)net); /* which it only reads */
    uint32_t crc = shoal_crc32(0, bytes, needed - TAIL);
    CODE(&c, crc);
    return SHOAL_OK;
}

static uint32_t number_at(const unsigned char *bytes, size_t at) {
    uint32_t value;
    coder c = { (unsigned char *)bytes + at, 1 };
    CODE(&c, value);
    return value;
}

/* Magic, version, size, checksum; then nothing but what was written. */
static shoal_status check(shoal_context *ctx, const unsigned char *bytes, size_t size) {
    if (size < HEAD + TAIL || memcmp(bytes, magic, sizeof magic) != 0)
        return shoal_fail(ctx, SHOAL_E_ARG, "not a model file; `shoal train` writes model files");
    const uint32_t version = number_at(bytes, 8), promised = number_at(bytes, 12);
    if (version != SHOAL_SURROGATE_VERSION)
        return shoal_fail(ctx, SHOAL_E_ARG, "model file version %u; this program reads version %d",
                          version, SHOAL_SURROGATE_VERSION);
    if (promised != size)
        return shoal_fail(ctx, SHOAL_E_ARG, "%s: %zu bytes of %zu",
                          size < promised ? "truncated" : "too long", size, (size_t)promised);
    if (number_at(bytes, size - TAIL) != shoal_crc32(0, bytes, size - TAIL))
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

/* 1 .. 31 bytes without control characters, then reserved; unlike the names of the inputs before. */
static int name_is_good(const shoal_surrogate *m, int input) {
    const char *name = m->name[input];
    int length = 0, good = 1;
    while (length < SHOAL_SURROGATE_NAME && name[length]) {
        good = good && (unsigned char)name[length] >= ' ' && name[length] != 127;
        length++;
    }
    for (int k = length; k < SHOAL_SURROGATE_NAME; k++) good = good && !name[k];
    good = good && length > 0 && length < SHOAL_SURROGATE_NAME;
    for (int k = 0; good && k < input; k++) good = strcmp(name, m->name[k]) != 0;
    return good;
}

/* Shift, scale and range; the range has a logarithm or a root if the map needs it. */
static int input_is_good(const shoal_surrogate *m, int i) {
    const surrogate_net *n = &m->net;
    return name_is_good(m, i) && within(n->map[i], 0, SURROGATE_MAPS - 1) &&
           isfinite(n->shift[i]) && isfinite(n->scale[i]) && n->scale[i] > 0 &&
           isfinite(m->range.least[i]) && isfinite(m->range.most[i]) &&
           m->range.least[i] <= m->range.most[i] &&
           (n->map[i] == SURROGATE_PLAIN || m->range.least[i] > 0);
}

/* Also finds strike and maturity. */
static int is_good(shoal_surrogate *m) {
    surrogate_net *n = &m->net;
    int good = m->rows >= 0 && m->epochs >= 0 && m->validation >= 0 && isfinite(n->out_shift) &&
               isfinite(n->out_scale) && n->out_scale > 0;
    for (int i = 0; good && i < n->inputs; i++) {
        good = input_is_good(m, i);
        if (good && strcmp(m->name[i], "strike") == 0) n->strike = i;
        if (good && strcmp(m->name[i], "maturity") == 0) n->maturity = i;
    }
    for (int64_t i = 0; good && i < m->count; i++) good = isfinite(m->weights[i]) != 0;
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
    surrogate_net shape = { .strike = -1, .maturity = -1 };
    coder c = { (unsigned char *)bytes + SHAPE, 1 };
    code_shape(&c, &shape);
    if (!shape_is_good(&shape) || size_of(&shape) != size)
        return shoal_fail(ctx, SHOAL_E_ARG, "a model file with an invalid shape");
    s = shoal_surrogate_make(ctx, &shape, net);
    if (s != SHOAL_OK) return s;
    c.at = (unsigned char *)bytes + SHAPE;
    if (code_all(&c, *net) != 0 || !is_good(*net))
        s = shoal_fail(ctx, SHOAL_E_ARG, "a model file with invalid numbers");
    return shoal_plan_made(s, net);
}
