/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.c - the exercise boundaries and prices of a pack of puts, one per lane of a vector. exact.h has the formulas.
 *
 * Cost of a pass of Newton's method: n l points, each of two exponentials, a tail of the normal distribution, a root
 * and 2 n multiply-adds; then n^3 / 3 for the system. Four to seven passes are usual.
 */
#include "american/exact.h"
#include "core/math.h"
#include "core/vec.h"

enum { PASSES = 60, WHOLE = 15 };  /* of Newton's method, at most; of those, with whole steps */
#define SETTLED 1e-6               /* last change of log(B/X), in parts of it */
#define FLOOR   1e-28              /* of an interpolated H                                   */
#define DENSITY 0.3989422804014327 /* 1 / sqrt(2 pi) */

typedef struct chunk {                      /* VEC options */
    vec r, q, v, b, root_t, one_over;       /* b = r - q; one_over = 1 / (sigma sqrt T)    */
    vec log_start;                          /* log(X/K)                                    */
    vec dr, dq, start;                      /* the direction of rho; d log X along it      */
    vec *h, *square;                        /* [n]: -log(B/X), and H                       */
    vec *fall;                              /* [n][l]: e^(-qt)                             */
    vec *jacobian, *residual, *by_v, *by_r; /* [n][n], [n], ...                      */
} chunk;

ALWAYS_INLINE vec vec_root(vec x) {
    vec y = x;
    for (int i = 0; i < VEC; i++) y[i] = sqrt(x[i]);
    return y;
}

/* e^x within an ulp or two; x up to 700; below -700 it is -700. */
ALWAYS_INLINE vec vec_exp(vec x) {
    static const double terms[] = { 0x1.1f730349868cep-29, 0x1.af4de97ca4194p-26,
                                    0x1.27e4db646b17ep-22, 0x1.71de0231960ebp-19,
                                    0x1.a01a01a6d889cp-16, 0x1.a01a01abe7fe1p-13,
                                    0x1.6c16c16c162d4p-10, 0x1.11111111100dcp-7,
                                    0x1.5555555555556p-5,  0x1.5555555555557p-3 };
    x = vec_max(x, vec_all(-700));
    const vec shifted = vec_fma(x, vec_all(0x1.71547652b82fep+0), vec_all(0x1.8p52));
    const vec k = shifted - vec_all(0x1.8p52);
    vec r = vec_fma(-k, vec_all(0x1.62e42fefa38p-1), x);
    r = vec_fma(-k, vec_all(0x1.ef35793c7673p-45), r);
    vec sum = vec_all(terms[0]);
    UNROLLED_4
    for (size_t i = 1; i < sizeof terms / sizeof *terms; i++)
        sum = vec_fma(sum, r, vec_all(terms[i]));
    sum = vec_fma(sum, r, vec_all(0.5));
    const vec value = vec_fma(r * r, sum, r) + vec_all(1);
    return (vec)((vec_mask)value + ((vec_mask)shifted << 52));
}

/* Phi(-|x|) e^(x^2/2): the polynomial of shoal_normcdf() without its low parts. */
ALWAYS_INLINE vec vec_tail(vec x) {
    static const double terms[] = {
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
    const vec t = vec_fma(vec_all(-8), v, vec_all(0.875));
    vec sum = vec_all(terms[0]);
    UNROLLED_4
    for (size_t i = 1; i < sizeof terms / sizeof *terms; i++)
        sum = vec_fma(sum, t, vec_all(terms[i]));
    return sum * v;
}

/* level Phi(x) from e = level e^(-x^2/2). */
ALWAYS_INLINE vec vec_phi(vec x, vec e, vec level) {
    const vec tail = e * vec_tail(x);
    return vec_select(x > vec_all(0), level - tail, tail);
}

/* ---- the boundary ------------------------------------------------------------------------------- */

/* Row i of the equation: its residual, its derivatives by h, and with greeks those by sigma and along rho. */
ALWAYS_INLINE void make_row(const exact_rule *rule, const chunk *c, int i, const int greeks) {
    const int n = rule->n, l = rule->l;
    const vec half = vec_all(0.5), at = c->h[i], root = vec_all(rule->x[i]) * c->root_t;
    const vec tau = root * root, sd = c->v * root, own_over = c->one_over / vec_all(rule->x[i]);
    vec *row = c->jacobian + (ptrdiff_t)i * n;
    for (int j = 0; j < n; j++) row[j] = vec_all(0);
    const vec d = (vec_fma(c->b, tau, -at) + c->log_start) * own_over + half * sd;
    const vec level = vec_exp(-c->q * tau), e = vec_exp(-vec_fma(c->q, tau, half * d * d));
    const vec ratio = vec_exp(at - c->log_start); /* K/B */
    const vec first = vec_phi(d, e, level), bell = e * vec_all(DENSITY);
    vec sum = first, diagonal = -(bell * own_over), by_v = -(bell * (d - sd) / c->v);
    vec by_r = bell * own_over * vec_fma(c->dr - c->dq, tau, c->start) - c->dq * tau * first;
    for (int k = 0; k < l; k++) {
        const double *m = rule->matrix + ((ptrdiff_t)i * l + k) * n;
        vec inside = vec_all(0);
        for (int j = 0; j < n; j++) inside = vec_fma(vec_all(m[j]), c->square[j], inside);
        const vec_mask good = inside > vec_all(FLOOR);
        const vec h = vec_root(vec_select(good, inside, vec_all(FLOOR)));
        const vec z = vec_all(rule->z[k]), w = vec_all(rule->w[k]),
                  over = own_over * vec_all(rule->one_over_z[k]);
        const vec rt = root * z, t = rt * rt, vs = c->v * rt;
        const vec down = vec_fma(c->b, t, h - at) * over - half * vs, up = down + vs;
        const vec up_e = vec_exp(-vec_fma(c->q, t, half * up * up));
        const vec down_e = vec_exp(-vec_fma(c->r, t, half * down * down));
        const vec up_part = vec_phi(up, up_e, c->fall[i * l + k]); /* e^(-qt) Phi(d+) */
        const vec up_bell = up_e * vec_all(DENSITY), owed = ratio * down_e * vec_all(DENSITY);
        const vec time = vec_all(2) * root * rt * w,
                  each = time * over; /* dt, dt / (sigma sqrt t) */
        const vec gain = vec_fma(c->q, up_bell, -(c->r * owed));
        sum += vec_fma(c->q * up_part, time, gain * each);
        const vec move = c->q * up_bell * time + each * (c->r * owed * down - c->q * up_bell * up);
        const vec slope = move * over, share = vec_select(good, slope / h, vec_all(0));
        diagonal -= slope + c->r * owed * each;
        for (int j = 0; j < n; j++) row[j] = vec_fma(share, vec_all(m[j]), row[j]);
        if (!greeks) continue;
        /* d(d+)/dsigma = -d-/sigma, d(d-)/dsigma = -d+/sigma */
        by_v += (-(c->q * up_bell * time * down) - gain * each +
                 each * (c->q * up_bell - c->r * owed) * up * down) /
                c->v;
        by_r += move * over * t * (c->dr - c->dq) +
                time * c->dq * up_part * (vec_all(1) - c->q * t) +
                each * (c->dq * up_bell * (vec_all(1) - c->q * t) -
                        owed * (c->dr * (vec_all(1) - c->r * t) - c->r * c->start));
    }
    for (int j = 0; j < n; j++) row[j] *= c->h[j];
    row[i] += diagonal;
    c->residual[i] = sum;
    if (greeks) c->by_v[i] = by_v, c->by_r[i] = by_r;
}

static void eliminate(vec *a, int n) {
    for (int k = 0; k < n; k++) {
        const vec one_over = vec_all(1) / a[k * n + k];
        for (int i = k + 1; i < n; i++) {
            const vec f = a[i * n + k] *= one_over;
            for (int j = k + 1; j < n; j++) a[i * n + j] = vec_fma(-f, a[k * n + j], a[i * n + j]);
        }
    }
}

static void substitute(const vec *a, int n, vec *x) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) x[i] = vec_fma(-a[i * n + j], x[j], x[i]);
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] = vec_fma(-a[i * n + j], x[j], x[i]);
        x[i] /= a[i * n + i];
    }
}

/* A guess: log(B/X) goes down by about 2 sigma sqrt(tau) at first, and ends at that of an option without maturity. */
static void guess(const exact_rule *rule, const chunk *c, vec down) {
    for (int i = 0; i < rule->n; i++) {
        const vec fall = vec_all(2 * rule->x[i]) * c->v * c->root_t;
        c->h[i] = down * (vec_all(1) - vec_exp(-fall / down));
        c->h[i] = vec_max(c->h[i], vec_all(1e-3) * fall);
        for (int k = 0; k < rule->l; k++) {
            const vec rt = vec_all(rule->x[i] * rule->z[k]) * c->root_t;
            c->fall[i * rule->l + k] = vec_exp(-c->q * rt * rt);
        }
    }
}

/* Takes this part of the step; 1 in lanes that are settled. */
static vec_mask improve(const exact_rule *rule, const chunk *c, double part) {
    const int n = rule->n;
    vec_mask settled = vec_all(0) == vec_all(0);
    for (int i = 0; i < n; i++) c->square[i] = c->h[i] * c->h[i];
    for (int i = 0; i < n; i++) make_row(rule, c, i, 0);
    eliminate(c->jacobian, n);
    substitute(c->jacobian, n, c->residual);
    for (int i = 0; i < n; i++) {
        const vec h = c->h[i], next = h - vec_all(part) * c->residual[i];
        settled &= vec_abs(c->residual[i]) <= vec_all(SETTLED) * h;
        c->h[i] = vec_min(vec_max(next, vec_all(0.3) * h), vec_all(3) * h);
    }
    return settled;
}

static int any_lane(vec_mask mask) {
    int64_t any = 0;
    for (int i = 0; i < VEC; i++) any |= mask[i];
    return any != 0;
}

/* ---- the price ---------------------------------------------------------------------------------- */

ALWAYS_INLINE void integrate(const exact_rule *rule, const chunk *c, vec s, vec k, vec away,
                             const int greeks, exact_pack *pack, int from) {
    const int n = rule->n;
    const vec half = vec_all(0.5), one = vec_all(1), root = c->root_t, tau = root * root;
    const vec d_up = (vec_fma(c->b, tau, away) + c->log_start) * c->one_over + half * c->v * root;
    const vec d_down = d_up - c->v * root;
    vec fall = vec_exp(-c->q * tau), discount = vec_exp(-c->r * tau);
    vec up_e = vec_exp(-vec_fma(c->q, tau, half * d_up * d_up));
    vec down_e = vec_exp(-vec_fma(c->r, tau, half * d_down * d_down));
    const vec held = vec_phi(-d_up, up_e, fall), paid = vec_phi(-d_down, down_e, discount);
    vec price = k * paid - s * held, delta = -held;
    const vec bell = s * up_e * vec_all(DENSITY);
    vec gamma = bell * c->one_over / (s * s), vega = bell * root;
    vec rho = tau * (c->dq * s * held - c->dr * k * paid);
    for (int g = 0; g < rule->p; g++) {
        const double *m = rule->price_matrix + (ptrdiff_t)g * n;
        vec inside = vec_all(0);
        for (int j = 0; j < n; j++) inside = vec_fma(vec_all(m[j]), c->square[j], inside);
        const vec_mask good = inside > vec_all(FLOOR);
        const vec h = vec_root(vec_select(good, inside, vec_all(FLOOR)));
        const vec z = vec_all(rule->price_z[g]), over = c->one_over / z, rt = root * z, t = rt * rt;
        const vec vs = c->v * rt, time = vec_all(2 * rule->price_w[g]) * root * rt;
        const vec up = vec_fma(c->b, t, away + h) * over + half * vs, down = up - vs;
        fall = vec_exp(-c->q * t), discount = vec_exp(-c->r * t);
        up_e = vec_exp(-vec_fma(c->q, t, half * up * up));
        down_e = vec_exp(-vec_fma(c->r, t, half * down * down));
        const vec asset = s * vec_phi(-up, up_e, fall), cash = k * vec_phi(-down, down_e, discount);
        price = vec_fma(time, c->r * cash - c->q * asset, price);
        if (!greeks) continue;
        const vec in_asset = s * up_e * vec_all(DENSITY), in_cash = k * down_e * vec_all(DENSITY);
        /* by d+ and d-, both moved by 1 */
        const vec move = c->q * in_asset - c->r * in_cash, by_log = time * over * move;
        delta += (by_log - time * c->q * asset) / s;
        gamma += time * over *
                 (c->r * in_cash * (down * over + one) + c->q * in_asset * (one - up * over)) /
                 (s * s);
        vec by_v = vec_all(0), by_r = vec_all(0); /* of H */
        for (int j = 0; j < n; j++) {
            by_v = vec_fma(vec_all(m[j]), c->by_v[j], by_v);
            by_r = vec_fma(vec_all(m[j]), c->by_r[j], by_r);
        }
        by_v = vec_select(good, by_v * half / h, vec_all(0));
        by_r = vec_select(good, by_r * half / h, vec_all(0));
        vega += by_log * by_v + time * (c->r * in_cash * up - c->q * in_asset * down) / c->v;
        rho += by_log * (by_r - c->start + t * (c->dr - c->dq)) +
               time * (c->dr * cash * (one - c->r * t) - c->dq * asset * (one - c->q * t));
    }
    const vec stop = vec_exp(c->log_start - c->h[n - 1]) * k;
    const vec_mask now = s <= stop;
    price = vec_max(price, k - s); /* next to the boundary the difference may round below */
    vec_store(&pack->price[from], vec_select(now, k - s, price));
    vec_store(&pack->boundary[from], stop);
    if (!greeks) return;
    vec_store(&pack->delta[from], vec_select(now, vec_all(-1), delta));
    vec_store(&pack->gamma[from], vec_select(now, vec_all(0), gamma));
    vec_store(&pack->vega[from], vec_select(now, vec_all(0), vega));
    vec_store(&pack->rho[from], vec_select(now, vec_all(0), rho));
}

static void run_chunk(const exact_rule *rule, exact_pack *pack, int from, int greeks, vec *work) {
    const int n = rule->n;
    const vec s = vec_load(&pack->s[from]), k = vec_load(&pack->k[from]);
    chunk c = { .r = vec_load(&pack->r[from]),
                .q = vec_load(&pack->q[from]),
                .v = vec_load(&pack->v[from]),
                .dq = vec_load(&pack->of_q[from]) };
    vec away, down;
    for (int i = 0; i < VEC; i++) {
        const double r = c.r[i], q = c.q[i], vv = c.v[i] * c.v[i], b = r - q;
        const double start = q > r ? r / q : 1, a = b / vv - 0.5;
        const double edge = sqrt(a * a + 2 * r / vv);
        const double beta = a < 0 ? 2 * r / vv / (a - edge) : -(a + edge);
        const double below = shoal_log(start * (beta - 1) / beta);
        c.log_start[i] = shoal_log(start);
        c.start[i] = q > r ? (1 - c.dq[i]) / r - c.dq[i] / q : 0;
        c.root_t[i] = sqrt(pack->maturity[from + i]);
        away[i] = shoal_log(s[i] / (k[i] * start)); /* log(S/X) */
        down[i] = below < 50 ? below > 1e-12 ? below : 1e-12 : 50;
    }
    c.b = c.r - c.q, c.dr = vec_all(1) - c.dq, c.one_over = vec_all(1) / (c.v * c.root_t);
    c.h = work, c.square = c.h + n, c.residual = c.square + n, c.by_v = c.residual + n;
    c.by_r = c.by_v + n, c.jacobian = c.by_r + n, c.fall = c.jacobian + (ptrdiff_t)n * n;
    guess(rule, &c, down);
    vec_mask settled;
    int pass = 0;
    do settled = improve(rule, &c, pass < WHOLE ? 1 : 0.5);
    while (any_lane(~settled) && ++pass < PASSES);
    for (int i = 0; i < VEC; i++) pack->failed[from + i] = !settled[i];
    for (int i = 0; i < n; i++) c.square[i] = c.h[i] * c.h[i];
    if (greeks) {
        for (int i = 0; i < n; i++) make_row(rule, &c, i, 1);
        eliminate(c.jacobian, n);
        substitute(c.jacobian, n, c.by_v);
        substitute(c.jacobian, n, c.by_r);
        for (int i = 0; i < n; i++) { /* of h to of H */
            c.by_v[i] *= vec_all(-2) * c.h[i];
            c.by_r[i] *= vec_all(-2) * c.h[i];
        }
        integrate(rule, &c, s, k, away, 1, pack, from);
    } else
        integrate(rule, &c, s, k, away, 0, pack, from);
}

static void run(const exact_rule *rule, exact_pack *pack, int greeks, double *work) {
    for (int from = 0; from < EXACT_LANES; from += VEC)
        run_chunk(rule, pack, from, greeks, (vec *)(void *)work);
}

const exact_method R(american_exact) = { run };
