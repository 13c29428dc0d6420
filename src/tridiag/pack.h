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
    real *a, *b, *c, *d;         /* the systems; a of row 0 and c of row n-1 are 0. Kept.   */
    real *x;                     /* the answer. A zero pivot shows as a non-finite number   */
    real *scratch[PACK_SCRATCH]; /* cell.scratch arrays of the size of a                    */
} pack;

#define PRAGMA(text)        _Pragma(#text)
#define EACH_LANE(l, lanes) PRAGMA(omp simd) for (int l = 0; l < (lanes); l++)

/* Inlined with lanes a constant, so that the compiler sees fixed-length loops. */
#define PACK_INLINE static inline __attribute__((always_inline))

#endif
