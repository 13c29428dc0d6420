/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.c - eigenpairs of a pack by Householder tridiagonalisation, A = Q U Qt, and divide and
 * conquer of U = O W Ot, section 5 of the paper on small symmetric systems; and A x = b from them.
 *
 * As a solver: x = Q O W^-1 Ot Qt b, in which eigenvalues with |w| < max|w| / cond are discarded:
 * what is left is the x of least norm for a matrix of that lower rank. V = Q O is formed only where
 * eigenvectors are asked for.
 *
 * One lane per system in Q, in V and in the products with vectors; divide and conquer goes lane after
 * lane. (2/3) n^3 multiply-adds per lane for U, about (2/3) n^3 for O, n^3 for V; n^2 each for Qt b,
 * Ot, O and Q.
 */
#include "smallsym/conquer.h"
#include "smallsym/householder.h"

typedef struct eigen { /* the parts of a pack's scratch */
    householder h;
    real *w;    /* eigenvalues, ascending                                             */
    real *v;    /* eigenvectors: component i of number m at row i * n + m             */
    real *y;    /* a vector                                                           */
    real *lane; /* room for divide and conquer of one lane                            */
} eigen;

static size_t eigdc_scratch(int64_t n) {
    return householder_numbers(n) + (size_t)(2 * n + n * n) + lane_numbers(n) / LANES;
}

static eigen eigen_of(const pack *p) {
    const int64_t n = p->n;
    real *w = p->scratch + householder_numbers(n) * LANES, *v = w + at_row(n);
    return (eigen){ householder_in(p->scratch, n), w, v, v + at_row(n * n), v + at_row(n * n + n) };
}

/* Eigenpairs of the tridiagonal matrices d, c, lane after lane. */
static void diagonalise_pack(const eigen *e, const real *d, const real *c, int64_t n, int variant) {
    const lane u = lane_in(e->lane, n);
    for (int l = 0; l < LANES; l++) {
        for (int64_t i = 0; i < n; i++) {
            u.d[i] = d[at_row(i) + l];
            u.c[i] = i + 1 < n ? c[at_row(i) + l] : 0;
        }
        const int finite = diagonalise(&u, variant);
        for (int64_t m = 0; m < n; m++) {
            e->w[at_row(m) + l] = finite ? u.d[u.order[m]] : real_nan();
            for (int64_t i = 0; i < n; i++)
                e->v[at_row(i * n + m) + l] = finite ? u.o[i * u.ld + u.order[m]] : real_nan();
        }
    }
}

static int discarded(real w, real most, double cond) {
    return w == 0 || (double)real_abs(w) < (double)most / cond;
}

/* The outcome of each lane by its eigenvalues, discarded ones counted as zeros. */
static void fill_outcome(pack *p, const eigen *e) {
    for (int l = 0; l < LANES && p->n > 0; l++) {
        const real first = real_abs(e->w[l]), final = real_abs(e->w[at_row(p->n - 1) + l]);
        const real most = real_max(first, final);
        int32_t positive = 0, negative = 0;
        real least = most;
        for (int64_t m = 0; m < p->n; m++) {
            const real w = e->w[at_row(m) + l];
            if (discarded(w, most, p->cond)) continue;
            positive += w > 0;
            negative += w < 0;
            least = real_min(real_abs(w), least);
        }
        p->outcome.positive[l] = positive;
        p->outcome.negative[l] = negative;
        p->outcome.rank[l] = positive + negative;
        p->outcome.zero[l] = (int32_t)p->n - p->outcome.rank[l];
        p->outcome.rcond[l] = most > 0 ? (float)(least / most) : 0;
    }
}

static void eigdc_factor(pack *p, int variant) {
    const eigen e = eigen_of(p);
    tridiagonalise(&e.h, p->a, p->n);
    diagonalise_pack(&e, e.h.d, e.h.c, p->n, variant);
    fill_outcome(p, &e);
    for (int l = 0; l < LANES; l++)
        if (p->outcome.zero[l] > 0) p->outcome.status[l] = SHOAL_SYSTEM_TRUNCATED;
}

/* x = Q O W^-1 Ot Qt b; 1 / w is 0 for a discarded w. */
static void eigdc_solve(pack *p, int variant) {
    (void)variant;
    const eigen e = eigen_of(p);
    const int64_t n = p->n;
    real sum[LANES];
    memcpy(p->x, p->b, (size_t)at_row(n) * sizeof(real));
    apply_transposed(&e.h, n, p->x);
    memset(e.y, 0, (size_t)at_row(n) * sizeof(real));
    for (int64_t i = 0; i < n; i++)
        for (int64_t m = 0; m < n; m++) {
            const real *v = e.v + at_row(i * n + m), *x = p->x + at_row(i);
            real *y = e.y + at_row(m);
            EACH_LANE(l) y[l] = real_mad(v[l], x[l], y[l]);
        }
    for (int l = 0; l < LANES; l++) {
        const real most = n ? real_max(real_abs(e.w[l]), real_abs(e.w[at_row(n - 1) + l])) : 0;
        for (int64_t m = 0; m < n; m++) {
            const real w = e.w[at_row(m) + l];
            real *y = &e.y[at_row(m) + l];
            *y = discarded(w, most, p->cond) ? 0 : *y / w;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        memset(sum, 0, sizeof sum);
        for (int64_t m = 0; m < n; m++) {
            const real *v = e.v + at_row(i * n + m), *y = e.y + at_row(m);
            EACH_LANE(l) sum[l] = real_mad(v[l], y[l], sum[l]);
        }
        memcpy(p->x + at_row(i), sum, sizeof sum);
    }
    apply_q(&e.h, n, p->x, 1);
}

static void eigdc_eigen(pack *p, int variant, int tridiagonal, int vectors) {
    const eigen e = eigen_of(p);
    if (!tridiagonal) tridiagonalise(&e.h, p->a, p->n);
    diagonalise_pack(&e, tridiagonal ? p->a : e.h.d, tridiagonal ? p->a + at_row(p->n) : e.h.c,
                     p->n, variant);
    fill_outcome(p, &e);
    if (vectors && !tridiagonal) apply_q(&e.h, p->n, e.v, p->n);
    p->w = e.w, p->v = e.v;
}

const smallsym_cpu_method R(smallsym_eigdc) = {
    .scratch = eigdc_scratch, .factor = eigdc_factor, .solve = eigdc_solve, .eigen = eigdc_eigen
};
