/* SPDX-License-Identifier: Apache-2.0
 *
 * philox.h - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (2011):
 * ten rounds of two 32x32-bit multiplications turn a 128-bit counter, under a 64-bit key, into four
 * random words. There is no state: the counter determines the numbers, on any thread of any device.
 * The words are those of Random123 and of cuRAND.
 *
 * Shoal's addresses: key = seed; counter = path (64 bits), step, purpose << 24 | draw << 12 |
 * attempt, with 8 bits of purpose and 12 bits each of draw and attempt. A rejection takes the next
 * attempt and so never shifts another draw; the upper half of the attempts belongs to the second part
 * of a law that has two. No field overflows into the next: rng.c checks its arguments, modules use
 * constants, and loops over attempts end at SHOAL_ATTEMPTS.
 *
 * Uniforms are the middles of equal cells of (0, 1), 2^52 of them in double and 2^23 in float: u and
 * 1 - u are both exact, and neither is ever 0 or 1.
 */
#ifndef SHOAL_RNG_PHILOX_H
#define SHOAL_RNG_PHILOX_H

#include <stdint.h>
#include "core/hd.h"
#include "core/math.h"

enum { SHOAL_ATTEMPTS = 2048 };

#define SHOAL_PHILOX_GOLDEN 0x9E3779B9u /* golden ratio - 1: from one round's key to the next */
#define SHOAL_PHILOX_ROOT   0xBB67AE85u /* square root of 3 - 1                               */

typedef struct shoal_words { /* one block of the generator */
    uint32_t word[4];
} shoal_words;

SHOAL_HD static inline shoal_words shoal_philox_round(shoal_words c, uint32_t k0, uint32_t k1) {
    const uint64_t m0 = (uint64_t)0xD2511F53u * c.word[0], m1 = (uint64_t)0xCD9E8D57u * c.word[2];
    const shoal_words next = { { (uint32_t)(m1 >> 32) ^ c.word[1] ^ k0, (uint32_t)m1,
                                 (uint32_t)(m0 >> 32) ^ c.word[3] ^ k1, (uint32_t)m0 } };
    return next;
}

/* All of an address but the path and the attempt. The keys of the ten rounds are kept, not made:
 * on the GPU they then are operands in constant memory, and cost nothing. */
typedef struct shoal_stream {
    uint32_t key[10][2];
    uint32_t step;
    uint32_t tag; /* purpose << 24 | draw << 12 */
} shoal_stream;

/* purpose is less than 256, draw less than 4096. */
SHOAL_HD static inline shoal_stream shoal_stream_of(uint64_t seed, uint32_t step, uint32_t purpose,
                                                    uint32_t draw) {
    shoal_stream s;
    for (uint32_t round = 0; round < 10; round++) {
        s.key[round][0] = (uint32_t)seed + round * SHOAL_PHILOX_GOLDEN;
        s.key[round][1] = (uint32_t)(seed >> 32) + round * SHOAL_PHILOX_ROOT;
    }
    s.step = step;
    s.tag = purpose << 24 | draw << 12;
    return s;
}

/* The block of one path and attempt < SHOAL_ATTEMPTS. */
SHOAL_HD static inline shoal_words shoal_block(const shoal_stream *s, uint64_t path,
                                               uint32_t attempt) {
    shoal_words c = { { (uint32_t)path, (uint32_t)(path >> 32), s->step, s->tag | attempt } };
    for (int round = 0; round < 10; round++)
        c = shoal_philox_round(c, s->key[round][0], s->key[round][1]);
    return c;
}

/* The same stream at its other attempts. */
SHOAL_HD static inline shoal_stream shoal_second_part(const shoal_stream *s) {
    shoal_stream second = *s;
    second.tag |= SHOAL_ATTEMPTS;
    return second;
}

/* The generator itself: any counter, any key. */
SHOAL_HD static inline shoal_words shoal_philox(const uint32_t counter[4], const uint32_t key[2]) {
    shoal_stream s = shoal_stream_of((uint64_t)key[1] << 32 | key[0], counter[2], 0, 0);
    s.tag = counter[3];
    return shoal_block(&s, (uint64_t)counter[1] << 32 | counter[0], 0);
}

SHOAL_HD static inline shoal_words shoal_philox_at(uint64_t seed, uint64_t path, uint32_t step,
                                                   uint32_t purpose, uint32_t draw,
                                                   uint32_t attempt) {
    const shoal_stream s = shoal_stream_of(seed, step, purpose, draw);
    return shoal_block(&s, path, attempt);
}

/* 64 bits of a block: half = 0 or 1. */
SHOAL_HD static inline uint64_t shoal_half(const shoal_words *w, int half) {
    return (uint64_t)w->word[2 * half] << 32 | w->word[2 * half + 1];
}

/* The bits become the significand of a number in [1, 2): no conversion, and one subtraction. */
SHOAL_HD static inline double shoal_uniform_of(uint64_t bits) {
    return shoal_from_bits(0x3ff0000000000000u | bits >> 12) - (1.0 - 0x1p-53);
}

SHOAL_HD static inline float shoal_uniformf_of(uint32_t word) {
    return shoal_from_bitsf(0x3f800000u | word >> 9) - (1.0f - 0x1p-24f);
}

SHOAL_HD static inline double shoal_uniform(const shoal_words *w, int half) {
    return shoal_uniform_of(shoal_half(w, half));
}

#endif
