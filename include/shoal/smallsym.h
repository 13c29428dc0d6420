/* SPDX-License-Identifier: Apache-2.0
 *
 * smallsym.h - many small symmetric systems  A x = b  (n up to 64 on a GPU), and eigenpairs.
 *
 *     shoal_smallsym *plan;                                        // plan once, solve often
 *     shoal_smallsym_opts opts = { .n = 32, .count = 1000000, .nrhs = 1 };
 *     shoal_smallsym_create(ctx, &opts, &plan);
 *     shoal_smallsym_solve(plan, A, b, x);                         // never allocates, never waits
 *     shoal_smallsym_last(plan, &info);                            // waits, sums up
 *     shoal_smallsym_free(plan);
 *
 * One triangle of A is read, the other may hold anything. The answer to one system depends on that
 * system alone: not on the batch, its place in it, the number of threads or earlier calls. A system
 * that fails does not disturb the others: its x is NaN or, if x is b, its b is kept. Each right-hand
 * side fails by itself; the system's status is the worst of theirs.
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
                                        [n / 2 below 40, else n]                               */
    int refine;                      /* steps of refinement, residuals in twice the precision [0] */
    int estimate;                    /* 1: rcond is a 1-norm estimate, not the pivot bound [0];
                                        both: on "cuda" not by "hhpcr" and "eigdc"             */
    double tol;                      /* residual above which an answer is not trusted, finite
                                        (<= 0: 9 n units of roundoff; see docs/smallsym.md)   */
    double cond;                     /* condition number beyond which a system has a warning or
                                        loses eigenvalues (<= 0: 1e5 in float and 1e12 in double
                                        for "auto" and "eigdc", 2.6e5 and 1.4e14 for others)   */
    int gram;                        /* 1: the plan has room for shoal_smallsym_gram() too [0] */
} shoal_smallsym_opts;

typedef struct shoal_smallsym_info { /* what the last call did                                */
    const char *method;              /* the method asked for                                  */
    const char *variant;             /* its variant; "" if it has none                        */
    int64_t failed;                  /* systems with status < 0                               */
    int64_t warned;                  /* systems with status > 0                               */
    int64_t redone;                  /* systems that "auto" solved again by another method    */
    float max_residual;              /* largest residual of an answered system; -1 if it was
                                        not computed, NaN if one could not be                 */
    double tol, cond;                /* in force: opts.tol and opts.cond, or their defaults;
                                        of several groups, those of the first                 */
    size_t bytes;                    /* memory held by the plan                               */
} shoal_smallsym_info;

/* SHOAL_E_ARG for a size that is not allowed, SHOAL_E_METHOD for a word that is not in the table or
 * not on this backend. On error *plan is NULL and shoal_message(ctx) gives the reason. */
SHOAL_API shoal_status shoal_smallsym_create(shoal_context *ctx, const shoal_smallsym_opts *opts,
                                             shoal_smallsym **plan);
SHOAL_API void shoal_smallsym_free(shoal_smallsym *plan);

/* b and x hold n * count * nrhs numbers, the right-hand sides the last axis: (count, n, nrhs) or,
 * interleaved, (n, count, nrhs); interleaved, entry e of A of system k is A[e * count + k]. All in
 * the context's memory. x may be b, and may overlap nothing else. Asynchronous on CUDA: the arrays
 * must live until the work is done. */
SHOAL_API shoal_status shoal_smallsym_solve(shoal_smallsym *plan, const double *A, const double *b,
                                            double *x);
SHOAL_API shoal_status shoal_smallsym_solvef(shoal_smallsym *plan, const float *A, const float *b,
                                             float *x);

/* "auto" (variants "ldlt", and "hhpcr", the paper's order): the variant's method for all systems, then
 * "ldltp", refined until x does not change any more, for those whose answer failed or has a warning, then
 * "eigdc", which discards eigenvalues, where refinement does not converge: A is singular to working
 * precision. rcond is the smaller of the pivot bound and what the look at the condition number found. Each
 * system's route depends on that system alone. On "cuda" answers of "eigdc" are neither refined nor
 * estimated. This function fixes the method for later calls by what the last call did: the first one if
 * none was redone, "eigdc" if that answered nearly all. It waits for the last call. Plans of other methods, and plans whose
 * method is fixed, stay as they are. */
SHOAL_API shoal_status shoal_smallsym_learn(shoal_smallsym *plan);

/* Least squares: systems that are formed on the way and never stored,
 *     A = (1/M) sum psi(m) psi(m)t,   b = (1/M) sum psi(m) y(m),   m = 0 .. M - 1,   A x = b,
 * by any plan with opts.gram = 1 and its method. M, at least 1, is that of this call and of all
 * groups. psi (count, M, n), y (count, M, nrhs); interleaved, element e of psi of system k is
 * psi[e * count + k], and y is (M, count, nrhs). x as of shoal_smallsym_solve(); it may overlap neither
 * psi nor y, and is NaN for a system that fails. Outcomes are of the A and b that were formed; those
 * differ from exact sums by up to 70 units of roundoff of the sum of the sizes, for any M. storage,
 * triangle, ld and stride of the plan have no effect here. Fewer samples than unknowns make A singular:
 * "eigdc" answers that with the x of least norm. */
SHOAL_API shoal_status shoal_smallsym_gram(shoal_smallsym *plan, int64_t M, const double *psi,
                                           const double *y, double *x);
SHOAL_API shoal_status shoal_smallsym_gramf(shoal_smallsym *plan, int64_t M, const float *psi,
                                            const float *y, float *x);

/* The factors, by a plan whose method is "ldlt"; SHOAL_E_METHOD by any other. factor: L, unit
 * lower triangular, with D in the place of its diagonal, A = L D Lt, in the storage, triangle and
 * layout of A: if the upper triangle is read, Lt is written there. Nothing outside that triangle
 * is written. L may be A. resolve: x from such an L and b, any number of times; b and x as of
 * solve. On the CPU x has the bits that solve gives it.
 * Outcomes are those of solve, but residuals need A and x together: they are NaN here, max_residual
 * is -1, and resolve does not refine. Its rcond is the pivot bound even with opts.estimate. A system
 * that fails in factor has NaN for L, even if L is A, so that resolve fails it too, with status
 * -1. D is stored in A's own scale: a pivot that is zero there fails the system. */
SHOAL_API shoal_status shoal_smallsym_factor(shoal_smallsym *plan, const double *A, double *L);
SHOAL_API shoal_status shoal_smallsym_factorf(shoal_smallsym *plan, const float *A, float *L);
SHOAL_API shoal_status shoal_smallsym_resolve(shoal_smallsym *plan, const double *L,
                                              const double *b, double *x);
SHOAL_API shoal_status shoal_smallsym_resolvef(shoal_smallsym *plan, const float *L, const float *b,
                                               float *x);

/* Eigenpairs of the matrices A, or of symmetric tridiagonal ones with diagonal d (count, n) and
 * subdiagonal e (count, n - 1), by a plan whose method is "eigdc" or "auto"; its nrhs has no effect
 * here. w (count, n): the eigenvalues of each system, ascending. V (count, n, n): V[k,i,m] is
 * component i of vector m, of length 1; NULL: no vectors. Interleaved, element e of
 * system k of any of them is at [e * count + k]. The outcome of a system: status; residual, the
 * largest |A v - w v| / ((|A| + |w|) |v|) of its pairs, above opts.tol a warning; rank, inertia and
 * rcond = min|w| / max|w| with eigenvalues below max|w| / opts.cond counted as zeros. A system that
 * fails has NaN for w and V. */
SHOAL_API shoal_status shoal_smallsym_eig(shoal_smallsym *plan, const double *A, double *w,
                                          double *V);
SHOAL_API shoal_status shoal_smallsym_eigf(shoal_smallsym *plan, const float *A, float *w,
                                           float *V);
SHOAL_API shoal_status shoal_smallsym_eigtridiag(shoal_smallsym *plan, const double *d,
                                                 const double *e, double *w, double *V);
SHOAL_API shoal_status shoal_smallsym_eigtridiagf(shoal_smallsym *plan, const float *d,
                                                  const float *e, float *w, float *V);

/* The two stages of "hhpcr", each alone, by a plan of that method; variants as for a solve.
 *
 * reduce: A = Q U Qt, U tridiagonal with diagonal d (count, n) and subdiagonal e (count, n - 1), Q
 * (count, n, n) orthogonal, Q[k,i,j]; Q NULL: not formed. nrhs has no effect. The outcome has
 * status and method: 0, SHOAL_SYSTEM_NONFINITE, or SHOAL_SYSTEM_OVERFLOW if a number of U is out of
 * range. residual and rcond are NaN, rank and inertia -1, except for systems with n = 0, where
 * all is known. A system that fails has NaN for d, e, Q.
 *
 * pcr: x = Q U^-1 Qt b by parallel cyclic reduction and two products with Q; Q NULL: U x = b. b and x
 * as in a solve, nrhs right-hand sides. The outcome is that of a solve, but the residual, and with it
 * the warning, is that of U z = v, v = Qt b: |v - U z| / (|U| |z| + |v|). opts.refine has no effect.
 *
 * Interleaved, element i of system k of d, e and Q is at [i * count + k]. All in the context's
 * memory; nothing but x and b may overlap. Asynchronous on CUDA. */
SHOAL_API shoal_status shoal_smallsym_reduce(shoal_smallsym *plan, const double *A, double *d,
                                             double *e, double *Q);
SHOAL_API shoal_status shoal_smallsym_reducef(shoal_smallsym *plan, const float *A, float *d,
                                              float *e, float *Q);
SHOAL_API shoal_status shoal_smallsym_pcr(shoal_smallsym *plan, const double *d, const double *e,
                                          const double *Q, const double *b, double *x);
SHOAL_API shoal_status shoal_smallsym_pcrf(shoal_smallsym *plan, const float *d, const float *e,
                                           const float *Q, const float *b, float *x);

/* Where later calls write each system's outcome. The struct is copied; NULL switches it off.
 * status 0 of a solve: the backward error of x as stored is at most 10 n units of roundoff, or opts.tol,
 * and the condition number of S A S is not beyond opts.cond, S such that its rows are of one size ("eigdc":
 * of A). It is estimated from A alone: verdicts may be wrong within a factor of 30 of the limit. Asking for
 * the status costs a residual and one more solve per system; see docs/smallsym.md.
 * rcond is the pivot bound min|d| / max|d| of the factorisation ("ldltp", "hhpcr": of S A S), which the
 * reciprocal condition number does not exceed by much, or, with opts.estimate, an estimate of it in the
 * 1-norm: the estimate of |A^-1| is a lower bound, so that rcond is, up to rounding, never too small, seldom
 * more than 3 times too large, and costs about 5 solves ("eigdc": A^-1 without what was discarded). "hhpcr":
 * min|1 / (U^-1)(i,i)| / max|U(i,j)| of the tridiagonal form U, which it never exceeds; "eigdc":
 * min|w| / max|w| of the eigenvalues that were not discarded, rank of them. */
SHOAL_API shoal_status shoal_smallsym_outcome(shoal_smallsym *plan, const shoal_outcome *where);

/* Waits for the stream of the last call and sums it up; its outcome arrays must still be there. */
SHOAL_API shoal_status shoal_smallsym_last(shoal_smallsym *plan, shoal_smallsym_info *info);

/* Test systems. Fills host arrays, A in the storage, triangle and layout of `shape` (the other
 * triangle of a full A with NaN) and b, for systems first .. first + count - 1 of a family, which
 * ends at INT64_MAX; the numbers depend on kind, seed, n and system alone. `parameter` is the kind's own (rho, a
 * condition number); NaN: its default. shoal_smallsym_kind(i) names kind i, ..._kind_text(i)
 * describes it; NULL past the last. */
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
