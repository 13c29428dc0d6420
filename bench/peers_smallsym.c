/* SPDX-License-Identifier: Apache-2.0
 *
 * peers_smallsym.c - what the peers of small symmetric systems have in common: their own copy of
 * the systems, and a row of theirs, checked and timed.
 *
 * All of them overwrite their input. Before each sample fresh copies are made, outside the timed
 * region. A peer that fails is named in a note; it does not end the run.
 *
 * Where eigenvalues alone are measured, a peer first finds the pairs, which are checked, and then the
 * values alone, which must be those of the pairs.
 */
#include "bench/smallsym.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"

/* Samples from any layout to one system after another. */
static void rearrange_samples(const bench_copies *c) {
    const bench_symmetric v = bench_symmetric_of(c->data, NULL);
    const int64_t n = c->n, M = c->samples;
#pragma omp parallel for num_threads(c->data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < c->count; k++)
        for (int64_t m = 0; m < M; m++) {
            bench_put_number(v.type, c->fresh.full[1], k * M + m,
                             bench_number(v.type, v.b, k * v.y_system + m * v.y_row));
            for (int64_t i = 0; i < n; i++)
                bench_put_number(v.type, c->fresh.full[0], (k * M + m) * n + i,
                                 bench_number(v.type, v.A, k * v.system + (m * n + i) * v.entry));
        }
}

/* From any storage and layout to both triangles and columns. */
static void rearrange(const bench_copies *c) {
    const bench_symmetric v = bench_symmetric_of(c->data, NULL);
    const int64_t n = c->n, nrhs = c->nrhs;
#pragma omp parallel for num_threads(c->data->place->machine.threads) schedule(static)
    for (int64_t k = 0; k < c->count; k++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                bench_put_number(v.type, c->fresh.full[0], (k * n + i) * n + j,
                                 bench_symmetric_entry(&v, k, i, j));
        for (int64_t r = 0; r < nrhs; r++)
            for (int64_t i = 0; i < n; i++)
                bench_put_number(
                    v.type, c->fresh.full[1], (k * nrhs + r) * n + i,
                    bench_number(v.type, v.b, k * v.b_system + i * v.b_row + r * v.b_rhs));
    }
}

/* The arrays of addresses that batched routines take. */
static shoal_status make_pointers(bench_copies *c, int i) {
    shoal_context *ctx = c->data->place->ctx;
    const int64_t total = c->count * c->data->sets;
    const size_t bytes = (size_t)total * sizeof(void *);
    void **list = malloc(bytes);
    shoal_status status = list ? shoal_alloc(ctx, bytes, (void **)&c->pointers[i]) : SHOAL_E_NOMEM;
    for (int64_t k = 0; k < total && status == SHOAL_OK; k++)
        list[k] = bench_fresh_at(&c->fresh, i, (int)(k / c->count), k % c->count);
    if (status == SHOAL_OK) status = shoal_copy(ctx, (void *)c->pointers[i], list, bytes);
    free(list);
    return status;
}

static void copies_free(bench_copies *c) {
    shoal_context *ctx = c->data->place->ctx;
    void *const there[] = { (void *)c->pointers[0], (void *)c->pointers[1], c->values, c->info,
                            c->pivot };
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) shoal_free(ctx, there[i]);
    bench_fresh_free(&c->fresh);
}

static shoal_status copies_make(bench_copies *c) {
    shoal_context *ctx = c->data->place->ctx;
    const size_t rows = (size_t)c->n * (size_t)c->count * c->number;
    c->fresh = (bench_fresh){ .data = c->data, .arrays = 2 };
    c->fresh.size[0] = rows * (size_t)(c->samples ? c->samples : c->n);
    c->fresh.size[1] =
        c->samples ? rows / (size_t)c->n * (size_t)c->samples : rows * (size_t)c->nrhs;
    shoal_status status = bench_fresh_make(&c->fresh);
    if (status == SHOAL_OK) status = shoal_alloc(ctx, rows, (void **)&c->values);
    if (status != SHOAL_OK) return status;
    if (c->samples)
        rearrange_samples(c);
    else
        rearrange(c);
    status = bench_fresh_upload(&c->fresh);
    if (bench_on_cpu(c->data->place)) return status;
    for (int i = 0; i < 2 && status == SHOAL_OK; i++) status = make_pointers(c, i);
    if (status == SHOAL_OK)
        status = shoal_alloc(ctx, (size_t)c->count * sizeof *c->info, (void **)&c->info);
    if (status == SHOAL_OK)
        status = shoal_alloc(ctx, (size_t)(c->n * c->count) * sizeof *c->pivot, (void **)&c->pivot);
    return status;
}

bench_means bench_means_of(const bench_copies *c) {
    bench_means m = { .zero = { 0 } };
    if (c->number == sizeof(float))
        m.mean.single = 1 / (float)c->samples;
    else
        m.mean.twice = 1 / (double)c->samples;
    return m;
}

typedef struct task { /* a routine on its copies */
    bench_copies *copies;
    const bench_routine *routine;
} task;

static int prepare(void *self) { return bench_fresh_copy(&((const task *)self)->copies->fresh); }

static int call(void *self, int set) {
    const bench_task *own = &((const task *)self)->routine->peer.task;
    return own->call(own->self, set);
}

/* On set 0, fresh. */
static shoal_status call_once(task *t) {
    if (prepare(t) != 0 || call(t, 0) != 0) return SHOAL_E_CUDA;
    return shoal_wait(t->copies->data->place->ctx);
}

/* Brings the answer of set 0 home and checks it. */
static shoal_status check_answer(const bench_session *s, task *t, bench_check *check) {
    bench_copies *c = t->copies;
    shoal_context *ctx = c->data->place->ctx;
    const size_t values = (size_t)c->n * (size_t)c->count * c->number;
    const bool eigen = t->routine->eigen,
               alone = eigen && c->data->problem.pairs == BENCH_PAIRS_VALUES;
    bench_symmetric v = { .type = c->data->problem.type,
                          .n = c->n,
                          .count = c->count,
                          .nrhs = c->nrhs,
                          .entry = 1,
                          .system = c->n * c->n,
                          .b_row = 1,
                          .b_system = c->n * c->nrhs,
                          .b_rhs = c->n,
                          .A = c->fresh.full[0],
                          .b = c->fresh.full[1],
                          .stop = s->rules.stop };
    if (c->samples) {
        v.samples = c->samples, v.system = c->samples * c->n;
        v.y_row = 1, v.y_system = c->samples;
    }
    const int which = eigen ? 0 : 1;
    const void *there = t->routine->answer ? t->routine->answer : c->fresh.work[which];
    const size_t bytes = t->routine->answer ? values : c->fresh.size[which];
    char *answer = malloc(bytes), *w = eigen ? malloc(2 * values) : NULL;
    shoal_status status = answer && (w || !eigen) ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_copy(ctx, answer, there, bytes);
    if (status == SHOAL_OK && eigen) status = shoal_copy(ctx, w, c->values, values);
    if (status == SHOAL_OK && alone) {
        c->values_alone = true;
        status = call_once(t);
        if (status == SHOAL_OK) status = shoal_copy(ctx, w + values, c->values, values);
    }
    v.x = answer;
    const bench_pairs pairs = { .w = w,
                                .V = answer,
                                .alone = alone ? w + values : NULL,
                                .w_row = 1,
                                .w_system = c->n,
                                .v_component = 1, /* columns first */
                                .v_vector = c->n,
                                .v_system = c->n * c->n };
    v.pairs = eigen ? &pairs : NULL;
    if (status == SHOAL_OK) bench_smallsym_check(&v, NULL, c->data->place->machine.threads, check);
    free(answer);
    free(w);
    return status;
}

int bench_peer_routine(bench_session *s, bench_copies *c, const bench_routine *r, bool *passed) {
    bench_problem p = c->data->problem; /* of a peer there is nothing of ours but the systems */
    p.variant[0] = 0;
    p.team = p.refine = p.outcome = p.estimate = 0;
    task self = { c, r };
    bench_check check = { 0 };
    if (passed) *passed = false;
    if (bench_stopped(s)) return BENCH_STOPPED;
    c->values_alone = false;
    bench_solver peer = r->peer;
    peer.optional = true;
    peer.task =
        (bench_task){ .prepare = prepare, .call = call, .self = &self, .calls = c->data->sets };
    if (call_once(&self) != SHOAL_OK || check_answer(s, &self, &check) != SHOAL_OK)
        return bench_peer_left_out(s, &peer);
    if (bench_stopped(s)) return BENCH_STOPPED;
    if (passed) *passed = check.passed;
    return bench_add_row(s, &p, c->data->place, &peer, &check, true);
}

/* ---- LAPACK -----------------------------------------------------------------------------------
 *
 * One call per system, the systems divided among as many OpenMP threads as our solver has, BLAS itself on one thread:
 *
 *     potrf + potrs    Cholesky
 *     sysv             LDLt with pivoting
 *     syevd            eigenpairs by divide and conquer; there is no solve in it
 *     stevd            the same of a tridiagonal matrix, whose diagonals it is given anew, 2 n
 *                      numbers out of the copy that then holds the vectors
 *     syrk + gemv + potrf + potrs   regressions: A and b are formed, then solved; A of a thread stays in its
 *                      cache, psi (M, n) in rows is psit in columns and is read as it lies; one right-hand side
 *
 * Solvers are measured with either triangle: which is faster depends on the problem. All but the last
 * overwrite their input. */

/* With the lengths of the words at their end, as Fortran has them. */
typedef void potrf(const char *uplo, const int *n, void *a, const int *lda, int *info, size_t one);
typedef void potrs(const char *uplo, const int *n, const int *nrhs, const void *a, const int *lda,
                   void *b, const int *ldb, int *info, size_t one);
typedef void sysv(const char *uplo, const int *n, const int *nrhs, void *a, const int *lda,
                  int *pivot, void *b, const int *ldb, void *work, const int *lwork, int *info,
                  size_t one);
typedef void syevd(const char *jobz, const char *uplo, const int *n, void *a, const int *lda,
                   void *w, void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                   size_t one, size_t other);
typedef void stevd(const char *jobz, const int *n, void *d, void *e, void *z, const int *ldz,
                   void *work, const int *lwork, int *iwork, const int *liwork, int *info,
                   size_t one);
typedef void syrk(const char *uplo, const char *trans, const int *n, const int *k,
                  const void *alpha, const void *a, const int *lda, const void *beta, void *c,
                  const int *ldc, size_t one, size_t other);
typedef void gemv(const char *trans, const int *m, const int *n, const void *alpha, const void *a,
                  const int *lda, const void *x, const int *incx, const void *beta, void *y,
                  const int *incy, size_t one);

typedef enum routine { CHOLESKY, PIVOTED, EIGEN, TRIDIAGONAL, REGRESSION } routine;

typedef struct job {
    bench_copies *copies;
    routine which;
    const char *uplo; /* "L" or "U" */
    potrf *factor;
    potrs *solve;
    sysv *pivoted;
    syevd *eigen;
    stevd *tridiagonal;
    syrk *square;
    gemv *product;
    int lwork, liwork; /* of a thread            */
    char *work;        /* of all threads         */
    int *iwork;
    bench_means means; /* of regressions */
    char *A, *x;       /* of each thread, of each system */
} job;

/* The diagonals of a, n x n, to d and e. */
static void take_diagonals(const char *a, size_t n, size_t number, char *d, char *e) {
    for (size_t i = 0; i < n; i++) {
        memcpy(d + i * number, a + i * (n + 1) * number, number);
        if (i + 1 < n) memcpy(e + i * number, a + (i * (n + 1) + 1) * number, number);
    }
}

/* System k of a set by thread t. A failure is not reported: such a system fails the check. */
static void solve_one(const job *j, int set, int64_t k, int t) {
    const bench_copies *c = j->copies;
    const int n = (int)c->n, nrhs = (int)c->nrhs, samples = (int)c->samples, step = 1;
    const size_t row = (size_t)n * c->number;
    void *a = bench_fresh_at(&c->fresh, 0, set, k), *b = bench_fresh_at(&c->fresh, 1, set, k);
    char *work = j->work + (size_t)t * (size_t)j->lwork * c->number;
    int *iwork = j->iwork + (size_t)t * (size_t)j->liwork;
    int info = 0;
    char *w = c->values + (size_t)k * row;
    const char *jobz = c->values_alone ? "N" : "V";
    if (j->which == TRIDIAGONAL) {
        const int left = j->lwork - n; /* e stands first */
        take_diagonals(a, (size_t)n, c->number, w, work);
        j->tridiagonal(jobz, &n, w, work, a, &n, work + row, &left, iwork, &j->liwork, &info, 1);
    } else if (j->which == EIGEN) {
        j->eigen(jobz, j->uplo, &n, a, &n, w, work, &j->lwork, iwork, &j->liwork, &info, 1, 1);
    } else if (j->which == PIVOTED) {
        j->pivoted(j->uplo, &n, &nrhs, a, &n, iwork, b, &n, work, &j->lwork, &info, 1);
    } else if (j->which == CHOLESKY) {
        j->factor(j->uplo, &n, a, &n, &info, 1);
        if (info == 0) j->solve(j->uplo, &n, &nrhs, a, &n, b, &n, &info, 1);
    } else {
        void *A = j->A + (size_t)t * (size_t)n * row, *x = j->x + (size_t)k * row;
        const bench_means *m = &j->means;
        j->square(j->uplo, "N", &n, &samples, &m->mean, a, &n, &m->zero, A, &n, 1, 1);
        j->product("N", &n, &samples, &m->mean, a, &n, b, &step, &m->zero, x, &step, 1);
        j->factor(j->uplo, &n, A, &n, &info, 1);
        if (info == 0) j->solve(j->uplo, &n, &step, A, &n, x, &n, &info, 1);
    }
}

static int solve_all(void *self, int set) {
    const job *j = self;
    const int64_t count = j->copies->count;
    const int threads = j->copies->data->place->machine.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t k = count * t / threads; k < count * (t + 1) / threads; k++)
            solve_one(j, set, k, t);
    return 0;
}

/* The functions, and the workspace that they document. */
static bool begin(job *j, const bench_library *lib) {
    const bench_copies *c = j->copies;
    shoal_context *ctx = c->data->place->ctx;
    const int n = (int)c->n;
    const size_t threads = (size_t)c->data->place->machine.threads, row = (size_t)n * c->number;
    enum { BLOCK = 64 }; /* columns that sytrf works on at a time, at most */
    const bench_symbol functions[][4] = {
        [CHOLESKY] = { { "?potrf_", &j->factor }, { "?potrs_", &j->solve } },
        [PIVOTED] = { { "?sysv_", &j->pivoted } },
        [EIGEN] = { { "?syevd_", &j->eigen } },
        [TRIDIAGONAL] = { { "?stevd_", &j->tridiagonal } },
        [REGRESSION] = { { "?syrk_", &j->square },
                         { "?gemv_", &j->product },
                         { "?potrf_", &j->factor },
                         { "?potrs_", &j->solve } },
    };
    static const int counts[] = { 2, 1, 1, 1, 4 };
    if (!bench_find(lib, c->number == sizeof(float) ? 's' : 'd', functions[j->which],
                    counts[j->which]))
        return false;
    if (j->which == REGRESSION)
        return shoal_alloc(ctx, threads * (size_t)n * row, (void **)&j->A) == SHOAL_OK &&
               shoal_alloc(ctx, (size_t)c->count * row, (void **)&j->x) == SHOAL_OK;
    j->lwork = j->which == EIGEN || j->which == TRIDIAGONAL ? 1 + 6 * n + 2 * n * n : BLOCK * n;
    j->liwork = 3 + 5 * n;
    j->work = malloc(threads * (size_t)j->lwork * c->number);
    j->iwork = malloc(threads * (size_t)j->liwork * sizeof *j->iwork);
    return j->work && j->iwork;
}

static int run(bench_session *s, bench_copies *c, const bench_library *lib, routine which,
               bool upper, bool *passed) {
    static const char *const names[] = { "?potrf+?potrs", "?sysv", "?syevd", "?stevd",
                                         "?syrk+?gemv+?potrf+?potrs" };
    const int threads = c->data->place->machine.threads;
    const bool eigen = which == EIGEN || which == TRIDIAGONAL;
    char note[160], function[BENCH_SYMBOL];
    job j = { .copies = c, .which = which, .uplo = upper ? "U" : "L", .means = bench_means_of(c) };
    bench_typed_name(names[which], c->number == sizeof(float) ? 's' : 'd', function);
    snprintf(note, sizeof note, "one call per system, %d thread%s over the systems%s", threads,
             threads == 1 ? "" : "s",
             eigen && !c->data->problem.pairs ? "; eigenpairs, no solve" : "");
    int code = BENCH_OK;
    if (begin(&j, lib)) {
        const bench_routine r = {
            .peer = { .who = "LAPACK",
                      .function = function,
                      .variant = which == TRIDIAGONAL ? ""
                                 : upper              ? "upper"
                                                      : "lower",
                      .version = lib->version,
                      .note = note,
                      .workspace = j.A ? (size_t)threads * (size_t)(c->n * c->n) * c->number : 0,
                      .task = { .call = solve_all, .self = &j } },
            .eigen = eigen,
            .answer = j.x
        };
        code = bench_peer_routine(s, c, &r, passed);
    } else {
        bench_note(s, "peer left out: %s has no %s", lib->version, function);
    }
    shoal_free(c->data->place->ctx, j.A);
    shoal_free(c->data->place->ctx, j.x);
    free(j.work);
    free(j.iwork);
    return code;
}

static int lapack_peers(bench_session *s, bench_copies *c, bench_peer_class which) {
    static const routine routines[] = { [BENCH_PEERS_DEFINITE] = CHOLESKY,
                                        [BENCH_PEERS_PIVOTED] = PIVOTED,
                                        [BENCH_PEERS_EIGEN] = EIGEN };
    const bool tridiagonal = c->data->problem.pairs == BENCH_PAIRS_TRIDIAG;
    const routine first = c->samples ? REGRESSION : tridiagonal ? TRIDIAGONAL : routines[which];
    bench_library lib;
    if (!bench_open_lapack(s, &lib)) return BENCH_OK;
    bool passed = true; /* by the triangle measured last: both fail, or neither */
    int code = run(s, c, &lib, first, false, &passed);
    if (code == BENCH_OK && first != EIGEN && first != TRIDIAGONAL)
        code = run(s, c, &lib, first, true, &passed);
    if (code == BENCH_OK && first == CHOLESKY && !passed)
        code = lapack_peers(s, c, BENCH_PEERS_PIVOTED);
    return code;
}

int bench_peers_smallsym(bench_session *s, bench_arrays *data) {
    const bench_problem *p = &data->problem;
    const bench_peer_class which = bench_peers_for(p);
    if (p->n < 1 || p->count < 1) return BENCH_OK;
    if (p->n > 1 << 14 || p->nrhs > INT_MAX || p->count > INT_MAX / p->n) {
        bench_note(s, "peers left out: they take n up to 2^14 and up to 2^31 - 1 rows");
        return BENCH_OK;
    }
    if (p->gram && (p->nrhs > 1 || p->gram > INT_MAX)) {
        bench_note(s, "peers left out: of regressions they take one right-hand side");
        return BENCH_OK;
    }
    bench_copies c = { .data = data,
                       .n = p->n,
                       .count = p->count,
                       .nrhs = p->nrhs,
                       .samples = p->gram,
                       .number = bench_number_size(p) };
    const int64_t read = p->gram * (p->n + 1); /* and A and b are formed beside it */
    const size_t system = (size_t)(read + p->n * (p->n + p->nrhs + 1)) * c.number;
    const size_t once = system * (size_t)p->count, all = once * (size_t)(data->sets + 1);
    int code = BENCH_OK;
    if (bench_room(s, data->place, all, bench_on_cpu(data->place) ? all + once : 2 * once) !=
        BENCH_OK)
        bench_note(s, "peers left out: %s", s->message);
    else if (copies_make(&c) != SHOAL_OK)
        bench_note(s, "peers left out: no memory for their copies of the systems");
    else
        code = bench_on_cpu(data->place) ? lapack_peers(s, &c, which)
                                         : bench_peer_cuda_symmetric(s, &c, which);
    copies_free(&c);
    return code;
}
