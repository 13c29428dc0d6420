/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_transposed.c - opts.transposed: A^T x = b out of the diagonals of A. Every method gives the
 * bits that it gives for A^T written out, and those solve A^T by a certificate of their own.
 *
 *     test_tridiag_transposed [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

/* A^T written out; what does not exist is NaN in both. */
static batch turned(batch *p) {
    batch q = new_batch(p->n, p->count, p->nrhs, p->type);
    const int64_t n = p->n;
    memcpy(q.b, p->b, (size_t)(n * p->count * p->nrhs) * sizeof *q.b);
    for (int64_t k = 0; k < p->count && n > 0; k++) {
        double *dl = p->dl + k * n, *du = p->du + k * n;
        dl[0] = du[n - 1] = q.dl[k * n] = q.du[k * n + n - 1] = NAN;
        memcpy(q.d + k * n, p->d + k * n, (size_t)n * sizeof *q.d);
        for (int64_t i = 1; i < n; i++) q.dl[k * n + i] = du[i - 1], q.du[k * n + i - 1] = dl[i];
    }
    return q;
}

/* The same as of A^T written out, in place and not, in both layouts. */
static void transposed_case(const target *t, const call *c, const batch *p, const batch *q) {
    const int64_t numbers = p->n * p->count * p->nrhs;
    for (int layout = 0; layout < 2; layout++) {
        const how plain = { .layout = layout, .in_place = layout };
        const how there = { .layout = layout, .in_place = layout, .transposed = 1 };
        answer r = solve_with(t->ctx, p, c, there), s = solve_with(t->ctx, q, c, plain);
        if (r.code == SHOAL_OK && s.code == SHOAL_OK) {
            CHECK_MSG(same_all(r.x, s.x, numbers), "%s n=%lld count=%lld layout %d", name_of(t, c),
                      (long long)p->n, (long long)p->count, layout);
            CHECK(memcmp(r.status, s.status, (size_t)p->count * sizeof *r.status) == 0);
            CHECK(memcmp(r.method, s.method, (size_t)p->count * sizeof *r.method) == 0);
            for (int64_t k = 0; k < p->count; k++)
                CHECK(same((double)r.residual[k], (double)s.residual[k]));
            CHECK(r.info.failed == s.info.failed && r.info.redone == s.info.redone);
        }
        CHECK(r.code == s.code);
        free_answer(&r);
        free_answer(&s);
    }
}

TEST(every_method_solves_the_transposed_system) {
    const int64_t lengths[] = { 0, 1, 2, 3, 8, 17, 33, 100, 257, 1030, 2500 };
    for (int i = 0; i < (small ? 9 : 11); i++)
        for (int type = 0; type < 2; type++)
            for (int64_t nrhs = 1; nrhs < 4; nrhs += 2) {
                batch p = generate("zeropivot", lengths[i], small ? 3 : 19, nrhs, type);
                batch q = turned(&p);
                for (int t = 0; t < target_count; t++)
                    for (const call *c = calls; c->method; c++)
                        transposed_case(&targets[t], c, &p, &q);
                free_batch(&p);
                free_batch(&q);
            }
}

TEST(the_answer_is_that_of_the_transposed_matrix) {
    const int64_t lengths[] = { 1, 2, 31, 300 };
    for (int i = 0; i < 4; i++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("random", lengths[i], small ? 5 : 40, 2, type), q = turned(&p);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) {
                    if (!c->pivoted) continue;
                    answer r = solve_with(targets[t].ctx, &p, c, (how){ .transposed = 1 });
                    check_accuracy(&q, &r, is_auto(c) ? TRUSTED : PIVOTED, name_of(&targets[t], c));
                    free_answer(&r);
                }
            free_batch(&p);
            free_batch(&q);
        }
}

/* Systems that fail, fail as those of A^T do, and disturb nobody: the shift crosses systems. */
TEST(failures_stay_where_they_are) {
    const char *const kinds[] = { "singular", "nonfinite" };
    for (int i = 0; i < 2; i++)
        for (int64_t n = 1; n < 40; n += 9) {
            batch p = generate(kinds[i], n, 23, 1, SHOAL_F64), q = turned(&p);
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) transposed_case(&targets[t], c, &p, &q);
            free_batch(&p);
            free_batch(&q);
        }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(every_method_solves_the_transposed_system);
    RUN(the_answer_is_that_of_the_transposed_matrix);
    RUN(failures_stay_where_they_are);
    close_targets();
    return TEST_END();
}
