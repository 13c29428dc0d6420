/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_rows.h - what the tests of sort share: keys of all types and kinds, an order that is written
 * down independently, arrays in the context's memory with guards on both sides.
 */
#ifndef SHOAL_SORT_ROWS_H
#define SHOAL_SORT_ROWS_H

#include "targets.h"
#include <stdint.h>

enum { KEYS = 6, GUARD = 64 };

typedef enum kind {
    RANDOM,
    ALL_EQUAL,
    SORTED,
    REVERSED,
    TWO_VALUES,
    FEW_VALUES,
    SPECIAL, /* NaNs of both signs and many payloads, infinities, both zeros, subnormals; ends */
    KINDS
} kind;

static const char *const kind_names[KINDS] = { "random",     "all equal",  "sorted", "reversed",
                                               "two values", "few values", "special" };

static inline uint64_t random_bits(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int is_float(shoal_key key) { return key == SHOAL_KEY_F32 || key == SHOAL_KEY_F64; }
static inline int is_signed(shoal_key key) { return key == SHOAL_KEY_I32 || key == SHOAL_KEY_I64; }
static inline int bits_of(shoal_key key) { return (int)shoal_key_bytes(key) * 8; }

static inline uint64_t key_at(shoal_key key, const void *keys, int64_t i) {
    if (bits_of(key) == 64) return ((const uint64_t *)keys)[i];
    return ((const uint32_t *)keys)[i];
}
static inline void set_key(shoal_key key, void *keys, int64_t i, uint64_t bits) {
    if (bits_of(key) == 64)
        ((uint64_t *)keys)[i] = bits;
    else
        ((uint32_t *)keys)[i] = (uint32_t)bits;
}

/* -1, 0, 1: sign first, then size, which counts backwards below zero; two's complement for integers
 * with a sign. */
static inline int compare_keys(shoal_key key, uint64_t u, uint64_t v) {
    const int bits = bits_of(key);
    const int u_minus = (u >> (bits - 1)) & 1, v_minus = (v >> (bits - 1)) & 1;
    if (u == v) return 0;
    if (!is_float(key) && !is_signed(key)) return u < v ? -1 : 1;
    if (u_minus != v_minus) return u_minus ? -1 : 1;
    const int less = u < v;
    return (is_float(key) && u_minus) != less ? -1 : 1;
}

static inline uint64_t special_key(shoal_key key, uint64_t random) {
    const int bits = bits_of(key), fraction = bits == 64 ? 52 : 23;
    const uint64_t sign = (random >> 8 & 1) << (bits - 1);
    const uint64_t infinity = ((1ull << (bits - 1 - fraction)) - 1) << fraction;
    const uint64_t payload = random >> 12 & ((1ull << fraction) - 1);
    switch (random % 6) {
    case 0: return sign;                          /* 0; INT_MIN        */
    case 1: return sign | infinity;               /* infinity          */
    case 2: return sign | infinity | payload | 1; /* NaN               */
    case 3: return sign | (payload & 7);          /* subnormal         */
    case 4: return sign | (random >> 9 & 1 ? (1ull << (bits - 1)) - 1 : infinity - 1);
    default: return bits == 64 ? random : random & 0xffffffffu;
    }
}

typedef struct sortable { /* for qsort */
    uint64_t key;
    int64_t place;
    int descending;
    shoal_key type;
} sortable;

static inline int compare_sortables(const void *p, const void *q) {
    const sortable *u = p, *v = q;
    const int c = compare_keys(u->type, u->key, v->key);
    if (c) return u->descending ? -c : c;
    return u->place < v->place ? -1 : u->place > v->place;
}

/* The n keys of a row in order, with the places they had; equal keys as they came. */
static inline sortable *sorted_row(shoal_key key, const void *keys, int64_t begin, int64_t n,
                                   int descending) {
    sortable *row = new_array((size_t)n, sizeof *row);
    for (int64_t i = 0; i < n; i++)
        row[i] = (sortable){ key_at(key, keys, begin + i), i, descending, key };
    qsort(row, (size_t)n, sizeof *row, compare_sortables);
    return row;
}

static inline void fill_keys(shoal_key key, kind k, void *keys, int64_t begin, int64_t n,
                             uint64_t seed) {
    uint64_t state = seed * 977 + (uint64_t)k, two[2];
    for (int i = 0; i < 2; i++) two[i] = random_bits(&state);
    for (int64_t i = 0; i < n; i++) {
        const uint64_t random = random_bits(&state);
        uint64_t bits = random;
        if (k == ALL_EQUAL) bits = two[0];
        if (k == TWO_VALUES) bits = two[random & 1];
        if (k == FEW_VALUES) bits = random % 7;
        if (k == SPECIAL) bits = special_key(key, random);
        set_key(key, keys, begin + i, bits);
    }
    if (k != SORTED && k != REVERSED) return;
    sortable *row = sorted_row(key, keys, begin, n, k == REVERSED);
    for (int64_t i = 0; i < n; i++) set_key(key, keys, begin + i, row[i].key);
    free(row);
}

/* An array in the context's memory, `shift` bytes after a multiple of 256, between guards of a known
 * byte; its content starts as that byte too, or as what is given. */
typedef struct held {
    shoal_context *ctx;
    unsigned char *base;
    size_t bytes, shift;
} held;

enum { FILLING = 0xa5 };

static inline void *at(const held *h) { return h->base + GUARD + h->shift; }

static inline held hold(shoal_context *ctx, const void *content, size_t bytes, size_t shift) {
    const size_t all = bytes + shift + 2 * GUARD;
    unsigned char *host = new_array(all, 1);
    held h = { .ctx = ctx, .bytes = bytes, .shift = shift };
    memset(host, FILLING, all);
    if (content) memcpy(host + GUARD + shift, content, bytes);
    CHECK(shoal_alloc(ctx, all, (void **)&h.base) == SHOAL_OK);
    CHECK(shoal_copy(ctx, h.base, host, all) == SHOAL_OK);
    free(host);
    return h;
}

/* Hands the content back, from malloc, and frees the array. */
static inline void *let_go(held *h, const char *what) {
    const size_t all = h->bytes + h->shift + 2 * GUARD;
    unsigned char *host = new_array(all, 1), *content = new_array(h->bytes, 1);
    int clean = 1;
    CHECK(shoal_copy(h->ctx, host, h->base, all) == SHOAL_OK);
    for (size_t i = 0; i < all; i++)
        if (i < GUARD + h->shift || i >= all - GUARD) clean &= host[i] == FILLING;
    CHECK_MSG(clean, "%s: written outside the array", what);
    memcpy(content, host + GUARD + h->shift, h->bytes);
    free(host);
    shoal_free(h->ctx, h->base);
    return content;
}

#endif
