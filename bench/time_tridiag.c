/* SPDX-License-Identifier: Apache-2.0
 *
 * time_tridiag.c - seconds of what `shoal bench` does not time of tridiagonal systems, by lupp in double:
 * factors, solves from factors, and the estimate of a condition number, beside a solve. Not part of the build:
 *
 *     gcc -std=c11 -O2 -Iinclude -c bench/time_tridiag.c
 *     nvcc -o time_tridiag time_tridiag.o build/libshoal.a -Xcompiler -fopenmp -lm
 *     ./time_tridiag BACKEND THREADS N COUNT NRHS
 *
 * Dominant systems. Each line is the fastest of ROUNDS runs of a few calls, and its ratio to the solve.
 */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <shoal/shoal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 10, CALLS = 4 };
enum { SOLVE, FACTOR, RESOLVE, RCOND, STAGES };
static const char *const names[STAGES] = { "solve", "factor", "resolve", "solve and rcond" };

typedef struct systems {
    shoal_context *ctx;
    shoal_tridiag *plan, *judge; /* judge: writes rcond */
    double *a, *b, *c, *d, *x;   /* in the context's memory, as all below */
    void *factors;
    float *rcond;
} systems;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static shoal_status run_stage(const systems *s, int stage) {
    switch (stage) {
    case FACTOR: return shoal_tridiag_factor(s->plan, s->a, s->b, s->c, s->factors);
    case RESOLVE: return shoal_tridiag_resolve(s->plan, s->factors, s->d, s->x);
    case RCOND: return shoal_tridiag_solve(s->judge, s->a, s->b, s->c, s->d, s->x);
    default: return shoal_tridiag_solve(s->plan, s->a, s->b, s->c, s->d, s->x);
    }
}

/* Memory of the context with the host's numbers in it. */
static shoal_status put(shoal_context *ctx, const double *host, size_t numbers, double **out) {
    void *there = NULL;
    shoal_status status = shoal_alloc(ctx, numbers * sizeof *host, &there);
    if (status == SHOAL_OK) status = shoal_copy(ctx, there, host, numbers * sizeof *host);
    *out = there;
    return status;
}

static shoal_status make(systems *s, const shoal_tridiag_opts *o) {
    const size_t rows = (size_t)(o->n * o->count), wide = rows * (size_t)o->nrhs;
    double *host = calloc(3 * rows + wide, sizeof *host);
    void *rcond = NULL;
    if (!host) return SHOAL_E_NOMEM;
    double *b = host + rows, *c = b + rows, *d = c + rows;
    shoal_status status = shoal_tridiag_generate(s->ctx, "dominant", 1, 0, o, host, b, c, d);
    if (status == SHOAL_OK) status = put(s->ctx, host, rows, &s->a);
    if (status == SHOAL_OK) status = put(s->ctx, b, rows, &s->b);
    if (status == SHOAL_OK) status = put(s->ctx, c, rows, &s->c);
    if (status == SHOAL_OK) status = put(s->ctx, d, wide, &s->d);
    if (status == SHOAL_OK) status = put(s->ctx, d, wide, &s->x);
    free(host);
    if (status == SHOAL_OK) status = shoal_tridiag_create(s->ctx, o, &s->plan);
    if (status == SHOAL_OK) status = shoal_tridiag_create(s->ctx, o, &s->judge);
    if (status == SHOAL_OK)
        status = shoal_alloc(s->ctx, shoal_tridiag_factor_bytes(s->plan), &s->factors);
    if (status == SHOAL_OK)
        status = shoal_alloc(s->ctx, (size_t)o->count * sizeof *s->rcond, &rcond);
    s->rcond = rcond;
    const shoal_outcome where = { .rcond = s->rcond };
    return status == SHOAL_OK ? shoal_tridiag_outcome(s->judge, &where) : status;
}

static void release(systems *s) {
    double *const arrays[] = { s->a, s->b, s->c, s->d, s->x };
    shoal_tridiag_free(s->plan);
    shoal_tridiag_free(s->judge);
    for (int i = 0; i < 5; i++) shoal_free(s->ctx, arrays[i]);
    shoal_free(s->ctx, s->factors);
    shoal_free(s->ctx, s->rcond);
}

static shoal_status measure(const systems *s) {
    double solve = 0;
    for (int stage = 0; stage < STAGES; stage++) {
        double best = INFINITY;
        for (int round = 0; round <= ROUNDS; round++) { /* the first does not count */
            const double start = now();
            for (int i = 0; i < CALLS; i++) {
                const shoal_status status = run_stage(s, stage);
                if (status != SHOAL_OK) return status;
            }
            shoal_wait(s->ctx);
            if (round > 0) best = fmin(best, (now() - start) / CALLS);
        }
        if (stage == SOLVE) solve = best;
        printf("%-16s %10.4f ms, %6.2f solves\n", names[stage], 1e3 * best, best / solve);
    }
    return SHOAL_OK;
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: %s BACKEND THREADS N COUNT NRHS\n", argv[0]);
        return 2;
    }
    const shoal_options where = { .backend = argv[1], .threads = atoi(argv[2]) };
    const shoal_tridiag_opts o = {
        .n = atoll(argv[3]), .count = atoll(argv[4]), .nrhs = atoll(argv[5]), .method = "lupp"
    };
    systems s = { 0 };
    if (o.n < 1 || o.count < 1 || o.nrhs < 1) {
        fprintf(stderr, "N, COUNT and NRHS must be at least 1\n");
        return 2;
    }
    shoal_status status = shoal_open(&where, &s.ctx);
    if (status == SHOAL_OK) status = make(&s, &o);
    if (status == SHOAL_OK) status = measure(&s);
    if (status != SHOAL_OK)
        fprintf(stderr, "%s\n", s.ctx ? shoal_message(s.ctx) : shoal_status_text(status));
    if (s.ctx) release(&s);
    shoal_close(s.ctx);
    return status != SHOAL_OK;
}
