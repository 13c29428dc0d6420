/* SPDX-License-Identifier: Apache-2.0
 *
 * pilot.c - what a pilot run measures on outer paths of its own: how many nodes get further levels of inner paths, and
 * for a wished standard error the cheapest numbers of inner and outer paths.
 *
 * In the pilot every node has two groups of m0 inner paths. Of the variance of an outer path's share of the CVA,
 *
 *     Var = v + w / m + A d(m) / share,   d(m) = d(m0) (m0 / m)^(3/2),
 *
 * v is that of the outer paths, w that of inner paths, and d that of the first level's correction. The exposure by all
 * inner paths less that by half of them has the variance w / (2 m0). In path-steps an outer path costs
 *
 *     cost = c + s m (1 + B share),
 *
 * s the steps of an inner path at all nodes. A and B are sums over the levels l of nodes.c, whose corrections have the
 * variance 2^(-3 (l - 1) / 2) d, whose inner paths are 2^l m, and whose chance is P(level = l):
 *
 *     A = share sum 2^(-3 (l - 1) / 2) / P(level = l),   B = sum P(level = l) 2^l / share.
 *
 * For each m the best share is sqrt((A / B) (d / (v + w / m)) (cost without levels) / (s m)); of the m, a power of
 * two times CVA_LANES, that is chosen whose Var cost is least. Costs are counted, not timed, so that the same seed
 * chooses the same numbers on every machine.
 */
#include "cva/plan.h"
#include <math.h>
#include <stdlib.h>

enum { PILOT = 128, PILOT_FOR_TARGET = 512, TOP = 12 };
enum { OUTER_STEPS = 16 }; /* steps of an inner path that take as long as a date of an outer path */
enum { MAX_INNER = 1 << 14 }; /* that are chosen */
enum { SPARE = 5 };           /* percent of outer paths more than the pilot says */

typedef struct measured {
    double outer, inner, levels; /* v, w, d(m0) */
    double fixed, steps;         /* cost: c, s  */
} measured;

/* What the CVA has of an exposure, in the mean of all counterparties. */
static double mean_share(const shoal_cva *p, int64_t k) {
    double sum = 0;
    for (int64_t i = 0; i < p->job.parties; i++) sum += p->share[i * p->job.exposures + k];
    return sum / (double)p->job.parties;
}

/* The exposure by all inner paths of a row less that by half of them, in the CVA. */
static double half_of(const shoal_cva *p, const double *row) {
    double sum = 0;
    const int64_t dates = p->job.exposures;
    for (int64_t k = 0; k < dates; k++)
        sum += mean_share(p, k) * (row[CVA_ROW_HEAD + CVA_LIST_WHOLE * dates + k] -
                                   row[CVA_ROW_HEAD + CVA_LIST_HALF * dates + k]);
    return sum;
}

enum { PLAIN, CORRECTION, HALF, NUMBERS };

static void take_variances(const shoal_cva *p, const double *samples, int64_t paths,
                           double variance[NUMBERS]) {
    const int levels = p->estimator != SHOAL_CVA_BY_INNER;
    double mean[NUMBERS] = { 0 };
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < paths; i++) {
            const double *row = samples + i * shoal_cva_width(p);
            const double cva = row[CVA_ROW_CVA], plain = row[CVA_ROW_PLAIN];
            const double x[NUMBERS] = { levels ? plain : cva, levels ? cva - plain : 0,
                                        levels ? half_of(p, row) : 0 };
            for (int e = 0; e < NUMBERS; e++)
                *(round ? &variance[e] : &mean[e]) +=
                    (round ? (x[e] - mean[e]) * (x[e] - mean[e]) : x[e]) / (double)paths;
        }
}

/* The mean number of steps that an inner path from a date takes. */
static double mean_steps(const cva_job *j) {
    int64_t steps = 0, ahead = 0;
    if (j->kinds[CVA_AMERICAN] == 0) return 1;
    for (int64_t e = 0; e < j->exposures; e++) {
        while (ahead < j->stops && j->stop[ahead] <= j->exposed[e]) ahead++;
        steps += j->stops - ahead;
    }
    return fmax((double)steps / (double)j->exposures, 1);
}

/* A and B. */
static void sum_levels(double *variance, double *paths) {
    *variance = *paths = 0;
    for (int l = 1; l <= TOP; l++) {
        const double chance = exp2(-1.25 * (l - 1)) - (l < TOP ? exp2(-1.25 * l) : 0);
        *variance += exp2(-1.5 * (l - 1)) / chance, *paths += chance * exp2(l);
    }
}

/* The variance and the cost of an outer path with `inner` inner paths, and the share of levels that is best for them. */
static double effort(const measured *m, double pilot, double inner, double *share,
                     double *variance) {
    double of_variance, of_paths;
    sum_levels(&of_variance, &of_paths);
    const double plain = m->outer + m->inner / inner, walks = m->steps * inner;
    const double levels = of_variance * m->levels * pow(pilot / inner, 1.5);
    *share =
        plain > 0 && walks > 0 ? sqrt(levels / plain * (m->fixed + walks) / (of_paths * walks)) : 0;
    *share = fmin(fmax(*share, 1.0 / 32), 0.5);
    *variance = plain + levels / *share;
    return *variance * (m->fixed + walks * (1 + (m->levels > 0 ? of_paths * *share : 0)));
}

/* The inner paths whose effort is least. */
static int64_t best_inner(const measured *m, double pilot) {
    double least = INFINITY, share, variance;
    int64_t best = CVA_LANES;
    for (int64_t inner = CVA_LANES; inner <= MAX_INNER; inner *= 2) {
        const double now = effort(m, pilot, (double)inner, &share, &variance);
        if (now < least) least = now, best = inner;
    }
    return best;
}

static shoal_status run(shoal_cva *p, int64_t paths, double *samples, measured *m) {
    double variance[NUMBERS] = { 0 };
    shoal_cva_counts counts = { 0 };
    p->is_pilot = p->top_level = p->estimator != SHOAL_CVA_BY_INNER;
    p->share_of_level = 1;
    const shoal_status s = shoal_cva_run_paths(p, 2 * SHOAL_CVA_OUTER, paths, samples, &counts);
    p->top_level *= TOP, p->is_pilot = 0;
    if (s != SHOAL_OK) return s;
    take_variances(p, samples, paths, variance);
    double inner = 0;
    for (int64_t e = 0; e < p->job.exposures; e++)
        inner += (double)p->job.inner[e] / (double)p->job.exposures;
    *m = (measured){ .levels = variance[CORRECTION],
                     .inner = 2 * inner * variance[HALF],
                     .outer = fmax(variance[PLAIN] - variance[HALF], 0),
                     .fixed = OUTER_STEPS * (double)p->job.exposures,
                     .steps = mean_steps(&p->job) * (double)counts.inner_paths /
                              (2 * inner * (double)paths) };
    return s;
}

shoal_status shoal_cva_pilot(shoal_cva *p, const shoal_cva_opts *o, int kinks) {
    const int64_t paths = o->target > 0 ? PILOT_FOR_TARGET : PILOT, dates = p->job.exposures;
    double *samples = malloc((size_t)(paths * shoal_cva_width(p)) * sizeof *samples);
    measured m;
    if (!samples) return SHOAL_NO_MEMORY(p->head.ctx, "a pilot run");
    shoal_status s = run(p, paths, samples, &m);
    free(samples);
    if (s != SHOAL_OK) return s;
    double pilot = 0, variance;
    for (int64_t e = 0; e < dates; e++) pilot += (double)p->job.inner[e] / (double)dates;
    if (!kinks) m.levels = 0;
    double chosen = pilot;
    if (o->target > 0 && !o->inner_count && m.inner > 0) {
        int64_t *inner;
        s = shoal_plan_host(&p->head, dates, sizeof *inner, &inner);
        if (s != SHOAL_OK) return s;
        inner[0] = best_inner(&m, pilot);
        for (int64_t e = 1; e < dates; e++) inner[e] = inner[0];
        p->job.inner = inner, chosen = (double)inner[0];
    }
    effort(&m, pilot, chosen, &p->share_of_level, &variance);
    if (!kinks) p->share_of_level = 0;
    if (o->target > 0)
        p->outer = ceil((1 + 0.01 * SPARE) * variance / (o->target * o->target)) + 16;
    return s;
}
