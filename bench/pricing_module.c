/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing_module.c - Heston's model, the exponential Ornstein-Uhlenbeck model and bullet options as modules
 * of the bench: the keys of their problem
 * strings, their columns, their JSON, their peers.
 */
#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/pricing.h"

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key heston_keys[] = {
    { "steps",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "1000", .least = 1, .most = 1 << 30, .list = true, .without = 1 },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "greeks",  BENCH_KEY_CHOICE,  FIELD(outcome), .usual = "0", .words = bench_switches },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "math",    BENCH_KEY_CHOICE,  FIELD(math),    .usual = "exact", .words = bench_maths, .list = true },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
static const bench_key expou_keys[] = {
    { "steps",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "1000", .least = 1, .most = 1 << 30, .list = true },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "greeks",  BENCH_KEY_CHOICE,  FIELD(outcome), .usual = "0", .words = bench_switches },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
static const bench_key bullet_keys[] = {
    { "dates",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "100", .least = 1, .most = 1 << 20, .list = true },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "options", BENCH_KEY_NUMBER,  FIELD(nrhs),    .usual = "1", .least = 1, .most = 1 << 20, .list = true },
    { "nx",      BENCH_KEY_NUMBER,  FIELD(order),   .usual = "1024", .least = 5, .most = 8192, .list = true },
    { "steps",   BENCH_KEY_NUMBER,  FIELD(team),    .usual = "10", .least = 1, .most = 1 << 20 },
    { "greeks",  BENCH_KEY_CHOICE,  FIELD(outcome), .usual = "0", .words = bench_switches },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "math",    BENCH_KEY_CHOICE,  FIELD(math),    .usual = "exact", .words = bench_maths, .list = true },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool heston_takes(const char *method, const char *key) {
    return shoal_method_flags("heston", method, NULL) & SHOAL_CAN_WALK ||
           strcmp(key, "greeks") == 0;
}

static bool bullet_takes(const char *method, const char *key) {
    const bool pde = strcmp(method, "pde") == 0;
    if (strcmp(key, "options") == 0 || strcmp(key, "nx") == 0 || strcmp(key, "steps") == 0 ||
        strcmp(key, "variant") == 0)
        return pde;
    if (strcmp(key, "paths") == 0 || strcmp(key, "math") == 0 || strcmp(key, "seed") == 0)
        return shoal_method_flags("bullet", method, NULL) & SHOAL_CAN_WALK;
    return strcmp(key, "greeks") != 0 || !pde;
}

static int make(bench_session *s, const bench_problem *p, bench_place *place, void *data) {
    (void)s;
    *(bench_prices *)data = (bench_prices){ .problem = *p, .place = place };
    return BENCH_OK;
}

static bool same(const bench_problem *p, const bench_problem *q) {
    return p->n == q->n && p->count == q->count && p->type == q->type && p->nrhs == q->nrhs &&
           p->order == q->order && strcmp(p->method, q->method) == 0 &&
           strcmp(p->backend, q->backend) == 0;
}

static int heston_peers(bench_session *s, void *data) {
    bench_prices *d = data;
    const bool paths = bench_price_has_paths(&d->problem);
    if (paths && d->problem.count == 0) return BENCH_OK;
    if (!bench_on_cpu(d->place)) return paths ? bench_peer_curand_heston(s, d) : BENCH_OK;
    const int code = paths ? bench_peer_plain_heston(s, d) : BENCH_OK;
    return code == BENCH_OK ? bench_peer_quantlib(s, d) : code;
}

static int no_peers(bench_session *s, void *data) {
    (void)s, (void)data;
    return BENCH_OK;
}

/* Nothing has to be moved. */
static double bytes(const bench_problem *p) {
    (void)p;
    return 0;
}

static void check_cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    const int64_t wide = bench_price_is_pde(p) ? p->nrhs : p->count;
    fprintf(file, "%4s %-5s %9lld %11lld", bench_problem_type(p), bench_math_name(p->math),
            (long long)p->n, (long long)wide);
}

static void cells(const bench_row *row, FILE *file) {
    const double seconds = bench_price_to_error(row);
    check_cells(row, file);
    if (seconds > 0)
        fprintf(file, " %9.4g", seconds);
    else
        fprintf(file, " %9s", "-");
}

static void fault(const bench_check *check, FILE *file) { fputs(check->why, file); }

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", bench_price_is_pde(p) ? p->nrhs : p->count);
    if (bench_price_is_pde(p)) {
        io_json_int(json, "nx", p->order);
        io_json_int(json, "steps_per_date", p->team);
    }
    io_json_bool(json, "greeks", p->outcome != 0);
    io_json_string(json, "math", bench_math_name(p->math));
}

static void json_rates(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    const double steps = bench_price_steps(p) / row->time.median;
    if (row->error > 0) {
        io_json_double(json, "stderr", row->error);
        io_json_double(json, "seconds_to_stderr_1e-5", bench_price_to_error(row));
    }
    io_json_double(json, bench_price_is_pde(p) ? "node_steps_per_second" : "path_steps_per_second",
                   steps);
    if (bench_price_is_pde(p))
        io_json_double(json, "options_per_second", (double)p->nrhs / row->time.median);
}

#define COLUMNS "type math      steps  paths/opts"
static const char heading[] = COLUMNS " s to 1e-5", check_heading[] = COLUMNS;

#define PARTS                                                                                      \
    .size = sizeof(bench_prices), .make = make, .same = same, .run = bench_price_run,              \
    .bytes = bytes, .work = bench_price_steps, .unit = "Msteps/s", .scale = 1e-6,                  \
    .heading = heading, .check_heading = check_heading, .cells = cells,                            \
    .check_cells = check_cells, .error_name = "off by", .fault = fault,                            \
    .json_problem = json_problem, .json_rates = json_rates, .checked_key = "prices_checked"

const bench_module bench_heston = {
    .grammar = { .module = "heston", .keys = heston_keys, .takes = heston_takes },
    .peers = heston_peers,
    PARTS
};

const bench_module bench_expou = { .grammar = { .module = "expou", .keys = expou_keys },
                                   .peers = no_peers,
                                   PARTS };

const bench_module bench_bullet = {
    .grammar = { .module = "bullet", .keys = bullet_keys, .takes = bullet_takes },
    .peers = no_peers,
    PARTS
};
