/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_test_speed.cu - 4096 blocks of 128 threads with ten barriers each, and as many of 64
 * threads with ten shuffles. A test suite can only be large if this takes seconds at most.
 */
#include <simt.h>
#include "check.h"

__global__ void barriers(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 128);
    int t = (int)threadIdx.x, v = t;
    for (int round = 0; round < 5; round++) {
        s[t] = v;
        __syncthreads();
        v = s[127 - t] + 1;
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = v;
}

__global__ void shuffles(int *out) {
    int v = (int)threadIdx.x;
    for (int round = 0; round < 10; round++) v = __shfl_xor_sync(0xffffffffu, v, 1) + 1;
    if (threadIdx.x == 0) out[blockIdx.x] = v;
}

static void expect(void (*kernel)(int *), unsigned threads, int value) {
    int *out = nullptr, last = -1;
    CHECK(cudaMalloc(&out, 4096 * sizeof(int)) == cudaSuccess);
    long long start = clock64();
    SHOAL_LAUNCH(kernel, 4096, threads, 0, 0, out);
    double seconds = 1e-9 * (double)(clock64() - start);
    CHECK(cudaMemcpy(&last, out + 4095, sizeof last, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(last == value);
    CHECK(seconds < 20); /* generous: the machine may be busy */
    printf("4096 blocks of %u threads: %.2f s\n", threads, seconds);
    cudaFree(out);
}

static void test_barriers() { expect(barriers, 128, 127 + 5); }
static void test_shuffles() { expect(shuffles, 64, 10); }

int main() {
    RUN(test_barriers);
    RUN(test_shuffles);
    return check_failures != 0;
}
