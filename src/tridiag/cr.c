/* SPDX-License-Identifier: Apache-2.0
 *
 * cr.c - cyclic reduction on the CPU: Figure 7 and equation (10) of the small-systems paper,
 * section 4.1 (reduce.h), for rows that need not be symmetric and any number of them.
 *
 * Forward, h = 1, 2, 4, ...: every second row that is left, i = 2h-1, 4h-1, ..., is reduced by its
 * neighbours i - h and i + h (reduce.h), until one row is left: d x = b. Backward, h halved each
 * time: the rows that were passed over, i = h-1, 3h-1, ..., have both neighbours' x by now. A
 * neighbour past the last row does not exist; no row is added to fill up a power of two.
 *
 * One lane per system. About 2n row reductions and substitutions, 2 log2(n) levels.
 * Stable for diagonally dominant matrices; a zero pivot fails.
 */
#include "tridiag/reduce.h"

PACK_INLINE void copy_rows(const rows *to, const pack *p, const int lanes) {
    const int64_t numbers = p->n * lanes;
    for (int64_t i = 0; i < numbers; i++) {
        to->dl[i] = p->dl[i], to->d[i] = p->d[i];
        to->du[i] = p->du[i], to->b[i] = p->b[i];
    }
}

/* x_i = (b_i - dl_i x_{i-h} - du_i x_{i+h}) / d_i, the neighbours being 0 where they do not exist */
PACK_INLINE void substitute(const rows *e, real *x, int64_t i, int64_t h, int64_t n,
                            const int lanes) {
    static const real zero_row[LANES];
    const real *dl = e->dl + i * lanes, *d = e->d + i * lanes;
    const real *du = e->du + i * lanes, *b = e->b + i * lanes;
    const real *left = i >= h ? x + (i - h) * lanes : zero_row;
    const real *right = i + h < n ? x + (i + h) * lanes : zero_row;
    EACH_LANE(l, lanes)
    x[i * lanes + l] = real_over_pivot(b[l] - dl[l] * left[l] - du[l] * right[l], d[l]);
}

PACK_INLINE void reduce_and_substitute(const pack *p, const int lanes) {
    const rows e = { p->scratch[0], p->scratch[1], p->scratch[2], p->scratch[3] };
    const int64_t n = p->n;
    int64_t h = 1;
    copy_rows(&e, p, lanes);
    for (; 2 * h <= n; h *= 2)
        for (int64_t i = 2 * h - 1; i < n; i += 2 * h)
            reduce_row(&e, i, &e, i, i - h, i + h < n ? i + h : NO_ROW, lanes);
    for (; h >= 1; h /= 2)
        for (int64_t i = h - 1; i < n; i += 2 * h) substitute(&e, p->x, i, h, n, lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant;
    PACK_CALL(p, reduce_and_substitute, p);
}

const tridiag_cpu_method R(tridiag_cr) = { .scratch = 4, .solve = solve };
