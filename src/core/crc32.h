/* SPDX-License-Identifier: Apache-2.0
 *
 * crc32.h - the CRC-32 of zip, PNG and our model files: polynomial 0xEDB88320, reflected, bit by bit.
 */
#ifndef SHOAL_CORE_CRC32_H
#define SHOAL_CORE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc`, the result for the preceding bytes; 0 at first. */
static inline uint32_t shoal_crc32(uint32_t crc, const void *bytes, size_t size) {
    const unsigned char *at = (const unsigned char *)bytes;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

#endif
