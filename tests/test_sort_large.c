/* SPDX-License-Identifier: Apache-2.0
 *
 * test_sort_large.c - more than 2^31 keys on a GPU: one merge, and rows. The keys are such that the
 * result is known without sorting: its key i is i, or i within its row.
 */
#include "targets.h"

enum { CHUNK = 1 << 24, ROW = 1024 };
static const int64_t MERGED = (1LL << 31) + 5, ROWS = (1LL << 21) + 3;

static uint32_t *chunk;
static shoal_context *ctx;

/* keys[i] = first + step i, for i below count, or within rows of ROW keys from the end backwards. */
static void fill(uint32_t *keys, int64_t count, uint32_t first, uint32_t step, int rows) {
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t here = count - at < CHUNK ? count - at : CHUNK;
        for (int64_t i = 0; i < here; i++)
            chunk[i] =
                rows ? (uint32_t)(ROW - 1 - (at + i) % ROW) : first + step * (uint32_t)(at + i);
        CHECK(shoal_copy(ctx, keys + at, chunk, (size_t)here * 4) == SHOAL_OK);
    }
}

static void check_ramp(const uint32_t *keys, int64_t count, int64_t period) {
    int64_t wrong = 0;
    for (int64_t at = 0; at < count; at += CHUNK) {
        const int64_t here = count - at < CHUNK ? count - at : CHUNK;
        CHECK(shoal_copy(ctx, chunk, keys + at, (size_t)here * 4) == SHOAL_OK);
        for (int64_t i = 0; i < here; i++) wrong += chunk[i] != (uint32_t)((at + i) % period);
    }
    CHECK_MSG(wrong == 0, "%lld keys are wrong", (long long)wrong);
}

static int enough_memory(void) {
    shoal_machine machine;
    CHECK(shoal_describe(ctx, &machine) == SHOAL_OK);
    return machine.memory >= 24ull << 30; /* two arrays of 8 GiB, and room */
}

TEST(one_merge) {
    if (!enough_memory()) SKIP("it needs 24 GiB of device memory");
    uint32_t *a = NULL, *b = NULL, *m = NULL;
    shoal_merge *plan = NULL;
    shoal_sort_info info;
    const shoal_merge_opts o = { .na = (MERGED + 1) / 2, .nb = MERGED / 2, .count = 1 };
    CHECK(shoal_alloc(ctx, (size_t)o.na * 4, (void **)&a) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, (size_t)o.nb * 4, (void **)&b) == SHOAL_OK);
    CHECK(shoal_alloc(ctx, (size_t)MERGED * 4, (void **)&m) == SHOAL_OK);
    fill(a, o.na, 0, 2, 0);
    fill(b, o.nb, 1, 2, 0);
    CHECK(shoal_merge_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_merge_run(plan, a, b, m, NULL, NULL, NULL) == SHOAL_OK);
    CHECK(shoal_merge_last(plan, &info) == SHOAL_OK);
    check_ramp(m, MERGED, INT64_MAX);
    shoal_merge_free(plan);
    shoal_free(ctx, a), shoal_free(ctx, b), shoal_free(ctx, m);
}

TEST(rows) {
    if (!enough_memory()) SKIP("it needs 24 GiB of device memory");
    uint32_t *keys = NULL;
    shoal_sort *plan = NULL;
    shoal_sort_info info;
    const shoal_sort_opts o = { .n = ROW, .count = ROWS };
    CHECK(shoal_alloc(ctx, (size_t)(ROW * ROWS) * 4, (void **)&keys) == SHOAL_OK);
    fill(keys, ROW * ROWS, 0, 0, 1);
    CHECK(shoal_sort_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_sort_run(plan, keys, NULL, keys, NULL) == SHOAL_OK);
    CHECK(shoal_sort_last(plan, &info) == SHOAL_OK);
    check_ramp(keys, ROW * ROWS, ROW);
    shoal_sort_free(plan);
    shoal_free(ctx, keys);
}

int main(int argc, char **argv) {
    if (shoal_open(&(shoal_options){ .backend = "cuda" }, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    chunk = new_array(CHUNK, sizeof *chunk);
    TEST_BEGIN(argc, argv);
    RUN(one_merge);
    RUN(rows);
    free(chunk);
    shoal_close(ctx);
    return TEST_END();
}
