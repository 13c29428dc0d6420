/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand.cu - cuRAND's device functions, as in its manual: each thread has a state of
 * Philox4x32-10, set up with the thread's number for its subsequence, and goes over the array in
 * steps of the grid, which fills the GPU once; 16 bytes are stored at a time. Compiled as a user
 * would, with contraction on: the rest of Shoal has it off.
 */
#include "bench/peers_foreign.h"

#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <stdio.h>
#include <string.h>

namespace {

enum { THREADS = 256 };

typedef curandStatePhilox4_32_10_t state;

/* A law: a block of 16 bytes by one of cuRAND's functions. */
#define LAW(name, type, call)                                                                      \
    struct name {                                                                                  \
        typedef type block;                                                                        \
        static __device__ block make(state *s, double lambda) {                                    \
            (void)lambda;                                                                          \
            return call;                                                                           \
        }                                                                                          \
    };
LAW(words, uint4, curand4(s))
LAW(uniform_single, float4, curand_uniform4(s))
LAW(uniform_double, double2, curand_uniform2_double(s))
LAW(normal_single, float4, curand_normal4(s))
LAW(normal_double, double2, curand_normal2_double(s))
LAW(poisson, uint4, curand_poisson4(s, lambda))

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

/* Heston's call by Euler's scheme in f32 as in a plain kernel: one thread per path, a state each,
 * curand_normal4() for two steps, sums by atomic additions. */
__global__ void __launch_bounds__(THREADS)
    euler(long long paths, int steps, unsigned long long seed, double *sums) {
    const long long path = (long long)blockIdx.x * THREADS + threadIdx.x;
    const float dt = 1.0f / (float)steps, root = sqrtf(dt), rho = -0.7f,
                rest = sqrtf(1 - rho * rho);
    const float kappa = 0.5f, theta = 0.1f, sigma = 0.3f;
    float v = 0.1f, x = 0;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, (unsigned long long)path, 0, &state);
    for (int k = 0; k < steps; k += 2) {
        const float4 g = curand_normal4(&state);
        const float z[4] = { g.x, g.y, g.z, g.w };
        for (int half = 0; half < 2 && k + half < steps; half++) {
            const float positive = fmaxf(v, 0.0f), vol = sqrtf(positive) * root;
            x += vol * (rho * z[2 * half] + rest * z[2 * half + 1]) - 0.5f * positive * dt;
            v += kappa * (theta - positive) * dt + sigma * vol * z[2 * half];
        }
    }
    const float pay = path < paths ? fmaxf(expf(x) - 1.0f, 0.0f) : 0.0f;
    double sum = pay, squares = (double)pay * pay;
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
        squares += __shfl_down_sync(0xffffffffu, squares, distance);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(&sums[0], sum);
        atomicAdd(&sums[1], squares);
    }
}

struct entry {
    const char *method, *type, *function;
    const void *kernel;
};

#define ENTRY(method, type, function, law)                                                         \
    { method, type, function, reinterpret_cast<const void *>(fill<law>) }
const entry entries[] = { ENTRY("words", "u32", "curand4", words),
                          ENTRY("uniform", "f32", "curand_uniform4", uniform_single),
                          ENTRY("uniform", "f64", "curand_uniform2_double", uniform_double),
                          ENTRY("normal", "f32", "curand_normal4", normal_single),
                          ENTRY("normal", "f64", "curand_normal2_double", normal_double),
                          ENTRY("poisson", "u32", "curand_poisson4", poisson) };

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

extern "C" int bench_curand_heston(int64_t paths, int64_t steps, uint64_t seed, double *sums) {
    cudaMemsetAsync(sums, 0, 2 * sizeof *sums, 0);
    euler<<<(unsigned)((paths + THREADS - 1) / THREADS), THREADS>>>(paths, (int)steps, seed, sums);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}

extern "C" const char *bench_curand_version(void) {
    static char text[48];
    snprintf(text, sizeof text, "cuRAND %d.%d.%d, device functions", CURAND_VER_MAJOR,
             CURAND_VER_MINOR, CURAND_VER_PATCH);
    return text;
}
