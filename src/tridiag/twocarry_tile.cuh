/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry_tile.cuh - what a warp of twocarry.cu does in shared memory with a tile of rows: THREADS
 * threads of ROWS rows each. Number i of thread t lies at tile_at(t, i): pieces of 16 bytes in such an
 * order that threads side by side read from different banks.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_TILE_CUH
#define SHOAL_TRIDIAG_TWOCARRY_TILE_CUH

#include "tridiag/twocarry_tree.cuh"

enum {
    ROWS = 32,
    THREADS = 32,
    TILE = ROWS * THREADS,
    VECTOR = 16 / sizeof(real),
    PIECES = ROWS / VECTOR /* of 16 bytes, of a thread and array */
};

struct alignas(16) piece {
    real e[VECTOR];
};

/* Number i of thread t of a tile, one array of it. */
__device__ static inline int tile_at(int t, int i) {
    return t * ROWS + ((i / VECTOR) ^ (t % 8 & (PIECES - 1))) * VECTOR + i % VECTOR;
}

/* One array of a tile to shared memory; past the end of the system: `filler`. */
template <bool PIECEWISE>
__device__ static inline void load_array(real *to, const real *from, int64_t begin, int64_t n,
                                         int64_t stride, real filler) {
    if (PIECEWISE && begin + TILE <= n) {
        for (int p = threadIdx.x; p < TILE / VECTOR; p += THREADS)
            shoal_copy_async((piece *)(to + tile_at(p / PIECES, p % PIECES * VECTOR)),
                             (const piece *)(from + begin) + p);
        return;
    }
    for (int e = threadIdx.x; e < TILE; e += THREADS) {
        real *at = to + tile_at(e / ROWS, e % ROWS);
        if (begin + e < n)
            shoal_copy_async(at, from + (begin + e) * stride);
        else
            *at = filler;
    }
}

template <bool PIECEWISE>
__device__ static inline void load_tile(real *shared, const view &w, int64_t begin, int64_t n) {
    load_array<PIECEWISE>(shared, w.a, begin, n, w.row, 0);
    load_array<PIECEWISE>(shared + TILE, w.b, begin, n, w.row, 1);
    load_array<PIECEWISE>(shared + 2 * TILE, w.c, begin, n, w.row, 0);
    load_array<PIECEWISE>(shared + 3 * TILE, w.d, begin, n, w.rhs_row, 0);
}

/* Once it is there: a of the first row and c of the last one do not exist. */
__device__ static inline void tile_ready(real *shared, int64_t begin, int64_t n) {
    shoal_copies_done();
    __syncthreads();
    const int64_t last = n - 1 - begin;
    if (threadIdx.x == 0 && begin == 0) shared[tile_at(0, 0)] = 0;
    if (threadIdx.x == 0 && last < TILE)
        shared[2 * TILE + tile_at((int)last / ROWS, (int)last % ROWS)] = 0;
    __syncthreads();
}

/* Rows i .. i + VECTOR - 1 of the thread. */
__device__ static inline void load_rows(tri_row (&row)[VECTOR], const real *shared, int i) {
    const int at = tile_at(threadIdx.x, i);
    const piece a = *(const piece *)(shared + at), b = *(const piece *)(shared + TILE + at);
    const piece c = *(const piece *)(shared + 2 * TILE + at);
    const piece d = *(const piece *)(shared + 3 * TILE + at);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = tri_row{ a.e[e], b.e[e], c.e[e], d.e[e] };
}

/* The upper half of a number, or all of it: sign, exponent, and enough of the fraction to compare. */
__device__ static inline int32_t high_of(real v) {
    return (int32_t)(num_to_bits(v) >> (8 * (sizeof(real) - sizeof(int32_t))));
}
__device__ static inline real of_high(int32_t high) {
    return num_of_bits((num_bits)high << (8 * (sizeof(real) - sizeof(int32_t))));
}

enum { HIGH_FRACTION = sizeof(real) == 4 ? 23 : 20, HIGH_ONE = 1 << HIGH_FRACTION };

/* scaled_row() by integers, which the unit for doubles does not see; `bad` becomes true if a number is
 * not finite. */
__device__ static inline tri_row prepared_row(tri_row r, bool &bad) {
    const int32_t size = 0x7fffffff, most = (2 * REAL_BIAS - 1) * HIGH_ONE;
    const int32_t a = high_of(r.a) & size, b = high_of(r.b) & size, c = high_of(r.c) & size;
    const int32_t ab = a > b ? a : b, top = ab > c ? ab : c, d = high_of(r.d) & size;
    bad |= (top > d ? top : d) > most + HIGH_ONE - 1;
    if (top < high_of(tiny_row())) return scaled_row(raised_row(r));
    const int32_t e = top & ~(HIGH_ONE - 1);
    const real scale = of_high(2 * REAL_BIAS * HIGH_ONE - (e > most ? most : e));
    return tri_row{ r.a * scale, r.b * scale, r.c * scale, r.d * scale };
}

/* Walks through the thread's rows: begin(row 0, row 1), then next(i, row i). Returns whether a number is
 * not finite. */
template <class B, class F>
__device__ static inline bool walk_rows(const real *shared, const B &begin, const F &next) {
    bool bad = false;
#pragma unroll 1
    for (int i = 0; i < ROWS; i += VECTOR) {
        tri_row row[VECTOR];
        load_rows(row, shared, i);
#pragma unroll
        for (int e = 0; e < VECTOR; e++) row[e] = prepared_row(row[e], bad);
        if (i == 0) begin(row[0], row[1]);
#pragma unroll
        for (int e = 0; e < VECTOR; e++)
            if (i + e > 1) next(i + e, row[e]);
    }
    return bad;
}

/* Norms of a tile's rows and its x, which is in shared memory; `before` and `beyond` are its neighbours'. */
__device__ static inline void judge_tile(const tridiag_job &job, const view &w, int64_t begin,
                                         const real *x, real before, real beyond,
                                         solve_state *state) {
    norms m = {};
    for (int e = threadIdx.x; e < TILE && begin + e < job.n; e += THREADS) {
        const equation q = equation_at(w, job.n, begin + e);
        const real left = e ? x[tile_at((e - 1) / ROWS, (e - 1) % ROWS)] : before;
        const real right = e < TILE - 1 ? x[tile_at((e + 1) / ROWS, (e + 1) % ROWS)] : beyond;
        norms_row(&m, (real)job.tol, q.a, q.b, q.c, q.d, left, x[tile_at(e / ROWS, e % ROWS)],
                  right);
    }
    norms_over_lanes(&m, 32);
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&state->r, bits_of(m.poison == 0 ? m.r : real_nan()));
    atomicMax(&state->a, bits_of(m.a));
    atomicMax(&state->x, bits_of(m.x));
    atomicMax(&state->d, bits_of(m.d));
}
#endif
