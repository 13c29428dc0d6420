/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.cu - the systems of a regression, formed out of samples on the GPU and solved:
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,
 * equation (3) of L. A. Abbas-Turki and S. Graillat (2017). gram.h has the rules of the sums.
 *
 * A team of T threads has a system, 32 / T systems a warp, a warp a block: A grows in registers
 * (gram.cuh) while samples stream through shared memory (gram_stream.cuh). Method "ldlt" goes on from
 * there (gram_ldlt.cuh) where the registers allow it. Otherwise A, its lower triangle packed, and b go
 * to the plan's workspace, CHUNK bytes of them at a time, and the method takes them from there in the
 * same stream: they are still in the cache, so that memory sees psi once and little else.
 *
 * The floor is psi and y once, M (n + 1) numbers a system (further right-hand sides read psi again). At
 * n = 32 a sample of 128 bytes in f32 takes 640 multiply-adds; an H200 does 33 of them a picosecond,
 * 6.7 bytes' worth of psi, and has 4.3 bytes from memory in that time. One team works through all M
 * samples of its system: few systems of many samples do not fill a GPU. n <= 64.
 */
#include "smallsym/gram_ldlt.cuh"

enum { FUSED_MOST = sizeof(real) == 4 ? 40 : 16 }; /* unknowns of gram_ldlt_kernel */
static const size_t CHUNK = (size_t)32 << 20;      /* bytes of A and b; an H200's cache has 60 MB */

/* b lies where right-hand sides of the job do, A is packed. */
template <int T, int M>
__global__ static void __launch_bounds__(WARP)
    gram_kernel(smallsym_job job, smallsym_gram g, int width) {
    SHOAL_SHARED(real, shared);
    const int lane = threadIdx.x, t = lane % T, n = (int)job.n;
    gram_place at = gram_begin<T, M>(job, shared, width);
    real a[M][T * M], b[M];
    real *A = (real *)job.A + at.k * job.a.system, *rhs = (real *)job.b;
    int off;
    do {
        off = 0;
#pragma unroll 1
        for (int64_t c = 0; c < job.nrhs; c++) {
            gram_stream<T, M>(job, g, at, c, a, b);
            off |= gram_look<T, M>(a, b, c, lane);
#pragma unroll
            for (int r = 0; r < M; r++) {
                const int i = r * T + t;
                if (!at.mine || i >= n) continue;
                rhs[rhs_at(job, at.k, i, c)] = b[r];
#pragma unroll
                for (int j = 0; j < (r + 1) * T; j++)
                    if (c == 0 && j <= i) A[shoal_lower_at(i, j)] = a[r][j];
            }
        }
    } while (gram_again<T>(job, g, at, off));
}

/* ---- launches ---------------------------------------------------------------------------------- */

template <int T, int M> struct team_size {};

/* f(team_size<T, M>()) for the T and M of n: n > T M - T, as team.cuh wants it. */
template <class F> static shoal_status by_size(int64_t n, const F &f) {
    constexpr bool single = sizeof(real) == 4; /* a double takes two registers */
    constexpr int wide = single ? 8 : 16, wide_40 = single ? 5 : 3, wide_48 = single ? 6 : 3;
    constexpr int widest = single ? 16 : 32, widest_64 = single ? 4 : 2;
    if (n <= 4) return f(team_size<4, 1>());
    if (n <= 8) return f(team_size<4, 2>());
    if (n <= 12) return f(team_size<4, 3>());
    if (n <= 16) return f(team_size<4, 4>());
    if (n <= 20) return f(team_size<4, 5>());
    if (n <= 24) return f(team_size<4, 6>());
    if (n <= 32) return f(team_size<8, 4>());
    if (n <= 40) return f(team_size<wide, wide_40>());
    if (n <= 48) return f(team_size<wide, wide_48>());
    return f(team_size<widest, widest_64>());
}

/* Numbers of psi that may be copied at once. */
static int width_of(const smallsym_job *job, const smallsym_gram *g) {
    int width = g->psi_step == 1 ? VECTOR : 1;
    while (width > 1 &&
           (job->n % width || g->psi_system % width || (uintptr_t)g->psi % (width * sizeof(real))))
        width /= 2;
    return width;
}

/* A kernel of blocks that are warps, over all systems of the job. */
template <int T, int M, class K>
static shoal_status launch(team_size<T, M>, K kernel, shoal_smallsym *plan, const smallsym_job *job,
                           const smallsym_gram *g) {
    const int64_t systems = WARP / T;
    const int stream = gram_tile<T, M>::OF_WARP, solve = stage<T, M>::WARP_KEPT;
    const size_t shared = (size_t)(stream > solve ? stream : solve) * sizeof(real);
    shoal_allow_shared(plan->head.ctx, kernel);
    SHOAL_LAUNCH(kernel, dim3((unsigned)((job->count + systems - 1) / systems)), dim3(WARP), shared,
                 plan->head.ctx->stream, *job, *g, width_of(job, g));
    return shoal_launched(plan->head.ctx, "gram");
}

template <int T, int M>
static shoal_status form(team_size<T, M> size, shoal_smallsym *plan, const smallsym_job *job,
                         const smallsym_gram *g) {
    return launch(size, gram_kernel<T, M>, plan, job, g);
}

template <int T, int M>
static shoal_status form_and_solve(team_size<T, M> size, shoal_smallsym *plan,
                                   const smallsym_job *job, const smallsym_gram *g) {
    if constexpr (T * M <= FUSED_MOST)
        return launch(size, gram_ldlt_kernel<T, M>, plan, job, g);
    else
        return SHOAL_E_ARG; /* fused() lets none come here */
}

/* ---- the driver -------------------------------------------------------------------------------- */

/* Whether gram_ldlt.cuh does all of it: nothing needs A or b once they are solved. */
static bool fused(const shoal_smallsym *plan, const smallsym_job *job) {
    return plan->first.flags & SMALLSYM_CAN_FORM && job->n <= FUSED_MOST && job->nrhs == 1 &&
           job->rescue_row < 0 && !job->refine && !job->estimate;
}

/* Systems of a chunk. */
static int64_t chunk_of(const smallsym_job *job) {
    const size_t one = (size_t)(job->n * (job->n + 1) / 2 + job->n * job->nrhs) * sizeof(real);
    const int64_t most = one < CHUNK ? (int64_t)(CHUNK / one) : 1;
    return job->count < most ? job->count : most;
}

static bool interleaved(const smallsym_job *job) { return job->b_row != 1; }

static size_t triangles(const smallsym_job *job) { /* bytes, to a multiple of 256 */
    const size_t bytes = (size_t)(chunk_of(job) * job->n * (job->n + 1) / 2) * sizeof(real);
    return (bytes + 255) / 256 * 256;
}

/* b of a chunk, or, since b has the strides of x, of all systems that are interleaved. */
static size_t gram_bytes(const shoal_smallsym *plan) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        if (job->n == 0 || job->count == 0 || fused(plan, job)) continue;
        const int64_t systems = interleaved(job) ? job->count : chunk_of(job);
        const size_t bytes = triangles(job) + (size_t)(systems * job->n * job->nrhs) * sizeof(real);
        if (bytes > most) most = bytes;
    }
    return most;
}

static shoal_status gram_run(shoal_smallsym *plan, const smallsym_job *job,
                             const smallsym_gram *gram) {
    if (fused(plan, job))
        return by_size(job->n, [&](auto size) { return form_and_solve(size, plan, job, gram); });
    const int64_t n = job->n, chunk = chunk_of(job), triangle = n * (n + 1) / 2;
    real *b = (real *)((char *)gram->work + triangles(job));
    shoal_status status = SHOAL_OK;
    for (int64_t first = 0; first < job->count && status == SHOAL_OK; first += chunk) {
        smallsym_job part = *job;
        smallsym_gram g = *gram;
        const int64_t rhs = first * job->b_system * job->nrhs;
        part.count = job->count - first < chunk ? job->count - first : chunk;
        part.a = smallsym_shape{ n, triangle, 0, 1, 1, 0 };
        part.A = gram->work;
        part.b = interleaved(job) ? b + rhs : b;
        part.x = (real *)job->x + rhs;
        part.where = shoal_smallsym_outcome_from(&job->where, first);
        g.psi = (const real *)gram->psi + first * gram->psi_system;
        g.y = (const real *)gram->y + first * gram->y_system * job->nrhs;
        status = by_size(n, [&](auto size) { return form(size, plan, &part, &g); });
        if (status == SHOAL_OK) status = plan->driver->run(plan, &part);
    }
    return status;
}

extern "C" const smallsym_gram_driver R(smallsym_gram) = { gram_bytes, gram_run };
