/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_accuracy.c - how good an answer is, and how to make it better: reciprocal condition,
 * refinement with error bounds.
 *
 * |A^-1| is estimated by Hager's method as Higham has it (LAPACK's dlacn2): a few solves climb to a
 * column of A^-1 whose sum is large, and a vector of alternating signs catches what that misses. A is
 * symmetric, so that the transpose costs nothing. The error bound of an answer is the estimate of
 * | |A^-1| (|r| + (n + 1) eps s) | / |x| with r = b - A x and s = |A| |x| + |b| (LAPACK's dsyrfs).
 *
 * The vectors of n numbers are on the host, in double; matrices never leave the context's memory.
 */
#include "symindef/plan.h"
#include <math.h>
#include <stdlib.h>

enum { STEPS = 5, SOLVES = 3 * STEPS + 3 }; /* of refinement, and of the estimate; solves of both */

typedef struct solver { /* A^-1, and the vectors of n numbers on the host */
    shoal_symindef *plan;
    symindef_job job;
    double *x;           /* what is solved for, in place             */
    double *answer;      /* refinement: one column of x              */
    double *r, *size;    /* refinement: b - A x, |b| + |A| |x|       */
    signed char *signs;  /* of the estimate                          */
    void *device;        /* one vector of the plan's type            */
    shoal_status status; /* of all that was done                     */
    shoal_stage stage;   /* of one column                            */
    int solves;          /* ... so far                               */
} solver;

static shoal_status open_solver(solver *s, shoal_symindef *plan, const void *a) {
    const int64_t n = plan->job.shape.n;
    *s = (solver){ .plan = plan, .job = plan->job, .device = plan->job.vectors };
    s->job.a = (void *)a;
    s->x = malloc((size_t)n * (4 * sizeof *s->x + sizeof *s->signs));
    if (!s->x) return SHOAL_NO_MEMORY(plan->head.ctx, "vectors of %lld numbers", (long long)n);
    s->answer = s->x + n, s->r = s->answer + n, s->size = s->r + n;
    s->signs = (signed char *)(s->size + n);
    return SHOAL_OK;
}

/* x := A^-1 x; once something has failed nothing more is done. */
static void apply_inverse(solver *s) {
    const int64_t n = s->job.shape.n;
    if (s->status == SHOAL_OK)
        s->status =
            shoal_stage_step(s->plan->head.ctx, &s->stage, s->solves, s->solves + 1, SOLVES);
    s->solves++;
    if (s->status == SHOAL_OK) s->status = shoal_symindef_from_host(s->plan, n, s->device, s->x);
    if (s->status == SHOAL_OK)
        s->status = s->plan->driver->solve(s->plan, &s->job, 1, s->device, s->device);
    if (s->status == SHOAL_OK) s->status = shoal_wait(s->plan->head.ctx);
    if (s->status == SHOAL_OK) s->status = shoal_symindef_to_host(s->plan, n, s->x, s->device);
}

/* x := diag(weight) A^-1 x, or its transpose A^-1 diag(weight) x; weight NULL: ones. */
static void apply(solver *s, const double *weight, int transposed) {
    const int64_t n = s->job.shape.n;
    for (int64_t i = 0; i < n && weight && transposed; i++) s->x[i] *= weight[i];
    apply_inverse(s);
    for (int64_t i = 0; i < n && weight && !transposed; i++) s->x[i] *= weight[i];
}

static double sum_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += fabs(x[i]);
    return sum;
}

/* x becomes the signs of x; whether they are those of `signs`, which takes them. */
static int take_signs(double *x, signed char *signs, int64_t n) {
    int same = 1;
    for (int64_t i = 0; i < n; i++) {
        const signed char sign = x[i] < 0 ? -1 : 1;
        same &= sign == signs[i];
        signs[i] = sign;
        x[i] = (double)sign;
    }
    return same;
}

static int64_t largest_at(const double *x, int64_t n) {
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at])) at = i;
    return at;
}

/* The 1-norm of diag(weight) A^-1, estimated from below; not finite if a solve is not. */
static double estimated_norm(solver *s, const double *weight) {
    const int64_t n = s->job.shape.n;
    signed char *signs = s->signs;
    double *x = s->x, estimate;
    for (int64_t i = 0; i < n; i++) x[i] = 1 / (double)n, signs[i] = 0;
    apply(s, weight, 0);
    estimate = sum_of(x, n);
    if (n == 1 || !isfinite(estimate) || s->status != SHOAL_OK) return estimate;
    take_signs(x, signs, n);
    apply(s, weight, 1);
    int64_t column = largest_at(x, n);
    for (int step = 0; step < STEPS; step++) {
        for (int64_t i = 0; i < n; i++) x[i] = (double)(i == column);
        apply(s, weight, 0);
        const double larger = sum_of(x, n);
        const int climbed = larger > estimate;
        if (climbed) estimate = larger;
        if (take_signs(x, signs, n) || !climbed) break;
        apply(s, weight, 1);
        const int64_t next = largest_at(x, n);
        if (fabs(x[next]) == fabs(x[column])) break;
        column = next;
    }
    for (int64_t i = 0; i < n; i++) x[i] = (i % 2 ? -1 : 1) * (1 + (double)i / (double)(n - 1));
    apply(s, weight, 0);
    return fmax(estimate, 2 * sum_of(x, n) / (3 * (double)n));
}

/* The state of the last factorization, brought home. */
static shoal_status state_of(shoal_symindef *plan, symindef_state *state) {
    const shoal_status status = shoal_symindef_wait(plan);
    return status == SHOAL_OK ? shoal_copy(plan->head.ctx, state, plan->job.state, sizeof *state)
                              : status;
}

static shoal_status rcond_of(shoal_symindef *plan, shoal_type type, const void *a, double *rcond) {
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_rcond");
    if (status != SHOAL_OK) return status;
    const int64_t n = plan->job.shape.n;
    symindef_state state;
    if (!rcond) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "rcond is NULL");
    *rcond = 1;
    if (n == 0) return SHOAL_OK;
    if (plan->modified)
        return shoal_fail(
            plan->head.ctx, SHOAL_E_ARG,
            "A holds the factors of A + E since shoal_symindef_modify(), whose norm is "
            "not known; call shoal_symindef_rcond() before");
    status = shoal_check_array(plan->head.ctx, a, "A");
    if (status == SHOAL_OK) status = state_of(plan, &state);
    if (status != SHOAL_OK) return status;
    *rcond = 0; /* stays if A is singular: solves are NaN then */
    solver s;
    status = open_solver(&s, plan, a);
    if (status == SHOAL_OK) {
        s.stage = shoal_stage_begin(plan->head.ctx, "condition");
        const double inverse = estimated_norm(&s, NULL);
        status = shoal_stage_end(plan->head.ctx, &s.stage, s.status);
        *rcond = isfinite(inverse) && inverse > 0 ? 1 / inverse / state.norm : 0;
    }
    free(s.x);
    return status;
}

shoal_status shoal_symindef_rcond(shoal_symindef *plan, const double *A, double *rcond) {
    return rcond_of(plan, SHOAL_F64, A, rcond);
}

shoal_status shoal_symindef_rcondf(shoal_symindef *plan, const float *A, double *rcond) {
    return rcond_of(plan, SHOAL_F32, A, rcond);
}

/* ---- refinement ---- */

typedef struct refinement {
    solver s;
    symindef_job given;             /* the matrix before it was factored             */
    char *b, *x;                    /* in the context's memory: one column each      */
    double *device_r, *device_size; /* in the plan's                                 */
    double unit;
} refinement;

/* The residual of s.answer, and the backward error, max |r| / size; 0 / 0 is 0. NaN if a quotient is, as
 * it is if b or x is not finite. */
static double residual_error(refinement *f) {
    solver *s = &f->s;
    shoal_symindef *plan = s->plan;
    const int64_t n = f->given.shape.n;
    const size_t bytes = (size_t)n * sizeof(double);
    double worst = 0;
    if (s->status == SHOAL_OK) s->status = shoal_symindef_from_host(plan, n, f->x, s->answer);
    if (s->status == SHOAL_OK)
        s->status =
            plan->driver->residual(plan, &f->given, f->b, f->x, f->device_r, f->device_size);
    if (s->status == SHOAL_OK) s->status = shoal_wait(plan->head.ctx);
    if (s->status == SHOAL_OK) s->status = shoal_copy(plan->head.ctx, s->r, f->device_r, bytes);
    if (s->status == SHOAL_OK)
        s->status = shoal_copy(plan->head.ctx, s->size, f->device_size, bytes);
    for (int64_t i = 0; i < n && s->status == SHOAL_OK; i++) {
        const double error = s->r[i] == 0 ? 0 : fabs(s->r[i]) / s->size[i];
        if (error > worst || isnan(error)) worst = error;
    }
    return worst;
}

/* One right-hand side; s.answer holds x. */
static void refine_column(refinement *f, double *backward, double *forward) {
    solver *s = &f->s;
    const int64_t n = f->given.shape.n;
    double error = residual_error(f), before = INFINITY;
    for (int step = 0; step < STEPS && error > f->unit && 2 * error <= before; step++) {
        for (int64_t i = 0; i < n; i++) s->x[i] = s->r[i];
        apply_inverse(s);
        for (int64_t i = 0; i < n; i++) s->answer[i] += s->x[i];
        before = error;
        error = residual_error(f);
    }
    *backward = *forward = error;
    if (isnan(error)) return;
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(s->answer[i]));
        s->r[i] = fabs(s->r[i]) + (double)(n + 1) * f->unit * s->size[i]; /* the weights */
    }
    const double norm = estimated_norm(s, s->r);
    *forward = largest > 0 ? norm / largest : norm;
}

static void set_errors(int64_t c, double *backward, double *forward, const double *errors) {
    if (backward) backward[c] = errors[0];
    if (forward) forward[c] = errors[1];
}

/* All right-hand sides, column by column of the host's copies of b and x. */
static shoal_status refine_all(refinement *f, const shoal_stage *stage, int64_t nrhs, const void *b,
                               void *x, double *backward, double *forward) {
    shoal_symindef *plan = f->s.plan;
    const int64_t n = plan->job.shape.n, all = n * nrhs, numbers = 2 * all;
    double *all_b = malloc((size_t)numbers * sizeof *all_b);
    if (!all_b) return SHOAL_NO_MEMORY(plan->head.ctx, "%lld numbers", (long long)numbers);
    double *all_x = all_b + all;
    shoal_status status = shoal_symindef_to_host(plan, all, all_b, b);
    if (status == SHOAL_OK) status = shoal_symindef_to_host(plan, all, all_x, x);
    for (int64_t c = 0; c < nrhs && status == SHOAL_OK; c++) {
        double errors[2] = { NAN, NAN };
        for (int64_t i = 0; i < n; i++) f->s.answer[i] = all_b[i * nrhs + c];
        status = shoal_symindef_from_host(plan, n, f->b, f->s.answer);
        for (int64_t i = 0; i < n; i++) f->s.answer[i] = all_x[i * nrhs + c];
        if (status == SHOAL_OK)
            status =
                shoal_stage_step(plan->head.ctx, stage, (double)c, (double)c + 1, (double)nrhs);
        if (status == SHOAL_OK) {
            f->s.solves = 0, f->s.stage = shoal_stage_begin(plan->head.ctx, "refinement");
            refine_column(f, &errors[0], &errors[1]);
            status = shoal_stage_end(plan->head.ctx, &f->s.stage, f->s.status);
        }
        for (int64_t i = 0; i < n; i++) all_x[i * nrhs + c] = f->s.answer[i];
        set_errors(c, backward, forward, errors);
    }
    if (status == SHOAL_OK) status = shoal_symindef_from_host(plan, all, x, all_x);
    free(all_b);
    return status;
}

static shoal_status refine(shoal_symindef *plan, shoal_type type, const void *given, const void *a,
                           int64_t nrhs, const void *b, void *x, double *backward,
                           double *forward) {
    symindef_state state = { 0 };
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_refine");
    if (status == SHOAL_OK) status = shoal_symindef_check_rhs(plan, nrhs);
    if (status != SHOAL_OK) return status;
    const int64_t n = plan->job.shape.n;
    const shoal_array arrays[] = {
        { "given", given, 0 }, { "A", a, 0 }, { "b", b, 0 }, { "x", x, 0 }
    };
    if (n > 0 && nrhs > 0) {
        status = shoal_check_arrays(plan->head.ctx, arrays, 4);
        if (status == SHOAL_OK) status = state_of(plan, &state);
        if (status != SHOAL_OK) return status;
    }
    const int lost = state.singular || state.status != SHOAL_SYSTEM_OK; /* x is NaN, and stays so */
    if (n == 0 || nrhs == 0 || lost) {
        const double errors[2] = { lost ? NAN : 0, lost ? NAN : 0 };
        for (int64_t c = 0; c < nrhs; c++) set_errors(c, backward, forward, errors);
        return SHOAL_OK;
    }
    const size_t bytes = (size_t)n * sizeof(double);
    refinement f = { .given = plan->job,
                     .device_r = plan->job.vectors + n,
                     .device_size = plan->job.vectors + 2 * n,
                     .unit = shoal_epsilon(type) };
    void *columns = NULL;
    f.given.a = (void *)given;
    status = open_solver(&f.s, plan, a);
    if (status == SHOAL_OK) status = shoal_alloc(plan->head.ctx, 2 * bytes, &columns);
    if (status == SHOAL_OK) {
        f.b = columns, f.x = f.b + bytes;
        const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "refinement");
        status = refine_all(&f, &stage, nrhs, b, x, backward, forward);
        status = shoal_stage_end(plan->head.ctx, &stage, status);
    }
    shoal_free(plan->head.ctx, columns);
    free(f.s.x);
    return status;
}

shoal_status shoal_symindef_refine(shoal_symindef *plan, const double *given, const double *A,
                                   int64_t nrhs, const double *b, double *x, double *backward,
                                   double *forward) {
    return refine(plan, SHOAL_F64, given, A, nrhs, b, x, backward, forward);
}

shoal_status shoal_symindef_refinef(shoal_symindef *plan, const float *given, const float *A,
                                    int64_t nrhs, const float *b, float *x, double *backward,
                                    double *forward) {
    return refine(plan, SHOAL_F32, given, A, nrhs, b, x, backward, forward);
}
