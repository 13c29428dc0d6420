/* SPDX-License-Identifier: Apache-2.0
 *
 * american.h - one path of d assets of Black and Scholes and the regressions on it, for both compilers.
 *
 * Asset a at time t is S = S(0) e^(drift t + vol B), B a Brownian motion; those of the assets have the
 * correlation L Lt. Backwards in time, of equal dates t_i = i dt,
 *
 *     B(t_i) = (t_i / t_(i+1)) B(t_(i+1)) + sqrt(t_i dt / t_(i+1)) L Z,   B(t_N) = sqrt(t_N) L Z:
 *
 * a Brownian bridge, which needs no path to be stored and does not know the drift.
 *
 * The variables of the basis are x = (S - center) / width. For one asset center and width are e^m and
 * e^m v, m and v the mean and the deviation of log S at that date where the option is in the money; with
 * z the distance of the strike in deviations s of log S and h(z) = phi(z) / Phi(z),
 *
 *     m = mean -+ s h(z),   v^2 = s^2 (1 - z h(z) - h(z)^2)   (put, call),
 *
 * and mean and deviation of S for several assets. Both are known beforehand: no look at the paths is
 * needed. In the money the payoff of a put, a call or a basket is linear in x; that of a max-call is a
 * function of its own.
 */
#ifndef SHOAL_PRICING_AMERICAN_H
#define SHOAL_PRICING_AMERICAN_H

#include "pricing/american_plan.h"
#include "pricing/pick.h"
#include "rng/normal.h"

/* The numbers of list `which` of contract k. */
SHOAL_HD static inline const double *american_list(const american_job *job, int64_t k, int which) {
    return job->number + k * american_numbers(job->basis.assets) + which * job->basis.assets;
}

/* L(a,b), a >= b, of contract k. */
SHOAL_HD static inline double american_load(const american_job *job, int64_t k, int a, int b) {
    return american_list(job, k, AMERICAN_LISTS)[a * (a + 1) / 2 + b];
}

/* phi(z) / Phi(z). */
SHOAL_HD static inline double american_ratio(double z) {
    const double below = shoal_normcdf(z);
    return below > 1e-280 ? 0.3989422804014327 * shoal_exp(-0.5 * z * z) / below : -z;
}

typedef struct american_range { /* x = (S - center) inverse */
    double center, inverse;
} american_range;

/* Of asset a of contract k at date i. */
SHOAL_HD static inline american_range american_range_of(const american_job *job, int64_t k, int a,
                                                        int i) {
    const american_contract *c = &job->contract[k];
    const double spot = american_list(job, k, AMERICAN_SPOT)[a];
    const double vol = american_list(job, k, AMERICAN_VOL)[a];
    const double t = (double)i * c->dt, s = vol * sqrt(t);
    const double middle = spot * shoal_exp(american_list(job, k, AMERICAN_DRIFT)[a] * t);
    american_range r = { 0.0, 1.0 };
    if (job->raw) return r;
    if (c->payoff <= SHOAL_CALL && s > 0.0 && c->strike > 0.0) {
        const double side = c->payoff == SHOAL_PUT ? 1.0 : -1.0;
        const double z = side * shoal_log(c->strike / middle) / s, h = american_ratio(z);
        const double v = fma(-h, z + h, 1.0), least = 0.5 / fma(z, z, 1.0);
        r.center = middle * shoal_exp(-side * s * h);
        r.inverse = 1.0 / (r.center * s * sqrt(v > least ? v : least));
    } else {
        const double e = shoal_exp(0.5 * s * s);
        r.center = middle * e;
        r.inverse = 1.0 / (r.center * (s > 0.0 ? sqrt(fma(e, e, -1.0)) : 1.0));
    }
    return r;
}

/* The factor of S in the control variate: one over the forward price and the number of assets. */
SHOAL_HD static inline double american_share(const american_job *job, int64_t k, int a, int i) {
    const double vol = american_list(job, k, AMERICAN_VOL)[a], t = (double)i * job->contract[k].dt;
    const double growth = fma(0.5 * vol, vol, american_list(job, k, AMERICAN_DRIFT)[a]);
    const double forward = american_list(job, k, AMERICAN_SPOT)[a] * shoal_exp(growth * t);
    return 1.0 / ((double)job->basis.assets * forward);
}

/* The factor of the payoff where it is a function of the basis: one over the largest price today. */
SHOAL_HD static inline real american_payoff_factor(const american_job *job, int64_t k) {
    const double *spot = american_list(job, k, AMERICAN_SPOT);
    double most = spot[0];
    for (int a = 1; a < job->basis.assets; a++) most = spot[a] > most ? spot[a] : most;
    return job->raw ? 1 : (real)(1.0 / most);
}

/* What is gathered over the assets: the largest, or the weighted sum, or the only one. */
SHOAL_HD static inline real american_gather(int payoff, real all, real weight, real s) {
    if (payoff == SHOAL_MAX_CALL) return real_pick(s > all, s, all);
    return payoff <= SHOAL_CALL ? s : real_fma(weight, s, all);
}

/* What exercise pays; below 0 nobody exercises. */
SHOAL_HD static inline real american_gain(int payoff, real strike, real all) {
    return payoff == SHOAL_PUT || payoff == SHOAL_BASKET_PUT ? strike - all : all - strike;
}

/* Numbers of the bridge from date i + 1 to date i < dates, or of the start at the last date. */
typedef struct american_bridge {
    double keep, noise;
} american_bridge;

SHOAL_HD static inline american_bridge american_bridge_of(const american_contract *c, int dates,
                                                          int i) {
    american_bridge b;
    b.keep = i == dates ? 0.0 : (double)i / (double)(i + 1);
    b.noise = sqrt(i == dates ? (double)dates * c->dt : b.keep * c->dt);
    return b;
}

/* Where the rule of date i of problem k begins. */
SHOAL_HD static inline int64_t american_rule_at(const american_job *job, int64_t k, int i) {
    return k * american_rules(job) + (int64_t)(i - 1) * job->basis.functions;
}

/* The whole part of log10(1 / rcond), the last decade for what is beyond or is not a number. */
SHOAL_HD static inline int american_decade(float rcond) {
    double least = 0.1;
    int decade = 0;
    while (decade < FIT_DECADES - 1 && !((double)rcond > least)) least *= 0.1, decade++;
    return decade;
}

/* The rule of a date out of the answer x to its system, and what is counted: where nobody was in the
 * money, or there is no answer, continuing is worth infinitely much. */
SHOAL_HD static inline void american_settle(const american_job *job, int64_t k, int i) {
    const int n = job->basis.functions, status = job->status[k];
    const real *x = (const real *)job->x + k * n;
    real *rule = (real *)job->rule + american_rule_at(job, job->crossed ? k ^ 1 : k, i);
    int64_t *count = job->count + k * FIT_COUNTS;
    const int empty = !(job->members[k] > 0.0), none = empty || status < 0;
    for (int j = 0; j < n; j++) rule[j] = none ? (j ? 0 : (real)INFINITY) : x[j];
    if (empty)
        count[FIT_EMPTY]++;
    else if (status < 0)
        count[FIT_FAILED]++;
    else if (status == SHOAL_SYSTEM_TRUNCATED)
        count[FIT_TRUNCATED]++;
    else if (status == SHOAL_SYSTEM_REFINED)
        count[FIT_REFINED]++;
    else if (status > 0)
        count[FIT_WARNED]++;
    if (none) return;
    if (job->method) count[FIT_METHOD + job->method[k] % FIT_METHODS]++;
    if (job->rcond) count[FIT_DECADE + american_decade(job->rcond[k])]++;
}

/* A and b of a problem out of the sums of its blocks; without a path in the money, a unit matrix. */
SHOAL_HD static inline void american_entry(const american_job *job, int64_t k, int64_t e) {
    const int n = job->basis.functions;
    const int64_t sums = american_sums(n), triangle = (int64_t)n * (n + 1) / 2;
    const double *from = job->partial + k * job->blocks * sums;
    double sum = 0.0, members = 0.0;
    for (int64_t q = 0; q < job->blocks; q++) sum += from[q * sums + e];
    for (int64_t q = 0; q < job->blocks; q++) members += from[q * sums + sums - 1];
    int i = 0;
    while (i * (i + 3) / 2 < e) i++; /* the entry is on the diagonal if it is (i,i) */
    const double mean = members > 0.0 ? sum / members : i * (i + 3) / 2 == e ? 1.0 : 0.0;
    if (e < triangle)
        ((real *)job->A)[k * triangle + e] = (real)mean;
    else if (e < triangle + n)
        ((real *)job->b)[k * n + e - triangle] = (real)mean;
    else
        job->members[k] = members;
}

/* The normals of one Philox block, 2 in f64 and 4 in f32. */
SHOAL_HD static inline void american_normals_of(const shoal_words *w, real *z) {
#ifdef SHOAL_SINGLE
    const shoal_normalsf first = shoal_normal_pairf(w, 0), second = shoal_normal_pairf(w, 1);
    z[0] = first.z[0], z[1] = first.z[1], z[2] = second.z[0], z[3] = second.z[1];
#else
    const shoal_normals pair = shoal_normal_pair(w);
    z[0] = pair.z[0], z[1] = pair.z[1];
#endif
}

SHOAL_HD static inline void american_normals(const shoal_stream *stream, uint64_t path,
                                             uint32_t step, real *z) {
    shoal_stream s = *stream;
    s.step = step;
    const shoal_words w = shoal_block(&s, path, 0);
    american_normals_of(&w, z);
}

/* An outer path of the dual at a date: what exercise pays, and what the rule takes going on for. */
typedef struct american_point {
    double gain, hold;
} american_point;

/* One date of a sample of the dual (L. Andersen and M. Broadie, 2004): the martingale moves by the
 * rule's value V less what it was worth at the date before, and
 *
 *     price <= E max_i (e^(-r t_i) payoff_i - M_i),   M_i = M_(i-1) + V_i - C_(i-1),
 *
 * V_i the payoff where the rule exercises and C_i where not, C_i what the rule is worth if one goes on
 * at t_i; all discounted to today. Returns the largest so far. */
SHOAL_HD static inline double american_dual_step(const american_point *at, int last,
                                                 double discount, double go_on, double before,
                                                 int first, double most, double *martingale) {
    const double paid = at->gain > 0.0 ? discount * at->gain : 0.0;
    const int now = last || (at->gain > 0.0 && at->gain >= at->hold);
    *martingale += (now ? paid : go_on) - before;
    const double gap = paid - *martingale;
    return first || gap > most ? gap : most;
}

/* The sums of cash flows of a problem out of those of its blocks. */
SHOAL_HD static inline void american_value(const american_job *job, int64_t k) {
    double sum = 0.0, squares = 0.0;
    for (int64_t q = k * job->blocks; q < (k + 1) * job->blocks; q++) {
        sum += job->partial[2 * q];
        squares += job->partial[2 * q + 1];
    }
    job->value[2 * k] = sum, job->value[2 * k + 1] = squares;
}

#endif
