/* SPDX-License-Identifier: Apache-2.0
 *
 * small_options.h - what `shoal solve small` is told on its command line.
 */
#ifndef CLI_SMALL_OPTIONS_H
#define CLI_SMALL_OPTIONS_H

#include "totals.h"

/* What is written of each system, besides x. */
enum { STATUS, RESIDUAL, RCOND, RANK, INERTIA, METHOD, OUTCOMES };

extern const cli_outcome small_outcomes[OUTCOMES];

typedef struct small_arguments {
    const char *A, *b, *psi, *y, *x;
    const char *out[OUTCOMES]; /* NULL: not asked for */
    const char *method, *variant;
    shoal_storage storage;
    shoal_triangle triangle;
    bool triangle_given;
    int team, refine; /* 0: not given */
    bool estimate;
    double cond, tol; /* 0: not given */
} small_arguments;

/* Reads the command line, and ends the program where it says something wrong. CLI_OK or an exit
 * code. */
int small_parse(cli *c, int argc, char **argv, small_arguments *a);

#endif
