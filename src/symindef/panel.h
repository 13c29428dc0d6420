/* SPDX-License-Identifier: Apache-2.0
 *
 * panel.h - what a panel of partial or rook pivoting keeps on the CPU, and how columns get there and
 * back (blocked.h goes through the stages).
 *
 * A panel begins by taking its columns out of the triangle, into the places of the list where its
 * updates v_t will stand: column j lies in v_(j - begin) as the matrix was when the panel began, but
 * for exchanges, until stage j leaves a column of M there. So the panel reads and moves its own
 * columns along the memory, whichever triangle is stored, and goes across the lines of the triangle,
 * a cache line a number, only for columns that the search asks for behind the panel's end. A panel
 * ends by writing its columns back, those of M and the ones that it did not come to. Exchanges that
 * come later are made in columns of M at the very end, each column moved once.
 */
#ifndef SHOAL_SYMINDEF_PANEL_H
#define SHOAL_SYMINDEF_PANEL_H

#include "symindef/trailing.h"

enum { PANEL = 64 };                 /* columns                                     */
enum { SHARES = 64, ALONE = 65536 }; /* threads at most; numbers that are worth one */
/* Rows are gone through in steps of two cache lines, from the start of one, behind row n too. */
enum { STEP = 2 * LINE };

typedef struct panel {
    const symindef_job *job;
    symindef_shape shape;
    real *a;
    int64_t begin, end, k; /* columns begin .. end - 1 are taken out, those from k on to be done */
    update_list list;
    real *column[2]; /* as they are now, by rows */
    real *packed;
    int32_t *begins; /* of all panels so far; behind the last one where the next would begin */
    int64_t panels;
    int threads, rook;
} panel;

/* An odd number of cache lines from column to column: those of one row do not share a set. */
static inline int64_t list_stride(int64_t n) { return pieces_of(n, STEP) * STEP + LINE; }

/* Threads for so many numbers to go through. */
static inline int shares_of(const panel *p, int64_t numbers) {
    const int64_t most = numbers / ALONE + 1;
    const int threads = p->threads < SHARES ? p->threads : SHARES;
    return most < threads ? (int)most : threads;
}

/* ---- stored entries, wherever they are ---- */

static inline real *held(const panel *p, int64_t j) {
    return p->list.v + (j - p->begin) * p->list.stride;
}

static inline real *entry_of(const panel *p, int64_t i, int64_t j) {
    const int64_t low = i < j ? i : j, high = i < j ? j : i;
    return low < p->end ? held(p, low) + high : p->a + place(&p->shape, i, j);
}

static inline void copy_row_range(real *to, const real *from, int64_t x0, int64_t x1) {
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
    for (int64_t x = x0; x < of_panel; x++) {
        real *at = held(p, x) + j;
        if (store)
            *at = numbers[x];
        else
            numbers[x] = *at;
    }
    if (x0 < above) copy_stored(p, j, x0 > of_panel ? x0 : of_panel, above, numbers, store);
    if (x0 < j) x0 = j;
    if (j < p->end)
        copy_row_range(store ? held(p, j) : numbers, store ? numbers : held(p, j), x0, x1);
    else
        copy_stored(p, j, x0, x1, numbers, store);
}

/* ---- the panel's columns ---- */

/* Rows i0 .. i1 - 1, below all diagonal entries of the panel, where lines are rows. */
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
                memcpy(back ? line[r] + t : list + (t + r) * stride, &square[r], sizeof(vec));
        }
        for (int r = 0; r < rows; r++)
            for (int64_t t = i < whole ? squares : 0; t < width; t++)
                *(back ? line[r] + t : list + t * stride + r) =
                    *(back ? list + t * stride + r : line[r] + t);
    }
}

/* The columns of the panel out of the triangle, or back into it; of those that are done M. */
static void carry_columns(const panel *p, int back) {
    const symindef_shape *shape = &p->shape;
    const int64_t n = shape->n, done = p->begin + p->list.count, end = p->end;
    const int64_t pieces = pieces_of(n - end, STEP);
    const real *e = p->job->e;
    const int shares = shares_of(p, (n - p->begin) * (end - p->begin));
    (void)shares; /* without OpenMP */
    for (int64_t j = p->begin; j < end; j++) {
        const int64_t first = j < done ? j + 1 + (e[j] != 0) : j, last = shape->upper ? n : end;
        real *line = p->a + line_start(shape, j), *list = held(p, j);
        if (shape->upper)
            copy_row_range(back ? line : list, back ? list : line, first, last);
        else
            for (int64_t i = first; i < last; i++) {
                real *in_triangle = p->a + line_start(shape, i) + j;
                *(back ? in_triangle : list + i) = *(back ? list + i : in_triangle);
            }
    }
    if (shape->upper) return;
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t r = 0; r < pieces; r++)
        carry_rows(p, end + r * STEP, end + (r + 1) * STEP < n ? end + (r + 1) * STEP : n, back);
}

/* ---- the end ---- */

/* Exchanges that came after a panel, made in its columns of M: `source` says where the row that
 * ended in i stood when the panel ended. */
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

/* `target` says where the row has gone that `source` came from. */
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

#endif
