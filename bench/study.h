/* SPDX-License-Identifier: Apache-2.0
 *
 * study.h - how good the answers to small symmetric systems are: what the paper's section 6 leaves
 * for later. For each method, family and n, in both precisions, the distributions of
 *
 *     backward errors  |b - A x| / (|A| |x| + |b|)    and    forward errors  |x - x*| / |x*|
 *
 * in the maximum norm, x* being a reference in twice the precision of double.
 *
 * The studies of Kruchinina's thesis about symmetric indefinite factorizations, by complete
 * pivoting in double:
 *
 *     alpha   Table 3.1: one matrix with nine values of alpha
 *     sizes   Figures 3.7, 3.8 and 3.22: time, and the errors of M D Mt and G J Gt, against n
 *     read    section 3.2: one triangle of an HDF5 file by hyperslabs, against all of it
 */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include "bench/session.h"
#include "io/array.h"
#include "io/json.h"

/* A distribution is kept as its quantiles 0, 1/40, ... 1: quantile p is the least of the values that
 * are no smaller than a share p of them. To be drawn they are good enough as whole hundredths of
 * their decimal logarithms, null for 0. */
enum { STUDY_QUANTILES = 41 };

typedef struct bench_study {
    int64_t count; /* systems of a family                                          */
    uint64_t seed;
    int64_t wrong; /* found: called ok, with a backward error above 10 n units of roundoff */
} bench_study;

/* Numbers that a reference is found with, for n unknowns. */
typedef struct bench_reference {
    int64_t n;
    double *factors, *rest; /* n n and n */
    int64_t *order;         /* n         */
} bench_reference;

/* False if there is no memory; to be freed in either case. */
bool bench_reference_begin(bench_reference *r, int64_t n);
void bench_reference_end(bench_reference *r);

/* x* = high + low with A x* = b, by elimination in double and corrections until one is below `accuracy`
 * |x*|. `a` has both triangles, row after row. False if A is singular, or so nearly that the
 * corrections do not shrink, or if something is not finite. */
bool bench_reference_solve(bench_reference *r, const double *a, const double *b, double accuracy,
                           double *high, double *low);

/* The value that a share p of the `count` ascending values does not exceed; NaN if there are none. */
double bench_quantile(const double *ascending, int64_t count, double p);

/* Cases of a study; each that is done is a note. */
int64_t bench_study_cases(void);

/* Solves, and writes the members "conditions" and "rows" (bench/results/README.md) on the backend of
 * `place`. BENCH_OK, BENCH_STOPPED or BENCH_ERROR. */
int bench_study_smallsym(bench_session *s, bench_place *place, bench_study *what, io_json *json);

/* ---- symindef --------------------------------------------------------------------------------- */

enum { STUDY_WHOLE = 3000 }; /* rows up to which the errors are those of all rows */

enum { STUDY_ALPHA = 1, STUDY_SIZES = 2, STUDY_READ = 4, STUDY_ALL = 7 };

typedef struct bench_symindef_study {
    int parts;     /* which of these                                                         */
    int64_t max_n; /* largest order; 0: one that fits the part and the backend                */
    uint64_t seed;
    const char *name;      /* of a matrix for alpha; NULL: a random one                     */
    const io_array *lower; /* that matrix: rows of its lower triangle, packed, f4 or f8     */
    int64_t n;             /* its order                                                     */
    const char *scratch;   /* an .h5 file that `read` may write; removed in the end         */
    int64_t wrong;         /* found: factorizations that do not pass the check              */
} bench_symindef_study;

/* The part of a name, 0: there is none such. */
int bench_symindef_part(const char *name);

int64_t bench_study_symindef_cases(const bench_symindef_study *what);
/* Whether the row of an earlier study gives way to those of this one. */
bool bench_study_symindef_replaces(const bench_symindef_study *what, const io_json_value *row);

/* Measures, and writes the rows (bench/results/README.md) into the array that is open. BENCH_OK,
 * BENCH_STOPPED or BENCH_ERROR. */
int bench_study_symindef(bench_session *s, bench_place *place, bench_symindef_study *what,
                         io_json *json);

#endif
