/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sort.c - batchsort against qsort with places, on every backend: every length to 1100, every
 * type, order and kind of keys; values and indices, which show stability; rows with strides and of
 * different lengths; in place; rows of many tiles.
 */
#include "sort_rows.h"

static const char *const variants[] = { "network", "merge" };

typedef struct rows { /* a batch on the host */
    shoal_sort_opts o;
    int64_t total;
    void *keys, *values;
    kind k;
} rows;

static int64_t begin_of(const rows *r, int64_t k) {
    return r->o.offsets ? r->o.offsets[k] : k * (r->o.stride ? r->o.stride : r->o.n);
}
static int64_t length_of(const rows *r, int64_t k) {
    return r->o.offsets ? r->o.offsets[k + 1] - r->o.offsets[k] : r->o.n;
}

static rows make_rows(shoal_sort_opts o, kind k, uint64_t seed) {
    rows r = { .o = o, .k = k };
    const int64_t stride = o.stride ? o.stride : o.n;
    r.total = o.offsets ? o.offsets[o.count] : stride * o.count;
    r.keys = new_array((size_t)r.total, shoal_key_bytes(o.key));
    r.values = new_array((size_t)r.total, 8);
    uint64_t state = seed + 1;
    fill_keys(o.key, RANDOM, r.keys, 0, r.total, seed + 7);
    for (int64_t i = 0; i < o.count; i++)
        fill_keys(o.key, k, r.keys, begin_of(&r, i), length_of(&r, i), seed + (uint64_t)i);
    for (int64_t i = 0; i < r.total; i++)
        if (o.value_bytes == 8)
            ((uint64_t *)r.values)[i] = random_bits(&state);
        else
            ((uint32_t *)r.values)[i] = (uint32_t)random_bits(&state);
    return r;
}

static void free_rows(rows *r) {
    free(r->keys);
    free(r->values);
}

static const char *name_of(const target *t, const rows *r) {
    static char name[256];
    snprintf(name, sizeof name, "%s(%s):%s %s%s n=%lld count=%lld values=%d%s %s", t->backend,
             t->isa ? t->isa : "", r->o.variant ? r->o.variant : "", shoal_key_name(r->o.key),
             r->o.descending ? " descending" : "", (long long)r->o.n, (long long)r->o.count,
             r->o.value_bytes, r->o.index ? " index" : "", kind_names[r->k]);
    return name;
}

static uint64_t value_at(const rows *r, const void *values, int64_t i) {
    return r->o.value_bytes == 8 ? ((const uint64_t *)values)[i] : ((const uint32_t *)values)[i];
}

/* What should be there, byte for byte. */
static int as_expected(const rows *r, const sortable *row, int64_t k, const void *keys,
                       const void *values) {
    const int64_t begin = begin_of(r, k), n = length_of(r, k);
    for (int64_t i = 0; i < n; i++) {
        if (key_at(r->o.key, keys, begin + i) != row[i].key) return 0;
        if (!r->o.value_bytes) continue;
        const uint64_t wanted =
            r->o.index ? (uint64_t)row[i].place : value_at(r, r->values, begin + row[i].place);
        if (value_at(r, values, begin + i) != wanted) return 0;
    }
    return 1;
}

/* What lies between rows is as it was. */
static int gaps_are_kept(const rows *r, const void *got, size_t bytes, const void *before) {
    const unsigned char *g = got, *b = before;
    for (int64_t k = 0; k < r->o.count; k++) {
        const int64_t from = begin_of(r, k) + length_of(r, k);
        const int64_t to = k + 1 < r->o.count ? begin_of(r, k + 1) : r->total;
        for (size_t i = (size_t)from * bytes; i < (size_t)to * bytes; i++)
            if (g[i] != (b ? b[i] : FILLING)) return 0;
    }
    return 1;
}

static void check_on(const target *t, const rows *r, sortable *const *expected, int in_place,
                     size_t shift) {
    const size_t key_bytes = shoal_key_bytes(r->o.key), value_bytes = (size_t)r->o.value_bytes;
    const size_t items = (size_t)r->total;
    shoal_sort *plan = NULL;
    shoal_sort_info info;
    held from = hold(t->ctx, r->keys, items * key_bytes, shift * key_bytes), to = from;
    held values = hold(t->ctx, r->values, items * value_bytes, shift * value_bytes);
    held sorted_values = values;
    if (!in_place) {
        to = hold(t->ctx, NULL, items * key_bytes, shift * key_bytes);
        sorted_values = hold(t->ctx, NULL, items * value_bytes, shift * value_bytes);
    }
    CHECK_MSG(shoal_sort_create(t->ctx, &r->o, &plan) == SHOAL_OK, "%s: %s", name_of(t, r),
              shoal_message(t->ctx));
    CHECK_MSG(shoal_sort_run(plan, at(&from), value_bytes && !r->o.index ? at(&values) : NULL,
                             at(&to), value_bytes ? at(&sorted_values) : NULL) == SHOAL_OK,
              "%s: %s", name_of(t, r), shoal_message(t->ctx));
    CHECK(shoal_sort_last(plan, &info) == SHOAL_OK);
    shoal_sort_free(plan);
    void *got = let_go(&to, name_of(t, r)), *got_values = let_go(&sorted_values, name_of(t, r));
    for (int64_t k = 0; k < r->o.count; k++)
        CHECK_MSG(as_expected(r, expected[k], k, got, got_values), "%s%s shift=%d row %lld",
                  name_of(t, r), in_place ? " in place" : "", (int)shift, (long long)k);
    CHECK_MSG(gaps_are_kept(r, got, key_bytes, in_place ? r->keys : NULL) &&
                  gaps_are_kept(r, got_values, value_bytes, in_place ? r->values : NULL),
              "%s: gaps", name_of(t, r));
    if (!in_place) {
        void *kept = let_go(&from, name_of(t, r));
        CHECK_MSG(memcmp(kept, r->keys, items * key_bytes) == 0, "%s: input", name_of(t, r));
        free(kept);
        free(let_go(&values, name_of(t, r)));
    }
    free(got);
    free(got_values);
}

static void check(rows *r, int in_place, size_t shift) {
    sortable **expected = new_array((size_t)r->o.count, sizeof *expected);
    for (int64_t k = 0; k < r->o.count; k++)
        expected[k] =
            sorted_row(r->o.key, r->keys, begin_of(r, k), length_of(r, k), r->o.descending);
    r->o.method = "batchsort";
    for (int v = 0; v < 2; v++)
        for (int t = 0; t < target_count; t++) {
            r->o.variant = variants[v];
            check_on(&targets[t], r, expected, in_place, shift);
        }
    for (int64_t k = 0; k < r->o.count; k++) free(expected[k]);
    free(expected);
    free_rows(r);
}

static void check_one(shoal_sort_opts o, kind k, uint64_t seed, int in_place, size_t shift) {
    rows r = make_rows(o, k, seed);
    check(&r, in_place, shift);
}

/* How the values go with the keys: none, 4 bytes, 8 bytes, places in 4 and in 8. */
static shoal_sort_opts with_values(shoal_sort_opts o, int how) {
    o.value_bytes = how == 0 ? 0 : how % 2 ? 4 : 8;
    o.index = how > 2;
    return o;
}

TEST(every_length) {
    for (int64_t n = 0; n <= 1100; n++) {
        if (small && n > 40 && n % 97 != 0 && (n & (n - 1)) != 0 && n != 1025) continue;
        for (int key = 0; key < KEYS; key++) {
            if (n > 40 && key != (int)(n % KEYS) && (small || key != (int)((n + 3) % KEYS)))
                continue;
            const shoal_sort_opts o = { .n = n,
                                        .count = n < 40  ? 19
                                                 : small ? 2
                                                         : 3,
                                        .key = (shoal_key)key,
                                        .descending = (n + key) % 3 == 0 };
            check_one(o, (kind)((n + key) % KINDS), (uint64_t)n, (n / 2) % 2 == 0, 0);
            check_one(with_values(o, 1 + (int)((n + key) % 4)), (kind)((n / 7 + key) % KINDS),
                      (uint64_t)n, n % 2 == 0, 0);
        }
    }
}

TEST(every_kind_type_and_order) {
    static const int64_t lengths[] = { 1, 2, 3, 7, 16, 31, 33, 64, 100, 257, 512, 1000, 1024 };
    for (int j = 0; j < 13; j++)
        for (int key = 0; key < KEYS; key++)
            for (int k = 0; k < KINDS; k++) {
                if (small && lengths[j] > 100 && (k + key + j) % 6) continue;
                shoal_sort_opts o = { .n = lengths[j], .count = 2, .key = (shoal_key)key };
                o.descending = (j + k) % 2;
                check_one(o, (kind)k, (uint64_t)j, 0, 0);
                check_one(with_values(o, 1 + (j + k + key) % 4), (kind)k, (uint64_t)j, 0, 0);
            }
}

TEST(any_number_of_rows) {
    for (int64_t count = 0; count <= 70; count += count < 36 ? 1 : 17)
        for (int how = 0; how < 3; how++) {
            const int64_t n = count % 3 ? 21 : 50;
            const shoal_sort_opts o = { .n = n, .count = count, .key = (shoal_key)(count % 6) };
            check_one(with_values(o, how), RANDOM, 3, 0, (size_t)(count % 4));
        }
    check_one((shoal_sort_opts){ .n = 0, .count = 5 }, RANDOM, 0, 0, 0);
}

/* A block of 128 threads takes 128, 64, 16, 8 or 4 rows: as many, and one more, with gaps and without. */
TEST(full_blocks) {
    static const int64_t lengths[] = { 16, 40, 130, 400, 1000 }, full[] = { 128, 64, 16, 8, 4 };
    for (int j = 0; j < 5; j++)
        for (int how = 0; how < 5; how++)
            for (int way = 0; way < 4; way++) {
                if (small && (j + how) % 4 != way) continue;
                const shoal_sort_opts o = { .n = lengths[j],
                                            .count = full[j] + way / 2,
                                            .stride = lengths[j] + way % 2,
                                            .key = (shoal_key)((j + how) % KEYS) };
                check_one(with_values(o, how), FEW_VALUES, 6, 0, 0);
            }
}

TEST(strides_leave_alone_what_is_between) {
    for (int how = 0; how < 5; how++)
        for (int in_place = 0; in_place < 2; in_place++) {
            shoal_sort_opts o = { .n = 37, .count = 21, .stride = 41, .key = (shoal_key)how };
            check_one(with_values(o, how), FEW_VALUES, 5, in_place, (size_t)how);
            o = (shoal_sort_opts){ .n = 1200, .count = 3, .stride = 1300, .key = (shoal_key)how };
            check_one(with_values(o, how), RANDOM, 5, in_place, 1);
        }
}

TEST(rows_of_different_lengths) {
    int64_t offsets[60] = { 0 };
    uint64_t state = 4;
    for (int round = 0; round < (small ? 3 : 12); round++) {
        const int64_t most = round % 3 == 0 ? 12 : round % 3 == 1 ? 1030 : small ? 1500 : 3000;
        const int64_t count = round % 3 == 0 ? 59 : 13;
        for (int64_t k = 0; k < count; k++)
            offsets[k + 1] =
                offsets[k] + (int64_t)(random_bits(&state) % (uint64_t)(k % 4 ? most : 40));
        for (int how = 0; how < 5; how++) {
            if (small && how % 2 != round % 2) continue;
            shoal_sort_opts o = { .count = count, .offsets = offsets, .key = (shoal_key)how };
            o.descending = round % 2;
            check_one(with_values(o, how), (kind)(how + round) % KINDS, (uint64_t)round, how % 2,
                      0);
        }
    }
}

/* Tiles, merge passes: even and odd numbers of them, and a last tile of any length; of some of the lengths. */
static void rows_of_lengths(int from, int to) {
    static const int64_t lengths[] = { 1025, 2048, 3100, 2047, 2049, 4096, 4097, 9000, 33000 };
    for (int j = from; j < to; j++)
        for (int how = 0; how < 5; how++) {
            if (small && how != j % 5) continue;
            shoal_sort_opts o = { .n = lengths[j], .count = 1 + j % 3, .key = (shoal_key)(j % 6) };
            o.descending = how % 2;
            check_one(with_values(o, how), (kind)((j + how) % KINDS), 9, (j + how) % 2,
                      (size_t)how);
        }
}

TEST(long_rows) { rows_of_lengths(0, 3); }

TEST(longer_rows) { rows_of_lengths(3, small ? 6 : 9); }

TEST(a_row_of_a_million) {
    if (small) SKIP("too long for an emulated run");
    check_one((shoal_sort_opts){ .n = 1000003, .count = 1, .key = SHOAL_KEY_F32 }, SPECIAL, 1, 0,
              0);
    check_one((shoal_sort_opts){ .n = 300001, .count = 2, .value_bytes = 4, .key = SHOAL_KEY_I64 },
              RANDOM, 1, 1, 0);
}

/* NaNs and zeros land where IEEE's total order has them, whatever the order of the input. */
TEST(total_order) {
    const uint32_t order[] = { 0xffffffff, 0xffc00000, 0xff800001, 0xff800000,
                               0xff7fffff, 0xbf800000, 0x80000001, 0x80000000,
                               0x00000000, 0x00000001, 0x3f800000, 0x7f7fffff,
                               0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff };
    enum { N = sizeof order / sizeof *order };
    for (int t = 0; t < target_count; t++)
        for (int descending = 0; descending < 2; descending++) {
            uint32_t mixed[N];
            for (int i = 0; i < N; i++) mixed[i] = order[i * 7 % N];
            shoal_sort *plan = NULL;
            shoal_sort_info info;
            shoal_sort_opts o = { .n = N, .count = 1, .key = SHOAL_KEY_F32 };
            o.descending = descending;
            held keys = hold(targets[t].ctx, mixed, sizeof mixed, 0);
            CHECK(shoal_sort_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_sort_run(plan, at(&keys), NULL, at(&keys), NULL) == SHOAL_OK);
            CHECK(shoal_sort_last(plan, &info) == SHOAL_OK);
            shoal_sort_free(plan);
            uint32_t *got = let_go(&keys, "total order");
            for (int i = 0; i < N; i++) CHECK(got[i] == order[descending ? N - 1 - i : i]);
            free(got);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(every_length);
    RUN(every_kind_type_and_order);
    RUN(any_number_of_rows);
    RUN(full_blocks);
    RUN(strides_leave_alone_what_is_between);
    RUN(rows_of_different_lengths);
    RUN(long_rows);
    RUN(longer_rows);
    RUN(a_row_of_a_million);
    RUN(total_order);
    close_targets();
    return TEST_END();
}
