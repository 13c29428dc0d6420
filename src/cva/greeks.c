/* SPDX-License-Identifier: Apache-2.0
 *
 * greeks.c - sensitivities of a CVA: the table of parameters, and how they enter what the reverse pass (adjoint.c)
 * gives derivatives by; results from rows.
 *
 * An integral of a curve at time t is linear between its points, I_i = value_i time_i: with l = (t - t_(i-1)) / (t_i -
 * t_(i-1)) it is l I_i + (1 - l) I_(i-1), also beyond the last point. So an integral has at most two points of its
 * curve.
 */
#include "cva/span.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By shoal_cva_parameter; a move of 0: made from 1 % of spots. */
static const struct {
    const char *name;
    double move;
} kinds[] = { [SHOAL_CVA_SPOT] = { "spot", 0 },
              [SHOAL_CVA_VOLATILITY] = { "volatility", 0.01 },
              [SHOAL_CVA_DIVIDEND] = { "dividend", 1e-4 },
              [SHOAL_CVA_RATE] = { "rate", 1e-4 },
              [SHOAL_CVA_CORRELATION] = { "correlation", 0.01 },
              [SHOAL_CVA_HAZARD] = { "hazard", 1e-4 },
              [SHOAL_CVA_RECOVERY] = { "recovery", 0.01 },
              [SHOAL_CVA_GAMMA] = { "gamma", 0 },
              [SHOAL_CVA_CROSS_GAMMA] = { "cross-gamma", 0 } };

#define LEAST 1e-6 /* of a deviation, over the usual one; of a pivot of correlations */
#define BUMP  0.05 /* of gammas: of the deviation of log S up to the last exposure   */

/* ---- checks ------------------------------------------------------------------------------------ */

/* Why a contract has no derivatives; NULL: it has. */
static const char *missing(const shoal_cva *p, const cva_contract *c) {
    if (c->kind == CVA_NESTED) return "without a closed form";
    if (c->form & CVA_BARRIER) return "with a barrier";
    if (c->form & CVA_MEAN) return "on a mean";
    if (cva_period_of(&p->job, c->set) && c->form & CVA_DIGITAL)
        return "that jumps, with a margin period";
    if (c->kind != CVA_AMERICAN) return NULL;
    if (cva_period_of(&p->job, c->set)) return "with early exercise, with a margin period";
    if (p->estimator == SHOAL_CVA_BY_INNER) return "with early exercise by estimator inner";
    return cva_is_line(c) ? NULL : "with early exercise on several assets";
}

static shoal_status check_contracts(shoal_cva *p) {
    for (int64_t i = 0; i < p->job.contracts; i++) {
        const cva_contract *c = &p->job.contract[i];
        const char *why = c->kind == CVA_EXPIRED ? NULL : missing(p, c);
        if (c->kind == CVA_CLOSED) p->greeks.jumps |= (c->form & CVA_DIGITAL) != 0;
        if (why)
            return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                              "contracts[%lld]: there are no sensitivities of a contract %s",
                              (long long)i, why);
    }
    return SHOAL_OK;
}

static shoal_status check_span(const shoal_cva *p, int64_t a, cva_span s) {
    const double usual = p->job.sigma[a] * sqrt(fmax(s.years, 0));
    if (!(s.years > 0) || cva_deviation(&p->job, s, a) > LEAST * usual) return SHOAL_OK;
    const double from = cva_time(&p->job, s.from);
    return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                      "sigma[%lld] is 0 from %g to %g years; with greeks it must be above 0",
                      (long long)a, from, from + s.years);
}

/* Volatilities are above 0 over steps and up to maturities: a derivative by one has a root of it below. */
static shoal_status check_volatilities(const shoal_cva *p) {
    const cva_job *j = &p->job;
    shoal_status s = SHOAL_OK;
    for (int64_t i = 0; i < p->greeks.useds; i++)
        for (int64_t k = 1; k <= j->exposed[j->exposures - 1] && s == SHOAL_OK; k++)
            s = check_span(p, p->greeks.used[i], cva_between(j, k - 1, k));
    for (int64_t i = 0; i < j->contracts; i++)
        for (int64_t e = 0; e < j->exposures && s == SHOAL_OK; e++)
            if (j->contract[i].kind != CVA_EXPIRED)
                s = check_span(p, j->contract[i].asset[0],
                               cva_rest(j, &j->contract[i], j->exposed[e]));
    for (int64_t i = 0; i < j->contracts; i++)
        for (int64_t e = 0; e < j->periods * j->exposures && s == SHOAL_OK; e++)
            if (j->contract[i].kind != CVA_EXPIRED)
                s = check_span(p, j->contract[i].asset[0],
                               cva_rest(j, &j->contract[i], p->call_date[e]));
    return s;
}

static shoal_status check(shoal_cva *p) {
    const cva_job *j = &p->job;
    if (j->wrong_way)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "there are no sensitivities with wrong-way risk");
    return check_contracts(p);
}

/* ---- inputs and parameters ------------------------------------------------------------------------ */

static int64_t pairs_of(int64_t count) { return count * (count - 1) / 2; }

/* The assets of contracts that have not expired; contracts of a set. */
static shoal_status find_used(shoal_cva *p) {
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    shoal_status s = shoal_plan_host(&p->head, j->assets, sizeof *g->used, &g->used);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, j->assets, sizeof *g->place, &g->place);
    int64_t *in_set = calloc((size_t)j->sets + 1, sizeof *in_set);
    if (s == SHOAL_OK && !in_set) s = SHOAL_NO_MEMORY(p->head.ctx, "contracts");
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[i];
        if (c->kind == CVA_EXPIRED) continue;
        for (int n = 0; n < c->assets; n++) g->place[c->asset[n]] = 1;
        if (++in_set[c->set] > g->most) g->most = in_set[c->set];
    }
    for (int64_t a = 0; a < j->assets && s == SHOAL_OK; a++) {
        const int is_used = g->place[a] != 0;
        g->place[a] = is_used ? g->useds : -1;
        if (is_used) g->used[g->useds++] = a;
    }
    free(in_set);
    return s;
}

/* The factor of the used assets' correlation; none, if it is singular. */
static shoal_status make_root(shoal_cva *p) {
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    const int64_t d = g->useds;
    double *root, *c = malloc((size_t)(d * d + 1) * sizeof *c);
    shoal_status s = c ? shoal_plan_host(&p->head, d * (d + 1) / 2, sizeof *root, &root)
                       : SHOAL_NO_MEMORY(p->head.ctx, "correlations");
    for (int64_t i = 0; i < d * d && s == SHOAL_OK; i++)
        c[i] = j->correlation[g->used[i / d] * j->assets + g->used[i % d]];
    if (s == SHOAL_OK) s = shoal_correlation_factor(p->head.ctx, c, d, root);
    double least = 1;
    for (int64_t i = 0; i < d && s == SHOAL_OK; i++) least = fmin(least, root[i * (i + 1) / 2 + i]);
    if (s == SHOAL_OK && least > LEAST) g->root = root;
    free(c);
    return s;
}

typedef struct maker { /* of parameters and terms */
    shoal_cva *p;
    const shoal_cva_market *m;
    const shoal_cva_counterparty *party;
    int64_t inputs, terms;
    /* the first parameter of each curve, and of each counterparty; or NULL: counts alone */
    int64_t rate, *volatility, *dividend, *counterparty;
} maker;

static int64_t points_of(const shoal_cva_curve *c) { return c && c->count > 0 ? c->count : 1; }
static const shoal_cva_curve *curve_of(const shoal_cva_curve *list, int64_t a) {
    return list && list[a].count > 0 ? &list[a] : NULL;
}

static void add_parameter(maker *k, shoal_cva_parameter kind, int64_t index, int64_t other,
                          int64_t point, double time, double at) {
    cva_greeks *g = &k->p->greeks;
    const double one = 0.01 * at, others = other < 0 ? 0 : 0.01 * k->m->s0[other];
    const double move = kinds[kind].move > 0            ? kinds[kind].move
                        : kind == SHOAL_CVA_GAMMA       ? 0.5 * one * one
                        : kind == SHOAL_CVA_CROSS_GAMMA ? one * others
                                                        : one;
    if (g->parameter)
        g->parameter[g->parameters] = (shoal_cva_sensitivity){ .parameter = kind,
                                                               .name = kinds[kind].name,
                                                               .index = index,
                                                               .other = other,
                                                               .point = point,
                                                               .time = time,
                                                               .at = at,
                                                               .move = move };
    g->parameters++;
}

/* All points of a curve, or the number in place of it; the first one. */
static int64_t add_curve(maker *k, shoal_cva_parameter kind, int64_t index,
                         const shoal_cva_curve *c, double flat) {
    const int64_t first = k->p->greeks.parameters;
    for (int64_t i = 0; i < points_of(c); i++)
        add_parameter(k, kind, index, -1, c ? i : -1, c ? c->time[i] : NAN, c ? c->value[i] : flat);
    return first;
}

/* The parameters in their order: by asset; rates; correlations; by counterparty; pairs of spots, of used assets 0, 0;
 * 1, 0; 1, 1; 2, 0; ... */
static void make_parameters(maker *k) {
    const cva_job *j = &k->p->job;
    cva_greeks *g = &k->p->greeks;
    const shoal_cva_market *m = k->m;
    g->parameters = 0;
    for (int64_t i = 0; i < g->useds; i++) {
        const int64_t a = g->used[i];
        add_parameter(k, SHOAL_CVA_SPOT, a, -1, -1, NAN, m->s0[a]);
        k->volatility[i] =
            add_curve(k, SHOAL_CVA_VOLATILITY, a, curve_of(m->sigmas, a), m->sigma[a]);
        k->dividend[i] = add_curve(k, SHOAL_CVA_DIVIDEND, a, curve_of(m->dividends, a),
                                   m->dividend ? m->dividend[a] : 0);
    }
    k->rate = add_curve(k, SHOAL_CVA_RATE, -1, m->rates.count > 0 ? &m->rates : NULL, m->rate);
    for (int64_t i = 0; i < g->useds; i++)
        for (int64_t n = 0; n < i; n++)
            add_parameter(k, SHOAL_CVA_CORRELATION, g->used[n], g->used[i], -1, NAN,
                          j->correlation[g->used[i] * j->assets + g->used[n]]);
    for (int64_t i = 0; i < j->parties; i++) {
        const shoal_cva_counterparty *c = &k->party[i];
        k->counterparty[i] = g->parameters;
        for (int64_t n = 0; n < c->pieces; n++)
            add_parameter(k, SHOAL_CVA_HAZARD, i, -1, c->pieces > 1 ? n : -1,
                          n + 1 < c->pieces ? c->until[n] : NAN, c->hazard[n]);
        add_parameter(k, SHOAL_CVA_RECOVERY, i, -1, -1, NAN, c->recovery);
    }
    g->gamma = g->bump ? g->parameters : 0;
    for (int64_t i = 0; i < g->useds && g->bump; i++)
        for (int64_t n = 0; n <= i; n++)
            add_parameter(k, n < i ? SHOAL_CVA_CROSS_GAMMA : SHOAL_CVA_GAMMA, g->used[n],
                          n < i ? g->used[i] : -1, -1, NAN, m->s0[g->used[n]]);
}

/* ---- terms ---------------------------------------------------------------------------------------- */

static void add_term(maker *k, int64_t to, double factor) {
    cva_greeks *g = &k->p->greeks;
    if (g->term) g->term[k->terms] = (cva_term){ to, factor };
    k->terms++;
}
static void next_input(maker *k) {
    cva_greeks *g = &k->p->greeks;
    k->inputs++;
    if (g->start) g->start[k->inputs] = k->terms;
}

/* The integral of a curve up to time t times `sign`, or that of the squares; parameters from `first` on. */
static void add_integral(maker *k, int64_t first, const shoal_cva_curve *c, int squared,
                         double flat, double t, double sign) {
    if (!k->p->job.integral) { /* the input is the number itself */
        add_term(k, first, sign);
        return;
    }
    if (!c) {
        add_term(k, first, sign * t * (squared ? 2 * flat : 1));
        return;
    }
    int64_t i = 0;
    while (i + 1 < c->count && t > c->time[i]) i++;
    const double from = i > 0 ? c->time[i - 1] : 0, share = (t - from) / (c->time[i] - from);
    for (int64_t n = i > 0 ? i - 1 : 0; n <= i; n++)
        add_term(k, first + n,
                 sign * (n == i ? share : 1 - share) * c->time[n] *
                     (squared ? 2 * c->value[n] : 1));
}

/* The years of a step that are in piece `i` of a hazard rate. */
static double overlap(const shoal_cva_counterparty *c, int64_t i, double from, double to) {
    const double begin = i > 0 ? c->until[i - 1] : 0;
    const double end = i + 1 < c->pieces ? c->until[i] : INFINITY;
    return fmin(to, end) - fmax(from, begin);
}

static void add_hazards(maker *k, int64_t party) {
    const cva_job *j = &k->p->job;
    const shoal_cva_counterparty *c = &k->party[party];
    double from = 0;
    int64_t first = 0;
    for (int64_t e = 0; e < j->exposures; e++) {
        const double to = cva_time(j, j->exposed[e]);
        while (first + 1 < c->pieces && c->until[first] <= from) first++;
        for (int64_t i = first; i < c->pieces && overlap(c, i, from, to) > 0; i++)
            add_term(k, k->counterparty[party] + i, overlap(c, i, from, to));
        next_input(k);
        from = to;
    }
}

static void make_terms(maker *k) {
    const cva_job *j = &k->p->job;
    cva_greeks *g = &k->p->greeks;
    const shoal_cva_market *m = k->m;
    const shoal_cva_curve *rates = m->rates.count > 0 ? &m->rates : NULL;
    k->inputs = k->terms = 0;
    for (int what = CVA_BY_RATE; what <= CVA_BY_VOLATILITY; what++) {
        g->begin[what] = k->inputs;
        for (int64_t i = 0; i < (what == CVA_BY_RATE ? 1 : g->useds); i++)
            for (int64_t slot = 0; slot < g->slots; slot++, next_input(k)) {
                const double t = cva_time(j, slot);
                const int64_t a = g->useds ? g->used[i] : 0;
                if (what != CVA_BY_VOLATILITY) add_integral(k, k->rate, rates, 0, m->rate, t, 1);
                if (what == CVA_BY_GROWTH)
                    add_integral(k, k->dividend[i], curve_of(m->dividends, a), 0, 0, t, -1);
                if (what == CVA_BY_VOLATILITY)
                    add_integral(k, k->volatility[i], curve_of(m->sigmas, a), 1, m->sigma[a], t, 1);
            }
    }
    g->begin[CVA_BY_SPOT] = k->inputs;
    for (int64_t i = 0; i < g->useds; i++, next_input(k)) add_term(k, k->volatility[i] - 1, 1);
    g->begin[CVA_BY_CORRELATION] = k->inputs;
    const int64_t pair = k->rate + points_of(rates);
    for (int64_t i = 0; i < pairs_of(g->useds); i++, next_input(k))
        add_term(k, pair + i, g->root ? 1 : NAN);
    g->begin[CVA_BY_RECOVERY] = k->inputs;
    for (int64_t i = 0; i < j->parties; i++, next_input(k))
        add_term(k, k->counterparty[i] + k->party[i].pieces, 1);
    g->begin[CVA_BY_HAZARD] = k->inputs;
    for (int64_t i = 0; i < j->parties; i++) add_hazards(k, i);
    g->begin[CVA_INPUTS] = k->inputs;
}

/* Twice: the first round counts. */
static shoal_status make_tables(maker *k) {
    shoal_cva *p = k->p;
    cva_greeks *g = &p->greeks;
    make_parameters(k);
    make_terms(k);
    shoal_status s = shoal_plan_host(&p->head, g->parameters, sizeof *g->parameter, &g->parameter);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, k->inputs + 1, sizeof *g->start, &g->start);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, k->terms, sizeof *g->term, &g->term);
    if (s != SHOAL_OK) return s;
    make_parameters(k);
    make_terms(k);
    return s;
}

/* Shares of exposures without the recovery, and with no default at all. */
static shoal_status make_shares(maker *k) {
    shoal_cva *p = k->p;
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    const int64_t all = j->parties * j->exposures;
    shoal_status s = shoal_plan_host(&p->head, all, sizeof *g->bare, &g->bare);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, all, sizeof *g->alive, &g->alive);
    for (int64_t i = 0; i < all && s == SHOAL_OK; i++) {
        const shoal_cva_counterparty *c = &k->party[i / j->exposures];
        const int64_t date = j->exposed[i % j->exposures];
        const double discount = exp(-cva_rate(j, cva_between(j, 0, date)));
        g->bare[i] = discount * p->chance[i];
        g->alive[i] = (1 - c->recovery) * discount * exp(-shoal_cva_hazard_to(c, j->time[date]));
    }
    return s;
}

/* Moves of log S. A difference over 2 bumps is off by about their square over six times the variance. */
static shoal_status make_bumps(shoal_cva *p) {
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    const cva_span all = cva_between(j, 0, j->exposed[j->exposures - 1]);
    shoal_status s = shoal_plan_host(&p->head, g->useds + 1, sizeof *g->bump, &g->bump);
    for (int64_t i = 0; i < g->useds && s == SHOAL_OK; i++)
        g->bump[i] = BUMP * cva_deviation(j, all, g->used[i]);
    return s;
}

shoal_status shoal_cva_make_greeks(shoal_cva *p, const shoal_cva_market *m,
                                   const shoal_cva_counterparty *c, int gammas) {
    const cva_job *j = &p->job;
    cva_greeks *g = &p->greeks;
    g->slots = j->integral ? j->moments : 1, g->call = p->call_date;
    maker k = { .p = p, .m = m, .party = c };
    shoal_status s = check(p);
    if (s == SHOAL_OK) s = find_used(p);
    if (s == SHOAL_OK) s = check_volatilities(p);
    if (s == SHOAL_OK) s = make_root(p);
    if (s == SHOAL_OK && j->americans && j->integral && !g->root)
        s = shoal_fail(
            p->head.ctx, SHOAL_E_ARG,
            "correlation of the contracts' assets is singular; with curves there are then no sensitivities "
            "of contracts with early exercise");
    if (s == SHOAL_OK) s = make_shares(&k);
    if (s == SHOAL_OK && gammas) s = make_bumps(p);
    int64_t *first = malloc((size_t)(2 * g->useds + j->parties + 1) * sizeof *first);
    k.volatility = first, k.dividend = first + g->useds, k.counterparty = first + 2 * g->useds;
    if (s == SHOAL_OK && !first) s = SHOAL_NO_MEMORY(p->head.ctx, "sensitivities");
    if (s == SHOAL_OK) s = make_tables(&k);
    free(first);
    return s;
}

/* ---- results ----------------------------------------------------------------------------------- */

int64_t shoal_cva_parameters(const shoal_cva *plan) { return plan ? plan->greeks.parameters : 0; }

shoal_status shoal_cva_sensitivities(const shoal_cva *plan, const double *samples, int64_t paths,
                                     shoal_cva_sensitivity *list) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const cva_greeks *g = &plan->greeks;
    const int64_t width = shoal_cva_width(plan), at = shoal_cva_greeks_at(plan);
    const shoal_array given[] = { { "samples", samples, 0 }, { "list", list, 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "paths", paths, 1, SHOAL_CVA_OUTER);
    if (s == SHOAL_OK && g->parameters == 0)
        s = shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.greeks");
    for (int64_t i = 0; i < g->parameters && s == SHOAL_OK; i++) {
        list[i] = g->parameter[i];
        list[i].value = shoal_cva_mean(samples + at + i, NULL, width, paths, &list[i].error);
    }
    return s;
}
