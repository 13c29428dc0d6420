/* SPDX-License-Identifier: Apache-2.0
 *
 * expou.c - paths of the exponential Ornstein-Uhlenbeck model on the CPU (expou.h has its
 * equations): threads share blocks of PRICE_BLOCK samples, the lanes of their loops. A step of
 * Euler costs a Philox block (f32: half), a Box-Muller, and one exponential per walk; a
 * conditional step half a block and an exponential.
 */
#include "models/expou.h"

typedef struct given_lanes { /* expou_given, lane by lane */
    double y[LANES], vol[LANES], a[LANES], b[LANES];
} given_lanes;

typedef struct block { /* of samples */
    euler_block e;
    double normal[2][LANES];        /* conditional: normals             */
    given_lanes given[PRICE_WALKS]; /* conditional: Y and its integrals */
} block;

static void move(const euler_numbers *n, int variant, int in_s, real sign, const real (*z)[LANES],
                 real *y, real *x) {
    (void)variant; /* that is in_s */
    if (in_s)
        EACH(i, LANES) expou_step(n, 1, sign * z[0][i], sign * z[1][i], &y[i], &x[i]);
    else
        EACH(i, LANES) expou_step(n, 0, sign * z[0][i], sign * z[1][i], &y[i], &x[i]);
}

static void step_given(const price_job *job, const price_leg *leg, double sign, const double *z,
                       given_lanes *g) {
    EACH(i, LANES) {
        expou_given at = { g->y[i], g->vol[i], g->a[i], g->b[i] };
        expou_exact(job, leg, sign * z[i], &at);
        g->y[i] = at.y, g->vol[i] = at.vol, g->a[i] = at.a, g->b[i] = at.b;
    }
}

/* One normal per step: a Philox block serves two. */
static void given_leg(const price_job *job, const price_leg *leg, uint64_t first, block *b) {
    const int walks = job->signs * job->bumps;
    for (int k = 0; k < leg->steps; k++) {
        if (k % 2 == 0) {
            lanes_words(&job->normals, (leg->first + (uint32_t)k) / 2, first, LANES, b->e.w[0]);
            EACH(i, LANES) {
                const shoal_normals z = lanes_pair(b->e.w[0], LANES, i);
                b->normal[0][i] = z.z[0], b->normal[1][i] = z.z[1];
            }
        }
        for (int walk = 0; walk < walks; walk++)
            step_given(job, leg, walk < job->bumps ? 1 : -1, b->normal[k % 2], &b->given[walk]);
    }
    for (int walk = 0; walk < walks; walk++)
        for (int i = 0; i < LANES; i++) {
            const given_lanes *g = &b->given[walk];
            const expou_given at = { g->y[i], g->vol[i], g->a[i], g->b[i] };
            b->e.at[i].walk[walk] = expou_state(job, job->start[walk % job->bumps], &at);
        }
}

static void run_block(const void *given, int64_t number, int64_t group, double *sums) {
    const price_job *job = given;
    const uint64_t first = job->f.first + (uint64_t)number * LANES;
    block b;
    (void)group; /* one path serves all maturities */
    euler_begin(job, &b.e);
    for (int walk = 0; walk < PRICE_WALKS; walk++)
        for (int i = 0; i < LANES; i++) {
            const expou_given g = expou_begin(job->start[walk % job->bumps]);
            b.given[walk].y[i] = g.y, b.given[walk].vol[i] = g.vol;
            b.given[walk].a[i] = g.a, b.given[walk].b[i] = g.b;
        }
    for (int k = 0; k < job->legs; k++) {
        if (job->row == EXPOU_EULER)
            euler_leg(job, &job->leg[k], first, move, &b.e);
        else
            given_leg(job, &job->leg[k], first, &b);
        legs_sum(job, k, number, b.e.at, sums);
    }
}

static shoal_status run(shoal_context *ctx, const void *job) {
    return lanes_run(ctx, job, 1, run_block);
}

const price_method R(expou_paths) = { .blocks = 4 * PRICE_BLOCKS, .run = run };
