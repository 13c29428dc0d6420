/* SPDX-License-Identifier: Apache-2.0
 *
 * png.c - PNG files (W3C, second edition; RFC 1950 and 1951), without zlib.
 *
 *     signature, then chunks: length, name, data, CRC-32 of name and data; big endian
 *     IHDR   width, height, 8 bits, colour type 2 (RGB)
 *     IDAT   a zlib stream of the rows, each after a byte 0: no filter
 *     IEND
 *
 * The stream is one block with the fixed Huffman codes. Matches are looked for in the last places
 * where the next four bytes were seen, and in the row above. Cost: one pass; memory for the rows and
 * for the stream, 9/8 of them at most.
 */
#include "png.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32.h"
#include "file.h"

enum {
    LARGEST = 32767, /* pixels of a side                    */
    WINDOW = 32768,  /* a match lies no further back        */
    SHORTEST = 4,    /* bytes of a match: what is hashed    */
    LONGEST = 258,
    HASHES = 1 << 15,
    TRIES = 64,
    END_OF_BLOCK = 256, /* symbols of deflate */
    FIRST_LENGTH = 257,
    LENGTH_OF_LONGEST = 285
};

/* Places counted from 1: where each hash was seen last, and, for the places of the window, where
 * theirs was before. */
typedef struct places {
    uint32_t last[HASHES], before[WINDOW];
} places;

typedef struct stream {
    unsigned char *bytes;
    size_t size;
    uint32_t bits; /* not yet whole bytes, the first in bit 0 */
    int held;
} stream;

static void put_bits(stream *s, uint32_t value, int count) {
    s->bits |= value << s->held;
    for (s->held += count; s->held >= 8; s->held -= 8, s->bits >>= 8)
        s->bytes[s->size++] = (unsigned char)s->bits;
}

/* Huffman codes go out from their highest bit. */
static void put_code(stream *s, uint32_t code, int count) {
    uint32_t turned = 0;
    for (int i = 0; i < count; i++) turned |= (code >> i & 1) << (count - 1 - i);
    put_bits(s, turned, count);
}

static void put_symbol(stream *s, uint32_t symbol) { /* RFC 1951, section 3.2.6 */
    if (symbol < 144)
        put_code(s, 0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(s, 0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(s, symbol - 256, 7);
    else
        put_code(s, 0xC0 + symbol - 280, 8);
}

/* How many of the low bits are to be dropped for the rest to be below `end`. */
static int low_bits(uint32_t value, uint32_t end) {
    int bits = 0;
    while (value >> bits >= end) bits++;
    return bits;
}

static void put_match(stream *s, uint32_t length, uint32_t distance) { /* section 3.2.5 */
    const uint32_t l = length - 3, d = distance - 1;
    const int more = low_bits(l, 8), far = low_bits(d, 4);
    if (length == LONGEST) {
        put_symbol(s, LENGTH_OF_LONGEST);
    } else {
        put_symbol(s, FIRST_LENGTH + 4 * (uint32_t)more + (l >> more));
        put_bits(s, l & ((1u << more) - 1), more);
    }
    put_code(s, 2 * (uint32_t)far + (d >> far), 5);
    put_bits(s, d & ((1u << far) - 1), far);
}

static size_t match_length(const unsigned char *data, size_t at, size_t earlier, size_t size) {
    const size_t max = size - at < LONGEST ? size - at : LONGEST;
    size_t length = 0;
    while (length < max && data[earlier + length] == data[at + length]) length++;
    return length;
}

static uint32_t hash_at(const unsigned char *data) {
    const uint32_t word =
        data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
    return word * 2654435761u >> 17;
}

/* The longest match of what stands at `at`, 0 if there is none; *from is where it begins. The nearest
 * come first: a shorter distance has a shorter code. */
static size_t find_match(const unsigned char *data, size_t at, size_t size, size_t row,
                         const places *p, size_t *from) {
    size_t best = 0;
    if (at + SHORTEST > size) return 0;
    size_t place = p->last[hash_at(data + at)];
    for (int tries = 0; tries < TRIES && best < LONGEST; tries++) {
        if (place == 0 || at - (place - 1) > WINDOW) break;
        const size_t length = match_length(data, at, place - 1, size);
        if (length > best) best = length, *from = place - 1;
        const size_t next = p->before[(place - 1) % WINDOW];
        if (next >= place) break;
        place = next;
    }
    if (at >= row && row <= WINDOW && best < LONGEST) {
        const size_t length = match_length(data, at, at - row, size);
        if (length > best) best = length, *from = at - row;
    }
    return best >= SHORTEST ? best : 0;
}

static void deflate(const unsigned char *data, size_t size, size_t row, places *p, stream *s) {
    put_bits(s, 1, 1); /* the only block */
    put_bits(s, 1, 2); /* fixed codes    */
    for (size_t at = 0; at < size;) {
        size_t from = 0, length = find_match(data, at, size, row, p, &from);
        if (length > 0)
            put_match(s, (uint32_t)length, (uint32_t)(at - from));
        else
            put_symbol(s, data[at]);
        const size_t next = at + (length > 0 ? length : 1);
        for (; at < next; at++) {
            if (at + SHORTEST > size) continue;
            uint32_t *last = &p->last[hash_at(data + at)];
            p->before[at % WINDOW] = *last;
            *last = (uint32_t)at + 1;
        }
    }
    put_symbol(s, END_OF_BLOCK);
    if (s->held > 0) put_bits(s, 0, 8 - s->held);
}

static void big_endian(uint32_t value, unsigned char *to) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(value >> (24 - 8 * i));
}

static uint32_t adler32(const unsigned char *data, size_t size) {
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void write_chunk(FILE *file, const char *name, const unsigned char *data, size_t size) {
    unsigned char head[8], tail[4];
    big_endian((uint32_t)size, head);
    memcpy(head + 4, name, 4);
    big_endian(shoal_crc32(shoal_crc32(0, head + 4, 4), data, size), tail);
    fwrite(head, 1, sizeof head, file);
    fwrite(data, 1, size, file);
    fwrite(tail, 1, sizeof tail, file);
}

int io_png_write(const char *path, int width, int height, const unsigned char *rgb, io_error *err) {
    if (width < 1 || height < 1 || width > LARGEST || height > LARGEST)
        return io_fail(err, IO_E_SIZE, "%s: a picture of %d x %d pixels is not possible", path,
                       width, height);
    const size_t row = 3 * (size_t)width + 1, size = row * (size_t)height;
    unsigned char *rows = malloc(size), head[13];
    stream s = { .bytes = malloc(size + size / 8 + 64) };
    places *seen = calloc(1, sizeof *seen);
    io_out *out = NULL;
    int status = IO_OK;
    if (!rows || !s.bytes || !seen || size > UINT32_MAX / 2)
        status = io_fail(err, IO_E_MEMORY, "%s: no memory for the picture", path);
    if (status == IO_OK) status = io_out_open(path, &out, err);
    if (status == IO_OK) {
        for (size_t i = 0; i < (size_t)height; i++) {
            rows[i * row] = 0;
            memcpy(rows + i * row + 1, rgb + i * (row - 1), row - 1);
        }
        s.bytes[s.size++] = 0x78; /* deflate, a window of 32 KiB */
        s.bytes[s.size++] = 0x01;
        deflate(rows, size, row, seen, &s);
        big_endian(adler32(rows, size), s.bytes + s.size);
        big_endian((uint32_t)width, head);
        big_endian((uint32_t)height, head + 4);
        memcpy(head + 8, "\x08\x02\x00\x00\x00", 5);
        fwrite("\x89PNG\r\n\x1a\n", 1, 8, io_out_file(out));
        write_chunk(io_out_file(out), "IHDR", head, sizeof head);
        write_chunk(io_out_file(out), "IDAT", s.bytes, s.size + 4);
        write_chunk(io_out_file(out), "IEND", head, 0);
        status = io_out_commit(out, err);
    }
    free(rows);
    free(s.bytes);
    free(seen);
    return status;
}
