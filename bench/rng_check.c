/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_check.c - are numbers those of their addresses, is nothing else written, and is their law right?
 *
 * The numbers of set 0, which one fill has made, are compared with two others:
 *
 *     pieces      the same plan, in pieces of odd lengths that begin anywhere in memory, at the
 *                 first and the last address and some between: the bits do not depend on the cuts
 *     reference   a CPU context at the lowest instruction level: the bits do not depend on the
 *                 device. All numbers, or WINDOWS windows of WINDOW numbers, spread evenly
 *
 * Numbers of SHOAL_FAST are compared with the reference's exact ones. The GPU's logarithm is wrong
 * by LOG_ERROR = 2^-21.4 near 1 (CUDA's manual), so that the square of Box-Muller's radius r is
 * by twice that: a normal z, |z| <= r, may be off by 1e-5 and by the least of the square root
 * of 2 LOG_ERROR and 2 LOG_ERROR / |z|.
 *
 * Are they distributed as they should be? The mean of N numbers has the standard error sigma / sqrt(N), the mean of (x - mu)^2 the standard
 * error sqrt((mu4 - sigma^4) / N); both may be 5 of them from those of the law. If N is less
 * than 100 times the kurtosis mu4 / sigma^4, too few for the normal approximation, they are not
 * judged. Points of a low-discrepancy sequence are judged by the mean of each dimension, which may
 * be 1 / sqrt(N) from the law's; those of the normal law have unbounded ends, and may also be off
 * by what a few points there can do, 14 (log2 N + 1) / N.
 */
#include "bench/rng.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/numbers.h"

enum { WINDOW = 1 << 18, WINDOWS = 16, PLACES = 8, PIECE = 1001 };
static const double LOG_ERROR = 3.6e-7;

typedef struct comparison {
    const bench_session *s;
    const bench_numbers *d;
    const bench_problem *p;
    shoal_rng *plan;
    void *there;         /* a piece, in the context's memory      */
    char *ours, *theirs; /* WINDOW numbers or a point, on the host */
    bench_check *check;
} comparison;

static int64_t each(const bench_problem *p) { return bench_rng_points(p) ? p->n : 1; }

static double allowed(const bench_problem *p, double exact) {
    if (p->math != SHOAL_FAST) return 0;
    const double r2 = 2 * LOG_ERROR;
    return 1e-5 + fmin(sqrt(r2), r2 / fabs(exact));
}

shoal_status bench_rng_paint(const bench_numbers *d) {
    const size_t chunk = (size_t)1 << 22;
    char *nan = malloc(chunk); /* NaN in either precision */
    if (!nan) return SHOAL_E_NOMEM;
    memset(nan, 0xff, chunk);
    shoal_status status = SHOAL_OK;
    for (size_t at = 0; at < d->step && status == SHOAL_OK; at += chunk)
        status = shoal_copy(d->place->ctx, d->memory + at, nan,
                            d->step - at < chunk ? d->step - at : chunk);
    free(nan);
    return status;
}

static shoal_status check_guards(const bench_numbers *d, bench_check *check) {
    unsigned char guard[2 * BENCH_GUARD]; /* the one before, and all there is behind */
    const size_t behind = d->step - BENCH_GUARD - d->size;
    const size_t tail = behind < BENCH_GUARD ? behind : BENCH_GUARD;
    shoal_status status = shoal_copy(d->place->ctx, guard, d->memory, BENCH_GUARD);
    if (status == SHOAL_OK)
        status =
            shoal_copy(d->place->ctx, guard + BENCH_GUARD, d->memory + BENCH_GUARD + d->size, tail);
    size_t touched = 0;
    for (size_t i = 0; i < BENCH_GUARD + tail && status == SHOAL_OK; i++)
        touched += guard[i] != 0xff;
    if (touched > 0) bench_rng_wrong(check, "%zu bytes outside the array are written", touched);
    return status;
}

/* Points first .. first + count - 1 of the array in set 0, as a fill of them alone lays them out. */
static shoal_status bring_home(const comparison *c, int64_t first, int64_t count, char *to) {
    const bench_problem *p = c->p;
    const size_t size = bench_number_size(p);
    const bool apart = bench_rng_points(p) && p->layout == SHOAL_INTERLEAVED;
    const int64_t rows = apart ? p->n : 1, numbers = apart ? count : count * each(p);
    const char *from = bench_numbers_at(c->d, 0);
    shoal_status status = SHOAL_OK;
    for (int64_t r = 0; r < rows && status == SHOAL_OK; r++) {
        const int64_t at = apart ? r * p->count + first : first * each(p);
        status = shoal_copy(c->d->place->ctx, to + (size_t)(r * numbers) * size,
                            from + (size_t)at * size, (size_t)numbers * size);
    }
    return status;
}

static double number(const bench_problem *p, const void *array, int64_t i) {
    if (p->fixed_type) return (double)((const uint32_t *)array)[i];
    return bench_number(p->type, array, i);
}

/* c->ours against c->theirs, points from `first` on; true if there was no difference too large. */
static bool compare(const comparison *c, const char *with, int64_t first, int64_t count,
                    double *largest) {
    const size_t size = bench_number_size(c->p);
    const int64_t numbers = count * each(c->p);
    if (memcmp(c->ours, c->theirs, (size_t)numbers * size) == 0) return true;
    for (int64_t i = 0; i < numbers; i++) {
        if (memcmp(c->ours + (size_t)i * size, c->theirs + (size_t)i * size, size) == 0) continue;
        const double a = number(c->p, c->ours, i), b = number(c->p, c->theirs, i);
        const double difference = fabs(a - b);
        if (!(difference <= *largest)) *largest = difference;
        if (c->p->math == SHOAL_FAST && difference <= allowed(c->p, b)) continue;
        bench_rng_wrong(c->check, "among %lld .. %lld: %s gives %.9g instead of %.9g",
                        (long long)first, (long long)(first + count - 1), with, b, a);
        return false;
    }
    return true;
}

/* Four pieces from `first` on, their lengths odd and their places in memory too. */
static shoal_status check_pieces(const comparison *c, int64_t first) {
    static const int64_t lengths[] = { 1, 7, 255, PIECE };
    const size_t size = bench_number_size(c->p);
    double largest = 0; /* not reported: the reference's is */
    shoal_status status = SHOAL_OK;
    for (int i = 0; i < 4 && status == SHOAL_OK && first < c->p->count; i++) {
        int64_t count = WINDOW / each(c->p) < lengths[i] ? 1 : lengths[i];
        if (c->p->count - first < count) count = c->p->count - first;
        char *there = (char *)c->there + size;
        status = bench_rng_fill(c->plan, c->p, (uint64_t)first, count, there);
        if (status == SHOAL_OK) status = shoal_wait(c->d->place->ctx);
        if (status == SHOAL_OK)
            status =
                shoal_copy(c->d->place->ctx, c->theirs, there, (size_t)(count * each(c->p)) * size);
        if (status == SHOAL_OK) status = bring_home(c, first, count, c->ours);
        if (status == SHOAL_OK && !compare(c, "a fill in pieces", first, count, &largest)) break;
        first += count;
    }
    return status;
}

/* At the first address, at the last, and between, where no multiple of anything is. */
static shoal_status check_places(const comparison *c) {
    const int64_t room = 1 + 7 + 255 + PIECE, last = c->p->count > room ? c->p->count - room : 0;
    shoal_status status = SHOAL_OK;
    for (int64_t i = 0; i < PLACES && status == SHOAL_OK && !bench_stopped(c->s); i++) {
        if (i > 0 && last == 0) break;
        status = check_pieces(c, (int64_t)((double)last * (double)i / (PLACES - 1)));
    }
    return status;
}

static shoal_status check_reference(const comparison *c) {
    const int64_t points = c->p->count;
    const int64_t width = WINDOW / each(c->p) > 0 ? WINDOW / each(c->p) : 1;
    const int64_t all = (points + width - 1) / width, windows = all < WINDOWS ? all : WINDOWS;
    shoal_context *cpu = NULL;
    shoal_rng *plan = NULL;
    shoal_status status = shoal_open(&(shoal_options){ .backend = "cpu",
                                                       .isa = shoal_isa(0),
                                                       .threads = c->d->place->machine.threads },
                                     &cpu);
    if (status == SHOAL_OK) status = bench_rng_plan(cpu, c->p, SHOAL_EXACT, &plan);
    for (int64_t i = 0; i < windows && status == SHOAL_OK && !bench_stopped(c->s); i++) {
        const int64_t last = points - width > 0 ? points - width : 0;
        const int64_t first =
            all <= WINDOWS ? i * width : (int64_t)((double)last * (double)i / (WINDOWS - 1));
        const int64_t count = points - first < width ? points - first : width;
        status = bench_rng_fill(plan, c->p, (uint64_t)first, count, c->theirs);
        if (status == SHOAL_OK) status = bring_home(c, first, count, c->ours);
        if (status != SHOAL_OK) break;
        c->check->systems += count * each(c->p);
        if (!compare(c, "the CPU", first, count, &c->check->max_residual)) break;
    }
    shoal_rng_free(plan);
    shoal_close(cpu);
    return status;
}

shoal_status bench_rng_check_bits(const bench_session *s, const bench_numbers *d,
                                  const bench_problem *p, shoal_rng *plan, bench_check *check) {
    comparison c = { .s = s, .d = d, .p = p, .plan = plan, .check = check };
    const int64_t max = each(p) > WINDOW ? each(p) : WINDOW;
    const size_t bytes = (size_t)(max + 1) * sizeof(double);
    check->tolerance = allowed(p, 0);
    c.ours = malloc(bytes);
    c.theirs = malloc(bytes);
    shoal_status status = c.ours && c.theirs ? SHOAL_OK : SHOAL_E_NOMEM;
    if (status == SHOAL_OK) status = shoal_alloc(d->place->ctx, bytes, &c.there);
    if (status == SHOAL_OK) status = check_guards(d, check);
    if (status == SHOAL_OK && p->count > 0) status = check_places(&c);
    if (status == SHOAL_OK && p->count > 0) status = check_reference(&c);
    shoal_free(d->place->ctx, c.there);
    free(c.ours);
    free(c.theirs);
    return status;
}

/* ---- the law: shares no line with the library ------------------------------------------------- */

enum { CHUNK = 1 << 20, MAX_CHUNKS = 128 }; /* numbers that are brought home at a time */

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

static bool same_word(const char *word, const char *other) { return strcmp(word, other) == 0; }

static law law_of(const bench_problem *p) {
    const double l = p->lambda, a = p->alpha;
    if (same_word(p->method, "words")) {
        const double cells = 0x1p32, variance = (cells * cells - 1) / 12;
        return (law){ (cells - 1) / 2, variance, 1.8 * variance * variance };
    }
    if (same_word(p->method, "uniform")) return (law){ 0.5, 1.0 / 12, 1.0 / 80 };
    if (same_word(p->method, "gamma") && same_word(p->variant, "log")) return log_gamma_law(a);
    if (same_word(p->method, "gamma")) return (law){ a, a, 3 * a * a + 6 * a };
    if (same_word(p->method, "poisson")) return (law){ l, l, l + 3 * l * l };
    if (same_word(p->method, "ncchisq")) { /* cumulant k: 2^(k-1) (k-1)! (df + k lambda) */
        const double variance = 2 * (p->df + 2 * l);
        return (law){ p->df + l, variance, 48 * (p->df + 4 * l) + 3 * variance * variance };
    }
    if (same_word(p->method, "sobol")) return (law){ 0.5, 1.0 / 12, 1.0 / 80 };
    return (law){ 0, 1, 3 }; /* normal, sobolnormal */
}

static double number_at(const bench_problem *p, const void *array, int64_t i) {
    const double x = number(p, array, i);
    return same_word(p->method, "poisson") && x == SHOAL_RNG_NONE ? NAN : x;
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
        if (same_word(p->method, "sobolnormal"))
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
    const int64_t chunks = all < MAX_CHUNKS ? all : MAX_CHUNKS;
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
