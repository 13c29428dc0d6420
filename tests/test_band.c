/* SPDX-License-Identifier: Apache-2.0
 *
 * test_band.c - band systems of every shape on every backend: answers, residuals, condition numbers and statuses
 * against Gauss-Jordan elimination in long double, what an answer must not depend on, and what is refused.
 */
#include "targets.h"
#include <complex.h>
#include <float.h>
#include <math.h>

typedef long double _Complex exact;

enum { DIAGONALS = 5, ORACLE = 40 }; /* rows that the oracle takes */

typedef struct batch { /* as shoal_band_opts has it; numbers as doubles, complex ones as pairs */
    shoal_band_opts shape;
    double *a[DIAGONALS], *b;
} batch;

typedef struct answer {
    shoal_status code;
    double *x;
    int32_t *status, *method;
    float *residual, *rcond;
    shoal_band_info info;
} answer;

typedef struct how { /* zero = default */
    int in_place, no_outcome;
} how;

static const struct { int width, is_complex; } shapes[] = { { 2, 0 }, { 1, 1 }, { 2, 1 } };
enum { SHAPES = sizeof shapes / sizeof *shapes };

static int parts_of(const batch *p) { return p->shape.is_complex ? 2 : 1; }
static size_t rows_of(const batch *p) { return (size_t)(p->shape.n * p->shape.count); }
static size_t numbers_of(const batch *p, int rhs) {
    return rows_of(p) * (size_t)(parts_of(p) * (rhs ? p->shape.nrhs : 1));
}
static int64_t place_of(const batch *p, int64_t k, int64_t i) {
    return p->shape.layout == SHOAL_INTERLEAVED ? i * p->shape.count + k : k * p->shape.n + i;
}
static double epsilon_of(const batch *p) {
    return p->shape.type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
}
static const char *name_of(const target *t, const batch *p, const char *kind) {
    static char text[160];
    snprintf(text, sizeof text, "%s %s f%d %s width %d %s n=%lld nrhs=%lld layout %d", t->backend,
             t->isa ? t->isa : "", p->shape.type == SHOAL_F32 ? 32 : 64, kind, p->shape.width,
             p->shape.is_complex ? "complex" : "real", (long long)p->shape.n,
             (long long)p->shape.nrhs, (int)p->shape.layout);
    return text;
}

/* Numbers of the type, so that the oracle solves what the library does. */
static void round_all(const batch *p, double *numbers, size_t count) {
    for (size_t i = 0; i < count && p->shape.type == SHOAL_F32; i++) numbers[i] = (float)numbers[i];
}

static batch new_batch(shoal_band_opts shape) {
    batch p = { .shape = shape };
    if (p.shape.nrhs == 0) p.shape.nrhs = 1;
    for (int e = 0; e < DIAGONALS; e++) p.a[e] = new_array(numbers_of(&p, 0), sizeof(double));
    p.b = new_array(numbers_of(&p, 1), sizeof(double));
    return p;
}

static batch generate(const char *kind, uint64_t seed, shoal_band_opts shape) {
    batch p = new_batch(shape);
    shoal_band_opts o = p.shape;
    o.type = SHOAL_F64;
    const shoal_status status = shoal_band_generate(targets[0].ctx, kind, seed, 0, &o, p.a[0],
                                                    p.a[1], p.a[2], p.a[3], p.a[4], p.b);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(targets[0].ctx));
    for (int e = 0; e < DIAGONALS; e++) round_all(&p, p.a[e], numbers_of(&p, 0));
    round_all(&p, p.b, numbers_of(&p, 1));
    return p;
}

static void free_batch(batch *p) {
    for (int e = 0; e < DIAGONALS; e++) free(p->a[e]);
    free(p->b);
}
static void free_answer(answer *r) {
    free(r->x), free(r->status), free(r->method), free(r->residual), free(r->rcond);
}

static void *to_there(shoal_context *ctx, const batch *p, const double *from, size_t count) {
    void *there = NULL;
    const int single = p->shape.type == SHOAL_F32;
    float *narrow = new_array(count, sizeof *narrow);
    for (size_t i = 0; i < count && single; i++) narrow[i] = (float)from[i];
    const size_t bytes = count * (single ? sizeof(float) : sizeof(double));
    CHECK(shoal_alloc(ctx, bytes, &there) == SHOAL_OK);
    if (bytes) CHECK(shoal_copy(ctx, there, single ? (void *)narrow : (void *)from, bytes) == 0);
    free(narrow);
    return there;
}
static void from_there(shoal_context *ctx, const batch *p, const void *there, double *to,
                       size_t count) {
    if (count == 0) return;
    if (p->shape.type == SHOAL_F64) {
        CHECK(shoal_copy(ctx, to, there, count * sizeof *to) == SHOAL_OK);
        return;
    }
    float *narrow = new_array(count, sizeof *narrow);
    CHECK(shoal_copy(ctx, narrow, there, count * sizeof *narrow) == SHOAL_OK);
    for (size_t i = 0; i < count; i++) to[i] = narrow[i];
    free(narrow);
}

static answer solve_with(shoal_context *ctx, const batch *p, how h) {
    const size_t count = (size_t)p->shape.count;
    answer r = { .x = new_array(numbers_of(p, 1), sizeof(double)),
                 .status = new_array(count, sizeof(int32_t)),
                 .method = new_array(count, sizeof(int32_t)),
                 .residual = new_array(count, sizeof(float)),
                 .rcond = new_array(count, sizeof(float)) };
    void *a[DIAGONALS], *b = to_there(ctx, p, p->b, numbers_of(p, 1));
    for (int e = 0; e < DIAGONALS; e++) a[e] = to_there(ctx, p, p->a[e], numbers_of(p, 0));
    void *x = h.in_place ? b : to_there(ctx, p, p->b, numbers_of(p, 1));
    void *o[4] = { 0 };
    for (int i = 0; i < 4; i++) CHECK(shoal_alloc(ctx, count * 4, &o[i]) == SHOAL_OK);
    const shoal_outcome where = { .status = o[0], .residual = o[1], .rcond = o[2], .method = o[3] };
    shoal_band *plan = NULL;
    r.code = shoal_band_create(ctx, &p->shape, &plan);
    if (r.code == SHOAL_OK && !h.no_outcome) r.code = shoal_band_outcome(plan, &where);
    if (r.code == SHOAL_OK)
        r.code = p->shape.type == SHOAL_F32
                     ? shoal_band_solvef(plan, a[0], a[1], a[2], a[3], a[4], b, x)
                     : shoal_band_solve(plan, a[0], a[1], a[2], a[3], a[4], b, x);
    if (r.code == SHOAL_OK) r.code = shoal_band_last(plan, &r.info);
    CHECK_MSG(r.code == SHOAL_OK, "%s", shoal_message(ctx));
    from_there(ctx, p, x, r.x, numbers_of(p, 1));
    if (count && !h.no_outcome) {
        shoal_copy(ctx, r.status, o[0], count * 4), shoal_copy(ctx, r.residual, o[1], count * 4);
        shoal_copy(ctx, r.rcond, o[2], count * 4), shoal_copy(ctx, r.method, o[3], count * 4);
    }
    shoal_band_free(plan);
    for (int e = 0; e < DIAGONALS; e++) shoal_free(ctx, a[e]);
    for (int i = 0; i < 4; i++) shoal_free(ctx, o[i]);
    if (!h.in_place) shoal_free(ctx, x);
    shoal_free(ctx, b);
    return r;
}

/* ---- the oracle -------------------------------------------------------------------------------- */

static exact number_at(const batch *p, const double *v, int64_t at) {
    return p->shape.is_complex ? (long double)v[2 * at] + I * (long double)v[2 * at + 1]
                               : (exact)(long double)v[at];
}
static long double largest_part(exact v) { return fmaxl(fabsl(creall(v)), fabsl(cimagl(v))); }
static exact entry_at(const batch *p, int64_t k, int64_t i, int64_t column) {
    const int64_t e = column - i + p->shape.width;
    if (column < 0 || column >= p->shape.n || e < 0 || e > 2 * p->shape.width) return 0;
    return number_at(p, p->a[e + 2 - p->shape.width], place_of(p, k, i));
}
/* 2^-e of the row's largest entry. */
static long double scale_at(const batch *p, int64_t k, int64_t i) {
    long double most = 0;
    for (int64_t c = i - 2; c <= i + 2; c++) most = fmaxl(largest_part(entry_at(p, k, i, c)), most);
    return most > 0 ? ldexpl(1, -ilogbl(most)) : 1;
}

static long double residual_of(const batch *p, const answer *r, int64_t k, int64_t j) {
    const int64_t n = p->shape.n, nrhs = p->shape.nrhs;
    long double worst = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        exact rest = number_at(p, p->b, place_of(p, k, i) * nrhs + j);
        for (int64_t c = i - 2; c <= i + 2; c++)
            if (c >= 0 && c < n)
                rest -= entry_at(p, k, i, c) * number_at(p, r->x, place_of(p, k, c) * nrhs + j);
        worst = fmaxl(largest_part(rest) * scale_at(p, k, i), worst);
        most = fmaxl(largest_part(number_at(p, r->x, place_of(p, k, i) * nrhs + j)), most);
    }
    return worst == 0 ? 0 : worst / most;
}

/* kappa of system k with scaled rows in the maximum norm, infinite if A is singular; x of right-hand side 0. */
static long double solve_exactly(const batch *p, int64_t k, exact *x) {
    static exact m[ORACLE][2 * ORACLE + 1];
    const int64_t n = p->shape.n;
    long double norm = 0, inverse = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double scale = scale_at(p, k, i);
        long double sum = 0;
        for (int64_t c = 0; c < n; c++) {
            m[i][c] = entry_at(p, k, i, c) * scale, m[i][n + c] = i == c;
            sum += cabsl(m[i][c]);
        }
        m[i][2 * n] = number_at(p, p->b, place_of(p, k, i) * p->shape.nrhs) * scale;
        norm = fmaxl(sum, norm);
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t top = i;
        for (int64_t r = i + 1; r < n; r++)
            if (cabsl(m[r][i]) > cabsl(m[top][i])) top = r;
        if (m[top][i] == 0) return INFINITY;
        for (int64_t c = 0; c <= 2 * n; c++) {
            const exact kept = m[i][c];
            m[i][c] = m[top][c], m[top][c] = kept;
        }
        for (int64_t r = 0; r < n; r++) {
            const exact by = r == i ? 0 : m[r][i] / m[i][i];
            for (int64_t c = i; c <= 2 * n && r != i; c++) m[r][c] -= by * m[i][c];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        long double sum = 0;
        for (int64_t c = 0; c < n; c++) sum += cabsl(m[i][n + c] / m[i][i]);
        x[i] = m[i][2 * n] / m[i][i];
        inverse = fmaxl(sum, inverse);
    }
    return norm * inverse;
}

static int is_finite_system(const batch *p, int64_t k) {
    int finite = 1;
    for (int64_t i = 0; i < p->shape.n; i++) {
        for (int64_t c = i - 2; c <= i + 2; c++)
            finite &= isfinite(largest_part(entry_at(p, k, i, c))) != 0;
        for (int64_t j = 0; j < p->shape.nrhs; j++)
            finite &=
                isfinite(largest_part(number_at(p, p->b, place_of(p, k, i) * p->shape.nrhs + j))) !=
                0;
    }
    return finite;
}

static long double smallest_ratio = 1,
                   largest_ratio = 1; /* of estimated condition numbers to kappa */

static void check_system(const batch *p, const answer *r, int64_t k, const char *name) {
    exact x[ORACLE];
    const double eps = epsilon_of(p), limit = 1 / (32 * eps);
    const int64_t n = p->shape.n, nrhs = p->shape.nrhs;
    const int32_t status = r->status[k];
    if (!is_finite_system(p, k)) {
        CHECK_MSG(status == SHOAL_SYSTEM_NONFINITE, "%s: system %d: %d", name, (int)k, status);
        return;
    }
    const long double kappa = solve_exactly(p, k, x);
    if (kappa < limit / 30)
        CHECK_MSG(status == SHOAL_SYSTEM_OK, "%s: system %d, kappa %.2Le: status %d, residual %g",
                  name, (int)k, kappa, status, r->residual[k]);
    if (kappa > 30 * limit)
        CHECK_MSG(status != SHOAL_SYSTEM_OK, "%s: system %d, kappa %.2Le: status 0", name, (int)k,
                  kappa);
    if (kappa < limit && n > 0 && r->rcond[k] > 0) {
        const long double ratio = 1 / (r->rcond[k] * kappa);
        smallest_ratio = fminl(ratio, smallest_ratio);
        largest_ratio = fmaxl(kappa > 6 ? ratio : 1, largest_ratio);
        CHECK_MSG(ratio < 30 && ratio > 1.0L / 30, "%s: system %d: kappa %.2Le, estimate %.2e",
                  name, (int)k, kappa, 1 / r->rcond[k]);
    }
    if (status < 0) return;
    long double residual = 0, error = 0, most = 0;
    for (int64_t j = 0; j < nrhs; j++) residual = fmaxl(residual_of(p, r, k, j), residual);
    CHECK_MSG(fabsl(r->residual[k] - residual) <= 0.5L * residual + 16 * eps,
              "%s: system %d: residual %g, is %Lg", name, (int)k, r->residual[k], residual);
    for (int64_t i = 0; i < n; i++) {
        error = fmaxl(cabsl(x[i] - number_at(p, r->x, place_of(p, k, i) * nrhs)), error);
        most = fmaxl(cabsl(x[i]), most);
    }
    if (kappa < limit) /* the residual's bound: |x - exact| <= |A^-1| sqrt(2) r |x| */
        CHECK_MSG(error <= (2 * residual + 16 * eps) * kappa * 2 * most,
                  "%s: system %d: error %Lg of %Lg, kappa %.2Le", name, (int)k, error, most, kappa);
}

static void check_batch(const batch *p, const char *kind) {
    for (int t = 0; t < target_count; t++) {
        answer r = solve_with(targets[t].ctx, p, (how){ 0 });
        int64_t failed = 0, warned = 0;
        for (int64_t k = 0; k < p->shape.count; k++) {
            check_system(p, &r, k, name_of(&targets[t], p, kind));
            failed += r.status[k]<0, warned += r.status[k]> 0;
            CHECK(r.method[k] == 0);
        }
        CHECK(r.info.failed == failed && r.info.warned == warned);
        free_answer(&r);
    }
}

/* ---- tests ------------------------------------------------------------------------------------- */

static const int64_t sizes[] = { 0, 1, 2, 3, 4, 5, 8, 17, 33, 40 };
enum { SIZES = sizeof sizes / sizeof *sizes };

TEST(kinds_at_small_sizes) {
    for (int kind = 0; shoal_band_kind(kind); kind++)
        for (int s = 0; s < SHAPES; s++)
            for (int j = 0; j < SIZES; j++) {
                if (small && (kind + s + j) % 3) continue;
                batch p = generate(shoal_band_kind(kind), 7,
                                   (shoal_band_opts){ .n = sizes[j],
                                                      .count = 21,
                                                      .nrhs = j % 3 ? 1 : 2,
                                                      .width = shapes[s].width,
                                                      .is_complex = shapes[s].is_complex,
                                                      .type = (kind + j) % 2,
                                                      .layout = (s + j) % 2 });
                check_batch(&p, shoal_band_kind(kind));
                free_batch(&p);
            }
    printf("note  estimated condition number / kappa: %.2Lg to %.2Lg\n", smallest_ratio,
           largest_ratio);
}

/* Products of two tridiagonal Toeplitz matrices near a singular one, or, tridiagonal, one of them: kappa grows from
 * system to system beyond the limit of the type, in every kind of rows. */
TEST(no_false_ok_near_singular_matrices) {
    for (int s = 0; s < SHAPES; s++)
        for (int type = 0; type < 2; type++) {
            const int width = shapes[s].width, is_complex = shapes[s].is_complex;
            for (int64_t n = 5; n <= 37; n += 16) {
                batch p = generate("random", 3,
                                   (shoal_band_opts){ .n = n,
                                                      .count = 48,
                                                      .width = width,
                                                      .is_complex = is_complex,
                                                      .type = type });
                const double zero = 2 * cos(M_PI * (double)(1 + n / 3) / (double)(n + 1));
                for (int64_t k = 0; k < p.shape.count; k++)
                    for (int64_t i = 0; i < n; i++)
                        for (int e = 2 - width; e <= 2 + width; e++) {
                            const int64_t column = i + e - 2;
                            const double d = zero * (1 + ldexp(1, -(int)k)), turn = (e - 2) * 0.7;
                            const double inner = (i > 0) + (i + 1 < n);
                            double v = e == 2 ? (width == 1 ? d : d * d + inner) : 1;
                            if (width == 2 && (e == 1 || e == 3)) v = 2 * d;
                            v *= k % 3 == 1 && i % 2 ? 0x1p20 : 1;
                            const int64_t at = place_of(&p, k, i);
                            if (column < 0 || column >= n) continue;
                            if (is_complex) {
                                p.a[e][2 * at] = v * cos(turn);
                                p.a[e][2 * at + 1] = v * sin(turn);
                            } else {
                                p.a[e][at] = v;
                            }
                        }
                for (int e = 0; e < DIAGONALS; e++) round_all(&p, p.a[e], numbers_of(&p, 0));
                check_batch(&p, "near singular");
                free_batch(&p);
            }
        }
    printf("note  estimated condition number / kappa: %.2Lg to %.2Lg\n", smallest_ratio,
           largest_ratio);
}

/* Columns of different scale, small upper diagonals, one small pivot, small diagonals: of system k by 2^-k or so. */
static double factor_of(int form, int64_t k, int64_t i, int e) {
    const int64_t column = i + e - 2;
    switch (form) {
    case 0: return ldexp(1, (int)((column * 7919 + k * 31) % (2 + k)));
    case 1: return e > 2 ? ldexp(1, -(int)k) : 1;
    case 2: return e == 2 && i == 4 ? ldexp(1, -2 * (int)k) : 1;
    default: return e < 2 ? 1 : e == 2 ? ldexp(1, -(int)k) : 0.25;
    }
}

TEST(no_false_verdict_on_graded_matrices) {
    for (int form = 0; form < 4; form++)
        for (int s = 0; s < SHAPES; s++)
            for (int seed = 1; seed <= (small ? 2 : 8); seed++) {
                batch p = generate(form == 2 ? "dominant" : "random", (uint64_t)seed,
                                   (shoal_band_opts){ .n = 6 + 17 * seed % 34,
                                                      .count = 21,
                                                      .width = shapes[s].width,
                                                      .is_complex = shapes[s].is_complex,
                                                      .type = seed % 2 });
                const int parts = parts_of(&p);
                for (int64_t r = 0; r < p.shape.n * p.shape.count; r++)
                    for (int e = 0; e < DIAGONALS; e++)
                        for (int c = 0; c < parts; c++)
                            p.a[e][r * parts + c] *=
                                factor_of(form, r / p.shape.n, r % p.shape.n, e);
                for (int e = 0; e < DIAGONALS; e++) round_all(&p, p.a[e], numbers_of(&p, 0));
                check_batch(&p, "graded");
                free_batch(&p);
            }
    printf("note  estimated condition number / kappa: %.2Lg to %.2Lg\n", smallest_ratio,
           largest_ratio);
}

static int same_bits(const double *u, const double *v, size_t count) {
    return memcmp(u, v, count * sizeof *u) == 0;
}

TEST(an_answer_depends_on_its_system_alone) {
    for (int s = 0; s < SHAPES; s++)
        for (int t = 0; t < target_count; t++)
            for (int64_t n = 1; n < 40; n += 19) {
                batch p = generate("random", 11,
                                   (shoal_band_opts){ .n = n,
                                                      .count = 19,
                                                      .width = shapes[s].width,
                                                      .is_complex = shapes[s].is_complex,
                                                      .type = s % 2 });
                const size_t each = (size_t)(n * parts_of(&p));
                answer all = solve_with(targets[t].ctx, &p, (how){ 0 });
                answer bare = solve_with(targets[t].ctx, &p, (how){ .no_outcome = 1 });
                answer in_place = solve_with(targets[t].ctx, &p, (how){ .in_place = 1 });
                CHECK(same_bits(all.x, bare.x, each * 19) && bare.info.max_residual == -1);
                CHECK(same_bits(all.x, in_place.x, each * 19));
                for (int64_t k = 0; k < 19; k += 6) {
                    batch one = p;
                    one.shape.count = 1;
                    for (int e = 0; e < DIAGONALS; e++) one.a[e] += (size_t)k * each;
                    one.b += (size_t)k * each;
                    answer r = solve_with(targets[t].ctx, &one, (how){ 0 });
                    CHECK_MSG(same_bits(r.x, all.x + (size_t)k * each, each) &&
                                  r.status[0] == all.status[k] && r.rcond[0] == all.rcond[k],
                              "%s", name_of(&targets[t], &p, "random"));
                    free_answer(&r);
                }
                free_answer(&all), free_answer(&bare), free_answer(&in_place);
                free_batch(&p);
            }
}

/* A bad number anywhere, or a zero column: that system fails, its b stays if x is b; the others have the bits they had.
 * Entries outside the matrix are NaN all the time. */
TEST(failures_disturb_nobody) {
    for (int s = 0; s < SHAPES; s++)
        for (int t = 0; t < target_count; t++) {
            batch p = generate("dominant", 5,
                               (shoal_band_opts){ .n = 9,
                                                  .count = 5,
                                                  .width = shapes[s].width,
                                                  .is_complex = shapes[s].is_complex,
                                                  .type = (s + 1) % 2 });
            const int parts = parts_of(&p);
            const size_t each = (size_t)(9 * parts);
            answer good = solve_with(targets[t].ctx, &p, (how){ 0 });
            for (int e = 2 - shapes[s].width; e <= 4; e++) { /* past the diagonals: b, zeros */
                const int is_b = e == 3 + shapes[s].width, is_zero = e > 3 + shapes[s].width;
                if (e > 2 + shapes[s].width + 2) continue;
                batch bad = p;
                double *array = is_b ? p.b : p.a[is_zero ? 2 : e];
                double kept[DIAGONALS][2];
                const int64_t at = place_of(&p, 2, 4);
                for (int d = 0; d < DIAGONALS; d++)
                    for (int c = 0; c < parts; c++) {
                        kept[d][c] = p.a[d][at * parts + c];
                        if (is_zero) p.a[d][at * parts + c] = 0;
                    }
                const double before = array[at * parts + parts - 1];
                if (!is_zero) array[at * parts + parts - 1] = e % 2 ? NAN : INFINITY;
                for (int in_place = 0; in_place < 2; in_place++) {
                    answer r = solve_with(targets[t].ctx, &bad, (how){ .in_place = in_place });
                    const int32_t expected =
                        is_zero ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_NONFINITE;
                    for (int64_t k = 0; k < 5; k++) {
                        CHECK_MSG(r.status[k] == (k == 2 ? expected : 0), "%s: %d: status %d",
                                  name_of(&targets[t], &p, "bad"), e, r.status[k]);
                        const double *x = r.x + (size_t)k * each;
                        if (k != 2) CHECK(same_bits(x, good.x + (size_t)k * each, each));
                        if (k == 2 && in_place && !is_b) CHECK(same_bits(x, p.b + 2 * each, each));
                        for (size_t i = 0; i < each && k == 2 && !in_place; i++) CHECK(isnan(x[i]));
                    }
                    CHECK(isnan(r.residual[2]) && r.info.failed == 1);
                    free_answer(&r);
                }
                array[at * parts + parts - 1] = before;
                for (int d = 0; d < DIAGONALS; d++)
                    for (int c = 0; c < parts; c++) p.a[d][at * parts + c] = kept[d][c];
            }
            free_answer(&good);
            free_batch(&p);
        }
}

/* Rows times powers of two, b with them, change no bit of x. */
TEST(rows_of_any_scale) {
    for (int s = 0; s < SHAPES; s++)
        for (int type = 0; type < 2; type++) {
            batch p = generate("random", 23,
                               (shoal_band_opts){ .n = 30,
                                                  .count = 9,
                                                  .width = shapes[s].width,
                                                  .is_complex = shapes[s].is_complex,
                                                  .type = type });
            batch q = generate("random", 23, p.shape);
            const int parts = parts_of(&p), most = type ? 60 : 480;
            for (int64_t r = 0; r < 30 * 9; r++) {
                const double by = ldexp(1, (int)(r * 37 % (2 * most)) - most);
                for (int c = 0; c < parts; c++) {
                    for (int e = 0; e < DIAGONALS; e++) q.a[e][r * parts + c] *= by;
                    q.b[r * parts + c] *= by;
                }
            }
            for (int t = 0; t < target_count; t++) {
                answer plain = solve_with(targets[t].ctx, &p, (how){ 0 });
                answer scaled = solve_with(targets[t].ctx, &q, (how){ 0 });
                CHECK_MSG(same_bits(plain.x, scaled.x, numbers_of(&p, 1)), "%s",
                          name_of(&targets[t], &p, "scaled"));
                for (int k = 0; k < 9; k++) CHECK(plain.status[k] == scaled.status[k]);
                free_answer(&plain), free_answer(&scaled);
            }
            free_batch(&p), free_batch(&q);
        }
}

TEST(long_systems) {
    for (int s = 0; s < SHAPES; s++)
        for (int t = 0; t < target_count; t++) {
            batch p = generate(s % 2 ? "random" : "zerodiag", 2,
                               (shoal_band_opts){ .n = small ? 300 : 5000,
                                                  .count = 2,
                                                  .nrhs = 2,
                                                  .width = shapes[s].width,
                                                  .is_complex = shapes[s].is_complex });
            answer r = solve_with(targets[t].ctx, &p, (how){ .in_place = 1 });
            for (int64_t k = 0; k < 2; k++) {
                CHECK_MSG(r.status[k] >= 0, "%s", name_of(&targets[t], &p, "long"));
                for (int64_t j = 0; j < 2 && r.status[k] == 0; j++)
                    CHECK(residual_of(&p, &r, k, j) <= 100 * DBL_EPSILON);
            }
            free_answer(&r);
            free_batch(&p);
        }
}

TEST(what_is_refused) {
    double a[2];
    for (int t = 0; t < target_count; t++) {
        shoal_context *ctx = targets[t].ctx;
        const struct {
            shoal_band_opts o;
            shoal_status status;
            const char *word;
        } cases[] = {
            { { .n = -1, .count = 1, .nrhs = 1 }, SHOAL_E_ARG, "n is -1" },
            { { .n = 1, .count = 1 }, SHOAL_E_ARG, "nrhs is 0" },
            { { .n = 1, .count = 1, .nrhs = 1, .width = 3 }, SHOAL_E_ARG, "width is 3" },
            { { .n = 1, .count = 1, .nrhs = 1, .width = 1 }, SHOAL_E_ARG, "shoal_tridiag_solve" },
            { { .n = 1, .count = 1, .nrhs = 1, .is_complex = 2 }, SHOAL_E_ARG, "is_complex is 2" },
            { { .n = 1, .count = 1, .nrhs = 1, .tol = NAN }, SHOAL_E_ARG, "tol" },
            { { .n = 1, .count = 1, .nrhs = 1, .cond = -1 }, SHOAL_E_ARG, "cond" },
            { { .n = 1, .count = 1, .nrhs = 1, .method = "qr" }, SHOAL_E_METHOD, "qr" },
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            shoal_band *plan = (shoal_band *)a;
            CHECK(shoal_band_create(ctx, &cases[i].o, &plan) == cases[i].status && !plan);
            CHECK_MSG(strstr(shoal_message(ctx), cases[i].word), "%s", shoal_message(ctx));
        }
        shoal_band *plan = NULL;
        const shoal_band_opts o = { .n = 1, .count = 1, .nrhs = 1, .is_complex = 1, .width = 1 };
        CHECK(shoal_band_create(ctx, &o, &plan) == SHOAL_OK);
        CHECK(shoal_band_solve(plan, NULL, NULL, a, a, NULL, a, a) == SHOAL_E_ARG);
        CHECK_MSG(strstr(shoal_message(ctx), "dl"), "%s", shoal_message(ctx));
        CHECK(shoal_band_solvef(plan, NULL, NULL, NULL, NULL, NULL, NULL, NULL) == SHOAL_E_TYPE);
        int32_t rank;
        CHECK(shoal_band_outcome(plan, &(shoal_outcome){ .rank = &rank }) == SHOAL_E_ARG);
        shoal_band_free(plan);
        CHECK(shoal_band_generate(ctx, "smooth", 1, 0, &o, a, a, a, a, a, a) == SHOAL_E_ARG);
        CHECK(shoal_band_generate(ctx, "random", 1, -1, &o, a, a, a, a, a, a) == SHOAL_E_ARG);
        CHECK(shoal_band_generate(ctx, "random", 1, 0, &o, NULL, NULL, a, a, a, a) == SHOAL_E_ARG);
        CHECK(shoal_band_generatef(ctx, "random", 1, 0, &o, NULL, NULL, NULL, NULL, NULL, NULL) ==
              SHOAL_E_TYPE);
    }
}

int main(int argc, char **argv) {
    if (!open_targets(&argc, argv)) return 77;
    TEST_BEGIN(argc, argv);
    RUN(kinds_at_small_sizes);
    RUN(no_false_ok_near_singular_matrices);
    RUN(no_false_verdict_on_graded_matrices);
    RUN(an_answer_depends_on_its_system_alone);
    RUN(failures_disturb_nobody);
    RUN(rows_of_any_scale);
    RUN(long_systems);
    RUN(what_is_refused);
    close_targets();
    return TEST_END();
}
