/* SPDX-License-Identifier: Apache-2.0
 *
 * bitonic.h - the CPU's merge of keys without values, a vector at a time.
 *
 * VEC keys are carried. A step reads the next VEC keys of the array whose next key is the lesser,
 * merges them with those carried, writes the lesser half and carries the other: whatever the keys
 * are, no branch depends on them. Two sorted vectors, the second in reverse, are a bitonic sequence
 * of 2 VEC keys, and log2(2 VEC) rounds sort it, all alike in Stone's form (1971): the lesser and
 * the greater of the two lane by lane, then a perfect shuffle of both. A round has to wait for the
 * last one, so STREAMS parts of a merge take turns.
 *
 * It ends where an array has less than a vector left; what remains is merged key by key (merge.h).
 */
#ifndef SHOAL_SORT_BITONIC_H
#define SHOAL_SORT_BITONIC_H

#include <string.h>
#include "sort/lanes.h"
#include "sort/path.h"

enum { STREAMS = 2 };

ALWAYS_INLINE lanes lanes_reversed(lanes v) {
#if defined(__clang__)
    lanes r;
    for (int i = 0; i < VEC; i++) r[i] = v[VEC - 1 - i];
    return r;
#else
    lanes places;
    for (int i = 0; i < VEC; i++) places[i] = VEC - 1 - i;
    return __builtin_shuffle(v, places);
#endif
}

/* Two sorted vectors become one sorted sequence. */
ALWAYS_INLINE void merge_vectors(lanes *low, lanes *high) {
    lanes u = *low, v = lanes_reversed(*high);
    for (int round = 1; round <= VEC; round *= 2) {
        vec less, more;
        vec_zip((vec)lanes_min(u, v), (vec)lanes_max(u, v), &less, &more);
        u = (lanes)less, v = (lanes)more;
    }
    *low = u, *high = v;
}

typedef struct stream { /* outputs at .. end - 1 are to be made; i of A and j of B are read */
    int64_t i, j, at, end;
} stream;

/* Steps in which no array can end. */
ALWAYS_INLINE int64_t vector_steps(const stream *s, int64_t m, int64_t n) {
    const int64_t left = m - s->i < n - s->j ? m - s->i : n - s->j;
    const int64_t least = left < s->end - s->at ? left : s->end - s->at;
    return least / VEC;
}

/* As far as it goes without an array's end: `at` of each stream moves on. */
ALWAYS_INLINE void merge_streams(const word *a, int64_t m, const word *b, int64_t n, word *keys,
                                 sort_order order, stream *s, const int plain) {
    lanes carried[STREAMS];
    int64_t steps;
    for (int c = 0; c < STREAMS; c++) { /* A begins, unless it has ended */
        if (m - s[c].i < VEC) return;
        memcpy(&carried[c], a + s[c].i, VEC_BYTES);
        carried[c] = lanes_in(carried[c], order, plain);
        s[c].i += VEC;
    }
    do {
        steps = vector_steps(&s[0], m, n);
        for (int c = 1; c < STREAMS; c++) {
            const int64_t others = vector_steps(&s[c], m, n);
            steps = others < steps ? others : steps;
        }
        for (int64_t step = 0; step < steps; step++)
            for (int c = 0; c < STREAMS; c++) {
                const word u = ordered(a[s[c].i], order, plain);
                const word v = ordered(b[s[c].j], order, plain);
                const int64_t first = u <= v;
                const uintptr_t p = (uintptr_t)(a + s[c].i), q = (uintptr_t)(b + s[c].j);
                lanes next;
                memcpy(&next, (const void *)(q ^ ((p ^ q) & -(uintptr_t)first)), VEC_BYTES);
                next = lanes_in(next, order, plain);
                merge_vectors(&carried[c], &next);
                const lanes out = lanes_out(carried[c], order, plain);
                memcpy(keys + s[c].at, &out, VEC_BYTES);
                carried[c] = next;
                s[c].i += first * VEC;
                s[c].j += (1 - first) * VEC;
                s[c].at += VEC;
            }
    } while (steps > 0);
}

#endif
