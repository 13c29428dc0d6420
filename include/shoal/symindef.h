/* SPDX-License-Identifier: Apache-2.0
 *
 * symindef.h - factors one dense symmetric matrix, indefinite or of any rank:  P A Pt = M D Mt.
 *
 *     shoal_symindef *plan;                                       // plan once, factor often
 *     shoal_symindef_opts opts = { .n = 10000, .method = "complete" };
 *     shoal_symindef_create(ctx, &opts, &plan);
 *     shoal_symindef_factor(plan, A);                             // in place; never waits
 *     shoal_symindef_last(plan, &info);                           // waits: rank, inertia, growth
 *     shoal_symindef_solve(plan, A, nrhs, b, x);                  // with the factors in A
 *     shoal_symindef_free(plan);
 *
 * D has blocks of order 1 and 2 on its diagonal. M is unit lower triangular, with the identity in
 * the places of D's blocks. Both replace the triangle of A that was read: D's blocks are in their
 * places, M(i,j) is in the place of A(i,j), or of A(j,i) if the upper triangle was read. The other
 * triangle is neither read nor written. Row i of M is row permutation[i] of A.
 *
 * Methods are pivoting strategies. For each pivot "complete" searches the whole reduced matrix,
 * "partial" one or two columns, and "rook" columns until an entry is the largest of its row and
 * column. "complete" and "rook" bound the multipliers and the blocks of D.
 *
 * If all candidates of a stage are at most opts.tol, the pivot is zero; this determines rank and
 * inertia. rank < n is a result, not a failure. "partial" and "rook" judge it by the columns they
 * search.
 *
 * The algorithms are those of A. Kruchinina, "Parallelization of the symmetric indefinite
 * factorization", diploma thesis, University of Zagreb, 2013.
 */
#ifndef SHOAL_SYMINDEF_H
#define SHOAL_SYMINDEF_H

#include <shoal/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_symindef shoal_symindef; /* a plan; contents private */

typedef struct shoal_symindef_opts { /* the order is required; zero elsewhere = default */
    int64_t n;                       /* order of A, 0 <= n < 2^31                               */
    shoal_type type;                 /* SHOAL_F64 or SHOAL_F32                      [SHOAL_F64] */
    shoal_storage storage;           /* of A                                       [SHOAL_FULL] */
    shoal_triangle triangle;         /* the one that is read                      [SHOAL_LOWER] */
    int64_t ld;                      /* full: numbers from one row to the next              [n] */
    const char *method;              /* "auto" or shoal_methods("symindef", i)           [auto] */
    const char *variant;             /* shoal_variants("symindef", method, i)       [the first] */
    double alpha;                    /* 1x1 pivots above alpha times the largest entry, below 1
                                        in the plan's type (<= 0: (1 + sqrt 17) / 8)            */
    double tol;                      /* entries up to this size are no pivots, absolute
                                        (<= 0: max |A| times 2^-52, in float 2^-23)             */
    int64_t eliminate;               /* stop after this many rows, to inspect the reduced
                                        matrix                                       [0: all n] */
    int growth;                      /* 1: keep the growth of each stage                    [0] */
} shoal_symindef_opts;

typedef struct shoal_symindef_info { /* what the last factorization found                       */
    const char *method;              /* the method that ran; "auto" has chosen                  */
    const char *variant;             /* its variant; "" if it has none                          */
    int32_t status;                  /* shoal_system_status: 0; -1 A has a number that is not
                                        finite; -5 a step overflowed. Below 0 A is overwritten,
                                        and the rest is zero except alpha and epsilon           */
    double alpha;                    /* in use: opts.alpha, or its default                      */
    double epsilon;                  /* of the plan's type: 2^-52, in float 2^-23               */
    int64_t eliminated;              /* n, unless opts.eliminate stopped it                     */
    int64_t rank;                    /* of what was eliminated                                  */
    int64_t inertia[3];              /* positive, negative, zero eigenvalues, likewise          */
    int64_t pivots_1x1, pivots_2x2;  /* blocks of D that are not zero                           */
    int64_t swaps_1x1, swaps_2x2;    /* exchanges of two different rows for them                */
    double largest;                  /* max |A|                                                 */
    double tol;                      /* in use: opts.tol, or its default                        */
    double rounding;                 /* n epsilon max |A|: pivots up to this size may be
                                        rounding errors                                         */
    double growth;                   /* largest entry of all reduced matrices / max |A|; by
                                        "partial" and "rook" only with opts.growth = 1, else 0  */
    double max_multiplier;           /* max |M| off the diagonal                                */
    double log_abs_det;              /* log |det A|, -infinity if a pivot is zero               */
    int sign_det;                    /* 1, -1, 0                                                */
    size_t bytes;                    /* memory held by the plan                                 */
    int64_t comparisons;             /* of entries, to choose all pivots                        */
    double block_cond;               /* largest condition number of a 2x2 block of D; 1: none   */
    double growth_bound;             /* what theory promises of growth for the default alpha
                                        (thesis, section 2.2)                                   */
    double error_bound;              /* bound (2.5) of the thesis on |P A Pt - M D Mt| / |A|, the
                                        1-norm; 0 if the growth was not computed                */
} shoal_symindef_info;

/* SHOAL_E_ARG: a size or number that is not allowed. SHOAL_E_METHOD: a method or variant that does
 * not exist. On error *plan is NULL and shoal_message(ctx) gives the reason. */
SHOAL_API shoal_status shoal_symindef_create(shoal_context *ctx, const shoal_symindef_opts *opts,
                                             shoal_symindef **plan);
SHOAL_API void shoal_symindef_free(shoal_symindef *plan);

/* Factors A in place. Asynchronous on CUDA: A must live until the work is done. */
SHOAL_API shoal_status shoal_symindef_factor(shoal_symindef *plan, double *A);
SHOAL_API shoal_status shoal_symindef_factorf(shoal_symindef *plan, float *A);

/* Waits for the last factorization and sums it up. */
SHOAL_API shoal_status shoal_symindef_last(shoal_symindef *plan, shoal_symindef_info *info);

/* Copies what the factorization keeps beside M and D to host arrays of n entries each; NULL:
 * skipped. Waits.
 *   - interchanges: per stage, counted from 1, as in LAPACK and the thesis (section 3.2): row k was
 *     exchanged with row interchanges[k-1]. Of a 2x2 pivot in k, k+1 the second has a minus sign. A
 *     zero pivot exchanges nothing.
 *   - permutation: row i of P A Pt is row permutation[i] of A, counted from 0.
 *   - growth: needs opts.growth; entry k is max |reduced matrix| / max |A| if row k begins a stage,
 *     NaN if it is the second row of a 2x2 pivot, 0 if no pivot was left. */
SHOAL_API shoal_status shoal_symindef_order(shoal_symindef *plan, int32_t *interchanges,
                                            int32_t *permutation, double *growth);

/* Solves A x = b for nrhs right-hand sides with the factors of shoal_symindef_factor() in A. b and
 * x are (n, nrhs); x may be b. All are in the context's memory. Asynchronous on CUDA. SHOAL_E_ARG
 * before the first factorization, and if n * nrhs is too large. If A is singular (rank < n) or the
 * factorization failed, x is NaN, also if x is b. */
SHOAL_API shoal_status shoal_symindef_solve(shoal_symindef *plan, const double *A, int64_t nrhs,
                                            const double *b, double *x);
SHOAL_API shoal_status shoal_symindef_solvef(shoal_symindef *plan, const float *A, int64_t nrhs,
                                             const float *b, float *x);

/* Reciprocal condition number in the 1-norm, 1 / (|A| |A^-1|), estimated as by LAPACK's dsycon from
 * a few solves with the factors in A. 0 if A is singular, or |A| beyond the range. SHOAL_E_ARG
 * after shoal_symindef_modify(): the norm of A + E is not known. Waits. */
SHOAL_API shoal_status shoal_symindef_rcond(shoal_symindef *plan, const double *A, double *rcond);
SHOAL_API shoal_status shoal_symindef_rcondf(shoal_symindef *plan, const float *A, double *rcond);

/* Improves x, the answer to given x = b, by steps of refinement until its backward error is epsilon
 * or a step no longer halves it. Residuals are computed in double. `given` is the matrix before the
 * factorization, in the same storage; A contains the factors. Waits.
 *   - backward[c]: the smallest relative change of entries of A and b that makes x[:,c] exact.
 *   - forward[c]: an estimated bound on max |x - exact| / max |x|.
 * Both are host arrays (NULL: skipped) and are NaN if b or x is not finite. All else is in the
 * context's memory. */
SHOAL_API shoal_status shoal_symindef_refine(shoal_symindef *plan, const double *given,
                                             const double *A, int64_t nrhs, const double *b,
                                             double *x, double *backward, double *forward);
SHOAL_API shoal_status shoal_symindef_refinef(shoal_symindef *plan, const float *given,
                                              const float *A, int64_t nrhs, const float *b,
                                              float *x, double *backward, double *forward);

/* The inverse, (n, n), both triangles, from the factors in A. NaN if A is singular. Asynchronous on
 * CUDA. */
SHOAL_API shoal_status shoal_symindef_inverse(shoal_symindef *plan, const double *A,
                                              double *inverse);
SHOAL_API shoal_status shoal_symindef_inversef(shoal_symindef *plan, const float *A,
                                               float *inverse);

/* P A Pt = G J Gt, J = diag(+1, -1). G (n, rank) has the columns of M, rotated by the eigenvectors
 * of D's blocks and scaled by the roots of their eigenvalues, without those of zero pivots. Its
 * rows are in the order of P A Pt. `partitioned`: columns of +1 first, else in the order of the
 * pivots. signs: a host array of `rank` entries, +1 or -1. Waits. */
SHOAL_API shoal_status shoal_symindef_gjgt(shoal_symindef *plan, const double *A, int partitioned,
                                           double *G, int32_t *signs);
SHOAL_API shoal_status shoal_symindef_gjgtf(shoal_symindef *plan, const float *A, int partitioned,
                                            float *G, int32_t *signs);

/* Eigenpairs of A by J-orthogonal Jacobi on the columns of G of G J Gt (Veselic), from the factors in A.
 * Relative errors of the eigenvalues, the small ones too, are about epsilon times the condition
 * number of G with columns scaled to length 1, if the factorization dropped no pivot: create the plan
 * with method "complete" and opts.tol = DBL_MIN (float: FLT_MIN). Zero pivots give eigenvalues 0. Waits.
 * Scale a matrix whose entries are all below 1e-120 (float 1e-12) by a power of two: products may underflow.
 *   - values (n): ascending.
 *   - vectors (n, n): column k belongs to values[k], has length 1, orthogonal to the others. NULL: none.
 *   - info: NULL: skipped. If status is below 0, values and vectors are NaN.
 * All but info are in the context's memory. The plan keeps about n^2 numbers for the next call. */
typedef struct shoal_symindef_eig_info {
    int32_t status; /* shoal_system_status: 0; -1, -5 of the factorization; -4 not converged; -5 an
                          eigenvalue is too large                                          */
    int32_t sweeps; /* over all pairs of columns; the last one found nothing to do     */
    int64_t rank;   /* of the factorization: eigenvalues that are not 0                */
    int64_t rotations; /* in all sweeps                                                   */
    double cosine;     /* largest |cosine| between two columns of G in the last sweep     */
} shoal_symindef_eig_info;
SHOAL_API shoal_status shoal_symindef_eig(shoal_symindef *plan, const double *A, double *values,
                                          double *vectors, shoal_symindef_eig_info *info);
SHOAL_API shoal_status shoal_symindef_eigf(shoal_symindef *plan, const float *A, float *values,
                                           float *vectors, shoal_symindef_eig_info *info);

/* Modified Cholesky (Cheng and Higham): raises the eigenvalues of D's blocks below delta to delta.
 * The factors are then those of A + E, positive definite, and later solves are with A + E. Best
 * after "complete" or "rook": their M is bounded, and so is E. Waits.
 *   - delta <= 0: sqrt(epsilon) |A|. SHOAL_E_ARG if a positive delta is not finite, or zero, in the
 *     plan's type, or takes A + E out of the range.
 *   - 2x2 blocks: the smaller eigenvalue is raised to at least 8 epsilon times the larger one, so
 *     the rounded block is positive definite. It stays one 2x2 pivot of shoal_symindef_info, even
 *     if its off-diagonal entry becomes zero.
 *   - change (NULL: skipped): the number of raised eigenvalues, and the largest step, max |E|
 *     of D. */
typedef struct shoal_symindef_change {
    double delta; /* in use */
    int64_t lifted;
    double largest;
} shoal_symindef_change;
SHOAL_API shoal_status shoal_symindef_modify(shoal_symindef *plan, double *A, double delta,
                                             shoal_symindef_change *change);
SHOAL_API shoal_status shoal_symindef_modifyf(shoal_symindef *plan, float *A, double delta,
                                              shoal_symindef_change *change);

/* Convert the interchanges to and from the form of LAPACK's dsytrf_rk, on host arrays of n entries.
 * In that form both entries of ipiv of a 2x2 pivot are negative, e contains D's entries below the
 * diagonal, and their place in the matrix, A(k+1,k), is zero; you move these entries yourself.
 * LAPACK's lower triangle, by columns, is our SHOAL_FULL, SHOAL_UPPER. No status; the arrays are
 * not checked. */
SHOAL_API void shoal_symindef_to_rk(int64_t n, const int32_t *interchanges, int32_t *ipiv);
SHOAL_API void shoal_symindef_from_rk(int64_t n, const int32_t *ipiv, int32_t *interchanges);

/* Test matrices. Fills a host array of n * n numbers, both triangles. They depend on kind, seed and
 * n alone. shoal_symindef_kind(i) returns the name of kind i, shoal_symindef_kind_text(i) its
 * description; NULL past the last. Some kinds take numbers after colons (see the description):
 * "inertia:10:20:5:1e6". */
SHOAL_API const char *shoal_symindef_kind(int i);
SHOAL_API const char *shoal_symindef_kind_text(int i);
SHOAL_API shoal_status shoal_symindef_generate(shoal_context *ctx, const char *kind, uint64_t seed,
                                               int64_t n, double *A);
SHOAL_API shoal_status shoal_symindef_generatef(shoal_context *ctx, const char *kind, uint64_t seed,
                                                int64_t n, float *A);

#ifdef __cplusplus
}
#endif
#endif
