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
 * (also if the peer is missing or fails, with a note), BENCH_STOPPED or BENCH_ERROR. */
int bench_peer_lapack(bench_session *s, bench_arrays *data);     /* on the CPU */
int bench_peer_cusparse(bench_session *s, bench_arrays *data);   /* on CUDA    */
int bench_peer_libm(bench_session *s, const bench_numbers *d);   /* on the CPU */
int bench_peer_curand(bench_session *s, const bench_numbers *d); /* on CUDA    */

/* One row of a peer of rng: the task fills set i at its call i. After the first call the numbers of
 * set 0 are judged by their law (`layout` is that of points); the rest is timed. */
int bench_peer_generator(bench_session *s, const bench_numbers *d, bench_solver peer,
                         shoal_layout layout);

/* A library of a peer, opened at run time. */
typedef struct bench_library {
    void *file;   /* of dlopen                      */
    void *handle; /* of a CUDA library              */
    int (*destroy)(void *handle);
    char version[128];
} bench_library;

/* OpenBLAS, or another LAPACK, with one thread: false, with a remark, if there is none that is fit to be
 * compared with. */
bool bench_open_lapack(bench_session *s, bench_library *lib);

/* A function by its name and the pointer that is set to it; '?' stands for the letter of the type. */
typedef struct bench_symbol {
    const char *name;
    void *to;
} bench_symbol;
enum { BENCH_SYMBOL = 96 };
char *bench_typed_name(const char *pattern, char letter, char text[BENCH_SYMBOL]);
/* False if one is missing. */
bool bench_find(const bench_library *lib, char letter, const bench_symbol *list, int count);

/* A library of the CUDA toolkit with those functions, and its handle: false, with a remark, if it is
 * not there. */
typedef enum bench_cuda_library {
    BENCH_CUBLAS,
    BENCH_CUSOLVER,
    BENCH_CUSPARSE,
    BENCH_CURAND
} bench_cuda_library;
bool bench_open_cuda(bench_session *s, bench_cuda_library which, char letter,
                     const bench_symbol *list, int count, bench_library *lib);
void bench_close_cuda(bench_library *lib);

/* Fresh copies of what a peer overwrites: `work` has `sets` of them, `source` is what they are made from. */
enum { BENCH_FRESH = 6 };
typedef struct bench_fresh {
    const bench_arrays *data;
    int arrays;
    size_t size[BENCH_FRESH],
        step[BENCH_FRESH];   /* bytes of one set, and to the next; step 0: size  */
    void *full[BENCH_FRESH]; /* on the host, one system after another            */
    char *source[BENCH_FRESH],
        *work[BENCH_FRESH]; /* in the context's memory                        */
    bool given;             /* source is the caller's, and there is no `full` */
} bench_fresh;

/* Room for arrays of size[i] bytes. To be freed in either case. */
shoal_status bench_fresh_make(bench_fresh *f);
shoal_status bench_fresh_upload(const bench_fresh *f); /* `full` to `source` */
void bench_fresh_free(bench_fresh *f);
void *bench_fresh_at(const bench_fresh *f, int i, int set, int64_t system);
/* Copies `source` to all sets: by OpenMP threads on the CPU, each of which touches what it will work on, and within the
 * device's memory on a GPU. 0, or -1. */
int bench_fresh_copy(const bench_fresh *f);

#endif
