/* SPDX-License-Identifier: Apache-2.0
 *
 * lanes.h - what paths on the CPU share: the samples of a block are the lanes of its loops.
 * Normals of all lanes; sums over a block, in the order in which the threads of a GPU's block
 * add (blocks.cuh): within 32 lanes by halves, then the eight sums one after another; all blocks
 * of a run.
 */
#ifndef SHOAL_PRICING_LANES_H
#define SHOAL_PRICING_LANES_H

#include "core/loops.h"
#include "core/real.h"
#include "pricing/plan.h"
#include "rng/normal.h"
#include "rng/philox_lanes.h"

/* ---- random numbers ---------------------------------------------------------------------------- */

enum { BLOCK_NORMALS = 16 / sizeof(real) }; /* normals of a Philox block: 2, in f32 4 */

/* The Philox blocks of paths first .. first + lanes - 1 at a step: word j of lane i is w[j * lanes + i]. */
static inline void lanes_words(const shoal_stream *stream, uint32_t step, uint64_t first, int lanes,
                               uint32_t *w) {
    uint32_t *const to[4] = { w, w + lanes, w + 2 * lanes, w + 3 * lanes };
    shoal_stream s = *stream;
    s.step = step;
    shoal_philox_blocks(&s, first, 0, lanes, to);
}

/* Two normals in f64 from all words of lane i. */
static inline shoal_normals lanes_pair(const uint32_t *w, int lanes, int i) {
    return shoal_boxmuller((uint64_t)w[i] << 32 | w[lanes + i],
                           (uint64_t)w[2 * lanes + i] << 32 | w[3 * lanes + i]);
}

/* Normals 2 pair and 2 pair + 1 of the Philox blocks of all lanes. */
static inline void lanes_normals(const uint32_t *w, int pair, int lanes, real *z0, real *z1) {
#ifdef SHOAL_SINGLE
    const uint32_t *u = w + 2 * pair * lanes, *v = u + lanes;
    EACH(i, lanes) {
        const shoal_normalsf z = shoal_boxmullerf(u[i], v[i]);
        z0[i] = z.z[0], z1[i] = z.z[1];
    }
#else
    (void)pair; /* there is one */
    EACH(i, lanes) {
        const shoal_normals z = lanes_pair(w, lanes, i);
        z0[i] = z.z[0], z1[i] = z.z[1];
    }
#endif
}

/* ---- sums -------------------------------------------------------------------------------------- */

static inline double lanes_sum(const double *x) {
    double total = 0;
    for (int warp = 0; warp < PRICE_BLOCK; warp += 32) {
        double half[16];
        for (int i = 0; i < 16; i++) half[i] = x[warp + i] + x[warp + i + 16];
        for (int distance = 8; distance > 0; distance /= 2)
            for (int i = 0; i < distance; i++) half[i] += half[i + distance];
        total += half[0];
    }
    return total;
}

static inline double lanes_product(const double *x, const double *y) {
    double product[PRICE_BLOCK];
    for (int i = 0; i < PRICE_BLOCK; i++) product[i] = x[i] * y[i];
    return lanes_sum(product);
}

/* The statistics of a control variate, and of an output. */
static inline void lanes_control(const double *c, double *to) {
    to[0] = lanes_sum(c), to[1] = lanes_product(c, c);
}
static inline void lanes_output(const double *x, const double *c, double *to) {
    to[0] = lanes_sum(x), to[1] = lanes_product(x, x), to[2] = lanes_product(x, c);
}

/* Adds the sums of blocks from .. from + count - 1 to those of their units, in their order. */
static inline void lanes_add_units(const price_frame *f, int64_t from, int64_t count) {
    for (int64_t b = 0; b < count; b++) {
        double *to = f->sums + (from + b) / PRICE_BLOCKS * f->width;
        const double *here = f->partial + b * f->width;
        const int begins = (from + b) % PRICE_BLOCKS == 0;
        for (int64_t k = 0; k < f->width; k++) to[k] = begins ? here[k] : to[k] + here[k];
    }
}

/* Block `number` of the samples of one group: the sums of its statistics. */
typedef void lanes_block(const void *job, int64_t number, int64_t group, double *sums);

/* All blocks of a job, which begins with its frame: threads share as many at a time as there is room for. */
static inline shoal_status lanes_run(const shoal_context *ctx, const void *job, int64_t groups,
                                     lanes_block *run_block) {
    const price_frame *f = job;
    const int64_t blocks = (f->samples + PRICE_BLOCK - 1) / PRICE_BLOCK;
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t here = blocks - from < f->room ? blocks - from : f->room;
        ON_THREADS(ctx->threads, dynamic)
        for (int64_t task = 0; task < here * groups; task++)
            if (!shoal_is_cancelled(ctx, from * groups + task, blocks * groups))
                run_block(job, from + task / groups, task % groups,
                          f->partial + task / groups * f->width);
        if (shoal_is_cancelled(ctx, from + here, blocks)) break;
        lanes_add_units(f, from, here);
    }
    return SHOAL_OK;
}

#endif
