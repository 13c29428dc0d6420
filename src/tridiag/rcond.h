/* SPDX-License-Identifier: Apache-2.0
 *
 * rcond.h - the reciprocal condition number 1 / (|A| |A^-1|) in the 1-norm, by estimate.
 *
 * |A| is the largest column sum. Of |A^-1| a lower bound is found from a few solves with A and A^T by
 * Hager's method as Higham improved it ("FORTRAN codes for estimating the one-norm of a real or complex
 * matrix", ACM TOMS 14, 1988; LAPACK's dlacn2, which dgtcon calls):
 *     round 0      x = A^-1 (1/n, ..., 1/n)            estimate = |x|
 *     round 1      z = A^-T sign(x)                    j = where |z| is largest
 *     rounds 2, 4, 6, 8: x = A^-1 e_j                  estimate = |x|; no larger, or no sign changed: settled
 *     rounds 3, 5, 7:    z = A^-T sign(x)              |z| largest at j still: settled
 *     round 9      x = A^-1 (1, -(1 + 1/(n-1)), ...)   estimate >= 2 |x| / (3 n)
 * All right-hand sides are multiplied by |A|, so that matrices of any scale stay in range.
 *
 * The driver of each backend runs the rounds over the whole batch with the plan's own method
 * (rcond.c, rcond.cu). A system that has settled gets zeros for right-hand sides until the last round. Work
 * is shared out by system and segment of rows; a segment is summed in order, and so are the segments, in
 * every layout and on both backends. 1 number and a byte per row of workspace beside the diagonals of A^T and
 * the method's own.
 */
#ifndef SHOAL_TRIDIAG_RCOND_H
#define SHOAL_TRIDIAG_RCOND_H

#include "core/real.h"
#include "tridiag/plan.h"

enum { RCOND_SEGMENT = 1024, RCOND_BEGIN = -1, RCOND_LAST = 9 };
enum { RCOND_OPEN, RCOND_SETTLED, RCOND_CLOSED }; /* closed: rcond is written */

typedef struct rcond_part { /* of one segment of an x */
    real sum, most;         /* of |x|                                 */
    int64_t at;             /* where it is largest                    */
    int32_t changed;        /* whether a sign is not that of before   */
} rcond_part;

typedef struct rcond_state { /* of one system */
    real norm, scale;        /* |A|, and what right-hand sides are multiplied by */
    real estimate;           /* of |A^-1| scale                                  */
    int64_t at;              /* j                                                */
    int32_t stage;
} rcond_state;

typedef struct rcond_arrays { /* all in one piece of memory */
    void *work;               /* of the method                       */
    real *x;                  /* right-hand sides, then answers      */
    signed char *sign;        /* of the x before                     */
    int32_t *status;          /* of the last round                   */
    float *residual;          /* what "auto" judges by               */
    rcond_state *states;
    rcond_part *parts; /* segment g of system k: [g * count + k] */
    int64_t segments;
} rcond_arrays;

/* The same plan for one right-hand side, which the rounds are run with. */
static inline shoal_tridiag rcond_plan(const shoal_tridiag *plan) {
    shoal_tridiag inner = *plan;
    inner.job.nrhs = 1;
    inner.waits = inner.replays = inner.is_told = inner.next_is_clear = 0; /* it has totals of its own */
    return inner;
}

/* Lays the arrays out from `memory` on, the method's `work` bytes first; returns what they take. */
static inline size_t rcond_lay_out(const tridiag_job *job, size_t work, char *memory,
                                   rcond_arrays *r) {
    const size_t rows = (size_t)job->total, systems = (size_t)job->count;
    r->segments = (job->n + RCOND_SEGMENT - 1) / RCOND_SEGMENT;
    const size_t sizes[] = { work,
                             rows * sizeof(real),
                             rows,
                             systems * sizeof(int32_t),
                             systems * sizeof(float),
                             systems * sizeof(rcond_state),
                             systems * (size_t)r->segments * sizeof(rcond_part) };
    size_t at[8] = { 0 };
    for (int i = 0; i < 7; i++) at[i + 1] = at[i] + tridiag_aligned(sizes[i]);
    if (!memory) return at[7];
    r->work = memory;
    r->x = (real *)(void *)(memory + at[1]);
    r->sign = (signed char *)(memory + at[2]);
    r->status = (int32_t *)(void *)(memory + at[3]);
    r->residual = (float *)(void *)(memory + at[4]);
    r->states = (rcond_state *)(void *)(memory + at[5]);
    r->parts = (rcond_part *)(void *)(memory + at[6]);
    return at[7];
}

/* The job of the rounds: one right-hand side, in r->x, and outcomes that are not the caller's. */
static inline tridiag_job rcond_job(const tridiag_job *given, const rcond_arrays *r) {
    tridiag_job job = *given;
    job.nrhs = 1;
    job.b = job.x = r->x;
    job.status = r->status;
    job.residual = NULL;
    job.method = NULL;
    job.work = r->work;
    return job;
}

/* Whether a round solves with A^T. */
SHOAL_HD static inline int rcond_transposed(int round) {
    return round % 2 == 1 && round < RCOND_LAST;
}

/* The sum of column i of system k. One that overflows counts as the largest number. */
SHOAL_HD static inline real rcond_column(const tridiag_job *job, int64_t k, int64_t i) {
    const int64_t row = job->row, at = tridiag_first_of(job, k) + i * row;
    const real *dl = (const real *)job->dl, *d = (const real *)job->d, *du = (const real *)job->du;
    const real above = i > 0 ? real_abs(du[at - row]) : 0;
    const real below = i + 1 < tridiag_rows_of(job, k) ? real_abs(dl[at + row]) : 0;
    return real_min(above + real_abs(d[at]) + below, 1 / REAL_MIN);
}

/* Notes |A| and chooses the scale: |A|, unless that is so large or small that right-hand sides would
 * leave the range. */
SHOAL_HD static inline void rcond_begin(const tridiag_job *job, const rcond_arrays *r, int64_t k) {
    const int64_t n = tridiag_rows_of(job, k);
    rcond_state s = { 0, 0, 0, 0, RCOND_OPEN };
    for (int64_t g = 0; g < r->segments; g++)
        s.norm = real_max(r->parts[g * job->count + k].most, s.norm);
    s.scale = real_max(s.norm, (real)n * (REAL_MIN / REAL_EPSILON));
    s.scale = real_min(s.scale, (real)0.25 / REAL_MIN);
    if (n == 0) {
        s.stage = RCOND_CLOSED;
        job->rcond[k] = 1; /* as LAPACK has it */
    }
    r->states[k] = s;
}

/* Row i of n of a right-hand side. */
SHOAL_HD static inline real rcond_rhs(const rcond_state *s, int round, int64_t n, int64_t i,
                                      signed char sign) {
    if (s->stage == RCOND_CLOSED || (s->stage == RCOND_SETTLED && round < RCOND_LAST)) return 0;
    if (round == 0) return s->scale / (real)n;
    if (round == RCOND_LAST) return (i % 2 ? -s->scale : s->scale) * (1 + (real)i / (real)(n - 1));
    if (rcond_transposed(round)) return s->scale * (real)sign;
    return i == s->at ? s->scale : 0;
}

/* A segment before its first row. */
SHOAL_HD static inline rcond_part rcond_empty(void) {
    const rcond_part p = { 0, -1, 0, 0 };
    return p;
}

/* Takes row i of an answer in; signs are compared and kept where they are of A^-1. */
SHOAL_HD static inline void rcond_take(rcond_part *p, int round, int64_t i, real v,
                                       signed char *sign) {
    const real size = real_abs(v);
    p->sum += size;
    if (size > p->most) p->most = size, p->at = i;
    if (rcond_transposed(round) || round == RCOND_LAST) return;
    const signed char now = v < 0 ? -1 : 1;
    p->changed |= round == 0 || now != *sign;
    *sign = now;
}

/* What a pass over the rows does: right-hand sides of a round, or sums of its answers, or, as
 * RCOND_BEGIN, column sums. */
typedef struct rcond_pass {
    int round, fill;
} rcond_pass;

/* Rows begin .. end-1 of system k in such a pass, or as many of them as it has; `p` collects a segment. */
SHOAL_HD static inline void rcond_rows(const tridiag_job *job, const rcond_arrays *r,
                                       rcond_pass pass, int64_t k, int64_t begin, int64_t end,
                                       rcond_part *p) {
    const int64_t n = tridiag_rows_of(job, k), at = tridiag_first_of(job, k), row = job->row;
    const int round = pass.round;
    real *x = r->x + at;
    signed char *sign = r->sign + at;
    if (end > n) end = n;
    if (round == RCOND_BEGIN) {
        for (int64_t i = begin; i < end; i++) p->most = real_max(rcond_column(job, k, i), p->most);
    } else if (pass.fill) {
        const rcond_state s = r->states[k];
        for (int64_t i = begin; i < end; i++)
            x[i * row] = rcond_rhs(&s, round, n, i, round == 0 ? 1 : sign[i * row]);
    } else {
        rcond_part all = *p;
        for (int64_t i = begin; i < end; i++)
            rcond_take(&all, round, i, x[i * row], &sign[i * row]);
        *p = all;
    }
}

SHOAL_HD static inline void rcond_close(const tridiag_job *job, rcond_state *s, int64_t k,
                                        float value) {
    s->stage = RCOND_CLOSED;
    job->rcond[k] = value;
}

/* 1 / (|A| |A^-1|) from the estimate. It is never above 1, but where |A| is beyond 1 / REAL_MIN, and counts
 * as that, the quotient is; NaN stays. */
SHOAL_HD static inline float rcond_quotient(const rcond_state *s) {
    const real quotient = s->scale / s->norm / s->estimate;
    return quotient > 1 ? 1 : (float)quotient;
}

/* What becomes of system k after a round. Returns its stage. */
SHOAL_HD static inline int rcond_step(const tridiag_job *job, const rcond_arrays *r, int round,
                                      int64_t k) {
    rcond_state *s = &r->states[k];
    if (s->stage == RCOND_CLOSED || (s->stage == RCOND_SETTLED && round < RCOND_LAST))
        return s->stage;
    const int64_t n = tridiag_rows_of(job, k);
    const int32_t status = r->status[k];
    if (status < 0) { /* the failure of a method without pivoting is no information about A */
        const int none = status == SHOAL_SYSTEM_SINGULAR || status == SHOAL_SYSTEM_OVERFLOW;
        rcond_close(job, s, k, none ? 0 : (float)NAN);
        return s->stage;
    }
    rcond_part all = rcond_empty();
    for (int64_t g = 0; g < r->segments; g++) {
        const rcond_part p = r->parts[g * job->count + k];
        all.sum += p.sum, all.changed |= p.changed;
        if (p.most > all.most) all.most = p.most, all.at = p.at;
    }
    if (round == 0) {
        s->estimate = all.sum;
    } else if (round == RCOND_LAST) {
        const real other = 2 * (all.sum / (3 * (real)n));
        s->estimate = real_max(other, s->estimate);
    } else if (rcond_transposed(round)) {
        if (round > 1 && real_abs(r->x[tridiag_first_of(job, k) + s->at * job->row]) == all.most)
            s->stage = RCOND_SETTLED;
        s->at = all.at;
    } else {
        if (!all.changed || !(all.sum > s->estimate)) s->stage = RCOND_SETTLED;
        s->estimate = real_max(all.sum, s->estimate);
    }
    if (round == RCOND_LAST || n == 1) rcond_close(job, s, k, rcond_quotient(s));
    return s->stage;
}

#endif
