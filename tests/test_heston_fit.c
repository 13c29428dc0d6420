/* SPDX-License-Identifier: Apache-2.0
 *
 * test_heston_fit.c - calibration of Heston's model: synthetic quotes give back their parameters from several starts, a minimum
 * is one, standard errors are those of repeated experiments, bounds and weights count, and mistakes are named.
 */
#include <math.h>
#include <shoal/shoal.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

enum { STRIKES = 20, MATURITIES = 20, QUOTES = STRIKES * MATURITIES, FREE = 5 };

static shoal_context *ctx;
static double strike[QUOTES], maturity[QUOTES], price[QUOTES], rate[QUOTES], dividend[QUOTES];
static int32_t put[QUOTES];
static const shoal_heston_options quotes = { strike, maturity, rate, dividend, put };
static const shoal_heston hundred = { .s0 = 100 };

/* Numbers from 0 to 1. */
static double uniform(void) {
    static uint64_t state = 7;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double normal(void) { return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform()); }

static void numbers_of(const shoal_heston *m, double x[FREE]) {
    x[0] = m->v0, x[1] = m->kappa, x[2] = m->theta, x[3] = m->sigma, x[4] = m->rho;
}

/* A surface of puts and calls, up to two and a half deviations from the forward, with curves of rates. */
static void make_surface(const shoal_heston *m) {
    for (int i = 0; i < QUOTES; i++) {
        const int k = i % STRIKES, t = i / STRIKES;
        maturity[i] = 0.1 + 0.15 * t;
        rate[i] = 0.01 + 0.001 * t, dividend[i] = 0.02 - 0.0005 * t;
        const double x = 2.5 * (2.0 * k / (STRIKES - 1) - 1);
        strike[i] =
            m->s0 * exp((rate[i] - dividend[i]) * maturity[i] + x * sqrt(m->theta * maturity[i]));
        put[i] = x < 0;
    }
    CHECK(shoal_heston_prices(ctx, m, &quotes, QUOTES, price, NULL) == SHOAL_OK);
}

static void calibrate(const double *from, const double *weight, const shoal_fit_opts *o,
                      shoal_heston_fit *fit, double *fitted) {
    CHECK_MSG(shoal_heston_calibrate(ctx, &hundred, &quotes, QUOTES, from, weight, o, fit,
                                     fitted) == SHOAL_OK,
              "%s", shoal_message(ctx));
}

static const shoal_heston models[] = {
    { .s0 = 100, .v0 = 0.04, .kappa = 2, .theta = 0.06, .sigma = 0.5, .rho = -0.7 },
    { .s0 = 100,
      .v0 = 0.09,
      .kappa = 1,
      .theta = 0.05,
      .sigma = 0.9,
      .rho = -0.4 }, /* Feller is violated */
    { .s0 = 100, .v0 = 0.02, .kappa = 4, .theta = 0.03, .sigma = 0.3, .rho = 0.3 },
    { .s0 = 100, .v0 = 0.3, .kappa = 0.7, .theta = 0.2, .sigma = 0.4, .rho = -0.9 },
};

/* Exact quotes, by volatilities and by prices, from the start that the quotes suggest and seven others. */
TEST(known_parameters_come_back) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        double truth[FREE], found[FREE];
        make_surface(&models[i]);
        numbers_of(&models[i], truth);
        for (int price_errors = 0; price_errors < 2; price_errors++) {
            shoal_heston_fit fit;
            calibrate(price, NULL, &(shoal_fit_opts){ .starts = 8, .price_errors = price_errors },
                      &fit, NULL);
            numbers_of(&fit.model, found);
            for (int k = 0; k < FREE; k++)
                CHECK_MSG(fabs(found[k] - truth[k]) < 1e-6 * (1 + truth[k]),
                          "model %zu: %.12g, not %.12g", i, found[k], truth[k]);
            CHECK(fit.converged && fit.rms < 1e-8 && fit.at_bound == 0 && fit.model.s0 == 100);
            CHECK_MSG(fit.agree >= 6, "model %zu: %lld of 8 starts agree", i, (long long)fit.agree);
            CHECK_MSG(fit.iterations < 40, "model %zu: %lld iterations", i,
                      (long long)fit.iterations);
            CHECK(fabs(fit.feller - 2 * truth[1] * truth[2] / (truth[3] * truth[3])) < 1e-4);
        }
    }
}

/* Quotes with errors: nothing next to the fit is better, in the sum that the header states. */
TEST(the_fit_is_a_minimum) {
    static double noisy[QUOTES], weight[QUOTES], fitted[QUOTES];
    shoal_heston_fit fit;
    make_surface(&models[0]);
    for (int i = 0; i < QUOTES; i++) {
        noisy[i] = price[i] * (1 + 0.01 * normal()), weight[i] = 0.5 + uniform();
    }
    calibrate(noisy, weight, &(shoal_fit_opts){ .price_errors = 1, .tol = 1e-12 }, &fit, fitted);
    double least = 0, square = 0, largest = 0;
    for (int i = 0; i < QUOTES; i++) {
        const double off = fitted[i] - noisy[i];
        least += weight[i] * weight[i] * off * off, square += off * off;
        largest = fmax(largest, fabs(off));
    }
    CHECK(fabs(least - fit.objective) < 1e-12 * least);
    CHECK(fabs(sqrt(square / QUOTES) - fit.rms) < 1e-12 && fabs(largest - fit.largest) < 1e-12);
    for (int k = 0; k < FREE; k++)
        for (int side = -1; side <= 1; side += 2) {
            shoal_heston near = fit.model;
            double *const at[FREE] = { &near.v0, &near.kappa, &near.theta, &near.sigma, &near.rho };
            double sum = 0;
            *at[k] *= 1 + 1e-4 * side;
            CHECK(shoal_heston_prices(ctx, &near, &quotes, QUOTES, fitted, NULL) == SHOAL_OK);
            for (int i = 0; i < QUOTES; i++) {
                const double off = weight[i] * (fitted[i] - noisy[i]);
                sum += off * off;
            }
            CHECK_MSG(sum > least, "parameter %d, side %d: %.17g, %.17g", k, side, sum, least);
        }
}

/* Errors of volatilities of 0.1 %: over repeated experiments the parameters are as far off as their standard errors say. */
TEST(standard_errors) {
    enum { RUNS = 60 };
    static double noisy[QUOTES];
    double truth[FREE], square[FREE] = { 0 };
    make_surface(&models[0]);
    numbers_of(&models[0], truth);
    for (int run = 0; run < RUNS; run++) {
        shoal_heston_fit fit;
        double found[FREE], error[FREE];
        for (int i = 0; i < QUOTES; i++) {
            const double forward = 100 * exp((rate[i] - dividend[i]) * maturity[i]),
                         root = sqrt(maturity[i]);
            const double discount = exp(-rate[i] * maturity[i]);
            const double vol =
                shoal_black_deviation(forward, strike[i], price[i] / discount, put[i]) / root +
                1e-3 * normal();
            noisy[i] = discount * shoal_black(forward, strike[i], vol * root, put[i]);
        }
        calibrate(noisy, NULL, NULL, &fit, NULL);
        numbers_of(&fit.model, found);
        numbers_of(&fit.error, error);
        CHECK(fit.converged && fabs(fit.rms - 1e-3) < 2e-4 && fit.condition > 1 &&
              fit.condition < 1e6);
        for (int k = 0; k < FREE; k++) square[k] += pow((found[k] - truth[k]) / error[k], 2) / RUNS;
    }
    /* the mean of 60 squares of normal numbers is 1 +- 0.18 */
    for (int k = 0; k < FREE; k++)
        CHECK_MSG(square[k] > 0.4 && square[k] < 1.75, "parameter %d: %g", k, square[k]);
}

TEST(bounds_and_fixed_parameters) {
    const double nan = NAN;
    shoal_heston low = { nan, nan, nan, nan, nan, nan, nan, nan }, high = low, start = low;
    shoal_heston_fit fit;
    make_surface(&models[0]);
    low.kappa = high.kappa = start.kappa = 1;
    calibrate(price, NULL, &(shoal_fit_opts){ .start = &start, .low = &low, .high = &high }, &fit,
              NULL);
    CHECK(fit.model.kappa == 1 && isnan(fit.error.kappa) && fit.error.sigma > 0 && fit.rms > 1e-4);
    CHECK(fit.converged && fit.at_bound == 0);
    low.kappa = high.kappa = start.kappa = nan, high.sigma = 0.4;
    calibrate(price, NULL, &(shoal_fit_opts){ .high = &high }, &fit, NULL);
    CHECK(fit.model.sigma == 0.4 && fit.at_bound == 8 && isnan(fit.error.sigma) && fit.converged);
    CHECK(fit.error.kappa > 0);
    /* quotes of one maturity do not tell kappa from theta */
    make_surface(&models[0]);
    const shoal_heston_options one = { strike, maturity, rate, dividend, put };
    CHECK(shoal_heston_calibrate(ctx, &hundred, &one, STRIKES, price, NULL, NULL, &fit, NULL) ==
          SHOAL_OK);
    CHECK_MSG(fit.condition > 1e6 || fit.at_bound, "condition %g", fit.condition);
}

/* The first start is the caller's, where that has a number: quotes of its own model fit at once. */
TEST(the_start_is_the_callers) {
    shoal_heston start = models[1];
    shoal_heston_fit fit;
    make_surface(&models[1]);
    calibrate(price, NULL, &(shoal_fit_opts){ .start = &start, .iterations = 1 }, &fit, NULL);
    CHECK_MSG(fit.rms < 1e-8 && fit.iterations == 1, "rms %g", fit.rms);
    start.v0 = NAN, start.kappa *= 1.01; /* the others stay */
    calibrate(price, NULL, &(shoal_fit_opts){ .start = &start, .iterations = 3 }, &fit, NULL);
    CHECK_MSG(fit.rms < 1e-6, "rms %g", fit.rms);
}

/* The largest change of a parameter from one model to the next: relative, of rho absolute. */
static double change_of(const shoal_heston *before, const shoal_heston *after) {
    double x[FREE], y[FREE], largest = 0;
    numbers_of(before, x), numbers_of(after, y);
    for (int k = 0; k < FREE; k++)
        largest = fmax(largest, fabs(y[k] - x[k]) / (k == 4 ? 1 : fabs(x[k])));
    return largest;
}

/* The search ends with the first step whose change is below tol. Fits of fewer iterations have the models before: of the
 * step to the last but two, tol is just above the change, then just below. */
TEST(the_search_ends_by_the_relative_change) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i += 2) {
        shoal_heston_fit fit, before, after;
        make_surface(&models[i]);
        calibrate(price, NULL, NULL, &fit, NULL);
        CHECK(fit.converged && fit.iterations > 4);
        shoal_fit_opts o = { .iterations = fit.iterations - 3 };
        calibrate(price, NULL, &o, &before, NULL);
        o.iterations++;
        calibrate(price, NULL, &o, &after, NULL);
        CHECK(!before.converged && !after.converged);
        const double change = change_of(&before.model, &after.model);
        for (int above = 0; above < 2; above++) {
            calibrate(price, NULL, &(shoal_fit_opts){ .tol = change * (above ? 1.001 : 0.999) },
                      &fit, NULL);
            CHECK(fit.converged);
            CHECK_MSG((fit.iterations == after.iterations) == above,
                      "model %zu, change %g: %lld iterations, not %lld", i, change,
                      (long long)fit.iterations, (long long)after.iterations);
        }
    }
}

TEST(mistakes) {
    shoal_heston_fit fit;
    double own[QUOTES], weight[QUOTES];
    shoal_heston start = models[0], low = models[0];
    make_surface(&models[0]);
    memcpy(own, price, sizeof own);
    for (int i = 0; i < QUOTES; i++) weight[i] = 1;
#define REFUSED(word, ...)                                                                         \
    CHECK(shoal_heston_calibrate(__VA_ARGS__) == SHOAL_E_ARG);                                     \
    CHECK_MSG(strstr(shoal_message(ctx), word) != NULL, "%s", shoal_message(ctx))
    CHECK(shoal_heston_calibrate(NULL, &hundred, &quotes, 1, price, NULL, NULL, &fit, NULL) ==
          SHOAL_E_ARG);
    REFUSED("count", ctx, &hundred, &quotes, 0, price, NULL, NULL, &fit, NULL);
    REFUSED("price", ctx, &hundred, &quotes, QUOTES, NULL, NULL, NULL, &fit, NULL);
    REFUSED("fit", ctx, &hundred, &quotes, QUOTES, price, NULL, NULL, NULL, NULL);
    own[7] = 1000;
    REFUSED("price[7]", ctx, &hundred, &quotes, QUOTES, own, NULL, NULL, &fit, NULL);
    weight[3] = -1;
    REFUSED("weight[3]", ctx, &hundred, &quotes, QUOTES, price, weight, NULL, &fit, NULL);
    start.rho = -2;
    REFUSED("start.rho", ctx, &hundred, &quotes, QUOTES, price, NULL,
            &(shoal_fit_opts){ .start = &start }, &fit, NULL);
    low.kappa = 60;
    REFUSED("kappa", ctx, &hundred, &quotes, QUOTES, price, NULL, &(shoal_fit_opts){ .low = &low },
            &fit, NULL);
    REFUSED("starts", ctx, &hundred, &quotes, QUOTES, price, NULL,
            &(shoal_fit_opts){ .starts = -1 }, &fit, NULL);
    REFUSED("price_errors", ctx, &hundred, &quotes, QUOTES, price, NULL,
            &(shoal_fit_opts){ .price_errors = 2 }, &fit, NULL);
    CHECK(shoal_heston_calibrate(ctx, &hundred, &quotes, QUOTES, price, NULL,
                                 &(shoal_fit_opts){ .solver = "none" }, &fit,
                                 NULL) == SHOAL_E_METHOD);
    shoal_heston_fit stopped;
    calibrate(price, NULL, &(shoal_fit_opts){ .iterations = 1 }, &stopped, NULL);
    CHECK(!stopped.converged && stopped.iterations == 1);
}

int main(int argc, char **argv) {
    TEST_BEGIN(argc, argv);
    if (shoal_open(&(shoal_options){ .backend = "cpu", .threads = 1 }, &ctx) != SHOAL_OK) return 1;
    RUN(known_parameters_come_back);
    RUN(the_fit_is_a_minimum);
    RUN(standard_errors);
    RUN(bounds_and_fixed_parameters);
    RUN(the_start_is_the_callers);
    RUN(the_search_ends_by_the_relative_change);
    RUN(mistakes);
    shoal_close(ctx);
    return TEST_END();
}
