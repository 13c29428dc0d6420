/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_api.c - what smallsym's functions refuse and what they say then, and the totals of
 * a solve.
 */
#include "smallsym_batch.h"

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

static const shoal_smallsym_opts modest = { .n = 4, .count = 3, .nrhs = 1 };

/* A plan of one system of 4 unknowns but for one mistake. */
#define WITH(...)                                                                                  \
    { .n = 4, .count = 1, .nrhs = 1, __VA_ARGS__ }

TEST(create_refuses_bad_sizes) {
    const shoal_group good[] = { { 2, 3 } }, negative[] = { { 2, 3 }, { -1, 3 } },
                      lacking[] = { { 2, -3 } }, large[] = { { 1LL << 31, 1LL << 31 } };
    const struct {
        shoal_smallsym_opts o;
        const char *word;
    } cases[] = {
        { { .n = -1, .count = 1, .nrhs = 1 }, "n is -1" },
        { { .n = 1, .count = -2, .nrhs = 1 }, "count is -2" },
        { { .n = 1, .count = 1, .nrhs = -3 }, "nrhs is -3" },
        { { .n = 1, .count = 1, .nrhs = 0 }, "nrhs is 0" },
        { { .n = 0, .count = 0, .nrhs = 0 }, "nrhs is 0" },
        { { .n = 1LL << 32, .count = 1, .nrhs = 1 }, "too large" },
        { { .n = INT64_MAX, .count = 1, .nrhs = 1 }, "too large" },
        { { .n = 64, .count = 1LL << 48, .nrhs = 1 }, "too large" },
        { { .n = 1, .count = 1LL << 47, .nrhs = 1 }, "too large" },
        { { .n = 64, .count = 1, .nrhs = 1LL << 40 }, "too large" },
        { WITH(.ld = 3), "ld is 3" },
        { WITH(.ld = -4), "ld is -4" },
        { WITH(.ld = 1LL << 60), "ld is" },
        { WITH(.stride = 15), "stride is 15" },
        { WITH(.stride = -16), "stride is -16" },
        { WITH(.ld = 6, .stride = 20), "stride is 20" },
        { WITH(.stride = INT64_MAX), "stride is" },
        { WITH(.layout = SHOAL_INTERLEAVED, .stride = 16), "stride is 16" },
        { WITH(.storage = SHOAL_PACKED, .ld = 4), "ld is 4" },
        { WITH(.storage = SHOAL_PACKED, .stride = 16), "stride is 16" },
        { WITH(.groups = good, .group_count = 1), "groups" },
        { { .nrhs = 1, .groups = good, .group_count = -1 }, "group_count is -1" },
        { { .nrhs = 1, .group_count = 2 }, "groups is NULL" },
        { { .nrhs = 1, .groups = negative, .group_count = 2 }, "groups[1].n is -1" },
        { { .nrhs = 1, .groups = lacking, .group_count = 1 }, "groups[0].count is -3" },
        { { .nrhs = 1, .groups = large, .group_count = 1 }, "groups[0].n * n * count * nrhs" },
        { { .n = 1000000000, .nrhs = 1 }, "1000000000 * 0 * 1 is too large (0 counts as 1)" },
        { { .nrhs = 1, .groups = good, .group_count = 1, .ld = 2 }, "ld is 2" },
        { WITH(.type = (shoal_type)2), "type is 2" },
        { WITH(.layout = (shoal_layout)9), "layout is 9" },
        { WITH(.storage = (shoal_storage)3), "storage is 3" },
        { WITH(.triangle = (shoal_triangle)2), "triangle is 2" },
        { WITH(.tol = (double)NAN), "tol is" },
        { WITH(.tol = (double)INFINITY), "tol is inf" },
        { WITH(.cond = (double)NAN), "cond is" },
        { WITH(.team = -1), "team is -1" },
        { WITH(.refine = -1), "refine is -1" },
        { WITH(.refine = 101), "refine is 101" },
        { WITH(.estimate = 2), "estimate is 2" },
    };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan = (shoal_smallsym *)&modest;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &cases[i].o, &plan), SHOAL_E_ARG,
                       cases[i].word);
            CHECK(plan == NULL);
        }
        const shoal_smallsym_opts huge = { .n = 1, .count = (1LL << 47) - 1, .nrhs = 1 };
        CHECK(shoal_smallsym_create(ctx, &huge, &plan) ==
                  SHOAL_OK || /* on the CPU, no memory of its own */
              !strstr(shoal_message(ctx), "too large"));
        shoal_smallsym_free(plan);
        shoal_group most[1025]; /* each as many as there may be; together 2^57 and more */
        for (int g = 0; g < 1025; g++) most[g] = (shoal_group){ 1, (1LL << 47) - 1 };
        const shoal_smallsym_opts many = { .nrhs = 1, .groups = most, .group_count = 1025 };
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &many, &plan), SHOAL_E_ARG, "too many systems");
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, NULL, &plan), SHOAL_E_ARG, "opts");
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &modest, NULL), SHOAL_E_ARG, "plan");
    }
    shoal_smallsym *plan = (shoal_smallsym *)&modest;
    CHECK(shoal_smallsym_create(NULL, &modest, &plan) == SHOAL_E_ARG);
    CHECK(plan == NULL);
    CHECK(shoal_smallsym_create(NULL, &modest, NULL) == SHOAL_E_ARG);
}

TEST(create_refuses_unknown_words) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan = (shoal_smallsym *)&modest;
        const shoal_smallsym_opts magic = WITH(.method = "magic");
        const shoal_smallsym_opts variant = WITH(.method = "ldlt", .variant = "x");
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &magic, &plan), SHOAL_E_METHOD, "magic");
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &magic, &plan), SHOAL_E_METHOD, "ldlt");
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &variant, &plan), SHOAL_E_METHOD, "team");
        CHECK(plan == NULL);
    }
}

/* What fits the checks, but neither the memory nor the GPU. */
TEST(create_refuses_what_is_too_large_here) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan = (shoal_smallsym *)&modest;
        const shoal_smallsym_opts huge = { .n = 1LL << 23, .count = 1, .nrhs = 1 };
        const shoal_smallsym_opts large = { .n = 65, .count = 1, .nrhs = 1 };
        if (on_cpu(&targets[t])) {
            CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &huge, &plan), SHOAL_E_NOMEM, "bytes");
        } else {
            CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &large, &plan), SHOAL_E_ARG, "n is 65");
        }
        CHECK(plan == NULL);
    }
}

/* On a GPU not every method has what refining takes; the message has what was asked for. */
TEST(what_a_gpu_cannot_refine_is_refused) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        if (on_cpu(&targets[t])) continue;
        shoal_smallsym *plan = (shoal_smallsym *)&modest;
        shoal_smallsym_opts o = modest;
        o.method = "hhpcr", o.refine = 1;
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &o, &plan), SHOAL_E_METHOD,
                   "refine: 'hhpcr' cannot refine on the cuda backend");
        CHECK(plan == NULL);
        o.refine = 0, o.estimate = 1;
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &o, &plan), SHOAL_E_METHOD,
                   "estimate: 'hhpcr' cannot estimate a condition number on the cuda backend");
        CHECK(plan == NULL);
    }
}

TEST(variants_of_the_other_backend_are_refused) {
    shoal_smallsym *plan;
    const char *const variants[] = { "simd", "coop", "hybrid" };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 6; i++) {
            shoal_smallsym_opts o = modest;
            o.method = i < 3 ? "ldlt" : "hhpcr", o.variant = variants[i % 3];
            shoal_status status = shoal_smallsym_create(targets[t].ctx, &o, &plan);
            CHECK(status == (on_cpu(&targets[t]) ? SHOAL_E_METHOD : SHOAL_OK));
            if (on_cpu(&targets[t])) CHECK(strstr(shoal_message(targets[t].ctx), o.variant));
            shoal_smallsym_free(plan);
        }
}

TEST(solve_refuses_bad_arrays) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan;
        double *m;
        CHECK(shoal_smallsym_create(ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 48 * sizeof(double), (void **)&m) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_smallsym_solve(plan, NULL, m, m), SHOAL_E_ARG, "A is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_solve(plan, m, NULL, m), SHOAL_E_ARG, "b is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_solve(plan, m, m, NULL), SHOAL_E_ARG, "x is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_solvef(plan, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "shoal_smallsym_solve");
        CHECK_SAYS(ctx, shoal_smallsym_last(plan, NULL), SHOAL_E_ARG, "info");
        shoal_smallsym_free(plan);
        shoal_free(ctx, m);
    }
    shoal_smallsym_info info;
    double v[1] = { 1 };
    CHECK(shoal_smallsym_solve(NULL, v, v, v) == SHOAL_E_ARG);
    CHECK(shoal_smallsym_outcome(NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_smallsym_last(NULL, &info) == SHOAL_E_ARG);
    shoal_smallsym_free(NULL);
}

/* On CUDA ordinary host memory is refused, unless the caller has asked not to be asked. */
TEST(cuda_refuses_host_memory) {
    shoal_context *ctx = targets[target_count - 1].ctx, *trusting;
    if (on_cpu(&targets[target_count - 1])) SKIP("no CUDA device");
    shoal_smallsym *plan;
    double *host = new_array(64, sizeof(double)), *there;
    const struct {
        shoal_outcome where;
        const char *word;
    } outcomes[] = { { { .status = (int32_t *)host }, "outcome.status" },
                     { { .residual = (float *)host }, "outcome.residual" },
                     { { .rcond = (float *)host }, "outcome.rcond" },
                     { { .rank = (int32_t *)host }, "outcome.rank" },
                     { { .inertia = (int32_t *)host }, "outcome.inertia" },
                     { { .method = (int32_t *)host }, "outcome.method" } };
    CHECK(shoal_alloc(ctx, 64 * sizeof(double), (void **)&there) == SHOAL_OK);
    CHECK(shoal_smallsym_create(ctx, &modest, &plan) == SHOAL_OK);
    CHECK_SAYS(ctx, shoal_smallsym_solve(plan, host, there, there), SHOAL_E_MEMORY, "A is");
    CHECK_SAYS(ctx, shoal_smallsym_solve(plan, there, host, there), SHOAL_E_MEMORY, "b is");
    CHECK_SAYS(ctx, shoal_smallsym_solve(plan, there, there, host), SHOAL_E_MEMORY, "x is");
    for (int i = 0; i < 6; i++)
        CHECK_SAYS(ctx, shoal_smallsym_outcome(plan, &outcomes[i].where), SHOAL_E_MEMORY,
                   outcomes[i].word);
    shoal_smallsym_free(plan);
    CHECK(shoal_open(&(shoal_options){ .backend = "cuda", .unchecked = 1 }, &trusting) == SHOAL_OK);
    CHECK(shoal_smallsym_create(trusting, &modest, &plan) == SHOAL_OK);
    CHECK(shoal_smallsym_outcome(plan, &outcomes[0].where) == SHOAL_OK);
    shoal_smallsym_free(plan);
    shoal_close(trusting);
    shoal_free(ctx, there);
    free(host);
}

TEST(nothing_to_do_succeeds) {
    const shoal_group none[] = { { 0, 3 }, { 3, 0 } };
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 10; i++) {
            shoal_context *ctx = targets[t].ctx;
            shoal_smallsym_opts o = { .nrhs = i % 2 ? 1 : 3 };
            if (i / 2 == 1) o.n = 3;
            if (i / 2 == 2) o.count = 3;
            if (i / 2 == 3) o.groups = none, o.group_count = 2;
            if (i / 2 == 4) o.groups = none;
            shoal_smallsym *plan;
            shoal_smallsym_info info;
            CHECK_MSG(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
            CHECK_MSG(shoal_smallsym_solve(plan, NULL, NULL, NULL) == SHOAL_OK, "%s, case %d",
                      shoal_message(ctx), i);
            CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK);
            CHECK(info.failed == 0 && info.warned == 0 && info.redone == 0);
            shoal_smallsym_free(plan);
        }
}

TEST(last_before_any_solve_is_empty) {
    for (int t = 0; t < target_count; t++) {
        shoal_smallsym *plan;
        shoal_smallsym_info info;
        CHECK(shoal_smallsym_create(targets[t].ctx, &modest, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK);
        CHECK(info.failed == 0 && info.redone == 0 && info.max_residual == -1 && info.bytes > 0);
        CHECK(strcmp(info.method, "auto") == 0);
        shoal_smallsym_free(plan);
    }
}

/* What the last call used, as given or by default. */
TEST(last_has_the_tolerances_in_force) {
    for (int t = 0; t < target_count; t++)
        for (int single = 0; single < 2; single++)
            for (int given = 0; given < 2; given++) {
                const double tol = given ? 0.25 : 9 * 7 * (single ? 0x1p-23 : 0x1p-52);
                const double cond = given ? 1e3 : single ? 1e5 : 1e12;
                const shoal_group groups[] = { { 7, 1 }, { 3, 2 } };
                const shoal_smallsym_opts one = { .n = 7,
                                                  .count = 2,
                                                  .nrhs = 1,
                                                  .type = single ? SHOAL_F32 : SHOAL_F64,
                                                  .tol = given ? tol : 0,
                                                  .cond = given ? cond : 0 };
                shoal_smallsym_opts two = one;
                two.n = two.count = 0, two.groups = groups, two.group_count = 2;
                for (int i = 0; i < 2; i++) {
                    shoal_smallsym *plan;
                    shoal_smallsym_info info;
                    CHECK(shoal_smallsym_create(targets[t].ctx, i ? &two : &one, &plan) ==
                          SHOAL_OK);
                    CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK);
                    CHECK_MSG(info.tol == tol && info.cond == cond, "tol %g, cond %g", info.tol,
                              info.cond);
                    shoal_smallsym_free(plan);
                }
            }
}

/* One plan, many solves: the second does not remember the first. */
TEST(a_plan_is_used_again) {
    batch p[] = { generate("singular", 9, 14, 1, SHOAL_F64),
                  generate("wishart", 9, 14, 1, SHOAL_F64) };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const shoal_smallsym_opts o = { .n = 9, .count = 14, .nrhs = 1, .method = "ldlt" };
        shoal_smallsym *plan;
        shoal_smallsym_info info;
        void *residual;
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_alloc(ctx, 14 * sizeof(float), &residual) == SHOAL_OK);
        for (int i = 0; i < 6; i++) {
            const shoal_outcome where = { .residual = i < 4 ? residual : NULL };
            CHECK(shoal_smallsym_outcome(plan, i < 4 ? &where : NULL) == SHOAL_OK);
            double *a = upload(ctx, p[i % 2].a, 14 * 81 * sizeof(double), 0);
            double *b = upload(ctx, p[i % 2].b, 14 * 9 * sizeof(double), 0);
            CHECK(shoal_smallsym_solve(plan, a, b, b) == SHOAL_OK);
            CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK);
            CHECK_MSG(info.failed == (i % 2 ? 0 : 2), "solve %d: failed %lld", i,
                      (long long)info.failed);
            CHECK(info.warned == 0 && info.redone == 0);
            CHECK_MSG(i < 4 ? info.max_residual >= 0 && info.max_residual < 1e-14f
                            : info.max_residual == -1,
                      "solve %d: %g", i, (double)info.max_residual);
            shoal_free(ctx, a), shoal_free(ctx, b);
        }
        shoal_free(ctx, residual);
        shoal_smallsym_free(plan);
    }
    free_batch(&p[0]);
    free_batch(&p[1]);
}

TEST(generate_refuses_bad_arguments) {
    shoal_context *ctx = targets[0].ctx;
    double v[48], none = NAN;
    float w[48];
    const shoal_smallsym_opts negative = { .n = -4, .count = 1, .nrhs = 1 }, narrow = WITH(.ld = 3);
    const shoal_smallsym_opts huge = { .n = 1LL << 22, .count = 1, .nrhs = 1 };
    const shoal_smallsym_opts empty = { .nrhs = 1 }, without = { .n = 4, .count = 1 };
    const struct {
        const char *kind;
        double parameter;
        const char *word;
    } cases[] = {
        { "nice", none, "spd indefinite" },
        { NULL, none, "kind" },
        { "hilbert", 1, "parameter is 1" },
        { "spd", 1, "rho, between 0 and 1" },
        { "indefinite", 0, "rho" },
        { "wishart", -1, "parameter is -1" },
        { "wishart", INFINITY, "shift" },
        { "clustered", 0.5, "condition number" },
        { "spectrum", -INFINITY, "at least 1" },
        { "regression", 2.5, "whole number of paths" },
        { "centred", 0, "paths" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_SAYS(
            ctx,
            shoal_smallsym_generate(ctx, cases[i].kind, cases[i].parameter, 0, 0, &modest, v, v),
            SHOAL_E_ARG, cases[i].word);
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, -1, &modest, v, v), SHOAL_E_ARG,
               "first is -1");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, INT64_MAX - 2, &modest, v, v),
               SHOAL_E_ARG, "first + count = 9223372036854775805 + 3 is too large");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, NULL, v, v), SHOAL_E_ARG,
               "shape is NULL");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, &negative, v, v), SHOAL_E_ARG,
               "n is -4");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, &narrow, v, v), SHOAL_E_ARG,
               "ld is 3");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, &without, v, v), SHOAL_E_ARG,
               "nrhs is 0");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, &modest, NULL, v), SHOAL_E_ARG,
               "A is NULL");
    CHECK_SAYS(ctx, shoal_smallsym_generatef(ctx, "spd", none, 0, 0, &modest, w, NULL), SHOAL_E_ARG,
               "b is NULL");
    CHECK_SAYS(ctx, shoal_smallsym_generate(ctx, "spd", none, 0, 0, &huge, v, v), SHOAL_E_NOMEM,
               "n = 4194304");
    CHECK(shoal_smallsym_generate(NULL, "spd", none, 0, 0, &modest, v, v) == SHOAL_E_ARG);
    CHECK(shoal_smallsym_generate(ctx, "spd", none, 0, 0, &empty, NULL, NULL) == SHOAL_OK);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(create_refuses_bad_sizes);
    RUN(create_refuses_unknown_words);
    RUN(create_refuses_what_is_too_large_here);
    RUN(what_a_gpu_cannot_refine_is_refused);
    RUN(variants_of_the_other_backend_are_refused);
    RUN(solve_refuses_bad_arrays);
    RUN(cuda_refuses_host_memory);
    RUN(nothing_to_do_succeeds);
    RUN(last_before_any_solve_is_empty);
    RUN(last_has_the_tolerances_in_force);
    RUN(a_plan_is_used_again);
    RUN(generate_refuses_bad_arguments);
    close_targets();
    return TEST_END();
}
