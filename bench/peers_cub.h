/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub.h - CUB's DeviceScan on affine maps, as peers_cub.cu runs it.
 */
#ifndef BENCH_PEERS_CUB_H
#define BENCH_PEERS_CUB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch for n rows of float (single) or double; 0 if CUB refuses. */
size_t bench_cub_bytes(int single, int64_t n);
/* w_i = s_i w_{i-1} + t_i, w_{-1} = *w0: device pointers; on the default stream. 0, or -1. */
int bench_cub_scan(int single, int64_t n, const void *s, const void *t, const void *w0, void *w,
                   void *scratch, size_t bytes);
const char *bench_cub_version(void);

#ifdef __cplusplus
}
#endif
#endif
