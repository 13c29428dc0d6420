/* SPDX-License-Identifier: Apache-2.0
 *
 * batchsort.cu - many rows sorted on the GPU (Projects, see path.h, section 5, question 3).
 *
 * network  groups of G lanes, G a power of 2 to 32, hold a row of up to 32 G keys in registers
 *          (registers.cuh): the fewest lanes, so that as few rounds as possible need shuffles. G and
 *          the number of registers go by classes at most a quarter apart from 32 keys on, with values
 *          at most a half. Rows come and go through shared memory. From rows of 32 keys on the
 *          exchanges are the limit: 15 to 40 per key, and up to 15 shuffles.
 * merge    question 3 literally: one thread per key, and rounds in shared memory that merge runs of
 *          1, 2, 4, .. keys, each key finding its place by the search of Algorithm 2.
 *
 * Both read and write every key once. With values, the place of a key in its row goes along, and
 * values are gathered from there at the end: all of a block's before the first is stored, as it may
 * be in place. Rows of more than TILE keys are cut into tiles, which are sorted as rows, and merged in
 * passes between the result and a workspace. A pass merges runs of w keys of each row into runs of
 * 2 w; a block makes PASS_TILE keys of the result (tile.cuh) after two searches on the merge path.
 * log2(n / TILE) passes, rounded up, with one read and one write of every key each; the last ones
 * copy all but the longest rows. Rows of different lengths are listed by length when the plan is
 * made, and each class of lengths is a launch.
 */
#include "sort/registers.cuh"
#include "sort/tile.cuh"

enum { BLOCK = 128, MERGE_BLOCK = 256 };

/* ---- a block's rows ------------------------------------------------------------------------- */

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
    int64_t tiles;          /* per row                             */
    int max_keys;           /* keys of a piece, at most            */
    bool solid;             /* pieces of max_keys, without gaps     */
    int index, value_bytes;
    sort_order order;
    const word *keys;
    const void *values;
    word *sorted;
    void *sorted_values;

    __device__ piece at(int64_t q) const {
        if (q >= count) return { 0, 0, 0 };
        const int64_t place = tiles == 1 ? q : q / tiles, first = (q - place * tiles) * max_keys;
        const int64_t k = numbers ? numbers[place] : place;
        const int64_t left = row_length(rows, k) - first;
        return { row_begin(rows, k) + first, first,
                 left < 0          ? 0
                 : left < max_keys ? (int)left
                                   : max_keys };
    }
};

inline piece_list rows_of(const sort_plan *plan, const sort_job *job, int64_t first, int64_t count,
                          int max_keys) {
    piece_list list = {};
    list.ctx = plan->head.ctx, list.rows = job->a;
    list.numbers = job->list ? job->list + first : nullptr;
    list.count = count, list.tiles = 1, list.max_keys = max_keys, list.index = job->index;
    list.value_bytes = job->value_bytes;
    list.solid = !job->list && job->a.stride == max_keys && job->a.length == max_keys;
    list.order = { (word)job->rest, (word)job->flip };
    list.keys = (const word *)job->a_keys, list.values = job->a_values;
    list.sorted = (word *)job->keys, list.sorted_values = job->values;
    return list;
}

/* Rows and their keys are counted through: item i is key i % n of row i / n of the block. i and n are
 * small, so that a multiplication divides. */
struct counter {
    int n;
    unsigned inverse;
    __device__ counter(int length) : n(length), inverse(0xffffffffu / (unsigned)length + 1) {}
    __device__ int row(int i) const { return n == 1 ? i : (int)__umulhi((unsigned)i, inverse); }
};

/* Where an item is in the arrays, if it is: rows may be shorter than n, or missing. */
struct spot {
    piece p;
    int64_t at;
    bool there;
};

__device__ inline spot spot_of(const piece_list &list, int64_t first_row, int i, int row) {
    const int c = i - row * list.max_keys;
    spot s;
    if (list.solid) { /* rows without gaps: i goes on from row to row */
        s.at = first_row * list.max_keys + i;
        s.p.begin = s.at - c;
        s.p.first = list.tiles == 1 ? 0 : (first_row + row) % list.tiles * list.max_keys;
        s.there = s.at < list.count * list.max_keys;
    } else {
        s.p = list.at(first_row + row);
        s.at = s.p.begin + c;
        s.there = c < s.p.length;
    }
    return s;
}

/* Value `from` of all, and value `to` of the result. */
__device__ inline unsigned long long value_at(const piece_list &list, int64_t from) {
    return list.value_bytes == 4 ? ((const uint32_t *)list.values)[from]
                                 : ((const unsigned long long *)list.values)[from];
}
__device__ inline void set_value(const piece_list &list, int64_t to, unsigned long long value) {
    if (list.value_bytes == 4)
        ((uint32_t *)list.sorted_values)[to] = (uint32_t)value;
    else
        ((unsigned long long *)list.sorted_values)[to] = value;
}

/* The keys and places of a block's rows in shared memory, slot by slot; place c of row r is r n + c. */
struct sorted_rows {
    slab keys;
    int *places;

    /* A slot whose key and place are needed no more holds a value of 8 bytes. */
    __device__ void keep(int slot, unsigned long long value) const {
        keys.near[slot] = (word)value;
        if (sizeof(word) == 4) places[slot] = (int)(value >> 32);
    }
    __device__ unsigned long long kept(int slot) const {
        if (sizeof(word) == 8) return (unsigned long long)keys.near[slot];
        return (unsigned long long)(unsigned)places[slot] << 32 | (unsigned)keys.near[slot];
    }
};

/* Rows without gaps: thread t has values t, t + BLOCK, .. of the `all` that the block has from `begin`
 * on, up to E of them, all on their way before the first is there. */
template <int E, class value>
__device__ inline void move_values(const piece_list &list, const sorted_rows &rows, int64_t begin,
                                   int all) {
    const int t = threadIdx.x, pitch = rows.keys.slot(BLOCK);
    const int *places = rows.places + rows.keys.slot(t);
    const value *from = (const value *)list.values + begin;
    value *to = (value *)list.sorted_values + begin + t, held[E];
#pragma unroll
    for (int e = 0; e < E; e++)
        if (t + e * BLOCK < all) held[e] = from[places[e * pitch]];
    __syncthreads();
#pragma unroll
    for (int e = 0; e < E; e++)
        if (t + e * BLOCK < all) to[e * BLOCK] = held[e];
}

} // namespace

/* ---- network -------------------------------------------------------------------------------- */

/* Blocks that a multiprocessor shall have room for, by the registers that a thread needs. Left alone the
 * compiler spills to have fewer of them where E is large. 0: it is left alone. */
template <int E, bool TAGGED> constexpr int network_blocks() {
    const int registers = sizeof(word) == 8 ? 16 + 4 * E : TAGGED ? 24 + 4 * E : 16 + 2 * E;
    return E < 16 ? 0 : 65536 / BLOCK / registers;
}

template <int E, bool TAGGED>
__global__ static void __launch_bounds__(BLOCK, network_blocks<E, TAGGED>())
    network_kernel(piece_list list, int lanes, bool chunks) {
    typedef std::conditional_t<TAGGED, tagged_item, plain_item> item;
    SHOAL_SHARED(word, near);
    int *places = (int *)(near + slab_words(BLOCK * E));
    const slab keys = { near, chunks };
    const int rows = BLOCK / lanes, t = threadIdx.x, row = t / lanes, lane = t % lanes;
    const int n = list.max_keys;
    const int64_t first = (int64_t)blockIdx.x * rows;
    const int64_t left = (list.count - first) * n;
    const int all = left < rows * n ? (int)left : rows * n; /* keys of the block, if solid */
    const counter count(n);
    if (list.solid)
        keys.fetch(0, list.keys + first * n, all);
    else
#pragma unroll 1
        for (int i = t; i < rows * n; i += BLOCK) {
            const spot s = spot_of(list, first, i, count.row(i));
            if (s.there) shoal_copy_async(near + keys.slot(i), list.keys + s.at);
        }
    shoal_copy_async_wait_all();
    __syncthreads();
    const int length = list.at(first + row).length;
    word key[E];
    item x[E];
    keys.take(row * n + lane * E, length - lane * E, key);
#pragma unroll
    for (int r = 0; r < E; r++) {
        const int c = lane * E + r;
        x[r] = item::of(c < length ? order_in(key[r], list.order) : WORD_MAX, row * n + c);
    }
    sort_group<E>(x, lane, lanes);
#pragma unroll
    for (int r = 0; r < E; r++) {
        key[r] = order_out(x[r].its_key(), list.order);
        if (TAGGED && lane * E + r < length)
            places[keys.slot(row * n + lane * E + r)] = x[r].its_place();
    }
    keys.put(row * n + lane * E, length - lane * E, key); /* to the same places */
    __syncthreads();
    if (list.solid) keys.store(list.sorted + first * n, all);
    const sorted_rows block = { keys, places };
    if (list.solid && !TAGGED) return;
    if (TAGGED && list.solid && !list.index) {
        if (list.value_bytes == 4)
            move_values<E, uint32_t>(list, block, first * n, all);
        else
            move_values<E, unsigned long long>(list, block, first * n, all);
        return;
    }
#pragma unroll 1
    for (int i = t; i < rows * n; i += BLOCK) {
        const int r = count.row(i), at = keys.slot(i);
        const spot s = spot_of(list, first, i, r);
        if (!s.there) continue;
        if (!list.solid) list.sorted[s.at] = near[at];
        if (!TAGGED) continue;
        const int place = places[at] - r * n;
        if (list.index)
            set_value(list, s.at, (unsigned long long)(s.p.first + place));
        else
            block.keep(at, value_at(list, s.p.begin + place));
    }
    if (!TAGGED || list.index) return;
    __syncthreads();
#pragma unroll 1
    for (int i = t; i < rows * n; i += BLOCK) {
        const spot s = spot_of(list, first, i, count.row(i));
        if (s.there) set_value(list, s.at, block.kept(keys.slot(i)));
    }
}

template <int E, bool TAGGED>
static void launch_network(const piece_list &list, int lanes, void *stream) {
    const size_t bytes =
        (size_t)slab_words(BLOCK * E) * (sizeof(word) + (TAGGED ? sizeof(int) : 0));
    const int64_t rows = BLOCK / lanes;
    const bool chunks = list.solid && list.max_keys % CHUNK == 0 && E % CHUNK == 0 &&
                        on_16_bytes(list.keys) && on_16_bytes(list.sorted);
    shoal_allow_shared(list.ctx, network_kernel<E, TAGGED>);
    SHOAL_LAUNCH((network_kernel<E, TAGGED>), dim3((unsigned)((list.count + rows - 1) / rows)),
                 dim3(BLOCK), bytes, stream, list, lanes, chunks);
}

/* The fewest lanes, then the fewest registers of a class. */
template <bool TAGGED> static void by_network(const piece_list &list, void *stream) {
    int lanes = 1;
    while (lanes * 32 < list.max_keys) lanes *= 2;
    by_class<TAGGED>((list.max_keys + lanes - 1) / lanes,
                     [&](auto each) { launch_network<each, TAGGED>(list, lanes, stream); });
}

/* ---- merge ---------------------------------------------------------------------------------- */

/* `threads` threads per row, a power of 2 that is at least its length, one thread per key. */
template <bool TAGGED> __global__ static void merge_kernel(piece_list list, int threads) {
    SHOAL_SHARED(word, shared_keys);
    const int size = blockDim.x, row = threadIdx.x / threads, i = threadIdx.x % threads;
    int *shared_places = (int *)(shared_keys + 2 * size);
    const piece p = list.at((int64_t)blockIdx.x * (size / threads) + row);
    const bool mine = i < p.length;
    word key = mine ? order_in(list.keys[p.begin + i], list.order) : WORD_MAX;
    int place = i;
    for (int run = 1, side = 0; run < threads; run *= 2, side ^= 1) {
        word *keys = shared_keys + side * size + row * threads;
        int *places = shared_places + side * size + row * threads;
        keys[i] = key;
        if (TAGGED) places[i] = place;
        __syncthreads(); /* one a round: the next one writes to the other side */
        const int at = i - i % (2 * run), left = p.length - at;
        if (mine) {
            const int m = left < run ? left : run;
            const int n = left - m < run ? left - m : run;
            const word *a = keys + at, *b = a + m;
            const int y = merge_path_near(i - at, a, m, b, n), x = i - at - y;
            const bool first = y < m && (x == n || a[y] <= b[x]);
            key = first ? a[y] : b[x];
            if (TAGGED) place = places[at + (first ? y : m + x)];
        }
    }
    unsigned long long value = 0;
    if (TAGGED && mine)
        value =
            list.index ? (unsigned long long)(p.first + place) : value_at(list, p.begin + place);
    if (TAGGED) __syncthreads();
    if (!mine) return;
    list.sorted[p.begin + i] = order_out(key, list.order);
    if (TAGGED) set_value(list, p.begin + i, value);
}

template <bool TAGGED> static void by_merges(const piece_list &list, void *stream) {
    int threads = 1;
    while (threads < list.max_keys) threads *= 2;
    const int block = threads < MERGE_BLOCK ? MERGE_BLOCK : threads;
    const int64_t rows = block / threads;
    SHOAL_LAUNCH((merge_kernel<TAGGED>), dim3((unsigned)((list.count + rows - 1) / rows)),
                 dim3((unsigned)block),
                 2 * (size_t)block * (sizeof(word) + (TAGGED ? sizeof(int) : 0)), stream, list,
                 threads);
}

/* ---- passes --------------------------------------------------------------------------------- */

namespace {

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
        const int64_t row = tile.begin - tile.first; /* begin of the row */
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

/* ---- plans ---------------------------------------------------------------------------------- */

template <bool TAGGED> static void sort_pieces(const sort_plan *plan, const piece_list &list) {
    if (list.count == 0) return;
    if (plan->chosen.variant == BATCHSORT_MERGE)
        by_merges<TAGGED>(list, plan->head.ctx->stream);
    else
        by_network<TAGGED>(list, plan->head.ctx->stream);
}

template <int BYTES> static void run_all(sort_plan *plan, const sort_job *job) {
    const int64_t long_rows = shoal_sort_longer(plan, TILE);
    if (long_rows > 0) {
        const passes p = passes_of(plan, job, long_rows);
        sort_pieces<BYTES != 0>(plan, p.tiles);
        merge_passes<BYTES>(plan, job, p);
    }
    if (!job->list) {
        if (long_rows == 0)
            sort_pieces<BYTES != 0>(plan, rows_of(plan, job, 0, job->count, (int)plan->longest));
        return;
    }
    for (int max_keys = TILE; max_keys > 0;
         max_keys /= 2) { /* rows of more than half of it, and at most it */
        const int64_t first = shoal_sort_longer(plan, max_keys),
                      end = shoal_sort_longer(plan, max_keys / 2);
        sort_pieces<BYTES != 0>(plan, rows_of(plan, job, first, end - first, max_keys));
    }
}

static shoal_status batchsort_run(sort_plan *plan, const sort_job *job) {
    return by_value_bytes(plan, "batchsort", [&](auto bytes) { run_all<bytes>(plan, job); });
}

extern "C" const sort_method R(sort_batchsort) = { passes_bytes, batchsort_run };
