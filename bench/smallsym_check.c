/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_check.c - is an answer right? Shares no line with the library.
 *
 * For each system and right-hand side the normwise backward error
 *
 *     max_i |b_i - sum_j A_ij x_j| / (|A| |x| + |b|),   maximum norms, |A| the largest row sum,
 *
 * is computed in twice the precision of double (twice.h). An answer passes at 10 n units of
 * roundoff. More than MAX_NUMBERS products are sampled: every stride-th system, the first and last
 * among them; the stride is odd, because the systems of a large batch repeat.
 *
 * Wrong is what the solver did not own up to, as in tridiag_check.c: a column of NaN under a status
 * below 0 and a large residual under SHOAL_SYSTEM_ILL do not pass, but are not wrong. A truncated
 * answer, SHOAL_SYSTEM_TRUNCATED, passes if its residual r lies in the space of the eigenvalues that
 * were discarded, those below |A| / cond: |A r| / |A| is no larger than a residual may be, and
 * |r| / cond.
 *
 * Eigenpairs pass if |A v - w v| / (|A| |v|) and |Vt V - I| are no larger than that, too; values found
 * without vectors if they are as near, over |A|, to those of such pairs. A value below the normal
 * numbers is a multiple of the least one: half of that, times |v|, is no fault of the solver.
 */
#include "bench/smallsym_check.h"

#include <stdlib.h>

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

static bench_finding look_at(const bench_symmetric *v, int64_t k, int64_t c) {
    if (v->samples) return bench_look_at_samples(v, k, c);
    const int64_t first = k * v->b_system + c * v->b_rhs;
    double r = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    bench_finding found = { .all_nan = true };
    bool finite = true;
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
        finite = finite && isfinite(row) && isfinite(sum);
        found.all_nan = found.all_nan && isnan(x);
        r = fmax(r, fabs(row));
        norm_a = fmax(norm_a, sum);
        norm_x = fmax(norm_x, fabs(x));
        norm_b = fmax(norm_b, fabs(b));
    }
    const double scale = fmax(norm_x, 1); /* |A| |x| may overflow where |A| does not */
    const double below = norm_x > 1 ? norm_a + norm_b / norm_x : norm_a * norm_x + norm_b;
    found.residual = !finite ? NAN : r == 0 ? 0 : r / scale / below;
    return found;
}

/* The same of r = b - A x in the place of b and nothing in that of x: |A r| / (|A| (|A| |x| + |b|)),
 * less |r| / (cond (|A| |x| + |b|)); below 0, or small, where x is an answer of least squares. */
static double look_at_truncated(const bench_symmetric *v, int64_t k, int64_t c, double residual) {
    if (v->samples) return bench_truncated_samples(v, k, c);
    const int64_t n = v->n, first = k * v->b_system + c * v->b_rhs;
    const double cond = v->type == SHOAL_F32 ? 1e5 : 1e12;
    double *r = malloc((size_t)(n + 1) * sizeof *r), most = 0, norm_a = 0, norm_r = 0;
    if (!r) return NAN;
    for (int64_t i = 0; i < n; i++) {
        double high = bench_get(v, v->b, first + i * v->b_row), low = 0, sum = 0;
        for (int64_t j = 0; j < n; j++) {
            const double a = bench_symmetric_entry(v, k, i, j);
            subtract_product(&high, &low, a, bench_get(v, v->x, first + j * v->b_row));
            sum += fabs(a);
        }
        r[i] = high + low;
        norm_r = fmax(norm_r, fabs(r[i])), norm_a = fmax(norm_a, sum);
    }
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += bench_symmetric_entry(v, k, i, j) * r[j];
        most = fmax(most, fabs(sum));
    }
    free(r);
    const double size = sqrt((double)n); /* of a 2-norm beside a maximum norm */
    return norm_r == 0 ? 0 : residual * (most / norm_r / norm_a - size / cond);
}

/* The worst over the right-hand sides; of a system that `failed`, over those that are answered. */
static bench_finding look_at_system(const bench_symmetric *v, int64_t k, bool failed) {
    bench_finding worst = { .residual = 0 };
    for (int64_t c = 0; c < v->nrhs; c++) {
        bench_finding one = look_at(v, k, c);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (failed && one.all_nan) continue;
        if (!(one.residual <= worst.residual) && !isnan(worst.residual))
            worst.residual = one.residual;
    }
    return worst;
}

double bench_smallsym_backward(const bench_symmetric *v, int64_t k) {
    return look_at(v, k, 0).residual;
}

/* Whether the solver's own residual, n + 1 operations a row in its precision, is the one found. Of
 * regressions it is that of the A and b that were formed, which nobody else knows: it is small. */
static bool fits(const bench_symmetric *v, const bench_finding *f, double reported, int status) {
    const double slack = (double)(v->n + 2) * unit_of(v);
    if (!v->samples) return fabs(reported - f->residual) <= 0.5 * f->residual + slack;
    const bool small = status == SHOAL_SYSTEM_OK || status == SHOAL_SYSTEM_REFINED;
    return reported >= 0 && (!small || reported <= solver_tolerance_of(v));
}

/* NULL, or what is wrong with system k. What the status owns up to is counted elsewhere. */
static const char *verdict(const bench_symmetric *v, const bench_finding *f, const bench_word *word,
                           int64_t k) {
    const int32_t status = word->status ? word->status[k] : SHOAL_SYSTEM_OK;
    const bool failed = status < 0, truncated = status == SHOAL_SYSTEM_TRUNCATED;
    if (status > SHOAL_SYSTEM_REFINED || status < SHOAL_SYSTEM_OVERFLOW)
        return "status has a value that does not exist";
    if (failed && !f->all_nan) return "no answer, but x is not all NaN";
    if (isnan(f->residual)) return failed ? "no answer, but x is not all NaN" : "x is not finite";
    if (f->residual > tolerance_of(v) && !truncated && status != SHOAL_SYSTEM_ILL)
        return "the residual is too large";
    for (int64_t c = 0; c < v->nrhs && truncated; c++)
        if (!(look_at_truncated(v, k, c, look_at(v, k, c).residual) <= tolerance_of(v)))
            return "truncated, but not the answer of least squares";
    if (failed) return NULL;
    if (word->residual && !fits(v, f, word->residual[k], status))
        return "the solver reports another residual";
    if (word->rcond && !(word->rcond[k] >= 0 && word->rcond[k] <= 1))
        return "rcond is not between 0 and 1";
    return NULL;
}

static void explain(const bench_symmetric *v, const bench_word *word, int64_t first_wrong,
                    bench_check *check) {
    bench_finding f = look_at_system(v, first_wrong, word->status && word->status[first_wrong] < 0);
    snprintf(check->why, sizeof check->why, "system %lld: %s (residual %.2g); %lld of %lld wrong",
             (long long)first_wrong, verdict(v, &f, word, first_wrong), f.residual,
             (long long)check->wrong, (long long)check->systems);
}

void bench_smallsym_check(const bench_symmetric *v, const bench_word *word, int threads,
                          bench_check *check) {
    static const bench_word silent;
    if (!word) word = &silent;
    int64_t stride, wrong = 0, inaccurate = 0, failed = 0, warned = 0, first_wrong = INT64_MAX;
    const double rows = v->samples ? 2 * (double)v->samples : (double)v->n;
    const int64_t looks = looks_of(v, rows * (double)v->n * (double)v->nrhs, &stride);
    const double tolerance = tolerance_of(v);
    double largest = 0;
    (void)threads; /* without OpenMP there is one */
#pragma omp parallel for num_threads(threads > 0 ? threads : 1) schedule(static)                   \
    reduction(+ : wrong, inaccurate) reduction(max : largest) reduction(min : first_wrong)
    for (int64_t i = 0; i < looks; i++) {
        const int64_t k = system_of(v, i, stride);
        if (v->stop && v->stop()) continue;
        bench_finding f = look_at_system(v, k, word->status && word->status[k] < 0);
        const bool truncated = word->status && word->status[k] == SHOAL_SYSTEM_TRUNCATED;
        if (f.residual > largest && !truncated) largest = f.residual;
        inaccurate += f.residual > tolerance && !truncated;
        if (!verdict(v, &f, word, k)) continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    count_statuses(v, word, &failed, &warned);
    *check = (bench_check){ .systems = looks, .failed = failed, .warned = warned, .wrong = wrong };
    check->max_residual = largest;
    check->tolerance = tolerance;
    check->passed = wrong == 0 && failed == 0 && inaccurate == 0;
    if (wrong > 0)
        explain(v, word, first_wrong, check);
    else if (!check->passed)
        explain_owned(inaccurate, check);
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

static double norm_of(const bench_symmetric *v, int64_t k) {
    double norm = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < v->n; j++) sum += fabs(bench_symmetric_entry(v, k, i, j));
        norm = fmax(norm, sum);
    }
    return norm;
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
    const double norm = norm_of(v, k), least = v->type == SHOAL_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
    pair_finding f = { .rounding = norm > 0 ? least / norm : 0 };
    f.all_nan = all_nan(v, p, k);
    for (int64_t m = 0; m < v->n; m++) {
        const double value = value_of(v, p, k, m);
        double size, rest = pair_rest(v, p, k, m, &size);
        if (isnan(rest) || (m > 0 && !(value_of(v, p, k, m - 1) <= value))) {
            f.error = f.residual = NAN;
            return f;
        }
        rest -= least / 2 * size;
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
            fabs(bench_get(v, p->alone, k * p->w_system + m * p->w_row) - value) - least;
        if (!(off <= 0)) f.error = isfinite(off) ? fmax(f.error, off / norm) : INFINITY;
    }
    return f;
}

static const char *pair_verdict(const bench_symmetric *v, const pair_finding *f,
                                const bench_word *word, int64_t k) {
    const int32_t status = word->status ? word->status[k] : SHOAL_SYSTEM_OK;
    const double slack = (double)(v->n + 2) * unit_of(v) + f->rounding;
    if (status > SHOAL_SYSTEM_REFINED || status < SHOAL_SYSTEM_OVERFLOW)
        return "status has a value that does not exist";
    if (status < 0) return f->all_nan ? NULL : "no answer, but w and V are not all NaN";
    if (isnan(f->error)) return "w does not ascend, or the pairs are not finite";
    if (f->error > tolerance_of(v) && status != SHOAL_SYSTEM_ILL) return "no eigenpairs of A";
    if (word->residual && !(fabs(word->residual[k] - f->residual) <= 0.5 * f->residual + slack))
        return "the solver reports another residual";
    if (word->rcond && !(word->rcond[k] >= 0 && word->rcond[k] <= 1))
        return "rcond is not between 0 and 1";
    return NULL;
}

static void explain_pairs(const bench_symmetric *v, const bench_pairs *p, const bench_word *word,
                          int64_t first_wrong, bench_check *check) {
    const pair_finding f = look_at_pairs(v, p, first_wrong);
    snprintf(check->why, sizeof check->why, "system %lld: %s (error %.2g); %lld of %lld wrong",
             (long long)first_wrong, pair_verdict(v, &f, word, first_wrong), f.error,
             (long long)check->wrong, (long long)check->systems);
}

void bench_eigen_check(const bench_symmetric *v, const bench_pairs *p, const bench_word *word,
                       int threads, bench_check *check) {
    static const bench_word silent;
    if (!word) word = &silent;
    const double n = (double)v->n;
    int64_t stride, wrong = 0, inaccurate = 0, failed = 0, warned = 0, first_wrong = INT64_MAX;
    const int64_t looks = looks_of(v, 1.5 * n * n * n, &stride);
    double largest = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads > 0 ? threads : 1) schedule(static)                   \
    reduction(+ : wrong, inaccurate) reduction(max : largest) reduction(min : first_wrong)
    for (int64_t i = 0; i < looks; i++) {
        const int64_t k = system_of(v, i, stride);
        if (v->stop && v->stop()) continue;
        const pair_finding f = look_at_pairs(v, p, k);
        if (f.error > largest) largest = f.error;
        inaccurate += f.error > tolerance_of(v);
        if (!pair_verdict(v, &f, word, k)) continue;
        wrong++;
        if (k < first_wrong) first_wrong = k;
    }
    count_statuses(v, word, &failed, &warned);
    *check = (bench_check){ .systems = looks, .failed = failed, .warned = warned, .wrong = wrong };
    check->max_residual = largest;
    check->tolerance = tolerance_of(v);
    check->passed = wrong == 0 && failed == 0 && inaccurate == 0;
    if (wrong > 0)
        explain_pairs(v, p, word, first_wrong, check);
    else if (!check->passed)
        explain_owned(inaccurate, check);
}
