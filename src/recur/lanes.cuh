/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.cuh - long recurrences of order 1 in one pass over memory: what most calls of lookback.cu are.
 *
 * A block has one tile of WIDE_ROWS rows, a lane LANE_ROWS of them one after another, which come through
 * shared memory in pieces of 16 bytes; piece p of lane l lies at place p ^ l % 8 of the lane's, so that
 * lanes side by side read from different banks. A lane joins its rows to a map, a warp the maps of its
 * lanes, the block those of its warps; the first warp looks back (chain.cuh); then every lane determines
 * its rows by substitution and leaves them where t was. About 20 instructions a row, where strips of 16
 * bytes a lane (lookback.cu), which need a scan over lanes each, take 90.
 *
 * Rows that do not lie side by side, or not at a multiple of 16 bytes, come one by one.
 * Rows past the end are those of an identity, w = w. Where a map is not finite the lanes of the block go
 * one after another.
 */
#ifndef SHOAL_RECUR_LANES_CUH
#define SHOAL_RECUR_LANES_CUH

#include "recur/chain.cuh"

enum {
    WIDE_WARPS = 6,
    LANE_ROWS = 128 / sizeof(real),
    LANE_PIECES = LANE_ROWS / ROWS, /* of 16 bytes: 8 */
    WARP_ROWS = 32 * LANE_ROWS,
    WIDE_ROWS = WIDE_WARPS * WARP_ROWS
};

/* Where piece p of lane l lies, in numbers. */
__device__ static inline unsigned lane_piece(unsigned l, unsigned p) {
    return l * LANE_ROWS + (p ^ (l & 7u)) * ROWS;
}

/* A warp's part of one array of a segment: row i is at[i * step]. `down`: the part is kept with the rows of
 * each piece in opposite order, as they lie in memory then. */
struct part {
    real *kept; /* in shared memory */
    int64_t n, i;
    bool down;
};

/* The first of the pieces in memory, if the part lies there in pieces; or NULL. */
template <class T> __device__ static inline T *pieces_of(const part &p, T *at, int64_t step) {
    T *first = p.down ? at - p.i - (WARP_ROWS - 1) : at + p.i;
    const bool whole = p.i + WARP_ROWS <= p.n && step == (p.down ? -1 : 1);
    return whole && (uintptr_t)first % 16 == 0 ? first : nullptr;
}

/* Where piece k of those of this lane, of one after another in memory, is kept; and number e. */
__device__ static inline real *kept_piece(const part &p, unsigned k) {
    const unsigned q = p.down ? 32 * LANE_PIECES - 1 - k : k;
    return p.kept + lane_piece(q / LANE_PIECES, q % LANE_PIECES);
}
__device__ static inline real *kept_number(const part &p, unsigned e) {
    const unsigned r = e % LANE_ROWS, u = r % ROWS;
    return p.kept + lane_piece(e / LANE_ROWS, r / ROWS) + (p.down ? ROWS - 1 - u : u);
}

__device__ static inline void load_part(const part &p, const real *at, int64_t step, real filler) {
    const unsigned lane = threadIdx.x % 32;
    if (const real *first = pieces_of(p, at, step)) {
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++)
            shoal_copy_async((sixteen *)kept_piece(p, lane + 32 * k),
                             (const sixteen *)first + lane + 32 * k);
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS; e += 32) {
        if (p.i + e < p.n)
            shoal_copy_async(kept_number(p, e), at + (p.i + e) * step);
        else
            *kept_number(p, e) = filler;
    }
}

__device__ static inline void store_part(const part &p, real *at, int64_t step) {
    const unsigned lane = threadIdx.x % 32;
    if (real *first = pieces_of(p, at, step)) {
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++)
            shoal_store_streaming((sixteen *)first + lane + 32 * k,
                                  *(const sixteen *)kept_piece(p, lane + 32 * k));
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS && p.i + e < p.n; e += 32)
        at[(p.i + e) * step] = *kept_number(p, e);
}

/* Piece p of this lane, in the order of its rows. */
__device__ static inline void lane_rows(real (&rows)[ROWS], const real *part, unsigned p,
                                        bool down) {
    const sixteen v = *(const sixteen *)(part + lane_piece(threadIdx.x % 32, p));
    memcpy(rows, &v, sizeof v);
    if (down) turn_rows<1>(rows);
}

/* This lane's rows by substitution from x, in the place of t; returns the last. */
__device__ static inline real determine(const real *s, real *t, real x, bool down) {
#pragma unroll
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], w[ROWS];
        lane_rows(scale, s, p, down), lane_rows(w, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) w[u] = x = real_mad(scale[u], x, w[u]);
        if (down) turn_rows<1>(w);
        sixteen v;
        memcpy(&v, w, sizeof v);
        *(sixteen *)(t + lane_piece(threadIdx.x % 32, p)) = v;
    }
    return x;
}

/* Whether a number of this lane's rows is not finite: 0, or NaN. */
__device__ static inline real lane_poison(const real *s, const real *t) {
    real poison = 0;
#pragma unroll 1
    for (unsigned r = 0; r < LANE_ROWS; r++) {
        const unsigned at = lane_piece(threadIdx.x % 32, r / ROWS) + r % ROWS;
        poison = poisoned(poisoned(poison, s[at]), t[at]);
    }
    return poison;
}

__global__ __launch_bounds__(32 * WIDE_WARPS) static void wide_kernel(recur_job job, chain c,
                                                                      unsigned long long *counter) {
    SHOAL_SHARED(real, shared);
    SHOAL_SHARED_ARRAY(unsigned long long, ticket, 1);
    SHOAL_SHARED_ARRAY(recur_map, maps, WIDE_WARPS);
    SHOAL_SHARED_ARRAY(recur_state, before, WIDE_WARPS + 1); /* each warp; the block's last */
    if (threadIdx.x == 0) ticket[0] = atomicAdd(counter, 1ull);
    __syncthreads();
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    /* interleaved: the same rows of neighbouring segments at a time, which share lines */
    const int64_t now = (int64_t)ticket[0], across = job.interleaved ? job.count : c.length;
    const int64_t k = job.interleaved ? now % across : now / across;
    const int64_t j = job.interleaved ? now / across : now % across;
    const recur_view v = view_of(&job, k);
    const bool down = v.w_row == -1;
    real *s = shared + warp * 2 * WARP_ROWS, *t = s + WARP_ROWS;
    const int64_t i = j * WIDE_ROWS + warp * WARP_ROWS;
    const part scales = { s, job.n, i, down }, offsets = { t, job.n, i, down };
    load_part(scales, v.s, v.s_row, 1), load_part(offsets, v.t, v.t_row, 0);
    c.first_tile = k * c.length;
    c.first_group = k * ((c.length + GROUP - 1) / GROUP);
    shoal_copy_async_wait_all();
    __syncwarp();

    recur_map own = map_identity(1);
#pragma unroll
    for (unsigned p = 0; p < LANE_PIECES; p++) {
        real scale[ROWS], offset[ROWS];
        lane_rows(scale, s, p, down), lane_rows(offset, t, p, down);
#pragma unroll
        for (int u = 0; u < ROWS; u++) map_append(&own, &scale[u], offset[u], 1);
    }
    const recur_map through = scan_lanes<1>(own);
    if (lane == 31) maps[warp] = through;
    const bool poisoned_map = __syncthreads_or(map_poison(&through, 1) != 0);
    recur_map all = maps[0], earlier = map_identity(1);
#pragma unroll
    for (unsigned w = 1; w < WIDE_WARPS; w++) {
        if (w == warp) earlier = all;
        all = map_join(&all, &maps[w], 1);
    }
    const bool hard = poisoned_map || map_poison(&all, 1) != 0;
    bool closed = true;
    if (warp == 0) {
        recur_state x = first_state(&job, k, 1);
        if (j == 0 && lane == 0 && state_poison(&x, 1) != 0) note_failure(job, k, true, false);
        if (c.length > 1) x = begin_link<1>(c, j, all, hard, x, &closed);
        if (!hard && c.length > 1) finish_link<1>(c, j, map_apply(&all, &x, 1), false, closed);
        if (lane == 0) before[0] = x;
    }
    __syncthreads();
    recur_state x = before[0];
    real input = 0, last = 0;
    if (hard) {
        input = lane_poison(s, t);
        for (unsigned w = 0; w < WIDE_WARPS; w++) {
            if (w == warp)
                for (unsigned l = 0; l < 32; l++) {
                    if (lane == l) x.x[0] = last = determine(s, t, x.x[0], down);
                    x = state_from_lane<1>(x, (int)l);
                }
            if (w == warp && lane == 0) before[w + 1] = x;
            __syncthreads();
            x = before[w + 1];
        }
        if (warp == 0 && c.length > 1) finish_link<1>(c, j, x, true, closed);
    } else {
        const recur_map mine = before_lane<1>(through);
        x = map_apply(&earlier, &x, 1);
        x = map_apply(&mine, &x, 1);
        last = determine(s, t, x.x[0], down);
    }
    __syncwarp();
    store_part(offsets, v.w, v.w_row);
    const bool bad_input = __any_sync(ALL_LANES, input != 0);
    const bool bad_answer = __any_sync(ALL_LANES, poisoned(0, last) != 0);
    if (lane == 0) note_failure(job, k, bad_input, bad_answer);
}

#endif
