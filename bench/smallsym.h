/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.h - small symmetric systems on the bench: their data, the check of an answer or of
 * eigenpairs, one solver.
 */
#ifndef BENCH_SMALLSYM_H
#define BENCH_SMALLSYM_H

#include "bench/session.h"

/* The key "pairs": none, systems are solved; eigenvalues; eigenvalues and
 * vectors; those of the tridiagonal form U of A (Figure 12 of the paper), d and e being the input. */
typedef enum bench_pairs_wanted {
    BENCH_PAIRS_NONE,
    BENCH_PAIRS_VALUES,
    BENCH_PAIRS_VECTORS,
    BENCH_PAIRS_TRIDIAG
} bench_pairs_wanted;

/* The key "stage": all of the method; of hhpcr A = Q U Qt alone, or x = Q U^-1 Qt b
 * alone (Figures 10 and 9 of the paper). */
typedef enum bench_stage { BENCH_STAGE_NONE, BENCH_STAGE_REDUCE, BENCH_STAGE_PCR } bench_stage;

/* The arrays of a problem: A, b, x. The other triangle of a full A contains what the generator writes there: NaN.
 * stage=pcr: on the host also A of the systems that differ, whole rows. */
enum { BENCH_SMALLSYM_MATRIX = 3 };

int bench_systems_make(bench_session *s, const bench_problem *p, bench_place *place, void *data);
/* Bytes from where d or w begins to e or V, and to Q. pairs=tridiag: A is d and e; pairs: x is w and V; a stage: x, or of
 * stage=pcr A, is d, e and Q. */
size_t bench_systems_second(const bench_problem *p);
size_t bench_systems_third(const bench_problem *p);
/* A = Q U Qt in double by reflections, the lower triangle of a being read; v and w are n numbers
 * each; q may be NULL. a is overwritten. */
void bench_reduce(double *a, int64_t n, double *d, double *e, double *q, double *v, double *w);
/* How many systems of a batch differ: the others repeat them. */
int64_t bench_systems_distinct(const bench_problem *p);
/* Numbers of A in a system: n^2, or n (n + 1) / 2; of regressions those of psi. */
double bench_systems_entries(const bench_problem *p);

/* Where the numbers of an answer lie, in elements. A(i,j), i >= j, has a place among the entries of
 * its system, which storage and triangle give; b and x have rows, systems and right-hand sides. */
typedef struct bench_symmetric {
    shoal_type type;
    int64_t n, count, nrhs;
    bool packed, upper;
    int64_t entry, system;          /* of A, or of d */
    int64_t below_system;           /* of e        */
    int64_t b_row, b_system, b_rhs; /* of b and x  */
    int64_t samples;                /* 0, or M: of regressions, A is psi and b is y     */
    int64_t y_row, y_system;        /* of y        */
    const void *A, *b, *x;          /* on the host */
    const void *below;              /* NULL, or e: A is d then */
    int64_t distinct;               /* 0, or A has so many systems, which repeat               */
    bool (*stop)(void);             /* NULL, or whether to stop: the check means nothing       */
} bench_symmetric;

bench_symmetric bench_symmetric_of(const bench_arrays *data, const void *x);

/* A(i,j) of system k, as a double. */
double bench_symmetric_entry(const bench_symmetric *v, int64_t k, int64_t i, int64_t j);

/* The backward error of the first right-hand side of system k; NaN if x or the input is not finite. */
double bench_smallsym_backward(const bench_symmetric *v, int64_t k);

/* What the solver reports about each system, on the host; NULL: nothing. */
typedef struct bench_reported {
    const int32_t *status;
    const float *residual, *rcond;
} bench_reported;

/* Checks an answer without the library's help. Of several right-hand sides each stands for itself:
 * if the status reports a failure, a column is NaN throughout or right. */
void bench_smallsym_check(const bench_symmetric *view, const bench_reported *reported, int threads,
                          bench_check *check);
/* Eigenpairs on the host, and where their numbers lie, in elements. */
typedef struct bench_pairs {
    const void *w, *V;
    const void *alone; /* NULL, or values found without vectors, where w has them */
    int64_t w_row, w_system;
    int64_t v_component, v_vector, v_system;
} bench_pairs;

bench_pairs bench_pairs_of(const bench_arrays *data, const void *answer, const void *alone);

/* Checks eigenpairs: w ascends, they are pairs, V is orthogonal, and values found alone are the
 * same. If the status reports a failure, all of it is NaN. */
void bench_eigen_check(const bench_symmetric *view, const bench_pairs *pairs,
                       const bench_reported *reported, int threads, bench_check *check);

/* d, e and Q of a stage on the host, and where their numbers lie, in elements: Q(i,j) is number
 * i * n + j. */
typedef struct bench_parts {
    const void *d, *e, *q;
    int64_t next, d_system, e_system, q_system;
} bench_parts;

bench_parts bench_parts_of(const bench_arrays *data, const void *array);

/* Checks A = Q U Qt and that Q is orthogonal. If the status reports a failure, all of
 * it is NaN. */
void bench_reduction_check(const bench_symmetric *view, const bench_parts *parts,
                           const bench_reported *reported, int threads, bench_check *check);

/* "upper nrhs=2 team=8 outcome": what is not as usual, or "-". Returns `text`. */
char *bench_smallsym_options(const bench_problem *p, char text[BENCH_TEXT]);

#endif
