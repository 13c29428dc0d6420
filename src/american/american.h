/* SPDX-License-Identifier: Apache-2.0
 *
 * american.h - one path of d assets of Black and Scholes and the regressions on it, for both
 * compilers.
 *
 * Asset a at time t is S = S(0) e^(drift t + vol B), B a Brownian motion; those of the assets
 * have the correlation L Lt. Backwards in time, from date to date,
 *
 *     B(t_i) = (t_i / t_(i+1)) B(t_(i+1)) + sqrt(t_i (t_(i+1) - t_i) / t_(i+1)) L Z,   B(t_N) = sqrt(t_N) L Z:
 *
 * a Brownian bridge, which needs no path to be stored and does not know the drift.
 *
 * The variables of the basis are x = (S - center) / width. For one asset center and width are
 * e^m and e^m v, m and v the mean and the deviation of log S at that date where the option is in
 * the money; with z the distance of the strike in deviations s of log S and h(z) = phi(z) /
 * Phi(z),
 *
 *     m = mean -+ s h(z),   v^2 = s^2 (1 - z h(z) - h(z)^2)   (put, call),
 *
 * and mean and deviation of S for several assets. Both are known beforehand: no look at the
 * paths is needed. In the money the payoff of a put, a call or a basket is linear in x; that of
 * a max-call is a function of its own.
 */
#ifndef SHOAL_AMERICAN_AMERICAN_H
#define SHOAL_AMERICAN_AMERICAN_H

#include "american/plan.h"
#include "pricing/pick.h"
#include "rng/normal.h"

/* The contract of problem k. */
SHOAL_HD static inline const american_contract *american_terms(const american_job *job, int64_t k) {
    return job->contract + k * job->own;
}

/* The numbers of list `which` of its contract. */
SHOAL_HD static inline const double *american_list(const american_job *job, int64_t k, int which) {
    return job->number + k * job->own * american_numbers(job->basis.assets) +
           which * job->basis.assets;
}

SHOAL_HD static inline const double *american_spot(const american_job *job, int64_t k) {
    return job->spot + k * job->basis.assets;
}

SHOAL_HD static inline uint64_t american_first(const american_job *job, int64_t k) {
    return job->first ? job->first[k] : 0;
}

/* L(a,b), a >= b, of problem k. */
SHOAL_HD static inline double american_load(const american_job *job, int64_t k, int a, int b) {
    return american_list(job, k, AMERICAN_LISTS)[a * (a + 1) / 2 + b];
}

/* The time of date i over dt. */
SHOAL_HD static inline double american_time(const american_job *job, int i) {
    return job->times ? job->times[i] : (double)i;
}

/* The step from date i to date i + 1 over dt. */
SHOAL_HD static inline double american_step(const american_job *job, int i) {
    return american_time(job, i + 1) - american_time(job, i);
}

/* What is paid at date i + 1 is worth so much of it at date i. */
SHOAL_HD static inline double american_discount(const american_job *job, int64_t k, int i) {
    const american_contract *c = american_terms(job, k);
    const double step = american_step(job, i);
    return step == 1 ? c->discount : shoal_exp(-c->rate * (step * c->dt));
}

/* Of asset a, from date i to date i + 1: weight times the mean of what it grows by. */
SHOAL_HD static inline double american_carry(const american_job *job, int64_t k, int a, int i) {
    const double step = american_step(job, i), carry = american_list(job, k, AMERICAN_CARRY)[a];
    if (step == 1) return carry;
    const double vol = american_list(job, k, AMERICAN_VOL)[a];
    const double growth = fma(0.5 * vol, vol, american_list(job, k, AMERICAN_DRIFT)[a]);
    return carry * shoal_exp(growth * ((step - 1) * american_terms(job, k)->dt));
}

/* phi(z) / Phi(z). */
SHOAL_HD static inline double american_ratio(double z) {
    const double below = shoal_normcdf(z);
    return below > 1e-280 ? 0.3989422804014327 * shoal_exp(-0.5 * z * z) / below : -z;
}

typedef struct american_range { /* x = (S - center) inverse */
    double center, inverse;
} american_range;

/* Of asset a of problem k at date i. */
SHOAL_HD static inline american_range american_range_of(const american_job *job, int64_t k, int a,
                                                        int i) {
    const american_contract *c = american_terms(job, k);
    const double spot = american_spot(job, k)[a];
    const double vol = american_list(job, k, AMERICAN_VOL)[a];
    const double t = american_time(job, i) * c->dt, s = vol * sqrt(t);
    const double middle = spot * shoal_exp(american_list(job, k, AMERICAN_DRIFT)[a] * t);
    american_range r = { 0.0, 1.0 };
    if (job->raw) return r;
    if (c->payoff <= SHOAL_CALL && s > 0.0 && c->strike > 0.0) {
        const double side = c->payoff == SHOAL_PUT ? 1.0 : -1.0;
        const double z = side * shoal_log(c->strike / middle) / s, h = american_ratio(z);
        const double v = fma(-h, z + h, 1.0), smallest = 0.5 / fma(z, z, 1.0);
        r.center = middle * shoal_exp(-side * s * h);
        r.inverse = 1.0 / (r.center * s * sqrt(v > smallest ? v : smallest));
    } else {
        const double e = shoal_exp(0.5 * s * s);
        r.center = middle * e;
        r.inverse = 1.0 / (r.center * (s > 0.0 ? sqrt(fma(e, e, -1.0)) : 1.0));
    }
    return r;
}

/* The factor of S in the control variate: one over the forward price and the number of assets. */
SHOAL_HD static inline double american_share(const american_job *job, int64_t k, int a, int i) {
    const double vol = american_list(job, k, AMERICAN_VOL)[a],
                 t = american_time(job, i) * american_terms(job, k)->dt;
    const double growth = fma(0.5 * vol, vol, american_list(job, k, AMERICAN_DRIFT)[a]);
    const double forward = american_spot(job, k)[a] * shoal_exp(growth * t);
    return 1.0 / ((double)job->basis.assets * forward);
}

/* The factor of the payoff where it is a function of the basis: one over the largest price today. */
SHOAL_HD static inline real american_payoff_factor(const american_job *job, int64_t k) {
    const double *spot = american_spot(job, k);
    double largest = spot[0];
    for (int a = 1; a < job->basis.assets; a++) largest = spot[a] > largest ? spot[a] : largest;
    return job->raw ? 1 : (real)(1.0 / largest);
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

/* What is taken off a cash flow on its way from date i + 1 to date i, where exercise would pay
 * `gain` at i: the gain of a holder who is meanwhile short of a part of the payoff's line, which
 * is `next` at i + 1, where its mean was `expected`. The mean of that is 0 given date i, so that
 * no price changes; with a part near the option's delta, as here that of Bachelier's model but
 * for its tails, it is most of the noise. */
SHOAL_HD static inline real american_hedge(real slope, real gain, real next, real expected) {
    const real part = real_fma(slope, gain, (real)0.5), below = real_pick(part > 1, 1, part);
    return real_pick(below > 0, below, 0) * (next - expected);
}

/* The part's slope in the gain at date i; at the last one there is nothing to hedge. */
SHOAL_HD static inline real american_slope(const american_job *job, int64_t k, int i) {
    if (i == job->dates) return 0;
    const double left = american_time(job, job->dates) - american_time(job, i);
    return (real)(american_terms(job, k)->slope / sqrt(left));
}

/* What exercise would pay today, and the mean of that at date 1, if it is a line. */
typedef struct american_start {
    real gain, expected, slope;
} american_start;

SHOAL_HD static inline american_start american_start_of(const american_job *job, int64_t k) {
    const american_contract *c = american_terms(job, k);
    const double *spot = american_spot(job, k), *weight = american_list(job, k, AMERICAN_WEIGHT);
    real all = 0, ahead = 0;
    for (int a = 0; a < job->basis.assets; a++) {
        all = american_gather(c->payoff, all, (real)weight[a], (real)spot[a]);
        ahead = real_fma((real)american_carry(job, k, a, 0), (real)spot[a], ahead);
    }
    const american_start start = { american_gain(c->payoff, (real)c->strike, all),
                                   american_gain(c->payoff, (real)c->strike, ahead),
                                   american_slope(job, k, 0) };
    return start;
}

/* Numbers of the bridge from date i + 1 to date i < dates, or of the start at the last date. */
typedef struct american_bridge {
    double keep, noise;
} american_bridge;

SHOAL_HD static inline double american_keep(const american_job *job, int i) {
    return i == job->dates ? 0.0 : american_time(job, i) / american_time(job, i + 1);
}

SHOAL_HD static inline american_bridge american_bridge_of(const american_job *job, int64_t k,
                                                          int i) {
    const double dt = american_terms(job, k)->dt;
    american_bridge b;
    b.keep = american_keep(job, i);
    b.noise = sqrt((i == job->dates ? american_time(job, i) : b.keep * american_step(job, i)) * dt);
    return b;
}

/* Where the rule of date i of a system begins. */
SHOAL_HD static inline int64_t american_rule_at(const american_job *job, int64_t system, int i) {
    return system * american_rules(job) + (int64_t)(job->latest ? 0 : i - 1) * job->basis.functions;
}

/* The whole part of log10(1 / rcond), the last decade for what is beyond or is not a number. */
SHOAL_HD static inline int american_decade(float rcond) {
    double bound = 0.1;
    int decade = 0;
    while (decade < FIT_DECADES - 1 && !((double)rcond > bound)) bound *= 0.1, decade++;
    return decade;
}

/* Which counts a system adds to: what became of it, method and decade; -1: none. */
typedef struct american_tally {
    int outcome, method, decade;
} american_tally;

/* The rule of a date out of the answer x to its system, and what is counted: where nobody was in
 * the money, or there is no answer, continuing is worth infinitely much. */
SHOAL_HD static inline american_tally american_settle(const american_job *job, int64_t system,
                                                      int i) {
    const int n = job->basis.functions, status = job->status[system];
    const real *x = (const real *)job->x + system * n;
    real *rule = (real *)job->rule + american_rule_at(job, system, i);
    const int empty = !(job->members[system] > 0.0), none = empty || status < 0;
    american_tally tally = { -1, -1, -1 };
    for (int j = 0; j < n; j++) rule[j] = none ? (j ? 0 : (real)INFINITY) : x[j];
    if (empty)
        tally.outcome = FIT_EMPTY;
    else if (status < 0)
        tally.outcome = FIT_FAILED;
    else if (status == SHOAL_SYSTEM_TRUNCATED)
        tally.outcome = FIT_TRUNCATED;
    else if (status == SHOAL_SYSTEM_REFINED)
        tally.outcome = FIT_REFINED;
    else if (status > 0)
        tally.outcome = FIT_WARNED;
    if (none) return tally;
    if (job->method) tally.method = FIT_METHOD + job->method[system] % FIT_METHODS;
    if (job->rcond) tally.decade = FIT_DECADE + american_decade(job->rcond[system]);
    return tally;
}

/* Entry e of A and b from its sum over the paths; without a path in the money, of a unit matrix. */
SHOAL_HD static inline void american_store(const american_job *job, int64_t system, int64_t e,
                                           double sum, double members) {
    const int n = job->basis.functions;
    const int64_t triangle = (int64_t)n * (n + 1) / 2;
    double mean = members > 0.0 ? sum / members : 0.0;
    for (int i = 0; !(members > 0.0) && i < n; i++)
        if (e == (int64_t)i * (i + 3) / 2) mean = 1.0;
    if (e < triangle)
        ((real *)job->A)[system * triangle + e] = (real)mean;
    else
        ((real *)job->b)[system * n + e - triangle] = (real)mean;
    if (e == 0) job->members[system] = members;
}

/* The same out of the sums of the blocks. */
SHOAL_HD static inline void american_entry(const american_job *job, int64_t system, int64_t e) {
    const int64_t sums = american_sums(job->basis.functions);
    const double *from = job->partial + system * job->blocks * sums;
    const int64_t blocks = american_blocks(job, system / job->problems);
    double sum = 0.0, members = 0.0;
    for (int64_t q = 0; q < blocks; q++) {
        sum += from[q * sums + e];
        members += from[q * sums];
    }
    american_store(job, system, e, sum, members);
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

/* One date of a sample of the dual (L. Andersen and M. Broadie, 2004): the martingale moves by
 * the rule's value V less what it was worth at the date before, and
 *
 *     price <= E max_i (e^(-r t_i) payoff_i - M_i),   M_i = M_(i-1) + V_i - C_(i-1),
 *
 * V_i the payoff where the rule exercises and C_i where not, C_i what the rule is worth if one
 * goes on at t_i; all discounted to today. Returns the largest so far. */
SHOAL_HD static inline double american_dual_step(const american_point *at, int last,
                                                 double discount, double go_on, double before,
                                                 int first, double largest, double *martingale) {
    const double paid = at->gain > 0.0 ? discount * at->gain : 0.0;
    const int now = last || (at->gain > 0.0 && at->gain >= at->hold);
    *martingale += (now ? paid : go_on) - before;
    const double gap = paid - *martingale;
    return first || gap > largest ? gap : largest;
}

/* The sums of cash flows of a system out of those of its blocks. */
SHOAL_HD static inline void american_value(const american_job *job, int64_t system) {
    double sum = 0.0, squares = 0.0;
    for (int64_t q = system * job->blocks; q < (system + 1) * job->blocks; q++) {
        sum += job->partial[2 * q];
        squares += job->partial[2 * q + 1];
    }
    job->value[2 * system] = sum, job->value[2 * system + 1] = squares;
}

#endif
