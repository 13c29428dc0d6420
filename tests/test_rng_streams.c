/* SPDX-License-Identifier: Apache-2.0
 *
 * test_rng_streams.c - streams whose addresses differ in one bit have nothing to do with each
 * other, nor have the numbers of one stream; and a thousand steps of a square-root process, each
 * with addresses of its own, keep the mean and the variance that theory gives.
 *
 * Correlation coefficients of n pairs of normals are to be within 4.5 / sqrt(n), and chi-squared on
 * 32 x 32 cells of pairs of uniforms is to have a p-value above 1e-6: of about 2700 coefficients
 * and 190 tests, random ones would fail in 1 of 50 runs. Seed 1, nothing was chosen so that it
 * passes.
 *
 *     test_rng_streams [cpu | cuda] [slow] [WORD...]      slow: 1e6 paths of the process, not 5e4
 */
#include "rng_stats.h"
#include "rng/poisson.h"

enum { PAIRS = 1000000, LONGEST = 1024, NUMBERS = PAIRS + LONGEST, CELLS = 32, LANES = 8 };

#define COEFFICIENT (4.5 / 1000) /* 4.5 / sqrt(PAIRS) */

static setting here;
static void *numbers;                /* NUMBERS of them, in the context's memory */
static double *normal_0, *uniform_0; /* of the stream that the others differ from */
static double *other;
static double worst, least_p; /* of a test */

typedef struct address {
    uint64_t seed, first;
    uint32_t step, purpose, draw;
} address;

static const address origin = { .seed = 1, .step = 5, .purpose = 3, .draw = 2 };

static double *new_doubles(size_t count) {
    double *memory = malloc(count * sizeof *memory);
    if (!memory) abort();
    return memory;
}

static void fill(const char *method, const address *a, double *to) {
    const shoal_rng_opts opts = {
        .method = method, .seed = a->seed, .step = a->step, .purpose = a->purpose, .draw = a->draw
    };
    shoal_rng *plan;
    shoal_status status = shoal_rng_create(here.ctx, &opts, &plan);
    if (status == SHOAL_OK) status = shoal_rng_fill(plan, a->first, NUMBERS, numbers);
    if (status == SHOAL_OK) status = shoal_copy(here.ctx, to, numbers, NUMBERS * sizeof *to);
    CHECK_MSG(status == SHOAL_OK, "%s", shoal_message(here.ctx));
    shoal_rng_free(plan);
}

/* sum of x y / n, of numbers with mean 0 and variance 1; in lanes, for it is called often */
static double product(const double *x, const double *y) {
    double sum[LANES] = { 0 }, all = 0;
    for (int i = 0; i < PAIRS; i += LANES)
        for (int j = 0; j < LANES; j++) sum[j] += x[i + j] * y[i + j];
    for (int j = 0; j < LANES; j++) all += sum[j];
    return all / PAIRS;
}

static double product_of_squares(const double *x, const double *y) {
    double sum[LANES] = { 0 }, all = 0;
    for (int i = 0; i < PAIRS; i += LANES)
        for (int j = 0; j < LANES; j++)
            sum[j] += (x[i + j] * x[i + j] - 1) * (y[i + j] * y[i + j] - 1);
    for (int j = 0; j < LANES; j++) all += sum[j];
    return all / (2.0 * PAIRS);
}

static void check_coefficient(double r, const char *what, int bit, int lag) {
    worst = fmax(worst, fabs(r) / COEFFICIENT);
    CHECK_MSG(fabs(r) <= COEFFICIENT, "%s %d, lag %d: %g", what, bit, lag, r);
}

static void check_normals(const double *z, const char *what, int bit, int same) {
    static const int lags[] = { 0, 1, 2, 3, 4, LONGEST };
    for (size_t i = same ? 1 : 0; i < sizeof lags / sizeof *lags; i++) {
        const int lag = lags[i];
        check_coefficient(product(normal_0, z + lag), what, bit, lag);
        if (lag && !same) check_coefficient(product(normal_0 + lag, z), what, bit, -lag);
        check_coefficient(product_of_squares(normal_0, z + lag), what, bit, lag);
    }
}

/* The p-value of pairs (x[i], y[i]) of uniforms in square cells. */
static double p_of_cells(const double *x, const double *y) {
    int count[CELLS * CELLS] = { 0 };
    const double expected = (double)PAIRS / (CELLS * CELLS);
    double chi2 = 0;
    for (int i = 0; i < PAIRS; i++) count[(int)(x[i] * CELLS) * CELLS + (int)(y[i] * CELLS)]++;
    for (int i = 0; i < CELLS * CELLS; i++)
        chi2 += (count[i] - expected) * (count[i] - expected) / expected;
    return chi2_above(CELLS * CELLS - 1, chi2);
}

static void check_cells(const double *x, const double *y, const char *what, int bit) {
    const double p = p_of_cells(x, y);
    least_p = fmin(least_p, p);
    CHECK_MSG(p > P_MIN, "%s %d: p-value %g", what, bit, p);
}

static void check_stream(const address *a, const char *what, int bit) {
    fill("normal", a, other);
    check_normals(other, what, bit, 0);
    fill("uniform", a, other);
    check_cells(uniform_0, other, what, bit);
}

static void begin(void) { worst = 0, least_p = 1; }

static void end(void) {
    printf("      largest coefficient %.2f of what is allowed", worst);
    if (least_p < 1) printf(", least p-value %.3g", least_p);
    putchar('\n');
}

/* ---- streams --------------------------------------------------------------------------------- */

TEST(numbers_of_one_stream_are_uncorrelated) {
    static const int lags[] = { 1, 2, 3, 4, LONGEST };
    begin();
    check_normals(normal_0, "itself", 0, 1);
    for (size_t i = 0; i < sizeof lags / sizeof *lags; i++)
        check_cells(uniform_0, uniform_0 + lags[i], "itself, lag", lags[i]);
    end();
}

TEST(seeds_are_uncorrelated) {
    begin();
    for (int bit = 0; bit < 64; bit++) {
        address a = origin;
        a.seed ^= (uint64_t)1 << bit;
        check_stream(&a, "seed bit", bit);
    }
    end();
}

TEST(steps_purposes_and_draws_are_uncorrelated) {
    begin();
    for (int bit = 0; bit < 47; bit++) {
        address a = origin;
        if (bit < 32)
            a.step ^= (uint32_t)1 << bit;
        else if (bit < 39)
            a.purpose ^= (uint32_t)1 << (bit - 32);
        else
            a.draw ^= (uint32_t)1 << (bit - 39);
        check_stream(&a, "step, purpose, draw bit", bit);
    }
    end();
}

/* Paths next to each other are the numbers of one stream; these are far away. */
TEST(paths_are_uncorrelated) {
    begin();
    for (int bit = 21; bit < 63; bit++) { /* number i is of path i / 2 */
        address a = origin;
        a.first = (uint64_t)2 << bit;
        check_stream(&a, "path bit", bit);
    }
    end();
}

/* Attempts are of the cores alone: the first normal and the first uniform of each block. */
TEST(attempts_are_uncorrelated) {
    const shoal_stream s = shoal_stream_of(origin.seed, origin.step, origin.purpose, origin.draw);
    double *z[2] = { new_doubles(PAIRS), new_doubles(PAIRS) };
    double *u[2] = { new_doubles(PAIRS), new_doubles(PAIRS) };
    begin();
    for (int bit = -1; bit < 12; bit++) {
        const int k = bit >= 0;
        PARALLEL_FOR
        for (int block = 0; block < PAIRS / 1000; block++)
            for (int i = block * 1000; i < (block + 1) * 1000; i++) {
                const shoal_words w = shoal_block(&s, (uint64_t)i, k ? (uint32_t)1 << bit : 0);
                z[k][i] = shoal_normal_pair(&w).z[0];
                u[k][i] = shoal_uniform(&w, 0);
            }
        if (!k) continue;
        check_coefficient(product(z[0], z[1]), "attempt bit", bit, 0);
        check_coefficient(product_of_squares(z[0], z[1]), "attempt bit", bit, 0);
        check_cells(u[0], u[1], "attempt bit", bit);
    }
    end();
    free(z[0]), free(z[1]), free(u[0]), free(u[1]);
}

/* The sine and the cosine of one angle times one radius: independent in law, squares too. */
TEST(normals_of_a_pair_are_independent) {
    double *z[2] = { new_doubles(PAIRS), new_doubles(PAIRS) };
    begin();
    for (int round = 0; round < 10; round++) {
        const address a = { .seed = 1, .first = (uint64_t)round * 2 * PAIRS };
        for (int half = 0; half < 2; half++) {
            address part = a;
            part.first += (uint64_t)half * PAIRS;
            fill("normal", &part, other);
            for (int i = 0; i < PAIRS / 2; i++) {
                z[0][half * PAIRS / 2 + i] = other[2 * i];
                z[1][half * PAIRS / 2 + i] = other[2 * i + 1];
            }
        }
        check_coefficient(product(z[0], z[1]), "pair, round", round, 0);
        check_coefficient(product_of_squares(z[0], z[1]), "squares, round", round, 0);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < PAIRS; i++) z[k][i] = 0.5 * erfc(-z[k][i] * sqrt(0.5));
        check_cells(z[0], z[1], "pair, round", round);
    }
    end();
    free(z[0]), free(z[1]);
}

/* The test can fail: normals with a correlation of 1 %, uniforms of which 1 in 200 repeats. */
TEST(planted_correlations_are_found) {
    for (int i = 0; i < PAIRS; i++) other[i] = 0.01 * normal_0[i] + normal_0[i + 7];
    CHECK(product(normal_0, other) > COEFFICIENT);
    for (int i = 0; i < PAIRS; i++) other[i] = uniform_0[i % 200 ? i + 7 : i];
    CHECK(p_of_cells(uniform_0, other) < P_MIN);
}

/* ---- the square-root process ----------------------------------------------------------------- */

/* dv = kappa (theta - v) dt + sigma sqrt(v) dW. Over a step dt, with e = exp(-kappa dt) and
 * c = sigma^2 (1 - e) / (2 kappa), v' = c Gamma(d + N), N Poisson of mean e v / c,
 * d = 2 kappa theta / sigma^2: c/2 times a non-central chi-squared of 2 d degrees of freedom and
 * non-centrality 2 e v / c. Step and path are the address, the parameter is around 2222. */
enum { STEPS = 1000 };
static const double kappa = 0.5, theta = 0.1, sigma = 0.3, v0 = 0.1;

typedef struct cir_path {
    double end, integral; /* v at 1, and the trapezoid sum of v */
} cir_path;

static cir_path follow(uint64_t path, int by_ncchisq) {
    const double e = exp(-kappa / STEPS), c = sigma * sigma * (1 - e) / (2 * kappa);
    const double d = 2 * kappa * theta / (sigma * sigma);
    double v = v0, sum = 0.5 * v0;
    for (uint32_t step = 0; step < STEPS; step++) {
        if (by_ncchisq) {
            const shoal_stream s = shoal_stream_of(1, step, 3, 0);
            v = 0.5 * c * shoal_ncchisq_poisson(2 * d, 2 * e * v / c, &s, path);
        } else {
            const shoal_stream s = shoal_stream_of(1, step, 1, 0),
                               t = shoal_stream_of(1, step, 2, 0);
            v = c * shoal_gamma(d + shoal_poisson(e * v / c, &s, path), &t, path);
        }
        sum += v;
    }
    return (cir_path){ v, (sum - 0.5 * v) / STEPS };
}

/* How many standard errors the mean of x is from what is expected. */
static double errors_from(double expected, const double *x, int n) {
    double mean = 0, square = 0;
    for (int i = 0; i < n; i++) mean += (x[i] - expected) / n;
    for (int i = 0; i < n; i++)
        square += (x[i] - expected - mean) * (x[i] - expected - mean) / ((double)n * (n - 1));
    return mean / sqrt(square);
}

static void check_process(int by_ncchisq) {
    const int n = here.slow ? 1000000 : 50000;
    double *end_v = new_doubles((size_t)n), *integral = new_doubles((size_t)n);
    PARALLEL_FOR
    for (int block = 0; block < n / 100; block++)
        for (int i = block * 100; i < (block + 1) * 100; i++) {
            const cir_path p = follow((uint64_t)i, by_ncchisq);
            end_v[i] = p.end;
            integral[i] = p.integral;
        }
    /* v0 = theta: the mean stays, and the variance at 1 is theta sigma^2 / (2 kappa) (1 - e^-2k) */
    const double variance = theta * sigma * sigma / (2 * kappa) * -expm1(-2 * kappa);
    const double at_end = errors_from(theta, end_v, n), all = errors_from(theta, integral, n);
    for (int i = 0; i < n; i++) end_v[i] = (end_v[i] - theta) * (end_v[i] - theta);
    const double spread = errors_from(variance, end_v, n);
    printf("      %d paths: E[v] %+.2f, E[integral of v] %+.2f, variance of v %+.2f s.e.\n", n,
           at_end, all, spread);
    CHECK_MSG(fabs(at_end) <= 3, "E[v] is off by %g standard errors", at_end);
    CHECK_MSG(fabs(all) <= 3, "E[integral of v] is off by %g standard errors", all);
    CHECK_MSG(fabs(spread) <= 3, "the variance of v is off by %g standard errors", spread);
    free(end_v), free(integral);
}

TEST(cir_by_poisson_and_gamma) { check_process(0); }
TEST(cir_by_ncchisq) { check_process(1); }

int main(int argc, char **argv) {
    if (!open_setting(&argc, argv, &here)) return 77;
    TEST_BEGIN(argc, argv);
    normal_0 = new_doubles(NUMBERS), uniform_0 = new_doubles(NUMBERS), other = new_doubles(NUMBERS);
    if (shoal_alloc(here.ctx, NUMBERS * sizeof(double), &numbers) != SHOAL_OK) return 1;
    fill("normal", &origin, normal_0);
    fill("uniform", &origin, uniform_0);
    RUN(numbers_of_one_stream_are_uncorrelated);
    RUN(seeds_are_uncorrelated);
    RUN(steps_purposes_and_draws_are_uncorrelated);
    RUN(paths_are_uncorrelated);
    RUN(normals_of_a_pair_are_independent);
    RUN(planted_correlations_are_found);
    if (!here.cuda) { /* of the cores, on the host */
        RUN(attempts_are_uncorrelated);
        RUN(cir_by_poisson_and_gamma);
        RUN(cir_by_ncchisq);
    }
    free(normal_0), free(uniform_0), free(other);
    shoal_free(here.ctx, numbers);
    shoal_close(here.ctx);
    return TEST_END();
}
