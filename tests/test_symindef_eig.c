/* SPDX-License-Identifier: Apache-2.0
 *
 * test_symindef_eig.c - eigenpairs by J-orthogonal Jacobi: residuals and orthogonality of all kinds of matrix,
 * relative errors of graded ones beside LAPACK's dsyevd, statuses, bits.
 *
 * The oracle of the errors has arithmetic of at least 113 bits and shares no code with the library: Bunch and
 * Parlett's factorization, then J-orthogonal Jacobi, pair by pair.
 */
#include "lapack.h"
#include "symindef_check.h"
#include "symindef_kept.h"
#include "promises.h"

typedef struct pairs { /* eigenpairs, as doubles on the host */
    double *w, *v;
    shoal_symindef_eig_info info;
} pairs;

static pairs pairs_of(const kept *k, int with_vectors) {
    const size_t n = (size_t)k->f.n;
    pairs p = { .w = new_array(n, sizeof(double)), .v = new_array(n * n, sizeof(double)) };
    void *w = to_context(k->t, p.w, n * 8), *v = to_context(k->t, p.v, n * n * 8);
    void *stored = new_array(n * n, 8), *wanted = with_vectors ? v : NULL;
    const shoal_status status = k->item == 4
                                    ? shoal_symindef_eigf(k->plan, k->factors, w, wanted, &p.info)
                                    : shoal_symindef_eig(k->plan, k->factors, w, wanted, &p.info);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(k->t->ctx));
    CHECK(shoal_copy(k->t->ctx, stored, w, n * k->item) == SHOAL_OK);
    for (size_t i = 0; i < n; i++) p.w[i] = stored_number(stored, k->f.opts.type, i);
    CHECK(shoal_copy(k->t->ctx, stored, v, n * n * k->item) == SHOAL_OK);
    for (size_t i = 0; i < n * n; i++) p.v[i] = stored_number(stored, k->f.opts.type, i);
    free(stored);
    shoal_free(k->t->ctx, w);
    shoal_free(k->t->ctx, v);
    return p;
}

static void forget_pairs(pairs *p) { free(p->w), free(p->v); }

/* ---- residuals -------------------------------------------------------------------------------- */

/* max |A v - w v| / |A|, and max |Vt V - I|. */
static void check_pairs(const kept *k, const pairs *p, const char *what) {
    const int64_t n = k->f.n;
    const double unit = unit_of(k->f.opts.type), size = norm_of(k->f.a, n);
    const double limit = 20 * (double)(n + 10) * unit;
    double residual = 0, orthogonal = 0;
    int64_t count[3] = { 0, 0, 0 };
    for (int64_t c = 0; c < n; c++) {
        for (int64_t i = 0; i < n; i++) {
            double sum = -p->w[c] * p->v[i * n + c];
            for (int64_t j = 0; j < n; j++) sum += k->f.a[i * n + j] * p->v[j * n + c];
            raise_to(&residual, fabs(sum));
        }
        for (int64_t d = 0; d <= c; d++) {
            double sum = -(double)(c == d);
            for (int64_t i = 0; i < n; i++) sum += p->v[i * n + c] * p->v[i * n + d];
            raise_to(&orthogonal, fabs(sum));
        }
        count[p->w[c] > 0 ? 0 : p->w[c] < 0 ? 1 : 2]++;
        CHECK_MSG(c == 0 || p->w[c] >= p->w[c - 1], "%s: %lld", what, (long long)c);
    }
    CHECK_MSG(p->info.status == 0 && p->info.rank == k->f.info.rank, "%s: status %d", what,
              p->info.status);
    CHECK_MSG(residual <= limit * size, "%s: residual %g > %g", what, residual, limit * size);
    CHECK_MSG(orthogonal <= limit, "%s: orthogonality %g > %g", what, orthogonal, limit);
    CHECK_MSG(memcmp(count, k->f.info.inertia, sizeof count) == 0, "%s: inertia", what);
}

/* One pair of blocks, several, and sizes beside them. */
TEST(eigenpairs) {
    static const char *const some[] = { "random", "hollow",   "clement", "lowrank", "ones",
                                        "zeros",  "integers", "kkt",     "huge" };
    static const int64_t sizes[] = { 1, 2, 3, 17, 64, 65, 96, 130, 257 };
    for (int t = 0; t < target_count; t++)
        for (int kind = 0; kind < 9; kind++)
            for (int s = 0; s < 9; s++)
                for (int type = 0; type < 2; type++) {
                    const int emulated = strcmp(targets[t].backend, "cpu") != 0;
                    if ((small || emulated) && (kind + s + type) % (sizes[s] > 65 ? 9 : 3))
                        continue;
                    if (sizes[s] > 96 && emulated) continue;
                    if (type == 1 && strcmp(some[kind], "huge") == 0) continue;
                    shoal_symindef_opts o =
                        shape_of(sizes[s], method_at((kind + s) % 3), s % 4, type);
                    o.tol = strcmp(some[kind], "lowrank") == 0 ? (type ? 1e-2 : 1e-9) : 0;
                    kept k = keep(&targets[t], some[kind], o);
                    pairs p = pairs_of(&k, 1);
                    check_pairs(&k, &p, name_of(&targets[t], some[kind], &o));
                    forget_pairs(&p);
                    let_go(&k);
                }
}

/* All kernels on few rows, for the sanitizers. */
TEST(one_pair_of_blocks) {
    for (int t = 0; t < target_count; t++)
        for (int kind = 0; kind < 2; kind++) {
            const char *name = kind ? "ones" : "random";
            kept k = keep(&targets[t], name, shape_of(5, "complete", kind, 0));
            pairs p = pairs_of(&k, 1);
            check_pairs(&k, &p, name);
            forget_pairs(&p);
            let_go(&k);
        }
}

/* ---- relative errors of graded matrices --------------------------------------------------------- */

static wide wide_root(wide v) {
    if (!(v > 0)) return 0;
    const int e = wide_exponent(v) / 2;
    const wide scaled = v * wide_power(-2 * e);
    wide r = (wide)sqrt((double)scaled);
    for (int step = 0; step < 3; step++) r = (r + scaled / r) / 2;
    return r * wide_power(e);
}

static void swap_both(int n, wide *a, int p, int q) {
    for (int i = 0; i < n && p != q; i++) {
        const wide moved = a[p * n + i];
        a[p * n + i] = a[q * n + i], a[q * n + i] = moved;
    }
    for (int i = 0; i < n && p != q; i++) {
        const wide moved = a[i * n + p];
        a[i * n + p] = a[i * n + q], a[i * n + q] = moved;
    }
}

/* One column of G, c / sqrt|d|, and what it leaves of A. */
static void take_column(int n, wide *a, wide *g, int *sign, int column, const wide *c, wide d) {
    const wide root = wide_root(wide_abs(d));
    sign[column] = d < 0 ? -1 : 1;
    for (int i = 0; i < n; i++) g[column * n + i] = c[i] / root;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) a[i * n + j] -= c[i] / d * c[j];
}

/* A = G J Gt by diagonal pivoting of the whole matrix; a block of order 2 is diagonalised. A is lost. */
static void wide_gjgt(int n, wide *a, wide *g, int *sign) {
    wide c[2][128];
    for (int k = 0; k < n; k++) {
        int r = k, p = k, q = k;
        for (int i = k; i < n; i++) {
            if (wide_abs(a[i * n + i]) > wide_abs(a[r * n + r])) r = i;
            for (int j = k; j < i; j++)
                if (p == q || wide_abs(a[i * n + j]) > wide_abs(a[q * n + p])) p = j, q = i;
        }
        if (p == q || wide_abs(a[r * n + r]) >= (wide)0.64 * wide_abs(a[q * n + p])) {
            for (int i = 0; i < n; i++) c[0][i] = a[i * n + r];
            const wide d = a[r * n + r];
            take_column(n, a, g, sign, k, c[0], d);
            for (int i = 0; i < n; i++) a[i * n + r] = a[r * n + i] = 0;
            for (int m = 0; m <= k; m++) { /* the pivot's row of G moves to k */
                const wide moved = g[m * n + r];
                g[m * n + r] = g[m * n + k], g[m * n + k] = moved;
            }
            swap_both(n, a, r, k);
            continue;
        }
        const wide x = a[p * n + p], y = a[q * n + p], z = a[q * n + q];
        const wide zeta = (z - x) / (2 * y);
        const wide t = (zeta < 0 ? -1 : 1) / (wide_abs(zeta) + wide_root(zeta * zeta + 1));
        const wide cosine = 1 / wide_root(1 + t * t), sine = t * cosine;
        for (int i = 0; i < n; i++) {
            c[0][i] = cosine * a[i * n + p] - sine * a[i * n + q];
            c[1][i] = sine * a[i * n + p] + cosine * a[i * n + q];
        }
        take_column(n, a, g, sign, k, c[0], x - t * y);
        take_column(n, a, g, sign, k + 1, c[1], z + t * y);
        for (int i = 0; i < n; i++) a[i * n + p] = a[p * n + i] = a[i * n + q] = a[q * n + i] = 0;
        const int at[2][2] = { { p, k }, { q == k ? p : q, k + 1 } };
        for (int e = 0; e < 2; e++) {
            for (int m = 0; m <= k + 1; m++) {
                const wide moved = g[m * n + at[e][0]];
                g[m * n + at[e][0]] = g[m * n + at[e][1]], g[m * n + at[e][1]] = moved;
            }
            swap_both(n, a, at[e][0], at[e][1]);
        }
        k++;
    }
}

/* The condition number of G with columns scaled to length 1: that of its Gram matrix, in the maximum norm, is at least the
 * square. The relative errors of the eigenvalues are bounded by it (Slapnicar). */
static double scaled_condition(int n, const wide *g) {
    wide *s = new_array((size_t)(2 * n * n), sizeof *s), *inverse = s + n * n, size[128];
    for (int k = 0; k < n; k++) {
        wide sum = 0;
        for (int i = 0; i < n; i++) sum += g[k * n + i] * g[k * n + i];
        size[k] = wide_root(sum);
    }
    for (int k = 0; k < n; k++)
        for (int l = 0; l < n; l++) {
            wide sum = 0;
            for (int i = 0; i < n; i++) sum += g[k * n + i] / size[k] * (g[l * n + i] / size[l]);
            s[k * n + l] = sum;
        }
    const wide norm = wide_norm(n, s);
    CHECK(wide_inverse(n, s, inverse));
    const wide condition = norm * wide_norm(n, inverse);
    free(s);
    return (double)wide_root(condition);
}

/* Eigenvalues of G J Gt, ascending. */
static void wide_jacobi(int n, wide *g, const int *sign, wide *w) {
    wide worst = 1;
    for (int sweep = 0; sweep < 60 && worst > (wide)1e-28; sweep++) {
        worst = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                wide a = 0, b = 0, c = 0;
                for (int i = 0; i < n; i++) {
                    a += g[p * n + i] * g[p * n + i], b += g[q * n + i] * g[q * n + i];
                    c += g[p * n + i] * g[q * n + i];
                }
                const wide cosine = wide_abs(c) / wide_root(a) / wide_root(b);
                worst = wide_max(worst, cosine);
                if (cosine < (wide)1e-30) continue;
                wide t, scale;
                const int same = sign[p] == sign[q];
                if (same) {
                    const wide zeta = (b - a) / (2 * c);
                    t = (zeta < 0 ? -1 : 1) / (wide_abs(zeta) + wide_root(zeta * zeta + 1));
                    scale = 1 / wide_root(1 + t * t);
                } else {
                    const wide h = -2 * c / (a + b);
                    t = h / (1 + wide_root(1 - h * h));
                    scale = 1 / wide_root(1 - t * t);
                }
                for (int i = 0; i < n; i++) {
                    const wide x = g[p * n + i], y = g[q * n + i];
                    g[p * n + i] = scale * (x + (same ? -t : t) * y);
                    g[q * n + i] = scale * (y + t * x);
                }
            }
    }
    CHECK(worst <= (wide)1e-28);
    for (int k = 0; k < n; k++) {
        wide sum = 0;
        for (int i = 0; i < n; i++) sum += g[k * n + i] * g[k * n + i];
        sum *= sign[k];
        int at = k;
        for (; at > 0 && w[at - 1] > sum; at--) w[at] = w[at - 1];
        w[at] = sum;
    }
}

/* D B D: B has a diagonal of +-2 and small entries beside it, or, if `hollow`, pairs of rows with a zero diagonal.
 * D goes from 10^-grade to 10^grade, in an order that is not sorted. */
static double *graded(int n, double grade, int hollow, shoal_type type) {
    double *a = new_array((size_t)(n * n), sizeof *a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double d = -2 * grade + 2 * grade * ((i * 7 % n) + (j * 7 % n)) / (n - 1);
            double b = uniform_at(11, i, j) / n;
            if (i == j) b = hollow ? 0 : uniform_at(12, i, i) < 0 ? -2 : 2;
            if (hollow && i / 2 == j / 2 && i != j) b = 1;
            if (hollow && n % 2 && i == n - 1 && i == j) b = 1;
            a[i * n + j] = rounded_to(type, b * pow(10, d));
        }
    return a;
}

typedef void syevd(const char *, const char *, const int *, double *, const int *, double *,
                   double *, const int *, int *, const int *, int *, size_t, size_t);

static void lapack_values(syevd *routine, int n, const double *a, double *w) {
    enum { WORK = 20000, WORDS = 2000 };
    double *copy = new_array((size_t)(n * n), sizeof *copy), *work = new_array(WORK, sizeof *work);
    int *words = new_array(WORDS, sizeof *words), info = -1;
    const int size = WORK, count = WORDS;
    memcpy(copy, a, (size_t)(n * n) * sizeof *copy);
    routine("V", "L", &n, copy, &n, w, work, &size, words, &count, &info, 1, 1);
    CHECK(info == 0);
    free(copy), free(work), free(words);
}

static double worst_error(int n, const wide *exact, const double *w) {
    double worst = 0;
    for (int k = 0; k < n; k++)
        raise_to(&worst, (double)(wide_abs(w[k] - exact[k]) / wide_abs(exact[k])));
    return worst;
}

/* Small eigenvalues are as right as large ones; those of dsyevd are not. */
TEST(graded_matrices_keep_relative_accuracy) {
    enum { N = 40 };
    syevd *routine;
    *(void **)&routine = lapack("dsyevd_");
    for (int which = 0; which < 6; which++) {
        const int type = which % 2, hollow = which / 2 == 1, n = which / 2 == 2 ? 8 : N;
        const double grade = type ? 8 : 10; /* entries of 1e-16 to 1e16, or 1e-20 to 1e20 */
        wide a[N * N], g[N * N], exact[N];
        int sign[N];
        double *given = graded(n, grade, hollow, (shoal_type)type), w[N];
        for (int e = 0; e < n * n; e++) a[e] = given[e];
        wide_gjgt(n, a, g, sign);
        const double condition = scaled_condition(n, g);
        wide_jacobi(n, g, sign, exact);
        const double limit = 10 * n * unit_of((shoal_type)type) * condition;
        for (int t = 0; t < target_count; t++) {
            shoal_symindef_opts o = shape_of(n, "complete", which % 4, type);
            o.tol = type ? (double)FLT_MIN : DBL_MIN;
            kept k = keep_matrix(&targets[t], given, o);
            pairs p = pairs_of(&k, which % 3 == 0);
            const double error = worst_error(n, exact, p.w);
            CHECK_MSG(p.info.status == 0 && p.info.rank == n, "status %d", p.info.status);
            CHECK_MSG(error <= limit, "%s: %g > %g", name_of(&targets[t], "graded", &o), error,
                      limit);
            if (t == 0)
                printf("# n = %d, condition %.2g, %s%s: relative error %.2g", n, condition,
                       type ? "f32" : "f64", hollow ? " hollow" : "", error);
            forget_pairs(&p);
            let_go(&k);
        }
        if (routine) {
            lapack_values(routine, n, given, w);
            printf(", dsyevd %.2g\n", worst_error(n, exact, w));
            CHECK(worst_error(n, exact, w) > limit);
        }
        free(given);
    }
    if (!routine) MISSING("LAPACK with dsyevd");
}

/* ---- statuses, bits ----------------------------------------------------------------------------- */

TEST(failures_have_no_pairs) {
    for (int t = 0; t < target_count; t++)
        for (int which = 0; which < 2; which++) {
            double a[9] = { 1, NAN, 0, NAN, 2, 1, 0, 1, 3 };
            if (which)
                for (int e = 0; e < 9; e++) a[e] = DBL_MAX * (e % 4 ? 0.75 : 0.5);
            kept k = keep_matrix(&targets[t], a, shape_of(3, "complete", 0, 0));
            pairs p = pairs_of(&k, 1);
            CHECK_MSG(p.info.status == (which ? SHOAL_SYSTEM_OVERFLOW : SHOAL_SYSTEM_NONFINITE),
                      "%d", p.info.status);
            for (int e = 0; e < 3; e++) CHECK(isnan(p.w[e]));
            for (int e = 0; e < 9; e++) CHECK(isnan(p.v[e]));
            forget_pairs(&p);
            let_go(&k);
        }
}

/* Values alone are those with vectors; all targets agree to the bit if they have fused multiply-add. */
TEST(bits) {
    for (int type = 0; type < 2; type++) {
        double *first = NULL;
        const int64_t n = 70;
        for (int t = 0; t < target_count; t++) {
            kept k = keep(&targets[t], "random", shape_of(n, "complete", 0, type));
            pairs p = pairs_of(&k, 1), q = pairs_of(&k, 0);
            CHECK(memcmp(p.w, q.w, (size_t)n * 8) == 0);
            CHECK(q.v[0] == 0 && p.info.rotations == q.info.rotations);
            if (first && (!targets[t].isa || strcmp(targets[t].isa, "v2") != 0))
                CHECK_MSG(memcmp(first, p.v, (size_t)(n * n) * 8) == 0, "%s",
                          targets[t].isa ? targets[t].isa : targets[t].backend);
            if (!first && (!targets[t].isa || strcmp(targets[t].isa, "v2") != 0))
                first = p.v, p.v = NULL;
            forget_pairs(&p);
            forget_pairs(&q);
            let_go(&k);
        }
        free(first);
    }
}

TEST(arguments) {
    for (int t = 0; t < target_count; t++) {
        const double a[4] = { 1, 2, 2, 1 };
        kept k = keep_matrix(&targets[t], a, shape_of(2, "complete", 0, 0));
        shoal_symindef_eig_info info;
        CHECK(shoal_symindef_eig(k.plan, k.factors, NULL, NULL, &info) == SHOAL_E_ARG);
        CHECK(shoal_symindef_eig(k.plan, NULL, k.given, NULL, &info) == SHOAL_E_ARG);
        CHECK(shoal_symindef_eigf(k.plan, k.factors, k.given, NULL, &info) == SHOAL_E_TYPE);
        CHECK(shoal_symindef_eig(k.plan, k.factors, k.given, NULL, NULL) == SHOAL_OK);
        let_go(&k);
        shoal_symindef *empty;
        shoal_symindef_opts none = { .n = 0 };
        CHECK(shoal_symindef_create(targets[t].ctx, &none, &empty) == SHOAL_OK);
        CHECK(shoal_symindef_eig(empty, NULL, NULL, NULL, &info) == SHOAL_E_ARG); /* not factored */
        CHECK(shoal_symindef_factor(empty, NULL) == SHOAL_OK);
        CHECK(shoal_symindef_eig(empty, NULL, NULL, NULL, &info) == SHOAL_OK && info.rank == 0);
        shoal_symindef_free(empty);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(eigenpairs);
    RUN(one_pair_of_blocks);
    RUN(graded_matrices_keep_relative_accuracy);
    RUN(failures_have_no_pairs);
    RUN(bits);
    RUN(arguments);
    close_targets();
    return TEST_END();
}
