/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_vectors.h - random vectors through a matrix and through its factors: n^2 operations each where
 * the product of the factors would take n^3.
 */
#ifndef BENCH_SYMINDEF_VECTORS_H
#define BENCH_SYMINDEF_VECTORS_H

#include <shoal/symindef.h>
#include <stdbool.h>

#include "bench/twice.h"

enum { BENCH_VECTORS = 3 }; /* v of 1 and -1 */

typedef struct bench_given { /* P A Pt, on the host */
    shoal_type type;
    int64_t n;
    const void *whole;          /* A, n x n                            */
    const int32_t *permutation; /* row i of P A Pt is row permutation[i] of A */
    int threads;
} bench_given;

typedef struct bench_pairs { /* BENCH_VECTORS vectors, entry by entry, in two parts */
    double *high, *low;
} bench_pairs;

/* n entries of 0. False if there is no memory; to be freed in either case. */
bool bench_pairs_make(bench_pairs *p, int64_t n);
void bench_pairs_free(bench_pairs *p);

/* out[to] += m in[from], all vectors */
static inline void bench_pairs_add(const bench_pairs *out, int64_t to, double m,
                                   const bench_pairs *in, int64_t from) {
    for (int v = 0; v < BENCH_VECTORS; v++) {
        const double high = in->high[from * BENCH_VECTORS + v];
        subtract_product(&out->high[to * BENCH_VECTORS + v], &out->low[to * BENCH_VECTORS + v], -m,
                         high);
        out->low[to * BENCH_VECTORS + v] += m * in->low[from * BENCH_VECTORS + v];
    }
}

/* The vectors: v, whose second part is 0 already, and u = Pt v. */
void bench_vectors_begin(const bench_given *a, const bench_pairs *v, double *u);

/* |P A Pt v - y| / |A|, |v| being 1; infinite where a number is not finite. y is spoilt. */
double bench_vectors_compare(const bench_given *a, const bench_pairs *y, const double *u);

/* |P A Pt v - G (J (Gt v))| / |A|, G (n, columns) of the type of A; NaN without memory. */
double bench_vectors_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns);

#endif
