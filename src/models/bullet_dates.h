/* SPDX-License-Identifier: Apache-2.0
 *
 * bullet_dates.h - the dates of a bullet option: T_i = i dt, i = 0 .. steps, of which first .. last are
 * counted.
 */
#ifndef SHOAL_MODELS_BULLET_DATES_H
#define SHOAL_MODELS_BULLET_DATES_H

#include "pricing/plan.h"
#include <math.h>

typedef struct bullet_dates {
    int64_t steps, first, last;
    double dt, drift, vol; /* of log S, in a step */
} bullet_dates;

static inline bullet_dates bullet_dates_of(const shoal_bullet *m) {
    const int longer = m->count == 'E' || m->count == 'F'; /* i / (M + 1): maturity is no date */
    bullet_dates d;
    d.steps = m->dates + longer;
    d.first = m->count == 'A' || m->count == 'C' || m->count == 'E';
    d.last = m->count == 'B' || m->count == 'C' ? m->dates - 1 : m->dates;
    d.dt = m->maturity / (double)d.steps;
    d.drift = (m->rate - 0.5 * m->sigma * m->sigma) * d.dt;
    d.vol = m->sigma * sqrt(d.dt);
    return d;
}

#endif
