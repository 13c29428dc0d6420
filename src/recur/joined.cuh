/* SPDX-License-Identifier: Apache-2.0
 *
 * joined.cuh - maps of rows (map.h) that are joined to others before any state is known.
 *
 * Their products underflow where the answer does not. What is lost may not exceed what substitution itself
 * would lose, one smallest number per product:
 *
 * - Maps of order 1 have double numbers. In float that is enough: a product below 2^-1022 takes a state, which is
 *   below 2^128, to less than 2^-894, and substitution would have lost it, too. In double they carry an exponent,
 *   M = 2^e m with e <= 0, so that m does not vanish, as that of a tile of small s soon would.
 * - Maps of higher orders hold 2^HELD M in place of M, from the first row on: what a product loses is 2^-HELD of the
 *   smallest number, and no more than that once it meets a state of 2^HELD or less. Larger states are walked
 *   through the rows; so is M where 2^(2 HELD) M overflows. That costs a multiplication per number and join, and
 *   none per row.
 * - Moebius matrices are scaled as a whole (moebius_join).
 */
#ifndef SHOAL_RECUR_JOINED_CUH
#define SHOAL_RECUR_JOINED_CUH

#include "recur/map.h"

template <int SHAPE> struct joined_number { typedef real type; };
template <> struct joined_number<1> { typedef double type; };

template <int SHAPE> struct joined_map {
    typedef typename joined_number<SHAPE>::type number;
    number m[map_size(SHAPE)]; /* as those of recur_map */
    int e;
};

/* Whether maps carry an exponent; and whether they hold 2^HELD M. */
MAP_CONSTANT bool has_exponent(const int shape) {
    return sizeof(real) == sizeof(double) && shape == 1;
}
MAP_CONSTANT bool is_held(const int shape) { return shape > 1 && shape != SHAPE_MOEBIUS; }

/* Every number of a settled m but 0 is at least SETTLED_LOW: the product of two such is accurate. */
#define SETTLED_LOW 0x1p-510
enum { LIFT = 600 }; /* 2^LIFT lifts any number above that */

/* Of order 1, lanes of many rows begin their product of s at 2^LANE_BEGIN, as map_begin() does: it is right for
 * states up to there. So M may be GROWTH_MAX at most, and x and v STATE_MAX; what is larger is walked. */
#ifdef SHOAL_SINGLE
enum { LANE_BEGIN = 96 };
#define GROWTH_MAX 0x1p32f
#define STATE_MAX  0x1p64f
enum { HELD = 48 };
#define HELD_MAX 0x1p48f
#else
enum { HELD = 400 };
#define HELD_MAX   0x1p400
enum { LANE_BEGIN = 900 };
#define GROWTH_MAX 0x1p120
#define STATE_MAX  0x1p780
#endif

/* The largest state of a shape that a map may be applied to. */
MAP_CONSTANT real state_most(const int shape) { return shape == 1 ? STATE_MAX : HELD_MAX; }

template <class T> __device__ static inline T joined_mad(T u, T v, T w) { return fma(u, v, w); }

template <int SHAPE> __device__ static inline joined_map<SHAPE> joined_identity() {
    constexpr int COLUMNS = SHAPE == SHAPE_MOEBIUS ? 2 : SHAPE + 1;
    joined_map<SHAPE> a = {};
#pragma unroll
    for (int i = 0; i < map_size(SHAPE); i++)
        a.m[i] = i / COLUMNS == i % COLUMNS ? (is_held(SHAPE) ? HELD_MAX : (real)1) : (real)0;
    return a;
}

/* The map that forgets what came before: every state becomes x. */
template <int SHAPE>
__device__ static inline joined_map<SHAPE> joined_constant(const recur_state &x) {
    constexpr int COLUMNS = SHAPE == SHAPE_MOEBIUS ? 2 : SHAPE + 1;
    joined_map<SHAPE> a = {};
#pragma unroll
    for (int r = 0; r < state_size(SHAPE); r++) a.m[r * COLUMNS + COLUMNS - 1] = x.x[r];
    if (SHAPE == SHAPE_MOEBIUS) a.m[3] = 1;
    return a;
}

template <int SHAPE> __device__ static inline bool is_finite(const joined_map<SHAPE> &a) {
    typename joined_map<SHAPE>::number poison = 0;
#pragma unroll
    for (int i = 0; i < map_size(SHAPE); i++)
        poison = joined_mad<decltype(poison)>(a.m[i], 0, poison);
    return poison == 0;
}

template <int SHAPE> __device__ static inline recur_map plain_map(const joined_map<SHAPE> &a) {
    recur_map b = {};
#pragma unroll
    for (int i = 0; i < map_size(SHAPE); i++) b.m[i] = (real)a.m[i];
    return b;
}
template <int SHAPE> __device__ static inline joined_map<SHAPE> joined_of(const recur_map &a) {
    joined_map<SHAPE> b = {};
#pragma unroll
    for (int i = 0; i < map_size(SHAPE); i++) b.m[i] = a.m[i];
    return b;
}

/* ---- exponents: order 1 in double -------------------------------------------------------------- */

/* Whether a number is too small to be multiplied by another such. It is not a product of two that are not. */
__device__ static inline bool is_too_small(double v) { return fabs(v) < SETTLED_LOW && v != 0; }

/* Brings m to [1/16, 1/8), but e not above 0: m x neither overflows nor loses more than 2^e m x does. */
__device__ static inline void scale(joined_map<1> &a) {
    if (fabs(a.m[0]) < DBL_MIN) a.m[0] *= 0x1p600, a.e -= LIFT;
    const double top = fabs(a.m[0]);
    if (!(top > 0)) a.e = 0;
    int shift = top >= DBL_MIN && top <= DBL_MAX ? -4 - ilogb(top) : 0;
    if (shift < a.e) shift = a.e;
    a.e -= shift;
    if (a.e < -(1 << 20)) a.e = -(1 << 20); /* far below all numbers */
    a.m[0] = scalbn(a.m[0], shift);
}

/* An m that is not 0 is to be at least SETTLED_LOW, and where e < 0 at most 1/4. */
template <int SHAPE> __device__ static inline void settle(joined_map<SHAPE> &a) {
    if constexpr (has_exponent(SHAPE))
        if (is_too_small(a.m[0]) || (a.e < 0 && !(fabs(a.m[0]) <= 0.25))) scale(a);
}

/* The map of order 1 whose product was begun at 2^LANE_BEGIN. */
__device__ static inline joined_map<1> joined_of_begun(const recur_map &begun) {
    joined_map<1> a = joined_of<1>(begun);
    if (!has_exponent(1) || fabs(a.m[0]) >= 0x1p400 || a.m[0] == 0) {
        a.m[0] *= (double)power_of_two(-LANE_BEGIN);
    } else {
        a.e = -LANE_BEGIN;
        settle<1>(a);
    }
    return a;
}

/* ---- joining and applying ---------------------------------------------------------------------- */

/* M x + v in the numbers of a map. */
template <int SHAPE, class T, class N>
__device__ static inline void joined_step(const joined_map<SHAPE> &a, const T *x, N *y) {
    constexpr int COLUMNS = SHAPE + 1;
#pragma unroll
    for (int r = 0; r < SHAPE; r++) {
        const N v = a.m[r * COLUMNS + SHAPE];
        const bool apart = is_held(SHAPE) || (has_exponent(SHAPE) && a.e < 0); /* M x, then v */
        N sum = apart ? 0 : v;
#pragma unroll
        for (int k = SHAPE - 1; k >= 0; k--) sum = joined_mad<N>(a.m[r * COLUMNS + k], x[k], sum);
        if (is_held(SHAPE))
            y[r] = joined_mad<N>(sum, 1 / HELD_MAX, v);
        else
            y[r] = apart ? scalbn(sum, a.e) + v : sum;
    }
}

/* The state after the rows of a map. */
template <int SHAPE>
__device__ static inline recur_state joined_apply(const joined_map<SHAPE> &a,
                                                  const recur_state &x) {
    if constexpr (SHAPE == SHAPE_MOEBIUS) {
        const recur_map b = plain_map<SHAPE>(a);
        return map_apply(&b, &x, SHAPE);
    } else {
        typename joined_map<SHAPE>::number y[SHAPE];
        recur_state after = {};
        joined_step<SHAPE>(a, x.x, y);
#pragma unroll
        for (int r = 0; r < SHAPE; r++) after.x[r] = (real)y[r];
        return after;
    }
}

/* Whether all numbers of a state are small enough for a map; NaN is not. */
template <int SHAPE, class T> __device__ static inline bool fits_map(const T *x) {
    bool fits = true;
#pragma unroll
    for (int k = 0; k < SHAPE; k++) fits = fits && fabs(x[k]) <= state_most(SHAPE);
    return fits;
}

/* Whether a map did for x what its rows would: a state that is not finite may be the map's fault. Of
 * order 1 it is not: a x + b overflows where the last row does; but x may be too large for it. */
template <int SHAPE>
__device__ static inline bool is_sound(const recur_state &x, const recur_state &after) {
    if (SHAPE == 1) return !(real_abs(x.x[0]) > STATE_MAX && real_abs(x.x[0]) <= REAL_MAX);
    if (state_poison(&x, SHAPE) != 0) return true;
    return state_poison(&after, SHAPE) == 0 && (!is_held(SHAPE) || fits_map<SHAPE>(x.x));
}

/* `earlier`, then `later`: M M', M v' + v. */
template <int SHAPE>
__device__ static inline joined_map<SHAPE> join(const joined_map<SHAPE> &earlier,
                                                const joined_map<SHAPE> &later) {
    if constexpr (SHAPE == SHAPE_MOEBIUS) {
        const recur_map a = plain_map<SHAPE>(earlier), b = plain_map<SHAPE>(later);
        return joined_of<SHAPE>(moebius_join(&a, &b));
    } else {
        typedef typename joined_map<SHAPE>::number number;
        constexpr int COLUMNS = SHAPE + 1;
        joined_map<SHAPE> a = {};
        number v[SHAPE], y[SHAPE];
#pragma unroll
        for (int i = 0; i < SHAPE * COLUMNS; i++) {
            const number *row = later.m + i / COLUMNS * COLUMNS, *column = earlier.m + i % COLUMNS;
            if (i % COLUMNS == SHAPE) continue;
            a.m[i] = row[SHAPE - 1] * column[(SHAPE - 1) * COLUMNS];
#pragma unroll
            for (int k = SHAPE - 2; k >= 0; k--)
                a.m[i] = joined_mad<number>(row[k], column[k * COLUMNS], a.m[i]);
            if (is_held(SHAPE)) a.m[i] *= 1 / HELD_MAX;
        }
#pragma unroll
        for (int r = 0; r < SHAPE; r++) v[r] = earlier.m[r * COLUMNS + SHAPE];
        joined_step<SHAPE>(later, v, y);
#pragma unroll
        for (int r = 0; r < SHAPE; r++) a.m[r * COLUMNS + SHAPE] = y[r];
        if (SHAPE == 1 && !(fits_map<1>(v) && fabs(a.m[0]) <= GROWTH_MAX)) a.m[1] = NAN;
        if (is_held(SHAPE) && !fits_map<SHAPE>(v)) a.m[0] = NAN;
        if (has_exponent(SHAPE)) a.e = earlier.e + later.e;
        settle<SHAPE>(a);
        return a;
    }
}

/* The map, then one row. In double an s of order 1 that is far too small is lifted. */
template <int SHAPE>
__device__ static inline void joined_append(joined_map<SHAPE> &a, const real *s, real t) {
    if constexpr (SHAPE == SHAPE_MOEBIUS) {
        recur_map b = plain_map<SHAPE>(a);
        map_append(&b, s, t, SHAPE);
        a = joined_of<SHAPE>(b);
    } else {
        typedef typename joined_map<SHAPE>::number number;
        constexpr int COLUMNS = SHAPE + 1;
        const joined_map<SHAPE> before = a;
        const bool lifted = has_exponent(SHAPE) && is_too_small(s[0]);
        const number factor = lifted ? s[0] * (number)0x1p600 : (number)s[0];
#pragma unroll
        for (int i = SHAPE * COLUMNS - 1; i >= COLUMNS; i--) a.m[i] = before.m[i - COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) { /* s M, s v + t */
            number sum = t;
#pragma unroll
            for (int k = SHAPE - 1; k >= 0; k--) {
                const number u = k || c == SHAPE ? s[k] : factor, v = before.m[k * COLUMNS + c];
                sum = c < SHAPE && k == SHAPE - 1 ? u * v : joined_mad<number>(u, v, sum);
            }
            a.m[c] = sum;
        }
        if (lifted) a.e -= LIFT;
        settle<SHAPE>(a);
    }
}

#endif
