/* SPDX-License-Identifier: Apache-2.0
 *
 * early.h - early exercise in the reverse pass (adjoint.c): contracts on one asset, by the rule of line.c.
 *
 * A contract c is worth its payoff p where its rule exercises, later nothing, and else h = euro + P, the premium P by
 * the grid of the rule. Inner paths have the mean h, so that the pass needs none: its derivatives are those of the CVA
 * that infinitely many of them would give. dh has a part by x = log S, which goes on through the steps, and one by the
 * market at a price that stays (tangent.c). The rule is optimal: at its boundary b payoff and h are the same, so that the
 * exposure of that date is continuous, and inner paths add nothing of first order.
 *
 * Later exposures jump where the path at date i passes b: on one side they have c, on the other they do not. With
 *
 *     J = sum_(k > i) w_k (E(V_k with c until its next exercise) - E(V_k without c))
 *
 * the mean has the term E delta(x_i - log b) J (dx_i - d log b), with the other sign where exercise begins above b. It is
 * estimated without smoothing: given the dates before and after, x_i has a normal law, a Brownian bridge, and all later
 * prices stay as they are. So, with n its density at log b,
 *
 *     b(x_i) += n J,   b(log b) -= n J.
 *
 * The move l = log b - x_i at date i takes L z of the step to it along a column of C, by l C_a / s_a, and L z of the next
 * step back by Delta_n = l C_na s_n / (s_a s'_n), s and s' the deviations of both. The normals' density as a function
 * of l gives
 *
 *     n = sqrt(A / 2 pi) e^(-(A l + B)^2 / 2 A),   A = 1 / s_a^2 + D C^-1 D,   B = (L z)_a / s_a - (C^-1 L z')t D
 *
 * with D = Delta / l; in a flat market D C^-1 D = 1 / s'_a^2. Decisions of other contracts at date i are made again at the
 * moved prices. In b(s) and b(C) of this term l / s_a is added to L z, as where payoffs jump.
 */
#ifndef SHOAL_CVA_EARLY_H
#define SHOAL_CVA_EARLY_H

#include "cva/reverse.h"

#define CVA_ALL_LANES 0xffffffffu /* CVA_WIDTH bits */
#define CVA_FAR       36.0        /* exponent of a density that is 0 */

static int is_in(uint32_t set, int l) { return (int)(set >> l & 1); }

static uint32_t *lanes_at(const reverse *r, uint32_t *list, int64_t k, const cva_contract *c) {
    return list + (k - 1) * r->job->places + c->place;
}

/* The lanes whose rule exercises at prices of date k; after the last date all. */
static uint32_t decide(const reverse *r, const cva_contract *c, int64_t k, lanes *price) {
    if (k >= c->last) return CVA_ALL_LANES;
    if (!c->may[k - 1]) return 0;
    const double *numbers = cva_rule_at(&c->rule[0], k), *s = price[r->g->place[c->asset[0]]];
    uint32_t to = 0;
    for (int l = 0; l < CVA_WIDTH; l++)
        to |= (uint32_t)(s[l] >= numbers[0] && s[l] <= numbers[1]) << l;
    return to;
}

/* The place of prices at date k on the grid of a rule. */
static void find_places(const reverse *r, const cva_contract *c, int64_t k, lanes *price,
                        double *place) {
    const cva_job *job = r->job;
    const cva_rule *rule = &c->rule[0];
    const int64_t a = c->asset[0];
    const double drift = cva_drift(job, cva_between(job, 0, k), a), s0 = job->s0[a];
    const double one = 1 / job->sigma[a], spacing = 1 / rule->step, start = rule->start;
    const double *s = price[r->g->place[a]];
    CVA_EACH(l) place[l] = spacing * (one * (shoal_log(s[l] / s0) - drift) - start);
}

/* After value_contract(), which has made the European value: what a contract that is held is worth at date k < last. */
static void value_early(const reverse *r, const cva_contract *c, int64_t k, lanes *price,
                        lanes *keep) {
    const cva_rule *rule = &c->rule[0];
    const double *s = price[r->g->place[c->asset[0]]], *row = cva_rule_at(rule, k) + 2;
    const double spacing = r->job->sigma[c->asset[0]] * rule->step, strike = c->strike;
    const double side = c->form & CVA_DOWN ? -1 : 1, weight = cva_weight_in(c, 0);
    const uint32_t now = decide(r, c, k, price);
    lanes place;
    find_places(r, c, k, price, place);
    for (int l = 0; l < CVA_WIDTH; l++) {
        const cva_cubic cubic = cva_cubic_at(rule, place[l]);
        double premium = 0, slope = 0;
        for (int e = 0; e < 4; e++) {
            premium += cubic.value[e] * row[cubic.at + e];
            slope += cubic.slope[e] * row[cubic.at + e];
        }
        const int grows = premium > 0;
        keep[0][l] += grows ? premium : 0, keep[4][l] = grows ? slope / spacing : 0;
        if (!is_in(now, l)) continue;
        const double gain = side * (weight * s[l] - strike);
        keep[0][l] = gain > 0 ? gain : 0, keep[4][l] = gain > 0 ? side * weight * s[l] : 0;
        keep[1][l] = keep[2][l] = keep[3][l] = 0;
    }
}

/* Back through the premium: by the market at the prices of date k; bar: b of the contract's value. */
static void reverse_premium(const reverse *r, const cva_contract *c, int64_t k, const double *bar) {
    const cva_tangent *t = &r->g->tangent[c->place];
    const cva_rule *rule = &c->rule[0];
    const int64_t n = t->columns;
    const uint32_t now = decide(r, c, k, r->price);
    const double *rows = t->premium + (k - 1) * rule->basis.points * n;
    lanes place;
    if (!r->by || k >= c->last) return;
    find_places(r, c, k, r->price, place);
    for (int l = 0; l < CVA_WIDTH; l++) {
        if (is_in(now, l) || bar[l] == 0) continue;
        const cva_cubic cubic = cva_cubic_at(rule, place[l]);
        const double *row = rows + cubic.at * n;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int e = 0; e < 4; e++) sum += cubic.value[e] * row[e * n + i];
            r->to[t->to[i]][l] += bar[l] * sum;
        }
    }
}

/* ---- forward --------------------------------------------------------------------------------------- */

static void value_at(const reverse *r, const cva_contract *c, int64_t k, lanes *price, lanes *keep);

/* Who holds what on the paths of a block, and what that is worth at the exposures. */
static void forward_early(const reverse *r) {
    const cva_job *job = r->job;
    lanes keep[KEPT];
    if (job->americans == 0) return;
    for (int64_t k = 1; k <= r->end; k++) {
        const int64_t e = job->exposure[k - 1];
        see_prices(r, k);
        for (int64_t i = 0; i < job->americans; i++) {
            const cva_contract *c = &job->contract[job->american[i]];
            const uint32_t now = decide(r, c, k, r->price);
            *lanes_at(r, r->exercised, k, c) = now;
            *lanes_at(r, r->alive, k, c) =
                k == 1 || (job->kept && k <= c->last)
                    ? CVA_ALL_LANES
                    : *lanes_at(r, r->alive, k - 1, c) & ~*lanes_at(r, r->exercised, k - 1, c);
        }
        if (e < 0) continue;
        for (int64_t set = 0; set < job->sets; set++)
            memset(r->known[e * job->sets + set], 0, sizeof *r->known);
        for (int64_t i = 0; i < r->g->contracts; i++) {
            const cva_contract *c = &job->contract[r->g->contract[i]];
            const double quantity = c->quantity;
            double *to = c->kind == CVA_AMERICAN ? r->held[e * job->places + c->place]
                                                 : r->known[e * job->sets + c->set];
            if (c->kind == CVA_AMERICAN) memset(to, 0, sizeof *r->held);
            if (cva_left(job, c, k) < 0) continue;
            value_at(r, c, k, r->price, keep);
            CVA_EACH(l) to[l] = fma(quantity, keep[0][l], to[l]);
        }
    }
}

/* The lanes that hold a contract at date k. */
static uint32_t alive_at(const reverse *r, const cva_contract *c, int64_t k) {
    return c->kind == CVA_AMERICAN ? *lanes_at(r, r->alive, k, c) : CVA_ALL_LANES;
}

/* ---- the boundary ---------------------------------------------------------------------------------- */

/* The price at which exercise at date k begins, or ends; 0: there is none. */
static double boundary_of(const cva_contract *c, int64_t k, int side) {
    if (c->kind != CVA_AMERICAN || k >= c->last || !c->may[k - 1]) return 0;
    const double at = cva_rule_at(&c->rule[0], k)[side];
    return at < DBL_MAX ? at : 0;
}

/* n at log b, given the dates before and after date k; move: l. */
static void find_density(const reverse *r, int64_t k, int64_t mine, const double *move,
                         double *density) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const cva_span before = cva_between(job, k - 1, k), after = cva_between(job, k, k + 1);
    const int64_t a = g->used[mine];
    const double here = cva_deviation(job, before, a), next = cva_deviation(job, after, a);
    double square = 1 / (here * here);
    lanes along;
    CVA_EACH(l) along[l] = r->normal[mine][l] / here;
    if (!job->integral) {
        square += 1 / (next * next);
        CVA_EACH(l) along[l] -= r->next[mine][l] / next;
    } else {
        double delta[SHOAL_CVA_ASSETS], length = 0;
        for (int64_t i = 0; i < g->useds; i++) {
            const int64_t n = g->used[i];
            const double moved = job->correlation[n * job->assets + a] / here;
            delta[i] = moved * cva_deviation(job, before, n) / cva_deviation(job, after, n);
            CVA_EACH(l) along[l] -= delta[i] * r->next_inner[i][l];
        }
        for (int64_t i = 0; i < g->useds; i++) { /* |L^-1 D|^2 */
            const double *row = g->root + i * (i + 1) / 2;
            for (int64_t n = 0; n < i; n++) delta[i] -= row[n] * delta[n];
            delta[i] /= row[i], length += delta[i] * delta[i];
        }
        square += length;
    }
    const double one = 0.3989422804014327 * sqrt(square), half = 0.5 / square;
    CVA_EACH(l) {
        const double off = fma(square, move[l], along[l]), exponent = half * off * off;
        density[l] = exponent < CVA_FAR ? one * shoal_exp(-exponent) : 0;
    }
}

/* J of the contracts of a set that are `mine`, at the moved prices of date k; americans first .. end - 1 are the set. */
static void find_jump(const reverse *r, int64_t k, int64_t first, int64_t end, const char *mine,
                      double *jump) {
    const cva_job *job = r->job;
    const int64_t set = job->contract[job->american[first]].set;
    const int64_t party = job->party_of[set];
    uint32_t *after = r->after;
    for (int64_t i = first; i < end; i++) {
        const cva_contract *c = &job->contract[job->american[i]];
        const uint32_t gone = mine[i - first] ? 0 : decide(r, c, k, r->edge);
        after[i - first] = *lanes_at(r, r->alive, k, c) & ~gone;
    }
    CVA_EACH(l) jump[l] = 0;
    for (int64_t n = k + 1; n <= r->end; n++) {
        const int64_t e = job->exposure[n - 1];
        uint32_t left = 0;
        if (e >= 0) {
            const double share = job->share[party * job->exposures + e];
            lanes with, without, high, low, slope;
            memcpy(without, r->known[e * job->sets + set], sizeof without);
            CVA_EACH(l) with[l] = 0;
            for (int64_t i = first; i < end; i++) {
                const double *worth =
                    r->held[e * job->places + job->contract[job->american[i]].place];
                const uint32_t here = after[i - first];
                double *to = mine[i - first] ? with : without;
                CVA_EACH(l) to[l] += shoal_pick(here >> l & 1, worth[l], 0);
            }
            CVA_EACH(l) with[l] += without[l];
            expose(job, set, with, high, slope), expose(job, set, without, low, slope);
            CVA_EACH(l) jump[l] = fma(share, high[l] - low[l], jump[l]);
        }
        for (int64_t i = first; i < end; i++) {
            after[i - first] &= ~*lanes_at(r, r->exercised, n, &job->contract[job->american[i]]);
            if (mine[i - first]) left |= after[i - first];
        }
        if (!left) return;
    }
}

/* The boundary of contract `at` of a set at date k. */
static void reverse_boundary(const reverse *r, int64_t k, int64_t first, int64_t end, int64_t at,
                             int side) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const cva_contract *c = &job->contract[job->american[at]];
    const double b = boundary_of(c, k, side), sign = side ? 1 : -1;
    const int64_t mine = g->place[c->asset[0]];
    uint32_t open = 0;
    lanes move, log_move, density, jump;
    if (!(b > 0)) return;
    for (int64_t i = first; i < end;
         i++) { /* those that begin or end at the same price: together */
        const cva_contract *other = &job->contract[job->american[i]];
        const int same =
            other->asset[0] == c->asset[0] && fabs(boundary_of(other, k, side) - b) <= CVA_SAME * b;
        if (same && i < at) return;
        r->mine[i - first] = (char)same;
        if (same) open |= *lanes_at(r, r->alive, k, other);
    }
    const double here = cva_deviation(job, cva_between(job, k - 1, k), c->asset[0]);
    CVA_EACH(l) log_move[l] = shoal_log(b / r->price[mine][l]);
    find_density(r, k, mine, log_move, density);
    double largest = 0;
    CVA_EACH(l) density[l] = shoal_pick(open >> l & 1, density[l], 0);
    for (int l = 0; l < CVA_WIDTH; l++) largest = fmax(largest, density[l]);
    if (!(largest > 0)) return;
    go_to_edge(r, k, mine, b, move);
    find_jump(r, k, first, end, r->mine, jump);
    const cva_tangent *t = &g->tangent[c->place];
    const double *edge = t->edge + ((k - 1) * 2 + side) * t->columns;
    lanes bar;
    CVA_EACH(l) bar[l] = sign * density[l] * jump[l];
    CVA_EACH(l) r->log[mine][l] += bar[l];
    CVA_EACH(l) r->shift[mine][l] = fma(bar[l], log_move[l] / here, r->shift[mine][l]);
    for (int64_t i = 0; i < t->columns && r->by; i++) {
        double *to = r->to[t->to[i]];
        CVA_EACH(l) to[l] = fma(-edge[i], bar[l], to[l]);
    }
}

/* All boundaries of date k: what later exposures have of them. */
static void reverse_exercise(const reverse *r, int64_t k) {
    const cva_job *job = r->job;
    if (job->kept || k >= r->end) return;
    for (int64_t first = 0, end; first < job->americans; first = end) {
        const int64_t set = job->contract[job->american[first]].set;
        for (end = first; end < job->americans; end++)
            if (job->contract[job->american[end]].set != set) break;
        for (int64_t at = first; at < end; at++)
            for (int side = 0; side < 2; side++) reverse_boundary(r, k, first, end, at, side);
    }
}

/* The value of a contract that is held at date k, at prices [used asset]; of an option also its derivatives. */
static void value_at(const reverse *r, const cva_contract *c, int64_t k, lanes *price,
                     lanes *keep) {
    value_contract(r, c, cva_rest(r->job, c, k), price, keep);
    if (c->kind == CVA_AMERICAN && k < c->last) value_early(r, c, k, price, keep);
}

#endif
