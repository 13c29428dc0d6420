/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_pscheme.c - the P-scheme for one system: any number of parts, parts whose maps
 * overflow or whose printed recursion breaks down, zero pivots at every place of a part, and the same
 * bits whatever the threads. What it has in common with other methods is in test_tridiag.c.
 *
 *     test_tridiag_pscheme [--small] [--backend=cpu|cuda] [test name ...]
 */
#ifndef SHOAL_EMULATED /* there real.h names the level itself */
#define SHOAL_LEVEL base
#endif
#include "tridiag/paper/pscheme.h"
#include "tridiag_batch.h"

static const char *const variants[] = { "blocked", "rearranged", "printed", "lookback" };
enum { VARIANTS = 4, BLOCKED = 0, REARRANGED = 1, PRINTED = 2, CUT = 3 }; /* CUT: take T and G */

static call variant_call(int v) { return (call){ "pscheme", variants[v], 0 }; }

/* ---- the maps --------------------------------------------------------------------------------- */

/* Rows of alternating kind with dl = du, dominant, or with a zero on the diagonal of the last one. */
static tri_row map_row(int i, int rows, int zero) {
    const double off = i % 3 ? -1.25 : 0.75;
    return (tri_row){ off, zero && i == rows - 1 ? 0 : 2.75 + i % 5, off, 1 };
}

/* The product, the printed recursion and plain substitution take p to the same number. */
TEST(maps_of_several_rows_are_substitution) {
    for (int rows = 1; rows < 60; rows++)
        for (int k = 0; k < 3; k++) {
            recur_state p = { { (k - 1) * 0.375 } };
            double plain = p.x[0];
            recur_map product = map_identity(SHAPE_MOEBIUS);
            printed v = printed_first(map_row(rows - 1, rows, 0));
            for (int i = 0; i < rows; i++) {
                const tri_row r = map_row(i, rows, 0);
                append_p(&product, r);
                plain = p_of_row(r, inverse_pivot(r, plain));
            }
            for (int i = rows - 2; i >= 0; i--) printed_append(&v, map_row(i, rows, 0));
            const recur_map by_print = printed_map(&v);
            const double one = map_apply(&product, &p, SHAPE_MOEBIUS).x[0];
            const double other = map_apply(&by_print, &p, SHAPE_MOEBIUS).x[0];
            CHECK_MSG(fabs(one - plain) <= 20 * DBL_EPSILON, "%d rows: %.3g", rows, one - plain);
            CHECK_MSG(fabs(other - plain) <= 20 * DBL_EPSILON, "%d rows: %.3g", rows,
                      other - plain);
        }
}

/* Where gamma is zero, or dl and du differ, the printed map is not finite and cannot be taken for one. */
TEST(the_printed_recursion_says_where_it_breaks_down) {
    printed v = printed_first(map_row(4, 5, 1));
    for (int i = 3; i >= 0; i--) printed_append(&v, map_row(i, 5, 1));
    recur_map m = printed_map(&v);
    CHECK(map_poison(&m, SHAPE_MOEBIUS) != 0);
    v = printed_first(map_row(4, 5, 0));
    for (int i = 3; i >= 0; i--) {
        tri_row r = map_row(i, 5, 0);
        if (i == 2) r.dl += 1;
        printed_append(&v, r);
    }
    m = printed_map(&v);
    CHECK(map_poison(&m, SHAPE_MOEBIUS) != 0);
}

/* ---- parts ------------------------------------------------------------------------------------ */

TEST(any_number_of_parts_will_do) {
    const int64_t lengths[] = { 1, 2, 5, 37, 256, small ? 300 : 3001 };
    const int shapes[][2] = {
        { 1, 1 }, { 2, 1 }, { 3, 2 }, { 1, 7 }, { 32, 4 }, { 0, 5 }, { 33, 0 }
    };
    for (int i = 0; i < 6; i++)
        for (int s = 0; s < 7; s++) {
            batch p = generate("dominant", lengths[i], 2, 2, (i + s) % 2);
            for (int t = 0; t < target_count; t++) {
                answer r[CUT];
                for (int v = 0; v < CUT; v++) {
                    const call c = variant_call(v);
                    const how h = { .threads = shapes[s][0],
                                    .groups = shapes[s][1],
                                    .layout = s % 2,
                                    .in_place = v == REARRANGED };
                    r[v] = solve_with(targets[t].ctx, &p, &c, h);
                    check_accuracy(&p, &r[v], STABLE, name_of(&targets[t], &c));
                    if (shapes[s][0]) CHECK(r[v].info.threads == shapes[s][0]);
                    if (shapes[s][1]) CHECK(r[v].info.groups == shapes[s][1]);
                    CHECK(r[v].info.threads > 0 && r[v].info.groups > 0);
                }
                CHECK_MSG(same_all(r[BLOCKED].x, r[REARRANGED].x, p.n * p.count * p.nrhs),
                          "%s n=%lld T=%d G=%d: rearranged", targets[t].backend,
                          (long long)lengths[i], shapes[s][0], shapes[s][1]);
                for (int v = 0; v < CUT; v++) free_answer(&r[v]);
            }
            free_batch(&p);
        }
}

/* P about sqrt(n/2), equation (18): as many threads as bring the groups there. */
TEST(the_default_is_the_policy_of_the_paper) {
    const int64_t lengths[] = { 1, 2, 8, 1000, 1 << 18 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 5; i++) {
            const shoal_tridiag_opts o = {
                .n = lengths[i], .count = 1, .nrhs = 1, .method = "pscheme"
            };
            shoal_tridiag *plan;
            shoal_tridiag_info info;
            CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
            const double best = sqrt((double)lengths[i] / 2), parts = info.threads * info.groups;
            CHECK_MSG(parts >= best - 1 && parts < best + 1 + info.groups, "n=%lld: %d x %d",
                      (long long)lengths[i], info.threads, info.groups);
            shoal_tridiag_free(plan);
        }
}

TEST(parts_out_of_range_are_refused) {
    const struct {
        const char *method, *variant;
        int threads, groups;
        shoal_status status;
        const char *word;
    } cases[] = { { "pscheme", NULL, -1, 0, SHOAL_E_ARG, "threads is -1" },
                  { "pscheme", NULL, 1025, 0, SHOAL_E_ARG, "threads is 1025" },
                  { "pscheme", NULL, 0, -2, SHOAL_E_ARG, "groups is -2" },
                  { "pscheme", NULL, 0, (1 << 20) + 1, SHOAL_E_ARG, "groups is 1048577" },
                  { "pscheme", "lookback", 4, 0, SHOAL_E_METHOD, "threads is 4" },
                  { "pscheme", "lookback", 0, 4, SHOAL_E_METHOD, "groups is 4" },
                  { "thomas", NULL, 0, 4, SHOAL_E_METHOD, "groups is 4; thomas" },
                  { "auto", NULL, 3, 0, SHOAL_E_METHOD, "threads is 3; auto" } };
    for (int t = 0; t < target_count; t++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            const shoal_tridiag_opts o = { .n = 9,
                                           .count = 1,
                                           .nrhs = 1,
                                           .method = cases[i].method,
                                           .variant = cases[i].variant,
                                           .threads = cases[i].threads,
                                           .groups = cases[i].groups };
            shoal_tridiag *plan;
            CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == cases[i].status && !plan);
            CHECK_MSG(strstr(shoal_message(targets[t].ctx), cases[i].word), "%s",
                      shoal_message(targets[t].ctx));
        }
}

/* ---- rows that maps cannot do ----------------------------------------------------------------- */

static batch constant_rows(int64_t n, shoal_type type, double dl, double d, double du) {
    batch p = new_batch(n, 1, 1, type);
    for (int64_t i = 0; i < n; i++) p.dl[i] = dl, p.d[i] = d, p.du[i] = du;
    return p;
}

/* Rows of one part after the other that multiply by -1e10: the map of a part overflows, the answer,
 * zero but in a few rows, does not. */
TEST(parts_whose_maps_overflow_are_walked) {
    for (int type = 0; type < 2; type++)
        for (int up = 0; up < 2; up++) {
            const int64_t n = 3000, few = type == SHOAL_F32 ? 3 : 20;
            batch p = constant_rows(n, type, up ? 0 : 1e10, 1, up ? 1e10 : 0);
            for (int64_t i = 0; i < few; i++) p.b[up ? i : n - 1 - i] = 1;
            for (int t = 0; t < target_count; t++) {
                answer exact = solve_with(targets[t].ctx, &p, &(call){ "thomas", NULL, 0 },
                                          (how){ .no_residual = 1 });
                for (int v = 0; v < VARIANTS; v++) {
                    const call c = variant_call(v);
                    const how h = { .threads = v < CUT ? 5 : 0, .no_residual = 1 };
                    answer r = solve_with(targets[t].ctx, &p, &c, h);
                    CHECK_MSG(r.status[0] == SHOAL_SYSTEM_OK, "%s: status %d",
                              name_of(&targets[t], &c), r.status[0]);
                    for (int64_t i = 0; i < n; i++) {
                        const double off = fabs(r.x[i] - exact.x[i]);
                        CHECK_MSG(off <= 100 * eps_of(type) * fabs(exact.x[i]), "%s row %lld: %g",
                                  name_of(&targets[t], &c), (long long)i, r.x[i]);
                    }
                    free_answer(&r);
                }
                free_answer(&exact);
            }
            free_batch(&p);
        }
}

/* Rows with dl = du as the paper has them; with a zero on the diagonal at the end of a part, where the
 * printed recursion divides by it; and one row with dl and du that differ. All are solved. */
TEST(rows_as_the_paper_has_them) {
    const int64_t n = 400;
    for (int type = 0; type < 2; type++)
        for (int k = 0; k < 3; k++) {
            batch p = constant_rows(n, type, -1, 4, -1);
            for (int64_t i = 0; i < n; i++) p.b[i] = 1 + (double)(i % 7);
            if (k == 1)
                for (int64_t i = 49; i < n; i += 50) p.d[i] = 0; /* T G = 8: parts of 50 rows */
            if (k == 2) p.dl[130] = 1.5;
            for (int t = 0; t < target_count; t++)
                for (int v = 0; v < VARIANTS; v++) {
                    const call c = variant_call(v);
                    const how h = { .threads = v < CUT ? 4 : 0, .groups = v < CUT ? 2 : 0 };
                    answer r = solve_with(targets[t].ctx, &p, &c, h);
                    check_accuracy(&p, &r, STABLE, name_of(&targets[t], &c));
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* ---- failures --------------------------------------------------------------------------------- */

/* A pivot that is exactly zero, at every place of a part and in every part: no answer, whatever the
 * maps of whole parts, which go on beyond it, say. */
TEST(a_zero_pivot_anywhere_is_reported) {
    const int64_t n = 120;
    for (int64_t at = 0; at < n; at += small ? 7 : 1)
        for (int in_place = 0; in_place < 2; in_place++) {
            batch p = generate("dominant", n, 3, 1, at % 2);
            p.dl[n + at] = p.d[n + at] = 0;
            for (int t = 0; t < target_count; t++)
                for (int v = 0; v < VARIANTS; v++) {
                    const call c = variant_call(v);
                    const how h = { .threads = v < CUT ? 6 : 0,
                                    .in_place = in_place,
                                    .no_residual = at % 3 == 0 };
                    answer r = solve_with(targets[t].ctx, &p, &c, h);
                    const int want[3] = { 0, SHOAL_SYSTEM_PIVOT, 0 };
                    for (int k = 0; k < 3; k++)
                        CHECK_MSG(r.status[k] == want[k], "%s row %lld system %d: %d",
                                  name_of(&targets[t], &c), (long long)at, k, r.status[k]);
                    for (int64_t i = n; i < 2 * n; i++)
                        CHECK(in_place ? same(r.x[i], p.b[i]) : isnan(r.x[i]));
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Of the test matrices many need pivoting. What is called ok is: the residual is looked at. */
TEST(what_is_called_ok_is_ok) {
    const int64_t n = small ? 250 : 2000;
    for (int k = 0; shoal_tridiag_kind(k); k++)
        for (int type = 0; type < 2; type++) {
            batch p = generate(shoal_tridiag_kind(k), n, 3, 1, type);
            for (int t = 0; t < target_count; t++)
                for (int v = 0; v < VARIANTS; v++) {
                    const call c = variant_call(v);
                    answer r = solve_with(targets[t].ctx, &p, &c, (how){ .layout = k % 2 });
                    for (int64_t s = 0; s < p.count; s++) {
                        const double error = backward_error(&p, s, 0, r.x) / eps_of(type);
                        CHECK_MSG(r.status[s] != 0 || error <= TRUSTED, "%s %s: ok, but %.3g eps",
                                  name_of(&targets[t], &c), shoal_tridiag_kind(k), error);
                        CHECK(r.status[s] < 0 ? isnan(r.x[s * n]) : isfinite(r.x[s * n]));
                    }
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* ---- long systems ----------------------------------------------------------------------------- */

/* Dominant systems: what is wrong with the value before a part fades within it. */
TEST(long_systems_are_solved) {
    const char *const kinds[] = { "dominant", "spike18", "spike20" };
    for (int k = 0; k < 3; k++)
        for (int type = 0; type < 2; type++) {
            batch p = generate(kinds[k], small ? 5000 : 100003, 1, 1, type);
            for (int t = 0; t < target_count; t++)
                for (int v = 0; v < VARIANTS; v++) {
                    const call c = variant_call(v);
                    answer r = solve_with(targets[t].ctx, &p, &c, (how){ 0 });
                    check_accuracy(&p, &r, STABLE, name_of(&targets[t], &c));
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* Where a matrix is just dominant it does not fade: a product of the M rows of a part has the
 * roundings of M rows, one unit each, and so has the row after the part. The printed recursion has
 * more; what it calls ok is subject of the test above. */
TEST(errors_of_a_barely_dominant_system_are_those_of_a_part) {
    for (int type = 0; type < 2; type++) {
        /* in f32 a longer one is singular to working accuracy: its condition is n^2 / 2 */
        const int64_t n = small || type == SHOAL_F32 ? 3000 : 100003;
        const double m = sqrt(2.0 * (double)n), rows[VARIANTS] = { m, m, 0, 1024 };
        batch p = generate("laplace", n, 1, 1, type);
        for (int t = 0; t < target_count; t++)
            for (int v = 0; v < VARIANTS; v++) {
                const call c = variant_call(v);
                if (v == PRINTED) continue;
                answer r = solve_with(targets[t].ctx, &p, &c, (how){ 0 });
                const double error = backward_error(&p, 0, 0, r.x) / eps_of(type);
                CHECK_MSG(r.status[0] >= 0 && error <= rows[v], "%s: status %d, %.3g eps",
                          name_of(&targets[t], &c), r.status[0], error);
                CHECK_MSG(error <= TRUSTED || r.status[0] == SHOAL_SYSTEM_ILL, "%s: %.3g eps, ok",
                          name_of(&targets[t], &c), error);
                free_answer(&r);
            }
        free_batch(&p);
    }
}

TEST(bits_do_not_depend_on_the_threads) {
    batch p = generate("random", small ? 5000 : 20011, 1, 1, SHOAL_F64);
    for (int t = 0; t < target_count && on_cpu(&targets[t]); t++)
        for (int v = 0; v < VARIANTS; v++) {
            const call c = variant_call(v);
            answer r = solve_with(targets[t].ctx, &p, &c, (how){ 0 });
            for (int threads = 1; threads < 8; threads += 2) {
                const shoal_options o = { .backend = "cpu",
                                          .isa = targets[t].isa,
                                          .threads = threads };
                shoal_context *ctx;
                CHECK(shoal_open(&o, &ctx) == SHOAL_OK);
                answer s = solve_with(ctx, &p, &c, (how){ .in_place = threads == 3 });
                CHECK_MSG(same_all(r.x, s.x, p.n), "%s: %d threads", name_of(&targets[t], &c),
                          threads);
                free_answer(&s);
                shoal_close(ctx);
            }
            free_answer(&r);
        }
    free_batch(&p);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(maps_of_several_rows_are_substitution);
    RUN(the_printed_recursion_says_where_it_breaks_down);
    RUN(any_number_of_parts_will_do);
    RUN(the_default_is_the_policy_of_the_paper);
    RUN(parts_out_of_range_are_refused);
    RUN(parts_whose_maps_overflow_are_walked);
    RUN(rows_as_the_paper_has_them);
    RUN(a_zero_pivot_anywhere_is_reported);
    RUN(what_is_called_ok_is_ok);
    RUN(long_systems_are_solved);
    RUN(errors_of_a_barely_dominant_system_are_those_of_a_part);
    RUN(bits_do_not_depend_on_the_threads);
    close_targets();
    return TEST_END();
}
