/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_data.c - makes the data of a tridiagonal problem and puts it into the context's memory,
 * in as many sets as memory.c says.
 */
#include "bench/tridiag.h"

#include <string.h>

enum { SLICE = 1 << 22 };

bool bench_data_same(const bench_problem *p, const bench_problem *q) {
    return strcmp(p->module, q->module) == 0 && strcmp(p->kind, q->kind) == 0 &&
           strcmp(p->backend, q->backend) == 0 && p->type == q->type && p->layout == q->layout &&
           p->n == q->n && p->count == q->count && p->nrhs == q->nrhs && p->seed == q->seed;
}

static int allocate(bench_session *s, bench_data *data) {
    const bench_problem *p = &data->problem;
    const size_t matrix = (size_t)p->n * (size_t)p->count * bench_number_size(p);
    for (int i = 0; i < 5; i++) data->size[i] = i < 3 ? matrix : matrix * (size_t)p->nrhs;
    return bench_arrays_allocate(s, data, 5);
}

/* Systems first .. first + count - 1. */
static shoal_status generate_slice(bench_data *data, int64_t first, int64_t count) {
    const bench_problem *p = &data->problem;
    const shoal_tridiag_opts shape = {
        .n = p->n, .count = count, .nrhs = p->nrhs, .type = p->type, .layout = p->layout
    };
    const size_t system = (size_t)p->n * (p->type == SHOAL_F32 ? sizeof(float) : sizeof(double));
    void *h[4];
    for (int i = 0; i < 4; i++)
        h[i] =
            (char *)data->host[i] + (size_t)first * system * (i == 3 ? (size_t)p->nrhs : (size_t)1);
    if (p->type == SHOAL_F32)
        return shoal_tridiag_generatef(data->place->ctx, p->kind, p->seed, first, &shape, h[0],
                                       h[1], h[2], h[3]);
    return shoal_tridiag_generate(data->place->ctx, p->kind, p->seed, first, &shape, h[0], h[1],
                                  h[2], h[3]);
}

/* In slices of about SLICE numbers an array, so that Ctrl-C is heard between them; an interleaved
 * batch is one slice. */
static shoal_status generate(const bench_session *s, bench_data *data) {
    const bench_problem *p = &data->problem;
    const int64_t each = p->n > 0 ? p->n * p->nrhs : 1;
    const bool whole = p->layout == SHOAL_INTERLEAVED || each * p->count <= SLICE;
    const int64_t slice = whole ? p->count : each < SLICE ? SLICE / each : 1;
    shoal_status status = SHOAL_OK;
    for (int64_t first = 0; first < p->count && status == SHOAL_OK; first += slice) {
        if (bench_stopped(s)) break;
        status = generate_slice(data, first, p->count - first < slice ? p->count - first : slice);
    }
    return status;
}

int bench_data_clear_outside(bench_session *s, bench_data *data) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    const size_t number = p->type == SHOAL_F32 ? sizeof(float) : sizeof(double);
    for (int64_t k = 0; k < p->count && p->n > 0; k++) {
        int64_t first = apart ? k : k * p->n;
        int64_t last = apart ? (p->n - 1) * p->count + k : k * p->n + p->n - 1;
        memset((char *)data->host[0] + (size_t)first * number, 0, number);
        memset((char *)data->host[2] + (size_t)last * number, 0, number);
    }
    shoal_status status = bench_arrays_upload(data, 0);
    if (status == SHOAL_OK) status = bench_arrays_upload(data, 2);
    if (status == SHOAL_OK) return BENCH_OK;
    return bench_error(s, status, "%s", shoal_message(data->place->ctx));
}

int bench_data_make(bench_session *s, const bench_problem *p, bench_place *place, void *of) {
    bench_data *data = of;
    if (data->place == place && bench_data_same(p, &data->problem)) return BENCH_OK;
    bench_arrays_free(data);
    data->problem = *p;
    data->place = place;
    if (allocate(s, data) != BENCH_OK) {
        bench_arrays_free(data);
        return BENCH_ERROR;
    }
    shoal_status status = generate(s, data);
    for (int i = 0; i < 4 && status == SHOAL_OK; i++) status = bench_arrays_upload(data, i);
    if (bench_stopped(s)) { /* the numbers may not be complete */
        bench_arrays_free(data);
        return BENCH_STOPPED;
    }
    if (status == SHOAL_OK) return BENCH_OK;
    bench_error(s, status, "%s", shoal_message(place->ctx));
    bench_arrays_free(data);
    return BENCH_ERROR;
}

bench_view bench_view_of(const bench_data *data, const void *x) {
    const bench_problem *p = &data->problem;
    const bool apart = p->layout == SHOAL_INTERLEAVED;
    bench_view view = { .type = p->type, .n = p->n, .count = p->count, .nrhs = p->nrhs };
    view.row = apart ? p->count : 1;
    view.system = apart ? 1 : p->n;
    view.d_row = view.row * p->nrhs;
    view.d_system = view.system * p->nrhs;
    view.d_rhs = 1;
    view.a = data->host[0], view.b = data->host[1], view.c = data->host[2], view.d = data->host[3];
    view.x = x;
    return view;
}
