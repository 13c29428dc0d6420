/* SPDX-License-Identifier: Apache-2.0
 *
 * generate.c - test matrices of many kinds, made from (kind, seed, n, place) by Philox: the same numbers
 * for any thread count or machine. The kinds: those of Kruchinina's thesis (section 3.3), KKT matrices, a
 * given inertia and condition, LAPACK's ten types for dchksy (as illcond:2, diagonal, zerorow, zerotail,
 * illcond, tiny, huge), and awkward ones.
 *
 * All is made in double, in A itself; float is double, rounded, and takes n^2 doubles beside it. A kind
 * fills the lower triangle, row by row. The upper triangle is a copy of it, made in squares of TILE rows
 * that stay in the cache. n^2 operations per matrix.
 *
 * A = Q diag(lambda) Qt with a random orthogonal Q takes 24 n^2 log2 n operations and 12 n log2 n bytes of
 * tables. Q = F1 P1 F0 P0: P are random orders, F sweeps of plane rotations of rows i and i + 1, i and
 * i + 2, i + 4, ..., which after log2 n levels have mixed every row with every other (a row without a
 * partner waits). Angles lie between pi/8 and 3 pi/8 of a random quadrant, so that every level mixes well:
 * after the second sweep the entries of Q look normal, and A is as dense as with Householder reflectors.
 * (A few reflectors would leave A diagonal plus a matrix of low rank, with off-diagonal entries n^-1/2 of
 * what they should be.) The spectrum of A is lambda up to rounding, about log2 n epsilons of its largest
 * entry. Row r of A is Q (lambda * (Qt e_r)): rows are independent, and LANES of them go side by side
 * through the cache of one thread.
 */
#include "core/plan.h"
#include "core/progress.h"
#include "rng/normal.h"
#include <shoal/symindef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 4, MAX_ROWS = 1 << 24 }; /* maximum: values of a kind, rows */

/* One matrix in the making, in double. */
typedef struct matrix {
    const shoal_context *ctx; /* its stage is begun: loops over rows end once it is cancelled */
    int kind;
    uint64_t seed;
    int64_t n;
    int threads, single;      /* single: the ends of the range are those of float    */
    int given;                /* values behind the kind's name                       */
    double value[MAX_VALUES]; /* these                                               */
    double *a;                /* n x n, all zeros; the kind fills its lower triangle */
    double *lambda;           /* room for n eigenvalues                              */
    int64_t *order;           /* room for an order of n                              */
    int short_of_memory;      /* 1: an allocation failed                             */
} matrix;

/* What random words are for: the path of their address. */
enum use { FOR_ENTRIES, FOR_ANGLES, FOR_ORDER, FOR_SIGNS };
enum { PURPOSE = 0xa0 }; /* plus the kind (philox.h) */

/* Block (i, j); j is below 2^24, that is MAX_ROWS. */
static shoal_words words_at(const matrix *m, enum use use, int64_t i, int64_t j) {
    return shoal_philox_at(m->seed, (uint64_t)use, (uint32_t)i, PURPOSE + (uint32_t)m->kind,
                           (uint32_t)j & 0xfff, (uint32_t)(j >> 12));
}

enum { TILE = 64 };

typedef struct value_range {
    const char *what;
    double min, max; /* both allowed          */
    int whole;       /* 1: a whole number     */
} value_range;

typedef struct kind_row {
    const char *name;
    void (*fill)(matrix *m);
    const char *(*problem)(const matrix *m); /* with n and the values; NULL: none. Or NULL */
    int required;                            /* the first values that must be given   */
    const value_range *takes;                /* ends with a NULL what; NULL: no value */
    const char *text;
} kind_row;

/* ---- a given spectrum -------------------------------------------------------------------------- */

enum { SWEEPS = 2, LANES = 4 };

typedef struct rotations {
    int64_t n;
    int levels;      /* 2^levels >= n                                              */
    int64_t *order;  /* P of each sweep, n entries: place i is taken from order[i] */
    double *cosines; /* of each sweep, level and pair: n / 2 entries per level       */
    double *sines;
} rotations;

/* A random order of 0 .. n - 1; `which` tells several of one matrix apart. */
static void shuffle(const matrix *m, int which, int64_t n, int64_t *order) {
    for (int64_t i = 0; i < n; i++) {
        const shoal_words w = words_at(m, FOR_ORDER, which, i);
        const int64_t from = (int64_t)(shoal_half(&w, 0) % (uint64_t)(i + 1));
        order[i] = order[from];
        order[from] = i;
    }
}

static int64_t table_of(const rotations *q, int sweep, int level) {
    return (int64_t)(sweep * q->levels + level) * (q->n / 2);
}

static int make_rotations(const matrix *m, int64_t n, rotations *q) {
    *q = (rotations){ .n = n };
    while ((int64_t)1 << q->levels < n) q->levels++;
    const size_t entries = (size_t)table_of(q, SWEEPS, 0) + 1;
    q->order = malloc((size_t)(SWEEPS * n) * sizeof *q->order);
    q->cosines = malloc(entries * sizeof *q->cosines);
    q->sines = malloc(entries * sizeof *q->sines);
    if (!q->order || !q->cosines || !q->sines) return 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        shuffle(m, sweep, n, q->order + sweep * n);
        for (int level = 0; level < q->levels; level++) {
            const int64_t first = table_of(q, sweep, level);
            for (int64_t k = 0; k < n / 2; k++) {
                const shoal_words w = words_at(m, FOR_ANGLES, sweep * 64 + level, k);
                const double quadrant = 0.5 * (double)(w.word[2] >> 30);
                shoal_sincospi(quadrant + 0.125 + 0.25 * shoal_uniform(&w, 0), &q->sines[first + k],
                               &q->cosines[first + k]);
            }
        }
    }
    return 1;
}

static void free_rotations(rotations *q) {
    free(q->order);
    free(q->cosines);
    free(q->sines);
}

/* x of all lanes: its rows i and i + 2^level are turned, by the opposite angle if `back`. */
static void turn_pairs(const rotations *q, int sweep, int level, int back, double *x) {
    const int64_t n = q->n, apart = (int64_t)1 << level;
    int64_t k = table_of(q, sweep, level);
    for (int64_t block = 0; block + apart < n; block += 2 * apart)
        for (int64_t i = block; i < block + apart && i + apart < n; i++, k++) {
            const double c = q->cosines[k], s = back ? -q->sines[k] : q->sines[k];
            double *restrict u = x + i * LANES, *restrict v = x + (i + apart) * LANES;
            for (int l = 0; l < LANES; l++) {
                const double upper = u[l], lower = v[l];
                u[l] = c * upper - s * lower;
                v[l] = s * upper + c * lower;
            }
        }
}

/* x := Q x; y is scratch. An even number of sweeps ends where it began. */
static void apply(const rotations *q, double *x, double *y) {
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        const int64_t *order = q->order + sweep * q->n;
        for (int64_t i = 0; i < q->n; i++)
            for (int l = 0; l < LANES; l++) y[i * LANES + l] = x[order[i] * LANES + l];
        for (int level = 0; level < q->levels; level++) turn_pairs(q, sweep, level, 0, y);
        double *other = x;
        x = y, y = other;
    }
}

/* x := Qt x */
static void apply_transposed(const rotations *q, double *x, double *y) {
    for (int sweep = SWEEPS - 1; sweep >= 0; sweep--) {
        const int64_t *order = q->order + sweep * q->n;
        for (int level = q->levels - 1; level >= 0; level--) turn_pairs(q, sweep, level, 1, x);
        for (int64_t i = 0; i < q->n; i++)
            for (int l = 0; l < LANES; l++) y[order[i] * LANES + l] = x[i * LANES + l];
        double *other = x;
        x = y, y = other;
    }
}

/* Rows r to r + LANES - 1, as far as they exist. */
static void make_rows(const rotations *q, const double *lambda, int64_t r, double *x, double *y,
                      double *a, int64_t ld) {
    const int64_t n = q->n, lanes = n - r < LANES ? n - r : LANES;
    for (int64_t i = 0; i < n * LANES; i++) x[i] = 0;
    for (int64_t l = 0; l < lanes; l++) x[(r + l) * LANES + l] = 1; /* e_r */
    apply_transposed(q, x, y);                                      /* Qt e_r */
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) x[i * LANES + l] *= lambda[i];
    apply(q, x, y); /* A e_r */
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t j = 0; j <= r + l; j++) a[(r + l) * ld + j] = x[j * LANES + l];
}

/* The leading n x n of m->a becomes Q diag(m->lambda) Qt, its lower triangle alone. */
static void fill_similar(matrix *m, int64_t n) {
    rotations q;
    int complete = make_rotations(m, n, &q);
    if (complete) {
#pragma omp parallel num_threads(m->threads) reduction(&& : complete)
        {
            double *x = malloc((size_t)(2 * n * LANES) * sizeof *x);
            complete = x != NULL;
#pragma omp for schedule(static, 4)
            for (int64_t r = 0; r < n; r += LANES)
                if (complete && !shoal_is_cancelled(m->ctx, r, n))
                    make_rows(&q, m->lambda, r, x, x + n * LANES, m->a, m->n);
            free(x);
        }
    }
    free_rotations(&q);
    if (!complete) m->short_of_memory = 1;
}

/* ---- the kinds -------------------------------------------------------------------------------- */

static double *entry(const matrix *m, int64_t i, int64_t j) { return m->a + i * m->n + j; }

/* The last column of the lower triangle in row i; none, -1, once the call is cancelled. */
static int64_t last_of_row(const matrix *m, int64_t i) {
    return shoal_is_cancelled(m->ctx, i, m->n) ? -1 : i;
}

/* Row i from column 0 to count - 1: standard normal times scale. */
static void normal_row(const matrix *m, int64_t i, int64_t count, double scale) {
    double *row = entry(m, i, 0);
    for (int64_t j = 0; j < count; j += 2) {
        const shoal_words w = words_at(m, FOR_ENTRIES, i, j / 2);
        const shoal_normals pair = shoal_normal_pair(&w);
        row[j] = scale * pair.z[0];
        if (j + 1 < count) row[j + 1] = scale * pair.z[1];
    }
}

/* ---- the thesis, section 3.3 ------------------------------------------------------------------ */

/* -n, .., n - 1 in n - 1 equal steps */
static void equidistant(matrix *m) {
    const double n = (double)m->n;
    for (int64_t i = 0; i < m->n; i++)
        m->lambda[i] = m->n > 1 ? -n + (double)i * (2 * n - 1) / (n - 1) : -n;
    fill_similar(m, m->n);
}

static int odd_number_of_ones(uint64_t bits) {
    int odd = 0;
    for (; bits; bits &= bits - 1) odd ^= 1;
    return odd;
}

/* Sylvester's: H(2n) = [H H; H -H], that is -1 to the number of ones that i and j have in common. */
static void hadamard(matrix *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = last_of_row(m, i); j >= 0; j--)
            *entry(m, i, j) = odd_number_of_ones((uint64_t)(i & j)) ? -1 : 1;
}

static const char *power_of_two(const matrix *m) {
    return m->n & (m->n - 1) ? "takes a power of two" : NULL;
}

/* Eigenvalues n - 1, n - 3, .., 1 - n. */
static void clement(matrix *m) {
    for (int64_t i = 1; i < m->n; i++) *entry(m, i, i - 1) = sqrt((double)i * (double)(m->n - i));
}

static void hilbert(matrix *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++)
        for (int64_t j = last_of_row(m, i); j >= 0; j--) *entry(m, i, j) = 1 / (double)(i + j + 1);
}

/* ---- random matrices -------------------------------------------------------------------------- */

static void normal(matrix *m) {
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = 0; i < m->n; i++) normal_row(m, i, last_of_row(m, i) + 1, 1);
}

/* condition^-share, by functions that have the same bits everywhere */
static double part_of(double condition, double share) {
    return share > 0 ? shoal_exp(-share * shoal_log(condition)) : 1;
}

/* n eigenvalues from 1 down to 1 / condition, in equal ratios. */
static void geometric(matrix *m, int64_t n, double condition) {
    for (int64_t i = 0; i < n; i++)
        m->lambda[i] = part_of(condition, n > 1 ? (double)i / (double)(n - 1) : 0);
}

/* [H Bt; B 0]: H = Q diag(1 .. 1/100) Qt, B normal with variance 1 / n1. As many negative eigenvalues
 * as B has rows: B has full rank with probability 1. */
static void kkt(matrix *m) {
    const int64_t upper = (2 * m->n + 2) / 3;
    geometric(m, upper, 100);
    fill_similar(m, upper);
#pragma omp parallel for num_threads(m->threads) schedule(static, 8)
    for (int64_t i = upper; i < m->n; i++)
        if (last_of_row(m, i) >= 0) normal_row(m, i, upper, 1 / sqrt((double)upper));
}

enum { POSITIVE, NEGATIVE, ZERO, CONDITION };

/* Which sizes are negative is random, and the zeros are exact before Q mixes them. */
static void inertia(matrix *m) {
    const int64_t positive = (int64_t)m->value[POSITIVE], negative = (int64_t)m->value[NEGATIVE];
    geometric(m, positive + negative, m->value[CONDITION]);
    shuffle(m, 64, positive + negative, m->order);
    for (int64_t i = 0; i < m->n; i++)
        if (i >= positive + negative)
            m->lambda[i] = 0;
        else if (m->order[i] >= positive)
            m->lambda[i] = -m->lambda[i];
    fill_similar(m, m->n);
}

static const char *adds_up(const matrix *m) {
    const double sum = m->value[POSITIVE] + m->value[NEGATIVE] + m->value[ZERO];
    return sum != (double)m->n ? "names another number of eigenvalues" : NULL;
}

/* ---- LAPACK's types --------------------------------------------------------------------------- */

/* dlatms, mode 3: sizes from 1 to 1/condition in equal ratios, signs at random. */
static void signed_sizes(matrix *m, double condition) {
    geometric(m, m->n, condition);
    for (int64_t i = 0; i < m->n; i++)
        if (words_at(m, FOR_SIGNS, 0, i).word[0] & 1) m->lambda[i] = -m->lambda[i];
}

static void of_condition(matrix *m, double condition, int power) {
    signed_sizes(m, condition);
    for (int64_t i = 0; i < m->n; i++) m->lambda[i] = ldexp(m->lambda[i], power);
    fill_similar(m, m->n);
}

static void diagonal(matrix *m) {
    signed_sizes(m, 2);
    for (int64_t i = 0; i < m->n; i++) *entry(m, i, i) = m->lambda[i];
}

/* Rows and columns from first to last - 1 become zero. */
static void zero_rows(matrix *m, int64_t first, int64_t last) {
    for (int64_t k = first; k < last; k++) {
        for (int64_t j = 0; j <= k; j++) *entry(m, k, j) = 0;
        for (int64_t i = k; i < m->n; i++) *entry(m, i, k) = 0;
    }
}

static void zerorow(matrix *m) {
    const int64_t row = m->given ? (int64_t)m->value[0] : m->n / 2;
    of_condition(m, 2, 0);
    zero_rows(m, row, row + 1);
}

static const char *has_row(const matrix *m) {
    const int is_missing = m->given && m->n > 0 && m->value[0] >= (double)m->n;
    return is_missing ? "names a row that is not there" : NULL;
}

static void zerotail(matrix *m) {
    const int64_t rows = m->given ? (int64_t)m->value[0] : m->n / 2;
    of_condition(m, 2, 0);
    zero_rows(m, m->n - rows, m->n);
}

static const char *has_rows(const matrix *m) {
    const int are_missing = m->given && m->n > 0 && m->value[0] > (double)m->n;
    return are_missing ? "names more rows than there are" : NULL;
}

static void illcond(matrix *m) {
    of_condition(m, m->given ? m->value[0] : ldexp(0.1, m->single ? 24 : 53), 0);
}

/* dlatb4's ends: a quarter of the least normal number over a roundoff, and its reciprocal. */
static int end_of_range(const matrix *m) { return m->single ? 104 : 971; }

static void tiny(matrix *m) { of_condition(m, 2, -end_of_range(m)); }
static void huge(matrix *m) { of_condition(m, 2, end_of_range(m)); }

/* ---- awkward ones ----------------------------------------------------------------------------- */

static void all_zero(matrix *m) { (void)m; }

static void nonfinite(matrix *m) {
    const shoal_words w = words_at(m, FOR_SIGNS, 0, 0);
    const int64_t i = (int64_t)(shoal_half(&w, 0) % (uint64_t)m->n);
    const int64_t j = (int64_t)(shoal_half(&w, 1) % (uint64_t)(i + 1));
    normal(m);
    *entry(m, i, j) = NAN;
}

/* Blocks [0 s; s 0], s a multiple of the least number there is: 1/s is no number. An odd n leaves a
 * row of zeros. */
static void subnormal(matrix *m) {
    for (int64_t i = 1; i < m->n; i += 2) {
        const shoal_words w = words_at(m, FOR_ENTRIES, i, 0);
        *entry(m, i, i - 1) = ldexp((double)(w.word[0] % 1000 + 1), m->single ? -149 : -1074);
    }
}

#define COUNT_OF(what)                                                                             \
    { what, 0, MAX_ROWS, 1 }
static const value_range a_row[] = { COUNT_OF("the row"), { .what = NULL } };
static const value_range some_rows[] = { COUNT_OF("the rows"), { .what = NULL } };
static const value_range a_condition[] = { { "the condition", 1, 1e300, 0 }, { .what = NULL } };
static const value_range inertia_values[] = { COUNT_OF("positive eigenvalues"),
                                              COUNT_OF("negative eigenvalues"),
                                              COUNT_OF("zero eigenvalues"),
                                              { "the condition", 1, 1e300, 0 },
                                              { .what = NULL } };

/* clang-format off */
static const kind_row kinds[] = {
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
    { "zeros",       all_zero,    NULL,         0, NULL,           "nothing but zeros" },
    { "nonfinite",   nonfinite,   NULL,         0, NULL,           "normal entries, one of them NaN" },
    { "subnormal",   subnormal,   NULL,         0, NULL,           "blocks [0 s; s 0] with s subnormal" },
    { .name = NULL }
};
/* clang-format on */

const char *shoal_symindef_kind(int i) {
    for (int k = 0; k <= i && kinds[k].name; k++)
        if (k == i) return kinds[k].name;
    return NULL;
}

const char *shoal_symindef_kind_text(int i) {
    return shoal_symindef_kind(i) ? kinds[i].text : NULL;
}

/* ---- a matrix --------------------------------------------------------------------------------- */

static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* The square of rows r.. and columns c.. <= r, and its mirror image; in place if `single` is NULL. */
static void mirror_tile(double *a, float *single, int64_t n, int64_t r, int64_t c) {
    for (int64_t i = r; i < smaller_of(r + TILE, n); i++)
        for (int64_t j = c; j < smaller_of(c + TILE, i + 1); j++) {
            const double value = a[i * n + j];
            if (single)
                single[i * n + j] = single[j * n + i] = (float)value;
            else
                a[j * n + i] = value;
        }
}

static shoal_status fill_matrix(matrix *m, const shoal_stage *stage, float *single) {
    const int64_t n = m->n;
    double *a = m->a;
    shoal_status s = shoal_stage_step(m->ctx, stage, 0, 1, 10);
    if (s != SHOAL_OK) return s;
#pragma omp parallel for num_threads(m->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        if (last_of_row(m, i) >= 0) memset(a + i * n, 0, (size_t)n * sizeof *a);
    s = shoal_stage_step(m->ctx, stage, 1, 9, 10);
    if (s == SHOAL_OK) kinds[m->kind].fill(m);
    if (s == SHOAL_OK) s = shoal_stage_step(m->ctx, stage, 9, 10, 10);
    if (s != SHOAL_OK || m->short_of_memory) return s;
#pragma omp parallel for num_threads(m->threads) schedule(static, 1)
    for (int64_t r = 0; r < n; r += TILE)
        for (int64_t c = last_of_row(m, r); c >= 0; c -= TILE) mirror_tile(a, single, n, r, c);
    return s;
}

/* ---- arguments -------------------------------------------------------------------------------- */

/* The `length` characters of text are one decimal number, within the bounds. */
static int read_value(const char *text, size_t length, const value_range *v, double *value) {
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy) return 0;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (strspn(copy, "0123456789.eE+-") != length) return 0; /* no hexadecimal, no space */
    *value = strtod(copy, &end);
    return *end == 0 && *value >= v->min && *value <= v->max &&
           (!v->whole || *value == floor(*value));
}

static shoal_status read_values(shoal_context *ctx, const char *word, matrix *m) {
    const kind_row *kind = &kinds[m->kind];
    const char *text = strchr(word, ':');
    if (text && !kind->takes)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': %s takes no value", word, kind->name);
    for (; text && kind->takes[m->given].what; m->given++) {
        const value_range *v = &kind->takes[m->given];
        const size_t length = strcspn(++text, ":");
        if (!read_value(text, length, v, &m->value[m->given]))
            return shoal_fail(ctx, SHOAL_E_ARG,
                              "kind '%s': value %d, %s, must be a %snumber from %g to %g", word,
                              m->given + 1, v->what, v->whole ? "whole " : "", v->min, v->max);
        text = text[length] ? text + length : NULL;
    }
    if (text)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': %s takes no more than %d", word, kind->name,
                          m->given);
    if (m->given < kind->required)
        return shoal_fail(ctx, SHOAL_E_ARG, "kind '%s': value %d, %s, is missing", word,
                          m->given + 1, kind->takes[m->given].what);
    return SHOAL_OK;
}

static shoal_status check(shoal_context *ctx, const char *word, const void *A, matrix *m) {
    shoal_status status = shoal_ready(ctx);
    if (status == SHOAL_OK)
        status = shoal_find_kind(ctx, "symindef", shoal_symindef_kind, word, ":", &m->kind);
    if (status == SHOAL_OK) status = read_values(ctx, word, m);
    if (status != SHOAL_OK) return status;
    if (m->n < 0 || m->n > MAX_ROWS)
        return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; test matrices have 0 to %d rows",
                          (long long)m->n, MAX_ROWS);
    const kind_row *kind = &kinds[m->kind];
    const char *problem = kind->problem ? kind->problem(m) : NULL;
    if (problem)
        return shoal_fail(ctx, SHOAL_E_ARG, "n is %lld; kind '%s' %s", (long long)m->n, word,
                          problem);
    return A || m->n == 0 ? SHOAL_OK : shoal_fail(ctx, SHOAL_E_ARG, "A is NULL");
}

static shoal_status generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t n,
                             shoal_type type, void *A) {
    matrix m = { .ctx = ctx, .seed = seed, .n = n, .single = type == SHOAL_F32 };
    shoal_status status = check(ctx, kind, A, &m);
    if (status != SHOAL_OK || n == 0) return status;
    double *room = malloc((size_t)(m.single ? n * n + 2 * n : 2 * n) * sizeof *room);
    m.threads = ctx->threads;
    m.short_of_memory = !room;
    if (room) {
        m.lambda = room, m.order = (int64_t *)(room + n);
        m.a = m.single ? room + 2 * n : A;
        const shoal_stage stage = shoal_stage_begin(ctx, "matrix");
        status = shoal_stage_end(ctx, &stage, fill_matrix(&m, &stage, m.single ? A : NULL));
    }
    free(room);
    return m.short_of_memory ? shoal_fail(ctx, SHOAL_E_NOMEM,
                                          "no memory to make a matrix of n = %lld", (long long)n)
                             : status;
}

shoal_status shoal_symindef_generate(shoal_context *ctx, const char *kind, uint64_t seed, int64_t n,
                                     double *A) {
    return generate(ctx, kind, seed, n, SHOAL_F64, A);
}

shoal_status shoal_symindef_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                      int64_t n, float *A) {
    return generate(ctx, kind, seed, n, SHOAL_F32, A);
}
