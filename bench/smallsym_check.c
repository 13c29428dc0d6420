/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_check.c - is an answer right? Shares no line with the library.
 *
 * For each system and right-hand side the normwise backward error
 *
 *     max_i |b_i - sum_j A_ij x_j| / (|A| |x| + |b|),   maximum norms, |A| the largest row sum,
 *
 * is computed in twice the precision of double (numbers.h). An answer passes at 10 n units of
 * roundoff. More than MAX_NUMBERS products are sampled: every stride-th system, the first and last
 * among them; the stride is odd, because the systems of a large batch repeat.
 *
 * Wrong is what the solver did not own up to, as in tridiag.c: a column of NaN under a status
 * below 0 and a large residual under SHOAL_SYSTEM_ILL do not pass, but are not wrong. A truncated
 * answer, SHOAL_SYSTEM_TRUNCATED, passes if its residual r lies in the space of the eigenvalues that
 * were discarded, those below |A| / cond: |A r| / |A| is no larger than a residual may be, and
 * |r| / cond.
 *
 * Eigenpairs pass if |A v - w v| / (|A| |v|) and |Vt V - I| are no larger than that, too; values found
 * without vectors if they are as near, over |A|, to those of such pairs. A value below the normal
 * numbers is a multiple of the least one: half of that, times |v|, is no fault of the solver.
 *
 * Regressions: the check never forms A. b - A x is the mean of psi(m) (y(m) - psi(m)t x). Its largest entry over
 * |A| |x| + |b|, where |A| and |b| are sums of the sizes of the products, may be what the solver may leave,
 * 10 n units of roundoff, and what the sums that were solved may be off, 70 units, together.
 *
 * A reduction A = Q U Qt passes if |A - Q U Qt| / |A| and |Qt Q - I| are at most 10 n units of roundoff (Q U is
 * rounded to double: one unit of that). An answer x of stage=pcr is checked as any answer to A x = b: what
 * rounding d, e and Q did to A is a few units of roundoff.
 */
#include "bench/smallsym.h"

#include <stdlib.h>

#include "bench/numbers.h"

static const int64_t MAX_NUMBERS = (int64_t)1 << 26;

static double bench_get(const bench_symmetric *v, const void *array, int64_t at) {
    return bench_number(v->type, array, at);
}

static double unit_of(const bench_symmetric *v) { return bench_epsilon(v->type); }

/* What a solver may leave of A x = b. */
static double solver_tolerance_of(const bench_symmetric *v) {
    return 10 * (double)(v->n > 0 ? v->n : 1) * unit_of(v);
}

/* Of regressions, A and b themselves may be off by so many units of roundoff of the sums of sizes. */
enum { BENCH_SUM_UNITS = 70 };

static double tolerance_of(const bench_symmetric *v) {
    return solver_tolerance_of(v) + (v->samples ? BENCH_SUM_UNITS * unit_of(v) : 0);
}

/* Number i of psi(m), and y(m) of right-hand side c, of system k. */
static double bench_psi(const bench_symmetric *v, int64_t k, int64_t m, int64_t i) {
    return bench_get(v, v->A, k * v->system + (m * v->n + i) * v->entry);
}

static double bench_y(const bench_symmetric *v, int64_t k, int64_t m, int64_t c) {
    return bench_get(v, v->b, k * v->y_system + m * v->y_row + c * v->b_rhs);
}

double bench_symmetric_entry(const bench_symmetric *v, int64_t k, int64_t i, int64_t j) {
    const int64_t high = i > j ? i : j, low = i > j ? j : i; /* of the lower triangle's rows */
    if (v->distinct) k %= v->distinct;
    if (v->below && high - low > 1) return 0;
    if (v->below && high > low) return bench_get(v, v->below, k * v->below_system + low * v->entry);
    if (v->below) return bench_get(v, v->A, k * v->system + low * v->entry);
    int64_t at = v->upper ? low * v->n + high : high * v->n + low;
    if (v->packed)
        at = v->upper ? low * v->n - low * (low - 1) / 2 + high - low : high * (high + 1) / 2 + low;
    return bench_get(v, v->A, k * v->system + at * v->entry);
}

static double norm_of(const bench_symmetric *v, int64_t k) {
    double norm = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < v->n; j++) sum += fabs(bench_symmetric_entry(v, k, i, j));
        norm = fmax(norm, sum);
    }
    return norm;
}

static const char *status_fault(int32_t status) {
    const bool exists = status <= SHOAL_SYSTEM_REFINED && status >= SHOAL_SYSTEM_OVERFLOW;
    return exists ? NULL : "status has a value that does not exist";
}

/* ---- regressions ----------------------------------------------------------------------------- */

/* Of b - A x, A, x and b; of regressions without the factor 1/M. */
typedef struct norms {
    double r, a, x, b;
    bool finite, all_nan; /* all_nan: x */
} norms;

static double error_of(const norms *s) {
    return s->finite ? bench_backward_error(s->r, s->a, s->x, s->b) : NAN;
}

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

/* `room` has 4 n numbers of 0; the first n become b - A x. */
static norms norms_of_samples(const bench_symmetric *v, int64_t k, int64_t c, double *room) {
    const size_t n = (size_t)v->n;
    norms s = { .all_nan = true };
    double *r = room, *low = r + n, *row = low + n, *b = row + n;
    for (int64_t m = 0; m < v->samples; m++) {
        double lost, size;
        const double rest = misfit(v, k, c, m, &lost, &size), y = bench_y(v, k, m, c);
        for (int64_t i = 0; i < v->n; i++) {
            const double psi = bench_psi(v, k, m, i);
            subtract_product(&r[i], &low[i], -psi, rest);
            low[i] += psi * lost;
            row[i] += fabs(psi) * size;
            b[i] += fabs(psi * y);
        }
    }
    for (int64_t i = 0; i < v->n; i++) {
        const double x = x_of(v, k, c, i);
        r[i] += low[i];
        if (!(fabs(r[i]) <= s.r) && !isnan(s.r)) s.r = fabs(r[i]);
        s.a = fmax(s.a, row[i]), s.b = fmax(s.b, b[i]), s.x = fmax(s.x, fabs(x));
        s.all_nan = s.all_nan && isnan(x);
    }
    s.finite = isfinite(s.r) && isfinite(s.a);
    return s;
}

/* |A r| = |psi (psit r)| / (|A| (|A| |x| + |b|)), less what the discarded eigenvalues may leave, and
 * less what the sums' errors do to the first A in it. */
static double truncated_samples(const bench_symmetric *v, int64_t k, int64_t c) {
    const double cond = v->type == SHOAL_F32 ? 1e5 : 1e12;
    double *r = calloc(4 * (size_t)v->n + 1, sizeof *r), largest = 0;
    if (!r) return NAN;
    const norms s = norms_of_samples(v, k, c, r);
    double *product = r + v->n; /* A r */
    for (int64_t i = 0; i < v->n; i++) product[i] = 0;
    for (int64_t m = 0; m < v->samples; m++) {
        double along = 0;
        for (int64_t j = 0; j < v->n; j++) along += bench_psi(v, k, m, j) * r[j];
        for (int64_t i = 0; i < v->n; i++) product[i] += bench_psi(v, k, m, i) * along;
    }
    for (int64_t i = 0; i < v->n; i++) largest = fmax(largest, fabs(product[i]));
    const double share = s.r > 0 ? largest / s.r / s.a : 0;
    const double size = sqrt((double)v->n); /* of a 2-norm beside a maximum norm */
    free(r);
    return error_of(&s) * (share - size / cond - BENCH_SUM_UNITS * unit_of(v));
}

/* ---- answers --------------------------------------------------------------------------------- */

/* r, NULL or n numbers, becomes b - A x. */
static norms norms_of_system(const bench_symmetric *v, int64_t k, int64_t c, double *r) {
    const int64_t first = k * v->b_system + c * v->b_rhs;
    norms s = { .finite = true, .all_nan = true };
    for (int64_t i = 0; i < v->n; i++) {
        const double b = bench_get(v, v->b, first + i * v->b_row);
        const double x = bench_get(v, v->x, first + i * v->b_row);
        double high = b, low = 0, sum = 0;
        for (int64_t j = 0; j < v->n; j++) {
            const double a = bench_symmetric_entry(v, k, i, j);
            subtract_product(&high, &low, a, bench_get(v, v->x, first + j * v->b_row));
            sum += fabs(a);
        }
        const double row = high + low;
        if (r) r[i] = row;
        s.finite = s.finite && isfinite(row) && isfinite(sum);
        s.all_nan = s.all_nan && isnan(x);
        s.r = fmax(s.r, fabs(row)), s.a = fmax(s.a, sum);
        s.x = fmax(s.x, fabs(x)), s.b = fmax(s.b, fabs(b));
    }
    return s;
}

static bench_finding look_at(const bench_symmetric *v, int64_t k, int64_t c) {
    double *room = v->samples ? calloc(4 * (size_t)v->n + 1, sizeof *room) : NULL;
    norms s = { .all_nan = true };
    if (!v->samples)
        s = norms_of_system(v, k, c, NULL);
    else if (room)
        s = norms_of_samples(v, k, c, room);
    free(room);
    return (bench_finding){ .error = error_of(&s), .all_nan = s.all_nan };
}

/* The same of r = b - A x in the place of b and nothing in that of x: |A r| / (|A| (|A| |x| + |b|)),
 * less |r| / (cond (|A| |x| + |b|)); below 0, or small, if x is an answer of least squares. */
static double look_at_truncated(const bench_symmetric *v, int64_t k, int64_t c, double residual) {
    if (v->samples) return truncated_samples(v, k, c);
    const int64_t n = v->n;
    const double cond = v->type == SHOAL_F32 ? 1e5 : 1e12;
    double *r = malloc((size_t)(n + 1) * sizeof *r), largest = 0;
    if (!r) return NAN;
    const norms s = norms_of_system(v, k, c, r);
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += bench_symmetric_entry(v, k, i, j) * r[j];
        largest = fmax(largest, fabs(sum));
    }
    free(r);
    const double size = sqrt((double)n); /* of a 2-norm beside a maximum norm */
    return s.r == 0 ? 0 : residual * (largest / s.r / s.a - size / cond);
}

double bench_smallsym_backward(const bench_symmetric *v, int64_t k) {
    return look_at(v, k, 0).error;
}

/* Whether the solver's own residual, n + 1 operations per row in its precision, is the one found. Of
 * regressions it is that of the A and b that were formed, which the check does not have: it is small. */
static bool agrees(const bench_symmetric *v, const bench_finding *f, double residual, int status) {
    const double slack = (double)(v->n + 2) * unit_of(v);
    if (!v->samples) return fabs(residual - f->error) <= 0.5 * f->error + slack;
    const bool small = status == SHOAL_SYSTEM_OK || status == SHOAL_SYSTEM_REFINED;
    return residual >= 0 && (!small || residual <= solver_tolerance_of(v));
}

/* NULL, or what is wrong with system k. What the status reports is counted elsewhere. */
static const char *fault_of(const bench_symmetric *v, const bench_finding *f,
                            const bench_reported *reported, int64_t k) {
    const int32_t status = reported->status ? reported->status[k] : SHOAL_SYSTEM_OK;
    const bool failed = status < 0, truncated = status == SHOAL_SYSTEM_TRUNCATED;
    if (status_fault(status)) return status_fault(status);
    if (failed && (!f->all_nan || isnan(f->error))) return "no answer, but x is not all NaN";
    if (isnan(f->error)) return "x is not finite";
    if (f->error > tolerance_of(v) && !truncated && status != SHOAL_SYSTEM_ILL)
        return "the residual is too large";
    for (int64_t c = 0; c < v->nrhs && truncated; c++)
        if (!(look_at_truncated(v, k, c, look_at(v, k, c).error) <= tolerance_of(v)))
            return "truncated, but not the answer of least squares";
    if (failed) return NULL;
    if (reported->residual && !agrees(v, f, reported->residual[k], status))
        return "the solver reports another residual";
    if (reported->rcond && !(reported->rcond[k] >= 0 && reported->rcond[k] <= 1))
        return "rcond is not between 0 and 1";
    return NULL;
}

typedef struct answer { /* to be checked */
    const bench_symmetric *view;
    const bench_reported *reported;
} answer;

/* The worst over the right-hand sides; of a system that failed, over those that are answered. */
static bench_finding look_at_system(const void *of, int64_t k) {
    const answer *a = of;
    const int32_t status = a->reported->status ? a->reported->status[k] : SHOAL_SYSTEM_OK;
    bench_finding worst = { .truncated = status == SHOAL_SYSTEM_TRUNCATED };
    for (int64_t c = 0; c < a->view->nrhs; c++) {
        const bench_finding one = look_at(a->view, k, c);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (status < 0 && one.all_nan) continue;
        if (!(one.error <= worst.error) && !isnan(worst.error)) worst.error = one.error;
    }
    worst.fault = fault_of(a->view, &worst, a->reported, k);
    return worst;
}

/* ---- eigenpairs ------------------------------------------------------------------------------ */

typedef struct pair_finding { /* about the pairs of one matrix                               */
    double error;             /* NaN: w does not ascend, or a number is not finite           */
    double residual;          /* as the solver reports it: over |A| + |w|                    */
    double rounding;          /* of values below the normal numbers, over |A|                */
    bool all_nan;             /* w, V and the values found alone are NaN throughout          */
} pair_finding;

static double value_of(const bench_symmetric *v, const bench_pairs *p, int64_t k, int64_t m) {
    return bench_get(v, p->w, k * p->w_system + m * p->w_row);
}

static double component_of(const bench_symmetric *v, const bench_pairs *p, int64_t k, int64_t m,
                           int64_t i) {
    return bench_get(v, p->V, k * p->v_system + m * p->v_vector + i * p->v_component);
}

static bool all_nan(const bench_symmetric *v, const bench_pairs *p, int64_t k) {
    for (int64_t m = 0; m < v->n; m++) {
        if (!isnan(value_of(v, p, k, m))) return false;
        if (p->alone && !isnan(bench_get(v, p->alone, k * p->w_system + m * p->w_row)))
            return false;
        for (int64_t i = 0; i < v->n; i++)
            if (!isnan(component_of(v, p, k, m, i))) return false;
    }
    return true;
}

/* |A v - w v| in the maximum norm, and |v|; NaN if a number is not finite. */
static double pair_rest(const bench_symmetric *v, const bench_pairs *p, int64_t k, int64_t m,
                        double *size) {
    const double value = value_of(v, p, k, m);
    double rest = 0;
    *size = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double high = 0, low = 0;
        for (int64_t j = 0; j < v->n; j++)
            subtract_product(&high, &low, bench_symmetric_entry(v, k, i, j),
                             component_of(v, p, k, m, j));
        subtract_product(&high, &low, -value, component_of(v, p, k, m, i));
        if (!isfinite(high + low)) return NAN;
        rest = fmax(rest, fabs(high + low));
        *size = fmax(*size, fabs(component_of(v, p, k, m, i)));
    }
    return rest;
}

/* The worst of |A v - w v| / (|A| |v|) in the maximum norm, of |Vt V - I| and of the distance of
 * values found alone over |A|. */
static pair_finding look_at_pairs(const bench_symmetric *v, const bench_pairs *p, int64_t k) {
    const double norm = norm_of(v, k), smallest = bench_smallest(v->type);
    pair_finding f = { .rounding = norm > 0 ? smallest / norm : 0 };
    f.all_nan = all_nan(v, p, k);
    for (int64_t m = 0; m < v->n; m++) {
        const double value = value_of(v, p, k, m);
        double size, rest = pair_rest(v, p, k, m, &size);
        if (isnan(rest) || (m > 0 && !(value_of(v, p, k, m - 1) <= value))) {
            f.error = f.residual = NAN;
            return f;
        }
        rest -= smallest / 2 * size;
        if (rest > 0) {
            f.error = fmax(f.error, rest / (norm * size));
            f.residual = fmax(f.residual, rest / ((norm + fabs(value)) * size));
        }
        for (int64_t other = 0; other <= m; other++) {
            double high = other == m ? 1 : 0, low = 0;
            for (int64_t i = 0; i < v->n; i++)
                subtract_product(&high, &low, component_of(v, p, k, m, i),
                                 component_of(v, p, k, other, i));
            f.error = fmax(f.error, fabs(high + low));
        }
        if (!p->alone) continue;
        const double off =
            fabs(bench_get(v, p->alone, k * p->w_system + m * p->w_row) - value) - smallest;
        if (!(off <= 0)) f.error = isfinite(off) ? fmax(f.error, off / norm) : INFINITY;
    }
    return f;
}

static const char *pair_fault(const bench_symmetric *v, const pair_finding *f,
                              const bench_reported *reported, int64_t k) {
    const int32_t status = reported->status ? reported->status[k] : SHOAL_SYSTEM_OK;
    const double slack = (double)(v->n + 2) * unit_of(v) + f->rounding;
    if (status_fault(status)) return status_fault(status);
    if (status < 0) return f->all_nan ? NULL : "no answer, but w and V are not all NaN";
    if (isnan(f->error)) return "w does not ascend, or the pairs are not finite";
    if (f->error > tolerance_of(v) && status != SHOAL_SYSTEM_ILL) return "no eigenpairs of A";
    if (reported->residual &&
        !(fabs(reported->residual[k] - f->residual) <= 0.5 * f->residual + slack))
        return "the solver reports another residual";
    if (reported->rcond && !(reported->rcond[k] >= 0 && reported->rcond[k] <= 1))
        return "rcond is not between 0 and 1";
    return NULL;
}

static bench_finding look_at_eigenpairs(const void *of, int64_t k) {
    const answer *a = of;
    const pair_finding f = look_at_pairs(a->view, a->view->pairs, k);
    return (bench_finding){ .error = f.error, .fault = pair_fault(a->view, &f, a->reported, k) };
}

/* ---- reductions ------------------------------------------------------------------------------ */

static double q_of(const bench_symmetric *v, const bench_parts *p, int64_t k, int64_t i,
                   int64_t j) {
    return bench_get(v, p->q, k * p->q_system + (i * v->n + j) * p->next);
}

static bool parts_all_nan(const bench_symmetric *v, const bench_parts *p, int64_t k) {
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
    const double smallest = bench_smallest(v->type);
    bench_finding f = { .all_nan = parts_all_nan(v, p, k) };
    const double norm = norm_of(v, k);
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
            off = fmax(off, fabs(high + low) - 2 * (double)n * smallest);
            if (!isnan(f.error)) f.error = fmax(f.error, fabs(product + rest));
        }
    }
    if (!row) f.error = NAN;
    if (!isnan(f.error) && off > 0) f.error = fmax(f.error, off / norm);
    free(row);
    return f;
}

static bench_finding look_at_stage(const void *of, int64_t k) {
    const answer *a = of;
    const int32_t status = a->reported->status ? a->reported->status[k] : SHOAL_SYSTEM_OK;
    bench_finding f = look_at_reduction(a->view, a->view->parts, k);
    f.fault = status_fault(status);
    if (f.fault) return f;
    if (status < 0)
        f.fault = f.all_nan ? NULL : "no answer, but d, e and Q are not all NaN";
    else if (isnan(f.error))
        f.fault = "d, e or Q is not finite";
    else if (f.error > tolerance_of(a->view))
        f.fault = "Q U Qt is not A, or Q not orthogonal";
    return f;
}

void bench_smallsym_check(const bench_symmetric *v, const bench_reported *reported, int threads,
                          bench_check *check) {
    static const bench_reported nothing;
    const answer a = { .view = v, .reported = reported ? reported : &nothing };
    const double n = (double)v->n, rows = v->samples ? 2 * (double)v->samples : n;
    const double products = v->parts   ? n * n * (n + 3)
                            : v->pairs ? 1.5 * n * n * n
                                       : rows * n * (double)v->nrhs;
    const double affordable = fmax((double)MAX_NUMBERS / fmax(products, 1), 2);
    int64_t stride = (int64_t)ceil((double)v->count / affordable);
    stride = stride > 1 ? stride | 1 : 1;
    bench_check_sample(
        &(bench_sample){ .count = v->count,
                         .checked = v->count > 0 ? (v->count - 1 + stride - 1) / stride + 1 : 0,
                         .stride = stride,
                         .threads = threads,
                         .stop = v->stop,
                         .status = a.reported->status,
                         .tolerance = tolerance_of(v),
                         .error_name = v->parts || v->pairs ? "error" : "residual",
                         .look = v->parts   ? look_at_stage
                                 : v->pairs ? look_at_eigenpairs
                                            : look_at_system,
                         .of = &a },
        check);
}
