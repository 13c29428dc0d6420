/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_cub.cu - a recurrence by CUB's DeviceScan: an inclusive scan of pairs (a, b), the maps
 * w -> a w + b, joined by (a1, b1), (a2, b2) -> (a2 a1, a2 b1 + b2). Pairs are formed from s and t
 * as they are read, and only b is written, with w0 put into the first pair: 3 numbers per row moved,
 * as our own. Compiled as a user would, with contraction on.
 */
#include "bench/peers_foreign.h"

#include <cub/device/device_scan.cuh>
#include <cuda_runtime.h>
#include <stdio.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>

namespace {

template <class T> struct pair_of { T a, b; };

template <class T> struct join {
    __host__ __device__ pair_of<T> operator()(const pair_of<T> &first,
                                              const pair_of<T> &then) const {
        return { then.a * first.a, then.a * first.b + then.b };
    }
};

template <class T> struct read_row {
    const T *s, *t, *w0;
    __host__ __device__ pair_of<T> operator()(int64_t i) const {
        if (i == 0) return { T(0), s[0] * *w0 + t[0] };
        return { s[i], t[i] };
    }
};

template <class T> struct keep_value {
    __host__ __device__ T operator()(const pair_of<T> &p) const { return p.b; }
};

template <class T>
cudaError_t scan(void *scratch, size_t &bytes, int64_t n, const void *s, const void *t,
                 const void *w0, void *w) {
    const read_row<T> rows = { static_cast<const T *>(s), static_cast<const T *>(t),
                               static_cast<const T *>(w0) };
    auto from = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), rows);
    auto to = thrust::make_transform_output_iterator(static_cast<T *>(w), keep_value<T>());
    return cub::DeviceScan::InclusiveScan(scratch, bytes, from, to, join<T>(), n);
}

} // namespace

extern "C" size_t bench_cub_bytes(int single, int64_t n) {
    size_t bytes = 0;
    const cudaError_t error =
        single ? scan<float>(nullptr, bytes, n, nullptr, nullptr, nullptr, nullptr)
               : scan<double>(nullptr, bytes, n, nullptr, nullptr, nullptr, nullptr);
    return error == cudaSuccess ? bytes : 0;
}

extern "C" int bench_cub_scan(int single, int64_t n, const void *s, const void *t, const void *w0,
                              void *w, void *scratch, size_t bytes) {
    const cudaError_t error = single ? scan<float>(scratch, bytes, n, s, t, w0, w)
                                     : scan<double>(scratch, bytes, n, s, t, w0, w);
    return error == cudaSuccess ? 0 : -1;
}

extern "C" const char *bench_cub_version(void) {
    static char text[32];
    snprintf(text, sizeof text, "CUB %d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
             CUB_SUBMINOR_VERSION);
    return text;
}
