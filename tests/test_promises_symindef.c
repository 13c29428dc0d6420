/* SPDX-License-Identifier: Apache-2.0
 *
 * test_promises_symindef.c - the promises of symindef in docs/promises.md, over random matrices of every kind, scale,
 * size, type and storage, by every method. The oracle inverts in wide arithmetic (promises.h).
 *
 * kappa = |A| |A^-1| in the maximum norm, tol = 10 n eps + n^2 eta / |A|, eta the least positive number of the type.
 *
 *   status 0     |P A Pt - M D Mt| <= tol |A|; with rank n, and x in the range, its backward error is at most tol;
 *                rcond is within a factor of NEAR of 1 / kappa if kappa is clearly below 1 / tol and |A| and |A^-1| in the
 *                range
 *   status -5    not of a matrix with |A|, a sum of n numbers, in the range: reduced matrices are larger than A
 *   rank < n     not of a matrix with kappa clearly below 1 / tol; clearly: by a factor of NEAR
 */
#include "symindef_matrix.h"
#include "promises.h"

typedef struct truth {
    wide kappa; /* NAN: not finite; INFINITY: singular */
    wide norm;
    int norm_in_range, x_in_range, inverse_in_range;
} truth;

typedef struct judged {
    double factors, error; /* of the factorization; of x, -1 without one */
    double rcond;
} judged;

/* ---- the truth --------------------------------------------------------------------------------- */

static truth reference_of(int n, const double *given, const double *b, double limit) {
    wide *a = new_array((size_t)(n * n), sizeof *a),
         *inverse = new_array((size_t)(n * n), sizeof *a);
    wide largest = 0;
    truth t = { .x_in_range = 1 };
    for (int e = 0; e < n * n; e++) largest = wide_max(largest, wide_abs(given[e]));
    const wide scale = largest > 0 ? wide_power(-wide_exponent(largest)) : 1;
    for (int e = 0; e < n * n; e++) a[e] = given[e] * scale;
    t.norm = wide_norm(n, a);
    const int regular = wide_inverse(n, a, inverse);
    const wide size = wide_norm(n, inverse) * scale;
    t.kappa = regular ? t.norm / scale * size : (wide)INFINITY;
    t.norm /= scale;
    t.norm_in_range = t.norm < limit;
    t.inverse_in_range = t.norm_in_range && n * size < limit && 1 / size < limit;
    for (int i = 0; i < n && regular; i++) {
        wide sum = 0;
        for (int j = 0; j < n; j++) sum += wide_abs(inverse[i * n + j] * scale * b[j]);
        if (sum > limit) t.x_in_range = 0;
    }
    free(a), free(inverse);
    return t;
}

static double error_of(int n, const double *a, const double *b, const double *x) {
    wide norm = 0, largest = 0, rhs = 0, worst = 0;
    for (int i = 0; i < n; i++) {
        wide r = b[i], sum = 0;
        if (!isfinite(x[i])) return INFINITY;
        for (int j = 0; j < n; j++) r -= (wide)a[i * n + j] * x[j], sum += wide_abs(a[i * n + j]);
        worst = wide_max(worst, wide_abs(r)), norm = wide_max(norm, sum);
        largest = wide_max(largest, wide_abs(x[i])), rhs = wide_max(rhs, wide_abs(b[i]));
    }
    return worst == 0 ? 0 : (double)(worst / (norm * largest + rhs));
}

/* |P A Pt - M D Mt| / |A| in the maximum norm. */
static double factors_error(const factored *f) {
    const int64_t n = f->n;
    wide worst = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        wide error = 0, sum = 0;
        for (int64_t j = 0; j < n; j++) {
            const double *mi = f->m + i * n, *mj = f->m + j * n;
            const wide given = f->a[(int64_t)f->permutation[i] * n + f->permutation[j]];
            wide product = 0;
            for (int64_t k = 0; k <= (i < j ? i : j); k++) {
                product += (wide)mi[k] * f->d[k] * mj[k];
                if (k + 1 < n && f->e[k] != 0)
                    product += (wide)f->e[k] * ((wide)mi[k] * mj[k + 1] + (wide)mi[k + 1] * mj[k]);
            }
            error += wide_abs(given - product), sum += wide_abs(given);
        }
        worst = wide_max(worst, error), norm = wide_max(norm, sum);
    }
    return norm > 0 ? (double)(worst / norm) : (double)worst;
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

/* x and rcond with the factors in `array`. */
static judged use_factors(const target *on, shoal_symindef *plan, const factored *f, void *array,
                          double *b) {
    const size_t n = (size_t)f->n, size = f->opts.type == SHOAL_F32 ? 4 : 8;
    judged j = { factors_error(f), -1, -1 };
    void *host = new_array(n, size), *there = NULL;
    double *x = new_array(n, sizeof *x);
    for (size_t i = 0; i < n; i++) store_number(host, f->opts.type, i, b[i]);
    CHECK(shoal_alloc(on->ctx, n * size, &there) == SHOAL_OK);
    CHECK(shoal_copy(on->ctx, there, host, n * size) == SHOAL_OK);
    if (f->opts.type == SHOAL_F32) {
        CHECK(shoal_symindef_solvef(plan, array, 1, there, there) == SHOAL_OK);
        CHECK(shoal_symindef_rcondf(plan, array, &j.rcond) == SHOAL_OK);
    } else {
        CHECK(shoal_symindef_solve(plan, array, 1, there, there) == SHOAL_OK);
        CHECK(shoal_symindef_rcond(plan, array, &j.rcond) == SHOAL_OK);
    }
    CHECK(shoal_copy(on->ctx, host, there, n * size) == SHOAL_OK);
    for (size_t i = 0; i < n; i++) x[i] = stored_number(host, f->opts.type, i);
    if (f->info.rank == f->n) j.error = error_of((int)n, f->a, b, x);
    shoal_free(on->ctx, there);
    free(host), free(x);
    return j;
}

static void judge(const target *on, const factored *f, const judged *j, const truth *t,
                  const char *method, const char *kind) {
    const wide eta = f->opts.type == SHOAL_F32 ? (wide)0x1p-149 : (wide)0x1p-1074;
    const double n = (double)f->n;
    const double lost = t->norm > 0 ? (double)(f->n * f->n * eta / t->norm) : 0;
    const double tol = 10 * n * unit_of(f->opts.type) + lost;
    const int32_t status = f->info.status;
    char name[PROMISE_NAME], what[384];
    snprintf(name, sizeof name, "%s %s", method, on->backend);
    snprintf(what, sizeof what,
             "%s %s n=%g: kappa %.2g, rank %lld, factors %.2g, x %.2g of %.2g, rcond %.2g", kind,
             f->opts.type ? "f32" : "f64", n, (double)t->kappa, (long long)f->info.rank, j->factors,
             j->error, tol, j->rcond);
    int fault = -1;
    const int clear = t->kappa * tol * NEAR < 1;
    if (t->kappa != t->kappa)
        fault = status == SHOAL_SYSTEM_NONFINITE ? -1 : FALSE_OK;
    else if (status == 0 && (!(j->factors <= tol) || (t->x_in_range && !(j->error <= tol))))
        fault = FALSE_OK;
    else if (status == 0 && clear && t->inverse_in_range &&
             !(j->rcond * (double)t->kappa < NEAR && j->rcond * (double)t->kappa * NEAR > 1))
        fault = FALSE_OK;
    else if ((status != 0 && t->norm_in_range) || (status == 0 && f->info.rank < f->n && clear))
        fault = FALSE_FAIL;
    promise_count(name, status, fault, what);
}

/* ---- draws ------------------------------------------------------------------------------------- */

static const char *const methods[] = { "complete", "partial", "rook", "auto" };

static void one_matrix(stream *s, int kinds) {
    const char *kind = shoal_symindef_kind((int)draw(s, 0, kinds - 1));
    const target *on = &targets[draw(s, 0, target_count - 1)];
    const int64_t n = strcmp(kind, "hadamard") == 0 ? 1 << draw(s, 0, 5)
                      : draw_chance(s, 90)          ? draw(s, 1, 10)
                                                    : draw(s, 11, 48);
    shoal_symindef_opts o = { .n = n,
                              .type = draw_chance(s, 50) ? SHOAL_F32 : SHOAL_F64,
                              .storage = draw_chance(s, 40) ? SHOAL_PACKED : SHOAL_FULL,
                              .triangle = draw_chance(s, 40) ? SHOAL_UPPER : SHOAL_LOWER };
    double *a = new_array((size_t)(n * n), sizeof *a), *b = new_array((size_t)n, sizeof *b);
    if (shoal_symindef_generate(on->ctx, kind, draw_bits(s), n, a) == SHOAL_OK) {
        const int range = o.type == SHOAL_F32 ? 30 : 300;
        const int e = draw_chance(s, 30) ? (int)draw(s, -range, range) : 0;
        truth t = { .kappa = 1 };
        for (int64_t i = 0; i < n * n; i++) {
            a[i] = rounded_to(o.type, ldexp(a[i], e));
            if (!isfinite(a[i])) t.kappa = (wide)NAN;
        }
        for (int64_t i = 0; i < n; i++)
            b[i] = rounded_to(o.type, ldexp((double)draw(s, -1000, 1000), e));
        if (t.kappa == 1) t = reference_of((int)n, a, b, o.type ? FLT_MAX / 4 : DBL_MAX / 4);
        for (int m = 0; m < 4; m++) {
            shoal_symindef *plan = NULL;
            void *array = NULL;
            o.method = methods[m], without_growth = draw_chance(s, 50);
            factored f = factor_on(on, &o, a, &plan, &array);
            judged j = { 0 };
            if (f.info.status == 0) j = use_factors(on, plan, &f, array, b);
            judge(on, &f, &j, &t, methods[m], kind);
            forget(&f);
            shoal_symindef_free(plan);
            shoal_free(on->ctx, array);
        }
        promise_systems++;
    }
    free(a), free(b);
}

TEST(no_false_verdict) { draw_promises("symindef", shoal_symindef_kind, 100, 50000, one_matrix); }

int main(int argc, char **argv) {
    take_promise_options(&argc, argv);
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(no_false_verdict);
    close_targets();
    return TEST_END();
}
