/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand.cu - cuRAND's device functions, the way its manual says: each thread has a state of
 * Philox4x32-10, set up with the thread's number for its subsequence, and goes over the array in
 * steps of the grid, which fills the GPU once; 16 bytes are stored at a time. Compiled as a user
 * would, with contraction on: the rest of Shoal has it off.
 */
#include "bench/peers_curand.h"

#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <stdio.h>
#include <string.h>

namespace {

enum { THREADS = 256 };

typedef curandStatePhilox4_32_10_t state;

/* clang-format off */
struct words {
    typedef uint4 block;
    static __device__ block make(state *s, double) { return curand4(s); }
};
struct uniform_single {
    typedef float4 block;
    static __device__ block make(state *s, double) { return curand_uniform4(s); }
};
struct uniform_double {
    typedef double2 block;
    static __device__ block make(state *s, double) { return curand_uniform2_double(s); }
};
struct normal_single {
    typedef float4 block;
    static __device__ block make(state *s, double) { return curand_normal4(s); }
};
struct normal_double {
    typedef double2 block;
    static __device__ block make(state *s, double) { return curand_normal2_double(s); }
};
struct poisson {
    typedef uint4 block;
    static __device__ block make(state *s, double lambda) { return curand_poisson4(s, lambda); }
};
/* clang-format on */

/* `bytes` of numbers; the last block may be cut. */
template <typename law>
__global__ void __launch_bounds__(THREADS)
    fill(unsigned long long seed, double lambda, long long bytes, void *out) {
    typedef typename law::block block;
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long step = (long long)gridDim.x * THREADS, whole = bytes / 16;
    state s;
    curand_init(seed, (unsigned long long)thread, 0, &s);
    long long i = thread;
    for (; i < whole; i += step) static_cast<block *>(out)[i] = law::make(&s, lambda);
    if (i != whole || bytes % 16 == 0)
        return; /* apart: a block cut in the loop would live in memory */
    const block made = law::make(&s, lambda);
    memcpy(static_cast<block *>(out) + i, &made, static_cast<size_t>(bytes % 16));
}

struct entry {
    const char *method, *type, *function;
    const void *kernel;
};

const entry entries[] = {
    { "words", "u32", "curand4", reinterpret_cast<const void *>(fill<words>) },
    { "uniform", "f32", "curand_uniform4", reinterpret_cast<const void *>(fill<uniform_single>) },
    { "uniform", "f64", "curand_uniform2_double",
      reinterpret_cast<const void *>(fill<uniform_double>) },
    { "normal", "f32", "curand_normal4", reinterpret_cast<const void *>(fill<normal_single>) },
    { "normal", "f64", "curand_normal2_double",
      reinterpret_cast<const void *>(fill<normal_double>) },
    { "poisson", "u32", "curand_poisson4", reinterpret_cast<const void *>(fill<poisson>) },
};

} // namespace

extern "C" int bench_curand_choose(const char *method, const char *type, bench_curand *job) {
    for (const entry &e : entries) {
        if (strcmp(e.method, method) != 0 || strcmp(e.type, type) != 0) continue;
        int device = 0, multiprocessors = 0, resident = 0;
        if (cudaGetDevice(&device) != cudaSuccess ||
            cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device) !=
                cudaSuccess ||
            cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, e.kernel, THREADS, 0) !=
                cudaSuccess)
            return -1;
        *job = { e.kernel, e.function, multiprocessors * resident };
        return job->blocks > 0 ? 0 : -1;
    }
    return -1;
}

extern "C" int bench_curand_fill(const bench_curand *job, uint64_t seed, double lambda,
                                 int64_t count, void *out) {
    unsigned long long key = seed;
    const bool wide = strstr(job->function, "double") != nullptr;
    long long bytes = static_cast<long long>(count) * (wide ? 8 : 4);
    void *arguments[] = { &key, &lambda, &bytes, &out };
    return cudaLaunchKernel(job->kernel, dim3(static_cast<unsigned>(job->blocks)), dim3(THREADS),
                            arguments, 0, nullptr) == cudaSuccess
               ? 0
               : -1;
}

extern "C" const char *bench_curand_version(void) {
    static char text[48];
    snprintf(text, sizeof text, "cuRAND %d.%d.%d, device functions", CURAND_VER_MAJOR,
             CURAND_VER_MINOR, CURAND_VER_PATCH);
    return text;
}
