/* SPDX-License-Identifier: Apache-2.0
 *
 * array.h - a typed array of up to 8 dimensions in C order, as read from and written to files; and
 * one triangle of a symmetric matrix.
 */
#ifndef SHOAL_IO_ARRAY_H
#define SHOAL_IO_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

#define IO_MAX_DIM 8

typedef enum io_type {
    IO_F4,
    IO_F8,
    IO_I4,
    IO_U4,
    IO_I8,
    IO_U8,
    IO_C8, /* pairs of f4, of f8: real and imaginary part */
    IO_C16
} io_type;

typedef struct io_array {
    io_type type;
    int ndim;                  /* 0 is a single number                            */
    int64_t shape[IO_MAX_DIM]; /* shape[0] is the slowest index; 0 is allowed     */
    void *data;                /* C order, host byte order; from malloc, not NULL */
} io_array;

/* Allocates data (zeroed) for the given type and shape. IO_E_SIZE if the number of bytes overflows
 * or a length is negative. On error *array has data == NULL. */
int io_array_create(io_type type, int ndim, const int64_t *shape, io_array *array, io_error *err);

/* Releases the data and leaves an empty array; harmless on a zeroed or freed one. */
void io_array_free(io_array *array);

/* Product of the shape (1 when ndim is 0). Only for shapes that passed io_shape_bytes. */
int64_t io_array_count(const io_array *array);

/* Element i in C order as double: 64-bit integers are rounded, of complex numbers it is the real part. */
double io_array_get(const io_array *array, int64_t i);

/* "f4" "f8" "i4" "u4" "i8" "u8" "c8" "c16", and bytes per element. */
const char *io_type_name(io_type type);
size_t io_type_size(io_type type);

/* Number of elements and bytes of a shape; IO_E_SIZE if a length is negative or the number of
 * bytes does not fit into int64_t. A zero length makes both 0, and counts as 1 in that test, as in
 * NumPy: an empty array is one slice of an array that is possible. */
int io_shape_bytes(io_type type, int ndim, const int64_t *shape, int64_t *count, int64_t *bytes);

/* "()", "(100,)", "(100, 255)": Python's spelling, cut to fit. Returns `text`. */
char *io_shape_text(int ndim, const int64_t *shape, char *text, size_t size);

/* One triangle of a symmetric matrix in memory, as the readers of .mtx and .h5 files fill it: packed,
 * row after row, or in the rows of a full array whose other triangle is zero. */
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
