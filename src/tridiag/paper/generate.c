/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - the matrices of the g-Spike paper: its collection #1 to #21 (Table A.1), the singular
 * blocks of its Tables 3 to 5, its Figure 1, and the table of all these kinds.
 *
 * Indices here begin with 0, so that row i is MATLAB's row i + 1. The functions of MATLAB's gallery
 * are written out below. The paper runs #1 to #21 at n = 4096; condition numbers in the texts are
 * for that order, and for a random kind those of the paper's own draw or a range over draws.
 */
#include "tridiag/paper/generate.h"
#include "rng/normal.h"
#include <math.h>

/* ---- rules: a row at a time ------------------------------------------------------------------ */

/* #1: all entries uniform in (-1, 1). */
static tridiag_entries all_random(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)given;
    const shoal_words off = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_OFF_DIAGONALS);
    const shoal_words diagonal = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_DIAGONAL);
    return (tridiag_entries){ tridiag_symmetric(&off, 0), tridiag_symmetric(&diagonal, 0),
                              tridiag_symmetric(&off, 1) };
}

/* #1's off-diagonals with another diagonal. */
static tridiag_entries with_diagonal(const tridiag_source *s, int64_t i, tridiag_entries given) {
    tridiag_entries e = all_random(s, i, given);
    e.d = given.d;
    return e;
}

/* The same numbers in all rows. */
static tridiag_entries constant(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)s, (void)i;
    return given;
}

/* #2 and #6 are Toeplitz: one dl and one du for all rows. */
static tridiag_entries toeplitz(const tridiag_source *s, int64_t i, tridiag_entries given) {
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_SYSTEM, 0, 0);
    (void)i;
    return (tridiag_entries){ tridiag_symmetric(&w, 0), given.d, tridiag_symmetric(&w, 1) };
}

/* #3, gallery('lesp', n): eigenvalues real, negative and sensitive. */
static tridiag_entries lesp(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)s, (void)given;
    const double k = (double)(i + 1);
    return (tridiag_entries){ 1 / k, -(2 * k + 3), k + 1 };
}

/* #4: the one entry L(n/2+1, n/2) is almost 0. */
static tridiag_entries one_weak(const tridiag_source *s, int64_t i, tridiag_entries given) {
    tridiag_entries e = all_random(s, i, given);
    if (i == s->n / 2) e.dl *= 1e-50;
    return e;
}

/* #5: each off-diagonal entry is 0 with probability 1/2, by bits that #1 does not use. */
static tridiag_entries half_zero(const tridiag_source *s, int64_t i, tridiag_entries given) {
    tridiag_entries e = all_random(s, i, given);
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_DIAGONAL);
    if (w.word[2] & 1) e.dl = 0;
    if (w.word[3] & 1) e.du = 0;
    return e;
}

/* #7: the inverse of the Kac-Murdock-Szegoe matrix rho^|i-j|, rho = 1/2, which is tridiagonal:
 * -rho, 1 + rho^2, -rho over 1 - rho^2, with 1 in both corners of the diagonal. */
static tridiag_entries inverse_kms(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)given;
    const double rho = 0.5, scale = 1 - rho * rho;
    const int ends = (i == 0) + (i == s->n - 1);
    return (tridiag_entries){ -rho / scale,
                              ends == 2   ? 1
                              : ends == 1 ? 1 / scale
                                          : (1 + rho * rho) / scale,
                              -rho / scale };
}

/* #12: the subdiagonal is almost 0. */
static tridiag_entries weak_sub(const tridiag_source *s, int64_t i, tridiag_entries given) {
    tridiag_entries e = all_random(s, i, given);
    e.dl *= 1e-50;
    return e;
}

/* #13, gallery('dorr', n, theta): a singularly perturbed boundary value problem, upwind to both
 * sides of its turning point. Rows sum to 0 but at the ends. */
static tridiag_entries dorr(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)given;
    const double theta = 1e-4, h = 1 / (double)(s->n + 1), term = theta / (h * h);
    const double drift = (0.5 - (double)(i + 1) * h) / h;
    const int left = i + 1 <= (s->n + 1) / 2;
    const double dl = left ? -term : -term + drift, du = left ? -term - drift : -term;
    return (tridiag_entries){ dl, -(dl + du), du };
}

/* #20 */
static tridiag_entries random_super(const tridiag_source *s, int64_t i, tridiag_entries given) {
    given.du = all_random(s, i, given).du;
    return given;
}

/* #21, Fourier coefficients of a Legendre polynomial (Swarztrauber, Math. Comp. 33, 1979). With
 * N = nu (nu + 1) those of P_nu(cos t) = sum a_j cos(j t) satisfy, for m = 0,
 *     a_{j-2} [(j-2)(j-1) - N] + a_j [2N - 2j^2 - 4m^2] + a_{j+2} [(j+1)(j+2) - N] = 0.
 * The paper only cites it. Here nu = 2n + 1, the unknowns are a_1, a_3 .. a_{2n-1} for a given
 * a_{2n+1}, and in the row j = 1 a_{-1} = a_1. The paper's condition number, 4.01e7 at n = 4096, is
 * not that of any normalisation tried. */
static tridiag_entries legendre(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)given;
    const double nu = 2 * (double)s->n + 1, big = nu * (nu + 1), j = 2 * (double)i + 1;
    const double dl = (j - 2) * (j - 1) - big, d = 2 * big - 2 * j * j;
    return (tridiag_entries){ dl, i == 0 ? d + dl : d, (j + 1) * (j + 2) - big };
}

/* Figure 1, the 5 x 5 matrix of determinant 1 whose leading 3 x 3 and trailing 2 x 2 blocks are
 * singular, over and over along the diagonal. Tiles are coupled by 1/64: their inverses have
 * 2-norms below 6, so that the whole stays far from singular. Rows that fill no tile are those of
 * the identity: three rows of a tile alone would be singular. */
static tridiag_entries tiles(const tridiag_source *s, int64_t i, tridiag_entries given) {
    (void)given;
    static const double diagonal[] = { -1, -2, -1, -1, -1 };
    const int64_t whole = s->n / 5 * 5, at = i % 5;
    if (i >= whole) return (tridiag_entries){ 0, 1, 0 };
    return (tridiag_entries){ at > 0 ? 1 : 1.0 / 64, diagonal[at],
                              at < 4           ? 1
                              : i + 1 == whole ? 0
                                               : 1.0 / 64 };
}

/* ---- given singular values ------------------------------------------------------------------- */

/* #8 to #11: gallery('randsvd', n, 1e15, mode, 1, 1) of MATLAB, a tridiagonal matrix with given singular
 * values.
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
 * row instead of n/2, the same singular values, but also reducible at every PART rows. */
enum { PART = 512, DRAW_DIRECTIONS = 1, DRAW_SIGNS };

static const double kappa = 1e15;

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
static void insert_row(const tridiag_rows *part, int64_t k, double *h, double *g, double p,
                       double q, double sigma) {
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
static void make_part(const tridiag_source *s, const tridiag_rows *part,
                      double (*sigma)(int64_t, int64_t), int64_t which, int64_t parts,
                      int64_t shortest) {
    double h = 0, g = 0;
    for (int64_t t = 0; t < part->count; t++) {
        const int64_t of = t < shortest ? t * parts + which
                                        : shortest * parts + (t - shortest) * (parts - 1) + which;
        const shoal_words w = tridiag_words(s, TRIDIAG_OF_SYSTEM, part->first + t, DRAW_DIRECTIONS);
        const shoal_normals z = shoal_normal_pair(&w);
        if (t == 0) h = z.z[0], g = z.z[1];
        insert_row(part, t, &h, &g, z.z[0], z.z[1], sigma(of, s->n));
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

static void make_spectrum(const tridiag_source *s, const tridiag_rows *r,
                          double (*sigma)(int64_t, int64_t)) {
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

/* ---- singular blocks ------------------------------------------------------------------------- */

/* In #18 and #1 (section 4, Tables 3 to 5), or singular interiors of blocks.
 *
 * The system is divided into blocks of `size` rows, from row `offset` on; rows that fill no block
 * are left alone. Of the blocks `implants` are changed, evenly spread: those that hold the middles
 * of that many equal parts of the system. A change keeps the couplings of a block to its neighbours,
 * so that the whole matrix is singular only by chance.
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
 * about 5 m^3 operations, 10 for hidden. */

/* One block in the making: m rows, random words by its number. */
typedef struct tridiag_block {
    const tridiag_source *of;
    int64_t number, m;
    double *s, *x;          /* m x m each */
    double *diagonal, *off; /* its tridiagonal form */
    double *v, *w;          /* m each */
    int uppermost;          /* no row is above it */
} block;

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
static void tridiagonalise(block *k) {
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
    tridiagonalise(k);
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
    /* Stewart's product of reflectors, the shortest first: Q is uniform, except for signs. */
    for (int64_t i = m - 2; i >= 0; i--) {
        normals(k, i, m - i, k->v + i);
        reflect(k, i);
    }
    tridiagonalise(k);
    if (!k->uppermost) return;
    for (int64_t i = 0, l = m - 1; i < l; i++, l--) swap(&k->diagonal[i], &k->diagonal[l]);
    for (int64_t i = 0, l = m - 2; i < l; i++, l--) swap(&k->off[i], &k->off[l]);
}

/* Is block k of `blocks` the floor((2t+1) blocks / (2 implants))th for some t? */
static int is_chosen(int64_t k, int64_t blocks, int64_t implants) {
    if (blocks <= 0 || implants <= 0) return 0;
    if (implants >= blocks) return 1;
    const uint64_t b = (uint64_t)blocks, twice = 2 * (uint64_t)implants;
    const uint64_t from = (twice * (uint64_t)k + b - 1) / b; /* 2t + 1 >= twice k / b */
    const uint64_t odd = from | 1;
    return odd * b < twice * ((uint64_t)k + 1); /* and < twice (k + 1) / b */
}

static void make_singular(const tridiag_source *s, const tridiag_rows *r, void (*make)(block *),
                          int how) {
    const int64_t blocks = s->n > s->offset ? (s->n - s->offset) / s->size : 0;
    const int inner = how & TRIDIAG_INNER;
    const int64_t m = s->size - 2 * inner, end = r->first + r->count;
    block one = { .of = s, .m = m, .s = r->work };
    one.x = one.s + m * m;
    one.diagonal = one.x + m * m, one.off = one.diagonal + m;
    one.v = one.off + m, one.w = one.v + m;
    int64_t k = r->first > s->offset ? (r->first - s->offset) / s->size : 0;
    for (; k < blocks && s->offset + k * s->size < end; k++) {
        if (!is_chosen(k, blocks, s->implants)) continue;
        const int64_t top = s->offset + k * s->size + inner;
        one.number = how & TRIDIAG_COPIED ? 0 : k, one.uppermost = top == 0;
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

/* ---- the table ------------------------------------------------------------------------------- */

/* clang-format off */
#define ROWS(rule)             rule, { 0, 0, 0 }, NULL, NULL, 0
#define GIVEN(rule, dl, d, du) rule, { dl, d, du }, NULL, NULL, 0
#define SPECTRUM(values)       NULL, { 0, 0, 0 }, values, NULL, 0
#define IN_18(implant, how)    constant, { -1, 4, -1 }, NULL, implant, how
#define IN_1(implant, how)     all_random, { 0, 0, 0 }, NULL, implant, how

const tridiag_paper_kind shoal_tridiag_paper_kinds[] = {
    { "spike1",     ROWS(all_random),                 "g-Spike paper #1: all entries uniform in (-1, 1)" },
    { "spike2",     GIVEN(toeplitz, 0, 1e8, 0),       "#2: l 1e8 u, l and u uniform in (-1, 1): condition 1" },
    { "spike3",     ROWS(lesp),                       "#3: lesp, 1/i -(2i+3) i+1: condition 2844" },
    { "spike4",     ROWS(one_weak),                   "#4: #1 with dl[n/2] scaled by 1e-50" },
    { "spike5",     ROWS(half_zero),                  "#5: #1 with each off-diagonal entry 0 with probability 1/2" },
    { "spike6",     GIVEN(toeplitz, 0, 64, 0),        "#6: l 64 u, l and u uniform in (-1, 1): condition < 1.07" },
    { "spike7",     ROWS(inverse_kms),                "#7: inverse of 2^-|i-j|: condition 9" },
    { "spike8",     SPECTRUM(one_small),              "#8: singular values 1, but one 1e-15" },
    { "spike9",     SPECTRUM(geometric),              "#9: singular values geometric from 1 to 1e-15" },
    { "spike10",    SPECTRUM(one_large),              "#10: singular values 1e-15, but one 1" },
    { "spike11",    SPECTRUM(arithmetic),             "#11: singular values arithmetic from 1 to 1e-15" },
    { "spike12",    ROWS(weak_sub),                   "#12: #1 with all of dl scaled by 1e-50: numerically singular" },
    { "spike13",    ROWS(dorr),                       "#13: dorr, theta = 1e-4: numerically singular" },
    { "spike14",    GIVEN(with_diagonal, 0, 1e-8, 0), "#14: #1 with 1e-8 on the diagonal: ill-conditioned" },
    { "spike15",    GIVEN(with_diagonal, 0, 0, 0),    "#15: #1 with a zero diagonal; singular if n is odd" },
    { "spike16",    GIVEN(constant, 1, 1e-8, 1),      "#16: 1 1e-8 1: condition 2608" },
    { "spike17",    GIVEN(constant, 1, 1e8, 1),       "#17: 1 1e8 1: condition 1" },
    { "spike18",    GIVEN(constant, -1, 4, -1),       "#18: -1 4 -1: condition 3" },
    { "spike19",    GIVEN(constant, -1, 4, 1),        "#19: -1 4 1: condition 1.12" },
    { "spike20",    GIVEN(random_super, -1, 4, 0),    "#20: -1 4 u, u uniform in (-1, 1): condition 2.5" },
    { "spike21",    ROWS(legendre),                   "#21: Fourier coefficients of a Legendre polynomial: condition 6.8e7" },
    { "block18",    IN_18(shifted, 0),                "Table 3: #18, :K[:M[:R]] K blocks of M rows singular [:1:32:0]" },
    { "block1",     IN_1(gram, 0),                    "Table 4: #1, K blocks of M rows singular" },
    { "hidden18",   IN_18(hidden, 0),                 "Table 5: #18, K blocks singular, which QR does not reveal" },
    { "hidden1",    IN_1(hidden, 0),                  "Table 5: #1, K blocks singular, which QR does not reveal" },
    { "inner18",    IN_18(shifted, TRIDIAG_INNER),                "block18, but the M - 2 interior rows of a block singular" },
    { "inner1",     IN_1(gram, TRIDIAG_INNER),                    "block1, but the M - 2 interior rows of a block singular" },
    { "hidinner18", IN_18(hidden, TRIDIAG_INNER),                 "hidden18, but the M - 2 interior rows of a block singular" },
    { "hidinner1",  IN_1(hidden, TRIDIAG_INNER),                  "hidden1, but the M - 2 interior rows of a block singular" },
    { "fig1",       ROWS(tiles),                      "Figure 1: 5 x 5 tiles whose leading 3 and last 2 rows are singular blocks" },
    { "copy1",      IN_1(gram, TRIDIAG_COPIED),       "Table 4: #1, K blocks of M rows singular, all of them copies of one" },
    { .name = NULL }
};
/* clang-format on */

void shoal_tridiag_paper_rows(const tridiag_paper_kind *kind, const tridiag_source *s,
                              const tridiag_rows *r) {
    for (int64_t t = 0; t < r->count && kind->rule; t++) {
        const tridiag_entries e = kind->rule(s, r->first + t, kind->given);
        r->dl[t] = e.dl, r->d[t] = e.d, r->du[t] = e.du;
    }
    if (kind->singular) make_spectrum(s, r, kind->singular);
    if (kind->implant) make_singular(s, r, kind->implant, kind->how);
}
