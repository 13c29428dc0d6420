/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_forms.c - what can be made of the factors: condition, refined answers with bounds on
 * their errors, the inverse, G J Gt, modified Cholesky, LAPACK's form. Judged by products and
 * inverses in long double.
 */
#include "symindef_matrix.h"
#include <dlfcn.h>

typedef struct kept { /* a factorization with its plan and its arrays in the context's memory */
    const target *t;
    factored f;
    shoal_symindef *plan;
    void *factors, *given;
    size_t item;
} kept;

static const char *method_at(int row) { return shoal_methods("symindef", row); }

static void *to_context(const target *t, const void *from, size_t bytes) {
    void *memory = NULL;
    CHECK(shoal_alloc(t->ctx, bytes, &memory) == SHOAL_OK);
    CHECK(shoal_copy(t->ctx, memory, from, bytes) == SHOAL_OK);
    return memory;
}

static kept keep(const target *t, const char *kind, shoal_symindef_opts o) {
    kept k = { .t = t, .item = o.type == SHOAL_F32 ? 4 : 8 };
    double *a = matrix_of(kind, o.n);
    const size_t numbers = stored_numbers(&o);
    void *stored = new_array(numbers, k.item);
    k.f = factor_on(t, &o, a, &k.plan, &k.factors);
    for (int64_t i = 0; i < o.n; i++)
        for (int64_t j = 0; j <= i; j++)
            store_number(stored, o.type, stored_place(&o, i, j), a[i * o.n + j]);
    k.given = to_context(t, stored, numbers * k.item);
    free(stored);
    free(a);
    return k;
}

static void let_go(kept *k) {
    shoal_symindef_free(k->plan);
    shoal_free(k->t->ctx, k->factors);
    shoal_free(k->t->ctx, k->given);
    forget(&k->f);
}

/* The inverse by Gauss and Jordan with row exchanges, in long double. */
static long double *exact_inverse(const double *a, int64_t n) {
    long double *m = new_array((size_t)(2 * n * n), sizeof *m);
    const int64_t w = 2 * n;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) m[i * w + j] = a[i * n + j];
        m[i * w + n + i] = 1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t p = k;
        for (int64_t i = k; i < n; i++)
            if (fabsl(m[i * w + k]) > fabsl(m[p * w + k])) p = i;
        for (int64_t j = 0; j < w; j++) {
            const long double swap = m[k * w + j];
            m[k * w + j] = m[p * w + j], m[p * w + j] = swap;
        }
        const long double pivot = m[k * w + k];
        for (int64_t j = 0; j < w; j++) m[k * w + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            const long double factor = m[i * w + k];
            for (int64_t j = k; i != k && j < w; j++) m[i * w + j] -= factor * m[k * w + j];
        }
    }
    return m;
}

static double norm_of(const double *a, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(a[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}

static double inverse_norm(const long double *m, int64_t n) {
    long double most = 0;
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabsl(m[i * 2 * n + n + j]);
        if (sum > most) most = sum;
    }
    return (double)most;
}

static shoal_symindef_opts shape_of(int64_t n, const char *method, int shape, int type) {
    return (shoal_symindef_opts){ .n = n,
                                  .method = method,
                                  .type = (shoal_type)type,
                                  .storage = (shoal_storage)(shape / 2),
                                  .triangle = (shoal_triangle)(shape % 2) };
}

TEST(rcond_is_that_of_the_inverse) {
    static const char *const some[] = { "random", "hollow", "kkt", "clement" };
    static const int sizes[] = { 1, 2, 8, 40 };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 4; kind++)
                for (int s = 0; s < 4; s++) {
                    const int64_t n = sizes[s];
                    const int type = (kind + s) % 2;
                    if (n == 1 && (kind == 1 || kind == 3)) continue; /* zero */
                    kept k = keep(&targets[t], some[kind], shape_of(n, method, s, type));
                    double rcond = -1;
                    if (type)
                        CHECK(shoal_symindef_rcondf(k.plan, k.factors, &rcond) == SHOAL_OK);
                    else
                        CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK);
                    long double *m = exact_inverse(k.f.a, n);
                    const double exact = 1 / (norm_of(k.f.a, n) * inverse_norm(m, n));
                    CHECK_MSG(rcond >= exact * (type ? 0.99 : 0.999999) && rcond <= 3 * exact,
                              "%s %s n=%lld: %g, exact %g", method, some[kind], (long long)n, rcond,
                              exact);
                    free(m);
                    let_go(&k);
                }
}

TEST(rcond_of_a_singular_matrix_is_zero) {
    for (int t = 0; t < target_count; t++) {
        kept k = keep(&targets[t], "zeros", shape_of(5, "complete", 0, 0));
        double rcond = -1;
        CHECK(shoal_symindef_rcond(k.plan, k.factors, &rcond) == SHOAL_OK && rcond == 0);
        let_go(&k);
    }
}

/* Answers spoilt on purpose come back to the unit of roundoff, and the bound holds. */
TEST(refinement_mends_and_bounds) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int shape = 0; shape < 8; shape++) {
                enum { N = 40, NRHS = 3 };
                const int type = shape / 4;
                const double unit = unit_of((shoal_type)type);
                kept k = keep(&targets[t], "kkt", shape_of(N, method, shape % 4, type));
                double x[N * NRHS], backward[NRHS], forward[NRHS];
                char b[N * NRHS * 8], spoilt[N * NRHS * 8];
                long double *m = exact_inverse(k.f.a, N);
                for (int i = 0; i < N * NRHS; i++)
                    store_number(b, (shoal_type)type, (size_t)i, uniform_at(11, i, 0));
                for (int i = 0; i < N; i++)
                    for (int c = 0; c < NRHS; c++) {
                        long double sum = 0;
                        for (int j = 0; j < N; j++)
                            sum += m[i * 2 * N + N + j] *
                                   stored_number(b, (shoal_type)type, (size_t)(j * NRHS + c));
                        x[i * NRHS + c] = (double)sum;
                        store_number(spoilt, (shoal_type)type, (size_t)(i * NRHS + c),
                                     (double)sum * (1 + 1000 * unit * uniform_at(12, i, c)));
                    }
                const size_t bytes = N * NRHS * k.item;
                void *device_b = to_context(&targets[t], b, bytes);
                void *device_x = to_context(&targets[t], spoilt, bytes);
                if (type)
                    CHECK(shoal_symindef_refinef(k.plan, k.given, k.factors, NRHS, device_b,
                                                 device_x, backward, forward) == SHOAL_OK);
                else
                    CHECK(shoal_symindef_refine(k.plan, k.given, k.factors, NRHS, device_b,
                                                device_x, backward, forward) == SHOAL_OK);
                CHECK(shoal_copy(targets[t].ctx, spoilt, device_x, bytes) == SHOAL_OK);
                for (int c = 0; c < NRHS; c++) {
                    double error = 0, most = 0;
                    for (int i = 0; i < N; i++) {
                        const double now =
                            stored_number(spoilt, (shoal_type)type, (size_t)(i * NRHS + c));
                        error = fmax(error, fabs(now - x[i * NRHS + c]));
                        most = fmax(most, fabs(now));
                    }
                    CHECK_MSG(backward[c] <= 2 * unit, "%s: backward %g", method, backward[c]);
                    CHECK_MSG(error / most <= forward[c], "%s: %g above its bound %g", method,
                              error / most, forward[c]);
                    CHECK_MSG(forward[c] < 1e5 * unit, "%s: bound %g", method, forward[c]);
                }
                shoal_free(targets[t].ctx, device_b);
                shoal_free(targets[t].ctx, device_x);
                free(m);
                let_go(&k);
            }
}

TEST(inverses) {
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int shape = 0; shape < 4; shape++) {
                const int64_t n = 37;
                kept k = keep(&targets[t], "random", shape_of(n, method, shape, 0));
                double *x = new_array((size_t)(n * n), sizeof *x);
                void *device = to_context(&targets[t], x, (size_t)(n * n) * 8);
                CHECK(shoal_symindef_inverse(k.plan, k.factors, device) == SHOAL_OK);
                CHECK(shoal_wait(targets[t].ctx) == SHOAL_OK);
                CHECK(shoal_copy(targets[t].ctx, x, device, (size_t)(n * n) * 8) == SHOAL_OK);
                long double *m = exact_inverse(k.f.a, n);
                double worst = 0;
                for (int64_t i = 0; i < n; i++)
                    for (int64_t j = 0; j < n; j++)
                        worst = fmax(worst, fabs((double)(m[i * 2 * n + n + j] - x[i * n + j])));
                const double scale = inverse_norm(m, n);
                CHECK_MSG(worst <= 1e-14 * scale * scale * norm_of(k.f.a, n), "%s: %g", method,
                          worst);
                shoal_free(targets[t].ctx, device);
                free(m), free(x);
                let_go(&k);
            }
}

/* |P A Pt - G J Gt| / |A| in long double; signs in order, zero columns left out. */
TEST(g_j_gt) {
    static const char *const some[] = { "random", "hollow", "clement", "lowrank", "ones" };
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++)
            for (int kind = 0; kind < 5; kind++)
                for (int type = 0; type < 2; type++) {
                    const int64_t n = 50;
                    shoal_symindef_opts o = shape_of(n, method, kind % 4, type);
                    if (kind == 3) o.tol = type ? 1e-3 : 1e-9;
                    kept k = keep(&targets[t], some[kind], o);
                    const int64_t rank = k.f.info.rank;
                    double *g = new_array((size_t)(n * n), 8);
                    int32_t signs[50] = { 0 };
                    void *device = to_context(&targets[t], g, (size_t)(n * n) * 8);
                    CHECK((type ? shoal_symindef_gjgtf(k.plan, k.factors, kind % 2, device, signs)
                                : shoal_symindef_gjgt(k.plan, k.factors, kind % 2, device,
                                                      signs)) == SHOAL_OK);
                    CHECK(shoal_copy(targets[t].ctx, g, device, (size_t)(n * rank) * k.item) ==
                          SHOAL_OK);
                    int64_t positive = 0;
                    for (int64_t c = 0; c < rank; c++) {
                        positive += signs[c] == 1;
                        CHECK(signs[c] == 1 || signs[c] == -1);
                        if (kind % 2 && c > 0) CHECK(signs[c] <= signs[c - 1]);
                    }
                    CHECK_MSG(positive == k.f.info.inertia[0], "%s %s", method, some[kind]);
                    long double worst = 0;
                    for (int64_t i = 0; i < n; i++) {
                        long double error = 0;
                        for (int64_t j = 0; j < n; j++) {
                            long double sum =
                                k.f.a[(int64_t)k.f.permutation[i] * n + k.f.permutation[j]];
                            for (int64_t c = 0; c < rank; c++)
                                sum -= (long double)stored_number(g, (shoal_type)type,
                                                                  (size_t)(i * rank + c)) *
                                       signs[c] *
                                       stored_number(g, (shoal_type)type, (size_t)(j * rank + c));
                            error += fabsl(sum);
                        }
                        if (error > worst) worst = error;
                    }
                    const double limit = 10 * (double)n * unit_of((shoal_type)type);
                    CHECK_MSG((double)worst <= limit * norm_of(k.f.a, n), "%s %s: %g", method,
                              some[kind], (double)worst / norm_of(k.f.a, n));
                    shoal_free(targets[t].ctx, device);
                    free(g);
                    let_go(&k);
                }
}

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

TEST(modified_cholesky) {
    static const char *const some[] = { "random", "hollow", "lowrank", "zeros" };
    for (int t = 0; t < target_count; t++)
        for (int kind = 0; kind < 4; kind++) {
            const int64_t n = 40;
            kept k = keep(&targets[t], some[kind], shape_of(n, "complete", kind, 0));
            const int64_t low = k.f.info.inertia[1] + k.f.info.inertia[2];
            double *d = new_array((size_t)n, 8), most = 0;
            memcpy(d, k.f.d, (size_t)n * 8);
            for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(d[i]) + fabs(k.f.e[i]));
            shoal_symindef_change change;
            CHECK(shoal_symindef_modify(k.plan, k.factors, 0.5, &change) == SHOAL_OK);
            read_again(&k);
            CHECK_MSG(change.lifted >= low && change.delta == 0.5, "%s: %lld lifted, %lld below",
                      some[kind], (long long)change.lifted, (long long)low);
            CHECK_MSG(change.largest <= 2 * most + 0.5, "%s: %g", some[kind], change.largest);
            CHECK_MSG(k.f.info.inertia[0] == n && k.f.info.sign_det == 1, "%s: %lld positive",
                      some[kind], (long long)k.f.info.inertia[0]);
            /* A + E, and a solve with it */
            double b[40], x[40], residual = 0;
            for (int64_t i = 0; i < n; i++) b[i] = uniform_at(13, i, 1);
            void *device = to_context(&targets[t], b, sizeof b);
            CHECK(shoal_symindef_solve(k.plan, k.factors, 1, device, device) == SHOAL_OK);
            CHECK(shoal_wait(targets[t].ctx) == SHOAL_OK);
            CHECK(shoal_copy(targets[t].ctx, x, device, sizeof x) == SHOAL_OK);
            for (int64_t i = 0; i < n; i++) {
                long double sum = b[k.f.permutation[i]];
                for (int64_t j = 0; j < n; j++)
                    sum -= product_at(&k.f, i, j) * x[k.f.permutation[j]];
                residual = fmax(residual, (double)fabsl(sum));
            }
            CHECK_MSG(residual < 1e-11, "%s: residual %g", some[kind], residual);
            shoal_free(targets[t].ctx, device);
            free(d);
            let_go(&k);
        }
    for (int t = 0; t < target_count; t++) { /* positive definite enough: nothing changes */
        double a[9] = { 4, 1, 0, 1, 5, 1, 0, 1, 6 };
        const shoal_symindef_opts o = { .n = 3, .method = "complete" };
        shoal_symindef *plan;
        void *factors;
        shoal_symindef_change change;
        factored f = factor_on(&targets[t], &o, a, &plan, &factors);
        CHECK(shoal_symindef_modify(plan, factors, -1, &change) == SHOAL_OK);
        CHECK(change.lifted == 0 && change.largest == 0 && change.delta > 0 && change.delta < 1e-6);
        shoal_symindef_free(plan);
        shoal_free(targets[t].ctx, factors);
        forget(&f);
    }
}

typedef void sytrs_3(const char *, const int *, const int *, const double *, const int *,
                     const double *, const int *, double *, const int *, int *, size_t);

static sytrs_3 *lapack(void) {
    static const char *const names[] = { "libopenblas.so.0", "liblapack.so.3", "libopenblas.so" };
    sytrs_3 *found = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        void *library = dlopen(names[i], RTLD_NOW);
        if (library) *(void **)&found = dlsym(library, "dsytrs_3_");
    }
    return found;
}

/* LAPACK solves with our factors, once they have its form. */
TEST(lapack_takes_the_factors) {
    enum { N = 45 };
    sytrs_3 *solve = lapack();
    const char *method;
    for (int t = 0; t < target_count; t++)
        for (int row = 0; (method = method_at(row)) != NULL; row++) {
            int32_t ipiv[N], back[N];
            const int n = N, one = 1;
            int info = -1;
            double b[N], sum = 0;
            kept k = keep(&targets[t], row % 2 ? "random" : "hollow", shape_of(N, method, 1, 0));
            shoal_symindef_to_rk(N, k.f.interchanges, ipiv);
            shoal_symindef_from_rk(N, ipiv, back);
            CHECK(memcmp(back, k.f.interchanges, sizeof back) == 0);
            double *a = new_array(N * N, 8); /* by columns: its lower triangle */
            for (int i = 0; i < N; i++)
                for (int j = 0; j <= i; j++) a[j * N + i] = i == j ? k.f.d[i] : k.f.m[i * N + j];
            for (int i = 0; i < N; i++) { /* b = A (1, 2, ...) */
                sum = 0;
                for (int j = 0; j < N; j++) sum += k.f.a[i * N + j] * (j + 1);
                b[i] = sum;
            }
            if (solve) {
                solve("L", &n, &one, a, &n, k.f.e, ipiv, b, &n, &info, 1);
                CHECK(info == 0);
                for (int i = 0; i < N; i++)
                    CHECK_MSG(fabs(b[i] - (i + 1)) < 1e-9, "%s: x[%d] is %g", method, i, b[i]);
            }
            free(a);
            let_go(&k);
        }
    if (!solve) SKIP("there is no dsytrs_3 here");
}

/* What is refused, and what it says. */
TEST(misuse_is_named) {
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        shoal_symindef *plan;
        double number;
        const shoal_symindef_opts o = { .n = 3 };
        CHECK(shoal_symindef_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_symindef_rcond(plan, &number, &number) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "factored") != NULL);
        CHECK(shoal_symindef_rcondf(plan, (float *)&number, &number) == SHOAL_E_TYPE);
        CHECK(strstr(shoal_message(ctx), "shoal_symindef_rcond()") != NULL);
        shoal_symindef_free(plan);
        kept k = keep(&targets[t], "random", shape_of(4, NULL, 0, 0));
        CHECK(shoal_symindef_rcond(k.plan, k.factors, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "rcond") != NULL);
        CHECK(shoal_symindef_refine(k.plan, k.given, k.factors, -1, k.given, k.given, NULL, NULL) ==
              SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "nrhs is -1") != NULL);
        CHECK(shoal_symindef_gjgt(k.plan, k.factors, 0, k.given, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "signs") != NULL);
        CHECK(shoal_symindef_modify(k.plan, k.factors, (double)NAN, NULL) == SHOAL_E_ARG);
        CHECK(strstr(shoal_message(ctx), "delta") != NULL);
        let_go(&k);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(rcond_is_that_of_the_inverse);
    RUN(rcond_of_a_singular_matrix_is_zero);
    RUN(refinement_mends_and_bounds);
    RUN(inverses);
    RUN(g_j_gt);
    RUN(modified_cholesky);
    RUN(lapack_takes_the_factors);
    RUN(misuse_is_named);
    close_targets();
    return TEST_END();
}
