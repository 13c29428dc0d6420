/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.c - what every factorization does on the CPU before and after its stages, and the solve.
 *
 * Before: one pass for the largest entry and for numbers that are not finite. After: zeros where no
 * pivot was left, and the largest multiplier. Each reads the triangle once, lines dealt to threads.
 *
 * Solve: P A Pt = M D Mt, so x = Pt M^-t D^-1 M^-1 P b, right-hand sides side by side in a row.
 * A lower triangle goes by rows forward and by columns back, an upper one the other way round, so
 * that both walk along lines.
 */
#include "symindef/stage.h"
#include <string.h>

enum { WIDTH = 32 }; /* right-hand sides solved together */

static size_t triangle_bytes(const shoal_symindef *plan) {
    return (size_t)plan->job.shape.n * WIDTH * sizeof(real);
}

/* The entries of a line: from x0 to x1 - 1, the diagonal among them. */
static inline int64_t line_first(const symindef_shape *s, int64_t line) {
    return s->upper ? line : 0;
}
static inline int64_t line_end(const symindef_shape *s, int64_t line) {
    return s->upper ? s->n : line + 1;
}

static shoal_status triangle_begin(shoal_symindef *plan, const symindef_job *job) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a;
    real *d = job->d, *e = job->e;
    double most = 0;
    int bad = 0;
    (void)plan; /* without OpenMP */
#pragma omp parallel for num_threads(plan->ctx->threads) schedule(static, 16) reduction(max        \
                                                                                        : most)    \
    reduction(|                                                                                    \
              : bad)
    for (int64_t line = 0; line < shape->n; line++) {
        const real *at = a + line_start(shape, line);
        const int64_t end = line_end(shape, line);
        real line_most = 0, poison = 0;
        for (int64_t x = line_first(shape, line); x < end; x++) {
            line_most = real_max(real_abs(at[x]), line_most);
            poison = poisoned(poison, at[x]);
        }
        if ((double)line_most > most) most = (double)line_most;
        bad |= poison != 0;
        d[line] = e[line] = 0;
        job->interchanges[line] = (int32_t)(line + 1);
        job->permutation[line] = (int32_t)line;
        if (job->growth) job->growth[line] = 0;
    }
    *job->state = (symindef_state){
        .status = bad ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK,
        .largest = most,
        .tol = job->tol > 0 ? job->tol : most * REAL_STEP,
    };
    return SHOAL_OK;
}

static shoal_status triangle_finish(shoal_symindef *plan, const symindef_job *job) {
    const symindef_shape *shape = &job->shape;
    const int64_t rows = job->state->row, n = shape->n;
    const int clear = job->state->done;
    real *a = job->a;
    const real *d = job->d, *e = job->e;
    double most = 0;
    int singular = 0;
    if (job->state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    (void)plan; /* without OpenMP */
#pragma omp parallel for num_threads(plan->ctx->threads) schedule(static, 16) reduction(max        \
                                                                                        : most)    \
    reduction(|                                                                                    \
              : singular)
    for (int64_t line = 0; line < n; line++) {
        real *at = a + line_start(shape, line), line_most = 0;
        const int64_t end = line_end(shape, line);
        for (int64_t x = line_first(shape, line); x < end; x++) {
            const int64_t i = shape->upper ? x : line, j = shape->upper ? line : x;
            if (j >= rows) {
                if (clear) at[x] = 0;
            } else if (i > j + 1 || (i == j + 1 && e[j] == 0)) {
                line_most = real_max(real_abs(at[x]), line_most);
            }
        }
        if ((double)line_most > most) most = (double)line_most;
        singular |= d[line] == 0 && e[line] == 0 && !(line > 0 && e[line - 1] != 0);
    }
    job->state->multiplier = most;
    job->state->singular = singular;
    return SHOAL_OK;
}

/* The entries of a line that belong to M: neither the diagonal nor what D has below it. */
static inline int64_t factor_first(const symindef_job *job, int64_t line) {
    const real *e = job->e;
    return job->shape.upper ? line + 1 + (e[line] != 0) : 0;
}
static inline int64_t factor_end(const symindef_job *job, int64_t line) {
    const real *e = job->e;
    return job->shape.upper ? job->shape.n : line - (line > 0 && e[line - 1] != 0);
}

/* Row `line` of y takes the sum over its line: y(line) -= sum at[x] y(x). */
static void gather_line(const real *at, int64_t first, int64_t end, real *y, int64_t line,
                        int width) {
    real sum[WIDTH] = { 0 };
    if (width == 1) {
        for (int64_t x = first; x < end; x++) sum[0] = fused(at[x], y[x], sum[0]);
    } else {
        for (int64_t x = first; x < end; x++)
            for (int c = 0; c < width; c++) sum[c] = fused(at[x], y[x * width + c], sum[c]);
    }
    for (int c = 0; c < width; c++) y[line * width + c] -= sum[c];
}

/* Row `line` of y is taken off all others on its line: y(x) -= at[x] y(line). */
static void spread_line(const real *at, int64_t first, int64_t end, real *y, int64_t line,
                        int width) {
    real from[WIDTH];
    for (int c = 0; c < width; c++) from[c] = -y[line * width + c];
    if (width == 1) {
        for (int64_t x = first; x < end; x++) y[x] = fused(at[x], from[0], y[x]);
    } else {
        for (int64_t x = first; x < end; x++)
            for (int c = 0; c < width; c++)
                y[x * width + c] = fused(at[x], from[c], y[x * width + c]);
    }
}

static void divide_block(const real *d, const real *e, real *y, int64_t k, int width) {
    if (e[k] == 0) {
        for (int c = 0; c < width; c++) y[k * width + c] /= d[k];
        return;
    }
    for (int c = 0; c < width; c++) {
        const real x[2] = { y[k * width + c], y[(k + 1) * width + c] };
        real p[2];
        inverse_times(d[k], e[k], d[k + 1], x, p);
        y[k * width + c] = p[0], y[(k + 1) * width + c] = p[1];
    }
}

static void solve_chunk(const symindef_job *job, real *y, int width) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a, *d = job->d, *e = job->e;
    const int64_t n = shape->n;
    for (int64_t line = 0; line < n; line++) /* M y = P b */
        (shape->upper ? spread_line : gather_line)(a + line_start(shape, line),
                                                   factor_first(job, line), factor_end(job, line),
                                                   y, line, width);
    for (int64_t k = 0; k < n; k += e[k] != 0 ? 2 : 1) divide_block(d, e, y, k, width);
    for (int64_t line = n - 1; line >= 0; line--) /* Mt x = y */
        (shape->upper ? gather_line : spread_line)(a + line_start(shape, line),
                                                   factor_first(job, line), factor_end(job, line),
                                                   y, line, width);
}

/* A chunk of right-hand sides at a time, its rows in the order of the factors. */
static shoal_status triangle_solve(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                                   const void *given, void *answer) {
    const int64_t n = job->shape.n;
    const real *b = given;
    real *x = answer, *y = job->rhs;
    const int lost = job->state->singular || job->state->status != SHOAL_SYSTEM_OK;
    (void)plan;
    for (int64_t first = 0; first < nrhs; first += WIDTH) {
        const int width = nrhs - first < WIDTH ? (int)(nrhs - first) : WIDTH;
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < width; c++)
                y[i * width + c] = b[job->permutation[i] * nrhs + first + c];
        if (!lost) solve_chunk(job, y, width);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < width; c++)
                x[job->permutation[i] * nrhs + first + c] = lost ? real_nan() : y[i * width + c];
    }
    return SHOAL_OK;
}

const symindef_driver R(symindef_triangle) = { .bytes = triangle_bytes,
                                               .begin = triangle_begin,
                                               .finish = triangle_finish,
                                               .solve = triangle_solve };
