/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.h - the CPU's merge of two sorted arrays, any part of it.
 *
 * A merge decides a key at a time, and each decision waits for the loads that the last one made
 * known: about six cycles of waiting for two of work. So a part is cut at three points of the merge
 * path and its quarters are merged in turn, one key of each, without branches: whether a key comes
 * from A is a number that is added to an index. As long as neither array can end within the next
 * steps, nothing is tested; then they are counted anew.
 *
 * Keys are read and written once, values too; 4 searches of log2 n steps a part.
 */
#ifndef SHOAL_SORT_MERGE_H
#define SHOAL_SORT_MERGE_H

#include <string.h>
#include "sort/bitonic.h"
#include "sort/mergepath.h"

/* MANY: so many keys of one array for each of the other are copied rather than merged. */
enum { CHAINS = 4, SHORTEST_CHAIN = 32, PIECE = 1 << 16, MANY = 64 };

typedef struct merge_place { /* i of A and j of B are behind; outputs at .. end - 1 are ahead */
    int64_t i, j, at, end;
} merge_place;

static inline void move_values(void *to, int64_t i, const void *from, int64_t j, int64_t count,
                               int bytes) {
    if (bytes && count > 0)
        memcpy((char *)to + bytes * i, (const char *)from + bytes * j, (size_t)(count * bytes));
}

/* Steps in which neither array can end. */
ALWAYS_INLINE int64_t free_steps(const merge_task *t, const merge_place *p) {
    const int64_t left = t->m - p->i < t->n - p->j ? t->m - p->i : t->n - p->j;
    return left < p->end - p->at ? left : p->end - p->at;
}

/* `steps` keys of each of the `chains`, in turn. */
ALWAYS_INLINE void merge_free(const merge_task *t, merge_place *places, int64_t steps,
                              const int chains, const int bytes, const int plain) {
    const word *const a = t->a, *const b = t->b;
    const void *const a_values = t->a_values, *const b_values = t->b_values;
    word *const keys = t->keys;
    void *const values = t->values;
    const sort_order order = t->order;
    int64_t i[CHAINS], j[CHAINS], at[CHAINS];
    for (int c = 0; c < chains; c++) i[c] = places[c].i, j[c] = places[c].j, at[c] = places[c].at;
    for (int64_t s = 0; s < steps; s++)
        for (int c = 0; c < chains; c++) {
            const word u = a[i[c]], v = b[j[c]];
            const int first = ordered(u, order, plain) <= ordered(v, order, plain);
            keys[at[c] + s] = v ^ ((u ^ v) & -(word)first); /* a choice that cannot be a branch */
            if (bytes) {
                const uintptr_t p = (uintptr_t)a_values + (uintptr_t)(i[c] * bytes);
                const uintptr_t q = (uintptr_t)b_values + (uintptr_t)(j[c] * bytes);
                move_value(values, at[c] + s, (void *)(q ^ ((p ^ q) & -(uintptr_t)first)), 0,
                           bytes);
            }
            i[c] += first;
            j[c] += 1 - first;
        }
    for (int c = 0; c < chains; c++)
        places[c] = (merge_place){ i[c], j[c], at[c] + steps, places[c].end };
}

/* The rest of one chain: what is left when an array has ended is copied. */
ALWAYS_INLINE void merge_alone(const merge_task *t, merge_place *p, const int bytes,
                               const int plain) {
    for (int64_t steps; (steps = free_steps(t, p)) > 0;) merge_free(t, p, steps, 1, bytes, plain);
    const int64_t left = p->end - p->at;
    if (left <= 0) return;
    const int from_a = p->j == t->n;
    const word *keys = from_a ? t->a + p->i : t->b + p->j;
    memcpy(t->keys + p->at, keys, (size_t)left * sizeof *keys);
    move_values(t->values, p->at, from_a ? t->a_values : t->b_values, from_a ? p->i : p->j, left,
                bytes);
}

ALWAYS_INLINE void merge_chains(const merge_task *t, int64_t from, int64_t to, const int bytes,
                                const int plain) {
    merge_place places[CHAINS];
    const int chains = to - from >= CHAINS * SHORTEST_CHAIN ? CHAINS : 1;
    int64_t steps = to - from;
    for (int c = 0; c < chains; c++) {
        const int64_t at = from + (to - from) * c / chains;
        const int64_t y = merge_path(at, t->a, t->m, t->b, t->n, t->order);
        places[c] = (merge_place){ y, at - y, at, from + (to - from) * (c + 1) / chains };
    }
    if (chains == CHAINS)
        while (steps > 0) {
            for (int c = 0; c < CHAINS; c++) {
                const int64_t least = free_steps(t, &places[c]);
                steps = least < steps ? least : steps;
            }
            merge_free(t, places, steps, CHAINS, bytes, plain);
        }
    for (int c = 0; c < chains; c++) merge_alone(t, &places[c], bytes, plain);
}

ALWAYS_INLINE int goes_before(word raw, word key, int ties, sort_order order) {
    const word seen = order_in(raw, order);
    return seen < key || (ties && seen == key);
}

/* The end of those among the keys low .. high - 1 that stand before `key`: those below it and, if
 * `ties`, those equal to it. Looks at places 1, 2, 4, .. first, as the answer is mostly near. */
static inline int64_t before(const word *keys, int64_t low, int64_t high, word key, int ties,
                             sort_order order) {
    int64_t step = 1;
    while (step <= high - low && goes_before(keys[low + step - 1], key, ties, order)) step *= 2;
    int64_t end = step <= high - low ? low + step : high;
    low += step / 2;
    while (low < end) {
        const int64_t middle = low + (end - low) / 2;
        if (goes_before(keys[middle], key, ties, order))
            low = middle + 1;
        else
            end = middle;
    }
    return low;
}

static inline void copy_run(const merge_task *t, merge_place *p, int from_a, int64_t count,
                            int bytes) {
    const int64_t at = from_a ? p->i : p->j;
    if (count <= 0) return;
    memcpy(t->keys + p->at, (from_a ? t->a : t->b) + at, (size_t)count * sizeof(word));
    move_values(t->values, p->at, from_a ? t->a_values : t->b_values, at, count, bytes);
    *(from_a ? &p->i : &p->j) += count;
    p->at += count;
}

/* Where one array has few keys and the other many: each of the few is looked for, and what lies
 * between is copied. y keys of A and x of B are to be merged from the place on. */
static void merge_few(const merge_task *t, merge_place p, int64_t y, int64_t x, int bytes) {
    const int few_a = y < x;
    const word *few = few_a ? t->a + p.i : t->b + p.j;
    const int64_t count = few_a ? y : x, y_end = p.i + y, x_end = p.j + x;
    for (int64_t k = 0; k < count; k++) {
        const word key = order_in(few[k], t->order);
        if (few_a)
            copy_run(t, &p, 0, before(t->b, p.j, x_end, key, 0, t->order) - p.j, bytes);
        else
            copy_run(t, &p, 1, before(t->a, p.i, y_end, key, 1, t->order) - p.i, bytes);
        copy_run(t, &p, few_a, 1, bytes);
    }
    copy_run(t, &p, !few_a, few_a ? x_end - p.j : y_end - p.i, bytes);
}

/* Keys alone: by vectors where they are wide enough, and the rest of each stream, which begins at
 * a point of the merge path, key by key. */
ALWAYS_INLINE void merge_keys(const merge_task *t, int64_t from, int64_t to, const int plain) {
    stream s[STREAMS];
    for (int c = 0; c < STREAMS; c++) {
        const int64_t at = from + (to - from) * c / STREAMS;
        const int64_t y = merge_path(at, t->a, t->m, t->b, t->n, t->order);
        s[c] = (stream){ y, at - y, at, from + (to - from) * (c + 1) / STREAMS };
    }
    merge_streams(t->a, t->m, t->b, t->n, t->keys, t->order, s, plain);
    for (int c = 0; c < STREAMS; c++) merge_chains(t, s[c].at, s[c].end, 0, plain);
}

static void merge_many(const merge_task *t, int64_t from, int64_t to, int bytes) {
    const int vectors = VEC >= 4 && to - from >= 4 * STREAMS * VEC;
    if (bytes == 4)
        merge_chains(t, from, to, 4, 0);
    else if (bytes == 8)
        merge_chains(t, from, to, 8, 0);
    else if (t->order.rest)
        vectors ? merge_keys(t, from, to, 0) : merge_chains(t, from, to, 0, 0);
    else
        vectors ? merge_keys(t, from, to, 1) : merge_chains(t, from, to, 0, 1);
}

/* Outputs from .. to - 1 of the merge. */
static void merge_part(const merge_task *t, int64_t from, int64_t to, int bytes) {
    for (int64_t end; from < to; from = end) {
        end = to - from > PIECE ? from + PIECE : to;
        const int64_t y = merge_path(from, t->a, t->m, t->b, t->n, t->order);
        const int64_t found = merge_path(end, t->a, t->m, t->b, t->n, t->order);
        const int64_t from_a = path_onward(found, y, from, end, t->m, t->n) - y;
        const int64_t from_b = end - from - from_a;
        if (from_a * MANY <= from_b || from_b * MANY <= from_a)
            merge_few(t, (merge_place){ y, from - y, from, end }, from_a, from_b, bytes);
        else
            merge_many(t, from, end, bytes);
    }
}

#endif
