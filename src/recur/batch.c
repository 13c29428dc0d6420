/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: statuses are cleared before, counted after.
 */
#include "core/real.h"
#include "recur/plan.h"
#include <string.h>

static size_t batch_bytes(const shoal_recur *plan) {
    const recur_method *method = plan->chosen.cell;
    return method->bytes(plan);
}

static shoal_status batch_run(shoal_recur *plan, const recur_job *job) {
    const recur_method *method = plan->chosen.cell;
    memset(job->status, 0, (size_t)job->count * sizeof(int32_t));
    for (int64_t k = 0; job->method && k < job->count; k++) job->method[k] = job->method_row;
    return job->n > 0 ? method->run(plan, job) : SHOAL_OK;
}

static shoal_status batch_total(shoal_recur *plan, const recur_job *job, shoal_recur_info *info) {
    (void)plan;
    for (int64_t k = 0; k < job->count; k++) info->failed += job->status[k] < 0;
    return SHOAL_OK;
}

const recur_driver R(recur_batch) = { .bytes = batch_bytes,
                                      .run = batch_run,
                                      .total = batch_total };
