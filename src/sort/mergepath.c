/* SPDX-License-Identifier: Apache-2.0
 *
 * mergepath.c - one merge of two sorted arrays on the CPU (Projects, see path.h, section 4).
 *
 * tiled   the output is cut into parts, some for each thread; a search on the merge path finds where
 *         a part begins in A and in B. Reads and writes every key once.
 * small, naive
 *         Algorithm 2 itself: a search for every key of the output, O(d log d). small takes up to
 *         SHOAL_MERGE_SMALL keys, and one thread.
 *
 * Keys with values: a merge decides on one key at a time, and each decision waits for the loads that
 * the last one made known: about six cycles of waiting for two of work. So a part is cut at three
 * points of the merge path and its quarters are merged in turn, one key of each, without branches:
 * whether a key comes from A is a number that is added to an index. As long as neither array can end
 * within the next steps, nothing is tested; then they are counted again. 4 searches of log2 n steps
 * per part.
 *
 * Keys without values: VEC keys are carried. A step reads the next VEC keys of the array whose next
 * key is the lesser, merges them with those carried, writes the lesser half and carries the other: no
 * branch depends on the keys. Two sorted vectors, the second in reverse, are a bitonic sequence of
 * 2 VEC keys, and log2(2 VEC) rounds sort it, all alike in Stone's form (1971): the lesser and the
 * greater of the two lane by lane, then a perfect shuffle of both. A round has to wait for the one
 * before, so STREAMS parts of a merge take turns. If less than a vector is left of an array, the rest is
 * merged key by key.
 */
#include <string.h>
#include "sort/mergepath.h"
#include "sort/network.h"
#include "sort/path.h"

/* MANY: so many keys of one array per key of the other are copied rather than merged. PART: keys of
 * the output that a thread merges at a time, at most. */
enum { STREAMS = 2, CHAINS = 4, SHORTEST_CHAIN = 32, PIECE = 1 << 16, MANY = 64, PART = 1 << 16 };

typedef struct merge_place { /* i of A and j of B are behind; outputs at .. end - 1 are ahead */
    int64_t i, j, at, end;
} merge_place;

/* Cuts outputs from .. to - 1 into `count` parts, and finds where each begins. */
ALWAYS_INLINE void place_parts(const merge_task *t, int64_t from, int64_t to, int count,
                               merge_place *places) {
    for (int c = 0; c < count; c++) {
        const int64_t at = from + (to - from) * c / count;
        const int64_t y = merge_path(at, t->a, t->m, t->b, t->n, t->order);
        places[c] = (merge_place){ y, at - y, at, from + (to - from) * (c + 1) / count };
    }
}

/* Steps in which neither array can end, in all of the `count` parts. */
ALWAYS_INLINE int64_t free_steps(const merge_task *t, const merge_place *p, const int count) {
    int64_t steps = INT64_MAX;
    for (const merge_place *last = p + count; p < last; p++) {
        steps = t->m - p->i < steps ? t->m - p->i : steps;
        steps = t->n - p->j < steps ? t->n - p->j : steps;
        steps = p->end - p->at < steps ? p->end - p->at : steps;
    }
    return steps;
}

/* ---- vectors of keys ------------------------------------------------------------------------ */

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

/* As far as it goes without an array's end: `at` of each stream moves on. */
ALWAYS_INLINE void merge_streams(const merge_task *t, merge_place *s, const int plain) {
    const word *const a = t->a, *const b = t->b;
    word *const keys = t->keys;
    const sort_order order = t->order;
    lanes carried[STREAMS];
    for (int c = 0; c < STREAMS; c++) { /* A begins, unless it has ended */
        if (t->m - s[c].i < VEC) return;
        memcpy(&carried[c], a + s[c].i, VEC_BYTES);
        carried[c] = lanes_in(carried[c], order, plain);
        s[c].i += VEC;
    }
    for (int64_t steps; (steps = free_steps(t, s, STREAMS) / VEC) > 0;)
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
}

/* ---- key by key ----------------------------------------------------------------------------- */

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

static inline void copy_run(const merge_task *t, merge_place *p, int from_a, int64_t count,
                            int bytes) {
    const int64_t at = from_a ? p->i : p->j;
    if (count <= 0) return;
    memcpy(t->keys + p->at, (from_a ? t->a : t->b) + at, (size_t)count * sizeof(word));
    if (bytes)
        memcpy((char *)t->values + bytes * p->at,
               (const char *)(from_a ? t->a_values : t->b_values) + bytes * at,
               (size_t)(count * bytes));
    *(from_a ? &p->i : &p->j) += count;
    p->at += count;
}

/* The rest of one chain: what is left when an array has ended is copied. */
ALWAYS_INLINE void merge_alone(const merge_task *t, merge_place *p, const int bytes,
                               const int plain) {
    for (int64_t steps; (steps = free_steps(t, p, 1)) > 0;)
        merge_free(t, p, steps, 1, bytes, plain);
    copy_run(t, p, p->j == t->n, p->end - p->at, bytes);
}

ALWAYS_INLINE void merge_chains(const merge_task *t, int64_t from, int64_t to, const int bytes,
                                const int plain) {
    merge_place places[CHAINS];
    const int chains = to - from >= CHAINS * SHORTEST_CHAIN ? CHAINS : 1;
    place_parts(t, from, to, chains, places);
    if (chains == CHAINS)
        for (int64_t steps; (steps = free_steps(t, places, CHAINS)) > 0;)
            merge_free(t, places, steps, CHAINS, bytes, plain);
    for (int c = 0; c < chains; c++) merge_alone(t, &places[c], bytes, plain);
}

ALWAYS_INLINE int goes_before(word raw, word key, int ties, sort_order order) {
    const word seen = order_in(raw, order);
    return seen < key || (ties && seen == key);
}

/* The end of those among the keys low .. high - 1 that stand before `key`: those below it and, if
 * `ties`, those equal to it. Looks at places 1, 2, 4, .. first, as the answer is mostly near. */
static inline int64_t gallop(const word *keys, int64_t low, int64_t high, word key, int ties,
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

/* Where one array has few keys and the other many: each of the few is looked for, and what lies
 * between is copied. y keys of A and x of B are to be merged from the place on. */
static void merge_few(const merge_task *t, merge_place p, int64_t y, int64_t x, int bytes) {
    const int few_a = y < x;
    const word *few = few_a ? t->a + p.i : t->b + p.j;
    const int64_t count = few_a ? y : x, y_end = p.i + y, x_end = p.j + x;
    for (int64_t k = 0; k < count; k++) {
        const word key = order_in(few[k], t->order);
        if (few_a)
            copy_run(t, &p, 0, gallop(t->b, p.j, x_end, key, 0, t->order) - p.j, bytes);
        else
            copy_run(t, &p, 1, gallop(t->a, p.i, y_end, key, 1, t->order) - p.i, bytes);
        copy_run(t, &p, few_a, 1, bytes);
    }
    copy_run(t, &p, !few_a, few_a ? x_end - p.j : y_end - p.i, bytes);
}

/* Keys alone: by vectors where they are wide enough, and the rest of each stream, which begins at
 * a point of the merge path, key by key. */
ALWAYS_INLINE void merge_keys(const merge_task *t, int64_t from, int64_t to, const int plain) {
    merge_place s[STREAMS];
    place_parts(t, from, to, STREAMS, s);
    merge_streams(t, s, plain);
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
void merge_part(const merge_task *t, int64_t from, int64_t to, int bytes) {
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

/* ---- merges --------------------------------------------------------------------------------- */

merge_task merge_of(const sort_job *job, int64_t k) {
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

void merge_all(const shoal_context *ctx, const merge_task *t, int bytes, int threads) {
    const int64_t total = t->m + t->n, full_parts = (total + PART - 1) / PART;
    const int64_t parts =
        full_parts < threads ? full_parts : (full_parts + threads - 1) / threads * threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t p = 0; p < parts; p++)
        if (!shoal_is_cancelled(ctx, p, parts / threads + 1))
            merge_part(t, total / parts * p + total % parts * p / parts,
                       total / parts * (p + 1) + total % parts * (p + 1) / parts, bytes);
}

void merge_by_search(const merge_task *t, int bytes, int threads) {
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
    const merge_task t = merge_of(job, 0);
    const int threads = plan->chosen.variant == MERGEPATH_SMALL ? 1 : plan->head.ctx->threads;
    if (plan->chosen.variant == MERGEPATH_TILED)
        merge_all(plan->head.ctx, &t, job->value_bytes, threads);
    else
        merge_by_search(&t, job->value_bytes, threads);
    return SHOAL_OK;
}

const sort_method R(sort_mergepath) = { .run = mergepath_run };
