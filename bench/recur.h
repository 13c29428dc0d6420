/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.h - recurrences on the bench: their data, the check of an answer, the peers.
 */
#ifndef BENCH_RECUR_H
#define BENCH_RECUR_H

#include <shoal/recur.h>

#include "bench/session.h"

enum { BENCH_RECUR_S, BENCH_RECUR_T, BENCH_RECUR_W0, BENCH_RECUR_W, BENCH_RECUR_ARRAYS };

/* Constant arrays: bits of bench_problem.constant. */
enum { BENCH_CONSTANT_S = 1, BENCH_CONSTANT_T = 2 };

/* Brings w of set 0 home and checks it without the library's help. `status` is the solver's own, on
 * the host, NULL if it has none. */
shoal_status bench_recur_check(const bench_session *s, const bench_arrays *d, const int32_t *status,
                               bench_check *check);

/* The same of a peer, for bench_add_peer(). */
shoal_status bench_recur_check_peer(const bench_session *s, const bench_arrays *d,
                                    bench_check *check);
int bench_peer_loop(bench_session *s, bench_arrays *d); /* on the CPU: a loop in C         */
int bench_peer_cub(bench_session *s, bench_arrays *d);  /* on CUDA: DeviceScan, affine pair */

#endif
