/* SPDX-License-Identifier: Apache-2.0
 *
 * follow.cuh - follow_line() of cva.c and cva_follow_many() of walk.h for a warp, whose lanes stay together: the same
 * numbers with less work. Rules of the form CVA_ANY take the code of walk.h.
 */
#ifndef SHOAL_CVA_FOLLOW_CUH
#define SHOAL_CVA_FOLLOW_CUH

#include "cva/paths.cuh"

/* Contracts on one asset alone: items of a warp; numbers of a stop besides those of normals; stops in a row of them. */
enum { LINE_BLOCK = 128, LINE_WARPS = LINE_BLOCK / CVA_LANES, LINE_ITEMS = 8, LINE_NUMBERS = 6 };
enum { LINE_PATHS = LINE_ITEMS * CVA_LANES };

namespace {

/* Whether some lane of the warp still has a path. */
__device__ static inline bool any_lane(real alive) { return __any_sync(ALL_LANES, alive > 0); }

/* ---- one asset ---------------------------------------------------------------------------------- */

/* cva_line_terms in the type of the paths. */
struct line_terms {
    real strike, back, discount, growth, deviation;
};

/* Those of the american contract n, by stop from job.ahead on. */
__device__ static inline line_terms *line_terms_at(const cva_job *job, int64_t n) {
    return (line_terms *)job->terms + n * (job->stops - job->ahead);
}

__device__ static inline void line_fill_terms(const cva_job *job, int64_t n, int64_t k,
                                              int64_t stop) {
    const cva_contract *c = &job->contract[job->american[n]];
    if (c->rule_form != CVA_ON_LINE || job->stop[stop] > c->last) return;
    const cva_line_terms t = cva_line_terms_of(job, c, k, job->stop[stop]);
    line_terms_at(job, n)[stop - job->ahead] = { (real)t.strike, (real)t.back, (real)t.discount,
                                                 (real)t.growth, (real)t.deviation };
}

/* What a path is worth that is exercised at price s of a stop. start: line_start(). */
__device__ static inline double line_outcome(const cva_job *job, const cva_contract *c,
                                             const line_terms *t, double start, real s) {
    const bool down = c->form & CVA_DOWN;
    const real sum = (real)cva_weight_in(c, 0) * s, gain = down ? t->strike - sum : sum - t->strike;
    const real over = job->control ? t->discount * real_black(sum * t->growth, (real)c->strike,
                                                              t->deviation, down)
                                   : 0;
    return start + (double)(t->back * ((gain > 0 ? gain : 0) - over));
}

__device__ static inline double line_start(const cva_job *job, const cva_contract *c, int64_t k,
                                           const double *spot) {
    return job->control ? cva_line_value(job, c, spot[c->asset[0]], k) : 0;
}

/* The last date at which a path may be exercised before it is worth the European value. */
__device__ static inline int64_t line_end(const cva_job *job, const cva_contract *c) {
    return job->control ? c->last - 1 : c->last;
}

/* n: the number of the contract among those with early exercise. */
__device__ static double follow_line(const cva_job *job, const cva_contract *c, int64_t n,
                                     cva_paths *paths, int counts, double start) {
    const int64_t end = line_end(job, c), a = c->asset[0];
    real alive = counts ? 1 : 0, price = 0;
    int64_t ended = -1;
    for (int64_t at = job->ahead; at < job->stops && any_lane(alive); at++) {
        const int64_t i = job->stop[at];
        if (i > end) break;
        if (i < c->last && !c->may[i - 1]) continue;
        const cva_number *numbers = i < c->last ? cva_numbers_at(&c->rule[0], i) : NULL;
        const real low = numbers ? (real)numbers[0] : 0;
        const real high = numbers ? (real)numbers[1] : REAL_MAX;
        const real s = cva_prices_at(paths, at)[a];
        if ((alive > 0) & (s >= low) & (s <= high)) price = s, ended = at - job->ahead, alive = 0;
    }
    if (ended < 0) return start;
    return line_outcome(job, c, line_terms_at(job, n) + ended, start, price);
}

/* ---- one asset alone ---------------------------------------------------------------------------- */

/* What the paths of an item begin with: the first one's number, the price, its logarithm with the error above and below,
 * and how many there are (0: the contract is not held); line_start(). */
struct line_item {
    uint64_t first;
    double start;
    real spot, above, below;
    int lanes;
};

/* Of a warp: items; by path exponents e of the prices spot exp(e), and 1 + the stop of exercise, 0: there is none. Of the
 * block: numbers by stop, those of one kind in a row. */
struct line_room {
    line_item *item;
    real *exponent, *numbers;
    int *ended, row;
};

/* Numbers of a stop, before a factor per normal. A path that is at u = log spot + sigma B is exercised between LOWEST and
 * HIGHEST only, and certainly if it is more than UNSURE inside; else it is the price that decides, between LOW and HIGH. */
enum { LINE_DRIFT, LINE_LOW, LINE_HIGH, LINE_LOWEST, LINE_HIGHEST, LINE_UNSURE, LINE_LOADS };
static_assert((int)LINE_LOADS == (int)LINE_NUMBERS, "numbers of a stop");

/* The errors of u and of the logarithm of the price are a few epsilon of the numbers that they are made of. */
enum { LINE_EPSILONS = 16 };
/* Prices and exponents that are kept away from overflow and underflow. */
constexpr double LINE_TINY = 1e8 * REAL_MIN, LINE_FAR = sizeof(real) == 4 ? 40 : 300;

SHOAL_HD static inline int line_row(int64_t stops) {
    return (int)(stops + CVA_NORMALS - 1) / CVA_NORMALS * CVA_NORMALS;
}

__device__ static inline real *line_numbers(const line_room *room, int what) {
    return room->numbers + what * room->row;
}

/* The numbers of a stop at which a path is exercised between two prices, if low <= high. */
__device__ static inline void line_stop(const line_room *room, int stop, real low, real high,
                                        real drift) {
    const double from = log((double)low) - drift, to = log((double)high) - drift;
    double size = 4 + fabs((double)drift);
    if (isfinite(from)) size += fabs(from);
    if (isfinite(to)) size += fabs(to);
    const double unsure = LINE_EPSILONS * REAL_EPSILON * size;
    const bool is_usual = (low == 0 || low > LINE_TINY) && (high == 0 || high > LINE_TINY);
    line_numbers(room, LINE_DRIFT)[stop] = drift;
    line_numbers(room, LINE_LOW)[stop] = low, line_numbers(room, LINE_HIGH)[stop] = high;
    line_numbers(room, LINE_LOWEST)[stop] = is_usual ? (real)(from - unsure) : -(real)INFINITY;
    line_numbers(room, LINE_HIGHEST)[stop] = is_usual ? (real)(to + unsure) : (real)INFINITY;
    line_numbers(room, LINE_UNSURE)[stop] = is_usual ? 2 * (real)unsure : (real)INFINITY;
}

/* Fills the table; returns its stops. By all threads of the block. */
__device__ static inline int line_table(const cva_job *job, const cva_contract *c,
                                        const line_room *room) {
    const int a = (int)c->asset[0];
    const int64_t end = line_end(job, c);
    int stops = 0;
    while (job->ahead + stops < job->stops && job->stop[job->ahead + stops] <= end) stops++;
    for (int e = (int)threadIdx.x; e < room->row; e += (int)blockDim.x) {
        const int64_t at = job->ahead + e;
        for (int b = 0; b <= a; b++) line_numbers(room, LINE_LOADS + b)[e] = 0;
        line_stop(room, e, REAL_MAX, 0, 0); /* there is no such stop: no exercise */
        if (e >= stops) continue;
        const int64_t i = job->stop[at];
        const real *tile = cva_table(job, at) + cva_tile_at(a / CVA_TILE);
        for (int b = 0; b <= a; b++)
            line_numbers(room, LINE_LOADS + b)[e] = tile[b * CVA_TILE + a % CVA_TILE];
        const real drift = cva_shifts(job, at)[a];
        if (i == c->last)
            line_stop(room, e, 0, REAL_MAX, drift);
        else if (c->may[i - 1]) {
            const cva_number *between = cva_numbers_at(&c->rule[0], i);
            line_stop(room, e, (real)between[0], (real)between[1], drift);
        } else
            line_stop(room, e, REAL_MAX, 0, drift);
    }
    return stops;
}

__device__ static inline void line_begin_item(const cva_job *job, const cva_contract *c, int64_t k,
                                              int64_t at, line_item *to) {
    const cva_item *item = &job->item[at];
    const double *spots = job->spot + item->path * job->assets;
    const double spot = spots[c->asset[0]], here = log(spot);
    const double error = LINE_EPSILONS * REAL_EPSILON * fabs(here);
    const bool is_usual = fabs(here) < LINE_FAR;
    const bool is_held = job->holds[c->place * job->paths + item->path] != 0;
    to->first = cva_first(job, item), to->start = is_held ? line_start(job, c, k, spots) : 0;
    to->spot = (real)spot, to->lanes = is_held ? item->lanes : 0;
    to->above = is_usual ? (real)(here + error) : (real)INFINITY;
    to->below = is_usual ? (real)(here - error) : -(real)INFINITY;
}

/* A path of a lane: its number among those of the warp's items, or -1; the stop that comes next. */
struct line_path {
    int number, stop;
    uint64_t first;
    real spot, brownian, above, below;
};

__device__ static inline void begin_line(const line_room *room, int stops, int number,
                                         line_path *p) {
    const line_item *item = &room->item[number / CVA_LANES];
    const int lane = number % CVA_LANES;
    room->ended[number] = 0;
    if (lane >= item->lanes || stops == 0) return;
    p->number = number, p->stop = 0, p->brownian = 0, p->spot = item->spot;
    p->first = item->first + (uint64_t)lane;
    p->above = item->above, p->below = item->below;
}

/* A path at a stop, which may end there: its exponent and the stop are kept. */
__device__ static inline void line_visit(const line_room *room, line_path *p, int stop,
                                         real sigma) {
    const real above = real_fma(sigma, p->brownian, p->above);
    const real below = real_fma(sigma, p->brownian, p->below);
    const real lowest = line_numbers(room, LINE_LOWEST)[stop];
    const real highest = line_numbers(room, LINE_HIGHEST)[stop];
    if (!((above >= lowest) & (below <= highest) & (p->number >= 0))) return;
    const real unsure = line_numbers(room, LINE_UNSURE)[stop];
    const real e = real_fma(sigma, p->brownian, line_numbers(room, LINE_DRIFT)[stop]);
    if (!((below >= lowest + unsure) & (above <= highest - unsure) &
          (real_abs(e) < (real)LINE_FAR))) {
        const real s = p->spot * real_exp(e);
        if (!(s >= line_numbers(room, LINE_LOW)[stop] && s <= line_numbers(room, LINE_HIGH)[stop]))
            return;
    }
    room->exponent[p->number] = e, room->ended[p->number] = 1 + stop;
    p->number = -1;
}

/* Walks the paths of the items, STEPS stops at a time, which share a Philox block: a lane that is done
 * takes the next one. */
template <int STEPS>
__device__ static inline void line_walk(const cva_job *job, const cva_contract *c,
                                        const line_room *room, int stops, int items, int lane) {
    const int a = (int)c->asset[0], blocks = (int)cva_blocks(job), steps = (int)cva_steps(job);
    const int all = items * CVA_LANES;
    const real sigma = (real)job->sigma[a];
    int next = 0;
    line_path p;
    p.number = -1;
    for (;;) {
        const unsigned idle = __ballot_sync(ALL_LANES, p.number < 0);
        if (idle == ALL_LANES && next >= all) return;
        if (p.number < 0) {
            const int number = next + __popc(idle & ((1u << lane) - 1));
            if (number < all) begin_line(room, stops, number, &p);
        }
        next += __popc(idle);
        if (p.number < 0) continue;
        if (STEPS > 1) {
            shoal_words w = cva_words(&job->walk_normals, (uint32_t)(p.stop / STEPS), p.first);
            /* short code, which stays in the instruction caches: warps are apart in it */
#pragma unroll 1
            for (int stop = p.stop; stop < p.stop + STEPS;) {
                real z, other;
                cva_pair(&w, 0, &z, &other);
                w.word[0] = w.word[2], w.word[1] = w.word[3];
#pragma unroll 1
                for (int e = 0; e < 2; e++, stop++, z = other) {
                    p.brownian = real_fma(line_numbers(room, LINE_LOADS)[stop], z, p.brownian);
                    line_visit(room, &p, stop, sigma);
                }
            }
        } else {
            for (int b = 0; b <= a; b += CVA_NORMALS) {
                const uint32_t block = (uint32_t)(p.stop / steps * blocks + b / CVA_NORMALS);
                const shoal_words w = cva_words(&job->walk_normals, block, p.first);
                real z[CVA_NORMALS];
#pragma unroll
                for (int e = 0; e < CVA_NORMALS; e += 2)
                    if (b + e <= a) cva_pair(&w, e / 2 + p.stop % steps, &z[e], &z[e + 1]);
#pragma unroll
                for (int e = 0; e < CVA_NORMALS; e++)
                    if (b + e <= a)
                        p.brownian = real_fma(line_numbers(room, LINE_LOADS + b + e)[p.stop], z[e],
                                              p.brownian);
            }
            line_visit(room, &p, p.stop, sigma);
        }
        p.stop += STEPS;
        if (p.stop >= stops) p.number = -1;
    }
}

/* The sums of the items from `begin` on. */
__device__ static inline void line_sum(const cva_job *job, const cva_contract *c,
                                       const line_terms *terms, const line_room *room,
                                       int64_t begin, int items, int lane) {
    for (int i = 0; i < items; i++) {
        const line_item *item = &room->item[i];
        const int path = i * CVA_LANES + lane, ended = room->ended[path];
        double y = item->start;
        if (ended) {
            const real price = item->spot * real_exp(room->exponent[path]);
            y = line_outcome(job, c, terms + ended - 1, y, price);
        }
        const double sum = fold(item->lanes, lane, y);
        if (lane == 0) job->sums[(begin + i) * job->places + c->place] = sum;
    }
}

/* ---- several ------------------------------------------------------------------------------------ */

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
