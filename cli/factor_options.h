/* SPDX-License-Identifier: Apache-2.0
 *
 * factor_options.h - the options of `shoal factor`.
 */
#ifndef CLI_FACTOR_OPTIONS_H
#define CLI_FACTOR_OPTIONS_H

#include "cli.h"

enum { FACTOR_STAGES = 64 }; /* pictures of one run, at most */

typedef struct factor_arguments {
    const char *matrix, *b, *x, *output;
    const char *pivot;
    double alpha, tol, delta; /* 0: the library's */
    bool no_check, packed, full, type_given, modify, partitioned, refine;
    shoal_triangle triangle;
    shoal_type type;
    const char *gjgt, *inverse;     /* G of G J Gt, and 1/A, go here */
    const char *growth, *snapshots; /* a picture, a directory of pictures */
    int64_t stages[FACTOR_STAGES];
    int stage_count; /* 0: six, equally spaced */
} factor_arguments;

extern const struct argp factor_argp; /* its input is a factor_arguments */

#endif
