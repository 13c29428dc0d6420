/* SPDX-License-Identifier: Apache-2.0
 *
 * study_reference.c - the reference that forward errors are measured against. Shares no line with the
 * library.
 *
 * P A = L U by elimination with row exchanges, in double; then x := x + U^-1 L^-1 P (b - A x), with x
 * the sum of two doubles and the residual in twice the precision of double (numbers.h). Each correction
 * is smaller than the one before by a factor of about n eps cond(A): the sum ends at the solution of
 * the system as it is given as long as that is well below 1. 2/3 n^3 operations for L and U, 20 n^2 for
 * a correction.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/study.h"
#include "bench/numbers.h"

enum { MOST_CORRECTIONS = 60 };

bool bench_reference_begin(bench_reference *r, int64_t n) {
    const size_t size = (size_t)(n > 0 ? n : 1);
    *r = (bench_reference){ .n = n,
                            .factors = malloc(size * size * sizeof(double)),
                            .rest = malloc(size * sizeof(double)),
                            .order = malloc(size * sizeof(int64_t)) };
    return r->factors && r->rest && r->order;
}

void bench_reference_end(bench_reference *r) {
    free(r->factors);
    free(r->rest);
    free(r->order);
    *r = (bench_reference){ 0 };
}

static void exchange(double *p, double *q, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        const double kept = p[j];
        p[j] = q[j];
        q[j] = kept;
    }
}

/* L below the diagonal and U; row k was exchanged with row order[k]. False where a pivot is 0. */
static bool factor(bench_reference *r) {
    const int64_t n = r->n;
    double *a = r->factors;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        r->order[k] = best;
        if (best != k) exchange(a + k * n, a + best * n, n);
        if (a[k * n + k] == 0) return false;
        for (int64_t i = k + 1; i < n; i++) {
            const double l = a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= l * a[k * n + j];
        }
    }
    return true;
}

/* r->rest becomes the solution; returns its largest entry, NaN if one is. */
static double solve(bench_reference *r) {
    const int64_t n = r->n;
    const double *a = r->factors;
    double *y = r->rest, most = 0;
    for (int64_t k = 0; k < n; k++) /* L lies as if all exchanges had come first */
        if (r->order[k] != k) exchange(y + k, y + r->order[k], 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) y[i] -= a[i * n + j] * y[j];
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) y[i] -= a[i * n + j] * y[j];
        y[i] /= a[i * n + i];
        most = isnan(y[i]) || fabs(y[i]) > most ? fabs(y[i]) : most;
    }
    return most;
}

/* high + low += y, with what rounding loses. */
static void add(double *high, double *low, double y) {
    const double sum = *high + y, part = sum - *high;
    const double lost = (*high - (sum - part)) + (y - part) + *low;
    *high = sum + lost;
    *low = lost - (*high - sum);
}

bool bench_reference_solve(bench_reference *r, const double *a, const double *b, double accuracy,
                           double *high, double *low) {
    const int64_t n = r->n;
    double before = INFINITY;
    memcpy(r->factors, a, (size_t)(n * n) * sizeof *a);
    if (!factor(r)) return false;
    for (int64_t i = 0; i < n; i++) high[i] = low[i] = 0;
    for (int step = 0; step < MOST_CORRECTIONS; step++) {
        double size = 0;
        for (int64_t i = 0; i < n; i++) {
            double rest = b[i], lost = 0;
            for (int64_t j = 0; j < n; j++) {
                subtract_product(&rest, &lost, a[i * n + j], high[j]);
                subtract_product(&rest, &lost, a[i * n + j], low[j]);
            }
            r->rest[i] = rest + lost;
        }
        const double correction = solve(r);
        for (int64_t i = 0; i < n; i++) {
            add(&high[i], &low[i], r->rest[i]);
            size = fmax(size, fabs(high[i]));
        }
        if (correction <= accuracy * size) return true;
        if (!(correction <= before / 2)) return false; /* NaN, too */
        before = correction;
    }
    return false;
}
