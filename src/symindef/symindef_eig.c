/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_eig.c - eigenpairs from the factors, by one-sided Jacobi on G of G J Gt: memory, sweeps until all
 * columns are orthogonal, the order of the results. The arithmetic is jacobi.c's and jacobi.cu's.
 */
#include "symindef/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

SHOAL_DECLARE_CPU(symindef_eigensolver, symindef_jacobi)
SHOAL_DECLARE_CUDA(symindef_eigensolver, symindef_jacobi)

static const shoal_method jacobi = { .name = "jjacobi",
                                     .cpu = SHOAL_CPU_CELLS(symindef_jacobi),
                                     .cuda = SHOAL_CUDA_CELLS(symindef_jacobi) };

enum { ROWS = 128, MAX_SWEEPS = 60, USUAL_SWEEPS = 12, PARTS = 512, MIN_CHUNK = 64 };

static int64_t rounded_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

/* Sizes depend on the matrix alone, so that sums have the same order everywhere. */
static jacobi_job plan_columns(int64_t n, int64_t rank, int64_t columns) {
    jacobi_job job = { .n = n, .rank = rank, .columns = columns, .ld = rounded_up(n, ROWS) };
    const int64_t some = columns > 0 ? columns : 1;
    job.blocks = (int)rounded_up((some + JACOBI_WIDTH - 1) / JACOBI_WIDTH, 2);
    job.width = (int)((some + job.blocks - 1) / job.blocks);
    job.chunk = rounded_up(job.ld * (job.blocks / 2) / PARTS, MIN_CHUNK);
    if (job.chunk < MIN_CHUNK) job.chunk = MIN_CHUNK;
    return job;
}

/* Host arrays of a call, in one block. */
typedef struct lists {
    int64_t n, padded;
    double *values;
    int32_t *to, *signs, *rows, *places, *order; /* n each; signs and places: padded */
} lists;

static int make_lists(int64_t n, lists *l) {
    const size_t padded = (size_t)(n + 2 * JACOBI_WIDTH) * 2;
    *l = (lists){ .n = n, .padded = (int64_t)padded };
    l->values = calloc(padded, sizeof *l->values + 5 * sizeof *l->to);
    if (!l->values) return 0;
    l->to = (int32_t *)(l->values + padded);
    l->signs = l->to + padded, l->rows = l->signs + padded;
    l->places = l->rows + padded, l->order = l->places + padded;
    return 1;
}

/* The arrays of a job in one block of the plan, which stays for the next call. */
static shoal_status allocate(shoal_symindef *plan, const symindef_eigensolver *cell,
                             jacobi_job *job) {
    const size_t real = shoal_type_bytes(plan->head.type);
    const size_t columns = (size_t)job->blocks * (size_t)job->width, list = columns * 4;
    struct {
        void *to;
        size_t bytes;
    } parts[] = {
        { &job->x, columns * (size_t)job->ld * real },
        { &job->values, columns * real },
        { &job->work, cell->bytes(job) },
        { &job->signs, list },
        { &job->rows, list },
        { &job->places, list },
        { &job->state, sizeof *job->state },
    };
    const size_t count = sizeof parts / sizeof *parts;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) bytes += (parts[i].bytes + 255) / 256 * 256;
    const shoal_status status = shoal_plan_reserve(&plan->head, bytes, &plan->eig);
    char *at = plan->eig;
    for (size_t i = 0; i < count && status == SHOAL_OK; i++) {
        memcpy(parts[i].to, &at, sizeof at);
        at += (parts[i].bytes + 255) / 256 * 256;
    }
    return status;
}

/* G, the columns of zero pivots, and the lists that go with them. */
static shoal_status make_columns(shoal_symindef *plan, const symindef_eigensolver *cell,
                                 const jacobi_job *job, const void *a, const lists *l) {
    shoal_context *ctx = plan->head.ctx;
    const size_t bytes = (size_t)job->blocks * (size_t)job->width * 4;
    int32_t *to = (int32_t *)plan->job.vectors; /* as in symindef_forms.c */
    symindef_job with = plan->job;
    with.a = (void *)a;
    shoal_status status = shoal_copy(ctx, to, l->to, (size_t)job->n * sizeof *to);
    if (status == SHOAL_OK) status = shoal_copy(ctx, (void *)job->signs, l->signs, bytes);
    if (status == SHOAL_OK) status = shoal_copy(ctx, (void *)job->rows, l->rows, bytes);
    if (status == SHOAL_OK) status = cell->clear(plan, job);
    if (status == SHOAL_OK && job->rank > 0)
        status = plan->driver->columns(plan, &with, to, 1, job->ld, job->x);
    return status == SHOAL_OK ? cell->begin(plan, job) : status;
}

/* Sweeps until one has no rotation, or no more are allowed. */
static shoal_status iterate(shoal_symindef *plan, const symindef_eigensolver *cell,
                            const jacobi_job *job, const shoal_stage *stage,
                            shoal_symindef_eig_info *info) {
    shoal_context *ctx = plan->head.ctx;
    jacobi_state state = { .status = SHOAL_SYSTEM_OK };
    shoal_status status = shoal_copy(ctx, &state, job->state, sizeof state);
    while (status == SHOAL_OK && state.status == SHOAL_SYSTEM_OK && info->sweeps < MAX_SWEEPS) {
        const int expected = info->sweeps < USUAL_SWEEPS ? USUAL_SWEEPS : info->sweeps + 1;
        status = shoal_stage_step(ctx, stage, info->sweeps, info->sweeps + 1, expected);
        if (status == SHOAL_OK) status = cell->sweep(plan, job);
        if (status == SHOAL_OK) status = shoal_copy(ctx, &state, job->state, sizeof state);
        info->sweeps++;
        info->rotations += (int64_t)state.rotations;
        info->cosine = state.cosine;
        if (state.rotations == 0) break;
    }
    info->status = state.status;
    if (state.status == SHOAL_SYSTEM_OK && state.rotations > 0)
        info->status = SHOAL_SYSTEM_NOT_CONVERGED;
    return status;
}

static int ascending(double u, int32_t i, double v, int32_t j) {
    return u < v || (u == v && i < j);
}

/* Heap sort: order[k] is the index of the k-th smallest value. */
static void sort_values(const double *values, int64_t n, int32_t *order) {
    for (int64_t k = 0; k < n; k++) order[k] = (int32_t)k;
    for (int64_t begin = n / 2 - 1, end = n; end > 1;) {
        if (begin < 0) {
            const int32_t last = order[--end];
            order[end] = order[0], order[0] = last;
        }
        for (int64_t at = begin < 0 ? 0 : begin, child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && ascending(values[order[child]], order[child],
                                             values[order[child + 1]], order[child + 1]))
                child++;
            if (!ascending(values[order[at]], order[at], values[order[child]], order[child])) break;
            const int32_t kept = order[at];
            order[at] = order[child], order[child] = kept;
        }
        if (begin >= 0) begin--;
    }
}

/* Values in ascending order, vectors in theirs; NaN if there are none. */
static shoal_status give_results(shoal_symindef *plan, const symindef_eigensolver *cell,
                                 const jacobi_job *job, lists *l, void *values, void *vectors,
                                 shoal_symindef_eig_info *info) {
    const int64_t n = job->n;
    shoal_status status = SHOAL_OK;
    for (int64_t k = 0; k < n; k++) l->values[k] = 0;
    if (info->status == SHOAL_SYSTEM_OK && job->rank > 0) {
        status = cell->norms(plan, job);
        if (status == SHOAL_OK)
            status = shoal_symindef_to_host(plan, job->rank, l->values, job->values);
    }
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(l->values[k])) info->status = SHOAL_SYSTEM_OVERFLOW;
    const int lost = info->status != SHOAL_SYSTEM_OK;
    sort_values(l->values, n, l->order);
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted) return shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory");
    for (int64_t k = 0; k < n; k++) {
        sorted[k] = lost ? (double)NAN : l->values[l->order[k]];
        l->places[l->order[k]] = (int32_t)k;
    }
    if (status == SHOAL_OK) status = shoal_symindef_from_host(plan, n, values, sorted);
    free(sorted);
    if (!vectors || status != SHOAL_OK) return status;
    status = shoal_copy(plan->head.ctx, (void *)job->places, l->places, (size_t)n * 4);
    return status == SHOAL_OK ? cell->vectors(plan, job, lost, plan->job.permutation, vectors)
                              : status;
}

static shoal_status solve(shoal_symindef *plan, const void *a, const symindef_factors *f, lists *l,
                          const shoal_stage *stage, void *values, void *vectors,
                          shoal_symindef_eig_info *info) {
    const symindef_eigensolver *cell = shoal_cell(plan->head.ctx, &jacobi, plan->head.type);
    const int64_t n = plan->job.shape.n;
    for (int64_t k = 0; k < l->padded; k++) l->signs[k] = 1;
    info->status = f->state.status;
    const int lost = info->status != SHOAL_SYSTEM_OK;
    info->rank = lost ? 0 : shoal_symindef_columns(f, 0, l->to, l->signs);
    for (int64_t k = 0, zero = 0; k < n && !lost; k++)
        if (l->to[k] < 0) l->rows[info->rank + zero++] = (int32_t)k;
    jacobi_job job = plan_columns(n, info->rank, vectors ? n : info->rank);
    shoal_status status = allocate(plan, cell, &job);
    if (status == SHOAL_OK && !lost) status = make_columns(plan, cell, &job, a, l);
    if (status == SHOAL_OK && !lost) status = iterate(plan, cell, &job, stage, info);
    if (status == SHOAL_OK) status = give_results(plan, cell, &job, l, values, vectors, info);
    return status == SHOAL_OK ? shoal_wait(plan->head.ctx) : status;
}

static shoal_status eig(shoal_symindef *plan, shoal_type type, const void *a, void *values,
                        void *vectors, shoal_symindef_eig_info *result) {
    shoal_symindef_eig_info info = { .status = SHOAL_SYSTEM_OK };
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_eig");
    if (result) *result = info;
    if (status != SHOAL_OK || plan->job.shape.n == 0) return status;
    const shoal_array arrays[] = { { "A", a, 0 },
                                   { "values", values, 0 },
                                   { "vectors", vectors, !vectors } };
    status = shoal_check_arrays(plan->head.ctx, arrays, 3);
    if (status != SHOAL_OK) return status;
    symindef_factors f = { 0 };
    lists l = { 0 };
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "eigenpairs");
    status = shoal_symindef_fetch(plan, &f);
    if (status == SHOAL_OK && !make_lists(plan->job.shape.n, &l))
        status = shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory");
    if (status == SHOAL_OK) status = solve(plan, a, &f, &l, &stage, values, vectors, &info);
    status = shoal_stage_end(plan->head.ctx, &stage, status);
    free(l.values);
    free(f.d);
    if (result) *result = info;
    return status;
}

shoal_status shoal_symindef_eig(shoal_symindef *plan, const double *A, double *values,
                                double *vectors, shoal_symindef_eig_info *info) {
    return eig(plan, SHOAL_F64, A, values, vectors, info);
}

shoal_status shoal_symindef_eigf(shoal_symindef *plan, const float *A, float *values,
                                 float *vectors, shoal_symindef_eig_info *info) {
    return eig(plan, SHOAL_F32, A, values, vectors, info);
}
