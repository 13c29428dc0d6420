/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng_api.c - what bad input to rng gets: a status and a sentence that names the argument, and
 * never another stream's numbers.
 */
#include "rng_laws.h"

static void refuse(shoal_context *ctx, shoal_rng_opts o, shoal_status status, const char *word) {
    shoal_rng *plan = (shoal_rng *)&o;
    CHECK_MSG(shoal_rng_create(ctx, &o, &plan) == status, "%s: %s", word, shoal_message(ctx));
    CHECK(plan == NULL);
    CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' is not in '%s'", word, shoal_message(ctx));
}

TEST(bad_options_are_named) {
    static const double bad[] = { -1, -1e-300, NAN, INFINITY, -INFINITY, 1e10 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        for (int i = 0; i < 6; i++) {
            refuse(ctx, (shoal_rng_opts){ .method = "poisson", .lambda = bad[i] }, SHOAL_E_ARG,
                   "lambda");
            refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .df = 3, .lambda = bad[i] },
                   SHOAL_E_ARG, "lambda");
            if (bad[i] == 1e10) continue;
            refuse(ctx, (shoal_rng_opts){ .method = "gamma", .alpha = bad[i] }, SHOAL_E_ARG,
                   "alpha");
            refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .df = bad[i] }, SHOAL_E_ARG, "df");
        }
        refuse(ctx, (shoal_rng_opts){ .method = "gamma" }, SHOAL_E_ARG, "alpha");
        refuse(ctx, (shoal_rng_opts){ .method = "gamma", .alpha = 1.1e36 }, SHOAL_E_ARG,
               "at least 1e-36 and at most 1e+36");
        refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .df = 2.1e36 }, SHOAL_E_ARG,
               "above 0 and at most 2e+36");
        const shoal_rng_opts ends[] = { { .method = "gamma", .alpha = 1e-36 },
                                        { .method = "gamma", .alpha = 1e36 },
                                        { .method = "ncchisq", .df = 2e-36 },
                                        { .method = "ncchisq", .df = 2e36 } };
        for (int i = 0; i < 4; i++) {
            shoal_rng *plan = NULL;
            CHECK_MSG(shoal_rng_create(ctx, &ends[i], &plan) == SHOAL_OK, "%d: %s", i,
                      shoal_message(ctx));
            shoal_rng_free(plan);
        }
        refuse(ctx, (shoal_rng_opts){ .method = "gamma", .alpha = 0.9e-36 }, SHOAL_E_ARG, "alpha");
        refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .df = 1.9e-36 }, SHOAL_E_ARG, "df");
        refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .variant = "normal" }, SHOAL_E_ARG,
               "above 1 and at most 2e+36");
        refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .variant = "normal", .df = 1 },
               SHOAL_E_ARG, "df");
        refuse(ctx, (shoal_rng_opts){ 0 }, SHOAL_E_ARG, "method");
        refuse(ctx, (shoal_rng_opts){ .method = "cauchy" }, SHOAL_E_METHOD, "cauchy");
        refuse(ctx, (shoal_rng_opts){ .method = "auto" }, SHOAL_E_METHOD, "'auto' (words, ");
        CHECK(shoal_describe(ctx, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "machine is NULL"));
        refuse(ctx, (shoal_rng_opts){ .method = "normal", .variant = "polar" }, SHOAL_E_METHOD,
               "polar");
        refuse(ctx, (shoal_rng_opts){ .method = "normal", .type = (shoal_type)7 }, SHOAL_E_ARG,
               "type");
        refuse(ctx, (shoal_rng_opts){ .method = "normal", .math = (shoal_math)7 }, SHOAL_E_ARG,
               "math");
        refuse(ctx, (shoal_rng_opts){ .method = "sobol" }, SHOAL_E_ARG, "dimensions");
        refuse(ctx, (shoal_rng_opts){ .method = "sobol", .dimensions = 1112 }, SHOAL_E_ARG,
               "dimensions");
        refuse(ctx,
               (shoal_rng_opts){ .method = "sobol", .dimensions = 2, .layout = (shoal_layout)5 },
               SHOAL_E_ARG, "layout");
        refuse(ctx, (shoal_rng_opts){ .method = "sobol", .dimensions = 2, .step = 1 }, SHOAL_E_ARG,
               "step");
        CHECK(shoal_rng_create(ctx, NULL, &(shoal_rng *){ NULL }) == SHOAL_E_ARG);
        CHECK(shoal_rng_create(ctx, &laws[0].opts, NULL) == SHOAL_E_ARG);
    }
    CHECK(shoal_rng_create(NULL, &laws[0].opts, &(shoal_rng *){ NULL }) == SHOAL_E_ARG);
    CHECK(shoal_rng_fill(NULL, 0, 1, NULL) == SHOAL_E_ARG);
    CHECK(shoal_rng_parameters(NULL, NULL) == SHOAL_E_ARG &&
          shoal_rng_last(NULL, NULL) == SHOAL_E_ARG);
    shoal_rng_free(NULL);
}

/* No field of an address runs over into the next: what does not fit is refused. */
TEST(addresses_end_where_they_end) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        refuse(ctx, (shoal_rng_opts){ .method = "words", .purpose = 128 }, SHOAL_E_ARG, "purpose");
        refuse(ctx, (shoal_rng_opts){ .method = "words", .purpose = ~0u }, SHOAL_E_ARG, "purpose");
        refuse(ctx, (shoal_rng_opts){ .method = "words", .draw = 256 }, SHOAL_E_ARG, "draw");
        refuse(ctx, (shoal_rng_opts){ .method = "ncchisq", .df = 2, .draw = 256 }, SHOAL_E_ARG,
               "draw");
        /* the last of one stream are not the first of the next */
        shoal_rng_opts o = { .method = "words", .draw = 255, .step = ~0u };
        uint32_t *last = fill_on(ctx, &o, UINT64_MAX - 8, 8, 0);
        for (int field = 0; field < 3; field++) {
            shoal_rng_opts next = { .method = "words", .draw = 255, .step = ~0u };
            if (field == 0) next.step = 0;
            if (field == 1) next.draw = 0;
            if (field == 2) next.purpose = 1, next.draw = 0;
            uint32_t *w = fill_on(ctx, &next, 0, 8, 0);
            CHECK(memcmp(last, w, 8 * sizeof *last) != 0);
            free(w);
        }
        free(last);
        shoal_rng *plan = NULL;
        uint32_t *out = NULL;
        CHECK(shoal_alloc(ctx, 64 * sizeof *out, (void **)&out) == SHOAL_OK);
        CHECK(shoal_rng_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_rng_fillu(plan, UINT64_MAX - 8, 8, out) == SHOAL_OK);
        CHECK(shoal_rng_fillu(plan, UINT64_MAX - 8, 9, out) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "first"));
        CHECK(shoal_rng_fillu(plan, 0, -1, out) == SHOAL_E_ARG &&
              strstr(shoal_message(ctx), "count"));
        CHECK(shoal_rng_fillu(plan, 0, 1, NULL) == SHOAL_E_ARG &&
              strstr(shoal_message(ctx), "out"));
        CHECK(shoal_rng_fillu(plan, 0, 0, NULL) == SHOAL_OK);
        CHECK(shoal_rng_fill(plan, 0, 1, (double *)out) == SHOAL_E_TYPE &&
              strstr(shoal_message(ctx), "shoal_rng_fillu"));
        CHECK(shoal_rng_parameters(plan, (const double *)out) == SHOAL_E_ARG);
        uint32_t host[4];
        if (!on_cpu(&targets[t]))
            CHECK(shoal_rng_fillu(plan, 0, 4, host) == SHOAL_E_MEMORY &&
                  strstr(shoal_message(ctx), "out"));
        shoal_rng_free(plan);
        o = (shoal_rng_opts){ .method = "sobol", .dimensions = 1, .type = SHOAL_F32 };
        CHECK(shoal_rng_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_rng_fillf(plan, 0xffffffffu, 1, (float *)out) == SHOAL_OK);
        CHECK(shoal_rng_fillf(plan, 0xffffffffu, 2, (float *)out) == SHOAL_E_ARG);
        shoal_rng_free(plan);
        shoal_free(ctx, out);
    }
}

/* One bad parameter among many costs its own number, and is counted. */
TEST(bad_parameters_cost_their_own_number) {
    enum { N = 600 };
    static const double bad[] = { -1, NAN, INFINITY, -INFINITY, 1e300 };
    for (int t = 0; t < target_count; t++)
        for (int l = 0; l < law_count; l++) {
            shoal_context *ctx = targets[t].ctx;
            const shoal_rng_opts *o = &laws[l].opts;
            const int gamma = strcmp(o->method, "gamma") == 0;
            if (is_sobol(o) || (!gamma && !o->lambda)) continue;
            double values[N], *there = NULL;
            char *out = NULL, host[N * 8];
            int64_t expected = 0;
            for (int i = 0; i < N; i++) {
                values[i] = i % 7 == 3 ? bad[i / 7 % 5] : gamma ? 0.1 + i * 0.01 : i * 0.5;
                if (gamma && values[i] == 1e300) values[i] = 0;
                expected += i % 7 == 3;
            }
            shoal_rng *plan = NULL;
            CHECK(shoal_alloc(ctx, sizeof values, (void **)&there) == SHOAL_OK);
            CHECK(shoal_alloc(ctx, sizeof host, (void **)&out) == SHOAL_OK);
            CHECK(shoal_copy(ctx, there, values, sizeof values) == SHOAL_OK);
            CHECK(shoal_rng_create(ctx, o, &plan) == SHOAL_OK);
            CHECK_MSG(shoal_rng_parameters(plan, there) == SHOAL_OK, "%s", shoal_message(ctx));
            CHECK(fill(plan, o, 5, N, out) == SHOAL_OK);
            shoal_rng_info info;
            CHECK(shoal_rng_last(plan, &info) == SHOAL_OK);
            CHECK_MSG(info.failed == expected, "%s: %lld", laws[l].name, (long long)info.failed);
            CHECK(shoal_copy(ctx, host, out, sizeof host) == SHOAL_OK);
            int wrong = 0;
            for (int i = 0; i < N; i++) {
                shoal_rng_opts one = *o;
                char number[8];
                if (gamma)
                    one.alpha = values[i];
                else
                    one.lambda = values[i];
                scalar_number(&one, 5 + (uint64_t)i, number);
                wrong += memcmp(number, host + (size_t)i * size_of(o), size_of(o)) != 0;
            }
            CHECK_MSG(wrong == 0, "%s %s: %d wrong", targets[t].backend, laws[l].name, wrong);
            CHECK(shoal_rng_parameters(plan, NULL) == SHOAL_OK);
            CHECK(fill(plan, o, 5, N, out) == SHOAL_OK);
            CHECK(shoal_rng_last(plan, &info) == SHOAL_OK && info.failed == 0);
            shoal_rng_free(plan);
            shoal_free(ctx, there), shoal_free(ctx, out);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    add_laws();
    TEST_BEGIN(argc, argv);
    RUN(bad_options_are_named);
    RUN(addresses_end_where_they_end);
    RUN(bad_parameters_cost_their_own_number);
    close_targets();
    return TEST_END();
}
