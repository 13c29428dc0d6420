/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.h - what the commands `shoal eig small` and `shoal eig tridiag` share.
 */
#ifndef CLI_EIG_H
#define CLI_EIG_H

#include "small_files.h"
#include "cli/common/totals.h"

/* What is written of each matrix, besides its pairs. */
enum { EIG_STATUS, EIG_RESIDUAL, EIG_RCOND, EIG_RANK, EIG_INERTIA, EIG_OUTCOMES };

typedef struct eig_arguments {
    const char *A, *d, *e;         /* input: those that the command has */
    const char *values, *vectors;  /* output; vectors NULL: not wanted  */
    const char *out[EIG_OUTCOMES]; /* NULL: not wanted                  */
    bool triangle_given;
    shoal_smallsym_opts opts; /* but for the shape of the batch */
} eig_arguments;

/* The options for all that but the input, of an eig_arguments. */
extern const cli_option eig_options[];

/* Finds the pairs of a batch that was read, writes them and says what became of it. Returns the
 * exit code. */
int eig_run(cli *c, const eig_arguments *a, const small_batch *batch);

#endif
