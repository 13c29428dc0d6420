/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand_heston.h - Heston's call by Euler in a kernel with cuRAND, as seen from C.
 */
#ifndef BENCH_PEERS_CURAND_HESTON_H
#define BENCH_PEERS_CURAND_HESTON_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds payoffs and their squares to sums[0] and sums[1], which the call sets to 0, on the default stream.
 * 0, or -1. */
int bench_curand_heston(int64_t paths, int64_t steps, uint64_t seed, double *sums);

#ifdef __cplusplus
}
#endif
#endif
