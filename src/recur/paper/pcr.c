/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.c - parallel cyclic reduction of order-1 recurrences on the CPU.
 *
 * The row w_i = s_i w_{i-h} + t_i becomes, with row i - h put in, w_i = s_i s_{i-h} w_{i-2h} + s_i
 * t_{i-h} + t_i: after ceil(log2 n) steps, h = 1, 2, 4, .., t is the answer. 3 operations per row and
 * step, 4 numbers read and 2 written: N log N where the P-scheme has 2 N. It is there for the
 * comparison of the paper's Figure 7. Products of s that overflow are an overflow here, whatever
 * the answer is.
 */
#include "recur/walk.h"
#include <string.h>

static size_t pcr_bytes(const shoal_recur *plan) { return (size_t)plan->job.n * 4 * sizeof(real); }

static void one_segment(const recur_job *job, int64_t k, int threads) {
    const int64_t n = job->n;
    const recur_view v = view_of(job, k);
    real *s = job->work, *t = s + n, *next_s = t + n, *next_t = next_s + n, input = 0, answer = 0;
    const real w0 = first_state(job, k, 1).x[0];
    input = poisoned(0, w0);
    for (int64_t i = 0; i < n; i++) {
        s[i] = v.s[i * v.s_row], t[i] = v.t[i * v.t_row];
        input = poisoned(poisoned(input, s[i]), t[i]);
    }
    t[0] = s[0] * w0 + t[0];
    s[0] = 0;
    for (int64_t h = 1; h < n; h *= 2) {
#pragma omp parallel for simd num_threads(threads) schedule(static)
        for (int64_t i = h; i < n; i++) {
            next_s[i] = s[i] * s[i - h];
            next_t[i] = s[i] * t[i - h] + t[i];
        }
        memcpy(next_s, s, (size_t)h * sizeof(real)); /* rows that are done */
        memcpy(next_t, t, (size_t)h * sizeof(real));
        real *swap = s;
        s = next_s, next_s = swap;
        swap = t, t = next_t, next_t = swap;
    }
    for (int64_t i = 0; i < n; i++) {
        answer = poisoned(answer, t[i]);
        v.w[i * v.w_row] = t[i];
    }
    walk_note(job, k, (input != 0 ? WALK_INPUT : 0) | (answer != 0 ? WALK_ANSWER : 0));
}

static shoal_status pcr_run(shoal_recur *plan, const recur_job *job) {
    for (int64_t k = 0; k < job->count; k++) one_segment(job, k, plan->head.ctx->threads);
    return SHOAL_OK;
}

const recur_method R(recur_pcr) = { .bytes = pcr_bytes, .run = pcr_run };
