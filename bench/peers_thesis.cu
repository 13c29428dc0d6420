/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_thesis.cu - the kernels that the thesis's loop needs beside BLAS (section 3.2): exchanges,
 * the columns of a 2x2 pivot, the diagonal. One thread per index, at most 2 n numbers each.
 */
#include "bench/peers_foreign.h"

#include "core/launch.cuh"

namespace {

enum { BLOCK = 256 };

/* Entry (i,j), i >= j, is number column(n, j) + i. */
__device__ inline int64_t column(int64_t n, int64_t j) { return j * (2 * n - 1 - j) / 2; }

__device__ inline int64_t index_here() { return (int64_t)blockIdx.x * BLOCK + threadIdx.x; }

template <class T> __global__ void split_kernel(int64_t n, T *a, T *d) {
    const int64_t i = index_here();
    if (i >= n) return;
    d[i] = a[column(n, i) + i];
    a[column(n, i) + i] = 0;
}

template <class T> __global__ void join_kernel(int64_t n, T *a, const T *d) {
    const int64_t i = index_here();
    if (i < n) a[column(n, i) + i] = d[i];
}

template <class T> __global__ void fold_kernel(int64_t n, int64_t first, T *a, T *d) {
    const int64_t i = first + index_here();
    if (i >= n) return;
    d[i] += a[column(n, i) + i];
    a[column(n, i) + i] = 0;
}

template <class T>
__global__ void look_kernel(int64_t n, const T *a, const T *d, int64_t p, int64_t q, int64_t r,
                            double *seen) {
    seen[0] = p < q ? (double)a[column(n, p) + q] : 0;
    seen[1] = (double)d[p];
    seen[2] = (double)d[q];
    seen[3] = (double)d[r];
}

template <class T> __device__ inline void exchange(T *x, T *y) {
    const T kept = *x;
    *x = *y;
    *y = kept;
}

/* Figure 3.3: the three stretches of two rows and columns, and the diagonal. */
template <class T> __global__ void swap_kernel(int64_t n, T *a, T *d, int64_t p, int64_t q) {
    const int64_t i = index_here();
    if (i < p)
        exchange(a + column(n, i) + p, a + column(n, i) + q);
    else if (i == p)
        exchange(d + p, d + q);
    else if (i < q)
        exchange(a + column(n, p) + i, a + column(n, i) + q);
    else if (i > q && i < n)
        exchange(a + column(n, p) + i, a + column(n, q) + i);
}

template <class T> __global__ void turn_kernel(int64_t n, int64_t k, const T *a, T *x, T c, T s) {
    const int64_t i = k + 2 + index_here();
    if (i >= n) return;
    const T first = a[column(n, k) + i], second = a[column(n, k + 1) + i];
    x[i] = c * first + s * second;
    x[n + i] = c * second - s * first;
}

template <class T>
__global__ void multipliers_kernel(int64_t n, int64_t k, T *a, const T *x, T c, T s, T lambda0,
                                   T lambda1) {
    const int64_t i = k + 2 + index_here();
    if (i >= n) return;
    const T first = x[i] / lambda0, second = x[n + i] / lambda1;
    a[column(n, k) + i] = c * first - s * second;
    a[column(n, k + 1) + i] = s * first + c * second;
}

int launched() { return cudaGetLastError() == cudaSuccess ? 0 : -1; }

dim3 blocks(int64_t threads) { return dim3((unsigned)((threads + BLOCK - 1) / BLOCK)); }

/* As float, or as double. */
template <class T> struct typed {
    int64_t n;
    T *a, *d, *x;
    explicit typed(const bench_thesis *t) : n(t->n), a((T *)t->a), d((T *)t->d), x((T *)t->x) {}
    void split() const { SHOAL_LAUNCH((split_kernel<T>), blocks(n), dim3(BLOCK), 0, 0, n, a, d); }
    void join() const { SHOAL_LAUNCH((join_kernel<T>), blocks(n), dim3(BLOCK), 0, 0, n, a, d); }
    void fold(int64_t first) const {
        SHOAL_LAUNCH((fold_kernel<T>), blocks(n - first), dim3(BLOCK), 0, 0, n, first, a, d);
    }
    void look(int64_t p, int64_t q, int64_t r, double *seen) const {
        SHOAL_LAUNCH((look_kernel<T>), dim3(1), dim3(1), 0, 0, n, a, d, p, q, r, seen);
    }
    void swap(int64_t p, int64_t q) const {
        SHOAL_LAUNCH((swap_kernel<T>), blocks(n), dim3(BLOCK), 0, 0, n, a, d, p, q);
    }
    void turn(int64_t k, double c, double s) const {
        SHOAL_LAUNCH((turn_kernel<T>), blocks(n - k - 2), dim3(BLOCK), 0, 0, n, k, a, x, (T)c,
                     (T)s);
    }
    void multipliers(int64_t k, double c, double s, double lambda0, double lambda1) const {
        SHOAL_LAUNCH((multipliers_kernel<T>), blocks(n - k - 2), dim3(BLOCK), 0, 0, n, k, a, x,
                     (T)c, (T)s, (T)lambda0, (T)lambda1);
    }
};

} // namespace

extern "C" double *bench_thesis_map(void) {
    void *memory = nullptr;
    if (cudaHostAlloc(&memory, 4 * sizeof(double), cudaHostAllocMapped) != cudaSuccess) {
        cudaGetLastError(); /* it must not be reported by the next launch */
        return nullptr;
    }
    return (double *)memory;
}

extern "C" void bench_thesis_unmap(double *seen) {
    if (seen) cudaFreeHost(seen);
}

extern "C" int bench_thesis_split(const bench_thesis *t) {
    t->single ? typed<float>(t).split() : typed<double>(t).split();
    return launched();
}

extern "C" int bench_thesis_join(const bench_thesis *t) {
    t->single ? typed<float>(t).join() : typed<double>(t).join();
    return launched();
}

extern "C" int bench_thesis_fold(const bench_thesis *t, int64_t first) {
    if (first >= t->n) return 0;
    t->single ? typed<float>(t).fold(first) : typed<double>(t).fold(first);
    return launched();
}

extern "C" int bench_thesis_look(const bench_thesis *t, int64_t p, int64_t q, int64_t r) {
    t->single ? typed<float>(t).look(p, q, r, t->seen) : typed<double>(t).look(p, q, r, t->seen);
    if (launched() != 0) return -1;
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : -1;
}

extern "C" int bench_thesis_swap(const bench_thesis *t, int64_t p, int64_t q) {
    t->single ? typed<float>(t).swap(p, q) : typed<double>(t).swap(p, q);
    return launched();
}

extern "C" int bench_thesis_turn(const bench_thesis *t, int64_t k, double c, double s) {
    if (k + 2 >= t->n) return 0;
    t->single ? typed<float>(t).turn(k, c, s) : typed<double>(t).turn(k, c, s);
    return launched();
}

extern "C" int bench_thesis_multipliers(const bench_thesis *t, int64_t k, double c, double s,
                                        double lambda0, double lambda1) {
    if (k + 2 >= t->n) return 0;
    t->single ? typed<float>(t).multipliers(k, c, s, lambda0, lambda1)
              : typed<double>(t).multipliers(k, c, s, lambda0, lambda1);
    return launched();
}
