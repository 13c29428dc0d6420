/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_gram.c - systems that are formed out of samples: answers against the sums in long
 * double, for every method and awkward size; singular, non-finite, huge and tiny samples; refusals.
 *
 *     test_smallsym_gram [--small] [--backend=cpu] [test name ...]
 */
#include "smallsym_gram.h"

/* ---- answers ---------------------------------------------------------------------------------- */

static void check_size(const target *t, const call *c, int64_t n, int64_t count, int64_t nrhs,
                       int64_t M, shoal_type type) {
    samples s = new_samples(n, count, nrhs, M, type, 0);
    shoal_smallsym_opts o = opts_for(&s, c->method, c->variant);
    answer r = solve_samples(t->ctx, &s, &o);
    if (r.code == SHOAL_OK) {
        check_samples(&s, &r, M >= 2 * n + 20 && !may_warn(c), name_of(t, c));
        for (int64_t k = 0; k < count && M >= 2 * n + 20; k++)
            CHECK_MSG(r.rank[k] == n && r.inertia[3 * k] == n && r.rcond[k] > 0 &&
                          r.residual[k] <= 10 * (double)n * eps_of(type),
                      "%s n=%lld: rank %d", name_of(t, c), (long long)n, r.rank[k]);
        o.layout = SHOAL_INTERLEAVED; /* the same bits */
        answer other = solve_samples(t->ctx, &s, &o);
        CHECK_MSG(same_all(r.x, other.x, n * count * nrhs), "%s n=%lld: interleaved differs",
                  name_of(t, c), (long long)n);
        free_answer(&other);
    }
    free_answer(&r);
    free_samples(&s);
}

TEST(every_method_and_size) {
    const int64_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 25, 30, 32, 33, 48, 49, 64 };
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (int type = 0; type < 2; type++) {
                    if (small && (i + (size_t)type + (size_t)(c - calls)) % 3) continue;
                    const int64_t n = sizes[i], M = 2 * n + 20 + (int64_t)i % 3 * 50;
                    const int64_t count = small ? 5 : 19, nrhs = i % 4 == 3 ? 3 : 1;
                    check_size(&targets[t], c, n, count, nrhs, M, (shoal_type)type);
                }
}

/* Any number of samples, around tiles and blocks; fewer than unknowns: what is called ok is right. */
TEST(any_number_of_samples) {
    const int64_t numbers[] = { 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 200 };
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++)
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
                for (int64_t n = 3; n <= 33; n += 10)
                    if (!small || (i + (size_t)n / 10 + (size_t)(c - calls)) % 11 == 0)
                        check_size(&targets[t], c, n, 3, 1, numbers[i], (shoal_type)(i % 2));
}

TEST(n_above_64_on_the_cpu) {
    for (int t = 0; t < target_count; t++)
        if (on_cpu(&targets[t])) check_size(&targets[t], &calls[0], 77, 3, 2, 200, SHOAL_F64);
}

/* One sample: of least norm is x = psi y / |psi|^2, by a method that truncates. */
TEST(one_sample_has_the_answer_of_least_norm) {
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int64_t n = 2; n <= 33; n += 31) {
                samples s = new_samples(n, 3, 1, 1, (shoal_type)type, 0);
                const shoal_smallsym_opts o = opts_for(&s, "eigdc", NULL);
                answer r = solve_samples(targets[t].ctx, &s, &o);
                for (int64_t k = 0; k < s.count && r.code == SHOAL_OK; k++) {
                    double square = 0;
                    for (int64_t i = 0; i < n; i++) square += pow(s.psi[k * n + i], 2);
                    CHECK(r.status[k] == SHOAL_SYSTEM_TRUNCATED && r.rank[k] == 1);
                    for (int64_t i = 0; i < n; i++)
                        CHECK_MSG(fabs(r.x[k * n + i] - s.psi[k * n + i] * s.y[k] / square) <=
                                      40 * (double)n * eps_of(s.type),
                                  "n=%lld: x is %.9g", (long long)n, r.x[k * n + i]);
                }
                free_answer(&r);
                free_samples(&s);
            }
}

/* A plain sum of so many equal terms is off by thousands of units of roundoff, one of blocks without
 * compensation by a hundred and more. */
TEST(errors_do_not_grow_with_the_number_of_samples) {
    const int64_t M = small ? 200000 : 1000000;
    for (int t = 0; t < 2 * target_count; t++)
        for (int64_t n = 1; n <= 2; n++) {
            samples s = new_samples(n, 1, 1, M, SHOAL_F32, 0);
            for (int64_t m = 0; m < M; m++) {
                s.psi[m * n] = (float)0.1, s.y[m] = 1;
                if (n > 1) s.psi[m * n + 1] = (float)(m % 2 ? 0.3 : -0.3);
            }
            const shoal_smallsym_opts o = opts_for(&s, t % 2 ? "ldlt" : "ldltp", NULL);
            answer r = solve_samples(targets[t / 2].ctx, &s, &o);
            const double error = fabs(r.x[0] * (float)0.1 - 1) / FLT_EPSILON;
            CHECK_MSG(r.status[0] == 0 && error <= 20, "%s n=%lld: error %.3g eps",
                      targets[t / 2].backend, (long long)n, error);
            CHECK(n == 1 || fabs(r.x[1]) <= 20 * FLT_EPSILON);
            free_answer(&r);
            free_samples(&s);
        }
}

/* A system's answer has the same bits alone, in another place, and solved with others. */
TEST(an_answer_is_its_systems_own) {
    for (int t = 0; t < target_count; t++)
        for (int i = 0; i < 4; i++) {
            const shoal_type type = (shoal_type)(i % 2);
            samples s = new_samples(13, small ? 11 : 41, 1 + i / 2, 90, type, 1);
            shoal_smallsym_opts o = opts_for(&s, "ldlt", NULL);
            answer r = solve_samples(targets[t].ctx, &s, &o);
            for (int64_t k = 0; k < s.count; k += 5) {
                const samples one = one_of(&s, k);
                o.count = 1;
                answer alone = solve_samples(targets[t].ctx, &one, &o);
                CHECK(same_all(r.x + k * s.n * s.nrhs, alone.x, s.n * s.nrhs));
                CHECK(same(r.residual[k], alone.residual[0]) && r.rcond[k] == alone.rcond[0]);
                free_answer(&alone);
            }
            free_answer(&r);
            free_samples(&s);
        }
}

/* More than the GPU's workspace takes at once: the last of one part and the first of the next. */
TEST(a_batch_in_several_parts) {
#ifdef SANITIZED
    SKIP("2000 systems are too many for an emulated GPU with a sanitizer");
#else
    for (int t = 0; t < target_count; t++)
        for (int interleaved = 0; interleaved < 2 && !on_cpu(&targets[t]); interleaved++) {
            samples s = new_samples(64, 1970, 1, 70, SHOAL_F64, 0);
            shoal_smallsym_opts o = opts_for(&s, "ldltp", NULL);
            o.layout = interleaved ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR;
            answer r = solve_samples(targets[t].ctx, &s, &o);
            CHECK(r.info.failed == 0);
            o.count = 1;
            for (int64_t k = 1955; k < s.count; k++) {
                const samples one = one_of(&s, k);
                answer alone = solve_samples(targets[t].ctx, &one, &o);
                CHECK_MSG(same_all(r.x + k * s.n, alone.x, s.n), "system %lld", (long long)k);
                CHECK(r.status[k] == alone.status[0] && same(r.residual[k], alone.residual[0]));
                free_answer(&alone);
            }
            free_answer(&r);
            free_samples(&s);
        }
#endif
}

/* ---- bad samples ------------------------------------------------------------------------------ */

TEST(a_bad_sample_fails_its_system_alone) {
    const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int i = 0; i < 6; i++) {
                const int64_t nrhs = 1 + i % 2;
                samples s = new_samples(6, 7, nrhs, 70, (shoal_type)type, 0);
                const shoal_smallsym_opts o = opts_for(&s, i % 2 ? NULL : "ldlt", NULL);
                answer good = solve_samples(targets[t].ctx, &s, &o);
                s.psi[(2 * s.M + 65) * s.n + 4] = bad[i / 2];
                s.y[(4 * s.M + 3) * nrhs + nrhs - 1] = bad[i / 2];
                answer r = solve_samples(targets[t].ctx, &s, &o);
                CHECK(r.info.failed == 2);
                for (int64_t k = 0; k < s.count; k++) {
                    CHECK_MSG(r.status[k] ==
                                  (k == 2 || k == 4 ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK),
                              "%s system %lld: status %d", targets[t].backend, (long long)k,
                              r.status[k]);
                    for (int64_t e = 0; e < s.n * s.nrhs; e++) { /* y's other columns stand */
                        const double v = r.x[k * s.n * s.nrhs + e];
                        const int lost = k == 2 || (k == 4 && e % nrhs == nrhs - 1);
                        CHECK(lost ? isnan(v) : v == good.x[k * s.n * s.nrhs + e]);
                    }
                }
                free_answer(&good), free_answer(&r);
                free_samples(&s);
            }
}

/* psi times 2^p and y times 2^q: x times 2^(q - p), to the bit where nothing is rounded away. */
TEST(far_scales_change_nothing) {
    const struct {
        int p, q; /* of f32; times 7 in f64 */
    } scales[] = { { 40, 0 },   { 80, 80 },   { 80, 10 },  { 100, 127 },
                   { -50, 0 },  { -80, -80 }, { -80, 20 }, { -100, -110 },
                   { 20, 120 }, { -20, -90 }, { 3, -100 }, { 0, 126 } };
    for (int t = 0; t < 2 * target_count; t++)
        for (int type = 0; type < 2; type++)
            for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
                const int p = scales[i].p * (type ? 1 : 7), q = scales[i].q * (type ? 1 : 7);
                samples s = new_samples(5, 3, 1, 100, (shoal_type)type, 0);
                const shoal_smallsym_opts o = opts_for(&s, t % 2 ? "ldlt" : "ldltp", NULL);
                answer near = solve_samples(targets[t / 2].ctx, &s, &o);
                for (int64_t e = s.n * s.M; e < 2 * s.n * s.M; e++) s.psi[e] = ldexp(s.psi[e], p);
                for (int64_t e = s.M; e < 2 * s.M; e++) s.y[e] = ldexp(s.y[e], q);
                answer far = solve_samples(targets[t / 2].ctx, &s, &o);
                for (int64_t e = 0; e < s.n * s.count; e++) {
                    const int scaled = e / s.n == 1;
                    const double x = scaled ? ldexp(near.x[e], q - p) : near.x[e];
                    CHECK_MSG(far.status[e / s.n] == 0 && far.x[e] == x,
                              "%s %s 2^%d 2^%d: status %d, x %.9g, not %.9g",
                              targets[t / 2].backend, type ? "f32" : "f64", p, q,
                              far.status[e / s.n], far.x[e], x);
                }
                free_answer(&near), free_answer(&far);
                free_samples(&s);
            }
}

/* Zeros on the right have the answer 0; zeros for psi make A zero, which no pivot survives. */
TEST(zeros) {
    for (int t = 0; t < 2 * target_count; t++) {
        samples s = new_samples(4, 3, 1, 30, SHOAL_F64, 0);
        memset(s.y, 0, (size_t)(s.M * s.count) * sizeof(double));
        memset(s.psi + s.M * s.n, 0, (size_t)(s.M * s.n) * sizeof(double));
        const shoal_smallsym_opts o = opts_for(&s, t % 2 ? "ldlt" : "ldltp", NULL);
        answer r = solve_samples(targets[t / 2].ctx, &s, &o);
        CHECK(r.status[0] == 0 &&
              r.status[1] == (t % 2 ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_SINGULAR) &&
              r.status[2] == 0);
        for (int64_t e = 0; e < s.n * s.count; e++)
            CHECK(e / s.n == 1 ? isnan(r.x[e]) : r.x[e] == 0);
        free_answer(&r);
        free_samples(&s);
    }
}

/* ---- plans ------------------------------------------------------------------------------------ */

/* Groups one after the other in every array, one of them without unknowns: the bits of each alone. */
TEST(groups) {
    const shoal_group groups[] = { { 3, 4 }, { 0, 2 }, { 17, 3 } };
    const int64_t M = 50;
    for (int t = 0; t < target_count; t++)
        for (int layout = 0; layout < 2; layout++) {
            shoal_context *ctx = targets[t].ctx;
            samples first = new_samples(3, 4, 1, M, SHOAL_F64, 0);
            samples last = new_samples(17, 3, 1, M, SHOAL_F64, 0);
            const size_t d = sizeof(double);
            const size_t psi_1 = (size_t)(3 * 4 * M), psi_2 = (size_t)(17 * 3 * M);
            const size_t y_1 = (size_t)(4 * M), y_0 = (size_t)(2 * M), y_2 = (size_t)(3 * M);
            double *psi = new_array(psi_1 + psi_2, d), *y = new_array(y_1 + y_0 + y_2, d);
            double x[3 * 4 + 17 * 3];
            const struct {
                samples *s;
                size_t psi, y;
                const double *x;
            } parts[] = { { &first, 0, 0, x }, { &last, psi_1, y_1 + y_0, x + 12 } };
            for (int i = 0; i < 2; i++) { /* as solve_samples() would lay them out */
                const samples *s = parts[i].s;
                void *a = in_layout(ctx, s->psi, s, M * s->n, 1, (shoal_layout)layout);
                void *b = in_layout(ctx, s->y, s, M, 1, (shoal_layout)layout);
                const size_t numbers = (size_t)(s->count * M);
                CHECK(shoal_copy(ctx, psi + parts[i].psi, a, numbers * (size_t)s->n * d) ==
                      SHOAL_OK);
                CHECK(shoal_copy(ctx, y + parts[i].y, b, numbers * d) == SHOAL_OK);
                shoal_free(ctx, a), shoal_free(ctx, b);
            }
            void *there[3] = { upload(ctx, psi, (psi_1 + psi_2) * d, 0),
                               upload(ctx, y, (y_1 + y_0 + y_2) * d, 0),
                               upload(ctx, x, sizeof x, 0) };
            shoal_smallsym *plan = NULL;
            const shoal_smallsym_opts o = { .groups = groups,
                                            .group_count = 3,
                                            .nrhs = 1,
                                            .layout = (shoal_layout)layout,
                                            .gram = 1 };
            CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
            CHECK(shoal_smallsym_gram(plan, M, there[0], there[1], there[2]) == SHOAL_OK);
            shoal_smallsym_info info;
            CHECK(shoal_smallsym_last(plan, &info) == SHOAL_OK && info.failed == 0);
            CHECK(shoal_copy(ctx, x, there[2], sizeof x) == SHOAL_OK);
            for (int i = 0; i < 2; i++) {
                const samples *s = parts[i].s;
                const shoal_smallsym_opts own = opts_for(s, NULL, NULL);
                answer r = solve_samples(ctx, s, &own);
                for (int64_t e = 0; e < s->n * s->count; e++) {
                    const int64_t at = layout ? e % s->n * s->count + e / s->n : e;
                    CHECK(r.x[e] == parts[i].x[at]);
                }
                free_answer(&r);
            }
            shoal_smallsym_free(plan);
            for (int i = 0; i < 3; i++) shoal_free(ctx, there[i]);
            free(psi), free(y), free_samples(&first), free_samples(&last);
        }
}

#define CHECK_SAYS(ctx, call, code, word)                                                          \
    do {                                                                                           \
        CHECK((call) == (code));                                                                   \
        CHECK_MSG(strstr(shoal_message(ctx), word), "message: %s", shoal_message(ctx));            \
    } while (0)

TEST(bad_calls_are_refused) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym *plan = NULL, *without = NULL, *empty = NULL;
        shoal_smallsym_opts o = { .n = 2, .count = 3, .nrhs = 1, .gram = 1 };
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        o.gram = 0;
        CHECK(shoal_smallsym_create(ctx, &o, &without) == SHOAL_OK);
        o.count = 0, o.gram = 1;
        CHECK(shoal_smallsym_create(ctx, &o, &empty) == SHOAL_OK);
        o.gram = 2;
        shoal_smallsym *none = NULL;
        CHECK_SAYS(ctx, shoal_smallsym_create(ctx, &o, &none), SHOAL_E_ARG, "gram is 2");
        void *m = NULL;
        CHECK(shoal_alloc(ctx, 4096, &m) == SHOAL_OK);
        double *v = m;
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, 0, v, v, v), SHOAL_E_ARG, "M is 0");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, -1, v, v, v), SHOAL_E_ARG, "M is -1");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, INT64_MAX / 4, v, v, v), SHOAL_E_ARG,
                   "too large");
        const int64_t most =
            ((1LL << 47) - 1) / 3 / 2; /* numbers of 2^50 bytes, over count and n */
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, most + 1, v, v, v), SHOAL_E_ARG, "too large");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, most, NULL, v, v), SHOAL_E_ARG, "psi is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_gramf(plan, 1, m, m, m), SHOAL_E_TYPE,
                   "shoal_smallsym_gram");
        CHECK_SAYS(ctx, shoal_smallsym_gram(without, 1, v, v, v), SHOAL_E_ARG, "gram is 0");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, 1, NULL, v, v), SHOAL_E_ARG, "psi is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, 1, v, NULL, v), SHOAL_E_ARG, "y is NULL");
        CHECK_SAYS(ctx, shoal_smallsym_gram(plan, 1, v, v, NULL), SHOAL_E_ARG, "x is NULL");
        CHECK(shoal_smallsym_gram(empty, 1, NULL, NULL, NULL) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_smallsym_gram(empty, 0, NULL, NULL, NULL), SHOAL_E_ARG, "M is 0");
        CHECK(shoal_smallsym_gram(NULL, 1, v, v, v) == SHOAL_E_ARG);
        shoal_free(ctx, m);
        shoal_smallsym_free(plan), shoal_smallsym_free(without), shoal_smallsym_free(empty);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(every_method_and_size);
    RUN(any_number_of_samples);
    RUN(n_above_64_on_the_cpu);
    RUN(one_sample_has_the_answer_of_least_norm);
    RUN(errors_do_not_grow_with_the_number_of_samples);
    RUN(an_answer_is_its_systems_own);
    RUN(a_batch_in_several_parts);
    RUN(a_bad_sample_fails_its_system_alone);
    RUN(far_scales_change_nothing);
    RUN(zeros);
    RUN(groups);
    RUN(bad_calls_are_refused);
    close_targets();
    return TEST_END();
}
