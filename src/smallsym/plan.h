/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what a plan for small symmetric systems holds, and what a method gets to see of one
 * call.
 */
#ifndef SHOAL_SMALLSYM_PLAN_H
#define SHOAL_SMALLSYM_PLAN_H

#include "core/hd.h"
#include "core/plan.h"
#include <shoal/smallsym.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where A(i,j), i >= j, of system k lies: every storage, triangle and layout in one function. */
typedef struct smallsym_shape {
    int64_t n;
    int64_t system; /* numbers from one system to the next      */
    int64_t row;    /* full: from (i,j) to (i+1,j)              */
    int64_t column; /* full: from (i,j) to (i,j+1); packed: from one number to the next */
    int packed, upper;
} smallsym_shape;

SHOAL_HD static inline int64_t shoal_lower_at(int64_t i, int64_t j) {
    return i * (i + 1) / 2 + j; /* A00 A10 A11 A20 ... */
}

/* i >= j. The upper triangle's rows: row j begins after n + (n - 1) + ... of the rows before. */
SHOAL_HD static inline int64_t smallsym_at(const smallsym_shape *s, int64_t i, int64_t j) {
    if (!s->packed) return i * s->row + j * s->column;
    return (s->upper ? j * s->n - j * (j - 1) / 2 + i - j : shoal_lower_at(i, j)) * s->column;
}

/* A system that "auto" does again, from right-hand side `column` on; the outcome of those before. */
typedef struct smallsym_redo {
    int64_t system;
    uint32_t column;
    int32_t status;
    float residual;
} smallsym_redo;

/* One call on one group of systems of equal size. Right-hand side c of row i of system k is
 * b[(k * system + i * row) * nrhs + c], with the strides b_system and b_row. */
typedef struct smallsym_job {
    int64_t n, count, nrhs;
    smallsym_shape a;
    int64_t b_system, b_row;
    const void *A, *b;
    void *x;
    shoal_outcome where;       /* this group's part of the caller's arrays; NULL: not written */
    int first_row, rescue_row; /* rows of the table; rescue_row -1: failures are not redone   */
    int team, refine, estimate;
    int by_residue; /* of "auto": the residue alone decides, and its third method comes second  */
    int look;       /* 1: the condition number is looked at (condition.h), for the status        */
    int stage;      /* of "auto": 0, its first method; 1, its second, which refines; 2, its third */
    double tol, cond;
    int64_t first;              /* of the group's systems among all                           */
    int64_t a_offset;           /* ... of its numbers in A                                     */
    int64_t row_offset;         /* ... in a vector; in b and x times nrhs                      */
    int64_t e_offset;           /* ... in the n - 1 numbers beside a diagonal                  */
    int64_t q_offset;           /* ... in matrices of n^2 numbers                              */
    void *work;                 /* the plan's workspace; the totals come first                 */
    const smallsym_redo *tasks; /* cuda, stage > 0: the systems to do, totals.listed[stage - 1] */
    smallsym_redo *list;        /* cuda, rescue_row >= 0: those that the next stage is to do,
                                   totals.listed[stage]                                       */
    smallsym_redo *wide;        /* cuda: those that careful.cu leaves to wide.cu,
                                   totals.listed_wide[stage]                                  */
    void *next;                 /* cuda, stage 2: the totals of the next call, which it clears */
} smallsym_job;

/* The parts of A = Q U Qt, U tridiagonal (d, e), for the stages of hhpcr, and of A = Q W Qt for
 * eigenpairs, of job.A or, if that is NULL, of (d, e). Number i of d and w lies as in a vector of a job
 * with one right-hand side; number i of e of system k is e[k * e_system + i * b_row], entry (i,m) of q
 * is q[k * q_system + (i * n + m) * b_row]. */
typedef struct smallsym_parts {
    void *d, *e;
    void *w; /* eigenvalues                                      */
    void *q; /* NULL: not computed; for pcr(): the unit matrix   */
    int64_t e_system, q_system;
} smallsym_parts;

/* The samples of one call that forms its systems: number i of psi(m) of system k is
 * psi[k * psi_system + (m * n + i) * psi_step], right-hand side c of y(m) is
 * y[(k * y_system + m * y_step) * nrhs + c]. */
typedef struct smallsym_gram {
    int64_t samples;
    const void *psi, *y;
    int64_t psi_system, psi_step, y_system, y_step;
    void *work; /* of driver.form_bytes() bytes */
} smallsym_gram;

typedef struct smallsym_totals {
    unsigned long long failed, warned, redone;
    unsigned long long rescued; /* of those redone, by the last method of "auto" */
    unsigned max_residual; /* bits of a float >= 0, or of a NaN: larger than those of any number */
    unsigned listed[2]; /* entries of the group's lists, after the first two stages of "auto"    */
    unsigned listed_wide[2]; /* ... of the list for wide.cu, in these stages */
} smallsym_totals;

struct shoal_smallsym {
    shoal_plan head;
    const char *method_name; /* "auto" or the method's word                            */
    const char *variant_name;
    shoal_choice first;  /* what runs                                                 */
    shoal_choice middle; /* what redoes failures under auto; else its cell is NULL    */
    shoal_choice rescue; /* ... and what middle could not do; else its cell is NULL   */
    shoal_choice eigen;  /* what finds eigenpairs; or its cell is NULL             */
    const struct smallsym_driver *driver; /* batch.c or batch.cu: what every method has in common */
    int gram; /* opts.gram: there is gram_work, for SMALLSYM_FORM      */
    void *gram_work;
    smallsym_job *jobs; /* one per group: all but the arrays of a call */
    int64_t job_count;
    int64_t systems; /* of all groups                         */
    void *work;
    shoal_outcome where;
    int lists_are_clear;     /* cuda: since the call began, no group has written its lists */
    smallsym_totals *totals; /* of the last call */
    int turn, is_captured;   /* cuda: its place in the workspace; whether a CUDA graph has it */
    int next_is_clear;       /* cuda: the totals of the next one are zeros                    */
    int waits;               /* opts.waits, on cuda                                             */
    int is_told;             /* cuda: told has the totals of the last call                      */
    smallsym_totals *told;   /* in pinned memory; NULL without .waits                         */
    int replays;             /* cuda: calls like recent ones are CUDA graphs                  */
    int solved;              /* the last call solved systems           */
    int judged;              /* the last call computed residuals       */
};

/* Cells of the method table. A CPU method works on a pack, a few systems side by side (pack.h; those of
 * f32 and f64 differ). A CUDA method launches its own kernels. */
struct pack;
typedef struct smallsym_cpu_method {
    size_t (*scratch)(int64_t n); /* numbers per lane beyond those of every pack */
    /* The factors of p->a, and p->outcome as far as they show it; and p->x from them and p->b. */
    void (*factor)(struct pack *p, int variant);
    void (*solve)(struct pack *p, int variant);
    int scales; /* SMALLSYM_BY_ROWS, ...: what p->s is made of */
    /* Those below may be NULL. An upper bound of the condition number of a definite S A S, from its factors
     * (condition.h); infinity where there is none. */
    void (*bound)(struct pack *p, void *bound);
    /* A lower bound of |A^-1|, scaled by p->s, that is seldom far below it. And where one that might be too low is to
     * be looked at `again`: p->x is A^-1 of p->b then, a vector that A^-1 makes large, and the bound may be better. */
    void (*grow)(struct pack *p, int variant, void *growth);
    void (*grown)(struct pack *p, const int *again, void *growth); /* NULL: grow() did this, too */
    /* p->w, p->v and rank, inertia, rcond of p->outcome. */
    void (*eigen)(struct pack *p, int variant, int tridiagonal, int vectors);
    /* The factors to p->a; and from there, with p->outcome. */
    void (*give)(struct pack *p);
    void (*take)(struct pack *p);
} smallsym_cpu_method;

typedef struct smallsym_cuda_method {
    shoal_status (*run)(shoal_smallsym *plan, int variant, const smallsym_job *job);
    shoal_status (*eigen)(shoal_smallsym *plan, int variant, const smallsym_job *job,
                          const smallsym_parts *to); /* or NULL */
} smallsym_cuda_method;

/* The arrays of one call beside those of the job. */
typedef struct smallsym_arrays {
    smallsym_parts parts;
    smallsym_gram gram;
} smallsym_arrays;

/* What is done with a group of systems. */
enum {
    SMALLSYM_SOLVE,
    SMALLSYM_FORM,    /* n > 0: forms systems from samples, and solves them      */
    SMALLSYM_FACTOR,  /* ldlt: L in job.x, in the shape of A, from job.A         */
    SMALLSYM_RESOLVE, /* ldlt: job.x from job.b and L in job.A                   */
    SMALLSYM_EIGEN,   /* eigenpairs by plan->eigen                               */
    SMALLSYM_REDUCE,  /* stages of hhpcr, n > 0: parts from job.A, ...           */
    SMALLSYM_PCR      /* ... and job.x from parts and job.b                      */
};
typedef shoal_status smallsym_run(shoal_smallsym *plan, int what, const smallsym_job *job,
                                  const smallsym_arrays *with);

/* What all methods of a backend have in common: batch.c, batch.cu. */
typedef struct smallsym_driver {
    size_t (*bytes)(const shoal_smallsym *plan);
    size_t (*form_bytes)(const shoal_smallsym *plan); /* of gram.work                  */
    shoal_status (*begin)(shoal_smallsym *plan);      /* of a call, before its groups  */
    smallsym_run *run;                                /* up to SMALLSYM_EIGEN          */
    shoal_status (*total)(shoal_smallsym *plan, smallsym_totals *totals);
} smallsym_driver;

typedef struct smallsym_stages { /* paper/stages.c, paper/hhpcr.cu: SMALLSYM_REDUCE, SMALLSYM_PCR */
    smallsym_run *run;
} smallsym_stages;

/* Whether a call computes residuals: a status that is asked for is judged. */
SHOAL_HD static inline int smallsym_judged(const smallsym_job *job) {
    return job->where.residual || job->look || job->refine || job->stage ||
           (job->by_residue && job->rescue_row >= 0);
}

/* The larger of two residuals; one that is NaN, of a system that failed, stays. */
SHOAL_HD static inline float smallsym_larger(float r, float s) { return r != r || s <= r ? r : s; }

/* Whether rcond is used. */
SHOAL_HD static inline int smallsym_rcond_used(const smallsym_job *job) {
    return job->where.rcond || job->rescue_row >= 0;
}

/* Whether "auto" does a system again, by its next method: the first one's answer failed or has a
 * warning; the second one's failed. Bad input stays bad. */
SHOAL_HD static inline int smallsym_doubtful(const smallsym_job *job, int32_t status) {
    if (job->rescue_row < 0 || status == SHOAL_SYSTEM_NONFINITE) return 0;
    return status < 0 || (job->stage == 0 && status == SHOAL_SYSTEM_ILL);
}

/* Whether a method's arithmetic, but not the answer, may have left the range of numbers: x has, or became so large
 * that its residual cannot be told. */
SHOAL_HD static inline int smallsym_left_range(int32_t status, float residual) {
    return status == SHOAL_SYSTEM_OVERFLOW || (status == SHOAL_SYSTEM_ILL && residual != residual);
}

/* The stage that follows the first one, and the list of what waits for it. */
SHOAL_HD static inline int smallsym_next_stage(const smallsym_job *job) {
    return job->by_residue ? 2 : job->stage + 1;
}

/* Whether a call on a GPU goes to the kernels that refine and estimate (careful.cu). The plan's options
 * and the stage of "auto" alone decide: the bits of x do not depend on which outcomes are asked for. */
static inline int smallsym_careful(const smallsym_job *job) {
    return job->refine || job->estimate || job->stage == 1;
}

/* The variants, in the order of the table. */
enum { LDLT_TEAM, LDLT_SIMD, LDLT_COOP, LDLT_HYBRID };
enum { HHPCR_REFLECT, HHPCR_FORMED, HHPCR_SIMD, HHPCR_COOP, HHPCR_HYBRID };
enum { EIGDC_MIDDLE, EIGDC_GRAGG };

enum { SMALLSYM_MOST_CUDA = 64 }; /* unknowns of a system on a GPU */

/* Flag of methods beside those of core.h: gram.cu forms A and solves in one kernel. */
enum { SMALLSYM_CAN_FORM = SHOAL_CAN_PRIVATE };

/* How A is scaled, S A S, S of powers of two: not at all; by its diagonal, for the look at the condition
 * alone, since the factors have the same bits; by its rows, before it is factored (scale.h). */
enum { SMALLSYM_AS_IT_IS, SMALLSYM_BY_DIAGONAL, SMALLSYM_BY_ROWS };

extern const shoal_module shoal_smallsym_module;

/* SHOAL_E_ARG and a sentence for sizes, strides and enum values that are not allowed. */
shoal_status shoal_smallsym_check_sizes(shoal_context *ctx, const shoal_smallsym_opts *o);
/* Solves the first `count` systems of a plan of one group, of either type. */
shoal_status shoal_smallsym_solve_first(shoal_smallsym *plan, int64_t count, const void *A,
                                        const void *b, void *x);
/* The outcome arrays from system `first` on. */
shoal_outcome shoal_smallsym_outcome_from(const shoal_outcome *all, int64_t first);

/* A public function that works on arrays: one row per function. An array's role gives the place
 * of a group in it, and its member of the job or of smallsym_arrays. */
enum {
    SMALLSYM_A,
    SMALLSYM_B,
    SMALLSYM_X,
    SMALLSYM_L, /* a matrix in the place of job.x            */
    SMALLSYM_D,
    SMALLSYM_E, /* not looked at if no system has n > 1      */
    SMALLSYM_W,
    SMALLSYM_Q, /* may be NULL                               */
    SMALLSYM_PSI,
    SMALLSYM_Y,
    SMALLSYM_ROLES
};

typedef struct smallsym_call {
    const char *name; /* of the function for double                       */
    int what;
    smallsym_run *run; /* NULL: the driver's                               */
    int residual;      /* 1: it computes residuals that the caller asks for */
    unsigned can;      /* flags that the plan's method must have ...       */
    const char *does;  /* ... and what they allow, for a message           */
    struct {
        int role;
        const char *name; /* NULL: the end */
    } arrays[6];
} smallsym_call;

/* `arrays` as the row lists them. */
#define SMALLSYM_ARRAYS(...) ((const void *const[]){ __VA_ARGS__ })
shoal_status shoal_smallsym_call(shoal_smallsym *plan, shoal_type type, const smallsym_call *call,
                                 int64_t samples, const void *const *arrays);

/* `numbers` of a type further on in an array; NULL stays. */
static inline void *smallsym_from(const void *array, shoal_type type, int64_t numbers) {
    return array ? (char *)array + (size_t)numbers * shoal_type_bytes(type) : NULL;
}

/* The shape of a group of `count` systems of n unknowns. */
smallsym_shape shoal_smallsym_shape(const shoal_smallsym_opts *o, int64_t n, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
