/* SPDX-License-Identifier: Apache-2.0
 *
 * mergepath.h - the CPU's merges as the files of sort share them; mergepath.c has them.
 */
#ifndef SHOAL_SORT_MERGEPATH_H
#define SHOAL_SORT_MERGEPATH_H

#include <string.h>
#include "core/loops.h"
#include "sort/order.h"
#include "sort/plan.h"

typedef struct merge_task { /* values NULL: none */
    const word *a, *b;
    int64_t m, n;
    const void *a_values, *b_values;
    word *keys;
    void *values;
    sort_order order;
} merge_task;

static inline sort_order order_of(const sort_job *job) {
    return (sort_order){ (word)job->rest, (word)job->flip };
}

/* `bytes` is known when this is compiled, or should be. */
ALWAYS_INLINE void move_value(void *to, int64_t i, const void *from, int64_t j, const int bytes) {
    if (bytes == 4)
        memcpy((char *)to + 4 * i, (const char *)from + 4 * j, 4);
    else if (bytes == 8)
        memcpy((char *)to + 8 * i, (const char *)from + 8 * j, 8);
}

#define merge_of        R(sort_merge_of)
#define merge_part      R(sort_merge_part)
#define merge_all       R(sort_merge_all)
#define merge_by_search R(sort_merge_by_search)

/* Pair k of a merge job. */
merge_task merge_of(const sort_job *job, int64_t k);
/* Outputs from .. to - 1 of a merge. */
void merge_part(const merge_task *t, int64_t from, int64_t to, int bytes);
/* All of it, by several threads. */
void merge_all(const shoal_context *ctx, const merge_task *t, int bytes, int threads);
/* The same by a search for each key. */
void merge_by_search(const merge_task *t, int bytes, int threads);

#endif
