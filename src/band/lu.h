/* SPDX-License-Identifier: Apache-2.0
 *
 * lu.h - LU factorisation of band matrices with partial pivoting, one text for CPU and GPU.
 *
 * Systems are solved side by side, one per lane: 8 or 16 on the CPU, so that each loop over lanes is SIMD code, and
 * one per thread on the GPU. width, parts and lanes are constants at every call, and all functions are inlined.
 *
 * Before step i, `width` rows are in hand, with entries in columns i .. i + 2 width - 1; row i + width joins them. The
 * one with the largest entry in column i becomes row i of U, multiples of it are subtracted from the others. U has
 * 2 width entries beside the diagonal. Rows are scaled by powers of two as in tridiag/residual.h, which rounds nothing.
 * Entries grow by less than 2 (tridiagonal) or 7 (pentadiagonal; N. J. Higham, "Accuracy and Stability of Numerical
 * Algorithms", theorem 9.11), for complex numbers by some more.
 *
 * The condition number is estimated on the way. A second right-hand side e with entries of size 1 goes through the
 * elimination: y = L^-1 e. Each e_i is chosen when its row leaves, so that the squares of y_i and of what it leaves in
 * the rows in hand add up to the most. Then U t = s is solved from the last row up with |s_i| = |y_i|, each sign that
 * which makes t_i larger. |t| is the estimate of |A^-1|: no entry of |L^-1| e is missed that e makes, and no small
 * pivot is. With width 1 and real numbers it is that of tridiag/condition.h.
 *
 * Scratch per row, in reals: 1 / u, 2 width entries of U, z, and |y|.
 */
#ifndef SHOAL_BAND_LU_H
#define SHOAL_BAND_LU_H

#include "band/plan.h"
#include "core/outcome.h"
#include "tridiag/condition.h"

#if defined(__CUDACC__) || defined(SHOAL_EMULATED)
enum { BAND_LANES = 1, BAND_TILE = 2 };
#define BAND_EACH(l, lanes) for (int l = 0; l < (lanes); l++)
#define BAND_PREFETCH(at) /* rows that follow are in flight: other threads' */
#else
enum { BAND_LANES = 64 / sizeof(real), BAND_TILE = 8 };
#define BAND_PRAGMA(text)   _Pragma(#text)
#define BAND_EACH(l, lanes) BAND_PRAGMA(omp simd) for (int l = 0; l < (lanes); l++)
#define BAND_PREFETCH(at)   __builtin_prefetch(at)
#endif
#ifdef __CUDACC__
#define BAND_INLINE SHOAL_HD __forceinline__ static
#define BAND_APART  SHOAL_HD __noinline__ static
#define BAND_UNROLL _Pragma("unroll")
#else
#define BAND_INLINE static inline __attribute__((always_inline))
#define BAND_APART  static inline
#define BAND_UNROLL
#endif

/* ---- numbers ---------------------------------------------------------------------------------- */

typedef struct band_number {
    real re, im; /* im is 0 and not looked at if parts is 1 */
} band_number;

/* a - m b */
BAND_INLINE band_number less_product(band_number a, band_number m, band_number b, const int parts) {
    if (parts == 1) {
        const band_number z = { real_mad(-m.re, b.re, a.re), 0 };
        return z;
    }
    const band_number z = { real_mad(-m.re, b.re, real_mad(m.im, b.im, a.re)),
                            real_mad(-m.re, b.im, real_mad(-m.im, b.re, a.im)) };
    return z;
}
BAND_INLINE band_number product(band_number m, band_number b, const int parts) {
    const band_number zero = { 0, 0 }, minus = { -m.re, -m.im };
    return less_product(zero, minus, b, parts);
}
BAND_INLINE band_number conjugate(band_number v) {
    const band_number z = { v.re, -v.im };
    return z;
}

/* |re| + |im|, by which pivots are chosen, as LAPACK does. */
BAND_INLINE real size_of(band_number v, const int parts) {
    return parts == 1 ? real_abs(v.re) : real_abs(v.re) + real_abs(v.im);
}

/* A number of size 1 with about the angle of v, at most 45 degrees away: 1 or -1, or one of +-1 +-i over sqrt(2). */
BAND_INLINE band_number direction_of(band_number v, const int parts) {
    const real part = parts == 1 ? 1 : (real)0.70710678118654752440;
    const band_number z = { v.re < 0 ? -part : part, v.im < 0 ? -part : part };
    return z;
}

/* 1 / v without overflow of |v|^2; *size is 1 / (|re| + |im|), infinite if v is 0 or next to it. */
BAND_INLINE band_number reciprocal_of(band_number v, real *size, const int parts) {
    *size = 1 / size_of(v, parts);
    if (parts == 1) {
        const band_number z = { v.re < 0 ? -*size : *size, 0 };
        return z;
    }
    const real re = v.re * *size, im = v.im * *size, by = *size / real_mad(re, re, im * im);
    const band_number z = { re * by, -im * by };
    return z;
}

/* ---- a number of each lane ---------------------------------------------------------------------- */

typedef struct band_lanes {
    real part[BAND_PARTS][BAND_LANES];
} band_lanes;

BAND_INLINE band_number lane_of(const band_lanes *v, int l, const int parts) {
    const band_number z = { v->part[0][l], parts > 1 ? v->part[1][l] : 0 };
    return z;
}
BAND_INLINE void set_lane(band_lanes *v, int l, band_number z, const int parts) {
    v->part[0][l] = z.re;
    if (parts > 1) v->part[1][l] = z.im;
}

/* to = v; to = 0; to = a - m b; to = u v. */
BAND_INLINE void lanes_copy(band_lanes *to, const band_lanes *v, const int parts, const int lanes) {
    BAND_EACH(l, lanes) set_lane(to, l, lane_of(v, l, parts), parts);
}
BAND_INLINE void lanes_zero(band_lanes *to, const int parts, const int lanes) {
    const band_number zero = { 0, 0 };
    BAND_EACH(l, lanes) set_lane(to, l, zero, parts);
}
BAND_INLINE void lanes_less(band_lanes *to, const band_lanes *a, const band_lanes *m,
                            const band_lanes *b, const int parts, const int lanes) {
    BAND_EACH(l, lanes)
    set_lane(to, l,
             less_product(lane_of(a, l, parts), lane_of(m, l, parts), lane_of(b, l, parts), parts),
             parts);
}
BAND_INLINE void lanes_product(band_lanes *to, const band_lanes *u, const band_lanes *v,
                               const int parts, const int lanes) {
    BAND_EACH(l, lanes)
    set_lane(to, l, product(lane_of(u, l, parts), lane_of(v, l, parts), parts), parts);
}

/* Swaps the lanes with test >= 0. One selection per loop: compilers turn several into branches. */
BAND_INLINE void lanes_swap(band_lanes *u, band_lanes *v, const real *test, const int parts,
                            const int lanes) {
    for (int c = 0; c < parts; c++) {
        real kept[BAND_LANES];
        BAND_EACH(l, lanes) {
            const real first = u->part[c][l], second = v->part[c][l];
            kept[l] = test[l] >= 0 ? second : first;
        }
        BAND_EACH(l, lanes) {
            const real first = u->part[c][l], second = v->part[c][l];
            v->part[c][l] = test[l] >= 0 ? first : second;
        }
        BAND_EACH(l, lanes) u->part[c][l] = kept[l];
    }
}

/* Parts are `apart` numbers apart, lanes follow each other. */
BAND_INLINE void lanes_load(band_lanes *to, const real *from, int64_t apart, const int parts,
                            const int lanes) {
    for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) to->part[c][l] = from[c * apart + l];
}
BAND_INLINE void lanes_store(real *to, const band_lanes *from, int64_t apart, const int parts,
                             const int lanes) {
    for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) to[c * apart + l] = from->part[c][l];
}

/* ---- rows -------------------------------------------------------------------------------------- */

enum { FIELD_B = BAND_COLUMNS, FIELD_PROBE, FIELDS };

typedef struct band_row { /* entries from column i on, right-hand side, y so far */
    band_lanes f[FIELDS];
} band_row;

/* Where the numbers of the systems in hand lie, in reals. */
typedef struct band_view {
    const real *a[BAND_COLUMNS], *b;
    int64_t n, row, rhs_row;                    /* reals from row to row       */
    int64_t first[BAND_LANES], rhs[BAND_LANES]; /* of row 0 of each lane       */
} band_view;

BAND_INLINE void zero_row(band_row *r, const int parts, const int lanes) {
    BAND_UNROLL
    for (int f = 0; f < FIELDS; f++) lanes_zero(&r->f[f], parts, lanes);
}

/* Rows i .. i + BAND_TILE - 1; 0 outside the matrix. Diagonal after diagonal, so that the lanes' lines are used up before
 * the cache drops them. */
BAND_INLINE void read_rows(band_row *tile, const band_view *v, int64_t i, const int width,
                           const int parts, const int lanes) {
    const int inside = i >= width && i + BAND_TILE + width <= v->n;
    BAND_UNROLL
    for (int r = 0; r < BAND_TILE; r++) {
        if (!inside) zero_row(&tile[r], parts, lanes);
        lanes_zero(&tile[r].f[FIELD_PROBE], parts, lanes);
    }
    BAND_UNROLL
    for (int e = 0; e <= 2 * width + 1; e++) { /* the last one: b */
        const int is_b = e == 2 * width + 1, f = is_b ? FIELD_B : e, shift = is_b ? 0 : e - width;
        const real *from = is_b ? v->b : v->a[e];
        const int64_t row = is_b ? v->rhs_row : v->row, *first = is_b ? v->rhs : v->first;
        for (int l = 0; l < lanes; l++) {
            const real *at = from + first[l] + i * row;
            BAND_PREFETCH(at + BAND_TILE * row);
            BAND_UNROLL
            for (int r = 0; r < BAND_TILE; r++)
                if (inside || (i + r < v->n && i + r + shift >= 0 && i + r + shift < v->n))
                    for (int c = 0; c < parts; c++) tile[r].f[f].part[c][l] = at[r * row + c];
        }
    }
}

/* What is found out about the systems in hand. */
typedef struct band_findings {
    real input[BAND_LANES], rhs[BAND_LANES]; /* 0, or NaN if a number of A, of b is not finite */
    real inverse[BAND_LANES],
        probe[BAND_LANES];                    /* largest 1 / |u|, |t|                            */
    real x[BAND_LANES], x_poison[BAND_LANES]; /* largest |x|; 0 or NaN                           */
    real r[BAND_LANES], r_poison[BAND_LANES]; /* largest residual of a scaled row; 0 or NaN      */
} band_findings;

/* Scales a row of the matrix (tridiag/residual.h). What is not finite poisons. */
BAND_INLINE void scale_row(band_row *row, band_findings *f, const int width, const int parts,
                           const int lanes) {
    real most[BAND_LANES];
    BAND_EACH(l, lanes) most[l] = 0;
    BAND_UNROLL
    for (int e = 0; e <= 2 * width; e++)
        for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) {
                const real v = row->f[e].part[c][l];
                most[l] = real_max(real_abs(v), most[l]);
                f->input[l] = poisoned(f->input[l], v);
            }
    BAND_EACH(l, lanes) {
        const real power = power_of_two_in(most[l]);
        if (power == 0) f->r_poison[l] = real_nan();
        most[l] = row_scale(power);
    }
    BAND_UNROLL
    for (int e = 0; e <= 2 * width; e++)
        for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) row->f[e].part[c][l] *= most[l];
    for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) {
            const real b = row->f[FIELD_B].part[c][l], scaled = b * most[l];
            f->rhs[l] = poisoned(f->rhs[l], b);
            row->f[FIELD_B].part[c][l] =
                scaled == 0 && b != 0 ? (b < 0 ? -REAL_TINY : REAL_TINY) : scaled;
        }
}

/* ---- elimination ------------------------------------------------------------------------------- */

typedef struct band_scratch { /* number s of row i of lane l is [s * slot + i * row + l] */
    real *at;
    int64_t slot, row;
} band_scratch;

/* Places of a row's numbers. */
#define SLOT_INVERSE            0
#define SLOT_ENTRY(e, parts)    ((e) * (parts)) /* e = 1 .. 2 width */
#define SLOT_Z(width, parts)    ((2 * (width) + 1) * (parts))
#define SLOT_SIZE(width, parts) ((2 * (width) + 2) * (parts))
#define SLOTS(width, parts)     (SLOT_SIZE(width, parts) + 1)

BAND_INLINE real *slot_of(const band_scratch *s, int slot, int64_t i) {
    return s->at + slot * s->slot + i * s->row;
}

/* Step i: rows[width], which has joined, becomes the pivot row; the others stay in hand. */
BAND_INLINE void eliminate(band_row *rows, const band_scratch *s, int64_t i, band_findings *found,
                           const int width, const int parts, const int lanes) {
    band_row *top = &rows[width];
    band_lanes inverse, m[BAND_WIDTH], e, slope;
    BAND_UNROLL
    for (int k = width - 1; k >= 0; k--) {
        real test[BAND_LANES];
        BAND_EACH(l, lanes)
        test[l] = size_of(lane_of(&rows[k].f[0], l, parts), parts) -
                  size_of(lane_of(&top->f[0], l, parts), parts);
        BAND_UNROLL
        for (int f = 0; f < FIELDS; f++)
            if (f <= 2 * width || f >= FIELD_B)
                lanes_swap(&top->f[f], &rows[k].f[f], test, parts, lanes);
    }
    BAND_EACH(l, lanes) {
        real size;
        set_lane(&inverse, l, reciprocal_of(lane_of(&top->f[0], l, parts), &size, parts), parts);
        found->inverse[l] = real_max(size, found->inverse[l]);
    }
    lanes_copy(&slope, &top->f[FIELD_PROBE], parts, lanes);
    BAND_UNROLL
    for (int k = 0; k < width; k++) {
        band_lanes *f = rows[k].f, turned;
        lanes_product(&m[k], &f[0], &inverse, parts, lanes);
        BAND_UNROLL
        for (int c = 0; c < 2 * width; c++)
            lanes_less(&f[c], &f[c + 1], &m[k], &top->f[c + 1], parts, lanes);
        lanes_zero(&f[2 * width], parts, lanes);
        lanes_less(&f[FIELD_B], &f[FIELD_B], &m[k], &top->f[FIELD_B], parts, lanes);
        lanes_less(&f[FIELD_PROBE], &f[FIELD_PROBE], &m[k], &top->f[FIELD_PROBE], parts, lanes);
        BAND_EACH(l, lanes) set_lane(&turned, l, conjugate(lane_of(&m[k], l, parts)), parts);
        lanes_less(&slope, &slope, &turned, &f[FIELD_PROBE], parts, lanes);
    }
    real *size = slot_of(s, SLOT_SIZE(width, parts), i);
    BAND_EACH(l, lanes) { /* e_i: up the slope of the sum of squares */
        const band_number step = direction_of(lane_of(&slope, l, parts), parts);
        band_number y = lane_of(&top->f[FIELD_PROBE], l, parts);
        y.re += step.re, y.im += step.im;
        set_lane(&e, l, step, parts);
        size[l] = size_of(y, parts);
    }
    BAND_UNROLL
    for (int k = 0; k < width; k++)
        lanes_less(&rows[k].f[FIELD_PROBE], &rows[k].f[FIELD_PROBE], &m[k], &e, parts, lanes);
    lanes_store(slot_of(s, SLOT_INVERSE, i), &inverse, s->slot, parts, lanes);
    BAND_UNROLL
    for (int c = 1; c <= 2 * width; c++)
        lanes_store(slot_of(s, SLOT_ENTRY(c, parts), i), &top->f[c], s->slot, parts, lanes);
    lanes_store(slot_of(s, SLOT_Z(width, parts), i), &top->f[FIELD_B], s->slot, parts, lanes);
}

/* L U: rows of U, z = L^-1 b and |y| go to scratch. */
BAND_INLINE void factor_lanes(const band_view *v, const band_scratch *s, band_findings *found,
                              const int width, const int parts, const int lanes) {
    band_row rows[BAND_WIDTH + 1], tile[BAND_TILE];
    BAND_UNROLL
    for (int k = 0; k < width; k++) zero_row(&rows[k], parts, lanes);
    for (int64_t i = 0; i < v->n + width; i += BAND_TILE) {
        read_rows(tile, v, i, width, parts, lanes);
        BAND_UNROLL
        for (int r = 0; r < BAND_TILE; r++) {
            const int64_t row = i + r, step = row - width;
            if (row >= v->n + width) break;
            if (row < v->n) scale_row(&tile[r], found, width, parts, lanes);
            if (step >= 0) {
                rows[width] = tile[r];
                eliminate(rows, s, step, found, width, parts, lanes);
                continue;
            }
            BAND_UNROLL
            for (int k = 0; k < width; k++) { /* one of the first rows, from column 0 on */
                if (k != row) continue;
                BAND_UNROLL
                for (int e = 0; e <= width + k; e++)
                    lanes_copy(&rows[k].f[e], &tile[r].f[e + width - k], parts, lanes);
                lanes_copy(&rows[k].f[FIELD_B], &tile[r].f[FIELD_B], parts, lanes);
            }
        }
    }
}

/* ---- the way back ------------------------------------------------------------------------------ */

typedef struct band_sink { /* where x goes: number i of lane l is [first[l] + i * row + c * part] */
    real *at;
    int64_t row, part, first[BAND_LANES];
} band_sink;

BAND_INLINE void sink_load(band_lanes *to, const band_sink *x, int64_t i, const int parts,
                           const int lanes) {
    for (int c = 0; c < parts; c++)
        for (int l = 0; l < lanes; l++)
            to->part[c][l] = x->at[x->first[l] + i * x->row + c * x->part];
}

/* U x = z, and U t = s. */
BAND_INLINE void substitute_lanes(const band_view *v, const band_scratch *s, const band_sink *x,
                                  band_findings *found, const int width, const int parts,
                                  const int lanes) {
    band_lanes next[2 * BAND_WIDTH], probe[2 * BAND_WIDTH]; /* x and t of rows i + 1, ... */
    BAND_UNROLL
    for (int e = 0; e < 2 * width; e++)
        lanes_zero(&next[e], parts, lanes), lanes_zero(&probe[e], parts, lanes);
    for (int64_t i = v->n - 1; i >= 0; i--) {
        const real *size = slot_of(s, SLOT_SIZE(width, parts), i);
        band_lanes inverse, rest, sum;
        lanes_load(&inverse, slot_of(s, SLOT_INVERSE, i), s->slot, parts, lanes);
        lanes_load(&rest, slot_of(s, SLOT_Z(width, parts), i), s->slot, parts, lanes);
        lanes_zero(&sum, parts, lanes);
        BAND_UNROLL
        for (int e = 2 * width; e >= 1; e--) {
            band_lanes u;
            lanes_load(&u, slot_of(s, SLOT_ENTRY(e, parts), i), s->slot, parts, lanes);
            lanes_less(&rest, &rest, &u, &next[e - 1], parts, lanes);
            lanes_less(&sum, &sum, &u, &probe[e - 1], parts, lanes);
        }
        BAND_UNROLL
        for (int e = 2 * width - 1; e >= 1; e--) {
            lanes_copy(&next[e], &next[e - 1], parts, lanes);
            lanes_copy(&probe[e], &probe[e - 1], parts, lanes);
        }
        lanes_product(&next[0], &rest, &inverse, parts, lanes);
        BAND_EACH(l, lanes) {
            band_number t = lane_of(&sum, l, parts);
            const band_number e = direction_of(t, parts);
            t.re += e.re * size[l], t.im += e.im * size[l];
            set_lane(&sum, l, t, parts);
        }
        lanes_product(&probe[0], &sum, &inverse, parts, lanes);
        BAND_EACH(l, lanes) {
            const real t = size_of(lane_of(&probe[0], l, parts), parts);
            found->probe[l] = real_max(t == t ? t : (real)INFINITY, found->probe[l]);
            found->x_poison[l] = poisoned(found->x_poison[l], next[0].part[0][l]);
            found->x[l] = real_max(real_abs(next[0].part[0][l]), found->x[l]);
        }
        if (parts > 1) BAND_EACH(l, lanes) {
                found->x_poison[l] = poisoned(found->x_poison[l], next[0].part[1][l]);
                found->x[l] = real_max(real_abs(next[0].part[1][l]), found->x[l]);
            }
        for (int c = 0; c < parts; c++)
            for (int l = 0; l < lanes; l++)
                x->at[x->first[l] + i * x->row + c * x->part] = next[0].part[c][l];
    }
}

/* ---- the residual ------------------------------------------------------------------------------ */

BAND_INLINE void residual_lanes(const band_view *v, const band_sink *x, band_findings *found,
                                const int width, const int parts, const int lanes) {
    band_lanes near[BAND_COLUMNS]; /* x of rows i - width .. i + width */
    band_row tile[BAND_TILE];
    BAND_UNROLL
    for (int e = 0; e <= 2 * width; e++) lanes_zero(&near[e], parts, lanes);
    BAND_UNROLL
    for (int e = 0; e < width; e++) /* of rows 0 .. width - 1: those move down first */
        if (e < v->n) sink_load(&near[width + 1 + e], x, e, parts, lanes);
    for (int64_t i = 0; i < v->n; i += BAND_TILE) {
        read_rows(tile, v, i, width, parts, lanes);
        BAND_UNROLL
        for (int r = 0; r < BAND_TILE; r++) {
            const int64_t row = i + r, ahead = row + width;
            band_lanes rest;
            if (row >= v->n) break;
            scale_row(&tile[r], found, width, parts, lanes);
            BAND_UNROLL
            for (int e = 0; e < 2 * width; e++) lanes_copy(&near[e], &near[e + 1], parts, lanes);
            lanes_zero(&near[2 * width], parts, lanes);
            if (ahead < v->n) sink_load(&near[2 * width], x, ahead, parts, lanes);
            lanes_copy(&rest, &tile[r].f[FIELD_B], parts, lanes);
            BAND_UNROLL
            for (int e = 0; e <= 2 * width; e++)
                lanes_less(&rest, &rest, &tile[r].f[e], &near[e], parts, lanes);
            for (int c = 0; c < parts; c++) BAND_EACH(l, lanes) {
                    found->r[l] = real_max(real_abs(rest.part[c][l]), found->r[l]);
                    found->r_poison[l] = poisoned(found->r_poison[l], rest.part[c][l]);
                }
        }
    }
}

/* s - u v of one part, in twice the precision. */
SHOAL_HD static inline twice less_exactly(twice s, real u, int row, real v, int x) {
    return twice_less(s, scaled_by(u, -row), scaled_by(v, -x));
}

/* The residual of lane l once more, if its rounding or underflow could turn the verdict. */
BAND_APART float exact_residual_of(const band_view v, const band_sink x, int l, int width,
                                   int parts) {
    const real *b = v.b + v.rhs[l], *at = x.at + x.first[l];
    real most = 0, worst = 0;
    for (int64_t i = 0; i < v.n; i++)
        for (int c = 0; c < parts; c++) most = real_max(real_abs(at[i * x.row + c * x.part]), most);
    if (most == 0) {
        for (int64_t i = 0; i < v.n; i++)
            for (int c = 0; c < parts; c++)
                if (b[i * v.rhs_row + c] != 0) return INFINITY;
        return 0;
    }
    const int exponent = ilogb((double)most);
    for (int64_t i = 0; i < v.n; i++) {
        real largest = 0;
        for (int pass = 0; pass < 2; pass++) { /* the row's exponent; its residual */
            const int row = largest > 0 ? ilogb((double)largest) : 0;
            for (int c = 0; c < parts && (pass || c == 0); c++) {
                twice r = twice_of(pass ? scaled_by(b[i * v.rhs_row + c], -row - exponent) : 0);
                for (int e = 0; e <= 2 * width; e++) {
                    const int64_t column = i + e - width;
                    if (column < 0 || column >= v.n) continue;
                    const real *a = v.a[e] + v.first[l] + i * v.row;
                    const real *with = at + column * x.row;
                    if (pass == 0) {
                        for (int p = 0; p < parts; p++) largest = real_max(real_abs(a[p]), largest);
                        continue;
                    }
                    if (parts == 1) {
                        r = less_exactly(r, a[0], row, with[0], exponent);
                        continue;
                    }
                    const real re = with[0],
                               im = with[x.part]; /* of a x: re re - im im, re im + im re */
                    r = less_exactly(r, a[0], row, c ? im : re, exponent);
                    r = less_exactly(r, c ? a[1] : -a[1], row, c ? re : im, exponent);
                }
                if (pass) worst = real_max(real_abs(real_of_twice(r)), worst);
            }
        }
    }
    return worst == 0 ? 0 : (float)(worst / scaled_by(most, -exponent));
}

/* ---- one group of systems ---------------------------------------------------------------------- */

/* Of tridiag/residual.h; a row has `products` that may underflow. */
SHOAL_HD static inline float band_residual(const band_findings *f, int l, int products) {
    if (!(f->r_poison[l] == 0)) return NAN;
    if (f->r[l] == 0 && (f->x[l] == 0 || f->x[l] > REAL_MIN / REAL_EPSILON)) return 0;
    return (float)((f->r[l] + (real)products * REAL_TINY) / ROW_UNIT / f->x[l]);
}

/* |A| counts as 2 or 3: it is from 1 to 3 or 5, times sqrt(2) if complex. */
SHOAL_HD static inline real condition_at(real probe, int width) {
    return probe * ((real)(width + 1) * ROW_UNIT);
}

SHOAL_HD static inline int32_t judge(const band_job *job, const band_findings *f, int l,
                                     float *residual, const band_view *v, const band_sink *x,
                                     int width, int parts) {
    *residual = NAN;
    if (f->input[l] != 0 || f->rhs[l] != 0) return SHOAL_SYSTEM_NONFINITE;
    if (f->x_poison[l] != 0)
        return f->inverse[l] > REAL_MAX ? SHOAL_SYSTEM_SINGULAR : SHOAL_SYSTEM_OVERFLOW;
    const int ill = is_ill(condition_at(f->probe[l], width), job->cond);
    if (job->residual) {
        *residual = band_residual(f, l, (2 * width + 1) * parts);
        if (is_doubtful(*residual, job->tol) || f->x[l] == 0)
            *residual = exact_residual_of(*v, *x, l, width, parts);
    }
    return ill || (job->residual && !((double)*residual <= job->tol)) ? SHOAL_SYSTEM_ILL
                                                                      : SHOAL_SYSTEM_OK;
}

/* Writes x, or NaN, or, if x is b and the system failed, nothing. */
SHOAL_HD static inline void store_lane(const band_job *job, const band_view *v, const band_sink *x,
                                       int l, int32_t status, int parts) {
    real *to = (real *)job->x + v->rhs[l];
    const int in_place = job->x == job->b;
    if (in_place == (status < 0)) return;
    for (int64_t i = 0; i < v->n; i++)
        for (int c = 0; c < parts; c++)
            to[i * v->rhs_row + c] =
                status < 0 ? real_nan() : x->at[x->first[l] + i * x->row + c * x->part];
}

SHOAL_HD static inline void note_lane(const band_job *job, const band_findings *f, int64_t k,
                                      int64_t j, int l, int32_t status, float residual, int width) {
    job->status[k] = j ? shoal_worse(job->status[k], status) : status;
    if (job->residual && (j == 0 || !(residual <= job->residual[k])))
        job->residual[k] = j && isnan(job->residual[k]) ? job->residual[k] : residual;
    if (job->method && j == 0) job->method[k] = 0;
    if (!job->rcond || j > 0) return;
    const real estimate = condition_at(f->probe[l], width);
    job->rcond[k] = f->input[l] != 0                                      ? NAN
                    : f->inverse[l] > REAL_MAX || !(estimate <= REAL_MAX) ? 0
                    : estimate > 1                                        ? (float)(1 / estimate)
                                                                          : 1;
}

/* Right-hand side j of systems k .. k + used - 1, in scratch for so many lanes. */
BAND_INLINE void solve_lanes(const band_job *job, int64_t k, int used, int64_t j,
                             const band_scratch *s, const int width, const int parts,
                             const int lanes) {
    const int in_place = job->x == job->b;
    band_findings found;
    band_view v;
    band_sink x;
    v.n = job->n, v.row = job->row * parts, v.rhs_row = job->row * job->nrhs * parts;
    v.b = (const real *)job->b;
    BAND_UNROLL
    for (int e = 0; e <= 2 * width; e++) v.a[e] = (const real *)job->a[e];
    x.at = in_place ? slot_of(s, SLOT_Z(width, parts), 0) : (real *)job->x;
    x.row = in_place ? s->row : v.rhs_row, x.part = in_place ? s->slot : 1;
    for (int l = 0; l < lanes; l++) {
        const int64_t system = k + (l < used ? l : used - 1), at = system * job->system;
        v.first[l] = at * parts, v.rhs[l] = (at * job->nrhs + j) * parts;
        x.first[l] = in_place ? l : v.rhs[l];
        found.input[l] = found.rhs[l] = found.inverse[l] = found.probe[l] = found.x[l] = 0;
        found.x_poison[l] = found.r[l] = found.r_poison[l] = 0;
    }
    factor_lanes(&v, s, &found, width, parts, lanes);
    substitute_lanes(&v, s, &x, &found, width, parts, lanes);
    if (job->residual) {
        BAND_EACH(l, lanes) found.r_poison[l] = 0;
        residual_lanes(&v, &x, &found, width, parts, lanes);
    }
    for (int l = 0; l < used; l++) {
        float residual;
        const int32_t status = judge(job, &found, l, &residual, &v, &x, width, parts);
        store_lane(job, &v, &x, l, status, parts);
        note_lane(job, &found, k + l, j, l, status, residual, width);
    }
}

#endif
