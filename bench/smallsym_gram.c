/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_gram.c - the systems of regressions on the bench, gram=M: their samples, and the check of
 * an answer. Shares no line with the library.
 *
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   A x = b
 *
 * psi is a constant and numbers between -1 and 1, y numbers between -1 and 2, hashes of seed, system
 * and place, so that a system is the same in every layout and batch.
 *
 * The check never forms A: b - A x is the mean of psi(m) (y(m) - psi(m)t x), summed in twice the
 * precision of double (numbers.h). Its largest entry over |A| |x| + |b|, where |A| and |b| are sums of the
 * sizes of the products, is what the solver may leave, 10 n units of roundoff, and what the sums that
 * were solved may be off, 70 units (smallsym.h), together.
 */
#include <stdlib.h>

#include "bench/smallsym_check.h"

/* ---- data ------------------------------------------------------------------------------------ */

/* Between 0 and 1. */
static double uniform(uint64_t seed, uint64_t system, uint64_t place) {
    return (double)(bench_hash(seed + 0x9e3779b97f4a7c15u * (system + 1) +
                               0xd1342543de82ef95u * (place + 1)) >>
                    11) *
           0x1p-53;
}

void bench_samples_generate(const bench_problem *p, int64_t count, void *psi, void *y) {
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const int64_t n = p->n, M = p->gram, nrhs = p->nrhs, numbers = M * n;
    for (int64_t k = 0; k < count; k++) {
        for (int64_t e = 0; e < numbers; e++) {
            const double u = uniform(p->seed, (uint64_t)k, (uint64_t)e);
            bench_put_number(p->type, psi, apart ? e * count + k : k * numbers + e,
                             e % n == 0 ? 1 : 2 * u - 1);
        }
        for (int64_t e = 0; e < M * nrhs; e++) {
            const double u = uniform(~p->seed, (uint64_t)k, (uint64_t)e);
            const int64_t m = e / nrhs, row = apart ? m * count + k : k * M + m;
            bench_put_number(p->type, y, row * nrhs + e % nrhs, 3 * u - 1);
        }
    }
}

/* ---- the check ------------------------------------------------------------------------------- */

typedef struct sums { /* over the samples of a system; the factor 1/M is left out everywhere */
    double *r;        /* b - A x                                                             */
    double norm_r, norm_a, norm_b, norm_x;
    bool all_nan; /* x is NaN throughout */
} sums;

static double x_of(const bench_symmetric *v, int64_t k, int64_t c, int64_t i) {
    return bench_get(v, v->x, k * v->b_system + c * v->b_rhs + i * v->b_row);
}

/* y(m) - psi(m)t x, what is lost of it in *low, and the sum of the sizes of psi(m). */
static double misfit(const bench_symmetric *v, int64_t k, int64_t c, int64_t m, double *low,
                     double *size) {
    double high = bench_y(v, k, m, c);
    *low = *size = 0;
    for (int64_t j = 0; j < v->n; j++) {
        const double psi = bench_psi(v, k, m, j);
        subtract_product(&high, low, psi, x_of(v, k, c, j));
        *size += fabs(psi);
    }
    return high;
}

/* False: no memory. */
static bool sum_up(const bench_symmetric *v, int64_t k, int64_t c, sums *s) {
    const size_t n = (size_t)v->n;
    *s = (sums){ .r = calloc(4 * n + 1, sizeof *s->r), .all_nan = true };
    if (!s->r) return false;
    double *low = s->r + n, *row = low + n, *b = row + n;
    for (int64_t m = 0; m < v->samples; m++) {
        double lost, size;
        const double rest = misfit(v, k, c, m, &lost, &size), y = bench_y(v, k, m, c);
        for (int64_t i = 0; i < v->n; i++) {
            const double psi = bench_psi(v, k, m, i);
            subtract_product(&s->r[i], &low[i], -psi, rest);
            low[i] += psi * lost;
            row[i] += fabs(psi) * size;
            b[i] += fabs(psi * y);
        }
    }
    for (int64_t i = 0; i < v->n; i++) {
        const double x = x_of(v, k, c, i);
        s->r[i] += low[i];
        if (!(fabs(s->r[i]) <= s->norm_r) && !isnan(s->norm_r)) s->norm_r = fabs(s->r[i]);
        s->norm_a = fmax(s->norm_a, row[i]), s->norm_b = fmax(s->norm_b, b[i]);
        s->norm_x = fmax(s->norm_x, fabs(x));
        s->all_nan = s->all_nan && isnan(x);
    }
    return true;
}

static double over_sizes(const sums *s) {
    if (!isfinite(s->norm_r) || !isfinite(s->norm_a)) return NAN;
    return bench_backward_error(s->norm_r, s->norm_a, s->norm_x, s->norm_b);
}

bench_finding bench_look_at_samples(const bench_symmetric *v, int64_t k, int64_t c) {
    sums s;
    const bool enough = sum_up(v, k, c, &s);
    const bench_finding found = { .error = enough ? over_sizes(&s) : NAN, .all_nan = s.all_nan };
    free(s.r);
    return found;
}

/* |A r| = |psi (psit r)| / (|A| (|A| |x| + |b|)), less what the discarded eigenvalues may leave, and
 * less what the sums' errors do to the first A in it. */
double bench_truncated_samples(const bench_symmetric *v, int64_t k, int64_t c) {
    const double cond = v->type == SHOAL_F32 ? 1e5 : 1e12;
    double most = 0;
    sums s;
    if (!sum_up(v, k, c, &s)) return NAN;
    const double residual = over_sizes(&s);
    double *product = s.r + v->n; /* A r */
    for (int64_t i = 0; i < v->n; i++) product[i] = 0;
    for (int64_t m = 0; m < v->samples; m++) {
        double along = 0;
        for (int64_t j = 0; j < v->n; j++) along += bench_psi(v, k, m, j) * s.r[j];
        for (int64_t i = 0; i < v->n; i++) product[i] += bench_psi(v, k, m, i) * along;
    }
    for (int64_t i = 0; i < v->n; i++) most = fmax(most, fabs(product[i]));
    const double share = s.norm_r > 0 ? most / s.norm_r / s.norm_a : 0;
    const double size = sqrt((double)v->n); /* of a 2-norm beside a maximum norm */
    free(s.r);
    return residual * (share - size / cond - BENCH_SUM_UNITS * unit_of(v));
}
