/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_test_words.cu - each device word against what the CUDA guide says of it: shuffles with
 * widths and masks, votes, matches, reductions, partial warps, early exits, voting barriers,
 * atomics, shared memory, arithmetic.
 */
#include <simt.h>
#include <vector>
#include "check.h"

/* Runs the kernel over one block and returns what its threads wrote, one T each. */
template <class T> static std::vector<T> run_block(void (*kernel)(T *), unsigned threads) {
    T *out = nullptr;
    std::vector<T> host(threads);
    CHECK(cudaMalloc(&out, threads * sizeof(T)) == cudaSuccess);
    CHECK(cudaMemset(out, 0, threads * sizeof(T)) == cudaSuccess);
    SHOAL_LAUNCH(kernel, 1, threads, 0, 0, out);
    CHECK(cudaGetLastError() == cudaSuccess);
    cudaMemcpy(host.data(), out, threads * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(out);
    return host;
}

const unsigned full = 0xffffffffu;

/* Shuffles: four sources packed into one number */
template <int Width> __global__ void shuffles(int *out) {
    int lane = (int)threadIdx.x % 32;
    int up = __shfl_up_sync(full, lane, 3, Width), down = __shfl_down_sync(full, lane, 3, Width);
    int across = __shfl_xor_sync(full, lane, 5, Width), at = __shfl_sync(full, lane, 6, Width);
    out[threadIdx.x] = up | down << 8 | across << 16 | at << 24;
}

template <int Width> static void expect_shuffles() {
    std::vector<int> seen = run_block<int>(shuffles<Width>, 64);
    int wrong = 0;
    for (int t = 0; t < 64; t++) {
        int lane = t % 32, first = lane / Width * Width, last = first + Width - 1;
        int up = lane - 3 < first ? lane : lane - 3, down = lane + 3 > last ? lane : lane + 3;
        int across = (lane ^ 5) > last ? lane : lane ^ 5, at = first + 6 % Width;
        wrong += seen[t] != (up | down << 8 | across << 16 | at << 24);
    }
    CHECK(wrong == 0);
}

static void test_shuffle_widths() {
    expect_shuffles<32>();
    expect_shuffles<16>();
    expect_shuffles<8>();
    expect_shuffles<4>();
    expect_shuffles<1>();
}

template <class T> __global__ void rotate(T *out) {
    T value = (T)1 / (T)(threadIdx.x + 1) + (T)threadIdx.x * (T)1000003;
    out[threadIdx.x] = __shfl_sync(full, value, (int)threadIdx.x + 1); /* modulo 32 */
}

template <class T> static void expect_rotate() {
    std::vector<T> seen = run_block<T>(rotate<T>, 32);
    for (int t = 0; t < 32; t++) {
        int from = (t + 1) % 32;
        CHECK(seen[t] == (T)1 / (T)(from + 1) + (T)from * (T)1000003);
    }
}

static void test_shuffle_types() {
    expect_rotate<int>();
    expect_rotate<unsigned>();
    expect_rotate<long long>();
    expect_rotate<unsigned long long>();
    expect_rotate<float>();
    expect_rotate<double>();
}

/* 40 threads: the second warp has 8 lanes. Even and odd lanes then meet apart, in opposite order.
 */
__global__ void partial(unsigned *out) {
    unsigned lane = threadIdx.x % 32, ballot = __ballot_sync(full, lane % 3 == 0);
    unsigned mine = lane % 2 ? 0xaaaaaaaau : 0x55555555u, sum = 0;
    for (unsigned turn = 0; turn < 3 + lane % 2; turn++) sum += __reduce_add_sync(mine, lane);
    int all = __all_sync(full, lane < 32), any = __any_sync(full, lane == 7);
    int most = __reduce_max_sync(full, -(int)lane), least = __reduce_min_sync(full, (int)lane - 5);
    __syncwarp();
    bool good = ballot == (threadIdx.x < 32 ? 0x49249249u : 0x49u) && all && any && most == 0 &&
                least == -5 && __match_any_sync(full, lane % 2) == (mine & __ballot_sync(full, 1));
    unsigned lanes = threadIdx.x < 32 ? 16 : 4, parity = lane % 2;
    good = good && sum == (3 + parity) * (lanes * (lanes - 1) + parity * lanes);
    good = good && __reduce_xor_sync(full, lane) == 0 && __reduce_and_sync(full, lane | 64u) == 64;
    good = good && __reduce_or_sync(full, lane) == (threadIdx.x < 32 ? 31u : 7u);
    out[threadIdx.x] = good;
}

/* Half of each warp leaves at once; the rest still meets under the full mask. */
__global__ void early_exit(unsigned *out) {
    if (threadIdx.x % 2) return;
    out[threadIdx.x] = __ballot_sync(full, 1);
}

__global__ void voting_barriers(int *out) {
    int t = (int)threadIdx.x, any = __syncthreads_or(t == 17), none = __syncthreads_or(t > 99);
    int every = __syncthreads_and(t < 50), most = __syncthreads_and(t != 49);
    out[t] = any + 10 * (none != 0) + 100 * every + 1000 * (most != 0) +
             10000 * __syncthreads_count(t % 5 == 0);
}

static void test_votes() {
    for (unsigned good : run_block<unsigned>(partial, 40)) CHECK(good == 1);
    std::vector<unsigned> left = run_block<unsigned>(early_exit, 64);
    for (unsigned t = 0; t < 64; t++) CHECK(left[t] == (t % 2 ? 0 : 0x55555555u));
    for (int votes : run_block<int>(voting_barriers, 50)) CHECK(votes == 100101);
}

/* Atomics: 96 threads on one word of each kind, in shared and in global memory */
__global__ void atomics(unsigned long long *out) {
    SHOAL_SHARED_ARRAY(unsigned, word, 8);
    SHOAL_SHARED_ARRAY(double, number, 1);
    unsigned t = threadIdx.x;
    if (t < 8) word[t] = t == 1 || t == 4 ? ~0u : 0;
    if (t == 0) number[0] = 0;
    __syncthreads();
    atomicAdd(&word[0], t);
    atomicMin(&word[1], t + 7);
    atomicMax(&word[2], t);
    atomicOr(&word[3], 1u << t % 31);
    atomicAnd(&word[4], ~(1u << t % 31));
    atomicXor(&word[5], t);
    atomicAdd(&number[0], 0.5);
    unsigned old;
    do old = atomicAdd(&word[6], 0); /* an increment by compare and swap */
    while (atomicCAS(&word[6], old, old + 1) != old);
    atomicSub((int *)&word[7], 1);
    if (t == 0) atomicExch(&out[9], 77ull);
    atomicAdd(&out[8], 1ull << 33);
    __syncthreads();
    if (t < 8) out[t] = word[t];
    if (t == 10) out[t] = (unsigned long long)number[0];
}

static void test_atomics() {
    std::vector<unsigned long long> seen = run_block<unsigned long long>(atomics, 96);
    unsigned exclusive = 0;
    for (unsigned t = 0; t < 96; t++) exclusive ^= t;
    CHECK(seen[0] == 95 * 96 / 2 && seen[1] == 7 && seen[2] == 95);
    CHECK(seen[3] == 0x7fffffffu && seen[4] == 0x80000000u && seen[5] == exclusive);
    CHECK(seen[6] == 96 && seen[7] == 0u - 96u && seen[8] == 96ull << 33 && seen[9] == 77);
    CHECK(seen[10] == 48);
}

/* Shared memory starts as NaN in every block, whatever the block before left there. */
__global__ void fresh_shared(unsigned *out) {
    SHOAL_SHARED(double, dynamic);
    SHOAL_SHARED_ARRAY(float, fixed, 64);
    out[blockIdx.x * blockDim.x + threadIdx.x] =
        isnan(dynamic[threadIdx.x]) && isnan(fixed[threadIdx.x]);
    dynamic[threadIdx.x] = fixed[threadIdx.x] = 1;
}

static void test_shared() {
    unsigned *out = nullptr;
    std::vector<unsigned> seen(20 * 64);
    cudaMalloc(&out, seen.size() * sizeof(unsigned));
    SHOAL_LAUNCH(fresh_shared, 20, 64, 64 * sizeof(double), 0, out);
    CHECK(cudaGetLastError() == cudaSuccess);
    cudaMemcpy(seen.data(), out, seen.size() * sizeof(unsigned), cudaMemcpyDeviceToHost);
    for (unsigned good : seen) CHECK(good == 1);
    cudaFree(out);
}

__constant__ double table[4] = { 1, 2, 3, 4 };
__constant__ int scale;
__global__ void constants(double *out) { out[threadIdx.x] = table[threadIdx.x] * scale; }

static void test_constants() {
    const double two[2] = { 30, 40 };
    const int ten = 10;
    CHECK(cudaMemcpyToSymbol(table, two, sizeof two, 2 * sizeof(double)) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(scale, &ten, sizeof ten) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    std::vector<double> seen = run_block<double>(constants, 4);
    CHECK(seen[0] == 10 && seen[1] == 20 && seen[2] == 300 && seen[3] == 400);
}

static void test_arithmetic() {
    double s, c;
    sincospi(0.5, &s, &c);
    CHECK(s == 1 && c == 0);
    sincospi(-1.25, &s, &c);
    CHECK(fabs(s - M_SQRT1_2) < 1e-15 && fabs(c + M_SQRT1_2) < 1e-15);
    CHECK(rsqrt(4.0) == 0.5 && rsqrtf(16.0f) == 0.25f && __frcp_rn(8.0f) == 0.125f);
    CHECK(__fma_rn(0x1p-30 + 1, 0x1p-30 + 1, -1) == 0x1p-29 + 0x1p-60);
    CHECK(__popc(0xf0f0u) == 8 && __ffs(8) == 4 && __clz(1) == 31 && __clz(0) == 32);
    CHECK(__clzll(1) == 63 && __brev(1) == 0x80000000u && __umulhi(1u << 31, 6) == 3);
    CHECK(__mulhi(-(1 << 30), 8) == -2 && __umul64hi(1ull << 63, 6) == 3);
    CHECK(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
    CHECK(__hiloint2double(__double2hiint(-3.7), __double2loint(-3.7)) == -3.7);
    CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7610) == 0x77661100u);
    CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && min(-1, 2) == -1 && max(2.0f, 1.0f) == 2);
    CHECK(sizeof(float4) == 16 && alignof(double2) == 16 && make_int2(1, 2).y == 2);
}

int main() {
    RUN(test_shuffle_widths);
    RUN(test_shuffle_types);
    RUN(test_votes);
    RUN(test_atomics);
    RUN(test_shared);
    RUN(test_constants);
    RUN(test_arithmetic);
    return check_failures != 0;
}
