/* SPDX-License-Identifier: Apache-2.0
 *
 * wide.cuh - a date of Longstaff-Schwartz problems on any number of assets with any basis.
 *
 * A block of SHARE threads has a block of 256 paths of a problem, a thread the two (f32: four)
 * that share its Philox blocks; paths that no lane of a warp needs are left out. Shared memory
 * holds the numbers of the assets at the date, the factor of their correlation, and psi and y,
 * [function][path], whose rows 1 .. d hold the Brownian motions first.
 *
 *   bridge  B := keep B + L Z, 8 columns of L at a time: 8 normals of each path are made, in registers, and
 *           each row of B below is read and written once for all 8.
 *   sums    W Wt of W = (psi, y): a warp takes a tile of 8 x 8 entries at a time, a lane the products of
 *           its paths: 16 loads for 64 multiply-adds; then the tile is folded over the lanes.
 *
 * Cost of a path and date in f32, in PTX instructions: d (69 for a normal + 57 for an
 * exponential, x and the payoff + 6 for the decision), 1.9 d (d + 1) / 2 for the bridge, about
 * 2.2 n (n + 3) / 2 for the sums, half as much again with a second level: 6300 at d = 29, n =
 * 30, 188 ps at 33.5e12 a second, of which the 1.5 x 495 multiply-adds of the sums are 22 ps.
 * Memory sees the state twice, 8 (2 d + 1 + levels) bytes: 116 ps at 4.2 TB/s. Arithmetic binds,
 * and most of it makes paths. american_hedge(), not counted, adds one multiply-add per asset and
 * five operations.
 */
#ifndef SHOAL_AMERICAN_WIDE_CUH
#define SHOAL_AMERICAN_WIDE_CUH

#include "american/fold.cuh"
#include "american/walk.cuh"

namespace {

enum { COLUMNS = 8, TILE = 8 };

struct alignas(16) octet { /* read in pieces of 16 bytes */
    real of[COLUMNS];
};

/* Shared memory of a block. */
struct sheet {
    real *psi;                      /* [function][path], then y of each level                */
    real *load;                     /* [asset][width]: the bridge's factors, 0 above the diagonal */
    real *spot, *vol;               /* [asset]                                               */
    real *weight, *carry;           /* [asset]                                               */
    real *drift, *center, *inverse; /* [asset]                                               */
    real *rule;                     /* [level][function]                                     */
    int width;
};

__host__ __device__ static int sheet_width(int assets) {
    return (assets + COLUMNS - 1) / COLUMNS * COLUMNS;
}

__device__ sheet sheet_of(real *shared, const american_job &job) {
    const int d = job.basis.assets;
    sheet s;
    s.width = sheet_width(d);
    s.psi = shared;
    s.load = s.psi + (job.basis.functions + job.levels) * LANES;
    s.spot = s.load + d * s.width;
    s.vol = s.spot + d, s.weight = s.vol + d, s.carry = s.weight + d;
    s.drift = s.carry + d, s.center = s.drift + d, s.inverse = s.center + d;
    s.rule = s.inverse + d;
    return s;
}

static size_t sheet_bytes(const american_job *job) {
    const int d = job->basis.assets, n = job->basis.functions;
    return (size_t)((n + job->levels) * LANES + d * sheet_width(d) + 7 * d + 2 * n) * sizeof(real);
}

/* The state of the thread's first path: d Brownian motions, y of each level, what exercise pays,
 * and x. The last two are for the decision, which waits for the rule: memory is idle, and one
 * exponential per asset is saved. */
struct wide_state {
    real *brownian, *cash, *gain, *x;
};

static int wide_rows(const american_job &job) { return 2 * job.basis.assets + job.levels + 1; }

__device__ wide_state wide_state_of(const american_job &job) {
    wide_state w;
    w.brownian = (real *)job.state + (int64_t)blockIdx.x * american_state(&job) + threadIdx.x;
    w.cash = w.brownian + job.basis.assets * LANES;
    w.gain = w.cash + job.levels * LANES;
    w.x = w.gain + LANES;
    return w;
}

/* The numbers of date i and the rule of date i + 1 for all paths. */
__device__ void show_dates(const american_job &job, int64_t k, int i, const sheet &s) {
    const int d = job.basis.assets, threads = (int)blockDim.x, t = (int)threadIdx.x;
    const bool decides = i + 1 < job.dates;
    const bool alone =
        american_terms(&job, k)->payoff <= SHOAL_CALL; /* then gather() is s itself */
    const american_bridge to = american_bridge_of(&job, k, i);
    for (int a = t; a < d; a += threads) {
        s.spot[a] = (real)american_spot(&job, k)[a];
        s.vol[a] = (real)american_list(&job, k, AMERICAN_VOL)[a];
        s.weight[a] = alone ? 1 : (real)american_list(&job, k, AMERICAN_WEIGHT)[a];
        const real *from =
            (const real *)job.range + ((i % 2 * job.problems + k) * d + a) * AMERICAN_RANGE;
        s.center[a] = from[RANGE_CENTER], s.inverse[a] = from[RANGE_INVERSE];
        s.drift[a] = from[RANGE_DRIFT], s.carry[a] = from[RANGE_CARRY];
    }
    for (int a = t / 32; i > 0 && a < d; a += threads / 32)
        for (int from = t % 32; from < s.width; from += 32)
            s.load[a * s.width + from] =
                from <= a ? (real)(to.noise * american_load(&job, k, a, from)) : 0;
    const int n = job.basis.functions;
    for (int j = t; decides && j < 2 * n; j += threads) {
        const int64_t system = j < n || job.levels == 1 ? k : job.problems + k;
        s.rule[j] = ((const real *)job.rule)[american_rule_at(&job, system, i + 1) + j % n];
    }
    __syncthreads();
}

/* american_gather() without a branch. */
__device__ real gather(bool is_max, real all, real weight, real s) {
    return real_pick(is_max, real_pick(s > all, s, all), real_fma(weight, s, all));
}

/* The rest of psi of the thread's first C paths, whose rows 1 .. d are there. */
template <int C>
__device__ void make_products(const american_job &job, int64_t k, const sheet &s,
                              const real (&gain)[C]) {
    const american_basis &basis = job.basis;
    real *psi = s.psi + threadIdx.x;
#pragma unroll
    for (int e = 0; e < C; e++) psi[e * SHARE] = 1;
    for (int j = 1 + basis.assets; j < basis.monomials; j++) {
        const real *u = psi + basis.from[j] * LANES, *v = psi + (1 + basis.asset[j]) * LANES;
#pragma unroll
        for (int e = 0; e < C; e++) psi[j * LANES + e * SHARE] = u[e * SHARE] * v[e * SHARE];
    }
    if (basis.functions == basis.monomials) return;
    const real factor = american_payoff_factor(&job, k);
#pragma unroll
    for (int e = 0; e < C; e++) psi[(basis.functions - 1) * LANES + e * SHARE] = factor * gain[e];
}

/* psi at date i out of the Brownian motions in rows 1 .. d, and what exercise pays; all three go to
 * memory. ahead: the mean of that at the next date, if it is a line. */
template <int C>
__device__ void make_wide_psi(const american_job &job, int64_t k, const sheet &s,
                              const wide_state &to, real (&gain)[C], real (&ahead)[C]) {
    const american_contract &c = *american_terms(&job, k);
    const bool is_max = c.payoff == SHOAL_MAX_CALL;
    real *row = s.psi + LANES + threadIdx.x;
#pragma unroll
    for (int e = 0; e < C; e++) gain[e] = ahead[e] = 0;
    for (int a = 0; a < job.basis.assets; a++, row += LANES) {
        const real spot = s.spot[a], vol = s.vol[a], weight = s.weight[a], carry = s.carry[a];
        const real drift = s.drift[a], center = s.center[a], inverse = s.inverse[a];
#pragma unroll
        for (int e = 0; e < C; e++) {
            const real at = row[e * SHARE], now = spot * real_exp(real_fma(vol, at, drift));
            const real x = (now - center) * inverse;
            gain[e] = gather(is_max, gain[e], weight, now);
            ahead[e] = real_fma(carry, now, ahead[e]);
            to.brownian[a * LANES + e * SHARE] = at;
            to.x[a * LANES + e * SHARE] = row[e * SHARE] = x;
        }
    }
#pragma unroll
    for (int e = 0; e < C; e++) {
        gain[e] = american_gain(c.payoff, (real)c.strike, gain[e]);
        ahead[e] = american_gain(c.payoff, (real)c.strike, ahead[e]);
        to.gain[e * SHARE] = gain[e];
    }
    make_products<C>(job, k, s, gain);
}

/* `rows` rows of the thread's paths from memory on their way to rows 1 .. of psi. */
template <int C> __device__ void fetch(int rows, const real *from, const sheet &s) {
    real *to = s.psi + LANES + threadIdx.x;
    for (int a = 0; a < rows; a++, to += LANES, from += LANES) {
#pragma unroll
        for (int e = 0; e < C; e++) shoal_copy_async(to + e * SHARE, from + e * SHARE);
    }
}

/* hold[level] += factors of the rule x psi_j. */
template <int C>
__device__ void add_hold(int n, int j, const real *psi, const sheet &s, real (&hold)[2][C]) {
    const real factor[2] = { s.rule[j], s.rule[n + j] };
#pragma unroll
    for (int e = 0; e < C; e++) {
        const real x = psi[e * SHARE];
        hold[0][e] = real_fma(factor[0], x, hold[0][e]);
        hold[1][e] = real_fma(factor[1], x, hold[1][e]);
    }
}

/* The decision at date i + 1, of both levels, by what was left in memory there. Where the basis
 * is linear rows 1 .. d are not touched. */
template <int C>
__device__ void wide_decide(const american_job &job, int64_t k, const wide_state &from,
                            const sheet &s, real (&cash)[2][C]) {
    const int d = job.basis.assets, n = job.basis.functions;
    real gain[C], hold[2][C];
#pragma unroll
    for (int e = 0; e < C; e++) {
        gain[e] = from.gain[e * SHARE];
        hold[0][e] = s.rule[0], hold[1][e] = s.rule[n];
    }
    if (n == 1 + d) {
#pragma unroll 4
        for (int a = 0; a < d; a++) add_hold<C>(n, 1 + a, from.x + a * LANES, s, hold);
    } else {
        fetch<C>(d, from.x, s);
        shoal_copy_async_wait_all();
        make_products<C>(job, k, s, gain);
        for (int j = 1; j < n; j++) add_hold<C>(n, j, s.psi + j * LANES + threadIdx.x, s, hold);
    }
#pragma unroll
    for (int level = 0; level < 2; level++)
#pragma unroll
        for (int e = 0; e < C; e++)
            cash[level][e] =
                real_pick((gain[e] > 0) & (gain[e] >= hold[level][e]), gain[e], cash[level][e]);
}

/* Rows 1 .. d := keep B + L Z; keep 0: whatever they hold. */
template <int C>
__device__ void add_noise(const american_job &job, int64_t k, int i, real keep, const sheet &s) {
    const int d = job.basis.assets;
    const uint64_t path =
        american_first(&job, k) + (uint64_t)(blockIdx.x % job.blocks * SHARE + threadIdx.x);
    const uint32_t step = (uint32_t)(job.dates - i) * (uint32_t)d;
    for (int from = 0; from < d; from += COLUMNS) {
        real z[COLUMNS][C];
#pragma unroll
        for (int f = 0; f < COLUMNS; f += 2) {
            real all[2][EACH_BLOCK] = {};
            if (from + f < d) /* two at a time; the factors of one too many are 0 */
#pragma unroll
                for (int g = 0; g < 2; g++) {
                    const uint32_t column = step + (uint32_t)(from + f + g);
                    const shoal_words w = words_at(job.normals, path, column);
                    american_normals_of(&w, all[g]);
                }
#pragma unroll
            for (int e = 0; e < C; e++) z[f][e] = all[0][e], z[f + 1][e] = all[1][e];
        }
        const real times = from == 0 ? keep : 1; /* the first columns meet every row */
        for (int a = from; a < d; a++) {
            const octet load = *(const octet *)(s.load + a * s.width + from);
            real *row = s.psi + (1 + a) * LANES + threadIdx.x;
#pragma unroll
            for (int e = 0; e < C; e++) {
                real at = real_pick(times > 0, times * row[e * SHARE], 0);
#pragma unroll
                for (int f = 0; f < COLUMNS; f++) at = real_fma(load.of[f], z[f][e], at);
                row[e * SHARE] = at;
            }
        }
    }
}

/* One tile of W Wt, of a warp, over the block's first `left` paths, with the y of a level; its
 * part of the block's sums. */
__device__ void sum_tile(const american_job &job, int level, int I, int J, int64_t left,
                         const real *W, double *to) {
    const int n = job.basis.functions, lane = (int)threadIdx.x % 32;
    const real *u[TILE], *v[TILE];
    real sum[TILE * TILE] = {};
#pragma unroll
    for (int e = 0; e < TILE; e++) {
        u[e] = W + (TILE * I + e < n ? TILE * I + e : n + level) * LANES + lane;
        v[e] = W + (TILE * J + e < n ? TILE * J + e : n + level) * LANES + lane;
    }
    for (int share = 0; share < SHARE && share < left; share += 32)
        for (int first = share; first < LANES && first < left; first += SHARE) {
            real x[TILE], y[TILE];
#pragma unroll
            for (int e = 0; e < TILE; e++) x[e] = u[e][first], y[e] = v[e][first];
            if (first + 32 > left) {
#pragma unroll
                for (int e = 0; e < TILE; e++) x[e] = real_pick(first + lane < left, x[e], 0);
            }
#pragma unroll
            for (int a = 0; a < TILE; a++)
#pragma unroll
                for (int b = 0; b < TILE; b++)
                    sum[a * TILE + b] = real_fma(x[a], y[b], sum[a * TILE + b]);
        }
    fold(sum);
    const int at = folded_first<TILE * TILE>(lane);
#pragma unroll
    for (int f = 0; f < FOLDED<TILE * TILE>; f++) {
        const int a = TILE * I + (at + f) / TILE, b = TILE * J + (at + f) % TILE;
        if (b <= a && a <= n && b < n) to[a * (a + 1) / 2 + b] = (double)sum[f];
    }
}

/* next: in, what exercise pays at date i + 1; out, what is taken off the cash flows there. */
template <int C>
__device__ void wide_hedge(const american_job &job, int64_t k, int i, const real (&gain)[C],
                           const real (&ahead)[C], real (&next)[C]) {
    const bool hedged = american_terms(&job, k)->hedged;
    const real slope =
        ((const real *)job
             .range)[(i % 2 * job.problems + k) * job.basis.assets * AMERICAN_RANGE + RANGE_SLOPE];
    american_start start = {};
    if (i == 0) start = american_start_of(&job, k);
#pragma unroll
    for (int e = 0; e < C; e++) {
        const real off = i > 0 ? american_hedge(slope, gain[e], next[e], ahead[e])
                               : american_hedge(start.slope, start.gain, next[e], start.expected);
        next[e] = real_pick(hedged, off, 0);
    }
}

/* The thread's first C paths from date i + 1 to date i, or i = 0, to the decision at date 1
 * alone: y of date i, and psi, 0 where a path is not in the money. */
template <int C>
__device__ void move_paths(const american_job &job, int64_t k, int i, int levels, const sheet &s) {
    const int d = job.basis.assets, n = job.basis.functions, t = (int)threadIdx.x;
    const bool starts = i == job.dates, decides = i + 1 < job.dates, is_linear = n == 1 + d;
    const wide_state state = wide_state_of(job);
    const real *range =
        (const real *)job.range + (i % 2 * job.problems + k) * d * (int64_t)AMERICAN_RANGE;
    real cash[2][C] = {}, gain[C] = {}, ahead[C] = {}, next[C] = {};
#pragma unroll
    for (int e = 0; e < C; e++)
        if (!starts) next[e] = state.gain[e * SHARE];
#pragma unroll
    for (int level = 0; level < 2; level++)
        if (!starts && level < levels)
#pragma unroll
            for (int e = 0; e < C; e++) cash[level][e] = state.cash[level * LANES + e * SHARE];
    if (decides && !is_linear) wide_decide<C>(job, k, state, s, cash);
    if (!starts && i > 0) fetch<C>(d, state.brownian, s);
    if (decides && is_linear) wide_decide<C>(job, k, state, s, cash);
    shoal_copy_async_wait_all();
    if (i > 0) {
        add_noise<C>(job, k, i, range[RANGE_KEEP], s);
        make_wide_psi<C>(job, k, s, state, gain, ahead);
    }
    const real discount = i > 0 ? range[RANGE_DISCOUNT] : 1;
    wide_hedge<C>(job, k, i, gain, ahead, next);
#pragma unroll
    for (int level = 0; level < 2; level++)
        if (level < levels)
#pragma unroll
            for (int e = 0; e < C; e++) {
                const real paid = real_pick(gain[e] > 0, gain[e], 0);
                const real y = real_pick(starts, paid, discount * (cash[level][e] - next[e]));
                state.cash[level * LANES + e * SHARE] = y;
                s.psi[(n + level) * LANES + e * SHARE + t] = y;
            }
#pragma unroll
    for (int e = 0; e < C; e++)
        for (int j = 0; i > 0 && !(gain[e] > 0) && j < n; j++) s.psi[j * LANES + e * SHARE + t] = 0;
}

/* A block of paths from date i + 1 to date i, and its sums there. */
__global__ void __launch_bounds__(SHARE) wide_kernel(american_job job, int i) {
    SHOAL_SHARED(real, shared);
    const sheet s = sheet_of(shared, job);
    const int n = job.basis.functions, warp = (int)threadIdx.x / 32;
    const int64_t k = blockIdx.x / job.blocks, number = blockIdx.x % job.blocks;
    const int64_t left = job.paths - number * LANES, part = job.part - number * LANES;
    const int levels = job.levels > 1 && part > 0 ? 2 : 1;
    show_dates(job, k, i, s);
    if (EACH_BLOCK > 2 && warp * 32 + 3 * SHARE < left)
        move_paths<EACH_BLOCK>(job, k, i, levels, s);
    else if (EACH_BLOCK > 2 && warp * 32 + 2 * SHARE < left)
        move_paths<THREE>(job, k, i, levels, s);
    else if (warp * 32 + SHARE < left)
        move_paths<2>(job, k, i, levels, s);
    else if (warp * 32 < left)
        move_paths<1>(job, k, i, levels, s);
    if (i == job.dates || i == 0) return;
    __syncthreads();
    const int tiles = n / TILE + 1;
    for (int level = 0, at = 0; level < levels; level++) {
        const int64_t block = (level * job.problems + k) * job.blocks + number;
        double *to = job.partial + block * american_sums(n);
        for (int I = 0; I < tiles; I++)
            for (int J = 0; J <= I; J++, at++)
                if (at % (SHARE / 32) == warp)
                    sum_tile(job, level, I, J, level ? part : left, s.psi, to);
    }
}

static shoal_status wide_visit(shoal_context *ctx, const american_job *job, int i) {
    const shoal_status status = shoal_check_shared(ctx, "american", sheet_bytes(job));
    if (status != SHOAL_OK) return status;
    shoal_allow_shared(ctx, wide_kernel);
    SHOAL_LAUNCH(wide_kernel, dim3((unsigned)(job->problems * job->blocks)), dim3(SHARE),
                 sheet_bytes(job), ctx->stream, *job, i);
    return shoal_launched(ctx, "american, a date");
}

} // namespace

#endif
