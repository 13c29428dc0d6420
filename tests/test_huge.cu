/* SPDX-License-Identifier: Apache-2.0
 *
 * test_huge.cu - one system and one recurrence of more rows than 31 bits can count, 2^31 + 5 in single
 * precision: made, solved and judged on the GPU, row by row, in double. Skipped where 52 GB are not free.
 * --rows=N: as many rows instead, to try the program itself.
 */
#include <cuda_runtime.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern "C" {
#include "test.h"
}

static shoal_context *ctx;
static int64_t rows = ((int64_t)1 << 31) + 5;

enum { BLOCK = 256, BLOCKS = 4096 };

/* A number from -1 to 1 that depends on the row and on which array it is for. */
__device__ static inline float number(int64_t row, int array) {
    uint64_t z = ((uint64_t)row * 8 + (uint64_t)array + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 31) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 29;
    return (float)(int32_t)(z >> 32) * 0x1p-31f;
}

/* Array 1, the diagonal, is from 2 to 4: a random one would be singular to single precision. */
__global__ static void fill_kernel(float *to, int64_t n, int array) {
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * BLOCKS)
        to[i] = number(i, array) + (array == 1 ? 3 : 0);
}

/* The largest of numbers that are not negative, NaN above all; their bits have the same order. */
__device__ static inline void note_most(double *most, double mine) {
    atomicMax((unsigned long long *)most, (unsigned long long)__double_as_longlong(mine));
}

/* most: |d - A x|, then the terms of norm: |A|, |x|, |d|, each the largest of all rows. */
__global__ static void system_kernel(const float *a, const float *b, const float *c, const float *d,
                                     const float *x, int64_t n, double *most) {
    double mine[4] = {};
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * BLOCKS) {
        const double low = i > 0 ? a[i] : 0, high = i + 1 < n ? c[i] : 0;
        const double before = i > 0 ? x[i - 1] : 0, after = i + 1 < n ? x[i + 1] : 0;
        const double seen[4] = { fabs(d[i] - (low * before + (double)b[i] * x[i] + high * after)),
                                 fabs(low) + fabs((double)b[i]) + fabs(high), fabs((double)x[i]),
                                 fabs((double)d[i]) };
        for (int k = 0; k < 4; k++) mine[k] = seen[k] <= mine[k] ? mine[k] : seen[k];
    }
    for (int k = 0; k < 4; k++) note_most(&most[k], mine[k]);
}

/* most: |w - (s w + t)|, the numbers being of the order of 1. */
__global__ static void recurrence_kernel(const float *s, const float *t, const float *w, int64_t n,
                                         double *most) {
    double mine = 0;
    for (int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * BLOCKS) {
        const double term = i > 0 ? (double)s[i] * w[i - 1] : 0;
        const double error = fabs(w[i] - (term + t[i]));
        mine = error <= mine ? mine : error;
    }
    note_most(most, mine);
}

static float *numbers(int array) {
    float *at = NULL;
    CHECK_MSG(shoal_alloc(ctx, (size_t)rows * sizeof(float), (void **)&at) == SHOAL_OK, "%s",
              shoal_message(ctx));
    if (at && array >= 0) fill_kernel<<<BLOCKS, BLOCK>>>(at, rows, array);
    return at;
}

static double *zeros(int count) {
    double *at = NULL;
    CHECK(shoal_alloc(ctx, (size_t)count * sizeof(double), (void **)&at) == SHOAL_OK);
    CHECK(cudaMemset(at, 0, (size_t)count * sizeof(double)) == cudaSuccess);
    return at;
}

TEST(one_system) {
    float *s[5];
    double *most = zeros(4), found[4];
    for (int k = 0; k < 5; k++) s[k] = numbers(k < 4 ? k : -1);
    shoal_tridiag_opts o = {};
    o.n = rows, o.count = 1, o.nrhs = 1, o.type = SHOAL_F32;
    shoal_tridiag *plan;
    CHECK_MSG(shoal_tridiag_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_tridiag_solvef(plan, s[0], s[1], s[2], s[3], s[4]) == SHOAL_OK);
    shoal_tridiag_info info;
    CHECK(shoal_tridiag_last(plan, &info) == SHOAL_OK);
    system_kernel<<<BLOCKS, BLOCK>>>(s[0], s[1], s[2], s[3], s[4], rows, most);
    CHECK(cudaMemcpy(found, most, sizeof found, cudaMemcpyDeviceToHost) == cudaSuccess);
    const double error = found[0] / (found[1] * found[2] + found[3]);
    printf("      %lld rows: backward error %.2g, |x| %.2g, %d refused, %d doubted\n",
           (long long)rows, error, found[2], (int)info.failed, (int)info.warned);
    CHECK(info.failed == 0 && error <= 0x1p-21);
    shoal_tridiag_free(plan), shoal_free(ctx, most);
    for (int k = 0; k < 5; k++) shoal_free(ctx, s[k]);
}

TEST(one_recurrence) {
    float *s = numbers(0), *t = numbers(2), *w = numbers(-1);
    double *most = zeros(1), error;
    shoal_recur_opts o = {};
    o.n = rows, o.count = 1, o.type = SHOAL_F32;
    shoal_recur *plan;
    CHECK_MSG(shoal_recur_create(ctx, &o, &plan) == SHOAL_OK, "%s", shoal_message(ctx));
    CHECK(shoal_recur_solvef(plan, s, t, NULL, w) == SHOAL_OK);
    shoal_recur_info info;
    CHECK(shoal_recur_last(plan, &info) == SHOAL_OK && info.failed == 0);
    recurrence_kernel<<<BLOCKS, BLOCK>>>(s, t, w, rows, most);
    CHECK(cudaMemcpy(&error, most, sizeof error, cudaMemcpyDeviceToHost) == cudaSuccess);
    printf("      %lld rows: largest error of a step %.2g\n", (long long)rows, error);
    CHECK(error <= 0x1p-20);
    shoal_recur_free(plan), shoal_free(ctx, most);
    shoal_free(ctx, s), shoal_free(ctx, t), shoal_free(ctx, w);
}

int main(int argc, char **argv) {
    test_take_backend(&argc, argv, "cuda");
    if (argc > 1 && strncmp(argv[1], "--rows=", 7) == 0)
        rows = atoll(argv[1] + 7), argv[1] = argv[0], argc--, argv++;
    TEST_BEGIN(argc, argv);
    shoal_options options = {};
    options.backend = "cuda";
    if (shoal_open(&options, &ctx) != SHOAL_OK) {
        printf("skip  %s\n", shoal_message(ctx));
        shoal_close(ctx);
        return 77;
    }
    size_t available = 0, all = 0;
    cudaMemGetInfo(&available, &all);
    if (available < (size_t)rows * 6 * sizeof(float)) {
        printf("skip  %zu bytes are free, %zu are needed\n", available,
               (size_t)rows * 6 * sizeof(float));
        shoal_close(ctx);
        return 77;
    }
    RUN(one_system);
    RUN(one_recurrence);
    shoal_close(ctx);
    return TEST_END();
}
