/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_options.h - the options of `shoal solve tridiag`.
 */
#ifndef CLI_TRIDIAG_OPTIONS_H
#define CLI_TRIDIAG_OPTIONS_H

#include "totals.h"
#include "tridiag_files.h"

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, OUTCOMES };
extern const cli_outcome tridiag_outcomes[OUTCOMES];

typedef struct tridiag_arguments {
    tridiag_paths in;
    const char *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    const char *method, *variant;
    double tol, delta, cond;
    int periodic, no_split;
    shoal_layout layout;
    int groups, group_threads;
    int transposed, factored;
} tridiag_arguments;

extern const struct argp tridiag_argp; /* its input is a tridiag_arguments */

#endif
