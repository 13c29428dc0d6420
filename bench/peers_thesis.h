/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_thesis.h - the thesis's factorization with complete pivoting by calls of BLAS, section 3.2.
 *
 * The reduced matrix is the tail of the packed columns of the lower triangle (the thesis: rows of the
 * upper one), with zeros on its diagonal, which is a vector of its own.
 */
#ifndef BENCH_PEERS_THESIS_H
#define BENCH_PEERS_THESIS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cuBLAS's functions of one type: I?amax, ?spr, ?scal. Vectors are the device's, numbers the host's.
 * 0 = good. */
typedef struct bench_thesis_blas {
    void *handle;
    int (*amax)(void *handle, int n, const void *x, int step, int *place); /* counted from 1 */
    int (*spr)(void *handle, int uplo, int n, const void *alpha, const void *x, int step, void *ap);
    int (*scal)(void *handle, int n, const void *alpha, void *x, int step);
} bench_thesis_blas;

/* A matrix that is being factored. */
typedef struct bench_thesis {
    int single; /* float, else double                                       */
    int64_t n;
    void *a;      /* packed columns of the lower triangle, on the device      */
    void *d;      /* n numbers: the diagonal                                  */
    void *x;      /* 2 n numbers                                              */
    double *seen; /* 4 numbers in mapped memory, of bench_thesis_map()        */
} bench_thesis;

/* Factors t->a in place; interchanges as the library has them. 0, or what failed. */
int bench_thesis_factor(const bench_thesis_blas *blas, const bench_thesis *t,
                        int32_t *interchanges);

/* The kernels (peers_thesis.cu), all in the default stream; 0 = good. */
double *bench_thesis_map(void); /* memory that host and device see; NULL: there is none */
void bench_thesis_unmap(double *seen);
int bench_thesis_split(const bench_thesis *t); /* d = diagonal of a, which becomes 0     */
int bench_thesis_join(const bench_thesis *t);  /* and back                               */
/* seen = a(q,p), d(p), d(q), d(r): waits. p < q, or p = q: no entry is looked at. */
int bench_thesis_look(const bench_thesis *t, int64_t p, int64_t q, int64_t r);
int bench_thesis_swap(const bench_thesis *t, int64_t p, int64_t q); /* p < q */
/* x = C Q of columns k and k + 1, Q = [c -s; s c], rows from k + 2 on. */
int bench_thesis_turn(const bench_thesis *t, int64_t k, double c, double s);
/* Columns k and k + 1 become [x0 / lambda0, x1 / lambda1] Qt. */
int bench_thesis_multipliers(const bench_thesis *t, int64_t k, double c, double s, double lambda0,
                             double lambda1);
/* d += diagonal of a, which becomes 0, from row `first` on. */
int bench_thesis_fold(const bench_thesis *t, int64_t first);

#ifdef __cplusplus
}
#endif
#endif
