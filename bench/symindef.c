/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.c - one dense symmetric matrix as a module of the bench: the keys of its problem strings, one matrix by one of
 * Shoal's methods (factored, checked, timed), its columns and its JSON.
 *
 * Bytes: complete pivoting looks at the whole reduced matrix in every stage. With pivots of order 1
 * that are updated at once, each stage reads it and writes it: n (n + 1) (n + 2) / 3 numbers, 16 n^3 / 6
 * bytes of double. A method that keeps updates pending reads as much and writes a few times less, so
 * that its share of the copy bandwidth may come out above 1. Of partial and rook pivoting the fewest
 * are the triangle read once and written once; what limits them are operations, n^3 / 3 multiplications
 * and additions together, which are counted for all methods.
 *
 * With pairs=vectors a method is the factorization with all eigenpairs after it (symindef_pairs.c); operations are
 * the 9 n^3 of the symmetric QR algorithm, bytes those of the matrix and its vectors.
 *
 * The matrix does not depend on storage, triangle, alpha and growth: such problems share it, and the
 * peers' measurement.
 */
#include "bench/symindef.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/module.h"
#include "bench/numbers.h"

/* ---- the matrix -------------------------------------------------------------------------------
 *
 * The whole matrix stays on the host: the check reads it, peers get their own copies of it, and
 * problems that differ in storage or triangle alone do not have it generated again. */

size_t bench_triangle_numbers(const bench_triangle *t) {
    const size_t n = (size_t)t->n;
    return t->packed ? n * (n + 1) / 2 : n * n;
}

int64_t bench_triangle_at(const bench_triangle *t, int64_t i, int64_t j) {
    if (!t->packed) return t->upper ? j * t->n + i : i * t->n + j;
    return t->upper ? j * (2 * t->n - 1 - j) / 2 + i : i * (i + 1) / 2 + j;
}

bench_triangle bench_triangle_of(const bench_problem *p) {
    return (bench_triangle){ .n = p->n,
                             .packed = p->storage == SHOAL_PACKED,
                             .upper = p->triangle == SHOAL_UPPER };
}

/* A line of the triangle is contiguous, and so is the row of the whole matrix that it is part of. */
void bench_matrix_fill(const bench_matrix *d, const bench_triangle *t, void *numbers) {
    const int64_t n = t->n;
    const size_t number = bench_number_size(&d->problem);
    char *to = numbers;
#pragma omp parallel for num_threads(d->place->machine.threads) schedule(static, 64)
    for (int64_t line = 0; line < n; line++) {
        const int64_t first = t->upper ? line : 0, end = t->upper ? n : line + 1;
        const int64_t start =
            t->upper ? bench_triangle_at(t, first, line) : bench_triangle_at(t, line, first);
        memcpy(to + (size_t)start * number, d->whole + (size_t)(line * n + first) * number,
               (size_t)(end - first) * number);
        if (t->packed) continue;
        for (int64_t x = 0; x < n; x++) { /* the rest of the line is not read */
            const int64_t at = line * n + x;
            if (x >= first && x < end) continue;
            bench_put_number(d->problem.type, numbers, at, NAN);
        }
    }
}

/* Whatever the storage, there is room for all n^2 numbers. */
static int allocate(bench_session *s, bench_matrix *d) {
    const size_t n = (size_t)d->problem.n, room = n * n * bench_number_size(&d->problem);
    const bool on_cpu = bench_on_cpu(d->place);
    shoal_context *ctx = d->place->ctx;
    if (bench_room(s, d->place, 2 * room, on_cpu ? 4 * room : 2 * room) != BENCH_OK)
        return BENCH_ERROR;
    d->whole = malloc(room ? room : 1);
    d->answer = malloc(room ? room : 1);
    if (!d->whole || !d->answer) return bench_error(s, SHOAL_E_NOMEM, "no memory for the problem");
    shoal_status status = shoal_alloc(ctx, room ? room : 1, (void **)&d->source);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, room ? room : 1, (void **)&d->work);
    return status == SHOAL_OK ? BENCH_OK : bench_error(s, status, "%s", shoal_message(ctx));
}

/* Both triangles of the whole out of the one that is given. */
static void mirror(bench_matrix *d, const io_array *lower) {
    const int64_t n = d->problem.n;
    double *whole = (double *)d->whole;
    for (int64_t i = 0, at = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++, at++)
            whole[i * n + j] = whole[j * n + i] = io_array_get(lower, at);
}

/* The triangle of the problem, into the context's memory. */
static int upload_triangle(bench_session *s, bench_matrix *d) {
    const bench_triangle triangle = bench_triangle_of(&d->problem);
    shoal_context *ctx = d->place->ctx;
    d->bytes = bench_triangle_numbers(&triangle) * bench_number_size(&d->problem);
    bench_matrix_fill(d, &triangle, d->answer);
    const shoal_status status =
        d->bytes ? shoal_copy(ctx, d->source, d->answer, d->bytes) : SHOAL_OK;
    if (status != SHOAL_OK) return bench_error(s, status, "%s", shoal_message(ctx));
    return bench_stopped(s) ? BENCH_STOPPED : BENCH_OK;
}

int bench_matrix_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_matrix *d = of;
    const bool kept = d->place == place && bench_same_data(p, &d->problem);
    int code = BENCH_OK;
    if (!kept) bench_matrix_free(d);
    d->problem = *p;
    d->place = place;
    if (!kept) {
        code = allocate(s, d);
        shoal_status status = SHOAL_OK;
        void *whole = d->whole;
        if (code == BENCH_OK)
            status = BENCH_BY_TYPE(p->type, shoal_symindef_generate, place->ctx, p->kind, p->seed,
                                   p->n, whole);
        if (status != SHOAL_OK) code = bench_error(s, status, "%s", shoal_message(place->ctx));
    }
    if (code == BENCH_OK) code = upload_triangle(s, d);
    if (code != BENCH_OK) bench_matrix_free(d);
    return code;
}

int bench_matrix_take(bench_session *s, const bench_problem *p, bench_place *place,
                      const io_array *lower, bench_matrix *d) {
    bench_matrix_free(d);
    *d = (bench_matrix){ .problem = *p, .place = place };
    int code = allocate(s, d);
    if (code == BENCH_OK) mirror(d, lower);
    if (code == BENCH_OK) code = upload_triangle(s, d);
    if (code != BENCH_OK) bench_matrix_free(d);
    return code;
}

/* On the CPU by all threads: pages lie with those who touch them first. */
int bench_matrix_renew(const bench_matrix *d) {
    if (d->bytes == 0) return 0;
    if (!bench_on_cpu(d->place))
        return shoal_copy(d->place->ctx, d->work, d->source, d->bytes) == SHOAL_OK ? 0 : -1;
    const size_t threads = (size_t)d->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (size_t t = 0; t < threads; t++) {
        const size_t begin = d->bytes / threads * t;
        const size_t end = t + 1 < threads ? d->bytes / threads * (t + 1) : d->bytes;
        memcpy(d->work + begin, d->source + begin, end - begin);
    }
    return 0;
}

void bench_matrix_free(void *of) {
    bench_matrix *d = of;
    if (d->place) {
        shoal_free(d->place->ctx, d->source);
        shoal_free(d->place->ctx, d->work);
    }
    free(d->whole);
    free(d->answer);
    *d = (bench_matrix){ 0 };
}

/* ---- one method ------------------------------------------------------------------------------- */

static int fresh_copy(void *self) {
    return bench_matrix_renew(((const bench_factoring *)self)->data);
}

static int factor(void *self, int i) {
    const bench_factoring *f = self;
    const bench_matrix *d = f->data;
    (void)i; /* a sample is one call */
    void *a = d->work;
    return BENCH_BY_TYPE(d->problem.type, shoal_symindef_factor, f->plan, a) == SHOAL_OK ? 0 : -1;
}

bench_pivoting bench_pivoting_of(const bench_problem *p) {
    if (!bench_can(p, SHOAL_CAN_BOUND)) return BENCH_PARTIAL;
    return bench_can(p, SHOAL_CAN_GROWTH) ? BENCH_COMPLETE : BENCH_ROOK;
}

double bench_symindef_bound(const bench_problem *p) {
    const double alpha = p->alpha > 0 ? p->alpha : (1 + sqrt(17.0)) / 8;
    if (bench_pivoting_of(p) == BENCH_PARTIAL) return INFINITY;
    return fmax(1 / alpha, 1 / (1 - alpha));
}

shoal_status bench_factoring_begin(const bench_matrix *d, const bench_problem *p,
                                   bench_factoring *f) {
    const size_t n = (size_t)p->n;
    const shoal_symindef_opts opts = { .n = p->n,
                                       .type = p->type,
                                       .storage = p->storage,
                                       .triangle = p->triangle,
                                       .method = p->method,
                                       .variant = p->variant,
                                       .alpha = p->alpha,
                                       .growth = p->growth };
    *f = (bench_factoring){ .data = d,
                            .info = { .method = p->method, .variant = p->variant },
                            .interchanges = calloc(n + 1, sizeof *f->interchanges),
                            .permutation = calloc(n + 1, sizeof *f->permutation) };
    if (!f->interchanges || !f->permutation) return SHOAL_E_NOMEM;
    return shoal_symindef_create(d->place->ctx, &opts, &f->plan);
}

void bench_factoring_end(bench_factoring *f) {
    shoal_symindef_free(f->plan);
    free(f->interchanges);
    free(f->permutation);
}

shoal_status bench_factoring_call(bench_factoring *f) {
    const bench_matrix *d = f->data;
    const bench_device *device = d->place->device;
    if (fresh_copy(f) || device->start() || factor(f, 0)) return SHOAL_E_CUDA;
    if ((f->seconds = device->stop()) < 0) return SHOAL_E_CUDA;
    shoal_status status = shoal_symindef_last(f->plan, &f->info);
    if (status == SHOAL_OK)
        status = shoal_symindef_order(f->plan, f->interchanges, f->permutation, NULL);
    if (status == SHOAL_OK && d->bytes > 0)
        status = shoal_copy(d->place->ctx, d->answer, d->work, d->bytes);
    return status;
}

shoal_status bench_factoring_check(const bench_factoring *f, bool (*stop)(void),
                                   bench_check *check) {
    const bench_matrix *d = f->data;
    const bench_factors factors = { .type = d->problem.type,
                                    .n = d->problem.n,
                                    .whole = d->whole,
                                    .triangle = bench_triangle_of(&d->problem),
                                    .numbers = d->answer,
                                    .interchanges = f->interchanges,
                                    .permutation = f->permutation,
                                    .bound = bench_symindef_bound(&d->problem),
                                    .info = &f->info,
                                    .threads = d->place->machine.threads,
                                    .stop = stop };
    return bench_symindef_check(&factors, check);
}

int bench_factoring_measure(bench_session *s, const bench_factoring *f, bench_stats *stats) {
    const bench_task task = {
        .prepare = fresh_copy, .call = factor, .self = (void *)f, .calls = 1
    };
    return bench_measure_long(s, f->data->place, &task, f->seconds, stats);
}

static int add_row(bench_session *s, const bench_factoring *f, const bench_problem *p, bool timed,
                   shoal_status status, bench_check *check) {
    static const shoal_symindef_info none;
    const shoal_symindef_info *info = status == SHOAL_OK ? &f->info : &none;
    char found[80], growth[32] = "", note[200];
    if (status != SHOAL_OK) *check = bench_broken(f->data->place, status);
    snprintf(found, sizeof found, "error %.2g by %lld vectors", check->max_residual,
             (long long)check->systems);
    if (info->growth > 0) snprintf(growth, sizeof growth, ", growth %.3g", info->growth);
    snprintf(note, sizeof note, "rank %lld, %lld + %lld pivots%s, max |M| %.4g",
             (long long)info->rank, (long long)info->pivots_1x1, (long long)info->pivots_2x2,
             growth, info->max_multiplier);
    const bench_solver ours = {
        .function = status == SHOAL_OK ? info->method : p->method,
        .variant = status == SHOAL_OK ? info->variant : p->variant,
        .note = note,
        .found = found,
        .workspace = info->bytes,
        .first = f->seconds,
        .task = { .prepare = fresh_copy, .call = factor, .self = (void *)f, .calls = 1 }
    };
    return bench_add_ours(s, p, f->data->place, &ours, status, check, timed && p->n > 0);
}

static int run(bench_session *s, void *of, const bench_problem *p, bool timed) {
    bench_matrix *d = of;
    if (p->pairs) return bench_symindef_pairs(s, d, p, timed);
    bench_factoring f;
    bench_check check = { 0 };
    shoal_status status = bench_factoring_begin(d, p, &f);
    int code = BENCH_OK;
    if (status == SHOAL_OK) {
        status = bench_factoring_call(&f);
        if (status == SHOAL_OK && !bench_stopped(s))
            status = bench_factoring_check(&f, s->rules.stop, &check);
        code = add_row(s, &f, p, timed, status, &check);
    } else {
        code = bench_no_plan(s, p, d->place, status);
    }
    bench_factoring_end(&f);
    return code;
}

/* ---- the module ------------------------------------------------------------------------------ */

static const char *const pair_names[] = { "none", "vectors", NULL };

/* clang-format off */
#define FIELD(name) .field = offsetof(bench_problem, name)
static const bench_key keys[] = {
    { "n",        BENCH_KEY_SIZE,    FIELD(n),        .usual = "1024", .list = true },
    { "kind",     BENCH_KEY_WORD,    FIELD(kind),     .usual = "equidistant", .values = true, .names = shoal_symindef_kind },
    { "storage",  BENCH_KEY_CHOICE,  FIELD(storage),  .usual = "full", .list = true, .inner = true, .words = bench_storages },
    { "triangle", BENCH_KEY_CHOICE,  FIELD(triangle), .usual = "lower", .list = true, .inner = true, .words = bench_triangles },
    { "alpha",    BENCH_KEY_REAL,    FIELD(alpha),    .usual = "0", .list = true, .inner = true },
    { "pairs",    BENCH_KEY_CHOICE,  FIELD(pairs),    .usual = "none", .list = true, .words = pair_names },
    { "growth",   BENCH_KEY_CHOICE,  FIELD(growth),   .usual = "0", .list = true, .inner = true, .words = bench_switches },
    { "variant",  BENCH_KEY_VARIANT, FIELD(variant) },
    { "seed",     BENCH_KEY_SEED,    FIELD(seed) },
    { .name = NULL }
};
/* clang-format on */

static bool same(const bench_problem *p, const bench_problem *q) {
    return bench_same_data(p, q) && bench_pivoting_of(p) == bench_pivoting_of(q);
}

static double operations(const bench_problem *p) {
    const double n = (double)p->n;
    return p->pairs ? 9 * n * n * n : n * n * n / 3;
}

static double bytes(const bench_problem *p) {
    const double n = (double)p->n, number = (double)bench_number_size(p);
    if (p->pairs) return 2 * n * n * number;
    if (bench_pivoting_of(p) == BENCH_COMPLETE) return n * (n + 1) * (n + 2) / 3 * number;
    return n * (n + 1) * number;
}

/* "upper alpha=0.5 growth": what is not as usual, or "-" */
static char *options(const bench_problem *p, char text[BENCH_TEXT]) {
    char digits[BENCH_REAL], alpha[BENCH_REAL + 8] = "";
    if (p->alpha > 0) snprintf(alpha, sizeof alpha, " alpha=%s", bench_real_text(p->alpha, digits));
    snprintf(text, BENCH_TEXT, "%s%s%s%s", p->pairs ? " vectors" : "",
             p->triangle == SHOAL_UPPER ? " upper" : "", alpha, p->growth ? " growth" : "");
    if (!*text) snprintf(text, BENCH_TEXT, " -");
    return text + 1;
}

static void cells(const bench_row *row, FILE *file) {
    const bench_problem *p = &row->problem;
    char text[BENCH_TEXT];
    fprintf(file, "%4s %-7s %-12s %-16s %6lld", bench_problem_type(p), bench_storages[p->storage],
            p->kind, options(p, text), (long long)p->n);
}

static void json_problem(const bench_row *row, io_json *json) {
    const bench_problem *p = &row->problem;
    io_json_string(json, "storage", bench_storages[p->storage]);
    io_json_string(json, "triangle", bench_triangles[p->triangle]);
    io_json_string(json, "kind", p->kind);
    if (p->pairs) io_json_string(json, "pairs", pair_names[p->pairs]);
    io_json_int(json, "n", p->n);
    io_json_double(json, "alpha", p->alpha);
    io_json_int(json, "growth", p->growth);
}

const bench_module bench_symindef = {
    .grammar = { .module = "symindef", .has_auto = true, .square = true, .keys = keys },
    .size = sizeof(bench_matrix),
    .make = bench_matrix_make,
    .release = bench_matrix_free,
    .same = same,
    .run = run,
    .peers = bench_peers_symindef,
    .bytes = bytes,
    .work = operations,
    .unit = "Gflop/s",
    .rate = "flops_per_second",
    .heading = "type storage kind         options               n",
    .cells = cells,
    .error_name = "rel. error",
    .fault = "error",
    .json_problem = json_problem,
    .checked_key = "vectors_checked",
};
