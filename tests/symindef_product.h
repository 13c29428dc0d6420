/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_product.h - how far a product of two matrices is from what it should be, all n^2 entries of
 * it, at any order that tests take.
 *
 * The largest sum over a row of |E - P Qt|, P and Q by rows. Up to EXACT rows in long double; beyond,
 * or where the numbers were floats, in double, tiles of TALL x WIDE entries in registers, sums of DEPTH
 * terms at a time: what the check adds of its own is then DEPTH + n / DEPTH units of roundoff of
 * |P| |Qt| at most, a few of them in practice.
 */
#ifndef SHOAL_SYMINDEF_PRODUCT_H
#define SHOAL_SYMINDEF_PRODUCT_H

#include "targets.h"
#include <math.h>
#include <stdint.h>

enum { EXACT = 100, TALL = 4, WIDE = 8, DEPTH = 256 };

/* NaN, once seen, stays: fmax() would forget it. (By a call: gcc 12 breaks off while it vectorizes
 * such loops.) */
__attribute__((noinline, unused)) static void raise_to(double *most, double value) {
    if (value > *most || isnan(value)) *most = value;
}

static inline int is_exact(int64_t n, shoal_type type) { return n <= EXACT && type == SHOAL_F64; }

/* a x, x with `apart` numbers from one to the next: floats need no long double. */
__attribute__((noinline, unused)) static long double dot_of(const double *a, const double *x,
                                                            int64_t apart, int64_t n,
                                                            shoal_type type) {
    long double exact = 0;
    double sum = 0;
    for (int64_t j = 0; j < n && type == SHOAL_F64; j++) exact += (long double)a[j] * x[j * apart];
    for (int64_t j = 0; j < n && type == SHOAL_F32; j++) sum += a[j] * x[j * apart];
    return type == SHOAL_F64 ? exact : sum;
}

typedef struct product_check {
    int64_t n;
    const double *p, *q;
    const double *expected; /* NULL: the unit matrix          */
    int lower;              /* row j of Q ends with entry j   */
    int exact;              /* in long double                 */
} product_check;

static inline double expected_at(const product_check *c, int64_t i, int64_t j) {
    return c->expected ? c->expected[i * c->n + j] : (double)(i == j);
}

/* Row i in long double. */
__attribute__((noinline, unused)) static double exact_row(const product_check *c, int64_t i) {
    const int64_t n = c->n;
    long double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        const double *p = c->p + i * n, *q = c->q + j * n;
        long double left = expected_at(c, i, j);
        for (int64_t k = 0; k < (c->lower ? j + 1 : n); k++) left -= (long double)p[k] * q[k];
        sum += fabsl(left);
    }
    return (double)sum;
}

/* sums of TALL rows of P against WIDE rows of Q, which lie side by side in `packed`. */
static inline void tile_sums(const double *const *p, const double *packed, int64_t depth,
                             double sums[TALL][WIDE]) {
    memset(sums, 0, sizeof(double) * TALL * WIDE);
    for (int64_t k0 = 0; k0 < depth; k0 += DEPTH) {
        const int64_t k1 = k0 + DEPTH < depth ? k0 + DEPTH : depth;
        double some[TALL][WIDE] = { { 0 } };
        for (int64_t k = k0; k < k1; k++)
            for (int r = 0; r < TALL; r++)
                for (int l = 0; l < WIDE; l++) some[r][l] += p[r][k] * packed[k * WIDE + l];
        for (int r = 0; r < TALL; r++)
            for (int l = 0; l < WIDE; l++) sums[r][l] += some[r][l];
    }
}

/* The columns from j0 on of E - P Qt, their sizes added to the sums of all rows. */
static inline void add_columns(const product_check *c, int64_t j0, double *packed, double *rows) {
    const int64_t n = c->n, wide = n - j0 < WIDE ? n - j0 : WIDE, depth = c->lower ? j0 + wide : n;
    for (int64_t k = 0; k < depth; k++)
        for (int64_t l = 0; l < WIDE; l++)
            packed[k * WIDE + l] = l < wide ? c->q[(j0 + l) * n + k] : 0;
    for (int64_t i = 0; i < n; i += TALL) {
        const double *p[TALL];
        double sums[TALL][WIDE];
        for (int64_t r = 0; r < TALL; r++) p[r] = c->p + (i + r < n ? i + r : n - 1) * n;
        tile_sums(p, packed, depth, sums);
        for (int64_t r = 0; r < TALL && i + r < n; r++)
            for (int64_t l = 0; l < wide; l++)
                rows[i + r] += fabs(expected_at(c, i + r, j0 + l) - sums[r][l]);
    }
}

__attribute__((noinline, unused)) static double largest_row(const product_check *c) {
    const int64_t n = c->n;
    double *rows = new_array((size_t)n, sizeof *rows), worst = 0;
    double *packed = new_array((size_t)(n * WIDE), sizeof *packed);
    for (int64_t i = 0; i < n && c->exact; i++) rows[i] = exact_row(c, i);
    for (int64_t j = 0; j < n && !c->exact; j += WIDE) add_columns(c, j, packed, rows);
    for (int64_t i = 0; i < n; i++) raise_to(&worst, rows[i]);
    free(packed), free(rows);
    return worst;
}

#endif
