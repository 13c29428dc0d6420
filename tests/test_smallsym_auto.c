/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym_auto.c - the strategy that chooses: what the first method answers well stays as it is, the
 * rest is ldltp's, refined, or eigdc's, bit for bit; ill-conditioned families are refined and singular ones
 * truncated; what a plan learns.
 *
 *     test_smallsym_auto [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_batch.h"
#include <float.h>

static const call FIRST[] = { { "ldlt", NULL, 0 }, { "hhpcr", NULL, 0 } };
static const call RESCUE = { "eigdc", NULL, 0 };

static int64_t row_of(const char *method) {
    for (int i = 0; shoal_methods("smallsym", i); i++)
        if (strcmp(shoal_methods("smallsym", i), method) == 0) return i;
    return -1;
}

/* Column c of system k of two answers. */
static int same_column(const batch *p, const answer *r, const answer *s, int64_t k, int64_t c) {
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t e = (k * p->n + i) * p->nrhs + c;
        if (!same(r->x[e], s->x[e])) return 0;
    }
    return 1;
}

/* The answers of ldltp, which are refined: small residuals, unless there is a warning. */
static void check_refined(const batch *p, const answer *r, int64_t k, how h) {
    const double tol = h.tol > 0 ? h.tol : 10 * (double)p->n * eps_of(p->type);
    for (int64_t c = 0; c < p->nrhs; c++) {
        const double error = backward_error(p, k, c, r->x);
        CHECK_MSG(error <= 10 * (double)p->n * eps_of(p->type) &&
                      (error <= tol + eps_of(p->type) || r->status[k] == SHOAL_SYSTEM_ILL),
                  "n=%lld k=%lld: backward error %g, status %d", (long long)p->n, (long long)k,
                  error, r->status[k]);
    }
}

/* Each system has the bits of the first method or of eigdc, and the outcome that goes with it, or is
 * ldltp's. Of several right-hand sides those before the first poor one are the first method's. */
static void check_routes(const target *t, const batch *p, const call *first, how h, int redone) {
    const call automatic = { "auto", first->method, 0 };
    answer one = solve_with(t->ctx, p, first, h), two = solve_with(t->ctx, p, &RESCUE, h);
    answer r = solve_with(t->ctx, p, &automatic, h);
    int64_t count = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const int again = r.method[k] == row_of("eigdc");
        int64_t c = 0;
        count += r.method[k] != row_of(first->method);
        if (r.method[k] == row_of("ldltp")) {
            check_refined(p, &r, k, h);
            continue;
        }
        CHECK(again || r.method[k] == row_of(first->method));
        while (c < p->nrhs && same_column(p, &r, &one, k, c)) c++;
        CHECK_MSG(again || c == p->nrhs, "%s n=%lld k=%lld", name_of(t, first), (long long)p->n,
                  (long long)k);
        while (again && c < p->nrhs && same_column(p, &r, &two, k, c)) c++;
        CHECK_MSG(c == p->nrhs, "%s n=%lld k=%lld: column %lld is of neither", name_of(t, first),
                  (long long)p->n, (long long)k, (long long)c);
        const answer *source = again ? &two : &one;
        CHECK(r.rank[k] == source->rank[k]);
        for (int i = 3 * (int)k; i < 3 * (int)k + 3; i++) CHECK(r.inertia[i] == source->inertia[i]);
        /* pivots are not all that auto looks at */
        CHECK(again ? same(r.rcond[k], source->rcond[k]) : r.rcond[k] <= source->rcond[k]);
        if (p->nrhs == 1)
            CHECK(r.status[k] == source->status[k] && same(r.residual[k], source->residual[k]));
        /* whatever is called ok keeps to the tolerance */
        CHECK(r.status[k] != SHOAL_SYSTEM_OK || !h.tol || r.residual[k] <= h.tol);
    }
    CHECK_MSG(r.info.redone == count, "%lld, not %lld", (long long)r.info.redone, (long long)count);
    CHECK_MSG(redone < 0 ? count > 0 && count < p->count : count == redone,
              "%s n=%lld: %lld redone", name_of(t, first), (long long)p->n, (long long)count);
    CHECK(strcmp(r.info.method, "auto") == 0 && strcmp(r.info.variant, first->method) == 0);
    free_answer(&one), free_answer(&two), free_answer(&r);
}

/* A = L Lt with ones on L's diagonal and minus ones below: its pivots are ones, exactly, and say nothing of a
 * condition of more than 4^n. A step of inverse iteration does: of rcond it finds an upper bound, here within n. */
TEST(pivots_that_hide_the_condition) {
    for (int type = 0; type < 2; type++) {
        const int N = type ? 5 : 9; /* not so bad that it is truncated */
        batch p = new_batch(N, 1, 1, type);
        double norm = 0, inverse = 0; /* L^-1 has 2^(i-j-1) below its diagonal */
        for (int i = 0; i < N; i++) {
            double row = 0, other = 0;
            for (int j = 0; j < N; j++) {
                const int least = i < j ? i : j, most = i < j ? j : i;
                const double a = i == j ? i + 1 : least - 1;
                double v = 0;
                for (int k = most; k < N; k++)
                    v += (k == i ? 1 : ldexp(1, k - i - 1)) * (k == j ? 1 : ldexp(1, k - j - 1));
                if (j <= i) p.a[i * N + j] = a;
                row += fabs(a), other += v;
            }
            norm = fmax(norm, row), inverse = fmax(inverse, other), p.b[i] = 1;
        }
        const double truth = 1 / norm / inverse;
        for (int t = 0; t < target_count; t++) {
            const call automatic = { "auto", "ldlt", 0 };
            answer one = solve_with(targets[t].ctx, &p, &FIRST[0], (how){ 0 });
            answer r = solve_with(targets[t].ctx, &p, &automatic, (how){ 0 });
            CHECK_MSG(one.rcond[0] == 1, "rcond by pivots %g", (double)one.rcond[0]);
            CHECK_MSG(r.rcond[0] >= truth * (1 - 100 * N * eps_of(type) / truth) &&
                          r.rcond[0] <= N * N * truth, /* that of the scaled matrix is larger */
                      "%s: rcond %g, %g", targets[t].backend, (double)r.rcond[0], truth);
            free_answer(&one), free_answer(&r);
        }
        free_batch(&p);
    }
}

/* Packs of the rescue come between packs of the first method: what they found is not to stay. */
TEST(regular_systems_after_singular_ones) {
    enum { N = 4, RUN_LENGTH = 16, COUNT = 256 }; /* at least a pack of each, for up to 8 threads */
    for (int type = 0; type < 2; type++)
        for (int v = 0; v < 2; v++) {
            batch p = generate("spd", N, COUNT, 1, type);
            for (int e = 0; e < COUNT * N * N; e++)
                if (e / (RUN_LENGTH * N * N) % 2 == 0) p.a[e] = 1; /* rank 1 */
            for (int t = 0; t < target_count; t++)
                check_routes(&targets[t], &p, &FIRST[v], (how){ 0 }, COUNT / 2);
            free_batch(&p);
        }
}

/* Every seventh system of the family is singular. */
TEST(what_fails_is_redone_and_nothing_else) {
    const int64_t lengths[] = { 3, 8, 13, 16, 24, 32, 33, 64 };
    for (int i = 0; i < 8; i += small ? 3 : 1)
        for (int type = 0; type < 2; type++)
            for (int v = 0; v < 2; v++) {
                batch p = generate("singular", lengths[i], small ? 22 : 200, 1, type);
                batch q = generate("spd", lengths[i], small ? 5 : 70, 2, type);
                for (int t = 0; t < target_count; t++) {
                    check_routes(&targets[t], &p, &FIRST[v], (how){ .in_place = i % 2 },
                                 (int)(p.count / 7));
                    check_routes(&targets[t], &q, &FIRST[v], (how){ 0 }, 0);
                }
                free_batch(&p), free_batch(&q);
            }
}

/* A tolerance that some right-hand sides miss: they and those behind them are redone, in place. */
TEST(right_hand_sides_before_the_poor_one_stay) {
    const int64_t lengths[] = { 7, 20, 40 };
    for (int i = 0; i < 3; i++)
        for (int type = 0; type < 2; type++)
            for (int in_place = 0; in_place < 2; in_place++) {
                batch p = generate("spd", lengths[i], small ? 9 : 150, 5, type);
                const how h = { .in_place = in_place, .tol = eps_of(type) / 16 };
                for (int t = 0; t < target_count; t++) {
                    answer r = solve_with(targets[t].ctx, &p, &FIRST[0], h);
                    int64_t poor = 0; /* the largest residual of the system's columns is known */
                    for (int64_t k = 0; k < p.count; k++) poor += r.residual[k] > h.tol;
                    CHECK(poor > 0);
                    check_routes(&targets[t], &p, &FIRST[0], h, (int)poor);
                    free_answer(&r);
                }
                free_batch(&p);
            }
}

/* A right-hand side that fails before one that is redone: the system's status is the worst of them. */
TEST(a_failed_right_hand_side_is_not_forgotten) {
    for (int type = 0; type < 2; type++)
        for (int64_t n = 4; n <= 36; n += 16) {
            batch p = generate("singular", n, 14, 3, type);
            for (int64_t k = 0; k < 14; k++) p.b[k * n * 3 + (k % 2)] = NAN; /* column 0 or 1 */
            for (int t = 0; t < target_count; t++)
                for (int v = 0; v < 2; v++) {
                    const call automatic = { "auto", FIRST[v].method, 0 };
                    answer r = solve_with(targets[t].ctx, &p, &automatic, (how){ 0 });
                    CHECK(r.info.failed == 14);
                    for (int64_t k = 0; k < 14; k++) {
                        CHECK_MSG(r.status[k] == SHOAL_SYSTEM_NONFINITE && isnan(r.residual[k]),
                                  "%s n=%lld k=%lld: status %d", name_of(&targets[t], &automatic),
                                  (long long)n, (long long)k, r.status[k]);
                        for (int64_t i = 0; i < n; i++) {
                            const double *x = r.x + (k * n + i) * 3;
                            CHECK(isnan(x[k % 2]) && isfinite(x[2]) && isfinite(x[1 - k % 2]));
                        }
                    }
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* With refinement or the estimate too, b stays until the rescue has read it: x in place of b has the
 * bits that it has beside b. The tolerance makes answers poor that are there and could be written. */
TEST(careful_systems_are_redone_in_place) {
    const int64_t lengths[] = { 4, 8, 16, 32, 40 };
    for (int i = 0; i < 5; i++)
        for (int type = 0; type < 2; type++)
            for (int careful = 0; careful < 3; careful++) {
                batch p = generate("spd", lengths[i], 15, 1 + i % 2, type);
                how h = { .refine = careful % 2, .estimate = careful > 0 };
                if (careful == 0) h.refine = 2;
                h.tol = eps_of(type) / 64;
                for (int t = 0; t < target_count; t++) {
                    answer beside = solve_with(targets[t].ctx, &p, &calls[0], h);
                    h.in_place = 1;
                    answer within = solve_with(targets[t].ctx, &p, &calls[0], h);
                    h.in_place = 0;
                    CHECK(beside.info.redone > 0 && within.info.redone == beside.info.redone);
                    CHECK_MSG(same_all(beside.x, within.x, p.n * p.count * p.nrhs), "n=%lld",
                              (long long)p.n);
                    CHECK(memcmp(beside.status, within.status, (size_t)p.count * 4) == 0);
                    free_answer(&beside), free_answer(&within);
                }
                free_batch(&p);
            }
}

static double largest_of(const double *x, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Condition numbers of about 1e6: in float refined, right to the last bits and warned of; nothing to double. */
TEST(ill_conditioned_regressions_are_refined_in_float) {
    for (int type = 0; type < 2; type++) {
        batch p = generate("regression", 30, small ? 6 : 100, 1, type), q = p;
        q.type = SHOAL_F64; /* the same numbers */
        for (int t = 0; t < target_count; t++)
            for (int v = 0; v < 2; v++) {
                const call automatic = { "auto", FIRST[v].method, 0 };
                answer r = solve_with(targets[t].ctx, &p, &automatic, (how){ 0 });
                for (int64_t k = 0; k < p.count; k++)
                    CHECK_MSG(r.status[k] == (type ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK) &&
                                  r.rank[k] == 30,
                              "%s: status %d, rank %d", name_of(&targets[t], &automatic),
                              r.status[k], r.rank[k]);
                answer exact = solve_with(targets[t].ctx, &q, &automatic, (how){ 0 });
                for (int64_t k = 0; k < p.count && type; k++)
                    for (int64_t i = k * 30; i < (k + 1) * 30; i++)
                        CHECK_MSG(fabs(r.x[i] - exact.x[i]) <=
                                      2 * FLT_EPSILON * largest_of(exact.x + k * 30, 30),
                                  "%s: x %.9g, not %.9g", name_of(&targets[t], &automatic), r.x[i],
                                  exact.x[i]);
                free_answer(&exact);
                CHECK(r.info.redone == (type ? p.count : 0));
                free_answer(&r);
            }
        free_batch(&p);
    }
}

/* The paper's rule: where the residue is small nothing is redone, however large the condition; where it is not, eigdc
 * redoes the system at once, truncated at the paper's 1e5. No system is ldltp's. */
TEST(by_the_residue_alone) {
    const how rule = { .rule = SHOAL_RULE_RESIDUE };
    const how strict = { .rule = SHOAL_RULE_RESIDUE, .tol = FLT_EPSILON / 4 };
    batch p = generate("regression", 30, small ? 6 : 100, 1, SHOAL_F32);
    for (int t = 0; t < target_count; t++)
        for (int v = 0; v < 2; v++) {
            const call automatic = { "auto", FIRST[v].method, 0 };
            answer r = solve_with(targets[t].ctx, &p, &automatic, rule);
            answer first = solve_with(targets[t].ctx, &p, &FIRST[v], (how){ .no_rcond = 1 });
            CHECK(r.info.redone == 0 && same_all(r.x, first.x, p.n * p.count));
            for (int64_t k = 0; k < p.count; k++)
                CHECK(r.status[k] == SHOAL_SYSTEM_OK && r.method[k] == row_of(FIRST[v].method));
            answer s = solve_with(targets[t].ctx, &p, &automatic, strict);
            answer rescue = solve_with(targets[t].ctx, &p, &RESCUE, strict);
            int64_t redone = 0;
            for (int64_t k = 0; k < p.count; k++) {
                const int again = first.residual[k] > strict.tol;
                redone += again;
                CHECK(s.method[k] == row_of(again ? "eigdc" : FIRST[v].method));
                CHECK(same_column(&p, &s, again ? &rescue : &first, k, 0));
                CHECK(!again || (s.rank[k] == 29 && s.status[k] == SHOAL_SYSTEM_TRUNCATED));
            }
            CHECK_MSG(s.info.redone == redone && (v == 0 || redone > 0), "%s: %lld of %lld redone",
                      name_of(&targets[t], &automatic), (long long)s.info.redone,
                      (long long)redone);
            free_answer(&r), free_answer(&first), free_answer(&s), free_answer(&rescue);
        }
    free_batch(&p);
}

/* Groups have their own lists. */
TEST(groups_are_redone_each) {
    enum { FIRST_N = 5, SECOND_N = 20, EACH = 21 };
    const shoal_group groups[] = { { FIRST_N, EACH }, { 0, 3 }, { SECOND_N, EACH } };
    batch p = generate("singular", FIRST_N, EACH, 1, SHOAL_F64);
    batch q = generate("singular", SECOND_N, EACH, 1, SHOAL_F64);
    const size_t first_a = FIRST_N * FIRST_N * EACH, first_b = FIRST_N * EACH;
    const size_t all_a = first_a + SECOND_N * SECOND_N * EACH, all_b = first_b + SECOND_N * EACH;
    double *a = new_array(all_a, sizeof *a), *b = new_array(all_b, sizeof *b);
    for (int t = 0; t < target_count; t++) {
        store_batch(&p, (how){ 0 }, a, b);
        store_batch(&q, (how){ 0 }, a + first_a, b + first_b);
        const shoal_smallsym_opts o = { .groups = groups, .group_count = 3, .nrhs = 1 };
        answer r = solve_arrays(targets[t].ctx, &o, 2 * EACH + 3, a, all_a * sizeof *a, b,
                                all_b * sizeof *b, (how){ 0 });
        CHECK(r.info.redone == 2 * (EACH / 7) && r.info.failed == 0);
        CHECK(r.info.warned == 2 * (EACH / 7));
        for (int64_t k = 0; k < EACH; k++) {
            const int32_t expected = k % 7 == 6 ? SHOAL_SYSTEM_TRUNCATED : SHOAL_SYSTEM_OK;
            CHECK(r.status[k] == expected && r.status[EACH + 3 + k] == expected);
        }
        free_answer(&r);
    }
    free(a), free(b);
    free_batch(&p), free_batch(&q);
}

/* What a plan of "auto" becomes once it has solved a family. */
static void check_learning(const target *t, const char *kind, shoal_type type, int refine,
                           const char *method) {
    batch p = generate(kind, 30, 14, 1, type);
    const size_t a_bytes = (size_t)(p.n * p.n * p.count) * size_of(type);
    const size_t b_bytes = (size_t)(p.n * p.count) * size_of(type);
    void *host_a = new_array(a_bytes, 1), *host_b = new_array(b_bytes, 1);
    store_batch(&p, (how){ 0 }, host_a, host_b);
    void *a = upload(t->ctx, host_a, a_bytes, 0), *b = upload(t->ctx, host_b, b_bytes, 0);
    void *x = upload(t->ctx, host_b, b_bytes, 0);
    const shoal_smallsym_opts o = {
        .n = p.n, .count = p.count, .nrhs = 1, .type = type, .refine = refine
    };
    shoal_smallsym *plan = NULL;
    shoal_smallsym_info before, after;
    CHECK(shoal_smallsym_create(t->ctx, &o, &plan) == SHOAL_OK);
    CHECK(shoal_smallsym_learn(plan) == SHOAL_E_ARG && strstr(shoal_message(t->ctx), "plan"));
    CHECK((type ? shoal_smallsym_eigf(plan, a, x, NULL) : shoal_smallsym_eig(plan, a, x, NULL)) ==
          SHOAL_OK);
    CHECK(shoal_smallsym_learn(plan) == SHOAL_E_ARG); /* eigenpairs teach nothing of it */
    CHECK(solve_typed(plan, type, a, b, x) == SHOAL_OK);
    CHECK(shoal_smallsym_last(plan, &before) == SHOAL_OK && strcmp(before.method, "auto") == 0);
    CHECK(shoal_smallsym_learn(plan) == SHOAL_OK);
    CHECK(shoal_smallsym_learn(plan) == SHOAL_OK);
    CHECK(solve_typed(plan, type, a, b, x) == SHOAL_OK);
    CHECK(shoal_smallsym_last(plan, &after) == SHOAL_OK);
    const int still = strcmp(method, "auto") == 0;
    CHECK_MSG(strcmp(after.method, method) == 0, "%s: %s", kind, after.method);
    CHECK(after.redone == (still ? before.redone : 0) && after.warned == before.warned);
    shoal_smallsym_free(plan);
    shoal_free(t->ctx, a), shoal_free(t->ctx, b), shoal_free(t->ctx, x);
    free(host_a), free(host_b);
    free_batch(&p);
}

TEST(a_plan_learns_when_told_to) {
    for (int t = 0; t < target_count; t++) {
        const char *careful =
            on_cpu(&targets[t]) ? "eigdc" : "auto"; /* it does not refine on cuda */
        check_learning(&targets[t], "spd", SHOAL_F64, 0, "ldlt");
        check_learning(&targets[t], "regression", SHOAL_F32, 0, "auto");
        check_learning(&targets[t], "deficient", SHOAL_F32, 0, "eigdc");
        check_learning(&targets[t], "deficient", SHOAL_F32, 1, careful);
        check_learning(&targets[t], "singular", SHOAL_F32, 0, "auto");
    }
    CHECK(shoal_smallsym_learn(NULL) == SHOAL_E_ARG);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(pivots_that_hide_the_condition);
    RUN(regular_systems_after_singular_ones);
    RUN(what_fails_is_redone_and_nothing_else);
    RUN(right_hand_sides_before_the_poor_one_stay);
    RUN(a_failed_right_hand_side_is_not_forgotten);
    RUN(careful_systems_are_redone_in_place);
    RUN(ill_conditioned_regressions_are_refined_in_float);
    RUN(by_the_residue_alone);
    RUN(groups_are_redone_each);
    RUN(a_plan_learns_when_told_to);
    close_targets();
    return TEST_END();
}
