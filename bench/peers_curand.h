/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand.h - cuRAND's device functions, as peers_curand.cu runs them.
 */
#ifndef BENCH_PEERS_CURAND_H
#define BENCH_PEERS_CURAND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_curand { /* a kernel, and the grid that fills the GPU */
    const void *kernel;
    const char *function; /* "curand_normal4" */
    int blocks;
} bench_curand;

/* The kernel for a method of ours and a type ("f32", "f64", "u32"): 0, or -1 if cuRAND has none, or
 * no GPU answers. */
int bench_curand_choose(const char *method, const char *type, bench_curand *job);
/* `count` numbers into an array aligned to 16 bytes; on the default stream. 0, or -1. */
int bench_curand_fill(const bench_curand *job, uint64_t seed, double lambda, int64_t count,
                      void *out);
/* "cuRAND 10.4.0": of the headers that were compiled. */
const char *bench_curand_version(void);

#ifdef __cplusplus
}
#endif
#endif
