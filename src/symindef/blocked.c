/* SPDX-License-Identifier: Apache-2.0
 *
 * blocked.c - partial (Bunch-Kaufman) and rook (bounded Bunch-Kaufman) pivoting on the CPU: Kruchinina's
 * thesis, Algorithms 3 and 4, a panel of columns at a time. search.h chooses the pivots: the two methods
 * differ there alone. trailing.h updates the rest of the matrix after a panel.
 *
 * A panel begins by copying its columns from the triangle to the places in the list where its updates v_t
 * will stand: column j lies in v_(j - begin), as the matrix was when the panel began except for exchanges
 * of rows and columns, until stage j leaves a column of M there. So the panel reads and moves its own
 * columns contiguously, whichever triangle is stored. It crosses the lines of the triangle, a cache line
 * per number, only for columns behind the panel's end. A panel ends by writing its columns back: those of
 * M, and those not reached. Exchanges of later panels are made in the columns of M at the very end, each
 * column moved once.
 *
 * The panel's updates w_t, v_t are kept in a list. A column is evaluated, n numbers by t terms, when the
 * search looks at it. If the growth is recorded, a panel is one stage, preceded by a search for the
 * largest entry of the reduced matrix.
 *
 * Work n^3 / 3 in tiles, and 2 or 3 times n^2 PANEL / 4 in the columns, whose rows are shared among
 * threads. Of equal entries the one in the lowest row is taken, whichever thread finds it.
 */
#include "symindef/trailing.h"

enum { PANEL = 64 };                 /* columns                              */
enum { SHARES = 64, ALONE = 65536 }; /* maximum threads; numbers per thread  */
enum { STEP = 2 * LINE };            /* rows at a time, also beyond row n    */
enum { STRETCH = 4096 / sizeof(real), TOGETHER = 8 };

typedef struct panel {
    const symindef_job *job;
    symindef_shape shape;
    real *a;
    int64_t begin, end, k; /* columns begin .. end - 1 are taken out, those from k on to be done */
    update_list list;
    real *column[2]; /* as they are now, by rows */
    real *packed;
    int32_t *begins; /* of all panels so far, and the end of the last one */
    int64_t panels;
    int threads, rook;
} panel;

/* An odd number of cache lines from column to column: those of one row do not share a set. */
static int64_t list_stride(int64_t n) { return pieces_of(n, STEP) * STEP + LINE; }

/* Threads for so many numbers to go through. */
static inline int shares_of(const panel *p, int64_t numbers) {
    const int64_t useful = numbers / ALONE + 1;
    const int threads = p->threads < SHARES ? p->threads : SHARES;
    return useful < threads ? (int)useful : threads;
}

/* ---- stored entries, wherever they are ---- */

static real *panel_column(const panel *p, int64_t j) {
    return p->list.v + (j - p->begin) * p->list.stride;
}

static real *entry_of(const panel *p, int64_t i, int64_t j) {
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return low < p->end ? panel_column(p, low) + high : p->a + place(&p->shape, i, j);
}

/* From `number` to its place in the matrix, if `store`, or back. */
static inline void copy_number(real *at, real *number, int store) {
    *(store ? at : number) = *(store ? number : at);
}

static void copy_row_range(real *to, const real *from, int64_t x0, int64_t x1) {
    if (x0 < x1) memcpy(to + x0, from + x0, (size_t)(x1 - x0) * sizeof(real));
}

/* Entries x0 .. x1 - 1 of column j, all above the diagonal or none, in the triangle: into `numbers`,
 * or from there. */
static void copy_stored(const panel *p, int64_t j, int64_t x0, int64_t x1, real *numbers,
                        int store) {
    const symindef_shape *shape = &p->shape;
    real *line = p->a + line_start(shape, j);
    if ((x0 < j) != shape->upper)
        copy_row_range(store ? line : numbers, store ? numbers : line, x0, x1);
    else if (store)
        for (int64_t x = x0; x < x1; x++) p->a[line_start(shape, x) + j] = numbers[x];
    else
        for (int64_t x = x0; x < x1; x++) numbers[x] = p->a[line_start(shape, x) + j];
}

/* The same of any entries, k <= x0. */
static void copy_column(const panel *p, int64_t j, int64_t x0, int64_t x1, real *numbers,
                        int store) {
    const int64_t above = x1 < j ? x1 : j, of_panel = above < p->end ? above : p->end;
    for (int64_t x = x0; x < of_panel; x++) copy_number(panel_column(p, x) + j, numbers + x, store);
    if (x0 < above) copy_stored(p, j, x0 > of_panel ? x0 : of_panel, above, numbers, store);
    if (x0 < j) x0 = j;
    if (j < p->end)
        copy_row_range(store ? panel_column(p, j) : numbers, store ? numbers : panel_column(p, j),
                       x0, x1);
    else
        copy_stored(p, j, x0, x1, numbers, store);
}

/* ---- the panel's columns ---- */

/* Rows i0 .. i1 - 1, below all diagonal entries of the panel; lines are rows. */
static void carry_rows(const panel *p, int64_t i0, int64_t i1, int back) {
    const int64_t width = p->end - p->begin, stride = p->list.stride;
    const int64_t squares = width / VEC * VEC, whole = i0 + (i1 - i0) / VEC * VEC;
    for (int64_t i = i0; i < i1; i += VEC) {
        real *list = p->list.v + i, *line[VEC];
        const int rows = i < whole ? VEC : (int)(i1 - i);
        for (int r = 0; r < rows; r++) line[r] = p->a + line_start(&p->shape, i + r) + p->begin;
        for (int64_t t = 0; t < (i < whole ? squares : 0); t += VEC) {
            vec square[VEC];
            for (int r = 0; r < VEC; r++)
                square[r] = vec_load(back ? list + (t + r) * stride : line[r] + t);
            vec_transpose(square);
            for (int r = 0; r < VEC; r++)
                vec_store(back ? line[r] + t : list + (t + r) * stride, square[r]);
        }
        for (int r = 0; r < rows; r++)
            for (int64_t t = i < whole ? squares : 0; t < width; t++)
                copy_number(line[r] + t, list + t * stride + r, back);
    }
}

/* The columns of the panel out of the triangle, or back into it; of those that are done M. */
static void carry_columns(const panel *p, int back) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n, done = p->begin + p->list.count, end = p->end;
    const int64_t pieces = pieces_of(n - end, STEP);
    const real *e = p->job->e;
    for (int64_t j = p->begin; j < end; j++) {
        const int64_t first = j < done ? j + 1 + (e[j] != 0) : j, last = shape->upper ? n : end;
        real *line = p->a + line_start(shape, j), *list = panel_column(p, j);
        if (shape->upper)
            copy_row_range(back ? line : list, back ? list : line, first, last);
        else
            for (int64_t i = first; i < last; i++)
                copy_number(p->a + line_start(shape, i) + j, list + i, back);
    }
    if (shape->upper) return;
#pragma omp parallel for num_threads(shares_of(p, (n - p->begin) * (end - p->begin)))              \
    schedule(static)
    for (int64_t r = 0; r < pieces; r++)
        carry_rows(p, end + r * STEP, end + (r + 1) * STEP < n ? end + (r + 1) * STEP : n, back);
}

/* ---- the end ---- */

/* Makes the exchanges that came after a panel in its columns of M: the row that ended in i stood in
 * source[i] when the panel ended. */
static void permute_panel(const panel *p, int64_t j0, int64_t j1, const int32_t *source) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n, width = j1 - j0;
    const size_t bytes = (size_t)width * sizeof(real);
    real *copy = p->list.w; /* free by now: PANEL columns and more */
    const int shares = shares_of(p, (n - j1) * width);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 64)
    for (int64_t i = j1; i < (shape->upper ? j1 : n); i++)
        if (source[i] != i)
            memcpy(copy + i * width, p->a + line_start(shape, source[i]) + j0, bytes);
#pragma omp parallel for num_threads(shares) schedule(static, 64)
    for (int64_t i = j1; i < (shape->upper ? j1 : n); i++)
        if (source[i] != i) memcpy(p->a + line_start(shape, i) + j0, copy + i * width, bytes);
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int64_t j = j0; j < (shape->upper ? j1 : j0); j++) {
        real *line = p->a + line_start(shape, j), *mine = copy + (j - j0) * p->list.stride;
        for (int64_t i = j1; i < n; i++) mine[i] = line[source[i]];
        memcpy(line + j1, mine + j1, (size_t)(n - j1) * sizeof(real));
    }
}

/* `target` is the inverse of `source`. */
static void permute_all(const panel *p) {
    const int64_t n = p->shape.n;
    int32_t *source = p->begins + n + 1, *target = source + n;
    for (int64_t i = 0; i < n; i++) source[i] = target[i] = (int32_t)i;
    for (int64_t q = p->panels - 2; q >= 0; q--) {
        for (int64_t k = p->begins[q + 2] - 1; k >= p->begins[q + 1]; k--) { /* undo, last first */
            const int32_t other = p->job->interchanges[k], r = (other < 0 ? -other : other) - 1;
            const int32_t low = target[k], high = target[r];
            source[low] = r, source[high] = (int32_t)k;
            target[k] = high, target[r] = low;
        }
        permute_panel(p, p->begins[q], p->begins[q + 1], source);
    }
}

static size_t blocked_bytes(const shoal_symindef *plan) {
    const int64_t n = plan->job.shape.n, stride = list_stride(n);
    return ((size_t)(2 * PANEL + 2) * (size_t)stride + packed_numbers(n, PANEL)) * sizeof(real) +
           (size_t)(3 * n + 1) * sizeof(int32_t);
}

/* ---- a look at a column ---- */

/* to[x] += sum_t factor[t] list[t * stride + x] for `terms` terms, a constant, in the order of t: the
 * factors stay in registers. x0 and x1 are multiples of STEP. */
ALWAYS_INLINE void add_some(const real *list, int64_t stride, int terms, const real *factor,
                            real *to, int64_t x0, int64_t x1) {
    vec f[TOGETHER];
    for (int u = 0; u < terms; u++) f[u] = vec_all(factor[u]);
    for (int64_t x = x0; x < x1; x += 2 * VEC) {
        vec sum[2] = { vec_load(to + x), vec_load(to + x + VEC) };
        for (int u = 0; u < terms; u++)
            for (int r = 0; r < 2; r++)
                sum[r] = vec_fma(f[u], vec_load(list + u * stride + x + r * VEC), sum[r]);
        for (int r = 0; r < 2; r++) vec_store(to + x + r * VEC, sum[r]);
    }
}

static void add_terms(const real *list, int64_t stride, int count, const real *factor, real *to,
                      int64_t x0, int64_t x1) {
    int t = 0;
    for (; t + TOGETHER <= count; t += TOGETHER)
        add_some(list + t * stride, stride, TOGETHER, factor + t, to, x0, x1);
    if (t + 4 <= count) add_some(list + t * stride, stride, 4, factor + t, to, x0, x1), t += 4;
    if (t + 2 <= count) add_some(list + t * stride, stride, 2, factor + t, to, x0, x1), t += 2;
    if (t < count) add_some(list + t * stride, stride, 1, factor + t, to, x0, x1);
}

typedef struct share_largest { /* the largest entry off the diagonal; not finite if one is not */
    real largest;
    int64_t row;
} share_largest;

/* Entries x0 .. x1 - 1 of column j as they are now; x0 a multiple of STEP, or below it k, x1 a
 * multiple, or n. `factor` holds -v_t(j): w_t(x) v_t(j) equals w_t(j) v_t(x) up to
 * rounding, and one list is half as much to keep in the cache. */
static share_largest evaluate_rows(const panel *p, int64_t j, const real *factor, int64_t x0,
                                   int64_t x1, real *to) {
    share_largest seen = { 0, p->shape.n };
    for (int64_t base = x0 / STEP * STEP; base < x1 && seen.largest <= REAL_MAX; base += STRETCH) {
        const int64_t x = base < x0 ? x0 : base, end = base + STRETCH < x1 ? base + STRETCH : x1;
        copy_column(p, j, x, end, to, 0);
        add_terms(p->list.w, p->list.stride, p->list.count, factor, to, base,
                  pieces_of(end, STEP) * STEP);
        const int has_diagonal = x <= j && j < end;
        const real diagonal = has_diagonal ? to[j] : 0;
        if (has_diagonal) to[j] = diagonal * 0; /* NaN if it is not finite */
        const real best = largest_between(to, x, end);
        if (has_diagonal) to[j] = diagonal;
        if (!(best <= seen.largest)) { /* what is not finite stays */
            seen.largest = best;
            for (seen.row = x; seen.row < end - 1; seen.row++)
                if (seen.row != j && real_abs(to[seen.row]) == best) break;
        }
    }
    return seen;
}

/* Evaluates column j; 0 if something in it is not finite. */
static int evaluate_column(const panel *p, int64_t j, real *to, column_look *seen) {
    const int64_t n = p->shape.n, k = p->k, steps = pieces_of(n, STEP) - k / STEP;
    const int shares = shares_of(p, (n - k) * (p->list.count + 4));
    real factor[PANEL];
    share_largest of[SHARES];
    for (int t = 0; t < p->list.count; t++) factor[t] = -p->list.v[t * p->list.stride + j];
    if (shares == 1) { /* even a team of one would cost as much as a few hundred rows */
        of[0] = evaluate_rows(p, j, factor, k, n, to);
    } else {
#pragma omp parallel for num_threads(shares) schedule(static, 1)
        for (int s = 0; s < shares; s++) {
            const int64_t x0 = (k / STEP + steps * s / shares) * STEP;
            const int64_t x1 = (k / STEP + steps * (s + 1) / shares) * STEP;
            of[s] = evaluate_rows(p, j, factor, x0 < k ? k : x0, x1 < n ? x1 : n, to);
        }
    }
    seen->diagonal = to[j];
    seen->entry = 0, seen->row = n;
    int finite = 1;
    for (int s = 0; s < shares; s++) {
        if (of[s].largest > real_abs(seen->entry))
            seen->row = of[s].row, seen->entry = to[of[s].row];
        finite &= of[s].largest <= REAL_MAX;
    }
    return finite;
}

/* ---- a stage ---- */

/* Rows change places in the list. */
static void exchange_terms(const panel *p, const stage *now) {
    for (int t = 0; t < p->list.count; t++) {
        real *columns[2] = { p->list.w + t * p->list.stride, p->list.v + t * p->list.stride };
        for (int c = 0; c < 2; c++) {
            real pivot[2], moved[2];
            for (int u = 0; u < now->order; u++) pivot[u] = columns[c][now->pivot[u]];
            for (int m = 0; m < now->moves; m++) moved[m] = columns[c][now->from[m]];
            for (int u = 0; u < now->order; u++) columns[c][now->k + u] = pivot[u];
            for (int m = 0; m < now->moves; m++) columns[c][now->to[m]] = moved[m];
        }
    }
}

/* Rows x0 .. x1 - 1 of the new updates, of the pivot's columns: none of the arrays is another. */
static void divide_rows(const stage *now, int64_t x0, int64_t x1, const real *restrict c0,
                        const real *restrict c1, real *restrict w0, real *restrict w1,
                        real *restrict v0, real *restrict v1) {
    if (now->order == 1) {
        const real d = now->d[0];
        for (int64_t i = x0; i < x1; i++) w0[i] = c0[i], v0[i] = d == 0 ? 0 : c0[i] / d;
        return;
    }
    const stage pivot = *now; /* its quotients are taken once */
    for (int64_t i = x0; i < x1; i++) {
        const real row[2] = { c0[i], c1[i] };
        real m[2];
        inverse_times(pivot.d[0], pivot.d[1], pivot.d[2], row, m);
        w0[i] = row[0], w1[i] = row[1];
        v0[i] = m[0], v1[i] = m[1];
    }
}

/* Rows x0 .. x1 - 1 below the pivot: what they have in common with rows that move, and the new
 * updates. */
static void eliminate_rows(const panel *p, const stage *now, real *const *c, int64_t x0,
                           int64_t x1) {
    const int64_t stride = p->list.stride;
    real *w = p->list.w + p->list.count * stride, *v = p->list.v + p->list.count * stride;
    for (int m = 0; m < now->moves; m++) { /* the second leaves out its entry in the first */
        const int64_t gap = m == 0 || now->to[0] < x0 ? x0 : now->to[0] < x1 ? now->to[0] : x1;
        copy_column(p, now->to[m], x0, gap, panel_column(p, now->from[m]), 1);
        copy_column(p, now->to[m], gap + (m > 0 && now->to[0] == gap), x1,
                    panel_column(p, now->from[m]), 1);
    }
    divide_rows(now, x0, x1, c[0], c[1], w, w + stride, v, v + stride);
}

static void eliminate(panel *p, const stage *now, const pivot_search *search) {
    const int64_t n = p->shape.n, below = now->k + now->order;
    const int shares = shares_of(p, (n - below) * 8);
    real *c[2] = { p->column[search->of_pivot[0]], p->column[search->of_pivot[1]] };
    real between[2][2]; /* of rows that move */
    for (int m = 0; m < now->moves; m++) {
        for (int t = 0; t < now->order; t++) c[t][now->to[m]] = c[t][now->from[m]];
        for (int l = 0; l <= m; l++) between[m][l] = *entry_of(p, now->from[m], now->from[l]);
    }
    if (now->moves > 0) exchange_terms(p, now);
    if (shares == 1) {
        eliminate_rows(p, now, c, below, n);
    } else {
#pragma omp parallel for num_threads(shares) schedule(static, 1)
        for (int s = 0; s < shares; s++)
            eliminate_rows(p, now, c, below + (n - below) * s / shares,
                           below + (n - below) * (s + 1) / shares);
    }
    for (int m = 0; m < now->moves; m++)
        for (int l = 0; l <= m; l++) *entry_of(p, now->to[m], now->to[l]) = between[m][l];
    record_stage(p->job, now);
    p->list.count += now->order;
    p->k = below;
}

/* One stage; 0 if a number is not finite. */
static int one_stage(panel *p, double magnitude) {
    const real alpha = (real)p->job->alpha, tol = (real)p->job->state->tol;
    pivot_search search = search_from(p->k);
    column_look seen;
    stage now;
    do
        if (!evaluate_column(p, search.column, p->column[search.slot], &seen)) return 0;
    while (!consider(&search, p->rook, &seen, alpha, tol, &now));
    p->job->state->compared += search.looks * (p->shape.n - p->k);
    now.magnitude = (real)magnitude;
    eliminate(p, &now, &search);
    return 1;
}

/* ---- a panel ---- */

/* M and D of the panel, into their places. */
static void write_panel(const panel *p) {
    const symindef_shape *shape = &p->shape;
    const real *d = p->job->d, *e = p->job->e;
    carry_columns(p, 1);
    for (int64_t j = p->begin; j < p->k; j++) {
        p->a[place(shape, j, j)] = d[j];
        if (e[j] != 0) p->a[place(shape, j + 1, j)] = e[j];
    }
}

/* The largest entry of what is left. */
static double largest_left(const panel *p) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n;
    double largest = 0;
#pragma omp parallel for num_threads(shares_of(p, (n - p->k) * (n - p->k) / 2))                    \
    schedule(static, 16) reduction(max                                                             \
                                   : largest)
    for (int64_t line = p->k; line < n; line++) {
        const real *at = p->a + line_start(shape, line);
        const real best =
            largest_between(at, shape->upper ? line : p->k, shape->upper ? n : line + 1);
        const double here = best <= REAL_MAX ? (double)best : (double)INFINITY;
        if (here > largest) largest = here;
    }
    return largest;
}

static shoal_status blocked_run(shoal_symindef *plan, const symindef_job *job, int rook) {
    const shoal_context *ctx = plan->head.ctx;
    const int64_t n = job->shape.n, stride = list_stride(n);
    symindef_state *state = job->state;
    real *work = job->work;
    panel p = { .job = job,
                .shape = job->shape,
                .a = job->a,
                .list = { work, work + PANEL * stride, stride, 0 },
                .column = { work + 2 * PANEL * stride, work + (2 * PANEL + 1) * stride },
                .packed = work + (2 * PANEL + 2) * stride,
                .threads = ctx->threads,
                .rook = rook };
    p.begins = (int32_t *)(p.packed + packed_numbers(n, PANEL));
    if (state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    while (p.k < job->eliminate) {
        const double magnitude = job->growth ? largest_left(&p) : 0;
        const int full = job->growth ? 1 : PANEL - 1; /* one place is left for an order of 2 */
        int finite = magnitude <= (double)REAL_MAX;
        if (magnitude > state->peak) state->peak = magnitude;
        p.begins[p.panels++] = (int32_t)p.k;
        p.begin = p.k, p.end = p.k + full + 1 < n ? p.k + full + 1 : n;
        p.list.count = 0;
        if (finite) carry_columns(&p, 0);
        while (finite && p.list.count < full && p.k < job->eliminate) {
            if (symindef_is_cancelled(ctx, n, p.k)) return SHOAL_E_CANCELLED;
            finite = one_stage(&p, magnitude);
        }
        if (!finite) {
            state->status = SHOAL_SYSTEM_OVERFLOW;
            return SHOAL_OK;
        }
        write_panel(&p);
        if (p.k < n)
            update_trailing(ctx, &p.shape, p.a, p.k, &p.list, p.packed,
                            shares_of(&p, (n - p.k) * (n - p.k) * p.list.count / 16));
    }
    p.begins[p.panels] = (int32_t)p.k;
    permute_all(&p);
    state->row = p.k;
    return SHOAL_OK;
}

static shoal_status partial_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 0);
}
static shoal_status rook_run(shoal_symindef *plan, const symindef_job *job) {
    return blocked_run(plan, job, 1);
}

const symindef_method R(symindef_partial) = { .bytes = blocked_bytes, .run = partial_run };
const symindef_method R(symindef_rook) = { .bytes = blocked_bytes, .run = rook_run };
