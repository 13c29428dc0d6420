/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.c - Monte Carlo of bullet options on the CPU. Threads share the pairs of a point and a
 * block of PRICE_BLOCK samples, the lanes. A Philox block makes the normals of two steps (f32:
 * four). All of it stays in the first cache; a step costs half a Philox block, half a
 * Box-Muller, an fma, and a comparison per count.
 */
#include "models/bullet.h"
#include "pricing/lanes.h"
#include <string.h>

enum { LANES = PRICE_BLOCK };

typedef struct block {            /* of samples; 2: the signs of its walks */
    uint32_t w[4 * LANES];        /* words of Philox       */
    real z[BLOCK_NORMALS][LANES]; /* normals               */
    real y[2][LANES];             /* log(S / x)            */
    real count[2][PRICE_BUMPS][LANES];
} block;

static void make_normals(const bullet_job *job, uint32_t number, uint64_t first, block *b) {
    lanes_words(&job->normals, number, first, LANES, b->w);
    for (int e = 0; e < BLOCK_NORMALS; e += 2)
        lanes_normals(b->w, e / 2, LANES, b->z[e], b->z[e + 1]);
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
        if (k % BLOCK_NORMALS == 0) make_normals(job, (uint32_t)(k / BLOCK_NORMALS), first, b);
        for (int sign = 0; sign < job->signs; sign++) {
            move(job, b->z[k % BLOCK_NORMALS], sign ? -1 : 1, b->y[sign]);
            for (int bump = 0; bump < job->bumps && k < s->looks; bump++)
                look(b->y[sign], (real)s->level[bump], b->count[sign][bump]);
        }
    }
}

static void run_block(const void *given, int64_t number, int64_t point, double *sums) {
    const bullet_job *job = given;
    const bullet_start *s = &job->start[point];
    const uint64_t sample = job->f.first + (uint64_t)number * LANES;
    const int64_t left = job->f.samples - number * LANES;
    block b;
    double x[PRICE_OUTPUTS][LANES], c[LANES];
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
    lanes_control(c, sums + point * PRICE_CONTROL);
    double *to = sums + job->points * PRICE_CONTROL + point * job->outputs * PRICE_STATISTICS;
    for (int o = 0; o < job->outputs; o++, to += PRICE_STATISTICS) lanes_output(x[o], c, to);
}

static shoal_status run(shoal_context *ctx, const void *job) {
    return lanes_run(ctx, job, ((const bullet_job *)job)->points, run_block);
}

const price_method R(bullet_paths) = { .blocks = 4 * PRICE_BLOCKS, .run = run };
