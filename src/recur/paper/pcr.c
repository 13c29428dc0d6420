/* SPDX-License-Identifier: Apache-2.0
 *
 * pcr.c - parallel cyclic reduction of order-1 recurrences on the CPU.
 *
 * The row w_i = s_i w_{i-h} + t_i becomes, with row i - h put in, w_i = s_i s_{i-h} w_{i-2h} + s_i
 * t_{i-h} + t_i: after ceil(log2 n) steps, h = 1, 2, 4, .., t is the answer. 3 operations per row and
 * step, 4 numbers read and 2 written: N log N where the P-scheme has 2 N. It is there for the
 * comparison of the paper's Figure 7. Once a product of s is too small, rows carry an exponent.
 * A segment whose products overflow is walked.
 */
#include "recur/walk.h"
#include <string.h>

typedef struct rows { /* of one segment */
    real *s, *t;
    int16_t *e; /* s is 2^e s */
} rows;

static size_t pcr_bytes(const shoal_recur *plan) {
    return (size_t)plan->job.n * (4 * sizeof(real) + 2 * sizeof(int16_t));
}

/* Whether the product of s with another such may underflow. */
static inline int is_small(real s) { return real_abs(s) < (real)0x1p-62; }

/* Whether no product of s is too small: then the step is done. */
static int plain_step(const rows *from, const rows *to, int64_t h, int64_t n, int threads) {
    const real *s = from->s, *t = from->t;
    real *next_s = to->s, *next_t = to->t;
    int small = 0;
    (void)threads; /* without OpenMP */
#pragma omp parallel for simd num_threads(threads) schedule(static) reduction(| : small)
    for (int64_t i = h; i < n; i++) {
        next_s[i] = s[i] * s[i - h];
        next_t[i] = s[i] * t[i - h] + t[i];
        small |= is_small(next_s[i]) & (s[i] != 0) & (s[i - h] != 0);
    }
    return !small;
}

/* s and e of a row. What is beyond the exponents of 16 bits is far beyond all numbers. */
static void keep_scale(const rows *to, int64_t i, real s, int e) {
    int more = 0;
    to->s[i] = (real)frexp(s, &more);
    e += more;
    to->e[i] = (int16_t)(e < INT16_MIN ? INT16_MIN : e > INT16_MAX ? INT16_MAX : e);
}

static void scaled_step(const rows *from, const rows *to, int64_t h, int64_t n, int threads) {
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = h; i < n; i++) {
        keep_scale(to, i, from->s[i] * from->s[i - h], from->e[i] + from->e[i - h]);
        to->t[i] = (real)ldexp((double)from->s[i] * from->t[i - h], from->e[i]) + from->t[i];
    }
}

static void one_segment(const recur_job *job, int64_t k, int threads) {
    const int64_t n = job->n;
    const recur_view v = view_of(job, k);
    real *work = job->work;
    int16_t *exponents = (int16_t *)(void *)(work + 4 * n);
    rows from = { work, work + n, exponents };
    rows to = { work + 2 * n, work + 3 * n, exponents + n };
    recur_state x = first_state(job, k, 1);
    real poison = poisoned(0, x.x[0]);
    int plain = 1;
    memset(to.e, 0, (size_t)n * sizeof(int16_t)); /* stays so while steps are plain */
    for (int64_t i = 0; i < n; i++) {
        const real s = v.s[i * v.s_row];
        from.s[i] = s, from.t[i] = v.t[i * v.t_row], from.e[i] = 0;
        if (is_small(s) && s != 0) keep_scale(&from, i, s, 0), plain = 0;
    }
    from.t[0] = row_step(&x, v.s, from.t[0], 1);
    from.s[0] = 0, from.e[0] = 0;
    for (int64_t h = 1; h < n; h *= 2) {
        plain = plain && plain_step(&from, &to, h, n, threads);
        if (!plain) scaled_step(&from, &to, h, n, threads);
        memcpy(to.s, from.s, (size_t)h * sizeof(real)); /* rows that are done */
        memcpy(to.t, from.t, (size_t)h * sizeof(real));
        memcpy(to.e, from.e, (size_t)h * sizeof(int16_t));
        const rows swap = from;
        from = to, to = swap;
    }
    for (int64_t i = 0; i < n; i++) poison = poisoned(poison, from.t[i]);
    if (poison != 0)
        walk_segment(job, k);
    else
        for (int64_t i = 0; i < n; i++) v.w[i * v.w_row] = from.t[i];
}

static shoal_status pcr_run(shoal_recur *plan, const recur_job *job) {
    for (int64_t k = 0; k < job->count; k++) one_segment(job, k, plan->head.ctx->threads);
    return SHOAL_OK;
}

const recur_method R(recur_pcr) = { .bytes = pcr_bytes, .run = pcr_run };
