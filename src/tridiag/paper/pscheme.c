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
 * dl, d, du; dl, d, du, b and p; dl, d, b, p and q; p, q and x. About 16 numbers moved and 40 operations
 * per row, two divisions. A part whose map is not finite is walked in the propagation: no answer is lost
 * that plain elimination would give.
 *
 * Variants. "blocked": the rows where they lie. "rearranged": rows of one part P apart, w'_{iP+j} =
 * w_{jM+i} (section IV), copied there first; the same bits. "printed": p by equations (9) to (13);
 * parts with a row where dl and du differ, or where gamma vanishes, are walked. "lookback": parts of
 * TILE rows, taken in order by the next free thread, which waits for the value before its part when it
 * has the map: one pass forward for p and q, one back for x, 9 numbers moved. P, and so the bits, do
 * not depend on the number of threads.
 */
#include "tridiag/paper/pscheme.h"
#include <sched.h>
#include <string.h>
#include "tridiag/whole.h"

enum { TILE = 1024, PATIENCE = 2000, MIN_SHARED = 4096, MAP = 4 };

/* One right-hand side of one system. */
typedef struct whole {
    int64_t n, parts, m;
    int variant, threads;
    part given;                       /* the caller's rows                                  */
    part rows;                        /* those that are worked on: the same, or rearranged  */
    int64_t step, rhs_step, own_step; /* from part to part in its arrays                    */
    real *maps;                       /* MAP numbers per part */
    real *states[RECURRENCES]; /* the value before part j: [j]; of x, which runs upwards: [j + 1] */
    int32_t *ready[RECURRENCES]; /* of lookback: whether it is there */
} whole;

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
    const size_t numbers =
        all * (rearranged(plan) ? 6 : 2) + parts * MAP + RECURRENCES * (parts + 1);
    return numbers * sizeof(real) + RECURRENCES * (parts + 1) * sizeof(int32_t);
}

static whole whole_of(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j) {
    const int64_t at = k * job->system, rhs = at * job->nrhs + j;
    const int64_t parts = parts_of(plan), m = rows_of(plan), all = m * parts;
    whole w = { .n = job->n,
                .parts = parts,
                .m = m,
                .variant = plan->first.variant,
                .threads = job->n < MIN_SHARED ? 1 : plan->head.ctx->threads,
                .given = { .dl = (const real *)job->dl + at,
                           .d = (const real *)job->d + at,
                           .du = (const real *)job->du + at,
                           .b = (const real *)job->b + rhs,
                           .p = job->work,
                           .row = job->row,
                           .rhs_row = job->row * job->nrhs,
                           .own_row = 1,
                           .n = job->n } };
    w.given.q = w.given.p + all;
    w.maps = w.given.q + all;
    for (int s = 0; s < RECURRENCES; s++)
        w.states[s] = s ? w.states[s - 1] + parts + 1 : w.maps + MAP * parts;
    real *rest = w.states[RECURRENCES - 1] + parts + 1;
    w.rows = w.given;
    w.step = m * w.given.row, w.rhs_step = m * w.given.rhs_row, w.own_step = m;
    if (rearranged(plan)) {
        w.rows.dl = rest, w.rows.d = rest + all;
        w.rows.du = rest + 2 * all, w.rows.b = rest + 3 * all;
        w.rows.row = w.rows.rhs_row = w.rows.own_row = parts;
        w.step = w.rhs_step = w.own_step = 1;
        rest += 4 * all;
    }
    for (int s = 0; s < RECURRENCES; s++)
        w.ready[s] = s ? w.ready[s - 1] + parts + 1 : (int32_t *)(void *)rest;
    return w;
}

/* ---- the rows of a part ------------------------------------------------------------------------ */

static part part_of(const whole *w, int64_t j) {
    part s = w->rows;
    s.begin = j * w->m;
    const int64_t left = w->n - s.begin;
    s.rows = left > w->m ? w->m : left > 0 ? left : 0;
    s.dl += j * w->step, s.d += j * w->step, s.du += j * w->step, s.b += j * w->rhs_step;
    s.p += j * w->own_step, s.q += j * w->own_step;
    return s;
}

static void rearrange(const whole *w, int64_t j) {
    const part s = part_of(w, j), *from = &w->given;
    real *const to[] = { (real *)s.dl, (real *)s.d, (real *)s.du, (real *)s.b };
    for (int64_t i = 0; i < s.rows; i++) {
        to[0][i * s.row] = from->dl[(s.begin + i) * from->row];
        to[1][i * s.row] = from->d[(s.begin + i) * from->row];
        to[2][i * s.row] = from->du[(s.begin + i) * from->row];
        to[3][i * s.row] = from->b[(s.begin + i) * from->rhs_row];
    }
}

/* ---- phases ------------------------------------------------------------------------------------ */

static void keep_map(const whole *w, int64_t j, const recur_map *m) {
    memcpy(w->maps + j * MAP, m->m, MAP * sizeof(real));
}

static void precompute(const whole *w, int64_t j) {
    const part s = part_of(w, j);
    const recur_map m = w->variant == SCHEME_PRINTED ? printed_map_of_p(&s) : map_of_p(&s);
    keep_map(w, j, &m);
}

/* From the value before part j, of x the value after it, to the next. */
static void propagate(const whole *w, int64_t j, int recurrence) {
    const part s = part_of(w, j);
    const int up = recurrence == OF_X;
    const real p = w->states[OF_P][j], v = w->states[recurrence][j + up];
    recur_map m = { { 0 } };
    memcpy(m.m, w->maps + j * MAP, MAP * sizeof(real));
    w->states[recurrence][j + !up] = recurrence == OF_P   ? propagate_part(&s, &m, OF_P, p, v)
                                     : recurrence == OF_Q ? propagate_part(&s, &m, OF_Q, p, v)
                                                          : propagate_part(&s, &m, OF_X, p, v);
}

/* Returns 0, or NaN where the input, of x the answer, is not finite. */
static real determine(const whole *w, int64_t j, int recurrence) {
    const part s = part_of(w, j);
    real poison = 0;
    recur_map m;
    if (recurrence == OF_X) return determine_x(&s, w->states[OF_X][j + 1]);
    if (recurrence == OF_P)
        m = determine_p(&s, w->states[OF_P][j], &poison);
    else
        m = determine_q(&s, w->states[OF_P][j], w->states[OF_Q][j]);
    keep_map(w, j, &m);
    return poison;
}

/* ---- lookback ---------------------------------------------------------------------------------- */

static void publish(int32_t *ready) { __atomic_store_n(ready, 1, __ATOMIC_RELEASE); }

static void wait_for(const int32_t *ready) {
    for (int64_t looks = 1; !__atomic_load_n(ready, __ATOMIC_ACQUIRE); looks++)
        if (looks > PATIENCE) sched_yield(); /* the thread waited for may need this core */
}

/* Propagation and determination of part j, whose map is there, as soon as it can be. */
static real after_waiting(const whole *w, int64_t j, int recurrence) {
    const int up = recurrence == OF_X;
    wait_for(&w->ready[recurrence][j + up]);
    propagate(w, j, recurrence);
    publish(&w->ready[recurrence][j + !up]);
    return determine(w, j, recurrence);
}

static real forward(const whole *w, int64_t j) {
    precompute(w, j);
    const real poison = after_waiting(w, j, OF_P);
    (void)after_waiting(w, j, OF_Q);
    return poison;
}

/* Parts in order, whoever comes: one that is waited for is always in somebody's hands. */
static real look_back(const whole *w, int upwards) {
    int64_t taken = 0;
    real poison = 0;
#pragma omp parallel num_threads(w->threads) reduction(+ : poison)
    for (;;) {
        const int64_t task = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        if (task >= w->parts) break;
        poison += upwards ? after_waiting(w, w->parts - 1 - task, OF_X) : forward(w, task);
    }
    return poison;
}

/* ---- a solve ----------------------------------------------------------------------------------- */

static void precompute_all(const whole *w) {
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t j = 0; j < w->parts; j++) {
        if (w->variant == SCHEME_REARRANGED) rearrange(w, j);
        precompute(w, j);
    }
}

/* Propagation and determination of one recurrence. */
static real determine_all(const whole *w, int recurrence) {
    real poison = 0;
    for (int64_t i = 0; i + 1 < w->parts; i++)
        propagate(w, recurrence == OF_X ? w->parts - 1 - i : i, recurrence);
#pragma omp parallel for num_threads(w->threads) schedule(static) reduction(+ : poison)
    for (int64_t j = 0; j < w->parts; j++) poison += determine(w, j, recurrence);
    return poison;
}

/* x of all rows in the place of q. The poisons are NaN where the input, or x, is not finite. */
static void eliminate(const whole *w, real *input, real *answer) {
    const int64_t parts = w->parts;
    w->states[OF_P][0] = w->states[OF_Q][0] = w->states[OF_X][parts] = 0;
    if (w->variant == SCHEME_LOOKBACK) {
        memset(w->ready[0], 0, (size_t)(RECURRENCES * (parts + 1)) * sizeof(int32_t));
        w->ready[OF_P][0] = w->ready[OF_Q][0] = w->ready[OF_X][parts] = 1;
        *input = look_back(w, 0);
        *answer = look_back(w, 1);
        return;
    }
    precompute_all(w);
    *input = determine_all(w, OF_P);
    (void)determine_all(w, OF_Q);
    *answer = determine_all(w, OF_X);
}

/* Rearranged rows back in order, in the place of p; returns x, row after row. */
static const real *in_order(const whole *w) {
    if (w->variant != SCHEME_REARRANGED) return w->rows.q;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int64_t j = 0; j < w->parts; j++) {
        const part s = part_of(w, j);
        for (int64_t i = 0; i < s.rows; i++) w->rows.p[s.begin + i] = s.q[i * s.own_row];
    }
    return w->rows.p;
}

/* Right-hand side j of system k: its status, and its residual where there is one to compute. */
static int32_t pscheme_whole(const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                             int64_t j, float *residual) {
    const whole w = whole_of(plan, job, k, j);
    real input, answer;
    *residual = (float)NAN;
    eliminate(&w, &input, &answer);
    if (input != 0) return SHOAL_SYSTEM_NONFINITE;
    if (answer != 0) return SHOAL_SYSTEM_PIVOT;
    return whole_finish(job, k, j, in_order(&w), SHOAL_SYSTEM_OK, w.threads, residual);
}

const tridiag_cpu_method R(tridiag_pscheme) = { .bytes = pscheme_bytes, .whole = pscheme_whole };
