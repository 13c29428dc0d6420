/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef_data.c - makes the matrix of a problem of symindef, and puts the triangle that the
 * problem names into the context's memory.
 *
 * The whole matrix stays on the host: the check reads it, peers get their own copies of it, and
 * problems that differ in storage or triangle alone do not have it generated again.
 */
#include "bench/symindef.h"

#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"

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

static shoal_status generate(bench_matrix *d) {
    const bench_problem *p = &d->problem;
    void *whole = d->whole;
    return BENCH_BY_TYPE(p->type, shoal_symindef_generate, d->place->ctx, p->kind, p->seed, p->n,
                         whole);
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
static int put(bench_session *s, bench_matrix *d) {
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
        const shoal_status status = code == BENCH_OK ? generate(d) : SHOAL_OK;
        if (status != SHOAL_OK) code = bench_error(s, status, "%s", shoal_message(place->ctx));
    }
    if (code == BENCH_OK) code = put(s, d);
    if (code != BENCH_OK) bench_matrix_free(d);
    return code;
}

int bench_matrix_take(bench_session *s, const bench_problem *p, bench_place *place,
                      const io_array *lower, bench_matrix *d) {
    bench_matrix_free(d);
    *d = (bench_matrix){ .problem = *p, .place = place };
    int code = allocate(s, d);
    if (code == BENCH_OK) mirror(d, lower);
    if (code == BENCH_OK) code = put(s, d);
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
