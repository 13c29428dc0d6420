/* SPDX-License-Identifier: Apache-2.0
 *
 * american_runs.h - American options to test with, their prices by one call, and what is refused.
 */
#ifndef SHOAL_AMERICAN_RUNS_H
#define SHOAL_AMERICAN_RUNS_H

#include <shoal/american.h>
#include "pricing_pieces.h"
#include <math.h>

static inline shoal_status price(shoal_context *ctx, const shoal_american *m, int64_t count,
                                 const shoal_american_opts *o, int64_t samples, int64_t units,
                                 shoal_price_value *values, shoal_american_fit *fits) {
    shoal_price *plan = NULL;
    shoal_status s = shoal_price_american(ctx, m, count, o, &plan);
    if (s == SHOAL_OK && fits) s = shoal_american_fits(plan, fits);
    return s == SHOAL_OK ? run_in_pieces(ctx, plan, samples, units, values) : s;
}

static inline shoal_status price_one(shoal_context *ctx, const shoal_american *m,
                                     const shoal_american_opts *o, int64_t samples,
                                     shoal_price_value *v, shoal_american_fit *fit) {
    return price(ctx, m, 1, o, samples, units_of(samples), v, fit);
}

static const double sigma_2 = 0.2, sigma_4 = 0.4, spot_36 = 36, spot_40 = 40;

static inline shoal_american put_of(const double *s0, const double *sigma) {
    return (shoal_american){
        .payoff = SHOAL_PUT, .strike = 40, .rate = 0.06, .maturity = 1, .s0 = s0, .sigma = sigma
    };
}

/* Two assets, at most 3 correlated ones are needed beside them. */
static const double even[3] = { 100, 100, 100 }, high[3] = { 110, 110, 110 };
static const double twenty[3] = { 0.2, 0.2, 0.2 }, tenth[3] = { 0.1, 0.1, 0.1 };

static inline shoal_american max_of(const double *s0) {
    return (shoal_american){ .payoff = SHOAL_MAX_CALL,
                             .strike = 100,
                             .rate = 0.05,
                             .maturity = 3,
                             .s0 = s0,
                             .sigma = twenty,
                             .dividend = tenth };
}

/* Three kinds of options on correlated assets. */
enum { KINDS = 3 };
static const double joined[9] = { 1, 0.5, 0.2, 0.5, 1, -0.3, 0.2, -0.3, 1 };
static const double shares[3] = { 0.5, 0.3, 0.2 }, spread[3] = { 0.3, 0.2, 0.25 };

static inline shoal_american kind_of(int kind) {
    shoal_american m = max_of(even);
    m.correlation = joined, m.sigma = spread;
    if (kind == 0) return m;
    m.payoff = kind == 1 ? SHOAL_BASKET_PUT : SHOAL_BASKET_CALL;
    m.weight = kind == 1 ? shares : NULL;
    return m;
}

static inline shoal_american_opts short_opts(int type) {
    return (shoal_american_opts){ .assets = 3,
                                  .dates = small ? 3 : 6,
                                  .seed = 8,
                                  .degree = 2,
                                  .fit_paths = small ? 300 : 3000,
                                  .type = type ? SHOAL_F32 : SHOAL_F64 };
}

/* One change to what is right, and the words of the message that refuses it. */
#define REFUSED(change, status, words)                                                             \
    do {                                                                                           \
        shoal_american m = put;                                                                    \
        shoal_american_opts o = one;                                                               \
        shoal_price *none = NULL;                                                                  \
        change;                                                                                    \
        CHECK_MSG(shoal_price_american(ctx, &m, 1, &o, &none) == (status) && !none, words);        \
        CHECK_MSG(strstr(shoal_message(ctx), words), "%s: %s", words, shoal_message(ctx));         \
        shoal_price_free(none);                                                                    \
    } while (0)

static inline void check_arguments(void) {
    shoal_context *ctx = targets[0].ctx;
    const double zero = 0, minus = -1, wrong[4] = { 1, 0.9, 0.8, 1 }, beyond[4] = { 1, 2, 2, 1 };
    const double apart[9] = { 1, -0.9, -0.9, -0.9, 1, -0.9, -0.9, -0.9, 1 };
    const double nearly[9] = { 1, 0.9, 0.9, 0.9, 1, 0.6, 0.9, 0.6, 1 }; /* pivot 2: -0.042 */
    const double twins[9] = { 1, 1, 0.5, 1, 1, 0.2, 0.5, 0.2, 1 }; /* the third differs on them */
    const double all_minus[2] = { -1, -1 }, hundred = 100, endless[3] = { 1, INFINITY, 1 };
    const shoal_american put = put_of(&spot_36, &sigma_2), most = max_of(even);
    const shoal_american_opts one = { .assets = 1, .dates = 2, .fit_paths = 10 };
    const shoal_american_opts three = { .assets = 3, .dates = 2, .fit_paths = 10 };
    REFUSED(m.s0 = &zero, SHOAL_E_ARG, "s0 is 0");
    REFUSED(m.s0 = NULL, SHOAL_E_ARG, "s0 is NULL");
    REFUSED(m.sigma = &minus, SHOAL_E_ARG, "sigma is -1");
    REFUSED((m = most, m.sigma = all_minus, o.assets = 2), SHOAL_E_ARG,
            "sigma[0] is -1; it must be at least 0 and at most 1000");
    REFUSED((m = most, m.s0 = &zero, o.assets = 2), SHOAL_E_ARG,
            "s0[0] is 0; it must be above 0 and at most 1e+30");
    REFUSED(m.strike = 1.1e30, SHOAL_E_ARG, "at least 0 and at most 1e+30");
    REFUSED(m.rate = -1001, SHOAL_E_ARG, "at least -1000 and at most 1000");
    REFUSED(m.maturity = 1.1e6, SHOAL_E_ARG, "at least 0 and at most 1e+06");
    REFUSED(m.strike = NAN, SHOAL_E_ARG, "strike is nan");
    REFUSED(m.rate = INFINITY, SHOAL_E_ARG, "rate is inf");
    REFUSED(m.rate = 100, SHOAL_E_ARG, "too large for maturity");
    REFUSED(m.maturity = -1, SHOAL_E_ARG, "maturity is -1");
    REFUSED(m.payoff = (shoal_payoff)9, SHOAL_E_ARG, "payoff is 9");
    REFUSED(o.assets = 2, SHOAL_E_ARG, "a put is on one asset");
    REFUSED(o.assets = 64, SHOAL_E_ARG, "assets is 64");
    REFUSED(o.dates = 0, SHOAL_E_ARG, "dates is 0");
    REFUSED(o.degree = 64, SHOAL_E_ARG, "degree is 64");
    REFUSED(o.fit_paths = -1, SHOAL_E_ARG, "fit_paths is -1");
    REFUSED(o.inner = -1, SHOAL_E_ARG, "inner is -1");
    REFUSED(o.type = (shoal_type)7, SHOAL_E_ARG, "type is 7");
    REFUSED(o.solver = "magic", SHOAL_E_METHOD, "magic");
    REFUSED((m = most, m.correlation = wrong, o.assets = 2), SHOAL_E_ARG,
            "correlation[1][0] is 0.8");
    REFUSED((m = most, m.correlation = beyond, o.assets = 2), SHOAL_E_ARG,
            "correlation[1][0] is 2");
    REFUSED((m = most, m.correlation = apart, o.assets = 3), SHOAL_E_ARG,
            "not positive semidefinite");
    REFUSED((m = most, m.correlation = nearly, o.assets = 3), SHOAL_E_ARG, "row 2 does not fit");
    REFUSED((m = most, m.correlation = twins, o.assets = 3), SHOAL_E_ARG,
            "row 2 does not fit to those before it: [1] is 0.2");
    REFUSED((m = kind_of(1), m.weight = endless, o.assets = 3), SHOAL_E_ARG, "weight[1] is inf");
    REFUSED(m.dividend = &hundred, SHOAL_E_ARG, "dividend 100");
    REFUSED(m.sigma = NULL, SHOAL_E_ARG, "sigma is NULL");
    REFUSED(m.sigma = &hundred, SHOAL_E_ARG, "sigma 100 is too large");
    REFUSED((m = kind_of(1), o.assets = 3, o.degree = 7), SHOAL_E_ARG, "degree is 7");
    REFUSED(o.control = 2, SHOAL_E_ARG, "control is 2");
    shoal_price *plan = NULL;
    CHECK(shoal_price_american(ctx, NULL, 1, &one, &plan) == SHOAL_E_ARG && !plan);
    CHECK(shoal_price_american(ctx, &put, 1, NULL, &plan) == SHOAL_E_ARG && !plan);
    CHECK(shoal_price_american(ctx, &put, 1, &one, NULL) == SHOAL_E_ARG);
    const shoal_american mixed[2] = { most, kind_of(1) };
    CHECK(shoal_price_american(ctx, mixed, 2, &three, &plan) == SHOAL_E_ARG);
    CHECK(strstr(shoal_message(ctx), "options[1]") != NULL);
}

#endif
