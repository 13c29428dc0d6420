/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.cu - arrays of random numbers on the GPU. Three kernels:
 *
 *   blocks   one thread per block of Philox, 16 bytes of numbers in one store: words, uniform, normal.
 *   draws    one thread per number, for laws that may reject. A tile of numbers is tried once; those
 *            that are not clearly accepted are listed in shared memory and drawn from the start by a
 *            full block of threads, so that a warp is not held up by the few.
 *   points   Sobol. A thread keeps to one dimension and walks through points 2^m apart; of eight
 *            steps seven are one XOR with a word it holds (the bits of 1 to 7 change in a fixed order),
 *            the eighth is shoal_sobol_skip(). Neighbours write neighbouring numbers in either layout.
 *
 * Only parameters and directions are read; bytes written: the numbers themselves. The floor is the
 * memory's store rate; at 4 bytes per number that leaves about 28 instructions per number on an H200.
 * Philox takes 20 of them.
 */
#include "core/launch.cuh"
#include "core/real.h"
#include "rng/plan.h"

namespace {

enum { THREADS = 256, TILE = 8 * THREADS, STEPS = 64, EIGHT = 8 };

/* ---- laws that take one block for every 16 bytes --------------------------------------------- */

/* EACH: blocks of Philox per thread, more if the numbers are cheap. */
struct cheap_law {
    typedef real number;
    enum { EACH = 4, GROUP = 16 / sizeof(real) };
};

#ifdef SHOAL_SINGLE

__device__ inline real uniform_of(const shoal_words &w, int j) {
    return shoal_uniformf_of(w.word[j]);
}
__device__ inline real icdf_of(const shoal_words &w, int j) { return shoal_icdff_of(w.word[j]); }

struct boxmuller_law : cheap_law {
    __device__ static void make(const shoal_words &w, number *x) {
        const shoal_normalsf y = shoal_normal_pairf(&w, 0), z = shoal_normal_pairf(&w, 1);
        x[0] = y.z[0], x[1] = y.z[1], x[2] = z.z[0], x[3] = z.z[1];
    }
};

/* Box-Muller with the GPU's own approximations: SHOAL_FAST. One special-function instruction each for
 * logarithm, root, sine and cosine; the logarithm is wrong by about 2^-21 near u = 1, hence the maximum
 * with 0. In the emulator it is the exact one. */
__device__ inline shoal_normalsf fast_boxmullerf(uint32_t radius_word, uint32_t angle_word) {
#ifdef __CUDA_ARCH__
    const float u = shoal_radius_uniformf(radius_word);
    const float square = fmaxf(-2.0f * __logf(u), 0.0f);
    /* pi (quarter/2 + r) of shoal_boxmullerf: pi w' 2^-31 - pi/4, w' with one bit flipped */
    const float angle =
        fmaf((float)(int32_t)(angle_word ^ 0x20000000u), 0x1.921fb6p-30f, -0x1.921fb6p-1f);
    float r, s, c;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(square));
    __sincosf(angle, &s, &c);
    return { { r * c, r * s } };
#else
    return shoal_boxmullerf(radius_word, angle_word);
#endif
}

struct fast_boxmuller_law : cheap_law {
    __device__ static void make(const shoal_words &w, number *x) {
        const shoal_normalsf y = fast_boxmullerf(w.word[0], w.word[1]);
        const shoal_normalsf z = fast_boxmullerf(w.word[2], w.word[3]);
        x[0] = y.z[0], x[1] = y.z[1], x[2] = z.z[0], x[3] = z.z[1];
    }
};

/* A point's coordinate from its digits: the first 32, and those of the shift that follow. */
template <bool NORMAL> __device__ real point_of(uint32_t word, uint32_t) {
    return NORMAL ? shoal_icdff_of(word) : shoal_uniformf_of(word);
}

#else

__device__ inline real uniform_of(const shoal_words &w, int j) { return shoal_uniform(&w, j); }
__device__ inline real icdf_of(const shoal_words &w, int j) {
    return shoal_icdf_of(shoal_half(&w, j));
}

struct boxmuller_law : cheap_law {
    __device__ static void make(const shoal_words &w, number *x) {
        const shoal_normals z = shoal_normal_pair(&w);
        x[0] = z.z[0], x[1] = z.z[1];
    }
};

typedef boxmuller_law fast_boxmuller_law; /* nothing is faster in double */

template <bool NORMAL> __device__ real point_of(uint32_t word, uint32_t rest) {
    const uint64_t digits = (uint64_t)word << 32 | rest;
    return NORMAL ? shoal_icdf_of(digits) : shoal_uniform_of(digits);
}

#endif

struct uniform_law : cheap_law {
    __device__ static void make(const shoal_words &w, number *x) {
        for (int j = 0; j < GROUP; j++) x[j] = uniform_of(w, j);
    }
};

struct icdf_law : cheap_law {
    enum { EACH = 1 };
    __device__ static void make(const shoal_words &w, number *x) {
        for (int j = 0; j < GROUP; j++) x[j] = icdf_of(w, j);
    }
};

/* Tiles of Law::EACH blocks per thread. `aligned`: number `first` begins a block, and out lies at a
 * multiple of 16 bytes: a whole tile then needs no tests of single numbers. */
template <class Law> __global__ void __launch_bounds__(THREADS) blocks(rng_job job, bool aligned) {
    typedef typename Law::number number;
    enum { GROUP = 16 / sizeof(number), SPAN = Law::EACH * THREADS };
    const uint64_t begin = job.first / GROUP;
    const int64_t all = (int64_t)((job.first + (uint64_t)job.count - 1) / GROUP - begin) + 1;
    const int64_t ahead = (int64_t)(job.first % GROUP); /* numbers of the first block left out */
    for (int64_t tile = (int64_t)blockIdx.x * SPAN; tile < all; tile += (int64_t)gridDim.x * SPAN) {
        const int64_t mine = tile + threadIdx.x, at = mine * GROUP - ahead;
        const bool whole = aligned && (tile + SPAN) * GROUP <= job.count;
        number *out = (number *)job.out + at;
#pragma unroll
        for (int e = 0; e < Law::EACH; e++) {
            union {
                number x[GROUP];
                int4 vector;
            } made;
            Law::make(shoal_block(&job.stream, begin + (uint64_t)(mine + e * THREADS), 0), made.x);
            const int here = e * THREADS * GROUP;
            if (whole)
                shoal_store_streaming((int4 *)(out + here), made.vector);
            else
                for (int j = 0; j < GROUP; j++)
                    if (at + here + j >= 0 && at + here + j < job.count) out[here + j] = made.x[j];
        }
    }
}

/* ---- laws that may reject -------------------------------------------------------------------- */

/* quick: the first attempt, true if it is clearly accepted; full: the number whatever it takes. */

struct gamma_law {
    typedef real number;
    __device__ static real finish(const rng_job &job, uint64_t path, double v) {
        return (real)(job.variant == GAMMA_LOG
                          ? shoal_gamma_log_of(&job.gamma, v, &job.stream, path)
                          : shoal_gamma_value_of(&job.gamma, v, &job.stream, path));
    }
    __device__ static bool quick(const rng_job &job, int64_t, uint64_t path, real *x) {
        const shoal_words w = shoal_block(&job.stream, path, 0);
        const shoal_gamma_try t = shoal_gamma_attempt(&job.gamma, &w);
        *x = finish(job, path, t.v);
        return shoal_gamma_clear(&t);
    }
    __device__ static real full(const rng_job &job, int64_t, uint64_t path, bool *) {
        return finish(job, path, shoal_gamma_v(&job.gamma, &job.stream, path));
    }
};

/* A parameter for each number, or two draws: everything in full. */
struct each_law {
    typedef real number;
    __device__ static bool quick(const rng_job &, int64_t, uint64_t, real *) { return false; }
    __device__ static real full(const rng_job &job, int64_t i, uint64_t path, bool *failed) {
        const double parameter = job.parameters ? job.parameters[i] : job.lambda;
        const double value = rng_draw(&job, parameter, path);
        *failed = value != value;
        return (real)value;
    }
};

/* Whole numbers, which do not depend on the type: the object for float has their kernels. */
#ifdef SHOAL_SINGLE

struct words_law {
    typedef uint32_t number;
    enum { EACH = 4 };
    __device__ static void make(const shoal_words &w, number *x) {
        for (int j = 0; j < 4; j++) x[j] = w.word[j];
    }
};

struct poisson_law {
    typedef uint32_t number;
    __device__ static bool quick(const rng_job &job, int64_t, uint64_t path, uint32_t *x) {
        const shoal_words w = shoal_block(&job.stream, path, 0);
        const shoal_poisson_try t = shoal_poisson_attempt(&job.poisson, &w);
        const bool clear = shoal_poisson_clear(&job.poisson, &t);
        *x = clear ? (uint32_t)t.k : 0;
        return clear;
    }
    __device__ static uint32_t full(const rng_job &job, int64_t, uint64_t path, bool *) {
        return shoal_poisson_reject(&job.poisson, &job.stream, path);
    }
};

struct small_poisson_law { /* lambda < 10 never rejects */
    typedef uint32_t number;
    __device__ static bool quick(const rng_job &job, int64_t, uint64_t path, uint32_t *x) {
        *x = shoal_poisson_draw(&job.poisson, &job.stream, path);
        return true;
    }
    __device__ static uint32_t full(const rng_job &, int64_t, uint64_t, bool *) { return 0; }
};

struct each_poisson_law {
    typedef uint32_t number;
    __device__ static bool quick(const rng_job &, int64_t, uint64_t, uint32_t *) { return false; }
    __device__ static uint32_t full(const rng_job &job, int64_t i, uint64_t path, bool *failed) {
        const uint32_t count = shoal_poisson(job.parameters[i], &job.stream, path);
        *failed = count == SHOAL_RNG_NONE;
        return count;
    }
};

#endif

template <class Law> __global__ void __launch_bounds__(THREADS) draws(rng_job job) {
    typedef typename Law::number number;
    SHOAL_SHARED(uint32_t, shared); /* how many wait; then who, 16 bits each */
    uint16_t *waiting = (uint16_t *)(shared + 1);
    number *out = (number *)job.out;
    const int id = (int)threadIdx.x;
    for (int64_t tile = (int64_t)blockIdx.x * TILE; tile < job.count;
         tile += (int64_t)gridDim.x * TILE) {
        const int size = job.count - tile < TILE ? (int)(job.count - tile) : TILE;
        if (id == 0) shared[0] = 0;
        __syncthreads();
        for (int i = id; i < size; i += THREADS) {
            number x;
            if (Law::quick(job, tile + i, job.first + (uint64_t)(tile + i), &x))
                out[tile + i] = x;
            else
                waiting[atomicAdd(&shared[0], 1u)] = (uint16_t)i;
        }
        __syncthreads();
        const int waiters = (int)shared[0];
        for (int j = id; j < waiters; j += THREADS) {
            const int64_t i = tile + waiting[j];
            bool failed = false;
            out[i] = Law::full(job, i, job.first + (uint64_t)i, &failed);
            if (failed) atomicAdd(job.failed, 1ull);
        }
        __syncthreads();
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

/* A block takes `wide` dimensions (blockIdx.y counts those before it) and 2^m rows of points. */
template <bool NORMAL>
__global__ void __launch_bounds__(THREADS) points(rng_job job, int wide, int m) {
    SHOAL_SHARED(uint32_t, directions); /* 33 apart: threads of two dimensions do not collide */
    const int id = (int)threadIdx.x, base = (int)blockIdx.y * wide;
    const int here = job.dimensions - base < wide ? (int)(job.dimensions - base) : wide;
    for (int i = id; i < here * SHOAL_SOBOL_BITS; i += THREADS)
        directions[i / SHOAL_SOBOL_BITS * 33 + i % SHOAL_SOBOL_BITS] =
            job.directions[base * SHOAL_SOBOL_BITS + i];
    __syncthreads();
    const int mine = id % wide, row = id / wide;
    if (mine >= here || row >= 1 << m) return;
    const uint32_t *columns = directions + mine * 33;
    const uint32_t shift = (uint32_t)(job.shift[base + mine] >> 32);
    const uint32_t rest = (uint32_t)job.shift[base + mine];
    real *out = (real *)job.out + (base + mine) * job.dimension_stride;
    const int64_t rows = (int64_t)1 << m, span = STEPS * rows; /* points of a block at a time */
    const int64_t stride = job.point_stride << m;
    const uint32_t below = m > 0 ? columns[m - 1] : 0;
    const uint32_t step[3] = { columns[m] ^ below, columns[m + 1] ^ below, columns[m + 2] ^ below };
    const int64_t begin = (int64_t)job.first / span * span;
    for (int64_t start = begin + blockIdx.x * span; start < (int64_t)job.first + job.count;
         start += gridDim.x * span) {
        const int64_t at = start + row - (int64_t)job.first;
        /* the steps to be stored */
        const int from = at < 0 ? (int)((-at + rows - 1) >> m) : 0;
        const int to = at + span <= job.count ? STEPS : (int)((job.count - at + rows - 1) >> m);
        uint32_t index = (uint32_t)(start + row), word = shoal_sobol_word(columns, index) ^ shift;
        real *there = out + at * job.point_stride;
        for (int k = 0; k < STEPS; k += EIGHT) {
            uint32_t words[EIGHT] = { word };
#pragma unroll
            for (int e = 1; e < EIGHT; e++)
                words[e] = words[e - 1] ^ (e % 2 ? step[0] : e % 4 ? step[1] : step[2]);
#pragma unroll
            for (int e = 0; e < EIGHT; e++)
                if ((unsigned)(k + e - from) < (unsigned)(to - from))
                    shoal_store_streaming(there + e * stride, point_of<NORMAL>(words[e], rest));
            there += EIGHT * stride;
            index += EIGHT << m;
            word = shoal_sobol_skip(columns, words[EIGHT - 1], index - (1u << m), m);
        }
    }
}

} // namespace

/* ---- launching ------------------------------------------------------------------------------- */

template <class Law> static void launch_blocks(shoal_context *ctx, const rng_job *job) {
    enum { GROUP = 16 / sizeof(typename Law::number) };
    const bool aligned = job->first % GROUP == 0 && (uintptr_t)job->out % 16 == 0;
    const unsigned wanted = shoal_blocks(job->count / GROUP + 2, THREADS * Law::EACH);
    const unsigned limit = 32 * (unsigned)ctx->multiprocessors; /* longer lives, fewer starts */
    SHOAL_LAUNCH((blocks<Law>), dim3(wanted < limit ? wanted : limit), dim3(THREADS), 0,
                 ctx->stream, *job, aligned);
}

template <class Law> static void launch_draws(shoal_context *ctx, const rng_job *job) {
    const size_t shared = sizeof(uint32_t) + TILE * sizeof(uint16_t);
    SHOAL_LAUNCH((draws<Law>), dim3(shoal_blocks(job->count, TILE)), dim3(THREADS), shared,
                 ctx->stream, *job);
}

static void launch_points(shoal_context *ctx, const rng_job *job) {
    int wide = 1, m = 8;
    if (job->dimension_stride == 1) { /* dimensions lie side by side */
        const int64_t parts = (job->dimensions + THREADS - 1) / THREADS;
        wide = (int)((job->dimensions + parts - 1) / parts);
        while (wide << m > THREADS) m--;
    }
    const int64_t span = (int64_t)STEPS << m;
    const int64_t spans = ((int64_t)(job->first % (uint64_t)span) + job->count + span - 1) / span;
    const dim3 grid(shoal_blocks(spans, 1), (unsigned)((job->dimensions + wide - 1) / wide));
    void (*const kernel)(rng_job, int, int) =
        job->row == RNG_SOBOLNORMAL ? points<true> : points<false>;
    SHOAL_LAUNCH(kernel, grid, dim3(THREADS), (size_t)wide * 33 * sizeof(uint32_t), ctx->stream,
                 *job, wide, m);
}

#ifdef SHOAL_SINGLE
static shoal_status fill_whole(shoal_context *ctx, const rng_job *job) {
    if (job->row == RNG_WORDS)
        launch_blocks<words_law>(ctx, job);
    else if (job->parameters)
        launch_draws<each_poisson_law>(ctx, job);
    else if (shoal_poisson_small(job->poisson.lambda))
        launch_draws<small_poisson_law>(ctx, job);
    else
        launch_draws<poisson_law>(ctx, job);
    return shoal_launched(ctx, "rng");
}
#else
extern "C" const rng_filler shoal_rng_fill_f32_cuda;
#define fill_whole shoal_rng_fill_f32_cuda.fill
#endif

static shoal_status fill(shoal_context *ctx, const rng_job *job) {
    if (job->parameters)
        cudaMemsetAsync(job->failed, 0, sizeof *job->failed, (cudaStream_t)ctx->stream);
    if (job->row == RNG_WORDS || job->row == RNG_POISSON) return fill_whole(ctx, job);
    switch (job->row) {
    case RNG_UNIFORM: launch_blocks<uniform_law>(ctx, job); break;
    case RNG_NORMAL:
        if (job->variant == NORMAL_ICDF)
            launch_blocks<icdf_law>(ctx, job);
        else if (job->fast_math)
            launch_blocks<fast_boxmuller_law>(ctx, job);
        else
            launch_blocks<boxmuller_law>(ctx, job);
        break;
    case RNG_GAMMA:
        if (job->parameters)
            launch_draws<each_law>(ctx, job);
        else
            launch_draws<gamma_law>(ctx, job);
        break;
    case RNG_NCCHISQ: launch_draws<each_law>(ctx, job); break;
    default: launch_points(ctx, job); break;
    }
    return shoal_launched(ctx, "rng");
}

extern "C" const rng_filler R(rng_fill) = { fill };
