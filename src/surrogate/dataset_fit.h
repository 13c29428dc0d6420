/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_fit.h - the mean of a sample given its controls, for both compilers: with sums over n
 * samples of x and of the controls c_i, and of their products, price = mean(x) - b mean(c), b
 * solves Cov(c) b = Cov(c, x), by Cholesky's method. A control that those before it explain but
 * for 1e-9 of its variance is left out (all of them where rho = 0 are two). The variance of what
 * is left is divided by n - 1 - controls.
 *
 * A control serves where the samples know its mean. Where rho^2 A is large, f is e^(-50) on
 * nearly every path, and its mean 1 is made by paths that no sample has: a control whose mean is
 * six of its errors off is left out, and so is one of the exponentials whose error is above
 * DATASET_SHARP. Without f there is parity instead: E f = 1 holds whatever the samples say,
 * price = 1 - K + E put, and a put lies between 0 and K on every path, so that its error is what
 * it seems. No other control is taken then.
 *
 * When to stop: after DATASET_MIN blocks, and then where the last look says that the standard
 * error should have come down to the target; never more than eight times the paths of the look
 * before.
 */
#ifndef SHOAL_SURROGATE_DATASET_FIT_H
#define SHOAL_SURROGATE_DATASET_FIT_H

#include "surrogate/dataset.h"

enum { DATASET_EXPONENTIALS = 3 }; /* controls 1 .. 3: forwards, and a call, of mean about 1 */
#define DATASET_SHARP 0.05         /* the largest error of one that serves                   */
#define DATASET_SLACK 1e-7         /* calls so far out of the money that no sample has one   */

/* Sums of single statistics, then of products of two. */
enum { DATASET_SUMS = DATASET_STATISTICS + DATASET_STATISTICS * (DATASET_STATISTICS + 1) / 2 };

/* The two factors of sum s; the second is DATASET_STATISTICS where there is one factor. */
SHOAL_HD static inline void dataset_pair(int s, int *i, int *j) {
    *i = s, *j = DATASET_STATISTICS;
    if (s < DATASET_STATISTICS) return;
    s -= DATASET_STATISTICS;
    for (*i = 0; s > *i; ++*i) s -= *i + 1;
    *j = s;
}

/* n times the covariance of two statistics. */
SHOAL_HD static inline double dataset_covariance(const double *sums, double n, int i, int j) {
    const int high = i > j ? i : j, low = i > j ? j : i;
    return sums[DATASET_STATISTICS + high * (high + 1) / 2 + low] - sums[i] * (sums[j] / n);
}

typedef struct dataset_factor { /* of the controls that are kept, and below them x */
    int count, kept[DATASET_STATISTICS];
    double row[DATASET_STATISTICS][DATASET_STATISTICS];
} dataset_factor;

/* Row `count` of the factor, for statistic i; returns what the rows before leave of its variance. */
SHOAL_HD static inline double dataset_eliminate(const double *sums, double n, int i,
                                                dataset_factor *f) {
    double *row = f->row[f->count], left = dataset_covariance(sums, n, i, i);
    for (int k = 0; k < f->count; k++) {
        double sum = dataset_covariance(sums, n, i, f->kept[k]);
        for (int l = 0; l < k; l++) sum = fma(-row[l], f->row[k][l], sum);
        row[k] = sum / f->row[k][k];
        left = fma(-row[k], row[k], left);
    }
    return left;
}

/* Of a sum of squares left over by n samples, `used` degrees of freedom spent. */
SHOAL_HD static inline double dataset_error(double left, double n, double used) {
    return sqrt((left <= 0.0 ? 0.0 : left) / n / (n - used)); /* NaN stays NaN */
}

/* Whether the mean of control i, 0 by its law, is so in n samples. */
SHOAL_HD static inline int dataset_is_sampled(const double *sums, double n, int i) {
    const double error = dataset_error(dataset_covariance(sums, n, i, i), n, 1.0);
    const int sharp = i > DATASET_EXPONENTIALS || error <= DATASET_SHARP;
    return sharp && fabs(sums[i] / n) <= fma(6.0, error, DATASET_SLACK);
}

/* Statistic 0 less the forward, a put by parity: its mean and standard error. */
SHOAL_HD static inline void dataset_parity(const double *sums, double n, double *mean,
                                           double *error) {
    const double left = dataset_covariance(sums, n, 0, 0) -
                        2.0 * dataset_covariance(sums, n, 0, 1) + dataset_covariance(sums, n, 1, 1);
    *mean = (sums[0] - sums[1]) / n;
    *error = dataset_error(left, n, 1.0);
}

/* Mean and standard error of x, statistic 0, after n samples. */
SHOAL_HD static inline void dataset_fit(const double *sums, double n, double *mean, double *error) {
    dataset_factor f;
    f.count = 0;
    if (!dataset_is_sampled(sums, n, 1)) {
        dataset_parity(sums, n, mean, error);
        return;
    }
    for (int i = 1; i < DATASET_STATISTICS; i++) {
        if (!dataset_is_sampled(sums, n, i)) continue;
        const double left = dataset_eliminate(sums, n, i, &f);
        if (!(left > 1e-9 * dataset_covariance(sums, n, i, i) && left > 0.0)) continue;
        f.row[f.count][f.count] = sqrt(left);
        f.kept[f.count++] = i;
    }
    const double left = dataset_eliminate(sums, n, 0, &f);
    double solved[DATASET_STATISTICS]; /* the means of the controls, substituted forward */
    *mean = sums[0] / n;
    for (int k = 0; k < f.count; k++) {
        double sum = sums[f.kept[k]] / n;
        for (int l = 0; l < k; l++) sum = fma(-f.row[k][l], solved[l], sum);
        solved[k] = sum / f.row[k][k];
        *mean = fma(-f.row[f.count][k], solved[k], *mean);
    }
    *error = dataset_error(left, n, 1.0 + f.count);
}

/* Blocks before the first look. */
SHOAL_HD static inline int64_t dataset_first_look(const dataset_job *job) {
    const int64_t least = DATASET_MIN;
    return least < job->most ? least : job->most;
}

/* A look after `blocks` blocks: the blocks to have at the next one, 0 if this was the last. */
SHOAL_HD static inline int64_t dataset_look(const dataset_job *job, const dataset_row *r,
                                            const double *sums, int64_t blocks, double value[3]) {
    double mean, error;
    dataset_fit(sums, (double)blocks * DATASET_BLOCK, &mean, &error);
    /* no noise can take the price out of its bounds; sums that have overflowed say nothing */
    const double least = r->strike < 1.0 ? 1.0 - r->strike : 0.0, price = mean + r->middle;
    const int known = price - price == 0.0 && error - error == 0.0;
    value[0] = !known ? shoal_nan() : price < least ? least : price > 1.0 ? 1.0 : price;
    value[1] = known ? error : shoal_nan();
    value[2] = 2.0 * DATASET_BLOCK * (double)blocks;
    if (!known) return 0;
    if (!(error > job->target) || blocks >= job->most) return 0;
    const double ratio = error / job->target, wish = 1.1 * (double)blocks * (ratio * ratio);
    const int64_t most = 8 * blocks < job->most ? 8 * blocks : job->most;
    const int64_t next = wish < (double)most ? (int64_t)wish + 1 : most;
    return next > blocks ? next : blocks + 1;
}

#endif
