/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_symindef.c - what the peers of dense symmetric matrices have in common: their copy of the
 * matrix, a row of theirs, checked and timed, and their factors in the library's form.
 *
 * LAPACK's sytrf does not exchange rows of the columns of L that it has left behind:
 * A = P1 L1 P2 L2 ... D ... L2t P2t L1t P1t. With the later exchanges done in each column this is
 * P A Pt = M D Mt, at n^2 / 2 exchanges, on the host, once for the check.
 */
#include "bench/symindef.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"
#include "bench/peers.h"
#include "bench/peers_foreign.h"

enum { MAX_ROWS = 46340 }; /* n^2 is an int: peers count so */

typedef struct swap { /* of two rows, in the stage that begins with row `stage` */
    int64_t stage, a, b;
} swap;

/* The exchanges of all stages, one after another; their number, or -1. Leaves the sign that marks a
 * block where the library has it. */
static int64_t list_swaps(bench_form form, int64_t n, int32_t *pivots, swap *list) {
    int64_t count = 0;
    for (int64_t k = 0; k < n; k++) {
        const bool ours = form == BENCH_FORM_OURS;
        const bool block = ours ? k + 1 < n && pivots[k + 1] < 0 : pivots[k] < 0;
        if (block && (k + 1 == n || pivots[k + 1] >= 0)) return -1;
        const int64_t first = llabs((long long)pivots[k]) - 1;
        const int64_t second = block ? llabs((long long)pivots[k + 1]) - 1 : 0;
        if (!block || form != BENCH_FORM_SYTRF) list[count++] = (swap){ k, k, first };
        if (block) list[count++] = (swap){ k, k + 1, second };
        pivots[k] = (int32_t)(block && form == BENCH_FORM_SYTRF ? k + 1 : first + 1);
        if (block) pivots[++k] = -(int32_t)(second + 1);
    }
    for (int64_t i = 0; i < count; i++)
        if (list[i].b < list[i].a || list[i].b >= n) return -1;
    return count;
}

static void swap_numbers(shoal_type type, void *numbers, int64_t a, int64_t b) {
    const double kept = bench_number(type, numbers, a);
    bench_put_number(type, numbers, a, bench_number(type, numbers, b));
    bench_put_number(type, numbers, b, kept);
}

bool bench_factors_normalise(bench_form form, const bench_triangle *t, shoal_type type,
                             int32_t *pivots, int32_t *permutation, void *numbers) {
    const int64_t n = t->n;
    swap *list = calloc((size_t)n + 1, sizeof *list);
    const int64_t count = list ? list_swaps(form, n, pivots, list) : -1;
    for (int64_t i = 0; i < n; i++) permutation[i] = (int32_t)i;
    for (int64_t i = 0; i < count; i++) {
        const int32_t kept = permutation[list[i].a];
        permutation[list[i].a] = permutation[list[i].b];
        permutation[list[i].b] = kept;
    }
    if (form != BENCH_FORM_OURS) {
#pragma omp parallel for schedule(dynamic, 16)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < count; i++)
                if (list[i].stage > j && list[i].a != list[i].b)
                    swap_numbers(type, numbers, bench_triangle_at(t, list[i].a, j),
                                 bench_triangle_at(t, list[i].b, j));
    }
    free(list);
    return count >= 0;
}

typedef struct task { /* a routine on its copy */
    const bench_matrix *data;
    const bench_factorer *routine;
} task;

static int prepare(void *self) { return bench_matrix_renew(((const task *)self)->data); }

static int call(void *self, int i) {
    const task *t = self;
    (void)i; /* a sample is one call */
    return t->routine->factor(t->routine->peer.task.self, t->data->work);
}

/* The matrix in the form that the peer takes. */
static shoal_status make_source(bench_matrix *d, const bench_triangle *t) {
    d->bytes = bench_triangle_numbers(t) * bench_number_size(&d->problem);
    if (!t->packed) return shoal_copy(d->place->ctx, d->source, d->whole, d->bytes);
    bench_matrix_fill(d, t, d->answer);
    return shoal_copy(d->place->ctx, d->source, d->answer, d->bytes);
}

/* One call, whose time is taken; its factors are brought home and judged. */
static shoal_status verify(bench_session *s, task *self, const bench_problem *p,
                           const bench_triangle *t, double *seconds, bench_check *check) {
    const bench_matrix *d = self->data;
    const bench_factorer *r = self->routine;
    const bench_device *device = d->place->device;
    const size_t n = (size_t)p->n;
    int32_t *pivots = calloc(n, sizeof *pivots), *permutation = calloc(n, sizeof *permutation);
    shoal_status status = pivots && permutation ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK && (prepare(self) || device->start() || call(self, 0)))
        status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && (*seconds = device->stop()) < 0) status = SHOAL_E_CUDA;
    if (status == SHOAL_OK && r->pivots_there)
        status = shoal_copy(d->place->ctx, pivots, r->pivots, n * sizeof *pivots);
    else if (status == SHOAL_OK)
        memcpy(pivots, r->pivots, n * sizeof *pivots);
    if (status == SHOAL_OK) status = shoal_copy(d->place->ctx, d->answer, d->work, d->bytes);
    if (status == SHOAL_OK &&
        !bench_factors_normalise(r->form, t, p->type, pivots, permutation, d->answer))
        permutation[0] = -1; /* which the check does not take for one */
    const bench_factors factors = { .type = p->type,
                                    .n = p->n,
                                    .whole = d->whole,
                                    .triangle = *t,
                                    .numbers = d->answer,
                                    .interchanges = pivots,
                                    .permutation = permutation,
                                    .bound = r->partial ? INFINITY : bench_symindef_bound(p),
                                    .threads = d->place->machine.threads,
                                    .stop = s->rules.stop };
    if (status == SHOAL_OK) status = bench_symindef_check(&factors, check);
    free(pivots);
    free(permutation);
    return status;
}

int bench_peer_factorer(bench_session *s, bench_matrix *d, const bench_factorer *r) {
    const bench_triangle triangle = { .n = d->problem.n, .packed = r->packed, .upper = true };
    bench_problem p = d->problem; /* of a peer there is nothing of ours but the matrix */
    p.variant[0] = 0;
    p.alpha = 0;
    p.growth = 0;
    p.storage = r->packed ? SHOAL_PACKED : SHOAL_FULL;
    p.triangle = SHOAL_LOWER;
    task self = { d, r };
    bench_check check = { 0 };
    if (bench_stopped(s)) return BENCH_STOPPED;
    bench_solver peer = r->peer;
    peer.optional = true;
    peer.task = (bench_task){ .prepare = prepare, .call = call, .self = &self, .calls = 1 };
    if (make_source(d, &triangle) != SHOAL_OK ||
        verify(s, &self, &p, &triangle, &peer.first, &check) != SHOAL_OK)
        return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    return bench_add_row(s, &p, d->place, &peer, &check, true);
}

/* ---- LAPACK: threads are OpenBLAS's own, inside its matrix products ----------------------------
 *
 *     sytrf         partial pivoting, blocked
 *     sptrf         the same in packed storage, one column at a time; beside packed problems
 *     sytrf_rook    rook pivoting, blocked
 *
 * of the lower triangle, columns first. */

/* With the length of the word at their end, as Fortran has it. */
typedef void sytrf(const char *uplo, const int *n, void *a, const int *lda, int *pivots, void *work,
                   const int *lwork, int *info, size_t one);
typedef void sptrf(const char *uplo, const int *n, void *a, int *pivots, int *info, size_t one);

typedef struct job {
    int n, lwork;
    sytrf *full;
    sptrf *packed;
    int *pivots;
    void *work;
} job;

static int factor(void *self, void *a) {
    job *j = self;
    int info = 0;
    if (j->packed)
        j->packed("L", &j->n, a, j->pivots, &info, 1);
    else
        j->full("L", &j->n, a, &j->n, j->pivots, j->work, &j->lwork, &info, 1);
    return info < 0 ? info : 0; /* above 0: a pivot is zero, and the factors are there */
}

/* The function, and the workspace that it reports. */
static bool begin(job *j, const bench_library *lib, const char *function, bool packed,
                  bool single) {
    char name[32];
    snprintf(name, sizeof name, "%.24s_", function);
    const bench_symbol symbol = { name, packed ? (void *)&j->packed : (void *)&j->full };
    j->pivots = calloc((size_t)j->n, sizeof *j->pivots);
    if (!j->pivots || !bench_find(lib, 0, &symbol, 1)) return false;
    if (packed) return true;
    double numbers = 0; /* or a float */
    float small = 0;
    int info = 0;
    const int query = -1;
    j->full("L", &j->n, NULL, &j->n, j->pivots, single ? (void *)&small : (void *)&numbers, &query,
            &info, 1);
    j->lwork = (int)(single ? (double)small : numbers);
    if (info != 0 || j->lwork < j->n) j->lwork = j->n;
    j->work = malloc((size_t)j->lwork * (single ? sizeof(float) : sizeof(double)));
    return j->work != NULL;
}

static int run(bench_session *s, bench_matrix *d, const bench_library *lib, const char *name,
               bool packed, bench_form form) {
    const bool single = d->problem.type == SHOAL_F32;
    const int threads = d->place->machine.threads;
    void (*set_threads)(int) = NULL;
    char function[24], note[96];
    job j = { .n = (int)d->problem.n };
    bench_find(lib, 0, &(bench_symbol){ "openblas_set_num_threads", &set_threads }, 1);
    snprintf(function, sizeof function, "%c%s", single ? 's' : 'd', name);
    snprintf(note, sizeof note, "lower triangle, %d thread%s", set_threads ? threads : 1,
             set_threads && threads > 1 ? "s" : "");
    int code = BENCH_OK;
    if (begin(&j, lib, function, packed, single)) {
        const bench_factorer r = { .peer = { .who = "LAPACK",
                                             .function = function,
                                             .version = lib->version,
                                             .note = note,
                                             .workspace = (size_t)j.lwork * (single ? 4 : 8) +
                                                          (size_t)j.n * sizeof *j.pivots,
                                             .task = { .self = &j } },
                                   .packed = packed,
                                   .form = form,
                                   .factor = factor,
                                   .pivots = j.pivots };
        if (set_threads) set_threads(threads);
        code = bench_peer_factorer(s, d, &r);
        if (set_threads) set_threads(1);
    } else {
        bench_note(s, "peer left out: %s has no %s", lib->version, function);
    }
    free(j.pivots);
    free(j.work);
    return code;
}

static int lapack_peers(bench_session *s, bench_matrix *d) {
    const bool beside_packed = d->problem.storage == SHOAL_PACKED;
    bench_library lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    if (bench_pivoting_of(&d->problem) == BENCH_ROOK)
        return run(s, d, &lib, "sytrf_rook", false, BENCH_FORM_ROOK);
    int code = run(s, d, &lib, "sytrf", false, BENCH_FORM_SYTRF);
    if (code == BENCH_OK && beside_packed) code = run(s, d, &lib, "sptrf", true, BENCH_FORM_SYTRF);
    return code;
}

/* ---- the plain loop of peers_complete.c, for complete pivoting -------------------------------------------------------------------------------- */

typedef struct loop_job {
    int64_t n;
    bool single;
    void *room;
    int32_t *interchanges;
} loop_job;

static int factor_by_loop(void *self, void *a) {
    const loop_job *j = self;
    if (j->single)
        shoal_complete_loop_f32_plain(j->n, a, j->room, j->interchanges);
    else
        shoal_complete_loop_f64_plain(j->n, a, j->room, j->interchanges);
    return 0;
}

static int loop_peer(bench_session *s, bench_matrix *d) {
    const size_t n = (size_t)d->problem.n, number = bench_number_size(&d->problem);
    loop_job j = { .n = d->problem.n,
                   .single = d->problem.type == SHOAL_F32,
                   .room = malloc(2 * n * number),
                   .interchanges = malloc(n * sizeof *j.interchanges) };
    const bench_factorer r = { .peer = { .who = "C",
                                         .function = "loop",
                                         .version = "the compiler of this build, -O2",
                                         .note = "search, then update at once; packed, one thread",
                                         .workspace = 2 * n * number,
                                         .threads = 1,
                                         .task = { .self = &j } },
                               .packed = true,
                               .form = BENCH_FORM_OURS,
                               .factor = factor_by_loop,
                               .pivots = j.interchanges };
    int code = BENCH_OK;
    if (j.room && j.interchanges)
        code = bench_peer_factorer(s, d, &r);
    else
        bench_note(s, "peer left out: no memory for the loop in C");
    free(j.room);
    free(j.interchanges);
    return code;
}

int bench_peers_symindef(bench_session *s, void *matrix) {
    bench_matrix *d = matrix;
    const bench_problem *p = &d->problem;
    const bool on_cpu = bench_on_cpu(d->place);
    if (p->n < 1) return BENCH_OK;
    if (p->n > MAX_ROWS) {
        bench_note(s, "peers left out: they take n up to %d", MAX_ROWS);
        return BENCH_OK;
    }
    if (p->pairs) return bench_peers_pairs(s, d);
    if (bench_pivoting_of(p) == BENCH_COMPLETE)
        return on_cpu ? loop_peer(s, d) : bench_peer_thesis(s, d);
    return on_cpu ? lapack_peers(s, d) : bench_peer_cusolver_indefinite(s, d);
}
