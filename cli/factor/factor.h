/* SPDX-License-Identifier: Apache-2.0
 *
 * factor.h - `shoal factor`: P A Pt = M D Mt of one dense symmetric matrix. factor.c is the command, files.c reads and
 * writes, run.c calls the library and measures errors, pictures.c draws.
 */
#ifndef CLI_FACTOR_H
#define CLI_FACTOR_H

#include "cli/common/arrays.h"
#include "io/array.h"

enum { FACTOR_STAGES = 64 }; /* pictures of one run, at most */

typedef struct factor_arguments {
    const char *matrix, *b, *x, *output;
    shoal_symindef_opts opts; /* method, alpha, tol, triangle */
    double delta;             /* of --modify; 0: the library's */
    bool no_check, packed, full, type_given, triangle_given, modify, partitioned, refine;
    shoal_type type;
    const char *gjgt, *inverse;     /* G of G J Gt, and 1/A, go here */
    const char *growth, *snapshots; /* a picture, a directory of pictures */
    int64_t stages[FACTOR_STAGES];
    int stage_count; /* 0: six, equally spaced */
} factor_arguments;

typedef struct factor_matrix {
    io_triangle form;
    int64_t n;
    shoal_type type;
    cli_array file; /* the triangle, f4 or f8 by `type`    */
    size_t bytes;   /* of it                                 */
} factor_matrix;

/* A(i,j), i >= j, of numbers that lie as those of m do. */
double factor_entry(const factor_matrix *m, const void *numbers, int64_t i, int64_t j);

/* Reads the matrix. CLI_OK or an exit code, its message printed. *m is zeroed to begin. */
int factor_read(const cli *c, const factor_arguments *a, factor_matrix *m);
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

typedef struct factor_forms {     /* zeroed to begin; what was not asked for stays so    */
    shoal_symindef_change change; /* of --modify                                         */
    double *d, *e;                /* D as it was before that, as factor_blocks() has it  */
    double change_error;          /* |E| / |A|, NaN: not known                           */
    io_array G;                   /* of --gjgt: (n, rank), of the type of the matrix     */
    int32_t *signs;               /* J: `rank` of them, +1 or -1                         */
    double gjgt_error;            /* |P A Pt - G J Gt| / |A|, NaN: not known             */
} factor_forms;

/* Writes --gjgt: G.npy, G-signs.npy and G-permutation.npy, or the datasets of G.h5. */
int factor_write_gjgt(const factor_arguments *a, const factor_matrix *m, const factor_result *r,
                      const factor_forms *forms);

typedef struct factor_found {
    shoal_symindef_info info;
    factor_result result; /* its arrays of n entries from malloc; factors are the caller's */
    double seconds;
    double rcond; /* estimate in the 1-norm; NaN: the factorization was stopped, or has failed */
    double backward, forward; /* the largest of all right-hand sides; NaN: not refined       */
} factor_found;

typedef struct factor_sides { /* A x = b, host arrays (n, nrhs) */
    int64_t nrhs;
    const void *b;
    void *x;
    const void *given; /* A, for refinement; NULL: none */
} factor_sides;

/* Factors result.factors, in place, makes the forms that are asked for if `forms` is not NULL, and then
 * solves if `sides` is not, and inverts if `inverse`, a host array (n, n), is not; result.growth NULL:
 * growth is not kept. `eliminate` as in shoal_symindef_opts. */
int factor_run(cli *c, const factor_arguments *a, const factor_matrix *m, int64_t eliminate,
               const factor_sides *sides, void *inverse, factor_forms *forms, factor_found *found);

/* The relative errors of what was found, computed independently of the library: |P A Pt - M D Mt| / |A| in infinity
 * norms, and those of --modify and --gjgt in `forms`. NaN after Ctrl-C or without memory. */
double factor_check(const cli *c, const factor_arguments *a, const factor_matrix *m,
                    const factor_result *r, factor_forms *forms);

/* --growth: needs found->result.growth. */
int factor_draw_growth(const factor_arguments *a, const factor_matrix *m,
                       const factor_found *found);

/* Puts the stages of --snapshots into a->stages, all of them if none were given. Before anything is
 * factored: CLI_USAGE for one that is not there, CLI_OUTPUT where the directory cannot be made. */
int factor_choose_stages(factor_arguments *a, int64_t n);

/* --snapshots: factors the matrix again for each stage, in `scratch` of m->bytes. */
int factor_draw_stages(cli *c, const factor_arguments *a, const factor_matrix *m, void *scratch);

#endif
