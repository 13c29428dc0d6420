/* SPDX-License-Identifier: Apache-2.0
 *
 * mergepath.cu - one merge of two sorted arrays on the GPU (Projects, see path.h, section 4; Green,
 * McColl and Bader 2012).
 *
 * tiled   two kernels. The partition: L lanes per tile of the output search the merge path in global
 *         memory, log(min(m, n)) to the base of L + 1 dependent reads, 32 lanes if tiles are few and
 *         one if they are many. The merge: one block per tile (tile.cuh). Reads and writes every key
 *         once, and 16 bytes per tile besides.
 * naive   question 3: one thread per key of the output, each with a search in global memory:
 *         O(d log d) reads, most of them out of the cache.
 * small   question 1: up to SHOAL_MERGE_SMALL keys, one block, one thread per key, both arrays in
 *         shared memory.
 */
#include "sort/tile.cuh"

#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
enum { ROOM = 1536 }; /* threads of a multiprocessor */
#else
enum { ROOM = 2048 };
#endif

enum {
    THREADS = 256,
    EACH = sizeof(word) == 4 ? 17 : 11,
    /* of a multiprocessor, of keys alone: registers for so many */
    BLOCKS = sizeof(word) == 8    ? 5
             : ROOM < 7 * THREADS ? ROOM / THREADS
                                  : 7,
    SEARCHERS =
        256, /* threads per multiprocessor that search: the more crossings, the fewer each */
    BLOCK = 256
};

__global__ static void partition_kernel(sort_job job, int64_t tiles, int tile, int lanes,
                                        int64_t *crossings) {
    shoal_launch_dependents();
    const int64_t p = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    const merge_range r = pair_of(job, 0);
    const int64_t at = p < tiles ? p * tile : r.m + r.n;
    const int64_t y = merge_path_together(at, r, order_of(job), lanes);
    if (p <= tiles && threadIdx.x % lanes == 0) crossings[p] = y;
}

template <int BYTES, bool WHOLE>
__global__ static void __launch_bounds__(THREADS, BYTES ? 4 : BLOCKS)
    tile_kernel(sort_job job, const int64_t *crossings) {
    SHOAL_SHARED(word, near);
    const merge_range r = pair_of(job, 0);
    const int64_t from = (int64_t)blockIdx.x * (THREADS * EACH), end = r.m + r.n;
    const int64_t to = end - from < THREADS * EACH ? end : from + THREADS * EACH;
    shoal_grid_dependency_wait();
    const merge_range part =
        part_of<BYTES>(r, from, crossings[blockIdx.x], to, crossings[blockIdx.x + 1]);
    merge_tile<THREADS, EACH, BYTES, WHOLE>(part, order_of(job), near);
}

/* Output i of a range, with the search of Algorithm 2. */
template <int BYTES>
__device__ static void merge_one(const merge_range &r, int64_t i, sort_order order) {
    const int64_t y = merge_path(i, r.a, r.m, r.b, r.n, order), x = i - y;
    const bool first = y < r.m && (x == r.n || order_in(r.a[y], order) <= order_in(r.b[x], order));
    r.keys[i] = first ? r.a[y] : r.b[x];
    store_value<BYTES>(r, i, first, first ? y : x);
}

template <int BYTES> __global__ static void naive_kernel(sort_job job) {
    const merge_range r = pair_of(job, 0);
    const int64_t total = r.m + r.n;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < total;
         i += (int64_t)gridDim.x * blockDim.x)
        merge_one<BYTES>(r, i, order_of(job));
}

template <int BYTES> __global__ static void small_kernel(sort_job job) {
    SHOAL_SHARED(word, near);
    const merge_range r = pair_of(job, 0);
    const sort_order order = order_of(job);
    const int i = threadIdx.x, m = (int)r.m, n = (int)r.n;
    near[i] = order_in(i < m ? r.a[i] : r.b[i - m], order); /* one thread per key */
    __syncthreads();
    const int y = merge_path_near(i, near, m, near + m, n), x = i - y;
    const bool first = y < m && (x == n || near[y] <= near[m + x]);
    r.keys[i] = order_out(first ? near[y] : near[m + x], order);
    store_value<BYTES>(r, i, first, first ? y : x);
}

static int64_t tiles_of(const sort_plan *plan) {
    return (plan->longest + THREADS * EACH - 1) / (THREADS * EACH);
}

static size_t mergepath_bytes(const sort_plan *plan) {
    if (plan->chosen.variant != MERGEPATH_TILED) return 0;
    return (size_t)(tiles_of(plan) + 1) * sizeof(int64_t);
}

template <int BYTES> static void launch_tiles(const sort_plan *plan, const sort_job *job) {
    const int64_t tiles = tiles_of(plan);
    const size_t bytes = tile_bytes<THREADS, EACH, BYTES>();
    int64_t *crossings = (int64_t *)job->work;
    int lanes = 32;
    while (lanes > 1 && (tiles + 1) * lanes > SEARCHERS * plan->head.ctx->multiprocessors)
        lanes /= 2;
    SHOAL_LAUNCH(partition_kernel, dim3((unsigned)((tiles + 1) * lanes / BLOCK + 1)), dim3(BLOCK),
                 0, plan->head.ctx->stream, *job, tiles, THREADS * EACH, lanes, crossings);
    const auto start = [&](auto kernel) {
        shoal_allow_shared(plan->head.ctx, kernel);
        SHOAL_LAUNCH_EARLY(kernel, dim3((unsigned)tiles), dim3(THREADS), bytes,
                           plan->head.ctx->stream, *job, (const int64_t *)crossings);
    };
    if (job->rest == 0) /* integers */
        start(tile_kernel<BYTES, true>);
    else
        start(tile_kernel<BYTES, false>);
}

template <int BYTES> static void launch(sort_plan *plan, const sort_job *job) {
    void *stream = plan->head.ctx->stream;
    const int64_t total = plan->longest;
    if (plan->chosen.variant == MERGEPATH_SMALL) {
        SHOAL_LAUNCH((small_kernel<BYTES>), dim3(1), dim3((unsigned)total),
                     (size_t)total * sizeof(word), stream, *job);
    } else if (plan->chosen.variant == MERGEPATH_NAIVE) {
        SHOAL_LAUNCH((naive_kernel<BYTES>), dim3(shoal_blocks(total, BLOCK)), dim3(BLOCK), 0,
                     stream, *job);
    } else {
        launch_tiles<BYTES>(plan, job);
    }
}

static shoal_status mergepath_run(sort_plan *plan, const sort_job *job) {
    return by_value_bytes(plan, "mergepath", [&](auto bytes) { launch<bytes>(plan, job); });
}

extern "C" const sort_method R(sort_mergepath) = { mergepath_bytes, mergepath_run };
