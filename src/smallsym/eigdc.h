/* SPDX-License-Identifier: Apache-2.0
 *
 * eigdc.h - what one thread does in a conquering step of divide and conquer (section 5 of the paper
 * on small symmetric systems): one root of the secular equation (16), one component of u-tilde
 * (17), and the 2 x 2 problem at the bottom of the division.
 *
 *     f(x) = 1 / rho + sum_i z_i^2 / (d_i - x) = 0,   d_0 < d_1 < .. < d_(k-1),  rho > 0:
 * root j lies between d_j and d_(j+1), the last one in (d_(k-1), d_(k-1) + rho |z|^2]. It is held
 * as tau = x - origin, the distance from its nearer pole, so that every difference d_i - x has a
 * small relative error however close they lie.
 *
 * Each step replaces f by c + s / (d_p - x) + S / (d_q - x), p and q the two poles next to the
 * root, with f and f' at the point in hand, and goes to the zero of that: a quadratic equation. The
 * third condition is the variant's (R.-C. Li, LAPACK working note 89):
 *   middle  s from the slope of the poles up to p, S from that of those from q on: the middle way;
 *           in turn with the fixed weight, s or S as it is in f, where it converges slowly.
 *   gragg   f'' too: Gragg's scheme, cubic and monotone.
 * Both keep a bracket of the root and halve it, in logarithm while it is wide, if a step leaves it
 * or does not pay. The end is |f| within the rounding errors of its evaluation, or a bracket of
 * neighbouring numbers. k divisions per evaluation, 3 to 6 evaluations per root.
 */
#ifndef SHOAL_SMALLSYM_EIGDC_H
#define SHOAL_SMALLSYM_EIGDC_H

#include "core/real.h"
#include "smallsym/plan.h"

typedef struct secular { /* f of the head: k poles */
    int k;
    const real *d, *z; /* poles, ascending, and weights: z(i)^2; none of them is zero */
    real rho;
} secular;

typedef struct secular_root { /* x = origin + tau */
    real origin, tau;
} secular_root;

SHOAL_HD static inline secular_root secular_point(real origin, real tau) {
    const secular_root x = { origin, tau };
    return x;
}

SHOAL_HD static inline real secular_gap(real d, secular_root x) { /* d - x */
    return (d - x.origin) - x.tau;
}

typedef struct secular_value {
    real f;
    real psi, phi;             /* the sums over the poles up to p, and from q on      */
    real psi_slope, phi_slope; /* their derivatives                                   */
    real error;                /* |f| below this is rounding                          */
} secular_value;

enum { SECULAR_TOGETHER = 4 }; /* poles whose divisions do not wait for each other */

/* What `count` poles from i0 on add to the sums; those before q are on the left of x. */
SHOAL_HD static inline void secular_add(const secular *s, int q, secular_root x, int i0, int count,
                                        secular_value *v) {
    real z[SECULAR_TOGETHER], t[SECULAR_TOGETHER];
    for (int e = 0; e < count; e++) z[e] = s->z[i0 + e], t[e] = secular_gap(s->d[i0 + e], x);
    for (int e = 0; e < count; e++) t[e] = z[e] * real_reciprocal_rough(t[e]);
    for (int e = 0; e < count; e++) {
        const real left = i0 + e < q ? t[e] : 0, right = i0 + e < q ? 0 : t[e];
        v->psi = real_mad(z[e], left, v->psi), v->phi = real_mad(z[e], right, v->phi);
        v->psi_slope = real_mad(left, left, v->psi_slope);
        v->phi_slope = real_mad(right, right, v->phi_slope);
    }
}

/* f at x. One loop for all poles: roots of neighbouring threads differ in q. */
SHOAL_HD static inline secular_value secular_at(const secular *s, int q, secular_root x) {
    secular_value v = { 0, 0, 0, 0, 0, 0 };
    int i = 0;
    for (; i + SECULAR_TOGETHER <= s->k; i += SECULAR_TOGETHER)
        secular_add(s, q, x, i, SECULAR_TOGETHER, &v);
    for (; i < s->k; i++) secular_add(s, q, x, i, 1, &v);
    const real constant = 1 / s->rho, sizes = real_abs(v.psi) + real_abs(v.phi);
    v.f = constant + v.psi + v.phi;
    v.error =
        (real)(s->k + 8) * sizes + 2 * constant + real_abs(x.tau) * (v.psi_slope + v.phi_slope);
    v.error *= REAL_EPSILON / 2;
    return v;
}

/* f'' / 2 at x. */
SHOAL_HD static inline real secular_bend(const secular *s, secular_root x) {
    real bend = 0;
    for (int i = 0; i < s->k; i++) {
        const real inverse = real_reciprocal_rough(secular_gap(s->d[i], x)), t = s->z[i] * inverse;
        bend = real_mad(t * t, inverse, bend);
    }
    return bend;
}

/* Zero of c + s / (g_p - y) + S / (g_q - y), g_p < g_q, from c y^2 - a y + b = 0: the one between
 * the two or, `beyond`, the one to the right of both. */
SHOAL_HD static inline real secular_quadratic(real a, real b, real c, int beyond) {
    const real root = real_sqrt(real_abs(a * a - 4 * b * c));
    const int up = beyond ? a >= 0 : a <= 0; /* no cancellation in a +- root */
    const real sum = (beyond ? a >= 0 : a > 0) ? a + root : a - root;
    return (up ? sum : 2 * b) * real_reciprocal(up ? 2 * c : sum);
}

typedef struct secular_bracket { /* of tau: both of one sign, low < high */
    real low, high;
} secular_bracket;

/* Between the two: their geometric mean while they are far apart. */
SHOAL_HD static inline real secular_middle(secular_bracket b) {
    const real small = real_min(real_abs(b.low), real_abs(b.high));
    const real large = real_max(real_abs(b.low), real_abs(b.high));
    const real mean =
        large > 4 * small ? real_sqrt(small) * real_sqrt(large) : small + (large - small) / 2;
    return b.high > 0 ? mean : -mean;
}

/* The interpolant's c at x: the third condition. */
SHOAL_HD static inline real secular_third(const secular *s, int p, const secular_value *v,
                                          secular_root x, int gragg, int fixed) {
    const int q = p + 1;
    const real gap_p = secular_gap(s->d[p], x), gap_q = secular_gap(s->d[q], x);
    const real slope = v->psi_slope + v->phi_slope;
    if (gragg) return v->f - (gap_p + gap_q) * slope + gap_p * gap_q * secular_bend(s, x);
    if (!fixed) return v->f - gap_p * v->psi_slope - gap_q * v->phi_slope;
    const real apart = s->d[q] - s->d[p];
    if (x.origin == s->d[p]) {
        const real t = s->z[p] * real_reciprocal(gap_p);
        return v->f - gap_q * slope + apart * t * t;
    }
    const real t = s->z[q] * real_reciprocal(gap_q);
    return v->f - gap_p * slope - apart * t * t;
}

/* The bracket, given f at the middle x of root p's interval; x moves to the nearer pole's side. */
SHOAL_HD static inline secular_bracket secular_begin(const secular *s, int p, int beyond,
                                                     const secular_value *v, secular_root *x) {
    const int q = p + 1;
    const real slack = 8 * REAL_EPSILON * (real)s->k, z_p = s->z[p] * s->z[p],
               z_q = s->z[q] * s->z[q];
    secular_bracket b = { -x->tau, x->tau };
    if (beyond) { /* z_q^2 / tau <= 1 / rho */
        b.low = s->rho * z_q * (1 - slack), b.high = 2 * x->tau * (1 + slack);
        *(v->f > 0 ? &b.high : &b.low) = x->tau;
    } else if (v->f > 0) /* z_p^2 / tau <= 1 / rho + phi, in the left half at most phi(middle) */
        b.low = z_p / (1 / s->rho + v->phi) * (1 - slack);
    else { /* z_q^2 / -tau <= -psi, in the right half at most -psi(middle) */
        b.high = z_q / v->psi * (1 - slack);
        *x = secular_point(s->d[q], -x->tau);
    }
    return b;
}

/* The zero of f with all but the two next poles frozen at the middle x of the interval. */
SHOAL_HD static inline real secular_guess(const secular *s, int p, int beyond,
                                          const secular_value *v, secular_root x) {
    const int q = p + 1;
    const real z_p = s->z[p] * s->z[p], z_q = s->z[q] * s->z[q];
    const real others = v->f - z_p / secular_gap(s->d[p], x) - z_q / secular_gap(s->d[q], x);
    const real at_p = s->d[p] - x.origin, at_q = s->d[q] - x.origin; /* one of them is 0 */
    return secular_quadratic(others * (at_p + at_q) + z_p + z_q, z_p * at_q + z_q * at_p, others,
                             beyond);
}

/* Root j of the secular equation. The first evaluation is at the middle of its interval. */
SHOAL_HD static inline secular_root secular_solve(const secular *s, int j, int variant) {
    if (s->k == 1) return secular_point(s->d[0], s->rho * s->z[0] * s->z[0]);
    enum { BISECT = 30, MOST = 200 }; /* halving alone is at its end within 100 steps */
    const int beyond = j == s->k - 1, p = beyond ? j - 1 : j, q = p + 1;
    real interval = s->d[q] - s->d[p];
    if (beyond) {
        interval = 0;
        for (int i = 0; i < s->k; i++) interval = real_mad(s->z[i], s->z[i], interval);
        interval *= s->rho;
    }
    secular_root x = secular_point(s->d[beyond ? q : p], interval / 2), middle = x;
    secular_value at_middle = { 0, 0, 0, 0, 0, 0 };
    secular_bracket b = { 0, 0 };
    real before = (real)INFINITY;
    int fixed = 0, slow = 0;
    for (int step = -1; step < MOST; step++) {
        secular_value v = secular_at(s, q, x);
        if (step >= 0 && !(real_abs(v.f) > v.error)) break;
        real next;
        if (step < 0) {
            b = secular_begin(s, p, beyond, &v, &x);
            middle = x, at_middle = v;
            next = secular_guess(s, p, beyond, &v, x);
            if (!(next > b.low && next < b.high)) next = secular_middle(b);
            x.tau = next;
            continue;
        }
        *(v.f > 0 ? &b.high : &b.low) = x.tau;
        if (step == 0 && real_abs(at_middle.f) < real_abs(v.f)) /* a poor guess */
            x = middle, v = at_middle;
        slow = 10 * real_abs(v.f) > before ? slow + 1 : 0;
        fixed ^= slow > 0;
        before = real_abs(v.f);
        next = (real)NAN;
        if (slow < 3 && step < BISECT) {
            const real gap_p = secular_gap(s->d[p], x), gap_q = secular_gap(s->d[q], x);
            const real a = (gap_p + gap_q) * v.f - gap_p * gap_q * (v.psi_slope + v.phi_slope);
            const real c = secular_third(s, p, &v, x, variant == EIGDC_GRAGG, fixed);
            next = x.tau + secular_quadratic(a, gap_p * gap_q * v.f, c, beyond);
        } else
            slow = 0;
        if (!(next > b.low && next < b.high)) next = secular_middle(b); /* NaN is not */
        if (!(next > b.low && next < b.high)) break;                    /* neighbouring numbers */
        x.tau = next;
    }
    return x;
}

/* Component i of u-tilde, for which the roots are exact (Gu and Eisenstat, after Loewner):
 *     u(i)^2 = prod_j (x_j - d_i) / (rho prod_(j != i) (d_j - d_i)),  with the sign of z(i). */
SHOAL_HD static inline real secular_weight(const secular *s, const real *origin, const real *tau,
                                           int i) {
    real product = -secular_gap(s->d[i], secular_point(origin[i], tau[i])) / s->rho;
    for (int j = 0; j < s->k; j++) {
        const secular_root x = secular_point(origin[j], tau[j]);
        if (j != i) product *= secular_gap(s->d[i], x) * real_reciprocal(s->d[i] - s->d[j]);
    }
    const real u = real_sqrt(real_abs(product));
    return s->z[i] < 0 ? -u : u;
}

/* Of (a, b; b, c): low <= high, vectors (cosine, -sine), (sine, cosine). */
typedef struct eigen_pair {
    real low, high, cosine, sine;
} eigen_pair;

SHOAL_HD static inline eigen_pair eigen_2x2(real a, real b, real c) {
    const real half = (c - a) / 2, large = real_max(real_abs(half), real_abs(b));
    eigen_pair e = { a, c, 1, 0 };
    if (real_abs(b) >= REAL_MIN) {
        const real x = half / large, y = b / large, root = real_sqrt(x * x + y * y);
        const real t = y / (x < 0 ? x - root : x + root); /* tangent of the smaller angle */
        e.cosine = 1 / real_sqrt(1 + t * t), e.sine = t * e.cosine;
        e.low = a - t * b, e.high = c + t * b;
    }
    if (a > c) { /* exchange, and a sign */
        const eigen_pair other = { e.high, e.low, -e.sine, e.cosine };
        return other;
    }
    return e;
}

#endif
