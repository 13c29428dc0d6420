/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.c - recurrences as a module of the bench: the keys of their problem strings, their data, the check of an
 * answer, which shares no line with the library, one problem by one of Shoal's methods or by a peer, their columns and
 * their JSON.
 *
 * The residual of an answer in its own recurrence, r_i = w_i - sum_k s_ik w_{i-k} - t_i, is computed as
 * if in twice the precision of double. The error of w is the same recurrence with r in place of t:
 *
 *     e_i = sum_k |s_ik| e_{i-k} + |r_i|   bounds |w_i - exact|,
 *     c_i = sum_k |s_ik| c_{i-k} + |t_i|   is the sum of the sizes of all products in w_i,
 *
 * and e_i / ((r + 1) (i + 1) c_i), order r, is what substitution keeps below half a unit of
 * roundoff. Its largest value is reported as the residual; an answer passes at one unit, twice what
 * substitution can need. Segments of more than MAX_NUMBERS rows together are sampled.
 */
#include "bench/recur.h"

#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"

static const int64_t MAX_NUMBERS = (int64_t)1 << 29;

/* clang-format off */
static const char *const constants[] = { "none", "s", "t", "both", NULL }; /* the place is the bits */
static const char *const forms[] = { "linear", "moebius", NULL }; /* the place is the shoal_recur_form */
static const char *const directions[] = { "forward", "reverse", NULL };
/* The place is the shoal_recur_phase. */
static const char *const phases[] = { "none", "precomputation", "propagation", "determination", NULL };

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",         BENCH_KEY_SIZE,    FIELD(n),         .usual = "2^20", .list = true },
    { "count",     BENCH_KEY_SIZE,    FIELD(count),     .usual = "1" },
    { "rows",      BENCH_KEY_AMOUNT,  FIELD(count) },
    { "order",     BENCH_KEY_SIZE,    FIELD(order),     .usual = "1", .list = true, .min = 1, .max = SHOAL_RECUR_ORDERS },
    { "form",      BENCH_KEY_CHOICE,  FIELD(form),      .usual = "linear", .list = true, .words = forms },
    { "layout",    BENCH_KEY_CHOICE,  FIELD(layout),    .usual = "system", .list = true, .words = bench_layouts },
    { "constant",  BENCH_KEY_CHOICE,  FIELD(constant),  .usual = "none", .list = true, .words = constants },
    { "direction", BENCH_KEY_CHOICE,  FIELD(direction), .usual = "forward", .words = directions },
    { "kind",      BENCH_KEY_WORD,    FIELD(kind),      .usual = "decay", .names = shoal_recur_kind },
    { "variant",   BENCH_KEY_VARIANT, FIELD(variant) },
    { "threads",   BENCH_KEY_NUMBER,  FIELD(threads),   .usual = "0", .list = true, .inner = true, .max = 1024 },
    { "groups",    BENCH_KEY_NUMBER,  FIELD(groups),    .usual = "0", .list = true, .inner = true, .max = 1 << 20 },
    { "phase",     BENCH_KEY_CHOICE,  FIELD(phase),     .usual = "none", .list = true, .inner = true, .words = phases },
    { "seed",      BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    const bool parts =
        strcmp(key, "threads") == 0 || strcmp(key, "groups") == 0 || strcmp(key, "phase") == 0;
    return !parts || shoal_method_flags("recur", method, NULL) & SHOAL_CAN_PARTS;
}

/* ---- data ------------------------------------------------------------------------------------ */

static shoal_recur_opts shape_of(const bench_problem *p) {
    return (shoal_recur_opts){ .n = p->n,
                               .count = p->count,
                               .order = (int)p->order,
                               .form = (shoal_recur_form)p->form,
                               .reverse = p->direction,
                               .constant_s = (p->constant & BENCH_CONSTANT_S) != 0,
                               .constant_t = (p->constant & BENCH_CONSTANT_T) != 0,
                               .type = p->type,
                               .layout = p->layout };
}

/* Numbers of s per row. */
static int64_t width_of(const bench_problem *p) { return p->form ? 4 : p->order; }

static void sizes(bench_arrays *d) {
    const bench_problem *p = &d->problem;
    const size_t number = bench_number_size(p), count = (size_t)p->count;
    const size_t rows = (size_t)p->n * count;
    d->count = BENCH_RECUR_ARRAYS;
    d->outputs = 1 << BENCH_RECUR_W;
    d->size[BENCH_RECUR_S] =
        (p->constant & BENCH_CONSTANT_S ? count : rows) * (size_t)width_of(p) * number;
    d->size[BENCH_RECUR_T] = (p->constant & BENCH_CONSTANT_T ? count : rows) * number;
    d->size[BENCH_RECUR_W0] = count * (size_t)p->order * number;
    d->size[BENCH_RECUR_W] = rows * number;
}

static shoal_status fill(const bench_session *s, bench_arrays *d) {
    const bench_problem *p = &d->problem;
    const shoal_recur_opts shape = shape_of(p);
    void *const *h = d->host;
    (void)s;
    return BENCH_BY_TYPE(p->type, shoal_recur_generate, d->place->ctx, p->kind, p->seed, 0, &shape,
                         h[0], h[1], h[2]);
}

/* ---- the check ------------------------------------------------------------------------------- */

typedef struct segment_view { /* of one segment, in the order of the recurrence */
    shoal_type type;
    const void *s, *t, *w0, *w;
    int64_t s_at, s_row, t_at, t_row, w_at, w_row, w0_at, n;
    int order, moebius;
} segment_view;

static segment_view view_of(const bench_arrays *d, int64_t k) {
    const shoal_recur_opts o = shape_of(&d->problem);
    const int64_t row = o.layout == SHOAL_INTERLEAVED ? o.count : 1;
    const int64_t start = o.layout == SHOAL_INTERLEAVED ? k : k * o.n;
    const int64_t first = o.reverse ? start + (o.n - 1) * row : start;
    const int64_t step = o.reverse ? -row : row;
    return (segment_view){ .type = o.type,
                           .s = d->host[BENCH_RECUR_S],
                           .t = d->host[BENCH_RECUR_T],
                           .w0 = d->host[BENCH_RECUR_W0],
                           .w = d->host[BENCH_RECUR_W],
                           .s_at = (o.constant_s ? k : first) * width_of(&d->problem),
                           .s_row = o.constant_s ? 0 : step * width_of(&d->problem),
                           .t_at = o.constant_t ? k : first,
                           .t_row = o.constant_t ? 0 : step,
                           .w_at = first,
                           .w_row = step,
                           .w0_at = k * o.order,
                           .n = o.n,
                           .order = o.order,
                           .moebius = d->problem.form };
}

/* The largest e_i / ((r + 1) (i + 1) c_i); infinite where w is not finite. */
static double error_of(const segment_view *v) {
    double w[SHOAL_RECUR_ORDERS], e[SHOAL_RECUR_ORDERS] = { 0 }, c[SHOAL_RECUR_ORDERS], worst = 0;
    for (int j = 0; j < v->order; j++) {
        w[j] = bench_number(v->type, v->w0, v->w0_at + j);
        c[j] = fabs(w[j]);
    }
    for (int64_t i = 0; i < v->n; i++) {
        const double now = bench_number(v->type, v->w, v->w_at + i * v->w_row);
        const double t = bench_number(v->type, v->t, v->t_at + i * v->t_row);
        double high = now, low = 0, error = 0, size = fabs(t);
        subtract_product(&high, &low, t, 1);
        for (int j = 0; j < v->order; j++) {
            const double s = bench_number(v->type, v->s, v->s_at + i * v->s_row + j);
            subtract_product(&high, &low, s, w[j]);
            error += fabs(s) * e[j];
            size += fabs(s) * c[j];
        }
        error += fabs(high + low);
        if (!isfinite(now)) return INFINITY;
        const double part = error == 0 ? 0 : error / ((v->order + 1) * (double)(i + 1) * size);
        if (!(part <= worst)) worst = part;
        for (int j = v->order - 1; j > 0; j--) w[j] = w[j - 1], e[j] = e[j - 1], c[j] = c[j - 1];
        w[0] = now, e[0] = error, c[0] = size;
    }
    return worst;
}

/* Of the Moebius recurrence, w_i (gamma w_{i-1} + delta) = alpha w_{i-1} + beta: the largest residual of a row beside the
 * sizes of its products, over i + 1 as above, since what a part begins with has the errors of all rows before it. */
static double error_of_moebius(const segment_view *v) {
    double before = bench_number(v->type, v->w0, v->w0_at), worst = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const double now = bench_number(v->type, v->w, v->w_at + i * v->w_row);
        double s[4], high = 0, low = 0;
        for (int e = 0; e < 4; e++) s[e] = bench_number(v->type, v->s, v->s_at + i * v->s_row + e);
        const double below = s[2] * before; /* its rounding error is added below */
        subtract_product(&high, &low, s[0], before);
        subtract_product(&high, &low, s[1], 1);
        subtract_product(&high, &low, -now, below);
        subtract_product(&high, &low, -now, fma(s[2], before, -below));
        subtract_product(&high, &low, -now, s[3]);
        const double size = fabs(s[0] * before) + fabs(s[1]) + fabs(now * below) + fabs(now * s[3]);
        if (!isfinite(now)) return INFINITY;
        const double part = high + low == 0 ? 0 : fabs(high + low) / (2 * (double)(i + 1) * size);
        if (!(part <= worst)) worst = part;
        before = now;
    }
    return worst;
}

typedef struct answer { /* to be checked */
    const bench_arrays *data;
    const int32_t *status;
} answer;

static bench_finding look_at_segment(const void *of, int64_t k) {
    const answer *a = of;
    if (a->status && a->status[k] < 0) return (bench_finding){ .error = 0 };
    const segment_view v = view_of(a->data, k);
    const double error = v.moebius ? error_of_moebius(&v) : error_of(&v);
    const bool wrong = !(error <= bench_epsilon(v.type));
    return (bench_finding){ .error = error, .fault = wrong ? "misses its recurrence" : NULL };
}

shoal_status bench_recur_check(const bench_session *s, const bench_arrays *d, const int32_t *status,
                               bench_check *check) {
    const bench_problem *p = &d->problem;
    const int64_t each = p->n > 0 ? p->n : 1;
    const int64_t affordable = MAX_NUMBERS / each > 2 ? MAX_NUMBERS / each : 2;
    const int64_t stride = p->count > affordable ? (p->count + affordable - 1) / affordable : 1;
    const shoal_status copied = bench_arrays_fetch(d);
    if (copied != SHOAL_OK) return copied;
    const int64_t first_wrong = bench_check_sample(
        &(bench_sample){ .count = p->count,
                         .checked = p->count > 0 ? (p->count - 1) / stride + 1 : 0,
                         .stride = stride,
                         .threads = d->place->machine.threads,
                         .stop = s->rules.stop,
                         .status = status,
                         .tolerance = bench_epsilon(p->type),
                         .error_name = "residual",
                         .look = look_at_segment,
                         .of = &(answer){ d, status } },
        check);
    if (first_wrong >= 0)
        snprintf(check->why, sizeof check->why, "segment %lld misses its recurrence; %lld of %lld",
                 (long long)first_wrong, (long long)check->wrong, (long long)check->systems);
    return SHOAL_OK;
}

/* ---- one method, or a peer ------------------------------------------------------------------- */

typedef struct solver {
    shoal_recur *plan;
    const bench_arrays *data;
} solver; /* the plan is one that stops after a phase while that is timed */

static shoal_status solve_set(const solver *v, int set) {
    const bench_arrays *d = v->data;
    void *p[BENCH_RECUR_ARRAYS];
    for (int i = 0; i < BENCH_RECUR_ARRAYS; i++) p[i] = bench_arrays_at(d, i, set);
    return BENCH_BY_TYPE(d->problem.type, shoal_recur_solve, v->plan, p[0], p[1], p[2], p[3]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return solve_set(v, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

static shoal_status verify(const bench_session *s, const solver *v, shoal_recur_info *info,
                           bench_check *check) {
    const bench_arrays *d = v->data;
    shoal_context *ctx = d->place->ctx;
    bench_outcome o;
    shoal_status status = bench_outcome_make(ctx, d->problem.count, BENCH_STATUS, &o);
    if (status == SHOAL_OK) status = shoal_recur_outcome(v->plan, &o.there);
    if (status == SHOAL_OK) status = bench_arrays_paint(d);
    if (status == SHOAL_OK) status = solve_set(v, 0);
    if (status == SHOAL_OK) status = shoal_recur_last(v->plan, info);
    if (status == SHOAL_OK) status = bench_outcome_fetch(ctx, &o);
    if (status == SHOAL_OK && !bench_stopped(s)) status = bench_recur_check(s, d, o.status, check);
    shoal_recur_outcome(v->plan, NULL);
    bench_outcome_free(ctx, &o);
    return status;
}

/* What is timed instead of the whole, once that is verified: the solve up to the end of a phase. */
static shoal_status stop_after(solver *v, shoal_recur_opts opts, int phase) {
    opts.last_phase = (shoal_recur_phase)phase;
    shoal_recur_free(v->plan);
    return shoal_recur_create(v->data->place->ctx, &opts, &v->plan);
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_arrays *d = of;
    solver v = { .data = d };
    shoal_recur_opts opts = shape_of(p);
    opts.method = p->method, opts.variant = p->variant;
    opts.threads = (int)p->threads, opts.groups = (int)p->groups;
    shoal_status status = shoal_recur_create(d->place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, d->place, status);
    shoal_recur_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    char note[80] = "";
    status = verify(s, &v, &info, &check);
    if (status == SHOAL_OK && p->phase && !bench_stopped(s))
        status = stop_after(&v, opts, p->phase);
    if (info.groups > 0)
        snprintf(note, sizeof note, "%d group%s of %d threads", info.groups,
                 info.groups == 1 ? "" : "s", info.threads);
    const bench_solver ours = { .function = info.method,
                                .variant = info.variant,
                                .note = note,
                                .measure = "max residual",
                                .of_checked = "segments",
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &v, .calls = d->sets } };
    const int code =
        bench_add_ours(s, p, d->place, &ours, status, &check, timed && p->n > 0 && p->count > 0);
    shoal_recur_free(v.plan);
    return code;
}

shoal_status bench_recur_check_peer(const bench_session *s, const bench_arrays *d,
                                    bench_check *check) {
    return bench_recur_check(s, d, NULL, check);
}

static int peers(bench_session *s, void *data) {
    bench_arrays *d = data;
    if (d->problem.n == 0 || d->problem.count == 0 || d->problem.form) return BENCH_OK;
    return bench_on_cpu(d->place) ? bench_peer_loop(s, d) : bench_peer_cub(s, d);
}

/* ---- the module ------------------------------------------------------------------------------ */

static double rows(const bench_problem *p) { return (double)p->n * (double)p->count; }

/* w, and s and t where they are arrays. */
static double bytes(const bench_problem *p) {
    const double numbers = 1 + (p->constant & BENCH_CONSTANT_S ? 0 : (double)width_of(p)) +
                           (p->constant & BENCH_CONSTANT_T || p->form ? 0 : 1);
    return numbers * rows(p) * (double)bench_number_size(p);
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %5lld %-8s %11lld %9lld", bench_problem_type(p),
            bench_layouts[p->layout], (long long)p->order, constants[p->constant], (long long)p->n,
            (long long)p->count);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "layout", bench_layouts[p->layout]);
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "order", p->order);
    if (p->form) io_json_string(json, "form", forms[p->form]);
    io_json_string(json, "constant", constants[p->constant]);
    io_json_string(json, "direction", directions[p->direction]);
    if (takes(p->method, "threads") && strcmp(row->who, "Shoal") == 0) {
        io_json_int(json, "threads_asked", p->threads);
        io_json_int(json, "groups_asked", p->groups);
        io_json_string(json, "phase", phases[p->phase]);
    }
}

const bench_module bench_recur = {
    .grammar = { .module = "recur", .has_auto = true, .keys = keys, .takes = takes },
    .size = sizeof(bench_arrays),
    .filler = { sizes, fill },
    .release = bench_arrays_free,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = rows,
    .unit = "Mrows/s",
    .rate = "rows_per_second",
    .heading = "type layout      order constant           n     count",
    .cells = cells,
    .error_name = "max residual",
    .fault = "residual",
    .json_problem = json_problem,
    .checked_key = "segments_checked",
};
