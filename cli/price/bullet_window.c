/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_window.c - what the library is asked for: the whole bullet option, or its last intervals
 * alone.
 *
 * The last N intervals, from date f on, are an option of N dates by themselves, of maturity T - T_f: with T
 * counted they are of kind A, dates 1 .. N, else of kind C, dates 1 .. N - 1. Both have T_f in the count,
 * so that j grows by it first where (B, D, F) it is not in j.
 */
#include "bullet.h"

#include <stdlib.h>

int64_t bullet_last(const shoal_bullet *m) {
    return m->dates + (m->count == 'E' || m->count == 'F');
}

int bullet_counts_now(const shoal_bullet *m, int64_t k, double x) {
    const bool from_today = m->count == 'B' || m->count == 'D' || m->count == 'F';
    return from_today && k <= m->dates - (m->count == 'B') && x < m->barrier;
}

bullet_window bullet_window_of(const bullet_arguments *a) {
    bullet_window w = { .m = a->m };
    const int64_t last = bullet_last(&a->m);
    if (!a->intervals) return w;
    w.first = last - a->intervals;
    w.m.dates = a->intervals;
    w.m.maturity = a->m.maturity * (double)a->intervals / (double)last;
    w.m.count = a->m.count == 'A' || a->m.count == 'D' ? 'A' : 'C';
    return w;
}

int bullet_plan(cli *c, const bullet_arguments *a, const shoal_bullet_point *points, int64_t count,
                shoal_price **plan) {
    const bullet_window w = bullet_window_of(a);
    const shoal_price_opts o = price_opts_of(c, &a->o);
    if (!a->intervals)
        return cli_status(c, shoal_price_bullet(c->ctx, &w.m, &o, points, count, plan));
    shoal_bullet_point *moved = calloc((size_t)count + 1, sizeof *moved);
    if (!moved) return cli_no_memory();
    for (int64_t i = 0; i < count; i++) {
        moved[i] = points[i];
        moved[i].k -= w.first;
        moved[i].j += bullet_counts_now(&a->m, points[i].k, points[i].x);
    }
    const int code = cli_status(c, shoal_price_bullet(c->ctx, &w.m, &o, moved, count, plan));
    free(moved);
    return code;
}

const shoal_bullet_point *bullet_points_of(const price_job *job) {
    const bullet_arguments *a = job->arguments;
    return a->intervals ? a->points.list : shoal_price_points(job->plan);
}
