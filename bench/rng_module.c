/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_module.c - random numbers as a module of the bench: the keys of their problem strings, their
 * columns, their JSON, their peers.
 */
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/peers.h"

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "count",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^24" },
    { "n",       BENCH_KEY_SIZE,    FIELD(n),       .usual = "16", .list = true, .least = 1, .without = 1 },
    { "lambda",  BENCH_KEY_REAL,    FIELD(lambda),  .usual = "64", .list = true },
    { "alpha",   BENCH_KEY_REAL,    FIELD(alpha),   .usual = "2.5", .list = true },
    { "df",      BENCH_KEY_REAL,    FIELD(df),      .usual = "4" },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "layout",  BENCH_KEY_CHOICE,  FIELD(layout),  .usual = "system", .list = true, .words = bench_layouts },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { "math",    BENCH_KEY_CHOICE,  FIELD(math),    .usual = "exact", .list = true, .inner = true, .words = bench_maths },
    { .name = NULL }
};

/* Keys that not every method takes, and the one or two that do. */
static const struct {
    const char *key, *method, *other;
} taken[] = {
    { "n",      "sobol",   "sobolnormal" },
    { "layout", "sobol",   "sobolnormal" },
    { "lambda", "poisson", "ncchisq" },
    { "alpha",  "gamma",   "" },
    { "df",     "ncchisq", "" },
    { "math",   "normal",  "" },
};
/* clang-format on */

bool bench_rng_takes(const char *method, const char *key) {
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i].key, key) == 0)
            return strcmp(taken[i].method, method) == 0 || strcmp(taken[i].other, method) == 0;
    return true;
}

const char *bench_rng_fixed_type(const char *method) {
    return shoal_method_flags("rng", method, NULL) & SHOAL_CAN_COUNT ? "u32" : NULL;
}

bool bench_rng_points(const bench_problem *p) { return bench_rng_takes(p->method, "n"); }

char *bench_rng_parameters(const bench_problem *p, char text[BENCH_TEXT]) {
    const struct {
        const char *key;
        double value;
    } list[] = {
        { "lambda", p->lambda }, { "alpha", p->alpha }, { "df", p->df }, { "n", (double)p->n }
    };
    text[0] = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char number[BENCH_REAL];
        const size_t used = strlen(text);
        if (!bench_rng_takes(p->method, list[i].key)) continue;
        snprintf(text + used, BENCH_TEXT - used, "%s%s=%s", used ? "," : "", list[i].key,
                 bench_real_text(list[i].value, number));
    }
    if (bench_rng_points(p) && p->layout == SHOAL_INTERLEAVED)
        strncat(text, ",interleaved", BENCH_TEXT - strlen(text) - 1);
    return text;
}

static int peers(bench_session *s, void *data) {
    const bench_numbers *d = data;
    if (d->problem.count == 0) return BENCH_OK;
    return bench_on_cpu(d->place) ? bench_peer_libm(s, d) : bench_peer_curand(s, d);
}

static double numbers(const bench_problem *p) { return (double)bench_numbers_of(p); }

static double bytes(const bench_problem *p) { return numbers(p) * (double)bench_number_size(p); }

static bool has_math(const bench_row *row) {
    return strcmp(row->who, "Shoal") == 0 && bench_rng_takes(row->problem.method, "math");
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    fprintf(file, "%4s %-5s %-18s %11lld", bench_problem_type(p),
            has_math(row) ? bench_math_name(p->math) : "-",
            *bench_rng_parameters(p, text) ? text : "-", (long long)p->count);
}

static void fault(const bench_check *check, FILE *file) { fputs(check->why, file); }

/* `law` is what a peer's function is compared by: our word for it. */
static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "law", p->method);
    io_json_int(json, "count", p->count);
    if (bench_rng_points(p)) {
        io_json_int(json, "n", p->n);
        io_json_string(json, "layout", bench_layout_name(p->layout));
    }
    if (bench_rng_takes(p->method, "lambda")) io_json_double(json, "lambda", p->lambda);
    if (bench_rng_takes(p->method, "alpha")) io_json_double(json, "alpha", p->alpha);
    if (bench_rng_takes(p->method, "df")) io_json_double(json, "df", p->df);
    if (has_math(row)) io_json_string(json, "math", bench_math_name(p->math));
}

static void json_rates(const bench_row *row, io_json *json) {
    io_json_double(json, "numbers_per_second", numbers(&row->problem) / row->time.median);
}

static const char heading[] = "type math  parameters               count";

const bench_module bench_rng = {
    .grammar = { .module = "rng",
                 .keys = keys,
                 .fixed_type = bench_rng_fixed_type,
                 .takes = bench_rng_takes },
    .size = sizeof(bench_numbers),
    .make = bench_numbers_make,
    .release = bench_numbers_free,
    .same = bench_numbers_same,
    .run = bench_rng_run,
    .peers = peers,
    .bytes = bytes,
    .work = numbers,
    .unit = "Gnum/s",
    .scale = 1e-9,
    .heading = heading,
    .check_heading = heading,
    .cells = cells,
    .check_cells = cells,
    .error_name = "max diff",
    .fault = fault,
    .json_problem = json_problem,
    .json_rates = json_rates,
    .checked_key = "numbers_checked",
};
