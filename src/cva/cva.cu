/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.cu - inner paths on the GPU: the code of nest.h and walk.h with one path per thread. A warp is an item, 32 inner
 * paths of an outer one, and with early exercise one contract; its sum is added by halves, as cva.c adds. Every such
 * warp makes the prices that its contract needs. Bits are those of the CPU in f64.
 */
#define CVA_WIDTH 1
#define CVA_FOLLOWS
#include "core/launch.cuh"
#include "core/real.h"

#include "cva/nest.h"

enum { FOLLOW_BLOCK = 128 };

/* Of one thread: at and s are of the date that was made last. */
struct cva_paths {
    const cva_job *job;
    const double *spot;
    int assets;      /* that the contract needs: up to its last one */
    int64_t k, made; /* the stop that comes next */
    uint64_t first;
    real at[SHOAL_CVA_ASSETS], s[SHOAL_CVA_ASSETS];
};

__device__ static inline const real *cva_prices_at(cva_paths *p, int64_t stop) {
    for (; p->made <= stop; p->made++)
        cva_step(p->job, p->assets, p->k, p->made, p->spot, p->first, p->at, p->s);
    return p->s;
}

namespace {

/* The sum of the lanes of an item: in lane 0. */
__device__ static inline double fold_item(const cva_item *item, int lane, double y) {
    double sum = lane < item->lanes ? y : 0.0;
    for (int distance = CVA_LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    return sum;
}

__global__ void __launch_bounds__(FOLLOW_BLOCK) nest_kernel(cva_job job, int64_t k) {
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
                sum = cva_discount_over(&job, left) * fold_item(item, lane, (double)b.all[0]);
            }
            if (lane == 0) job.sums[at * job.places + c->place] = sum;
        }
    }
}

__global__ void __launch_bounds__(FOLLOW_BLOCK) table_kernel(cva_job job, int64_t k) {
    const int64_t rows = (job.assets + CVA_TILE - 1) / CVA_TILE * CVA_TILE;
    SHOAL_GRID_STRIDE(i, (job.stops - job.ahead) * rows)
    cva_fill_table(&job, k, job.ahead + i / rows, (int)(i % rows));
}

__global__ void __launch_bounds__(FOLLOW_BLOCK) follow_kernel(cva_job job, int64_t k) {
    const int lane = (int)threadIdx.x % CVA_LANES;
    const int64_t walks = job.americans;
    const int64_t warps = (int64_t)gridDim.x * (FOLLOW_BLOCK / CVA_LANES);
    for (int64_t task = blockIdx.x * (FOLLOW_BLOCK / CVA_LANES) + threadIdx.x / CVA_LANES;
         task < job.items * walks; task += warps) {
        const cva_item *item = &job.item[task / walks];
        const cva_contract *c = &job.contract[job.american[task % walks]];
        double *to = &job.sums[task / walks * job.places + c->place];
        if (!job.holds[c->place * job.paths + item->path]) { /* so all of the warp do */
            if (lane == 0) *to = 0;
            continue;
        }
        cva_paths paths;
        cva_outcome outcome;
        double y;
        paths.job = &job, paths.spot = job.spot + item->path * job.assets;
        paths.k = k, paths.made = job.ahead, paths.first = cva_first(&job, item) + (uint64_t)lane;
        paths.assets = 0;
        for (int n = 0; n < c->assets; n++)
            paths.assets = c->asset[n] >= paths.assets ? (int)c->asset[n] + 1 : paths.assets;
        for (int a = 0; a < paths.assets; a++) paths.s[a] = (real)paths.spot[a];
        for (int a = 0; a < SHOAL_CVA_ASSETS && a < paths.assets + CVA_TILE; a++) paths.at[a] = 0;
        if (c->rule[0].basis.kind == CVA_LINE)
            cva_follow_line(&job, c, k, paths.spot, &paths, &outcome, &y);
        else {
            cva_lanes lanes;
            cva_follow_many(&job, c, k, paths.s, &paths, &lanes, &outcome, &y);
        }
        const double sum = fold_item(item, lane, y);
        if (lane == 0) *to = sum;
    }
}

} // namespace

static shoal_status nest(shoal_context *ctx, const cva_job *job, int64_t k) {
    SHOAL_LAUNCH(nest_kernel, dim3(shoal_blocks(job->items * CVA_LANES, FOLLOW_BLOCK)),
                 dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, European contracts");
}

static shoal_status follow(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t rows = (job->assets + CVA_TILE - 1) / CVA_TILE * CVA_TILE;
    if (job->stops > job->ahead)
        SHOAL_LAUNCH(table_kernel,
                     dim3(shoal_blocks((job->stops - job->ahead) * rows, FOLLOW_BLOCK)),
                     dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    const int64_t tasks = job->items * job->americans;
    SHOAL_LAUNCH(follow_kernel, dim3(shoal_blocks(tasks * CVA_LANES, FOLLOW_BLOCK)),
                 dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, inner paths");
}

extern "C" const cva_walker R(cva_walker) = { nest, follow };
