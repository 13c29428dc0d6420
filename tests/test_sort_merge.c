/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sort_merge.c - mergepath and batchmerge against qsort with places, A before B: every size,
 * every split of small sizes, ratios of sizes, ties, every type and order, tagged pairs; the
 * paper's example; arrays that are not sorted.
 */
#include "sort_rows.h"
#ifndef SHOAL_EMULATED
#define SHOAL_LEVEL                                                                                \
    test /* path.h is a header of algorithms, which are built per instruction level */
#endif
#include "sort/path.h"

typedef struct call {
    const char *method, *variant;
} call;

static const call calls[] = { { "mergepath", "tiled" },
                              { "mergepath", "small" },
                              { "mergepath", "naive" },
                              { "batchmerge", "network" },
                              { "batchmerge", "narrow" },
                              { "batchmerge", "wide" },
                              { "auto", NULL } };
enum { CALLS = sizeof calls / sizeof *calls };

static int serves(const call *c, int64_t longest, int64_t count) {
    const unsigned flags = shoal_method_flags("sort", c->method, c->variant);
    return (flags & SHOAL_CAN_LONG || longest <= SHOAL_MERGE_SMALL) &&
           (flags & SHOAL_CAN_BATCH || count <= 1);
}

typedef struct pairs { /* on the host; values are numbers that tell where a key is from */
    shoal_merge_opts o;
    int64_t a_total, b_total, longest;
    void *a, *b;
    uint64_t *tags; /* of A, then of B */
    kind k;
} pairs;

static int64_t begin_of(const int64_t *offsets, int64_t n, int64_t k) {
    return offsets ? offsets[k] : n * k;
}

static pairs make_pairs(shoal_merge_opts o, kind k, uint64_t seed) {
    pairs p = { .o = o, .k = k };
    p.a_total = begin_of(o.a_offsets, o.na, o.count);
    p.b_total = begin_of(o.b_offsets, o.nb, o.count);
    p.a = new_array((size_t)p.a_total, shoal_key_bytes(o.key));
    p.b = new_array((size_t)p.b_total, shoal_key_bytes(o.key));
    p.tags = new_array((size_t)(p.a_total + p.b_total), 8);
    uint64_t state = seed + 5;
    for (int64_t i = 0; i < p.a_total + p.b_total; i++) p.tags[i] = random_bits(&state);
    for (int64_t i = 0; i < o.count; i++) {
        const int64_t a = begin_of(o.a_offsets, o.na, i), b = begin_of(o.b_offsets, o.nb, i);
        const int64_t m = begin_of(o.a_offsets, o.na, i + 1) - a;
        const int64_t n = begin_of(o.b_offsets, o.nb, i + 1) - b;
        /* one sequence cut in two, so that both have the same few values */
        void *both = new_array((size_t)(m + n), shoal_key_bytes(o.key));
        fill_keys(o.key, k, both, 0, m + n, seed + (uint64_t)i);
        sortable *row = sorted_row(o.key, both, 0, m, o.descending);
        for (int64_t j = 0; j < m; j++) set_key(o.key, p.a, a + j, row[j].key);
        free(row);
        row = sorted_row(o.key, both, m, n, o.descending);
        for (int64_t j = 0; j < n; j++) set_key(o.key, p.b, b + j, row[j].key);
        free(row);
        free(both);
        if (m + n > p.longest) p.longest = m + n;
    }
    return p;
}

static void free_pairs(pairs *p) {
    free(p->a);
    free(p->b);
    free(p->tags);
}

static const char *name_of(const target *t, const pairs *p, const call *c) {
    static char name[256];
    snprintf(name, sizeof name, "%s(%s):%s:%s %s%s na=%lld nb=%lld count=%lld values=%d %s",
             t->backend, t->isa ? t->isa : "", c->method, c->variant ? c->variant : "",
             shoal_key_name(p->o.key), p->o.descending ? " descending" : "", (long long)p->o.na,
             (long long)p->o.nb, (long long)p->o.count, p->o.value_bytes, kind_names[p->k]);
    return name;
}

/* The tags as values of the plan's size. */
static void *values_of(const pairs *p, const uint64_t *tags, int64_t n) {
    uint64_t *eight = new_array((size_t)n, 8);
    uint32_t *four = new_array((size_t)n, 4);
    for (int64_t i = 0; i < n; i++) eight[i] = tags[i], four[i] = (uint32_t)tags[i];
    free(p->o.value_bytes == 4 ? (void *)eight : four);
    return p->o.value_bytes == 4 ? (void *)four : eight;
}

/* The places of the merged keys, over all pairs: i of A, or a_total + j of B. */
static int64_t *expected_of(const pairs *p) {
    int64_t *places = new_array((size_t)(p->a_total + p->b_total), sizeof *places);
    for (int64_t k = 0; k < p->o.count; k++) {
        int64_t i = begin_of(p->o.a_offsets, p->o.na, k), j = begin_of(p->o.b_offsets, p->o.nb, k);
        const int64_t i_end = begin_of(p->o.a_offsets, p->o.na, k + 1);
        const int64_t j_end = begin_of(p->o.b_offsets, p->o.nb, k + 1);
        while (i < i_end || j < j_end) { /* Algorithm 1, ties to A */
            int from_a = j == j_end;
            if (i < i_end && j < j_end) {
                const int c =
                    compare_keys(p->o.key, key_at(p->o.key, p->a, i), key_at(p->o.key, p->b, j));
                from_a = p->o.descending ? c >= 0 : c <= 0;
            }
            places[i + j] = from_a ? i : p->a_total + j;
            i += from_a, j += !from_a;
        }
    }
    return places;
}

static void check_on(const target *t, const pairs *p, const int64_t *places, const call *c,
                     size_t shift) {
    const size_t key_bytes = shoal_key_bytes(p->o.key), value_bytes = (size_t)p->o.value_bytes;
    const int64_t total = p->a_total + p->b_total;
    void *a_values = values_of(p, p->tags, p->a_total);
    void *b_values = values_of(p, p->tags + p->a_total, p->b_total);
    void *all_values = values_of(p, p->tags, total);
    const struct {
        const void *content;
        int64_t items;
        size_t size;
    } in[6] = { { p->a, p->a_total, key_bytes },
                { p->b, p->b_total, key_bytes },
                { NULL, total, key_bytes },
                { a_values, p->a_total, value_bytes },
                { b_values, p->b_total, value_bytes },
                { NULL, total, value_bytes } };
    held h[6];
    for (int i = 0; i < 6; i++)
        h[i] = hold(t->ctx, in[i].content, (size_t)in[i].items * in[i].size, shift * in[i].size);
    shoal_merge_opts o = p->o;
    shoal_merge *plan = NULL;
    shoal_sort_info info;
    o.method = c->method, o.variant = c->variant;
    CHECK_MSG(shoal_merge_create(t->ctx, &o, &plan) == SHOAL_OK, "%s: %s", name_of(t, p, c),
              shoal_message(t->ctx));
    CHECK_MSG(shoal_merge_run(plan, at(&h[0]), at(&h[1]), at(&h[2]), value_bytes ? at(&h[3]) : NULL,
                              value_bytes ? at(&h[4]) : NULL,
                              value_bytes ? at(&h[5]) : NULL) == SHOAL_OK,
              "%s: %s", name_of(t, p, c), shoal_message(t->ctx));
    CHECK(shoal_merge_last(plan, &info) == SHOAL_OK);
    shoal_merge_free(plan);
    void *out[6];
    for (int i = 0; i < 6; i++) out[i] = let_go(&h[i], name_of(t, p, c));
    int64_t wrong = 0;
    for (int64_t i = 0; i < total; i++) {
        const int64_t from = places[i];
        const uint64_t key = from < p->a_total ? key_at(p->o.key, p->a, from)
                                               : key_at(p->o.key, p->b, from - p->a_total);
        wrong += key != key_at(p->o.key, out[2], i);
        if (value_bytes)
            wrong += memcmp((char *)out[5] + (size_t)i * value_bytes,
                            (char *)all_values + (size_t)from * value_bytes, value_bytes) != 0;
    }
    CHECK_MSG(wrong == 0, "%s shift=%d: %lld wrong", name_of(t, p, c), (int)shift,
              (long long)wrong);
    CHECK(memcmp(out[0], p->a, (size_t)p->a_total * key_bytes) == 0);
    for (int i = 0; i < 6; i++) free(out[i]);
    free(a_values), free(b_values), free(all_values);
}

static void check_pairs(pairs *p, size_t shift) {
    int64_t *places = expected_of(p);
    for (int c = 0; c < CALLS; c++)
        for (int t = 0; t < target_count; t++)
            if (serves(&calls[c], p->longest, p->o.count))
                check_on(&targets[t], p, places, &calls[c], shift);
    free(places);
    free_pairs(p);
}

static void check_one(shoal_merge_opts o, kind k, uint64_t seed, size_t shift) {
    pairs p = make_pairs(o, k, seed);
    check_pairs(&p, shift);
}

TEST(figure_1) {
    static const uint32_t a[] = { 1, 2, 5, 6, 6, 9, 11, 15, 16 };
    static const uint32_t b[] = { 4, 7, 8, 10, 12, 13, 14 };
    pairs p =
        make_pairs((shoal_merge_opts){ .na = 9, .nb = 7, .count = 1, .value_bytes = 4 }, RANDOM, 1);
    memcpy(p.a, a, sizeof a);
    memcpy(p.b, b, sizeof b);
    int64_t *places = expected_of(&p);
    static const int64_t wanted[16] = { 0, 1, 9, 2, 3, 4, 10, 11, 5, 12, 6, 13, 14, 15, 7, 8 };
    CHECK(memcmp(places, wanted, sizeof wanted) == 0);
    free(places);
    check_pairs(&p, 0);
}

/* Every way in which m keys of A and n of B can lie: all subsets of m out of m + n places, and the
 * same with pairs of neighbours made equal. */
TEST(every_split_of_small_sizes) {
    const int most = small ? 5 : 9;
    for (int total = 0; total <= most; total++)
        for (int ties = 0; ties < 2; ties++)
            for (int m = 0; m <= total; m++) { /* the subsets of m are one batch */
                int64_t count = 0;
                for (int set = 0; set < 1 << total; set++)
                    count += __builtin_popcount((unsigned)set) == m;
                shoal_merge_opts o = { .na = m, .nb = total - m, .count = count, .value_bytes = 4 };
                pairs p = make_pairs(o, RANDOM, 1);
                int64_t at_a = 0, at_b = 0;
                for (int set = 0; set < 1 << total; set++) {
                    if (__builtin_popcount((unsigned)set) != m) continue;
                    for (int i = 0; i < total; i++) {
                        const uint32_t key = (uint32_t)(ties ? i / 2 : i);
                        if (set >> i & 1)
                            ((uint32_t *)p.a)[at_a++] = key;
                        else
                            ((uint32_t *)p.b)[at_b++] = key;
                    }
                }
                check_pairs(&p, 0);
            }
}

/* The same one by one, for the methods that take one pair. */
TEST(every_split_one_by_one) {
    const int most = small ? 4 : 7;
    for (int total = 1; total <= most; total++)
        for (int set = 0; set < 1 << total; set++) {
            const int m = __builtin_popcount((unsigned)set);
            pairs p =
                make_pairs((shoal_merge_opts){ .na = m, .nb = total - m, .count = 1 }, RANDOM, 1);
            int64_t i = 0, j = 0;
            for (int at_bit = 0; at_bit < total; at_bit++)
                if (set >> at_bit & 1)
                    ((uint32_t *)p.a)[i++] = (uint32_t)(at_bit / 2);
                else
                    ((uint32_t *)p.b)[j++] = (uint32_t)(at_bit / 2);
            check_pairs(&p, 0);
        }
}

TEST(every_size) {
    for (int64_t d = 0; d <= 1100; d++) {
        if (small && d > 40 && d % 131 != 0 && (d & (d - 1)) != 0 && d != 1025) continue;
        const int64_t na = d * (d % 11) / 10;
        for (int how = 0; how < 3; how++) {
            if (d > 40 && how != d % 3) continue;
            const shoal_merge_opts o = { .na = na,
                                         .nb = d - na,
                                         .count = d % 2     ? 1
                                                  : d < 100 ? 9
                                                            : 3,
                                         .value_bytes = 4 * how,
                                         .key = (shoal_key)(d % KEYS),
                                         .descending = d % 5 == 0 };
            check_one(o, (kind)((d + how) % KINDS), (uint64_t)d, (size_t)(d % 4));
        }
    }
}

TEST(every_kind_and_type) {
    for (int key = 0; key < KEYS; key++)
        for (int k = 0; k < KINDS; k++)
            for (int how = 0; how < 3; how++) {
                shoal_merge_opts o = { .na = 300, .nb = 400, .count = 1, .value_bytes = 4 * how };
                if (small && how != (key + k) % 3) continue;
                o.key = (shoal_key)key;
                o.descending = (k + how) % 2;
                check_one(o, (kind)k, 1, 0);
                o.count = 5;
                o.na = 20, o.nb = 33;
                check_one(o, (kind)k, 2, 1);
            }
}

/* Several tiles and parts; one array much shorter than the other, or empty. */
TEST(large_and_lopsided) {
    static const int64_t sizes[][2] = { { 9000, 8000 },  { 20000, 20 },   { 3, 30000 },
                                        { 0, 12345 },    { 12345, 0 },    { 4096, 4096 },
                                        { 300000, 300 }, { 400, 400000 }, { 200000, 210001 } };
    for (int j = 0; j < (small ? 6 : 9); j++)
        for (int k = 0; k < KINDS; k++) {
            if (small && (k + j) % 3) continue;
            const int key = (j + k) % KEYS, how = (j + 2 * k) % 3;
            const shoal_merge_opts o = { .na = sizes[j][0],
                                         .nb = sizes[j][1],
                                         .count = 1,
                                         .value_bytes = 4 * how,
                                         .key = (shoal_key)key,
                                         .descending = k % 2 };
            check_one(o, (kind)k, 7, (size_t)(k % 3));
        }
}

/* Blocks of the emulated GPU take several tiles each; those of a large one do in test_sort_large. */
TEST(more_tiles_than_blocks) {
    const shoal_merge_opts even = { .na = 450003, .nb = 460001, .count = 1 };
    const shoal_merge_opts lopsided = {
        .na = 700, .nb = 400009, .count = 1, .value_bytes = 4, .key = SHOAL_KEY_F64, .descending = 1
    };
    check_one(even, RANDOM, 11, 0);
    check_one(lopsided, FEW_VALUES, 12, 1);
}

TEST(a_batch_of_large_pairs) {
    const shoal_merge_opts o = { .na = 2500, .nb = 1900, .count = 3, .value_bytes = 8 };
    check_one(o, FEW_VALUES, 3, 0);
    check_one((shoal_merge_opts){ .na = 4000, .nb = 1, .count = 3, .key = SHOAL_KEY_F64 }, SPECIAL,
              3, 1);
}

TEST(pairs_of_different_sizes) {
    int64_t a[40] = { 0 }, b[40] = { 0 };
    uint64_t state = 4;
    for (int round = 0; round < (small ? 4 : 12); round++) {
        const uint64_t most = round % 3 == 0 ? 9 : round % 3 == 1 ? 500 : 1800;
        for (int k = 0; k < 39; k++) {
            a[k + 1] = a[k] + (int64_t)(k % 5 == 1 ? 0 : random_bits(&state) % most);
            b[k + 1] = b[k] + (int64_t)(k % 7 == 1 ? 0 : random_bits(&state) % most);
        }
        shoal_merge_opts o = { .count = small && most > 9 ? 7 : 39,
                               .a_offsets = a,
                               .b_offsets = b,
                               .value_bytes = 4 * (round % 3),
                               .key = (shoal_key)(round % KEYS) };
        check_one(o, (kind)(round % KINDS), (uint64_t)round, (size_t)(round % 2));
    }
}

/* Nothing but the result is written, and every key of it is a key of the input. */
TEST(arrays_that_are_not_sorted) {
    static const int64_t sizes[][2] = { { 60, 61 }, { 500, 500 }, { 9000, 7000 } };
    for (int j = 0; j < 3; j++)
        for (int c = 0; c < CALLS; c++)
            for (int t = 0; t < target_count; t++) {
                const int64_t na = sizes[j][0], nb = sizes[j][1];
                if (!serves(&calls[c], na + nb, 1)) continue;
                shoal_merge_opts o = { .na = na, .nb = nb, .count = 1 };
                o.method = calls[c].method, o.variant = calls[c].variant;
                uint32_t *keys = new_array((size_t)(na + nb), 4);
                uint64_t state = 9;
                for (int64_t i = 0; i < na + nb; i++)
                    keys[i] = (uint32_t)random_bits(&state) % 1000;
                held a = hold(targets[t].ctx, keys, (size_t)na * 4, 0);
                held b = hold(targets[t].ctx, keys + na, (size_t)nb * 4, 0);
                held m = hold(targets[t].ctx, NULL, (size_t)(na + nb) * 4, 0);
                shoal_merge *plan = NULL;
                shoal_sort_info info;
                CHECK(shoal_merge_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
                CHECK(shoal_merge_run(plan, at(&a), at(&b), at(&m), NULL, NULL, NULL) == SHOAL_OK);
                CHECK(shoal_merge_last(plan, &info) == SHOAL_OK);
                shoal_merge_free(plan);
                uint32_t *got = let_go(&m, "unsorted");
                int64_t strange = 0;
                for (int64_t i = 0; i < na + nb; i++) strange += got[i] >= 1000;
                CHECK_MSG(strange == 0, "%s:%s: %lld keys", calls[c].method,
                          calls[c].variant ? calls[c].variant : "", (long long)strange);
                free(got), free(keys);
                free(let_go(&a, "A"));
                free(let_go(&b, "B"));
            }
}

/* Where arrays are not sorted a search may find any place on its diagonal. The path goes on from there
 * without turning back or leaving the grid, and stays where it is if it does neither. */
TEST(a_path_never_turns_back) {
    enum { M = 4, N = 5 };
    for (int64_t from = 0; from <= M + N; from++)
        for (int64_t to = from; to <= M + N; to++)
            for (int64_t y = from > N ? from - N : 0; y <= M && y <= from; y++)
                for (int64_t end = to > N ? to - N : 0; end <= M && end <= to; end++) {
                    const int64_t of_a = path_onward(end, y, from, to, M, N) - y;
                    const int64_t of_b = to - from - of_a;
                    CHECK(of_a >= 0 && of_b >= 0 && y + of_a <= M && from - y + of_b <= N);
                    if (end >= y && end - y <= to - from) CHECK(y + of_a == end);
                }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(figure_1);
    RUN(every_split_of_small_sizes);
    RUN(every_split_one_by_one);
    RUN(every_size);
    RUN(every_kind_and_type);
    RUN(large_and_lopsided);
    RUN(more_tiles_than_blocks);
    RUN(a_batch_of_large_pairs);
    RUN(pairs_of_different_sizes);
    RUN(arrays_that_are_not_sorted);
    RUN(a_path_never_turns_back);
    close_targets();
    return TEST_END();
}
