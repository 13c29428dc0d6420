/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_module.c - tridiagonal systems as a module of the bench: the keys of their problem
 * strings, their columns, their JSON, their peers.
 */
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/peers.h"

static double rows_each(const bench_problem *p) { return (double)p->n; }

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",       BENCH_KEY_SIZE,    FIELD(n),       .usual = "256", .list = true },
    { "count",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "100000" },
    { "rows",    BENCH_KEY_AMOUNT,  FIELD(count),   .each = rows_each },
    { "nrhs",    BENCH_KEY_SIZE,    FIELD(nrhs),    .usual = "1", .least = 1 },
    { "layout",  BENCH_KEY_CHOICE,  FIELD(layout),  .usual = "system", .list = true, .words = bench_layouts },
    { "kind",    BENCH_KEY_WORD,    FIELD(kind),    .usual = "dominant", .names = shoal_tridiag_kind, .values = true },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "threads", BENCH_KEY_NUMBER,  FIELD(threads), .usual = "0", .list = true, .inner = true, .most = 1024 },
    { "groups",  BENCH_KEY_NUMBER,  FIELD(groups),  .usual = "0", .list = true, .inner = true, .most = 1 << 20 },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    const bool parts = strcmp(key, "threads") == 0 || strcmp(key, "groups") == 0;
    return !parts || shoal_method_flags("tridiag", method, NULL) & SHOAL_CAN_PARTS;
}

static int peers(bench_session *s, void *data) {
    const bench_data *d = data;
    if (bench_data_clear_outside(s, data) != BENCH_OK) return BENCH_ERROR;
    if (strcmp(d->place->machine.backend, "cuda") == 0) return bench_peer_cusparse(s, data);
    return bench_peer_lapack(s, data);
}

static double rows(const bench_problem *p) { return (double)p->n * (double)p->count; }

static double bytes(const bench_problem *p) {
    return (3.0 + 2.0 * (double)p->nrhs) * rows(p) * (double)bench_number_size(p);
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %8lld %9lld", bench_problem_type(p), bench_layout_name(p->layout),
            (long long)p->n, (long long)p->count);
}

static void check_cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-11s %-10s %8lld %9lld", bench_problem_type(p),
            bench_layout_name(p->layout), p->kind, (long long)p->n, (long long)p->count);
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
    io_json_int(json, "nrhs", p->nrhs);
    if (takes(p->method, "threads") && strcmp(row->who, "Shoal") == 0) {
        io_json_int(json, "threads_asked", p->threads);
        io_json_int(json, "groups_asked", p->groups);
    }
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "systems_per_second", (double)row->problem.count / row->time.median);
    io_json_double(json, "rows_per_second", rows(&row->problem) / row->time.median);
}

const bench_module bench_tridiag = {
    .grammar = { .module = "tridiag", .has_auto = true, .keys = keys, .takes = takes },
    .size = sizeof(bench_data),
    .make = bench_data_make,
    .release = bench_arrays_free,
    .same = bench_data_same,
    .run = bench_tridiag_run,
    .peers = peers,
    .bytes = bytes,
    .work = rows,
    .unit = "Mrows/s",
    .scale = 1e-6,
    .heading = "type layout             n     count",
    .check_heading = "type layout      kind              n     count",
    .cells = cells,
    .check_cells = check_cells,
    .error_name = "max residual",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "systems_checked",
};
