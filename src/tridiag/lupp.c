/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.c - LU factorisation with partial pivoting on the CPU: the safe batch method.
 *
 * Row i in hand is (p, q, 0 | y) on columns i, i+1, i+2; row i+1 is (dl, d, du | b). The row with the
 * larger entry in column i becomes row i of U, (u, v, w | z); the other, minus a multiple of it,
 * becomes the row in hand for column i+1. Rows are scaled (pack.h), and growth of the entries is at most 2, so
 * the answer is backward stable, row by row, for every nonsingular matrix; an exactly singular one divides by
 * zero, which shows as a non-finite x. The condition is estimated on the way (condition.h).
 *
 * One lane per system, both branches computed and selected, so that lanes never diverge.
 * 1 division and about 25 other operations per row; every loop over lanes is SIMD.
 */
#include "tridiag/upper.h"

PACK_INLINE void factor_and_solve(const pack *s, const int lanes) {
    real *inverse = s->scratch[0], *v = s->scratch[1], *slot = s->scratch[2], *z = s->scratch[3];
    static const real zero_row[LANES];
    real p[LANES], q[LANES], r[LANES], y[LANES], swap[LANES]; /* r: the entry in column i+2 */
    real u[LANES], w[LANES], growth[LANES], probe[LANES], above[LANES], below[LANES];
    if (s->n == 0) return;
    EACH_LANE(l, lanes) p[l] = s->d[l], q[l] = s->du[l], y[l] = s->b[l];
    EACH_LANE(l, lanes) growth[l] = probe[l] = PROBE;
    for (int64_t i = 0; i + 1 < s->n; i++) {
        const real *dl = s->dl + (i + 1) * lanes, *d = s->d + (i + 1) * lanes;
        const real *du = s->du + (i + 1) * lanes, *b = s->b + (i + 1) * lanes;
        real *v_i = v + i * lanes, *z_i = z + i * lanes;
        EACH_LANE(l, lanes) swap[l] = real_abs(dl[l]) - real_abs(p[l]);
        select_lanes(u, swap, dl, p, lanes),
            select_lanes(p, swap, p, dl, lanes); /* row i of U; the other row */
        select_lanes(v_i, swap, d, q, lanes), select_lanes(q, swap, q, d, lanes);
        select_lanes(w, swap, du, zero_row, lanes), select_lanes(r, swap, zero_row, du, lanes);
        select_lanes(z_i, swap, b, y, lanes), select_lanes(y, swap, y, b, lanes);
        select_lanes(slot + i * lanes, swap, du, growth, lanes);
        select_lanes(above, swap, probe, growth, lanes); /* G of row i of U, of the other row */
        select_lanes(below, swap, growth, probe, lanes);
        EACH_LANE(l, lanes) { /* other row - m * row i of U, one column on */
            const real by = 1 / u[l], m = p[l] * by;
            inverse[i * lanes + l] = by;
            p[l] = q[l] - m * v_i[l];
            q[l] = r[l] - m * w[l];
            y[l] = y[l] - m * z_i[l];
            growth[l] = below[l] + real_abs(m) * above[l];
        }
    }
    const int64_t last = (s->n - 1) * lanes;
    EACH_LANE(l, lanes) inverse[last + l] = 1 / p[l], v[last + l] = 0, z[last + l] = y[l];
    EACH_LANE(l, lanes) slot[last + l] = growth[l];
    back_substitute(s, lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant;
    PACK_CALL(p, factor_and_solve, p);
}

const tridiag_cpu_method R(tridiag_lupp) = { .scratch = 4,
                                             .solve = solve,
                                             .failure = upper_failure };
