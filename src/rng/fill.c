/* SPDX-License-Identifier: Apache-2.0
 *
 * fill.c - arrays of random numbers on the CPU.
 *
 * The stream is cut at multiples of CHUNK numbers, which are the tasks of the threads. A chunk's
 * blocks are made first, word by word in arrays of their own, one block per vector lane; then the
 * words become numbers, again one per lane. A rejection law tries all lanes once; those that are not
 * clearly accepted, 8 % (gamma) or a quarter and more (Poisson), are drawn one by one from their first
 * attempt on, which gives the same numbers, since attempts are addressed.
 *
 * Nothing is read; bytes written: the numbers themselves. About 30 operations per word (Philox), and
 * those of each function (core/math.h).
 */
#include "core/real.h"
#include "rng/philox_lanes.h"
#include "rng/plan.h"
#include <string.h>

enum { CHUNK = 1024, BLOCKS = CHUNK }; /* numbers at a time; blocks, at most */
enum { MIN_PART = 256 };               /* numbers at an end of the fill      */

#ifdef SHOAL_SINGLE
enum { GROUP = 4 }; /* numbers that one block makes */
#else
enum { GROUP = 2 };
#endif

typedef struct chunk {
    uint32_t w[4][BLOCKS]; /* word j of each block            */
    double v[CHUNK];       /* what a rejection law makes      */
    uint8_t clear[CHUNK];  /* its first attempt is accepted   */
    int64_t failed;
} chunk;

/* A loop to be vectorised: no lane looks at another's results. */
#ifdef __clang__
#define EACH(i, n) for (int i = 0; i < (n); i++)
#else
#define EACH(i, n) INDEPENDENT for (int i = 0; i < (n); i++)
#endif

/* The blocks of paths first .. first + n - 1; first is a multiple of n. */
static void make_blocks(const shoal_stream *s, uint64_t first, uint32_t attempt, int n, chunk *c) {
    uint32_t *const w[4] = { c->w[0], c->w[1], c->w[2], c->w[3] };
    shoal_philox_blocks(s, first, attempt, n, w);
}

static uint64_t half_of(const chunk *c, int i, int half) {
    return (uint64_t)c->w[2 * half][i] << 32 | c->w[2 * half + 1][i];
}

static void words(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    uint32_t *out = to;
    make_blocks(&job->stream, first / 4, 0, n / 4, c);
    EACH(i, n / 4)
    UNROLLED_4 for (int j = 0; j < 4; j++) out[4 * i + j] = c->w[j][i];
}

#ifdef SHOAL_SINGLE

typedef uint32_t bits; /* that make one number */
typedef shoal_normalsf normal_pair;

static bits bits_of(const chunk *c, int i, int j) { return c->w[j][i]; }
static real uniform_of(bits b) { return shoal_uniformf_of(b); }
static normal_pair boxmuller_of(bits b, bits a) { return shoal_boxmullerf(b, a); }
static real icdf_of(bits b) { return shoal_icdff_of(b); }
static int icdf_middle(bits b, real *z) { return shoal_icdff_middle(b, z); }
static bits digits_of(uint32_t word, uint64_t shift) { return word ^ (uint32_t)(shift >> 32); }
static real point_of(uint32_t word, uint64_t shift) { return shoal_sobol_pointf(word, shift); }

#else

typedef uint64_t bits;
typedef shoal_normals normal_pair;

static bits bits_of(const chunk *c, int i, int j) { return half_of(c, i, j); }
static real uniform_of(bits b) { return shoal_uniform_of(b); }
static normal_pair boxmuller_of(bits b, bits a) { return shoal_boxmuller(b, a); }
static real icdf_of(bits b) { return shoal_icdf_of(b); }
static int icdf_middle(bits b, real *z) { return shoal_icdf_middle(b, z); }
static bits digits_of(uint32_t word, uint64_t shift) { return (uint64_t)word << 32 ^ shift; }
static real point_of(uint32_t word, uint64_t shift) { return shoal_sobol_point(word, shift); }

#endif

static void uniform(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    real *out = to;
    make_blocks(&job->stream, first / GROUP, 0, n / GROUP, c);
    EACH(i, n / GROUP)
    for (int j = 0; j < GROUP; j++) out[GROUP * i + j] = uniform_of(bits_of(c, i, j));
}

static void boxmuller(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    real *out = to;
    make_blocks(&job->stream, first / GROUP, 0, n / GROUP, c);
    EACH(i, n / GROUP)
    UNROLLED_4 for (int j = 0; j < GROUP; j += 2) {
        const normal_pair pair = boxmuller_of(bits_of(c, i, j), bits_of(c, i, j + 1));
        out[GROUP * i + j] = pair.z[0];
        out[GROUP * i + j + 1] = pair.z[1];
    }
}

/* All lanes as if they were away from the tails, then those that are not. */
static void icdf(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    real *out = to;
    make_blocks(&job->stream, first / GROUP, 0, n / GROUP, c);
    for (int j = 0; j < GROUP; j++) EACH(i, n / GROUP) {
            real z;
            c->clear[GROUP * i + j] = (uint8_t)icdf_middle(bits_of(c, i, j), &z);
            out[GROUP * i + j] = z;
        }
    for (int k = 0; k < n; k++)
        if (!c->clear[k]) out[k] = icdf_of(bits_of(c, k / GROUP, k % GROUP));
}

/* ---- rejection laws: one path per number ----------------------------------------------------- */

static shoal_words block_of(const chunk *c, int i) {
    const shoal_words w = { { c->w[0][i], c->w[1][i], c->w[2][i], c->w[3][i] } };
    return w;
}

static void gamma_all(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    const shoal_gamma_law law = job->gamma;
    real *out = to;
    make_blocks(&job->stream, first, 0, n, c);
    EACH(i, n) {
        const shoal_words w = block_of(c, i);
        const shoal_gamma_try t = shoal_gamma_attempt(&law, &w);
        c->v[i] = t.v;
        c->clear[i] = (uint8_t)shoal_gamma_clear(&t);
    }
    for (int i = 0; i < n; i++)
        if (!c->clear[i]) c->v[i] = shoal_gamma_v(&law, &job->stream, first + (uint64_t)i);
    if (law.boost != 0) {
        make_blocks(&job->stream, first, SHOAL_GAMMA_BOOST, n, c);
        EACH(i, n) c->v[i] = shoal_gamma_boosted(&law, c->v[i], half_of(c, i, 0));
        if (job->variant == GAMMA_LOG)
            for (int i = 0; i < n; i++) out[i] = (real)c->v[i];
        else
            EACH(i, n) out[i] = (real)shoal_exp(c->v[i]);
    } else if (job->variant == GAMMA_LOG) {
        EACH(i, n) out[i] = (real)shoal_log(law.d * c->v[i]);
    } else {
        EACH(i, n) out[i] = (real)(law.d * c->v[i]);
    }
}

static void poisson_all(const rng_job *job, uint64_t first, int n, chunk *c, void *to) {
    const shoal_poisson_law law = job->poisson;
    uint32_t *out = to;
    make_blocks(&job->stream, first, 0, n, c);
    if (shoal_poisson_small(law.lambda)) {
        for (int i = 0; i < n; i++)
            out[i] = shoal_poisson_invert(&law, shoal_uniform_of(half_of(c, i, 0)));
        return;
    }
    EACH(i, n) {
        const shoal_words w = block_of(c, i);
        const shoal_poisson_try t = shoal_poisson_attempt(&law, &w);
        c->v[i] = t.k;
        c->clear[i] = (uint8_t)shoal_poisson_clear(&law, &t);
    }
    for (int i = 0; i < n; i++)
        out[i] = c->clear[i] ? (uint32_t)c->v[i]
                             : shoal_poisson_reject(&law, &job->stream, first + (uint64_t)i);
}

/* Numbers [from, from + n) with a parameter each, or of two draws: one by one. */
static void one_by_one(const rng_job *job, uint64_t from, int n, const double *parameters, chunk *c,
                       void *to) {
    real *out = to;
    uint32_t *counts = to;
    for (int i = 0; i < n; i++) {
        const uint64_t path = from + (uint64_t)i;
        const double parameter = parameters ? parameters[i] : job->lambda;
        if (job->row == RNG_POISSON) {
            counts[i] = shoal_poisson(parameter, &job->stream, path);
            c->failed += counts[i] == SHOAL_RNG_NONE;
        } else {
            const double value = rng_draw(job, parameter, path);
            out[i] = (real)value;
            c->failed += value != value;
        }
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

static void points(const rng_job *job, uint64_t from, int n, chunk *c, real *out) {
    for (int64_t d = 0; d < job->dimensions; d++) {
        const uint32_t *directions = job->directions + d * SHOAL_SOBOL_BITS;
        const uint64_t shift = job->shift[d];
        const int64_t stride = job->point_stride;
        real *to = out + d * job->dimension_stride;
        uint32_t *words = c->w[0];
        uint32_t word = shoal_sobol_word(directions, (uint32_t)from);
        for (int i = 0; i < n; i++) {
            words[i] = word;
            word = shoal_sobol_next(directions, word, (uint32_t)from + (uint32_t)i);
        }
        if (job->row == RNG_SOBOL) {
            EACH(i, n) to[i * stride] = point_of(words[i], shift);
            continue;
        }
        EACH(i, n) {
            real z;
            c->clear[i] = (uint8_t)icdf_middle(digits_of(words[i], shift), &z);
            to[i * stride] = z;
        }
        for (int i = 0; i < n; i++)
            if (!c->clear[i]) to[i * stride] = icdf_of(digits_of(words[i], shift));
    }
}

/* ---- chunks and threads ---------------------------------------------------------------------- */

/* Numbers [first, first + n); n is a power of two, at least MIN_PART, and first a multiple of it. */
typedef void (*make_chunk)(const rng_job *job, uint64_t first, int n, chunk *c, void *to);

/* NULL: numbers are made one by one. */
static make_chunk maker_of(const rng_job *job) {
    static const make_chunk makers[] = {
        [RNG_WORDS] = words,     [RNG_UNIFORM] = uniform,     [RNG_NORMAL] = boxmuller,
        [RNG_GAMMA] = gamma_all, [RNG_POISSON] = poisson_all, [RNG_SOBOLNORMAL] = NULL
    };
    if (job->parameters) return NULL;
    return job->row == RNG_NORMAL && job->variant == NORMAL_ICDF ? icdf : makers[job->row];
}

/* Numbers [from, from + n) of one chunk, which begins at `first`; at[0] is number `from`. */
static void fill_part(const rng_job *job, make_chunk make, uint64_t first, uint64_t from, int n,
                      chunk *c) {
    const size_t size = job->row == RNG_WORDS || job->row == RNG_POISSON ? 4 : sizeof(real);
    const int64_t at = (int64_t)(from - job->first);
    char *to = (char *)job->out + (size_t)at * size;
    if (job->row == RNG_SOBOL || job->row == RNG_SOBOLNORMAL) {
        points(job, from, n, c, (real *)job->out + at * job->point_stride);
    } else if (!make) {
        one_by_one(job, from, n, job->parameters ? job->parameters + at : NULL, c, to);
    } else if (n == CHUNK) {
        make(job, first, n, c, to);
    } else { /* an end of the fill: aside, in the smallest part of the chunk that has it */
        char aside[CHUNK * sizeof(double)];
        int part = MIN_PART;
        while (from / (uint64_t)part != (from + (uint64_t)n - 1) / (uint64_t)part) part *= 2;
        const uint64_t start = from / (uint64_t)part * (uint64_t)part;
        make(job, start, part, c, aside);
        memcpy(to, aside + (from - start) * size, (size_t)n * size);
    }
}

static shoal_status fill(shoal_context *ctx, const rng_job *job) {
    const make_chunk make = maker_of(job);
    const uint64_t end = job->first + (uint64_t)job->count, begin = job->first / CHUNK;
    const int64_t chunks = (int64_t)((end - 1) / CHUNK - begin) + 1;
    const int workers = chunks < ctx->threads ? (int)chunks : ctx->threads;
    unsigned long long failed = 0;
#pragma omp parallel for num_threads(workers) schedule(static) reduction(+ : failed)
    for (int worker = 0; worker < workers; worker++) {
        chunk c;
        c.failed = 0;
        const int64_t start = chunks * worker / workers, last = chunks * (worker + 1) / workers;
        for (int64_t k = start; k < last; k++) {
            if (shoal_is_cancelled(ctx, k - start, last - start)) break;
            const uint64_t first = (begin + (uint64_t)k) * CHUNK;
            const uint64_t from = first > job->first ? first : job->first;
            const uint64_t to = end - first > CHUNK ? first + CHUNK : end;
            fill_part(job, make, first, from, (int)(to - from), &c);
        }
        failed += (unsigned long long)c.failed;
    }
    *job->failed = failed;
    return SHOAL_OK;
}

const rng_filler R(rng_fill) = { .fill = fill };
