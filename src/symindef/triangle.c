/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.c - what every factorization does on the CPU before and after its stages, and the solve.
 *
 * Before: a pass for the largest entry, numbers that are not finite and sums along the lines, and one
 * for sums across them. After: zeros where no pivot was left, and the largest multiplier. Each reads
 * the triangle once, lines or stripes of columns dealt to threads.
 *
 * Solve: P A Pt = M D Mt, so x = Pt M^-t D^-1 M^-1 P b, up to WIDTH right-hand sides side by side in
 * a row (substitute.h).
 */
#include "symindef/largest.h"
#include "symindef/substitute.h"

/* columns of a stripe; rows below which no thread is woken */
enum { STRIPE = 512, ALONE = 256 };

static inline int shares_of(const shoal_symindef *plan) {
    return plan->job.shape.n < ALONE ? 1 : plan->head.ctx->threads;
}

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

/* In as many sums as two vectors have numbers, or more: one waits for itself. */
static double sum_of_sizes(const real *of, int64_t x0, int64_t x1) {
    double parts[16] = { 0 }, sum = 0;
    int64_t x = x0;
    for (; x + 16 <= x1; x += 16)
        for (int l = 0; l < 16; l++) parts[l] += fabs((double)of[x + l]);
    for (; x < x1; x++) sum += fabs((double)of[x]);
    for (int l = 0; l < 16; l++) sum += parts[l];
    return sum;
}

/* The largest sum of |A| over a row. A line is part of one row, whose sum is in `sums` already, and
 * of many columns: the threads take stripes of columns and walk along all lines in each. */
static double largest_sum(const shoal_symindef *plan, const symindef_job *job, double *sums) {
    const symindef_shape *shape = &job->shape;
    const int64_t n = shape->n, stripes = (n + STRIPE - 1) / STRIPE;
    const real *a = job->a;
    double most = 0;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 1)
    for (int64_t stripe = 0; stripe < stripes; stripe++) {
        const int64_t low = stripe * STRIPE, high = low + STRIPE < n ? low + STRIPE : n;
        for (int64_t line = shape->upper ? 0 : low + 1; line < (shape->upper ? high : n); line++) {
            const real *at = a + line_start(shape, line);
            const int64_t first = shape->upper && line + 1 > low ? line + 1 : low;
            const int64_t end = !shape->upper && line < high ? line : high;
            for (int64_t x = first; x < end; x++) sums[x] += fabs((double)at[x]);
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (sums[i] > most) most = sums[i];
    return most;
}

static shoal_status triangle_begin(shoal_symindef *plan, const symindef_job *job) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a;
    real *d = job->d, *e = job->e;
    double most = 0, *sums = job->vectors;
    int bad = 0;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 16) reduction(max                    \
                                                                            : most)                \
    reduction(|                                                                                    \
              : bad)
    for (int64_t line = 0; line < shape->n; line++) {
        const real *at = a + line_start(shape, line);
        const int64_t first = line_first(shape, line), end = line_end(shape, line);
        const real line_most = most_between(at, first, end);
        if ((double)line_most > most) most = (double)line_most;
        bad |= !(line_most <= REAL_MAX);
        sums[line] = sum_of_sizes(at, first, end);
        d[line] = e[line] = 0;
        job->interchanges[line] = (int32_t)(line + 1);
        job->permutation[line] = (int32_t)line;
        if (job->growth) job->growth[line] = 0;
    }
    *job->state = (symindef_state){
        .status = bad ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK,
        .largest = most,
        .norm = largest_sum(plan, job, sums),
        .tol = job->tol > 0 ? job->tol : most * REAL_EPSILON,
    };
    return SHOAL_OK;
}

/* Where M is in a line: from *first to *end - 1. */
static inline void multipliers_in(const symindef_shape *s, int64_t line, int64_t rows,
                                  const real *e, int64_t *first, int64_t *end) {
    if (s->upper) {
        *first = line < rows ? line + 1 + (e[line] != 0) : s->n;
        *end = s->n;
    } else {
        const int64_t beside = line - (line > 0 && e[line - 1] != 0);
        *first = 0;
        *end = beside < rows ? beside : rows;
    }
}

static shoal_status triangle_finish(shoal_symindef *plan, const symindef_job *job) {
    const symindef_shape *shape = &job->shape;
    const int64_t rows = job->state->row, n = shape->n;
    const int clear = job->state->done;
    real *a = job->a;
    const real *d = job->d, *e = job->e;
    double most = 0;
    int singular = 0, lost = 0;
    if (job->state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 16) reduction(max                    \
                                                                            : most)                \
    reduction(|                                                                                    \
              : singular, lost)
    for (int64_t line = 0; line < n; line++) {
        real *at = a + line_start(shape, line);
        const int64_t first = line_first(shape, line), end = line_end(shape, line);
        int64_t m0, m1;
        multipliers_in(shape, line, rows, e, &m0, &m1);
        const real line_most = most_between(at, m0, m1);
        const real before = most_between(at, first, m0), behind = most_between(at, m1, end);
        lost |= !(line_most <= REAL_MAX && before <= REAL_MAX && behind <= REAL_MAX);
        if (clear && line >= rows)
            for (int64_t x = first > rows ? first : rows; x < end; x++) at[x] = 0;
        if ((double)line_most > most) most = (double)line_most;
        singular |= d[line] == 0 && e[line] == 0 && !(line > 0 && e[line - 1] != 0);
    }
    job->state->multiplier = most;
    job->state->singular = singular;
    if (lost)
        job->state->status =
            SHOAL_SYSTEM_OVERFLOW; /* NaN is larger than nothing: no search sees it */
    return SHOAL_OK;
}

/* ---- the solve; rows of y are in the order of the factors ---- */

static void divide_block(const real *d, const real *e, real *y, int64_t k, int64_t stride) {
    real *first = y + k * stride, *second = first + stride;
    if (e[k] == 0) {
        for (int64_t c = 0; c < stride; c++) first[c] /= d[k];
        return;
    }
    for (int64_t c = 0; c < stride; c++) {
        const real x[2] = { first[c], second[c] };
        real p[2];
        inverse_times(d[k], e[k], d[k + 1], x, p);
        first[c] = p[0], second[c] = p[1];
    }
}

static void solve_chunk(const symindef_job *job, real *y, int64_t stride) {
    const real *d = job->d, *e = job->e;
    substitution s = { .job = job, .y = y, .stride = stride, .forward = 1 };
    substitute(&s); /* M y = P b */
    for (int64_t k = 0; k < job->shape.n; k += e[k] != 0 ? 2 : 1) divide_block(d, e, y, k, stride);
    s.forward = 0;
    substitute(&s); /* Mt x = y */
}

/* A chunk of right-hand sides at a time, with zeros behind them where vectors need some. */
static shoal_status triangle_solve(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                                   const void *given, void *answer) {
    const int64_t n = job->shape.n;
    const real *b = given;
    real *x = answer, *y = job->rhs;
    const int lost = job->state->singular || job->state->status != SHOAL_SYSTEM_OK;
    (void)plan;
    for (int64_t first = 0; first < nrhs; first += WIDTH) {
        const int width = nrhs - first < WIDTH ? (int)(nrhs - first) : WIDTH;
        const int64_t stride = width == 1 ? 1 : (width + VEC - 1) / VEC * VEC;
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < stride; c++)
                y[i * stride + c] = c >= width ? 0
                                    : b        ? b[job->permutation[i] * nrhs + first + c]
                                               : (real)(job->permutation[i] == first + c);
        if (!lost) solve_chunk(job, y, stride);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < width; c++)
                x[job->permutation[i] * nrhs + first + c] = lost ? real_nan() : y[i * stride + c];
    }
    return SHOAL_OK;
}

/* ---- the residual, and other forms ---- */

/* Row i of A: along its line, and across the lines that it has in common with others. */
static shoal_status triangle_residual(shoal_symindef *plan, const symindef_job *job, int64_t apart,
                                      const void *given, const void *answer, double *r, double *s) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a, *b = given, *x = answer;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t i = 0; i < shape->n; i++) {
        double sum = (double)b[i * apart], size = fabs(sum);
        for (int64_t j = 0; j < shape->n; j++) {
            const double term = (double)a[place(shape, i, j)] * (double)x[j * apart];
            sum -= term;
            size += fabs(term);
        }
        r[i] = sum, s[i] = size;
    }
    return SHOAL_OK;
}

/* M(i,k) with its unit diagonal; D's own entries are not M's. */
static real unit_factor(const symindef_job *job, int64_t i, int64_t k) {
    const real *a = job->a, *e = job->e;
    if (i <= k) return (real)(i == k);
    return i == k + 1 && e[k] != 0 ? 0 : a[place(&job->shape, i, k)];
}

static shoal_status triangle_columns(shoal_symindef *plan, const symindef_job *job,
                                     const int32_t *to, int64_t rank, void *result) {
    const int64_t n = job->shape.n;
    const real *d = job->d, *e = job->e;
    real *g = result;
    gjgt_block *blocks = job->rhs; /* no right-hand side is under way */
    _Static_assert(sizeof *blocks <= WIDTH * sizeof(real), "a block for each row");
    for (int64_t k = 0; k < n; k += e[k] != 0 ? 2 : 1)
        blocks[k] = gjgt_of(d[k], e[k], e[k] != 0 ? d[k + 1] : 0);
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < n; k += e[k] != 0 ? 2 : 1) {
            const real m[2] = { unit_factor(job, i, k),
                                e[k] != 0 ? unit_factor(job, i, k + 1) : 0 };
            for (int t = 0; t < (e[k] != 0 ? 2 : 1); t++)
                if (to[k + t] >= 0)
                    g[i * rank + to[k + t]] =
                        fused(m[0], blocks[k].q[0][t], m[1] * blocks[k].q[1][t]);
        }
    return SHOAL_OK;
}

static shoal_status triangle_blocks(shoal_symindef *plan, const symindef_job *job) {
    const real *d = job->d, *e = job->e;
    real *a = job->a;
    (void)plan;
    for (int64_t k = 0; k < job->shape.n; k++) {
        a[place(&job->shape, k, k)] = d[k];
        if (k + 1 < job->shape.n && job->interchanges[k + 1] < 0)
            a[place(&job->shape, k + 1, k)] = e[k]; /* also where it has become zero */
    }
    return SHOAL_OK;
}

const symindef_driver R(symindef_triangle) = { .bytes = triangle_bytes,
                                               .begin = triangle_begin,
                                               .finish = triangle_finish,
                                               .solve = triangle_solve,
                                               .residual = triangle_residual,
                                               .columns = triangle_columns,
                                               .blocks = triangle_blocks };
