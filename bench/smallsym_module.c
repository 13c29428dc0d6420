/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym_module.c - small symmetric systems as a module of the bench: the keys of their problem
 * strings, their columns, their JSON, their peers.
 *
 * The fewest bytes are those of A as it is stored, of b and of x: n^2 + 2 n nrhs numbers a system,
 * packed n (n + 1) / 2 + 2 n nrhs; of eigenpairs those of A, or of d and e, and of what is written: n
 * numbers, with the vectors n + n^2; of stages those of A, d, e and Q, or of d, e, Q, b and x; of
 * regressions those of psi, y and x: M n + (M + n) nrhs. Peers
 * are for what a method can do, so that methods are measured on the same data beside different peers:
 * bench_peers_for says which.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/peers_smallsym.h"

/* clang-format off */
static const char *const pairs[] = { "none", "values", "vectors", "tridiag", NULL };
static const char *const stages[] = { "none", "reduce", "pcr", NULL };

static double matrix_bytes(const bench_problem *p) {
    return bench_systems_entries(p) * (double)bench_number_size(p);
}

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",        BENCH_KEY_SIZE,    FIELD(n),        .usual = "32", .list = true },
    { "count",    BENCH_KEY_SIZE,    FIELD(count),    .usual = "100000" },
    { "bytes",    BENCH_KEY_AMOUNT,  FIELD(count),    .each = matrix_bytes },
    { "nrhs",     BENCH_KEY_SIZE,    FIELD(nrhs),     .usual = "1", .least = 1 },
    { "layout",   BENCH_KEY_CHOICE,  FIELD(layout),   .usual = "system", .list = true, .words = bench_layouts },
    { "storage",  BENCH_KEY_CHOICE,  FIELD(storage),  .usual = "full", .list = true, .words = bench_storages },
    { "triangle", BENCH_KEY_CHOICE,  FIELD(triangle), .usual = "lower", .list = true, .words = bench_triangles },
    { "kind",     BENCH_KEY_WORD,    FIELD(kind),     .usual = "spd", .list = true, .names = shoal_smallsym_kind },
    { "parameter", BENCH_KEY_REAL, FIELD(parameter), .list = true },
    { "variant",  BENCH_KEY_VARIANT, FIELD(variant) },
    { "team",     BENCH_KEY_NUMBER,  FIELD(team),     .usual = "0", .most = 1024, .list = true, .inner = true },
    { "refine",   BENCH_KEY_NUMBER,  FIELD(refine),   .usual = "0", .most = 100, .list = true, .inner = true },
    { "estimate", BENCH_KEY_CHOICE,  FIELD(estimate), .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "outcome",  BENCH_KEY_CHOICE,  FIELD(outcome),  .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "pairs",    BENCH_KEY_CHOICE,  FIELD(pairs),    .usual = "none", .list = true, .words = pairs },
    { "stage",    BENCH_KEY_CHOICE,  FIELD(stage),    .usual = "none", .list = true, .words = stages },
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

/* Regressions are formed of samples: what is said of A, or asked for instead of x, means nothing. */
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
    if (p->pairs || strncmp(p->method, "eig", 3) == 0) return BENCH_PEERS_EIGEN;
    return strcmp(p->method, "ldltp") == 0 ? BENCH_PEERS_PIVOTED : BENCH_PEERS_DEFINITE;
}

static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_systems_same(p, q) && p->pairs == q->pairs &&
           bench_peers_for(p) == bench_peers_for(q);
}

/* Nobody else has the stages. */
static int peers(bench_session *s, void *data) {
    const bench_systems *systems_of = data;
    return systems_of->problem.stage ? BENCH_OK : bench_peers_smallsym(s, data);
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
    if (p->pairs) append(text, pairs[p->pairs], 0);
    if (p->stage) append(text, stages[p->stage], 0);
    if (!*text) append(text, "-", 0);
    return text;
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    fprintf(file, "%4s %-11s %-7s %-10s %-14s %4lld %9lld", bench_problem_type(p),
            bench_layout_name(p->layout), p->gram ? "-" : bench_storages[p->storage], kind_of(p),
            bench_smallsym_options(p, text), (long long)p->n, (long long)p->count);
}

static void fault(const bench_check *check, FILE *file) {
    fprintf(file, "residual %.1e", check->max_residual);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "layout", bench_layout_name(p->layout));
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
    io_json_string(json, "pairs", pairs[p->pairs]);
    io_json_string(json, "stage", stages[p->stage]);
    io_json_int(json, "gram", p->gram);
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "systems_per_second", systems(&row->problem) / row->time.median);
}

static const char heading[] = "type layout      storage kind       options           n     count";

const bench_module bench_smallsym = {
    .grammar = { .module = "smallsym",
                 .has_auto = true,
                 .square = true,
                 .keys = keys,
                 .takes = takes,
                 .excluded = excluded },
    .size = sizeof(bench_systems),
    .make = bench_systems_make,
    .release = bench_arrays_free,
    .same = same,
    .run = bench_smallsym_run,
    .peers = peers,
    .bytes = bytes,
    .work = systems,
    .unit = "Msys/s",
    .scale = 1e-6,
    .heading = heading,
    .check_heading = heading,
    .cells = cells,
    .check_cells = cells,
    .error_name = "max residual",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "systems_checked",
};
