/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for a symmetric indefinite matrix holds, and what a method gets to see of one
 * factorization.
 */
#ifndef SHOAL_SYMINDEF_PLAN_H
#define SHOAL_SYMINDEF_PLAN_H

#include "core/plan.h"
#include <shoal/symindef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where entries of the triangle lie. A line is what is contiguous: a row of the lower triangle, or
 * column j of M, which is row j of the upper one. */
typedef struct symindef_shape {
    int64_t n, ld; /* ld 0: packed */
    int upper;
} symindef_shape;

/* How far a factorization has come, in the context's memory. */
typedef struct symindef_state {
    int64_t row;         /* rows eliminated so far                                          */
    int32_t done;        /* 1: nothing is left that could be a pivot                        */
    int32_t status;      /* shoal_system_status                                             */
    int32_t singular;    /* 1: a pivot is zero                                              */
    double largest, tol; /* max |A|, and what is too small for a pivot                      */
    double norm;         /* largest sum of |A| over a row                                   */
    double peak;         /* largest entry of all reduced matrices                           */
    double multiplier;   /* max |M| off the diagonal                                        */
    int64_t compared;    /* entries of the columns that partial and rook have searched      */
} symindef_state;

enum { SYMINDEF_VECTORS = 3 };

typedef struct symindef_job {
    symindef_shape shape;
    double alpha, tol; /* tol <= 0: by the largest entry                               */
    int64_t eliminate; /* stop at this row                                             */
    void *a;           /* the matrix, factored in place                                */
    void *d, *e;       /* D's diagonal, and what is below it: e[k] of a 2x2 in k, k+1  */
    symindef_state *state;
    int32_t *interchanges, *permutation; /* as the public header has them            */
    double *growth;                      /* n entries, or NULL                       */
    void *work;                          /* the method's workspace                   */
    void *rhs;                           /* the driver's: a chunk of right-hand sides */
    double *vectors;                     /* SYMINDEF_VECTORS of n, for refinement     */
} symindef_job;

/* shoal_is_cancelled() once k of n rows are eliminated: the rest costs (n - k)^3. */
static inline int symindef_is_cancelled(const shoal_context *ctx, int64_t n, int64_t k) {
    return shoal_is_cancelled(ctx, n * n * n - (n - k) * (n - k) * (n - k), n * n * n);
}

struct shoal_symindef {
    shoal_plan head; /* .called: A has been factored */
    shoal_choice chosen;
    const struct symindef_driver *driver; /* triangle.c or triangle.cu: what all methods share */
    symindef_job job;                     /* all but the matrix                                */
    int modified;                         /* 1: the factors are those of A + E                 */
    void *eig;                            /* symindef_eig.c: memory of the last eigenpairs     */
};

/* Cells of the method table, on either backend. The driver has filled the state, the permutation is
 * the identity, the interchanges and D are those of zero pivots; `run` overwrites what it finds. It
 * neither allocates nor waits. n is not 0. */
typedef struct symindef_method {
    size_t (*bytes)(const shoal_symindef *plan);
    shoal_status (*run)(shoal_symindef *plan, const symindef_job *job);
} symindef_method;

/* What all methods of a backend have in common. begin: largest entry, norm, tolerance, finiteness.
 * finish: zeros where nothing was left, the largest multiplier. solve: b and x (n, nrhs), may be one;
 * b NULL: the unit matrix. residual: r = b - A x and s = |b| + |A| |x| in double, of job->a as it was
 * given. columns: G of the factors; column k of M goes to column to[k], none if negative;
 * entry (i,c) of G is at g[i * row_step + c * column_step]. blocks: D's
 * blocks from d and e into job->a. */
typedef struct symindef_driver {
    size_t (*bytes)(const shoal_symindef *plan);
    shoal_status (*begin)(shoal_symindef *plan, const symindef_job *job);
    shoal_status (*finish)(shoal_symindef *plan, const symindef_job *job);
    shoal_status (*solve)(shoal_symindef *plan, const symindef_job *job, int64_t nrhs,
                          const void *b, void *x);
    shoal_status (*residual)(shoal_symindef *plan, const symindef_job *job, const void *b,
                             const void *x, double *r, double *s);
    shoal_status (*columns)(shoal_symindef *plan, const symindef_job *job, const int32_t *to,
                            int64_t row_step, int64_t column_step, void *g);
    shoal_status (*blocks)(shoal_symindef *plan, const symindef_job *job);
} symindef_driver;

/* ---- eigenpairs by one-sided Jacobi (jacobi.h) ---- */

enum { JACOBI_WIDTH = 32 }; /* columns of a block, at most */

/* What a sweep leaves behind. */
typedef struct jacobi_state {
    int32_t status;     /* shoal_system_status                              */
    int32_t exponent;   /* G was multiplied by 2^exponent                   */
    uint64_t rotations; /* of the last sweep                                */
    double cosine;      /* the largest |cosine| between two columns in it   */
    double largest;     /* of G as given; NaN and infinity: infinity        */
    double smallest;    /* the least maximum of a column of G               */
} jacobi_state;

/* All arrays are in the context's memory. */
typedef struct jacobi_job {
    int64_t n, rank, columns; /* columns: rank, or n with those of zero pivots */
    int64_t ld;               /* numbers from column to column                 */
    int width, blocks;        /* columns per block; blocks, an even number     */
    int64_t chunk;            /* rows per partial sum                          */
    void *x;                  /* column k begins at [k * ld]; blocks * width   */
    void *values;             /* |g|^2 J of column k, 0 from `rank` on         */
    void *work;               /* of the backend                                */
    const int32_t *signs;     /* of each column: -1, or +1                     */
    const int32_t *rows;      /* column rank + k is e of row rows[k]           */
    const int32_t *places;    /* column k becomes eigenvector places[k]        */
    jacobi_state *state;
} jacobi_job;

/* clear: zeros in x. begin: scales G and fills the columns of zero pivots. sweep: all pairs once. norms: the values. vectors:
 * (n, n), NaN if `lost`; `permutation` as in the public header. Nothing waits. */
typedef struct symindef_eigensolver {
    size_t (*bytes)(const jacobi_job *job);
    shoal_status (*clear)(shoal_symindef *plan, const jacobi_job *job);
    shoal_status (*begin)(shoal_symindef *plan, const jacobi_job *job);
    shoal_status (*sweep)(shoal_symindef *plan, const jacobi_job *job);
    shoal_status (*norms)(shoal_symindef *plan, const jacobi_job *job);
    shoal_status (*vectors)(shoal_symindef *plan, const jacobi_job *job, int lost,
                            const int32_t *permutation, void *vectors);
} symindef_eigensolver;

/* ---- */

/* symindef.c: a plan of this type that has factored a matrix to its end; `name` is the function for
 * double. */
shoal_status shoal_symindef_ready(shoal_symindef *plan, shoal_type type, const char *name);
/* symindef.c: n * nrhs numbers must be so few that their bytes can be counted. */
shoal_status shoal_symindef_check_rhs(shoal_symindef *plan, int64_t nrhs);
/* symindef_result.c: waits for the last factorization. */
shoal_status shoal_symindef_wait(shoal_symindef *plan);
/* `count` numbers of the plan's type in the context's memory: to doubles of the host, and from them. */
shoal_status shoal_symindef_to_host(shoal_symindef *plan, int64_t count, double *to,
                                    const void *from);
shoal_status shoal_symindef_from_host(shoal_symindef *plan, int64_t count, void *to,
                                      const double *from);

/* D, the interchanges and the state on the host; free(f->d), also after an error. */
typedef struct symindef_factors {
    int64_t n;
    double *d, *e;
    int32_t *interchanges;
    symindef_state state;
} symindef_factors;

shoal_status shoal_symindef_fetch(shoal_symindef *plan, symindef_factors *f);
/* symindef_forms.c: the column of G that each column of M becomes, -1: none; the signs in J in their order.
 * Returns the rank. */
int64_t shoal_symindef_columns(const symindef_factors *f, int partitioned, int32_t *to,
                               int32_t *signs);

#ifdef __cplusplus
}
#endif
#endif
