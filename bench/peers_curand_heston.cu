/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_curand_heston.cu - Heston's call by Euler's scheme in f32 as a plain kernel has it: a thread a
 * path, a state of Philox4x32-10 each, curand_normal4() for two steps, sums by atomic additions.
 * Compiled as a user would, with contraction on.
 */
#include "bench/peers_curand_heston.h"

#include <cuda_runtime.h>
#include <curand_kernel.h>

namespace {

enum { THREADS = 256 };

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

} // namespace

extern "C" int bench_curand_heston(int64_t paths, int64_t steps, uint64_t seed, double *sums) {
    cudaMemsetAsync(sums, 0, 2 * sizeof *sums, 0);
    euler<<<(unsigned)((paths + THREADS - 1) / THREADS), THREADS>>>(paths, (int)steps, seed, sums);
    return cudaGetLastError() == cudaSuccess ? 0 : -1;
}
