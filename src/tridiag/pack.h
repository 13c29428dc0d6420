/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - a pack: LANES systems side by side, the unit of work of every CPU method.
 *
 * Row i of lane l lies at [i * lanes + l], so that one SIMD instruction works on the same row of
 * several systems and a method reads like its scalar formula inside EACH_LANE. Rows are scaled by powers of
 * two on their way in, which rounds nothing, for methods that pivot and if answers are judged. A batch that does
 * not fill its last pack is padded with identity rows: every system goes through the same
 * full-width code and its answer does not depend on its lane. Long systems come one at a time,
 * lanes = 1: the same code, instantiated by a constant, and the same bits, since contraction is
 * off.
 */
#ifndef SHOAL_TRIDIAG_PACK_H
#define SHOAL_TRIDIAG_PACK_H

#include "core/real.h"
#include "tridiag/plan.h"
#include <string.h>

enum { LANES = 64 / sizeof(real), PACK_SCRATCH = 10 };

typedef struct pack {
    int64_t n;
    int lanes;                   /* LANES or 1                                             */
    const int64_t *offsets;      /* NULL, or those of the pack's systems: n is the largest, */
                                 /* shorter lanes end with rows of an identity              */
    real *dl, *d, *du, *b;       /* the systems, rows scaled; dl[0] and du[n-1] are 0. Kept.  */
    real *scale;                 /* powers of two that the rows were multiplied by (residual.h) */
    int scaled;                  /* whether they were: methods that do not pivot do without */
    real *x;                     /* the answer. A zero pivot shows as a non-finite number   */
    real *condition;             /* of each lane: an estimate (condition.h), or 0           */
    real *scratch[PACK_SCRATCH]; /* cell.scratch arrays of the size of a                    */
} pack;

typedef struct lane_verdict {
    real input[LANES]; /* 0, or NaN where dl, d or du hold a non-finite number */
    real rhs[LANES];   /* the same for the right-hand side in hand           */
    real least[LANES]; /* the least power of two of a row (residual.h) */
    real condition[LANES];
    int32_t status[LANES];
    float residual[LANES];
} lane_verdict;

/* Work on one pack: systems k .. k + used - 1. */
typedef void pack_task(pack *p, const shoal_tridiag *plan, const tridiag_job *job, int64_t k,
                       int used, lane_verdict *v);

/* What batch.c does with packs, for factor.c. j is a right-hand side. */
typedef struct pack_io {
    int (*lanes)(const tridiag_job *job);
    void (*each)(const shoal_tridiag *plan, const tridiag_job *job, pack_task *task);
    void (*set_rows)(pack *p, const tridiag_job *job, int64_t k, int used);
    void (*load_matrix)(pack *p, const tridiag_job *job, int64_t k, int used, lane_verdict *v);
    void (*load_rhs)(pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                     lane_verdict *v);
    void (*largest)(const pack *p, real *most, real *poison); /* |x|, and whether it is finite */
    void (*store)(const pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                  const lane_verdict *v);
    void (*note_outcome)(const tridiag_job *job, int64_t s, int64_t j, int32_t status,
                         float residual);
    void (*transpose)(const shoal_tridiag *plan, tridiag_job *job);
} pack_io;

#define PRAGMA(text)        _Pragma(#text)
#define EACH_LANE(l, lanes) PRAGMA(omp simd) for (int l = 0; l < (lanes); l++)

/* Inlined with lanes a constant, so that the compiler sees fixed-length loops; the call for either
 * number of lanes. */
#define PACK_INLINE static inline __attribute__((always_inline))
#define PACK_CALL(p, function, ...)                                                                \
    ((p)->lanes == 1 ? function(__VA_ARGS__, 1) : function(__VA_ARGS__, LANES))

/* One selection per loop: compilers turn several into branches, which lanes cannot take. Both numbers
 * are read first, so that nothing is left to branch for. */
PACK_INLINE void select_lanes(real *to, const real *test, const real *yes, const real *no,
                              const int lanes) {
    EACH_LANE(l, lanes) {
        real first = yes[l], second = no[l];
        to[l] = test[l] > 0 ? first : second;
    }
}

#endif
