/* SPDX-License-Identifier: Apache-2.0
 *
 * columns.h - rows as lanes of vectors: key i of VEC rows becomes column i, in order's integers.
 */
#ifndef SHOAL_SORT_COLUMNS_H
#define SHOAL_SORT_COLUMNS_H

#include <string.h>
#include "sort/lanes.h"

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
            ((word *)&to[c * step])[l] = c < length[l] ? order_in(row[l][c], order) : WORD_MOST;
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

#endif
