/* SPDX-License-Identifier: Apache-2.0
 *
 * rng.h - random numbers on the bench: room for them, the check of their bits and of their law.
 */
#ifndef BENCH_RNG_H
#define BENCH_RNG_H

#include <shoal/rng.h>

#include "bench/session.h"

/* Room for the numbers of a problem in the context's memory, `sets` times, a guard of GUARD bytes
 * before and after each. */
typedef struct bench_numbers {
    bench_problem problem;
    bench_place *place;
    char *memory;
    size_t size, step; /* bytes of the numbers; from one set to the next */
    int sets;
} bench_numbers;

enum { BENCH_GUARD = 256 };

int bench_numbers_make(bench_session *s, const bench_problem *p, bench_place *place, void *numbers);
void bench_numbers_free(void *numbers);
void *bench_numbers_at(const bench_numbers *d, int set);

int64_t bench_numbers_of(const bench_problem *p); /* count, times n for points */
bool bench_rng_points(const bench_problem *p);    /* sobol, sobolnormal        */
/* "lambda=64", "n=16,layout=interleaved": what the law depends on besides its name; "" if nothing.
 * Returns `text`. */
char *bench_rng_parameters(const bench_problem *p, char text[BENCH_TEXT]);
/* True if `key` (count, n, lambda, alpha, df, math, ...) means something to a method. */
bool bench_rng_takes(const char *method, const char *key);
/* "u32" for words and poisson, else NULL. */
const char *bench_rng_fixed_type(const char *method);

/* A plan for the problem, and numbers first .. first + count - 1 (of points: so many points). */
shoal_status bench_rng_plan(shoal_context *ctx, const bench_problem *p, shoal_math math,
                            shoal_rng **plan);
shoal_status bench_rng_fill(shoal_rng *plan, const bench_problem *p, uint64_t first, int64_t count,
                            void *out);

/* Begins a check: nothing is wrong yet. */
void bench_rng_check_begin(bench_check *check);
/* One more thing that is wrong; the first is reported. */
void bench_rng_wrong(bench_check *check, const char *format, ...) IO_PRINTF(2, 3);

/* Is the array, in the context's memory, a sample of the law? All numbers are finite, mean and
 * variance are within 5 standard errors of the law's, each dimension's mean of points within
 * 1 / sqrt(count). Arrays of more than 2^27 numbers are sampled. `layout` is that of points. */
shoal_status bench_rng_check_law(const bench_session *s, const bench_numbers *d, const void *array,
                                 shoal_layout layout, bench_check *check);

/* Are the numbers of set 0, just filled by the plan, those of their addresses? Compares them with
 * fills in odd pieces and with a CPU context, and looks at the guards; sets systems and
 * max_residual. */
shoal_status bench_rng_check_bits(const bench_session *s, const bench_numbers *d,
                                  const bench_problem *p, shoal_rng *plan, bench_check *check);
/* Before the fill: guards and numbers of set 0 become NaN. */
shoal_status bench_rng_paint(const bench_numbers *d);

#endif
