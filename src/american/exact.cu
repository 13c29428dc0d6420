/* SPDX-License-Identifier: Apache-2.0
 *
 * exact.cu - the exercise boundaries, prices and implied volatilities of puts on the GPU: the formulas of exact_lane.h.
 *
 * A team of 8, 16 or 32 threads per option, one thread per point of the boundary: it has a row of the equation, and
 * every such point of the price's integral. The matrix is in shared memory. Teams of a warp iterate together.
 */
#include "american/exact_lane.h"
#include "american/exact_point.h"
#include "core/launch.cuh"

namespace {

enum { EXACT_BLOCK = 64, EXACT_GUESSES = 5 };
const unsigned everyone = 0xffffffffu;

__device__ vec team_sum(int size, vec x) {
    for (int away = size / 2; away > 0; away /= 2) x += __shfl_xor_sync(everyone, x, away);
    return x;
}

__device__ bool team_all(int size, bool yes) {
    const unsigned votes = __ballot_sync(everyone, yes), lane = threadIdx.x % 32;
    const unsigned team = (everyone >> (32 - size)) << (lane / (unsigned)size * (unsigned)size);
    return (votes & team) == team;
}

/* The operations of eliminate() in exact.c on each number, in its order. */
__device__ void team_eliminate(const exact_lane &o, int n, int row) {
    const int stride = exact_stride(n);
    vec *a = o.jacobian;
    for (int k = 0; k < n; k++) {
        if (row > k && row < n) {
            const vec f = a[row * stride + k] *= 1 / a[k * stride + k];
            for (int j = k + 1; j < n; j++)
                a[row * stride + j] = vec_fma(-f, a[k * stride + j], a[row * stride + j]);
        }
        __syncwarp();
    }
}

__device__ void team_substitute(const exact_lane &o, int n, int row, vec *x) {
    const int stride = exact_stride(n);
    const vec *a = o.jacobian;
    for (int j = 0; j < n; j++) {
        if (row > j && row < n) x[row] = vec_fma(-a[row * stride + j], x[j], x[row]);
        __syncwarp();
    }
    for (int j = n - 1; j >= 0; j--) {
        if (row == j) x[j] /= a[j * stride + j];
        __syncwarp();
        if (row < j) x[row] = vec_fma(-a[row * stride + j], x[j], x[row]);
        __syncwarp();
    }
}

/* The boundary; returns whether Newton's method settled. */
__device__ bool team_boundary(int size, const exact_rule &rule, const exact_lane &o, int row) {
    const int n = rule.n;
    bool settled = false;
    if (row < n) {
        const double x = rule.x[row];
        o.h[row] = exact_guess(&o, x, exact_early(&o, x), EXACT_GUESSES);
        o.square[row] = o.h[row] * o.h[row];
    }
    for (int at = row; at < rule.l * n; at += size) {
        const vec rt = rule.x[at % n] * rule.z[at / n] * o.root_t;
        o.fall[at] = vec_exp(-o.q * rt * rt);
    }
    __syncwarp();
    for (int pass = 0; pass < EXACT_PASSES && __any_sync(everyone, !settled); pass++) {
        bool small = true;
        if (row < n) exact_row(&rule, &o, row, 0);
        __syncwarp();
        team_eliminate(o, n, row);
        team_substitute(o, n, row, o.residual);
        if (row < n) {
            const vec h = o.h[row], step = o.residual[row];
            small = vec_abs(step) <= rule.settled * h;
            if (!settled) o.h[row] = exact_step(h, step, exact_part(pass));
            o.square[row] = o.h[row] * o.h[row];
        }
        settled |= team_all(size, small);
        __syncwarp();
    }
    return settled;
}

__device__ exact_sums team_price(int size, const exact_rule &rule, const exact_lane &o, int row,
                                 int greeks) {
    exact_sums part = { 0, 0, 0, 0, 0 }, sums = exact_european(&o);
    for (int g = row; g < rule.p; g += size) exact_premium(&rule, &o, g, greeks, &part);
    sums.price += team_sum(size, part.price);
    if (!greeks) return sums;
    sums.delta += team_sum(size, part.delta), sums.gamma += team_sum(size, part.gamma);
    sums.vega += team_sum(size, part.vega), sums.rho += team_sum(size, part.rho);
    return sums;
}

/* solve() of exact_plan.c for a team; its threads have copies of the option. */
__device__ void team_solve(int size, const exact_rule &rule, exact_point &p, int european,
                           int greeks, int row, vec *memory) {
    const bool has = exact_has_boundary(&p, european);
    if (!__any_sync(everyone, has)) return;
    exact_lane o;
    double own[4];
    const exact_point any = { 1, 1, 0.05, 0, 0.2, 1, 0, 0, 0, 0, 0, 0, 0, 0 }; /* works along */
    const exact_point &from = has ? p : any;
    o.s = from.s, o.k = from.k, o.r = from.r, o.q = from.q, o.v = from.v, o.dq = from.call;
    exact_begin(o.s, o.k, o.r, o.q, o.v, o.dq, own);
    o.log_start = own[0], o.away = own[1], o.down = own[2], o.start = own[3];
    exact_complete(&o, &rule, exact_enough_time(&from), memory);
    const bool settled = team_boundary(size, rule, o, row);
    if (greeks) {
        if (row < rule.n) exact_row(&rule, &o, row, 1);
        __syncwarp();
        team_eliminate(o, rule.n, row);
        team_substitute(o, rule.n, row, o.by_v);
        team_substitute(o, rule.n, row, o.by_r);
        if (row < rule.n) o.by_v[row] *= -2 * o.h[row], o.by_r[row] *= -2 * o.h[row];
        __syncwarp();
    }
    exact_sums sums = team_price(size, rule, o, row, greeks);
    const vec stop = exact_end(&rule, &o, &sums);
    __syncwarp();
    if (!has) return;
    p.price = sums.price, p.boundary = stop;
    if (greeks) p.delta = sums.delta, p.gamma = sums.gamma, p.vega = sums.vega, p.rho = sums.rho;
    if (!settled || !exact_is_number(p.price, 0, DBL_MAX)) p.status = SHOAL_VANILLA_UNSETTLED;
}

__device__ void team_imply(int size, const exact_rule &rule, exact_point &p, double price,
                           int european, int row, vec *memory) {
    exact_search at;
    exact_search_begin(&at, &p, price, european);
    for (int round = 0; round < EXACT_ROUNDS; round++) {
        const bool open = !p.status && !at.done;
        if (!__any_sync(everyone, open)) break;
        exact_point now = p;
        if (!open) now.status = SHOAL_VANILLA_INVALID; /* not priced */
        team_solve(size, rule, now, european, 1, row, memory);
        if (!open) continue;
        p = now;
        if (!p.status) exact_search_narrow(&at, &p);
    }
    if (!p.status && !at.done) p.status = SHOAL_VANILLA_UNSETTLED;
}

/* Teams without an option repeat the last. */
__global__ void __launch_bounds__(EXACT_BLOCK) exact_kernel(exact_job job, int size) {
    SHOAL_SHARED(vec, shared);
    const int team = (int)threadIdx.x / size, row = (int)threadIdx.x % size;
    const int64_t teams = EXACT_BLOCK / size;
    vec *memory = shared + team * exact_numbers(job.rule.n, job.rule.l);
    for (int64_t first = blockIdx.x * teams; first < job.count; first += gridDim.x * teams) {
        const bool live = first + team < job.count;
        const int64_t i = live ? first + team : job.count - 1;
        exact_point p = exact_point_of(&job, i);
        if (job.price)
            team_imply(size, job.rule, p, job.price[i], job.european, row, memory);
        else
            team_solve(size, job.rule, p, job.european, job.greeks, row, memory);
        if (live && row == 0) exact_store(&job, i, &p);
    }
}

} // namespace

static shoal_status run(shoal_context *ctx, const exact_job *job) {
    const int n = job->rule.n, size = n <= 8 ? 8 : n <= 16 ? 16 : 32, teams = EXACT_BLOCK / size;
    const size_t bytes = (size_t)(teams * exact_numbers(n, job->rule.l)) * sizeof(vec);
    const dim3 grid(shoal_grid((job->count + teams - 1) / teams)), block(EXACT_BLOCK);
    SHOAL_LAUNCH(exact_kernel, grid, block, bytes, ctx->stream, *job, size);
    return shoal_launched(ctx, "american, exact");
}

extern "C" const exact_cuda_method R(american_exact) = { run };
