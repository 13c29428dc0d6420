/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.c - exercise rules of contracts, each fitted once on many paths from today's prices.
 *
 * Outer paths start from the same prices, so that at every date they have the law of the paths that the rule was
 * fitted on. An error of the boundary moves an exposure in the first order, a price only in the second: hence
 * bases that suit the payoff, cash flows with little noise (fit.c), and a second rule with fewer functions and
 * other paths, whose exposures show what a rule of this kind is good for.
 *
 * Contracts on one asset need no paths: line.c.
 */
#include "core/loops.h"
#include "cva/basis.h"
#include "cva/span.h"
#include <shoal/rng.h>
#include <shoal/smallsym.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(cva_fitter, cva_fitter)
static const cva_fitter *const fitters[1][SHOAL_LEVEL_COUNT] = SHOAL_CPU_DOUBLE_CELLS(cva_fitter);

enum { RULE_PATHS = 1 << 16, MIN_PATHS = 1 << 13, ALL_PATHS = 1 << 20 };
enum { RULE_PER_FUNCTION = 64, PATHS_PER_COLUMN = 8 };
enum { REGIONS = 2 }; /* out of the money, in the money */
#define NO_GAIN                                                                                    \
    1e-10 /* of the strike: gains over a step below it are rounding errors, not noise to be hedged */

/* ---- bases ------------------------------------------------------------------------------------- */

/* Whether the assets of a contract have the same law but for their prices today: an order of them then tells all. */
static int are_equal(const cva_job *j, const cva_contract *c) {
    int equal = 1;
    for (int m = 1; m < c->assets; m++) {
        const int64_t a = c->asset[m], first = c->asset[0];
        equal &= j->sigma[a] == j->sigma[first] && j->dividend[a] == j->dividend[first];
        for (int64_t k = 1; j->integral && k < j->moments; k++) {
            const cva_span since = cva_between(j, 0, k);
            for (int what = 0; what < CVA_OF_ASSET; what++)
                equal &= cva_of_asset(j, since, a, what) == cva_of_asset(j, since, first, what);
        }
        for (int64_t k = 0; k <= c->last; k++)
            equal &= cva_cash_in(c, k, m) == cva_cash_in(c, k, 0);
        for (int n = 0; n < m; n++)
            equal &= j->correlation[a * j->assets + c->asset[n]] ==
                     j->correlation[c->asset[1] * j->assets + first];
    }
    return equal;
}

static int count_hestons(const cva_job *j, const cva_contract *c) {
    int count = 0;
    for (int n = 0; n < c->assets; n++) count += c->asset[n] >= j->prices;
    return count;
}

/* rule: 0, or 1 for the one to compare with. */
static cva_basis basis_of(const cva_job *j, const cva_contract *c, int rule, int64_t paths) {
    const int sum = c->form & CVA_OF_SUM;
    const int64_t room = paths / RULE_PER_FUNCTION;
    const int most = room < CVA_FUNCTIONS ? (int)room : CVA_FUNCTIONS;
    const int ranks = c->assets > CVA_DIRECTIONS || are_equal(j, c);
    cva_basis b = cva_basis_of(sum     ? CVA_BASKET
                               : ranks ? CVA_RANKS
                                       : CVA_LARGEST,
                               c->assets, rule, most);
    /* in Heston's model powers of the price may have no variance; a hedge by them would add as much noise */
    if (count_hestons(j, c)) b.hedges = 0;
    return b;
}

/* ---- one date ---------------------------------------------------------------------------------- */

/* Centers and widths of the variables. */
static void make_ranges(const cva_fit *f, int64_t i) {
    const int v = f->rule.basis.variables;
    const int64_t moments = 1 + 2 * v;
    double *to = f->numbers + (i - 1) * cva_rule_numbers(&f->rule.basis);
    for (int region = 0; region < 2; region++, to += cva_region_numbers(&f->rule.basis)) {
        double sum[1 + 2 * CVA_VARIABLES] = { 0 };
        for (int64_t block = 0; block < f->blocks; block++)
            for (int64_t e = 0; e < moments; e++)
                sum[e] += f->moments[(2 * block + region) * moments + e];
        for (int j = 0; j < v; j++) {
            const double mean = sum[0] > 0 ? sum[1 + 2 * j] / sum[0] : 0;
            const double variance = sum[0] > 0 ? sum[2 + 2 * j] / sum[0] - mean * mean : 0;
            const int moves = variance > 1e-20 * (1 + mean * mean);
            to[j] = mean, to[v + j] = moves ? 1 / sqrt(variance) : 0;
        }
    }
}

/* The regression of a region, from its sums: columns scaled to a mean square of 1, those without a scale left out. A region
 * with few paths has the first functions alone; one without paths has nothing but zeros. */
static void scale_region(const cva_fit *f, double *gram, double *rhs, double *scale) {
    const cva_basis *b = &f->rule.basis;
    const int columns = cva_columns(b);
    const double noise = NO_GAIN * fabs(f->c.strike);
    const double paths = gram[0], few = ceil(paths / PATHS_PER_COLUMN);
    for (int n = 0; n < columns; n++) {
        const double square = gram[n * (n + 1) / 2 + n];
        const double least = n < b->functions ? 0 : noise * noise * paths;
        const int fits = few >= columns || (n < b->functions && n < few);
        scale[n] = square > least && fits ? 1 / sqrt(square) : 0;
    }
    for (int n = 0; n < columns; n++) {
        for (int m = 0; m <= n; m++) gram[n * (n + 1) / 2 + m] *= scale[n] * scale[m];
        rhs[n] *= scale[n];
    }
}

/* Room for the regressions of a date: of both regions the matrices, then the right-hand sides, then the answers. */
static int64_t solve_numbers(int columns) {
    return REGIONS * (cva_gram_numbers(columns) + columns);
}

/* The factors of both regions. A region without paths, or without an answer, has 0 as its value of going on, and is not
 * exercised: in the money, infinity. */
static shoal_status solve_date(const cva_fit *f, shoal_smallsym *solver, double *room, int64_t i) {
    const cva_basis *b = &f->rule.basis;
    const int columns = cva_columns(b);
    const int64_t numbers = cva_gram_numbers(columns), triangle = numbers - columns;
    const int64_t tasks = (f->blocks + CVA_FIT_TASK - 1) / CVA_FIT_TASK;
    double scale[REGIONS][CVA_COLUMNS], *rhs = room + REGIONS * triangle;
    double *answers = rhs + REGIONS * columns;
    int answered[REGIONS];
    memset(room, 0, (size_t)(REGIONS * numbers) * sizeof *room);
    for (int region = 0; region < REGIONS; region++) {
        double *gram = room + region * triangle, *mine = rhs + region * columns;
        for (int64_t task = 0; task < tasks; task++) {
            const double *from = f->gram + (REGIONS * task + region) * numbers;
            for (int64_t e = 0; e < triangle; e++) gram[e] += from[e];
            for (int e = 0; e < columns; e++) mine[e] += from[triangle + e];
        }
        answered[region] = gram[0] > 0; /* so many paths */
        if (answered[region]) scale_region(f, gram, mine, scale[region]);
    }
    const shoal_status s = shoal_smallsym_solve(solver, room, rhs, answers);
    if (s != SHOAL_OK) return s;
    for (int region = 0; region < REGIONS; region++, answers += columns) {
        double *x = f->numbers + (i - 1) * cva_rule_numbers(b) + region * cva_region_numbers(b) +
                    2 * b->variables;
        for (int n = 0; n < columns && answered[region]; n++) {
            x[n] = answers[n] * scale[region][n];
            answered[region] = isfinite(x[n]) != 0;
        }
        if (answered[region]) continue;
        memset(x, 0, (size_t)columns * sizeof *x);
        if (region) x[0] = INFINITY;
    }
    return SHOAL_OK;
}

/* ---- one contract ------------------------------------------------------------------------------ */

/* A seed for a contract's assets and one of its rules. */
static uint64_t seed_of(uint64_t seed, int rule, const cva_contract *c) {
    shoal_words w = shoal_philox_at(seed, (uint64_t)rule, 0, PRICE_PURPOSE, PRICE_CVA_INNER, 3);
    for (int i = 0; i < c->assets; i++)
        w = shoal_philox_at(shoal_half(&w, 0), (uint64_t)c->asset[i], 0, PRICE_PURPOSE,
                            PRICE_CVA_INNER, 3);
    return shoal_half(&w, 0);
}

/* Of the contract's assets. */
static void take_integrals(const cva_job *j, const cva_contract *c, double *to) {
    for (int64_t k = 0; k < j->moments; k++) {
        const double *from = j->integral + k * cva_integrals(j->assets);
        *to++ = from[0];
        for (int n = 0; n < c->assets; n++, to += CVA_OF_ASSET)
            memcpy(to, from + 1 + CVA_OF_ASSET * c->asset[n], CVA_OF_ASSET * sizeof *to);
    }
}

/* Of the contract's assets: its variances are the last of them. */
static shoal_status take_hestons(shoal_plan *scratch, const cva_job *j, const cva_contract *c,
                                 int count, cva_job *to) {
    cva_heston *list;
    qe_numbers *qe;
    const int first = c->assets - count;
    shoal_status s = shoal_plan_host(scratch, count, sizeof *list, &list);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, count * c->last, sizeof *qe, &qe);
    for (int i = 0; i < count && s == SHOAL_OK; i++) {
        const int64_t from = c->asset[first + i] - j->prices;
        list[i] = j->heston[from], list[i].variance = first + i;
        for (int n = 0; n < first; n++)
            if (c->asset[n] == j->heston[from].price) list[i].price = n;
        for (int64_t k = 0; k < c->last; k++) qe[k * count + i] = j->qe[k * j->hestons + from];
    }
    to->hestons = count, to->heston = list, to->qe = qe, to->prices = first;
    return s;
}

/* The market of the contract's assets, and the memory of a fit. */
static shoal_status make_fit(shoal_cva *p, shoal_context *host, shoal_plan *scratch,
                             const cva_contract *c, int rule, int64_t paths, cva_fit *f) {
    const cva_job *j = &p->job;
    const int64_t d = c->assets;
    double *market, *integral;
    int64_t *asset;
    *f = (cva_fit){ .job = *j, .c = *c };
    const int hestons = count_hestons(j, c);
    f->rule.basis = basis_of(j, c, rule, paths);
    const cva_basis *b = &f->rule.basis;
    f->blocks = (paths + CVA_FIT_LANES - 1) / CVA_FIT_LANES;
    const int64_t tasks = (f->blocks + CVA_FIT_TASK - 1) / CVA_FIT_TASK;
    const int64_t lanes = f->blocks * CVA_FIT_LANES, moments = 2 * (1 + 2 * b->variables);
    const struct {
        int64_t numbers;
        double **to;
    } rooms[] = { { 3 * d + d * (d + 1) / 2 + d * d, &market },
                  { lanes * d, &f->at },
                  { lanes, &f->cash },
                  { j->knots ? lanes * d : 0, &f->base },
                  { j->integral ? j->moments * cva_integrals(d) : 0, &integral },
                  { hestons ? 0 : lanes * d, &f->prices[0] },
                  { hestons ? 0 : lanes * d, &f->prices[1] },
                  { hestons ? lanes * d * c->last : 0, &f->all },
                  { f->blocks * moments, &f->moments },
                  { tasks * 2 * cva_gram_numbers(cva_columns(b)), &f->gram } };
    shoal_status s = shoal_plan_host(scratch, d, sizeof *asset, &asset);
    for (int i = 0; i < 10 && s == SHOAL_OK; i++)
        s = shoal_plan_host(scratch, rooms[i].numbers, sizeof(double), rooms[i].to);
    const int64_t coordinates = (c->last + 1 + j->knots) * d;
    f->dimensions = coordinates < SHOAL_RNG_DIMENSIONS ? coordinates : SHOAL_RNG_DIMENSIONS;
    if (s == SHOAL_OK)
        s = shoal_plan_host(scratch, f->dimensions * SHOAL_SOBOL_BITS, sizeof *f->directions,
                            &f->directions);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, f->dimensions, sizeof *f->shift, &f->shift);
    if (s == SHOAL_OK)
        s = shoal_cva_rule_room(p, (c->last - 1) * cva_rule_numbers(b), sizeof(double),
                                &f->numbers);
    if (s != SHOAL_OK) return s;
    double *load = market + 3 * d, *correlation = load + d * (d + 1) / 2;
    for (int64_t a = 0; a < d; a++) {
        const int64_t row = c->asset[a];
        asset[a] = a;
        market[a] = j->s0[row], market[d + a] = j->sigma[row], market[2 * d + a] = j->dividend[row];
        for (int64_t e = 0; e < d; e++)
            correlation[a * d + e] = j->correlation[row * j->assets + c->asset[e]];
    }
    if (hestons) s = take_hestons(scratch, j, c, hestons, &f->job);
    if (s != SHOAL_OK) return s;
    if (!hestons) f->all = NULL, f->job.hestons = 0;
    if (j->integral) take_integrals(j, c, integral), f->job.integral = integral;
    f->job.assets = (int)d, f->job.s0 = market, f->job.sigma = market + d;
    f->job.dividend = market + 2 * d, f->job.load = load;
    const uint64_t seed = seed_of(p->american.seed, rule, c);
    f->job.walk_normals = shoal_stream_of(seed, 0, PRICE_PURPOSE, PRICE_FITS);
    shoal_sobol_directions(f->dimensions, SOBOL_SCRAMBLE, seed, f->directions, f->shift);
    f->c.asset = asset, f->rule.at = f->numbers;
    return shoal_correlation_factor(host, correlation, d, load);
}

/* The mean of what the paths are worth at date 1, discounted: the regression of date 0, whose paths have one price. */
static double today_of(const cva_fit *f) {
    double sum = 0;
    for (int64_t i = 0; i < f->blocks * CVA_FIT_LANES; i++) sum += f->cash[i];
    return cva_discount_over(&f->job, cva_between(&f->job, 0, 1)) * sum /
           (double)(f->blocks * CVA_FIT_LANES);
}

static shoal_status fit_rule(shoal_cva *p, shoal_context *host, const cva_contract *c, int rule,
                             int64_t paths, cva_rule *to) {
    const cva_fitter *fitter = fitters[0][host->level];
    shoal_plan *scratch;
    shoal_smallsym *solver = NULL;
    double *room;
    cva_fit f;
    shoal_status s = shoal_plan_new(host, sizeof *scratch, p, &scratch);
    if (s != SHOAL_OK) return s;
    s = make_fit(p, host, scratch, c, rule, paths, &f);
    const int columns = s == SHOAL_OK ? cva_columns(&f.rule.basis) : 1;
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, solve_numbers(columns), sizeof *room, &room);
    const shoal_smallsym_opts opts = {
        .n = columns, .count = REGIONS, .nrhs = 1, .storage = SHOAL_PACKED, .method = "eigdc"
    };
    if (s == SHOAL_OK) s = shoal_smallsym_create(host, &opts, &solver);
    const shoal_stage stage = shoal_stage_begin(host, "exercise rules");
    for (int64_t i = c->last; i > 0 && s == SHOAL_OK; i--) {
        s = shoal_stage_step(host, &stage, (double)(c->last - i), (double)(c->last - i + 1),
                             (double)c->last);
        if (s != SHOAL_OK) break;
        fitter->visit(host, &f, i);
        if (i == c->last) continue;
        make_ranges(&f, i);
        fitter->sum(host, &f, i);
        s = solve_date(&f, solver, room, i);
        if (s != SHOAL_OK) break;
        fitter->settle(host, &f, i);
    }
    s = shoal_stage_end(host, &stage, s);
    if (s == SHOAL_OK) f.rule.today = today_of(&f);
    if (s == SHOAL_OK) *to = f.rule;
    shoal_smallsym_free(solver);
    shoal_plan_free(scratch);
    return s;
}

/* Lists, or NULL. */
static int are_same(const double *a, const double *b, int64_t count) {
    return !a == !b && (!a || !memcmp(a, b, (size_t)count * sizeof *a));
}

/* Whether the rules of two contracts are the same: quantities and netting sets do not matter. */
static int have_one_rule(const cva_contract *a, const cva_contract *b) {
    const size_t list = (size_t)a->assets;
    return a->kind == b->kind && a->form == b->form && a->assets == b->assets && a->end == b->end &&
           a->last == b->last && a->strike == b->strike && a->maturity == b->maturity &&
           !memcmp(a->may, b->may, (size_t)a->last) &&
           are_same(a->strikes, b->strikes, a->last + 1) &&
           are_same(a->cash, b->cash, (a->last + 1) * a->assets) &&
           !memcmp(a->asset, b->asset, list * sizeof *a->asset) && !a->weight == !b->weight &&
           (!a->weight || !memcmp(a->weight, b->weight, list * sizeof *a->weight));
}

/* An earlier contract with the rule of contract i, or i. */
static int64_t twin_of(const shoal_cva *p, int64_t i) {
    int64_t twin = 0;
    while (twin < i && !have_one_rule(&p->contracts[twin], &p->contracts[i])) twin++;
    return twin;
}

/* A rule to be made. */
typedef struct rule_task {
    int64_t contract;
    int rule;
    shoal_status status;
    char message[sizeof((shoal_context *)0)->message];
} rule_task;

/* Rules that are fitted, in the order of the contracts; paths 0: fewer per rule in books with many. */
static int64_t list_tasks(const shoal_cva *p, int64_t *twin, rule_task *task, int64_t *paths) {
    int64_t count = 0, fits = 0;
    for (int64_t i = 0; i < p->job.contracts; i++) {
        const cva_contract *c = &p->contracts[i];
        if (c->kind != CVA_AMERICAN) continue;
        twin[i] = twin_of(p, i);
        if (twin[i] < i) continue;
        task[count++] = (rule_task){ .contract = i };
        if (!cva_is_line(c)) task[count++] = (rule_task){ .contract = i, .rule = 1 }, fits++;
    }
    if (*paths) return count;
    *paths = ALL_PATHS / (fits > 1 ? fits : 1) / CVA_FIT_LANES * CVA_FIT_LANES;
    *paths = *paths > RULE_PATHS ? RULE_PATHS : *paths < MIN_PATHS ? MIN_PATHS : *paths;
    return count;
}

static void make_rule(shoal_cva *p, shoal_context *host, rule_task *task, int64_t paths) {
    cva_contract *c = &p->contracts[task->contract];
    cva_rule *to = &c->rule[task->rule];
    task->status = cva_is_line(c) ? shoal_cva_line_rule(p, c, to)
                                  : fit_rule(p, host, c, task->rule, paths >> task->rule, to);
    snprintf(task->message, sizeof task->message, "%s", host->message);
}

/* Threads share the rules if there are enough of them, else the paths of each. */
static void make_rules(shoal_cva *p, rule_task *task, int64_t count, int64_t paths) {
    const int threads = p->host.threads, apart = count >= 2 * threads;
    ON_THREADS(apart ? threads : 1, dynamic, 1)
    for (int64_t i = 0; i < count; i++) {
        shoal_context host = p->host;
        host.threads = apart ? 1 : threads, host.message[0] = 0;
        if (shoal_is_cancelled(&host, i, count))
            task[i].status = SHOAL_E_CANCELLED;
        else
            make_rule(p, &host, &task[i], paths);
    }
}

shoal_status shoal_cva_fit_rules(shoal_cva *p, int64_t paths) {
    const int64_t contracts = p->job.contracts;
    int64_t *twin = malloc((size_t)(contracts + 1) * sizeof *twin);
    rule_task *task = malloc((size_t)(2 * contracts + 1) * sizeof *task);
    shoal_status s = twin && task ? SHOAL_OK : SHOAL_NO_MEMORY(p->head.ctx, "rules");
    const int64_t count = s == SHOAL_OK ? list_tasks(p, twin, task, &paths) : 0;
    const shoal_stage stage = shoal_stage_begin(p->head.ctx, "exercise rules");
    make_rules(p, task, count, paths);
    for (int64_t i = 0; i < count && s == SHOAL_OK; i++) {
        s = task[i].status;
        if (s == SHOAL_OK) continue;
        if (task[i].message[0]) /* else the plan's own */
            snprintf(p->head.ctx->message, sizeof p->head.ctx->message, "%s", task[i].message);
        s = shoal_fail_at(p->head.ctx, s, "contracts", task[i].contract, "");
    }
    for (int64_t i = 0; i < contracts && s == SHOAL_OK; i++) {
        cva_contract *c = &p->contracts[i];
        if (c->kind != CVA_AMERICAN) continue;
        if (twin[i] < i)
            memcpy(c->rule, p->contracts[twin[i]].rule, sizeof c->rule);
        else if (cva_is_line(c))
            c->rule[1] = c->rule[0];
        if (!cva_is_followed(c)) continue;
        c->rule_form = cva_rule_form(&c->rule[0].basis, c->assets);
        p->job.forms[c->rule_form]++;
    }
    free(twin), free(task);
    return shoal_stage_end(p->head.ctx, &stage, s);
}

/* Whether two plans are of the same book, as far as rules see it. */
static int are_alike(const shoal_cva *p, const shoal_cva *q) {
    const cva_job *a = &p->job, *b = &q->job;
    if (a->contracts != b->contracts || a->assets != b->assets || a->dates != b->dates ||
        a->exposures != b->exposures || p->american.seed != q->american.seed ||
        p->estimator != q->estimator || a->control != b->control || p->validates != q->validates ||
        p->by_set != q->by_set)
        return 0;
    const size_t list = (size_t)a->assets * sizeof *a->s0;
    if (a->hestons != b->hestons ||
        (a->hestons && memcmp(a->heston, b->heston, (size_t)a->hestons * sizeof *a->heston) != 0) ||
        memcmp(a->s0, b->s0, list) || memcmp(a->sigma, b->sigma, list) ||
        memcmp(a->time, b->time, (size_t)(a->dates + 1) * sizeof *a->time))
        return 0;
    for (int64_t i = 0; i < a->contracts; i++) {
        const cva_contract *c = &a->contract[i], *d = &b->contract[i];
        if (c->kind != d->kind || c->form != d->form || c->assets != d->assets ||
            c->end != d->end || c->set != d->set || c->strike != d->strike)
            return 0;
        if (c->kind == CVA_AMERICAN && !have_one_rule(c, d)) return 0;
    }
    return 1;
}

shoal_status shoal_cva_copy_rules(shoal_cva *p, const shoal_cva *from) {
    shoal_status s = SHOAL_OK;
    if (!are_alike(p, from))
        return shoal_fail(p->head.ctx, SHOAL_E_ARG, "rules_of is a plan for another book");
    for (int64_t i = 0; i < p->job.contracts && s == SHOAL_OK; i++) {
        cva_contract *c = &p->contracts[i];
        const cva_contract *d = &from->contracts[i];
        for (int rule = 0; rule < CVA_RULES && s == SHOAL_OK; rule++) {
            cva_rule *r = &c->rule[rule];
            *r = d->rule[rule];
            if (!r->at) continue;
            const int64_t numbers = (c->last - 1) * cva_rule_numbers(&r->basis);
            double *at = NULL;
            if (rule && r->at == d->rule[0].at)
                r->at = c->rule[0].at;
            else {
                s = shoal_plan_host(&p->head, numbers, sizeof *at, &at);
                if (s == SHOAL_OK) memcpy(at, r->at, (size_t)numbers * sizeof *at);
                r->at = at;
            }
        }
        c->rule_form = d->rule_form;
    }
    memcpy(p->job.forms, from->job.forms, sizeof p->job.forms);
    if (from->rules_only) return s;
    p->share_of_level = from->share_of_level, p->top_level = from->top_level;
    p->outer = from->outer;
    int64_t *inner = NULL;
    if (s == SHOAL_OK) s = shoal_plan_host(&p->head, p->job.exposures, sizeof *inner, &inner);
    for (int64_t e = 0; e < p->job.exposures && s == SHOAL_OK; e++) inner[e] = from->job.inner[e];
    if (s == SHOAL_OK) p->job.inner = inner;
    return s;
}
