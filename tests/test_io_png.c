/* SPDX-License-Identifier: Apache-2.0
 *
 * test_io_png.c - PNG files are read back by a decoder of its own, for what io_png_write() may write:
 * one IDAT, one block, fixed Huffman codes, no filters. Sizes, checksums, every pixel.
 */
#define _XOPEN_SOURCE 700

#include "io/png.h"
#include "test_io.h"

typedef struct reader {
    const unsigned char *bytes;
    size_t size, at; /* at counts bits */
} reader;

static uint32_t bits(reader *r, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; i++, r->at++)
        if (r->at / 8 < r->size) value |= (uint32_t)(r->bytes[r->at / 8] >> (r->at % 8) & 1) << i;
    return value;
}

static uint32_t code(reader *r, int count, uint32_t begin) { /* highest bit first, after `begin` */
    for (int i = 0; i < count; i++) begin = begin << 1 | bits(r, 1);
    return begin;
}

static int symbol(reader *r) {
    uint32_t word = code(r, 7, 0);
    if (word < 24) return 256 + (int)word;
    word = code(r, 1, word);
    if (word < 192) return (int)word - 48;
    if (word < 200) return 280 + (int)word - 192;
    return 144 + (int)code(r, 1, word) - 400;
}

/* Bytes that came out, 0 for a stream that is not as it should be. */
static size_t inflate(const unsigned char *bytes, size_t size, unsigned char *to, size_t room) {
    static const int lengths[] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                   31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
    static const int distances[] = {
        1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
        193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577
    };
    reader r = { bytes, size, 0 };
    size_t out = 0;
    if (bits(&r, 1) != 1 || bits(&r, 2) != 1) return 0;
    for (int s = symbol(&r); s != 256; s = symbol(&r)) {
        if (r.at > 8 * size || out >= room || s > 285) return 0;
        if (s < 256) {
            to[out++] = (unsigned char)s;
            continue;
        }
        const int k = s - 257, length_bits = k < 8 || k == 28 ? 0 : k / 4 - 1;
        const size_t length = (size_t)lengths[k] + bits(&r, length_bits);
        const int d = (int)code(&r, 5, 0);
        if (d > 29) return 0;
        const size_t distance = (size_t)distances[d] + bits(&r, d < 4 ? 0 : d / 2 - 1);
        if (distance > out || distance > 32768 || out + length > room) return 0;
        for (size_t i = 0; i < length; i++, out++) to[out] = to[out - distance];
    }
    return (r.at + 7) / 8 == size ? out : 0;
}

static uint32_t big_endian(const unsigned char *b) {
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* CRC-32 by the remainder of a division, bit by bit from the highest (ISO 3309). */
static uint32_t crc(const unsigned char *data, size_t size) {
    uint32_t rest = 0xFFFFFFFFu, turned = 0;
    for (size_t i = 0; i < 8 * size; i++) {
        const uint32_t bit = data[i / 8] >> (i % 8) & 1;
        rest = (rest << 1) ^ ((rest >> 31 ^ bit) ? 0x04C11DB7u : 0);
    }
    for (int i = 0; i < 32; i++) turned |= (rest >> i & 1) << (31 - i);
    return ~turned;
}

static uint32_t adler(const unsigned char *data, size_t size) {
    uint64_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) a += data[i], b += a; /* far from overflow here */
    return (uint32_t)(b % 65521 << 16 | a % 65521);
}

static size_t get_file(const char *name, unsigned char *to, size_t room) {
    FILE *file = fopen(in_dir(name), "rb");
    const size_t size = file ? fread(to, 1, room, file) : 0;
    if (file) fclose(file);
    return size;
}

/* Writes the picture, reads it back, and compares. Returns the size of the file. */
static size_t round_trip(int width, int height, const unsigned char *rgb, const char *what) {
    const size_t row = 3 * (size_t)width, rows = (row + 1) * (size_t)height;
    const size_t room = 2 * rows + 1000;
    unsigned char *file = malloc(room), *back = malloc(rows + 1);
    io_error e = { "" };
    CHECK_MSG(io_png_write(in_dir("p.png"), width, height, rgb, &e) == IO_OK, "%s", e.text);
    const size_t size = file ? get_file("p.png", file, room) : 0;
    CHECK_MSG(back && size > 63 && memcmp(file, "\x89PNG\r\n\x1a\n", 8) == 0, "%s", what);
    CHECK(big_endian(file + 8) == 13 && memcmp(file + 12, "IHDR", 4) == 0);
    CHECK(big_endian(file + 16) == (uint32_t)width && big_endian(file + 20) == (uint32_t)height);
    CHECK(memcmp(file + 24, "\x08\x02\x00\x00\x00", 5) == 0);
    CHECK(big_endian(file + 29) == crc(file + 12, 17));
    const size_t data = big_endian(file + 33);
    CHECK_MSG(memcmp(file + 37, "IDAT", 4) == 0 && 45 + data + 12 == size, "%s: %zu", what, data);
    CHECK(big_endian(file + 41 + data) == crc(file + 37, data + 4));
    CHECK(memcmp(file + 45 + data, "\0\0\0\0IEND\xae\x42\x60\x82", 12) == 0);
    CHECK((file[41] << 8 | file[42]) % 31 == 0 && file[41] == 0x78);
    CHECK_MSG(inflate(file + 43, data - 6, back, rows) == rows, "%s", what);
    CHECK_MSG(big_endian(file + 41 + data - 4) == adler(back, rows), "%s", what);
    for (size_t i = 0; i < (size_t)height; i++) {
        CHECK(back[i * (row + 1)] == 0);
        CHECK_MSG(memcmp(back + i * (row + 1) + 1, rgb + i * row, row) == 0, "%s: row %zu", what,
                  i);
    }
    free(file);
    free(back);
    return size;
}

TEST(pictures_read_back) {
    static const int sides[][2] = {
        { 1, 1 }, { 1, 7 }, { 2, 1 }, { 37, 5 }, { 300, 40 }, { 64, 64 }
    };
    uint64_t state = 5;
    for (int colours = 1; colours <= 256; colours *= 4) /* 1: one colour; 256: noise */
        for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
            const int w = sides[s][0], h = sides[s][1];
            unsigned char *rgb = malloc(3 * (size_t)(w * h));
            for (int i = 0; i < 3 * w * h && rgb; i++)
                rgb[i] = (unsigned char)(next_random(&state) % (uint64_t)colours * 255 /
                                         (uint64_t)(colours > 1 ? colours - 1 : 1));
            round_trip(w, h, rgb, "random");
            free(rgb);
        }
}

/* Matches of every length, and at every distance up to beyond the window. */
TEST(matches_of_all_kinds) {
    enum { WIDTH = 12000, HEIGHT = 3 };
    unsigned char *rgb = calloc(3 * WIDTH * HEIGHT, 1);
    uint64_t state = 9;
    for (int i = 0, run = 1; i < 3 * WIDTH && rgb; i += run, run = run % 600 + 1) {
        const unsigned char value = (unsigned char)next_random(&state);
        for (int k = i; k < i + run && k < 3 * WIDTH; k++) rgb[k] = value;
    }
    for (int i = 0; i < 3 * WIDTH && rgb;
         i++) { /* a row further back than the window; then parts */
        rgb[3 * WIDTH + i] = rgb[i];
        rgb[6 * WIDTH + i] = i % 97 ? rgb[(size_t)i * 7 % (3 * WIDTH)] : (unsigned char)i;
    }
    round_trip(WIDTH, HEIGHT, rgb, "runs");
    free(rgb);
}

TEST(plain_pictures_are_small) {
    unsigned char *rgb = malloc(3 * 512 * 512);
    memset(rgb, 255, 3 * 512 * 512);
    const size_t size = round_trip(512, 512, rgb, "white");
    CHECK_MSG(size < 6000, "%zu bytes", size);
    free(rgb);
}

/* Pieces of 8 bytes; pieces that agree with these in the first 4; the first ones again. What has the same first 4
 * bytes and was seen last is a match of 4 bytes, what was seen before that one of 8. A byte below 144 takes 8 bits, a
 * match of up to 10 bytes 7 bits and its distance, below 16384, up to 5 + 12. */
TEST(the_longest_match_is_found) {
    enum { PIECES = 499, PIECE = 8, SAME = 4, WIDTH = 3 * PIECES * PIECE / 3 };
    const int turns[3] = { 1, 7, 23 }; /* no two pieces follow each other twice */
    static unsigned char rgb[3 * WIDTH], key[PIECES][PIECE], other[PIECES][PIECE];
    uint64_t state = 11;
    for (int i = 0; i < PIECES * PIECE; i++) {
        key[i / PIECE][i % PIECE] = (unsigned char)(next_random(&state) % 144);
        other[i / PIECE][i % PIECE] = i % PIECE < SAME ? key[i / PIECE][i % PIECE]
                                                       : (unsigned char)(next_random(&state) % 144);
    }
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < PIECES; i++)
            memcpy(rgb + (part * PIECES + i) * PIECE,
                   part == 1 ? other[i * turns[part] % PIECES] : key[i * turns[part] % PIECES],
                   PIECE);
    const size_t match = 7 + 5 + 12, bits = PIECE * 8 + (match + 8 * (PIECE - SAME)) + match;
    const size_t size = round_trip(WIDTH, 1, rgb, "pieces");
    CHECK_MSG(size <= PIECES * bits / 8 + 100, "%zu bytes", size);
}

TEST(what_cannot_be_written) {
    const unsigned char rgb[3] = { 1, 2, 3 };
    io_error e;
    CHECK(io_png_write(in_dir("n.png"), 0, 1, rgb, &e) == IO_E_SIZE);
    CHECK(io_png_write(in_dir("n.png"), 1, 40000, rgb, &e) == IO_E_SIZE);
    CHECK_MSG(strstr(e.text, "1 x 40000 pixels"), "%s", e.text);
    CHECK(files_in_dir("n.png") == 0);
    CHECK(io_png_write("/nowhere/at/all.png", 1, 1, rgb, &e) == IO_E_WRITE);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (!make_dir()) return 1;
    RUN(pictures_read_back);
    RUN(matches_of_all_kinds);
    RUN(plain_pictures_are_small);
    RUN(the_longest_match_is_found);
    RUN(what_cannot_be_written);
    remove_dir();
    return TEST_END();
}
