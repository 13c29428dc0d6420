/* SPDX-License-Identifier: Apache-2.0
 *
 * run.h - one factorization by the library, its right-hand sides, and the checks of `shoal factor`.
 */
#ifndef CLI_FACTOR_RUN_H
#define CLI_FACTOR_RUN_H

#include "forms.h"

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

/* |P A Pt - M D Mt| / |A| in infinity norms, by factor_check.c; NaN after Ctrl-C or without memory. D
 * is d and e, or, where these are NULL, what the factors have in its place. */
double factor_error(const cli *c, const factor_matrix *m, const factor_result *r, const double *d,
                    const double *e);
/* The same of |P A Pt - G J Gt| / |A|. */
double factor_gjgt_error(const cli *c, const factor_matrix *m, const factor_result *r,
                         const factor_forms *forms, bool partitioned);

#endif
