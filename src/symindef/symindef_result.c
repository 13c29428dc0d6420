/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_result.c - what a factorization found: counts, inertia and determinant, from the
 * interchanges and the blocks of D; and copies of vectors between host and context.
 *
 * A block of order 2 that a strategy has chosen is indefinite, one eigenvalue of each sign: with
 * complete or rook pivoting |P(1,0)| is the larger by far, and with partial pivoting the determinant is
 * negative all the same (Kruchinina's thesis, Algorithm 3, case 4). A modified block is positive, and its
 * entry off the diagonal may be zero: the interchanges give the order of a pivot.
 */
#include "symindef/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

shoal_status shoal_symindef_wait(shoal_symindef *plan) {
    void *current;
    if (!plan->head.called)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "A has not been factored by this plan yet");
    const shoal_status status = shoal_plan_wait(&plan->head, &current);
    return shoal_plan_return(&plan->head, current, status);
}

/* ---- copies ---- */

static shoal_status no_memory(shoal_symindef *plan, int64_t count) {
    return SHOAL_NO_MEMORY(plan->head.ctx, "%lld numbers", (long long)count);
}

shoal_status shoal_symindef_to_host(shoal_symindef *plan, int64_t count, double *to,
                                    const void *from) {
    const size_t bytes = (size_t)count * shoal_type_bytes(plan->head.type);
    if (plan->head.type == SHOAL_F64) return shoal_copy(plan->head.ctx, to, from, bytes);
    float *narrow = malloc(bytes);
    if (!narrow) return no_memory(plan, count);
    const shoal_status status = shoal_copy(plan->head.ctx, narrow, from, bytes);
    for (int64_t i = 0; i < count && status == SHOAL_OK; i++) to[i] = (double)narrow[i];
    free(narrow);
    return status;
}

shoal_status shoal_symindef_from_host(shoal_symindef *plan, int64_t count, void *to,
                                      const double *from) {
    const size_t bytes = (size_t)count * shoal_type_bytes(plan->head.type);
    if (plan->head.type == SHOAL_F64) return shoal_copy(plan->head.ctx, to, from, bytes);
    float *narrow = malloc(bytes);
    if (!narrow) return no_memory(plan, count);
    for (int64_t i = 0; i < count; i++) narrow[i] = (float)from[i];
    const shoal_status status = shoal_copy(plan->head.ctx, to, narrow, bytes);
    free(narrow);
    return status;
}

shoal_status shoal_symindef_fetch(shoal_symindef *plan, symindef_factors *f) {
    const int64_t n = plan->job.shape.n;
    const size_t words = (size_t)n * sizeof *f->interchanges;
    shoal_status status = shoal_symindef_wait(plan);
    *f = (symindef_factors){ .n = n, .d = malloc((size_t)(2 * n) * sizeof *f->d + words) };
    if (!f->d) return no_memory(plan, n);
    f->e = f->d + n;
    f->interchanges = (int32_t *)(f->e + n);
    if (status == SHOAL_OK)
        status = shoal_copy(plan->head.ctx, &f->state, plan->job.state, sizeof f->state);
    if (status == SHOAL_OK)
        status = shoal_copy(plan->head.ctx, f->interchanges, plan->job.interchanges, words);
    if (status == SHOAL_OK) status = shoal_symindef_to_host(plan, n, f->d, plan->job.d);
    if (status == SHOAL_OK) status = shoal_symindef_to_host(plan, n, f->e, plan->job.e);
    return status;
}

/* ---- counts ---- */

static void count_1x1(double d, shoal_symindef_info *info) {
    info->inertia[d > 0 ? 0 : d < 0 ? 1 : 2]++;
    if (d < 0) info->sign_det = -info->sign_det;
    if (d != 0) info->log_abs_det += log(fabs(d));
}

/* det [a b; b c] = b^2 (a/b c/b - 1), b not zero: no needless overflow. */
static void count_2x2(double a, double b, double c, shoal_symindef_info *info) {
    const double ratio = a / b * (c / b) - 1;
    info->inertia[0]++; /* one of each sign, or both positive after shoal_symindef_modify() */
    info->inertia[ratio < 0 ? 1 : 0]++;
    if (ratio < 0) info->sign_det = -info->sign_det;
    info->log_abs_det += 2 * log(fabs(b)) + log(fabs(ratio));
    /* condition number m + sqrt(m^2 - 1), 2 m = (a^2 + 2 b^2 + c^2) / |det| */
    const double size = (a / b * (a / b) + 2 + c / b * (c / b)) / (2 * fabs(ratio));
    const double cond = size < 1e150 ? size + sqrt(fmax(size * size - 1, 0)) : 2 * size;
    if (!(cond <= info->block_cond)) info->block_cond = cond;
}

static void count_pivots(const symindef_factors *f, shoal_symindef_info *info) {
    info->sign_det = 1;
    for (int64_t k = 0; k < info->eliminated; k++) {
        const int32_t *change = f->interchanges + k;
        if (k + 1 < info->eliminated && change[1] < 0) {
            info->pivots_2x2++;
            info->swaps_2x2 += (change[0] != k + 1) + (change[1] != -(k + 2));
            if (f->e[k] != 0)
                count_2x2(f->d[k], f->e[k], f->d[k + 1], info);
            else
                count_1x1(f->d[k], info), count_1x1(f->d[k + 1], info);
            k++;
        } else {
            count_1x1(f->d[k], info);
            info->pivots_1x1 += f->d[k] != 0;
            info->swaps_1x1 += change[0] != k + 1; /* a zero pivot stays where it is */
        }
    }
    if (info->inertia[2]) info->sign_det = 0, info->log_abs_det = -INFINITY;
    info->rank = info->inertia[0] + info->inertia[1];
}

/* Complete pivoting searches the triangle that is left at each stage. */
static int64_t compared(const symindef_factors *f, int64_t end) {
    int64_t count = 0;
    for (int64_t k = 0; k < end; k++) {
        count += (f->n - k) * (f->n - k + 1) / 2;
        if (k + 1 < end && f->interchanges[k + 1] < 0) k++;
    }
    return count;
}

/* Of the thesis, section 2.2: 2.57^(n-1) for all strategies, and for complete pivoting also sqrt(n) f(n) 3.07
 * (n-1)^0.446, f(n) the product of k^(1/(k-1)). */
static double growth_bound(int64_t n, int complete) {
    const double any = pow(2.57, (double)(n - 1));
    if (!complete || n < 2) return any;
    double logarithm = 0;
    for (int64_t k = 2; k <= n; k++) logarithm += log((double)k) / (double)(k - 1);
    return fmin(any, 3.07 * sqrt((double)n) * pow((double)(n - 1), 0.446) * exp(logarithm));
}

/* (2.5): |F|_1 <= u mu (n^2/2 max(1 + 3/alpha, (1 + 11/(1 - alpha))/2) + n/2 3 (1 + alpha)/(1 - alpha)), mu the largest entry
 * of all reduced matrices. */
static double error_bound(const symindef_factors *f, const shoal_symindef_info *info) {
    const double a = info->alpha, n = (double)f->n, u = 0.5 * info->epsilon;
    const double each = fmax(1 + 3 / a, 0.5 * (1 + 11 / (1 - a)));
    const double bound = u * f->state.peak * 0.5 * n * (n * each + 3 * (1 + a) / (1 - a));
    return f->state.norm > 0 ? bound / f->state.norm : 0;
}

static void fill_info(const symindef_factors *f, shoal_symindef_info *info) {
    const symindef_state *s = &f->state;
    info->status = s->status;
    info->sign_det = 0;
    if (info->status < 0) return;
    info->eliminated = s->done ? f->n : s->row; /* a 2x2 pivot may be one row more than asked for */
    info->largest = s->largest;
    info->tol = s->tol;
    info->rounding = (double)f->n * info->epsilon * info->largest;
    info->growth = s->largest > 0 ? s->peak / s->largest : 0;
    info->max_multiplier = s->multiplier;
    info->block_cond = 1;
    count_pivots(f, info);
    const int complete = strcmp(info->method, "complete") == 0;
    info->comparisons = complete ? compared(f, info->eliminated) : s->compared;
    info->growth_bound = growth_bound(f->n, complete);
    info->error_bound = error_bound(f, info);
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
    symindef_factors f;
    status = shoal_symindef_fetch(plan, &f);
    if (status == SHOAL_OK) fill_info(&f, info);
    free(f.d);
    return status;
}

shoal_status shoal_symindef_order(shoal_symindef *plan, int32_t *interchanges, int32_t *permutation,
                                  double *growth) {
    if (!plan) return SHOAL_E_ARG;
    shoal_status status = shoal_symindef_wait(plan);
    if (status != SHOAL_OK) return status;
    const symindef_job *job = &plan->job;
    const size_t n = (size_t)job->shape.n;
    if (growth && n && !job->growth)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "growth: the plan was made without opts.growth");
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } parts[] = { { interchanges, job->interchanges, n * sizeof *interchanges },
                  { permutation, job->permutation, n * sizeof *permutation },
                  { growth, job->growth, n * sizeof *growth } };
    for (int i = 0; i < 3 && status == SHOAL_OK; i++)
        if (parts[i].to)
            status = shoal_copy(plan->head.ctx, parts[i].to, parts[i].from, parts[i].bytes);
    return status;
}
