/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_law.c - are numbers distributed as they should be? Shares no line with the library.
 *
 * The mean of N numbers has the standard error sigma / sqrt(N), the mean of (x - mu)^2 the standard
 * error sqrt((mu4 - sigma^4) / N); both may be 5 of them from what the law says. Where N is less
 * than 100 times the kurtosis mu4 / sigma^4, too few for the normal approximation, they are not
 * judged. Points of a low-discrepancy sequence are judged by the mean of each dimension, which may
 * be 1 / sqrt(N) from the law's; those of the normal law have unbounded ends, and may also be off
 * by what a few points there can do, 14 (log2 N + 1) / N.
 */
#include "bench/rng.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 20, MOST_CHUNKS = 128 }; /* numbers that are brought home at a time */

typedef struct law {
    double mean, variance, fourth; /* central moments */
} law;

typedef struct sums { /* over numbers x: of x - mean and of its square */
    double first, second, count;
    int64_t bad; /* not finite, or no number */
} sums;

void bench_rng_check_begin(bench_check *check) { *check = (bench_check){ .passed = true }; }

void bench_rng_wrong(bench_check *check, const char *format, ...) {
    va_list list;
    check->wrong++;
    if (!check->passed) return;
    check->passed = false;
    va_start(list, format);
    vsnprintf(check->why, sizeof check->why, format, list);
    va_end(list);
}

/* log Gamma's derivatives of order 1, 2 and 4: recurrence up to 10, then the asymptotic series. */
static law log_gamma_law(double alpha) {
    double mean = 0, variance = 0, fourth = 0, x = alpha;
    while (x < 10) {
        mean -= 1 / x;
        variance += 1 / (x * x);
        fourth += 6 / (x * x * x * x);
        x += 1;
    }
    const double y = 1 / x, z = y * y;
    mean += log(x) - y / 2 - z * (1.0 / 12 - z * (1.0 / 120 - z * (1.0 / 252 - z / 240)));
    variance += y + z / 2 + y * z * (1.0 / 6 - z * (1.0 / 30 - z * (1.0 / 42 - z / 30)));
    fourth += y * z * (2 + 3 * y + z * (2 - z * (1 - z * (4.0 / 3 - 3 * z))));
    return (law){ mean, variance, fourth + 3 * variance * variance };
}

static bool is(const char *word, const char *other) { return strcmp(word, other) == 0; }

static law law_of(const bench_problem *p) {
    const double l = p->lambda, a = p->alpha;
    if (is(p->method, "words")) {
        const double cells = 0x1p32, variance = (cells * cells - 1) / 12;
        return (law){ (cells - 1) / 2, variance, 1.8 * variance * variance };
    }
    if (is(p->method, "uniform")) return (law){ 0.5, 1.0 / 12, 1.0 / 80 };
    if (is(p->method, "gamma") && is(p->variant, "log")) return log_gamma_law(a);
    if (is(p->method, "gamma")) return (law){ a, a, 3 * a * a + 6 * a };
    if (is(p->method, "poisson")) return (law){ l, l, l + 3 * l * l };
    if (is(p->method, "ncchisq")) { /* cumulant k: 2^(k-1) (k-1)! (df + k lambda) */
        const double variance = 2 * (p->df + 2 * l);
        return (law){ p->df + l, variance, 48 * (p->df + 4 * l) + 3 * variance * variance };
    }
    if (is(p->method, "sobol")) return (law){ 0.5, 1.0 / 12, 1.0 / 80 };
    return (law){ 0, 1, 3 }; /* normal, sobolnormal */
}

static double number_at(const bench_problem *p, const void *array, int64_t i) {
    if (!p->fixed_type)
        return p->type == SHOAL_F32 ? (double)((const float *)array)[i]
                                    : ((const double *)array)[i];
    const uint32_t word = ((const uint32_t *)array)[i];
    return is(p->method, "poisson") && word == SHOAL_RNG_NONE ? NAN : (double)word;
}

static sums add_up(const bench_problem *p, const void *array, int64_t count, double mean,
                   int threads) {
    double first = 0, second = 0;
    int64_t bad = 0;
    (void)threads; /* without OpenMP there is one */
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : first, second, bad)
    for (int64_t i = 0; i < count; i++) {
        const double x = number_at(p, array, i) - mean;
        if (isfinite(x))
            first += x, second += x * x;
        else
            bad++;
    }
    return (sums){ first, second, (double)count, bad };
}

/* Numbers `from` .. `from` + count - 1 of an array of points, to the sums of their dimensions. */
static void add_points(const bench_problem *p, shoal_layout layout, const void *array, int64_t from,
                       int64_t count, double mean, sums *dimension) {
    int64_t d = layout == SHOAL_INTERLEAVED ? from / p->count : from % p->n;
    int64_t k = layout == SHOAL_INTERLEAVED ? from % p->count : 0;
    for (int64_t i = 0; i < count; i++) {
        const double x = number_at(p, array, i) - mean;
        sums *to = &dimension[d];
        to->first += isfinite(x) ? x : 0;
        to->bad += !isfinite(x);
        to->count++;
        if (layout == SHOAL_INTERLEAVED && ++k == p->count) k = 0, d++;
        if (layout == SHOAL_SYSTEM_MAJOR && ++d == p->n) d = 0;
    }
}

static void judge_points(const bench_problem *p, const law *l, const sums *dimension,
                         bench_check *check) {
    for (int64_t d = 0; d < p->n; d++) {
        const sums *s = &dimension[d];
        if (s->bad > 0)
            bench_rng_wrong(check, "%lld of dimension %lld are not finite", (long long)s->bad,
                            (long long)d);
        if (s->bad > 0 || s->count == 0) continue;
        double allowed = 1 / sqrt(s->count), off = s->first / s->count;
        if (is(p->method, "sobolnormal"))
            allowed = fmax(allowed, 14 * (log2(s->count) + 1) / s->count);
        if (fabs(off) > allowed)
            bench_rng_wrong(check, "dimension %lld: the mean is %.6g, that of the law %g",
                            (long long)d, l->mean + off, l->mean);
    }
}

static void judge(const law *l, const sums *s, bench_check *check) {
    if (s->bad > 0) bench_rng_wrong(check, "%lld are not finite", (long long)s->bad);
    if (s->bad > 0 || s->count * l->variance * l->variance < 100 * l->fourth) return;
    const double error = sqrt(l->variance / s->count);
    const double error2 = sqrt((l->fourth - l->variance * l->variance) / s->count);
    const double off = s->first / s->count, off2 = s->second / s->count - l->variance;
    if (fabs(off) > 5 * error)
        bench_rng_wrong(check, "the mean is %.8g, %.0f standard errors from %g", l->mean + off,
                        fabs(off) / error, l->mean);
    if (fabs(off2) > 5 * error2)
        bench_rng_wrong(check, "the variance is %.8g, %.0f standard errors from %g",
                        l->variance + off2, fabs(off2) / error2, l->variance);
}

/* The array chunk by chunk; of a very large one, as many chunks, spread evenly. */
static shoal_status add_chunks(const bench_session *s, const bench_numbers *d, const char *array,
                               shoal_layout layout, double mean, void *home, sums *to) {
    const bench_problem *p = &d->problem;
    const int64_t numbers = bench_numbers_of(p), all = (numbers + CHUNK - 1) / CHUNK;
    const int64_t chunks = all < MOST_CHUNKS ? all : MOST_CHUNKS;
    const size_t size = bench_number_size(p);
    shoal_status status = SHOAL_OK;
    for (int64_t i = 0; i < chunks && status == SHOAL_OK; i++) {
        if (bench_stopped(s)) break;
        const int64_t from = i * all / chunks * CHUNK;
        const int64_t count = numbers - from < CHUNK ? numbers - from : CHUNK;
        status = shoal_copy(d->place->ctx, home, array + (size_t)from * size, (size_t)count * size);
        if (status != SHOAL_OK) break;
        if (bench_rng_points(p)) {
            add_points(p, layout, home, from, count, mean, to);
            continue;
        }
        const sums more = add_up(p, home, count, mean, d->place->machine.threads);
        to->first += more.first, to->second += more.second;
        to->count += more.count, to->bad += more.bad;
    }
    return status;
}

shoal_status bench_rng_check_law(const bench_session *s, const bench_numbers *d, const void *array,
                                 shoal_layout layout, bench_check *check) {
    const bench_problem *p = &d->problem;
    const law l = law_of(p);
    const bool points = bench_rng_points(p);
    sums *all = calloc(points ? (size_t)p->n : 1, sizeof *all);
    void *home = malloc(CHUNK * sizeof(double));
    shoal_status status = all && home ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = add_chunks(s, d, array, layout, l.mean, home, all);
    if (status == SHOAL_OK && points)
        judge_points(p, &l, all, check);
    else if (status == SHOAL_OK)
        judge(&l, all, check);
    free(home);
    free(all);
    return status;
}
