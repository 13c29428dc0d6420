/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.c - tridiagonal systems as a module of the bench: the keys of their problem strings, their data, one problem
 * by one of Shoal's methods (solved, checked, timed), their columns and their JSON.
 *
 * The answer is checked twice: with status and residual (their values are compared with what the check
 * finds), and as it is timed, without them.
 */
#include "bench/tridiag.h"

#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"
#include "bench/peers.h"

enum { DL = BENCH_DL, D = BENCH_D, DU = BENCH_DU, B = BENCH_B, X = BENCH_X };
enum { SLICE = 1 << 22 };

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",       BENCH_KEY_SIZE,    FIELD(n),       .usual = "256", .list = true },
    { "count",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "100000" },
    { "rows",    BENCH_KEY_AMOUNT,  FIELD(count) },
    { "nrhs",    BENCH_KEY_SIZE,    FIELD(nrhs),    .usual = "1", .min = 1 },
    { "layout",  BENCH_KEY_CHOICE,  FIELD(layout),  .usual = "system", .list = true, .words = bench_layouts },
    { "kind",    BENCH_KEY_WORD,    FIELD(kind),    .usual = "dominant", .names = shoal_tridiag_kind, .values = true },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "threads", BENCH_KEY_NUMBER,  FIELD(threads), .usual = "0", .list = true, .inner = true, .max = 1024 },
    { "groups",  BENCH_KEY_NUMBER,  FIELD(groups),  .usual = "0", .list = true, .inner = true, .max = 1 << 20 },
    { "block",   BENCH_KEY_NUMBER,  FIELD(block),   .usual = "0", .list = true, .inner = true, .max = 4096 },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    const bool parts = strcmp(key, "threads") == 0 || strcmp(key, "groups") == 0;
    if (strcmp(key, "block") == 0)
        return shoal_method_flags("tridiag", method, NULL) & SHOAL_CAN_DELTA;
    return !parts || shoal_method_flags("tridiag", method, NULL) & SHOAL_CAN_PARTS;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void sizes(bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const size_t matrix = (size_t)p->n * (size_t)p->count * bench_number_size(p);
    data->count = X + 1;
    data->outputs = 1 << X;
    for (int i = DL; i <= X; i++) data->size[i] = i < B ? matrix : matrix * (size_t)p->nrhs;
}

/* Systems first .. first + count - 1. */
static shoal_status generate_slice(bench_arrays *data, int64_t first, int64_t count) {
    const bench_problem *p = &data->problem;
    const shoal_tridiag_opts shape = {
        .n = p->n, .count = count, .nrhs = p->nrhs, .type = p->type, .layout = p->layout
    };
    const size_t start = (size_t)(first * p->n) * bench_number_size(p);
    void *h[4];
    for (int i = DL; i <= B; i++)
        h[i] = (char *)data->host[i] + start * (i == B ? (size_t)p->nrhs : (size_t)1);
    return BENCH_BY_TYPE(p->type, shoal_tridiag_generate, data->place->ctx, p->kind, p->seed, first,
                         &shape, h[DL], h[D], h[DU], h[B]);
}

/* In slices of about SLICE numbers per array, so that Ctrl-C is heard between them; an interleaved
 * batch is one slice. */
static shoal_status fill(const bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const int64_t each = p->n > 0 ? p->n * p->nrhs : 1;
    const bool whole = p->layout == SHOAL_INTERLEAVED || each * p->count <= SLICE;
    const int64_t slice = whole ? p->count : each < SLICE ? SLICE / each : 1;
    shoal_status status = SHOAL_OK;
    for (int64_t first = 0; first < p->count && status == SHOAL_OK; first += slice) {
        if (bench_stopped(s)) break;
        status = generate_slice(data, first, p->count - first < slice ? p->count - first : slice);
    }
    return status;
}

/* 0 in the entries that do not exist, everywhere: our solvers ignore them, peers do not. */
static int clear_outside(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const size_t number = bench_number_size(p);
    for (int64_t k = 0; k < p->count && p->n > 0; k++) {
        int64_t first = apart ? k : k * p->n;
        int64_t last = apart ? (p->n - 1) * p->count + k : k * p->n + p->n - 1;
        memset((char *)data->host[DL] + (size_t)first * number, 0, number);
        memset((char *)data->host[DU] + (size_t)last * number, 0, number);
    }
    shoal_status status = bench_arrays_upload(data, DL);
    if (status == SHOAL_OK) status = bench_arrays_upload(data, DU);
    if (status == SHOAL_OK) return BENCH_OK;
    return bench_error(s, status, "%s", shoal_message(data->place->ctx));
}

bench_view bench_view_of(const bench_arrays *data, const void *x) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    bench_view view = { .type = p->type, .n = p->n, .count = p->count, .nrhs = p->nrhs };
    view.row = apart ? p->count : 1;
    view.system = apart ? 1 : p->n;
    view.b_row = view.row * p->nrhs;
    view.b_system = view.system * p->nrhs;
    view.b_rhs = 1;
    view.dl = data->host[DL], view.d = data->host[D], view.du = data->host[DU];
    view.b = data->host[B];
    view.x = x;
    return view;
}

/* ---- the check: shares no line with the library ----------------------------------------------
 *
 * For each system and right-hand side the residual that docs/tridiag.md defines,
 *
 *     max_i |b_i - dl_i x_{i-1} - d_i x_i - du_i x_{i+1}| 2^-e_i / max_j |x_j|,
 *
 * 2^e_i the power of two at or below the largest entry of row i, is computed with products split exactly (Dekker's two-product by fma) and sums compensated
 * (Knuth's two-sum), so that its own rounding is far below one unit of the solver's: twice the
 * working precision of double. An answer passes at 100 units of roundoff. More than MAX_NUMBERS
 * unknowns are sampled: every stride-th system, the first and last among them.
 *
 * Wrong is what the solver did not own up to. A column of NaN under a status below 0 is an honest
 * failure, and a large residual under SHOAL_SYSTEM_ILL an honest warning: neither passes, but
 * neither is wrong. */

static const int64_t MAX_NUMBERS = (int64_t)1 << 27;

typedef struct answer { /* to be checked */
    const bench_view *view;
    const int32_t *status;
    const float *residual;
    double tolerance;
} answer;

static bench_finding look_at_column(const bench_view *v, int64_t k, int64_t j) {
    double r = 0, norm_x = 0;
    bench_finding found = { .all_nan = true };
    bool finite = true;
    for (int64_t i = 0; i < v->n; i++) {
        const int64_t at = i * v->row + k * v->system;
        const int64_t b_at = i * v->b_row + k * v->b_system + j * v->b_rhs;
        const double dl = i > 0 ? bench_number(v->type, v->dl, at) : 0;
        const double d = bench_number(v->type, v->d, at);
        const double du = i + 1 < v->n ? bench_number(v->type, v->du, at) : 0;
        const double b = bench_number(v->type, v->b, b_at), x = bench_number(v->type, v->x, b_at);
        double high = b, low = 0;
        if (i > 0) subtract_product(&high, &low, dl, bench_number(v->type, v->x, b_at - v->b_row));
        subtract_product(&high, &low, d, x);
        if (i + 1 < v->n)
            subtract_product(&high, &low, du, bench_number(v->type, v->x, b_at + v->b_row));
        const double row = high + low, most = fmax(fmax(fabs(dl), fabs(d)), fabs(du));
        finite = finite && isfinite(row) && isfinite(most);
        found.all_nan = found.all_nan && isnan(x);
        r = fmax(r, most > 0 ? ldexp(fabs(row), -ilogb(most)) : row == 0 ? 0 : INFINITY);
        norm_x = fmax(norm_x, fabs(x));
    }
    found.error = !finite ? NAN : r == 0 ? 0 : r / norm_x;
    return found;
}

/* NULL, or what is wrong with system k. What the status reports is counted elsewhere. */
static const char *fault_of(const answer *a, const bench_finding *f, int64_t k) {
    const int32_t status = a->status ? a->status[k] : SHOAL_SYSTEM_OK;
    const double slack = 8 * bench_epsilon(a->view->type);
    if (status > SHOAL_SYSTEM_REFINED || status < SHOAL_SYSTEM_OVERFLOW)
        return "status has a value that does not exist";
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
    for (int64_t j = 0; j < a->view->nrhs; j++) {
        const bench_finding one = look_at_column(a->view, k, j);
        worst.all_nan = worst.all_nan || one.all_nan;
        if (failed && one.all_nan) continue;
        if (!(one.error <= worst.error) && !isnan(worst.error)) worst.error = one.error;
    }
    worst.fault = fault_of(a, &worst, k);
    return worst;
}

void bench_tridiag_check(const bench_view *view, const int32_t *status, const float *residual,
                         int threads, bench_check *check) {
    const double tolerance = 100 * bench_epsilon(view->type);
    const answer a = { view, status, residual, tolerance };
    const int64_t each = view->n > 0 && view->nrhs > 0 ? view->n * view->nrhs : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride =
        view->count > affordable ? (view->count + affordable - 1) / affordable : 1;
    bench_check_sample(
        &(bench_sample){ .count = view->count,
                         .checked = view->count > 0 ? (view->count - 1) / stride + 1 : 0,
                         .stride = stride,
                         .threads = threads,
                         .stop = view->stop,
                         .status = status,
                         .tolerance = tolerance,
                         .error_name = "residual",
                         .look = look_at_system,
                         .of = &a },
        check);
}

/* ---- one method ------------------------------------------------------------------------------ */

typedef struct solver {
    shoal_tridiag *plan;
    const bench_arrays *data;
} solver;

static shoal_status solve_set(const solver *v, int set) {
    const bench_arrays *d = v->data;
    void *p[X + 1];
    for (int i = DL; i <= X; i++) p[i] = bench_arrays_at(d, i, set);
    return BENCH_BY_TYPE(d->problem.type, shoal_tridiag_solve, v->plan, p[DL], p[D], p[DU], p[B],
                         p[X]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return solve_set(v, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

/* Solves set 0 into an x full of a wrong number and checks the answer. Without outcomes the statuses are
 * those of the solve before: they must be the same. */
static shoal_status solve_and_check(const bench_session *s, const solver *v, bool with_outcome,
                                    bench_outcome *o, bench_check *check) {
    const bench_arrays *d = v->data;
    shoal_context *ctx = d->place->ctx;
    shoal_status status = shoal_tridiag_outcome(v->plan, with_outcome ? &o->there : NULL);
    if (status == SHOAL_OK) status = bench_arrays_paint(d);
    if (status == SHOAL_OK) status = solve_set(v, 0);
    if (status == SHOAL_OK) status = shoal_wait(ctx);
    if (status == SHOAL_OK) status = bench_arrays_fetch(d);
    if (status == SHOAL_OK && with_outcome) status = bench_outcome_fetch(ctx, o);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    bench_view view = bench_view_of(d, d->host[X]);
    view.stop = s->rules.stop;
    bench_tridiag_check(&view, o->status, with_outcome ? o->residual : NULL,
                        d->place->machine.threads, check);
    return SHOAL_OK;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const solver *v, bench_check *check) {
    bench_outcome o;
    bench_check plain = { 0 };
    shoal_context *ctx = v->data->place->ctx;
    shoal_status status =
        bench_outcome_make(ctx, v->data->problem.count, BENCH_STATUS | BENCH_RESIDUAL, &o);
    if (status == SHOAL_OK) status = solve_and_check(s, v, true, &o, check);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        status = solve_and_check(s, v, false, &o, &plain);
        bench_check_join(check, &plain);
    }
    bench_outcome_free(ctx, &o);
    return status;
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_arrays *data = of;
    solver v = { .data = data };
    shoal_tridiag_opts opts = { .n = p->n,
                                .count = p->count,
                                .nrhs = p->nrhs,
                                .type = p->type,
                                .layout = p->layout,
                                .method = p->method,
                                .variant = p->variant,
                                .threads = (int)p->threads,
                                .groups = (int)p->groups,
                                .block = (int)p->block };
    shoal_status status = shoal_tridiag_create(data->place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, data->place, status);
    shoal_tridiag_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    char note[80] = "";
    status = verify(s, &v, &check);
    if (status == SHOAL_OK && !bench_stopped(s)) /* else its outcome may be that of freed arrays */
        status = shoal_tridiag_last(v.plan, &info);
    if (info.redone > 0)
        snprintf(note, sizeof note, "%lld right-hand sides redone with pivoting",
                 (long long)info.redone);
    if (info.groups > 0)
        snprintf(note, sizeof note, "%d group%s of %d threads", info.groups,
                 info.groups == 1 ? "" : "s", info.threads);
    const bench_solver ours = { .function = info.method,
                                .variant = strcmp(info.method, "auto") != 0 ? info.variant : NULL,
                                .note = note,
                                .measure = "max residual",
                                .of_checked = "systems",
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = data->sets } };
    const int code =
        bench_add_ours(s, p, data->place, &ours, status, &check, timed && p->n > 0 && p->count > 0);
    shoal_tridiag_free(v.plan);
    return code;
}

static int peers(bench_session *s, void *of) {
    bench_arrays *data = of;
    if (clear_outside(s, data) != BENCH_OK) return BENCH_ERROR;
    return bench_on_cpu(data->place) ? bench_peer_lapack(s, data) : bench_peer_cusparse(s, data);
}

/* ---- the module ------------------------------------------------------------------------------ */

static double rows(const bench_problem *p) { return (double)p->n * (double)p->count; }

static double bytes(const bench_problem *p) {
    return (3.0 + 2.0 * (double)p->nrhs) * rows(p) * (double)bench_number_size(p);
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %8lld %9lld", bench_problem_type(p), bench_layouts[p->layout],
            (long long)p->n, (long long)p->count);
}

static void check_cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %-10s %8lld %9lld", bench_problem_type(p), bench_layouts[p->layout],
            p->kind, (long long)p->n, (long long)p->count);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "layout", bench_layouts[p->layout]);
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "nrhs", p->nrhs);
    if (takes(p->method, "threads") && strcmp(row->who, "Shoal") == 0) {
        io_json_int(json, "threads_asked", p->threads);
        io_json_int(json, "groups_asked", p->groups);
    }
    if (p->block > 0) io_json_int(json, "block", p->block);
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "systems_per_second", (double)row->problem.count / row->time.median);
}

const bench_module bench_tridiag = {
    .grammar = { .module = "tridiag", .has_auto = true, .keys = keys, .takes = takes },
    .size = sizeof(bench_arrays),
    .filler = { sizes, fill },
    .release = bench_arrays_free,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = rows,
    .unit = "Mrows/s",
    .rate = "rows_per_second",
    .heading = "type layout             n     count",
    .check_heading = "type layout      kind              n     count",
    .cells = cells,
    .check_cells = check_cells,
    .error_name = "max residual",
    .fault = "residual",
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "systems_checked",
};
