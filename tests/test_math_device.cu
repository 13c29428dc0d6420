/* SPDX-License-Identifier: Apache-2.0
 *
 * test_math_device.cu - the hashes of test_math --hash, computed by a kernel: on a GPU when built
 * by nvcc, in the emulator when built as host C++. Same lines, to be compared by
 * test_math_hash.sh. Exit 77 where no device answers.
 *
 *     test_math_device --hash [N]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/launch.cuh"
#include "math_hash.h"

/* Each thread takes every (grid size)th argument and adds its sum once. */
static __global__ void hash_kernel(int function, unsigned long long count,
                                   unsigned long long *hashes) {
    unsigned long long stride = (unsigned long long)gridDim.x * blockDim.x;
    unsigned long long hash = 0;
    for (unsigned long long i = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
         i < count; i += stride) {
        hash += math_hash_term(function, i);
    }
    atomicAdd(&hashes[function], hash);
}

static int report(const char *doing, cudaError_t error) {
    fprintf(stderr, "test_math_device: %s: %s\n", doing, cudaGetErrorString(error));
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--hash") != 0) {
        fprintf(stderr, "usage: %s --hash [N]\n", argv[0]);
        return 64;
    }
    unsigned long long count = argc > 2 ? (unsigned long long)strtod(argv[2], NULL) : 10000000ull;
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices < 1) {
        fprintf(stderr, "test_math_device: skipped, no CUDA device answers\n");
        return 77;
    }
    unsigned long long hashes[MATH_FUNCTIONS] = { 0 };
    unsigned long long *device_hashes = NULL;
    cudaError_t error = cudaMalloc((void **)&device_hashes, sizeof hashes);
    if (error != cudaSuccess) return report("cudaMalloc", error);
    error = cudaMemcpy(device_hashes, hashes, sizeof hashes, cudaMemcpyHostToDevice);
    if (error != cudaSuccess) return report("copy to the device", error);
    for (int function = 0; function < MATH_FUNCTIONS; function++) {
        SHOAL_LAUNCH(hash_kernel, 128, 256, 0, 0, function, count, device_hashes);
        error = cudaGetLastError();
        if (error != cudaSuccess) return report("launch", error);
    }
    error = cudaMemcpy(hashes, device_hashes, sizeof hashes, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) return report("kernel or copy back", error);
    cudaFree(device_hashes);
    for (int function = 0; function < MATH_FUNCTIONS; function++) {
        printf("%-12s %016llx\n", math_name(function), hashes[function]);
    }
    return 0;
}
