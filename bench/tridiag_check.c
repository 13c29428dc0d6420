/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_check.c - is an answer right? Shares no line with the library.
 *
 * For each system and right-hand side the normwise backward error
 *
 *     max_i |d_i - a_i x_{i-1} - b_i x_i - c_i x_{i+1}| / (|A| |x| + |d|),   maximum norms,
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

#include "bench/twice.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const int64_t MAX_NUMBERS = (int64_t)1 << 27;

typedef struct finding { /* about one column, or about the worst of a system */
    double residual;     /* NaN: x or the input is not finite               */
    bool all_nan;        /* x is NaN throughout, in one column at least     */
} finding;

static inline double get(const bench_view *v, const void *array, int64_t at) {
    return v->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static finding look_at(const bench_view *v, int64_t k, int64_t j) {
    double r = 0, norm_a = 0, norm_x = 0, norm_d = 0;
    finding found = { .all_nan = true };
    bool finite = true;
    for (int64_t i = 0; i < v->n; i++) {
        const int64_t at = i * v->row + k * v->system;
        const int64_t d_at = i * v->d_row + k * v->d_system + j * v->d_rhs;
        const double a = i > 0 ? get(v, v->a, at) : 0, b = get(v, v->b, at);
        const double c = i + 1 < v->n ? get(v, v->c, at) : 0, d = get(v, v->d, d_at);
        const double x = get(v, v->x, d_at);
        double high = d, low = 0;
        if (i > 0) subtract_product(&high, &low, a, get(v, v->x, d_at - v->d_row));
        subtract_product(&high, &low, b, x);
        if (i + 1 < v->n) subtract_product(&high, &low, c, get(v, v->x, d_at + v->d_row));
        const double row = high + low, sum = fabs(a) + fabs(b) + fabs(c);
        finite = finite && isfinite(row) && isfinite(sum);
        found.all_nan = found.all_nan && isnan(x);
        r = fmax(r, fabs(row));
        norm_a = fmax(norm_a, sum);
        norm_x = fmax(norm_x, fabs(x));
        norm_d = fmax(norm_d, fabs(d));
    }
    const double scale = fmax(norm_x, 1); /* |A| |x| may overflow where |A| does not */
    const double below = norm_x > 1 ? norm_a + norm_d / norm_x : norm_a * norm_x + norm_d;
    found.residual = !finite ? NAN : r == 0 ? 0 : r / scale / below;
    return found;
}

/* The worst over the right-hand sides; of a system that `failed`, over those that are answered. */
static finding look_at_system(const bench_view *v, int64_t k, bool failed) {
    finding worst = { .residual = 0 };
    for (int64_t j = 0; j < v->nrhs; j++) {
        finding one = look_at(v, k, j);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (failed && one.all_nan) continue;
        if (!(one.residual <= worst.residual) && !isnan(worst.residual))
            worst.residual = one.residual;
    }
    return worst;
}

/* NULL, or what is wrong with this system. What the status owns up to is counted elsewhere. */
static const char *verdict(const finding *f, const int32_t *status, const float *reported,
                           double tolerance, double unit) {
    const bool failed = status && *status < 0;
    if (status && (*status > SHOAL_SYSTEM_REFINED || *status < SHOAL_SYSTEM_OVERFLOW))
        return "status has a value that does not exist";
    if (failed && !f->all_nan) return "no answer, but x is not all NaN";
    if (isnan(f->residual)) return failed ? "no answer, but x is not all NaN" : "x is not finite";
    if (f->residual > tolerance && !(status && *status == SHOAL_SYSTEM_ILL))
        return "the residual is too large";
    if (reported && !failed && !(fabs(*reported - f->residual) <= 0.5 * f->residual + 8 * unit))
        return "the solver reports another residual";
    return NULL;
}

void bench_tridiag_check(const bench_view *view, const int32_t *status, const float *residual,
                         int threads, bench_check *check) {
    const double unit = view->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    const int64_t each = view->n > 0 && view->nrhs > 0 ? view->n * view->nrhs : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride =
        view->count > affordable ? (view->count + affordable - 1) / affordable : 1;
    const int64_t looks = view->count > 0 ? (view->count - 1) / stride + 1 : 0;
    int64_t wrong = 0, inaccurate = 0, failed = 0, warned = 0, first_wrong = INT64_MAX;
    double largest = 0;
    (void)threads; /* without OpenMP there is one */
#pragma omp parallel for num_threads(threads > 0 ? threads : 1) schedule(static)                   \
    reduction(+ : wrong, inaccurate) reduction(max : largest) reduction(min : first_wrong)
    for (int64_t i = 0; i < looks; i++) {
        const int64_t k = i + 1 < looks ? i * stride : view->count - 1;
        if (view->stop && view->stop()) continue;
        finding f = look_at_system(view, k, status && status[k] < 0);
        if (f.residual > largest) largest = f.residual;
        inaccurate += f.residual > 100 * unit;
        if (!verdict(&f, status ? status + k : NULL, residual ? residual + k : NULL, 100 * unit,
                     unit))
            continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    for (int64_t k = 0; status && k < view->count; k++) {
        failed += status[k] < 0;
        warned += status[k] > 0;
    }
    *check = (bench_check){ .systems = looks, .failed = failed, .warned = warned, .wrong = wrong };
    check->max_residual = largest;
    check->tolerance = 100 * unit;
    check->passed = wrong == 0 && failed == 0 && inaccurate == 0;
    if (check->passed) return;
    if (wrong == 0) {
        if (failed > 0)
            snprintf(check->why, sizeof check->why, "%lld failed", (long long)failed);
        else
            snprintf(check->why, sizeof check->why, "%lld inaccurate, as their status says",
                     (long long)inaccurate);
        return;
    }
    finding f = look_at_system(view, first_wrong, status && status[first_wrong] < 0);
    snprintf(check->why, sizeof check->why, "system %lld: %s (residual %.2g); %lld of %lld wrong",
             (long long)first_wrong,
             verdict(&f, status ? status + first_wrong : NULL,
                     residual ? residual + first_wrong : NULL, 100 * unit, unit),
             f.residual, (long long)wrong, (long long)looks);
}
