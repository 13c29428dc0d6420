/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.c - what every factorization does on the CPU before and after its stages, and the solve.
 *
 * Before: a pass for the largest entry, numbers that are not finite and sums along the lines, and one
 * for sums across them. After: zeros if no pivot was left, and the largest multiplier. Each reads the
 * triangle once, lines or stripes of columns dealt to threads.
 *
 * Solve: P A Pt = M D Mt, so x = Pt M^-t D^-1 M^-1 P b, up to WIDTH right-hand sides side by side in
 * a row, by blocks of ROWS rows. What a block takes off a row is summed up first: a row is rounded
 * n / ROWS times at its own size and not n times. Every sum has one order, for either direction of the
 * lines and any number of right-hand sides. If a line is a row of the triangle that is solved with, a
 * block of rows takes all that is solved, along its lines, before it is solved itself; if it is a column,
 * the block is taken off the rest, across its lines. Either way entries of M for TALL rows are packed and
 * meet columns of y in registers, TALL x TAKEN vectors; one right-hand side needs no packing. n^2 / 2
 * multiplications and additions per right-hand side; M is read once for WIDTH of them.
 */
#include "symindef/largest.h"
#include "symindef/stage.h"

enum { WIDTH = 32, ROWS = 32, TALL = 4, TAKEN = VEC_REGISTERS > 16 ? 4 : 2, TOGETHER = 64 };

/* columns of a stripe; rows below which no thread is woken */
enum { STRIPE = 512, ALONE = 256 };

static inline int shares_of(const shoal_symindef *plan) {
    return plan->job.shape.n < ALONE ? 1 : plan->head.ctx->threads;
}

static size_t triangle_bytes(const shoal_symindef *plan) {
    return (size_t)plan->job.shape.n * WIDTH * sizeof(real);
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
    double largest = 0;
    (void)plan; /* without OpenMP */
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static, 1)
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
        if (sums[i] > largest) largest = sums[i];
    return largest;
}

static shoal_status triangle_begin(shoal_symindef *plan, const symindef_job *job) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a;
    real *d = job->d, *e = job->e;
    double largest = 0, *sums = job->vectors;
    int bad = 0;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 16) reduction(max : largest, bad)
    for (int64_t line = 0; line < shape->n; line++) {
        const real *at = a + line_start(shape, line);
        const int64_t first = line_first(shape, line), end = line_end(shape, line);
        const real line_largest = largest_between(at, first, end);
        if ((double)line_largest > largest) largest = (double)line_largest;
        if (!(line_largest <= REAL_MAX)) bad = 1;
        sums[line] = sum_of_sizes(at, first, end);
        d[line] = e[line] = 0;
        job->interchanges[line] = (int32_t)(line + 1);
        job->permutation[line] = (int32_t)line;
        if (job->growth) job->growth[line] = 0;
    }
    *job->state = (symindef_state){
        .status = bad ? SHOAL_SYSTEM_NONFINITE : SHOAL_SYSTEM_OK,
        .largest = largest,
        .norm = largest_sum(plan, job, sums),
        .tol = job->tol > 0 ? job->tol : largest * REAL_EPSILON,
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
    double largest = 0;
    int singular = 0;
    if (job->state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
    const int shares = shares_of(plan);
    (void)shares; /* without OpenMP */
#pragma omp parallel for num_threads(shares) schedule(static, 16) reduction(max : largest, singular)
    for (int64_t line = 0; line < n; line++) {
        real *at = a + line_start(shape, line);
        const int64_t first = line_first(shape, line), end = line_end(shape, line);
        int64_t m0, m1;
        multipliers_in(shape, line, rows, e, &m0, &m1);
        const real line_largest = largest_between(at, m0, m1);
        const real before = largest_between(at, first, m0), behind = largest_between(at, m1, end);
        if (!(line_largest <= REAL_MAX && before <= REAL_MAX && behind <= REAL_MAX))
            largest = INFINITY; /* no search sees NaN */
        if (clear && line >= rows)
            for (int64_t x = first > rows ? first : rows; x < end; x++) at[x] = 0;
        if ((double)line_largest > largest) largest = (double)line_largest;
        if (d[line] == 0 && e[line] == 0 && !(line > 0 && e[line - 1] != 0)) singular = 1;
    }
    job->state->multiplier = largest;
    job->state->singular = singular;
    if (largest > REAL_MAX) job->state->status = SHOAL_SYSTEM_OVERFLOW;
    return SHOAL_OK;
}

/* ---- the solve; rows of y are in the order of the factors ---- */

typedef struct substitution {
    const symindef_job *job;
    real *y;        /* right-hand sides, then the answers */
    int64_t stride; /* from row to row of y: 1, or a multiple of VEC, WIDTH at most */
    int forward;    /* with M, else with Mt */
    const shoal_context *ctx;
    int64_t done, chunks; /* blocks so far; chunks of right-hand sides */
} substitution;

static inline int64_t blocks_of(const substitution *s) {
    return (s->job->shape.n + ROWS - 1) / ROWS;
}

/* Where block b begins: a pivot of order 2 is not torn, so that all between two blocks is M's. A
 * block has ROWS + 1 rows at most. */
static inline int64_t block_begin(const substitution *s, int64_t b) {
    const real *e = s->job->e;
    const int64_t row = b * ROWS;
    if (row >= s->job->shape.n) return s->job->shape.n;
    return row + (row > 0 && e[row - 1] != 0);
}

/* Some vectors of `rows` rows of y at `to`, less the sums over `depth` rows at `from`, whose entries
 * of M are m[x * TALL + row]. (Loops end at TALL, whatever there is, so that sums stay in registers.) */
ALWAYS_INLINE void subtract_vectors(const real *m, int64_t depth, const real *from, real *to,
                                    int rows, int64_t stride, int vectors) {
    vec sum[TALL][TAKEN];
    for (int r = 0; r < TALL; r++)
        for (int v = 0; v < vectors; v++) sum[r][v] = vec_all(0);
    for (int64_t x = 0; x < depth; x++, m += TALL, from += stride)
        for (int r = 0; r < TALL; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] = vec_fma(vec_all(m[r]), vec_load(from + v * VEC), sum[r][v]);
    for (int r = 0; r < TALL; r++)
        for (int v = 0; v < vectors; v++)
            if (r < rows)
                vec_store(to + r * stride + v * VEC,
                          vec_load(to + r * stride + v * VEC) - sum[r][v]);
}

/* Rows i .. i + rows - 1 of y, TALL or fewer, less what rows x0 .. x1 - 1 take off, up to
 * ROWS + 1. Lines are the rows that take, or those that are taken off. */
static void subtract_block(const substitution *s, int along, int64_t i, int rows, int64_t x0,
                           int64_t x1) {
    const int64_t stride = s->stride;
    const real *a = s->job->a, *from = s->y + x0 * stride;
    real m[(ROWS + 1) * TALL], *to = s->y + i * stride;
    for (int r = 0; r < TALL && along; r++) {
        const real *at = a + line_start(&s->job->shape, r < rows ? i + r : i);
        for (int64_t x = x0; x < x1; x++) m[(x - x0) * TALL + r] = at[x];
    }
    for (int64_t x = x0; x < x1 && !along; x++) {
        const real *at = a + line_start(&s->job->shape, x) + i;
        for (int r = 0; r < TALL; r++) m[(x - x0) * TALL + r] = at[r < rows ? r : 0];
    }
    int64_t c = 0;
    for (; c + TAKEN * VEC <= stride; c += TAKEN * VEC)
        subtract_vectors(m, x1 - x0, from + c, to + c, rows, stride, TAKEN);
    for (; c < stride; c += VEC) subtract_vectors(m, x1 - x0, from + c, to + c, rows, stride, 1);
}

/* The same for one right-hand side and any number of rows, without packing: sums that do not wait
 * for each other. */
static void subtract_single(const substitution *s, int along, int64_t i0, int64_t i1, int64_t x0,
                            int64_t x1) {
    const symindef_shape *shape = &s->job->shape;
    const real *a = s->job->a;
    real *y = s->y;
    for (int64_t i = i0; i < i1; i += TOGETHER) {
        const int rows = i1 - i < TOGETHER ? (int)(i1 - i) : TOGETHER;
        real sum[TOGETHER] = { 0 };
        for (int r = 0; r < rows && along; r += TALL) {
            const real *at[TALL];
            real some[TALL] = { 0 };
            for (int u = 0; u < TALL; u++)
                at[u] = a + line_start(shape, r + u < rows ? i + r + u : i);
            for (int64_t x = x0; x < x1; x++)
                for (int u = 0; u < TALL; u++) some[u] = fused(at[u][x], y[x], some[u]);
            memcpy(sum + r, some, sizeof some);
        }
        for (int64_t x = x0; x < x1 && !along; x++) {
            const real *at = a + line_start(shape, x) + i, factor = y[x];
            for (int r = 0; r < rows; r++) sum[r] = fused(at[r], factor, sum[r]);
        }
        for (int r = 0; r < rows; r++) y[i + r] -= sum[r];
    }
}

/* Rows i0 .. i1 - 1 less what block b takes off. */
static void subtract(const substitution *s, int along, int64_t i0, int64_t i1, int64_t b) {
    const int64_t x0 = block_begin(s, b), x1 = block_begin(s, b + 1);
    if (s->stride == 1) subtract_single(s, along, i0, i1, x0, x1);
    for (int64_t i = i0; i < i1 && s->stride > 1; i += TALL)
        subtract_block(s, along, i, i1 - i < TALL ? (int)(i1 - i) : TALL, x0, x1);
}

/* sum += m y, of one right-hand side or of vectors. */
static inline void add_row(real m, const real *y, real *sum, int64_t stride) {
    if (stride == 1) sum[0] = fused(m, y[0], sum[0]);
    for (int64_t c = 0; c < stride && stride > 1; c += VEC)
        vec_store(sum + c, vec_fma(vec_all(m), vec_load(y + c), vec_load(sum + c)));
}

/* The rows of a block, one after the other; each adds to the sums of those to come. What D has below
 * its diagonal is left out. */
static void solve_block(const substitution *s, int along, int64_t r0, int64_t r1) {
    const real *a = s->job->a, *e = s->job->e;
    const int64_t stride = s->stride;
    int64_t start[ROWS + 1];
    real sums[(ROWS + 1) * WIDTH];
    memset(sums, 0, (size_t)((r1 - r0) * stride) * sizeof(real));
    for (int64_t i = r0; i < r1; i++) start[i - r0] = line_start(&s->job->shape, i);
    for (int64_t step = 0; step < r1 - r0; step++) {
        const int64_t i = s->forward ? r0 + step : r1 - 1 - step;
        const int64_t x0 = s->forward ? i + 1 + (e[i] != 0) : r0;
        const int64_t x1 = s->forward ? r1 : i - (i > r0 && e[i - 1] != 0);
        real *y = s->y + i * stride;
        for (int64_t c = 0; c < stride; c++) y[c] -= sums[(i - r0) * stride + c];
        for (int64_t x = x0; x < x1; x++)
            add_row(a[along ? start[x - r0] + i : start[i - r0] + x], y, sums + (x - r0) * stride,
                    stride);
    }
}

static void substitute(substitution *s) {
    const int64_t n = s->job->shape.n, blocks = blocks_of(s), step = s->forward ? 1 : -1;
    const int64_t first = s->forward ? 0 : blocks - 1, end = s->forward ? blocks : -1;
    const int along = s->forward != s->job->shape.upper;
    for (int64_t b = first; b != end; b += step) {
        if (shoal_is_cancelled(s->ctx, s->done++, 2 * blocks * s->chunks)) return;
        const int64_t r0 = block_begin(s, b), r1 = block_begin(s, b + 1);
        for (int64_t from = first; along && from != b; from += step) subtract(s, 1, r0, r1, from);
        solve_block(s, along, r0, r1);
        if (!along) subtract(s, 0, s->forward ? r1 : 0, s->forward ? n : r0, b);
    }
}

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

static void solve_chunk(substitution *s) {
    const real *d = s->job->d, *e = s->job->e;
    s->forward = 1;
    substitute(s); /* M y = P b */
    for (int64_t k = 0; k < s->job->shape.n; k += e[k] != 0 ? 2 : 1)
        divide_block(d, e, s->y, k, s->stride);
    s->forward = 0;
    substitute(s); /* Mt x = y */
}

/* A chunk of right-hand sides at a time, with zeros behind them where vectors need some. */
static shoal_status triangle_solve(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                                   const void *given, void *answer) {
    const int64_t n = job->shape.n;
    const real *b = given;
    real *x = answer, *y = job->rhs;
    const int lost = job->state->singular || job->state->status != SHOAL_SYSTEM_OK;
    const shoal_context *ctx = plan->head.ctx;
    substitution s = { .job = job, .y = y, .ctx = ctx, .chunks = (nrhs + WIDTH - 1) / WIDTH };
    for (int64_t first = 0; first < nrhs; first += WIDTH) {
        if (shoal_is_cancelled(ctx, first, nrhs)) return SHOAL_E_CANCELLED;
        const int width = nrhs - first < WIDTH ? (int)(nrhs - first) : WIDTH;
        const int64_t stride = width == 1 ? 1 : (width + VEC - 1) / VEC * VEC;
        s.stride = stride;
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < stride; c++)
                y[i * stride + c] = c >= width ? 0
                                    : b        ? b[job->permutation[i] * nrhs + first + c]
                                               : (real)(job->permutation[i] == first + c);
        if (!lost) solve_chunk(&s);
        for (int64_t i = 0; i < n; i++)
            for (int c = 0; c < width; c++)
                x[job->permutation[i] * nrhs + first + c] = lost ? real_nan() : y[i * stride + c];
    }
    return SHOAL_OK;
}

/* ---- the residual, and other forms ---- */

/* Row i of A: along its line, and across the lines that it has in common with others. */
static shoal_status triangle_residual(shoal_symindef *plan, const symindef_job *job,
                                      const void *given, const void *answer, double *r, double *s) {
    const symindef_shape *shape = &job->shape;
    const real *a = job->a, *b = given, *x = answer;
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static)
    for (int64_t i = 0; i < shape->n; i++) {
        if (shoal_is_cancelled(plan->head.ctx, 0, 1)) continue;
        double sum = (double)b[i], size = fabs(sum);
        for (int64_t j = 0; j < shape->n; j++) {
            const double term = (double)a[place(shape, i, j)] * (double)x[j];
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
                                     const int32_t *to, int64_t row_step, int64_t column_step,
                                     void *result) {
    const int64_t n = job->shape.n;
    const real *d = job->d, *e = job->e;
    real *g = result;
    gjgt_block *blocks = job->rhs; /* no right-hand side is under way */
    _Static_assert(sizeof *blocks <= WIDTH * sizeof(real), "a block for each row");
    for (int64_t k = 0; k < n; k += e[k] != 0 ? 2 : 1)
        blocks[k] = gjgt_of(d[k], e[k], e[k] != 0 ? d[k + 1] : 0);
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        if (shoal_is_cancelled(plan->head.ctx, i, n / plan->head.ctx->threads + 1)) continue;
        for (int64_t k = 0; k < n; k += e[k] != 0 ? 2 : 1) {
            const real m[2] = { unit_factor(job, i, k),
                                e[k] != 0 ? unit_factor(job, i, k + 1) : 0 };
            for (int t = 0; t < (e[k] != 0 ? 2 : 1); t++)
                if (to[k + t] >= 0)
                    g[i * row_step + to[k + t] * column_step] =
                        fused(m[0], blocks[k].q[0][t], m[1] * blocks[k].q[1][t]);
        }
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
            a[place(&job->shape, k + 1, k)] = e[k]; /* even if it has become zero */
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
