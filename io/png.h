/* SPDX-License-Identifier: Apache-2.0
 *
 * png.h - pictures as PNG files: 8 bits a colour, no transparency.
 */
#ifndef SHOAL_IO_PNG_H
#define SHOAL_IO_PNG_H

#include "status.h"

/* Writes `height` rows of `width` pixels, each red, green, blue, from the top left, under a temporary
 * name that is then renamed. IO_E_SIZE for a side that is not 1 to 32767, IO_E_MEMORY, IO_E_WRITE. */
int io_png_write(const char *path, int width, int height, const unsigned char *rgb, io_error *err);

#endif
