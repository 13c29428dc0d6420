/* SPDX-License-Identifier: Apache-2.0
 *
 * eig.h - what the commands `shoal eig small` and `shoal eig tridiag` share.
 */
#ifndef CLI_EIG_H
#define CLI_EIG_H

#include "small_files.h"
#include "totals.h"

/* What is written of each matrix, besides its pairs. */
enum { EIG_STATUS, EIG_RESIDUAL, EIG_RCOND, EIG_RANK, EIG_INERTIA, EIG_OUTCOMES };

typedef struct eig_arguments {
    const char *A, *d, *e;         /* input: those that the command has */
    const char *values, *vectors;  /* output; vectors NULL: not wanted  */
    const char *out[EIG_OUTCOMES]; /* NULL: not wanted                  */
    const char *method, *variant;
    shoal_storage storage;
    shoal_triangle triangle;
    bool triangle_given;
    shoal_layout layout;
    double cond, tol;
} eig_arguments;

/* The options for all that but the input; state->input is an eig_arguments. A command has it as its
 * child and hands its own input on. */
extern const struct argp eig_common;

/* To be called at ARGP_KEY_END: argp_error unless the outputs make sense. */
void eig_check(const eig_arguments *a, struct argp_state *state);

/* Finds the pairs of a batch that was read, writes them and says what became of it. Returns the
 * exit code. */
int eig_run(cli *c, const eig_arguments *a, const small_batch *batch);

#endif
