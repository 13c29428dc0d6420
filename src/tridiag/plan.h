/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a tridiagonal plan holds, and what a method gets to see of one solve.
 */
#ifndef SHOAL_TRIDIAG_PLAN_H
#define SHOAL_TRIDIAG_PLAN_H

#include "core/hd.h"
#include "core/plan.h"
#include <shoal/tridiag.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GSPIKE_ROWS = 32 }; /* of a block of the matrix, unless opts.block says otherwise */

/* One solve. Element i of system k is [k * system + i * row] in dl, d, du, and right-hand side j of
 * it is [(k * system + i * row) * nrhs + j] in b and x: both layouts are two strides. Of systems of
 * different sizes offsets[k] stands for k * system. */
typedef struct tridiag_job {
    int64_t n, count, nrhs;
    int64_t total;          /* rows of all systems together                               */
    const int64_t *offsets; /* NULL, or the first row of each system, count + 1 numbers   */
    int64_t row, system;    /* strides                                                    */
    int periodic;           /* dl[0] belongs to x[n-1], du[n-1] to x[0]                   */
    const void *dl, *d, *du, *b;
    void *x;
    int32_t *status;            /* always there: the caller's, or the plan's own              */
    float *residual;            /* NULL: no residual is computed                              */
    int32_t *method;            /* NULL, or for the method that answered                      */
    int first_row, rescue_row;  /* rows of the table; rescue_row has no meaning without one   */
    double tol;                 /* residual above which an answer is not trusted              */
    double cond;                /* condition number from which on a matrix is ill-conditioned */
    int *unproved;              /* CPU: whole() sets it where a condition number may be large */
    unsigned long long *redone; /* number of solves that were redone                          */
    int64_t *redo;              /* CUDA: the first pass lists here what must be redone        */
    const int64_t *todo;        /* CUDA: the second pass works off this list, *redone long    */
    int clears;                 /* CUDA: *redone is not 0 yet                                 */
    unsigned long long *next;   /* CUDA: that of the next call, which the second pass clears  */
    int threads, groups;        /* pscheme: `groups` blocks of `threads` threads per system   */
    int64_t parts;              /* pscheme: parts of a system, at most threads * groups       */
    float *rcond;               /* NULL: no condition is estimated                            */
    void *rcond_work;           /* the estimate's workspace                                   */
    void *factors;              /* for calls that make or use kept factors                    */
    void *transposed_dl;        /* diagonals of A^T; NULL if they are not needed              */
    void *transposed_du;
    void *work; /* the plan's workspace */
} tridiag_job;

/* Rows of system k, and where its first one lies. */
SHOAL_HD static inline int64_t tridiag_rows_of(const tridiag_job *job, int64_t k) {
    return job->offsets ? job->offsets[k + 1] - job->offsets[k] : job->n;
}
SHOAL_HD static inline int64_t tridiag_first_of(const tridiag_job *job, int64_t k) {
    return job->offsets ? job->offsets[k] : k * job->system;
}

enum { TRIDIAG_ALIGNMENT = 256 }; /* of the arrays in a workspace, in bytes */

static inline size_t tridiag_aligned(size_t bytes) {
    return (bytes + TRIDIAG_ALIGNMENT - 1) / TRIDIAG_ALIGNMENT * TRIDIAG_ALIGNMENT;
}

struct shoal_tridiag {
    shoal_plan head;
    int transposed;                            /* solve with A^T                              */
    const char *method_name;                   /* "auto" or the method's name                 */
    shoal_choice first;                        /* what runs                                   */
    shoal_choice rescue;                       /* redoes poor ones under auto; cell NULL: none */
    unsigned long long redone;                 /* on the CPU, by the last call                */
    int factor_row;                            /* the method that keeps factors               */
    const struct tridiag_driver *driver;       /* batch.c or batch.cu                         */
    const struct tridiag_estimator *estimator; /* rcond.c or rcond.cu                         */
    const struct tridiag_keeper *keeper;       /* factor.c or factor.cu                       */
    tridiag_job job;                           /* all but the arrays of a solve               */
    int32_t *own_status;                       /* used if the caller gives no array           */
    float *own_residual;
    double delta,
        block_cond; /* of gspike: its thresholds; block_cond 0: blocks are not estimated */
    int no_split;   /* of gspike */
    int block;      /* of gspike: rows per block */
    shoal_outcome where;
    tridiag_job last;  /* the job of the last call, for its totals                      */
    int slot, turn;    /* CUDA: the totals of the last call; of the last one without a CUDA graph */
    int next_is_clear; /* CUDA: those of the next one are zeros                         */
    int waits;         /* opts.waits, on CUDA                                           */
    int is_told;       /* CUDA: told has the totals of the last call                    */
    struct tridiag_totals *told; /* in pinned memory; NULL without .waits                */
    int replays;                 /* CUDA: calls like recent ones are CUDA graphs                  */
};

typedef struct tridiag_totals { /* CUDA */
    unsigned long long redone, failed, warned;
    unsigned max_residual; /* bits of a float >= 0 */
} tridiag_totals;

/* Cells of the method table. A CPU method is a function on a pack, a few systems side by side
 * (pack.h); packs of f32 and f64 differ, hence void. Or it takes the systems one after another, each
 * with all threads: then `whole` solves right-hand side j of system k in `bytes` of workspace, writes x
 * and returns its status. A CUDA method launches its own kernels. */
typedef struct tridiag_cpu_method {
    int scratch; /* scratch numbers per row of a pack */
    void (*solve)(const void *pack, int variant);
    int32_t (*failure)(const void *pack, int lane); /* status of a non-finite x; NULL: zero pivot */
    size_t (*bytes)(const shoal_tridiag *plan);
    int32_t (*whole)(const shoal_tridiag *plan, const tridiag_job *job, int64_t k, int64_t j,
                     float *residual);
    int proves; /* whole() does not estimate the condition number: see job.unproved */
} tridiag_cpu_method;

typedef struct tridiag_cuda_method {
    size_t (*bytes)(const shoal_tridiag *plan);
    shoal_status (*run)(shoal_tridiag *plan, const tridiag_job *job);
} tridiag_cuda_method;

/* A call of a driver on a plan, or of what it calls. */
typedef shoal_status tridiag_run(shoal_tridiag *plan, const tridiag_job *job);

/* Condition estimates: rcond.c, rcond.cu. run: for the matrices of a job, whose transposed ones are
 * dl, job->d, du, by `solve`, in job->rcond_work of `bytes`. */
typedef struct tridiag_estimator {
    size_t (*bytes)(const shoal_tridiag *plan);
    shoal_status (*run)(const shoal_tridiag *plan, const tridiag_job *job, const void *dl,
                        const void *du, tridiag_run *solve);
} tridiag_estimator;

/* The status of the matrices by their condition alone, by the reduction of twocarry, for methods that have no
 * estimate of their own; `memory` has `bytes`. On the CPU of one system, returned; on CUDA of all solves, in the
 * first numbers of `memory`. */
typedef struct tridiag_condition {
    size_t (*bytes)(const shoal_tridiag *plan);
    int32_t (*of_system)(const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                         void *memory);
    shoal_status (*of_all)(shoal_tridiag *plan, const tridiag_job *job, void *memory);
} tridiag_condition;

/* Factors that are kept: factor.c, factor.cu. They lie in job->factors, of `bytes`. */
typedef struct tridiag_keeper {
    size_t (*bytes)(const shoal_tridiag *plan);
    tridiag_run *factor, *resolve;
} tridiag_keeper;

/* What all methods of a backend have in common: batch.c, batch.cu. */
typedef struct tridiag_driver {
    size_t (*bytes)(const shoal_tridiag *plan);
    tridiag_run *run;
    shoal_status (*total)(shoal_tridiag *plan, const tridiag_job *job, shoal_tridiag_info *info);
} tridiag_driver;

/* The variants, in the order of the table. */
enum { THOMAS_THREAD, THOMAS_BLOCK };
enum { PCR_STRIDE, PCR_PERMUTE };
enum { QR_GIVENS, QR_ROOTFREE };
enum { SCHEME_BLOCKED, SCHEME_REARRANGED, SCHEME_PRINTED, SCHEME_LOOKBACK }; /* of pscheme */

/* SHOAL_E_ARG and a sentence for negative sizes, no right-hand side, sizes whose product
 * overflows, unknown enum values. */
shoal_status shoal_tridiag_check_sizes(shoal_context *ctx, const shoal_tridiag_opts *o);
extern const shoal_module shoal_tridiag_module;

#ifdef __cplusplus
}
#endif
#endif
