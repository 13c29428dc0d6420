/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.h - small symmetric systems on the bench: their data, the check of an answer or of
 * eigenpairs, the peers.
 */
#ifndef BENCH_SMALLSYM_H
#define BENCH_SMALLSYM_H

#include "bench/peers.h"

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
    int64_t entry, system;           /* of A, or of d */
    int64_t below_system;            /* of e        */
    int64_t b_row, b_system, b_rhs;  /* of b and x  */
    int64_t samples;                 /* 0, or M: of regressions, A is psi and b is y     */
    int64_t y_row, y_system;         /* of y        */
    const void *A, *b, *x;           /* on the host */
    const void *below;               /* NULL, or e: A is d then */
    int64_t distinct;                /* 0, or A has so many systems, which repeat               */
    const struct bench_pairs *pairs; /* not NULL: eigenpairs are checked instead of x          */
    const struct bench_parts *parts; /* not NULL: d, e and Q are                               */
    bool (*stop)(void);              /* NULL, or whether to stop: the check means nothing       */
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
 * if the status reports a failure, a column is NaN throughout or right. Of eigenpairs w ascends, V is
 * orthogonal, and values found alone are the same; of parts A = Q U Qt, and Q is orthogonal: if the status
 * reports a failure, all of it is NaN. */
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

/* d, e and Q of a stage on the host, and where their numbers lie, in elements: Q(i,j) is number
 * i * n + j. */
typedef struct bench_parts {
    const void *d, *e, *q;
    int64_t next, d_system, e_system, q_system;
} bench_parts;

bench_parts bench_parts_of(const bench_arrays *data, const void *array);

/* "upper nrhs=2 team=8 outcome": what is not as usual, or "-". Returns `text`. */
char *bench_smallsym_options(const bench_problem *p, char text[BENCH_TEXT]);

/* ---- peers ------------------------------------------------------------------------------------- */

/* Peers for the method of a problem: routines that can do what it can. */
typedef enum bench_peer_class {
    BENCH_PEERS_DEFINITE, /* Cholesky; LU on a GPU, and LDLt with pivoting where Cholesky fails */
    BENCH_PEERS_PIVOTED,  /* LDLt with pivoting; LU on a GPU                                   */
    BENCH_PEERS_EIGEN     /* eigenpairs                                                        */
} bench_peer_class;
bench_peer_class bench_peers_for(const bench_problem *p);

/* A row for each peer, as those of peers.h. */
int bench_peers_smallsym(bench_session *s, bench_arrays *data);

/* The systems one after another, A with both triangles, b as columns: rows or columns first is the
 * same. */
typedef struct bench_copies {
    const bench_arrays *data;
    int64_t n, count, nrhs;
    int64_t samples;       /* 0, or M: A is psi, (M, n) in rows, and b is y            */
    size_t number;         /* bytes of one                                             */
    bench_fresh fresh;     /* A, b                                                     */
    void **pointers[2];    /* on a GPU: to each system of `work`, sets * count of them */
    char *values;          /* room for n eigenvalues per system; those of one set      */
    int32_t *info, *pivot; /* on a GPU: count, and n * count                           */
    bool values_alone;     /* what routines for eigenpairs are to find now             */
} bench_copies;

/* A routine of a peer. The call of its task overwrites set i of `work`: b with x, or, of eigen, A with the
 * vectors, whose values it writes into `values`; no vectors if the copies have values_alone. */
typedef struct bench_routine {
    bench_solver peer;
    bool eigen;
    const void *answer; /* NULL, or where x of a regression is, in the context's memory */
} bench_routine;

/* One row: checked after the first call, then timed, every sample on fresh copies that are made
 * outside the timed region. *passed (may be NULL): the check. */
int bench_peer_routine(bench_session *s, bench_copies *c, const bench_routine *r, bool *passed);

/* 1 / M and 0, in the type of the problem: factors of sums over the samples of regressions. */
typedef struct bench_means {
    union {
        float single;
        double twice;
    } mean, zero;
} bench_means;
bench_means bench_means_of(const bench_copies *c);

/* The peers on CUDA. */
int bench_peer_cuda_symmetric(bench_session *s, bench_copies *c, bench_peer_class which);

#endif
