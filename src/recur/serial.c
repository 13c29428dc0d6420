/* SPDX-License-Identifier: Apache-2.0
 *
 * serial.c - plain substitution on the CPU, row after row: w[i] = s[i] w[i-1] + t[i].
 *
 * What the other methods are checked against, and what is fastest on few cores where maps are large
 * (orders above 1) or costly (Moebius). Threads over segments. Every number is read and written
 * once; a row waits for the row before, 2 operations of order 1, a division for Moebius.
 */
#include "recur/walk.h"

static size_t serial_bytes(const shoal_recur *plan) {
    (void)plan;
    return 0;
}

static shoal_status serial_run(shoal_recur *plan, const recur_job *job) {
    const int most = plan->head.ctx->threads;
    const int threads = job->count >= most ? most : job->count > 1 ? (int)job->count : 1;
    const int64_t first_share = job->count / threads + 1;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < job->count; k++)
        if (!shoal_is_cancelled(plan->head.ctx, k, first_share)) walk_segment(job, k);
    return SHOAL_OK;
}

const recur_method R(recur_serial) = { .bytes = serial_bytes, .run = serial_run };
