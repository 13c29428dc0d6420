/* SPDX-License-Identifier: Apache-2.0
 *
 * test_recur_verdict.c - what recur reports: inputs that are not finite, answers that overflow, and
 * answers that are found although maps on the way to them overflow.
 */
#include "recur_batch.h"

/* The last two, of f64 and f32, have a block of lookback on the CPU (2112 or 8448 rows), the last is a wide
 * segment on CUDA (6144 rows); in emulated runs they are shorter. */
static int64_t lengths[] = { 1, 7, 40, 200, 2500, 9000 };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One bad number in segment 2: the rows before it are answered, those after it are not finite,
 * and the other segments have the bits they had. */
static void check_bad_number(const target *t, const call *c, const batch *good, int64_t row,
                             int where, double value) {
    const int64_t n = good->shape.n, count = good->shape.count, at = 2 * n + row;
    answer r = solve_with(t->ctx, good, c, (how){ 0 });
    double *number = where == 0   ? &good->s[at * good->width]
                     : where == 1 ? &good->t[at]
                                  : &good->w0[2 * order_of(good)];
    const double kept = *number;
    *number = value;
    answer bad = solve_with(t->ctx, good, c, (how){ .in_place = row % 2 });
    *number = kept;
    for (int64_t k = 0; k < count; k++) {
        CHECK_MSG(bad.status[k] == (k == 2 ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK),
                  "%s row %lld: status %d", name_of(t, c, good), (long long)row, bad.status[k]);
        if (k != 2) CHECK(same_all(r.w + k * n, bad.w + k * n, n));
    }
    CHECK(bad.info.failed == 1);
    const int64_t first = where == 2 ? 0 : row;
    int before = 1, after = 1;
    for (int64_t i = 0; i < n; i++)
        if (i < first)
            before &= isfinite(bad.w[2 * n + i]);
        else
            after &= !isfinite(bad.w[2 * n + i]);
    CHECK_MSG(before, "%s: rows before row %lld", name_of(t, c, good), (long long)first);
    CHECK_MSG(after || good->shape.form, "%s: rows after row %lld", name_of(t, c, good),
              (long long)first);
    free_answer(&r);
    free_answer(&bad);
}

TEST(bad_numbers_are_reported_and_disturb_nobody) {
    const double values[] = { NAN, INFINITY, -INFINITY };
    for (int j = 0; j < LENGTHS; j++)
        for (int kind = 1; kind <= 6; kind++) { /* orders, Moebius, and order 1 interleaved */
            const int order = kind == 6 ? 1 : kind;
            if (small && (kind + j) % 2) continue;
            shoal_recur_opts shape = { .n = lengths[j],
                                       .count = lengths[j] < 50 ? 21 : 3, /* packs, and a rest */
                                       .order = order % 5,
                                       .form = order == 5,
                                       .layout = kind == 6 ? SHOAL_INTERLEAVED : 0,
                                       .type = j % 2 };
            batch p = generate("decay", shape);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++)
                    for (int where = 0; where < 3; where++) {
                        if (!serves(c, &p) || (order == 5 && where == 1)) continue;
                        int64_t row = (lengths[j] * (1 + where)) / 4;
                        check_bad_number(&targets[t], c, &p, row, where, values[(j + where) % 3]);
                    }
            free_batch(&p);
        }
}

TEST(overflow_is_reported) {
    for (int type = 0; type < 2; type++)
        for (int64_t n = 1100; n <= lengths[5]; n += lengths[5] - 1100) {
            batch p = generate("decay", (shoal_recur_opts){ .n = n, .count = 3, .type = type });
            for (int64_t i = 0; i < n; i++) p.s[n + i] = 4; /* segment 1: 4^n */
            p.w0[1] = 1;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = n > 2000 });
                    for (int k = 0; k < 3; k++)
                        CHECK_MSG(r.status[k] == (k == 1 ? SHOAL_SYSTEM_OVERFLOW : 0), "%s: %d",
                                  name_of(&targets[t], c, &p), r.status[k]);
                    /* 4^i is finite for i < 64 (f32), 512 (f64), and so are those rows */
                    int64_t finite = type == SHOAL_F32 ? 60 : 500;
                    for (int64_t i = 0; i < finite; i++) CHECK(isfinite(r.w[n + i]));
                    CHECK(!isfinite(r.w[2 * n - 1]));
                    CHECK(r.info.failed == 1);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Each of a pack of short segments, side by side or one after another: in segment 4 w grows beyond the range. */
TEST(overflow_of_short_segments_is_reported) {
    enum { N = 40, COUNT = 37 };
    for (int flags = 0; flags < 8; flags++) {
        batch p = generate("decay", (shoal_recur_opts){ .n = N,
                                                        .count = COUNT,
                                                        .layout = flags & 2 ? SHOAL_INTERLEAVED : 0,
                                                        .type = flags % 2 });
        for (int i = 0; i < N; i++) p.s[4 * N + i] = flags % 2 ? 0x1p8 : 0x1p60;
        p.w0[4] = 1;
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = flags / 4 });
                for (int k = 0; k < COUNT; k++)
                    CHECK_MSG(r.status[k] == (k == 4 ? SHOAL_SYSTEM_OVERFLOW : 0), "%s k=%d: %d",
                              name_of(&targets[t], c, &p), k, r.status[k]);
                CHECK(r.info.failed == 1);
                free_answer(&r);
            }
        free_batch(&p);
    }
}

/* w is finite but for one row; maps over it are finite, too. And w that leaves the range in the last rows
 * alone, after all blocks of lookback on the CPU. */
TEST(overflow_of_one_row_is_reported) {
    for (int flags = 0; flags < 4; flags++) {
        const int type = flags % 2, tail = flags / 2;
        const int64_t n = lengths[5], row = tail ? n - 1 : 100;
        batch p = generate("unit", (shoal_recur_opts){ .n = n, .count = 2, .type = type });
        for (int64_t i = 0; i < n; i++) p.s[n + i] = 1, p.t[n + i] = 0;
        p.w0[1] = p.s[n + row] = type == SHOAL_F32 ? 0x1p80 : 0x1p600;
        if (!tail) p.s[n + row + 1] = 1 / p.w0[1];
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = type });
                CHECK_MSG(r.status[0] == 0 && r.status[1] == SHOAL_SYSTEM_OVERFLOW, "%s: %d, %d",
                          name_of(&targets[t], c, &p), r.status[0], r.status[1]);
                CHECK(!isfinite(r.w[n + row]) && isfinite(r.w[n + row - 1]));
                free_answer(&r);
            }
        free_batch(&p);
    }
}

/* w is 0 as long as t is, whatever s: its products overflow, the answer does not. Then comes a row
 * with s = 0, then one to walk away from. */
TEST(answers_are_found_where_maps_overflow) {
    for (int type = 0; type < 2; type++)
        for (int order = 1; order <= 4; order++)
            for (int j = 1; j < LENGTHS; j++) {
                const int64_t n = lengths[j];
                batch p = generate("decay", (shoal_recur_opts){
                                                .n = n, .count = 2, .order = order, .type = type });
                for (int e = 0; e < order; e++) p.w0[order + e] = 0;
                for (int64_t i = 0; i < n; i++) {
                    const int tail = i > n * 3 / 4;
                    p.t[n + i] = tail ? p.t[n + i] : 0;
                    for (int e = 0; e < order && !tail; e++)
                        p.s[(n + i) * order + e] = i % 50 == 49        ? 0
                                                   : type == SHOAL_F32 ? 0x1p40
                                                                       : 0x1p300;
                }
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        if (!serves(c, &p)) continue;
                        answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = j % 2 });
                        check_accuracy(&p, &r, name_of(&targets[t], c, &p));
                        free_answer(&r);
                    }
                free_batch(&p);
            }
}

/* The maps of single tiles do not overflow, but the map of any two of them does. w is 0 up to the last quarter: from the
 * beginning on, in a first tile whose map overflows, or (forgets) from a row of it on that forgets the first values. */
static void joined_maps_overflow(int type, int order, int forgets) {
    const int64_t n = 13000;
    batch p =
        generate("decay", (shoal_recur_opts){ .n = n, .count = 1, .order = order, .type = type });
    const double large = type == SHOAL_F32 ? 0x1p40 : 0x1p300;
    const int64_t apart = order > 1 ? 50 : type == SHOAL_F32 ? 500 : 190;
    for (int e = 0; e < order; e++) p.w0[e] = forgets;
    for (int64_t i = 0; i < n * 3 / 4; i++) {
        double s = i % apart == 7 ? large : 1;
        if (i < 20) s = forgets ? i < 20 - order : large;
        p.t[i] = 0;
        for (int e = 0; e < order; e++) p.s[i * order + e] = e > 0 ? 0 : s;
    }
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (!serves(c, &p)) continue;
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = type });
            check_accuracy(&p, &r, name_of(&targets[t], c, &p));
            free_answer(&r);
        }
    free_batch(&p);
}

TEST(answers_are_found_where_joined_maps_overflow) {
    for (int type = 0; type < 2; type++)
        for (int order = 1; order <= (small ? 2 : 4); order++)
            for (int forgets = 0; forgets < 2; forgets++)
                joined_maps_overflow(type, order, forgets);
}

/* Large and small rows by turns: the matrices of a Moebius recurrence are scaled. */
TEST(moebius_rows_of_any_scale) {
    for (int type = 0; type < 2; type++)
        for (int j = 0; j < LENGTHS; j++) {
            batch p = generate("decay", (shoal_recur_opts){ .n = lengths[j],
                                                            .count = 3,
                                                            .form = SHOAL_RECUR_MOEBIUS,
                                                            .type = type });
            const int most = type == SHOAL_F32 ? 100 : 900;
            for (int64_t i = 0; i < lengths[j] * 3; i++)
                for (int e = 0; e < 4; e++)
                    p.s[i * 4 + e] = ldexp(p.s[i * 4 + e], i % 7 < 4 ? most : -most);
            round_all(p.s, lengths[j] * 12, type);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    if (!serves(c, &p)) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    check_accuracy(&p, &r, name_of(&targets[t], c, &p));
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* p = 1 / 0 in the middle of one segment. */
TEST(a_zero_denominator_is_reported) {
    batch p =
        generate("decay", (shoal_recur_opts){ .n = 2400, .count = 3, .form = SHOAL_RECUR_MOEBIUS });
    double *row = p.s + (2400 + 300) * 4;
    row[0] = 0, row[1] = 1, row[2] = 0, row[3] = 0;
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            if (!serves(c, &p)) continue;
            answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            for (int k = 0; k < 3; k++)
                CHECK_MSG(r.status[k] == (k == 1 ? SHOAL_SYSTEM_OVERFLOW : 0), "%s: %d",
                          name_of(&targets[t], c, &p), r.status[k]);
            CHECK(!isfinite(r.w[2400 + 300]) && isfinite(r.w[2400 + 299]));
            free_answer(&r);
        }
    free_batch(&p);
}

TEST(generated_segments_that_are_not_finite) {
    batch p = generate("nonfinite", (shoal_recur_opts){ .n = 90, .count = 40 });
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer r = solve_with(targets[t].ctx, &p, c, (how){ .in_place = 1 });
            for (int k = 0; k < 40; k++)
                CHECK_MSG(r.status[k] == (k % 11 == 10 ? SHOAL_SYSTEM_NONFINITE : 0), "%s k=%d: %d",
                          name_of(&targets[t], c, &p), k, r.status[k]);
            CHECK(r.info.failed == 3);
            free_answer(&r);
        }
    free_batch(&p);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    if (small) lengths[4] = 1100, lengths[5] = 6200;
    TEST_BEGIN(argc, argv);
    RUN(bad_numbers_are_reported_and_disturb_nobody);
    RUN(overflow_is_reported);
    RUN(overflow_of_short_segments_is_reported);
    RUN(overflow_of_one_row_is_reported);
    RUN(answers_are_found_where_maps_overflow);
    RUN(answers_are_found_where_joined_maps_overflow);
    RUN(moebius_rows_of_any_scale);
    RUN(a_zero_denominator_is_reported);
    RUN(generated_segments_that_are_not_finite);
    close_targets();
    return TEST_END();
}
