/* SPDX-License-Identifier: Apache-2.0
 *
 * test_smallsym.c - every method and variant, on every backend and instruction level, in both types,
 * at sizes on both sides of every boundary of the kernels. Certificates are backward errors computed
 * here; then the promises: the same bits whatever the storage, batch, position, number of threads or
 * of right-hand sides, and groups of several sizes in one call. What is said of bad systems is the
 * subject of test_smallsym_verdict.c.
 *
 *     test_smallsym [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "smallsym_batch.h"

static const int64_t all_sizes[] = { 0,  1,  2,  3,  4,  5,  7,  8,  9,  12, 13, 16,
                                     17, 24, 25, 31, 32, 33, 40, 48, 49, 63, 64, -1 };
static const int64_t small_sizes[] = { 0, 1, 2, 3, 5, 8, 9, 13, 16, 17, 25, 33, 49, 64, -1 };

static const int64_t *sizes(void) { return small ? small_sizes : all_sizes; }

/* Every storage, both layouts, in and out of place, aligned and not. */
static const how ways[] = {
    { .triangle = SHOAL_UPPER },
    { .storage = SHOAL_PACKED },
    { .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER, .in_place = 1 },
    { .layout = SHOAL_INTERLEAVED },
    { .layout = SHOAL_INTERLEAVED, .triangle = SHOAL_UPPER, .wider = 2 },
    { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED, .in_place = 1 },
    { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED, .triangle = SHOAL_UPPER },
    { .wider = 1, .offset = 1 },
    { .wider = 4, .apart = 8, .in_place = 1 },
    { .triangle = SHOAL_UPPER, .wider = 3, .apart = 5, .no_residual = 1 },
    { .no_residual = 1, .in_place = 1, .offset = 3 },
};

enum { WAYS = sizeof ways / sizeof *ways };

/* The same bits in every storage, and for each right-hand side alone. In small runs a few of the
 * ways each time, all of them over the sizes. */
static void check_same_bits(const target *t, const call *c, const batch *p, const answer *r) {
    const int64_t size = p->n * p->count;
    for (int i = small ? (int)(p->n % 3) : 0; i < WAYS; i += small ? 3 : 1) {
        answer s = solve_with(t->ctx, p, c, ways[i]);
        CHECK_MSG(same_all(r->x, s.x, size * p->nrhs), "%s %s n=%lld way %d", name_of(t, c),
                  p->type ? "f32" : "f64", (long long)p->n, i);
        CHECK(memcmp(r->status, s.status, (size_t)p->count * 4) == 0);
        free_answer(&s);
    }
    for (int64_t j = 0; j < p->nrhs && p->nrhs > 1; j += 2) {
        batch q = column(p, j);
        answer s = solve_with(t->ctx, &q, c, (how){ .layout = j ? SHOAL_INTERLEAVED : 0 });
        int equal = 1;
        for (int64_t i = 0; i < size; i++) equal &= same(s.x[i], r->x[i * p->nrhs + j]);
        CHECK_MSG(equal, "%s n=%lld: right-hand side %lld alone", name_of(t, c), (long long)p->n,
                  (long long)j);
        free_answer(&s);
        free_batch(&q);
    }
}

static void definite_case(const char *kind, int64_t n, int64_t count, int64_t nrhs,
                          shoal_type type) {
    batch p = generate(kind, n, count, nrhs, type);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
            if (r.code != SHOAL_OK) continue;
            const char *who = name_of(&targets[t], c);
            check_accuracy(&p, &r, ALL_OK, who);
            CHECK_MSG(r.info.failed == 0 && r.info.warned == 0, "%s n=%lld", who, (long long)n);
            CHECK(strcmp(r.info.method, c->method) == 0);
            const double limit = 10 * (n ? (double)n : 1) * eps_of(type);
            CHECK_MSG(count == 0 ? r.info.max_residual == -1
                                 : r.info.max_residual >= 0 && r.info.max_residual <= limit,
                      "%s n=%lld: max residual %g", who, (long long)n, (double)r.info.max_residual);
            for (int64_t k = 0; k < count && strcmp(c->method, "auto") != 0; k++)
                CHECK(strcmp(shoal_methods("smallsym", r.method[k]), c->method) == 0);
            check_same_bits(&targets[t], c, &p, &r);
            free_answer(&r);
        }
    free_batch(&p);
}

TEST(definite_systems_at_all_sizes) {
    for (const int64_t *n = sizes(); *n >= 0; n++)
        for (int type = 0; type < 2; type++) {
            definite_case("spd", *n, small ? 5 : 19, *n % 2 ? 3 : 1, type);
            if (!small) definite_case("wishart", *n, 35, 1, type);
        }
}

TEST(no_system_and_one) {
    for (int64_t n = 0; n < 4; n++)
        for (int64_t count = 0; count < 2; count++)
            for (int type = 0; type < 2; type++) definite_case("spd", n, count, 2, type);
}

/* The other definite kinds, each way of being awkward once at most sizes. */
TEST(definite_kinds) {
    const char *const kinds[] = {
        "centred", "regression", "clustered", "spectrum", "huge", "tiny"
    };
    for (const int64_t *n = sizes() + 1; *n >= 0; n++)
        for (int i = small ? (int)(*n % 3) : 0; i < 6; i += small ? 3 : 1)
            for (int type = 0; type < 2; type++) {
                const int ill = type && strcmp(kinds[i], "regression") == 0; /* condition 1e6 */
                batch p = generate(kinds[i], *n, small ? 2 : 17, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                        if (r.code == SHOAL_OK)
                            check_accuracy(&p, &r, ill ? ALL_ANSWERED : ALL_OK,
                                           name_of(&targets[t], c));
                        free_answer(&r);
                    }
                free_batch(&p);
            }
}

/* Of the CPU alone: larger n are correct there. */
TEST(large_systems) {
    const int64_t lengths[] = { 65, 100, 257 };
    for (int i = 0; i < 6; i++) {
        batch p = generate("spd", lengths[i / 2], 3, 2, i % 2);
        for (int t = 0; t < target_count && on_cpu(&targets[t]); t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ .triangle = i % 2 });
                if (r.code == SHOAL_OK) check_accuracy(&p, &r, ALL_OK, name_of(&targets[t], c));
                free_answer(&r);
            }
        free_batch(&p);
    }
}

/* Kinds that are not, or hardly, definite: who must solve them does, and nobody errs unnoticed. */
TEST(indefinite_kinds) {
    const struct {
        const char *kind;
        int needs;
    } kinds[] = { { "indefinite", INDEFINITE },
                  { "kkt", INDEFINITE },
                  { "hilbert", DEFICIENT },
                  { "deficient", DEFICIENT } };
    for (const int64_t *n = sizes() + 1; *n >= 0; n++)
        for (int i = small ? (int)(*n % 2) : 0; i < 4; i += small ? 2 : 1)
            for (int type = 0; type < 2; type++) {
                batch p = generate(kinds[i].kind, *n, small ? 3 : 40, 1, type);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++) {
                        answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                        if (r.code != SHOAL_OK) continue;
                        const char *who = name_of(&targets[t], c);
                        check_accuracy(&p, &r, SOME_OK, who);
                        for (int64_t k = 0; k < p.count && (c->trait & kinds[i].needs); k++)
                            CHECK_MSG(r.status[k] == 0 || r.status[k] == SHOAL_SYSTEM_ILL ||
                                          (kinds[i].needs == DEFICIENT &&
                                           r.status[k] == SHOAL_SYSTEM_TRUNCATED),
                                      "%s %s n=%lld k=%lld: status %d", who, kinds[i].kind,
                                      (long long)*n, (long long)k, r.status[k]);
                        free_answer(&r);
                    }
                free_batch(&p);
            }
}

/* What is said of system k of r and system i of s. */
static void check_same_outcome(const answer *r, int64_t k, const answer *s, int64_t i,
                               const char *who, int64_t n) {
    CHECK_MSG(r->status[k] == s->status[i] && r->method[k] == s->method[i] &&
                  r->rank[k] == s->rank[i] &&
                  memcmp(r->inertia + 3 * k, s->inertia + 3 * i, 3 * sizeof *r->inertia) == 0,
              "%s n=%lld k=%lld: status %d, not %d; rank %d, not %d", who, (long long)n,
              (long long)k, r->status[k], s->status[i], r->rank[k], s->rank[i]);
    CHECK_MSG(same((double)r->residual[k], (double)s->residual[i]) &&
                  same((double)r->rcond[k], (double)s->rcond[i]),
              "%s n=%lld k=%lld: residual %.9g, not %.9g; rcond %.9g, not %.9g", who, (long long)n,
              (long long)k, (double)r->residual[k], (double)s->residual[i], (double)r->rcond[k],
              (double)s->rcond[i]);
}

/* Alone, in reverse order, among more, with other numbers of threads. */
static void invariance_case(const target *t, const call *c, const batch *p) {
    const int64_t n = p->n, count = p->count;
    answer r = solve_with(t->ctx, p, c, (how){ 0 });
    if (r.code != SHOAL_OK) return;
    batch turned = new_batch(n, count + 3, 1, p->type), one = new_batch(n, 1, 1, p->type);
    for (int64_t k = 0; k < count + 3; k++) copy_system(&turned, k, p, (2 * count - 1 - k) % count);
    answer s = solve_with(t->ctx, &turned, c, (how){ 0 });
    for (int64_t k = 0; k < count; k++)
        CHECK_MSG(same_all(r.x + k * n, s.x + (count - 1 - k) * n, n), "%s n=%lld: place",
                  name_of(t, c), (long long)n);
    free_answer(&s);
    for (int64_t k = 0; k < count; k += 5) {
        copy_system(&one, 0, p, k);
        s = solve_with(t->ctx, &one, c, (how){ .layout = k % 2 });
        CHECK_MSG(same_all(r.x + k * n, s.x, n), "%s n=%lld: alone", name_of(t, c), (long long)n);
        free_answer(&s);
    }
    for (int threads = 1; threads < 6 && on_cpu(t); threads += 2) {
        shoal_context *ctx;
        CHECK(shoal_open(&(shoal_options){ .backend = "cpu", .isa = t->isa, .threads = threads },
                         &ctx) == 0);
        s = solve_with(ctx, p, c, (how){ 0 });
        CHECK_MSG(same_all(r.x, s.x, n * count), "%s n=%lld: threads", name_of(t, c), (long long)n);
        free_answer(&s);
        shoal_close(ctx);
    }
    free_answer(&r);
    free_batch(&turned);
    free_batch(&one);
}

TEST(the_answer_depends_on_the_system_alone) {
    const int64_t lengths[] = { 1, 4, 7, 12, 17, 32, 33, 64 };
    for (int j = 0; j < 8; j++)
        for (int type = 0; type < 2; type++) {
            batch p =
                generate(j % 2 ? "indefinite" : "wishart", lengths[j], small ? 6 : 70, 1, type);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) invariance_case(&targets[t], c, &p);
            free_batch(&p);
        }
}

/* Well-conditioned systems beside ones with rows of different sizes and ones that are nearly singular. */
static batch mixed(int64_t n, int64_t count, shoal_type type) {
    batch p = generate("wishart", n, count, 2, type);
    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                double *a = p.a + k * n * n;
                if (k % 3 == 1) a[i * n + j] = ldexp(a[i * n + j], (int)(i % 2 + j % 2) * 5);
                if (k % 3 == 2 && i == n - 1 && j < i) a[i * n + j] = entry(&p, k, j, 0);
                if (k % 3 == 2 && i == n - 1 && j == i && n > 1)
                    a[i * n + j] = a[0] * (1 + 1000 * eps_of(type));
            }
    round_batch(&p);
    return p;
}

/* All that is said of a system, not x alone, in a batch and in a call of its own. Teams of threads share a
 * warp, and lanes a pack: what a neighbour needs, or a place without a system, must not count. */
TEST(outcomes_depend_on_the_system_alone) {
    const int64_t lengths[] = { 1, 3, 7, 12, 20, 30, 41 };
    for (int j = 0; j < 7; j++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = lengths[j], count = 7;
            batch p = mixed(n, count, type), one = new_batch(n, 1, 2, type);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < count && r.code == SHOAL_OK; k++) {
                        copy_system(&one, 0, &p, k);
                        answer s = solve_with(targets[t].ctx, &one, c, (how){ 0 });
                        check_same_outcome(&r, k, &s, 0, name_of(&targets[t], c), n);
                        CHECK_MSG(same_all(r.x + k * n * 2, s.x, n * 2), "%s n=%lld k=%lld",
                                  name_of(&targets[t], c), (long long)n, (long long)k);
                        free_answer(&s);
                    }
                    free_answer(&r);
                }
            free_batch(&p), free_batch(&one);
        }
}

TEST(levels_agree_bit_for_bit) {
    int first = 0;
    while (first < target_count && !(on_cpu(&targets[first]) && rounds_once(&targets[first])))
        first++;
    for (int type = 0; type < 2; type++)
        for (int64_t n = 1; n <= 64; n += small ? 9 : 3) {
            batch p = generate("wishart", n, 9, 1, type);
            for (const call *c = calls; c->method && first < target_count; c++) {
                answer r = solve_with(targets[first].ctx, &p, c, (how){ 0 });
                for (int t = first + 1; t < target_count && r.x; t++) {
                    if (!on_cpu(&targets[t]) || !rounds_once(&targets[t])) continue;
                    answer s = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    CHECK_MSG(same_all(r.x, s.x, n * 9), "%s n=%lld", name_of(&targets[t], c),
                              (long long)n);
                    free_answer(&s);
                }
                free_answer(&r);
            }
            free_batch(&p);
        }
}

/* ---- groups ----------------------------------------------------------------------------------- */

enum { GROUPS = 7, RHS = 2 };
static const shoal_group group_sizes[GROUPS] = { { 3, 5 },  { 20, 2 }, { 0, 4 }, { 8, 0 },
                                                 { 33, 3 }, { 1, 9 },  { 3, 1 } };

/* All groups in one call have the bits that each has in a call of its own. */
static void group_case(const target *t, const call *c, shoal_type type, how h) {
    batch p[GROUPS];
    answer alone[GROUPS];
    int64_t systems = 0, a_numbers = 0, b_numbers = 0;
    for (int g = 0; g < GROUPS; g++) {
        p[g] = generate("spd", group_sizes[g].n, group_sizes[g].count, RHS, type);
        alone[g] = solve_with(t->ctx, &p[g], c, h);
        a_numbers += numbers_of(&p[g], h) * p[g].count;
        b_numbers += p[g].n * p[g].count * RHS;
        systems += p[g].count;
    }
    const size_t size = size_of(type);
    char *a = new_array((size_t)a_numbers, size), *b = new_array((size_t)b_numbers, size);
    for (int64_t g = 0, from = 0, to = 0; g < GROUPS; g++) {
        store_batch(&p[g], h, a + (size_t)from * size, b + (size_t)to * size);
        from += numbers_of(&p[g], h) * p[g].count;
        to += p[g].n * p[g].count * RHS;
    }
    shoal_smallsym_opts o = opts_of(&p[0], c, h);
    o.n = o.count = 0, o.groups = group_sizes, o.group_count = GROUPS;
    answer r = solve_arrays(t->ctx, &o, systems, a, (size_t)a_numbers * size, b,
                            (size_t)b_numbers * size, h);
    for (int64_t g = 0, k = 0, at = 0; g < GROUPS && r.code == SHOAL_OK; g++) {
        for (int64_t i = 0; i < p[g].count; i++, k++) {
            CHECK_MSG(r.status[k] == 0 && r.rank[k] == p[g].n && r.inertia[3 * k] == p[g].n,
                      "%s group %lld: status %d rank %d", name_of(t, c), (long long)g, r.status[k],
                      r.rank[k]);
            check_same_outcome(&r, k, &alone[g], i, name_of(t, c), p[g].n);
        }
        for (int64_t e = 0; e < p[g].n * p[g].count * RHS; e++) {
            const int64_t s = e / RHS / p[g].n, i = e / RHS % p[g].n;
            const double x = get(b, type, at + rhs_place(&p[g], h, s, i, e % RHS));
            CHECK_MSG(same(x, alone[g].x[e]), "%s group %lld: x %g, alone %g", name_of(t, c),
                      (long long)g, x, alone[g].x[e]);
        }
        at += p[g].n * p[g].count * RHS;
    }
    for (int g = 0; g < GROUPS; g++) free_answer(&alone[g]), free_batch(&p[g]);
    free_answer(&r);
    free(a), free(b);
}

TEST(groups_of_several_sizes) {
    const how hows[] = { { 0 },
                         { .storage = SHOAL_PACKED },
                         { .layout = SHOAL_INTERLEAVED, .triangle = SHOAL_UPPER },
                         { .layout = SHOAL_INTERLEAVED, .storage = SHOAL_PACKED, .in_place = 1 } };
    for (int i = 0; i < 4; i++)
        for (int type = 0; type < 2; type++)
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++)
                    group_case(&targets[t], c, type, hows[i]);
}

/* [4/3 1 0; 1 d 1; 0 1 2/3] beside a unit matrix. hhpcr does not pivot: dividing by d, a solve is right
 * to eps / d, and each correction gains as much again. So there are residuals on both sides of 9 n eps,
 * where the warnings begin, and near it. */
TEST(the_default_tolerance) {
    enum { EACH = 30, OCTAVES = 8 };
    const int64_t lengths[] = { 3, 5, 20 };
    for (int i = 0; i < 3; i++)
        for (int type = 0; type < 2; type++) {
            const int64_t n = lengths[i];
            const double tol = 9 * (double)n * eps_of(type);
            batch p = generate("spd", n, EACH * OCTAVES, 1, type);
            for (int64_t e = 0; e < n * n * p.count; e++) p.a[e] = e / n % n == e % n;
            for (int64_t k = 0; k < p.count; k++) {
                double *a = p.a + k * n * n;
                a[0] = 4.0 / 3, a[n] = a[2 * n + 1] = 1, a[2 * n + 2] = 2.0 / 3;
                a[n + 1] = exp2((type ? -14 : -36) - (double)k / EACH);
            }
            round_batch(&p);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    if (strcmp(c->method, "hhpcr") != 0) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    double fine = 0, poor = INFINITY;
                    for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++) {
                        const double residual = (double)r.residual[k];
                        if (r.status[k] == SHOAL_SYSTEM_OK) fine = fmax(fine, residual);
                        if (r.status[k] == SHOAL_SYSTEM_ILL) poor = fmin(poor, residual);
                    }
                    CHECK_MSG(r.code != SHOAL_OK ||
                                  (fine <= tol && fine > tol / 2 && poor > tol && poor < 2 * tol),
                              "%s n=%lld: ok up to %g, ill from %g, tol %g",
                              name_of(&targets[t], c), (long long)n, fine, poor, tol);
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

/* The paper's n*: any team gives an answer, whether it divides n or not. */
TEST(teams_of_any_size) {
    const int teams[] = { 1, 2, 3, 5, 8, 16, 20, 31, 32, 64, 1000 };
    batch p = generate("spd", 20, 5, 1, SHOAL_F64);
    for (int i = 0; i < 11; i++)
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ .team = teams[i] });
                if (r.code == SHOAL_OK) check_accuracy(&p, &r, ALL_OK, name_of(&targets[t], c));
                free_answer(&r);
            }
    free_batch(&p);
}

/* Diagonal matrices of 3, 5 and 7, right-hand sides of 1, all times a power of 2: b - A x is exact then, if it is rounded
 * once, and residuals are right to the last bits of a float. */
TEST(residuals_of_diagonal_systems) {
    const int64_t orders[] = { 1, 2, 5, 8, 13, 24, 33, 64 };
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++) {
            if (small && i % 3) continue;
            batch p = new_batch(orders[j], 3, i / 2 + 1, (shoal_type)(i % 2));
            for (int64_t e = 0; e < p.n * p.n * p.count; e++) {
                const int64_t row = e / p.n % p.n, column = e % p.n;
                p.a[e] = row == column ? (double)(3 + 2 * (row % 3)) * 0x1p-20 : 0;
            }
            for (int64_t e = 0; e < p.n * p.count * p.nrhs; e++) p.b[e] = 0x1p-20;
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method && rounds_once(&targets[t]); c++) {
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                    for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++) {
                        double worst = 0;
                        for (int64_t m = 0; m < p.nrhs; m++)
                            worst = fmax(worst, backward_error(&p, k, m, r.x));
                        CHECK_MSG(r.status[k] == 0 &&
                                      fabs(r.residual[k] / worst - 1) < 8 * FLT_EPSILON,
                                  "%s n=%lld: residual %g, not %g", name_of(&targets[t], c),
                                  (long long)p.n, (double)r.residual[k], worst);
                    }
                    free_answer(&r);
                }
            free_batch(&p);
        }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(definite_systems_at_all_sizes);
    RUN(no_system_and_one);
    RUN(definite_kinds);
    RUN(large_systems);
    RUN(indefinite_kinds);
    RUN(the_answer_depends_on_the_system_alone);
    RUN(outcomes_depend_on_the_system_alone);
    RUN(levels_agree_bit_for_bit);
    RUN(groups_of_several_sizes);
    RUN(the_default_tolerance);
    RUN(teams_of_any_size);
    RUN(residuals_of_diagonal_systems);
    close_targets();
    return TEST_END();
}
