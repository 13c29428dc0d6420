/* SPDX-License-Identifier: Apache-2.0
 *
 * philox.h - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (2011):
 * ten rounds of two 32x32-bit multiplications turn a 128-bit counter, under a 64-bit key, into four
 * random words. No state: who knows the counter knows the numbers, on any thread of any device. The
 * words are those of Random123 and of cuRAND.
 *
 * Shoal's addresses: key = seed; counter = path (64 bits), step, purpose << 24 | draw << 12 |
 * attempt, with 8 bits of purpose and 12 bits each of draw and attempt. A rejection takes the next
 * attempt and so never shifts another draw. Whoever makes a stream checks with shoal_stream_fits()
 * that its parts do, and loops over attempts end at SHOAL_ATTEMPTS: no field runs over into the
 * next.
 *
 * Uniforms are the middles of equal cells of (0, 1), 2^52 of them in double and 2^23 in float: u and
 * 1 - u are both exact, and neither is ever 0 or 1.
 */
#ifndef SHOAL_RNG_PHILOX_H
#define SHOAL_RNG_PHILOX_H

#include <stdint.h>
#include "core/hd.h"
#include "core/math.h"

enum { SHOAL_PURPOSES = 256, SHOAL_DRAWS = 4096, SHOAL_ATTEMPTS = 4096 };

typedef struct shoal_words { /* one block of the generator */
    uint32_t word[4];
} shoal_words;

SHOAL_HD static inline shoal_words shoal_philox(const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t m0 = (uint64_t)0xD2511F53u * c0, m1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(m1 >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(m0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)m1;
        c3 = (uint32_t)m0;
        k0 += 0x9E3779B9u; /* golden ratio - 1 */
        k1 += 0xBB67AE85u; /* square root of 3 - 1 */
    }
    shoal_words out = { { c0, c1, c2, c3 } };
    return out;
}

typedef struct shoal_stream { /* all of an address but the path and the attempt */
    uint32_t key[2];
    uint32_t step;
    uint32_t tag; /* purpose << 24 | draw << 12 */
} shoal_stream;

SHOAL_HD static inline int shoal_stream_fits(uint32_t purpose, uint32_t draw) {
    return purpose < SHOAL_PURPOSES && draw < SHOAL_DRAWS;
}

SHOAL_HD static inline shoal_stream shoal_stream_of(uint64_t seed, uint32_t step, uint32_t purpose,
                                                    uint32_t draw) {
    shoal_stream s = { { (uint32_t)seed, (uint32_t)(seed >> 32) },
                       step,
                       purpose << 24 | draw << 12 };
    return s;
}

/* The block of one path and attempt < SHOAL_ATTEMPTS. */
SHOAL_HD static inline shoal_words shoal_block(const shoal_stream *s, uint64_t path,
                                               uint32_t attempt) {
    const uint32_t counter[4] = { (uint32_t)path, (uint32_t)(path >> 32), s->step,
                                  s->tag | attempt };
    return shoal_philox(counter, s->key);
}

SHOAL_HD static inline shoal_words shoal_philox_at(uint64_t seed, uint64_t path, uint32_t step,
                                                   uint32_t purpose, uint32_t draw,
                                                   uint32_t attempt) {
    const shoal_stream s = shoal_stream_of(seed, step, purpose, draw);
    return shoal_block(&s, path, attempt);
}

/* A number below 2^52 as a double, through the last bits of 2^52: no 64-bit conversion, which
 * few instruction sets have for vectors. */
SHOAL_HD static inline double shoal_double_of(uint64_t below_2_52) {
    return shoal_from_bits(0x4330000000000000u | below_2_52) - 0x1p52;
}

/* 64 bits of a block: half = 0 or 1. */
SHOAL_HD static inline uint64_t shoal_half(const shoal_words *w, int half) {
    return (uint64_t)w->word[2 * half] << 32 | w->word[2 * half + 1];
}

SHOAL_HD static inline double shoal_uniform_of(uint64_t bits) {
    return (shoal_double_of(bits >> 12) + 0.5) * 0x1p-52;
}

SHOAL_HD static inline float shoal_uniformf_of(uint32_t word) {
    return ((float)(int32_t)(word >> 9) + 0.5f) * 0x1p-23f;
}

SHOAL_HD static inline double shoal_uniform(const shoal_words *w, int half) {
    return shoal_uniform_of(shoal_half(w, half));
}

#endif
