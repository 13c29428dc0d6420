/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_result.c - what a factorization found: counts, inertia and determinant, from the
 * interchanges and the blocks of D.
 *
 * A block of order 2 that a strategy has chosen is indefinite, one eigenvalue of each sign: where
 * complete or rook pivoting took it |P(1,0)| is the larger by far, and where partial pivoting did its
 * determinant is negative all the same (Kruchinina's thesis, Algorithm 3, case 4). A modified one is positive, and
 * its entry off the diagonal may be zero: what order a pivot has been taken with, the interchanges say.
 */
#include "symindef/plan.h"
#include <math.h>
#include <stdlib.h>

typedef struct host_factors { /* what last() brings home */
    symindef_state state;
    int32_t *interchanges;
    void *d, *e;
} host_factors;

static void release(host_factors *h) {
    free(h->interchanges);
    free(h->d);
    free(h->e);
}

shoal_status shoal_symindef_wait(shoal_symindef *plan) {
    void *current;
    if (!plan->head.called)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "A has not been factored by this plan yet");
    const shoal_status status = shoal_plan_wait(&plan->head, &current);
    return shoal_plan_return(&plan->head, current, status);
}

static shoal_status bring_home(shoal_symindef *plan, host_factors *h) {
    shoal_context *ctx = plan->head.ctx;
    const size_t n = (size_t)plan->job.shape.n;
    const size_t real = shoal_type_bytes(plan->head.type);
    h->interchanges = malloc(n * sizeof *h->interchanges);
    h->d = malloc(n * real), h->e = malloc(n * real);
    if (!h->interchanges || !h->d || !h->e)
        return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory for the diagonal of D");
    shoal_status status = shoal_copy(ctx, &h->state, plan->job.state, sizeof h->state);
    if (status == SHOAL_OK)
        status = shoal_copy(ctx, h->interchanges, plan->job.interchanges, n * sizeof(int32_t));
    if (status == SHOAL_OK) status = shoal_copy(ctx, h->d, plan->job.d, n * real);
    if (status == SHOAL_OK) status = shoal_copy(ctx, h->e, plan->job.e, n * real);
    return status;
}

/* det [a b; b c] = b^2 (a/b c/b - 1), b not zero: nothing overflows that need not. */
static double block_ratio(double a, double b, double c) { return a / b * (c / b) - 1; }

static void count_single(double d, shoal_symindef_info *info) {
    info->inertia[d > 0 ? 0 : d < 0 ? 1 : 2]++;
    if (d < 0) info->sign_det = -info->sign_det;
    if (d != 0) info->log_abs_det += log(fabs(d));
}

static void count_double(double a, double b, double c, shoal_symindef_info *info) {
    const double ratio = block_ratio(a, b, c);
    info->inertia[0]++; /* one of each sign, or both positive after shoal_symindef_modify() */
    info->inertia[ratio < 0 ? 1 : 0]++;
    if (ratio < 0) info->sign_det = -info->sign_det;
    info->log_abs_det += 2 * log(fabs(b)) + log(fabs(ratio));
}

static void count_pivots(const shoal_symindef *plan, const host_factors *h,
                         shoal_symindef_info *info) {
    info->sign_det = 1;
    for (int64_t k = 0; k < info->eliminated; k++) {
        const double d = symindef_number(plan->head.type, h->d, k),
                     e = symindef_number(plan->head.type, h->e, k);
        const int32_t *change = h->interchanges + k;
        if (k + 1 < info->eliminated && change[1] < 0) {
            const double next = symindef_number(plan->head.type, h->d, k + 1);
            info->pivots_2x2++;
            info->swaps_2x2 += (change[0] != k + 1) + (change[1] != -(k + 2));
            if (e != 0)
                count_double(d, e, next, info);
            else
                count_single(d, info), count_single(next, info);
            k++;
        } else {
            count_single(d, info);
            info->pivots_1x1 += d != 0;
            info->swaps_1x1 += change[0] != k + 1; /* a zero pivot stays where it is */
        }
    }
    if (info->inertia[2]) info->sign_det = 0, info->log_abs_det = -INFINITY;
    info->rank = info->inertia[0] + info->inertia[1];
}

shoal_status shoal_symindef_last(shoal_symindef *plan, shoal_symindef_info *info) {
    shoal_status status = shoal_plan_asked(plan, info);
    if (status == SHOAL_OK) status = shoal_symindef_wait(plan);
    if (status != SHOAL_OK) return status;
    *info = (shoal_symindef_info){ .method = plan->chosen.name,
                                   .variant = plan->chosen.variant_name,
                                   .sign_det = 1,
                                   .alpha = plan->job.alpha,
                                   .epsilon = shoal_epsilon(plan->head.type),
                                   .bytes = plan->head.bytes };
    if (plan->job.shape.n == 0) return SHOAL_OK;
    host_factors h = { 0 };
    status = bring_home(plan, &h);
    if (status == SHOAL_OK) {
        info->status = h.state.status;
        if (info->status < 0) {
            info->sign_det = 0;
        } else {
            /* a 2x2 pivot may have gone one row further than asked */
            info->eliminated = h.state.done ? plan->job.shape.n : h.state.row;
            info->largest = h.state.largest;
            info->tol = h.state.tol;
            info->rounding = (double)plan->job.shape.n * info->epsilon * info->largest;
            info->growth = h.state.largest > 0 ? h.state.peak / h.state.largest : 0;
            info->max_multiplier = h.state.multiplier;
            count_pivots(plan, &h, info);
        }
    }
    release(&h);
    return status;
}

shoal_status shoal_symindef_order(shoal_symindef *plan, int32_t *interchanges, int32_t *permutation,
                                  double *growth) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = shoal_symindef_wait(plan);
    if (status != SHOAL_OK) return status;
    const size_t n = (size_t)plan->job.shape.n;
    const symindef_job *job = &plan->job;
    if (growth && n && !job->growth)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "growth: the plan was made without opts.growth");
    if (n == 0) return SHOAL_OK;
    if (interchanges)
        status = shoal_copy(plan->head.ctx, interchanges, job->interchanges, n * sizeof(int32_t));
    if (status == SHOAL_OK && permutation)
        status = shoal_copy(plan->head.ctx, permutation, job->permutation, n * sizeof(int32_t));
    if (status == SHOAL_OK && growth)
        status = shoal_copy(plan->head.ctx, growth, job->growth, n * sizeof(double));
    return status;
}
