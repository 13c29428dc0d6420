/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_kinds.c - the families of test systems: those of the paper on small symmetric systems
 * (its sections 2.2, 3.3 and 4.3), and awkward ones.
 *
 * Matrices of a given spectrum are Q diag(lambda) Qt, with Q a product of n - 1 random reflectors,
 * applied from both sides: 4 n^3 operations a system. All other kinds take n^2, or n^2 a path.
 */
#include "smallsym/generate_kinds.h"
#include "rng/normal.h"
#include <math.h>

static double *at(const smallsym_member *m, int64_t i, int64_t j) { return m->a + i * m->n + j; }

/* Number j of row i, uniform in (-1, 1). */
static double uniform_at(const smallsym_member *m, int64_t i, int64_t j) {
    const shoal_words w = smallsym_words(m, SMALLSYM_ENTRIES, i, j / 2);
    return smallsym_symmetric(&w, j % 2);
}

/* Numbers 0 .. count - 1 of row i, standard normal. */
static void normals_at(const smallsym_member *m, int64_t i, int64_t count, double *z) {
    for (int64_t j = 0; j < count; j += 2) {
        const shoal_words w = smallsym_words(m, SMALLSYM_ENTRIES, i, j / 2);
        const shoal_normals pair = shoal_normal_pair(&w);
        z[j] = pair.z[0];
        if (j + 1 < count) z[j + 1] = pair.z[1];
    }
}

static double dot(const double *u, const double *v, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += u[i] * v[i];
    return sum;
}

/* A := H A H, H = I - 2 v vt / vt v: with p = 2 A v / vt v and w = p - (vt p / vt v) v this is
 * A - v wt - w vt. A stays symmetric to the last bit. */
static void reflect(smallsym_member *m, const double *v, double *w) {
    const int64_t n = m->n;
    const double size = dot(v, v, n);
    for (int64_t i = 0; i < n; i++) w[i] = 2 * dot(at(m, i, 0), v, n) / size;
    const double along = dot(v, w, n) / size;
    for (int64_t i = 0; i < n; i++) w[i] -= along * v[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) *at(m, i, j) -= v[i] * w[j] + w[i] * v[j];
}

/* ---- Q R Qt, sections 3.3 and 4.3 ------------------------------------------------------------- */

/* Q of the Householder tridiagonalisation of Xi_rho = (1 - rho) I + rho 1 1t, equation (6), from
 * the last row up as in equation (11). The first reflector takes (1, .., 1) of the n - 1 leading
 * rows to a multiple of the last of them and so makes Xi_rho tridiagonal: it is all of Q, for every
 * rho. */
static void from_tridiagonal(smallsym_member *m) {
    const int64_t n = m->n;
    double *v = m->work, *w = v + n;
    if (n < 3) return;
    for (int64_t i = 0; i < n; i++) v[i] = i < n - 1;
    v[n - 2] += sqrt((double)(n - 1)); /* u = A(i,i-1) + sign sigma */
    reflect(m, v, w);
}

/* R: off-diagonals uniform in (-1, 1). */
static void off_diagonals(smallsym_member *m) {
    for (int64_t i = 0; i + 1 < m->n; i++)
        *at(m, i, i + 1) = *at(m, i + 1, i) = uniform_at(m, i, 0);
}

/* R(i,i) exceeds the sum of its row's other sizes by 1/4 to 5/4: conditions are below 21. */
static void spd(smallsym_member *m) {
    off_diagonals(m);
    for (int64_t i = 0; i < m->n; i++) {
        const double left = i ? fabs(*at(m, i, i - 1)) : 0;
        const double right = i + 1 < m->n ? fabs(*at(m, i, i + 1)) : 0;
        *at(m, i, i) = left + right + 0.75 + 0.5 * uniform_at(m, i, 1);
    }
    from_tridiagonal(m);
}

static void indefinite(smallsym_member *m) {
    off_diagonals(m);
    for (int64_t i = 0; i < m->n; i++) *at(m, i, i) = uniform_at(m, i, 1);
    from_tridiagonal(m);
}

/* ---- products of random matrices ------------------------------------------------------------- */

/* The leading block of `size` rows: G Gt / size + shift I. */
static void wishart_block(smallsym_member *m, int64_t size, double shift) {
    double *g = m->work;
    for (int64_t i = 0; i < size; i++) normals_at(m, i, size, g + i * size);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j <= i; j++)
            *at(m, i, j) = dot(g + i * size, g + j * size, size) / (double)size + (i == j) * shift;
}

static void wishart(smallsym_member *m) { wishart_block(m, m->n, m->parameter); }

/* [H Bt; B 0]. The leading square of B is strictly dominant by rows, so B has full rank and A has
 * as many negative eigenvalues as B has rows. */
static void kkt(smallsym_member *m) {
    const int64_t lower = m->n / 3, upper = m->n - lower;
    wishart_block(m, upper, 0.1);
    for (int64_t i = 0; i < lower; i++)
        for (int64_t j = 0; j < upper; j++) {
            const double u = uniform_at(m, upper + i, j);
            *at(m, upper + i, j) = i == j ? 1 + fabs(u) : u / (double)upper;
        }
}

/* ---- regression, section 2.2 ------------------------------------------------------------------ */

/* Figure 2: n - 1 independent assets of one Black-Scholes market at time t, psi = (1, S^1, ..,
 * S^{n-1}). A = (1/M) sum psi psit, b = (1/M) sum psi y over M paths. The payoff is a put on the
 * mean of the assets (0 if there are none), y = max(strike - mean, 0), the strike of right-hand
 * side c being 1 + c / 20. */
static void regress(smallsym_member *m, double centre, double scale) {
    const double sigma = 0.1, mu = 0.1, t = 0.1, spot = 1;
    const double drift = (mu - 0.5 * sigma * sigma) * t, spread = sigma * sqrt(t);
    const int64_t n = m->n, nrhs = m->nrhs, paths = (int64_t)m->parameter;
    double *psi = m->work;
    for (int64_t i = 0; i < n * nrhs; i++) m->b[i] = 0;
    for (int64_t p = 0; p < paths; p++) {
        double mean = 0;
        psi[0] = 1;
        normals_at(m, p, n - 1, psi + 1);
        for (int64_t i = 1; i < n; i++) {
            const double s = spot * shoal_exp(drift + spread * psi[i]);
            mean += s / (double)(n - 1);
            psi[i] = (s - centre) * scale;
        }
        for (int64_t i = 0; i < n; i++) {
            for (int64_t j = 0; j <= i; j++) *at(m, i, j) += psi[i] * psi[j] / (double)paths;
            for (int64_t c = 0; c < nrhs; c++) {
                const double y = 1 + (double)c / 20 - mean;
                m->b[i * nrhs + c] += psi[i] * (y > 0 ? y : 0) / (double)paths;
            }
        }
    }
}

static void regression(smallsym_member *m) { regress(m, 0, 1); }

/* The mean of S is exp(mu t), its variance exp(2 mu t) (exp(sigma^2 t) - 1). */
static void centred(smallsym_member *m) {
    const double mean = shoal_exp(0.01), variance = mean * mean * (shoal_exp(0.001) - 1);
    regress(m, mean, 1 / sqrt(variance));
}

/* ---- a given spectrum ------------------------------------------------------------------------- */

/* Stewart's product of reflectors by normal vectors of n, n - 1, .. 2 entries: Q is uniform over
 * all orthogonal matrices, but for signs. */
static void turn(smallsym_member *m) {
    const int64_t n = m->n;
    double *v = m->work, *w = v + n;
    for (int64_t s = 0; s + 1 < n; s++) {
        for (int64_t i = 0; i < s; i++) v[i] = 0;
        normals_at(m, s + 1, n - s, v + s);
        reflect(m, v, w);
    }
}

/* parameter^-share, by functions that have the same bits everywhere */
static double part_of_condition(const smallsym_member *m, double share) {
    return shoal_exp(-share * shoal_log(m->parameter));
}

enum { CLUSTERS = 4 };

static void clustered(smallsym_member *m) {
    const int64_t n = m->n, clusters = n < CLUSTERS ? n : CLUSTERS;
    for (int64_t i = 0; i < n; i++) {
        const int64_t cluster = i * clusters / n;
        const double share = clusters > 1 ? (double)cluster / (double)(clusters - 1) : 0;
        *at(m, i, i) = part_of_condition(m, share) * (1 + 0x1p-30 * uniform_at(m, 0, i));
    }
    turn(m);
}

static void spectrum(smallsym_member *m) {
    const int64_t n = m->n;
    for (int64_t i = 0; i < n; i++)
        *at(m, i, i) = part_of_condition(m, n > 1 ? (double)i / (double)(n - 1) : 0);
    turn(m);
}

static void deficient(smallsym_member *m) {
    const int64_t n = m->n, missing = n / 4 > 1 ? n / 4 : 1;
    double *z = m->work;
    for (int64_t i = 0; i < n - missing; i++) *at(m, i, i) = 1 + 0.5 * uniform_at(m, 0, i);
    turn(m);
    for (int64_t c = 0; c < m->nrhs; c++) { /* b := A b, which has a solution */
        for (int64_t i = 0; i < n; i++) z[i] = m->b[i * m->nrhs + c];
        for (int64_t i = 0; i < n; i++) m->b[i * m->nrhs + c] = dot(at(m, i, 0), z, n);
    }
}

/* The diagonal scaling by 1/2, 1 or 2 makes systems of one n differ. */
static void hilbert(smallsym_member *m) {
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const shoal_words row = smallsym_words(m, SMALLSYM_ENTRIES, i, 0),
                              column = smallsym_words(m, SMALLSYM_ENTRIES, j, 0);
            const int power = (int)(row.word[0] % 3) + (int)(column.word[0] % 3) - 2;
            *at(m, i, j) = ldexp(1 / (double)(i + j + 1), power);
        }
}

/* ---- faults, and the ends of the range -------------------------------------------------------- */

static int64_t chosen_row(const smallsym_member *m) {
    return (int64_t)(m->draw.word[1] % (uint64_t)m->n);
}

static void singular(smallsym_member *m) {
    spd(m);
    const uint64_t every = (uint64_t)m->parameter;
    if (m->system % every != every - 1) return;
    const int64_t zero = chosen_row(m);
    for (int64_t i = 0; i < m->n; i++) *at(m, i, zero) = *at(m, zero, i) = 0;
}

static void nonfinite(smallsym_member *m) {
    spd(m);
    if (m->system % 11 != 10) return;
    const double bad[] = { NAN, INFINITY, -INFINITY };
    const double value = bad[m->draw.word[2] % 3];
    const int64_t i = chosen_row(m);
    if (m->draw.word[3] % 4 == 0)
        m->b[i * m->nrhs] = value;
    else
        *at(m, i, (int64_t)(m->draw.word[0] % (uint64_t)(i + 1))) = value;
}

/* A and b by powers of two of their own, within 2^4 of 2^power: x is near 1. */
static void scaled_spd(smallsym_member *m, int power) {
    spd(m);
    const int of_a = power + (int)(m->draw.word[0] % 9) - 4;
    const int of_b = power + (int)(m->draw.word[1] % 9) - 4;
    for (int64_t i = 0; i < m->n * m->n; i++) m->a[i] = ldexp(m->a[i], of_a);
    for (int64_t i = 0; i < m->n * m->nrhs; i++) m->b[i] = ldexp(m->b[i], of_b);
}

static void huge(smallsym_member *m) { scaled_spd(m, 100); }
static void tiny(smallsym_member *m) { scaled_spd(m, -130); }

/* clang-format off */
#define NO_PARAMETER NULL, 0, 0, 0, 0
#define RHO          "rho, between 0 and 1", 0.5, 0x1p-1022, 1 - 0x1p-53, 0
#define SHIFT        "a shift of at least 0", 0.1, 0, 1e300, 0
#define EVERY        "a whole number, one system of which is singular", 7, 1, 1e9, 1
#define PATHS        "a whole number of paths", 300, 1, 1e9, 1
#define CONDITION(c) "a condition number of at least 1", c, 1, 1e300, 0

const smallsym_kind shoal_smallsym_kinds[] = {
    { "spd",        spd,        RHO,              "Q R Qt, R dominant, Q from Xi_rho of any rho in (0, 1): condition < 21" },
    { "indefinite", indefinite, RHO,              "Q R Qt, R random tridiagonal, Q from Xi_rho of any rho in (0, 1)" },
    { "wishart",    wishart,    SHIFT,            "G Gt / n + shift I, G normal; parameter: shift [0.1]" },
    { "regression", regression, PATHS,            "Black-Scholes regression, raw basis: condition 1e6; parameter: paths [300]" },
    { "centred",    centred,    PATHS,            "the same, centred and scaled basis: condition 3; parameter: paths [300]" },
    { "kkt",        kkt,        NO_PARAMETER,     "[H Bt; B 0], B of n / 3 rows: that many negative eigenvalues" },
    { "hilbert",    hilbert,    NO_PARAMETER,     "1 / (i + j + 1), rows and columns scaled by 1/2, 1 or 2" },
    { "clustered",  clustered,  CONDITION(1e3),   "eigenvalues in 4 tight clusters; parameter: condition [1e3]" },
    { "spectrum",   spectrum,   CONDITION(1e4),   "eigenvalues geometric from 1 down; parameter: condition [1e4]" },
    { "deficient",  deficient,  NO_PARAMETER,     "semidefinite, max(1, n / 4) eigenvalues are 0; b in the range of A" },
    { "singular",   singular,   EVERY,            "spd, but every so manyth system has a zero row and column [7]" },
    { "nonfinite",  nonfinite,  NO_PARAMETER,     "spd, but every 11th system holds one NaN or infinity" },
    { "huge",       huge,       NO_PARAMETER,     "spd, A and b scaled to about 2^100" },
    { "tiny",       tiny,       NO_PARAMETER,     "spd, A and b scaled to about 2^-130" },
    { .name = NULL }
};
/* clang-format on */
