/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.cu - inner paths that follow exercise rules, on the GPU: the code of walk.h with one path per thread. A warp is
 * an item, 32 inner paths of an outer one, and one contract; its sum is added by halves, as cva.c adds. Every warp makes
 * the prices that its contract needs. Bits are those of the CPU in f64.
 */
#define CVA_WIDTH 1
#define CVA_FOLLOWS
#include "core/launch.cuh"
#include "core/real.h"
#include "rng/normal.h"

__device__ static inline void cva_draw(const shoal_stream *stream, uint32_t step, uint64_t first,
                                       real (*z)[CVA_WIDTH]) {
    shoal_words w = { { (uint32_t)first, (uint32_t)(first >> 32), step, stream->tag } };
    for (int round = 0; round < 10; round++)
        w = shoal_philox_round(w, stream->key[round][0], stream->key[round][1]);
#ifdef SHOAL_SINGLE
    for (int e = 0; e < 4; e += 2) {
        const shoal_normalsf pair = shoal_normal_pairf(&w, e / 2);
        z[e][0] = pair.z[0], z[e + 1][0] = pair.z[1];
    }
#else
    const shoal_normals pair = shoal_normal_pair(&w);
    z[0][0] = pair.z[0], z[1][0] = pair.z[1];
#endif
}

#include "cva/walk.h"

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

__global__ void __launch_bounds__(FOLLOW_BLOCK) follow_kernel(cva_job job, int64_t k) {
    const int lane = (int)threadIdx.x % CVA_LANES;
    const int64_t walks = job.kinds[CVA_AMERICAN];
    const int64_t warps = (int64_t)gridDim.x * (FOLLOW_BLOCK / CVA_LANES);
    for (int64_t task = blockIdx.x * (FOLLOW_BLOCK / CVA_LANES) + threadIdx.x / CVA_LANES;
         task < job.items * walks; task += warps) {
        const cva_item *item = &job.item[task / walks];
        const cva_contract *c = &job.contract[job.walked[task % walks]];
        if (!job.holds[c->place * job.paths + item->path]) continue; /* so all of the warp do */
        cva_paths paths;
        cva_outcome outcome;
        double y;
        paths.job = &job, paths.spot = job.spot + item->path * job.assets;
        paths.k = k, paths.made = job.ahead, paths.first = cva_first(&job, item) + (uint64_t)lane;
        paths.assets = 0;
        for (int n = 0; n < c->assets; n++)
            paths.assets = c->asset[n] >= paths.assets ? (int)c->asset[n] + 1 : paths.assets;
        for (int a = 0; a < paths.assets; a++) paths.at[a] = 0, paths.s[a] = (real)paths.spot[a];
        if (c->rule[0].basis.kind == CVA_LINE)
            cva_follow_line(&job, c, k, paths.spot, &paths, &outcome, &y);
        else {
            cva_lanes lanes;
            cva_follow_many(&job, c, k, paths.s, &paths, &lanes, &outcome, &y);
        }
        double sum = lane < item->lanes ? y : 0.0;
        for (int distance = CVA_LANES / 2; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (lane == 0) job.sums[task / walks * job.places + c->place] = sum;
    }
}

} // namespace

static shoal_status follow(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t tasks = job->items * job->kinds[CVA_AMERICAN];
    SHOAL_LAUNCH(follow_kernel, dim3(shoal_blocks(tasks * CVA_LANES, FOLLOW_BLOCK)),
                 dim3(FOLLOW_BLOCK), 0, ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, inner paths");
}

extern "C" const cva_walker R(cva_walker) = { follow };
