/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_errors.h - the relative error of a factorization: by the whole product of its factors, or by random vectors
 * through the matrix and through its factors, n^2 operations each where the product would take n^3.
 */
#ifndef BENCH_SYMINDEF_ERRORS_H
#define BENCH_SYMINDEF_ERRORS_H

#include "bench/numbers.h"
#include "bench/symindef.h"

/* ---- the product ------------------------------------------------------------------------------ */

enum { BENCH_SAMPLE = 64 };

/* M D Mt, or, where G is not NULL, G J Gt. All arrays are on the host. */
typedef struct bench_product {
    int64_t n;
    shoal_type type;            /* of the factors or G                                        */
    const int32_t *permutation; /* row i of M or G is row permutation[i] of A                 */
    double (*given)(const void *matrix, int64_t i, int64_t j); /* A(i,j), i >= j              */
    const void *matrix;
    bool twice; /* sums as if in twice the precision of double; else in double, and n^3/6
                   operations instead of ten times as many                                     */
    bool
        sampled; /* the sums of BENCH_SAMPLE rows alone: half of them equally spaced, half those that
                     a random vector shows to be worst. No more than the norm, n^2 operations per row */
    int threads;
    bool (*stop)(void); /* NULL, or whether to stop                                           */
    void (*step)(double part); /* NULL, or told the share that is done, one thread at a time  */

    bench_triangle triangle; /* of the factors                                                */
    const void *factors;     /* M, with anything in the places of D                           */
    const double *d, *e;     /* D: its diagonal; e[k] of a block in k, k + 1, else 0          */

    const void *G; /* (n, columns)                                                          */
    const int32_t *signs;
    int64_t columns;
    bool partitioned; /* its columns are not in the order of the pivots                      */
} bench_product;

/* |P A Pt - product| / |A| in infinity norms; NaN after a stop or without memory. Of A = 0 what is left
 * is not divided. */
double bench_product_error(const bench_product *p);

/* |P A Pt - G J Gt| / |A| of factors in 128 bits (symindef_quad.c), a n x n and symmetric; NaN without memory. */
double bench_quad_error(const double *a, int64_t n);

/* ---- vectors ---------------------------------------------------------------------------------- */

typedef struct bench_given { /* P A Pt, on the host */
    shoal_type type;
    int64_t n;
    const void *whole;          /* A, n x n                            */
    const int32_t *permutation; /* row i of P A Pt is row permutation[i] of A */
    int threads;
} bench_given;

/* |P A Pt v - G (J (Gt v))| / |A|, G (n, columns) of the type of A; NaN without memory. */
double bench_vectors_gjgt(const bench_given *a, const void *G, const int32_t *signs,
                          int64_t columns);

#endif
