/* SPDX-License-Identifier: Apache-2.0
 *
 * band.h - many pentadiagonal systems, or complex tridiagonal or pentadiagonal ones:
 *
 *     dl2[i] x[i-2] + dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] + du2[i] x[i+2] = b[i],  i = 0 .. n-1.
 *
 *     shoal_band *plan;                                           // plan once, solve often
 *     shoal_band_opts opts = { .n = 255, .count = 100000, .nrhs = 1 };
 *     shoal_band_create(ctx, &opts, &plan);
 *     shoal_band_solve(plan, dl2, dl, d, du, du2, b, x);          // never allocates, never waits
 *     shoal_band_last(plan, &info);                               // waits, sums up
 *     shoal_band_free(plan);
 *
 * Entries outside the matrix are ignored, even if NaN: dl2[0], dl2[1], dl[0], du[n-1], du2[n-2],
 * du2[n-1] of each system. The answer to one system depends on that system alone. A system that
 * fails does not disturb the others: its x is NaN; if x is b, b is kept. Each right-hand side fails
 * by itself, and the system's status is the worst of theirs.
 *
 * Status 0 promises two things, as in tridiag.h. Scale every row by the power of two that brings
 * its largest entry between 1 and 2. Then
 *   - in every row |b - A x| is at most opts.tol times the largest |x|. This is checked if
 *     outcome.status or outcome.residual is set.
 *   - the condition number of A in the maximum norm is estimated to be below opts.cond.
 * Here the size of a complex number is the larger of |re| and |im|. A zero pivot is status -3.
 */
#ifndef SHOAL_BAND_H
#define SHOAL_BAND_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_band shoal_band; /* a plan; contents private */

typedef struct shoal_band_opts { /* sizes are required; zero elsewhere = default                  */
    int64_t n;                   /* unknowns per system, n >= 0                                   */
    int64_t count;               /* number of systems; 0: nothing to do                           */
    int64_t nrhs;                /* right-hand sides per system, at least 1                       */
    int width;                   /* diagonals on each side of d: 2, or 1 if complex           [2] */
    int is_complex;              /* 1: each number is a pair, re and im (C99's complex)       [0] */
    shoal_type type;     /* of the numbers, or of re and im: SHOAL_F64, SHOAL_F32 [SHOAL_F64] */
    shoal_layout layout; /* of all arrays                             [SHOAL_SYSTEM_MAJOR] */
    const char *method;  /* "auto" or "lupp": LU with partial pivoting             [auto] */
    double tol;          /* residual above which an answer is not trusted, finite
                                    (<= 0: 100 epsilon)                                           */
    double cond;         /* status 1 from this condition number on
                                    [1 / (32 epsilon): 1.4e14, float 2.6e5] */
} shoal_band_opts;

typedef struct shoal_band_info { /* result of the last solve                                     */
    const char *method;          /* the method of the plan                                       */
    int64_t failed;              /* systems with status < 0                                      */
    int64_t warned;              /* systems with status > 0; a large residual counts only if it
                                    was computed: outcome.status or .residual is set             */
    float max_residual;          /* largest residual of an answered system; -1: none was
                                    computed; NaN: one is NaN                                    */
    double tol, cond;            /* in use                                                       */
    size_t bytes;                /* memory held by the plan                                      */
} shoal_band_info;

/* SHOAL_E_ARG: a size or option that is not allowed; real tridiagonal systems: use tridiag.h. On
 * error *plan is NULL and shoal_message(ctx) gives the reason. */
SHOAL_API shoal_status shoal_band_create(shoal_context *ctx, const shoal_band_opts *opts,
                                         shoal_band **plan);
SHOAL_API void shoal_band_free(shoal_band *plan);

/* The diagonals have n * count numbers (complex: pairs), b and x nrhs times as many. The right-hand
 * sides are the last axis: (count, n, nrhs) or, interleaved, (n, count, nrhs). dl2 and du2 are NULL
 * if opts.width is 1. All are in the context's memory. x may be b, and must not overlap anything
 * else. Asynchronous on CUDA: the arrays must live until the work is done. */
SHOAL_API shoal_status shoal_band_solve(shoal_band *plan, const double *dl2, const double *dl,
                                        const double *d, const double *du, const double *du2,
                                        const double *b, double *x);
SHOAL_API shoal_status shoal_band_solvef(shoal_band *plan, const float *dl2, const float *dl,
                                         const float *d, const float *du, const float *du2,
                                         const float *b, float *x);

/* Later solves write each system's outcome here: status, residual, method, rcond. rank and inertia
 * must be NULL. The struct is copied; NULL switches it off. rcond is 1 / kappa, the estimate that
 * the status is decided by: the maximum norm, rows scaled, at most 1, 0 for a singular matrix, NaN
 * if a number of A is not finite. It costs nothing. */
SHOAL_API shoal_status shoal_band_outcome(shoal_band *plan, const shoal_outcome *where);

/* Waits for the stream of the last solve and sums it up; its outcome arrays must still be there. */
SHOAL_API shoal_status shoal_band_last(shoal_band *plan, shoal_band_info *info);

/* Test systems. Fills host arrays for systems first .. first + count - 1 of a family. The numbers
 * depend on kind, seed, system, row, shape->width, shape->is_complex and for some kinds n.
 * shoal_band_kind(i) returns the name of kind i, shoal_band_kind_text(i) its description; NULL past
 * the last. dl2 and du2 are not written if shape->width is 1. */
SHOAL_API const char *shoal_band_kind(int i);
SHOAL_API const char *shoal_band_kind_text(int i);
SHOAL_API shoal_status shoal_band_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                           int64_t first, const shoal_band_opts *shape, double *dl2,
                                           double *dl, double *d, double *du, double *du2,
                                           double *b);
SHOAL_API shoal_status shoal_band_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                            int64_t first, const shoal_band_opts *shape, float *dl2,
                                            float *dl, float *d, float *du, float *du2, float *b);

#ifdef __cplusplus
}
#endif
#endif
