/* SPDX-License-Identifier: Apache-2.0
 *
 * span.h - the market between two moments, for both compilers: integrals of interest rate, dividend yield and
 * variance. A flat market multiplies by the years between them; one with curves subtracts two rows of a table.
 *
 * Paths carry sigma B with B a Brownian motion. With curves B is that of a clock: sigma is one number per asset, and
 * the clock of an asset runs at the speed sigma(t)^2 / sigma^2.
 */
#ifndef SHOAL_CVA_SPAN_H
#define SHOAL_CVA_SPAN_H

#include "cva/plan.h"

typedef struct cva_span {
    double years;
    int64_t from, to; /* moments */
} cva_span;

SHOAL_HD static inline cva_span cva_between(const cva_job *job, int64_t from, int64_t to) {
    cva_span s;
    s.years = cva_time(job, to) - cva_time(job, from), s.from = from, s.to = to;
    return s;
}

/* From date k to the end of a contract. */
SHOAL_HD static inline cva_span cva_rest(const cva_job *job, const cva_contract *c, int64_t k) {
    cva_span s;
    s.years = cva_left(job, c, k), s.from = k, s.to = c->end;
    return s;
}

/* Numbers of a moment: the rate, then per asset rate - dividend, and variance. */
enum { CVA_GROWTH, CVA_VARIANCE, CVA_OF_ASSET };
SHOAL_HD static inline int64_t cva_integrals(int64_t assets) { return 1 + CVA_OF_ASSET * assets; }

SHOAL_HD static inline double cva_integral(const cva_job *job, cva_span s, int64_t at) {
    const int64_t numbers = cva_integrals(job->assets);
    return job->integral[s.to * numbers + at] - job->integral[s.from * numbers + at];
}
SHOAL_HD static inline double cva_of_asset(const cva_job *job, cva_span s, int64_t a, int what) {
    return cva_integral(job, s, 1 + CVA_OF_ASSET * a + what);
}

/* Of the rate; of rate - dividend; of rate - dividend - sigma^2 / 2, the drift of log S. */
SHOAL_HD static inline double cva_rate(const cva_job *job, cva_span s) {
    return job->integral ? cva_integral(job, s, 0) : job->rate * s.years;
}
SHOAL_HD static inline double cva_growth(const cva_job *job, cva_span s, int64_t a) {
    if (job->integral) return cva_of_asset(job, s, a, CVA_GROWTH);
    return (job->rate - job->dividend[a]) * s.years;
}
SHOAL_HD static inline double cva_drift(const cva_job *job, cva_span s, int64_t a) {
    if (job->integral)
        return cva_of_asset(job, s, a, CVA_GROWTH) - 0.5 * cva_of_asset(job, s, a, CVA_VARIANCE);
    return (job->rate - job->dividend[a] - 0.5 * job->sigma[a] * job->sigma[a]) * s.years;
}

/* The clock of an asset, and the deviation of log S. */
SHOAL_HD static inline double cva_clock(const cva_job *job, cva_span s, int64_t a) {
    if (!job->integral || !(job->sigma[a] > 0)) return s.years;
    const double variance = cva_of_asset(job, s, a, CVA_VARIANCE);
    return variance > 0 ? variance / (job->sigma[a] * job->sigma[a]) : 0;
}
SHOAL_HD static inline double cva_deviation(const cva_job *job, cva_span s, int64_t a) {
    return job->sigma[a] * sqrt(cva_clock(job, s, a));
}

/* The deviation of a clock's Brownian motion; `flat` is that of a flat market, sqrt(years). */
SHOAL_HD static inline double cva_scale(const cva_job *job, cva_span s, int64_t a, double flat) {
    return job->integral ? sqrt(cva_clock(job, s, a)) : flat;
}

SHOAL_HD static inline double cva_discount_over(const cva_job *job, cva_span s) {
    return shoal_exp(-cva_rate(job, s));
}

#endif
