/* SPDX-License-Identifier: Apache-2.0
 *
 * adjoint.c - derivatives of the CVA by all that it depends on, path by path: a reverse pass over closed forms and
 * steps.
 *
 * A path's share of the CVA is sum_k sum_sets w_k E(V_k), V_k = sum of q v(S_k, t_k), with w_k = (1 - R) e^(-r t_k)
 * P(default). Exposures E are piecewise linear in V and continuous, so that their slope, 0 or 1, is all there is:
 * nothing is smoothed. With x = log S of an asset and b(y) the derivative by y, from the last date to the first,
 *
 *     b(x_k) += w_k E' q dv/dx,   b(growth), b(rate), b(deviation) of the time to maturity likewise,
 *
 *     x_k = x_(k-1) + growth - s^2 / 2 + s (L z),   s the deviation of the step,   b(s) += b(x) ((L z) - s).
 *
 * A correlation C changes what L z has in common. Of all changes of L with the same change of C = L Lt,
 * dL = dC L^-t / 2 needs no derivative of the factorization:
 *
 *     b(C_ac) += (s_a b(x_a) u_c + s_c b(x_c) u_a) / 2,   u = L^-t z = C^-1 (L z).
 *
 * The mean of these is the derivative of the mean, by the law of the steps alone; a path's number is another than that
 * of other factors.
 *
 * A digital option pays 1 at its last date if S is beyond K, so that E jumps by J where S = K. The derivative of the
 * mean has a term for it. With S = S_(k-1) e^(growth - s^2 / 2 + s x) this is, given all but x, and n the normal
 * density,
 *
 *     b(x_k) += w_k J n(x*) / s,   x* the x of S = K,
 *
 * with J of prices at x*: those of the other assets move with their correlation C to this one, by e^(s_c C (x* - x)).
 * In b(s) of this term x* stands in place of x; u of the other assets remains, as C^-1 takes a move of L z along a
 * column of C to one number.
 *
 * Gammas are central differences of b(x_0), with log S moved by h on all dates of the same paths: prices are
 * multiplied by e^h and e^-h, and exposures and closed forms done again. Where an exposure has a kink, its slope
 * jumps, in a share h of the paths.
 *
 * Contracts with early exercise: early.h. Margin periods: calls.h.
 *
 * The pass repeats the paths of a block of CVA_WIDTH, which gives the same prices as run.c's; it keeps those of all
 * dates, 16 bytes per asset, date and lane. Its cost does not depend on the number of parameters, except for d^2
 * products per step of d assets' correlations.
 */
#include "cva/calls.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

/* The jump of the exposure of the contracts first .. end - 1, a set, at the edge of one of them. */
static void jump_at(const reverse *r, int64_t k, int64_t first, int64_t end, int64_t at,
                    double share) {
    const cva_job *job = r->job;
    const cva_contract *c = &job->contract[r->g->contract[at]];
    const int64_t mine = r->g->place[c->asset[0]];
    const double edge = edge_of(job, c, k);
    lanes move, above, below, high, low, slope, keep[KEPT];
    for (int64_t i = first; i < at; i++)
        if (is_edge(job, &job->contract[r->g->contract[i]], k, c->asset[0], edge)) return;
    go_to_edge(r, k, mine, edge, move);
    CVA_EACH(l) above[l] = below[l] = 0;
    for (int64_t i = first; i < end; i++) {
        const cva_contract *other = &job->contract[r->g->contract[i]];
        const double quantity = other->quantity;
        if (cva_left(job, other, k) < 0) continue;
        if (is_edge(job, other, k, c->asset[0], edge)) { /* one of both */
            double *to = other->form & CVA_DOWN ? below : above;
            CVA_EACH(l) to[l] += quantity;
            continue;
        }
        const uint32_t here = alive_at(r, other, k);
        value_at(r, other, k, r->edge, keep);
        CVA_EACH(l) keep[0][l] = shoal_pick(here >> l & 1, keep[0][l], 0);
        CVA_EACH(l) above[l] = fma(quantity, keep[0][l], above[l]);
        CVA_EACH(l) below[l] = fma(quantity, keep[0][l], below[l]);
    }
    expose(job, c->set, above, high, slope);
    expose(job, c->set, below, low, slope);
    const double one =
        0.3989422804014327 * share / cva_deviation(job, cva_between(job, k - 1, k), c->asset[0]);
    CVA_EACH(l) {
        const double x = r->normal[mine][l] + move[l];
        const double bar = one * (high[l] - low[l]) * shoal_exp(-0.5 * x * x);
        r->log[mine][l] += bar;
        r->shift[mine][l] = fma(bar, move[l], r->shift[mine][l]);
    }
}

static void reverse_date(const reverse *r, int64_t k) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const int64_t e = job->exposure[k - 1];
    memset(r->exposure, 0, (size_t)job->parties * sizeof *r->exposure);
    for (int64_t first = 0, end; first < g->contracts; first = end) {
        const int64_t set = job->contract[g->contract[first]].set, party = job->party_of[set];
        const double share = job->share[party * job->exposures + e];
        lanes worth, exposure, slope, bar;
        CVA_EACH(l) worth[l] = 0;
        for (end = first; end < g->contracts; end++) {
            const cva_contract *c = &job->contract[g->contract[end]];
            const double quantity = c->quantity;
            lanes *keep = r->kept + KEPT * (end - first);
            if (c->set != set) break;
            if (cva_left(job, c, k) < 0) continue;
            const uint32_t here = alive_at(r, c, k);
            value_at(r, c, k, r->price, keep);
            CVA_EACH(l)
            worth[l] = fma(quantity, shoal_pick(here >> l & 1, keep[0][l], 0), worth[l]);
        }
        if (cva_period_of(job, set))
            expose_called(r, first, end, k, share, worth, exposure, slope);
        else
            expose(job, set, worth, exposure, slope);
        CVA_EACH(l) r->exposure[party][l] += exposure[l];
        for (int64_t i = first; i < end; i++) {
            const cva_contract *c = &job->contract[g->contract[i]];
            const double weight = share * c->quantity;
            if (cva_left(job, c, k) < 0) continue;
            const uint32_t here = alive_at(r, c, k);
            CVA_EACH(l) bar[l] = shoal_pick(here >> l & 1, weight * slope[l], 0);
            reverse_contract(r, c, cva_rest(job, c, k), bar, r->kept + KEPT * (i - first));
            if (c->kind == CVA_AMERICAN) reverse_premium(r, c, k, bar);
        }
        for (int64_t i = first; i < end && g->jumps; i++)
            if (edge_of(job, &job->contract[g->contract[i]], k) > 0)
                jump_at(r, k, first, end, i, share);
    }
    for (int64_t party = 0; party < job->parties && r->by; party++)
        reverse_weights(r, k, party, r->exposure[party]);
}

/* ---- steps ------------------------------------------------------------------------------------- */

/* The increments L z of a step from date k - 1 to date k, and u. */
static void take_step(const reverse *r, int64_t k) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const cva_span step = cva_between(job, k - 1, k);
    const int64_t d = job->assets, each = CVA_WIDTH * d;
    for (int64_t i = 0; i < g->useds; i++) {
        const double one = 1 / cva_scale(job, step, g->used[i], sqrt(step.years));
        const double *to = r->brownian + k * each + g->used[i], *from = to - each;
        for (int l = 0; l < CVA_WIDTH; l++) r->normal[i][l] = one * (to[l * d] - from[l * d]);
    }
    if (!g->root) return;
    memcpy(r->inner, r->normal, (size_t)g->useds * sizeof *r->inner);
    for (int64_t i = 0; i < g->useds; i++) { /* L^-1, then L^-t */
        const double *row = g->root + i * (i + 1) / 2, one = 1 / row[i];
        for (int64_t n = 0; n < i; n++)
            CVA_EACH(l) r->inner[i][l] = fma(-row[n], r->inner[n][l], r->inner[i][l]);
        CVA_EACH(l) r->inner[i][l] *= one;
    }
    for (int64_t i = g->useds - 1; i >= 0; i--) {
        const double *row = g->root + i * (i + 1) / 2, one = 1 / row[i];
        CVA_EACH(l) r->inner[i][l] *= one;
        for (int64_t n = 0; n < i; n++)
            CVA_EACH(l) r->inner[n][l] = fma(-row[n], r->inner[i][l], r->inner[n][l]);
    }
}

static void reverse_step(const reverse *r, int64_t k) {
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    const cva_span step = cva_between(job, k - 1, k);
    lanes x;
    for (int64_t i = 0; i < g->useds; i++) {
        const double deviation = cva_deviation(job, step, g->used[i]);
        const double *log = r->log[i], *normal = r->normal[i];
        add_span(r, CVA_BY_GROWTH, i, step, log);
        CVA_EACH(l) x[l] = fma(log[l], normal[l] - deviation, r->shift[i][l]);
        CVA_EACH(l) r->shift[i][l] = 0;
        add_deviation(r, i, step, x);
    }
    for (int64_t i = 0; i < g->useds && g->root; i++) {
        const double mine = 0.5 * cva_deviation(job, step, g->used[i]);
        lanes *pair = r->by + g->begin[CVA_BY_CORRELATION] + i * (i - 1) / 2;
        for (int64_t n = 0; n < i; n++) {
            const double others = 0.5 * cva_deviation(job, step, g->used[n]);
            const double *u = r->inner[i], *v = r->inner[n], *a = r->log[i], *b = r->log[n];
            CVA_EACH(l) pair[n][l] += mine * a[l] * v[l] + others * b[l] * u[l];
        }
    }
}

/* ---- blocks ------------------------------------------------------------------------------------ */

/* The paths of a block, at all dates. */
static void forward_paths(const reverse *r, uint64_t first) {
    const int64_t each = CVA_WIDTH * r->job->assets;
    cva_job block = *r->job;
    block.first = first, block.paths = CVA_WIDTH, block.log_hazard = NULL;
    memset(r->brownian, 0, (size_t)each * sizeof *r->brownian);
    for (int64_t i = 0; i < each; i++) r->spot[i] = r->job->s0[i % r->job->assets];
    for (int64_t k = 1; k <= r->end; k++) {
        block.brownian = r->brownian + k * each, block.spot = r->spot + k * each;
        memcpy(block.brownian, block.brownian - each, (size_t)each * sizeof *r->brownian);
        cva_move_paths(&block, 0, k);
    }
}

/* A step back: what it moved is that of the step after. */
static void step_back(reverse *r, int64_t k) {
    lanes *normal = r->next, *inner = r->next_inner;
    r->next = r->normal, r->next_inner = r->inner, r->normal = normal, r->inner = inner;
    see_prices(r, k);
}

/* What earlier dates have of later ones: nothing yet. */
static void clear_calls(const reverse *r) {
    const size_t rows = r->job->periods ? (size_t)((r->end + 1) * r->job->sets) : 0;
    memset(r->called, 0, rows * sizeof *r->called);
    memset(r->owed, 0, rows * sizeof *r->owed);
}

/* All that belongs to date k but the step to it. */
static void visit(const reverse *r, int64_t k) {
    if (r->job->exposure[k - 1] >= 0) reverse_date(r, k);
    reverse_calls(r, k);
    reverse_exercise(r, k);
}

/* A margin call today. */
static void visit_today(reverse *r) {
    if (!r->job->periods) return;
    see_prices(r, 0);
    reverse_calls(r, 0);
}

/* Second derivatives by the spots of used assets i >= n: d/dS_i of b(log S_n) / S_n, and the other way round; their mean. */
static void second_order(const reverse *r) {
    const cva_greeks *g = r->g;
    const cva_job *job = r->job;
    const double *s0 = job->s0;
    reverse lean = *r;
    lean.by = NULL;
    for (int64_t i = 0; i < g->useds; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double times = shoal_exp(sign * g->bump[i]);
            const double width = (shoal_exp(g->bump[i]) - shoal_exp(-g->bump[i])) * s0[g->used[i]];
            memset(r->log, 0, (size_t)g->useds * sizeof *r->log);
            lean.moved = i, lean.times = times;
            forward_early(&lean);
            clear_calls(&lean);
            for (int64_t k = r->end; k > 0; k--) {
                if (job->exposure[k - 1] < 0 && !job->americans && !job->periods) continue;
                step_back(&lean, k);
                if (g->jumps || job->americans) take_step(&lean, k);
                visit(&lean, k);
            }
            visit_today(&lean);
            for (int64_t n = 0; n < g->useds; n++) {
                const int64_t low = n < i ? n : i, high = n < i ? i : n;
                const double factor = sign * (n == i ? 1 / times : 0.5) / (width * s0[g->used[n]]);
                double *to = r->to[g->gamma + high * (high + 1) / 2 + low];
                CVA_EACH(l) to[l] = fma(factor, r->log[n][l], to[l]);
            }
        }
}

static void one_block(const reverse *all, uint64_t first) {
    reverse own = *all, *r = &own;
    const cva_job *job = r->job;
    const cva_greeks *g = r->g;
    memset(r->by, 0, (size_t)g->begin[CVA_BY_HAZARD] * sizeof *r->by);
    memset(r->to, 0, (size_t)g->parameters * sizeof *r->to);
    memset(r->log, 0, (size_t)g->useds * sizeof *r->log);
    memset(r->shift, 0, (size_t)g->useds * sizeof *r->shift);
    memset(r->later, 0, (size_t)job->parties * sizeof *r->later);
    forward_paths(r, first);
    forward_early(r);
    clear_calls(r);
    for (int64_t k = r->end; k > 0; k--) {
        step_back(r, k);
        take_step(r, k);
        visit(r, k);
        reverse_step(r, k);
    }
    visit_today(r);
    for (int64_t i = 0; i < g->useds; i++) {
        const double one = 1 / job->s0[g->used[i]];
        double *spot = r->by[g->begin[CVA_BY_SPOT] + i];
        CVA_EACH(l) spot[l] = one * r->log[i][l];
    }
    for (int64_t i = 0; i < g->begin[CVA_BY_HAZARD]; i++) map(r, i, r->by[i]);
    if (g->gamma) second_order(r);
}

static shoal_status run(const shoal_context *ctx, const cva_job *job, const cva_greeks *g,
                        int64_t first, int64_t paths, double *rows, int64_t width, int64_t at) {
    const int64_t end = job->exposed[job->exposures - 1], kept = (end + 1) * job->assets;
    const int64_t places = job->americans ? job->places : 0, sets = places ? job->sets : 0;
    const int64_t waiting = job->periods ? (end + 1) * job->sets : 0;
    const int64_t bits = (2 * end * places + g->most + CVA_WIDTH) / (2 * CVA_WIDTH) + 1;
    const int64_t counts[] = { kept,
                               kept,
                               g->begin[CVA_BY_HAZARD],
                               g->parameters,
                               g->useds,
                               g->useds,
                               job->parties,
                               job->parties,
                               g->useds,
                               g->useds,
                               KEPT * g->most,
                               g->useds,
                               g->useds,
                               g->useds,
                               g->useds,
                               job->exposures * places,
                               job->exposures * sets,
                               bits,
                               g->most / (CVA_WIDTH * (int64_t)sizeof(double)) + 1,
                               waiting,
                               waiting };
    enum { ARRAYS = sizeof counts / sizeof *counts };
    int64_t all = 0;
    int failed = 0;
    for (int i = 0; i < ARRAYS; i++) all += counts[i];
#pragma omp parallel num_threads(ctx->threads) reduction(| : failed)
    {
        lanes *room = malloc((size_t)all * sizeof *room), *next = room, *part[ARRAYS];
        for (int i = 0; i < ARRAYS; i++) part[i] = next, next += room ? counts[i] : 0;
        uint32_t *bit = room ? (uint32_t *)(void *)part[17] : NULL;
        const reverse r = { .job = job,
                            .g = g,
                            .end = end,
                            .brownian = room ? part[0][0] : NULL,
                            .spot = room ? part[1][0] : NULL,
                            .by = part[2],
                            .to = part[3],
                            .price = part[4],
                            .log = part[5],
                            .exposure = part[6],
                            .later = part[7],
                            .normal = part[8],
                            .inner = part[9],
                            .kept = part[10],
                            .edge = part[11],
                            .shift = part[12],
                            .next = part[13],
                            .next_inner = part[14],
                            .held = part[15],
                            .known = part[16],
                            .exercised = bit,
                            .alive = room ? bit + end * places : NULL,
                            .after = room ? bit + 2 * end * places : NULL,
                            .mine = (char *)part[18],
                            .called = part[19],
                            .owed = part[20],
                            .moved = -1 };
        failed |= !room;
#pragma omp for schedule(static)
        for (int64_t from = 0; from < paths; from += CVA_WIDTH) {
            if (!room || shoal_is_cancelled(ctx, from, paths / ctx->threads + 1)) continue;
            one_block(&r, (uint64_t)(first + from));
            for (int l = 0; l < CVA_WIDTH && from + l < paths; l++)
                for (int64_t i = 0; i < g->parameters; i++)
                    rows[(from + l) * width + at + i] = r.to[i][l];
        }
        free(room);
    }
    return failed ? SHOAL_E_NOMEM : SHOAL_OK;
}

const cva_reverse R(cva_reverse) = { .run = run };
