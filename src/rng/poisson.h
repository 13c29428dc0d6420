/* SPDX-License-Identifier: Apache-2.0
 *
 * poisson.h - the Poisson law of mean lambda, 0 <= lambda <= 1e9, and the non-central chi-squared law.
 *
 * Below 10, inversion: the smallest k with u <= p(0) + ... + p(k), p(k) = p(k-1) lambda / k. From
 * 10 on PTRS, the transformed rejection of Hoermann (1993): with u in (-1/2, 1/2) and v in (0, 1)
 * uniform, us = 1/2 - |u|,
 *
 *     k = floor((2 a / us + b) u + lambda + 0.43)
 *
 * is accepted at once if us >= 0.07 and v <= vr (a third of attempts at lambda = 10, three quarters
 * at 2222), and else if
 *
 *     log(v alpha' / (a / us^2 + b)) <= log p(k).
 *
 * log p(k) is needed to absolute, not to relative precision, and k log lambda - lambda - log k!
 * would lose it to cancellation. In Loader's form (2000) nothing cancels:
 *
 *     log p(k) = -k D((lambda - k) / k) - delta(k) - log(2 pi k) / 2,
 *
 * D(f) = f - log(1 + f), delta(k) the error of Stirling's formula: k delta(k) is a polynomial in
 * 1/k^2 (interpolant at Chebyshev points, error of delta below 2e-11). All in double: in float the
 * variance comes out too large.
 *
 * Two of Hoermann's constants are changed, 1.1328 to 1.2 in alpha' and 0.9277 to 0.918 in vr. With
 * his, p(k) (a / us^2 + b) / alpha' reaches 1.006 at small lambda, although it must not exceed 1, and vr
 * lies up to 0.004 above it: a bias of 1e-6. With these neither happens for lambda from 10 to 1e9.
 * (cuRAND's rejection has the same fault, larger: its hat is 15 % short at 4000.) 0.43 puts the hat
 * above its law: a number next to it would take other attempts for the same law.
 *
 * An attempt is one block: 52 bits for u, 52 for v. Cost: 1 division, and in the second test 1
 * logarithm, 1 root and 4 divisions more; alpha' attempts per sample, 1.34 at 10 and 1.13 at 2222.
 *
 * The non-central chi-squared law of df degrees of freedom and non-centrality lambda is the law of the
 * variance in the Heston and CIR models, up to a factor (Johnson, Kotz and Balakrishnan, Continuous
 * Univariate Distributions 2, chapter 29). N or Z takes the lower half of the attempts, G the upper:
 *
 *     poisson   2 G(df/2 + N), N Poisson of mean lambda/2, G gamma: every df > 0
 *     normal    (Z + sqrt lambda)^2 + 2 G((df - 1)/2), Z normal:    df > 1, and no Poisson
 */
#ifndef SHOAL_RNG_POISSON_H
#define SHOAL_RNG_POISSON_H

#include "rng/gamma.h"
#include <shoal/rng.h>

typedef struct shoal_poisson_law {
    double lambda;
    double a, b, vr; /* of PTRS, from 10 on */
    double alpha;    /* alpha' sqrt(2 pi)   */
    double nothing;  /* p(0), below 10      */
} shoal_poisson_law;

SHOAL_HD static inline int shoal_poisson_allows(double lambda) {
    return lambda >= 0.0 && lambda <= SHOAL_RNG_MAX_MEAN;
}

SHOAL_HD static inline int shoal_poisson_small(double lambda) { return lambda < 10.0; }

/* lambda >= 10; without a branch. */
SHOAL_HD static inline shoal_poisson_law shoal_poisson_large_law(double lambda) {
    shoal_poisson_law law = { lambda, 0.0, 0.0, 0.0, 0.0, 0.0 };
    law.b = fma(2.53, sqrt(lambda), 0.931);
    law.a = fma(0.02483, law.b, -0.059);
    law.vr = 0.918 - 3.6224 / (law.b - 2.0);
    law.alpha = (1.1239 + 1.2 / (law.b - 3.4)) * 0x1.40d931ff62706p+1;
    return law;
}

SHOAL_HD static inline shoal_poisson_law shoal_poisson_law_of(double lambda) {
    if (!shoal_poisson_small(lambda)) return shoal_poisson_large_law(lambda);
    const shoal_poisson_law law = { lambda, 0.0, 0.0, 0.0, 0.0, shoal_exp(-lambda) };
    return law;
}

/* The smallest k whose distribution function reaches u; lambda < 10. The sum of all p may stop
 * short of a u next to 1: k is then the last whose p still counts. */
SHOAL_HD static inline uint32_t shoal_poisson_invert(const shoal_poisson_law *law, double u) {
    double p = law->nothing, sum = p;
    for (uint32_t k = 0;; k++) {
        if (u <= sum) return k;
        p *= law->lambda / (double)(k + 1);
        if (sum + p == sum) return k;
        sum += p;
    }
}

/* Stirling's error log k! - ((k + 1/2) log k - k + log(2 pi) / 2), k >= 1. */
SHOAL_HD static inline double shoal_stirling_error(double k) {
    const double w = 1.0 / (k * k);
    double series =
        fma(fma(0x1.9641a9c94ec9p-15, w, -0x1.2c99a5ce08bc2p-12), w, 0x1.8bdc6ffe4e43cp-11);
    series = shoal_horner4(series, w, -0x1.35783ab575b04p-10, 0x1.479d6c3fbaf54p-10,
                           -0x1.063ec45b799dcp-10, 0x1.74053b8d0e90cp-11);
    series = shoal_horner4(series, w, -0x1.3142c3441d751p-11, 0x1.9fb8f97324fc9p-11,
                           -0x1.6c16312f30832p-9, 0x1.55555550a2bc8p-4);
    return series / k;
}

typedef struct shoal_poisson_try {
    double k;     /* may be negative, or beyond any count */
    double us, v; /* 1/2 - |u|, uniform                   */
} shoal_poisson_try;

SHOAL_HD static inline shoal_poisson_try shoal_poisson_attempt(const shoal_poisson_law *law,
                                                               const shoal_words *w) {
    const double u = shoal_uniform(w, 0) - 0.5;
    shoal_poisson_try t;
    t.us = 0.5 - shoal_abs(u);
    t.v = shoal_uniform(w, 1);
    t.k = floor(fma(2.0 * law->a / t.us + law->b, u, law->lambda + 0.43));
    return t;
}

SHOAL_HD static inline int shoal_poisson_clear(const shoal_poisson_law *law,
                                               const shoal_poisson_try *t) {
    return (t->us >= 0.07) & (t->v <= law->vr);
}

SHOAL_HD static inline int shoal_poisson_accepts(const shoal_poisson_law *law,
                                                 const shoal_poisson_try *t) {
    if (shoal_poisson_clear(law, t)) return 1;
    if (t->k < 0.0 || t->k > 4e9 || (t->us < 0.013 && t->v > t->us)) return 0;
    const double hat = fma(law->a, 1.0 / (t->us * t->us), law->b);
    if (t->k == 0.0) /* p(0) = exp(-lambda) */
        return shoal_log(t->v * law->alpha * (1.0 / 0x1.40d931ff62706p+1) / hat) <= -law->lambda;
    const double k = t->k, d = shoal_bend((law->lambda - k) / k);
    return shoal_log(t->v * law->alpha * sqrt(k) / hat) <= fma(-k, d, -shoal_stirling_error(k));
}

/* lambda >= 10 */
SHOAL_HD static inline uint32_t shoal_poisson_reject(const shoal_poisson_law *law,
                                                     const shoal_stream *s, uint64_t path) {
    for (uint32_t attempt = 0; attempt < SHOAL_ATTEMPTS; attempt++) {
        const shoal_words w = shoal_block(s, path, attempt);
        const shoal_poisson_try t = shoal_poisson_attempt(law, &w);
        if (shoal_poisson_accepts(law, &t)) return (uint32_t)t.k;
    }
    return SHOAL_RNG_NONE; /* as unlikely as in gamma.h */
}

SHOAL_HD static inline uint32_t shoal_poisson_draw(const shoal_poisson_law *law,
                                                   const shoal_stream *s, uint64_t path) {
    if (!shoal_poisson_small(law->lambda)) return shoal_poisson_reject(law, s, path);
    const shoal_words w = shoal_block(s, path, 0);
    return shoal_poisson_invert(law, shoal_uniform(&w, 0));
}

/* One sample; SHOAL_RNG_NONE where lambda is not allowed. */
SHOAL_HD static inline uint32_t shoal_poisson(double lambda, const shoal_stream *s, uint64_t path) {
    if (!shoal_poisson_allows(lambda)) return SHOAL_RNG_NONE;
    const shoal_poisson_law law = shoal_poisson_law_of(lambda);
    return shoal_poisson_draw(&law, s, path);
}

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
