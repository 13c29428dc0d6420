/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.h - many small symmetric systems  A x = b  (n up to 64 on a GPU), and their eigenpairs.
 *
 *     shoal_smallsym *plan;                                        // plan once, solve often
 *     shoal_smallsym_opts opts = { .n = 32, .count = 1000000, .nrhs = 1 };
 *     shoal_smallsym_create(ctx, &opts, &plan);
 *     shoal_smallsym_solve(plan, A, b, x);                         // never allocates, never waits
 *     shoal_smallsym_last(plan, &info);                            // waits, sums up
 *     shoal_smallsym_free(plan);
 *
 * One triangle of A is read; the other may contain anything. The answer to one system depends on
 * that system alone: not on the batch, its place in it, the number of threads or earlier calls. A
 * system that fails does not disturb the others: its x is NaN or, if x is b, its b is kept. Each
 * right-hand side fails by itself; the system's status is the worst of theirs.
 *
 * "The paper" is L. A. Abbas-Turki and S. Graillat, "Resolution of a large number of small random
 * symmetric linear systems in single precision arithmetic on GPUs", 2017.
 */
#ifndef SHOAL_SMALLSYM_H
#define SHOAL_SMALLSYM_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_smallsym shoal_smallsym; /* a plan; contents private */

typedef struct shoal_group { /* `count` systems of n unknowns */
    int64_t n, count;
} shoal_group;

typedef enum shoal_smallsym_rule { /* what makes "auto" redo a system                */
                                   SHOAL_RULE_CONDITION =
                                       0, /* a large residual, or an ill-conditioned matrix */
                                   SHOAL_RULE_RESIDUE =
                                       1 /* a large residual alone                         */
} shoal_smallsym_rule;

typedef struct shoal_smallsym_opts { /* sizes are required; zero elsewhere = default */
    int64_t n;                       /* unknowns per system, n >= 0                           */
    int64_t count;                   /* number of systems; 0: nothing to do                   */
    int64_t nrhs;                    /* right-hand sides per system, at least 1               */
    const shoal_group *groups;       /* systems of several sizes, group after group in every
                                        array; n and count must then be 0               [none] */
    int64_t group_count;             /* entries of groups                                      */
    shoal_type type;                 /* SHOAL_F64 or SHOAL_F32                     [SHOAL_F64] */
    shoal_layout layout;             /* of A, b, x                        [SHOAL_SYSTEM_MAJOR] */
    shoal_storage storage;           /* of A                                      [SHOAL_FULL] */
    shoal_triangle triangle;         /* the one that is read                     [SHOAL_LOWER] */
    int64_t ld;                      /* full: numbers from one row to the next             [n] */
    int64_t stride;                  /* full, system-major: from one system to the next [ld n] */
    const char *method;              /* "auto" or shoal_methods("smallsym", i)          [auto] */
    const char *variant;             /* shoal_variants("smallsym", method, i)      [the first] */
    int team;                        /* variant "hybrid": threads per system, n* of the paper
                                        [the fastest on an H200, about n / 4]                  */
    int refine;                      /* steps of refinement, residuals in twice the precision [0] */
    int estimate;                    /* 1: rcond is a 1-norm estimate, not the pivot bound [0].
                                        On "cuda", "hhpcr" and "eigdc" take neither refine nor
                                        estimate                                               */
    double tol;                      /* residual above which an answer is not trusted, finite
                                        (<= 0: 9 n epsilon; see docs/smallsym.md)             */
    double cond;                     /* condition number above which a system has a warning or
                                        loses eigenvalues (<= 0: 1e5 in float and 1e12 in double
                                        for "auto" and "eigdc", 2.6e5 and 1.4e14 for others)   */
    int gram;                        /* 1: allocate memory for shoal_smallsym_gram(), too  [0] */
    int waits;                       /* 1, on "cuda": a call returns when x is there, and "auto"
                                        starts its later methods only if a system needs them:
                                        faster for a few systems. Such a plan cannot be
                                        captured in a CUDA graph: its calls are refused there
                                                                                           [0] */
    shoal_smallsym_rule rule;        /* "auto": what has a system redone   [SHOAL_RULE_CONDITION] */
    int replays;                     /* 1, on "cuda": calls of "auto" with the arrays of a recent
                                        call are launched as one CUDA graph: less time of the
                                        host. The second of such calls allocates the graph. A
                                        plan with .waits always does this                  [0] */
} shoal_smallsym_opts;

typedef struct shoal_smallsym_info { /* what the last call did                                */
    const char *method;              /* the method asked for                                  */
    const char *variant;             /* its variant; "" if it has none                        */
    int64_t failed;                  /* systems with status < 0                               */
    int64_t warned;                  /* systems with status > 0                               */
    int64_t redone;                  /* systems that "auto" solved again by another method    */
    float max_residual;              /* largest residual of an answered system; -1 if it was
                                        not computed, NaN if one could not be                 */
    double tol, cond;                /* in use: opts.tol and opts.cond, or their defaults;
                                        with several groups those of the first                */
    size_t bytes;                    /* memory held by the plan                               */
} shoal_smallsym_info;

/* SHOAL_E_ARG: a size that is not allowed. SHOAL_E_METHOD: a method or variant that does not exist,
 * or not on this backend. On error *plan is NULL and shoal_message(ctx) gives the reason. */
SHOAL_API shoal_status shoal_smallsym_create(shoal_context *ctx, const shoal_smallsym_opts *opts,
                                             shoal_smallsym **plan);
SHOAL_API void shoal_smallsym_free(shoal_smallsym *plan);

/* b and x have n * count * nrhs numbers. The right-hand sides are the last axis: (count, n, nrhs)
 * or, interleaved, (n, count, nrhs). Interleaved, entry e of A of system k is A[e * count + k]. All
 * are in the context's memory. x may be b, and must not overlap anything else. Asynchronous on
 * CUDA: the arrays must live until the work is done. */
SHOAL_API shoal_status shoal_smallsym_solve(shoal_smallsym *plan, const double *A, const double *b,
                                            double *x);
SHOAL_API shoal_status shoal_smallsym_solvef(shoal_smallsym *plan, const float *A, const float *b,
                                             float *x);

/* "auto" has three stages. Each system's route depends on that system alone.
 *   1. The variant's method ("ldlt", or "hhpcr" as in the paper) solves all systems.
 *   2. "ldltp" solves those that failed or have a warning, refined until x does not change any
 *      more.
 *   3. "eigdc", which discards eigenvalues, solves those for which refinement does not converge: A
 *      is singular to working precision. On "cuda" its answers are neither refined nor estimated.
 * rcond is the smaller of the pivot bound and the estimated reciprocal condition number.
 *
 * With SHOAL_RULE_RESIDUE, the rule of Abbas-Turki and Graillat, the residue alone decides: a system whose first
 * answer failed or has a residual above opts.tol goes to "eigdc" at once, and no condition number is looked at.
 * Status 0 then promises a small residual and nothing about the condition of A.
 *
 * This function fixes the method for later calls. It chooses the first method if the last call redid
 * no system, and "eigdc" if that method answered nearly all. It waits for the last call. Plans of other
 * methods, and plans whose method is fixed, do not change. */
SHOAL_API shoal_status shoal_smallsym_learn(shoal_smallsym *plan);

/* Least squares: forms and solves
 *
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,   A x = b,
 *
 * with the method of a plan with opts.gram = 1. A and b are not returned. M >= 1 is the same in all
 * groups. psi is (count, M, n), y is (count, M, nrhs). Interleaved, element e of psi of system k is
 * psi[e * count + k], and y is (M, count, nrhs). x is as in shoal_smallsym_solve(). It must not
 * overlap psi or y, and is NaN for a system that fails. Outcomes refer to the A and b that were
 * formed. These differ from exact sums by up to 70 epsilon times the sum of the terms' sizes, for
 * any M. storage, triangle, ld and stride of the plan have no effect here. With fewer samples than
 * unknowns A is singular: "eigdc" and "auto" return the x of least norm. */
SHOAL_API shoal_status shoal_smallsym_gram(shoal_smallsym *plan, int64_t M, const double *psi,
                                           const double *y, double *x);
SHOAL_API shoal_status shoal_smallsym_gramf(shoal_smallsym *plan, int64_t M, const float *psi,
                                            const float *y, float *x);

/* Factor once, solve often, with a plan of method "ldlt"; any other is SHOAL_E_METHOD.
 *   - factor: writes L, unit lower triangular, with D in the place of its diagonal, A = L D Lt. L
 *     has the storage, triangle and layout of A: if the upper triangle is read, it is Lt. Nothing
 *     outside that triangle is written. L may be A. A system that fails has NaN for L, even if L is
 *     A; resolve then fails it with status -1. D is stored in A's own scale: a pivot that is zero
 *     there fails the system.
 *   - resolve: computes x from such an L and b, any number of times; b and x as in solve. On the
 *     CPU x is bit-identical to that of solve. Its rcond is the pivot bound even with
 *     opts.estimate.
 * Outcomes are those of solve, except residuals, which need A and x together: they are NaN here,
 * max_residual is -1, and resolve does not refine. */
SHOAL_API shoal_status shoal_smallsym_factor(shoal_smallsym *plan, const double *A, double *L);
SHOAL_API shoal_status shoal_smallsym_factorf(shoal_smallsym *plan, const float *A, float *L);
SHOAL_API shoal_status shoal_smallsym_resolve(shoal_smallsym *plan, const double *L,
                                              const double *b, double *x);
SHOAL_API shoal_status shoal_smallsym_resolvef(shoal_smallsym *plan, const float *L, const float *b,
                                               float *x);

/* Eigenpairs of the matrices A, or of symmetric tridiagonal ones with diagonal d (count, n) and
 * subdiagonal e (count, n - 1). The plan's method is "eigdc" or "auto"; its nrhs has no effect
 * here.
 *   - w (count, n): the eigenvalues of each system, ascending.
 *   - V (count, n, n): V[k,i,m] is component i of vector m, of length 1. NULL: no vectors.
 * Interleaved, element e of system k of each array is at [e * count + k]. The outcome of a system:
 * status; residual, the largest |A v - w v| / ((|A| + |w|) |v|) of its pairs, a warning above
 * opts.tol; rank, inertia and rcond = min|w| / max|w|, with eigenvalues below max|w| / opts.cond
 * counted as zeros. A system that fails has NaN for w and V. */
SHOAL_API shoal_status shoal_smallsym_eig(shoal_smallsym *plan, const double *A, double *w,
                                          double *V);
SHOAL_API shoal_status shoal_smallsym_eigf(shoal_smallsym *plan, const float *A, float *w,
                                           float *V);
SHOAL_API shoal_status shoal_smallsym_eigtridiag(shoal_smallsym *plan, const double *d,
                                                 const double *e, double *w, double *V);
SHOAL_API shoal_status shoal_smallsym_eigtridiagf(shoal_smallsym *plan, const float *d,
                                                  const float *e, float *w, float *V);

/* The two stages of "hhpcr", one at a time, with a plan of that method; variants as for a solve.
 *
 * reduce: A = Q U Qt. U is tridiagonal with diagonal d (count, n) and subdiagonal e (count, n - 1).
 * Q (count, n, n) is orthogonal, Q[k,i,j]; NULL: not formed. nrhs has no effect. The outcome has
 * method and status: 0, SHOAL_SYSTEM_NONFINITE, or SHOAL_SYSTEM_OVERFLOW if a number of U is out of
 * range. residual and rcond are NaN, rank and inertia -1 (systems with n = 0 have all values). A
 * system that fails has NaN for d, e, Q.
 *
 * pcr: x = Q U^-1 Qt b by parallel cyclic reduction and two products with Q; Q NULL: U x = b. b and
 * x as in a solve, nrhs right-hand sides. The outcome is that of a solve. Exception: the residual,
 * and with it the warning, is that of U z = v, v = Qt b: |v - U z| / (|U| |z| + |v|). opts.refine
 * has no effect.
 *
 * Interleaved, element i of system k of d, e and Q is at [i * count + k]. All are in the context's
 * memory. Only x and b may overlap. Asynchronous on CUDA. */
SHOAL_API shoal_status shoal_smallsym_reduce(shoal_smallsym *plan, const double *A, double *d,
                                             double *e, double *Q);
SHOAL_API shoal_status shoal_smallsym_reducef(shoal_smallsym *plan, const float *A, float *d,
                                              float *e, float *Q);
SHOAL_API shoal_status shoal_smallsym_pcr(shoal_smallsym *plan, const double *d, const double *e,
                                          const double *Q, const double *b, double *x);
SHOAL_API shoal_status shoal_smallsym_pcrf(shoal_smallsym *plan, const float *d, const float *e,
                                           const float *Q, const float *b, float *x);

/* Later calls write each system's outcome here. The struct is copied; NULL switches it off.
 *
 * status 0 of a solve: the backward error of x as stored is at most 10 n epsilon (or opts.tol), and
 * the condition number of S A S ("eigdc": of A) is at most opts.cond. The diagonal S makes its rows
 * equal in size. The condition number is estimated from A alone: a verdict may be wrong within a
 * factor of 30 of the limit. The status costs a residual and one more solve per system; see
 * docs/smallsym.md.
 *
 * rcond is the pivot bound min|d| / max|d| of the factorization ("ldltp": of S A S). The reciprocal
 * condition number does not exceed it by much.
 *   - "hhpcr": min|1 / (U^-1)(i,i)| / max|U(i,j)| of the tridiagonal form U of S A S; never
 *     exceeded.
 *   - "eigdc": min|w| / max|w| of the `rank` eigenvalues that were not discarded.
 *   - opts.estimate: an estimate in the 1-norm for about 5 solves ("eigdc": without what was
 *     discarded). Up to rounding it is never too small, and it is seldom more than 3 times too
 *     large. */
SHOAL_API shoal_status shoal_smallsym_outcome(shoal_smallsym *plan, const shoal_outcome *where);

/* Waits for the stream of the last call and sums it up; its outcome arrays must still be there. */
SHOAL_API shoal_status shoal_smallsym_last(shoal_smallsym *plan, shoal_smallsym_info *info);

/* Test systems. Fills host arrays for systems first .. first + count - 1 of a family, which ends at
 * INT64_MAX: b, and A in the storage, triangle and layout of `shape`. The other triangle of a full
 * A is NaN. The numbers depend on kind, seed, n and system alone. `parameter` belongs to the kind
 * (rho, a condition number); NaN: its default. shoal_smallsym_kind(i) returns the name of kind i,
 * ..._kind_text(i) its description; NULL past the last. */
SHOAL_API const char *shoal_smallsym_kind(int i);
SHOAL_API const char *shoal_smallsym_kind_text(int i);
SHOAL_API shoal_status shoal_smallsym_generate(shoal_context *ctx, const char *kind,
                                               double parameter, uint64_t seed, int64_t first,
                                               const shoal_smallsym_opts *shape, double *A,
                                               double *b);
SHOAL_API shoal_status shoal_smallsym_generatef(shoal_context *ctx, const char *kind,
                                                double parameter, uint64_t seed, int64_t first,
                                                const shoal_smallsym_opts *shape, float *A,
                                                float *b);

#ifdef __cplusplus
}
#endif
#endif
