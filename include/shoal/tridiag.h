/* SPDX-License-Identifier: Apache-2.0
 *
 * tridiag.h - many systems  dl[i] x[i-1] + d[i] x[i] + du[i] x[i+1] = b[i],  i = 0 .. n-1.
 *
 *     shoal_tridiag *plan;                                        // plan once, solve often
 *     shoal_tridiag_opts opts = { .n = 255, .count = 100000, .nrhs = 1 };
 *     shoal_tridiag_create(ctx, &opts, &plan);
 *     shoal_tridiag_solve(plan, dl, d, du, b, x);                 // never allocates, never waits
 *     shoal_tridiag_last(plan, &info);                            // waits, sums up
 *     shoal_tridiag_free(plan);
 *
 * dl[0] and du[n-1] of each system are ignored, even if NaN (unless opts.periodic). The answer to
 * one system depends on that system alone: not on the batch, its place in it, the number of threads
 * or earlier calls. A system that fails does not disturb the others: its x is NaN; if x is b, b is
 * kept. Exception: if x overflows in "twocarry" or in CPU "gspike", b is lost and x is NaN. Each
 * right-hand side fails by itself, and the system's status is the worst of theirs.
 *
 * Status 0 promises two things. Scale every row by the power of two that brings its largest entry
 * between 1 and 2. Then
 *   - in every row |b - A x| is at most opts.tol times the largest |x|. This is checked if
 *     outcome.status or outcome.residual is set; "auto" on CUDA always checks it.
 *   - the condition number of A in the maximum norm is estimated to be below opts.cond, whatever b
 *     is. Only "auto", "lupp", "qr", "twocarry" and "gspike" promise this.
 * A zero pivot is status -3. Other singular matrices have status 1.
 *
 * Limits of the range. If a row has no normal number, or all |x| are below 2e-307 (float: 5e-39),
 * the residual is inaccurate and an exact x may have status 1. "thomas" and "pscheme" multiply by 1
 * / pivot and may fail there with status -2. "thomas", "cr", "pcr", "hybrid" and "doubling" on CUDA
 * may fail if rows differ very much in size (10^200 and 10^-200, float: 10^25 and 10^-25). These and
 * "pscheme" may fail with status -2 if a row is within a factor of 16 of the largest number.
 */
#ifndef SHOAL_TRIDIAG_H
#define SHOAL_TRIDIAG_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_tridiag shoal_tridiag; /* a plan; contents private */

typedef struct shoal_tridiag_opts { /* sizes are required; zero elsewhere = default */
    int64_t n;                      /* unknowns per system, n >= 0                            */
    int64_t count;                  /* number of systems; 0: nothing to do                    */
    int64_t nrhs;                   /* right-hand sides per system, at least 1                */
    shoal_type type;                /* SHOAL_F64 or SHOAL_F32                     [SHOAL_F64] */
    shoal_layout layout;            /* of dl, d, du, b, x          [SHOAL_SYSTEM_MAJOR]       */
    const char *method;             /* "auto" or shoal_methods("tridiag", i)           [auto] */
    const char *variant;            /* shoal_variants("tridiag", method, i)       [the first] */
    double tol;                     /* residual above which an answer is not trusted, finite
                                       (<= 0: 100 epsilon); see docs/tridiag.md               */
    int periodic;                   /* 1: the ends meet, dl[0] belongs to x[n-1] and du[n-1]
                                       to x[0]; methods "twocarry" and "auto"             [0] */
    int threads, groups;            /* "pscheme": T threads in each of G groups, P = T G parts
                                       per system          [P about sqrt(n/2), equation (18)] */
    int transposed;                 /* 1: solve A^T x = b; dl, d, du are still those of A [0] */
    const int64_t *offsets;         /* systems of different sizes: count + 1 numbers in host
                                       memory that begin with 0 and do not decrease; copied.
                                       System k has rows offsets[k] .. offsets[k+1] - 1 of all
                                       arrays. n: 0 or the largest size; layout:
                                       SHOAL_SYSTEM_MAJOR; method: with SHOAL_CAN_OFFSETS
                                       [none]                                                 */
    double cond;                    /* status 1 from this condition number on; methods with
                                       SHOAL_CAN_PIVOT only. If set, "gspike" also checks each
                                       block          [1 / (32 epsilon): 1.4e14, float 2.6e5] */
    /* "gspike" only; other methods accept 0 only: */
    double delta; /* a block is singular if |R_mm| <= delta |R|, delta < 1   [sqrt(epsilon)] */
    int no_split; /* 1: do not split blocks at reducible rows, nor scale rows               [0] */
    int block;   /* rows per block, 2 to 4096; p = ceil(n / block) blocks                    [32] */
    int waits;   /* 1, on "cuda": a call returns when x is there, and "auto" starts its second
                     method only if a system needs it: faster for a few systems. Such a plan
                     cannot be captured in a CUDA graph: its calls are refused there       [0] */
    int replays; /* 1, on "cuda": calls of "auto" with the arrays of a recent call are launched
                     as one CUDA graph: less time of the host. The second of such calls allocates
                     the graph. A plan with .waits always does this                        [0] */
} shoal_tridiag_opts;

typedef struct shoal_tridiag_info { /* result of the last solve                               */
    const char *method;             /* the method of the plan                                 */
    const char *variant;            /* its variant; "" if it has none                         */
    int64_t failed;                 /* systems with status < 0                                */
    int64_t warned;                 /* systems with status > 0; a large residual counts only if it
                                       was computed: outcome.status or .residual is set, or "auto"
                                       on CUDA                                                */
    int64_t redone;                 /* right-hand sides that "auto" solved again with pivoting */
    float max_residual;             /* largest residual of an answered system; -1: none was
                                       computed; NaN: one is NaN                              */
    int threads, groups;            /* of "pscheme"; 0 elsewhere                              */
    double tol;                     /* in use: opts.tol, or its default                       */
    double delta;                   /* of "gspike", likewise; 0 elsewhere                     */
    double cond;                    /* likewise; 0: the method has none                       */
    size_t bytes;                   /* memory held by the plan                                */
} shoal_tridiag_info;

/* SHOAL_E_ARG: a negative size. SHOAL_E_METHOD: a method or variant that does not exist, or not on
 * this backend, or threads or groups that the method does not take. On error *plan is NULL and
 * shoal_message(ctx) gives the reason. */
SHOAL_API shoal_status shoal_tridiag_create(shoal_context *ctx, const shoal_tridiag_opts *opts,
                                            shoal_tridiag **plan);
SHOAL_API void shoal_tridiag_free(shoal_tridiag *plan);

/* dl, d, du have n * count numbers (with offsets: offsets[count]), b and x nrhs times as many. The
 * right-hand sides are the last axis: (count, n, nrhs) or, interleaved, (n, count, nrhs). All are
 * in the context's memory. x may be b, and must not overlap anything else. Asynchronous on CUDA:
 * the arrays must live until the work is done. */
SHOAL_API shoal_status shoal_tridiag_solve(shoal_tridiag *plan, const double *dl, const double *d,
                                           const double *du, const double *b, double *x);
SHOAL_API shoal_status shoal_tridiag_solvef(shoal_tridiag *plan, const float *dl, const float *d,
                                            const float *du, const float *b, float *x);

/* Factor once, solve often. The plan's method is "lupp", or "auto" unless "auto" uses "twocarry"
 * for these systems; any other is SHOAL_E_METHOD.
 *   - factor: writes the LU factors of each matrix with partial pivoting, and its status, to
 *     `factors`: shoal_tridiag_factor_bytes() bytes of the context's memory, about 4.3 numbers per
 *     row, in a private layout. A transposed plan factors A^T.
 *   - resolve: computes x from such factors and b, any number of times; b and x as in solve. The
 *     plan is the one that made the factors, or one of the same sizes, type and backend. x is
 *     bit-identical to that of "lupp". A system that fails in factor fails in resolve with the same
 *     status.
 * Residuals need dl, d, du and b together: they are NaN here, as is rcond, and max_residual is
 * -1. */
SHOAL_API size_t shoal_tridiag_factor_bytes(const shoal_tridiag *plan);
SHOAL_API shoal_status shoal_tridiag_factor(shoal_tridiag *plan, const double *dl, const double *d,
                                            const double *du, void *factors);
SHOAL_API shoal_status shoal_tridiag_factorf(shoal_tridiag *plan, const float *dl, const float *d,
                                             const float *du, void *factors);
SHOAL_API shoal_status shoal_tridiag_resolve(shoal_tridiag *plan, const void *factors,
                                             const double *b, double *x);
SHOAL_API shoal_status shoal_tridiag_resolvef(shoal_tridiag *plan, const void *factors,
                                              const float *b, float *x);

/* Later solves write each system's outcome here: status, residual, method, rcond. rank and inertia
 * must be NULL. The struct is copied; NULL switches it off.
 *
 * rcond estimates 1 / (|A| |A^-1|) in the 1-norm (of A^T if opts.transposed) as LAPACK does, by the
 * plan's own method. It is never too small except for rounding, seldom more than 3 times too large,
 * and never above 1. 0: singular, or beyond the range. NaN: a number of A is not finite, or the
 * method failed without information about A (status -2). The estimate's solves have right-hand
 * sides of their own and can fail alone: with rows scaled by 10^150 and 10^-150 (float: 10^15 and
 * 10^-15), "thomas", "cr", "pcr", "hybrid" and "pscheme" return rcond NaN with status 0. It takes 4
 * to 10 solves with one right-hand side. Their memory is allocated here when rcond is first set.
 * Periodic plans refuse rcond. */
SHOAL_API shoal_status shoal_tridiag_outcome(shoal_tridiag *plan, const shoal_outcome *where);

/* Waits for the stream of the last solve and sums it up; its outcome arrays must still be there. */
SHOAL_API shoal_status shoal_tridiag_last(shoal_tridiag *plan, shoal_tridiag_info *info);

/* Test matrices. Fills host arrays of n * count numbers (b: n * count * nrhs) for systems first ..
 * first + count - 1 of a family, which ends at INT64_MAX. The numbers depend on kind, seed, system
 * and row alone (for some kinds also on n). shoal_tridiag_kind(i) returns the name of kind i,
 * shoal_tridiag_kind_text(i) its description; NULL past the last. Kinds with singular blocks
 * (docs/tridiag.md) take values after their names, "block18:8" or "block18:8:32:5": singular
 * blocks, rows per block, rows before the first one. A wrong value is SHOAL_E_ARG with a
 * message. */
SHOAL_API const char *shoal_tridiag_kind(int i);
SHOAL_API const char *shoal_tridiag_kind_text(int i);
SHOAL_API shoal_status shoal_tridiag_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                              int64_t first, const shoal_tridiag_opts *shape,
                                              double *dl, double *d, double *du, double *b);
SHOAL_API shoal_status shoal_tridiag_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                               int64_t first, const shoal_tridiag_opts *shape,
                                               float *dl, float *d, float *du, float *b);

/* The x from which b was computed, n * count * nrhs numbers in the order of b, for kinds "spike1"
 * and after. x is standard normal, and b is A x in double, rounded once (in float: that b, rounded
 * again). For the other kinds b is random and x is not known: SHOAL_E_ARG. */
SHOAL_API shoal_status shoal_tridiag_exact(shoal_context *ctx, const char *kind, uint64_t seed,
                                           int64_t first, const shoal_tridiag_opts *shape,
                                           double *x);
SHOAL_API shoal_status shoal_tridiag_exactf(shoal_context *ctx, const char *kind, uint64_t seed,
                                            int64_t first, const shoal_tridiag_opts *shape,
                                            float *x);

#ifdef __cplusplus
}
#endif
#endif
