/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.c - Heston's model, the exponential Ornstein-Uhlenbeck model and bullet options as modules of the bench: the
 * keys of their problem strings, one problem by one of Shoal's methods or by a peer (computed, checked, timed), their
 * columns and their JSON. Prices are checked against the formula (Heston), quadrature (bullet options) or
 * a known price (exponential Ornstein-Uhlenbeck).
 */
#include "bench/pricing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"

#define SIGMAS 4.5 /* by which a price may be off */

/* Of the put, or the call, of shoal_expou_example() with strike and maturity 1 (docs/pricing.md). The
 * put is what is simulated: Euler's call has no variance. */
#define EXPOU_PRICE 0.1134067
#define EXPOU_KNOWN 2e-7
#define ERROR_AIM   1e-5

static bool is_bullet(const bench_problem *p) { return strcmp(p->module, "bullet") == 0; }
static bool is_expou(const bench_problem *p) { return strcmp(p->module, "expou") == 0; }
static bool is_pde(const bench_problem *p) { return bench_can(p, SHOAL_CAN_SURFACE); }

static shoal_bullet bullet_of(const bench_problem *p) {
    shoal_bullet m = shoal_bullet_example();
    m.dates = p->n;
    if (p->n != 100) m.p1 = p->n / 10, m.p2 = p->n / 2; /* in proportion */
    return m;
}

double bench_price_steps(const bench_problem *p) {
    if (is_pde(p))
        return (double)p->nrhs * (double)(bullet_of(p).p2 + 1) * (double)p->order * (double)p->n *
               (double)p->team;
    return bench_can(p, SHOAL_CAN_WALK) ? (double)p->n * (double)p->count : 1;
}

double bench_price_to_error(const bench_row *row) {
    const double ratio = row->error / ERROR_AIM;
    return row->timed && isfinite(ratio) ? row->time.median * ratio * ratio : 0;
}

/* ---- solvers --------------------------------------------------------------------------------- */

typedef struct solver {
    shoal_context *ctx;
    const bench_problem *problem;
    shoal_price *plan; /* one of the two */
    shoal_pde *pde;
    void *memory; /* sums, or values today */
    double *host, *total;
    size_t bytes;
    shoal_price_value value;
} solver;

static shoal_status create_plan(solver *v, const char *method, shoal_price **plan) {
    static const double one = 1;
    const bench_problem *p = v->problem;
    const bool ours = strcmp(method, p->method) == 0;
    const shoal_price_opts o = { .method = method,
                                 .variant = ours ? p->variant : NULL,
                                 .type = p->type,
                                 .math = p->math,
                                 .seed = p->seed,
                                 .steps = p->n > 0 ? p->n : 1, /* analytic has none */
                                 .put = is_expou(p),
                                 .greeks = ours && p->outcome,
                                 .strikes = 1,
                                 .strike = &one,
                                 .maturities = 1,
                                 .maturity = &one };
    if (is_expou(p)) {
        const shoal_expou m = shoal_expou_example();
        return shoal_price_expou(v->ctx, &m, &o, plan);
    }
    if (!is_bullet(p)) {
        const shoal_heston m = shoal_heston_example();
        return shoal_price_heston(v->ctx, &m, &o, plan);
    }
    const shoal_bullet m = bullet_of(p);
    return shoal_price_bullet(v->ctx, &m, &o, NULL, 1, plan);
}

static shoal_status create_pde(solver *v) {
    const bench_problem *p = v->problem;
    const shoal_pde_opts o = {
        .variant = p->variant, .type = p->type, .nx = p->order, .steps_per_date = p->team
    };
    shoal_bullet *options = calloc((size_t)p->nrhs + 1, sizeof *options);
    if (!options) return SHOAL_E_NOMEM;
    for (int64_t i = 0; i < p->nrhs; i++) { /* the first is the one that is checked */
        options[i] = bullet_of(p);
        options[i].barrier += 0.01 * (double)(i % 1000);
    }
    const shoal_status s = shoal_pde_create(v->ctx, options, p->nrhs, &o, &v->pde);
    free(options);
    return s;
}

static shoal_status create(solver *v) {
    const bench_problem *p = v->problem;
    shoal_status s = is_pde(p) ? create_pde(v) : create_plan(v, p->method, &v->plan);
    if (s != SHOAL_OK) return s;
    if (v->pde) {
        const int64_t numbers = p->nrhs * (bullet_of(p).p2 + 1) * p->order;
        v->bytes = (size_t)numbers * (p->type == SHOAL_F32 ? sizeof(float) : sizeof(double));
    } else {
        v->bytes = (size_t)shoal_price_sums(v->plan, p->count) * sizeof(double);
    }
    v->host = malloc(v->bytes + 1);
    v->total = calloc((size_t)(2 * shoal_price_width(v->plan)) + 1, sizeof *v->total);
    if (!v->host || !v->total) return SHOAL_E_NOMEM;
    return shoal_alloc(v->ctx, v->bytes, &v->memory);
}

static void release(solver *v) {
    shoal_free(v->ctx, v->memory);
    shoal_price_free(v->plan);
    shoal_pde_free(v->pde);
    free(v->host);
    free(v->total);
}

static shoal_status call_once(solver *v) {
    if (v->pde) return BENCH_BY_TYPE(v->problem->type, shoal_pde_run, v->pde, v->memory, NULL);
    if (bench_can(v->problem, SHOAL_CAN_WALK))
        return shoal_price_run(v->plan, 0, v->problem->count, v->memory);
    return shoal_price_result(v->plan, NULL, 0, &v->value);
}

static int timed_call(void *self, int i) {
    (void)i;
    return call_once(self) == SHOAL_OK ? 0 : -1;
}

/* The value that the last call leaves behind. */
static shoal_status value_of(solver *v) {
    shoal_status s = shoal_copy(v->ctx, v->host, v->memory, v->bytes);
    if (s != SHOAL_OK) return s;
    if (v->pde) {
        const bench_problem *p = v->problem;
        const int64_t layer = (bullet_of(p).p2 + 1) * p->order;
        const shoal_bullet_point at = { .x = 100 };
        double *first = malloc((size_t)layer * sizeof *first);
        if (!first) return SHOAL_E_NOMEM;
        for (int64_t i = 0; i < layer; i++) first[i] = bench_number(p->type, v->host, i);
        s = shoal_pde_value(v->pde, 0, &at, first, &v->value);
        free(first);
        return s;
    }
    if (!bench_can(v->problem, SHOAL_CAN_WALK)) return SHOAL_OK;
    s = shoal_price_add(v->plan, v->host, v->problem->count, v->total);
    return s == SHOAL_OK ? shoal_price_result(v->plan, v->total, v->problem->count, &v->value) : s;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* A price that is known otherwise: by formula, by quadrature, or beforehand. */
static shoal_status reference_price(solver *v, double *reference) {
    *reference = EXPOU_PRICE;
    if (is_expou(v->problem)) return SHOAL_OK;
    shoal_price *plan = NULL;
    shoal_price_value value = { .price = NAN };
    shoal_status s = create_plan(v, is_bullet(v->problem) ? "quad" : "analytic", &plan);
    if (s == SHOAL_OK) s = shoal_price_result(plan, NULL, 0, &value);
    shoal_price_free(plan);
    *reference = value.price;
    return s;
}

/* How far a method may be off beside its standard error: a step of Euler or of the trapezoids, a cell of
 * a PDE, a rounding. */
static double allowance(const bench_problem *p, double reference) {
    const double n = (double)p->n;
    if (is_pde(p))
        return 5e3 / ((double)p->order * (double)p->order) + (p->type == SHOAL_F32 ? 2e-2 : 1e-9);
    if (!bench_can(p, SHOAL_CAN_WALK)) return 1e-9 * (1 + reference);
    if (is_bullet(p)) return 1e-5 * reference;
    const bool euler = bench_can(p, SHOAL_CAN_EULER);
    if (is_expou(p)) /* off by 0.02 / n (n = 8), 0.0195 / n^2 (n = 1 .. 8) */
        return EXPOU_KNOWN + (euler ? 0.04 / n : 0.03 / (n * n));
    return euler ? 0.02 / n + 1e-5 : 0.01 / (n * n) + 1e-9;
}

static void judge(const bench_problem *p, double price, double error, double reference,
                  bench_check *check) {
    const double room = SIGMAS * error + allowance(p, reference);
    *check =
        (bench_check){ .systems = 1,
                       .max_residual = fabs(price - reference),
                       .tolerance = isfinite(error) ? room : allowance(p, reference) + reference };
    check->passed = check->max_residual <= check->tolerance;
    check->wrong = !check->passed;
    if (!check->passed)
        snprintf(check->why, sizeof check->why, "the price is %.10g, not %.10g", price, reference);
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_prices *d = of;
    solver v = { .ctx = d->place->ctx, .problem = p };
    double reference = NAN;
    bench_check check = { .passed = true };
    const bool any = p->count > 0 || !bench_can(p, SHOAL_CAN_WALK);
    char text[BENCH_TEXT], found[64], note[48] = "";
    int code = BENCH_OK;
    shoal_status status = create(&v);
    if (status != SHOAL_OK) {
        code = bench_error(s, status, "%s: %s", bench_problem_text(p, text),
                           bench_message(d->place, status));
    } else {
        if (any) status = call_once(&v);
        if (any && status == SHOAL_OK) status = value_of(&v);
        if (any && status == SHOAL_OK) status = reference_price(&v, &reference);
        if (any && status == SHOAL_OK) judge(p, v.value.price, v.value.error, reference, &check);
        snprintf(found, sizeof found, "%.8g +- %.2g", v.value.price, v.value.error);
        if (any && bench_can(p, SHOAL_CAN_WALK))
            snprintf(note, sizeof note, "standard error %.3g", v.value.error);
        const bench_solver ours = { .function = p->method,
                                    .variant = p->variant,
                                    .note = note,
                                    .found = found,
                                    .error = v.value.error,
                                    .task = { .call = timed_call, .self = &v, .calls = 1 } };
        code = bench_add_ours(s, p, d->place, &ours, status, &check, timed && any);
    }
    release(&v);
    return code;
}

int bench_price_peer_row(bench_session *s, bench_prices *d, bench_solver peer, const double *price,
                         const double *error) {
    bench_problem p = d->problem;
    solver v = { .ctx = d->place->ctx, .problem = &p };
    bench_check check;
    double reference;
    p.variant[0] = 0;
    if (reference_price(&v, &reference) != SHOAL_OK || peer.task.call(peer.task.self, 0) != 0)
        return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    judge(&p, *price, *error, reference, &check);
    peer.error = *error;
    return bench_add_row(s, &p, d->place, &peer, &check, true);
}

/* ---- the modules ----------------------------------------------------------------------------- */

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key heston_keys[] = {
    { "steps",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "1000", .min = 1, .max = 1 << 30, .list = true, .without = 1 },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "greeks",  BENCH_KEY_CHOICE,  FIELD(outcome), .usual = "0", .words = bench_switches },
    { "variant", BENCH_KEY_VARIANT, FIELD(variant) },
    { "math",    BENCH_KEY_CHOICE,  FIELD(math),    .usual = "exact", .words = bench_maths, .list = true },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
static const bench_key expou_keys[] = {
    { "steps",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "1000", .min = 1, .max = 1 << 30, .list = true },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "greeks",  BENCH_KEY_CHOICE,  FIELD(outcome), .usual = "0", .words = bench_switches },
    { "seed",    BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
static const bench_key bullet_keys[] = {
    { "dates",   BENCH_KEY_NUMBER,  FIELD(n),       .usual = "100", .min = 1, .max = 1 << 20, .list = true },
    { "paths",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^20", .list = true },
    { "options", BENCH_KEY_NUMBER,  FIELD(nrhs),    .usual = "1", .min = 1, .max = 1 << 20, .list = true },
    { "nx",      BENCH_KEY_NUMBER,  FIELD(order),   .usual = "1024", .min = 5, .max = 8192, .list = true },
    { "steps",   BENCH_KEY_NUMBER,  FIELD(team),    .usual = "10", .min = 1, .max = 1 << 20 },
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
    const unsigned flags = shoal_method_flags("bullet", method, NULL);
    const bool pde = flags & SHOAL_CAN_SURFACE;
    if (strcmp(key, "options") == 0 || strcmp(key, "nx") == 0 || strcmp(key, "steps") == 0 ||
        strcmp(key, "variant") == 0)
        return pde;
    if (strcmp(key, "paths") == 0 || strcmp(key, "math") == 0 || strcmp(key, "seed") == 0)
        return flags & SHOAL_CAN_WALK;
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
    const bool paths = bench_can(&d->problem, SHOAL_CAN_WALK);
    if (paths && d->problem.count == 0) return BENCH_OK;
    if (!bench_on_cpu(d->place)) return paths ? bench_peer_curand_heston(s, d) : BENCH_OK;
    const int code = paths ? bench_peer_plain_heston(s, d) : BENCH_OK;
    return code == BENCH_OK ? bench_peer_quantlib(s, d) : code;
}

static void check_cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    const int64_t wide = is_pde(p) ? p->nrhs : p->count;
    fprintf(file, "%4s %-5s %9lld %11lld", bench_problem_type(p), bench_maths[p->math],
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

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_int(json, "n", p->n);
    io_json_int(json, "count", is_pde(p) ? p->nrhs : p->count);
    if (is_pde(p)) {
        io_json_int(json, "nx", p->order);
        io_json_int(json, "steps_per_date", p->team);
    }
    io_json_bool(json, "greeks", p->outcome != 0);
    io_json_string(json, "math", bench_maths[p->math]);
}

static void json_rates(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    const double steps = bench_price_steps(p) / row->time.median;
    if (row->error > 0) {
        io_json_double(json, "stderr", row->error);
        io_json_double(json, "seconds_to_stderr_1e-5", bench_price_to_error(row));
    }
    io_json_double(json, is_pde(p) ? "node_steps_per_second" : "path_steps_per_second", steps);
    if (is_pde(p)) io_json_double(json, "options_per_second", (double)p->nrhs / row->time.median);
}

#define COLUMNS "type math      steps  paths/opts"
static const char heading[] = COLUMNS " s to 1e-5", check_heading[] = COLUMNS;

#define PARTS                                                                                      \
    .size = sizeof(bench_prices), .make = make, .same = same, .run = run,                          \
    .work = bench_price_steps, .unit = "Msteps/s", .heading = heading,                             \
    .check_heading = check_heading, .cells = cells, .check_cells = check_cells,                    \
    .error_name = "off by", .json_problem = json_problem, .json_rates = json_rates,                \
    .checked_key = "prices_checked"

const bench_module bench_heston = {
    .grammar = { .module = "heston", .keys = heston_keys, .takes = heston_takes },
    .peers = heston_peers,
    PARTS
};

const bench_module bench_expou = { .grammar = { .module = "expou", .keys = expou_keys }, PARTS };

const bench_module bench_bullet = {
    .grammar = { .module = "bullet", .keys = bullet_keys, .takes = bullet_takes }, PARTS
};
