/* SPDX-License-Identifier: Apache-2.0
 *
 * strip.cuh - a strip: consecutive rows of one segment in the registers of the lanes of a warp, 16
 * bytes of t per lane, so that a warp reads and writes whole lines.
 *
 * A strip of `width` lanes (a power of two, 32 in a long segment) is scanned by joining the maps of
 * its lanes in log2(width) steps, the tree of Kogge and Stone; which map is joined to which depends
 * on the lane's place alone. Rows past the end of a segment are left out.
 */
#ifndef SHOAL_RECUR_STRIP_CUH
#define SHOAL_RECUR_STRIP_CUH

#include "core/launch.cuh"
#include "recur/joined.cuh"

enum { ROWS = 16 / sizeof(real) }; /* rows per lane */
#define ALL_LANES 0xffffffffu

#ifdef SHOAL_SINGLE
typedef float4 sixteen;
#else
typedef double2 sixteen;
#endif

/* run<SHAPE>(..) for the shape of a job. */
#define RUN_BY_SHAPE(shape, run, ...)                                                              \
    ((shape) == 1   ? run<1>(__VA_ARGS__)                                                          \
     : (shape) == 2 ? run<2>(__VA_ARGS__)                                                          \
     : (shape) == 3 ? run<3>(__VA_ARGS__)                                                          \
     : (shape) == 4 ? run<4>(__VA_ARGS__)                                                          \
                    : run<SHAPE_MOEBIUS>(__VA_ARGS__))

template <int SHAPE> struct strip {
    enum { W = SHAPE == SHAPE_MOEBIUS ? 4 : SHAPE }; /* numbers of s per row */
    real s[ROWS * W], t[ROWS];
    int used; /* rows of this lane that exist */
};

/* Rows of W numbers in opposite order. */
template <int W> __device__ static inline void reverse_rows(real *rows) {
#pragma unroll
    for (int u = 0; u < ROWS / 2; u++)
#pragma unroll
        for (int e = 0; e < W; e++) {
            const real a = rows[u * W + e];
            rows[u * W + e] = rows[(ROWS - 1 - u) * W + e];
            rows[(ROWS - 1 - u) * W + e] = a;
        }
}

/* ROWS rows of W numbers that lie side by side, in ascending or (step -W) descending order, as they lie
 * there: W vectors of 16 bytes, or the numbers one by one. */
template <int W>
__device__ static inline void load_together(real *to, const real *first, int64_t step) {
    const real *from = first + (step < 0 ? (ROWS - 1) * step : 0);
    if ((uintptr_t)from % 16 == 0) {
#pragma unroll
        for (int c = 0; c < W; c++) {
            const sixteen v = ((const sixteen *)from)[c];
            memcpy(to + c * ROWS, &v, sizeof v);
        }
    } else {
#pragma unroll
        for (int e = 0; e < W * ROWS; e++) to[e] = from[e];
    }
}

/* Starts to load rows i .. i + ROWS - 1 of a view; order_strip() has to follow. In between other strips
 * are loaded: nothing waits for a number here. */
template <int SHAPE>
__device__ static inline void load_strip(strip<SHAPE> &p, const recur_view &v, int64_t n,
                                         int64_t i) {
    constexpr int W = strip<SHAPE>::W;
    const int64_t left = n - i;
    p.used = left >= ROWS ? ROWS : left > 0 ? (int)left : 0;
    const bool whole = p.used == ROWS;
    if (whole && (v.s_row == W || v.s_row == -W)) {
        load_together<W>(p.s, v.s + i * v.s_row, v.s_row);
    } else {
#pragma unroll
        for (int u = 0; u < ROWS; u++)
#pragma unroll
            for (int e = 0; e < W; e++)
                p.s[u * W + e] = u < p.used ? v.s[(i + u) * v.s_row + e] : 0;
    }
    if (SHAPE != SHAPE_MOEBIUS && whole && (v.t_row == 1 || v.t_row == -1)) {
        load_together<1>(p.t, v.t + i * v.t_row, v.t_row);
    } else {
#pragma unroll
        for (int u = 0; u < ROWS; u++)
            p.t[u] = SHAPE != SHAPE_MOEBIUS && u < p.used ? v.t[(i + u) * v.t_row] : 0;
    }
}

/* Rows that lie in descending order are turned once they are there. */
template <int SHAPE>
__device__ static inline void order_strip(strip<SHAPE> &p, const recur_view &v) {
    constexpr int W = strip<SHAPE>::W;
    if (p.used < ROWS) return;
    if (v.s_row == -W) reverse_rows<W>(p.s);
    if (SHAPE != SHAPE_MOEBIUS && v.t_row == -1) reverse_rows<1>(p.t);
}

/* The rows of this lane by substitution from state x, which moves on, into w. The poisons are
 * NaN if a number of the input (only with check_input) or of w is not finite. */
template <int SHAPE>
__device__ static inline void strip_rows(const strip<SHAPE> &p, const recur_view &v, int64_t i,
                                         recur_state &x, bool check_input, real &input,
                                         real &answer) {
    constexpr int W = strip<SHAPE>::W;
    real w[ROWS];
#pragma unroll
    for (int u = 0; u < ROWS; u++) {
        w[u] = 0;
        if (u < p.used) {
            if (check_input) input += row_poison(p.s + u * W, p.t[u], SHAPE);
            w[u] = row_step(&x, p.s + u * W, p.t[u], SHAPE);
            if (SHAPE == SHAPE_MOEBIUS) answer = poisoned(answer, w[u]);
        }
    }
    /* a linear recurrence that is not finite at one row is so at the next: Inf * 0 is NaN */
    if (SHAPE != SHAPE_MOEBIUS && p.used > 0) answer = poisoned(answer, x.x[0]);
    const bool down = v.w_row < 0;
    real *first = v.w + (down ? i + ROWS - 1 : i) * v.w_row;
    if (p.used == ROWS && (v.w_row == 1 || v.w_row == -1) && (uintptr_t)first % 16 == 0) {
        sixteen value;
        if (down) reverse_rows<1>(w);
        memcpy(&value, w, sizeof value);
        shoal_store_streaming((sixteen *)first, value);
    } else {
#pragma unroll
        for (int u = 0; u < ROWS; u++)
            if (u < p.used) v.w[(i + u) * v.w_row] = w[u];
    }
}

/* The map of another lane; by `shuffle`, which takes one number there. */
template <int SHAPE, class Shuffle>
__device__ static inline joined_map<SHAPE> shuffled_map(const joined_map<SHAPE> &a,
                                                        Shuffle shuffle) {
    joined_map<SHAPE> b = {};
#pragma unroll
    for (int i = 0; i < map_size(SHAPE); i++) b.m[i] = shuffle(a.m[i]);
    if (has_exponent(SHAPE)) b.e = shuffle(a.e);
    return b;
}
template <int SHAPE>
__device__ static inline joined_map<SHAPE> map_from_lane(const joined_map<SHAPE> &a, int lane,
                                                         int width = 32) {
    return shuffled_map<SHAPE>(a, [&](auto v) { return __shfl_sync(ALL_LANES, v, lane, width); });
}

template <int SHAPE>
__device__ static inline recur_state state_from_lane(const recur_state &x, int lane,
                                                     int width = 32) {
    recur_state y = {};
#pragma unroll
    for (int e = 0; e < state_size(SHAPE); e++)
        y.x[e] = __shfl_sync(ALL_LANES, x.x[e], lane, width);
    return y;
}

/* The maps of lanes 0 .. l of each group of `width` lanes, joined, in lane l. */
template <int SHAPE>
__device__ static inline joined_map<SHAPE> scan_lanes(joined_map<SHAPE> a, int width = 32) {
    const int lane = (int)(threadIdx.x % 32) % width;
    for (int distance = 1; distance < width; distance *= 2) {
        const joined_map<SHAPE> before = shuffled_map<SHAPE>(
            a, [&](auto v) { return __shfl_up_sync(ALL_LANES, v, distance, width); });
        if (lane >= distance) a = join<SHAPE>(before, a);
    }
    return a;
}

/* The map of all rows of a strip up to and with those of this lane. */
template <int SHAPE>
__device__ static inline joined_map<SHAPE> scan_strip(const strip<SHAPE> &p, int width = 32) {
    constexpr int W = strip<SHAPE>::W;
    joined_map<SHAPE> a = joined_identity<SHAPE>();
#pragma unroll
    for (int u = 0; u < ROWS; u++)
        if (u < p.used) joined_append<SHAPE>(a, p.s + u * W, p.t[u]);
    return scan_lanes<SHAPE>(a, width);
}

/* From that: the map of the whole strip, and of the rows before those of this lane. */
template <int SHAPE>
__device__ static inline joined_map<SHAPE> whole_strip(const joined_map<SHAPE> &through,
                                                       int width = 32) {
    return map_from_lane<SHAPE>(through, width - 1, width);
}
template <int SHAPE>
__device__ static inline joined_map<SHAPE> before_lane(const joined_map<SHAPE> &through,
                                                       int width = 32) {
    const int lane = (int)(threadIdx.x % 32) % width;
    const joined_map<SHAPE> a = map_from_lane<SHAPE>(through, lane > 0 ? lane - 1 : 0, width);
    return lane > 0 ? a : joined_identity<SHAPE>();
}

/* For maps that are not finite: one lane after the other, from the strip's own state x, which moves on.
 * Lanes whose group is not `hard` only lend their registers. */
template <int SHAPE>
__device__ static inline void walk_strip(const strip<SHAPE> &p, const recur_view &v, int64_t i,
                                         recur_state &x, bool hard, int width, real &input,
                                         real &answer) {
    const int lane = (int)(threadIdx.x % 32) % width;
#pragma unroll 1
    for (int l = 0; l < width; l++) {
        recur_state mine = x;
        if (hard && lane == l) strip_rows<SHAPE>(p, v, i, mine, true, input, answer);
        x = state_from_lane<SHAPE>(mine, l, width);
    }
}

/* One thread walks through the first `count` rows of a view; the poisons are those of strip_rows(). */
template <int SHAPE>
__device__ static inline void walk_rows(const recur_view &v, int64_t count, recur_state &x,
                                        real &input, real &answer) {
    for (int64_t i = 0; i < count; i++) {
        const real *s = v.s + i * v.s_row, t = v.t[i * v.t_row];
        input += row_poison(s, t, SHAPE);
        const real w = row_step(&x, s, t, SHAPE);
        answer = poisoned(answer, w);
        v.w[i * v.w_row] = w;
    }
}

/* One thread notes what went wrong in a part of segment k: a bad input replaces its consequence. Other
 * parts may be noted at any time. */
__device__ static inline void note_failure(const recur_job &job, int64_t k, bool input,
                                           bool answer) {
    if (input)
        atomicExch(&job.status[k], (int32_t)SHOAL_SYSTEM_NONFINITE);
    else if (answer)
        atomicCAS(&job.status[k], 0, (int32_t)SHOAL_SYSTEM_OVERFLOW);
}

#endif
