/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet.cu - Monte Carlo of bullet options on the GPU: one thread per sample of a point, one
 * block of threads per block of samples of one point; all points in one launch. Two kernels:
 *
 *   exact  the steps of bullet.h: the bits of the CPU.
 *   fast   f32, special-function instructions: y += drift + sqrt(-2 ln 2 vol^2 log2 u) cos t, and the sine for
 *          the next step. A Philox block, 40 instructions, serves four steps; a step has 10 more, 2 of them
 *          special, and 2 per count.
 */
#include "pricing/blocks.cuh"
#include "models/bullet.h"
#include "pricing/fast.cuh"
#include "rng/normal.h"

namespace {

template <int SIGNS, int BUMPS> struct walks {
    real y[2], level[PRICE_BUMPS], drift, vol;
    real count[2][PRICE_BUMPS];
    int looks;

    __device__ void begin(const bullet_job &job, const bullet_start &s) {
        drift = bullet_drift(&job), vol = (real)job.vol, looks = s.looks;
        for (int bump = 0; bump < BUMPS; bump++) level[bump] = (real)s.level[bump];
        for (int sign = 0; sign < 2; sign++) {
            y[sign] = 0;
            for (int bump = 0; bump < BUMPS; bump++) count[sign][bump] = (real)s.counted[bump];
        }
    }
    /* Step k by the normal z. */
    __device__ void step(int k, real z) {
#pragma unroll
        for (int sign = 0; sign < SIGNS; sign++) {
            y[sign] = bullet_step(drift, vol, sign ? -z : z, y[sign]);
            look(k, sign);
        }
    }
    /* Step k by what z and vol make together. */
    __device__ void step_by(int k, real root, real part) {
#pragma unroll
        for (int sign = 0; sign < SIGNS; sign++) {
            y[sign] = real_fma(root, sign ? -part : part, y[sign] + drift);
            look(k, sign);
        }
    }
    __device__ void look(int k, int sign) {
#pragma unroll
        for (int bump = 0; bump < BUMPS; bump++)
            count[sign][bump] += y[sign] < level[bump] && k < looks ? (real)1 : (real)0;
    }
};

/* The steps of a Philox block, from step k on; beyond the last nothing happens. */
template <int SIGNS, int BUMPS>
__device__ void exact_steps(walks<SIGNS, BUMPS> &w, const shoal_words &words, int k, int steps) {
#ifdef SHOAL_SINGLE
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const shoal_normalsf z = shoal_normal_pairf(&words, half);
        if (k + 2 * half < steps) w.step(k + 2 * half, z.z[0]);
        if (k + 2 * half + 1 < steps) w.step(k + 2 * half + 1, z.z[1]);
    }
#else
    const shoal_normals z = shoal_normal_pair(&words);
    w.step(k, z.z[0]);
    if (k + 1 < steps) w.step(k + 1, z.z[1]);
#endif
}

#ifdef SHOAL_SINGLE
template <int SIGNS, int BUMPS>
__device__ void fast_steps(walks<SIGNS, BUMPS> &w, const shoal_words &words, int k, int steps) {
    const float scale = 0x1.62e43p+0f * w.vol * w.vol; /* 2 ln 2 vol^2 */
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const float l = fast_log2(fast_uniform(words.word[2 * half]));
        const float root = fast_sqrt(fabsf(scale * l));
        float s, c;
        fast_sincos(fast_angle(words.word[2 * half + 1]), &s, &c);
        if (k + 2 * half < steps) w.step_by(k + 2 * half, root, c);
        if (k + 2 * half + 1 < steps) w.step_by(k + 2 * half + 1, root, s);
    }
}
#endif

template <int SIGNS, int BUMPS, bool FAST>
__global__ void __launch_bounds__(PRICE_BLOCK) walk(bullet_job job, int64_t from) {
    SHOAL_SHARED(double, shared);
    enum { EACH = 4 * sizeof(float) / sizeof(real) }; /* steps of a Philox block */
    const int64_t row = blockIdx.x / job.points, point = blockIdx.x % job.points;
    const int64_t sample = (from + row) * PRICE_BLOCK + threadIdx.x;
    const uint64_t path = bullet_path(job.f.first + (uint64_t)sample, point);
    const bullet_start start = job.start[point];
    walks<SIGNS, BUMPS> w;
    w.begin(job, start);
    for (int k = 0; k < start.steps; k += EACH) {
        const shoal_words words = words_at(job.normals, path, (uint32_t)(k / EACH));
#ifdef SHOAL_SINGLE
        if (FAST)
            fast_steps(w, words, k, start.steps);
        else
#endif
            exact_steps(w, words, k, start.steps);
    }
    double out[PRICE_OUTPUTS];
    const bool active = sample < job.f.samples;
    real y[2], count[2][PRICE_BUMPS]; /* copies, so that what the loop holds stays in registers */
#pragma unroll
    for (int sign = 0; sign < SIGNS; sign++) {
        y[sign] = w.y[sign];
#pragma unroll
        for (int bump = 0; bump < BUMPS; bump++) count[sign][bump] = w.count[sign][bump];
    }
    const double control = bullet_sample(&job, &start, y, count, out);
    const double c = active ? control : 0.0;
    const int each = job.outputs * PRICE_STATISTICS;
    double *sums = job.f.partial + row * job.f.width;
    block_control(c, shared, sums + point * PRICE_CONTROL);
    block_outputs(out, job.outputs, active, c, shared,
                  sums + job.points * PRICE_CONTROL + point * each);
}

typedef void (*kernel)(bullet_job, int64_t);

template <int SIGNS, int BUMPS> static kernel walk_of(const bullet_job *job) {
#ifdef SHOAL_SINGLE
    if (job->fast_math) return walk<SIGNS, BUMPS, true>;
#endif
    (void)job;
    return walk<SIGNS, BUMPS, false>;
}

} // namespace

static shoal_status run(shoal_context *ctx, const void *given) {
    const bullet_job *job = (const bullet_job *)given;
    const kernel chosen = kernel_of(job, walk_of<1, 1>(job), walk_of<1, 3>(job), walk_of<2, 1>(job),
                                    walk_of<2, 3>(job));
    return run_kernel(ctx, job, chosen, job->points, "bullet");
}

extern "C" const price_method R(bullet_paths) = { 64 * PRICE_BLOCKS, run };
