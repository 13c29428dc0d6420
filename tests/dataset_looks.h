/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_looks.h - what a row of a data set makes of its sums: which controls serve, price and standard error,
 * when the next look is.
 */
#ifndef SHOAL_DATASET_LOOKS_H
#define SHOAL_DATASET_LOOKS_H

#include "surrogate/dataset_fit.h"
#include "test.h"
#include <math.h>

/* Sums of n samples, of one statistic after the other. */
static inline void sums_of(const double (*sample)[DATASET_STATISTICS], int n, double *sums) {
    for (int s = 0; s < DATASET_SUMS; s++) {
        int i, j;
        dataset_pair(s, &i, &j);
        sums[s] = 0;
        for (int k = 0; k < n; k++)
            sums[s] += sample[k][i] * (j < DATASET_STATISTICS ? sample[k][j] : 1);
    }
}

static inline void check_lives(void) {
    for (int i = 0; i < 200; i++) {
        const double rate = 2, t = 1e-6 * pow(1.08, i);
        CHECK_MSG(fabs(dataset_life(rate, t) * rate / -expm1(-rate * t) - 1) < 2e-14, "t %g", t);
    }
    CHECK(dataset_life(0, 0.7) == 0.7);
    /* twice 8 + 4 alpha T (1 + |m - y0|) + 8 beta^2 T, rounded up */
    CHECK(dataset_steps(0.1, -1, 2, 1, 0.5, 1) == 2 * 25 &&
          dataset_steps(1, 1, 1, -1, 2, 3) == 6 * 48);
}

/* Statistic i of n samples has this mean, and as standard error this. */
static inline int sampled(int i, double mean, double error) {
    enum { N = 1000 };
    double sums[DATASET_SUMS] = { 0 };
    sums[i] = N * mean;
    sums[DATASET_STATISTICS + i * (i + 3) / 2] = N * mean * mean + error * error * N * (N - 1);
    return dataset_is_sampled(sums, N, i);
}

/* Six errors off, or, of an exponential, an error above 0.05: not sampled. */
static inline void check_controls(void) {
    for (int i = 1; i < DATASET_STATISTICS; i++) {
        CHECK(sampled(i, 0.01, 0.049) && sampled(i, -5.9e-3, 1e-3) && !sampled(i, 6.1e-3, 1e-3));
        CHECK_MSG(sampled(i, 0.01, 0.051) == (i > 3), "control %d", i);
    }
}

/* x = 3 + c_1 - 2 c_5 + noise, of samples whose noise is orthogonal to the controls: the price is 3, and its error
 * that of the noise, with n - 1 - controls degrees of freedom. */
static inline void check_fit(void) {
    enum { N = 16 };
    double sample[N][DATASET_STATISTICS] = { { 0 } }, sums[DATASET_SUMS], mean, error;
    for (int k = 0; k < N; k++) {
        const double a = k & 1 ? 0.1 : -0.1, b = k & 2 ? 0.1 : -0.1, c = k & 4 ? 0.1 : -0.1;
        sample[k][1] = a + 0.02, sample[k][5] = b - 0.01;
        sample[k][0] = 3 + sample[k][1] - 2 * sample[k][5] + c;
    }
    sums_of((const double(*)[DATASET_STATISTICS])sample, N, sums);
    dataset_fit(sums, N, &mean, &error);
    CHECK_MSG(fabs(mean - 3) < 1e-13, "%.17g", mean);
    CHECK_MSG(fabs(error - sqrt(0.01 / (N - 3))) < 1e-13, "%.17g", error);
}

/* Prices are within their bounds; the next look is where the error should have come down to the target, and a tenth
 * more, but at most eight times as far. */
static inline void check_looks(void) {
    const dataset_job job = { .target = 1e-3, .most = 1 << 20 };
    static const double least[2] = { 0, 0.6 }, strike[2] = { 1.2, 0.4 };
    const double n = 16.0 * DATASET_BLOCK;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            static const double means[] = { -0.1, 0.5, 0.8, 1.1 };
            const dataset_row r = { .strike = strike[i] };
            double sums[DATASET_SUMS] = { n * means[k] }, value[3];
            sums[DATASET_STATISTICS] = n * means[k] * means[k];
            CHECK(dataset_look(&job, &r, sums, 16, value) == 0);
            CHECK_MSG(fabs(value[0] - fmin(fmax(means[k], least[i]), 1)) < 1e-12, "%g: %g",
                      means[k], value[0]);
            CHECK(value[2] == 2 * n);
        }
    for (int k = 1; k <= 4; k++) {
        static const int64_t next[] = { 0, 0, 71, 128, 128 }; /* 1.1 16 k^2, of 16 blocks */
        const dataset_row r = { .strike = 1 };
        double sums[DATASET_SUMS] = { n * 0.5 }, value[3];
        const double error = k == 1 ? 0.999e-3 : k * 1e-3;
        sums[DATASET_STATISTICS] = n * 0.25 + error * error * n * (n - 1);
        const int64_t blocks = dataset_look(&job, &r, sums, 16, value);
        CHECK_MSG(blocks == next[k], "%d errors: %d", k, (int)blocks);
        CHECK(fabs(value[1] / error - 1) < 1e-9);
    }
}

#endif
