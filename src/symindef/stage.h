/* SPDX-License-Identifier: Apache-2.0
 *
 * stage.h - one stage of P A Pt = M D Mt (Kruchinina's thesis, Algorithm 1), for the CPU and for kernels: where
 * entries lie, the choice of complete pivoting (Algorithm 2), the exchange of rows and columns, and
 * the columns of M that a pivot of order 1 or 2 gives.
 *
 * A pivot P with the columns C below it leaves B - C P^-1 Ct. With Qt P Q = Lambda (thesis, section
 * 3.2) and Y = C Q this is B - sum_t y_t (y_t / lambda_t)t: one update of rank 1 for each row of the
 * pivot, w = y_t and v = y_t / lambda_t, always taken as
 *     A(i,j) := fma(-w(i), v(j), A(i,j)),   i >= j,
 * whoever does it and when. So updates may be kept pending, w and v in a list, while the stored
 * matrix stays behind: its entries are right as soon as the list has been applied in order.
 */
#ifndef SHOAL_SYMINDEF_STAGE_H
#define SHOAL_SYMINDEF_STAGE_H

#include "core/real.h"
#include "symindef/plan.h"

enum { PENDING = 4 }; /* updates kept pending at most */

/* u v + w: fused wherever the processor does it in one instruction. */
SHOAL_HD static inline real fused(real u, real v, real w) {
#if defined(__CUDA_ARCH__) || defined(__FMA__) || defined(__aarch64__)
    return real_fma(u, v, w);
#else
    return u * v + w;
#endif
}

/* Where entry x of a line would lie if the line began at 0. */
SHOAL_HD static inline int64_t line_start(const symindef_shape *s, int64_t line) {
    if (s->ld) return line * s->ld;
    return s->upper ? line * (2 * s->n - 1 - line) / 2 : line * (line + 1) / 2;
}

/* The entries of a line, the diagonal among them. */
SHOAL_HD static inline int64_t line_first(const symindef_shape *s, int64_t line) {
    return s->upper ? line : 0;
}
SHOAL_HD static inline int64_t line_end(const symindef_shape *s, int64_t line) {
    return s->upper ? s->n : line + 1;
}

/* Where A(i,j) lies, in either order of i and j. */
SHOAL_HD static inline int64_t place(const symindef_shape *s, int64_t i, int64_t j) {
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return s->upper ? line_start(s, low) + high : line_start(s, high) + low;
}

/* The list of pending updates: row i of update t is at [t * step + i * each], of w and of v as suits
 * the readers. There is always room for PENDING updates. */
typedef struct factor_list {
    real *at;
    int64_t step, each;
} factor_list;

typedef struct pending_list {
    factor_list w, v;
    int count;
} pending_list;

SHOAL_HD static inline real *list_entry(const factor_list *list, int t, int64_t i) {
    return list->at + t * list->step + i * list->each;
}

/* A(i,j) as it is now, of what is stored of it. i >= j after the exchange of this stage decides
 * which factor is w: `row` is where row i stands in the list, `column` where j does. All is read
 * before anything is added, so that the reads do not wait for each other. */
SHOAL_HD static inline real current_entry(const pending_list *list, real stored, int64_t row,
                                          int64_t column) {
    real w[PENDING], v[PENDING];
    for (int t = 0; t < PENDING; t++)
        w[t] = *list_entry(&list->w, t, row), v[t] = *list_entry(&list->v, t, column);
    for (int t = 0; t < PENDING; t++)
        if (t < list->count) stored = fused(-w[t], v[t], stored);
    return stored;
}

/* What is largest in the reduced matrix: on the diagonal at (r,r), off it at (q,p), p < q. Of equal
 * ones the least r, the least p, the least q. */
typedef struct candidates {
    real diagonal, off; /* with their signs */
    int64_t r, p, q;
} candidates;

/* The eigenvalues of [a b; b c], the one of larger modulus first, and its eigenvector (cosine,
 * sine): the smaller one from the determinant, so that it has no cancellation, and quotients before
 * products (as LAPACK's dlaev2). Sums of entries near the end of the range overflow, and so may the
 * eigenvalue itself: there the block is taken times `scale`, 1/16, and the eigenvalues are
 * value[] / scale; elsewhere scale is 1. */
typedef struct eigen2 {
    real value[2], cosine, sine, scale;
} eigen2;

SHOAL_HD static inline real real_hypot(real u, real v) {
    const real high = real_max(real_abs(u), real_abs(v)), low = real_min(real_abs(u), real_abs(v));
    if (high == 0) return 0;
    const real ratio = low / high;
    return high * real_sqrt(fused(ratio, ratio, 1));
}

SHOAL_HD static inline eigen2 eigen_of(real a, real b, real c) {
    eigen2 r;
    const real largest = real_max(real_abs(b), real_max(real_abs(a), real_abs(c)));
    r.scale = largest > REAL_MAX / 16 ? (real)0.0625 : 1;
    a *= r.scale, b *= r.scale, c *= r.scale;
    const real sum = a + c, difference = a - c, twice = b + b, root = real_hypot(difference, twice);
    const real high = real_abs(a) > real_abs(c) ? a : c, low = real_abs(a) > real_abs(c) ? c : a;
    const int negative = sum < 0;
    r.value[0] = (real)0.5 * (negative ? sum - root : sum + root);
    if (sum == 0)
        r.value[1] = -r.value[0];
    else /* a c / l1 - b b / l1, each quotient before the product */
        r.value[1] = (high / r.value[0]) * low - (b / r.value[0]) * b;
    /* (difference + root, twice) belongs to the larger algebraic value, with the sign of root that
     * does not cancel; the other vector is orthogonal to it. */
    const int turned = difference < 0;
    const real cs = turned ? difference - root : difference + root;
    real x, y;
    if (real_abs(cs) > real_abs(twice)) {
        const real cotangent = -twice / cs;
        y = 1 / real_sqrt(fused(cotangent, cotangent, 1));
        x = cotangent * y;
    } else if (twice == 0) {
        x = 1, y = 0;
    } else {
        const real tangent = -cs / twice;
        x = 1 / real_sqrt(fused(tangent, tangent, 1));
        y = tangent * x;
    }
    if (negative == turned) { /* (x, y) belongs to the other eigenvalue */
        r.cosine = -y, r.sine = x;
    } else {
        r.cosine = x, r.sine = y;
    }
    return r;
}

/* The columns of a block in G J Gt: G(:, k + t) = sum_u M(:, k + u) q[u][t], q = Q |Lambda|^(1/2). */
typedef struct gjgt_block {
    real q[2][2];
} gjgt_block;

SHOAL_HD static inline gjgt_block gjgt_of(real a, real b, real c) {
    gjgt_block r;
    r.q[0][0] = real_sqrt(real_abs(a)), r.q[0][1] = r.q[1][0] = r.q[1][1] = 0;
    if (b == 0) return r;
    const eigen2 p = eigen_of(a, b, c);
    const real back = 1 / real_sqrt(p.scale); /* 1 or 4: exact */
    const real root[2] = { real_sqrt(real_abs(p.value[0])) * back,
                           real_sqrt(real_abs(p.value[1])) * back };
    r.q[0][0] = p.cosine * root[0], r.q[0][1] = -p.sine * root[1];
    r.q[1][0] = p.sine * root[0], r.q[1][1] = p.cosine * root[1];
    return r;
}

/* y = P^-1 x, P = [a b; b c] with |a c| < b^2: small errors against each entry of P. */
SHOAL_HD static inline void inverse_times(real a, real b, real c, const real *x, real *y) {
    const real p = a / b, q = c / b, scale = 1 / fused(p, q, -1);
    y[0] = scale * (fused(q, x[0], -x[1]) / b);
    y[1] = scale * (fused(p, x[1], -x[0]) / b);
}

/* One stage: rows k (and k + 1) become the pivot, which stands in rows pivot[]; the rows that make
 * room go from from[] to to[], at k + order or below. */
typedef struct stage {
    int64_t k;
    int order; /* 1, 2; 0: nothing is left */
    int moves;
    int64_t pivot[2], from[2], to[2];
    real d[3];      /* the pivot: P(0,0), P(1,0), P(1,1)  */
    eigen2 eigen;   /* of order 1 value[0] is the pivot, scale 1 */
    real magnitude; /* largest entry of the reduced matrix */
} stage;

/* Row `now` as it stands before the exchanges of the stage. */
SHOAL_HD static inline int64_t row_before(const stage *s, int64_t now) {
    if (s->moves > 0 && s->to[0] == now) return s->from[0];
    if (s->moves > 1 && s->to[1] == now) return s->from[1];
    if (now == s->k) return s->pivot[0];
    return s->order == 2 && now == s->k + 1 ? s->pivot[1] : now;
}

/* Pivots p and q (q unused of order 1) exchange with k, then with k + 1. */
SHOAL_HD static inline void plan_moves(stage *s) {
    const int64_t k = s->k, first = s->pivot[0], second = s->pivot[1];
    s->moves = 0;
    s->to[0] = s->from[0] = s->to[1] = s->from[1] = k;
    if (first >= k + s->order) s->to[0] = first, s->from[0] = k, s->moves = 1;
    if (s->order == 2 && second >= k + 2) { /* it meets what the first exchange put into k + 1 */
        const int64_t meets = first == k + 1 ? k : k + 1;
        if (s->moves)
            s->to[1] = second, s->from[1] = meets;
        else
            s->to[0] = second, s->from[0] = meets;
        s->moves++;
    }
}

/* Algorithm 2. `diagonal` holds the reduced matrix's diagonal as it is now. */
SHOAL_HD static inline stage choose_complete(const candidates *best, const real *diagonal,
                                             int64_t k, real alpha, real tol) {
    const real mu1 = real_abs(best->diagonal), off = real_abs(best->off);
    const real mu0 = real_max(mu1, off);
    stage s = { k, 0, 0, { k, k }, { k, k }, { k, k }, { 0, 0, 0 }, { { 0, 0 }, 0, 0, 1 }, mu0 };
    if (!(mu0 > tol)) return s;
    if (mu1 > alpha * mu0 || mu1 == mu0) { /* the product may be rounded up to mu0 itself */
        s.order = 1;
        s.pivot[0] = best->r;
        s.d[0] = s.eigen.value[0] = best->diagonal;
    } else {
        s.order = 2;
        s.pivot[0] = best->p, s.pivot[1] = best->q;
        s.d[0] = diagonal[best->p], s.d[1] = best->off, s.d[2] = diagonal[best->q];
        s.eigen = eigen_of(s.d[0], s.d[1], s.d[2]);
    }
    plan_moves(&s);
    return s;
}

/* The new updates of one row, and its entries of M, of its entries c of the pivot's columns. */
typedef struct pivot_row {
    real w[2], v[2], m[2];
} pivot_row;

SHOAL_HD static inline pivot_row eliminate_entries(const stage *s, const real *c) {
    pivot_row r;
    if (s->order == 1) {
        r.w[0] = c[0];
        r.v[0] = r.m[0] = c[0] / s->eigen.value[0];
        r.w[1] = r.v[1] = r.m[1] = 0;
        return r;
    }
    const real x = s->eigen.cosine, y = s->eigen.sine; /* Q = [x -y; y x] */
    r.w[0] = fused(c[0], x, c[1] * y);                 /* Y = C Q         */
    r.w[1] = fused(c[1], x, -c[0] * y);
    for (int t = 0; t < 2; t++) r.v[t] = r.w[t] * s->eigen.scale / s->eigen.value[t];
    r.m[0] = fused(r.v[0], x, -r.v[1] * y); /* Y Lambda^-1 Qt  */
    r.m[1] = fused(r.v[0], y, r.v[1] * x);
    return r;
}

/* The exchange and the columns of M, row by row, in any order and at once: row i touches the entries
 * it has in common with the rows of the stage, and no others. `from` and `to` are the lists before
 * and after the stage. */

/* Row `i` of the list after the stage: what row `before` of it was, and what the stage adds. */
SHOAL_HD static inline void list_row(const pending_list *from, const pending_list *to, int64_t i,
                                     int64_t before, const stage *s, const pivot_row *r) {
    real w[PENDING], v[PENDING];
    for (int t = 0; t < PENDING; t++)
        w[t] = *list_entry(&from->w, t, before), v[t] = *list_entry(&from->v, t, before);
    for (int t = 0; t < PENDING; t++)
        if (t < from->count) *list_entry(&to->w, t, i) = w[t], *list_entry(&to->v, t, i) = v[t];
    for (int t = 0; t < 2; t++)
        if (t < s->order) {
            *list_entry(&to->w, from->count + t, i) = r->w[t];
            *list_entry(&to->v, from->count + t, i) = r->v[t];
        }
}

/* A row i below the pivot that stays where it is. (Loops end at 2, whatever the stage has, so that
 * they unroll.) */
SHOAL_HD static inline void eliminate_row(const symindef_shape *shape, real *a, const stage *s,
                                          const pending_list *from, const pending_list *to,
                                          int64_t i) {
    real moved[2] = { 0, 0 }, c[2] = { 0, 0 };
    for (int m = 0; m < 2; m++)
        if (m < s->moves) moved[m] = a[place(shape, i, s->from[m])];
    for (int t = 0; t < 2; t++)
        if (t < s->order)
            c[t] = current_entry(from, a[place(shape, i, s->pivot[t])], i, s->pivot[t]);
    for (int m = 0; m < 2; m++)
        if (m < s->moves) a[place(shape, i, s->to[m])] = moved[m];
    const pivot_row r = eliminate_entries(s, c);
    for (int t = 0; t < 2; t++)
        if (t < s->order) a[place(shape, i, s->k + t)] = r.m[t];
    list_row(from, to, i, i, s, &r);
}

/* The rows of the stage themselves: all that lies between two of them is read before any of it is
 * written. */
SHOAL_HD static inline void eliminate_moved(const symindef_shape *shape, real *a, const stage *s,
                                            const pending_list *from, const pending_list *to) {
    const int64_t k = s->k;
    real between[2][2] = { { 0 } }, c[2][2] = { { 0 } };
    for (int m = 0; m < 2; m++) {
        if (m >= s->moves) continue;
        for (int l = 0; l <= m; l++) between[m][l] = a[place(shape, s->from[m], s->from[l])];
        for (int t = 0; t < 2; t++)
            if (t < s->order)
                c[m][t] = current_entry(from, a[place(shape, s->from[m], s->pivot[t])], s->from[m],
                                        s->pivot[t]);
    }
    for (int m = 0; m < 2; m++) {
        if (m >= s->moves) continue;
        const pivot_row r = eliminate_entries(s, c[m]);
        for (int l = 0; l <= m; l++) a[place(shape, s->to[m], s->to[l])] = between[m][l];
        for (int t = 0; t < 2; t++)
            if (t < s->order) a[place(shape, s->to[m], k + t)] = r.m[t];
        list_row(from, to, s->to[m], s->from[m], s, &r); /* from[] are no to[]: nothing is lost */
    }
    a[place(shape, k, k)] = s->d[0];
    if (s->order == 2) {
        a[place(shape, k + 1, k)] = s->d[1];
        a[place(shape, k + 1, k + 1)] = s->d[2];
    }
}

/* Column j of M, j < k: its rows change places, too. */
SHOAL_HD static inline void exchange_earlier(const symindef_shape *shape, real *a, const stage *s,
                                             int64_t j) {
    real pivot[2] = { 0, 0 }, moved[2] = { 0, 0 };
    for (int t = 0; t < 2; t++) {
        if (t < s->order) pivot[t] = a[place(shape, s->pivot[t], j)];
        if (t < s->moves) moved[t] = a[place(shape, s->from[t], j)];
    }
    for (int t = 0; t < 2; t++) {
        if (t < s->order) a[place(shape, s->k + t, j)] = pivot[t];
        if (t < s->moves) a[place(shape, s->to[t], j)] = moved[t];
    }
}

/* Is row i, below the pivot, one that the stage has moved? */
SHOAL_HD static inline int is_moved(const stage *s, int64_t i) {
    return (s->moves > 0 && s->to[0] == i) || (s->moves > 1 && s->to[1] == i);
}

/* The pivot of a stage, its interchanges and the growth, into the plan's arrays. */
SHOAL_HD static inline void record_pivot(const symindef_job *job, const stage *s,
                                         double magnitude) {
    real *d = (real *)job->d, *e = (real *)job->e;
    d[s->k] = s->d[0];
    job->interchanges[s->k] = (int32_t)(s->pivot[0] + 1);
    if (s->order == 2) {
        e[s->k] = s->d[1], d[s->k + 1] = s->d[2];
        job->interchanges[s->k + 1] = -(int32_t)(s->pivot[1] + 1);
    }
    if (!job->growth) return;
    job->growth[s->k] = job->state->largest > 0 ? magnitude / job->state->largest : 0;
    if (s->order == 2) job->growth[s->k + 1] = (double)NAN;
}

/* The same, and the permutation. The first exchange does not move the second pivot: it would have to
 * stand in k, and p < q excludes that. */
SHOAL_HD static inline void record_stage(const symindef_job *job, const stage *s) {
    for (int t = 0; t < s->order; t++) {
        int32_t *here = job->permutation + s->k + t, *there = job->permutation + s->pivot[t];
        const int32_t row = *here;
        *here = *there, *there = row;
    }
    record_pivot(job, s, (double)s->magnitude);
}

#endif
