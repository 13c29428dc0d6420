/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_ratios.h - the test ratios that LAPACK's own checks of dsytrf_rook and dsyrfs take, for one
 * factorization, u the unit of roundoff, norms of matrices and residuals the 1-norm:
 *
 *     factors   |P A Pt - M D Mt| / (n |A| u)
 *     inverse   |I - A X| / (n |A| |X| u), X the inverse that was computed
 *     rcond     the estimate and 1 / (|A| |X|), the larger over the smaller, less 1
 *     residual  |b - A x| / (|A| |x| u), before and after refinement
 *     error     max |x - x*| / (max |x*| kappa u), likewise, kappa = |A| |X|
 *     bound     max |x - x*| / (max |x| forward), which must not be above 1
 *     backward  backward / ((n + 1) u), with what underflow adds
 *
 * LAPACK's checks allow 30 for each. Here the estimate of rcond must be within a factor of 10, the worst
 * that Higham saw outside of matrices made for it (4.5 here); an error must be below its bound; and a
 * step of refinement attains a backward error of (n + 1) u (Skeel).
 */
#ifndef SHOAL_SYMINDEF_RATIOS_H
#define SHOAL_SYMINDEF_RATIOS_H

#include "symindef_check.h"
#include "symindef_kept.h"
#include <float.h>

enum { FACTORS, INVERSE, RCOND, RESIDUAL, ERROR, REFINED, REFINED_ERROR, BOUND, BACKWARD, RATIOS };

static const char *const ratio_names[] = { "factors", "inverse",       "rcond", "residual", "error",
                                           "refined", "refined error", "bound", "backward" };
static const double thresholds[] = { 30, 30, 9, 30, 30, 30, 30, 1, 1 };

typedef struct ratios { /* the largest of many factorizations */
    double of[RATIOS];
} ratios;

typedef struct judged { /* one factorization, and what it is judged by */
    kept k;
    const char *what;
    double unit, norm, rcond; /* rcond: 1 / (|A| |X|) */
    ratios *worst;
} judged;

static inline void judge(const judged *c, int which, double ratio) {
    raise_to(&c->worst->of[which], ratio);
    CHECK_MSG(ratio < thresholds[which], "%s: %s %g", c->what, ratio_names[which], ratio);
}

/* `count` numbers of the plan's type in the context's memory, as doubles. */
static inline void bring_back(const kept *k, const void *from, size_t count, double *to) {
    void *numbers = new_array(count, k->item);
    CHECK(shoal_wait(k->t->ctx) == SHOAL_OK);
    CHECK(shoal_copy(k->t->ctx, numbers, from, count * k->item) == SHOAL_OK);
    for (size_t i = 0; i < count; i++) to[i] = stored_number(numbers, k->f.opts.type, i);
    free(numbers);
}

static inline double estimated_rcond(const kept *k) {
    double rcond = -1;
    const shoal_status status = k->f.opts.type == SHOAL_F32
                                    ? shoal_symindef_rcondf(k->plan, k->factors, &rcond)
                                    : shoal_symindef_rcond(k->plan, k->factors, &rcond);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(k->t->ctx));
    return rcond;
}

/* X, columns of it as rows. */
static inline double *inverse_of(const kept *k) {
    const int64_t n = k->f.n;
    const size_t numbers = (size_t)(n * n);
    double *x = new_array(numbers, sizeof *x);
    void *device = to_context(k->t, x, numbers * k->item);
    const shoal_status status = k->f.opts.type == SHOAL_F32
                                    ? shoal_symindef_inversef(k->plan, k->factors, device)
                                    : shoal_symindef_inverse(k->plan, k->factors, device);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(k->t->ctx));
    bring_back(k, device, numbers, x);
    shoal_free(k->t->ctx, device);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double swap = x[i * n + j];
            x[i * n + j] = x[j * n + i], x[j * n + i] = swap;
        }
    return x;
}

/* Also finds rcond. */
static inline void judge_inverse(judged *c) {
    const int64_t n = c->k.f.n;
    double *x = inverse_of(&c->k);
    const product_check check = {
        .n = n, .p = x, .q = c->k.f.a, .exact = is_exact(n, c->k.f.opts.type)
    };
    c->rcond = 1 / c->norm / norm_of(x, n);
    judge(c, INVERSE, largest_row(&check) * c->rcond / ((double)n * c->unit));
    const double rcond = estimated_rcond(&c->k);
    judge(c, RCOND, fmax(rcond, c->rcond) / fmin(rcond, c->rcond) - (1 - c->unit));
    free(x);
}

/* ---- answers ---- */

typedef struct answers { /* (n, nrhs) each, numbers of the plan's type */
    int64_t nrhs;
    double *exact, *b, *x; /* x* is drawn, b is A x*, rounded once */
    double *backward, *forward;
} answers;

/* The numbers of one right-hand side that the ratios are made of. */
typedef struct answer_norms {
    double residual, x;       /* sums          */
    double error, most, true; /* largest: |x - x*|, |x|, |x*| */
    double least;             /* least entry of |b| + |A| |x| */
} answer_norms;

static inline answer_norms norms_of(const judged *c, const answers *s, int64_t column) {
    const int64_t n = c->k.f.n, nrhs = s->nrhs;
    answer_norms r = { .least = INFINITY };
    for (int64_t i = 0; i < n; i++) {
        const double *a = c->k.f.a + i * n, *x = s->x + column, *b = s->b + column;
        double size = fabs(b[i * nrhs]);
        for (int64_t j = 0; j < n; j++) size += fabs(a[j] * x[j * nrhs]);
        r.residual += (double)fabsl(b[i * nrhs] - dot_of(a, x, nrhs, n, c->k.f.opts.type));
        r.x += fabs(x[i * nrhs]);
        r.least = fmin(r.least, size);
        raise_to(&r.error, fabs(x[i * nrhs] - s->exact[i * nrhs + column]));
        raise_to(&r.most, fabs(x[i * nrhs]));
        raise_to(&r.true, fabs(s->exact[i * nrhs + column]));
    }
    return r;
}

static inline void judge_answers(const judged *c, const answers *s, int refined) {
    const double rows = (double)c->k.f.n + 1;
    const double underflow = rows * (c->k.item == 4 ? (double)FLT_MIN : DBL_MIN);
    for (int64_t column = 0; column < s->nrhs && c->k.f.n > 0; column++) {
        const answer_norms r = norms_of(c, s, column);
        judge(c, refined ? REFINED : RESIDUAL, r.residual / c->norm / (r.x * c->unit));
        judge(c, refined ? REFINED_ERROR : ERROR, r.error / r.true * c->rcond / c->unit);
        if (!refined) continue;
        judge(c, BOUND, r.error / r.most / s->forward[column]);
        judge(c, BACKWARD,
              s->backward[column] / (rows * c->unit + underflow / fmax(r.least, underflow)));
    }
}

static inline answers draw_answers(const judged *c, int64_t nrhs) {
    const int64_t n = c->k.f.n;
    const shoal_type type = c->k.f.opts.type;
    const size_t numbers = (size_t)(n * nrhs);
    answers s = { .nrhs = nrhs };
    s.exact = new_array(numbers, sizeof *s.exact), s.x = new_array(numbers, sizeof *s.x);
    s.b = new_array(numbers, sizeof *s.b);
    s.backward = new_array((size_t)nrhs, sizeof *s.backward);
    s.forward = new_array((size_t)nrhs, sizeof *s.forward);
    for (size_t i = 0; i < numbers; i++)
        s.exact[i] = rounded_to(type, uniform_at(21, (int64_t)i, nrhs));
    for (int64_t i = 0; i < n; i++)
        for (int64_t column = 0; column < nrhs; column++) {
            const long double sum = dot_of(c->k.f.a + i * n, s.exact + column, nrhs, n, type);
            s.b[i * nrhs + column] = rounded_to(type, (double)sum);
        }
    return s;
}

static inline void forget_answers(answers *s) {
    free(s->exact), free(s->b), free(s->x), free(s->backward), free(s->forward);
}

static inline void *sent_numbers(const kept *k, const double *from, size_t count) {
    void *numbers = new_array(count, k->item);
    for (size_t i = 0; i < count; i++) store_number(numbers, k->f.opts.type, i, from[i]);
    void *device = to_context(k->t, numbers, count * k->item);
    free(numbers);
    return device;
}

static inline void judge_solves(const judged *c, int64_t nrhs) {
    const kept *k = &c->k;
    const size_t numbers = (size_t)(k->f.n * nrhs);
    answers s = draw_answers(c, nrhs);
    void *b = sent_numbers(k, s.b, numbers), *x = sent_numbers(k, s.b, numbers);
    shoal_status status = k->item == 4 ? shoal_symindef_solvef(k->plan, k->factors, nrhs, x, x)
                                       : shoal_symindef_solve(k->plan, k->factors, nrhs, x, x);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(k->t->ctx));
    bring_back(k, x, numbers, s.x);
    judge_answers(c, &s, 0);
    status = k->item == 4 ? shoal_symindef_refinef(k->plan, k->given, k->factors, nrhs, b, x,
                                                   s.backward, s.forward)
                          : shoal_symindef_refine(k->plan, k->given, k->factors, nrhs, b, x,
                                                  s.backward, s.forward);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(k->t->ctx));
    bring_back(k, x, numbers, s.x);
    judge_answers(c, &s, 1);
    shoal_free(k->t->ctx, b), shoal_free(k->t->ctx, x);
    forget_answers(&s);
}

#endif
