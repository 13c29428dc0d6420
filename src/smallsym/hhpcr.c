/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.c - A x = b by A = Q U Qt (householder.h) and parallel cyclic reduction of U z = Qt b
 * (pcr.h), x = Q z: sections 4.1 and 4.2 of the paper on small symmetric systems, any n.
 *
 *   reflect  Qt b and Q z from the reflectors: n^2 multiply-adds each.
 *   formed   Q is formed by (14), and b and z are multiplied by it: what Figure 9 times.
 *
 * One lane per system; (2/3) n^3 multiply-adds per lane, n^3 more if Q is formed.
 */
#include "smallsym/pcr.h"
#include "smallsym/scale.h"

static void hhpcr_factor(pack *p, int variant) {
    if (p->n == 0) return;
    const householder h = householder_in(p->scratch, p->n);
    const reduction f = reduction_of(p);
    real *a = p->a;
    if (p->scaled) { /* in the place of Q, which comes later */
        copy_scaled(p, f.q);
        a = f.q;
    }
    tridiagonalise(&h, a, p->n);
    factor_tridiagonal(p, &h, &f);
    if (variant == HHPCR_FORMED) form_q(&h, p->n, f.q);
}

static void hhpcr_solve(pack *p, int variant) {
    if (p->n == 0) return;
    const householder h = householder_in(p->scratch, p->n);
    const reduction f = reduction_of(p);
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    if (variant == HHPCR_FORMED) {
        memcpy(f.change, p->b, bytes);
        scale_vector(p, f.change);
        multiply_by_q(&f, 1, f.change, f.rhs);
        solve_tridiagonal(&f, &h);
        multiply_by_q(&f, 0, f.z, p->x);
    } else {
        memcpy(f.rhs, p->b, bytes);
        scale_vector(p, f.rhs);
        apply_transposed(&h, p->n, f.rhs);
        solve_tridiagonal(&f, &h);
        memcpy(p->x, f.z, bytes);
        apply_q(&h, p->n, p->x, 1);
    }
    scale_vector(p, p->x);
}

/* Largest size of each lane of a vector; NaN if a number is not finite. */
static void largest_of(const real *v, int64_t n, real *largest) {
    vec most = vec_all(0), bad = most;
    for (int64_t i = 0; i < n; i++) {
        most = vec_max(vec_abs(vec_at(v + at_row(i))), most);
        bad += vec_at(v + at_row(i)) * 0;
    }
    most += bad;
    memcpy(largest, &most, sizeof most);
}

/* For a definite U, (U^-1)(i,i) is the reciprocal of pivot i, and the sum of all is at least the norm of U^-1. S A S
 * has the same norm, and up to n times that in the maximum norm. */
static void hhpcr_bound(pack *p, void *bound) {
    const householder h = householder_in(p->scratch, p->n);
    const reduction f = reduction_of(p);
    vec trace = vec_all(0), norm = trace, low = vec_all((real)INFINITY), high = -low,
        before = trace;
    for (int64_t i = 0; i < p->n; i++) {
        const vec pivot = vec_at(f.pivot + at_row(i));
        const vec after = i + 1 < p->n ? vec_abs(vec_at(h.c + at_row(i))) : vec_all(0);
        trace += 1 / pivot, low = vec_min(pivot, low), high = vec_max(pivot, high);
        norm = vec_max(before + vec_abs(vec_at(h.d + at_row(i))) + after, norm), before = after;
    }
    for (int l = 0; l < LANES; l++) {
        const int64_t same = low[l] > 0    ? p->outcome.positive[l]
                             : high[l] < 0 ? p->outcome.negative[l]
                                           : 0;
        ((real *)bound)[l] =
            same == p->n ? (real)p->n * norm[l] * real_abs(trace[l]) : (real)INFINITY;
    }
}

/* |U^-1| from U z = e(m), m the equation with the smallest pivot, 1 / (U^-1)(m,m): n log2 n multiply-adds. */
static void hhpcr_grow(pack *p, int variant, void *growth) {
    (void)variant;
    const reduction f = reduction_of(p);
    vec least = vec_all((real)INFINITY), at = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        const vec size = vec_abs(vec_at(f.pivot + at_row(i)));
        at = vec_select(size < least, vec_all((real)i), at), least = vec_min(size, least);
    }
    for (int64_t i = 0; i < p->n; i++)
        vec_to(f.v[0] + at_row(i), vec_select(at == vec_all((real)i), vec_all(1), vec_all(0)));
    reduce_vector(&f, f.z);
    largest_of(f.z, p->n, growth);
}

/* And from U y = z. */
static void hhpcr_grown(pack *p, const int *again, void *growth) {
    const reduction f = reduction_of(p);
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    real first[LANES], second[LANES];
    memcpy(first, growth, sizeof first);
    for (int64_t i = 0; i < p->n; i++) EACH_LANE(l) f.z[at_row(i) + l] /= first[l];
    memcpy(f.v[0], f.z, bytes);
    reduce_vector(&f, f.change);
    largest_of(f.change, p->n, second);
    for (int l = 0; l < LANES; l++) /* NaN stays */
        second[l] = !again[l] || second[l] < first[l] ? first[l] : second[l];
    memcpy(growth, second, sizeof second);
    memcpy(p->x, f.z, bytes);
    const householder h = householder_in(p->scratch, p->n);
    apply_q(&h, p->n, p->x, 1);
    scale_vector(p, p->x);
}

const smallsym_cpu_method R(smallsym_hhpcr) = { .scratch = pcr_scratch,
                                                .factor = hhpcr_factor,
                                                .solve = hhpcr_solve,
                                                .scales = SMALLSYM_BY_ROWS,
                                                .bound = hhpcr_bound,
                                                .grow = hhpcr_grow,
                                                .grown = hhpcr_grown };
