/* SPDX-License-Identifier: Apache-2.0
 *
 * gspike.cu - one long system on the GPU by the g-Spike method, gspike.h; sections 3.1 to 3.3 of the paper.
 *
 * marshal  32 blocks of 32 rows, which lie one after another, are transposed in shared memory: row i of block
 *          j goes to [i * blocks + j], so that threads side by side read numbers side by side.
 *          Blocks of another size are copied row by row, without the transposition (marshal_any, finish_any).
 * factor   one thread per block of the matrix.
 * join     one thread per block of the next level, which lies in the same order; level by level.
 * top      one thread per solve, in shared memory: the last reduced system, of order below 128.
 * part     the way back of `join`.
 * finish   x = g - w x_left - v x_right, transposed back. Then the verdict of batch.cu, and the status of `top`.
 *
 * Bytes: dl, d, du, b once, about 25 numbers per row to and from the workspace, which is 5 n numbers and an
 * eighth more (a sixteenth without the split), and n more for what the verdict reads and writes. Several
 * solves are side by side in the grid, each with a workspace of its own.
 */
#include "tridiag/device.cuh"
#include "tridiag/gspike.h"

enum { SIDE = 32, LINES = 8, THREADS = 128 };

typedef struct solve_state { /* of all threads of a solve */
    unsigned long long cond; /* bits of a double >= 0: they order like the numbers */
    int input_bad, x_bad;
    int32_t status;
} solve_state;

typedef struct work { /* row r of solve v: l[v * rows + r] and so on */
    int64_t rows, slots;
    real *dl, *d, *du, *s, *b;
    gspike_block *blocks;
    gspike_pair *pairs;
    solve_state *states;
} work;

/* The rows of a unit, marshalled. (The top has one unit.) */
__device__ static inline gspike_rows rows_of(const work &w, int64_t v, const gspike_level &l,
                                             int64_t unit) {
    const int64_t at = v * w.rows + l.rows_at + unit;
    const gspike_rows r = { w.dl + at, w.d + at, w.du + at, w.s + at, w.b + at, l.units };
    return r;
}

__device__ static inline void note_cond(solve_state *s, real cond) {
    if (cond > 0) atomicMax(&s->cond, (unsigned long long)__double_as_longlong((double)cond));
}

/* Threads SIDE x LINES, a tile of SIDE units; a tile row is a unit here. Rows are scaled unless the plan says
 * no_split. */
__global__ static void __launch_bounds__(SIDE *LINES)
    marshal_kernel(tridiag_job job, work w, gspike_level l, int64_t tiles, int scaled) {
    SHOAL_SHARED(real, tile);
    const int64_t v = blockIdx.x / tiles, first = blockIdx.x % tiles * SIDE, n = job.n;
    const view at = view_of(job, v);
    real *const to[] = { w.dl, w.d, w.du, w.b };
    real poison = 0;
    for (int array = 0; array < 4; array++) {
        for (int j = threadIdx.y; j < SIDE; j += LINES) {
            const int64_t i = (first + j) * SIDE + threadIdx.x;
            const equation e = equation_at(at, n, i);
            const real number = array == 0 ? e.dl : array == 1 ? e.d : array == 2 ? e.du : e.b;
            poison = poisoned(poison, number);
            tile[j * (SIDE + 1) + threadIdx.x] =
                scaled ? number * row_scale(row_power(e.dl, e.d, e.du)) : number;
        }
        __syncthreads();
        const int64_t unit = first + threadIdx.x;
        for (int r = threadIdx.y; r < SIDE && unit < l.units; r += LINES)
            to[array][v * w.rows + r * l.units + unit] = tile[threadIdx.x * (SIDE + 1) + r];
        __syncthreads();
    }
    if (poison != 0) atomicOr(&w.states[v].input_bad, 1);
}

/* marshal for blocks of any size: one thread per row. */
__global__ static void __launch_bounds__(THREADS)
    marshal_any_kernel(tridiag_job job, work w, gspike_level l, int64_t groups, int scaled) {
    const int64_t v = blockIdx.x / groups, n = job.n;
    const int64_t i = blockIdx.x % groups * THREADS + threadIdx.x;
    if (i >= n) return;
    const equation e = equation_at(view_of(job, v), n, i);
    const real scale = scaled ? row_scale(row_power(e.dl, e.d, e.du)) : 1;
    const int64_t at = v * w.rows + i % l.rows * l.units + i / l.rows;
    real poison = poisoned(poisoned(0, e.dl), e.d);
    poison = poisoned(poisoned(poison, e.du), e.b);
    w.dl[at] = e.dl * scale, w.d[at] = e.d * scale, w.du[at] = e.du * scale;
    w.b[at] = e.b * scale;
    if (poison != 0) atomicOr(&w.states[v].input_bad, 1);
}

__global__ static void __launch_bounds__(THREADS)
    factor_kernel(tridiag_job job, work w, gspike_level l, gspike_rules rules, int64_t groups) {
    const int64_t v = blockIdx.x / groups;
    const int64_t unit = blockIdx.x % groups * THREADS + threadIdx.x;
    if (unit >= l.units) return;
    const gspike_rows rows = rows_of(w, v, l, unit);
    const int64_t left = job.n - unit * l.rows;
    const int count = left < l.rows ? (int)left : l.rows;
    note_cond(&w.states[v],
              gspike_unit(&rows, count, NULL, unit == l.units - 1, rules,
                          w.blocks + v * w.slots + l.slots_at + unit * l.slots, l.slots));
}

__global__ static void __launch_bounds__(THREADS)
    join_kernel(work w, gspike_level below, gspike_level l, gspike_rules rules, int64_t groups) {
    const int64_t v = blockIdx.x / groups;
    const int64_t unit = blockIdx.x % groups * THREADS + threadIdx.x;
    if (unit >= l.units) return;
    int count;
    gspike_block *all = w.blocks + v * w.slots;
    const gspike_block *from = all + gspike_below(&below, unit, &count);
    gspike_block *out = all + l.slots_at + unit * l.slots;
    const gspike_rows rows = rows_of(w, v, l, unit);
    const gspike_joint j = gspike_join(&rows, from, count);
    if (j.live > 1)
        note_cond(&w.states[v],
                  gspike_unit(&rows, j.rows, &j, unit == l.units - 1, rules, out, l.slots));
    else
        gspike_pass(&j, out, l.slots);
}

__global__ static void top_kernel(work w, gspike_level last, int64_t n, gspike_rules rules) {
    SHOAL_SHARED(real, shared);
    enum { ROWS = 2 * GSPIKE_TOP };
    const int64_t v = blockIdx.x, at = v * w.slots + last.slots_at;
    const gspike_rows rows = {
        shared, shared + ROWS, shared + 2 * ROWS, shared + 3 * ROWS, shared + 4 * ROWS, 1
    };
    solve_state *state = &w.states[v];
    const double worst = __longlong_as_double((long long)state->cond);
    state->status = gspike_solve_top(&rows, w.blocks + at, (int)(last.units * last.slots), n, worst,
                                     rules, w.pairs + at);
}

__global__ static void __launch_bounds__(THREADS)
    part_kernel(work w, gspike_level below, gspike_level l, int64_t groups) {
    const int64_t v = blockIdx.x / groups;
    const int64_t unit = blockIdx.x % groups * THREADS + threadIdx.x;
    if (unit >= l.units) return;
    int count;
    const int64_t own = v * w.slots + l.slots_at + unit * l.slots;
    const int64_t to = v * w.slots + gspike_below(&below, unit, &count);
    const gspike_rows rows = rows_of(w, v, l, unit);
    const gspike_ends whole = gspike_finish(&rows, w.blocks + own, w.pairs + own, l.slots);
    gspike_part(&rows, w.blocks + to, count, whole, w.pairs + to);
}

/* marshal backwards: x of a tile to y, n numbers per solve. What has no answer gets NaN. */
__global__ static void __launch_bounds__(SIDE *LINES)
    finish_kernel(tridiag_job job, work w, gspike_level l, int64_t tiles, real *y) {
    SHOAL_SHARED(real, tile);
    const int64_t v = blockIdx.x / tiles, first = blockIdx.x % tiles * SIDE, n = job.n;
    const int64_t unit = first + threadIdx.x;
    const bool answered = w.states[v].status >= 0;
    real poison = 0;
    if (unit < l.units) {
        const int64_t slot = v * w.slots + l.slots_at + unit * l.slots;
        const int cut = w.blocks[slot].rows; /* the second piece begins there, if there is one */
        const gspike_pair first_ends = w.pairs[slot],
                          second_ends = l.slots > 1 ? w.pairs[slot + 1] : first_ends;
        for (int r = threadIdx.y; r < SIDE && unit * SIDE + r < n; r += LINES) {
            const int64_t at = v * w.rows + r * l.units + unit;
            const gspike_pair ends = r < cut ? first_ends : second_ends;
            const real x = real_mad(-w.s[at], ends.right, real_mad(-w.dl[at], ends.left, w.b[at]));
            tile[threadIdx.x * (SIDE + 1) + r] = x;
            poison = poisoned(poison, x);
        }
    }
    if (poison != 0) atomicOr(&w.states[v].x_bad, 1);
    __syncthreads();
    for (int j = threadIdx.y; j < SIDE; j += LINES) {
        const int64_t i = (first + j) * SIDE + threadIdx.x;
        if (i < n) y[v * n + i] = answered ? tile[j * (SIDE + 1) + threadIdx.x] : real_nan();
    }
}

/* finish for blocks of any size. y is where R was: no row reads it here. */
__global__ static void __launch_bounds__(THREADS)
    finish_any_kernel(tridiag_job job, work w, gspike_level l, int64_t groups, real *y) {
    const int64_t v = blockIdx.x / groups, n = job.n;
    const int64_t i = blockIdx.x % groups * THREADS + threadIdx.x;
    if (i >= n) return;
    const int64_t unit = i / l.rows, r = i % l.rows, at = v * w.rows + r * l.units + unit;
    const int64_t slot = v * w.slots + l.slots_at + unit * l.slots;
    const gspike_pair ends = w.pairs[l.slots > 1 && r >= w.blocks[slot].rows ? slot + 1 : slot];
    const real x = real_mad(-w.s[at], ends.right, real_mad(-w.dl[at], ends.left, w.b[at]));
    if (poisoned(0, x) != 0) atomicOr(&w.states[v].x_bad, 1);
    y[v * n + i] = w.states[v].status >= 0 ? x : real_nan();
}

/* After the verdict, which is -2 for every x that is not finite: the status of the matrix itself, or an
 * overflow of x. */
__global__ static void note_kernel(tridiag_job job, work w, const int32_t *condition) {
    const int64_t v = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= solves(job)) return;
    solve_state s = w.states[v];
    if (condition && s.status == SHOAL_SYSTEM_OK && condition[v] != SHOAL_SYSTEM_OK)
        s.status = SHOAL_SYSTEM_ILL;
    const bool overflow = s.status >= 0 && s.x_bad;
    if (!s.input_bad && (overflow || s.status != SHOAL_SYSTEM_OK))
        merge_status(&job.status[job.nrhs == 1 ? v : v / job.nrhs],
                     overflow ? (int32_t)SHOAL_SYSTEM_OVERFLOW : s.status);
}

extern "C" const tridiag_condition R(tridiag_condition);

/* ---- launching ------------------------------------------------------------------------------------ */

/* Lays the arrays of `w` out from `memory` on; *used is how many bytes they take. */
static work lay_out(const shoal_tridiag *plan, const gspike_tree *t, char *memory, size_t *used) {
    const size_t solves = (size_t)(plan->job.count * plan->job.nrhs);
    const size_t array = tridiag_aligned(solves * (size_t)t->rows * sizeof(real));
    const size_t blocks = tridiag_aligned(solves * (size_t)t->slots * sizeof(gspike_block));
    const size_t pairs = tridiag_aligned(solves * (size_t)t->slots * sizeof(gspike_pair));
    work w;
    w.rows = t->rows, w.slots = t->slots;
    w.dl = (real *)memory;
    w.d = (real *)(memory + array), w.du = (real *)(memory + 2 * array);
    w.s = (real *)(memory + 3 * array), w.b = (real *)(memory + 4 * array);
    w.blocks = (gspike_block *)(memory + 5 * array);
    w.pairs = (gspike_pair *)(memory + 5 * array + blocks);
    w.states = (solve_state *)(memory + 5 * array + blocks + pairs);
    *used = 5 * array + blocks + pairs + tridiag_aligned(solves * sizeof(solve_state));
    return w;
}

static size_t gspike_bytes(const shoal_tridiag *plan) {
    const gspike_tree t = gspike_plan(plan->job.n, plan->block, !plan->no_split);
    size_t used;
    lay_out(plan, &t, NULL, &used);
    return used + R(tridiag_verdict_bytes)(plan) + R(tridiag_condition).bytes(plan);
}

static int64_t groups_of(int64_t items, int each) { return (items + each - 1) / each; }

static shoal_status gspike_run(shoal_tridiag *plan, const tridiag_job *job) {
    const gspike_tree t = gspike_plan(job->n, plan->block, !plan->no_split);
    const gspike_rules rules = { plan->delta, plan->block_cond, !plan->no_split };
    size_t used;
    const work w = lay_out(plan, &t, (char *)job->work, &used);
    const int64_t solves = job->count * job->nrhs, tiles = groups_of(t.level[0].units, SIDE);
    void *stream = plan->head.ctx->stream;
    void *condition = NULL; /* before b, which x may be, is written to */
    if (job->residual) {
        condition = (char *)job->work + used + R(tridiag_verdict_bytes)(plan);
        const shoal_status status = R(tridiag_condition).of_all(plan, job, condition);
        if (status != SHOAL_OK) return status;
    }
    if (groups_of(job->n, SIDE) * solves > INT32_MAX)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "gspike: n * count * nrhs has too many rows");
    const dim3 tile_grid((unsigned)(tiles * solves)), tile_block(SIDE, LINES);
    const size_t tile_bytes = SIDE * (SIDE + 1) * sizeof(real);
    cudaMemsetAsync(w.states, 0, (size_t)solves * sizeof(solve_state), (cudaStream_t)stream);
    const bool is_tiled = plan->block == SIDE;
    const int64_t row_groups = groups_of(job->n, THREADS);
    const dim3 row_grid((unsigned)(row_groups * solves)), row_block(THREADS);
    if (is_tiled)
        SHOAL_LAUNCH(marshal_kernel, tile_grid, tile_block, tile_bytes, stream, *job, w, t.level[0],
                     tiles, rules.split);
    else
        SHOAL_LAUNCH(marshal_any_kernel, row_grid, row_block, 0, stream, *job, w, t.level[0],
                     row_groups, rules.split);
    for (int i = 0; i < t.top; i++) {
        const int64_t groups = groups_of(t.level[i].units, THREADS);
        const dim3 grid((unsigned)(groups * solves)), block(THREADS);
        if (i == 0)
            SHOAL_LAUNCH(factor_kernel, grid, block, 0, stream, *job, w, t.level[0], rules, groups);
        else
            SHOAL_LAUNCH(join_kernel, grid, block, 0, stream, w, t.level[i - 1], t.level[i], rules,
                         groups);
    }
    SHOAL_LAUNCH(top_kernel, dim3((unsigned)solves), dim3(1), 10 * GSPIKE_TOP * sizeof(real),
                 stream, w, t.level[t.top - 1], job->n, rules);
    for (int i = t.top - 1; i > 0; i--) {
        const int64_t groups = groups_of(t.level[i].units, THREADS);
        SHOAL_LAUNCH(part_kernel, dim3((unsigned)(groups * solves)), dim3(THREADS), 0, stream, w,
                     t.level[i - 1], t.level[i], groups);
    }
    real *y = w.d; /* R has served, of all solves */
    if (is_tiled)
        SHOAL_LAUNCH(finish_kernel, tile_grid, tile_block, tile_bytes, stream, *job, w, t.level[0],
                     tiles, y);
    else
        SHOAL_LAUNCH(finish_any_kernel, row_grid, row_block, 0, stream, *job, w, t.level[0],
                     row_groups, y);
    const shoal_status status =
        R(tridiag_verdict)(plan, job, y, (char *)job->work + used, SHOAL_SYSTEM_PIVOT);
    if (status != SHOAL_OK) return status;
    SHOAL_LAUNCH(note_kernel, dim3((unsigned)groups_of(solves, THREADS)), dim3(THREADS), 0, stream,
                 *job, w, (const int32_t *)condition);
    return shoal_launched(plan->head.ctx, "gspike");
}

extern "C" const tridiag_cuda_method R(tridiag_gspike) = { gspike_bytes, gspike_run };
