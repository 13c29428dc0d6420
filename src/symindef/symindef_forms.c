/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_forms.c - other forms of the factors: the inverse, G J Gt, modified Cholesky, LAPACK's.
 *
 * G J Gt (Kruchinina's thesis, introduction and section 3.3): D = Q Lambda Qt block by block, G = M Q |Lambda|^(1/2).
 * Modified Cholesky (Cheng and Higham): the eigenvalues of D's blocks that are below delta become
 * delta; A + E = Pt M (D + F) Mt P, and |E| <= |M|^2 |F|, which is small where M is bounded. D + F is
 * rounded, and must be positive definite after that: a block of order 2 keeps its smaller eigenvalue at
 * MIN_RATIO epsilons of its larger one, and is checked once it is rounded.
 */
#include "symindef/plan.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MIN_RATIO = 8 }; /* of the smaller eigenvalue of a lifted block */

/* D on the host; SHOAL_E_ARG if the factorization has failed. */
static shoal_status fetch_blocks(shoal_symindef *plan, symindef_factors *f) {
    const shoal_status status = shoal_symindef_fetch(plan, f);
    if (status == SHOAL_OK && f->state.status != SHOAL_SYSTEM_OK)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "A: its factorization has failed: %s",
                          shoal_system_text(f->state.status));
    return status;
}

/* ---- the inverse ---- */

static shoal_status inverse(shoal_symindef *plan, shoal_type type, const void *a, void *result) {
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_inverse");
    if (status != SHOAL_OK || plan->job.shape.n == 0) return status;
    const shoal_array arrays[] = { { "A", a, 0 }, { "inverse", result, 0 } };
    status = shoal_check_arrays(plan->head.ctx, arrays, 2);
    if (status != SHOAL_OK) return status;
    symindef_job job = plan->job;
    job.a = (void *)a;
    const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "inverse");
    return shoal_stage_end(plan->head.ctx, &stage,
                           plan->driver->solve(plan, &job, job.shape.n, NULL, result));
}

shoal_status shoal_symindef_inverse(shoal_symindef *plan, const double *A, double *result) {
    return inverse(plan, SHOAL_F64, A, result);
}

shoal_status shoal_symindef_inversef(shoal_symindef *plan, const float *A, float *result) {
    return inverse(plan, SHOAL_F32, A, result);
}

/* ---- G J Gt ---- */

/* The signs of the eigenvalues of the block in k, in the order of eigen_of(): the one of larger
 * modulus has the sign of the trace, the other that of the determinant beside it. Returns its order. */
static int block_signs(const symindef_factors *f, int64_t k, int *sign) {
    const double a = f->d[k], b = f->e[k];
    sign[0] = a > 0 ? 1 : a < 0 ? -1 : 0;
    if (b == 0) return 1;
    const double c = f->d[k + 1], ratio = a / b * (c / b) - 1;
    sign[0] = a + c < 0 ? -1 : 1;
    sign[1] = ratio < 0 ? -sign[0] : sign[0];
    return 2;
}

int64_t shoal_symindef_columns(const symindef_factors *f, int partitioned, int32_t *to,
                               int32_t *signs) {
    int64_t rank = 0;
    for (int64_t k = 0; k < f->n; k++) to[k] = -1;
    for (int pass = 0; pass < (partitioned ? 2 : 1); pass++) {
        int sign[2];
        for (int64_t k = 0, order; k < f->n; k += order) {
            order = block_signs(f, k, sign);
            for (int t = 0; t < order; t++) {
                if (sign[t] == 0 || (partitioned && sign[t] != (pass ? -1 : 1))) continue;
                signs[rank] = sign[t];
                to[k + t] = (int32_t)rank++;
            }
        }
    }
    return rank;
}

static shoal_status gjgt(shoal_symindef *plan, shoal_type type, const void *a, int partitioned,
                         void *g, int32_t *signs) {
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_gjgt");
    if (status != SHOAL_OK || plan->job.shape.n == 0) return status;
    const int64_t n = plan->job.shape.n;
    if (!signs) return shoal_fail(plan->head.ctx, SHOAL_E_ARG, "signs is NULL");
    const shoal_array arrays[] = { { "A", a, 0 }, { "G", g, 0 } };
    status = shoal_check_arrays(plan->head.ctx, arrays, 2);
    if (status != SHOAL_OK) return status;
    symindef_factors f;
    int32_t *to = malloc((size_t)n * sizeof *to), *device = (int32_t *)plan->job.vectors;
    status = fetch_blocks(plan, &f);
    if (status == SHOAL_OK && !to) status = shoal_fail(plan->head.ctx, SHOAL_E_NOMEM, "no memory");
    if (status == SHOAL_OK) {
        const int64_t rank = shoal_symindef_columns(&f, partitioned, to, signs);
        symindef_job job = plan->job;
        job.a = (void *)a;
        status = shoal_copy(plan->head.ctx, device, to, (size_t)n * sizeof *to);
        const shoal_stage stage = shoal_stage_begin(plan->head.ctx, "G J Gt");
        if (status == SHOAL_OK && rank > 0)
            status = plan->driver->columns(plan, &job, device, rank, 1, g);
        if (status == SHOAL_OK) status = shoal_wait(plan->head.ctx);
        status = shoal_stage_end(plan->head.ctx, &stage, status);
    }
    free(to);
    free(f.d);
    return status;
}

shoal_status shoal_symindef_gjgt(shoal_symindef *plan, const double *A, int partitioned, double *G,
                                 int32_t *signs) {
    return gjgt(plan, SHOAL_F64, A, partitioned, G, signs);
}

shoal_status shoal_symindef_gjgtf(shoal_symindef *plan, const float *A, int partitioned, float *G,
                                  int32_t *signs) {
    return gjgt(plan, SHOAL_F32, A, partitioned, G, signs);
}

/* ---- modified Cholesky ---- */

static void count_lift(shoal_symindef_change *change, double from, double to) {
    change->lifted++;
    change->largest = fmax(change->largest, to - from);
}

static double rounded_to(shoal_type type, double value) {
    return type == SHOAL_F64 ? value : (double)(float)value;
}

/* Is [a b; b c] positive definite? The determinant is exact up to its last rounding: fma() gives the
 * rounding errors of the products. It must also exceed some epsilons of b^2, since a solve computes it
 * from the rounded a / b and c / b. */
static int is_definite(double a, double b, double c, double unit) {
    int exponent;
    if (b == 0) return a > 0 && c > 0;
    frexp(fmax(fabs(a), fabs(c)), &exponent); /* products neither overflow nor underflow */
    a = ldexp(a, -exponent), b = ldexp(b, -exponent), c = ldexp(c, -exponent);
    const double p = a * c, q = b * b;
    const double determinant = p - q + (fma(a, c, -p) - fma(b, b, -q));
    return a > 0 && determinant > 4 * unit * q; /* above 0, and so is c */
}

/* sqrt(u u + v v) without the libm's hypot(): that of glibc 2.35 is a symbol of its own. */
static double length_of(double u, double v) {
    const double high = fmax(fabs(u), fabs(v)), low = fmin(fabs(u), fabs(v));
    return high == 0 ? 0 : high * sqrt(1 + low / high * (low / high));
}

/* [a b; b c] with eigenvalues at least delta, the eigenvectors kept, rounded to `type`. The eigenvalue
 * near zero comes from the determinant, without cancellation; near the end of the range the block is
 * taken times `scale`. */
static void lift_block(shoal_type type, double *a, double *b, double *c,
                       shoal_symindef_change *change) {
    const double largest = fmax(fmax(fabs(*a), fabs(*c)), fmax(fabs(*b), change->delta));
    const double scale = largest > DBL_MAX / 16 ? 0.0625 : 1, unit = shoal_epsilon(type);
    const double delta = fmax(change->delta * scale, DBL_TRUE_MIN);
    const double p = *a * scale, q = *b * scale, r = *c * scale;
    const double angle = 0.5 * atan2(2 * q, p - r), x = cos(angle), y = sin(angle);
    const double half = (p + r) / 2, root = length_of((p - r) / 2, q);
    const double far = half < 0 ? half - root : half + root, near = p / far * r - q / far * q;
    const double upper = half < 0 ? near : far, lower = half < 0 ? far : near;
    const double high = fmax(upper, delta); /* (x, y) belongs to it */
    double low = fmax(lower, fmax(delta, MIN_RATIO * unit * high));
    if (high == upper && low == lower) return;
    while (low < high) {
        *a = rounded_to(type, (high * x * x + low * y * y) / scale);
        *b = rounded_to(type, (high - low) * x * y / scale);
        *c = rounded_to(type, (high * y * y + low * x * x) / scale);
        if (fabs(*b) < unit * unit * (*a + *c)) *b = 0; /* two blocks of order 1 */
        if (is_definite(*a, *b, *c, unit)) break;
        low *= 2;
    }
    if (low >= high) low = high, *a = *c = high / scale, *b = 0;
    if (high > upper) count_lift(change, upper / scale, high / scale);
    count_lift(change, lower / scale, low / scale);
}

/* All of D; 0 if D + F does not fit into the range. */
static int lift_all(shoal_type type, symindef_factors *f, shoal_symindef_change *change) {
    int finite = 1;
    for (int64_t k = 0; k < f->n; k++) {
        if (f->e[k] != 0) {
            lift_block(type, &f->d[k], &f->e[k], &f->d[k + 1], change);
            finite &= isfinite(rounded_to(type, f->d[k])) != 0;
            k++;
        } else if (f->d[k] < change->delta) {
            count_lift(change, f->d[k], change->delta);
            f->d[k] = change->delta;
        }
        finite &= isfinite(rounded_to(type, f->d[k])) != 0;
    }
    return finite;
}

/* The delta in use, a number of the plan's type; 0 if the one that was given is none. */
static double delta_in_use(shoal_type type, double given, double norm) {
    const double largest = type == SHOAL_F64 ? DBL_MAX : (double)FLT_MAX;
    if (given > 0) {
        const double delta = rounded_to(type, given);
        return delta <= largest ? delta : 0;
    }
    const double wanted =
        sqrt(shoal_epsilon(type)) * fmin(norm, DBL_MAX); /* sums may have overflowed */
    const double delta = rounded_to(type, fmin(wanted, largest));
    return delta > 0 ? delta : shoal_epsilon(type); /* A is zero */
}

static shoal_status modify(shoal_symindef *plan, shoal_type type, void *a, double delta,
                           shoal_symindef_change *result) {
    shoal_status status = shoal_symindef_ready(plan, type, "shoal_symindef_modify");
    if (status != SHOAL_OK) return status;
    shoal_symindef_change change = { .delta = delta };
    if (result) *result = change;
    if (isnan(delta) || delta_in_use(plan->head.type, delta, 0) == 0)
        return shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                          "delta is %g; it must be finite, and not round to zero, in %s", delta,
                          plan->head.type == SHOAL_F64 ? "double" : "float");
    if (plan->job.shape.n == 0) return SHOAL_OK;
    status = shoal_check_array(plan->head.ctx, a, "A");
    symindef_factors f = { 0 };
    if (status == SHOAL_OK) status = fetch_blocks(plan, &f);
    if (status == SHOAL_OK) {
        change.delta = delta_in_use(plan->head.type, delta, f.state.norm);
        if (!lift_all(plan->head.type, &f, &change))
            status =
                shoal_fail(plan->head.ctx, SHOAL_E_ARG,
                           "delta is %g: A + E would have numbers beyond the range", change.delta);
    }
    if (status == SHOAL_OK) {
        symindef_job job = plan->job;
        job.a = a;
        f.state.singular = 0;
        plan->modified = 1;
        status = shoal_symindef_from_host(plan, f.n, job.d, f.d);
        if (status == SHOAL_OK) status = shoal_symindef_from_host(plan, f.n, job.e, f.e);
        if (status == SHOAL_OK)
            status = shoal_copy(plan->head.ctx, job.state, &f.state, sizeof f.state);
        if (status == SHOAL_OK) status = plan->driver->blocks(plan, &job);
        if (status == SHOAL_OK) status = shoal_wait(plan->head.ctx);
    }
    free(f.d);
    if (result) *result = change;
    return status;
}

shoal_status shoal_symindef_modify(shoal_symindef *plan, double *A, double delta,
                                   shoal_symindef_change *change) {
    return modify(plan, SHOAL_F64, A, delta, change);
}

shoal_status shoal_symindef_modifyf(shoal_symindef *plan, float *A, double delta,
                                    shoal_symindef_change *change) {
    return modify(plan, SHOAL_F32, A, delta, change);
}

/* ---- LAPACK ---- */

void shoal_symindef_to_rk(int64_t n, const int32_t *interchanges, int32_t *ipiv) {
    for (int64_t k = 0; k < n; k++) {
        const int is_2x2 = k + 1 < n && interchanges[k + 1] < 0;
        ipiv[k] = is_2x2 ? -interchanges[k] : interchanges[k];
        if (is_2x2) k++, ipiv[k] = interchanges[k];
    }
}

void shoal_symindef_from_rk(int64_t n, const int32_t *ipiv, int32_t *interchanges) {
    for (int64_t k = 0; k < n; k++) {
        interchanges[k] = ipiv[k] < 0 ? -ipiv[k] : ipiv[k];
        if (ipiv[k] < 0 && k + 1 < n) k++, interchanges[k] = ipiv[k];
    }
}
