/* SPDX-License-Identifier: Apache-2.0
 *
 * price.h - what the commands of `shoal price` share: options, simulation, units, results, pictures.
 */
#ifndef CLI_PRICE_H
#define CLI_PRICE_H

#include "cli/common/cli.h"
#include "cli/common/units.h"
#include "io/svg.h"

enum { PRICE_STEPS = 1000 }; /* of --compare */

typedef struct price_list { /* of strikes or maturities */
    int64_t count;
    double *values; /* from malloc */
} price_list;

typedef struct price_options {
    shoal_price_opts opts; /* without what price_opts_of fills in         */
    int64_t paths;         /* 0: the default                              */
    double target;         /* standard error to reach, 0: none            */
    const char *plot, *output;
    int64_t shard, shards; /* shards 0: not a part                        */
    unit_settings units;
    price_list strike, maturity;
    double s0, rate, dividend; /* of the model, for pictures              */
} price_options;

/* Options of a price_options: strikes; maturities; those of all models, and those of models without early exercise. */
extern const cli_option price_strikes[], price_contract[], price_simulation[], price_european[];
void price_options_free(price_options *o);
/* Refuses -o, of a command whose results it does not write, without --shard; `needed`: what it can be given with. */
void price_check_output(struct argp_state *state, const price_options *o, bool merging,
                        const char *needed);
/* The method, if none was given or "auto". */
void price_default_method(price_options *o, const char *method);
/* A strike and a maturity of 1, if none was given. */
int price_default_lists(price_options *o);

/* What a simulation found after so many samples. */
typedef struct price_point {
    int64_t samples;
    double price, error; /* of the first contract */
} price_point;

enum { PRICE_POINTS = 128 };

typedef struct price_outcome {
    shoal_price_info info;
    int64_t samples, unpaid; /* unpaid: values that no path paid for         */
    double seconds;          /* of simulation; 0 for merged parts           */
    shoal_price_value *values;
    int points;
    price_point point[PRICE_POINTS]; /* on the way, for the picture */
} price_outcome;

/* Simulates until the paths or the standard error are reached, or Ctrl-C: then what is known is the
 * outcome, and so is CLI_OK. */
int price_simulate(cli *c, const price_options *o, shoal_price *plan, price_outcome *out);
void price_outcome_free(price_outcome *out);

/* A command once its arguments are settled. */
typedef struct price_job price_job;
struct price_job {
    cli *c;
    const cli_command *command;
    const void *arguments; /* of the command */
    const price_options *o;
    shoal_price *plan; /* after price_compute() */
    int (*make)(cli *c, const void *arguments, shoal_price **plan);
    void (*json)(const price_job *job, io_json *j);              /* more keys, or NULL          */
    int (*keep)(const price_job *job, const price_outcome *out); /* -o, no part; or NULL */
    int (*draw)(const price_job *job, const price_outcome *out);
    int (*print)(const price_job *job, const price_outcome *out);
};

/* What the library is asked for. */
shoal_price_opts price_opts_of(const cli *c, const price_options *o);
/* Makes the plan and simulates, in units where they are asked for; writes the part of --shard. The caller frees plan
 * and outcome in any case. */
int price_compute(price_job *job, price_outcome *out);
/* All of it: computes, writes, prints, draws. */
int price_finish(price_job *job);
/* A .print: every strike at every maturity. */
int price_print(const price_job *job, const price_outcome *out);
/* CLI_USAGE unless --plot names an .svg, or a .png where the method draws one. */
int price_check_plot(const price_options *o, bool png);

/* Results: how it was done, and then the values of every strike and maturity. */
void price_json_run(io_json *j, const cli *c, const price_options *o, const price_outcome *out);
void price_json_value(io_json *j, const price_options *o, const shoal_price_value *v);
void price_json(io_json *j, const cli *c, const price_options *o, const price_outcome *out);
void price_table_run(const cli *c, const price_options *o, const price_outcome *out);
/* Price and standard error, and delta and gamma: columns of a row. */
void price_table_columns(const price_options *o, const shoal_price_value *v);
void price_table_value(const price_options *o, const shoal_price_value *v);
void price_table(const cli *c, const price_options *o, const price_outcome *out);
/* False: there is nothing to print, since a part was empty. */
bool price_has_values(const price_outcome *out);

/* A picture of a simulation: its convergence, or, of several strikes, the smile. `exact` is drawn
 * beside it unless it is NaN. */
int price_plot(const char *path, const char *model, const price_options *o,
               const price_outcome *out, double exact);

/* A curve of densities. */
int price_plot_density(const char *path, const char *model, int count, const double *x,
                       const double *y);

/* Puts or calls on one asset without paths, `price american --method exact` or pde: CLI_USAGE, naming an option that
 * does not belong to it; and the values of the options of a file, unless it is NULL. */
typedef struct price_exact_opts {
    double sigma;
    int64_t nodes; /* of the boundary; of the grid */
    bool european;
    const char *file;
    bool pde; /* by finite differences: */
    shoal_vanilla_pde_opts grid;
} price_exact_opts;
int price_exact_check(const cli *c, const void *arguments, const price_options *o,
                      const price_exact_opts *e);
int price_exact(cli *c, const void *arguments, const price_options *o, const price_exact_opts *e);
/* The options of simulations, which neither has; those of pde alone, and those that lsm does not have. */
extern const char price_simulated[], price_dated[], price_curves[];

/* The values of a plan without paths. */
int price_by_formula(cli *c, shoal_price *plan, shoal_price_value *values);
/* CLI_USAGE, naming the first of these options that was given although --compare has no such thing. */
int price_compare_check(const cli_command *command, const void *arguments, const char *names);

/* Question 3: Euler against exact over a grid of parameters. */
int price_compare(cli *c, const shoal_heston *model, const price_options *o, int64_t exact_steps);

#endif
