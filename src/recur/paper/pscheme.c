/* SPDX-License-Identifier: Apache-2.0
 *
 * pscheme.c - the P-scheme (Wakatani, section II.B) on the CPU.
 *
 * A segment is cut into P parts of M = ceil(n / P) rows. Pre-computation: the map of every part
 * (map.h), in parallel. Propagation: the state before each part from the state before the last, one
 * after the other. Determination: the rows of every part by substitution from the state before it,
 * in parallel. Time alpha N/P + beta P + gamma N/P, equations (14) to (16), with 2 (order 1) to 20
 * numbers per part kept; s and t are read twice, w is written once. One part per task:
 * OpenMP threads over parts. A part whose map does not do (map_carry) is walked in the propagation.
 *
 * Variant "rearranged" copies s and t so that the M rows of one part lie P apart, w'_{iP+j} =
 * w_{jM+i} (section IV), works there, and copies w back: what coalesces on a GPU takes a new line
 * of cache for each row here. It is there to be compared with.
 *
 * Variant "stored" keeps the map of every row, as the paper's pre-computation keeps beta, gamma and delta: the
 * determination is then equation (13), one map per row applied to the state before the part, and no row waits for
 * another. 2 (order 1, Moebius 4) to 20 auxiliary numbers per row are written once and read once. A row whose map does
 * not do is found by substitution, with the rest of its part. "stored-rearranged": both.
 */
#include "recur/walk.h"

typedef struct parts { /* the workspace of one segment */
    real *maps;        /* MAP_MAX numbers per part        */
    real *states;      /* the state before each part     */
    real *s, *t, *w;   /* rearranged copies              */
    real *rows;        /* stored: number e of the map of row i of part j, where w has that row */
} parts;

static int64_t rows_of(const recur_job *job) { return (job->n + job->parts - 1) / job->parts; }

static int rearranged(const shoal_recur *plan) {
    return plan->chosen.variant == PSCHEME_REARRANGED ||
           plan->chosen.variant == PSCHEME_STORED_REARRANGED;
}

static int stored(const shoal_recur *plan) { return plan->chosen.variant >= PSCHEME_STORED; }

static size_t numbers_of(const shoal_recur *plan) {
    const recur_job *job = &plan->job;
    size_t kept = (size_t)job->parts * (MAP_MAX + SHOAL_RECUR_ORDERS);
    size_t all = (size_t)(rows_of(job) * job->parts);
    if (stored(plan)) kept += all * (size_t)map_size(job->shape);
    return kept + (rearranged(plan) ? all * (size_t)(job->width + 2) : 0);
}

static size_t pscheme_bytes(const shoal_recur *plan) { return numbers_of(plan) * sizeof(real); }

static parts parts_of(const shoal_recur *plan, const recur_job *job) {
    const int64_t all = rows_of(job) * job->parts;
    parts p = { .maps = job->work };
    p.states = p.maps + job->parts * MAP_MAX;
    real *next = p.states + job->parts * SHOAL_RECUR_ORDERS;
    if (stored(plan)) p.rows = next, next += all * map_size(job->shape);
    if (!rearranged(plan)) return p;
    p.s = next;
    p.t = p.s + all * job->width;
    p.w = p.t + all;
    return p;
}

/* w'_{iP+j} = w_{jM+i}: the view of part j, rows P apart. */
static recur_view view_of_part(const recur_job *job, const recur_view *v, const parts *p,
                               int64_t j) {
    if (!p->s)
        return (recur_view){ .s = v->s + j * rows_of(job) * v->s_row,
                             .t = v->t + j * rows_of(job) * v->t_row,
                             .w = v->w + j * rows_of(job) * v->w_row,
                             .s_row = v->s_row,
                             .t_row = v->t_row,
                             .w_row = v->w_row };
    return (recur_view){ .s = p->s + j * job->width,
                         .t = p->t + j,
                         .w = p->w + j,
                         .s_row = job->parts * job->width,
                         .t_row = job->parts,
                         .w_row = job->parts };
}

static int64_t length_of_part(const recur_job *job, int64_t j) {
    const int64_t m = rows_of(job), left = job->n - j * m;
    return left > m ? m : left > 0 ? left : 0;
}

static void rearrange(const recur_job *job, const recur_view *v, const parts *p, int threads) {
    const int64_t m = rows_of(job);
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < job->parts; j++) {
        for (int64_t i = 0; i < length_of_part(job, j); i++) {
            const int64_t from = j * m + i, to = i * job->parts + j;
            for (int e = 0; e < job->width; e++)
                p->s[to * job->width + e] = v->s[from * v->s_row + e];
            p->t[to] = v->t[from * v->t_row];
        }
    }
}

static void restore(const recur_job *job, const recur_view *v, const parts *p, int threads) {
    const int64_t m = rows_of(job);
    (void)threads; /* without OpenMP */
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < job->parts; j++)
        for (int64_t i = 0; i < length_of_part(job, j); i++)
            v->w[(j * m + i) * v->w_row] = p->w[i * job->parts + j];
}

typedef struct phase { /* of one segment */
    const recur_job *job;
    int64_t k;
    const parts *p;
    recur_view v;
} phase;

/* The numbers of the map of row i of part j: parts one after another, or rearranged as w is. */
static real *map_of_row(const phase *f, int64_t j, int64_t i, int size) {
    const int64_t row = f->p->s ? i * f->job->parts + j : j * rows_of(f->job) + i;
    return f->p->rows + row * size;
}

WALK_INLINE void precompute_shape(const phase *f, int64_t j, const int shape) {
    const recur_view part = view_of_part(f->job, &f->v, f->p, j);
    const int64_t length = length_of_part(f->job, j);
    recur_map map = map_begin(shape);
    if (!f->p->rows) map_append_rows(&map, &part, 0, length, shape);
    for (int64_t i = 0; f->p->rows && i < length; i++) {
        real *to = map_of_row(f, j, i, map_size(shape));
        map_append(&map, part.s + i * part.s_row, part.t[i * part.t_row], shape);
        for (int e = 0; e < map_size(shape); e++) to[e] = map.m[e];
    }
    for (int e = 0; e < map_size(shape); e++) f->p->maps[j * MAP_MAX + e] = map.m[e];
}

/* From the state before part j, which stays in the workspace, to that before part j + 1. */
WALK_INLINE void propagate_shape(const phase *f, int64_t j, const int shape) {
    const real *from = f->p->states + j * SHOAL_RECUR_ORDERS;
    const recur_view part = view_of_part(f->job, &f->v, f->p, j);
    recur_map map = { { 0 } };
    recur_state x = { { 0 } };
    for (int e = 0; e < map_size(shape); e++) map.m[e] = f->p->maps[j * MAP_MAX + e];
    for (int e = 0; e < state_size(shape); e++) x.x[e] = from[e];
    carry_or_skip(&map, &x, &part, length_of_part(f->job, j), shape);
    for (int e = 0; e < state_size(shape); e++)
        f->p->states[(j + 1) * SHOAL_RECUR_ORDERS + e] = x.x[e];
}

/* Equation (13): every row by its own map, from the state before the part. Returns the state before the first row whose
 * map does not do; *done is that row. */
WALK_INLINE recur_state determine_stored(const phase *f, const recur_view *part, int64_t j,
                                         int64_t length, recur_state before, int *bad,
                                         int64_t *done, const int shape) {
    real input = 0;
    recur_state last = before;
    for (*done = 0; *done < length; ++*done) {
        const real *from = map_of_row(f, j, *done, map_size(shape));
        recur_map map = { { 0 } };
        recur_state x = before;
        for (int e = 0; e < map_size(shape); e++) map.m[e] = from[e];
        if (map_carry(&map, &x, shape) != 0) break;
        input += row_poison(part->s + *done * part->s_row, part->t[*done * part->t_row], shape);
        part->w[*done * part->w_row] = x.x[0];
        last = x;
    }
    *bad = input != 0 ? WALK_INPUT : 0;
    return last;
}

WALK_INLINE void determine_shape(const phase *f, int64_t j, const int shape) {
    const recur_view part = view_of_part(f->job, &f->v, f->p, j);
    recur_state x = { { 0 } };
    for (int e = 0; e < state_size(shape); e++) x.x[e] = f->p->states[j * SHOAL_RECUR_ORDERS + e];
    if (f->p->rows) {
        const int64_t length = length_of_part(f->job, j);
        int64_t done;
        int bad;
        x = determine_stored(f, &part, j, length, x, &bad, &done, shape);
        walk_note(f->job, f->k, bad | walk_rows(&part, done, length, &x, shape));
        return;
    }
    walk_note(f->job, f->k, walk_rows(&part, 0, length_of_part(f->job, j), &x, shape));
}

enum { PRECOMPUTE, PROPAGATE, DETERMINE };

WALK_INLINE void part_of_shape(const phase *f, int64_t j, const int step, const int shape) {
    if (step == PRECOMPUTE)
        precompute_shape(f, j, shape);
    else if (step == PROPAGATE)
        propagate_shape(f, j, shape);
    else
        determine_shape(f, j, shape);
}

static void one_part(const phase *f, int64_t j, int step) {
    CALL_BY_SHAPE(f->job->shape, part_of_shape, f, j, step)
}

static void one_segment(const recur_job *job, int64_t k, const parts *p, int threads) {
    const phase f = { job, k, p, view_of(job, k) };
    real poison = 0;
    for (int e = 0; e < job->order; e++) {
        p->states[e] = job->w0 ? ((const real *)job->w0)[k * job->order + e] : 0;
        poison = poisoned(poison, p->states[e]);
    }
    if (poison != 0) walk_note(job, k, WALK_INPUT);
    if (p->s) rearrange(job, &f.v, p, threads);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < job->parts; j++) one_part(&f, j, PRECOMPUTE);
    if (job->last_phase == SHOAL_RECUR_PRECOMPUTATION) return;
    for (int64_t j = 0; j + 1 < job->parts; j++) one_part(&f, j, PROPAGATE);
    if (job->last_phase == SHOAL_RECUR_PROPAGATION) return;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t j = 0; j < job->parts; j++) one_part(&f, j, DETERMINE);
    if (p->s && !job->last_phase) restore(job, &f.v, p, threads);
}

static shoal_status pscheme_run(shoal_recur *plan, const recur_job *job) {
    const parts p = parts_of(plan, job);
    for (int64_t k = 0; k < job->count; k++) one_segment(job, k, &p, plan->head.ctx->threads);
    return SHOAL_OK;
}

const recur_method R(recur_pscheme) = { .bytes = pscheme_bytes, .run = pscheme_run };
