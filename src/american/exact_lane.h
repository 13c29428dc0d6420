/* SPDX-License-Identifier: Apache-2.0
 *
 * exact_lane.h - the formulas of exact.h, one option per lane: on the CPU a lane of a vector, on the GPU a thread.
 *
 * A point of an integral costs two exponentials, a tail of the normal distribution, a root, two quotients and 2 n
 * multiply-adds. One exponential serves both bells: S e^(-qt) phi(d+(t, S/B)) = B e^(-rt) phi(d-(t, S/B)).
 */
#ifndef SHOAL_AMERICAN_EXACT_LANE_H
#define SHOAL_AMERICAN_EXACT_LANE_H

#include "american/exact.h"
#include "american/vectors.h"

/* ---- functions ---------------------------------------------------------------------------------- */

/* The sum of weights[j stride] x[j]. */
LANE_FUNCTION vec vec_weighted(const double *weights, int stride, const vec *x, int n) {
    vec even = vec_all(weights[0]) * x[0], odd = vec_all(0);
    for (int j = 1; j < n - 1; j += 2) {
        odd = vec_fma(vec_all(weights[j * stride]), x[j], odd);
        even = vec_fma(vec_all(weights[(j + 1) * stride]), x[j + 1], even);
    }
    if (n % 2 == 0) odd = vec_fma(vec_all(weights[(n - 1) * stride]), x[n - 1], odd);
    return even + odd;
}

/* Phi(-|x|) e^(x^2/2): the polynomial of shoal_normcdf() without its low parts. */
LANE_FUNCTION vec vec_tail(vec x) {
    const double terms[24] = {
        -0x1.8f4178ebec56p-31,  -0x1.3cccc5a287a0dp-28, -0x1.0f0b4ac8e5e7fp-27,
        0x1.c00b84f4bdf9ap-27,  0x1.fed3ce0dbc605p-25,  0x1.1a97b6e307f5dp-28,
        -0x1.1f3130d0d8c03p-22, -0x1.c94b9512c7382p-23, 0x1.2d1f0b2db441bp-20,
        0x1.9b9e68934d701p-20,  -0x1.5a3933602a9f7p-18, -0x1.27742ca06639fp-17,
        0x1.e547aa81bef8p-16,   0x1.6f5f3f602859fp-15,  -0x1.abdcf3585fb1p-13,
        -0x1.e9e86647c074p-14,  0x1.ad01f0eb8b3bcp-10,  -0x1.0a537a992f29cp-9,
        -0x1.3ad0117c3a8cp-7,   0x1.c26819d8d205dp-5,   -0x1.42d02444c936ap-3,
        0x1.4a7089e7043fcp-2,   -0x1.09edf04e64665p-1,  0x1.5eb7f6752c13p-1
    };
    const vec v = vec_all(1) / (vec_abs(x) + vec_all(4));
    return vec_series(terms, 24, vec_fma(vec_all(-8), v, vec_all(0.875))) * v;
}

/* level Phi(x) from e = level e^(-x^2/2). */
LANE_FUNCTION vec vec_phi(vec x, vec e, vec level) {
    const vec tail = e * vec_tail(x);
    return vec_select(x > vec_all(0), level - tail, tail);
}

/* ---- the option --------------------------------------------------------------------------------- */

#define EXACT_FLOOR   1e-28              /* of an interpolated H */
#define EXACT_DENSITY 0.3989422804014327 /* 1 / sqrt(2 pi)       */

typedef struct exact_lane {                 /* VEC options                                     */
    vec s, k, r, q, v, b, root_t, one_over; /* b = r - q; one_over = 1 / (sigma sqrt T)        */
    vec log_start, away, down;              /* log(X/K); log(S/X); log(X/B) without maturity   */
    vec dr, dq, start;                      /* the direction of rho; d log X along it          */
    vec *h, *square;                        /* [n]: log(X/B), and H                            */
    vec *fall;                              /* [l][n]: e^(-qt)                                 */
    vec *jacobian, *residual, *by_v, *by_r; /* [n][exact_stride(n)], [n], ...                */
} exact_lane;

/* log(X/K), log(S/X), log(X/B) without maturity, d log X along rho. */
LANE_FUNCTION void exact_begin(double s, double k, double r, double q, double v, double of_q,
                               double out[4]) {
    const double start = q > r ? r / q : 1, a = (r - q) / (v * v) - 0.5;
    const double edge = sqrt(a * a + 2 * r / (v * v));
    const double beta = a < 0 ? 2 * r / (v * v) / (a - edge) : -(a + edge);
    const double below = shoal_log(start * (beta - 1) / beta);
    out[0] = shoal_log(start), out[1] = shoal_log(s / (k * start));
    out[2] = below < 50 ? below > 1e-12 ? below : 1e-12 : 50;
    out[3] = q > r ? (1 - of_q) / r - of_q / q : 0;
}

/* What follows from s, k, r, q, v, maturity, dq and the four numbers above; memory is exact_numbers() vectors. */
LANE_FUNCTION void exact_complete(exact_lane *o, const exact_rule *rule, vec maturity,
                                  vec *memory) {
    const int n = rule->n;
    o->root_t = vec_root(maturity), o->one_over = vec_all(1) / (o->v * o->root_t);
    o->b = o->r - o->q, o->dr = vec_all(1) - o->dq;
    o->h = memory, o->square = o->h + n, o->residual = o->square + n;
    o->by_v = o->residual + n, o->by_r = o->by_v + n, o->jacobian = o->by_r + n;
    o->fall = o->jacobian + n * exact_stride(n);
}

/* ---- the boundary ------------------------------------------------------------------------------- */

/* h at a short maturity T x^2: sigma sqrt(T) x times a root of a logarithm, or if q > r times 0.64; and as h does not
 * exceed `down`. */
LANE_FUNCTION vec exact_early(const exact_lane *o, double x) {
    const vec root = vec_all(x) * o->root_t, tau = root * root, sd = o->v * root;
    const vec ratio = o->b / o->v, least = vec_all(1e-300);
    const vec even = vec_log(vec_all(7.09) * tau * o->r + least) * vec_all(-2);
    const vec odd = -vec_log(vec_all(25.1) * tau * ratio * ratio + least);
    const vec rise = vec_root(vec_max(vec_min(even, odd), vec_all(0.5)));
    const vec h = sd * vec_select(o->b < vec_all(0), vec_all(0.64), rise);
    return vec_max(o->down * (vec_all(1) - vec_exp(-h / o->down)), vec_all(2e-3) * sd);
}

/* h at a maturity, improved by Newton's steps on Li's QD+ (2010), an approximation of the boundary without integrals;
 * per unit of the strike. */
LANE_FUNCTION vec exact_guess(const exact_lane *o, double x, vec h, int passes) {
    const vec one = vec_all(1), half = vec_all(0.5), two = vec_all(2), vv = o->v * o->v;
    const vec root = vec_all(x) * o->root_t, tau = root * root, sd = o->v * root;
    const vec over = one / sd, rt = o->r * tau;
    const vec discount = vec_exp(-rt), level = vec_exp(-o->q * tau);
    const vec_mask small = rt < vec_all(1e-4);
    const vec part = vec_select(small, tau * (one - half * rt), (one - discount) / o->r);
    const vec ease = one / part, omega = two * o->b / vv - one; /* r / (1 - e^(-r tau)) */
    const vec edge = vec_root(omega * omega + vec_all(8) * ease / vv);
    const vec lambda = -half * (omega + edge), of_theta = -two / (vv * edge);
    const vec of_gap =
        lambda - discount * of_theta * (ease - two * ease * ease / (vv * edge * edge));
    for (int pass = 0; pass < passes; pass++) {
        const vec b = vec_exp(o->log_start - h); /* B/K */
        const vec d = (vec_fma(o->b, tau, -h) + o->log_start) * over + half * sd;
        const vec e = b * vec_exp(-vec_fma(o->q, tau, half * d * d));
        const vec held = vec_phi(-d, e, level * b), paid = vec_phi(sd - d, e, discount);
        const vec bell = e * vec_all(EXACT_DENSITY), asset = b - held;
        const vec spread = half * o->v * bell / root;
        const vec gap = one - paid - asset;
        const vec theta = o->r * paid - o->q * held - spread;
        const vec slope = (o->q - o->r) * bell * over - o->q * held - spread * (one - d * over);
        const vec f = vec_fma(of_gap, gap, vec_fma(of_theta, theta, asset));
        const vec df = asset + bell * over - of_gap * asset + of_theta * slope;
        const vec next = h + f / df, low = vec_all(0.3) * h;
        h = vec_min(vec_select(next > low, next, low), vec_all(3) * h);
    }
    return h;
}

/* Row i of the equation: its residual, its derivatives by h, and with greeks those by sigma and along rho. */
LANE_FUNCTION void exact_row(const exact_rule *rule, const exact_lane *o, int i, const int greeks) {
    const int n = rule->n, l = rule->l, by = rule->of_node;
    const vec half = vec_all(0.5), one = vec_all(1), at = o->h[i];
    const vec root = vec_all(rule->x[i]) * o->root_t, tau = root * root, sd = o->v * root;
    const vec own_over = o->one_over / vec_all(rule->x[i]);
    vec *row = o->jacobian + i * exact_stride(n);
    for (int j = 0; j < n; j++) row[j] = vec_all(0);
    const vec d = (vec_fma(o->b, tau, -at) + o->log_start) * own_over + half * sd;
    const vec level = vec_exp(-o->q * tau), e = vec_exp(-vec_fma(o->q, tau, half * d * d));
    const vec inverse = vec_exp(-o->log_start); /* K/X */
    const vec first = vec_phi(d, e, level), bell = e * vec_all(EXACT_DENSITY);
    vec sum = first, diagonal = -(bell * own_over), by_v = -(bell * (d - sd) / o->v);
    vec by_r = bell * own_over * vec_fma(o->dr - o->dq, tau, o->start) - o->dq * tau * first;
    for (int k = 0; k < l; k++) {
        const double *m = rule->matrix + i * rule->of_row + k * rule->of_point;
        const vec inside = vec_weighted(m, by, o->square, n);
        const vec_mask good = inside > vec_all(EXACT_FLOOR);
        const vec h = vec_root(vec_select(good, inside, vec_all(EXACT_FLOOR)));
        const vec one_over_h = vec_select(good, one / h, vec_all(0));
        const vec over = own_over * vec_all(rule->one_over_z[k]);
        const vec rt = root * vec_all(rule->z[k]), t = rt * rt, vs = o->v * rt;
        const vec down = vec_fma(o->b, t, h - at) * over - half * vs, up = down + vs;
        const vec up_e = vec_exp(-vec_fma(o->q, t, half * up * up));
        const vec up_part = vec_phi(up, up_e, o->fall[k * n + i]); /* e^(-qt) Phi(d+) */
        const vec up_bell = up_e * vec_all(EXACT_DENSITY);
        const vec owed = o->r * (inverse * vec_exp(h)) * up_bell; /* r K/B e^(-rt) phi(d-) */
        const vec held = o->q * up_bell;
        const vec time = vec_all(2 * rule->w[k]) * root * rt,
                  each = time * over; /* dt, dt / (sigma sqrt t) */
        sum = vec_fma(o->q * up_part, time, vec_fma(held - owed, each, sum));
        const vec move = vec_fma(held, time, each * (owed * down - held * up));
        const vec slope = move * over, share = slope * one_over_h;
        diagonal -= vec_fma(owed, each, slope);
        for (int j = 0; j < n; j++) row[j] = vec_fma(share, vec_all(m[j * by]), row[j]);
        if (!greeks) continue;
        /* d(d+)/dsigma = -d-/sigma, d(d-)/dsigma = -d+/sigma */
        by_v += ((held - owed) * each * (up * down - one) - held * time * down) / o->v;
        by_r +=
            move * over * t * (o->dr - o->dq) +
            o->dq * (time * up_part + each * up_bell) * (one - o->q * t) -
            each * (inverse * vec_exp(h)) * up_bell * (o->dr * (one - o->r * t) - o->r * o->start);
    }
    for (int j = 0; j < n; j++) row[j] *= o->h[j];
    row[i] += diagonal;
    o->residual[i] = sum;
    if (greeks) o->by_v[i] = by_v, o->by_r[i] = by_r;
}

/* h after a part of Newton's step. */
LANE_FUNCTION vec exact_step(vec h, vec step, double part) {
    return vec_min(vec_max(h - vec_all(part) * step, vec_all(0.3) * h), vec_all(3) * h);
}

/* ---- the price ---------------------------------------------------------------------------------- */

typedef struct exact_sums {
    vec price, delta, gamma, vega, rho;
} exact_sums;

/* The European put. */
LANE_FUNCTION exact_sums exact_european(const exact_lane *o) {
    const vec half = vec_all(0.5), root = o->root_t, tau = root * root;
    const vec d = (vec_fma(o->b, tau, o->away) + o->log_start) * o->one_over + half * o->v * root;
    const vec fall = vec_exp(-o->q * tau), discount = vec_exp(-o->r * tau);
    const vec e =
        o->s * vec_exp(-vec_fma(o->q, tau, half * d * d)); /* K e^(-r tau - d-^2/2), too */
    const vec held = vec_phi(-d, e, o->s * fall),
              paid = vec_phi(o->v * root - d, e, o->k * discount);
    const vec bell = e * vec_all(EXACT_DENSITY);
    const exact_sums sums = { paid - held, -held / o->s, bell * o->one_over / (o->s * o->s),
                              bell * root, tau * (o->dq * held - o->dr * paid) };
    return sums;
}

/* Adds point g of the early exercise premium. */
LANE_FUNCTION void exact_premium(const exact_rule *rule, const exact_lane *o, int g,
                                 const int greeks, exact_sums *sums) {
    const int n = rule->n;
    const double *m = rule->price_matrix + (ptrdiff_t)g * n;
    const vec half = vec_all(0.5), one = vec_all(1), root = o->root_t;
    const vec inside = vec_weighted(m, 1, o->square, n);
    const vec_mask good = inside > vec_all(EXACT_FLOOR);
    const vec h = vec_root(vec_select(good, inside, vec_all(EXACT_FLOOR)));
    const vec z = vec_all(rule->price_z[g]), over = o->one_over / z, rt = root * z, t = rt * rt;
    const vec vs = o->v * rt, time = vec_all(2 * rule->price_w[g]) * root * rt;
    const vec up = vec_fma(o->b, t, o->away + h) * over + half * vs, down = up - vs;
    const vec fall = vec_exp(-o->q * t), discount = vec_exp(-o->r * t);
    const vec up_e = o->s * vec_exp(-vec_fma(o->q, t, half * up * up));
    const vec down_e = up_e * vec_exp(h - o->log_start); /* K e^(-rt - d-^2/2) */
    const vec asset = vec_phi(-up, up_e, o->s * fall);
    const vec cash = vec_phi(-down, down_e, o->k * discount);
    sums->price = vec_fma(time, o->r * cash - o->q * asset, sums->price);
    if (!greeks) return;
    const vec in_asset = o->q * up_e * vec_all(EXACT_DENSITY);
    const vec in_cash = o->r * down_e * vec_all(EXACT_DENSITY);
    /* by d+ and d-, both moved by 1 */
    const vec by_log = time * over * (in_asset - in_cash);
    sums->delta += (by_log - time * o->q * asset) / o->s;
    sums->gamma += time * over * (in_cash * (down * over + one) + in_asset * (one - up * over)) /
                   (o->s * o->s);
    const vec inverse = vec_select(good, half / h, vec_all(0)); /* dh / dH */
    const vec by_v = vec_weighted(m, 1, o->by_v, n) * inverse;
    const vec by_r = vec_weighted(m, 1, o->by_r, n) * inverse;
    sums->vega += by_log * by_v + time * (in_cash * up - in_asset * down) / o->v;
    sums->rho += by_log * (by_r - o->start + t * (o->dr - o->dq)) +
                 time * (o->dr * cash * (one - o->r * t) - o->dq * asset * (one - o->q * t));
}

/* The boundary of today. At and below it the option is exercised; next to it the difference may round below. */
LANE_FUNCTION vec exact_end(const exact_rule *rule, const exact_lane *o, exact_sums *sums) {
    const vec stop = vec_exp(o->log_start - o->h[rule->n - 1]) * o->k, now = o->k - o->s;
    const vec_mask done = o->s <= stop;
    sums->price = vec_select(done, now, vec_max(sums->price, now));
    sums->delta = vec_select(done, vec_all(-1), sums->delta);
    sums->gamma = vec_select(done, vec_all(0), sums->gamma);
    sums->vega = vec_select(done, vec_all(0), sums->vega);
    sums->rho = vec_select(done, vec_all(0), sums->rho);
    return stop;
}

#endif
