/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32.h - the CRC-32 of zip, PNG and our model files: polynomial 0xEDB88320, reflected: by halves of a byte. Large
 * blocks take products of polynomials without carries, 64 bytes at a time (V. Gopal and others, "Fast CRC computation
 * for generic polynomials using PCLMULQDQ instruction", Intel, 2009), or, on CPUs without that instruction, tables of
 * eight bytes that are made for them.
 */
#ifndef SHOAL_CORE_CRC32_H
#define SHOAL_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#define SHOAL_CRC32_FOLDS 1
#include <immintrin.h>
#else
#define SHOAL_CRC32_FOLDS 0
#endif

/* Whole groups of eight bytes: table[k] is what a byte leaves behind after k more. */
static inline uint32_t shoal_crc32_eights(uint32_t crc, const unsigned char *at, size_t groups) {
    uint32_t table[8][256];
    for (uint32_t byte = 0; byte < 256; byte++) {
        table[0][byte] = byte;
        for (int bit = 0; bit < 8; bit++)
            table[0][byte] = table[0][byte] >> 1 ^ (table[0][byte] & 1 ? 0xedb88320 : 0);
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++)
            table[k][byte] = table[k - 1][byte] >> 8 ^ table[0][table[k - 1][byte] & 255];
    for (; groups > 0; groups--, at += 8) {
        uint32_t next = 0;
        for (int k = 0; k < 4; k++)
            next ^= table[7 - k][(crc >> 8 * k & 255) ^ at[k]] ^ table[3 - k][at[4 + k]];
        crc = next;
    }
    return crc;
}

#if SHOAL_CRC32_FOLDS
#define SHOAL_CRC32_TARGET __attribute__((target("pclmul,sse4.1")))

SHOAL_CRC32_TARGET static inline __m128i shoal_crc32_load(const unsigned char *at) {
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

/* x times the powers of the polynomial in `by`, plus what lies behind. */
SHOAL_CRC32_TARGET static inline __m128i shoal_crc32_fold(__m128i x, __m128i by, __m128i behind) {
    const __m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), behind);
}

/* Whole groups of 16 bytes, at least 4. The constants are those of the paper for this polynomial, reflected. */
SHOAL_CRC32_TARGET static inline uint32_t shoal_crc32_sixteens(uint32_t crc,
                                                               const unsigned char *at,
                                                               size_t groups) {
    const __m128i by64 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i by16 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i by8 = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i poly = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low32 = _mm_setr_epi32(-1, 0, -1, 0);
    __m128i x[4];
    for (int k = 0; k < 4; k++) x[k] = shoal_crc32_load(at + 16 * k);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
    for (at += 64, groups -= 4; groups >= 4; at += 64, groups -= 4)
        for (int k = 0; k < 4; k++)
            x[k] = shoal_crc32_fold(x[k], by64, shoal_crc32_load(at + 16 * k));
    __m128i all = x[0];
    for (int k = 1; k < 4; k++) all = shoal_crc32_fold(all, by16, x[k]);
    for (; groups > 0; at += 16, groups--) all = shoal_crc32_fold(all, by16, shoal_crc32_load(at));
    /* 128 to 64 bits, then Barrett's reduction to 32 */
    all = _mm_xor_si128(_mm_srli_si128(all, 8), _mm_clmulepi64_si128(all, by16, 0x10));
    all = _mm_xor_si128(_mm_srli_si128(all, 4),
                        _mm_clmulepi64_si128(_mm_and_si128(all, low32), by8, 0x00));
    __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(all, low32), poly, 0x10);
    quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), poly, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(all, quotient), 1);
}
#endif

/* Whole groups of 16 bytes by the fastest way of this CPU. */
static inline uint32_t shoal_crc32_large(uint32_t crc, const unsigned char *at, size_t groups) {
#if SHOAL_CRC32_FOLDS
    if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"))
        return shoal_crc32_sixteens(crc, at, groups);
#endif
    return shoal_crc32_eights(crc, at, 2 * groups);
}

/* Continues from `crc`, the result for the preceding bytes; 0 at first. */
static inline uint32_t shoal_crc32(uint32_t crc, const void *bytes, size_t size) {
    static const uint32_t four[16] = { /* what four bits that fall out leave behind */
                                       0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c
    };
    const unsigned char *at = (const unsigned char *)bytes;
    enum { LARGE = 1 << 14 };
    const size_t groups = size >= LARGE ? size / 16 : 0;
    crc = ~crc;
    if (groups > 0) crc = shoal_crc32_large(crc, at, groups);
    for (size_t i = 16 * groups; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ four[crc & 15];
        crc = crc >> 4 ^ four[crc & 15];
    }
    return ~crc;
}

#endif
