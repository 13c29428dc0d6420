/* SPDX-License-Identifier: Apache-2.0
 *
 * sobol.c - direction words of Sobol's sequence, plain and randomised.
 *
 * A dimension has a primitive polynomial x^s + a_1 x^(s-1) + ... + a_(s-1) x + 1 over GF(2) and odd
 * numbers m_1 .. m_s, m_i < 2^i (sobol_table.h). The others follow from the recurrence
 *
 *     m_i = 2 a_1 m_(i-1) ^ 4 a_2 m_(i-2) ^ ... ^ 2^(s-1) a_(s-1) m_(i-s+1) ^ 2^s m_(i-s) ^ m_(i-s),
 *
 * and the direction words are v_j = m_(j+1) 2^(31-j). Dimension 0, van der Corput's sequence, has
 * m_i = 1. As a matrix of bits, column j = v_j and the first digit on top, V is upper triangular
 * with ones on the diagonal: of the first 2^k points each cell [i, i + 1) / 2^k has exactly one.
 *
 * A point is x = L V g + r for the bits g of the index's Gray code, in GF(2):
 *
 *     plain      L = 1, r = 2^-33: the middle of the cell
 *     shift      L = 1, r 64 random digits per dimension: a random digital shift
 *     scramble   the shift, and L random below a diagonal of ones
 *
 * Both randomised kinds leave the number of points in a cell as it is and make each single point
 * uniform, so that a mean over points is an unbiased estimate of the integral. Scrambling also
 * takes away what regularity the direction numbers have between dimensions.
 *
 * I. M. Sobol', "On the distribution of points in a cube and the approximate evaluation of
 * integrals", USSR Comput. Math. Math. Phys. 7 (1967) 86-112. S. Joe and F. Y. Kuo, SIAM J. Sci.
 * Comput. 30 (2008) 2635-2654. J. Matousek, "On the L2-discrepancy for anchored boxes", J.
 * Complexity 14 (1998) 527-556: L. A. B. Owen, "Variance with alternative scramblings of digital
 * nets", ACM TOMACS 13 (2003) 363-378: L and r have the variance of his nested scrambling (1995).
 *
 * Cost: 13 x 32 XORs per dimension, scrambled 9 Philox blocks and 32 x 32 masked XORs more; once per
 * plan, about a millisecond for all 1111 dimensions. 136 bytes per dimension.
 */
#include "rng/philox.h"
#include "rng/sobol.h"
#include "rng/sobol_table.h"

/* Philox addresses: path = dimension, step 0, a purpose kept for this. The matrix's 32 words are
 * draws 0 .. 7, the shift is draw 8: the same one for both randomised variants. */
enum { PURPOSE_SOBOL = 254, DRAW_MATRIX = 0, DRAW_SHIFT = 8 };

static int degree_of(uint32_t polynomial) {
    int degree = -1;
    for (; polynomial; polynomial >>= 1) degree++;
    return degree;
}

/* v_j of a polynomial of the given degree s and its m_2 .. m_s. The recurrence in v: factors 2^i
 * of m_(j-i) and the places 2^(31-j) cancel, except the last term's 2^-s. */
static void fill_directions(uint32_t polynomial, int degree, const uint16_t *initial, uint32_t *v) {
    v[0] = 0x80000000u; /* m_1 = 1 */
    for (int j = 1; j < degree; j++) v[j] = (uint32_t)initial[j - 1] << (SHOAL_SOBOL_BITS - 1 - j);
    for (int j = degree; j < SHOAL_SOBOL_BITS; j++) {
        v[j] = v[j - degree] >> degree;
        for (int i = 1; i <= degree; i++)
            if (polynomial >> (degree - i) & 1u) v[j] ^= v[j - i]; /* a_i, a_s = 1 */
    }
}

/* v_j = L v_j: column b of L has its one in place b and random digits in the places below. */
static void scramble(uint64_t seed, uint64_t dimension, uint32_t *v) {
    uint32_t columns[SHOAL_SOBOL_BITS];
    for (uint32_t b = 0; b < SHOAL_SOBOL_BITS; b += 4) {
        shoal_words random =
            shoal_philox_at(seed, dimension, 0, PURPOSE_SOBOL, DRAW_MATRIX + b / 4, 0);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t one = 1u << (b + k);
            columns[b + k] = one | (random.word[k] & (one - 1u));
        }
    }
    for (int j = 0; j < SHOAL_SOBOL_BITS; j++) v[j] = shoal_sobol_product(columns, v[j]);
}

void shoal_sobol_directions(int64_t dims, int variant, uint64_t seed, uint32_t *directions,
                            uint64_t *shift) {
    const uint16_t *initial = sobol_initial;
    uint32_t polynomial = 1;
    for (int64_t d = 0; d < dims; d++) {
        uint32_t *v = directions + d * SHOAL_SOBOL_BITS;
        if (d == 0) {
            for (int j = 0; j < SHOAL_SOBOL_BITS; j++) v[j] = 0x80000000u >> j;
        } else {
            polynomial += 2u * sobol_gap[d - 1];
            const int degree = degree_of(polynomial);
            fill_directions(polynomial, degree, initial, v);
            initial += degree - 1;
        }
        if (variant == SOBOL_SCRAMBLE) scramble(seed, (uint64_t)d, v);
        shift[d] = 0x80000000u; /* the middle of the cell: the digit after the word's last */
        if (variant != SOBOL_PLAIN) {
            shoal_words random =
                shoal_philox_at(seed, (uint64_t)d, 0, PURPOSE_SOBOL, DRAW_SHIFT, 0);
            shift[d] = (uint64_t)random.word[0] << 32 | random.word[1];
        }
    }
}
