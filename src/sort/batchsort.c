/* SPDX-License-Identifier: Apache-2.0
 *
 * batchsort.c - many rows sorted on the CPU (Projects, see path.h, section 5, question 3).
 *
 * network  VEC rows at a time become the lanes of vectors and are sorted by network.h; with values,
 *          the places of the keys go along as tags, and the values are gathered at the end. A row of
 *          more than TILE keys is cut into tiles, which are rows of their own, and merged in
 *          log2(length / TILE) passes by mergepath.c. With fewer rows than lanes, tiles are shorter,
 *          so that they fill the lanes.
 * merge    tiles of RUN keys, sorted by insertion, and then passes: the merge sort of the textbook.
 *
 * Threads share the rows, or tiles and parts of merges if there are fewer long rows than threads.
 * Passes alternate between the result and a workspace of the same size.
 */
#include "sort/mergepath.h"
#include "sort/network.h"

/* A tile of columns has 64 KiB. */
enum { TILE = (1 << 16) / VEC_BYTES, RUN = 16, MIN_TILE = 64, PART = 1 << 15 };

typedef struct arrays { /* a place for keys and values */
    word *keys;
    char *values;
} arrays;

typedef struct sorter {
    const shoal_context *ctx;
    const sort_job *job;
    sort_order order;
    int64_t tile;
    int by_insertion, threads;
    arrays out, spare;
    char *scratch; /* one piece per thread */
    size_t scratch_bytes;
} sorter;

static int64_t tile_of(const sort_plan *plan) {
    if (plan->chosen.variant == BATCHSORT_MERGE) return RUN;
    if (plan->job.count >= VEC) return TILE;
    const int64_t share = (plan->longest + VEC - 1) / VEC;
    const int64_t tile = (share + BLOCK - 1) / BLOCK * BLOCK;
    return tile < MIN_TILE ? MIN_TILE : tile > TILE ? TILE : tile;
}

/* Columns of keys, of tags, and values on their way. */
static size_t scratch_of(const sort_plan *plan) {
    const int64_t tile = tile_of(plan), n = plan->longest < tile ? plan->longest : tile;
    const size_t columns = (size_t)network_columns(n);
    return columns * VEC_BYTES * (plan->job.value_bytes ? 2 : 1) +
           (columns * 8 + VEC_BYTES - 1) / VEC_BYTES * VEC_BYTES;
}

static size_t spare_keys(const sort_plan *plan) { /* 256: both arrays are aligned */
    return ((size_t)plan->total * sizeof(word) + 255) / 256 * 256;
}

static size_t batchsort_bytes(const sort_plan *plan) {
    size_t bytes = (scratch_of(plan) + 255) / 256 * 256 * (size_t)plan->head.ctx->threads;
    if (plan->longest > tile_of(plan))
        bytes += spare_keys(plan) + (size_t)plan->total * (size_t)plan->job.value_bytes;
    return bytes;
}

/* ---- tiles ---------------------------------------------------------------------------------- */

/* Values follow the tags, which are places in the piece; in `held` first: it may be sorted in
 * place. */
ALWAYS_INLINE void gather(const sort_job *job, const word *tags, int64_t step, int64_t begin,
                          int64_t length, int64_t first, char *held, char *values,
                          const int bytes) {
    for (int64_t i = 0; i < length; i++) {
        const int64_t place = tags[i * step];
        const uint64_t number = (uint64_t)(first + place);
        if (!job->index)
            move_value(held, i, job->a_values, begin + place, bytes);
        else if (bytes == 4)
            memcpy(held + 4 * i, &(uint32_t){ (uint32_t)number }, 4);
        else
            memcpy(held + 8 * i, &number, 8);
    }
    memcpy(values + begin * bytes, held, (size_t)(length * bytes));
}

static void gather_values(const sort_job *job, const word *tags, int64_t step, const pieces *p,
                          int l, char *held, char *values) {
    if (job->value_bytes == 4)
        gather(job, tags, step, p->begin[l], p->length[l], p->first[l], held, values, 4);
    else
        gather(job, tags, step, p->begin[l], p->length[l], p->first[l], held, values, 8);
}

static void sort_by_network(const sorter *s, const pieces *p, char *scratch, arrays to) {
    const sort_job *job = s->job;
    const int64_t columns = network_columns(p->longest);
    lanes *keys = (lanes *)scratch, *tags = keys + columns;
    char *held = (char *)(job->value_bytes ? tags + columns : tags);
    load_columns(job->a_keys, p, s->order, columns, keys, 1);
    if (job->value_bytes) {
        for (int64_t c = 0; c < columns; c++) tags[c] = lanes_all((word)c);
        network_pass(keys, tags, columns, 1);
        for (int l = 0; l < p->used; l++)
            gather_values(job, (const word *)tags + l, VEC, p, l, held, to.values);
    } else {
        network_pass(keys, NULL, columns, 0);
    }
    store_columns(keys, p, s->order, to.keys);
}

static void sort_by_insertion(const sorter *s, const pieces *p, arrays to) {
    for (int l = 0; l < p->used; l++) {
        const word *from = (const word *)s->job->a_keys + p->begin[l];
        word keys[RUN], tags[RUN];
        char held[RUN * 8];
        for (int i = 0; i < p->length[l]; i++) {
            const word key = order_in(from[i], s->order);
            int at = i;
            for (; at > 0 && keys[at - 1] > key; at--)
                keys[at] = keys[at - 1], tags[at] = tags[at - 1];
            keys[at] = key, tags[at] = i;
        }
        if (s->job->value_bytes) gather_values(s->job, tags, 1, p, l, held, to.values);
        for (int i = 0; i < p->length[l]; i++)
            to.keys[p->begin[l] + i] = order_out(keys[i], s->order);
    }
}

static void sort_pieces(const sorter *s, const pieces *p, int slot, arrays to) {
    if (s->by_insertion)
        sort_by_insertion(s, p, to);
    else
        sort_by_network(s, p, s->scratch + (size_t)slot * s->scratch_bytes, to);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static int64_t row_at(const sort_job *job, int64_t i) { return job->list ? job->list[i] : i; }

/* Rows first .. count - 1 of the list, of at most a tile each. */
static void sort_short_rows(const sorter *s, int64_t first) {
    const sort_job *job = s->job;
    const int64_t groups = (job->count - first + VEC - 1) / VEC;
    const int slots = s->threads;
#pragma omp parallel for num_threads(slots) schedule(static)
    for (int slot = 0; slot < slots; slot++) {
        const int64_t begin = groups * slot / slots, past = groups * (slot + 1) / slots;
        for (int64_t g = begin; g < past; g++) {
            if (shoal_is_cancelled(s->ctx, g - begin, past - begin)) break;
            pieces p = { .used = 0 };
            for (int64_t i = first + g * VEC; i < job->count && p.used < VEC; i++) {
                const int64_t k = row_at(job, i);
                add_piece(&p, row_begin(job->a, k), row_length(job->a, k), 0);
            }
            if (p.longest > 0) sort_pieces(s, &p, slot, s->out);
        }
    }
}

/* Runs of `width` keys from one array become runs of twice that in another. */
static void merge_runs(const sorter *s, int64_t begin, int64_t length, int64_t width, arrays from,
                       arrays to, int threads) {
    const int bytes = s->job->value_bytes;
    const int64_t pairs = (length + 2 * width - 1) / (2 * width);
    const int64_t parts = (2 * width + PART - 1) / PART;
    const int64_t first_share = pairs * parts / threads + 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < pairs * parts; i++) {
        if (shoal_is_cancelled(s->ctx, i, first_share)) continue;
        const int64_t at = i / parts * 2 * width, part = i % parts;
        const int64_t m = length - at < width ? length - at : width;
        const int64_t n = length - at - m < width ? length - at - m : width;
        const merge_task t = {
            .a = from.keys + begin + at,
            .b = from.keys + begin + at + m,
            .m = m,
            .n = n,
            .a_values = bytes ? from.values + bytes * (begin + at) : NULL,
            .b_values = bytes ? from.values + bytes * (begin + at + m) : NULL,
            .keys = to.keys + begin + at,
            .values = bytes ? to.values + bytes * (begin + at) : NULL,
            .order = s->order,
        };
        merge_part(&t, (m + n) * part / parts, (m + n) * (part + 1) / parts, bytes);
    }
}

/* One row of more than a tile, by `threads` of the slots from `slot` on. */
static void sort_long_row(const sorter *s, int64_t k, int slot, int threads) {
    const int64_t begin = row_begin(s->job->a, k), length = row_length(s->job->a, k);
    const int64_t tile = s->tile, tiles = (length + tile - 1) / tile;
    const int64_t groups = (tiles + VEC - 1) / VEC;
    int passes = 0;
    while (tile << passes < length) passes++;
    arrays from = passes % 2 ? s->spare : s->out, to = passes % 2 ? s->out : s->spare;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t g = groups * t / threads; g < groups * (t + 1) / threads; g++) {
            if (shoal_is_cancelled(s->ctx, 0, 1)) break;
            pieces p = { .used = 0 };
            for (int64_t i = g * VEC; i < tiles && p.used < VEC; i++)
                add_piece(&p, begin + i * tile, length - i * tile < tile ? length - i * tile : tile,
                          i * tile);
            sort_pieces(s, &p, slot + t, from);
        }
    for (int64_t width = tile; width < length; width *= 2) {
        merge_runs(s, begin, length, width, from, to, threads);
        const arrays next = from;
        from = to, to = next;
    }
}

static shoal_status batchsort_run(sort_plan *plan, const sort_job *job) {
    const int threads = plan->head.ctx->threads;
    sorter s = { .ctx = plan->head.ctx,
                 .job = job,
                 .order = order_of(job),
                 .tile = tile_of(plan),
                 .by_insertion = plan->chosen.variant == BATCHSORT_MERGE,
                 .threads = threads,
                 .out = { job->keys, job->values },
                 .scratch = job->work,
                 .scratch_bytes = (scratch_of(plan) + 255) / 256 * 256 };
    char *spare = s.scratch + s.scratch_bytes * (size_t)threads;
    s.spare = (arrays){ (word *)spare, spare + spare_keys(plan) };
    const int64_t long_rows = shoal_sort_longer(plan, s.tile);
    if (long_rows >= threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int slot = 0; slot < threads; slot++)
            for (int64_t i = slot; i < long_rows; i += threads)
                sort_long_row(&s, row_at(job, i), slot, 1);
    } else {
        for (int64_t i = 0; i < long_rows; i++) sort_long_row(&s, row_at(job, i), 0, threads);
    }
    sort_short_rows(&s, long_rows);
    return SHOAL_OK;
}

const sort_method R(sort_batchsort) = { .bytes = batchsort_bytes, .run = batchsort_run };
