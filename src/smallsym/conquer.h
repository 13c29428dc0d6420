/* SPDX-License-Identifier: Apache-2.0
 *
 * conquer.h - eigenpairs of one symmetric tridiagonal matrix U by divide and conquer, section 5 of
 * the paper on small symmetric systems.
 *
 * U is cut at c_m, m = n/2, down to 1 x 1 and 2 x 2 (Figure 11; equation (15) lost its d_(m+1)):
 *     U = (U_1, 0; 0, U_2) + |c_m| v vt,   v = e_m + sign(c_m) e_(m+1),
 * d_m and d_(m+1) each less |c_m|: the sign goes into v, so that the roots of the secular equation
 * lie above its poles whether c_m is positive or not. With U_1 = O_1 D_1 O_1t, U_2 = O_2 D_2 O_2t
 * and z = (last row of O_1, sign(c_m) first row of O_2) / sqrt 2 the conquering step diagonalises
 * D + rho z zt, rho = 2 |c_m|:
 *   deflate    z_i too small: pole i is an eigenvalue. Two poles too close: a rotation makes one of
 *              their z zero. Both cost an error of at most 4 eps max(|D|, rho) (Gu and Eisenstat).
 *   roots      of the secular equation, in either variant (eigdc.h)
 *   vectors    from u-tilde, normalised (17), times (O_1, 0; 0, O_2): n^3 multiply-adds per step,
 *              half of them where the columns have entries in one half only.
 * Where U has a c that is nothing beside its neighbours it falls apart, and each part is scaled by
 * itself: tiny parts of a large matrix keep their accuracy.
 *
 * One matrix at a time, as deflation makes each different, with SIMD along the rows of the product:
 * (2/3) n^3 multiply-adds without deflation, O(n^2) for the roots, 3 n^2 numbers of memory.
 */
#ifndef SHOAL_SMALLSYM_CONQUER_H
#define SHOAL_SMALLSYM_CONQUER_H

#include "smallsym/eigdc.h"
#include "core/vec.h"
#include "smallsym/pack.h"

enum { LANE_MATRICES = 3, LANE_VECTORS = 10, ROWS = 4 };

/* Numbers from a row of the matrices to the next: whole cache lines. */
static inline int64_t row_of(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

/* Numbers of all arrays of a lane: a multiple of LANES. */
static inline size_t lane_numbers(int64_t n) {
    return (size_t)((LANE_MATRICES * (n + ROWS) + LANE_VECTORS) * row_of(n));
}

typedef struct lane {
    int64_t n, ld;
    real *d, *c;           /* U; then d the eigenvalues, ascending within each part           */
    real *o;               /* eigenvectors of the parts, n rows of ld numbers                 */
    real *mix;             /* eigenvectors of D + rho z zt: row i for pole i                  */
    real *product;         /* o times mix, and the deflated columns                           */
    real *z, *pole, *kept; /* kept: z of the poles that are left                              */
    real *origin, *tau;    /* the roots                                                       */
    int32_t *order;        /* what lies where once sorted                                     */
    int32_t *column;       /* of pole i, k of them; then those of the deflated                */
    int32_t *half;         /* of a column: 1, it has entries in O_1's rows; 2, in O_2's; 3    */
} lane;

static inline lane lane_in(real *memory, int64_t n) {
    const int64_t ld = row_of(n), matrix = (n + ROWS) * ld;
    real *vectors = memory + LANE_MATRICES * matrix;
    return (lane){ .n = n,
                   .ld = ld,
                   .o = memory,
                   .mix = memory + matrix,
                   .product = memory + 2 * matrix,
                   .d = vectors,
                   .c = vectors + ld,
                   .z = vectors + 2 * ld,
                   .pole = vectors + 3 * ld,
                   .kept = vectors + 4 * ld,
                   .origin = vectors + 5 * ld,
                   .tau = vectors + 6 * ld,
                   .order = (int32_t *)(void *)(vectors + 7 * ld),
                   .column = (int32_t *)(void *)(vectors + 8 * ld),
                   .half = (int32_t *)(void *)(vectors + 9 * ld) };
}

/* order[0..n-1] such that values[order[.]] ascends; by insertion, the lists are short and nearly
 * in order. */
static inline void sort_by(const real *values, int32_t *order, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i;
        for (; j > 0 && values[i] < values[order[j - 1]]; j--) order[j] = order[j - 1];
        order[j] = (int32_t)i;
    }
}

typedef struct step { /* a conquering step: columns and rows start .. start + size - 1 */
    int64_t start, middle, size;
    real rho;
    int32_t k; /* poles that are left */
} step;

/* Columns p and q of O := (p, q) (c, s; -s, c). */
static inline void rotate(const lane *u, const step *s, int32_t p, int32_t q, real cosine,
                          real sine) {
    for (int64_t r = 0; r < s->size; r++) {
        real *row = u->o + (s->start + r) * u->ld + s->start;
        const real at_p = row[p], at_q = row[q];
        row[p] = cosine * at_p - sine * at_q;
        row[q] = sine * at_p + cosine * at_q;
    }
    u->half[p] = u->half[q] = u->half[p] | u->half[q];
}

/* Sorts the poles and splits them into those that are left (column[0 .. k-1], pole, kept) and those
 * that are eigenvalues already (from column[k] on, their values in d). */
static inline void deflate(const lane *u, step *s) {
    real *d = u->d + s->start, *z = u->z, largest = s->rho;
    sort_by(d, u->order, s->size);
    for (int64_t i = 0; i < s->size; i++) largest = real_max(real_abs(d[i]), largest);
    /* parts have size 1: below its own roundoff, squared, a rho is nothing, and 1 / rho in range */
    const real tol = 4 * REAL_EPSILON * real_max(largest, REAL_EPSILON);
    int32_t last = -1, k = 0;
    int64_t gone = s->size;
    for (int64_t i = 0; i < s->size; i++) {
        const int32_t now = u->order[i];
        if (s->rho * real_abs(z[now]) <= tol) {
            u->column[--gone] = now;
            continue;
        }
        if (last >= 0) {
            const real apart = d[now] - d[last],
                       large = real_max(real_abs(z[now]), real_abs(z[last]));
            const real x = z[now] / large, y = z[last] / large, root = real_sqrt(x * x + y * y);
            const real cosine = x / root, sine = y / root;
            if (real_abs(apart * cosine * sine) <= tol) { /* all of z goes to the later one */
                rotate(u, s, last, now, cosine, sine);
                z[now] = root * large, z[last] = 0;
                const real low = d[last] + apart * sine * sine, high = d[now] - apart * sine * sine;
                d[last] = low, d[now] = high;
                u->column[--gone] = last;
                k--;
            }
        }
        u->column[k++] = last = now;
    }
    for (int32_t i = 0; i < k; i++) {
        u->pole[i] = d[u->column[i]];
        u->kept[i] = z[u->column[i]];
    }
    s->k = k;
}

/* Roots, u-tilde, and the vectors of D + rho z zt as the columns of `mix`. */
static inline void conquer_poles(const lane *u, const step *s, int variant) {
    const int32_t k = s->k;
    const int64_t width = (k + VEC - 1) / VEC * VEC;
    const secular equation = { k, u->pole, u->kept, s->rho };
    real *squares = u->z; /* no longer needed */
    for (int32_t j = 0; j < k; j++) {
        const secular_root x = secular_solve(&equation, j, variant);
        u->origin[j] = x.origin, u->tau[j] = x.tau;
        squares[j] = 0;
    }
    for (int32_t i = 0; i < k; i++) {
        const real weight = secular_weight(&equation, u->origin, u->tau, i);
        real *row = u->mix + i * u->ld;
        for (int32_t j = 0; j < k; j++) {
            row[j] = weight / secular_gap(u->pole[i], secular_point(u->origin[j], u->tau[j]));
            squares[j] += row[j] * row[j];
        }
        for (int64_t j = k; j < width; j++) row[j] = 0;
    }
    for (int32_t j = 0; j < k; j++) squares[j] = 1 / real_sqrt(squares[j]);
    for (int32_t i = 0; i < k; i++)
        for (int32_t j = 0; j < k; j++) u->mix[i * u->ld + j] *= squares[j];
}

/* ROWS rows of O, from row r on, times `mix`, into `product`: only the `used` columns of O that
 * belong to poles which[.] have entries there. */
static inline void multiply_rows(const lane *u, const step *s, int64_t r, const int32_t *which,
                                 int32_t used) {
    const real *o = u->o + r * u->ld + s->start;
    real *to = u->product + r * u->ld;
    for (int64_t j = 0; j < s->k; j += VEC) {
        vec sum[ROWS] = { 0 };
        for (int32_t e = 0; e < used; e++) {
            const int32_t i = which[e], column = u->column[i];
            const vec row = *(const vec *)(u->mix + i * u->ld + j);
            for (int q = 0; q < ROWS; q++)
                sum[q] = vec_fma(vec_all(o[q * u->ld + column]), row, sum[q]);
        }
        for (int q = 0; q < ROWS; q++) *(vec *)(to + q * u->ld + j) = sum[q];
    }
}

/* O := O mix, the deflated columns as they are, all in the order of their eigenvalues. */
static inline void conquer_vectors(const lane *u, const step *s) {
    real *d = u->d + s->start, *value = u->origin; /* of the roots, then of the deflated */
    int32_t *which = u->order;
    for (int half = 1; half <= 2; half++) {
        const int64_t begin = s->start + (half == 1 ? 0 : s->middle);
        const int64_t end = s->start + (half == 1 ? s->middle : s->size);
        int32_t used = 0;
        for (int32_t i = 0; i < s->k; i++)
            if (u->half[u->column[i]] & half) which[used++] = i;
        /* the last rows may run into those of the other half, which come later or are done again */
        for (int64_t r = begin; r < end; r += ROWS) multiply_rows(u, s, r, which, used);
    }
    for (int64_t j = 0; j < s->size; j++)
        value[j] = j < s->k ? u->origin[j] + u->tau[j] : d[u->column[j]];
    sort_by(value, u->order, s->size);
    for (int64_t r = s->start; r < s->start + s->size; r++) {
        real *o = u->o + r * u->ld + s->start, *product = u->product + r * u->ld;
        for (int64_t j = s->k; j < s->size; j++) product[j] = o[u->column[j]];
        for (int64_t j = 0; j < s->size; j++) o[j] = product[u->order[j]];
    }
    for (int64_t j = 0; j < s->size; j++) d[j] = value[u->order[j]];
}

/* D + rho z zt of two parts whose eigenpairs are known, cut at c. */
static inline void merge(const lane *u, int64_t start, int64_t middle, int64_t size, real c,
                         int variant) {
    step s = { start, middle, size, 2 * real_abs(c), 0 };
    const real part = real_sqrt((real)0.5), *last = u->o + (start + middle - 1) * u->ld + start;
    for (int64_t i = 0; i < size; i++) {
        u->half[i] = i < middle ? 1 : 2;
        u->z[i] = i < middle ? last[i] * part : (c < 0 ? -part : part) * last[u->ld + i];
    }
    deflate(u, &s);
    conquer_poles(u, &s, variant);
    conquer_vectors(u, &s);
}

static inline void conquer(const lane *u, int64_t start, int64_t size, int variant) {
    real *d = u->d + start, *o = u->o + start * u->ld + start;
    if (size == 1) {
        o[0] = 1;
    } else if (size == 2) {
        const eigen_pair e = eigen_2x2(d[0], u->c[start], d[1]);
        d[0] = e.low, d[1] = e.high;
        o[0] = e.cosine, o[1] = e.sine;
        o[u->ld] = -e.sine, o[u->ld + 1] = e.cosine;
    } else {
        const int64_t middle = size / 2;
        const real c = u->c[start + middle - 1];
        d[middle - 1] -= real_abs(c);
        d[middle] -= real_abs(c);
        conquer(u, start, middle, variant);
        conquer(u, start + middle, size - middle, variant);
        merge(u, start, middle, size, c, variant);
    }
}

/* One part that does not fall apart, its largest number brought into [1/2, 1). */
static inline void conquer_scaled(const lane *u, int64_t start, int64_t size, int variant) {
    real largest = 0;
    for (int64_t i = start; i < start + size; i++) {
        largest = real_max(real_abs(u->d[i]), largest);
        if (i + 1 < start + size) largest = real_max(real_abs(u->c[i]), largest);
    }
    int exponent;
    (void)frexp((double)largest, &exponent);
    for (int64_t i = start; i < start + size; i++) {
        u->d[i] = (real)ldexp((double)u->d[i], -exponent);
        if (i + 1 < start + size) u->c[i] = (real)ldexp((double)u->c[i], -exponent);
    }
    conquer(u, start, size, variant);
    for (int64_t i = start; i < start + size; i++) u->d[i] = (real)ldexp((double)u->d[i], exponent);
}

/* Eigenpairs of U of one lane: d ascends by way of `order`. False if U is not finite. */
static inline int diagonalise(const lane *u, int variant) {
    real bad = 0;
    for (int64_t i = 0; i < u->n; i++) bad += u->d[i] * 0 + u->c[i] * 0;
    if (bad != 0) return 0;
    memset(u->o, 0, (size_t)((u->n + ROWS) * u->ld) * sizeof(real));
    int64_t start = 0;
    for (int64_t i = 0; i < u->n; i++) {
        const int64_t next = i + 1 < u->n ? i + 1 : i;
        const real nothing =
            REAL_EPSILON / 2 * real_sqrt(real_abs(u->d[i])) * real_sqrt(real_abs(u->d[next]));
        if (next > i && real_abs(u->c[i]) > nothing) continue;
        conquer_scaled(u, start, i + 1 - start, variant);
        start = i + 1;
    }
    sort_by(u->d, u->order, u->n);
    return 1;
}

#endif
