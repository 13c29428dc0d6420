/* SPDX-License-Identifier: Apache-2.0
 *
 * test_promises_smallsym.c - the promises of smallsym in docs/promises.md, over random systems of every kind, scale,
 * size, type and storage, by every method. The oracle inverts in wide arithmetic (promises.h).
 *
 * kappa = |S A S| |(S A S)^-1| in the maximum norm, S the powers of two that make the rows of S A S about equal, or 1
 * where those of A differ by less than EVEN already. ldlt scales by the diagonal instead, if its entries differ by
 * EVEN_DIAGONAL; eigdc does not scale, and its kappa is the ratio of the largest to the smallest size of an
 * eigenvalue of A. "auto" begins with ldlt and goes on with a method that scales rows. The limit is info.cond.
 *
 *   status 0     the backward error |b - A x| / (|A| |x| + |b|) is at most 10 n units of roundoff, and kappa is below
 *                NEAR times the limit
 *                (the paper's thread mappings simd, coop and hybrid: the backward error alone)
 *   else         not of a system with kappa below 1 / NEAR of the limit that the method is made for (definite; any
 *                nonsingular one by a method that pivots) and whose answer is in the range; hhpcr may also warn
 *                of a backward error that is indeed larger
 *
 * Beside them many rank-deficient systems (--singular=N), by "auto" and now and then by every method: the
 * oracle looks only at those with status 0; rounding may have made a matrix regular.
 */
#include "smallsym_batch.h"
#include "promises.h"

typedef struct truth {
    int finite, definite;
    int in_range;     /* the exact x, rounded, is an answer of the same quality */
    int apart;        /* rows differ so much that a GPU's single methods may flag or refuse */
    wide kappa;       /* INFINITY: singular      */
    wide by_diagonal; /* kappa of ldlt, likewise */
    wide ratio;       /* of eigenvalues          */
} truth;

/* ---- the truth --------------------------------------------------------------------------------- */

enum { EVEN = 16, EVEN_DIAGONAL = 8, ROUNDS = 14 }; /* docs/promises.md */

/* Of 2^-e, 1/2 to 2 times sqrt(v). */
static int half_exponent(wide v) { return v > 0 ? (wide_exponent(v) + 1 + 4000) / 2 - 2000 : 0; }

/* Exponents of S: divisions of each row by the root of its largest, until nothing changes. */
static void balance(const batch *p, int64_t k, int *exponent) {
    const int n = (int)p->n;
    for (int round = 0; round < ROUNDS; round++) {
        int next[64];
        wide least = (wide)INFINITY, most = 0;
        for (int i = 0; i < n; i++) {
            wide largest = 0;
            for (int j = 0; j < n; j++)
                largest = wide_max(largest, wide_abs(entry(p, k, i, j)) *
                                                wide_power(exponent[i] + exponent[j]));
            next[i] = exponent[i] - half_exponent(largest);
            if (largest > 0 && largest < least) least = largest;
            most = wide_max(most, largest);
        }
        if (round == 0 && most < EVEN * least) return;
        memcpy(exponent, next, (size_t)n * sizeof *exponent);
    }
}

static void balance_by_diagonal(const batch *p, int64_t k, int *exponent) {
    wide least = (wide)INFINITY, most = 0;
    for (int i = 0; i < p->n; i++) {
        const wide d = wide_abs(entry(p, k, i, i));
        if (d > 0 && d < least) least = d;
        most = wide_max(most, d);
    }
    for (int i = 0; i < p->n && most >= EVEN_DIAGONAL * least; i++)
        exponent[i] = -half_exponent(wide_abs(entry(p, k, i, i)));
}

/* By more than 2^20 (f32) or 2^200: x may overflow while it is in A's units. docs/promises.md, Range. */
static int rows_are_apart(const batch *p, int64_t k) {
    int least = 100000, most = -100000;
    for (int i = 0; i < p->n; i++) {
        wide row = 0;
        for (int j = 0; j < p->n; j++) row = wide_max(row, wide_abs(entry(p, k, i, j)));
        for (int own = 0; own < 2; own++) { /* the row, and its diagonal entry */
            const wide size = own ? wide_abs(entry(p, k, i, i)) : row;
            const int e = size > 0 ? wide_exponent(size) : most;
            if (size > 0) least = e < least ? e : least, most = e > most ? e : most;
        }
    }
    return most - least > (p->type == SHOAL_F32 ? 20 : 200);
}

/* Whether all pivots of S A S, without exchanges, have one sign. */
static int is_definite(int n, const wide *a) {
    wide *l = new_array((size_t)(n * n), sizeof *l);
    int definite = 1;
    memcpy(l, a, (size_t)(n * n) * sizeof *l);
    for (int q = 0; q < n && definite; q++) {
        definite = l[q * n + q] * l[0] > 0;
        for (int i = q + 1; i < n && definite; i++) {
            const wide factor = l[i * n + q] / l[q * n + q];
            for (int j = q + 1; j <= i; j++) l[i * n + j] -= factor * l[j * n + q];
        }
    }
    free(l);
    return definite;
}

/* Normwise backward error of right-hand side c. */
static double wide_error(const batch *p, int64_t k, int64_t c, const double *x) {
    const int64_t n = p->n, m = p->nrhs;
    const double *b = p->b + k * n * m + c;
    wide rows = 0, largest = 0, rhs = 0, worst = 0;
    x += k * n * m + c;
    for (int64_t i = 0; i < n; i++) {
        wide r = b[i * m], size = 0;
        if (!isfinite(x[i * m])) return INFINITY;
        for (int64_t j = 0; j < n; j++) {
            r -= (wide)entry(p, k, i, j) * x[j * m];
            size += wide_abs(entry(p, k, i, j));
        }
        worst = wide_max(worst, wide_abs(r)), rows = wide_max(rows, size);
        largest = wide_max(largest, wide_abs(x[i * m])), rhs = wide_max(rhs, wide_abs(b[i * m]));
    }
    return worst == 0 ? 0 : (double)(worst / (rows * largest + rhs));
}

/* The largest size of an eigenvalue of A, which is lost: within a factor of n^(1/64), below 1.07, of the 32nd root of
 * |A^32|. */
static wide largest_eigenvalue(int n, wide *a) {
    double *square = new_array((size_t)(2 * n * n), sizeof *square), *next = square + n * n;
    wide most = 0;
    double exponent = 0;
    for (int e = 0; e < n * n; e++) most = wide_max(most, wide_abs(a[e]));
    for (int e = 0; e < n * n && most > 0; e++) square[e] = (double)(a[e] / most);
    for (int power = 1; power <= 32 && most > 0; power *= 2) { /* A^power = square e^exponent */
        double largest = 0;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) sum += fabs(square[i * n + j]);
            largest = fmax(largest, sum);
        }
        for (int e = 0; e < n * n; e++) square[e] /= largest;
        exponent += log(largest) / power;
        for (int e = 0; e < n * n; e++) {
            next[e] = 0;
            for (int j = 0; j < n; j++) next[e] += square[e / n * n + j] * square[j * n + e % n];
        }
        memcpy(square, next, (size_t)(n * n) * sizeof *square);
    }
    free(square);
    return most * exp(exponent);
}

/* From (S A S)^-1, which is lost. */
static wide ratio_of(const batch *p, int64_t k, wide *inverse, const int *exponent) {
    const int n = (int)p->n;
    wide *a = new_array((size_t)(n * n), sizeof *a);
    for (int e = 0; e < n * n; e++) {
        a[e] = entry(p, k, e / n, e % n);
        inverse[e] *= wide_power(exponent[e / n] + exponent[e % n]);
    }
    const wide ratio = largest_eigenvalue(n, a) * largest_eigenvalue(n, inverse);
    free(a);
    return ratio;
}

/* kappa of T A T, `to` the exponents of T, from (S A S)^-1. */
static wide kappa_scaled(const batch *p, int64_t k, const wide *inverse, const int *from,
                         const int *to) {
    const int n = (int)p->n;
    wide norm = 0, size = 0;
    for (int i = 0; i < n; i++) {
        wide row = 0, other = 0;
        for (int j = 0; j < n; j++) {
            row += wide_abs(entry(p, k, i, j)) * wide_power(to[i] + to[j]);
            other += wide_abs(inverse[i * n + j]) * wide_power(from[i] + from[j] - to[i] - to[j]);
        }
        norm = wide_max(norm, row), size = wide_max(size, other);
    }
    return norm * size;
}

static truth reference_of(const batch *p, int64_t k) {
    const int n = (int)p->n;
    const int64_t m = p->nrhs, at = k * n * m;
    truth t = { .finite = 1, .definite = 1, .in_range = 1, .kappa = 1 };
    int exponent[64] = { 0 }, diagonal[64] = { 0 };
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) t.finite &= isfinite(entry(p, k, i, j)) != 0;
        for (int64_t c = 0; c < m; c++) t.finite &= isfinite(p->b[at + i * m + c]) != 0;
    }
    if (!t.finite) return t;
    wide *a = new_array((size_t)(n * n), sizeof *a),
         *inverse = new_array((size_t)(n * n), sizeof *a);
    double *x = new_array((size_t)((k + 1) * n * m), sizeof *x);
    t.apart = rows_are_apart(p, k);
    balance(p, k, exponent);
    for (int e = 0; e < n * n; e++)
        a[e] = entry(p, k, e / n, e % n) * wide_power(exponent[e / n] + exponent[e % n]);
    t.definite = is_definite(n, a);
    const wide norm = wide_norm(n, a);
    if (wide_inverse(n, a, inverse)) {
        t.kappa = norm * wide_norm(n, inverse);
        balance_by_diagonal(p, k, diagonal);
        t.by_diagonal = kappa_scaled(p, k, inverse, exponent, diagonal);
    } else {
        t.kappa = t.by_diagonal = (wide)INFINITY;
    }
    const double largest = p->type == SHOAL_F32 ? FLT_MAX / 4 : DBL_MAX / 4;
    for (int64_t c = 0; c < m && t.kappa <= (wide)DBL_MAX; c++) {
        for (int i = 0; i < n; i++) {
            wide sum = 0;
            for (int j = 0; j < n; j++)
                sum += inverse[i * n + j] * p->b[at + j * m + c] * wide_power(exponent[j]);
            const double value = (double)(sum * wide_power(exponent[i]));
            x[at + i * m + c] = p->type == SHOAL_F32 ? (float)value : value;
            if (fabs(value) > largest) t.in_range = 0;
        }
        if (t.in_range) t.in_range = wide_error(p, k, c, x) <= 2 * n * eps_of(p->type);
    }
    t.ratio = t.kappa > (wide)DBL_MAX ? t.kappa : ratio_of(p, k, inverse, exponent);
    free(a), free(inverse), free(x);
    return t;
}

/* ---- verdicts ---------------------------------------------------------------------------------- */

/* The paper's thread mappings promise nothing about kappa. */
static int is_of_paper(const call *c) {
    return c->variant && strstr("simd coop hybrid", c->variant) != NULL;
}

static const char *promise_name(const call *c, const target *on) {
    static char name[PROMISE_NAME];
    snprintf(name, sizeof name, "%s%s%s %s", c->method, c->variant ? " " : "",
             c->variant ? c->variant : "", on->backend);
    return name;
}

static void judge(const batch *p, const truth *t, const target *on, const call *c, const answer *a,
                  int64_t k, const char *kind) {
    const double tol = 10 * (double)p->n * eps_of(p->type), limit = a->info.cond;
    const int32_t status = a->status[k];
    const int of_paper = is_of_paper(c);
    const int made_for = !of_paper && (t->definite || c->trait & INDEFINITE);
    const int by_diagonal = strcmp(c->method, "ldlt") == 0,
              is_auto = strcmp(c->method, "auto") == 0;
    wide kappa = by_diagonal                       ? t->by_diagonal
                 : strcmp(c->method, "eigdc") == 0 ? t->ratio
                                                   : t->kappa;
    /* what the first of them does not flag, and what none does */
    if (is_auto && t->definite && (status == 0) == (t->by_diagonal < kappa)) kappa = t->by_diagonal;
    double error = 0;
    char what[256];
    for (int64_t j = 0; j < p->nrhs && status >= 0 && t->finite; j++)
        error = fmax(error, wide_error(p, k, j, a->x));
    snprintf(what, sizeof what, "%s %s n=%lld k=%lld: kappa %.2g of %.2g, error %.2g of %.2g%s",
             kind, p->type ? "f32" : "f64", (long long)p->n, (long long)k, (double)kappa, limit,
             error, tol, t->in_range ? "" : ", not in range");
    /* it does not pivot: a definite matrix may be answered less well, and is flagged then, by a residual whose n products
     * are rounded: half an eps each at most, of |A| |x| + |b| */
    const double told = a->info.tol - (double)p->n * eps_of(p->type) / 2;
    const int flagged = strcmp(c->method, "hhpcr") == 0 && status > 0 && !(error <= told);
    const int excused = !on_cpu(on) && !is_auto && t->apart;
    int fault = -1;
    if (!t->finite)
        fault = status == SHOAL_SYSTEM_NONFINITE ? -1 : FALSE_OK;
    else if (status == 0 && !(error <= tol))
        fault = FALSE_OK;
    else if (status == 0 && !of_paper && !(kappa < NEAR * limit))
        fault = FALSE_OK;
    else if (status != 0 && t->in_range && kappa < limit / NEAR && made_for && !flagged && !excused)
        fault = FALSE_FAIL;
    else if (kappa >= limit / NEAR && kappa < NEAR * limit)
        fault = NEAR_LIMIT;
    promise_count(promise_name(c, on), status, fault, what);
}

/* ---- draws ------------------------------------------------------------------------------------- */

/* Rows and columns in units of their own, 2^u(i), as far apart as the type has room for: those of a system differ
 * by up to twice `most`. b is in these units or in its own. What the type does not hold is lost before the library
 * sees it. */
static void spread(batch *p, stream *s) {
    const int most = (int)draw(s, 1, p->type == SHOAL_F32 ? 70 : 530);
    const int one_row = draw_chance(s, 30), in_units = draw_chance(s, 60);
    for (int64_t k = 0; k < p->count; k++) {
        int unit[64], highest = p->type == SHOAL_F32 ? 126 : 1022;
        const int64_t row = draw(s, 0, p->n - 1);
        for (int64_t i = 0; i < p->n; i++)
            unit[i] = !one_row || i == row ? (int)draw(s, -most, most) : 0;
        for (int64_t i = 0; i < p->n; i++) /* the largest number is to be finite */
            for (int64_t j = 0; j <= i; j++) {
                const double v = entry(p, k, i, j);
                const int over =
                    v == 0 || !isfinite(v) ? 0 : ilogb(v) + unit[i] + unit[j] - highest;
                if (over > 0) unit[i] -= over, unit[j] -= i == j ? 0 : over;
            }
        for (int64_t i = 0; i < p->n; i++) {
            for (int64_t j = 0; j <= i; j++)
                p->a[(k * p->n + i) * p->n + j] =
                    ldexp(p->a[(k * p->n + i) * p->n + j], unit[i] + unit[j]);
            for (int64_t c = 0; c < p->nrhs && in_units; c++)
                p->b[(k * p->n + i) * p->nrhs + c] =
                    ldexp(p->b[(k * p->n + i) * p->nrhs + c], unit[i]);
        }
    }
}

static void scale(batch *p, stream *s) {
    const int range = p->type == SHOAL_F32 ? 60 : 500;
    const int a = draw_chance(s, 30) ? (int)draw(s, -range, range) : 0;
    const int b = draw_chance(s, 30) ? (int)draw(s, -range, range) : 0;
    for (int64_t e = 0; e < p->n * p->n * p->count; e++) p->a[e] = ldexp(p->a[e], a);
    for (int64_t e = 0; e < p->n * p->count * p->nrhs; e++) p->b[e] = ldexp(p->b[e], b);
    round_batch(p);
}

/* Parameters of kinds beside the default. */
static const struct {
    const char *kind;
    double value[3];
} parameters[] = {
    { "wishart", { 1e-3, 1e-6, 0 } },      { "regression", { 20, 5, 5 } },
    { "centred", { 20, 5, 5 } },           { "clustered", { 1e9, 1e15, 1e15 } },
    { "spectrum", { 1e8, 1e13, 1e17 } },   { "singular", { 1, 1, 1 } },
    { "underdetermined", { .5, .9, .9 } }, { "integer", { 0, 0, 0 } },
    { "graded", { 3, 14, 14 } },           { "dominant", { 1e3, 1e14, 1e14 } },
};

static double draw_parameter(stream *s, const char *kind) {
    const int64_t which = draw(s, 0, 3);
    for (size_t i = 0; which < 3 && i < sizeof parameters / sizeof *parameters; i++)
        if (strcmp(parameters[i].kind, kind) == 0) return parameters[i].value[which];
    return NAN;
}

static int64_t draw_size(stream *s) {
    const int64_t percent = draw(s, 0, 99);
    return percent < 80 ? draw(s, 1, 10) : percent < 97 ? draw(s, 11, 33) : draw(s, 34, 64);
}

static void one_batch(stream *s, int kinds) {
    const char *kind = shoal_smallsym_kind((int)draw(s, 0, kinds - 1));
    const target *on = &targets[draw(s, 0, target_count - 1)];
    how h = { .layout = draw_chance(s, 30) ? SHOAL_INTERLEAVED : SHOAL_SYSTEM_MAJOR,
              .storage = draw_chance(s, 40) ? SHOAL_PACKED : SHOAL_FULL,
              .triangle = draw_chance(s, 40) ? SHOAL_UPPER : SHOAL_LOWER,
              .in_place = draw_chance(s, 20),
              .no_residual = draw_chance(s, 60),
              .no_rcond = draw_chance(s, 60) };
    if (h.storage == SHOAL_FULL) h.wider = draw_chance(s, 20), h.apart = h.wider;
    if (h.layout == SHOAL_INTERLEAVED) h.apart = 0;
    const int64_t n = draw_size(s), count = draw(s, 1, on_cpu(on) ? 16 : 200),
                  first = draw(s, 0, 1 << 30);
    batch p = new_batch(n, count, draw_chance(s, 80) ? 1 : draw(s, 2, 4),
                        draw_chance(s, 50) ? SHOAL_F32 : SHOAL_F64);
    const shoal_smallsym_opts shape = { .n = n, .count = count, .nrhs = p.nrhs };
    const uint64_t seed = draw_bits(s);
    const double parameter = draw_parameter(s, kind);
    CHECK_MSG(!shoal_smallsym_generate(on->ctx, kind, parameter, seed, first, &shape, p.a, p.b),
              "%s", shoal_message(on->ctx));
    const int is_spread = draw_chance(s, 25);
    if (is_spread) spread(&p, s);
    scale(&p, s);
    truth *t = new_array((size_t)count, sizeof *t);
    char name[64];
    snprintf(name, sizeof name, "%s%s", kind, is_spread ? ", spread" : "");
    IN_PARALLEL
    for (int64_t k = 0; k < count; k++) t[k] = reference_of(&p, k);
    for (const call *c = calls; c->method; c++) {
        answer a = solve_with(on->ctx, &p, c, h);
        for (int64_t k = 0; k < count && a.code == SHOAL_OK; k++)
            judge(&p, &t[k], on, c, &a, k, name);
        free_answer(&a);
    }
    free(t);
    free_batch(&p);
    promise_systems += count;
}

static int64_t singular_wanted;

static int is_singular_kind(const char *kind) {
    const char *list[] = { "deficient", "underdetermined", "laplacian", "integer" };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(kind, list[i]) == 0) return 1;
    return 0;
}

/* Rank-deficient matrices, in f32 three times of four. Only a status of 0 is looked into. */
static void one_singular_batch(stream *s, int kinds) {
    const char *kind;
    do kind = shoal_smallsym_kind((int)draw(s, 0, kinds - 1));
    while (!is_singular_kind(kind));
    const target *on = &targets[draw(s, 0, target_count - 1)];
    const how h = { .no_residual = draw_chance(s, 60), .no_rcond = draw_chance(s, 60) };
    const int64_t size = draw_size(s), n = size > 2 ? size : 2, count = 2000,
                  first = draw(s, 0, 1 << 30);
    const int by_all = draw_chance(s, 5);
    batch p = new_batch(n, count, 1, draw_chance(s, 75) ? SHOAL_F32 : SHOAL_F64);
    const shoal_smallsym_opts shape = { .n = n, .count = count, .nrhs = 1 };
    const uint64_t seed = draw_bits(s);
    const double parameter = draw_parameter(s, kind);
    CHECK_MSG(!shoal_smallsym_generate(on->ctx, kind, parameter, seed, first, &shape, p.a, p.b),
              "%s", shoal_message(on->ctx));
    scale(&p, s);
    for (const call *c = calls; c->method && (by_all || c < calls + AUTOS); c++) {
        answer a = solve_with(on->ctx, &p, c, h);
        for (int64_t k = 0; k < count && a.code == SHOAL_OK; k++) {
            const truth t = a.status[k] == 0 ? reference_of(&p, k) : (truth){ .finite = 1 };
            if (a.status[k] == 0)
                judge(&p, &t, on, c, &a, k, kind);
            else
                promise_count(promise_name(c, on), a.status[k], -1, "");
        }
        free_answer(&a);
    }
    free_batch(&p);
    promise_systems += count;
}

TEST(singular_is_not_ok) {
    memset(promise_rows, 0, sizeof promise_rows);
    promise_systems = 0, promise_wanted = singular_wanted;
    draw_promises("smallsym, rank-deficient", shoal_smallsym_kind, 4000, 2000000,
                  one_singular_batch);
}

TEST(no_false_verdict) { draw_promises("smallsym", shoal_smallsym_kind, 200, 350000, one_batch); }

/* ---- worked examples --------------------------------------------------------------------------- */

/* One system, by every method; `status` is that of eigdc, of methods that pivot, and of the others. ANY_OTHER: not
 * 0. WHATEVER: any. Where it is 0 or, of auto, refined, x is right to a few digits less than the type has. */
enum { ANY_OTHER = 99, WHATEVER };
static void expect(int64_t n, shoal_type type, const double *A, const double *b, const double *x,
                   const int32_t (*status)[3]) {
    batch p = new_batch(n, 1, 1, type);
    memcpy(p.a, A, (size_t)(n * n) * sizeof *A);
    memcpy(p.b, b, (size_t)n * sizeof *b);
    round_batch(&p);
    for (int t = 0; t < target_count; t++)
        for (const call *c = calls; c->method; c++) {
            answer a = solve_with(targets[t].ctx, &p, c, (how){ .no_residual = 1, .no_rcond = 1 });
            const int which = strcmp(c->method, "eigdc") == 0 ? 0 : c->trait & INDEFINITE ? 1 : 2;
            const int single_on_gpu = !on_cpu(&targets[t]) && c >= calls + AUTOS && n > 1 && x;
            const int32_t wanted = single_on_gpu && which > 0 ? WHATEVER : (*status)[which];
            if (a.code == SHOAL_OK && !is_of_paper(c) && wanted != WHATEVER)
                CHECK_MSG(wanted == ANY_OTHER ? a.status[0] != 0 : a.status[0] == wanted,
                          "%s n=%lld: status %d", promise_name(c, &targets[t]), (long long)n,
                          a.status[0]);
            for (int64_t i = 0; i < n && a.code == SHOAL_OK && x && !is_of_paper(c); i++)
                CHECK_MSG(a.status[0] != 0 || fabs(a.x[i] - x[i]) <= 1e-5 * fabs(x[i]),
                          "%s: x(%lld) = %g, not %g", promise_name(c, &targets[t]), (long long)i,
                          a.x[i], x[i]);
            free_answer(&a);
        }
    free_batch(&p);
}

TEST(worked_examples) {
    enum { ILL = SHOAL_SYSTEM_ILL, CUT = SHOAL_SYSTEM_TRUNCATED };
    /* x underflows once its scale is taken back */
    expect(1, SHOAL_F32, (double[]){ 1e25 }, (double[]){ 1e-21 }, NULL,
           &(const int32_t[3]){ ILL, ILL, ILL });
    /* singular in its own units alone */
    expect(2, SHOAL_F32, (double[]){ 1, 0, 0, 1e-30 }, (double[]){ 1, 1 }, (double[]){ 1, 1e30 },
           &(const int32_t[3]){ CUT, 0, 0 });
    /* 1e-30 is nothing beside 1e30, but is in a row of its own */
    expect(2, SHOAL_F32, (double[]){ 1e30, 0, 0, 1e-30 }, (double[]){ 1e30, 1e-30 },
           (double[]){ 1, 1 }, &(const int32_t[3]){ CUT, 0, 0 });
    expect(2, SHOAL_F64, (double[]){ 1e30, 0, 0, 1e-30 }, (double[]){ 1e30, 1e-30 },
           (double[]){ 1, 1 }, &(const int32_t[3]){ CUT, 0, 0 });
    expect(2, SHOAL_F64, (double[]){ 1e300, 0, 0, 1e-300 }, (double[]){ 1e300, 1e-300 },
           (double[]){ 1, 1 }, &(const int32_t[3]){ CUT, 0, 0 });
    /* definite, and all of its numbers matter */
    expect(2, SHOAL_F32, (double[]){ 1e30, 1, 1, 1e-29 }, (double[]){ 1e30, 0 },
           (double[]){ 10. / 9, -1e30 / 9 }, &(const int32_t[3]){ CUT, 0, 0 });
    expect(2, SHOAL_F64, (double[]){ 1e300, 1, 1, 1e-299 }, (double[]){ 1e300, 0 },
           (double[]){ 10. / 9, -1e300 / 9 }, &(const int32_t[3]){ CUT, 0, 0 });
    /* indefinite; singular in its own units; with a subnormal number that is the only one of its row */
    expect(2, SHOAL_F32, (double[]){ 1e30, 1, 1, 0 }, (double[]){ 2e30, 1 }, (double[]){ 1, 1e30 },
           &(const int32_t[3]){ CUT, 0, WHATEVER });
    expect(2, SHOAL_F32, (double[]){ 0x1p100, 1, 1, 0x1p-100 }, (double[]){ 0x1p100, 1 }, NULL,
           &(const int32_t[3]){ CUT, ANY_OTHER, ANY_OTHER });
    expect(2, SHOAL_F32, (double[]){ 1, 0, 0, 0x1p-140 }, (double[]){ 1, 0x1p-139 },
           (double[]){ 1, 2 }, &(const int32_t[3]){ CUT, 0, 0 });
    /* x is in the range of numbers, x in the units of the largest row is not */
    expect(2, SHOAL_F32, (double[]){ 0x1p100, 0x1p52, 0x1p52, 0x1p5 }, (double[]){ 0, 0x1p29 },
           (double[]){ -0x1p-23, 0x1p25 }, &(const int32_t[3]){ CUT, 0, 0 });
    /* indefinite, with zeros among the pivots of methods that do not look for others */
    expect(4, SHOAL_F64, (double[]){ -1, -1, 0, -1, -1, -1, 1, 1, 0, 1, 1, 0, -1, 1, 0, 1 },
           (double[]){ -1, -1, -1, 1 }, NULL, &(const int32_t[3]){ 0, 0, ANY_OTHER });
}

int main(int argc, char **argv) {
    take_promise_options(&argc, argv);
    int kept = 1;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--singular=", 11) == 0)
            singular_wanted = (int64_t)atof(argv[i] + 11);
        else
            argv[kept++] = argv[i];
    argc = kept;
    if (!open_targets_and_calls(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(worked_examples);
    RUN(no_false_verdict);
    RUN(singular_is_not_ok);
    close_targets();
    return TEST_END();
}
