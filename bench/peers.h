/* SPDX-License-Identifier: Apache-2.0
 *
 * peers.h - other people's solvers on our data, in the same run. Each is opened at run time
 * (dlopen) and left out, with a remark, where it is missing.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "bench/tridiag.h"

/* Each adds a row for every function of the peer that fits the data, checked like our own. BENCH_OK
 * (also if the peer is not there), BENCH_STOPPED or BENCH_ERROR. */
int bench_peer_lapack(bench_session *s, bench_data *data);   /* on the CPU */
int bench_peer_cusparse(bench_session *s, bench_data *data); /* on CUDA    */

#endif
