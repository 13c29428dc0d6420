/* SPDX-License-Identifier: Apache-2.0
 *
 * qr.c - QR factorisation by Givens rotations on the CPU, as cuSPARSE has it among its interleaved methods.
 *
 * Row i in hand is (p, q, 0 | y) on columns i, i+1, i+2; row i+1 is (dl, d, du | b). The rotation
 *
 *     c = p / h,  s = dl / h,  h = sqrt(p^2 + dl^2)
 *
 * makes of them row i of R, (h, c q + s d, s du | c y + s b), and the row in hand for column i+1,
 * (c d - s q, c du | c b - s y). Nothing grows, so the answer is backward stable for every nonsingular matrix.
 * Of a singular one the last pivot is seldom an exact zero: the condition tells (condition.h). p and
 * dl are divided by the larger one first: their squares need not be in range.
 *
 * One lane per system. 4 divisions, a root and about 25 other operations per row; every loop over lanes is SIMD. The
 * variant rootfree (rootfree.h) has 1 division and no root.
 */
#include "tridiag/rootfree.h"
#include "tridiag/upper.h"

PACK_INLINE void rotate_and_solve(const pack *s, const int lanes) {
    real p[LANES], q[LANES], y[LANES];
    if (s->n == 0) return;
    EACH_LANE(l, lanes) p[l] = s->d[l], q[l] = s->du[l], y[l] = s->b[l];
    for (int64_t i = 0; i + 1 < s->n; i++) {
        const real *dl = s->dl + (i + 1) * lanes, *d = s->d + (i + 1) * lanes;
        const real *du = s->du + (i + 1) * lanes, *b = s->b + (i + 1) * lanes;
        real *over = s->scratch[0] + i * lanes, *v = s->scratch[1] + i * lanes;
        real *w = s->scratch[2] + i * lanes, *z = s->scratch[3] + i * lanes;
        EACH_LANE(l, lanes) {
            const real large = real_max(real_abs(p[l]), real_abs(dl[l]));
            const real scale = real_max(large, REAL_TINY); /* both may be 0: then h is */
            const real first = p[l] / scale, second = dl[l] / scale;
            const real root = real_sqrt(first * first + second * second), inverse = 1 / root;
            const real cosine = first * inverse, sine = second * inverse;
            over[l] = 1 / (large * root);
            v[l] = cosine * q[l] + sine * d[l];
            w[l] = sine * du[l];
            z[l] = cosine * y[l] + sine * b[l];
            p[l] = cosine * d[l] - sine * q[l];
            q[l] = cosine * du[l];
            y[l] = cosine * b[l] - sine * y[l];
        }
    }
    const int64_t last = (s->n - 1) * lanes;
    EACH_LANE(l, lanes) {
        s->scratch[0][last + l] = 1 / p[l], s->scratch[3][last + l] = y[l];
        s->scratch[1][last + l] = s->scratch[2][last + l] = 0;
    }
    back_substitute(s, lanes);
}

PACK_INLINE void rotate_without_roots(const pack *s, const int lanes) {
    real p[LANES], q[LANES], y[LANES], weight[LANES];
    if (s->n == 0) return;
    EACH_LANE(l, lanes) p[l] = s->d[l], q[l] = s->du[l], y[l] = s->b[l], weight[l] = 1;
    for (int64_t i = 0; i + 1 < s->n; i++) {
        const real *dl = s->dl + (i + 1) * lanes, *d = s->d + (i + 1) * lanes;
        const real *du = s->du + (i + 1) * lanes, *b = s->b + (i + 1) * lanes;
        real *over = s->scratch[0] + i * lanes, *v = s->scratch[1] + i * lanes;
        real *w = s->scratch[2] + i * lanes, *z = s->scratch[3] + i * lanes;
        EACH_LANE(l, lanes) {
            const rootfree r = rootfree_of(p[l], dl[l], weight[l]);
            over[l] = r.inverse, weight[l] = r.weight;
            v[l] = r.first * q[l] + r.second * d[l];
            w[l] = r.second * du[l];
            z[l] = r.first * y[l] + r.second * b[l];
            p[l] = r.next * d[l] - r.minus * q[l];
            q[l] = r.next * du[l];
            y[l] = r.next * b[l] - r.minus * y[l];
        }
    }
    const int64_t last = (s->n - 1) * lanes;
    EACH_LANE(l, lanes) {
        s->scratch[0][last + l] = 1 / p[l], s->scratch[3][last + l] = y[l];
        s->scratch[1][last + l] = s->scratch[2][last + l] = 0;
    }
    back_substitute(s, lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    if (variant == QR_ROOTFREE)
        PACK_CALL(p, rotate_without_roots, p);
    else
        PACK_CALL(p, rotate_and_solve, p);
}

const tridiag_cpu_method R(tridiag_qr) = { .scratch = 4, .solve = solve, .failure = upper_failure };
