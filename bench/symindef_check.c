/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_check.c - is a factorization P A Pt = M D Mt right? Shares no line with the library.
 *
 * The product of the factors would cost n^3 operations. Instead random vectors v of 1 and -1 go through
 * both sides (symindef_errors.c), n^2 operations each, in twice the precision of double:
 *
 *     |P A Pt v - M (D (Mt v))| / (|A| |v|) <= 10 n units of roundoff,   maximum norms.
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

enum { STRIP = 256 };

typedef struct parts {     /* of a factorization */
    double *d, *e;         /* D's diagonal, and what is below it */
    bench_vectors v, t, y; /* v; Mt v and D Mt v; M D Mt v       */
    double *u;             /* Pt v                               */
    double multiplier;     /* max |M|, NaN if an entry is        */
    int64_t inertia[3];
} parts;

static void parts_free(parts *p) {
    free(p->d);
    free(p->e);
    free(p->u);
    bench_vectors_free(&p->v);
    bench_vectors_free(&p->t);
    bench_vectors_free(&p->y);
}

static bool parts_make(parts *p, int64_t n) {
    const size_t count = (size_t)(n > 0 ? n : 1);
    *p = (parts){ .d = calloc(count, sizeof(double)),
                  .e = calloc(count, sizeof(double)),
                  .u = calloc(count * BENCH_VECTORS, sizeof(double)) };
    bool made = bench_vectors_make(&p->v, n);
    made = bench_vectors_make(&p->t, n) && made; /* all are freed */
    made = bench_vectors_make(&p->y, n) && made;
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
    double most = 0;
    int64_t not_finite = 0, stray = 0;
#pragma omp parallel for num_threads(f->threads) schedule(static, 16)                              \
    reduction(max : most) reduction(+ : not_finite, stray)
    for (int64_t line = 0; line < n; line++) {
        int64_t x0, x1;
        line_of(t, line, &x0, &x1);
        for (int64_t x = x0; x < x1; x++) {
            const double size = fabs(bench_number(f->type, f->numbers, line_start(t, line) + x));
            if (size > most) most = size;
            not_finite += !isfinite(size);
        }
        if (t->packed || !f->info) continue;
        for (int64_t x = 0; x < n; x++)
            if (x != line && (x < x0 || x >= x1))
                stray += !isnan(bench_number(f->type, f->numbers, line * n + x));
    }
    p->multiplier = not_finite ? NAN : most;
    return stray == 0;
}

/* out += M in, or Mt in, without the diagonal: sums along the lines, or across them. */
static void multiply(const bench_factors *f, bool transposed, const bench_vectors *in,
                     const bench_vectors *out) {
    const bench_triangle *t = &f->triangle;
    const int64_t n = f->n, strips = (n + STRIP - 1) / STRIP;
    if (transposed == t->upper) {
#pragma omp parallel for num_threads(f->threads) schedule(static, 16)
        for (int64_t line = 0; line < n; line++) {
            int64_t x0, x1;
            line_of(t, line, &x0, &x1);
            const int64_t start = line_start(t, line);
            for (int64_t x = x0; x < x1; x++)
                bench_vectors_add(out, line, bench_number(f->type, f->numbers, start + x), in, x);
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
                bench_vectors_add(out, x, bench_number(f->type, f->numbers, start + x), in, line);
        }
    }
}

static void copy_pairs(const bench_vectors *to, const bench_vectors *from, int64_t n) {
    memcpy(to->high, from->high, (size_t)n * BENCH_VECTORS * sizeof(double));
    memcpy(to->low, from->low, (size_t)n * BENCH_VECTORS * sizeof(double));
}

/* v becomes D t. */
static void multiply_blocks(const bench_factors *f, const parts *p) {
    memset(p->v.high, 0, (size_t)f->n * BENCH_VECTORS * sizeof(double));
    memset(p->v.low, 0, (size_t)f->n * BENCH_VECTORS * sizeof(double));
    for (int64_t k = 0; k < f->n; k++) {
        bench_vectors_add(&p->v, k, p->d[k], &p->t, k);
        if (!is_block(f, k)) continue;
        bench_vectors_add(&p->v, k, p->e[k], &p->t, k + 1);
        bench_vectors_add(&p->v, k + 1, p->e[k], &p->t, k);
        k++;
        bench_vectors_add(&p->v, k, p->d[k], &p->t, k);
    }
}

static double relative_error(const bench_factors *f, const parts *p) {
    const bench_given a = { f->type, f->n, f->whole, f->permutation, f->threads };
    bench_vectors_begin(&a, &p->v, p->u);
    copy_pairs(&p->t, &p->v, f->n);
    multiply(f, true, &p->v, &p->t); /* t = Mt v */
    multiply_blocks(f, p);           /* v = D t  */
    copy_pairs(&p->y, &p->v, f->n);
    multiply(f, false, &p->v, &p->y); /* y = M v  */
    return bench_vectors_compare(&a, &p->y, p->u);
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
    *check = (bench_check){ .systems = BENCH_VECTORS };
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
        if (!wrong && !(p.multiplier <= f->most * (1 + 64 * unit))) wrong = "M is not bounded";
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
