/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry_tile.cuh - what a block of twocarry.cu does in shared memory: trees of relations, and a tile
 * of rows. Number i of thread t of a tile lies at tile_at(t, i): pieces of 16 bytes in such an order that
 * threads side by side read from different banks.
 */
#ifndef SHOAL_TRIDIAG_TWOCARRY_TILE_CUH
#define SHOAL_TRIDIAG_TWOCARRY_TILE_CUH

#include "tridiag/batch.cuh"
#include "tridiag/twocarry.h"

#ifdef SHOAL_EMULATED
enum { TOP = 16 }; /* so that all kernels run on systems that are short enough there */
#else
enum { TOP = 1024 }; /* relations that one block takes at most */
#endif

enum {
    ROWS = 32,
    THREADS = 64,
    TILE = ROWS * THREADS,
    FAN = 128,
    VECTOR = 16 / sizeof(real),
    PIECES = ROWS / VECTOR, /* of 16 bytes, of a thread and array */
    MOST_LEVELS = 8,        /* of the tree: FAN^7 tiles are more than there can be */
    BLOCK = 256,
    ALIGNMENT = 256
};

struct alignas(16) piece {
    real e[VECTOR];
};

/* Of one solve: what all blocks say. Bits of numbers >= 0 as doubles order like the numbers: atomicMax finds
 * the largest. */
typedef struct solve_state {
    unsigned long long least; /* of the least square of a pivot, the bits inverted */
    unsigned long long r, a, x, d;
    int input_bad, x_bad;
    int32_t status;
    int fate; /* of x */
} solve_state;

typedef struct levels { /* of the tree above the tiles; the workspace of all solves */
    int64_t threads;    /* relations of a solve at the bottom: one a thread */
    int64_t tiles;
    int64_t size; /* relations of all levels above the bottom         */
    real *bottom; /* number q of relation j of solve v: [(v * RELATION + q) * threads + j] */
    relation *upper;
    pair *pairs; /* one more than relations at each level             */
    solve_state *states;
} levels;

/* ---- trees in shared memory --------------------------------------------------------------------- */

/* `count` relations become one, in the first's place; middles of boundaries, where m is not NULL. The
 * whole block calls it. */
__device__ static inline void merge_up(relation *r, middle *m, int count, real &least) {
    for (int step = 1; step < count; step *= 2) {
        __syncthreads();
        for (int i = 2 * step * threadIdx.x; i + step < count; i += 2 * step * blockDim.x) {
            middle between;
            r[i] = merge(&r[i], &r[i + step], &between, &least);
            if (m) m[i + step] = between;
        }
    }
    __syncthreads();
}

/* Pairs at the boundaries between, from those at 0 and count. */
__device__ static inline void pairs_down(pair *x, const middle *m, int count) {
    int step = 1;
    while (step < count) step *= 2;
    for (step /= 2; step > 0; step /= 2) {
        __syncthreads();
        for (int i = 2 * step * threadIdx.x; i + step < count; i += 2 * step * blockDim.x)
            x[i + step] =
                middle_pair(&m[i + step], x[i], x[i + 2 * step < count ? i + 2 * step : count]);
    }
    __syncthreads();
}

__device__ static inline unsigned long long bits_of(real v) {
    return (unsigned long long)__double_as_longlong((double)v);
}
__device__ static inline real real_of(unsigned long long bits) {
    return (real)__longlong_as_double((long long)bits);
}

/* Takes a thread's least pivot into that of the solve. */
__device__ static inline void note_least(solve_state *s, real least) {
    for (int h = 16; h > 0; h /= 2) least = real_min(__shfl_xor_sync(0xffffffffu, least, h), least);
    const unsigned long long bits = ~bits_of(least);
    if (threadIdx.x % 32 == 0 && shoal_glance(&s->least) < bits) atomicMax(&s->least, bits);
}

/* ---- tiles --------------------------------------------------------------------------------------- */

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

/* Walks through the thread's rows; keep(i, pivot row of x(i)) for 0 < i < ROWS - 1. Returns 0, or NaN
 * if a number is not finite. */
template <class F>
__device__ static inline real reduce_rows(carries &w, real *shared, const F &keep) {
    real poison = 0;
    tri_row row[VECTOR];
    load_rows(row, shared, 0);
#pragma unroll 1
    for (int i = 0; i < ROWS; i += VECTOR) {
        if (i) load_rows(row, shared, i);
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            poison = poisoned(poisoned(poisoned(poisoned(poison, row[e].a), row[e].b), row[e].c),
                              row[e].d);
            if (row_size(row[e]) < tiny_row()) row[e] = raised_row(row[e]);
            row[e] = scaled_row(row[e]);
        }
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            if (i == 0 && e == 0) continue;
            if (i == 0 && e == 1)
                w = begin_carries(row[0], row[1]);
            else
                keep(i + e - 1, carry_on(&w, row[e]));
        }
    }
    return poison;
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
