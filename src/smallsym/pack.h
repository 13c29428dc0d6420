/* SPDX-License-Identifier: Apache-2.0
 *
 * pack.h - a pack: LANES systems side by side, as many as a vector of the CPU has numbers: the unit
 * of work of every CPU method.
 *
 * Entry (i,j) of lane l lies at [lower_at(i,j) * LANES + l], so that one SIMD instruction works on
 * the same entry of several systems and a method reads like its scalar formula. A batch that does
 * not fill its last pack is padded with unit matrices: every system goes through the same
 * full-width code, and its answer does not depend on its lane.
 *
 * Each lane is scaled by powers of two, so that max|A| and max|b| lie near 1 where they were far
 * from it: a method need not fear for its range, and the answer has the same bits. Lanes whose rows differ
 * so much that this would not do are left to wide.h.
 */
#ifndef SHOAL_SMALLSYM_PACK_H
#define SHOAL_SMALLSYM_PACK_H

#include "core/loops.h"
#include "core/vec.h"
#include "smallsym/plan.h"
#include <string.h>

enum { LANES = VEC }; /* one vector: a pack of 64 unknowns is 33 kB at most and stays in cache */

/* The outcome of each lane. A method changes what it finds out; at first status is 0, rcond NaN, rank
 * n, inertia n 0 0. */
typedef struct pack_outcome {
    int32_t status[LANES];
    float rcond[LANES];
    float
        look[LANES]; /* the reciprocal condition number of S A S, about; infinite: nobody looked */
    int32_t rank[LANES], positive[LANES], negative[LANES], zero[LANES];
} pack_outcome;

typedef struct pack {
    int64_t n;
    double cond;         /* of the plan: for methods that discard eigenvalues               */
    real *a;             /* the lower triangles, kept; or, for eigenpairs of tridiagonal
                      matrices, the diagonals and then the subdiagonals               */
    real *b;             /* the right-hand sides in hand, n numbers per lane, kept          */
    real *x;             /* the answers                                                     */
    real largest[LANES]; /* size in a */
    real *s;             /* S, n numbers per lane ...                                       */
    int scaled;          /* ... of which one at least is not 1                              */
    int wide[LANES];     /* whether wide.h solves a lane; a has it as it is then             */
    int grows;           /* cell.solve() may do the work of cell.grow(), too                */
    real *scratch;       /* cell.scratch(n) numbers per lane: the method's factors          */
    real *w, *v;         /* where cell.eigen left its results: n eigenvalues, ascending, and
                      the vectors, component i of number m as row i * n + m           */
    pack_outcome outcome;
} pack;

/* Lane 0 of entry (i,j) of an array of lower triangles, and of row i of an array of vectors. */
static inline int64_t at_entry(int64_t i, int64_t j) { return shoal_lower_at(i, j) * LANES; }
static inline int64_t at_row(int64_t i) { return i * LANES; }

/* One number per lane. */
static inline __attribute__((always_inline)) vec vec_at(const real *from) {
    return *(const vec *)from;
}
static inline __attribute__((always_inline)) void vec_to(real *to, vec v) { *(vec *)to = v; }

#define EACH_LANE(l) INDEPENDENT for (int l = 0; l < LANES; l++)

#endif
