/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub_sort.cu - CUB's merge of two arrays, and its sort of segments: u32 keys in ascending
 * order, with 4-byte values or without. Segments are sorted by SortKeys, and with values by
 * StableSortPairs, as ours are stable. One type: CUB takes minutes to compile for each.
 */
#include "bench/peers_foreign.h"

#include <cub/device/device_merge.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <cuda_runtime.h>

static cudaError_t merge(const bench_cub_job *j, void *scratch, size_t &bytes) {
    if (j->a_values)
        return cub::DeviceMerge::MergePairs(scratch, bytes, j->a, j->a_values, j->na, j->b,
                                            j->b_values, j->nb, j->out, j->out_values);
    return cub::DeviceMerge::MergeKeys(scratch, bytes, j->a, j->na, j->b, j->nb, j->out);
}

static cudaError_t sort(const bench_cub_job *j, void *scratch, size_t &bytes) {
    const int64_t items = j->na * j->count;
    if (j->a_values)
        return cub::DeviceSegmentedSort::StableSortPairs(scratch, bytes, j->a, j->out, j->a_values,
                                                         j->out_values, items, j->count, j->offsets,
                                                         j->offsets + 1);
    return cub::DeviceSegmentedSort::SortKeys(scratch, bytes, j->a, j->out, items, j->count,
                                              j->offsets, j->offsets + 1);
}

extern "C" size_t bench_cub_merge_bytes(const bench_cub_job *job) {
    size_t bytes = 0;
    return merge(job, nullptr, bytes) == cudaSuccess ? bytes : 0;
}
extern "C" size_t bench_cub_sort_bytes(const bench_cub_job *job) {
    size_t bytes = 0;
    return sort(job, nullptr, bytes) == cudaSuccess ? bytes : 0;
}
extern "C" int bench_cub_merge(const bench_cub_job *job) {
    size_t bytes = job->bytes;
    return merge(job, job->scratch, bytes) == cudaSuccess ? 0 : -1;
}
extern "C" int bench_cub_sort(const bench_cub_job *job) {
    size_t bytes = job->bytes;
    return sort(job, job->scratch, bytes) == cudaSuccess ? 0 : -1;
}
