/* SPDX-License-Identifier: Apache-2.0
 *
 * triangle.h - one triangle of a symmetric matrix in memory, as the readers of .mtx and .h5 files
 * fill it: packed, row after row, or in the rows of a full array whose other triangle is zero.
 */
#ifndef SHOAL_IO_TRIANGLE_H
#define SHOAL_IO_TRIANGLE_H

#include <stdbool.h>

#include "array.h"

typedef struct io_triangle {
    bool packed; /* shape (n(n+1)/2,); else (n, n)                             */
    bool upper;  /* rows begin on the diagonal: A00 A01 ..; else they end there */
} io_triangle;

/* Place of A(i,j), i >= j, or i <= j of the upper one, counted in numbers. */
int64_t io_triangle_at(const io_triangle *t, int64_t n, int64_t i, int64_t j);

/* Allocates a triangle of zeros. If that takes more than `limit` bytes, or than there are, the
 * message names them: IO_E_SIZE, IO_E_MEMORY. On error array->data is NULL. */
int io_triangle_create(const io_triangle *t, io_type type, int64_t n, const char *name,
                       int64_t limit, io_array *array, io_error *err);

/* Reads one triangle of the matrix in a file, by its name: .mtx, .h5 or .h5:/dataset, all others as
 * .npy. As the readers of these (mtx.h, hdf5.h, npy.h). */
int io_triangle_read(const char *path, const io_triangle *t, int64_t limit, int64_t *n,
                     io_array *array, io_error *err);

/* Bytes of memory that this machine has, INT64_MAX if it does not say: a limit for readers. More
 * could often be allocated, but not filled. */
int64_t io_memory_bytes(void);

#endif
