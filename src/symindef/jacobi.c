/* SPDX-License-Identifier: Apache-2.0
 *
 * jacobi.c - one-sided J-orthogonal Jacobi on the CPU (jacobi.h).
 *
 * Threads take pairs of blocks. The Gram matrix: 64 rows of the columns are packed row by row, then
 * sums of TALL x TAKEN vectors stay in registers. The rotations: V is kept transposed, so that a rotation
 * goes along two rows. The update: tiles of rows of the old columns are copied, and multiplied by V.
 */
#include "core/vec.h"
#include "symindef/jacobi.h"

enum { SIDE = JACOBI_SIDE, TALL = 4, TAKEN = VEC_REGISTERS > 16 ? 4 : 2, TILE = 64 };
enum { GROUP = TAKEN * VEC }; /* columns, or rows, whose sums are in registers */
enum { LANES = 32 };          /* partial sums of a norm, as the threads of a warp */

enum { ALONE = 256 }; /* rows below which no thread is woken */

static inline int shares_of(const shoal_symindef *plan) {
    return plan->job.shape.n < ALONE ? 1 : plan->head.ctx->threads;
}

static size_t jacobi_bytes(const jacobi_job *job) {
    (void)job;
    return sizeof(real);
}

static shoal_status jacobi_clear(shoal_symindef *plan, const jacobi_job *job) {
    real *x = job->x;
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static)
    for (int64_t k = 0; k < (int64_t)job->blocks * job->width; k++)
        memset(x + k * job->ld, 0, (size_t)job->ld * sizeof(real));
    (void)plan; /* without OpenMP */
    return SHOAL_OK;
}

/* Infinity if one is not finite. */
static real largest_of_column(const real *g, int64_t n) {
    real largest = 0;
    for (int64_t i = 0; i < n; i++) {
        const real size = real_abs(g[i]);
        if (!(size <= largest)) largest = size <= REAL_MAX ? size : (real)INFINITY;
    }
    return largest;
}

static shoal_status jacobi_begin(shoal_symindef *plan, const jacobi_job *job) {
    real *x = job->x;
    double largest = 0, smallest = (double)REAL_MAX;
    const int threads = shares_of(plan);
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max                       \
                                                                         : largest)                \
    reduction(min                                                                                  \
              : smallest)
    for (int64_t k = 0; k < job->rank; k++) {
        const double size = (double)largest_of_column(x + k * job->ld, job->n);
        if (size > largest) largest = size;
        if (size < smallest) smallest = size;
    }
    *job->state = (jacobi_state){ .largest = largest, .smallest = smallest };
    jacobi_scale(job->state);
    if (job->state->status != SHOAL_SYSTEM_OK) return SHOAL_OK;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t k = 0; k < job->rank; k++)
        for (int64_t i = 0; i < job->n; i++)
            x[k * job->ld + i] = times_power_of_2(x[k * job->ld + i], job->state->exponent);
    for (int64_t k = job->rank; k < job->columns; k++)
        x[k * job->ld + job->rows[k]] = jacobi_unit(job->state);
    return SHOAL_OK;
}

/* ---- a pair of blocks ---- */

typedef struct pair {                    /* what a thread has of it */
    real *column[SIDE];                  /* beyond the last: the first */
    int count;                           /* of columns                 */
    real s[SIDE * SIDE], v[SIDE * SIDE]; /* v: V transposed */
    real some[TILE * SIDE];
} pair;

/* TILE rows from r0 of all columns, row by row. */
static void pack_rows(pair *p, int64_t r0) {
    for (int c = 0; c < SIDE; c += VEC)
        for (int r = 0; r < TILE; r += VEC) {
            vec rows[VEC];
            for (int l = 0; l < VEC; l++) rows[l] = vec_load(p->column[c + l] + r0 + r);
            vec_transpose(rows);
            for (int l = 0; l < VEC; l++) vec_store(p->some + (r + l) * SIDE + c, rows[l]);
        }
}

/* Products of TALL columns from i and GROUP columns from j, added to the sums so far. */
ALWAYS_INLINE void add_products(const pair *p, real *sums, int i, int j) {
    vec sum[TALL][TAKEN];
    for (int a = 0; a < TALL; a++)
        for (int b = 0; b < TAKEN; b++) sum[a][b] = vec_load(sums + (i + a) * SIDE + j + b * VEC);
    for (int r = 0; r < TILE; r++) {
        const real *row = p->some + r * SIDE;
        vec right[TAKEN];
        for (int b = 0; b < TAKEN; b++) right[b] = vec_load(row + j + b * VEC);
        for (int a = 0; a < TALL; a++)
            for (int b = 0; b < TAKEN; b++)
                sum[a][b] = vec_fma(vec_all(row[i + a]), right[b], sum[a][b]);
    }
    for (int a = 0; a < TALL; a++)
        for (int b = 0; b < TAKEN; b++) vec_store(sums + (i + a) * SIDE + j + b * VEC, sum[a][b]);
}

static void gram(pair *p, const jacobi_job *job) {
    real sums[SIDE * SIDE];
    memset(p->s, 0, sizeof p->s);
    for (int64_t chunk = 0; chunk < job->ld; chunk += job->chunk) {
        const int64_t end = chunk + job->chunk < job->ld ? chunk + job->chunk : job->ld;
        memset(sums, 0, sizeof sums);
        for (int64_t r0 = chunk; r0 < end; r0 += TILE) {
            pack_rows(p, r0);
            for (int i = 0; i < p->count; i += TALL)
                for (int j = i / GROUP * GROUP; j < p->count; j += GROUP)
                    add_products(p, sums, i, j);
        }
        for (int at = 0; at < SIDE * SIDE; at++) p->s[at] += sums[at];
    }
}

/* Are all columns orthogonal? */
static int is_done(const pair *p, real tol, jacobi_state *state) {
    int done = 1;
    for (int i = 0; i < p->count; i++) {
        const real a = p->s[i * SIDE + i];
        if (!(a <= REAL_MAX)) state->status = SHOAL_SYSTEM_OVERFLOW;
        for (int j = i + 1; j < p->count; j++) {
            real cosine;
            done &= jacobi_is_done(a, p->s[j * SIDE + j], p->s[i * SIDE + j], tol, &cosine);
            if ((double)cosine > state->cosine) state->cosine = (double)cosine;
        }
    }
    return done;
}

/* Rows p and q of V transposed. */
ALWAYS_INLINE void rotate_rows(const jacobi_rotation *r, real *x, real *y) {
    const vec s = vec_all(r->s), u = vec_all(r->u), t = vec_all(r->t), w = vec_all(r->w);
    for (int i = 0; i < SIDE; i += VEC) {
        const vec first = vec_load(x + i), second = vec_load(y + i);
        vec_store(x + i, vec_fma(u, vec_fma(t, first, second), first));
        vec_store(y + i, vec_fma(s, vec_fma(w, second, first), second));
    }
}

/* The rotations on S; their product in v. Returns how many there were. */
static int rotate_all(pair *p, const int32_t *sign, real tol, int crossing) {
    const int count = p->count, half = count / 2, steps = jacobi_steps(count, crossing);
    int rotations = 0;
    memset(p->v, 0, sizeof p->v);
    for (int i = 0; i < SIDE; i++) p->v[i * SIDE + i] = 1;
    for (int step = 0; step < steps; step++) {
        jacobi_rotation turn[SIDE / 2];
        int low[SIDE / 2], high[SIDE / 2], active = 0;
        for (int k = 0; k < half; k++) {
            jacobi_inner_pair(count, crossing, step, k, &low[k], &high[k]);
            const int i = low[k], j = high[k];
            turn[k] = jacobi_rotate(p->s + i * SIDE + i, p->s + j * SIDE + j, p->s + i * SIDE + j,
                                    sign[i] != sign[j], tol);
            active += turn[k].is_active;
        }
        rotations += active;
        for (int k = 0; k < half && active; k++) {
            if (turn[k].is_active)
                rotate_rows(&turn[k], p->v + low[k] * SIDE, p->v + high[k] * SIDE);
            for (int l = k + 1; l < half; l++)
                if (turn[k].is_active || turn[l].is_active)
                    jacobi_apply_both(&turn[k], &turn[l], p->s, SIDE, low[k], high[k], low[l],
                                      high[l]);
        }
    }
    return rotations;
}

/* TALL columns from j of the tile's rows r .. r + GROUP - 1, times V. */
ALWAYS_INLINE void multiply(const pair *p, int j, int r, vec sum[TALL][TAKEN]) {
    for (int a = 0; a < TALL; a++)
        for (int b = 0; b < TAKEN; b++) sum[a][b] = vec_all(0);
    for (int i = 0; i < p->count; i++) {
        vec old[TAKEN];
        for (int b = 0; b < TAKEN; b++) old[b] = vec_load(p->some + i * TILE + r + b * VEC);
        for (int a = 0; a < TALL; a++)
            for (int b = 0; b < TAKEN; b++)
                sum[a][b] = vec_fma(vec_all(p->v[(j + a) * SIDE + i]), old[b], sum[a][b]);
    }
}

static void update(pair *p, int64_t ld) {
    for (int64_t r0 = 0; r0 < ld; r0 += TILE) {
        for (int i = 0; i < p->count; i++)
            memcpy(p->some + i * TILE, p->column[i] + r0, TILE * sizeof(real));
        for (int j = 0; j < p->count; j += TALL)
            for (int r = 0; r < TILE; r += GROUP) {
                vec sum[TALL][TAKEN];
                multiply(p, j, r, sum);
                for (int a = 0; a < TALL && j + a < p->count; a++)
                    for (int b = 0; b < TAKEN; b++)
                        vec_store(p->column[j + a] + r0 + r + b * VEC, sum[a][b]);
            }
    }
}

static void turn_pair(const jacobi_job *job, int step, int low, int high, jacobi_state *state) {
    pair p = { .count = 2 * job->width };
    int32_t sign[SIDE];
    const real tol = jacobi_tolerance(job->n);
    for (int c = 0; c < SIDE; c++) {
        const int64_t column = jacobi_column(low, high, job->width, c < p.count ? c : 0);
        p.column[c] = (real *)job->x + column * job->ld;
        sign[c] = job->signs[column];
    }
    gram(&p, job);
    if (is_done(&p, tol, state)) return;
    const int rotations = rotate_all(&p, sign, tol, step > 0);
    state->rotations += (uint64_t)rotations;
    if (rotations > 0) update(&p, job->ld);
}

static shoal_status jacobi_sweep(shoal_symindef *plan, const jacobi_job *job) {
    const int steps = job->blocks - 1, pairs = job->blocks / 2;
    int status = job->state->status;
    uint64_t rotations = 0;
    double cosine = 0;
    for (int step = 0; step < steps; step++) {
        if (shoal_is_cancelled(plan->head.ctx, step, steps)) return SHOAL_E_CANCELLED;
#pragma omp parallel for num_threads(shares_of(plan)) schedule(dynamic, 1) reduction(min : status) reduction(+ : rotations) reduction(max : cosine)
        for (int k = 0; k < pairs; k++) {
            jacobi_state found = { .status = SHOAL_SYSTEM_OK };
            int low, high;
            jacobi_pair(job->blocks, step, k, &low, &high);
            turn_pair(job, step, low, high, &found);
            if (found.status < status) status = found.status;
            if (found.cosine > cosine) cosine = found.cosine;
            rotations += found.rotations;
        }
    }
    job->state->status = status;
    job->state->rotations = rotations;
    job->state->cosine = cosine;
    return SHOAL_OK;
}

/* ---- the results ---- */

static real squared_norm(const real *g, int64_t ld) {
    real sum[LANES] = { 0 };
    for (int64_t i = 0; i < ld; i += LANES)
        for (int l = 0; l < LANES; l++) sum[l] = fused(g[i + l], g[i + l], sum[l]);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) sum[l] += sum[l + half];
    return sum[0];
}

static shoal_status jacobi_norms(shoal_symindef *plan, const jacobi_job *job) {
    const real *x = job->x;
    real *values = job->values;
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static)
    for (int64_t k = 0; k < job->rank; k++)
        values[k] = (real)job->signs[k] *
                    jacobi_unscaled(squared_norm(x + k * job->ld, job->ld), job->state->exponent);
    (void)plan; /* without OpenMP */
    return SHOAL_OK;
}

static shoal_status jacobi_vectors(shoal_symindef *plan, const jacobi_job *job, int lost,
                                   const int32_t *permutation, void *vectors) {
    const real *x = job->x;
    real *to = vectors;
    for (int64_t at = 0; lost && at < job->n * job->n; at++) to[at] = real_nan();
    if (lost) return SHOAL_OK;
#pragma omp parallel for num_threads(shares_of(plan)) schedule(static)
    for (int64_t k = 0; k < job->columns; k++) {
        const real *g = x + k * job->ld;
        const real norm = real_sqrt(squared_norm(g, job->ld));
        for (int64_t i = 0; i < job->n; i++)
            to[permutation[i] * job->n + job->places[k]] = g[i] / norm;
    }
    (void)plan; /* without OpenMP */
    return SHOAL_OK;
}

const symindef_eigensolver R(symindef_jacobi) = { .bytes = jacobi_bytes,
                                                  .clear = jacobi_clear,
                                                  .begin = jacobi_begin,
                                                  .sweep = jacobi_sweep,
                                                  .norms = jacobi_norms,
                                                  .vectors = jacobi_vectors };
