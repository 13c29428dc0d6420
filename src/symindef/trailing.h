/* SPDX-License-Identifier: Apache-2.0
 *
 * trailing.h - A(i,j) := A(i,j) - sum_t w_t(i) v_t(j) for first <= j <= i < n on the CPU: what a
 * panel of partial or rook pivoting leaves to be done to the rest of the triangle.
 *
 * Along a line this is A(line,x) += sum_t F(line,t) G(t,x), F = -w and G = v where lines are rows,
 * F = -v and G = w where they are columns. Both are packed: G in strips of TILE_WIDTH entries, F in
 * groups of TILE_LINES lines, so that a tile, TILE_LINES x TILE_VECS vectors in registers, reads
 * both in order. A block of BLOCK_STRIPS strips stays in the second cache while all groups of lines
 * pass it; groups are dealt to the threads in turn. Tiles on the diagonal or at the end of a line go
 * through a copy. Every sum takes its terms in the order of t, so storage and threads do not change
 * a bit.
 */
#ifndef SHOAL_SYMINDEF_TRAILING_H
#define SHOAL_SYMINDEF_TRAILING_H

#include "symindef/largest.h"
#include "symindef/search.h"

/* Factors are loaded one by one, except on aarch64: the more lines, the less of G is read per product. */
enum {
    TILE_LINES = VEC_BYTES == 64 ? 8 : 4,
    TILE_VECS = VEC_BYTES == 16 && VEC_REGISTERS > 16 ? 5 : 3
};
enum { LINE = 64 / sizeof(real) }; /* of the cache */
enum { TILE_WIDTH = TILE_VECS * VEC, BLOCK_STRIPS = 4096 / TILE_WIDTH / (int)sizeof(real) };

/* The updates of a panel: w and v of update t begin at [t * stride]. */
typedef struct update_list {
    real *w, *v;
    int64_t stride;
    int count;
} update_list;

typedef struct trailing {
    symindef_shape shape;
    real *a;             /* the matrix                         */
    int64_t first;       /* row and column                     */
    int depth;           /* updates                            */
    real *lines, *lanes; /* F and G, packed                    */
} trailing;

static inline int64_t pieces_of(int64_t numbers, int64_t piece) {
    return (numbers + piece - 1) / piece;
}

/* Numbers in the packed lines and lanes of a matrix of order n. */
static inline size_t packed_numbers(int64_t n, int depth) {
    return (size_t)(pieces_of(n, TILE_LINES) * TILE_LINES + pieces_of(n, TILE_WIDTH) * TILE_WIDTH) *
           (size_t)depth;
}

/* One piece of `width` rows of a list, a constant: [t][row], zeros behind the last row. */
ALWAYS_INLINE void pack_piece(const real *list, int64_t stride, int depth, int64_t row, int64_t n,
                              int width, real sign, real *to) {
    const int rows = n - row < width ? (int)(n - row) : width;
    for (int t = 0; t < depth; t++, to += width) {
        const real *from = list + t * stride + row;
        if (rows == width)
            for (int r = 0; r < width; r++) to[r] = sign * from[r];
        else
            for (int r = 0; r < width; r++) to[r] = r < rows ? sign * from[r] : 0;
    }
}

/* Factor r of a group, in all lanes; on aarch64 an instruction takes one lane of a register. */
ALWAYS_INLINE vec factor_at(const real *f, int r) {
#ifdef __aarch64__
    const vec some = vec_load(f + r / VEC * VEC);
    return vec_all(some[r % VEC]);
#else
    return vec_all(f[r]);
#endif
}

/* The entries themselves come last: they are on their way while the sums are made. */
ALWAYS_INLINE void update_tile(const real *f, const real *g, int depth, real *const *at) {
    vec sum[TILE_LINES][TILE_VECS];
    for (int r = 0; r < TILE_LINES; r++) {
        for (int x = 0; x < TILE_WIDTH; x += LINE) __builtin_prefetch(at[r] + x, 1);
        __builtin_prefetch(at[r] + TILE_WIDTH - 1, 1);
        for (int x = 0; x < TILE_VECS; x++) sum[r][x] = vec_all(0);
    }
    for (int t = 0; t < depth; t++, f += TILE_LINES, g += TILE_WIDTH) {
        vec lane[TILE_VECS];
        for (int x = 0; x < TILE_VECS; x++) lane[x] = vec_load(g + x * VEC);
        for (int r = 0; r < TILE_LINES; r++)
            for (int x = 0; x < TILE_VECS; x++)
                sum[r][x] = vec_fma(factor_at(f, r), lane[x], sum[r][x]);
    }
    for (int r = 0; r < TILE_LINES;
         r++) /* all reads first: lines may lie a multiple of 4096 apart */
        for (int x = 0; x < TILE_VECS; x++) sum[r][x] += vec_load(at[r] + x * VEC);
    for (int r = 0; r < TILE_LINES; r++)
        for (int x = 0; x < TILE_VECS; x++) vec_store(at[r] + x * VEC, sum[r][x]);
}

/* A tile with only some entries in the triangle. */
static void update_edge_tile(const trailing *u, int64_t line, int64_t x, const real *f,
                             const real *g) {
    real copy[TILE_LINES][TILE_WIDTH], *at[TILE_LINES];
    const int64_t n = u->shape.n;
    int64_t from[TILE_LINES], to[TILE_LINES];
    memset(copy, 0, sizeof copy);
    for (int r = 0; r < TILE_LINES; r++) {
        const int64_t l = line + r, low = u->shape.upper ? l : x, high = u->shape.upper ? n : l + 1;
        from[r] = low > x ? low : x;
        to[r] = l >= n ? from[r] : high < x + TILE_WIDTH ? high : x + TILE_WIDTH;
        at[r] = copy[r];
        if (from[r] < to[r])
            memcpy(copy[r] + (from[r] - x), u->a + line_start(&u->shape, l) + from[r],
                   (size_t)(to[r] - from[r]) * sizeof(real));
    }
    update_tile(f, g, u->depth, at);
    for (int r = 0; r < TILE_LINES; r++)
        if (from[r] < to[r])
            memcpy(u->a + line_start(&u->shape, line + r) + from[r], copy[r] + (from[r] - x),
                   (size_t)(to[r] - from[r]) * sizeof(real));
}

/* Strips s0 .. s1 - 1 of one group of lines. */
static void update_group(const trailing *u, int64_t group, int64_t s0, int64_t s1) {
    const int64_t n = u->shape.n, line = u->first + group * TILE_LINES;
    const int64_t last = line + TILE_LINES - 1;
    const real *f = u->lines + group * TILE_LINES * u->depth;
    real *start[TILE_LINES], *at[TILE_LINES];
    for (int r = 0; r < TILE_LINES; r++)
        start[r] = u->a + line_start(&u->shape, line + r < n ? line + r : n - 1);
    for (int64_t s = s0; s < s1; s++) {
        const int64_t x = u->first + s * TILE_WIDTH, end = x + TILE_WIDTH;
        const real *g = u->lanes + s * TILE_WIDTH * u->depth;
        if (u->shape.upper ? end <= line : x > last) continue;
        const int whole = last < n && (u->shape.upper ? x >= last && end <= n : end <= line + 1);
        if (whole) {
            for (int r = 0; r < TILE_LINES; r++) at[r] = start[r] + x;
            update_tile(f, g, u->depth, at);
        } else {
            update_edge_tile(u, line, x, f, g);
        }
    }
}

static void update_share(const shoal_context *ctx, const trailing *u, int share, int shares) {
    const int64_t m = u->shape.n - u->first, groups = pieces_of(m, TILE_LINES);
    const int64_t strips = pieces_of(m, TILE_WIDTH);
    for (int64_t s = 0; s < strips && !symindef_is_cancelled(ctx, u->shape.n, u->first);
         s += BLOCK_STRIPS)
        for (int64_t group = share; group < groups; group += shares)
            update_group(u, group, s, s + BLOCK_STRIPS < strips ? s + BLOCK_STRIPS : strips);
}

/* `packed` has room for packed_numbers(). */
static void update_trailing(const shoal_context *ctx, const symindef_shape *shape, real *a,
                            int64_t first, const update_list *list, real *packed, int shares) {
    const int64_t n = shape->n, m = n - first, stride = list->stride;
    const int64_t groups = pieces_of(m, TILE_LINES), strips = pieces_of(m, TILE_WIDTH);
    const int depth = list->count;
    const real *of_lines = shape->upper ? list->v : list->w;
    const real *of_lanes = shape->upper ? list->w : list->v;
    const trailing u = { .shape = *shape,
                         .a = a,
                         .first = first,
                         .depth = depth,
                         .lines = packed,
                         .lanes = packed + groups * TILE_LINES * depth };
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t g = 0; g < groups; g++)
        pack_piece(of_lines, stride, depth, first + g * TILE_LINES, n, TILE_LINES, -1,
                   u.lines + g * TILE_LINES * depth);
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t s = 0; s < strips; s++)
        pack_piece(of_lanes, stride, depth, first + s * TILE_WIDTH, n, TILE_WIDTH, 1,
                   u.lanes + s * TILE_WIDTH * depth);
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int share = 0; share < shares; share++) update_share(ctx, &u, share, shares);
}

#endif
