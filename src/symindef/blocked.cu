/* SPDX-License-Identifier: Apache-2.0
 *
 * blocked.cu - partial (Bunch-Kaufman) and rook (bounded Bunch-Kaufman) pivoting on the GPU: Kruchinina's
 * thesis, Algorithms 3 and 4. A panel is one cooperative kernel, without the host; trailing.cuh has the
 * work between panels, and search.h chooses the pivots: the two methods differ there alone.
 *
 * As on the CPU (blocked.c) the stored matrix stays as it was when the panel began, except for
 * exchanges, and a column is evaluated when the search looks at it. A block has a range of rows; 8
 * threads share the terms of a row. A look ends with one record per block, a barrier of the grid, and
 * every block choosing the best of all records for itself. There is no other barrier in a stage:
 *   - columns are kept in global memory, two sets in turn, so that each block can read the entries of
 *     the pivot's columns in other rows;
 *   - after an exchange the next look reads rows at their old places (row_before), which are not
 *     written: a row that was moved to makes room, k and k + 1 are copied from and not written until the
 *     panel ends. From the second look on the barrier has made all exchanges visible;
 *   - rows are moved by the block they move to.
 * So a stage takes as many barriers as looks: 1 or 2 with partial pivoting.
 */
#define _CG_LIMIT_INCLUDED_DEPENDENCIES /* the toolkit's: half the time to compile this file */
#include <cooperative_groups.h>
#include "symindef/trailing.cuh"

enum { BLOCK = 512, WARPS = BLOCK / 32, TEAM = 8, WARP_ROWS = 32 / TEAM };
enum { BLOCK_ROWS = WARPS * WARP_ROWS };

namespace {

struct record { /* of one block: what it has seen in a column */
    real entry;
    int32_t row, bad;
};

/* What the threads of a block share. The last stage is needed until the next look is over. */
struct shared_panel {
    real w[PANEL], v[PANEL]; /* -w_t and -v_t of the row of the column in question */
    record of_warp[WARPS];
    stage stages[2];
    pivot_search search;
    int of_last[2]; /* the slots of the last pivot's columns */
    int settled, bad;
};

struct rows_of_block {
    int64_t first, end;
    __device__ bool has(int64_t i) const { return i >= first && i < end; }
};

} // namespace

__device__ static inline bool better(const record &a, const record &b) {
    const real x = real_abs(a.entry), y = real_abs(b.entry);
    return x > y || (x == y && a.row < b.row);
}

__device__ static inline record better_of(const record &mine, const record &other) {
    record best = better(other, mine) ? other : mine;
    best.bad = mine.bad | other.bad;
    return best;
}

/* The best of lanes that lie `step`, step / 2, ... 1 apart. */
__device__ static inline record best_of_lanes(record mine, int step) {
    for (; step > 0; step /= 2) {
        record other;
        other.entry = __shfl_xor_sync(~0u, mine.entry, step);
        other.row = __shfl_xor_sync(~0u, mine.row, step);
        other.bad = __shfl_xor_sync(~0u, mine.bad, step);
        mine = better_of(mine, other);
    }
    return mine;
}

__device__ static inline record nothing_seen() { return record{ 0, INT32_MAX, 0 }; }

/* Column `slot` of the set that belongs to a stage. */
__device__ static inline real *column_of(const workspace &work, int turn, int slot) {
    return work.columns + (2 * turn + slot) * work.stride;
}

/* -w_t and -v_t of column j. Where `last` has just been eliminated its own terms are not there for
 * all to see; they follow from its columns. */
__device__ static void fetch_terms(const workspace &work, shared_panel *s, int64_t j, int count,
                                   const stage *last, int turn) {
    const int t = threadIdx.x, fresh = last ? last->order : 0;
    const int64_t row = last ? row_before(last, j) : j;
    if (t < count - fresh) {
        s->w[t] = -work.w[t * work.stride + row];
        s->v[t] = -work.v[t * work.stride + row];
    } else if (t < count) {
        real c[2] = { 0, 0 }, m[2];
        for (int u = 0; u < fresh; u++) c[u] = column_of(work, 1 - turn, s->of_last[u])[row];
        multipliers(last, c, m);
        s->w[t] = -c[t - count + fresh], s->v[t] = -m[t - count + fresh];
    }
}

/* Evaluates the block's rows of column j; the best of each warp is left in s->of_warp. */
__device__ static void evaluate_column(const symindef_job &job, const workspace &work,
                                       shared_panel *s, const rows_of_block &mine, int64_t k,
                                       int64_t j, int count, const stage *last, real *column) {
    const real *a = (const real *)job.a;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int place_in_team = lane / WARP_ROWS;
    record best = nothing_seen();
    for (int64_t base = mine.first + warp * WARP_ROWS; base < mine.end; base += BLOCK_ROWS) {
        if (base + WARP_ROWS <= k) continue;
        const int64_t i = base + lane % WARP_ROWS;
        const bool valid = i >= k && i < mine.end;
        real sum = 0;
        if (valid) {
            const real *list = i <= j ? work.v : work.w, *factor = i <= j ? s->w : s->v;
            if (place_in_team == 0)
                sum = last ? a[place(&job.shape, row_before(last, i), row_before(last, j))]
                           : a[place(&job.shape, i, j)];
#pragma unroll
            for (int u = 0; u < PANEL / TEAM; u++) {
                const int t = u * TEAM + place_in_team;
                if (t < count) sum = fused(factor[t], list[t * work.stride + i], sum);
            }
        }
        for (int step = WARP_ROWS; step < 32; step *= 2) sum += __shfl_xor_sync(~0u, sum, step);
        if (valid) {
            if (place_in_team == 0) column[i] = sum;
            const int bad = !(real_abs(sum) <= REAL_MAX);
            best.bad |= bad;
            if (i != j) best = better_of(best, record{ sum, (int32_t)i, bad });
        }
    }
    best = best_of_lanes(best, WARP_ROWS / 2);
    if (lane == 0) s->of_warp[warp] = best;
}

/* The first warp of each block takes what all have seen, and chooses. */
__device__ static void choose(const symindef_job &job, int rook, const record *records,
                              shared_panel *s, stage *now, real diagonal) {
    record best = nothing_seen();
    for (unsigned b = threadIdx.x; b < gridDim.x; b += 32) best = better_of(best, records[b]);
    best = best_of_lanes(best, 16);
    if (threadIdx.x > 0) return;
    const column_look seen = { diagonal, best.entry, best.row };
    s->bad = best.bad;
    s->settled =
        best.bad || consider(&s->search, rook, &seen, (real)job.alpha, (real)job.state->tol, now);
}

/* The block's rows below the pivot: exchanges and new updates. */
__device__ static void eliminate_rows(const symindef_job &job, const workspace &work,
                                      const shared_panel *s, const rows_of_block &mine,
                                      const stage &now, int count, int turn) {
    real *a = (real *)job.a;
    const int64_t below = now.k + now.order;
    const real *columns[2] = { column_of(work, turn, s->search.of_pivot[0]),
                               column_of(work, turn, s->search.of_pivot[1]) };
    for (int64_t i = mine.first + threadIdx.x; i < mine.end; i += BLOCK) {
        if (i < below) continue;
        const int64_t before = row_before(&now, i);
        real c[2] = { 0, 0 }, m[2];
        for (int t = 0; t < now.order; t++) c[t] = columns[t][before];
        multipliers(&now, c, m);
        for (int t = 0; t < now.order; t++) {
            work.w[(count + t) * work.stride + i] = c[t];
            work.v[(count + t) * work.stride + i] = m[t];
        }
        int moves = now.moves; /* between two rows that move the entry belongs to the later move */
        for (int l = 0; l < now.moves; l++)
            if (now.to[l] == i) moves = l + 1;
        for (int l = 0; l < moves; l++)
            a[place(&job.shape, i, now.to[l])] = a[place(&job.shape, before, now.from[l])];
    }
}

/* The pivot's rows of M so far, written by the blocks that have them; then rows move over them, in
 * the list, each term by the thread that has read it. */
__device__ static void move_rows(const symindef_job &job, const workspace &work,
                                 const rows_of_block &mine, const stage &now, int64_t begin,
                                 int count) {
    const int t = threadIdx.x % PANEL, part = threadIdx.x / PANEL;
    if (part > 1 || t >= count) return;
    real *list = (part ? work.v : work.w) + t * work.stride;
    for (int u = 0; u < now.order; u++)
        if (part == 1 && mine.has(now.pivot[u]))
            ((real *)job.a)[place(&job.shape, now.k + u, begin + t)] = list[now.pivot[u]];
    for (int l = 0; l < now.moves; l++)
        if (mine.has(now.to[l])) list[now.to[l]] = list[now.from[l]];
}

/* M of the rows that are left, and D. */
__device__ static void write_panel(const symindef_job &job, const workspace &work,
                                   const rows_of_block &mine, int64_t begin, int64_t k, int count) {
    real *a = (real *)job.a;
    const int64_t first = mine.first > k ? mine.first : k, rows = mine.end - first;
    for (int64_t at = threadIdx.x; at < rows * count; at += BLOCK) {
        const int64_t i = first + (job.shape.upper ? at % rows : at / count);
        const int64_t t = job.shape.upper ? at / rows : at % count;
        a[place(&job.shape, i, begin + t)] = work.v[t * work.stride + i];
    }
    const real *d = (const real *)job.d, *e = (const real *)job.e;
    const int64_t j = begin + threadIdx.x;
    if (blockIdx.x > 0 || j >= k) return;
    a[place(&job.shape, j, j)] = d[j];
    if (e[j] != 0) a[place(&job.shape, j + 1, j)] = e[j];
}

/* `full` terms are a full panel; one more may come. */
__global__ static void __launch_bounds__(BLOCK)
    panel_kernel(symindef_job job, workspace work, int rook, int full) {
    SHOAL_SHARED_ARRAY(shared_panel, shared, 1);
    shared_panel *s = shared;
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int64_t n = job.shape.n, begin = work.state->row;
    if (work.state->stop || begin >= job.eliminate) return;
    const int64_t share = ((n - begin + gridDim.x - 1) / gridDim.x + 3) / 4 * 4;
    const int64_t first = begin + blockIdx.x * share;
    const rows_of_block mine = { first < n ? first : n, first + share < n ? first + share : n };
    int64_t k = begin;
    int count = 0, turn = 0, look = 0, bad = 0;
    while (count < full && k < job.eliminate) {
        stage *now = &s->stages[turn], *last = count ? &s->stages[1 - turn] : nullptr;
        if (threadIdx.x == 0) s->search = search_from(k);
        for (;; last = nullptr, look = 1 - look) {
            record *records = work.records + look * gridDim.x;
            __syncthreads();
            const int64_t j = s->search.column;
            real *column = column_of(work, turn, s->search.slot);
            fetch_terms(work, s, j, count, last, turn);
            __syncthreads();
            evaluate_column(job, work, s, mine, k, j, count, last, column);
            __syncthreads();
            if (threadIdx.x < 32) {
                const record best = best_of_lanes(
                    threadIdx.x < WARPS ? s->of_warp[threadIdx.x] : nothing_seen(), WARPS / 2);
                if (threadIdx.x == 0) records[blockIdx.x] = best;
            }
            grid.sync();
            if (threadIdx.x < 32) choose(job, rook, records, s, now, column[j]);
            __syncthreads();
            if (s->settled) break;
        }
        look = 1 - look;
        bad = s->bad;
        if (bad) break;
        eliminate_rows(job, work, s, mine, *now, count, turn);
        move_rows(job, work, mine, *now, begin, count);
        if (blockIdx.x == 0 && threadIdx.x == BLOCK - 1) { /* the permutation follows at the end */
            record_pivot(&job, now, work.state->magnitude);
            job.state->compared += s->search.looks * (job.shape.n - now->k);
        }
        __syncthreads(); /* the search is read no more */
        if (threadIdx.x == 0)
            for (int u = 0; u < 2; u++) s->of_last[u] = s->search.of_pivot[u];
        k += now->order, count += now->order, turn = 1 - turn;
    }
    grid.sync();
    if (!bad) write_panel(job, work, mine, begin, k, count);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        record_panel(job, work, begin, k, bad ? 0 : count, bad);
}

/* ---- the launches ---- */

static size_t bytes_of_records(const shoal_symindef *plan) {
    return 2 * (size_t)plan->head.ctx->multiprocessors * sizeof(record);
}

static size_t blocked_bytes(const shoal_symindef *plan) {
    return workspace_bytes(plan, bytes_of_records(plan));
}

/* Blocks of a panel of m rows: all of them resident. */
static unsigned panel_blocks(const shoal_symindef *plan, int64_t m) {
    const int64_t wanted = (m + BLOCK_ROWS - 1) / BLOCK_ROWS,
                  limit = plan->head.ctx->multiprocessors;
    return (unsigned)(wanted < limit ? wanted : limit);
}

static shoal_status blocked_run(shoal_symindef *plan, const symindef_job *job, int rook,
                                const char *name) {
    const workspace work = workspace_of(job, bytes_of_records(plan));
    const int64_t n = job->shape.n, panels = max_panels(job);
    const int full = job->growth ? 1 : PANEL - 1; /* minimum, except in the last panel */
    void *stream = plan->head.ctx->stream;
    SHOAL_LAUNCH(start_kernel, dim3(1), dim3(1), 0, stream, *job, work);
    for (int64_t p = 0; p < panels; p++) {
        /* rows eliminated before and after it, at least */
        const int64_t before = p * full, then = before + full;
        const int64_t after = then < job->eliminate ? then : job->eliminate;
        if (job->growth) launch_largest(plan, job, work, n - before);
        SHOAL_LAUNCH_COOPERATIVE(panel_kernel, dim3(panel_blocks(plan, n - before)), dim3(BLOCK), 0,
                                 stream, *job, work, rook, full);
        if (after < n) launch_trailing(plan, job, work, n - after, p);
    }
    launch_permute(plan, job, work, panels);
    return shoal_launched(plan->head.ctx, name);
}

static shoal_status partial_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 0, "partial");
}
static shoal_status rook_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 1, "rook");
}

extern "C" const symindef_method R(symindef_partial) = { blocked_bytes, partial_run };
extern "C" const symindef_method R(symindef_rook) = { blocked_bytes, rook_run };
