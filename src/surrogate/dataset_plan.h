/* SPDX-License-Identifier: Apache-2.0
 *
 * dataset_plan.h - what a plan for many rows of parameters holds, and what a backend gets to see.
 */
#ifndef SHOAL_SURROGATE_DATASET_PLAN_H
#define SHOAL_SURROGATE_DATASET_PLAN_H

#include "core/plan.h"
#include "rng/philox.h"
#include <shoal/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DATASET_BLOCK = 256,
    DATASET_LEAST = 16
};                              /* samples of a block; blocks before the first look */
enum { DATASET_STEPS = 2048 };  /* of a path, at most                               */
enum { DATASET_ROW_BITS = 24 }; /* path number: row << 24 | sample                  */

typedef struct dataset_job {
    const double *parameters; /* [count][7]     */
    double *values;           /* [count][3]     */
    int64_t count;
    uint64_t first;
    shoal_stream normals;
    double target;
    int64_t most; /* blocks of a row */
    int nu2, refine;
    int steps; /* of a path, at most: tables have room for these */
} dataset_job;

typedef struct dataset_method {
    shoal_status (*run)(shoal_context *ctx, const dataset_job *job);
} dataset_method;

struct shoal_dataset {
    shoal_plan head;
    const dataset_method *method;
    shoal_dataset_opts opts; /* settled */
    int latin;
    dataset_job job; /* all but the arrays and the rows */
    uint32_t direction[SHOAL_DATASET_COLUMNS * 32];
    uint64_t shift[SHOAL_DATASET_COLUMNS];
};

/* On the host: a row and its tables, of dataset.h. */
struct dataset_row;
struct dataset_tables;
void shoal_dataset_prepare(const dataset_job *job, const double *parameters,
                           struct dataset_row *row, const struct dataset_tables *tables);

#ifdef __cplusplus
}
#endif
#endif
