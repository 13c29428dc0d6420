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
    double bound;                /* |M| is to be at most so much; infinity: it has no bound      */
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

/* Eigenpairs (pairs=vectors): factored, then shoal_symindef_eig(); one row. And those of the peers. */
int bench_symindef_pairs(bench_session *s, bench_matrix *d, const bench_problem *p, bool timed);
int bench_peers_pairs(bench_session *s, bench_matrix *d);

/* ---- peers ------------------------------------------------------------------------------------- */

/* A row for each peer, as those of peers.h. Overwrites source, work and answer of the data, which
 * bench_matrix_make() fills again. */
int bench_peers_symindef(bench_session *s, void *matrix);

/* The form of pivots, and whether rows of M that are there already take part in later exchanges. */
typedef enum bench_form {
    BENCH_FORM_OURS,  /* as the library has them; they do                                     */
    BENCH_FORM_SYTRF, /* LAPACK's: a 2x2 pivot in k, k+1 exchanges k+1 alone; they do not     */
    BENCH_FORM_ROOK   /* LAPACK's: it exchanges both; they do not                             */
} bench_form;

/* A routine of a peer that factors the columns of the lower triangle in place. */
typedef struct bench_factorer {
    bench_solver peer; /* its task: self alone */
    bool packed;       /* else n columns of n numbers, both triangles there */
    bool partial;      /* its pivoting is partial, for every problem: M has no bound             */
    bench_form form;
    int (*factor)(void *self, void *a); /* in the context's memory; 0 = good                  */
    const int32_t *pivots; /* n of them, counted from 1, on the host ...                          */
    bool pivots_there;     /* ... or in the context's memory                                      */
} bench_factorer;

/* One row: checked after the first call, then timed, every sample on a fresh copy that is made
 * outside the timed region. */
int bench_peer_factorer(bench_session *s, bench_matrix *d, const bench_factorer *r);

/* Pivots of one form into interchanges and a permutation as the library has them, and the factors,
 * columns of the lower triangle, with all exchanges done. False if a pivot is out of range. */
bool bench_factors_normalise(bench_form form, const bench_triangle *t, shoal_type type,
                             int32_t *pivots, int32_t *permutation, void *numbers);

/* The peers on CUDA. */
int bench_peer_cusolver_indefinite(bench_session *s, bench_matrix *d);
int bench_peer_thesis(bench_session *s, bench_matrix *d);

#endif
