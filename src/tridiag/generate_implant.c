/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_implant.c - singular diagonal blocks in #18 and #1 of the g-Spike paper (section 4,
 * Tables 3 to 5), or singular interiors of blocks.
 *
 * The system is divided into blocks of `size` rows, from row `offset` on; rows that fill no block
 * are left alone. Of the blocks `implants` are changed, evenly spread: those that hold the middles
 * of that many equal parts of the system. A change keeps what couples a block to its neighbours, so
 * that the whole matrix is not singular but for chance.
 *
 *     shifted  the diagonal of -1 4 -1 less its smallest eigenvalue, 4 - 2 cos(pi / (m + 1))
 *     gram     X X^T, X normal with m rows and m - 1 columns, reduced to tridiagonal form
 *     hidden   Q D Q^T, Q random orthogonal, D = diag(0, 1 .. 2 at random), reduced likewise. The null
 *              vector lives in the first rows of the block: where the last diagonal entry of R, of a
 *              QR factorisation, is 0 or small in the other two cases, it is near 1 here. A block that
 *              begins with row 0 is turned around, since nothing above it could keep the whole matrix
 *              from being singular. (The paper does not give its D.)
 *
 * An inner change is that of the m = size - 2 rows between the first and the last of a block; a
 * partition method that eliminates them alone (one carry row at each end) fails there. A block costs
 * about 5 m^3 operations, 10 for hidden.
 */
#include "rng/normal.h"
#include "tridiag/generate_paper.h"
#include <math.h>

/* One block in the making: m rows, random words by its number. */
typedef struct block {
    const tridiag_source *of;
    int64_t number, m;
    double *s, *x;          /* m x m each */
    double *diagonal, *off; /* its tridiagonal form */
    double *v, *w;          /* m each */
    int uppermost;          /* no row is above it */
} block;

/* ---- dense symmetric matrices ----------------------------------------------------------------- */

static double dot(const double *u, const double *v, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += u[i] * v[i];
    return sum;
}

static void normals(const block *k, int64_t row, int64_t count, double *z) {
    for (int64_t j = 0; j < count; j += 2) {
        const shoal_words w = tridiag_words(k->of, TRIDIAG_OF_BLOCKS, k->number, row << 8 | j / 2);
        const shoal_normals pair = shoal_normal_pair(&w);
        z[j] = pair.z[0];
        if (j + 1 < count) z[j + 1] = pair.z[1];
    }
}

/* The trailing square from row `first` becomes H S H, H = I - 2 v vt / vt v (v from v[first]):
 * S - v wt - w vt, w = p - (vt p / vt v) v, p = 2 S v / vt v. */
static void reflect(block *k, int64_t first) {
    const int64_t m = k->m, n = m - first;
    const double *v = k->v + first;
    double *w = k->w + first;
    const double size = dot(v, v, n);
    if (size == 0) return;
    for (int64_t i = 0; i < n; i++) w[i] = 2 * dot(k->s + (first + i) * m + first, v, n) / size;
    const double along = dot(v, w, n) / size;
    for (int64_t i = 0; i < n; i++) w[i] -= along * v[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            k->s[(first + i) * m + first + j] -= v[i] * w[j] + w[i] * v[j];
}

/* Householder's reduction from the first column on, as MATLAB's hess does it. */
static void reduce(block *k) {
    const int64_t m = k->m;
    for (int64_t j = 0; j < m; j++) {
        double *column = k->s + j * m; /* also row j */
        k->diagonal[j] = column[j];
        if (j + 1 == m) break;
        const double norm = sqrt(dot(column + j + 1, column + j + 1, m - j - 1));
        k->off[j] = j + 2 == m ? column[j + 1] : column[j + 1] > 0 ? -norm : norm;
        if (j + 2 == m) continue;
        for (int64_t i = j + 1; i < m; i++) k->v[i] = column[i];
        k->v[j + 1] -= k->off[j];
        reflect(k, j + 1);
    }
}

/* ---- singular blocks -------------------------------------------------------------------------- */

typedef void block_rule(block *k);

static void shifted(block *k) {
    double sine, cosine;
    shoal_sincospi(1 / (double)(k->m + 1), &sine, &cosine);
    for (int64_t i = 0; i < k->m; i++) k->diagonal[i] = 2 * cosine, k->off[i] = -1;
}

static void gram(block *k) {
    const int64_t m = k->m;
    for (int64_t i = 0; i < m; i++) {
        normals(k, i, m - 1, k->x + i * m);
        for (int64_t j = 0; j <= i; j++)
            k->s[i * m + j] = k->s[j * m + i] = dot(k->x + i * m, k->x + j * m, m - 1);
    }
    reduce(k);
}

static void swap(double *u, double *v) {
    const double kept = *u;
    *u = *v, *v = kept;
}

static void hidden(block *k) {
    const int64_t m = k->m;
    for (int64_t i = 0; i < m * m; i++) k->s[i] = 0;
    for (int64_t i = 1; i < m; i++) {
        const shoal_words w = tridiag_words(k->of, TRIDIAG_OF_BLOCKS, k->number, i << 8 | 0xff);
        k->s[i * m + i] = 1 + shoal_uniform(&w, 0);
    }
    /* Stewart's product of reflectors, the shortest first: Q is uniform, but for signs. */
    for (int64_t i = m - 2; i >= 0; i--) {
        normals(k, i, m - i, k->v + i);
        reflect(k, i);
    }
    reduce(k);
    if (!k->uppermost) return;
    for (int64_t i = 0, l = m - 1; i < l; i++, l--) swap(&k->diagonal[i], &k->diagonal[l]);
    for (int64_t i = 0, l = m - 2; i < l; i++, l--) swap(&k->off[i], &k->off[l]);
}

/* ---- which blocks, and where ------------------------------------------------------------------ */

/* Is block k of `blocks` the floor((2t+1) blocks / (2 implants))th for some t? */
static int chosen(int64_t k, int64_t blocks, int64_t implants) {
    if (blocks <= 0 || implants <= 0) return 0;
    if (implants >= blocks) return 1;
    const uint64_t b = (uint64_t)blocks, twice = 2 * (uint64_t)implants;
    const uint64_t from = (twice * (uint64_t)k + b - 1) / b; /* 2t + 1 >= twice k / b */
    const uint64_t odd = from | 1;
    return odd * b < twice * ((uint64_t)k + 1); /* and < twice (k + 1) / b */
}

static void change(const tridiag_source *s, const tridiag_rows *r, block_rule *make, int inner) {
    const int64_t blocks = s->n > s->offset ? (s->n - s->offset) / s->size : 0;
    const int64_t m = s->size - 2 * inner, end = r->first + r->count;
    block one = { .of = s, .m = m, .s = r->work };
    one.x = one.s + m * m;
    one.diagonal = one.x + m * m, one.off = one.diagonal + m;
    one.v = one.off + m, one.w = one.v + m;
    int64_t k = r->first > s->offset ? (r->first - s->offset) / s->size : 0;
    for (; k < blocks && s->offset + k * s->size < end; k++) {
        if (!chosen(k, blocks, s->implants)) continue;
        const int64_t top = s->offset + k * s->size + inner;
        one.number = k, one.uppermost = top == 0;
        make(&one);
        for (int64_t t = 0; t < m; t++) {
            const int64_t at = top + t - r->first;
            if (at < 0 || at >= r->count) continue;
            r->d[at] = one.diagonal[t];
            if (t > 0) r->dl[at] = one.off[t - 1];
            if (t + 1 < m) r->du[at] = one.off[t];
        }
    }
}

void shoal_tridiag_shifted(const tridiag_source *s, const tridiag_rows *r) {
    change(s, r, shifted, 0);
}

void shoal_tridiag_gram(const tridiag_source *s, const tridiag_rows *r) { change(s, r, gram, 0); }

void shoal_tridiag_hidden(const tridiag_source *s, const tridiag_rows *r) {
    change(s, r, hidden, 0);
}

void shoal_tridiag_shifted_inner(const tridiag_source *s, const tridiag_rows *r) {
    change(s, r, shifted, 1);
}

void shoal_tridiag_gram_inner(const tridiag_source *s, const tridiag_rows *r) {
    change(s, r, gram, 1);
}

void shoal_tridiag_hidden_inner(const tridiag_source *s, const tridiag_rows *r) {
    change(s, r, hidden, 1);
}
