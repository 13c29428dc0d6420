/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_api.c - what tridiag's functions refuse and what they say then, the totals of a
 * solve, and the generator of test systems.
 */
#include "sanitizer.h"
#include "tridiag_batch.h"
#include "rng/philox.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static const shoal_tridiag_opts modest = { .n = 4, .count = 3, .nrhs = 1 };

TEST(create_refuses_bad_sizes_and_words) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag *plan = (shoal_tridiag *)&modest;
        const struct {
            shoal_tridiag_opts o;
            shoal_status status;
            const char *word;
        } cases[] = {
            { { .n = -1, .count = 1, .nrhs = 1 }, SHOAL_E_ARG, "n is -1" },
            { { .n = 1, .count = -2, .nrhs = 1 }, SHOAL_E_ARG, "count is -2" },
            { { .n = 1, .count = 1, .nrhs = -3 }, SHOAL_E_ARG, "nrhs is -3" },
            { { .n = 1, .count = 1, .nrhs = 0 }, SHOAL_E_ARG, "nrhs is 0" },
            { { .n = 0, .count = 0, .nrhs = 0 }, SHOAL_E_ARG, "nrhs is 0" },
            { { .n = 1LL << 47, .count = 1, .nrhs = 1 }, SHOAL_E_ARG, "too large" },
            { { .n = (1LL << 47) - 1, .count = 1, .nrhs = 1 }, SHOAL_E_NOMEM, "bytes" },
            { { .n = INT64_MAX, .count = 1, .nrhs = 1 }, SHOAL_E_ARG, "too large" },
            { { .n = 1LL << 31, .count = 1LL << 31, .nrhs = 1 }, SHOAL_E_ARG, "too large" },
            { { .n = 1LL << 40, .count = 1, .nrhs = 1LL << 30 }, SHOAL_E_ARG, "too large" },
            { { .n = 1, .count = 1, .nrhs = 1, .type = (shoal_type)2 }, SHOAL_E_ARG, "type is 2" },
            { { .n = 1, .count = 1, .nrhs = 1, .layout = (shoal_layout)9 },
              SHOAL_E_ARG,
              "layout is 9" },
            { { .n = 1, .count = 1, .nrhs = 1, .transposed = 2 }, SHOAL_E_ARG, "transposed is 2" },
            { { .n = 1, .count = 1, .nrhs = 1, .tol = (double)NAN }, SHOAL_E_ARG, "tol is" },
            { { .n = 1, .nrhs = 1, .tol = (double)INFINITY }, SHOAL_E_ARG, "tol is inf" },
            { { .n = INT64_MAX, .count = 0, .nrhs = 1 }, SHOAL_E_ARG, "too large (0 counts as 1)" },
            { { .n = 1, .count = 1, .nrhs = 1, .method = "magic" }, SHOAL_E_METHOD, "magic" },
            { { .n = 1, .count = 1, .nrhs = 1, .method = "pcr", .variant = "x" },
              SHOAL_E_METHOD,
              "stride" },
            { { .n = 1, .count = 1, .nrhs = 1, .method = "cr", .variant = "x" },
              SHOAL_E_METHOD,
              "variant" },
            { { .n = 1, .count = 1, .nrhs = 1, .variant = "stride" }, SHOAL_E_METHOD, "auto" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &cases[i].o, &plan), cases[i].status,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &modest, NULL), SHOAL_E_ARG, "plan");
        shoal_tridiag_opts magic = { .nrhs = 1, .method = "magic" };
        CHECK_SAYS(ctx, shoal_tridiag_create(ctx, &magic, &plan), SHOAL_E_METHOD,
                   "thomas, cr, pcr, hybrid, lupp");
    }
    shoal_tridiag *plan = (shoal_tridiag *)&modest;
    CHECK(shoal_tridiag_create(NULL, &modest, &plan) == SHOAL_E_ARG);
    CHECK(plan == NULL);
    CHECK(shoal_tridiag_create(NULL, &modest, NULL) == SHOAL_E_ARG);
}

TEST(variants_of_the_other_backend_are_refused) {
    shoal_tridiag *plan;
    shoal_tridiag_opts o = modest;
    o.method = "thomas", o.variant = "block";
    for (int t = 0; t < target_count; t++) {
        shoal_status status = shoal_tridiag_create(targets[t].ctx, &o, &plan);
        int cpu = strcmp(targets[t].backend, "cpu") == 0;
        CHECK(status == (cpu ? SHOAL_E_METHOD : SHOAL_OK));
        if (cpu) CHECK(strstr(shoal_message(targets[t].ctx), "block"));
        shoal_tridiag_free(plan);
    }
}

TEST(solve_refuses_bad_arrays) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag *plan;
        double *m;
        CHECK(shoal_tridiag_create(ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 12 * sizeof(double), (void **)&m) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_tridiag_solve(plan, NULL, m, m, m, m), SHOAL_E_ARG, "dl is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_solve(plan, m, NULL, m, m, m), SHOAL_E_ARG, "d is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_solve(plan, m, m, NULL, m, m), SHOAL_E_ARG, "du is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_solve(plan, m, m, m, NULL, m), SHOAL_E_ARG, "b is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_solve(plan, m, m, m, m, NULL), SHOAL_E_ARG, "x is NULL");
        CHECK_SAYS(ctx, shoal_tridiag_solvef(plan, NULL, NULL, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "shoal_tridiag_solve");
        CHECK_SAYS(ctx, shoal_tridiag_last(plan, NULL), SHOAL_E_ARG, "info");
        shoal_tridiag_free(plan);
        shoal_free(ctx, m);
    }
    shoal_tridiag_info info;
    double v[1] = { 1 };
    CHECK(shoal_tridiag_solve(NULL, v, v, v, v, v) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_outcome(NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_tridiag_last(NULL, &info) == SHOAL_E_ARG);
    shoal_tridiag_free(NULL);
}

TEST(outcome_refuses_what_is_not_computed) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_tridiag *plan;
        void *m;
        CHECK(shoal_tridiag_create(ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 64, &m) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_tridiag_outcome(plan, &(shoal_outcome){ .rank = m }), SHOAL_E_ARG,
                   "rank");
        CHECK_SAYS(ctx, shoal_tridiag_outcome(plan, &(shoal_outcome){ .inertia = m }), SHOAL_E_ARG,
                   "inertia");
        CHECK(shoal_tridiag_outcome(plan, &(shoal_outcome){ .status = m }) == SHOAL_OK);
        CHECK(shoal_tridiag_outcome(plan, NULL) == SHOAL_OK);
        shoal_tridiag_free(plan);
        shoal_free(ctx, m);
    }
}

/* On CUDA ordinary host memory is refused, unless the caller has asked not to be asked. */
TEST(cuda_refuses_host_memory) {
    shoal_context *ctx = targets[target_count - 1].ctx, *trusting;
    if (strcmp(targets[target_count - 1].backend, "cuda") != 0) SKIP("no CUDA device");
    shoal_tridiag *plan;
    double *host = new_array(64, sizeof(double)), *there;
    CHECK(shoal_alloc(ctx, 64 * sizeof(double), (void **)&there) == SHOAL_OK);
    CHECK(shoal_tridiag_create(ctx, &modest, &plan) == SHOAL_OK);
    CHECK_SAYS(ctx, shoal_tridiag_solve(plan, host, there, there, there, there), SHOAL_E_MEMORY,
               "dl is");
    CHECK_SAYS(ctx, shoal_tridiag_solve(plan, there, there, there, there, host), SHOAL_E_MEMORY,
               "x is");
    CHECK_SAYS(ctx, shoal_tridiag_outcome(plan, &(shoal_outcome){ .status = (int32_t *)host }),
               SHOAL_E_MEMORY, "outcome.status");
    shoal_tridiag_free(plan);
    CHECK(shoal_open(&(shoal_options){ .backend = "cuda", .unchecked = 1 }, &trusting) == SHOAL_OK);
    CHECK(shoal_tridiag_create(trusting, &modest, &plan) == SHOAL_OK);
    CHECK(shoal_tridiag_outcome(plan, &(shoal_outcome){ .status = (int32_t *)host }) == SHOAL_OK);
    shoal_tridiag_free(plan);
    shoal_close(trusting);
    shoal_free(ctx, there);
    free(host);
}

TEST(nothing_to_do_succeeds) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 6; i++) {
            shoal_context *ctx = targets[t].ctx;
            shoal_tridiag_opts o = { .n = i % 3 == 1 ? 3 : 0,
                                     .count = i % 3 == 2 ? 3 : 0,
                                     .nrhs = i < 3 ? 1 : 3 };
            shoal_tridiag *plan;
            shoal_tridiag_info info;
            CHECK_MSG(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
            CHECK_MSG(shoal_tridiag_solve(plan, NULL, NULL, NULL, NULL, NULL) == SHOAL_OK,
                      "%s, case %d", shoal_message(ctx), i);
            CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
            CHECK(info.failed == 0 && info.warned == 0 && info.redone == 0);
            shoal_tridiag_free(plan);
        }
}

TEST(last_before_any_solve_is_empty) {
    for (int t = 0; t < target_count; t++) {
        shoal_tridiag *plan;
        shoal_tridiag_info info;
        CHECK(shoal_tridiag_create(targets[t].ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
        CHECK(info.failed == 0 && info.redone == 0 && info.max_residual == -1 && info.bytes > 0);
        CHECK(strcmp(info.method, "auto") == 0);
        shoal_tridiag_free(plan);
    }
}

/* What the last call used, as given or by default. */
TEST(last_has_the_tolerances_in_force) {
    for (int t = 0; t < target_count; t++)
        for (int single = 0; single < 2; single++) {
            const double unit = single ? 0x1p-23 : 0x1p-52;
            const struct {
                const char *method;
                double tol, delta, cond, in_tol, in_delta, in_cond;
            } cases[] = { { "auto", 0, 0, 0, 100 * unit, 0, 1 / (32 * unit) },
                          { "lupp", 0, 0, 7, 100 * unit, 0, 7 },
                          { "thomas", 0, 0, 0, 100 * unit, 0, 0 },
                          { "gspike", 0, 0, 0, 100 * unit, sqrt(unit), 1 / (32 * unit) },
                          { "gspike", 0.25, 0.5, 1e3, 0.25, 0.5, 1e3 } };
            for (int i = 0; i < 5; i++) {
                const shoal_tridiag_opts o = { .n = 5,
                                               .count = 2,
                                               .nrhs = 1,
                                               .type = single ? SHOAL_F32 : SHOAL_F64,
                                               .method = cases[i].method,
                                               .tol = cases[i].tol,
                                               .delta = cases[i].delta,
                                               .cond = cases[i].cond };
                shoal_tridiag *plan;
                shoal_tridiag_info info;
                CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
                CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
                CHECK_MSG(info.tol == cases[i].in_tol && info.delta == cases[i].in_delta &&
                              info.cond == cases[i].in_cond,
                          "%s: tol %g, delta %g, cond %g", o.method, info.tol, info.delta,
                          info.cond);
                shoal_tridiag_free(plan);
            }
        }
}

/* One plan, many solves: the second does not remember the first. */
TEST(a_plan_is_used_again) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        batch bad = generate("singular", 9, 14, 1, SHOAL_F64),
              good = generate("dominant", 9, 14, 1, SHOAL_F64);
        shoal_tridiag_opts o = { .n = 9, .count = 14, .nrhs = 1 };
        shoal_tridiag *plan;
        shoal_tridiag_info info;
        CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
        for (int i = 0; i < 4; i++) {
            const batch *p = i % 2 ? &good : &bad;
            double *dl = upload(ctx, p, o.layout, 1, p->dl), *d = upload(ctx, p, o.layout, 1, p->d);
            double *du = upload(ctx, p, o.layout, 1, p->du), *b = upload(ctx, p, o.layout, 1, p->b);
            CHECK(shoal_tridiag_solve(plan, dl, d, du, b, b) == SHOAL_OK);
            CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
            CHECK_MSG(info.failed == (i % 2 ? 0 : 2), "solve %d: failed %lld", i,
                      (long long)info.failed);
            CHECK_MSG(info.redone == (i % 2 || on_cpu(&targets[t]) ? 0 : 2),
                      "solve %d: redone %lld", i, (long long)info.redone);
            if (on_cpu(&targets[t])) /* not asked for, and auto does not need it there */
                CHECK(info.max_residual == -1);
            else
                CHECK(info.max_residual >= 0 && info.max_residual < 1e-14f);
            shoal_free(ctx, dl), shoal_free(ctx, d), shoal_free(ctx, du), shoal_free(ctx, b);
        }
        shoal_tridiag_free(plan);
        free_batch(&bad);
        free_batch(&good);
    }
}

/* One long system takes less than four times the memory of its dl, d, du and b. */
TEST(a_long_system_needs_little_memory) {
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            shoal_tridiag_opts o = { .n = 1000000, .count = 1, .nrhs = 1, .type = type };
            shoal_tridiag *plan;
            shoal_tridiag_info info;
            CHECK(shoal_tridiag_create(targets[t].ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
            CHECK_MSG(info.bytes < 4 * 4 * 1000000 * size_of(type), "%s: %zu bytes",
                      targets[t].backend, info.bytes);
            shoal_tridiag_free(plan);
        }
}

/* The matrix is only read, so its arrays may be one. */
TEST(input_arrays_may_be_the_same) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        batch p = generate("laplace", 30, 3, 1, SHOAL_F64);
        for (int i = 0; i < 90; i++) p.dl[i] = p.du[i] = -1;
        answer r = solve_with(ctx, &p, &calls[0], (how){ 0 });
        double *dl = upload(ctx, &p, SHOAL_SYSTEM_MAJOR, 1, p.dl),
               *d = upload(ctx, &p, SHOAL_SYSTEM_MAJOR, 1, p.d);
        double *b = upload(ctx, &p, SHOAL_SYSTEM_MAJOR, 1, p.b), x[90];
        shoal_tridiag_opts o = { .n = 30, .count = 3, .nrhs = 1 };
        shoal_tridiag *plan;
        CHECK(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_tridiag_solve(plan, dl, d, dl, b, b) == SHOAL_OK);
        CHECK(shoal_copy(ctx, x, b, sizeof x) == SHOAL_OK);
        CHECK(same_all(x, r.x, 90));
        shoal_tridiag_free(plan);
        shoal_free(ctx, dl), shoal_free(ctx, d), shoal_free(ctx, b);
        free_answer(&r);
        free_batch(&p);
    }
}

/* ---- the generator --------------------------------------------------------------------------- */

TEST(philox_gives_the_known_answers) {
    const uint32_t in[3][6] = {
        { 0, 0, 0, 0, 0, 0 },
        { ~0u, ~0u, ~0u, ~0u, ~0u, ~0u },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0 },
    };
    const uint32_t out[3][4] = { { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
                                 { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
                                 { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } };
    for (int i = 0; i < 3; i++) {
        shoal_words w = shoal_philox(in[i], in[i] + 4);
        CHECK(memcmp(w.word, out[i], sizeof w.word) == 0);
    }
    shoal_words at =
        shoal_philox_at(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x13198a2e, 0x03, 0x707, 0x344);
    CHECK(memcmp(at.word, out[2], sizeof at.word) == 0);
    shoal_words low = { { 0, 0, ~0u, ~0u } };
    CHECK(shoal_uniform(&low, 0) == 0x1p-53 && shoal_uniform(&low, 1) == 1 - 0x1p-53);
}

/* System 5 of ten is the first of those from 5 on, in any layout and type, alone or not. */
TEST(generated_numbers_depend_on_the_system_alone) {
    for (int i = 0; shoal_tridiag_kind(i); i++) {
        const char *kind = shoal_tridiag_kind(i);
        shoal_tridiag_opts o = { .n = 6, .count = 30, .nrhs = 3 },
                           one = { .n = 6, .count = 1, .nrhs = 1 };
        batch p = new_batch(6, 30, 3, SHOAL_F64), q = p;
        double dl[6], d[6], du[6], b[6];
        float *f = new_array(4 * 540, sizeof *f);
        CHECK(shoal_tridiag_kind_text(i) && *shoal_tridiag_kind_text(i));
        CHECK(shoal_tridiag_generate(targets[0].ctx, kind, 3, 0, &o, p.dl, p.d, p.du, p.b) ==
              SHOAL_OK);
        o.layout = SHOAL_INTERLEAVED;
        CHECK(shoal_tridiag_generatef(targets[0].ctx, kind, 3, 0, &o, f, f + 540, f + 1080,
                                      f + 1620) == 0);
        CHECK(q.b[0] != q.b[1] && q.b[0] != q.b[2] && q.b[1] != q.b[2]);
        for (int k = 0; k < 30; k++) {
            CHECK(shoal_tridiag_generate(targets[0].ctx, kind, 3, k, &one, dl, d, du, b) ==
                  SHOAL_OK);
            CHECK(isnan(dl[0]) && isnan(du[5]));
            for (int r = 0; r < 6; r++) {
                int at = k * 6 + r, across = r * 30 + k;
                CHECK(same(dl[r], q.dl[at]) && same(d[r], q.d[at]) && same(du[r], q.du[at]) &&
                      same(b[r], q.b[3 * at]));
                CHECK(same((float)dl[r], f[across]) && same((float)d[r], f[540 + across]));
                CHECK(same((float)du[r], f[1080 + across]) &&
                      same((float)q.b[3 * at + 2], f[1622 + 3 * across]));
            }
        }
        free(f);
        free_batch(&p);
    }
    CHECK(shoal_tridiag_kind(-1) == NULL && shoal_tridiag_kind_text(100) == NULL);
}

TEST(generated_kinds_are_what_they_say) {
    batch p = generate("dominant", 50, 40, 1, SHOAL_F32);
    for (int i = 0; i < 2000; i++) {
        double beside = (i % 50 ? fabs(p.dl[i]) : 0) + (i % 50 < 49 ? fabs(p.du[i]) : 0);
        CHECK(fabs(p.d[i]) > beside + 0.2 && fabs(p.b[i]) < 1);
    }
    free_batch(&p);
    p = generate("zeropivot", 3, 20000, 1, SHOAL_F64);
    int zeros = 0;
    for (int k = 0; k < 20000; k++) zeros += p.d[3 * k] == 0;
    CHECK_MSG(zeros > 140 && zeros < 260, "%d of 20000", zeros); /* 200 +- 4 standard deviations */
    free_batch(&p);
    p = generate("nonfinite", 5, 110, 1, SHOAL_F64);
    for (int k = 0; k < 110; k++) {
        int bad = 0;
        for (int i = 5 * k; i < 5 * k + 5; i++)
            bad += !isfinite(p.d[i]) + !isfinite(p.b[i]) + (i % 5 && !isfinite(p.dl[i])) +
                   (i % 5 < 4 && !isfinite(p.du[i]));
        CHECK_MSG(bad == (k % 11 == 10), "system %d has %d", k, bad);
    }
    free_batch(&p);
}

TEST(generate_refuses_bad_arguments) {
    shoal_context *ctx = targets[0].ctx;
    double v[12];
    float w[12];
    shoal_tridiag_opts negative = { .n = -4, .count = 1, .nrhs = 1 };
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "nice", 0, 0, &modest, v, v, v, v), SHOAL_E_ARG,
               "dominant laplace");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, NULL, 0, 0, &modest, v, v, v, v), SHOAL_E_ARG,
               "kind");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, -1, &modest, v, v, v, v), SHOAL_E_ARG,
               "first");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, INT64_MAX - 2, &modest, v, v, v, v),
               SHOAL_E_ARG, "first + count = 9223372036854775805 + 3 is too large");
    CHECK_SAYS(ctx, shoal_tridiag_exact(ctx, "spike1", 0, INT64_MAX, &modest, v), SHOAL_E_ARG,
               "first + count");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, 0, NULL, v, v, v, v), SHOAL_E_ARG,
               "shape");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, 0, &negative, v, v, v, v), SHOAL_E_ARG,
               "n is -4");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, 0, &modest, NULL, v, v, v),
               SHOAL_E_ARG, "dl is");
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, 0, &modest, v, NULL, v, v),
               SHOAL_E_ARG, "d is");
    CHECK_SAYS(ctx, shoal_tridiag_generatef(ctx, "random", 0, 0, &modest, w, w, NULL, w),
               SHOAL_E_ARG, "du is");
    CHECK_SAYS(ctx, shoal_tridiag_generatef(ctx, "random", 0, 0, &modest, w, w, w, NULL),
               SHOAL_E_ARG, "b is");
    CHECK(shoal_tridiag_generate(NULL, "random", 0, 0, &modest, v, v, v, v) == SHOAL_E_ARG);
    shoal_tridiag_opts empty = { .nrhs = 1 }, none = { .n = 4, .count = 1 };
    CHECK(shoal_tridiag_generate(ctx, "random", 0, 0, &empty, NULL, NULL, NULL, NULL) == SHOAL_OK);
    CHECK_SAYS(ctx, shoal_tridiag_generate(ctx, "random", 0, 0, &none, v, v, v, v), SHOAL_E_ARG,
               "nrhs is 0");
}

TEST(rcond_is_at_most_1) { /* |A| near the top of the range */
    shoal_tridiag *plan;
    float rcond = -1;
    double top = 1.7e308, x = 0;
    if (!on_cpu(&targets[0])) return;
    const shoal_tridiag_opts o = { .n = 1, .count = 1, .nrhs = 1 };
    CHECK(shoal_tridiag_create(targets[0].ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_tridiag_outcome(plan, &(shoal_outcome){ .rcond = &rcond }) == SHOAL_OK);
    CHECK(shoal_tridiag_solve(plan, &top, &top, &top, &top, &x) == SHOAL_OK);
    CHECK_MSG(rcond == 1 && x == 1, "rcond %g, x %g", (double)rcond, x);
    shoal_tridiag_free(plan);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(create_refuses_bad_sizes_and_words);
    RUN(variants_of_the_other_backend_are_refused);
    RUN(solve_refuses_bad_arrays);
    RUN(outcome_refuses_what_is_not_computed);
    RUN(cuda_refuses_host_memory);
    RUN(nothing_to_do_succeeds);
    RUN(last_before_any_solve_is_empty);
    RUN(last_has_the_tolerances_in_force);
    RUN(a_plan_is_used_again);
    RUN(a_long_system_needs_little_memory);
    RUN(input_arrays_may_be_the_same);
    RUN(philox_gives_the_known_answers);
    RUN(generated_numbers_depend_on_the_system_alone);
    RUN(generated_kinds_are_what_they_say);
    RUN(generate_refuses_bad_arguments);
    RUN(rcond_is_at_most_1);
    close_targets();
    return TEST_END();
}
