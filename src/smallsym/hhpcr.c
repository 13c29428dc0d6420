/* SPDX-License-Identifier: Apache-2.0
 *
 * hhpcr.c - A x = b by A = Q U Qt (householder.h) and parallel cyclic reduction of U z = Qt b
 * (pcr.h), x = Q z: sections 4.1 and 4.2 of the paper on small symmetric systems, any n.
 *
 *   reflect  Qt b and Q z from the reflectors: n^2 multiply-adds each.
 *   formed   Q is formed by (14), and b and z are multiplied by it: what Figure 9 times.
 *
 * One lane per system; (2/3) n^3 multiply-adds per lane, n^3 more if Q is formed.
 */
#include "smallsym/pcr.h"

static void hhpcr_factor(pack *p, int variant) {
    if (p->n == 0) return;
    const householder h = householder_in(p->scratch, p->n);
    const reduction f = reduction_of(p);
    tridiagonalise(&h, p->a, p->n);
    factor_tridiagonal(p, &h, &f);
    if (variant == HHPCR_FORMED) form_q(&h, p->n, f.q);
}

static void hhpcr_solve(pack *p, int variant) {
    if (p->n == 0) return;
    const householder h = householder_in(p->scratch, p->n);
    const reduction f = reduction_of(p);
    const size_t bytes = (size_t)at_row(p->n) * sizeof(real);
    if (variant == HHPCR_FORMED) {
        multiply_by_q(&f, 1, p->b, f.rhs);
        solve_tridiagonal(&f, &h);
        multiply_by_q(&f, 0, f.z, p->x);
    } else {
        memcpy(f.rhs, p->b, bytes);
        apply_transposed(&h, p->n, f.rhs);
        solve_tridiagonal(&f, &h);
        memcpy(p->x, f.z, bytes);
        apply_q(&h, p->n, p->x, 1);
    }
}

const smallsym_cpu_method R(smallsym_hhpcr) = { .scratch = pcr_scratch,
                                                .factor = hhpcr_factor,
                                                .solve = hhpcr_solve };
