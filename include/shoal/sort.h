/* SPDX-License-Identifier: Apache-2.0
 *
 * sort.h - merging sorted arrays, and sorting many rows.
 *
 *     shoal_sort *plan;                                           // plan once, sort often
 *     shoal_sort_opts opts = { .n = 128, .count = 100000, .key = SHOAL_KEY_F32 };
 *     shoal_sort_create(ctx, &opts, &plan);
 *     shoal_sort_run(plan, keys, NULL, sorted, NULL);             // never allocates, never waits
 *     shoal_sort_free(plan);
 *
 *     shoal_merge *pairs;                                         // count pairs (A_i, B_i)
 *     shoal_merge_opts sizes = { .na = 1 << 20, .nb = 1 << 10, .count = 1 };
 *     shoal_merge_create(ctx, &sizes, &pairs);
 *     shoal_merge_run(pairs, a, b, merged, NULL, NULL, NULL);
 *     shoal_merge_free(pairs);
 *
 * Both are stable: equal keys keep their order, and equal keys of A come before those of B.
 * Integers have their usual order. Floating point numbers have IEEE's total order,
 *
 *     -NaN < -infinity < .. < -0 < +0 < .. < +infinity < +NaN,
 *
 * with NaNs ordered by their bits. So every array has one sorted form, the same on every backend.
 * Descending order is the reverse, and still stable.
 *
 * Each key may have a value of 4 or 8 bytes, which is moved but not interpreted.
 */
#ifndef SHOAL_SORT_H
#define SHOAL_SORT_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHOAL_MERGE_SMALL = 1024 }; /* maximum keys per pair for the variants "small" and "wide" */

typedef struct shoal_sort shoal_sort; /* plans; contents private */
typedef struct shoal_merge shoal_merge;

typedef enum shoal_key {
    SHOAL_KEY_U32 = 0,
    SHOAL_KEY_I32 = 1,
    SHOAL_KEY_U64 = 2,
    SHOAL_KEY_I64 = 3,
    SHOAL_KEY_F32 = 4,
    SHOAL_KEY_F64 = 5
} shoal_key;

/* "u32", "i32", ...; NULL for any other number. */
SHOAL_API const char *shoal_key_name(shoal_key key);
/* 4 or 8; 0 for any other number. */
SHOAL_API size_t shoal_key_bytes(shoal_key key);

typedef struct shoal_sort_opts { /* sizes are required; zero elsewhere = default */
    int64_t n;                   /* keys per row, n >= 0                                      */
    int64_t count;               /* number of rows; 0: nothing to do                          */
    int64_t stride;              /* from the beginning of a row to that of the next, >= n     [n] */
    const int64_t *offsets;      /* rows of different lengths: count + 1 non-decreasing numbers
                                    from 0 on, in host memory, copied; row k is
                                    offsets[k] .. offsets[k+1] - 1 of all arrays. n is then 0 or
                                    the greatest length, and stride 0                  [NULL] */
    shoal_key key;               /*                                           [SHOAL_KEY_U32] */
    int value_bytes;             /* of a value: 4 or 8; 0: there are none                 [0] */
    int index;                   /* 1: the values are the keys' old places in their rows,
                                    unsigned numbers of value_bytes, counted from 0       [0] */
    int descending;              /* 1: the greatest key first                             [0] */
    const char *method;          /* "auto" or "batchsort"                              [auto] */
    const char *variant;         /* shoal_variants("sort", method, i)             [the first] */
} shoal_sort_opts;

typedef struct shoal_merge_opts { /* sizes are required; zero elsewhere = default */
    int64_t na, nb;               /* keys of A and of B in a pair                             */
    int64_t count;                /* number of pairs; 0: nothing to do                        */
    const int64_t *a_offsets;     /* pairs of different sizes: both or neither, as in         */
    const int64_t *b_offsets;     /* shoal_sort_opts, with na and nb for n; pair k of the result
                                     begins at a_offsets[k] + b_offsets[k]             [NULL] */
    shoal_key key;                /*                                          [SHOAL_KEY_U32] */
    int value_bytes;              /* of a value: 4 or 8; 0: there are none                [0] */
    int descending;               /* 1: A, B and the result have the greatest key first   [0] */
    const char *method;           /* "auto", "mergepath" (count 1) or "batchmerge"     [auto] */
    const char *variant;          /* shoal_variants("sort", method, i)            [the first] */
} shoal_merge_opts;

typedef struct shoal_sort_info { /* what a plan does                                         */
    const char *method;          /* "auto" has chosen                                        */
    const char *variant;
    size_t bytes; /* memory held by the plan                                  */
} shoal_sort_info;

/* SHOAL_E_ARG: a field is negative, too large or not one of its values. SHOAL_E_METHOD: a method or
 * variant does not exist, or does not take these sizes. On error *plan is NULL, and
 * shoal_message(ctx) names the field or word. */
SHOAL_API shoal_status shoal_sort_create(shoal_context *ctx, const shoal_sort_opts *opts,
                                         shoal_sort **plan);
SHOAL_API void shoal_sort_free(shoal_sort *plan);

/* Sorts every row of `keys` into `sorted`, and moves `values` with their keys into `sorted_values`.
 * Keys have the plan's type and its alignment. Both value arrays are NULL if the plan has no
 * values; with opts.index `values` is NULL. All are in the context's memory. `sorted` may be `keys`
 * and `sorted_values` may be `values`; nothing else may overlap. Gaps between rows are not touched.
 * Asynchronous on CUDA: the arrays must live until the work is done. One plan serves one stream at
 * a time. */
SHOAL_API shoal_status shoal_sort_run(shoal_sort *plan, const void *keys, const void *values,
                                      void *sorted, void *sorted_values);
/* Waits for the stream of the last run. */
SHOAL_API shoal_status shoal_sort_last(shoal_sort *plan, shoal_sort_info *info);

SHOAL_API shoal_status shoal_merge_create(shoal_context *ctx, const shoal_merge_opts *opts,
                                          shoal_merge **plan);
SHOAL_API void shoal_merge_free(shoal_merge *plan);

/* Merges the sorted arrays A_k and B_k, one pair after another in `a` and `b`, into `merged`. The
 * values are NULL if the plan has none. Nothing may overlap. If an array is not sorted the result
 * is undefined, but nothing outside it is written. */
SHOAL_API shoal_status shoal_merge_run(shoal_merge *plan, const void *a, const void *b,
                                       void *merged, const void *a_values, const void *b_values,
                                       void *merged_values);
SHOAL_API shoal_status shoal_merge_last(shoal_merge *plan, shoal_sort_info *info);

#ifdef __cplusplus
}
#endif
#endif
