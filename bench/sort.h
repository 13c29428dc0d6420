/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.h - sorting and merging on the bench: the data, the check of a result, one method, the peers.
 */
#ifndef BENCH_SORT_H
#define BENCH_SORT_H

#include <shoal/sort.h>

#include "bench/session.h"

/* Keys and values of A and B, and of the result; sorting has A alone. */
enum {
    BENCH_SORT_A,
    BENCH_SORT_B,
    BENCH_SORT_OUT,
    BENCH_SORT_A_VALUES,
    BENCH_SORT_B_VALUES,
    BENCH_SORT_OUT_VALUES,
    BENCH_SORT_ARRAYS
};

typedef struct bench_sortables {
    bench_problem problem;
    bench_place *place;
    shoal_key key;
    int merges;      /* else it sorts                                         */
    int value_bytes; /* of a value, which is the key's place in its row, or, of B, behind
                                        the places of A; 0: none                              */
    int64_t na, nb;  /* keys of a row of A, and of B                          */
    void *host[BENCH_SORT_ARRAYS];   /* one set; on the CPU another one than in memory        */
    char *memory[BENCH_SORT_ARRAYS]; /* `sets` blocks of step[i] bytes each                   */
    size_t step[BENCH_SORT_ARRAYS], size[BENCH_SORT_ARRAYS];
    int sets;
} bench_sortables;

int64_t bench_sort_na(const bench_problem *p); /* keys of A in a row of n */
int bench_sort_value_bytes(const bench_problem *p);
const char *bench_sort_types(const void *of, int i); /* "u32", ... */

int bench_sortables_make(bench_session *s, const bench_problem *p, bench_place *place,
                         void *sortables);
void bench_sortables_free(void *sortables);
bool bench_sortables_same(const bench_problem *p, const bench_problem *q);
void *bench_sortables_at(const bench_sortables *d, int i, int set);

/* Brings the result of set 0 home and checks it without the library's help. `stable`: equal keys
 * must have kept their order, which values tell. */
shoal_status bench_sort_check(const bench_session *s, const bench_sortables *d, bool stable,
                              bench_check *check);

int bench_sort_run(bench_session *s, void *sortables, const bench_problem *p, bool timed);

/* A row of a peer, whose task computes set i at its call i: checked like our own, then timed. */
int bench_sort_peer_row(bench_session *s, bench_sortables *d, const bench_solver *peer);
int bench_peer_std(bench_session *s, bench_sortables *d); /* on the CPU: std::sort, std::merge */
int bench_peer_cub_sort(bench_session *s,
                        bench_sortables *d); /* on CUDA                           */

#endif
