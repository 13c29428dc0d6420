/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_quad.c - P A Pt = G J Gt in 128 bits, as the Fortran routine that Kruchinina's thesis compares with (Figure 3.22):
 * complete pivoting (its Algorithm 2), the 2 x 2 blocks of D diagonalised, columns of M scaled. One thread, n^3/3 operations
 * of software arithmetic: for some hundred rows.
 */
#include "bench/symindef_errors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if __SIZEOF_LONG_DOUBLE__ == 16 && !defined(__x86_64__)
typedef long double quad;
#else
__extension__ typedef __float128 quad;
#endif

typedef struct work {
    int64_t n;
    quad *a, *g; /* n x n: the reduced matrix; G, whose row i is row `order` i of A */
    int64_t *order;
    int *sign;
} work;

static quad absolute(quad v) { return v < 0 ? -v : v; }

/* From the root of double, twice as many digits with each step. */
static quad root(quad v) {
    quad r = v > 0 ? (quad)sqrt((double)v) : 0;
    for (int i = 0; i < 3 && v > 0; i++) r = (r + v / r) / 2;
    return r;
}

static void exchange(work *w, int64_t i, int64_t j) {
    const int64_t n = w->n, kept = w->order[i];
    if (i == j) return;
    for (int64_t k = 0; k < n; k++) {
        const quad row = w->a[i * n + k], below = w->g[i * n + k];
        w->a[i * n + k] = w->a[j * n + k], w->a[j * n + k] = row;
        w->g[i * n + k] = w->g[j * n + k], w->g[j * n + k] = below;
    }
    for (int64_t k = 0; k < n; k++) {
        const quad column = w->a[k * n + i];
        w->a[k * n + i] = w->a[k * n + j], w->a[k * n + j] = column;
    }
    w->order[i] = w->order[j], w->order[j] = kept;
}

/* Takes eigenvalue `value` of the pivot, whose unit eigenvector is v (of `order` numbers), as column `column` of G: c v /
 * sqrt|value| with c the columns k .. of the reduced matrix. */
static void append(work *w, int64_t k, int order, quad value, const quad *v, int64_t column) {
    const quad scale = 1 / root(absolute(value));
    w->sign[column] = value < 0 ? -1 : 1;
    for (int64_t i = k; i < w->n; i++) {
        quad sum = 0;
        for (int t = 0; t < order; t++) sum += w->a[i * w->n + k + t] * v[t];
        w->g[i * w->n + column] = sum * scale;
    }
}

/* One stage at row k; the order of its pivot. */
static int stage(work *w, int64_t k) {
    const int64_t n = w->n;
    int64_t d = k, row = k, column = k;
    for (int64_t i = k; i < n; i++) {
        if (absolute(w->a[i * n + i]) > absolute(w->a[d * n + d])) d = i;
        for (int64_t j = k; j < i; j++)
            if (row == column || absolute(w->a[i * n + j]) > absolute(w->a[row * n + column]))
                row = i, column = j;
    }
    const quad alpha = (1 + root(17)) / 8, most = absolute(w->a[d * n + d]);
    const quad off = row == column ? 0 : absolute(w->a[row * n + column]);
    if (most == 0 && off == 0) return 0;
    if (most >= alpha * off) {
        const quad one = 1;
        exchange(w, k, d);
        append(w, k, 1, w->a[k * n + k], &one, k);
        return 1;
    }
    exchange(w, k, column); /* column < row: row stays where it is */
    exchange(w, k + 1, row);
    const quad p = w->a[k * n + k], q = w->a[(k + 1) * n + k], r = w->a[(k + 1) * n + k + 1];
    const quad half = (r - p) / (2 * q); /* the rotation that diagonalises [p q; q r] */
    const quad t = (half < 0 ? -1 : 1) / (absolute(half) + root(1 + half * half));
    const quad c = 1 / root(1 + t * t), s = t * c;
    append(w, k, 2, p - t * q, (const quad[]){ c, -s }, k);
    append(w, k, 2, r + t * q, (const quad[]){ s, c }, k + 1);
    return 2;
}

static int make(work *w, const double *a, int64_t n) {
    const size_t numbers = (size_t)n * (size_t)n;
    *w = (work){ .n = n };
    w->a = malloc((numbers + 1) * sizeof *w->a), w->g = calloc(numbers + 1, sizeof *w->g);
    w->order = malloc(((size_t)n + 1) * sizeof *w->order);
    w->sign = calloc((size_t)n + 1, sizeof *w->sign);
    for (int64_t i = 0; w->order && i < n; i++) w->order[i] = i;
    for (size_t i = 0; w->a && i < numbers; i++) w->a[i] = (quad)a[i];
    return w->a && w->g && w->order && w->sign;
}

static void factor(work *w) {
    const int64_t n = w->n;
    int order;
    for (int64_t k = 0; k < n && (order = stage(w, k)) > 0; k += order)
        for (int64_t i = k + order; i < n; i++)
            for (int64_t j = k + order; j < n; j++)
                for (int t = 0; t < order; t++)
                    w->a[i * n + j] -=
                        (quad)w->sign[k + t] * w->g[i * n + k + t] * w->g[j * n + k + t];
}

double bench_quad_error(const double *a, int64_t n) {
    work w;
    double norm = 0;
    quad worst = 0;
    const int good = make(&w, a, n);
    if (good) factor(&w);
    for (int64_t i = 0; i < n && good; i++) {
        quad error = 0;
        double sum = 0;
        for (int64_t j = 0; j < n; j++) {
            const double given = a[w.order[i] * n + w.order[j]];
            quad left = (quad)given;
            for (int64_t k = 0; k < n; k++)
                left -= (quad)w.sign[k] * w.g[i * n + k] * w.g[j * n + k];
            error += absolute(left), sum += fabs(given);
        }
        if (!(error <= worst)) worst = error;
        if (sum > norm) norm = sum;
    }
    free(w.a), free(w.g), free(w.order), free(w.sign);
    return !good ? NAN : norm > 0 ? (double)(worst / (quad)norm) : (double)worst;
}
