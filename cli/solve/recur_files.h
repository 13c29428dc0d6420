/* SPDX-License-Identifier: Apache-2.0
 *
 * recur_files.h - the arrays of `shoal recur`: each a .npy file, or numbers that stand for one.
 */
#ifndef CLI_RECUR_FILES_H
#define CLI_RECUR_FILES_H

#include "cli/common/arrays.h"

typedef struct recur_given { /* as the command line has it */
    const char *s, *t, *w0;  /* files or numbers; w0 NULL: zeros, t NULL: Moebius */
    int order;
    bool moebius, reverse, type_given;
    int64_t n, count; /* -1: not given */
    shoal_type type;
    shoal_layout layout;
} recur_given;

typedef struct recur_batch {
    shoal_recur_opts shape;
    int ndim; /* of w, with its axes */
    int64_t axes[2];
    void *s, *t, *w0; /* of that type, as shoal_recur_solve takes them */
    int64_t s_numbers, t_numbers, w0_numbers;
    cli_array file[3]; /* what was read: s, t, w0 */
} recur_batch;

/* CLI_OK, or an exit code with its message printed. *batch is zeroed to begin. */
int recur_read(const cli *c, const recur_given *in, recur_batch *batch);
void recur_free(recur_batch *batch);

#endif
