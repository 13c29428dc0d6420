/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - a pack: LANES systems side by side, the unit of work of every CPU method.
 *
 * Row i of lane l lies at [i * lanes + l], so that one SIMD instruction works on the same row of
 * several systems and a method reads like its scalar formula inside EACH_LANE. A batch that does
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
    real *dl, *d, *du, *b;       /* the systems; dl of row 0 and du of row n-1 are 0. Kept.   */
    real *x;                     /* the answer. A zero pivot shows as a non-finite number   */
    real *scratch[PACK_SCRATCH]; /* cell.scratch arrays of the size of a                    */
} pack;

typedef struct lane_verdict {
    real input[LANES]; /* 0, or NaN where dl, d or du hold a non-finite number */
    real rhs[LANES];   /* the same for the right-hand side in hand           */
    int32_t status[LANES];
    float residual[LANES];
} lane_verdict;

/* What batch.c does with packs, for others who go over them: systems k .. k + used - 1, right-hand side
 * j. */
typedef struct pack_io {
    int (*lanes)(const tridiag_job *job);
    int (*workers)(const shoal_tridiag *plan);
    void (*open)(pack *p, const shoal_tridiag *plan, int worker);
    void (*load_matrix)(pack *p, const tridiag_job *job, int64_t k, int used, lane_verdict *v);
    void (*load_rhs)(pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                     lane_verdict *v);
    void (*nonfinite)(const pack *p, const real *array, real *poison);
    void (*store)(const pack *p, const tridiag_job *job, int64_t k, int used, int64_t j,
                  const lane_verdict *v);
    void (*note)(const tridiag_job *job, int64_t s, int64_t j, int32_t status, float residual);
    void (*turn)(const shoal_tridiag *plan, tridiag_job *job);
} pack_io;

#define PRAGMA(text)        _Pragma(#text)
#define EACH_LANE(l, lanes) PRAGMA(omp simd) for (int l = 0; l < (lanes); l++)

/* Inlined with lanes a constant, so that the compiler sees fixed-length loops. */
#define PACK_INLINE static inline __attribute__((always_inline))

#endif
