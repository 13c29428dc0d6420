/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_complete.c - complete (Bunch-Parlett) pivoting as most programs would write it on a CPU: Kruchinina's thesis,
 * Algorithm 2, on packed columns of the lower triangle, one thread. Each stage searches the reduced
 * matrix in one pass and updates it in another: 24 bytes per entry and stage in double. LAPACK has no
 * such routine. Built once per type with -O2, as a user would.
 */
#include "bench/peers_foreign.h"

#include "core/real.h"

/* Entry (i,j), i >= j, is number column(n, j) + i. */
static int64_t column(int64_t n, int64_t j) { return j * (2 * n - 1 - j) / 2; }

typedef struct largest {
    real off, diagonal; /* sizes      */
    int64_t p, q, r;    /* and places */
} largest;

static largest search(int64_t n, const real *a, int64_t k) {
    largest found = { .off = 0, .diagonal = -1, .r = k };
    for (int64_t j = k; j < n; j++) {
        const real *c = a + column(n, j);
        if (real_abs(c[j]) > found.diagonal) found.diagonal = real_abs(c[j]), found.r = j;
        for (int64_t i = j + 1; i < n; i++)
            if (real_abs(c[i]) > found.off) found.off = real_abs(c[i]), found.p = j, found.q = i;
    }
    return found;
}

static void exchange(real *x, real *y) {
    const real kept = *x;
    *x = *y;
    *y = kept;
}

/* Rows and columns p <= q, those of M before column p too. */
static void swap_rows(int64_t n, real *a, int64_t p, int64_t q) {
    if (p == q) return;
    real *cp = a + column(n, p), *cq = a + column(n, q);
    for (int64_t j = 0; j < p; j++) exchange(a + column(n, j) + p, a + column(n, j) + q);
    for (int64_t i = p + 1; i < q; i++) exchange(cp + i, a + column(n, i) + q);
    for (int64_t i = q + 1; i < n; i++) exchange(cp + i, cq + i);
    exchange(cp + p, cq + q);
}

/* A(i,j) -= C(i,k) M(j,k) */
static void eliminate_one(int64_t n, real *a, int64_t k, real *m) {
    real *c = a + column(n, k);
    for (int64_t i = k + 1; i < n; i++) m[i] = c[i] / c[k];
    for (int64_t j = k + 1; j < n; j++) {
        real *to = a + column(n, j);
        for (int64_t i = j; i < n; i++) to[i] -= c[i] * m[j];
    }
    for (int64_t i = k + 1; i < n; i++) c[i] = m[i];
}

/* The same of two columns at once: M = C P^-1, |P(1,0)| being the largest of P. */
static void eliminate_two(int64_t n, real *a, int64_t k, real *m0, real *m1) {
    real *c0 = a + column(n, k), *c1 = a + column(n, k + 1);
    const real off = c0[k + 1], d0 = c0[k] / off, d1 = c1[k + 1] / off;
    const real scale = 1 / (d0 * d1 - 1);
    for (int64_t i = k + 2; i < n; i++) {
        m0[i] = scale * (d1 * c0[i] - c1[i]) / off;
        m1[i] = scale * (d0 * c1[i] - c0[i]) / off;
    }
    for (int64_t j = k + 2; j < n; j++) {
        real *to = a + column(n, j);
        for (int64_t i = j; i < n; i++) to[i] -= c0[i] * m0[j] + c1[i] * m1[j];
    }
    for (int64_t i = k + 2; i < n; i++) c0[i] = m0[i], c1[i] = m1[i];
}

void R(complete_loop)(int64_t n, real *a, real *room, int32_t *interchanges) {
    const real alpha = (1 + real_sqrt(17)) / 8;
    real tol = -1;
    for (int64_t i = 0; i < n; i++) interchanges[i] = (int32_t)(i + 1);
    for (int64_t k = 0; k < n;) {
        const largest found = search(n, a, k);
        const real size = real_max(found.off, found.diagonal);
        if (tol < 0) tol = size * REAL_EPSILON;
        if (!(size > tol)) return; /* what is left is zero to rounding */
        if (found.diagonal >= alpha * found.off) {
            swap_rows(n, a, k, found.r);
            eliminate_one(n, a, k, room);
            interchanges[k++] = (int32_t)(found.r + 1);
        } else {
            swap_rows(n, a, k, found.p);
            swap_rows(n, a, k + 1, found.q); /* q > p >= k: it has not moved */
            eliminate_two(n, a, k, room, room + n);
            interchanges[k] = (int32_t)(found.p + 1);
            interchanges[k + 1] = -(int32_t)(found.q + 1);
            k += 2;
        }
    }
}
