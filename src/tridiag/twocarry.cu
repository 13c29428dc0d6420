/* SPDX-License-Identifier: Apache-2.0
 *
 * twocarry.cu - one long system on the GPU by the two-carry reduction of twocarry.h, in two passes.
 *
 * reduce  A thread has ROWS rows, a warp a tile of them, which it brings to shared memory in pieces of 16
 *         bytes. Each thread reduces its rows to a relation, which is kept.
 * gather, top, spread (twocarry_tree.cuh) find the pair at both ends of every thread's rows.
 * solve   each thread, from the pair on its left, reduces its rows as before, keeps the pivot rows where
 *         dl, d and du were, and substitutes back; x takes the place of b and leaves in pieces of 16 bytes.
 *
 * Bytes: dl, d, du, b twice and x once, and 11 numbers per thread are kept: 10 n numbers in all, 8 % of the
 * input for workspace. About 120 operations in double per row: less than the time of the memory.
 * Seven tiles of doubles are in a multiprocessor at a time: while some arrive others are worked on.
 * Several solves are side by side in the grid. If the residual is computed, a tile reads its rows
 * once more before x is written, mostly from cache.
 */
#include "tridiag/twocarry_tree.cuh"

enum { BLOCK = 256 };

/* ---- a tile of rows in shared memory --------------------------------------------------------- */

/* Number i of thread t lies at tile_at(t, i): pieces of 16 bytes in such an order that threads side by
 * side read from different banks. */
enum {
    ROWS = 32,
    THREADS = 32,
    TILE = ROWS * THREADS,
    VECTOR = 16 / sizeof(real),
    PIECES = ROWS / VECTOR, /* of 16 bytes, of a thread and array */
    HALF = PIECES / 2
};

struct alignas(16) piece {
    real e[VECTOR];
};

#ifdef SHOAL_SINGLE
typedef float4 sixteen; /* a piece for the streaming store */
#else
typedef double2 sixteen;
#endif

/* Where piece p of thread t of a tile lies, in numbers; and number i. */
__device__ static inline unsigned piece_at(unsigned t, unsigned p) {
    return t * ROWS + (p ^ (t & 7u & (PIECES - 1u))) * VECTOR;
}
__device__ static inline unsigned tile_at(unsigned t, unsigned i) {
    return piece_at(t, i / VECTOR) + i % VECTOR;
}

/* One array of a tile to shared memory; past the end of the system: `filler`. */
template <bool PIECEWISE>
__device__ static inline void load_array(real *to, const real *from, int64_t begin, int64_t n,
                                         int64_t stride, real filler) {
    if (PIECEWISE && begin + TILE <= n) {
        const piece *pieces = (const piece *)(from + begin) + threadIdx.x;
#pragma unroll
        for (unsigned k = 0; k < PIECES; k++) {
            const unsigned p = threadIdx.x + k * THREADS;
            shoal_copy_async((piece *)(to + piece_at(p / PIECES, p % PIECES)),
                             pieces + k * THREADS);
        }
        return;
    }
#pragma unroll 1
    for (unsigned e = threadIdx.x; e < TILE; e += THREADS) {
        real *at = to + tile_at(e / ROWS, e % ROWS);
        if (begin + e < n)
            shoal_copy_async(at, from + (begin + e) * stride);
        else
            *at = filler;
    }
}

/* The rows past the end are those of root_pairs(). */
template <bool PIECEWISE>
__device__ static inline void load_tile(real *shared, const tridiag_job &job, const view &w,
                                        int64_t begin) {
    const bool open = ends_of(job.periodic, job.n) == ENDS_OPEN;
    load_array<PIECEWISE>(shared, w.dl, begin, job.n, w.row, open ? 0 : 1);
    load_array<PIECEWISE>(shared + TILE, w.d, begin, job.n, w.row, open ? 1 : 0);
    load_array<PIECEWISE>(shared + 2 * TILE, w.du, begin, job.n, w.row, open ? 0 : -1);
    load_array<PIECEWISE>(shared + 3 * TILE, w.b, begin, job.n, w.rhs_row, 0);
}

/* Once it is there: dl of the first row and du of the last one do not exist, unless the ends meet. A single
 * row meets itself. */
__device__ static inline void finish_load(real *shared, const tridiag_job &job, int64_t begin) {
    shoal_copy_async_wait_all();
    __syncthreads();
    const int64_t last = job.n - 1 - begin;
    if (threadIdx.x == 0 && ends_of(job.periodic, job.n) == ENDS_OPEN) {
        if (job.periodic && job.n == 1)
            fold_row(shared[0], &shared[TILE], shared[2 * TILE], &shared[3 * TILE]);
        if (begin == 0) shared[tile_at(0, 0)] = 0;
        if (last < TILE)
            shared[2 * TILE + tile_at((unsigned)last / ROWS, (unsigned)last % ROWS)] = 0;
    }
    __syncthreads();
}

/* Rows p VECTOR .. of the thread. */
__device__ static inline void load_rows(tri_row (&row)[VECTOR], const real *shared, unsigned p) {
    const unsigned at = piece_at(threadIdx.x, p);
    const piece dl = *(const piece *)(shared + at), d = *(const piece *)(shared + TILE + at);
    const piece du = *(const piece *)(shared + 2 * TILE + at);
    const piece b = *(const piece *)(shared + 3 * TILE + at);
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = tri_row{ dl.e[e], d.e[e], du.e[e], b.e[e] };
}

/* scaled_row() of VECTOR rows by integers, which the unit for doubles does not see. `most` becomes the
 * upper half of the largest number seen. */
__device__ static inline void prepare_rows(tri_row (&row)[VECTOR], int32_t &most) {
    const int32_t size = 0x7fffffff, end = (2 * REAL_BIAS - 1) * HIGH_ONE;
    int32_t top[VECTOR], least = size;
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const int32_t dl = high_of(row[e].dl) & size, d = high_of(row[e].d) & size;
        top[e] = max(max(dl, d), high_of(row[e].du) & size);
        most = max(most, max(top[e], high_of(row[e].b) & size));
        least = top[e] < least ? top[e] : least;
    }
    if (least < high_of(tiny_row())) {
#pragma unroll
        for (int e = 0; e < VECTOR; e++) row[e] = scaled_row(raised_row(row[e]));
        return;
    }
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const int32_t power = top[e] & ~(HIGH_ONE - 1);
        const real scale = from_high(2 * REAL_BIAS * HIGH_ONE - (power > end ? end : power));
        row[e] =
            tri_row{ row[e].dl * scale, row[e].d * scale, row[e].du * scale, row[e].b * scale };
    }
}

/* Rows as they look from the other end. */
__device__ static inline void mirror_rows(tri_row (&row)[VECTOR]) {
    tri_row mirrored[VECTOR];
#pragma unroll
    for (int e = 0; e < VECTOR; e++) {
        const tri_row r = row[VECTOR - 1 - e];
        mirrored[e] = tri_row{ r.du, r.d, r.dl, r.b };
    }
#pragma unroll
    for (int e = 0; e < VECTOR; e++) row[e] = mirrored[e];
}

/* Whether `most` of prepare_rows() is not finite. */
__device__ static inline bool is_nonfinite(int32_t most) { return most >= HIGH_END; }

/* Norms of a tile's rows and its x, which is in shared memory; `before` and `beyond` are its neighbours',
 * `first` comes after the last of all. */
__device__ static inline void judge_tile(const tridiag_job &job, const view &w, int64_t begin,
                                         const real *x, real before, real beyond, real first,
                                         solve_state *state) {
    norms m = {};
    real b = 0;
    for (unsigned e = threadIdx.x; e < TILE && begin + e < job.n; e += THREADS) {
        equation q = equation_at(w, job.n, begin + e);
        if (job.periodic && begin + e == 0) q.dl = w.dl[0];
        const bool last = begin + e == job.n - 1;
        if (job.periodic && last) q.du = w.du[(job.n - 1) * w.row];
        real left = e ? x[tile_at((e - 1) / ROWS, (e - 1) % ROWS)] : before;
        real right = e < TILE - 1 ? x[tile_at((e + 1) / ROWS, (e + 1) % ROWS)] : beyond;
        if (last) right = first;
        if (job.periodic && job.n == 1) left = right = x[0];
        norms_row(&m, q.dl, q.d, q.du, q.b, left, x[tile_at(e / ROWS, e % ROWS)], right);
        const real rhs = real_abs(q.b * row_scale(row_power(q.dl, q.d, q.du)));
        b = real_max(q.b == 0 ? 0 : real_max(rhs, REAL_TINY), b);
    }
    norms_over_lanes(&m, 32);
    for (int bit = 16; bit > 0; bit /= 2) b = real_max(b, __shfl_xor_sync(0xffffffffu, b, bit));
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&state->b, bits_of(b));
    atomicMax(&state->r, bits_of(m.poison == 0 ? m.r : real_nan()));
    atomicMax(&state->x, bits_of(m.x));
}

/* ---- the passes ------------------------------------------------------------------------------ */

template <bool PIECEWISE>
__global__ static void __launch_bounds__(THREADS)
    reduce_kernel(tridiag_job job, tree l, unsigned tiles) {
    SHOAL_SHARED(real, shared);
    const int64_t v = blockIdx.x / tiles, tile = blockIdx.x % tiles, begin = tile * TILE;
    load_tile<PIECEWISE>(shared, job, view_of(job, v), begin);
    const int seen = shoal_load_relaxed(&l.states[v].z_most);
    finish_load(shared, job, begin);
    carries w[2]; /* of both halves of the thread's rows: their roots do not wait for each other */
    int32_t most = 0;
#pragma unroll 1
    for (unsigned p = 0; p < HALF; p++) {
        tri_row row[2][VECTOR];
#pragma unroll
        for (int q = 0; q < 2; q++) load_rows(row[q], shared, p + q * HALF);
#pragma unroll
        for (int q = 0; q < 2; q++) prepare_rows(row[q], most);
        if (p == 0) {
#pragma unroll
            for (int q = 0; q < 2; q++) w[q] = begin_carries(row[q][0], row[q][1]);
        }
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            if (p == 0 && e < 2) continue;
#pragma unroll
            for (int q = 0; q < 2; q++) carries_eliminate(&w[q], row[q][e], 1, 0);
        }
    }
    relation half[2];
#pragma unroll
    for (int q = 0; q < 2; q++)
        half[q] =
            relation{ { w[q].l1, w[q].f1, w[q].h1, w[q].r1, w[q].l2, w[q].f2, w[q].h2, w[q].n2,
                        w[q].r2, w[q].z_left, w[q].z_first, w[q].z_here, w[q].z_next } };
    real z_most = from_high(max(w[0].most, w[1].most));
    middle skipped;
    const relation mine = merge(&half[0], &half[1], &skipped, &z_most);
    const int64_t j = tile * THREADS + threadIdx.x;
    real *to = l.bottom + v * RELATION * places(l) + place_of(l, j);
    if (j < l.leaves) {
#pragma unroll
        for (int q = 0; q < RELATION; q++) to[q * places(l)] = mine.v[q];
    }
    const bool bad = is_nonfinite(most);
    if (bad) atomicOr(&l.states[v].input_bad, 1);
    note_most(&l.states[v].z_most, seen, high_of(z_most));
}

/* From both ends of the thread's rows, beyond which x is `left` and `right`, to their middle. Pivot rows go to
 * the places of dl, d and du one row further on. */
__device__ static inline void eliminate(real *shared, const pair &left, const pair &right,
                                        front (&w)[2]) {
    int32_t most = 0;
#pragma unroll 1
    for (unsigned p = 0; p < HALF; p++) {
        tri_row row[2][VECTOR];
        load_rows(row[0], shared, p), load_rows(row[1], shared, PIECES - 1 - p);
#pragma unroll
        for (int q = 0; q < 2; q++) prepare_rows(row[q], most);
        mirror_rows(row[1]);
        if (p == 0) {
            w[0] = begin_front(row[0][0], row[0][1], left.last, left.first);
            w[1] = begin_front(row[1][0], row[1][1], right.first, right.last);
        }
        piece kept[2][3] = {};
#pragma unroll
        for (int e = 0; e < VECTOR; e++) {
            if (p == 0 && e < 2) continue;
#pragma unroll
            for (int q = 0; q < 2; q++) {
                const pivot_row r = front_eliminate(&w[q], row[q][e], 1);
                kept[q][0].e[e] = r.next, kept[q][1].e[e] = r.after, kept[q][2].e[e] = r.rhs;
            }
        }
#pragma unroll
        for (int q = 0; q < 2; q++) {
            real *to = shared + piece_at(threadIdx.x, q ? PIECES - 1 - p : p);
#pragma unroll
            for (int k = 0; k < 3; k++) *(piece *)(to + k * TILE) = kept[q][k];
        }
    }
}

/* From the pair in the middle back to both ends: x of the thread's rows, to the place of b. */
__device__ static inline void substitute(real *shared, const pair &left, const pair &right,
                                         const pair &between, int32_t &x_most) {
    real next[2] = { between.last, between.first }, after[2] = { between.first, between.last };
#pragma unroll 2
    for (unsigned p = HALF; p-- > 0;) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            const unsigned from = piece_at(threadIdx.x, q ? PIECES - 1 - p : p);
            piece kept[3], x;
#pragma unroll
            for (int k = 0; k < 3; k++) kept[k] = *(const piece *)(shared + k * TILE + from);
#pragma unroll
            for (int e = VECTOR - 1; e >= 0; e--) {
                x.e[q ? VECTOR - 1 - e : e] = next[q];
                x_most = max(high_abs(next[q]), x_most);
                if (p == 0 && e < 2) continue;
                const real now = real_fma(-kept[0].e[e], next[q],
                                          real_fma(-kept[1].e[e], after[q], kept[2].e[e]));
                after[q] = next[q], next[q] = now;
            }
            if (p == 0) x.e[q ? VECTOR - 1 : 0] = q ? right.last : left.first;
            *(piece *)(shared + 3 * TILE + from) = x;
        }
    }
}

/* x of a tile, or NaN, as the solve's x_state is. */
template <bool PIECEWISE>
__device__ static inline void write_tile(const tridiag_job &job, const view &at, int64_t begin,
                                         const real *answer, int x_state) {
    const unsigned t = threadIdx.x;
    if (PIECEWISE && begin + TILE <= job.n && x_state == X_WRITTEN) {
        sixteen *to = (sixteen *)(at.x + begin) + t;
#pragma unroll
        for (unsigned k = 0; k < PIECES; k++) {
            const unsigned p = t + k * THREADS;
            shoal_store_streaming(to + k * THREADS,
                                  *(const sixteen *)(answer + piece_at(p / PIECES, p % PIECES)));
        }
        return;
    }
    for (unsigned e = t; e < TILE && begin + e < job.n; e += THREADS)
        at.x[(begin + e) * at.rhs_row] =
            x_state == X_WRITTEN ? answer[tile_at(e / ROWS, e % ROWS)] : real_nan();
}

template <bool PIECEWISE>
__global__ static void __launch_bounds__(THREADS)
    solve_kernel(tridiag_job job, tree l, unsigned tiles) {
    SHOAL_SHARED(real, shared);
    const int64_t v = blockIdx.x / tiles, tile = blockIdx.x % tiles, begin = tile * TILE;
    const unsigned t = threadIdx.x;
    const int x_state = l.states[v].x_state;
    const view at = view_of(job, v);
    if (x_state == X_KEPT) return;
    load_tile<PIECEWISE>(shared, job, at, begin);
    const pair left = end_of(l, v, tile * THREADS + t),
               right = end_of(l, v, tile * THREADS + t + 1);
    const int x_seen = shoal_load_relaxed(&l.states[v].x_most);
    finish_load(shared, job, begin);
    int32_t x_most = max(high_abs(left.first), high_abs(right.last));
    front w[2];
    eliminate(shared, left, right, w);
    substitute(shared, left, right, join_fronts(&w[0], &w[1]), x_most);
    note_most(&l.states[v].x_most, x_seen, begin + t * ROWS < job.n ? x_most : 0);
    __syncthreads();
    const real *answer = shared + 3 * TILE;
    if (job.residual) {
        const real before = end_of(l, v, tile * THREADS).last;
        const real beyond = end_of(l, v, (tile + 1) * THREADS).first;
        const real first = job.periodic ? end_of(l, v, 0).first : 0;
        judge_tile(job, at, begin, answer, before, beyond, first, &l.states[v]);
        __syncthreads(); /* x may be b */
    }
    write_tile<PIECEWISE>(job, at, begin, answer, x_state);
}

/* Notes the outcome, `blocks` blocks per solve; an x that has overflowed is erased. */
__global__ static void note_kernel(tridiag_job job, tree l, unsigned blocks) {
    const int64_t v = blockIdx.x / blocks;
    const unsigned block = blockIdx.x % blocks;
    const solve_state *s = &l.states[v];
    const bool overflow = s->status >= 0 && is_nonfinite(s->x_most);
    if (block == 0 && threadIdx.x == 0) {
        const norms m = { real_of(s->r), real_of(s->x), real_of(s->r) * 0 };
        const float residual = job.residual ? norms_residual(&m) : 0;
        int32_t status = overflow ? (int32_t)SHOAL_SYSTEM_OVERFLOW : s->status;
        if (status == SHOAL_SYSTEM_OK)
            status = decide_status(job, false, false,
                                   job.residual &&
                                       is_ill_by_answer(m.x * ROW_UNIT, real_of(s->b), job.cond),
                                   residual, 0);
        note_outcome(job, v, status, residual);
    }
    const view w = view_of(job, v);
    for (int64_t i = (int64_t)block * blockDim.x + threadIdx.x; i < job.n && overflow;
         i += (int64_t)blocks * blockDim.x)
        w.x[i * w.rhs_row] = real_nan();
}

/* ---- launching ------------------------------------------------------------------------------------ */

static int64_t tiles_of(const tridiag_job *job) { return (job->n + TILE - 1) / TILE; }

/* Lays the arrays of `l` out from `memory` on; returns how many bytes they take. */
static size_t lay_out(const tridiag_job *job, tree *l, char *memory) {
    const size_t solves = (size_t)(job->count * job->nrhs);
    l->leaves = (job->n + ROWS - 1) / ROWS;
    const int64_t threads = (l->leaves + EACH - 1) / EACH;
    l->groups = (threads + MERGERS - 1) / MERGERS;
    l->across = l->groups ? (int)((threads + l->groups - 1) / l->groups) : 0;
    char *at = memory;
    const auto take = [&](size_t bytes) {
        char *mine = at;
        at += tridiag_aligned(bytes);
        return (void *)mine;
    };
    const size_t groups = solves * (size_t)l->groups;
    l->bottom = (real *)take(solves * (size_t)places(*l) * RELATION * sizeof(real));
    l->upper = (relation *)take(groups * sizeof(relation));
    l->middles = (middle *)take(groups * (size_t)l->across * sizeof(middle));
    l->above = (middle *)take(groups * sizeof(middle));
    l->pairs = (pair *)take((groups + solves) * sizeof(pair));
    l->states = (solve_state *)take(solves * sizeof(solve_state));
    return (size_t)(at - memory);
}

static size_t twocarry_bytes(const shoal_tridiag *plan) {
    tree l;
    return lay_out(&plan->job, &l, NULL);
}

/* Whether all arrays begin, in every system, where pieces of 16 bytes do. */
static bool piecewise(const tridiag_job *job) {
    const uintptr_t all = (uintptr_t)job->dl | (uintptr_t)job->d | (uintptr_t)job->du |
                          (uintptr_t)job->b | (uintptr_t)job->x;
    return all % 16 == 0 && job->row == 1 && job->nrhs == 1 &&
           (job->count == 1 || job->n % VECTOR == 0);
}

template <bool PIECEWISE>
static void run_tiles(shoal_tridiag *plan, const tridiag_job *job, const tree &l, bool first) {
    const int64_t tiles = tiles_of(job);
    const auto kernel = first ? reduce_kernel<PIECEWISE> : solve_kernel<PIECEWISE>;
    static_assert(4 * TILE * sizeof(real) + SHOAL_STATIC_SHARED <= 48 << 10,
                  "every kernel may have 48 KiB; for more, shoal_allow_shared()");
    SHOAL_LAUNCH(kernel, dim3((unsigned)(tiles * job->count * job->nrhs)), dim3(THREADS),
                 4 * TILE * sizeof(real), plan->head.ctx->stream, *job, l, (unsigned)tiles);
}

/* The way up: relations of all rows, then the pairs at the ends of the groups, and what becomes of each solve. */
static shoal_status reduce_all(shoal_tridiag *plan, const tridiag_job *job, const tree &l) {
    const int64_t solves = job->count * job->nrhs;
    void *stream = plan->head.ctx->stream;
    if (tiles_of(job) * solves > INT32_MAX)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "twocarry: too many systems and right-hand sides");
    cudaMemsetAsync(l.states, 0, (size_t)solves * sizeof(solve_state), (cudaStream_t)stream);
    if (piecewise(job))
        run_tiles<true>(plan, job, l, true);
    else
        run_tiles<false>(plan, job, l, true);
    const dim3 groups((unsigned)(l.groups * solves));
    SHOAL_LAUNCH(gather_kernel, groups, dim3(MERGERS),
                 MERGERS * (sizeof(relation) + sizeof(middle)), stream, l);
    shoal_allow_shared(plan->head.ctx, top_kernel);
    SHOAL_LAUNCH(top_kernel, dim3((unsigned)solves), dim3(TOP_THREADS),
                 TOP_THREADS * (sizeof(relation) + sizeof(middle) + sizeof(pair)) + sizeof(pair),
                 stream, *job, l);
    return SHOAL_OK;
}

static shoal_status twocarry_run(shoal_tridiag *plan, const tridiag_job *job) {
    tree l;
    lay_out(job, &l, (char *)job->work);
    const int64_t solves = job->count * job->nrhs, tiles = tiles_of(job);
    void *stream = plan->head.ctx->stream;
    const shoal_status status = reduce_all(plan, job, l);
    if (status != SHOAL_OK) return status;
    const dim3 groups((unsigned)(l.groups * solves));
    SHOAL_LAUNCH(spread_kernel, groups, dim3(MERGERS),
                 MERGERS * (sizeof(middle) + sizeof(pair)) + sizeof(pair), stream, l);
    if (piecewise(job))
        run_tiles<true>(plan, job, l, false);
    else
        run_tiles<false>(plan, job, l, false);
    const unsigned blocks = (unsigned)(tiles < 64 ? tiles : 64);
    SHOAL_LAUNCH(note_kernel, dim3((unsigned)(blocks * solves)), dim3(BLOCK), 0, stream, *job, l,
                 blocks);
    return shoal_launched(plan->head.ctx, "twocarry");
}

/* ---- the condition alone ------------------------------------------------------------------------- */

__global__ static void status_kernel(tree l, int32_t *status, int64_t solves) {
    SHOAL_GRID_STRIDE(v, solves) { status[v] = l.states[v].status; }
}

static size_t head_bytes(const tridiag_job *job) {
    return tridiag_aligned((size_t)(job->count * job->nrhs) * sizeof(int32_t));
}

static size_t condition_bytes(const shoal_tridiag *plan) {
    return head_bytes(&plan->job) + twocarry_bytes(plan);
}

static shoal_status condition_of_all(shoal_tridiag *plan, const tridiag_job *job, void *memory) {
    tree l;
    lay_out(job, &l, (char *)memory + head_bytes(job));
    const int64_t solves = job->count * job->nrhs;
    const shoal_status status = reduce_all(plan, job, l);
    if (status != SHOAL_OK) return status;
    SHOAL_LAUNCH(status_kernel, dim3(shoal_blocks(solves, BLOCK)), dim3(BLOCK), 0,
                 plan->head.ctx->stream, l, (int32_t *)memory, solves);
    return shoal_launched(plan->head.ctx, "condition");
}

extern "C" const tridiag_condition R(tridiag_condition) = { condition_bytes, NULL,
                                                            condition_of_all };
extern "C" const tridiag_cuda_method R(tridiag_twocarry) = { twocarry_bytes, twocarry_run };
