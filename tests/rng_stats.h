/* SPDX-License-Identifier: Apache-2.0
 *
 * rng_stats.h - statistics for the tests of random numbers: laws with their cumulants and both
 * tails, moments of a sample against those of its law, and chi-squared over bins.
 *
 * The incomplete gamma function P(a, x) = 1 - Q(a, x), to 1e-10 for 1e-3 <= a <= 1e9: the series
 * in x / (a + k) below a + sqrt a, the continued fraction above, and Temme's uniform expansion
 * (1979, with erfc and two terms) from a = 1e5 on, where those would take sqrt a steps. It has the
 * tails of all laws here: gamma, chi-squared, P(N >= k) = P(k, lambda) of a Poisson N, and the
 * non-central chi-squared as a Poisson mixture.
 *
 * A sample agrees with its law if mean, variance and skewness lie within 4 standard errors, which
 * follow from the law's moments up to the sixth, and chi-squared has a p-value within 1e-6 of
 * neither end. About 40 laws are tested: were the numbers new in each run, the moments would fail
 * 1 run in 130 (120 x 6e-5) and chi-squared 1 in 12000; with exact arithmetic they are fixed.
 */
#ifndef SHOAL_RNG_STATS_H
#define SHOAL_RNG_STATS_H

#include <shoal/shoal.h>
#include "test.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef _OPENMP
#define PARALLEL_FOR _Pragma("omp parallel for schedule(dynamic)")
#else
#define PARALLEL_FOR
#endif

enum { EDGES = 256, CENTRE = 128, LEAST = 50 }; /* LEAST: the smallest count expected in a bin */

#define STANDARD_ERRORS 4.0
#define P_MIN           1e-6

/* ---- the incomplete gamma function ----------------------------------------------------------- */

/* f - log(1 + f): the series where the difference would cancel */
static inline double bend_of(double f) {
    if (fabs(f) > 0.1) return f - log1p(f);
    double sum = 0;
    for (int j = 20; j >= 2; j--) sum = 1.0 / j - f * sum;
    return f * f * sum;
}

/* x^a e^-x / Gamma(a + 1), a >= 0, with log x given: x may have underflowed. From 10 on without
 * the cancellation of large logarithms: Stirling's formula and its error. */
static inline double gamma_term(double a, double x, double log_x) {
    if (a == 0) return exp(-x);
    if (a < 10) return exp(a * log_x - x - lgamma(a + 1));
    const double w = 1 / (a * a);
    const double error =
        (1.0 / 12 +
         w * (-1.0 / 360 +
              w * (1.0 / 1260 + w * (-1.0 / 1680 + w * (1.0 / 1188 - w * 691 / 360360))))) /
        a;
    return exp(-a * bend_of((x - a) / a) - error) / sqrt(2 * 3.14159265358979323846 * a);
}

/* Temme's expansion, for a >= 1e5 and x within 3 % of it: C_0 and C_1 as series in eta. */
static inline double gamma_temme(double a, double x, int upper) {
    const double y = a * bend_of((x - a) / a), eta = copysign(sqrt(2 * y / a), x - a);
    const double c0 =
        -1.0 / 3 +
        eta * (1.0 / 12 +
               eta * (-2.0 / 135 + eta * (1.0 / 864 + eta * (1.0 / 2835 - eta * 139 / 777600))));
    const double c1 = -1.0 / 540 + eta * (-1.0 / 288 + eta * 25 / 12096);
    const double rest = exp(-y) / sqrt(2 * 3.14159265358979323846 * a) * (c0 + c1 / a);
    const double side = copysign(sqrt(y), x - a);
    return upper ? 0.5 * erfc(side) + rest : 0.5 * erfc(-side) - rest;
}

/* Q(a, x), or P(a, x), a > 0. */
static inline double gamma_tail_log(double a, double x, double log_x, int upper) {
    if (x == 0 && log_x == -INFINITY) return upper;
    if (a >= 1e5 && fabs(x - a) < 0.03 * a) return gamma_temme(a, x, upper);
    const double front = gamma_term(a, x, log_x);
    if (x < a + 1 + sqrt(a)) { /* P = front (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...) */
        double term = 1, sum = 1;
        for (double k = 1; term > 1e-17 * sum; k++) sum += term *= x / (a + k);
        return upper ? 1 - front * sum : front * sum;
    }
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d, change = 0; /* Lentz */
    for (double k = 1; fabs(change - 1) > 1e-16 && k < 1e6; k++) {
        b += 2;
        d = 1 / (b - k * (k - a) * d);
        c = b - k * (k - a) / c;
        h *= change = c * d;
    }
    return upper ? front * a * h : 1 - front * a * h;
}

static inline double gamma_tail(double a, double x, int upper) {
    return gamma_tail_log(a, x, log(x), upper);
}

/* P(chi-squared of df degrees of freedom >= x) */
static inline double chi2_above(double df, double x) { return gamma_tail(0.5 * df, 0.5 * x, 1); }

/* ---- laws ------------------------------------------------------------------------------------ */

typedef struct rng_law rng_law;
struct rng_law {
    char name[48];
    double a, b;                                           /* parameters                         */
    double cumulant[7];                                    /* from the first, the mean, on       */
    double (*tail)(const rng_law *l, double x, int upper); /* P(X >= x), or P(X < x)             */
    double least, most;                                    /* where edges may lie                */
    int discrete;                                          /* integers                           */
    int moments;                                           /* to be tested: 3, or fewer          */
};

static inline double uniform_tail(const rng_law *l, double x, int upper) {
    (void)l;
    return upper ? 1 - x : x;
}

static inline double normal_tail(const rng_law *l, double x, int upper) {
    (void)l;
    return 0.5 * erfc((upper ? x : -x) * sqrt(0.5));
}

static inline double gamma_law_tail(const rng_law *l, double x, int upper) {
    return gamma_tail(l->a, x, upper);
}

static inline double log_gamma_law_tail(const rng_law *l, double x, int upper) {
    return gamma_tail_log(l->a, exp(x), x, upper);
}

static inline double poisson_tail(const rng_law *l, double x, int upper) {
    const double k = ceil(x); /* P(N >= k) = P(gamma of shape k <= lambda) */
    return k <= 0 ? upper : gamma_tail(k, l->a, !upper);
}

/* The mixture of P or Q(df/2 + j, x/2), j Poisson, over 12 deviations on each side of its mean. P
 * is summed towards smaller j and Q towards larger ones, where they grow: nothing cancels. */
static inline double ncchisq_tail(const rng_law *l, double x, int upper) {
    const double h = 0.5 * l->b, y = 0.5 * x, log_h = log(h), log_y = log(y), a = 0.5 * l->a;
    if (h == 0) return gamma_tail(a, y, upper);
    const double reach = 12 * sqrt(h) + 40, mode = floor(h);
    const double first = mode > reach ? floor(mode - reach) : 0, last = ceil(mode + reach);
    double sum = 0, part = upper ? gamma_tail(a + first, y, 1) : gamma_tail(a + last, y, 0);
    for (double i = 0; i <= last - first; i++) {
        const double j = upper ? first + i : last - i;
        sum += part * gamma_term(j, h, log_h);
        part += gamma_term(upper ? a + j : a + j - 1, y, log_y); /* of the next j */
        if (j == 0 && !upper) break;
    }
    return sum;
}

static inline rng_law uniform_law(void) {
    return (rng_law){ .name = "uniform",
                      .cumulant = { 0, 0.5, 1. / 12, 0, -1. / 120, 0, 1. / 252 },
                      .tail = uniform_tail,
                      .most = 1,
                      .moments = 3 };
}

static inline rng_law normal_law(void) {
    return (rng_law){ .name = "normal",
                      .cumulant = { 0, 0, 1 },
                      .tail = normal_tail,
                      .least = -40,
                      .most = 40,
                      .moments = 3 };
}

/* Edges of positive laws stay above 1e-300: below, numbers are rounded to few bits. */
static inline rng_law gamma_law(double alpha) {
    rng_law l = { .a = alpha, .tail = gamma_law_tail, .least = 1e-300, .most = 1e12, .moments = 3 };
    l.cumulant[1] = alpha;
    for (int j = 2; j <= 6; j++) l.cumulant[j] = l.cumulant[j - 1] * (j - 1);
    snprintf(l.name, sizeof l.name, "gamma(%g)", alpha);
    return l;
}

/* The cumulants are the polygamma functions psi^(j-1): 200 terms of their sums over (alpha + k),
 * and Euler's and Maclaurin's formula for the rest. */
static inline rng_law log_gamma_law(double alpha) {
    const double far = alpha + 200;
    rng_law l = {
        .a = alpha, .tail = log_gamma_law_tail, .least = -1e9, .most = 100, .moments = 3
    };
    double factorial = 1; /* (j - 1)! */
    for (int j = 1; j <= 6; factorial *= j, j++) {
        double sum = j == 1 ? -log(far) : pow(far, 1 - j) / (j - 1);
        sum += 0.5 * pow(far, -j) + j * pow(far, -j - 1) / 12 -
               j * (j + 1) * (j + 2) * pow(far, -j - 3) / 720;
        for (int k = 199; k >= 0; k--) sum += pow(alpha + k, -j);
        l.cumulant[j] = (j % 2 ? -1 : 1) * factorial * sum;
    }
    snprintf(l.name, sizeof l.name, "log gamma(%g)", alpha);
    return l;
}

static inline rng_law poisson_law(double lambda) {
    rng_law l = { .a = lambda, .tail = poisson_tail, .most = 4e9, .discrete = 1, .moments = 3 };
    for (int j = 1; j <= 6; j++) l.cumulant[j] = lambda;
    snprintf(l.name, sizeof l.name, "poisson(%g)", lambda);
    return l;
}

static inline rng_law ncchisq_law(double df, double lambda) {
    rng_law l = {
        .a = df, .b = lambda, .tail = ncchisq_tail, .least = 1e-300, .most = 1e12, .moments = 3
    };
    double factor = 1; /* 2^(j-1) (j-1)! */
    for (int j = 1; j <= 6; factor *= 2 * j, j++) l.cumulant[j] = factor * (df + j * lambda);
    snprintf(l.name, sizeof l.name, "ncchisq(%g, %g)", df, lambda);
    return l;
}

/* ---- bins ------------------------------------------------------------------------------------ */

typedef struct bins { /* bin i is edge[i-1] <= x < edge[i]; the last edges are infinite */
    double edge[EDGES], p[EDGES];
    int count;
} bins;

/* Doubles as integers in the same order, so that bisection takes all magnitudes alike. */
static inline int64_t rank_of(double x) {
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static inline double ranked(int64_t rank) {
    const int64_t bits = rank < 0 ? INT64_MIN - rank : rank;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* About where P(X < x) = p, or P(X >= x) = p: an edge is as good as another close by. */
static inline double quantile(const rng_law *l, double p, int upper) {
    int64_t low = rank_of(l->least), high = rank_of(l->most);
    while ((uint64_t)high - (uint64_t)low > 1 << 20) { /* the difference may need 64 bits */
        const int64_t middle = low / 2 + high / 2;
        if ((l->tail(l, ranked(middle), upper) < p) == !upper)
            low = middle;
        else
            high = middle;
    }
    return l->discrete ? ceil(ranked(high)) : ranked(high);
}

/* CENTRE bins of equal probability, but the outer ones are halved again and again as far as `n`
 * draws allow, so that the tails count. Each expects LEAST of them at least. */
static inline bins bins_of(const rng_law *l, double n) {
    bins b = { .count = 0 };
    double want[EDGES], at[EDGES], below[EDGES], above[EDGES], p = 0, above_last = 1,
                                                               below_last = 0;
    int wanted = 0, tail = 0;
    while (ldexp(1.0 / CENTRE, -tail - 1) * n >= 1.5 * LEAST && tail < 40) tail++;
    for (int i = 0; i < CENTRE / 2 + tail; i++) {
        const double q = i < tail ? ldexp(1.0 / CENTRE, i - tail) : (i - tail + 1.0) / CENTRE;
        want[wanted++] = q;
    }
    const int half = wanted; /* the last of them is 1/2; the upper half mirrors the others */
    wanted = 2 * half - 1;
    PARALLEL_FOR
    for (int i = 0; i < wanted; i++) {
        at[i] = quantile(l, want[i < half ? i : wanted - 1 - i], i >= half);
        below[i] = l->tail(l, at[i], 0);
        above[i] = l->tail(l, at[i], 1);
    }
    for (int i = 0; i < wanted; i++) {
        p = below[i] < 0.5 ? below[i] - below_last : above_last - above[i];
        if (p * n < LEAST || above[i] * n < LEAST) continue; /* merged with the next */
        b.edge[b.count] = at[i];
        b.p[b.count++] = p;
        below_last = below[i], above_last = above[i];
    }
    b.p[b.count] = above_last;
    for (int i = b.count++; i < EDGES; i++) b.edge[i] = INFINITY;
    return b;
}

static inline int bin_of(const bins *b, double x) {
    int at = 0;
    for (int step = EDGES / 2; step; step /= 2) at += b->edge[at + step - 1] <= x ? step : 0;
    return at;
}

/* ---- a sample and what it says --------------------------------------------------------------- */

typedef struct sample { /* power sums of (x - mean) / deviation: of order 1 for every law */
    double n, sum[4];
    int64_t count[EDGES];
} sample;

static inline void add_number(sample *s, const rng_law *l, const bins *b, double x, double scale) {
    const double z = (x - l->cumulant[1]) * scale;
    s->sum[1] += z;
    s->sum[2] += z * z;
    s->sum[3] += z * z * z;
    s->count[bin_of(b, x)]++;
}

static inline void add_sample(sample *to, const sample *from) {
    to->n += from->n;
    for (int j = 1; j <= 3; j++) to->sum[j] += from->sum[j];
    for (int i = 0; i < EDGES; i++) to->count[i] += from->count[i];
}

typedef struct verdict {
    double error[4]; /* of mean, variance, skewness, in standard errors, from [1] on */
    double chi2, p;
    int df, agrees;
} verdict;

static inline verdict judge(const sample *s, const rng_law *l, const bins *b) {
    const double n = s->n, v = l->cumulant[2], *k = l->cumulant;
    const double g = k[3] / pow(v, 1.5), a4 = k[4] / (v * v) + 3, a5 = k[5] / pow(v, 2.5) + 10 * g,
                 a6 = k[6] / (v * v * v) + 15 * k[4] / (v * v) + 10 * g * g + 15;
    const double d = s->sum[1] / n, m2 = s->sum[2] / n, m3 = s->sum[3] / n;
    const double variance = m2 - d * d, skewness = m3 - 3 * d * m2 + 2 * d * d * d;
    verdict r = { .agrees = 1 };
    r.error[1] = d * sqrt(n);
    r.error[2] = (variance - 1) * sqrt(n / (a4 - 1));
    r.error[3] = (skewness / pow(variance, 1.5) - g) * /* its error: the delta method */
                 sqrt(n / (a6 - 6 * a4 + 9 - 3 * g * a5 + g * g * (2.25 * a4 + 8.75)));
    for (int i = 0; i < b->count; i++) {
        const double expected = n * b->p[i], off = (double)s->count[i] - expected;
        r.chi2 += off * off / expected;
    }
    r.df = b->count - 1;
    r.p = r.df > 0 ? chi2_above(r.df, r.chi2) : 0;
    for (int j = 1; j <= l->moments; j++) r.agrees &= fabs(r.error[j]) <= STANDARD_ERRORS;
    r.agrees &= r.p >= P_MIN && r.p <= 1 - P_MIN;
    return r;
}

static inline void print_verdict(const char *name, double n, const verdict *r) {
    printf("      %-28s n %.0e  mean %+.2f  variance %+.2f  skewness %+.2f s.e.  chi2 %.1f (%d) "
           "p %.3g\n",
           name, n, r->error[1], r->error[2], r->error[3], r->chi2, r->df, r->p);
}

/* ---- the context ----------------------------------------------------------------------------- */

typedef struct setting {
    shoal_context *ctx;
    int cuda, slow, fast;
} setting;

/* Takes cpu, cuda, --backend=..., slow and fast out of the arguments; 0: no such backend. */
static inline int open_setting(int *argc, char **argv, setting *s) {
    const char *backend = "cpu";
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        const char *word = strncmp(argv[i], "--backend=", 10) == 0 ? argv[i] + 10 : argv[i];
        if (strcmp(word, "cpu") == 0 || strcmp(word, "cuda") == 0)
            backend = word;
        else if (strcmp(word, "slow") == 0)
            s->slow = 1;
        else if (strcmp(word, "fast") == 0)
            s->fast = 1;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    s->cuda = strcmp(backend, "cuda") == 0;
    if (shoal_open(&(shoal_options){ .backend = backend }, &s->ctx) == SHOAL_OK) return 1;
    printf("note  no tests on %s: %s\n", backend, shoal_message(s->ctx));
    shoal_close(s->ctx);
    return 0;
}

#endif
