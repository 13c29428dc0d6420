/* SPDX-License-Identifier: Apache-2.0
 *
 * condition.h - two ways to learn |A^-1| from solves with the factors.
 *
 * The look, for the status: one solve, and a second one for some systems. The right-hand side is one of
 * signs, +-1, chosen in the forward substitution: each so that its z(i) grows. The result y is large
 * where A is nearly singular, for any A and whatever b is; |y| <= |A^-1|. Where |A| |y| comes within
 * SMALLSYM_AGAIN of the limit, A^-1 y / |y| is looked at, too. Where the pivots of a definite A prove that
 * it is far from the limit, nothing is solved. Systems count as ill-conditioned from
 * limit / SMALLSYM_MARGIN on, since the estimate is seldom more than 10 times too low.
 *
 * The estimate, for opts.estimate: the rules of the estimate of 1 / (|A| |A^-1|) in the 1-norm that accuracy.h and
 * estimate.cuh share: |A| from the triangle, |A^-1| from solves with the factors.
 *
 * |A^-1 y| over |y| = 1 is convex and has its maximum at a unit vector. From y one takes v = A^-1 y,
 * s = sign(v) and z = A^-1 s, A being its own transposed: if no |z(j)| exceeds |v|, y is a local
 * maximum, else the next y is e_j where |z(j)| is largest (Hager, SIAM J. Sci. Stat. Comput. 5,
 * 1984). Higham (ACM Trans. Math. Softw. 14, 1988) begins with all y(i) the same, and at the end
 * looks at a y whose entries alternate in sign and grow from 1 to 2. Here that y comes first: three
 * steps y := A^-1 y, then the climb from e_j where the third is largest. For as many solves, 5.3 on
 * average, it goes wrong less often: of 62,600 systems of all kinds, n to 64, with conditions below
 * 1e14, it was 3.5 times too low at worst and more than 3 times for 3 of them; Higham's order 51
 * times at worst, more than 3 times for 400.
 *
 * What comes out is |A^-1 y| / |y| of some y, never more than |A^-1|: rcond is never too small, but
 * for rounding. 5 solves most often, at most SMALLSYM_STEPS.
 */
#ifndef SHOAL_SMALLSYM_CONDITION_H
#define SHOAL_SMALLSYM_CONDITION_H

#include "core/real.h"

enum { SMALLSYM_POWERS = 3, SMALLSYM_STEPS = SMALLSYM_POWERS + 2 * 5 };

/* A step solves for v from a unit vector y, or for z from its signs, or is one of the first three. */
SHOAL_HD static inline int smallsym_from_unit(int step) {
    return step >= SMALLSYM_POWERS && (step - SMALLSYM_POWERS) % 2 == 0;
}

/* Whether |v| = now exceeds the most so far, which it then is. A v that is not finite is the end: A
 * is singular to this precision. */
SHOAL_HD static inline int smallsym_rises(real now, real *most) {
    if (!(now - now == 0)) {
        *most = (real)INFINITY;
        return 0;
    }
    if (!(now > *most)) return 0;
    *most = now;
    return 1;
}

/* Entry i of the first y, whose |y| is 1. */
SHOAL_HD static inline real smallsym_first_y(int64_t i, int64_t n) {
    if (n == 1) return 1;
    const real size = (1 + (real)i / (real)(n - 1)) / ((real)1.5 * (real)n);
    return i % 2 ? -size : size;
}

/* Powers of two by which rows or, for ldlt, diagonal entries may differ before a system is wide and goes to wide.h.
 * With S up to 2^50, what is lost when A is brought near 1, 2^-150 and less, is nothing in S A S; with a diagonal
 * down to 2^-64 and a largest number of 2^-30, what is lost of products of the elimination is 2^-55 of what they
 * are taken from. */
enum { WIDE_ROWS = sizeof(real) == 4 ? 50 : 450, WIDE_DIAGONAL = sizeof(real) == 4 ? 64 : 600 };

/* Whether a row, or a diagonal entry, of this size makes the system wide. */
SHOAL_HD static inline int smallsym_is_wide(real size, real largest, int by) {
    return size > 0 && size < largest * power_of_two(-by) && largest <= REAL_MAX;
}

enum { SMALLSYM_AGAIN = 64, SMALLSYM_MARGIN = 2, SMALLSYM_BOUND = 4 };

/* "auto" refines an ill-conditioned system by its second method. Each step leaves |E| |A^-1| of the error,
 * E the backward error of the factors; from here on A is singular to this precision. */
#define SMALLSYM_DOUBT ((real)0.5)

/* Or its condition number is beyond 1 / epsilon: a change of its last bits makes it singular. */
SHOAL_HD static inline int smallsym_hopeless(real doubt, float look) {
    return !(doubt < SMALLSYM_DOUBT && look > (float)REAL_EPSILON);
}

/* Whether |A| `norm` and |A^-1| `growth`, either of which may be NaN, are so far from the limit `cond`
 * that a second solve would not matter. */
SHOAL_HD static inline int smallsym_look_again(real norm, real growth, double cond) {
    return !((double)norm * (double)growth * SMALLSYM_AGAIN < cond);
}
SHOAL_HD static inline int smallsym_ill(float look, double cond) {
    return !((double)look * cond >= SMALLSYM_MARGIN);
}

/* What the pivots d(i) of a definite A prove. C, A scaled to a diagonal of ones, has trace n and determinant
 * 1 / P, P the product of all A(i,i) / d(i). Of all such matrices, that has the largest condition number whose
 * eigenvalues are 1, but for two, 1 +- sqrt(1 - 1 / P) (J. K. Merikoski et al., SIAM J. Matrix Anal. Appl. 18,
 * 1997): the ratio of these is below 4 P, and |C| |C^-1| in the maximum norm below 4 n P. No solve is needed
 * then. */
SHOAL_HD static inline int smallsym_proved(real product, int64_t n, double cond) {
    return (double)product * (double)(SMALLSYM_BOUND * SMALLSYM_MARGIN * n) < cond;
}

/* Rows, or diagonal entries, that differ in size by less than a SPREAD are left as they are; others are scaled by powers
 * of two, rows until they differ by less than SMALLSYM_ROWS_EVEN, in up to SMALLSYM_HALVINGS steps (scale.h). */
enum {
    SMALLSYM_ROW_SPREAD = 16,
    SMALLSYM_ROWS_EVEN = 4,
    SMALLSYM_DIAGONAL_SPREAD = 8,
    SMALLSYM_HALVINGS = 12
};

/* Half the exponent of a row's size, 0 from 1/2 to 2; 0 if that is zero. */
SHOAL_HD static inline int smallsym_half_exponent(real size) {
    const int e = size >= REAL_MIN ? exponent_of(size) + 1 : 0;
    return (e - (e & 1)) / 2;
}

/* From |A| and |A^-1|; that of a zero matrix is 0. */
SHOAL_HD static inline float smallsym_rcond(real norm, real inverse) {
    if (!(norm > 0) || !(inverse > 0)) return 0;
    return (float)(1 / ((double)norm * inverse));
}

#endif
