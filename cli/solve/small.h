/* SPDX-License-Identifier: Apache-2.0
 *
 * small.h - batches of small symmetric matrices in files: `shoal solve small` and `shoal eig`.
 */
#ifndef CLI_SMALL_H
#define CLI_SMALL_H

#include "cli/common/totals.h"

/* What is written of each system, besides the answer. */
enum {
    SMALL_STATUS,
    SMALL_RESIDUAL,
    SMALL_RCOND,
    SMALL_RANK,
    SMALL_INERTIA,
    SMALL_METHOD,
    SMALL_OUTCOMES
};

typedef struct small_arguments {
    const char *in[2];               /* A and b, or A alone, or d and e   */
    const char *psi, *y;             /* instead of A and b: samples       */
    const char *answer[2];           /* x, or w and V; NULL: not needed   */
    const char *out[SMALL_OUTCOMES]; /* NULL: not asked for               */
    bool triangle_given;
    shoal_smallsym_opts opts; /* without the shape of the batch    */
} small_arguments;

typedef struct small_batch {
    const cli_command *command;
    const small_arguments *a;
    int64_t n, count, nrhs;
    int64_t samples; /* 0: matrices and right-hand sides; else psi and y */
    shoal_type type;
    shoal_storage storage;
    shoal_layout layout; /* of d and e; else system after system    */
    bool several;        /* there is an axis of systems             */
    bool tridiagonal;    /* d and e, not A                          */
    bool eigen;          /* eigenpairs, not solutions               */
    cli_array in[2];     /* A and b, psi and y, d and e: those that were read, of that type */
    io_array answer[2], out[SMALL_OUTCOMES]; /* on the host */
    shoal_smallsym_info info;                /* of the last slice */
} small_batch;

/* Reads the matrices and what goes with them into a batch with `command` and `a`, and checks that they fit together:
 * A (count,n,n), (n,n) = a batch of one, or packed (count,n(n+1)/2) or (n(n+1)/2); b (count,n) or, of one system,
 * (n), or with one more last axis. Samples are psi (count,M,n) or (M,n), and y (count,M) or (M), or with one more last
 * axis. CLI_OK or an exit code, its message printed; small_free is due in any case. */
int small_read(const cli *c, small_batch *batch);
/* The same for symmetric tridiagonal matrices: d (count,n) or (n), e (count,n-1) or (n-1);
 * interleaved (n,count) and (n-1,count). */
int small_read_diagonals(const cli *c, small_batch *batch);
void small_free(small_batch *batch);

/* Solves what was read, or finds eigenpairs, into answers that have memory, writes all files and prints what became
 * of it. The exit code. */
int small_run(cli *c, small_batch *batch, cli_totals *t, cli_shown *table);

/* The rows that describe the matrices, for both: "packed" and "triangle". */
extern const cli_option small_matrix_options[];

#endif
