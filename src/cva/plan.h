/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for CVA holds, and what the cells that walk paths get to see.
 */
#ifndef SHOAL_CVA_PLAN_H
#define SHOAL_CVA_PLAN_H

#include "american/plan.h"
#include "core/math.h"
#include "cva/payoff.h"
#include "models/qe.h"
#include "pricing/curve.h"
#include "rng/sobol.h"
#include <math.h>
#include <shoal/cva.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An outer path has its number; the inner ones of path p are p 2^CVA_INNER_BITS + i, CVA_LANES of them
 * at a time: an item. */
enum { CVA_INNER_BITS = 20, CVA_LANES = 32 };
enum { CVA_TASK = 16 }; /* outer paths in a row that a thread takes */

/* Regressions at nodes value everything with all inner paths, and with the first half of them. */
enum { CVA_ALL, CVA_HALF, CVA_LEVELS };

enum { CVA_EXPIRED, CVA_CLOSED, CVA_NESTED, CVA_AMERICAN, CVA_KINDS };

/* ---- exercise rules ----------------------------------------------------------------------------
 *
 * On one asset the premium over the European value is computed on a grid, and the rule is a pair of prices per
 * date (line.c). On several the value of going on at a date is a polynomial of `variables` variables: of a max-call on
 * equal assets, the largest prices in their order; on up to CVA_DIRECTIONS different ones, the largest price and those
 * of all assets; of a basket, its value and the prices of its assets but the first. Out of the money and in the money
 * it is another one. A hedge is fitted together with it: in each direction (of the prices in their order; of each
 * asset; of the basket) a polynomial of the first few functions, times the gain of the discounted price over the next
 * step, whose mean is 0. */
enum { CVA_LINE, CVA_RANKS, CVA_LARGEST, CVA_BASKET };
enum { CVA_RULES = 2 }; /* of a contract: that which exercises, and another to compare with */
enum { CVA_FUNCTIONS = 40, CVA_VARIABLES = 36, CVA_DIRECTIONS = 5, CVA_HEDGES = 6 };
enum { CVA_COLUMNS = CVA_FUNCTIONS + CVA_DIRECTIONS * CVA_HEDGES };

typedef struct cva_basis {
    int kind, points; /* of the grid of one asset                                                */
    int variables, functions;
    int directions, hedges; /* functions per direction                                           */
    /* psi_0 = 1, psi_(1+v) = variable v, psi_n = psi_from psi_(1+by) */
    uint8_t from[CVA_FUNCTIONS], by[CVA_FUNCTIONS];
    uint8_t hedge[CVA_HEDGES]; /* the functions of a hedge                                       */
} cva_basis;

/* Numbers of a rule at a date: of one asset the prices between which it exercises, and the premium of going on at
 * the points of a grid of its Brownian motion; of several, out of the money and in the money, center and one over
 * the width of each variable, factors of the functions, and of the hedges, direction by direction. */
typedef struct cva_rule {
    cva_basis basis;
    double start, step; /* the first point of the grid, and from one to the next */
    const double *at; /* [date - 1][cva_rule_numbers]: dates before the last                      */
    const float *single; /* the same for kernels in f32                                           */
    double today; /* at t = 0: of one asset the premium of going on, else its value           */
} cva_rule;

SHOAL_HD static inline int cva_columns(const cva_basis *b) {
    return b->functions + b->directions * b->hedges;
}
SHOAL_HD static inline int cva_region_numbers(const cva_basis *b) {
    return 2 * b->variables + cva_columns(b);
}
SHOAL_HD static inline int cva_rule_numbers(const cva_basis *b) {
    return b->kind == CVA_LINE ? 2 + b->points : 2 * cva_region_numbers(b);
}
/* The numbers of a date. */
SHOAL_HD static inline const double *cva_rule_at(const cva_rule *r, int64_t k) {
    return r->at + (k - 1) * cva_rule_numbers(&r->basis);
}

/* How a GPU follows a rule: on one asset; with a basis of few assets, or a linear one, that kernels know; any other. */
enum { CVA_KNOWN, CVA_LINEAR, CVA_ANY, CVA_FORMS };

/* Heston's model of an asset. Its variance v is one more asset, without a volatility: its spot is v, its row of L that of
 * dW'. A contract with early exercise has it among its assets, with the weight 0. */
typedef struct cva_heston {
    int price, variance; /* assets */
    double rho, rest;    /* rest: 1 / sqrt(1 - rho^2), or 0 */
    double kappa, theta, sigma;
} cva_heston;

/* European values of puts and calls in Heston's model with one maturity (surface.h). */
typedef struct cva_surface {
    int heston;
    const double *at;
    int64_t rows, numbers; /* dates before the maturity; of `at` */
    double maturity;
} cva_surface;

typedef struct cva_contract {
    int kind, form, assets; /* form: payoff.h */
    int rule_form;
    int64_t end;     /* the moment of its maturity                                               */
    int64_t last;    /* with early exercise: the date of its maturity                            */
    const char *may; /* [date - 1]: whether it may be exercised there; on the last it must be    */
    int64_t set;
    int64_t place; /* among the contracts that are no closed forms                               */
    double strike, maturity, quantity;
    /* with cash dividends (escrow.c), by date up to last; NULL: none. Of early exercise: [date]. Where the largest
     * price counts: [date][asset], those to come; European: one row. */
    const double *strikes, *cash;
    /* with CVA_MEAN (mean.c): how many prices, which dates they are of, the place of their sum, and numbers of dates */
    int64_t fixings, sum;
    const char *fixes;  /* [date - 1], up to last */
    const double *mean; /* [date up to last][cva_mean_numbers] */
    double barrier; /* with CVA_BARRIER                                                          */
    int surface;    /* of a European contract in Heston's model, plus 1; 0: none                 */
    double unit; /* a power of 2: sums over paths are in 1 / unit (results by trade)              */
    const int64_t *asset;
    const double *weight;
    const float *single_weight; /* the same for kernels in f32                                    */
    cva_rule rule[CVA_RULES]; /* of exercise before the last date; .at NULL: none                 */
} cva_contract;

/* Inner paths `from` to `from` + lanes - 1 of an outer path. */
typedef struct cva_item {
    int64_t path;
    int32_t from, lanes;
} cva_item;

/* Inner paths of an outer path at a date: 2^level groups of them; none: level -1. */
typedef struct cva_node {
    int64_t first; /* of its groups, among those of the paths that are valued together */
    int32_t level;
} cva_node;

enum { CVA_MAX_LEVEL = 14 };

/* Collateral of a netting set: what each side leaves uncovered (infinity: it posts none), the independent amounts, and
 * the number of its margin period, from 1. Without a period, collateral covers the value at the same date. */
typedef struct cva_csa {
    int is_none, period;
    double theirs, ours;
    double held, posted;
} cva_csa;

enum { CVA_PERIODS = 4 }; /* different margin periods above 0 */

/* What exposures at a date see of other values than those of the date: at the last margin call, or after the jump at
 * default. [path][set], but spot [path][asset], holds [place][path], flow [path][rule][set], net [item][set]. */
typedef struct cva_view {
    int64_t date;
    double *spot, *value, *differ, *flow, *net;
    char *holds;
} cva_view;

/* Of the hazard rate at a step, shift[date] e^y with y' = decay y + along (z of the assets) + across z. */
typedef struct cva_hazard_step {
    double decay, along, across, half; /* half: of shift times the years of the step */
} cva_hazard_step;

typedef struct cva_job {
    int assets, prices; /* those that are prices; the others, behind, are variances */
    double rate;
    int control, estimator, kept, is_pilot;
    uint64_t seed;
    const double *s0, *sigma, *dividend;
    const double *load; /* rows of the lower triangular L with L Lt the correlation             */
    const double *correlation; /* assets x assets                                              */
    int hestons, surfaces;     /* variance i is of heston[i]                                   */
    const cva_heston *heston;
    const qe_numbers *qe; /* [date - 1][heston]: of the step to the date                       */
    const cva_surface *surface;
    int64_t contracts, sets, places, parties;
    const int64_t *party_of; /* [set] */
    const double *share;  /* [party][exposure]: of the CVA that an exposure then has              */
    const double *chance; /* [party][exposure]: of default since the last exposure                */
    double horizon; /* the last date of exposure                                                 */
    /* dates.c: all dates; those of exposure; those that inner paths go to, where some contract may be exercised */
    int64_t dates, exposures, stops;
    /* moments: the dates, then with curves the maturities and knots that are no dates */
    const double *time; /* [moment]; time[0] is 0                                           */
    int64_t moments;
    const double *
        integral; /* [moment][cva_integrals]: from 0, of curves (curves.c); NULL: the market is flat */
    int64_t knots;            /* moments between which all volatilities are constant              */
    const int64_t *knot;      /* [knot]: its moment                                               */
    const int64_t *exposure;  /* [date - 1]: its number from 0; -1: none                          */
    const int64_t *exposed;   /* [exposure]: its date                                             */
    const int64_t *stop;      /* [stop]: its date                                                 */
    int64_t kinds[CVA_KINDS]; /* contracts of a kind                                            */
    const cva_contract *contract;
    /* numbers of contracts, by netting set: European ones, those with early exercise, of these those whose rules inner paths
     * follow, and all that are valued on inner paths */
    const int64_t *european, *american, *followed, *nested;
    int64_t europeans, americans, follows, nesteds;
    const int64_t *averaged; /* [sum]: its contract */
    int64_t sums_fixed;
    int64_t forms[CVA_FORMS]; /* of those followed: how many have rules of a form */
    const int *sign;      /* [set]: 1, -1: never worth less, more than 0; 0: either               */
    const int64_t *inner; /* [exposure]                                                         */
    const cva_csa *csa;   /* [set]; NULL: no set has collateral                                 */
    int periods;          /* margin periods above 0                                             */
    int wrong_way;        /* 1: rows have the lists of wrong-way risk                           */
    const double *jump;   /* [asset]: of its price at default; NULL: there are none             */
    const cva_hazard_step *hazard; /* [party][date - 1]; NULL: hazard rates are known           */
    const double *hazard_load;     /* [party][asset]: of z, in y                                */
    shoal_stream outer_normals, inner_normals, hazard_normals, extreme_normals;
    uint64_t lows, highs; /* bit a: of asset a the lowest, highest price of a path is wanted      */
    /* of a run */
    uint64_t first;
    int64_t paths;
    double *brownian, *spot; /* [path][asset], at the date                                      */
    double *low, *high;      /* [path][asset]: up to the date; NULL: no barriers */
    double *fixed;           /* [sum][path]: of prices at fixings up to the date; NULL: none */
    double *value;           /* [path][level][set]                                              */
    double *differ;          /* [path][set]: what the other rule would change                    */
    char *exercised;         /* [place][level or rule][path]                                     */
    char *holds;             /* [place][path]: is valued on inner paths at the date               */
    double *row;             /* [path][width] */
    int64_t width;
    void *table;  /* GPU: what inner paths need to move to a stop: [stop][cva_table_numbers]      */
    double *cube; /* GPU: numbers of some contracts, [contract][path] */
    int64_t cube_room;
    /* with margin periods: what has been paid before the date, discounted, and at it; else NULL: [path][rule][set] */
    double *flow, *flow_now;
    /* with a hazard rate that is not known: y, and the integrated rate, to the date and to the last exposure: [party][path] */
    double *log_hazard, *integrated, *integrated_before;
    /* [contract][path] or NULL. Of a validation: closed forms and what is known without inner paths, undiscounted; what has been
     * paid, discounted. Of results by trade: the same values, payments at the date included; their shares of the CVA so far */
    double *worth, *paid, *here, *owed;
    int64_t *total; /* of results by trade: [contract][cva_total_numbers]; NULL: none       */
    double *values; /* [path][contract][exposure]: what they are worth to us; NULL: not wanted */
    int64_t
        list_by_set; /* of the row: the number of the first list of netting sets; 0: there is none */
    /* of a date */
    shoal_stream walk_normals;
    int64_t ahead; /* the first stop after it                                                    */
    int64_t date;  /* of exposure; -1: none                                                      */
    double discount; /* from the exposure to today                                                */
    double known_hazard, known_before; /* integrated: to the date and to the last exposure        */
    int was_exposed; /* 1: the date before is one of exposure                                     */
    int is_margin; /* 1: only sets with a margin period are valued                                */
    cva_view to;   /* what `keep` fills: a slot                                                   */
    double *slots; /* of margin calls (margin.c)                                                  */
    char *slot_holds;
    cva_view before[CVA_PERIODS], after; /* views of the exposures                                */
    int64_t paths_inner;                 /* inner paths of a group */
    int top_level;
    double at_least[CVA_MAX_LEVEL + 1]; /* P(level >= l)                                          */
    /* of paths from .. from + count - 1, which are valued together */
    int64_t from, count, items;
    cva_node *node;  /* [path]: of all paths */
    int64_t *groups; /* their sum            */
    cva_item *item;
    double *sums; /* of inner paths: [item][place]                                               */
    double *net;  /* the same times quantities: [item][set]                                       */
} cva_job;

SHOAL_HD static inline double cva_time(const cva_job *job, int64_t k) { return job->time[k]; }

/* Times that differ by less, relatively, are the same. */
#define CVA_SAME CURVE_SAME

/* What is left of a contract at date k: 0 on its last day, below 0 later. */
SHOAL_HD static inline double cva_left(const cva_job *job, const cva_contract *c, int64_t k) {
    const double left = c->maturity - cva_time(job, k), same = CVA_SAME * c->maturity;
    return left <= same && left >= -same ? 0 : left;
}

/* Numbers of the table per stop: scale L, of TILE rows at a time column by column; shift, back and sigma of each
 * asset, and the discount (walk.h). */
enum { CVA_TILE = 4 };
SHOAL_HD static inline int64_t cva_tile_at(int64_t tile) {
    return CVA_TILE * CVA_TILE * (tile * (tile + 1) / 2);
}
SHOAL_HD static inline int64_t cva_table_numbers(int assets) {
    const int64_t numbers = cva_tile_at((assets + CVA_TILE - 1) / CVA_TILE) + 3 * assets + 1;
    return (numbers + CVA_TILE - 1) / CVA_TILE * CVA_TILE;
}

/* GPU: numbers per path and contract with early exercise in the cube. */
static inline int64_t cva_planes(const cva_job *job) { return job->flow ? 4 : 2; }

/* Whether the exposure of a set has kinks as a function of its value. */
SHOAL_HD static inline int cva_has_kink(const cva_job *job, int64_t set) {
    return (job->csa && !job->csa[set].is_none) || !job->sign[set];
}

/* The margin period of a set, from 1; 0: none. */
SHOAL_HD static inline int cva_period_of(const cva_job *job, int64_t set) {
    return job->csa ? job->csa[set].period : 0;
}

/* Whether a contract is valued in this view. */
SHOAL_HD static inline int cva_is_seen(const cva_job *job, const cva_contract *c) {
    return !job->is_margin || cva_period_of(job, c->set) > 0;
}

/* Items of a group of inner paths. */
SHOAL_HD static inline int64_t cva_items(const cva_job *job) {
    return (job->paths_inner + CVA_LANES - 1) / CVA_LANES;
}

/* Whether a contract is a put or a call on one asset. */
SHOAL_HD static inline int cva_is_line(const cva_contract *c) {
    return c->assets == 1 && (!(c->form & CVA_OF_SUM) || c->weight[0] > 0);
}

/* Whether what a contract with early exercise is worth takes inner paths that follow its rule. On one asset it is known
 * (line.c). */
SHOAL_HD static inline int cva_is_followed(const cva_contract *c) {
    return c->kind == CVA_AMERICAN && !cva_is_line(c);
}

/* Whether a contract is valued on inner paths before its end. */
SHOAL_HD static inline int cva_is_walked(const cva_job *job, const cva_contract *c) {
    return c->kind == CVA_NESTED ||
           (job->estimator == SHOAL_CVA_BY_RULE && cva_is_followed(c));
}

/* The payoff of a contract with early exercise for american.h. */
static inline shoal_payoff cva_american_payoff(const cva_contract *c) {
    const int down = c->form & CVA_DOWN;
    if (c->form & CVA_OF_SUM) return down ? SHOAL_BASKET_PUT : SHOAL_BASKET_CALL;
    if (c->assets > 1) return SHOAL_MAX_CALL;
    return down ? SHOAL_PUT : SHOAL_CALL;
}

/* The weight of an asset in the sum; 1 where there is none. */
SHOAL_HD static inline double cva_weight_in(const cva_contract *c, int i) {
    return c->form & CVA_OF_SUM ? c->weight[i] : 1;
}

/* The strike at date k (escrow.c). */
SHOAL_HD static inline double cva_strike_at(const cva_contract *c, int64_t k) {
    return c->strikes ? c->strikes[k < c->last ? k : c->last] : c->strike;
}

/* Numbers of a date, of contracts on a mean: the dividend in the price, dividends in the prices of later fixings; per
 * later fixing, how its price grows, and the deviation of its logarithm that it shares with the geometric mean. */
enum { CVA_MEAN_HERE, CVA_MEAN_LATER, CVA_MEAN_HEAD };
/* The size of what it pays. */
static inline double cva_size(const cva_job *j, const cva_contract *c) {
    double all = 0;
    if (c->form & CVA_DIGITAL) return 1;
    for (int i = 0; i < c->assets; i++) {
        const double s = j->s0[c->asset[i]];
        all = c->form & CVA_OF_SUM ? all + fabs(c->weight[i]) * s : fmax(all, s);
    }
    return fmax(c->strike, all);
}

SHOAL_HD static inline int64_t cva_mean_numbers(int64_t fixings) {
    return CVA_MEAN_HEAD + 2 * fixings;
}

/* The dividends after date k in the price of asset i, where the largest price counts. */
SHOAL_HD static inline double cva_cash_in(const cva_contract *c, int64_t k, int i) {
    if (!c->cash) return 0;
    const int64_t row = c->kind != CVA_AMERICAN ? 0 : k < c->last ? k : c->last;
    return c->cash[row * c->assets + i];
}

/* What exercise at date k, or the last day, pays at prices `spot` of all assets: below 0 only of a forward. */
SHOAL_HD static inline double cva_pay(const cva_contract *c, const double *spot, int64_t k) {
    const int sum = c->form & CVA_OF_SUM;
    double all = sum ? 0 : spot[c->asset[0]];
    for (int i = 0; i < c->assets; i++) {
        const double s = spot[c->asset[i]] + cva_cash_in(c, k, i);
        if (sum)
            all = fma(c->weight[i], s, all);
        else if (s > all)
            all = s;
    }
    return cva_pays(c->form, (cva_price)cva_strike_at(c, k), (cva_price)all);
}

typedef shoal_status cva_stage(shoal_context *ctx, const cva_job *job, int64_t k);

/* The cell of outer paths, in f64 alone: all over the paths of the job, on either backend. */
typedef struct cva_method {
    cva_stage *begin;  /* today                                                                  */
    cva_stage *move;   /* from date k - 1 to date k; all values are 0                            */
    cva_stage *value;  /* adds contracts with closed forms to the values                         */
    cva_stage *settle; /* adds what exercise by the rules pays, or what `amc` says               */
    cva_stage *plan;   /* the nodes of the paths that are valued together, and their groups      */
    cva_stage *fill;   /* their items                                                            */
    cva_stage *keep;   /* the view of a margin call                                              */
    cva_stage *jump;   /* prices after the jump at default, and values of 0: in the view of it   */
    cva_stage *add;    /* nets the sums of items                                                 */
    cva_stage *expose; /* exposures into the rows                                                */
    cva_stage *allot;  /* their shares by contract                                               */
} cva_method;

/* The cell of inner paths: sums over the items, on either backend. */
typedef struct cva_walker {
    cva_stage *nest;   /* of European contracts that need inner paths                     */
    cva_stage *follow; /* of contracts with early exercise that their paths hold          */
} cva_walker;

/* now[path] := whether a rule exercises the contract at the prices of the path at date k: on the CPU. */
typedef void cva_decider(const shoal_context *ctx, const cva_job *job, const cva_contract *c,
                         const cva_rule *rule, int64_t k, char *now);
typedef struct cva_judge {
    cva_decider *decide;
} cva_judge;

/* A rule of a contract that is fitted: the paths of its assets, backwards. */
typedef struct cva_fit {
    cva_job job;    /* a market of these assets alone; its dates are the plan's */
    cva_contract c; /* whose assets are 0, 1, ..                                */
    cva_rule rule;
    double *numbers; /* rule.at                                                 */
    int64_t blocks;
    int64_t dimensions; /* of Sobol's points: [dimension][SHOAL_SOBOL_BITS], [dimension] */
    uint32_t *directions;
    uint64_t *shift;
    double *at, *cash; /* [block][asset][lane], [block][lane]                   */
    double *base;      /* with knots: `at` at the last one before the date      */
    double *prices[2]; /* [block][asset][lane] at dates of either parity        */
    double *all;       /* with variances: the same, at all dates                */
    double *moments;   /* [block][region][1 + 2 variables]                      */
    double *gram;      /* [task][region][triangle, right-hand side]             */
} cva_fit;

enum { CVA_FIT_LANES = 256, CVA_FIT_TASK = 8 }; /* paths of a block; blocks of a task */

static inline int64_t cva_gram_numbers(int columns) {
    return (int64_t)columns * (columns + 1) / 2 + columns;
}

typedef struct cva_fitter { /* f64 alone */
    /* from date i + 1 to date i, and the moments of the variables there; i is the last date: begins */
    void (*visit)(const shoal_context *ctx, const cva_fit *fit, int64_t i);
    /* the sums of the regressions at date i */
    void (*sum)(const shoal_context *ctx, const cva_fit *fit, int64_t i);
    /* decides at date i by its rule, which has been made */
    void (*settle)(const shoal_context *ctx, const cva_fit *fit, int64_t i);
} cva_fitter;

/* ---- sensitivities -------------------------------------------------------------------------------
 *
 * The reverse pass (adjoint.c) gives derivatives by inputs of the paths and closed forms: integrals of the curves at
 * moments, with a flat market one slot each of years times the number; prices today; correlations; recovery; the
 * integrated hazard rate over each step between exposures. Parameters are mapped to inputs by a sparse matrix
 * (greeks.c). */
enum {
    CVA_BY_RATE,        /* [slot] */
    CVA_BY_GROWTH,      /* [used asset][slot] */
    CVA_BY_VOLATILITY,  /* [used asset][slot]: with curves by the variance */
    CVA_BY_SPOT,        /* [used asset] */
    CVA_BY_CORRELATION, /* [pair of used assets] */
    CVA_BY_RECOVERY,    /* [party] */
    CVA_BY_HAZARD,      /* [party][exposure] */
    CVA_INPUTS
};

typedef struct cva_term { /* of an input: of which parameter, times what */
    int64_t to;
    double factor;
} cva_term;

/* Of a rule on one asset (tangent.c), by the parameters that it depends on: of the premium at a price, [date - 1]
 * [point][column], and of the logarithms of the prices between which it exercises, [date - 1][low, high][column]. */
typedef struct cva_tangent {
    int64_t columns;
    const int64_t *to; /* [column]: its parameter */
    const double *premium, *edge;
} cva_tangent;

typedef struct cva_greeks {
    int64_t parameters; /* 0: no sensitivities */
    shoal_cva_sensitivity *parameter;
    int64_t slots, useds, *used; /* assets of the contracts, ascending               */
    int64_t *place;              /* [asset]: among those that are used, or -1        */
    int64_t begin[CVA_INPUTS + 1];
    int64_t *start; /* [input + 1]: its first term */
    cva_term *term;
    double
        *root; /* L of the correlation of the used assets; NULL: there is none that is invertible */
    double *bare; /* [party][exposure]: share / (1 - recovery) */
    double *
        alive; /* the same, of no default up to the exposure in place of default since the last one */
    const int64_t *contract; /* the numbers of all that have not expired, by netting set */
    int64_t contracts;
    cva_tangent *tangent; /* [place]: of contracts with early exercise */
    const int64_t *call;  /* [margin period][exposure]: the date of the margin call */
    int64_t most;         /* contracts of a set */
    int jumps;            /* 1: some payoffs do */
    int64_t gamma;        /* the first parameter of the pairs of spots; 0: there are none */
    double *bump;         /* [used asset]: of log S, in these                             */
} cva_greeks;

/* Columns `at` of the rows of some paths. */
typedef struct cva_reverse {
    shoal_status (*run)(const shoal_context *ctx, const cva_job *job, const cva_greeks *g,
                        int64_t first, int64_t paths, double *rows, int64_t width, int64_t at);
} cva_reverse;

/* A row of samples: its share of the CVA, the same without levels (`inner`: with half of the inner paths), and
 * that of the rule less that of the other; then lists with a number per date of exposure; with a validation a list per
 * contract, discounted values and what was paid before; with results by netting set, lists of each set, then a share
 * of the CVA per set; last the derivatives by all parameters. */
enum { CVA_ROW_CVA, CVA_ROW_PLAIN, CVA_ROW_RULE, CVA_ROW_HEAD };
enum {
    CVA_LIST_OURS, /* exposures, and the other side's                      */
    CVA_LIST_THEIRS,
    CVA_LIST_WHOLE, /* our exposure by all inner paths, and by half of them */
    CVA_LIST_HALF,
    CVA_LIST_RULE, /* exposures by the rule less those by the other        */
    CVA_LIST_RULE_THEIRS,
    CVA_LISTS_ALWAYS,
    CVA_LIST_LOSS = CVA_LISTS_ALWAYS, /* wrong-way risk: share of the CVA */
    CVA_LISTS
};
enum { CVA_SET_OURS, CVA_SET_THEIRS, CVA_SET_WHOLE, CVA_SET_LISTS_ALWAYS };
enum { CVA_SET_LOSS = CVA_SET_LISTS_ALWAYS, CVA_SET_LISTS }; /* LOSS: with wrong-way risk */
SHOAL_HD static inline int64_t cva_set_lists(const cva_job *job) {
    return job->wrong_way ? (int64_t)CVA_SET_LISTS : (int64_t)CVA_SET_LISTS_ALWAYS;
}

/* Where the lists of a netting set begin in a row, and its share of the CVA is. */
SHOAL_HD static inline int64_t cva_set_list(const cva_job *job, int64_t set) {
    return CVA_ROW_HEAD + (job->list_by_set + cva_set_lists(job) * set) * job->exposures;
}
SHOAL_HD static inline int64_t cva_set_share(const cva_job *job, int64_t set) {
    return cva_set_list(job, job->sets) + set;
}

/* Sums of a contract over paths, each two whole numbers (outer.h): our exposure and theirs per date of exposure, then
 * the share of the CVA and its square. */
enum { CVA_TOTAL_OURS, CVA_TOTAL_THEIRS, CVA_TOTAL_LISTS };
enum { CVA_TOTAL_CVA, CVA_TOTAL_SQUARE, CVA_TOTAL_TAIL };
enum { CVA_LIMBS = 2, CVA_LOW_BITS = 40 };
#define CVA_SIZE_UNIT   1048576.0             /* 2^20: a contract of its usual size in its units */
#define CVA_SQUARE_UNIT (1.0 / CVA_SIZE_UNIT) /* of squares                                      */
SHOAL_HD static inline int64_t cva_total_numbers(const cva_job *job) {
    return CVA_LIMBS * (CVA_TOTAL_LISTS * job->exposures + CVA_TOTAL_TAIL);
}

SHOAL_HD static inline int64_t cva_lists(const cva_job *job) {
    return job->wrong_way ? CVA_LISTS : CVA_LISTS_ALWAYS;
}

struct shoal_cva {
    shoal_plan head;
    shoal_context host; /* the CPU's, of the same threads and instruction level                 */
    shoal_context
        *where;       /* runs: the plan's context, or with regressions at nodes the host       */
    shoal_plan *room; /* their memory                                                         */
    const cva_method *cell, *host_cell;
    const cva_walker *walker, *host_walker;
    const cva_judge *judge;
    const cva_reverse *reverse;
    cva_greeks greeks;
    cva_job job;
    cva_job device; /* the same: market, contracts and lists in the context's memory             */
    void *arena;  /* of arrays of a run, in that of `where`                                      */
    void *pinned; /* what rows are copied through; NULL: nothing yet */
    int64_t item_room;
    cva_item *item;
    double *sums, *net;
    shoal_cva_estimator estimator;
    shoal_american_opts american;
    american_plan
        *batch;    /* what problems of early exercise leave for the next ones to work in    */
    double *share; /* [party][exposure]: (1 - recovery) e^(-rate t) P(default since the last one) */
    double *chance; /* [party][exposure]: that probability                                       */
    double *integrated; /* [exposure]: the hazard rate of the first party from 0                 */
    double *own; /* [exposure]: as share, of our own default                                  */
    double *borrowing,
        *lending; /* [party][exposure]: what an exposure costs, or brings, in funding */
    /* margin.c: [period][exposure] of the margin call, its date and slot; [date] the slot that is kept there, or -1 */
    int64_t *call_date, *call_slot, *slot_at, slots;
    double period[CVA_PERIODS];
    double *price;   /* today: [contract] numbers of validate.c; NULL: not wanted                */
    double *present; /* of the book, the parties, the sets: price and error; NULL: not wanted    */
    int validates, by_set, by_trade, rules_only;
    double quantile_error, *unit; /* sums.c: 0: rows; one over the size of each source           */
    double share_of_level; /* of nodes whose exposure has a kink: P(level >= 1)                  */
    int top_level;
    int is_pilot; /* every node gets the levels */
    double outer; /* paths that the target needs, by the pilot; 0: no target */
    char solver[16];
    cva_contract *contracts; /* the job's                                                       */
};

/* payoff.c: the form of a payoff. */
int shoal_cva_form(shoal_cva_payoff payoff);

/* curves.c: checks, and the integrals of the curves of a market at all moments; the moments that are no dates. */
shoal_status shoal_cva_check_curves(shoal_context *ctx, const shoal_cva_market *m);
shoal_status shoal_cva_make_curves(shoal_cva *p, const shoal_cva_market *m);
/* Whether drift and variance of log S are proportional up to `end`. */
int shoal_cva_is_steady(const shoal_cva_market *m, int64_t a, double end);
/* Whether it has any; the knots of its volatilities up to `end`, ascending: how many (`to` NULL counts at most). */
int shoal_cva_has_curves(const shoal_cva_market *m);
int64_t shoal_cva_knots(const shoal_cva_market *m, double end, double *to);

/* escrow.c: checks of cash dividends, and that prices are above their value; the value of those after t; whether a
 * contract's assets pay any; the strikes of contracts, when dates are known. */
shoal_status shoal_cva_check_cash(shoal_context *ctx, const shoal_cva_market *m);
shoal_status shoal_cva_check_escrow(shoal_context *ctx, const shoal_cva_market *m);
double shoal_cva_escrow(const shoal_cva_market *m, int64_t a, double t);
int shoal_cva_pays_cash(const shoal_cva_market *m, const int64_t *asset, int64_t assets);
shoal_status shoal_cva_make_strikes(shoal_cva *p, const shoal_cva_market *m);

/* heston.c: checks of a market, and of what its contracts ask for; the assets and the numbers of its steps when dates are
 * known; surfaces of European values. Dates are at most CVA_HESTON_STEP years apart. */
#define CVA_HESTON_STEP (8.0 / 365)
shoal_status shoal_cva_check_heston(shoal_context *ctx, const shoal_cva_market *m,
                                    const shoal_cva_opts *o);
shoal_status shoal_cva_check_heston_contract(shoal_context *ctx, const shoal_cva_market *m,
                                             const shoal_cva_contract *c);
int shoal_cva_is_heston(const shoal_cva_market *m, int64_t a);
shoal_status shoal_cva_make_variances(shoal_cva *p, const shoal_cva_market *m);
shoal_status shoal_cva_make_steps(shoal_cva *p);
shoal_status shoal_cva_make_surfaces(shoal_cva *p);

/* mean.c: the numbers of contracts on a mean, when dates, curves and strikes are known. */
shoal_status shoal_cva_make_means(shoal_cva *p, const shoal_cva_market *m);

/* dates.c: the dates of the plan, and where its contracts may be exercised. */
shoal_status shoal_cva_make_dates(shoal_cva *p, const shoal_cva_market *m,
                                  const shoal_cva_contract *from, const shoal_cva_opts *o);

/* dates.c: the date of a time that is one; the time of the margin call before an exposure, 0: today. */
int64_t shoal_cva_date_of(const cva_job *j, double time);
double shoal_cva_call_time(double exposure, double period);

/* margin.c: the collateral of netting sets, before the dates; the slots of margin calls, when dates are known. */
shoal_status shoal_cva_make_csas(shoal_cva *p, const shoal_cva_counterparty *c,
                                 const shoal_cva_opts *o);
shoal_status shoal_cva_check_csas(shoal_context *ctx, const shoal_cva_opts *o);
shoal_status shoal_cva_make_slots(shoal_cva *p);
/* Numbers of a slot, and the arrays in it. */
int64_t shoal_cva_slot_numbers(const cva_job *j);
cva_view shoal_cva_slot(const cva_job *j, int64_t slot);

/* hazard.c: checks; the jumps at default, and the steps of hazard rates that are not known. hazard_to: a known one,
 * integrated from 0 to t. */
shoal_status shoal_cva_check_hazard(shoal_context *ctx, const shoal_cva_counterparty *c,
                                    int64_t assets);
int shoal_cva_jumps(const shoal_cva_counterparty *c, int64_t assets);
double shoal_cva_hazard_to(const shoal_cva_counterparty *c, double t);
shoal_status shoal_cva_make_hazard(shoal_cva *p, const shoal_cva_counterparty *c);

/* rule.c: the exercise rules of all contracts with early exercise, fitted on so many paths. */
shoal_status shoal_cva_fit_rules(shoal_cva *p, int64_t paths);

/* rule.c: copies those of another plan, and what its pilot run has chosen. */
shoal_status shoal_cva_copy_rules(shoal_cva *p, const shoal_cva *from);

/* line.c: memory of a plan, for threads that fit rules. */
shoal_status shoal_cva_rule_room(shoal_cva *p, int64_t count, size_t size, void *to);

/* line.c: the rule of a contract on one asset; to := the discounted mean of `from` after a step of dt. */
shoal_status shoal_cva_line_rule(shoal_cva *p, const cva_contract *c, cva_rule *to);
void shoal_cva_line_mean(const double *from, int points, double step, double dt, double discount,
                         double *to);

/* tangent.c: how those rules depend on the parameters, when they are made. */
shoal_status shoal_cva_make_tangents(shoal_cva *p);

/* exercise.c: the contracts with early exercise at date k by regressions at every node, added to the values. */
shoal_status shoal_cva_exercise(shoal_cva *p, const cva_job *j, int64_t k,
                                shoal_cva_counts *counts);

/* pilot.c: the share of levels; with a target also inner paths, unless they are given, and outer paths. kinks:
 * exposures have some that inner paths see. */
shoal_status shoal_cva_pilot(shoal_cva *p, const shoal_cva_opts *o, int kinks);

/* validate.c: prices today, of other paths than the outer ones. */
shoal_status shoal_cva_make_prices(shoal_cva *p);
enum { CVA_PRICE, CVA_PRICE_ERROR, CVA_UPPER, CVA_UPPER_ERROR, CVA_PRICE_NUMBERS };

/* rows.c: the mean of at[i stride], less less[i stride] unless that is NULL, and its standard error. */
double shoal_cva_mean(const double *at, const double *less, int64_t stride, int64_t paths,
                      double *error);

/* run.c: what belongs to an exposure at date k. */
void shoal_cva_begin_date(const shoal_cva *p, cva_job *j, int64_t k);

/* rows.c: lists of a row before those of netting sets; where in it sensitivities are. */
int64_t shoal_cva_lists(const shoal_cva *p);
int64_t shoal_cva_greeks_at(const shoal_cva *p);

/* run.c: shoal_cva_run() without its checks. */
shoal_status shoal_cva_run_paths(shoal_cva *p, int64_t first, int64_t paths, double *samples,
                                 shoal_cva_counts *counts);

/* greeks.c: what sensitivities are of, and their terms. */
shoal_status shoal_cva_make_greeks(shoal_cva *p, const shoal_cva_market *m,
                                   const shoal_cva_counterparty *c, int gammas);

/* nodes.c: random numbers and stops of the inner paths from date k. */
void shoal_cva_look_from(const shoal_cva *p, cva_job *j, int64_t k);
/* All contracts that are not closed forms at date k, by rules; exposures into the rows. */
shoal_status shoal_cva_nodes(shoal_cva *p, cva_job *j, int64_t k, shoal_cva_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
