/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.c - paths of Heston's model on the CPU.
 *
 * Threads share blocks of PRICE_BLOCK samples; the samples of a block are the lanes of its
 * loops. A step of Euler's scheme draws the normals of all lanes and moves all walks of the
 * samples, which share them. An exact step tries the Poisson and the gamma law once in all
 * lanes. Lanes that are not clearly accepted are drawn one by one from their first attempt: the
 * same numbers, since attempts are addressed (rng/fill.c).
 *
 * A block stays in the first cache: 4 words, 2 normals and 2 numbers per walk for each lane. A
 * step of Euler costs one Philox block (f32: half), a Box-Muller, and 1 root and 8 operations
 * per walk.
 */
#include "models/heston.h"
#include <string.h>

typedef struct block { /* of samples */
    euler_block e;
    double variance[PRICE_WALKS][LANES]; /* exact, qe: v                                 */
    double integral[PRICE_WALKS][LANES]; /* exact: Int v dt; qe: log(S e^(-(r - q) t) / S0) */
    double draw[LANES];                  /* exact: N, then the gamma law, then v after the step   */
    uint8_t clear[LANES];                /* exact: the first attempt is accepted                  */
} block;

static inline void walk_by(const euler_numbers *n, int variant, int in_s, real sign,
                           const real (*z)[LANES], real *v, real *x) {
    EACH(i, LANES) heston_step(n, variant, in_s, sign * z[0][i], sign * z[1][i], &v[i], &x[i]);
}

/* Each loop has one variant, so that no lane tests it. */
static void move(const euler_numbers *n, int variant, int in_s, real sign, const real (*z)[LANES],
                 real *v, real *x) {
    switch (variant + (in_s ? EULER_IN_S : 0)) {
    case EULER_FULL: walk_by(n, EULER_FULL, 0, sign, z, v, x); break;
    case EULER_PLUS: walk_by(n, EULER_PLUS, 0, sign, z, v, x); break;
    case EULER_ABS: walk_by(n, EULER_ABS, 0, sign, z, v, x); break;
    case EULER_IN_S + EULER_FULL: walk_by(n, EULER_FULL, 1, sign, z, v, x); break;
    case EULER_IN_S + EULER_PLUS: walk_by(n, EULER_PLUS, 1, sign, z, v, x); break;
    default: walk_by(n, EULER_ABS, 1, sign, z, v, x);
    }
}

/* ---- exact steps ----------------------------------------------------------------------------- */

static shoal_words words_of(const block *b, int i) {
    const shoal_words w = { { b->e.w[0][i], b->e.w[1][i], b->e.w[2][i], b->e.w[3][i] } };
    return w;
}

/* N of every lane into draw: the first attempts of all, then the rest. */
static void poisson_lanes(const shoal_stream *s, uint64_t first, double lambda, const double *v,
                          block *b) {
    EACH(i, LANES) {
        const double mean = lambda * v[i];
        const int large = (mean >= 10.0) & (mean <= CIR_MEAN_MAX);
        const shoal_poisson_law law = shoal_poisson_large_law(shoal_pick(large, mean, 10.0));
        const shoal_words w = words_of(b, i);
        const shoal_poisson_try t = shoal_poisson_attempt(&law, &w);
        b->draw[i] = t.k;
        b->clear[i] = (uint8_t)(large & shoal_poisson_clear(&law, &t));
    }
    for (int i = 0; i < LANES; i++)
        if (!b->clear[i] && lambda * v[i] <= CIR_MEAN_MAX)
            b->draw[i] = (double)shoal_poisson(lambda * v[i], s, first + (uint64_t)i);
}

/* Gamma(shape + N) of every lane into draw, in the same way. */
static void gamma_lanes(const shoal_stream *second, uint64_t first, double shape, block *b) {
    EACH(i, LANES) {
        const double alpha = shape + b->draw[i];
        const int plain = alpha >= 1.0;
        const shoal_gamma_law law = shoal_gamma_law_of(shoal_pick(plain, alpha, 1.0));
        const shoal_words w = words_of(b, i);
        const shoal_gamma_try t = shoal_gamma_attempt(&law, &w);
        b->clear[i] = (uint8_t)(plain & shoal_gamma_clear(&t));
        b->draw[i] = shoal_pick(b->clear[i], law.d * t.v, alpha);
    }
    for (int i = 0; i < LANES; i++) {
        const double alpha = b->draw[i];
        if (b->clear[i]) continue;
        b->draw[i] =
            alpha >= SHOAL_GAMMA_MIN ? shoal_gamma(alpha, second, first + (uint64_t)i) : 0.0;
    }
}

/* One exact step of the variance v of every lane, and its part of the integral. */
static void exact_step(const price_job *job, const price_leg *leg, uint32_t step, uint64_t first,
                       block *b, double *v, double *integral) {
    shoal_stream s = job->variance;
    s.step = step;
    const shoal_stream second = shoal_second_part(&s);
    if (job->noise == 0) {
        EACH(i, LANES) b->draw[i] = cir_drift(job, leg, v[i]);
    } else if (job->variant == VARIANCE_NORMAL && job->shape > 0.5) {
        for (int i = 0; i < LANES; i++)
            b->draw[i] = leg->factor * cir_draw(job->shape, leg->lambda * v[i], VARIANCE_NORMAL, &s,
                                                first + (uint64_t)i);
    } else {
        lanes_words(&s, step, first, LANES, b->e.w[0]);
        poisson_lanes(&s, first, leg->lambda, v, b);
        lanes_words(&second, step, first, LANES, b->e.w[0]);
        gamma_lanes(&second, first, job->shape, b);
        for (int i = 0; i < LANES; i++)
            if (!(leg->lambda * v[i] <= CIR_MEAN_MAX))
                b->draw[i] = cir_draw(job->shape, leg->lambda * v[i], VARIANCE_POISSON, &s,
                                      first + (uint64_t)i);
        EACH(i, LANES) b->draw[i] *= leg->factor;
    }
    EACH(i, LANES) {
        integral[i] += fma(leg->weight, v[i] + b->draw[i], leg->base);
        v[i] = b->draw[i];
    }
}

static void exact_leg(const price_job *job, const price_leg *leg, int number, uint64_t first,
                      block *b) {
    for (int k = 0; k < leg->steps; k++)
        for (int bump = 0; bump < job->bumps; bump++)
            exact_step(job, leg, leg->first + (uint32_t)k, first, b, b->variance[bump],
                       b->integral[bump]);
    lanes_words(&job->last, (uint32_t)number, first, LANES, b->e.w[0]);
    for (int i = 0; i < LANES; i++) {
        const double g = lanes_pair(b->e.w[0], LANES, i).z[0];
        for (int walk = 0; walk < job->signs * job->bumps; walk++) {
            const int bump = walk % job->bumps;
            b->e.at[i].walk[walk] = heston_state(job, leg, job->start[bump], b->variance[bump][i],
                                                 b->integral[bump][i], walk < job->bumps ? g : -g);
        }
    }
}

/* ---- QE -------------------------------------------------------------------------------------- */

static void qe_leg(const price_job *job, const price_leg *leg, uint64_t first, block *b) {
    const qe_numbers n = qe_numbers_of(job, leg);
    const int walks = job->signs * job->bumps;
    double z[2][LANES];
    for (int k = 0; k < leg->steps; k++) {
        lanes_words(&job->normals, leg->first + (uint32_t)k, first, LANES, b->e.w[0]);
        EACH(i, LANES) {
            const shoal_normals pair = lanes_pair(b->e.w[0], LANES, i);
            z[0][i] = pair.z[0], z[1][i] = pair.z[1];
        }
        for (int walk = 0; walk < walks; walk++) {
            const double sign = walk < job->bumps ? 1 : -1;
            double *v = b->variance[walk], *x = b->integral[walk];
            if (job->noise > 0)
                EACH(i, LANES) qe_step(&n, sign * z[0][i], sign * z[1][i], &v[i], &x[i]);
            else
                EACH(i, LANES) qe_drift(job, leg, sign * z[1][i], &v[i], &x[i]);
        }
    }
    for (int walk = 0; walk < walks; walk++) EACH(i, LANES) {
            b->e.at[i].walk[walk].f = shoal_exp(b->integral[walk][i]);
            b->e.at[i].walk[walk].s = 0;
        }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void run_block(const void *given, int64_t number, int64_t group, double *sums) {
    const price_job *job = given;
    const uint64_t first = job->f.first + (uint64_t)number * LANES;
    block b;
    (void)group; /* one path serves all maturities */
    for (int walk = 0; walk < job->signs * job->bumps; walk++) {
        for (int i = 0; i < LANES; i++) b.variance[walk][i] = job->start[walk % job->bumps];
        memset(b.integral[walk], 0, sizeof b.integral[walk]);
    }
    euler_begin(job, &b.e);
    for (int k = 0; k < job->legs; k++) {
        if (job->row == HESTON_EULER)
            euler_leg(job, &job->leg[k], first, move, &b.e);
        else if (job->row == HESTON_QE)
            qe_leg(job, &job->leg[k], first, &b);
        else
            exact_leg(job, &job->leg[k], k, first, &b);
        legs_sum(job, k, number, b.e.at, sums);
    }
}

static shoal_status run(shoal_context *ctx, const void *job) {
    return lanes_run(ctx, job, 1, run_block);
}

const price_method R(heston_paths) = { .blocks = 4 * PRICE_BLOCKS, .run = run };
