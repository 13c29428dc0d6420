/* SPDX-License-Identifier: Apache-2.0
 *
 * philox.h - Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw (2011):
 * ten rounds of two 32x32-bit multiplications turn a 128-bit counter, under a 64-bit key, into four
 * random words. No state: who knows the counter knows the numbers, on any thread of any device. The
 * words are those of Random123 and of cuRAND.
 *
 * Shoal's addresses: key = seed; counter = path (64 bits), step, purpose << 24 | draw << 12 |
 * attempt, with 8 bits of purpose and 12 bits each of draw and attempt. A rejection takes the next
 * attempt and so never shifts another draw.
 */
#ifndef SHOAL_RNG_PHILOX_H
#define SHOAL_RNG_PHILOX_H

#include <stdint.h>
#include "core/hd.h"

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

SHOAL_HD static inline shoal_words shoal_philox_at(uint64_t seed, uint64_t path, uint32_t step,
                                                   uint32_t purpose, uint32_t draw,
                                                   uint32_t attempt) {
    const uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    const uint32_t counter[4] = { (uint32_t)path, (uint32_t)(path >> 32), step,
                                  purpose << 24 | (draw & 0xfffu) << 12 | (attempt & 0xfffu) };
    return shoal_philox(counter, key);
}

/* Uniform in the open interval (0, 1): the middles of 2^52 equal cells, so that u and 1 - u are
 * both exact and neither is ever 0 or 1. Half = 0 or 1: which two words of the block. */
SHOAL_HD static inline double shoal_uniform(const shoal_words *w, int half) {
    uint64_t bits = (uint64_t)w->word[2 * half] << 32 | w->word[2 * half + 1];
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

#endif
