/* SPDX-License-Identifier: Apache-2.0
 *
 * american.c - contracts with early exercise along outer paths. At a date, all paths that still hold a contract
 * and do not exercise it now by its rule are a batch of Longstaff-Schwartz problems: one per path, from the
 * path's prices over the dates that are left, with all inner paths and with half of them. Both levels are one
 * batch if the same paths hold the contract at both, as they do with a rule. Without a rule the inner paths
 * decide.
 *
 * A rule that is fitted on few paths sees into their future, and values them too high. With a rule for the outer
 * paths a problem is therefore split in two, each with one half of its inner paths, which are exercised by the
 * rule that is fitted on the other half; its value is the mean of both, and a little too low.
 *
 * The inner paths of an outer path and date have addresses of their own and are the same for all contracts on the
 * same assets: what is bought and sold nets exactly, and a path does not depend on the others of its batch. Cost:
 * for M outer paths, N dates and m inner paths M m N^2 / 2 path-steps per contract, or 3/2 of that, and
 * M (N - 1) (N - 2) systems, with a rule twice as many, less what is exercised.
 */
#include "cva/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 17 };                     /* problems at a time */
enum { DEGREE = 3, PATHS_PER_FUNCTION = 20 }; /* by default: at most, inner paths per function */

typedef struct exercise { /* of one contract at one date and level */
    shoal_cva *p;
    const cva_job *j;
    const cva_contract *c;
    int64_t k;
    int level;
    char *exercised;       /* [path]; behind it those of the next level  */
    double *assets, *spot; /* shoal_cva_assets(); [problem][asset]       */
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

/* The degree of the options, or what the number of inner paths allows. Both levels have the same. */
static int64_t degree_of(const exercise *e) {
    const int64_t paths = e->j->inner[e->k - 1];
    int64_t degree = e->p->american.degree ? e->p->american.degree : DEGREE;
    while (!e->p->american.degree && degree > 1 &&
           PATHS_PER_FUNCTION *
                   shoal_american_functions(e->c->assets, degree, (shoal_payoff)e->c->payoff) >
               paths)
        degree--;
    return degree;
}

static shoal_status solve(exercise *e, int64_t problems, shoal_cva_counts *counts) {
    const int64_t halves = (e->level == CVA_HALF ? 2 : 1) * (e->c->rule ? 2 : 1);
    const int64_t inner = e->j->inner[e->k - 1] / halves;
    int64_t total[FIT_COUNTS] = { 0 };
    shoal_american_opts o = e->p->american;
    o.assets = e->c->assets, o.dates = e->c->last - e->k, o.fit_paths = inner;
    o.seed = shoal_cva_seed(o.seed, e->k, e->c), o.degree = degree_of(e);
    const shoal_american option = { .payoff = (shoal_payoff)e->c->payoff,
                                    .strike = e->c->strike,
                                    .rate = e->j->rate,
                                    .maturity = (double)o.dates * e->j->dt,
                                    .sigma = e->assets,
                                    .dividend = e->assets + o.assets,
                                    .weight = e->c->weight,
                                    .correlation = e->assets + 2 * o.assets };
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
    const int64_t d = e->c->assets, most = j->paths < BATCH / 2 ? 2 * j->paths : BATCH;
    e->assets = malloc((size_t)(cva_asset_numbers(d) + most * (d + 2) + 1) * sizeof *e->assets);
    e->first = malloc((size_t)(most + 1) * sizeof *e->first);
    e->path = malloc((size_t)(most + 1) * sizeof *e->path);
    shoal_status s = SHOAL_OK;
    if (e->assets && e->first && e->path) {
        e->spot = e->assets + cva_asset_numbers(d), e->price = e->spot + most * d;
        shoal_cva_assets(j, e->c, e->assets);
        if (e->c->rule && e->k < e->c->last)
            e->p->wide->decide(e->p->head.ctx, j, e->c, e->k, j->now);
        /* where the same paths hold it at both levels, their inner paths are simulated once */
        const int same = !memcmp(e->exercised, e->exercised + j->paths, (size_t)j->paths);
        if (same) e->half = e->price + most;
        for (e->level = 0; e->level < (same ? 1 : CVA_LEVELS) && s == SHOAL_OK; e->level++) {
            s = one_level(e, counts);
            e->exercised += j->paths;
        }
    } else {
        s = shoal_fail(e->p->head.ctx, SHOAL_E_NOMEM, "no memory for %lld paths", (long long)most);
    }
    free(e->assets);
    free(e->first);
    free(e->path);
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
