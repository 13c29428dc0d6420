/* SPDX-License-Identifier: Apache-2.0
 *
 * simt_test_kernels.cu - correct programs of the usual shapes: block reduction, parallel cyclic
 * reduction, a scan that looks back at other blocks, a cooperative sum, a 3-D grid, tiles. They
 * must give the right answer in every run order and be clean under every sanitizer.
 */
#include <simt.h>
#include <cooperative_groups.h>
#include <vector>
#include "check.h"

namespace cg = cooperative_groups;

template <class T> static std::vector<T> fetch(const T *device, size_t count) {
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost) == 0);
    return host;
}

template <class T> static T *upload(const std::vector<T> &host) {
    T *device = nullptr;
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)) == cudaSuccess);
    CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice) == 0);
    return device;
}

/* Sum of squares: shuffle, static shared memory, atomic */
__global__ void square_sum(int n, const double *x, double *sum) {
    SHOAL_SHARED_ARRAY(double, part, 32);
    double v = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < (unsigned)n;
         i += gridDim.x * blockDim.x) {
        v += x[i] * x[i];
    }
    for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(0xffffffffu, v, m);
        if (threadIdx.x == 0) atomicAdd(sum, v);
    }
}

static void test_reduction() {
    const int n = 5000;
    std::vector<double> x(n), zero(1, 0.0);
    double expected = 0;
    for (int i = 0; i < n; i++) expected += (double)(x[i] = i % 17) * x[i];
    double *d = upload(x), *sum = upload(zero);
    SHOAL_LAUNCH(square_sum, 7, 256, 0, 0, n, d, sum);
    CHECK(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
    CHECK(fetch(sum, 1)[0] == expected); /* integers: exact in any order */
    cudaFree(d);
    cudaFree(sum);
}

/* One tridiagonal system in each block, a thread for each row: b x - left - right = d */
__global__ void pcr(int n, const double *d, double *x) {
    SHOAL_SHARED(double, s);
    double *a = s, *b = s + n, *c = s + 2 * n, *r = s + 3 * n;
    int i = (int)threadIdx.x;
    size_t at = (size_t)blockIdx.x * n + i;
    a[i] = i > 0 ? -1.0 : 0.0;
    b[i] = 4.0;
    c[i] = i + 1 < n ? -1.0 : 0.0;
    r[i] = d[at];
    __syncthreads();
    for (int h = 1; h < n; h *= 2) {
        double na = 0, nb = b[i], nc = 0, nr = r[i];
        if (i >= h) {
            double f = -a[i] / b[i - h];
            na = f * a[i - h], nb += f * c[i - h], nr += f * r[i - h];
        }
        if (i + h < n) {
            double f = -c[i] / b[i + h];
            nc = f * c[i + h], nb += f * a[i + h], nr += f * r[i + h];
        }
        __syncthreads();
        a[i] = na, b[i] = nb, c[i] = nc, r[i] = nr;
        __syncthreads();
    }
    x[at] = r[i] / b[i];
}

static void test_pcr() {
    const int sizes[] = { 1, 2, 31, 33, 100, 257 };
    for (int n : sizes) {
        const int count = 9;
        std::vector<double> d((size_t)n * count);
        for (size_t i = 0; i < d.size(); i++) d[i] = (double)(i % 23) - 11.0;
        double *dd = upload(d), *dx = upload(d), worst = 0;
        SHOAL_LAUNCH(pcr, count, n, 4 * n * sizeof(double), 0, n, dd, dx);
        CHECK(cudaGetLastError() == cudaSuccess);
        std::vector<double> x = fetch(dx, d.size());
        for (int k = 0; k < count; k++) {
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)k * n + i;
                double rest = 4 * x[at] - d[at];
                if (i > 0) rest -= x[at - 1];
                if (i + 1 < n) rest -= x[at + 1];
                worst = !(fabs(rest) <= worst) ? fabs(rest) : worst;
            }
        }
        CHECK(worst < 1e-13);
        cudaFree(dd);
        cudaFree(dx);
    }
}

/* Inclusive scan in one pass: a block publishes its own sum, then, once it knows what comes before
 * it, the prefix. state: 0 nothing, 1 sum, 2 prefix. Blocks take their part by a ticket, so that
 * those before are always running or done. */
__global__ void lookback_scan(int n, const int *x, int *y, int *ticket, int *state, int *sum,
                              int *prefix) {
    SHOAL_SHARED_ARRAY(int, part, 1);
    SHOAL_SHARED_ARRAY(int, before, 1);
    SHOAL_SHARED_ARRAY(int, value, 128);
    int t = (int)threadIdx.x;
    if (t == 0) part[0] = atomicAdd(ticket, 1);
    __syncthreads();
    int p = part[0], at = p * 128 + t;
    value[t] = at < n ? x[at] : 0;
    __syncthreads();
    for (int h = 1; h < 128; h *= 2) {
        int v = t >= h ? value[t - h] : 0;
        __syncthreads();
        value[t] += v;
        __syncthreads();
    }
    if (t == 0) {
        int total = value[127], left = 0;
        if (p > 0) {
            sum[p] = total;
            __threadfence();
            atomicExch(&state[p], 1);
        }
        for (int q = p - 1; q >= 0; q--) {
            int seen;
            while ((seen = atomicAdd(&state[q], 0)) == 0) SHOAL_SPIN_WAIT();
            __threadfence();
            left += seen == 2 ? prefix[q] : sum[q];
            if (seen == 2) break;
        }
        prefix[p] = left + total;
        __threadfence();
        atomicExch(&state[p], 2);
        before[0] = left;
    }
    __syncthreads();
    if (at < n) y[at] = before[0] + value[t];
}

static void test_lookback() {
    const int n = 4000, parts = (n + 127) / 128;
    std::vector<int> x(n), zero(1, 0), zeros(parts, 0);
    for (int i = 0; i < n; i++) x[i] = i % 7 - 2;
    int *dx = upload(x), *dy = upload(x), *ticket = upload(zero), *state = upload(zeros),
        *sum = upload(zeros), *prefix = upload(zeros);
    SHOAL_LAUNCH(lookback_scan, parts, 128, 0, nullptr, n, dx, dy, ticket, state, sum, prefix);
    CHECK(cudaGetLastError() == cudaSuccess);
    std::vector<int> y = fetch(dy, n);
    int expected = 0, wrong = 0;
    for (int i = 0; i < n; i++) wrong += y[i] != (expected += x[i]);
    CHECK(wrong == 0);
    int *all[] = { dx, dy, ticket, state, sum, prefix };
    for (int *p : all) cudaFree(p);
}

/* Sum over a whole grid, with barriers between the stages */
__global__ void cooperative_sum(const int *x, int n, int *partial, int *result) {
    SHOAL_SHARED(int, s);
    cg::grid_group all = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    int v = 0;
    for (int i = (int)all.thread_rank(); i < n; i += (int)all.size()) v += x[i];
    s[block.thread_rank()] = v;
    block.sync();
    for (unsigned h = blockDim.x / 2; h; h /= 2) {
        if (threadIdx.x < h) s[threadIdx.x] += s[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
    all.sync();
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; b++) total += partial[b];
    result[all.thread_rank()] = total; /* every thread has seen every block */
    all.sync();
    if (threadIdx.x == 0) partial[blockIdx.x] = -1;
}

static void test_cooperative() {
    const int n = 3000, blocks = 8, threads = 64;
    std::vector<int> x(n), room(blocks * threads, 0);
    int expected = 0, wrong = 0;
    for (int i = 0; i < n; i++) expected += x[i] = i % 11;
    int *dx = upload(x), *partial = upload(room), *result = upload(room);
    SHOAL_LAUNCH_COOPERATIVE(cooperative_sum, blocks, threads, threads * sizeof(int), nullptr, dx,
                             n, partial, result);
    CHECK(cudaGetLastError() == cudaSuccess);
    for (int total : fetch(result, room.size())) wrong += total != expected;
    CHECK(wrong == 0);
    int most = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, cooperative_sum, threads, 0);
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0) == cudaSuccess);
    SHOAL_LAUNCH_COOPERATIVE(cooperative_sum, most * device.multiProcessorCount + 1, threads,
                             threads * sizeof(int), nullptr, dx, n, partial, result);
    CHECK(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    cudaFree(dx);
    cudaFree(partial);
    cudaFree(result);
}

/* Each thread of a 3-D grid of 3-D blocks marks its own cell */
__global__ void mark(int *cells) {
    unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
             z = blockIdx.z * blockDim.z + threadIdx.z;
    atomicAdd(&cells[(z * ny + y) * nx + x], (int)(x + 100 * y + 10000 * z));
}

static void test_three_dimensions() {
    const dim3 grid(2, 3, 4), block(5, 2, 3);
    std::vector<int> zeros(10 * 6 * 12, 0);
    int *cells = upload(zeros), wrong = 0;
    SHOAL_LAUNCH(mark, grid, block, 0, 0, cells);
    CHECK(cudaGetLastError() == cudaSuccess);
    std::vector<int> seen = fetch(cells, zeros.size());
    for (int z = 0; z < 12; z++)
        for (int y = 0; y < 6; y++)
            for (int x = 0; x < 10; x++)
                wrong += seen[(z * 6 + y) * 10 + x] != x + 100 * y + 10000 * z;
    CHECK(wrong == 0);
    cudaFree(cells);
}

/* Groups of a warp that go their own ways: each sums the numbers of its lanes through shared
 * memory, with a barrier of its own, a different number of times. */
template <int Size> __global__ void tiles(unsigned *sum) {
    SHOAL_SHARED_ARRAY(unsigned, cell, 64);
    auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
    unsigned v = threadIdx.x, first = threadIdx.x - tile.thread_rank();
    for (unsigned turn = 0; turn <= tile.meta_group_rank(); turn++) {
        cell[threadIdx.x] = v;
        tile.sync();
        unsigned total = 0;
        for (int i = 0; i < Size; i++) total += cell[first + i];
        tile.sync();
        v = total - (Size - 1) * v + turn; /* any mixing will do */
        for (int h = Size / 2; h; h /= 2) v += tile.shfl_xor(v, h);
    }
    sum[threadIdx.x] = v;
}

template <int Size> static void expect_tiles(const std::vector<unsigned> &seen) {
    int wrong = 0;
    for (int g = 0; g < 64 / Size; g++) {
        std::vector<unsigned> v(Size);
        for (int i = 0; i < Size; i++) v[i] = (unsigned)(g * Size + i);
        for (unsigned turn = 0; turn <= (unsigned)g; turn++) {
            unsigned total = 0, mixed = 0;
            for (unsigned x : v) total += x;
            for (unsigned &x : v) mixed += x = total - (Size - 1) * x + turn;
            for (unsigned &x : v) x = mixed;
        }
        for (int i = 0; i < Size; i++) wrong += seen[g * Size + i] != v[i];
    }
    CHECK(wrong == 0);
}

static void test_tiles() {
    unsigned *sum = upload(std::vector<unsigned>(64, 0));
    SHOAL_LAUNCH((tiles<4>), 1, 64, 0, 0, sum);
    expect_tiles<4>(fetch(sum, 64));
    void (*kernel)(unsigned *) = tiles<16>;
    SHOAL_LAUNCH(kernel, 1, 64, 0, 0, sum);
    expect_tiles<16>(fetch(sum, 64));
    CHECK(cudaGetLastError() == cudaSuccess);
    cudaFree(sum);
}

int main() {
    RUN(test_reduction);
    RUN(test_pcr);
    RUN(test_lookback);
    RUN(test_cooperative);
    RUN(test_three_dimensions);
    RUN(test_tiles);
    return check_failures != 0;
}
