/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.c - plans for American options: the public functions, their argument checks, the method
 * table, the basis, Cholesky's factor of the correlation.
 */
#include "american/exact.h"
#include "american/pde.h"
#include "american/plan.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(american_method, american_paths)
SHOAL_DECLARE_CUDA(american_method, american_paths)
SHOAL_DECLARE_CPU(exact_method, american_exact)
SHOAL_DECLARE_CUDA(exact_cuda_method, american_exact)
SHOAL_DECLARE_CPU(pde_method, american_pde)
SHOAL_DECLARE_CUDA(pde_cuda_method, american_pde)

#define CELLS .cpu = SHOAL_CPU_CELLS(american_paths), .cuda = SHOAL_CUDA_CELLS(american_paths)
enum { AMERICAN_LSM, AMERICAN_DUAL, AMERICAN_EXACT, AMERICAN_PDE };

/* dual is priced by the regressions of lsm, and shares its cell. exact and pde have no plan: exact_plan.c, pde_plan.c. */
static const shoal_method methods[] = {
    [AMERICAN_LSM] = { .name = "lsm", CELLS, .flags = SHOAL_CAN_WALK },
    [AMERICAN_DUAL] = { .name = "dual", CELLS, .flags = SHOAL_CAN_WALK | SHOAL_CAN_NEST },
    [AMERICAN_EXACT] = { .name = "exact",
                         .cpu = SHOAL_CPU_DOUBLE_CELLS(american_exact),
                         .cuda = SHOAL_CUDA_DOUBLE_CELLS(american_exact) },
    [AMERICAN_PDE] = { .name = "pde",
                       .cpu = SHOAL_CPU_DOUBLE_CELLS(american_pde),
                       .cuda = SHOAL_CUDA_DOUBLE_CELLS(american_pde) },
};

static const shoal_method automatic = { .name = "auto", .flags = SHOAL_CAN_WALK };

const shoal_module shoal_american_module = { "american", methods, sizeof methods / sizeof *methods,
                                             &automatic };

enum { MAX_OPTIONS = 1 << 20, MAX_DATES = 1 << 20, MAX_INNER = 1 << 24 };
enum { DEGREE = 3, FIT_PATHS = 65536 }; /* by default */
#define MAX_FIT_PATHS   (1LL << 31)
#define ROUNDING_OF_ONE 1e-10 /* of a correlation that has been rounded to be singular */

const char *shoal_american_method(shoal_payoff payoff, int64_t assets, int simulated, int dated) {
    const int is_plain = payoff == SHOAL_PUT || payoff == SHOAL_CALL;
    return methods[!is_plain || assets > 1 || simulated ? AMERICAN_LSM
                   : dated                              ? AMERICAN_PDE
                                                        : AMERICAN_EXACT]
        .name;
}

/* ---- the basis -------------------------------------------------------------------------------- */

/* Monomials of degree <= `degree` of so many variables, (assets + degree over degree); past the
 * most there can be, more than that. */
static int64_t monomials(int64_t assets, int64_t degree) {
    int64_t count = 1;
    for (int64_t i = 1; i <= degree && count <= SHOAL_AMERICAN_BASIS; i++)
        count = count * (assets + i) / i;
    return count;
}

int64_t shoal_american_functions(int64_t assets, int64_t degree, shoal_payoff payoff) {
    const int own = payoff == SHOAL_MAX_CALL;
    int64_t best = DEGREE;
    while (best > 1 && monomials(assets, best) + own > SHOAL_AMERICAN_BASIS) best--;
    return monomials(assets, degree ? degree : best) + own;
}

/* By degree, those of a degree in lexical order: the products of each monomial of the degree before
 * with the assets that are not before its own last one. */
static american_basis basis_of(int64_t assets, int64_t functions, int own) {
    american_basis b = { .assets = (int)assets, .monomials = (int)functions - own };
    b.functions = (int)functions;
    for (int j = 1; j <= assets; j++) b.asset[j] = (uint8_t)(j - 1);
    int made = 1 + (int)assets;
    for (int from = 1; made < b.monomials; from++)
        for (int a = b.asset[from]; a < assets && made < b.monomials; a++, made++)
            b.from[made] = (uint8_t)from, b.asset[made] = (uint8_t)a;
    return b;
}

/* ---- checks ----------------------------------------------------------------------------------- */

static shoal_status check_option(shoal_context *ctx, const shoal_american *m, int64_t assets) {
    const shoal_bound bounds[] = { { "strike", m->strike, 0, 1e30 },
                                   { "rate", m->rate, -1e3, 1e3 },
                                   { "maturity", m->maturity, 0, 1e6 } };
    const shoal_array given[] = { { "s0", m->s0, 0 }, { "sigma", m->sigma, 0 } };
    shoal_status s = shoal_check_count(ctx, "payoff", m->payoff, SHOAL_PUT, SHOAL_BASKET_CALL);
    if (s == SHOAL_OK && m->payoff <= SHOAL_CALL && assets != 1)
        s = shoal_fail(ctx, SHOAL_E_ARG, "payoff: a %s is on one asset, not %lld",
                       m->payoff == SHOAL_PUT ? "put" : "call", (long long)assets);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_bounds(ctx, bounds, 3);
    for (int64_t a = 0; a < assets && s == SHOAL_OK; a++) {
        const int64_t at = assets > 1 ? a : -1;
        const double dividend = m->dividend ? m->dividend[a] : 0;
        s = shoal_check_number(ctx, "s0", at, m->s0[a], DBL_MIN, 1e30);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "sigma", at, m->sigma[a], 0, 1e3);
        if (s == SHOAL_OK) s = shoal_check_number(ctx, "dividend", at, dividend, -1e3, 1e3);
        if (s == SHOAL_OK && m->weight)
            s = shoal_check_number(ctx, "weight", at, m->weight[a], -1e30, 1e30);
        if (s == SHOAL_OK &&
            (fabs(m->rate) + fabs(dividend) + m->sigma[a] * m->sigma[a]) * m->maturity > 60)
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "rate %g, dividend %g or sigma %g is too large for maturity %g", m->rate,
                           dividend, m->sigma[a], m->maturity);
    }
    return s;
}

static shoal_status check_opts(shoal_context *ctx, const shoal_american_opts *o, int64_t count) {
    const shoal_count counts[] = { { "count", count, 0, MAX_OPTIONS },
                                   { "assets", o->assets, 1, SHOAL_AMERICAN_ASSETS },
                                   { "dates", o->dates, 1, MAX_DATES },
                                   { "degree", o->degree, 0, SHOAL_AMERICAN_BASIS },
                                   { "fit_paths", o->fit_paths, 0, MAX_FIT_PATHS },
                                   { "inner", o->inner, 0, MAX_INNER },
                                   { "control", o->control, -1, 1 } };
    const shoal_status s = shoal_check_counts(ctx, counts, sizeof counts / sizeof *counts);
    return s == SHOAL_OK ? shoal_check_type(ctx, o->type) : s;
}

/* One basis serves all options: that of a max-call has a function more. */
static shoal_status check_all(shoal_context *ctx, const shoal_american *options, int64_t count,
                              const shoal_american_opts *o) {
    const shoal_array given[] = { { "options", options, count == 0 } };
    shoal_status s = check_opts(ctx, o, count);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 1);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        s = check_option(ctx, &options[i], o->assets);
        if (s == SHOAL_OK &&
            (options[i].payoff == SHOAL_MAX_CALL) != (options[0].payoff == SHOAL_MAX_CALL))
            s = shoal_fail(ctx, SHOAL_E_ARG,
                           "options[%lld]: a plan prices only max-calls or only other payoffs; "
                           "create a second plan for the max-calls",
                           (long long)i);
    }
    if (s == SHOAL_OK && count > 0 &&
        shoal_american_functions(o->assets, o->degree, options[0].payoff) > SHOAL_AMERICAN_BASIS)
        s = shoal_fail(
            ctx, SHOAL_E_ARG, "degree is %lld: with assets %lld%s that is more than %d functions",
            (long long)o->degree, (long long)o->assets,
            options[0].payoff == SHOAL_MAX_CALL ? " and the payoff" : "", SHOAL_AMERICAN_BASIS);
    return s;
}

/* ---- plans ------------------------------------------------------------------------------------ */

/* A pivot that is zero, but for rounding, has a column of zeros: such an asset follows those before it. */
shoal_status shoal_correlation_factor(shoal_context *ctx, const double *c, int64_t d, double *L) {
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double entry = c ? c[i * d + j] : i == j, other = c ? c[j * d + i] : entry;
            if (!(entry >= -1 && entry <= 1) || entry != other || (i == j && entry != 1))
                return shoal_fail(ctx, SHOAL_E_ARG,
                                  "correlation[%lld][%lld] is %g; it must be symmetric, from -1 to "
                                  "1, and 1 on the diagonal",
                                  (long long)i, (long long)j, entry);
            double sum = entry;
            const double *row = L + i * (i + 1) / 2, *above = L + j * (j + 1) / 2;
            for (int64_t k = 0; k < j; k++) sum -= row[k] * above[k];
            if (i == j && sum < -ROUNDING_OF_ONE)
                return shoal_fail(ctx, SHOAL_E_ARG,
                                  "correlation[%lld]: not positive semidefinite: row %lld does not "
                                  "fit to those before it",
                                  (long long)i, (long long)i);
            if (i == j)
                L[i * (i + 1) / 2 + j] = sum > ROUNDING_OF_ONE ? sqrt(sum) : 0;
            else
                L[i * (i + 1) / 2 + j] = above[j] > 0 ? sum / above[j] : 0;
            if (i != j && above[j] == 0 && fabs(sum) > sqrt(ROUNDING_OF_ONE))
                return shoal_fail(ctx, SHOAL_E_ARG,
                                  "correlation[%lld]: not positive semidefinite: row %lld does not "
                                  "fit to those before it: [%lld] is %g",
                                  (long long)i, (long long)i, (long long)j, entry);
        }
    return SHOAL_OK;
}

/* Bachelier's delta is 1/2 + gain / (sd sqrt(2 pi)) about the strike, with sd that of what the
 * payoff is a line of, over the time that is left: here of one date. */
static double slope_of(const american_contract *c, int64_t d, const double *number) {
    const double *vol = number + AMERICAN_VOL * d, *weight = number + AMERICAN_WEIGHT * d;
    const double *L = number + AMERICAN_LISTS * d;
    double variance = 0, all = 0;
    for (int64_t a = 0; a < d; a++) all += weight[a];
    for (int64_t f = 0; f < d; f++) {
        double load = 0;
        for (int64_t a = f; a < d; a++) load += weight[a] * vol[a] * L[a * (a + 1) / 2 + f];
        variance += load * load;
    }
    const double sd = c->strike * sqrt(variance * c->dt) / all;
    return sd > 1e-30 ? 0.3989422804014327 / sd : 1e30;
}

/* Whether the payoff's line is hedged: a spread, some of whose weights are below 0, has no
 * strike that its deviation could be told from. */
static int is_a_line(const shoal_american *m, int64_t d) {
    double all = 0;
    for (int64_t a = 0; m->weight && m->payoff > SHOAL_CALL && a < d; a++) {
        if (m->weight[a] < 0) return 0;
        all += m->weight[a];
    }
    return m->payoff != SHOAL_MAX_CALL && (!m->weight || m->payoff <= SHOAL_CALL || all > 0);
}

static shoal_status fill_contract(shoal_context *ctx, const shoal_american *m,
                                  const shoal_american_opts *o, american_contract *c,
                                  double *number) {
    const int64_t d = o->assets;
    *c = (american_contract){ .payoff = (int)m->payoff,
                              .strike = m->strike,
                              .dt = m->maturity / (double)o->dates };
    c->rate = m->rate, c->discount = exp(-m->rate * c->dt);
    c->hedged = o->control >= 0 && is_a_line(m, d);
    for (int64_t a = 0; a < d; a++) {
        const double dividend = m->dividend ? m->dividend[a] : 0;
        number[AMERICAN_VOL * d + a] = m->sigma[a];
        number[AMERICAN_DRIFT * d + a] = m->rate - dividend - 0.5 * m->sigma[a] * m->sigma[a];
        number[AMERICAN_WEIGHT * d + a] = m->weight ? m->weight[a] : 1 / (double)d;
        number[AMERICAN_CARRY * d + a] =
            exp((m->rate - dividend) * c->dt) *
            (m->payoff <= SHOAL_CALL ? 1 : number[AMERICAN_WEIGHT * d + a]);
    }
    const shoal_status s =
        shoal_correlation_factor(ctx, m->correlation, d, number + AMERICAN_LISTS * d);
    c->slope = slope_of(c, d, number);
    return s;
}

/* The contracts and their prices today: those of `options`, or with `spot` the first's and these. */
static shoal_status make_contracts(american_plan *p, const shoal_american *options,
                                   const shoal_american_opts *o, const double *spot) {
    american_job *j = &p->job;
    const int64_t d = o->assets, count = spot ? 1 : j->problems, numbers = american_numbers((int)d);
    american_contract *contracts = calloc((size_t)count + 1, sizeof *contracts);
    double *number = calloc((size_t)(count * (numbers + d)) + 1, sizeof *number);
    double *prices = number + count * numbers;
    shoal_status s = contracts && number
                         ? SHOAL_OK
                         : SHOAL_NO_MEMORY(p->p.head.ctx, "%lld options", (long long)count);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        s = fill_contract(p->p.head.ctx, &options[i], o, &contracts[i], number + i * numbers);
        if (!spot) memcpy(prices + i * d, options[i].s0, (size_t)d * sizeof *prices);
    }
    const struct {
        const void *from;
        size_t bytes;
        void *to;
    } lists[] = {
        { contracts, (size_t)count * sizeof *contracts, &j->contract },
        { number, (size_t)(count * numbers) * sizeof *number, &j->number },
        { spot ? spot : prices, (size_t)(j->problems * d) * sizeof *spot, &j->spot },
    };
    for (int i = 0; i < 3 && s == SHOAL_OK; i++)
        s = shoal_plan_copy(&p->p.head, lists[i].from, lists[i].bytes, lists[i].to);
    free(contracts);
    free(number);
    return s;
}

static shoal_status fill_plan(american_plan *p, const shoal_american *options, int64_t count,
                              const shoal_american_opts *o, const double *spot, int levels) {
    const int max = count > 0 && options[0].payoff == SHOAL_MAX_CALL;
    const shoal_payoff payoff = max ? SHOAL_MAX_CALL : SHOAL_PUT;
    american_job *j = &p->job;
    j->basis = basis_of(o->assets, shoal_american_functions(o->assets, o->degree, payoff), max);
    j->raw = o->raw != 0, j->dates = (int)o->dates, j->problems = count;
    j->own = !spot, j->latest = spot != NULL;
    j->paths = o->fit_paths ? o->fit_paths : FIT_PATHS;
    j->blocks = american_blocks(j, 0);
    j->levels = levels, j->part = j->paths > 1 ? j->paths / 2 : 1;
    j->normals = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_FITS);
    j->fresh = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_RULES);
    j->within = shoal_stream_of(o->seed, 0, PRICE_PURPOSE, PRICE_WITHIN);
    j->inner = (o->inner + AMERICAN_BLOCK - 1) / AMERICAN_BLOCK;
    const shoal_status s = make_contracts(p, options, o, spot);
    return s == SHOAL_OK ? shoal_american_fit_all(p, o) : s;
}

static void close_plan(void *plan) { shoal_smallsym_free(((american_plan *)plan)->solver); }

/* An empty plan. */
static shoal_status begin_plan(shoal_context *ctx, const shoal_american_opts *o, int batch,
                               american_plan **plan) {
    shoal_status s = shoal_plan_new(ctx, sizeof **plan, o, plan);
    if (s != SHOAL_OK) return s;
    shoal_price *p = &(*plan)->p;
    p->head.type = o->type, p->head.close = close_plan;
    p->module = &shoal_american_module, p->frame = &(*plan)->run.f;
    (*plan)->run.job = &(*plan)->job, (*plan)->batch = batch;
    s = shoal_choose(ctx, p->module, o->inner ? "dual" : "lsm", NULL, o->type, &p->choice);
    return shoal_plan_made(s, plan);
}

/* What an option may pay: of its strike, and of the martingale part of each asset, discounts included. */
static void fill_worth(const shoal_american *m, int64_t assets, double *worth) {
    const int put = m->payoff == SHOAL_PUT || m->payoff == SHOAL_BASKET_PUT;
    *worth++ = put ? m->strike * fmax(1, exp(-m->rate * m->maturity)) : 0;
    for (int64_t a = 0; a < assets; a++) {
        const double given = m->payoff <= SHOAL_CALL || m->payoff == SHOAL_MAX_CALL ? 1
                             : m->weight                                            ? m->weight[a]
                                         : 1 / (double)assets;
        const double weight = fmax(put ? -given : given, 0);
        const double dividend = m->dividend ? m->dividend[a] : 0;
        *worth++ = weight * m->s0[a] * fmax(1, exp(-dividend * m->maturity));
        *worth++ = m->sigma[a] * sqrt(m->maturity);
    }
}

/* Exercise pays up to the strike, or up to its assets. What is known of a lognormal martingale at
 * maturity bounds it at exercise, too: over an event of probability p it has in the mean at most its
 * share Phi(Phi^-1(p) + deviation). */
static double ceiling(const shoal_price *p, int64_t option, int64_t strike, double probability,
                      double deviation) {
    const american_plan *a = (const american_plan *)p;
    const int64_t assets = a->job.basis.assets;
    const double *worth = a->worth + option * (1 + 2 * assets);
    double sum = probability * *worth++;
    (void)strike, (void)deviation; /* there is one strike, and the deviations are known */
    for (int64_t i = 0; i < assets; i++, worth += 2)
        sum += worth[0] *
               (probability < 1 ? shoal_normcdf(shoal_normcdfinv(probability) + worth[1]) : 1);
    return sum;
}

static shoal_status price_rules(american_plan *a, const shoal_american *options, int64_t count,
                                const shoal_american_opts *o) {
    shoal_price *p = &a->p;
    p->groups = count, p->strike_count = 1, p->signs = p->outputs = 1, p->walks = 1;
    p->steps = o->dates * count;
    p->control = o->control >= 0 && !o->inner;
    p->ceiling = ceiling;
    const int64_t numbers = 1 + 2 * o->assets;
    shoal_status s = shoal_plan_host(&p->head, count * numbers, sizeof *a->worth, &a->worth);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++)
        fill_worth(&options[i], o->assets, a->worth + i * numbers);
    if (s == SHOAL_OK) s = fill_plan(a, options, count, o, NULL, 1);
    if (s == SHOAL_OK) s = shoal_price_room(p);
    if (o->inner && p->frame->room > AMERICAN_DUALS) p->frame->room = AMERICAN_DUALS;
    return s;
}

shoal_status shoal_price_american(shoal_context *ctx, const shoal_american *options, int64_t count,
                                  const shoal_american_opts *opts, shoal_price **plan) {
    const shoal_array given[] = { { "plan", plan, 0 }, { "opts", opts, 0 } };
    american_plan *a = NULL;
    if (plan) *plan = NULL;
    shoal_status s = shoal_ready(ctx);
    if (s == SHOAL_OK) s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = check_all(ctx, options, count, opts);
    if (s == SHOAL_OK) s = begin_plan(ctx, opts, 0, &a);
    if (s == SHOAL_OK) s = price_rules(a, options, count, opts);
    s = shoal_plan_made(s, &a);
    if (s == SHOAL_OK) *plan = &a->p;
    return s;
}

shoal_status shoal_american_value(shoal_context *ctx, const shoal_american *options, int64_t count,
                                  const shoal_american_opts *opts, const shoal_price_goal *goal,
                                  shoal_price_value *values) {
    shoal_price *plan = NULL;
    return shoal_price_once(shoal_price_american(ctx, options, count, opts, &plan), &plan, goal,
                            values);
}

/* Prices and counts, from the context's memory: those of all levels lie together, so many
 * problems at a time. */
static shoal_status read_batch(const american_plan *p, double *const price[],
                               int64_t total[FIT_COUNTS]) {
    const american_job *j = &p->job;
    const size_t bytes = (size_t)(2 * american_systems(j)) * sizeof(double);
    const int64_t at_once = p->at_once;
    int64_t count[FIT_COUNTS] = { 0 };
    double *value = malloc(bytes + 1);
    if (!value) return SHOAL_NO_MEMORY(p->p.head.ctx, "a batch");
    shoal_status s = shoal_copy(p->p.head.ctx, value, j->value, bytes);
    if (s == SHOAL_OK) s = shoal_copy(p->p.head.ctx, count, j->count, sizeof count);
    const double *from = value;
    for (int64_t first = 0; first < j->problems && s == SHOAL_OK; first += at_once)
        for (int level = 0; level < j->levels; level++)
            for (int64_t i = first; i < j->problems && i < first + at_once; i++, from += 2)
                price[level][i] = *from / (double)american_paths(j, level);
    for (int e = 0; e < FIT_COUNTS && s == SHOAL_OK; e++) total[e] += count[e];
    free(value);
    return s;
}

shoal_status shoal_american_batch(shoal_context *ctx, const shoal_american *option, int64_t count,
                                  const double *spot, const uint64_t *first, const double *times,
                                  const shoal_american_opts *opts, american_plan **plan,
                                  double *price, double *half, int64_t total[FIT_COUNTS]) {
    shoal_american one = *option;
    one.s0 = spot;
    shoal_status s = check_all(ctx, &one, 1, opts);
    for (int64_t i = opts->assets; s == SHOAL_OK && i < count * opts->assets; i++)
        s = shoal_check_number(ctx, "s0", opts->assets > 1 ? i % opts->assets : -1, spot[i],
                               DBL_MIN, 1e30);
    if (s == SHOAL_OK && !*plan) s = begin_plan(ctx, opts, 1, plan);
    if (s != SHOAL_OK) return s;
    american_job *j = &(*plan)->job;
    s = shoal_plan_copy(&(*plan)->p.head, first, (size_t)count * sizeof *first, &j->first);
    if (s == SHOAL_OK)
        s = shoal_plan_copy(&(*plan)->p.head, times, (size_t)(opts->dates + 1) * sizeof *times,
                            &j->times);
    if (s == SHOAL_OK) s = fill_plan(*plan, &one, count, opts, spot, half ? 2 : 1);
    return s == SHOAL_OK ? read_batch(*plan, (double *const[]){ price, half }, total) : s;
}

shoal_status shoal_american_fits(const shoal_price *plan, shoal_american_fit *fits) {
    if (!plan) return SHOAL_E_ARG;
    if (plan->module != &shoal_american_module)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "plan is not one of shoal_price_american()");
    if (!fits) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "fits is NULL");
    memcpy(fits, ((const american_plan *)plan)->fits, (size_t)plan->groups * sizeof *fits);
    return SHOAL_OK;
}
