/* SPDX-License-Identifier: Apache-2.0
 *
 * exact_point.h - an option of shoal_vanilla as a put: its checks, the cases that need no boundary, its results, and the
 * search of an implied volatility. Plain numbers, for both backends.
 *
 * In the coordinates of a put, the option is a European one if r <= 0 and q >= r, and has two boundaries if
 * q < r < 0 (Battauz, De Donno and Sbuelz 2015), which is refused. Otherwise it has one.
 */
#ifndef SHOAL_AMERICAN_EXACT_POINT_H
#define SHOAL_AMERICAN_EXACT_POINT_H

#include "american/exact.h"
#include "core/math.h"
#include <float.h>

enum { EXACT_ROUNDS = 200 }; /* of an implied volatility                                         */
#define EXACT_RANGE 60.0     /* of (|r| + |q| + sigma^2) T                                       */
#define EXACT_FAR   10.0     /* standard deviations                                              */
#define EXACT_LARGE                                                                                \
    SHOAL_VANILLA_LARGE       /* of prices                                                        */
#define EXACT_NO_NOISE  1e-12 /* of sigma sqrt T: below, S follows its drift                      */
#define EXACT_PRECISION 1e-14 /* of an implied volatility: its last step, in parts of it          */
#define EXACT_ROUNDING  1e-12 /* a step so small that does not bring the price nearer is rounding */

typedef struct exact_point { /* an option as a put */
    double s, k, r, q, v, t;
    int call, status;
    double price, delta, gamma, vega, rho, boundary;
} exact_point;

/* ---- without a boundary ------------------------------------------------------------------------- */

SHOAL_HD static inline void exact_exercise(exact_point *o, double t) {
    const double cash = o->k * shoal_exp(-o->r * t), asset = o->s * shoal_exp(-o->q * t);
    if (cash - asset <= o->price) return;
    o->price = cash - asset, o->delta = -asset / o->s;
    o->rho = o->call ? t * asset : -t * cash;
}

/* S follows its drift: the best time to exercise is today, maturity, or that with r K e^(-rt) = q S e^(-qt). */
SHOAL_HD static inline void exact_without_noise(exact_point *o, int european) {
    const double ratio = o->r * o->k / (o->q * o->s), best = shoal_log(ratio) / (o->r - o->q);
    o->price = o->delta = o->gamma = o->vega = o->rho = 0;
    exact_exercise(o, o->t);
    o->boundary = o->t > 0 ? o->q > o->r ? o->k * fmax(0.0, o->r / o->q) : o->k : o->k;
    if (european) return;
    if (best > 0 && best < o->t) exact_exercise(o, best);
    exact_exercise(o, 0);
}

SHOAL_HD static inline void exact_by_formula(exact_point *o) {
    const double root = sqrt(o->t), sd = o->v * root;
    const double d = (shoal_log(o->s / o->k) + (o->r - o->q) * o->t) / sd + 0.5 * sd;
    const double held = o->s * shoal_exp(-o->q * o->t) * shoal_normcdf(-d);
    const double paid = o->k * shoal_exp(-o->r * o->t) * shoal_normcdf(sd - d);
    const double bell = o->s * shoal_exp(-o->q * o->t - 0.5 * d * d) * 0.3989422804014327;
    o->price = fmax(paid - held, 0.0), o->delta = -held / o->s,
    o->gamma = bell / (sd * o->s * o->s);
    o->vega = bell * root, o->rho = o->t * (o->call ? held : -paid), o->boundary = 0;
}

/* ---- options ------------------------------------------------------------------------------------ */

SHOAL_HD static inline int exact_is_number(double x, double min, double max) {
    return x >= min && x <= max;
}

SHOAL_HD static inline exact_point exact_point_of(const exact_job *job, int64_t i) {
    const shoal_vanilla *a = &job->options;
    const double sigma = job->price ? 0 : a->sigma[i];
    const double r = a->rate[i], q = a->dividend ? a->dividend[i] : 0, t = a->maturity[i];
    const int call = a->call && a->call[i] != 0;
    exact_point o = { a->s0[i], a->strike[i], r, q, sigma, t, call, 0, 0, 0, 0, 0, 0, 0 };
    const int good = exact_is_number(o.s, 1 / EXACT_LARGE, EXACT_LARGE) &&
                     exact_is_number(o.k, 1 / EXACT_LARGE, EXACT_LARGE) &&
                     exact_is_number(t, 0, DBL_MAX) && exact_is_number(sigma, 0, DBL_MAX) &&
                     (fabs(r) + fabs(q) + sigma * sigma) * t <= EXACT_RANGE &&
                     exact_is_number(r, -DBL_MAX, DBL_MAX) && exact_is_number(q, -DBL_MAX, DBL_MAX);
    if (call) o.s = a->strike[i], o.k = a->s0[i], o.r = q, o.q = r;
    if (!good)
        o.status = SHOAL_VANILLA_INVALID;
    else if (!job->european && t > 0 && o.q < o.r && o.r < 0)
        o.status = SHOAL_VANILLA_TWO_BOUNDARIES;
    return o;
}

/* If log S rises by b per year and b sqrt(t) / sigma > EXACT_FAR, S does not come back after t: a longer option is worth
 * no more. */
SHOAL_HD static inline double exact_enough_time(const exact_point *o) {
    const double b = o->r - o->q - 0.5 * o->v * o->v, far = EXACT_FAR * o->v / b;
    return b > 0 && far * far < o->t ? far * far : o->t;
}

/* Prices it unless it has a boundary; returns whether it has. */
SHOAL_HD static inline int exact_has_boundary(exact_point *o, int european) {
    if (o->status) return 0;
    const int still = o->v * sqrt(o->t) <= EXACT_NO_NOISE;
    const int never = european || (o->r <= 0 && o->q >= o->r);
    if (still)
        exact_without_noise(o, european);
    else if (never)
        exact_by_formula(o);
    return !still && !never;
}

SHOAL_HD static inline void exact_put(double *to, int64_t i, int status, double value) {
    if (to) to[i] = status ? shoal_nan() : value;
}

/* Results of option i. */
SHOAL_HD static inline void exact_store(const exact_job *job, int64_t i, const exact_point *o) {
    const shoal_vanilla_values *to = &job->values;
    const double k = o->k, s = o->s, bend = 0.5 * o->v * o->v * s * s * o->gamma;
    const int now = o->delta == -1 && o->price == k - s;
    const double theta =
        o->t <= 0 || now ? 0 : o->r * o->price - (o->r - o->q) * s * o->delta - bend;
    exact_put(to->price, i, o->status, o->price);
    exact_put(to->delta, i, o->status, o->call ? (o->price - s * o->delta) / k : o->delta);
    exact_put(to->gamma, i, o->status, o->call ? s * s / (k * k) * o->gamma : o->gamma);
    exact_put(to->vega, i, o->status, o->vega);
    exact_put(to->theta, i, o->status, theta);
    exact_put(to->rho, i, o->status, o->rho);
    exact_put(job->sigma, i, o->status, o->v);
    if (job->status) job->status[i] = o->status;
    exact_put(to->boundary, i, o->status, o->call ? s * k / o->boundary : o->boundary);
}

/* ---- implied volatilities ----------------------------------------------------------------------- */

typedef struct exact_search {
    double price, base;          /* base: without volatility              */
    double low, high, most, off; /* most: the largest sigma allowed */
    int done;
} exact_search;

/* The bounds of prices, and a first volatility: that of the largest vega. */
SHOAL_HD static inline void exact_search_begin(exact_search *at, exact_point *o, double price,
                                               int european) {
    const double rest = (EXACT_RANGE - (fabs(o->r) + fabs(o->q)) * o->t) / o->t;
    exact_point still = *o;
    at->price = price, at->base = at->low = 0, at->high = at->off = shoal_inf();
    at->most = sqrt(rest), at->done = 0;
    if (!o->status && (!(o->t > 0) || !exact_is_number(price, -DBL_MAX, DBL_MAX)))
        o->status = SHOAL_VANILLA_INVALID;
    if (o->status) return;
    still.v = 0;
    exact_without_noise(&still, european);
    at->base = still.price;
    const double top =
        o->k * (european ? shoal_exp(-o->r * o->t) : fmax(1.0, shoal_exp(-o->r * o->t)));
    if (!(price > still.price)) o->status = SHOAL_VANILLA_TOO_LOW;
    if (!(price < top)) o->status = SHOAL_VANILLA_TOO_HIGH;
    const double best = sqrt(2 * fabs(shoal_log(o->s / o->k) / o->t + o->r - o->q));
    o->v = fmin(fmax(best, 0.1 / sqrt(o->t)), 0.9 * at->most);
}

/* A step of Newton's method on the logarithm of what volatility adds, or a halving of the bracket if the step would
 * leave it. */
SHOAL_HD static inline void exact_search_narrow(exact_search *at, exact_point *o) {
    const double off = o->price - at->price, v = o->v;
    *(off > 0 ? &at->high : &at->low) = v;
    const double adds = o->price - at->base;
    double next = v - shoal_log(adds / (at->price - at->base)) * adds / o->vega;
    if (!(next > at->low && next < at->high))
        next = at->high == shoal_inf() ? 2 * v
               : at->low > 0           ? 0.5 * (at->low + at->high)
                                       : 0.25 * v;
    if (next > at->most) next = at->most;
    const double step = fabs(next - v);
    at->done = off == 0 || step <= EXACT_PRECISION * v ||
               (step <= EXACT_ROUNDING * v && fabs(off) >= at->off);
    if (v >= at->most && off < 0) o->status = SHOAL_VANILLA_TOO_HIGH;
    at->off = fabs(off);
    if (off != 0) o->v = next;
}

#endif
