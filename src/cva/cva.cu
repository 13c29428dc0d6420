/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.cu - inner paths on the GPU: the arithmetic of nest.h and walk.h with one path per thread, in the same order: bits
 * are those of the CPU in f64. A warp is an item, 32 inner paths of an outer one; its sum is added by halves, as cva.c
 * adds.
 *
 * Contracts with early exercise: a warp makes the prices of its paths once, from stop to stop as far as some contract
 * needs them, and keeps them in shared memory, a row per thread; all contracts follow them. If they do not fit, or there
 * is one contract, a warp has an item and a contract, and the row has the prices of one stop.
 *
 * Rules of up to five assets are compiled for their number (shapes below), with their functions in registers. Those of
 * larger baskets are linear but for powers of the basket, which needs no memory for functions. All others take the code
 * of walk.h.
 *
 * Limits: per path, stop and asset half a Philox block and Box-Muller (about 200 instructions in f64, 60 in f32), an
 * exponential (40, 25); per contract and stop two multiply-adds per function of its rule.
 */
#include "cva/follow.cuh"

enum {
    FOLLOW_BLOCK = 64,
    FOLLOW_BLOCKS = sizeof(real) == sizeof(double) ? 6 : 8,
    WARPS = FOLLOW_BLOCK / CVA_LANES
};

namespace {

__device__ static inline bool is_held(const cva_job *job, const cva_contract *c,
                                      const cva_item *item) {
    return job->holds[c->place * job->paths + item->path] != 0;
}

/* The paths of an item, before the first stop, with the assets that some of these contracts need. */
__device__ static inline void begin_paths(cva_paths *p, const cva_item *item, int lane,
                                          int64_t from, int64_t count, bool any) {
    const cva_job *job = p->job;
    p->spot = job->spot + item->path * job->assets, p->made = job->ahead, p->assets = 0;
    p->first = cva_first(job, item) + (uint64_t)lane;
    for (int64_t i = 0; i < count; i++) {
        const cva_contract *c = &job->contract[job->followed[from + i]];
        if (!is_held(job, c, item) || (c->rule_form == CVA_ANY) != any) continue;
        for (int n = 0; n < c->assets; n++)
            p->assets = c->asset[n] >= p->assets ? (int)c->asset[n] + 1 : p->assets;
    }
    for (int a = 0; a < p->assets; a++) p->row[a] = 0;
    if (job->hestons) cva_begin_hestons(job, p->spot, p->state);
#ifdef SHOAL_SINGLE
    for (int a = 0; a < p->assets; a++) p->row[p->assets + a] = (real)p->spot[a];
#endif
}

__global__ void __launch_bounds__(FOLLOW_BLOCK)
    nest_kernel(const __grid_constant__ cva_job job, int64_t k) {
    const int lane = (int)threadIdx.x % CVA_LANES;
    const int64_t warps = (int64_t)gridDim.x * (FOLLOW_BLOCK / CVA_LANES);
    for (int64_t at = blockIdx.x * (FOLLOW_BLOCK / CVA_LANES) + threadIdx.x / CVA_LANES;
         at < job.items; at += warps) {
        const cva_item *item = &job.item[at];
        cva_nest b;
        cva_begin_nest(&job, k, cva_first(&job, item) + (uint64_t)lane, &b);
        for (int64_t i = 0; i < job.nesteds; i++) {
            const cva_contract *c = &job.contract[job.nested[i]];
            const cva_span left = cva_rest(&job, c, k);
            if (c->kind != CVA_NESTED) continue;
            double sum = 0;
            if (left.years > 0 && cva_is_seen(&job, c)) {
                cva_nest_pay(&job, c, job.spot + item->path * job.assets, left, &b);
                sum = cva_discount_over(&job, left) * fold(item->lanes, lane, (double)b.all[0]);
            }
            if (lane == 0) job.sums[at * job.places + c->place] = sum;
        }
    }
}

__global__ void __launch_bounds__(FOLLOW_BLOCK)
    table_kernel(const __grid_constant__ cva_job job, int64_t k) {
    const int64_t rows = (job.assets + CVA_TILE - 1) / CVA_TILE * CVA_TILE;
    const int64_t stops = job.stops - job.ahead;
    SHOAL_GRID_STRIDE(i, stops * rows)
    cva_fill_table(&job, k, job.ahead + i / rows, (int)(i % rows));
}

/* keeps: a task is an item, else an item and a contract. Contracts whose rules have no form of their own are
 * left to any_kernel. */
__global__ void __launch_bounds__(FOLLOW_BLOCK, FOLLOW_BLOCKS)
    follow_kernel(const __grid_constant__ cva_job job, int64_t k, int keeps, int stride) {
    SHOAL_SHARED(real, rows);
    const int lane = (int)threadIdx.x % CVA_LANES;
    const int64_t each = keeps ? 1 : job.follows, count = keeps ? job.follows : 1;
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    cva_paths paths;
    paths.job = &job, paths.keeps = keeps, paths.k = k;
    paths.row = rows + (int64_t)threadIdx.x * stride;
    paths.state = paths.row + stride - 2 * job.hestons;
    for (int64_t task = (int64_t)blockIdx.x * WARPS + threadIdx.x / CVA_LANES;
         task < job.items * each; task += warps) {
        const int64_t at = task / each, from = task % each;
        const cva_item *item = &job.item[at];
        const int counts = lane < item->lanes;
        begin_paths(&paths, item, lane, from, count, false);
        for (int64_t n = 0; n < count; n++) {
            const cva_contract *c = &job.contract[job.followed[from + n]];
            double *to = &job.sums[at * job.places + c->place];
            if (c->rule_form == CVA_ANY) continue;
            if (!is_held(&job, c, item)) { /* so all of the warp do */
                if (lane == 0) *to = 0;
                continue;
            }
            const double y = follow_many(&job, c, k, &paths, counts, path_start(&paths));
            const double sum = fold(item->lanes, lane, y);
            if (lane == 0) *to = sum;
        }
    }
}

/* Contracts whose rules have no form of their own: a task is an item and a contract. */
__global__ void __launch_bounds__(FOLLOW_BLOCK)
    any_kernel(const __grid_constant__ cva_job job, int64_t k, int stride) {
    SHOAL_SHARED(real, rows);
    const int lane = (int)threadIdx.x % CVA_LANES;
    const int64_t warps = (int64_t)gridDim.x * WARPS;
    cva_paths paths;
    paths.job = &job, paths.keeps = 0, paths.k = k;
    paths.row = rows + (int64_t)threadIdx.x * stride;
    paths.state = paths.row + stride - 2 * job.hestons;
    for (int64_t task = (int64_t)blockIdx.x * WARPS + threadIdx.x / CVA_LANES;
         task < job.items * job.follows; task += warps) {
        const int64_t at = task / job.follows, n = task % job.follows;
        const cva_item *item = &job.item[at];
        const cva_contract *c = &job.contract[job.followed[n]];
        double *to = &job.sums[at * job.places + c->place];
        if (c->rule_form != CVA_ANY) continue;
        if (!is_held(&job, c, item)) { /* so all of the warp do */
            if (lane == 0) *to = 0;
            continue;
        }
        cva_lanes lanes;
        cva_outcome outcome;
        double y;
        begin_paths(&paths, item, lane, n, 1, true);
        cva_follow_many(&job, c, k, path_start(&paths), &paths, &lanes, &outcome, &y);
        const double sum = fold(item->lanes, lane, y);
        if (lane == 0) *to = sum;
    }
}

} // namespace

static shoal_status nest(shoal_context *ctx, const cva_job *job, int64_t k) {
    SHOAL_LAUNCH(nest_kernel, dim3(shoal_blocks(job->items * CVA_LANES, FOLLOW_BLOCK)),
                 dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, European contracts");
}

/* Bytes of rows of a block. */
static size_t row_bytes(const cva_job *job, int64_t slots, int64_t *stride) {
    *stride = ((BEFORE_PRICES + slots) * job->assets + 2 * job->hestons) |
              1; /* odd: no two lanes in one bank */
    return (size_t)*stride * FOLLOW_BLOCK * sizeof(real);
}

static shoal_status follow(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t rows = (job->assets + CVA_TILE - 1) / CVA_TILE * CVA_TILE;
    const int64_t stops = job->stops - job->ahead;
    const int64_t known = job->forms[CVA_KNOWN] + job->forms[CVA_LINEAR];
    if (stops > 0)
        SHOAL_LAUNCH(table_kernel, dim3(shoal_blocks(stops * rows, FOLLOW_BLOCK)),
                     dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    int64_t stride, single_stride;
    size_t bytes = row_bytes(job, stops, &stride);
    const size_t single_bytes = row_bytes(job, 1, &single_stride);
    const int keeps = known > 1 && bytes <= SHOAL_USUAL_SHARED;
    if (!keeps) bytes = single_bytes, stride = single_stride;
    const shoal_status s = shoal_check_shared(ctx, "cva, inner paths", bytes);
    if (s != SHOAL_OK) return s;
    if (known > 0) {
        const int64_t tasks = job->items * (keeps ? 1 : job->follows);
        shoal_allow_shared(ctx, follow_kernel, bytes);
        SHOAL_LAUNCH(follow_kernel, dim3(shoal_blocks(tasks * CVA_LANES, FOLLOW_BLOCK)),
                     dim3(FOLLOW_BLOCK), bytes, ctx->stream, *job, k, keeps, (int)stride);
    }
    if (job->forms[CVA_ANY] > 0) {
        shoal_allow_shared(ctx, any_kernel, single_bytes);
        SHOAL_LAUNCH(any_kernel,
                     dim3(shoal_blocks(job->items * job->follows * CVA_LANES, FOLLOW_BLOCK)),
                     dim3(FOLLOW_BLOCK), single_bytes, ctx->stream, *job, k, (int)single_stride);
    }
    return shoal_launched(ctx, "cva, inner paths");
}

extern "C" const cva_walker R(cva_walker) = { nest, follow };
