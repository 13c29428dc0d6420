/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_modify.c - modified Cholesky: A + E is positive definite, by a Cholesky factorization
 * in long double, and D + F by exact determinants of its rounded blocks; E is bounded as Cheng and
 * Higham bound it; the ends of the range; what the result object says of blocks that have changed.
 */
#include "symindef_kept.h"
#include <float.h>

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

/* Every block of D, exactly: fma() has what the products lose. Scaled, so that they do not underflow. */
static int is_positive(const factored *f) {
    int positive = 1;
    for (int64_t k = 0; k < f->n; k++) {
        if (f->e[k] == 0) {
            positive &= f->d[k] > 0 && isfinite(f->d[k]);
            continue;
        }
        const int exponent = -ilogb(fmax(fabs(f->d[k]), fabs(f->d[k + 1])));
        const double a = ldexp(f->d[k], exponent), b = ldexp(f->e[k], exponent),
                     c = ldexp(f->d[k + 1], exponent), p = a * c, q = b * b;
        positive &= a > 0 && c > 0 && (p - q) + (fma(a, c, -p) - fma(b, b, -q)) > 0;
        k++;
    }
    return positive;
}

/* Cholesky's pivots of M D Mt are above zero. */
static int has_cholesky(const factored *f) {
    const int64_t n = f->n;
    long double *l = new_array((size_t)(n * n), sizeof *l);
    int good = 1;
    for (int64_t i = 0; i < n && good; i++)
        for (int64_t j = 0; j <= i && good; j++) {
            long double sum = product_at(f, i, j);
            for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            if (i == j) good = sum > 0;
            l[i * n + j] = i == j ? sqrtl(sum) : sum / l[j * n + j];
        }
    free(l);
    return good;
}

/* The larger of the 1-norm and the infinity norm of M, or of its inverse: the 2-norm is below it. */
static double norm_of_factor(const factored *f, int inverse) {
    const int64_t n = f->n;
    double *m = new_array((size_t)(n * n), sizeof *m), most = 0;
    memcpy(m, f->m, (size_t)(n * n) * sizeof *m);
    for (int64_t i = 0; i < n && inverse; i++) /* X M = I, row by row, from the right */
        for (int64_t step = 1; step <= i; step++) {
            const int64_t j = i - step;
            double sum = 0;
            for (int64_t k = j + 1; k <= i; k++) sum -= m[i * n + k] * f->m[k * n + j];
            m[i * n + j] = sum;
        }
    for (int64_t i = 0; i < n; i++) {
        double row = 0, column = 0;
        for (int64_t j = 0; j < n; j++) row += fabs(m[i * n + j]), column += fabs(m[j * n + i]);
        raise_to(&most, fmax(row, column));
    }
    free(m);
    return most;
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

/* E = Pt M F Mt P, so |E| <= |M|^2 |F|; and by Ostrowski an eigenvalue of D is not below the least of A
 * over that of M Mt, so |F| <= delta + |A| |M^-1|^2 (Cheng and Higham, section 3). */
static void check_change(const kept *k, const shoal_symindef_change *change, const char *what) {
    const int64_t n = k->f.n;
    const double unit = unit_of(k->f.opts.type), norm = norm_of(k->f.a, n);
    const double m = norm_of_factor(&k->f, 0), inverse = norm_of_factor(&k->f, 1);
    const double rounding = 100 * (double)n * unit * (m * m * (norm + change->largest));
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            raise_to(&most, fabs((double)(product_at(&k->f, i, j) -
                                          k->f.a[k->f.permutation[i] * n + k->f.permutation[j]])));
    CHECK_MSG(most <= m * m * change->largest + rounding, "%s: E %g, F %g, M %g", what, most,
              change->largest, m);
    CHECK_MSG(change->largest <= change->delta + norm * inverse * inverse * (1 + rounding),
              "%s: F %g, |A| %g, |M^-1| %g", what, change->largest, norm, inverse);
}

/* delta of 0: the default. */
TEST(a_plus_e_is_positive_definite_and_e_bounded) {
    static const char *const some[] = { "random", "hollow", "kkt", "integers", "lowrank", "zeros" };
    static const double deltas[] = { 0, 0.5 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int which = 0; which < 24; which++) {
                const int64_t n = small ? 20 : 40;
                const int kind = which % 6, type = which / 6 % 2;
                char what[80];
                snprintf(what, sizeof what, "%s %s %s", method, some[kind], type ? "f32" : "f64");
                kept k = keep(&targets[t], some[kind], shape_of(n, method, which % 4, type));
                const int64_t low = k.f.info.inertia[1] + k.f.info.inertia[2];
                const int64_t pivots[2] = { k.f.info.pivots_1x1, k.f.info.pivots_2x2 };
                const double delta = deltas[which / 12];
                const double wanted =
                    delta > 0 ? delta : sqrt(unit_of((shoal_type)type)) * norm_of(k.f.a, n);
                shoal_symindef_change change;
                CHECK(modify(&k, delta, &change) == SHOAL_OK);
                read_again(&k);
                CHECK_MSG(change.lifted >= low && low > 0, "%s: %lld lifted, %lld below", what,
                          (long long)change.lifted, (long long)low);
                CHECK_MSG(kind == 5 || fabs(change.delta / wanted - 1) <= 1e-6, "%s: delta %g",
                          what, change.delta);
                CHECK_MSG(k.f.info.inertia[0] == n && k.f.info.sign_det == 1, "%s: %lld positive",
                          what, (long long)k.f.info.inertia[0]);
                CHECK_MSG(k.f.info.pivots_1x1 >= pivots[0] && k.f.info.pivots_2x2 == pivots[1],
                          "%s: pivots", what);
                CHECK_MSG(is_positive(&k.f), "%s: D", what);
                CHECK_MSG(has_cholesky(&k.f), "%s: A + E", what);
                check_change(&k, &change, what);
                check_solve(&k, what);
                let_go(&k);
            }
}

TEST(what_is_positive_enough_stays) {
    const double a[9] = { 4, 1, 0, 1, 5, 1, 0, 1, 6 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++) {
            shoal_symindef_change change;
            kept k = keep_matrix(&targets[t], a, shape_of(3, "complete", 0, type));
            double before[3];
            memcpy(before, k.f.d, sizeof before);
            CHECK(modify(&k, -1, &change) == SHOAL_OK);
            read_again(&k);
            CHECK(change.lifted == 0 && change.largest == 0 && change.delta > 0);
            CHECK(change.delta < (type ? 1e-2 : 1e-6));
            CHECK(memcmp(before, k.f.d, sizeof before) == 0);
            let_go(&k);
        }
}

/* A delta far below the rounding errors of the block: positive definite all the same, and not lifted by
 * more than some units of roundoff. */
TEST(small_deltas_leave_blocks_definite) {
    static const double entries[][3] = { { 0, 1, 0 },      { 0.5, 1, 0.25 },     { 0, 1e-30, 0 },
                                         { -0.3, 1, 0.3 }, { -0.6, 1, -0.6 },    { 0.6, -1, 0.6 },
                                         { 0, 3e-39, 0 },  { 0.1, 0.7, -0.0001 } };
    static const double deltas[] = { 1e-9, 1e-20, 1e-37, 1e-44 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int which = 0; which < 64; which++) {
                const int type = which / 32;
                const double *block = entries[which % 8], delta = deltas[which / 8 % 4];
                const double a[4] = { block[0], block[1], block[1], block[2] };
                const double high = fabs(block[1]) + fabs(block[0]) + fabs(block[2]);
                shoal_symindef_change change;
                kept k = keep_matrix(&targets[t], a, shape_of(2, method, which % 4, type));
                CHECK(k.f.info.pivots_2x2 == 1);
                CHECK(modify(&k, delta, &change) == SHOAL_OK);
                read_again(&k);
                CHECK_MSG(is_positive(&k.f), "%s %d: %.17g %.17g %.17g", method, which, k.f.d[0],
                          k.f.e[0], k.f.d[1]);
                CHECK_MSG(k.f.info.inertia[0] == 2 && k.f.info.sign_det == 1, "%s %d", method,
                          which);
                CHECK_MSG(change.lifted >= 1 &&
                              change.largest <=
                                  high * (1 + 100 * unit_of((shoal_type)type)) + 2 * delta,
                          "%s %d: %g", method, which, change.largest);
                let_go(&k);
            }
}

/* A float block with entries of very different size: a / b c / b must not overflow in a solve. */
TEST(small_entries_beside_a_float_block_are_dropped) {
    const double a[9] = { 0, 1e-10, 0, 1e-10, 1e10, 2e10, 0, 2e10, 0 };
    for (int t = 0; t < target_count; t++) {
        shoal_symindef_opts o = shape_of(3, "partial", 0, 1);
        o.tol = (double)FLT_MIN;
        kept k = keep_matrix(&targets[t], a, o);
        CHECK(k.f.info.pivots_2x2 == 1 && k.f.e[0] != 0);
        CHECK(modify(&k, 1e9, NULL) == SHOAL_OK);
        read_again(&k);
        CHECK_MSG(k.f.e[0] == 0 && is_positive(&k.f), "e is %g", k.f.e[0]);
        let_go(&k);
    }
}

/* Sums of |A| that overflow, and blocks whose eigenvalues do. */
TEST(the_end_of_the_range) {
    enum { N = 40 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++) {
            shoal_symindef_change change;
            double *a = matrix_of("random", N);
            for (int i = 0; i < N * N; i++) a[i] *= 1e307;
            kept k = keep_matrix(&targets[t], a, shape_of(N, method, row, 0));
            CHECK_MSG(k.f.info.status == 0, "%s: %d", method, k.f.info.status);
            CHECK(modify(&k, 0, &change) == SHOAL_OK);
            read_again(&k);
            CHECK_MSG(change.delta == sqrt(DBL_EPSILON) * DBL_MAX, "%s: delta %g", method,
                      change.delta);
            CHECK_MSG(is_positive(&k.f) && isfinite(change.largest), "%s", method);
            let_go(&k);
            free(a);
            for (int type = 0; type < 2; type++) {
                const double high = (type ? (double)FLT_MAX : DBL_MAX) * 0.9;
                const double block[4] = { 0.6 * high, high, high, 0.6 * high };
                k = keep_matrix(&targets[t], block, shape_of(2, method, 0, type));
                CHECK(k.f.info.status == 0 && k.f.info.pivots_2x2 == 1);
                CHECK(modify(&k, high, NULL) == SHOAL_E_ARG);
                CHECK(strstr(shoal_message(targets[t].ctx), "delta") != NULL);
                CHECK(modify(&k, 0, NULL) == SHOAL_OK); /* the factors were left alone */
                read_again(&k);
                CHECK_MSG(is_positive(&k.f), "%s: %g %g %g", method, k.f.d[0], k.f.e[0], k.f.d[1]);
                CHECK(fabs(k.f.d[0] / (0.8 * high) - 1) < 1e-3);
                let_go(&k);
            }
        }
}

TEST(deltas_are_numbers_of_the_type) {
    static const double bad[] = { (double)NAN, (double)INFINITY, 1e300, 1e39, 1e-60 };
    const double a[4] = { 1, 2, 2, 1 };
    for (int t = 0; t < target_count; t++)
        for (int type = 0; type < 2; type++)
            for (int i = 0; i < 5; i++) {
                shoal_symindef_change change;
                kept k = keep_matrix(&targets[t], a, shape_of(2, "rook", 0, type));
                const shoal_status status = modify(&k, bad[i], &change);
                CHECK_MSG(status == (type || i < 2 ? SHOAL_E_ARG : SHOAL_OK), "%g: %d", bad[i],
                          status);
                if (status != SHOAL_OK)
                    CHECK_MSG(strstr(shoal_message(targets[t].ctx), "delta is") != NULL, "%s",
                              shoal_message(targets[t].ctx));
                read_again(&k);
                CHECK(k.f.info.inertia[0] == (status == SHOAL_OK ? 2 : 1));
                let_go(&k);
            }
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
    RUN(a_plus_e_is_positive_definite_and_e_bounded);
    RUN(what_is_positive_enough_stays);
    RUN(small_deltas_leave_blocks_definite);
    RUN(small_entries_beside_a_float_block_are_dropped);
    RUN(the_end_of_the_range);
    RUN(deltas_are_numbers_of_the_type);
    RUN(a_block_that_splits_was_one_pivot);
    close_targets();
    return TEST_END();
}
