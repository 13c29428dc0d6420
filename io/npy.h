/* SPDX-License-Identifier: Apache-2.0
 *
 * npy.h - NumPy .npy files: versions 1.0, 2.0, 3.0; element types f4 f8 i4 u4 i8 u8,
 * and c8 c16 if asked for.
 *
 * Reading accepts little- and big-endian data and both orders: the result is always host-endian
 * and in C order (Fortran order is transposed). Bytes after the data are ignored, as NumPy does.
 * The size promised by the header is checked against the file before any memory is asked for, so a
 * hostile header cannot cause a large allocation. Pipes and FIFOs are read to their end first.
 */
#ifndef SHOAL_IO_NPY_H
#define SHOAL_IO_NPY_H

#include <stdio.h>

#include "array.h"

/* Reads the file at `path`. On success the caller owns array->data (io_array_free); on error
 * array->data is NULL. IO_E_OPEN, IO_E_FORMAT, IO_E_SIZE, IO_E_MEMORY. */
int io_npy_read(const char *path, io_array *array, io_error *err);

/* The same for files that may also contain complex numbers: c8, c16. */
int io_npy_read_complex(const char *path, io_array *array, io_error *err);

/* As io_npy_read for a file image in memory; `name` stands for the file in messages. */
int io_npy_parse(const char *name, const void *bytes, size_t size, io_array *array, io_error *err);

/* Reads one triangle of a symmetric matrix, of shape (n, n), or (n(n+1)/2,): the rows of that
 * triangle one after another. f4 stays f4, all other numbers become f8. Of a file on disk the other
 * triangle is not read. IO_E_SIZE, and the bytes it needs, if that is more than `limit`. */
int io_npy_read_triangle(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                         io_array *array, io_error *err);

/* Writes version 1.0, C order, host byte order, under a temporary name that is then renamed. */
int io_npy_write(const char *path, const io_array *array, io_error *err);

/* Only the header (a multiple of 64 bytes), for writers that stream the data after it. `name` is
 * used in messages. */
int io_npy_header(FILE *file, const char *name, io_type type, int ndim, const int64_t *shape,
                  io_error *err);

/* .npz files, written: a zip archive of .npy files, stored and not compressed.
 *
 *     io_npz *z;
 *     io_npz_open("w.npz", &z, &err);
 *     io_npz_array(z, "layer0.weight", &array);      // numpy.load("w.npz")["layer0.weight"]
 *     io_npz_strings(z, "names", texts, count, 32);  // dtype S32
 *     io_npz_close(z, &err);                         // the file appears, or the first error does
 */
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
