/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym.h - what the peers of small symmetric systems share: the systems as LAPACK and its
 * kin take them, and one row of a peer.
 */
#ifndef BENCH_PEERS_SMALLSYM_H
#define BENCH_PEERS_SMALLSYM_H

#include "bench/peers.h"
#include "bench/smallsym.h"

/* Peers for the method of a problem: routines that can do what it can. */
typedef enum bench_peer_class {
    BENCH_PEERS_DEFINITE, /* Cholesky; LU on a GPU, and LDLt with pivoting where Cholesky fails */
    BENCH_PEERS_PIVOTED,  /* LDLt with pivoting; LU on a GPU                                   */
    BENCH_PEERS_EIGEN     /* eigenpairs                                                        */
} bench_peer_class;
bench_peer_class bench_peers_for(const bench_problem *p);

/* Adds a row for each peer. BENCH_OK, also if a peer is missing or fails, with a note,
 * or BENCH_STOPPED. BENCH_ERROR only if there is no memory for rows. */
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
