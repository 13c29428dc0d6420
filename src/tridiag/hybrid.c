/* SPDX-License-Identifier: Apache-2.0
 *
 * hybrid.c - elimination inside chunks, parallel cyclic reduction between them: the CPU's
 * counterpart of the GPU's fastest method, the same algebra with a chunk where the GPU has a
 * thread.
 *
 * The rows are cut into chunks of CHUNK, the last one shorter. Let y_t be the last unknown of chunk
 * t. The rows of a chunk before its last one form a tridiagonal system for their own unknowns, with
 * y_{t-1} and y_t on the right-hand side; Thomas's algorithm with three right-hand sides gives
 *     x_i = p_i + q_i y_{t-1} + r_i y_t.
 * Put into the last row of chunk t, for its left neighbour x_{e-1} and for its right one, the first
 * unknown x_f of chunk t + 1, this leaves one row per chunk:
 *     (dl_e q_{e-1}) y_{t-1} + (d_e + dl_e r_{e-1} + du_e q_f) y_t + (du_e r_f) y_{t+1}
 *         = b_e - dl_e p_{e-1} - du_e p_f,
 * again a tridiagonal system, solved by reduce_by_strides(). One more pass gives the x_i.
 *
 * One lane per system. 1 division per row, log2(n / CHUNK) steps of PCR on n / CHUNK rows.
 * Stable for diagonally dominant matrices; a zero pivot fails.
 */
#include "tridiag/reduce.h"

enum { CHUNK = 8 };

typedef struct inner { /* x_i = p_i + q_i y_{t-1} + r_i y_t for the rows before a chunk's last */
    real *p, *q, *r;
} inner;

/* Rows begin .. last - 1, Thomas forward with the right-hand sides b and -dl_begin; r holds du'. */
PACK_INLINE void eliminate_forward(const pack *s, const inner *in, int64_t begin, int64_t last,
                                   const int lanes) {
    real p[LANES], q[LANES], g[LANES]; /* of the row before */
    EACH_LANE(l, lanes) p[l] = g[l] = 0, q[l] = 1;
    for (int64_t i = begin; i < last; i++) {
        const real *dl = s->dl + i * lanes, *d = s->d + i * lanes;
        const real *du = s->du + i * lanes, *b = s->b + i * lanes;
        EACH_LANE(l, lanes) {
            real inverse = real_over_pivot(1, d[l] - dl[l] * g[l]);
            p[l] = (b[l] - dl[l] * p[l]) * inverse;
            q[l] = -(dl[l] * q[l]) * inverse; /* row begin: -dl y_{t-1} on the right-hand side */
            g[l] = du[l] * inverse;
            in->p[i * lanes + l] = p[l];
            in->q[i * lanes + l] = q[l];
            in->r[i * lanes + l] = g[l];
        }
    }
}

/* Backward: x_i = (p_i + q_i y_{t-1}) - du'_i x_{i+1}, where x_last = y_t = 0 + 0 y_{t-1} + 1 y_t.
 */
PACK_INLINE void eliminate_backward(const inner *in, int64_t begin, int64_t last, const int lanes) {
    real p[LANES], q[LANES], r[LANES]; /* of the row behind */
    EACH_LANE(l, lanes) p[l] = q[l] = 0, r[l] = 1;
    for (int64_t i = last - 1; i >= begin; i--) EACH_LANE(l, lanes) {
            int64_t at = i * lanes + l;
            real g = in->r[at];
            p[l] = in->p[at] -= g * p[l];
            q[l] = in->q[at] -= g * q[l];
            r[l] = in->r[at] = -g * r[l];
        }
}

/* Row t of the reduced system, from the last row of chunk t, e, and its neighbours' relations. */
PACK_INLINE void reduced_row(const rows *to, int64_t t, const pack *s, const inner *in,
                             int64_t begin, int64_t e, const int lanes) {
    const int64_t n = s->n;
    const int left_inner = e > begin;  /* else x_{e-1} is y_{t-1} itself */
    const int right_inner = e + 2 < n; /* else x_{e+1} is y_{t+1} itself, or does not exist */
    EACH_LANE(l, lanes) {
        int64_t at = e * lanes + l, left = at - lanes, right = at + lanes;
        real dl = s->dl[at], du = s->du[at];
        real lp = left_inner ? in->p[left] : 0, rp = right_inner ? in->p[right] : 0;
        real lq = left_inner ? in->q[left] : 1, rq = right_inner ? in->q[right] : 0;
        real lr = left_inner ? in->r[left] : 0, rr = right_inner ? in->r[right] : 1;
        to->dl[t * lanes + l] = dl * lq;
        to->d[t * lanes + l] = s->d[at] + dl * lr + du * rq;
        to->du[t * lanes + l] = du * rr;
        to->b[t * lanes + l] = s->b[at] - dl * lp - du * rp;
    }
}

/* x_e = y_t = b / d of the reduced row, then x_i = p_i + q_i y_{t-1} + r_i y_t */
PACK_INLINE void substitute(const rows *reduced, int64_t t, const inner *in, real *x, int64_t begin,
                            int64_t e, const int lanes) {
    real before[LANES], own[LANES]; /* y_{t-1}, y_t */
    EACH_LANE(l, lanes) {
        before[l] = t ? x[(begin - 1) * lanes + l] : 0;
        own[l] = real_over_pivot(reduced->b[t * lanes + l], reduced->d[t * lanes + l]);
        x[e * lanes + l] = own[l];
    }
    for (int64_t i = begin; i < e; i++) EACH_LANE(l, lanes) {
            int64_t at = i * lanes + l;
            x[at] = in->p[at] + in->q[at] * before[l] + in->r[at] * own[l];
        }
}

PACK_INLINE int64_t last_of(int64_t t, int64_t n) {
    return (t + 1) * CHUNK < n ? (t + 1) * CHUNK - 1 : n - 1;
}

PACK_INLINE void eliminate_and_reduce(const pack *s, const int lanes) {
    real *const *w = s->scratch;
    const int64_t n = s->n, chunks = (n + CHUNK - 1) / CHUNK;
    const inner in = { s->x, w[0], w[1] };
    const rows rows_0 = { w[2], w[3], w[4], w[5] }, rows_1 = { w[6], w[7], w[8], w[9] };
    for (int64_t t = 0; t < chunks; t++) {
        eliminate_forward(s, &in, t * CHUNK, last_of(t, n), lanes);
        eliminate_backward(&in, t * CHUNK, last_of(t, n), lanes);
    }
    for (int64_t t = 0; t < chunks; t++)
        reduced_row(&rows_0, t, s, &in, t * CHUNK, last_of(t, n), lanes);
    const rows *reduced = reduce_by_strides(&rows_0, &rows_1, chunks, lanes);
    for (int64_t t = 0; t < chunks; t++)
        substitute(reduced, t, &in, s->x, t * CHUNK, last_of(t, n), lanes);
}

static void solve(const void *packed, int variant) {
    const pack *p = packed;
    (void)variant;
    PACK_CALL(p, eliminate_and_reduce, p);
}

const tridiag_cpu_method R(tridiag_hybrid) = { .scratch = 10, .solve = solve };
