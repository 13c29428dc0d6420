/* SPDX-License-Identifier: Apache-2.0
 *
 * batchmerge.c - many merges on the CPU, pair after pair (Projects, see path.h, section 5, question 2).
 *
 * narrow  threads share the pairs and mergepath.c merges each; with fewer pairs than threads, all
 *         threads share each pair. Reads and writes every key once.
 * network the same, except that VEC short pairs of one size at a time, keys alone, are lanes of
 *         vectors: A falling and then B rising is what one merge of network.h sorts, d/2 log2(d)
 *         exchanges of vectors.
 * wide    a search for every key of the output, as one thread per key would do on a GPU.
 */
#include "sort/mergepath.h"
#include "sort/network.h"

enum { SHORT = 256 }; /* keys of a pair that is merged as a lane, at most */

static int by_lanes(const sort_plan *plan) {
    const sort_job *job = &plan->job;
    return plan->chosen.variant == BATCHMERGE_NETWORK && !job->a.offsets && !job->value_bytes &&
           plan->longest <= SHORT && plan->longest > 1 && job->count >= VEC;
}

/* Columns for each thread. */
static size_t scratch_of(const sort_plan *plan) {
    return (size_t)(plan->longest + BLOCK - 1) / BLOCK * BLOCK * VEC_BYTES;
}

static size_t batchmerge_bytes(const sort_plan *plan) {
    return by_lanes(plan) ? scratch_of(plan) * (size_t)plan->head.ctx->threads : 0;
}

static void merge_lanes(const sort_job *job, int64_t first, lanes *columns) {
    const int64_t m = job->a.length, n = job->b.length;
    const int64_t all = (m + n + BLOCK - 1) / BLOCK * BLOCK;
    const sort_order order = order_of(job);
    pieces a = { .used = 0 }, b = { .used = 0 }, out = { .used = 0 };
    for (int64_t k = first; k < job->count && a.used < VEC; k++) {
        add_piece(&a, k * m, m, 0);
        add_piece(&b, k * n, n, 0);
        add_piece(&out, k * (m + n), m + n, 0);
    }
    load_columns(job->a_keys, &a, order, m, columns + m - 1, -1);
    load_columns(job->b_keys, &b, order, all - m, columns + m, 1);
    bitonic_pass(columns, all);
    store_columns(columns, &out, order, job->keys);
}

static void merge_by_lanes(sort_plan *plan, const sort_job *job) {
    const int slots = plan->head.ctx->threads;
    const int64_t groups = (job->count + VEC - 1) / VEC;
#pragma omp parallel for num_threads(slots) schedule(static)
    for (int slot = 0; slot < slots; slot++) {
        lanes *columns = (lanes *)((char *)job->work + scratch_of(plan) * (size_t)slot);
        const int64_t first = groups * slot / slots, past = groups * (slot + 1) / slots;
        for (int64_t g = first; g < past; g++) {
            if (shoal_is_cancelled(plan->head.ctx, g - first, past - first)) break;
            merge_lanes(job, g * VEC, columns);
        }
    }
}

static void merge_pairs(sort_plan *plan, const sort_job *job) {
    const int wide = plan->chosen.variant == BATCHMERGE_WIDE, threads = plan->head.ctx->threads;
    const int one_by_one = job->count < threads;
    const int across = one_by_one ? 1 : threads, within = one_by_one ? threads : 1;
#pragma omp parallel for num_threads(across) schedule(static)
    for (int64_t k = 0; k < job->count; k++) {
        const merge_task t = merge_of(job, k);
        if (shoal_is_cancelled(plan->head.ctx, k, job->count / across + 1)) continue;
        if (wide)
            merge_by_search(&t, job->value_bytes, within);
        else if (within > 1)
            merge_all(plan->head.ctx, &t, job->value_bytes, within);
        else
            merge_part(&t, 0, t.m + t.n, job->value_bytes);
    }
}

static shoal_status batchmerge_run(sort_plan *plan, const sort_job *job) {
    if (by_lanes(plan))
        merge_by_lanes(plan, job);
    else
        merge_pairs(plan, job);
    return SHOAL_OK;
}

const sort_method R(sort_batchmerge) = { .bytes = batchmerge_bytes, .run = batchmerge_run };
