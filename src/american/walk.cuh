/* SPDX-License-Identifier: Apache-2.0
 *
 * walk.cuh - paths that follow a rule on the GPU: the board in shared memory that holds psi of a
 * block of threads, the walk of one path per thread, prices, and samples of upper bounds, one
 * per block of threads: its 256 threads are the inner paths, and all of them follow the outer
 * one.
 */
#ifndef SHOAL_AMERICAN_WALK_CUH
#define SHOAL_AMERICAN_WALK_CUH

#include "american/american.h"
#include "pricing/blocks.cuh"

namespace {

enum { LANES = AMERICAN_BLOCK, EACH_BLOCK = 16 / sizeof(real), SHARE = LANES / EACH_BLOCK };
enum { THREE = EACH_BLOCK > 2 ? 3 : 2 }; /* of the paths that share a Philox block */

/* Shared memory of a block: psi, cash flows and membership of its paths; then numbers of the date. */
struct board {
    real *psi, *cash, *member;
    real *center, *inverse, *share, *rule;
};

__device__ board board_of(real *shared, const american_basis &basis) {
    board b;
    b.psi = shared;
    b.cash = b.psi + basis.functions * LANES;
    b.member = b.cash + LANES;
    b.center = b.member + LANES;
    b.inverse = b.center + basis.assets;
    b.share = b.inverse + basis.assets;
    b.rule = b.share + basis.assets;
    return b;
}

static size_t board_bytes(const american_basis *basis) {
    return (size_t)((basis->functions + 2) * LANES + 3 * basis->assets + basis->functions) *
           sizeof(real);
}

/* The numbers of date i for all paths, between two barriers. */
__device__ void show_date(const american_job &job, int64_t k, int i, bool rule, const board &b) {
    __syncthreads();
    for (int a = (int)threadIdx.x; a < job.basis.assets; a += (int)blockDim.x) {
        const american_range r = american_range_of(&job, k, a, i);
        b.center[a] = (real)r.center, b.inverse[a] = (real)r.inverse;
        b.share[a] = (real)american_share(&job, k, a, i);
    }
    const real *from = (const real *)job.rule + (rule ? american_rule_at(&job, k, i) : 0);
    for (int j = (int)threadIdx.x; rule && j < job.basis.functions; j += (int)blockDim.x)
        b.rule[j] = from[j];
    __syncthreads();
}

/* psi of lane l at date i from the Brownian motions in rows 1 .. d; returns the gain. */
__device__ real make_psi(const american_job &job, int64_t k, int i, int l, const board &b,
                         real &control) {
    const american_basis &basis = job.basis;
    const american_contract &c = *american_terms(&job, k);
    const double t = (double)i * c.dt;
    real *psi = b.psi + l, all = 0;
    psi[0] = 1, control = -1;
    for (int a = 0; a < basis.assets; a++) {
        const real spot = (real)american_spot(&job, k)[a];
        const real vol = (real)american_list(&job, k, AMERICAN_VOL)[a];
        const real drift = (real)(american_list(&job, k, AMERICAN_DRIFT)[a] * t);
        const real weight = (real)american_list(&job, k, AMERICAN_WEIGHT)[a];
        const real s = spot * real_exp(real_fma(vol, psi[(1 + a) * LANES], drift));
        all = american_gather(c.payoff, all, weight, s);
        control = real_fma(b.share[a], s, control);
        psi[(1 + a) * LANES] = (s - b.center[a]) * b.inverse[a];
    }
    const real gain = american_gain(c.payoff, (real)c.strike, all);
    for (int j = 1 + basis.assets; j < basis.monomials; j++)
        psi[j * LANES] = psi[basis.from[j] * LANES] * psi[(1 + basis.asset[j]) * LANES];
    if (basis.functions > basis.monomials)
        psi[(basis.functions - 1) * LANES] = american_payoff_factor(&job, k) * gain;
    return gain;
}

__device__ real make_hold(const american_job &job, int l, const board &b) {
    real hold = b.rule[0];
    for (int j = 1; j < job.basis.functions; j++)
        hold = real_fma(b.rule[j], b.psi[j * LANES + l], hold);
    return hold;
}

/* ---- prices of a rule -------------------------------------------------------------------------- */

struct walk_job {
    price_frame f;
    american_job a;
};

/* Moves the Brownian motions `at` of a path to the next date. */
__device__ void advance(const american_job &job, int64_t k, double root,
                        const shoal_stream &normals, uint64_t path, uint32_t &drawn,
                        real (&z)[EACH_BLOCK], real *at) {
    const int d = job.basis.assets;
    for (int source = 0; source < d; source++, drawn++) {
        if (drawn % EACH_BLOCK == 0) {
            const shoal_words w = words_at(normals, path, drawn / EACH_BLOCK);
            american_normals_of(&w, z);
        }
        real now = z[0];
#pragma unroll
        for (int e = 1; e < EACH_BLOCK; e++) now = (int)(drawn % EACH_BLOCK) == e ? z[e] : now;
        for (int a = source; a < d; a++)
            at[a] = real_fma((real)(root * american_load(&job, k, a, source)), now, at[a]);
    }
}

/* The walk of lanes.h, one path per thread: the value as of date `begin`, and the control
 * variate. All threads of the block call it. */
__device__ real follow_rule(const american_job &job, int64_t k, const shoal_stream &normals,
                            uint64_t path, int begin, const real *start, const board &b,
                            real &control) {
    const int d = job.basis.assets, l = (int)threadIdx.x;
    const double root = sqrt(american_terms(&job, k)->dt);
    real at[SHOAL_AMERICAN_ASSETS], z[EACH_BLOCK] = {}, value = 0;
    double discount = 1.0;
    bool alive = true;
    uint32_t drawn = 0;
    for (int a = 0; a < d; a++) at[a] = start ? start[a] : 0;
    control = 0;
    for (int i = begin + 1; i <= job.dates && __syncthreads_or(alive); i++) {
        show_date(job, k, i, i < job.dates, b);
        discount *= american_terms(&job, k)->discount;
        if (!alive) continue;
        advance(job, k, root, normals, path, drawn, z, at);
        for (int a = 0; a < d; a++) b.psi[(1 + a) * LANES + l] = at[a];
        real here;
        const real gain = make_psi(job, k, i, l, b, here);
        if (i < job.dates && !(gain > 0 && gain >= make_hold(job, l, b))) continue;
        alive = false, control = here;
        if (gain > 0) value = (real)discount * gain;
    }
    __syncthreads();
    return value;
}

__global__ void __launch_bounds__(PRICE_BLOCK) walk(walk_job run, int64_t from) {
    SHOAL_SHARED(real, shared);
    const american_job &job = run.a;
    const board b = board_of(shared, job.basis);
    const int64_t row = blockIdx.x / job.problems, k = blockIdx.x % job.problems;
    const int64_t sample = (from + row) * PRICE_BLOCK + threadIdx.x;
    real last;
    const real value =
        follow_rule(job, k, job.fresh, run.f.first + (uint64_t)sample, 0, nullptr, b, last);
    const bool in = sample < run.f.samples;
    const double x = in ? (double)value : 0.0, c = in ? (double)last : 0.0;
    double *sums = run.f.partial + row * run.f.width, *room = (double *)shared;
    block_control(c, room, sums + k * PRICE_CONTROL);
    block_outputs(&x, 1, true, c, room, sums + job.problems * PRICE_CONTROL + k * PRICE_STATISTICS);
}

/* ---- upper bounds ------------------------------------------------------------------------------ */

/* follow() of american.c: all threads get the mean. */
__device__ double follow_inner(const american_job &job, int64_t k, int i, const real *start,
                               uint64_t path, const board &b, double *sum) {
    double total = 0.0;
    for (int64_t q = 0; q < job.inner; q++) {
        real control;
        const double x = (double)follow_rule(
            job, k, job.within, path + (uint64_t)(q * LANES) + threadIdx.x, i, start, b, control);
        block_sums(&x, 1, (double *)b.psi, sum);
        total += *sum;
        __syncthreads();
    }
    return total / (double)(job.inner * LANES);
}

__global__ void __launch_bounds__(PRICE_BLOCK) dual_kernel(walk_job run, int64_t from) {
    SHOAL_SHARED(real, shared);
    SHOAL_SHARED_ARRAY(double, sum, 1);
    const american_job &job = run.a;
    const board b = board_of(shared, job.basis);
    const int64_t row = blockIdx.x / job.problems, k = blockIdx.x % job.problems;
    const uint64_t sample = run.f.first + (uint64_t)(from * LANES + row);
    const uint64_t each = (uint64_t)(job.inner * LANES), first = sample * (uint64_t)job.dates;
    const int l = (int)threadIdx.x, d = job.basis.assets;
    const double root = sqrt(american_terms(&job, k)->dt);
    real at[SHOAL_AMERICAN_ASSETS], z[EACH_BLOCK] = {};
    double discount = 1.0, martingale = 0.0, largest = 0.0, before = 0.0;
    uint32_t drawn = 0;
    for (int a = 0; a < d; a++) at[a] = 0;
    for (int i = 0; i <= job.dates; i++) {
        american_point here = {};
        if (i > 0) {
            advance(job, k, root, job.fresh, sample, drawn, z, at);
            show_date(job, k, i, i < job.dates, b);
            for (int a = 0; a < d; a++) b.psi[(1 + a) * LANES + l] = at[a];
            real control;
            here.gain = (double)make_psi(job, k, i, l, b, control);
            here.hold = i < job.dates ? (double)make_hold(job, l, b) : 0.0;
            discount *= american_terms(&job, k)->discount;
        }
        const double go_on =
            i < job.dates ? follow_inner(job, k, i, at, (first + (uint64_t)i) * each, b, sum) : 0.0;
        if (i > 0)
            largest = american_dual_step(&here, i == job.dates, discount, discount * go_on, before,
                                         i == 1, largest, &martingale);
        before = discount * go_on;
    }
    if (l == 0) job.dual[k * AMERICAN_DUALS * LANES + row] = largest;
}

__global__ void __launch_bounds__(PRICE_BLOCK) dual_sums(walk_job run, int64_t from) {
    SHOAL_SHARED(double, shared);
    const american_job &job = run.a;
    const int64_t row = blockIdx.x / job.problems, k = blockIdx.x % job.problems;
    const bool in = (from + row) * LANES + threadIdx.x < run.f.samples;
    const double x = in ? job.dual[(k * AMERICAN_DUALS + row) * LANES + threadIdx.x] : 0.0;
    double *sums = run.f.partial + row * run.f.width;
    block_control(0.0, shared, sums + k * PRICE_CONTROL);
    block_outputs(&x, 1, true, 0.0, shared,
                  sums + job.problems * PRICE_CONTROL + k * PRICE_STATISTICS);
}

} // namespace

#endif
