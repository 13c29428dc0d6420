/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.h - option prices by Monte Carlo, with standard errors, and by deterministic methods.
 *
 *     shoal_heston model = shoal_heston_example();
 *     double strike = 1, maturity = 1;
 *     shoal_price_opts opts = { .method = "conditional", .seed = 42, .steps = 64, .strikes = 1,
 *                               .strike = &strike, .maturities = 1, .maturity = &maturity };
 *     shoal_price_goal goal = { .paths = 1000000 };
 *     shoal_price_value value; // price, error, implied volatility
 *     shoal_heston_value(ctx, &model, &opts, &goal, &value);
 *
 * That creates a plan, simulates, and frees the plan. To simulate in pieces, create a plan:
 *
 *     shoal_price *plan;
 *     shoal_price_heston(ctx, &model, &opts, &plan);
 *     shoal_price_run(plan, 0, 1000000, sums);          // never allocates or waits
 *     shoal_copy(ctx, host, sums, bytes);               // shoal_price_sums(plan, 1000000) doubles
 *     shoal_price_add(plan, host, 1000000, total);      // total: 2 shoal_price_width(plan) doubles
 *     shoal_price_result(plan, total, 1000000, &value);
 *     shoal_price_free(plan);
 *
 * Sample i has the same path on every device and in every run with the same seed. A unit of
 * SHOAL_PRICE_UNIT samples has its own sums, computed in a fixed order. shoal_price_add() adds units in
 * the order of its calls. Added by number, they give bit-identical results for any number of threads,
 * runs and machines, and with SHOAL_EXACT in f64 on CPU and GPU.
 *
 * "As printed" refers to L. Abbas-Turki, "Projects: Merge Sort, Monte Carlo and PDE simulations",
 * project sheet of a course, December 2024, unpublished: sections 1 (Heston), 2 (expou), 3 and 6
 * (bullet).
 */
#ifndef SHOAL_PRICING_H
#define SHOAL_PRICING_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_PRICE_UNIT  65536  /* samples per unit, see above        */
#define SHOAL_PRICE_PATHS 262144 /* that the program and the Python package simulate by default */
#define SHOAL_PRICE_MOST  (1LL << 40) /* samples of a plan                  */

/* dS = (rate - dividend) S dt + sqrt(v) S dZ,  dv = kappa (theta - v) dt + sigma sqrt(v) dW. The
 * correlation of Z and W is rho. v0 and theta are variances. */
typedef struct shoal_heston {
    double s0, rate, dividend;
    double v0, kappa, theta, sigma, rho;
} shoal_heston;

/* s0 = 1, v0 = theta = 0.1, kappa = 0.5, sigma = 0.3, rho = -0.7, no rates. */
SHOAL_API shoal_heston shoal_heston_example(void);

/* dS = rate S dt + e^Y S dW,  dY = alpha (m - Y) dt + beta dV. The correlation of V and W is rho. e^m is
 * the long-run volatility, e^y0 today's. */
typedef struct shoal_expou {
    double s0, rate;
    double alpha, m, beta, y0, rho;
} shoal_expou;

/* s0 = 1, alpha = 1, m = 0.1, beta = 0.1, y0 = log 0.1, rho = 0, no rate. */
SHOAL_API shoal_expou shoal_expou_example(void);

/* beta for a stationary variance nu2 of Y: sqrt(2 alpha nu2). As printed (section 2): that times
 * 1 - e^m, which is negative for m > 0. */
SHOAL_API double shoal_expou_beta(double alpha, double m, double nu2, int as_printed);
/* 0 if the variance of S_T is infinite: the standard error of a call by euler is then not reliable. For
 * beta > 0 the variance is finite if rho < 0 and rho^2 > 1/2. */
SHOAL_API int shoal_expou_has_variance(const shoal_expou *model, int put);

/* A bullet option pays (S_T - strike)+ if S is below the barrier on p1 to p2 of the dates;
 * dS = rate S dt + sigma S dW. `count` selects the dates that count: of T_i = i T / M
 *
 *     A  i = 1 .. M    B  i = 0 .. M - 1    C  i = 1 .. M - 1    D  i = 0 .. M
 *
 * and of T_i = i T / (M + 1)
 *
 *     E  i = 1 .. M    F  i = 0 .. M. */
typedef struct shoal_bullet {
    double s0, strike, rate, maturity, sigma, barrier;
    int64_t dates, p1, p2; /* M, and the counts that pay */
    char count;            /* 'A' to 'F'                 */
} shoal_bullet;

/* s0 = strike = 100, rate = 0.1, maturity = 1, sigma = 0.2, barrier = 120, 100 dates, p1 = 10, p2 = 50,
 * count A. */
SHOAL_API shoal_bullet shoal_bullet_example(void);

/* The place of a value: at T_k, with S = x and j dates counted. If date 0 does not count (A, C, E), j
 * includes T_k; otherwise (B, D, F) it does not. */
typedef struct shoal_bullet_point {
    int64_t k, j;
    double x;
} shoal_bullet_point;

typedef struct shoal_price shoal_price; /* a plan; contents private */

/* Methods of "heston" (docs/pricing.md):
 *
 *     euler        full plus abs    Euler's scheme; the variant treats a negative variance
 *     exact        poisson normal   exact steps of the variance, trapezoids for its integral
 *     conditional  poisson normal   the same, and Black-Scholes given the variance path
 *     analytic                      the semi-closed form; no sampling error
 *     qe                            Andersen's quadratic-exponential scheme, with the right mean of S
 */
/* Methods of "expou":
 *
 *     euler        Euler's scheme
 *     conditional  exact steps of Y, and Black-Scholes given its path
 *
 * Methods of "bullet":
 *
 *     mc      Monte Carlo at one point, or at (0, s0, 0)
 *     grid    at many points, each with its own paths, in one run
 *     nested  at the points of outer trajectories, which shoal_price_points() returns
 *     quad    by quadrature, to 1e-9; no sampling error
 *     pde     pcr thomas: Crank-Nicolson, second order in nx
 */
typedef struct shoal_price_opts {
    const char *method;  /* shoal_methods("heston", i), shoal_methods("bullet", i)    [auto] */
    const char *variant; /* shoal_variants("heston", method, i), ...             [the first] */
    shoal_type type;     /* of Euler and bullet paths, and of the grid of pde    [SHOAL_F64] */
    shoal_math math;     /* SHOAL_FAST: paths in f32 on a GPU                  [SHOAL_EXACT] */
    uint64_t seed;
    int64_t steps;               /* of heston and expou, to the last maturity  [by their bias:
                                    docs/pricing.md]                                        */
    int put;                     /* 1: puts; heston and expou                         [call] */
    int antithetic;              /* 1: a sample is the mean of a path and its mirror image  */
    int control;                 /* 1: S_T is a control variate, -1: it is not  [conditional: 1,
                                    others: -1]; 1 is SHOAL_E_ARG for expou with rho > 0: the
                                    mean of S_T is not known                                */
    int greeks;                  /* 1: delta, gamma, vega as well                           */
    double bump;                 /* relative change of S, up and down, for delta and gamma by
                                    paths [by the deviation of log S_T: docs/pricing.md]    */
    int probability;             /* 1: probability that the count pays instead of the price;
                                    bullet options, not pde                                 */
    int64_t nx;                  /* of pde, as in shoal_pde_opts                     [1025] */
    int64_t steps_per_date;      /* ...                               [10, at least 500 / M] */
    int as_printed;              /* ...                                                 [0] */
    int64_t strikes, maturities; /* of heston and expou: every strike at every maturity     */
    const double *strike;        /* at least 0                                              */
    const double *maturity;      /* at least 0, ascending                                   */
} shoal_price_opts;

typedef struct shoal_price_value { /* one strike, one maturity; errors are standard errors  */
    double price, error;
    double implied_vol; /* Black-Scholes; NaN if no volatility has that price               */
    double delta, delta_error, gamma, gamma_error; /* NaN without .greeks                   */
    double vega, vega_error; /* with respect to the volatility of today: sqrt(v0), e^y0     */
    double bias;             /* bound of the discretisation error (docs/pricing.md); 0: none    */
    double bound;            /* above 0: no path paid, so 0 +- 0 is no estimate; the value is below
                                this with 95 % confidence                                   */
} shoal_price_value;

typedef struct shoal_price_info {
    const char *method, *variant; /* "" if it has none                                      */
    int deterministic;            /* no paths: run and add do nothing                       */
    int control;                  /* a control variate is used                              */
    int parity;                   /* calls of some maturity are simulated as puts, because the
                                     variance of log S_T exceeds 1 and parity holds          */
    int64_t contracts;            /* values of a result                                     */
    int64_t steps;                /* of a path; of bullet options, of the paths of all points */
    int64_t paths_each;           /* paths of a sample: 2 if antithetic; greeks take more    */
    int64_t walks;                /* paths simulated for a sample, those of vega included    */
    size_t bytes;                 /* memory held by the plan                                */
} shoal_price_info;

/* The message of SHOAL_E_ARG names the invalid parameter, that of SHOAL_E_METHOD the unknown word. On
 * error *plan is NULL. Strikes and maturities are copied. */
SHOAL_API shoal_status shoal_price_heston(shoal_context *ctx, const shoal_heston *model,
                                          const shoal_price_opts *opts, shoal_price **plan);
SHOAL_API shoal_status shoal_price_expou(shoal_context *ctx, const shoal_expou *model,
                                         const shoal_price_opts *opts, shoal_price **plan);
/* The same for a bullet option. Steps, strikes, maturities and put are not used: the dates determine the
 * steps. There is no vega. `points` are `count` points; NULL with count 1 means (0, s0, 0). For nested,
 * points is NULL and count is the number of outer trajectories, with one point per date from T_0 to T. */
SHOAL_API shoal_status shoal_price_bullet(shoal_context *ctx, const shoal_bullet *model,
                                          const shoal_price_opts *opts,
                                          const shoal_bullet_point *points, int64_t count,
                                          shoal_price **plan);
SHOAL_API void shoal_price_free(shoal_price *plan);
/* The shoal_price_info.contracts points of a plan of bullet options; NULL for other plans. */
SHOAL_API const shoal_bullet_point *shoal_price_points(const shoal_price *plan);
SHOAL_API shoal_status shoal_price_describe(const shoal_price *plan, shoal_price_info *info);

/* Number of doubles in the sums of a unit, and of `samples` samples rounded up to whole units. */
SHOAL_API int64_t shoal_price_width(const shoal_price *plan);
SHOAL_API int64_t shoal_price_sums(const shoal_price *plan, int64_t samples);

/* Simulates samples first .. first + samples - 1; first is a multiple of SHOAL_PRICE_UNIT. The sums
 * go into an array in the context's memory. Asynchronous on CUDA. */
SHOAL_API shoal_status shoal_price_run(shoal_price *plan, int64_t first, int64_t samples,
                                       double *sums);

/* Adds sums, on the host, to a total of 2 shoal_price_width() doubles, on the host, zero at first. */
SHOAL_API shoal_status shoal_price_add(const shoal_price *plan, const double *sums, int64_t samples,
                                       double *total);

/* The values from the total of `samples` samples: values[maturity * strikes + strike], or values[point].
 * Standard errors are NaN for fewer than two samples. */
SHOAL_API shoal_status shoal_price_result(const shoal_price *plan, const double *total,
                                          int64_t samples, shoal_price_value *values);

/* ---- complete simulations ----------------------------------------------------------------------- */

/* The progress of a simulation. */
typedef struct shoal_price_progress {
    int64_t first, samples; /* the first sample, and their number so far                        */
    int64_t expected;       /* estimated number in total                                        */
    int64_t unpaid;         /* values for which no path has paid so far: 0 +- 0 is no estimate,
                               and shoal_price_value.bound is above 0                           */
    double seconds;         /* of simulation so far                                             */
    int64_t units;          /* of the last round, and their sums: [units][shoal_price_width()]  */
    const double *sums;
    const shoal_price_value *values; /* of all samples; NULL if they were not computed          */
} shoal_price_progress;

typedef struct shoal_price_goal { /* zero = default */
    int64_t paths;       /* to simulate: required without a target                        */
    double target;       /* above 0: simulate until no standard error exceeds it. If no path
                            pays, the bound of the value counts instead, for up to 2^22
                            paths                                                         */
    int64_t part, parts; /* only part 1, 2, ... of `parts`; not with a target       [all] */
    /* NULL, or called after every round; a result other than 0 ends the simulation. For a progress bar
     * or Ctrl-C use shoal_set_progress() */
    int (*on_round)(const shoal_price_progress *now, void *user);
    void *user;
} shoal_price_goal;

/* Simulates up to the goal. values are as in shoal_price_result(), NaN without samples. done (or NULL)
 * receives the final progress. The number of samples and every bit of the values depend only on plan and
 * goal, not on the clock or the number of threads. After
 * SHOAL_E_CANCELLED values and *done are those of the complete rounds. Allocates and waits. */
SHOAL_API shoal_status shoal_price_simulate(shoal_price *plan, const shoal_price_goal *goal,
                                            shoal_price_value *values, shoal_price_progress *done);

/* The same in one call, without a plan: values[maturity * strikes + strike], or values[point]. american.h
 * has shoal_american_value(). */
SHOAL_API shoal_status shoal_heston_value(shoal_context *ctx, const shoal_heston *model,
                                          const shoal_price_opts *opts,
                                          const shoal_price_goal *goal, shoal_price_value *values);
SHOAL_API shoal_status shoal_expou_value(shoal_context *ctx, const shoal_expou *model,
                                         const shoal_price_opts *opts, const shoal_price_goal *goal,
                                         shoal_price_value *values);
SHOAL_API shoal_status shoal_bullet_value(shoal_context *ctx, const shoal_bullet *model,
                                          const shoal_price_opts *opts,
                                          const shoal_bullet_point *points, int64_t count,
                                          const shoal_price_goal *goal, shoal_price_value *values);

/* ---- Heston's formula for many options, its gradients, and calibration ----------------------------- */

/* European options: arrays of one number per option, in host memory. Those with equal maturities share most
 * of the work. */
typedef struct shoal_heston_options {
    const double *strike, *maturity;
    const double *rate, *dividend; /* to the maturity of the option; NULL: those of the model */
    const int32_t *put;            /* 1: a put, 0: a call; NULL: calls                        */
} shoal_heston_options;

/* Prices by the formula of "analytic". gradient (or NULL) receives their derivatives: gradient[i].kappa is
 * d price[i] / d kappa, and so on; s0 is delta, rate and dividend are the derivatives by those of the option.
 * SHOAL_E_ARG if an integral does not converge. Without variance (v0 = kappa theta = 0) derivatives by the
 * parameters of the variance are NaN. */
SHOAL_API shoal_status shoal_heston_prices(shoal_context *ctx, const shoal_heston *model,
                                           const shoal_heston_options *options, int64_t count,
                                           double *price, shoal_heston *gradient);

/* start: v0, kappa, theta, sigma, rho to begin with; NaN: from the quotes. low, high: bounds of them; NaN:
 * 1e-6 to 4, 1e-3 to 50, 1e-6 to 4, 1e-3 to 5, -0.999 to 0.999; equal bounds fix a parameter. The three
 * may be NULL. */
typedef struct shoal_fit_opts { /* zero = default */
    const shoal_heston *start, *low, *high;
    int64_t starts;     /* the start, and others around it                                    [1] */
    int64_t iterations; /* of a start, at most                                              [100] */
    int price_errors;   /* 1: an error is one of the price; 0: of the volatility, to first order:
                           that of the price over Black's vega                                [0] */
    double tol;         /* relative change of all parameters in the last step              [1e-8] */
    const char *solver; /* of the normal equations: "auto" or shoal_methods("smallsym", i) [auto] */
} shoal_fit_opts;

typedef struct shoal_heston_fit {
    shoal_heston model;  /* the best; s0, rate and dividend as given                            */
    shoal_heston error;  /* standard errors; NaN: fixed, at a bound, or not determined          */
    double objective;    /* the sum of (weight times error)^2                                   */
    double rms, largest; /* of the errors without weights; those of volatilities are exact here */
    double condition;    /* of the normal equations with unit diagonal: far above 1e6, parameters
                               compensate each other, and their errors say little                  */
    double feller;       /* 2 kappa theta / sigma^2: below 1 the variance reaches 0             */
    int32_t converged;   /* 0: stopped at opts.iterations                                       */
    int32_t at_bound;   /* bits of parameters at a bound: 1 v0, 2 kappa, 4 theta, 8 sigma, 16 rho */
    int64_t iterations; /* of the best start                                                   */
    int64_t evaluations; /* of all starts: prices and gradients of all quotes                   */
    int64_t agree;       /* starts that end at this model                                       */
} shoal_heston_fit;

/* Fits v0, kappa, theta, sigma and rho to `count` prices by the method of Levenberg and Marquardt, with
 * bounds, from several starts together: their normal equations are one batch of "smallsym". model: s0, rate
 * and dividend. weight (or NULL: 1) has one number per quote, at least 0. opts may be NULL. fitted (or NULL)
 * receives the prices of the fit. SHOAL_E_ARG names a quote without an implied volatility unless
 * price_errors is 1. */
SHOAL_API shoal_status shoal_heston_calibrate(shoal_context *ctx, const shoal_heston *model,
                                              const shoal_heston_options *quotes, int64_t count,
                                              const double *price, const double *weight,
                                              const shoal_fit_opts *opts, shoal_heston_fit *fit,
                                              double *fitted);

/* ---- bullet options by partial differential equation: many at once, and whole surfaces ------------ */

typedef struct shoal_pde shoal_pde; /* a plan; contents private */

typedef struct shoal_pde_opts {
    const char *variant;    /* tridiagonal solver: pcr, thomas                          [pcr] */
    shoal_type type;        /* of the grid                                        [SHOAL_F64] */
    int64_t nx;             /* grid points in log S, ends included: 5 to 8192          [1025] */
    int64_t steps_per_date; /* time steps between dates          [10, at least 500 in all] */
    int as_printed; /* 1: boundary, jump and steps as in section 6, for comparison         */
} shoal_pde_opts;

/* A plan for `count` options with the same number of dates and the same `count` letter. log S runs from
 * log(K/w) to log(K w); w is 3, or more if the barrier is close to 3 K. SHOAL_E_ARG if K, sigma or the
 * maturity is 0. */
SHOAL_API shoal_status shoal_pde_create(shoal_context *ctx, const shoal_bullet *options,
                                        int64_t count, const shoal_pde_opts *opts,
                                        shoal_pde **plan);
SHOAL_API void shoal_pde_free(shoal_pde *plan);

/* The shape of the results: [counts][nx] per option and date; dates are 0 .. dates. */
typedef struct shoal_pde_shape {
    int64_t options, dates, counts, nx;
} shoal_pde_shape;
SHOAL_API shoal_status shoal_pde_describe(const shoal_pde *plan, shoal_pde_shape *shape);
/* log S of grid line i of an option. */
SHOAL_API double shoal_pde_log(const shoal_pde *plan, int64_t option, int64_t i);

/* Solves all options. today (or NULL) receives [options][counts][nx] undiscounted values at T_0. surface
 * (or NULL) receives [options][dates + 1][counts][nx], e^(r (T - T_k)) F(T_k, e^x, j) for all dates; j
 * includes T_k. Both are in the context's memory and double (..._runf: float). Neither allocates nor
 * waits. */
SHOAL_API shoal_status shoal_pde_run(shoal_pde *plan, double *today, double *surface);
SHOAL_API shoal_status shoal_pde_runf(shoal_pde *plan, float *today, float *surface);

/* Price, delta and gamma at a point from the option's values [counts][nx] at that date, on the host. j
 * includes T_k. NaN if x is off the grid. */
SHOAL_API shoal_status shoal_pde_value(const shoal_pde *plan, int64_t option,
                                       const shoal_bullet_point *at, const double *values,
                                       shoal_price_value *value);

/* Black's formula: the undiscounted value of a call or put on a lognormal S with mean `forward`, whose
 * logarithm has the given standard deviation. The inverse returns the deviation for a value, or NaN if
 * there is none. */
SHOAL_API double shoal_black(double forward, double strike, double deviation, int put);
SHOAL_API double shoal_black_deviation(double forward, double strike, double value, int put);

#ifdef __cplusplus
}
#endif
#endif
