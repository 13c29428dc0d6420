/* SPDX-License-Identifier: Apache-2.0
 *
 * eigen.c - the CPU's driver for eigenpairs: packs are filled from any storage or from diagonals,
 * scaled, given to the method's cell, judged and written back; one pack per task, OpenMP threads over
 * packs.
 *
 * An eigenpair is judged as the answer to A x = b with x = v and b = w v:
 *     |A v - w v| / ((|A| + |w|) |v|)   in the maximum norm, the largest of a system's pairs.
 * Bytes moved: one triangle of A, or d and e, and w and V; n^3 multiply-adds per lane for the
 * residual, if it is asked for.
 */
#include "core/vec.h"
#include "smallsym/worker.h"

static void load_diagonals(worker *w, const smallsym_job *job, const smallsym_parts *from) {
    const int64_t n = job->n;
    gather(w, w->p.a, from->d, job->b_system, job->b_row, n, 1);
    if (n > 1) gather(w, w->p.a + at_row(n), from->e, from->e_system, job->b_row, n - 1, 0);
    begin_matrix(w, 2 * n - 1);
}

enum { COLUMNS = 4 }; /* vectors at a time: their rows stay in cache while A goes by */

/* Row i of A v of `columns` vectors from m on, A full or by its diagonals; the sum of the row's sizes. */
static inline __attribute__((always_inline)) vec multiply_row(const pack *p, const int tridiagonal,
                                                              int64_t i, int64_t m, vec *product,
                                                              const int columns) {
    const int64_t n = p->n, begin = tridiagonal && i > 0 ? i - 1 : 0;
    const int64_t end = tridiagonal && i + 1 < n ? i + 2 : n;
    vec sizes = vec_all(0);
    for (int k = 0; k < columns; k++) product[k] = vec_all(0);
    for (int64_t j = begin; j < end; j++) {
        const int64_t at = !tridiagonal ? (j <= i ? at_entry(i, j) : at_entry(j, i))
                           : j == i     ? at_row(i) /* d(i), e(i-1) or e(i) */
                                        : at_row(n + (j < i ? j : i));
        const vec entry = vec_at(p->a + at);
        const real *v = p->v + at_row(j * n + m);
        for (int k = 0; k < columns; k++)
            product[k] = vec_fma(entry, vec_at(v + at_row(k)), product[k]);
        sizes += vec_max(entry, -entry);
    }
    return sizes;
}

/* |A v - w v| and |v| of `columns` vectors from m on, and |A|; bad turns NaN where a number is. */
static inline __attribute__((always_inline)) void measure(const pack *p, int tridiagonal, int64_t m,
                                                          vec *rest, vec *size, vec *norm, vec *bad,
                                                          const int columns) {
    vec product[COLUMNS], most = vec_all(0);
    for (int k = 0; k < columns; k++) rest[k] = size[k] = vec_all(0);
    for (int64_t i = 0; i < p->n; i++) {
        const vec row = tridiagonal ? multiply_row(p, 1, i, m, product, columns)
                                    : multiply_row(p, 0, i, m, product, columns);
        most = vec_max(row, most);
        for (int k = 0; k < columns; k++) {
            const vec v = vec_at(p->v + at_row(i * p->n + m + k)), w = vec_at(p->w + at_row(m + k));
            const vec r = vec_fma(-w, v, product[k]);
            rest[k] = vec_max(vec_max(r, -r), rest[k]);
            *bad += r * 0;
            size[k] = vec_max(vec_max(v, -v), size[k]);
        }
    }
    *norm = most;
}

static void residual_of_pairs(const pack *p, int tridiagonal, float *residual) {
    vec worst = vec_all(0), bad = worst, rest[COLUMNS], size[COLUMNS], norm;
    for (int64_t m = 0, columns; m < p->n; m += columns) {
        columns = p->n - m < COLUMNS ? 1 : COLUMNS;
        if (columns == COLUMNS)
            measure(p, tridiagonal, m, rest, size, &norm, &bad, COLUMNS);
        else
            measure(p, tridiagonal, m, rest, size, &norm, &bad, 1);
        for (int64_t k = 0; k < columns; k++) {
            const vec w = vec_at(p->w + at_row(m + k));
            const vec below = (norm + vec_max(w, -w)) * size[k];
            worst = vec_max(vec_select(rest[k] == 0, vec_all(0), rest[k] / below), worst);
        }
    }
    worst += bad;
    for (int l = 0; l < LANES; l++) residual[l] = (float)worst[l];
}

/* Status of each lane, and its eigenvalues with their scale; one that leaves the range of numbers
 * there has overflowed. */
static void judge(worker *w, const smallsym_job *job, int32_t *status, float *residual) {
    pack *p = &w->p;
    for (int l = 0; l < w->used; l++) {
        real bad = 0;
        for (int64_t m = 0; m < p->n; m++) {
            real *value = &p->w[at_row(m) + l];
            *value = (real)ldexp((double)*value, w->e_a[l]);
            bad += *value * 0;
        }
        status[l] = SHOAL_SYSTEM_OK;
        if (w->bad_a[l] != 0)
            status[l] = SHOAL_SYSTEM_NONFINITE;
        else if (bad != 0)
            status[l] = SHOAL_SYSTEM_OVERFLOW;
        else if (job->where.residual && !(residual[l] <= job->tol))
            status[l] = SHOAL_SYSTEM_ILL;
        if (status[l] < 0 || !job->where.residual) residual[l] = (float)NAN;
    }
}

static void run_pack(worker *w, const shoal_smallsym *plan, const smallsym_job *job,
                     const void *with) {
    const smallsym_parts *to = with;
    const smallsym_cpu_method *method = plan->eigen.cell;
    const int tridiagonal = !job->A;
    int32_t status[LANES] = { 0 };
    float residual[LANES] = { 0 };
    if (job->n == 0) {
        begin_matrix(w, 0);
    } else {
        if (tridiagonal)
            load_diagonals(w, job, to);
        else
            load_matrix(w, job);
        method->eigen(&w->p, plan->eigen.variant, tridiagonal, to->q || job->where.residual);
        if (job->where.residual) residual_of_pairs(&w->p, tridiagonal, residual);
        judge(w, job, status, residual);
        scatter(w, w->p.w, to->w, job->b_system, job->b_row, job->n, NULL, status, 0);
        if (to->q)
            scatter(w, w->p.v, to->q, to->q_system, job->b_row, job->n * job->n, NULL, status, 0);
    }
    for (int l = 0; l < w->used; l++) note(w, job, l, plan->eigen.row, status[l], residual[l]);
}

shoal_status R(smallsym_eigen)(shoal_smallsym *plan, const smallsym_job *job,
                               const smallsym_parts *to) {
    return over_packs(plan, job, to, run_pack, NULL);
}
