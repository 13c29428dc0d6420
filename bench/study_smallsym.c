/* SPDX-License-Identifier: Apache-2.0
 *
 * study_smallsym.c - solves the systems of a study by every method and measures the errors of each.
 *
 * The families are all kinds of shoal_smallsym_kind(), with the sizes below, in both precisions. A
 * method that the backend lacks is left out. Backward errors are those of all systems that have an
 * answer. Forward errors are those of answers to the system as it is given: not of truncated ones,
 * which are answers to another system, and not where there is no reference.
 *
 * "conditions": those of 1000 regression matrices of n = 30, which is what Figure 2 shows, from the
 * eigenvalues of "eigdc" in double with none discarded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"
#include "bench/smallsym.h"
#include "bench/study.h"

static const int64_t sizes[] = { 8, 30, 64 }; /* 30: the paper's regressions */
enum { A, B, X, ARRAYS };                     /* the arrays of a family */
enum { SIZES = sizeof sizes / sizeof *sizes, TYPES = 2, CONDITIONS = 1000, CONDITIONS_N = 30 };
static const shoal_type types[TYPES] = { SHOAL_F32, SHOAL_F64 };

typedef struct batch { /* systems of one family */
    bench_arrays arrays;
    bench_outcome outcome;
    double *high, *low; /* the references, n numbers per system */
    bool *known;        /* whether there is one                 */
    double *errors;     /* backward ones, then forward ones, count of each at most */
} batch;

typedef struct tally { /* of one method on one batch */
    int64_t ok, ill, truncated, refined, failed, wrong;
    int64_t backward, forward; /* errors that there are */
} tally;

/* ---- references: share no line with the library ----------------------------------------------
 *
 * P A = L U by elimination with row exchanges, in double; then x := x + U^-1 L^-1 P (b - A x), with x
 * the sum of two doubles and the residual in twice the precision of double (numbers.h). Each correction
 * is smaller than the one before by a factor of about n eps cond(A): the sum ends at the solution of
 * the system as it is given as long as that is well below 1. 2/3 n^3 operations for L and U, 20 n^2 for
 * a correction. */

enum { MAX_CORRECTIONS = 60 };

bool bench_reference_begin(bench_reference *r, int64_t n) {
    const size_t size = (size_t)(n > 0 ? n : 1);
    *r = (bench_reference){ .n = n,
                            .factors = malloc(size * size * sizeof(double)),
                            .rest = malloc(size * sizeof(double)),
                            .order = malloc(size * sizeof(int64_t)) };
    return r->factors && r->rest && r->order;
}

void bench_reference_end(bench_reference *r) {
    free(r->factors);
    free(r->rest);
    free(r->order);
    *r = (bench_reference){ 0 };
}

static void exchange(double *p, double *q, int64_t count) {
    for (int64_t j = 0; j < count; j++) {
        const double kept = p[j];
        p[j] = q[j];
        q[j] = kept;
    }
}

/* L below the diagonal and U; row k was exchanged with row order[k]. False where a pivot is 0. */
static bool eliminate(bench_reference *r) {
    const int64_t n = r->n;
    double *a = r->factors;
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        r->order[k] = best;
        if (best != k) exchange(a + k * n, a + best * n, n);
        if (a[k * n + k] == 0) return false;
        for (int64_t i = k + 1; i < n; i++) {
            const double l = a[i * n + k] /= a[k * n + k];
            for (int64_t j = k + 1; j < n; j++) a[i * n + j] -= l * a[k * n + j];
        }
    }
    return true;
}

/* r->rest becomes the solution; returns its largest entry, NaN if one is. */
static double substitute(bench_reference *r) {
    const int64_t n = r->n;
    const double *a = r->factors;
    double *y = r->rest, max = 0;
    for (int64_t k = 0; k < n; k++) /* L lies as if all exchanges had come first */
        if (r->order[k] != k) exchange(y + k, y + r->order[k], 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) y[i] -= a[i * n + j] * y[j];
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) y[i] -= a[i * n + j] * y[j];
        y[i] /= a[i * n + i];
        max = isnan(y[i]) || fabs(y[i]) > max ? fabs(y[i]) : max;
    }
    return max;
}

/* high + low += y, with what rounding loses. */
static void add(double *high, double *low, double y) {
    const double sum = *high + y, part = sum - *high;
    const double lost = (*high - (sum - part)) + (y - part) + *low;
    *high = sum + lost;
    *low = lost - (*high - sum);
}

bool bench_reference_solve(bench_reference *r, const double *a, const double *b, double accuracy,
                           double *high, double *low) {
    const int64_t n = r->n;
    double before = INFINITY;
    memcpy(r->factors, a, (size_t)(n * n) * sizeof *a);
    if (!eliminate(r)) return false;
    for (int64_t i = 0; i < n; i++) high[i] = low[i] = 0;
    for (int step = 0; step < MAX_CORRECTIONS; step++) {
        double size = 0;
        for (int64_t i = 0; i < n; i++) {
            double rest = b[i], lost = 0;
            for (int64_t j = 0; j < n; j++) {
                subtract_product(&rest, &lost, a[i * n + j], high[j]);
                subtract_product(&rest, &lost, a[i * n + j], low[j]);
            }
            r->rest[i] = rest + lost;
        }
        const double correction = substitute(r);
        for (int64_t i = 0; i < n; i++) {
            add(&high[i], &low[i], r->rest[i]);
            size = fmax(size, fabs(high[i]));
        }
        if (correction <= accuracy * size) return true;
        if (!(correction <= before / 2)) return false; /* NaN, too */
        before = correction;
    }
    return false;
}

/* ---- families -------------------------------------------------------------------------------- */

static void sizes_of(bench_arrays *a) {
    const size_t rows = (size_t)(a->problem.n * a->problem.count) * bench_number_size(&a->problem);
    a->count = ARRAYS;
    a->outputs = 1 << X;
    a->sets = 1;
    a->size[A] = (size_t)a->problem.n * rows;
    a->size[B] = a->size[X] = rows;
}

static shoal_status fill(const bench_session *s, bench_arrays *a) {
    const bench_problem *p = &a->problem;
    const shoal_smallsym_opts shape = { .n = p->n, .count = p->count, .nrhs = 1, .type = p->type };
    (void)s;
    return BENCH_BY_TYPE(p->type, shoal_smallsym_generate, a->place->ctx, p->kind, NAN, p->seed, 0,
                         &shape, a->host[A], a->host[B]);
}

static int batch_make(bench_session *s, bench_place *place, const bench_problem *p, batch *b) {
    static const bench_filler filler = { sizes_of, fill };
    const size_t count = (size_t)p->count, rows = (size_t)p->n * count;
    *b = (batch){ .high = malloc(rows * sizeof *b->high),
                  .low = malloc(rows * sizeof *b->low),
                  .known = calloc(count, sizeof *b->known),
                  .errors = malloc(2 * count * sizeof *b->errors) };
    const int code = bench_arrays_make(s, p, place, &filler, &b->arrays);
    if (code != BENCH_OK) return code;
    shoal_status status = b->high && b->low && b->known && b->errors ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status = bench_outcome_make(place->ctx, p->count,
                                    BENCH_STATUS | BENCH_RESIDUAL | BENCH_RCOND, &b->outcome);
    return status == SHOAL_OK ? BENCH_OK : bench_error(s, status, "no memory for the systems");
}

static void batch_free(batch *b) {
    if (b->arrays.place) bench_outcome_free(b->arrays.place->ctx, &b->outcome);
    bench_arrays_free(&b->arrays);
    free(b->high);
    free(b->low);
    free(b->known);
    free(b->errors);
}

/* The references of all systems, good to 2^-10 units of roundoff. */
static bool find_references(batch *s) {
    const bench_symmetric view = bench_symmetric_of(&s->arrays, NULL);
    const int64_t n = view.n;
    const double accuracy = bench_epsilon(view.type) / 1024;
    bool enough = true;
#pragma omp parallel reduction(&& : enough) num_threads(s->arrays.place->machine.threads)
    {
        bench_reference r;
        double *a = malloc((size_t)(n * n + n) * sizeof *a), *b = a ? a + n * n : NULL;
        const bool here = bench_reference_begin(&r, n) && a;
        enough = enough && here;
#pragma omp for
        for (int64_t k = 0; k < view.count; k++) {
            if (!here) continue;
            for (int64_t i = 0; i < n; i++) {
                b[i] = bench_number(view.type, view.b, k * n + i);
                for (int64_t j = 0; j < n; j++)
                    a[i * n + j] = bench_symmetric_entry(&view, k, i, j);
            }
            s->known[k] =
                bench_reference_solve(&r, a, b, accuracy, s->high + k * n, s->low + k * n);
        }
        bench_reference_end(&r);
        free(a);
    }
    return enough;
}

static double forward_error(const batch *s, int64_t k) {
    const bench_problem *p = &s->arrays.problem;
    double off = 0, size = 0;
    for (int64_t i = k * p->n; i < (k + 1) * p->n; i++) {
        const double x = bench_number(p->type, s->arrays.host[X], i);
        const double apart = fabs(x - s->high[i] - s->low[i]);
        if (!(apart <= off)) off = apart;
        if (fabs(s->high[i]) > size) size = fabs(s->high[i]);
    }
    return off == 0 ? 0 : off / size;
}

/* One more system, with its backward error. */
static void count_status(tally *t, int32_t status, double backward, double tolerance) {
    const bool sound = backward <= tolerance;
    switch (status) {
    case SHOAL_SYSTEM_OK:
        t->ok++;
        t->wrong += !sound;
        break;
    case SHOAL_SYSTEM_REFINED:
        t->refined++;
        t->wrong += !sound;
        break;
    case SHOAL_SYSTEM_ILL: t->ill++; break;
    case SHOAL_SYSTEM_TRUNCATED: t->truncated++; break;
    default: t->failed++;
    }
}

/* Those that are not NaN, in ascending order; returns their number. */
static int64_t sort_errors(double *values, int64_t count) {
    int64_t kept = 0;
    for (int64_t k = 0; k < count; k++)
        if (!isnan(values[k])) values[kept++] = values[k];
    qsort(values, (size_t)kept, sizeof *values, bench_by_value);
    return kept;
}

/* The errors of the answers, in ascending order. */
static tally measure(batch *s) {
    const bench_symmetric view = bench_symmetric_of(&s->arrays, s->arrays.host[X]);
    const int32_t *status = s->outcome.status;
    const int64_t count = view.count;
    const double tolerance = 10 * (double)view.n * bench_epsilon(view.type);
    double *backward = s->errors, *forward = s->errors + count;
    tally t = { 0 };
#pragma omp parallel for num_threads(s->arrays.place->machine.threads)
    for (int64_t k = 0; k < count; k++) {
        const bool answered = status[k] >= 0;
        const bool exact = answered && s->known[k] && status[k] != SHOAL_SYSTEM_TRUNCATED;
        backward[k] = answered ? bench_smallsym_backward(&view, k) : NAN;
        forward[k] = exact ? forward_error(s, k) : NAN;
    }
    for (int64_t k = 0; k < count; k++) count_status(&t, status[k], backward[k], tolerance);
    t.backward = sort_errors(backward, count);
    t.forward = sort_errors(forward, count);
    return t;
}

double bench_quantile(const double *values, int64_t count, double p) {
    const int64_t at = (int64_t)ceil(p * (double)count) - 1;
    return count == 0 ? NAN : values[at < 0 ? 0 : at >= count ? count - 1 : at];
}

static void json_errors(io_json *json, const char *key, const double *values, int64_t count) {
    io_json_object_line(json, key);
    io_json_int(json, "count", count);
    io_json_float(json, "median", (float)bench_quantile(values, count, 0.5));
    io_json_float(json, "p99", (float)bench_quantile(values, count, 0.99));
    io_json_float(json, "worst", (float)bench_quantile(values, count, 1));
    io_json_array_line(json, "quantiles");
    for (int q = 0; q < STUDY_QUANTILES && count > 0; q++) {
        const double v = bench_quantile(values, count, (double)q / (STUDY_QUANTILES - 1));
        if (v > 0)
            io_json_int(json, NULL, lround(100 * log10(v)));
        else
            io_json_null(json, NULL);
    }
    io_json_close(json);
    io_json_close(json);
}

static void json_row(io_json *json, const batch *s, const shoal_smallsym_info *info,
                     const tally *t) {
    const bench_problem *p = &s->arrays.problem;
    int64_t known = 0;
    for (int64_t k = 0; k < p->count; k++) known += s->known[k];
    io_json_object(json, NULL);
    io_json_string(json, "method", info->method);
    io_json_string(json, "variant", info->variant);
    io_json_string(json, "backend", s->arrays.place->machine.backend);
    io_json_string(json, "type", bench_type_name(p->type));
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "referenced", known);
    io_json_double(json, "unit", bench_epsilon(p->type));
    io_json_int(json, "ok", t->ok);
    io_json_int(json, "ill", t->ill);
    io_json_int(json, "truncated", t->truncated);
    io_json_int(json, "refined", t->refined);
    io_json_int(json, "failed", t->failed);
    io_json_int(json, "redone", info->redone);
    io_json_int(json, "wrong", t->wrong);
    json_errors(json, "backward", s->errors, t->backward);
    json_errors(json, "forward", s->errors + p->count, t->forward);
    io_json_close(json);
}

/* The call, its statuses and answers brought home. SHOAL_E_METHOD: the backend lacks it. */
static shoal_status solve(batch *s, const char *method, double cond, shoal_smallsym_info *info) {
    const bench_problem *p = &s->arrays.problem;
    const shoal_smallsym_opts opts = {
        .n = p->n, .count = p->count, .nrhs = 1, .type = p->type, .method = method, .cond = cond
    };
    void *const *m = s->arrays.memory;
    shoal_context *ctx = s->arrays.place->ctx;
    shoal_smallsym *plan = NULL;
    shoal_status status = shoal_smallsym_create(ctx, &opts, &plan);
    if (status == SHOAL_OK) status = shoal_smallsym_outcome(plan, &s->outcome.there);
    if (status == SHOAL_OK)
        status = BENCH_BY_TYPE(p->type, shoal_smallsym_solve, plan, m[A], m[B], m[X]);
    if (status == SHOAL_OK) status = shoal_smallsym_last(plan, info);
    if (status == SHOAL_OK) status = bench_arrays_fetch(&s->arrays);
    if (status == SHOAL_OK) status = bench_outcome_fetch(ctx, &s->outcome);
    shoal_smallsym_free(plan);
    return status;
}

static const char *method_name(int i) { return i == 0 ? "auto" : shoal_methods("smallsym", i - 1); }

/* One family of one size by every method. */
static int study_family(bench_session *session, bench_place *place, const bench_problem *p,
                        bench_study *what, io_json *json) {
    batch s;
    int code = batch_make(session, place, p, &s);
    shoal_status status = code == BENCH_OK && !find_references(&s) ? SHOAL_E_NOMEM : SHOAL_OK;
    const char *method;
    for (int i = 0; (method = method_name(i)) && code == BENCH_OK && status == SHOAL_OK; i++) {
        shoal_smallsym_info info;
        if (bench_stopped(session)) break;
        status = solve(&s, method, 0, &info);
        if (status == SHOAL_OK) {
            const tally t = measure(&s);
            json_row(json, &s, &info, &t);
            what->wrong += t.wrong;
        } else if (status == SHOAL_E_METHOD) {
            status = SHOAL_OK;
        }
    }
    if (status != SHOAL_OK)
        code = bench_error(session, status, "%s, n = %lld: %s", p->kind, (long long)p->n,
                           bench_message(place, status));
    batch_free(&s);
    return code;
}

static bench_problem problem_of(const char *kind, shoal_type type, int64_t n, int64_t count,
                                uint64_t seed) {
    bench_problem p = { .module = "smallsym", .type = type, .n = n, .count = count, .nrhs = 1 };
    snprintf(p.kind, sizeof p.kind, "%s", kind);
    p.seed = seed;
    p.parameter = NAN;
    return p;
}

static void json_conditions(io_json *json, const batch *s) {
    const bench_problem *p = &s->arrays.problem;
    io_json_object(json, "conditions");
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_array_line(json, "values");
    for (int64_t k = 0; k < p->count; k++) io_json_float(json, NULL, 1 / s->outcome.rcond[k]);
    io_json_close(json);
    io_json_close(json);
}

static int study_conditions(bench_session *session, bench_place *place, uint64_t seed,
                            io_json *json) {
    const bench_problem p = problem_of("regression", SHOAL_F64, CONDITIONS_N, CONDITIONS, seed);
    shoal_smallsym_info info;
    batch s;
    int code = batch_make(session, place, &p, &s);
    const shoal_status status = code == BENCH_OK ? solve(&s, "eigdc", DBL_MAX, &info) : SHOAL_OK;
    if (code == BENCH_OK && status == SHOAL_OK) json_conditions(json, &s);
    if (status != SHOAL_OK && status != SHOAL_E_METHOD)
        code = bench_error(session, status, "conditions: %s", shoal_message(place->ctx));
    batch_free(&s);
    return code;
}

int64_t bench_study_cases(void) {
    int kinds = 0;
    while (shoal_smallsym_kind(kinds)) kinds++;
    return (int64_t)kinds * SIZES * TYPES;
}

int bench_study_smallsym(bench_session *session, bench_place *place, bench_study *what,
                         io_json *json) {
    int code = study_conditions(session, place, what->seed, json);
    const char *kind;
    io_json_array(json, "rows");
    for (int t = 0; t < TYPES && code == BENCH_OK; t++)
        for (int i = 0; i < SIZES && code == BENCH_OK; i++)
            for (int k = 0; (kind = shoal_smallsym_kind(k)) && code == BENCH_OK; k++) {
                const bench_problem p =
                    problem_of(kind, types[t], sizes[i], what->count, what->seed);
                code = study_family(session, place, &p, what, json);
                if (bench_stopped(session)) code = BENCH_STOPPED;
                bench_note(session, "%s, n = %lld, %s", kind, (long long)sizes[i],
                           bench_type_name(types[t]));
            }
    io_json_close(json);
    return code;
}
