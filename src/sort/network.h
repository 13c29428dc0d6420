/* SPDX-License-Identifier: Apache-2.0
 *
 * network.h - vectors of ordered keys, as wide as the instruction level has them, and the sort of VEC
 * rows at once, one per lane, by a network over whole vectors.
 *
 * An exchange puts the lesser of two keys into one vector, the greater into the other, lane by lane. A
 * tagged key has a second vector, which follows it and decides between equal keys; tags are never equal,
 * so that the order is strict and the exchange stable.
 *
 * Column i holds key i of every row, in order.h's integers. Blocks of 8 columns are sorted in
 * registers; then two sorted runs of m columns become one by Batcher's bitonic merge: column i of the
 * first meets column i of the second counted from its end, and halves of halves meet at distances
 * m/2, .., 1. Every exchange puts the lesser key at the lower place, so a missing column stands for
 * infinite keys, and an exchange with one does nothing: any multiple of 8 columns is allowed. The
 * distances 4, 2, 1 are one pass in registers, the others two per pass.
 *
 * n/4 log2(n) (log2(n) + 1) exchanges of vectors for VEC rows of n = 2^k keys.
 */
#ifndef SHOAL_SORT_NETWORK_H
#define SHOAL_SORT_NETWORK_H

#include <string.h>
#include "core/vec.h"
#include "sort/order.h"

#if defined(__SSE4_1__) && !defined(__AVX2__)
#include <smmintrin.h>
#endif

typedef word lanes __attribute__((vector_size(VEC_BYTES)));

ALWAYS_INLINE lanes lanes_all(word value) {
    lanes v = { 0 };
    for (int i = 0; i < VEC; i++) v[i] = value;
    return v;
}

ALWAYS_INLINE lanes lanes_select(lanes mask, lanes u, lanes v) {
#if defined(__aarch64__)
    return (lanes)vbslq_u8((uint8x16_t)mask, (uint8x16_t)u, (uint8x16_t)v);
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return (lanes)_mm256_blendv_epi8((__m256i)v, (__m256i)u, (__m256i)mask);
#elif defined(__SSE4_1__) && !defined(__AVX2__)
    return (lanes)_mm_blendv_epi8((__m128i)v, (__m128i)u, (__m128i)mask);
#else
    return (u & mask) | (v & ~mask);
#endif
}

/* The instruction for `op`, min or max, or else `chosen`. */
#if defined(__AVX512F__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm512_##op##_epi32((__m512i)u, (__m512i)v)
#elif defined(__AVX512F__)
#define LANES_OP(op, u, v, chosen) (lanes) _mm512_##op##_epi64((__m512i)u, (__m512i)v)
#elif defined(__AVX2__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm256_##op##_epi32((__m256i)u, (__m256i)v)
#elif defined(__SSE4_1__) && !defined(__AVX2__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) _mm_##op##_epi32((__m128i)u, (__m128i)v)
#elif defined(__aarch64__) && defined(SHOAL_SINGLE)
#define LANES_OP(op, u, v, chosen) (lanes) v##op##q_s32((int32x4_t)u, (int32x4_t)v)
#else
#define LANES_OP(op, u, v, chosen) chosen
#endif

ALWAYS_INLINE lanes lanes_min(lanes u, lanes v) {
    return LANES_OP(min, u, v, lanes_select(u < v, u, v));
}
ALWAYS_INLINE lanes lanes_max(lanes u, lanes v) {
    return LANES_OP(max, u, v, lanes_select(u < v, v, u));
}

/* keys[low] <= keys[high] from now on; `tagged` is known when this is compiled. */
ALWAYS_INLINE void exchange(lanes *keys, lanes *tags, int64_t low, int64_t high, const int tagged) {
    const lanes u = keys[low], v = keys[high];
    if (tagged) {
        const lanes t = tags[low], s = tags[high];
        const lanes swap = (v < u) | ((v == u) & (s < t));
        keys[low] = lanes_select(swap, v, u), keys[high] = lanes_select(swap, u, v);
        tags[low] = lanes_select(swap, s, t), tags[high] = lanes_select(swap, t, s);
    } else {
        keys[low] = lanes_min(u, v), keys[high] = lanes_max(u, v);
    }
}

/* `plain`: known when this is compiled, order.rest is 0. */
ALWAYS_INLINE lanes lanes_in(lanes raw, sort_order o, const int plain) {
    if (plain) return raw ^ o.flip;
    return raw ^ ((raw >> (WORD_BITS - 1)) & o.rest) ^ o.flip;
}
ALWAYS_INLINE lanes lanes_out(lanes ordered, sort_order o, const int plain) {
    const lanes y = ordered ^ o.flip;
    if (plain) return y;
    return y ^ ((y >> (WORD_BITS - 1)) & o.rest);
}

enum { BLOCK = 8 };

/* ---- rows to columns and back --------------------------------------------------------------- */

typedef struct pieces { /* what is worked on at once: rows, or parts of rows */
    int64_t begin[VEC], length[VEC], first[VEC]; /* first: its place in its row */
    int used;
    int64_t longest;
} pieces;

static inline void add_piece(pieces *p, int64_t begin, int64_t length, int64_t first) {
    if (p->used == 0) p->longest = 0;
    p->begin[p->used] = begin, p->length[p->used] = length, p->first[p->used] = first;
    p->used++;
    if (length > p->longest) p->longest = length;
}

static inline int64_t shortest_piece(const pieces *p) {
    int64_t shortest = p->longest;
    for (int l = 0; l < p->used; l++)
        if (p->length[l] < shortest) shortest = p->length[l];
    return shortest;
}

/* Column c goes to to[c * step], for c below `columns`; behind the end of a row stand the greatest
 * keys. Lanes without a row repeat the first. */
ALWAYS_INLINE void load_columns(const word *keys, const pieces *p, sort_order order,
                                int64_t columns, lanes *to, const int step) {
    const word *row[VEC];
    int64_t length[VEC], c = 0;
    const int64_t shortest = shortest_piece(p);
    for (int l = 0; l < VEC; l++) {
        const int from = l < p->used ? l : 0;
        row[l] = keys + p->begin[from], length[l] = p->length[from];
    }
    for (; c + VEC <= shortest; c += VEC) {
        vec block[VEC];
        for (int l = 0; l < VEC; l++) memcpy(&block[l], row[l] + c, VEC_BYTES);
        vec_transpose(block);
        for (int i = 0; i < VEC; i++) to[(c + i) * step] = lanes_in((lanes)block[i], order, 0);
    }
    for (; c < columns; c++)
        for (int l = 0; l < VEC; l++)
            ((word *)&to[c * step])[l] = c < length[l] ? order_in(row[l][c], order) : WORD_MAX;
}

ALWAYS_INLINE void store_columns(const lanes *from, const pieces *p, sort_order order, word *keys) {
    const int64_t shortest = shortest_piece(p);
    int64_t c = 0;
    for (; c + VEC <= shortest; c += VEC) {
        vec block[VEC];
        for (int i = 0; i < VEC; i++) block[i] = (vec)lanes_out(from[c + i], order, 0);
        vec_transpose(block);
        for (int l = 0; l < p->used; l++) memcpy(keys + p->begin[l] + c, &block[l], VEC_BYTES);
    }
    for (int l = 0; l < p->used; l++)
        for (int64_t i = c; i < p->length[l]; i++)
            keys[p->begin[l] + i] = order_out(((const word *)&from[i])[l], order);
}

/* ---- the network ---------------------------------------------------------------------------- */

ALWAYS_INLINE void sort_4(lanes *k, lanes *t, const int tagged) {
    exchange(k, t, 0, 2, tagged), exchange(k, t, 1, 3, tagged);
    exchange(k, t, 0, 1, tagged), exchange(k, t, 2, 3, tagged);
    exchange(k, t, 1, 2, tagged);
}

/* Batcher's odd-even merge sort of 8: 19 exchanges. */
ALWAYS_INLINE void sort_8(lanes *k, lanes *t, const int tagged) {
    exchange(k, t, 0, 1, tagged), exchange(k, t, 2, 3, tagged);
    exchange(k, t, 4, 5, tagged), exchange(k, t, 6, 7, tagged);
    exchange(k, t, 0, 2, tagged), exchange(k, t, 1, 3, tagged);
    exchange(k, t, 4, 6, tagged), exchange(k, t, 5, 7, tagged);
    exchange(k, t, 1, 2, tagged), exchange(k, t, 5, 6, tagged);
    exchange(k, t, 0, 4, tagged), exchange(k, t, 1, 5, tagged);
    exchange(k, t, 2, 6, tagged), exchange(k, t, 3, 7, tagged);
    exchange(k, t, 2, 4, tagged), exchange(k, t, 3, 5, tagged);
    exchange(k, t, 1, 2, tagged), exchange(k, t, 3, 4, tagged), exchange(k, t, 5, 6, tagged);
}

/* Sorts 8 columns that are a bitonic sequence: distances 4, 2, 1. */
ALWAYS_INLINE void sort_bitonic_8(lanes *k, lanes *t, const int tagged) {
    exchange(k, t, 0, 4, tagged), exchange(k, t, 1, 5, tagged);
    exchange(k, t, 2, 6, tagged), exchange(k, t, 3, 7, tagged);
    exchange(k, t, 0, 2, tagged), exchange(k, t, 1, 3, tagged);
    exchange(k, t, 4, 6, tagged), exchange(k, t, 5, 7, tagged);
    exchange(k, t, 0, 1, tagged), exchange(k, t, 2, 3, tagged);
    exchange(k, t, 4, 5, tagged), exchange(k, t, 6, 7, tagged);
}

/* Loads 8 columns, sorts them by either of the two, stores them. */
ALWAYS_INLINE void block_pass(lanes *keys, lanes *tags, int64_t n, const int whole,
                              const int tagged) {
    for (int64_t at = 0; at < n; at += BLOCK) {
        lanes k[BLOCK], t[BLOCK];
        for (int i = 0; i < BLOCK; i++) k[i] = keys[at + i];
        for (int i = 0; i < BLOCK && tagged; i++) t[i] = tags[at + i];
        if (whole)
            sort_8(k, t, tagged);
        else
            sort_bitonic_8(k, t, tagged);
        for (int i = 0; i < BLOCK; i++) keys[at + i] = k[i];
        for (int i = 0; i < BLOCK && tagged; i++) tags[at + i] = t[i];
    }
}

/* The first round of every merge of runs of m. */
ALWAYS_INLINE void flip_pass(lanes *keys, lanes *tags, int64_t n, int64_t m, const int tagged) {
    for (int64_t at = 0; at < n; at += 2 * m)
        for (int64_t i = at + 2 * m <= n ? 0 : at + 2 * m - n; i < m; i++)
            exchange(keys, tags, at + i, at + 2 * m - 1 - i, tagged);
}

/* Distance h in every group of 2 h columns. */
ALWAYS_INLINE void half_pass(lanes *keys, lanes *tags, int64_t from, int64_t n, int64_t h,
                             const int tagged) {
    for (int64_t at = from; at < n; at += 2 * h)
        for (int64_t i = at; i < at + h && i + h < n; i++) exchange(keys, tags, i, i + h, tagged);
}

/* Distances 2 h and h in every group of 4 h columns. */
ALWAYS_INLINE void quarter_pass(lanes *keys, lanes *tags, int64_t n, int64_t h, const int tagged) {
    int64_t at = 0;
    for (; at + 4 * h <= n; at += 4 * h)
        for (int64_t i = at; i < at + h; i++) {
            lanes k[4] = { keys[i], keys[i + h], keys[i + 2 * h], keys[i + 3 * h] }, t[4];
            for (int c = 0; c < 4 && tagged; c++) t[c] = tags[i + c * h];
            exchange(k, t, 0, 2, tagged), exchange(k, t, 1, 3, tagged);
            exchange(k, t, 0, 1, tagged), exchange(k, t, 2, 3, tagged);
            for (int c = 0; c < 4; c++) keys[i + c * h] = k[c];
            for (int c = 0; c < 4 && tagged; c++) tags[i + c * h] = t[c];
        }
    if (at == n) return;
    half_pass(keys, tags, at, n, 2 * h, tagged);
    half_pass(keys, tags, at, n, h, tagged);
}

/* Columns for rows of n keys: what is added must be filled with the greatest keys. */
static inline int64_t network_columns(int64_t n) {
    return n <= 2 ? n : n <= 4 ? 4 : (n + BLOCK - 1) / BLOCK * BLOCK;
}

ALWAYS_INLINE void network_pass(lanes *keys, lanes *tags, int64_t columns, const int tagged) {
    if (columns < BLOCK) {
        if (columns == 4) sort_4(keys, tags, tagged);
        if (columns == 2) exchange(keys, tags, 0, 1, tagged);
        return;
    }
    block_pass(keys, tags, columns, 1, tagged);
    for (int64_t m = BLOCK; m < columns; m *= 2) {
        flip_pass(keys, tags, columns, m, tagged);
        int64_t h = m / 2;
        for (; h >= 2 * BLOCK; h /= 4) quarter_pass(keys, tags, columns, h / 2, tagged);
        if (h == BLOCK) half_pass(keys, tags, 0, columns, BLOCK, tagged);
        block_pass(keys, tags, columns, 0, tagged);
    }
}

/* Sorts columns that fall and then rise: one merge. Behind such a sequence may stand the greatest
 * keys, so it may have any number of columns that is a multiple of 8. */
ALWAYS_INLINE void bitonic_pass(lanes *keys, int64_t columns) {
    int64_t h = BLOCK / 2;
    while (2 * h < columns) h *= 2;
    for (; h >= 2 * BLOCK; h /= 4) quarter_pass(keys, NULL, columns, h / 2, 0);
    if (h == BLOCK) half_pass(keys, NULL, 0, columns, BLOCK, 0);
    block_pass(keys, NULL, columns, 0, 0);
}

#endif
