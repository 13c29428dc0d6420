/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a tridiagonal plan holds, and what a method gets to see of one solve.
 */
#ifndef SHOAL_TRIDIAG_PLAN_H
#define SHOAL_TRIDIAG_PLAN_H

#include "core/method.h"
#include <shoal/tridiag.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One solve. Element i of system k is [k * system + i * row] in a, b, c, and right-hand side j of
 * it is [(k * system + i * row) * nrhs + j] in d and x: both layouts are two strides. */
typedef struct tridiag_job {
    int64_t n, count, nrhs;
    int64_t row, system;
    const void *a, *b, *c, *d;
    void *x;
    int32_t *status;            /* always there: the caller's, or the plan's own              */
    float *residual;            /* NULL: no residual is computed                              */
    int32_t *method;            /* NULL, or where to note which method answered               */
    int first_row, rescue_row;  /* rows of the table; rescue_row -1: failures are not redone  */
    double tol;                 /* residual above which an answer is not trusted              */
    unsigned long long *redone; /* CUDA: how many solves were redone with pivoting            */
    int64_t *redo;              /* CUDA: where a first pass lists what must be redone         */
    const int64_t *todo;        /* CUDA: the list that the second pass works off, *redone long */
    void *work;                 /* the plan's workspace                                       */
} tridiag_job;

struct shoal_tridiag {
    shoal_context *ctx;
    shoal_type type;
    shoal_layout layout;
    const char *method_name; /* "auto" or the method's word                          */
    shoal_choice first;      /* what runs                                            */
    shoal_choice rescue;     /* what redoes failures under auto; else its cell is NULL */
    const struct tridiag_driver *driver; /* batch.c or batch.cu: what every method has in common */
    tridiag_job job;                     /* all but the arrays of a solve                        */
    size_t bytes;                        /* size of job.work                                     */
    int32_t *own_status;                 /* used while the caller gives no array                 */
    float *own_residual;
    double delta, cond; /* of gspike: its thresholds, 0: default, no estimate              */
    int no_split;       /* of gspike                                                       */
    shoal_outcome where;
    tridiag_job last; /* the job of the last solve, for its totals ...              */
    void *stream;     /* ... and the stream it was put on                           */
    int solved;       /* 0: nothing to sum up yet                                   */
};

/* Cells of the method table. A CPU method is a function on a pack, a few systems side by side
 * (pack.h); packs of f32 and f64 differ, hence void. Or it takes the systems one after another, each
 * with all threads: then `whole` solves right-hand side j of system k in `bytes` of workspace, writes x
 * and says how it went. A CUDA method launches its own kernels. */
typedef struct tridiag_cpu_method {
    int scratch; /* scratch numbers per row of a pack */
    void (*solve)(void *pack, int variant);
    int32_t (*failure)(const void *pack,
                       int lane); /* status where x is not finite; NULL: a zero pivot */
    size_t (*bytes)(const shoal_tridiag *plan);
    int32_t (*whole)(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j,
                     float *residual);
} tridiag_cpu_method;

typedef struct tridiag_cuda_method {
    size_t (*bytes)(const shoal_tridiag *plan);
    shoal_status (*run)(shoal_tridiag *plan, const tridiag_job *job);
} tridiag_cuda_method;

/* What all methods of a backend have in common: batch.c, batch.cu. */
typedef struct tridiag_driver {
    size_t (*bytes)(const shoal_tridiag *plan);
    shoal_status (*run)(shoal_tridiag *plan, const tridiag_job *job);
    shoal_status (*total)(shoal_tridiag *plan, const tridiag_job *job, shoal_tridiag_info *info);
} tridiag_driver;

/* The variants, in the order of the table. */
enum { THOMAS_THREAD, THOMAS_BLOCK };
enum { PCR_STRIDE, PCR_PERMUTE };

/* SHOAL_E_ARG and a sentence for negative sizes, no right-hand side, sizes whose product
 * overflows, unknown enum values. */
shoal_status shoal_tridiag_check_sizes(shoal_context *ctx, const shoal_tridiag_opts *o);

#ifdef __cplusplus
}
#endif
#endif
