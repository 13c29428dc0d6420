/* SPDX-License-Identifier: Apache-2.0
 *
 * philox_lanes.h - many blocks of Philox at once on the CPU, one block per vector lane.
 *
 * On x86 a lane has 64 bits: the multiplication 32 x 32 -> 64 bits takes the lower halves of such
 * lanes and ignores the upper ones, so nothing is ever cleared or shuffled. A round is 2 products, 2
 * shifts and 2 XORs of three for as many blocks as there are lanes. Even and odd blocks are in
 * different vectors, and are interleaved at the end. Elsewhere the compiler vectorises the plain loop.
 * Either way CHAINS rounds are under way at a time: one works while the others wait for their products.
 */
#ifndef SHOAL_RNG_PHILOX_LANES_H
#define SHOAL_RNG_PHILOX_LANES_H

#include "core/loops.h"
#include "rng/philox.h"

enum { PHILOX_CHAINS = 4 };

#if defined(__SSE4_1__) && defined(__GNUC__)
#include <immintrin.h>

#if defined(__AVX512F__)
enum { PHILOX_LANES = 8 };
typedef __m512i philox_vector;
#define PHILOX_PRODUCT(a, b) (philox_lanes) _mm512_mul_epu32((philox_vector)(a), (philox_vector)(b))
#elif defined(__AVX2__)
enum { PHILOX_LANES = 4 };
typedef __m256i philox_vector;
#define PHILOX_PRODUCT(a, b) (philox_lanes) _mm256_mul_epu32((philox_vector)(a), (philox_vector)(b))
#else
enum { PHILOX_LANES = 2 };
typedef __m128i philox_vector;
#define PHILOX_PRODUCT(a, b) (philox_lanes) _mm_mul_epu32((philox_vector)(a), (philox_vector)(b))
#endif

typedef uint64_t philox_lanes __attribute__((vector_size(8 * PHILOX_LANES), aligned(4), may_alias));

/* w[j][i] = word j of the block of path first + i, i < n. first is a multiple of n and n a power of
 * two from 64 on, so that only the lowest word of the counter changes. w[j] need not be aligned. */
static inline void shoal_philox_blocks(const shoal_stream *s, uint64_t first, uint32_t attempt,
                                       int n, uint32_t *const w[4]) {
    enum { STEP = PHILOX_CHAINS * PHILOX_LANES }; /* blocks at a time */
    philox_lanes even = { 0 }; /* gcc at -O1 sees no loop that fills it */
    for (int l = 0; l < PHILOX_LANES; l++) even[l] = (uint32_t)first + 2 * (uint32_t)l;
    for (int i = 0; i < n; i += STEP) {
        philox_lanes c[PHILOX_CHAINS][4];
        UNROLLED_4
        for (int k = 0; k < PHILOX_CHAINS; k++) { /* chains 2 k and 2 k + 1: even and odd blocks */
            c[k][0] = even + (uint64_t)(i + k / 2 * 2 * PHILOX_LANES + k % 2);
            c[k][1] = (philox_lanes){ 0 } + (first >> 32);
            c[k][2] = (philox_lanes){ 0 } + s->step;
            c[k][3] = (philox_lanes){ 0 } + (s->tag | attempt);
        }
        for (int round = 0; round < 10; round++) {
            const philox_lanes k0 = (philox_lanes){ 0 } + s->key[round][0];
            const philox_lanes k1 = (philox_lanes){ 0 } + s->key[round][1];
            const philox_lanes f0 = (philox_lanes){ 0 } + 0xD2511F53u;
            const philox_lanes f1 = (philox_lanes){ 0 } + 0xCD9E8D57u;
            UNROLLED_4
            for (int k = 0; k < PHILOX_CHAINS; k++) {
                const philox_lanes m0 = PHILOX_PRODUCT(f0, c[k][0]),
                                   m1 = PHILOX_PRODUCT(f1, c[k][2]);
                c[k][0] = m1 >> 32 ^ c[k][1] ^ k0;
                c[k][2] = m0 >> 32 ^ c[k][3] ^ k1;
                c[k][1] = m1; /* the upper halves are not looked at */
                c[k][3] = m0;
            }
        }
        UNROLLED_4
        for (int k = 0; k < PHILOX_CHAINS; k += 2)
            for (int j = 0; j < 4; j++)
                *(philox_lanes *)(w[j] + i + k * PHILOX_LANES) =
                    (c[k][j] & 0xffffffffu) | c[k + 1][j] << 32;
    }
}

#else

static inline void shoal_philox_blocks(const shoal_stream *s, uint64_t first, uint32_t attempt,
                                       int n, uint32_t *const w[4]) {
    const uint32_t low = (uint32_t)first, high = (uint32_t)(first >> 32), step = s->step,
                   tag = s->tag | attempt, key0 = s->key[0][0], key1 = s->key[0][1];
    const int part = n / PHILOX_CHAINS;
    uint32_t *w0 = w[0], *w1 = w[1], *w2 = w[2], *w3 = w[3];
    INDEPENDENT for (int i = 0; i < part; i++) {
        UNROLLED_4
        for (int k = 0; k < PHILOX_CHAINS; k++) {
            const int at = i + k * part;
            uint32_t k0 = key0, k1 = key1; /* made, not loaded: fewer registers, and faster */
            shoal_words c = { { low + (uint32_t)at, high, step, tag } };
            for (int round = 0; round < 10; round++) {
                c = shoal_philox_round(c, k0, k1);
                k0 += SHOAL_PHILOX_GOLDEN, k1 += SHOAL_PHILOX_ROOT;
            }
            w0[at] = c.word[0];
            w1[at] = c.word[1];
            w2[at] = c.word[2];
            w3[at] = c.word[3];
        }
    }
}

#endif
#endif
