/* SPDX-License-Identifier: Apache-2.0
 *
 * doubling.c - recursive doubling on the CPU, one lane per system. A scan is done in place: its rows are joined in the
 * order in which a neighbour is read before it is written.
 */
#include "tridiag/paper/doubling.h"
#include "tridiag/pack.h"

/* v -> m[0] v + m[1], of rows with p in m[0] and q in m[1], upwards; else downwards. */
PACK_INLINE void scan_linear(real *const *m, int64_t n, const int up, const int lanes) {
    for (int64_t h = 1; h < n; h *= 2)
        for (int64_t k = 0; k < n - h; k++) {
            const int64_t at = (up ? k : n - 1 - k) * lanes, from = at + (up ? h : -h) * lanes;
            EACH_LANE(l, lanes) {
                m[1][at + l] = real_mad(m[0][at + l], m[1][from + l], m[1][at + l]);
                m[0][at + l] *= m[0][from + l];
            }
        }
}

PACK_INLINE void scan_matrices(real *const *m, int64_t n, const int lanes) {
    for (int64_t h = 1; h < n; h *= 2)
        for (int64_t i = n - 1; i >= h; i--) EACH_LANE(l, lanes) {
                const int64_t at = i * lanes + l, from = (i - h) * lanes + l;
                real own[4] = { m[0][at], m[1][at], m[2][at], m[3][at] };
                const real before[4] = { m[0][from], m[1][from], m[2][from], m[3][from] };
                matrix_after(own, before);
                m[0][at] = own[0], m[1][at] = own[1], m[2][at] = own[2], m[3][at] = own[3];
            }
}

PACK_INLINE void solve_lanes(const pack *s, const int lanes) {
    real *const *m = s->scratch;
    const int64_t n = s->n;
    for (int64_t i = 0; i < n * lanes; i++) {
        real own[4];
        matrix_of(own, s->dl[i], s->d[i], s->du[i]);
        m[0][i] = own[0], m[1][i] = own[1], m[2][i] = own[2], m[3][i] = own[3];
    }
    scan_matrices(m, n, lanes);
    for (int64_t i = n - 1; i >= 0; i--) EACH_LANE(l, lanes) { /* the map of q; p_i is kept */
            const int64_t at = i * lanes + l;
            const real p = i > 0 ? real_over_pivot(m[1][at - lanes], m[3][at - lanes]) : 0;
            const real inverse = real_over_pivot(1, real_mad(s->dl[at], p, s->d[at]));
            m[2][at] = -s->du[at] * inverse;
            m[0][at] = -s->dl[at] * inverse;
            s->x[at] = s->b[at] * inverse;
        }
    real *const q[] = { m[0], s->x }, *const x[] = { m[2], s->x };
    scan_linear(q, n, 0, lanes);
    scan_linear(x, n, 1, lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant;
    PACK_CALL(p, solve_lanes, p);
}

const tridiag_cpu_method R(tridiag_doubling) = { .scratch = DOUBLING_NUMBERS, .solve = solve };
