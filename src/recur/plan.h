/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a recurrence plan holds, and what a method gets to see of one solve.
 */
#ifndef SHOAL_RECUR_PLAN_H
#define SHOAL_RECUR_PLAN_H

#include "core/plan.h"
#include <shoal/recur.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is carried from row to row, by number: 1 .. 4 the linear recurrence of that order, and the
 * Moebius recurrence. */
enum { SHAPE_MOEBIUS = SHOAL_RECUR_ORDERS + 1 };

/* One solve. Row i of segment k, counted in the order of the recurrence, is element
 * k * segment + origin + i * row of t and w, and of s times `width`: layouts and directions are
 * strides. Constant arrays have one element per segment. */
typedef struct recur_job {
    int64_t n, count;
    int shape;
    int order, width; /* numbers of w0 per segment, numbers of s per row */
    int constant_s, constant_t, interleaved;
    int64_t segment, origin, row;
    const void *s, *t, *w0; /* t NULL: Moebius; w0 NULL: zeros                       */
    void *w;
    int32_t *status; /* always there: the caller's, or the plan's own           */
    int32_t *method; /* NULL, or where to note which method answered            */
    int method_row;
    int threads, groups; /* of pscheme: blocks of `threads` threads, `groups` per segment ... */
    int64_t parts;       /* ... for so many parts of it, at most threads * groups           */
    int last_phase;      /* ... and the phase to stop after, or 0                           */
    void *work;          /* the plan's workspace                                    */
} recur_job;

struct shoal_recur {
    shoal_plan head;
    shoal_choice chosen;
    const struct recur_driver *driver; /* batch.c or batch.cu: what every method has in common */
    recur_job job;                     /* all but the arrays of a solve                        */
    int32_t *own_status;               /* used while the caller gives no array                 */
    shoal_outcome where;
    recur_job last; /* the job of the last solve, for its totals */
};

/* Cells of the method table, on either backend. The driver has set every status to 0; `run` sets
 * those of segments that fail. It neither allocates nor waits. n and count are not 0. */
typedef struct recur_method {
    size_t (*bytes)(const shoal_recur *plan);
    shoal_status (*run)(shoal_recur *plan, const recur_job *job);
} recur_method;

/* What all methods of a backend have in common: batch.c, batch.cu. */
typedef struct recur_driver {
    size_t (*bytes)(const shoal_recur *plan);
    shoal_status (*run)(shoal_recur *plan, const recur_job *job);
    shoal_status (*total)(shoal_recur *plan, const recur_job *job, shoal_recur_info *info);
} recur_driver;

/* The variants, in the order of the table. */
enum { PSCHEME_BLOCKED, PSCHEME_REARRANGED, PSCHEME_STORED, PSCHEME_STORED_REARRANGED };

/* SHOAL_E_ARG and a sentence for sizes, orders, forms and enums that are not allowed. */
shoal_status shoal_recur_check_shape(shoal_context *ctx, const shoal_recur_opts *o);

#ifdef __cplusplus
}
#endif
#endif
