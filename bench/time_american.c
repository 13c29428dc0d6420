/* SPDX-License-Identifier: Apache-2.0
 *
 * time_american.c - seconds of a batch of Longstaff-Schwartz problems, and of the stages of its middle date:
 * paths and sums, systems, answers, rules. Not part of the build:
 *
 *     gcc -std=c11 -O2 -Iinclude -Isrc -c bench/time_american.c
 *     nvcc -o time_american time_american.o build/libshoal.a -Xcompiler -fopenmp -lm
 *     ./time_american BACKEND f32|f64 ASSETS DEGREE PATHS PROBLEMS DATES LEVELS
 *
 * Puts on one asset or on the mean of several, spots from 36 to 42. With LEVELS 2 prices by half the
 * paths are made too.
 */
#include "american/plan.h"
#include "smallsym/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ASSETS = 64, ROUNDS = 10 };

typedef struct problems {
    int assets;
    int64_t count;
    double *spot, *price, *sigma, *correlation; /* price: by all paths, then by half of them */
    uint64_t *first;
} problems;

static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int make(problems *p) {
    const int d = p->assets;
    const size_t count = (size_t)p->count, spots = count * (size_t)d;
    p->spot = calloc(spots, sizeof *p->spot);
    p->price = calloc(2 * count, sizeof *p->price);
    p->sigma = calloc((size_t)d, sizeof *p->sigma);
    p->correlation = calloc((size_t)d * (size_t)d, sizeof *p->correlation);
    p->first = calloc(count, sizeof *p->first);
    if (!p->spot || !p->price || !p->sigma || !p->correlation || !p->first) return 0;
    for (size_t i = 0; i < spots; i++) p->spot[i] = 36 + (double)(i % 97) / 97 * 6;
    for (int i = 0; i < d; i++) p->sigma[i] = 0.2 + 0.002 * i;
    for (int i = 0; i < d * d; i++) p->correlation[i] = i % (d + 1) ? 0.3 : 1;
    for (size_t i = 0; i < count; i++) p->first[i] = (uint64_t)i << 25;
    return 1;
}

static void release(problems *p) {
    free(p->spot);
    free(p->price);
    free(p->sigma);
    free(p->correlation);
    free(p->first);
}

/* The whole batch, twice: the second time counts. */
static shoal_status time_batch(shoal_context *ctx, const problems *p,
                               const shoal_american_opts *opts, int levels, american_plan **plan) {
    const shoal_american option = { .payoff = p->assets == 1 ? SHOAL_PUT : SHOAL_BASKET_PUT,
                                    .strike = 40,
                                    .rate = .06,
                                    .maturity = 1,
                                    .sigma = p->sigma,
                                    .correlation = p->correlation };
    int64_t total[FIT_COUNTS] = { 0 };
    double *half = levels > 1 ? p->price + p->count : NULL, seconds = 0;
    for (int i = 0; i < 2; i++) {
        memset(total, 0, sizeof total);
        const double start = now();
        const shoal_status s = shoal_american_batch(ctx, &option, p->count, p->spot, p->first, opts,
                                                    0, plan, p->price, half, total);
        if (s != SHOAL_OK) return s;
        seconds = now() - start;
    }
    const double path_dates = (double)(p->count * opts->fit_paths * opts->dates);
    printf(
        "n %d, price %.6g, batch %.4f s: %.1f ps a path-date; empty %lld truncated %lld failed %lld\n",
        (*plan)->job.basis.functions, p->price[0], seconds, 1e12 * seconds / path_dates,
        (long long)total[FIT_EMPTY], (long long)total[FIT_TRUNCATED], (long long)total[FIT_FAILED]);
    return SHOAL_OK;
}

enum { VISIT, FORM, SOLVE, SETTLE, STAGES };

static void run_stage(int stage, american_plan *plan, american_job *job, int date) {
    const american_method *m = plan->p.choice.cell;
    shoal_smallsym *solver = plan->solver;
    if (stage == VISIT) m->visit(plan->p.head.ctx, job, date);
    if (stage == FORM) m->form(plan->p.head.ctx, job);
    if (stage == SOLVE)
        shoal_smallsym_solve_first(solver, american_systems(job), job->A, job->b, job->x);
    if (stage == SETTLE) m->settle(plan->p.head.ctx, job, date);
}

/* Each stage of one date by itself, on as many problems as go through at once. */
static void time_stages(american_plan *plan, const shoal_american_opts *opts) {
    static const char *const names[STAGES] = { "visit", "form", "solve", "settle" };
    const int date = opts->dates > 2 ? (int)opts->dates / 2 : 1;
    american_job job = plan->job;
    if (job.problems > plan->most) {
        job.problems = plan->most;
        printf("in rounds of %lld\n", (long long)job.problems);
    }
    for (int stage = 0; stage < STAGES; stage++) {
        run_stage(stage, plan, &job, date);
        shoal_wait(plan->p.head.ctx);
        const double start = now();
        for (int i = 0; i < ROUNDS; i++) run_stage(stage, plan, &job, date);
        shoal_wait(plan->p.head.ctx);
        const double seconds = (now() - start) / ROUNDS;
        printf("%-7s %10.1f us, %8.2f ps a path-date\n", names[stage], 1e6 * seconds,
               1e12 * seconds / (double)(job.problems * opts->fit_paths));
    }
}

int main(int argc, char **argv) {
    if (argc != 9) {
        fprintf(stderr, "usage: %s BACKEND f32|f64 ASSETS DEGREE PATHS PROBLEMS DATES LEVELS\n",
                argv[0]);
        return 2;
    }
    problems p = { .assets = atoi(argv[3]), .count = atoll(argv[6]) };
    const shoal_american_opts opts = { .assets = p.assets,
                                       .degree = atoi(argv[4]),
                                       .fit_paths = atoll(argv[5]),
                                       .dates = atoll(argv[7]),
                                       .seed = 5,
                                       .type = strcmp(argv[2], "f32") ? SHOAL_F64 : SHOAL_F32 };
    if (p.assets < 1 || p.assets > MOST_ASSETS || p.count < 1) {
        fprintf(stderr, "ASSETS must be from 1 to %d, PROBLEMS at least 1\n", MOST_ASSETS);
        return 2;
    }
    shoal_context *ctx = NULL;
    american_plan *plan = NULL;
    shoal_status s = shoal_open(&(shoal_options){ .backend = argv[1] }, &ctx);
    if (s == SHOAL_OK && !make(&p)) s = SHOAL_E_NOMEM;
    if (s == SHOAL_OK) s = time_batch(ctx, &p, &opts, atoi(argv[8]), &plan);
    if (s == SHOAL_OK) time_stages(plan, &opts);
    if (s != SHOAL_OK) fprintf(stderr, "%s: %s\n", shoal_status_text(s), shoal_message(ctx));
    shoal_plan_free(plan);
    shoal_close(ctx);
    release(&p);
    return s == SHOAL_OK ? 0 : 1;
}
