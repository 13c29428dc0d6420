/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.c - random numbers as a module of the bench: the keys of their problem strings, one problem by one of Shoal's methods
 * (filled, checked, timed), their columns and their JSON.
 *
 * A call fills `count` numbers from address 0 on, each time into the next set, so that small
 * problems are not written into the cache over and over.
 */
#include "bench/rng.h"

#include <stdio.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"
#include "bench/peers.h"

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "count",   BENCH_KEY_SIZE,    FIELD(count),   .usual = "2^24" },
    { "n",       BENCH_KEY_SIZE,    FIELD(n),       .usual = "16", .list = true, .min = 1, .without = 1 },
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
    { "lambda", "poisson", "ncchisq" },
    { "alpha",  "gamma",   "" },
    { "df",     "ncchisq", "" },
    { "math",   "normal",  "" },
};
/* clang-format on */

bool bench_rng_takes(const char *method, const char *key) {
    if (strcmp(key, "n") == 0 || strcmp(key, "layout") == 0)
        return shoal_method_flags("rng", method, NULL) & SHOAL_CAN_POINTS;
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

typedef struct filler {
    shoal_rng *plan;
    const bench_numbers *numbers;
    const bench_problem *p;
} filler;

int64_t bench_numbers_of(const bench_problem *p) {
    return bench_rng_points(p) ? p->count * p->n : p->count;
}

static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_same_data(p, q) && strcmp(p->method, q->method) == 0;
}

int bench_numbers_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_numbers *d = of;
    const size_t size = (size_t)bench_numbers_of(p) * bench_number_size(p);
    const size_t step = (size + BENCH_GUARD - 1) / BENCH_GUARD * BENCH_GUARD + 2 * BENCH_GUARD;
    if (d->memory && d->place == place && d->size == size) {
        d->problem = *p;
        return BENCH_OK;
    }
    bench_numbers_free(d);
    *d = (bench_numbers){ .problem = *p, .place = place, .size = size, .step = step };
    d->sets = bench_sets(place, size);
    const size_t inside = (size_t)d->sets * step;
    if (bench_room(s, place, inside, bench_on_cpu(place) ? inside : 0) != BENCH_OK)
        return BENCH_ERROR;
    shoal_status status = shoal_alloc(place->ctx, inside, (void **)&d->memory);
    return status == SHOAL_OK ? BENCH_OK : bench_error(s, status, "%s", shoal_message(place->ctx));
}

void bench_numbers_free(void *of) {
    bench_numbers *d = of;
    if (d->place) shoal_free(d->place->ctx, d->memory);
    *d = (bench_numbers){ 0 };
}

void *bench_numbers_at(const bench_numbers *d, int set) {
    return d->memory + (size_t)set * d->step + BENCH_GUARD;
}

shoal_status bench_rng_plan(shoal_context *ctx, const bench_problem *p, shoal_math math,
                            shoal_rng **plan) {
    const shoal_rng_opts opts = { .method = p->method,
                                  .variant = p->variant,
                                  .type = p->type,
                                  .math = math,
                                  .seed = p->seed,
                                  .alpha = p->alpha,
                                  .lambda = p->lambda,
                                  .df = p->df,
                                  .dimensions = bench_rng_points(p) ? p->n : 0,
                                  .layout = p->layout };
    return shoal_rng_create(ctx, &opts, plan);
}

shoal_status bench_rng_fill(shoal_rng *plan, const bench_problem *p, uint64_t first, int64_t count,
                            void *out) {
    if (p->fixed_type) return shoal_rng_fillu(plan, first, count, out);
    return BENCH_BY_TYPE(p->type, shoal_rng_fill, plan, first, count, out);
}

static int timed_call(void *self, int i) {
    const filler *f = self;
    void *out = bench_numbers_at(f->numbers, i % f->numbers->sets);
    return bench_rng_fill(f->plan, f->p, 0, f->p->count, out) == SHOAL_OK ? 0 : -1;
}

/* After Ctrl-C *check means nothing. */
static shoal_status verify(const bench_session *s, const filler *f, shoal_rng_info *info,
                           bench_check *check) {
    const bench_numbers *d = f->numbers;
    bench_rng_check_begin(check);
    shoal_status status = bench_rng_paint(d);
    if (status == SHOAL_OK)
        status = bench_rng_fill(f->plan, f->p, 0, f->p->count, bench_numbers_at(d, 0));
    if (status == SHOAL_OK) status = shoal_rng_last(f->plan, info);
    if (status != SHOAL_OK || bench_stopped(s)) return status;
    check->failed = info->failed;
    if (info->failed > 0)
        bench_rng_wrong(check, "%lld numbers have no value", (long long)info->failed);
    status = bench_rng_check_bits(s, d, f->p, f->plan, check);
    if (status == SHOAL_OK)
        status = bench_rng_check_law(s, d, bench_numbers_at(d, 0), f->p->layout, check);
    return status;
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_numbers *d = of;
    filler f = { .numbers = d, .p = p };
    shoal_status status = bench_rng_plan(d->place->ctx, p, p->math, &f.plan);
    if (status != SHOAL_OK) return bench_no_plan(s, p, d->place, status);
    shoal_rng_info info = { .method = p->method, .variant = p->variant };
    bench_check check;
    status = verify(s, &f, &info, &check);
    const bench_solver ours = { .function = info.method,
                                .variant = info.variant,
                                .measure = "max difference",
                                .of_checked = "numbers",
                                .workspace = info.bytes,
                                .task = { .call = timed_call, .self = &f, .calls = d->sets } };
    const int code = bench_add_ours(s, p, d->place, &ours, status, &check, timed && p->count > 0);
    shoal_rng_free(f.plan);
    return code;
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
            has_math(row) ? bench_maths[p->math] : "-", *bench_rng_parameters(p, text) ? text : "-",
            (long long)p->count);
}

/* `law` is what a peer's function is compared by: our word for it. */
static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "law", p->method);
    io_json_int(json, "count", p->count);
    if (bench_rng_points(p)) {
        io_json_int(json, "n", p->n);
        io_json_string(json, "layout", bench_layouts[p->layout]);
    }
    if (bench_rng_takes(p->method, "lambda")) io_json_double(json, "lambda", p->lambda);
    if (bench_rng_takes(p->method, "alpha")) io_json_double(json, "alpha", p->alpha);
    if (bench_rng_takes(p->method, "df")) io_json_double(json, "df", p->df);
    if (has_math(row)) io_json_string(json, "math", bench_maths[p->math]);
}

const bench_module bench_rng = {
    .grammar = { .module = "rng",
                 .keys = keys,
                 .fixed_type = bench_rng_fixed_type,
                 .takes = bench_rng_takes },
    .size = sizeof(bench_numbers),
    .make = bench_numbers_make,
    .release = bench_numbers_free,
    .same = same,
    .run = run,
    .peers = peers,
    .bytes = bytes,
    .work = numbers,
    .unit = "Gnum/s",
    .rate = "numbers_per_second",
    .heading = "type math  parameters               count",
    .cells = cells,
    .error_name = "max diff",
    .json_problem = json_problem,
    .checked_key = "numbers_checked",
};
