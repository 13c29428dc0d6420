/* SPDX-License-Identifier: Apache-2.0
 *
 * pricing.h - prices of options by Monte Carlo and by formula, with their standard errors.
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
 * A path is a number: sample i has the same path on every device, in every run of the same seed.
 * Samples come in units of SHOAL_PRICE_UNIT. Each unit has sums of its own, added in a fixed order;
 * shoal_price_add() adds units in the order of its calls. Units added in the order of their numbers
 * give the same bits for any number of threads, runs and machines: in f64 with SHOAL_EXACT on CPU and
 * GPU alike.
 *
 * "As printed" is as in L. Abbas-Turki, "Projects: Merge Sort, Monte Carlo and PDE simulations",
 * project sheet of a course, December 2024, unpublished: sections 1 (Heston), 2 (expou), 3 and 6
 * (bullet).
 */
#ifndef SHOAL_PRICING_H
#define SHOAL_PRICING_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_PRICE_UNIT 65536       /* samples that are added up together */
#define SHOAL_PRICE_MOST (1LL << 40) /* samples of a plan                  */

/* dS = (rate - dividend) S dt + sqrt(v) S dZ,  dv = kappa (theta - v) dt + sigma sqrt(v) dW, the
 * correlation of Z and W is rho. v0 and theta are variances. */
typedef struct shoal_heston {
    double s0, rate, dividend;
    double v0, kappa, theta, sigma, rho;
} shoal_heston;

/* s0 = 1, v0 = theta = 0.1, kappa = 0.5, sigma = 0.3, rho = -0.7, no rates. */
SHOAL_API shoal_heston shoal_heston_example(void);

/* dS = rate S dt + e^Y S dW,  dY = alpha (m - Y) dt + beta dV, the correlation of V and W is rho. e^m is
 * the long-run volatility, e^y0 that of today. */
typedef struct shoal_expou {
    double s0, rate;
    double alpha, m, beta, y0, rho;
} shoal_expou;

/* s0 = 1, alpha = 1, m = 0.1, beta = 0.1, y0 = log 0.1, rho = 0, no rate. */
SHOAL_API shoal_expou shoal_expou_example(void);

/* beta for a stationary variance nu2 of Y: sqrt(2 alpha nu2), or, as printed (section 2), that times
 * 1 - e^m, which is negative for m > 0. */
SHOAL_API double shoal_expou_beta(double alpha, double m, double nu2, int as_printed);
/* 0 if the variance of S_T is infinite: then the standard errors of a call by euler mean nothing. For
 * beta > 0 it is finite if rho < 0 and rho^2 > 1/2. */
SHOAL_API int shoal_expou_has_variance(const shoal_expou *model, int put);

/* A bullet option pays (S_T - strike)+ if the number of dates at which S was below the barrier is from
 * p1 to p2; dS = rate S dt + sigma S dW. `count` selects the dates that count: of T_i = i T / M
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
 *     euler        full plus abs    Euler's scheme, and what it does with a negative variance
 *     exact        poisson normal   exact steps of the variance, trapezoids for its integral
 *     conditional  poisson normal   the same, and Black and Scholes given the variance path
 *     analytic                      the semi-closed form; no paths, no error
 */
/* Methods of "expou":
 *
 *     euler        Euler's scheme
 *     conditional  exact steps of Y, and Black and Scholes given its path
 *
 * Methods of "bullet":
 *
 *     mc      Monte Carlo at one point, or at (0, s0, 0)
 *     grid    at many points, each with its own paths, in one run
 *     nested  the points are those of outer trajectories: shoal_price_points() returns them
 *     quad    by quadrature, good to 1e-9; no paths, no error
 *     pde     pcr thomas: Crank and Nicolson, of second order in nx
 */
typedef struct shoal_price_opts {
    const char *method;  /* shoal_methods("heston", i), shoal_methods("bullet", i)    [auto] */
    const char *variant; /* shoal_variants("heston", method, i), ...             [the first] */
    shoal_type type;     /* of paths, but for exact steps, and of the grid of pde [SHOAL_F64] */
    shoal_math math;     /* SHOAL_FAST: paths in f32 on a GPU                  [SHOAL_EXACT] */
    uint64_t seed;
    int64_t steps;               /* of heston and expou, to the last maturity  [as many as keep
                                    the bias small: docs/pricing.md]                        */
    int put;                     /* 1: puts; of Heston's model                        [call] */
    int antithetic;              /* 1: a sample is the mean of a path and its mirror image  */
    int control;                 /* 1, -1: use S_T, of known mean, as a control variate, or not
                                    [conditional: use it; else not]; SHOAL_E_ARG for expou with
                                    rho > 0: the mean is not known                          */
    int greeks;                  /* 1: delta, gamma, vega as well                           */
    double bump;                 /* of S, relative, up and down for delta and gamma by paths [a
                                    share of the deviation of log S_T: docs/pricing.md]     */
    int probability;             /* 1: the probability that the count pays, instead of the
                                    price; bullet options, not by pde                       */
    int64_t nx;                  /* of pde, as in shoal_pde_opts                     [1025] */
    int64_t steps_per_date;      /* ...                               [10, at least 500 / M] */
    int as_printed;              /* ...                                                 [0] */
    int64_t strikes, maturities; /* of Heston's model: every strike at every maturity       */
    const double *strike;        /* at least 0                                              */
    const double *maturity;      /* at least 0, ascending                                   */
} shoal_price_opts;

typedef struct shoal_price_value { /* one strike, one maturity; errors are standard errors  */
    double price, error;
    double implied_vol; /* of Black and Scholes; NaN if no volatility has that price        */
    double delta, delta_error, gamma, gamma_error; /* NaN without .greeks                   */
    double vega, vega_error; /* with respect to the volatility of today: sqrt(v0), e^y0     */
    double bias;             /* bound of the price's discretisation error, docs/pricing.md; 0: the
                                steps have none                                             */
    double bound;            /* above 0: no path paid, 0 +- 0 is no estimate, and with a confidence
                                of 95 % what was simulated is worth less than this          */
} shoal_price_value;

typedef struct shoal_price_info {
    const char *method, *variant; /* "" if it has none                                      */
    int deterministic;            /* no paths: run and add do nothing                       */
    int control;                  /* a control variate is used                              */
    int parity;                   /* calls of some maturity are simulated as puts: the variance
                                     of log S_T is above 1 and parity holds                  */
    int64_t contracts;            /* values of a result                                     */
    int64_t steps;                /* of a path; of bullet options, of the paths of all points */
    int64_t paths_each;           /* paths of a sample: 2 if antithetic; greeks take more    */
    int64_t walks;                /* paths simulated for a sample, those of vega included    */
    size_t bytes;                 /* memory held by the plan                                */
} shoal_price_info;

/* SHOAL_E_ARG names the parameter that is not allowed, SHOAL_E_METHOD the word that is not in the
 * table. On error *plan is NULL. Strikes and maturities are copied. */
SHOAL_API shoal_status shoal_price_heston(shoal_context *ctx, const shoal_heston *model,
                                          const shoal_price_opts *opts, shoal_price **plan);
SHOAL_API shoal_status shoal_price_expou(shoal_context *ctx, const shoal_expou *model,
                                         const shoal_price_opts *opts, shoal_price **plan);
/* The same for a bullet option. It reads the options method, type, math, seed, antithetic, control and
 * greeks; the dates determine the steps, and there is no vega. `points` are `count` points, or NULL:
 * then count must be 1 and stands for (0, s0, 0). For nested, points is NULL and count the number of
 * outer trajectories, which have a point at each date from T_0 to T. */
SHOAL_API shoal_status shoal_price_bullet(shoal_context *ctx, const shoal_bullet *model,
                                          const shoal_price_opts *opts,
                                          const shoal_bullet_point *points, int64_t count,
                                          shoal_price **plan);
SHOAL_API void shoal_price_free(shoal_price *plan);
/* The points of a plan of bullet options, shoal_price_info.contracts of them; NULL for other plans. */
SHOAL_API const shoal_bullet_point *shoal_price_points(const shoal_price *plan);
SHOAL_API shoal_status shoal_price_describe(const shoal_price *plan, shoal_price_info *info);

/* Doubles in the sums of a unit, and in those of `samples` samples, rounded up to whole units. */
SHOAL_API int64_t shoal_price_width(const shoal_price *plan);
SHOAL_API int64_t shoal_price_sums(const shoal_price *plan, int64_t samples);

/* Simulates samples first .. first + samples - 1; first is a multiple of SHOAL_PRICE_UNIT. The sums
 * go into an array in the context's memory. Asynchronous on CUDA. */
SHOAL_API shoal_status shoal_price_run(shoal_price *plan, int64_t first, int64_t samples,
                                       double *sums);

/* Adds sums, on the host, to a total of 2 shoal_price_width() doubles, on the host, zero at first. */
SHOAL_API shoal_status shoal_price_add(const shoal_price *plan, const double *sums, int64_t samples,
                                       double *total);

/* The values from a total of so many samples: values[maturity * strikes + strike], or values[point]. A
 * standard error needs two samples, and is NaN for fewer. */
SHOAL_API shoal_status shoal_price_result(const shoal_price *plan, const double *total,
                                          int64_t samples, shoal_price_value *values);

/* ---- simulations to an end ---------------------------------------------------------------------- */

/* The progress of a simulation. */
typedef struct shoal_price_progress {
    int64_t first, samples; /* the first sample, and how many there are so far                  */
    int64_t expected;       /* how many it will take, as far as is known                        */
    int64_t unpaid;         /* values for which no path has paid so far: their 0 +- 0 is no
                               estimate, shoal_price_value.bound is above 0                     */
    double seconds;         /* of simulation so far                                             */
    int64_t units;          /* of the last round, and their sums: [units][shoal_price_width()]  */
    const double *sums;
    const shoal_price_value *values; /* of all samples; NULL if they were not computed          */
} shoal_price_progress;

typedef struct shoal_price_goal { /* zero = default */
    int64_t paths;       /* to simulate: required without a target                        */
    double target;       /* above 0: simulate until no standard error is above it, and no
                            bound of a value for which no path pays; such a value counts as
                            reached after 2^22 paths                                      */
    int64_t part, parts; /* only part 1, 2, ... of so many; not with a target       [all] */
    /* NULL, or called with the sums of every round; a result other than 0 ends the simulation, as an own rule may.
     * shoal_set_progress() is for a progress bar and for Ctrl-C */
    int (*on_round)(const shoal_price_progress *now, void *user);
    void *user;
} shoal_price_goal;

/* Simulates up to the goal; values as in shoal_price_result(), NaN if there is no sample. `done`, or NULL,
 * receives the final progress. The number of samples, and every bit of the values, depends on the goal
 * alone, not on the clock or on the number of threads. After SHOAL_E_CANCELLED values and *done are those of the rounds
 * that are complete. Allocates and waits. */
SHOAL_API shoal_status shoal_price_simulate(shoal_price *plan, const shoal_price_goal *goal,
                                            shoal_price_value *values, shoal_price_progress *done);

/* The same in one call, with a temporary plan: values[maturity * strikes + strike], or values[point].
 * american.h has shoal_american_value(). */
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

/* ---- bullet options by partial differential equation: many at once, and whole surfaces ------------ */

typedef struct shoal_pde shoal_pde; /* a plan; contents private */

typedef struct shoal_pde_opts {
    const char *variant;    /* how tridiagonal systems are solved: pcr, thomas          [pcr] */
    shoal_type type;        /* of the grid                                        [SHOAL_F64] */
    int64_t nx;             /* values of log S, the ends included: 5 to 8192           [1025] */
    int64_t steps_per_date; /* time steps from date to date         [10, and 500 in all at least] */
    int as_printed; /* 1: boundary, jump and steps as in section 6, to see the difference  */
} shoal_pde_opts;

/* A plan for `count` options that have the same number of dates and the same `count` letter. log S is
 * from log(K/w) to log(K w), w = 3, or more if the barrier is close to 3 K. SHOAL_E_ARG if K, sigma or
 * the maturity is 0. */
SHOAL_API shoal_status shoal_pde_create(shoal_context *ctx, const shoal_bullet *options,
                                        int64_t count, const shoal_pde_opts *opts,
                                        shoal_pde **plan);
SHOAL_API void shoal_pde_free(shoal_pde *plan);

/* The shape of the results: values of an option at a date are [counts][nx]; dates are 0 .. dates. */
typedef struct shoal_pde_shape {
    int64_t options, dates, counts, nx;
} shoal_pde_shape;
SHOAL_API shoal_status shoal_pde_describe(const shoal_pde *plan, shoal_pde_shape *shape);
/* log S of grid line i of an option. */
SHOAL_API double shoal_pde_log(const shoal_pde *plan, int64_t option, int64_t i);

/* Solves all options. today, or NULL, gets [options][counts][nx] undiscounted values at T_0; surface, or
 * NULL, gets [options][dates + 1][counts][nx] of all dates: e^(r (T - T_k)) F(T_k, e^x, j); j
 * includes T_k. Both lie in the context's memory and are double (..._runf: float). Neither allocates nor
 * waits. */
SHOAL_API shoal_status shoal_pde_run(shoal_pde *plan, double *today, double *surface);
SHOAL_API shoal_status shoal_pde_runf(shoal_pde *plan, float *today, float *surface);

/* Price, delta and gamma at a point, whose j includes T_k, from the option's values [counts][nx] at that
 * date, on the host. NaN if x is off the grid. */
SHOAL_API shoal_status shoal_pde_value(const shoal_pde *plan, int64_t option,
                                       const shoal_bullet_point *at, const double *values,
                                       shoal_price_value *value);

/* Black and Scholes: the undiscounted value of a call or put on a lognormal S of mean `forward`, whose
 * logarithm has the given standard deviation; and the deviation that gives a value, NaN if none does. */
SHOAL_API double shoal_black(double forward, double strike, double deviation, int put);
SHOAL_API double shoal_black_deviation(double forward, double strike, double value, int put);

#ifdef __cplusplus
}
#endif
#endif
