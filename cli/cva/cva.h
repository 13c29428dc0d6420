/* SPDX-License-Identifier: Apache-2.0
 *
 * cva.h - what the files of `shoal cva` share: the book and the market, options, results.
 */
#ifndef CLI_CVA_H
#define CLI_CVA_H

#include "cli/common/cli.h"
#include "cli/common/options.h"
#include "cli/common/units.h"

typedef struct cva_options cva_options;

typedef struct cva_book {
    int64_t assets; /* of the market */
    char **asset;   /* their names   */
    double *s0, *sigma, *dividend, *correlation;
    shoal_cva_curve *sigmas, *dividends; /* per asset; .count 0: the number */
    shoal_cva_curve *cash;               /* dividends per asset; NULL: none */
    double *cash_numbers;
    shoal_cva_heston *heston; /* per asset; .sigma 0: its volatility */
    int64_t today;            /* days from 1970-01-01, before reading; 0: no dates */
    int64_t count;
    shoal_cva_contract *contract;
    int64_t *line;  /* of the file, per contract    */
    char **id;      /* of trades, per contract; NULL: no column id */
    int64_t *index; /* what contracts point at     */
    double *weight;
    double **exercise;    /* own times of exercise, or fixings, per contract; NULL: none */
    bool has_correlation; /* the market gives correlations */
    int64_t sets;
    char **set;      /* names of netting sets            */
    int64_t *set_of; /* [set]: its counterparty          */
    int64_t parties; /* 0: neither a file nor a column of counterparties */
    char **party;    /* their names                                      */
    shoal_cva_counterparty
        *terms;             /* [party]: .pieces 0, .recovery or .threshold NaN: as the options */
    shoal_cva_curve *swaps; /* [party]: spreads in place of hazard rates                       */
    bool has_parties;       /* the names are those of a file                                   */
    int64_t own;            /* contracts of the book; those behind are of --add */
    shoal_cva_csa *csa;     /* [set]: collateral; NULL: as the counterparties have */
    char *text, *market_text, *parties_text, *sets_text; /* the files as they were read */
} cva_book;

#define CVA_ESTIMATORS "rule|amc|inner" /* of shoal_cva_estimator */

/* Both leave it to cva_book_free() to clear up. Messages name file, line and column; all problems of a file are reported.
 * A note lists columns that are ignored. `text` stands for the contents of the file, unless it is NULL. */
int cva_read_market(const cli *c, const char *path, const char *text, cva_book *book);
int cva_read_book(const cli *c, const char *path, const char *text, cva_book *book);
/* parties.c: counterparties, one per line, before the book is read; terms that are missing are those of the options; spreads
 * of swaps become hazard rates. */
int cva_read_parties(const cli *c, const char *path, const char *text, cva_book *book);
int cva_complete_parties(cli *c, const cva_options *o, cva_book *book);
/* The number of a counterparty, a new one unless they are those of a file; the number of a netting set. */
int cva_find_party(cva_book *b, const char *name, int64_t *party);
int cva_find_set(cva_book *b, const char *name, int64_t party, int64_t *set);
/* Every contract is a netting set. */
int cva_undo_netting(cva_book *b);
/* Adds the contracts of another book of the same market and counterparties; `more` keeps their memory. */
int cva_append(cva_book *b, const cva_book *more);
void cva_book_free(cva_book *book);

/* A date like 2027-06-30: days from 1970-01-01; and back. */
enum { CVA_DAY = 16 };
bool cva_read_day(const char *text, size_t length, int64_t *day);
void cva_day_text(int64_t day, char text[CVA_DAY]);
int64_t cva_day_of(int year, int month, int day);
int cva_days_in(int year, int month);
/* A time in years: a number, maybe with a unit, d, w, m or y; or a date, if `today` is above 0. */
bool cva_read_years(const char *text, size_t length, int64_t today, double *years);
/* The same above 0; what to say of a text that is none. */
bool cva_read_time(const char *text, size_t length, int64_t today, double *years);
const char *cva_no_time(const char *text, size_t length, int64_t today);
/* A whole multiple of `step` below `end`, times, and `end`: from malloc, NULL without memory. */
double *cva_times_of(double step, double end, int64_t *count);
/* The times of the column time of a file. */
int cva_read_dates(const cli *c, const char *path, int64_t today, int64_t *count, double **time);

/* A curve: from the columns tenor and rate of a file; from points time:value with blanks or commas between them, CLI_INPUT
 * without a message if they are none; and back, from malloc. */
int cva_curve_file(const cli *c, const char *path, int64_t today, shoal_cva_curve *curve);
int cva_curve_points(const char *text, int64_t today, shoal_cva_curve *curve);
char *cva_curve_text(const shoal_cva_curve *curve, char between);
void cva_curve_free(shoal_cva_curve *curve);

struct cva_options {
    const char *book, *market, *output, *plot, *report, *parties, *sets, *add, *cube, *tables;
    const char *own_words, *borrowing_words, *lending_words;
    shoal_cva_counterparty own; /* our own default            */
    double *own_hazard;         /* where it was given         */
    bool breakdown;             /* results by counterparty, netting set and trade */
    double rate;
    int64_t today; /* days from 1970-01-01; 0: not given */
    const char *cds_words, *rates_words, *hazard_words, *dates_words, *horizon_words, *period_words,
        *correlation_words, *jump_words, *dividends_words; /* as they were given; NULL: not */
    char *dividends_text;                                  /* ASSET:T:AMOUNT,.. of --dividends */
    shoal_cva_curve rates;                                 /* zero rates */
    shoal_cva_curve swaps; /* spreads of credit default swaps by maturity */
    bool no_netting, compare;
    bool type_given, estimator_given, rate_given, recovery_given, outer_given;
    const char *dates;            /* a file of dates, or NULL */
    double step;                  /* of dates, or 0           */
    double *time;                 /* dates, or NULL           */
    shoal_cva_counterparty party; /* .threshold below 0: no collateral */
    double *hazard;               /* of the party, where it was given  */
    shoal_cva_csa csa;            /* of sets that have no other, but for the threshold */
    double *by_asset;             /* correlations with the hazard rate, and jumps at default */
    shoal_cva_opts opts;
    int64_t shard, shards;   /* shards 0: not a part */
    struct cva_early *early; /* NULL: nothing was made before the context */
    unit_settings units;
};

/* open.c: what the CPU makes while the GPU opens. */
typedef struct cva_early {
    shoal_context *cpu;
    shoal_cva *rules; /* of exercise, or NULL */
    double *rows;     /* memory of the outer paths, with its pages; NULL: none, or taken */
    double seconds;   /* that the rules took */
} cva_early;
/* Before the context is opened, and while there is one thread. */
void cva_want_one_queue(const cli *c, const cva_options *o);
bool cva_begins_early(const cli *c, const cva_options *o, const cva_book *b);
/* cli_open(); o->early is `to`. */
int cva_open_early(cli *c, cva_options *o, const cva_book *b, cva_early *to);
void cva_early_free(cva_early *e);
/* realloc() of the rows of outer paths, in large pages if the system has them: results read columns of the rows. */
double *cva_rows(double *rows, int64_t outer, int64_t width);

/* settings.c: options that are times or curves. They are read when all are parsed; dates when the book is. */
void cva_keep_words(struct argp_state *state, const cli_option *row, const char *text,
                    void *arguments);
void cva_parse_today(struct argp_state *state, const cli_option *row, const char *text,
                     void *arguments);
char *cva_today_text(const void *arguments);
char *cva_rates_text(const void *arguments);
char *cva_hazard_text(const void *arguments);
char *cva_own_text(const void *arguments);
char *cva_borrowing_text(const void *arguments);
char *cva_lending_text(const void *arguments);
char *cva_dates_text(const void *arguments);
char *cva_horizon_text(const void *arguments);
char *cva_period_text(const void *arguments);
char *cva_correlation_text(const void *arguments);
char *cva_jump_text(const void *arguments);
/* dividends.c: cash dividends, when the market is read. */
int cva_read_dividends(const cli *c, cva_options *o, cva_book *b);
char *cva_dividends_text(const void *arguments);
int cva_read_settings(const cli *c, cva_options *o);
/* swaps.c: the hazard rates of some swaps; *hazard is theirs, from malloc. */
int cva_bootstrap(cli *c, const cva_options *o, const shoal_cva_curve *swaps,
                  shoal_cva_counterparty *party, double **hazard);
int cva_make_times(const cli *c, cva_options *o, const cva_book *b);
void cva_free_settings(cva_options *o);

/* counterparty.c: the agreements of netting sets, b->csa, from --sets or `text` and from options; counterparties are complete,
 * and contracts net. */
int cva_read_sets(const cli *c, const cva_options *o, const char *text, cva_book *b);
/* Every contract is a set with the agreement that its own one had. */
int cva_undo_sets(cva_book *b);
/* Whether collateral is called before an exposure, or assets jump at default: trades then have no contributions. */
bool cva_has_views(const cva_options *o, const cva_book *b);
/* What --estimator inner does not have of this; NULL: nothing. */
const char *cva_inner_lacks(const cva_options *o, const cva_book *b);
enum { CVA_CSA_TEXT = 256 };
void cva_csa_text(const shoal_cva_csa *a, char text[CVA_CSA_TEXT]);
void cva_print_collateral(const cva_book *b);
void cva_json_collateral(io_json *j, const cva_book *b);
/* Correlations and jumps, by asset, of all counterparties. */
int cva_read_wrong_way(cva_options *o, cva_book *b);
void cva_print_wrong_way(const cva_options *o, const cva_book *b);

/* A sensitivity with names: of an asset or a counterparty; with the other asset of a correlation or a cross gamma. */
typedef struct cva_greek {
    shoal_cva_sensitivity s;
    const char *parameter, *of, *with;
    double change, change_error; /* of the CVA by the usual move */
} cva_greek;

typedef struct cva_result {
    shoal_cva_info info;
    shoal_cva_value value;
    shoal_cva_counts counts;
    shoal_cva_date *profile;
    int64_t first;      /* of them, in a part          */
    int64_t outer;      /* paths that were run         */
    int64_t planned;    /* paths that were to be run   */
    double *samples;    /* outer x width, their rows   */
    shoal_units *units; /* what has the rows in place of `samples`; NULL: it has them itself */
    void *part;         /* the same, of a part */
    int64_t width;
    shoal_cva_validation validation;
    shoal_cva_check *check;                      /* [contract][date], with --validate; else NULL */
    shoal_cva_adjustments all;                   /* of the book */
    shoal_cva_adjustments *party, *set;          /* NULL: no breakdown */
    shoal_cva_date *party_profile, *set_profile; /* [party][date], [set][date] */
    shoal_cva_trade *trade;
    double *trade_profile; /* [contract][EPE, ENE][date] */
    int64_t *totals, total_count;
    const int64_t *sums;           /* in place of samples, with --quantile-error; else NULL */
    shoal_cva_adjustments *before; /* of the book without what --add adds; NULL: nothing is added */
    shoal_cva_adjustments more;    /* the difference, by path: pv, cva, dva, fca, fba, fva alone */
    shoal_cva *plan;               /* with --add: of the results                                 */
    cva_greek *greek;              /* NULL without --greeks and --gammas */
    int64_t greeks;
    double estimate; /* of the seconds of the outer paths, made from the first of them; 0: none */
    double seconds, rules; /* all of it; of these, the plan: exercise rules and the pilot run */
    double done;           /* the moment of the last outer path */
    /* of the whole command: inputs, opening the device, results and files after the last outer path */
    double start, open, results;
} cva_result;

/* The outer paths, or those before Ctrl-C. `bar` is the label of a progress bar, or NULL. To be freed in either case. */
int cva_compute(cli *c, const cva_options *o, const cva_book *book, const char *bar, cva_result *r);
/* A plan in a context; messages are the library's. */
shoal_status cva_create_in(shoal_context *ctx, const cva_options *o, const cva_book *b,
                           const shoal_cva *rules_of, int rules_only, shoal_cva **plan);
/* The plan; messages are about lines of the book. */
int cva_create(cli *c, const cva_options *o, const cva_book *book, const shoal_cva *rules_of,
               shoal_cva **plan);
/* Says what a reader should know of the book, whatever was computed. */
void cva_note_book(cli *c, const cva_options *o, const cva_book *b, const cva_result *r);
void cva_result_free(cva_result *r);
/* Of the book, a counterparty or a netting set, from samples or sums; profile may be NULL. */
shoal_status cva_adjust(const shoal_cva *plan, const cva_result *r, shoal_cva_part part,
                        int64_t index, shoal_cva_adjustments *to, shoal_cva_date *profile);

int cva_write_csv(const char *path, const cva_result *r);
/* breakdown.c: results by counterparty, netting set and trade. */
bool cva_has_breakdown(const cva_options *o);
/* Fills the results from the samples and totals. */
int cva_break_down(cli *c, const shoal_cva *plan, const cva_book *b, cva_result *r);
/* The files of --tables. */
int cva_write_tables(const char *folder, const cva_options *o, const cva_book *b,
                     const cva_result *r);
void cva_json_breakdown(io_json *j, const cva_book *b, const cva_result *r);
void cva_print_breakdown(const cva_book *b, const cva_result *r);
/* greeks.c: sensitivities, from the samples. */
int cva_take_greeks(cli *c, const shoal_cva *plan, const cva_book *b, cva_result *r);
void cva_print_greeks(const cva_result *r);
void cva_json_greeks(io_json *j, const cva_result *r);
int cva_write_greeks(const char *folder, const cva_result *r);
/* The other asset of a correlation or a cross gamma, or the time of a point. */
const char *cva_greek_place(const cva_greek *g, char text[CLI_NUMBER]);
/* Names: of a counterparty, a netting set, a trade. */
enum { CVA_NAME = 64 };
const char *cva_party_name(const cva_book *b, int64_t party);
const char *cva_set_name(const cva_book *b, int64_t set);
const char *cva_trade_name(const cva_book *b, int64_t i, char text[CVA_NAME]);
/* The trades by the size of their contribution to the CVA, from malloc; NULL: no memory. */
int64_t *cva_by_size(const cva_book *b, const cva_result *r);
/* The file that a contract is from. */
const char *cva_file_of(const cva_options *o, const cva_book *b, int64_t i);

/* cube.c: values of all contracts, paths and dates into a file, as they come. */
typedef struct cva_cube cva_cube;
int cva_cube_open(const char *path, int64_t paths, int64_t contracts, int64_t dates,
                  cva_cube **cube);
/* Room for the values of so many paths; they are written when they are there. */
double *cva_cube_room(cva_cube *cube, int64_t paths);
int cva_cube_write(cva_cube *cube, int64_t first, int64_t paths);
/* The file appears, if `good`. */
int cva_cube_close(cva_cube *cube, bool good);
int cva_print(cli *c, const cva_options *o, const cva_book *book, const cva_result *r);

/* "1.316" of a number with an error of 0.021; six digits of one by a formula or a grid. */
const char *cva_rounded(char text[32], double value, double error);
#define CVA_ROUNDED(value, error) cva_rounded((char[32]){ 0 }, value, error)

/* The numbers of a date, each rounded to its error: EPE, ENE, PFE 95 %, PFE 99 %, CVA. */
enum { CVA_SHOWN = 5 };
void cva_show(const shoal_cva_date *d, char text[CVA_SHOWN][32]);

/* "passed: ..", or "FAILED: ..", and the worst score. */
void cva_verdict(const cva_options *o, const cva_book *b, const cva_result *r, char text[256]);

/* Date k of the profile. One unit for all: days if a date is not a number of whole months. */
char *cva_date(char text[CLI_NUMBER], const cva_result *r, int64_t k);
/* Draws the profile into a file. */
int cva_plot(const char *path, const cva_options *o, const cva_result *r, io_error *err);

/* The date of the largest mean exposure. */
const shoal_cva_date *cva_peak(const cva_result *r);

/* Mean of the first `paths` rows' shares of the CVA, less those of `less` unless that is NULL, and its
 * standard error, NaN for fewer than 2. */
double cva_mean(const cva_result *r, const cva_result *less, int64_t paths, double *error);

int cva_write_page(const char *path, const cli *c, const cva_options *o, const cva_book *book,
                   const cva_result *r, io_error *err);

/* In units: the part of --shard, those that merge-parts has read, and whatever units_wanted() knows. Before the plan is
 * made, other processes are told; then its outer paths. */
bool cva_in_units(const cli *c, const cva_options *o);
int cva_announce(cli *c, const cva_options *o, const cva_book *book);
int cva_run_units(cli *c, const cva_options *o, const cva_book *book, shoal_cva *plan,
                  cva_result *r);
/* Parts: the text of the book, 0, the market, 1, counterparties, 2, or sets, 3; NULL: there are no parts. */
const char *cva_text_of(const cli *c, int i);

/* `shoal cva --compare`. */
int cva_compare(cli *c, const cva_options *o, const cva_book *book);

#endif
