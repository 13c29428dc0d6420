/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_stages.c - the stages of hhpcr on the bench: d, e and Q of the same families as everywhere,
 * found by reflections in double and rounded to the problem's type, and the check of a reduction.
 * Shares no line with the library.
 *
 * A = Q U Qt passes if |A - Q U Qt| / |A| and |Qt Q - I| are at most 10 n units of roundoff, sums in
 * twice the precision of double (Q U is rounded to double: one unit of that). An answer x of stage=pcr
 * is checked as any answer to A x = b: what rounding d, e and Q did to A is a few units of roundoff.
 */
#include "bench/smallsym_check.h"

#include <stdlib.h>
#include <string.h>

bench_parts bench_parts_of(const bench_arrays *data, const void *array) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    return (bench_parts){ .d = array,
                          .e = (const char *)array + bench_systems_second(&data->problem),
                          .q = (const char *)array + bench_systems_third(&data->problem),
                          .next = apart ? p->count : 1,
                          .d_system = apart ? 1 : p->n,
                          .e_system = apart ? 1 : p->n - 1,
                          .q_system = apart ? 1 : p->n * p->n };
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Numbers of `from` to every copy of system k: `numbers` of them, those of the next system `system`
 * further on. */
static void put_copies(const bench_arrays *data, void *array, int64_t k, int64_t system,
                       int64_t numbers, const double *from) {
    const bench_problem *p = &data->problem;
    const int64_t next = p->layout == SHOAL_INTERLEAVED ? p->count : 1;
    for (; k < p->count; k += bench_systems_distinct(p))
        for (int64_t i = 0; i < numbers; i++)
            bench_put_number(p->type, array, k * system + i * next, from[i]);
}

static void fill_systems(bench_arrays *data, const void *rhs, double *room) {
    const bench_problem *p = &data->problem;
    const int64_t n = p->n, nrhs = p->nrhs;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const bench_parts at = bench_parts_of(data, data->host[0]);
    double *a = room, *q = a + n * n, *d = q + n * n, *e = d + n, *v = e + n, *w = v + n;
    for (int64_t k = 0; k < bench_systems_distinct(p); k++) {
        for (int64_t i = 0; i < n * n; i++)
            a[i] = bench_number(p->type, data->host[BENCH_SMALLSYM_MATRIX], k * n * n + i);
        bench_reduce(a, n, d, e, q, v, w);
        put_copies(data, (void *)at.d, k, at.d_system, n, d);
        put_copies(data, (void *)at.e, k, at.e_system, n - 1, e);
        put_copies(data, (void *)at.q, k, at.q_system, n * n, q);
    }
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = 0; c < nrhs; c++) {
                const int64_t from = (k % bench_systems_distinct(p) * n + i) * nrhs + c;
                bench_put_number(p->type, data->host[1],
                                 (apart ? i * p->count + k : k * n + i) * nrhs + c,
                                 bench_number(p->type, rhs, from));
            }
}

shoal_status bench_parts_fill(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t n = (size_t)p->n, few = (size_t)bench_systems_distinct(p);
    const size_t number = bench_number_size(p);
    memset(data->host[0], 0, data->size[0]);
    if (n == 0 || few == 0) return SHOAL_OK;
    const shoal_smallsym_opts shape = {
        .n = p->n, .count = (int64_t)few, .nrhs = p->nrhs, .type = p->type
    };
    shoal_context *ctx = data->place->ctx;
    void *A = malloc(few * n * n * number), *b = malloc(few * n * (size_t)p->nrhs * number);
    double *room = malloc((2 * n * n + 4 * n) * sizeof *room);
    shoal_status status = A && b && room ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status =
            p->type == SHOAL_F32
                ? shoal_smallsym_generatef(ctx, p->kind, p->parameter, p->seed, 0, &shape, A, b)
                : shoal_smallsym_generate(ctx, p->kind, p->parameter, p->seed, 0, &shape, A, b);
    data->host[BENCH_SMALLSYM_MATRIX] = A;
    if (status == SHOAL_OK) fill_systems(data, b, room);
    free(b);
    free(room);
    return status;
}

/* ---- the check ------------------------------------------------------------------------------- */

static double q_of(const bench_symmetric *v, const bench_parts *p, int64_t k, int64_t i,
                   int64_t j) {
    return bench_get(v, p->q, k * p->q_system + (i * v->n + j) * p->next);
}

static bool all_nan(const bench_symmetric *v, const bench_parts *p, int64_t k) {
    for (int64_t i = 0; i < v->n; i++) {
        if (!isnan(bench_get(v, p->d, k * p->d_system + i * p->next))) return false;
        if (i > 0 && !isnan(bench_get(v, p->e, k * p->e_system + (i - 1) * p->next))) return false;
        for (int64_t j = 0; j < v->n; j++)
            if (!isnan(q_of(v, p, k, i, j))) return false;
    }
    return true;
}

/* (Q U)(i,j). */
static double qu_of(const bench_symmetric *v, const bench_parts *p, int64_t k, int64_t i,
                    int64_t j) {
    double high = 0, low = 0;
    const double d = bench_get(v, p->d, k * p->d_system + j * p->next);
    subtract_product(&high, &low, -q_of(v, p, k, i, j), d);
    if (j > 0)
        subtract_product(&high, &low, -q_of(v, p, k, i, j - 1),
                         bench_get(v, p->e, k * p->e_system + (j - 1) * p->next));
    if (j + 1 < v->n)
        subtract_product(&high, &low, -q_of(v, p, k, i, j + 1),
                         bench_get(v, p->e, k * p->e_system + j * p->next));
    return high + low;
}

/* The larger of |A - Q U Qt| over |A|, entries over the largest row sum, and |Qt Q - I|. Where A is
 * next to the least numbers, half of the least is no fault of a number of U. */
static bench_finding look_at_reduction(const bench_symmetric *v, const bench_parts *p, int64_t k) {
    const int64_t n = v->n;
    const double least = bench_smallest(v->type);
    bench_finding f = { .all_nan = all_nan(v, p, k) };
    const double norm = bench_symmetric_norm(v, k);
    double off = 0;
    double *row = malloc((size_t)(n > 0 ? n : 1) * sizeof *row);
    for (int64_t i = 0; i < n && row; i++) {
        for (int64_t j = 0; j < n; j++) row[j] = qu_of(v, p, k, i, j);
        for (int64_t j = 0; j <= i; j++) {
            double high = bench_symmetric_entry(v, k, i, j), low = 0;
            double product = i == j, rest = 0;
            for (int64_t m = 0; m < n; m++) {
                subtract_product(&high, &low, row[m], q_of(v, p, k, j, m));
                subtract_product(&product, &rest, q_of(v, p, k, m, i), q_of(v, p, k, m, j));
            }
            if (!isfinite(high + low) || !isfinite(product + rest)) f.error = NAN;
            off = fmax(off, fabs(high + low) - 2 * (double)n * least);
            if (!isnan(f.error)) f.error = fmax(f.error, fabs(product + rest));
        }
    }
    if (!row) f.error = NAN;
    if (!isnan(f.error) && off > 0) f.error = fmax(f.error, off / norm);
    free(row);
    return f;
}

typedef struct answer { /* to be checked */
    const bench_symmetric *view;
    const bench_parts *parts;
    const bench_reported *reported;
} answer;

static bench_finding look_at_system(const void *of, int64_t k) {
    const answer *a = of;
    const int32_t status = a->reported->status ? a->reported->status[k] : SHOAL_SYSTEM_OK;
    bench_finding f = look_at_reduction(a->view, a->parts, k);
    f.fault = bench_status_fault(status);
    if (f.fault) return f;
    if (status < 0)
        f.fault = f.all_nan ? NULL : "no answer, but d, e and Q are not all NaN";
    else if (isnan(f.error))
        f.fault = "d, e or Q is not finite";
    else if (f.error > tolerance_of(a->view))
        f.fault = "Q U Qt is not A, or Q not orthogonal";
    return f;
}

void bench_reduction_check(const bench_symmetric *v, const bench_parts *p,
                           const bench_reported *reported, int threads, bench_check *check) {
    static const bench_reported nothing;
    const answer a = { v, p, reported ? reported : &nothing };
    const double n = (double)v->n;
    bench_check_systems(v, a.reported, n * n * (n + 3), threads, "error", look_at_system, &a,
                        check);
}
