/* SPDX-License-Identifier: Apache-2.0
 *
 * exercise.c - contracts with early exercise along outer paths.
 *
 * When outer paths exercise: by a rule per contract, fitted by the regressions of Longstaff and
 * Schwartz on many paths from today's prices. Outer paths start from the same prices, so that at
 * every date they have the law of the paths that the rule was fitted on. A decision of inner
 * paths compares the payoff with a mean over them; near the boundary the two differ by less than
 * K (1 - e^(-r dt)), which the noise of a few hundred paths drowns. An error of the boundary
 * moves an exposure in the first order, a price only in the second: a rule that is good enough
 * for prices, cubic on 2^16 paths, makes the exposure of a put 1 to 2 % too large. Hence more
 * functions, and 2^18 paths; f64, a centred basis and `auto` for all inner regressions, so that
 * every run to be compared exercises on the same paths. Cost: rule paths x dates of a contract,
 * once. Rules are copied to the host.
 *
 * What a contract is worth: at a date, all paths that still hold it and do not exercise it now
 * by its rule are a batch of Longstaff-Schwartz problems: one per path, from the path's prices
 * over the dates that are left, with all inner paths and with half of them. Both levels are one
 * batch if the same paths hold the contract at both, as they do with a rule. Without a rule the
 * inner paths decide.
 *
 * A rule that is fitted on few paths sees into their future, and values them too high. With a
 * rule for the outer paths a problem is therefore split in two, each with one half of its inner
 * paths, which are exercised by the rule that is fitted on the other half; its value is the mean
 * of both, and a little too low.
 *
 * The inner paths of an outer path and date have addresses of their own and are the same for all
 * contracts on the same assets: what is bought and sold nets exactly, and a path does not depend
 * on the others of its batch. Cost: for M outer paths, N dates and m inner paths M m N^2 / 2
 * path-steps per contract, or 3/2 of that, and M (N - 1) (N - 2) systems, with a rule twice as
 * many, less what is exercised.
 */
#include "cva/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules -------------------------------------------------------------------------------------- */

enum { RULE_PATHS = 1 << 18, RULE_DEGREE = 7, RULE_FUNCTIONS = 36, RULE_PER_FUNCTION = 128 };
enum { DEGREE = 3, INNER_PER_FUNCTION = 20 }; /* of inner paths, by default */
enum { BATCH = 1 << 17 };                     /* problems at a time         */

/* The highest degree, up to `degree`, with at most so many functions. */
static int64_t degree_within(const cva_contract *c, int64_t degree, int64_t functions) {
    while (degree > 1 &&
           shoal_american_functions(c->assets, degree, (shoal_payoff)c->payoff) > functions)
        degree--;
    return degree;
}

/* A seed for a date and the assets of a contract: inner paths have no room for these in their numbers. */
static uint64_t seed_of(uint64_t seed, int64_t k, const cva_contract *c) {
    shoal_words w = shoal_philox_at(seed, (uint64_t)k, 0, PRICE_PURPOSE, PRICE_CVA_INNER, 1);
    for (int i = 0; i < c->assets; i++)
        w = shoal_philox_at(shoal_half(&w, 0), (uint64_t)c->asset[i], 0, PRICE_PURPOSE,
                            PRICE_CVA_INNER, 2);
    return shoal_half(&w, 0);
}

/* Sigma, dividend and correlation of a contract's assets, one after the other. */
static int64_t asset_numbers(int64_t d) { return d * (d + 2); }

static void take_assets(const cva_job *j, const cva_contract *c, double *numbers) {
    const int64_t d = c->assets;
    for (int64_t a = 0; a < d; a++) {
        const int64_t row = c->asset[a];
        numbers[a] = j->sigma[row], numbers[d + a] = j->dividend[row];
        for (int64_t b = 0; b < d; b++)
            numbers[(a + 2) * d + b] = j->correlation[row * j->assets + c->asset[b]];
    }
}

/* The contract over so many dates, as an option on its assets. */
static shoal_american option_of(const cva_job *j, const cva_contract *c, int64_t dates,
                                const double *assets) {
    return (shoal_american){ .payoff = (shoal_payoff)c->payoff,
                             .strike = c->strike,
                             .rate = j->rate,
                             .maturity = (double)dates * j->dt,
                             .sigma = assets,
                             .dividend = assets + c->assets,
                             .weight = c->weight,
                             .correlation = assets + 2 * c->assets };
}

/* Contract, numbers, prices and rule of a plan for one option, copied into one piece of host memory. */
static shoal_status take_rule(shoal_plan *head, const american_job *from, american_job *to) {
    const struct {
        const void *from;
        size_t bytes;
    } piece[] = { { from->contract, sizeof *from->contract },
                  { from->number, (size_t)american_numbers(from->basis.assets) * sizeof(double) },
                  { from->spot, (size_t)from->basis.assets * sizeof(double) },
                  { from->rule, (size_t)american_rules(from) * sizeof(double) } };
    size_t at[5] = { 0 };
    for (int i = 0; i < 4; i++) at[i + 1] = at[i] + piece[i].bytes;
    char *memory;
    shoal_status s = shoal_plan_host(head, (int64_t)at[4], 1, &memory);
    if (s != SHOAL_OK) return s;
    *to = (american_job){ .basis = from->basis, .raw = from->raw, .dates = from->dates };
    to->contract = (american_contract *)memory;
    to->number = (double *)(memory + at[1]), to->spot = (double *)(memory + at[2]);
    to->rule = memory + at[3];
    for (int i = 0; i < 4 && s == SHOAL_OK; i++)
        if (piece[i].bytes)
            s = shoal_copy(head->ctx, memory + at[i], piece[i].from, piece[i].bytes);
    return s;
}

static shoal_status fit_rule(shoal_cva *p, const cva_contract *c, int64_t paths, double *numbers,
                             american_job *to) {
    const cva_job *j = &p->job;
    const int64_t d = c->assets, room = paths / RULE_PER_FUNCTION;
    const int64_t functions = room < RULE_FUNCTIONS ? room : RULE_FUNCTIONS;
    double *spot = numbers + asset_numbers(d);
    take_assets(j, c, numbers);
    for (int64_t a = 0; a < d; a++) spot[a] = j->s0[c->asset[a]];
    shoal_american option = option_of(j, c, c->last, numbers);
    option.s0 = spot;
    const shoal_american_opts opts = { .assets = d,
                                       .dates = c->last,
                                       .degree = degree_within(c, RULE_DEGREE, functions),
                                       .fit_paths = paths,
                                       .seed = seed_of(p->american.seed, 0, c),
                                       .control = p->american.control };
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_american(p->head.ctx, &option, 1, &opts, &plan);
    if (s == SHOAL_OK) s = take_rule(&p->head, &((american_plan *)plan)->job, to);
    shoal_price_free(plan);
    return s;
}

shoal_status shoal_cva_fit_rules(shoal_cva *p, int64_t paths) {
    const cva_job *j = &p->job;
    cva_contract *contract = p->contracts;
    american_job *to;
    shoal_status s = shoal_plan_host(&p->head, j->kinds[CVA_AMERICAN], sizeof *to, &to);
    double *numbers = malloc((size_t)(asset_numbers(j->assets) + j->assets) * sizeof *numbers);
    if (s == SHOAL_OK && !numbers)
        s = shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for rules of exercise");
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        if (contract[i].kind != CVA_AMERICAN) continue;
        s = fit_rule(p, &contract[i], paths ? paths : RULE_PATHS, numbers, to);
        s = shoal_fail_at(p->head.ctx, s, "contracts", i, "");
        contract[i].rule = to++;
    }
    free(numbers);
    return s;
}

/* ---- batches ------------------------------------------------------------------------------------ */

typedef struct exercise { /* of one contract at one date and level */
    shoal_cva *p;
    const cva_job *j;
    const cva_contract *c;
    int64_t k;
    int level;
    char *exercised;       /* [path]; behind it those of the next level  */
    double *assets, *spot; /* of take_assets(); [problem][asset]       */
    double *price;         /* [problem] */
    double *half;          /* [problem] of CVA_HALF, beside CVA_ALL; or NULL */
    uint64_t *first;       /* [problem] */
    int64_t *path;         /* [problem] */
} exercise;

/* The value of the contract on a path, and whether it is worth that for the last time. */
static void settle(const exercise *e, int level, int64_t path, double worth, int ends) {
    const cva_job *j = e->j;
    j->value[(path * CVA_LEVELS + level) * j->sets + e->c->set] += e->c->quantity * worth;
    e->exercised[(level - e->level) * j->paths + path] = ends && !e->p->kept;
}

/* Whether going on has to be valued on a path; then its problem. */
static int add_problem(exercise *e, int64_t path, int64_t at) {
    const cva_job *j = e->j;
    const int d = e->c->assets;
    if (e->exercised[path]) return 0;
    if (e->k == e->c->last || (e->c->rule && j->now[path])) {
        const double pays = cva_pay(e->c, j->spot + path * j->assets);
        settle(e, e->level, path, pays, 1);
        if (e->half) settle(e, CVA_HALF, path, pays, 1);
        return 0;
    }
    double *spot = e->spot + at * d;
    for (int i = 0; i < d; i++) spot[i] = j->spot[path * j->assets + e->c->asset[i]];
    e->first[at] = (j->first + (uint64_t)path) << CVA_INNER_BITS;
    e->path[at] = path;
    if (!e->c->rule) return 1;
    memcpy(spot + d, spot, (size_t)d * sizeof *spot);
    e->first[at + 1] = e->first[at] + CVA_OTHER_HALF;
    e->path[at + 1] = path;
    return 2;
}

static shoal_status solve(exercise *e, int64_t problems, shoal_cva_counts *counts) {
    const int64_t halves = (e->level == CVA_HALF ? 2 : 1) * (e->c->rule ? 2 : 1);
    const int64_t all = e->j->inner[e->k - 1], inner = all / halves;
    int64_t total[FIT_COUNTS] = { 0 };
    shoal_american_opts o = e->p->american;
    o.assets = e->c->assets, o.dates = e->c->last - e->k, o.fit_paths = inner;
    o.seed = seed_of(o.seed, e->k, e->c);
    if (!o.degree) o.degree = degree_within(e->c, DEGREE, all / INNER_PER_FUNCTION);
    const shoal_american option = option_of(e->j, e->c, o.dates, e->assets);
    const shoal_status s =
        shoal_american_batch(e->p->head.ctx, &option, problems, e->spot, e->first, &o,
                             e->c->rule != NULL, &e->p->batch, e->price, e->half, total);
    if (s != SHOAL_OK) {
        char where[64];
        snprintf(where, sizeof where, "at date %lld, outer paths %lld to %lld: ", (long long)e->k,
                 (long long)e->j->first + e->path[0],
                 (long long)e->j->first + e->path[problems - 1]);
        return shoal_fail_at(e->p->head.ctx, s, "contracts", e->c - e->j->contract, where);
    }
    counts->inner_paths += problems * (inner + (e->half ? inner / 2 : 0));
    counts->systems += problems * (o.dates - 1) * (e->half ? CVA_LEVELS : 1);
    counts->empty += total[FIT_EMPTY], counts->warned += total[FIT_WARNED];
    counts->truncated += total[FIT_TRUNCATED], counts->refined += total[FIT_REFINED];
    counts->failed += total[FIT_FAILED];
    for (int i = 0; i < SHOAL_CVA_METHODS; i++) counts->method[i] += total[FIT_METHOD + i];
    for (int i = 0; i < SHOAL_CVA_DECADES; i++) counts->decade[i] += total[FIT_DECADE + i];
    return s;
}

/* What going on is worth; without a rule, the larger of that and exercise. */
static void decide(exercise *e, int64_t problems, int level, const double *price) {
    const cva_job *j = e->j;
    for (int64_t i = 0; i < problems && e->c->rule; i += 2)
        settle(e, level, e->path[i], 0.5 * (price[i] + price[i + 1]), 0);
    for (int64_t i = 0; i < problems && !e->c->rule; i++) {
        const double pays = cva_pay(e->c, j->spot + e->path[i] * j->assets), hold = price[i];
        const int now = pays > 0 && pays >= hold;
        settle(e, level, e->path[i], now ? pays : hold, now);
    }
}

static shoal_status one_level(exercise *e, shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    for (int64_t path = 0; path < e->j->paths && s == SHOAL_OK;) {
        int64_t problems = 0;
        for (; path < e->j->paths && problems < BATCH - 1; path++)
            problems += add_problem(e, path, problems);
        if (problems > 0) s = solve(e, problems, counts);
        if (s == SHOAL_OK) decide(e, problems, e->level, e->price);
        if (s == SHOAL_OK && e->half) decide(e, problems, CVA_HALF, e->half);
    }
    return s;
}

static shoal_status one_contract(exercise *e, shoal_cva_counts *counts) {
    const cva_job *j = e->j;
    const int64_t d = e->c->assets, at_once = j->paths < BATCH / 2 ? 2 * j->paths : BATCH;
    shoal_plan *scratch; /* owns the arrays */
    shoal_status s = shoal_plan_new(e->p->head.ctx, sizeof *scratch, e, &scratch);
    if (s != SHOAL_OK) return s;
    const int64_t numbers = asset_numbers(d) + at_once * (d + 2);
    s = shoal_plan_host(scratch, numbers, sizeof *e->assets, &e->assets);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, at_once, sizeof *e->first, &e->first);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, at_once, sizeof *e->path, &e->path);
    if (s == SHOAL_OK) {
        e->spot = e->assets + asset_numbers(d), e->price = e->spot + at_once * d;
        take_assets(j, e->c, e->assets);
        if (e->c->rule && e->k < e->c->last)
            e->p->wide->decide(e->p->head.ctx, j, e->c, e->k, j->now);
    }
    /* where the same paths hold it at both levels, their inner paths are simulated once */
    const int same = !memcmp(e->exercised, e->exercised + j->paths, (size_t)j->paths);
    if (same && s == SHOAL_OK) e->half = e->price + at_once;
    for (e->level = 0; e->level < (same ? 1 : CVA_LEVELS) && s == SHOAL_OK; e->level++) {
        s = one_level(e, counts);
        e->exercised += j->paths;
    }
    shoal_plan_free(scratch);
    return s;
}

shoal_status shoal_cva_exercise(shoal_cva *p, const cva_job *j, int64_t k,
                                shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    char *exercised = j->exercised;
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[i];
        if (c->kind != CVA_AMERICAN) continue;
        exercise e = { .p = p, .j = j, .c = c, .k = k, .exercised = exercised };
        if (k <= c->last) s = one_contract(&e, counts);
        exercised += CVA_LEVELS * j->paths;
    }
    return s;
}
