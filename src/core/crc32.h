/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32.h - the CRC-32 of zip, PNG and our model files: polynomial 0xEDB88320, reflected, by halves of a byte.
 */
#ifndef SHOAL_CORE_CRC32_H
#define SHOAL_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc`, the result for the preceding bytes; 0 at first. */
static inline uint32_t shoal_crc32(uint32_t crc, const void *bytes, size_t size) {
    static const uint32_t four[16] = { /* what four bits that fall out leave behind */
                                       0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c
    };
    const unsigned char *at = (const unsigned char *)bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ four[crc & 15];
        crc = crc >> 4 ^ four[crc & 15];
    }
    return ~crc;
}

#endif
