/* SPDX-License-Identifier: Apache-2.0
 *
 * rearrange.cuh - the rearrangement of the P-scheme (Wakatani, section IV), w'_{iP+j} = w_{jM+i}: a
 * transposition through shared memory, so that both sides are read and written in whole lines. 2
 * numbers moved for each.
 */
#ifndef SHOAL_RECUR_PAPER_REARRANGE_CUH
#define SHOAL_RECUR_PAPER_REARRANGE_CUH

#include "core/launch.cuh"
#include "core/real.h"

enum { SQUARE = 32, SQUARE_ROWS = 8 };

/* `count` segments of n rows of `width` numbers, in `parts` parts of m rows. Row i of segment k is
 * [(k * segment + origin + i * row) * width ..]; rearranged, segments are m * parts rows apart. */
typedef struct rearrangement {
    int64_t n, m, parts, count;
    int64_t row, segment, origin;
    int width;
} rearrangement;

static inline int64_t squares_of(const rearrangement &t) {
    return ((t.m + SQUARE - 1) / SQUARE) * ((t.parts + SQUARE - 1) / SQUARE) * t.width * t.count;
}

/* From `plain` to `rearranged`, or back. A block moves SQUARE parts by SQUARE rows. */
__global__ static void rearrange_kernel(rearrangement t, real *plain, real *rearranged, bool back) {
    SHOAL_SHARED_ARRAY(real, square, SQUARE * (SQUARE + 1));
    const int64_t across = (t.m + SQUARE - 1) / SQUARE, down = (t.parts + SQUARE - 1) / SQUARE;
    const int64_t squares = across * down * t.width * t.count;
    const int x = threadIdx.x, y = threadIdx.y;
    for (int64_t b = blockIdx.x; b < squares; b += gridDim.x) {
        const int64_t i0 = b % across * SQUARE, j0 = b / across % down * SQUARE;
        const int e = (int)(b / across / down % t.width);
        const int64_t k = b / across / down / t.width;
        real *from = plain + (k * t.segment + t.origin) * t.width + e;
        real *to = rearranged + k * t.m * t.parts * t.width + e;
        for (int r = y; r < SQUARE; r += SQUARE_ROWS) {
            const int64_t i = back ? i0 + r : i0 + x, j = back ? j0 + x : j0 + r;
            const bool there = i < t.m && j < t.parts && j * t.m + i < t.n;
            if (back && there) square[x * (SQUARE + 1) + r] = to[(i * t.parts + j) * t.width];
            if (!back && there)
                square[r * (SQUARE + 1) + x] = from[(j * t.m + i) * t.row * t.width];
        }
        __syncthreads();
        for (int r = y; r < SQUARE; r += SQUARE_ROWS) {
            const int64_t i = back ? i0 + x : i0 + r, j = back ? j0 + r : j0 + x;
            const bool there = i < t.m && j < t.parts && j * t.m + i < t.n;
            if (back && there) from[(j * t.m + i) * t.row * t.width] = square[r * (SQUARE + 1) + x];
            if (!back && there) to[(i * t.parts + j) * t.width] = square[x * (SQUARE + 1) + r];
        }
        __syncthreads();
    }
}

static inline void rearrange(void *stream, const rearrangement &t, real *plain, real *rearranged,
                             bool back) {
    SHOAL_LAUNCH(rearrange_kernel, dim3(shoal_blocks(squares_of(t), 1)), dim3(SQUARE, SQUARE_ROWS),
                 0, stream, t, plain, rearranged, back);
}

#endif
