/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub_sort.h - CUB's DeviceMerge and DeviceSegmentedSort, as peers_cub_sort.cu calls them: u32, ascending.
 */
#ifndef BENCH_PEERS_CUB_SORT_H
#define BENCH_PEERS_CUB_SORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_cub_job { /* device pointers                                             */
    int64_t na, nb;            /* of a merge; of a sort na keys a row ...                     */
    int64_t count;             /* ... and so many rows                                        */
    int64_t *offsets;          /* of rows: count + 1                                          */
    const uint32_t *a, *b, *a_values, *b_values; /* a_values NULL: keys alone                 */
    uint32_t *out, *out_values;
    void *scratch;
    size_t bytes;
} bench_cub_job;

/* Bytes of scratch; 0 if CUB refuses. */
size_t bench_cub_merge_bytes(const bench_cub_job *job);
size_t bench_cub_sort_bytes(const bench_cub_job *job);
/* On the default stream. 0, or -1. */
int bench_cub_merge(const bench_cub_job *job);
int bench_cub_sort(const bench_cub_job *job);
const char *bench_cub_sort_version(void);

#ifdef __cplusplus
}
#endif
#endif
