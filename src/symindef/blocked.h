/* SPDX-License-Identifier: Apache-2.0
 *
 * blocked.h - partial and rook pivoting on the CPU, a panel of columns at a time (search.h chooses
 * the pivots, panel.h holds the columns, trailing.h updates the rest).
 *
 * In a panel the stored matrix stays as it was when the panel began, but for exchanges of rows and
 * columns; the panel's updates w_t, v_t are kept in a list, and a column is evaluated, n numbers by t
 * terms, when the search looks at it. Where the growth is wanted a panel is one stage, and the
 * largest entry of what is left is looked for in between.
 *
 * Work n^3 / 3 in tiles, and 2 or 3 times n^2 PANEL / 4 in the columns, whose rows are shared among
 * threads. Only the least row of equal ones is taken, whoever finds it.
 */
#ifndef SHOAL_SYMINDEF_BLOCKED_H
#define SHOAL_SYMINDEF_BLOCKED_H

#include "symindef/panel.h"

enum { STRETCH = 4096 / sizeof(real), TOGETHER = 8 };

static size_t blocked_bytes(const shoal_symindef *plan) {
    const int64_t n = plan->job.shape.n, stride = list_stride(n);
    return ((size_t)(2 * PANEL + 2) * (size_t)stride + packed_numbers(n, PANEL)) * sizeof(real) +
           (size_t)(3 * n + 1) * sizeof(int32_t);
}

/* ---- a look at a column ---- */

/* to[x] += sum_t factor[t] list[t * stride + x] for `terms` terms, a constant, in the order of t: the
 * factors stay in registers. x0 and x1 are multiples of STEP. */
static inline __attribute__((always_inline)) void add_some(const real *list, int64_t stride,
                                                           int terms, const real *factor, real *to,
                                                           int64_t x0, int64_t x1) {
    vec f[TOGETHER];
    for (int u = 0; u < terms; u++) f[u] = vec_all(factor[u]);
    for (int64_t x = x0; x < x1; x += 2 * VEC) {
        vec sum[2] = { vec_load(to + x), vec_load(to + x + VEC) };
        for (int u = 0; u < terms; u++)
            for (int r = 0; r < 2; r++)
                sum[r] = vec_fma(f[u], vec_load(list + u * stride + x + r * VEC), sum[r]);
        for (int r = 0; r < 2; r++) memcpy(to + x + r * VEC, &sum[r], sizeof sum[r]);
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

typedef struct share_look { /* the largest entry off the diagonal; not finite if one is not */
    real most;
    int64_t row;
} share_look;

/* Entries x0 .. x1 - 1 of column j as they are now; x0 a multiple of STEP, or below it k, x1 a
 * multiple, or n. `factor` holds -v_t(j): w_t(x) v_t(j) is what w_t(j) v_t(x) would be but for
 * rounding, and one list is half as much to keep in the cache. */
static share_look look_between(const panel *p, int64_t j, const real *factor, int64_t x0,
                               int64_t x1, real *to) {
    share_look seen = { 0, p->shape.n };
    for (int64_t base = x0 / STEP * STEP; base < x1 && seen.most <= REAL_MAX; base += STRETCH) {
        const int64_t x = base < x0 ? x0 : base, end = base + STRETCH < x1 ? base + STRETCH : x1;
        copy_column(p, j, x, end, to, 0);
        add_terms(p->list.w, p->list.stride, p->list.count, factor, to, base,
                  pieces_of(end, STEP) * STEP);
        const int has_diagonal = x <= j && j < end;
        const real diagonal = has_diagonal ? to[j] : 0;
        if (has_diagonal) to[j] = diagonal * 0; /* NaN if it is not finite */
        const real best = most_between(to, x, end);
        if (has_diagonal) to[j] = diagonal;
        if (!(best <= seen.most)) { /* what is not finite stays */
            seen.most = best;
            for (seen.row = x; seen.row < end - 1; seen.row++)
                if (seen.row != j && real_abs(to[seen.row]) == best) break;
        }
    }
    return seen;
}

/* Evaluates column j; 0 if something in it is not finite. */
static int look_at(const panel *p, int64_t j, real *to, column_look *seen) {
    const int64_t n = p->shape.n, k = p->k, steps = pieces_of(n, STEP) - k / STEP;
    const int shares = shares_of(p, (n - k) * (p->list.count + 4));
    real factor[PANEL];
    share_look of[SHARES];
    for (int t = 0; t < p->list.count; t++) factor[t] = -p->list.v[t * p->list.stride + j];
    if (shares == 1) { /* even a team of one would cost as much as a few hundred rows */
        of[0] = look_between(p, j, factor, k, n, to);
    } else {
#pragma omp parallel for num_threads(shares) schedule(static, 1)
        for (int s = 0; s < shares; s++) {
            const int64_t x0 = (k / STEP + steps * s / shares) * STEP;
            const int64_t x1 = (k / STEP + steps * (s + 1) / shares) * STEP;
            of[s] = look_between(p, j, factor, x0 < k ? k : x0, x1 < n ? x1 : n, to);
        }
    }
    seen->diagonal = to[j];
    seen->entry = 0, seen->row = n;
    int finite = 1;
    for (int s = 0; s < shares; s++) {
        if (of[s].most > real_abs(seen->entry)) seen->row = of[s].row, seen->entry = to[of[s].row];
        finite &= of[s].most <= REAL_MAX;
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
        copy_column(p, now->to[m], x0, gap, held(p, now->from[m]), 1);
        copy_column(p, now->to[m], gap + (m > 0 && now->to[0] == gap), x1, held(p, now->from[m]),
                    1);
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
        if (!look_at(p, search.column, p->column[search.slot], &seen)) return 0;
    while (!consider(&search, p->rook, &seen, alpha, tol, &now));
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
        const double here = best <= REAL_MAX ? (double)best : (double)INFINITY;
        if (here > most) most = here;
    }
    return most;
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
                .threads = plan->head.ctx->threads,
                .rook = rook };
    p.begins = (int32_t *)(p.packed + packed_numbers(n, PANEL));
    if (state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    while (p.k < job->eliminate) {
        const double magnitude = job->growth ? most_left(&p) : 0;
        const int most = job->growth ? 1 : PANEL - 1; /* one place is left for an order of 2 */
        int finite = magnitude <= (double)REAL_MAX;
        if (magnitude > state->peak) state->peak = magnitude;
        p.begins[p.panels++] = (int32_t)p.k;
        p.begin = p.k, p.end = p.k + most + 1 < n ? p.k + most + 1 : n;
        p.list.count = 0;
        if (finite) carry_columns(&p, 0);
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
