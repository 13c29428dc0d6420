/* SPDX-License-Identifier: Apache-2.0
 *
 * npz.h - NumPy .npz files, written: a zip archive of .npy files, stored and not compressed.
 *
 *     io_npz *z;
 *     io_npz_open("w.npz", &z, &err);
 *     io_npz_array(z, "layer0.weight", &array);      // numpy.load("w.npz")["layer0.weight"]
 *     io_npz_strings(z, "names", texts, count, 32);  // dtype S32
 *     io_npz_close(z, &err);                         // the file appears, or the first error does
 */
#ifndef SHOAL_IO_NPZ_H
#define SHOAL_IO_NPZ_H

#include "array.h"

typedef struct io_npz io_npz;

/* On error *npz is NULL. */
int io_npz_open(const char *path, io_npz **npz, io_error *err);

/* Adds a member. Errors are kept for io_npz_close. Names have at most 63 bytes, a file at most 64 members
 * and 2 GiB. */
void io_npz_array(io_npz *npz, const char *name, const io_array *array);
/* Texts of at most `width` bytes each. */
void io_npz_strings(io_npz *npz, const char *name, const char *const *texts, int64_t count,
                    int width);

/* Writes the directory of the archive and makes the file visible, or removes what was written; releases
 * the handle in any case. */
int io_npz_close(io_npz *npz, io_error *err);

#endif
