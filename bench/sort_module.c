/* SPDX-License-Identifier: Apache-2.0
 *
 * sort_module.c - sorting and merging as a module of the bench: the keys of their problem strings,
 * their columns, their JSON, their peers.
 */
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/sort.h"

/* clang-format off */
static const char *const kinds[] = { "random", "equal", "sorted", "reversed", "few", NULL };
static const char *const values[] = { "0", "4", "8", NULL };
static const char *const directions[] = { "ascending", "descending", NULL };

static double keys_each(const bench_problem *p) { return (double)p->n; }

#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",         BENCH_KEY_SIZE,    FIELD(n),         .usual = "1024", .list = true },
    { "count",     BENCH_KEY_SIZE,    FIELD(count),     .usual = "10000", .without = 1 },
    { "keys",      BENCH_KEY_AMOUNT,  FIELD(count),     .each = keys_each },
    { "ratio",     BENCH_KEY_NUMBER,  FIELD(ratio),     .usual = "1", .list = true, .most = 1 << 30 },
    { "values",    BENCH_KEY_CHOICE,  FIELD(values),    .usual = "0", .list = true, .words = values },
    { "index",     BENCH_KEY_CHOICE,  FIELD(index),     .usual = "0", .words = bench_switches },
    { "direction", BENCH_KEY_CHOICE,  FIELD(direction), .usual = "ascending", .words = directions },
    { "kind",      BENCH_KEY_WORD,    FIELD(kind),      .usual = "random", .words = kinds },
    { "variant",   BENCH_KEY_VARIANT, FIELD(variant) },
    { "seed",      BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool takes(const char *method, const char *key) {
    const unsigned flags = shoal_method_flags("sort", method, NULL);
    if (strcmp(key, "count") == 0 || strcmp(key, "keys") == 0) return flags & SHOAL_CAN_BATCH;
    if (strcmp(key, "ratio") == 0) return flags & SHOAL_CAN_MERGE;
    if (strcmp(key, "index") == 0) return !(flags & SHOAL_CAN_MERGE);
    return true;
}

static int peers(bench_session *s, void *data) {
    bench_sortables *d = data;
    if (d->problem.n == 0 || d->problem.count == 0) return BENCH_OK;
    return bench_on_cpu(d->place) ? bench_peer_std(s, d) : bench_peer_cub_sort(s, d);
}

static double all_keys(const bench_problem *p) { return (double)p->n * (double)p->count; }

/* Every key is read and written; every value too, but an index is only written. */
static double bytes(const bench_problem *p) {
    const double value = bench_sort_value_bytes(p);
    return all_keys(p) * (2 * (double)bench_number_size(p) + (p->index ? value : 2 * value));
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    fprintf(file, "%4s %-8s %6d %11lld %9lld", bench_problem_type(p), p->kind,
            bench_sort_value_bytes(p), (long long)p->n, (long long)p->count);
}

static void fault(const bench_check *check, FILE *file) { fputs(check->why, file); }

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_int(json, "na", bench_sort_na(p));
    io_json_int(json, "count", p->count);
    io_json_int(json, "value_bytes", bench_sort_value_bytes(p));
    io_json_bool(json, "index", p->index != 0);
    io_json_string(json, "direction", directions[p->direction]);
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "keys_per_second", all_keys(&row->problem) / row->time.median);
}

static const char heading[] = "type kind     values           n     count";

const bench_module bench_sort = {
    .grammar = { .module = "sort", .keys = keys, .takes = takes, .types = bench_sort_types },
    .size = sizeof(bench_sortables),
    .make = bench_sortables_make,
    .release = bench_sortables_free,
    .same = bench_sortables_same,
    .run = bench_sort_run,
    .peers = peers,
    .bytes = bytes,
    .work = all_keys,
    .unit = "Mkeys/s",
    .scale = 1e-6,
    .heading = heading,
    .check_heading = heading,
    .cells = cells,
    .check_cells = cells,
    .error_name = "wrong",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "rows_checked",
};
