/* SPDX-License-Identifier: Apache-2.0
 *
 * surrogate.h - what `shoal train` and `shoal predict` share: tables of prices, model files.
 */
#ifndef CLI_SURROGATE_H
#define CLI_SURROGATE_H

#include "cli/common/cli.h"

typedef struct surrogate_table { /* out of a .csv file, or of options */
    const char *path; /* NULL: out of options                                                 */
    int64_t rows;
    int inputs;
    char *names[SHOAL_SURROGATE_INPUTS]; /* from malloc                                       */
    double *x;                           /* [rows][inputs]                                    */
    double *price, *error;               /* NULL: no such columns                             */
    double nu2;                          /* of options, where beta is made of it; else 0      */
} surrogate_table;

/* Reads a table. `names` are the inputs that must be there, or NULL: all columns but price and stderr
 * are. With `priced` those two must be there; without, price counts only with stderr. Every row is
 * checked; a message reads FILE:LINE: column NAME: reason. */
int surrogate_read(const cli *c, const char *path, const char *const *names, int count, bool priced,
                   surrogate_table *table);
void surrogate_table_free(surrogate_table *table);
/* The input of that name; -1: none. */
int surrogate_input(const surrogate_table *t, const char *name);
/* Why a value cannot be that of an input: NULL if it can. */
const char *surrogate_infeasible(const char *name, double value);
/* FILE:LINE: column NAME: VALUE REASON, or --NAME: VALUE REASON (of a beta that was made of it: --nu2: VALUE
 * makes beta VALUE, which REASON); the exit code. */
int surrogate_wrong(const surrogate_table *t, int64_t row, const char *column, double value,
                    const char *reason);
/* Whether a network of that target can be trained on the first rows of a table, and validated on another one
 * or, where that is the same table, on the rest of it. */
int surrogate_suits(const surrogate_table *train, int64_t rows, const surrogate_table *held,
                    const char *target);

/* Whether an input may have that name: not one of shoal predict's own columns and JSON keys. `where` is what
 * the message begins with. */
int surrogate_name_is_free(const char *where, const char *name);

int surrogate_load(cli *c, const char *path, shoal_surrogate **net);
int surrogate_save(cli *c, const char *path, const shoal_surrogate *net);
/* Weights and constants as a .npz file for numpy. */
int surrogate_export(cli *c, const char *path, const shoal_surrogate *net);

/* ---- predict_check.c ---- */

typedef struct surrogate_reference { /* by Monte Carlo: of the file, or simulated here */
    const double *price, *error;
    double seconds; /* of the simulation, 0 for a file */
    int64_t paths;  /* of all rows, 0 for a file       */
} surrogate_reference;

typedef struct surrogate_bin { /* rows with an input from..to */
    const char *input;
    double from, to;
    int64_t rows;
    double rmse, noise, q99, worst; /* of price errors; noise: of the Monte Carlo prices      */
} surrogate_bin;

enum { SURROGATE_BINS = 10 };

typedef struct surrogate_errors {
    surrogate_bin all;
    int bins;
    surrogate_bin bin[SURROGATE_BINS];
} surrogate_errors;

/* Points of surfaces in strike and maturity where a price could be exploited. */
typedef struct surrogate_arbitrage {
    int strikes, maturities; /* of a surface; 1: there is but one, and nothing to look for    */
    int64_t sets, points;
    int64_t strike, convexity, maturity;                  /* points that fail                */
    double worst_strike, worst_convexity, worst_maturity; /* dP/dK - 0, -d2P/dK2, -dP/dT      */
} surrogate_arbitrage;

/* Simulates every row until its error is at most `target`, or it has so many paths. */
int surrogate_simulate(cli *c, const surrogate_table *t, int64_t paths, double target,
                       double *price, double *error, surrogate_reference *reference);
int surrogate_compare(const surrogate_table *t, const double *price,
                      const surrogate_reference *reference, surrogate_errors *errors);
int surrogate_static(cli *c, const shoal_surrogate *net, const surrogate_table *t,
                     surrogate_arbitrage *found);

#endif
