/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_none.c - in the place of the peers in a build without them (SHOAL_PEERS=OFF): no rows. The
 * program says so once (bench_has_peers).
 */
#include "bench/peers.h"
#include "bench/peers_smallsym.h"
#include "bench/peers_symindef.h"
#include "bench/pricing.h"
#include "bench/recur.h"
#include "bench/sort.h"

#define NONE(name, type)                                                                           \
    int name(bench_session *s, type d) {                                                           \
        (void)s, (void)d;                                                                          \
        return BENCH_OK;                                                                           \
    }

NONE(bench_peer_lapack, bench_data *)
NONE(bench_peer_cusparse, bench_data *)
NONE(bench_peer_libm, const bench_numbers *)
NONE(bench_peer_curand, const bench_numbers *)
NONE(bench_peers_smallsym, bench_systems *)
NONE(bench_peers_symindef, bench_matrix *)
NONE(bench_peer_plain_heston, bench_prices *)
NONE(bench_peer_curand_heston, bench_prices *)
NONE(bench_peer_quantlib, bench_prices *)
NONE(bench_peer_loop, bench_segments *)
NONE(bench_peer_cub, bench_segments *)
NONE(bench_peer_std, bench_sortables *)
NONE(bench_peer_cub_sort, bench_sortables *)
