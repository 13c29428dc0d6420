/* SPDX-License-Identifier: Apache-2.0
 *
 * lookback.c - recurrences in one pass over memory on the CPU: blocks in order, each taken by the
 * next free thread, joined by their values.
 *
 * A block is LANES runs of RUN rows of one segment. Its thread brings it to cache while it computes
 * the map of each run (LANES at a time), waits for the value before the block, goes
 * through the runs' maps, x_{l+1} = a_l x_l + b_l, publishes the last value for whoever has the
 * next block, and then determines all rows by substitution, out of cache: 3 numbers per row moved, 4
 * operations and 4 shuffles of vectors. The tree of operations is fixed by n alone, so that the
 * bits are the same for any number of threads. The rows after the last whole block are walked. A
 * thread that waits long computes what it waits for itself.
 *
 * Where a map overflows, an input is not finite, or a value is so large that products of s that
 * underflowed may matter (map.h), the block is walked too, once the value before it is known: no answer
 * is lost that substitution would give.
 *
 * Short segments (below one block) go LANES at a time, one per lane, and interleaved ones side by
 * side as they lie, both by substitution. Orders above 1 and Moebius: a block's map is joined row
 * by row, and short or interleaved segments are walked, a thread per segment.
 */
#include "core/vec.h"
#include "recur/walk.h"
#include <sched.h>
#include <string.h>

/* ---- streams: LANES stretches of order 1 at once, one per vector lane ------------------------ */

/* Stream l has its rows at t[l * stride + i * row], row 1 or -1 (a constant: row 0), and so s and w. VEC
 * rows of VEC streams are loaded as VEC vectors and transposed in registers, so that a vector holds the
 * same row of VEC streams; w goes back the same way. About 4 operations per number, and no number waits
 * for its neighbour in the same vector. LANES is the same at every instruction level, hence so are the
 * bits. */
enum { LANES = 64 / sizeof(real) };
/* Vectors that go along side by side: 8 streams where vectors are shorter, so that there is a
 * register for the place of each stream. */
enum { ABREAST = VEC < 8 ? 8 / VEC : 1 };

typedef struct streams {
    const real *s, *t;
    real *w;
    int64_t s_row, t_row, w_row;          /* 1, -1, or 0 for a constant */
    int64_t s_stride, t_stride, w_stride; /* from stream to stream      */
} streams;

/* Rows 0 .. VEC-1 of VEC streams; lane l of rows[r] belongs to stream l. */
WALK_INLINE void load_square(vec rows[VEC], const real *from, const int row, int64_t stride) {
    if (row == 0) {
        vec all = vec_all(0);
        for (int l = 0; l < VEC; l++) all[l] = from[l * stride];
        for (int r = 0; r < VEC; r++) rows[r] = all;
        return;
    }
    vec square[VEC];
    for (int l = 0; l < VEC; l++)
        memcpy(&square[l], from + l * stride - (row < 0 ? VEC - 1 : 0), sizeof(vec));
    vec_transpose(square);
    for (int r = 0; r < VEC; r++) rows[r] = square[row < 0 ? VEC - 1 - r : r];
}

WALK_INLINE void store_square(const vec rows[VEC], real *to, const int row, int64_t stride) {
    vec square[VEC];
    for (int r = 0; r < VEC; r++) square[r] = rows[row < 0 ? VEC - 1 - r : r];
    vec_transpose(square);
    for (int l = 0; l < VEC; l++)
        memcpy(to + l * stride - (row < 0 ? VEC - 1 : 0), &square[l], sizeof(vec));
}

/* A square of s and one of t, VEC rows from row i on of streams l ..; the steps are constants to
 * the compiler, so that no choice is left in the loops. */
WALK_INLINE void load_rows(const streams *v, int64_t i, int l, const int s_row, const int t_row,
                           vec s[VEC], vec t[VEC]) {
    load_square(s, v->s + i * s_row + l * v->s_stride, s_row, v->s_stride);
    load_square(t, v->t + i * t_row + l * v->t_stride, t_row, v->t_stride);
}

WALK_INLINE void maps_of(const streams *v, int64_t rows, real *a, real *b, const int s_row,
                         const int t_row) {
    for (int l = 0; l < LANES; l += ABREAST * VEC) {
        vec product[ABREAST], sum[ABREAST];
        for (int q = 0; q < ABREAST; q++) {
            product[q] = vec_all(power_of_two(MAP_BEGIN)); /* map_begin() */
            sum[q] = vec_all(0);
        }
        for (int64_t i = 0; i < rows; i += VEC)
            for (int q = 0; q < ABREAST; q++) {
                vec s[VEC], t[VEC];
                load_rows(v, i, l + q * VEC, s_row, t_row, s, t);
                for (int r = 0; r < VEC; r++) {
                    product[q] = product[q] * s[r]; /* a_i = a_{i-1} s_i       */
                    sum[q] = s[r] * sum[q] + t[r];  /* b_i = s_i b_{i-1} + t_i */
                }
            }
        memcpy(a + l, product, sizeof product);
        memcpy(b + l, sum, sizeof sum);
    }
}

WALK_INLINE void rows_of(const streams *v, int64_t rows, real *x, const int s_row, const int t_row,
                         const int w_row) {
    for (int l = 0; l < LANES; l += ABREAST * VEC) {
        vec w[ABREAST];
        memcpy(w, x + l, sizeof w);
        for (int64_t i = 0; i < rows; i += VEC)
            for (int q = 0; q < ABREAST; q++) {
                vec s[VEC], t[VEC];
                real *to = v->w + i * w_row + (l + q * VEC) * v->w_stride;
                load_rows(v, i, l + q * VEC, s_row, t_row, s, t);
                for (int r = 0; r < VEC; r++) t[r] = w[q] = s[r] * w[q] + t[r]; /* w_i */
                store_square(t, to, w_row, v->w_stride);
            }
        memcpy(x + l, w, sizeof w);
    }
}

/* Pre-computation: the map w -> a w + b of the first `rows` rows, a multiple of VEC, of each
 * stream. */
static inline void streams_maps(const streams *v, int64_t rows, real *a, real *b) {
    if (v->s_row == 1 && v->t_row == 1)
        maps_of(v, rows, a, b, 1, 1);
    else if (v->s_row == -1 && v->t_row == -1)
        maps_of(v, rows, a, b, -1, -1);
    else if (v->s_row == 0 && v->t_row == 0)
        maps_of(v, rows, a, b, 0, 0);
    else if (v->s_row == 0)
        v->t_row > 0 ? maps_of(v, rows, a, b, 0, 1) : maps_of(v, rows, a, b, 0, -1);
    else
        v->s_row > 0 ? maps_of(v, rows, a, b, 1, 0) : maps_of(v, rows, a, b, -1, 0);
}

/* Determination: those rows by substitution; x[l] is the value before, then the last value, of
 * stream l. */
static inline void streams_rows(const streams *v, int64_t rows, real *x) {
    if (v->s_row == 1 && v->t_row == 1)
        rows_of(v, rows, x, 1, 1, 1);
    else if (v->s_row == -1 && v->t_row == -1)
        rows_of(v, rows, x, -1, -1, -1);
    else if (v->s_row == 0 && v->t_row == 0)
        v->w_row > 0 ? rows_of(v, rows, x, 0, 0, 1) : rows_of(v, rows, x, 0, 0, -1);
    else if (v->s_row == 0)
        v->t_row > 0 ? rows_of(v, rows, x, 0, 1, 1) : rows_of(v, rows, x, 0, -1, -1);
    else
        v->s_row > 0 ? rows_of(v, rows, x, 1, 0, 1) : rows_of(v, rows, x, -1, 0, -1);
}

/* ---- blocks and segments --------------------------------------------------------------------- */

enum { RUN = 33 * LANES, BLOCK = LANES * RUN, PANEL = 4 * LANES, PATIENCE = 2000 };

typedef struct published { /* by a block for the next: its last state */
    recur_state state;
    int32_t ready;
} published;

static int64_t blocks_of(const recur_job *job) { return job->interleaved ? 0 : job->n / BLOCK; }

static size_t lookback_bytes(const shoal_recur *plan) {
    return (size_t)(blocks_of(&plan->job) * plan->job.count) * sizeof(published);
}

static void publish(published *p, const recur_state *x) {
    p->state = *x;
    __atomic_store_n(&p->ready, 1, __ATOMIC_RELEASE);
}

static int is_ready(const published *p) { return __atomic_load_n(&p->ready, __ATOMIC_ACQUIRE); }

/* The streams of LANES runs, or segments, `apart` rows apart, from row `begin` of a view on. */
WALK_INLINE streams streams_of(const recur_view *v, int64_t begin, int64_t apart) {
    return (streams){ .s = v->s + begin * v->s_row,
                      .t = v->t + begin * v->t_row,
                      .w = v->w + begin * v->w_row,
                      .s_row = v->s_row,
                      .t_row = v->t_row,
                      .w_row = v->w_row,
                      .s_stride = apart * v->s_row,
                      .t_stride = apart * v->t_row,
                      .w_stride = apart * v->w_row };
}

/* The values before each run of a block and after the last, from the value before the block; not 0
 * where rows have to be walked. */
static real carry_over(const real *a, const real *b, real *start, recur_state *x) {
    real poison = 0;
    for (int l = 0; l < LANES; l++) {
        const recur_map map = { { a[l], b[l] } };
        start[l] = x->x[0];
        poison += map_carry(&map, x, 1); /* x_{l+1} = a_l x_l + b_l */
    }
    return poison;
}

/* The state after a block that is another thread's to compute: the same operations as there, and
 * nothing is written. */
WALK_INLINE recur_state state_after(const recur_view *v, int64_t begin, recur_state x,
                                    const int shape) {
    recur_state end = x;
    real poison;
    if (shape == 1) {
        const streams runs = streams_of(v, begin, RUN);
        real a[LANES], b[LANES], start[LANES];
        streams_maps(&runs, RUN, a, b);
        poison = carry_over(a, b, start, &end);
    } else {
        recur_map map = map_begin(shape);
        map_append_rows(&map, v, begin, begin + BLOCK, shape);
        poison = map_carry(&map, &end, shape);
    }
    if (poison == 0) return end;
    skip_rows(&x, v, begin, begin + BLOCK, shape);
    return x;
}

/* The state before a block of a segment, `first` before its first. A thread that was sent away
 * while it had a block keeps all others waiting; they compute its state themselves after PATIENCE
 * looks, unless its w lies on the t they would need. */
WALK_INLINE recur_state state_before(const recur_view *v, int64_t block, const published *mine,
                                     recur_state first, const int shape) {
    if (block == 0) return first;
    for (int64_t looks = 1; !is_ready(mine - 1); looks++) {
        if (looks < PATIENCE) continue;
        if (v->w == v->t) {
            sched_yield(); /* the thread waited for may need this core */
            continue;
        }
        int64_t known = block - 1; /* blocks before this one are done */
        while (known > 0 && !is_ready(mine - block + known - 1)) known--;
        recur_state x = known > 0 ? mine[known - 1 - block].state : first;
        for (; known < block; known++) x = state_after(v, known * BLOCK, x, shape);
        return x;
    }
    return mine[-1].state;
}

/* One block of order 1. */
static int block_of_runs(const recur_view *v, int64_t block, recur_state x, published *mine,
                         recur_state *after) {
    const int64_t begin = block * BLOCK;
    const streams runs = streams_of(v, begin, RUN);
    real a[LANES], b[LANES], start[LANES], poison = 0;
    streams_maps(&runs, RUN, a, b);
    x = state_before(v, block, mine, x, 1);
    *after = x;
    if (carry_over(a, b, start, after) != 0) {
        const int bad = walk_rows(v, begin, begin + BLOCK, &x, 1);
        publish(mine, &x);
        *after = x;
        return bad;
    }
    publish(mine, after);
    streams_rows(&runs, RUN, start);
    for (int l = 0; l < LANES; l++) poison = poisoned(poison, start[l]);
    return poison != 0 ? WALK_ANSWER : 0; /* the input was finite, or the maps were not */
}

/* One block of any other shape. */
WALK_INLINE int block_of_rows(const recur_view *v, int64_t block, recur_state x, published *mine,
                              recur_state *after, const int shape) {
    const int64_t begin = block * BLOCK;
    recur_map map = map_begin(shape);
    map_append_rows(&map, v, begin, begin + BLOCK, shape);
    x = state_before(v, block, mine, x, shape);
    *after = x;
    const int sure = map_carry(&map, after, shape) == 0;
    if (sure) publish(mine, after);
    const int bad = walk_rows(v, begin, begin + BLOCK, &x, shape);
    if (!sure) publish(mine, &x);
    if (!sure) *after = x;
    return bad;
}

/* Block `task` of all blocks of all segments; the last of a segment sees to the rows after it. */
WALK_INLINE void task_of_shape(const recur_job *job, int64_t task, const int shape) {
    const int64_t blocks = blocks_of(job), k = task / blocks, block = task % blocks;
    published *mine = (published *)job->work + task;
    const recur_view v = view_of(job, k);
    recur_state x = first_state(job, k, shape), after;
    int bad = walk_first(&x, shape);
    if (shape == 1)
        bad |= block_of_runs(&v, block, x, mine, &after);
    else
        bad |= block_of_rows(&v, block, x, mine, &after, shape);
    if (block == blocks - 1) bad |= walk_rows(&v, blocks * BLOCK, job->n, &after, shape);
    walk_note(job, k, bad);
}

static void one_task(const recur_job *job, int64_t task) {
    CALL_BY_SHAPE(job->shape, task_of_shape, job, task)
}

static void long_segments(const shoal_context *ctx, const recur_job *job) {
    const int64_t tasks = blocks_of(job) * job->count;
    int64_t taken = 0;
    memset(job->work, 0, (size_t)tasks * sizeof(published));
#pragma omp parallel num_threads(ctx->threads)
    for (;;) {
        /* in order, whoever comes: a block that is waited for is always in somebody's hands */
        const int64_t task = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        if (task >= tasks) break;
        one_task(job, task);
        /* not before: whoever waits for this block would wait for ever */
        if (shoal_is_cancelled(ctx, task, tasks)) break;
    }
}

/* LANES whole segments at once. A linear recurrence that is not finite at one row is so at the
 * last: only then are the segments walked, to find out why. If w lies on t this must be known before
 * w is written. */
static void short_segments(const recur_job *job, int64_t k) {
    const recur_view v = view_of(job, k);
    const int64_t whole = job->n / VEC * VEC;
    streams all = streams_of(&v, 0, 0);
    real x[LANES], a[LANES], b[LANES], poison = 0;
    all.s_stride = job->constant_s ? 1 : job->segment;
    all.t_stride = job->constant_t ? 1 : job->segment;
    all.w_stride = job->segment;
    for (int l = 0; l < LANES; l++) {
        x[l] = first_state(job, k + l, 1).x[0];
        poison = poisoned(poison, x[l]);
    }
    if (job->w == job->t) {
        streams_maps(&all, whole, a, b);
        for (int l = 0; l < LANES; l++) {
            const recur_map map = { { a[l], b[l] } };
            poison += map_carry(&map, &(recur_state){ { x[l] } }, 1);
        }
    }
    if (poison == 0) {
        streams_rows(&all, whole, x);
        for (int l = 0; l < LANES && job->w != job->t; l++) poison = poisoned(poison, x[l]);
    }
    if (poison != 0) {
        for (int l = 0; l < LANES; l++) walk_segment(job, k + l);
        return;
    }
    for (int l = 0; l < LANES; l++) {
        const recur_view one = view_of(job, k + l);
        const int bad = poisoned(0, x[l]) != 0 ? WALK_ANSWER : 0;
        recur_state last = { { x[l] } };
        walk_note(job, k + l, bad | walk_rows(&one, whole, job->n, &last, 1));
    }
}

/* `used` interleaved segments side by side, from segment k on. */
static void panel(const recur_job *job, int64_t k, int used) {
    real x[PANEL], input[PANEL], answer[PANEL];
    const recur_view v = view_of(job, k);
    for (int l = 0; l < used; l++) {
        x[l] = first_state(job, k + l, 1).x[0];
        input[l] = poisoned(0, x[l]), answer[l] = 0;
    }
    for (int64_t i = 0; i < job->n; i++) {
        const real *s = v.s + i * v.s_row, *t = v.t + i * v.t_row;
        real *w = v.w + i * v.w_row;
#pragma omp simd
        for (int l = 0; l < used; l++) {
            const real sl = s[l], tl = t[l];
            input[l] += (sl - sl) + (tl - tl);
            x[l] = sl * x[l] + tl; /* w_i */
            answer[l] += x[l] - x[l];
            w[l] = x[l];
        }
    }
    for (int l = 0; l < used; l++)
        walk_note(job, k + l,
                  (input[l] != 0 ? WALK_INPUT : 0) | (answer[l] != 0 ? WALK_ANSWER : 0));
}

/* Segments k .. k + used - 1 of those that have no block, side by side where they can be. */
static void side_by_side(const recur_job *job, int64_t k, int used) {
    if (job->shape == 1 && job->interleaved)
        panel(job, k, used);
    else if (job->shape == 1 && used == LANES)
        short_segments(job, k);
    else
        for (int l = 0; l < used; l++) walk_segment(job, k + l);
}

static shoal_status lookback_run(shoal_recur *plan, const recur_job *job) {
    const int threads = plan->head.ctx->threads, at_once = job->interleaved ? PANEL : LANES;
    if (blocks_of(job) > 0) {
        long_segments(plan->head.ctx, job);
        return SHOAL_OK;
    }
    const int64_t packs = (job->count + at_once - 1) / at_once;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t pack = 0; pack < packs; pack++) {
        const int64_t k = pack * at_once, left = job->count - k;
        if (shoal_is_cancelled(plan->head.ctx, pack, packs / threads + 1)) continue;
        side_by_side(job, k, left < at_once ? (int)left : at_once);
    }
    return SHOAL_OK;
}

const recur_method R(recur_lookback) = { .bytes = lookback_bytes, .run = lookback_run };
