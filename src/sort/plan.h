/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan of sort.h holds, and what a method gets to see of one run.
 */
#ifndef SHOAL_SORT_PLAN_H
#define SHOAL_SORT_PLAN_H

#include "core/hd.h"
#include "core/plan.h"
#include <shoal/sort.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows in memory: all alike, or by offsets. */
typedef struct sort_rows {
    int64_t length, stride;
    const int64_t *offsets; /* in the context's memory, or NULL */
} sort_rows;

SHOAL_HD static inline int64_t row_begin(sort_rows r, int64_t k) {
    return r.offsets ? r.offsets[k] : k * r.stride;
}
SHOAL_HD static inline int64_t row_length(sort_rows r, int64_t k) {
    return r.offsets ? r.offsets[k + 1] - r.offsets[k] : r.length;
}

/* One run: A and B merged, or the rows of A sorted. */
typedef struct sort_job {
    int64_t count;      /* rows or pairs                                                 */
    sort_rows a, b;     /* b: of a merge; row k of its result begins where those of a and b do,
                          added up                                                      */
    int64_t rest, flip; /* the order: order.h, in 64 bits                                */
    int value_bytes;    /* 0, 4, 8                                                       */
    int index;          /* the values are places in the row                              */
    const void *a_keys, *b_keys, *a_values, *b_values;
    void *keys, *values; /* the result                                                  */
    void *work;          /* the plan's workspace                                        */
    const int64_t *list; /* the rows, longest first; NULL: they are alike               */
} sort_job;

typedef struct sort_plan {
    shoal_plan head; /* its type: the width of keys                                     */
    shoal_choice chosen;
    sort_job job; /* all but the arrays of a run                                 */
    shoal_key key;
    int64_t longest;  /* keys of the longest row of the result                       */
    int64_t total;    /* ... and from the begin of the first to the end of the last  */
    int64_t *lengths; /* on the host, in the order of job.list; NULL: rows are alike */
} sort_plan;

struct shoal_sort {
    sort_plan plan;
};
struct shoal_merge {
    sort_plan plan;
};

/* How many rows are longer than `length`: the first ones of the list. */
int64_t shoal_sort_longer(const sort_plan *plan, int64_t length);

/* Cells of the method table, on either backend. bytes: of workspace, NULL: none. `run` neither
 * allocates nor waits; there is at least one row, and the longest is not empty. */
typedef struct sort_method {
    size_t (*bytes)(const sort_plan *plan);
    shoal_status (*run)(sort_plan *plan, const sort_job *job);
} sort_method;

/* The variants, in the order of the table. */
enum { MERGEPATH_TILED, MERGEPATH_SMALL, MERGEPATH_NAIVE };
enum { BATCHMERGE_NETWORK, BATCHMERGE_NARROW, BATCHMERGE_WIDE };
enum { BATCHSORT_NETWORK, BATCHSORT_MERGE };

#ifdef __cplusplus
}
#endif
#endif
