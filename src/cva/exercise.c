/* SPDX-License-Identifier: Apache-2.0
 *
 * exercise.c - contracts with early exercise by regressions at every node, as the paper of Abbas-Turki and Graillat
 * has them: `inner`.
 *
 * At a date of exposure or of exercise, all paths that still hold a contract are a batch of Longstaff-Schwartz
 * problems: one per path, from the path's prices over its dates of exercise that are left, with all inner paths and
 * with half of them. Both levels are one batch as long as the same paths hold the contract at both. A path exercises
 * if that pays as much as the mean of going on over its inner paths. Such a rule is fitted on few paths, and values
 * are the lower for it; it also sees into the future of its paths, and values are the higher for that.
 *
 * The inner paths of an outer path and date have addresses of their own and are the same for all
 * contracts on the same assets: what is bought and sold nets exactly, and a path does not depend
 * on the others of its batch. Cost: for M outer paths, N dates and m inner paths M m N^2 / 2
 * path-steps per contract, or 3/2 of that, and M (N - 1) (N - 2) systems, less what is exercised.
 */
#include "cva/values.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEGREE = 3, INNER_PER_FUNCTION = 20 }; /* of inner paths, by default */
enum { BATCH = 1 << 17 };                     /* problems at a time         */

/* The highest degree, up to `degree`, with at most so many functions. */
static int64_t degree_within(const cva_contract *c, int64_t degree, int64_t functions) {
    while (degree > 1 &&
           shoal_american_functions(c->assets, degree, cva_american_payoff(c)) > functions)
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

/* The contract as an option on its assets, with `left` years to go. */
static shoal_american option_of(const cva_job *j, const cva_contract *c, double left,
                                const double *assets) {
    return (shoal_american){ .payoff = cva_american_payoff(c),
                             .strike = c->strike,
                             .rate = j->rate,
                             .maturity = left,
                             .sigma = assets,
                             .dividend = assets + c->assets,
                             .weight = c->weight,
                             .correlation = assets + 2 * c->assets };
}

/* Dates of exercise after date k, at[1 ..], in mean steps from one to the next: how many. A step that is the mean one
 * but for rounding is 1. */
static int64_t exercise_dates(const cva_job *j, const cva_contract *c, int64_t k, double *at) {
    int64_t count = 0;
    for (int64_t i = k + 1; i <= c->last; i++)
        if (i == c->last || c->may[i - 1]) at[++count] = j->time[i] - j->time[k];
    const double step = at[count] / (double)count;
    at[0] = 0;
    for (int64_t i = 1; i <= count; i++) {
        const double whole = (double)i, steps = at[i] / step;
        at[i] = fabs(steps - whole) < CVA_SAME * whole ? whole : steps;
    }
    return count;
}

/* Inner paths at a date: those of the next date of exposure. */
static int64_t inner_of(const cva_job *j, int64_t k) {
    while (j->exposure[k - 1] < 0) k++;
    return j->inner[j->exposure[k - 1]];
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
    double *times;         /* of exercise_dates()                      */
    int64_t dates;         /* of exercise that are left                */
    double *price;         /* [problem] */
    double *half;          /* [problem] of CVA_HALF, beside CVA_ALL; or NULL */
    uint64_t *first;       /* [problem] */
    int64_t *path;         /* [problem] */
} exercise;

/* The value of the contract on a path, and whether it is worth that for the last time. */
static void settle(const exercise *e, int level, int64_t path, double worth, int ends) {
    const cva_job *j = e->j;
    j->value[(path * CVA_LEVELS + level) * j->sets + e->c->set] += e->c->quantity * worth;
    e->exercised[(level - e->level) * j->paths + path] = ends && !e->j->kept;
    if (level == CVA_ALL) cva_note(j, e->c, e->k, path, worth, ends);
}

/* Whether going on has to be valued on a path; then its problem. */
static int add_problem(exercise *e, int64_t path, int64_t at) {
    const cva_job *j = e->j;
    const int d = e->c->assets;
    if (e->exercised[path]) return 0;
    if (e->k == e->c->last) {
        const double pays = cva_pay(e->c, j->spot + path * j->assets, e->k);
        settle(e, e->level, path, pays, 1);
        if (e->half) settle(e, CVA_HALF, path, pays, 1);
        return 0;
    }
    double *spot = e->spot + at * d;
    for (int i = 0; i < d; i++) spot[i] = j->spot[path * j->assets + e->c->asset[i]];
    e->first[at] = (j->first + (uint64_t)path) << CVA_INNER_BITS;
    e->path[at] = path;
    return 1;
}

static shoal_status solve(exercise *e, int64_t problems, shoal_cva_counts *counts) {
    const int64_t all = inner_of(&e->p->job, e->k), inner = e->level == CVA_HALF ? all / 2 : all;
    int64_t total[FIT_COUNTS] = { 0 };
    shoal_american_opts o = e->p->american;
    o.assets = e->c->assets, o.dates = e->dates, o.fit_paths = inner;
    o.seed = seed_of(o.seed, e->k, e->c);
    if (!o.degree) o.degree = degree_within(e->c, DEGREE, all / INNER_PER_FUNCTION);
    const shoal_american option =
        option_of(e->j, e->c, e->j->time[e->c->last] - e->j->time[e->k], e->assets);
    const shoal_status s =
        shoal_american_batch(e->p->head.ctx, &option, problems, e->spot, e->first, e->times, &o,
                             &e->p->batch, e->price, e->half, total);
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

/* The larger of going on and exercise, where that is possible. */
static void decide(exercise *e, int64_t problems, int level, const double *price) {
    const cva_job *j = e->j;
    const int may = e->c->may[e->k - 1];
    for (int64_t i = 0; i < problems; i++) {
        const double pays = cva_pay(e->c, j->spot + e->path[i] * j->assets, e->k), hold = price[i];
        const int now = may && pays > 0 && pays >= hold;
        settle(e, level, e->path[i], now ? pays : hold, now);
    }
}

static shoal_status one_level(exercise *e, shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    for (int64_t path = 0; path < e->j->paths && s == SHOAL_OK;) {
        int64_t problems = 0;
        for (; path < e->j->paths && problems < BATCH; path++)
            problems += add_problem(e, path, problems);
        if (problems > 0) s = solve(e, problems, counts);
        if (s == SHOAL_OK) decide(e, problems, e->level, e->price);
        if (s == SHOAL_OK && e->half) decide(e, problems, CVA_HALF, e->half);
    }
    return s;
}

static shoal_status one_contract(exercise *e, shoal_cva_counts *counts) {
    const cva_job *j = e->j;
    const int64_t d = e->c->assets, at_once = j->paths < BATCH ? j->paths : BATCH;
    shoal_plan *scratch; /* owns the arrays */
    shoal_status s = shoal_plan_new(e->p->head.ctx, sizeof *scratch, e, &scratch);
    if (s != SHOAL_OK) return s;
    const int64_t numbers = asset_numbers(d) + at_once * (d + 2) + e->c->last - e->k + 2;
    s = shoal_plan_host(scratch, numbers, sizeof *e->assets, &e->assets);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, at_once, sizeof *e->first, &e->first);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, at_once, sizeof *e->path, &e->path);
    if (s == SHOAL_OK) {
        e->spot = e->assets + asset_numbers(d), e->price = e->spot + at_once * d;
        e->times = e->price + 2 * at_once;
        if (e->k < e->c->last) e->dates = exercise_dates(j, e->c, e->k, e->times);
        take_assets(j, e->c, e->assets);
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
    for (int64_t i = 0; i < j->contracts && s == SHOAL_OK; i++) {
        const cva_contract *c = &j->contract[i];
        if (c->kind != CVA_AMERICAN) continue;
        char *exercised = j->exercised + c->place * CVA_LEVELS * j->paths;
        exercise e = { .p = p, .j = j, .c = c, .k = k, .exercised = exercised };
        const int visited =
            p->job.exposure[k - 1] >= 0 || k == c->last || (k < c->last && c->may[k - 1]);
        if (k <= c->last && visited) s = one_contract(&e, counts);
    }
    return s;
}
