/* SPDX-License-Identifier: Apache-2.0
 *
 * lupp.c - LU factorisation with partial pivoting on the CPU: the safe batch method.
 *
 * Row i in hand is (p, q, 0 | y) on columns i, i+1, i+2; row i+1 is (dl, d, du | b). The row with the
 * larger entry in column i becomes row i of U, (u, v, w | z); the other, minus a multiple of it,
 * becomes the row in hand for column i+1. Growth of the entries is at most 2, so the answer is
 * backward stable for every nonsingular matrix; an exactly singular one divides by zero, which
 * shows as a non-finite x.
 *
 * One lane per system, both branches computed and selected, so that lanes never diverge.
 * 2 divisions and about 12 other operations per row; every loop over lanes is SIMD.
 */
#include "tridiag/upper.h"

PACK_INLINE void factor_and_solve(const pack *s, const int lanes) {
    real *u = s->scratch[0], *v = s->scratch[1], *w = s->scratch[2], *z = s->scratch[3];
    const int64_t n = s->n;
    static const real zero_row[LANES];
    real p[LANES], q[LANES], r[LANES], y[LANES], swap[LANES]; /* r: the entry in column i+2 */
    if (n == 0) return;
    EACH_LANE(l, lanes) p[l] = s->d[l], q[l] = s->du[l], y[l] = s->b[l];
    for (int64_t i = 0; i + 1 < n; i++) {
        const real *dl = s->dl + (i + 1) * lanes, *d = s->d + (i + 1) * lanes;
        const real *du = s->du + (i + 1) * lanes, *b = s->b + (i + 1) * lanes;
        real *u_i = u + i * lanes, *v_i = v + i * lanes, *w_i = w + i * lanes, *z_i = z + i * lanes;
        EACH_LANE(l, lanes) swap[l] = real_abs(dl[l]) - real_abs(p[l]);
        select_lanes(u_i, swap, dl, p, lanes),
            select_lanes(p, swap, p, dl, lanes); /* row i of U; the other row */
        select_lanes(v_i, swap, d, q, lanes), select_lanes(q, swap, q, d, lanes);
        select_lanes(w_i, swap, du, zero_row, lanes), select_lanes(r, swap, zero_row, du, lanes);
        select_lanes(z_i, swap, b, y, lanes), select_lanes(y, swap, y, b, lanes);
        EACH_LANE(l, lanes) { /* other row - m * row i of U, one column on */
            real m = p[l] / u_i[l];
            p[l] = q[l] - m * v_i[l];
            q[l] = r[l] - m * w_i[l];
            y[l] = y[l] - m * z_i[l];
        }
    }
    back_substitute(s, p, y, lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant;
    PACK_CALL(p, factor_and_solve, p);
}

const tridiag_cpu_method R(tridiag_lupp) = { .scratch = 4,
                                             .solve = solve,
                                             .failure = upper_failure };
