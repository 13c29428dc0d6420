/* SPDX-License-Identifier: Apache-2.0
 *
 * cva_american.c - contracts with early exercise along outer paths: at a date, all paths that still hold a
 * contract are a batch of Longstaff-Schwartz problems, one for each with the path's prices to start from
 * and the dates that are left, once with all inner paths and once with half of them: together where both hold
 * it on the same paths, and one after the other where not.
 *
 * The inner paths of an outer path and date have numbers of their own and are the same for all contracts:
 * what is bought and sold nets exactly, and what became of a path does not depend on which others are in
 * its batch. Cost: for M outer paths, N dates and m inner paths M m N^2 / 2 path-steps a contract, or 3/2 of
 * that, and M (N - 1) (N - 2) systems, less what is exercised.
 */
#include "pricing/cva_plan.h"
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1 << 17 }; /* problems at a time */

typedef struct exercise { /* of one contract at one date and level */
    shoal_cva *p;
    const cva_job *j;
    const cva_contract *c;
    int64_t k;
    int level;
    char *exercised;                               /* [path] */
    double *sigma, *dividend, *correlation, *spot; /* of its assets; spot: [problem][asset] */
    double *price;                                 /* [problem] */
    double *half;    /* [problem] of CVA_HALF, beside CVA_ALL; or NULL */
    uint64_t *first; /* [problem] */
    int64_t *path;   /* [problem] */
} exercise;

/* One seed a date: the numbers of an outer path's inner paths have no room for it. */
static uint64_t seed_of(uint64_t seed, int64_t k) {
    const shoal_words w = shoal_philox_at(seed, (uint64_t)k, 0, PRICE_PURPOSE, CVA_INNER_DRAW, 1);
    return shoal_half(&w, 0);
}

/* Whether a path holds the contract at the date; then its problem. */
static int add_problem(exercise *e, int64_t path, int64_t at) {
    const cva_job *j = e->j;
    const int d = e->c->assets;
    if (e->exercised[path]) return 0;
    double *spot = e->spot + at * d;
    for (int i = 0; i < d; i++) spot[i] = j->spot[path * j->assets + e->c->asset[i]];
    e->first[at] = (j->first + (uint64_t)path) << CVA_INNER_BITS;
    e->path[at] = path;
    return 1;
}

static shoal_status solve(exercise *e, int64_t problems, shoal_cva_counts *counts) {
    const int64_t inner = e->j->inner[e->k - 1] / (e->level == CVA_HALF ? 2 : 1);
    int64_t total[FIT_COUNTS] = { 0 };
    shoal_american_opts o = e->p->american;
    o.assets = e->c->assets, o.dates = e->c->last - e->k, o.fit_paths = inner;
    o.seed = seed_of(o.seed, e->k);
    const shoal_american option = { .payoff = (shoal_payoff)e->c->payoff,
                                    .strike = e->c->strike,
                                    .rate = e->j->rate,
                                    .maturity = (double)o.dates * e->j->dt,
                                    .sigma = e->sigma,
                                    .dividend = e->dividend,
                                    .weight = e->c->weight,
                                    .correlation = e->correlation };
    const shoal_status s = shoal_american_batch(e->p->ctx, &option, problems, e->spot, e->first, &o,
                                                0, &e->p->batch, e->price, e->half, total);
    counts->inner_paths += problems * (inner + (e->half ? inner / 2 : 0));
    counts->systems += problems * (o.dates - 1) * (e->half ? CVA_LEVELS : 1);
    counts->empty += total[FIT_EMPTY], counts->warned += total[FIT_WARNED];
    counts->truncated += total[FIT_TRUNCATED], counts->refined += total[FIT_REFINED];
    counts->failed += total[FIT_FAILED];
    for (int i = 0; i < SHOAL_CVA_METHODS; i++) counts->method[i] += total[FIT_METHOD + i];
    for (int i = 0; i < SHOAL_CVA_DECADES; i++) counts->decade[i] += total[FIT_DECADE + i];
    return s;
}

/* The larger of exercise and going on, and which it is. */
static void decide(exercise *e, int64_t problems, int level, const double *price) {
    const cva_job *j = e->j;
    for (int64_t i = 0; i < problems; i++) {
        const int64_t path = e->path[i];
        const double pays = cva_pay(e->c, j->spot + path * j->assets);
        const double hold = e->c->last > e->k ? price[i] : 0;
        const double worth = pays > hold ? pays : hold;
        j->value[(path * CVA_LEVELS + level) * j->sets + e->c->set] += e->c->quantity * worth;
        e->exercised[(level - e->level) * j->paths + path] =
            pays > 0 && pays >= hold && !e->p->kept;
    }
}

static shoal_status one_level(exercise *e, shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    for (int64_t path = 0; path < e->j->paths && s == SHOAL_OK;) {
        int64_t problems = 0;
        for (; path < e->j->paths && problems < BATCH; path++)
            problems += add_problem(e, path, problems);
        if (problems > 0 && e->c->last > e->k) s = solve(e, problems, counts);
        if (s == SHOAL_OK) decide(e, problems, e->level, e->price);
        if (s == SHOAL_OK && e->half) decide(e, problems, CVA_HALF, e->half);
    }
    return s;
}

static shoal_status one_contract(exercise *e, shoal_cva_counts *counts) {
    const cva_job *j = e->j;
    const int64_t d = e->c->assets, most = j->paths < BATCH ? j->paths : BATCH;
    e->sigma = malloc((size_t)(d * (d + 2) + most * (d + 2) + 1) * sizeof *e->sigma);
    e->first = malloc((size_t)(most + 1) * sizeof *e->first);
    e->path = malloc((size_t)(most + 1) * sizeof *e->path);
    shoal_status s = SHOAL_OK;
    if (e->sigma && e->first && e->path) {
        e->dividend = e->sigma + d, e->correlation = e->sigma + 2 * d;
        e->spot = e->correlation + d * d, e->price = e->spot + most * d;
        for (int64_t a = 0; a < d; a++) {
            e->sigma[a] = j->sigma[e->c->asset[a]];
            e->dividend[a] = j->dividend[e->c->asset[a]];
            for (int64_t b = 0; b < d; b++)
                e->correlation[a * d + b] =
                    j->correlation[e->c->asset[a] * j->assets + e->c->asset[b]];
        }
        /* where the same paths hold it at both levels, their inner paths are simulated once */
        const int same = !memcmp(e->exercised, e->exercised + j->paths, (size_t)j->paths);
        if (same) e->half = e->price + most;
        for (e->level = 0; e->level < (same ? 1 : CVA_LEVELS) && s == SHOAL_OK; e->level++) {
            s = one_level(e, counts);
            e->exercised += j->paths;
        }
    } else {
        s = shoal_fail(e->p->ctx, SHOAL_E_NOMEM, "no memory for %lld paths", (long long)most);
    }
    free(e->sigma);
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
