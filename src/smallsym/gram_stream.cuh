/* SPDX-License-Identifier: Apache-2.0
 *
 * gram_stream.cuh - samples from global memory through the sums of gram.cuh: a team copies the next
 * tile of samples of its system to shared memory, past the registers, while it adds up the last one.
 *
 * A tile is `SAMPLES` rows of PITCH numbers: psi, zeros from n on, and y behind. Two tiles a system;
 * the systems of a warp begin in banks of their own.
 */
#ifndef SHOAL_SMALLSYM_GRAM_STREAM_CUH
#define SHOAL_SMALLSYM_GRAM_STREAM_CUH

#include "smallsym/gram.cuh"
#include "smallsym/stage.cuh"

template <int T, int M> struct gram_tile {
    enum {
        SYSTEMS = WARP / T, /* of a warp */
        Y = T * M,
        PITCH = T * M + VECTOR,
        SAMPLES = T * M <= 8    ? 32
                  : T * M <= 16 ? 16
                                : 8, /* a divisor of GRAM_BLOCK */
        BUFFER = SAMPLES * PITCH,
        NUMBERS = bank_step(2 * BUFFER, T), /* of a system */
        KEPT = SYSTEMS * NUMBERS,           /* where the warp's sums of blocks begin */
        OF_WARP = KEPT + WARP * gram_kept<T, M>::NUMBERS
    };
};

/* Where one warp stands. */
typedef struct gram_place {
    int64_t k;    /* the team's system                                          */
    bool mine;    /* whether it exists                                          */
    int t;        /* the thread's number in the team                            */
    int width;    /* numbers of psi that may be copied at once                  */
    int exponent; /* of the power of two that psi and y are divided by          */
    bool scaled;  /* whether any team of the warp has one that is not 0         */
    real *tile;   /* the system's                                               */
    real *kept;   /* the thread's                                               */
} gram_place;

/* The place of a thread whose block is a warp, with gram_tile::OF_WARP numbers of shared memory. Puts
 * zeros behind psi, once: copies leave them alone. */
template <int T, int M>
__device__ static inline gram_place gram_begin(const smallsym_job &job, real *shared, int width) {
    typedef gram_tile<T, M> tile;
    const int lane = threadIdx.x;
    const int64_t k = (int64_t)blockIdx.x * tile::SYSTEMS + lane / T;
    const gram_place at = { k,
                            k < job.count,
                            lane % T,
                            width,
                            0,
                            false,
                            shared + lane / T * tile::NUMBERS,
                            shared + tile::KEPT + lane };
#pragma unroll 1
    for (int s = 0; s < 2 * tile::SAMPLES; s++)
#pragma unroll 1
        for (int j = (int)job.n + at.t; j < T * M; j += T) at.tile[s * tile::PITCH + j] = 0;
    return at;
}

template <int T, int M, int W>
__device__ static inline void gram_copy_rows(const smallsym_job &job, const smallsym_gram &g,
                                             const gram_place &at, real *to, int64_t first,
                                             int samples) {
    const int n = (int)job.n;
    const real *psi = (const real *)g.psi + at.k * g.psi_system + first * n * g.psi_step;
#pragma unroll 2
    for (int s = 0; s < samples; s++)
#pragma unroll 1
        for (int j = at.t * W; j < n; j += T * W)
            copy_numbers<W>(to + s * gram_tile<T, M>::PITCH + j, psi + (s * n + j) * g.psi_step);
}

/* Samples first, ... of the team's system, right-hand side c, to a tile; the copies are on their way. */
template <int T, int M>
__device__ static inline void gram_copy(const smallsym_job &job, const smallsym_gram &g,
                                        const gram_place &at, real *to, int64_t first, int64_t c) {
    typedef gram_tile<T, M> tile;
    const int64_t left = g.samples - first;
    const int samples = left < tile::SAMPLES ? (int)left : (int)tile::SAMPLES;
    if (!at.mine) return;
    if (at.width == VECTOR)
        gram_copy_rows<T, M, VECTOR>(job, g, at, to, first, samples);
    else if (VECTOR == 4 && at.width == 2)
        gram_copy_rows<T, M, VECTOR / 2>(job, g, at, to, first, samples);
    else
        gram_copy_rows<T, M, 1>(job, g, at, to, first, samples);
    const real *y = (const real *)g.y + (at.k * g.y_system + first * g.y_step) * job.nrhs + c;
#pragma unroll 1
    for (int s = at.t; s < samples; s += T)
        copy_numbers<1>(to + s * tile::PITCH + tile::Y, y + s * g.y_step * job.nrhs);
}

/* Divides a tile by the power of two of its system. */
template <int T, int M>
__device__ static inline void gram_scale(const gram_place &at, real *tile, int samples) {
#pragma unroll 1
    for (int s = 0; s < samples; s++)
#pragma unroll 1
        for (int j = at.t; j <= gram_tile<T, M>::Y; j += T) {
            real *v = tile + s * gram_tile<T, M>::PITCH + j;
            *v = times_power_of_2(*v, -at.exponent);
        }
    __syncwarp();
}

/* A and b for right-hand side c, in the registers of the team; of A only where c is 0. */
template <int T, int M>
__device__ static inline void gram_stream(const smallsym_job &job, const smallsym_gram &g,
                                          const gram_place &at, int64_t c, real (&a)[M][T * M],
                                          real (&b)[M]) {
    typedef gram_tile<T, M> tile;
    gram_clear<T, M>(a, b);
    gram_copy<T, M>(job, g, at, at.tile, 0, c);
    int side = 0;
    for (int64_t first = 0; first < g.samples; first += tile::SAMPLES) {
        const int64_t next = first + tile::SAMPLES;
        real *now = at.tile + side * tile::BUFFER;
        shoal_copies_done();
        __syncwarp(); /* also: nobody reads the other tile any more */
        side = 1 - side;
        if (next < g.samples) gram_copy<T, M>(job, g, at, at.tile + side * tile::BUFFER, next, c);
        const int samples = next < g.samples ? (int)tile::SAMPLES : (int)(g.samples - first);
        if (at.scaled) gram_scale<T, M>(at, now, samples);
        if (c == 0)
            for (int s = 0; s < samples; s++)
                gram_add<T, M>(a, b, now + s * tile::PITCH, now[s * tile::PITCH + tile::Y], at.t);
        else
            for (int s = 0; s < samples; s++)
                gram_add_rhs<T, M>(b, now + s * tile::PITCH, now[s * tile::PITCH + tile::Y], at.t);
        if (next % GRAM_BLOCK != 0 && next < g.samples) continue;
        if (c == 0)
            gram_fold<T, M>(a, b, at.kept, next <= GRAM_BLOCK);
        else
            gram_fold_rhs<T, M>(b, at.kept, next <= GRAM_BLOCK);
    }
    __syncwarp(); /* before the tiles are written again */
    if (c == 0)
        gram_mean<T, M>(a, b, at.kept, g.samples);
    else
        gram_mean_rhs<T, M>(b, at.kept, g.samples);
}

/* ---- range ------------------------------------------------------------------------------------- */

enum { GRAM_A_OFF = 1, GRAM_B_OFF = 2 }; /* may have lost terms; the same for all of a team */

template <int T, int M>
__device__ static inline int gram_look(const real (&a)[M][T * M], const real (&b)[M], int64_t c,
                                       int lane) {
    real a_most = 0, b_most = 0, a_bad = 0, b_bad = 0;
#pragma unroll
    for (int r = 0; r < M; r++) {
        b_most = real_max(real_abs(b[r]), b_most);
        b_bad = real_fma(b[r], 0, b_bad);
#pragma unroll
        for (int j = 0; j < (r + 1) * T; j++) {
            if (c > 0) continue;
            a_most = real_max(real_abs(a[r][j]), a_most);
            a_bad = real_fma(a[r][j], 0, a_bad);
        }
    }
    a_most = team_max<T>(a_most), b_most = team_max<T>(b_most);
    const bool a_off = team_any<T>(a_bad != 0, lane) || gram_out_of_range(a_most);
    const bool b_off = team_any<T>(b_bad != 0, lane) || gram_out_of_range(b_most);
    return (c == 0 && a_off ? GRAM_A_OFF : 0) | (b_off ? GRAM_B_OFF : 0);
}

__device__ static inline real larger_if_finite(real v, real most) {
    const real size = real_abs(v);
    return size > most && size - size == 0 ? size : most;
}

/* The exponent of a system of which gram_look() said `off`; 0 if there is nothing to be gained. All
 * threads of the warp call. */
template <int T>
__device__ static inline int gram_find_exponent(const smallsym_job &job, const smallsym_gram &g,
                                                const gram_place &at, int off) {
    real psi_most = 0, y_most = 0;
    const real *psi = (const real *)g.psi + at.k * g.psi_system;
    const real *y = (const real *)g.y + at.k * g.y_system * job.nrhs;
    if (at.mine && off) {
#pragma unroll 1
        for (int64_t e = at.t; e < g.samples * job.n; e += T)
            psi_most = larger_if_finite(psi[e * g.psi_step], psi_most);
#pragma unroll 1
        for (int64_t m = at.t; m < g.samples; m += T)
#pragma unroll 1
            for (int64_t c = 0; c < job.nrhs; c++)
                y_most = larger_if_finite(y[m * g.y_step * job.nrhs + c], y_most);
    }
    psi_most = team_max<T>(psi_most), y_most = team_max<T>(y_most);
    /* y of zeros has a b of zeros: nothing was lost */
    return off & GRAM_A_OFF || y_most > 0 ? gram_exponent(psi_most, y_most) : 0;
}

/* Whether the warp is to form its systems again, scaled, given what gram_look() said of them. */
template <int T>
__device__ static inline bool gram_again(const smallsym_job &job, const smallsym_gram &g,
                                         gram_place &at, int off) {
    if (at.scaled || !__any_sync(ALL_LANES, at.mine && off)) return false;
    at.exponent = gram_find_exponent<T>(job, g, at, off);
    at.scaled = __any_sync(ALL_LANES, at.exponent != 0);
    return at.scaled;
}

#endif
