/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_randsvd.c - #8 to #11 of the g-Spike paper: gallery('randsvd', n, 1e15, mode, 1, 1) of
 * MATLAB, a tridiagonal matrix with given singular values.
 *
 * MATLAB takes S = diag(sigma), random orthogonal U and V, and reduces A = U S V to tridiagonal form
 * P A Q by reflectors from both sides, P and Q keeping the first unit vector: n^2 numbers and a
 * multiple of n^3 operations. What it gets depends on p = U^T e_1 and q = V e_1 alone, two
 * independent uniform directions, up to signs: column 1 of P A Q fixes the second row of P, row 1
 * the second column of Q, and so on (Saunders, Simon and Yip, 1988). So the same matrix, with the
 * same law, comes from the bordered one
 *
 *     [ 0  q^T ]        [ 0       g e_1^T ]
 *     [ p  S   ]   to   [ h e_1   T       ]   by rotations from both sides,
 *
 * p and q normal. They are applied as Gragg and Harwood (1984) do for symmetric matrices: T has k
 * rows, a new (p_k, sigma_k, q_k) is put below it, and its entries beside the border are rotated
 * away, which moves them one row down, until they arrive at the end. n^2/2 steps of two rotations,
 * 3 n numbers, nothing but rotations: singular values are kept to some units of roundoff of the
 * largest. Last, rows and columns get random signs. Measured condition: docs/tridiag.md.
 *
 * Up to TRIDIAG_PIECE rows the matrix is one of these. A larger one is the direct sum of matrices of
 * PART rows, which share out the n singular values among them, every so manyth to each: 256 steps a
 * row instead of n/2, the same singular values, but also reducible at every PART rows.
 */
#include "rng/normal.h"
#include "tridiag/generate_paper.h"
#include <math.h>

enum { PART = 512, DRAW_DIRECTIONS = 1, DRAW_SIGNS };

static const double kappa = 1e15;

typedef double sigma_rule(int64_t k, int64_t n); /* singular value k of n, k = 0 .. n-1 */

static double one_small(int64_t k, int64_t n) { return k == n - 1 && n > 1 ? 1 / kappa : 1; }

static double one_large(int64_t k, int64_t n) {
    (void)n;
    return k > 0 ? 1 / kappa : 1;
}

static double geometric(int64_t k, int64_t n) {
    if (k == 0) return 1;
    return shoal_exp(-(double)k / (double)(n - 1) * shoal_log(kappa));
}

static double arithmetic(int64_t k, int64_t n) {
    if (k == 0) return 1;
    return ((double)(n - 1 - k) + (double)k / kappa) / (double)(n - 1);
}

typedef struct rotation { /* takes (f, g) to (r, 0) */
    double c, s, r;
} rotation;

static rotation rotate_away(double f, double g) {
    const double r = sqrt(f * f + g * g);
    if (r == 0) return (rotation){ 1, 0, 0 };
    const double inverse = 1 / r;
    return (rotation){ f * inverse, g * inverse, r };
}

static void rotate(const rotation *by, double *x, double *y) {
    const double u = by->c * *x + by->s * *y;
    *y = by->c * *y - by->s * *x;
    *x = u;
}

/* T in part; beside, the border (*h, *g). The new row and column e is coupled to row i - 1 (the
 * border for i = 0) by up = (i-1, e) and left = (e, i-1), to row i by (i, e) and (e, i). */
static void insert(const tridiag_rows *part, int64_t k, double *h, double *g, double p, double q,
                   double sigma) {
    double *dl = part->dl, *d = part->d, *du = part->du;
    double up = q, left = p, ie = 0, ei = 0, ee = sigma;
    for (int64_t i = 0; i < k; i++) {
        double *above = i > 0 ? &du[i - 1] : g, *before = i > 0 ? &dl[i] : h;
        double next_ie = 0, next_ei = 0;
        const rotation columns = rotate_away(*above, up); /* columns i and e: (i-1, e) = 0 */
        *above = columns.r;
        rotate(&columns, &d[i], &ie);
        rotate(&columns, &ei, &ee);
        if (i + 1 < k) rotate(&columns, &dl[i + 1], &next_ie);
        const rotation rows = rotate_away(*before, left); /* rows i and e: (e, i-1) = 0 */
        *before = rows.r;
        rotate(&rows, &d[i], &ei);
        rotate(&rows, &ie, &ee);
        if (i + 1 < k) rotate(&rows, &du[i], &next_ei);
        up = ie, left = ei, ie = next_ie, ei = next_ei;
    }
    if (k > 0) du[k - 1] = up, dl[k] = left;
    d[k] = ee;
}

/* T of part->count rows. Its singular value t is number of(t) of the system. */
static void make_part(const tridiag_source *s, const tridiag_rows *part, sigma_rule *sigma,
                      int64_t which, int64_t parts, int64_t shortest) {
    double h = 0, g = 0;
    for (int64_t t = 0; t < part->count; t++) {
        const int64_t of = t < shortest ? t * parts + which
                                        : shortest * parts + (t - shortest) * (parts - 1) + which;
        const shoal_words w = tridiag_words(s, TRIDIAG_OF_SYSTEM, part->first + t, DRAW_DIRECTIONS);
        const shoal_normals z = shoal_normal_pair(&w);
        if (t == 0) h = z.z[0], g = z.z[1];
        insert(part, t, &h, &g, z.z[0], z.z[1], sigma(of, s->n));
    }
    part->dl[0] = part->du[part->count - 1] = 0;
    int before = 0, column = 0, row = 0;
    for (int64_t t = 0; t <= part->count; t++) { /* signs of row t - 1 and of the columns around */
        const shoal_words w = tridiag_words(s, TRIDIAG_OF_SYSTEM, part->first + t, DRAW_SIGNS);
        const int after = (int)(w.word[0] & 1);
        if (t > 0) {
            if (row ^ before) part->dl[t - 1] = -part->dl[t - 1];
            if (row ^ column) part->d[t - 1] = -part->d[t - 1];
            if (row ^ after) part->du[t - 1] = -part->du[t - 1];
        }
        before = column, column = after, row = (int)(w.word[1] & 1);
    }
}

static void make(const tridiag_source *s, const tridiag_rows *r, sigma_rule *sigma) {
    const int64_t most = s->n <= TRIDIAG_PIECE ? s->n : PART, parts = (s->n + most - 1) / most;
    const int64_t shortest = s->n - (parts - 1) * most;
    for (int64_t from = 0; from < r->count; from += most) {
        const int64_t left = r->count - from;
        const tridiag_rows part = { .first = r->first + from,
                                    .count = left < most ? left : most,
                                    .dl = r->dl + from,
                                    .d = r->d + from,
                                    .du = r->du + from };
        make_part(s, &part, sigma, part.first / most, parts, shortest);
    }
}

void shoal_tridiag_one_small(const tridiag_source *s, const tridiag_rows *r) {
    make(s, r, one_small);
}

void shoal_tridiag_geometric(const tridiag_source *s, const tridiag_rows *r) {
    make(s, r, geometric);
}

void shoal_tridiag_one_large(const tridiag_source *s, const tridiag_rows *r) {
    make(s, r, one_large);
}

void shoal_tridiag_arithmetic(const tridiag_source *s, const tridiag_rows *r) {
    make(s, r, arithmetic);
}
