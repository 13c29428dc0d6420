/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sort_api.c - what the functions of sort.h refuse and what they say then, what auto chooses,
 * what an empty problem is, and what a plan holds.
 */
#include "sanitizer.h"
#include "sort_rows.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static const int64_t falling[] = { 0, 5, 3 }, late[] = { 1, 5, 6 }, fair[] = { 0, 5, 6 };
static const int64_t empty[] = { 0, 0, 0 };
static int something;

TEST(sort_create_refuses) {
    const struct {
        shoal_sort_opts o;
        shoal_status status;
        const char *word;
    } cases[] = {
        { { .n = -1, .count = 1 }, SHOAL_E_ARG, "n is -1" },
        { { .n = 1, .count = -2 }, SHOAL_E_ARG, "count is -2" },
        { { .n = 1, .count = 1, .stride = -3 }, SHOAL_E_ARG, "stride is -3" },
        { { .n = 9, .count = 1, .stride = 8 }, SHOAL_E_ARG, "stride is 8" },
        { { .n = 1LL << 40, .count = 1LL << 40 }, SHOAL_E_ARG, "too large" },
        { { .n = (1LL << 56) + 1, .count = 1 }, SHOAL_E_ARG, "too large" },
        { { .n = 1LL << 56, .count = 1 }, SHOAL_E_NOMEM, "bytes" },
        { { .n = 1, .stride = 1LL << 40, .count = 1LL << 40 }, SHOAL_E_ARG, "stride * count" },
        { { .n = 1, .count = 1, .key = (shoal_key)6 }, SHOAL_E_ARG, "key is 6" },
        { { .n = 1, .count = 1, .key = (shoal_key)-1 }, SHOAL_E_ARG, "key is -1" },
        { { .n = 1, .count = 1, .value_bytes = 2 }, SHOAL_E_ARG, "value_bytes is 2" },
        { { .n = 1, .count = 1, .index = 1 }, SHOAL_E_ARG, "value_bytes is 0" },
        { { .n = (1LL << 32) + 1, .count = 1, .index = 1, .value_bytes = 4 },
          SHOAL_E_ARG,
          "need 8" },
        { { .count = 2, .offsets = empty, .n = 1 }, SHOAL_E_ARG, "largest size, 0" },
        { { .count = 2, .offsets = falling }, SHOAL_E_ARG, "offsets[2] = 3" },
        { { .count = 2, .offsets = late }, SHOAL_E_ARG, "offsets[0] is 1" },
        { { .count = 2, .offsets = fair, .n = 4 }, SHOAL_E_ARG, "largest size, 5" },
        { { .count = 2, .offsets = fair, .stride = 9 }, SHOAL_E_ARG, "stride is 9" },
        { { .n = 1, .count = 1, .method = "magic" },
          SHOAL_E_METHOD,
          "mergepath, batchmerge, batchsort" },
        { { .n = 1, .count = 1, .method = "mergepath" }, SHOAL_E_METHOD, "does not sort" },
        { { .n = 1, .count = 1, .method = "batchsort", .variant = "x" },
          SHOAL_E_METHOD,
          "network, merge" },
        { { .n = 1, .count = 1, .variant = "merge" }, SHOAL_E_METHOD, "auto has no variants" },
    };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_sort *plan = (shoal_sort *)&something;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_sort_create(ctx, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        CHECK_SAYS(ctx, shoal_sort_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_sort_create(ctx, &cases[0].o, NULL), SHOAL_E_ARG, "plan");
        const shoal_sort_opts huge = { .n = 1LL << 47, .count = 1 };
        CHECK_SAYS(ctx, shoal_sort_create(ctx, &huge, &plan), SHOAL_E_NOMEM, "bytes");
    }
    shoal_sort *plan = (shoal_sort *)&something;
    CHECK(shoal_sort_create(NULL, &cases[0].o, &plan) == SHOAL_E_ARG && plan == NULL);
}

TEST(merge_create_refuses) {
    const struct {
        shoal_merge_opts o;
        shoal_status status;
        const char *word;
    } cases[] = {
        { { .na = -1, .nb = 1, .count = 1 }, SHOAL_E_ARG, "na is -1" },
        { { .na = 1, .nb = -1, .count = 1 }, SHOAL_E_ARG, "nb is -1" },
        { { .na = 1, .nb = 1, .count = -1 }, SHOAL_E_ARG, "count is -1" },
        { { .na = 1, .nb = 1LL << 40, .count = 1LL << 40 }, SHOAL_E_ARG, "nb * count" },
        { { .na = 1, .nb = 1, .count = 1, .key = (shoal_key)9 }, SHOAL_E_ARG, "key is 9" },
        { { .na = 1, .nb = 1, .count = 1, .value_bytes = 16 }, SHOAL_E_ARG, "value_bytes is 16" },
        { { .count = 2, .a_offsets = fair }, SHOAL_E_ARG, "b_offsets is NULL" },
        { { .count = 2, .b_offsets = fair }, SHOAL_E_ARG, "a_offsets is NULL" },
        { { .count = 2, .a_offsets = falling, .b_offsets = fair }, SHOAL_E_ARG, "a_offsets[2]" },
        { { .count = 2, .a_offsets = fair, .b_offsets = late }, SHOAL_E_ARG, "b_offsets[0]" },
        { { .count = 2, .a_offsets = fair, .b_offsets = fair, .nb = 3 },
          SHOAL_E_ARG,
          "nb is 3; with b_offsets" },
        { { .na = 1, .nb = 1, .count = 2, .method = "mergepath" }, SHOAL_E_METHOD, "batchmerge" },
        { { .na = 1, .nb = 1, .count = 1, .method = "batchsort" },
          SHOAL_E_METHOD,
          "does not merge" },
        { { .na = 1000, .nb = 25, .count = 1, .method = "mergepath", .variant = "small" },
          SHOAL_E_METHOD,
          "at most 1024 keys, not 1025" },
        { { .na = 1000, .nb = 25, .count = 1, .method = "batchmerge", .variant = "wide" },
          SHOAL_E_METHOD,
          "at most 1024 keys, not 1025" },
    };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_merge *plan = (shoal_merge *)&something;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_merge_create(ctx, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        CHECK_SAYS(ctx, shoal_merge_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_merge_create(ctx, &cases[0].o, NULL), SHOAL_E_ARG, "plan");
    }
    shoal_merge *plan = (shoal_merge *)&something;
    CHECK(shoal_merge_create(NULL, &cases[0].o, &plan) == SHOAL_E_ARG && plan == NULL);
}

TEST(run_looks_at_its_arrays) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        held h = hold(ctx, NULL, 256, 0);
        void *p = at(&h);
        shoal_sort *plain = NULL, *pairs = NULL, *places = NULL;
        shoal_merge *merge = NULL;
        shoal_sort_opts o = { .n = 2, .count = 2 };
        CHECK(shoal_sort_create(ctx, &o, &plain) == SHOAL_OK);
        o.value_bytes = 4;
        CHECK(shoal_sort_create(ctx, &o, &pairs) == SHOAL_OK);
        o.index = 1;
        CHECK(shoal_sort_create(ctx, &o, &places) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_sort_run(plain, NULL, NULL, p, NULL), SHOAL_E_ARG, "keys is NULL");
        CHECK_SAYS(ctx, shoal_sort_run(plain, p, NULL, NULL, NULL), SHOAL_E_ARG, "sorted is NULL");
        CHECK_SAYS(ctx, shoal_sort_run(plain, p, p, p, NULL), SHOAL_E_ARG, "values must be NULL");
        CHECK_SAYS(ctx, shoal_sort_run(plain, p, NULL, p, p), SHOAL_E_ARG, "sorted_values must be");
        CHECK_SAYS(ctx, shoal_sort_run(pairs, p, NULL, p, p), SHOAL_E_ARG, "values is NULL");
        CHECK_SAYS(ctx, shoal_sort_run(pairs, p, p, p, NULL), SHOAL_E_ARG, "sorted_values is NULL");
        CHECK_SAYS(ctx, shoal_sort_run(places, p, p, p, p), SHOAL_E_ARG, "makes the values");
        CHECK(shoal_sort_run(NULL, p, p, p, p) == SHOAL_E_ARG);
        const shoal_merge_opts m = { .na = 2, .nb = 0, .count = 1, .value_bytes = 8 };
        CHECK(shoal_merge_create(ctx, &m, &merge) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_merge_run(merge, NULL, NULL, p, p, NULL, p), SHOAL_E_ARG,
                   "a is NULL");
        CHECK_SAYS(ctx, shoal_merge_run(merge, p, NULL, p, NULL, NULL, p), SHOAL_E_ARG,
                   "a_values is NULL");
        CHECK_SAYS(ctx, shoal_merge_run(merge, p, NULL, p, p, NULL, NULL), SHOAL_E_ARG,
                   "merged_values is NULL");
        CHECK(shoal_merge_run(NULL, p, p, p, p, p, p) == SHOAL_E_ARG);
        CHECK_SAYS(ctx, shoal_sort_last(plain, NULL), SHOAL_E_ARG, "info is NULL");
        CHECK_SAYS(ctx, shoal_merge_last(merge, NULL), SHOAL_E_ARG, "info is NULL");
        CHECK(shoal_sort_last(NULL, NULL) == SHOAL_E_ARG);
        CHECK(shoal_merge_last(NULL, NULL) == SHOAL_E_ARG);
        shoal_sort_free(plain), shoal_sort_free(pairs), shoal_sort_free(places);
        shoal_merge_free(merge);
        shoal_sort_free(NULL);
        shoal_merge_free(NULL);
        free(let_go(&h, "arrays"));
    }
}

/* Nothing to do needs no arrays. */
TEST(empty_problems) {
    const shoal_sort_opts sorts[] = { { .n = 0, .count = 7 }, { .n = 7, .count = 0 } };
    const shoal_merge_opts merges[] = { { .na = 0, .nb = 0, .count = 3 }, { .na = 4, .nb = 2 } };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 2; i++) {
            shoal_sort *sort = NULL;
            shoal_merge *merge = NULL;
            shoal_sort_info info;
            CHECK(shoal_sort_create(targets[t].ctx, &sorts[i], &sort) == SHOAL_OK);
            CHECK(shoal_sort_run(sort, NULL, NULL, NULL, NULL) == SHOAL_OK);
            CHECK(shoal_sort_last(sort, &info) == SHOAL_OK && info.bytes == 0);
            CHECK(shoal_merge_create(targets[t].ctx, &merges[i], &merge) == SHOAL_OK);
            CHECK(shoal_merge_run(merge, NULL, NULL, NULL, NULL, NULL, NULL) == SHOAL_OK);
            CHECK(shoal_merge_last(merge, &info) == SHOAL_OK && info.bytes == 0);
            shoal_sort_free(sort);
            shoal_merge_free(merge);
        }
}

TEST(auto_and_names) {
    for (int t = 0; t < target_count; t++) {
        shoal_merge *merge = NULL;
        shoal_sort *sort = NULL;
        shoal_sort_info info;
        for (int count = 1; count < 3; count++) {
            const shoal_merge_opts o = { .na = 40, .nb = 2, .count = count };
            CHECK(shoal_merge_create(targets[t].ctx, &o, &merge) == SHOAL_OK);
            CHECK(shoal_merge_last(merge, &info) == SHOAL_OK);
            CHECK(strcmp(info.method, count == 1 ? "mergepath" : "batchmerge") == 0);
            CHECK(strcmp(info.variant, count == 1 ? "tiled" : "network") == 0);
            shoal_merge_free(merge);
        }
        const shoal_sort_opts o = { .n = 5000, .count = 2 };
        CHECK(shoal_sort_create(targets[t].ctx, &o, &sort) == SHOAL_OK);
        CHECK(shoal_sort_last(sort, &info) == SHOAL_OK);
        CHECK(strcmp(info.method, "batchsort") == 0 && strcmp(info.variant, "network") == 0);
        CHECK(info.bytes >= 2 * 5000 * sizeof(uint32_t)); /* passes need a second array */
        shoal_sort_free(sort);
    }
    CHECK(strcmp(shoal_key_name(SHOAL_KEY_F64), "f64") == 0 && !shoal_key_name((shoal_key)6));
    CHECK(shoal_key_bytes(SHOAL_KEY_I32) == 4 && shoal_key_bytes((shoal_key)-1) == 0);
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(sort_create_refuses);
    RUN(merge_create_refuses);
    RUN(run_looks_at_its_arrays);
    RUN(empty_problems);
    RUN(auto_and_names);
    close_targets();
    return TEST_END();
}
