/* SPDX-License-Identifier: Apache-2.0
 *
 * files.h - what `shoal factor` reads and writes: one triangle of a symmetric matrix,
 * right-hand sides that fit it, and factors.
 */
#ifndef CLI_FACTOR_FILES_H
#define CLI_FACTOR_FILES_H

#include "cli/common/arrays.h"
#include "options.h"
#include "io/triangle.h"

typedef struct factor_matrix {
    io_triangle form;
    int64_t n;
    shoal_type type;
    cli_array file; /* the triangle, f4 or f8 as `type` says */
    size_t bytes;   /* of it                                 */
} factor_matrix;

/* A(i,j), i >= j, of numbers that lie as those of m do. */
double factor_entry(const factor_matrix *m, const void *numbers, int64_t i, int64_t j);

/* Reads the matrix. CLI_OK or an exit code, its message printed. *m is zeroed to begin. */
int factor_read(const factor_arguments *a, factor_matrix *m);
/* Reads -b, (n) or (n, nrhs), and brings it to the type of the matrix. */
int factor_read_b(const cli *c, const factor_arguments *a, const factor_matrix *m, cli_array *b);

typedef struct factor_result { /* what is written with -o */
    void *factors;             /* as the numbers of the matrix lie           */
    int32_t *interchanges, *permutation;
    double *growth; /* NULL: not kept                             */
} factor_result;

/* D in double: its diagonal, and in e[k] what is below it in the block of k, k + 1; else 0. */
void factor_blocks(const factor_matrix *m, const factor_result *r, double *d, double *e);

/* The name F-WHAT.npy of a file beside F.npy, from malloc; NULL without memory. */
char *factor_beside(const char *output, const char *what);
int factor_write_beside(const char *output, const char *what, int64_t count, void *numbers);
int factor_write(const factor_arguments *a, const factor_matrix *m, const factor_result *r);

#endif
