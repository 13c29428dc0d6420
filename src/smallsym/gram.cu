/* SPDX-License-Identifier: Apache-2.0
 *
 * gram.cu - the systems of a regression, formed out of samples on the GPU and solved:
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,
 * equation (3) of L. A. Abbas-Turki and S. Graillat (2017). gram.h has the rules of the sums.
 *
 * A team of T threads has a system, 32 / T systems a warp, a warp a block: A grows in registers
 * (gram.cuh) while samples stream through shared memory (gram_stream.cuh). Then A, its lower triangle
 * packed, and b go to the plan's workspace, CHUNK bytes of them at a time, and the plan's method takes
 * them from there in the same stream: they are still in the cache, so that memory sees psi once and
 * little else. Any method will do.
 *
 * The floor is psi and y once, M (n + 1) numbers a system (further right-hand sides read psi again). At
 * n = 32 a thread of 8 does 80 multiply-adds a sample: 128 bytes of psi in f32 take 640 of them, which a
 * GPU with a hundred a nanosecond and multiprocessor does in less time than memory needs. One team works
 * through all M samples of its system: few systems of many samples do not fill a GPU.
 */
#include "smallsym/gram_stream.cuh"

static const size_t CHUNK = (size_t)32 << 20; /* bytes of A and b; an H200's cache has 60 MB */

/* b lies where right-hand sides of the job do, A is packed. */
template <int T, int M>
__global__ static void __launch_bounds__(WARP)
    gram_kernel(smallsym_job job, smallsym_gram g, int width) {
    typedef gram_tile<T, M> tile;
    SHOAL_SHARED(real, shared);
    const int lane = threadIdx.x % WARP, t = lane % T, n = (int)job.n;
    gram_place at = { (int64_t)blockIdx.x * tile::SYSTEMS + lane / T,
                      false,
                      t,
                      width,
                      0,
                      false,
                      shared + lane / T * tile::NUMBERS,
                      shared + tile::KEPT + lane };
    at.mine = at.k < job.count;
    gram_pad<T, M>(at, n);
    real a[M][T * M], b[M];
    real *A = (real *)job.A + at.k * job.a.system, *rhs = (real *)job.b;
    for (;;) {
        int off = 0;
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
        if (at.scaled || !__any_sync(ALL_LANES, at.mine && off)) break;
        at.exponent = gram_find_exponent<T>(job, g, at, off);
        at.scaled = __any_sync(ALL_LANES, at.exponent != 0);
        if (!at.scaled) break;
    }
}

template <int T, int M>
static shoal_status launch(shoal_smallsym *plan, const smallsym_job *job, const smallsym_gram *g,
                           int width) {
    typedef gram_tile<T, M> tile;
    const int64_t systems = tile::SYSTEMS;
    shoal_allow_shared(plan->ctx, gram_kernel<T, M>);
    SHOAL_LAUNCH((gram_kernel<T, M>), dim3((unsigned)((job->count + systems - 1) / systems)),
                 dim3(WARP), tile::OF_WARP * sizeof(real), plan->ctx->stream, *job, *g, width);
    return shoal_launched(plan->ctx, "gram");
}

/* Numbers of psi that may be copied at once. */
static int width_of(const smallsym_job *job, const smallsym_gram *g) {
    int width = g->psi_step == 1 ? VECTOR : 1;
    while (width > 1 &&
           (job->n % width || g->psi_system % width || (uintptr_t)g->psi % (width * sizeof(real))))
        width /= 2;
    return width;
}

static shoal_status form(shoal_smallsym *plan, const smallsym_job *job, const smallsym_gram *g) {
    constexpr bool single = sizeof(real) == 4;
    const int width = width_of(job, g);
    if (job->n <= 4) return launch<4, 1>(plan, job, g, width);
    if (job->n <= 8) return launch<4, 2>(plan, job, g, width);
    if (job->n <= 16) return launch<4, 4>(plan, job, g, width);
    if (job->n <= 24) return launch<4, 6>(plan, job, g, width);
    if (job->n <= 32) return launch<8, 4>(plan, job, g, width);
    if (job->n <= 48) return launch < single ? 8 : 16, single ? 6 : 3 > (plan, job, g, width);
    return launch < single ? 16 : 32, single ? 4 : 2 > (plan, job, g, width);
}

/* ---- the driver -------------------------------------------------------------------------------- */

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
        if (job->n == 0 || job->count == 0) continue;
        const int64_t systems = interleaved(job) ? job->count : chunk_of(job);
        const size_t bytes = triangles(job) + (size_t)(systems * job->n * job->nrhs) * sizeof(real);
        if (bytes > most) most = bytes;
    }
    return most;
}

static shoal_status gram_run(shoal_smallsym *plan, const smallsym_job *job,
                             const smallsym_gram *gram) {
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
        status = form(plan, &part, &g);
        if (status == SHOAL_OK) status = plan->driver->run(plan, &part);
    }
    return status;
}

extern "C" const smallsym_gram_driver R(smallsym_gram) = { gram_bytes, gram_run };
