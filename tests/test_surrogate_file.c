/* SPDX-License-Identifier: Apache-2.0
 *
 * test_surrogate_file.c - model files: what is written is read back, and what is cut, damaged, or whole but
 * without sense is refused with the reason; no bytes with a right checksum make the reader go astray.
 */
#include "core/crc32.h"
#include "surrogate/surrogate.h"
#include "test.h"
#include <math.h>

enum { INPUTS = 3, HEAD = 80, EACH_INPUT = 72, WEIGHTS = HEAD + INPUTS * EACH_INPUT };

static shoal_context *ctx;

/* A network of 3 inputs and two layers of 16, with weights of no meaning. */
static shoal_surrogate *network(void) {
    static const char *const names[INPUTS] = { "level", "strike", "maturity" };
    const surrogate_net n = { .inputs = INPUTS,
                              .layers = 2,
                              .width = 16,
                              .target = SURROGATE_VOLATILITY,
                              .strike = 1,
                              .maturity = 2,
                              .map = { SURROGATE_PLAIN, SURROGATE_LOG, SURROGATE_ROOT },
                              .shift = { 0.3, 0, 1 },
                              .scale = { 0.1, 0.3, 0.4 },
                              .out_shift = -1.5,
                              .out_scale = 0.2 };
    shoal_surrogate *net = NULL;
    if (shoal_surrogate_make(ctx, &n, &net) != SHOAL_OK) abort();
    net->seed = 7, net->rows = 4000, net->epochs = 2, net->validation = 1e-3;
    for (int i = 0; i < INPUTS; i++) {
        strcpy(net->name[i], names[i]);
        net->range.least[i] = 0.1, net->range.most[i] = 2;
    }
    for (int64_t i = 0; i < net->count; i++) net->weights[i] = sin((double)(i * i % 1009));
    return net;
}

static unsigned char *bytes_of(const shoal_surrogate *net, size_t *size) {
    CHECK(shoal_surrogate_save(net, NULL, size) == SHOAL_OK);
    unsigned char *bytes = malloc(*size);
    CHECK(bytes && shoal_surrogate_save(net, bytes, size) == SHOAL_OK);
    return bytes;
}

static void not_loaded(const unsigned char *bytes, size_t size, const char *words) {
    int something;
    shoal_surrogate *net = (shoal_surrogate *)&something;
    CHECK(shoal_surrogate_load(ctx, bytes, size, &net) == SHOAL_E_ARG && net == NULL);
    CHECK_MSG(strstr(shoal_message(ctx), words), "'%s' lacks '%s'", shoal_message(ctx), words);
}

static void seal(unsigned char *bytes, size_t size) {
    const uint32_t sum = shoal_crc32(0, bytes, size - 4);
    for (size_t k = 0; k < 4; k++) bytes[size - 4 + k] = (unsigned char)(sum >> (8 * k));
}

TEST(model_files) {
    enum { ROWS = 200 };
    shoal_surrogate *net = network(), *again = NULL;
    size_t size, less = 10;
    unsigned char *bytes = bytes_of(net, &size);
    static double x[ROWS][INPUTS], p[ROWS], q[ROWS];
    for (int i = 0; i < ROWS; i++)
        x[i][0] = 0.1 + 0.001 * i, x[i][1] = 0.5 + 0.005 * i, x[i][2] = 0.1 + 0.009 * i;
    CHECK(shoal_surrogate_load(ctx, bytes, size, &again) == SHOAL_OK);
    CHECK(shoal_surrogate_predict(net, ROWS, x[0], SHOAL_F64, p, NULL, NULL) == SHOAL_OK);
    CHECK(shoal_surrogate_predict(again, ROWS, x[0], SHOAL_F64, q, NULL, NULL) == SHOAL_OK);
    CHECK(memcmp(p, q, sizeof p) == 0 && p[0] > 0 && p[0] < 1);
    CHECK(memcmp(bytes, "SHOALNET\1\0\0\0", 12) == 0);
    CHECK(shoal_surrogate_save(net, bytes, &less) == SHOAL_E_MEMORY && less == size);
    for (size_t cut = 0; cut < size; cut += cut < 100 ? 1 : 97)
        not_loaded(bytes, cut, cut < 84 ? "not a model file" : "truncated");
    unsigned char *longer = calloc(size + 3, 1);
    memcpy(longer, bytes, size);
    not_loaded(longer, size + 3, "too long");
    free(longer);
    for (size_t at = 16; at < size; at += 131) {
        bytes[at] ^= 4;
        not_loaded(bytes, size, "checksum");
        bytes[at] ^= 4;
    }
    bytes[8] = 2;
    not_loaded(bytes, size, "version 2");
    bytes[8] = 1, bytes[0] = 's';
    not_loaded(bytes, size, "not a model file");
    free(bytes);
    shoal_surrogate_free(net);
    shoal_surrogate_free(again);
}

/* The checksum is right, something else is not. */
TEST(model_files_that_lie) {
    static const char nan_bits[] = "\0\0\0\0\0\0\370\177", inf_bits[] = "\0\0\0\0\0\0\360\177",
                      minus[] = "\0\0\0\0\0\0\360\277", many[] = "\377\377\377\377\377\377\377\377",
                      none[32] = "";
    const struct {
        size_t at, bytes;
        const char *put, *words;
    } lies[] = {
        { 16, 4, many, "shape" },       /* inputs                                   */
        { 20, 4, "\11\0\0", "shape" },  /* layers                                   */
        { 24, 4, "\14\0\0", "shape" },  /* a width that is no multiple of 8         */
        { 24, 4, "\30\0\0", "shape" },  /* one that does not suit the bytes         */
        { 28, 4, "\2\0\0", "shape" },   /* target                                   */
        { 40, 8, many, "numbers" },     /* rows                                     */
        { 48, 8, many, "numbers" },     /* epochs                                   */
        { 56, 8, nan_bits, "numbers" }, /* the error on the validation set          */
        { 64, 8, nan_bits, "numbers" }, /* c and e of the output                    */
        { 72, 8, minus, "numbers" },
        { HEAD, 32, none, "numbers" },    /* a name                          */
        { HEAD, 4, "\33[2J", "numbers" }, /* with control characters         */
        { HEAD + 20, 1, "x", "numbers" }, /* behind its end                  */
        { HEAD + 31, 1, "x", "numbers" },
        { HEAD, 7, "strike", "numbers" },              /* given twice                     */
        { HEAD + EACH_INPUT, 7, "spring", "numbers" }, /* no strike                 */
        { HEAD + 32, 4, "\3\0\0", "numbers" },         /* map                             */
        { HEAD + 36, 4, "\1\0\0", "numbers" },         /* the zero behind it              */
        { HEAD + 40, 8, inf_bits, "numbers" },         /* shift, scale, least, most       */
        { HEAD + 48, 8, minus, "numbers" },
        { HEAD + 56, 8, nan_bits, "numbers" },
        { HEAD + 64, 8, inf_bits, "numbers" },
        { HEAD + EACH_INPUT + 56, 8, minus, "numbers" }, /* no strike has a logarithm there */
        { WEIGHTS, 8, nan_bits, "numbers" },
    };
    shoal_surrogate *net = network();
    size_t size;
    unsigned char *bytes = bytes_of(net, &size), *lie = malloc(size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(lie, bytes, size);
        memcpy(lie + lies[i].at, lies[i].put, lies[i].bytes);
        seal(lie, size);
        not_loaded(lie, size, lies[i].words);
    }
    free(lie);
    free(bytes);
    shoal_surrogate_free(net);
}

/* Any few bytes of the head and of the inputs: refused, or a network that can be described and asked. */
TEST(random_bytes) {
    enum { TRIES = 20000 };
    static const double x[INPUTS] = { 0.3, 1, 1 };
    shoal_surrogate *net = network();
    size_t size;
    unsigned char *bytes = bytes_of(net, &size), *other = malloc(size);
    uint32_t word = 1;
    int taken = 0;
    for (int i = 0; i < TRIES; i++) {
        memcpy(other, bytes, size);
        for (int k = 0; k <= i % 3; k++) {
            word = word * 1664525u + 1013904223u;
            other[16 + (word >> 8) % (WEIGHTS - 16)] = (unsigned char)(word >> 24);
        }
        seal(other, size);
        shoal_surrogate *found;
        shoal_surrogate_info info;
        double p;
        const shoal_status s = shoal_surrogate_load(ctx, other, size, &found);
        CHECK(s == SHOAL_OK ? found != NULL : s == SHOAL_E_ARG && !found);
        if (!found) continue;
        taken++;
        CHECK(shoal_surrogate_describe(found, &info) == SHOAL_OK && info.inputs == INPUTS);
        CHECK(shoal_surrogate_predict(found, 1, x, SHOAL_F32, &p, NULL, NULL) == SHOAL_OK);
        shoal_surrogate_free(found);
    }
    CHECK_MSG(taken > TRIES / 20 && taken < TRIES, "%d of %d taken", taken, TRIES);
    free(other);
    free(bytes);
    shoal_surrogate_free(net);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) != SHOAL_OK) return 2;
    RUN(model_files);
    RUN(model_files_that_lie);
    RUN(random_bytes);
    shoal_close(ctx);
    return TEST_END();
}
