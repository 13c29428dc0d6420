/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_many.cu - the systems of smallsym_many.h made and judged on the GPU, so that nothing but
 * a tally is copied back. One warp a system, one system a block: a copy of A as doubles is 33 KB at
 * n = 64, and at 1 the launch of a million blocks takes less than a millisecond.
 */
#include "core/launch.cuh"
#include "smallsym_many.h"

enum { WARP = 32, COMPARERS = 256 };

typedef struct rule_list {
    int of[MANY_FAULTS];
} rule_list;

__global__ void make_kernel(many_family f, many_batch to) {
    SHOAL_SHARED_ARRAY(many_turn, turn, 1);
    const int lane = (int)threadIdx.x;
    const int64_t at = blockIdx.x, k = to.first + at;
    many_draw(&f, k, turn, lane, WARP);
    __syncthreads();
    many_order(&f, turn, lane, WARP);
    __syncthreads();
    many_write(&f, k, turn, &to, at, lane, WARP);
}

/* A maximum that is not above what is there need not be told. */
__device__ static void add_item(unsigned long long *tally, int item, unsigned long long value) {
    if (value == 0) return;
    if (item < TALLY_SUMS)
        atomicAdd(tally + item, value);
    else if (value > shoal_load_relaxed(tally + item))
        atomicMax(tally + item, value);
}

__device__ static double warp_max(double v) {
    for (int apart = WARP / 2; apart > 0; apart /= 2)
        v = many_max(v, __shfl_xor_sync(0xffffffffu, v, apart));
    return v;
}

__global__ void check_kernel(many_family f, many_batch done, many_outcome outcome, rule_list rules,
                             unsigned long long *tally) {
    SHOAL_SHARED(double, copy);
    const int lane = (int)threadIdx.x;
    const int64_t at = blockIdx.x, k = done.first + at;
    many_copy(&f, &done, at, copy, lane, WARP);
    __syncthreads();
    const many_sizes mine = many_rows(&f, &done, at, copy, lane, WARP);
    const many_sizes most = { warp_max(mine.residual), warp_max(mine.row), warp_max(mine.x),
                              warp_max(mine.b) };
    const many_verdict v = many_judge(&f, k, rules.of, outcome.status[at], most);
    if (lane < TALLY) add_item(tally, lane, many_item(&v, k, lane));
}

__global__ void compare_kernel(many_family f, many_batch done, many_outcome factored,
                               many_outcome eigen, unsigned long long *tally) {
    const int64_t at = (int64_t)blockIdx.x * COMPARERS + threadIdx.x;
    if (at >= done.count) return;
    const many_verdict v = many_compare(&f, at, &factored, &eigen);
    for (int item = 0; item < TALLY; item++)
        add_item(tally, item, many_item(&v, done.first + at, item));
}

static int make(const many_family *f, const many_batch *to) {
    SHOAL_LAUNCH(make_kernel, (unsigned)to->count, WARP, 0, nullptr, *f, *to);
    return cudaGetLastError() != cudaSuccess;
}

static int check(const many_family *f, const many_batch *done, const many_outcome *outcome,
                 const int *rules, unsigned long long *tally) {
    rule_list list;
    for (int i = 0; i < MANY_FAULTS; i++) list.of[i] = rules[i];
    SHOAL_LAUNCH(check_kernel, (unsigned)done->count, WARP,
                 (size_t)many_copy_size(f->n) * sizeof(double), nullptr, *f, *done, *outcome, list,
                 tally);
    return cudaGetLastError() != cudaSuccess;
}

static int compare(const many_family *f, const many_batch *done, const many_outcome *factored,
                   const many_outcome *eigen, unsigned long long *tally) {
    const unsigned blocks = (unsigned)((done->count + COMPARERS - 1) / COMPARERS);
    SHOAL_LAUNCH(compare_kernel, blocks, COMPARERS, 0, nullptr, *f, *done, *factored, *eigen,
                 tally);
    return cudaGetLastError() != cudaSuccess;
}

extern "C" const many_backend many_cuda = { make, check, compare };
