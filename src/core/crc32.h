/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32.h - the CRC-32 of zip, PNG and our model files: polynomial 0xEDB88320, reflected: by halves of a byte, and
 * large blocks by eight bytes at a time, with tables that are made for them.
 */
#ifndef SHOAL_CORE_CRC32_H
#define SHOAL_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

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
    const size_t groups = size >= LARGE ? size / 8 : 0;
    crc = ~crc;
    if (groups > 0) crc = shoal_crc32_eights(crc, at, groups);
    for (size_t i = 8 * groups; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ four[crc & 15];
        crc = crc >> 4 ^ four[crc & 15];
    }
    return ~crc;
}

#endif
