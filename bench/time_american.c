/* SPDX-License-Identifier: Apache-2.0
 *
 * time_american.c - seconds of a batch of Longstaff-Schwartz problems, and of the stages of its middle date:
 * paths and sums, systems, answers, rules. Not part of the build:
 *
 *     gcc -std=c11 -O2 -Iinclude -Isrc -c bench/time_american.c
 *     nvcc -o time_american time_american.o build/libshoal.a -Xcompiler -fopenmp -lm
 *     ./time_american BACKEND f32|f64 ASSETS DEGREE PATHS PROBLEMS DATES LEVELS
 */
#include "pricing/american_plan.h"
#include "smallsym/plan.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv) {
    if (argc < 9) return 2;
    const int single = !strcmp(argv[2], "f32"), d = atoi(argv[3]), levels = atoi(argv[8]);
    const int64_t paths = atoll(argv[5]), count = atoll(argv[6]), dates = atoll(argv[7]);
    shoal_context *ctx;
    if (shoal_open(&(shoal_options){ .backend = argv[1] }, &ctx)) return 3;
    double *spot = malloc((size_t)(count * d) * sizeof *spot), *price = malloc((size_t)count * 16);
    double sigma[64], *corr = malloc((size_t)(d * d) * sizeof *corr);
    uint64_t *first = malloc((size_t)count * sizeof *first);
    for (int64_t i = 0; i < count * d; i++) spot[i] = 36 + (double)(i % 97) / 97 * 6;
    for (int i = 0; i < d; i++) sigma[i] = 0.2 + 0.002 * i;
    for (int i = 0; i < d * d; i++) corr[i] = i % (d + 1) ? 0.3 : 1;
    for (int64_t i = 0; i < count; i++) first[i] = (uint64_t)i << 25;
    const shoal_american o = { .payoff = d == 1 ? SHOAL_PUT : SHOAL_BASKET_PUT,
                               .strike = 40,
                               .rate = .06,
                               .maturity = 1,
                               .sigma = sigma,
                               .correlation = corr };
    const shoal_american_opts opts = { .assets = d,
                                       .dates = dates,
                                       .fit_paths = paths,
                                       .seed = 5,
                                       .degree = atoi(argv[4]),
                                       .type = single ? SHOAL_F32 : SHOAL_F64 };
    shoal_price *plan = NULL;
    int64_t total[FIT_COUNTS] = { 0 };
    double *half = levels > 1 ? price + count : NULL, seconds = 0;
    for (int i = 0; i < 2; i++) {
        memset(total, 0, sizeof total);
        const double start = now();
        if (shoal_american_batch(ctx, &o, count, spot, first, &opts, 0, &plan, price, half, total))
            return printf("%s\n", shoal_message(ctx)), 4;
        seconds = now() - start;
    }
    const american_job *j = &plan->american->job;
    const american_method *m = plan->choice.cell;
    shoal_smallsym *solver = plan->american->solver;
    const double each = (double)(count * paths);
    const int date = dates > 2 ? (int)dates / 2 : 1, n = j->basis.functions, rounds = 10;
    printf(
        "n %d, price %.6g, batch %.4f s: %.1f ps a path-date; empty %lld truncated %lld failed %lld\n",
        n, price[0], seconds, 1e12 * seconds / (each * (double)dates), (long long)total[FIT_EMPTY],
        (long long)total[FIT_TRUNCATED], (long long)total[FIT_FAILED]);
    if (plan->american->most < count)
        printf("in rounds of %lld\n", (long long)plan->american->most);
    american_job part = *j;
    if (part.problems > plan->american->most) part.problems = plan->american->most;
    const double here = (double)(part.problems * paths);
    for (int stage = 0; stage < 4; stage++) {
        shoal_wait(ctx);
        double start = 0;
        for (int i = -1; i < rounds; i++) {
            if (i == 0) shoal_wait(ctx), start = now();
            solver->jobs[0].count = solver->systems = american_systems(&part);
            if (stage == 0) m->visit(ctx, &part, date);
            if (stage == 1) m->form(ctx, &part);
            if (stage == 2 && single) shoal_smallsym_solvef(solver, part.A, part.b, part.x);
            if (stage == 2 && !single) shoal_smallsym_solve(solver, part.A, part.b, part.x);
            if (stage == 3) m->settle(ctx, &part, date);
        }
        shoal_wait(ctx);
        const double t = (now() - start) / rounds;
        printf("%-7s %10.1f us, %8.2f ps a path-date\n",
               (const char *[]){ "visit", "form", "solve", "settle" }[stage], 1e6 * t,
               1e12 * t / here);
    }
    shoal_price_free(plan);
    shoal_close(ctx);
    return 0;
}
