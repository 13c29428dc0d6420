/* SPDX-License-Identifier: Apache-2.0
 *
 * study_smallsym.c - solves the systems of a study by every method and measures the errors of each.
 *
 * The families are all kinds of shoal_smallsym_kind(), with the sizes below, in both precisions. A
 * method that the backend lacks is left out. Backward errors are those of all systems that have an
 * answer. Forward errors are those of answers to the system as it is given: not of truncated ones,
 * which are answers to another system, and not where there is no reference (study_reference.c).
 *
 * "conditions": those of 1000 regression matrices of n = 30, which is what Figure 2 shows, from the
 * eigenvalues of "eigdc" in double with none discarded.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "bench/smallsym.h"
#include "bench/study.h"

static const int64_t sizes[] = { 8, 30, 64 }; /* 30: the paper's regressions */
enum { SIZES = sizeof sizes / sizeof *sizes, TYPES = 2, CONDITIONS = 1000, CONDITIONS_N = 30 };
static const shoal_type types[TYPES] = { SHOAL_F32, SHOAL_F64 };

typedef struct batch { /* systems of one family, on the host and in the context's memory */
    bench_place *place;
    const char *kind;
    shoal_type type;
    int64_t n, count;
    void *A, *b, *x, *A_there, *b_there, *x_there;
    double *high, *low; /* the references, n numbers a system */
    bool *known;        /* whether there is one               */
    int32_t *status;
    float *rcond;
    shoal_outcome there;
    double *errors; /* backward ones, then forward ones, count of each at most */
} batch;

typedef struct tally { /* of one method on one batch */
    int64_t ok, ill, truncated, refined, failed, wrong;
    int64_t backward, forward; /* errors that there are */
} tally;

static double unit_of(shoal_type type) { return type == SHOAL_F32 ? FLT_EPSILON : DBL_EPSILON; }

static void batch_free(batch *s) {
    void *const here[] = { s->A,     s->b,      s->x,     s->high,  s->low,
                           s->known, s->status, s->rcond, s->errors };
    void *const there[] = { s->A_there,      s->b_there,        s->x_there,
                            s->there.status, s->there.residual, s->there.rcond };
    for (size_t i = 0; i < sizeof here / sizeof *here; i++) free(here[i]);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) shoal_free(s->place->ctx, there[i]);
}

static shoal_status batch_allocate(batch *s) {
    const size_t number = s->type == SHOAL_F32 ? 4 : 8, count = (size_t)s->count;
    const size_t rows = (size_t)s->n * count, entries = (size_t)s->n * rows;
    shoal_context *ctx = s->place->ctx;
    s->A = malloc(entries * number);
    s->b = malloc(rows * number);
    s->x = malloc(rows * number);
    s->high = malloc(rows * sizeof *s->high);
    s->low = malloc(rows * sizeof *s->low);
    s->known = calloc(count, sizeof *s->known);
    s->status = malloc(count * sizeof *s->status);
    s->rcond = malloc(count * sizeof *s->rcond);
    s->errors = malloc(2 * count * sizeof *s->errors);
    if (!s->A || !s->b || !s->x || !s->high || !s->low || !s->known || !s->status || !s->rcond ||
        !s->errors)
        return SHOAL_E_NOMEM;
    shoal_status status = shoal_alloc(ctx, entries * number, &s->A_there);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, rows * number, &s->b_there);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, rows * number, &s->x_there);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, 4 * count, (void **)&s->there.status);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, 4 * count, (void **)&s->there.residual);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, 4 * count, (void **)&s->there.rcond);
    return status;
}

static shoal_status batch_fill(batch *s, uint64_t seed) {
    const size_t number = s->type == SHOAL_F32 ? 4 : 8, rows = (size_t)(s->n * s->count);
    const shoal_smallsym_opts shape = { .n = s->n, .count = s->count, .nrhs = 1, .type = s->type };
    shoal_context *ctx = s->place->ctx;
    shoal_status status =
        s->type == SHOAL_F32
            ? shoal_smallsym_generatef(ctx, s->kind, NAN, seed, 0, &shape, s->A, s->b)
            : shoal_smallsym_generate(ctx, s->kind, NAN, seed, 0, &shape, s->A, s->b);
    if (status == SHOAL_OK)
        status = shoal_copy(ctx, s->A_there, s->A, (size_t)s->n * rows * number);
    if (status == SHOAL_OK) status = shoal_copy(ctx, s->b_there, s->b, rows * number);
    return status;
}

/* The batch as the check of smallsym_check.c sees it. */
static bench_symmetric view_of(const batch *s) {
    return (bench_symmetric){ .type = s->type,
                              .n = s->n,
                              .count = s->count,
                              .nrhs = 1,
                              .entry = 1,
                              .system = s->n * s->n,
                              .b_row = 1,
                              .b_system = s->n,
                              .b_rhs = 1,
                              .A = s->A,
                              .b = s->b,
                              .x = s->x };
}

static double number_of(const batch *s, const void *array, int64_t at) {
    return s->type == SHOAL_F32 ? (double)((const float *)array)[at] : ((const double *)array)[at];
}

/* The references of all systems, good to 2^-10 units of roundoff. */
static bool find_references(batch *s) {
    const bench_symmetric view = view_of(s);
    const int64_t n = s->n;
    bool enough = true;
#pragma omp parallel reduction(&& : enough) num_threads(s->place->machine.threads)
    {
        bench_reference r;
        double *a = malloc((size_t)(n * n + n) * sizeof *a), *b = a ? a + n * n : NULL;
        const bool here = bench_reference_begin(&r, n) && a;
        enough = enough && here;
#pragma omp for
        for (int64_t k = 0; k < s->count; k++) {
            if (!here) continue;
            for (int64_t i = 0; i < n; i++) {
                b[i] = number_of(s, s->b, k * n + i);
                for (int64_t j = 0; j < n; j++)
                    a[i * n + j] = bench_symmetric_entry(&view, k, i, j);
            }
            s->known[k] = bench_reference_solve(&r, a, b, unit_of(s->type) / 1024, s->high + k * n,
                                                s->low + k * n);
        }
        bench_reference_end(&r);
        free(a);
    }
    return enough;
}

static double forward_error(const batch *s, int64_t k) {
    double off = 0, size = 0;
    for (int64_t i = k * s->n; i < (k + 1) * s->n; i++) {
        const double apart = fabs(number_of(s, s->x, i) - s->high[i] - s->low[i]);
        if (!(apart <= off)) off = apart;
        if (fabs(s->high[i]) > size) size = fabs(s->high[i]);
    }
    return off == 0 ? 0 : off / size;
}

static int ascending(const void *p, const void *q) {
    const double one = *(const double *)p, other = *(const double *)q;
    return one < other ? -1 : one > other;
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
    qsort(values, (size_t)kept, sizeof *values, ascending);
    return kept;
}

/* The errors of the answers, in ascending order. */
static tally measure(batch *s) {
    const bench_symmetric view = view_of(s);
    const double tolerance = 10 * (double)s->n * unit_of(s->type);
    double *backward = s->errors, *forward = s->errors + s->count;
    tally t = { 0 };
#pragma omp parallel for num_threads(s->place->machine.threads)
    for (int64_t k = 0; k < s->count; k++) {
        const bool answered = s->status[k] >= 0;
        const bool exact = answered && s->known[k] && s->status[k] != SHOAL_SYSTEM_TRUNCATED;
        backward[k] = answered ? bench_smallsym_backward(&view, k) : NAN;
        forward[k] = exact ? forward_error(s, k) : NAN;
    }
    for (int64_t k = 0; k < s->count; k++) count_status(&t, s->status[k], backward[k], tolerance);
    t.backward = sort_errors(backward, s->count);
    t.forward = sort_errors(forward, s->count);
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
    int64_t known = 0;
    for (int64_t k = 0; k < s->count; k++) known += s->known[k];
    io_json_object(json, NULL);
    io_json_string(json, "method", info->method);
    io_json_string(json, "variant", info->variant);
    io_json_string(json, "backend", s->place->machine.backend);
    io_json_string(json, "type", s->type == SHOAL_F32 ? "f32" : "f64");
    io_json_string(json, "kind", s->kind);
    io_json_int(json, "n", s->n);
    io_json_int(json, "count", s->count);
    io_json_int(json, "referenced", known);
    io_json_double(json, "unit", unit_of(s->type));
    io_json_int(json, "ok", t->ok);
    io_json_int(json, "ill", t->ill);
    io_json_int(json, "truncated", t->truncated);
    io_json_int(json, "refined", t->refined);
    io_json_int(json, "failed", t->failed);
    io_json_int(json, "redone", info->redone);
    io_json_int(json, "wrong", t->wrong);
    json_errors(json, "backward", s->errors, t->backward);
    json_errors(json, "forward", s->errors + s->count, t->forward);
    io_json_close(json);
}

/* The call, its statuses and answers brought home. SHOAL_E_METHOD: the backend lacks it. */
static shoal_status solve(batch *s, const char *method, double cond, shoal_smallsym_info *info) {
    const size_t number = s->type == SHOAL_F32 ? 4 : 8, count = (size_t)s->count;
    const shoal_smallsym_opts opts = {
        .n = s->n, .count = s->count, .nrhs = 1, .type = s->type, .method = method, .cond = cond
    };
    shoal_context *ctx = s->place->ctx;
    shoal_smallsym *plan = NULL;
    shoal_status status = shoal_smallsym_create(ctx, &opts, &plan);
    if (status == SHOAL_OK) status = shoal_smallsym_outcome(plan, &s->there);
    if (status == SHOAL_OK)
        status = s->type == SHOAL_F32
                     ? shoal_smallsym_solvef(plan, s->A_there, s->b_there, s->x_there)
                     : shoal_smallsym_solve(plan, s->A_there, s->b_there, s->x_there);
    if (status == SHOAL_OK) status = shoal_smallsym_last(plan, info);
    if (status == SHOAL_OK)
        status = shoal_copy(ctx, s->x, s->x_there, (size_t)s->n * count * number);
    if (status == SHOAL_OK)
        status = shoal_copy(ctx, s->status, s->there.status, count * sizeof *s->status);
    if (status == SHOAL_OK)
        status = shoal_copy(ctx, s->rcond, s->there.rcond, count * sizeof *s->rcond);
    shoal_smallsym_free(plan);
    return status;
}

static const char *method_name(int i) { return i == 0 ? "auto" : shoal_methods("smallsym", i - 1); }

/* One family of one size by every method. */
static int study_family(bench_session *session, batch *s, bench_study *what, io_json *json) {
    shoal_context *ctx = s->place->ctx;
    shoal_status status = batch_allocate(s);
    if (status == SHOAL_OK) status = batch_fill(s, what->seed);
    if (status == SHOAL_OK && !find_references(s)) status = SHOAL_E_NOMEM;
    const char *method;
    for (int i = 0; (method = method_name(i)) && status == SHOAL_OK; i++) {
        shoal_smallsym_info info;
        if (bench_stopped(session)) break;
        status = solve(s, method, 0, &info);
        if (status == SHOAL_OK) {
            const tally t = measure(s);
            json_row(json, s, &info, &t);
            what->wrong += t.wrong;
        } else if (status == SHOAL_E_METHOD) {
            status = SHOAL_OK;
        }
    }
    const char *message = shoal_message(ctx);
    if (status != SHOAL_OK)
        bench_error(session, status, "%s, n = %lld: %s", s->kind, (long long)s->n,
                    *message ? message : shoal_status_text(status));
    batch_free(s);
    return status == SHOAL_OK ? BENCH_OK : BENCH_ERROR;
}

static void json_conditions(io_json *json, const batch *s) {
    io_json_object(json, "conditions");
    io_json_string(json, "kind", s->kind);
    io_json_int(json, "n", s->n);
    io_json_int(json, "count", s->count);
    io_json_array_line(json, "values");
    for (int64_t k = 0; k < s->count; k++) io_json_float(json, NULL, 1 / s->rcond[k]);
    io_json_close(json);
    io_json_close(json);
}

static int study_conditions(bench_session *session, bench_place *place, uint64_t seed,
                            io_json *json) {
    batch s = { .place = place,
                .kind = "regression",
                .type = SHOAL_F64,
                .n = CONDITIONS_N,
                .count = CONDITIONS };
    shoal_smallsym_info info;
    shoal_status status = batch_allocate(&s);
    if (status == SHOAL_OK) status = batch_fill(&s, seed);
    if (status == SHOAL_OK) status = solve(&s, "eigdc", DBL_MAX, &info);
    if (status == SHOAL_OK) json_conditions(json, &s);
    batch_free(&s);
    if (status == SHOAL_OK || status == SHOAL_E_METHOD) return BENCH_OK;
    return bench_error(session, status, "conditions: %s", shoal_message(place->ctx));
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
                batch s = { .place = place,
                            .kind = kind,
                            .type = types[t],
                            .n = sizes[i],
                            .count = what->count };
                code = study_family(session, &s, what, json);
                if (bench_stopped(session)) code = BENCH_STOPPED;
                bench_note(session, "%s, n = %lld, %s", kind, (long long)sizes[i],
                           types[t] == SHOAL_F32 ? "f32" : "f64");
            }
    io_json_close(json);
    return code;
}
