/* SPDX-License-Identifier: Apache-2.0
 *
 * ncchisq.h - the non-central chi-squared law of df degrees of freedom and non-centrality lambda:
 * the law of the variance in the Heston and CIR models, up to a factor.
 *
 *     poisson   2 G(df/2 + N), N Poisson of mean lambda/2, G gamma: every df > 0
 *     normal    (Z + sqrt lambda)^2 + 2 G((df - 1)/2), Z normal:    df > 1, and no Poisson
 *
 * (Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2, chapter 29.) N or Z takes
 * the lower half of the attempts, G the upper.
 */
#ifndef SHOAL_RNG_NCCHISQ_H
#define SHOAL_RNG_NCCHISQ_H

#include "rng/poisson.h"

SHOAL_HD static inline int shoal_ncchisq_allows(double lambda) {
    return shoal_poisson_allows(0.5 * lambda);
}

/* df has been checked: shoal_gamma_allows(df/2) or, for the second, ((df - 1)/2). NaN where lambda
 * is not allowed. */
SHOAL_HD static inline double shoal_ncchisq_poisson(double df, double lambda, const shoal_stream *s,
                                                    uint64_t path) {
    if (!shoal_ncchisq_allows(lambda)) return shoal_nan();
    const shoal_stream second = shoal_second_part(s);
    const uint32_t n = shoal_poisson(0.5 * lambda, s, path);
    return 2.0 * shoal_gamma(fma(0.5, df, (double)n), &second, path);
}

SHOAL_HD static inline double shoal_ncchisq_normal(double df, double lambda, const shoal_stream *s,
                                                   uint64_t path) {
    if (!shoal_ncchisq_allows(lambda)) return shoal_nan();
    const shoal_stream second = shoal_second_part(s);
    const shoal_words w = shoal_block(s, path, 0);
    const double shifted = shoal_normal_pair(&w).z[0] + sqrt(lambda);
    return fma(shifted, shifted, 2.0 * shoal_gamma(0.5 * (df - 1.0), &second, path));
}

#endif
