/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_module.c - one dense symmetric matrix as a module of the bench: the keys of its problem
 * strings, its columns, its JSON, its peers.
 *
 * Bytes: complete pivoting looks at the whole reduced matrix in every stage. With pivots of order 1
 * that are updated at once, each stage reads it and writes it: n (n + 1) (n + 2) / 3 numbers, 16 n^3 / 6
 * bytes of double. A method that keeps updates pending reads as much and writes a few times less, so
 * that its share of the copy bandwidth may come out above 1. Of partial and rook pivoting the fewest
 * are the triangle read once and written once; what limits them are operations, n^3 / 3 multiplications
 * and additions together, which are counted for all methods.
 *
 * The matrix does not depend on storage, triangle, alpha and growth: such problems share it, and the
 * peers' measurement.
 */
#include <stdio.h>

#include "bench/module.h"
#include "bench/peers_symindef.h"
#include "bench/symindef.h"

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",        BENCH_KEY_SIZE,    FIELD(n),        .usual = "1024", .list = true },
    { "kind",     BENCH_KEY_WORD,    FIELD(kind),     .usual = "equidistant", .values = true, .names = shoal_symindef_kind },
    { "storage",  BENCH_KEY_CHOICE,  FIELD(storage),  .usual = "full", .list = true, .inner = true, .words = bench_storages },
    { "triangle", BENCH_KEY_CHOICE,  FIELD(triangle), .usual = "lower", .list = true, .inner = true, .words = bench_triangles },
    { "alpha",    BENCH_KEY_REAL,    FIELD(alpha),    .usual = "0", .list = true, .inner = true },
    { "growth",   BENCH_KEY_CHOICE,  FIELD(growth),   .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "variant",  BENCH_KEY_VARIANT, FIELD(variant) },
    { "seed",     BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_matrix_same(p, q) && bench_pivoting_of(p) == bench_pivoting_of(q);
}

static int peers(bench_session *s, void *data) { return bench_peers_symindef(s, data); }

static double operations(const bench_problem *p) {
    const double n = (double)p->n;
    return n * n * n / 3;
}

static double bytes(const bench_problem *p) {
    const double n = (double)p->n, number = (double)bench_number_size(p);
    if (bench_pivoting_of(p) == BENCH_COMPLETE) return n * (n + 1) * (n + 2) / 3 * number;
    return n * (n + 1) * number;
}

/* "upper alpha=0.5 growth": what is not as usual, or "-" */
static char *options(const bench_problem *p, char text[BENCH_TEXT]) {
    char digits[BENCH_REAL], alpha[BENCH_REAL + 8] = "";
    if (p->alpha > 0) snprintf(alpha, sizeof alpha, " alpha=%s", bench_real_text(p->alpha, digits));
    snprintf(text, BENCH_TEXT, "%s%s%s", p->triangle == SHOAL_UPPER ? " upper" : "", alpha,
             p->growth ? " growth" : "");
    if (!*text) snprintf(text, BENCH_TEXT, " -");
    return text + 1;
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    fprintf(file, "%4s %-7s %-12s %-16s %6lld", bench_problem_type(p), bench_storages[p->storage],
            p->kind, options(p, text), (long long)p->n);
}

static void fault(const bench_check *check, FILE *file) {
    fprintf(file, "error %.1e", check->max_residual);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "storage", bench_storages[p->storage]);
    io_json_string(json, "triangle", bench_triangles[p->triangle]);
    io_json_string(json, "kind", p->kind);
    io_json_int(json, "n", p->n);
    io_json_double(json, "alpha", p->alpha);
    io_json_int(json, "growth", p->growth);
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "flops_per_second", operations(&row->problem) / row->time.median);
}

static const char heading[] = "type storage kind         options               n";

const bench_module bench_symindef = {
    .grammar = { .module = "symindef", .has_auto = true, .square = true, .keys = keys },
    .size = sizeof(bench_matrix),
    .make = bench_matrix_make,
    .release = bench_matrix_free,
    .same = same,
    .run = bench_symindef_run,
    .peers = peers,
    .bytes = bytes,
    .work = operations,
    .unit = "Gflop/s",
    .scale = 1e-9,
    .heading = heading,
    .check_heading = heading,
    .cells = cells,
    .check_cells = cells,
    .error_name = "rel. error",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "vectors_checked",
};
