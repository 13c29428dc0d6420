/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_symindef.h - what the peers of dense symmetric matrices share: one row of a peer, and the
 * forms in which factors come.
 */
#ifndef BENCH_PEERS_SYMINDEF_H
#define BENCH_PEERS_SYMINDEF_H

#include "bench/symindef.h"

/* Adds a row for each peer. BENCH_OK, also if a peer is missing or fails, with a note,
 * or BENCH_STOPPED. BENCH_ERROR only if there is no memory for rows. Overwrites source, work and
 * answer of the data, which bench_matrix_make() fills again. */
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
