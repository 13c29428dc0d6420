/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_module.c - recurrences as a module of the bench: the keys of their problem strings, their
 * columns, their JSON, their peers.
 */
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/recur.h"

/* clang-format off */
static const char *const constants[] = { "none", "s", "t", "both", NULL }; /* the place is the bits */
static const char *const directions[] = { "forward", "reverse", NULL };
/* The place is the shoal_recur_phase. */
static const char *const phases[] = { "none", "precomputation", "propagation", "determination", NULL };

static double rows_each(const bench_problem *p) { return (double)p->n; }

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",         BENCH_KEY_SIZE,    FIELD(n),         .usual = "2^20", .list = true },
    { "count",     BENCH_KEY_SIZE,    FIELD(count),     .usual = "1" },
    { "rows",      BENCH_KEY_AMOUNT,  FIELD(count),     .each = rows_each },
    { "order",     BENCH_KEY_SIZE,    FIELD(order),     .usual = "1", .list = true, .least = 1, .most = SHOAL_RECUR_ORDERS },
    { "layout",    BENCH_KEY_CHOICE,  FIELD(layout),    .usual = "system", .list = true, .words = bench_layouts },
    { "constant",  BENCH_KEY_CHOICE,  FIELD(constant),  .usual = "none", .list = true, .words = constants },
    { "direction", BENCH_KEY_CHOICE,  FIELD(direction), .usual = "forward", .words = directions },
    { "kind",      BENCH_KEY_WORD,    FIELD(kind),      .usual = "decay", .names = shoal_recur_kind },
    { "variant",   BENCH_KEY_VARIANT, FIELD(variant) },
    { "threads",   BENCH_KEY_NUMBER,  FIELD(threads),   .usual = "0", .list = true, .inner = true, .most = 1024 },
    { "groups",    BENCH_KEY_NUMBER,  FIELD(groups),    .usual = "0", .list = true, .inner = true, .most = 1 << 20 },
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

static int peers(bench_session *s, void *data) {
    bench_segments *d = data;
    if (d->problem.n == 0 || d->problem.count == 0) return BENCH_OK;
    return bench_on_cpu(d->place) ? bench_peer_loop(s, d) : bench_peer_cub(s, d);
}

static double rows(const bench_problem *p) { return (double)p->n * (double)p->count; }

/* w, and s and t where they are arrays. */
static double bytes(const bench_problem *p) {
    const double numbers = 1 + (p->constant & BENCH_CONSTANT_S ? 0 : (double)p->order) +
                           (p->constant & BENCH_CONSTANT_T ? 0 : 1);
    return numbers * rows(p) * (double)bench_number_size(p);
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %5lld %-8s %11lld %9lld", bench_problem_type(p),
            bench_layout_name(p->layout), (long long)p->order, constants[p->constant],
            (long long)p->n, (long long)p->count);
}

static void fault(const bench_check *check, FILE *file) {
    fprintf(file, "residual %.1e", check->max_residual);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "layout", bench_layout_name(p->layout));
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", p->count);
    io_json_int(json, "order", p->order);
    io_json_string(json, "constant", constants[p->constant]);
    io_json_string(json, "direction", directions[p->direction]);
    if (takes(p->method, "threads") && strcmp(row->who, "Shoal") == 0) {
        io_json_int(json, "threads_asked", p->threads);
        io_json_int(json, "groups_asked", p->groups);
        io_json_string(json, "phase", phases[p->phase]);
    }
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "rows_per_second", rows(&row->problem) / row->time.median);
}

static const char heading[] = "type layout      order constant           n     count";

const bench_module bench_recur = {
    .grammar = { .module = "recur", .has_auto = true, .keys = keys, .takes = takes },
    .size = sizeof(bench_segments),
    .make = bench_segments_make,
    .release = bench_arrays_free,
    .same = bench_segments_same,
    .run = bench_recur_run,
    .peers = peers,
    .bytes = bytes,
    .work = rows,
    .unit = "Mrows/s",
    .scale = 1e-6,
    .heading = heading,
    .check_heading = heading,
    .cells = cells,
    .check_cells = cells,
    .error_name = "max residual",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "segments_checked",
};
