/* SPDX-License-Identifier: Apache-2.0
 *
 * passes.cuh - what is sorted at once by batchsort.cu, rows or tiles of rows, and the passes that
 * merge sorted tiles.
 *
 * A pass merges runs of w keys of each row into runs of 2 w, from one array into another; a block
 * makes PASS_TILE keys of the result (tile.cuh) after two searches on the merge path of its pair of
 * runs. log2(n / TILE) passes, rounded up, with one read and one write of every key each. All long
 * rows go through as many passes as the longest needs: the last ones copy the others.
 */
#ifndef SHOAL_SORT_PASSES_CUH
#define SHOAL_SORT_PASSES_CUH

#include "sort/tile.cuh"

namespace {

enum { TILE = 1024, PASS_THREADS = 128, PASS_EACH = 16, PASS_TILE = PASS_THREADS * PASS_EACH };

struct piece { /* begin in all arrays, keys, and the place of its first key in its row */
    int64_t begin, first;
    int length;
};

/* Pieces: row after row, and in each of them tile after tile. */
struct piece_list {
    const shoal_context *ctx;
    sort_rows rows;
    const int64_t *numbers; /* of the rows; NULL: as they come     */
    int64_t count;          /* pieces                              */
    int64_t tiles;          /* a row                               */
    int most;               /* keys of a piece, at most            */
    bool solid;             /* pieces of `most` keys without gaps  */
    int index, value_bytes;
    sort_order order;
    const word *keys;
    const void *values;
    word *sorted;
    void *sorted_values;

    __device__ piece at(int64_t q) const {
        if (q >= count) return { 0, 0, 0 };
        const int64_t place = tiles == 1 ? q : q / tiles, first = (q - place * tiles) * most;
        const int64_t k = numbers ? numbers[place] : place;
        const int64_t left = row_length(rows, k) - first;
        return { row_begin(rows, k) + first, first, left < 0 ? 0 : left < most ? (int)left : most };
    }
};

inline piece_list rows_of(const sort_plan *plan, const sort_job *job, int64_t first, int64_t count,
                          int most) {
    piece_list list = {};
    list.ctx = plan->head.ctx, list.rows = job->a;
    list.numbers = job->list ? job->list + first : nullptr;
    list.count = count, list.tiles = 1, list.most = most, list.index = job->index;
    list.value_bytes = job->value_bytes;
    list.solid = !job->list && job->a.stride == most && job->a.length == most;
    list.order = { (word)job->rest, (word)job->flip };
    list.keys = (const word *)job->a_keys, list.values = job->a_values;
    list.sorted = (word *)job->keys, list.sorted_values = job->values;
    return list;
}

struct place { /* for keys and values */
    word *keys;
    void *values;
};

struct passes {
    piece_list tiles; /* sorted first, into `from` */
    place from, to;
    int64_t rows;
};

inline size_t spare_keys(const sort_plan *plan) { /* 256: both arrays are aligned */
    return ((size_t)plan->total * sizeof(word) + 255) / 256 * 256;
}

inline size_t passes_bytes(const sort_plan *plan) {
    if (plan->longest <= TILE) return 0;
    return spare_keys(plan) + (size_t)plan->total * (size_t)plan->job.value_bytes;
}

/* For the first `rows` rows of the list; an odd number of passes begins in the workspace. */
inline passes passes_of(const sort_plan *plan, const sort_job *job, int64_t rows) {
    passes p = {};
    int count = 0;
    while ((int64_t)TILE << count < plan->longest) count++;
    const place out = { (word *)job->keys, job->values };
    const place spare = { (word *)job->work, (char *)job->work + spare_keys(plan) };
    p.from = count % 2 ? spare : out, p.to = count % 2 ? out : spare;
    p.rows = rows;
    p.tiles = rows_of(plan, job, 0, rows, TILE);
    p.tiles.tiles = (plan->longest + TILE - 1) / TILE;
    p.tiles.count = p.tiles.tiles * rows;
    p.tiles.solid = !job->list && job->a.stride == job->a.length && job->a.length % TILE == 0;
    p.tiles.sorted = p.from.keys, p.tiles.sorted_values = p.from.values;
    return p;
}

template <int BYTES>
__global__ void __launch_bounds__(PASS_THREADS, 8)
    pass_kernel(piece_list list, place from, place to, int64_t run) {
    SHOAL_SHARED(word, near);
    SHOAL_SHARED_ARRAY(int64_t, ends, 2);
    for (int64_t q = blockIdx.x; q < list.count; q += gridDim.x) {
        const piece tile = list.at(q);
        if (tile.length == 0) continue;
        const int64_t row = tile.begin - tile.first; /* where the row begins */
        const int64_t pair = tile.first - tile.first % (2 * run);
        const int64_t k = list.numbers ? list.numbers[q / list.tiles] : q / list.tiles;
        const int64_t left = row_length(list.rows, k) - pair;
        merge_range r;
        r.m = left < run ? left : run;
        r.n = left - r.m < run ? left - r.m : run;
        r.a = from.keys + row + pair, r.b = r.a + r.m, r.keys = to.keys + row + pair;
        r.a_values = (const char *)from.values + BYTES * (row + pair);
        r.b_values = (const char *)r.a_values + BYTES * r.m;
        r.values = (char *)to.values + BYTES * (row + pair);
        const int64_t begin = tile.first - pair, end = begin + tile.length;
        tile_ends(r, begin, end, list.order, ends);
        merge_tile<PASS_THREADS, PASS_EACH, BYTES>(part_of<BYTES>(r, begin, ends[0], end, ends[1]),
                                                   list.order, near);
    }
}

template <int BYTES>
inline void merge_passes(const sort_plan *plan, const sort_job *job, passes p) {
    piece_list list = rows_of(plan, job, 0, p.rows, PASS_TILE);
    list.tiles = (plan->longest + PASS_TILE - 1) / PASS_TILE;
    list.count = list.tiles * p.rows;
    for (int64_t run = TILE; run < plan->longest; run *= 2) {
        SHOAL_LAUNCH((pass_kernel<BYTES>), dim3(shoal_blocks(list.count, 1)), dim3(PASS_THREADS),
                     (tile_bytes<PASS_THREADS, PASS_EACH, BYTES>()), plan->head.ctx->stream, list,
                     p.from, p.to, run);
        const place next = p.from;
        p.from = p.to, p.to = next;
    }
}

} // namespace

#endif
