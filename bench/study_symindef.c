/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef.c - factors the matrices of the studies of Kruchinina's thesis and measures time and errors.
 *
 * The matrices are those of the thesis, eigenvalues -n .. n - 1 in equal steps and random vectors
 * ("equidistant"); of `alpha` a user's matrix may take its place. Packed, in double, method "complete".
 *
 * Errors, in twice the precision of double, on the CPU for every backend:
 *     relative_error, gjgt_error       |P A Pt - M D Mt| / |A|, |P A Pt - G J Gt| / |A| in the infinity norm, of
 *                                      products (symindef_errors.c): n^3/6 terms up to STUDY_WHOLE rows,
 *                                      beyond that a sample of the rows, n^2/2 terms each
 *     quad_gjgt_error                  that of G J Gt in 128 bits throughout, up to QUAD_N rows (symindef_quad.c)
 *     vector_error, gjgt_vector_error  the same seen by random vectors (symindef_check.c), n^2 terms
 *
 * Part `read`: one triangle of an HDF5 file by hyperslabs, a row each, against all of it by one
 * call, and against all of it and then packed (Kruchinina's thesis, section 3.2).
 *
 * The file is contiguous and has just been written: it lies in the cache of the operating system, and
 * what is measured is the way from there into fresh memory of the process. Each order is twice the
 * one before. On the host for every backend.
 */
#include "bench/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/symindef_errors.h"
#include "io/hdf5.h"

enum { READ_WAYS = 3, READ_ORDERS = 4, MAX_READ = 8000 }; /* 512 MB */
enum { ALPHA_N = 3000, SIZES = 10, MATRICES = 3 };
enum { MAX_ON_CPU = 1000, MAX_ON_CUDA = 10000 };
enum { QUAD_N = 200 }; /* rows up to which a factorization in 128 bits is affordable */

/* 0: alpha_0 */
static const double alphas[] = { 0.01, 0.15, 0.29, 0.43, 0.57, 0, 0.71, 0.85, 0.99 };
enum { ALPHAS = sizeof alphas / sizeof *alphas };

typedef struct errors { /* NaN: not measured */
    double product, vectors, gjgt_product, gjgt_vectors, gjgt_seconds;
    double quad; /* of factors in 128 bits */
} errors;

int bench_symindef_part(const char *name) {
    static const char *const names[] = { "alpha", "sizes", "read" };
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) return 1 << i;
    return 0;
}

int64_t bench_study_symindef_cases(const bench_symindef_study *what) {
    return (what->parts & STUDY_ALPHA ? ALPHAS : 0) +
           (what->parts & STUDY_SIZES ? SIZES * MATRICES : 0) +
           (what->parts & STUDY_READ ? READ_ORDERS : 0);
}

static const char *matrix_name(const bench_symindef_study *what) {
    return what->name ? what->name : "equidistant";
}

bool bench_study_symindef_replaces(const bench_symindef_study *what, const io_json_value *row) {
    const io_json_value *part = io_json_get(row, "part"), *matrix = io_json_get(row, "matrix");
    if (!part || part->kind != IO_JSON_STRING) return true; /* of no study */
    const int old = bench_symindef_part(part->string);
    if (!(old & what->parts)) return old == 0;
    return old != STUDY_ALPHA || !matrix || matrix->kind != IO_JSON_STRING ||
           strcmp(matrix->string, matrix_name(what)) == 0;
}

static void json_time(io_json *json, const bench_stats *time) {
    io_json_double(json, "median_s", time->median);
    io_json_double(json, "spread_s", time->spread);
    io_json_int(json, "samples", time->samples);
}

/* ---- one factorization ------------------------------------------------------------------------ */

static double entry(const void *matrix, int64_t i, int64_t j) {
    const bench_matrix *d = matrix;
    const void *whole = d->whole;
    return ((const double *)whole)[i * d->problem.n + j];
}

/* |P A Pt - M D Mt| / |A| of the factors in d->answer. */
static double product_error(const bench_factoring *f, bench_product p) {
    const int64_t n = p.n;
    double *d = calloc(2 * (size_t)n + 1, sizeof *d);
    if (!d) return NAN;
    double *e = d + n;
    p.triangle = bench_triangle_of(&f->data->problem);
    p.factors = f->data->answer;
    for (int64_t k = 0; k < n; k++) {
        const double *numbers = p.factors;
        d[k] = numbers[bench_triangle_at(&p.triangle, k, k)];
        if (k + 1 < n && f->interchanges[k + 1] < 0)
            e[k] = numbers[bench_triangle_at(&p.triangle, k + 1, k)];
    }
    p.d = d, p.e = e;
    const double error = bench_product_error(&p);
    free(d);
    return error;
}

/* G, of the factors in d->work, and what it is off. */
static shoal_status gjgt_errors(const bench_session *s, const bench_factoring *f, bench_product p,
                                errors *found) {
    const bench_matrix *a = f->data;
    const bench_given given = { SHOAL_F64, p.n, a->whole, f->permutation, p.threads };
    const bench_device *device = a->place->device;
    shoal_context *ctx = a->place->ctx;
    const size_t bytes = (size_t)(p.n * f->info.rank) * sizeof(double);
    int32_t *signs = calloc((size_t)p.n + 1, sizeof *signs);
    double *here = malloc(bytes + 1);
    const void *factors = a->work;
    void *there = NULL;
    shoal_status status = signs && here ? shoal_alloc(ctx, bytes + 1, &there) : SHOAL_E_NOMEM;
    if (status == SHOAL_OK && device->start()) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK) status = shoal_symindef_gjgt(f->plan, factors, 0, there, signs);
    if (status == SHOAL_OK && (found->gjgt_seconds = device->stop()) < 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && bytes > 0) status = shoal_copy(ctx, here, there, bytes);
    if (status == SHOAL_OK && !bench_stopped(s)) {
        p.G = here, p.signs = signs, p.columns = f->info.rank;
        found->gjgt_product = bench_product_error(&p);
        found->gjgt_vectors = bench_vectors_gjgt(&given, here, signs, p.columns);
    }
    shoal_free(ctx, there);
    free(here);
    free(signs);
    return status;
}

static void json_row(io_json *json, const char *part, const char *matrix, const bench_factoring *f,
                     const bench_check *check, const errors *e, const bench_stats *time) {
    const bench_problem *p = &f->data->problem;
    const shoal_symindef_info *i = &f->info;
    io_json_object_line(json, NULL);
    io_json_string(json, "part", part);
    io_json_string(json, "matrix", matrix);
    io_json_int(json, "n", p->n);
    io_json_uint(json, "seed", p->seed);
    io_json_string(json, "method", i->method);
    io_json_string(json, "backend", f->data->place->machine.backend);
    io_json_string(json, "type", "f64");
    io_json_string(json, "storage", "packed");
    io_json_double(json, "alpha", p->alpha > 0 ? p->alpha : (1 + sqrt(17.0)) / 8);
    io_json_bool(json, "verified", check->passed);
    io_json_int(json, "rank", i->rank);
    io_json_int(json, "pivots_1x1", i->pivots_1x1);
    io_json_int(json, "pivots_2x2", i->pivots_2x2);
    io_json_double(json, "growth", i->growth);
    io_json_double(json, "max_multiplier", i->max_multiplier);
    io_json_int(json, "rows_checked", p->n > STUDY_WHOLE ? BENCH_SAMPLE : p->n);
    io_json_double(json, "relative_error", e->product);
    io_json_double(json, "vector_error", e->vectors);
    if (strcmp(part, "sizes") == 0) {
        io_json_double(json, "gjgt_error", e->gjgt_product);
        io_json_double(json, "gjgt_vector_error", e->gjgt_vectors);
        io_json_double(json, "gjgt_s", e->gjgt_seconds);
        if (p->n <= QUAD_N) io_json_double(json, "quad_gjgt_error", e->quad);
    }
    json_time(json, time);
    io_json_close(json);
}

/* Factors the matrix as its problem sets, and writes the row. */
static int measure(bench_session *s, const bench_matrix *d, const char *part, const char *matrix,
                   bench_symindef_study *what, io_json *json) {
    bench_factoring f;
    bench_check check = { 0 };
    bench_stats time = { 0 };
    errors found = { NAN, NAN, NAN, NAN, NAN, NAN };
    int code = BENCH_OK;
    shoal_status status = bench_factoring_begin(d, &d->problem, &f);
    const bench_product p = { .n = d->problem.n,
                              .type = SHOAL_F64,
                              .permutation = f.permutation,
                              .given = entry,
                              .matrix = d,
                              .twice = true,
                              .sampled = d->problem.n > STUDY_WHOLE,
                              .threads = d->place->machine.threads,
                              .stop = s->rules.stop };
    if (status == SHOAL_OK) status = bench_factoring_call(&f);
    if (status == SHOAL_OK && f.info.status >= 0 && !bench_stopped(s)) {
        found.product = product_error(&f, p);
        if (strcmp(part, "sizes") == 0) status = gjgt_errors(s, &f, p, &found);
        if (strcmp(part, "sizes") == 0 && p.n <= QUAD_N)
            found.quad = bench_quad_error((const double *)(const void *)d->whole, p.n);
    }
    if (status == SHOAL_OK) status = bench_factoring_check(&f, s->rules.stop, &check);
    if (status == SHOAL_OK && !bench_stopped(s)) code = bench_factoring_measure(s, &f, &time);
    if (bench_stopped(s)) code = BENCH_STOPPED;
    if (status != SHOAL_OK || code == BENCH_ERROR)
        code = bench_error(s, status != SHOAL_OK ? status : SHOAL_E_CUDA, "%s, n = %lld: %s",
                           matrix, (long long)p.n, bench_message(d->place, status));
    if (code == BENCH_OK) {
        if (f.info.status >= 0) found.vectors = check.max_residual;
        what->wrong += !check.passed;
        json_row(json, part, matrix, &f, &check, &found, &time);
        bench_note(s, "%s: %s, n = %lld, alpha %.4g: %s", part, matrix, (long long)p.n,
                   d->problem.alpha, check.passed ? "verified" : check.why);
    }
    bench_factoring_end(&f);
    return code;
}

/* ---- the parts -------------------------------------------------------------------------------- */

static bench_problem problem_of(int64_t n, uint64_t seed) {
    return (bench_problem){ .module = "symindef",
                            .method = "complete",
                            .kind = "equidistant",
                            .type = SHOAL_F64,
                            .storage = SHOAL_PACKED,
                            .n = n,
                            .count = 1,
                            .nrhs = 1,
                            .seed = seed };
}

static int64_t max_of(const bench_symindef_study *what, const bench_place *place) {
    return what->max_n > 0 ? what->max_n : bench_on_cpu(place) ? MAX_ON_CPU : MAX_ON_CUDA;
}

static int study_alpha(bench_session *s, bench_place *place, bench_symindef_study *what,
                       io_json *json) {
    const int64_t max = max_of(what, place), n = max < ALPHA_N ? max : ALPHA_N;
    const bench_problem p = problem_of(what->name ? what->n : n, what->seed);
    bench_matrix d = { 0 };
    int code = what->name ? bench_matrix_take(s, &p, place, what->lower, &d)
                          : bench_matrix_make(s, &p, place, &d);
    for (int i = 0; i < ALPHAS && code == BENCH_OK; i++) {
        d.problem.alpha = alphas[i];
        code = measure(s, &d, "alpha", matrix_name(what), what, json);
    }
    bench_matrix_free(&d);
    return code;
}

static int study_sizes(bench_session *s, bench_place *place, bench_symindef_study *what,
                       io_json *json) {
    bench_matrix d = { 0 };
    int code = BENCH_OK;
    for (int i = 1; i <= SIZES; i++)
        for (uint64_t m = 0; m < MATRICES && code == BENCH_OK; m++) {
            const bench_problem p = problem_of(max_of(what, place) * i / SIZES, what->seed + m);
            code = bench_matrix_make(s, &p, place, &d);
            if (code == BENCH_OK) code = measure(s, &d, "sizes", "equidistant", what, json);
        }
    bench_matrix_free(&d);
    return code;
}

/* ---- reading ---------------------------------------------------------------------------------- */

typedef struct reader {
    const char *path;
    int way;
    io_error err;
} reader;

static const char *const read_ways[READ_WAYS] = { "triangle", "whole", "whole, packed" };

/* The lower triangle of a whole matrix. */
static int pack(const io_array *whole, int64_t n, io_array *packed, io_error *err) {
    const io_triangle t = { .packed = true };
    const int status = io_triangle_create(&t, IO_F8, n, "packed", INT64_MAX, packed, err);
    const double *from = whole->data;
    double *to = packed->data;
    for (int64_t i = 0; i < n && status == IO_OK; to += ++i, from += n)
        memcpy(to, from, (size_t)(i + 1) * sizeof *to);
    return status;
}

static int read_once(void *self, int i) {
    reader *r = self;
    const io_triangle t = { .packed = true };
    io_array a = { .data = NULL }, packed = { .data = NULL };
    int64_t n = 0;
    (void)i; /* a sample is one call */
    int status = io_h5_read_triangle(r->path, r->way == 0 ? &t : NULL, INT64_MAX, &n, &a, &r->err);
    if (status == IO_OK && r->way == 2) status = pack(&a, n, &packed, &r->err);
    io_array_free(&a);
    io_array_free(&packed);
    return status == IO_OK ? 0 : -1;
}

static void read_json_row(io_json *json, int64_t n, int way, const bench_stats *time) {
    io_json_object_line(json, NULL);
    io_json_string(json, "part", "read");
    io_json_string(json, "matrix", "random");
    io_json_int(json, "n", n);
    io_json_string(json, "way", read_ways[way]);
    json_time(json, time);
    io_json_close(json);
}

static int write_file(bench_session *s, bench_place *place, const bench_symindef_study *what,
                      int64_t n) {
    io_array a;
    io_error err;
    int status = io_array_create(IO_F8, 2, (const int64_t[]){ n, n }, &a, &err);
    if (status == IO_OK &&
        shoal_symindef_generate(place->ctx, "random", what->seed, n, a.data) != SHOAL_OK)
        status = io_fail(&err, IO_E_MEMORY, "%s", shoal_message(place->ctx));
    const io_h5_item item = { "A", &a };
    if (status == IO_OK) status = io_h5_write(what->scratch, &item, 1, &err);
    io_array_free(&a);
    return status == IO_OK ? BENCH_OK : bench_error(s, SHOAL_OK, "%s", err.text);
}

static int study_read(bench_session *s, bench_place *place, const bench_symindef_study *what,
                      io_json *json) {
    int code = BENCH_OK;
    if (!io_h5_available()) {
        bench_note(s, "read: left out, there is no HDF5 here");
        return BENCH_OK;
    }
    for (int k = READ_ORDERS - 1; k >= 0 && code == BENCH_OK; k--) {
        const int64_t n = (what->max_n > 0 ? what->max_n : MAX_READ) >> k;
        code = write_file(s, place, what, n);
        for (int way = 0; way < READ_WAYS && code == BENCH_OK; way++) {
            reader r = { .path = what->scratch, .way = way };
            const bench_task task = { .call = read_once, .self = &r, .calls = 1 };
            bench_stats time;
            code = bench_measure(&bench_cpu, &s->rules, &task, &time);
            if (code == BENCH_ERROR) bench_error(s, SHOAL_OK, "%s", r.err.text);
            if (code == BENCH_OK) read_json_row(json, n, way, &time);
        }
        bench_note(s, "read: n = %lld", (long long)n);
    }
    remove(what->scratch);
    return code;
}

int bench_study_symindef(bench_session *s, bench_place *place, bench_symindef_study *what,
                         io_json *json) {
    const bench_rules rules = s->rules;
    s->rules = (bench_rules){ .samples = 5, .shortest = 0.02, .longest = 1, .stop = rules.stop };
    int code = BENCH_OK;
    if (what->parts & STUDY_ALPHA) code = study_alpha(s, place, what, json);
    if (code == BENCH_OK && what->parts & STUDY_SIZES) code = study_sizes(s, place, what, json);
    if (code == BENCH_OK && what->parts & STUDY_READ) code = study_read(s, place, what, json);
    s->rules = rules;
    return code;
}
