/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.h - systems whose rows differ in size by more than the type's range leaves room for (smallsym_is_wide(), in
 * condition.h), and what overflows elsewhere: one after the other, in plain loops, on CPU and GPU.
 *
 * S = diag 2^e(i), so that the rows of S A S are of one size (scale.h), is found from the exponents of A's
 * numbers, and each number of S A S is made by one multiplication with 2^(e(i) + e(j)). So nothing is lost that
 * is not negligible in its own row and column. The same with b, S b 2^-e_b, and x = S y 2^e_b: what the type
 * does not hold of x is lost, and is judged as it is stored.
 *
 *     definite   S A S = L D Lt, pivots in order, for ldlt
 *     any other  P S A S Pt = L D Lt, pivots of one or two rows, for ldltp and hhpcr
 *
 * The backward error is that of A x = b, and the condition number that of S A S. With opts.refine, and for the
 * second method of "auto", y is refined. With opts.estimate, |A^-1| comes from all of its columns.
 * 2 n^3 / 3 operations, as many comparisons for pivots, up to 14 n^2 for S, and 2 n^2 per solve.
 */
#ifndef SHOAL_SMALLSYM_WIDE_H
#define SHOAL_SMALLSYM_WIDE_H

#include "core/twice.h"
#include "smallsym/condition.h"
#include "smallsym/plan.h"

/* Functions of their own on a GPU: whatever kernel calls them is compiled in a moment, and stays small. */
#ifdef __CUDACC__
#define WIDE_PART __host__ __device__ __noinline__ static inline
#else
#define WIDE_PART static inline
#endif

enum { WIDE_VECTORS = 8, WIDE_ROUNDS = 14, WIDE_REFINEMENTS = 30, NO_EXPONENT = -100000 };

/* Numbers that a system of n unknowns needs. */
SHOAL_HD static inline int64_t wide_numbers(int64_t n) {
    return n * (n + 1) / 2 + WIDE_VECTORS * n;
}

typedef struct wide_system {
    int n, definite;
    const real *A; /* A(i,j) at smallsym_at(shape, i, j)                 */
    smallsym_shape shape;
    real *l;           /* L below the diagonal, D inverse on it              */
    real *link;        /* D inverse (k+1,k) of a block that begins at k      */
    real *y, *v;       /* work                                               */
    real *b, *x;       /* S b 2^-e_b, and the answer to that                 */
    real *kept;        /* a vector that A^-1 makes large                     */
    int32_t *e;        /* exponents of S                                     */
    int32_t *order;    /* row i of P S A S Pt is row order(i)                */
    int e_a;           /* A is that of the caller times 2^-e_a               */
    int e_b;           /* of the right-hand side in hand                     */
    int e_norm;        /* |A| = norm_of_a 2^e_norm                           */
    real norm_of_a;    /* ...                                                */
    int32_t status;    /* of the factors                                     */
    float rcond, look; /* of the pivots, and of S A S                        */
    int positive;      /* pivots; the others are negative                    */
    real doubt;        /* |A^-1 (b - A x)| / |x| of `kept`                   */
} wide_system;

/* What is known of an answer. */
typedef struct wide_answer {
    float first, residual; /* before refinement, and of x */
    real doubt;
} wide_answer;

/* ---- scales ------------------------------------------------------------------------------------ */

/* v 2^e for any e; nothing is lost on the way that the result could hold. */
WIDE_PART real wide_times(real v, int e) {
    for (; e > REAL_BIAS; e -= REAL_BIAS) v *= power_of_two(REAL_BIAS);
    for (; e < 1 - REAL_BIAS; e += REAL_BIAS - 1) v *= power_of_two(1 - REAL_BIAS);
    return v * power_of_two(e);
}

/* e with 2^e <= |v| < 2^(e+1), for subnormal numbers, too; NO_EXPONENT of 0. */
WIDE_PART int wide_exponent(real v) {
    const real size = real_abs(v);
    if (size >= REAL_MIN) return exponent_of(size);
    return size > 0 ? exponent_of(size * power_of_two(REAL_FRACTION + 1)) - REAL_FRACTION - 1
                    : (int)NO_EXPONENT;
}

SHOAL_HD static inline real wide_entry(const wide_system *w, int i, int j) {
    return w->A[i > j ? smallsym_at(&w->shape, i, j) : smallsym_at(&w->shape, j, i)];
}

WIDE_PART real wide_scaled(const wide_system *w, int i, int j) {
    return wide_times(wide_entry(w, i, j), w->e[i] + w->e[j]);
}

/* `room` has wide_numbers(n) numbers. */
SHOAL_HD static inline void wide_begin(wide_system *w, int n, int definite, const real *A,
                                       const smallsym_shape *shape, real *room) {
    real *at = room + (int64_t)n * (n + 1) / 2;
    w->n = n, w->definite = definite, w->A = A, w->e_a = 0, w->shape = *shape, w->l = room;
    w->link = at, w->y = at + n, w->v = at + 2 * n, w->b = at + 3 * n;
    w->x = at + 4 * n, w->kept = at + 5 * n;
    w->e = (int32_t *)(void *)(at + 6 * n), w->order = (int32_t *)(void *)(at + 7 * n);
}

/* Halves the exponents of the largest number of each row of S A S until all are 0 or -1. */
WIDE_PART void wide_balance(wide_system *w) {
    int32_t *most = w->order; /* free as yet */
    for (int i = 0; i < w->n; i++) w->e[i] = 0;
    for (int round = 0, any = 1; round < WIDE_ROUNDS && any; round++) {
        any = 0;
        for (int i = 0; i < w->n; i++) {
            most[i] = NO_EXPONENT;
            for (int j = 0; j < w->n; j++) {
                const int e = wide_exponent(wide_entry(w, i, j)) + w->e[j];
                if (e > most[i]) most[i] = e;
            }
        }
        for (int i = 0; i < w->n; i++) {
            const int e = most[i] + w->e[i] + 1, half = (e - (e & 1)) / 2;
            if (most[i] < NO_EXPONENT / 2) continue; /* a row of zeros */
            w->e[i] -= half;
            any |= half;
        }
    }
}

/* S A S to l, and |A|; |S A S|. */
WIDE_PART real wide_load(wide_system *w) {
    real norm = 0;
    w->e_norm = NO_EXPONENT, w->norm_of_a = 0;
    for (int i = 0; i < w->n; i++)
        for (int j = 0; j <= i; j++) {
            const int e = wide_exponent(wide_entry(w, i, j));
            if (e > w->e_norm) w->e_norm = e;
            w->l[shoal_lower_at(i, j)] = wide_scaled(w, i, j);
        }
    for (int i = 0; i < w->n; i++) {
        real size = 0, of_a = 0;
        for (int j = 0; j < w->n; j++) {
            size += real_abs(wide_scaled(w, i, j));
            of_a += real_abs(wide_times(wide_entry(w, i, j), -w->e_norm));
        }
        norm = real_max(size, norm), w->norm_of_a = real_max(of_a, w->norm_of_a);
    }
    return norm;
}

/* ---- factors ----------------------------------------------------------------------------------- */

SHOAL_HD static inline void wide_swap(real *v, real *w) {
    const real kept = *v;
    *v = *w, *w = kept;
}

/* Rows and columns a <= b, those of L too. */
WIDE_PART void wide_exchange(wide_system *w, int a, int b) {
    real *l = w->l;
    if (a == b) return;
    for (int j = 0; j < a; j++) wide_swap(l + shoal_lower_at(a, j), l + shoal_lower_at(b, j));
    for (int j = a + 1; j < b; j++) wide_swap(l + shoal_lower_at(j, a), l + shoal_lower_at(b, j));
    for (int i = b + 1; i < w->n; i++)
        wide_swap(l + shoal_lower_at(i, a), l + shoal_lower_at(i, b));
    wide_swap(l + shoal_lower_at(a, a), l + shoal_lower_at(b, b));
    const int32_t kept = w->order[a];
    w->order[a] = w->order[b], w->order[b] = kept;
}

/* Brings a pivot to row k, and k + 1: whether it has two rows. The largest diagonal entry, unless another one is
 * larger by far: complete pivoting, of Bunch and Parlett. */
WIDE_PART int wide_pivot(wide_system *w, int k) {
    const real alpha = (real)0.64038820320220756873;
    int at = k, row = k, column = k;
    real own = 0, other = 0;
    for (int i = k; i < w->n; i++)
        for (int j = k; j <= i; j++) {
            const real size = real_abs(w->l[shoal_lower_at(i, j)]);
            if (i == j && size > own) own = size, at = i;
            if (i != j && size > other) other = size, row = i, column = j;
        }
    const int two = own < alpha * other;
    wide_exchange(w, k, two ? column : at);
    if (two) wide_exchange(w, k + 1, row);
    return two;
}

/* L D Lt of what is in l. */
WIDE_PART void wide_factor(wide_system *w) {
    const real nothing = w->definite ? 0 : (real)(sizeof(real) == 4 ? 0x1p-90 : 0x1p-700);
    const int n = w->n;
    real least = (real)INFINITY, largest = 0, *l = w->l;
    w->status = SHOAL_SYSTEM_OK, w->positive = 0;
    for (int i = 0; i < n; i++) w->order[i] = i, w->link[i] = 0;
    for (int k = 0, two; k < n; k += 1 + two) {
        two = !w->definite && k + 1 < n && wide_pivot(w, k);
        real *head = l + shoal_lower_at(k, k), c11 = 0, c21 = 0, c22 = 0;
        real *below = two ? l + shoal_lower_at(k + 1, k) : head;
        if (!(real_abs(*below) > nothing))
            w->status = w->definite ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_SINGULAR;
        else if (!two)
            c11 = 1 / *head;
        if (two && w->status == SHOAL_SYSTEM_OK) { /* as in ldltp.c */
            const real c = *below, x = *head / c, y = below[1] / c, scale = 1 / (c * (x * y - 1));
            const real m = real_abs(x + y) / 2, h = (x - y) / 2, q = real_sqrt(h * h + 1);
            c11 = y * scale, c21 = -scale, c22 = x * scale;
            least = real_min(real_abs(c) * ((1 - x * y) / (q + m)), least);
            largest = real_max(real_abs(c) * (q + m), largest);
        } else if (!two) {
            least = real_min(real_abs(*head), least), largest = real_max(real_abs(*head), largest);
        }
        w->positive += two || *head > 0;
        for (int i = k + 1 + two; i < n; i++) {
            w->y[i] = l[shoal_lower_at(i, k)];
            w->v[i] = two ? l[shoal_lower_at(i, k + 1)] : 0;
        }
        for (int i = k + 1 + two; i < n; i++) {
            const real l0 = c11 * w->y[i] + c21 * w->v[i], l1 = c21 * w->y[i] + c22 * w->v[i];
            for (int j = k + 1 + two; j <= i; j++) {
                real *entry = l + shoal_lower_at(i, j);
                *entry = real_mad(-l0, w->y[j], *entry);
                if (two) *entry = real_mad(-l1, w->v[j], *entry);
            }
            l[shoal_lower_at(i, k)] = l0;
            if (two) l[shoal_lower_at(i, k + 1)] = l1;
        }
        *head = c11;
        if (two) below[0] = 0, below[1] = c22, w->link[k] = c21;
    }
    if (w->definite && w->positive != 0 && w->positive != n) w->status = SHOAL_SYSTEM_PIVOT;
    w->rcond = (float)(least / largest);
}

/* to := (S A S)^-1 from. `grown`: from is written, signs, each chosen so that z(i) grows. Returns the largest
 * size of what comes out, NaN if it is not finite. */
WIDE_PART real wide_solve(const wide_system *w, real *from, real *to, int grown) {
    const int n = w->n;
    const real *l = w->l;
    real *y = w->y, size = 0, bad = 0;
    for (int i = 0; i < n; i++) {
        real z = grown ? 0 : from[w->order[i]];
        for (int j = 0; j < i; j++) z = real_mad(-l[shoal_lower_at(i, j)], y[j], z);
        if (grown) {
            const real sign = z < 0 ? -1 : 1;
            from[w->order[i]] = sign;
            z += sign;
        }
        y[i] = z;
    }
    for (int i = 0; i < n; i++) {
        const real inverse = l[shoal_lower_at(i, i)], z = y[i];
        if (w->link[i] != 0) {
            y[i] = inverse * z + w->link[i] * y[i + 1];
            y[i + 1] = w->link[i] * z + l[shoal_lower_at(i + 1, i + 1)] * y[i + 1];
            i++;
        } else {
            y[i] = inverse * z;
        }
    }
    for (int i = n - 1; i >= 0; i--)
        for (int j = 0; j < i; j++) y[j] = real_mad(-l[shoal_lower_at(i, j)], y[i], y[j]);
    for (int i = 0; i < n; i++) {
        to[w->order[i]] = y[i];
        size = real_max(real_abs(y[i]), size), bad += y[i] * 0;
    }
    return size + bad;
}

/* rest := b - S A S x in twice the precision, rounded once. */
WIDE_PART void wide_rest(const wide_system *w, const real *b, const real *x, real *rest) {
    for (int i = 0; i < w->n; i++) {
        twice sum = twice_of(b[i]);
        for (int j = 0; j < w->n; j++) sum = twice_less(sum, wide_scaled(w, i, j), x[j]);
        rest[i] = real_of_twice(sum);
    }
}

/* The condition number of S A S by condition.h, always in two steps, and the doubt. */
WIDE_PART void wide_look(wide_system *w, real norm) {
    real growth = wide_solve(w, w->b, w->x, 1);
    for (int i = 0; i < w->n; i++) w->kept[i] = w->x[i] / growth;
    const real size = wide_solve(w, w->kept, w->x, 0);
    if (!(size <= growth)) growth = size;
    w->look = smallsym_rcond(norm, growth);
    wide_rest(w, w->kept, w->x, w->v);
    w->doubt = wide_solve(w, w->v, w->v, 0) / size;
}

/* 1 / (|A| |A^-1|) in the 1-norm: column j of A^-1 is 2^e(j) S (S A S)^-1 e_j. */
WIDE_PART float wide_rcond(wide_system *w) {
    int top = w->e[0], e = NO_EXPONENT;
    real most = 0;
    for (int i = 0; i < w->n; i++) top = w->e[i] > top ? w->e[i] : top;
    for (int j = 0; j < w->n; j++) {
        real sum = 0;
        for (int i = 0; i < w->n; i++) w->b[i] = i == j;
        if (!(wide_solve(w, w->b, w->v, 0) <= REAL_MAX)) return 0;
        for (int i = 0; i < w->n; i++) sum += real_abs(wide_times(w->v[i], w->e[i] - top));
        const int now = wide_exponent(sum);
        if (now + w->e[j] > e || (now + w->e[j] == e && wide_times(sum, -now) > most))
            e = now + w->e[j], most = wide_times(sum, -now);
    }
    return (float)wide_times(1 / (w->norm_of_a * most), -(w->e_norm + e + top));
}

/* S, the factors, and what they say of A. */
WIDE_PART void wide_take(wide_system *w) {
    wide_balance(w);
    const real norm = wide_load(w);
    wide_factor(w);
    w->look = 0, w->doubt = 1;
    if (w->status >= 0) wide_look(w, norm);
}

/* ---- answers ----------------------------------------------------------------------------------- */

/* b, whose numbers lie `step` apart. */
WIDE_PART void wide_take_rhs(wide_system *w, const real *b, int64_t step) {
    w->e_b = NO_EXPONENT;
    for (int i = 0; i < w->n; i++) {
        const int e = wide_exponent(b[i * step]) + w->e[i];
        if (e > w->e_b) w->e_b = e;
    }
    if (w->e_b < NO_EXPONENT / 2) w->e_b = 0;
    for (int i = 0; i < w->n; i++) w->b[i] = wide_times(b[i * step], w->e[i] - w->e_b);
}

/* The normwise backward error in the maximum norm, of A x = b. Rests go to v. */
WIDE_PART float wide_residual(wide_system *w) {
    int e_x = NO_EXPONENT, e_b = NO_EXPONENT;
    for (int i = 0; i < w->n; i++) {
        const int x = wide_exponent(w->x[i]) + w->e[i], b = wide_exponent(w->b[i]) - w->e[i];
        if (x > e_x) e_x = x;
        if (b > e_b) e_b = b;
    }
    const int e = e_x + w->e_norm > e_b ? e_x + w->e_norm : e_b;
    real rest = 0, bad = 0, x = 0, b = 0;
    wide_rest(w, w->b, w->x, w->v);
    for (int i = 0; i < w->n; i++) {
        rest = real_max(real_abs(wide_times(w->v[i], -w->e[i] - e)), rest);
        x = real_max(real_abs(wide_times(w->x[i], w->e[i] + w->e_norm - e)), x);
        b = real_max(real_abs(wide_times(w->b[i], -w->e[i] - e)), b);
        bad += w->v[i] * 0;
    }
    if (bad != 0) return (float)NAN;
    return rest == 0 ? 0 : (float)(rest / real_mad(w->norm_of_a, x, b));
}

/* x of the right-hand side in hand: refined `refine` times or, `middle`, until it does not change any more, if
 * it is not good; and rounded as it will be stored. */
WIDE_PART wide_answer wide_answer_of(wide_system *w, int refine, int middle, double tol,
                                     double cond) {
    wide_answer found = { 0, 0, w->doubt };
    real before = wide_solve(w, w->b, w->x, 0);
    found.first = wide_residual(w);
    const int open = middle && (!(found.first <= tol) || smallsym_ill(w->look, cond));
    for (int step = 0; step < (open ? (int)WIDE_REFINEMENTS : middle ? 0 : refine); step++) {
        wide_rest(w, w->b, w->x, w->v);
        const real change = wide_solve(w, w->v, w->v, 0);
        if (open && !(change <= before / 2)) {
            found.doubt = 1;
            break;
        }
        real size = 0;
        for (int i = 0; i < w->n; i++) {
            w->x[i] += w->v[i];
            size = real_max(real_abs(w->x[i]), size);
        }
        before = change;
        if (open && change <= REAL_EPSILON * size) break;
    }
    for (int i = 0; i < w->n; i++) {
        const int e = w->e[i] + w->e_b - w->e_a;
        w->x[i] = wide_times(wide_times(w->x[i], e), -e);
    }
    found.residual = wide_residual(w);
    return found;
}

/* x(i), as it is to be stored. */
SHOAL_HD static inline real wide_x(const wide_system *w, int i) {
    return wide_times(w->x[i], w->e[i] + w->e_b - w->e_a);
}

/* ---- factors that are kept --------------------------------------------------------------------- */

/* L(i,j) and, on the diagonal, D of A, from those of S A S. */
SHOAL_HD static inline real wide_kept(const wide_system *w, int i, int j) {
    const real v = w->l[shoal_lower_at(i, j)];
    return i == j ? wide_times(1 / v, -2 * w->e[i]) : wide_times(v, w->e[j] - w->e[i]);
}

/* Whether that is not what S A S has, for the number to store. */
SHOAL_HD static inline int wide_is_lost(const wide_system *w, int i, int j, real stored) {
    return i != j && real_abs(stored) < REAL_MIN &&
           real_abs(w->l[shoal_lower_at(i, j)]) > REAL_EPSILON;
}

/* L and D of A, where A was: scaled by D, and taken as wide_factor() leaves them. */
WIDE_PART void wide_take_kept(wide_system *w) {
    real least = (real)INFINITY, largest = 0;
    w->status = SHOAL_SYSTEM_OK, w->positive = 0;
    for (int i = 0; i < w->n; i++) {
        const int e = wide_exponent(wide_entry(w, i, i));
        w->e[i] = e < NO_EXPONENT / 2 ? 0 : -((e + 1 - ((e + 1) & 1)) / 2);
        w->order[i] = i, w->link[i] = 0;
    }
    for (int i = 0; i < w->n; i++) {
        const real d = wide_scaled(w, i, i), size = real_abs(d);
        for (int j = 0; j < i; j++)
            w->l[shoal_lower_at(i, j)] = wide_times(wide_entry(w, i, j), w->e[i] - w->e[j]);
        w->l[shoal_lower_at(i, i)] = 1 / d;
        least = real_min(size, least), largest = real_max(size, largest);
        w->positive += d > 0;
    }
    if (!(least > 0) || (w->positive != 0 && w->positive != w->n)) w->status = SHOAL_SYSTEM_PIVOT;
    w->rcond = (float)(least / largest);
}

#endif
