/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_lapack.c - LAPACK's sgtsv_/dgtsv_ (elimination with partial pivoting), one call a system,
 * the systems divided among as many OpenMP threads as our solver has, BLAS itself on one thread.
 *
 * gtsv overwrites its input: before each sample fresh copies are made by the same threads, outside
 * the timed region. Right-hand sides are columns, so the data are rearranged where they are not one
 * system after another with nrhs = 1.
 */
#define _GNU_SOURCE
#include "bench/peers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void gtsv(const int *n, const int *nrhs, void *dl, void *d, void *du, void *b,
                  const int *ldb, int *info);

typedef struct job {
    gtsv *solve;
    size_t number; /* bytes                                            */
    int64_t n, count, nrhs;
    int sets, threads;
    char *source[4], *work[4]; /* dl, d, du, b, one system after another; b by columns */
    size_t size[4];            /* bytes of one set                                 */
} job;

/* Copies array i of the data, in any layout, to one system after another, columns after columns. */
static void rearrange(const job *j, const bench_view *v, int i) {
    const char *from = i == 0 ? v->a : i == 1 ? v->b : i == 2 ? v->c : v->d;
    const int64_t columns = i < 3 ? 1 : v->nrhs, row = i < 3 ? v->row : v->d_row;
    const int64_t system = i < 3 ? v->system : v->d_system;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t k = 0; k < v->count; k++)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t r = 0; r < v->n; r++)
                memcpy(j->source[i] + (size_t)((k * columns + c) * v->n + r) * j->number,
                       from + (size_t)(r * row + k * system + c) * j->number, j->number);
}

static int prepare(void *self) {
    const job *j = self;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int t = 0; t < j->threads; t++) {
        const size_t begin = (size_t)(j->count * t / j->threads),
                     end = (size_t)(j->count * (t + 1) / j->threads);
        for (int i = 0; i < 4; i++)
            for (int set = 0; set < j->sets; set++) {
                const size_t system = j->size[i] / (size_t)j->count;
                memcpy(j->work[i] + (size_t)set * j->size[i] + begin * system,
                       j->source[i] + begin * system, (end - begin) * system);
            }
    }
    return 0;
}

static int call(void *self, int set) {
    const job *j = self;
    const int n = (int)j->n, nrhs = (int)j->nrhs;
    const size_t row = j->number;
#pragma omp parallel for num_threads(j->threads) schedule(static)
    for (int64_t k = 0; k < j->count; k++) {
        char *p[4];
        int info = 0; /* not looked at: a system without an answer fails the check */
        for (int i = 0; i < 4; i++)
            p[i] =
                j->work[i] + (size_t)set * j->size[i] + (size_t)k * (j->size[i] / (size_t)j->count);
        j->solve(&n, &nrhs, p[0] + row, p[1], p[2], p[3], &n, &info); /* dl starts at row 1 */
    }
    return 0;
}

static bench_view view_of(const job *j, shoal_type type) {
    bench_view v = { .type = type, .n = j->n, .count = j->count, .nrhs = j->nrhs };
    v.row = v.d_row = 1;
    v.system = v.d_rhs = j->n;
    v.d_system = j->n * j->nrhs;
    v.a = j->source[0], v.b = j->source[1], v.c = j->source[2], v.d = j->source[3];
    v.x = j->work[3];
    return v;
}

static bool allocate(job *j) {
    bool enough = true;
    for (int i = 0; i < 4; i++) {
        j->size[i] = (size_t)j->n * (size_t)j->count * (i < 3 ? 1 : (size_t)j->nrhs) * j->number;
        j->source[i] = malloc(j->size[i]);
        j->work[i] = malloc(j->size[i] * (size_t)j->sets);
        enough = enough && j->source[i] && j->work[i];
    }
    return enough;
}

static int run(bench_session *s, bench_data *data, const bench_lapack *lib, job *j) {
    const bench_problem *p = &data->problem;
    const bench_view ours = bench_view_of(data, NULL);
    if (!allocate(j)) return bench_error(s, SHOAL_E_NOMEM, "no memory for the peer's copies");
    for (int i = 0; i < 4; i++) rearrange(j, &ours, i);
    prepare(j);
    call(j, 0);
    const bench_view theirs = view_of(j, p->type);
    bench_check check;
    char note[160];
    bench_tridiag_check(&theirs, NULL, NULL, j->threads, &check);
    snprintf(
        note, sizeof note, "one call a system, %d OpenMP threads over the systems%s", j->threads,
        p->layout == SHOAL_INTERLEAVED ? ", on its own copy of the data, one system after another"
                                       : "");
    const bench_solver peer = {
        .who = "LAPACK",
        .function = p->type == SHOAL_F32 ? "sgtsv" : "dgtsv",
        .version = lib->version,
        .note = note,
        .task = { .prepare = prepare, .call = call, .self = j, .calls = j->sets }
    };
    return bench_add_row(s, p, data->place, &peer, &check, true);
}

int bench_peer_lapack(bench_session *s, bench_data *data) {
    const bench_problem *p = &data->problem;
    bench_lapack lib;
    gtsv *solve = NULL;
    if (p->n < 1 || p->count < 1 || p->nrhs < 1 || p->n > INT32_MAX || p->nrhs > INT32_MAX)
        return BENCH_OK;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    *(void **)&solve = dlsym(lib.file, p->type == SHOAL_F32 ? "sgtsv_" : "dgtsv_");
    if (!solve) {
        bench_note(s, "peer left out: %s has no gtsv", lib.version);
        return BENCH_OK;
    }
    job j = { .solve = solve,
              .number = p->type == SHOAL_F32 ? sizeof(float) : sizeof(double),
              .n = p->n,
              .count = p->count,
              .nrhs = p->nrhs,
              .sets = data->sets,
              .threads = data->place->machine.threads };
    int code = run(s, data, &lib, &j);
    for (int i = 0; i < 4; i++) {
        free(j.source[i]);
        free(j.work[i]);
    }
    return code;
}
