/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for band systems holds, and what a method gets to see of one solve.
 */
#ifndef SHOAL_BAND_PLAN_H
#define SHOAL_BAND_PLAN_H

#include "core/plan.h"
#include <shoal/band.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BAND_WIDTH = 2, BAND_COLUMNS = 2 * BAND_WIDTH + 1, BAND_PARTS = 2 }; /* at most */
enum { BAND_HEAD = 256 }; /* bytes at the head of the workspace, for totals on CUDA */

/* One solve. Number i of system k is [k * system + i * row] in the diagonals, and right-hand side j
 * of it is [(k * system + i * row) * nrhs + j] in b and x; complex numbers are pairs. */
typedef struct band_job {
    int64_t n, count, nrhs;
    int64_t row, system;
    int width, parts;            /* diagonals on each side; 1 for real numbers, 2 for complex */
    const void *a[BAND_COLUMNS]; /* the diagonals from the lowest: 2 width + 1                */
    const void *b;
    void *x;
    int32_t *status; /* always there: the caller's, or the plan's own                         */
    float *residual; /* NULL: no residual is computed                                         */
    float *rcond;    /* NULL: not asked for                                                   */
    int32_t *method; /* likewise                                                              */
    double tol;      /* residual above which an answer is not trusted                         */
    double cond;     /* condition number from which on a matrix is ill-conditioned            */
    void *work;      /* the plan's workspace, behind its head                                 */
} band_job;

/* The shapes, each with code of its own. */
#define BAND_BY_SHAPE(job, function, ...)                                                          \
    ((job)->parts == 1   ? function(__VA_ARGS__, 2, 1)                                             \
     : (job)->width == 1 ? function(__VA_ARGS__, 1, 2)                                             \
                         : function(__VA_ARGS__, 2, 2))

struct shoal_band {
    shoal_plan head;
    shoal_choice chosen;
    band_job job;        /* all but the arrays of a solve         */
    int32_t *own_status; /* used if the caller gives no array     */
    float *own_residual;
    shoal_outcome where;
    band_job last; /* the job of the last call, for its totals */
};

/* Cells of the method table. `bytes` is the workspace behind the head. */
typedef struct band_method {
    size_t (*bytes)(const shoal_band *plan);
    shoal_status (*run)(shoal_band *plan, const band_job *job);
    shoal_status (*total)(shoal_band *plan, const band_job *job, shoal_band_info *info);
} band_method;

/* SHOAL_E_ARG and a sentence for sizes and options that are not allowed; 0 becomes the usual width. */
shoal_status shoal_band_check_shape(shoal_context *ctx, shoal_band_opts *o);
extern const shoal_module shoal_band_module;

#ifdef __cplusplus
}
#endif
#endif
