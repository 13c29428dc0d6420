/* SPDX-License-Identifier: Apache-2.0
 *
 * gspike.h - one long system by the g-Spike method: Venetis, Kouris, Sobczyk, Gallopoulos and Sameh, "A
 * direct tridiagonal solver based on Givens rotations for GPU architectures", Parallel Computing 2015.
 *
 * Section 2.1. A block of rows is factored by Givens rotations without pivoting, Q R. Its unknowns are
 *     x = g - w x_left - v x_right,
 * where x_left is the last unknown of the block before and x_right the first of the block after; w and v
 * are the spikes. A block passes on its first unknown x_t and its last x_b: two rows of the
 * reduced system.
 *
 * Section 2.2. A block is singular where |R_mm| <= delta |R|, its couplings included, and R_mm is not the
 * largest number of its row (a graded matrix is not singular). zeta = +-1 times the
 * column of x_right is added to its last column then, the "welcome fill-in", with the sign that makes
 * |R_mm| larger: x_right = x~_right + zeta x_b, and w of the next block's first row becomes w + zeta. Where
 * nothing is on the right, as at the end, the last row stays as it is (`lasting`): the rows passed on are
 * x_t + w_t x_left + v_t x_b = g_t and w_b x_left + v_b x_b = g_b, with v in the places of the right spike.
 *
 * Section 3.3, Appendix C. The reduced rows of GSPIKE_FAN neighbours, with columns t_{i+1}, b_i (x_t and x_b of
 * blocks i+1 and i) in turns,
 *     w_b v_b 1      row of b_i,       1 w_t v_t      row of t_{i+1},
 * are tridiagonal, and a block of the next level. Its first x_t stays outside, and its last x_b is the last
 * column: that is the exchange of columns between partitions of the paper's Fig. C2(c). Without it blocks
 * with small spikes lose two ranks (b), or blocks with spikes near 1 are ill-conditioned (a). When few blocks
 * are left, they are solved at once.
 *
 * Reducibility. With `split` a block ends before the first row that is not coupled both ways to the row
 * above it; one of a higher level also before its last x_b, if the rows above it are singular and not coupled
 * to the right. Whole irreducible parts of a nonsingular matrix are nonsingular, so what a partition cuts off
 * is at the end of a piece, where R_mm shows it. After a lasting block the reduced system has one row, that
 * of b_i: t_{i+1} is not needed.
 *
 * A block of the matrix has as many rows as the plan says, 32 if it says nothing; p follows from n at run time.
 * One thread has one block. Rows of a block are `step` apart: 1, or, marshalled for the GPU, the number of
 * blocks. dl, d, du, b come in as diagonals and right-hand side, s is filled by R; w replaces dl, v
 * replaces s, g and then x replace b: 5 n numbers and O(n / rows of a block). About 60 operations, a root and two divisions per row.
 */
#ifndef SHOAL_TRIDIAG_GSPIKE_H
#define SHOAL_TRIDIAG_GSPIKE_H

#include "core/real.h"
#include "tridiag/plan.h"

enum {
    GSPIKE_FAN = 16,  /* blocks that become one of the next level */
    GSPIKE_TOP = 64,  /* blocks that are solved at once: below order 128 */
    GSPIKE_PIECES = 3 /* a block is split into, at most */
};

typedef struct gspike_rules { /* of one layout for both types: kernels take it */
    double delta;             /* |R_mm| <= delta |R|: singular */
    double cond;              /* 0, or blocks are estimated to warn */
    int split;
} gspike_rules;

typedef struct gspike_rows { /* of a block: diagonals, second of R, right-hand side */
    real *dl, *d, *du, *s, *b;
    int64_t step; /* from row to row */
} gspike_rows;

enum { GSPIKE_NONE, GSPIKE_PLAIN, GSPIKE_LASTING };

typedef struct gspike_block {    /* the two rows that a block passes on */
    real wt, vt, gt, wb, vb, gb; /* w, v and g of its first unknown x_t and its last x_b */
    int32_t zeta, kind, rows;
} gspike_block;

typedef struct gspike_pair { /* what a block's unknowns follow from */
    real left, right;        /* of a lasting block x_b is `right` */
} gspike_pair;

typedef struct gspike_ends { /* the same of a block in pieces, and zeta of its last piece */
    gspike_pair pair;
    int32_t zeta;
} gspike_ends;

/* ---- one block --------------------------------------------------------------------------------- */

/* c, s and r with c p + s q = r, c q - s p = 0. */
SHOAL_HD static inline real gspike_rotation(real p, real q, real *c, real *s) {
    *c = 1, *s = 0;
    if (q == 0) return p; /* a row that is not coupled is not touched either */
    real h = real_mad(p, p, q * q), scale = 1;
    if (!(h > REAL_MIN / REAL_EPSILON && h < REAL_EPSILON / REAL_MIN)) { /* squares out of range */
        scale = real_max(real_abs(p), real_abs(q));
        p /= scale, q /= scale;
        h = real_mad(p, p, q * q);
    }
    const real r = real_sqrt(h), i = 1 / r;
    *c = p * i, *s = q * i;
    return r * scale;
}

/* Whether v is nothing beside its row. Numbers of the matrix are below a unit of roundoff of a unit of
 * roundoff then; those of reduced rows, made of rounding errors. */
SHOAL_HD static inline int gspike_negligible(const gspike_rows *w, int row, real v, int reduced) {
    const int64_t at = row * w->step;
    const real sum = real_abs(w->dl[at]) + real_abs(w->d[at]) + real_abs(w->du[at]);
    return real_abs(v) <= REAL_EPSILON * (reduced ? (real)GSPIKE_ROWS : REAL_EPSILON) * sum;
}

typedef struct gspike_estimate { /* of a triangular R: Rt z = +-1, the sign that makes z larger */
    real z1, z2, most, norm;
} gspike_estimate;

/* Row k of R, and the numbers above its diagonal: du of the row before, s of the one before that. */
SHOAL_HD static inline void gspike_estimate_row(gspike_estimate *e, real d, real du1, real s2) {
    const real sum = real_mad(du1, e->z1, s2 * e->z2);
    const real z = (sum < 0 ? sum - 1 : sum + 1) / d;
    e->z2 = e->z1, e->z1 = -z;
    if (!(real_abs(z) <= e->most)) e->most = real_abs(z); /* NaN stays */
}

enum { GSPIKE_MAY_LAST = 1, GSPIKE_MAY_STOP = 2 };

/* Rows lo .. hi-1 become g, w and v. `above` is what row hi-2 has in the column of x_right. The block may
 * last; and where `above` is nothing it may also stop, and last, before row hi-1. Returns an estimate of its
 * condition number: 0 without rules.cond, infinity if a number on the diagonal of R is 0. */
SHOAL_HD static inline real gspike_factor(const gspike_rows *w, int lo, int hi, real above,
                                          gspike_rules rules, int may, gspike_block *out) {
    const int64_t step = w->step;
    int64_t at = lo * step;
    real dl = w->dl[at], d = w->d[at], du = w->du[at], b = w->b[at];
    real right3 = 0, right2 = hi - lo == 2 ? above : 0, right = du; /* rows hi-3, hi-2, hi-1 */
    const real coupling = real_abs(dl);
    real du1 = 0, s1 = 0, s2 = 0;
    const real delta = (real)rules.delta;
    gspike_estimate e = { 0, 0, 0, 0 };
    for (int k = lo; k + 1 < hi; k++, at += step) {
        if (k + 2 == hi && (may & GSPIKE_MAY_STOP) &&
            real_abs(d) <= delta * real_max(coupling, e.norm)) {
            hi--, may = GSPIKE_MAY_LAST, right = right2 = right3 = 0;
            break;
        }
        const int64_t to = at + step;
        const real next_d = w->d[to], next_du = w->du[to], next_b = w->b[to];
        real cosine, sine;
        const real r = gspike_rotation(d, w->dl[to], &cosine, &sine);
        const real super = real_mad(cosine, du, sine * next_d);
        real after = sine * next_du;
        if (k + 3 == hi) right3 = sine * above, right2 = cosine * above;
        if (k + 2 == hi) { /* next_du belongs to x_right */
            right = real_mad(cosine, next_du, -sine * right2);
            right2 = real_mad(cosine, right2, after);
            after = 0;
        }
        w->d[at] = r, w->du[at] = super, w->s[at] = after;
        w->dl[at] = cosine * dl, w->b[at] = real_mad(cosine, b, sine * next_b);
        e.norm = real_max(real_abs(r) + real_abs(super) + real_abs(after), e.norm);
        if (rules.cond > 0) gspike_estimate_row(&e, r, du1, s2);
        if (r == 0) e.most = (real)INFINITY;
        s2 = s1, s1 = after, du1 = super;
        d = real_mad(cosine, next_d, -sine * du), du = cosine * next_du;
        dl = -sine * dl, b = real_mad(cosine, next_b, -sine * b);
    }
    e.norm = real_max(real_abs(d), e.norm);
    const real beside = real_max(coupling, real_max(real_abs(right), real_abs(right2)));
    const int singular = real_abs(d) <= delta * real_max(beside, e.norm) &&
                         !(real_abs(d) >= real_max(real_abs(dl), real_abs(right)) && d != 0);
    const int lasting = singular && (may & GSPIKE_MAY_LAST);
    out->zeta = 0, out->kind = lasting ? GSPIKE_LASTING : GSPIKE_PLAIN, out->rows = hi - lo;
    if (singular && !lasting) {
        out->zeta = d != 0 && (d < 0) != (right < 0) ? -1 : 1;
        d += (real)out->zeta * right;
        du1 += (real)out->zeta * right2, s2 += (real)out->zeta * right3;
        if (hi - lo > 1) w->du[at - step] = du1;
        if (hi - lo > 2) w->s[at - 2 * step] = s2;
    }
    if (rules.cond > 0 && !lasting) gspike_estimate_row(&e, d, du1, s2);
    if (d == 0 && !lasting) e.most = (real)INFINITY;
    real g1, w1, v1, g2 = 0, w2 = 0, v2 = 0;
    if (lasting) { /* x = x_b, which is known as x_right */
        out->wb = dl, out->vb = d, out->gb = b;
        g1 = 0, w1 = 0, v1 = -1, right2 = 0, right3 = 0;
    } else {
        g1 = b / d, w1 = dl / d, v1 = right / d;
        out->wb = w1, out->vb = v1, out->gb = g1;
    }
    w->b[at] = g1, w->dl[at] = w1, w->s[at] = v1;
    for (int k = hi - 2; k >= lo; k--) {
        at -= step;
        const real i = 1 / w->d[at], super = w->du[at], after = w->s[at];
        const real g = real_mad(-after, g2, real_mad(-super, g1, w->b[at])) * i;
        const real left = real_mad(-after, w2, real_mad(-super, w1, w->dl[at])) * i;
        const real from = k == hi - 2 ? right2 : k == hi - 3 ? right3 : 0;
        const real v = real_mad(-after, v2, real_mad(-super, v1, from)) * i;
        w->b[at] = g, w->dl[at] = left, w->s[at] = v;
        g2 = g1, g1 = g, w2 = w1, w1 = left, v2 = v1, v1 = v;
    }
    out->wt = w1, out->vt = v1, out->gt = g1;
    const real cond = e.most * e.norm;
    return cond == cond ? cond : (real)INFINITY;
}

/* ---- a block of any level ---------------------------------------------------------------------- */

typedef struct gspike_joint { /* rows of the reduced system of neighbours */
    int rows, live;
    int back;           /* the last row is that of the last x_b, of a block that does not last */
    int32_t zeta;       /* of the last block */
    real above;         /* what the row before the last has in the column of x_right */
    gspike_block front; /* the first block: its x_t is outside */
} gspike_joint;

SHOAL_HD static inline void gspike_put(const gspike_rows *w, int row, real dl, real d, real du,
                                       real b) {
    const int64_t at = row * w->step;
    w->dl[at] = dl, w->d[at] = d, w->du[at] = du, w->b[at] = b;
}

/* Writes the reduced rows of `count` neighbours to w; some may be absent. */
SHOAL_HD static inline gspike_joint gspike_join(const gspike_rows *w, const gspike_block *blocks,
                                                int count) {
    gspike_joint j = { 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0, GSPIKE_NONE, 0 } };
    gspike_block last = j.front;
    for (int i = 0; i < count; i++) {
        const gspike_block block = blocks[i];
        if (block.kind == GSPIKE_NONE) continue;
        if (j.live++ == 0) {
            j.front = block;
        } else if (last.kind == GSPIKE_PLAIN) {
            gspike_put(w, j.rows++, last.wb, last.vb, 1, last.gb);
            gspike_put(w, j.rows++, 1, block.wt + (real)last.zeta, block.vt, block.gt);
        } else {
            gspike_put(w, j.rows++, last.wb, last.vb, 0, last.gb);
        }
        last = block;
    }
    j.back = last.kind == GSPIKE_PLAIN;
    j.zeta = last.zeta;
    if (j.back && j.rows > 0) {
        real *du = &w->du[(j.rows - 1) * w->step];
        j.above = *du, *du = 0;
    }
    gspike_put(w, j.rows++, last.wb, j.back ? 1 : last.vb, j.back ? last.vb : 0, last.gb);
    return j;
}

/* The pairs of `count` neighbours from that of the whole and x, the solution of their reduced rows. The
 * right unknown of the last of them is corrected by its own zeta only. */
SHOAL_HD static inline void gspike_part(const gspike_rows *w, const gspike_block *blocks, int count,
                                        gspike_ends whole, gspike_pair *pairs) {
    int k = 0, last = -1, live = 0;
    for (int i = 0; i < count; i++) {
        if (blocks[i].kind == GSPIKE_NONE) continue;
        pairs[i].left = live++ ? w->b[(k - 1) * w->step] : whole.pair.left;
        pairs[i].right = w->b[k * w->step];
        k += blocks[i].kind == GSPIKE_PLAIN ? 2 : 1;
        last = i;
    }
    if (live > 1 && blocks[last].kind == GSPIKE_LASTING) return;
    const int32_t zeta = whole.zeta - blocks[last].zeta; /* pairs[last].right is its x_b so far */
    pairs[last].right =
        zeta ? real_mad((real)zeta, pairs[last].right, whole.pair.right) : whole.pair.right;
}

/* Factors a block of `rows` rows, in pieces if it is split; `join` is NULL at the lowest level; `end`:
 * nothing comes after it. Fills `slots` blocks; returns the largest estimate. */
SHOAL_HD static inline real gspike_unit(const gspike_rows *w, int rows, const gspike_joint *join,
                                        int end, gspike_rules rules, gspike_block *out, int slots) {
    const int back = join && join->back, stop = rows - back, reduced = join != NULL;
    const real above = join ? join->above : 0;
    int cut = rows, pieces = 0;
    real most = 0;
    for (int i = 0; i < slots; i++) out[i].kind = GSPIKE_NONE;
    for (int k = 1; k < stop && rules.split && cut == rows; k++)
        if (gspike_negligible(w, k - 1, w->du[(k - 1) * w->step], reduced) ||
            gspike_negligible(w, k, w->dl[k * w->step], reduced))
            cut = k;
    for (int lo = 0; lo < rows; lo += out[pieces++].rows) {
        const int hi = lo < cut ? cut : rows, final = hi == rows;
        const real aside = final && hi - lo > 1 ? above : 0;
        const int none =
            rules.split && (aside == 0 || gspike_negligible(w, hi - 2, aside, reduced));
        int may = none && final && back && hi - lo > 1 ? GSPIKE_MAY_STOP : 0;
        if ((final && end) ||
            (none && gspike_negligible(w, hi - 1, w->du[(hi - 1) * w->step], reduced)))
            may |= GSPIKE_MAY_LAST;
        most = real_max(gspike_factor(w, lo, hi, aside, rules, may, &out[pieces]), most);
    }
    if (join) {
        const gspike_block *front = &join->front;
        out[0].wt = real_mad(-front->vt, out[0].wt, front->wt);
        out[0].gt = real_mad(-front->vt, out[0].gt, front->gt);
        out[0].vt = -front->vt * out[0].vt;
        if (back && out[pieces - 1].kind == GSPIKE_PLAIN) out[pieces - 1].zeta += join->zeta;
    }
    return most;
}

/* g becomes x; returns what the whole block follows from. */
SHOAL_HD static inline gspike_ends gspike_finish(const gspike_rows *w, const gspike_block *blocks,
                                                 const gspike_pair *pairs, int slots) {
    gspike_ends whole = { pairs[0], 0 };
    int64_t at = 0;
    for (int p = 0; p < slots; p++) {
        if (blocks[p].kind == GSPIKE_NONE) continue;
        whole.pair.right = pairs[p].right, whole.zeta = blocks[p].zeta;
        for (int k = 0; k < blocks[p].rows; k++, at += w->step)
            w->b[at] =
                real_mad(-w->s[at], pairs[p].right, real_mad(-w->dl[at], pairs[p].left, w->b[at]));
    }
    return whole;
}

/* ---- levels ------------------------------------------------------------------------------------ */

typedef struct gspike_level {
    int64_t units;             /* blocks ...                                      */
    int rows, slots;           /* ... of so many rows, each in so many pieces, at most */
    int64_t rows_at, slots_at; /* where it begins among the rows and slots of all levels */
} gspike_level;

/* The slots of the blocks below a unit, and how many there are. */
SHOAL_HD static inline int64_t gspike_below(const gspike_level *below, int64_t unit, int *count) {
    const int64_t first = unit * GSPIKE_FAN, left = below->units - first;
    *count = (left < GSPIKE_FAN ? (int)left : (int)GSPIKE_FAN) * below->slots;
    return below->slots_at + first * below->slots;
}

/* A block that is alone among its neighbours goes on to the next level as it is. */
SHOAL_HD static inline void gspike_pass(const gspike_joint *join, gspike_block *out, int slots) {
    for (int i = 1; i < slots; i++) out[i].kind = GSPIKE_NONE;
    out[0] = join->front;
    out[0].rows = 0;
}

enum { GSPIKE_LEVELS = 20 }; /* more than there are: 2 FAN^16 is 2^65 */

typedef struct gspike_tree {
    gspike_level level[GSPIKE_LEVELS];
    int top;             /* the last level: one unit, the rows that are solved at once, no slots */
    int64_t rows, slots; /* of all levels */
} gspike_tree;

/* `each`: rows of a block of the matrix, which p = ceil(n / each) blocks have. */
static inline gspike_tree gspike_plan(int64_t n, int each, int split) {
    gspike_tree t;
    int i = 0;
    int64_t units = (n + each - 1) / each;
    t.rows = t.slots = 0;
    for (int rows = each;; i++) {
        gspike_level *l = &t.level[i];
        const int slots = !split ? 1 : i == 0 ? GSPIKE_PIECES - 1 : GSPIKE_PIECES;
        l->units = units, l->rows = rows, l->slots = slots;
        l->rows_at = t.rows, l->slots_at = t.slots;
        t.rows += units * rows, t.slots += units * slots;
        rows = 2 * slots * GSPIKE_FAN;
        if (units * slots <= GSPIKE_TOP) break;
        units = (units + GSPIKE_FAN - 1) / GSPIKE_FAN;
    }
    t.top = i + 1;
    gspike_level *top = &t.level[t.top];
    top->units = 1, top->rows = 2 * GSPIKE_TOP, top->slots = 0;
    top->rows_at = t.rows, top->slots_at = t.slots;
    t.rows += top->rows;
    return t;
}

/* Solves the reduced rows of the last blocks and returns the system's status. With rounding errors of n rows
 * a singular matrix of second differences has an estimated condition of 260 / (n eps) or more; a warning is
 * given from a fifth of that on, and if `worst`, the largest estimate of a block, is above the limit. An
 * infinite one is a zero in R: the matrix is singular, or should be split. */
SHOAL_HD static inline int32_t gspike_solve_top(const gspike_rows *w, const gspike_block *blocks,
                                                int count, int64_t n, double worst,
                                                gspike_rules rules, gspike_pair *pairs) {
    const gspike_joint j = gspike_join(w, blocks, count);
    const gspike_rules as_it_is = { -1, 1, 0 };
    gspike_block all;
    gspike_ends ends = { { 0, 0 }, j.zeta };
    const real cond = gspike_factor(w, 0, j.rows, 0, as_it_is, GSPIKE_MAY_LAST, &all);
    if (!j.back) ends.pair.right = w->b[(j.rows - 1) * w->step];
    gspike_part(w, blocks, count, ends, pairs);
    if (all.kind == GSPIKE_LASTING || !(cond < (real)INFINITY)) return SHOAL_SYSTEM_SINGULAR;
    const real lost = REAL_EPSILON * (16 + (real)n / 50);
    if (!(worst < INFINITY)) return rules.split ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_PIVOT;
    return cond * lost > 1 || worst > rules.cond ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

#endif
