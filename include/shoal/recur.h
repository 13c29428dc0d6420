/* SPDX-License-Identifier: Apache-2.0
 *
 * recur.h - many linear recurrences  w[i] = s[i] w[i-1] + t[i],  i = 0 .. n-1.
 *
 *     shoal_recur *plan;                                          // plan once, solve often
 *     shoal_recur_opts opts = { .n = 1 << 20, .count = 1 };
 *     shoal_recur_create(ctx, &opts, &plan);
 *     shoal_recur_solve(plan, s, t, w0, w);                       // never allocates, never waits
 *     shoal_recur_last(plan, &info);                              // waits, sums up
 *     shoal_recur_free(plan);
 *
 * One recurrence is a segment. Order r: w[i] = s[i,1] w[i-1] + .. + s[i,r] w[i-r] + t[i]. In
 * reverse i runs down from n-1, with w[i+1], .. instead of w[i-1], ... The Moebius recurrence is
 * w[i] = (alpha w[i-1] + beta) / (gamma w[i-1] + delta), four numbers per row.
 *
 * The answer to one segment depends on that segment, the method and the layout alone: not on the
 * batch, its place in it, the number of threads or of blocks, or earlier calls. A segment that
 * fails does not disturb the others: its rows before the first non-finite one are answers, the rows
 * after it are undefined.
 */
#ifndef SHOAL_RECUR_H
#define SHOAL_RECUR_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHOAL_RECUR_ORDERS = 4 }; /* the highest order */

typedef struct shoal_recur shoal_recur; /* a plan; contents private */

typedef enum shoal_recur_form { SHOAL_RECUR_LINEAR = 0, SHOAL_RECUR_MOEBIUS = 1 } shoal_recur_form;

/* The phases of "pscheme", in their order. */
typedef enum shoal_recur_phase {
    SHOAL_RECUR_PRECOMPUTATION = 1,
    SHOAL_RECUR_PROPAGATION = 2,
    SHOAL_RECUR_DETERMINATION = 3
} shoal_recur_phase;

typedef struct shoal_recur_opts { /* sizes are required; zero elsewhere = default */
    int64_t n;                    /* rows per segment, n >= 0                                 */
    int64_t count;                /* number of segments; 0: nothing to do                     */
    int order;                    /* 1 .. 4, Moebius: 1                                   [1] */
    shoal_recur_form form;        /*                                     [SHOAL_RECUR_LINEAR] */
    int reverse;                  /* 1: from row n-1 down to row 0                        [0] */
    int constant_s;               /* 1: s has one row per segment, used for all its rows   [0] */
    int constant_t;               /* 1: t has one number per segment                       [0] */
    shoal_type type;              /* SHOAL_F64 or SHOAL_F32                       [SHOAL_F64] */
    shoal_layout layout;          /* of s, t, w                          [SHOAL_SYSTEM_MAJOR] */
    const char *method;           /* "auto" or shoal_methods("recur", i)               [auto] */
    const char *variant;          /* shoal_variants("recur", method, i)           [the first] */
    int threads, groups;          /* "pscheme": T threads in each of G groups, P = T G parts
                                     per segment           [P about sqrt(n/2), equation (18)] */
    shoal_recur_phase last_phase; /* "pscheme": stop after this phase, to measure it; w and the
                                     statuses are then undefined                     [0: all] */
} shoal_recur_opts;

typedef struct shoal_recur_info { /* result of the last solve                                 */
    const char *method;           /* the method that ran, after the choice of "auto"          */
    const char *variant;          /* its variant; "" if it has none                           */
    int64_t failed;               /* segments with status < 0                                 */
    int threads, groups;          /* of "pscheme"; 0 elsewhere                                */
    size_t bytes;                 /* memory held by the plan                                  */
} shoal_recur_info;

/* SHOAL_E_ARG: a negative size, or an order that does not exist. SHOAL_E_METHOD: a method that does
 * not exist or does not take this order. On error *plan is NULL and shoal_message(ctx) gives the
 * reason. */
SHOAL_API shoal_status shoal_recur_create(shoal_context *ctx, const shoal_recur_opts *opts,
                                          shoal_recur **plan);
SHOAL_API void shoal_recur_free(shoal_recur *plan);

/* All arrays are in the context's memory. Asynchronous on CUDA: they must live until the work is
 * done.
 *   - t, w: n * count numbers. w may be t, and must not overlap anything else.
 *   - s: one more last axis, the `order` coefficients of a row, that of w[i-1] first. Moebius:
 *     alpha, beta, gamma, delta; t is then not read and may be NULL.
 *   - w0: `order` numbers per segment, segment after segment in either layout: the values before
 *     the first row, w[-1] first (in reverse w[n], w[n+1], ..). NULL: zeros. */
SHOAL_API shoal_status shoal_recur_solve(shoal_recur *plan, const double *s, const double *t,
                                         const double *w0, double *w);
SHOAL_API shoal_status shoal_recur_solvef(shoal_recur *plan, const float *s, const float *t,
                                          const float *w0, float *w);

/* Later solves write each segment's outcome here: status (0; -1 a number of the input is not
 * finite; -5 the answer overflows, or a denominator is zero) and method. The other arrays must be
 * NULL. The struct is copied; NULL switches it off. */
SHOAL_API shoal_status shoal_recur_outcome(shoal_recur *plan, const shoal_outcome *where);

/* Waits for the stream of the last solve and sums it up; its outcome arrays must still be there. */
SHOAL_API shoal_status shoal_recur_last(shoal_recur *plan, shoal_recur_info *info);

/* Test recurrences. Fills host arrays for shoal_recur_solve() (constant, reverse and layout as in
 * `shape`) for segments first .. first + count - 1 of a family. The numbers depend on kind, seed,
 * segment and row alone ("dips" and "jumps" also on the type, whose range they fill).
 * shoal_recur_kind(i) returns the name of kind i, shoal_recur_kind_text(i) its description; NULL
 * past the last. */
SHOAL_API const char *shoal_recur_kind(int i);
SHOAL_API const char *shoal_recur_kind_text(int i);
SHOAL_API shoal_status shoal_recur_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                            int64_t first, const shoal_recur_opts *shape, double *s,
                                            double *t, double *w0);
SHOAL_API shoal_status shoal_recur_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                             int64_t first, const shoal_recur_opts *shape, float *s,
                                             float *t, float *w0);

#ifdef __cplusplus
}
#endif
#endif
