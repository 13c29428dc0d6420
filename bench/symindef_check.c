/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_check.c - is a factorization P A Pt = M D Mt right? Shares no line with the library.
 *
 * The product of the factors would cost n^3 operations. Instead random vectors v of 1 and -1 go through
 * both sides, n^2 operations each, in twice the precision of double (numbers.h), with what is carried from
 * product to product kept in two parts too:
 *
 *     |P A Pt v - M (D (Mt v))| / (|A| |v|) <= 10 n units of roundoff,   maximum norms.
 *
 * It is never more than the relative error of the product: a row of the error shows as the sum of
 * its entries with random signs, which one vector may miss and VECTORS of them hardly do. It has
 * the size of the root of the sum of their squares; one wrong entry shows in full. G J Gt likewise.
 *
 * Beside that: the permutation is one, M is bounded where the method bounds it, the library's own
 * inertia and largest multiplier are those of the factors, and the other triangle is as it was.
 *
 * Mapping: lines of the triangle, or strips of STRIP entries across all lines where sums run across
 * them, are dealt to OpenMP threads. Nobody writes another's sums, so that the result is the same for
 * any number of threads.
 */
#include "bench/symindef.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/symindef_errors.h"

enum { STRIP = 256, G_STRIP = 64, VECTORS = 3 };

typedef struct vectors { /* VECTORS vectors, entry by entry, in two parts */
    double *high, *low;
} vectors;

/* n entries of 0. False if there is no memory; to be freed in either case. */
static bool vectors_make(vectors *p, int64_t n) {
    const size_t count = (size_t)(n > 0 ? n : 1) * VECTORS;
    p->high = calloc(count, sizeof(double));
    p->low = calloc(count, sizeof(double));
    return p->high && p->low;
}

static void vectors_free(vectors *p) {
    free(p->high);
    free(p->low);
}

/* 1 or -1: entry i of vector v. */
static double sign_of(int64_t i, int v) {
    const uint64_t x = (uint64_t)i * VECTORS + (uint64_t)v + 0x9E3779B97F4A7C15u;
    return bench_hash(x) >> 63 ? -1 : 1;
}

/* The vectors: v, whose second part is 0 already, and u = Pt v. */
static void vectors_begin(const bench_given *a, const vectors *v, double *u) {
    for (int64_t i = 0; i < a->n; i++)
        for (int c = 0; c < VECTORS; c++)
            v->high[i * VECTORS + c] = u[a->permutation[i] * VECTORS + c] = sign_of(i, c);
}

/* |P A Pt v - y| / |A|, |v| being 1; infinite where a number is not finite. y is spoilt. */
static double vectors_compare(const bench_given *a, const vectors *y, const double *u) {
    const int64_t n = a->n;
    double error = 0, norm = 0;
#pragma omp parallel for num_threads(a->threads) schedule(static, 16) reduction(max : error, norm)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = a->permutation[i];
        double *high = y->high + i * VECTORS, *low = y->low + i * VECTORS, size = 0;
        for (int64_t j = 0; j < n; j++) {
            const double entry = bench_number(a->type, a->whole, row * n + j);
            size += fabs(entry);
            for (int v = 0; v < VECTORS; v++)
                subtract_product(&high[v], &low[v], entry, u[j * VECTORS + v]);
        }
        for (int v = 0; v < VECTORS; v++) {
            const double left = fabs(high[v] + low[v]);
            if (!isfinite(left))
                error = INFINITY;
            else if (left > error)
                error = left;
        }
        if (size > norm) norm = size;
    }
    return norm > 0 ? error / norm : error;
}

/* out[to] += m in[from], all vectors */
static inline void vectors_add(const vectors *out, int64_t to, double m, const vectors *in,
                               int64_t from) {
    for (int v = 0; v < VECTORS; v++) {
        const double high = in->high[from * VECTORS + v];
        subtract_product(&out->high[to * VECTORS + v], &out->low[to * VECTORS + v], -m, high);
        out->low[to * VECTORS + v] += m * in->low[from * VECTORS + v];
    }
}

typedef struct parts { /* of a factorization */
    double *d, *e;     /* D's diagonal, and what is below it */
    vectors v, t, y;   /* v; Mt v and D Mt v; M D Mt v       */
    double *u;         /* Pt v                               */
    double multiplier; /* max |M|, NaN if an entry is        */
    int64_t inertia[3];
} parts;

static void parts_free(parts *p) {
    free(p->d);
    free(p->e);
    free(p->u);
    vectors_free(&p->v);
    vectors_free(&p->t);
    vectors_free(&p->y);
}

static bool parts_make(parts *p, int64_t n) {
    const size_t count = (size_t)(n > 0 ? n : 1);
    *p = (parts){ .d = calloc(count, sizeof(double)),
                  .e = calloc(count, sizeof(double)),
                  .u = calloc(count * VECTORS, sizeof(double)) };
    bool made = vectors_make(&p->v, n);
    made = vectors_make(&p->t, n) && made; /* all are freed */
    made = vectors_make(&p->y, n) && made;
    return made && p->d && p->e && p->u;
}

/* Row k and the next are a 2x2 pivot. */
static bool is_block(const bench_factors *f, int64_t k) {
    return k + 1 < f->n && f->interchanges[k + 1] < 0;
}

/* D out of the triangle; what is below the diagonal of a block is no entry of M: it becomes 0. */
static void take_blocks(const bench_factors *f, parts *p) {
    for (int64_t k = 0; k < f->n; k++) {
        const bool block = is_block(f, k);
        for (int64_t i = k; i <= k + block; i++)
            p->d[i] = bench_number(f->type, f->numbers, bench_triangle_at(&f->triangle, i, i));
        if (block) {
            const int64_t at = bench_triangle_at(&f->triangle, k + 1, k);
            p->e[k] = bench_number(f->type, f->numbers, at);
            p->inertia[0]++, p->inertia[1]++;
            bench_put_number(f->type, f->numbers, at, 0);
            k++;
        } else {
            p->inertia[p->d[k] > 0 ? 0 : p->d[k] < 0 ? 1 : 2]++;
        }
    }
}

/* Entries x0 .. x1 - 1 of a line are those of M off the diagonal. */
static void line_of(const bench_triangle *t, int64_t line, int64_t *x0, int64_t *x1) {
    *x0 = t->upper ? line + 1 : 0;
    *x1 = t->upper ? t->n : line;
}

static int64_t line_start(const bench_triangle *t, int64_t line) { /* plus x */
    return t->upper ? bench_triangle_at(t, 0, line) : bench_triangle_at(t, line, 0);
}

/* max |M|, and whether the other triangle is still NaN. */
static bool scan(const bench_factors *f, parts *p) {
    const bench_triangle *t = &f->triangle;
    const int64_t n = f->n;
    double largest = 0;
    int64_t not_finite = 0, stray = 0;
#pragma omp parallel for num_threads(f->threads) schedule(static, 16)                              \
    reduction(max : largest) reduction(+ : not_finite, stray)
    for (int64_t line = 0; line < n; line++) {
        int64_t x0, x1;
        line_of(t, line, &x0, &x1);
        for (int64_t x = x0; x < x1; x++) {
            const double size = fabs(bench_number(f->type, f->numbers, line_start(t, line) + x));
            if (size > largest) largest = size;
            not_finite += !isfinite(size);
        }
        if (t->packed || !f->info) continue;
        for (int64_t x = 0; x < n; x++)
            if (x != line && (x < x0 || x >= x1))
                stray += !isnan(bench_number(f->type, f->numbers, line * n + x));
    }
    p->multiplier = not_finite ? NAN : largest;
    return stray == 0;
}

/* out += M in, or Mt in, without the diagonal: sums along the lines, or across them. */
static void multiply(const bench_factors *f, bool transposed, const vectors *in,
                     const vectors *out) {
    const bench_triangle *t = &f->triangle;
    const int64_t n = f->n, strips = (n + STRIP - 1) / STRIP;
    if (transposed == t->upper) {
#pragma omp parallel for num_threads(f->threads) schedule(static, 16)
        for (int64_t line = 0; line < n; line++) {
            int64_t x0, x1;
            line_of(t, line, &x0, &x1);
            const int64_t start = line_start(t, line);
            for (int64_t x = x0; x < x1; x++)
                vectors_add(out, line, bench_number(f->type, f->numbers, start + x), in, x);
        }
        return;
    }
#pragma omp parallel for num_threads(f->threads) schedule(dynamic, 1)
    for (int64_t strip = 0; strip < strips; strip++) {
        const int64_t first = strip * STRIP, end = first + STRIP;
        for (int64_t line = t->upper ? 0 : first; line < (t->upper && end < n ? end : n); line++) {
            int64_t x0, x1;
            line_of(t, line, &x0, &x1);
            const int64_t start = line_start(t, line);
            if (x0 < first) x0 = first;
            if (x1 > end) x1 = end;
            for (int64_t x = x0; x < x1; x++)
                vectors_add(out, x, bench_number(f->type, f->numbers, start + x), in, line);
        }
    }
}

static void copy_pairs(const vectors *to, const vectors *from, int64_t n) {
    memcpy(to->high, from->high, (size_t)n * VECTORS * sizeof(double));
    memcpy(to->low, from->low, (size_t)n * VECTORS * sizeof(double));
}

/* v becomes D t. */
static void multiply_blocks(const bench_factors *f, const parts *p) {
    memset(p->v.high, 0, (size_t)f->n * VECTORS * sizeof(double));
    memset(p->v.low, 0, (size_t)f->n * VECTORS * sizeof(double));
    for (int64_t k = 0; k < f->n; k++) {
        vectors_add(&p->v, k, p->d[k], &p->t, k);
        if (!is_block(f, k)) continue;
        vectors_add(&p->v, k, p->e[k], &p->t, k + 1);
        vectors_add(&p->v, k + 1, p->e[k], &p->t, k);
        k++;
        vectors_add(&p->v, k, p->d[k], &p->t, k);
    }
}

static double relative_error(const bench_factors *f, const parts *p) {
    const bench_given a = { f->type, f->n, f->whole, f->permutation, f->threads };
    vectors_begin(&a, &p->v, p->u);
    copy_pairs(&p->t, &p->v, f->n);
    multiply(f, true, &p->v, &p->t); /* t = Mt v */
    multiply_blocks(f, p);           /* v = D t  */
    copy_pairs(&p->y, &p->v, f->n);
    multiply(f, false, &p->v, &p->y); /* y = M v  */
    return vectors_compare(&a, &p->y, p->u);
}

static bool is_permutation(const bench_factors *f, const parts *p) {
    double *seen = p->u; /* still zero */
    for (int64_t i = 0; i < f->n; i++) {
        const int64_t to = f->permutation[i];
        if (to < 0 || to >= f->n || seen[to] != 0) return false;
        seen[to] = 1;
    }
    return true;
}

/* What is wrong about the library's own words; NULL: nothing. */
static const char *contradiction(const bench_factors *f, const parts *p) {
    const shoal_symindef_info *info = f->info;
    if (!info) return NULL;
    if (info->eliminated != f->n) return "not all rows are eliminated";
    for (int i = 0; i < 3; i++)
        if (info->inertia[i] != p->inertia[i]) return "the inertia is another";
    return info->max_multiplier == p->multiplier ? NULL : "the largest multiplier is another";
}

shoal_status bench_symindef_check(const bench_factors *f, bench_check *check) {
    const double unit = bench_epsilon(f->type);
    const char *wrong = NULL;
    *check = (bench_check){ .systems = VECTORS };
    check->tolerance = 10 * unit * (double)(f->n > 0 ? f->n : 1);
    if (f->info && f->info->status < 0) {
        check->failed = 1;
        snprintf(check->why, sizeof check->why, "status %d: %s", (int)f->info->status,
                 f->info->status == SHOAL_SYSTEM_NONFINITE ? "A is not finite" : "overflow");
        return SHOAL_OK;
    }
    parts p;
    const bool made = parts_make(&p, f->n);
    if (made && !is_permutation(f, &p)) {
        wrong = "the order of the rows is no permutation";
        check->max_residual = INFINITY;
    } else if (made) {
        take_blocks(f, &p);
        const bool untouched = scan(f, &p);
        check->max_residual = f->stop && f->stop() ? NAN : relative_error(f, &p);
        if (!(check->max_residual <= check->tolerance)) wrong = "the error is too large";
        if (!wrong && !(p.multiplier <= f->bound * (1 + 64 * unit))) wrong = "M is not bounded";
        if (!wrong && !untouched) wrong = "the other triangle has changed";
        if (!wrong) wrong = contradiction(f, &p);
    }
    check->wrong = wrong != NULL;
    check->passed = made && !wrong;
    if (wrong)
        snprintf(check->why, sizeof check->why, "%s (error %.2g, max |M| %.4g)", wrong,
                 check->max_residual, p.multiplier);
    parts_free(&p);
    return made ? SHOAL_OK : SHOAL_E_NOMEM;
}

/* ---- G J Gt --------------------------------------------------------------------------------- */

/* t = J (Gt v), y = G t */
static void multiply_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns, const vectors *v, const vectors *t, const vectors *y) {
    const int64_t strips = (columns + G_STRIP - 1) / G_STRIP;
#pragma omp parallel for num_threads(a->threads) schedule(static, 1)
    for (int64_t strip = 0; strip < strips; strip++) {
        const int64_t first = strip * G_STRIP;
        const int64_t end = first + G_STRIP < columns ? first + G_STRIP : columns;
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t c = first; c < end; c++)
                vectors_add(t, c, signs[c] * bench_number(a->type, G, i * columns + c), v, i);
    }
#pragma omp parallel for num_threads(a->threads) schedule(static, 16)
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t c = 0; c < columns; c++)
            vectors_add(y, i, bench_number(a->type, G, i * columns + c), t, c);
}

double bench_vectors_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns) {
    vectors v, t, y;
    double *u = calloc((size_t)a->n * VECTORS + 1, sizeof *u), error = NAN;
    bool made = vectors_make(&v, a->n);
    made = vectors_make(&t, columns) && made; /* all are freed */
    made = vectors_make(&y, a->n) && made;
    if (made && u) {
        vectors_begin(a, &v, u);
        multiply_gjgt(a, G, signs, columns, &v, &t, &y);
        error = vectors_compare(a, &y, u);
    }
    vectors_free(&v);
    vectors_free(&t);
    vectors_free(&y);
    free(u);
    return error;
}
