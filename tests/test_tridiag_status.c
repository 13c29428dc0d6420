/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_status.c - what status 0 promises, on systems that can be solved by hand. Random ones are in
 * test_promises_tridiag.c.
 */
#include "tridiag_batch.h"

/* Fills a batch of one system. */
static batch system_of(int64_t n, shoal_type type, const double (*rows)[4]) {
    batch p = new_batch(n, 1, 1, type);
    for (int64_t i = 0; i < n; i++)
        p.dl[i] = rows[i][0], p.d[i] = rows[i][1], p.du[i] = rows[i][2], p.b[i] = rows[i][3];
    round_batch(&p);
    return p;
}

/* Methods that pivot answer with status 0 and x to 1e-6; no other claims so of another x. */
static void expect_x(const batch *p, const double *x) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer a = solve_with(targets[t].ctx, p, c, (how){ .no_residual = 1 });
            int right = a.code == SHOAL_OK;
            for (int64_t i = 0; i < p->n && right; i++) right = fabs(a.x[i] - x[i]) <= 1e-6;
            CHECK_MSG(a.code != SHOAL_OK || (a.status[0] == 0 ? right : !c->pivoted),
                      "%s: status %d, x[0] %g", name_of(&targets[t], c), a.status[0], a.x[0]);
            free_answer(&a);
        }
}

TEST(a_row_by_penalty_hides_no_other) {
    const double x[] = { 4. / 3, 1. / 3 };
    for (int type = 0; type < 2; type++) {
        const double penalty = type == SHOAL_F32 ? 1e10 : 1e20;
        const double rows[2][4] = { { 0, .5, 1, 1 }, { 1, penalty, 0, penalty / 3 } };
        batch p = system_of(2, type, rows);
        expect_x(&p, x);
        free_batch(&p);
    }
}

TEST(a_singular_matrix_is_never_ok) {
    const double rows[3][4] = { { 0, 1, 1, 1 }, { 1, 2, 1, 0 }, { 1, 1, 0, 1 } };
    for (int type = 0; type < 2; type++) {
        batch p = system_of(3, type, rows);
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer a = solve_with(targets[t].ctx, &p, c, (how){ .no_residual = 1 });
                CHECK_MSG(a.code != SHOAL_OK || a.status[0] != 0, "%s", name_of(&targets[t], c));
                free_answer(&a);
            }
        free_batch(&p);
    }
}

/* x next to the smallest normal number: an error of a unit is far below the tolerance, and no more is added. */
TEST(small_answers_are_ok) {
    enum { N = 50 };
    for (int type = 0; type < 2; type++) {
        const double unit = type == SHOAL_F32 ? 0x1p-128 : 0x1p-1024;
        double rows[N][4];
        for (int i = 0; i < N; i++) {
            const double x[3] = { i > 0 ? 1 + (i - 1) % 3 : 0, 1 + i % 3,
                                  i + 1 < N ? 1 + (i + 1) % 3 : 0 };
            const double b = x[0] + 4 * x[1] + x[2];
            memcpy(rows[i], (double[]){ 1, 4, 1, b * unit }, sizeof rows[i]);
        }
        batch p = system_of(N, type, (const double(*)[4])rows);
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer a = solve_with(targets[t].ctx, &p, c, (how){ .no_residual = 1 });
                CHECK_MSG(a.code != SHOAL_OK || a.status[0] == 0, "%s %s: status %d",
                          name_of(&targets[t], c), type ? "f32" : "f64", a.status[0]);
                free_answer(&a);
            }
        free_batch(&p);
    }
}

/* Convection with one value given by a penalty: elimination with exchanges keeps that row in hand to the end and rounds it
 * 2000 times. lupp warns of some systems; auto has solved those again. */
TEST(a_row_that_stays_in_hand_is_solved_again) {
    enum { N = 2000, COUNT = 60 };
    batch p = generate("dirichlet", N, COUNT, 1, SHOAL_F64); /* every second one is convection */
    for (int t = 0; t < target_count; t++) {
        answer a = solve_with(targets[t].ctx, &p, &calls[0], (how){ .no_residual = 1 });
        answer b = solve_with(targets[t].ctx, &p, &(call){ "lupp", NULL, 1 }, (how){ 0 });
        int64_t poor = 0;
        for (int64_t k = 1; k < COUNT; k += 2) {
            poor += b.status[k] != 0;
            CHECK_MSG(a.status[k] == 0, "%s k=%lld: status %d", targets[t].backend, (long long)k,
                      a.status[k]);
            CHECK(row_scaled_error(&p, k, 0, a.x) <= 100 * eps_of(SHOAL_F64));
        }
        CHECK_MSG(!on_cpu(&targets[t]) || (poor > 0 && a.info.redone >= poor),
                  "%s: %lld poor, %lld redone", targets[t].backend, (long long)poor,
                  (long long)a.info.redone);
        free_answer(&a), free_answer(&b);
    }
    free_batch(&p);
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(a_row_by_penalty_hides_no_other);
    RUN(a_singular_matrix_is_never_ok);
    RUN(small_answers_are_ok);
    RUN(a_row_that_stays_in_hand_is_solved_again);
    close_targets();
    return TEST_END();
}
