/* SPDX-License-Identifier: Apache-2.0
 *
 * householder.h - A = Q U Qt with U tridiagonal, for a pack: equations (8) and (11) to (14) of the
 * paper on small symmetric systems, section 4.
 *
 * Step i = n .. 3 removes row i of the current matrix left of its subdiagonal:
 *     u = (A(i,1), ..., A(i,i-1) +- sigma),  sigma = |A(i,1..i-1)|, with the sign of A(i,i-1),
 *     b = ut u / 2,  p = A u / b,  q = p - (ut p / 2b) u,  A := A - q ut - u qt.
 * sigma is the norm and the entries are those of the current matrix (both misprinted in (11)). u
 * stays in row i of the triangle, 1 / b in an array; Q = H_n .. H_3 is applied or formed from them.
 * Rows are brought near 1 by a power of two before they are squared, so that nothing overflows or
 * is lost; a row that is zero left of its subdiagonal is left as it is, with 1 / b = 0.
 *
 * One lane a system. (2/3) n^3 multiply-adds a lane, n^2 a vector, (2/3) n^3 for Q. Rows are
 * counted from 0 in the code.
 */
#ifndef SHOAL_SMALLSYM_HOUSEHOLDER_H
#define SHOAL_SMALLSYM_HOUSEHOLDER_H

#include "smallsym/pack.h"

typedef struct householder { /* arrays of a pack */
    real *t;                 /* triangle: row i holds u of step i                            */
    real *inverse_b;         /* of step i                                                    */
    real *d, *c;             /* U: diagonal; c(i) couples rows i and i + 1                   */
    real *p;                 /* p, then q, of the step in hand                               */
} householder;

/* Numbers a lane. */
static inline size_t householder_numbers(int64_t n) { return (size_t)(n * (n + 1) / 2 + 4 * n); }

static inline householder householder_in(real *memory, int64_t n) {
    real *t = memory, *vectors = t + at_entry(n, 0);
    return (householder){ t, vectors, vectors + at_row(n), vectors + at_row(2 * n),
                          vectors + at_row(3 * n) };
}

/* 2^k with 2^k <= v < 2^(k+1), for a normal v > 0. */
static inline real power_of_two_in(real v) {
#ifdef SHOAL_SINGLE
    uint32_t bits;
    const uint32_t exponent = 0x7f800000u;
#else
    uint64_t bits;
    const uint64_t exponent = 0x7ff0000000000000u;
#endif
    memcpy(&bits, &v, sizeof bits);
    bits &= exponent;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* u, 1 / b and c(i-1) from row i. */
static inline void make_reflector(const householder *h, int64_t i) {
    real *row = h->t + at_entry(i, 0), *last = row + at_row(i - 1), *c = h->c + at_row(i - 1);
    real *inverse_b = h->inverse_b + at_row(i);
    real removed[LANES] = { 0 }, scale[LANES], inverse[LANES], squares[LANES] = { 0 };
    for (int64_t j = 0; j + 1 < i; j++) {
        const real *v = row + at_row(j);
        EACH_LANE(l) removed[l] = real_max(real_abs(v[l]), removed[l]);
    }
    EACH_LANE(l) { /* below REAL_MIN there is nothing that a matrix of size 1 would miss */
        const real largest = real_max(real_abs(last[l]), removed[l]);
        scale[l] = removed[l] >= REAL_MIN ? power_of_two_in(largest) : 1;
        inverse[l] = removed[l] >= REAL_MIN ? 1 / scale[l] : 0;
        c[l] = last[l];
    }
    for (int64_t j = 0; j < i; j++) {
        real *v = row + at_row(j);
        EACH_LANE(l) {
            v[l] *= inverse[l];
            squares[l] = real_mad(v[l], v[l], squares[l]);
        }
    }
    EACH_LANE(l) {
        const real sigma = last[l] < 0 ? -real_sqrt(squares[l]) : real_sqrt(squares[l]);
        const real b = real_mad(last[l], sigma, squares[l]); /* ut u / 2 */
        inverse_b[l] = inverse[l] == 0 ? 0 : 1 / b;
        c[l] = inverse[l] == 0 ? c[l] : -sigma * scale[l];
        last[l] += sigma;
    }
}

/* A := H A H in the rows before i. */
static inline void reflect_matrix(const householder *h, int64_t i) {
    const real *u = h->t + at_entry(i, 0), *inverse_b = h->inverse_b + at_row(i);
    real *p = h->p, half[LANES] = { 0 };
    memset(p, 0, (size_t)at_row(i) * sizeof(real));
    for (int64_t r = 0; r < i; r++) { /* p = A u */
        const real *row = h->t + at_entry(r, 0), *u_r = u + at_row(r);
        real sum[LANES] = { 0 };
        for (int64_t c = 0; c < r; c++) {
            const real *entry = row + at_row(c), *u_c = u + at_row(c);
            real *p_c = p + at_row(c);
            EACH_LANE(l) {
                sum[l] = real_mad(entry[l], u_c[l], sum[l]);
                p_c[l] = real_mad(entry[l], u_r[l], p_c[l]);
            }
        }
        const real *entry = row + at_row(r);
        EACH_LANE(l) p[at_row(r) + l] += real_mad(entry[l], u_r[l], sum[l]);
    }
    for (int64_t r = 0; r < i; r++) {
        EACH_LANE(l) {
            p[at_row(r) + l] *= inverse_b[l];
            half[l] = real_mad(u[at_row(r) + l], p[at_row(r) + l], half[l]);
        }
    }
    EACH_LANE(l) half[l] *= inverse_b[l] / 2; /* ut p / 2b */
    for (int64_t r = 0; r < i; r++) {
        EACH_LANE(l) p[at_row(r) + l] = real_mad(-half[l], u[at_row(r) + l], p[at_row(r) + l]);
    }
    for (int64_t r = 0; r < i; r++) { /* A(r,c) - q(r) u(c) - u(r) q(c) */
        real *row = h->t + at_entry(r, 0);
        const real *u_r = u + at_row(r), *q_r = p + at_row(r);
        for (int64_t c = 0; c <= r; c++) {
            real *entry = row + at_row(c);
            const real *u_c = u + at_row(c), *q_c = p + at_row(c);
            EACH_LANE(l) entry[l] = real_mad(-u_r[l], q_c[l], real_mad(-q_r[l], u_c[l], entry[l]));
        }
    }
}

/* U and the reflectors of the lower triangles `a`. */
static inline void tridiagonalise(const householder *h, const real *a, int64_t n) {
    memcpy(h->t, a, (size_t)at_entry(n, 0) * sizeof(real));
    for (int64_t i = n - 1; i >= 0; i--) {
        memcpy(h->d + at_row(i), h->t + at_entry(i, i), LANES * sizeof(real));
        if (i >= 2) {
            make_reflector(h, i);
            reflect_matrix(h, i);
        } else if (i == 1)
            memcpy(h->c, h->t + at_entry(1, 0), LANES * sizeof(real));
    }
}

/* H of step i times `columns` vectors side by side, entry (j, m) of lane l at
 * v[(j * columns + m) * LANES + l]; `sums` has room for one row of them. */
static inline void reflect_vectors(const householder *h, int64_t i, real *v, int64_t columns,
                                   real *sums) {
    const real *u = h->t + at_entry(i, 0), *inverse_b = h->inverse_b + at_row(i);
    memset(sums, 0, (size_t)at_row(columns) * sizeof(real));
    for (int64_t j = 0; j < i; j++)
        for (int64_t m = 0; m < columns; m++) {
            const real *from = v + at_row(j * columns + m), *u_j = u + at_row(j);
            real *sum = sums + at_row(m);
            EACH_LANE(l) sum[l] = real_mad(u_j[l], from[l], sum[l]);
        }
    for (int64_t m = 0; m < columns; m++) {
        real *sum = sums + at_row(m);
        EACH_LANE(l) sum[l] *= -inverse_b[l];
    }
    for (int64_t j = 0; j < i; j++)
        for (int64_t m = 0; m < columns; m++) {
            real *to = v + at_row(j * columns + m);
            const real *u_j = u + at_row(j), *sum = sums + at_row(m);
            EACH_LANE(l) to[l] = real_mad(sum[l], u_j[l], to[l]);
        }
}

/* v := Qt v, Qt = H_3 .. H_n: the last row's reflector comes first. One vector. */
static inline void apply_transposed(const householder *h, int64_t n, real *v) {
    real sum[LANES];
    for (int64_t i = n - 1; i >= 2; i--) reflect_vectors(h, i, v, 1, sum);
}

/* V := Q V. */
static inline void apply_q(const householder *h, int64_t n, real *v, int64_t columns, real *sums) {
    for (int64_t i = 2; i < n; i++) reflect_vectors(h, i, v, columns, sums);
}

/* Q itself, n x n: Q_i = H_i Q_(i-1), which is the unit matrix from row and column i on. */
static inline void form_q(const householder *h, int64_t n, real *q, real *sums) {
    memset(q, 0, (size_t)at_row(n * n) * sizeof(real));
    for (int64_t i = 0; i < n; i++) EACH_LANE(l) q[at_row(i * n + i) + l] = 1;
    apply_q(h, n, q, n, sums);
}

#endif
