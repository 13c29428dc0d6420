/* SPDX-License-Identifier: Apache-2.0
 *
 * paths.cuh - the prices of the inner paths of a warp: a row per thread, made stop by stop with the arithmetic of walk.h.
 */
#ifndef SHOAL_CVA_PATHS_CUH
#define SHOAL_CVA_PATHS_CUH

#define CVA_WIDTH 1
#define CVA_FOLLOWS
#include "core/launch.cuh"
#include "core/real.h"

#include "cva/basis.h"
#include "cva/nest.h"

static const unsigned ALL_LANES = 0xffffffffu;

/* What a row holds before the prices of stops: Brownian motions, in f32 today's prices. */
enum { BEFORE_PRICES = sizeof(real) == sizeof(double) ? 1 : 2 };

/* Of one thread. The row has the prices of all stops from job.ahead on, or of the last one. */
struct cva_paths {
    const cva_job *job;
    const double *spot;
    int assets;      /* that the contracts need: up to the last one */
    int keeps;       /* 1: the prices of all stops                  */
    int64_t k, made; /* the stop that comes next, in the whole warp */
    uint64_t first;
    real z[CVA_NORMALS]; /* of the last block, where steps share one */
    real *row, *state;   /* state: of variances                      */
};

__device__ static inline real *row_prices(const cva_paths *p, int64_t stop) {
    return p->row + p->assets * (BEFORE_PRICES + (p->keeps ? stop - p->job->ahead : 0));
}
/* The prices of the outer path. */
__device__ static inline const real *path_start(const cva_paths *p) {
#ifdef SHOAL_SINGLE
    return p->row + p->assets;
#else
    return p->spot;
#endif
}

/* cva_words(), with the keys of the rounds made from the first one: loads of 20 keys would take longer. */
__device__ static inline shoal_words step_words(const shoal_stream *stream, uint32_t step,
                                                uint64_t first) {
    shoal_words w = { { (uint32_t)first, (uint32_t)(first >> 32), step, stream->tag } };
    uint32_t a = stream->key[0][0], b = stream->key[0][1];
    for (int round = 0; round < 10; round++, a += SHOAL_PHILOX_GOLDEN, b += SHOAL_PHILOX_ROOT)
        w = shoal_philox_round(w, a, b);
    return w;
}

/* The normals of a step that shares its block with others. */
__device__ static inline void shared_normals(const cva_job *job, cva_paths *p, uint32_t number,
                                             real *z) {
    const uint32_t steps = cva_steps(job);
    const int from = (int)(number % steps) * job->assets;
    if (from == 0) {
        const shoal_words w = step_words(&job->walk_normals, number / steps, p->first);
        for (int e = 0; e < CVA_NORMALS; e += 2) cva_pair(&w, e / 2, &p->z[e], &p->z[e + 1]);
    }
#pragma unroll
    for (int b = 0; b < CVA_NORMALS / 2; b++)
        if (b < job->assets) z[b] = p->z[from + b];
}

/* Moves to a stop, with up to MOST assets: normals stay in registers. */
template <int MOST>
__device__ static __noinline__ void step_within(const cva_job *job, cva_paths *p, int64_t stop,
                                                real *to) {
    const real *table = cva_table(job, stop), *shift = cva_shifts(job, stop);
    const real *sigma = shift + 2 * job->assets, *start = path_start(p);
    const uint32_t number = (uint32_t)(stop - job->ahead), begin = number * cva_blocks(job);
    const int assets = p->assets;
    const uint64_t first = p->first;
    real *row = p->row, z[MOST];
    if (MOST <= 8 && cva_steps(job) > 1)
        shared_normals(job, p, number, z);
    else {
#pragma unroll
        for (int b = 0; b < MOST; b += CVA_NORMALS) {
            if (b >= assets) break;
            const shoal_words w =
                step_words(&job->walk_normals, begin + (uint32_t)(b / CVA_NORMALS), first);
#pragma unroll
            for (int e = 0; e < CVA_NORMALS; e += 2) cva_pair(&w, e / 2, &z[b + e], &z[b + e + 1]);
        }
    }
#pragma unroll
    for (int tile = 0; tile < MOST / CVA_TILE; tile++) {
        if (tile * CVA_TILE >= assets) break;
        const cva_tile *column = (const cva_tile *)(table + cva_tile_at(tile));
        real sum[CVA_TILE];
#pragma unroll
        for (int e = 0; e < CVA_TILE; e++)
            sum[e] = tile * CVA_TILE + e < assets ? row[tile * CVA_TILE + e] : 0;
#pragma unroll
        for (int b = 0; b < (tile + 1) * CVA_TILE; b++) {
            if (b >= assets) break;
            const cva_tile here = column[b];
#pragma unroll
            for (int e = 0; e < CVA_TILE; e++) sum[e] = real_fma(here.load[e], z[b], sum[e]);
        }
#pragma unroll
        for (int e = 0; e < CVA_TILE; e++) {
            const int a = tile * CVA_TILE + e;
            if (a >= assets) break;
            row[a] = sum[e];
            to[a] = start[a] * real_exp(real_fma(sigma[a], sum[e], shift[a]));
        }
    }
}

/* The same with any number. */
__device__ static __noinline__ void step_any(const cva_job *job, const cva_paths *p, int64_t stop,
                                             real *to) {
    cva_step(job, p->assets, p->k, stop, p->spot, p->first, p->row, to);
}

/* A function of its own: a market without variances should not pay for it. */
__device__ static __noinline__ void move_hestons(const cva_paths *p, int64_t stop, real *to) {
    const cva_job *job = p->job;
    const int64_t k = job->stop[stop];
    const cva_span step = cva_between(job, cva_before(job, p->k, stop), k);
    cva_move_hestons(job, p->assets, k, sqrt(step.years), p->spot, cva_between(job, p->k, k),
                     p->row, p->state, to);
}

/* All lanes of the warp come here together. */
__device__ static inline const real *cva_prices_at(cva_paths *p, int64_t stop) {
    for (; p->made <= stop; p->made++) {
        real *to = row_prices(p, p->made);
        if (p->assets <= 8)
            step_within<8>(p->job, p, p->made, to);
        else if (p->assets <= 32)
            step_within<32>(p->job, p, p->made, to);
        else
            step_any(p->job, p, p->made, to);
        if (p->job->hestons) move_hestons(p, p->made, to);
    }
    return row_prices(p, stop);
}

namespace {

/* The sum of so many lanes: in lane 0. */
__device__ static inline double fold(int lanes, int lane, double y) {
    double sum = lane < lanes ? y : 0.0;
    for (int distance = CVA_LANES / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    return sum;
}

} /* namespace */

#endif
