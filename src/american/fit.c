/* SPDX-License-Identifier: Apache-2.0
 *
 * fit.c - dynamic programming over the dates of a batch of Longstaff-Schwartz problems: from the
 * last date back the paths of all problems move one date, their sums make one system per
 * problem, and the systems of a date are one batch for a plan of smallsym. On CUDA nothing waits
 * until the end.
 */
#include "american/plan.h"
#include "smallsym/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is of `at_once` problems at a time, and what is of all. */
static shoal_status make_rooms(american_plan *a, shoal_type type, int64_t at_once) {
    american_job *j = &a->job;
    const size_t size = shoal_type_bytes(type);
    const int64_t n = j->basis.functions, d = j->basis.assets, k = american_systems(j);
    const int64_t blocks = at_once * j->blocks, systems = at_once * j->levels;
    const int batch = a->batch, ranges = ((american_method *)a->p.choice.cell)->ranges;
    const struct {
        int64_t numbers;
        size_t size;
        void *to;
    } rooms[] = { { blocks * american_state(j), size, &j->state },
                  { blocks * j->levels * american_sums((int)n), sizeof(double), &j->partial },
                  { systems * n * (n + 1) / 2, size, &j->A },
                  { systems * n, size, &j->b },
                  { systems * n, size, &j->x },
                  { systems, sizeof(int32_t), &j->status },
                  { systems, sizeof(double), &j->members },
                  { k * american_rules(j), size, &j->rule },
                  { 2 * k, sizeof(double), &j->value },
                  { k * AMERICAN_DUALS * AMERICAN_BLOCK, sizeof(double),
                    j->inner ? &j->dual : NULL },
                  { systems, sizeof(int32_t), batch ? &j->method : NULL },
                  { systems, sizeof(float), batch ? &j->rcond : NULL },
                  { 2 * at_once * d * AMERICAN_RANGE, size, ranges ? &j->range : NULL } };
    const size_t counts = (size_t)(j->latest ? 1 : j->problems) * FIT_COUNTS;
    shoal_status s = shoal_plan_zero(&a->p.head, counts * sizeof *j->count, &j->count);
    for (int i = 0; i < (int)(sizeof rooms / sizeof *rooms) && s == SHOAL_OK; i++)
        if (rooms[i].to)
            s = shoal_plan_reserve(&a->p.head, (size_t)rooms[i].numbers * rooms[i].size,
                                   rooms[i].to);
    return s;
}

/* One that was made for the same unknowns and at least as many systems is used again. */
static shoal_status make_solver(american_plan *a, const shoal_american_opts *o, int64_t count) {
    const american_job *j = &a->job;
    if (a->solver && (a->systems < count || a->unknowns != j->basis.functions)) {
        shoal_smallsym_free(a->solver);
        a->solver = NULL;
    }
    shoal_status s = SHOAL_OK;
    const size_t staging = a->p.head.ctx->staging;
    a->p.head.ctx->staging = 0; /* its arrays are on the device */
    if (!a->solver) {
        const shoal_smallsym_opts opts = { .n = j->basis.functions,
                                           .count = count,
                                           .nrhs = 1,
                                           .type = o->type,
                                           .storage = SHOAL_PACKED,
                                           .method = o->solver,
                                           .cond = o->cond };
        s = shoal_smallsym_create(a->p.head.ctx, &opts, &a->solver);
        a->systems = count, a->unknowns = j->basis.functions;
    }
    a->p.head.ctx->staging = staging;
    if (s != SHOAL_OK) return s;
    return shoal_smallsym_outcome(
        a->solver, &(shoal_outcome){ .status = j->status, .rcond = j->rcond, .method = j->method });
}

/* ---- the dates -------------------------------------------------------------------------------- */

/* All dates of problems first .. first + count - 1. */
static shoal_status fit_some(american_plan *a, shoal_type type, int64_t first, int64_t count) {
    const american_method *method = a->p.choice.cell;
    const size_t size = shoal_type_bytes(type);
    american_job j = a->job;
    shoal_status s = SHOAL_OK;
    j.problems = count;
    j.contract += first * j.own, j.number += first * j.own * american_numbers(j.basis.assets);
    j.spot += first * j.basis.assets, j.first += j.first ? first : 0;
    j.value += 2 * j.levels * first;
    if (!j.latest) {
        j.rule = (char *)j.rule + (size_t)(first * american_rules(&j)) * size;
        j.count += first * FIT_COUNTS;
    }
    const shoal_stage stage = shoal_stage_begin(a->p.head.ctx, "exercise rules");
    for (int i = j.dates; i > 0 && s == SHOAL_OK; i--) {
        s = shoal_stage_step(a->p.head.ctx, &stage, j.dates - i, j.dates - i + 1, j.dates);
        if (s == SHOAL_OK) s = method->visit(a->p.head.ctx, &j, i);
        if (i == j.dates) continue;
        if (s == SHOAL_OK) s = method->form(a->p.head.ctx, &j);
        if (s == SHOAL_OK)
            s = shoal_smallsym_solve_first(a->solver, american_systems(&j), j.A, j.b, j.x);
        if (s == SHOAL_OK) s = method->settle(a->p.head.ctx, &j, i);
    }
    if (s == SHOAL_OK) s = method->finish(a->p.head.ctx, &j);
    return shoal_stage_end(a->p.head.ctx, &stage, s);
}

/* What the fits came to, on the host. */
static shoal_status make_fits(american_plan *a) {
    const int64_t k = a->job.problems;
    int64_t *count = malloc((size_t)(k * FIT_COUNTS + 1) * sizeof *count);
    double *value = malloc((size_t)(2 * k + 1) * sizeof *value);
    shoal_status s = count && value ? shoal_copy(a->p.head.ctx, count, a->job.count,
                                                 (size_t)(k * FIT_COUNTS) * sizeof *count)
                                    : SHOAL_NO_MEMORY(a->p.head.ctx, "%lld options", (long long)k);
    if (s == SHOAL_OK) s = shoal_plan_host(&a->p.head, k, sizeof *a->fits, &a->fits);
    if (s == SHOAL_OK)
        s = shoal_copy(a->p.head.ctx, value, a->job.value, (size_t)(2 * k) * sizeof *value);
    for (int64_t i = 0; i < k && s == SHOAL_OK; i++) {
        const double m = (double)a->job.paths, mean = value[2 * i] / m;
        const double rest = value[2 * i + 1] / m - mean * mean;
        const int64_t *c = count + i * FIT_COUNTS;
        a->fits[i] =
            (shoal_american_fit){ .price = mean,
                                  .error = m > 1 ? sqrt((rest > 0 ? rest : 0) / (m - 1)) : NAN,
                                  .systems = a->job.dates - 1,
                                  .empty = c[FIT_EMPTY],
                                  .warned = c[FIT_WARNED],
                                  .truncated = c[FIT_TRUNCATED],
                                  .refined = c[FIT_REFINED],
                                  .failed = c[FIT_FAILED] };
    }
    free(count);
    free(value);
    return s;
}

shoal_status shoal_american_fit_all(american_plan *a, const shoal_american_opts *o) {
    american_job *j = &a->job;
    const american_method *method = a->p.choice.cell;
    j->rows = method->rows(j);
    const int64_t each =
        j->blocks * (american_state(j) + j->levels * american_sums(j->basis.functions));
    int64_t at_once = method->numbers / each;
    if (at_once < 1) at_once = 1;
    const int64_t times = (j->problems + at_once - 1) / at_once; /* as even as can be */
    at_once = times > 0 ? (j->problems + times - 1) / times : 1;
    a->at_once = at_once;
    shoal_status s = make_rooms(a, o->type, at_once);
    if (s == SHOAL_OK) s = make_solver(a, o, at_once * j->levels);
    const shoal_stage stage = shoal_stage_begin(a->p.head.ctx, "exercise rules");
    for (int64_t k = 0; k < j->problems && s == SHOAL_OK; k += at_once) {
        const int64_t here = j->problems - k < at_once ? j->problems - k : at_once;
        s = shoal_stage_step(a->p.head.ctx, &stage, (double)k, (double)(k + here),
                             (double)j->problems);
        if (s == SHOAL_OK) s = fit_some(a, o->type, k, here);
    }
    s = shoal_stage_end(a->p.head.ctx, &stage, s);
    return s == SHOAL_OK && !a->batch ? make_fits(a) : s;
}
