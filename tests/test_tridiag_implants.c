/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_implants.c - the singular blocks that the g-Spike paper's Tables 3 to 5 implant in #1
 * and #18, singular interiors of blocks, and Figure 1: the blocks are singular, the whole matrix is
 * not, and all else is as it was.
 */
#include "tridiag_singular.h"

typedef struct implant {
    const char *kind, *base;
    int inner, hidden;
} implant;

static const implant implants[] = {
    { "block18", "spike18", 0, 0 },    { "block1", "spike1", 0, 0 },
    { "hidden18", "spike18", 0, 1 },   { "hidden1", "spike1", 0, 1 },
    { "inner18", "spike18", 1, 0 },    { "inner1", "spike1", 1, 0 },
    { "hidinner18", "spike18", 1, 1 }, { "hidinner1", "spike1", 1, 1 },
};

/* Is what couples the part to the rest that of the base, as are all rows of an unchanged part? */
static int same_rows(const batch *p, const batch *q, int64_t first, int64_t m, int whole) {
    int equal = 1;
    for (int64_t i = first; i < first + m; i++) {
        if (whole || i == first) equal &= same(p->dl[i], q->dl[i]);
        if (whole) equal &= p->d[i] == q->d[i];
        if (whole || i == first + m - 1) equal &= same(p->du[i], q->du[i]);
    }
    return equal;
}

static void implant_case(const implant *of, int64_t n, int64_t count, int64_t size,
                         int64_t offset) {
    char name[64];
    snprintf(name, sizeof name, "%s:%lld:%lld:%lld", of->kind, (long long)count, (long long)size,
             (long long)offset);
    batch p = one_system(name, n), q = one_system(of->base, n);
    const int64_t blocks = (n - offset) / size, m = size - 2 * of->inner;
    int64_t singular = 0, next = 0; /* the next block that should be */
    CHECK_MSG(same_rows(&p, &q, 0, offset, 1), "%s", name);
    CHECK_MSG(same_rows(&p, &q, offset + blocks * size, n - offset - blocks * size, 1), "%s", name);
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t top = offset + k * size + of->inner;
        const int wanted = next < count && k == (2 * next + 1) * blocks / (2 * count);
        CHECK_MSG(same_rows(&p, &q, top, m, !wanted), "%s block %lld", name, (long long)k);
        if (!wanted) continue;
        batch part = part_of(&p, top, m);
        wide corner, least = smallest(&part, &corner);
        CHECK_MSG(least < 4 * DBL_EPSILON * largest(&part), "%s block %lld: %Lg", name,
                  (long long)k, least);
        /* the null vector has 1e-12 or so of itself at the end of 16 rows, and less of more */
        const wide revealed = size < 24 ? sqrtl(DBL_EPSILON) : 0.1L;
        CHECK_MSG(!of->hidden || top == 0 || corner > revealed, "%s block %lld: corner %Lg", name,
                  (long long)k, corner);
        CHECK_MSG(of->hidden || corner < 1e-8L, "%s block %lld: corner %Lg", name, (long long)k,
                  corner);
        free_batch(&part);
        singular++, next++;
    }
    CHECK_MSG(singular == (count < blocks ? count : blocks), "%s: %lld", name, (long long)singular);
    const double kappa = condition(&p);
    CHECK_MSG(kappa < 1e12, "%s: %.3g", name, kappa);
    free_batch(&p);
    free_batch(&q);
}

TEST(blocks_are_singular_and_the_whole_is_not) {
    if (!wide_enough) SKIP("long double is no wider than double");
    const int64_t sizes[][2] = {
        { 32, 0 }, { 32, 1 }, { 32, 31 }, { 31, 0 }, { 16, 7 }, { 64, 3 }
    };
    for (size_t i = 0; i < sizeof implants / sizeof *implants; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            const int64_t blocks = (1024 - sizes[j][1]) / sizes[j][0];
            const int64_t counts[] = { 1, 5, blocks };
            for (int k = 0; k < 3; k++)
                implant_case(&implants[i], 1024, counts[k], sizes[j][0], sizes[j][1]);
        }
}

TEST(implants_of_none_one_and_more_than_all) {
    for (size_t i = 0; i < sizeof implants / sizeof *implants; i++) {
        char none[32], one[32], all[32], more[32];
        const char *kind = implants[i].kind;
        snprintf(none, sizeof none, "%s:0", kind);
        snprintf(one, sizeof one, "%s:1:32:0", kind);
        snprintf(all, sizeof all, "%s:9", kind);
        snprintf(more, sizeof more, "%s:2147483647", kind);
        const char *const pairs[][2] = { { none, implants[i].base }, { one, kind }, { more, all } };
        for (int j = 0; j < 3; j++) {
            batch p = one_system(pairs[j][0], 300), q = one_system(pairs[j][1], 300);
            CHECK_MSG(same_all(p.dl, q.dl, 300) && same_all(p.d, q.d, 300) &&
                          same_all(p.du, q.du, 300) && same_all(p.b, q.b, 300),
                      "%s", pairs[j][0]);
            free_batch(&p);
            free_batch(&q);
        }
    }
}

TEST(figure_1_has_singular_blocks) {
    if (!wide_enough) SKIP("long double is no wider than double");
    for (int64_t n = 5; n < 1100; n = n * 3 + 1) {
        batch p = one_system("fig1", n);
        for (int64_t top = 0; top + 5 <= n; top += 5) {
            batch leading = part_of(&p, top, 3), trailing = part_of(&p, top + 3, 2);
            CHECK(smallest(&leading, NULL) < 1e-17L && smallest(&trailing, NULL) < 1e-17L);
            free_batch(&leading);
            free_batch(&trailing);
        }
        const double kappa = condition(&p);
        CHECK_MSG(kappa < 13, "n=%lld: %g", (long long)n, kappa);
        free_batch(&p);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(blocks_are_singular_and_the_whole_is_not);
    RUN(implants_of_none_one_and_more_than_all);
    RUN(figure_1_has_singular_blocks);
    close_targets();
    return TEST_END();
}
