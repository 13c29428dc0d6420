/* SPDX-License-Identifier: Apache-2.0
 *
 * outer.cu - the stages of outer.h and exposure.h on the GPU. A thread is an outer path; of closed forms and
 * decisions, a contract and a path: these write to the cube, as many contracts at a time as it has room for, and then
 * a thread per path adds them in their order. A warp is a node. One block adds up the groups of all nodes.
 *
 * Limits: a Black-Scholes value is about 400 operations in f64; its 16 bytes through the cube stay in the L2 cache.
 */
#define CVA_WIDTH   1
#define CVA_LANE(l) ((int)(threadIdx.x % CVA_LANES))
#include "core/launch.cuh"
#include "core/real.h"

#include "cva/exposure.h"

enum { OUTER_BLOCK = 128, TILE = 512, SCAN_BLOCK = 1024 };
enum { NET_ROOM = 128, NET_AHEAD = 8 }; /* contracts in shared memory; of a turn */

namespace {

__global__ void __launch_bounds__(OUTER_BLOCK) begin_kernel(const __grid_constant__ cva_job job) {
    SHOAL_GRID_STRIDE(path, job.paths) {
        cva_begin_path(&job, path);
        cva_clear_path(&job, path, 0);
    }
}

__global__ void __launch_bounds__(OUTER_BLOCK) keep_kernel(const __grid_constant__ cva_job job) {
    SHOAL_GRID_STRIDE(path, job.paths) cva_keep_path(&job, path);
}

__global__ void __launch_bounds__(OUTER_BLOCK) jump_kernel(const __grid_constant__ cva_job job) {
    SHOAL_GRID_STRIDE(path, job.paths) cva_jump_path(&job, path);
}

__global__ void __launch_bounds__(OUTER_BLOCK)
    move_kernel(const __grid_constant__ cva_job job, int64_t k) {
    SHOAL_GRID_STRIDE(path, job.paths) {
        cva_move_paths(&job, path, k);
        cva_clear_path(&job, path, k);
    }
}

/* A block takes a contract and a tile of paths. */
__global__ void __launch_bounds__(OUTER_BLOCK)
    value_kernel(const __grid_constant__ cva_job job, int64_t k, int64_t first, int64_t count) {
    const int64_t tiles = (job.paths + TILE - 1) / TILE;
    for (int64_t task = blockIdx.x; task < count * tiles; task += gridDim.x) {
        const int64_t n = task / tiles, begin = task % tiles * TILE;
        const int64_t end = begin + TILE < job.paths ? begin + TILE : job.paths;
        const cva_contract *c = &job.contract[job.european[first + n]];
        const cva_span left = cva_rest(&job, c, k);
        if (!cva_is_known(c, left.years)) continue;
        const cva_terms terms = cva_terms_of(&job, c, left);
        for (int64_t path = begin + threadIdx.x; path < end; path += OUTER_BLOCK) {
            double worth;
            cva_known_values(&job, c, &terms, path, job.spot + path * job.assets, &worth);
            cva_note(&job, c, k, path, worth, left.years == 0);
            job.cube[n * job.paths + path] = c->quantity * worth;
        }
    }
}

__global__ void __launch_bounds__(OUTER_BLOCK)
    settle_kernel(const __grid_constant__ cva_job job, int64_t k, int64_t first, int64_t count) {
    const int64_t tiles = (job.paths + OUTER_BLOCK - 1) / OUTER_BLOCK;
    for (int64_t task = blockIdx.x; task < count * tiles; task += gridDim.x) {
        const int64_t n = task / tiles, path = task % tiles * OUTER_BLOCK + threadIdx.x;
        const cva_contract *c = &job.contract[job.american[first + n]];
        if (path >= job.paths) continue;
        cva_settled now;
        double *to = job.cube + n * job.paths + path;
        const int64_t plane = count * job.paths;
        cva_settle(&job, c, path, k, job.spot + path * job.assets, &now);
        to[0] = now.adds, to[plane] = now.differs;
        if (job.flow) to[2 * plane] = now.paid[0], to[3 * plane] = now.paid[1];
    }
}

/* Of contracts of the cube, for all paths of a block. */
struct net_room {
    int64_t set[NET_ROOM];
    char adds[NET_ROOM], ends[NET_ROOM]; /* whether it has a number in the cube, and is paid */
};

/* Adds contracts of the cube to what a path has, with NET_AHEAD loads at a time. */
__device__ static void net_path(const cva_job *job, int64_t path, const net_room *room,
                                const int64_t *list, const double *from, int64_t plane, int n,
                                int european) {
    double *value = job->value + path * CVA_LEVELS * job->sets;
    double *differ = job->differ + path * job->sets, sum = 0, other = 0;
    int64_t set = -1;
    for (int first = 0; first < n; first += NET_AHEAD) {
        double x[NET_AHEAD], y[NET_AHEAD];
#pragma unroll
        for (int e = 0; e < NET_AHEAD; e++) {
            const bool adds = first + e < n && room->adds[first + e];
            const double *at = from + (first + e) * job->paths;
            x[e] = adds ? at[0] : 0, y[e] = adds && !european ? at[plane] : 0;
        }
#pragma unroll
        for (int e = 0; e < NET_AHEAD; e++) {
            if (first + e >= n) break;
            if (room->set[first + e] != set) {
                if (set >= 0) value[set] = value[job->sets + set] = sum, differ[set] = other;
                set = room->set[first + e], sum = value[set], other = differ[set];
            }
            if (!room->adds[first + e]) continue;
            sum += x[e];
            if (!european) other += y[e];
            if (!job->flow || (european && !room->ends[first + e])) continue;
            const double *at = from + (first + e) * job->paths;
            const cva_contract *c = &job->contract[list[first + e]];
            cva_add_flow(job, c, path, european ? x[e] : at[2 * plane],
                         european ? x[e] : at[3 * plane]);
        }
    }
    if (set >= 0) value[set] = value[job->sets + set] = sum, differ[set] = other;
}

/* Adds the contracts of the cube in the order of `list`, which goes by netting sets. */
__global__ void __launch_bounds__(OUTER_BLOCK)
    net_kernel(const __grid_constant__ cva_job job, int64_t k, const int64_t *list, int64_t count,
               int european) {
    SHOAL_SHARED_ARRAY(net_room, room, 1);
    for (int64_t begin = 0; begin < count; begin += NET_ROOM) {
        const int n = count - begin < NET_ROOM ? (int)(count - begin) : (int)NET_ROOM;
        __syncthreads();
        for (int e = (int)threadIdx.x; e < n; e += OUTER_BLOCK) {
            const cva_contract *c = &job.contract[list[begin + e]];
            const double left = cva_left(&job, c, k);
            room->set[e] = c->set, room->ends[e] = left == 0;
            room->adds[e] = !european || cva_is_known(c, left);
        }
        __syncthreads();
        SHOAL_GRID_STRIDE(path, job.paths)
        net_path(&job, path, room, list + begin, job.cube + begin * job.paths + path,
                 count * job.paths, n, european);
    }
}

__global__ void __launch_bounds__(OUTER_BLOCK)
    plan_kernel(const __grid_constant__ cva_job job, int64_t k) {
    SHOAL_GRID_STRIDE(i, job.count)
    job.node[job.from + i].first = cva_plan_node(&job, k, job.from + i);
}

/* One block: the groups before each node, and all of them. */
__global__ void __launch_bounds__(SCAN_BLOCK) scan_kernel(const __grid_constant__ cva_job job) {
    SHOAL_SHARED(int64_t, sums);
    const int64_t each = (job.count + SCAN_BLOCK - 1) / SCAN_BLOCK;
    const int64_t begin = job.from + threadIdx.x * each, most = job.from + job.count;
    const int64_t end = begin + each < most ? begin + each : most;
    int64_t sum = 0;
    for (int64_t path = begin; path < end; path++) sum += job.node[path].first;
    sums[threadIdx.x] = sum;
    for (int distance = 1; distance < SCAN_BLOCK; distance *= 2) {
        __syncthreads();
        const int64_t more = (int)threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += more;
    }
    int64_t before = sums[threadIdx.x] - sum;
    if (threadIdx.x == SCAN_BLOCK - 1) *job.groups = sums[threadIdx.x];
    for (int64_t path = begin; path < end; path++) {
        const int64_t groups = job.node[path].first;
        job.node[path].first = before;
        before += groups;
    }
}

/* Nodes: a warp each. */
__global__ void __launch_bounds__(OUTER_BLOCK) fill_kernel(const __grid_constant__ cva_job job) {
    const int64_t warps = (int64_t)gridDim.x * (OUTER_BLOCK / CVA_LANES);
    for (int64_t i = blockIdx.x * (OUTER_BLOCK / CVA_LANES) + threadIdx.x / CVA_LANES;
         i < job.count; i += warps)
        cva_fill_node(&job, job.from + i);
}

__global__ void __launch_bounds__(OUTER_BLOCK) add_kernel(const __grid_constant__ cva_job job) {
    SHOAL_GRID_STRIDE(item, job.items) cva_add_item(&job, item);
}

__global__ void __launch_bounds__(OUTER_BLOCK)
    expose_kernel(const __grid_constant__ cva_job job, int64_t k) {
    const int64_t warps = (int64_t)gridDim.x * (OUTER_BLOCK / CVA_LANES);
    for (int64_t i = blockIdx.x * (OUTER_BLOCK / CVA_LANES) + threadIdx.x / CVA_LANES;
         i < job.count; i += warps) {
        cva_expose_node(&job, job.from + i);
        if (job.worth) cva_note_node(&job, k, job.from + i);
    }
}

/* Adds the sums of a warp, [CVA_TOTAL_LISTS][CVA_LIMBS], to those of all. */
__device__ void add_totals(int64_t *to, const int64_t *sum) {
    for (int i = 0; i < CVA_TOTAL_LISTS * CVA_LIMBS; i++) {
        long long x = (long long)sum[i];
        for (int distance = CVA_LANES / 2; distance > 0; distance /= 2)
            x += __shfl_down_sync(0xffffffffu, x, distance);
        if (threadIdx.x % CVA_LANES == 0)
            atomicAdd((unsigned long long *)(to + i), (unsigned long long)x);
    }
}

/* A block takes a contract and a tile of paths. */
__global__ void __launch_bounds__(OUTER_BLOCK) allot_kernel(const __grid_constant__ cva_job job) {
    const int64_t tiles = (job.count + TILE - 1) / TILE, ends = job.date == job.exposures - 1;
    for (int64_t task = blockIdx.x; task < job.contracts * tiles; task += gridDim.x) {
        const int64_t i = task / tiles, begin = job.from + task % tiles * TILE;
        const int64_t last = job.from + job.count, end = begin + TILE < last ? begin + TILE : last;
        const cva_contract *c = &job.contract[i];
        int64_t *to = job.total + i * cva_total_numbers(&job);
        int64_t sum[CVA_TOTAL_LISTS * CVA_LIMBS] = { 0 }, tail[CVA_TOTAL_TAIL * CVA_LIMBS] = { 0 };
        for (int64_t path = begin + threadIdx.x; path < end; path += OUTER_BLOCK) {
            cva_allot(&job, c, path, sum);
            if (ends) cva_allot_end(&job, c, path, tail);
        }
        add_totals(to + CVA_LIMBS * CVA_TOTAL_LISTS * job.date, sum);
        if (ends) add_totals(to + CVA_LIMBS * CVA_TOTAL_LISTS * job.exposures, tail);
    }
}

} // namespace

static shoal_status begin(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    SHOAL_LAUNCH(begin_kernel, dim3(shoal_blocks(job->paths, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job);
    return shoal_launched(ctx, "cva, begin");
}

static shoal_status move(shoal_context *ctx, const cva_job *job, int64_t k) {
    SHOAL_LAUNCH(move_kernel, dim3(shoal_blocks(job->paths, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, outer paths");
}

static void net(shoal_context *ctx, const cva_job *job, int64_t k, const int64_t *list,
                int64_t count, int european) {
    SHOAL_LAUNCH(net_kernel, dim3(shoal_blocks(job->paths, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job, k, list, count, european);
}

static shoal_status value(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t most = job->cube_room / job->paths, tiles = (job->paths + TILE - 1) / TILE;
    for (int64_t first = 0; first < job->europeans; first += most) {
        const int64_t left = job->europeans - first, count = left < most ? left : most;
        SHOAL_LAUNCH(value_kernel, dim3(shoal_grid(count * tiles)), dim3(OUTER_BLOCK), 0,
                     ctx->stream, *job, k, first, count);
        net(ctx, job, k, job->european + first, count, 1);
    }
    return shoal_launched(ctx, "cva, closed forms");
}

static shoal_status settle(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t most = job->cube_room / job->paths / cva_planes(job);
    const int64_t tiles = (job->paths + OUTER_BLOCK - 1) / OUTER_BLOCK;
    for (int64_t first = 0; first < job->americans; first += most) {
        const int64_t left = job->americans - first, count = left < most ? left : most;
        SHOAL_LAUNCH(settle_kernel, dim3(shoal_grid(count * tiles)), dim3(OUTER_BLOCK), 0,
                     ctx->stream, *job, k, first, count);
        net(ctx, job, k, job->american + first, count, 0);
    }
    return shoal_launched(ctx, "cva, exercise");
}

static shoal_status plan(shoal_context *ctx, const cva_job *job, int64_t k) {
    SHOAL_LAUNCH(plan_kernel, dim3(shoal_blocks(job->count, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job, k);
    SHOAL_LAUNCH(scan_kernel, dim3(1), dim3(SCAN_BLOCK), SCAN_BLOCK * sizeof(int64_t), ctx->stream,
                 *job);
    return shoal_launched(ctx, "cva, nodes");
}

static shoal_status fill(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    SHOAL_LAUNCH(fill_kernel, dim3(shoal_blocks(job->count * CVA_LANES, OUTER_BLOCK)),
                 dim3(OUTER_BLOCK), 0, ctx->stream, *job);
    return shoal_launched(ctx, "cva, items");
}

static shoal_status keep(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    SHOAL_LAUNCH(keep_kernel, dim3(shoal_blocks(job->paths, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job);
    return shoal_launched(ctx, "cva, margin calls");
}

static shoal_status jump(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    SHOAL_LAUNCH(jump_kernel, dim3(shoal_blocks(job->paths, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job);
    return shoal_launched(ctx, "cva, default");
}

static shoal_status add(shoal_context *ctx, const cva_job *job, int64_t k) {
    (void)k;
    SHOAL_LAUNCH(add_kernel, dim3(shoal_blocks(job->items, OUTER_BLOCK)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job);
    return shoal_launched(ctx, "cva, netting");
}

static shoal_status expose(shoal_context *ctx, const cva_job *job, int64_t k) {
    SHOAL_LAUNCH(expose_kernel, dim3(shoal_blocks(job->count * CVA_LANES, OUTER_BLOCK)),
                 dim3(OUTER_BLOCK), 0, ctx->stream, *job, k);
    return shoal_launched(ctx, "cva, exposures");
}

static shoal_status allot(shoal_context *ctx, const cva_job *job, int64_t k) {
    const int64_t tiles = (job->count + TILE - 1) / TILE;
    (void)k;
    SHOAL_LAUNCH(allot_kernel, dim3(shoal_grid(job->contracts * tiles)), dim3(OUTER_BLOCK), 0,
                 ctx->stream, *job);
    return shoal_launched(ctx, "cva, results by trade");
}

extern "C" const cva_method R(cva_outer) = { begin, move, value, settle, plan, fill,
                                             keep,  jump, add,   expose, allot };
