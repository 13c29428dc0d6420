/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_vectors.c - random vectors v of 1 and -1 through both sides of a factorization, the sums as if
 * in twice the precision of double (numbers.h), with what is carried from product to product kept in two
 * parts too:
 *
 *     |P A Pt v - M (D (Mt v))| / (|A| |v|)  and  |P A Pt v - G (J (Gt v))| / (|A| |v|),   maximum norms.
 *
 * Neither is ever more than the relative error of the product: a row of the error shows as the sum of
 * its entries with random signs, which one vector may miss and BENCH_VECTORS of them hardly do. It has
 * the size of the root of the sum of their squares; one wrong entry shows in full.
 *
 * Mapping: rows, or strips of STRIP columns where sums run across the rows, are dealt to OpenMP threads.
 * Nobody writes another's sums, so that the result is the same for any number of threads.
 */
#include "bench/symindef_errors.h"

#include <math.h>
#include <stdlib.h>

enum { STRIP = 64 };

bool bench_vectors_make(bench_vectors *p, int64_t n) {
    const size_t count = (size_t)(n > 0 ? n : 1) * BENCH_VECTORS;
    p->high = calloc(count, sizeof(double));
    p->low = calloc(count, sizeof(double));
    return p->high && p->low;
}

void bench_vectors_free(bench_vectors *p) {
    free(p->high);
    free(p->low);
}

/* 1 or -1: entry i of vector v. */
static double sign_of(int64_t i, int v) {
    const uint64_t x = (uint64_t)i * BENCH_VECTORS + (uint64_t)v + 0x9E3779B97F4A7C15u;
    return bench_hash(x) >> 63 ? -1 : 1;
}

void bench_vectors_begin(const bench_given *a, const bench_vectors *v, double *u) {
    for (int64_t i = 0; i < a->n; i++)
        for (int c = 0; c < BENCH_VECTORS; c++)
            v->high[i * BENCH_VECTORS + c] = u[a->permutation[i] * BENCH_VECTORS + c] =
                sign_of(i, c);
}

double bench_vectors_compare(const bench_given *a, const bench_vectors *y, const double *u) {
    const int64_t n = a->n;
    double error = 0, norm = 0;
#pragma omp parallel for num_threads(a->threads) schedule(static, 16) reduction(max : error, norm)
    for (int64_t i = 0; i < n; i++) {
        const int64_t row = a->permutation[i];
        double *high = y->high + i * BENCH_VECTORS, *low = y->low + i * BENCH_VECTORS, size = 0;
        for (int64_t j = 0; j < n; j++) {
            const double entry = bench_number(a->type, a->whole, row * n + j);
            size += fabs(entry);
            for (int v = 0; v < BENCH_VECTORS; v++)
                subtract_product(&high[v], &low[v], entry, u[j * BENCH_VECTORS + v]);
        }
        for (int v = 0; v < BENCH_VECTORS; v++) {
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

/* t = J (Gt v), y = G t */
static void multiply_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns, const bench_vectors *v, const bench_vectors *t,
                          const bench_vectors *y) {
    const int64_t strips = (columns + STRIP - 1) / STRIP;
#pragma omp parallel for num_threads(a->threads) schedule(static, 1)
    for (int64_t strip = 0; strip < strips; strip++) {
        const int64_t first = strip * STRIP;
        const int64_t end = first + STRIP < columns ? first + STRIP : columns;
        for (int64_t i = 0; i < a->n; i++)
            for (int64_t c = first; c < end; c++)
                bench_vectors_add(t, c, signs[c] * bench_number(a->type, G, i * columns + c), v, i);
    }
#pragma omp parallel for num_threads(a->threads) schedule(static, 16)
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t c = 0; c < columns; c++)
            bench_vectors_add(y, i, bench_number(a->type, G, i * columns + c), t, c);
}

double bench_vectors_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns) {
    bench_vectors v, t, y;
    double *u = calloc((size_t)a->n * BENCH_VECTORS + 1, sizeof *u), error = NAN;
    bool made = bench_vectors_make(&v, a->n);
    made = bench_vectors_make(&t, columns) && made; /* all are freed */
    made = bench_vectors_make(&y, a->n) && made;
    if (made && u) {
        bench_vectors_begin(a, &v, u);
        multiply_gjgt(a, G, signs, columns, &v, &t, &y);
        error = bench_vectors_compare(a, &y, u);
    }
    bench_vectors_free(&v);
    bench_vectors_free(&t);
    bench_vectors_free(&y);
    free(u);
    return error;
}
