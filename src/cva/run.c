/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs of a plan for CVA, and results from their rows.
 *
 * A run takes its outer paths from date to date together. Memory per path: two numbers per
 * asset, two per netting set, and its row. The result goes through the rows in their order, once
 * for means and once for the deviations from them; quantiles are exact: the exposure of that
 * rank is selected.
 */
#include "cva/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

shoal_status shoal_cva_describe(const shoal_cva *plan, shoal_cva_info *info) {
    const shoal_status s = shoal_plan_asked(plan, info);
    if (s != SHOAL_OK) return s;
    const cva_job *j = &plan->job;
    *info = (shoal_cva_info){ .horizon = j->horizon,
                              .dates = j->dates,
                              .sets = j->sets,
                              .expired = j->kinds[CVA_EXPIRED],
                              .closed = j->kinds[CVA_CLOSED],
                              .nested = j->kinds[CVA_NESTED],
                              .american = j->kinds[CVA_AMERICAN] };
    return SHOAL_OK;
}

int64_t shoal_cva_width(const shoal_cva *plan) {
    return plan ? CVA_LEVELS + 2 * plan->job.dates : 0;
}

/* ---- runs ------------------------------------------------------------------------------------- */

/* What is not covered of a set's value. */
static double uncovered(const shoal_cva *p, double value) {
    const double above = value > 0 ? value : 0;
    return p->collateral && above > p->threshold ? p->threshold : above;
}

/* Exposures of all paths at date k, into their rows. */
static void expose(const shoal_cva *p, const cva_job *j, int64_t k, double *samples) {
    const int64_t width = shoal_cva_width(p);
    for (int64_t path = 0; path < j->paths; path++) {
        double *row = samples + path * width, ours[CVA_LEVELS] = { 0 }, theirs = 0;
        for (int level = 0; level < CVA_LEVELS; level++) {
            const double *value = j->value + (path * CVA_LEVELS + level) * j->sets;
            for (int64_t set = 0; set < j->sets; set++) {
                ours[level] += uncovered(p, value[set]);
                if (level == CVA_ALL) theirs += uncovered(p, -value[set]);
            }
            row[level] += p->share[k - 1] * ours[level];
        }
        row[CVA_LEVELS + k - 1] = ours[CVA_ALL];
        row[CVA_LEVELS + j->dates + k - 1] = theirs;
    }
}

static shoal_status walk(shoal_cva *p, const cva_job *j, double *samples,
                         shoal_cva_counts *counts) {
    shoal_status s = SHOAL_OK;
    memset(samples, 0, (size_t)(j->paths * shoal_cva_width(p)) * sizeof *samples);
    for (int64_t k = 1; k <= j->dates && s == SHOAL_OK; k++) {
        const double start = shoal_price_seconds();
        p->cell->move(p->head.ctx, j, k);
        p->cell->value(p->head.ctx, j, k);
        const double half = shoal_price_seconds();
        if (j->kinds[CVA_NESTED] > 0) {
            p->cell->nest(p->head.ctx, j, k);
            counts->inner_paths += j->paths * j->inner[k - 1];
        }
        const double third = shoal_price_seconds();
        if (j->kinds[CVA_AMERICAN] > 0) s = shoal_cva_exercise(p, j, k, counts);
        const double last = shoal_price_seconds();
        expose(p, j, k, samples);
        counts->seconds[0] += half - start + (shoal_price_seconds() - last);
        counts->seconds[1] += third - half;
        counts->seconds[2] += last - third;
    }
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
    cva_job j = plan->job;
    const int64_t sums = j.kinds[CVA_NESTED] ? j.contracts : 0, tasks = paths / CVA_TASK + 1;
    const int64_t numbers =
        paths * (2 * j.assets + CVA_LEVELS * j.sets) + tasks * CVA_LEVELS * sums;
    shoal_plan *scratch; /* owns them */
    double *memory;
    s = shoal_plan_new(ctx, sizeof *scratch, plan, &scratch);
    if (s != SHOAL_OK) return s;
    const int64_t exercised = paths * CVA_LEVELS * j.kinds[CVA_AMERICAN];
    s = shoal_plan_host(scratch, numbers, sizeof *memory, &memory);
    if (s == SHOAL_OK) s = shoal_plan_host(scratch, exercised + paths, 1, &j.exercised);
    if (s == SHOAL_OK) {
        shoal_cva_counts none = { 0 };
        j.now = j.exercised + exercised;
        j.first = (uint64_t)first, j.paths = paths;
        j.brownian = memory, j.spot = j.brownian + paths * j.assets;
        j.value = j.spot + paths * j.assets, j.sums = j.value + paths * CVA_LEVELS * j.sets;
        s = walk(plan, &j, samples, counts ? counts : &none);
    }
    shoal_plan_free(scratch);
    return s;
}

/* ---- results ---------------------------------------------------------------------------------- */

/* Mean of x = factor times number at[i stride], less number less[i stride] unless that is NULL,
 * and its standard error. */
static double mean_of(const double *at, const double *less, int64_t stride, int64_t paths,
                      double factor, double *error) {
    double mean = 0, squares = 0;
    for (int round = 0; round < 2; round++) {
        shoal_pair sum = { 0, 0 };
        for (int64_t i = 0; i < paths; i++) {
            const double x = factor * at[i * stride] - (less ? less[i * stride] : 0);
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

/* The number of rank ceil(q count) of x, which is put in its place, none greater before it and none
 * less behind it: Hoare's selection. All ranks below `low` are in their places already. */
static double quantile(double *x, int64_t low, int64_t count, int64_t hundredths) {
    const int64_t rank = (count * hundredths + 99) / 100 - 1;
    for (int64_t high = count - 1; low < high;) {
        const double pivot = x[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            const double swapped = x[i];
            x[i++] = x[j], x[j--] = swapped;
        }
        if (rank <= j)
            high = j;
        else if (rank >= i)
            low = i;
        else
            break;
    }
    return x[rank];
}

/* Date k; room: two numbers per path. */
static void make_date(const shoal_cva *p, const double *samples, int64_t paths, int64_t k,
                      double *room, shoal_cva_date *to) {
    const int64_t width = shoal_cva_width(p);
    const double *row = samples + CVA_LEVELS + k;
    double *ours = room, *theirs = room + paths, ignored;
    for (int64_t i = 0; i < paths; i++, row += width)
        ours[i] = row[0], theirs[i] = row[p->job.dates];
    to->time = cva_time(&p->job, k + 1);
    to->epe = mean_of(ours, NULL, 1, paths, 1, &to->epe_error);
    to->ene = mean_of(theirs, NULL, 1, paths, 1, &ignored);
    to->pfe95 = quantile(ours, 0, paths, 95);
    to->pfe99 = quantile(ours, (paths * 95 + 99) / 100 - 1, paths, 99);
    to->discount = exp(-p->job.rate * to->time);
    to->default_probability = p->chance[k];
    to->cva = p->share[k] * to->epe;
    to->inner = p->job.inner[k];
}

static shoal_status make_profile(const shoal_cva *p, const double *samples, int64_t paths,
                                 shoal_cva_date *profile) {
    const int64_t dates = p->job.dates;
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
    const double *all = samples + CVA_ALL, *half = samples + CVA_HALF;
    value->cva = mean_of(all, NULL, width, paths, 1, &value->error);
    value->bias = mean_of(half, all, width, paths, 1, &value->bias_error);
    value->extrapolated = mean_of(all, half, width, paths, 2, &value->extrapolated_error);
    return profile ? make_profile(plan, samples, paths, profile) : SHOAL_OK;
}
