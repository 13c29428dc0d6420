/* SPDX-License-Identifier: Apache-2.0
 *
 * pde.cu - bullet options by Crank and Nicolson's scheme on the GPU: a block of threads takes
 * one count of one option from a date back to the one before, its grid line in shared memory, a
 * few nodes per thread; all counts of all options are one launch per interval.
 *
 *   pcr     every node works: one barrier per level, 2 multiplications and 2 loads per node and level; the
 *           numbers of a level come from the first cache.
 *   thomas  one thread walks up and down: the comparison of questions 2 and 3 of the section that pde.h names.
 *
 * Read and written per interval: the layer once each, and the tables.
 */
#include "core/launch.cuh"
#include "models/pde.h"

namespace {

enum { MAX_THREADS = 1024 };

__global__ void __launch_bounds__(MAX_THREADS) interval_kernel(pde_job job) {
    SHOAL_SHARED(real, shared);
    const int64_t option = blockIdx.x / job.counts, j = blockIdx.x % job.counts;
    const pde_option *o = &job.option[option];
    const int nx = (int)job.nx, n = nx - 2, id = (int)threadIdx.x, threads = (int)blockDim.x;
    const int64_t line = option * job.counts + j;
    const real *u = (const real *)job.from + line * nx;
    const real *above = j + 1 < job.counts ? u + nx : nullptr;
    const real *shares = (const real *)job.shares + o->shares;
    const real *table = (const real *)job.table + o->table;
    real *now = shared, *right = shared + nx, *other = shared + 2 * nx;
    const pde_numbers numbers = o->n;
    const int levels = o->levels;
    const double *growth = job.growth + o->growth, later = pde_later(o, job.after);
    for (int i = id; i < nx; i += threads)
        now[i] = i == nx - 1   ? (real)pde_upper(o, j, job.left, later)
                 : job.counted ? pde_jump(shares[i], u, above, i)
                               : u[i];
    __syncthreads();
    for (int64_t k = 1; k <= job.solves; k++) {
        const double times = pde_times(&job, k);
        const real up = (real)(times * numbers.up), down = (real)(times * numbers.down);
        const real upper = (real)pde_upper(o, j, job.left, later * growth[k]);
        for (int i = 1 + id; i <= n; i += threads) {
            const real sum = pde_right(up, down, now, i);
            right[i] = i == n ? real_fma((real)numbers.up, upper - now[nx - 1], sum) : sum;
        }
        __syncthreads();
        if (job.solver == PDE_THOMAS) {
            const real *l = table, *c = table + n, *r = table + 2 * n;
            if (id == 0) {
                real y = 0, z = 0;
                for (int i = 0; i < n; i++) {
                    y = real_fma(l[i], y, r[i] * right[i + 1]);
                    right[i + 1] = y;
                }
                for (int i = n - 1; i >= 0; i--) {
                    z = real_fma(c[i], z, right[i + 1]);
                    now[i + 1] += z;
                }
                now[nx - 1] = upper;
            }
        } else {
            real *from = right, *to = other;
            for (int level = 0; level < levels; level++) {
                const real *l = table + 2 * level * n, *c = l + n;
                const int h = 1 << level;
                for (int i = id; i < n; i += threads) {
                    real d = from[i + 1];
                    if (i + h < n) d = real_fma(c[i], from[i + h + 1], d);
                    if (i >= h) d = real_fma(l[i], from[i - h + 1], d);
                    to[i + 1] = d;
                }
                __syncthreads();
                real *done = to;
                to = from;
                from = done;
            }
            const real *r = table + 2 * levels * n;
            for (int i = id; i < n; i += threads)
                now[i + 1] = real_fma(r[i], from[i + 1], now[i + 1]);
            if (id == 0) now[nx - 1] = upper;
        }
        __syncthreads();
    }
    real *into = (real *)job.into + line * nx;
    for (int i = id; i < nx; i += threads) into[i] = now[i];
    if (!job.surface) return;
    into = (real *)job.surface + option * job.surface_stride + (job.to * job.counts + j) * nx;
    for (int i = id; i < nx; i += threads) into[i] = now[i];
}

__global__ void __launch_bounds__(MAX_THREADS) payoff_kernel(pde_job job) {
    const int64_t option = blockIdx.x / job.counts, j = blockIdx.x % job.counts;
    const pde_option *o = &job.option[option];
    real *into = (real *)job.into + (int64_t)blockIdx.x * job.nx;
    real *copy =
        (real *)job.surface + option * job.surface_stride + (job.to * job.counts + j) * job.nx;
    for (int64_t i = threadIdx.x; i < job.nx; i += blockDim.x) {
        const real value = (real)pde_payoff(o, j, i);
        into[i] = value;
        if (job.surface) copy[i] = value;
    }
}

} // namespace

/* One thread per node; four nodes per thread if there are enough blocks: several then share a
 * multiprocessor, and one works while another waits at a barrier. */
static dim3 threads_for(const shoal_context *ctx, const pde_job *job) {
    const int64_t lines = job->options * job->counts;
    const int64_t nodes = lines > ctx->multiprocessors ? (job->nx + 3) / 4 : job->nx;
    const int64_t wanted = (nodes + 31) / 32 * 32;
    return dim3(wanted < MAX_THREADS ? (unsigned)wanted : (unsigned)MAX_THREADS);
}

static shoal_status begin(shoal_context *ctx, const pde_job *job) {
    SHOAL_LAUNCH(payoff_kernel, dim3((unsigned)(job->options * job->counts)), threads_for(ctx, job),
                 0, ctx->stream, *job);
    return shoal_launched(ctx, "pde");
}

static shoal_status interval(shoal_context *ctx, const pde_job *job) {
    const size_t bytes = (size_t)(3 * job->nx) * sizeof(real);
    const shoal_status status = shoal_check_shared(ctx, "pde", bytes);
    if (status != SHOAL_OK) return status;
    shoal_allow_shared(ctx, interval_kernel);
    SHOAL_LAUNCH(interval_kernel, dim3((unsigned)(job->options * job->counts)),
                 threads_for(ctx, job), bytes, ctx->stream, *job);
    return shoal_launched(ctx, "pde");
}

extern "C" const pde_method R(pde_grid) = { begin, interval };
