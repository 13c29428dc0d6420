/* SPDX-License-Identifier: Apache-2.0
 *
 * mergepath.c - one merge of two sorted arrays on the CPU (Projects, see path.h, section 4).
 *
 * tiled   the output is cut into parts, some for each thread; a search on the merge path says where
 *         a part begins in A and in B, and merge.h merges it. Reads and writes every key once.
 * small, naive
 *         Algorithm 2 itself: a search for every key of the output, O(d log d). small takes at most
 *         SHOAL_MERGE_SMALL keys, and one thread.
 */
#include "sort/merge.h"

enum { PART = 1 << 16 }; /* keys of the output that a thread merges at a time, at most */

static size_t mergepath_bytes(const sort_plan *plan) {
    (void)plan;
    return 0;
}

merge_task R(sort_merge_of)(const sort_job *job, int64_t k) {
    const int64_t a = row_begin(job->a, k), b = row_begin(job->b, k);
    const int bytes = job->value_bytes;
    merge_task t = { .a = (const word *)job->a_keys + a,
                     .b = (const word *)job->b_keys + b,
                     .m = row_length(job->a, k),
                     .n = row_length(job->b, k),
                     .keys = (word *)job->keys + a + b,
                     .order = order_of(job) };
    if (bytes) {
        t.a_values = (const char *)job->a_values + bytes * a;
        t.b_values = (const char *)job->b_values + bytes * b;
        t.values = (char *)job->values + bytes * (a + b);
    }
    return t;
}

void R(sort_merge_part)(const merge_task *t, int64_t from, int64_t to, int bytes) {
    merge_part(t, from, to, bytes);
}

void R(sort_merge_all)(const merge_task *t, int bytes, int threads) {
    const int64_t total = t->m + t->n, most = (total + PART - 1) / PART;
    const int64_t parts = most < threads ? most : (most + threads - 1) / threads * threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < parts; p++) R(sort_merge_part)
    (t, total / parts * p + total % parts * p / parts,
     total / parts * (p + 1) + total % parts * (p + 1) / parts, bytes);
}

void R(sort_merge_by_search)(const merge_task *t, int bytes, int threads) {
    const int64_t total = t->m + t->n;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < total; i++) {
        const int64_t y = merge_path(i, t->a, t->m, t->b, t->n, t->order), x = i - y;
        const int first =
            y < t->m && (x == t->n || order_in(t->a[y], t->order) <= order_in(t->b[x], t->order));
        t->keys[i] = first ? t->a[y] : t->b[x];
        if (bytes)
            move_value(t->values, i, first ? t->a_values : t->b_values, first ? y : x, bytes);
    }
}

static shoal_status mergepath_run(sort_plan *plan, const sort_job *job) {
    const merge_task t = R(sort_merge_of)(job, 0);
    if (plan->chosen.variant == MERGEPATH_TILED)
        R(sort_merge_all)(&t, job->value_bytes, plan->head.ctx->threads);
    else
        R(sort_merge_by_search)
    (&t, job->value_bytes, plan->chosen.variant == MERGEPATH_SMALL ? 1 : plan->head.ctx->threads);
    return SHOAL_OK;
}

const sort_method R(sort_mergepath) = { .bytes = mergepath_bytes, .run = mergepath_run };
