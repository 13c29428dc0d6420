/* SPDX-License-Identifier: Apache-2.0
 *
 * ldlt.c - A = L D Lt without square roots for definite A: equation (5) of the small-systems paper,
 * section 3 (L. A. Abbas-Turki and S. Graillat, "Resolution of a large number of small random
 * symmetric linear systems in single precision arithmetic on GPUs", 2017),
 *     D(j) = A(j,j) - sum_{k<j} L(j,k)^2 D(k),   L(i,j) = (A(i,j) - sum_{k<j} L(i,k) L(j,k) D(k)) / D(j),
 * then L z = b, D w = z, Lt x = w (the paper's L Z = Y and D Lt X = Z).
 *
 * The columns are made one after another as there, but a few at a time, a block column j0 .. j0 +
 * COLUMNS - 1. With u(k,q) = D(k) L(j0 + q, k) the sums over k < j0 are products of L and u: a tile of
 * ROWS x COLUMNS of them is held in registers while k runs, so that ROWS * COLUMNS fused multiply-adds
 * cost ROWS + COLUMNS loads. What k = j0, j0 + 1, .. add comes last, when those pivots are known: every sum has
 * its terms in the order of k, and x the same bits for any COLUMNS.
 *
 * One lane per system: a vector holds one entry of LANES matrices (pack.h). Per lane n^3 / 6
 * multiply-adds; memory for L beside A, n (n + 1) / 2 numbers, D, 1 / D, and u of one block column. A
 * pivot that is zero or of another sign than those before fails the system: not definite.
 */
#include "core/vec.h"
#include "smallsym/condition.h"
#include "smallsym/pack.h"

enum { ROWS = 4, COLUMNS = VEC_REGISTERS == 32 ? 4 : 2 };

/* Arrays in the pack's scratch: L, D, 1 / D, and u of a block column. */
typedef struct factors {
    real *l, *d, *inverse, *u;
} factors;

static int64_t lower_numbers(int64_t n) { return n * (n + 1) / 2; }

static size_t ldlt_scratch(int64_t n) {
    return (size_t)(lower_numbers(n) + 2 * n + (n + COLUMNS) * COLUMNS);
}

static factors factors_of(const pack *p) {
    real *l = p->scratch, *d = l + lower_numbers(p->n) * LANES, *inverse = d + at_row(p->n);
    return (factors){ l, d, inverse, inverse + at_row(p->n) };
}

#define INLINED static inline __attribute__((always_inline))

/* s(r,q) = A(i0 + r, j0 + q) - sum_{k<j0} L(i0 + r, k) u(k,q). Rows past the last repeat it. The sums
 * have names of their own in the loop, or they would live in memory. */
INLINED void sums_before(vec s[ROWS][COLUMNS], const real *a, const factors *f, int64_t n,
                         int64_t i0, int64_t j0) {
    const real *row[ROWS];
    vec sum[ROWS][COLUMNS];
    for (int r = 0; r < ROWS; r++) {
        const int64_t i = i0 + r < n ? i0 + r : n - 1;
        row[r] = f->l + at_entry(i, 0);
        for (int q = 0; q < COLUMNS; q++) {
            const int64_t j = j0 + q < i ? j0 + q : i; /* above the diagonal: not used */
            sum[r][q] = vec_at(a + at_entry(i, j));
        }
    }
    for (int64_t k = 0; k < j0; k++) {
        vec u[COLUMNS];
        for (int q = 0; q < COLUMNS; q++) u[q] = vec_at(f->u + at_row(k * COLUMNS + q));
        for (int r = 0; r < ROWS; r++) {
            const vec l = -vec_at(row[r] + at_row(k));
            for (int q = 0; q < COLUMNS; q++) sum[r][q] = vec_fma(l, u[q], sum[r][q]);
        }
    }
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < COLUMNS; q++) s[r][q] = sum[r][q];
}

/* The diagonal block of a block column, counted from j0. */
typedef struct block {
    vec inverse[COLUMNS];    /* 1 / D(q)                       */
    vec u[COLUMNS][COLUMNS]; /* u(p,q) = D(p) L(q,p), p < q    */
} block;

typedef struct pivots { /* of those seen so far, in each lane */
    vec least, most;
} pivots;

static pivots no_pivots(void) {
    return (pivots){ vec_all((real)INFINITY), -vec_all((real)INFINITY) };
}

static inline void look_at(pivots *p, vec d) {
    p->least = vec_min(d, p->least), p->most = vec_max(d, p->most);
}

/* D and L of the first rows of a block column, whose sums are s; D(r) takes the place of s(r,r). */
INLINED block factor_block(vec s[ROWS][COLUMNS], const factors *f, int64_t j0, int columns,
                           pivots *seen) {
    block d = { 0 };
    for (int r = 0; r < columns; r++) {
        for (int q = 0; q < r; q++) {
            for (int p = 0; p < q; p++) s[r][q] = vec_fma(-s[r][p], d.u[p][q], s[r][q]);
            s[r][q] = s[r][q] * d.inverse[q]; /* L(r,q)                          */
            d.u[q][r] = s[r][q] * s[q][q];    /* D(q) L(r,q), as make_u() has it */
            vec_to(f->l + at_entry(j0 + r, j0 + q), s[r][q]);
            s[r][r] = vec_fma(-s[r][q], d.u[q][r], s[r][r]); /* D(r) -= L(r,q)^2 D(q) */
        }
        look_at(seen, s[r][r]);
        d.inverse[r] = 1 / s[r][r];
        vec_to(f->d + at_row(j0 + r), s[r][r]);
        vec_to(f->inverse + at_row(j0 + r), d.inverse[r]);
    }
    return d;
}

/* L of another row of the block column, whose sums are s: L(q) = (s(q) - sum_{p<q} L(p) u(p,q)) / D(q). */
INLINED void finish_row(vec s[COLUMNS], const block *d, real *l, int columns) {
    for (int q = 0; q < columns; q++) {
        for (int p = 0; p < q; p++) s[q] = vec_fma(-s[p], d->u[p][q], s[q]);
        s[q] = s[q] * d->inverse[q];
        vec_to(l + at_row(q), s[q]);
    }
}

/* u(k,q) = D(k) L(j0 + q, k) of block column j0, for all k before it. */
static inline void make_u(const factors *f, int64_t j0, int64_t n) {
    for (int q = 0; q < COLUMNS; q++) {
        const real *row = f->l + at_entry(j0 + q < n ? j0 + q : n - 1, 0);
        for (int64_t k = 0; k < j0; k++)
            vec_to(f->u + at_row(k * COLUMNS + q),
                   vec_at(row + at_row(k)) * vec_at(f->d + at_row(k)));
    }
}

/* L and D of the systems of a vector. */
static pivots factor_vector(const real *a, const factors *f, int64_t n) {
    pivots seen = no_pivots();
    for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
        const int columns = n - j0 < COLUMNS ? (int)(n - j0) : COLUMNS;
        vec s[ROWS][COLUMNS];
        make_u(f, j0, n);
        sums_before(s, a, f, n, j0, j0);
        const block d = factor_block(s, f, j0, columns, &seen);
        for (int r = columns; r < ROWS && j0 + r < n; r++)
            finish_row(s[r], &d, f->l + at_entry(j0 + r, j0), columns);
        for (int64_t i0 = j0 + ROWS; i0 < n; i0 += ROWS) {
            sums_before(s, a, f, n, i0, j0);
            for (int r = 0; r < ROWS && i0 + r < n; r++)
                finish_row(s[r], &d, f->l + at_entry(i0 + r, j0), columns);
        }
    }
    return seen;
}

/* The outcome of each lane by its least and largest pivot: of one sign, or not definite. Their ratio is
 * rcond. */
static void fill_outcome(pack *p, const pivots *seen) {
    real low[LANES], high[LANES];
    memcpy(low, &seen->least, sizeof low);
    memcpy(high, &seen->most, sizeof high);
    for (int l = 0; l < LANES && p->n > 0; l++) {
        const int positive = low[l] > 0, negative = high[l] < 0;
        const real smallest = positive ? low[l] : -high[l], largest = positive ? high[l] : -low[l];
        if (!positive && !negative) p->outcome.status[l] = SHOAL_SYSTEM_PIVOT;
        p->outcome.rcond[l] = (float)(smallest / largest);
        p->outcome.positive[l] = positive ? (int32_t)p->n : 0;
        p->outcome.negative[l] = negative ? (int32_t)p->n : 0;
    }
}

static void ldlt_factor(pack *p, int variant) {
    (void)variant;
    const factors f = factors_of(p);
    const pivots seen = factor_vector(p->a, &f, p->n);
    fill_outcome(p, &seen);
}

/* The factors for the caller to keep: L below the diagonal, D on it. */
static void ldlt_give(pack *p) {
    const factors f = factors_of(p);
    for (int64_t i = 0; i < p->n; i++) {
        memcpy(p->a + at_entry(i, 0), f.l + at_entry(i, 0), (size_t)at_row(i) * sizeof(real));
        vec_to(p->a + at_entry(i, i), vec_at(f.d + at_row(i)));
    }
}

/* Kept factors back: the same numbers that ldlt_factor() left, 1 / D too, so that solves have the
 * same bits. */
static void ldlt_take(pack *p) {
    const factors f = factors_of(p);
    pivots seen = no_pivots();
    memcpy(f.l, p->a, (size_t)at_entry(p->n, 0) * sizeof(real));
    for (int64_t i = 0; i < p->n; i++) {
        const vec d = vec_at(p->a + at_entry(i, i));
        look_at(&seen, d);
        vec_to(f.d + at_row(i), d);
        vec_to(f.inverse + at_row(i), 1 / d);
    }
    fill_outcome(p, &seen);
}

enum { AT_ONCE = 4 }; /* rows of a substitution that share what they load */

/* z(i) = b(i) - sum_{k<i} L(i,k) z(k): four rows together over the columns before them, then among
 * themselves. Even and odd k have a sum each, since a multiply-add waits for the one before it. */
static void forward(const factors *f, const real *b, real *z, int64_t n) {
    for (int64_t i0 = 0; i0 < n; i0 += AT_ONCE) {
        const int rows = n - i0 < AT_ONCE ? (int)(n - i0) : AT_ONCE;
        const real *row[AT_ONCE];
        vec sum[AT_ONCE], odd[AT_ONCE];
        for (int r = 0; r < AT_ONCE; r++) {
            const int64_t i = i0 + (r < rows ? r : 0);
            row[r] = f->l + at_entry(i, 0);
            sum[r] = vec_at(b + at_row(i)), odd[r] = vec_all(0);
        }
        for (int64_t k = 0; k < i0; k += 2) { /* i0 is even */
            const vec z0 = vec_at(z + at_row(k)), z1 = vec_at(z + at_row(k + 1));
            for (int r = 0; r < AT_ONCE; r++) {
                sum[r] = vec_fma(-vec_at(row[r] + at_row(k)), z0, sum[r]);
                odd[r] = vec_fma(-vec_at(row[r] + at_row(k + 1)), z1, odd[r]);
            }
        }
        for (int r = 0; r < rows; r++) {
            sum[r] += odd[r];
            for (int q = 0; q < r; q++)
                sum[r] = vec_fma(-vec_at(row[r] + at_row(i0 + q)), sum[q], sum[r]);
            vec_to(z + at_row(i0 + r), sum[r]);
        }
    }
}

/* x(k) = z(k) / D(k) - sum_{i>k} L(i,k) x(i): four rows i together are taken off all before them. */
static void backward(const factors *f, real *x, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        vec_to(x + at_row(i), vec_at(x + at_row(i)) * vec_at(f->inverse + at_row(i)));
    for (int64_t end = n; end > 0; end -= AT_ONCE) {
        const int rows = end < AT_ONCE ? (int)end : AT_ONCE;
        const int64_t i0 = end - rows;
        const real *row[AT_ONCE];
        vec last[AT_ONCE];
        for (int r = rows - 1; r >= 0; r--) {
            vec s = vec_at(x + at_row(i0 + r));
            for (int q = r + 1; q < rows; q++)
                s = vec_fma(-vec_at(f->l + at_entry(i0 + q, i0 + r)), last[q], s);
            last[r] = s;
            row[r] = f->l + at_entry(i0 + r, 0);
            vec_to(x + at_row(i0 + r), s);
        }
        for (int r = rows; r < AT_ONCE; r++) last[r] = vec_all(0), row[r] = row[0];
        for (int64_t k = 0; k < i0; k++) {
            vec s = vec_at(x + at_row(k));
            for (int r = AT_ONCE - 1; r >= 0; r--)
                s = vec_fma(-vec_at(row[r] + at_row(k)), last[r], s);
            vec_to(x + at_row(k), s);
        }
    }
}

static void ldlt_solve(pack *p, int variant) {
    (void)variant;
    const factors f = factors_of(p);
    forward(&f, p->b, p->x, p->n);
    backward(&f, p->x, p->n);
}

/* The right-hand side whose forward substitution grows: z(i) = t +- 1 / s(i), t the sum of what came
 * before, by the sign of t. p->b is that right-hand side, p->x becomes z. */
static void grow_forward(const pack *p, const factors *f) {
    for (int64_t i = 0; i < p->n; i++) {
        const real *row = f->l + at_entry(i, 0);
        vec t = vec_all(0), odd = t;
        int64_t k = 0;
        for (; k + 2 <= i; k += 2) {
            t = vec_fma(-vec_at(row + at_row(k)), vec_at(p->x + at_row(k)), t);
            odd = vec_fma(-vec_at(row + at_row(k + 1)), vec_at(p->x + at_row(k + 1)), odd);
        }
        if (k < i) t = vec_fma(-vec_at(row + at_row(k)), vec_at(p->x + at_row(k)), t);
        t += odd;
        const vec one = 1 / vec_at(p->s + at_row(i)), sign = vec_select(t < 0, -one, one);
        vec_to(p->b + at_row(i), sign);
        vec_to(p->x + at_row(i), t + sign);
    }
}

static void ldlt_bound(pack *p, void *bound) {
    const factors f = factors_of(p);
    vec product = vec_all((real)(SMALLSYM_BOUND * p->n));
    for (int64_t i = 0; i < p->n; i++)
        product *= vec_at(p->a + at_entry(i, i)) * vec_at(f.inverse + at_row(i));
    memcpy(bound, &product, sizeof product);
}

static void ldlt_grow(pack *p, int variant, void *growth) {
    (void)variant;
    const factors f = factors_of(p);
    vec most = vec_all(0);
    grow_forward(p, &f);
    backward(&f, p->x, p->n);
    for (int64_t i = 0; i < p->n; i++)
        most = vec_max(vec_abs(vec_at(p->x + at_row(i))) / vec_at(p->s + at_row(i)), most);
    memcpy(growth, &most, sizeof most);
}

const smallsym_cpu_method R(smallsym_ldlt) = { .scratch = ldlt_scratch,
                                               .factor = ldlt_factor,
                                               .solve = ldlt_solve,
                                               .scales = SMALLSYM_BY_DIAGONAL,
                                               .bound = ldlt_bound,
                                               .grow = ldlt_grow,
                                               .give = ldlt_give,
                                               .take = ldlt_take };
