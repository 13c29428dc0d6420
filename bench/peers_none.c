/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_none.c - in the place of peers that a build does not have: no rows. Without any (SHOAL_PEERS=OFF) bench_run() adds a remark.
 */
#include "bench/band.h"
#include "bench/smallsym.h"
#include "bench/symindef.h"
#include "bench/pricing.h"
#include "bench/recur.h"
#include "bench/sort.h"

#define NONE(name, type)                                                                           \
    int name(bench_session *s, type d) {                                                           \
        (void)s, (void)d;                                                                          \
        return BENCH_OK;                                                                           \
    }

#if !BENCH_HAS_PEERS
NONE(bench_peer_lapack, bench_arrays *)
NONE(bench_peer_cusparse, bench_arrays *)
NONE(bench_band_lapack, bench_arrays *)
NONE(bench_band_cusparse, bench_arrays *)
NONE(bench_peer_libm, const bench_numbers *)
NONE(bench_peer_curand, const bench_numbers *)
NONE(bench_peers_smallsym, bench_arrays *)
NONE(bench_peers_symindef, void *)
NONE(bench_peer_plain_heston, bench_prices *)
NONE(bench_peer_loop, bench_arrays *)
#endif
#ifndef BENCH_HAS_CURAND
NONE(bench_peer_curand_heston, bench_prices *)
#endif
#if !BENCH_HAS_PEERS || !defined BENCH_HAS_QUANTLIB
NONE(bench_peer_quantlib, bench_prices *)
#endif
#ifndef BENCH_HAS_CUB
NONE(bench_peer_cub, bench_arrays *)
NONE(bench_peer_cub_sort, bench_sortables *)
#endif
#ifndef BENCH_HAS_STD
NONE(bench_peer_std, bench_sortables *)
#endif
#if BENCH_HAS_PEERS && !defined BENCH_HAS_THESIS
NONE(bench_peer_thesis, bench_matrix *)
#endif
