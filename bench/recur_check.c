/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_check.c - is a recurrence right? Shares no line with the library.
 *
 * What an answer misses its own recurrence by, r_i = w_i - sum_k s_ik w_{i-k} - t_i, is computed as
 * if in twice the precision of double. The error of w is the same recurrence with r in place of t,
 * so that
 *
 *     e_i = sum_k |s_ik| e_{i-k} + |r_i|   bounds |w_i - exact|,
 *     c_i = sum_k |s_ik| c_{i-k} + |t_i|   is the sum of the sizes of all products w_i is made of,
 *
 * and e_i / ((r + 1) (i + 1) c_i), order r, is what substitution keeps below half a unit of
 * roundoff. Its largest value is reported as the residual; an answer passes at one unit, twice what
 * substitution can need. Segments of more than MAX_NUMBERS rows together are sampled.
 */
#include "bench/recur.h"

#include "bench/twice.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

static const int64_t MAX_NUMBERS = (int64_t)1 << 29;

typedef struct segment_view { /* of one segment, in the order of the recurrence */
    shoal_type type;
    const void *s, *t, *w0, *w;
    int64_t s_at, s_row, t_at, t_row, w_at, w_row, w0_at, n;
    int order;
} segment_view;

static inline double get(const segment_view *v, const void *array, int64_t at) {
    return v->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

static segment_view look(const bench_segments *d, int64_t k) {
    const shoal_recur_opts o = bench_segments_shape(&d->problem);
    const int64_t row = o.layout == SHOAL_INTERLEAVED ? o.count : 1;
    const int64_t start = o.layout == SHOAL_INTERLEAVED ? k : k * o.n;
    const int64_t first = o.reverse ? start + (o.n - 1) * row : start;
    const int64_t step = o.reverse ? -row : row;
    return (segment_view){ .type = o.type,
                           .s = d->host[BENCH_RECUR_S],
                           .t = d->host[BENCH_RECUR_T],
                           .w0 = d->host[BENCH_RECUR_W0],
                           .w = d->answer,
                           .s_at = (o.constant_s ? k : first) * o.order,
                           .s_row = o.constant_s ? 0 : step * o.order,
                           .t_at = o.constant_t ? k : first,
                           .t_row = o.constant_t ? 0 : step,
                           .w_at = first,
                           .w_row = step,
                           .w0_at = k * o.order,
                           .n = o.n,
                           .order = o.order };
}

/* The largest e_i / ((r + 1) (i + 1) c_i); infinite where w is not finite. */
static double worst_of(const segment_view *v) {
    double w[SHOAL_RECUR_ORDERS], e[SHOAL_RECUR_ORDERS] = { 0 }, c[SHOAL_RECUR_ORDERS], worst = 0;
    for (int j = 0; j < v->order; j++) {
        w[j] = get(v, v->w0, v->w0_at + j);
        c[j] = fabs(w[j]);
    }
    for (int64_t i = 0; i < v->n; i++) {
        const double now = get(v, v->w, v->w_at + i * v->w_row);
        const double t = get(v, v->t, v->t_at + i * v->t_row);
        double high = now, low = 0, error = 0, size = fabs(t);
        subtract_product(&high, &low, t, 1);
        for (int j = 0; j < v->order; j++) {
            const double s = get(v, v->s, v->s_at + i * v->s_row + j);
            subtract_product(&high, &low, s, w[j]);
            error += fabs(s) * e[j];
            size += fabs(s) * c[j];
        }
        error += fabs(high + low);
        if (!isfinite(now)) return INFINITY;
        const double part = error == 0 ? 0 : error / ((v->order + 1) * (double)(i + 1) * size);
        if (!(part <= worst)) worst = part;
        for (int j = v->order - 1; j > 0; j--) w[j] = w[j - 1], e[j] = e[j - 1], c[j] = c[j - 1];
        w[0] = now, e[0] = error, c[0] = size;
    }
    return worst;
}

shoal_status bench_recur_check(const bench_session *s, const bench_segments *d,
                               const int32_t *status, bench_check *check) {
    const bench_problem *p = &d->problem;
    const double unit = p->type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON;
    const int64_t each = p->n > 0 ? p->n : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride = p->count > affordable ? (p->count + affordable - 1) / affordable : 1;
    const int64_t looks = p->count > 0 ? (p->count - 1) / stride + 1 : 0;
    int64_t wrong = 0, failed = 0, first_wrong = INT64_MAX;
    double largest = 0;
    if (d->size[BENCH_RECUR_W] > 0) {
        shoal_status copied = shoal_copy(
            d->place->ctx, d->answer, bench_arrays_at(d, BENCH_RECUR_W, 0), d->size[BENCH_RECUR_W]);
        if (copied != SHOAL_OK) return copied;
    }
#pragma omp parallel for schedule(static) reduction(+ : wrong) reduction(max : largest)            \
    reduction(min : first_wrong)
    for (int64_t i = 0; i < looks; i++) {
        const int64_t k = i + 1 < looks ? i * stride : p->count - 1;
        if (bench_stopped(s) || (status && status[k] < 0)) continue;
        const segment_view v = look(d, k);
        const double worst = worst_of(&v);
        if (worst > largest) largest = worst;
        if (worst <= unit) continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    for (int64_t k = 0; status && k < p->count; k++) failed += status[k] < 0;
    *check = (bench_check){ .systems = looks, .failed = failed, .wrong = wrong };
    check->max_residual = largest;
    check->tolerance = unit;
    check->passed = wrong == 0 && failed == 0;
    if (wrong > 0)
        snprintf(check->why, sizeof check->why, "segment %lld misses its recurrence; %lld of %lld",
                 (long long)first_wrong, (long long)wrong, (long long)looks);
    else if (failed > 0)
        snprintf(check->why, sizeof check->why, "%lld failed", (long long)failed);
    return SHOAL_OK;
}
