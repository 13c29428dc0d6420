/* SPDX-License-Identifier: Apache-2.0
 *
 * pde_lane.h - the formulas of pde.h, one line per lane: on the CPU a lane of a vector, on the GPU a thread.
 */
#ifndef SHOAL_AMERICAN_PDE_LANE_H
#define SHOAL_AMERICAN_PDE_LANE_H

#include "american/pde.h"
#include "american/vectors.h"

/* Vectors of lanes side by side, so that one does not wait for the other's quotients. */
#if defined(__CUDACC__) || defined(SHOAL_EMULATED)
enum { PDE_VECTOR = 1, PDE_WIDE = 1 };
#else
enum { PDE_VECTOR = VEC, PDE_WIDE = PDE_LANES / VEC < 2 ? 1 : 2 };
#endif
#define EACH_WIDE(k) UNROLLED for (int k = 0; k < PDE_WIDE; k++)

/* PDE_WIDE vectors of lanes from `number` on: their records, and arrays whose elements are `apart`. */
typedef struct pde_lane {
    const pde_lines *job;
    int64_t number, apart;
    vec *work;
} pde_lane;

LANE_FUNCTION vec pde_given(const pde_lane *l, const double *from, int64_t what, int k) {
    return vec_load(&from[what * l->job->lines + l->number + k * PDE_VECTOR]);
}

LANE_FUNCTION vec *pde_array(const pde_lane *l, int what) {
    return l->work + (int64_t)what * l->job->nodes * PDE_WIDE * l->apart;
}

LANE_FUNCTION void pde_make_grid(const pde_lane *l, int k) {
    const vec strike = pde_given(l, l->job->grid, PDE_STRIKE, k);
    const vec h = pde_given(l, l->job->grid, PDE_STEP, k);
    const vec b = pde_given(l, l->job->grid, PDE_WIDTH, k);
    const vec half = vec_all(0.5), one = vec_all(1), kink = b * h * vec_all(1.0 / 12);
    for (int i = 0; i < l->job->nodes; i++) {
        const int64_t at = (i * PDE_WIDE + k) * l->apart;
        const vec node = vec_all(i), up = vec_exp((node - strike) * h), down = one / up;
        const vec sine = half * (up - down), cosine = half * (up + down);
        const vec slope = one / (h * b * cosine), e = vec_exp(b * sine);
        pde_array(l, PDE_A)[at] = slope * slope;
        pde_array(l, PDE_T)[at] = slope * slope * half * h * sine / cosine;
        pde_array(l, PDE_G)[at] = half * slope;
        pde_array(l, PDE_E)[at] = e;
        pde_array(l, PDE_F)[at] = vec_select(node == strike, kink, vec_max(one - e, vec_all(0)));
    }
}

LANE_FUNCTION void pde_step(const pde_lane *l, const double *record) {
    const vec *a = pde_array(l, PDE_A), *t = pde_array(l, PDE_T), *g = pde_array(l, PDE_G);
    const vec *e = pde_array(l, PDE_E);
    vec *f = pde_array(l, PDE_F), *d = pde_array(l, PDE_D), *u = pde_array(l, PDE_U);
    const int64_t apart = l->apart, row = PDE_WIDE * apart, top = (l->job->nodes - 1) * row;
    vec w[PDE_WIDE], m[PDE_WIDE], r[PDE_WIDE], old[PDE_WIDE], alpha[PDE_WIDE], beta[PDE_WIDE];
    vec next_d[PDE_WIDE], next_u[PDE_WIDE], above[PDE_WIDE], here[PDE_WIDE];
    EACH_WIDE(k) {
        w[k] = pde_given(l, record, PDE_VARIANCE, k), m[k] = pde_given(l, record, PDE_DRIFT, k);
        r[k] = pde_given(l, record, PDE_RATE, k), old[k] = pde_given(l, record, PDE_OLD, k);
        next_d[k] = next_u[k] = vec_all(0);
        above[k] = f[top + k * apart], here[k] = f[top - row + k * apart];
    }
    for (int64_t i = top - row; i > 0; i -= row) EACH_WIDE(k) {
            const int64_t at = i + k * apart;
            const vec side = vec_fma(m[k], g[at], -w[k] * t[at]), below = f[at - row];
            const vec lower = vec_fma(w[k], a[at], -side), upper = vec_fma(w[k], a[at], side);
            const vec up = upper * (above[k] - here[k]);
            const vec move = vec_fma(lower, below - here[k], vec_fma(-r[k], here[k], up));
            const vec right = vec_fma(old[k], move, here[k]);
            const vec pivot = vec_fma(upper, vec_all(1) - next_u[k], vec_all(1) + r[k] + lower);
            const vec inverse = vec_all(1) / pivot;
            next_d[k] = vec_fma(upper, next_d[k], right) * inverse;
            next_u[k] = lower * inverse;
            d[at] = next_d[k], u[at] = next_u[k];
            above[k] = here[k], here[k] = below;
        }
    vec value[PDE_WIDE];
    EACH_WIDE(k) {
        alpha[k] = pde_given(l, record, PDE_ALPHA, k), beta[k] = pde_given(l, record, PDE_BETA, k);
        value[k] = vec_fma(-pde_given(l, record, PDE_LOW_BETA, k), e[k * apart],
                           pde_given(l, record, PDE_LOW_ALPHA, k));
        f[k * apart] = value[k], f[top + k * apart] = vec_all(0);
    }
    for (int64_t i = row; i < top; i += row) EACH_WIDE(k) {
            const int64_t at = i + k * apart;
            const vec pays = vec_fma(-beta[k], e[at], alpha[k]);
            value[k] = vec_max(vec_fma(u[at], value[k], d[at]), pays);
            f[at] = value[k];
        }
}

/* What a node whose excess f - payoff is `excess` gets for a kink between it and a neighbour. */
LANE_FUNCTION vec pde_kink(vec excess, vec other) {
    const vec zero = vec_all(0), jump = vec_abs(excess - other);
    const vec_mask none = (excess < zero) == (other < zero);
    const vec t = vec_max(excess, other) / vec_select(none, vec_all(1), jump);
    const vec far = vec_fma(t * t, t * vec_all(1.0 / 6), t * vec_all(-1.0 / 12));
    const vec near = vec_fma(vec_all(0.5), vec_fma(t, t, vec_all(1.0 / 6) - t), -far);
    return vec_select(none, zero, jump * vec_select(excess < zero, far, near));
}

LANE_FUNCTION void pde_exercise(const pde_lane *l, const double *record, int k) {
    const vec alpha = pde_given(l, record, PDE_DATE_ALPHA, k);
    const vec beta = pde_given(l, record, PDE_DATE_BETA, k);
    const vec_mask may = alpha > vec_all(PDE_NEVER);
    if (!vec_any(may)) return;
    const int64_t row = PDE_WIDE * l->apart, top = (l->job->nodes - 1) * row;
    const vec *e = pde_array(l, PDE_E) + k * l->apart;
    vec *f = pde_array(l, PDE_F) + k * l->apart;
    vec excess = f[0] - vec_fma(-beta, e[0], alpha), kink = vec_all(0);
    for (int64_t i = 0; i < top; i += row) {
        const vec pays = vec_fma(-beta, e[i], alpha);
        const vec next = f[i + row] - vec_fma(-beta, e[i + row], alpha);
        const vec better = vec_max(f[i], pays) + (kink + pde_kink(excess, next));
        f[i] = vec_select(may, better, f[i]);
        kink = pde_kink(next, excess);
        excess = next;
    }
}

/* All records: the last layer is in PDE_F. */
LANE_FUNCTION void pde_solve(const pde_lane *l) {
    for (int k = 0; k < PDE_WIDE; k++) pde_make_grid(l, k);
    for (int64_t i = 0; i < l->job->records; i++) {
        const double *record = l->job->record + i * PDE_NUMBERS * l->job->lines;
        for (int k = 0; k < PDE_WIDE; k++) pde_exercise(l, record, k);
        pde_step(l, record);
    }
}

#endif
