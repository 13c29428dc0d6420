/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test systems of many kinds, made from (kind, seed, system, place) by Philox: the same
 * numbers for any batch, layout, thread count or machine. The kinds are those of the paper on small
 * symmetric systems (its sections 2.2, 3.3 and 4.3), and awkward ones.
 *
 * All is made in double, one system per thread at a time, in n^2 numbers of scratch beside A; float is
 * double, rounded. One triangle of a full A holds the matrix, the other NaN, which a solver has to
 * ignore; numbers between the rows (ld > n) and between systems are left as they are.
 *
 * Matrices of a given spectrum are Q diag(lambda) Qt, with Q a product of n - 1 random reflectors,
 * applied from both sides: 4 n^3 operations per system. All other kinds take n^2, or n^2 per path.
 */
#include "core/progress.h"
#include "rng/normal.h"
#include "smallsym/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One system in the making, in double. Its random words are named by kind, seed, system and a place
 * in the system; n^2 numbers fit in memory, so that a place has room for any i and j. */
typedef struct member {
    int kind;
    uint64_t seed, system;
    int64_t n, nrhs;
    double parameter;
    shoal_words draw; /* the system's own words                                          */
    double *a;        /* n x n, all zeros; the kind fills it; its lower triangle counts  */
    double *b;        /* n x nrhs, uniform in (-1, 1); the kind may change it            */
    double *work;     /* work_numbers(n) numbers                                        */
} member;

static int64_t work_numbers(int64_t n) { return n * n + 2 * n; }

typedef struct system_kind {
    const char *name;
    void (*fill)(member *m);
    const char *parameter;     /* what it may be; NULL: the kind has none  */
    double usual, least, most; /* its default and its range, ends included */
    int whole;                 /* it counts something                      */
    const char *text;
} system_kind;

enum { ENTRIES = 0x90, SYSTEMS = 0xd0 }; /* purposes (philox.h), plus the kind */

/* Block (i, j) of a purpose. */
static shoal_words words_at(const member *m, uint32_t purpose, int64_t i, int64_t j) {
    return shoal_philox_at(m->seed, m->system, (uint32_t)i, purpose + (uint32_t)m->kind,
                           (uint32_t)j & 0xfff, (uint32_t)(j >> 12));
}

/* Uniform in (-1, 1), never 0. */
static double symmetric(const shoal_words *w, int half) { return 2 * shoal_uniform(w, half) - 1; }

static double *at(const member *m, int64_t i, int64_t j) { return m->a + i * m->n + j; }

/* Number j of row i, uniform in (-1, 1). */
static double uniform_at(const member *m, int64_t i, int64_t j) {
    const shoal_words w = words_at(m, ENTRIES, i, j / 2);
    return symmetric(&w, j % 2);
}

/* Numbers 0 .. count - 1 of row i, standard normal. */
static void normals_at(const member *m, int64_t i, int64_t count, double *z) {
    for (int64_t j = 0; j < count; j += 2) {
        const shoal_words w = words_at(m, ENTRIES, i, j / 2);
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
static void reflect(member *m, const double *v, double *w) {
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
static void from_tridiagonal(member *m) {
    const int64_t n = m->n;
    double *v = m->work, *w = v + n;
    if (n < 3) return;
    for (int64_t i = 0; i < n; i++) v[i] = i < n - 1;
    v[n - 2] += sqrt((double)(n - 1)); /* u = A(i,i-1) + sign sigma */
    reflect(m, v, w);
}

/* R: off-diagonals uniform in (-1, 1). */
static void off_diagonals(member *m) {
    for (int64_t i = 0; i + 1 < m->n; i++)
        *at(m, i, i + 1) = *at(m, i + 1, i) = uniform_at(m, i, 0);
}

/* R(i,i) exceeds the sum of its row's other sizes by 1/4 to 5/4: conditions are below 21. */
static void spd(member *m) {
    off_diagonals(m);
    for (int64_t i = 0; i < m->n; i++) {
        const double left = i ? fabs(*at(m, i, i - 1)) : 0;
        const double right = i + 1 < m->n ? fabs(*at(m, i, i + 1)) : 0;
        *at(m, i, i) = left + right + 0.75 + 0.5 * uniform_at(m, i, 1);
    }
    from_tridiagonal(m);
}

static void indefinite(member *m) {
    off_diagonals(m);
    for (int64_t i = 0; i < m->n; i++) *at(m, i, i) = uniform_at(m, i, 1);
    from_tridiagonal(m);
}

/* ---- products of random matrices ------------------------------------------------------------- */

/* The leading block of `size` rows: G Gt / size + shift I. */
static void wishart_block(member *m, int64_t size, double shift) {
    double *g = m->work;
    for (int64_t i = 0; i < size; i++) normals_at(m, i, size, g + i * size);
    for (int64_t i = 0; i < size; i++)
        for (int64_t j = 0; j <= i; j++)
            *at(m, i, j) = dot(g + i * size, g + j * size, size) / (double)size + (i == j) * shift;
}

static void wishart(member *m) { wishart_block(m, m->n, m->parameter); }

/* [H Bt; B 0]. The leading square of B is strictly dominant by rows, so B has full rank and A has
 * as many negative eigenvalues as B has rows. */
static void kkt(member *m) {
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
static void regress(member *m, double centre, double scale) {
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

static void regression(member *m) { regress(m, 0, 1); }

/* The mean of S is exp(mu t), its variance exp(2 mu t) (exp(sigma^2 t) - 1). */
static void centred(member *m) {
    const double mean = shoal_exp(0.01), variance = mean * mean * (shoal_exp(0.001) - 1);
    regress(m, mean, 1 / sqrt(variance));
}

/* ---- a given spectrum ------------------------------------------------------------------------- */

/* Stewart's product of reflectors by normal vectors of n, n - 1, .. 2 entries: Q is uniform over
 * all orthogonal matrices, but for signs. */
static void turn(member *m) {
    const int64_t n = m->n;
    double *v = m->work, *w = v + n;
    for (int64_t s = 0; s + 1 < n; s++) {
        for (int64_t i = 0; i < s; i++) v[i] = 0;
        normals_at(m, s + 1, n - s, v + s);
        reflect(m, v, w);
    }
}

/* parameter^-share, by functions that have the same bits everywhere */
static double part_of_condition(const member *m, double share) {
    return shoal_exp(-share * shoal_log(m->parameter));
}

enum { CLUSTERS = 4 };

static void clustered(member *m) {
    const int64_t n = m->n, clusters = n < CLUSTERS ? n : CLUSTERS;
    for (int64_t i = 0; i < n; i++) {
        const int64_t cluster = i * clusters / n;
        const double share = clusters > 1 ? (double)cluster / (double)(clusters - 1) : 0;
        *at(m, i, i) = part_of_condition(m, share) * (1 + 0x1p-30 * uniform_at(m, 0, i));
    }
    turn(m);
}

static void spectrum(member *m) {
    const int64_t n = m->n;
    for (int64_t i = 0; i < n; i++)
        *at(m, i, i) = part_of_condition(m, n > 1 ? (double)i / (double)(n - 1) : 0);
    turn(m);
}

/* b := A b for every right-hand side: a singular system that has a solution. */
static void make_consistent(member *m) {
    const int64_t n = m->n;
    double *z = m->work;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) *at(m, j, i) = *at(m, i, j);
    for (int64_t c = 0; c < m->nrhs; c++) {
        for (int64_t i = 0; i < n; i++) z[i] = m->b[i * m->nrhs + c];
        for (int64_t i = 0; i < n; i++) m->b[i * m->nrhs + c] = dot(at(m, i, 0), z, n);
    }
}

static void deficient(member *m) {
    const int64_t n = m->n, missing = n / 4 > 1 ? n / 4 : 1;
    for (int64_t i = 0; i < n - missing; i++) *at(m, i, i) = 1 + 0.5 * uniform_at(m, 0, i);
    turn(m);
    make_consistent(m);
}

/* The diagonal scaling by 1/2, 1 or 2 makes systems of one n differ. */
static void hilbert(member *m) {
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++) {
            const shoal_words row = words_at(m, ENTRIES, i, 0), column = words_at(m, ENTRIES, j, 0);
            const int power = (int)(row.word[0] % 3) + (int)(column.word[0] % 3) - 2;
            *at(m, i, j) = ldexp(1 / (double)(i + j + 1), power);
        }
}

/* ---- singular to the last bit, or nearly ------------------------------------------------------ */

/* Whole numbers from -most to most in the place of number j of row i. */
static double whole_at(const member *m, int64_t i, int64_t j, int most) {
    return floor((uniform_at(m, i, j) + 1) / 2 * (2 * most + 1)) - most;
}

/* (1/M) sum psi psit over M < n samples of standard normals: rank M, but for rounding. */
static void underdetermined(member *m) {
    const int64_t n = m->n;
    const int64_t samples = (int64_t)ceil(m->parameter * (double)(n - 1));
    double *psi = m->work;
    for (int64_t p = 0; p < samples; p++) {
        normals_at(m, p, n, psi);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) *at(m, i, j) += psi[i] * psi[j] / (double)samples;
    }
    if (m->system % 2) make_consistent(m);
}

/* D - W of a graph whose edges have weights 1 to 4; of every two systems one has a b of sum zero. */
static void laplacian(member *m) {
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double weight = whole_at(m, i, j, 4);
            if (weight <= 0) continue;
            *at(m, i, j) = -weight;
            *at(m, i, i) += weight, *at(m, j, j) += weight;
        }
    if (m->system % 2) make_consistent(m);
}

/* Bt C B with C = diag(+-1) and B of n - 1 rows of -1, 0 and 1: whole numbers, a determinant of 0. */
static void integer(member *m) {
    const int64_t n = m->n;
    double *row = m->work;
    for (int64_t p = 0; p + 1 < n; p++) {
        const double sign = m->parameter > 0 && uniform_at(m, p, n) < 0 ? -1 : 1;
        for (int64_t i = 0; i < n; i++) row[i] = whole_at(m, p, i, 1);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) *at(m, i, j) += sign * row[i] * row[j];
    }
    if (m->system % 2) {
        for (int64_t i = 0; i < n * m->nrhs; i++) m->b[i] = floor(8 * m->b[i]);
        make_consistent(m);
    }
}

/* D (Wishart + I / 10) D, D falling from 1 by as many decades as the parameter has, in a random order;
 * b = D y. Scaled by its diagonal the matrix is as good as `wishart`. */
static void graded(member *m) {
    const int64_t n = m->n;
    wishart_block(m, n, 0.1);
    double *d = m->work;
    for (int64_t i = 0; i < n; i++)
        d[i] = shoal_exp(-m->parameter * shoal_log(10) / 2 * (1 + uniform_at(m, n, i)));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) *at(m, i, j) *= d[i] * d[j];
        for (int64_t c = 0; c < m->nrhs; c++) m->b[i * m->nrhs + c] *= d[i];
    }
}

/* `spectrum` with b the eigenvector of the largest eigenvalue, 1: x tells nothing about the others. */
static void dominant(member *m) {
    const int64_t n = m->n;
    spectrum(m);
    double *v = m->work, *w = v + n;
    for (int64_t i = 0; i < n; i++) v[i] = m->b[i * m->nrhs];
    for (int step = 0; step < 200; step++) { /* the power method */
        double most = 0;
        for (int64_t i = 0; i < n; i++) w[i] = dot(at(m, i, 0), v, n);
        for (int64_t i = 0; i < n; i++) most = fabs(w[i]) > most ? fabs(w[i]) : most;
        for (int64_t i = 0; i < n; i++) v[i] = w[i] / most;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < m->nrhs; c++) m->b[i * m->nrhs + c] = v[i];
}

/* ---- faults, and the ends of the range -------------------------------------------------------- */

static int64_t chosen_row(const member *m) { return (int64_t)(m->draw.word[1] % (uint64_t)m->n); }

static void singular(member *m) {
    spd(m);
    const uint64_t every = (uint64_t)m->parameter;
    if (m->system % every != every - 1) return;
    const int64_t zero = chosen_row(m);
    for (int64_t i = 0; i < m->n; i++) *at(m, i, zero) = *at(m, zero, i) = 0;
}

static void nonfinite(member *m) {
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
static void scaled_spd(member *m, int power) {
    spd(m);
    const int of_a = power + (int)(m->draw.word[0] % 9) - 4;
    const int of_b = power + (int)(m->draw.word[1] % 9) - 4;
    for (int64_t i = 0; i < m->n * m->n; i++) m->a[i] = ldexp(m->a[i], of_a);
    for (int64_t i = 0; i < m->n * m->nrhs; i++) m->b[i] = ldexp(m->b[i], of_b);
}

static void huge(member *m) { scaled_spd(m, 100); }
static void tiny(member *m) { scaled_spd(m, -130); }

/* clang-format off */
#define NO_PARAMETER NULL, 0, 0, 0, 0
#define RHO          "rho, between 0 and 1", 0.5, 0x1p-1022, 1 - 0x1p-53, 0
#define SHIFT        "a shift of at least 0", 0.1, 0, 1e300, 0
#define EVERY        "a whole number, one system of which is singular", 7, 1, 1e9, 1
#define PATHS        "a whole number of paths", 300, 1, 1e9, 1
#define SHARE        "a share of the n - 1 samples, above 0 and up to 1", 1, 0x1p-1022, 1, 0
#define SIGNS        "1 for an indefinite matrix, 0 for a semidefinite one", 1, 0, 1, 1
#define DECADES      "decades from 0 to 150", 10, 0, 150, 0
#define CONDITION(c) "a condition number of at least 1", c, 1, 1e300, 0

static const system_kind kinds[] = {
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
    { "underdetermined", underdetermined, SHARE, "(1/M) sum psi psit, psi normal, M = parameter (n - 1) samples [1]: rank M" },
    { "laplacian",  laplacian,  NO_PARAMETER,     "of a graph with weights 1 to 4: singular, A 1 = 0; every second b is consistent" },
    { "integer",    integer,    SIGNS,            "Bt C B, whole numbers of rank n - 1; parameter: 1, C = diag(+-1) [1]; 0, C = I" },
    { "graded",     graded,     DECADES,          "D (wishart) D, b = D y; parameter: decades of D [10]" },
    { "dominant",   dominant,   CONDITION(1e6),   "spectrum, b the eigenvector of the largest eigenvalue; parameter: condition [1e6]" },
};
/* clang-format on */

/* ---- systems ---------------------------------------------------------------------------------- */

const char *shoal_smallsym_kind(int i) {
    return i >= 0 && i < (int)(sizeof kinds / sizeof *kinds) ? kinds[i].name : NULL;
}

const char *shoal_smallsym_kind_text(int i) {
    return shoal_smallsym_kind(i) ? kinds[i].text : NULL;
}

/* One group of systems of equal size. */
typedef struct group {
    int64_t n, count;
    uint64_t first; /* number of its first system in the family */
    smallsym_shape shape;
    int64_t b_system, b_row;
    shoal_type type;
    void *A, *b; /* where it begins */
} group;

static void put(void *array, shoal_type type, int64_t at, double value) {
    if (type == SHOAL_F32)
        ((float *)array)[at] = (float)value;
    else
        ((double *)array)[at] = value;
}

static void make_system(member *m, const group *g, int64_t k) {
    const int64_t n = m->n, nrhs = m->nrhs, from = k * g->shape.system;
    m->system = g->first + (uint64_t)k;
    m->draw = words_at(m, SYSTEMS, 0, 0);
    for (int64_t i = 0; i < n * n; i++) m->a[i] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < nrhs; c++) {
            const shoal_words w = words_at(m, SYSTEMS, i + 1, c / 2);
            m->b[i * nrhs + c] = symmetric(&w, c % 2);
        }
    kinds[m->kind].fill(m);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            put(g->A, g->type, from + smallsym_at(&g->shape, i, j), m->a[i * n + j]);
            if (j < i && !g->shape.packed) /* the other triangle */
                put(g->A, g->type, from + j * g->shape.row + i * g->shape.column, NAN);
        }
        for (int64_t c = 0; c < nrhs; c++)
            put(g->b, g->type, (k * g->b_system + i * g->b_row) * nrhs + c, m->b[i * nrhs + c]);
    }
}

static shoal_status make_group(shoal_context *ctx, const member *family, const group *g) {
    const int64_t numbers = g->n * (g->n + family->nrhs) + work_numbers(g->n);
    int complete = 1;
    const shoal_stage stage = shoal_stage_begin(ctx, "systems");
#pragma omp parallel num_threads(ctx->threads) reduction(&& : complete)
    {
        member m = *family;
        m.n = g->n;
        m.a = malloc((size_t)numbers * sizeof(double));
        complete = m.a != NULL;
        m.b = complete ? m.a + m.n * m.n : NULL;
        m.work = complete ? m.b + m.n * m.nrhs : NULL;
#pragma omp for schedule(static)
        for (int64_t k = 0; k < g->count; k++)
            if (complete && !shoal_is_cancelled(ctx, k, g->count / ctx->threads + 1))
                make_system(&m, g, k);
        free(m.a);
    }
    const shoal_status status = shoal_stage_end(ctx, &stage, SHOAL_OK);
    if (complete) return status;
    return shoal_fail(ctx, SHOAL_E_NOMEM, "no memory to make systems of n = %lld", (long long)g->n);
}

/* ---- arguments -------------------------------------------------------------------------------- */

static shoal_status check_parameter(shoal_context *ctx, const system_kind *kind,
                                    double *parameter) {
    if (isnan(*parameter)) {
        *parameter = kind->usual;
        return SHOAL_OK;
    }
    if (!kind->parameter)
        return shoal_fail(ctx, SHOAL_E_ARG, "parameter is %g; kind '%s' has none", *parameter,
                          kind->name);
    if (*parameter < kind->least || *parameter > kind->most ||
        (kind->whole && *parameter != floor(*parameter)))
        return shoal_fail(ctx, SHOAL_E_ARG, "parameter is %g; kind '%s' takes %s", *parameter,
                          kind->name, kind->parameter);
    return SHOAL_OK;
}

static shoal_status generate(shoal_context *ctx, const char *kind, double parameter, uint64_t seed,
                             int64_t first, const shoal_smallsym_opts *o, shoal_type type, void *A,
                             void *b) {
    member family = { .seed = seed };
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK)
        status = shoal_find_kind(ctx, "smallsym", shoal_smallsym_kind, kind, "", &family.kind);
    if (status == SHOAL_OK) status = check_parameter(ctx, &kinds[family.kind], &parameter);
    if (status != SHOAL_OK) return status;
    if (!o) return shoal_fail(ctx, SHOAL_E_ARG, "shape is NULL");
    status = shoal_smallsym_check_sizes(ctx, o);
    if (status != SHOAL_OK) return status;
    family.parameter = parameter;
    family.nrhs = o->nrhs;
    const shoal_group one = { o->n, o->count };
    const shoal_group *groups = o->groups ? o->groups : &one;
    const int64_t group_count = o->groups ? o->group_count : 1;
    int64_t systems = 0; /* shoal_smallsym_check_sizes() has seen that the sum does not overflow */
    for (int64_t i = 0; i < group_count; i++) systems += groups[i].count;
    status = shoal_check_first(ctx, first, systems);
    group g = { .first = (uint64_t)first, .type = type, .A = A, .b = b };
    for (int64_t i = 0; i < group_count && status == SHOAL_OK; i++) {
        const int interleaved = o->layout == SHOAL_INTERLEAVED;
        const int64_t n = g.n = groups[i].n, count = g.count = groups[i].count;
        g.shape = shoal_smallsym_shape(o, n, count);
        g.b_system = interleaved ? 1 : n, g.b_row = interleaved ? count : 1;
        if (n > 0 && count > 0) {
            if (!A) return shoal_fail(ctx, SHOAL_E_ARG, "A is NULL");
            if (!b) return shoal_fail(ctx, SHOAL_E_ARG, "b is NULL");
            status = make_group(ctx, &family, &g);
        }
        g.first += (uint64_t)count;
        g.A = smallsym_from(g.A, type, (g.shape.packed ? n * (n + 1) / 2 : n * n) * count);
        g.b = smallsym_from(g.b, type, n * count * o->nrhs);
    }
    return status;
}

shoal_status shoal_smallsym_generate(shoal_context *ctx, const char *kind, double parameter,
                                     uint64_t seed, int64_t first, const shoal_smallsym_opts *shape,
                                     double *A, double *b) {
    return generate(ctx, kind, parameter, seed, first, shape, SHOAL_F64, A, b);
}

shoal_status shoal_smallsym_generatef(shoal_context *ctx, const char *kind, double parameter,
                                      uint64_t seed, int64_t first,
                                      const shoal_smallsym_opts *shape, float *A, float *b) {
    return generate(ctx, kind, parameter, seed, first, shape, SHOAL_F32, A, b);
}
