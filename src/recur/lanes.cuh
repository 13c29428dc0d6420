/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.cuh - recurrences of order 1 in one pass over memory, rows of a segment side by side: what most
 * calls of lookback.cu are.
 *
 * A block has one tile of WIDE_ROWS rows, a lane LANE_ROWS of them one after another, which come through
 * shared memory in pieces of 16 bytes; piece p of lane l lies at place p ^ l % 8 of the lane's, so that
 * lanes side by side read from different banks. A lane joins its rows to a map, a warp the maps of its
 * lanes, the block those of its warps; the first warp looks back (chain.cuh); then every lane determines
 * its rows by substitution and leaves them where t was. About 20 instructions a row, where strips of 16
 * bytes a lane (lookback.cu), which need a scan over lanes each, take 90.
 *
 * Rows past the end are those of an identity, w = w. Where a map is not finite the lanes of the block go
 * one after another.
 */
#ifndef SHOAL_RECUR_LANES_CUH
#define SHOAL_RECUR_LANES_CUH

#include "recur/chain.cuh"

enum {
    WIDE_WARPS = 4,
    LANE_ROWS = 128 / sizeof(real),
    LANE_PIECES = LANE_ROWS / ROWS, /* of 16 bytes: 8 */
    WARP_ROWS = 32 * LANE_ROWS,
    WIDE_ROWS = WIDE_WARPS * WARP_ROWS
};

/* Where piece p of lane l lies, in numbers. */
__device__ static inline unsigned lane_piece(unsigned l, unsigned p) {
    return l * LANE_ROWS + (p ^ (l & 7u)) * ROWS;
}

/* Rows i .. of one array to a warp's part of shared memory: `side` is where row 0 lies, `down` whether the
 * others lie before it. Pieces of a whole part are copied as they lie, and turned by whoever reads. */
__device__ static inline void load_part(real *to, const real *side, int64_t n, int64_t i, bool down,
                                        real filler) {
    const unsigned lane = threadIdx.x % 32;
    if (i + WARP_ROWS <= n) {
        const real *first = down ? side - i - (WARP_ROWS - 1) : side + i;
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++) {
            const unsigned at = lane + 32 * k, p = down ? 32 * LANE_PIECES - 1 - at : at;
            shoal_copy_async((sixteen *)(to + lane_piece(p / LANE_PIECES, p % LANE_PIECES)),
                             (const sixteen *)first + at);
        }
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS; e += 32) {
        const unsigned l = e / LANE_ROWS, r = e % LANE_ROWS, u = r % ROWS;
        real *at = to + lane_piece(l, r / ROWS) + (down ? ROWS - 1 - u : u);
        if (i + e < n)
            shoal_copy_async(at, down ? side - i - e : side + i + e);
        else
            *at = filler;
    }
}

__device__ static inline void store_part(const real *from, real *side, int64_t n, int64_t i,
                                         bool down) {
    const unsigned lane = threadIdx.x % 32;
    if (i + WARP_ROWS <= n) {
        real *first = down ? side - i - (WARP_ROWS - 1) : side + i;
#pragma unroll
        for (unsigned k = 0; k < LANE_PIECES; k++) {
            const unsigned at = lane + 32 * k, p = down ? 32 * LANE_PIECES - 1 - at : at;
            shoal_store_streaming(
                (sixteen *)first + at,
                *(const sixteen *)(from + lane_piece(p / LANE_PIECES, p % LANE_PIECES)));
        }
        return;
    }
#pragma unroll 1
    for (unsigned e = lane; e < WARP_ROWS && i + e < n; e += 32) {
        const unsigned l = e / LANE_ROWS, r = e % LANE_ROWS, u = r % ROWS;
        *(down ? side - i - e : side + i + e) =
            from[lane_piece(l, r / ROWS) + (down ? ROWS - 1 - u : u)];
    }
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
    SHOAL_SHARED_ARRAY(recur_state, before, 1);
    if (threadIdx.x == 0) ticket[0] = atomicAdd(counter, 1ull);
    __syncthreads();
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int64_t k = (int64_t)ticket[0] / c.length, j = (int64_t)ticket[0] % c.length;
    const int64_t i = j * WIDE_ROWS + warp * WARP_ROWS;
    const recur_view v = view_of(&job, k);
    const bool down = v.w_row < 0;
    real *s = shared + warp * 2 * WARP_ROWS, *t = s + WARP_ROWS;
    load_part(s, v.s, job.n, i, down, 1), load_part(t, v.t, job.n, i, down, 0);
    c.first_tile = k * c.length;
    c.first_group = k * ((c.length + GROUP - 1) / GROUP);
    shoal_copies_done();
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
            if (w == warp && lane == 0) before[0] = x;
            __syncthreads();
            x = before[0];
        }
        if (warp == 0 && c.length > 1) finish_link<1>(c, j, x, true, closed);
    } else {
        const recur_map mine = before_lane<1>(through);
        x = map_apply(&earlier, &x, 1);
        x = map_apply(&mine, &x, 1);
        last = determine(s, t, x.x[0], down);
    }
    __syncwarp();
    store_part(t, v.w, job.n, i, down);
    const bool bad_input = __any_sync(ALL_LANES, input != 0);
    const bool bad_answer = __any_sync(ALL_LANES, poisoned(0, last) != 0);
    if (lane == 0) note_failure(job, k, bad_input, bad_answer);
}

#endif
