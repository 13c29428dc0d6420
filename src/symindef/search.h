/* SPDX-License-Identifier: Apache-2.0
 *
 * search.h - the choice of a pivot by partial (Bunch-Kaufman; Kruchinina's thesis, Algorithm 3) and by rook
 * pivoting (bounded Bunch-Kaufman; Algorithm 4), for the CPU and for kernels: which column of the
 * reduced matrix to look at next, and when the pivot stands.
 *
 * The caller evaluates a column, finds its diagonal entry and the largest of the others, of equal ones the
 * first, and calls consider(); two columns are kept at a time. Partial looks at one or two, rook goes on
 * for as long as the largest entry grows.
 *
 * A pivot of order 2 divides by its explicit inverse, scaled (inverse_times() in stage.h), not through
 * its eigenvalues: with partial pivoting the entries of its two columns may be of very different size,
 * and a rotation would mix them (Higham's proof of stability needs small errors against each entry). So w
 * is a column of the reduced matrix, v one of M, and
 *     A(i,j) := A(i,j) - sum_t w_t(i) v_t(j),   i >= j.
 */
#ifndef SHOAL_SYMINDEF_SEARCH_H
#define SHOAL_SYMINDEF_SEARCH_H

#include "symindef/stage.h"

typedef struct pivot_search {
    int64_t k;      /* the stage begins here                                              */
    int64_t column; /* to look at next ...                                                */
    int slot;       /* ... and in which of two places to keep it                          */
    int looks;      /* so many before                                                     */
    int64_t kept[2];
    real diagonal[2], entry[2]; /* of the columns kept: the largest others, with signs  */
    int of_pivot[2];            /* once the pivot stands: the slots of its columns      */
} pivot_search;

typedef struct column_look { /* of a column; entry 0: there is none but the diagonal */
    real diagonal, entry;
    int64_t row;
} column_look;

SHOAL_HD static inline pivot_search search_from(int64_t k) {
    const pivot_search s = { k, k, 0, 0, { k, k }, { 0, 0 }, { 0, 0 }, { 0, 0 } };
    return s;
}

/* 0 is never enough, even if the product on the other side has underflowed. */
SHOAL_HD static inline int is_enough(real size, real bound) { return size >= bound && size > 0; }

SHOAL_HD static inline int choose_1x1(pivot_search *s, int slot, stage *now) {
    now->order = 1;
    now->pivot[0] = s->kept[slot];
    now->d[0] = s->diagonal[slot];
    s->of_pivot[0] = slot;
    plan_moves(now);
    return 1;
}

SHOAL_HD static inline int choose_2x2(pivot_search *s, int first, int second, stage *now) {
    now->order = 2;
    now->pivot[0] = s->kept[first], now->pivot[1] = s->kept[second];
    now->d[0] = s->diagonal[first], now->d[1] = s->entry[first], now->d[2] = s->diagonal[second];
    s->of_pivot[0] = first, s->of_pivot[1] = second;
    plan_moves(now);
    return 1;
}

/* Takes what was seen in s->column. 1: the pivot stands in *now; 0: look at s->column. A stage with
 * nothing above tol is a pivot of order 1 that is 0. */
SHOAL_HD static inline int consider(pivot_search *s, int rook, const column_look *seen, real alpha,
                                    real tol, stage *now) {
    const int mine = s->slot, other = 1 - mine, first = s->looks == 0;
    const real size = real_abs(seen->diagonal), largest = real_abs(seen->entry);
    now->k = s->k;
    s->looks++;
    s->kept[mine] = s->column;
    s->diagonal[mine] = seen->diagonal, s->entry[mine] = seen->entry;
    if (first) {
        if (size <= tol && largest <= tol) {
            s->diagonal[mine] = 0;
            return choose_1x1(s, mine, now); /* (0) */
        }
        if (is_enough(size, alpha * largest)) return choose_1x1(s, mine, now); /* (1) */
    } else {
        const real before = real_abs(s->entry[other]); /* gamma_i, and most is gamma_r */
        if (!rook && is_enough(real_abs(s->diagonal[other]), alpha * before * (before / largest)))
            return choose_1x1(s, other, now);                                  /* partial (2) */
        if (is_enough(size, alpha * largest)) return choose_1x1(s, mine, now); /* (3), rook (2) */
        if (!rook || largest <= before || seen->row == s->kept[other]) /* the same entry, rounded */
            return choose_2x2(s, other, mine, now);                    /* (4), rook (3) */
    }
    s->column = seen->row;
    s->slot = other;
    return 0;
}

/* The row's entries of M, of its entries c of the pivot's columns. */
SHOAL_HD static inline void multipliers(const stage *s, const real *c, real *m) {
    m[1] = 0;
    if (s->order == 2)
        inverse_times(s->d[0], s->d[1], s->d[2], c, m);
    else
        m[0] = s->d[0] == 0 ? 0 : c[0] / s->d[0];
}

#endif
