/* SPDX-License-Identifier: Apache-2.0
 *
 * test_promises_tridiag.c - the promises of tridiag in docs/promises.md, over random systems of every kind, scale,
 * size, type and layout, by every method. The oracle eliminates in wide arithmetic (promises.h).
 *
 * With the rows of A scaled by powers of two to a largest entry in [1, 2), kappa = |A| |A^-1| in the maximum norm and
 * limit = 1 / (64 u), u the unit of roundoff:
 *
 *   status 0     every row i has |b - A x|_i <= tol (max|a_i| max|x| + |b_i|), and, by a method that pivots,
 *                kappa < NEAR limit
 *   else         not of a system with kappa < limit / NEAR whose answer is in the range, by a method that pivots (but
 *                gspike, which guesses singular blocks by delta), or by any method if the matrix is diagonally dominant;
 *                methods but "auto", "qr" and "twocarry" may warn of a row whose error is indeed above tol
 */
#include "tridiag_batch.h"
#include "promises.h"

typedef struct truth {
    int finite, finite_matrix, dominant;
    int in_range; /* the exact x, rounded, is an answer of the same quality; rows and x are normal numbers */
    wide kappa; /* INFINITY: singular */
} truth;

typedef struct rows { /* of op(A), scaled; row i holds columns i-1, i, i+1, periodic ones wrap */
    int64_t n;
    wide (*a)[3];
    int *exponent; /* row i was multiplied by 2^-exponent */
} rows;

/* ---- the matrix -------------------------------------------------------------------------------- */

static double entry_of(const batch *p, int64_t k, int64_t i, int64_t side, how h) {
    const int64_t n = p->n, at = k * n, j = i + side - 1;
    if ((j < 0 || j >= n) && !h.periodic) return 0;
    const int64_t wrapped = (j + n) % n;
    if (side == 1) return p->d[at + i];
    if (!h.transposed) return side == 0 ? p->dl[at + i] : p->du[at + i];
    return side == 0 ? p->du[at + wrapped] : p->dl[at + wrapped];
}

static rows rows_of(const batch *p, int64_t k, how h) {
    rows r = { p->n, new_array((size_t)p->n, sizeof *r.a), new_array((size_t)p->n, sizeof(int)) };
    for (int64_t i = 0; i < p->n; i++) {
        wide largest = 0;
        for (int side = 0; side < 3; side++) {
            r.a[i][side] = entry_of(p, k, i, side, h);
            largest = wide_max(largest, wide_abs(r.a[i][side]));
        }
        if (largest > 0 && largest <= (wide)DBL_MAX) r.exponent[i] = wide_exponent(largest);
        for (int side = 0; side < 3; side++) r.a[i][side] *= wide_power(-r.exponent[i]);
    }
    return r;
}

static void free_rows(rows *r) { free(r->a), free(r->exponent); }

/* |A|; in a ring of one or two rows, of entries that are not added up. */
static wide norm_of(const rows *r) {
    wide norm = 0;
    for (int64_t i = 0; i < r->n; i++)
        norm = wide_max(norm, wide_abs(r->a[i][0]) + wide_abs(r->a[i][1]) + wide_abs(r->a[i][2]));
    return norm;
}

static int is_dominant(const rows *r) {
    int strict = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const wide off = wide_abs(r->a[i][0]) + wide_abs(r->a[i][2]), d = wide_abs(r->a[i][1]);
        if (d < off) return 0;
        strict += d >= off * (wide)1.125;
    }
    return strict == r->n;
}

/* ---- elimination ------------------------------------------------------------------------------- */

typedef struct factors { /* P A = L U of the scaled rows */
    int64_t n;
    wide (*u)[3], *l;
    char *swapped;
} factors;

static int factor_rows(const rows *r, factors *f) {
    const int64_t n = r->n;
    wide row[3] = { r->a[0][1], r->a[0][2], 0 };
    for (int64_t i = 0; i < n; i++) {
        wide next[3] = { 0 };
        if (i + 1 < n) memcpy(next, r->a[i + 1], sizeof next);
        f->swapped[i] = wide_abs(next[0]) > wide_abs(row[0]);
        for (int q = 0; q < 3 && f->swapped[i]; q++) {
            const wide other = row[q];
            row[q] = next[q], next[q] = other;
        }
        memcpy(f->u[i], row, sizeof row);
        if (wide_abs(row[0]) < (wide)0x1p-100) return 0;
        f->l[i] = next[0] / row[0];
        for (int q = 0; q < 2; q++) row[q] = next[q + 1] - f->l[i] * f->u[i][q + 1];
        row[2] = 0;
    }
    return 1;
}

static void solve_rows(const factors *f, wide *x) {
    for (int64_t i = 0; i + 1 < f->n; i++) {
        if (f->swapped[i]) {
            const wide other = x[i];
            x[i] = x[i + 1], x[i + 1] = other;
        }
        x[i + 1] -= f->l[i] * x[i];
    }
    for (int64_t i = f->n - 1; i >= 0; i--) {
        if (i + 1 < f->n) x[i] -= f->u[i][1] * x[i + 1];
        if (i + 2 < f->n) x[i] -= f->u[i][2] * x[i + 2];
        x[i] /= f->u[i][0];
    }
}

static void solve_rows_transposed(const factors *f, wide *x) {
    for (int64_t i = 0; i < f->n; i++) {
        if (i > 0) x[i] -= f->u[i - 1][1] * x[i - 1];
        if (i > 1) x[i] -= f->u[i - 2][2] * x[i - 2];
        x[i] /= f->u[i][0];
    }
    for (int64_t i = f->n - 2; i >= 0; i--) {
        x[i] -= f->l[i] * x[i + 1];
        if (f->swapped[i]) {
            const wide other = x[i];
            x[i] = x[i + 1], x[i + 1] = other;
        }
    }
}

/* |A^-1| in the maximum norm, the 1-norm of A^-T: column by column, in long double, which is good to one part in a
 * thousand up to NEAR times the limit; of the few systems with more columns Hager's estimate with Higham's alternative,
 * within a factor of 3 of the truth. */
enum { COLUMNS = 1000, HAGER_STEPS = 6 };

static wide inverse_norm(const factors *f) {
    const int64_t n = f->n;
    wide largest = 0, *x = new_array((size_t)n, sizeof *x), *z = new_array((size_t)n, sizeof *z);
    for (int64_t i = 0; i < n; i++) x[i] = (wide)1 / n;
    for (int step = 0; step < HAGER_STEPS; step++) {
        wide sum = 0;
        int64_t best = 0;
        solve_rows_transposed(f, x);
        for (int64_t i = 0; i < n; i++) sum += wide_abs(x[i]), z[i] = x[i] < 0 ? -1 : 1;
        if (step > 1 && sum <= largest) break;
        largest = wide_max(largest, sum);
        solve_rows(f, z);
        for (int64_t i = 0; i < n; i++)
            if (wide_abs(z[i]) > wide_abs(z[best])) best = i;
        memset(x, 0, (size_t)n * sizeof *x);
        x[best] = 1;
    }
    wide sum = 0;
    for (int64_t i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (wide)i / n);
    solve_rows_transposed(f, x);
    for (int64_t i = 0; i < n; i++) sum += wide_abs(x[i]);
    free(x), free(z);
    return wide_max(largest, 2 * sum / (3 * n));
}

static wide inverse_norm_by_columns(const factors *f) {
    const int64_t n = f->n;
    long double(*u)[3] = new_array((size_t)n, sizeof *u), *l = new_array((size_t)n, sizeof *l);
    long double *x = new_array((size_t)n, sizeof *x), largest = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int q = 0; q < 3; q++) u[i][q] = (long double)f->u[i][q];
        l[i] = (long double)f->l[i];
    }
    for (int64_t j = 0; j < n; j++) { /* as solve_rows_transposed() */
        long double sum = 0, before = 0, second = 0;
        memset(x, 0, (size_t)j * sizeof *x);
        for (int64_t i = j; i < n; i++) {
            x[i] = i == j;
            if (i > j) x[i] -= u[i - 1][1] * before;
            if (i > j + 1) x[i] -= u[i - 2][2] * second;
            x[i] /= u[i][0];
            second = before, before = x[i];
        }
        for (int64_t i = n - 2; i >= 0; i--) {
            x[i] -= l[i] * x[i + 1];
            if (f->swapped[i]) {
                const long double other = x[i];
                x[i] = x[i + 1], x[i + 1] = other;
            }
        }
        for (int64_t i = 0; i < n; i++) sum += fabsl(x[i]);
        largest = fmaxl(sum, largest);
    }
    free(u), free(l), free(x);
    return largest;
}

/* ---- the truth --------------------------------------------------------------------------------- */

/* The largest |b - A x|_i / max|x| of scaled rows, of right-hand side j: the measure of docs/promises.md. */
static double row_error(const batch *p, const rows *r, int64_t k, int64_t j, const double *x) {
    const int64_t n = p->n, m = p->nrhs;
    const double *b = p->b + k * n * m + j;
    wide largest = 0, worst = 0;
    x += k * n * m + j;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(x[i * m])) return INFINITY;
        largest = wide_max(largest, wide_abs(x[i * m]));
    }
    for (int64_t i = 0; i < n; i++) {
        const wide rhs = b[i * m] * wide_power(-r->exponent[i]);
        wide residual = rhs;
        for (int side = 0; side < 3; side++)
            residual -= r->a[i][side] * x[(i + side - 1 + n) % n * m];
        if (residual != 0) worst = wide_max(worst, wide_abs(residual) / largest);
    }
    return (double)worst;
}

/* The exact answers of system k, rounded, to x. */
static void dense_answers(const batch *p, const rows *r, int64_t k, truth *t, double *x) {
    const int n = (int)p->n;
    wide *a = new_array((size_t)(n * n), sizeof *a),
         *inverse = new_array((size_t)(n * n), sizeof *a);
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 3; side++) a[i * n + (i + side - 1 + n) % n] += r->a[i][side];
    t->kappa = wide_inverse(n, a, inverse) ? norm_of(r) * wide_norm(n, inverse) : (wide)INFINITY;
    for (int64_t e = 0; e < n * p->nrhs; e++) {
        const int64_t i = e / p->nrhs, j = e % p->nrhs;
        wide sum = 0;
        for (int q = 0; q < n; q++)
            sum +=
                inverse[i * n + q] * p->b[(k * n + q) * p->nrhs + j] * wide_power(-r->exponent[q]);
        x[k * n * p->nrhs + e] = (double)sum;
    }
    free(a), free(inverse);
}

static void banded_answers(const batch *p, const rows *r, int64_t k, truth *t, double *x) {
    const int64_t n = p->n, m = p->nrhs;
    factors f = { n, new_array((size_t)n, sizeof *f.u), new_array((size_t)n, sizeof *f.l),
                  new_array((size_t)n, 1) };
    wide *column = new_array((size_t)n, sizeof *column);
    const wide norm = norm_of(r);
    const int regular = factor_rows(r, &f);
    t->kappa = !regular       ? (wide)INFINITY
               : n <= COLUMNS ? norm * inverse_norm_by_columns(&f)
                              : norm * inverse_norm(&f);
    for (int64_t j = 0; j < m && regular; j++) {
        for (int64_t i = 0; i < n; i++)
            column[i] = p->b[(k * n + i) * m + j] * wide_power(-r->exponent[i]);
        solve_rows(&f, column);
        for (int64_t i = 0; i < n; i++) x[(k * n + i) * m + j] = (double)column[i];
    }
    free(f.u), free(f.l), free(f.swapped), free(column);
}

static truth reference_of(const batch *p, const rows *r, int64_t k, how h, double *x) {
    const int64_t n = p->n, m = p->nrhs;
    truth t = { .finite = 1, .finite_matrix = 1, .kappa = 1, .in_range = 1 };
    for (int64_t i = 0; i < n; i++) {
        for (int side = 0; side < 3; side++)
            if (!isfinite(entry_of(p, k, i, side, h))) t.finite = t.finite_matrix = 0;
        for (int64_t j = 0; j < m; j++)
            if (!isfinite(p->b[(k * n + i) * m + j])) t.finite = 0;
    }
    if (!t.finite || !n) return t;
    t.dominant = is_dominant(r);
    if (h.periodic)
        dense_answers(p, r, k, &t, x);
    else
        banded_answers(p, r, k, &t, x);
    if (t.kappa > (wide)DBL_MAX) return t;
    const double largest = p->type == SHOAL_F32 ? FLT_MAX / 4 : DBL_MAX / 4;
    const double least = p->type == SHOAL_F32 ? FLT_MIN : DBL_MIN;
    for (int64_t i = 0; i < n; i++)
        if (r->exponent[i] < ilogb(least)) t.in_range = 0;
    for (int64_t j = 0; j < m && t.in_range; j++) {
        double most = 0;
        for (int64_t i = 0; i < n; i++) {
            double *value = &x[(k * n + i) * m + j];
            if (p->type == SHOAL_F32) *value = (float)*value;
            most = fmax(fabs(*value), most);
        }
        t.in_range = (most == 0 || (most >= least && most <= largest)) &&
                     row_error(p, r, k, j, x) <= 8 * eps_of(p->type);
    }
    return t;
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

/* The residual that a status follows from is computed in the precision of the type by these two, a rounding or five
 * beside the truth; by the others in twice the precision where it matters, and told as a float. */
static double tolerance_of(const call *c, const target *on, const answer *a) {
    const int plainly =
        strcmp(c->method, "twocarry") == 0 || (strcmp(c->method, "pcr") == 0 && !on_cpu(on));
    return a->info.tol * (plainly ? TRUSTED / 100. : 1 + FLT_EPSILON);
}

/* Elimination with exchanges rounds a row that stays in hand again and again (upper.h). */
static int is_safe(const call *c) {
    return is_auto(c) || strcmp(c->method, "qr") == 0 || strcmp(c->method, "twocarry") == 0;
}

/* By how much more than NEAR an estimate may be too high. That of twocarry is |z|, Rt z = (+-1, ..), A = Q R with scaled
 * rows: z = Qt A^-t (+-1, ..) has a length of at most sqrt(n) |A^-t|, and one entry may have all of it ("spike16"). So
 * systems of more than NEAR^2 rows may be warned about earlier. */
static double excess_of(const call *c, const target *on, int64_t n) {
    const int64_t block = on_cpu(on) ? 65535 : 2304; /* rows above which auto is twocarry */
    const int is_twocarry = strcmp(c->method, "twocarry") == 0 || (is_auto(c) && n > block);
    return is_twocarry ? fmax(1, sqrt((double)n) / NEAR) : 1;
}

static void judge(const batch *p, const rows *r, const truth *t, const target *on, const call *c,
                  const answer *a, int64_t k, const char *kind) {
    const double limit = 1 / (32 * eps_of(p->type)); /* eps is two units of roundoff */
    const double tol = tolerance_of(c, on, a);
    const int32_t status = a->status[k];
    const unsigned flags = shoal_method_flags("tridiag", c->method, c->variant);
    const int promised = (c->pivoted && !(flags & SHOAL_CAN_DELTA)) || t->dominant;
    double error = 0;
    char name[PROMISE_NAME], what[256];
    snprintf(name, sizeof name, "%s%s%s %s", c->method, c->variant ? " " : "",
             c->variant ? c->variant : "", on->backend);
    for (int64_t j = 0; j < p->nrhs && status >= 0 && t->finite; j++)
        error = fmax(error, row_error(p, r, k, j, a->x));
    snprintf(what, sizeof what, "%s %s n=%lld k=%lld: kappa %.2g of %.2g, error %.2g of %.2g%s",
             kind, p->type ? "f32" : "f64", (long long)p->n, (long long)k, (double)t->kappa, limit,
             error, tol, t->in_range ? "" : ", not in range");
    int fault = -1;
    if (!t->finite) { /* the other right-hand sides may fail worse */
        const int others = p->nrhs > 1 && t->finite_matrix && status < 0;
        fault = status == SHOAL_SYSTEM_NONFINITE || others ? -1 : FALSE_OK;
    } else if (status == 0 && !(error <= tol))
        fault = FALSE_OK;
    else if (status == 0 && c->pivoted && !(t->kappa < NEAR * limit))
        fault = FALSE_OK;
    else if (status != 0 && t->in_range && t->kappa * excess_of(c, on, p->n) < limit / NEAR &&
             promised && (status < 0 || error <= tol || is_safe(c)))
        fault = FALSE_FAIL;
    else if (t->kappa >= limit / NEAR && t->kappa < NEAR * limit)
        fault = NEAR_LIMIT;
    promise_count(name, status, fault, what);
}

/* ---- draws ------------------------------------------------------------------------------------- */

static void scale(batch *p, stream *s) {
    const int range = (p->type == SHOAL_F32 ? 60 : 500) * (draw_chance(s, 10) ? 2 : 1);
    const int a = draw_chance(s, 30) ? (int)draw(s, -range, range) : 0;
    const int b = draw_chance(s, 30) ? (int)draw(s, -range, range) : 0;
    const int per_row = draw_chance(s, 15) ? range : 0;
    for (int64_t i = 0; i < p->n * p->count; i++) {
        const int e = per_row ? (int)draw(s, -per_row, per_row) : a;
        p->dl[i] = ldexp(p->dl[i], e), p->d[i] = ldexp(p->d[i], e), p->du[i] = ldexp(p->du[i], e);
        for (int64_t j = 0; j < p->nrhs; j++)
            p->b[i * p->nrhs + j] = ldexp(p->b[i * p->nrhs + j], per_row ? e : b);
    }
    round_batch(p);
}

static int64_t draw_size(stream *s) {
    const int64_t percent = draw(s, 0, 99);
    if (draw(s, 0, 399) == 0) return (int64_t)1 << draw(s, 9, 16) | draw(s, 0, 511); /* to 66,047 */
    return percent < 60 ? draw(s, 1, 20) : percent < 97 ? draw(s, 21, 130) : draw(s, 131, 700);
}

static void one_batch(stream *s, int kinds) {
    const char *kind = shoal_tridiag_kind((int)draw(s, 0, kinds - 1));
    const target *on = &targets[draw(s, 0, target_count - 1)];
    how h = { .layout = draw_chance(s, 40) ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR,
              .in_place = draw_chance(s, 20),
              .no_residual = draw_chance(s, 60),
              .transposed = draw_chance(s, 15),
              .periodic = draw_chance(s, 5) };
    const int64_t n = h.periodic ? draw(s, 1, 24) : draw_size(s),
                  count = n > 1000 ? 2 : draw(s, 1, on_cpu(on) ? 16 : 200);
    batch p = new_batch(n, count, draw_chance(s, 80) ? 1 : draw(s, 2, 4),
                        draw_chance(s, 50) ? SHOAL_F32 : SHOAL_F64);
    const shoal_tridiag_opts shape = { .n = n, .count = count, .nrhs = p.nrhs };
    const int64_t first = draw(s, 0, 1 << 30);
    const uint64_t seed = draw_bits(s);
    if (shoal_tridiag_generate(on->ctx, kind, seed, first, &shape, p.dl, p.d, p.du, p.b)) {
        free_batch(&p); /* a kind that needs more rows */
        return;
    }
    scale(&p, s);
    rows *r = new_array((size_t)count, sizeof *r);
    truth *t = new_array((size_t)count, sizeof *t);
    double *x = new_array((size_t)(n * count * p.nrhs), sizeof *x);
    IN_PARALLEL
    for (int64_t k = 0; k < count; k++)
        r[k] = rows_of(&p, k, h), t[k] = reference_of(&p, &r[k], k, h, x);
    for (const call *c = calls; c->method; c++) {
        const unsigned flags = shoal_method_flags("tridiag", c->method, c->variant);
        if (h.periodic && !(flags & SHOAL_CAN_PERIODIC) && !is_auto(c)) continue;
        answer a = solve_with(on->ctx, &p, c, h);
        for (int64_t k = 0; k < count && a.code == SHOAL_OK; k++)
            judge(&p, &r[k], &t[k], on, c, &a, k, kind);
        free_answer(&a);
    }
    for (int64_t k = 0; k < count; k++) free_rows(&r[k]);
    free(r), free(t), free(x);
    free_batch(&p);
    promise_systems += count;
}

/* Matrices whose least singular value is next to nothing and alone, with right-hand sides that hide it (b = A x for
 * an x of random numbers). The estimate is a sum of terms of either sign; with a sign per row and no more, the terms
 * cancel in one of a thousand of these, and twocarry missed them by a factor of 100 and more. */
static void judge_ill(const target *on, const batch *p, const truth *t) {
    for (const call *c = calls; c->method; c++) {
        if (!c->pivoted) continue;
        answer a = solve_with(on->ctx, p, c, (how){ 0 });
        for (int64_t k = 0; k < p->count && a.code == SHOAL_OK; k++)
            CHECK_MSG(a.status[k] != 0 || t[k].kappa < NEAR / (32 * DBL_EPSILON),
                      "%s n=%lld k=%lld: ok, kappa %.2g", name_of(on, c), (long long)p->n,
                      (long long)k, (double)t[k].kappa);
        free_answer(&a);
    }
}

TEST(no_singular_value_hides) {
    enum { COUNT = 100 };
    stream s = { promise_seed };
    for (int i = 0; i < (small ? 4 : 40); i++) {
        const int64_t n = draw(&s, 20, 200);
        batch p = new_batch(n, COUNT, 1, SHOAL_F64);
        const shoal_tridiag_opts shape = { .n = n, .count = COUNT, .nrhs = 1 };
        truth t[COUNT];
        double *x = new_array((size_t)(n * COUNT), sizeof *x);
        CHECK(shoal_tridiag_generate(targets[0].ctx, "spike11", draw_bits(&s), 0, &shape, p.dl, p.d,
                                     p.du, p.b) == SHOAL_OK);
        IN_PARALLEL
        for (int64_t k = 0; k < COUNT; k++) {
            rows r = rows_of(&p, k, (how){ 0 });
            t[k] = reference_of(&p, &r, k, (how){ 0 }, x);
            free_rows(&r);
        }
        for (int on = 0; on < target_count; on++) judge_ill(&targets[on], &p, t);
        free(x);
        free_batch(&p);
    }
}

/* x underflows: it is zero, or far from what b asks for, which underflows itself when rows are scaled. No method calls
 * that answered; b = 0 is. */
TEST(underflow_of_x_is_seen) {
    static const double d[] = { 0x1.a9bab4p+118, 0x1.ea4236p+117, 0x1.5485ap+118 };
    static const double rhs[][3] = { { 0, 0x1p-148, 0 }, { 0, 0, -0x1.f9a93ap-22 }, { 0, 0, 0 } };
    for (int on = 0; on < target_count; on++)
        for (const call *c = calls; c->method; c++)
            for (int k = 0; k < 3; k++) {
                batch p = new_batch(3, 1, 1, SHOAL_F32);
                memcpy(p.d, d, sizeof d), memcpy(p.b, rhs[k], sizeof rhs[k]);
                for (int i = 0; i < 2; i++) p.du[i] = p.dl[i + 1] = 0x1.4p+115;
                answer a = solve_with(targets[on].ctx, &p, c, (how){ 0 });
                if (a.code == SHOAL_OK && k == 2)
                    CHECK_MSG(a.status[0] == 0 && a.residual[0] == 0, "%s: status %d, residual %g",
                              name_of(&targets[on], c), a.status[0], (double)a.residual[0]);
                else if (a.code == SHOAL_OK)
                    CHECK_MSG(a.status[0] != 0, "%s: right-hand side %d is ok",
                              name_of(&targets[on], c), k);
                free_answer(&a);
                free_batch(&p);
            }
}

TEST(no_false_verdict) { draw_promises("tridiag", shoal_tridiag_kind, 200, 400000, one_batch); }

int main(int argc, char **argv) {
    take_promise_options(&argc, argv);
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(underflow_of_x_is_seen);
    RUN(no_singular_value_hides);
    RUN(no_false_verdict);
    close_targets();
    return TEST_END();
}
