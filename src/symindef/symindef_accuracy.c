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

enum { STEPS = 5 }; /* of refinement, and of the estimate */

typedef struct solver { /* A^-1, and what lies between host and device */
    shoal_symindef *plan;
    symindef_job job;
    double *x;     /* host: what is solved for, in place */
    float *narrow; /* host: the same in float            */
    void *device;  /* one vector of the plan's type      */
    shoal_status status;
} solver;

static shoal_status open_solver(solver *s, shoal_symindef *plan, const void *a) {
    const size_t n = (size_t)plan->job.shape.n;
    *s = (solver){ .plan = plan, .job = plan->job };
    s->job.a = (void *)a;
    s->device = plan->job.vectors;
    s->x = malloc(n * sizeof *s->x);
    s->narrow = malloc(n * sizeof *s->narrow);
    if (!s->x || !s->narrow)
        return shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory for a vector of %zu numbers",
                          n);
    return SHOAL_OK;
}

static void close_solver(solver *s) {
    free(s->x);
    free(s->narrow);
}

/* A host vector into the context's memory, as numbers of the plan's type, and back. */
static shoal_status put(solver *s, void *to, const double *from) {
    const size_t n = (size_t)s->job.shape.n;
    if (s->plan->head.type == SHOAL_F64)
        return shoal_copy(s->plan->head.ctx, to, from, n * sizeof *from);
    for (size_t i = 0; i < n; i++) s->narrow[i] = (float)from[i];
    return shoal_copy(s->plan->head.ctx, to, s->narrow, n * sizeof *s->narrow);
}

static shoal_status get(solver *s, double *to, const void *from) {
    const size_t n = (size_t)s->job.shape.n;
    if (s->plan->head.type == SHOAL_F64)
        return shoal_copy(s->plan->head.ctx, to, from, n * sizeof *to);
    const shoal_status status =
        shoal_copy(s->plan->head.ctx, s->narrow, from, n * sizeof *s->narrow);
    for (size_t i = 0; i < n; i++) to[i] = (double)s->narrow[i];
    return status;
}

/* x := A^-1 x; once something has failed nothing more is done. */
static void apply_inverse(solver *s) {
    if (s->status == SHOAL_OK) s->status = put(s, s->device, s->x);
    if (s->status == SHOAL_OK)
        s->status = s->plan->driver->solve(s->plan, &s->job, 1, s->device, s->device);
    if (s->status == SHOAL_OK) s->status = shoal_wait(s->plan->head.ctx);
    if (s->status == SHOAL_OK) s->status = get(s, s->x, s->device);
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

/* The 1-norm of diag(weight) A^-1, estimated from below; not finite where it cannot be had. */
static double estimated_norm(solver *s, const double *weight, signed char *signs) {
    const int64_t n = s->job.shape.n;
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
            "not known; ask for rcond before");
    status = shoal_check_array(plan->head.ctx, a, "A");
    if (status == SHOAL_OK) status = state_of(plan, &state);
    if (status != SHOAL_OK) return status;
    *rcond = 0; /* stays if A is singular: solves are NaN then */
    solver s;
    signed char *signs = malloc((size_t)n);
    status = open_solver(&s, plan, a);
    if (status == SHOAL_OK && !signs)
        status = shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory");
    if (status == SHOAL_OK) {
        const double inverse = estimated_norm(&s, NULL, signs);
        status = s.status;
        *rcond = isfinite(inverse) && inverse > 0 ? 1 / inverse / state.norm : 0;
    }
    free(signs);
    close_solver(&s);
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
    symindef_job given; /* the matrix before it was factored                   */
    double *answer;     /* host: one column of x                               */
    double *r, *size;   /* host: b - A x, |b| + |A| |x|                        */
    signed char *signs;
    void *x, *b; /* one column each, in the context's memory            */
    double *device_r, *device_size;
    double unit;
} refinement;

/* The residual of `answer`, and the backward error, max |r| / size; 0 / 0 is 0. NaN once a quotient is,
 * as it is where b or x is not finite. */
static double look(refinement *f) {
    shoal_symindef *plan = f->s.plan;
    const int64_t n = f->given.shape.n;
    const size_t bytes = (size_t)n * sizeof(double);
    double worst = 0;
    if (f->s.status == SHOAL_OK) f->s.status = put(&f->s, f->x, f->answer);
    if (f->s.status == SHOAL_OK)
        f->s.status =
            plan->driver->residual(plan, &f->given, 1, f->b, f->x, f->device_r, f->device_size);
    if (f->s.status == SHOAL_OK) f->s.status = shoal_wait(plan->head.ctx);
    if (f->s.status == SHOAL_OK) f->s.status = shoal_copy(plan->head.ctx, f->r, f->device_r, bytes);
    if (f->s.status == SHOAL_OK)
        f->s.status = shoal_copy(plan->head.ctx, f->size, f->device_size, bytes);
    for (int64_t i = 0; i < n && f->s.status == SHOAL_OK; i++) {
        const double error = f->r[i] == 0 ? 0 : fabs(f->r[i]) / f->size[i];
        if (error > worst || isnan(error)) worst = error;
    }
    return worst;
}

/* One right-hand side; `answer` holds x. */
static void refine_column(refinement *f, double *backward, double *forward) {
    const int64_t n = f->given.shape.n;
    double error = look(f), before = INFINITY;
    for (int step = 0; step < STEPS && error > f->unit && 2 * error <= before; step++) {
        for (int64_t i = 0; i < n; i++) f->s.x[i] = f->r[i];
        apply_inverse(&f->s);
        for (int64_t i = 0; i < n; i++) f->answer[i] += f->s.x[i];
        before = error;
        error = look(f);
    }
    *backward = *forward = error;
    if (isnan(error)) return;
    double most = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(f->answer[i]));
        f->r[i] = fabs(f->r[i]) + (double)(n + 1) * f->unit * f->size[i]; /* the weights */
    }
    const double norm = estimated_norm(&f->s, f->r, f->signs);
    *forward = most > 0 ? norm / most : norm;
}

static shoal_status open_refinement(refinement *f, shoal_symindef *plan, const void *given,
                                    const void *a) {
    const int64_t n = plan->job.shape.n;
    const size_t bytes = (size_t)n * sizeof(double);
    shoal_status status = open_solver(&f->s, plan, a);
    f->given = plan->job;
    f->given.a = (void *)given;
    f->unit = shoal_epsilon(plan->head.type);
    f->device_r = plan->job.vectors + n, f->device_size = plan->job.vectors + 2 * n;
    f->answer = malloc(bytes), f->r = malloc(bytes), f->size = malloc(bytes);
    f->signs = malloc((size_t)n);
    if (status == SHOAL_OK && (!f->answer || !f->r || !f->size || !f->signs))
        status = shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory for vectors of %lld numbers",
                            (long long)n);
    if (status == SHOAL_OK) status = shoal_alloc(plan->head.ctx, bytes, &f->x);
    if (status == SHOAL_OK) status = shoal_alloc(plan->head.ctx, bytes, &f->b);
    return status;
}

static void close_refinement(refinement *f) {
    shoal_free(f->s.plan->head.ctx, f->x);
    shoal_free(f->s.plan->head.ctx, f->b);
    free(f->answer), free(f->r), free(f->size), free(f->signs);
    close_solver(&f->s);
}

/* All right-hand sides, column by column of the host's copies of b and x. */
static shoal_status refine_all(shoal_symindef *plan, const void *given, const void *a, int64_t nrhs,
                               const void *b, void *x, double *backward, double *forward) {
    const int64_t n = plan->job.shape.n;
    const size_t item = shoal_type_bytes(plan->head.type);
    const size_t bytes = (size_t)(n * nrhs) * item;
    void *all_b = malloc(bytes), *all_x = malloc(bytes);
    refinement f = { .s = { .plan = plan } };
    shoal_status status = open_refinement(&f, plan, given, a);
    if (status == SHOAL_OK && (!all_b || !all_x))
        status = shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory for %zu bytes", bytes);
    if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, all_b, b, bytes);
    if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, all_x, x, bytes);
    for (int64_t c = 0; c < nrhs && status == SHOAL_OK; c++) {
        double errors[2] = { NAN, NAN };
        for (int64_t i = 0; i < n; i++)
            f.answer[i] = symindef_number(plan->head.type, all_b, i * nrhs + c);
        status = put(&f.s, f.b, f.answer);
        for (int64_t i = 0; i < n; i++)
            f.answer[i] = symindef_number(plan->head.type, all_x, i * nrhs + c);
        if (status == SHOAL_OK) {
            refine_column(&f, &errors[0], &errors[1]);
            status = f.s.status;
        }
        for (int64_t i = 0; i < n; i++)
            if (plan->head.type == SHOAL_F64)
                ((double *)all_x)[i * nrhs + c] = f.answer[i];
            else
                ((float *)all_x)[i * nrhs + c] = (float)f.answer[i];
        if (backward) backward[c] = errors[0];
        if (forward) forward[c] = errors[1];
    }
    if (status == SHOAL_OK) status = shoal_copy(plan->head.ctx, x, all_x, bytes);
    close_refinement(&f);
    free(all_b), free(all_x);
    return status;
}

static shoal_status refine(shoal_symindef *plan, shoal_type type, const void *given, const void *a,
                           int64_t nrhs, const void *b, void *x, double *backward,
                           double *forward) {
    symindef_state state;
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_refine");
    if (status == SHOAL_OK) status = shoal_symindef_check_rhs(plan, nrhs);
    if (status != SHOAL_OK) return status;
    if (plan->job.shape.n == 0 || nrhs == 0) {
        for (int64_t c = 0; c < nrhs; c++) {
            if (backward) backward[c] = 0;
            if (forward) forward[c] = 0;
        }
        return SHOAL_OK;
    }
    const shoal_array arrays[] = {
        { "given", given, 0 }, { "A", a, 0 }, { "b", b, 0 }, { "x", x, 0 }
    };
    status = shoal_check_arrays(plan->head.ctx, arrays, 4);
    if (status == SHOAL_OK) status = state_of(plan, &state);
    if (status != SHOAL_OK) return status;
    if (state.singular || state.status != SHOAL_SYSTEM_OK) { /* x is NaN, and stays so */
        for (int64_t c = 0; c < nrhs; c++) {
            if (backward) backward[c] = NAN;
            if (forward) forward[c] = NAN;
        }
        return SHOAL_OK;
    }
    return refine_all(plan, given, a, nrhs, b, x, backward, forward);
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
