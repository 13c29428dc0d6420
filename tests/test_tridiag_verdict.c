/* SPDX-License-Identifier: Apache-2.0
 *
 * test_tridiag_verdict.c - what is said of an answer is true: the residual is that of the x
 * written, for every method, type, layout and number of right-hand sides; status and totals
 * follow from it; a fault in any row is seen, wherever in a long system it lies and whoever works
 * on that row.
 *
 *     test_tridiag_verdict [--small] [--backend=cpu|cuda] [test name ...]
 */
#include "tridiag_batch.h"

/* One for each way in which the kernels share a system out: one warp, 2, 4 and 8 warps, many
 * blocks. */
static const int64_t lengths[] = { 5, 8, 40, 257, 300, 500, 700, 1100, 1300, 2304, 2500, 5000, -1 };
static const int64_t few_lengths[] = { 5, 40, 300, 700, 1300, 2500, -1 };
static const int64_t *sizes(void) { return small ? few_lengths : lengths; }

/* System k: all entries positive and dominant, so that x is of size 1, but for two or three
 * diagonal entries: small enough that every method that divides by them loses many digits in the
 * rows beside them. Every fourth has one in the first row, which all methods without pivoting
 * divide by. */
static void make_treacherous(batch *p, int64_t k) {
    const int64_t n = p->n, at = k * n;
    const double tiny = p->type == SHOAL_F32 ? 0x1p-21 : 0x1p-40;
    p->dl[at] = p->du[at + n - 1] = 1; /* NaN in generated systems */
    for (int64_t i = at; i < at + n; i++) {
        p->dl[i] = 0.5 + fabs(p->dl[i]) / 2, p->du[i] = 0.5 + fabs(p->du[i]) / 2;
        p->d[i] = p->dl[i] + p->du[i] + fabs(p->d[i]);
    }
    if (k % 4 == 0) p->d[at] = tiny;
    if (n >= 40) p->d[at + n / 2 + k % 9] = p->d[at + n - 2 - k % 9] = tiny;
}

/* Random systems, every second made treacherous; right-hand side k % nrhs of system k is 0 if there
 * are several. */
static batch stirred(int64_t n, int64_t count, int64_t nrhs, shoal_type type) {
    batch p = generate("random", n, count, nrhs, type);
    for (int64_t k = 0; k < count; k++) {
        if (k % 2 == 0) make_treacherous(&p, k);
        for (int64_t i = k * n; i < (k + 1) * n && nrhs > 1; i++) p.b[i * nrhs + k % nrhs] = 0;
    }
    round_batch(&p);
    return p;
}

/* Residuals, statuses and totals are those that follow from x. Returns how many systems were bad. */
static int64_t check_verdict(const batch *p, const answer *r, double tol, const char *who) {
    const double eps = eps_of(p->type);
    int64_t warned = 0, bad = 0;
    float largest = 0;
    for (int64_t k = 0; k < p->count; k++) {
        const double said = r->residual[k];
        double own = 0;
        for (int64_t j = 0; j < p->nrhs; j++) own = fmax(own, row_scaled_error(p, k, j, r->x));
        CHECK_MSG(r->status[k] >= 0 && said <= 2 * own + 2 * eps && own <= 2 * said + 2 * eps,
                  "%s %s n=%lld nrhs=%lld k=%lld: status %d, residual %.3g eps, not %.3g", who,
                  p->type ? "f32" : "f64", (long long)p->n, (long long)p->nrhs, (long long)k,
                  r->status[k], said / eps, own / eps);
        CHECK_MSG((r->status[k] == SHOAL_SYSTEM_ILL) == !(said <= tol) &&
                      (own <= 2 * tol + 4 * eps || r->status[k] == SHOAL_SYSTEM_ILL) &&
                      (own >= tol / 2 - 4 * eps || r->status[k] == SHOAL_SYSTEM_OK),
                  "%s n=%lld k=%lld: status %d for %.3g tol", who, (long long)p->n, (long long)k,
                  r->status[k], own / tol);
        warned += r->status[k] > 0;
        bad += own > 2 * tol + 4 * eps;
        largest = fmaxf(largest, r->residual[k]);
    }
    CHECK_MSG(r->info.warned == warned && r->info.failed == 0,
              "%s n=%lld: warned %lld, not %lld; failed %lld", who, (long long)p->n,
              (long long)r->info.warned, (long long)warned, (long long)r->info.failed);
    CHECK_MSG(r->info.max_residual == largest, "%s n=%lld: largest %g, not %g", who,
              (long long)p->n, r->info.max_residual, largest);
    return bad;
}

/* With --small, of the long systems one in four combinations: each n has another one. */
static int left_out(int64_t n, int i) { return small && n > 100 && i != n / 100 % 4; }

static void verdict_case(const batch *p) {
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++)
            for (int i = 0; i < 4; i++) {
                if (left_out(p->n + 100, i)) continue;
                const double tol = (i / 2 ? 1000 : 100) * eps_of(p->type);
                const how h = { .layout = i % 2,
                                .in_place = i / 2,
                                .tol = i / 2 ? tol : 0,
                                .cond = c->pivoted ? 1e30 : 0 }; /* residuals alone */
                answer r = solve_with(targets[t].ctx, p, c, h);
                if (r.code != SHOAL_OK) continue;
                int64_t bad = check_verdict(p, &r, tol, name_of(&targets[t], c));
                CHECK_MSG(c->pivoted ? bad == 0 : bad > 0 || p->n < 40, "%s n=%lld: %lld bad",
                          name_of(&targets[t], c), (long long)p->n, (long long)bad);
                free_answer(&r);
            }
}

TEST(residual_status_and_totals_are_those_of_x) {
    for (const int64_t *n = sizes(); *n >= 0; n++)
        for (int i = 0; i < 4; i++) {
            if (left_out(*n, i)) continue;
            int64_t count = *n > 1000 ? 6 : *n > 100 ? 9 : 20;
            batch p = stirred(*n, count, i % 2 ? 3 : 1, i / 2);
            verdict_case(&p);
            free_batch(&p);
        }
}

/* ---- faults in single rows ------------------------------------------------------------------- */

enum { NAN_IN_MATRIX, INFINITE_RHS, ZERO_ROW, ZERO_FIRST_PIVOT, FAULTS };

static void spoil(batch *p, int64_t k, int64_t i, int fault) {
    const int64_t at = k * p->n + i;
    if (fault == NAN_IN_MATRIX) p->d[at] = NAN;
    if (fault == INFINITE_RHS) p->b[at] = -INFINITY;
    if (fault == ZERO_ROW) p->dl[at] = p->d[at] = p->du[at] = 0;
    if (fault == ZERO_FIRST_PIVOT) p->d[k * p->n] = 0;
}

static int status_after(int fault, int pivoted) {
    if (fault == NAN_IN_MATRIX || fault == INFINITE_RHS) return SHOAL_SYSTEM_NONFINITE;
    if (fault == ZERO_ROW) return pivoted ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_PIVOT;
    return pivoted ? SHOAL_SYSTEM_OK : SHOAL_SYSTEM_PIVOT;
}

/* Every second system has one fault; the others have the bits that they have without any. */
static void fault_case(const target *t, const call *c, const batch *good, how h) {
    const int64_t n = good->n;
    const int64_t rows[] = { 0, n / 5, n / 3, n / 2, n / 2 + 2, n - n / 7 - 1, n - 2, n - 1 };
    batch p = column(good, 0);
    for (int64_t k = 1; k < p.count; k += 2)
        spoil(&p, k, rows[k / 2 % 8], (int)(k / 2 / 8 % FAULTS));
    answer before = solve_with(t->ctx, good, c, h), r = solve_with(t->ctx, &p, c, h);
    int64_t failed = 0;
    for (int64_t k = 0; k < p.count && r.code == SHOAL_OK; k++) {
        const int fault = (int)(k / 2 / 8 % FAULTS);
        const int expected = k % 2 ? status_after(fault, c->pivoted) : SHOAL_SYSTEM_OK;
        CHECK_MSG(r.status[k] == expected, "%s n=%lld row %lld fault %d: status %d, not %d",
                  name_of(t, c), (long long)n, (long long)rows[k / 2 % 8], fault, r.status[k],
                  expected);
        failed += expected < 0;
        if (k % 2 == 0)
            CHECK_MSG(same_all(r.x + k * n, before.x + k * n, n), "%s n=%lld: system %lld",
                      name_of(t, c), (long long)n, (long long)k);
        for (int64_t i = k * n; expected < 0 && i < (k + 1) * n; i++)
            CHECK(h.in_place ? same(r.x[i], p.b[i]) : isnan(r.x[i]));
    }
    if (r.code == SHOAL_OK) CHECK(r.info.failed == failed && r.info.warned == 0);
    free_answer(&r);
    free_answer(&before);
    free_batch(&p);
}

TEST(a_fault_in_any_row_is_seen) {
    for (const int64_t *n = sizes(); *n >= 0; n++)
        for (int type = 0; type < 2; type++) {
            if (small && *n > 100 && *n % 3 % 2 == type) continue; /* one type each is enough */
            batch p = generate("dominant", *n, 2 * 8 * FAULTS, 1, type);
            const how h = { .layout = (type + *n / 100) % 2,
                            .in_place = *n / 10 % 2,
                            .no_residual = *n % 3 == 0 };
            for (int t = 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++) fault_case(&targets[t], c, &p, h);
            free_batch(&p);
        }
}

/* Row i has twice the largest number for an answer, all others are in range: only this
 * one overflows, in the last step of a method, and only whoever holds row i can know. */
static void overflow_case(const target *t, const call *c, int64_t n, int64_t begin,
                          shoal_type type) {
    enum { COUNT = 20 };
    const double large = type == SHOAL_F32 ? FLT_MAX / 2 : DBL_MAX / 2;
    batch p = new_batch(n, COUNT, 1, type);
    for (int64_t k = 0; k < COUNT; k++) {
        const int64_t at = k * n + begin + k;
        for (int64_t i = k * n; i < (k + 1) * n; i++) p.d[i] = 1, p.b[i] = 1;
        if (k % 4 == 3) continue; /* healthy */
        p.d[at] = 0.5, p.du[at] = -0.5, p.b[at] = large, p.b[at + 1] = large;
    }
    round_batch(&p);
    answer r = solve_with(t->ctx, &p, c, (how){ 0 });
    for (int64_t k = 0; k < COUNT && r.code == SHOAL_OK; k++) {
        const int failure = c->pivoted ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_PIVOT;
        CHECK_MSG(r.status[k] == (k % 4 == 3 ? SHOAL_SYSTEM_OK : failure),
                  "%s n=%lld row %lld: status %d", name_of(t, c), (long long)n,
                  (long long)(begin + k), r.status[k]);
        for (int64_t i = 0; i < n; i++)
            CHECK(k % 4 == 3 ? r.x[k * n + i] == 1 : isnan(r.x[k * n + i]));
    }
    free_answer(&r);
    free_batch(&p);
}

TEST(an_overflow_in_one_row_is_seen) {
    for (const int64_t *n = sizes(); *n >= 0; n++)
        for (int i = 0; i < 4 && *n > 30; i++)
            for (int t = left_out(*n, i) ? target_count : 0; t < target_count; t++)
                for (const call *c = calls; c->method; c++)
                    overflow_case(&targets[t], c, *n, i / 2 ? *n - 21 : *n / 3, i % 2);
}

/* ---- where the arrays begin ------------------------------------------------------------------- */

TEST(arrays_may_begin_at_any_number) {
    const int64_t even[] = { 1, 4, 8, 12, 64, 256, 300, 1152 };
    for (int i = 0; i < 16; i++) {
        batch p = generate("dominant", even[i / 2], small ? 6 : 40, i % 4 == 3 ? 2 : 1, i % 2);
        for (int t = 0; t < target_count; t++)
            for (const call *c = calls; c->method; c++) {
                answer r = solve_with(targets[t].ctx, &p, c, (how){ 0 });
                for (int offset = 1; offset < 4 && r.code == SHOAL_OK; offset++) {
                    const how h = { .offset = offset, .in_place = offset == 2 };
                    answer s = solve_with(targets[t].ctx, &p, c, h);
                    CHECK_MSG(same_all(r.x, s.x, p.n * p.count * p.nrhs), "%s n=%lld offset %d",
                              name_of(&targets[t], c), (long long)p.n, offset);
                    free_answer(&s);
                }
                free_answer(&r);
            }
        free_batch(&p);
    }
}

int main(int argc, char **argv) {
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(residual_status_and_totals_are_those_of_x);
    RUN(a_fault_in_any_row_is_seen);
    RUN(an_overflow_in_one_row_is_seen);
    RUN(arrays_may_begin_at_any_number);
    close_targets();
    return TEST_END();
}
