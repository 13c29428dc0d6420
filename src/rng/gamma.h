/* SPDX-License-Identifier: Apache-2.0
 *
 * gamma.h - the gamma law of shape alpha and scale 1, by Marsaglia and Tsang (2000): with
 *
 *     d = alpha - 1/3,   c = 1 / sqrt(9 d),   v = (1 + c z)^3,   z normal, u uniform,
 *
 * d v is accepted if v > 0 and log u < z^2/2 + d - d v + d log v, which happens to 95 % of attempts
 * at alpha = 1 and to more above. Most need no logarithm: u < 1 - 0.0331 z^4 is enough. For
 * alpha < 1 the law is G(alpha + 1) U^(1/alpha); the sample is made as a logarithm, which stays
 * finite if the value itself is below the smallest double.
 *
 * An attempt is one block: 52 bits of radius and 32 of angle for z, 32 for u. U has a block of its
 * own, at the last attempt's address. All decisions are taken in double, for float too. d - d v +
 * d log v is computed as -d (w - log(1 + w)), w = v - 1, without cancellation: the law is right for
 * large alpha too. From 1e-36 to 1e36 a sample, or its logarithm, is a float.
 *
 * Cost per attempt: one block, 1 logarithm, 1 root, 1 cosine; for 8 % of them two logarithms more.
 */
#ifndef SHOAL_RNG_GAMMA_H
#define SHOAL_RNG_GAMMA_H

#include "rng/normal.h"

typedef struct shoal_gamma_law {
    double d, c;  /* of alpha, or of alpha + 1 where alpha < 1 */
    double boost; /* 1/alpha where alpha < 1, else 0           */
} shoal_gamma_law;

enum { SHOAL_GAMMA_BOOST = SHOAL_ATTEMPTS - 1 }; /* the attempt whose block makes U */

#define SHOAL_GAMMA_MIN 1e-36
#define SHOAL_GAMMA_MAX 1e36

/* alpha is allowed. */
SHOAL_HD static inline shoal_gamma_law shoal_gamma_law_of(double alpha) {
    const int small = alpha < 1.0;
    shoal_gamma_law law;
    law.d = alpha + (small ? 2.0 / 3.0 : -1.0 / 3.0);
    law.c = 1.0 / (3.0 * sqrt(law.d));
    law.boost = small ? 1.0 / alpha : 0.0;
    return law;
}

SHOAL_HD static inline int shoal_gamma_allows(double alpha) {
    return alpha >= SHOAL_GAMMA_MIN && alpha <= SHOAL_GAMMA_MAX;
}

/* f - log(1 + f) for every f > -1 */
SHOAL_HD static inline double shoal_bend(double f) {
    return f > -0.29 && f < 0.41 ? shoal_log_bend(f) : f - shoal_log(1.0 + f);
}

typedef struct shoal_gamma_try {
    double v;    /* the sample is d v */
    double z, u; /* normal, uniform   */
} shoal_gamma_try;

SHOAL_HD static inline shoal_gamma_try shoal_gamma_attempt(const shoal_gamma_law *law,
                                                           const shoal_words *w) {
    const uint64_t angle = (uint64_t)w->word[2] << 32; /* the other 32 bits make u */
    shoal_gamma_try t;
    t.z = shoal_boxmuller(shoal_half(w, 0), angle).z[0];
    t.u = shoal_from_bits(0x3ff0000000000000u | (uint64_t)w->word[3] << 20) - (1.0 - 0x1p-33);
    const double root = fma(law->c, t.z, 1.0);
    t.v = root * root * root;
    return t;
}

/* Enough to accept, and nearly always the answer. v > 0 follows: z^4 < 1/0.0331 and c < 0.41. */
SHOAL_HD static inline int shoal_gamma_clear(const shoal_gamma_try *t) {
    const double square = t->z * t->z;
    return t->u < fma(-0.0331 * square, square, 1.0);
}

SHOAL_HD static inline int shoal_gamma_accepts(const shoal_gamma_law *law,
                                               const shoal_gamma_try *t) {
    if (shoal_gamma_clear(t)) return 1;
    if (!(t->v > 0.0)) return 0; /* as below, with a NaN; saves the logarithm */
    const double x = law->c * t->z, w = x * fma(x, x + 3.0, 3.0); /* v - 1 */
    return shoal_log(t->u) < fma(-law->d, shoal_bend(w), 0.5 * t->z * t->z);
}

/* log of the sample for alpha < 1, from v and the bits of U. */
SHOAL_HD static inline double shoal_gamma_boosted(const shoal_gamma_law *law, double v,
                                                  uint64_t bits) {
    return fma(shoal_log(shoal_uniform_of(bits)), law->boost, shoal_log(law->d * v));
}

SHOAL_HD static inline double shoal_gamma_log_of(const shoal_gamma_law *law, double v,
                                                 const shoal_stream *s, uint64_t path) {
    if (law->boost == 0.0) return shoal_log(law->d * v);
    const shoal_words w = shoal_block(s, path, SHOAL_GAMMA_BOOST);
    return shoal_gamma_boosted(law, v, shoal_half(&w, 0));
}

SHOAL_HD static inline double shoal_gamma_value_of(const shoal_gamma_law *law, double v,
                                                   const shoal_stream *s, uint64_t path) {
    return law->boost == 0.0 ? law->d * v : shoal_exp(shoal_gamma_log_of(law, v, s, path));
}

/* The v of the first attempt that is accepted; NaN if none is, which is not to be expected within
 * the life of the universe. */
SHOAL_HD static inline double shoal_gamma_v(const shoal_gamma_law *law, const shoal_stream *s,
                                            uint64_t path) {
    for (uint32_t attempt = 0; attempt < SHOAL_GAMMA_BOOST; attempt++) {
        const shoal_words w = shoal_block(s, path, attempt);
        const shoal_gamma_try t = shoal_gamma_attempt(law, &w);
        if (shoal_gamma_accepts(law, &t)) return t.v;
    }
    return shoal_nan();
}

/* One sample, and its logarithm; NaN where alpha is not allowed. */
SHOAL_HD static inline double shoal_gamma(double alpha, const shoal_stream *s, uint64_t path) {
    if (!shoal_gamma_allows(alpha)) return shoal_nan();
    const shoal_gamma_law law = shoal_gamma_law_of(alpha);
    return shoal_gamma_value_of(&law, shoal_gamma_v(&law, s, path), s, path);
}

SHOAL_HD static inline double shoal_gamma_log(double alpha, const shoal_stream *s, uint64_t path) {
    if (!shoal_gamma_allows(alpha)) return shoal_nan();
    const shoal_gamma_law law = shoal_gamma_law_of(alpha);
    return shoal_gamma_log_of(&law, shoal_gamma_v(&law, s, path), s, path);
}

#endif
