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
    PIECES = ROWS / VECTOR, /* of 16 bytes, of a thread and array */
    HALF = PIECES / 2
};

struct alignas(16) piece {
    real e[VECTOR];
};

#ifdef SHOAL_SINGLE
typedef float4 sixteen; /* a piece as the streaming store knows it */
#else
typedef double2 sixteen;
#endif

/* Where piece p of thread t of a tile lies, in numbers; and number i. */
__device__ static inline unsigned piece_at(unsigned t, unsigned p) {
    return t * ROWS + (p ^ (t & 7u & (PIECES - 1u))) * VECTOR;
}
__device__ static inline unsigned tile_at(unsigned t, unsigned i) {
    return piece_at(t, i / VECTOR) + i % VECTOR;
}

/* One array of a tile to shared memory; past the end of the system: `filler`. */
template <bool PIECEWISE>
__device__ static inline void load_array(real *to, const real *from, int64_t begin, int64_t n,
                                         int64_t stride, real filler) {
    if (PIECEWISE && begin + TILE <= n) {
        const piece *pieces = (const piece *)(from + begin) + threadIdx.x;
#pragma unroll
        for (unsigned k = 0; k < PIECES; k++) {
            const unsigned p = threadIdx.x + k * THREADS;
            shoal_copy_async((piece *)(to + piece_at(p / PIECES, p % PIECES)),
                             pieces + k * THREADS);
        }
        return;
    }
#pragma unroll 1
    for (unsigned e = threadIdx.x; e < TILE; e += THREADS) {
        real *at = to + tile_at(e / ROWS, e % ROWS);
        if (begin + e < n)
            shoal_copy_async(at, from + (begin + e) * stride);
        else
            *at = filler;
    }
}

/* The rows past the end are those of root_pairs(). */
template <bool PIECEWISE>
__device__ static inline void load_tile(real *shared, const tridiag_job &job, const view &w,
                                        int64_t begin) {
    const bool open = ends_of(job.periodic, job.n) == ENDS_OPEN;
    load_array<PIECEWISE>(shared, w.dl, begin, job.n, w.row, open ? 0 : 1);
    load_array<PIECEWISE>(shared + TILE, w.d, begin, job.n, w.row, open ? 1 : 0);
    load_array<PIECEWISE>(shared + 2 * TILE, w.du, begin, job.n, w.row, open ? 0 : -1);
    load_array<PIECEWISE>(shared + 3 * TILE, w.b, begin, job.n, w.rhs_row, 0);
}

/* Once it is there: dl of the first row and du of the last one do not exist, unless the ends meet. A single
 * row meets itself. */
__device__ static inline void tile_ready(real *shared, const tridiag_job &job, int64_t begin) {
    shoal_copy_async_wait_all();
    __syncthreads();
    const int64_t last = job.n - 1 - begin;
    if (threadIdx.x == 0 && ends_of(job.periodic, job.n) == ENDS_OPEN) {
        if (job.periodic && job.n == 1) shared[TILE] += shared[0] + shared[2 * TILE];
        if (begin == 0) shared[tile_at(0, 0)] = 0;
        if (last < TILE)
            shared[2 * TILE + tile_at((unsigned)last / ROWS, (unsigned)last % ROWS)] = 0;
    }
    __syncthreads();
}

/* Rows p VECTOR .. of the thread. */
__device__ static inline void load_rows(tri_row (&row)[VECTOR], const real *shared, unsigned p) {
    const unsigned at = piece_at(threadIdx.x, p);
    const piece dl = *(const piece *)(shared + at), d = *(const piece *)(shared + TILE + at);
    const piece du = *(const piece *)(shared + 2 * TILE + at);
    const piece b = *(const piece *)(shared + 3 * TILE + at);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = tri_row{ dl.e[e], d.e[e], du.e[e], b.e[e] };
}

enum { HIGH_FRACTION = sizeof(real) == 4 ? 23 : 20, HIGH_ONE = 1 << HIGH_FRACTION };

__device__ static inline int32_t larger(int32_t dl, int32_t d) { return dl > d ? dl : d; }

/* What size the upper half of a number has, for comparisons. */
__device__ static inline int32_t size_of(real v) { return high_of(v) & 0x7fffffff; }

/* scaled_row() of VECTOR rows by integers, which the unit for doubles does not see. `most` becomes the
 * upper half of the largest number seen. */
__device__ static inline void prepare_rows(tri_row (&row)[VECTOR], int32_t &most) {
    const int32_t size = 0x7fffffff, end = (2 * REAL_BIAS - 1) * HIGH_ONE;
    int32_t top[VECTOR], least = size;
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const int32_t dl = high_of(row[e].dl) & size, d = high_of(row[e].d) & size;
        top[e] = larger(larger(dl, d), high_of(row[e].du) & size);
        most = larger(most, larger(top[e], high_of(row[e].b) & size));
        least = top[e] < least ? top[e] : least;
    }
    if (least < high_of(tiny_row())) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) row[e] = scaled_row(raised_row(row[e]));
        return;
    }
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const int32_t power = top[e] & ~(HIGH_ONE - 1);
        const real scale = of_high(2 * REAL_BIAS * HIGH_ONE - (power > end ? end : power));
        row[e] =
            tri_row{ row[e].dl * scale, row[e].d * scale, row[e].du * scale, row[e].b * scale };
    }
}

/* Rows as they look from the other end. */
__device__ static inline void mirror_rows(tri_row (&row)[VECTOR]) {
    tri_row turned[VECTOR];
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const tri_row r = row[VECTOR - 1 - e];
        turned[e] = tri_row{ r.du, r.d, r.dl, r.b };
    }
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = turned[e];
}

/* Whether `most` of prepare_rows() tells of a number that is not finite. */
__device__ static inline bool beyond_numbers(int32_t most) {
    return most >= (2 * REAL_BIAS + 1) * HIGH_ONE;
}

/* Norms of a tile's rows and its x, which is in shared memory; `before` and `beyond` are its neighbours',
 * `first` comes after the last of all. */
__device__ static inline void judge_tile(const tridiag_job &job, const view &w, int64_t begin,
                                         const real *x, real before, real beyond, real first,
                                         solve_state *state) {
    norms m = {};
    for (unsigned e = threadIdx.x; e < TILE && begin + e < job.n; e += THREADS) {
        equation q = equation_at(w, job.n, begin + e);
        if (job.periodic && begin + e == 0) q.dl = w.dl[0];
        const bool last = begin + e == job.n - 1;
        if (job.periodic && last) q.du = w.du[(job.n - 1) * w.row];
        real left = e ? x[tile_at((e - 1) / ROWS, (e - 1) % ROWS)] : before;
        real right = e < TILE - 1 ? x[tile_at((e + 1) / ROWS, (e + 1) % ROWS)] : beyond;
        if (last) right = first;
        if (job.periodic && job.n == 1) left = right = x[0];
        norms_row(&m, (real)job.tol, q.dl, q.d, q.du, q.b, left, x[tile_at(e / ROWS, e % ROWS)],
                  right);
    }
    norms_over_lanes(&m, 32);
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&state->r, bits_of(m.poison == 0 ? m.r : real_nan()));
    atomicMax(&state->a, bits_of(m.a));
    atomicMax(&state->x, bits_of(m.x));
    atomicMax(&state->b, bits_of(m.b));
}
#endif
