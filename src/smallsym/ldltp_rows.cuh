/* SPDX-License-Identifier: Apache-2.0
 *
 * ldltp_rows.cuh - where ldltp.cu keeps the matrix that is left: two classes that can do the same.
 *
 * register_rows  thread t of a team of T has rows t, T + t, ... whole, M rows of N = T M numbers in
 *                registers, both triangles. Row p is column p, so that a pivot anywhere is shown by
 *                one thread, and no row or column ever moves. What rounding does to the two
 *                triangles differs; either is as good as the other. L goes to shared memory.
 * shared_rows    the lower triangle stays on its stage in shared memory, for matrices that do not
 *                fit into registers; L(i,p) takes the place of entry {i,p} of the matrix.
 *
 * Both: shown(side) is one of two rows that the whole team can read; position(i) is the step at
 * which row i was a pivot, or LEFT.
 */
#ifndef SHOAL_SMALLSYM_LDLTP_ROWS_CUH
#define SHOAL_SMALLSYM_LDLTP_ROWS_CUH

#include "smallsym/stage.cuh"
#include <type_traits>

enum { LEFT = 1 << 20, NO_ROW = -1 }; /* positions of rows not yet taken, and of padding */

/* ---- the largest of a team --------------------------------------------------------------------- */

/* Sizes as whole numbers in the same order; NaN comes last. */
#ifdef SHOAL_SINGLE
typedef unsigned size_key;
__device__ static inline size_key key_of(real v) { return __float_as_uint(v) & 0x7fffffffu; }
__device__ static inline real size_of(size_key key) { return __uint_as_float(key); }
#else
typedef unsigned long long size_key;
__device__ static inline size_key key_of(real v) {
    return (size_key)__double_as_longlong(v) & 0x7fffffffffffffffu;
}
__device__ static inline real size_of(size_key key) { return __longlong_as_double((long long)key); }
#endif

template <int T> __device__ static inline size_key team_top(size_key key) {
    if constexpr (T == WARP && sizeof(real) == 4) {
        return __reduce_max_sync(ALL_LANES, (unsigned)key);
    } else if constexpr (T == WARP) {
        const unsigned high = (unsigned)((unsigned long long)key >> 32);
        const unsigned top = __reduce_max_sync(ALL_LANES, high);
        const unsigned low = __reduce_max_sync(ALL_LANES, high == top ? (unsigned)key : 0u);
        return (size_key)((unsigned long long)top << 32 | low);
    } else {
#pragma unroll
        for (int h = T / 2; h > 0; h /= 2) {
            const size_key other = __shfl_xor_sync(ALL_LANES, key, h);
            key = key > other ? key : other;
        }
        return key;
    }
}

/* The row that the first thread for whom `here` is true has in hand; M = 1: its number. */
template <int T, int M> __device__ static inline int team_row(int row, bool here) {
    const unsigned votes = __ballot_sync(ALL_LANES, here);
    const unsigned team = threadIdx.x % WARP / T * T, all = T == WARP ? ~0u : (1u << T % WARP) - 1;
    const int first = __ffs((int)(votes >> team & all)) - 1;
    return M == 1 ? first : __shfl_sync(ALL_LANES, row, first, T);
}

/* Whether any team of the warp says so. */
template <int T> __device__ static inline bool any_team(bool yes) {
    return T == WARP ? yes : __any_sync(ALL_LANES, yes);
}

/* What the team has in row `row`, the same for all of it. */
template <int T, int M> __device__ static inline real row_value(const real (&v)[M], int row) {
    real value = v[0];
    unrolled<M>([&](auto block) {
        const int r = block;
        if ((int)((unsigned)row / T) == r) value = v[r];
    });
    return team_get<T>(value, (int)((unsigned)row % T));
}

namespace {

/* Shared memory of a system, in numbers: two rows to show, the order of the pivots, L and, on its
 * diagonal, that of D inverse. Systems of a
 * warp begin 32 bytes apart in the banks. */
template <int T_, int M_, int LOWER> struct room {
    enum {
        T = T_,
        M = M_,
        N = T * M,
        PITCH = N + VECTOR, /* of the rows that are shown */
        BANKS = 128 / sizeof(real),
        PLAIN = 2 * PITCH + N + LOWER,
        NUMBERS = PLAIN + (2 * VECTOR + BANKS - PLAIN % BANKS) % BANKS
    };
    real *memory;

    __device__ real *shown(int side) const { return memory + side * PITCH; }
    /* The pivots' rows, step by step, and for each row the other one of its block, or itself. */
    __device__ unsigned char *order() const { return (unsigned char *)(memory + 2 * PITCH); }
    __device__ unsigned char *partner() const { return order() + N; }
    __device__ real *below() const { return memory + 2 * PITCH + N; }
};

template <int T, int M> struct register_rows {
    enum {
        N = T * M,
        L_PITCH = N + 1,
        STAGE = stage<T, M>::NUMBERS,
        LOWER = N * L_PITCH > STAGE ? N *L_PITCH : STAGE, /* the stage is there before L is */
        IN_REGISTERS = 1
    };
    typedef room<T, M, LOWER> room_type;
    room_type at;
    real a[M][N];

    /* The lower triangle is on the stage, row i beginning with the smallest column. */
    __device__ void load(const real *staged, int t) {
#pragma unroll
        for (int r = 0; r < M; r++) {
            const real *row = staged + stage<T, M>::row(r * T) + t * stage<T, M>::pitch(r);
#pragma unroll
            for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
                const real_vector v = load_vector(row + j0);
#pragma unroll
                for (int e = 0; e < VECTOR; e++) a[r][j0 + e] = v.e[e];
            }
#pragma unroll
            for (int j = r * T + 1; j < N; j++) /* above the diagonal: A(j,i) */
                if (j >= (r + 1) * T || j > r * T + t)
                    a[r][j] = staged[stage<T, M>::row(j) + r * T + t];
        }
    }
    __device__ real largest(int, int) const {
        real most = 0;
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int j = 0; j < N; j++) most = real_max(real_abs(a[r][j]), most);
        return most;
    }
    __device__ void scale(int, int, int e) {
#pragma unroll
        for (int r = 0; r < M; r++)
#pragma unroll
            for (int j = 0; j < N; j++) a[r][j] = times_power_of_2(a[r][j], -e);
    }
    /* Row `row`, from the thread that has it. */
    __device__ void show(int row, int side, int t, const int (&)[M]) const {
        if (t != (int)((unsigned)row % T)) return;
        real *to = at.shown(side);
        unrolled<M>([&](auto block) {
            const int r = block;
            if (M > 1 && (int)((unsigned)row / T) != r) return;
            unrolled<N / VECTOR>([&](auto piece) {
                const int j = piece * VECTOR;
                real_vector v;
#pragma unroll
                for (int e = 0; e < VECTOR; e++) v.e[e] = a[r][j + e];
                *(real_vector *)(to + j) = v;
            });
        });
    }
    /* A(i,j) -= l(i) u(j), in rows and columns that are done too: nobody looks at them again. */
    __device__ void take_off(const real (&l)[M], const real *u, int, const int (&)[M]) {
#pragma unroll
        for (int j0 = 0; j0 < N; j0 += VECTOR) {
            const real_vector v = load_vector(u + j0);
#pragma unroll
            for (int e = 0; e < VECTOR; e++)
#pragma unroll
                for (int r = 0; r < M; r++) a[r][j0 + e] = real_fma(-l[r], v.e[e], a[r][j0 + e]);
        }
    }
    __device__ real &lower(int i, int p) const { return at.below()[i * L_PITCH + p]; }
};

template <int T, int M> struct shared_rows {
    enum { N = T * M, STAGE = stage<T, M>::NUMBERS, LOWER = STAGE, IN_REGISTERS = 0 };
    typedef room<T, M, LOWER> room_type;
    room_type at;

    __device__ void load(const real *, int) {}
    __device__ real largest(int t, int n) const {
        real most = 0;
#pragma unroll 1
        for (int i = t; i < n; i += T)
            for (int j = 0; j <= i; j++) most = real_max(real_abs(lower(i, j)), most);
        return most;
    }
    __device__ void scale(int t, int n, int e) {
#pragma unroll 1
        for (int i = t; i < n; i += T)
#pragma unroll 1
            for (int j = 0; j <= i; j++) lower(i, j) = times_power_of_2(lower(i, j), -e);
        __syncwarp();
    }
    /* Zeros where a row is done: L is there. */
    __device__ void show(int row, int side, int t, const int (&position)[M]) const {
#pragma unroll
        for (int r = 0; r < M; r++) {
            const int i = r * T + t;
            at.shown(side)[i] = position[r] == LEFT ? lower(i, row) : 0;
        }
    }
    __device__ void take_off(const real (&l)[M], const real *u, int t, const int (&position)[M]) {
#pragma unroll
        for (int r = 0; r < M; r++) {
            if (position[r] != LEFT) continue;
            real *row = at.below() + stage<T, M>::row(r * T + t);
#pragma unroll 8
            for (int j0 = 0; j0 < (r + 1) * T; j0 += VECTOR) {
                const real_vector v = load_vector(u + j0);
                real_vector w = load_vector(row + j0);
#pragma unroll
                for (int e = 0; e < VECTOR; e++) w.e[e] = real_fma(-l[r], v.e[e], w.e[e]);
                *(real_vector *)(row + j0) = w;
            }
        }
    }
    __device__ real &lower(int i, int p) const {
        return at.below()[i > p ? stage<T, M>::row(i) + p : stage<T, M>::row(p) + i];
    }
};

/* In registers where a thread's 255 suffice. */
template <int T, int M>
using ldltp_rows = typename std::conditional<T * M * M * sizeof(real) / 4 <= 160,
                                             register_rows<T, M>, shared_rows<T, M>>::type;

} // namespace

#endif
