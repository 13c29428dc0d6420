/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.h - recurrences on the bench: their data, the check of an answer, one method, the peers.
 */
#ifndef BENCH_RECUR_H
#define BENCH_RECUR_H

#include <shoal/recur.h>

#include "bench/session.h"

enum { BENCH_RECUR_S, BENCH_RECUR_T, BENCH_RECUR_W0, BENCH_RECUR_W, BENCH_RECUR_ARRAYS };

/* What stands for an array: bits of bench_problem.constant. */
enum { BENCH_CONSTANT_S = 1, BENCH_CONSTANT_T = 2 };

typedef bench_arrays bench_segments; /* the data of a problem: s, t, w0, w */

shoal_recur_opts bench_segments_shape(const bench_problem *p);

int bench_segments_make(bench_session *s, const bench_problem *p, bench_place *place,
                        void *segments);
bool bench_segments_same(const bench_problem *p, const bench_problem *q);

/* Brings w of set 0 home and checks it without the library's help. `status` is the solver's own, on
 * the host, NULL if it has none. */
shoal_status bench_recur_check(const bench_session *s, const bench_segments *d,
                               const int32_t *status, bench_check *check);

int bench_recur_run(bench_session *s, void *segments, const bench_problem *p, bool timed);

/* A row of a peer, whose task computes set i at its call i: checked like our own, then timed. */
int bench_recur_peer_row(bench_session *s, bench_segments *d, const bench_solver *peer);
int bench_peer_loop(bench_session *s, bench_segments *d); /* on the CPU: a loop in C         */
int bench_peer_cub(bench_session *s, bench_segments *d);  /* on CUDA: DeviceScan, affine pair */

#endif
