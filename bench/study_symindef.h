/* SPDX-License-Identifier: Apache-2.0
 *
 * study_symindef.h - the studies of Kruchinina's thesis about symmetric indefinite factorizations, by complete
 * pivoting in double:
 *
 *     alpha   Table 3.1: one matrix with nine values of alpha
 *     sizes   Figures 3.7, 3.8 and 3.22: time, and the errors of M D Mt and G J Gt, against n
 *     read    section 3.2: one triangle of an HDF5 file by hyperslabs, against all of it
 */
#ifndef BENCH_STUDY_SYMINDEF_H
#define BENCH_STUDY_SYMINDEF_H

#include "bench/session.h"
#include "io/array.h"
#include "io/json_read.h"

enum { STUDY_WHOLE = 3000 }; /* rows up to which the errors are those of all rows */

enum { STUDY_ALPHA = 1, STUDY_SIZES = 2, STUDY_READ = 4, STUDY_ALL = 7 };

typedef struct bench_symindef_study {
    int parts;    /* which of these                                                         */
    int64_t most; /* largest order; 0: one that fits the part and the backend                */
    uint64_t seed;
    const char *name;      /* of a matrix for alpha; NULL: a random one                     */
    const io_array *lower; /* that matrix: rows of its lower triangle, packed, f4 or f8     */
    int64_t n;             /* its order                                                     */
    const char *scratch;   /* an .h5 file that `read` may write; removed in the end         */
    int64_t wrong;         /* found: factorizations that do not pass the check              */
} bench_symindef_study;

/* The part of a name, 0: there is none such. */
int bench_symindef_part(const char *name);

/* Cases of a study, as s->note is told of each once it is done. */
int64_t bench_study_symindef_cases(const bench_symindef_study *what);

/* Whether the row of an earlier study gives way to those of this one. */
bool bench_study_symindef_replaces(const bench_symindef_study *what, const io_json_value *row);

/* Measures, and writes the rows (bench/results/README.md) into the array that is open. BENCH_OK,
 * BENCH_STOPPED or BENCH_ERROR. */
int bench_study_symindef(bench_session *s, bench_place *place, bench_symindef_study *what,
                         io_json *json);

/* The part `read`, in each of these ways, at so many orders. */
enum { BENCH_READ_WAYS = 3, BENCH_READ_ORDERS = 4 };
extern const char *const bench_read_ways[BENCH_READ_WAYS];
int bench_study_read(bench_session *s, bench_place *place, const bench_symindef_study *what,
                     io_json *json);

/* Members of a row: how long something took. */
void bench_study_json_time(io_json *json, const bench_stats *time);

#endif
