/* SPDX-License-Identifier: Apache-2.0
 *
 * stages.c - the stages of hhpcr on the CPU, each alone: A = Q U Qt (householder.h), and
 * x = Q U^-1 Qt b by parallel cyclic reduction (pcr.h) and two products with Q. Packs are filled from
 * any storage, scaled, worked on, judged and written back; one pack per task, OpenMP threads over packs.
 *
 * Bytes moved: of the first stage one triangle of A, d and e, and Q; of the second d, e, Q, b and x.
 */
#include "smallsym/pcr.h"
#include "smallsym/worker.h"

/* Whether numbers of lane l times 2^exponent are all finite. */
static int finite_lane(const real *v, int64_t rows, int l, int exponent) {
    real bad = 0;
    for (int64_t i = 0; i < rows; i++)
        bad += (exponent ? (real)ldexp((double)v[at_row(i) + l], exponent) : v[at_row(i) + l]) * 0;
    return bad == 0;
}

/* ---- A = Q U Qt ------------------------------------------------------------------------------- */

static void reduce_pack(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                        const void *with) {
    const smallsym_parts *to = with;
    pack *p = &w->p;
    const int64_t n = job->n;
    const householder h = householder_in(p->scratch, n);
    const reduction f = reduction_of(p);
    int32_t status[LANES] = { 0 };
    load_matrix(w, job);
    tridiagonalise(&h, p->a, n);
    if (to->q) form_q(&h, n, f.q);
    for (int l = 0; l < w->used; l++) {
        if (w->bad_a[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (!finite_lane(h.d, n, l, w->e_a[l]) || !finite_lane(h.c, n - 1, l, w->e_a[l]))
            status[l] = SHOAL_SYSTEM_OVERFLOW;
        p->outcome.rank[l] = p->outcome.positive[l] = p->outcome.negative[l] = p->outcome.zero[l] =
            -1;
    }
    scatter(w, h.d, to->d, job->b_system, job->b_row, n, w->e_a, status, 0);
    if (n > 1) scatter(w, h.c, to->e, to->e_system, job->b_row, n - 1, w->e_a, status, 0);
    if (to->q) scatter(w, f.q, to->q, to->q_system, job->b_row, n * n, NULL, status, 0);
    for (int l = 0; l < w->used; l++) note(w, job, l, plan->first.row, status[l], (float)NAN);
}

/* ---- x = Q U^-1 Qt b -------------------------------------------------------------------------- */

/* d, e and Q, and what PCR makes of them. `bad` turns NaN where one of them is not finite. */
static void load_parts(worker *w, const smallsym_job *job, const smallsym_parts *from,
                       const householder *h, const reduction *f, real *bad) {
    pack *p = &w->p;
    const int64_t n = job->n;
    gather(w, p->a, from->d, job->b_system, job->b_row, n, 1);
    if (n > 1) gather(w, p->a + at_row(n), from->e, from->e_system, job->b_row, n - 1, 0);
    begin_matrix(w, 2 * n - 1);
    memcpy(h->d, p->a, (size_t)at_row(n) * sizeof(real));
    memcpy(h->c, p->a + at_row(n), (size_t)at_row(n - 1) * sizeof(real));
    factor_tridiagonal(p, h, f);
    memcpy(bad, w->bad_a, sizeof w->bad_a);
    if (!from->q) return;
    real largest[LANES], bad_q[LANES];
    gather(w, f->q, from->q, from->q_system, job->b_row, n * n, 0);
    look_at(f->q, n * n, largest, bad_q);
    for (int l = 0; l < LANES; l++) bad[l] += bad_q[l];
}

/* |v - U z| / (|U| |z| + |v|), maximum norms. */
static void residual_of_tridiagonal(const reduction *f, const householder *h, float *residual) {
    real most[LANES], rows[LANES] = { 0 }, z_most[LANES] = { 0 }, v_most[LANES] = { 0 };
    tridiagonal_rest(f, h, f->z, most);
    for (int64_t i = 0; i < f->n; i++) {
        const real *d = h->d + at_row(i), *z = f->z + at_row(i), *v = f->rhs + at_row(i);
        const real *before = i ? h->c + at_row(i - 1) : no_equation;
        const real *after = i + 1 < f->n ? h->c + at_row(i) : no_equation;
        EACH_LANE(l) {
            const real row = real_abs(before[l]) + real_abs(d[l]) + real_abs(after[l]);
            rows[l] = real_max(row, rows[l]);
            z_most[l] = real_max(real_abs(z[l]), z_most[l]);
            v_most[l] = real_max(real_abs(v[l]), v_most[l]);
        }
    }
    for (int l = 0; l < LANES; l++)
        residual[l] = most[l] == 0 ? 0 : (float)(most[l] / real_mad(rows[l], z_most[l], v_most[l]));
}

static void solve_pack(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                       const void *with) {
    const smallsym_parts *from = with;
    pack *p = &w->p;
    const int64_t n = job->n, system = job->b_system * job->nrhs, row = job->b_row * job->nrhs;
    const householder h = householder_in(p->scratch, n);
    const reduction f = reduction_of(p);
    const size_t bytes = (size_t)at_row(n) * sizeof(real);
    const int judged = job->where.residual != NULL;
    int32_t status[LANES] = { 0 };
    float residual[LANES] = { 0 };
    real bad[LANES], largest[LANES];
    load_parts(w, job, from, &h, &f, bad);
    for (int64_t c = 0; c < job->nrhs; c++) {
        int32_t now[LANES] = { 0 };
        float r[LANES] = { 0 };
        int exponent[LANES];
        gather(w, p->b, (const real *)job->b + c, system, row, n, 0);
        look_at(p->b, n, largest, w->bad_b);
        scale(p->b, n, largest, w->p.wide, w->e_b);
        if (from->q)
            multiply_by_q(&f, 1, p->b, f.rhs);
        else
            memcpy(f.rhs, p->b, bytes);
        solve_tridiagonal(&f, &h);
        if (judged) residual_of_tridiagonal(&f, &h, r);
        if (from->q)
            multiply_by_q(&f, 0, f.z, p->x);
        else
            memcpy(p->x, f.z, bytes);
        for (int l = 0; l < w->used; l++) {
            exponent[l] = w->e_b[l] - w->e_a[l];
            now[l] = p->outcome.status[l];
            if (bad[l] != 0 || w->bad_b[l] != 0)
                now[l] = SHOAL_SYSTEM_NONFINITE;
            else if (now[l] >= 0 && !finite_lane(p->x, n, l, exponent[l]))
                now[l] = SHOAL_SYSTEM_OVERFLOW;
            else if (now[l] == SHOAL_SYSTEM_OK && judged && !(r[l] <= job->tol))
                now[l] = SHOAL_SYSTEM_ILL;
            if (now[l] < 0 || !judged) r[l] = (float)NAN;
            status[l] = c ? shoal_worse(status[l], now[l]) : now[l];
            residual[l] = smallsym_larger(residual[l], r[l]);
        }
        scatter(w, p->x, (real *)job->x + c, system, row, n, exponent, now, job->x == job->b);
    }
    for (int l = 0; l < w->used; l++) note(w, job, l, plan->first.row, status[l], residual[l]);
}

static shoal_status run(shoal_smallsym *plan, int what, const smallsym_job *job,
                        const smallsym_arrays *with) {
    return over_packs(plan, job, &with->parts, what == SMALLSYM_REDUCE ? reduce_pack : solve_pack,
                      NULL);
}

const smallsym_stages R(smallsym_stages) = { run };
