/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.h - walks of a bullet option, for both compilers (L. Abbas-Turki, "Projects: Merge
 * Sort, Monte Carlo and PDE simulations", project sheet of a course, December 2024, unpublished,
 * section 3): y = log(S / x) moves exactly, y' = y + (r - sigma^2/2) dt + sigma sqrt(dt) G, and
 * after each of the first `looks` steps y < log(B / x) counts. At maturity the option pays (x
 * e^y - K)+ if P1 <= count <= P2; the probability of that is the mean of 1 in its place.
 *
 * Delta and gamma are differences along the same normals: x (1 +- h) moves the level, so that a
 * walk has three counts and one y.
 */
#ifndef SHOAL_MODELS_BULLET_H
#define SHOAL_MODELS_BULLET_H

#include "models/plan.h"
#include "pricing/black.h"
#include "pricing/pick.h"

/* The path of a sample of a point. */
SHOAL_HD static inline uint64_t bullet_path(uint64_t sample, int64_t point) {
    return (uint64_t)point << 40 | sample; /* SHOAL_PRICE_MOST samples */
}

SHOAL_HD static inline real bullet_drift(const bullet_job *job) {
#ifdef SHOAL_SINGLE
    return job->drift_single;
#else
    return job->drift;
#endif
}

SHOAL_HD static inline real bullet_step(real drift, real vol, real z, real y) {
    return real_fma(vol, z, y + drift);
}

/* The outputs of one walk, times weight, are added to out. */
SHOAL_HD static inline void bullet_add(const bullet_job *job, const bullet_start *s, double growth,
                                       const real *count, double weight, double *out) {
    double value[PRICE_BUMPS];
    for (int b = 0; b < job->bumps; b++) {
        const double scale = b == 0 ? 1.0 : b == 1 ? 1.0 + s->bump : 1.0 - s->bump;
        const int pays = (double)count[b] >= job->p1 && (double)count[b] <= job->p2;
        const double gain = s->discount * black_payoff(s->x * scale * growth, job->strike, 0);
        value[b] = !pays ? 0.0 : job->certain ? 1.0 : gain;
    }
    out[0] = fma(weight, value[0], out[0]);
    if (job->outputs == 1) return;
    const double h = s->bump * s->x;
    out[1] = fma(weight, (value[1] - value[2]) / (2.0 * h), out[1]);
    out[2] = fma(weight, ((value[1] - value[0]) - (value[0] - value[2])) / (h * h), out[2]);
}

/* The outputs of a sample and its control variate, from y and the counts of its walks. */
SHOAL_HD static inline double bullet_sample(const bullet_job *job, const bullet_start *s,
                                            const real *y, const real count[][PRICE_BUMPS],
                                            double *out) {
    const double weight = job->signs == 2 ? 0.5 : 1.0;
    double mean = 0.0;
    for (int o = 0; o < job->outputs; o++) out[o] = 0.0;
    for (int sign = 0; sign < job->signs; sign++) {
        const double growth = shoal_exp((double)y[sign]);
        mean = fma(weight, growth, mean);
        bullet_add(job, s, growth, count[sign], weight, out);
    }
    return mean / s->forward - 1.0;
}

#endif
