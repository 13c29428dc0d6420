/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.c - the exercise boundaries and prices of a pack of puts, one per lane of a vector. exact_lane.h has the
 * formulas. Two to four passes of Newton's method are usual: each of n l points, then n^3 / 3 for the system.
 */
#include "american/exact_lane.h"

static void eliminate(vec *a, int n) {
    const int stride = exact_stride(n);
    for (int k = 0; k < n; k++) {
        const vec one_over = vec_all(1) / a[k * stride + k];
        for (int i = k + 1; i < n; i++) {
            const vec f = a[i * stride + k] *= one_over;
            for (int j = k + 1; j < n; j++)
                a[i * stride + j] = vec_fma(-f, a[k * stride + j], a[i * stride + j]);
        }
    }
}

static void substitute(const vec *a, int n, vec *x) {
    const int stride = exact_stride(n);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++) x[i] = vec_fma(-a[i * stride + j], x[j], x[i]);
    for (int j = n - 1; j >= 0; j--) {
        x[j] /= a[j * stride + j];
        for (int i = 0; i < j; i++) x[i] = vec_fma(-a[i * stride + j], x[j], x[i]);
    }
}

/* Every node begins at its neighbour's boundary, whose shape is nearly that of a root. */
static void guess(const exact_rule *rule, const exact_lane *o) {
    const int n = rule->n;
    o->h[0] = exact_guess(o, rule->x[0], exact_early(o, rule->x[0]), 3);
    for (int i = 1; i < n; i++) {
        const vec rise = o->h[i - 1] * vec_all(rule->x[i] / rule->x[i - 1]);
        const vec h = o->down * (vec_all(1) - vec_exp(-rise / o->down));
        o->h[i] = exact_guess(o, rule->x[i], h, 2);
    }
    for (int k = 0; k < rule->l; k++)
        for (int i = 0; i < n; i++) {
            const vec rt = vec_all(rule->x[i] * rule->z[k]) * o->root_t;
            o->fall[k * n + i] = vec_exp(-o->q * rt * rt);
        }
}

/* Takes this part of the step in lanes that are not settled; returns which are now. */
static vec_mask improve(const exact_rule *rule, const exact_lane *o, double part, vec_mask before) {
    const int n = rule->n;
    vec_mask small = vec_all(0) == vec_all(0);
    for (int i = 0; i < n; i++) o->square[i] = o->h[i] * o->h[i];
    for (int i = 0; i < n; i++) exact_row(rule, o, i, 0);
    eliminate(o->jacobian, n);
    substitute(o->jacobian, n, o->residual);
    for (int i = 0; i < n; i++) {
        const vec h = o->h[i], step = o->residual[i];
        small &= vec_abs(step) <= vec_all(rule->settled) * h;
        o->h[i] = vec_select(before, h, exact_step(h, step, part));
    }
    return before | small;
}

static int every_lane(vec_mask mask) {
    int64_t every = -1;
    for (int i = 0; i < VEC; i++) every &= mask[i];
    return every != 0;
}

static void integrate(const exact_rule *rule, const exact_lane *o, const int greeks,
                      exact_pack *pack, int from) {
    exact_sums sums = exact_european(o);
    for (int g = 0; g < rule->p; g++) exact_premium(rule, o, g, greeks, &sums);
    vec_store(&pack->boundary[from], exact_end(rule, o, &sums));
    vec_store(&pack->price[from], sums.price);
    if (!greeks) return;
    vec_store(&pack->delta[from], sums.delta);
    vec_store(&pack->gamma[from], sums.gamma);
    vec_store(&pack->vega[from], sums.vega);
    vec_store(&pack->rho[from], sums.rho);
}

static void run_chunk(const exact_rule *rule, exact_pack *pack, int from, int greeks, vec *work) {
    const int n = rule->n;
    exact_lane o = { .s = vec_load(&pack->s[from]),
                     .k = vec_load(&pack->k[from]),
                     .r = vec_load(&pack->r[from]),
                     .q = vec_load(&pack->q[from]),
                     .v = vec_load(&pack->v[from]),
                     .dq = vec_load(&pack->of_q[from]) };
    for (int i = 0; i < VEC; i++) {
        double own[4];
        exact_begin(o.s[i], o.k[i], o.r[i], o.q[i], o.v[i], o.dq[i], own);
        o.log_start[i] = own[0], o.away[i] = own[1], o.down[i] = own[2], o.start[i] = own[3];
    }
    exact_complete(&o, rule, vec_load(&pack->maturity[from]), work);
    guess(rule, &o);
    vec_mask settled = vec_all(0) != vec_all(0);
    for (int pass = 0; pass < EXACT_PASSES && !every_lane(settled); pass++)
        settled = improve(rule, &o, exact_part(pass), settled);
    for (int i = 0; i < VEC; i++) pack->failed[from + i] = !settled[i];
    for (int i = 0; i < n; i++) o.square[i] = o.h[i] * o.h[i];
    if (!greeks) {
        integrate(rule, &o, 0, pack, from);
        return;
    }
    for (int i = 0; i < n; i++) exact_row(rule, &o, i, 1);
    eliminate(o.jacobian, n);
    substitute(o.jacobian, n, o.by_v);
    substitute(o.jacobian, n, o.by_r);
    for (int i = 0; i < n; i++) { /* of h to H */
        o.by_v[i] *= vec_all(-2) * o.h[i];
        o.by_r[i] *= vec_all(-2) * o.h[i];
    }
    integrate(rule, &o, 1, pack, from);
}

static void run(const exact_rule *rule, exact_pack *pack, int greeks, double *work) {
    for (int from = 0; from < EXACT_LANES; from += VEC)
        run_chunk(rule, pack, from, greeks, (vec *)(void *)work);
}

const exact_method R(american_exact) = { run };
