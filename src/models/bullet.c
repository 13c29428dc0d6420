/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.c - Monte Carlo of bullet options on the CPU. Threads share the pairs of a point and a block of
 * PRICE_BLOCK samples; the samples are the lanes. A block of Philox makes the normals of two steps (f32:
 * four). All in the first cache; a step costs half a Philox block and half a Box-Muller, an fma, and
 * a comparison for each count.
 */
#include "models/bullet.h"
#include "pricing/lanes.h"
#include "rng/normal.h"
#include "rng/philox_lanes.h"
#include <string.h>

enum { LANES = PRICE_BLOCK };
#ifdef SHOAL_SINGLE
enum { EACH_BLOCK = 4 }; /* normals of a Philox block */
#else
enum { EACH_BLOCK = 2 };
#endif

typedef struct block {         /* of samples; 2: the signs of its walks */
    uint32_t w[4][LANES];      /* words of Philox       */
    real z[EACH_BLOCK][LANES]; /* normals               */
    real y[2][LANES];          /* log(S / x)            */
    real count[2][PRICE_BUMPS][LANES];
} block;

static void make_normals(const bullet_job *job, uint32_t number, uint64_t first, block *b) {
    shoal_stream s = job->normals;
    uint32_t *const w[4] = { b->w[0], b->w[1], b->w[2], b->w[3] };
    s.step = number;
    shoal_philox_blocks(&s, first, 0, LANES, w);
#ifdef SHOAL_SINGLE
    for (int half = 0; half < 2; half++) EACH(i, LANES) {
            const shoal_normalsf z = shoal_boxmullerf(b->w[2 * half][i], b->w[2 * half + 1][i]);
            b->z[2 * half][i] = z.z[0], b->z[2 * half + 1][i] = z.z[1];
        }
#else
    EACH(i, LANES) {
        const shoal_normals z = shoal_boxmuller((uint64_t)b->w[0][i] << 32 | b->w[1][i],
                                                (uint64_t)b->w[2][i] << 32 | b->w[3][i]);
        b->z[0][i] = z.z[0], b->z[1][i] = z.z[1];
    }
#endif
}

static void move(const bullet_job *job, const real *z, real sign, real *y) {
    const real drift = bullet_drift(job), vol = (real)job->vol;
    EACH(i, LANES) y[i] = bullet_step(drift, vol, sign * z[i], y[i]);
}

static void look(const real *y, real level, real *count) {
    EACH(i, LANES) count[i] += real_pick(y[i] < level, 1, 0);
}

static void walk(const bullet_job *job, const bullet_start *s, uint64_t first, block *b) {
    memset(b->y, 0, sizeof b->y);
    for (int sign = 0; sign < job->signs; sign++)
        for (int bump = 0; bump < job->bumps; bump++)
            for (int i = 0; i < LANES; i++) b->count[sign][bump][i] = (real)s->counted[bump];
    for (int k = 0; k < s->steps; k++) {
        if (k % EACH_BLOCK == 0) make_normals(job, (uint32_t)(k / EACH_BLOCK), first, b);
        for (int sign = 0; sign < job->signs; sign++) {
            move(job, b->z[k % EACH_BLOCK], sign ? -1 : 1, b->y[sign]);
            for (int bump = 0; bump < job->bumps && k < s->looks; bump++)
                look(b->y[sign], (real)s->level[bump], b->count[sign][bump]);
        }
    }
}

static void run_block(const bullet_job *job, int64_t number, int64_t point, double *sums) {
    const bullet_start *s = &job->start[point];
    const uint64_t sample = job->f.first + (uint64_t)number * LANES;
    const int64_t left = job->f.samples - number * LANES;
    block b;
    double x[PRICE_OUTPUTS][LANES], c[LANES], product[LANES];
    walk(job, s, bullet_path(sample, point), &b);
    for (int i = 0; i < LANES; i++) {
        double out[PRICE_OUTPUTS];
        const real y[2] = { b.y[0][i], b.y[1][i] };
        real count[2][PRICE_BUMPS];
        for (int sign = 0; sign < job->signs; sign++)
            for (int bump = 0; bump < job->bumps; bump++)
                count[sign][bump] = b.count[sign][bump][i];
        c[i] = bullet_sample(job, s, y, (const real(*)[PRICE_BUMPS])count, out);
        if (i >= left) c[i] = 0;
        for (int o = 0; o < job->outputs; o++) x[o][i] = i < left ? out[o] : 0;
    }
    double *to = sums + point * PRICE_CONTROL;
    to[0] = lanes_sum(c);
    to[1] = lanes_sum(lanes_product(c, c, product));
    to = sums + job->points * PRICE_CONTROL + point * job->outputs * PRICE_STATISTICS;
    for (int o = 0; o < job->outputs; o++, to += PRICE_STATISTICS) {
        to[0] = lanes_sum(x[o]);
        to[1] = lanes_sum(lanes_product(x[o], x[o], product));
        to[2] = lanes_sum(lanes_product(x[o], c, product));
    }
}

static shoal_status run(shoal_context *ctx, const void *given) {
    const bullet_job *job = given;
    const price_frame *f = &job->f;
    const int64_t blocks = (f->samples + LANES - 1) / LANES;
    const int workers = ctx->threads;
    (void)workers; /* without OpenMP */
    for (int64_t from = 0; from < blocks; from += f->room) {
        const int64_t here = blocks - from < f->room ? blocks - from : f->room;
#pragma omp parallel for num_threads(workers) schedule(dynamic)
        for (int64_t task = 0; task < here * job->points; task++)
            run_block(job, from + task / job->points, task % job->points,
                      f->partial + task / job->points * f->width);
        lanes_add_units(f, from, here);
    }
    return SHOAL_OK;
}

const price_method R(bullet_paths) = { .blocks = 4 * PRICE_BLOCKS, .run = run };
