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
 * One lane per system. Per lane (2/3) n^3 multiply-adds, n^2 per vector, n^3 for Q. Rows are counted
 * from 0 in the code.
 */
#ifndef SHOAL_SMALLSYM_HOUSEHOLDER_H
#define SHOAL_SMALLSYM_HOUSEHOLDER_H

#include "core/vec.h"
#include "smallsym/pack.h"

typedef struct householder { /* arrays of a pack */
    real *t;                 /* triangle: row i holds u of step i                            */
    real *inverse_b;         /* of step i                                                    */
    real *d, *c;             /* U: diagonal; c(i) couples rows i and i + 1                   */
    real *p, *q;             /* p, then q, of the step in hand; q of the one before          */
} householder;

enum { REFLECT_ROWS = 4, REFLECT_COLUMNS = 4 }; /* in registers at a time */

/* Numbers per lane. */
static inline size_t householder_numbers(int64_t n) { return (size_t)(n * (n + 1) / 2 + 5 * n); }

static inline householder householder_in(real *memory, int64_t n) {
    real *t = memory, *vectors = t + at_entry(n, 0);
    return (householder){ .t = t,
                          .inverse_b = vectors,
                          .d = vectors + at_row(n),
                          .c = vectors + at_row(2 * n),
                          .p = vectors + at_row(3 * n),
                          .q = vectors + at_row(4 * n) };
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

/* Row r less q(r) u(c) + u(r) q(c) of the step before. */
static inline void update_row(const householder *h, const real *u, int64_t r) {
    const vec u_r = -vec_at(u + at_row(r)), q_r = -vec_at(h->q + at_row(r));
    for (int64_t c = 0; c <= r; c++) {
        real *entry = h->t + at_entry(r, c);
        const vec a = vec_fma(q_r, vec_at(u + at_row(c)), vec_at(entry));
        vec_to(entry, vec_fma(u_r, vec_at(h->q + at_row(c)), a));
    }
}

/* The same for `rows` rows from r on; and p += A u' for them, u' being the next step's. A is symmetric:
 * an entry counts in its row's sum and in its column's. */
static inline __attribute__((always_inline)) void update_and_multiply(const householder *h,
                                                                      const real *u,
                                                                      const real *next, int64_t r,
                                                                      const int rows) {
    vec u_r[REFLECT_ROWS], q_r[REFLECT_ROWS], next_r[REFLECT_ROWS], sum[REFLECT_ROWS];
    for (int k = 0; k < rows; k++) {
        u_r[k] = -vec_at(u + at_row(r + k)), q_r[k] = -vec_at(h->q + at_row(r + k));
        next_r[k] = vec_at(next + at_row(r + k));
        sum[k] = vec_all(0);
    }
    for (int64_t c = 0; c < r; c++) {
        const vec u_c = vec_at(u + at_row(c)), q_c = vec_at(h->q + at_row(c));
        const vec next_c = vec_at(next + at_row(c));
        vec p = vec_at(h->p + at_row(c));
        for (int k = 0; k < rows; k++) {
            real *entry = h->t + at_entry(r + k, c);
            const vec a = vec_fma(u_r[k], q_c, vec_fma(q_r[k], u_c, vec_at(entry)));
            vec_to(entry, a);
            sum[k] = vec_fma(a, next_c, sum[k]);
            p = vec_fma(a, next_r[k], p);
        }
        vec_to(h->p + at_row(c), p);
    }
    for (int k = 0; k < rows; k++)
        for (int m = 0; m <= k; m++) { /* the triangle on the diagonal */
            real *entry = h->t + at_entry(r + k, r + m);
            const vec a = vec_fma(u_r[k], -q_r[m], vec_fma(q_r[k], -u_r[m], vec_at(entry)));
            vec_to(entry, a);
            sum[k] = vec_fma(a, next_r[m], sum[k]);
            if (m < k) sum[m] = vec_fma(a, next_r[k], sum[m]);
        }
    for (int k = 0; k < rows; k++) vec_to(h->p + at_row(r + k), sum[k]);
}

/* p = A u / b of step i, with A brought up to date by the step before, whose u is `before`. */
static inline void multiply_matrix(const householder *h, const real *before, int64_t i) {
    const real *next = h->t + at_entry(i, 0);
    int64_t r = 0;
    for (; r + REFLECT_ROWS <= i; r += REFLECT_ROWS)
        update_and_multiply(h, before, next, r, REFLECT_ROWS);
    for (; r < i; r++) update_and_multiply(h, before, next, r, 1);
}

/* q = p - (ut p / 2b) u, in the place of p. */
static inline void make_q(const householder *h, int64_t i) {
    const real *u = h->t + at_entry(i, 0), *inverse_b = h->inverse_b + at_row(i);
    real half[LANES] = { 0 };
    for (int64_t r = 0; r < i; r++) {
        real *p = h->p + at_row(r);
        EACH_LANE(l) {
            p[l] *= inverse_b[l];
            half[l] = real_mad(u[at_row(r) + l], p[l], half[l]);
        }
    }
    EACH_LANE(l) half[l] *= inverse_b[l] / 2;
    for (int64_t r = 0; r < i; r++) {
        real *p = h->p + at_row(r);
        EACH_LANE(l) p[l] = real_mad(-half[l], u[at_row(r) + l], p[l]);
    }
}

/* U and the reflectors of the lower triangles `a`. Each step's change of the matrix is put off
 * until the next step reads it: one pass over the matrix per step. */
static inline void tridiagonalise(const householder *h, const real *a, int64_t n) {
    householder now = *h;
    memcpy(h->t, a, (size_t)at_entry(n, 0) * sizeof(real));
    memset(now.q, 0, (size_t)at_row(n) * sizeof(real)); /* before the first step: no change */
    for (int64_t i = n - 1; i >= 0; i--) {
        const int changed = n > 2 && i + 1 < n; /* by the step before; step 2 is the last */
        const real *before = changed ? h->t + at_entry(i > 0 ? i + 1 : 2, 0) : now.q;
        if (changed) update_row(&now, before, i);
        memcpy(h->d + at_row(i), h->t + at_entry(i, i), LANES * sizeof(real));
        if (i >= 2) {
            make_reflector(&now, i);
            multiply_matrix(&now, before, i);
            make_q(&now, i);
            real *done = now.p;
            now.p = now.q, now.q = done;
        } else if (i == 1)
            memcpy(h->c, h->t + at_entry(1, 0), LANES * sizeof(real));
    }
}

/* H of step i times `columns` columns from m on of vectors side by side, entry (j, m) of lane l at
 * v[(j * width + m) * LANES + l]. */
static inline __attribute__((always_inline)) void reflect(const householder *h, int64_t i, real *v,
                                                          int64_t width, int64_t m,
                                                          const int columns) {
    const real *u = h->t + at_entry(i, 0);
    real *from = v + at_row(m);
    vec sum[REFLECT_COLUMNS];
    for (int k = 0; k < columns; k++) sum[k] = vec_all(0);
    for (int64_t j = 0; j < i; j++) {
        const vec u_j = vec_at(u + at_row(j));
        for (int k = 0; k < columns; k++)
            sum[k] = vec_fma(u_j, vec_at(from + at_row(j * width + k)), sum[k]);
    }
    for (int k = 0; k < columns; k++)
        sum[k] = -sum[k] * vec_at(h->inverse_b + at_row(i)); /* -ut v / b */
    for (int64_t j = 0; j < i; j++) {
        const vec u_j = vec_at(u + at_row(j));
        for (int k = 0; k < columns; k++) {
            real *to = from + at_row(j * width + k);
            vec_to(to, vec_fma(sum[k], u_j, vec_at(to)));
        }
    }
}

/* v := Qt v, Qt = H_3 .. H_n: the last row's reflector comes first. One vector. */
static inline void apply_transposed(const householder *h, int64_t n, real *v) {
    for (int64_t i = n - 1; i >= 2; i--) reflect(h, i, v, 1, 0, 1);
}

/* V := Q V, `width` vectors side by side; a few columns go through all reflectors, in cache. */
static inline void apply_q(const householder *h, int64_t n, real *v, int64_t width) {
    int64_t m = 0;
    for (; m + REFLECT_COLUMNS <= width; m += REFLECT_COLUMNS)
        for (int64_t i = 2; i < n; i++) reflect(h, i, v, width, m, REFLECT_COLUMNS);
    for (; m < width; m++)
        for (int64_t i = 2; i < n; i++) reflect(h, i, v, width, m, 1);
}

/* Q itself, n x n: Q_i = H_i Q_(i-1), which is the unit matrix from row and column i on. */
static inline void form_q(const householder *h, int64_t n, real *q) {
    memset(q, 0, (size_t)at_row(n * n) * sizeof(real));
    for (int64_t i = 0; i < n; i++) EACH_LANE(l) q[at_row(i * n + i) + l] = 1;
    apply_q(h, n, q, n);
}

#endif
