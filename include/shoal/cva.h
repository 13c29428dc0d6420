/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.h - credit valuation adjustment of a book of contracts with one counterparty, by nested Monte
 * Carlo on assets of Black and Scholes.
 *
 *     shoal_cva *plan;
 *     shoal_cva_create(ctx, &market, contracts, count, &counterparty, &opts, &plan);
 *     double *samples = malloc(outer * shoal_cva_width(plan) * sizeof *samples);
 *     shoal_cva_run(plan, 0, outer, samples, &counts); // rows of outer paths, in any pieces
 *     shoal_cva_result(plan, samples, outer, &value, profile);
 *     shoal_cva_free(plan);
 *
 * At the dates of exposure t_1 < t_2 < .. every outer path has a value V of each netting set, and with the exposure
 * E_k = sum of min(V+, threshold) over the sets
 *
 *     CVA = (1 - recovery) sum_k e^(-rate t_k) E[E_k] P(t_(k-1) < default <= t_k).
 *
 * Default does not depend on the assets. The dates of exposure are those of the options and every
 * maturity up to the horizon. The dates of exercise are a separate list.
 *
 * The value of a contract is a closed form if there is one. Otherwise it is a mean over inner paths that
 * start at the outer path's prices. The value of a contract with early exercise is that just before the
 * decision: the payoff if it is exercised, otherwise the continuation value. After exercise it is 0.
 * shoal_cva_estimator selects how continuation values are computed. If a set may be worth more or less
 * than 0, it gets inner paths on several levels, so that noise does not bias its positive part.
 *
 * A row of samples depends on its path's number and on the seed alone, and results are sums of rows in
 * their order: the same bits for any number of threads and any pieces.
 */
#ifndef SHOAL_CVA_H
#define SHOAL_CVA_H

#include <shoal/american.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_CVA_ASSETS  64          /* maximum assets            */
#define SHOAL_CVA_DATES   100000      /* maximum dates             */
#define SHOAL_CVA_OUTER   (1LL << 32) /* maximum outer paths       */
#define SHOAL_CVA_INNER   (1LL << 20) /* maximum inner paths per date */
#define SHOAL_CVA_METHODS 8           /* of smallsym that are counted */
#define SHOAL_CVA_DECADES 20          /* of condition numbers      */

/* A term structure: the mean of a rate from today to time[i] is value[i]. Its integral, value[i] time[i], is
 * linear between these times and beyond the last: the forward rate is piecewise constant. */
typedef struct shoal_cva_curve {
    int64_t count;      /* of points; 0: no curve       */
    const double *time; /* years, ascending and above 0 */
    const double *value;
} shoal_cva_curve;

/* Each asset is dS = (rate - dividend) S dt + sigma S dW; arrays have one number or curve per asset. A curve replaces
 * the number. Not with SHOAL_CVA_BY_INNER. */
typedef struct shoal_cva_market {
    int64_t assets;
    double rate;
    const double *s0, *sigma;
    const double *dividend;           /* NULL: 0                                               */
    const double *correlation;        /* of the W, assets x assets; NULL: they are independent */
    shoal_cva_curve rates;            /* zero rates, continuously compounded                   */
    const shoal_cva_curve *dividends; /* dividend yields; NULL: no curves               */
    const shoal_cva_curve
        *sigmas; /* volatilities up to a time: sigma^2 time must not fall; NULL: no curves */
} shoal_cva_market;

/* B is the sum of weight S over the contract's assets. All payoffs except the forward's are at least 0. */
typedef enum shoal_cva_payoff {
    SHOAL_CVA_PUT,         /* strike - S, of one asset */
    SHOAL_CVA_CALL,        /* S - strike, of one asset */
    SHOAL_CVA_MAX_CALL,    /* max S - strike           */
    SHOAL_CVA_BASKET_PUT,  /* strike - B               */
    SHOAL_CVA_BASKET_CALL, /* B - strike               */
    SHOAL_CVA_FORWARD      /* B - strike               */
} shoal_cva_payoff;

typedef struct shoal_cva_contract {
    shoal_cva_payoff payoff;
    int american;      /* 1: may be exercised early, and at maturity                         */
    double strike;     /* at least 0; above 0 with early exercise                            */
    double maturity;   /* years; 0 or less: expired, worth nothing                           */
    int64_t exercises; /* american: length of exercise; 0: the dates of exposure up to maturity,
                          continued in steps of the last length if they end earlier          */
    const double *exercise; /* years, ascending, up to maturity                            */
    double quantity;        /* below 0: sold                                                      */
    int64_t assets;         /* how many                                                           */
    const int64_t *asset;   /* their numbers in the market, from 0                                */
    const double *weight;   /* NULL: one over the number of assets                                */
    int64_t set;            /* of netting, from 0: values within a set are added up               */
} shoal_cva_contract;

typedef struct shoal_cva_counterparty {
    int64_t pieces;       /* of the hazard rate, at least 1                                     */
    const double *hazard; /* hazard[i] up to time until[i], the last for ever                   */
    const double *until;  /* ascending; NULL if there is one piece                              */
    double recovery;      /* 0 to 1                                                             */
    int collateral;       /* 1: each side posts what a set is worth above the threshold         */
    double threshold;     /* of collateral, at least 0                                          */
} shoal_cva_counterparty;

/* A credit default swap at par: its spread pays for the protection. */
typedef struct shoal_cds {
    double maturity;  /* years                                                                   */
    double spread;    /* per 360 days: 0.01 is 100 basis points                                  */
    int64_t payments; /* length of payment; 0: every quarter of a year, back from maturity */
    const double *
        payment; /* ends of the periods of accrual, when premiums are paid; the last is that of maturity */
    double start;      /* with payment: of the first period, at most 0                      */
    double settlement; /* when the premium that accrued before today is paid back               */
} shoal_cds;

/* hazard[i], from the maturity of swap i - 1 to that of swap i, from spreads in ascending order of maturity: the
 * ISDA standard model with piecewise constant hazard rates and the zero rates `rates` (NULL or no points: `rate`).
 * With until[i] = cds[i].maturity they are a shoal_cva_counterparty. */
SHOAL_API shoal_status shoal_cds_bootstrap(shoal_context *ctx, double rate,
                                           const shoal_cva_curve *rates, double recovery,
                                           const shoal_cds *cds, int64_t count, double *hazard);

/* How a contract with early exercise is valued at an outer path and date. */
typedef enum shoal_cva_estimator {
    SHOAL_CVA_BY_RULE, /* an exercise rule that create fits on paths from today's prices exercises outer
                          paths, and inner paths follow it: unbiased for that rule                   */
    SHOAL_CVA_BY_AMC,  /* the same rule; its regression gives the continuation value. No inner
                          paths                                                                      */
    SHOAL_CVA_BY_INNER /* regressions on the inner paths of every outer path and date value and
                          exercise it                                                                */
} shoal_cva_estimator;

typedef struct shoal_cva_opts { /* dates and outer are required; zero elsewhere = default */
    int64_t dates;        /* of exposure                                                        */
    const double *time;   /* their times in years, ascending; NULL: k horizon / dates           */
    double horizon;       /* the last date of exposure            [the last maturity or time]   */
    int64_t outer;        /* outer paths that are meant to be run                               */
    int64_t inner_count;  /* numbers in inner: 0, 1, or one per date that is given              */
    const int64_t *inner; /* inner paths; odd numbers are raised by 1          [sqrt(outer)]  */
    int nested;           /* 1: European contracts by inner paths, too                          */
    int kept;             /* 1: contracts are valued as if they had never been exercised        */
    shoal_cva_estimator
        estimator;      /*                                            [SHOAL_CVA_BY_RULE] */
    int64_t rule_paths; /* that a rule is fitted on                            [65536] */
    int64_t degree;     /* SHOAL_CVA_BY_INNER: of its regressions   [3; less if fewer than 20 inner
                           paths per function remain]. The next three: see shoal_american_opts   */
    int raw;
    const char *solver;
    double cond;
    shoal_type type; /* of inner paths                                         [SHOAL_F64] */
    uint64_t seed;
    int control;  /* 1: inner paths and regressions have control variates, -1: they do not    [1] */
    int validate; /* 1: rows have what shoal_cva_validate() needs; not with kept          [0] */
    /* Wished standard error of the CVA. create measures on a pilot run how many outer paths that takes
     * (shoal_cva_info.outer), and chooses inner paths unless they are given. outer may then be 0.  [none] */
    double target;
} shoal_cva_opts;

typedef struct shoal_cva shoal_cva; /* a plan; contents private */

typedef struct shoal_cva_info {
    double horizon;
    int64_t dates; /* of exposure: those of the options and every maturity up to the horizon */
    int64_t sets;
    int64_t expired;    /* contracts that are worth nothing            */
    int64_t closed;     /* valued by a closed form                     */
    int64_t nested;     /* European ones that are simulated            */
    int64_t american;   /* those with early exercise                   */
    double outer;       /* paths that opts.target needs, by the pilot run; 0: no target */
    int64_t inner;      /* inner paths at the first date, of the first level */
    double level_share; /* of nodes that get further levels of inner paths; 0: none needs them */
} shoal_cva_info;

/* SHOAL_E_ARG names what is not allowed; a message about a contract begins with contracts[i]. On error
 * *plan is NULL. Arrays are copied. */
SHOAL_API shoal_status shoal_cva_create(shoal_context *ctx, const shoal_cva_market *market,
                                        const shoal_cva_contract *contracts, int64_t count,
                                        const shoal_cva_counterparty *counterparty,
                                        const shoal_cva_opts *opts, shoal_cva **plan);
SHOAL_API void shoal_cva_free(shoal_cva *plan);
SHOAL_API shoal_status shoal_cva_describe(const shoal_cva *plan, shoal_cva_info *info);

/* Counts of a run, added to the numbers that are there. */
typedef struct shoal_cva_counts {
    int64_t inner_paths; /* simulated; SHOAL_CVA_BY_INNER: those with half of them included      */
    double seconds[3];   /* outer paths and closed forms; inner paths of European contracts;
                            contracts with early exercise                                      */
    int64_t systems;     /* regressions; then as in shoal_american_fit                          */
    int64_t empty, warned, truncated, refined, failed;
    int64_t method[SHOAL_CVA_METHODS]; /* answered by shoal_methods("smallsym", i)               */
    int64_t
        decade[SHOAL_CVA_DECADES]; /* with a condition number of 10^i to 10^(i+1), by the bound or
                                          estimate that the solver has; the last: or more       */
} shoal_cva_counts;

/* Numbers of a path; the first is its share of the CVA. */
SHOAL_API int64_t shoal_cva_width(const shoal_cva *plan);

/* Simulates outer paths first .. first + paths - 1: samples has paths x width numbers, on the host.
 * counts may be NULL. Outer paths run on the CPU. */
SHOAL_API shoal_status shoal_cva_run(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                                     shoal_cva_counts *counts);

typedef struct shoal_cva_value {
    double cva, error; /* the standard error over outer paths; NaN for fewer than 2              */
    double rule_bias,
        rule_bias_error; /* the CVA minus that by a second rule, with fewer functions and fitted
                                          on other paths. 0 with SHOAL_CVA_BY_INNER                 */
    double inner_bias,
        inner_bias_error; /* SHOAL_CVA_BY_INNER: the CVA with half of the inner paths minus
                                            that with all; else 0: their noise makes no bias     */
    double bias;      /* the sizes of both                                                       */
    double low, high; /* cva -+ 1.96 sqrt(error^2 + bias^2)                                      */
    double correction, correction_error; /* what the levels of inner paths have added to cva     */
} shoal_cva_value;

typedef struct shoal_cva_date { /* one date of the profile; not discounted                      */
    double time;
    double epe, epe_error, epe_bias; /* mean exposure; errors and intervals as those of the CVA  */
    double epe_low, epe_high;
    double ene, ene_error,
        ene_bias; /* mean exposure of the counterparty to us, as a positive number */
    double ene_low, ene_high;
    /* the exposure of rank ceil(q paths), with a 95 % interval: that of the ranks, widened by the
     * difference that half of the inner paths make */
    double pfe95, pfe95_low, pfe95_high;
    double pfe99, pfe99_low, pfe99_high;
    double discount, default_probability; /* e^(-rate t_k); that of default since the last date  */
    double cva;    /* what the date adds                                                 */
    int64_t inner; /* inner paths, of the first level                                    */
} shoal_cva_date;

/* The result from rows of samples, path after path from number 0; profile, or NULL, has room for
 * the dates of shoal_cva_describe().
 * Needs two numbers of memory per path for each thread, up to the number of dates. */
SHOAL_API shoal_status shoal_cva_result(const shoal_cva *plan, const double *samples, int64_t paths,
                                        shoal_cva_value *value, shoal_cva_date *profile);

typedef struct shoal_cva_check { /* of a contract, of quantity 1, at a date of exposure */
    double price, price_error;   /* today: a closed form, or by other paths          */
    double upper,
        upper_error; /* early exercise of several assets: an upper bound; else the price */
    double mean,
        error; /* of e^(-rate t) value, if not exercised, and discounted cash flows before */
    double z;  /* their difference in standard errors                       */
} shoal_cva_check;

typedef struct shoal_cva_validation {
    int passed;             /* 1: no |z| is above the limit                             */
    double z, limit;        /* the largest; by chance one is above it in 1 of 1000 runs */
    int64_t contract, date; /* of z, from 0; -1: there are no contracts                 */
    int64_t scores;         /* how many z there are                                     */
} shoal_cva_validation;

/* The martingale test of a plan with opts.validate, from rows of samples. At every date, the mean of a
 * contract's discounted value plus its earlier discounted cash flows must be its price. checks, or NULL,
 * has room for contracts x dates, contract after contract. */
SHOAL_API shoal_status shoal_cva_validate(const shoal_cva *plan, const double *samples,
                                          int64_t paths, shoal_cva_validation *result,
                                          shoal_cva_check *checks);

#ifdef __cplusplus
}
#endif
#endif
