/* SPDX-License-Identifier: Apache-2.0
 *
 * timing.cu - the GPU's clock (events in the default stream), cache and copy bandwidth.
 *
 * The copy is cudaMemcpyAsync from device memory to device memory, 1 GiB each way if there is
 * room: bytes read and bytes written are both counted.
 */
#include "bench/timing.h"

#include <cuda_runtime.h>
#include <stdio.h>

enum { COPY_SAMPLES = 11 };

static cudaEvent_t begin_event, end_event; /* made at the first use, as long as the process lives */

static int cuda_start(void) {
    if (!begin_event && (cudaEventCreate(&begin_event) != cudaSuccess ||
                         cudaEventCreate(&end_event) != cudaSuccess))
        return -1;
    return cudaEventRecord(begin_event, 0) == cudaSuccess ? 0 : -1;
}

static double cuda_stop(void) {
    float milliseconds = 0;
    if (cudaEventRecord(end_event, 0) != cudaSuccess) return -1;
    if (cudaEventSynchronize(end_event) != cudaSuccess) return -1;
    if (cudaEventElapsedTime(&milliseconds, begin_event, end_event) != cudaSuccess) return -1;
    return 1e-3 * milliseconds;
}

static size_t cuda_cache(void) {
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device) != cudaSuccess) return 0;
    return (size_t)bytes;
}

/* One copy there, `samples` times; the median in bytes per second. */
static double timed_copies(void *to, const void *from, size_t bytes) {
    double seconds[COPY_SAMPLES];
    bench_stats stats;
    for (int s = -1; s < COPY_SAMPLES; s++) { /* the first is the warm-up */
        if (cuda_start()) return 0;
        if (cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0) != cudaSuccess) return 0;
        double time = cuda_stop();
        if (time <= 0) return 0;
        if (s >= 0) seconds[s] = time;
    }
    bench_summarise(seconds, COPY_SAMPLES, 1, &stats);
    return 2.0 * (double)bytes / stats.median;
}

static double cuda_copy_rate(int, bool (*)(void)) {
    size_t free_bytes = 0, all = 0, bytes = (size_t)1 << 30;
    if (cudaMemGetInfo(&free_bytes, &all) != cudaSuccess) return 0;
    while (2 * bytes > free_bytes / 2 && bytes > 1 << 20) bytes /= 2;
    void *from = NULL, *to = NULL;
    double rate = 0;
    if (cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess &&
        cudaMemset(from, 1, bytes) == cudaSuccess)
        rate = timed_copies(to, from, bytes);
    cudaFree(from);
    cudaFree(to);
    cudaGetLastError(); /* a failed attempt must not be reported by the next launch */
    return rate;
}

static void cuda_software(char *text, size_t length) {
    int runtime = 0, driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    snprintf(text, length, "CUDA %d.%d, driver for CUDA %d.%d", runtime / 1000, runtime % 1000 / 10,
             driver / 1000, driver % 1000 / 10);
}

extern "C" const bench_device bench_cuda = { "cuda",         cuda_start, cuda_stop,
                                             cuda_copy_rate, cuda_cache, cuda_software };
