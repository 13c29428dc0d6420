/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag_files.h - a batch of tridiagonal systems in files.
 */
#ifndef CLI_TRIDIAG_FILES_H
#define CLI_TRIDIAG_FILES_H

#include "cli/common/arrays.h"

typedef struct tridiag_paths { /* either matrix, or dl, d and du */
    const char *matrix;        /* tridiagonal Matrix Market file */
    const char *dl, *d, *du;
    const char *b;
    const char *offsets; /* NULL: systems of one size */
} tridiag_paths;

typedef struct tridiag_batch {
    int64_t n, count, nrhs;
    int64_t rows;           /* of all systems together      */
    const int64_t *offsets; /* where they begin, or NULL    */
    shoal_type type;
    shoal_layout layout;
    cli_array dl, d, du, b; /* of that type, in that layout */
    cli_array starts;       /* of the offsets               */
} tridiag_batch;

/* Reads all files and checks that they fit together: diagonals (n), (count,n) or, interleaved,
 * (n,count); b of the same shape or with one more last axis. With offsets all rows are one axis. CLI_OK or an exit code, its message
 * printed; tridiag_free is due in any case. */
int tridiag_read(const cli *c, const tridiag_paths *paths, shoal_layout layout,
                 tridiag_batch *batch);
void tridiag_free(tridiag_batch *batch);

#endif
