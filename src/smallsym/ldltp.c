/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp.c - P A Pt = L D Lt for symmetric indefinite A, D of 1 x 1 and 2 x 2 blocks, by rook pivoting
 * (bounded Bunch-Kaufman; Ashcraft, Grimes and Lewis), with alpha = (1 + sqrt 17) / 8. Of the matrix
 * that is left, with g(c) the largest size in column c off the diagonal, its first diagonal entry is
 * taken if |A(i,i)| >= alpha g(i). Else one goes to the column i with the largest diagonal entry, which
 * most often is a pivot, and takes
 *     A(i,i)                       if |A(i,i)| >= alpha g(i), else with r where g(i) is attained
 *     A(r,r)                       if |A(r,r)| >= alpha g(r)
 *     the block of rows i and r    if g(r) = g(i), else goes on with i = r.
 * So |L| <= 1 / (1 - alpha) = 2.8, a 2 x 2 block has a condition number below 4.6 and one eigenvalue
 * of each sign: inertia can be read off D. Then L z = P b, D w = z, Lt P x = w.
 *
 * A is scaled first, S A S with S of powers of two (scale.h), if its rows differ in size. A pivot of
 * that, A(i,i) or the block's A(r,i), that is not larger than 2^-90 (f32) or 2^-700 (f64) times max|A| is
 * zero: the column it was looked for in is zero to the last bit that matters, and the system is
 * singular.
 *
 * Lanes pivot differently. The first column, the diagonal and its largest entry's column are looked at
 * for all lanes at once; exchanges of rows, and a search that goes on, go lane by lane. All lanes take
 * one column per step, L(i,k) u(j) off A(i,j): a 2 x 2 block takes two steps, the second without a
 * search. Per lane n^3 / 6 multiply-adds, all of them SIMD, with a load and a store each; up to n^2
 * numbers are exchanged; memory for L beside A, and 6 n numbers.
 */
#include "core/vec.h"
#include "smallsym/scale.h"

static const real ALPHA = (real)0.64038820320220756873;
static const real NOTHING = (real)(sizeof(real) == 4 ? 0x1p-90 : 0x1p-700);

/* Arrays in the pack's scratch. */
typedef struct factors {
    real *w;        /* the matrix that is left, and L under the columns that are done        */
    real *e, *f;    /* D inverse: its diagonal, and (k+1,k) of a block that begins at k, else 0 */
    real *l, *u;    /* of the step: A(i,j) -= l(i) u(j)                                      */
    real *second;   /* l of the next step in lanes in the middle of a block                  */
    int32_t *order; /* row i of P A Pt is row order(i) of A                                  */
} factors;

enum { ONE, FIRST, SECOND }; /* a lane's step: a 1 x 1 pivot, or a half of a 2 x 2 */

/* Numbers all, so that vectors of them can be compared. */
typedef struct step {
    real kind[LANES];
    real c11[LANES], c21[LANES], c22[LANES]; /* the inverse of the pivot            */
    real least[LANES], most[LANES];          /* sizes of the eigenvalues of D so far */
    real positive[LANES], singular[LANES];
    real nothing[LANES]; /* pivots up to it are zero            */
    int blocks;          /* whether any lane begins a 2 x 2     */
} step;

static size_t ldltp_scratch(int64_t n) { return (size_t)(n * (n + 1) / 2 + 6 * n); }

static factors factors_of(const pack *p) {
    real *e = p->scratch + at_entry(p->n, 0);
    const int64_t row = at_row(p->n);
    return (factors){ p->scratch,
                      e,
                      e + row,
                      e + 2 * row,
                      e + 3 * row,
                      e + 4 * row,
                      (int32_t *)(void *)(e + 5 * row) };
}

/* ---- the search ------------------------------------------------------------------------------- */

/* Largest size from row `first` on in column c or, c < 0, on the diagonal; and its row as a real, or k. */
static inline __attribute__((always_inline)) void find_largest(const real *w, int64_t n, int64_t k,
                                                               int64_t first, int64_t c, real *most,
                                                               real *at) {
    vec largest = { 0 }, row = vec_all((real)k);
    for (int64_t i = first; i < n; i++) {
        const vec size = vec_abs(vec_at(w + at_entry(i, c < 0 ? i : c)));
        const vec_mask more = size > largest;
        largest = vec_select(more, size, largest);
        row = vec_select(more, vec_all((real)i), row);
    }
    vec_to(most, largest), vec_to(at, row);
}

/* Below the diagonal of column k. */
static void first_column(const real *w, int64_t n, int64_t k, real *most, real *at) {
    find_largest(w, n, k, k + 1, k, most, at);
}

/* The same of column and row c of what is left from k on, in one lane. */
static real column_of_lane(const real *w, int64_t n, int64_t k, int64_t c, int64_t *at) {
    real most = 0;
    const real *entry = w + at_entry(c, k);
    *at = c;
    for (int64_t j = k; j < c; j++, entry += LANES)
        if (real_abs(*entry) > most) most = real_abs(*entry), *at = j;
    for (int64_t i = c + 1; i < n; i++) {
        entry += at_row(i); /* from (i - 1, c) to (i, c) */
        if (real_abs(*entry) > most) most = real_abs(*entry), *at = i;
    }
    return most;
}

typedef struct pivot {
    int64_t i, r; /* r < 0: 1 x 1 */
} pivot;

/* From column k, whose largest entry, `most` in row `at`, forbids A(k,k). Sizes grow: it ends. */
static pivot rook(const real *w, int64_t n, int64_t k, real most, int64_t at) {
    int64_t i = k;
    for (;;) {
        int64_t next;
        const real other = column_of_lane(w, n, k, at, &next);
        if (!(real_abs(w[at_entry(at, at)]) < ALPHA * other)) return (pivot){ at, -1 };
        if (other <= most) return (pivot){ i, at };
        i = at, most = other, at = next;
    }
}

static inline void swap(real *v, real *w) {
    const real kept = *v;
    *v = *w, *w = kept;
}

/* Rows and columns a <= b of one lane, those of L too. */
static void exchange(real *w, int32_t *order, int64_t n, int64_t a, int64_t b) {
    if (a == b) return;
    for (int64_t j = 0; j < a; j++) swap(w + at_entry(a, j), w + at_entry(b, j));
    for (int64_t j = a + 1; j < b; j++) swap(w + at_entry(j, a), w + at_entry(b, j));
    for (int64_t i = b + 1; i < n; i++) swap(w + at_entry(i, a), w + at_entry(i, b));
    swap(w + at_entry(a, a), w + at_entry(b, b));
    const int32_t kept = order[at_row(a)];
    order[at_row(a)] = order[at_row(b)], order[at_row(b)] = kept;
}

/* Marks the lanes that need a pivot and cannot take A(k,k); most and at are of column k. */
static int refused(const factors *f, int64_t k, const step *s, const real *most, int *lanes) {
    const real *d = f->w + at_entry(k, k);
    int any = 0;
    for (int l = 0; l < LANES; l++)
        any |= lanes[l] = s->kind[l] == ONE && real_abs(d[l]) < ALPHA * most[l];
    return any;
}

/* Finds every lane's pivot for step k and brings it to row k, and k + 1. */
static void choose(const factors *f, int64_t n, int64_t k, step *s) {
    real most[LANES] __attribute__((aligned(64))), at[LANES] __attribute__((aligned(64)));
    int search[LANES];
    EACH_LANE(l) s->kind[l] = s->kind[l] == FIRST ? SECOND : ONE;
    s->blocks = 0;
    first_column(f->w, n, k, most, at);
    if (!refused(f, k, s, most, search)) return;
    find_largest(f->w, n, k, k, -1, most, at);
    for (int l = 0; l < LANES; l++)
        if (search[l]) exchange(f->w + l, f->order + l, n, k, (int64_t)at[l]);
    first_column(f->w, n, k, most, at);
    if (!refused(f, k, s, most, search)) return;
    for (int l = 0; l < LANES; l++) {
        if (!search[l]) continue;
        real *w = f->w + l;
        const pivot found = rook(w, n, k, most[l], (int64_t)at[l]);
        exchange(w, f->order + l, n, k, found.i);
        if (found.r < 0) continue;
        exchange(w, f->order + l, n, k + 1, found.r == k ? found.i : found.r);
        s->kind[l] = FIRST;
        s->blocks = 1;
    }
}

/* ---- pivots ----------------------------------------------------------------------------------- */

/* [a c; c b] = c [x 1; 1 y] with |x|, |y| < alpha: nothing leaves its range that need not. The
 * eigenvalues are c (m +- q), m = (x + y) / 2, q^2 = ((x - y) / 2)^2 + 1 > m^2. */
static void invert_block(step *s, int l, real a, real b, real c) {
    s->c11[l] = s->c21[l] = s->c22[l] = 0;
    s->positive[l] += 1;
    if (real_abs(c) <= s->nothing[l]) {
        s->singular[l] = 1;
        return;
    }
    const real x = a / c, y = b / c, scale = 1 / (c * (x * y - 1));
    s->c11[l] = y * scale, s->c21[l] = -scale, s->c22[l] = x * scale;
    const real m = real_abs(x + y) / 2, h = (x - y) / 2, q = (real)sqrt((double)(h * h + 1));
    s->least[l] = real_min(real_abs(c) * ((1 - x * y) / (q + m)), s->least[l]);
    s->most[l] = real_max(real_abs(c) * (q + m), s->most[l]);
}

/* D inverse of the pivots of step k, and their part of the outcome. */
static void invert(const factors *f, int64_t k, step *s) {
    const real *d = f->w + at_entry(k, k);
    EACH_LANE(l) {
        const real size = real_abs(d[l]), none = size <= s->nothing[l];
        const real inverse = none ? 0 : 1 / d[l];
        const int one = s->kind[l] == ONE;
        s->c11[l] = one ? inverse : s->c11[l];
        s->singular[l] = one && none ? 1 : s->singular[l];
        s->positive[l] += one && d[l] > 0 ? 1 : 0;
        s->least[l] = one && size < s->least[l] ? size : s->least[l];
        s->most[l] = one && size > s->most[l] ? size : s->most[l];
    }
    for (int l = 0; l < LANES && s->blocks; l++)
        if (s->kind[l] == FIRST)
            invert_block(s, l, d[l], d[at_entry(k + 1, k + 1) - at_entry(k, k) + l],
                         d[at_row(k + 1) + l]);
    real *e = f->e + at_row(k), *link = f->f + at_row(k);
    EACH_LANE(l) {
        e[l] = s->kind[l] == SECOND ? s->c22[l] : s->c11[l];
        link[l] = s->kind[l] == FIRST ? s->c21[l] : 0;
    }
}

/* ---- elimination ------------------------------------------------------------------------------ */

/* l and u of step k, and L(i,k). Within a block there is nothing to take off: 0. */
static void multipliers(const factors *f, int64_t n, int64_t k, const step *s) {
    const vec kind = vec_at(s->kind), c11 = vec_at(s->c11), c21 = vec_at(s->c21), zero = { 0 };
    for (int64_t i = k + 1; i < n; i++) {
        vec u = vec_at(f->w + at_entry(i, k)), l = c11 * u;
        l = vec_select(kind == SECOND, vec_at(f->second + at_row(i)), l);
        if (s->blocks && i == k + 1) {
            l = vec_select(kind == FIRST, zero, l);
            u = vec_select(kind == FIRST, zero, u);
        } else if (s->blocks) { /* (l, next l) = (u, next u) D inverse */
            const vec next = vec_at(f->w + at_entry(i, k + 1));
            l = vec_select(kind == FIRST, vec_fma(c21, next, l), l);
            vec_to(f->second + at_row(i), vec_fma(vec_at(s->c22), next, c21 * u));
        }
        vec_to(f->l + at_row(i), l);
        vec_to(f->u + at_row(i), u);
        vec_to(f->w + at_entry(i, k), l);
    }
}

/* A(i,j) -= l(i) u(j) for k < j <= i, two rows at a time. */
static void take_off(const factors *f, int64_t n, int64_t k) {
    const real *restrict u = f->u;
    for (int64_t i = k + 1; i < n; i += 2) {
        const int64_t below = i + 1 < n ? i + 1 : i;
        real *restrict upper = f->w + at_entry(i, 0), *restrict lower = f->w + at_entry(below, 0);
        const vec l0 = -vec_at(f->l + at_row(i)), l1 = -vec_at(f->l + at_row(below));
        for (int64_t j = k + 1; j <= i && below > i; j++) {
            const vec with = vec_at(u + at_row(j));
            vec_to(upper + at_row(j), vec_fma(l0, with, vec_at(upper + at_row(j))));
            vec_to(lower + at_row(j), vec_fma(l1, with, vec_at(lower + at_row(j))));
        }
        for (int64_t j = below > i ? below : k + 1; j <= below; j++)
            vec_to(lower + at_row(j),
                   vec_fma(l1, vec_at(u + at_row(j)), vec_at(lower + at_row(j))));
    }
}

static void ldltp_factor(pack *p, int variant) {
    (void)variant;
    const factors f = factors_of(p);
    const int64_t n = p->n;
    step s __attribute__((aligned(64))) = { .blocks = 0 };
    copy_scaled(p, f.w);
    for (int64_t i = 0; i < n; i++) /* p->x: the sizes of rows, as scale_by_rows() leaves them */
        EACH_LANE(l) s.nothing[l] = real_max(p->x[at_row(i) + l], s.nothing[l]);
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < LANES; l++) f.order[at_row(i) + l] = (int32_t)i;
    EACH_LANE(l) s.nothing[l] *= NOTHING, s.least[l] = (real)INFINITY;
    for (int64_t k = 0; k < n; k++) {
        choose(&f, n, k, &s);
        invert(&f, k, &s);
        multipliers(&f, n, k, &s);
        take_off(&f, n, k);
    }
    for (int l = 0; l < LANES && n > 0; l++) {
        if (s.singular[l] != 0) p->outcome.status[l] = SHOAL_SYSTEM_SINGULAR;
        p->outcome.rcond[l] = (float)(s.least[l] / s.most[l]);
        p->outcome.positive[l] = (int32_t)s.positive[l];
        p->outcome.negative[l] = (int32_t)n - p->outcome.positive[l];
    }
}

/* ---- the solve -------------------------------------------------------------------------------- */

/* y := D^-1 y. */
static void divide(const factors *f, int64_t n, real *y) {
    vec before = { 0 }, link = { 0 }; /* z(k-1), and D inverse (k,k-1) */
    for (int64_t k = 0; k < n; k++) { /* D w = z */
        const vec z = vec_at(y + at_row(k)), next = vec_at(f->f + at_row(k));
        vec w = vec_fma(link, before, vec_at(f->e + at_row(k)) * z);
        if (k + 1 < n) w = vec_fma(next, vec_at(y + at_row(k + 1)), w);
        vec_to(y + at_row(k), w);
        before = z, link = next;
    }
}

/* y is P b and becomes P x. `grows`: and z, zero, becomes A^-1 of `signs`, each chosen so that z(i) grows. Both at
 * once take little longer than one: L is loaded once, and neither waits for the other. */
static inline __attribute__((always_inline)) void substitute(const factors *f, int64_t n, real *y,
                                                             const int grows, real *z,
                                                             real *signs) {
    for (int64_t i = 0; i < n; i++) { /* z(i) = b(i) - sum_{k<i} L(i,k) z(k) */
        const real *row = f->w + at_entry(i, 0);
        vec even = vec_at(y + at_row(i)), odd = { 0 }, even_z = { 0 }, odd_z = { 0 };
        for (int64_t k = 0; k + 1 < i; k += 2) {
            const vec l0 = -vec_at(row + at_row(k)), l1 = -vec_at(row + at_row(k + 1));
            even = vec_fma(l0, vec_at(y + at_row(k)), even);
            odd = vec_fma(l1, vec_at(y + at_row(k + 1)), odd);
            if (grows) even_z = vec_fma(l0, vec_at(z + at_row(k)), even_z);
            if (grows) odd_z = vec_fma(l1, vec_at(z + at_row(k + 1)), odd_z);
        }
        if (i % 2) {
            const vec l0 = -vec_at(row + at_row(i - 1));
            even = vec_fma(l0, vec_at(y + at_row(i - 1)), even);
            if (grows) even_z = vec_fma(l0, vec_at(z + at_row(i - 1)), even_z);
        }
        vec_to(y + at_row(i), even + odd);
        if (grows) {
            const vec one = vec_all(1), sum = even_z + odd_z, sign = vec_select(sum < 0, -one, one);
            vec_to(signs + at_row(i), sign), vec_to(z + at_row(i), sum + sign);
        }
    }
    divide(f, n, y);
    if (grows) divide(f, n, z);
    for (int64_t i = n - 1; i > 0; i--) { /* x(k) = w(k) - sum_{i>k} L(i,k) x(i) */
        const real *row = f->w + at_entry(i, 0);
        const vec last = -vec_at(y + at_row(i)), last_z = grows ? -vec_at(z + at_row(i)) : last;
        for (int64_t k = 0; k < i; k++) {
            const vec l = vec_at(row + at_row(k));
            vec_to(y + at_row(k), vec_fma(l, last, vec_at(y + at_row(k))));
            if (grows) vec_to(z + at_row(k), vec_fma(l, last_z, vec_at(z + at_row(k))));
        }
    }
}

/* v(order(i)) = s(order(i)) y(i): S Pt y. */
static void unpermute(const pack *p, const factors *f, const real *y, real *v) {
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++) v[at_row(f->order[at_row(i) + l]) + l] = y[at_row(i) + l];
    scale_vector(p, v);
}

static void ldltp_solve(pack *p, int variant) {
    (void)variant;
    const factors f = factors_of(p);
    real *y = f.l; /* free after the factorisation */
    const real *b = p->b;
    if (p->scaled) {
        memcpy(p->x, p->b, (size_t)at_row(p->n) * sizeof(real));
        scale_vector(p, p->x);
        b = p->x;
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++) y[at_row(i) + l] = b[at_row(f.order[at_row(i) + l]) + l];
    if (p->grows)
        substitute(&f, p->n, y, 1, f.second, f.u);
    else
        substitute(&f, p->n, y, 0, NULL, NULL);
    unpermute(p, &f, y, p->x);
}

/* As for ldlt, of lanes whose pivots are single and of one sign. C of condition.h is S A S scaled by its diagonal. */
static void ldltp_bound(pack *p, void *bound) {
    const factors f = factors_of(p);
    vec product = vec_all((real)(SMALLSYM_BOUND * p->n)), links = vec_all(0);
    vec least = vec_all((real)INFINITY), most = links;
    int definite[LANES], any = 0;
    for (int l = 0; l < LANES; l++)
        any |= definite[l] = p->outcome.positive[l] == p->n || p->outcome.positive[l] == 0;
    for (int64_t i = 0; i < p->n && any; i++) {
        const vec s = vec_at(p->s + at_row(i)), own = vec_at(p->a + at_entry(i, i)) * s * s;
        product *= own * vec_at(f.e + at_row(i)), links += vec_abs(vec_at(f.f + at_row(i)));
        least = vec_min(vec_abs(own), least), most = vec_max(vec_abs(own), most);
    }
    for (int l = 0; l < LANES; l++)
        ((real *)bound)[l] =
            definite[l] && links[l] == 0 ? product[l] * (most[l] / least[l]) : (real)INFINITY;
}

/* Of the vector that ldltp_solve() left. */
static void ldltp_grow(pack *p, int variant, void *growth) {
    (void)variant;
    const factors f = factors_of(p);
    vec most = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) most = vec_max(vec_abs(vec_at(f.second + at_row(i))), most);
    memcpy(growth, &most, sizeof most);
}

static void ldltp_grown(pack *p, const int *again, void *growth) {
    (void)again, (void)growth;
    const factors f = factors_of(p);
    unpermute(p, &f, f.second, p->x);
    for (int64_t i = 0; i < p->n; i++) /* S^-1 of the signs */
        for (int l = 0; l < LANES; l++) {
            const int64_t at = at_row(f.order[at_row(i) + l]) + l;
            p->b[at] = f.u[at_row(i) + l] / p->s[at];
        }
}

const smallsym_cpu_method R(smallsym_ldltp) = { .scratch = ldltp_scratch,
                                                .factor = ldltp_factor,
                                                .solve = ldltp_solve,
                                                .scales = SMALLSYM_BY_ROWS,
                                                .bound = ldltp_bound,
                                                .grow = ldltp_grow,
                                                .grown = ldltp_grown };
