/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.cuh - cva_follow_many() of walk.h for a warp, whose lanes stay together: the same
 * numbers with less work. Rules of the form CVA_ANY take the code of walk.h.
 */
#ifndef SHOAL_CVA_FOLLOW_CUH
#define SHOAL_CVA_FOLLOW_CUH

#include "cva/paths.cuh"

namespace {

/* Whether some lane of the warp still has a path. */
__device__ static inline bool any_lane(real alive) { return __any_sync(ALL_LANES, alive > 0); }

/* A rule on few assets, whose basis is known here. */
template <int KIND, int ASSETS> struct shape {
    static constexpr int VARIABLES = cva_basis_of(KIND, ASSETS, 0, CVA_FUNCTIONS).variables;
    static constexpr int FUNCTIONS = cva_basis_of(KIND, ASSETS, 0, CVA_FUNCTIONS).functions;
    static constexpr int HEDGES = cva_basis_of(KIND, ASSETS, 0, CVA_FUNCTIONS).hedges;
    static constexpr int DIRECTIONS = cva_basis_of(KIND, ASSETS, 0, CVA_FUNCTIONS).directions;

    int asset[ASSETS];
    real weight[ASSETS]; /* of a basket */
    real s[ASSETS], u[VARIABLES], gain;
    int rank[DIRECTIONS];
    real hold, h[ASSETS], base; /* the hedge over the next step, and what it costs */

    __device__ void begin(const cva_contract *c) {
        base = 0, hold = 0;
#pragma unroll
        for (int n = 0; n < ASSETS; n++) {
            asset[n] = (int)c->asset[n], h[n] = 0;
            weight[n] = KIND == CVA_BASKET ? cva_weight(c, n) : 1;
        }
    }

    __device__ void take_prices(const cva_contract *c, int64_t k, const real *from) {
#pragma unroll
        for (int n = 0; n < ASSETS; n++) s[n] = from[asset[n]];
        if (KIND == CVA_RANKS) {
#pragma unroll
            for (int j = 0; j < VARIABLES; j++) u[j] = -1, rank[j] = -1;
#pragma unroll
            for (int n = 0; n < ASSETS; n++) {
                real x = s[n] + (real)cva_cash_in(c, k, n);
                int who = n;
#pragma unroll
                for (int j = 0; j < VARIABLES; j++) {
                    const bool above = x > u[j];
                    const real rest = above ? u[j] : x;
                    const int other = above ? rank[j] : who;
                    u[j] = above ? x : u[j], rank[j] = above ? who : rank[j];
                    x = rest, who = other;
                }
            }
        } else if (KIND == CVA_LARGEST) {
            u[0] = -1;
#pragma unroll
            for (int n = 0; n < ASSETS; n++) {
                const real x = s[n] + (real)cva_cash_in(c, k, n);
                u[0] = x > u[0] ? x : u[0];
                u[1 + n] = x, rank[n] = n;
            }
        } else {
            u[0] = 0;
#pragma unroll
            for (int n = 0; n < ASSETS; n++) {
                u[0] = real_fma(weight[n], s[n], u[0]);
                if (n > 0) u[n] = s[n];
            }
        }
        const real strike = (real)cva_strike_at(c, k);
        gain = c->form & CVA_DOWN ? strike - u[0] : u[0] - strike;
    }

    /* At date k: what going on is worth if some lane `decides`, and the hedge. */
    __device__ void use_rule(const cva_job *job, const cva_rule *r, int64_t k, bool decides) {
        constexpr cva_basis b = cva_basis_of(KIND, ASSETS, 0, CVA_FUNCTIONS);
        const cva_number *x =
            cva_numbers_at(r, k) + (gain > 0 ? 2 * VARIABLES + FUNCTIONS + DIRECTIONS * HEDGES : 0);
        real psi[FUNCTIONS];
        psi[0] = 1;
#pragma unroll
        for (int j = 0; j < VARIABLES; j++)
            psi[1 + j] = (u[j] - (real)x[j]) * (real)x[VARIABLES + j];
#pragma unroll
        for (int n = 1 + VARIABLES; n < FUNCTIONS; n++) psi[n] = psi[b.from[n]] * psi[1 + b.by[n]];
        x += 2 * VARIABLES;
        if (__any_sync(ALL_LANES, decides)) {
            hold = (real)x[0];
#pragma unroll
            for (int n = 1; n < FUNCTIONS; n++) hold = real_fma((real)x[n], psi[n], hold);
        }
        x += FUNCTIONS;
        if (!job->control) return;
#pragma unroll
        for (int n = 0; n < ASSETS; n++) h[n] = 0;
#pragma unroll
        for (int j = 0; j < DIRECTIONS; j++) {
            real held = 0;
#pragma unroll
            for (int m = 0; m < HEDGES; m++)
                held = real_fma((real)x[j * HEDGES + m], psi[b.hedge[m]], held);
#pragma unroll
            for (int n = 0; n < ASSETS; n++)
                h[n] = KIND == CVA_BASKET                       ? weight[n] * held
                       : (KIND == CVA_RANKS ? rank[j] : j) == n ? held
                                                                : h[n];
        }
        base = 0;
#pragma unroll
        for (int n = 0; n < ASSETS; n++) base = real_fma(h[n], s[n], base);
    }

    /* The gain of the hedge to a stop at date i, whose prices are `now`; takes these. */
    __device__ real move(const cva_job *job, const cva_contract *c, int64_t i, int64_t stop,
                         const real *now) {
        const real *back = cva_shifts(job, stop) + job->assets;
        real sum = -base;
#pragma unroll
        for (int n = 0; n < ASSETS; n++) sum = real_fma(h[n], back[asset[n]] * now[asset[n]], sum);
        take_prices(c, i, now);
        return sum;
    }
};

/* A basket of many assets, or of the basket alone: functions are linear in the prices, with powers of the basket. IN_ORDER:
 * its asset n is the market's. */
template <bool IN_ORDER> struct linear_basket {
    const cva_contract *c;
    const real *s;
    real basket, gain, hold, held, base;

    __device__ void begin(const cva_contract *of) { c = of, base = 0, held = 0, hold = 0; }

    __device__ int64_t asset(int n) const { return IN_ORDER ? n : c->asset[n]; }

    __device__ void take_basket(int64_t k) {
        const real strike = (real)cva_strike_at(c, k);
        gain = c->form & CVA_DOWN ? strike - basket : basket - strike;
    }

    __device__ void take_prices(const cva_contract *, int64_t k, const real *from) {
        s = from, basket = 0;
        for (int n = 0; n < c->assets; n++)
            basket = real_fma(cva_weight(c, n), s[asset(n)], basket);
        take_basket(k);
    }

    __device__ void use_rule(const cva_job *job, const cva_rule *r, int64_t k, bool decides) {
        const cva_basis *b = &r->basis;
        const int v = b->variables, assets = c->assets;
        const cva_number *x = cva_numbers_at(r, k) + (gain > 0 ? cva_region_numbers(b) : 0);
        const cva_number *factor = x + 2 * v, *hedge = factor + b->functions;
        const real first = (basket - (real)x[0]) * (real)x[v];
        if (__any_sync(ALL_LANES, decides)) {
            hold = real_fma((real)factor[1], first, (real)factor[0]);
#pragma unroll 4
            for (int j = 1; j < v; j++)
                hold = real_fma((real)factor[1 + j], (s[asset(j)] - (real)x[j]) * (real)x[v + j],
                                hold);
            real power = first;
            for (int n = 1 + v; n < b->functions; n++) {
                power *= first;
                hold = real_fma((real)factor[n], power, hold);
            }
        }
        if (!job->control) return;
        real power = 1, sum = 0;
        held = 0;
        for (int m = 0; m < b->hedges; m++) {
            held = real_fma((real)hedge[m], power, held);
            power *= first;
        }
#pragma unroll 4
        for (int n = 0; n < assets; n++) sum = real_fma(cva_weight(c, n) * held, s[asset(n)], sum);
        base = sum;
    }

    __device__ real move(const cva_job *job, const cva_contract *, int64_t i, int64_t stop,
                         const real *now) {
        const real *back = cva_shifts(job, stop) + job->assets;
        const int assets = c->assets;
        real gained = -base, sum = 0;
        s = now;
#pragma unroll 4
        for (int n = 0; n < assets; n++) {
            const int64_t a = asset(n);
            const real weight = cva_weight(c, n), price = now[a];
            gained = real_fma(weight * held, back[a] * price, gained);
            sum = real_fma(weight, price, sum);
        }
        basket = sum;
        take_basket(i);
        return gained;
    }
};

/* cva_follow_many(). */
template <class RULE>
__device__ static double follow_rule(const cva_job *job, const cva_contract *c, int64_t k,
                                     cva_paths *paths, int counts, const real *start) {
    const cva_rule *r = &c->rule[0];
    RULE w;
    real scale = 1, alive = counts ? 1 : 0, value = 0;
    w.begin(c);
    if (job->control && k > 0) { /* today has no rule */
        w.take_prices(c, k, start);
        w.use_rule(job, r, k, false);
    }
    for (int64_t at = job->ahead; at < job->stops && any_lane(alive); at++) {
        const int64_t i = job->stop[at];
        if (i > c->last) break;
        const real *s = cva_prices_at(paths, at), paid = cva_discount(job, k, at);
        const real gained = w.move(job, c, i, at, s);
        if (job->control) value = real_fma(-(scale * alive), gained, value);
        const bool last = i == c->last, may = last || c->may[i - 1], inside = w.gain > 0;
        if (!last) w.use_rule(job, r, i, may & inside & (alive > 0));
        const bool pays = may & inside & (w.gain >= w.hold), ends = (alive > 0) & (last | pays);
        if (ends & inside) value = real_fma(paid, w.gain, value);
        if (ends) alive = 0;
        scale = paid;
    }
    return (double)value;
}

__device__ static bool is_in_order(const cva_contract *c) {
    bool yes = true;
    for (int n = 0; n < c->assets; n++) yes &= c->asset[n] == n;
    return yes;
}

#define CVA_SHAPE(KIND, ASSETS)                                                                    \
    if (c->rule[0].basis.kind == KIND && c->assets == ASSETS)                                      \
        return follow_rule<shape<KIND, ASSETS>>(job, c, k, paths, counts, start);
#define CVA_SHAPES(KIND) CVA_SHAPE(KIND, 2) CVA_SHAPE(KIND, 3) CVA_SHAPE(KIND, 4) CVA_SHAPE(KIND, 5)

/* start: prices of the outer path. */
__device__ static double follow_many(const cva_job *job, const cva_contract *c, int64_t k,
                                     cva_paths *paths, int counts, const real *start) {
    if (c->rule_form == CVA_LINEAR)
        return is_in_order(c) ? follow_rule<linear_basket<true>>(job, c, k, paths, counts, start)
                              : follow_rule<linear_basket<false>>(job, c, k, paths, counts, start);
    CVA_SHAPES(CVA_BASKET)
    CVA_SHAPES(CVA_LARGEST)
    CVA_SHAPES(CVA_RANKS)
    return 0;
}

} /* namespace */

#endif
