/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_modify.c - modified Cholesky: what the result object says of blocks that have changed.
 */
#include "symindef_kept.h"

/* The factors, read back after a change. */
static void read_again(kept *k) {
    const size_t numbers = stored_numbers(&k->f.opts);
    void *stored = new_array(numbers, k->item);
    CHECK(shoal_copy(k->t->ctx, stored, k->factors, numbers * k->item) == SHOAL_OK);
    memset(k->f.e, 0, (size_t)k->f.n * sizeof(double));
    take_factors(&k->f, stored);
    CHECK(shoal_symindef_last(k->plan, &k->f.info) == SHOAL_OK);
    free(stored);
}

static shoal_status modify(kept *k, double delta, shoal_symindef_change *change) {
    return k->item == 4 ? shoal_symindef_modifyf(k->plan, k->factors, delta, change)
                        : shoal_symindef_modify(k->plan, k->factors, delta, change);
}

/* x of (A + E) x = b, against the product. */
static void check_solve(const kept *k, const char *what) {
    enum { MOST = 40 };
    const int64_t n = k->f.n;
    char b[MOST * 8], x[MOST * 8];
    double residual = 0, size = 0;
    for (int64_t i = 0; i < n; i++)
        store_number(b, k->f.opts.type, (size_t)i, uniform_at(13, i, 1));
    void *device = to_context(k->t, b, (size_t)n * k->item);
    CHECK((k->item == 4
               ? shoal_symindef_solvef(k->plan, k->factors, 1, device, device)
               : shoal_symindef_solve(k->plan, k->factors, 1, device, device)) == SHOAL_OK);
    CHECK(shoal_wait(k->t->ctx) == SHOAL_OK);
    CHECK(shoal_copy(k->t->ctx, x, device, (size_t)n * k->item) == SHOAL_OK);
    for (int64_t i = 0; i < n; i++) {
        long double sum = stored_number(b, k->f.opts.type, (size_t)k->f.permutation[i]), sizes = 1;
        for (int64_t j = 0; j < n; j++) {
            const long double term = product_at(&k->f, i, j) *
                                     stored_number(x, k->f.opts.type, (size_t)k->f.permutation[j]);
            sum -= term, sizes += fabsl(term);
        }
        raise_to(&residual, (double)fabsl(sum));
        raise_to(&size, (double)sizes);
    }
    CHECK_MSG(residual <= 10 * (double)n * unit_of(k->f.opts.type) * size, "%s: residual %g", what,
              residual / size);
    shoal_free(k->t->ctx, device);
}

/* The block of order 2 becomes 5 times the unit matrix; it was taken without an exchange. */
TEST(a_block_that_splits_was_one_pivot) {
    const double a[4] = { 0, 1, 1, 0 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            kept k = keep_matrix(&targets[t], a, shape_of(2, "complete", 0, type));
            CHECK(modify(&k, 5, NULL) == SHOAL_OK);
            read_again(&k);
            CHECK(k.f.d[0] == 5 && k.f.e[0] == 0 && k.f.d[1] == 5);
            CHECK(k.f.info.pivots_1x1 == 0 && k.f.info.pivots_2x2 == 1);
            CHECK_MSG(k.f.info.swaps_1x1 == 0 && k.f.info.swaps_2x2 == 0, "%lld + %lld",
                      (long long)k.f.info.swaps_1x1, (long long)k.f.info.swaps_2x2);
            CHECK(k.f.info.rank == 2 && k.f.info.inertia[0] == 2 && k.f.info.sign_det == 1);
            CHECK(fabs(k.f.info.log_abs_det - 2 * log(5)) < 1e-15);
            check_solve(&k, "split");
            let_go(&k);
        }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(a_block_that_splits_was_one_pivot);
    close_targets();
    return TEST_END();
}
