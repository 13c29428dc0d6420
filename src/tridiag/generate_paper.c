/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_paper.c - the matrices of the g-Spike paper: its collection #1 to #21 (Table A.1) and
 * its Figure 1, and the table of all its kinds.
 *
 * Indices here begin with 0, so that row i is MATLAB's row i + 1. The functions of MATLAB's gallery
 * are written out below. The paper runs #1 to #21 at n = 4096; condition numbers in the texts are
 * for that order, and for a random kind those of the paper's own draw or a range over draws.
 */
#include "tridiag/generate_paper.h"

/* #1: all entries uniform in (-1, 1). */
static tridiag_entries all_random(const tridiag_source *s, int64_t i) {
    const shoal_words off = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_OFF_DIAGONALS);
    const shoal_words diagonal = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_DIAGONAL);
    return (tridiag_entries){ tridiag_symmetric(&off, 0), tridiag_symmetric(&diagonal, 0),
                              tridiag_symmetric(&off, 1) };
}

/* #1's off-diagonals with another diagonal. */
static tridiag_entries with_diagonal(const tridiag_source *s, int64_t i, double d) {
    tridiag_entries e = all_random(s, i);
    e.d = d;
    return e;
}

/* #2 and #6 are Toeplitz: one l and one u for all rows. */
static tridiag_entries toeplitz(const tridiag_source *s, double d) {
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_SYSTEM, 0, 0);
    return (tridiag_entries){ tridiag_symmetric(&w, 0), d, tridiag_symmetric(&w, 1) };
}

static tridiag_entries toeplitz_1e8(const tridiag_source *s, int64_t i) {
    (void)i;
    return toeplitz(s, 1e8);
}

static tridiag_entries toeplitz_64(const tridiag_source *s, int64_t i) {
    (void)i;
    return toeplitz(s, 64);
}

/* #3, gallery('lesp', n): eigenvalues real, negative and sensitive. */
static tridiag_entries lesp(const tridiag_source *s, int64_t i) {
    (void)s;
    const double k = (double)(i + 1);
    return (tridiag_entries){ 1 / k, -(2 * k + 3), k + 1 };
}

/* #4: the one entry L(n/2+1, n/2) is almost 0. */
static tridiag_entries one_weak(const tridiag_source *s, int64_t i) {
    tridiag_entries e = all_random(s, i);
    if (i == s->n / 2) e.dl *= 1e-50;
    return e;
}

/* #5: each off-diagonal entry is 0 with probability 1/2, by bits that #1 does not use. */
static tridiag_entries half_zero(const tridiag_source *s, int64_t i) {
    tridiag_entries e = all_random(s, i);
    const shoal_words w = tridiag_words(s, TRIDIAG_OF_ROWS, i, TRIDIAG_DRAW_DIAGONAL);
    if (w.word[2] & 1) e.dl = 0;
    if (w.word[3] & 1) e.du = 0;
    return e;
}

/* #7: the inverse of the Kac-Murdock-Szegoe matrix rho^|i-j|, rho = 1/2, which is tridiagonal:
 * -rho, 1 + rho^2, -rho over 1 - rho^2, with 1 in both corners of the diagonal. */
static tridiag_entries inverse_kms(const tridiag_source *s, int64_t i) {
    const double rho = 0.5, scale = 1 - rho * rho;
    const int ends = (i == 0) + (i == s->n - 1);
    return (tridiag_entries){ -rho / scale,
                              ends == 2   ? 1
                              : ends == 1 ? 1 / scale
                                          : (1 + rho * rho) / scale,
                              -rho / scale };
}

/* #12: the subdiagonal is almost 0. */
static tridiag_entries weak_sub(const tridiag_source *s, int64_t i) {
    tridiag_entries e = all_random(s, i);
    e.dl *= 1e-50;
    return e;
}

/* #13, gallery('dorr', n, theta): a singularly perturbed boundary value problem, upwind to both
 * sides of its turning point. Rows sum to 0 but at the ends. */
static tridiag_entries dorr(const tridiag_source *s, int64_t i) {
    const double theta = 1e-4, h = 1 / (double)(s->n + 1), term = theta / (h * h);
    const double drift = (0.5 - (double)(i + 1) * h) / h;
    const int left = i + 1 <= (s->n + 1) / 2;
    const double dl = left ? -term : -term + drift, du = left ? -term - drift : -term;
    return (tridiag_entries){ dl, -(dl + du), du };
}

static tridiag_entries tiny_diagonal(const tridiag_source *s, int64_t i) {
    return with_diagonal(s, i, 1e-8);
}

static tridiag_entries zero_diagonal(const tridiag_source *s, int64_t i) {
    return with_diagonal(s, i, 0);
}

static tridiag_entries ones_tiny(const tridiag_source *s, int64_t i) {
    (void)s, (void)i;
    return (tridiag_entries){ 1, 1e-8, 1 };
}

static tridiag_entries ones_large(const tridiag_source *s, int64_t i) {
    (void)s, (void)i;
    return (tridiag_entries){ 1, 1e8, 1 };
}

static tridiag_entries toeplitz_4(const tridiag_source *s, int64_t i) {
    (void)s, (void)i;
    return (tridiag_entries){ -1, 4, -1 };
}

static tridiag_entries skew(const tridiag_source *s, int64_t i) {
    (void)s, (void)i;
    return (tridiag_entries){ -1, 4, 1 };
}

static tridiag_entries random_super(const tridiag_source *s, int64_t i) {
    return (tridiag_entries){ -1, 4, all_random(s, i).du };
}

/* #21, Fourier coefficients of a Legendre polynomial (Swarztrauber, Math. Comp. 33, 1979). With
 * N = nu (nu + 1) those of P_nu(cos t) = sum a_j cos(j t) satisfy, for m = 0,
 *     a_{j-2} [(j-2)(j-1) - N] + a_j [2N - 2j^2 - 4m^2] + a_{j+2} [(j+1)(j+2) - N] = 0.
 * The paper only cites it. Here nu = 2n + 1, the unknowns are a_1, a_3 .. a_{2n-1} for a given
 * a_{2n+1}, and in the row j = 1 a_{-1} = a_1. The paper's condition number, 4.01e7 at n = 4096, is
 * not that of any normalisation tried. */
static tridiag_entries legendre(const tridiag_source *s, int64_t i) {
    const double nu = 2 * (double)s->n + 1, big = nu * (nu + 1), j = 2 * (double)i + 1;
    const double dl = (j - 2) * (j - 1) - big, d = 2 * big - 2 * j * j;
    return (tridiag_entries){ dl, i == 0 ? d + dl : d, (j + 1) * (j + 2) - big };
}

/* Figure 1, the 5 x 5 matrix of determinant 1 whose leading 3 x 3 and trailing 2 x 2 blocks are
 * singular, over and over along the diagonal. Tiles are coupled by 1/64: their inverses have
 * 2-norms below 6, so that the whole stays far from singular. Rows that fill no tile are those of
 * the identity: three rows of a tile alone would be singular. */
static tridiag_entries tiles(const tridiag_source *s, int64_t i) {
    static const double diagonal[] = { -1, -2, -1, -1, -1 };
    const int64_t whole = s->n / 5 * 5, at = i % 5;
    if (i >= whole) return (tridiag_entries){ 0, 1, 0 };
    return (tridiag_entries){ at > 0 ? 1 : 1.0 / 64, diagonal[at],
                              at < 4           ? 1
                              : i + 1 == whole ? 0
                                               : 1.0 / 64 };
}

/* clang-format off */
#define ROWS(rule)              rule, NULL, 0
#define SPECTRUM(change)        NULL, change, 0
#define IMPLANT(rule, change)   rule, change, 1

const tridiag_paper_kind shoal_tridiag_paper_kinds[] = {
    { "spike1",     ROWS(all_random),     "g-Spike paper #1: all entries uniform in (-1, 1)" },
    { "spike2",     ROWS(toeplitz_1e8),   "#2: l 1e8 u, l and u uniform in (-1, 1): condition 1" },
    { "spike3",     ROWS(lesp),           "#3: lesp, 1/i -(2i+3) i+1: condition 2844" },
    { "spike4",     ROWS(one_weak),       "#4: #1 with dl[n/2] scaled by 1e-50" },
    { "spike5",     ROWS(half_zero),      "#5: #1 with each off-diagonal entry 0 with probability 1/2" },
    { "spike6",     ROWS(toeplitz_64),    "#6: l 64 u, l and u uniform in (-1, 1): condition < 1.07" },
    { "spike7",     ROWS(inverse_kms),    "#7: inverse of 2^-|i-j|: condition 9" },
    { "spike8",     SPECTRUM(shoal_tridiag_one_small),  "#8: singular values 1, but one 1e-15" },
    { "spike9",     SPECTRUM(shoal_tridiag_geometric),  "#9: singular values geometric from 1 to 1e-15" },
    { "spike10",    SPECTRUM(shoal_tridiag_one_large),  "#10: singular values 1e-15, but one 1" },
    { "spike11",    SPECTRUM(shoal_tridiag_arithmetic), "#11: singular values arithmetic from 1 to 1e-15" },
    { "spike12",    ROWS(weak_sub),       "#12: #1 with all of dl scaled by 1e-50: numerically singular" },
    { "spike13",    ROWS(dorr),           "#13: dorr, theta = 1e-4: numerically singular" },
    { "spike14",    ROWS(tiny_diagonal),  "#14: #1 with 1e-8 on the diagonal: ill-conditioned" },
    { "spike15",    ROWS(zero_diagonal),  "#15: #1 with a zero diagonal; singular if n is odd" },
    { "spike16",    ROWS(ones_tiny),      "#16: 1 1e-8 1: condition 2608" },
    { "spike17",    ROWS(ones_large),     "#17: 1 1e8 1: condition 1" },
    { "spike18",    ROWS(toeplitz_4),     "#18: -1 4 -1: condition 3" },
    { "spike19",    ROWS(skew),           "#19: -1 4 1: condition 1.12" },
    { "spike20",    ROWS(random_super),   "#20: -1 4 u, u uniform in (-1, 1): condition 2.5" },
    { "spike21",    ROWS(legendre),       "#21: Fourier coefficients of a Legendre polynomial: condition 6.8e7" },
    { "block18",    IMPLANT(toeplitz_4, shoal_tridiag_shifted),       "Table 3: #18, :K[:M[:R]] K blocks of M rows singular [:1:32:0]" },
    { "block1",     IMPLANT(all_random, shoal_tridiag_gram),          "Table 4: #1, K blocks of M rows singular" },
    { "hidden18",   IMPLANT(toeplitz_4, shoal_tridiag_hidden),        "Table 5: #18, K blocks singular, which QR does not reveal" },
    { "hidden1",    IMPLANT(all_random, shoal_tridiag_hidden),        "Table 5: #1, K blocks singular, which QR does not reveal" },
    { "inner18",    IMPLANT(toeplitz_4, shoal_tridiag_shifted_inner), "block18, but the M - 2 interior rows of a block singular" },
    { "inner1",     IMPLANT(all_random, shoal_tridiag_gram_inner),    "block1, but the M - 2 interior rows of a block singular" },
    { "hidinner18", IMPLANT(toeplitz_4, shoal_tridiag_hidden_inner),  "hidden18, but the M - 2 interior rows of a block singular" },
    { "hidinner1",  IMPLANT(all_random, shoal_tridiag_hidden_inner),  "hidden1, but the M - 2 interior rows of a block singular" },
    { "fig1",       ROWS(tiles),          "Figure 1: 5 x 5 tiles whose leading 3 and last 2 rows are singular blocks" },
    { .name = NULL }
};
/* clang-format on */
