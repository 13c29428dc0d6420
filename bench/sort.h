/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.h - sorting and merging on the bench: the data, the check of a result, the peers.
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
    bench_arrays arrays;
    shoal_key key;
    int merges;      /* else it sorts                                                        */
    int value_bytes; /* of a value: the place of its key in its row, in B after the places of A;
                        0: no values                                                         */
    int64_t na, nb;  /* keys per row of A, and of B                                          */
} bench_sortables;

int64_t bench_sort_na(const bench_problem *p); /* keys of A in a row of n */

int bench_sortables_make(bench_session *s, const bench_problem *p, bench_place *place,
                         void *sortables);

/* Brings the result of set 0 home and checks it without the library's help. `stable`: equal keys
 * must have kept their order, which the values show. */
shoal_status bench_sort_check(const bench_session *s, const bench_sortables *d, bool stable,
                              bench_check *check);

/* The same of a peer, for bench_add_peer(): not stable. */
shoal_status bench_sort_check_peer(const bench_session *s, const bench_arrays *d,
                                   bench_check *check);
int bench_peer_std(bench_session *s, bench_sortables *d); /* on the CPU: std::sort, std::merge */
int bench_peer_cub_sort(bench_session *s, bench_sortables *d); /* on CUDA */

#endif
