/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.c - the P-scheme for tridiagonal systems (Wakatani, section II.B) on the CPU: one system by
 * all threads, elimination without pivoting.
 *
 * The three recurrences of pscheme.h, one after the other, on P parts of M = ceil(n / P) rows. Each
 * has three phases: pre-computation, the map of every part, in parallel; propagation, the value
 * before each part from that before the last, one after the other; determination, the rows of every
 * part by substitution from the value before it, in parallel. The determination of p is also the
 * pre-computation of q, and that of q the one of x, so that a system is passed over four times:
 * a, b, c; a, b, c, d and p; a, b, d, p and q; p, q and x. About 16 numbers moved and 40 operations
 * a row, two divisions. A part whose map is not finite is walked in the propagation: no answer is lost
 * that plain elimination would give.
 *
 * Variants. "blocked": the rows where they lie. "rearranged": rows of one part P apart, w'_{iP+j} =
 * w_{jM+i} (section IV), copied there first; the same bits. "printed": p by equations (9) to (13);
 * parts with a row where a and c differ, or where gamma vanishes, are walked. "lookback": parts of
 * TILE rows, taken in order by the next free thread, which waits for the value before its part when it
 * has the map: one pass forward for p and q, one back for x, 9 numbers moved. P, and so the bits, do
 * not depend on the number of threads.
 */
#include "tridiag/pscheme.h"
#include <sched.h>
#include <string.h>
#include "tridiag/plan.h"
#include "tridiag/residual.h"

enum { TILE = 1024, PATIENCE = 2000, LEAST_SHARED = 4096 };

enum { STATES = 3 }; /* values before a part: p, q, and x after it */
enum { OF_P, OF_Q, OF_X };

/* One right-hand side of one system. */
typedef struct whole {
    int64_t n, parts, m;
    int variant, threads;
    int64_t row, rhs_row; /* strides */
    const real *a, *b, *c, *d;
    real *x;
    real *p, *q;            /* of all rows; x takes the place of q */
    real *maps;             /* MAP numbers a part */
    real *states[STATES];   /* before part j: [j]; of x: before part j - 1, as x runs upwards */
    int32_t *ready[STATES]; /* of lookback: whether it is there */
    real *turned;           /* a, b, c, d rearranged; or NULL */
} whole;

typedef struct part {
    const real *a, *b, *c, *d;
    real *p, *q;
    int64_t row, rhs_row, own_row; /* strides of a, b, c; of d; of p and q */
    int64_t begin, rows;
} part;

enum { MAP = 4 };

static int64_t parts_of(const shoal_tridiag *plan) {
    const tridiag_job *job = &plan->job;
    return plan->first.variant == SCHEME_LOOKBACK ? (job->n + TILE - 1) / TILE : job->parts;
}

static int64_t rows_of(const shoal_tridiag *plan) {
    const int64_t parts = parts_of(plan);
    if (plan->first.variant == SCHEME_LOOKBACK) return TILE;
    return parts > 0 ? (plan->job.n + parts - 1) / parts : 0;
}

static int rearranged(const shoal_tridiag *plan) {
    return plan->first.variant == SCHEME_REARRANGED;
}

static size_t pscheme_bytes(const shoal_tridiag *plan) {
    const size_t parts = (size_t)parts_of(plan), all = parts * (size_t)rows_of(plan);
    const size_t numbers = all * (rearranged(plan) ? 6 : 2) + parts * MAP + STATES * (parts + 1);
    return numbers * sizeof(real) + STATES * (parts + 1) * sizeof(int32_t);
}

static whole whole_of(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j) {
    const int64_t at = k * job->system, rhs = at * job->nrhs + j;
    const int64_t parts = parts_of(plan), m = rows_of(plan), all = m * parts;
    whole w = { .n = job->n,
                .parts = parts,
                .m = m,
                .variant = plan->first.variant,
                .threads = job->n < LEAST_SHARED ? 1 : plan->ctx->threads,
                .row = job->row,
                .rhs_row = job->row * job->nrhs,
                .a = (const real *)job->a + at,
                .b = (const real *)job->b + at,
                .c = (const real *)job->c + at,
                .d = (const real *)job->d + rhs,
                .x = (real *)job->x + rhs,
                .p = job->work };
    w.q = w.p + all;
    w.maps = w.q + all;
    for (int s = 0; s < STATES; s++)
        w.states[s] = s ? w.states[s - 1] + parts + 1 : w.maps + MAP * parts;
    real *rest = w.states[STATES - 1] + parts + 1;
    if (rearranged(plan)) w.turned = rest, rest += 4 * all;
    for (int s = 0; s < STATES; s++)
        w.ready[s] = s ? w.ready[s - 1] + parts + 1 : (int32_t *)(void *)rest;
    return w;
}

/* ---- the rows of a part ------------------------------------------------------------------------ */

static part part_of(const whole *w, int64_t j) {
    const int64_t begin = j * w->m, left = w->n - begin, all = w->m * w->parts;
    const int64_t rows = left > w->m ? w->m : left > 0 ? left : 0;
    if (w->turned)
        return (part){ .a = w->turned + j,
                       .b = w->turned + all + j,
                       .c = w->turned + 2 * all + j,
                       .d = w->turned + 3 * all + j,
                       .p = w->p + j,
                       .q = w->q + j,
                       .row = w->parts,
                       .rhs_row = w->parts,
                       .own_row = w->parts,
                       .begin = begin,
                       .rows = rows };
    return (part){ .a = w->a + begin * w->row,
                   .b = w->b + begin * w->row,
                   .c = w->c + begin * w->row,
                   .d = w->d + begin * w->rhs_row,
                   .p = w->p + begin,
                   .q = w->q + begin,
                   .row = w->row,
                   .rhs_row = w->rhs_row,
                   .own_row = 1,
                   .begin = begin,
                   .rows = rows };
}

/* a[0] and c[n-1] do not exist. */
static inline tri_row row_at(const whole *w, const part *s, int64_t i) {
    return (tri_row){ s->begin + i > 0 ? s->a[i * s->row] : 0, s->b[i * s->row],
                      s->begin + i + 1 < w->n ? s->c[i * s->row] : 0, s->d[i * s->rhs_row] };
}

static void rearrange(const whole *w, int64_t j) {
    const int64_t begin = j * w->m, all = w->m * w->parts;
    const part s = part_of(w, j);
    for (int64_t i = 0; i < s.rows; i++) {
        real *to = w->turned + i * w->parts + j;
        to[0] = w->a[(begin + i) * w->row];
        to[all] = w->b[(begin + i) * w->row];
        to[2 * all] = w->c[(begin + i) * w->row];
        to[3 * all] = w->d[(begin + i) * w->rhs_row];
    }
}

/* The answer to row i, wherever it lies. */
static inline real answer_at(const whole *w, int64_t i) {
    return w->q[w->turned ? i % w->m * w->parts + i / w->m : i];
}

/* ---- phases ------------------------------------------------------------------------------------ */

/* Equations (9) to (12), from the last row of the part to its first. Row 0 may have any a. */
static recur_map printed_part(const whole *w, const part *s) {
    printed v = { 0, 0, 0, 0 };
    if (s->rows == 0) return map_identity(SHAPE_MOEBIUS);
    for (int64_t i = s->rows - 1; i >= 0; i--) {
        tri_row r = row_at(w, s, i);
        if (s->begin + i == 0) r.a = r.c;
        if (i == s->rows - 1)
            v = printed_first(r);
        else
            printed_append(&v, r);
    }
    return printed_map(&v);
}

static void precompute_p(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    recur_map m = map_identity(SHAPE_MOEBIUS);
    if (w->variant == SCHEME_PRINTED)
        m = printed_part(w, &s);
    else
        for (int64_t i = 0; i < s.rows; i++) append_p(&m, row_at(w, &s, i));
    memcpy(w->maps + j * MAP, m.m, MAP * sizeof(real));
}

/* What the map of a part makes of v; the part is walked where that is not finite. */
static real pass(const whole *w, int64_t j, int what, real v) {
    const int shape = what == OF_P ? SHAPE_MOEBIUS : 1;
    recur_map m;
    memcpy(m.m, w->maps + j * MAP, MAP * sizeof(real));
    const recur_state before = { { v } };
    const recur_state after =
        what == OF_P ? map_apply(&m, &before, SHAPE_MOEBIUS) : map_apply(&m, &before, 1);
    if (map_poison(&m, shape) == 0 && poisoned(0, after.x[0]) == 0) return after.x[0];
    const part s = part_of(w, j);
    real p = w->states[OF_P][j];
    for (int64_t i = 0; i < s.rows && what != OF_X; i++) {
        const tri_row r = row_at(w, &s, i);
        const real inverse = inverse_pivot(r, p);
        p = next_p(r, inverse);
        v = what == OF_P ? p : next_q(r, inverse, v);
    }
    for (int64_t i = s.rows - 1; i >= 0 && what == OF_X; i--)
        v = real_mad(s.p[i * s.own_row], v, s.q[i * s.own_row]);
    return v;
}

static void pass_down(const whole *w, int64_t j, int what) {
    w->states[what][j + 1] = pass(w, j, what, w->states[what][j]);
}

static void pass_up(const whole *w, int64_t j) {
    w->states[OF_X][j] = pass(w, j, OF_X, w->states[OF_X][j + 1]);
}

/* Determination of p and pre-computation of q. Returns 0, or NaN where the input is not finite. */
static real determine_p(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    recur_map m = map_identity(1);
    real p = w->states[OF_P][j], poison = 0;
    for (int64_t i = 0; i < s.rows; i++) {
        const tri_row r = row_at(w, &s, i);
        const real inverse = inverse_pivot(r, p);
        s.p[i * s.own_row] = p = next_p(r, inverse);
        append_q(&m, r, inverse);
        poison += tri_poison(r);
    }
    memcpy(w->maps + j * MAP, m.m, MAP * sizeof(real));
    return poison;
}

/* Determination of q and pre-computation of x. */
static void determine_q(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    recur_map m = map_identity(1);
    real p = w->states[OF_P][j], q = w->states[OF_Q][j];
    for (int64_t i = 0; i < s.rows; i++) {
        const tri_row r = row_at(w, &s, i);
        s.q[i * s.own_row] = q = next_q(r, inverse_pivot(r, p), q);
        p = s.p[i * s.own_row];
        append_x(&m, p, q);
    }
    memcpy(w->maps + j * MAP, m.m, MAP * sizeof(real));
}

/* Determination of x. Returns 0, or NaN where it is not finite. */
static real determine_x(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    real x = w->states[OF_X][j + 1], poison = 0;
    for (int64_t i = s.rows - 1; i >= 0; i--) {
        s.q[i * s.own_row] = x = real_mad(s.p[i * s.own_row], x, s.q[i * s.own_row]); /* x_i */
        poison = poisoned(poison, x);
    }
    return poison;
}

/* ---- lookback ---------------------------------------------------------------------------------- */

static void publish(int32_t *ready) { __atomic_store_n(ready, 1, __ATOMIC_RELEASE); }

static void wait_for(const int32_t *ready) {
    for (int64_t looks = 1; !__atomic_load_n(ready, __ATOMIC_ACQUIRE); looks++)
        if (looks > PATIENCE) sched_yield(); /* the thread waited for may want this core */
}

static real forward(const whole *w, int64_t j) {
    precompute_p(w, j);
    wait_for(&w->ready[OF_P][j]);
    pass_down(w, j, OF_P);
    publish(&w->ready[OF_P][j + 1]);
    const real poison = determine_p(w, j);
    wait_for(&w->ready[OF_Q][j]);
    pass_down(w, j, OF_Q);
    publish(&w->ready[OF_Q][j + 1]);
    determine_q(w, j);
    return poison;
}

static real backward(const whole *w, int64_t j) {
    wait_for(&w->ready[OF_X][j + 1]);
    pass_up(w, j);
    publish(&w->ready[OF_X][j]);
    return determine_x(w, j);
}

/* Parts in order, whoever comes: one that is waited for is always in somebody's hands. */
static real look_back(const whole *w, int upwards) {
    const int threads = w->threads;
    int64_t taken = 0;
    real poison = 0;
    (void)threads; /* without OpenMP */
#pragma omp parallel num_threads(threads) reduction(+ : poison)
    for (;;) {
        const int64_t task = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        if (task >= w->parts) break;
        poison += upwards ? backward(w, w->parts - 1 - task) : forward(w, task);
    }
    return poison;
}

/* ---- a solve ----------------------------------------------------------------------------------- */

/* x of all rows in the place of q. The poisons are NaN where the input, or x, is not finite. */
static void eliminate(const whole *w, real *input, real *answer) {
    const int64_t parts = w->parts;
    const int threads = w->threads;
    real bad_input = 0, bad_answer = 0;
    (void)threads; /* without OpenMP */
    w->states[OF_P][0] = w->states[OF_Q][0] = w->states[OF_X][parts] = 0;
    if (w->variant == SCHEME_LOOKBACK) {
        memset(w->ready[0], 0, (size_t)(STATES * (parts + 1)) * sizeof(int32_t));
        w->ready[OF_P][0] = w->ready[OF_Q][0] = w->ready[OF_X][parts] = 1;
        *input = look_back(w, 0);
        *answer = look_back(w, 1);
        return;
    }
#pragma omp parallel num_threads(threads) reduction(+ : bad_input, bad_answer)
    {
        if (w->turned) {
#pragma omp for schedule(static)
            for (int64_t j = 0; j < parts; j++) rearrange(w, j);
        }
#pragma omp for schedule(static)
        for (int64_t j = 0; j < parts; j++) precompute_p(w, j);
#pragma omp single
        for (int64_t j = 0; j + 1 < parts; j++) pass_down(w, j, OF_P);
#pragma omp for schedule(static)
        for (int64_t j = 0; j < parts; j++) bad_input += determine_p(w, j);
#pragma omp single
        for (int64_t j = 0; j + 1 < parts; j++) pass_down(w, j, OF_Q);
#pragma omp for schedule(static)
        for (int64_t j = 0; j < parts; j++) determine_q(w, j);
#pragma omp single
        for (int64_t j = parts - 1; j > 0; j--) pass_up(w, j);
#pragma omp for schedule(static)
        for (int64_t j = 0; j < parts; j++) bad_answer += determine_x(w, j);
    }
    *input = bad_input;
    *answer = bad_answer;
}

static norms judge_part(const whole *w, int64_t j, real tol) {
    const part s = part_of(w, j);
    norms m = { 0 };
    for (int64_t i = 0; i < s.rows; i++) {
        const int64_t at = s.begin + i;
        const tri_row r = row_at(w, &s, i);
        norms_row(&m, tol, r.a, r.b, r.c, r.d, at > 0 ? answer_at(w, at - 1) : 0, answer_at(w, at),
                  at + 1 < w->n ? answer_at(w, at + 1) : 0);
    }
    return m;
}

static float judge(const whole *w, real tol) {
    const int threads = w->threads;
    real r = 0, a = 0, x = 0, d = 0, poison = 0;
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : r, a, x, d)         \
    reduction(+ : poison)
    for (int64_t j = 0; j < w->parts; j++) {
        const norms m = judge_part(w, j, tol);
        r = real_max(m.r, r), a = real_max(m.a, a), x = real_max(m.x, x), d = real_max(m.d, d);
        poison += m.poison;
    }
    const norms all = { r, a, x, d, 0, poison };
    return norms_residual(&all);
}

static void store_part(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    for (int64_t i = 0; i < s.rows; i++) w->x[(s.begin + i) * w->rhs_row] = s.q[i * s.own_row];
}

/* Right-hand side j of system k: its status, and its residual where there is one to compute. */
static int32_t pscheme_whole(const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                             int64_t j, float *residual) {
    const whole w = whole_of(plan, job, k, j);
    const int threads = w.threads;
    real input, answer;
    (void)threads; /* without OpenMP */
    *residual = (float)NAN;
    eliminate(&w, &input, &answer);
    if (input != 0) return SHOAL_SYSTEM_NONFINITE;
    if (answer != 0) return SHOAL_SYSTEM_PIVOT;
    if (job->residual) *residual = judge(&w, (real)job->tol);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < w.parts; i++) store_part(&w, i);
    return job->residual && !(*residual <= job->tol) ? SHOAL_SYSTEM_ILL : SHOAL_SYSTEM_OK;
}

const tridiag_cpu_method R(tridiag_pscheme) = { .bytes = pscheme_bytes, .whole = pscheme_whole };
