/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_singular.h - singular values of tridiagonal matrices, in long double, for the tests of the
 * test systems: how many are below a limit (pivots of At A - s^2 I), the largest by bisection, the
 * smallest by inverse iteration with a QR factorisation.
 */
#ifndef SHOAL_TRIDIAG_SINGULAR_H
#define SHOAL_TRIDIAG_SINGULAR_H

#include "tridiag_batch.h"

typedef long double wide;

/* Singular values near roundoff cannot be told from rounding otherwise. */
static const int wide_enough = LDBL_MANT_DIG >= 64;

enum { SEED = 7 };

static inline int first_kind(void) { /* of the paper */
    int i = 0;
    while (strcmp(shoal_tridiag_kind(i), "spike1") != 0) i++;
    return i;
}

/* System 0 of a kind. */
static inline batch one_system(const char *kind, int64_t n) {
    return generate(kind, n, 1, 1, SHOAL_F64);
}

/* Rows first .. first + m - 1 and their columns. */
static inline batch part_of(const batch *p, int64_t first, int64_t m) {
    batch q = new_batch(m, 1, 1, SHOAL_F64);
    memcpy(q.dl, p->dl + first, (size_t)m * sizeof(double));
    memcpy(q.d, p->d + first, (size_t)m * sizeof(double));
    memcpy(q.du, p->du + first, (size_t)m * sizeof(double));
    return q;
}

/* ---- singular values -------------------------------------------------------------------------- */

static inline wide dl_of(const batch *p, int64_t i) {
    return i > 0 && i < p->n ? (wide)p->dl[i] : 0;
}
static inline wide d_of(const batch *p, int64_t i) {
    return i >= 0 && i < p->n ? (wide)p->d[i] : 0;
}
static inline wide du_of(const batch *p, int64_t i) {
    return i >= 0 && i + 1 < p->n ? (wide)p->du[i] : 0;
}

/* Singular values below s: negative pivots of At A - s^2 I, which has five diagonals. */
static inline int64_t count_below(const batch *p, wide s) {
    int64_t below = 0;
    wide last = 1, before = 1, multiplier = 0; /* pivots j-1 and j-2, L(j-1,j-2) */
    for (int64_t j = 0; j < p->n; j++) {
        const wide g = d_of(p, j) * d_of(p, j) + du_of(p, j - 1) * du_of(p, j - 1) +
                       dl_of(p, j + 1) * dl_of(p, j + 1) - s * s;
        const wide f = j > 1 ? dl_of(p, j - 1) * du_of(p, j - 1) : 0;
        const wide e = d_of(p, j - 1) * du_of(p, j - 1) + dl_of(p, j) * d_of(p, j) - multiplier * f;
        multiplier = e / last;
        wide pivot = g - multiplier * e - f / before * f;
        if (pivot == 0) pivot = 1e-30L * s * s;
        below += pivot < 0;
        before = last, last = pivot;
    }
    return below;
}

static inline wide largest(const batch *p) {
    wide low = 0, high = 0;
    for (int64_t i = 0; i < p->n; i++)
        high = fmaxl(high, fabsl(dl_of(p, i)) + fabsl(d_of(p, i)) + fabsl(du_of(p, i)) +
                               fabsl(du_of(p, i - 1)) + fabsl(dl_of(p, i + 1)));
    for (int step = 0; step < 34; step++) {
        const wide middle = (low + high) / 2;
        if (count_below(p, middle) == p->n)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Inverse iteration with (Rt R)^-1, A = Q R by rotations; *corner is the last diagonal of R. */
static inline wide smallest(const batch *p, wide *corner) {
    const int64_t n = p->n;
    wide *r = new_array((size_t)(3 * n), sizeof *r), *x = new_array((size_t)n, sizeof *x);
    wide head = d_of(p, 0), beside = du_of(p, 0), value = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        const wide h = hypotl(head, dl_of(p, i + 1));
        const wide c = h > 0 ? head / h : 1, s = h > 0 ? dl_of(p, i + 1) / h : 0;
        r[3 * i] = h;
        r[3 * i + 1] = c * beside + s * d_of(p, i + 1);
        r[3 * i + 2] = s * du_of(p, i + 1);
        head = c * d_of(p, i + 1) - s * beside;
        beside = c * du_of(p, i + 1);
    }
    r[3 * n - 3] = head;
    if (corner) *corner = fabsl(head);
    for (int64_t i = 0; i < n; i++) {
        if (r[3 * i] == 0) r[3 * i] = 1e-30L;
        x[i] = 1 + 0.5L * (wide)((i * 7919) % 101) / 101 * (i % 3 ? 1 : -1);
    }
    for (int step = 0; step < 300; step++) {
        wide norm = 0, next = 0;
        for (int64_t i = 0; i < n; i++) norm += x[i] * x[i];
        norm = sqrtl(norm);
        for (int64_t i = 0; i < n; i++) { /* Rt y = x / |x|; 1 / |y| approaches from above */
            const wide left = i > 0 ? r[3 * i - 2] * x[i - 1] : 0;
            x[i] = (x[i] / norm - left - (i > 1 ? r[3 * i - 4] * x[i - 2] : 0)) / r[3 * i];
            next += x[i] * x[i];
        }
        const wide last = value;
        value = 1 / sqrtl(next);
        if (step > 5 && fabsl(value - last) < 1e-9L * value) break;
        for (int64_t i = n - 1; i >= 0; i--) {
            const wide right = i + 1 < n ? r[3 * i + 1] * x[i + 1] : 0;
            x[i] = (x[i] - right - (i + 2 < n ? r[3 * i + 2] * x[i + 2] : 0)) / r[3 * i];
        }
    }
    free(r), free(x);
    return value;
}

/* Inverse iteration is slow where singular values are close together. There, that is where the
 * condition is no more than 1e6, At A has digits enough for a bisection. */
static inline double condition(const batch *p) {
    const wide most = largest(p);
    wide high = smallest(p, NULL), low = 0;
    for (int step = 0; step < 34 && most / high < 1e6L; step++) {
        const wide middle = (low + high) / 2;
        if (count_below(p, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    return (double)(most / high);
}

static inline double condition_of(const char *kind, int64_t n) {
    batch p = one_system(kind, n);
    const double kappa = condition(&p);
    free_batch(&p);
    return kappa;
}

#endif
