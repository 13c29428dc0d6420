/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.h - one dense symmetric matrix on the bench: its data, the check of a factorization, one
 * method, the peers.
 *
 * A factorization takes the place of its matrix, so that each call needs a fresh copy: it is made
 * before each sample, outside the timed region, and a sample is one call.
 */
#ifndef BENCH_SYMINDEF_H
#define BENCH_SYMINDEF_H

#include <shoal/symindef.h>

#include "bench/session.h"
#include "io/array.h"

/* Where the entries of a triangle lie: A(i,j), i >= j, as the library has it. Columns of the lower
 * triangle, as LAPACK has them, are the rows of the upper one. */
typedef struct bench_triangle {
    int64_t n;
    bool packed, upper;
} bench_triangle;

size_t bench_triangle_numbers(const bench_triangle *t);
int64_t bench_triangle_at(const bench_triangle *t, int64_t i, int64_t j);

/* The data of a problem. Storage and triangle may change from problem to problem: the whole
 * matrix is generated, and they are filled from it. */
typedef struct bench_matrix {
    bench_problem problem;
    bench_place *place;
    char *whole;  /* n x n on the host                                                      */
    char *source; /* as the problem has it, in the context's memory; the other triangle, if
                     there is room for one, is NaN                                          */
    char *work;   /* what is factored, in the context's memory                              */
    char *answer; /* and brought home                                                       */
    size_t bytes; /* of each of the three                                                   */
} bench_matrix;

/* BENCH_OK, BENCH_STOPPED or BENCH_ERROR; keeps what is there if it fits the problem. A
 * bench_matrix, zeroed to begin. */
int bench_matrix_make(bench_session *s, const bench_problem *p, bench_place *place, void *matrix);
/* The same of a matrix that is given, in double: `lower` has the rows of its lower triangle, packed. */
int bench_matrix_take(bench_session *s, const bench_problem *p, bench_place *place,
                      const io_array *lower, bench_matrix *d);
void bench_matrix_free(void *matrix);
bench_triangle bench_triangle_of(const bench_problem *p);
/* The matrix in that form; `numbers` of it have room. */
void bench_matrix_fill(const bench_matrix *d, const bench_triangle *t, void *numbers);

/* A fresh copy of the source in `work`. 0, or -1. */
int bench_matrix_renew(const bench_matrix *d);

/* A factorization on the host, to be judged. */
typedef struct bench_factors {
    shoal_type type;
    int64_t n;
    const void *whole;           /* the matrix, n x n                                            */
    bench_triangle triangle;     /* of the factors                                               */
    void *numbers;               /* M and D; the check takes them apart                          */
    const int32_t *interchanges; /* the second of a 2x2 pivot is negative                        */
    const int32_t *permutation;  /* row i of M is row permutation[i] of A                        */
    double most;                 /* |M| is to be at most so much; infinity: it has no bound      */
    const shoal_symindef_info *info; /* what the library reports; NULL: a peer                    */
    int threads;
    bool (*stop)(void); /* NULL, or whether to stop: the check means nothing                     */
} bench_factors;

/* Checks a factorization without the library's help. */
shoal_status bench_symindef_check(const bench_factors *f, bench_check *check);

/* Largest |M| off the diagonal by complete and rook pivoting; infinity for other methods. */
double bench_symindef_bound(const bench_problem *p);

/* The class of methods that have the same peers. */
typedef enum bench_pivoting { BENCH_COMPLETE, BENCH_PARTIAL, BENCH_ROOK } bench_pivoting;
bench_pivoting bench_pivoting_of(const bench_problem *p);

/* One of our methods on one matrix: its plan, and what one call found. */
typedef struct bench_factoring {
    shoal_symindef *plan;
    const bench_matrix *data;
    shoal_symindef_info info;
    int32_t *interchanges, *permutation;
    double seconds; /* that it took */
} bench_factoring;

/* Of the problem's method, storage, triangle, alpha and growth. To be ended in either case. */
shoal_status bench_factoring_begin(const bench_matrix *d, const bench_problem *p,
                                   bench_factoring *f);
void bench_factoring_end(bench_factoring *f);
/* One call on a fresh copy; the factors stay in d->work, and come home to d->answer. */
shoal_status bench_factoring_call(bench_factoring *f);
/* Judges the factors in d->answer, and takes them apart. */
shoal_status bench_factoring_check(const bench_factoring *f, bool (*stop)(void),
                                   bench_check *check);
/* The time of a call, by bench_measure_long(). */
int bench_factoring_measure(bench_session *s, const bench_factoring *f, bench_stats *stats);

#endif
