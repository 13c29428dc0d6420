/* SPDX-License-Identifier: Apache-2.0
 *
 * heston.cu - paths of Heston's model on the GPU: one thread per sample. Euler's steps of
 * heston.h by euler.cuh; exact steps are in exact.cu. With SHOAL_FAST in f32, euler_fast has
 * special-function instructions. It keeps the variance in units of a = 2 ln 2 sigma^2 dt: with L
 * = log2 u, root = sqrt(-w+ L) and angle t, a step is
 *
 *     w' = g(w + b - kappa dt w+ + root cos t),   Y += root sin t,   I += w+,
 *
 * one root instead of two (that of Box-Muller and that of v), and no sum for x: at the maturity
 * x = -a dt I / 2 + (a / sigma) (rho X + sqrt(1 - rho^2) Y). X, the sum of root cos t, follows
 * from w, I and b. A block of Philox, 40 instructions, serves two steps; a step has 16 more, 4
 * of them special.
 */
#include "models/euler.cuh"
#include "models/heston.h"
#include "pricing/fast.cuh"

namespace {

template <int IN_S> struct heston_model {
    /* Left alone the compiler makes room for more blocks, by instructions in the loop over the steps. */
    static constexpr int blocks(int signs, int bumps) {
        return signs * bumps == 1 ? 4 : signs * bumps == 6 && sizeof(real) == 8 ? 2 : 3;
    }
    __device__ static void step(const euler_numbers &n, const price_job &job, real z1, real z2,
                                real &v, real &x) {
        heston_step(&n, job.variant, IN_S, z1, z2, &v, &x);
    }
};

#ifdef SHOAL_SINGLE

constexpr int fast_blocks(int bumps) { return bumps == 1 ? 4 : 3; }

struct fast_walk {
    float w, y, i, x; /* x: only if g makes it impossible to derive it from the others */
};

/* One step: l = log2 u, and the sine and cosine of the angle with the sign of the walk. */
template <int VARIANT>
__device__ void fast_step(fast_walk &walk, float pull, float reversion, float l, float s, float c) {
    const float positive = fmaxf(walk.w, 0.0f);
    const float root = fast_sqrt(fabsf(positive * l));
    walk.y = fmaf(root, s, walk.y);
    walk.i += positive;
    const float next = fmaf(root, c, fmaf(-reversion, positive, walk.w + pull));
    if (VARIANT != EULER_FULL) walk.x = fmaf(root, c, walk.x);
    walk.w = VARIANT == EULER_FULL ? next : VARIANT == EULER_PLUS ? fmaxf(next, 0.0f) : fabsf(next);
}

template <int SIGNS, int BUMPS, int VARIANT>
__global__ void __launch_bounds__(PRICE_BLOCK, fast_blocks(BUMPS))
    euler_fast(price_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { WALKS = SIGNS * BUMPS };
    const int64_t sample = (from + blockIdx.x) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = job.f.first + (uint64_t)sample;
    double v[WALKS], x[WALKS];
    for (int walk = 0; walk < WALKS; walk++) v[walk] = job.start[walk % BUMPS], x[walk] = 0.0;
    for (int number = 0; number < job.legs; number++) {
        const price_leg leg = job.leg[number];
        const double unit = 0x1.62e42fefa39efp+0 * job.noise * job.noise * leg.dt; /* a */
        const float reversion = (float)(job.reversion * leg.dt);
        const float pull = leg.steps ? (float)(job.reversion * job.mean * leg.dt / unit) : 0.0f;
        fast_walk walks[WALKS];
        for (int walk = 0; walk < WALKS; walk++)
            walks[walk] = { leg.steps ? (float)(v[walk] / unit) : 0.0f, 0.0f, 0.0f, 0.0f };
        for (int k = 0; k < leg.steps; k += 2) {
            const shoal_words w = words_at(job.normals, path, (leg.first + (uint32_t)k) / 2);
#pragma unroll
            for (int half = 0; half < 2; half++) {
                if (k + half == leg.steps) break;
                const float l = fast_log2(fast_uniform(w.word[2 * half]));
                float s, c;
                fast_sincos(fast_angle(w.word[2 * half + 1]), &s, &c);
#pragma unroll
                for (int walk = 0; walk < WALKS; walk++)
                    fast_step<VARIANT>(walks[walk], pull, reversion, l, walk < BUMPS ? s : -s,
                                       walk < BUMPS ? c : -c);
            }
        }
        price_state at[WALKS];
        for (int walk = 0; walk < WALKS; walk++) {
            const fast_walk &end = walks[walk];
            const double last = unit * (double)end.w;
            double along = (double)end.x; /* X */
            if (VARIANT == EULER_FULL && leg.steps)
                along = (last - v[walk]) / unit - (double)leg.steps * (double)pull +
                        (double)reversion * (double)end.i;
            if (leg.steps)
                x[walk] += -0.5 * unit * leg.dt * (double)end.i +
                           unit / job.noise *
                               (job.rho * along + sqrt(1.0 - job.rho * job.rho) * (double)end.y);
            if (leg.steps) v[walk] = last;
            at[walk].f = shoal_exp(x[walk]), at[walk].s = 0.0;
        }
        sum_leg<SIGNS, BUMPS>(job, number, sample < job.f.samples, at, shared,
                              job.f.partial + (int64_t)blockIdx.x * job.f.width);
    }
}

#endif

typedef void (*kernel)(price_job, int64_t);

template <int SIGNS, int BUMPS> kernel euler_of(const price_job *job) {
#ifdef SHOAL_SINGLE
    if (job->fast_math && job->noise > 0 && !job->in_s) {
        if (job->variant == EULER_PLUS) return euler_fast<SIGNS, BUMPS, EULER_PLUS>;
        if (job->variant == EULER_ABS) return euler_fast<SIGNS, BUMPS, EULER_ABS>;
        return euler_fast<SIGNS, BUMPS, EULER_FULL>;
    }
#endif
    if (job->in_s) return euler<heston_model<1>, SIGNS, BUMPS>;
    return euler<heston_model<0>, SIGNS, BUMPS>;
}

} // namespace

static shoal_status run(shoal_context *ctx, const void *given) {
    const price_job *job = (const price_job *)given;
    if (job->row != HESTON_EULER) return shoal_exact_heston(ctx, job);
    const kernel chosen = kernel_of(job, euler_of<1, 1>(job), euler_of<1, 3>(job),
                                    euler_of<2, 1>(job), euler_of<2, 3>(job));
    return run_kernel(ctx, job, chosen, 1, "heston");
}

extern "C" const price_method R(heston_paths) = { 64 * PRICE_BLOCKS, run };
