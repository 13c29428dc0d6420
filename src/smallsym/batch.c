/* SPDX-License-Identifier: Apache-2.0
 *
 * batch.c - what every CPU method has in common: packs are filled from any storage, scaled, solved,
 * refined, judged and written back, one pack per task, OpenMP threads over packs.
 *
 * Bytes moved: one triangle of A, b and x from and to memory; the pack itself, n (n + 1) LANES
 * numbers and more, stays in cache (2 x 130 kB at n = 64).
 */
#include "smallsym/accuracy.h"
#include "smallsym/scale.h"
#include "smallsym/worker.h"

/* ---- in -------------------------------------------------------------------------------------- */

/* Where right-hand side c of lane l begins. */
static int64_t rhs_of(const worker *w, const smallsym_job *job, int l, int64_t c) {
    return w->task[l].system * job->b_system * job->nrhs + c;
}

static void copy_rhs(worker *w, const smallsym_job *job, int64_t c) {
    const int64_t step = job->b_row * job->nrhs;
    for (int l = 0; l < LANES; l++)
        for (int64_t i = 0; i < job->n; i++)
            w->p.b[at_row(i) + l] =
                l < w->used ? ((const real *)job->b)[rhs_of(w, job, l, c) + i * step] : 0;
}

static void load_rhs(worker *w, const smallsym_job *job, int64_t c) {
    if (w->gram)
        R(gram_rhs)(w, job, c);
    else
        copy_rhs(w, job, c);
    real largest[LANES];
    look_at(w->p.b, job->n, largest, w->bad_b);
    if (scale(w->p.b, job->n, largest, w->p.wide, w->e_b)) w->scaled = 1;
}

/* D of the pack's a by 2^sign e_a; zero[l] counts the pivots that became zero. */
static void scale_pivots(worker *w, int sign, int *zero) {
    for (int l = 0; l < LANES; l++) {
        zero[l] = 0;
        if (w->e_a[l] == 0) continue;
        for (int64_t i = 0; i < w->p.n; i++) {
            real *d = &w->p.a[at_entry(i, i) + l];
            *d = (real)ldexp((double)*d, sign * w->e_a[l]);
            zero[l] += *d == 0;
        }
    }
}

/* L and D into a pack: numbers that are not finite are looked for in all of it, but D alone is
 * scaled. */
static void load_factors(worker *w, const smallsym_job *job) {
    pack *p = &w->p;
    real largest[LANES];
    int zero[LANES];
    load_entries(w, job);
    look_at(p->a, job->n * (job->n + 1) / 2, largest, w->bad_a);
    memset(largest, 0, sizeof largest);
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++)
            largest[l] = real_max(real_abs(p->a[at_entry(i, i) + l]), largest[l]);
    w->scaled = 0;
    for (int l = 0; l < LANES; l++) {
        p->wide[l] =
            l < w->used && w->bad_a[l] == 0 && lane_is_wide(p, SMALLSYM_BY_DIAGONAL, l, largest[l]);
        w->e_a[l] = p->wide[l] ? 0 : exponent_far_from_1(largest[l]);
        w->scaled |= w->e_a[l] != 0;
    }
    scale_pivots(w, -1, zero);
    begin_outcome(p);
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* One step: b := kept_b - A x in double, solved for what is to be added to x. */
static void refine(worker *w, const smallsym_cpu_method *method, int variant) {
    pack *p = &w->p;
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    memcpy(w->kept_b, p->b, bytes);
    memcpy(w->sum_x, p->x, bytes);
    residual_in_double(p, p->b);
    method->solve(p, variant);
    for (int64_t e = 0; e < at_row(p->n); e++) p->x[e] = w->sum_x[e] + p->x[e];
    memcpy(p->b, w->kept_b, bytes);
}

/* Largest |x(i)| / s(i) of each lane; NaN if a number is not finite. */
static void scaled_size(const pack *p, const real *x, real *size) {
    vec most = vec_all(0), bad = most;
    for (int64_t i = 0; i < p->n; i++) {
        const vec v = vec_at(x + at_row(i)) / vec_at(p->s + at_row(i));
        most = vec_max(vec_abs(v), most), bad += v * 0;
    }
    most += bad;
    memcpy(size, &most, sizeof most);
}

/* A second step: A^-1 of the vector x that grew to `growth`, in lanes that need it. */
static void grow_again(pack *p, const smallsym_cpu_method *method, int variant, const int *again,
                       real *growth) {
    real size[LANES], next[LANES];
    scaled_size(p, p->x, size);
    for (int64_t i = 0; i < p->n; i++)
        for (int l = 0; l < LANES; l++) {
            const real s = p->s[at_row(i) + l];
            p->b[at_row(i) + l] = p->x[at_row(i) + l] / size[l] / s / s;
        }
    method->solve(p, variant);
    scaled_size(p, p->x, next);
    for (int l = 0; l < LANES; l++)
        if (again[l] && !(next[l] <= growth[l])) growth[l] = next[l];
}

/* How far refinement is from converging, for any right-hand side: |A^-1 (b - A x)| / |x| of the vector
 * that grew. It is 1 for a matrix that is singular to the last bit, whatever its factors are. */
static void doubt_of(worker *w, const smallsym_cpu_method *method, int variant, real *doubt) {
    pack *p = &w->p;
    real size[LANES], change[LANES];
    scaled_size(p, p->x, size);
    residual_in_double(p, p->b);
    method->solve(p, variant);
    scaled_size(p, p->x, change);
    for (int l = 0; l < LANES; l++) doubt[l] = change[l] / size[l];
}

/* Whether the condition number of a lane is to be looked at: a bound from its factors does not prove that it is small. */
static int needs_look(worker *w, const smallsym_job *job, const smallsym_cpu_method *method) {
    pack *p = &w->p;
    real bound[LANES];
    const int counts = job->where.rcond && job->rescue_row >= 0 && !job->estimate; /* look() */
    int any = job->stage == 1 || counts;
    if (!job->look || !method->grow || p->n == 0) return 0;
    method->bound(p, bound);
    for (int l = 0; l < w->used; l++) {
        w->proved[l] = p->outcome.status[l] < 0 || (double)bound[l] * SMALLSYM_MARGIN < job->cond;
        any |= !w->proved[l];
    }
    if (any && method->scales == SMALLSYM_BY_DIAGONAL) scale_by_diagonal(p);
    return any;
}

/* The condition number of each lane, by condition.h. `norm` is |A|. */
static void look(worker *w, const smallsym_job *job, const smallsym_cpu_method *method, int variant,
                 real *norm, real *doubt) {
    pack *p = &w->p;
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    real growth[LANES];
    int again[LANES], any = 0;
    memcpy(w->kept_b, p->b, bytes);
    memcpy(w->sum_x, p->x, bytes);
    if (p->scaled) scaled_norm_of(p, norm);
    method->grow(p, variant, growth);
    for (int l = 0; l < LANES; l++)
        any |= again[l] = job->stage == 1 || smallsym_look_again(norm[l], growth[l], job->cond);
    if (any && method->grown) method->grown(p, again, growth);
    if (any) grow_again(p, method, variant, again, growth);
    if (job->stage == 1) doubt_of(w, method, variant, doubt);
    for (int l = 0; l < w->used; l++) {
        const float rcond = smallsym_rcond(norm[l], growth[l]);
        if (!w->proved[l]) p->outcome.look[l] = rcond;
        if (job->rescue_row >= 0 && !job->estimate && !(p->outcome.rcond[l] <= rcond))
            p->outcome.rcond[l] = rcond;
    }
    memcpy(p->b, w->kept_b, bytes);
    memcpy(p->x, w->sum_x, bytes);
}

/* Steps of refinement for the lanes in `open`, until x does not change any more; a lane whose changes
 * are not halved has `doubt` 1. Other lanes stay as they are. */
static void refine_fully(worker *w, const smallsym_cpu_method *method, int variant, int *open,
                         real *doubt) {
    enum { MOST = 30 };
    pack *p = &w->p;
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    real before[LANES], size[LANES], change[LANES];
    int any = 1;
    memcpy(w->kept_b, p->b, bytes);
    memcpy(w->sum_x, p->x, bytes);
    scaled_size(p, p->x, before);
    for (int step = 0; step < MOST && any; step++) {
        residual_in_double(p, p->b);
        method->solve(p, variant);
        scaled_size(p, p->x, change);
        scaled_size(p, w->sum_x, size);
        any = 0;
        for (int l = 0; l < LANES; l++) {
            const int helps = change[l] <= before[l] / 2;
            if (open[l] && !helps) doubt[l] = 1;
            for (int64_t i = 0; i < p->n && open[l] && helps; i++)
                w->sum_x[at_row(i) + l] += p->x[at_row(i) + l];
            open[l] = open[l] && helps && change[l] > REAL_EPSILON * size[l];
            any |= open[l];
            before[l] = change[l];
        }
        memcpy(p->x, w->sum_x, bytes);
        memcpy(p->b, w->kept_b, bytes);
    }
}

/* x as it will be stored: what the caller's range takes from it is gone. */
static void round_as_stored(worker *w) {
    for (int l = 0; l < w->used && w->scaled; l++) {
        const int e = w->e_b[l] - w->e_a[l];
        for (int64_t i = 0; i < w->p.n && e != 0; i++) {
            real *x = &w->p.x[at_row(i) + l];
            *x = (real)ldexp((double)(real)ldexp((double)*x, e), -e);
        }
    }
}

static int32_t status_of(const worker *w, const smallsym_job *job, int l, int finite, int judged,
                         real doubt, float first, float residual) {
    const int32_t status = w->p.outcome.status[l];
    if (w->bad_a[l] != 0 || w->bad_b[l] != 0) return SHOAL_SYSTEM_NONFINITE;
    if (status >= 0 && !finite) return SHOAL_SYSTEM_OVERFLOW;
    if (status != SHOAL_SYSTEM_OK || !judged) return status;
    if (job->stage == 1 && smallsym_hopeless(doubt, w->p.outcome.look[l]))
        return SHOAL_SYSTEM_SINGULAR;
    if (!(residual <= job->tol) || smallsym_ill(w->p.outcome.look[l], job->cond))
        return SHOAL_SYSTEM_ILL;
    return first <= job->tol ? SHOAL_SYSTEM_OK : SHOAL_SYSTEM_REFINED;
}

/* Status and residual of each lane for the right-hand side in hand. `doubt` is that of the matrix. */
static void judge(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                  int variant, int64_t c, int32_t *status, float *residual, real *doubt) {
    pack *p = &w->p;
    const int judged = w->what != SMALLSYM_RESOLVE && smallsym_judged(job); /* without A: not */
    const int middle = job->stage == 1;
    float first[LANES] = { 0 };
    real norm[LANES], own_doubt[LANES], largest[LANES], bad[LANES];
    int open[LANES];
    if (judged && (job->refine || middle)) residual_of(p, w->kept_b, w->sum_x, first, norm);
    for (int step = 0; step < job->refine; step++) refine(w, method, variant);
    if (!middle) round_as_stored(w);
    if (judged) residual_of(p, w->kept_b, w->sum_x, residual, norm);
    if (w->looks && c == 0) look(w, job, method, variant, norm, doubt);
    memcpy(own_doubt, doubt, sizeof own_doubt);
    if (middle) {
        for (int l = 0; l < LANES; l++)
            open[l] = !(residual[l] <= job->tol) || smallsym_ill(p->outcome.look[l], job->cond);
        refine_fully(w, method, variant, open, own_doubt);
        round_as_stored(w);
        residual_of(p, w->kept_b, w->sum_x, residual, norm);
    }
    look_at(p->x, p->n, largest, bad);
    for (int l = 0; l < w->used; l++) {
        status[l] = status_of(w, job, l, bad[l] == 0, judged, own_doubt[l], first[l], residual[l]);
        if (status[l] < 0 || !judged) residual[l] = (float)NAN;
    }
}

/* Takes the scales back. */
static void unscale(worker *w, const int32_t *status) {
    for (int l = 0; l < w->used; l++) {
        const int e = w->e_b[l] - w->e_a[l];
        for (int64_t i = 0; i < w->p.n && e != 0 && status[l] >= 0; i++) {
            real *x = &w->p.x[at_row(i) + l];
            *x = (real)ldexp((double)*x, e);
        }
    }
}

/* ---- out -------------------------------------------------------------------------------------- */

/* Lanes that failed: NaN, unless x is b. Lanes that `wait` for the rescue keep what they have. */
static void store(const worker *w, const smallsym_job *job, int64_t c, const int32_t *status,
                  const int *wait) {
    if (job->n == 0) return;
    for (int l = 0; l < w->used; l++) {
        if ((status[l] < 0 && job->x == job->b) || wait[l] || c < w->task[l].column) continue;
        real *to = (real *)job->x + rhs_of(w, job, l, c);
        for (int64_t i = 0; i < job->n; i++)
            to[i * job->b_row * job->nrhs] = status[l] < 0 ? real_nan() : w->p.x[at_row(i) + l];
    }
}

/* The lanes that are wide although the largest number is near 1: the pivots of a definite matrix differ at least
 * as much as its diagonal entries, but for a factor of its condition number. */
static void look_for_wide_ones(worker *w) {
    const float few = sizeof(real) == 4 ? 0x1p-25f : FLT_MIN;
    pack *p = &w->p;
    for (int l = 0; l < w->used; l++)
        if ((p->outcome.status[l] < 0 || !(p->outcome.rcond[l] >= few)) && w->bad_a[l] == 0 &&
            w->e_a[l] == 0)
            p->wide[l] |= lane_is_wide(p, SMALLSYM_BY_DIAGONAL, l, p->largest[l]);
}

static void factor(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                   int variant) {
    w->scales = method->scales;
    if (w->gram)
        R(gram_matrix)(w, job);
    else
        load_matrix(w, job);
    w->p.scaled = 0;
    if (method->scales == SMALLSYM_BY_ROWS) scale_by_rows(&w->p);
    method->factor(&w->p, variant);
    if (method->scales == SMALLSYM_BY_DIAGONAL) look_for_wide_ones(w);
    if (job->estimate && smallsym_rcond_used(job)) estimate_rcond(&w->p, method, variant);
}

/* The answer of a lane for right-hand side c joins those before, or is left to the next method of "auto": whether
 * it waits for that. */
static int add_answer(worker *w, const smallsym_job *job, int l, int64_t c, int32_t now, float r,
                      int32_t *status, float *residual) {
    if (smallsym_doubtful(job, now)) {
        w->queue[w->stage][w->queued[w->stage]++] =
            (smallsym_redo){ w->task[l].system, (uint32_t)c, c ? *status : SHOAL_SYSTEM_OK,
                             *residual };
        return 1;
    }
    *status = c ? shoal_worse(*status, now) : now;
    *residual = smallsym_larger(*residual, now < 0 ? (float)NAN : r);
    return 0;
}

/* A lane of the pack by wide.h; what it says of A goes to the outcome. */
static wide_system take_wide_one(worker *w, const smallsym_job *job, int definite, int l) {
    const smallsym_shape lane = { .n = job->n, .packed = 1, .column = LANES };
    const int kept = w->what == SMALLSYM_RESOLVE;
    pack_outcome *outcome = &w->p.outcome;
    wide_system s;
    wide_begin(&s, (int)job->n, definite, w->p.a + l, &lane, w->wide_room);
    s.e_a = w->e_a[l];
    if (kept)
        wide_take_kept(&s);
    else
        wide_take(&s);
    outcome->status[l] = s.status, outcome->rcond[l] = s.rcond;
    outcome->positive[l] = s.positive, outcome->negative[l] = s.n - s.positive;
    if (kept || s.status < 0) return s;
    if (job->look || job->stage) outcome->look[l] = s.look;
    if (job->estimate && smallsym_rcond_used(job))
        outcome->rcond[l] = wide_rcond(&s);
    else if (job->look && job->rescue_row >= 0 && !(s.rcond <= s.look))
        outcome->rcond[l] = s.look;
    return s;
}

/* x of the right-hand side in the pack, judged. */
static int32_t answer_wide_one(worker *w, const smallsym_job *job, wide_system *s, int l,
                               float *residual) {
    pack *p = &w->p;
    const int judged = w->what != SMALLSYM_RESOLVE && smallsym_judged(job);
    const int middle = job->stage == 1;
    wide_answer found = { 0 };
    real bad = 0;
    wide_take_rhs(s, p->b + l, LANES);
    if (judged)
        found = wide_answer_of(s, job->refine, middle, job->tol, job->cond);
    else
        wide_solve(s, s->b, s->x, 0);
    for (int64_t i = 0; i < p->n; i++) {
        real *x = &p->x[at_row(i) + l];
        *x = wide_x(s, (int)i), bad += *x * 0;
    }
    const float first = job->refine || middle ? found.first : 0;
    const int32_t status =
        status_of(w, job, l, bad == 0, judged, found.doubt, first, found.residual);
    *residual = status < 0 || !judged ? (float)NAN : found.residual;
    return status;
}

/* The lanes of wide.h, one after the other: their outcomes. */
static void run_wide_ones(worker *w, const smallsym_job *job, const smallsym_cpu_method *method) {
    const int definite = method->scales == SMALLSYM_BY_DIAGONAL;
    for (int l = 0; l < w->used; l++) {
        int32_t status = w->task[l].status, now[LANES] = { 0 };
        float residual = w->task[l].residual, r = 0;
        int others[LANES], waits = 0;
        if (!w->p.wide[l]) continue;
        wide_system s = take_wide_one(w, job, definite, l);
        for (int k = 0; k < LANES; k++) others[k] = k != l;
        for (int64_t c = w->task[l].column; c < job->nrhs && !waits; c++) {
            load_rhs(w, job, c);
            now[l] = answer_wide_one(w, job, &s, l, &r);
            waits = add_answer(w, job, l, c, now[l], r, &status, &residual);
            if (!waits) store(w, job, c, now, others);
        }
        if (!waits) note(w, job, l, job->first_row, status, residual);
    }
}

static void run_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                     int variant) {
    int32_t status[LANES];
    int wait[LANES], any_wide = 0;
    float residual[LANES];
    real doubt[LANES] = { 0 };
    for (int l = 0; l < LANES; l++)
        status[l] = w->task[l].status, residual[l] = w->task[l].residual;
    if (w->what == SMALLSYM_RESOLVE) {
        load_factors(w, job);
        method->take(&w->p);
    } else {
        factor(w, job, method, variant);
    }
    for (int l = 0; l < LANES; l++) any_wide |= wait[l] = w->p.wide[l];
    w->looks = w->what != SMALLSYM_RESOLVE && needs_look(w, job, method);
    for (int64_t c = 0; c < job->nrhs; c++) {
        int32_t now[LANES];
        float r[LANES] = { 0 };
        load_rhs(w, job, c);
        w->p.grows = w->looks && c == 0;
        method->solve(&w->p, variant);
        w->p.grows = 0;
        judge(w, job, method, variant, c, now, r, doubt);
        if (w->scaled) unscale(w, now);
        for (int l = 0; l < w->used; l++) {
            if (wait[l] || c < w->task[l].column) continue;
            if (smallsym_left_range(now[l], r[l]) && method->scales != SMALLSYM_AS_IT_IS &&
                job->n > 1) {
                w->task[l] = (smallsym_redo){ w->task[l].system, (uint32_t)c,
                                              c ? status[l] : SHOAL_SYSTEM_OK, residual[l] };
                any_wide = wait[l] = w->p.wide[l] = 1;
                continue;
            }
            wait[l] = add_answer(w, job, l, c, now[l], r[l], &status[l], &residual[l]);
        }
        store(w, job, c, now, wait);
    }
    for (int l = 0; l < w->used; l++)
        if (!wait[l]) note(w, job, l, job->first_row, status[l], residual[l]);
    if (any_wide) run_wide_ones(w, job, method);
}

/* L and D of the lanes of wide.h to the pack, from A, which is read once more. zero[l] counts the pivots that
 * became zero, lost[l] the numbers of L that the type does not hold. */
static void factor_wide_ones(worker *w, const smallsym_job *job, int *zero, int *lost) {
    pack *p = &w->p;
    real *factors = p->a;
    p->a = p->scratch; /* free by now */
    load_entries(w, job);
    for (int l = 0; l < w->used; l++) {
        if (!p->wide[l]) continue;
        const wide_system s = take_wide_one(w, job, 1, l);
        for (int i = 0; i < s.n && s.status >= 0; i++)
            for (int j = 0; j <= i; j++) {
                const real v = factors[at_entry(i, j) + l] = wide_kept(&s, i, j);
                zero[l] += i == j && v == 0;
                lost[l] += wide_is_lost(&s, i, j, v);
            }
    }
    p->a = factors;
}

/* L and D of a pack; NaN in lanes that failed, where L is A too, so that nobody takes A for L. */
static void factor_pack(worker *w, const smallsym_job *job, const smallsym_cpu_method *method,
                        int variant) {
    pack *p = &w->p;
    const int64_t numbers = job->n * (job->n + 1) / 2;
    int32_t status[LANES] = { 0 };
    int zero[LANES], lost[LANES] = { 0 }, any_wide = 0;
    real largest[LANES], bad[LANES];
    factor(w, job, method, variant);
    method->give(p);
    scale_pivots(w, 1, zero);
    for (int l = 0; l < LANES; l++) any_wide |= p->wide[l];
    if (any_wide) factor_wide_ones(w, job, zero, lost);
    look_at(p->a, numbers, largest, bad);
    for (int l = 0; l < LANES; l++) {
        status[l] = p->outcome.status[l];
        if (w->bad_a[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (status[l] >= 0 && (bad[l] != 0 || zero[l]))
            status[l] = zero[l] ? SHOAL_SYSTEM_PIVOT : SHOAL_SYSTEM_OVERFLOW;
        else if (status[l] >= 0 && lost[l])
            status[l] = SHOAL_SYSTEM_ILL;
        for (int64_t e = 0; e < numbers && status[l] < 0; e++) p->a[e * LANES + l] = real_nan();
    }
    store_entries(w, job, job->x);
    for (int l = 0; l < w->used; l++) note(w, job, l, job->first_row, status[l], (float)NAN);
}

/* Does again what waits for the method of a stage, in full packs or, at the `end`, all of it. */
static void run_stage(worker *w, const shoal_smallsym *plan, const smallsym_job *job, int stage,
                      int end) {
    smallsym_job again = *job;
    again.stage = stage;
    again.stage = smallsym_next_stage(&again);
    const shoal_choice *by = again.stage == 1 ? &plan->middle : &plan->rescue;
    again.first_row = by->row, again.refine = 0;
    if (again.stage == 2) again.rescue_row = -1;
    while (w->queued[stage] >= LANES || (end && w->queued[stage] > 0)) {
        w->used = w->queued[stage] < LANES ? w->queued[stage] : LANES;
        w->in_order = 0;
        w->queued[stage] -= w->used;
        if (stage == 0) w->totals.redone += (unsigned)w->used;
        if (again.stage == 2) w->totals.rescued += (unsigned)w->used;
        memcpy(w->task, w->queue[stage] + w->queued[stage], (size_t)w->used * sizeof *w->task);
        w->stage = again.stage;
        run_pack(w, &again, by->cell, by->variant);
        if (again.stage == 1) run_stage(w, plan, job, 1, 0);
    }
    w->stage = 0;
}

/* ---- the driver ------------------------------------------------------------------------------- */

/* The most that the workers of a group need, so many bytes each. */
static size_t most_bytes(const shoal_smallsym *plan,
                         size_t (*each)(const shoal_smallsym *plan, const smallsym_job *job)) {
    size_t most = 0;
    for (int64_t g = 0; g < plan->job_count; g++) {
        const smallsym_job *job = &plan->jobs[g];
        const size_t bytes = (size_t)workers_of(plan, job) * each(plan, job);
        if (bytes > most) most = bytes;
    }
    return most;
}

static size_t batch_bytes(const shoal_smallsym *plan) {
    return TOTALS + most_bytes(plan, worker_bytes);
}

static size_t form_bytes(const shoal_smallsym *plan) { return most_bytes(plan, R(gram_bytes)); }

static shoal_status batch_begin(shoal_smallsym *plan) {
    memset(plan->work, 0, sizeof(smallsym_totals));
    return SHOAL_OK;
}

typedef struct batch_call {
    int what;
    const smallsym_gram *gram;
} batch_call;

static void do_and_rescue(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                          const void *with) {
    const batch_call *call = with;
    w->what = call->what;
    if (w->what == SMALLSYM_FORM) {
        w->gram = call->gram;
        w->gram_room =
            (real *)((char *)w->gram->work + (size_t)w->number * R(gram_bytes)(plan, job));
    }
    (w->what == SMALLSYM_FACTOR ? factor_pack : run_pack)(w, job, plan->first.cell,
                                                          plan->first.variant);
    run_stage(w, plan, job, 0, 0);
}

static void rescue_the_rest(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                            const void *with) {
    (void)with;
    run_stage(w, plan, job, 0, 1);
    run_stage(w, plan, job, 1, 1);
}

static shoal_status batch_run(shoal_smallsym *plan, int what, const smallsym_job *job,
                              const smallsym_arrays *with) {
    const batch_call call = { what, &with->gram };
    smallsym_job own = *job;
    if (what == SMALLSYM_EIGEN) return R(smallsym_eigen)(plan, job, &with->parts);
    if (what == SMALLSYM_RESOLVE) own.refine = 0;
    return over_packs(plan, &own, &call, do_and_rescue, rescue_the_rest);
}

static shoal_status batch_total(shoal_smallsym *plan, smallsym_totals *totals) {
    memcpy(totals, plan->work, sizeof *totals);
    return SHOAL_OK;
}

const smallsym_driver R(smallsym_batch) = { batch_bytes, form_bytes, batch_begin, batch_run,
                                            batch_total };
