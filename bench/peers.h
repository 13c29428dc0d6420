/* SPDX-License-Identifier: Apache-2.0
 *
 * peers.h - other people's solvers and generators on our problems, in the same run. Libraries are
 * opened at run time (dlopen) and left out, with a remark, where they are missing.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "bench/rng.h"
#include "bench/tridiag.h"

/* Each adds a row for every function of the peer that fits the data, checked like our own. BENCH_OK
 * (also if the peer is not there), BENCH_STOPPED or BENCH_ERROR. */
int bench_peer_lapack(bench_session *s, bench_data *data);       /* on the CPU */
int bench_peer_cusparse(bench_session *s, bench_data *data);     /* on CUDA    */
int bench_peer_libm(bench_session *s, const bench_numbers *d);   /* on the CPU */
int bench_peer_curand(bench_session *s, const bench_numbers *d); /* on CUDA    */

/* One row of a peer of rng: the task fills set i at its call i. After the first call the numbers of
 * set 0 are judged by their law (`layout` is that of points); the rest is timed. */
int bench_peer_generator(bench_session *s, const bench_numbers *d, bench_solver peer,
                         shoal_layout layout);

/* OpenBLAS, or another LAPACK, opened with one thread: false, with a remark, if there is none that
 * is fit to be compared with. */
typedef struct bench_lapack {
    void *file; /* of dlopen */
    char version[128];
    char refusal[160]; /* "" : fit to be quoted */
} bench_lapack;
bool bench_open_lapack(bench_session *s, bench_lapack *lib);

/* The CUDA library of that name (without "lib" and ".so"), one of the versions, NULL at the end:
 * from where the linker looks, or from a toolkit. NULL if it is not there. */
void *bench_open_cuda_library(const char *name, const char *const *versions);

#endif
