/* SPDX-License-Identifier: Apache-2.0
 *
 * generate_kinds.c - the kinds of test matrix: those of Kruchinina's thesis (section 3.3), KKT matrices, a given
 * inertia and condition, LAPACK's ten types for dchksy (as illcond:2, diagonal, zerorow, zerotail,
 * illcond, tiny, huge), and awkward ones.
 *
 * n^2 operations a matrix, n^2 log n for those of a given spectrum (generate_similar.c). A kind fills
 * the lower triangle, row by row; generate.c makes the other.
 */
#include "symindef/generate_kinds.h"
#include "rng/normal.h"
#include <math.h>
#include <stdlib.h>

static double *at(const symindef_member *m, int64_t i, int64_t j) { return m->a + i * m->n + j; }

/* Row i from column 0 to count - 1: standard normal times scale. */
static void normal_row(const symindef_member *m, int64_t i, int64_t count, double scale) {
    double *row = at(m, i, 0);
    for (int64_t j = 0; j < count; j += 2) {
        const shoal_words w = symindef_words(m, SYMINDEF_ENTRIES, i, j / 2);
        const shoal_normals pair = shoal_normal_pair(&w);
        row[j] = scale * pair.z[0];
        if (j + 1 < count) row[j + 1] = scale * pair.z[1];
    }
}

/* ---- the thesis, section 3.3 ------------------------------------------------------------------ */

/* -n, .., n - 1 in n - 1 equal steps */
static void equidistant(symindef_member *m) {
    const double n = (double)m->n;
    double *lambda = malloc((size_t)m->n * sizeof *lambda);
    if (!lambda) {
        m->short_of_memory = 1;
        return;
    }
    for (int64_t i = 0; i < m->n; i++)
        lambda[i] = m->n > 1 ? -n + (double)i * (2 * n - 1) / (n - 1) : -n;
    shoal_symindef_similar(m, m->n, lambda);
    free(lambda);
}

static int odd_number_of_ones(uint64_t bits) {
    int odd = 0;
    for (; bits; bits &= bits - 1) odd ^= 1;
    return odd;
}

/* Sylvester's: H(2n) = [H H; H -H], that is -1 to the number of ones that i and j have in common. */
static void hadamard(symindef_member *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++)
            *at(m, i, j) = odd_number_of_ones((uint64_t)(i & j)) ? -1 : 1;
}

static shoal_status power_of_two(shoal_context *ctx, const char *word, const symindef_member *m) {
    if ((m->n & (m->n - 1)) == 0) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; kind '%s' takes a power of two",
                      (long long)m->n, word);
}

/* Eigenvalues n - 1, n - 3, .., 1 - n. */
static void clement(symindef_member *m) {
    for (int64_t i = 1; i < m->n; i++) *at(m, i, i - 1) = sqrt((double)i * (double)(m->n - i));
}

static void hilbert(symindef_member *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = 0; j <= i; j++) *at(m, i, j) = 1 / (double)(i + j + 1);
}

/* ---- random matrices -------------------------------------------------------------------------- */

static void normal(symindef_member *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++) normal_row(m, i, i + 1, 1);
}

/* condition^-share, by functions that have the same bits everywhere */
static double part_of(double condition, double share) {
    return share > 0 ? shoal_exp(-share * shoal_log(condition)) : 1;
}

/* n sizes from 1 down to 1 / condition, in equal ratios. */
static double *geometric(symindef_member *m, int64_t n, double condition) {
    double *lambda = malloc((size_t)n * sizeof *lambda);
    if (!lambda) m->short_of_memory = 1;
    for (int64_t i = 0; lambda && i < n; i++)
        lambda[i] = part_of(condition, n > 1 ? (double)i / (double)(n - 1) : 0);
    return lambda;
}

/* [H Bt; B 0]: H = Q diag(1 .. 1/100) Qt, B normal with variance 1 / n1. As many negative eigenvalues
 * as B has rows, as B has full rank but for chance. */
static void kkt(symindef_member *m) {
    const int64_t upper = (2 * m->n + 2) / 3;
    double *lambda = geometric(m, upper, 100);
    if (!lambda) return;
    shoal_symindef_similar(m, upper, lambda);
    free(lambda);
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = upper; i < m->n; i++) normal_row(m, i, upper, 1 / sqrt((double)upper));
}

enum { POSITIVE, NEGATIVE, ZERO, CONDITION };

/* Which sizes are negative is random, and the zeros are exact before Q mixes them. */
static void inertia(symindef_member *m) {
    const int64_t positive = (int64_t)m->value[POSITIVE], negative = (int64_t)m->value[NEGATIVE];
    const int64_t rank = positive + negative;
    double *lambda = malloc((size_t)m->n * sizeof *lambda);
    int64_t *order = malloc((size_t)m->n * sizeof *order);
    if (!lambda || !order) {
        m->short_of_memory = 1;
    } else {
        shoal_symindef_shuffle(m, 64, rank, order);
        for (int64_t i = 0; i < m->n; i++) lambda[i] = 0;
        for (int64_t i = 0; i < rank; i++) {
            const double share = rank > 1 ? (double)i / (double)(rank - 1) : 0;
            const double size = part_of(m->value[CONDITION], share);
            lambda[i] = order[i] < positive ? size : -size;
        }
        shoal_symindef_similar(m, m->n, lambda);
    }
    free(lambda);
    free(order);
}

static shoal_status adds_up(shoal_context *ctx, const char *word, const symindef_member *m) {
    const double sum = m->value[POSITIVE] + m->value[NEGATIVE] + m->value[ZERO];
    if (sum == (double)m->n) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; kind '%s' names %.17g eigenvalues",
                      (long long)m->n, word, sum);
}

/* ---- LAPACK's types --------------------------------------------------------------------------- */

/* dlatms, mode 3: sizes from 1 to 1/condition in equal ratios, signs at random. */
static double *signed_sizes(symindef_member *m, double condition) {
    double *lambda = geometric(m, m->n, condition);
    for (int64_t i = 0; lambda && i < m->n; i++)
        if (symindef_words(m, SYMINDEF_SIGNS, 0, i).word[0] & 1) lambda[i] = -lambda[i];
    return lambda;
}

static void of_condition(symindef_member *m, double condition, int power) {
    double *lambda = signed_sizes(m, condition);
    if (!lambda) return;
    for (int64_t i = 0; i < m->n; i++) lambda[i] = ldexp(lambda[i], power);
    shoal_symindef_similar(m, m->n, lambda);
    free(lambda);
}

static void diagonal(symindef_member *m) {
    double *lambda = signed_sizes(m, 2);
    for (int64_t i = 0; lambda && i < m->n; i++) *at(m, i, i) = lambda[i];
    free(lambda);
}

/* Rows and columns from first to last - 1 become zero. */
static void clear(symindef_member *m, int64_t first, int64_t last) {
    for (int64_t k = first; k < last; k++) {
        for (int64_t j = 0; j <= k; j++) *at(m, k, j) = 0;
        for (int64_t i = k; i < m->n; i++) *at(m, i, k) = 0;
    }
}

static void zerorow(symindef_member *m) {
    const int64_t row = m->given ? (int64_t)m->value[0] : m->n / 2;
    of_condition(m, 2, 0);
    clear(m, row, row + 1);
}

static shoal_status has_row(shoal_context *ctx, const char *word, const symindef_member *m) {
    if (!m->given || m->n == 0 || m->value[0] < (double)m->n) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; kind '%s' names a row that is not there",
                      (long long)m->n, word);
}

static void zerotail(symindef_member *m) {
    const int64_t rows = m->given ? (int64_t)m->value[0] : m->n / 2;
    of_condition(m, 2, 0);
    clear(m, m->n - rows, m->n);
}

static shoal_status has_rows(shoal_context *ctx, const char *word, const symindef_member *m) {
    if (!m->given || m->n == 0 || m->value[0] <= (double)m->n) return SHOAL_OK;
    return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; kind '%s' names more rows than there are",
                      (long long)m->n, word);
}

static void illcond(symindef_member *m) {
    of_condition(m, m->given ? m->value[0] : ldexp(0.1, m->single ? 24 : 53), 0);
}

/* dlatb4's ends: a quarter of the least normal number over a roundoff, and its reciprocal. */
static int end_of_range(const symindef_member *m) { return m->single ? 104 : 971; }

static void tiny(symindef_member *m) { of_condition(m, 2, -end_of_range(m)); }
static void huge(symindef_member *m) { of_condition(m, 2, end_of_range(m)); }

/* ---- awkward ones ----------------------------------------------------------------------------- */

static void zeros(symindef_member *m) { (void)m; }

static void nonfinite(symindef_member *m) {
    const shoal_words w = symindef_words(m, SYMINDEF_SIGNS, 0, 0);
    const int64_t i = (int64_t)(shoal_half(&w, 0) % (uint64_t)m->n);
    const int64_t j = (int64_t)(shoal_half(&w, 1) % (uint64_t)(i + 1));
    normal(m);
    *at(m, i, j) = NAN;
}

/* Blocks [0 s; s 0], s a multiple of the least number there is: 1/s is no number. An odd n leaves a
 * row of zeros. */
static void subnormal(symindef_member *m) {
    for (int64_t i = 1; i < m->n; i += 2) {
        const shoal_words w = symindef_words(m, SYMINDEF_ENTRIES, i, 0);
        *at(m, i, i - 1) = ldexp((double)(w.word[0] % 1000 + 1), m->single ? -149 : -1074);
    }
}

#define COUNT_OF(what)                                                                             \
    { what, 0, SYMINDEF_ROWS, 1 }
static const symindef_value a_row[] = { COUNT_OF("the row"), { .what = NULL } };
static const symindef_value some_rows[] = { COUNT_OF("the rows"), { .what = NULL } };
static const symindef_value a_condition[] = { { "the condition", 1, 1e300, 0 }, { .what = NULL } };
static const symindef_value inertia_values[] = { COUNT_OF("positive eigenvalues"),
                                                 COUNT_OF("negative eigenvalues"),
                                                 COUNT_OF("zero eigenvalues"),
                                                 { "the condition", 1, 1e300, 0 },
                                                 { .what = NULL } };

/* clang-format off */
const symindef_kind shoal_symindef_kinds[] = {
    { "equidistant", equidistant, NULL,         0, NULL,           "Q diag(-n .. n-1 in equal steps) Qt, Q of random rotations: the thesis's random matrix" },
    { "hadamard",    hadamard,    power_of_two, 0, NULL,           "Sylvester's, entries 1 and -1, n a power of two" },
    { "clement",     clement,     NULL,         0, NULL,           "zero diagonal, sqrt(i (n - i)) beside it: eigenvalues n-1, n-3, .. 1-n" },
    { "hilbert",     hilbert,     NULL,         0, NULL,           "1 / (i + j + 1): rank 30 to rounding at n = 2000" },
    { "kkt",         kkt,         NULL,         0, NULL,           "[H Bt; B 0], H of ceil(2n/3) rows with condition 100, B normal" },
    { "random",      normal,      NULL,         0, NULL,           "normal entries" },
    { "inertia",     inertia,     adds_up,      4, inertia_values, "inertia:P:N:Z:COND: P, N, Z eigenvalues above, below, at 0; sizes from 1 to 1/COND" },
    { "diagonal",    diagonal,    NULL,         0, NULL,           "a diagonal matrix of condition 2, random signs" },
    { "zerorow",     zerorow,     has_row,      0, a_row,          "condition 2, row and column K zero, counted from 0; zerorow:K [n/2]" },
    { "zerotail",    zerotail,    has_rows,     0, some_rows,      "condition 2, the last K rows and columns zero; zerotail:K [n/2]" },
    { "illcond",     illcond,     NULL,         0, a_condition,    "sizes of eigenvalues from 1 to 1/COND, random signs; illcond:COND [0.1/roundoff]" },
    { "tiny",        tiny,        NULL,         0, NULL,           "condition 2, scaled by 2^-971, in float 2^-104" },
    { "huge",        huge,        NULL,         0, NULL,           "condition 2, scaled by 2^971, in float 2^104" },
    { "zeros",       zeros,       NULL,         0, NULL,           "nothing but zeros" },
    { "nonfinite",   nonfinite,   NULL,         0, NULL,           "normal entries, one of them NaN" },
    { "subnormal",   subnormal,   NULL,         0, NULL,           "blocks [0 s; s 0] with s subnormal" },
    { .name = NULL }
};
/* clang-format on */
