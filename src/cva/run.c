/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs of a plan for CVA, and results from their rows.
 *
 * A run takes its outer paths from date to date together, up to the last date of exposure, on the CPU or on the GPU; with
 * regressions at nodes always on the CPU. Memory per path: two numbers per asset, three per netting set, and its row. The
 * result goes through the rows in their order, once for means and once for the deviations from them; quantiles are exact:
 * their ranks are selected among the exposures of a date.
 */
#include "core/loops.h"
#include "cva/span.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

shoal_status shoal_cva_describe(const shoal_cva *plan, shoal_cva_info *info) {
    const shoal_status s = shoal_plan_asked(plan, info);
    if (s != SHOAL_OK) return s;
    const cva_job *j = &plan->job;
    *info = (shoal_cva_info){ .horizon = j->horizon,
                              .dates = j->exposures,
                              .sets = j->sets,
                              .outer = plan->outer,
                              .inner = j->inner[0],
                              .level_share = plan->share_of_level,
                              .expired = j->kinds[CVA_EXPIRED],
                              .closed = j->kinds[CVA_CLOSED],
                              .nested = j->kinds[CVA_NESTED],
                              .american = j->kinds[CVA_AMERICAN] };
    return SHOAL_OK;
}

int64_t shoal_cva_width(const shoal_cva *plan) {
    if (!plan) return 0;
    const int64_t lists = cva_lists(&plan->job) + (plan->price ? plan->job.contracts : 0);
    return CVA_ROW_HEAD + lists * plan->job.exposures;
}

/* ---- runs ------------------------------------------------------------------------------------- */

void shoal_cva_look_from(const shoal_cva *p, cva_job *j, int64_t k) {
    const shoal_words seed =
        shoal_philox_at(p->american.seed, (uint64_t)k, 0, PRICE_PURPOSE, PRICE_CVA_INNER, 1);
    j->walk_normals = shoal_stream_of(shoal_half(&seed, 0), 0, PRICE_PURPOSE, PRICE_CVA_INNER);
    if (j->ahead > 0 && p->job.stop[j->ahead - 1] > k) j->ahead = 0;
    while (j->ahead < p->job.stops && p->job.stop[j->ahead] <= k) j->ahead++;
}

void shoal_cva_begin_date(const shoal_cva *p, cva_job *j, int64_t k) {
    shoal_cva_look_from(p, j, k);
    j->date = k > 0 ? p->job.exposure[k - 1] : -1;
    if (j->date < 0) return;
    j->share = p->share[j->date], j->paths_inner = p->job.inner[j->date];
    j->chance = p->chance[j->date], j->known_hazard = p->integrated[j->date];
    j->known_before = j->date > 0 ? p->integrated[j->date - 1] : 0;
    j->discount = exp(-cva_rate(&p->job, cva_between(&p->job, 0, k)));
    j->top_level = p->top_level;
    while (j->top_level > 0 && j->paths_inner << j->top_level > SHOAL_CVA_INNER) j->top_level--;
}

static shoal_status walk(shoal_cva *p, cva_job *j, shoal_cva_counts *counts) {
    const shoal_stage stage = shoal_stage_begin(p->head.ctx, "outer paths");
    const int64_t end = p->job.exposed[j->exposures - 1];
    shoal_status s = p->cell->begin(p->where, j, 0);
    if (s == SHOAL_OK && p->slot_at && p->slot_at[0] >= 0) { /* a margin call today */
        shoal_cva_begin_date(p, j, 0);
        s = shoal_cva_nodes(p, j, 0, counts);
    }
    for (int64_t k = 1; k <= end && s == SHOAL_OK; k++) {
        s = shoal_stage_step(p->head.ctx, &stage, (double)(k - 1), (double)k, (double)end);
        if (s != SHOAL_OK) break;
        shoal_cva_begin_date(p, j, k);
        s = p->cell->move(p->where, j, k);
        if (s == SHOAL_OK) s = shoal_cva_nodes(p, j, k, counts);
    }
    return shoal_stage_end(p->head.ctx, &stage, s);
}

enum { CUBE = 1 << 22 }; /* numbers of contracts and paths that a GPU makes before it adds them */

/* The arrays of a run, one after the other; the plan keeps their memory. */
static shoal_status make_arrays(shoal_cva *p, cva_job *j) {
    const int64_t paths = j->paths, device = p->where->ops != NULL;
    const int walks = device && j->americans > 0 && p->estimator == SHOAL_CVA_BY_RULE;
    const int64_t worth = p->price ? paths * j->contracts : 0;
    const int64_t slots = p->slots, calls = slots > 0 ? paths * CVA_RULES * j->sets : 0;
    const int64_t jumps = j->jump ? paths : 0, hazards = j->hazard ? paths : 0;
    const int64_t planes = slots > 0 ? 4 : 2;
    const int64_t numbers =
        paths * (j->europeans > planes * j->americans ? j->europeans : planes * j->americans);
    j->cube_room = numbers < CUBE ? numbers : CUBE > planes * paths ? CUBE : planes * paths;
    const struct {
        int64_t count;
        size_t size;
        void *to;
    } lists[] = { { paths * j->assets, sizeof(double), &j->brownian },
                  { paths * j->assets, sizeof(double), &j->spot },
                  { paths * CVA_LEVELS * j->sets, sizeof(double), &j->value },
                  { paths * j->sets, sizeof(double), &j->differ },
                  { worth, sizeof(double), &j->worth },
                  { worth, sizeof(double), &j->paid },
                  { device ? paths * j->width : 0, sizeof(double), &j->row },
                  { device ? j->cube_room : 0, sizeof(double), &j->cube },
                  { walks ? j->stops * cva_table_numbers(j->assets) : 0, sizeof(double),
                    &j->table },
                  { paths, sizeof(cva_node), &j->node },
                  { 1, sizeof(int64_t), &j->groups },
                  { calls, sizeof(double), &j->flow },
                  { calls, sizeof(double), &j->flow_now },
                  { slots * shoal_cva_slot_numbers(j), sizeof(double), &j->slots },
                  { slots * paths * j->places, 1, &j->slot_holds },
                  { jumps * j->assets, sizeof(double), &j->after.spot },
                  { jumps * CVA_LEVELS * j->sets, sizeof(double), &j->after.value },
                  { jumps * j->sets, sizeof(double), &j->after.differ },
                  { jumps * j->places, 1, &j->after.holds },
                  { hazards, sizeof(double), &j->log_hazard },
                  { hazards, sizeof(double), &j->integrated },
                  { hazards, sizeof(double), &j->integrated_before },
                  { paths * CVA_RULES * j->places, 1, &j->exercised },
                  { paths * j->places, 1, &j->holds } };
    enum { LISTS = sizeof lists / sizeof *lists, ALIGNED = 64 };
    size_t bytes = 0;
    for (int i = 0; i < LISTS; i++)
        bytes += ((size_t)lists[i].count * lists[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    const shoal_status s = shoal_plan_reserve(p->room, bytes, &p->arena);
    if (s != SHOAL_OK) return s;
    char *at = p->arena;
    for (int i = 0; i < LISTS; i++) {
        void *none = NULL;
        memcpy(lists[i].to, lists[i].count > 0 ? (void *)&at : (void *)&none, sizeof at);
        at += ((size_t)lists[i].count * lists[i].size + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
    return SHOAL_OK;
}

/* Touches the pages of the rows while the GPU works: copying to new memory would do it page by page. */
static void touch(const shoal_cva *p, double *samples, int64_t numbers) {
    enum { PAGE = 512 };
    const int threads = p->head.ctx->threads;
    ON_THREADS(threads, static)
    for (int64_t i = 0; i < numbers; i += PAGE) samples[i] = 0;
}

shoal_status shoal_cva_run_paths(shoal_cva *p, int64_t first, int64_t paths, double *samples,
                                 shoal_cva_counts *counts) {
    cva_job j = p->where->ops ? p->device : p->job;
    j.first = (uint64_t)first, j.paths = paths, j.width = shoal_cva_width(p);
    j.is_pilot = p->is_pilot;
    p->host.message[0] = 0;
    for (int level = 0; level <= CVA_MAX_LEVEL; level++)
        j.at_least[level] = level ? p->share_of_level * exp2(-1.25 * (level - 1)) : 1;
    const int64_t numbers = paths * j.width;
    const double start = shoal_price_seconds() - counts->seconds[1] - counts->seconds[2];
    shoal_status s = make_arrays(p, &j);
    if (s == SHOAL_OK && p->where->ops) touch(p, samples, numbers);
    if (!p->where->ops) j.row = samples;
    if (s == SHOAL_OK) s = walk(p, &j, counts);
    if (s == SHOAL_OK && p->where->ops)
        s = shoal_copy(p->where, samples, j.row, (size_t)numbers * sizeof *samples);
    counts->seconds[0] += shoal_price_seconds() - counts->seconds[1] - counts->seconds[2] - start;
    if (s != SHOAL_OK && p->where != p->head.ctx && p->host.message[0])
        snprintf(p->head.ctx->message, sizeof p->head.ctx->message, "%s", p->host.message);
    return s;
}

shoal_status shoal_cva_run(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                           shoal_cva_counts *counts) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    shoal_status s = shoal_ready(ctx);
    if (s != SHOAL_OK) return s;
    s = shoal_check_count(ctx, "first", first, 0, SHOAL_CVA_OUTER);
    if (s != SHOAL_OK) return s;
    if (paths < 0 || paths > SHOAL_CVA_OUTER - first)
        return shoal_fail(ctx, SHOAL_E_ARG, "paths is %lld; it must be at least 0, and end at %lld",
                          (long long)paths, (long long)SHOAL_CVA_OUTER);
    if (paths == 0) return SHOAL_OK;
    if (!samples) return shoal_fail(ctx, SHOAL_E_ARG, "samples is NULL");
    shoal_cva_counts none = { 0 };
    return shoal_cva_run_paths(plan, first, paths, samples, counts ? counts : &none);
}

/* ---- results ---------------------------------------------------------------------------------- */

double shoal_cva_mean(const double *at, const double *less, int64_t stride, int64_t paths,
                      double *error) {
    double mean = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        shoal_pair sum = { 0, 0 };
        for (int64_t i = 0; i < paths; i++) {
            const double x = at[i * stride] - (less ? less[i * stride] : 0);
            const shoal_pair next = shoal_two_sum(sum.hi, round ? (x - mean) * (x - mean) : x);
            sum.hi = next.hi, sum.lo += next.lo;
        }
        if (round)
            squares = sum.hi + sum.lo;
        else
            mean = (sum.hi + sum.lo) / (double)paths;
    }
    *error = paths > 1 ? sqrt(squares / (double)paths / (double)(paths - 1)) : NAN;
    return mean;
}

/* 95 %: of the error, and of a bias as large as it is estimated. */
static void make_interval(double value, double error, double bias, double *low, double *high) {
    const double half = 1.959964 * sqrt(error * error + bias * bias);
    *low = value - half, *high = value + half;
}

/* With regressions at nodes, what half of the inner paths would change; with rules, what another rule would. */
static double date_bias(const shoal_cva *p, const double *row, int list, int whole, int half,
                        int64_t width, int64_t paths) {
    double ignored;
    const int64_t dates = p->job.exposures;
    if (p->estimator == SHOAL_CVA_BY_INNER)
        return half < 0 ? 0
                        : fabs(shoal_cva_mean(row + half * dates, row + whole * dates, width, paths,
                                              &ignored));
    return fabs(shoal_cva_mean(row + list * dates, NULL, width, paths, &ignored));
}

/* Moves x[i] to where it were if x ascended, smaller numbers before it and larger ones behind it (C. A. R. Hoare's
 * selection); numbers before `from` are no larger than those behind. */
static double select_from(double *x, int64_t from, int64_t count, int64_t i) {
    for (int64_t to = count - 1; from < to;) {
        const double middle = x[from + (to - from) / 2];
        int64_t a = from, b = to;
        while (a <= b) {
            while (x[a] < middle) a++;
            while (x[b] > middle) b--;
            if (a > b) break;
            const double swapped = x[a];
            x[a++] = x[b], x[b--] = swapped;
        }
        if (i <= b)
            to = b;
        else if (i >= a)
            from = a;
        else
            break;
    }
    return x[i];
}

/* The number of a rank, from 1. `done`, 0 at first, is the last one: ranks are best asked for in ascending order. */
static double ranked(double *x, int64_t count, int64_t rank, int64_t *done) {
    const int64_t i = rank < 1 ? 0 : rank > count ? count - 1 : rank - 1;
    const double found = select_from(x, i < *done ? 0 : *done, count, i);
    *done = i;
    return found;
}

typedef struct
    quantiles { /* numbers of the paths, and with half of the inner paths; the last ranks of both */
    double *x, *half;
    int64_t done, half_done;
} quantiles;

/* The exposure of rank ceil(q paths); the ranks of its 95 % interval are those of a binomial law, and noise of inner
 * paths widens it by what half of them change. */
static void make_quantile(quantiles *of, int64_t paths, int64_t hundredths, double *value,
                          double *low, double *high) {
    const int64_t rank = (paths * hundredths + 99) / 100;
    const double q = 0.01 * (double)hundredths;
    const int64_t off = (int64_t)ceil(1.959964 * sqrt((double)paths * q * (1 - q)));
    *low = ranked(of->x, paths, rank - off, &of->done);
    *value = ranked(of->x, paths, rank, &of->done);
    const double shift = fabs(ranked(of->half, paths, rank, &of->half_done) - *value);
    *low = fmax(*low - shift, 0);
    *high = ranked(of->x, paths, rank + off, &of->done) + shift;
}

/* Date of exposure k; room: two numbers per path. */
static void make_date(const shoal_cva *p, const double *samples, int64_t paths, int64_t k,
                      double *room, shoal_cva_date *to) {
    const int64_t width = shoal_cva_width(p), dates = p->job.exposures;
    const double *row = samples + CVA_ROW_HEAD + k;
    quantiles of = { room, room + paths, 0, 0 };
    to->time = cva_time(&p->job, p->job.exposed[k]);
    to->epe = shoal_cva_mean(row + CVA_LIST_OURS * dates, NULL, width, paths, &to->epe_error);
    to->ene = shoal_cva_mean(row + CVA_LIST_THEIRS * dates, NULL, width, paths, &to->ene_error);
    to->epe_bias = date_bias(p, row, CVA_LIST_RULE, CVA_LIST_WHOLE, CVA_LIST_HALF, width, paths);
    to->ene_bias = date_bias(p, row, CVA_LIST_RULE_THEIRS, 0, -1, width, paths);
    make_interval(to->epe, to->epe_error, to->epe_bias, &to->epe_low, &to->epe_high);
    make_interval(to->ene, to->ene_error, to->ene_bias, &to->ene_low, &to->ene_high);
    for (int64_t i = 0; i < paths; i++) {
        of.x[i] = fmax(row[i * width + CVA_LIST_WHOLE * dates], 0);
        of.half[i] = fmax(row[i * width + CVA_LIST_HALF * dates], 0);
    }
    make_quantile(&of, paths, 95, &to->pfe95, &to->pfe95_low, &to->pfe95_high);
    make_quantile(&of, paths, 99, &to->pfe99, &to->pfe99_low, &to->pfe99_high);
    to->discount = exp(-cva_rate(&p->job, cva_between(&p->job, 0, p->job.exposed[k])));
    to->default_probability = p->chance[k];
    to->epe_default = to->epe, to->epe_default_error = to->epe_error;
    if (p->job.wrong_way)
        to->epe_default = shoal_cva_mean(row + CVA_LIST_DEFAULT * dates, NULL, width, paths,
                                         &to->epe_default_error);
    to->cva = p->share[k] * to->epe_default;
    to->inner = p->job.inner[k];
}

static shoal_status make_profile(const shoal_cva *p, const double *samples, int64_t paths,
                                 shoal_cva_date *profile) {
    const int64_t dates = p->job.exposures;
    const int workers = dates < p->head.ctx->threads ? (int)dates : p->head.ctx->threads;
    double *room = malloc((size_t)(2 * paths * workers) * sizeof *room);
    if (!room)
        return shoal_fail(p->head.ctx, SHOAL_E_NOMEM, "no memory for %lld exposures",
                          (long long)paths);
#pragma omp parallel for num_threads(workers) schedule(static, 1)
    for (int worker = 0; worker < workers; worker++)
        for (int64_t k = worker; k < dates; k += workers)
            make_date(p, samples, paths, k, room + 2 * paths * worker, &profile[k]);
    free(room);
    return SHOAL_OK;
}

shoal_status shoal_cva_result(const shoal_cva *plan, const double *samples, int64_t paths,
                              shoal_cva_value *value, shoal_cva_date *profile) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    const shoal_array given[] = { { "samples", samples, 0 }, { "value", value, 0 } };
    shoal_status s = shoal_check_pointers(ctx, given, 2);
    if (s == SHOAL_OK) s = shoal_check_count(ctx, "paths", paths, 1, SHOAL_CVA_OUTER);
    if (s != SHOAL_OK) return s;
    const int64_t width = shoal_cva_width(plan);
    const double *plain = samples + CVA_ROW_PLAIN, *rule = samples + CVA_ROW_RULE;
    const int inner = plan->estimator == SHOAL_CVA_BY_INNER;
    *value = (shoal_cva_value){ 0 };
    value->cva = shoal_cva_mean(samples, NULL, width, paths, &value->error);
    if (inner)
        value->inner_bias = shoal_cva_mean(plain, samples, width, paths, &value->inner_bias_error);
    else
        value->correction = shoal_cva_mean(samples, plain, width, paths, &value->correction_error);
    value->rule_bias = shoal_cva_mean(rule, NULL, width, paths, &value->rule_bias_error);
    value->bias = fabs(value->inner_bias) + fabs(value->rule_bias);
    make_interval(value->cva, value->error, value->bias, &value->low, &value->high);
    return profile ? make_profile(plan, samples, paths, profile) : SHOAL_OK;
}
