/* SPDX-License-Identifier: Apache-2.0
 *
 * math_hash.h - the arguments on which core/math.h is tried, and one number that stands for all
 * the results. Shared by test_math.c and test_math_device.cu: two machines agree on every bit of
 * every result, or (but for one chance in 2^64) their hashes differ.
 *
 * Argument i is made from mixed integer bits and covers, in eight classes: any bit pattern (NaN
 * and infinities among them), named specials and subnormals, (0,1), every magnitude below 1, the
 * neighbourhood of 1, [-40,40], [-760,760], and multiples of 1/4 up to 2^62 with and without a
 * small addition. The hash is a sum of mixed (index, result) and so independent of order.
 */
#ifndef SHOAL_TESTS_MATH_HASH_H
#define SHOAL_TESTS_MATH_HASH_H

#include "core/math.h"

enum {
    MATH_LOG,
    MATH_EXP,
    MATH_SINCOSPI,
    MATH_NORMCDF,
    MATH_NORMCDFINV,
    MATH_LOGF,
    MATH_EXPF,
    MATH_SINCOSPIF,
    MATH_NORMCDFF,
    MATH_NORMCDFINVF,
    MATH_FUNCTIONS
};

static inline const char *math_name(int function) {
    static const char *const names[MATH_FUNCTIONS] = { "log",        "exp",        "sincospi",
                                                       "normcdf",    "normcdfinv", "logf",
                                                       "expf",       "sincospif",  "normcdff",
                                                       "normcdfinvf" };
    return names[function];
}

/* A bijection of 64 bits in which every input bit reaches every output bit. */
SHOAL_HD static inline uint64_t math_mix(uint64_t x) {
    x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 29)) * 0xa0761d6478bd642fu;
    return x ^ (x >> 32);
}

SHOAL_HD static inline double math_power_of_two(int exponent) { /* -1022 .. 1023 */
    return shoal_from_bits((uint64_t)(1023 + exponent) << 52);
}

/* The classes that float and double share. deepest: the smallest exponent of class 3, negated. */
SHOAL_HD static inline double math_argument_class(uint64_t b, unsigned deepest) {
    double u = (double)(b >> 11) * 0x1p-53; /* [0,1) */
    double sign = b & 8 ? -1.0 : 1.0;
    uint64_t c = math_mix(b);
    int down = (int)(c % deepest), close = (int)(c % 54), up = (int)(c % 63);
    switch (b & 7) {
    case 2: return u;
    case 3:
        return sign * u * math_power_of_two(-(down / 2)) * math_power_of_two(-(down - down / 2));
    case 4: return 1.0 + sign * u * math_power_of_two(-close);
    case 5: return 80.0 * u - 40.0;
    case 6: return 1520.0 * u - 760.0;
    default: {
        double quarters = (double)(int64_t)(u * math_power_of_two(up)) * 0.25;
        return sign * (c & 64 ? quarters : quarters + u * math_power_of_two(-close));
    }
    }
}

SHOAL_HD static inline double math_special(unsigned which) {
    switch (which) {
    case 0: return 0.0;
    case 1: return shoal_inf();
    case 2: return shoal_nan();
    case 3: return shoal_from_bits(1); /* smallest subnormal */
    case 4: return 0x1p-1022;
    case 5: return 0x1p-149;
    case 6: return 0x1p-126;
    case 7: return 0x1.fffffffffffffp1023;
    case 8: return 0x1.fffffep127;
    case 9: return 1.0;
    case 10: return 0x1.fffffffffffffp-1; /* just below 1 */
    case 11: return 0x1.fffffep-1;
    case 12: return 0.5;
    case 13: return 0x1.62e42fefa39efp9; /* the edge of exp's overflow */
    case 14: return 0x1.62e42ep6;        /* and of expf's */
    default: return 2.0;
    }
}

SHOAL_HD static inline double math_argument(int function, uint64_t index) {
    uint64_t b = math_mix((index << 4) + (uint64_t)function + 1);
    double x;
    if ((b & 7) == 0) {
        x = shoal_from_bits(math_mix(b));
    } else if ((b & 7) == 1) {
        x = b & 0xf0 ? shoal_from_bits(b >> 12) : math_special((b >> 8) & 15);
        x = b & 8 ? -x : x;
    } else {
        x = math_argument_class(b, 1076);
    }
    return function == MATH_NORMCDFINV ? shoal_abs(x) : x;
}

SHOAL_HD static inline float math_argumentf(int function, uint64_t index) {
    uint64_t b = math_mix((index << 4) + (uint64_t)function + 1);
    float x;
    if ((b & 7) == 0) {
        x = shoal_from_bitsf((uint32_t)(math_mix(b) >> 32));
    } else if ((b & 7) == 1) {
        x = b & 0xf0 ? shoal_from_bitsf((uint32_t)(b >> 41)) : (float)math_special((b >> 8) & 15);
        x = b & 8 ? -x : x;
    } else {
        x = (float)math_argument_class(b, 151);
    }
    return function == MATH_NORMCDFINVF ? shoal_absf(x) : x;
}

/* The share of argument `index` in the hash of `function`. */
SHOAL_HD static inline uint64_t math_hash_term(int function, uint64_t index) {
    uint64_t first, second = 0;
    if (function < MATH_LOGF) {
        double x = math_argument(function, index), y = 0.0, y2 = 0.0;
        switch (function) {
        case MATH_LOG: y = shoal_log(x); break;
        case MATH_EXP: y = shoal_exp(x); break;
        case MATH_SINCOSPI: shoal_sincospi(x, &y, &y2); break;
        case MATH_NORMCDF: y = shoal_normcdf(x); break;
        default: y = shoal_normcdfinv(x); break;
        }
        first = shoal_bits(y), second = shoal_bits(y2);
    } else {
        float x = math_argumentf(function, index), y = 0.0f, y2 = 0.0f;
        switch (function) {
        case MATH_LOGF: y = shoal_logf(x); break;
        case MATH_EXPF: y = shoal_expf(x); break;
        case MATH_SINCOSPIF: shoal_sincospif(x, &y, &y2); break;
        case MATH_NORMCDFF: y = shoal_normcdff(x); break;
        default: y = shoal_normcdfinvf(x); break;
        }
        first = shoal_bitsf(y), second = shoal_bitsf(y2);
    }
    return math_mix(math_mix(math_mix(index + 1) ^ first) + second);
}

#endif
