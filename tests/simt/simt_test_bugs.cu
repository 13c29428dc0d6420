/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_test_bugs.cu - programs with one bug each, which the emulator must find. caught.sh runs
 * them: `simt_test_bugs NAME`, where every name below is a planted bug and the mark BUG(NAME)
 * stands in the line that a sanitizer must point at. Exit 1 means that a result was wrong, which
 * is how some are found.
 */
#include <simt.h>
#include <cooperative_groups.h>
#include <vector>
#include "check.h"

static int wrong_results;

/* Each thread reads its neighbour's number: without the barrier it may not be there yet. */
template <bool Barrier> __global__ void neighbours(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 128);
    unsigned t = threadIdx.x;
    s[t] = (int)t;
    if (Barrier) __syncthreads();
    out[t] = s[(t + 1) % blockDim.x]; /* BUG(missing_barrier) BUG(missing_barrier_order) */
}

/* The same half a block of 1024 threads away: the race checker tells that many apart. */
__global__ void far_neighbours(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 1024);
    const unsigned t = threadIdx.x;
    s[t] = (int)t;
    if (t == 600) out[0] = s[t - 512]; /* BUG(missing_barrier_wide) */
}

/* The same inside a warp */
__global__ void warp_neighbours(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 64);
    unsigned t = threadIdx.x;
    s[t] = (int)t;
    if (t >= 32) __syncwarp();
    out[t] = s[t ^ 1]; /* BUG(missing_syncwarp) */
}

/* A shuffle brings lanes together, but orders no memory. */
__global__ void shuffled_neighbours(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 32);
    unsigned t = threadIdx.x;
    s[t] = (int)t;
    const int one = __shfl_xor_sync(0xffffffffu, 1, 1);
    out[t] = s[t ^ 1] * one; /* BUG(shuffle_for_barrier) */
}

/* A barrier too few between two rounds: reading one round's numbers while the next are written */
__global__ void rounds(int *out) {
    SHOAL_SHARED_ARRAY(int, s, 64);
    int t = (int)threadIdx.x, v = t;
    for (int round = 0; round < 4; round++) {
        s[t] = v; /* BUG(one_barrier_of_two) */
        __syncthreads();
        v += s[(t + 7) % 64];
    }
    out[t] = v;
}

__global__ void blocks_collide(int *out) {
    if (threadIdx.x == 5) out[0] += 1; /* BUG(race_between_blocks) */
}

/* The flag is raised without a fence, so that the number may come after it. */
__global__ void no_fence(int *out, int *flag) {
    if (blockIdx.x == 0) {
        out[1] = 7;
        atomicExch(flag, 1);
    } else {
        while (atomicAdd(flag, 0) == 0) SHOAL_SPIN_WAIT();
        __threadfence();
        out[0] = out[1]; /* BUG(missing_fence) */
    }
}

__global__ void past_dynamic(int *out, int count) {
    SHOAL_SHARED(int, s);
    s[threadIdx.x] = 1;
    if (threadIdx.x == 0) s[count] = 2; /* BUG(past_dynamic_shared) */
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void past_static(int *out, int count) {
    SHOAL_SHARED_ARRAY(int, a, 33);
    SHOAL_SHARED_ARRAY(int, b, 33);
    a[threadIdx.x] = b[threadIdx.x] = 1;
    if (threadIdx.x == 0) a[count] = 2; /* BUG(past_static_shared) */
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

__global__ void past_static_by_pointer(int *out, int count) {
    SHOAL_SHARED_ARRAY(int, a, 33);
    int *p = a;
    p[threadIdx.x] = 1;
    if (threadIdx.x == 0) p[count] = 2; /* BUG(past_static_pointer) */
    out[threadIdx.x] = a[threadIdx.x];
}

__global__ void past_global(int *out, int count) {
    out[threadIdx.x + (threadIdx.x == 31 ? count - 31 : 0)] = 1; /* BUG(past_global) */
}

__global__ void divergent(int *out) {
    if (threadIdx.x % 2) __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void two_barriers(int *out) {
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads_or(0);
    out[threadIdx.x] = 1;
}

__global__ void barrier_in_branch_of_warp(int *out) {
    if (threadIdx.x < 3)
        __syncwarp();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void stranger(int *out) {
    out[threadIdx.x] = threadIdx.x < 16 ? __shfl_sync(0xffffu, 1, 20) : 0;
}

__global__ void not_in_mask(int *out) { out[threadIdx.x] = __shfl_sync(0xffffu, 1, 0); }

__global__ void uninitialised(double *out) {
    SHOAL_SHARED_ARRAY(double, sum, 32);
    sum[threadIdx.x] += 1.0; /* nobody made it zero */
    out[threadIdx.x] = sum[threadIdx.x];
}

__global__ void lonely_block(int *out) {
    if (blockIdx.x > 0) cooperative_groups::this_grid().sync();
    out[0] = 1;
}

__global__ void no_one_answers(int *flag) {
    while (shoal_load_relaxed(flag) != 42) SHOAL_SPIN_WAIT();
}

static void expect(const int *out, int count, int (*value)(int)) {
    std::vector<int> seen(count);
    cudaMemcpy(seen.data(), out, count * sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong_results += seen[i] != value(i);
}

static bool plant(const char *bug, int *out) {
    auto is = [bug](const char *name) { return !strcmp(bug, name); };
    if (is("missing_barrier") || is("missing_barrier_order")) {
        SHOAL_LAUNCH((neighbours<false>), 1, 128, 0, 0, out);
        expect(out, 128, [](int i) { return (i + 1) % 128; });
    } else if (is("none")) {
        SHOAL_LAUNCH((neighbours<true>), 1, 128, 0, 0, out);
        expect(out, 128, [](int i) { return (i + 1) % 128; });
    } else if (is("missing_syncwarp"))
        SHOAL_LAUNCH(warp_neighbours, 1, 64, 0, 0, out);
    else if (is("missing_barrier_wide"))
        SHOAL_LAUNCH(far_neighbours, 1, 1024, 0, 0, out);
    else if (is("shuffle_for_barrier"))
        SHOAL_LAUNCH(shuffled_neighbours, 1, 32, 0, 0, out);
    else if (is("one_barrier_of_two"))
        SHOAL_LAUNCH(rounds, 1, 64, 0, 0, out);
    else if (is("race_between_blocks"))
        SHOAL_LAUNCH(blocks_collide, 2, 32, 0, 0, out);
    else if (is("missing_fence"))
        SHOAL_LAUNCH(no_fence, 2, 1, 0, 0, out, out + 2);
    else if (is("past_dynamic_shared") || is("past_dynamic_canary"))
        SHOAL_LAUNCH(past_dynamic, 1, 33, 33 * 4, 0, out, 33);
    else if (is("past_static_pointer"))
        SHOAL_LAUNCH(past_static_by_pointer, 1, 33, 0, 0, out, 33);
    else if (is("past_static_shared") || is("past_static_canary"))
        SHOAL_LAUNCH(past_static, 1, 33, 0, 0, out, 33);
    else if (is("past_global") || is("past_global_canary"))
        SHOAL_LAUNCH(past_global, 1, 32, 0, 0, out, 128);
    else if (is("before_global_canary"))
        SHOAL_LAUNCH(past_global, 1, 32, 0, 0, out - 33, 32);
    else if (is("never_freed"))
        cudaMalloc(&out, 5);
    else if (is("divergent"))
        SHOAL_LAUNCH(divergent, dim3(2, 2), 100, 0, 0, out);
    else if (is("two_barriers"))
        SHOAL_LAUNCH(two_barriers, 1, 64, 0, 0, out);
    else if (is("warp_and_block"))
        SHOAL_LAUNCH(barrier_in_branch_of_warp, 1, 32, 0, 0, out);
    else if (is("stranger"))
        SHOAL_LAUNCH(stranger, 1, 32, 0, 0, out);
    else if (is("not_in_mask"))
        SHOAL_LAUNCH(not_in_mask, 1, 32, 0, 0, out);
    else if (is("lonely_block"))
        SHOAL_LAUNCH_COOPERATIVE(lonely_block, 3, 32, 0, 0, out);
    else if (is("no_cooperation"))
        SHOAL_LAUNCH(lonely_block, 3, 32, 0, 0, out);
    else if (is("no_one_answers"))
        SHOAL_LAUNCH(no_one_answers, 1, 2, 0, 0, out);
    else if (is("uninitialised")) {
        double sum[32];
        SHOAL_LAUNCH(uninitialised, 1, 32, 0, 0, (double *)out);
        cudaMemcpy(sum, out, sizeof sum, cudaMemcpyDeviceToHost);
        for (double s : sum) wrong_results += s != 1.0;
        if (isnan(sum[0])) fprintf(stderr, "not a number\n");
    } else
        return false;
    return true;
}

int main(int argc, char **argv) {
    int *out = nullptr;
    if (argc != 2 || cudaMalloc(&out, 128 * sizeof(int)) != cudaSuccess) return 2;
    cudaMemset(out, 0, 128 * sizeof(int));
    if (!plant(argv[1], out)) return 2;
    if (cudaGetLastError() != cudaSuccess) return 2;
    cudaFree(out);
    if (wrong_results) fprintf(stderr, "%d wrong results\n", wrong_results);
    return wrong_results != 0;
}
