/* SPDX-License-Identifier: Apache-2.0
 *
 * small_files.h - a batch of small symmetric systems, or of matrices alone, in files.
 */
#ifndef CLI_SMALL_FILES_H
#define CLI_SMALL_FILES_H

#include "cli/common/arrays.h"

typedef struct small_batch {
    int64_t n, count, nrhs;
    int64_t samples; /* 0: matrices and right-hand sides; else A is psi, b is y: small_samples.h */
    shoal_type type;
    shoal_storage storage;
    shoal_layout layout;  /* of d and e; else system after system   */
    bool many;            /* there is an axis of systems            */
    bool tridiagonal;     /* d and e, not A                         */
    cli_array A, b, d, e; /* those that were read, of that type     */
} small_batch;

/* Reads both files and checks that they fit together: A (count,n,n), (n,n) = a batch of one, or
 * packed (count,n(n+1)/2) or (n(n+1)/2); b (count,n) or, of one system, (n), or with one more last
 * axis. b NULL: matrices alone. CLI_OK or an exit code, its message printed; small_free is due in
 * any case. */
int small_read(const cli *c, const char *A, const char *b, shoal_storage storage,
               small_batch *batch);
/* The same for symmetric tridiagonal matrices: d (count,n) or (n), e (count,n-1) or (n-1);
 * interleaved (n,count) and (n-1,count). */
int small_read_diagonals(const cli *c, const char *d, const char *e, shoal_layout layout,
                         small_batch *batch);
/* Notes that the triangles of matrices differ, of which the one that was asked for is read: they are not symmetric.
 * Differences of 10 n units of roundoff of the largest entry are not seen in an answer, and NaN in the other
 * triangle says that nothing is there: neither counts. */
void small_note_triangles(const cli *c, const small_batch *batch, shoal_triangle triangle);
/* Members tol and cond: what was given, or where that is 0 what the library takes then. */
void small_json_limits(io_json *j, const small_batch *batch, double tol, double cond);
void small_free(small_batch *batch);

#endif
