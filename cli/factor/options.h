/* SPDX-License-Identifier: Apache-2.0
 *
 * options.h - the options of `shoal factor`.
 */
#ifndef CLI_FACTOR_OPTIONS_H
#define CLI_FACTOR_OPTIONS_H

#include "cli/common/cli.h"

enum { FACTOR_STAGES = 64 }; /* pictures of one run, at most */

typedef struct factor_arguments {
    const char *matrix, *b, *x, *output;
    shoal_symindef_opts opts; /* method, alpha, tol, triangle */
    double delta;             /* of --modify; 0: the library's */
    bool no_check, packed, full, type_given, modify, partitioned, refine;
    shoal_type type;
    const char *gjgt, *inverse;     /* G of G J Gt, and 1/A, go here */
    const char *growth, *snapshots; /* a picture, a directory of pictures */
    int64_t stages[FACTOR_STAGES];
    int stage_count; /* 0: six, equally spaced */
} factor_arguments;

/* Rows of a factor_arguments, and what they cannot have together. */
extern const cli_option factor_options[];
extern const char factor_doc[];
void factor_check_arguments(void *arguments, struct argp_state *state);

#endif
