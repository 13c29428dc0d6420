/* SPDX-License-Identifier: Apache-2.0
 *
 * band.c - pentadiagonal and complex systems as a module of the bench: the keys of their problem strings, their data,
 * one problem solved, checked and timed, their columns and their JSON. The answer is checked twice: with all outcomes, and
 * as it is timed, without them.
 */
#include "bench/band.h"

#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"

enum { D = BENCH_BAND_D, B = BENCH_BAND_B, X = BENCH_BAND_X };

static const char *const forms[] = { "penta", "ctridiag", "cpenta", NULL };

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",       BENCH_KEY_SIZE,    FIELD(n),       .usual = "256", .list = true },
    { "count",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "100000" },
    { "rows",    BENCH_KEY_AMOUNT,  FIELD(count) },
    { "nrhs",    BENCH_KEY_SIZE,    FIELD(nrhs),    .usual = "1", .min = 1 },
    { "form",    BENCH_KEY_CHOICE,  FIELD(form),    .usual = "penta", .list = true, .words = forms },
    { "layout",  BENCH_KEY_CHOICE,  FIELD(layout),  .usual = "system", .list = true, .words = bench_layouts },
    { "kind",    BENCH_KEY_WORD,    FIELD(kind),    .usual = "dominant", .names = shoal_band_kind },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

/* ---- data ------------------------------------------------------------------------------------ */

static bool exists(const bench_problem *p, int i) {
    return i >= B || (i >= D - bench_band_width(p) && i <= D + bench_band_width(p));
}

static void sizes(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t rows = (size_t)p->n * (size_t)p->count;
    const size_t matrix = rows * bench_number_size(p) * (size_t)bench_band_parts(p);
    data->count = BENCH_BAND_ARRAYS;
    data->outputs = 1 << X;
    for (int i = 0; i <= X; i++)
        data->size[i] = !exists(p, i) ? 0 : i < B ? matrix : matrix * (size_t)p->nrhs;
}

static shoal_band_opts shape_of(const bench_problem *p) {
    return (shoal_band_opts){ .n = p->n,
                              .count = p->count,
                              .nrhs = p->nrhs,
                              .width = bench_band_width(p),
                              .is_complex = bench_band_parts(p) == 2,
                              .type = p->type,
                              .layout = p->layout };
}

/* 0 in the entries outside the matrix: our solver ignores them, peers do not. */
static void clear_outside(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t number = bench_number_size(p) * (size_t)bench_band_parts(p);
    const int width = bench_band_width(p);
    for (int64_t k = 0; k < p->count; k++)
        for (int e = -width; e <= width; e++)
            for (int64_t i = e < 0 ? 0 : p->n - e; i < (e < 0 ? -e : p->n); i++) {
                const int64_t at = p->layout == SHOAL_INTERLEAVED ? i * p->count + k : k * p->n + i;
                if (i >= 0 && i < p->n)
                    memset((char *)data->host[D + e] + (size_t)at * number, 0, number);
            }
}

static shoal_status fill(const bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const shoal_band_opts shape = shape_of(p);
    void *const *h = data->host;
    (void)s;
    const shoal_status status =
        BENCH_BY_TYPE(p->type, shoal_band_generate, data->place->ctx, p->kind, p->seed, 0, &shape,
                      h[0], h[1], h[2], h[3], h[4], h[B]);
    if (status == SHOAL_OK) clear_outside(data);
    return status;
}

/* ---- the check: shares no line with the library ----------------------------------------------
 *
 * The residual that docs/band.md defines, with products split exactly and sums compensated, as for tridiagonal systems
 * (tridiag.c). More than MAX_NUMBERS unknowns are sampled. */

static const int64_t MAX_NUMBERS = (int64_t)1 << 26;

typedef struct answer { /* to be checked */
    const bench_arrays *data;
    const void *x;
    const int32_t *status;
    const float *residual;
    double tolerance;
} answer;

static bench_finding look_at_column(const answer *a, int64_t k, int64_t j) {
    const bench_problem *p = &a->data->problem;
    const int parts = bench_band_parts(p), width = bench_band_width(p);
    const int64_t row = p->layout == SHOAL_INTERLEAVED ? p->count : 1;
    const int64_t first = p->layout == SHOAL_INTERLEAVED ? k : k * p->n;
    double r = 0, norm_x = 0;
    bench_finding found = { .all_nan = true };
    bool finite = true;
    for (int64_t i = 0; i < p->n; i++) {
        const int64_t at = first + i * row;
        double high[2] = { 0 }, low[2] = { 0 }, most = 0;
        for (int c = 0; c < parts; c++) {
            const double x = bench_number(p->type, a->x, (at * p->nrhs + j) * parts + c);
            high[c] = bench_number(p->type, a->data->host[B], (at * p->nrhs + j) * parts + c);
            found.all_nan = found.all_nan && isnan(x);
            norm_x = fmax(norm_x, fabs(x));
        }
        for (int e = -width; e <= width; e++) {
            if (i + e < 0 || i + e >= p->n) continue;
            const int64_t x_at = ((at + e * row) * p->nrhs + j) * parts;
            for (int c = 0; c < parts; c++) { /* part c of the entry */
                const double v = bench_number(p->type, a->data->host[D + e], at * parts + c);
                most = fmax(most, fabs(v));
                subtract_product(&high[c], &low[c], v, bench_number(p->type, a->x, x_at));
                if (parts > 1)
                    subtract_product(&high[!c], &low[!c], c ? -v : v,
                                     bench_number(p->type, a->x, x_at + 1));
            }
        }
        for (int c = 0; c < parts; c++) {
            const double rest = high[c] + low[c];
            finite = finite && isfinite(rest) && isfinite(most);
            r = fmax(r, most > 0 ? ldexp(fabs(rest), -ilogb(most)) : rest == 0 ? 0 : INFINITY);
        }
    }
    found.error = !finite ? NAN : r == 0 ? 0 : r / norm_x;
    return found;
}

/* NULL, or what is wrong with system k. */
static const char *fault_of(const answer *a, const bench_finding *f, int64_t k) {
    const int32_t status = a->status ? a->status[k] : SHOAL_SYSTEM_OK;
    const double slack = 16 * bench_epsilon(a->data->problem.type);
    if (status < 0 && (!f->all_nan || isnan(f->error))) return "no answer, but x is not all NaN";
    if (isnan(f->error)) return "x is not finite";
    if (f->error > a->tolerance && status != SHOAL_SYSTEM_ILL) return "the residual is too large";
    if (a->residual && status >= 0 && !(fabs(a->residual[k] - f->error) <= 0.5 * f->error + slack))
        return "the solver reports another residual";
    return NULL;
}

/* The worst over the right-hand sides; of a system that failed, over those that are answered. */
static bench_finding look_at_system(const void *of, int64_t k) {
    const answer *a = of;
    const bool failed = a->status && a->status[k] < 0;
    bench_finding worst = { .error = 0 };
    for (int64_t j = 0; j < a->data->problem.nrhs; j++) {
        const bench_finding one = look_at_column(a, k, j);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (failed && one.all_nan) continue;
        if (!(one.error <= worst.error) && !isnan(worst.error)) worst.error = one.error;
    }
    worst.fault = fault_of(a, &worst, k);
    return worst;
}

void bench_band_check(const bench_session *s, const bench_arrays *data, const void *x,
                      const int32_t *status, const float *residual, bench_check *check) {
    const bench_problem *p = &data->problem;
    const double tolerance = 100 * bench_epsilon(p->type);
    const answer a = { data, x, status, residual, tolerance };
    const int64_t each = p->n > 0 ? p->n * p->nrhs : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride = p->count > affordable ? (p->count + affordable - 1) / affordable : 1;
    bench_check_sample(&(bench_sample){ .count = p->count,
                                        .checked = p->count > 0 ? (p->count - 1) / stride + 1 : 0,
                                        .stride = stride,
                                        .threads = data->place->machine.threads,
                                        .stop = s->rules.stop,
                                        .status = status,
                                        .tolerance = tolerance,
                                        .error_name = "residual",
                                        .look = look_at_system,
                                        .of = &a },
                       check);
}

/* ---- one method ------------------------------------------------------------------------------ */

typedef struct solver {
    shoal_band *plan;
    const bench_arrays *data;
} solver;

static int timed_call(void *self, int i) {
    const solver *v = self;
    void *p[BENCH_BAND_ARRAYS];
    for (int a = 0; a < BENCH_BAND_ARRAYS; a++)
        p[a] = bench_arrays_at(v->data, a, i % v->data->sets);
    const shoal_status status = BENCH_BY_TYPE(v->data->problem.type, shoal_band_solve, v->plan,
                                              p[0], p[1], p[2], p[3], p[4], p[B], p[X]);
    return status == SHOAL_OK ? 0 : -1;
}

/* Solves set 0 into an x full of a wrong number and checks the answer. Without outcomes the statuses are those of the
 * solve before. */
static shoal_status solve_and_check(const bench_session *s, solver *v, bool with_outcome,
                                    bench_outcome *o, bench_check *check) {
    const bench_arrays *d = v->data;
    shoal_context *ctx = d->place->ctx;
    shoal_status status = shoal_band_outcome(v->plan, with_outcome ? &o->there : NULL);
    if (status == SHOAL_OK) status = bench_arrays_paint(d);
    if (status == SHOAL_OK && timed_call(v, 0) != 0) status = SHOAL_E_ARG;
    if (status == SHOAL_OK) status = shoal_wait(ctx);
    if (status == SHOAL_OK) status = bench_arrays_fetch(d);
    if (status == SHOAL_OK && with_outcome) status = bench_outcome_fetch(ctx, o);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    bench_band_check(s, d, d->host[X], o->status, with_outcome ? o->residual : NULL, check);
    return SHOAL_OK;
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_arrays *data = of;
    solver v = { .data = data };
    shoal_band_opts opts = shape_of(p);
    opts.method = p->method;
    shoal_status status = shoal_band_create(data->place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, data->place, status);
    shoal_band_info info = { .method = p->method };
    bench_check check = { 0 }, plain = { 0 };
    bench_outcome o;
    status = bench_outcome_make(data->place->ctx, p->count, BENCH_STATUS | BENCH_RESIDUAL, &o);
    if (status == SHOAL_OK) status = solve_and_check(s, &v, true, &o, &check);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        status = solve_and_check(s, &v, false, &o, &plain);
        bench_check_join(&check, &plain);
    }
    if (status == SHOAL_OK && !bench_stopped(s)) status = shoal_band_last(v.plan, &info);
    bench_outcome_free(data->place->ctx, &o);
    const bench_solver ours = { .function = info.method,
                                .measure = "max residual",
                                .of_checked = "systems",
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = data->sets } };
    const int code =
        bench_add_ours(s, p, data->place, &ours, status, &check, timed && p->n > 0 && p->count > 0);
    shoal_band_free(v.plan);
    return code;
}

static int peers(bench_session *s, void *of) {
    bench_arrays *data = of;
    return bench_on_cpu(data->place) ? bench_band_lapack(s, data) : bench_band_cusparse(s, data);
}

/* ---- the module ------------------------------------------------------------------------------ */

static double rows(const bench_problem *p) { return (double)p->n * (double)p->count; }

static double bytes(const bench_problem *p) {
    return (2 * bench_band_width(p) + 1 + 2.0 * (double)p->nrhs) * rows(p) *
           (double)bench_number_size(p) * bench_band_parts(p);
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-8s %-11s %8lld %9lld", bench_problem_type(p), forms[p->form],
            bench_layouts[p->layout], (long long)p->n, (long long)p->count);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "form", forms[p->form]);
    io_json_string(json, "layout", bench_layouts[p->layout]);
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "nrhs", p->nrhs);
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "systems_per_second", (double)row->problem.count / row->time.median);
}

const bench_module bench_band = {
    .grammar = { .module = "band", .has_auto = true, .keys = keys },
    .size = sizeof(bench_arrays),
    .filler = { sizes, fill },
    .release = bench_arrays_free,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = rows,
    .unit = "Mrows/s",
    .rate = "rows_per_second",
    .heading = "type form     layout             n     count",
    .cells = cells,
    .error_name = "max residual",
    .fault = "residual",
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "systems_checked",
};
