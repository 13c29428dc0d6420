/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.c - complete (Bunch-Parlett) pivoting on the CPU: Kruchinina's thesis, Algorithm 2.
 *
 * A stage chooses the pivot by the largest entries on and off the diagonal, exchanges rows and takes the
 * columns of M (stage.h), and goes once through the reduced matrix. That pass applies the pending
 * updates to each entry in registers, notes the largest of each line, and writes the matrix back only
 * when the list is full, every 3 or 4 updates: 8 bytes per entry and stage. A pass that updates and
 * writes would move 16, with the same bits.
 *
 * Mapping: a pass goes by strips of STRIP entries, whose share of the list stays in the nearest
 * cache, and in a strip by groups of ROWS lines, dealt to the threads in turn. Work: n^3/6 entries
 * read; n^3/3 operations, half of them repeated up to PENDING times, hidden by memory. Ties: the least
 * row, then the least column, as in the thesis, for any number of threads.
 */
#include "core/vec.h"
#include "symindef/stage.h"

enum { ROWS = 4, STRIP = 16384 / sizeof(real) };
enum { ALONE = 512 }; /* rows below which one thread works */

typedef struct sweep { /* the reduced matrix, rows k .. n-1, and what a pass through it finds */
    symindef_shape shape;
    real *a;
    int64_t k;
    pending_list list;
    int write;
    real *line_largest; /* largest |entry| off the diagonal of each line */
    real *diagonal;
} sweep;

static size_t complete_bytes(const shoal_symindef *plan) {
    return (size_t)plan->job.shape.n * (2 * PENDING + 2) * sizeof(real);
}

/* The factor of a line, and those of the entries along it. */
static const real *line_factor(const sweep *s) {
    return s->shape.upper ? s->list.v.at : s->list.w.at;
}
static const real *lane_factor(const sweep *s) {
    return s->shape.upper ? s->list.w.at : s->list.v.at;
}

static real largest_of(vec v) {
    real largest = 0;
    for (int l = 0; l < VEC; l++) largest = real_max(largest, v[l]);
    return largest;
}

/* Entries x0 .. x1 - 1 of `rows` lines that all have them. Inlined with rows and count constants, so
 * that the lines' factors stay in registers. */
ALWAYS_INLINE void sweep_lines(const sweep *s, int64_t line, int rows, int count, int64_t x0,
                               int64_t x1) {
    const int64_t n = s->shape.n;
    const real *lanes = lane_factor(s), *lines = line_factor(s);
    real *at[ROWS];
    vec largest[ROWS], factor[PENDING][ROWS], entry[ROWS];
    for (int r = 0; r < rows; r++) {
        at[r] = s->a + line_start(&s->shape, line + r);
        largest[r] = vec_all(0);
        for (int t = 0; t < count; t++) factor[t][r] = vec_all(-lines[t * n + line + r]);
    }
    int64_t x = x0;
    for (; x + VEC <= x1; x += VEC) {
        for (int r = 0; r < rows; r++) entry[r] = vec_load(at[r] + x);
        for (int t = 0; t < count; t++) {
            const vec lane = vec_load(lanes + t * n + x);
            for (int r = 0; r < rows; r++) entry[r] = vec_fma(factor[t][r], lane, entry[r]);
        }
        for (int r = 0; r < rows; r++) largest[r] = vec_max(vec_abs(entry[r]), largest[r]);
        if (s->write)
            for (int r = 0; r < rows; r++) vec_store(at[r] + x, entry[r]);
    }
    for (int r = 0; r < rows; r++) {
        real best = largest_of(largest[r]);
        for (int64_t y = x; y < x1; y++) {
            real last = at[r][y];
            for (int t = 0; t < count; t++) last = fused(factor[t][r][0], lanes[t * n + y], last);
            best = real_max(real_abs(last), best);
            if (s->write) at[r][y] = last;
        }
        s->line_largest[line + r] = real_max(s->line_largest[line + r], best);
    }
}

static void sweep_group(const sweep *s, int64_t line, int rows, int64_t x0, int64_t x1) {
    if (rows < ROWS) {
        for (int r = 0; r < rows; r++) sweep_lines(s, line + r, 1, s->list.count, x0, x1);
        return;
    }
    switch (s->list.count) {
    case 0: sweep_lines(s, line, ROWS, 0, x0, x1); break;
    case 1: sweep_lines(s, line, ROWS, 1, x0, x1); break;
    case 2: sweep_lines(s, line, ROWS, 2, x0, x1); break;
    case 3: sweep_lines(s, line, ROWS, 3, x0, x1); break;
    default: sweep_lines(s, line, ROWS, PENDING, x0, x1);
    }
}

/* The corner of a group of lines where they differ in length, and their diagonal. */
static void sweep_corner(const sweep *s, int64_t line, int rows) {
    for (int r = 0; r < rows; r++)
        for (int c = 0; c <= r; c++) {
            const int64_t i = line + r, j = line + c, at = place(&s->shape, i, j);
            const real entry = current_entry(&s->list, s->a[at], i, j);
            if (s->write) s->a[at] = entry;
            if (r == c) {
                s->diagonal[i] = entry;
            } else {
                real *largest = &s->line_largest[s->shape.upper ? j : i];
                *largest = real_max(real_abs(entry), *largest);
            }
        }
}

/* One thread's share of a pass. */
static void sweep_share(const sweep *s, int thread, int threads) {
    const int64_t n = s->shape.n, first = s->k;
    for (int64_t strip = first; strip < n; strip += STRIP)
        for (int64_t line = first + (int64_t)thread * ROWS; line < n;
             line += (int64_t)threads * ROWS) {
            const int rows = n - line < ROWS ? (int)(n - line) : ROWS;
            const int64_t from = s->shape.upper ? line + rows : first;
            const int64_t to = s->shape.upper ? n : line;
            const int64_t x0 = from > strip ? from : strip;
            const int64_t x1 = to < strip + STRIP ? to : strip + STRIP;
            if (strip == first) {
                for (int r = 0; r < rows; r++) s->line_largest[line + r] = 0;
                sweep_corner(s, line, rows);
            }
            if (x0 >= x1) continue;
            sweep_group(s, line, rows, x0, x1);
        }
}

/* A(i,j) as it is now; the pass may have written it. */
static real now_at(const sweep *s, int64_t i, int64_t j) {
    const real stored = s->a[place(&s->shape, i, j)];
    return s->write ? stored : current_entry(&s->list, stored, i, j);
}

/* The largest entry off the diagonal: of equal ones the least p, then the least q. */
static candidates best_of(const sweep *s) {
    const int64_t n = s->shape.n;
    candidates best = { .diagonal = s->diagonal[s->k], .r = s->k };
    real largest = 0;
    for (int64_t i = s->k; i < n; i++) {
        if (real_abs(s->diagonal[i]) > real_abs(best.diagonal))
            best.diagonal = s->diagonal[i], best.r = i;
        largest = real_max(largest, s->line_largest[i]);
    }
    if (largest == 0) return best;
    best.p = n;
    for (int64_t line = s->k; line < n; line++) {
        if (s->line_largest[line] != largest) continue;
        if (s->shape.upper) { /* the line is p */
            best.p = line;
            for (best.q = line + 1; best.q < n; best.q++) {
                best.off = now_at(s, best.q, line);
                if (real_abs(best.off) == largest) return best;
            }
        }
        const int64_t end = line < best.p ? line : best.p;
        for (int64_t j = s->k; j < end; j++) { /* the line is q */
            const real entry = now_at(s, line, j);
            if (real_abs(entry) != largest) continue;
            best.off = entry, best.p = j, best.q = line;
            break;
        }
    }
    return best;
}

/* One pass by all threads; small matrices are not worth waking them for. */
static void sweep_all(const sweep *s, int threads) {
    const int shares = s->shape.n - s->k < ALONE ? 1 : threads;
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int share = 0; share < shares; share++) sweep_share(s, share, shares);
}

/* Exchanges, the columns of M, and the list with the new updates. */
static void eliminate(const symindef_job *job, sweep *s, const stage *now, int threads) {
    const symindef_shape *shape = &s->shape;
    const int64_t n = shape->n, below = now->k + now->order;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(n < ALONE ? 1 : threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        if (i < now->k)
            exchange_earlier(shape, s->a, now, i);
        else if (i >= below && !is_moved(now, i))
            eliminate_row(shape, s->a, now, &s->list, &s->list, i);
    }
    eliminate_moved(shape, s->a, now, &s->list, &s->list);
    record_stage(job, now);
    s->list.count += now->order;
    s->k = below;
}

static stage next_stage(const symindef_job *job, const sweep *s) {
    symindef_state *state = job->state;
    const candidates best = best_of(s);
    stage now = choose_complete(&best, s->diagonal, s->k, (real)job->alpha, (real)state->tol);
    if (!(now.magnitude <= REAL_MAX)) state->status = SHOAL_SYSTEM_OVERFLOW, now.order = 0;
    if ((double)now.magnitude > state->peak) state->peak = (double)now.magnitude;
    return now;
}

static shoal_status complete_run(shoal_symindef *plan, const symindef_job *job) {
    const int64_t n = job->shape.n;
    const int threads = plan->head.ctx->threads;
    real *work = job->work;
    sweep s = { .shape = job->shape,
                .a = job->a,
                .list = { { work, n, 1 }, { work + PENDING * n, n, 1 }, 0 },
                .line_largest = work + 2 * PENDING * n,
                .diagonal = work + (2 * PENDING + 1) * n };
    if (job->state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    sweep_all(&s, threads);
    while (s.k < job->eliminate) {
        if (symindef_is_cancelled(plan->head.ctx, n, s.k)) return SHOAL_E_CANCELLED;
        const stage now = next_stage(job, &s);
        if (now.order == 0) {
            job->state->done = 1;
            break;
        }
        if (s.write) s.list.count = 0;
        eliminate(job, &s, &now, threads);
        s.write = s.list.count > PENDING - 2 || s.k >= job->eliminate;
        if (s.k < n) sweep_all(&s, threads);
    }
    job->state->row = s.k;
    return SHOAL_OK;
}

const symindef_method R(symindef_complete) = { .bytes = complete_bytes, .run = complete_run };
