/* SPDX-License-Identifier: Apache-2.0
 *
 * blocked.h - partial and rook pivoting on the CPU, a panel of columns at a time (search.h chooses
 * the pivots, trailing.h updates the rest).
 *
 * In a panel the stored matrix stays as it was when the panel began, but for exchanges of rows and
 * columns; the panel's updates w_t, v_t are kept in a list, and a column is evaluated, n numbers by
 * t terms, when the search looks at it. Columns of M are written when the panel ends; exchanges that
 * come later are made in them all at once at the very end, each column moved once. Where the growth
 * is wanted a panel is one stage, and the largest entry of what is left is looked for in between.
 *
 * Work n^3 / 3 in tiles, and 2 or 3 times n^2 PANEL / 4 in the columns, whose rows are shared among
 * threads. Only the least row of equal ones is taken, whoever finds it.
 */
#ifndef SHOAL_SYMINDEF_BLOCKED_H
#define SHOAL_SYMINDEF_BLOCKED_H

#include "symindef/trailing.h"

enum { PANEL = 64, STRETCH = 4096 / sizeof(real), TOGETHER = 8, SHARES = 64, ALONE = 65536 };

typedef struct panel {
    const symindef_job *job;
    symindef_shape shape;
    real *a;
    int64_t begin, k;
    update_list list;
    real *column[2]; /* as they are now, by rows */
    real *packed;
    int32_t *begins; /* of all panels so far; behind the last one where the next would begin */
    int64_t panels;
    int threads, rook;
} panel;

/* An odd number of cache lines from column to column: those of one row do not share a set. */
static inline int64_t list_stride(int64_t n) {
    const int64_t line = 64 / sizeof(real);
    return (pieces_of(n, line) | 1) * line;
}

static size_t blocked_bytes(const shoal_symindef *plan) {
    const int64_t n = plan->job.shape.n, stride = list_stride(n);
    return ((size_t)(2 * PANEL + 2) * (size_t)stride + packed_numbers(n, PANEL)) * sizeof(real) +
           (size_t)(3 * n + 1) * sizeof(int32_t);
}

/* Threads for so many numbers to go through. */
static inline int shares_of(const panel *p, int64_t numbers) {
    const int64_t most = numbers / ALONE + 1;
    const int threads = p->threads < SHARES ? p->threads : SHARES;
    return most < threads ? (int)most : threads;
}

/* ---- a look at a column ---- */

/* to[x] += sum_t factor[t] list[t * stride + x], in the order of t. */
static void add_terms(const real *list, int64_t stride, int count, const real *factor, real *to,
                      int64_t x0, int64_t x1) {
    int t = 0;
    for (; t + TOGETHER <= count; t += TOGETHER) {
        const real *from = list + t * stride, *f = factor + t;
        int64_t x = x0;
        for (; x + VEC <= x1; x += VEC) {
            vec sum = vec_load(to + x);
            for (int u = 0; u < TOGETHER; u++)
                sum = vec_fma(vec_all(f[u]), vec_load(from + u * stride + x), sum);
            memcpy(to + x, &sum, sizeof sum);
        }
        for (; x < x1; x++)
            for (int u = 0; u < TOGETHER; u++) to[x] = fused(f[u], from[u * stride + x], to[x]);
    }
    for (; t < count; t++) {
        const real *from = list + t * stride;
        const vec f = vec_all(factor[t]);
        int64_t x = x0;
        for (; x + VEC <= x1; x += VEC) {
            const vec sum = vec_fma(f, vec_load(from + x), vec_load(to + x));
            memcpy(to + x, &sum, sizeof sum);
        }
        for (; x < x1; x++) to[x] = fused(factor[t], from[x], to[x]);
    }
}

typedef struct column_terms { /* of the column in question: -w_t and -v_t of its row */
    int64_t j;
    real w[PANEL], v[PANEL];
} column_terms;

/* The largest entry of x0 .. x1 - 1 and where; NaN if one is not finite. */
static real most_between(const real *of, int64_t x0, int64_t x1) {
    vec most = vec_all(0), poison = vec_all(0);
    int64_t x = x0;
    for (; x + VEC <= x1; x += VEC) {
        const vec entry = vec_load(of + x);
        most = vec_max(vec_abs(entry), most);
        poison += entry * vec_all(0);
    }
    real best = 0, bad = 0;
    for (int l = 0; l < VEC; l++) best = real_max(best, most[l]), bad += poison[l];
    for (; x < x1; x++) best = real_max(real_abs(of[x]), best), bad = poisoned(bad, of[x]);
    return best + bad;
}

/* Entries x0 .. x1 - 1 of column j, all above the diagonal or all below it, as they are now. */
static void look_between(const panel *p, const column_terms *c, int64_t x0, int64_t x1, real *to,
                         real *most, int64_t *where) {
    const symindef_shape *shape = &p->shape;
    const int64_t j = c->j;
    const int above = x0 < j, along = above != shape->upper;
    const real *list = above ? p->list.v : p->list.w, *factor = above ? c->w : c->v;
    for (int64_t x = x0; x < x1; x += STRETCH) {
        const int64_t end = x + STRETCH < x1 ? x + STRETCH : x1;
        if (along)
            memcpy(to + x, p->a + line_start(shape, j) + x, (size_t)(end - x) * sizeof(real));
        else
            for (int64_t i = x; i < end; i++) to[i] = p->a[line_start(shape, i) + j];
        add_terms(list, p->list.stride, p->list.count, factor, to, x, end);
        const real best = most_between(to, x, end);
        if (!(best <= *most)) { /* NaN stays */
            *most = best;
            for (*where = x; *where < end - 1 && real_abs(to[*where]) != best;) ++*where;
        }
        if (!(best <= REAL_MOST)) return;
    }
}

/* Evaluates column j; 0 if something in it is not finite. */
static int look_at(const panel *p, int64_t j, real *to, column_look *seen) {
    const int64_t n = p->shape.n, k = p->k;
    const int shares = shares_of(p, (n - k) * (p->list.count + 4));
    column_terms c = { .j = j };
    real most[SHARES], diagonal = p->a[place(&p->shape, j, j)];
    int64_t where[SHARES];
    for (int t = 0; t < p->list.count; t++) {
        c.w[t] = -p->list.w[t * p->list.stride + j], c.v[t] = -p->list.v[t * p->list.stride + j];
        diagonal = fused(c.w[t], -c.v[t], diagonal);
    }
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int s = 0; s < shares; s++) {
        const int64_t x0 = k + (n - k) * s / shares, x1 = k + (n - k) * (s + 1) / shares;
        most[s] = 0, where[s] = n;
        if (x0 < j) look_between(p, &c, x0, x1 < j ? x1 : j, to, &most[s], &where[s]);
        if (j + 1 < x1 && most[s] <= REAL_MOST)
            look_between(p, &c, x0 > j ? x0 : j + 1, x1, to, &most[s], &where[s]);
    }
    to[j] = seen->diagonal = diagonal;
    seen->entry = 0, seen->row = n;
    int finite = real_abs(diagonal) <= REAL_MOST;
    for (int s = 0; s < shares; s++) {
        if (most[s] > real_abs(seen->entry)) seen->row = where[s], seen->entry = to[where[s]];
        finite &= most[s] <= REAL_MOST;
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

/* Rows x0 .. x1 - 1 below the pivot: those that stay have entries in common with those that move;
 * and the new updates. */
static void eliminate_rows(const panel *p, const stage *now, real *const *c, int64_t x0,
                           int64_t x1) {
    const symindef_shape *shape = &p->shape;
    const int64_t stride = p->list.stride;
    real *w = p->list.w + p->list.count * stride, *v = p->list.v + p->list.count * stride;
    for (int m = 0; m < now->moves; m++) {
        const int64_t from = now->from[m], to = now->to[m], turn = to < x0 ? x0 : to < x1 ? to : x1;
        for (int64_t i = x0; i < turn; i++)
            if (!is_moved(now, i)) p->a[place(shape, to, i)] = p->a[place(shape, i, from)];
        for (int64_t i = turn; i < x1; i++)
            if (!is_moved(now, i)) p->a[place(shape, i, to)] = p->a[place(shape, i, from)];
    }
    if (now->order == 1) {
        const real d = now->d[0];
        for (int64_t i = x0; i < x1; i++) w[i] = c[0][i], v[i] = d == 0 ? 0 : c[0][i] / d;
        return;
    }
    for (int64_t i = x0; i < x1; i++) {
        const real row[2] = { c[0][i], c[1][i] };
        real m[2];
        multipliers(now, row, m);
        w[i] = row[0], w[stride + i] = row[1];
        v[i] = m[0], v[stride + i] = m[1];
    }
}

static void eliminate(panel *p, const stage *now, const pivot_search *search) {
    const int64_t n = p->shape.n, below = now->k + now->order;
    const int shares = shares_of(p, (n - below) * 8);
    real *c[2] = { p->column[search->of_pivot[0]], p->column[search->of_pivot[1]] };
    for (int m = 0; m < now->moves; m++) {
        for (int t = 0; t < now->order; t++) c[t][now->to[m]] = c[t][now->from[m]];
        for (int l = 0; l <= m; l++)
            p->a[place(&p->shape, now->to[m], now->to[l])] =
                p->a[place(&p->shape, now->from[m], now->from[l])];
    }
    if (now->moves > 0) exchange_terms(p, now);
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int s = 0; s < shares; s++)
        eliminate_rows(p, now, c, below + (n - below) * s / shares,
                       below + (n - below) * (s + 1) / shares);
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
        if (!look_at(p, search.column, p->column[search.slot], &seen)) return 0;
    while (!consider(&search, p->rook, &seen, alpha, tol, &now));
    now.magnitude = (real)magnitude;
    eliminate(p, &now, &search);
    return 1;
}

/* ---- a panel ---- */

/* M and D of the panel, into their places: by pieces of some rows, which stay in the cache. */
static void write_panel(const panel *p) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n, begin = p->begin, stride = p->list.stride;
    const int64_t piece = shape->upper ? STRETCH : 16, pieces = pieces_of(n - begin, piece);
    const real *d = p->job->d, *e = p->job->e, *v = p->list.v;
    const int shares = shares_of(p, (n - begin) * p->list.count);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t r = 0; r < pieces; r++) {
        const int64_t x0 = begin + r * piece, x1 = x0 + piece < n ? x0 + piece : n;
        for (int t = 0; t < p->list.count; t++) {
            const int64_t j = begin + t, below = j + 1 + (e[j] != 0);
            for (int64_t i = x0 > below ? x0 : below; i < x1; i++)
                p->a[place(shape, i, j)] = v[t * stride + i];
        }
    }
    for (int64_t j = begin; j < p->k; j++) {
        p->a[place(shape, j, j)] = d[j];
        if (e[j] != 0) p->a[place(shape, j + 1, j)] = e[j];
    }
}

/* The largest entry of what is left. */
static double most_left(const panel *p) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n;
    const int shares = shares_of(p, (n - p->k) * (n - p->k) / 2);
    double most = 0;
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 16) reduction(max : most)
    for (int64_t line = p->k; line < n; line++) {
        const real *at = p->a + line_start(shape, line);
        const real best = most_between(at, shape->upper ? line : p->k, shape->upper ? n : line + 1);
        const double here = best <= REAL_MOST ? (double)best : (double)INFINITY;
        if (here > most) most = here;
    }
    return most;
}

/* Exchanges that came after a panel, made in its columns of M: `source` says where the row that
 * ended in i stood when the panel ended, `target` where that one has gone. */
static void permute_panel(const panel *p, int64_t j0, int64_t j1, const int32_t *source) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n, width = j1 - j0;
    real *copy = p->list.w; /* free by now: PANEL columns and more */
    const int shares = shares_of(p, (n - j1) * width);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 64)
    for (int64_t i = j1; i < n; i++)
        for (int64_t j = j0; j < j1 && !shape->upper && source[i] != i; j++)
            copy[i * width + j - j0] = p->a[line_start(shape, source[i]) + j];
#pragma omp parallel for num_threads(shares) schedule(static, 64)
    for (int64_t i = j1; i < n; i++)
        for (int64_t j = j0; j < j1 && !shape->upper && source[i] != i; j++)
            p->a[line_start(shape, i) + j] = copy[i * width + j - j0];
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int64_t j = j0; j < (shape->upper ? j1 : j0); j++) {
        real *line = p->a + line_start(shape, j), *mine = copy + (j - j0) * p->list.stride;
        for (int64_t i = j1; i < n; i++) mine[i] = line[source[i]];
        memcpy(line + j1, mine + j1, (size_t)(n - j1) * sizeof(real));
    }
}

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

static shoal_status blocked_run(shoal_symindef *plan, const symindef_job *job, int rook) {
    const int64_t n = job->shape.n, stride = list_stride(n);
    symindef_state *state = job->state;
    real *work = job->work;
    panel p = { .job = job,
                .shape = job->shape,
                .a = job->a,
                .list = { work, work + PANEL * stride, stride, 0 },
                .column = { work + 2 * PANEL * stride, work + (2 * PANEL + 1) * stride },
                .packed = work + (2 * PANEL + 2) * stride,
                .threads = plan->ctx->threads,
                .rook = rook };
    p.begins = (int32_t *)(p.packed + packed_numbers(n, PANEL));
    if (state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    while (p.k < job->eliminate) {
        const double magnitude = job->growth ? most_left(&p) : 0;
        const int most = job->growth ? 1 : PANEL - 1; /* one place is left for an order of 2 */
        int finite = magnitude <= (double)REAL_MOST;
        if (magnitude > state->peak) state->peak = magnitude;
        p.begins[p.panels++] = (int32_t)p.k;
        p.begin = p.k, p.list.count = 0;
        while (finite && p.list.count < most && p.k < job->eliminate)
            finite = one_stage(&p, magnitude);
        if (!finite) {
            state->status = SHOAL_SYSTEM_OVERFLOW;
            return SHOAL_OK;
        }
        write_panel(&p);
        if (p.k < n)
            update_trailing(&p.shape, p.a, p.k, &p.list, p.packed,
                            shares_of(&p, (n - p.k) * (n - p.k) * p.list.count / 16));
    }
    p.begins[p.panels] = (int32_t)p.k;
    permute_all(&p);
    state->row = p.k;
    return SHOAL_OK;
}

#endif
