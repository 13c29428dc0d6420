/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.h - credit valuation adjustment of a book of contracts with one or more counterparties, by nested Monte
 * Carlo on assets of Black and Scholes.
 *
 *     shoal_cva *plan;
 *     shoal_cva_create(ctx, &market, contracts, count, &counterparty, &opts, &plan);
 *     double *samples = malloc(outer * shoal_cva_width(plan) * sizeof *samples);
 *     shoal_cva_run(plan, 0, outer, samples, &counts); // rows of outer paths, in any pieces
 *     shoal_cva_result(plan, samples, outer, &value, profile);
 *     shoal_cva_free(plan);
 *
 * At the dates of exposure t_1 < t_2 < .. every outer path has a value V of each netting set. The exposure E_k is the
 * sum of V+ over the sets, less what collateral covers (shoal_cva_csa). Then
 *
 *     CVA = (1 - recovery) sum_k e^(-rate t_k) E[E_k] P(t_(k-1) < default <= t_k).
 *
 * Hazard, recovery and collateral are those of a set's counterparty. shoal_cva_adjust() returns DVA, funding costs, and
 * results by counterparty and netting set. shoal_cva_trades() returns results by trade.
 *
 * Default does not depend on the assets, unless a counterparty has wrong-way risk. The dates of exposure are those of
 * the options and every maturity up to the horizon. The dates of exercise are a separate list.
 *
 * The value of a contract is a closed form if there is one, and with early exercise on one asset that of
 * a grid. Otherwise it is a mean over inner paths that start at the outer path's prices. The value of a
 * contract with early exercise is that just before the decision: the payoff if it is exercised,
 * otherwise the continuation value. After exercise it is 0. shoal_cva_estimator selects how continuation
 * values are computed. If a set may be worth more or less than 0, it gets inner paths on several levels,
 * so that noise does not bias its positive part.
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

/* What the program and the Python package take by default. */
#define SHOAL_CVA_USUAL_DATES    10
#define SHOAL_CVA_USUAL_OUTER    4096
#define SHOAL_CVA_USUAL_HAZARD   0.05
#define SHOAL_CVA_USUAL_RECOVERY 0.4

typedef shoal_curve shoal_cva_curve; /* american.h */

/* Heston's model in place of a volatility: dS = (rate - dividend) S dt + sqrt(v) S dW, dv = kappa (theta - v) dt +
 * sigma sqrt(v) dW'. The correlation of W and W' is rho, that of W' and the W of another asset rho times that of both
 * W. */
typedef struct shoal_cva_heston {
    double v0, kappa, theta, sigma, rho; /* sigma 0: the asset has its volatility */
} shoal_cva_heston;

/* Each asset is dS = (rate - dividend) S dt + sigma S dW; arrays have one number or curve per asset. A curve replaces
 * the number. SHOAL_CVA_BY_INNER refuses curves. */
typedef struct shoal_cva_market {
    int64_t assets;
    double rate;
    const double *s0, *sigma;
    const double *dividend;           /* NULL: 0                                               */
    const double *correlation;        /* of the W, assets x assets; NULL: they are independent */
    shoal_cva_curve rates;            /* zero rates, continuously compounded                   */
    const shoal_cva_curve *dividends; /* dividend yields; NULL: no curves                      */
    /* volatilities of options with these maturities; sigma^2 time must not fall; NULL: no curves */
    const shoal_cva_curve *sigmas;
    /* cash dividends per asset: their times and amounts; a price falls by the amount; NULL: none */
    const shoal_cva_curve *cash;
    /* per asset; NULL: none. These assets allow puts, calls and forwards, and early exercise of puts, calls and
     * baskets. Each takes two of SHOAL_CVA_ASSETS. Not with SHOAL_CVA_BY_INNER, nested, sensitivities, a curve or cash
     * dividends of the same asset. */
    const shoal_cva_heston *heston;
} shoal_cva_market;

/* B is the sum of weight S over the contract's assets. All payoffs except forwards are at least 0. An exchange rate is
 * an asset whose dividend is the foreign interest rate; the quantity is then the foreign notional. */
typedef enum shoal_cva_payoff {
    SHOAL_CVA_PUT,          /* strike - S, of one asset         */
    SHOAL_CVA_CALL,         /* S - strike, of one asset         */
    SHOAL_CVA_MAX_CALL,     /* max S - strike                   */
    SHOAL_CVA_BASKET_PUT,   /* strike - B                       */
    SHOAL_CVA_BASKET_CALL,  /* B - strike                       */
    SHOAL_CVA_FORWARD,      /* B - strike                       */
    SHOAL_CVA_DIGITAL_PUT,  /* 1 if B < strike                  */
    SHOAL_CVA_DIGITAL_CALL, /* 1 if B > strike                  */
    SHOAL_CVA_FX_FORWARD,   /* S - strike, of one exchange rate */
    SHOAL_CVA_FX_PUT,       /* strike - S                       */
    SHOAL_CVA_FX_CALL,      /* S - strike                       */
    /* A put or a call on one asset. Out: worth 0 once S has been at the barrier or beyond it. In: worth 0 unless S has
     * been there. Down: beyond is below. S is monitored continuously from today. */
    SHOAL_CVA_DOWN_OUT_PUT,
    SHOAL_CVA_DOWN_OUT_CALL,
    SHOAL_CVA_DOWN_IN_PUT,
    SHOAL_CVA_DOWN_IN_CALL,
    SHOAL_CVA_UP_OUT_PUT,
    SHOAL_CVA_UP_OUT_CALL,
    SHOAL_CVA_UP_IN_PUT,
    SHOAL_CVA_UP_IN_CALL,
    /* A is the mean of S at the fixings, paid at maturity. */
    SHOAL_CVA_ASIAN_PUT, /* strike - A, of one asset */
    SHOAL_CVA_ASIAN_CALL /* A - strike               */
} shoal_cva_payoff;

/* What contracts of a payoff may have. */
enum {
    SHOAL_CVA_ONE_ASSET = 1, /* they must have one            */
    SHOAL_CVA_WEIGHTS = 2,
    SHOAL_CVA_EARLY = 4,   /* early exercise */
    SHOAL_CVA_BARRIER = 8, /* they must have a barrier */
    SHOAL_CVA_FIXINGS = 16
};

/* The name of payoff i, "put", "call" and so on: NULL beyond the last. Its flags; 0 of a number that is no payoff. */
SHOAL_API const char *shoal_cva_payoffs(int i);
SHOAL_API int shoal_cva_payoff_flags(shoal_cva_payoff payoff);

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
    double barrier;         /* above 0; 0: none                                                   */
    int64_t
        fixings; /* of a mean: length of fixing; 0: the dates of exposure up to maturity, and maturity */
    const double
        *fixing; /* years, ascending, up to maturity                                      */
} shoal_cva_contract;

typedef enum shoal_cva_posting { /* who posts collateral */
                                 SHOAL_CVA_BOTH_POST,
                                 SHOAL_CVA_THEY_POST,
                                 SHOAL_CVA_WE_POST
} shoal_cva_posting;

/* The collateral agreement of a netting set. At the last margin call before time t, at t - period, the set was worth
 * V_c; with H = threshold + transfer, a side that posts has posted the value beyond H,
 *
 *     C = max(V_c - H, 0) - max(-V_c - H, 0),
 *
 * and the exposure is max(V - C - independent, 0). Payments due in the period are not made: V has them. */
typedef struct shoal_cva_csa {
    int collateral;     /* 1: C is posted; 0: there is the independent amount alone */
    double threshold;   /* at least 0                                               */
    double transfer;    /* minimum transfer amount                                  */
    double independent; /* above 0: they have posted it, below 0: we have; it is segregated */
    double period;      /* margin period of risk, in years; 0: V_c is V. Up to 4 different ones */
    shoal_cva_posting one_way;
} shoal_cva_csa;

typedef struct shoal_cva_counterparty {
    int64_t pieces;       /* of the hazard rate, at least 1                                     */
    const double *hazard; /* hazard[i] up to time until[i]; the last one continues               */
    const double *until;  /* ascending; NULL if there is one piece                              */
    double recovery;      /* 0 to 1                                                             */
    int collateral;       /* 1: each side posts what a set is worth above the threshold         */
    double threshold;     /* of collateral, at least 0                                          */
    /* Wrong-way risk. With a volatility the hazard rate is phi(t) e^y, dy = -reversion y dt + volatility dW, with phi
     * such that the mean default probabilities are those of `hazard`. */
    double volatility;
    double reversion;
    const double *correlation; /* [asset]: of W and the W of the assets; NULL: 0                 */
    /* [asset]: its price jumps by this share at default, above -1; NULL: 0. Before default its drift is larger by -jump
     * times the hazard rate, which keeps its mean. Only with a single counterparty. */
    const double *jump;
} shoal_cva_counterparty;

/* A credit default swap at par: its premiums are worth as much as its protection. */
typedef struct shoal_cds {
    double maturity;       /* years                                                          */
    double spread;         /* per 360 days: 0.01 is 100 basis points                         */
    int64_t payments;      /* length of payment; 0: quarters of a year, back from maturity   */
    const double *payment; /* dates of premiums, ends of their periods; the last is maturity */
    double start;          /* with payment: start of the first period, at most 0             */
    double settlement;     /* when the premium that accrued before today is paid back        */
} shoal_cds;

/* Hazard rates from spreads, by the ISDA standard model with the zero rates `rates` (NULL or no points: `rate`).
 * Maturities ascend. hazard[i] applies from the maturity of swap i - 1 to that of swap i, as in a
 * shoal_cva_counterparty with until[i] = cds[i].maturity. */
SHOAL_API shoal_status shoal_cds_bootstrap(shoal_context *ctx, double rate,
                                           const shoal_cva_curve *rates, double recovery,
                                           const shoal_cds *cds, int64_t count, double *hazard);

/* How a contract with early exercise is valued at an outer path and date. */
typedef enum shoal_cva_estimator {
    SHOAL_CVA_BY_RULE, /* an exercise rule that create fits on paths from today's prices exercises outer
                          paths, and inner paths follow it: unbiased for that rule. On one asset what
                          the rule is worth is known: no inner paths                                 */
    SHOAL_CVA_BY_AMC,  /* the same rule; its regression gives the continuation value. No inner
                          paths                                                                      */
    SHOAL_CVA_BY_INNER /* regressions on the inner paths of every outer path and date value and
                          exercise it                                                                */
} shoal_cva_estimator;

typedef struct shoal_cva_opts { /* dates and outer are required; zero elsewhere = default */
    int64_t dates;        /* of exposure                                                        */
    const double *time;   /* their times in years, ascending; NULL: k horizon / dates           */
    double horizon;       /* the last date of exposure            [the last maturity or time]   */
    int64_t outer;        /* number of outer paths of the whole run                             */
    int64_t inner_count;  /* numbers in inner: 0, 1, or one per date that is given              */
    const int64_t *inner; /* inner paths; odd numbers are raised by 1          [sqrt(outer)]  */
    int nested;           /* 1: European contracts by inner paths, too                          */
    int kept;             /* 1: contracts are valued as if they had never been exercised        */
    shoal_cva_estimator
        estimator;      /*                                            [SHOAL_CVA_BY_RULE] */
    int64_t rule_paths; /* that a rule is fitted on      [65536; less with many rules] */
    int64_t degree;     /* SHOAL_CVA_BY_INNER: of its regressions   [3; less if fewer than 20 inner
                           paths per function remain]. The next three: see shoal_american_opts   */
    int raw;
    const char *solver;
    double cond;
    shoal_type type; /* of inner paths                                         [SHOAL_F64] */
    uint64_t seed;
    int control;  /* 1: inner paths and regressions have control variates, -1: they do not    [1] */
    int validate; /* 1: rows have what shoal_cva_validate() needs; not with kept          [0] */
    int by_set;   /* 1: rows have what results by counterparty and netting set need
                                                   [0; 1 with several counterparties] */
    int by_trade; /* 1: by_set, and shoal_cva_run_trades() may be called    [0] */
    int greeks;   /* 1: rows have what shoal_cva_sensitivities() needs    [0] */
    int gammas;   /* 1: the same, and the second-order sensitivities by spots [0] */
    /* 1e-5 to 0.5: relative error of quantiles of shoal_cva_result_of_sums(). Units then hold sums in place of rows:
     * their size does not depend on the outer paths. Not with validate, greeks or gammas. [0: rows] */
    double quantile_error;
    int64_t csas; /* length of csa                                        [0] */
    const shoal_cva_csa
        *csa;             /* 1: of all netting sets; more: of set i; in place of the threshold of
                                 its counterparty, which later sets have         [none] */
    int64_t parties;      /* how many counterparties the argument points to   [1] */
    const int64_t *party; /* of each netting set, from 0            [NULL: all 0] */
    const shoal_cva_counterparty
        *own; /* our own default, for the DVA: hazard and recovery [none] */
    shoal_cva_curve borrowing, lending; /* spreads over the interest rate, of FVA        [0] */
    /* Target for the standard error of the CVA. A pilot run of create estimates the outer paths that it takes
     * (shoal_cva_info.outer), and chooses inner paths unless they are given. outer may then be 0.  [none] */
    double target;
    /* A plan for the same market, contracts and options in another context: its exercise rules and its pilot run are
     * copied, which saves the time of making them again for each GPU. It may be freed then.  [none] */
    const struct shoal_cva *rules_of;
    int rules_only; /* 1: a plan for rules_of of others, without a pilot run; it cannot run      [0] */
} shoal_cva_opts;

typedef struct shoal_cva shoal_cva; /* a plan; contents private */

typedef struct shoal_cva_info {
    double horizon;
    int64_t dates; /* of exposure: those of the options and every maturity up to the horizon */
    int64_t sets, parties;
    int64_t expired;    /* contracts that are worth nothing            */
    int64_t closed;     /* valued by a closed form                     */
    int64_t nested;     /* European ones that are simulated            */
    int64_t american;   /* those with early exercise                   */
    double outer;       /* outer paths for opts.target, by the pilot run; 0: no target     */
    int64_t inner;      /* inner paths at the first date, first level                      */
    double level_share; /* share of the nodes with more levels of inner paths              */
} shoal_cva_info;

/* SHOAL_E_ARG names what is not allowed; a message about a contract begins with contracts[i]. On error
 * *plan is NULL. Arrays are copied. */
SHOAL_API shoal_status shoal_cva_create(shoal_context *ctx, const shoal_cva_market *market,
                                        const shoal_cva_contract *contracts, int64_t count,
                                        const shoal_cva_counterparty *counterparty,
                                        const shoal_cva_opts *opts, shoal_cva **plan);
SHOAL_API void shoal_cva_free(shoal_cva *plan);
SHOAL_API shoal_status shoal_cva_describe(const shoal_cva *plan, shoal_cva_info *info);

/* Counts of a run. shoal_cva_run() adds to the numbers in the struct. */
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

/* Simulates outer paths first .. first + paths - 1. samples has paths x width numbers, in host memory. counts may be
 * NULL. */
SHOAL_API shoal_status shoal_cva_run(shoal_cva *plan, int64_t first, int64_t paths, double *samples,
                                     shoal_cva_counts *counts);

/* As shoal_cva_run(), for a plan with opts.by_trade. Adds to the shoal_cva_totals() numbers in totals; the order of
 * the pieces does not change them. values (or NULL) has room for paths x contracts x dates: the value to us of each
 * contract times its quantity at a date, with the payments on that date, not discounted. */
SHOAL_API int64_t shoal_cva_totals(const shoal_cva *plan);
SHOAL_API shoal_status shoal_cva_run_trades(shoal_cva *plan, int64_t first, int64_t paths,
                                            double *samples, shoal_cva_counts *counts,
                                            int64_t *totals, double *values);

typedef struct shoal_cva_value {
    double cva, error; /* the standard error over outer paths; NaN for fewer than 2              */
    double rule_bias,
        rule_bias_error; /* the CVA minus the CVA by a second rule, which has fewer functions and
                                    is fitted on other paths. 0 with SHOAL_CVA_BY_INNER      */
    double inner_bias,
        inner_bias_error; /* SHOAL_CVA_BY_INNER: the CVA with half of the inner paths minus
                                            that with all; else 0: their noise makes no bias     */
    double bias;      /* |rule_bias| + |inner_bias|                                              */
    double low, high; /* cva -+ 1.96 sqrt(error^2 + bias^2)                                      */
    double correction, correction_error; /* contribution of the levels of inner paths to cva     */
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
    double es95,
        es99; /* expected shortfall: mean of the largest 5 %, 1 % of the exposures        */
    /* the mean exposure given default since the last date: with wrong-way risk it is not that of the profile */
    double epe_default, epe_default_error;
    /* e^(-rate t_k); that of default since the last date, NaN of several counterparties */
    double discount, default_probability;
    double cva;    /* contribution of this date                                          */
    int64_t inner; /* inner paths, of the first level                                    */
} shoal_cva_date;

/* The result from the samples of paths 0 .. paths - 1. profile (or NULL) has room for the dates of
 * shoal_cva_describe(). Takes memory for two numbers per path and thread. */
SHOAL_API shoal_status shoal_cva_result(const shoal_cva *plan, const double *samples, int64_t paths,
                                        shoal_cva_value *value, shoal_cva_date *profile);

/* Sums over paths in place of their samples, for a plan with opts.quantile_error: shoal_cva_sums() whole numbers, 0 at
 * first. Sums of pieces may be added; neither their number nor their order changes a bit. */
SHOAL_API int64_t shoal_cva_sums(const shoal_cva *plan);
/* Adds the samples of some paths. SHOAL_E_ARG: an exposure is more than 2^35 times the size of the contracts. */
SHOAL_API shoal_status shoal_cva_add_sums(const shoal_cva *plan, const double *samples,
                                          int64_t paths, int64_t *sums);
/* As shoal_cva_result(). Means and errors are those of the samples up to rounding. The exposure of a rank, and an
 * expected shortfall, is within opts.quantile_error of that of the samples, relatively; or 0 if the exposure is below
 * 2^-30 of the size of the contracts, the sum of |quantity| times the strike or the price of the assets. */
SHOAL_API shoal_status shoal_cva_result_of_sums(const shoal_cva *plan, const int64_t *sums,
                                                int64_t paths, shoal_cva_value *value,
                                                shoal_cva_date *profile);

typedef enum shoal_cva_part {
    SHOAL_CVA_BOOK,
    SHOAL_CVA_COUNTERPARTY,
    SHOAL_CVA_SET
} shoal_cva_part;

/* Costs are above 0: the value of a book is pv - cva + dva - fva, fva = fca - fba. What is not known is NaN. */
typedef struct shoal_cva_adjustments {
    double pv, pv_error; /* price today; NaN without opts.by_set                              */
    double cva, cva_error;
    double dva, dva_error; /* the counterparty's expected loss if we default; 0 without opts.own */
    double fca, fca_error; /* cost of funding the exposure, benefit of the other side's: until    */
    double fba, fba_error; /* the first default                                                  */
    double fva, fva_error;
    double epe, ene; /* means over time up to the horizon                                    */
    double eepe;     /* Basel's effective EPE of the first year, added up over netting sets; NaN
                        of several sets without opts.by_set                                   */
    double pfe95, pfe99, es95, es99; /* the largest of all dates                              */
} shoal_cva_adjustments;

/* Of the book, of counterparty `index`, or of netting set `index`: these need opts.by_set. profile, or NULL: as in
 * shoal_cva_result(), without biases. */
SHOAL_API shoal_status shoal_cva_adjust(const shoal_cva *plan, const double *samples, int64_t paths,
                                        shoal_cva_part part, int64_t index,
                                        shoal_cva_adjustments *result, shoal_cva_date *profile);

/* The same from sums. */
SHOAL_API shoal_status shoal_cva_adjust_of_sums(const shoal_cva *plan, const int64_t *sums,
                                                int64_t paths, shoal_cva_part part, int64_t index,
                                                shoal_cva_adjustments *result,
                                                shoal_cva_date *profile);

/* Contributions of a contract, its quantity included: over the contracts of a netting set they add up to those of
 * the set, by Euler's allocation. With an exposure E of a set worth V a contract worth v has E / V v of it:
 * 1 {V > 0} v without collateral. */
typedef struct shoal_cva_trade {
    double pv, pv_error;
    double cva, cva_error;
    double dva, fca, fba, fva;
    double epe, ene, eepe;
} shoal_cva_trade;

/* Of all contracts, from the totals of paths 0 .. paths - 1. profile, or NULL: contracts x dates x 2, contributions to
 * EPE and to ENE. */
SHOAL_API shoal_status shoal_cva_trades(const shoal_cva *plan, const int64_t *totals, int64_t paths,
                                        shoal_cva_trade *trades, double *profile);

/* What a CVA depends on. Assets that no contract uses are left out. */
typedef enum shoal_cva_parameter {
    SHOAL_CVA_SPOT,
    SHOAL_CVA_VOLATILITY,
    SHOAL_CVA_DIVIDEND,
    SHOAL_CVA_RATE,
    SHOAL_CVA_CORRELATION,
    SHOAL_CVA_HAZARD,
    SHOAL_CVA_RECOVERY,
    SHOAL_CVA_GAMMA,      /* second derivative by a spot                          */
    SHOAL_CVA_CROSS_GAMMA /* by the spots of two assets                           */
} shoal_cva_parameter;

typedef struct shoal_cva_sensitivity {
    shoal_cva_parameter parameter;
    const char *name; /* of the parameter: "spot"                                             */
    int64_t index;    /* of the asset, or of the counterparty; -1: of the interest rate       */
    int64_t other;    /* of a correlation or a cross gamma the second asset; else -1          */
    int64_t point;    /* of a curve, or piece of a hazard rate; -1: there are none            */
    double time;      /* of the point, or where the piece ends; NaN: none, or the last piece  */
    double at;        /* the parameter; of gammas the spot of `index`                         */
    /* a usual move: 1 % of a spot, 0.01 of a volatility, 1e-4 of a rate. Of a cross gamma: the product of the moves of
     * both spots; of a gamma: half the square of the spot's. move times value is a term of Taylor's series. */
    double move;
    double value, error; /* dCVA / dparameter; its standard error                         */
} shoal_cva_sensitivity;

/* The number of sensitivities of the book's CVA, and the sensitivities, from rows of samples: with opts.greeks all of
 * first order, with opts.gammas also those of second order by spots, after them. Contracts must have closed forms, or
 * early exercise on one asset (then not SHOAL_CVA_BY_INNER). */
SHOAL_API int64_t shoal_cva_parameters(const shoal_cva *plan);
SHOAL_API shoal_status shoal_cva_sensitivities(const shoal_cva *plan, const double *samples,
                                               int64_t paths, shoal_cva_sensitivity *list);

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
    double z, limit;        /* the largest; a correct run exceeds the limit in 1 of 1000 */
    int64_t contract, date; /* of the largest z, from 0; -1: there are no contracts     */
    int64_t scores;         /* number of z                                              */
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
