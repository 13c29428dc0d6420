/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_stages.c - the stages of hhpcr, each alone: A = Q U Qt, and x = Q U^-1 Qt b; every
 * size, variant, type and layout, several right-hand sides, bad input, and what is refused.
 */
#include "smallsym_stages.h"

/* ---- tests ------------------------------------------------------------------------------------ */

TEST(reductions_of_every_size) {
    for (int t = 0; t < target_count; t++)
        for (int n = 1; n <= MOST; n = next_size(n))
            for (int v = 0; v < 2 * variants_on(&targets[t]); v++) {
                const shoal_smallsym_opts o = { .n = n,
                                                .count = SPECTRA + 1,
                                                .nrhs = 1,
                                                .type = v % 2 ? SHOAL_F32 : SHOAL_F64,
                                                .method = "hhpcr",
                                                .variant = variants[v / 2] };
                if (v / 2 == 1) continue; /* formed: the same as reflect */
                arrays m = new_arrays(&o), alone = new_arrays(&o);
                fill_matrices(&o, &m);
                memcpy(alone.a, m.a, sizes_of(&o).a * sizeof(double));
                const outcome told = reduce(targets[t].ctx, &o, &m, 1);
                for (int k = 0; k < o.count; k++) {
                    double orthogonality, residual;
                    const double limit = 10 * n * roundoff(o.type);
                    certify_reduction(&m, n, k, &orthogonality, &residual);
                    CHECK_MSG(orthogonality <= limit && residual <= limit,
                              "%s %s: |QtQ - I| %.3g eps, |Q U Qt - A| %.3g eps",
                              name_of(&targets[t], &o), spectrum_names[k % SPECTRA],
                              orthogonality / roundoff(o.type), residual / roundoff(o.type));
                    CHECK(told.status[k] == 0 && isnan(told.residual[k]) && isnan(told.rcond[k]));
                    CHECK(told.rank[k] == -1 && told.inertia[3 * k] == -1);
                }
                CHECK(told.info.failed == 0 && told.info.max_residual == -1);
                reduce(targets[t].ctx, &o, &alone, 0);
                CHECK(memcmp(m.d, alone.d, sizes_of(&o).d * sizeof(double)) == 0);
                CHECK(memcmp(m.e, alone.e, sizes_of(&o).e * sizeof(double)) == 0);
                free_arrays(&m), free_arrays(&alone);
            }
}

TEST(answers_of_every_size) {
    for (int t = 0; t < target_count; t++)
        for (int n = 1; n <= MOST; n = next_size(n))
            for (int v = 0; v < 4 * variants_on(&targets[t]); v++) {
                const int with_q = v % 2, in_place = n % 2;
                const shoal_smallsym_opts o = { .n = n,
                                                .count = 9,
                                                .nrhs = RHS,
                                                .type = v / 2 % 2 ? SHOAL_F32 : SHOAL_F64,
                                                .method = "hhpcr",
                                                .variant = variants[v / 4] };
                if (v / 4 == 1) continue;
                arrays m = new_arrays(&o);
                fill_parts(&o, &m);
                const outcome told = solve(targets[t].ctx, &o, &m, with_q, in_place);
                for (int k = 0; k < o.count; k++) {
                    for (int c = 0; c < RHS; c++) {
                        long double x[MOST], most = 0, off = 0;
                        solve_exactly(&m, &o, k, c, with_q, x);
                        for (int i = 0; i < n; i++) {
                            most = fmaxl(most, fabsl(x[i]));
                            const long double error = fabsl(x[i] - m.x[(k * n + i) * RHS + c]);
                            if (!(error <= off)) off = error;
                        }
                        CHECK_MSG(off <= 10 * n * roundoff(o.type) * most, "%s Q %d: %.3Lg eps",
                                  name_of(&targets[t], &o), with_q, off / most / roundoff(o.type));
                    }
                    CHECK(told.status[k] == 0 && told.rank[k] == n);
                    CHECK(told.residual[k] <= (float)(10 * n * roundoff(o.type)));
                    CHECK(told.rcond[k] > 0.05f && told.rcond[k] <= 1);
                    CHECK_MSG(told.inertia[3 * k] == (k % 2 ? 0 : n) &&
                                  told.inertia[3 * k + 1] == (k % 2 ? n : 0),
                              "%s: inertia %d %d", name_of(&targets[t], &o), told.inertia[3 * k],
                              told.inertia[3 * k + 1]);
                }
                CHECK(told.info.failed == 0 && told.info.max_residual >= 0);
                free_arrays(&m);
            }
}

/* One stage after the other is what the method does. */
TEST(both_stages_solve) {
    enum { N = 21, COUNT = 5 };
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < variants_on(&targets[t]); v++) {
            const shoal_smallsym_opts o = {
                .n = N, .count = COUNT, .nrhs = 1, .method = "hhpcr", .variant = variants[v]
            };
            arrays m = new_arrays(&o);
            for (int k = 0; k < COUNT; k++) {
                double w[N];
                for (int i = 0; i < N; i++) w[i] = 1 + 10 * uniform();
                with_spectrum(m.a + k * N * N, NULL, w, N, SHOAL_F64);
            }
            for (int i = 0; i < N * COUNT; i++) m.b[i] = normal();
            reduce(targets[t].ctx, &o, &m, 1);
            solve(targets[t].ctx, &o, &m, 1, 0);
            CHECK_MSG(v == 0 || same_at_once(targets[t].ctx, &o, &m), "%s",
                      name_of(&targets[t], &o));
            check_warnings(targets[t].ctx, &o, &m);
            for (int k = 0; k < COUNT; k++) {
                const double error =
                    backward_error(m.a + k * N * N, m.x + k * N, m.b + k * N, N) / DBL_EPSILON;
                CHECK_MSG(error <= 10 * N, "%s: %.3g eps", name_of(&targets[t], &o), error);
            }
            free_arrays(&m);
        }
}

/* simd, coop and hybrid differ in who does what, not in what is done. */
TEST(teams_of_any_size_have_the_same_bits) {
    enum { N = 19, COUNT = 7 };
    for (int t = 0; t < target_count; t++) {
        if (on_cpu(&targets[t])) continue;
        shoal_smallsym_opts o = { .n = N, .count = COUNT, .nrhs = 2, .method = "hhpcr" };
        arrays first = new_arrays(&o), m = new_arrays(&o);
        for (int team = 0; team < 6; team++) {
            arrays *to = team ? &m : &first;
            random_state = 11;
            fill_matrices(&o, to);
            for (size_t i = 0; i < sizes_of(&o).b; i++) to->b[i] = normal();
            o.variant = team == 0 ? "simd" : team == 1 ? "coop" : "hybrid";
            o.team = team < 2 ? 0 : team == 5 ? 100 : 3 * team;
            reduce(targets[t].ctx, &o, to, 1);
            solve(targets[t].ctx, &o, to, 1, 0);
            CHECK(memcmp(first.d, to->d, sizes_of(&o).d * sizeof(double)) == 0);
            CHECK(memcmp(first.e, to->e, sizes_of(&o).e * sizeof(double)) == 0);
            CHECK(memcmp(first.q, to->q, sizes_of(&o).q * sizeof(double)) == 0);
            for (size_t i = 0; i < sizes_of(&o).b; i++)
                CHECK(first.x[i] == to->x[i] || (isnan(first.x[i]) && isnan(to->x[i])));
        }
        free_arrays(&first), free_arrays(&m);
    }
}

/* Interleaved, packed, the upper triangle and groups: the same numbers elsewhere. */
TEST(layouts_have_the_same_bits) {
    enum { N = 6, COUNT = 5 };
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < variants_on(&targets[t]); v++) {
            shoal_smallsym_opts o = {
                .n = N, .count = COUNT, .nrhs = 1, .method = "hhpcr", .variant = variants[v]
            };
            arrays m = new_arrays(&o), other = new_arrays(&o);
            fill_matrices(&o, &m);
            for (int i = 0; i < N * COUNT; i++) m.b[i] = normal();
            reduce(targets[t].ctx, &o, &m, 1);
            solve(targets[t].ctx, &o, &m, 1, 0);
            o.layout = SHOAL_INTERLEAVED, o.storage = SHOAL_PACKED, o.triangle = SHOAL_UPPER;
            for (int k = 0; k < COUNT; k++)
                for (int i = 0, at = 0; i < N; i++) {
                    other.b[i * COUNT + k] = m.b[k * N + i];
                    for (int j = i; j < N; j++, at++)
                        other.a[at * COUNT + k] = m.a[(k * N + j) * N + i];
                }
            reduce(targets[t].ctx, &o, &other, 1);
            solve(targets[t].ctx, &o, &other, 1, 0);
            int wrong = 0;
            for (int k = 0; k < COUNT; k++)
                for (int i = 0; i < N * N; i++) {
                    wrong += other.q[i * COUNT + k] != m.q[k * N * N + i];
                    if (i < N) wrong += other.d[i * COUNT + k] != m.d[k * N + i];
                    if (i < N - 1) wrong += other.e[i * COUNT + k] != m.e[k * (N - 1) + i];
                    if (i < N && !isnan(m.x[k * N + i]))
                        wrong += other.x[i * COUNT + k] != m.x[k * N + i];
                }
            CHECK_MSG(wrong == 0, "%s: %d numbers", name_of(&targets[t], &o), wrong);
            free_arrays(&m), free_arrays(&other);
        }
}

TEST(groups_follow_each_other) {
    const shoal_group groups[] = { { 3, 2 }, { 0, 4 }, { 5, 1 }, { 7, 0 }, { 1, 2 } };
    enum { D = 3 * 2 + 5 + 2, E = 2 * 2 + 4, Q = 9 * 2 + 25 + 2 };
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        double a[Q], d[D], e[E], q[Q], b[D], x[D];
        for (int i = 0; i < Q; i++) a[i] = 0;
        for (int i = 0; i < D; i++) b[i] = i + 1;
        /* 4 on the diagonals, 1 beside them */
        for (int g = 0, at = 0; g < 5; g++)
            for (int64_t k = 0; k < groups[g].count; k++, at += (int)(groups[g].n * groups[g].n))
                for (int i = 0; i < groups[g].n; i++) {
                    a[at + i * groups[g].n + i] = 4;
                    if (i) a[at + i * groups[g].n + i - 1] = 1;
                }
        const shoal_smallsym_opts o = {
            .nrhs = 1, .groups = groups, .group_count = 5, .method = "hhpcr"
        };
        outcome told;
        const run r = begin(ctx, &o, &told);
        double *there[] = { put(ctx, a, sizeof a), put(ctx, d, sizeof d), put(ctx, e, sizeof e),
                            put(ctx, q, sizeof q), put(ctx, b, sizeof b), put(ctx, x, sizeof x) };
        CHECK(shoal_smallsym_reduce(r.plan, there[0], there[1], there[2], there[3]) == SHOAL_OK);
        CHECK(shoal_smallsym_pcr(r.plan, there[1], there[2], there[3], there[4], there[5]) ==
              SHOAL_OK);
        end_run(ctx, r, &told);
        take(ctx, d, there[1], sizeof d), take(ctx, e, there[2], sizeof e);
        take(ctx, q, there[3], sizeof q), take(ctx, x, there[5], sizeof x);
        shoal_free(ctx, there[0]), shoal_free(ctx, there[4]);
        for (int k = 0; k < 9; k++) CHECK(told.status[k] == 0);
        for (int i = 0; i < D; i++) CHECK(d[i] == 4); /* tridiagonal as they are */
        for (int i = 0; i < E; i++) CHECK(e[i] == 1);
        for (int g = 0, at = 0; g < 5; g++)
            for (int64_t k = 0; k < groups[g].count; k++, at += (int)groups[g].n)
                for (int i = 0; i < groups[g].n; i++) {
                    const double left = i ? x[at + i - 1] : 0;
                    const double right = i + 1 < groups[g].n ? x[at + i + 1] : 0;
                    CHECK(fabs(4 * x[at + i] + left + right - b[at + i]) <= 1e-13);
                }
    }
}

/* A number that is not finite spoils its own system, and no other. */
TEST(bad_numbers_are_named) {
    enum { N = 11, COUNT = 6, BAD = 3 };
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < variants_on(&targets[t]); v++)
            for (int where = 0; where < 5; where++) {
                const shoal_smallsym_opts o = {
                    .n = N, .count = COUNT, .nrhs = 1, .method = "hhpcr", .variant = variants[v]
                };
                arrays m = new_arrays(&o), clean = new_arrays(&o);
                const double bad = where % 2 ? INFINITY : NAN;
                random_state = 5;
                fill_matrices(&o, &m);
                fill_parts(&o, &m);
                memcpy(clean.a, m.a, sizes_of(&o).a * sizeof(double));
                memcpy(clean.d, m.d, sizes_of(&o).d * sizeof(double));
                memcpy(clean.e, m.e, sizes_of(&o).e * sizeof(double));
                memcpy(clean.q, m.q, sizes_of(&o).q * sizeof(double));
                memcpy(clean.b, m.b, sizes_of(&o).b * sizeof(double));
                double *array[] = { m.a + BAD * N * N, m.d + BAD * N, m.e + BAD * (N - 1),
                                    m.q + BAD * N * N, m.b + BAD * N };
                array[where][where == 0 ? N + 1 : where == 3 ? 2 * N + 4 : N / 2] = bad;
                const int reduces = where == 0;
                if (reduces)
                    reduce(targets[t].ctx, &o, &clean, 1);
                else
                    solve(targets[t].ctx, &o, &clean, 1, 0);
                const outcome told = reduces ? reduce(targets[t].ctx, &o, &m, 1)
                                             : solve(targets[t].ctx, &o, &m, 1, where == 4);
                for (int k = 0; k < COUNT; k++) {
                    CHECK_MSG(told.status[k] == (k == BAD ? SHOAL_SYSTEM_NONFINITE : 0),
                              "%s array %d: status %d", name_of(&targets[t], &o), where,
                              told.status[k]);
                    for (int i = 0; i < N; i++) {
                        const double now = reduces ? m.d[k * N + i] : m.x[k * N + i];
                        const double then = reduces ? clean.d[k * N + i] : clean.x[k * N + i];
                        if (k != BAD)
                            CHECK(now == then);
                        else if (where == 4) /* x is b, which is kept */
                            CHECK(now == m.b[k * N + i] || isnan(m.b[k * N + i]));
                        else
                            CHECK(isnan(now));
                        if (reduces && k == BAD) CHECK(isnan(m.q[k * N * N + i * N + 3]));
                        if (reduces && k == BAD && i) CHECK(isnan(m.e[k * (N - 1) + i - 1]));
                    }
                }
                CHECK(told.info.failed == 1);
                free_arrays(&m), free_arrays(&clean);
            }
}

/* Pivots of zero, sizes near the ends of the range, and an answer beyond it. */
static void pivots_and_scales_of(const int N) {
    enum { COUNT = 4 };
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < 2 * variants_on(&targets[t]); v++) {
            const shoal_smallsym_opts o = { .n = N,
                                            .count = COUNT,
                                            .nrhs = 1,
                                            .type = v % 2 ? SHOAL_F32 : SHOAL_F64,
                                            .method = "hhpcr",
                                            .variant = variants[v / 2] };
            const int e = v % 2 ? 110 : 1000;
            arrays m = new_arrays(&o);
            for (int k = 0; k < COUNT; k++)
                for (int i = 0; i < N; i++) {
                    const double size = k == 1 ? ldexp(1, e) : k == 2 ? ldexp(1, -e) : 1;
                    m.d[k * N + i] = k ? 4 * size : 0;
                    if (i) m.e[k * (N - 1) + i - 1] = size;
                    m.b[k * N + i] = k == 3 ? ldexp(1, e) : size;
                    for (int j = 0; j < N; j++) m.q[(k * N + i) * N + j] = i == j;
                }
            for (int i = 0; i < N; i++) m.d[3 * N + i] = ldexp(1, -e);
            for (int i = 0; i < N - 1; i++) m.e[3 * (N - 1) + i] = 0;
            for (int with_q = 0; with_q < 2; with_q++) {
                const outcome told = solve(targets[t].ctx, &o, &m, with_q, 0);
                CHECK_MSG(told.status[0] == SHOAL_SYSTEM_PIVOT && told.status[1] == 0 &&
                              told.status[2] == 0 && told.status[3] == SHOAL_SYSTEM_OVERFLOW,
                          "%s: %d %d %d %d", name_of(&targets[t], &o), told.status[0],
                          told.status[1], told.status[2], told.status[3]);
                for (int i = 0; i < N; i++) {
                    CHECK(isnan(m.x[i]) && isnan(m.x[3 * N + i]));
                    CHECK(m.x[N + i] == m.x[2 * N + i] && m.x[N + i] > 0 && m.x[N + i] < 1);
                }
                CHECK(told.info.failed == 2);
            }
            free_arrays(&m);
            arrays far = new_arrays(&o);
            for (int k = 0; k < COUNT; k++) {
                make_matrix(far.a + k * N * N, 0, N, o.type);
                for (int i = 0; i < N * N; i++)
                    far.a[k * N * N + i] = ldexp(far.a[k * N * N + i], k % 2 ? e : -e);
            }
            const outcome told = reduce(targets[t].ctx, &o, &far, 1);
            for (int k = 0; k < COUNT; k++) {
                double orthogonality, residual;
                certify_reduction(&far, N, k, &orthogonality, &residual);
                CHECK(told.status[k] == 0 && orthogonality <= 10 * N * roundoff(o.type));
                CHECK_MSG(residual <= 10 * N * roundoff(o.type), "%s: %.3g",
                          name_of(&targets[t], &o), residual);
            }
            free_arrays(&far);
        }
}

/* 4 and 8 fill the arrays of a team, 5 does not. */
TEST(pivots_and_scales) {
    for (int n = 4; n <= 8; n += n == 4 ? 1 : 3) pivots_and_scales_of(n);
}

#define CHECK_SAYS(ctx, call, expected, word)                                                      \
    do {                                                                                           \
        shoal_status status_ = (call);                                                             \
        CHECK_MSG(status_ == (expected), "returned %d: %s", status_, shoal_message(ctx));          \
        CHECK_MSG(strstr(shoal_message(ctx), word), "'%s' lacks '%s'", shoal_message(ctx), word);  \
    } while (0)

TEST(mistakes_are_named) {
    CHECK(shoal_smallsym_reduce(NULL, NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
    CHECK(shoal_smallsym_pcrf(NULL, NULL, NULL, NULL, NULL, NULL) == SHOAL_E_ARG);
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_smallsym_opts o = { .n = 2, .count = 1, .nrhs = 1, .method = "ldlt" };
        shoal_smallsym *plan;
        const double zeros[64] = { 0 };
        double *m = NULL;
        CHECK(shoal_alloc(ctx, sizeof zeros, (void **)&m) == SHOAL_OK);
        CHECK(shoal_copy(ctx, m, zeros, sizeof zeros) == SHOAL_OK);
        double *A = m, *d = m + 4, *e = m + 6, *b = m + 12, *x = m + 14;
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_smallsym_reduce(plan, A, d, e, NULL), SHOAL_E_METHOD, "ldlt");
        CHECK_SAYS(ctx, shoal_smallsym_pcr(plan, d, e, NULL, b, x), SHOAL_E_METHOD, "hhpcr");
        shoal_smallsym_free(plan);
        o.method = "hhpcr";
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_smallsym_reduce(plan, NULL, d, e, NULL), SHOAL_E_ARG, "A");
        CHECK_SAYS(ctx, shoal_smallsym_reduce(plan, A, NULL, e, NULL), SHOAL_E_ARG, "d");
        CHECK_SAYS(ctx, shoal_smallsym_reduce(plan, A, d, NULL, NULL), SHOAL_E_ARG, "e");
        CHECK_SAYS(ctx, shoal_smallsym_pcr(plan, d, e, NULL, NULL, x), SHOAL_E_ARG, "b");
        CHECK_SAYS(ctx, shoal_smallsym_pcr(plan, d, e, NULL, b, NULL), SHOAL_E_ARG, "x");
        CHECK_SAYS(ctx, shoal_smallsym_reducef(plan, NULL, NULL, NULL, NULL), SHOAL_E_TYPE,
                   "shoal_smallsym_reduce");
        shoal_smallsym_free(plan);
        o.type = SHOAL_F32;
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK_SAYS(ctx, shoal_smallsym_pcr(plan, d, e, NULL, b, x), SHOAL_E_TYPE,
                   "shoal_smallsym_pcrf");
        shoal_smallsym_free(plan);
        o.n = 1; /* e is not there */
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_reducef(plan, (float *)(void *)A, (float *)(void *)d, NULL, NULL) ==
              SHOAL_OK);
        shoal_smallsym_free(plan);
        o.n = 0; /* nor is anything */
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_pcrf(plan, NULL, NULL, NULL, NULL, NULL) == SHOAL_OK);
        CHECK(shoal_smallsym_reducef(plan, NULL, NULL, NULL, NULL) == SHOAL_OK);
        shoal_smallsym_free(plan);
        o.n = 3, o.count = 0;
        CHECK(shoal_smallsym_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_smallsym_reducef(plan, NULL, NULL, NULL, NULL) == SHOAL_OK);
        shoal_smallsym_free(plan);
        CHECK(shoal_wait(ctx) == SHOAL_OK);
        shoal_free(ctx, m);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(reductions_of_every_size);
    RUN(answers_of_every_size);
    RUN(both_stages_solve);
    RUN(teams_of_any_size_have_the_same_bits);
    RUN(layouts_have_the_same_bits);
    RUN(groups_follow_each_other);
    RUN(bad_numbers_are_named);
    RUN(pivots_and_scales);
    RUN(mistakes_are_named);
    close_targets();
    return TEST_END();
}
