/* SPDX-License-Identifier: Apache-2.0
 *
 * american.h - American options, as Bermudan ones with many dates, by the regressions of Longstaff and
 * Schwartz on assets of Black and Scholes.
 *
 *     double s0 = 36, sigma = 0.2;
 *     shoal_american option = { .payoff = SHOAL_PUT, .strike = 40, .rate = 0.06, .maturity = 1,
 *                               .s0 = &s0, .sigma = &sigma };
 *     shoal_american_opts opts = { .assets = 1, .dates = 50, .seed = 42 };
 *     shoal_price_goal goal = { .paths = 1000000 };
 *     shoal_price_value value;
 *     shoal_american_value(ctx, &option, 1, &opts, &goal, &value);
 *
 * This fits an exercise rule and prices it on new paths. Its value there is at most the price of the
 * option, up to the standard error. shoal_price_american() returns the plan, a shoal_price: see
 * pricing.h for simulate, run, add and result.
 */
#ifndef SHOAL_AMERICAN_H
#define SHOAL_AMERICAN_H

#include <shoal/pricing.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_AMERICAN_ASSETS 63 /* maximum per option                 */
#define SHOAL_AMERICAN_BASIS  64 /* maximum functions per regression   */

/* What exercise pays, if it is above 0; B is the sum of weight S over the assets. */
typedef enum shoal_payoff {
    SHOAL_PUT,        /* strike - S, of one asset */
    SHOAL_CALL,       /* S - strike, of one asset */
    SHOAL_MAX_CALL,   /* max S - strike           */
    SHOAL_BASKET_PUT, /* strike - B               */
    SHOAL_BASKET_CALL /* B - strike               */
} shoal_payoff;

/* Each asset is dS = (rate - dividend) S dt + sigma S dW; arrays have one number per asset. */
typedef struct shoal_american {
    shoal_payoff payoff;
    double strike, rate, maturity;
    const double *s0, *sigma;
    const double *dividend;    /* NULL: 0                                               */
    const double *weight;      /* of baskets; NULL: one over the number of assets       */
    const double *correlation; /* of the W, assets x assets; NULL: they are independent */
} shoal_american;

typedef struct shoal_american_opts { /* sizes are required; zero elsewhere = default */
    int64_t assets;                  /* of every option: 1 to 63                                 */
    int64_t dates;                   /* of exercise: i maturity / dates, i = 1 .. dates          */
    int64_t degree;                  /* of the polynomials in the prices; a max-call also uses its
                                        payoff           [3; less if that is more than 64 functions] */
    int raw;                         /* 1: polynomials of the prices themselves, neither centred nor
                                        scaled                                               [0] */
    int64_t fit_paths;               /* paths that the rule is fitted on                 [65536] */
    const char *solver;              /* of the regressions: "auto" or shoal_methods("smallsym", i)
                                                                                          [auto] */
    double cond;                     /* condition number beyond which the regressions discard
                                        eigenvalues, as in shoal_smallsym_opts                   */
    shoal_type type;                 /* of paths and regressions                     [SHOAL_F64] */
    uint64_t seed;                   /* of all paths                                             */
    int control;                     /* 1: the assets at exercise, whose discounted means are known,
                                        are a control variate, and the regressed cash flows are
                                        hedged; -1: neither                                  [1] */
    int64_t inner;                   /* above 0: the upper bound of Andersen and Broadie, method
                                        "dual", with this many inner paths per date, rounded up
                                        to a multiple of 256                            [0: lsm] */
} shoal_american_opts;

/* The outcomes of the regressions of an option, one at each date except the last. If no path was in the
 * money, or the system has no answer, the rule is not to exercise. */
typedef struct shoal_american_fit {
    double price, error; /* of the rule on the paths that it was fitted on: biased               */
    int64_t systems;
    int64_t empty;     /* no path was in the money                                               */
    int64_t warned;    /* answered, but ill-conditioned or inaccurate                            */
    int64_t truncated; /* singular, or nearly so: answered without its smallest eigenvalues      */
    int64_t refined;   /* answered after refinement                                              */
    int64_t failed;    /* no answer                                                              */
} shoal_american_fit;

/* A plan for `count` options with the same number of assets and dates, whose regressions are one batch
 * at each date; an option's values do not depend on the others. SHOAL_E_ARG names the parameter that is
 * not allowed, SHOAL_E_METHOD the solver. Arrays are copied. This function fits the rules, and waits. */
SHOAL_API shoal_status shoal_price_american(shoal_context *ctx, const shoal_american *options,
                                            int64_t count, const shoal_american_opts *opts,
                                            shoal_price **plan);
/* The values of the options in one call, with a temporary plan. */
SHOAL_API shoal_status shoal_american_value(shoal_context *ctx, const shoal_american *options,
                                            int64_t count, const shoal_american_opts *opts,
                                            const shoal_price_goal *goal,
                                            shoal_price_value *values);
/* fits[option]; SHOAL_E_ARG for plans of other models. */
SHOAL_API shoal_status shoal_american_fits(const shoal_price *plan, shoal_american_fit *fits);
/* The method by default: lsm for several assets, other payoffs than puts and calls, or if an option of simulations is
 * given; else pde with exercise dates, cash dividends or curves (`dated`), and exact without. */
SHOAL_API const char *shoal_american_method(shoal_payoff payoff, int64_t assets, int simulated,
                                            int dated);
#define SHOAL_AMERICAN_DATES                                                                       \
    50 /* exercise dates of lsm in the program and the Python package, by default */
/* Number of basis functions for this many assets; degree 0: the default. */
SHOAL_API int64_t shoal_american_functions(int64_t assets, int64_t degree, shoal_payoff payoff);

/* ---- puts and calls on one asset, exactly --------------------------------------------------------- */

/* Arrays of one number per option, in host memory. Exercise is possible at any time. */
typedef struct shoal_vanilla {
    const double *s0, *strike, *rate, *sigma, *maturity;
    const double *dividend; /* NULL: 0                  */
    const int32_t *call;    /* 1: a call, 0: a put; NULL: puts */
} shoal_vanilla;

typedef struct shoal_vanilla_opts { /* zero = default; NULL: all defaults                  */
    int64_t nodes;                  /* points of the exercise boundary, 4 to 32; the errors are
                                       in docs/pricing.md                              [12] */
    int european;                   /* 1: exercise at maturity only                     [0] */
} shoal_vanilla_opts;

#define SHOAL_VANILLA_LARGE 1e30 /* largest s0 and strike; the smallest are 1 / this */

/* The result for an option. Unless it is SHOAL_VANILLA_OK, its results are NaN. */
typedef enum shoal_vanilla_status {
    SHOAL_VANILLA_OK,
    SHOAL_VANILLA_INVALID, /* not finite, negative, too large, or (|rate| + |dividend| + sigma^2) maturity > 60 */
    SHOAL_VANILLA_TWO_BOUNDARIES, /* a put with dividend < rate < 0, a call with rate < dividend < 0 */
    SHOAL_VANILLA_UNSETTLED, /* Newton's method did not converge                              */
    SHOAL_VANILLA_TOO_LOW,   /* the price is too low: no volatility gives it, or more than one */
    SHOAL_VANILLA_TOO_HIGH   /* the price is too high: no volatility gives it                 */
} shoal_vanilla_status;

/* Arrays of `count` numbers in host memory; NULL: not computed. Without Greeks it takes about two thirds of
 * the time. theta is by calendar time, per year. The boundary is the price of the asset at which exercise is
 * optimal today: 0 for a put, infinity for a call that is never exercised early. */
typedef struct shoal_vanilla_values {
    double *price, *delta, *gamma, *vega, *theta, *rho, *boundary;
} shoal_vanilla_values;

/* The values of `count` options by the integral equation of the exercise boundary. status (or NULL) receives a
 * shoal_vanilla_status per option. */
SHOAL_API shoal_status shoal_vanilla_value(shoal_context *ctx, const shoal_vanilla *options,
                                           int64_t count, const shoal_vanilla_opts *opts,
                                           const shoal_vanilla_values *values, int32_t *status);
/* The volatilities that give these prices; options->sigma is not used. */
SHOAL_API shoal_status shoal_vanilla_implied(shoal_context *ctx, const shoal_vanilla *options,
                                             int64_t count, const shoal_vanilla_opts *opts,
                                             const double *price, double *sigma, int32_t *status);

/* ---- the same with exercise dates, cash dividends and curves, by finite differences ---------------- */

/* A term structure: value[i] is the mean of a rate from today to time[i]. Its integral, value[i] time[i], is
 * interpolated linearly between these times and continued beyond the last. So the forward rate is piecewise
 * constant. */
typedef struct shoal_curve {
    int64_t count;      /* of points; 0: no curve       */
    const double *time; /* years, ascending and above 0 */
    const double *value;
} shoal_curve;

#define SHOAL_VANILLA_PDE_NODES 801
typedef struct shoal_vanilla_pde_opts { /* zero = default; NULL: all defaults               */
    int64_t dates;                /* above 0: exercise at i maturity / dates, i = 1 .. dates      */
    int64_t exercises;            /* above 0: exercise at these times and at maturity; those after
                               an option's maturity do not count. Neither: at any time      */
    const double *exercise;       /* years, ascending and above 0                                 */
    shoal_curve rates, dividends; /* instead of the rate and the dividend of every option   */
    shoal_curve sigmas;           /* instead of sigma: volatilities of options with these
                               maturities; sigma^2 time must not fall                       */
    shoal_curve cash;             /* cash dividends: value[i] is paid at time[i] by the asset     */
    int64_t nodes;                /* of the grid, 41 to 6401            [SHOAL_VANILLA_PDE_NODES] */
    int64_t steps;                /* time steps to maturity, 8 to 65536; 8 at least between dates
                                                                                      [400] */
} shoal_vanilla_pde_opts;

/* The values of `count` options; the boundary is not computed and becomes NaN. A price is extrapolated from this grid
 * and one with half the nodes and steps; its error (or NULL) is estimated from these and a third one. vega and rho are
 * derivatives in shifts of the whole curve. Cash dividends follow the escrowed model of cva.h: sigma is the volatility
 * of the price without the value of all later dividends. Exercise at a dividend's date is after it is paid. More
 * options are SHOAL_VANILLA_INVALID than without a grid: sigma sqrt(maturity) below 1e-4 or below a 30th of (|rate| +
 * |dividend|) maturity; dividends worth more than the asset or the strike. Exercise at any time is
 * SHOAL_VANILLA_TWO_BOUNDARIES also where a curve or cash dividends meet negative dividend yields. */
SHOAL_API shoal_status shoal_vanilla_pde(shoal_context *ctx, const shoal_vanilla *options,
                                         int64_t count, const shoal_vanilla_pde_opts *opts,
                                         const shoal_vanilla_values *values, double *error,
                                         int32_t *status);

#ifdef __cplusplus
}
#endif
#endif
