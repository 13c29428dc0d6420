/* SPDX-License-Identifier: Apache-2.0
 *
 * line.cuh - a date of Longstaff-Schwartz problems on one asset with 2 to 8 functions, the
 * powers of x:
 *
 *     A(a,b) = sum x^a x^b,  b(a) = sum x^a y   over the paths in the money.
 *
 * A warp has a problem, or where a problem has more than MOST_BLOCKS blocks of 256 paths, one of
 * them. A lane takes every 32nd path of a block, the two (f32: four) that share a Philox block
 * together; what no path of a warp needs is left out, so that 316 paths cost 320 and not 512.
 * psi, y and the sums of A and b are in registers; the sums are folded once per block, and the
 * warp that has all blocks of a problem writes its system.
 *
 * Cost of a path and date in f32 at n = 4, in PTX instructions: 69 for the normal (a Philox
 * block and two pairs of Box-Muller serve four paths), 52 for the decision at the date before,
 * 48 for the bridge and the payoff, both with an exponential, and 32 for the sums, of which n (n
 * + 3) / 2 = 14 are multiply-adds; 40 more where there is a second level. 245 at 33.5e12 a
 * second (132 multiprocessors, 128 lanes, 1.98 GHz) are 7.3 ps. Memory sees the state twice, 24
 * bytes: 5.7 ps at 4.2 TB/s. Arithmetic binds.
 */
#ifndef SHOAL_AMERICAN_LINE_CUH
#define SHOAL_AMERICAN_LINE_CUH

#include "american/fold.cuh"
#include "american/walk.cuh"

namespace {

/* Of two levels at once more than 6 functions would not fit the registers. */
enum { LINE_WARPS = 4, LINE_LIMIT = 8, LINE_LIMIT_TWO = 6, MAX_BLOCKS = 8 };

static bool on_a_line(const american_job &job) {
    const american_basis &b = job.basis;
    return b.assets == 1 && b.functions == b.monomials && b.functions >= 2 &&
           b.functions <= (job.levels > 1 ? LINE_LIMIT_TWO : LINE_LIMIT);
}

/* Whether a warp has all blocks of a problem. */
__host__ __device__ static bool line_whole(const american_job &job) {
    return job.blocks <= MAX_BLOCKS;
}

/* What the paths of a problem have in common, and at a date. */
struct line_terms {
    real spot, vol, strike;
    real weight, side; /* payoff: side (strike - weight S), side 1 of a put, -1 of a call */
};

struct line_date {
    real center, inverse, drift, load;
    real carry; /* the mean of the payoff at the next date: side (strike - carry S) */
    real slope, keep, discount;
};

__device__ line_date line_date_of(const american_job &job, int64_t k, int i) {
    const real *from =
        (const real *)job.range + ((i % 2) * job.problems + k) * (int64_t)AMERICAN_RANGE;
    return { from[RANGE_CENTER], from[RANGE_INVERSE], from[RANGE_DRIFT], from[RANGE_LOAD],
             from[RANGE_CARRY],  from[RANGE_SLOPE],   from[RANGE_KEEP],  from[RANGE_DISCOUNT] };
}

/* S, x, and what exercise pays. */
__device__ real line_gain(const line_terms &t, const line_date &date, real at, real &s, real &x) {
    s = t.spot * real_exp(real_fma(t.vol, at, date.drift));
    x = (s - date.center) * date.inverse;
    return t.side * (t.strike - t.weight * s);
}

template <int N> __device__ real line_hold(const real (&rule)[N], real x) {
    real hold = rule[0], power = x;
#pragma unroll
    for (int j = 1; j < N; j++) {
        hold = real_fma(rule[j], power, hold);
        power *= x;
    }
    return hold;
}

/* Adds a path in the money to the sums; x and one are 0 where it is not. */
template <int N, int ROOM>
__device__ void line_add(real one, real x, real cash, real (&sum)[ROOM]) {
    real psi[N];
    psi[0] = one, psi[1] = x;
#pragma unroll
    for (int j = 2; j < N; j++) psi[j] = psi[j - 1] * x;
    int e = 0;
#pragma unroll
    for (int a = 0; a < N; a++)
#pragma unroll
        for (int b = 0; b <= a; b++, e++) sum[e] = real_fma(psi[a], psi[b], sum[e]);
#pragma unroll
    for (int a = 0; a < N; a++, e++) sum[e] = real_fma(psi[a], cash, sum[e]);
}

/* What a warp knows of its problem at dates i + 1 and i. */
template <int N, int LEVELS> struct line_view {
    line_terms terms;
    line_date before, now;
    bool starts, decides, moves, hedged;
    real rule[LEVELS][N];
    american_start start; /* at i = 0 */
};

template <int N, int LEVELS>
__device__ line_view<N, LEVELS> line_view_of(const american_job &job, int64_t k, int i) {
    const american_contract &c = *american_terms(&job, k);
    line_view<N, LEVELS> v;
    const bool put = c.payoff == SHOAL_PUT || c.payoff == SHOAL_BASKET_PUT;
    v.terms.spot = (real)american_spot(&job, k)[0];
    v.terms.vol = (real)american_list(&job, k, AMERICAN_VOL)[0];
    v.terms.strike = (real)c.strike;
    v.terms.weight = c.payoff <= SHOAL_CALL ? 1 : (real)american_list(&job, k, AMERICAN_WEIGHT)[0];
    v.terms.side = put ? 1 : -1;
    v.hedged = c.hedged;
    v.starts = i == job.dates, v.decides = i + 1 < job.dates, v.moves = i > 0;
    v.before = line_date_of(job, k, i + 1), v.now = line_date_of(job, k, i);
    v.start = v.moves ? american_start{} : american_start_of(&job, k);
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
        const int64_t system = level * job.problems + k;
        const real *rule =
            (const real *)job.rule + (v.decides ? american_rule_at(&job, system, i + 1) : 0);
#pragma unroll
        for (int j = 0; j < N; j++) v.rule[level][j] = v.decides ? rule[j] : 0;
    }
    return v;
}

/* C paths of a lane, SHARE apart, from state[0] on, at NOW levels: of a level those count that
 * come before the lane's left[level]. */
template <int NOW, int C, int N, int LEVELS, int ROOM>
__device__ void line_move(const line_view<N, LEVELS> &v, const real (&z)[C],
                          const int64_t (&left)[LEVELS], real *state, real (&sum)[LEVELS][ROOM]) {
    real at[C] = {}, cash[NOW][C] = {}, x[C] = {}, gain[C] = {}, next[C] = {}, s;
#pragma unroll
    for (int e = 0; e < C && !v.starts; e++) {
        at[e] = state[e * SHARE];
#pragma unroll
        for (int level = 0; level < NOW; level++)
            cash[level][e] = state[(1 + level) * LANES + e * SHARE];
    }
    if (!v.starts) {
#pragma unroll
        for (int e = 0; e < C; e++) {
            next[e] = line_gain(v.terms, v.before, at[e], s, x[e]);
#pragma unroll
            for (int level = 0; level < NOW; level++) {
                const real hold = line_hold(v.rule[level], x[e]);
                const int now = v.decides & (next[e] > 0) & (next[e] >= hold);
                cash[level][e] = real_pick(now, next[e], cash[level][e]);
            }
        }
    }
    if (v.moves) {
#pragma unroll
        for (int e = 0; e < C; e++) {
            at[e] = real_fma(v.now.load, z[e], v.now.keep * at[e]);
            gain[e] = line_gain(v.terms, v.now, at[e], s, x[e]);
            const real paid = real_pick(gain[e] > 0, gain[e], 0);
            const real ahead = v.terms.side * (v.terms.strike - v.now.carry * s);
            const real off =
                real_pick(v.hedged, american_hedge(v.now.slope, gain[e], next[e], ahead), 0);
#pragma unroll
            for (int level = 0; level < NOW; level++)
                cash[level][e] = real_pick(v.starts, paid, v.now.discount * (cash[level][e] - off));
            state[e * SHARE] = at[e];
        }
        if (!v.starts) {
#pragma unroll
            for (int e = 0; e < C; e++)
#pragma unroll
                for (int level = 0; level < NOW; level++) {
                    const int in = (gain[e] > 0) & (e * SHARE < left[level]);
                    line_add<N>(real_pick(in, 1, 0), real_pick(in, x[e], 0), cash[level][e],
                                sum[level]);
                }
        }
    }
#pragma unroll
    for (int e = 0; e < C; e++) {
        const american_start &o = v.start;
        const real off =
            real_pick(!v.moves & v.hedged, american_hedge(o.slope, o.gain, next[e], o.expected), 0);
#pragma unroll
        for (int level = 0; level < NOW; level++)
            state[(1 + level) * LANES + e * SHARE] = cash[level][e] - off;
    }
}

/* As many of a lane's paths as some lane of the warp needs; three are two and one. */
template <int NOW, int N, int LEVELS, int ROOM>
__device__ void line_share(const line_view<N, LEVELS> &v, const real (&z)[EACH_BLOCK],
                           const int64_t (&left)[LEVELS], int64_t first, real *state,
                           real (&sum)[LEVELS][ROOM]) {
    if (EACH_BLOCK > 2 && 3 * SHARE < first) {
        line_move<NOW, EACH_BLOCK>(v, z, left, state, sum);
        return;
    }
    const int count = EACH_BLOCK > 2 && 2 * SHARE < first ? 3 : SHARE < first ? 2 : 1;
    if (count > 1) {
        const real both[2] = { z[0], z[1] };
        line_move<NOW, 2>(v, both, left, state, sum);
        if (count == 2) return;
    }
    const int e = count - 1; /* the last one */
    const real last[1] = { e ? z[EACH_BLOCK - 2] : z[0] };
    int64_t after[LEVELS];
#pragma unroll
    for (int level = 0; level < LEVELS; level++) after[level] = left[level] - e * SHARE;
    line_move<NOW, 1>(v, last, after, state + e * SHARE, sum);
}

/* The warp's part of a block of paths, and its sums. */
template <int N, int LEVELS, int ROOM>
__device__ void line_block(const american_job &job, int64_t k, int64_t q, int i,
                           const line_view<N, LEVELS> &v, real (&sum)[LEVELS][ROOM]) {
    const int lane = (int)threadIdx.x % 32;
    const uint64_t path = american_first(&job, k) + (uint64_t)(q * SHARE + lane);
    real *state = (real *)job.state + (k * job.blocks + q) * american_state(&job) + lane;
    for (int share = 0; share < SHARE; share += 32) {
        int64_t left[LEVELS];
#pragma unroll
        for (int level = 0; level < LEVELS; level++)
            left[level] = american_paths(&job, level) - q * LANES - share - lane;
        if (left[0] + lane <= 0) return;
        real z[EACH_BLOCK] = {};
        if (v.moves) {
            const shoal_words w =
                words_at(job.normals, path + (uint64_t)share, (uint32_t)(job.dates - i));
            american_normals_of(&w, z);
        }
        if (left[LEVELS - 1] + lane > 0)
            line_share<LEVELS>(v, z, left, left[0] + lane, state + share, sum);
        else
            line_share<1>(v, z, left, left[0] + lane, state + share, sum);
    }
}

/* From date i + 1 to date i; i = 0: the decision at date 1 alone. */
template <int N, int LEVELS>
__global__ void __launch_bounds__(32 * LINE_WARPS) line_kernel(american_job job, int i) {
    constexpr int SUMS = N * (N + 3) / 2, ROOM = SUMS <= 16 ? 16 : SUMS <= 32 ? 32 : 64;
    const int lane = (int)threadIdx.x % 32;
    const int64_t unit = (int64_t)blockIdx.x * LINE_WARPS + threadIdx.x / 32;
    const int64_t each = line_whole(job) ? 1 : job.blocks, k = unit / each;
    if (k >= job.problems) return;
    const int64_t begin = unit % each, end = line_whole(job) ? job.blocks : begin + 1;
    const line_view<N, LEVELS> v = line_view_of<N, LEVELS>(job, k, i);
    double total[LEVELS][FOLDED<ROOM>] = {};
    for (int64_t q = begin; q < end; q++) {
        real sum[LEVELS][ROOM] = {};
        line_block(job, k, q, i, v, sum);
        if (v.starts || !v.moves) continue;
#pragma unroll
        for (int level = 0; level < LEVELS; level++) {
            if (q * LANES >= american_paths(&job, level)) continue;
            fold(sum[level]);
#pragma unroll
            for (int f = 0; f < FOLDED<ROOM>; f++) total[level][f] += (double)sum[level][f];
        }
    }
    if (v.starts || !v.moves) return;
    const int at = folded_first<ROOM>(lane);
#pragma unroll
    for (int level = 0; level < LEVELS; level++) {
        const int64_t system = level * job.problems + k;
        const double members = __shfl_sync(0xffffffffu, total[level][0], 0);
#pragma unroll
        for (int f = 0; f < FOLDED<ROOM>; f++) {
            if (at + f >= SUMS || (ROOM == 16 && lane % 2)) continue;
            if (line_whole(job))
                american_store(&job, system, at + f, total[level][f], members);
            else
                job.partial[(system * job.blocks + begin) * SUMS + at + f] = total[level][f];
        }
    }
}

static shoal_status line_visit(shoal_context *ctx, const american_job *job, int i) {
    typedef void (*kernel)(american_job, int);
    static const kernel one_level[] = { line_kernel<2, 1>, line_kernel<3, 1>, line_kernel<4, 1>,
                                        line_kernel<5, 1>, line_kernel<6, 1>, line_kernel<7, 1>,
                                        line_kernel<8, 1> };
    static const kernel two_levels[] = { line_kernel<2, 2>, line_kernel<3, 2>, line_kernel<4, 2>,
                                         line_kernel<5, 2>, line_kernel<6, 2> };
    const int64_t units = job->problems * (line_whole(*job) ? 1 : job->blocks);
    SHOAL_LAUNCH((job->levels > 1 ? two_levels : one_level)[job->basis.functions - 2],
                 dim3((unsigned)((units + LINE_WARPS - 1) / LINE_WARPS)), dim3(32 * LINE_WARPS), 0,
                 ctx->stream, *job, i);
    return shoal_launched(ctx, "american, a date on a line");
}

} // namespace

#endif
