/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.c - band systems on the CPU: LU with partial pivoting (lu.h), a group of systems at a time, one per lane.
 * OpenMP threads over groups. Long systems come one at a time, with the same operations.
 *
 * Per row of a pentadiagonal system 5 numbers of A and 1 of b are read, and again for the residual, 1 is written; 7 go
 * to scratch and come back, which is in cache for n up to a few thousand. About 70 operations, 1 division.
 */
#include "band/lu.h"

enum { LONGEST_GROUPED = 4096, LINE = 64 };

static int lanes_of(const band_job *job) {
    return job->n > LONGEST_GROUPED || job->count == 1 ? 1 : BAND_LANES;
}

static int64_t groups_of(const band_job *job) {
    return (job->count + lanes_of(job) - 1) / lanes_of(job);
}

static int workers_of(const shoal_band *plan) {
    const int64_t groups = groups_of(&plan->job);
    return groups < plan->head.ctx->threads ? (int)groups : plan->head.ctx->threads;
}

/* From one worker's scratch to the next, and one array to the next: one line apart, so that none aliases. */
static size_t slot_bytes(const band_job *job) {
    const size_t bytes = (size_t)job->n * (size_t)lanes_of(job) * sizeof(real);
    return (bytes + LINE - 1) / LINE * LINE + LINE;
}
static size_t scratch_bytes(const band_job *job) {
    return (size_t)SLOTS(job->width, job->parts) * slot_bytes(job);
}

static size_t lupp_bytes(const shoal_band *plan) {
    return (size_t)workers_of(plan) * scratch_bytes(&plan->job);
}

BAND_INLINE void solve_group(const band_job *job, int64_t k, int used, char *memory,
                             const int width, const int parts) {
    const int lanes = lanes_of(job);
    const band_scratch s = { (real *)(void *)memory, (int64_t)(slot_bytes(job) / sizeof(real)),
                             lanes };
    for (int64_t j = 0; j < job->nrhs; j++)
        if (lanes == 1)
            solve_lanes(job, k, used, j, &s, width, parts, 1);
        else
            solve_lanes(job, k, used, j, &s, width, parts, BAND_LANES);
}

static shoal_status lupp_run(shoal_band *plan, const band_job *job) {
    const int lanes = lanes_of(job), workers = workers_of(plan);
    const int64_t groups = groups_of(job);
#pragma omp parallel for num_threads(workers) schedule(static)
    for (int worker = 0; worker < workers; worker++) {
        char *memory = (char *)job->work + (size_t)worker * scratch_bytes(job);
        const int64_t first = groups * worker / workers, past = groups * (worker + 1) / workers;
        for (int64_t g = first; g < past; g++) {
            const int64_t k = g * lanes, left = job->count - k;
            if (shoal_is_cancelled(plan->head.ctx, g - first, past - first)) break;
            BAND_BY_SHAPE(job, solve_group, job, k, left < lanes ? (int)left : lanes, memory);
        }
    }
    return SHOAL_OK;
}

static shoal_status lupp_total(shoal_band *plan, const band_job *job, shoal_band_info *info) {
    (void)plan;
    if (job->residual) info->max_residual = 0;
    for (int64_t k = 0; k < job->count; k++) {
        info->failed += job->status[k] < 0;
        info->warned += job->status[k] > 0;
        if (job->residual && job->status[k] >= 0 && !(job->residual[k] <= info->max_residual))
            info->max_residual = isnan(info->max_residual) ? NAN : job->residual[k];
    }
    return SHOAL_OK;
}

const band_method R(band_lupp) = { lupp_bytes, lupp_run, lupp_total };
