/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c - runs of a plan for CVA.
 *
 * A run takes its outer paths from date to date together, up to the last date of exposure, on the CPU or on the GPU;
 * with regressions at nodes always on the CPU. Memory per path: two numbers per asset (four if there are barriers), one
 * per contract on a mean, three per netting set, and its row; with results by trade two more per contract.
 */
#include "core/loops.h"
#include "cva/values.h"
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
                              .parties = j->parties,
                              .outer = plan->outer,
                              .inner = j->inner[0],
                              .level_share = plan->share_of_level,
                              .expired = j->kinds[CVA_EXPIRED],
                              .closed = j->kinds[CVA_CLOSED],
                              .nested = j->kinds[CVA_NESTED],
                              .american = j->kinds[CVA_AMERICAN] };
    return SHOAL_OK;
}

int64_t shoal_cva_totals(const shoal_cva *plan) {
    return plan && plan->by_trade ? plan->job.contracts * cva_total_numbers(&plan->job) : 0;
}

/* ---- runs ------------------------------------------------------------------------------------- */

void shoal_cva_begin_date(const shoal_cva *p, cva_job *j, int64_t k) {
    shoal_cva_look_from(p, j, k);
    j->date = k > 0 ? p->job.exposure[k - 1] : -1;
    if (j->date < 0) return;
    j->paths_inner = p->job.inner[j->date], j->known_hazard = p->integrated[j->date];
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
        j->was_exposed = k > 1 && p->job.exposure[k - 2] >= 0;
        s = p->cell->move(p->where, j, k);
        if (s == SHOAL_OK) s = shoal_cva_nodes(p, j, k, counts);
    }
    return shoal_stage_end(p->head.ctx, &stage, s);
}

enum { CUBE = 1 << 22 }; /* numbers of contracts and paths that a GPU makes before it adds them */

/* What a run adds up and writes by trade, on the host. */
typedef struct totals {
    int64_t *sum; /* NULL: nothing */
    int64_t count;
    double *values;
} totals;

/* The arrays of a run, one after the other; the plan keeps their memory. */
static shoal_status make_arrays(shoal_cva *p, cva_job *j, const totals *t) {
    const int64_t paths = j->paths, device = p->where->ops != NULL;
    const int64_t here = t->sum ? paths * j->contracts : 0;
    const int walks = device && j->follows > 0 && p->estimator == SHOAL_CVA_BY_RULE;
    const int64_t worth = p->validates ? paths * j->contracts : 0;
    const int64_t slots = p->slots, calls = slots > 0 ? paths * CVA_RULES * j->sets : 0;
    const int64_t jumps = j->jump ? paths : 0, hazards = j->hazard ? j->parties * paths : 0;
    const int64_t planes = slots > 0 ? 4 : 2;
    const int64_t numbers =
        paths * (j->europeans > planes * j->americans ? j->europeans : planes * j->americans);
    j->cube_room = numbers < CUBE ? numbers : CUBE > planes * paths ? CUBE : planes * paths;
    const int64_t extremes = j->lows | j->highs ? paths * j->assets : 0;
    const struct {
        int64_t count;
        size_t size;
        void *to;
    } lists[] = { { paths * j->assets, sizeof(double), &j->brownian },
                  { extremes, sizeof(double), &j->low },
                  { extremes, sizeof(double), &j->high },
                  { paths * j->sums_fixed, sizeof(double), &j->fixed },
                  { paths * j->assets, sizeof(double), &j->spot },
                  { paths * CVA_LEVELS * j->sets, sizeof(double), &j->value },
                  { paths * j->sets, sizeof(double), &j->differ },
                  { worth, sizeof(double), &j->worth },
                  { worth, sizeof(double), &j->paid },
                  { here, sizeof(double), &j->here },
                  { here, sizeof(double), &j->owed },
                  { device ? t->count : 0, sizeof(int64_t), &j->total },
                  { device && t->values ? here * j->exposures : 0, sizeof(double), &j->values },
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

enum { PIECE = 1 << 22, SLICES = 16 }; /* bytes of pinned memory, twice; parts that threads copy */

/* Copies the rows to the host through pinned memory: one half is filled while threads empty the other. Pages of new
 * memory are then made by all threads, too. */
static shoal_status copy_rows(shoal_cva *p, const cva_job *j, double *samples, size_t bytes) {
    if (!p->pinned && bytes >= PIECE) shoal_plan_pinned(p->room, 2 * PIECE, &p->pinned);
    if (!p->pinned) return shoal_copy(p->where, samples, j->row, bytes);
    shoal_status s = SHOAL_OK;
    const int threads = p->head.ctx->threads < SLICES ? p->head.ctx->threads : SLICES;
    for (size_t at = 0; at < bytes + PIECE && s == SHOAL_OK; at += PIECE) {
        char *half[] = { (char *)p->pinned, (char *)p->pinned + PIECE };
        const size_t piece = at / PIECE, left = at < bytes ? bytes - at : 0;
        if (left > 0)
            s = p->where->ops->copy_later(p->where, half[piece % 2], (const char *)j->row + at,
                                          left < PIECE ? left : PIECE);
        const size_t before = piece > 0 ? at - PIECE : 0, rest = piece > 0 ? bytes - before : 0;
        const size_t here = rest < PIECE ? rest : PIECE, part = PIECE / SLICES;
        const char *full = half[1 - piece % 2];
        ON_THREADS(threads, static)
        for (int i = 0; i < SLICES; i++) {
            const size_t from = (size_t)i * part, end = from + part < here ? from + part : here;
            if (from < here) memcpy((char *)samples + before + from, full + from, end - from);
        }
        if (s == SHOAL_OK) s = shoal_wait(p->where);
    }
    return s;
}

/* The derivatives of paths into their rows: on the CPU. */
static shoal_status differentiate(shoal_cva *p, int64_t first, int64_t paths, double *samples) {
    const shoal_stage stage = shoal_stage_begin(p->head.ctx, "sensitivities");
    const shoal_status s = p->reverse->run(p->head.ctx, &p->job, &p->greeks, first, paths, samples,
                                           shoal_cva_width(p), shoal_cva_greeks_at(p));
    if (s == SHOAL_E_NOMEM) shoal_fail(p->head.ctx, s, "no memory for sensitivities");
    return shoal_stage_end(p->head.ctx, &stage, s);
}

static shoal_status run_paths(shoal_cva *p, int64_t first, int64_t paths, double *samples,
                              shoal_cva_counts *counts, totals t) {
    const int device = p->where->ops != NULL;
    cva_job j = device ? p->device : p->job;
    j.first = (uint64_t)first, j.paths = paths, j.width = shoal_cva_width(p);
    j.is_pilot = p->is_pilot;
    p->host.message[0] = 0;
    for (int level = 0; level <= CVA_MAX_LEVEL; level++)
        j.at_least[level] = level ? p->share_of_level * exp2(-1.25 * (level - 1)) : 1;
    const int64_t numbers = paths * j.width, values = paths * j.contracts * j.exposures;
    const double start = shoal_price_seconds() - counts->seconds[1] - counts->seconds[2];
    shoal_status s = make_arrays(p, &j, &t);
    if (!device) j.row = samples, j.total = t.sum, j.values = t.values;
    if (s == SHOAL_OK && device && t.sum)
        s = shoal_copy(p->where, j.total, t.sum, (size_t)t.count * sizeof *t.sum);
    if (s == SHOAL_OK) s = walk(p, &j, counts);
    if (s == SHOAL_OK && device) s = copy_rows(p, &j, samples, (size_t)numbers * sizeof *samples);
    if (s == SHOAL_OK && device && t.sum)
        s = shoal_copy(p->where, t.sum, j.total, (size_t)t.count * sizeof *t.sum);
    if (s == SHOAL_OK && device && t.values)
        s = shoal_copy(p->where, t.values, j.values, (size_t)values * sizeof *t.values);
    if (s == SHOAL_OK && p->greeks.parameters && !p->is_pilot)
        s = differentiate(p, first, paths, samples);
    counts->seconds[0] += shoal_price_seconds() - counts->seconds[1] - counts->seconds[2] - start;
    if (s != SHOAL_OK && p->where != p->head.ctx && p->host.message[0])
        snprintf(p->head.ctx->message, sizeof p->head.ctx->message, "%s", p->host.message);
    return s;
}

shoal_status shoal_cva_run_paths(shoal_cva *p, int64_t first, int64_t paths, double *samples,
                                 shoal_cva_counts *counts) {
    return run_paths(p, first, paths, samples, counts, (totals){ NULL, 0, NULL });
}

static shoal_status checked_run(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                                shoal_cva_counts *counts, totals t) {
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
    if (plan->rules_only)
        return shoal_fail(ctx, SHOAL_E_ARG, "the plan was created with opts.rules_only");
    shoal_cva_counts none = { 0 };
    return run_paths(plan, first, paths, samples, counts ? counts : &none, t);
}

shoal_status shoal_cva_run(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                           shoal_cva_counts *counts) {
    if (!plan) return SHOAL_E_ARG;
    return checked_run(plan, first, paths, samples, counts, (totals){ NULL, 0, NULL });
}

shoal_status shoal_cva_run_trades(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                                  shoal_cva_counts *counts, int64_t *sums, double *values) {
    if (!plan) return SHOAL_E_ARG;
    shoal_context *ctx = plan->head.ctx;
    if (!plan->by_trade)
        return shoal_fail(ctx, SHOAL_E_ARG, "the plan was created without opts.by_trade");
    const int64_t count = shoal_cva_totals(plan);
    if (!sums && count > 0) return shoal_fail(ctx, SHOAL_E_ARG, "totals is NULL");
    return checked_run(plan, first, paths, samples, counts,
                       (totals){ count > 0 ? sums : NULL, count, values });
}
