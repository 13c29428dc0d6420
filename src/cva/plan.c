/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - plans for CVA: the public function, its argument checks, the choice between closed forms
 * and inner paths, the chances of default.
 */
#include "cva/results.h"
#include "smallsym/plan.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(cva_method, cva_outer)
SHOAL_DECLARE_CUDA(cva_method, cva_outer)
SHOAL_DECLARE_CPU(cva_judge, cva_judge)
SHOAL_DECLARE_CPU(cva_reverse, cva_reverse)
SHOAL_DECLARE_CPU(cva_walker, cva_walker)
SHOAL_DECLARE_CUDA(cva_walker, cva_walker)
static const cva_method *const cells[1][SHOAL_LEVEL_COUNT] = SHOAL_CPU_DOUBLE_CELLS(cva_outer);
static const cva_method *const device_cells[1] = SHOAL_CUDA_DOUBLE_CELLS(cva_outer);
static const cva_judge *const judges[1][SHOAL_LEVEL_COUNT] = SHOAL_CPU_DOUBLE_CELLS(cva_judge);
static const cva_reverse *const reverses[1][SHOAL_LEVEL_COUNT] =
    SHOAL_CPU_DOUBLE_CELLS(cva_reverse);
static const cva_walker *const walkers[SHOAL_TYPES][SHOAL_LEVEL_COUNT] =
    SHOAL_CPU_CELLS(cva_walker);
static const cva_walker *const device_walkers[SHOAL_TYPES] = SHOAL_CUDA_CELLS(cva_walker);

#define MAX_GROWTH 60 /* (|rate| + |dividend| + sigma^2) T at most */

enum { MAX_CONTRACTS = 1 << 20, MAX_PIECES = 1 << 20 };
#define MAX_RULE_PATHS (1LL << 31)

/* ---- checks ----------------------------------------------------------------------------------- */

static shoal_status check_market(shoal_context *ctx, const shoal_cva_market *m) {
    const shoal_array given[] = { { "s0", m->s0, 0 }, { "sigma", m->sigma, 0 } };
    shoal_status s = shoal_check_count(ctx, "assets", m->assets, 1, SHOAL_CVA_ASSETS);
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "rate", -1, m->rate, -1e3, 1e3);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    for (int64_t a = 0; a < m->assets && s == SHOAL_OK; a++) {
        s = shoal_check_number(ctx, "s0", a, m->s0[a], 1e-30, 1e30);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "sigma", a, m->sigma[a], 0, 1e3);
        if (s == SHOAL_OK && m->dividend)
            s = shoal_check_number(ctx, "dividend", a, m->dividend[a], -1e3, 1e3);
    }
    if (s == SHOAL_OK) s = shoal_cva_check_curves(ctx, m);
    if (s == SHOAL_OK) s = shoal_cva_check_cash(ctx, m);
    return s == SHOAL_OK ? shoal_cva_check_escrow(ctx, m) : s;
}

static shoal_status check_counterparty(shoal_context *ctx, const shoal_cva_counterparty *c,
                                       int64_t assets) {
    const shoal_array given[] = { { "hazard", c->hazard, 0 },
                                  { "until", c->until, c->pieces == 1 } };
    shoal_status s = shoal_check_count(ctx, "pieces", c->pieces, 1, MAX_PIECES);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    for (int64_t i = 0; i < c->pieces && s == SHOAL_OK; i++) {
        s = shoal_check_number(ctx, "hazard", i, c->hazard[i], 0, 1e6);
        if (s == SHOAL_OK && c->until && !(c->until[i] > (i ? c->until[i - 1] : 0)))
            s = shoal_fail(ctx, SHOAL_E_ARG, "until[%lld] is %g; it must be above %g", (long long)i,
                           c->until[i], i ? c->until[i - 1] : 0);
    }
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "recovery", -1, c->recovery, 0, 1);
    if (s == SHOAL_OK && c->collateral && !(c->threshold >= 0))
        s = shoal_fail(ctx, SHOAL_E_ARG, "threshold is %g; it must be at least 0", c->threshold);
    return s == SHOAL_OK ? shoal_cva_check_hazard(ctx, c, assets) : s;
}

static shoal_status check_counterparties(shoal_context *ctx, const shoal_cva_counterparty *c,
                                         const shoal_cva_opts *o, int64_t assets) {
    shoal_status s = shoal_check_count(ctx, "parties", o->parties, 0, MAX_CONTRACTS);
    for (int64_t i = 0; i < o->parties && o->parties > 1 && s == SHOAL_OK; i++)
        s = shoal_fail_at(ctx, check_counterparty(ctx, &c[i], assets), "counterparty", i, "");
    if (s == SHOAL_OK && o->parties <= 1) s = check_counterparty(ctx, c, assets);
    if (s == SHOAL_OK && o->own)
        s = shoal_fail_at(ctx, check_counterparty(ctx, o->own, assets), "own", -1, "");
    if (s == SHOAL_OK) s = shoal_cva_check_csas(ctx, o);
    if (s == SHOAL_OK)
        s = shoal_fail_at(ctx, shoal_check_curve(ctx, &o->borrowing, 0), "borrowing", -1, "");
    if (s == SHOAL_OK)
        s = shoal_fail_at(ctx, shoal_check_curve(ctx, &o->lending, 0), "lending", -1, "");
    return s;
}

/* Ascending, above 0 and up to `most`. */
static shoal_status check_times(shoal_context *ctx, const char *name, const double *time,
                                int64_t count, double most) {
    for (int64_t i = 0; i < count; i++) {
        const double before = i ? time[i - 1] : 0;
        if (!(time[i] > before) || !(time[i] <= most))
            return shoal_fail(ctx, SHOAL_E_ARG, "%s[%lld] is %g; it must be above %g, up to %g",
                              name, (long long)i, time[i], before, most);
    }
    return SHOAL_OK;
}

static shoal_status check_opts(shoal_context *ctx, const shoal_cva_opts *o) {
    const shoal_count counts[] = { { "dates", o->dates, 1, SHOAL_CVA_DATES },
                                   { "outer", o->outer, o->target > 0 ? 0 : 1, SHOAL_CVA_OUTER },
                                   { "degree", o->degree, 0, SHOAL_AMERICAN_BASIS },
                                   { "rule_paths", o->rule_paths, 0, MAX_RULE_PATHS },
                                   { "estimator", (int64_t)o->estimator, SHOAL_CVA_BY_RULE,
                                     SHOAL_CVA_BY_INNER } };
    const shoal_flag flags[] = { SHOAL_TYPE_FLAG(o),
                                 SHOAL_FLAG("validate", o->validate),
                                 SHOAL_FLAG("by_set", o->by_set),
                                 SHOAL_FLAG("by_trade", o->by_trade),
                                 SHOAL_FLAG("rules_only", o->rules_only),
                                 SHOAL_FLAG("greeks", o->greeks),
                                 SHOAL_FLAG("gammas", o->gammas) };
    const shoal_array given[] = { { "inner", o->inner, o->inner_count == 0 } };
    shoal_status s = shoal_check_counts(ctx, counts, 5);
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "horizon", -1, o->horizon, 0, 1e6);
    if (s == SHOAL_OK) s = shoal_check_number(ctx, "target", -1, o->target, 0, DBL_MAX);
    if (s == SHOAL_OK && o->time) s = check_times(ctx, "time", o->time, o->dates, 1e6);
    if (s == SHOAL_OK && o->inner_count != 0 && o->inner_count != 1 && o->inner_count != o->dates)
        s = shoal_fail(ctx, SHOAL_E_ARG, "inner_count is %lld; it must be 0, 1 or dates, %lld",
                       (long long)o->inner_count, (long long)o->dates);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    for (int64_t i = 0; i < o->inner_count && s == SHOAL_OK; i++)
        s = shoal_check_count(ctx, "inner", o->inner[i], 1, SHOAL_CVA_INNER);
    if (s == SHOAL_OK) s = shoal_check_flags(ctx, flags, 7);
    if (s == SHOAL_OK && o->validate && o->kept)
        s = shoal_fail(ctx, SHOAL_E_ARG,
                       "validate is 1; it must be 0 with kept, whose values are no martingales");
    if (s != SHOAL_OK || shoal_is_auto(o->solver)) return s;
    return shoal_find_method(&shoal_smallsym_module, o->solver)
               ? SHOAL_OK
               : shoal_fail(ctx, SHOAL_E_METHOD, "solver is '%.40s'; smallsym has no such method",
                            o->solver);
}

static shoal_status check_contract(shoal_context *ctx, const shoal_cva_contract *c,
                                   const shoal_cva_market *m) {
    const int flags = shoal_cva_payoff_flags(c->payoff);
    const int64_t most = flags & SHOAL_CVA_ONE_ASSET ? 1 : m->assets;
    const int mean = (flags & SHOAL_CVA_FIXINGS) != 0;
    const shoal_count counts[] = { { "assets", c->assets, 1, most },
                                   { "set", c->set, 0, MAX_CONTRACTS - 1 },
                                   { "exercises", c->exercises, 0,
                                     c->american ? SHOAL_CVA_DATES : 0 },
                                   { "fixings", c->fixings, 0, mean ? SHOAL_CVA_DATES : 0 } };
    const int barrier = (flags & SHOAL_CVA_BARRIER) != 0;
    const shoal_bound bounds[] = {
        { "strike", c->strike, c->american || barrier ? DBL_MIN : 0, 1e30 },
        { "barrier", c->barrier, barrier ? DBL_MIN : 0, barrier ? 1e30 : 0 },
        { "maturity", c->maturity, -1e6, 1e6 },
        { "quantity", c->quantity, -1e30, 1e30 }
    };
    const shoal_array given[] = { { "asset", c->asset, 0 },
                                  { "exercise", c->exercise, c->exercises == 0 },
                                  { "fixing", c->fixing, c->fixings == 0 } };
    if (!shoal_cva_payoffs((int)c->payoff))
        return shoal_fail(ctx, SHOAL_E_ARG, "payoff is %d; there is no such payoff",
                          (int)c->payoff);
    shoal_status s = shoal_check_counts(ctx, counts, 4);
    if (s == SHOAL_OK) s = shoal_check_bounds(ctx, bounds, 4);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 3);
    if (s == SHOAL_OK && c->maturity > 0)
        s = check_times(ctx, "exercise", c->exercise, c->exercises, c->maturity);
    if (s == SHOAL_OK && c->maturity > 0)
        s = check_times(ctx, "fixing", c->fixing, c->fixings, c->maturity);
    if (s == SHOAL_OK && c->american && !(flags & SHOAL_CVA_EARLY))
        s = shoal_fail(ctx, SHOAL_E_ARG, "american is 1; %s has no early exercise",
                       shoal_cva_payoffs((int)c->payoff));
    if (s == SHOAL_OK && c->weight && !(flags & SHOAL_CVA_WEIGHTS))
        s = shoal_fail(ctx, SHOAL_E_ARG, "weight is given; %s has no weights",
                       shoal_cva_payoffs((int)c->payoff));
    for (int64_t i = 0; s == SHOAL_OK && i < c->assets; i++) {
        const int64_t a = c->asset[i];
        if (a < 0 || a >= m->assets)
            return shoal_fail(ctx, SHOAL_E_ARG, "asset[%lld] is %lld; the market has %lld",
                              (long long)i, (long long)a, (long long)m->assets);
        if (c->weight) s = shoal_check_number(ctx, "weight", i, c->weight[i], -1e30, 1e30);
        for (int64_t j = 0; j < i && s == SHOAL_OK; j++)
            if (c->asset[j] == a)
                s = shoal_fail(ctx, SHOAL_E_ARG, "asset[%lld] is %lld, as asset[%lld] is",
                               (long long)i, (long long)a, (long long)j);
    }
    if (s == SHOAL_OK && barrier && shoal_cva_pays_cash(m, c->asset, c->assets))
        s = shoal_fail(ctx, SHOAL_E_ARG, "%s takes no asset with cash dividends",
                       shoal_cva_payoffs((int)c->payoff));
    if (s == SHOAL_OK && barrier && !shoal_cva_is_steady(m, c->asset[0], c->maturity))
        s = shoal_fail(ctx, SHOAL_E_ARG,
                       "the curves of asset %lld: with a barrier, (rate - dividend) / sigma^2 must "
                       "be constant up to maturity",
                       (long long)c->asset[0]);
    return s == SHOAL_OK ? shoal_cva_check_heston_contract(ctx, m, c) : s;
}

/* ---- plans ------------------------------------------------------------------------------------ */

static shoal_status make_market(shoal_cva *p, const shoal_cva_market *m) {
    cva_job *j = &p->job;
    double *numbers;
    shoal_status s = shoal_cva_make_variances(p, m);
    const int64_t prices = m->assets, d = prices + j->hestons;
    if (s == SHOAL_OK)
        s = shoal_plan_host(&p->head, 3 * d + d * (d + 1) / 2 + d * d, sizeof *numbers, &numbers);
    if (s != SHOAL_OK) return s;
    j->assets = (int)d, j->prices = (int)prices, j->rate = m->rate;
    j->s0 = numbers, j->sigma = numbers + d, j->dividend = numbers + 2 * d;
    j->load = numbers + 3 * d;
    for (int64_t a = 0; a < prices; a++) {
        numbers[a] = m->s0[a] - shoal_cva_escrow(m, a, 0);
        if (!shoal_cva_is_heston(m, a)) numbers[d + a] = m->sigma[a];
        if (m->dividend) numbers[2 * d + a] = m->dividend[a];
    }
    for (int i = 0; i < j->hestons; i++) numbers[prices + i] = m->heston[j->heston[i].price].v0;
    double *correlation = numbers + 3 * d + d * (d + 1) / 2;
    for (int64_t i = 0; i < d * d; i++) {
        const int64_t row = i / d, column = i % d;
        const cva_heston *h = row < prices ? NULL : &j->heston[row - prices];
        const cva_heston *g = column < prices ? NULL : &j->heston[column - prices];
        const int64_t a = h ? h->price : row, b = g ? g->price : column;
        const double of_prices = m->correlation ? m->correlation[a * prices + b] : a == b;
        correlation[i] = row == column ? 1 : (h ? h->rho : 1) * (g ? g->rho : 1) * of_prices;
    }
    j->correlation = correlation;
    if (j->hestons && m->correlation) /* a message about correlations is about the market's */
        s = shoal_correlation_factor(p->head.ctx, m->correlation, prices, numbers + 3 * d);
    if (s != SHOAL_OK) return s;
    return shoal_correlation_factor(p->head.ctx, j->hestons ? correlation : m->correlation, d,
                                    numbers + 3 * d);
}

/* Variances of a contract's assets, as assets of weight 0: their number. */
static int64_t add_variances(const cva_job *j, const shoal_cva_contract *c, int64_t *asset) {
    int64_t count = 0;
    for (int64_t n = 0; n < c->assets && c->american; n++)
        for (int i = 0; i < j->hestons; i++)
            if (j->heston[i].price == c->asset[n]) {
                if (asset) asset[count] = j->heston[i].variance;
                count++;
            }
    return count;
}

static int has_closed_form(const shoal_cva_contract *c) {
    if (shoal_cva_form(c->payoff) & CVA_ANY_SIGN) return 1;
    return c->assets == 1 && (!c->weight || c->weight[0] > 0);
}

static int kind_of(const shoal_cva_contract *c, int nested) {
    if (!(c->maturity > 0)) return CVA_EXPIRED;
    if (c->american) return CVA_AMERICAN;
    if (shoal_cva_form(c->payoff) & (CVA_BARRIER | CVA_MEAN))
        return CVA_CLOSED; /* not inner paths */
    return has_closed_form(c) && !nested ? CVA_CLOSED : CVA_NESTED;
}

static shoal_status make_contracts(shoal_cva *p, const shoal_cva_contract *from, int64_t count,
                                   const shoal_cva_market *m, const shoal_cva_opts *o) {
    cva_job *j = &p->job;
    cva_contract *contracts;
    int64_t *asset, all = 0;
    double *weight;
    shoal_status s = SHOAL_OK;
    for (int64_t i = 0; i < count; i++) {
        s = shoal_fail_at(p->head.ctx, check_contract(p->head.ctx, &from[i], m), "contracts", i,
                          "");
        if (s != SHOAL_OK) return s;
        all += from[i].assets + add_variances(j, &from[i], NULL);
    }
    s = shoal_plan_host(&p->head, count, sizeof *contracts, &contracts);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, all, sizeof *asset, &asset);
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, all, sizeof *weight, &weight);
    if (s != SHOAL_OK) return s;
    for (int64_t i = 0; i < count; i++) {
        const shoal_cva_contract *c = &from[i];
        contracts[i] = (cva_contract){ .kind = kind_of(c, o->nested),
                                       .form = shoal_cva_form(c->payoff),
                                       .assets = (int)c->assets,
                                       .set = c->set,
                                       .strike = c->strike,
                                       .barrier = c->barrier,
                                       .maturity = c->maturity,
                                       .quantity = c->quantity,
                                       .asset = asset,
                                       .weight = weight };
        for (int64_t a = 0; a < c->assets; a++) {
            *asset++ = c->asset[a];
            *weight++ = c->weight ? c->weight[a] : 1 / (double)c->assets;
        }
        const int64_t variances = add_variances(j, c, asset);
        for (int64_t a = 0; a < variances; a++) *weight++ = 0;
        asset += variances, contracts[i].assets += (int)variances;
        if (variances) contracts[i].form |= CVA_OF_SUM;
        if (contracts[i].form & CVA_BARRIER && contracts[i].kind != CVA_EXPIRED)
            *(contracts[i].form & CVA_ABOVE ? &j->highs : &j->lows) |= 1ULL << c->asset[0];
        if (contracts[i].kind >= CVA_NESTED) contracts[i].place = j->places++;
        j->kinds[contracts[i].kind]++;
        if (c->set >= j->sets) j->sets = c->set + 1;
    }
    j->contract = p->contracts = contracts, j->contracts = count;
    return SHOAL_OK;
}

/* Beyond this e^x of paths and closed forms leaves the range of double. */
static shoal_status check_growth(shoal_cva *p) {
    const cva_job *j = &p->job;
    double last = j->horizon;
    for (int64_t i = 0; i < j->contracts; i++)
        if (j->contract[i].maturity > last) last = j->contract[i].maturity;
    for (int64_t k = 1; k < j->moments && j->integral; k++)
        for (int a = 0; a < j->assets; a++) {
            const cva_span all = cva_between(j, 0, k);
            const double rate = fabs(cva_rate(j, all)), growth = fabs(cva_growth(j, all, a));
            if (rate + growth + cva_of_asset(j, all, a, CVA_VARIANCE) > MAX_GROWTH)
                return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                                  "the curves of asset %d are too large for %g years", a,
                                  all.years);
        }
    for (int a = 0; a < j->assets && !j->integral; a++)
        if ((fabs(j->rate) + fabs(j->dividend[a]) + j->sigma[a] * j->sigma[a]) * last > MAX_GROWTH)
            return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                              "rate %g, dividend[%d] %g or sigma[%d] %g is too large for %g years",
                              j->rate, a, j->dividend[a], a, j->sigma[a], last);
    return SHOAL_OK;
}

/* [exposure]: the chances of default since the last date, and of none before it; shares of an exposure that is lost. */
static void fill_chances(const cva_job *j, const shoal_cva_counterparty *c, double *chance,
                         double *share) {
    double before = 0;
    for (int64_t date = 0; date < j->exposures; date++) {
        const int64_t k = j->exposed[date];
        const double here = shoal_cva_hazard_to(c, cva_time(j, k));
        const double default_here = exp(-before) * -expm1(before - here) + 0.0; /* not -0 */
        if (chance) chance[date] = default_here;
        share[date] = (1 - c->recovery) * exp(-cva_rate(j, cva_between(j, 0, k))) * default_here;
        before = here;
    }
}

/* Shares of an exposure that funding takes, or brings, while both are there at the last date. */
static void fill_funding(const cva_job *j, const shoal_cva_counterparty *c,
                         const shoal_cva_counterparty *own, const shoal_cva_curve *spread,
                         double *share) {
    double before = 0, last = 0;
    for (int64_t date = 0; date < j->exposures; date++) {
        const int64_t k = j->exposed[date];
        const double here = shoal_curve_integral(spread, 0, 0, cva_time(j, k));
        const double both =
            shoal_cva_hazard_to(c, last) + (own ? shoal_cva_hazard_to(own, last) : 0);
        share[date] = exp(-both - cva_rate(j, cva_between(j, 0, k))) * (here - before);
        before = here, last = cva_time(j, k);
    }
}

static shoal_status make_chances(shoal_cva *p, const shoal_cva_counterparty *c,
                                 const shoal_cva_opts *o) {
    const cva_job *j = &p->job;
    const int64_t dates = j->exposures, all = j->parties * dates;
    double **const lists[] = { &p->share, &p->chance, &p->borrowing, &p->lending, &p->own };
    double *integrated;
    shoal_status s = shoal_plan_host(&p->head, dates, sizeof *integrated, &integrated);
    for (int i = 0; i < 5 && s == SHOAL_OK; i++)
        s = shoal_plan_host(&p->head, i < 4 ? all : dates, sizeof **lists[i], lists[i]);
    for (int64_t i = 0; i < j->parties && s == SHOAL_OK; i++) {
        fill_chances(j, &c[i], p->chance + i * dates, p->share + i * dates);
        fill_funding(j, &c[i], o->own, &o->borrowing, p->borrowing + i * dates);
        fill_funding(j, &c[i], o->own, &o->lending, p->lending + i * dates);
    }
    if (s == SHOAL_OK && o->own) fill_chances(j, o->own, NULL, p->own);
    p->job.share = p->share, p->job.chance = p->chance, p->integrated = integrated;
    for (int64_t date = 0; date < dates && s == SHOAL_OK; date++)
        integrated[date] = shoal_cva_hazard_to(&c[0], cva_time(j, j->exposed[date]));
    return s;
}

/* Counterparties, and the one of each set. */
static shoal_status make_parties(shoal_cva *p, const shoal_cva_counterparty *c,
                                 const shoal_cva_opts *o) {
    cva_job *j = &p->job;
    int64_t *of;
    j->parties = o->parties > 1 ? o->parties : 1;
    for (int64_t i = 0; i < j->parties; i++)
        j->wrong_way |= c[i].volatility > 0 || shoal_cva_jumps(&c[i], j->prices);
    shoal_status s = shoal_plan_host(&p->head, j->sets, sizeof *of, &of);
    for (int64_t i = 0; i < j->sets && s == SHOAL_OK; i++) {
        of[i] = o->party ? o->party[i] : 0;
        s = shoal_check_count(p->head.ctx, "party", of[i], 0, j->parties - 1);
    }
    j->party_of = of;
    p->validates = o->validate, p->by_trade = o->by_trade;
    p->by_set = o->by_set || o->by_trade || j->parties > 1;
    if (p->by_set) j->list_by_set = shoal_cva_lists(p);
    return s;
}

/* The power of 2 that a contract of its usual size has CVA_SIZE_UNIT of. */
static void make_units(shoal_cva *p) {
    for (int64_t i = 0; i < p->job.contracts; i++) {
        cva_contract *c = &p->contracts[i];
        const double size = fabs(c->quantity) * cva_size(&p->job, c);
        c->unit = CVA_SIZE_UNIT / (size > 0 ? exp2(ceil(log2(size))) : 1);
    }
}

/* Host arrays one after the other, as they will lie at `base`: a first round without `host` measures them. */
typedef struct pack {
    char *host;
    uintptr_t base;
    size_t used;
} pack;

enum { ALIGNED = 16 };

static const void *add(pack *k, const void *from, int64_t count, size_t size) {
    const size_t at = k->used, bytes = (size_t)count * size;
    k->used += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    if (k->host && bytes) memcpy(k->host + at, from, bytes);
    return (const void *)(k->base + at);
}

static const float *add_single(pack *k, const double *from, int64_t count) {
    const void *at = add(k, NULL, 0, sizeof(float));
    float *to = k->host ? (float *)(void *)(k->host + k->used) : NULL;
    for (int64_t i = 0; i < count && to; i++) to[i] = (float)from[i];
    k->used += ((size_t)count * sizeof(float) + ALIGNED - 1) / ALIGNED * ALIGNED;
    return at;
}

static void add_contract(pack *k, const cva_contract *from, cva_contract *to) {
    *to = *from;
    to->asset = add(k, from->asset, from->assets, sizeof *to->asset);
    to->weight = add(k, from->weight, from->assets, sizeof *to->weight);
    if (from->mean) {
        to->fixes = add(k, from->fixes, from->last, 1);
        to->mean = add(k, from->mean, (from->last + 1) * cva_mean_numbers(from->fixings),
                       sizeof *to->mean);
    }
    const int64_t rows = from->kind == CVA_AMERICAN ? from->last + 1 : 1;
    if (from->cash) to->cash = add(k, from->cash, rows * from->assets, sizeof *to->cash);
    if (from->kind != CVA_AMERICAN) return;
    to->may = add(k, from->may, from->last, 1);
    if (from->strikes) to->strikes = add(k, from->strikes, from->last + 1, sizeof *to->strikes);
    to->single_weight = add_single(k, from->weight, from->assets);
    for (int rule = 0; rule < CVA_RULES; rule++) {
        const cva_rule *r = &from->rule[rule];
        const int64_t numbers = (from->last - 1) * cva_rule_numbers(&r->basis);
        const int same = rule && r->at == from->rule[0].at;
        to->rule[rule].at = same ? to->rule[0].at : add(k, r->at, numbers, sizeof *r->at);
        if (rule == 0) to->rule[rule].single = add_single(k, r->at, numbers);
    }
}

/* What stages read of a job. */
static void add_job(pack *k, const cva_job *from, cva_contract *contracts, cva_surface *surfaces,
                    cva_job *to) {
    const int64_t d = from->assets;
    *to = *from;
    for (int64_t i = 0; i < from->contracts; i++)
        add_contract(k, &from->contract[i], &contracts[i]);
    to->contract = add(k, contracts, from->contracts, sizeof *contracts);
    to->s0 = add(k, from->s0, d, sizeof(double));
    to->sigma = add(k, from->sigma, d, sizeof(double));
    to->dividend = add(k, from->dividend, d, sizeof(double));
    to->load = add(k, from->load, d * (d + 1) / 2, sizeof(double));
    to->heston = add(k, from->heston, from->hestons, sizeof *to->heston);
    to->qe = add(k, from->qe, from->dates * from->hestons, sizeof *to->qe);
    for (int i = 0; i < from->surfaces; i++) {
        surfaces[i] = from->surface[i];
        surfaces[i].at = add(k, from->surface[i].at, from->surface[i].numbers, sizeof(double));
    }
    to->surface = add(k, surfaces, from->surfaces, sizeof *surfaces);
    const int64_t integrals = from->integral ? from->moments * cva_integrals(d) : 0;
    to->time = add(k, from->time, from->moments, sizeof(double));
    if (integrals) to->integral = add(k, from->integral, integrals, sizeof(double));
    if (from->knots) to->knot = add(k, from->knot, from->knots, sizeof *to->knot);
    to->stop = add(k, from->stop, from->stops, sizeof *to->stop);
    to->averaged = add(k, from->averaged, from->sums_fixed, sizeof *to->averaged);
    to->sign = add(k, from->sign, from->sets, sizeof *to->sign);
    if (from->csa) to->csa = add(k, from->csa, from->sets, sizeof *to->csa);
    if (from->jump) to->jump = add(k, from->jump, d, sizeof(double));
    const int64_t parties = from->parties, shares = parties * from->exposures;
    if (from->hazard) {
        to->hazard = add(k, from->hazard, parties * from->dates, sizeof *to->hazard);
        to->hazard_load = add(k, from->hazard_load, parties * d, sizeof(double));
    }
    to->party_of = add(k, from->party_of, from->sets, sizeof *to->party_of);
    to->share = add(k, from->share, shares, sizeof *to->share);
    to->chance = add(k, from->chance, shares, sizeof *to->chance);
    to->european = add(k, from->european, from->europeans, sizeof *to->european);
    to->american = add(k, from->american, from->americans, sizeof *to->american);
    to->followed = add(k, from->followed, from->follows, sizeof *to->followed);
    to->nested = add(k, from->nested, from->nesteds, sizeof *to->nested);
}

/* The job in the device's memory. */
static shoal_status make_device(shoal_cva *p) {
    const int64_t count = p->job.contracts;
    cva_contract *contracts = malloc((size_t)(count + 1) * sizeof *contracts);
    cva_surface *surfaces = malloc((size_t)(p->job.surfaces + 1) * sizeof *surfaces);
    pack k = { 0 };
    void *memory = NULL;
    shoal_status s = contracts && surfaces ? SHOAL_OK : SHOAL_NO_MEMORY(p->head.ctx, "contracts");
    if (s == SHOAL_OK) add_job(&k, &p->job, contracts, surfaces, &p->device);
    const size_t bytes = k.used;
    if (s == SHOAL_OK) s = shoal_plan_alloc(&p->head, bytes, &memory);
    k = (pack){ .host = malloc(bytes + 1), .base = (uintptr_t)memory };
    if (s == SHOAL_OK && !k.host) s = SHOAL_NO_MEMORY(p->head.ctx, "contracts");
    if (s == SHOAL_OK) {
        add_job(&k, &p->job, contracts, surfaces, &p->device);
        s = shoal_copy(p->head.ctx, memory, k.host, bytes);
    }
    free(k.host), free(contracts), free(surfaces);
    return s;
}

static int is_european(const cva_job *job, const cva_contract *c) {
    (void)job;
    return c->kind == CVA_CLOSED || c->kind == CVA_NESTED;
}

static int is_american(const cva_job *job, const cva_contract *c) {
    (void)job;
    return c->kind == CVA_AMERICAN;
}

static int is_followed(const cva_job *job, const cva_contract *c) {
    (void)job;
    return cva_is_followed(c);
}

static int is_any(const cva_job *job, const cva_contract *c) {
    return is_european(job, c) || is_american(job, c);
}

/* The contracts that belong to a list, by netting set, and in a set in their order. */
static shoal_status list_by_set(shoal_cva *p, int (*belongs)(const cva_job *, const cva_contract *),
                                const int64_t **list, int64_t *count) {
    const cva_job *j = &p->job;
    int64_t *to, *at = calloc((size_t)j->sets + 1, sizeof *at);
    if (!at) return SHOAL_NO_MEMORY(p->head.ctx, "contracts");
    const shoal_status s = shoal_plan_host(&p->head, j->contracts, sizeof *to, &to);
    *count = 0, *list = to;
    for (int64_t i = 0; i < j->contracts; i++)
        if (belongs(j, &j->contract[i])) at[j->contract[i].set + 1]++, ++*count;
    for (int64_t set = 0; set < j->sets; set++) at[set + 1] += at[set];
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++)
        if (belongs(j, &j->contract[i])) to[at[j->contract[i].set]++] = i;
    free(at);
    return s;
}

static shoal_status make_lists(shoal_cva *p) {
    cva_job *j = &p->job;
    shoal_status s = list_by_set(p, is_european, &j->european, &j->europeans);
    if (s == SHOAL_OK) s = list_by_set(p, is_american, &j->american, &j->americans);
    if (s == SHOAL_OK) s = list_by_set(p, cva_is_walked, &j->nested, &j->nesteds);
    if (s == SHOAL_OK) s = list_by_set(p, is_followed, &j->followed, &j->follows);
    if (s == SHOAL_OK) s = list_by_set(p, is_any, &p->greeks.contract, &p->greeks.contracts);
    return s;
}

/* Which sets are never worth less than 0, or never more. */
static shoal_status make_signs(shoal_cva *p) {
    cva_job *j = &p->job;
    int *sign;
    const shoal_status s = shoal_plan_host(&p->head, j->sets, sizeof *sign, &sign);
    j->sign = sign;
    if (s != SHOAL_OK) return s;
    for (int64_t set = 0; set < j->sets; set++) {
        int above = 0, below = 0; /* whether some contract may be */
        for (int64_t i = 0; i < j->contracts; i++) {
            const cva_contract *c = &j->contract[i];
            if (c->set != set || c->kind == CVA_EXPIRED) continue;
            above |= c->quantity > 0 || (c->form & CVA_ANY_SIGN && c->quantity != 0);
            below |= c->quantity < 0 || (c->form & CVA_ANY_SIGN && c->quantity != 0);
        }
        sign[set] = above && below ? 0 : below ? -1 : 1;
    }
    return SHOAL_OK;
}

/* Whether exposures have kinks that inner paths see. */
static int has_kinks(const shoal_cva *p) {
    for (int64_t i = 0; i < p->job.contracts; i++) {
        const cva_contract *c = &p->job.contract[i];
        if (cva_is_walked(&p->job, c) && cva_has_kink(&p->job, c->set)) return 1;
    }
    return 0;
}

/* Whether regressions at nodes have few enough functions. */
static shoal_status check_regressions(shoal_cva *p, int64_t i, const shoal_cva_opts *o) {
    const cva_contract *c = &p->contracts[i];
    if (c->kind != CVA_AMERICAN || o->estimator != SHOAL_CVA_BY_INNER) return SHOAL_OK;
    const int64_t functions =
        shoal_american_functions(c->assets, o->degree, cva_american_payoff(c));
    if (functions > SHOAL_AMERICAN_BASIS) /* so are those of more than SHOAL_AMERICAN_ASSETS */
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "contracts[%lld]: assets is %d: with degree %lld that is more than %d "
                          "functions of a regression",
                          (long long)i, c->assets, (long long)o->degree, SHOAL_AMERICAN_BASIS);
    return SHOAL_OK;
}

/* What cannot be seen at margin calls and after a jump. */
static shoal_status check_views(const shoal_cva *p, const shoal_cva_opts *o) {
    const cva_job *j = &p->job;
    const char *what = j->jump ? "a jump at default" : "a margin period";
    if (!j->jump && !j->periods) return SHOAL_OK;
    if (o->estimator == SHOAL_CVA_BY_INNER)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "estimator inner has no %s; the others have",
                          what + 2);
    if (j->jump && (j->lows | j->highs || j->sums_fixed))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "jump is given; contracts %s have no jump at default",
                          j->sums_fixed ? "on a mean" : "with a barrier");
    if (j->jump && j->parties > 1)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "jump is given; several counterparties have no jump at default");
    if (o->by_trade)
        return shoal_fail(p->head.ctx, SHOAL_E_ARG,
                          "by_trade is 1; with %s there are no contributions of trades", what);
    return SHOAL_OK;
}

/* What cash dividends do not go with. */
static shoal_status check_cash_allows(shoal_context *ctx, const shoal_cva_counterparty *c,
                                      const shoal_cva_opts *o, int64_t assets) {
    int jumps = 0;
    for (int64_t i = 0; i < (o->parties > 1 ? o->parties : 1); i++)
        jumps |= shoal_cva_jumps(&c[i], assets);
    const char *what = o->estimator == SHOAL_CVA_BY_INNER ? "estimator inner"
                       : o->greeks || o->gammas           ? "sensitivities"
                       : jumps                            ? "a jump at default"
                                                          : NULL;
    if (!what) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "cash is given; there are no cash dividends with %s", what);
}

static shoal_status fill_plan(shoal_cva *p, const shoal_cva_market *m,
                              const shoal_cva_contract *contracts, int64_t count,
                              const shoal_cva_counterparty *c, const shoal_cva_opts *o) {
    cva_job *j = &p->job;
    const int level = p->head.ctx->level;
    const int on_host = !p->head.ctx->ops || o->estimator == SHOAL_CVA_BY_INNER;
    p->host = *p->head.ctx, p->host.ops = NULL, p->host.stream = NULL;
    p->where = p->head.ctx->ops && on_host ? &p->host : p->head.ctx;
    p->host_cell = cells[0][level], p->host_walker = walkers[o->type][level];
    p->cell = on_host ? p->host_cell : device_cells[0];
    p->walker = on_host ? p->host_walker : device_walkers[o->type];
    p->judge = judges[0][level], p->reverse = reverses[0][level];
    p->estimator = o->estimator, j->control = o->control >= 0;
    j->estimator = (int)o->estimator, j->kept = o->kept != 0, j->seed = o->seed;
    snprintf(p->solver, sizeof p->solver, "%s", o->solver ? o->solver : "auto");
    p->american = (shoal_american_opts){ .degree = o->degree,
                                         .raw = o->raw,
                                         .solver = p->solver,
                                         .cond = o->cond,
                                         .type = o->type,
                                         .seed = o->seed,
                                         .control = o->control };
    j->outer_normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_CVA_OUTER);
    j->inner_normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_CVA_INNER);
    j->hazard_normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_CVA_HAZARD);
    j->extreme_normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_CVA_EXTREME);
    shoal_status s = shoal_plan_new(p->where, sizeof *p->room, p, &p->room);
    if (s == SHOAL_OK) s = make_market(p, m);
    if (s == SHOAL_OK) s = make_contracts(p, contracts, count, m, o);
    if (s == SHOAL_OK) s = make_parties(p, c, o);
    if (s == SHOAL_OK) s = shoal_cva_make_csas(p, c, o);
    if (s == SHOAL_OK) s = shoal_cva_make_dates(p, m, contracts, o);
    if (s == SHOAL_OK) s = shoal_cva_make_strikes(p, m);
    if (s == SHOAL_OK) s = shoal_cva_make_slots(p);
    if (s == SHOAL_OK) s = shoal_cva_make_curves(p, m);
    if (s == SHOAL_OK) s = check_growth(p);
    if (s == SHOAL_OK) s = shoal_cva_make_steps(p);
    if (s == SHOAL_OK) s = shoal_cva_make_surfaces(p);
    if (s == SHOAL_OK) s = shoal_cva_make_means(p, m);
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) s = check_regressions(p, i, o);
    if (s == SHOAL_OK) s = make_chances(p, c, o);
    if (s == SHOAL_OK) s = shoal_cva_make_hazard(p, c);
    if (s == SHOAL_OK) s = check_views(p, o);
    if (s == SHOAL_OK) make_units(p);
    if (s == SHOAL_OK) s = make_signs(p);
    if (s == SHOAL_OK) s = make_lists(p);
    if (s == SHOAL_OK) s = shoal_cva_make_sums(p, o);
    if (s == SHOAL_OK && (o->greeks || o->gammas)) s = shoal_cva_make_greeks(p, m, c, o->gammas);
    const int prices = p->validates || p->by_set;
    p->rules_only = o->rules_only;
    if (s == SHOAL_OK && o->rules_of)
        s = shoal_cva_copy_rules(p, o->rules_of);
    else if (s == SHOAL_OK && (o->estimator != SHOAL_CVA_BY_INNER || prices))
        s = shoal_cva_fit_rules(p, o->rule_paths);
    if (s != SHOAL_OK || o->rules_only) return s;
    if (o->greeks || o->gammas) s = shoal_cva_make_tangents(p);
    if (prices) s = shoal_cva_make_prices(p);
    if (s == SHOAL_OK && p->where->ops) s = make_device(p);
    const int kinks = s == SHOAL_OK && o->estimator != SHOAL_CVA_BY_INNER && has_kinks(p);
    const int piloted = o->rules_of && !o->rules_of->rules_only;
    if (s == SHOAL_OK && !piloted && (kinks || o->target > 0)) s = shoal_cva_pilot(p, o, kinks);
    return s;
}

static void close_plan(void *plan) {
    shoal_cva *p = plan;
    shoal_plan_free(p->batch);
    shoal_plan_free(p->room);
}

shoal_status shoal_cva_create(shoal_context *ctx, const shoal_cva_market *market,
                              const shoal_cva_contract *contracts, int64_t count,
                              const shoal_cva_counterparty *counterparty,
                              const shoal_cva_opts *opts, shoal_cva **plan) {
    shoal_status s = shoal_plan_new(ctx, sizeof **plan, opts, plan);
    if (s != SHOAL_OK) return s;
    (*plan)->head.close = close_plan;
    const shoal_array given[] = { { "market", market, 0 },
                                  { "counterparty", counterparty, 0 },
                                  { "contracts", contracts, count == 0 } };
    s = shoal_check_count(ctx, "count", count, 0, MAX_CONTRACTS);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 3);
    if (s == SHOAL_OK) s = check_market(ctx, market);
    if (s == SHOAL_OK) s = check_opts(ctx, opts);
    if (s == SHOAL_OK) s = shoal_cva_check_heston(ctx, market, opts);
    if (s == SHOAL_OK) s = check_counterparties(ctx, counterparty, opts, market->assets);
    for (int64_t a = 0; s == SHOAL_OK && market->cash && a < market->assets; a++)
        if (market->cash[a].count > 0)
            s = check_cash_allows(ctx, counterparty, opts, market->assets);
    if (s == SHOAL_OK && opts->estimator == SHOAL_CVA_BY_INNER && shoal_cva_has_curves(market))
        s = shoal_fail(ctx, SHOAL_E_ARG, "estimator inner takes no curves; use rule or amc");
    if (s == SHOAL_OK) s = fill_plan(*plan, market, contracts, count, counterparty, opts);
    return shoal_plan_made(s, plan);
}

void shoal_cva_free(shoal_cva *plan) { shoal_plan_free(plan); }
