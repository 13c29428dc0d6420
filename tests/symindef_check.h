/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_check.h - what the factors of any strategy have to keep: the product, the bounds on
 * multipliers and blocks that complete and rook pivoting promise, the bounds on the growth of the
 * Kruchinina's thesis, section 2.2, and what the result object says.
 */
#ifndef SHOAL_SYMINDEF_CHECK_H
#define SHOAL_SYMINDEF_CHECK_H

#include "symindef_matrix.h"

static const double alpha_0 = 0.6403882032022076; /* (1 + sqrt 17) / 8 */

/* Larger eigenvalue over smaller, by modulus, of [a b; b c]. */
static double block_condition(double a, double b, double c) {
    const double x = a / b, y = c / b; /* no overflow: b is the largest */
    const double high = fabs(x + y) / 2 + hypot((x - y) / 2, 1);
    return high * high / fabs(x * y - 1);
}

/* From stage to stage, (2.8) and (2.10): a pivot of order 1 lets the largest entry grow by 1 + 1 / alpha
 * at most, one of order 2 by 1 + 2 / (1 - alpha). Complete pivoting has alpha of the largest entry; rook
 * and partial have it of what the pivot's column, and partial in case (2) the next one, can bring into
 * the update, which gives the same. A zero pivot lets nothing grow. */
static inline void check_stages(const factored *f, double alpha, double slack, const char *what) {
    double most = 1;
    for (int64_t k = 0; k < f->n && f->opts.growth; k++) {
        const int two = k + 1 < f->n && f->interchanges[k + 1] < 0;
        const double now = f->growth[k];
        CHECK_MSG(now <= most * slack, "%s: growth %g in stage %lld > %g", what, now, (long long)k,
                  most);
        most = now * (two ? 1 + 2 / (1 - alpha) : f->d[k] != 0 ? 1 + 1 / alpha : 1);
        k += two;
    }
}

/* Of all stages by complete pivoting with alpha_0: Bunch's sqrt(n) f(n) 3.07 (n - 1)^0.446, where
 * sqrt(n) f(n) is Wilkinson's for LU by complete pivoting, f(n)^2 the product of the k^(1/(k-1)). */
static inline double bunch_growth(int64_t n) {
    double logarithm = 0;
    for (int64_t k = 2; k <= n; k++) logarithm += log((double)k) / (double)(k - 1);
    return n < 2 ? 1 : sqrt((double)n) * exp(logarithm / 2) * 3.07 * pow((double)(n - 1), 0.446);
}

static inline void check_growth(const factored *f, double alpha, double slack, const char *what) {
    check_stages(f, alpha, slack, what);
    if (shoal_method_flags("symindef", f->opts.method, NULL) & SHOAL_CAN_GROWTH && alpha == alpha_0)
        CHECK_MSG(f->info.growth <= bunch_growth(f->n) * slack, "%s: growth %g > %g", what,
                  f->info.growth, bunch_growth(f->n));
}

static void check_bounds(const factored *f, double alpha, const char *what) {
    const double slack = 1 + 100 * (double)f->n * unit_of(f->opts.type);
    check_growth(f, alpha, slack, what);
    if (!(shoal_method_flags("symindef", f->opts.method, NULL) & SHOAL_CAN_BOUND)) return;
    const double most = fmax(1 / alpha, 1 / (1 - alpha));
    CHECK_MSG(f->info.max_multiplier <= most * slack, "%s: %g > %g", what, f->info.max_multiplier,
              most);
    for (int64_t k = 0; k + 1 < f->n; k++)
        if (f->e[k] != 0)
            CHECK_MSG(block_condition(f->d[k], f->e[k], f->d[k + 1]) <=
                          (1 + alpha) / (1 - alpha) * slack,
                      "%s: block %lld", what, (long long)k);
}

/* What the result object says, counted again from the factors. */
static void check_counts(const factored *f, const char *what) {
    int64_t one = 0, two = 0, zero = 0, swaps_one = 0, swaps_two = 0, *seen;
    double most = 0;
    seen = new_array((size_t)f->n, sizeof *seen);
    for (int64_t k = 0; k < f->n; k++) {
        seen[f->permutation[k]]++;
        for (int64_t j = 0; j < k; j++) most = fmax(most, fabs(f->m[k * f->n + j]));
        if (k + 1 < f->n && f->interchanges[k + 1] < 0) {
            two++;
            swaps_two += (f->interchanges[k] != k + 1) + (f->interchanges[k + 1] != -(k + 2));
            CHECK_MSG(!f->opts.growth || isnan(f->growth[k + 1]), "%s", what);
            seen[f->permutation[++k]]++;
            for (int64_t j = 0; j < k; j++) most = fmax(most, fabs(f->m[k * f->n + j]));
        } else if (f->d[k] != 0) {
            one++;
            swaps_one += f->interchanges[k] != k + 1;
        } else {
            zero++;
        }
    }
    for (int64_t k = 0; k < f->n; k++) CHECK_MSG(seen[k] == 1, "%s: permutation", what);
    free(seen);
    CHECK_MSG(f->info.pivots_1x1 == one && f->info.pivots_2x2 == two, "%s: pivots", what);
    CHECK_MSG(f->info.swaps_1x1 == swaps_one && f->info.swaps_2x2 == swaps_two, "%s: swaps", what);
    CHECK_MSG(f->info.inertia[2] == zero && f->info.rank == f->n - zero, "%s: rank", what);
    CHECK_MSG(f->info.max_multiplier == most, "%s: %g, not %g", what, f->info.max_multiplier, most);
}

static inline void check_factors(const factored *f, const char *what) {
    const double error = relative_error(f), limit = 10 * (double)f->n * unit_of(f->opts.type);
    CHECK_MSG(f->info.status == 0, "%s: status %d", what, f->info.status);
    CHECK_MSG(error <= limit, "%s: error %g > %g", what, error, limit);
    CHECK_MSG(f->stray == 0, "%s: %d strays", what, f->stray);
    check_bounds(f, f->opts.alpha > 0 ? f->opts.alpha : alpha_0, what);
    check_counts(f, what);
}

static inline const char *name_of(const target *t, const char *kind, const shoal_symindef_opts *o) {
    static char text[160];
    snprintf(text, sizeof text, "%s(%s):%s %s n=%lld %s %s %s", t->backend, t->isa ? t->isa : "",
             o->method, kind, (long long)o->n, o->type == SHOAL_F32 ? "f32" : "f64",
             o->storage == SHOAL_PACKED ? "packed" : "full",
             o->triangle == SHOAL_UPPER ? "upper" : "lower");
    return text;
}

#endif
