/* SPDX-License-Identifier: Apache-2.0
 *
 * test_recur_api.c - what recur's functions refuse and what they say then, what auto chooses, the
 * parts of the P-scheme, and the generator of test recurrences.
 */
#include "recur_batch.h"
#include "sanitizer.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static const shoal_recur_opts modest = { .n = 4, .count = 3 };

TEST(create_refuses_bad_sizes_and_words) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_recur *plan = (shoal_recur *)&modest;
        const struct {
            shoal_recur_opts o;
            shoal_status status;
            const char *word;
        } cases[] = {
            { { .n = -1, .count = 1 }, SHOAL_E_ARG, "n is -1" },
            { { .n = 1, .count = -2 }, SHOAL_E_ARG, "count is -2" },
            { { .n = 1LL << 45, .count = 1 }, SHOAL_E_ARG, "too large" },
            { { .n = 1LL << 31, .count = 1LL << 31 }, SHOAL_E_ARG, "2147483648 is too large" },
            { { .n = 0, .count = 1LL << 60 }, SHOAL_E_ARG, "too large (0 counts as 1)" },
            { { .n = 1, .count = 1, .order = 5 }, SHOAL_E_ARG, "order is 5" },
            { { .n = 1, .count = 1, .order = -1 }, SHOAL_E_ARG, "order is -1" },
            { { .n = 1, .count = 1, .form = (shoal_recur_form)2 }, SHOAL_E_ARG, "form is 2" },
            { { .n = 1, .count = 1, .form = SHOAL_RECUR_MOEBIUS, .order = 2 },
              SHOAL_E_ARG,
              "order is 2" },
            { { .n = 1, .count = 1, .type = (shoal_type)2 }, SHOAL_E_ARG, "type is 2" },
            { { .n = 1, .count = 1, .layout = (shoal_layout)9 }, SHOAL_E_ARG, "layout is 9" },
            { { .n = 1, .count = 1, .threads = 1025 }, SHOAL_E_ARG, "threads is 1025" },
            { { .n = 1, .count = 1, .groups = -1 }, SHOAL_E_ARG, "groups is -1" },
            { { .n = 1, .count = 1, .method = "magic" },
              SHOAL_E_METHOD,
              "serial, lookback, pscheme, pcr" },
            { { .n = 1, .count = 1, .method = "pscheme", .variant = "x" },
              SHOAL_E_METHOD,
              "blocked, rearranged" },
            { { .n = 1, .count = 1, .variant = "blocked" }, SHOAL_E_METHOD, "auto" },
            { { .n = 1, .count = 1, .method = "pcr", .order = 2 },
              SHOAL_E_METHOD,
              "orders above 1" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_recur_create(ctx, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        CHECK_SAYS(ctx, shoal_recur_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_recur_create(ctx, &modest, NULL), SHOAL_E_ARG, "plan");
        shoal_recur_opts huge = { .n = (1LL << 45) - 1, .count = 1, .method = "pcr" };
        CHECK_SAYS(ctx, shoal_recur_create(ctx, &huge, &plan), SHOAL_E_NOMEM, "bytes");
    }
    shoal_recur *plan = (shoal_recur *)&modest;
    CHECK(shoal_recur_create(NULL, &modest, &plan) == SHOAL_E_ARG && plan == NULL);
    CHECK(shoal_recur_create(NULL, &modest, NULL) == SHOAL_E_ARG);
}

TEST(solve_and_outcome_refuse_bad_arrays) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_recur *plan;
        double *m;
        CHECK(shoal_recur_create(ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 12 * sizeof(double), (void **)&m) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_recur_solve(plan, NULL, m, m, m), SHOAL_E_ARG, "s is NULL");
        CHECK_SAYS(ctx, shoal_recur_solve(plan, m, NULL, m, m), SHOAL_E_ARG, "t is NULL");
        CHECK_SAYS(ctx, shoal_recur_solve(plan, m, m, m, NULL), SHOAL_E_ARG, "w is NULL");
        CHECK_SAYS(ctx, shoal_recur_solvef(plan, NULL, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "shoal_recur_solve");
        CHECK_SAYS(ctx, shoal_recur_last(plan, NULL), SHOAL_E_ARG, "info");
        const shoal_outcome refused[] = { { .residual = (float *)m },
                                          { .rcond = (float *)m },
                                          { .rank = (int32_t *)m },
                                          { .inertia = (int32_t *)m } };
        const char *words[] = { "residual", "rcond", "rank", "inertia" };
        for (int i = 0; i < 4; i++)
            CHECK_SAYS(ctx, shoal_recur_outcome(plan, &refused[i]), SHOAL_E_ARG, words[i]);
        CHECK(shoal_recur_outcome(plan, NULL) == SHOAL_OK);
        shoal_recur_free(plan);
        shoal_recur_opts constant = modest;
        constant.constant_t = 1;
        CHECK(shoal_recur_create(ctx, &constant, &plan) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_recur_solve(plan, m, m, NULL, m), SHOAL_E_ARG, "w is t");
        shoal_recur_free(plan);
        shoal_free(ctx, m);
    }
    shoal_recur_info info;
    CHECK(shoal_recur_solve(NULL, NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_recur_outcome(NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_recur_last(NULL, &info) == SHOAL_E_ARG);
    shoal_recur_free(NULL);
}

/* A plan that stops after a phase writes w in the last phase alone, and rearranged not even then. */
TEST(pscheme_stops_after_a_phase) {
    enum { N = 300 };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 8; i++) {
            const int phase = i / 2, rearranged = i % 2;
            shoal_context *ctx = targets[t].ctx;
            const shoal_recur_opts o = { .n = N,
                                         .count = 1,
                                         .method = "pscheme",
                                         .variant = rearranged ? "rearranged" : "blocked",
                                         .last_phase = (shoal_recur_phase)phase };
            shoal_recur *plan;
            double host[N], *s, *w;
            CHECK(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_alloc(ctx, sizeof host, (void **)&s) == SHOAL_OK);
            CHECK(shoal_alloc(ctx, sizeof host, (void **)&w) == SHOAL_OK);
            for (int k = 0; k < N; k++) host[k] = 1;
            CHECK(shoal_copy(ctx, s, host, sizeof host) == SHOAL_OK);
            for (int k = 0; k < N; k++) host[k] = -7;
            CHECK(shoal_copy(ctx, w, host, sizeof host) == SHOAL_OK);
            CHECK(shoal_recur_solve(plan, s, s, NULL, w) == SHOAL_OK); /* w_i = w_{i-1} + 1 */
            CHECK(shoal_copy(ctx, host, w, sizeof host) == SHOAL_OK);
            const int written = phase == 0 || (phase == SHOAL_RECUR_DETERMINATION && !rearranged);
            for (int k = 0; k < N; k++)
                CHECK_MSG(host[k] == (written ? k + 1 : -7), "%s phase %d: w[%d] is %g",
                          targets[t].backend, phase, k, host[k]);
            shoal_recur_free(plan);
            shoal_free(ctx, s), shoal_free(ctx, w);
        }
}

TEST(phases_that_are_not_there_are_refused) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_recur_opts o = { .n = 9, .count = 1, .method = "pscheme" };
        shoal_recur *plan;
        for (int phase = -1; phase < 5; phase += 5) {
            o.last_phase = (shoal_recur_phase)phase;
            CHECK_SAYS(ctx, shoal_recur_create(ctx, &o, &plan), SHOAL_E_ARG, "last_phase is");
        }
        o.last_phase = SHOAL_RECUR_PROPAGATION;
        o.method = "lookback";
        CHECK_SAYS(ctx, shoal_recur_create(ctx, &o, &plan), SHOAL_E_METHOD, "last_phase is 2");
    }
}

/* What is left open is chosen, with no more groups than parts; the largest numbers are allowed. */
TEST(parts_are_chosen_and_have_bounds) {
    const struct {
        int threads, groups;
        const char *says;
    } cases[] = { { 1024, 1, NULL },
                  { 1025, 1, "threads is 1025; it must be 0 to 1024" },
                  { -1, 1, "threads is -1" },
                  { 1, 1 << 20, NULL },
                  { 1, (1 << 20) + 1, "groups is 1048577; it must be 0 to 1048576" },
                  { 1, -1, "groups is -1" } };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_recur_opts o = { .n = 1, .count = 1, .type = SHOAL_F32, .method = "pscheme" };
        shoal_recur *plan;
        shoal_recur_info info = { 0 };
        CHECK(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_recur_last(plan, &info) == SHOAL_OK && info.threads == 1 && info.groups == 1);
        shoal_recur_free(plan);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            o.threads = cases[i].threads, o.groups = cases[i].groups;
            if (cases[i].says) {
                CHECK_SAYS(ctx, shoal_recur_create(ctx, &o, &plan), SHOAL_E_ARG, cases[i].says);
            } else if (on_cpu(&targets[t]) ||
                       o.groups == 1) { /* 100 MB, which the CPU need not touch */
                CHECK(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK);
                shoal_recur_free(plan);
            }
        }
    }
}

/* sqrt(n / 2) parts: a group for each of 3 threads, unless there are fewer parts, or more than 1024 to a group. */
TEST(parts_for_three_threads) {
    const struct {
        int64_t n;
        int threads, groups;
    } cases[] = { { 2, 1, 1 }, { 8, 1, 2 }, { 20000, 34, 3 }, { 50000000, 1000, 5 } };
    shoal_context *ctx;
    CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .threads = 3 }, &ctx) == SHOAL_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const shoal_recur_opts o = { .n = cases[i].n, .count = 1, .method = "pscheme" };
        shoal_recur *plan;
        shoal_recur_info info = { 0 };
        CHECK(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_recur_last(plan, &info) == SHOAL_OK);
        CHECK_MSG(info.threads == cases[i].threads && info.groups == cases[i].groups, "%d in %d",
                  info.threads, info.groups);
        shoal_recur_free(plan);
    }
    shoal_close(ctx);
}

TEST(nothing_to_do_succeeds) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++)
            for (int j = 0; j < 2; j++) {
                shoal_recur_opts o = { .n = j ? 0 : 5, .count = j ? 5 : 0 };
                o.method = c->method, o.variant = c->variant;
                shoal_recur *plan;
                shoal_recur_info info;
                CHECK(shoal_recur_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
                CHECK(shoal_recur_solve(plan, NULL, NULL, NULL, NULL) == SHOAL_OK);
                CHECK(shoal_recur_last(plan, &info) == SHOAL_OK && info.failed == 0);
                shoal_recur_free(plan);
            }
}

static const char *chosen(shoal_context *ctx, shoal_recur_opts o) {
    shoal_recur *plan;
    shoal_recur_info info = { 0 };
    CHECK(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_recur_last(plan, &info) == SHOAL_OK);
    shoal_recur_free(plan);
    return info.method ? info.method : "";
}

TEST(auto_chooses_by_what_all_segments_share) {
    for (int t = 0; t < target_count; t++) {
        const int cpu = on_cpu(&targets[t]);
        shoal_context *ctx = targets[t].ctx;
        for (int64_t count = 1; count < 2000; count = count * 7) {
            shoal_recur_opts o = { .n = 100, .count = count };
            CHECK(strcmp(chosen(ctx, o), "lookback") == 0);
            o.layout = SHOAL_INTERLEAVED;
            CHECK(strcmp(chosen(ctx, o), cpu ? "lookback" : "serial") == 0);
            o.n = 5000;
            CHECK(strcmp(chosen(ctx, o), "lookback") == 0);
            o.order = 2;
            CHECK(strcmp(chosen(ctx, o), cpu ? "serial" : "lookback") == 0);
        }
    }
}

/* P = T G as given; by default sqrt(n/2), equation (18), whatever the machine. */
TEST(parts_of_the_pscheme) {
    batch p = generate("decay", (shoal_recur_opts){ .n = 3000, .count = 2 });
    const call c = { "pscheme", NULL };
    for (int t = 0; t < target_count; t++) {
        const int given[][2] = { { 0, 0 }, { 16, 4 }, { 1, 1 }, { 32, 0 }, { 0, 8 }, { 512, 8 } };
        for (int j = 0; j < 6; j++) {
            how h = { .threads = given[j][0], .groups = given[j][1] };
            answer r = solve_with(targets[t].ctx, &p, &c, h);
            check_accuracy(&p, &r, name_of(&targets[t], &c, &p));
            if (given[j][0]) CHECK(r.info.threads == given[j][0]);
            if (given[j][1]) CHECK(r.info.groups == given[j][1]);
            int parts = r.info.threads * r.info.groups; /* sqrt(1500) = 38.7, rounded up to T G */
            if (!given[j][0] || !given[j][1])
                CHECK_MSG(parts >= 39 && parts < 39 + 64, "%d", parts);
            free_answer(&r);
        }
    }
    free_batch(&p);
}

/* Coefficients of a higher order are shares of the one of order 1. */
TEST(generated_coefficients_are_shares) {
    enum { ROWS = 40 };
    double one[ROWS], s[3 * ROWS], t[ROWS], w0[3];
    for (int order = 1; order <= 3; order++) {
        const shoal_recur_opts o = { .n = ROWS, .count = 1, .order = order };
        CHECK(shoal_recur_generate(targets[0].ctx, "decay", 5, 0, &o, s, t, w0) == SHOAL_OK);
        for (int i = 0; i < ROWS; i++) {
            double sum = 0;
            for (int e = 0; e < order; e++) sum += fabs(s[i * order + e]);
            if (order == 1) one[i] = sum;
            CHECK_MSG(one[i] > 0 && fabs(sum / one[i] - 1) < 1e-12, "order %d, row %d: %g, not %g",
                      order, i, sum, one[i]);
        }
    }
}

TEST(generated_numbers_depend_on_their_place_alone) {
    shoal_context *ctx = targets[0].ctx;
    shoal_recur_opts o = { .n = 20, .count = 6, .order = 2 };
    double s[240], t[120], w0[12], s2[240], t2[120], w2[12];
    float sf[240], tf[120], wf[12];
    for (int i = 0; shoal_recur_kind(i); i++) {
        const char *kind = shoal_recur_kind(i);
        CHECK(shoal_recur_kind_text(i) && *shoal_recur_kind_text(i));
        CHECK(shoal_recur_generate(ctx, kind, 5, 0, &o, s, t, w0) == SHOAL_OK);
        CHECK(shoal_recur_generatef(ctx, kind, 5, 0, &o, sf, tf, wf) == SHOAL_OK);
        const int by_type = strcmp(kind, "dips") == 0 || strcmp(kind, "jumps") == 0;
        for (int j = 0; j < 240; j++) {
            CHECK(by_type || same(sf[j], (float)s[j]));
            CHECK(strcmp(kind, "nonfinite") == 0 || isfinite(sf[j]));
        }
        shoal_recur_opts part = { .n = 20, .count = 2, .order = 2, .reverse = 1 };
        CHECK(shoal_recur_generate(ctx, kind, 5, 3, &part, s2, t2, w2) == SHOAL_OK);
        for (int k = 0; k < 2; k++)
            for (int j = 0; j < 20; j++) {
                CHECK(same(t2[k * 20 + 19 - j], t[(3 + k) * 20 + j]));
                CHECK(same_all(s2 + (k * 20 + 19 - j) * 2, s + ((3 + k) * 20 + j) * 2, 2));
            }
        CHECK(same_all(w2, w0 + 6, 4));
        part = (shoal_recur_opts){ .n = 20, .count = 6, .order = 2, .layout = SHOAL_INTERLEAVED };
        CHECK(shoal_recur_generate(ctx, kind, 5, 0, &part, s2, t2, NULL) == SHOAL_OK);
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < 20; j++) CHECK(same(t2[j * 6 + k], t[k * 20 + j]));
    }
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "magic", 5, 0, &o, s, t, w0), SHOAL_E_ARG, "decay");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, NULL, 5, 0, &o, s, t, w0), SHOAL_E_ARG, "kind");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "decay", 5, -1, &o, s, t, w0), SHOAL_E_ARG, "first");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "decay", 5, INT64_MAX, &o, s, t, w0), SHOAL_E_ARG,
               "first + count = 9223372036854775807");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "decay", 5, 0, NULL, s, t, w0), SHOAL_E_ARG, "shape");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "decay", 5, 0, &o, NULL, t, w0), SHOAL_E_ARG, "s is");
    CHECK_SAYS(ctx, shoal_recur_generate(ctx, "decay", 5, 0, &o, s, NULL, w0), SHOAL_E_ARG, "t is");
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(create_refuses_bad_sizes_and_words);
    RUN(solve_and_outcome_refuse_bad_arrays);
    RUN(pscheme_stops_after_a_phase);
    RUN(phases_that_are_not_there_are_refused);
    RUN(parts_are_chosen_and_have_bounds);
    RUN(parts_for_three_threads);
    RUN(nothing_to_do_succeeds);
    RUN(auto_chooses_by_what_all_segments_share);
    RUN(parts_of_the_pscheme);
    RUN(generated_coefficients_are_shares);
    RUN(generated_numbers_depend_on_their_place_alone);
    close_targets();
    return TEST_END();
}
