/* SPDX-License-Identifier: Apache-2.0
 *
 * american_fit.c - dynamic programming over the dates of a batch of Longstaff-Schwartz problems: from
 * the last date back the paths of all problems move one date, their sums make one system a problem, and
 * the systems of a date are one batch for a plan of smallsym. On CUDA nothing waits until the end.
 */
#include "pricing/american_plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void shoal_american_free(shoal_price *p) {
    struct american_plan *a = p->american;
    if (!a) return;
    shoal_smallsym_free(a->solver);
    for (size_t i = 0; i < sizeof a->memory / sizeof *a->memory; i++)
        shoal_free(p->ctx, a->memory[i]);
    free(a->fits);
    free(a);
}

/* Room in the context's memory. */
static shoal_status room(shoal_price *p, int slot, int64_t numbers, size_t size, void *to) {
    const size_t bytes = (size_t)numbers * size;
    const shoal_status s = shoal_alloc(p->ctx, bytes, &p->american->memory[slot]);
    p->bytes += bytes;
    memcpy(to, &p->american->memory[slot], sizeof(void *));
    return s;
}

static shoal_status make_counts(shoal_price *p) {
    const int64_t numbers = p->american->job.problems * FIT_COUNTS;
    int64_t *zero = calloc((size_t)numbers + 1, sizeof *zero);
    if (!zero) return shoal_fail(p->ctx, SHOAL_E_NOMEM, "no memory for a plan");
    shoal_status s = room(p, 8, numbers, sizeof *zero, &p->american->job.count);
    if (s == SHOAL_OK && numbers)
        s = shoal_copy(p->ctx, p->american->job.count, zero, (size_t)numbers * sizeof *zero);
    free(zero);
    return s;
}

/* What is of `most` problems at a time, and what is of all. */
static shoal_status make_rooms(shoal_price *p, shoal_type type, int64_t most) {
    american_job *j = &p->american->job;
    const size_t size = type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    const int64_t n = j->basis.functions, k = j->problems, blocks = most * j->blocks;
    shoal_status s = room(p, 0, blocks * (j->basis.assets + 1) * AMERICAN_BLOCK, size, &j->state);
    if (s == SHOAL_OK) s = room(p, 1, blocks * american_sums((int)n), sizeof(double), &j->partial);
    if (s == SHOAL_OK) s = room(p, 2, most * n * (n + 1) / 2, size, &j->A);
    if (s == SHOAL_OK) s = room(p, 3, most * n, size, &j->b);
    if (s == SHOAL_OK) s = room(p, 4, most * n, size, &j->x);
    if (s == SHOAL_OK) s = room(p, 5, most, sizeof(int32_t), &j->status);
    if (s == SHOAL_OK) s = room(p, 6, most, sizeof(double), &j->members);
    if (s == SHOAL_OK) s = room(p, 7, k * american_rules(j), size, &j->rule);
    if (s == SHOAL_OK) s = room(p, 9, 2 * k, sizeof(double), &j->value);
    if (s == SHOAL_OK && j->inner)
        s = room(p, 10, k * AMERICAN_DUALS * AMERICAN_BLOCK, sizeof(double), &j->dual);
    if (s == SHOAL_OK && p->american->batch) s = room(p, 11, most, sizeof(int32_t), &j->method);
    if (s == SHOAL_OK && p->american->batch) s = room(p, 12, most, sizeof(float), &j->rcond);
    return s == SHOAL_OK ? make_counts(p) : s;
}

static shoal_status make_solver(shoal_price *p, const shoal_american_opts *o, int64_t count) {
    american_job *j = &p->american->job;
    const shoal_smallsym_opts opts = { .n = j->basis.functions,
                                       .count = count,
                                       .nrhs = 1,
                                       .type = o->type,
                                       .storage = SHOAL_PACKED,
                                       .method = o->solver,
                                       .cond = o->cond };
    shoal_status s = shoal_smallsym_create(p->ctx, &opts, &p->american->solver);
    if (s == SHOAL_OK)
        s = shoal_smallsym_outcome(
            p->american->solver,
            &(shoal_outcome){ .status = j->status, .rcond = j->rcond, .method = j->method });
    return s;
}

/* ---- the dates -------------------------------------------------------------------------------- */

static shoal_status solve(const shoal_price *p, shoal_type type) {
    const american_job *j = &p->american->job;
    return type == SHOAL_F32 ? shoal_smallsym_solvef(p->american->solver, j->A, j->b, j->x)
                             : shoal_smallsym_solve(p->american->solver, j->A, j->b, j->x);
}

/* All dates of problems first .. first + count - 1. Where they are fewer than the solver's systems, it
 * solves some of the problems before them once more. */
static shoal_status fit_some(shoal_price *p, shoal_type type, int64_t first, int64_t count) {
    const american_method *method = p->choice.cell;
    const size_t size = type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    american_job j = p->american->job;
    shoal_status s = SHOAL_OK;
    j.problems = count;
    j.contract += first, j.number += first * american_numbers(j.basis.assets);
    j.rule = (char *)j.rule + (size_t)(first * american_rules(&j)) * size;
    j.count += first * FIT_COUNTS, j.value += 2 * first;
    for (int i = j.dates; i > 0 && s == SHOAL_OK; i--) {
        s = method->visit(p->ctx, &j, i);
        if (i == j.dates) continue;
        if (s == SHOAL_OK) s = method->form(p->ctx, &j);
        if (s == SHOAL_OK) s = solve(p, type);
        if (s == SHOAL_OK) s = method->settle(p->ctx, &j, i);
    }
    return s == SHOAL_OK ? method->finish(p->ctx, &j) : s;
}

/* What the fits came to, on the host. */
static shoal_status make_fits(shoal_price *p) {
    struct american_plan *a = p->american;
    const int64_t k = a->job.problems;
    int64_t *count = malloc((size_t)(k * FIT_COUNTS + 1) * sizeof *count);
    double *value = malloc((size_t)(2 * k + 1) * sizeof *value);
    a->fits = calloc((size_t)k + 1, sizeof *a->fits);
    shoal_status s =
        count && value && a->fits
            ? shoal_copy(p->ctx, count, a->job.count, (size_t)(k * FIT_COUNTS) * sizeof *count)
            : shoal_fail(p->ctx, SHOAL_E_NOMEM, "no memory for %lld options", (long long)k);
    if (s == SHOAL_OK) s = shoal_copy(p->ctx, value, a->job.value, (size_t)(2 * k) * sizeof *value);
    for (int64_t i = 0; i < k && s == SHOAL_OK; i++) {
        const double m = (double)a->job.paths, mean = value[2 * i] / m;
        const double rest = value[2 * i + 1] / m - mean * mean;
        const int64_t *c = count + i * FIT_COUNTS;
        for (int e = 0; e < FIT_COUNTS; e++) a->total[e] += c[e];
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

shoal_status shoal_american_fit_all(shoal_price *p, const shoal_american_opts *o) {
    const american_job *j = &p->american->job;
    const american_method *method = p->choice.cell;
    const int64_t each =
        j->blocks * ((j->basis.assets + 1) * AMERICAN_BLOCK + american_sums(j->basis.functions));
    int64_t most = method->numbers / each;
    if (most > j->problems) most = j->problems;
    if (j->crossed) most -= most % 2;
    if (most < 1) most = 1 + j->crossed;
    shoal_status s = make_rooms(p, o->type, most);
    if (s == SHOAL_OK) s = make_solver(p, o, most);
    for (int64_t k = 0; k < j->problems && s == SHOAL_OK; k += most)
        s = fit_some(p, o->type, k, j->problems - k < most ? j->problems - k : most);
    return s == SHOAL_OK ? make_fits(p) : s;
}
