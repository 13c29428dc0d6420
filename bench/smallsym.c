/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.c - small symmetric systems as a module of the bench: the keys of their problem strings, one problem by one of
 * Shoal's methods (solved, checked, timed), their columns and their JSON. The key "pairs" sets eigenpairs instead, "stage"
 * a stage of hhpcr, "gram" regressions.
 *
 * The answer is checked twice: with status, residual and condition bound (their values are compared with
 * what the check finds), and without them. The key "outcome" sets which of the two is timed. Eigenvalues alone
 * are compared with those of pairs that passed.
 *
 * The fewest bytes are those of A as it is stored, of b and of x: n^2 + 2 n nrhs numbers per system,
 * packed n (n + 1) / 2 + 2 n nrhs; of eigenpairs those of A, or of d and e, and of what is written: n
 * numbers, with the vectors n + n^2; of stages those of A, d, e and Q, or of d, e, Q, b and x; of
 * regressions those of psi, y and x: M n + (M + n) nrhs. Peers
 * are for what a method can do, so that methods are measured on the same data beside different peers:
 * see bench_peers_for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"
#include "bench/smallsym.h"

/* clang-format off */
static const char *const pair_names[] = { "none", "values", "vectors", "tridiag", NULL };
static const char *const stage_names[] = { "none", "reduce", "pcr", NULL };

static double matrix_bytes(const bench_problem *p) {
    return bench_systems_entries(p) * (double)bench_number_size(p);
}

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",        BENCH_KEY_SIZE,    FIELD(n),        .usual = "32", .list = true },
    { "count",    BENCH_KEY_SIZE,    FIELD(count),    .usual = "100000" },
    { "bytes",    BENCH_KEY_AMOUNT,  FIELD(count),    .each = matrix_bytes },
    { "nrhs",     BENCH_KEY_SIZE,    FIELD(nrhs),     .usual = "1", .min = 1 },
    { "layout",   BENCH_KEY_CHOICE,  FIELD(layout),   .usual = "system", .list = true, .words = bench_layouts },
    { "storage",  BENCH_KEY_CHOICE,  FIELD(storage),  .usual = "full", .list = true, .words = bench_storages },
    { "triangle", BENCH_KEY_CHOICE,  FIELD(triangle), .usual = "lower", .list = true, .words = bench_triangles },
    { "kind",     BENCH_KEY_WORD,    FIELD(kind),     .usual = "spd", .list = true, .names = shoal_smallsym_kind },
    { "parameter", BENCH_KEY_REAL, FIELD(parameter), .list = true },
    { "variant",  BENCH_KEY_VARIANT, FIELD(variant) },
    { "team",     BENCH_KEY_NUMBER,  FIELD(team),     .usual = "0", .max = 1024, .list = true, .inner = true },
    { "refine",   BENCH_KEY_NUMBER,  FIELD(refine),   .usual = "0", .max = 100, .list = true, .inner = true },
    { "estimate", BENCH_KEY_CHOICE,  FIELD(estimate), .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "outcome",  BENCH_KEY_CHOICE,  FIELD(outcome),  .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "pairs",    BENCH_KEY_CHOICE,  FIELD(pairs),    .usual = "none", .list = true, .words = pair_names },
    { "stage",    BENCH_KEY_CHOICE,  FIELD(stage),    .usual = "none", .list = true, .words = stage_names },
    { "gram",     BENCH_KEY_SIZE,    FIELD(gram),     .usual = "0", .list = true },
    { "seed",     BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    if (strcmp(key, "pairs") == 0)
        return shoal_method_flags("smallsym", method, NULL) & SHOAL_CAN_EIGEN;
    if (strcmp(key, "stage") == 0)
        return shoal_method_flags("smallsym", method, NULL) & SHOAL_CAN_STAGES;
    if (strcmp(key, "team") != 0) return true;
    const char *variant;
    for (int i = 0; (variant = shoal_variants("smallsym", method, i)); i++)
        if (shoal_method_flags("smallsym", method, variant) & SHOAL_CAN_TEAM) return true;
    return false;
}

/* Regressions are formed from samples: keys of A, and those of other results than x, mean nothing. */
static const char *excluded(const bench_problem *p, const char **other) {
    *other = "gram";
    if (!p->gram) return NULL;
    return p->pairs                      ? "pairs"
           : p->stage                    ? "stage"
           : p->storage != SHOAL_FULL    ? "storage"
           : p->triangle != SHOAL_LOWER  ? "triangle"
           : strcmp(p->kind, "spd") != 0 ? "kind"
           : !isnan(p->parameter)        ? "parameter"
                                         : NULL;
}

/* What the systems are, in a row. */
static const char *kind_of(const bench_problem *p) { return p->gram ? "samples" : p->kind; }

bench_peer_class bench_peers_for(const bench_problem *p) {
    /* auto begins with a method without pivots */
    const bool chosen = strcmp(p->method, "auto") != 0;
    const unsigned flags = chosen ? shoal_method_flags("smallsym", p->method, NULL) : 0;
    if (p->pairs || flags & SHOAL_CAN_EIGEN) return BENCH_PEERS_EIGEN;
    return flags & SHOAL_CAN_PIVOT ? BENCH_PEERS_PIVOTED : BENCH_PEERS_DEFINITE;
}

static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_same_data(p, q) && bench_peers_for(p) == bench_peers_for(q);
}

typedef struct solver {
    shoal_smallsym *plan;
    const bench_arrays *data;
} solver;

static shoal_status find_pairs(const solver *v, int pairs, void *A, void *w) {
    const bench_problem *p = &v->data->problem;
    void *V = pairs == BENCH_PAIRS_VALUES ? NULL : (char *)w + bench_systems_second(p);
    void *e = (char *)A + bench_systems_second(p);
    if (pairs == BENCH_PAIRS_TRIDIAG)
        return BENCH_BY_TYPE(p->type, shoal_smallsym_eigtridiag, v->plan, A, e, w, V);
    return BENCH_BY_TYPE(p->type, shoal_smallsym_eig, v->plan, A, w, V);
}

/* A to d, e and Q in x, or those in A to x. */
static shoal_status run_stage(const solver *v, void *A, void *b, void *x) {
    const bench_problem *p = &v->data->problem;
    const bool reduces = p->stage == BENCH_STAGE_REDUCE;
    void *d = reduces ? x : A, *e = (char *)d + bench_systems_second(p),
         *q = (char *)d + bench_systems_third(p);
    if (reduces) return BENCH_BY_TYPE(p->type, shoal_smallsym_reduce, v->plan, A, d, e, q);
    return BENCH_BY_TYPE(p->type, shoal_smallsym_pcr, v->plan, d, e, q, b, x);
}

/* The call of a bench_pairs_wanted on one set. */
static shoal_status call_set(const solver *v, int pairs, int set) {
    const bench_problem *p = &v->data->problem;
    void *a[3];
    for (int i = 0; i < 3; i++) a[i] = bench_arrays_at(v->data, i, set);
    if (pairs) return find_pairs(v, pairs, a[0], a[2]);
    if (p->stage) return run_stage(v, a[0], a[1], a[2]);
    if (p->gram)
        return BENCH_BY_TYPE(p->type, shoal_smallsym_gram, v->plan, p->gram, a[0], a[1], a[2]);
    return BENCH_BY_TYPE(p->type, shoal_smallsym_solve, v->plan, a[0], a[1], a[2]);
}

static int timed_call(void *self, int i) {
    const solver *v = self;
    return call_set(v, v->data->problem.pairs, i % v->data->sets) == SHOAL_OK ? 0 : -1;
}

/* The call on set 0, into `bytes` full of a wrong number, which it brings home. */
static shoal_status answer_of(const solver *v, int pairs, size_t bytes, void *home) {
    const bench_arrays *d = v->data;
    shoal_context *ctx = d->place->ctx;
    void *there = bench_arrays_at(d, 2, 0);
    memset(home, 0x42, bytes);
    shoal_status status = bytes > 0 ? shoal_copy(ctx, there, home, bytes) : SHOAL_OK;
    if (status == SHOAL_OK) status = call_set(v, pairs, 0);
    if (status == SHOAL_OK) status = shoal_wait(ctx);
    if (status == SHOAL_OK && bytes > 0) status = shoal_copy(ctx, home, there, bytes);
    return status;
}

/* The answer of set 0 is checked. Without outcomes the statuses are those of the call before: they must be
 * the same. */
static shoal_status solve_and_check(const bench_session *s, const solver *v, bool with_outcome,
                                    bench_outcome *o, bench_check *check) {
    const bench_arrays *d = v->data;
    shoal_context *ctx = d->place->ctx;
    const int pairs = d->problem.pairs;
    const bool values = pairs == BENCH_PAIRS_VALUES;
    void *alone = values ? malloc(bench_systems_second(&d->problem) + 1) : NULL;
    shoal_status status = alone || !values ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK)
        status = shoal_smallsym_outcome(v->plan, with_outcome ? &o->there : NULL);
    if (status == SHOAL_OK)
        status = answer_of(v, values ? BENCH_PAIRS_VECTORS : pairs, d->size[2], d->host[2]);
    if (with_outcome && status == SHOAL_OK) status = bench_outcome_fetch(ctx, o);
    if (values && status == SHOAL_OK)
        status = answer_of(v, pairs, bench_systems_second(&d->problem), alone);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        bench_symmetric view = bench_symmetric_of(d, d->host[2]);
        view.stop = s->rules.stop;
        const bench_pairs found = bench_pairs_of(d, d->host[2], alone);
        const bench_parts parts = bench_parts_of(d, d->host[2]);
        const int stage = d->problem.stage; /* whose residual is not that of A x = b */
        const bench_reported reported = { .status = o->status,
                                          .residual = with_outcome && !stage ? o->residual : NULL,
                                          .rcond = with_outcome ? o->rcond : NULL };
        view.parts = stage == BENCH_STAGE_REDUCE ? &parts : NULL;
        view.pairs = pairs ? &found : NULL;
        bench_smallsym_check(&view, &reported, d->place->machine.threads, check);
    }
    free(alone);
    return status;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const solver *v, bench_outcome *o,
                           bench_check *check) {
    bench_check plain = { 0 };
    shoal_status status = solve_and_check(s, v, true, o, check);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    status = solve_and_check(s, v, false, o, &plain);
    bench_check_join(check, &plain);
    return status;
}

/* Verifies a problem and adds its row; timed if it passed. */
static int run_plan(bench_session *s, solver *v, const bench_problem *p, bool timed) {
    shoal_context *ctx = v->data->place->ctx;
    const int64_t distinct = bench_systems_distinct(p);
    char redone[64] = "", repeated[64] = "", note[160];
    shoal_smallsym_info info = { .method = p->method, .variant = p->variant };
    bench_check check = { 0 };
    bench_outcome o;
    shoal_status status =
        bench_outcome_make(ctx, p->count, BENCH_STATUS | BENCH_RESIDUAL | BENCH_RCOND, &o);
    if (status == SHOAL_OK) status = verify(s, v, &o, &check);
    if (status == SHOAL_OK) status = shoal_smallsym_last(v->plan, &info);
    if (status == SHOAL_OK) status = shoal_smallsym_outcome(v->plan, p->outcome ? &o.there : NULL);
    if (info.redone > 0)
        snprintf(redone, sizeof redone, "%lld systems redone by the second method",
                 (long long)info.redone);
    if (distinct < p->count)
        snprintf(repeated, sizeof repeated, "%lld systems differ, the others repeat them",
                 (long long)distinct);
    snprintf(note, sizeof note, "%s%s%s", repeated, *redone && *repeated ? "; " : "", redone);
    const bench_solver ours = { .function = info.method,
                                .variant = strcmp(info.method, "auto") != 0 ? info.variant : NULL,
                                .note = note,
                                .measure = "max residual",
                                .of_checked = "systems",
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = v, .calls = v->data->sets } };
    const int code = bench_add_ours(s, p, v->data->place, &ours, status, &check,
                                    timed && p->n > 0 && p->count > 0);
    bench_outcome_free(ctx, &o);
    return code;
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_arrays *data = of;
    solver v = { .data = data };
    const shoal_smallsym_opts opts = { .n = p->n,
                                       .count = p->count,
                                       .nrhs = p->nrhs,
                                       .type = p->type,
                                       .layout = p->layout,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .team = (int)p->team,
                                       .refine = (int)p->refine,
                                       .estimate = p->estimate,
                                       .gram = p->gram > 0 };
    const shoal_status status = shoal_smallsym_create(data->place->ctx, &opts, &v.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, data->place, status);
    const int code = run_plan(s, &v, p, timed);
    shoal_smallsym_free(v.plan);
    return code;
}

/* Nobody else has the stages. */
static int peers(bench_session *s, void *data) {
    bench_arrays *d = data;
    return d->problem.stage ? BENCH_OK : bench_peers_smallsym(s, d);
}

static double systems(const bench_problem *p) { return (double)p->count; }

static double bytes(const bench_problem *p) {
    const double n = (double)p->n;
    const double rest = p->stage == BENCH_STAGE_REDUCE   ? (n > 0 ? 2 * n - 1 + n * n : 0)
                        : p->gram                        ? (n + (double)p->gram) * (double)p->nrhs
                        : !p->pairs                      ? 2 * n * (double)p->nrhs
                        : p->pairs == BENCH_PAIRS_VALUES ? n
                                                         : n + n * n;
    const double numbers = bench_systems_entries(p) + rest;
    return numbers * systems(p) * (double)bench_number_size(p);
}

/* One more word, with a number unless that is 0. */
static void append(char text[BENCH_TEXT], const char *what, double number) {
    const size_t used = strlen(text);
    const char *gap = used ? " " : "";
    char digits[BENCH_REAL];
    if (number > 0)
        snprintf(text + used, BENCH_TEXT - used, "%s%s=%s", gap, what,
                 bench_real_text(number, digits));
    else
        snprintf(text + used, BENCH_TEXT - used, "%s%s", gap, what);
}

char *bench_smallsym_options(const bench_problem *p, char text[BENCH_TEXT]) {
    text[0] = 0;
    if (!isnan(p->parameter)) append(text, "parameter", p->parameter);
    if (p->triangle == SHOAL_UPPER) append(text, "upper", 0);
    if (p->nrhs != 1) append(text, "nrhs", (double)p->nrhs);
    if (p->gram > 0) append(text, "gram", (double)p->gram);
    if (p->team > 0) append(text, "team", (double)p->team);
    if (p->refine > 0) append(text, "refine", (double)p->refine);
    if (p->estimate) append(text, "estimate", 0);
    if (p->outcome) append(text, "outcome", 0);
    if (p->pairs) append(text, pair_names[p->pairs], 0);
    if (p->stage) append(text, stage_names[p->stage], 0);
    if (!*text) append(text, "-", 0);
    return text;
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    fprintf(file, "%4s %-11s %-7s %-10s %-14s %4lld %9lld", bench_problem_type(p),
            bench_layouts[p->layout], p->gram ? "-" : bench_storages[p->storage], kind_of(p),
            bench_smallsym_options(p, text), (long long)p->n, (long long)p->count);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "layout", bench_layouts[p->layout]);
    io_json_string(json, "storage", bench_storages[p->storage]);
    io_json_string(json, "triangle", bench_triangles[p->triangle]);
    io_json_string(json, "kind", kind_of(p));
    io_json_double(json, "parameter", p->parameter);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "distinct", bench_systems_distinct(p));
    io_json_int(json, "nrhs", p->nrhs);
    io_json_int(json, "team", p->team);
    io_json_int(json, "refine", p->refine);
    io_json_int(json, "estimate", p->estimate);
    io_json_int(json, "outcome", p->outcome);
    io_json_string(json, "pairs", pair_names[p->pairs]);
    io_json_string(json, "stage", stage_names[p->stage]);
    io_json_int(json, "gram", p->gram);
}

const bench_module bench_smallsym = {
    .grammar = { .module = "smallsym",
                 .has_auto = true,
                 .square = true,
                 .keys = keys,
                 .takes = takes,
                 .excluded = excluded },
    .size = sizeof(bench_arrays),
    .make = bench_systems_make,
    .release = bench_arrays_free,
    .same = same,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = systems,
    .unit = "Msys/s",
    .rate = "systems_per_second",
    .heading = "type layout      storage kind       options           n     count",
    .cells = cells,
    .error_name = "max residual",
    .fault = "residual",
    .json_problem = json_problem,
    .checked_key = "systems_checked",
};
