/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_check.c - is an answer right? Shares no line with the library.
 *
 * For each system and right-hand side the normwise backward error
 *
 *     max_i |b_i - dl_i x_{i-1} - d_i x_i - du_i x_{i+1}| / (|A| |x| + |b|),   maximum norms,
 *
 * is computed with products split exactly (Dekker's two-product by fma) and sums compensated
 * (Knuth's two-sum), so that its own rounding is far below one unit of the solver's: twice the
 * working precision of double. An answer passes at 100 units of roundoff. More than MAX_NUMBERS
 * unknowns are sampled: every stride-th system, the first and last among them.
 *
 * Wrong is what the solver did not own up to. A column of NaN under a status below 0 is an honest
 * failure, and a large residual under SHOAL_SYSTEM_ILL an honest warning: neither passes, but
 * neither is wrong.
 */
#include "bench/tridiag.h"

#include "bench/numbers.h"

static const int64_t MAX_NUMBERS = (int64_t)1 << 27;

typedef struct answer { /* to be checked */
    const bench_view *view;
    const int32_t *status;
    const float *residual;
    double tolerance;
} answer;

static bench_finding look_at_column(const bench_view *v, int64_t k, int64_t j) {
    double r = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    bench_finding found = { .all_nan = true };
    bool finite = true;
    for (int64_t i = 0; i < v->n; i++) {
        const int64_t at = i * v->row + k * v->system;
        const int64_t b_at = i * v->b_row + k * v->b_system + j * v->b_rhs;
        const double dl = i > 0 ? bench_number(v->type, v->dl, at) : 0;
        const double d = bench_number(v->type, v->d, at);
        const double du = i + 1 < v->n ? bench_number(v->type, v->du, at) : 0;
        const double b = bench_number(v->type, v->b, b_at), x = bench_number(v->type, v->x, b_at);
        double high = b, low = 0;
        if (i > 0) subtract_product(&high, &low, dl, bench_number(v->type, v->x, b_at - v->b_row));
        subtract_product(&high, &low, d, x);
        if (i + 1 < v->n)
            subtract_product(&high, &low, du, bench_number(v->type, v->x, b_at + v->b_row));
        const double row = high + low, sum = fabs(dl) + fabs(d) + fabs(du);
        finite = finite && isfinite(row) && isfinite(sum);
        found.all_nan = found.all_nan && isnan(x);
        r = fmax(r, fabs(row));
        norm_a = fmax(norm_a, sum);
        norm_x = fmax(norm_x, fabs(x));
        norm_b = fmax(norm_b, fabs(b));
    }
    found.error = finite ? bench_backward_error(r, norm_a, norm_x, norm_b) : NAN;
    return found;
}

/* NULL, or what is wrong with system k. What the status reports is counted elsewhere. */
static const char *fault_of(const answer *a, const bench_finding *f, int64_t k) {
    const int32_t status = a->status ? a->status[k] : SHOAL_SYSTEM_OK;
    const double slack = 8 * bench_epsilon(a->view->type);
    if (status > SHOAL_SYSTEM_REFINED || status < SHOAL_SYSTEM_OVERFLOW)
        return "status has a value that does not exist";
    if (status < 0 && (!f->all_nan || isnan(f->error))) return "no answer, but x is not all NaN";
    if (isnan(f->error)) return "x is not finite";
    if (f->error > a->tolerance && status != SHOAL_SYSTEM_ILL) return "the residual is too large";
    if (a->residual && status >= 0 && !(fabs(a->residual[k] - f->error) <= 0.5 * f->error + slack))
        return "the solver reports another residual";
    return NULL;
}

/* The worst over the right-hand sides; of a system that failed, over those that are answered. */
static bench_finding look_at_system(const void *of, int64_t k) {
    const answer *a = of;
    const bool failed = a->status && a->status[k] < 0;
    bench_finding worst = { .error = 0 };
    for (int64_t j = 0; j < a->view->nrhs; j++) {
        const bench_finding one = look_at_column(a->view, k, j);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (failed && one.all_nan) continue;
        if (!(one.error <= worst.error) && !isnan(worst.error)) worst.error = one.error;
    }
    worst.fault = fault_of(a, &worst, k);
    return worst;
}

void bench_tridiag_check(const bench_view *view, const int32_t *status, const float *residual,
                         int threads, bench_check *check) {
    const double tolerance = 100 * bench_epsilon(view->type);
    const answer a = { view, status, residual, tolerance };
    const int64_t each = view->n > 0 && view->nrhs > 0 ? view->n * view->nrhs : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride =
        view->count > affordable ? (view->count + affordable - 1) / affordable : 1;
    bench_check_sample(
        &(bench_sample){ .count = view->count,
                         .checked = view->count > 0 ? (view->count - 1) / stride + 1 : 0,
                         .stride = stride,
                         .threads = threads,
                         .stop = view->stop,
                         .status = status,
                         .tolerance = tolerance,
                         .error_name = "residual",
                         .look = look_at_system,
                         .of = &a },
        check);
}
