/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset.cu - many rows of parameters on the GPU: one block of threads per row, from its tables
 * to its price, one thread per sample of a block of samples. Shared memory holds the tables (one
 * thread per node makes them), the statistics of a block's samples, and sums; warp w keeps sums
 * w, w + 8, ..., its lanes every 32nd sample. Thread 0 compares the error with the target, and
 * the row continues until it is reached: the grid has many more rows than the GPU has places.
 * Read are seven numbers per row, written three.
 */
#include "core/real.h"
#include "pricing/blocks.cuh"
#include "surrogate/dataset_fit.h"

namespace {

enum { SUM_WARPS = DATASET_BLOCK / 32, OWN = (DATASET_SUMS + SUM_WARPS - 1) / SUM_WARPS };

/* What the threads of a block tell each other. */
struct row_room {
    double value[(DATASET_STATISTICS + 1) * DATASET_BLOCK];
    double sum[DATASET_SUMS];
    int one[DATASET_SUMS], other[DATASET_SUMS]; /* the factors of a sum */
    dataset_row row;
    long long goal;
    double table[1]; /* and more: as many as the plan needs */
};

static size_t room_of(const dataset_job *job) {
    return sizeof(row_room) + (size_t)DATASET_TABLES * (size_t)(job->steps + 1) * sizeof(double);
}

__device__ static dataset_walk walk_of(const dataset_job &job, const dataset_row &r,
                                       const dataset_tables &t, uint64_t path) {
    dataset_walk w = dataset_begin(&t);
    for (int k = 0; k < r.steps; k += 2) {
        const shoal_words words = words_at(job.normals, path, (uint32_t)k / 2);
        const shoal_normals z = shoal_normal_pair(&words);
        w = dataset_step(&r, dataset_weights_at(&t, k), z.z[0], w);
        w = dataset_step(&r, dataset_weights_at(&t, k + 1), z.z[1], w);
    }
    return w;
}

__device__ static void take_sample(const dataset_row &r, const dataset_walk &w, double *v) {
    const dataset_ends e = dataset_end(&r, &w, shoal_exp(w.x));
    double mean[DATASET_CALLS], call[DATASET_CALLS];
    for (int k = 0; k < DATASET_CALLS; k++) {
        const double d = dataset_place(&r, e.log_mean[k], e.deviation[k]);
        mean[k] = shoal_exp(e.log_mean[k]);
        call[k] = dataset_call(&r, mean[k], shoal_normcdf(d), shoal_normcdf(d - e.deviation[k]));
    }
    dataset_sample(&r, &w, e.j, mean, call, v);
}

/* Adds the block's samples to the sums of this thread's warp. */
__device__ static void add_values(const row_room *s, double *own) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int q = 0; q < OWN; q++) {
        if (warp + q * SUM_WARPS >= DATASET_SUMS) continue;
        const double *v = s->value + s->one[warp + q * SUM_WARPS] * DATASET_BLOCK;
        const double *u = s->value + s->other[warp + q * SUM_WARPS] * DATASET_BLOCK;
        for (int from = lane; from < DATASET_BLOCK; from += 32)
            own[q] = fma(v[from], u[from], own[q]);
    }
}

__device__ static void store_sums(const double *own, double *sums) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
#pragma unroll
    for (int q = 0; q < OWN; q++) {
        double sum = own[q];
        for (int distance = 16; distance > 0; distance /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        if (lane == 0 && warp + q * SUM_WARPS < DATASET_SUMS) sums[warp + q * SUM_WARPS] = sum;
    }
}

__global__ void __launch_bounds__(DATASET_BLOCK, 2) rows(dataset_job job) {
    SHOAL_SHARED(double, shared);
    row_room *s = (row_room *)shared;
    const int id = (int)threadIdx.x;
    const int64_t number = blockIdx.x;
    double *value = job.values + number * SHOAL_DATASET_VALUES;
    dataset_row r = dataset_read(&job, job.parameters + number * SHOAL_DATASET_COLUMNS);
    if (r.steps == 0) {
        if (id == 0) value[0] = value[1] = shoal_nan(), value[2] = 0.0;
        return;
    }
    const dataset_tables t = dataset_tables_at(s->table, job.steps + 1);
    for (int k = id; k <= r.steps; k += DATASET_BLOCK) dataset_node(&r, k, &t);
    s->value[DATASET_STATISTICS * DATASET_BLOCK + id] = 1.0;
    if (id < DATASET_SUMS) dataset_pair(id, &s->one[id], &s->other[id]);
    __syncthreads();
    if (id == 0) {
        dataset_close(&r, &t);
        s->row = r;
        s->goal = dataset_first_look(&job);
    }
    __syncthreads();
    r = s->row;
    const uint64_t first = (job.first + (uint64_t)number) << DATASET_ROW_BITS;
    double own[OWN];
    for (int q = 0; q < OWN; q++) own[q] = 0.0;
    for (int64_t done = 0, goal = s->goal; goal > 0;) {
        for (; done < goal; done++) {
            const uint64_t path = first + (uint64_t)done * DATASET_BLOCK + (uint64_t)id;
            const dataset_walk w = walk_of(job, r, t, path);
            double v[DATASET_STATISTICS];
            take_sample(r, w, v);
            for (int k = 0; k < DATASET_STATISTICS; k++) s->value[k * DATASET_BLOCK + id] = v[k];
            __syncthreads();
            add_values(s, own);
            __syncthreads();
        }
        store_sums(own, s->sum);
        __syncthreads();
        if (id == 0) {
            double found[SHOAL_DATASET_VALUES];
            s->goal = dataset_look(&job, &r, s->sum, done, found);
            for (int k = 0; k < SHOAL_DATASET_VALUES; k++) value[k] = found[k];
        }
        __syncthreads();
        goal = s->goal;
    }
}

} // namespace

static shoal_status run(shoal_context *ctx, const dataset_job *job) {
    const int64_t most = 1 << 20; /* blocks of a grid */
    const shoal_status status = shoal_check_shared(ctx, "dataset", room_of(job));
    if (status != SHOAL_OK) return status;
    shoal_allow_shared(ctx, rows);
    for (int64_t from = 0; from < job->count; from += most) {
        dataset_job here = *job;
        here.parameters += from * SHOAL_DATASET_COLUMNS, here.values += from * SHOAL_DATASET_VALUES;
        here.first += (uint64_t)from;
        const int64_t count = job->count - from < most ? job->count - from : most;
        SHOAL_LAUNCH(rows, dim3((unsigned)count), dim3(DATASET_BLOCK), room_of(job), ctx->stream,
                     here);
    }
    return shoal_launched(ctx, "dataset");
}

extern "C" const dataset_method R(dataset_rows) = { run };
